/* Serving: weights, matrices, chunks, prefixes, eviction and quantised caches, against sums worked by hand and against
 * slow counting. */
#include "tests/support/test.h"
#include "sim/serving.h"
#include "tests/support/rand.h"
#include "viz/request/description.h"

static KvModel model;
static Gpu gpu;

static Serving serving_of(const char *name, int64_t n_gpus) {
  Error error = {0};
  if (description_model(name, &model, &error) || description_gpu("h100-sxm", &gpu, &error))
    fail_msg("%s", error.message);
  Serving s = {.model = &model, .gpu = &gpu, .n_gpus = n_gpus, .weight_bytes = 2, .products = DTYPE_BF16};
  s.cache = kvmodel_cache(&model);
  if (kvcache_share(&s.cache, n_gpus, &error)) fail_msg("%s", error.message);
  return s;
}

static ServingStep step_of(const Serving *s, const ServingPart *parts, int64_t n, double outputs) {
  Error error = {0};
  ServingStep step;
  if (serving_step(s, parts, n, outputs, &step, &error)) fail_msg("%s", error.message);
  return step;
}

/* Parameters of dense models with gated MLPs, from their config.json: tables, four projections, three matrices, two
 * norms a layer and one at the end; Qwen2.5 adds biases to Q, K and V. */
TEST(parameters_follow_from_shapes) {
  static const struct {
    const char *name;
    int64_t intermediate, bias;
  } MODELS[] = {{"llama-2-7b", 11008, 0},    {"llama-2-70b", 28672, 0},    {"llama-3-8b", 14336, 0},
                {"llama-3.1-70b", 28672, 0}, {"llama-3.1-405b", 53248, 0}, {"llama-3.2-1b", 8192, 0},
                {"llama-3.2-3b", 8192, 0},   {"mistral-7b", 14336, 0},     {"qwen2.5-7b", 18944, 1}};
  for (size_t k = 0; k < sizeof MODELS / sizeof *MODELS; k++) {
    serving_of(MODELS[k].name, 1);
    const KvModel *m = &model;
    const int64_t rows = (m->heads + 2 * m->kv_heads) * m->d;
    const int64_t layer = m->hidden * rows + m->heads * m->d * m->hidden + 3 * m->hidden * MODELS[k].intermediate +
                          2 * m->hidden + MODELS[k].bias * rows;
    const int64_t all = m->embedding_tables * m->hidden * m->vocab + m->layers * layer + m->hidden;
    if (m->parameters != all)
      fail_msg("%s: %lld, by its shapes %lld", m->name, (long long)m->parameters, (long long)all);
  }
}

/* Llama 3.1 70B on eight H100s: each has 8 query heads, one KV head, an eighth of the weights. */
TEST(a_step_of_decode_by_hand) {
  const Serving s = serving_of("llama-3.1-70b", 8);
  const ServingPart part = {.queries = 1, .keys = 32768, .count = 32};
  const ServingStep step = step_of(&s, &part, 1, 32);
  const double table = 128256.0 * 8192, multiplied = 70553706496.0 - table;
  assert_true(step.tokens == 32);
  assert_true(step.weight_bytes == 2 * multiplied / 8);
  assert_true(step.flops == 2 * multiplied * 32 / 8);
  assert_true(step.matrix_s == step.weight_bytes / 3.35e12);
  assert_true(step.kv_bytes == (Wide)32 * 32768 * 80 * 2 * 128 * 2);
  assert_true(step.sent_bytes == 2.0 * 80 * 32 * 8192 * 2 * 2 * 7 / 8); /* two all-reduces a layer, ring of 8 */
  assert_true(step.sent_s == step.sent_bytes / 450e9);
  /* K and V, and Q of 32 x 8 heads; O may stay in L2. */
  const double bytes = 32.0 * (2 * 32768 * 128 * 2 + 8 * 128 * 2) * 80;
  assert_true(fabs(step.attention.bound_s / (bytes / 3.35e12) - 1) < 1e-12);
  assert_int_equal(step.attention.bound, TIME_HBM);
  assert_true(step.bound_s == step.matrix_s + step.attention.bound_s + step.sent_s);
}

