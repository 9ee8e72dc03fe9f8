/* For tests of the cache: an empty one, which the caller frees. Include cmocka.h first. */
#ifndef TILEWALK_TESTS_MAKE_CACHE_H
#define TILEWALK_TESTS_MAKE_CACHE_H

#include <stdlib.h>

#include "sim/cache.h"

static inline CacheState *make_cache(const CacheConfig *config) {
  const size_t bytes = cache_state_bytes(config);
  assert_true(bytes > 0);
  CacheState *cache = malloc(bytes);
  assert_non_null(cache);
  assert_int_equal(cache_init(cache, config, NULL), STATUS_OK);
  return cache;
}

#endif
