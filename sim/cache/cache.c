#include "sim/cache/cache.h"
#include "sim/cache/cache_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One line's share of an access. */
typedef struct {
  uint64_t set, tag;
  uint64_t first_byte, last_byte; /* within the line */
  uint64_t sectors, whole;        /* touched; covered completely */
  CacheKind kind;
} Touch;

static inline uint64_t divide(uint64_t x, uint64_t by, uint64_t shift) {
  return shift < NO_SHIFT ? x >> shift : x / by;
}

/* --- layout in memory --- */

static uint64_t align_up(uint64_t bytes) { return (bytes + 63) & ~(uint64_t)63; }

/* Words of fewer tag bits would soon be too narrow. */
enum { NARROW_TAG_BITS = 16 };

static uint32_t word_bits_for(uint32_t bits) { return bits <= 32 ? 32 : bits <= 64 ? 64 : 128; }

/* Everything that follows from the config; the counts are zero. */
static Status plan(const CacheConfig *config, CacheState *state, Error *error) {
  memset(state, 0, sizeof *state);
  CacheConfig *c = &state->config;
  const Status status = cache_config_resolve(config, c, error);
  if (status) return status;
  const uint64_t sets = c->size_bytes / c->line_bytes / c->ways, lines = sets * c->ways;
  state->sets = sets;
  state->sectors_per_line = (uint32_t)(c->line_bytes / c->sector_bytes);
  state->all_sectors = ones(state->sectors_per_line);
  state->address_end = c->address_bits < 64 ? (uint64_t)1 << c->address_bits : 0;
  state->line_shift = log2_exact(c->line_bytes);
  state->sector_shift = log2_exact(c->sector_bytes);
  state->set_shift = log2_exact(state->sets);
  state->tag_is_line =
      c->index == CACHE_INDEX_RANDOM ||
      (c->index == CACHE_INDEX_XOR && (state->set_shift == NO_SHIFT || c->xor_shift_bits < state->set_shift));
  const uint64_t last_line = (state->address_end - 1) / c->line_bytes;
  const uint64_t last_tag = state->tag_is_line ? last_line : last_line / state->sets;
  const uint32_t tag_bits = last_tag == UINT64_MAX ? 65 : 64 - (uint32_t)__builtin_clzll(last_tag + 1);
  const bool by_set = c->layout == CACHE_LAYOUT_BY_SET;
  const bool many = by_set && c->ways > CACHE_SEARCH_MAX_WAYS;
  state->wide_bits = word_bits_for(tag_bits + 2 * state->sectors_per_line);
  state->narrow_bits = many || tag_bits < NARROW_TAG_BITS /* the table of cache_many.c knows lines by their tags */
                           ? state->wide_bits
                           : word_bits_for(NARROW_TAG_BITS + 2 * state->sectors_per_line);
  const uint64_t lanes = 512 / state->narrow_bits; /* one more group of them keeps positions off one host set */
  state->set_stride = by_set ? c->ways : 1;
  state->position_stride = by_set ? 1 : (sets + lanes - 1) / lanes * lanes + lanes;
  state->mask_bytes = c->no_byte_masks || c->sector_bytes == 1 ? 0 : (c->line_bytes + 7) / 8;
  state->words_offset = align_up(sizeof *state);
  const uint64_t words = by_set ? lines : state->position_stride * c->ways;
  state->masks_offset = state->words_offset + align_up(words * state->wide_bits / 8);
  state->tree_offset = state->masks_offset + align_up(lines * state->mask_bytes);
  state->state_bytes = state->tree_offset + (c->policy == CACHE_TREE_PLRU ? align_up(sets * 8) : 0);
  if (many) {
    state->many_offset = state->state_bytes;
    state->state_bytes += align_up(cache_many_bytes(lines, sets));
  }
  state->lru_by_order = c->policy == CACHE_LRU && !state->many_offset;
  if (c->policy == CACHE_LRU && !by_set) {
    state->fronts_offset = state->state_bytes;
    state->state_bytes += align_up((sets / CACHE_GROUP_SETS + 1) * sizeof(uint32_t));
  }
  state->by_shifts = state->lru_by_order && c->index == CACHE_INDEX_MODULO && state->line_shift < NO_SHIFT &&
                     state->sector_shift < NO_SHIFT && state->set_shift < NO_SHIFT;
  state->random = c->seed;
  return STATUS_OK;
}

uint64_t cache_state_bytes(const CacheConfig *config) {
  CacheState state;
  return plan(config, &state, NULL) == STATUS_OK ? state.state_bytes : 0;
}