/* A prompt: products bind, and logits are computed for the last token alone. */
TEST(a_prompt_by_hand) {
  const Serving s = serving_of("llama-3-8b", 1);
  Error error = {0};
  ServingStep all;
  int64_t n;
  assert_int_equal(serving_prompt(&s, 8192, 0, 0, &all, &n, &error), STATUS_OK);
  const double table = 128256.0 * 4096, body = 8030261248.0 - 2 * table;
  assert_int_equal(n, 1);
  assert_true(all.flops == 2 * (body * 8192 + table));
  assert_true(all.matrix_s == all.flops / 989.4e12);
  assert_true(all.sent_s == 0 && all.sent_bytes == 0);
  assert_true(all.kv_bytes == (Wide)8192 * 131072);
}

/* Chunks, one by one: chunk i sees i x C keys; the K and V of the first are read by every one of them. */
TEST(chunks_are_summed) {
  const Serving s = serving_of("llama-3-8b", 1);
  Rand r = {11};
  for (int k = 0; k < 50; k++) {
    const int64_t prompt = rand_in(&r, 2, 5000), chunk = rand_in(&r, 1 + prompt / 20, prompt),
                  cached = rand_in(&r, 0, 1) * rand_in(&r, 0, prompt - 1);
    Error error = {0};
    ServingStep sum;
    int64_t n, seen = 0, loads = 0;
    double attention_s = 0, matrix_s = 0;
    assert_int_equal(serving_prompt(&s, prompt, cached, chunk, &sum, &n, &error), STATUS_OK);
    for (int64_t at = cached; at < prompt; at += chunk, loads++) {
      const int64_t end = at + chunk < prompt ? at + chunk : prompt;
      const ServingPart part = {.queries = end - at, .keys = end, .count = 1};
      const ServingStep one = step_of(&s, &part, 1, end == prompt);
      seen += end;
      attention_s += one.attention.bound_s;
      matrix_s += one.matrix_s;
    }
    assert_int_equal(n, loads);
    assert_true(sum.kv_bytes == (Wide)seen * 131072);
    assert_true(fabs(sum.attention.bound_s / attention_s - 1) < 1e-12);
    assert_true(fabs(sum.matrix_s / matrix_s - 1) < 1e-12);
    assert_true(sum.tokens == (double)(prompt - cached));
  }
  Error error = {0};
  ServingStep sum;
  assert_int_equal(serving_prompt(&s, 1 << 20, 0, 1, &sum, NULL, &error), STATUS_TOO_LARGE);
}

/* Sequences of unequal lengths: bytes are the sum of theirs. */
TEST(unequal_lengths_add_up) {
  const Serving s = serving_of("gemma-2-9b", 1); /* every second layer has a window of 4,096 */
  Rand r = {3};
  ServingPart parts[40];
  Wide bytes = 0;
  double hbm_s = 0;
  for (int k = 0; k < 40; k++) {
    parts[k] = (ServingPart){.queries = 1, .keys = rand_in(&r, 1, 20000), .count = rand_in(&r, 1, 3)};
    const int64_t in_window = parts[k].keys < 4096 ? parts[k].keys : 4096;
    bytes += (Wide)parts[k].count * 21 * (Wide)(parts[k].keys + in_window) * 2 * 8 * 256 * 2;
    hbm_s += step_of(&s, &parts[k], 1, 1).attention.part_s[TIME_HBM];
  }
  const ServingStep all = step_of(&s, parts, 40, 40);
  assert_true(all.kv_bytes == bytes);
  assert_true(fabs(all.attention.part_s[TIME_HBM] / hbm_s - 1) < 1e-12);
  assert_true(all.attention.bound_s == all.attention.part_s[TIME_HBM]);
}

