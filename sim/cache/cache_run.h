/* A run of neighbouring sets at once, for one width of word and one of vector. Private to
 * cache_lanes.c, which includes this file with WORD (an unsigned type), VECTOR_BYTES, RUN(x) (x
 * with a suffix of its own) and TARGET (an attribute or nothing) defined. */

#define WORD_LANES (VECTOR_BYTES / (int)sizeof(WORD))

typedef WORD RUN(Lanes) __attribute__((vector_size(VECTOR_BYTES)));
typedef RUN(Lanes) RUN(LanesInMemory) __attribute__((aligned(sizeof(WORD)), may_alias));
typedef union {
  RUN(Lanes) lanes;
  uint64_t parts[VECTOR_BYTES / 8];
  WORD words[WORD_LANES];
} RUN(View);

/* What a run looks for and what it leaves; every lane the same. */
typedef struct {
  RUN(Lanes) key, tags; /* a word of this line, as far as its tag goes */
  RUN(Lanes) all, dirty_bits;
  RUN(Lanes) front; /* the word in front afterwards, but for dirty bits that were there before */
} RUN(Wanted);

/* What it counts. */
typedef struct {
  RUN(View) absent, evictions; /* lines, by lane */
  uint64_t missed_in_found;    /* sectors of lines that were there */
} RUN(Sums);

TARGET static inline bool RUN(any)(RUN(Lanes) lanes) {
  const RUN(View) view = {lanes};
  return any_bit(view.parts, VECTOR_BYTES / 8);
}

/* Where every set of a group has the whole line in front: stays so, dirty after a store. */
TARGET static inline bool RUN(in_front)(WORD *first, const RUN(Wanted) * wanted) {
  RUN(Lanes) other = {0};
  for (int i = 0; i < CACHE_GROUP_SETS; i += WORD_LANES)
    other |= (*(RUN(LanesInMemory) *)(first + i) & ~wanted->dirty_bits) ^ (wanted->key | wanted->all);
  if (RUN(any)(other)) return false;
  for (int i = 0; i < CACHE_GROUP_SETS; i += WORD_LANES) *(RUN(LanesInMemory) *)(first + i) |= wanted->front;
  return true;
}

/* Lanes of ones where the group's words in one place are of this line, in all its sets (`every`) or
 * in any of them. */
TARGET static inline RUN(Lanes) RUN(holds)(const WORD *words, const RUN(Wanted) * wanted, bool every) {
  RUN(Lanes) sum = every ? ~(RUN(Lanes)){0} : (RUN(Lanes)){0};
  for (int i = 0; i < CACHE_GROUP_SETS; i += WORD_LANES) {
    const RUN(Lanes) here = *(const RUN(LanesInMemory) *)(words + i),
                     same = (RUN(Lanes))((here & wanted->tags) == wanted->key);
    sum = every ? sum & same : sum | same;
  }
  return sum;
}

/* Whether the line is last in every set of a group, or in no place of any. */
TARGET static inline bool RUN(turns)(const CacheState *state, const WORD *words, uint64_t last,
                                     const RUN(Wanted) * wanted) {
  const uint64_t ways = state->config.ways, step = state->position_stride;
  if (!RUN(any)(~RUN(holds)(words + last * step, wanted, true))) return true;
  RUN(Lanes) found = {0};
  for (uint64_t place = 0; place < ways; place++) {
    found |= RUN(holds)(words + place * step, wanted, false);
    if ((place & 7) == 7 && RUN(any)(found)) return false;
  }
  return !RUN(any)(found);
}

/* Looks the line up in WORD_LANES sets together, position by position; a lane that has found its
 * line keeps what lies behind it. Every lane does what touch() does. `turned`: the ring has been
 * turned, so what is in front is what was last, or a line that leaves. */
