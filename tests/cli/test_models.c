/* Models: one question asked of kvcache and of sim has one answer, to the last digit; --model gives a shape wherever
 * one is taken; what a budget holds. */
#include "tests/support/test.h"

#include <jansson.h>

#include "tests/support/program.h"

static ProgramRun run;

static json_t *json_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static json_t *json_of(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  program_run(&run, line);
  if (run.exit_status) fail_msg("%s: %s", line, run.err);
  json_t *json = json_loads(run.out, 0, NULL);
  if (!json) fail_msg("%s: no JSON", line);
  return json;
}

/* "time.least_s" in an object. */
static const json_t *at(const json_t *json, const char *path) {
  char key[64];
  for (const char *p = path; *p;) {
    const size_t n = strcspn(p, ".");
    snprintf(key, sizeof key, "%.*s", (int)n, p);
    json = json_object_get(json, key);
    p += n + (p[n] == '.');
  }
  if (!json) fail_msg("no '%s'", path);
  return json;
}
static long long whole(const json_t *json, const char *path) { return json_integer_value(at(json, path)); }
static double real(const json_t *json, const char *path) { return json_number_value(at(json, path)); }

/* --- one question, one answer --- */

/* K and V of one layer of a group, and the least time of its attention, as sim says. */
static void ask_sim(const json_t *group, long long heads, long long tokens, const char *dtype, double *bytes,
                    double *s) {
  const long long latent = whole(group, "latent"), window = whole(group, "window"), chunk = whole(group, "chunk");
  const long long held = chunk ? (tokens - 1) % chunk + 1 : window && window < tokens ? window : tokens;
  json_t *sim = json_of("sim -N 1 --seq-len-k %lld --heads %lld --kv-heads %lld -d %lld --head-dim-v %lld%s --dtype %s "
                        "--gpu h100-sxm --algorithm fa2 --json",
                        held, heads, latent ? 1 : whole(group, "kv_heads"), latent ? latent : whole(group, "head_dim"),
                        latent ? latent - 64 : whole(group, "value_dim"), latent ? " --v-in-k" : "", dtype);
  const json_t *first = json_array_get(at(sim, "runs"), 0);
  *bytes = (double)whole(first, "storage.inputs_bytes") - (double)whole(first, "traffic.read.Q");
  *s = real(first, "time.least_s");
  json_decref(sim);
}

/* 12 models that are published: the bytes of 32K tokens, the time to read them, and attention of one step. */
TEST(decode_of_twelve_models) {
  static const char *const MODELS[] = {"llama-2-70b",  "llama-3-8b",  "llama-3.1-405b", "llama-3.2-1b",
                                       "mistral-7b",   "qwen3-8b",    "gemma-3-27b",    "gpt-oss-120b",
                                       "mixtral-8x7b", "deepseek-v3", "kimi-k2",        "llama-4-scout"};
  enum { TOKENS = 32768 };
  json_t *list = json_of("kvcache --list --json");
  for (size_t m = 0; m < sizeof MODELS / sizeof *MODELS; m++) {
    long long heads = 0;
    size_t i;
    const json_t *one, *group;
    json_array_foreach(at(list, "models"), i, one) {
      if (!strcmp(json_string_value(at(one, "name")), MODELS[m])) heads = whole(one, "heads");
    }
    json_t *kv = json_of("kvcache --model %s -N %d --gpu h100-sxm --json", MODELS[m], TOKENS);
    const char *dtype = json_string_value(at(kv, "cache.dtype"));
    double bytes = 0, seconds = 0;
    json_array_foreach(at(kv, "cache.groups"), i, group) {
      double layer_bytes, layer_s;
      ask_sim(group, heads, TOKENS, dtype, &layer_bytes, &layer_s);
      bytes += (double)whole(group, "layers") * layer_bytes;
      seconds += (double)whole(group, "layers") * layer_s;
    }
    print_message("%-15s %12.0f B  read %9.3f us  attention of a step %9.3f us\n", MODELS[m], bytes,
                  real(kv, "gpu.read_s") * 1e6, seconds * 1e6);
    assert_true(bytes == (double)whole(kv, "bytes"));
    assert_true(real(kv, "gpu.read_s") == bytes / 3.35e12);
    assert_true(real(kv, "gpu.attention_step_s") == seconds);
    json_decref(kv);
  }
  json_decref(list);
}

/* Absorbed MLA at 32K keys: a latent of 576 elements of 2 B, read once, 36 MiB: at 3.35 TB/s 11.27 us, with Q and O of
 * 128 heads 11.35. As FlashMLA measures: bound by memory. */
