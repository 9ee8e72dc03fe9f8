/* A run of neighbouring sets at once, for one width of word and one of vector. Private to
 * cache_lanes.c, which includes this file with WORD (an unsigned type), VECTOR_BYTES, RUN(x) (x
 * with a suffix of its own) and TARGET (an attribute or nothing) defined. */

#define WORD_LANES (VECTOR_BYTES / (int)sizeof(WORD))

/* A run of `n` neighbouring sets, a multiple of WORD_LANES, that all look up `key`: whole lines,
 * LRU, no partly written sector anywhere. WORD_LANES sets go together, position by position; a lane
 * that has found its line keeps what lies behind it. Every lane does what touch() does. */
typedef WORD RUN(Lanes) __attribute__((vector_size(VECTOR_BYTES)));
typedef RUN(Lanes) RUN(LanesInMemory) __attribute__((aligned(sizeof(WORD)), may_alias));

TARGET static void RUN(run)(CacheState *state, uint64_t set, uint64_t n, uint64_t tag,
                            CacheKind kind) {
  typedef union {
    RUN(Lanes) lanes;
    uint64_t parts[VECTOR_BYTES / 8];
    WORD words[WORD_LANES];
  } View;
  const uint32_t n_sectors = state->sectors_per_line;
  const WORD key = ((WORD)tag + 1) << (2 * n_sectors), tags = (WORD) ~(WORD)0 << (2 * n_sectors);
  const WORD all = (WORD)state->all_sectors, dirty_bits = (WORD)(all << n_sectors);
  const WORD front = key | all | (kind == CACHE_WRITE ? dirty_bits : 0);
  const uint64_t ways = state->config.ways, step = state->position_stride;
  View absent = {.words = {0}}, pushed_out = {.words = {0}}, view;
  uint64_t missed_in_found = 0;
  WORD *words = (WORD *)(void *)((char *)state + state->words_offset) + set;
  for (WORD *end = words + n; words < end; words += WORD_LANES) {
    RUN(Lanes) before = *(RUN(LanesInMemory) *)words;
    view.lanes = (before & ~dirty_bits) ^ (key | all);
    if (!any_bit(view.parts, VECTOR_BYTES / 8)) { /* every lane finds its whole line in front */
      *(RUN(LanesInMemory) *)words = before | front;
      continue;
    }
    RUN(Lanes) done = (RUN(Lanes))((before & tags) == key), found = before & done;
    for (uint64_t p = 1; p < ways; p++) {
      RUN(LanesInMemory) *place = (RUN(LanesInMemory) *)(words + p * step);
      const RUN(Lanes) here = *place, same = (RUN(Lanes))((here & tags) == key);
      *place = (here & done) | (before & ~done);
      found |= here & same;
      done |= same;
      before = here;
      view.lanes = ~done;
      if ((p & 3) == 0 && !any_bit(view.parts, VECTOR_BYTES / 8)) break;
    }
    *(RUN(LanesInMemory) *)words = front | (found & dirty_bits);
    absent.lanes -= ~done;
    const RUN(Lanes) victims = before & ~done, lack = ~found & all & done;
    pushed_out.lanes -= (RUN(Lanes))(victims != 0);
    view.lanes = lack | (victims & dirty_bits);
    if (!any_bit(view.parts, VECTOR_BYTES / 8)) continue;
    for (int i = 0; i < WORD_LANES; i++) { /* now and then: one by one */
      const uint64_t left = (uint64_t)((view.words[i] & dirty_bits) >> n_sectors);
      missed_in_found += count_bits((uint64_t)(view.words[i] & all));
      state->counts.dirty_evictions += left != 0;
      state->counts.written_back_sectors += count_bits(left);
    }
  }
  uint64_t misses = 0;
  for (int i = 0; i < WORD_LANES; i++) {
    misses += (uint64_t)absent.words[i];
    state->counts.evictions += (uint64_t)pushed_out.words[i];
  }
  cache_count_run(state, n, misses, misses * n_sectors + missed_in_found, kind);
}

#undef WORD
#undef WORD_LANES
#undef VECTOR_BYTES
#undef RUN
#undef TARGET
