/* Sets of more than 64 ways, up to fully associative: a table finds a line, linked lists keep the
 * order, and nothing moves. One access takes the same time however many ways there are.
 *
 *   tag --> bucket --> place --> place        places chained by `chain`
 *   set --> front <-> ... <-> last            all places of a set in one ring, last used first
 *
 * Places and buckets are stored as numbers (plus one where 0 means none), so the state stays flat.
 */
#include "sim/cache/cache_private.h"

typedef struct {
  uint32_t next, previous; /* in the set's ring */
  uint32_t chain;          /* the next place of this bucket, plus one */
} Link;

static Link *links_of(const CacheState *state) {
  return (Link *)(void *)((char *)(uintptr_t)state + state->many_offset);
}

static uint32_t *fronts_of(const CacheState *state) {
  return (uint32_t *)(void *)(links_of(state) + state->sets * state->config.ways);
}

static uint32_t *bucket_of(const CacheState *state, uint64_t set, uint64_t tag) {
  const uint64_t lines = state->sets * state->config.ways;
  uint32_t *buckets = fronts_of(state) + state->sets;
  return &buckets[mix(tag ^ mix(set)) & ones(log2_up(lines))];
}

uint64_t cache_many_bytes(uint64_t lines, uint64_t sets) {
  return lines * sizeof(Link) + (sets + ((uint64_t)1 << log2_up(lines))) * sizeof(uint32_t);
}

void cache_many_reset(CacheState *state) {
  const uint64_t ways = state->config.ways;
  Link *links = links_of(state);
  for (uint64_t set = 0; set < state->sets; set++) {
    const uint64_t first = set * ways;
    fronts_of(state)[set] = (uint32_t)first;
    for (uint64_t way = 0; way < ways; way++) {
      links[first + way].next = (uint32_t)(first + (way + 1) % ways);
      links[first + way].previous = (uint32_t)(first + (way + ways - 1) % ways);
    }
  }
}

uint64_t cache_many_first(const CacheState *state, uint64_t set, uint64_t tag) {
  return (uint64_t)*bucket_of(state, set, tag) - 1; /* none: 0 - 1 is CACHE_NOWHERE */
}

uint64_t cache_many_next(const CacheState *state, uint64_t place) { return (uint64_t)links_of(state)[place].chain - 1; }

void cache_many_insert(CacheState *state, uint64_t set, uint64_t tag, uint64_t place) {
  uint32_t *bucket = bucket_of(state, set, tag);
  links_of(state)[place].chain = *bucket;
  *bucket = (uint32_t)(place + 1);
}

void cache_many_remove(CacheState *state, uint64_t set, uint64_t tag, uint64_t place) {
  Link *links = links_of(state);
  uint32_t *from = bucket_of(state, set, tag);
  while (*from != place + 1) from = &links[*from - 1].chain;
  *from = links[place].chain;
}

void cache_many_to_front(CacheState *state, uint64_t set, uint64_t place) {
  Link *links = links_of(state), *moved = &links[place];
  uint32_t *front = &fronts_of(state)[set];
  if (*front == place) return;
  links[moved->previous].next = moved->next;
  links[moved->next].previous = moved->previous;
  moved->next = *front;
  moved->previous = links[*front].previous;
  links[moved->previous].next = (uint32_t)place;
  links[*front].previous = (uint32_t)place;
  *front = (uint32_t)place;
}

uint64_t cache_many_last(const CacheState *state, uint64_t set) {
  return links_of(state)[fronts_of(state)[set]].previous;
}
