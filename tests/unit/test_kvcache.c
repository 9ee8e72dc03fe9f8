/* The KV cache against numbers worked by hand, and its growth against a slow model that keeps every
 * token of every layer in a list. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>

#include "tests/support/test.h"
#include "sim/machine/kvcache.h"
#include "sim/machine/kvmodel.h"
#include "tests/support/rand.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static KvCache complete(KvCache cache) {
  Error error = {0};
  if (kvcache_complete(&cache, &error) != STATUS_OK) fail_msg("%s", error.message);
  return cache;
}

static Wide bytes_at(const KvCache *cache, int64_t tokens) {
  KvSize size;
  assert_int_equal(kvcache_size(cache, tokens, &size, NULL), STATUS_OK);
  assert_true(size.bytes == size.element_bytes + size.scale_bytes);
  return size.bytes;
}

/* Data types and scales, on one layer with one KV head of d = 128: rows of K and V. */
TEST(data_types_and_scales) {
  static const struct {
    KvDtype dtype;
    int64_t group, scale_bytes;
    int64_t elements, all; /* bytes of a token */
  } CASES[] = {
      {KV_FP32, 0, 0, 1024, 1024}, {KV_FP16, 0, 0, 512, 512}, {KV_BF16, 0, 0, 512, 512},  {KV_FP8, 0, 0, 256, 256},
      {KV_INT8, 0, 0, 256, 256},   {KV_INT4, 0, 0, 128, 128}, {KV_INT4, 64, 0, 128, 136}, /* 2 groups a row, an fp16
                                                                                             scale each: 4 x 2 B */
      {KV_INT4, 64, 4, 128, 144},  /* scale and zero point: 4 x 4 B */
      {KV_INT8, 128, 2, 256, 260}, /* one scale a row */
      {KV_INT4, 100, 2, 128, 136}, /* the last group is short and costs a whole scale */
      {KV_INT4, 1, 1, 128, 384},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    const KvCache c = complete((KvCache){.layers = 1,
                                         .kv_heads = 1,
                                         .d = 128,
                                         .dtype = CASES[i].dtype,
                                         .group = CASES[i].group,
                                         .scale_bytes = CASES[i].scale_bytes});
    assert_int_equal(kvcache_element_bytes_per_layer(&c), CASES[i].elements);
    assert_int_equal(kvcache_bytes_per_layer(&c), CASES[i].all);
    KvSize size;
    assert_int_equal(kvcache_size(&c, 10, &size, NULL), STATUS_OK);
    assert_true(size.element_bytes == (Wide)(10 * CASES[i].elements));
    assert_true(size.scale_bytes == (Wide)(10 * (CASES[i].all - CASES[i].elements)));
  }
  /* five int4 elements take three bytes: a row is whole bytes */
  const KvCache odd = complete((KvCache){.layers = 1, .kv_heads = 1, .d = 5, .dtype = KV_INT4});
  assert_int_equal(kvcache_bytes_per_layer(&odd), 6);
}

TEST(names_of_data_types) {
  static const char *const NAMES[] = {"fp16", "bf16", "fp32", "fp8", "int8", "int4"};
  static const int BITS[] = {16, 16, 32, 8, 8, 4};
  assert_int_equal(COUNT_OF(NAMES), KV_DTYPE_COUNT);
  for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
    KvDtype dtype = KV_DTYPE_COUNT;
    assert_true(kvcache_dtype_from_name(NAMES[i], &dtype));
    assert_string_equal(kvcache_dtype_name(dtype), NAMES[i]);
    assert_int_equal(kvcache_dtype_bits(dtype), BITS[i]);
  }
  KvDtype dtype = KV_INT4;
  assert_false(kvcache_dtype_from_name("int2", &dtype));
  assert_false(kvcache_dtype_from_name("", &dtype));
  assert_int_equal(dtype, KV_INT4);
}

enum { SLOW_TOKENS = 200 };

/* The definition: which tokens a windowed layer holds after `n` appends, which pages they
 * lie in. */
static void slow_state(const KvCache *c, int64_t n, KvState *want) {
  memset(want, 0, sizeof *want);
  want->tokens = n;
  for (int64_t layer = 0; layer < c->layers; layer++) {
    const bool windowed = layer < c->window_layers;
    bool page_used[SLOW_TOKENS + 1] = {false};
    int64_t held = 0, n_pages = 0;
    for (int64_t token = 0; token < n; token++) {
      if (windowed && token < n - c->window) continue; /* slid out */
      held++;
      page_used[token / c->page_tokens] = true;
      for (int64_t row = 0; row < (c->latent ? 1 : 2 * c->kv_heads); row++) {
        const int64_t elements = c->latent ? c->latent : c->d_v && row >= c->kv_heads ? c->d_v : c->d;
        int64_t bits = 0, scales = 0;
        for (int64_t e = 0; e < elements; e++) {
          bits += kvcache_dtype_bits(c->dtype);
          if (c->group && e % c->group == 0) scales++;
        }
        want->bytes += wide((bits + 7) / 8 + scales * c->scale_bytes);
      }
    }
    for (int64_t page = 0; page <= SLOW_TOKENS; page++) n_pages += page_used[page];
    if (windowed)
      want->window_pages = n_pages;
    else
      want->pages = n_pages;
    if (windowed || c->window_layers == 0) want->window_tokens = held;
    want->page_bytes += (Wide)(n_pages * c->page_tokens) * (Wide)kvcache_bytes_per_layer(c);
  }
  for (int64_t token = 0; token < n; token++) want->last_page_tokens = token % c->page_tokens + 1;
}

