/* The cache against a slow, obvious one that keeps every byte and a clock: random configs, random
 * traces. */
#include "tests/support/test.h"
#include "tests/support/make_cache.h"
#include "tests/support/rand.h"

/* --- the slow cache: one record a line, one flag a byte, a clock --- */

enum { SLOW_MAX_LINES = 512, SLOW_MAX_LINE_BYTES = 256 };

typedef struct {
  bool present;
  uint64_t line, last_use, arrival;
  bool valid[SLOW_MAX_LINE_BYTES], dirty[SLOW_MAX_LINE_BYTES];
} SlowLine;

typedef struct {
  CacheConfig config;
  uint64_t sets, clock;
  SlowLine lines[SLOW_MAX_LINES];
  bool tree[SLOW_MAX_LINES][64]; /* tree-PLRU: true means the older half is the right one */
  CacheCounts counts;
} Slow;

static uint64_t slow_set(const Slow *slow, const CacheState *cache, uint64_t line) {
  if (slow->config.index == CACHE_INDEX_MODULO) return line % slow->sets;
  if (slow->config.index == CACHE_INDEX_RANDOM)
    return cache_set_of(cache, line * slow->config.line_bytes); /* any function of the line will do */
  uint64_t hash = 0;
  for (unsigned bit = 0; bit < 64; bit++) /* bit by bit: bit i of the hash is the parity of bits i, i+b, i+2b... */
    for (unsigned from = bit; from < 64; from += slow->config.xor_shift_bits) hash ^= (line >> from & 1) << bit;
  return hash % slow->sets;
}

static void slow_tree_touch(Slow *slow, uint64_t set, uint64_t way) {
  uint64_t low = 0, n = slow->config.ways, node = 0;
  while (n > 1) {
    n /= 2;
    const bool right = way >= low + n;
    slow->tree[set][node] = !right;
    node = 2 * node + (right ? 2 : 1);
    if (right) low += n;
  }
}

static uint64_t slow_tree_victim(const Slow *slow, uint64_t set) {
  uint64_t low = 0, n = slow->config.ways, node = 0;
  while (n > 1) {
    n /= 2;
    const bool right = slow->tree[set][node];
    node = 2 * node + (right ? 2 : 1);
    if (right) low += n;
  }
  return low;
}

static SlowLine *slow_place(Slow *slow, uint64_t set, uint64_t line) {
  SlowLine *lines = &slow->lines[set * slow->config.ways], *victim = NULL;
  for (uint64_t way = 0; way < slow->config.ways; way++) {
    if (!lines[way].present) {
      victim = &lines[way];
      break;
    }
    if (!victim) victim = lines;
    const bool older = slow->config.policy == CACHE_FIFO ? lines[way].arrival < victim->arrival
                                                         : lines[way].last_use < victim->last_use;
    if (older) victim = &lines[way];
  }
  if (victim->present && slow->config.policy == CACHE_TREE_PLRU) victim = &lines[slow_tree_victim(slow, set)];
  if (victim->present) {
    slow->counts.evictions++;
    uint64_t dirty_sectors = 0;
    for (uint64_t s = 0; s < slow->config.line_bytes; s += slow->config.sector_bytes) {
      bool dirty = false;
      for (uint64_t b = s; b < s + slow->config.sector_bytes; b++) dirty |= victim->dirty[b];
      dirty_sectors += dirty;
    }
    slow->counts.dirty_evictions += dirty_sectors > 0;
    slow->counts.written_back_sectors += dirty_sectors;
  }
  memset(victim, 0, sizeof *victim);
  *victim = (SlowLine){.present = true, .line = line, .arrival = slow->clock};
  return victim;
}

static void slow_sector(Slow *slow, SlowLine *line, uint64_t begin, uint64_t first, uint64_t last, CacheKind kind) {
  const uint64_t end = begin + slow->config.sector_bytes;
  bool any = false, whole = true;
  for (uint64_t b = begin; b < end; b++) any |= line->valid[b], whole &= line->valid[b];
  if (kind == CACHE_READ) {
    slow->counts.read_sectors++;
    slow->counts.read_sector_misses += !whole;
    for (uint64_t b = begin; b < end; b++) line->valid[b] = true;
  } else {
    slow->counts.write_sectors++;
    slow->counts.write_sector_absent += !any;
    for (uint64_t b = begin; b < end; b++)
      if (first <= b && b <= last) line->valid[b] = line->dirty[b] = true;
  }
}

