#include "viz/kernel/kernel_traffic.h"

#include <stdlib.h>

#include "sim/base/splitmix.h"

enum {
  ENTRIES_MAX = 12 << 20, /* kept at once: 96 MiB */
  REQUESTS_MAX = 1 << 23,
  JOINED = 4,            /* requests that reach L2 as one at most: sim/l2/MODEL.md, h200/coalescer */
  PENDING_BITS = 10,     /* lines that a GPC's coalescer is looked up by */
  LAUNCH_SECTORS = 64,   /* parameters, descriptors, page tables: the least of any recorded launch less its code */
  INSTRUCTION_BYTES = 16 /* of machine code, one for one (assumed) */
};

/* An entry: line << 6 | kind << 4 | sectors; then, when bit 63 is set, the words: some sector is not whole. */
#define HAS_WORDS ((uint64_t)1 << 63)

typedef struct {
  uint64_t line, turn;
  uint32_t words, joined;
} Pending;

typedef struct {
  uint64_t key; /* line and GPC, + 1; 0: free */
  uint32_t reads[4];
} SectorReads;

static uint32_t whole(uint32_t sectors) { return (sectors * 0x00204081u & 0x01010101u) * 255; }

Status kernel_traffic_new(KernelTraffic *t, const Gpu *gpu, uint64_t n_blocks, Error *error) {
  memset(t, 0, sizeof *t);
  const Status status = line_l2_new(&t->l2, gpu, error);
  if (status) return status;
  t->n_sm = (uint32_t)(gpu->n_sm > 0 ? gpu->n_sm : 132);
  t->places = calloc(t->n_sm, sizeof *t->places);
  t->streams = calloc(t->n_sm, sizeof *t->streams);
  if (!t->places || !t->streams) return error_no_memory(error, "for the SMs' requests");
  /* a GPU of 132 SMs is laid out as most H100 and H200 that were asked; of others, sides by turns (assumed) */
  placement_deal(t->n_sm == 132 ? &PLACEMENT_H200 : NULL, t->n_sm, 0, t->places,
                 n_blocks < t->n_sm ? (uint32_t)n_blocks : t->n_sm);
  for (uint32_t sm = 0; sm < t->n_sm; sm++)
    if (t->places[sm].gpc >= t->n_gpcs) t->n_gpcs = t->places[sm].gpc + 1;
  t->pending = calloc((size_t)t->n_gpcs << PENDING_BITS, sizeof(Pending));
  return t->pending ? STATUS_OK : error_no_memory(error, "for the SMs' requests");
}

/* ---- how often each GPC asks for a sector ---- */

static bool grow(KernelTraffic *t) {
  const uint64_t capacity = t->requests_capacity ? 2 * t->requests_capacity : 1 << 12;
  SectorReads *old = t->requests, *new = capacity > REQUESTS_MAX ? NULL : calloc((size_t)capacity, sizeof *new);
  if (!new) return false;
  for (uint64_t k = 0; k < t->requests_capacity; k++) {
    if (!old[k].key) continue;
    uint64_t at = mix(old[k].key) & (capacity - 1);
    while (new[at].key) at = (at + 1) & (capacity - 1);
    new[at] = old[k];
  }
  free(old);
  t->requests = new, t->requests_capacity = capacity;
  return true;
}

static void count_read(KernelTraffic *t, uint32_t gpc, uint64_t line, uint32_t sectors) {
  if (t->trouble || (t->n_requests * 2 >= t->requests_capacity && !grow(t))) {
    t->trouble = true;
    return;
  }
  SectorReads *table = t->requests;
  const uint64_t key = (line << 8 | gpc) + 1;
  uint64_t at = mix(key) & (t->requests_capacity - 1);
  while (table[at].key && table[at].key != key) at = (at + 1) & (t->requests_capacity - 1);
  if (!table[at].key) table[at].key = key, t->n_requests++;
  for (uint32_t s = 0; s < 4; s++)
    if (sectors >> s & 1 && table[at].reads[s]++ % JOINED == 0) t->read_least_sectors++;
}

/* ---- all SMs together ---- */

