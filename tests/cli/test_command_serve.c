/* tilewalk serve, as users and programs see it: its attention is sim's, its cache is kvcache's; figures in print. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <unistd.h>
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

static ProgramRun run;

static json_t *json_of(const char *arguments) {
  program_run(&run, arguments);
  if (run.exit_status) fail_msg("%s: %s", arguments, run.err);
  json_t *json = json_loads(run.out, 0, NULL);
  if (!json) fail_msg("%s: no JSON", arguments);
  return json;
}

static double value(const json_t *json, const char *section, const char *key) {
  const json_t *figure = json_object_get(json_object_get(json, section), key);
  if (!figure) fail_msg("no %s.%s", section, key);
  assert_non_null(json_object_get(figure, "kind"));
  assert_true(*json_string_value(json_object_get(figure, "from")));
  return json_number_value(json_object_get(figure, "value"));
}

static double least_of_sim(const char *arguments) {
  json_t *json = json_of(arguments);
  const json_t *time = json_object_get(json_array_get(json_object_get(json, "runs"), 0), "time");
  const double s = json_number_value(json_object_get(time, "least_s"));
  json_decref(json);
  return s;
}

/* One planner: what sim says of a layer, 80 times; and kvcache's figures to the last digit. */
TEST(one_answer) {
  json_t *serve = json_of("serve --model llama-3.1-70b --gpu h100 --tp 8 --batch 32 --context 32K --json");
  json_t *kv = json_of("kvcache --model llama-3.1-70b --gpu h100 --tp 8 --batch 32 -N 32K --json");
  const double decode = least_of_sim("sim -N 1 --seq-len-k 32K --batch 32 --heads 8 --kv-heads 1 -d 128 --dtype bf16 "
                                     "--gpu h100 --algorithm fa2 --json"),
               prompt = least_of_sim("sim -N 32K --heads 8 --kv-heads 1 -d 128 --dtype bf16 --causal --gpu h100 "
                                     "--algorithm fa2 --json");
  assert_true(value(serve, "token", "attention_s") == 80 * decode);
  assert_true(value(serve, "prompt", "attention_s") == 80 * prompt);
  const json_t *gpu = json_object_get(kv, "gpu");
  assert_true(value(serve, "token", "attention_s") == json_number_value(json_object_get(gpu, "attention_step_s")));
  assert_true(value(serve, "memory", "kv_bytes") == json_number_value(json_object_get(kv, "bytes")));
  const json_t *paged = json_object_get(kv, "paged");
  assert_true(value(serve, "memory", "page_bytes") == json_number_value(json_object_get(paged, "bytes")));
  assert_true(value(serve, "memory", "table_bytes") == json_number_value(json_object_get(paged, "table_bytes")));
  assert_true(value(serve, "memory", "table_bytes") == 32 * 2048 * 4);
  const json_t *sent = json_object_get(json_object_get(serve, "token"), "sent_bytes"); /* from `hidden`, not opened */
  assert_string_equal(json_string_value(json_object_get(sent, "kind")), "assumed");
  json_decref(serve);
  json_decref(kv);
}

/* By hand: weights of 141.1 GB and a cache of 8 x 131,072 x 327,680 B = 343.6 GB are 6.06 GPUs of 80 GB, and 64 heads
 * divide over 8. What does not fit has no times. */
TEST(gpus_that_it_takes) {
  for (int n = 1; n <= 8; n *= 8) {
    char line[96];
    snprintf(line, sizeof line, "serve --gpu a100 --batch 8 -N 128K --tp %d --json", n);
    json_t *json = json_of(line);
    assert_true(value(json, "memory", "least_gpus") == 8);
    assert_true((json_object_get(json, "token") != NULL) == (n == 8));
    json_decref(json);
  }
}