/* A batch of decodes is one launch: PyTorch's FlashAttention-2 took 1.851 ms for one sequence of 65,536 tokens and 63
 * of 256, 32 query heads on 8 (assets/counters/h100/serve/first.csv). */
TEST(unequal_decodes_are_predicted) {
  static Profile fa2;
  Serving s = serving_of("llama-3-8b", 1);
  Error error = {0};
  if (description_kernel("fa2-sm90", &fa2, &error)) fail_msg("%s", error.message);
  s.kernel = &fa2;
  s.cache.dtype = KV_FP16;
  const ServingPart parts[] = {{.queries = 1, .keys = 65536, .count = 1}, {.queries = 1, .keys = 256, .count = 63}};
  const ServingStep step = step_of(&s, parts, 2, 64);
  assert_true(step.has_prediction && step.predicted_s >= step.attention.bound_s);
  assert_true(fabs(step.predicted_s / 32 / 1.850912e-3 - 1) < 0.05);
}

/* 4 bits and an fp16 scale for 64 elements: 128 elements are 64 + 4 B. */
TEST(quantised_caches_take_time_by_their_bytes) {
  Serving s = serving_of("llama-3-8b", 1);
  const ServingPart part = {.queries = 1, .keys = 16384, .count = 8};
  const double small = 8.0 * 32 * 32 * 128 * 2; /* Q */
  s.cache.dtype = KV_INT4, s.cache.group = 64, s.cache.scale_bytes = 2;
  ServingStep step = step_of(&s, &part, 1, 8);
  assert_true(step.kv_bytes == (Wide)8 * 16384 * 32 * 2 * 8 * 68);
  assert_true(fabs(step.attention.bound_s / (((double)step.kv_bytes + small) / 3.35e12) - 1) < 1e-9);
  s.cache.dtype = KV_INT8, s.cache.group = 0, s.cache.scale_bytes = 0;
  step = step_of(&s, &part, 1, 8);
  assert_true(step.kv_bytes == (Wide)8 * 16384 * 32 * 2 * 8 * 128);
  assert_true(fabs(step.attention.bound_s / (((double)step.kv_bytes + small) / 3.35e12) - 1) < 1e-9);
}

/* A prefix of T tokens is read once for all sequences; a window sees what is behind it first. */
TEST(a_prefix_is_read_once) {
  Serving s = serving_of("llama-3-8b", 1);
  const ServingPart parts[] = {{.queries = 1, .keys = 1000, .count = 16},
                               {.queries = 16, .keys = 3000, .count = 1, .is_prefix = true, .after = 1000}};
  ServingStep step = step_of(&s, parts, 2, 16);
  assert_true(step.tokens == 16); /* a prefix adds no new ones */
  assert_true(step.kv_bytes == (Wide)131072 * (16 * 1000 + 3000));
  s = serving_of("mistral-7b", 1); /* a window of 4,096 in all layers: 3,096 of the prefix are left, or none */
  const ServingPart windowed[] = {{.queries = 1, .keys = 1000, .count = 16},
                                  {.queries = 16, .keys = 8000, .count = 1, .is_prefix = true, .after = 1000}};
  step = step_of(&s, windowed, 2, 16);
  assert_true(step.kv_bytes == (Wide)131072 * (16 * 1000 + 3096));
  const ServingPart gone[] = {{.queries = 16, .keys = 8000, .count = 1, .is_prefix = true, .after = 5000}};
  step = step_of(&s, gone, 1, 16);
  assert_true(step.kv_bytes == 0);
}

TEST(evicted_tokens) {
  const Evict streaming = {EVICT_STREAMING, 4, 2044}, none = {0};
  assert_int_equal(evict_kept(&streaming, 100), 100);
  assert_int_equal(evict_kept(&streaming, 2048), 2048);
  assert_int_equal(evict_kept(&streaming, 1000000), 2048);
  assert_int_equal(evict_kept(&none, 1000000), 1000000);
}

