/* A cache: set-associative, sectored, write-back.
 *
 *   address --> line --> set (modulo, XOR or random hash) --> one of `ways` lines --> its sectors
 *
 *      position 0     1     2    ...  ways-1        LRU keeps each set as a list, last used first:
 *   set 0 [ tag vvvv dddd ][ ... ]                  a hit moves its line to the front, a miss
 *   set 1 [ tag vvvv dddd ][ ... ]                  pushes the last one out. v, d: one valid and
 *   ...                                             one dirty bit a sector.
 *
 * Modelled
 * - Any line and sector size, up to 32 sectors a line; any number of ways and sets. A cache of
 *   several slices is a cache of slices x sets sets: H200's L2, 96 x 256, has 24,576.
 * - A read fetches the sectors it misses, not the line.
 * - Write-back, write-validate: a store that covers a sector makes it valid and dirty and fetches
 *   nothing. A store of part of a sector marks its bytes; the sector is fetched when it is read
 *   before all its bytes were written ("lazy fetch on read", Accel-Sim, Khairy et al., ISCA 2020).
 * - Hits counted as ncu counts them: by sector, and a store always hits, since it waits for nothing
 *   (lts__t_sectors_op_write_lookup_hit). `line_misses` and `write_sector_absent` keep the older
 *   way of counting.
 *
 * Not modelled: time, ports, in-flight misses (a miss is served before the next access begins),
 * compression.
 *
 * Speed, never counts, depends on how far apart the addresses are: up to 2 TiB with the defaults
 * (more with more sets), the lines take half the memory traffic. cache_words.c says how.
 *
 * A CacheState lives in the caller's memory, is flat and has no interior pointers: memcpy of
 * cache_state_bytes() bytes is a bookmark, and memcmp compares two that were fed in the same way.
 */
#ifndef TILEWALK_SIM_CACHE_CACHE_H
#define TILEWALK_SIM_CACHE_CACHE_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  CACHE_INDEX_MODULO, /* line mod sets */
  CACHE_INDEX_XOR,    /* pieces of xor_shift_bits bits of the line XORed together, mod sets */
  CACHE_INDEX_RANDOM, /* a seeded hash of the line number: for a hash that nobody has published */
} CacheIndex;

typedef enum {
  CACHE_LRU,
  CACHE_TREE_PLRU, /* one bit a node of a binary tree over the ways (a power of two, at most 64) */
  CACHE_FIFO,      /* as LRU, but a hit does not move the line */
  CACHE_RANDOM,    /* victim drawn by a seeded generator kept in the state: repeatable */
} CachePolicy;

typedef enum { CACHE_READ, CACHE_WRITE } CacheKind;

/* How the sets lie in memory. It changes speed, never counts. */
typedef enum {
  CACHE_LAYOUT_AUTO,
  CACHE_LAYOUT_BY_POSITION, /* all sets' position 0, then all sets' position 1: fast for runs of
                               lines */
  CACHE_LAYOUT_BY_SET,      /* a set's lines side by side: fast for scattered accesses */
} CacheLayout;

enum { CACHE_MAX_SECTORS_PER_LINE = 32 };

/* What is asked. Zero in a field means the default named beside it. */
typedef struct {
  uint64_t size_bytes;     /* 2 MiB; a multiple of ways x line_bytes */
  uint64_t ways;           /* 16; size_bytes / line_bytes makes it fully associative */
  uint64_t line_bytes;     /* 128 */
  uint64_t sector_bytes;   /* 32 where that divides the line into at most 32, else the whole line */
  CacheIndex index;        /* modulo */
  uint32_t xor_shift_bits; /* log2 of sets, rounded up; only for CACHE_INDEX_XOR */
  CachePolicy policy;      /* LRU */
  uint64_t seed;           /* for the random index and the random policy */
  CacheLayout layout;      /* by position, except with a random index */
  uint32_t address_bits;   /* 48; accesses beyond are refused. Fewer make a smaller state. */
  uint32_t vector_bytes;   /* the widest the host has, of 16, 32 and 64; changes speed, never counts */
  bool no_byte_masks;      /* true: no memory for byte masks; parts of a sector then never add up to a
                              whole */
} CacheConfig;

/* What was counted. Laws: line_hits + line_misses = lines touched; for each kind, sectors = hits +
 * misses. */
typedef struct {
  uint64_t accesses;             /* calls of cache_access, or records that a range stands for */
  uint64_t lines_touched;        /* line look-ups: an access over two lines is two */
  uint64_t line_misses;          /* look-ups, read or write, that did not find their line */
  uint64_t read_sectors;         /* sectors asked for by reads */
  uint64_t read_sector_misses;   /* of those, fetched from below */
  uint64_t write_sectors;        /* sectors touched by stores; none of them is fetched */
  uint64_t write_sector_absent;  /* of those, not in the cache before (ncu calls them hits all the
                                    same) */
  uint64_t evictions;            /* lines pushed out */
  uint64_t dirty_evictions;      /* of those, with at least one dirty sector */
  uint64_t written_back_sectors; /* dirty sectors of pushed-out or flushed lines */
} CacheCounts;