static void slow_access(Slow *slow, const CacheState *cache, uint64_t address, uint64_t bytes, CacheKind kind) {
  const uint64_t line_bytes = slow->config.line_bytes;
  slow->counts.accesses++;
  for (uint64_t line = address / line_bytes; line <= (address + bytes - 1) / line_bytes; line++) {
    const uint64_t set = slow_set(slow, cache, line);
    SlowLine *found = NULL;
    for (uint64_t way = 0; way < slow->config.ways; way++) {
      SlowLine *l = &slow->lines[set * slow->config.ways + way];
      if (l->present && l->line == line) found = l;
    }
    slow->clock++;
    slow->counts.lines_touched++;
    slow->counts.line_misses += !found;
    if (!found) found = slow_place(slow, set, line);
    found->last_use = slow->clock;
    if (slow->config.policy == CACHE_TREE_PLRU)
      slow_tree_touch(slow, set, (uint64_t)(found - &slow->lines[set * slow->config.ways]));
    const uint64_t base = line * line_bytes;
    const uint64_t first = address > base ? address - base : 0;
    const uint64_t last = address + bytes < base + line_bytes ? address + bytes - 1 - base : line_bytes - 1;
    for (uint64_t s = 0; s < line_bytes; s += slow->config.sector_bytes)
      if (first < s + slow->config.sector_bytes && last >= s) slow_sector(slow, found, s, first, last, kind);
  }
}

/* Which lines are there, and which of their sectors; in any order of ways. */
static void assert_same_lines(const CacheState *cache, const Slow *slow) {
  const CacheConfig *c = &slow->config;
  uint64_t partial_sectors = 0;
  for (uint64_t set = 0; set < slow->sets; set++) {
    uint64_t present = 0, slow_present = 0;
    for (uint64_t way = 0; way < c->ways; way++) {
      slow_present += slow->lines[set * c->ways + way].present;
      const CacheLine line = cache_peek(cache, set, way);
      if (!line.present) continue;
      present++;
      const SlowLine *same = NULL;
      for (uint64_t w = 0; w < c->ways; w++) {
        const SlowLine *l = &slow->lines[set * c->ways + w];
        if (l->present && l->line * c->line_bytes == line.address) same = l;
      }
      assert_non_null(same);
      for (uint64_t s = 0; s < c->line_bytes / c->sector_bytes; s++) {
        bool valid = true, dirty = false;
        for (uint64_t b = s * c->sector_bytes; b < (s + 1) * c->sector_bytes; b++)
          valid &= same->valid[b], dirty |= same->dirty[b];
        assert_int_equal(line.valid_sectors >> s & 1, valid);
        assert_int_equal(line.dirty_sectors >> s & 1, dirty);
        partial_sectors += dirty && !valid;
      }
    }
    assert_int_equal(present, slow_present);
  }
  assert_int_equal(cache->partial_sectors, partial_sectors); /* decides whether the fast path is open */
}

/* --- random traces --- */

static CacheConfig random_config(Rand *r) {
  CacheConfig c = {.index = (CacheIndex)rand_in(r, 0, 2), .policy = (CachePolicy)rand_in(r, 0, 2)};
  c.sector_bytes = (uint64_t)(rand_in(r, 0, 3) ? 1 << rand_in(r, 0, 4) : rand_in(r, 1, 12));
  const uint64_t most_sectors = SLOW_MAX_LINE_BYTES / c.sector_bytes;
  c.line_bytes = c.sector_bytes * (uint64_t)rand_in(r, 1, most_sectors < 32 ? (int64_t)most_sectors : 32);
  c.ways = c.policy == CACHE_TREE_PLRU ? (uint64_t)1 << rand_in(r, 0, 5)
                                       : (uint64_t)rand_in(r, 1, rand_in(r, 0, 4) ? 20 : 256);
  uint64_t sets = (uint64_t)rand_in(r, 1, (int64_t)(SLOW_MAX_LINES / c.ways));
  if (rand_in(r, 0, 1))
    while (sets & (sets - 1)) sets &= sets - 1;
  c.size_bytes = sets * c.ways * c.line_bytes;
  c.seed = rand_next(r);
  c.layout = (CacheLayout)rand_in(r, 0, 2);
  c.vector_bytes = 16u << rand_in(r, 0, 2);
  c.address_bits = (uint32_t)(rand_in(r, 0, 1) ? rand_in(r, 20, 64) : 24);
  if (rand_in(r, 0, 3) == 0) c.xor_shift_bits = (uint32_t)rand_in(r, 1, 12);
  return c;
}

/* One access: scattered, near the last one, or a run of lines; reads and stores. */
static void random_access(Rand *r, const CacheConfig *c, uint64_t *address, uint64_t *bytes, CacheKind *kind) {
  const uint64_t room = c->size_bytes * 3;
  const uint64_t high = c->address_bits > 40 ? (uint64_t)rand_in(r, 0, 1) << (c->address_bits - 2) : 0;
  switch (rand_in(r, 0, 3)) {
  case 0: *address += *bytes; break;
  case 1: *address = *address >= c->line_bytes ? *address - c->line_bytes : 0; break;
  default: *address = high + (uint64_t)rand_in(r, 0, (int64_t)room); break;
  }
  *bytes = (uint64_t)(rand_in(r, 0, 2) ? rand_in(r, 1, (int64_t)c->line_bytes)
                                       : rand_in(r, 1, (int64_t)(c->size_bytes < 4096 ? c->size_bytes : 4096)));
  if (rand_in(r, 0, 2) == 0) { /* aligned, as tiles are */
    *address = *address / c->line_bytes * c->line_bytes;
    *bytes = (*bytes / c->line_bytes + 1) * c->line_bytes;
  }
  const uint64_t limit = c->address_bits < 64 ? (uint64_t)1 << c->address_bits : ~(uint64_t)0;
  if (*address > limit / 2 && limit - *address < *bytes + 1) *address = 0;
  *kind = rand_in(r, 0, 2) ? CACHE_READ : CACHE_WRITE;
}

