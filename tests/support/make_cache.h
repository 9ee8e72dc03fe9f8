/* For tests of the cache: an empty one, which the caller frees, and what two hold. Include cmocka.h
 * first. */
#ifndef TILEWALK_TESTS_SUPPORT_MAKE_CACHE_H
#define TILEWALK_TESTS_SUPPORT_MAKE_CACHE_H

#include <stdlib.h>

#include "sim/cache/cache.h"

static inline CacheState *make_cache(const CacheConfig *config) {
  CacheState *cache;
  assert_int_equal(cache_new(&cache, config, NULL), STATUS_OK);
  return cache;
}

/* The same lines in the same order, however they lie in memory. */
static inline void assert_same_lines_in(const CacheState *a, const CacheState *b) {
  assert_int_equal(a->sets, b->sets);
  for (uint64_t set = 0; set < a->sets; set++)
    for (uint64_t position = 0; position < a->config.ways; position++) {
      const CacheLine in_a = cache_peek(a, set, position), in_b = cache_peek(b, set, position);
      assert_int_equal(in_a.present, in_b.present);
      assert_int_equal(in_a.address, in_b.address);
      assert_int_equal(in_a.valid_sectors, in_b.valid_sectors);
      assert_int_equal(in_a.dirty_sectors, in_b.dirty_sectors);
    }
}

#endif
