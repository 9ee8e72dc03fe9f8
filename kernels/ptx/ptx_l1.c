/* The first cache, one per SM, and the dealing of blocks to SMs.
 *
 * Lines of 128 bytes with 4 sectors, 64 ways, least recently used; what shared memory leaves of the 256 KiB. Loads
 * allocate; stores write through; those that cover a sector leave it in L1, others neither allocate nor invalidate
 * (assets/counters/h100/store-load); .cg, volatile loads and atomics pass by. Blocks: the first on each SM in order,
 * those after at random, each SM the same number.
 * Not modelled: a word loaded some cycles after its neighbour was stored (some miss there, and the fewer the more
 * cycles lie between); totals.l1_reloaded_after_store counts such loads. */
#include <stdlib.h>

#include "kernels/ptx/ptx_machine.h"
#include "sim/base/splitmix.h"

enum { WAYS = 64, LINE_SHIFT = 7 };

typedef struct {
  uint64_t tag; /* line + 1; 0: empty */
  uint32_t used;
  uint8_t sectors, stored;
} Line;

typedef struct {
  Line lines[WAYS];
  uint8_t guess[256]; /* by a hash of the line: the way where one like it was found last */
} LineSet;

struct PtxL1 {
  int32_t n_sets;
  uint32_t now;
  LineSet *sets; /* of one SM after another */
  uint64_t load_sectors, hit_sectors, from_l2, after_store;
  uint8_t **loaded; /* a bit a sector, by buffer */
};

/* Sets hold consecutive lines; a set index that is not a power of two is a remainder. */
static LineSet *set_of(PtxL1 *c, int32_t sm, uint64_t line) {
  return c->sets + ((int64_t)sm * c->n_sets + (int64_t)(line % (uint64_t)c->n_sets));
}

PtxL1 *ptx_l1_new(const Run *run, int64_t l1_bytes) {
  PtxL1 *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->n_sets = (int32_t)(l1_bytes >> LINE_SHIFT) / WAYS;
  if (c->n_sets < 1) c->n_sets = 1;
  c->sets = calloc((size_t)run->n_sm * (size_t)c->n_sets, sizeof *c->sets);
  c->loaded = calloc((size_t)run->n_buffers + 1, sizeof *c->loaded);
  bool ok = c->sets && c->loaded;
  for (int32_t b = 0; ok && b < run->n_buffers; b++)
    ok = (c->loaded[b] = calloc((size_t)(run->buffers[b].bytes / 256) + 2, 1)) != NULL;
  if (ok) return c;
  for (int32_t b = 0; c->loaded && b < run->n_buffers; b++) free(c->loaded[b]);
  free(c->loaded);
  free(c->sets);
  free(c);
  return NULL;
}

static void note_loaded(PtxL1 *c, const Run *run, uint64_t line, uint32_t sectors) {
  const Buffer *b = run_buffer(run, line << LINE_SHIFT, 0);
  if (!b) b = run_buffer(run, (line << LINE_SHIFT) + 127, 0);
  if (!b || (line << LINE_SHIFT) < b->address) return;
  uint8_t *bits = c->loaded[b - run->buffers];
  const uint64_t at = ((line << LINE_SHIFT) - b->address) >> 5;
  for (uint32_t s = 0; s < 4; s++)
    if (sectors >> s & 1 && at + s < b->bytes / 32 + 2) bits[(at + s) >> 3] |= (uint8_t)(1u << ((at + s) & 7));
}

static Line *lookup(LineSet *set, uint64_t line) {
  uint8_t *guess = &set->guess[line * 0x9e3779b97f4a7c15u >> 56];
  if (set->lines[*guess].tag == line + 1) return &set->lines[*guess];
  for (int32_t w = 0; w < WAYS; w++) {
    if (set->lines[w].tag != line + 1) continue;
    *guess = (uint8_t)w;
    return &set->lines[w];
  }
  return NULL;
}

static Line *find(PtxL1 *c, int32_t sm, uint64_t line) {
  LineSet *set = set_of(c, sm, line);
  Line *found = lookup(set, line);
  if (!found) {
    found = set->lines;
    for (int32_t w = 1; w < WAYS; w++)
      if (set->lines[w].used < found->used) found = &set->lines[w];
    *found = (Line){.tag = line + 1};
  }
  found->used = ++c->now;
  return found;
}

static uint32_t ones(uint32_t x) { return (uint32_t)__builtin_popcount(x); }

/* Bit s for words 8 s to 8 s + 7, and back. */
static uint32_t sectors_of(uint32_t words) {
  words |= words >> 4, words |= words >> 2, words |= words >> 1;
  words &= 0x01010101u;
  return (words | words >> 7 | words >> 14 | words >> 21) & 15;
}
static uint32_t words_of(uint32_t sectors) { return (sectors * 0x00204081u & 0x01010101u) * 255; }

