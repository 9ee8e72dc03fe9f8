/* A cache in parts: each part takes its own sets, and together they count what one cache counts. */
#include "tests/support/test.h"
#include "sim/cache/cache.h"
#include "tests/support/make_cache.h"
#include "tests/support/rand.h"

enum { MOST = 7 };

typedef struct {
  uint32_t n;
  CacheState *states[MOST];
} Parts;

static Parts make_parts(const CacheConfig *whole, uint32_t n) {
  Parts parts = {.n = n};
  for (uint32_t part = 0; part < n; part++) {
    CacheConfig c = *whole;
    c.parts = n, c.part = part;
    parts.states[part] = make_cache(&c);
  }
  return parts;
}

static CacheCounts add_up(const Parts *parts) {
  CacheCounts sum = {0};
  for (uint32_t part = 0; part < parts->n; part++) sum = cache_counts_add(sum, parts->states[part]->counts);
  return sum;
}

static void free_parts(Parts *parts) {
  for (uint32_t part = 0; part < parts->n; part++) free(parts->states[part]);
}

/* One head of FlashAttention-2, N = 4096, d = 128, fp16, blocks of 128: the counts of every exact
 * simulator, in any number of parts. */
TEST(a_head_in_parts_counts_as_everywhere) {
  const uint64_t mib = 1 << 20, tile = 32768;
  const struct {
    uint64_t size_bytes, line_misses, sector_misses, dirty_evictions;
  } cases[] = {{32 * mib, 32768, 131072, 0}, {2 * mib, 286720, 1146880, 7936}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (uint32_t n = 1; n <= MOST; n++) {
      Parts parts = make_parts(&(CacheConfig){.size_bytes = cases[i].size_bytes}, n);
      for (uint32_t part = 0; part < n; part++)
        for (uint64_t q = 0; q < 32; q++) {
          CacheState *cache = parts.states[part];
          cache_access_range(cache, q * tile, tile, CACHE_READ);
          for (uint64_t k = 0; k < 32; k++) {
            cache_access_range(cache, mib + k * tile, tile, CACHE_READ);
            cache_access_range(cache, 2 * mib + k * tile, tile, CACHE_READ);
          }
          cache_access_range(cache, 3 * mib + q * tile, tile, CACHE_WRITE);
        }
      const CacheCounts sum = add_up(&parts);
      assert_int_equal(sum.accesses, 540672);
      assert_int_equal(sum.line_misses, cases[i].line_misses);
      assert_int_equal(sum.read_sector_misses + sum.write_sector_absent, cases[i].sector_misses);
      assert_int_equal(sum.dirty_evictions, cases[i].dirty_evictions);
      free_parts(&parts);
    }
}

/* Any index, any policy but random, any sizes; scattered accesses, parts of sectors, runs. */
static CacheConfig random_config(Rand *r) {
  CacheConfig c = {.index = (CacheIndex)rand_in(r, 0, 2), .policy = (CachePolicy)rand_in(r, 0, 2)};
  c.line_bytes = (uint64_t)1 << rand_in(r, 0, 8);
  c.ways = c.policy == CACHE_TREE_PLRU ? (uint64_t)1 << rand_in(r, 0, 4)
                                       : (uint64_t)rand_in(r, 1, rand_in(r, 0, 3) ? 16 : 80);
  uint64_t sets = (uint64_t)rand_in(r, 16 * MOST, 400);
  if (rand_in(r, 0, 1)) sets = (uint64_t)128 << rand_in(r, 0, 3);
  c.size_bytes = sets * c.ways * c.line_bytes;
  c.seed = rand_next(r);
  c.layout = (CacheLayout)rand_in(r, 0, 2);
  c.vector_bytes = 16u << rand_in(r, 0, 2);
  c.address_bits = rand_in(r, 0, 1) ? 64 : 48;
  if (rand_in(r, 0, 3) == 0) c.xor_shift_bits = (uint32_t)rand_in(r, 1, 12);
  return c;
}

TEST(parts_add_up_to_the_whole) {
  Rand r = {31};
  for (int round = 0; round < 200; round++) {
    const CacheConfig config = random_config(&r);
    CacheState *whole = make_cache(&config);
    Parts parts = make_parts(&config, (uint32_t)rand_in(&r, 2, MOST));
    const uint64_t room = 3 * config.size_bytes;
    const uint64_t top = config.address_bits == 64 ? 0 - room : ((uint64_t)1 << 48) - room;
    const int64_t at_top = rand_in(&r, 0, 2); /* none, half or all of the accesses */
    for (int i = 0; i < 150; i++) {
      uint64_t address = (uint64_t)rand_in(&r, 0, (int64_t)room - 1);
      uint64_t bytes = (uint64_t)rand_in(&r, 1, (int64_t)(config.line_bytes * (uint64_t)(rand_in(&r, 0, 2) ? 2 : 500)));
      if (round % 3 == 0) { /* as tiles are */
        address = address / config.line_bytes * config.line_bytes;
        bytes = (bytes + config.line_bytes - 1) / config.line_bytes * config.line_bytes;
      }
      if (bytes > room - address) bytes = room - address;
      const CacheKind kind = rand_in(&r, 0, 2) ? CACHE_READ : CACHE_WRITE;
      const bool range = rand_in(&r, 0, 1);
      const uint64_t base = rand_in(&r, 0, 1) < at_top ? top : 0;
      for (uint32_t part = 0; part <= parts.n; part++) {
        CacheState *cache = part < parts.n ? parts.states[part] : whole;
        assert_int_equal((range ? cache_access_range : cache_access)(cache, base + address, bytes, kind), STATUS_OK);
      }
    }
    for (int flushed = 0; flushed < 2; flushed++) {
      const CacheCounts sum = add_up(&parts);
      assert_memory_equal(&sum, &whole->counts, sizeof sum);
      cache_flush(whole);
      for (uint32_t part = 0; part < parts.n; part++) cache_flush(parts.states[part]);
    }
    free(whole);
    free_parts(&parts);
  }
}

/* The lines of the whole cache lie in the parts, set after set. */
TEST(parts_hold_the_lines_of_the_whole) {
  const CacheConfig config = {.size_bytes = 100 * 4 * 128, .ways = 4};
  CacheState *whole = make_cache(&config);
  Parts parts = make_parts(&config, 3);
  Rand r = {8};
  for (int i = 0; i < 3000; i++) {
    const uint64_t address = (uint64_t)rand_in(&r, 0, 1 << 18), set = cache_set_of(whole, address);
    const CacheKind kind = i % 3 ? CACHE_READ : CACHE_WRITE;
    uint64_t takers = 0;
    CacheEvent one, event;
    assert_int_equal(cache_access_line(whole, address, 1, kind, &one), STATUS_OK);
    for (uint32_t part = 0; part < 3; part++) {
      CacheState *cache = parts.states[part];
      const uint64_t touched = cache->counts.lines_touched;
      assert_int_equal(cache_access_line(cache, address, 1, kind, &event), STATUS_OK);
      assert_int_equal(cache_set_of(cache, address), set);
      if (cache->counts.lines_touched == touched) continue;
      takers++;
      assert_memory_equal(&event, &one, sizeof one);
    }
    assert_int_equal(takers, 1);
  }
  uint64_t set = 0;
  for (uint32_t part = 0; part < 3; part++)
    for (uint64_t own = 0; own < parts.states[part]->sets; own++, set++)
      for (uint64_t position = 0; position < 4; position++) {
        const CacheLine a = cache_peek(whole, set, position), b = cache_peek(parts.states[part], own, position);
        assert_int_equal(a.present, b.present);
        assert_int_equal(a.address, b.address);
        assert_int_equal(a.valid_sectors, b.valid_sectors);
        assert_int_equal(a.dirty_sectors, b.dirty_sectors);
      }
  assert_int_equal(set, 100);
  free(whole);
  free_parts(&parts);
}

TEST(the_parts_take_no_more_memory_than_the_whole) {
  const CacheConfig whole = {.size_bytes = 32 << 20};
  CacheConfig half = whole;
  half.parts = 2;
  assert_true(2 * cache_state_bytes(&half) < cache_state_bytes(&whole) + 16384);
}

TEST(too_many_parts_are_refused) {
  const uint64_t kib = 1024;
  assert_int_equal(cache_most_parts(&(CacheConfig){0}), 64); /* 1,024 sets */
  assert_int_equal(cache_most_parts(&(CacheConfig){.size_bytes = 2 * kib}), 1);
  assert_int_equal(cache_most_parts(&(CacheConfig){.policy = CACHE_RANDOM}), 1);
  assert_int_equal(cache_most_parts(&(CacheConfig){.size_bytes = 2000}), 0);
  const CacheConfig bad[] = {
      {.parts = 65}, {.parts = 2, .policy = CACHE_RANDOM}, {.parts = 2, .part = 2},
      {.part = 1},   {.parts = 2, .size_bytes = 2 * kib},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    Error error = {0};
    CacheConfig resolved;
    assert_int_equal(cache_config_resolve(&bad[i], &resolved, &error), STATUS_BAD_REQUEST);
    assert_non_null(strstr(error.message, "part"));
  }
}
