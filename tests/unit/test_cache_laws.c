/* What must hold of the sectored cache whatever the sizes, the index, the policy and the trace. */
#include "tests/support/test.h"
#include "sim/cache/cache.h"
#include "tests/support/make_cache.h"
#include "tests/support/rand.h"

static CacheConfig random_config(Rand *r) {
  CacheConfig c = {.index = (CacheIndex)rand_in(r, 0, 2), .policy = (CachePolicy)rand_in(r, 0, 3)};
  c.line_bytes = (uint64_t)16 << rand_in(r, 0, 4);
  c.ways = c.policy == CACHE_TREE_PLRU ? (uint64_t)1 << rand_in(r, 0, 5)
                                       : (uint64_t)rand_in(r, 1, rand_in(r, 0, 4) ? 20 : 100);
  c.size_bytes = (uint64_t)rand_in(r, 1, 40) * c.ways * c.line_bytes;
  c.seed = rand_next(r);
  c.layout = (CacheLayout)rand_in(r, 0, 2);
  return c;
}

/* Within one line, so that cache_access_line takes it. */
static void random_access(Rand *r, const CacheConfig *c, uint64_t *address, uint64_t *bytes, CacheKind *kind) {
  *address = (uint64_t)rand_in(r, 0, (int64_t)(3 * c->size_bytes));
  const uint64_t room = c->line_bytes - *address % c->line_bytes;
  *bytes = (uint64_t)rand_in(r, 1, (int64_t)room);
  if (rand_in(r, 0, 1)) *address -= *address % c->line_bytes, *bytes = c->line_bytes;
  *kind = rand_in(r, 0, 2) ? CACHE_READ : CACHE_WRITE;
}

/* Requests = hits + misses at lines and sectors, and the sum of what each access reported; what is
 * written back was written, once at most; every line that came in is there or was pushed out. */
TEST(counts_are_conserved) {
  Rand r = {404};
  for (int round = 0; round < 300; round++) {
    const CacheConfig config = random_config(&r);
    CacheState *cache = make_cache(&config);
    uint64_t line_hits = 0, fetched = 0, absent = 0, evicted = 0, dirty_evicted = 0, written = 0;
    uint64_t touched[2] = {0};
    for (int i = 0; i < 400; i++) {
      uint64_t address, bytes;
      CacheKind kind;
      CacheEvent e;
      random_access(&r, &cache->config, &address, &bytes, &kind);
      assert_int_equal(cache_access_line(cache, address, bytes, kind, &e), STATUS_OK);
      const uint64_t sector = cache->config.sector_bytes;
      touched[kind] += (address + bytes - 1) / sector - address / sector + 1;
      line_hits += e.line_hit;
      fetched += (uint64_t)__builtin_popcount(e.fetched_sectors);
      absent += (uint64_t)__builtin_popcount(e.absent_sectors);
      evicted += e.evicted;
      dirty_evicted += e.victim_dirty_sectors != 0;
      written += (uint64_t)__builtin_popcount(e.victim_dirty_sectors);
      assert_true(!e.line_hit || !e.evicted); /* a hit pushes nothing out */
    }
    const CacheCounts *c = &cache->counts;
    assert_int_equal(c->accesses, 400);
    assert_int_equal(c->lines_touched, 400);
    assert_int_equal(line_hits + c->line_misses, c->lines_touched);
    assert_int_equal(c->read_sectors, touched[CACHE_READ]);
    assert_int_equal(c->write_sectors, touched[CACHE_WRITE]);
    assert_int_equal(c->read_sector_misses, fetched);
    assert_int_equal(c->write_sector_absent, absent);
    assert_int_equal(cache_hit_sectors(c) + c->read_sector_misses, c->read_sectors + c->write_sectors);
    assert_int_equal(c->evictions, evicted);
    assert_int_equal(c->dirty_evictions, dirty_evicted);
    assert_int_equal(c->written_back_sectors, written);
    assert_true(c->read_sector_misses <= c->read_sectors && c->write_sector_absent <= c->write_sectors);
    assert_true(c->dirty_evictions <= c->evictions && c->evictions <= c->line_misses);
    uint64_t present = 0;
    for (uint64_t set = 0; set < cache->sets; set++)
      for (uint64_t position = 0; position < cache->config.ways; position++)
        present += cache_peek(cache, set, position).present;
    assert_int_equal(c->line_misses - c->evictions, present);
    cache_flush(cache);
    assert_true(c->written_back_sectors <= c->write_sectors);
    assert_true(c->written_back_sectors > 0); /* a third of the accesses are stores */
    free(cache);
  }
}

/* LRU of the same sets with more ways keeps all that fewer ways keep (Mattson et al., 1970): no
 * line, no sector missed more, and nothing written back more often. */
TEST(a_bigger_lru_never_misses_more) {
  Rand r = {17};
  for (int round = 0; round < 60; round++) {
    CacheConfig config = random_config(&r);
    const uint64_t sets = config.size_bytes / config.ways / config.line_bytes;
    const uint64_t seed = rand_next(&r) | 1;
    config.policy = CACHE_LRU;
    CacheCounts last = {0};
    for (uint64_t ways = 1; ways <= 80; ways += ways < 20 ? 1 : 15) {
      CacheConfig grown = config;
      grown.ways = ways;
      grown.size_bytes = sets * ways * config.line_bytes;
      CacheState *cache = make_cache(&grown);
      Rand trace = {seed};
      for (int i = 0; i < 400; i++) { /* the same trace for all: as far as the first config reaches */
        uint64_t address, bytes;
        CacheKind kind;
        random_access(&trace, &config, &address, &bytes, &kind);
        cache_access(cache, address, bytes, kind);
      }
      cache_flush(cache);
      const CacheCounts c = cache->counts;
      free(cache);
      if (ways > 1) {
        assert_int_equal(c.read_sectors, last.read_sectors);
        assert_true(c.line_misses <= last.line_misses);
        assert_true(c.read_sector_misses <= last.read_sector_misses);
        assert_true(c.write_sector_absent <= last.write_sector_absent);
        assert_true(c.evictions <= last.evictions);
        assert_true(c.written_back_sectors <= last.written_back_sectors);
      }
      last = c;
    }
  }
}