TEST(random_traces_count_like_the_slow_cache) {
  Rand r = {20250101};
  Slow *slow = malloc(sizeof *slow);
  for (int round = 0; round < 400; round++) {
    const CacheConfig asked = random_config(&r);
    memset(slow, 0, sizeof *slow);
    must(cache_config_resolve(&asked, &slow->config, fresh_error()));
    slow->sets = asked.size_bytes / asked.line_bytes / asked.ways;
    CacheState *cache = make_cache(&asked);
    const bool stores_partly = round % 3 != 0;
    uint64_t address = 0, bytes = 1;
    CacheKind kind;
    for (int i = 0; i < 300; i++) {
      random_access(&r, &slow->config, &address, &bytes, &kind);
      if (!stores_partly) { /* whole lines only: the fast path stays open */
        address = address / asked.line_bytes * asked.line_bytes;
        bytes = (bytes + asked.line_bytes - 1) / asked.line_bytes * asked.line_bytes;
      }
      slow_access(slow, cache, address, bytes, kind);
      if (rand_in(&r, 0, 1)) {
        must(cache_access(cache, address, bytes, kind));
      } else {
        must(cache_access_range(cache, address, bytes, kind));
        slow->counts.accesses += (address + bytes - 1) / asked.line_bytes - address / asked.line_bytes; /* one a line */
      }
      assert_memory_equal(&cache->counts, &slow->counts, sizeof(CacheCounts));
    }
    assert_same_lines(cache, slow);
    free(cache);
  }
  free(slow);
}

/* Addresses at both ends of the address space: each trace stays near one end, where words are
 * narrow, then goes to the other one too, with lines, parts of sectors and the order of use in
 * place. A bookmark taken before leads to the same bytes. */
TEST(both_ends_of_the_addresses_count_like_the_slow_cache) {
  enum { CROSS = 150, ACCESSES = 300 };
  const uint64_t end = (uint64_t)1 << 48;
  Rand r = {48};
  Slow *slow = malloc(sizeof *slow);
  int widened = 0;
  for (int round = 0; round < 300; round++) {
    CacheConfig low = random_config(&r), asked;
    low.address_bits = 24; /* where random_access stays */
    if (round % 2) low.policy = CACHE_LRU;
    asked = low, asked.address_bits = 0;
    memset(slow, 0, sizeof *slow);
    must(cache_config_resolve(&asked, &slow->config, NULL));
    slow->sets = asked.size_bytes / asked.line_bytes / asked.ways;
    CacheState *cache = make_cache(&asked), *bookmark = make_cache(&asked);
    const size_t state_bytes = (size_t)cache_state_bytes(&asked);
    const bool whole_lines = rand_in(&r, 0, 1), first_high = rand_in(&r, 0, 1);
    uint64_t from_end = 0, bytes = 1;
    CacheKind kind;
    for (int i = 0; i < ACCESSES; i++) {
      random_access(&r, &low, &from_end, &bytes, &kind);
      const bool high = i < CROSS ? first_high : i == CROSS ? !first_high : rand_in(&r, 0, 1);
      uint64_t address = high ? end - from_end - bytes : from_end;
      if (whole_lines) { /* the fast path stays open */
        address = address / asked.line_bytes * asked.line_bytes;
        bytes = (bytes + asked.line_bytes - 1) / asked.line_bytes * asked.line_bytes;
        if (bytes > end - address) bytes = end - address;
      }
      if (i == CROSS) {
        assert_int_equal(cache->word_bits, cache->narrow_bits);
        memcpy(bookmark, cache, state_bytes);
      }
      slow_access(slow, cache, address, bytes, kind);
      must(cache_access_range(cache, address, bytes, kind));
      slow->counts.accesses = cache->counts.accesses; /* one a line */
      assert_memory_equal(&cache->counts, &slow->counts, sizeof(CacheCounts));
      if (i < CROSS) continue;
      assert_int_equal(cache->word_bits, cache->wide_bits);
      cache_access_range(bookmark, address, bytes, kind);
    }
    assert_same_lines(cache, slow);
    assert_memory_equal(bookmark, cache, state_bytes);
    widened += cache->narrow_bits < cache->wide_bits;
    free(bookmark);
    free(cache);
  }
  assert_true(widened > 100);
  free(slow);
}
