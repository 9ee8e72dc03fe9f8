/* tilewalk eligible: calls whose kernel was found by hand, by reading the libraries' sources at the versions that
 * assets/backends names; what a fallback costs, worked by hand. */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

static ProgramRun run;

static json_t *json_of(const char *arguments) {
  char line[512];
  snprintf(line, sizeof line, "eligible %s --json", arguments);
  program_run(&run, line);
  if (run.exit_status) fail_msg("%s: %s", line, run.err);
  json_t *json = json_loads(run.out, 0, NULL);
  if (!json) fail_msg("%s: no JSON", line);
  return json;
}

static const json_t *kernel(const json_t *json, const char *name) {
  size_t k;
  const json_t *one;
  json_array_foreach(json_object_get(json, "kernels"), k,
                     one) if (!strcmp(json_string_value(json_object_get(one, "name")), name)) return one;
  fail_msg("no kernel %s", name);
  return NULL;
}

/* Each by hand: the checks of sdp_utils.cpp in their order, get_valid_backends of vllm/platforms/cuda.py, and what
 * sdpa_attention_forward makes of a call. */
TEST(by_hand) {
  static const struct {
    const char *call, *runs, *refused, *why; /* a kernel that is refused, and the function or word of its reason */
  } CASES[] = {
      /* cuDNN is preferred on sm90 from 9.15.1 on, and nowhere else. */
      {"--heads 32 --dtype bf16 --causal --gpu h100", "cudnn", NULL, NULL},
      {"--heads 32 --dtype bf16 --causal --gpu h100 --cudnn 9.10.2", "flash", NULL, NULL},
      {"--heads 32 --dtype bf16 --causal --gpu h100 --cudnn 9.15.0", "flash", NULL, NULL},
      {"--heads 32 --dtype bf16 --causal --gpu h100 --deterministic", "flash", "cudnn", "check_cudnn_deterministic"},
      {"--heads 32 --dtype bf16 --causal --gpu b200", "cudnn", NULL, NULL},
      {"--heads 32 --dtype bf16 --causal --gpu a100-80gb", "flash", NULL, NULL},
      {"--heads 32 --dtype bf16 --causal --gpu rtx5090", "flash", NULL, NULL},
      /* Tensors, types, heads, sizes. */
      {"--heads 32 --dtype bf16 --bias --gpu a100-80gb", "efficient", "flash", "check_for_attn_mask"},
      {"--heads 32 --dtype bf16 --causal --window 1K --gpu a100-80gb", "efficient", "flash", "check_for_attn_mask"},
      {"--heads 32 --dtype fp32 --gpu a100-80gb", "efficient", "flash", "check_dtypes_flash_attention"},
      {"--heads 32 --dtype fp16 --gpu t4", "efficient", "flash", "check_flash_attention_hardware_support"},
      {"--heads 32 --dtype bf16 --gpu t4", "math", "efficient", "before sm80"},
      {"--heads 32 --dtype fp16 --gpu v100", "efficient", "flash", "sm80 to sm121"},
      {"--heads 8 -d 320 --dtype bf16 --gpu a100-80gb", "efficient", "flash", "check_head_dim_size_flash"},
      {"--heads 8 -d 192 --head-dim-v 128 --dtype bf16 --gpu a100-80gb", "efficient", "flash", "same last dimension"},
      {"--heads 8 -d 192 --head-dim-v 128 --dtype bf16 --gpu h100 --cudnn 9.16.0", "cudnn", "flash", "same last"},
      {"--heads 8 -d 100 --dtype fp16 --gpu a100-80gb", "flash", "efficient", "multiples of 8"},
      {"--heads 8 -d 4 --dtype fp32 --gpu a100-80gb", "efficient", NULL, NULL},
      {"--heads 8 -d 6 --dtype fp32 --gpu a100-80gb", "math", "efficient", "multiples of 4 in fp32"},
      {"--heads 8 -d 256 --dtype bf16 --gpu h100 --cudnn 9.16.0", "flash", "cudnn", "check_cudnn_tensor_shapes"},
      /* A causal mask with more keys than queries; one key. */
      {"--heads 8 -N 128 --seq-len-k 4K --causal --dtype bf16 --gpu a100-80gb", "efficient", "flash", "non_square"},
      {"--heads 8 -N 128 --seq-len-k 4K --causal --dtype bf16 --gpu h100", "cudnn", "flash", "non_square"},
      {"--heads 8 -N 1 --seq-len-k 1 --dtype bf16 --gpu h100", "flash", "cudnn", "one key alone"},
      /* Training: d over 192 on sm86 to sm89 and sm120, with and without dropout. */
      {"--heads 8 -d 256 --dtype bf16 --training --gpu rtx4090", "flash", NULL, NULL},
      {"--heads 8 -d 256 --dtype bf16 --training --dropout 0.1 --gpu rtx4090", "efficient", "flash",
       "head_dim over 192"},
      {"--heads 8 -d 224 --dtype bf16 --training --gpu rtx3090", "efficient", "flash", "head_dim over 192"},
      {"--heads 8 -d 192 --dtype bf16 --training --dropout 0.1 --gpu rtx3090", "flash", NULL, NULL},
      {"--heads 8 -d 224 --dtype bf16 --training --gpu rtx5090", "efficient", "flash", "sm120"},
      {"--heads 8 -d 224 --dtype bf16 --gpu rtx5090", "flash", NULL, NULL},
      {"--heads 8 -d 256 --dtype bf16 --training --dropout 0.1 --gpu a100-80gb", "flash", NULL, NULL},
      {"--heads 8 --dtype bf16 --dropout 0.1 --gpu h100", "flash", "cudnn", "check_cudnn_dropout"},
      {"--heads 8 --dtype bf16 --dropout 0.125 --gpu h100", "cudnn", NULL, NULL},
      /* Grouped heads. */
      {"--heads 32 --kv-heads 8 --dtype bf16 --gpu a100-80gb", "flash", NULL, NULL},
      {"--heads 32 --kv-heads 8 --dtype bf16 --no-gqa --gpu a100-80gb", "math", "flash", "enable_gqa"},
      /* transformers. */
      {"--library transformers --heads 32 --kv-heads 8 --causal --dtype bf16 --gpu a100-80gb", "flash", NULL, NULL},
      {"--library transformers --heads 32 --kv-heads 8 -N 1 --seq-len-k 4K --causal --dtype bf16 --gpu a100-80gb",
       "flash", NULL, NULL},
      {"--library transformers --heads 32 --kv-heads 8 -N 64 --seq-len-k 4K --causal --dtype bf16 --gpu a100-80gb",
       "efficient", "flash", "check_for_attn_mask"},
      {"--library transformers --heads 32 --kv-heads 8 -N 8K --causal --window 4K --dtype bf16 --gpu a100-80gb",
       "efficient", "flash", "check_for_attn_mask"},
      /* vLLM. */
      {"--library vllm --heads 32 --kv-heads 8 --causal --dtype bf16 --gpu h100", "FLASH_ATTN", NULL, NULL},
      {"--library vllm --heads 32 --kv-heads 8 --causal --dtype bf16 --gpu b200", "FLASHINFER", NULL, NULL},
      {"--library vllm --heads 32 --kv-heads 8 --causal -d 96 --dtype bf16 --gpu b200", "FLASH_ATTN", "FLASHINFER",
       "head size 64, 128, 256 or 512"},
      {"--library vllm --heads 32 --causal -d 80 --dtype fp16 --gpu rtx4090", "FLASH_ATTN", "FLASHINFER",
       "head size 64"},
      {"--library vllm --heads 32 --causal --dtype fp16 --gpu v100", "TRITON_ATTN", "FLASHINFER", "8.0 to 12.1"},
      {"--library vllm --heads 32 --causal --dtype fp32 --gpu a100-80gb", "TRITON_ATTN", "FLASH_ATTN", "fp16 and bf16"},
      {"--library vllm --heads 8 --causal -d 512 --dtype bf16 --gpu a100-80gb", "FLASHINFER", "FLASH_ATTN",
       "at most 256"},
      {"--library vllm --heads 64 --kv-heads 8 -d 64 --causal --dtype bf16 --sinks --gpu h100", "FLASH_ATTN",
       "FLASHINFER", "sinks need"},
      {"--library vllm --heads 64 --kv-heads 8 -d 64 --causal --dtype bf16 --sinks --gpu a100-80gb", "TRITON_ATTN",
       "FLASH_ATTN", "sinks need"},
      {"--library vllm --heads 8 --causal --dtype bf16 --kv-dtype fp8 --gpu a100-80gb", "FLASHINFER", "FLASH_ATTN",
       "fp8 cache"},
      {"--library vllm --heads 8 --causal -d 16 --dtype fp32 --gpu a100-80gb", "FLEX_ATTENTION", "TRITON_ATTN",
       "at least 32"},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
    json_t *json = json_of(CASES[k].call);
    const char *runs = json_string_value(json_object_get(json, "runs"));
    if (!runs || strcmp(runs, CASES[k].runs) != 0) fail_msg("%s: %s", CASES[k].call, runs ? runs : "none");
    if (CASES[k].refused) {
      size_t w;
      bool found = false;
      const json_t *why, *one = kernel(json, CASES[k].refused);
      assert_string_equal(json_string_value(json_object_get(one, "verdict")), "cannot");
      json_array_foreach(json_object_get(one, "why_not"), w, why) found |=
          !!strstr(json_string_value(why), CASES[k].why);
      if (!found) fail_msg("%s: %s is not refused for '%s'", CASES[k].call, CASES[k].refused, CASES[k].why);
    }
    json_decref(json);
  }
}

