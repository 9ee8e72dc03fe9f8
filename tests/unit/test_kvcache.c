/* The growth of a KV cache against a slow model that keeps every token of every layer in a list. */
#include "tests/support/test.h"
#include "sim/machine/kvcache.h"
#include "tests/support/rand.h"

static KvCache complete(KvCache cache) {
  must(kvcache_complete(&cache, fresh_error()));
  return cache;
}

enum { SLOW_TOKENS = 200 };

/* The definition: which tokens a windowed layer holds after `n` appends, which pages they
 * lie in. */
static void slow_state(const KvCache *c, int64_t n, KvState *want) {
  memset(want, 0, sizeof *want);
  want->tokens = n;
  const KvGroup one = {.kv_heads = c->kv_heads, .d = c->d, .d_v = c->d_v, .latent = c->latent};
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
        want->scale_bytes += wide(scales * c->scale_bytes);
      }
    }
    for (int64_t page = 0; page <= SLOW_TOKENS; page++) n_pages += page_used[page];
    if (windowed)
      want->window_pages = n_pages;
    else
      want->pages = n_pages;
    if (windowed || c->window_layers == 0) want->window_tokens = held;
    want->page_bytes += (Wide)(n_pages * c->page_tokens) * (Wide)kvcache_group_bytes(c, &one);
  }
  for (int64_t token = 0; token < n; token++) want->last_page_tokens = token % c->page_tokens + 1;
}

static void check_state(const KvState *got, const KvState *want) {
  assert_int_equal(got->tokens, want->tokens);
  assert_int_equal(got->window_tokens, want->window_tokens);
  assert_int_equal(got->pages, want->pages);
  assert_int_equal(got->window_pages, want->window_pages);
  assert_int_equal(got->last_page_tokens, want->last_page_tokens);
  assert_true(got->bytes == want->bytes && got->scale_bytes == want->scale_bytes);
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
      }
      if (n == n_tokens) break;
      const KvState before = s;
      const KvAppend did = kvcache_append(&c, &s);
      assert_int_equal(did.token, n);
      assert_int_equal(did.page * c.page_tokens + did.slot, n);
      assert_int_equal(did.new_page, s.last_page_tokens == 1);
      assert_int_equal(did.window_token_dropped, s.window_tokens == before.window_tokens);
      assert_int_equal(s.window_pages - before.window_pages,
                       (did.new_page && c.window_layers > 0) - did.window_page_freed);
    }
  }
}