Status cache_new(CacheState **state, const CacheConfig *config, Error *error) {
  CacheState planned;
  *state = NULL;
  const Status status = plan(config, &planned, error);
  if (status) return status;
  const uint64_t bytes = align_up(planned.state_bytes);
  if (bytes < PTRDIFF_MAX) *state = aligned_alloc(64, (size_t)bytes);
  if (!*state) return error_no_memory(error, "for the cache (%ju bytes)", bytes);
  **state = planned;
  cache_reset(*state);
  return STATUS_OK;
}

void cache_reset(CacheState *state) {
  memset((char *)state + sizeof *state, 0, (size_t)state->state_bytes - sizeof *state);
  memset(&state->counts, 0, sizeof state->counts);
  state->partial_sectors = 0;
  state->random = state->config.seed;
  cache_words_reset(state);
  if (state->many_offset) cache_many_reset(state);
}

/* --- where a line goes --- */

static inline uint64_t fold(uint64_t line, uint32_t bits) {
  uint64_t x = 0;
  for (; line; line = bits < 64 ? line >> bits : 0) x ^= line;
  return x;
}

static inline void locate(const CacheState *state, uint64_t line, uint64_t *set, uint64_t *tag) {
  const uint64_t sets = state->sets;
  uint64_t hashed = line;
  if (state->config.index == CACHE_INDEX_XOR) hashed = fold(line, state->config.xor_shift_bits);
  if (state->config.index == CACHE_INDEX_RANDOM)
    *set = mul_high_long(mix(line ^ mix(state->config.seed)), sets);
  else
    *set = state->set_shift < NO_SHIFT ? hashed & (sets - 1) : hashed % sets;
  *tag = (state->tag_is_line ? line : divide(line, sets, state->set_shift)) - state->tag_base;
}

/* The inverse: which line it is that has this tag in this set. */
static uint64_t line_of(const CacheState *state, uint64_t set, uint64_t tag) {
  tag += state->tag_base;
  if (state->tag_is_line) return tag;
  if (state->config.index == CACHE_INDEX_MODULO) return tag * state->sets + set;
  const uint64_t high = tag << state->set_shift;
  return high | ((set ^ fold(high, state->config.xor_shift_bits)) & (state->sets - 1));
}

/* --- bytes of partly written sectors --- */

static unsigned char *masks_of(CacheState *state, uint64_t set, uint64_t place) {
  unsigned char *masks = (unsigned char *)state + state->masks_offset;
  return masks + (set * state->config.ways + place) * state->mask_bytes;
}

/* Follows NAME(shift): the mask of `place` goes to the front, those before it one back. */
static void masks_shift(CacheState *state, uint64_t set, uint64_t place) {
  unsigned char *front = masks_of(state, set, 0);
  for (uint64_t p = place; p > 0; p--)
    for (uint64_t i = 0; i < state->mask_bytes; i++) {
      unsigned char *a = front + (p - 1) * state->mask_bytes + i, *b = a + state->mask_bytes;
      const unsigned char kept = *a;
      *a = *b, *b = kept;
    }
}

/* Marks the bytes stored into the sectors `partly`, after forgetting what the mask said of those
 * that were not there (`fresh`). Returns the sectors that have now been written completely. */
static uint64_t masks_mark(CacheState *state, const Touch *touch, uint64_t place, uint64_t partly, uint64_t fresh) {
  if (!state->mask_bytes) return 0;
  unsigned char *mask = masks_of(state, touch->set, place);
  const uint64_t sector_bytes = state->config.sector_bytes;
  uint64_t complete = 0;
  for (; partly; partly &= partly - 1) {
    const uint64_t sector = (uint64_t)__builtin_ctzll(partly), begin = sector * sector_bytes;
    bool full = true;
    for (uint64_t byte = begin; byte < begin + sector_bytes; byte++) {
      const unsigned char bit = (unsigned char)(1u << (byte & 7));
      unsigned char *in = &mask[byte >> 3];
      if (fresh >> sector & 1) *in &= (unsigned char)~bit;
      if (touch->first_byte <= byte && byte <= touch->last_byte) *in |= bit;
      full &= (*in & bit) != 0;
    }
    if (full) complete |= (uint64_t)1 << sector;
  }
  state->partial_sectors -= count_bits(complete);
  return complete;
}

/* --- replacement other than by order --- */

static uint64_t *tree_of(CacheState *state, uint64_t set) {
  return (uint64_t *)(void *)((char *)state + state->tree_offset) + set;
}