TARGET static inline void RUN(look_up)(CacheState *state, WORD *words, uint64_t front, bool turned,
                                       const RUN(Wanted) * wanted, RUN(Sums) * sums) {
  const uint64_t ways = state->config.ways, step = state->position_stride;
  const RUN(Lanes) key = wanted->key, tags = wanted->tags, dirty_bits = wanted->dirty_bits;
  RUN(LanesInMemory) *first = (RUN(LanesInMemory) *)(words + front * step);
  RUN(Lanes) before = *first;
  RUN(Lanes) done = (RUN(Lanes))((before & tags) == key), found = before & done;
  for (uint64_t p = turned ? ways : 1; p < ways && RUN(any)(~done);) {
    const uint64_t four = p + 4 < ways ? p + 4 : ways; /* asked once in four positions */
    for (; p < four; p++) {
      WORD *place = words + cache_place(state, front, p) * step;
      const RUN(Lanes) here = *(RUN(LanesInMemory) *)place;
      const RUN(Lanes) same = (RUN(Lanes))((here & tags) == key);
      *(RUN(LanesInMemory) *)place = (here & done) | (before & ~done);
      found |= here & same;
      done |= same;
      before = here;
    }
  }
  *first = wanted->front | (found & dirty_bits);
  const RUN(Lanes) victims = before & ~done, lack = ~found & wanted->all & done;
  sums->absent.lanes -= ~done;
  sums->evictions.lanes -= (RUN(Lanes))(victims != 0);
  const RUN(View) rare = {lack | (victims & dirty_bits)};
  if (!any_bit(rare.parts, VECTOR_BYTES / 8)) return;
  const uint32_t n_sectors = state->sectors_per_line;
  for (int i = 0; i < WORD_LANES; i++) { /* now and then: one by one */
    const uint64_t left = (uint64_t)(rare.words[i] >> n_sectors) & state->all_sectors;
    sums->missed_in_found += count_bits((uint64_t)rare.words[i] & state->all_sectors);
    state->counts.dirty_evictions += left != 0;
    state->counts.written_back_sectors += count_bits(left);
  }
}

/* A run of `n` neighbouring sets that all look up one tag, group by group: whole lines, LRU, no
 * partly written sector anywhere. */
TARGET static void RUN(run)(CacheState *state, uint64_t set, uint64_t n, uint64_t tag, CacheKind kind) {
  const uint32_t n_sectors = state->sectors_per_line;
  const WORD key = ((WORD)tag + 1) << (2 * n_sectors), all = (WORD)state->all_sectors;
  const WORD dirty_bits = (WORD)(all << n_sectors);
  const RUN(Lanes) none = {0};
  const RUN(Wanted) wanted = {
      .key = none + key,
      .tags = none + ((WORD) ~(WORD)0 << (2 * n_sectors)),
      .all = none + all,
      .dirty_bits = none + dirty_bits,
      .front = none + (key | all | (kind == CACHE_WRITE ? dirty_bits : 0)),
  };
  RUN(Sums) sums = {{none}, {none}, 0};
  WORD *words = (WORD *)(void *)((char *)state + state->words_offset);
  for (const uint64_t end = set + n; set < end;) {
    const uint64_t group = set / CACHE_GROUP_SETS, left = (group + 1) * CACHE_GROUP_SETS - set,
                   until = left < end - set ? set + left : end;
    uint64_t front = cache_fronts(state)[group];
    bool turned = false;
    if (until - set == CACHE_GROUP_SETS) {
      if (RUN(in_front)(words + set + front * state->position_stride, &wanted)) {
        set = until;
        continue;
      }
      const uint64_t last = (front ? front : state->config.ways) - 1;
      turned = RUN(turns)(state, words + set, last, &wanted);
      if (turned) cache_fronts(state)[group] = (uint32_t)(front = last);
    }
    for (; set < until; set += WORD_LANES) RUN(look_up)(state, words + set, front, turned, &wanted, &sums);
  }
  uint64_t misses = 0;
  for (int i = 0; i < WORD_LANES; i++) {
    misses += (uint64_t)sums.absent.words[i];
    state->counts.evictions += (uint64_t)sums.evictions.words[i];
  }
  cache_count_run(state, n, misses, misses * n_sectors + sums.missed_in_found, kind);
}

#undef WORD
#undef WORD_LANES
#undef VECTOR_BYTES
#undef RUN
#undef TARGET
