/* tilewalk kvcache, as users and programs see it. Expected numbers are worked by hand. */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static ProgramRun run;

static json_t *run_json(const char *arguments) {
  program_run(&run, arguments);
  if (run.exit_status != 0) fail_msg("%s: %s", arguments, run.err);
  json_error_t where;
  json_t *json = json_loads(run.out, 0, &where);
  if (!json) fail_msg("%s: line %d: %s", arguments, where.line, where.text);
  return json;
}

/* The value at a path such as "paged.bytes". */
static json_int_t whole(const json_t *json, const char *path) {
  char key[64];
  const char *dot = strchr(path, '.');
  snprintf(key, sizeof key, "%.*s", (int)(dot ? dot - path : (long)strlen(path)), path);
  const json_t *value = json_object_get(json, key);
  if (!value) fail_msg("no %s", path);
  return dot ? whole(value, dot + 1) : json_integer_value(value);
}

static double ratio_of(const json_t *json, const char *name) {
  const json_t *list = json_object_get(json, "alternatives");
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *entry = json_array_get(list, i);
    if (strstr(json_string_value(json_object_get(entry, "name")), name))
      return json_real_value(json_object_get(entry, "ratio"));
  }
  return 0;
}

/* 2 x 80 x 8 x 128 x 2 B = 327,680 B a token; 100,000 tokens 32.768 GB; without GQA eight times
 * that. */
TEST(llama_2_70b) {
  json_t *json = run_json("kvcache --model llama-2-70b -N 100000 --json");
  assert_int_equal(whole(json, "bytes_per_token"), 327680);
  assert_int_equal(whole(json, "bytes"), 32768000000);
  assert_int_equal(whole(json, "paged.pages"), 6250);
  assert_int_equal(whole(json, "blocks.n_blocks"), 782); /* 781 x 128 = 99,968 */
  assert_int_equal(whole(json, "blocks.last_tokens"), 32);
  assert_true(ratio_of(json, "MHA") == 8);
  assert_true(ratio_of(json, "MQA") == 0.125);
  assert_true(ratio_of(json, "8 bits") == 0.5);
  assert_true(ratio_of(json, "4 bits an element") == 0.25);
  assert_true(ratio_of(json, "4 bits, an fp16") == 68.0 / 256);
  json_decref(json);
  program_run(&run, "kvcache --model llama-2-70b -N 100000");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "30.52 GiB"));
  assert_non_null(strstr(run.out, "32,768,000,000 B = 32.77 GB"));
  assert_non_null(strstr(run.out, "made for at most 4,096 tokens"));
}

/* A window caps the cache; half of the layers windowed cap half of it. */
TEST(windows) {
  json_t *json = run_json("kvcache --model mistral-7b --json");
  assert_int_equal(whole(json, "tokens"), 32768);
  assert_int_equal(whole(json, "window_tokens"), 4096);
  assert_int_equal(whole(json, "bytes"), 536870912);
  assert_true(ratio_of(json, "without the window") == 8);
  json_decref(json);
  json = run_json("kvcache --model gemma-2-9b --json");
  assert_int_equal(whole(json, "bytes"), 2113929216);
  json_decref(json);
  json = run_json("kvcache --model gemma-2-9b --window 1K --window-layers 42 --json");
  assert_int_equal(whole(json, "bytes"), 42 * 1024 * 8192);
  json_decref(json);
}

TEST(mla) {
  json_t *json = run_json("kvcache --model deepseek-v3 -N 1000 --json");
  assert_int_equal(whole(json, "bytes"), 70272000);
  assert_int_equal(whole(json, "cache.latent"), 576);
  assert_true(ratio_of(json, "MHA") == 128.0 * (128 + 64 + 128) / 576);
  json_decref(json);
  json = run_json("kvcache --model deepseek-v3 --kv-heads 128 -N 1000 --json"); /* plain K and V on request */
  assert_int_equal(whole(json, "bytes"), 1000LL * 61 * 128 * (192 + 128) * 2);
  json_decref(json);
}

