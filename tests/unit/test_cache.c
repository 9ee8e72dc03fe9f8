/* The cache by hand and against the laws of counting; test_cache_random.c has a slow, obvious one. */
#include "tests/support/test.h"
#include "tests/support/make_cache.h"
#include "tests/support/rand.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* --- one head of FlashAttention-2, N = 4096, d = 128, fp16, B = 128 --- */

enum { TILES = 32 };
static const uint64_t TILE_BYTES = 32768, Q = 0, K = 1 << 20, V = 2 << 20, O = 3 << 20;
/* Sets and tags of V's lines part as before, but tags no longer fit narrow words. */
static const uint64_t FAR_V = ((uint64_t)1 << 47) + (2 << 20);

typedef void Feed(CacheState *cache, uint64_t address, CacheKind kind);

static void feed_range(CacheState *cache, uint64_t address, CacheKind kind) {
  must(cache_access_range(cache, address, TILE_BYTES, kind));
}

static void feed_records(CacheState *cache, uint64_t address, CacheKind kind) {
  for (uint64_t byte = 0; byte < TILE_BYTES; byte += 128) cache_access(cache, address + byte, 128, kind);
}

static void one_head(CacheState *cache, Feed *feed, uint64_t v) {
  for (uint64_t i = 0; i < TILES; i++) {
    feed(cache, Q + i * TILE_BYTES, CACHE_READ);
    for (uint64_t j = 0; j < TILES; j++) {
      feed(cache, K + j * TILE_BYTES, CACHE_READ);
      feed(cache, v + j * TILE_BYTES, CACHE_READ);
    }
    feed(cache, O + i * TILE_BYTES, CACHE_WRITE);
  }
}

/* The same run in every layout, word and vector width ends in the same lines in the same order. */
TEST(layouts_and_widths_change_speed_alone) {
  for (int kind = 0; kind < 4; kind++) {
    const bool far = kind & 1;
    CacheConfig plain = {.size_bytes = 256 * KIB,
                         .index = kind & 2 ? CACHE_INDEX_XOR : CACHE_INDEX_MODULO,
                         .layout = CACHE_LAYOUT_BY_SET};
    CacheState *reference = make_cache(&plain);
    const uint64_t v = far ? FAR_V : V;
    one_head(reference, feed_records, v);
    for (uint32_t bits = far ? 48 : 32; bits <= 64; bits += 16)
      for (uint32_t vector_bytes = 16; vector_bytes <= 64; vector_bytes *= 2) {
        CacheConfig fast = plain;
        fast.layout = CACHE_LAYOUT_BY_POSITION, fast.address_bits = bits, fast.vector_bytes = vector_bytes;
        CacheState *cache = make_cache(&fast);
        one_head(cache, feed_range, v);
        assert_memory_equal(&cache->counts, &reference->counts, sizeof(CacheCounts));
        assert_same_lines_in(cache, reference);
        free(cache);
      }
    free(reference);
  }
}

/* --- sectors and stores, by hand --- */

TEST(an_event_names_the_line_that_left) {
  for (int index = CACHE_INDEX_MODULO; index <= CACHE_INDEX_RANDOM; index++)
    for (uint64_t sets = 1; sets <= 24; sets++) {
      CacheState *cache = make_cache(&(CacheConfig){.size_bytes = sets * 128, .ways = 1, .index = (CacheIndex)index});
      Rand r = {sets};
      uint64_t last_line[24], n_dirty = 0;
      bool filled[24] = {false};
      for (int i = 0; i < 200; i++) {
        const uint64_t line = (uint64_t)rand_in(&r, 0, 1 << 20), set = cache_set_of(cache, line * 128);
        CacheEvent event;
        assert_true(set < sets);
        cache_access_line(cache, line * 128 + 32, 32, CACHE_WRITE, &event);
        assert_int_equal(event.evicted, filled[set] && last_line[set] != line);
        if (event.evicted) {
          assert_int_equal(event.victim_address, last_line[set] * 128);
          assert_int_equal(event.victim_dirty_sectors, 2);
          n_dirty++;
        }
        last_line[set] = line, filled[set] = true;
      }
      assert_int_equal(cache->counts.dirty_evictions, n_dirty);
      free(cache);
    }
}

TEST(a_flush_writes_back_and_leaves_clean_lines) {
  for (int layout = CACHE_LAYOUT_BY_POSITION; layout <= CACHE_LAYOUT_BY_SET; layout++) {
    CacheState *cache = make_cache(&(CacheConfig){.layout = (CacheLayout)layout});
    cache_access_range(cache, 0, 4096, CACHE_WRITE);
    cache_access(cache, 8192, 1, CACHE_WRITE);
    cache_flush(cache);
    assert_int_equal(cache->counts.written_back_sectors, 128 + 1);
    cache_flush(cache);
    assert_int_equal(cache->counts.written_back_sectors, 129);
    cache_access_range(cache, 0, 4096, CACHE_READ);
    assert_int_equal(cache->counts.read_sector_misses, 0);
    cache_access(cache, 8192, 1, CACHE_READ); /* the rest of that sector was never here */
    assert_int_equal(cache->counts.read_sector_misses, 1);
    free(cache);
  }
}

/* --- laws --- */