/* Tree-PLRU: node 1 is the root, node i has children 2i and 2i+1; a bit points at the half to give
 * up next. Touching a way turns every bit on its path away from it. */
static void tree_touch(CacheState *state, uint64_t set, uint64_t way) {
  uint64_t *tree = tree_of(state, set);
  for (uint64_t node = way + state->config.ways; node > 1; node /= 2) {
    const uint64_t bit = (uint64_t)1 << (node / 2 - 1);
    *tree = node & 1 ? *tree & ~bit : *tree | bit;
  }
}

static uint64_t pick_victim(CacheState *state, uint64_t set) {
  const uint64_t ways = state->config.ways;
  if (state->config.policy == CACHE_RANDOM) return mul_high_long(mix(state->random++), ways);
  const uint64_t tree = *tree_of(state, set);
  uint64_t node = 1;
  while (node < ways) node = 2 * node + (tree >> (node - 1) & 1);
  return node - ways;
}

/* --- the sets, for each width of word --- */

#define WORD    uint32_t
#define NAME(x) x##_32
#include "sim/cache/cache_sets.h"

#define WORD    uint64_t
#define NAME(x) x##_64
#include "sim/cache/cache_sets.h"

#define WORD    Wide
#define NAME(x) x##_128
#include "sim/cache/cache_sets.h"

__attribute__((noinline)) static void touch(CacheState *state, const Touch *one, CacheEvent *event) {
  if (state->word_bits == 32)
    touch_32(state, one, event);
  else if (state->word_bits == 64)
    touch_64(state, one, event);
  else
    touch_128(state, one, event);
}

static inline void touch_plain(CacheState *state, uint64_t set, uint64_t tag, uint64_t sectors, uint64_t n,
                               CacheKind kind) {
  if (state->word_bits == 32)
    touch_plain_32(state, set, tag, sectors, n, kind);
  else if (state->word_bits == 64)
    touch_plain_64(state, set, tag, sectors, n, kind);
  else
    touch_plain_128(state, set, tag, sectors, n, kind);
}

/* --- accesses --- */

/* The sectors that bytes first..last of a line touch, and those that they cover. */
static inline void split_line(const CacheState *state, uint64_t first, uint64_t last, uint64_t *sectors,
                              uint64_t *whole) {
  const uint64_t sector_bytes = state->config.sector_bytes, shift = state->sector_shift;
  *sectors = *whole = state->all_sectors;
  if (first == 0 && last + 1 == state->config.line_bytes) return;
  *sectors = ones(divide(last, sector_bytes, shift) + 1) & ~ones(divide(first, sector_bytes, shift));
  *whole = ones(divide(last + 1, sector_bytes, shift)) & ~ones(divide(first + sector_bytes - 1, sector_bytes, shift));
}

/* Looks up bytes first..last of one line. */
static void access_line(CacheState *state, uint64_t line, uint64_t first, uint64_t last, CacheKind kind,
                        CacheEvent *event) {
  uint64_t set, tag, sectors, whole;
  locate(state, line, &set, &tag);
  if (set >= state->sets) return;
  split_line(state, first, last, &sectors, &whole);
  if (state->lru_by_order && (kind == CACHE_READ || sectors == whole) && !event && !state->partial_sectors) {
    touch_plain(state, set, tag, sectors, count_bits(sectors), kind);
    return;
  }
  const Touch one = {set, tag, first, last, sectors, whole, kind};
  touch(state, &one, event);
}

static inline bool accepts(CacheState *state, uint64_t address, uint64_t bytes) {
  return cache_words_fit(state, address, bytes) || cache_words_admit(state, address, bytes);
}

/* The usual access of the usual cache: LRU, modulo, sizes that are powers of two; within one line,
 * whole sectors where it is a store. Where it is another one: false, and nothing was done. */
static inline bool access_by_shifts(CacheState *state, uint64_t address, uint64_t bytes, CacheKind kind) {
  if (!state->by_shifts || state->partial_sectors) return false;
  const uint64_t line = address >> state->line_shift, end = address + (bytes - 1);
  if (end >> state->line_shift != line) return false;
  if (kind == CACHE_WRITE && ((address | (end + 1)) & (state->config.sector_bytes - 1))) return false;
  const uint64_t set = (line & (state->sets - 1));
  state->counts.accesses++;
  const uint64_t in_line = state->config.line_bytes - 1;
  const uint64_t begin = (address & in_line) >> state->sector_shift, last = (end & in_line) >> state->sector_shift;
  const uint64_t sectors = ((uint64_t)2 << last) - ((uint64_t)1 << begin);
  const uint64_t tag = (line >> state->set_shift) - state->tag_base;
  touch_plain(state, set, tag, sectors, last - begin + 1, kind);
  return true;
}

