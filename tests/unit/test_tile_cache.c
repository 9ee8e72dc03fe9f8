/* The tile-collapsed cache must count exactly what the full cache counts, wherever it agrees to
 * work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sim/cache/tile_cache.h"
#include "tests/support/rand.h"

static void assert_same_counts(CacheCounts a, CacheCounts b) {
  assert_int_equal(a.accesses, b.accesses);
  assert_int_equal(a.lines_touched, b.lines_touched);
  assert_int_equal(a.line_misses, b.line_misses);
  assert_int_equal(a.read_sectors, b.read_sectors);
  assert_int_equal(a.read_sector_misses, b.read_sector_misses);
  assert_int_equal(a.write_sectors, b.write_sectors);
  assert_int_equal(a.write_sector_absent, b.write_sector_absent);
  assert_int_equal(a.evictions, b.evictions);
  assert_int_equal(a.dirty_evictions, b.dirty_evictions);
  assert_int_equal(a.written_back_sectors, b.written_back_sectors);
}

typedef struct {
  CacheConfig config;
  uint64_t granule_bytes;
} Case;

/* Any aligned configuration: granules of 1 to 64 lines, 1 to 48 groups of them, 1 to 24 ways. */
static Case random_case(Rand *r) {
  Case c = {.config = {.line_bytes = 32u << rand_in(r, 0, 3), .ways = (uint64_t)rand_in(r, 1, 24)}};
  c.config.policy = rand_in(r, 0, 2) ? CACHE_LRU : CACHE_FIFO;
  uint64_t lines = (uint64_t)rand_in(r, 1, 64), groups = (uint64_t)rand_in(r, 1, 48);
  if (rand_in(r, 0, 1)) {
    c.config.index = CACHE_INDEX_XOR;
    while (lines & (lines - 1)) lines &= lines - 1;
    while (groups & (groups - 1)) groups &= groups - 1;
    uint32_t log2_sets = 0;
    while ((uint64_t)1 << log2_sets < lines * groups) log2_sets++;
    if (rand_in(r, 0, 1)) c.config.xor_shift_bits = log2_sets + (uint32_t)rand_in(r, 1, 6);
  }
  c.granule_bytes = lines * c.config.line_bytes;
  c.config.size_bytes = groups * c.config.ways * c.granule_bytes;
  return c;
}

static void random_tiles_count_as_in_the_full_cache(void **unused) {
  (void)unused;
  Rand r = {4711};
  for (int round = 0; round < 500; round++) {
    const Case c = random_case(&r);
    Error error = {0};
    TileCache *tiles = malloc(tile_cache_state_bytes(&c.config, c.granule_bytes));
    CacheState *cache = malloc(cache_state_bytes(&c.config));
    assert_int_equal(tile_cache_init(tiles, &c.config, c.granule_bytes, &error), STATUS_OK);
    assert_int_equal(cache_init(cache, &c.config, &error), STATUS_OK);
    const int64_t room = 3 * (int64_t)(c.config.size_bytes / c.granule_bytes);
    for (int i = 0; i < 400; i++) {
      const uint64_t address = (uint64_t)rand_in(&r, 0, rand_in(&r, 0, 3) ? room : 20 * room) * c.granule_bytes;
      const uint64_t bytes = (uint64_t)rand_in(&r, 1, rand_in(&r, 0, 3) ? 2 : 40) * c.granule_bytes;
      const CacheKind kind = rand_in(&r, 0, 3) ? CACHE_READ : CACHE_WRITE;
      assert_int_equal(tile_cache_access(tiles, address, bytes, kind), STATUS_OK);
      assert_int_equal(cache_access_range(cache, address, bytes, kind), STATUS_OK);
    }
    assert_same_counts(tile_cache_counts(tiles), cache->counts);
    free(tiles);
    free(cache);
  }
}

/* One head of FlashAttention-2, N = 4096, d = 128, fp16, blocks of 128: the counts of every exact
 * simulator. */
static void one_head(uint64_t size_bytes, uint64_t line_misses, uint64_t dirty_evictions) {
  const uint64_t tile = 32768, mib = 1 << 20;
  const CacheConfig config = {.size_bytes = size_bytes};
  TileCache *tiles = malloc(tile_cache_state_bytes(&config, tile));
  assert_int_equal(tile_cache_init(tiles, &config, tile, NULL), STATUS_OK);
  for (uint64_t i = 0; i < 32; i++) {
    tile_cache_access(tiles, i * tile, tile, CACHE_READ);
    for (uint64_t j = 0; j < 32; j++) {
      tile_cache_access(tiles, mib + j * tile, tile, CACHE_READ);
      tile_cache_access(tiles, 2 * mib + j * tile, tile, CACHE_READ);
    }
    tile_cache_access(tiles, 3 * mib + i * tile, tile, CACHE_WRITE);
  }
  const CacheCounts counts = tile_cache_counts(tiles);
  assert_int_equal(counts.accesses, 540672);
  assert_int_equal(counts.line_misses, line_misses);
  assert_int_equal(counts.read_sector_misses + counts.write_sector_absent, 4 * line_misses);
  assert_int_equal(counts.dirty_evictions, dirty_evictions);
  free(tiles);
}

static void a_head_counts_as_elsewhere(void **unused) {
  (void)unused;
  one_head((uint64_t)32 << 20, 32768, 0);
  one_head((uint64_t)2 << 20, 286720, 7936);
}