/* Heads that are too few for the SMs, rows of 256: split keys are read at HBM's rate, K, V and Q; unsplit, 8 SMs would
 * take more than half as long again. */
TEST(few_heads_are_split) {
  Serving s = serving_of("gemma-2-9b", 1);
  s.cache.window = s.cache.window_layers = 0;
  const ServingPart part = {.queries = 1, .keys = 32768, .count = 1};
  const double bytes = 42.0 * (32768 * 8 * (256 + 256) * 2 + 16 * 256 * 2);
  assert_true(fabs(step_of(&s, &part, 1, 1).attention.bound_s * 3.35e12 / bytes - 1) < 1e-9);
}

/* Latents: 576 elements a token in decode; K and V of every head in a prompt, 192 and 128 elements. */
TEST(latents) {
  const Serving s = serving_of("deepseek-v3", 1);
  KvGroup group[KVCACHE_GROUPS_MAX];
  Shape shape;
  assert_int_equal(kvcache_groups(&s.cache, group), 1);
  const ServingPart decode = {.queries = 1, .keys = 1000, .count = 2},
                    prompt = {.queries = 1000, .keys = 1000, .count = 1};
  assert_true(serving_shape(&s, &group[0], &decode, &shape));
  assert_int_equal(shape.kv_heads, 1);
  assert_int_equal(shape.d, 576);
  assert_int_equal(shape.d_v, 512);
  assert_true(shape.v_in_k);
  assert_true(serving_shape(&s, &group[0], &prompt, &shape));
  assert_int_equal(shape.kv_heads, 128);
  assert_int_equal(shape.d, 192);
  assert_int_equal(shape.d_v, 128);
  assert_true(shape.causal);
}

/* Chunked attention: a prompt of 20,000 in chunks of 8,192 sees at most 8,192 keys at once. */
TEST(layers_that_attend_in_chunks) {
  Serving s = serving_of("llama-3-8b", 1);
  s.cache.window = 8192, s.cache.window_layers = 32, s.cache.chunked = true;
  const ServingPart part = {.queries = 20000, .keys = 20000, .count = 1};
  const ServingStep step = step_of(&s, &part, 1, 1);
  const ServingPart whole = {.queries = 8192, .keys = 8192, .count = 2},
                    rest = {.queries = 3616, .keys = 3616, .count = 1};
  s.cache.window = 0, s.cache.window_layers = 0, s.cache.chunked = false;
  const double flops = step_of(&s, &whole, 1, 1).attention_flops + step_of(&s, &rest, 1, 1).attention_flops;
  assert_true(step.attention_flops == flops);
  assert_true(step.kv_bytes == (Wide)131072 * 20000);
}

/* Experts that tokens need, against drawing them. */
TEST(experts_against_drawing) {
  serving_of("gpt-oss-20b", 1);
  Rand r = {5};
  static const int TOKENS[] = {1, 3, 8, 40};
  for (size_t k = 0; k < 4; k++) {
    double sum = 0;
    enum { DRAWS = 4000 };
    for (int draw = 0; draw < DRAWS; draw++) {
      bool used[32] = {false};
      for (int t = 0; t < TOKENS[k]; t++) {
        bool own[32] = {false};
        for (int chosen = 0; chosen < 4;) {
          const int64_t e = rand_in(&r, 0, 31);
          if (own[e]) continue;
          own[e] = used[e] = true;
          chosen++;
        }
      }
      for (int e = 0; e < 32; e++) sum += used[e];
    }
    const double drawn = sum / DRAWS, said = serving_experts(&model, TOKENS[k]);
    if (fabs(said / drawn - 1) > 0.01) fail_msg("%d tokens: %g, drawn %g", TOKENS[k], said, drawn);
  }
}