TEST(a_latent_is_read_once) {
  const char *const ASKED[] = {"--model deepseek-v3",
                               "--heads 128 --kv-heads 1 -d 576 --head-dim-v 512 --v-in-k --dtype bf16",
                               "--heads 128 --kv-heads 1 -d 576 --head-dim-v 512 --dtype bf16"};
  for (int k = 0; k < 3; k++) {
    json_t *sim = json_of("sim %s -N 1 --seq-len-k 32768 --gpu h100-sxm --algorithm fa2 --json", ASKED[k]);
    const json_t *first = json_array_get(at(sim, "runs"), 0);
    assert_int_equal(whole(first, "storage.inputs_bytes") - 128 * 576 * 2, 36 << 20);
    assert_int_equal(whole(first, "hbm.read_bytes") - 128 * 576 * 2, 36 << 20);
    assert_int_equal(whole(first, "traffic.read.V"), 0);
    assert_int_equal(whole(first, "sram.items.V"), 0);
    assert_true(real(first, "time.least_s") > 11.27e-6 && real(first, "time.least_s") < 11.36e-6);
    assert_true(json_is_true(at(sim, "shape.v_in_k")));
    json_decref(sim);
  }
  json_t *fp8 =
      json_of("sim --model deepseek-v3 --kv-dtype fp8 -N 1 --seq-len-k 32768 --gpu h100-sxm --algorithm fa2 --json");
  const json_t *first = json_array_get(at(fp8, "runs"), 0);
  assert_int_equal(whole(first, "storage.inputs_bytes") - 128 * 576 * 2, 18 << 20);
  assert_int_equal(whole(first, "storage.outputs_bytes"), 128 * 512 * 2); /* O stays bf16 */
  assert_string_equal(json_string_value(at(fp8, "shape.kv_dtype")), "fp8");
  json_decref(fp8);
  /* prefill computes K and V of every head */
  json_t *prefill = json_of("sim --model deepseek-v3 -N 4096 --algorithm fa2 --json");
  assert_int_equal(whole(prefill, "shape.kv_heads"), 128);
  assert_int_equal(whole(prefill, "shape.head_dim"), 192);
  assert_int_equal(whole(prefill, "shape.head_dim_v"), 128);
  json_decref(prefill);
  json_t *apart =
      json_of("sim -N 1 --seq-len-k 8192 --heads 128 --kv-heads 1 -d 576 --head-dim-v 512 --v-in-k=0 --json");
  assert_int_equal(whole(json_array_get(at(apart, "runs"), 0), "storage.inputs_bytes"), (128 * 576 + 8192 * 1088) * 2);
  json_decref(apart);
  program_run(&run, "sim -N 1 --seq-len-k 64 -d 64 --head-dim-v 128 --v-in-k");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "V cannot be the first 128 elements of K"));
}

/* --- --model --- */

/* Every command that takes a shape has the model's; a repository's name finds it; options beside it win. */
TEST(a_model_gives_a_shape) {
  static const struct {
    const char *line;
    long long heads, kv_heads, d, window;
    const char *dtype;
  } CASES[] = {
      {"sim --model Qwen/Qwen3-8B -N 1K --algorithm fa2 --json", 32, 8, 128, 0, "bf16"},
      {"sim --heads 16 --model qwen3-8b -N 1K --dtype fp16 --algorithm fa2 --json", 16, 8, 128, 0, "fp16"},
      {"sim --model mistral-7b -N 8K --causal --algorithm fa2 --json", 32, 8, 128, 4096, "bf16"},
      {"sim --model google/gemma-3-27b-it -N 1K --algorithm fa2 --json", 32, 16, 128, 0, "bf16"},
      {"sim --state 'model=llama-3-8b N=512' --algorithm fa2 --json", 32, 8, 128, 0, "bf16"},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    json_t *sim = json_of("%s", CASES[i].line);
    assert_int_equal(whole(sim, "shape.heads"), CASES[i].heads);
    assert_int_equal(whole(sim, "shape.kv_heads"), CASES[i].kv_heads);
    assert_int_equal(whole(sim, "shape.head_dim"), CASES[i].d);
    assert_int_equal(whole(sim, "shape.window"), CASES[i].window);
    assert_string_equal(json_string_value(at(sim, "shape.dtype")), CASES[i].dtype);
    json_decref(sim);
  }
  /* the same answer as with the numbers written out */
  static const char *const SAME[][2] = {
      {"sweep --over N --values 1K,2K --metric boundary --algorithm fa2 --csv",
       "--heads 32 --kv-heads 8 -d 128 --dtype bf16"},
      {"roofline --gpu h100-sxm --algorithm fa2 -N 1K --json", "--heads 32 --kv-heads 8 -d 128 --dtype bf16"},
      {"advise --gpu h100-sxm -N 1K --json", "--heads 32 --kv-heads 8 -d 128 --dtype bf16"},
  };
  for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
    static char first[sizeof run.out];
    char line[512];
    snprintf(line, sizeof line, "%s --model qwen3-8b", SAME[i][0]);
    program_run(&run, line);
    if (run.exit_status) fail_msg("%s: %s", line, run.err);
    memcpy(first, run.out, sizeof first);
    snprintf(line, sizeof line, "%s %s", SAME[i][0], SAME[i][1]);
    program_run(&run, line);
    assert_string_equal(first, run.out);
  }
  program_run(&run, "sim --model qwen3-9b");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "there is no model 'qwen3-9b'; did you mean 'qwen3-8b'?"));
}