/* Pages of 16: 100 tokens take 7, 2000 take 125, 317 take 20, 4000 take 250. */
TEST(paged_sequences) {
  json_t *json = run_json("kvcache --layers 1 --kv-heads 1 -d 1 --lengths 100,2000,317,4K --max-tokens 8192 --json");
  assert_int_equal(whole(json, "sequences"), 4);
  assert_int_equal(whole(json, "tokens"), 100 + 2000 + 317 + 4096);
  assert_int_equal(whole(json, "paged.pages"), 7 + 125 + 20 + 256);
  assert_int_equal(whole(json, "paged.waste_bytes"), 4 * (12 + 0 + 3 + 0));
  assert_int_equal(whole(json, "contiguous.bytes"), 4 * 4 * 8192);
  json_decref(json);
  program_run(&run, "kvcache --layers 1 --kv-heads 1 -d 1 --lengths 100,17 --csv");
  assert_string_equal(run.out, "sequence,tokens,pages,last_holds,used_bytes,page_bytes,unused_share\n"
                               "0,100,7,4,400,448,0.10714285714285714\n"
                               "1,17,2,1,68,128,0.46875\n");
  json = run_json("kvcache --layers 1 --kv-heads 1 -d 1 -N 17 --batch 3 --json");
  assert_int_equal(whole(json, "bytes"), 3 * 17 * 4);
  assert_int_equal(whole(json, "paged.bytes"), 3 * 32 * 4);
  json_decref(json);
}

/* A window of 8 in pages of 4, from token 14 on: pages 1 to 3 are held (tokens 6 to 13); appending
 * token 15 frees page 1, token 16 opens page 4. */
TEST(appending_token_by_token) {
  program_run(&run, "kvcache --layers 1 --kv-heads 1 -d 4 --window 8 --page 4 -N 14 --append 4 --csv");
  assert_string_equal(run.out, "token,page,slot,bytes,page_bytes,event\n"
                               "14,3,2,128,192,oldest leaves the window\n"
                               "15,3,3,128,128,\"oldest leaves the window, its page freed\"\n"
                               "16,4,0,128,192,\"new page, oldest leaves the window\"\n"
                               "17,4,1,128,192,oldest leaves the window\n");
  json_t *json = run_json("kvcache --layers 1 --kv-heads 1 -d 4 --page 4 -N 3 --append 2 --json");
  const json_t *steps = json_object_get(json, "steps");
  assert_int_equal(json_array_size(steps), 2);
  assert_int_equal(whole(json_array_get(steps, 0), "slot"), 3);
  assert_true(json_is_true(json_object_get(json_array_get(steps, 1), "new_page")));
  assert_int_equal(whole(json_array_get(steps, 1), "bytes"), 5 * 16);
  json_decref(json);
}

/* 1 GiB of 80 GB; reading it at 3.35 TB/s takes 320.5 us. */
TEST(a_context_length_that_no_one_gives) {
  program_run(&run, "kvcache --model tests/fuzz/corpus/model_config/types.json -N 8K");
  assert_non_null(strstr(run.out, "no context length: 4,096 tokens are assumed"));
  assert_null(strstr(run.out, "was made for"));
}

TEST(on_a_gpu) {
  json_t *json = run_json("kvcache --model llama-3-8b --gpu h100-sxm --json");
  const json_t *gpu = json_object_get(json, "gpu");
  assert_true(json_real_value(json_object_get(gpu, "share_of_hbm")) == 1073741824.0 / 80e9);
  assert_true(json_real_value(json_object_get(gpu, "read_s")) == 1073741824.0 / 3.35e12);
  json_decref(json);
  program_run(&run, "kvcache --model llama-3.1-405b --batch 4 --gpu h200");
  assert_non_null(strstr(run.out, "does not fit"));
}