typedef struct {
  CacheConfig config; /* resolved: no zeros left */
  CacheCounts counts;
  uint64_t sets;
  uint32_t sectors_per_line;
  uint32_t word_bits; /* 32, 64 or 128: tag, valid and dirty bits of one line, as stored now */
  /* Private from here. */
  uint32_t narrow_bits, wide_bits;        /* word_bits of an empty cache, and for any address */
  uint64_t first_accepted, last_accepted; /* addresses whose tags the words hold; first > last in a
                                             cache that has seen none */
  uint64_t tag_base;                      /* words hold tag - tag_base */
  uint64_t all_sectors;                   /* sectors_per_line ones */
  uint64_t address_end;                   /* first address refused; 0: none */
  uint64_t tag_is_line;                   /* 1 where the set cannot be taken out of the tag */
  uint64_t lru_by_order;                  /* 1 where the order of the words in a set is all there is to replacement */
  uint64_t by_shifts;                     /* 1 where besides every size is a power of two and the index is modulo */
  uint64_t line_shift, sector_shift, set_shift; /* log2 where a power of two, else NO_SHIFT */
  uint64_t set_stride, position_stride;         /* in words */
  uint64_t mask_bytes;                          /* per line */
  uint64_t words_offset, masks_offset, tree_offset, many_offset, fronts_offset, state_bytes;
  uint64_t partial_sectors; /* sectors now dirty but not valid */
  uint64_t random;
} CacheState;

/* One look-up, for a caller that chains caches or draws them. */
typedef struct {
  bool line_hit;
  uint32_t fetched_sectors; /* bit mask: read, and not valid before */
  uint32_t absent_sectors;  /* bit mask: written, and not in the cache before */
  bool evicted;
  uint64_t victim_address;       /* first byte of the line pushed out */
  uint32_t victim_dirty_sectors; /* bit mask to be written below */
} CacheEvent;

/* One line of a set as it stands. Position 0 is the front of the list with LRU and FIFO up to 64
 * ways; otherwise positions are ways, in no order. */
typedef struct {
  bool present;
  uint64_t address;
  uint32_t valid_sectors, dirty_sectors; /* dirty and not valid: partly written */
} CacheLine;

/* Fills in the defaults and checks. STATUS_BAD_REQUEST where the sizes contradict each other. */
Status cache_config_resolve(const CacheConfig *config, CacheConfig *resolved, Error *error);

/* Bytes of memory that a cache of this config needs; 0 where cache_config_resolve refuses it. */
uint64_t cache_state_bytes(const CacheConfig *config);

/* Makes an empty cache in memory of its own, which begins where vectors are fastest; free() it.
 * STATUS_NO_MEMORY; *state is NULL where it fails. */
Status cache_new(CacheState **state, const CacheConfig *config, Error *error);

/* Forgets every line and every count; the config stays. */
void cache_reset(CacheState *state);

/* One access of `bytes` bytes; it may span sectors and lines. STATUS_BAD_REQUEST, with nothing
 * changed, for zero bytes or an address beyond address_bits. */
Status cache_access(CacheState *state, uint64_t address, uint64_t bytes, CacheKind kind);

/* The same result as one cache_access a line for every line of the run, whole lines many at a time:
 * the fast path for tiles. `accesses` counts one per line touched. */
Status cache_access_range(CacheState *state, uint64_t address, uint64_t bytes, CacheKind kind);

/* One access within one line, with what happened in *event. STATUS_BAD_REQUEST also where it spans
 * two lines. */
Status cache_access_line(CacheState *state, uint64_t address, uint64_t bytes, CacheKind kind, CacheEvent *event);

/* Writes back every dirty sector (adds to written_back_sectors); the lines stay, clean. Partly
 * written sectors leave the cache. */
void cache_flush(CacheState *state);

/* Forgets every line; nothing is written back, and the counts stay. */
void cache_empty(CacheState *state);

/* Of these bytes' sectors that are in the cache: writes the dirty ones back (adds to written_back_sectors), and they
 * stay, clean; or with `forget` they leave it, dirty or not. A line keeps its place, empty, until others push it out.
 * Bytes of which a sector has only a part stand for all of it. */
void cache_purge(CacheState *state, uint64_t address, uint64_t bytes, bool forget);

/* The set that holds this address. */
uint64_t cache_set_of(const CacheState *state, uint64_t address);

/* Looks at one line without touching it; set < state->sets and position < state->config.ways. */
CacheLine cache_peek(const CacheState *state, uint64_t set, uint64_t position);

/* In 0..1; 1 for no access at all. */
double cache_hit_rate(const CacheCounts *counts);

#endif
