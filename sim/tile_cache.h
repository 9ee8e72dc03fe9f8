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

#include "sim/cache.h"

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
Status tile_cache_init(TileCache *tiles, const CacheConfig *config, uint64_t granule_bytes,
                       Error *error);

/* Forgets all granules and counts. */
void tile_cache_reset(TileCache *tiles);

/* One granule, by its number (address / granule_bytes); returns true when it was there. The number
 * must be below tiles->end_granule. */
bool tile_cache_touch(TileCache *tiles, uint64_t granule, CacheKind kind);

/* A run of granules by address. STATUS_BAD_REQUEST, with nothing changed, where address and bytes
 * are not multiples of the granule or lie beyond the config's address_bits. */
Status tile_cache_access(TileCache *tiles, uint64_t address, uint64_t bytes, CacheKind kind);

/* The counts that the full cache would show; `accesses` is one a line, as with cache_access_range.
 */
CacheCounts tile_cache_counts(const TileCache *tiles);

#endif