/* Apart, so that the usual access keeps nothing over a call. */
__attribute__((noinline)) static Status admit_and_access(CacheState *state, uint64_t address, uint64_t bytes,
                                                         CacheKind kind) {
  if (!cache_words_admit(state, address, bytes)) return STATUS_BAD_REQUEST;
  return cache_access(state, address, bytes, kind);
}

Status cache_access(CacheState *state, uint64_t address, uint64_t bytes, CacheKind kind) {
  if (!cache_words_fit(state, address, bytes)) return admit_and_access(state, address, bytes, kind);
  if (access_by_shifts(state, address, bytes, kind)) return STATUS_OK;
  const uint64_t line_bytes = state->config.line_bytes, end = address + (bytes - 1);
  const uint64_t last_line = divide(end, line_bytes, state->line_shift);
  uint64_t line = divide(address, line_bytes, state->line_shift), first = address - line * line_bytes;
  state->counts.accesses++;
  for (; line < last_line; line++, first = 0) access_line(state, line, first, line_bytes - 1, kind, NULL);
  access_line(state, line, first, end - last_line * line_bytes, kind, NULL);
  return STATUS_OK;
}

Status cache_access_line(CacheState *state, uint64_t address, uint64_t bytes, CacheKind kind, CacheEvent *event) {
  const uint64_t line_bytes = state->config.line_bytes;
  const uint64_t line = divide(address, line_bytes, state->line_shift), first = address - line * line_bytes;
  if (bytes > line_bytes - first || !accepts(state, address, bytes)) return STATUS_BAD_REQUEST;
  memset(event, 0, sizeof *event);
  state->counts.accesses++;
  access_line(state, line, first, first + bytes - 1, kind, event);
  return STATUS_OK;
}

/* How many lines from `line` on cache_run can take at once: they share a tag, lie in neighbouring
 * sets and fill whole groups of lanes. With an XOR index an aligned group of 2^k lines fills an
 * aligned group of sets in some order, and between different sets the order does not matter. */
static uint64_t run_length(const CacheState *state, uint64_t line, uint64_t n_lines, uint64_t *set, uint64_t *tag) {
  const uint64_t lanes = state->config.vector_bytes * 8 / state->word_bits;
  if (n_lines < lanes || state->partial_sectors) return 0;
  locate(state, line, set, tag);
  if (state->config.index == CACHE_INDEX_MODULO) {
    if (*set % lanes) return 0;
    const uint64_t until_wrap = state->sets - *set;
    return (n_lines < until_wrap ? n_lines : until_wrap) / lanes * lanes;
  }
  if (line % lanes || state->set_shift == NO_SHIFT || state->sets < lanes) return 0;
  *set &= ~(lanes - 1);
  return lanes;
}

static bool has_runs(const CacheState *state) {
  return state->position_stride != 1 && state->word_bits != 128 && state->config.policy == CACHE_LRU &&
         state->config.index != CACHE_INDEX_RANDOM && !state->tag_is_line;
}

Status cache_access_range(CacheState *state, uint64_t address, uint64_t bytes, CacheKind kind) {
  if (!accepts(state, address, bytes)) return STATUS_BAD_REQUEST;
  const uint64_t line_bytes = state->config.line_bytes, end = address + (bytes - 1);
  const uint64_t last_line = divide(end, line_bytes, state->line_shift);
  uint64_t line = divide(address, line_bytes, state->line_shift), first = address - line * line_bytes,
           left = last_line - line + 1;
  const uint64_t cut = end - last_line * line_bytes != line_bytes - 1; /* the last line is not whole */
  const bool runs = has_runs(state);
  state->counts.accesses += left;
  for (uint64_t n; left; left -= n, line += n, first = 0) { /* line may wrap when nothing is left */
    uint64_t set, tag;
    n = runs && !first ? run_length(state, line, left - cut, &set, &tag) : 0;
    if (n) {
      cache_run(state, set, n, tag, kind);
      continue;
    }
    n = 1;
    const uint64_t last = left == 1 ? end - last_line * line_bytes : line_bytes - 1;
    access_line(state, line, first, last, kind, NULL);
  }
  return STATUS_OK;
}

/* --- looking and emptying --- */

