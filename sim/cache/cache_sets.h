/* The work inside the sets, for one width of word. Private to cache.c, which includes this file
 * once per width with WORD (an unsigned type) and NAME(x) (x with a suffix) defined.
 *
 * A word is  tag + 1 | dirty bits | valid bits,  the bits one per sector; 0 is an empty place. All
 * functions take the words of one set, `words`, and the place `front` of its position 0. */

static inline WORD NAME(tag_mask)(const CacheState *state) { return (WORD) ~(WORD)0 << (2 * state->sectors_per_line); }

static inline WORD NAME(key)(const CacheState *state, uint64_t tag) {
  return ((WORD)tag + 1) << (2 * state->sectors_per_line);
}

static inline WORD *NAME(set_words)(CacheState *state, uint64_t set) {
  return (WORD *)(void *)((char *)state + state->words_offset) + set * state->set_stride;
}

static inline WORD *NAME(at)(const CacheState *state, WORD *words, uint64_t front, uint64_t position) {
  return words + cache_place(state, front, position) * state->position_stride;
}

/* The position of a line in its set, or `ways`. */
static uint64_t NAME(find)(const CacheState *state, uint64_t set, uint64_t tag, WORD *words, uint64_t front) {
  const WORD mask = NAME(tag_mask)(state), key = NAME(key)(state, tag);
  const uint64_t ways = state->config.ways;
  if (state->many_offset) {
    uint64_t place = cache_many_first(state, set, tag);
    for (; place != CACHE_NOWHERE; place = cache_many_next(state, place))
      if (place / ways == set && (words[place % ways] & mask) == key) return place % ways;
    return ways;
  }
  for (uint64_t p = 0; p < ways; p++)
    if ((*NAME(at)(state, words, front, p) & mask) == key) return p;
  return ways;
}

/* Makes room at the front: the words of positions 0..last-1 move one back. */
static void NAME(shift)(const CacheState *state, WORD *words, uint64_t front, uint64_t last) {
  if (state->position_stride == 1)
    memmove(words + 1, words, (size_t)last * sizeof(WORD));
  else
    for (uint64_t p = last; p > 0; p--) *NAME(at)(state, words, front, p) = *NAME(at)(state, words, front, p - 1);
}

/* Counts the line that leaves, and gives its place back. */
static void NAME(evict)(CacheState *state, uint64_t set, WORD word, CacheEvent *event) {
  if (!word) return;
  const uint32_t n = state->sectors_per_line;
  const uint64_t valid = (uint64_t)word & state->all_sectors;
  const uint64_t dirty = (uint64_t)(word >> n) & state->all_sectors;
  state->counts.evictions++;
  if (dirty) {
    state->counts.dirty_evictions++;
    state->counts.written_back_sectors += count_bits(dirty);
    state->partial_sectors -= count_bits(dirty & ~valid);
  }
  if (event) {
    event->evicted = true;
    event->victim_address = line_of(state, set, (uint64_t)(word >> (2 * n)) - 1) * state->config.line_bytes;
    event->victim_dirty_sectors = (uint32_t)dirty;
  }
}

/* Finds a place for a line that is not there: its position, emptied. */
static uint64_t NAME(make_room)(CacheState *state, uint64_t set, uint64_t tag, WORD *words, uint64_t front,
                                CacheEvent *event) {
  const uint64_t ways = state->config.ways;
  uint64_t place = ways - 1; /* LRU and FIFO: empty places gather at the end */
  const bool by_order = state->config.policy == CACHE_LRU || state->config.policy == CACHE_FIFO;
  if (state->many_offset)
    place = cache_many_last(state, set) - set * ways;
  else if (!by_order)
    for (place = 0; place + 1 < ways && *NAME(at)(state, words, front, place); place++) {
    }
  if (!by_order && *NAME(at)(state, words, front, place)) place = pick_victim(state, set);
  WORD *given_up = NAME(at)(state, words, front, place);
  const WORD victim = *given_up;
  NAME(evict)(state, set, victim, event);
  *given_up = 0;
  if (state->many_offset) {
    const uint64_t victim_tag = (uint64_t)(victim >> (2 * state->sectors_per_line)) - 1;
    if (victim) cache_many_remove(state, set, victim_tag, set * ways + place);
    cache_many_insert(state, set, tag, set * ways + place);
  }
  return place;
}

/* Brings a line that was found (or just placed, `hit` false) to the front, where the policy keeps
 * an order. Returns its position now. */