/* 4,100 tokens in pages of 16: 257 pages, the last holds 4; a prefix of 1,000 shares 62 whole pages. */
TEST(pages_and_prefix) {
  json_t *json = json_of("serve --model llama-3-8b --batch 10 -N 4100 --prefix 1000 --json");
  assert_true(value(json, "memory", "kv_bytes") == 10.0 * 4100 * 131072);
  assert_true(value(json, "memory", "page_bytes") == 10.0 * 257 * 16 * 131072);
  assert_true(value(json, "memory", "table_bytes") == 10.0 * 257 * 4);
  assert_true(value(json, "memory", "shared_bytes") == 9.0 * 62 * 16 * 131072);
  assert_true(value(json, "memory", "sequences_that_fit") ==
              floor((80e9 - value(json, "memory", "weights_bytes") - 62 * 16 * 131072.0) / (195 * 16 * 131072.0)));
  assert_true(value(json, "token", "kv_bytes") == (10.0 * 3100 + 1000) * 131072);
  assert_true(value(json, "token", "prefix_saved_bytes") == 9.0 * 1000 * 131072);
  const json_t *pages = json_object_get(json_object_get(json, "memory"), "page_bytes");
  assert_non_null(strstr(json_string_value(json_object_get(pages, "from")), "last page holds 4"));
  json_decref(json);
}

/* What stays: 4 sinks and 2,044; H2O also sums up scores, 4 B for each of 32 x 8 KV heads and kept tokens. */
TEST(eviction) {
  json_t *json = json_of("serve --model llama-3-8b --batch 2 -N 16K --evict streaming:4+2044 --json");
  assert_true(value(json, "memory", "kept_tokens") == 2048);
  assert_true(value(json, "token", "kv_bytes") == 2.0 * 2048 * 131072);
  json_decref(json);
  json = json_of("serve --model llama-3-8b --batch 2 -N 16K --evict h2o:512+512 --json");
  assert_true(value(json, "token", "kv_bytes") == 2.0 * 1024 * 131072);
  assert_true(value(json, "memory", "score_bytes") == 2.0 * 1024 * 256 * 4);
  json_decref(json);
}

/* 32K in chunks of 2K: 16 x 17 / 2 loads of a chunk's K and V, 16 x 15 / 2 of them of earlier chunks. */
TEST(chunked_prefill) {
  json_t *json = json_of("serve --model llama-3-8b --prompt 32K --chunk 2K --json");
  assert_true(value(json, "prompt", "chunks") == 16);
  assert_true(value(json, "prompt", "chunk_loads") == 136);
  assert_true(value(json, "prompt", "chunk_reloads") == 120);
  assert_true(value(json, "prompt", "kv_bytes") == 136.0 * 2048 * 131072);
  assert_true(value(json, "prompt", "kv_ratio") == 8.5);
  assert_true(value(json, "prompt", "time_ratio") >= 1);
  assert_true(value(json, "token", "with_chunk_s") > value(json, "token", "time_s"));
  json_decref(json);
}

/* A config.json says its matrices: DeepSeek-V3's 61 layers of MLA, 3 of them dense, 58 with 256 experts and a shared
 * one; Llama 3.1 70B but for norms. */
TEST(parameters_of_a_config) {
  static const struct {
    const char *json;
    double bytes; /* of the weights */
    bool is_fp8;
  } CONFIGS[] = {
      {"{\"model_type\": \"llama\", \"hidden_size\": 8192, \"num_hidden_layers\": 80, \"num_attention_heads\": 64, "
       "\"num_key_value_heads\": 8, \"vocab_size\": 128256, \"intermediate_size\": 28672}",
       2 * (70553706496.0 - 80 * 2 * 8192 - 8192), false},
      {"{\"model_type\": \"llama\", \"hidden_size\": 8192, \"num_hidden_layers\": 80, \"num_attention_heads\": 64, "
       "\"num_key_value_heads\": 8, \"vocab_size\": 128256, \"intermediate_size\": 28672, "
       "\"quantization_config\": {\"quant_method\": \"fp8\"}}",
       70553706496.0 - 80 * 2 * 8192 - 8192, true},
      {"{\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168, \"num_hidden_layers\": 61, \"num_attention_heads\": "
       "128, "
       "\"vocab_size\": 129280, \"q_lora_rank\": 1536, \"kv_lora_rank\": 512, \"qk_rope_head_dim\": 64, "
       "\"qk_nope_head_dim\": 128, \"v_head_dim\": 128, \"intermediate_size\": 18432, \"moe_intermediate_size\": 2048, "
       "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 3}",
       2 * (2.0 * 7168 * 129280 + 3.0 * 3 * 7168 * 18432 + 58.0 * (257.0 * 3 * 7168 * 2048 + 7168 * 256) +
            61.0 * (7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512.0 * 128 * 256 + 128 * 128 * 7168.0)),
       false},
  };
  for (size_t k = 0; k < sizeof CONFIGS / sizeof *CONFIGS; k++) {
    char path[] = "/tmp/tilewalk-config-XXXXXX", line[256];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, CONFIGS[k].json, strlen(CONFIGS[k].json)), strlen(CONFIGS[k].json));
    close(file);
    snprintf(line, sizeof line, "serve --model %s --gpu h200 --json", path);
    json_t *json = json_of(line);
    assert_true(value(json, "memory", "weights_bytes") == CONFIGS[k].bytes);
    if (CONFIGS[k].is_fp8) { /* as if asked for */
      snprintf(line, sizeof line, "serve --model %s --gpu h200 --weights-dtype fp8 --json", path);
      json_t *asked = json_of(line);
      assert_true(json_equal(json, asked));
      json_decref(asked);
    }
    json_decref(json);
    unlink(path);
  }
}

