/* The same counts as cache.h for traffic that moves whole aligned tiles, at the price of one set.
 *
 *     lines of   tile 0        tile 1          tile 2
 *     in sets    [0 1 ... g-1] [g ... 2g-1]    [2g ... 3g-1] ...
 *                group 0       group 1         group 2
 *
 * A tile of g lines that starts at a multiple of g covers g neighbouring sets once each. So all g
 * sets of a group see the same tiles in the same order, and do the same: simulate one of them,
 * multiply by g.
 *
 * Exact, not an approximation, where tile_cache_init agrees: every access is a run of whole
 * granules (aligned pieces of `granule_bytes`; a tile may be several), the granule divides the
 * sets, and each set decides for itself (LRU or FIFO). The index may be modulo, or XOR with powers
 * of two: bits above the set index, XORed in, only change the order of sets within a group. Not for
 * a random index (neighbours fall anywhere) or random replacement (sets of a group would draw
 * differently); those, and parts of lines, need cache.h.
 *
 * A TileCache lives in the caller's memory and is flat: memcpy is a bookmark. */
#ifndef TILEWALK_SIM_TILE_CACHE_H
#define TILEWALK_SIM_TILE_CACHE_H

#include "sim/cache/cache.h"

/* What was counted, in granules. */
typedef struct {
  uint64_t reads, read_misses;
  uint64_t writes, writes_absent; /* a store fetches nothing, as in cache.h */
  uint64_t evictions, dirty_evictions;
} TileCounts;

typedef struct {
  CacheConfig config; /* of the cache that this one stands for, resolved */
  TileCounts counts;
  uint64_t granule_bytes, lines_per_granule, sectors_per_line;
  uint64_t groups; /* of sets; one simulated set each */
  /* Private from here. */
  uint64_t group_mask;    /* groups - 1 where that is a power of two, else 0 */
  uint64_t xor_shift;     /* 0: modulo */
  uint64_t granule_shift; /* log2 of granule_bytes where that is a power of two, else 0 */
  uint64_t by_shifts;     /* 1 where granule and group are found by shifts and masks alone */
  uint64_t ways, is_fifo, end_granule, group_bytes, state_bytes;
} TileCache;

/* The largest granule that all these addresses and sizes (in bytes, zeros allowed) are multiples of
 * and that fits the sets of this cache; at worst one line. 0 where a number is no multiple of a
 * line: then only cache.h will do. */
uint64_t tile_cache_granule_bytes(const CacheConfig *config, const uint64_t *numbers, size_t n);

/* Bytes of memory needed; 0 where tile_cache_init would refuse. */
size_t tile_cache_state_bytes(const CacheConfig *config, uint64_t granule_bytes);

/* Makes an empty cache. STATUS_BAD_REQUEST, with the reason, where collapsing would not be exact.
 */
Status tile_cache_init(TileCache *tiles, const CacheConfig *config, uint64_t granule_bytes, Error *error);

/* Forgets all granules and counts. */
void tile_cache_reset(TileCache *tiles);

/* One granule, by its number (address / granule_bytes); returns true when it was there. The number
 * must be below tiles->end_granule. */
bool tile_cache_touch(TileCache *tiles, uint64_t granule, CacheKind kind);

/* A run of granules by address. STATUS_BAD_REQUEST, with nothing changed, where address and bytes
 * are not multiples of the granule or lie beyond the config's address_bits. */
static inline Status tile_cache_access(TileCache *tiles, uint64_t address, uint64_t bytes, CacheKind kind);

/* The counts that the full cache would show; `accesses` is one a line, as with cache_access_range.
 */
CacheCounts tile_cache_counts(const TileCache *tiles);

/* Private from here: what most accesses are (a granule that is in front of its group already),
 * without a call. A word is (granule + 1) << 1 | dirty; 0 is an empty place. Words of a group lie
 * in a ring, last used first, from the place `front` on: a granule that is new, or last, turns the
 * ring by one. */
typedef struct {
  uint32_t front, words[];
} TileGroup;

static inline TileGroup *tile_cache_group(const TileCache *tiles, uint64_t group) {
  return (TileGroup *)(void *)((char *)(uintptr_t)(tiles + 1) + group * tiles->group_bytes);
}

/* A granule that is not in front of its group; and any other run. */
bool tile_cache_bring(TileCache *tiles, TileGroup *group, uint32_t key, uint32_t write);
Status tile_cache_access_run(TileCache *tiles, uint64_t address, uint64_t bytes, CacheKind kind);

static inline bool tile_cache_touch_in(TileCache *tiles, TileGroup *group, uint64_t granule, CacheKind kind) {
  const uint32_t key = (uint32_t)(granule + 1) << 1, write = kind == CACHE_WRITE;
  *(write ? &tiles->counts.writes : &tiles->counts.reads) += 1;
  uint32_t *first = &group->words[group->front];
  if ((*first & ~1u) != key) return tile_cache_bring(tiles, group, key, write);
  if (write) *first |= write;
  return true;
}

static inline Status tile_cache_access(TileCache *tiles, uint64_t address, uint64_t bytes, CacheKind kind) {
  const uint64_t granule = address >> tiles->granule_shift;
  if (tiles->by_shifts && bytes == tiles->granule_bytes && !(address & (bytes - 1)) &&
      granule < tiles->end_granule) { /* one granule, found by shifts: the usual access */
    tile_cache_touch_in(tiles, tile_cache_group(tiles, granule & tiles->group_mask), granule, kind);
    return STATUS_OK;
  }
  return tile_cache_access_run(tiles, address, bytes, kind);
}

#endif
