#include "sim/cache/tile_cache.h"

#include <string.h>

#define GRANULES_MAX (((uint64_t)1 << 31) - 2)

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    const uint64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

static bool is_power_of_two(uint64_t x) { return x && !(x & (x - 1)); }

uint64_t tile_cache_granule_bytes(const CacheConfig *config, const uint64_t *numbers, size_t n) {
  CacheConfig c;
  if (cache_config_resolve(config, &c, NULL) != STATUS_OK) return 0;
  uint64_t granule = c.size_bytes / c.ways; /* all sets once */
  for (size_t i = 0; i < n; i++) granule = gcd(granule, numbers[i]);
  if (c.index == CACHE_INDEX_XOR) granule &= ~granule + 1; /* the power of two in it */
  return granule % c.line_bytes ? 0 : granule;
}

static Status check(const CacheConfig *c, uint64_t granule_bytes, Error *error) {
  const uint64_t sets = c->size_bytes / c->line_bytes / c->ways;
  if (!granule_bytes || granule_bytes % c->line_bytes || sets % (granule_bytes / c->line_bytes))
    return error_set(error, STATUS_BAD_REQUEST,
                     "tile cache: a granule of %llu bytes must be whole lines of %llu bytes and "
                     "divide the %llu sets",
                     (unsigned long long)granule_bytes, (unsigned long long)c->line_bytes, (unsigned long long)sets);
  if (c->policy != CACHE_LRU && c->policy != CACHE_FIFO)
    return error_set(error, STATUS_BAD_REQUEST, "tile cache: replacement must be LRU or FIFO; use the full cache");
  if (c->index == CACHE_INDEX_RANDOM)
    return error_set(error, STATUS_BAD_REQUEST,
                     "tile cache: with a random index neighbouring lines fall into unrelated sets; "
                     "use the full cache");
  if (c->index == CACHE_INDEX_XOR && !(is_power_of_two(sets) && is_power_of_two(granule_bytes / c->line_bytes) &&
                                       (c->xor_shift_bits >= 64 || (uint64_t)1 << c->xor_shift_bits >= sets)))
    return error_set(error, STATUS_BAD_REQUEST,
                     "tile cache: with an XOR index sets and granule must be powers of two and only bits above the set "
                     "index be XORed in; use the full cache");
  return STATUS_OK;
}

static Status plan(const CacheConfig *config, uint64_t granule_bytes, TileCache *tiles, Error *error) {
  memset(tiles, 0, sizeof *tiles);
  CacheConfig *c = &tiles->config;
  Status status = cache_config_resolve(config, c, error);
  if (status == STATUS_OK) status = check(c, granule_bytes, error);
  if (status != STATUS_OK) return status;
  tiles->granule_bytes = granule_bytes;
  tiles->granule_shift = is_power_of_two(granule_bytes) ? (uint64_t)__builtin_ctzll(granule_bytes) : 0;
  tiles->lines_per_granule = granule_bytes / c->line_bytes;
  tiles->sectors_per_line = c->line_bytes / c->sector_bytes;
  tiles->groups = c->size_bytes / c->ways / granule_bytes;
  tiles->group_mask = is_power_of_two(tiles->groups) ? tiles->groups - 1 : 0;
  tiles->xor_shift = c->index == CACHE_INDEX_XOR ? c->xor_shift_bits : 0;
  tiles->by_shifts = tiles->granule_shift && tiles->group_mask && !tiles->xor_shift;
  tiles->ways = c->ways;
  tiles->is_fifo = c->policy == CACHE_FIFO;
  const uint64_t granules = (c->address_bits < 64 ? (uint64_t)1 << c->address_bits : UINT64_MAX) / granule_bytes;
  tiles->end_granule = granules < GRANULES_MAX ? granules : GRANULES_MAX;
  tiles->group_bytes = sizeof(TileGroup) + tiles->ways * sizeof(uint32_t);
  tiles->state_bytes = sizeof *tiles + tiles->groups * tiles->group_bytes;
  return STATUS_OK;
}

size_t tile_cache_state_bytes(const CacheConfig *config, uint64_t granule_bytes) {
  TileCache tiles;
  return plan(config, granule_bytes, &tiles, NULL) == STATUS_OK ? (size_t)tiles.state_bytes : 0;
}