TEST(lists_and_files) {
  json_t *json = run_json("kvcache --list --json");
  assert_int_equal(json_array_size(json_object_get(json, "models")), 24);
  json_decref(json);
  program_run(&run, "kvcache --list --csv");
  assert_non_null(strstr(run.out, "\nqwen2.5-7b,28,28,4,128,"));
  json = run_json("kvcache --model assets/models/gpt2-medium -N 1 --json"); /* a path works as well */
  assert_int_equal(whole(json, "bytes"), 98304);
  json_decref(json);
}

/* The largest request: 128-bit totals come through. */
TEST(huge_requests) {
  json_t *json = run_json("kvcache --layers 1M --kv-heads 1M -d 1M -N 512G --json");
  const double bytes = json_number_value(json_object_get(json, "bytes"));
  assert_true(bytes == 0x1p101); /* 2^20 x 2 x 2^20 x 2^20 x 2 B x 2^39 */
  json_decref(json);
}

TEST(bad_requests) {
  static const struct {
    const char *arguments, *says;
  } CASES[] = {
      {"kvcache --model lama-2-7b", "did you mean 'llama-2-7b'?"},
      {"kvcache --model nothing", "'tilewalk kvcache --list' lists the known ones"},
      {"kvcache --model ''", "--model: the name is empty"},
      {"kvcache --model assets/gpus/h200", "unknown key"},
      {"kvcache -N 0", "--seq-len"},
      {"kvcache -N -5", "--seq-len"},
      {"kvcache -N 2.5", "--seq-len"},
      {"kvcache -N 1T", "at most"},
      {"kvcache -N 99999999999999999999", "--seq-len"},
      {"kvcache --batch 2M", "--batch is 2097152; at most 1048576"},
      {"kvcache --dtype int3", "there are fp32, fp16, bf16, fp8, int8 and int4"},
      {"kvcache --layers 4", "needs --layers, --kv-heads and --head-dim"},
      {"kvcache --lengths ''", "--lengths"},
      {"kvcache --lengths 5,,6", "--lengths"},
      {"kvcache --lengths 5 -N 6", "leave out --seq-len"},
      {"kvcache --lengths 5 --append 6", "leave out --lengths"},
      {"kvcache --lengths 5000 --max-tokens 4999", "reserve at least that"},
      {"kvcache --append 1M", "at most 100000 steps"},
      {"kvcache --group 129", "do not fit a row of 128"},
      {"kvcache --scale-bytes 2", "no group size"},
      {"kvcache --window-layers 5", "no window is given"},
      {"kvcache --window 8 --window-layers 81", "from 0 to 80"},
      {"kvcache --page 0", "--page"},
      {"kvcache --gpu h9000", "there is no GPU 'h9000'"},
      {"kvcache --json --csv", "give one of them"},
      {"kvcache 4096", "is no option"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    program_run(&run, CASES[i].arguments);
    if (run.exit_status != 2) fail_msg("%s: exit status %d", CASES[i].arguments, run.exit_status);
    assert_string_equal(run.out, "");
    if (!strstr(run.err, CASES[i].says)) fail_msg("%s says: %s", CASES[i].arguments, run.err);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1); /* one line */
  }
}

/* What --help offers works when pasted, and fits a terminal. */
TEST(examples_work) {
  static ProgramRun help;
  program_run(&help, "kvcache --help");
  assert_int_equal(help.exit_status, 0);
  int n = 0;
  for (const char *line = strstr(help.out, "\n  tilewalk kvcache -"); line;
       line = strstr(line + 1, "\n  tilewalk kvcache -")) {
    char arguments[256];
    const char *begin = line + strlen("\n  tilewalk ");
    snprintf(arguments, sizeof arguments, "%.*s", (int)strcspn(begin, "\n"), begin);
    program_run(&run, arguments);
    if (run.exit_status != 0) fail_msg("%s: %s", arguments, run.err);
    size_t columns = 0;
    for (const char *c = run.out; *c; c++) {
      if (*c == '\n')
        columns = 0;
      else if (((unsigned char)*c & 0xC0) != 0x80)
        columns++;
      if (columns > 80) fail_msg("%s: wider than 80 columns", arguments);
    }
    n++;
  }
  assert_int_equal(n, 6);
}