static uint64_t word_of(const CacheState *state, uint64_t set, uint64_t position) {
  const uint64_t place = cache_place(state, cache_front(state, set), position);
  return set * state->set_stride + place * state->position_stride;
}

CacheLine cache_peek(const CacheState *state, uint64_t set, uint64_t position) {
  const Wide word = cache_get_word(state, word_of(state, set, position), state->word_bits);
  CacheLine line = {0};
  if (!word) return line;
  const uint32_t n = state->sectors_per_line;
  line.present = true;
  line.address = line_of(state, set, (uint64_t)(word >> (2 * n)) - 1) * state->config.line_bytes;
  line.valid_sectors = (uint32_t)((uint64_t)word & state->all_sectors);
  line.dirty_sectors = (uint32_t)((uint64_t)(word >> n) & state->all_sectors);
  return line;
}

void cache_flush(CacheState *state) {
  const uint32_t n = state->sectors_per_line;
  for (uint64_t set = 0; set < state->sets; set++)
    for (uint64_t position = 0; position < state->config.ways; position++) {
      const uint64_t i = word_of(state, set, position);
      const Wide word = cache_get_word(state, i, state->word_bits);
      const Wide dirty = word & (Wide)state->all_sectors << n;
      state->counts.written_back_sectors += count_bits((uint64_t)(dirty >> n));
      if (dirty) cache_put_word(state, i, state->word_bits, word & ~dirty);
    }
  state->partial_sectors = 0;
}

void cache_empty(CacheState *state) {
  const CacheCounts counts = state->counts;
  const uint64_t random = state->random;
  cache_reset(state);
  state->counts = counts;
  state->random = random;
}

/* The line at a position, where it lies among bytes first..last. */
static void purge_line(CacheState *state, uint64_t set, uint64_t position, uint64_t first, uint64_t last, bool forget) {
  const CacheLine line = cache_peek(state, set, position);
  const uint64_t line_last = state->config.line_bytes - 1;
  if (!line.present || last < line.address || first > line.address + line_last) return;
  const uint64_t from = first > line.address ? first - line.address : 0,
                 to = last - line.address < line_last ? last - line.address : line_last;
  uint64_t sectors, whole;
  split_line(state, from, to, &sectors, &whole);
  const uint32_t n = state->sectors_per_line;
  const uint64_t i = word_of(state, set, position);
  Wide word = cache_get_word(state, i, state->word_bits);
  const uint64_t dirty = line.dirty_sectors & sectors;
  if (!forget) state->counts.written_back_sectors += count_bits(dirty);
  state->partial_sectors -=
      count_bits(dirty & ~(uint64_t)line.valid_sectors); /* partly written ones leave in any case */
  word &= ~((Wide)dirty << n);
  if (forget) word &= ~(Wide)(line.valid_sectors & sectors);
  cache_put_word(state, i, state->word_bits, word);
}

void cache_purge(CacheState *state, uint64_t address, uint64_t bytes, bool forget) {
  const uint64_t last = bytes - 1 > UINT64_MAX - address ? UINT64_MAX : address + (bytes - 1);
  const uint64_t line_bytes = state->config.line_bytes;
  uint64_t line = divide(address, line_bytes, state->line_shift);
  const uint64_t last_line = divide(last, line_bytes, state->line_shift);
  if (!bytes) return;
  if (last_line - line >= state->sets) { /* every set has some of these lines */
    for (uint64_t set = 0; set < state->sets; set++)
      for (uint64_t p = 0; p < state->config.ways; p++) purge_line(state, set, p, address, last, forget);
    return;
  }
  for (;; line++) {
    uint64_t set, tag;
    locate(state, line, &set, &tag);
    for (uint64_t p = 0; set < state->sets && p < state->config.ways; p++)
      purge_line(state, set, p, address, last, forget);
    if (line == last_line) return;
  }
}

uint64_t cache_set_of(const CacheState *state, uint64_t address) {
  uint64_t set, tag;
  locate(state, divide(address, state->config.line_bytes, state->line_shift), &set, &tag);
  return set;
}

/* Sector misses and hits as ncu shows them: stores always hit. */
static uint64_t cache_hit_sectors(const CacheCounts *counts) {
  return counts->read_sectors - counts->read_sector_misses + counts->write_sectors;
}

double cache_hit_rate(const CacheCounts *counts) {
  const uint64_t sectors = counts->read_sectors + counts->write_sectors;
  return sectors ? (double)cache_hit_sectors(counts) / (double)sectors : 1;
}