static void ask(KernelTraffic *t, const Place *place, PtxTraffic kind, uint64_t line, uint32_t words) {
  const uint64_t address = line * LINE_L2_LINE_BYTES;
  if (kind == PTX_WRITE_SECTORS) line_l2_write(t->l2, place->side, address, words);
  if (kind == PTX_REDUCE_SECTORS) line_l2_reduce(t->l2, place->side, address, words);
  if (kind != PTX_READ_SECTORS) return;
  Pending *p = (Pending *)t->pending + ((uint64_t)place->gpc << PENDING_BITS) + (mix(line) >> (64 - PENDING_BITS));
  const uint32_t sectors = line_l2_sectors(words);
  if (p->joined && p->joined < JOINED && p->line == line && t->turn == p->turn &&
      !(sectors & ~line_l2_sectors(p->words))) {
    p->joined++;
    return;
  }
  *p = (Pending){line, t->turn, words, 1};
  t->read_sectors += (uint64_t)__builtin_popcount(sectors);
  line_l2_read(t->l2, place->side, address, words);
}

static void advance(KernelTraffic *t, uint32_t sm) {
  SmStream *s = &t->streams[sm];
  const uint64_t entry = s->entries[s->next++];
  const uint32_t words = entry & HAS_WORDS ? (uint32_t)s->entries[s->next++] : whole((uint32_t)entry & 15);
  ask(t, &t->places[sm], (PtxTraffic)(entry >> 4 & 3), (entry & ~HAS_WORDS) >> 6, words);
}

static void replay(KernelTraffic *t) {
  for (bool any = true; any; t->turn++) {
    any = false;
    for (uint32_t sm = 0; sm < t->n_sm; sm++)
      if (t->streams[sm].next < t->streams[sm].n) advance(t, sm), any = true;
  }
  for (uint32_t sm = 0; sm < t->n_sm; sm++) t->streams[sm].n = t->streams[sm].next = 0;
  t->n_entries = 0;
}

/* Room for two more entries. */
static bool make_room(SmStream *s) {
  if (s->n + 2 <= s->capacity) return true;
  const uint32_t capacity = s->capacity ? 2 * s->capacity : 256;
  uint64_t *entries = realloc(s->entries, capacity * sizeof *entries);
  if (!entries) return false;
  s->entries = entries, s->capacity = capacity;
  return true;
}

void kernel_traffic_take(void *context, int32_t sm, PtxTraffic kind, uint64_t address, uint32_t words) {
  KernelTraffic *t = context;
  const uint32_t sectors = line_l2_sectors(words), at = (uint32_t)sm % t->n_sm;
  const bool partly = kind != PTX_READ_SECTORS && words != whole(sectors);
  const uint64_t line = address / LINE_L2_LINE_BYTES;
  if (kind == PTX_READ_SECTORS) {
    t->read_most_sectors += (uint64_t)__builtin_popcount(sectors);
    count_read(t, t->places[at].gpc, line, sectors);
  }
  if (t->n_entries + 2 > ENTRIES_MAX) replay(t), t->in_parts = true;
  SmStream *s = &t->streams[at];
  if (!make_room(s)) {
    t->trouble = true;
    return;
  }
  s->entries[s->n++] = line << 6 | (uint64_t)kind << 4 | sectors | (partly ? HAS_WORDS : 0);
  if (partly) s->entries[s->n++] = words;
  t->n_entries += 1 + partly;
}

void kernel_traffic_finish(KernelTraffic *t) {
  replay(t);
  t->counts = line_l2_counts(t->l2);
}

void kernel_traffic_free(KernelTraffic *t) {
  for (uint32_t sm = 0; t->streams && sm < t->n_sm; sm++) free(t->streams[sm].entries);
  free(t->streams);
  free(t->places);
  free(t->pending);
  free(t->requests);
  line_l2_free(t->l2);
  memset(t, 0, sizeof *t);
}

uint64_t kernel_launch_bytes(int n_instructions) {
  return LAUNCH_SECTORS * LINE_L2_SECTOR_BYTES + (uint64_t)n_instructions * INSTRUCTION_BYTES;
}