/* --- serving --- */

/* Llama 3.1 70B on 4 GPUs: 2 of 8 KV heads each: 80 x 2 x 2 x 128 x 2 B = 80 KiB a token; 60 GiB are 786,432 tokens, or
 * 96 sequences of 8,192. One more page does not fit. */
TEST(what_a_budget_holds) {
  json_t *kv = json_of("kvcache --model llama-3.1-70b --tp 4 --budget 60GiB -N 8K --gpu h100-sxm --json");
  assert_int_equal(whole(kv, "bytes_per_token"), 81920);
  assert_int_equal(whole(kv, "budget.tokens"), 786432);
  assert_int_equal(whole(kv, "budget.sequences"), 96);
  assert_int_equal(whole(kv, "weights_bytes"), 35277500000);
  json_decref(kv);
  kv = json_of("kvcache --model llama-3-8b --budget 1000000 --page 4 -N 4 --json"); /* 131,072 B a token */
  assert_int_equal(whole(kv, "budget.tokens"), 4);
  assert_int_equal(whole(kv, "budget.sequences"), 1);
  json_decref(kv);
  kv = json_of("kvcache --model mistral-7b --budget 20GiB --json"); /* a window in every layer: 512 MiB at any length */
  assert_true(json_is_null(at(kv, "budget.tokens")));
  assert_int_equal(whole(kv, "budget.sequences"), 40);
  json_decref(kv);
  /* a window of 4,096 while 2,048 tokens are in flight: the first of them sees 4,095 before it */
  kv = json_of("kvcache --model mistral-7b -N 32K --in-flight 2K --json");
  assert_int_equal(whole(kv, "bytes"), (4096 + 2047) * 131072LL);
  json_decref(kv);
  kv = json_of("kvcache --model deepseek-v3 --tp 8 -N 1 --json"); /* a latent is kept by each */
  assert_int_equal(whole(kv, "bytes"), 61 * 576 * 2);
  json_decref(kv);
  kv = json_of("kvcache --model llama-3-8b --tp 16 -N 1 --json"); /* KV heads are repeated */
  assert_int_equal(whole(kv, "bytes"), 32 * 2 * 128 * 2);
  json_decref(kv);
  program_run(&run, "kvcache --model llama-3-8b --tp 3");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "which do not divide evenly over those GPUs"));
}

/* --- L2s of chiplets --- */

/* 256 row blocks of 64 heads, 16,384 CTAs that each ask for 64 KiB of Q and 32 MiB of K and V. Head by head, the 32
 * that run on a chiplet are of one head and read its 32 MiB once: 16 of 512 GiB. Heads first, they are of 32 heads:
 * nothing is shared. Measured on an MI355X: 93.62 % and 2.36 % (ROCm/FlyDSL pull request 919). Workgroups that go round
 * the chiplets one by one (MI300X) share a head's tiles even then: of 64 heads each chiplet has 8. */
TEST(the_order_decides_what_chiplets_share) {
  static const struct {
    const char *gpu, *order;
    int N, heads;
    double GiB_missed, low, high;
  } CASES[] = {{"mi355x", "query-head-batch", 65536, 64, 17, 0.93, 0.97},
               {"mi355x", "head-query-batch", 65536, 64, 513, 0, 0.03},
               {"mi300x", "head-query-batch", 65536, 64, 0, 0.7, 0.9},
               {"mi355x", "head-query-batch", 2048, 1, 1.5 / 1024, 0.82, 0.83}}; /* 8 CTAs of one chiplet: K, V once */
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    json_t *sim = json_of("sim --gpu %s -N %d --heads %d -d 128 --dtype bf16 --block-q 256 --block-k 64 --sram 200K "
                          "--ctas-per-sm 1 --algorithm fa2 --order %s --json",
                          CASES[i].gpu, CASES[i].N, CASES[i].heads, CASES[i].order);
    const json_t *first = json_array_get(at(sim, "runs"), 0);
    const double rate = real(first, "chiplets.hit_rate");
    assert_true(rate >= CASES[i].low && rate <= CASES[i].high);
    if (CASES[i].GiB_missed > 0)
      assert_true((double)whole(first, "chiplets.missed_bytes") == CASES[i].GiB_missed * 0x1p30);
    json_decref(sim);
  }
}