static void the_granule_is_the_largest_that_fits_everything(void **unused) {
  (void)unused;
  const CacheConfig plain = {0}; /* 1024 sets of 128 bytes: 128 KiB pass over all of them */
  const uint64_t aligned[] = {0, 1 << 20, 32768, 49152};
  assert_int_equal(tile_cache_granule_bytes(&plain, aligned, 3), 32768);
  assert_int_equal(tile_cache_granule_bytes(&plain, aligned, 4), 16384);
  assert_int_equal(tile_cache_granule_bytes(&plain, aligned, 2), 131072);
  const uint64_t ragged[] = {32768, 3 * 128}, odd[] = {32768, 100};
  assert_int_equal(tile_cache_granule_bytes(&plain, ragged, 2), 128); /* one line: nothing gained, nothing wrong */
  assert_int_equal(tile_cache_granule_bytes(&plain, odd, 2), 0);
  const CacheConfig h200 = {.size_bytes = 60 << 20, .ways = 20}; /* 24,576 = 2^13 x 3 sets */
  const uint64_t three[] = {3 << 16};
  assert_int_equal(tile_cache_granule_bytes(&h200, three, 1), 3 << 16);
  const CacheConfig xor = {.index = CACHE_INDEX_XOR};
  const uint64_t six[] = {6 * 128};
  assert_int_equal(tile_cache_granule_bytes(&xor, six, 1), 2 * 128);
  const CacheConfig none = {.size_bytes = 100, .line_bytes = 128, .ways = 3}; /* less than a line */
  assert_int_equal(tile_cache_granule_bytes(&none, aligned, 3), 0);
}

static void where_it_would_not_be_exact_it_refuses(void **unused) {
  (void)unused;
  const struct {
    CacheConfig config;
    uint64_t granule_bytes;
    const char *says;
  } cases[] = {
      {{.index = CACHE_INDEX_RANDOM}, 32768, "unrelated sets"},
      {{.policy = CACHE_RANDOM}, 32768, "LRU or FIFO"},
      {{.policy = CACHE_TREE_PLRU}, 32768, "LRU or FIFO"},
      {{0}, 0, "divide the 1024 sets"},
      {{0}, 64, "whole lines of 128"},
      {{0}, 384, "divide the 1024 sets"},
      {{0}, 262144, "divide the 1024 sets"},
      {{.index = CACHE_INDEX_XOR, .xor_shift_bits = 9}, 32768, "XOR index"},
      {{.index = CACHE_INDEX_XOR, .size_bytes = 48 * 2048}, 2048, "XOR index"},
      {{.size_bytes = 5000}, 128, "whole number of sets"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Error error = {0};
    TileCache tiles;
    assert_int_equal(tile_cache_init(&tiles, &cases[i].config, cases[i].granule_bytes, &error), STATUS_BAD_REQUEST);
    assert_non_null(strstr(error.message, cases[i].says));
    assert_int_equal(tile_cache_state_bytes(&cases[i].config, cases[i].granule_bytes), 0);
  }
}

static void a_part_of_a_granule_is_refused_and_changes_nothing(void **unused) {
  (void)unused;
  const CacheConfig config = {.address_bits = 40};
  TileCache *tiles = malloc(tile_cache_state_bytes(&config, 32768));
  assert_int_equal(tile_cache_init(tiles, &config, 32768, NULL), STATUS_OK);
  assert_int_equal(tile_cache_access(tiles, 128, 32768, CACHE_READ), STATUS_BAD_REQUEST);
  assert_int_equal(tile_cache_access(tiles, 0, 128, CACHE_READ), STATUS_BAD_REQUEST);
  assert_int_equal(tile_cache_access(tiles, 0, 0, CACHE_READ), STATUS_BAD_REQUEST);
  assert_int_equal(tile_cache_access(tiles, (uint64_t)1 << 40, 32768, CACHE_READ), STATUS_BAD_REQUEST);
  assert_int_equal(tile_cache_access(tiles, ((uint64_t)1 << 40) - 32768, 65536, CACHE_READ), STATUS_BAD_REQUEST);
  assert_int_equal(tile_cache_counts(tiles).accesses, 0);
  assert_int_equal(tile_cache_access(tiles, ((uint64_t)1 << 40) - 32768, 32768, CACHE_READ), STATUS_OK);
  free(tiles);
}

static void a_copy_goes_on_as_the_original_does(void **unused) {
  (void)unused;
  const CacheConfig config = {0};
  const size_t bytes = tile_cache_state_bytes(&config, 16384);
  TileCache *tiles = malloc(bytes), *bookmark = malloc(bytes);
  assert_int_equal(tile_cache_init(tiles, &config, 16384, NULL), STATUS_OK);
  Rand r = {1};
  for (int i = 0; i < 1000; i++) {
    if (i == 500) memcpy(bookmark, tiles, bytes);
    const uint64_t granule = (uint64_t)rand_in(&r, 0, 300);
    const bool hit = tile_cache_touch(tiles, granule, i % 4 ? CACHE_READ : CACHE_WRITE);
    if (i >= 500) assert_int_equal(tile_cache_touch(bookmark, granule, i % 4 ? CACHE_READ : CACHE_WRITE), hit);
  }
  assert_memory_equal(tiles, bookmark, bytes);
  free(tiles);
  free(bookmark);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_tiles_count_as_in_the_full_cache),
      cmocka_unit_test(a_head_counts_as_elsewhere),
      cmocka_unit_test(the_granule_is_the_largest_that_fits_everything),
      cmocka_unit_test(where_it_would_not_be_exact_it_refuses),
      cmocka_unit_test(a_part_of_a_granule_is_refused_and_changes_nothing),
      cmocka_unit_test(a_copy_goes_on_as_the_original_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
