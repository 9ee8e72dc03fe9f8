/* Words as narrow as the addresses allow. What a cache counts meanwhile, test_cache_random.c
 * compares. */
#include "tests/support/test.h"
#include "tests/support/make_cache.h"

/* Wherever the first address lies, its neighbours fit narrow words, up to 2^24 - 1 tags of 128 KiB;
 * what is refused does not count as the first. */
TEST(words_stay_narrow_while_addresses_are_near_one_another) {
  const uint64_t end = (uint64_t)1 << 48, tag_bytes = (uint64_t)128 << 10, half = (uint64_t)1 << 40;
  const struct {
    uint64_t first, near, far;
  } cases[] = {{0, 2 * half - tag_bytes - 1, 2 * half - tag_bytes},
               {end - 1, end - 2 * half + tag_bytes, end - 2 * half + tag_bytes - 1},
               {end / 2, end / 2 + half - 1, end / 2 + half},
               {end / 2, end / 2 - half + tag_bytes, end / 2 - half + tag_bytes - 1}};
  CacheEvent event;
  EACH (i, cases) {
    CacheState *cache = make_cache(&(CacheConfig){0});
    assert_int_equal(cache_access(cache, end, 1, CACHE_READ), STATUS_BAD_REQUEST);
    assert_int_equal(cache_access_line(cache, 127, 2, CACHE_READ, &event), STATUS_BAD_REQUEST);
    for (int again = 0; again < 2; again++) {
      const uint64_t addresses[] = {cases[i].first, cases[i].near, cases[i].far};
      for (int k = 0; k < 3; k++) {
        must(cache_access(cache, addresses[k], 1, CACHE_READ));
        assert_int_equal(cache->word_bits, k < 2 ? 32 : 64);
      }
      for (int k = 0; k < 3; k++) cache_access(cache, addresses[k], 1, CACHE_READ);
      assert_int_equal(cache->counts.line_misses, 3);
      assert_int_equal(cache->counts.lines_touched, 6);
      cache_reset(cache);
    }
    free(cache);
  }
}
