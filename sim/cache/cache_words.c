/* How wide the words are.
 *
 * A word is  tag + 1 | dirty bits | valid bits,  and the time of a look-up is that of moving words.
 * Few traces need all tags that address_bits allow, so words begin narrow, for a window of tags:
 *
 *     0 ........ first_accepted [ tag_base ... tag_base + 2^n - 2 ] last_accepted ........ the end
 *                                          ^ the first address
 *
 * Words hold tag - tag_base. The first access beyond the window makes all words wide, once; they
 * then hold any tag. */
#include "sim/cache/cache_private.h"

/* Wide words take any address; narrow ones none, until the first one has placed the window. */
static void set_word_bits(CacheState *state, uint32_t bits) {
  const bool wide = bits == state->wide_bits;
  state->word_bits = bits;
  state->tag_base = 0;
  state->first_accepted = wide ? 0 : 1;
  state->last_accepted = wide ? state->address_end - 1 : 0;
}

void cache_words_reset(CacheState *state) { set_word_bits(state, state->narrow_bits); }

/* In place, from the last word to the first: wide word i covers the narrow ones 2i and 2i + 1, or
 * 4i to 4i + 3, all of which have been read by then. */
static inline void rewrite(CacheState *state, uint32_t from, uint32_t to) {
  const Wide base = (Wide)state->tag_base << (2 * state->sectors_per_line);
  for (uint64_t i = (state->masks_offset - state->words_offset) * 8 / to; i-- > 0;) {
    const Wide word = cache_get_word(state, i, from);
    cache_put_word(state, i, to, word ? word + base : 0);
  }
}

static void widen(CacheState *state) {
  if (state->wide_bits == 64)
    rewrite(state, 32, 64);
  else
    rewrite(state, state->word_bits, 128);
  set_word_bits(state, state->wide_bits);
}

/* Around `address`, as far as the address space goes. Narrow words do not hold all its tags, so
 * last_tag >= n_tags. */
static void place_window(CacheState *state, uint64_t address) {
  const uint64_t tag_bytes = state->config.line_bytes * (state->tag_is_line ? 1 : state->sets);
  const uint64_t n_tags = ones(state->word_bits - 2 * state->sectors_per_line); /* of tag + 1 > 0 */
  const uint64_t tag = address / tag_bytes, last_tag = (state->address_end - 1) / tag_bytes;
  uint64_t base = tag > n_tags / 2 ? tag - n_tags / 2 : 0;
  if (base > last_tag - n_tags + 1) base = last_tag - n_tags + 1;
  state->tag_base = base;
  state->first_accepted = base * tag_bytes;
  state->last_accepted =
      last_tag - base < n_tags ? state->address_end - 1 : state->first_accepted + (n_tags * tag_bytes - 1);
}

bool cache_words_admit(CacheState *state, uint64_t address, uint64_t bytes) {
  const uint64_t last = address + (bytes - 1);
  if (!bytes || last < address || last > state->address_end - 1) return false;
  if (state->first_accepted > state->last_accepted) place_window(state, address);
  if (!cache_words_fit(state, address, bytes)) widen(state);
  return true;
}