static long long whole(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!value) fail_msg("no %s", key);
  return json_integer_value(value);
}

/* A window in transformers on an A100: a mask of 4,096 x 4,096 scores of 2 B, read by 8 heads; K and V of 2 heads
 * written once more for all 8; no tile is skipped. */
TEST(what_a_fallback_costs) {
  json_t *json =
      json_of("--library transformers --heads 8 --kv-heads 2 --causal --window 1K --dtype bf16 --gpu a100-80gb");
  json_t *plain = json_of("--library pytorch-sdpa --heads 8 --dtype bf16 --gpu a100-80gb"); /* no mask, 8 KV heads */
  const long long mask = 4096LL * 4096 * 2, kv = 2LL * 8 * 4096 * 128 * 2;
  const json_t *runs = kernel(json, "efficient"), *unmasked = kernel(plain, "efficient"), *math = kernel(json, "math");
  assert_int_equal(whole(runs, "memory_bytes"), mask + kv);
  assert_int_equal(whole(runs, "boundary_bytes"), whole(unmasked, "boundary_bytes") + 8 * mask + kv + kv / 4);
  assert_int_equal(whole(math, "memory_bytes"), mask + kv + 2LL * 8 * 4096 * 4096 * 2); /* S and P */
  const json_t *asked = json_object_get(json, "fused_as_asked");
  assert_int_equal(whole(asked, "memory_bytes"), 0);
  assert_true(whole(asked, "boundary_bytes") < whole(runs, "boundary_bytes") / 3);
  const double slow = json_real_value(json_object_get(runs, "bound_s")),
               fast = json_real_value(json_object_get(asked, "bound_s"));
  assert_true(slow > 2 * fast);
  json_decref(json);
  json_decref(plain);
}

TEST(refused) {
  static const struct {
    const char *arguments, *says;
  } BAD[] = {
      {"eligible --library nothing", "there is no library"},
      {"eligible --gpu mi300x", "no NVIDIA GPU"},
      {"eligible --dropout 1", "no probability"},
      {"eligible --cudnn nine", "no version of cuDNN"},
      {"eligible --json --csv", "--json"},
  };
  for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
    program_run(&run, BAD[k].arguments);
    assert_int_equal(run.exit_status, 2);
    assert_string_equal(run.out, "");
    if (!strstr(run.err, BAD[k].says)) fail_msg("%s: %s", BAD[k].arguments, run.err);
  }
}

TEST(text) {
  program_run(&run, "eligible --heads 32 --dtype bf16 --bias --gpu a100-80gb");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "efficient        runs"));
  assert_non_null(strstr(run.out, "commit 001f694aef6f922b4fdf6d27d59162d27bf3df58"));
  program_run(&run, "eligible --heads 32 --dtype bf16 --bias --gpu a100-80gb --csv");
  assert_non_null(strstr(run.out, "kernel,verdict,boundary_bytes,memory_bytes,bound_s,why\nflash,cannot,,,,"));
}