Status tile_cache_init(TileCache *tiles, const CacheConfig *config, uint64_t granule_bytes, Error *error) {
  TileCache planned;
  const Status status = plan(config, granule_bytes, &planned, error);
  if (status != STATUS_OK) return status;
  *tiles = planned;
  tile_cache_reset(tiles);
  return STATUS_OK;
}

void tile_cache_reset(TileCache *tiles) {
  memset(&tiles->counts, 0, sizeof tiles->counts);
  memset(tiles + 1, 0, tiles->state_bytes - sizeof *tiles);
}

static inline uint64_t group_of(const TileCache *tiles, uint64_t granule) {
  uint64_t folded = granule;
  if (tiles->xor_shift)
    for (uint64_t high = granule; tiles->xor_shift < 64 && (high >>= tiles->xor_shift);) folded ^= high;
  return tiles->group_mask ? folded & tiles->group_mask : folded % tiles->groups;
}

static inline bool is_there(const uint32_t *words, uint64_t ways, uint32_t key) {
  uint32_t found = 0;
  for (uint64_t place = 0; place < ways; place++) /* all of them, many at a time */
    found |= (words[place] & ~1u) == key;
  return found;
}

bool tile_cache_bring(TileCache *tiles, TileGroup *group, uint32_t key, uint32_t write) {
  const uint64_t ways = tiles->ways, last = (group->front ? group->front : ways) - 1;
  uint32_t *words = group->words, word = words[last];
  const bool is_last = (word & ~1u) == key;
  if (!is_last && (ways == 16 ? is_there(words, 16, key) /* a loop without an end to look for */
                              : is_there(words, ways, key))) {
    uint64_t place = 0;
    while ((words[place] & ~1u) != key) place++;
    word = words[place];
    if (!tiles->is_fifo) /* those before it move one place back */
      for (; place != group->front; place = (place ? place : ways) - 1)
        words[place] = words[(place ? place : ways) - 1];
    words[place] = word | write;
    return true;
  }
  if (is_last && tiles->is_fifo) {
    words[last] = word | write;
    return true;
  }
  group->front = (uint32_t)last; /* the ring turns */
  words[last] = (is_last ? word : key) | write;
  if (is_last) return true;
  TileCounts *counts = &tiles->counts;
  *(write ? &counts->writes_absent : &counts->read_misses) += 1;
  counts->evictions += word != 0;
  counts->dirty_evictions += word & 1;
  return false;
}

bool tile_cache_touch(TileCache *tiles, uint64_t granule, CacheKind kind) {
  return tile_cache_touch_in(tiles, tile_cache_group(tiles, group_of(tiles, granule)), granule, kind);
}

Status tile_cache_access_run(TileCache *tiles, uint64_t address, uint64_t bytes, CacheKind kind) {
  const uint64_t granule_bytes = tiles->granule_bytes;
  const uint64_t first = address / granule_bytes, n = bytes / granule_bytes;
  if (!n || first * granule_bytes != address || n * granule_bytes != bytes || first >= tiles->end_granule ||
      n > tiles->end_granule - first)
    return STATUS_BAD_REQUEST;
  for (uint64_t i = 0; i < n; i++) tile_cache_touch(tiles, first + i, kind);
  return STATUS_OK;
}

CacheCounts tile_cache_counts(const TileCache *tiles) {
  const TileCounts *t = &tiles->counts;
  const uint64_t lines = tiles->lines_per_granule, sectors = lines * tiles->sectors_per_line;
  return (CacheCounts){
      .accesses = (t->reads + t->writes) * lines,
      .lines_touched = (t->reads + t->writes) * lines,
      .line_misses = (t->read_misses + t->writes_absent) * lines,
      .read_sectors = t->reads * sectors,
      .read_sector_misses = t->read_misses * sectors,
      .write_sectors = t->writes * sectors,
      .write_sector_absent = t->writes_absent * sectors,
      .evictions = t->evictions * lines,
      .dirty_evictions = t->dirty_evictions * lines,
      .written_back_sectors = t->dirty_evictions * sectors,
  };
}
