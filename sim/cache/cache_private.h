/* What cache.c, cache_config.c, cache_words.c, cache_lanes.c and cache_many.c share. */
#ifndef TILEWALK_SIM_CACHE_CACHE_PRIVATE_H
#define TILEWALK_SIM_CACHE_CACHE_PRIVATE_H

#include "sim/cache/cache.h"
#include "sim/base/checked.h"
#include "sim/base/splitmix.h"

enum { NO_SHIFT = 64 };
enum { CACHE_SEARCH_MAX_WAYS = 64 }; /* sets of more ways have a table to find a line */
#define CACHE_NOWHERE UINT64_MAX

/* Population count by halves (Warren, Hacker's Delight, 5-1): no call where the machine has no
 * instruction. */
static inline uint64_t count_bits(uint64_t x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

static inline uint64_t ones(uint64_t n) { return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1; }

static inline uint64_t log2_exact(uint64_t x) { return x && !(x & (x - 1)) ? (uint64_t)__builtin_ctzll(x) : NO_SHIFT; }

static inline uint32_t log2_up(uint64_t x) { return x <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(x - 1); }

/* Where sets are laid out by position and kept by LRU, the places of CACHE_GROUP_SETS neighbouring
 * sets form a ring, and one number says in which place all of them begin. A tile that is new to all
 * of them, or last in all of them, takes the last place, which becomes the first one: nothing
 * moves.
 *
 *     place       0  1  2  3            0  1  2  3
 *     position    0  1  2  3    -->     1  2  3  0     front: 0 --> 3
 */
enum { CACHE_GROUP_SETS = 16 };

static inline uint32_t *cache_fronts(const CacheState *state) {
  return (uint32_t *)(void *)((char *)(uintptr_t)state + state->fronts_offset);
}

/* The place of a set's position 0; places are position_stride words apart. */
static inline uint64_t cache_front(const CacheState *state, uint64_t set) {
  return state->fronts_offset ? cache_fronts(state)[set / CACHE_GROUP_SETS] : 0;
}

/* The place of a position, where position 0 has place `front`. */
static inline uint64_t cache_place(const CacheState *state, uint64_t front, uint64_t position) {
  const uint64_t place = front + position, ways = state->config.ways;
  return place < ways ? place : place - ways;
}

/* The widest vectors that this machine and this build can use: 16, 32 or 64 bytes. */
uint32_t cache_host_vector_bytes(void);

/* The i-th word of all, where words have `bits` bits. */
static inline Wide cache_get_word(const CacheState *state, uint64_t i, uint32_t bits) {
  const void *words = (const char *)state + state->words_offset;
  if (bits == 32) return ((const uint32_t *)words)[i];
  if (bits == 64) return ((const uint64_t *)words)[i];
  return ((const Wide *)words)[i];
}

static inline void cache_put_word(CacheState *state, uint64_t i, uint32_t bits, Wide word) {
  void *words = (char *)state + state->words_offset;
  if (bits == 32)
    ((uint32_t *)words)[i] = (uint32_t)word;
  else if (bits == 64)
    ((uint64_t *)words)[i] = (uint64_t)word;
  else
    ((Wide *)words)[i] = word;
}

/* Of an empty cache, all words zero: narrow until an address needs more. */
void cache_words_reset(CacheState *state);

/* Whether the words, as wide as they are, hold the tags of this access; false for zero bytes. */
static inline bool cache_words_fit(const CacheState *state, uint64_t address, uint64_t bytes) {
  const uint64_t last = address + (bytes - 1);
  return bytes && address <= last && state->first_accepted <= address && last <= state->last_accepted;
}

/* Makes the words fit. False, with nothing changed, for what cache_access refuses. */
bool cache_words_admit(CacheState *state, uint64_t address, uint64_t bytes);

/* Looks up whole lines with tag `tag` in the `n` sets from `set` on. Only for LRU laid out by
 * position, words of 32 or 64 bits, no partly written sector anywhere; set and n are multiples of
 * the lanes of one vector. */
void cache_run(CacheState *state, uint64_t set, uint64_t n, uint64_t tag, CacheKind kind);

/* The lists and the table of a cache with many ways (cache_many.c); place: set * ways + way. */
uint64_t cache_many_bytes(uint64_t lines, uint64_t sets);
void cache_many_reset(CacheState *state);
/* Iterates over the places that may hold this tag: first, then next, until the result is
 * CACHE_NOWHERE. */
uint64_t cache_many_first(const CacheState *state, uint64_t set, uint64_t tag);
uint64_t cache_many_next(const CacheState *state, uint64_t place);
void cache_many_insert(CacheState *state, uint64_t set, uint64_t tag, uint64_t place);
void cache_many_remove(CacheState *state, uint64_t set, uint64_t tag, uint64_t place);
void cache_many_to_front(CacheState *state, uint64_t set, uint64_t place);
uint64_t cache_many_last(const CacheState *state, uint64_t set);

#endif
