/* Reuse distances against a list that is searched and shuffled for every use, and against fully
 * associative caches of many capacities. */
#include "tests/support/test.h"
#include "sim/cache/cache.h"
#include "sim/cache/reuse.h"
#include "tests/support/make_cache.h"
#include "tests/support/rand.h"

static ReuseState *make(uint64_t max_blocks) {
  ReuseState *reuse = malloc(reuse_state_bytes(max_blocks));
  assert_non_null(reuse);
  assert_int_equal(reuse_init(reuse, max_blocks, NULL), STATUS_OK);
  return reuse;
}

/* --- the slow way: all blocks in order of last use, the latest first --- */

enum { SLOW_MAX = 4096 };

typedef struct {
  uint64_t n, blocks[SLOW_MAX], histogram[SLOW_MAX];
} Slow;

static void slow_use(Slow *slow, uint64_t block) {
  uint64_t d = 0;
  while (d < slow->n && slow->blocks[d] != block) d++;
  if (d < slow->n)
    slow->histogram[d]++;
  else
    slow->n++;
  memmove(slow->blocks + 1, slow->blocks, (size_t)d * sizeof slow->blocks[0]);
  slow->blocks[0] = block;
}

static void assert_same(const ReuseState *reuse, const Slow *slow) {
  assert_int_equal(reuse->first_uses, slow->n);
  assert_memory_equal(reuse_histogram(reuse), slow->histogram, (size_t)reuse->max_blocks * sizeof(uint64_t));
}

/* Single uses, runs seen before, parts of them, runs across each other; room for few and for many.
 */
TEST(random_runs_are_as_far_apart_as_in_the_list) {
  Rand r = {99};
  Slow *slow = malloc(sizeof *slow);
  for (int round = 0; round < 60; round++) {
    memset(slow, 0, sizeof *slow);
    const uint64_t max_blocks = (uint64_t)rand_in(&r, 1, round % 2 ? 300 : SLOW_MAX);
    const uint64_t base = round % 3 ? (uint64_t)rand_in(&r, 0, 1 << 20) : ~(uint64_t)0 - 1 - max_blocks;
    ReuseState *reuse = make(max_blocks);
    for (int i = 0; i < 400; i++) {
      uint64_t n = (uint64_t)rand_in(&r, 1, rand_in(&r, 0, 1) ? 3 : 200);
      uint64_t first = (uint64_t)rand_in(&r, 0, (int64_t)max_blocks - 1);
      if (rand_in(&r, 0, 2)) n = 64, first = first / 64 * 64; /* often the same run again */
      if (n > max_blocks - first) n = max_blocks - first;
      assert_int_equal(reuse_use_range(reuse, base + first, n), STATUS_OK);
      for (uint64_t j = 0; j < n; j++) slow_use(slow, base + first + j);
    }
    assert_same(reuse, slow);
    free(reuse);
  }
  free(slow);
}

/* Blocks a power of two apart, as many as there is room for: neighbours in the table are strangers. */
TEST(strided_blocks_fill_the_table) {
  Slow *slow = malloc(sizeof *slow);
  for (unsigned shift = 0; shift < 54; shift += 3) {
    memset(slow, 0, sizeof *slow);
    ReuseState *reuse = make(700);
    for (uint64_t pass = 0; pass < 5; pass++)
      for (uint64_t i = 0; i < 700; i += pass % 2 + 1) {
        assert_int_equal(reuse_use_range(reuse, i << shift, 1), STATUS_OK);
        slow_use(slow, i << shift);
      }
    assert_same(reuse, slow);
    free(reuse);
  }
  free(slow);
}

/* The definition: capacity C misses what a fully associative LRU cache of C lines misses. */
TEST(the_curve_is_what_fully_associative_caches_miss) {
  enum { LINES = 600 };
  ReuseState *reuse = make(LINES);
  for (uint64_t capacity = 1; capacity <= LINES; capacity += capacity / 5 + 1) {
    CacheConfig config = {.size_bytes = capacity * 128, .ways = capacity};
    CacheState *cache = make_cache(&config);
    reuse_init(reuse, LINES, NULL);
    Rand r = {3};
    for (int i = 0; i < 500; i++) {
      const uint64_t line = (uint64_t)(rand_in(&r, 0, 22) * rand_in(&r, 0, 22)), n = (uint64_t)rand_in(&r, 1, 100);
      cache_access_range(cache, line * 128, n * 128, CACHE_READ);
      assert_int_equal(reuse_use_range(reuse, line, n), STATUS_OK);
    }
    assert_int_equal(reuse_misses(reuse, capacity), cache->counts.line_misses);
    free(cache);
  }
  free(reuse);
}

TEST(one_block_too_many_is_refused) {
  ReuseState *reuse = make(3);
  assert_int_equal(reuse_use_range(reuse, 10, 3), STATUS_OK);
  assert_int_equal(reuse_use_range(reuse, 13, 1), STATUS_TOO_LARGE);
  assert_int_equal(reuse_use_range(reuse, ~(uint64_t)0, 1), STATUS_BAD_REQUEST);
  assert_int_equal(reuse->uses, 3);
  for (int i = 0; i < 1000; i++) assert_int_equal(reuse_use_range(reuse, 10, 1), STATUS_OK);
  assert_int_equal(reuse_histogram(reuse)[0], 999);
  assert_int_equal(reuse_histogram(reuse)[2], 1);
  free(reuse);
  Error error = {0};
  ReuseState none;
  assert_int_equal(reuse_init(&none, 0, &error), STATUS_BAD_REQUEST);
  assert_non_null(strstr(error.message, "at least 1"));
  error = (Error){0};
  assert_int_equal(reuse_init(&none, (uint64_t)1 << 40, &error), STATUS_TOO_LARGE);
  assert_non_null(strstr(error.message, "larger blocks"));
  assert_int_equal(reuse_state_bytes(0), 0);
}
