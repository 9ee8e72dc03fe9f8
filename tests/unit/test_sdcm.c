/* The closed form against sums of exact binomials, against limits, and against caches with a random
 * index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "sim/cache/cache.h"
#include "sim/cache/reuse.h"
#include "sim/cache/sdcm.h"

/* P(hit) as the chance process says it: after each of D blocks, how many lie in the own set. State
 * k = A is lost. */
static double slow_probability(uint64_t d, uint64_t ways, uint64_t blocks) {
  double chance[64] = {1};
  const double own = (double)ways / (double)blocks;
  for (uint64_t i = 0; i < d; i++)
    for (uint64_t k = ways; k-- > 0;) {
      chance[k] *= 1 - own;
      if (k) chance[k] += chance[k - 1] * own;
    }
  double sum = 0;
  for (uint64_t k = 0; k < ways; k++) sum += chance[k];
  return sum;
}

static void it_is_the_chance_process(void **unused) {
  (void)unused;
  const uint64_t cases[][2] = {{1, 2}, {1, 100}, {2, 8}, {4, 64}, {16, 16384}, {20, 491520}, {16, 1024}, {63, 126}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (uint64_t d = 0; d < 60000; d += d / 2 + 1) {
      const double fast = sdcm_hit_probability(d, cases[i][0], cases[i][1]);
      const double slow = slow_probability(d, cases[i][0], cases[i][1]);
      assert_true(fabs(fast - slow) <= 1e-10 * slow + 1e-15);
    }
}

static void by_hand(void **unused) {
  (void)unused;
  /* Two ways of two sets: after 2 others, not both in my set: 3/4; after 3, at most one: 1/8 + 3/8.
   */
  assert_true(fabs(sdcm_hit_probability(2, 2, 4) - 0.75) < 1e-15);
  assert_true(fabs(sdcm_hit_probability(3, 2, 4) - 0.5) < 1e-15);
  assert_true(sdcm_hit_probability(1, 2, 4) == 1);
}

static void one_set_is_mattsons_step(void **unused) {
  (void)unused;
  for (uint64_t ways = 1; ways < 20000; ways *= 7) {
    assert_true(sdcm_hit_probability(ways - 1, ways, ways) == 1);
    assert_true(sdcm_hit_probability(ways, ways, ways) == 0);
  }
}

static void it_falls_with_distance_and_stays_a_probability(void **unused) {
  (void)unused;
  const uint64_t ways[] = {1, 16, 20, 1000};
  for (size_t i = 0; i < 4; i++) {
    double last = 1;
    for (uint64_t d = 0; d < (uint64_t)1 << 60; d += d / 3 + 1) {
      const double p = sdcm_hit_probability(d, ways[i], ways[i] * 24576);
      assert_true(p >= 0 && p <= last + 1e-12);
      last = p;
    }
    assert_true(last == 0);
  }
}

/* One head of FlashAttention-2, N = 4096, d = 128, fp16, blocks of 128: between 1.5 and 4 MiB the
 * formula lies within 3 points of a cache that spreads its lines by a random hash. */
static void use_head(ReuseState *reuse, CacheState *cache) {
  for (uint64_t i = 0; i < 32; i++)
    for (uint64_t j = 0; j < 66; j++) {
      const uint64_t tensor = j == 0 ? 0 : j == 65 ? 3 : 1 + (j - 1) % 2;
      const uint64_t line = tensor * 8192 + (j == 0 || j == 65 ? i : (j - 1) / 2) * 256;
      if (reuse) reuse_use_range(reuse, line, 256);
      if (cache) cache_access_range(cache, line * 128, 32768, j == 65 ? CACHE_WRITE : CACHE_READ);
    }
}

static void it_predicts_caches_with_a_random_index(void **unused) {
  (void)unused;
  ReuseState *reuse = malloc(reuse_state_bytes(32768));
  reuse_init(reuse, 32768, NULL);
  use_head(reuse, NULL);
  assert_int_equal(reuse->uses, 540672);
  for (uint64_t kib = 1536; kib <= 4096; kib += 256) {
    const CacheConfig config = {.size_bytes = kib << 10, .index = CACHE_INDEX_RANDOM, .seed = kib};
    CacheState *cache = malloc(cache_state_bytes(&config));
    cache_init(cache, &config, NULL);
    use_head(NULL, cache);
    const double predicted = sdcm_misses(reuse_histogram(reuse), 32768, reuse->first_uses, 16, kib * 8);
    const double ratio = predicted / 540672, counted = (double)cache->counts.line_misses / 540672;
    assert_true(fabs(ratio - counted) < 0.03);
    assert_true(ratio > 0.06 && ratio < 1); /* the comparison is about something: from 6 to 97 % misses */
    free(cache);
  }
  free(reuse);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_the_chance_process),
      cmocka_unit_test(by_hand),
      cmocka_unit_test(one_set_is_mattsons_step),
      cmocka_unit_test(it_falls_with_distance_and_stays_a_probability),
      cmocka_unit_test(it_predicts_caches_with_a_random_index),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