/* What people see: kinds, and the answers. */
TEST(text) {
  program_run(&run, "serve --model llama-3.1-70b --gpu h100 --tp 8 --batch 32 --context 32K");
  assert_int_equal(run.exit_status, 0);
  static const char *const HAS[] = {"Llama 3.1 70B on 8 x h100-sxm",
                                    "time to first token",
                                    "time a token",
                                    "18.34 ms",
                                    "attention: HBM",
                                    "matrices: products",
                                    "bound",
                                    "counted"};
  for (size_t k = 0; k < sizeof HAS / sizeof *HAS; k++)
    if (!strstr(run.out, HAS[k])) fail_msg("no '%s' in\n%s", HAS[k], run.out);
}

/* What is printed by the same arithmetic agrees to its rounding, but for the rows that are known to be twice too large;
 * no measured run is better than its bound. */
TEST(printed) {
  json_t *json = json_of("serve --printed --json");
  const json_t *row, *rows = json_object_get(json, "printed");
  size_t k;
  int measured = 0, exact = 0, twice = 0;
  json_array_foreach(rows, k, row) {
    const char *as = json_string_value(json_object_get(row, "printed_as"));
    const char *source = json_string_value(json_object_get(row, "source")),
               *figure = json_string_value(json_object_get(row, "figure"));
    const double error = json_number_value(json_object_get(row, "larger_by"));
    if (strstr(source, "twice")) {
      assert_true(fabs(error - 1) < 0.001);
      twice++;
    } else if (!strcmp(as, "calculated") || strstr(figure, "kv_bytes")) {
      assert_true(fabs(error) < 0.002);
      exact++;
    } else {
      assert_string_equal(figure, "token.tokens_per_s");
      assert_true(error < 0 && error > -0.75);
      measured++;
    }
  }
  assert_true(twice == 3 && exact == 11 && measured == 13);
  json_decref(json);
}

TEST(refused) {
  static const struct {
    const char *arguments, *says;
  } BAD[] = {
      {"serve --tp 3", "64 query heads, which do not divide evenly over those GPUs"},
      {"serve --prefix 4096", "must have some of its own"},
      {"serve --evict keep:4+4", "streaming:SINKS+RECENT or h2o:HEAVY+RECENT"},
      {"serve --evict streaming:4", "streaming:SINKS+RECENT"},
      {"serve --evict streaming:4+4x", "'4x'"},
      {"serve --prefix 8 --evict streaming:4+4", "--prefix and --evict"},
      {"serve --lengths 8,9 --batch 2", "--lengths gives the length"},
      {"serve --kv-dtype fp7", "no data type"},
      {"serve --prompt 1M --chunk 1", "more than 16384 chunks"},
      {"serve --model tests/fuzz/corpus/model_config/types.json", "1 of 4 layers keep no K and V"},
      {"serve --json --csv", "--json"},
  };
  for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
    program_run(&run, BAD[k].arguments);
    assert_int_equal(run.exit_status, 2);
    assert_string_equal(run.out, "");
    if (!strstr(run.err, BAD[k].says)) fail_msg("%s: %s", BAD[k].arguments, run.err);
  }
}