/* A random index spreads neighbours evenly, and another seed spreads them otherwise. */
TEST(a_random_index_spreads) {
  enum { SETS = 100, LINES_A_SET = 400 };
  CacheState *a =
      make_cache(&(CacheConfig){.size_bytes = SETS * 128, .ways = 1, .index = CACHE_INDEX_RANDOM, .seed = 1});
  CacheState *b =
      make_cache(&(CacheConfig){.size_bytes = SETS * 128, .ways = 1, .index = CACHE_INDEX_RANDOM, .seed = 2});
  uint64_t load[SETS] = {0}, agree = 0;
  for (uint64_t line = 0; line < SETS * LINES_A_SET; line++) {
    load[cache_set_of(a, line * 128)]++;
    agree += cache_set_of(a, line * 128) == cache_set_of(b, line * 128);
  }
  for (int set = 0; set < SETS; set++) /* 400 expected, standard deviation 20: 6 of them either way */
    assert_true(load[set] > 280 && load[set] < 520);
  assert_true(agree > 280 && agree < 520); /* 1 in 100 by chance */
  free(a);
  free(b);
}

/* --- requests that are refused --- */

TEST(a_config_that_contradicts_itself_is_explained) {
  const struct {
    CacheConfig config;
    Status status;
    const char *says;
  } cases[] = {
      {{.size_bytes = 2000}, STATUS_BAD_REQUEST, "nearest size below is 0"},
      {{.size_bytes = 5000}, STATUS_BAD_REQUEST, "nearest size below is 4096"},
      {{.line_bytes = 128, .sector_bytes = 48}, STATUS_BAD_REQUEST, "sectors of 48"},
      {{.line_bytes = 128, .sector_bytes = 2}, STATUS_BAD_REQUEST, "1 to 32"},
      {{.size_bytes = (uint64_t)1 << 62}, STATUS_TOO_LARGE, "more than"},
      {{.ways = 3, .size_bytes = 3 * 128, .policy = CACHE_TREE_PLRU}, STATUS_BAD_REQUEST, "power of two"},
      {{.address_bits = 65}, STATUS_BAD_REQUEST, "8 to 64"},
      {{.address_bits = 7}, STATUS_BAD_REQUEST, "8 to 64"},
      {{.index = (CacheIndex)7}, STATUS_BAD_REQUEST, "named values"},
      {{.vector_bytes = 8}, STATUS_BAD_REQUEST, "16, 32 or 64"},
      {{.size_bytes = 128 * MIB, .line_bytes = MIB}, STATUS_BAD_REQUEST, "no_byte_masks"},
  };
  EACH (i, cases) {
    CacheConfig resolved = {.ways = 42};
    assert_int_equal(cache_config_resolve(&cases[i].config, &resolved, fresh_error()), cases[i].status);
    assert_said(cases[i].says);
    assert_int_equal(resolved.ways, 42);
    assert_int_equal(cache_state_bytes(&cases[i].config), 0);
  }
}

TEST(an_address_out_of_range_changes_nothing) {
  CacheState *cache = make_cache(&(CacheConfig){.address_bits = 32});
  CacheEvent event;
  const uint64_t end = (uint64_t)1 << 32;
  assert_int_equal(cache_access(cache, 0, 0, CACHE_READ), STATUS_BAD_REQUEST);
  assert_int_equal(cache_access(cache, end - 1, 2, CACHE_READ), STATUS_BAD_REQUEST);
  assert_int_equal(cache_access_range(cache, ~(uint64_t)0, 2, CACHE_READ), STATUS_BAD_REQUEST);
  assert_int_equal(cache_access_line(cache, 127, 2, CACHE_READ, &event), STATUS_BAD_REQUEST);
  assert_int_equal(cache->counts.accesses, 0);
  must(cache_access(cache, end - 1, 1, CACHE_READ));
  assert_int_equal(cache_peek(cache, 1023, 0).address, end - 128);
  free(cache);
  cache =
      make_cache(&(CacheConfig){.address_bits = 64, .index = CACHE_INDEX_RANDOM, .line_bytes = 1, .size_bytes = 64});
  must(cache_access(cache, ~(uint64_t)0, 1, CACHE_READ));
  must(cache_access(cache, ~(uint64_t)0, 1, CACHE_READ));
  assert_int_equal(cache->counts.line_misses, 1);
  free(cache);
}

/* The last line of all has no successor: a run that ends there must end all the same. */
TEST(a_run_may_end_with_the_address_space) {
  for (uint64_t line_bytes = 1; line_bytes <= 128; line_bytes *= 128)
    for (int layout = CACHE_LAYOUT_BY_POSITION; layout <= CACHE_LAYOUT_BY_SET; layout++) {
      CacheState *cache = make_cache(&(CacheConfig){.address_bits = 64,
                                                    .line_bytes = line_bytes,
                                                    .size_bytes = 1024 * line_bytes,
                                                    .layout = (CacheLayout)layout});
      must(cache_access_range(cache, ~(uint64_t)0, 1, CACHE_READ));
      must(cache_access_range(cache, 0 - 300 * line_bytes, 300 * line_bytes, CACHE_READ));
      assert_int_equal(cache->counts.lines_touched, 301);
      assert_int_equal(cache->counts.line_misses, 300);
      free(cache);
    }
}
