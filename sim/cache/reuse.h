/* Miss-ratio curves: the misses of an LRU cache of every capacity, in one pass.
 *
 * A fully associative LRU cache of C blocks hits exactly when fewer than C other blocks were used
 * since the last use of this one (Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for
 * storage hierarchies", IBM Systems Journal 9(2), 1970). So one pass that counts how often each
 * distance D occurs answers for all C:
 *
 *     misses(C) = first uses + sum over D >= C of the uses at distance D
 *
 *     moment    0 1 2 3 4 5      One bit a moment, set where the last use of some block lies.
 *     block     a b c b d a      Before moment 5, a's last use is 0 and the bits set after it
 *     bit       1 0 1 1 1        are c, b, d: D = 3. Then the bit moves from 0 to 5.
 *
 * Counting bits is a look-up: below words of 64 bits lie prefix counts in groups of 16, as many
 * levels as needed; moving a bit changes one group a level. When the moments are used up the bits
 * are pushed together, at most once in max_blocks uses.
 *
 * A block is whatever the caller counts in: a line, or a tile. Where all traffic moves whole
 * aligned tiles of g lines, the curve at tile grain is the curve at line grain: the g lines of a
 * tile share one distance, g x D + g - 1, so misses(C lines) = g x misses(C / g tiles).
 *
 * Modelled: LRU, blocks of one size, reads and stores alike.
 * Not modelled: sets, sectors.
 *
 * A ReuseState lives in the caller's memory and is flat: memcpy is a bookmark. */
#ifndef TILEWALK_SIM_CACHE_REUSE_H
#define TILEWALK_SIM_CACHE_REUSE_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { REUSE_LEVELS_MAX = 8 };

typedef struct {
  uint64_t max_blocks; /* different blocks that there is room for */
  uint64_t uses;
  uint64_t first_uses; /* different blocks so far: the compulsory misses */
  /* Private from here. */
  uint64_t n_moments, now;
  uint64_t table_mask;
  uint64_t n_levels;
  uint64_t bits_offset, counts_offset[REUSE_LEVELS_MAX];
  uint64_t keys_offset, moments_offset, histogram_offset, state_bytes;
} ReuseState;

/* Bytes of memory for `max_blocks` different blocks (about 40 each); 0 where reuse_init would
 * refuse. */
size_t reuse_state_bytes(uint64_t max_blocks);

/* Starts an empty pass in `state`, which points at reuse_state_bytes(max_blocks) bytes aligned as
 * malloc aligns. STATUS_TOO_LARGE beyond 2^28 blocks, STATUS_BAD_REQUEST for none. */
Status reuse_init(ReuseState *state, uint64_t max_blocks, Error *error);

/* Uses of `n` neighbouring blocks, numbers below 2^64 - 1, one after the other. Stops at the first that is
 * refused: STATUS_TOO_LARGE where it would be the first use of one block more than there is room for. */
Status reuse_use_range(ReuseState *state, uint64_t first_block, uint64_t n);

/* The uses at each distance D, 0 <= D < max_blocks; all other uses were first uses. */
const uint64_t *reuse_histogram(const ReuseState *state);

/* Misses of a fully associative LRU cache of `capacity_blocks`; with 0, all uses. */
uint64_t reuse_misses(const ReuseState *state, uint64_t capacity_blocks);

#endif
