#include "sim/cache/reuse.h"

#include "sim/base/splitmix.h"

#include <string.h>

enum { FAN = 16, WORD_BITS = 64, CHUNK = 64 };

#define MAX_BLOCKS ((uint64_t)1 << 28)
#define NO_BLOCK   UINT64_MAX

static inline void *at(const ReuseState *state, uint64_t offset) { return (char *)(uintptr_t)state + offset; }

static inline uint64_t *bits_of(const ReuseState *state) { return at(state, state->bits_offset); }
static inline uint32_t *counts_of(const ReuseState *state, uint64_t level) {
  return at(state, state->counts_offset[level]);
}

static inline uint64_t count_bits(uint64_t x) { /* Warren, Hacker's Delight, 5-1 */
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

static inline uint64_t ones(uint64_t n) { return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1; }

static uint64_t round_up(uint64_t x, uint64_t to) { return (x + to - 1) / to * to; }

static Status plan(uint64_t max_blocks, ReuseState *state, Error *error) {
  memset(state, 0, sizeof *state);
  if (!max_blocks) return error_set(error, STATUS_BAD_REQUEST, "reuse: room for no block at all; at least 1 is needed");
  if (max_blocks > MAX_BLOCKS)
    return error_set(error, STATUS_TOO_LARGE,
                     "reuse: room for %llu different blocks is more than 2^28; count in larger blocks",
                     (unsigned long long)max_blocks);
  state->max_blocks = max_blocks;
  state->n_moments = round_up(2 * max_blocks, WORD_BITS);
  uint64_t table = CHUNK, offset = round_up(sizeof *state, 64);
  while (table < 2 * max_blocks) table *= 2;
  state->table_mask = table - 1;
  state->bits_offset = offset;
  uint64_t nodes = state->n_moments / WORD_BITS;
  offset = round_up(offset + nodes * sizeof(uint64_t), 64);
  do {
    nodes = round_up(nodes, FAN);
    state->counts_offset[state->n_levels++] = offset;
    offset += nodes * sizeof(uint32_t);
    nodes /= FAN;
  } while (nodes > 1);
  state->keys_offset = offset;
  state->moments_offset = state->keys_offset + table * sizeof(uint64_t);
  state->histogram_offset = round_up(state->moments_offset + table * sizeof(uint32_t), 64);
  state->state_bytes = state->histogram_offset + max_blocks * sizeof(uint64_t);
  return STATUS_OK;
}

size_t reuse_state_bytes(uint64_t max_blocks) {
  ReuseState state;
  return plan(max_blocks, &state, NULL) == STATUS_OK ? (size_t)state.state_bytes : 0;
}

Status reuse_init(ReuseState *state, uint64_t max_blocks, Error *error) {
  ReuseState planned;
  const Status status = plan(max_blocks, &planned, error);
  if (status != STATUS_OK) return status;
  memset(state, 0, (size_t)planned.state_bytes);
  *state = planned;
  memset(at(state, state->keys_offset), 0xff, (size_t)(state->table_mask + 1) * sizeof(uint64_t));
  return STATUS_OK;
}

/* --- bits and their counts --- */

/* counts[level][node]: the bits set in the nodes before this one in its group of 16. Nodes of level
 * 0 are words, those of the next level the groups below. Counts of nodes after `now` are set when
 * `now` reaches them. */

/* Bits set at moments 0..moment. */
static inline uint64_t rank(const ReuseState *state, uint64_t moment) {
  uint64_t node = moment / WORD_BITS;
  uint64_t sum = count_bits(bits_of(state)[node] << (WORD_BITS - 1 - moment % WORD_BITS));
  for (uint64_t level = 0; level < state->n_levels; level++, node /= FAN) sum += counts_of(state, level)[node];
  return sum;
}

/* Clears `n` set bits of one word, from `moment` on. */
static inline void clear_bits(ReuseState *state, uint64_t moment, uint64_t n) {
  uint64_t node = moment / WORD_BITS;
  bits_of(state)[node] &= ~(ones(n) << moment % WORD_BITS);
  for (uint64_t level = 0; level < state->n_levels; level++, node /= FAN) {
    uint32_t *group = counts_of(state, level) + node / FAN * FAN;
    const uint32_t place = (uint32_t)(node % FAN), less = (uint32_t)n;
    for (uint32_t i = 0; i < FAN; i++) group[i] -= i > place ? less : 0;
  }
}

/* Makes the counts of the nodes that begin at moment `now`, from those before them. */
static void begin_word(ReuseState *state, uint64_t now) {
  uint64_t node = now / WORD_BITS, in_previous = count_bits(bits_of(state)[node - 1]);
  for (uint64_t level = 0; level < state->n_levels; level++, node /= FAN) {
    uint32_t *counts = counts_of(state, level);
    in_previous += counts[node - 1];
    counts[node] = node % FAN ? (uint32_t)in_previous : 0;
    if (node % FAN) return; /* higher nodes do not begin here */
  }
}

/* Sets the bits of the next `n` moments. */
static inline void set_bits(ReuseState *state, uint64_t n) {
  while (n) {
    const uint64_t place = state->now % WORD_BITS, room = WORD_BITS - place, taken = n < room ? n : room;
    if (!place && state->now) begin_word(state, state->now);
    bits_of(state)[state->now / WORD_BITS] |= ones(taken) << place;
    state->now += taken;
    n -= taken;
  }
}

/* --- the table: block -> moment of its last use --- */

/* The slot that holds this block, or the free one where it belongs. Neighbouring blocks share a
 * chunk of slots, so that a run walks through memory, and a run that finds its chunk taken moves on
 * together. Blocks that still collide after a few chunks (strides that use one slot of every chunk)
 * go each their own way; at most half of the slots are taken, so that ends soon. */
static inline uint64_t find_slot(const ReuseState *state, uint64_t block) {
  const uint64_t *keys = at(state, state->keys_offset), mask = state->table_mask;
  uint64_t slot = (mix(block / CHUNK) * CHUNK + block % CHUNK) & mask;
  for (uint64_t probe = 1; keys[slot] != block && keys[slot] != NO_BLOCK; probe++)
    slot = probe < 4 ? (mix(block / CHUNK + (probe << 60)) * CHUNK + block % CHUNK) & mask
                     : mix(block ^ mix(probe)) & mask;
  return slot;
}

/* Numbers the moments of last uses 0, 1, 2, ... in their order. */
static void push_together(ReuseState *state) {
  const uint64_t *keys = at(state, state->keys_offset);
  uint32_t *moments = at(state, state->moments_offset);
  for (uint64_t slot = 0; slot <= state->table_mask; slot++)
    if (keys[slot] != NO_BLOCK) moments[slot] = (uint32_t)(rank(state, moments[slot]) - 1);
  memset(bits_of(state), 0, (size_t)(state->keys_offset - state->bits_offset));
  state->now = 0;
  set_bits(state, state->first_uses);
}

/* --- uses --- */

/* Uses the first blocks of a run: one that is new, or as many as were last used one after the
 * other. Those share one distance: for each, the run so far takes the place of what was used after
 * it in the last run. */
static Status use_some(ReuseState *state, uint64_t block, uint64_t n, uint64_t *used) {
  uint64_t *keys = at(state, state->keys_offset);
  uint32_t *moments = at(state, state->moments_offset);
  uint64_t slot = find_slot(state, block);
  if (keys[slot] == NO_BLOCK && state->first_uses == state->max_blocks) return STATUS_TOO_LARGE;
  if (state->now == state->n_moments) push_together(state);
  const uint64_t now = state->now;
  *used = 1;
  if (keys[slot] == NO_BLOCK) {
    keys[slot] = block;
    moments[slot] = (uint32_t)now;
    state->first_uses++;
  } else {
    const uint64_t moment = moments[slot];
    uint64_t most = WORD_BITS - moment % WORD_BITS; /* within one word of bits */
    if (most > n) most = n;
    if (most > state->n_moments - now) most = state->n_moments - now;
    moments[slot] = (uint32_t)now;
    for (; *used < most; ++*used) {
      slot = find_slot(state, block + *used);
      if (keys[slot] == NO_BLOCK || moments[slot] != moment + *used) break;
      moments[slot] = (uint32_t)(now + *used);
    }
    uint64_t *histogram = at(state, state->histogram_offset);
    histogram[state->first_uses - rank(state, moment)] += *used;
    clear_bits(state, moment, *used);
  }
  set_bits(state, *used);
  state->uses += *used;
  return STATUS_OK;
}

Status reuse_use_range(ReuseState *state, uint64_t first_block, uint64_t n) {
  if (!n || first_block > NO_BLOCK - n) return STATUS_BAD_REQUEST;
  for (uint64_t used; n; first_block += used, n -= used) {
    const Status status = use_some(state, first_block, n, &used);
    if (status != STATUS_OK) return status;
  }
  return STATUS_OK;
}

const uint64_t *reuse_histogram(const ReuseState *state) { return at(state, state->histogram_offset); }

uint64_t reuse_misses(const ReuseState *state, uint64_t capacity_blocks) {
  const uint64_t *histogram = reuse_histogram(state);
  uint64_t misses = state->first_uses;
  for (uint64_t d = capacity_blocks; d < state->max_blocks; d++) misses += histogram[d];
  return misses;
}