static void check_state(const KvState *got, const KvState *want) {
  assert_int_equal(got->tokens, want->tokens);
  assert_int_equal(got->window_tokens, want->window_tokens);
  assert_int_equal(got->pages, want->pages);
  assert_int_equal(got->window_pages, want->window_pages);
  assert_int_equal(got->last_page_tokens, want->last_page_tokens);
  assert_true(got->bytes == want->bytes);
  assert_true(got->page_bytes == want->page_bytes);
}

/* Appending step by step, seeking at once, and the slow definition give the same state; the event
 * of each step accounts for the difference between the states before and after. */
TEST(growth_three_ways) {
  Rand random = {7};
  for (int round = 0; round < 300; round++) {
    KvCache c = {.layers = rand_in(&random, 1, 5), .page_tokens = rand_in(&random, 1, 20)};
    c.dtype = (KvDtype)rand_in(&random, 0, KV_DTYPE_COUNT - 1);
    if (rand_in(&random, 0, 3) == 0)
      c.latent = rand_in(&random, 1, 20);
    else
      c.kv_heads = rand_in(&random, 1, 3), c.d = rand_in(&random, 1, 20);
    if (rand_in(&random, 0, 1)) c.group = rand_in(&random, 1, c.latent ? c.latent : c.d);
    if (!c.latent && rand_in(&random, 0, 1)) c.d_v = rand_in(&random, 1, 20);
    if (rand_in(&random, 0, 1)) c.window = rand_in(&random, 1, 50), c.window_layers = rand_in(&random, 0, c.layers);
    c = complete(c);
    KvState s = {0};
    const int64_t n_tokens = rand_in(&random, 1, SLOW_TOKENS);
    for (int64_t n = 0;; n++) {
      const KvState at_once = kvcache_seek(&c, n);
      check_state(&s, &at_once);
      if (n % 7 == 0 || n == n_tokens) {
        KvState slow;
        slow_state(&c, n, &slow);
        check_state(&s, &slow);
        assert_true(bytes_at(&c, n) == slow.bytes);
      }
      if (n == n_tokens) break;
      const KvState before = s;
      const KvAppend did = kvcache_append(&c, &s);
      assert_int_equal(did.token, n);
      assert_int_equal(did.page * c.page_tokens + did.slot, n);
      assert_true(did.written_bytes == kvcache_bytes_per_token(&c));
      assert_int_equal(did.new_page, s.last_page_tokens == 1);
      assert_int_equal(did.window_token_dropped, s.window_tokens == before.window_tokens);
      assert_int_equal(s.window_pages - before.window_pages,
                       (did.new_page && c.window_layers > 0) - did.window_page_freed);
    }
  }
}

/* The largest cache that is accepted still fits 128 bits. */
TEST(the_largest_cache_does_not_overflow) {
  const KvCache c = complete((KvCache){.layers = KVCACHE_MAX_LAYERS,
                                       .kv_heads = KVCACHE_MAX_HEADS,
                                       .d = KVCACHE_MAX_D,
                                       .dtype = KV_FP32,
                                       .page_tokens = KVCACHE_MAX_PAGE});
  /* 2^20 layers x 2 x 2^20 heads x 2^22 B x 2^40 tokens = 2^103 */
  assert_true(bytes_at(&c, KVCACHE_MAX_TOKENS) == (Wide)1 << 103);
  assert_true(kvcache_seek(&c, KVCACHE_MAX_TOKENS).page_bytes == (Wide)1 << 103);
}