static uint64_t NAME(reorder)(CacheState *state, uint64_t set, WORD *words, uint64_t front, uint64_t place, bool hit) {
  const CachePolicy policy = state->config.policy;
  if (policy == CACHE_TREE_PLRU) tree_touch(state, set, place);
  if (policy != CACHE_LRU && hit) return place;
  if (state->many_offset) {
    cache_many_to_front(state, set, set * state->config.ways + place);
    return place;
  }
  if (!place || (policy != CACHE_LRU && policy != CACHE_FIFO)) return place;
  NAME(shift)(state, words, front, place);
  if (state->partial_sectors) masks_shift(state, set, place);
  return 0;
}

/* From `word` to `end` every word moves one place back, up to the one that is looked for, which is
 * the result (0: not there). *before enters the first place; then it is the last word passed. */
static inline WORD NAME(move_back)(WORD *word, const WORD *end, uint64_t step, WORD mask, WORD key, WORD *before) {
  for (; word != end; word += step) {
    const WORD here = *word;
    *word = *before;
    *before = here;
    if ((here & mask) == key) return here;
  }
  return 0;
}

/* What most look-ups are, done in one pass: LRU kept by order, nothing written in part, no event
 * asked for; `sectors` holds n ones. */
static inline void NAME(touch_plain)(CacheState *state, uint64_t set, uint64_t tag, uint64_t sectors, uint64_t n,
                                     CacheKind kind) {
  const WORD mask = NAME(tag_mask)(state), key = NAME(key)(state, tag);
  const uint64_t front = cache_front(state, set), step = state->position_stride;
  CacheCounts *counts = &state->counts;
  WORD *words = NAME(set_words)(state, set), *first = words + front * step, found = *first;
  if ((found & mask) != key) {
    WORD before = found;
    found = NAME(move_back)(first + step, words + state->config.ways * step, step, mask, key, &before);
    if (!found && front) found = NAME(move_back)(words, first, step, mask, key, &before);
    if (!found) {
      counts->line_misses++;
      NAME(evict)(state, set, before, NULL);
    }
  }
  const uint64_t missed = sectors & ~(uint64_t)found;
  const uint64_t n_missed = missed == sectors ? n : missed ? count_bits(missed) : 0;
  counts->lines_touched++;
  if (kind == CACHE_READ) {
    counts->read_sectors += n;
    counts->read_sector_misses += n_missed;
    *first = found | key | (WORD)sectors;
  } else {
    counts->write_sectors += n;
    counts->write_sector_absent += n_missed;
    *first = found | key | (WORD)sectors | (WORD)sectors << state->sectors_per_line;
  }
}

/* One look-up. */
static void NAME(touch)(CacheState *state, const Touch *touch, CacheEvent *event) {
  const uint32_t n = state->sectors_per_line;
  WORD *words = NAME(set_words)(state, touch->set);
  const WORD key = NAME(key)(state, touch->tag);
  const uint64_t front = cache_front(state, touch->set);
  CacheCounts *counts = &state->counts;
  uint64_t place = NAME(find)(state, touch->set, touch->tag, words, front);
  const bool hit = place < state->config.ways;
  if (!hit) place = NAME(make_room)(state, touch->set, touch->tag, words, front, event);
  const WORD word = *NAME(at)(state, words, front, place);
  uint64_t valid = (uint64_t)word & state->all_sectors;
  uint64_t dirty = (uint64_t)(word >> n) & state->all_sectors;
  counts->lines_touched++;
  counts->line_misses += !hit;

  uint64_t missed, partly = 0;
  if (touch->kind == CACHE_READ) {
    missed = touch->sectors & ~valid;
    counts->read_sectors += count_bits(touch->sectors);
    counts->read_sector_misses += count_bits(missed);
    state->partial_sectors -= count_bits(missed & dirty);
    valid |= touch->sectors;
  } else {
    missed = touch->sectors & ~(valid | dirty);
    counts->write_sectors += count_bits(touch->sectors);
    counts->write_sector_absent += count_bits(missed);
    state->partial_sectors -= count_bits(touch->whole & dirty & ~valid);
    valid |= touch->whole;
    partly = touch->sectors & ~valid;
    state->partial_sectors += count_bits(partly & ~dirty);
    dirty |= touch->sectors;
  }
  if (event) {
    event->line_hit = hit;
    *(touch->kind == CACHE_READ ? &event->fetched_sectors : &event->absent_sectors) = (uint32_t)missed;
  }

  place = NAME(reorder)(state, touch->set, words, front, place, hit);
  if (partly) valid |= masks_mark(state, touch, place, partly, missed);
  *NAME(at)(state, words, front, place) = key | (WORD)dirty << n | (WORD)valid;
}

#undef WORD
#undef NAME