static void touch(PtxL1 *c, const Run *run, int32_t sm, PtxTraffic kind, bool allocate, uint64_t line, uint32_t words) {
  const uint32_t sectors = sectors_of(words);
  uint32_t leaving = sectors;
  if (kind == PTX_READ_SECTORS) {
    c->load_sectors += ones(sectors);
    note_loaded(c, run, line, sectors);
    if (allocate) {
      Line *l = find(c, sm, line);
      leaving = sectors & ~(uint32_t)l->sectors;
      c->hit_sectors += ones(sectors) - ones(leaving);
      c->after_store += ones(sectors & l->sectors & l->stored);
      l->sectors = (uint8_t)(l->sectors | sectors);
    }
    c->from_l2 += ones(leaving);
  } else if (kind == PTX_WRITE_SECTORS) {
    uint32_t wholes = 0;
    for (uint32_t s = 0; s < 4; s++) wholes |= (words >> 8 * s & 255) == 255 ? 1u << s : 0;
    Line *l = wholes ? find(c, sm, line) : lookup(set_of(c, sm, line), line);
    if (l) l->stored = (uint8_t)(l->stored | sectors), l->sectors = (uint8_t)(l->sectors | wholes);
  }
  if (leaving && run->launch->sink)
    run->launch->sink(run->launch->sink_context, sm, kind, line << LINE_SHIFT, words & words_of(leaving));
}

void ptx_l1_request(PtxL1 *c, Run *run, int32_t sm, PtxTraffic kind, bool allocate, const uint64_t address[LANES],
                    uint32_t mask, int32_t bytes) {
  uint64_t lines[2 * LANES];
  uint32_t words[2 * LANES];
  uint8_t place[256] = {0}; /* by a hash of the line: 1 + its index */
  int32_t n = 0;
  FOR_LANES (l, mask) {
    const uint64_t first = address[l], last = first + (uint64_t)bytes - 1;
    for (uint64_t line = first >> LINE_SHIFT; line <= last >> LINE_SHIFT; line++) {
      uint32_t h = (uint32_t)(line * 0x9e3779b97f4a7c15u >> 56);
      while (place[h] && lines[place[h] - 1] != line) h = (h + 1) & 255;
      if (!place[h]) lines[n] = line, words[n] = 0, place[h] = (uint8_t)++n;
      const uint64_t begin = line << LINE_SHIFT, from = first > begin ? (first - begin) >> 2 : 0,
                     to = last - begin < 128 ? (last - begin) >> 2 : 31;
      words[place[h] - 1] |= (uint32_t)(((uint64_t)2 << to) - ((uint64_t)1 << from));
    }
  }
  for (int32_t k = 0; k < n; k++) touch(c, run, sm, kind, allocate, lines[k], words[k]);
}

void ptx_l1_bulk(PtxL1 *c, Run *run, int32_t sm, PtxTraffic kind, uint64_t address, uint64_t bytes) {
  for (uint64_t s = address >> 5, end = (address + bytes + 31) >> 5; s < end;) {
    const uint64_t line = s >> 2;
    uint32_t sectors = 0;
    for (; s < end && s >> 2 == line; s++) sectors |= 1u << (s & 3);
    if (kind == PTX_READ_SECTORS) note_loaded(c, run, line, sectors);
    if (run->launch->sink) run->launch->sink(run->launch->sink_context, sm, kind, line << LINE_SHIFT, sectors);
  }
}

void ptx_l1_totals(const PtxL1 *c, const Run *run, PtxTotals *t) {
  t->l1_load_sectors = c->load_sectors;
  t->l1_hit_sectors = c->hit_sectors;
  t->l1_sectors_from_l2 = c->from_l2;
  t->l1_reloaded_after_store = c->after_store;
  for (int32_t b = 0; b < run->n_buffers; b++)
    for (uint64_t k = 0; k < run->buffers[b].bytes / 256 + 2; k++) {
      const uint32_t bits = c->loaded[b][k], pairs = (bits | bits >> 1) & 0x55;
      t->distinct_sectors += ones(bits);
      t->distinct_pairs += ones(pairs);
    }
}

void ptx_l1_free_of(PtxL1 *c, int32_t n_buffers) {
  if (!c) return;
  for (int32_t b = 0; b < n_buffers; b++) free(c->loaded[b]);
  free(c->loaded);
  free(c->sets);
  free(c);
}

static int64_t common(int64_t a, int64_t b) { return b ? common(b, a % b) : a; }

int64_t deal_cluster(int64_t n_clusters, int32_t n_groups, int32_t group, int64_t turn) {
  int64_t step = 1, begin = 0;
  if (turn * n_groups >= n_clusters) return -1; /* asked at each step of the last */
  if (turn > 0) {                               /* a permutation of the SMs, another each turn */
    uint64_t seed = (uint64_t)turn;
    begin = (int64_t)(mix(seed) % (uint64_t)n_groups);
    do step = (int64_t)(mix(seed += 1000003) % (uint64_t)n_groups);
    while (n_groups > 1 && common(step, n_groups) != 1);
  }
  const int64_t cluster = turn * n_groups + (step * group + begin) % n_groups;
  return cluster < n_clusters ? cluster : -1;
}