TEST(bad_caches_are_refused) {
  static const struct {
    KvCache cache;
    const char *says;
  } CASES[] = {
      {{.kv_heads = 1, .d = 1}, "layers is 0; it must be from 1 to 1048576"},
      {{.layers = -1, .kv_heads = 1, .d = 1}, "layers is -1"},
      {{.layers = KVCACHE_MAX_LAYERS + 1, .kv_heads = 1, .d = 1}, "layers is 1048577"},
      {{.layers = 1, .d = 1}, "KV heads is 0"},
      {{.layers = 1, .kv_heads = 1}, "d is 0"},
      {{.layers = 1, .kv_heads = 1, .d = -5}, "d is -5"},
      {{.layers = 1, .kv_heads = 1, .d = 64, .latent = 576}, "a latent of 576 elements replaces K and V"},
      {{.layers = 1, .latent = -1}, "latent is -1"},
      {{.layers = 1, .kv_heads = 1, .d = 1, .window = -1}, "window is -1"},
      {{.layers = 4, .kv_heads = 1, .d = 1, .window = 8, .window_layers = 5},
       "window layers is 5; it must be from 0 to 4"},
      {{.layers = 4, .kv_heads = 1, .d = 1, .window_layers = 2},
       "2 layers are to have a window, but no window is given"},
      {{.layers = 1, .kv_heads = 1, .d = 64, .group = 65}, "groups of 65 elements do not fit a row of 64"},
      {{.layers = 1, .kv_heads = 1, .d = 64, .group = -1}, "groups of -1 elements"},
      {{.layers = 1, .kv_heads = 1, .d = 64, .scale_bytes = 2}, "no group size is given"},
      {{.layers = 1, .kv_heads = 1, .d = 64, .group = 32, .scale_bytes = 65}, "scale bytes is 65"},
      {{.layers = 1, .kv_heads = 1, .d = 64, .page_tokens = -1}, "page tokens is -1"},
      {{.layers = 1, .kv_heads = 1, .d = 64, .page_tokens = KVCACHE_MAX_PAGE + 1}, "page tokens is"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    KvCache cache = CASES[i].cache;
    Error error = {0};
    assert_int_equal(kvcache_complete(&cache, &error), STATUS_BAD_REQUEST);
    if (!strstr(error.message, CASES[i].says)) fail_msg("case %zu says: %s", i, error.message);
    assert_memory_equal(&cache, &CASES[i].cache, sizeof cache); /* unchanged */
  }
  const KvCache c = complete((KvCache){.layers = 1, .kv_heads = 1, .d = 1});
  KvSize size;
  assert_int_equal(kvcache_size(&c, -1, &size, NULL), STATUS_BAD_REQUEST);
  assert_int_equal(kvcache_size(&c, KVCACHE_MAX_TOKENS + 1, &size, NULL), STATUS_BAD_REQUEST);
}

/* --- Models --- */

#define MODEL                                                                                                          \
  "name = m\nlayers = 4 # assumed\nheads = 8 # assumed\nkv_heads = 2 # assumed\n"                                      \
  "head_dim = 64 # assumed\nmax_tokens = 4K # assumed\n"

TEST(bad_models_are_refused) {
  static const struct {
    const char *text, *says;
  } CASES[] = {
      {MODEL, "m.model: no 'dtype'"},
      {MODEL "dtype = fp12\n", "m.model:7: 'fp12' is no data type of a cache"},
      {MODEL "dtype = fp16\nmla_latent = 512 # assumed\nmla_rope = 524289 # assumed\n", "m.model:9: mla_rope"},
      {MODEL "dtype = fp16\nmla_rope = 64 # assumed\n", "m.model:8: mla_rope is given but mla_latent is not"},
      {MODEL "dtype = fp16\nwindow_layers = 2 # assumed\n", "m.model:8: window_layers is given but window is not"},
      {MODEL "dtype = fp16\nwindow = 9 # assumed\nwindow_layers = 5 # assumed\n",
       "m.model:9: window_layers (5) are more than layers (4)"},
      {MODEL "dtype = fp16\nkv_head = 2 # assumed\n", "did you mean 'kv_heads'?"},
      {"name = m\nlayers = 4 # assumed\nheads = 8 # assumed\nkv_heads = 3 # assumed\nhead_dim = 64 "
       "# assumed\n"
       "max_tokens = 4K # assumed\ndtype = fp16\n",
       "m.model:4: kv_heads (3) does not divide heads (8)"},
      {"name = a model\nlayers = 4 # assumed\nheads = 8 # assumed\nkv_heads = 2 # "
       "assumed\nhead_dim = 64 # assumed\n"
       "max_tokens = 4K # assumed\ndtype = fp16\n",
       "m.model:1: name is taken on the command line"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    KvModel model;
    Error error = {0};
    assert_int_equal(kvmodel_parse(CASES[i].text, strlen(CASES[i].text), "m.model", &model, &error), STATUS_BAD_FILE);
    if (!strstr(error.message, CASES[i].says)) fail_msg("case %zu says: %s", i, error.message);
  }
  KvModel model;
  const char *good = MODEL "dtype = int8\n";
  assert_int_equal(kvmodel_parse(good, strlen(good), "m.model", &model, NULL), STATUS_OK);
  assert_string_equal(model.product, "m");
  const KvCache cache = kvmodel_cache(&model);
  assert_true(kvcache_bytes_per_token(&cache) == 2 * 4 * 2 * 64);
}
