/* Who touched what: each granule's last writer and readers, and what is wrong with the access at hand. */
#include <stdio.h>
#include <string.h>

#include "kernels/ptx/ptx_machine.h"
#include "kernels/ptx/ptx_shadow_private.h"

/* The access at hand, of one lane. */
typedef struct {
  PtxShadow *s;
  ShadowBlock *b;
  const PtxAccess *a;
  const ShadowRegion *region;
  int64_t offset; /* of the granule in the region */
  int32_t thread;
  uint8_t sync; /* atomic or volatile: no race with others of its kind */
  bool same;    /* it stores what stands there */
} Touch;

/* The buffer, as faults of one line are told apart by it. */
static int32_t about(const Touch *t) {
  return t->a->space == PTX_SPACE_SHARED ? 0 : 1 + (int32_t)(t->region - t->s->regions);
}

static const char *verb(const Touch *t) {
  switch (t->a->kind) {
  case PTX_STORE: return "writes";
  case PTX_ATOMIC: return "updates";
  case PTX_COPY_WRITE: return "copies to";
  default: return "reads";
  }
}

static ShadowName place(const Touch *t) {
  ShadowName name;
  if (t->a->space == PTX_SPACE_SHARED)
    snprintf(name.text, sizeof name.text, "shared memory at byte %jd", t->offset);
  else if (t->region->name)
    snprintf(name.text, sizeof name.text, "%.50s at byte %jd", t->region->name, t->offset);
  else
    snprintf(name.text, sizeof name.text, "argument %d at byte %jd", t->region->argument, t->offset);
  return name;
}

/* --- outside --- */

/* The region that an address is nearest to. */
static const ShadowRegion *nearest(const PtxShadow *s, uint64_t address, int64_t *past) {
  const ShadowRegion *best = NULL;
  uint64_t distance = UINT64_MAX;
  for (int32_t k = 0; k < s->n_regions; k++) {
    const ShadowRegion *r = &s->regions[k];
    const uint64_t end = r->address + (uint64_t)r->n_bytes,
                   d = address >= r->address ? address >= end ? address - end : 0 : r->address - address;
    if (d < distance) {
      best = r, distance = d;
      *past = address >= r->address ? (int64_t)(address - end) : -(int64_t)d;
    }
  }
  return distance < (uint64_t)1 << 40 ? best : NULL;
}

static void outside(PtxShadow *s, const PtxAccess *a, int lane) {
  static const char *const DOES[] = {"loads", "stores", "updates", "copies", "copies"};
  char name[70] = "shared memory";
  const int32_t in_shared = (int32_t)a->address[lane]; /* such an address has 32 bits: below 0 is before its start */
  int64_t past = in_shared < 0 ? in_shared : in_shared - s->shared_bytes;
  const bool is_global = a->space == PTX_SPACE_GLOBAL;
  const ShadowRegion *r = is_global ? nearest(s, a->address[lane], &past) : NULL;
  const int32_t where_to = !is_global ? 0 : r ? 1 + (int32_t)(r - s->regions) : -1;
  PtxFault *fault = shadow_fault(s, "out of bounds", a->pc, -1, 8 * where_to + (int32_t)a->kind);
  if (!fault) return;
  if (is_global) {
    if (!r)
      name[0] = '\0';
    else if (r->name)
      snprintf(name, sizeof name, "%.64s", r->name);
    else
      snprintf(name, sizeof name, "argument %d", r->argument);
  }
  char where[160];
  if (!*name)
    snprintf(where, sizeof where, " at address 0x%jx, far from every argument", a->address[lane]);
  else if (past < 0 && past > -a->bytes)
    snprintf(where, sizeof where, " across the end of %s", name);
  else if (past < 0)
    snprintf(where, sizeof where, " that begin %jd bytes before the start of %s", -past, name);
  else
    snprintf(where, sizeof where, ", %jd bytes past the end of %s", past, name);
  shadow_says(s, fault, "%T of %B %s %d bytes%s", 32 * a->warp + lane, a->block, DOES[a->kind], a->bytes, where);
}

static void read_only(const Touch *t) {
  PtxFault *fault = shadow_fault(t->s, "out of bounds", t->a->pc, -1, -2 - about(t));
  shadow_says(t->s, fault, "%T of %B %s %s, which is const", t->thread, t->a->block, verb(t), place(t).text);
}

/* --- order --- */

typedef enum { ORDERED, LOCKSTEP, UNORDERED, OTHER_BLOCK } Order;

static Order order_of(const Touch *t, const ShadowMark *m) {
  if (t->a->space == PTX_SPACE_GLOBAL && shadow_block_of(t->s, m->agent) != t->a->block)
    return shadow_knows(t->b, t->a->warp, m->agent) ? ORDERED : OTHER_BLOCK;
  if (m->thread == t->thread && !(m->flags & READ_BY_MANY)) return ORDERED;
  const int32_t mine = t->a->warp, its = m->thread / 32;
  if (t->b->clocks[mine][its] >= m->clock) return ORDERED;
  if (its == mine && m->flags & CELL_BULK) return ORDERED; /* its lanes wait for themselves */
  return its == mine ? LOCKSTEP : UNORDERED;
}

static void race(const Touch *t, const ShadowMark *m, bool it_wrote, Order order) {
  const PtxShadow *s = t->s;
  const int32_t other = m->pc1 - 1;
  const char *kind = t->same ? "race of equal values" : order == LOCKSTEP ? "relies on lockstep" : "race";
  PtxFault *fault = shadow_fault(t->s, kind, t->a->pc, other, about(t));
  if (!fault) return;
  if (order != OTHER_BLOCK && !(m->flags & CELL_BULK)) fault->since = t->b->since;
  const char *did = m->sync == SYNC_ATOMIC ? "updated" : it_wrote ? "wrote" : "read";
  if (order == OTHER_BLOCK)
    shadow_says(s, fault, "%B %s %s, which %T of %B %s at line %L; blocks are in no order", t->a->block, verb(t),
                place(t).text, m->thread, shadow_block_of(s, m->agent), did, other);
  else if (order == LOCKSTEP && other == t->a->pc && it_wrote)
    shadow_says(s, fault, "%T and %T of one warp store different values to %s at once", m->thread, t->thread,
                place(t).text);
  else if (order == LOCKSTEP)
    shadow_says(s, fault, "%T %s %s, which %T of the same warp %s at line %L with no __syncwarp between", t->thread,
                verb(t), place(t).text, m->thread == t->thread ? -1 : m->thread, did, other);
  else
    shadow_says(s, fault, "%T %s %s, which %T %s at line %L with no barrier between", t->thread, verb(t), place(t).text,
                m->thread, did, other);
}

static inline void check_order(const Touch *t, const ShadowMark *m, bool it_wrote) {
  if (!m->pc1) return;
  const Order order = order_of(t, m);
  if (t->same && (order == LOCKSTEP || (it_wrote && m->pc1 - 1 == t->a->pc))) return; /* one line, one value, by many */
  const uint8_t both = m->sync < t->sync ? m->sync : t->sync; /* volatile does not make lanes of a warp wait */
  if (order != ORDERED && !(both == SYNC_ATOMIC || (both && order != LOCKSTEP))) race(t, m, it_wrote, order);
}

static inline ShadowMark mark(const Touch *t) {
  return (ShadowMark){.pc1 = t->a->pc + 1,
                      .clock = t->b->clocks[t->a->warp][t->a->warp] + 1,
                      .agent = t->b->agent,
                      .thread = (uint16_t)t->thread,
                      .sync = t->sync};
}

/* --- one granule --- */

static void in_flight(const Touch *t, const ShadowMark *writer) {
  PtxFault *fault = shadow_fault(t->s, "in flight", t->a->pc, writer->pc1 - 1, about(t));
  shadow_says(t->s, fault, "%T %s %s before the copy of line %L has arrived (%s)", t->thread, verb(t), place(t).text,
              writer->pc1 - 1,
              strstr(shadow_text(t->s, writer->pc1 - 1), ".bulk") ? "a wait at its mbarrier" : "cp.async.wait_group");
}

static void still_read(const Touch *t, int64_t cell) {
  const ShadowCopy *reader = shadow_reader(t->b, cell);
  if (!reader) return;
  PtxFault *fault = shadow_fault(t->s, "in flight", t->a->pc, reader->pc, about(t));
  shadow_says(t->s, fault, "%T %s %s, which the %s of line %L may still read (%s)", t->thread, verb(t), place(t).text,
              reader->async == PTX_ASYNC_WGMMA ? "wgmma" : "copy", reader->pc,
              reader->async == PTX_ASYNC_WGMMA ? "wgmma.wait_group" : "cp.async.bulk.wait_group");
}

/* What threads stored is seen by copies and wgmma behind a fence: the writer's, or the one who starts them. */
static void check_fence(const Touch *t, const ShadowCell *cell) {
  const ShadowMark *w = &cell->writer;
  if (!w->pc1 || w->flags & CELL_COPIED || t->b->fences[w->thread] > cell->when || t->b->fences[t->thread] > cell->when)
    return;
  PtxFault *fault = shadow_fault(t->s, "fence", t->a->pc, w->pc1 - 1, about(t));
  shadow_says(t->s, fault, "%s reads %s, which %T wrote at line %L with no fence.proxy.async since",
              t->a->async == PTX_ASYNC_WGMMA ? "wgmma" : "a bulk copy", place(t).text, w->thread, w->pc1 - 1);
}

static void uninitialised(const Touch *t) {
  PtxFault *fault = shadow_fault(t->s, "uninitialised", t->a->pc, -1, about(t));
  shadow_says(t->s, fault, "%T of %B %s %s, which nobody wrote", t->thread, t->a->block, verb(t), place(t).text);
}

static void touch_read(const Touch *t, ShadowCell *cell) {
  const ShadowMark *w = &cell->writer;
  if (w->flags & CELL_IN_FLIGHT)
    in_flight(t, w);
  else if (w->flags & CELL_UNWRITTEN)
    uninitialised(t);
  else
    check_order(t, w, true);
  if (t->a->async && t->a->space == PTX_SPACE_SHARED) check_fence(t, cell);
  shadow_note_read(cell, mark(t), t->a->warp);
}

/* The lane of the store that hits the place of this one, from `from` on by steps; this one where there is none. */
static int lane_there(const Touch *t, int from, int step) {
  const int lane = t->thread % 32;
  for (int k = from; k >= 0 && k < 32; k += step)
    if (k != lane && (t->a->mask >> k & 1) && t->a->address[k] == t->a->address[lane]) return k;
  return lane;
}

/* Lanes of one store that hit one place: the memory still holds what was there before them all, so values are compared
 * with each other. */
static bool same_as_earlier_lane(const Touch *t) {
  const PtxAccess *a = t->a;
  const int lane = t->thread % 32, k = lane_there(t, lane - 1, -1);
  return k != lane && a->value[k] && a->value[lane] && memcmp(a->value[k], a->value[lane], (size_t)a->bytes) == 0;
}

/* Who read what only now is written, out of order: the race says it all. */
static void explain(const Touch *t, const ShadowMark *reader) {
  if (!reader->pc1 || (reader->sync && t->sync) || order_of(t, reader) == ORDERED) return;
  for (int32_t f = 0; f < t->s->n_faults; f++) {
    PtxFault *fault = &t->s->faults[f];
    if (strcmp(fault->kind, "uninitialised") == 0 && fault->about == about(t) &&
        shadow_line(t->s, fault->pc) == shadow_line(t->s, reader->pc1 - 1))
      fault->explained = true;
  }
}

static void touch_write(Touch *t, ShadowCell *cell, const unsigned char *value, int32_t n) {
  const uint8_t flags = cell->writer.flags;
  const unsigned char *memory = t->a->space == PTX_SPACE_SHARED ? t->a->memory : t->region->memory;
  const ShadowMark now = mark(t), *writer = &cell->writer;
  t->same = value && memory && !(flags & CELL_UNSURE) && memcmp(value, memory + t->offset, (size_t)n) == 0;
  if (value && writer->pc1 == now.pc1 && writer->clock == now.clock && writer->thread / 32 == t->a->warp &&
      writer->thread != t->thread && same_as_earlier_lane(t))
    return;
  if (value && writer->thread == t->thread && writer->pc1 != now.pc1) /* the other lanes did not write that */
    t->thread = t->thread / 32 * 32 + lane_there(t, 31, -1);
  if (flags & CELL_IN_FLIGHT) in_flight(t, writer);
  if (cell->readers) still_read(t, cell - t->region->cells);
  check_order(t, writer, true);
  check_order(t, &cell->reader, false);
  check_order(t, &cell->other, false);
  if (flags & CELL_UNWRITTEN) explain(t, &cell->reader), explain(t, &cell->other);
  cell->writer = now;
  cell->writer.flags = 0;
  cell->when = t->b->now;
  cell->reader = (ShadowMark){0}, cell->other = (ShadowMark){0};
  t->same = false;
}

/* --- a request --- */

static void touch_lane(Touch *t, int lane, const ShadowRegion *region, int64_t offset) {
  const PtxAccess *a = t->a;
  const int32_t granule = t->s->granule;
  const int64_t first = offset >> t->s->shift, n = (a->bytes + granule - 1) >> t->s->shift;
  t->region = region;
  t->thread = 32 * a->warp + (a->lane1 ? a->lane1 - 1 : lane);
  const bool writes = a->kind == PTX_STORE || a->kind == PTX_ATOMIC || a->kind == PTX_COPY_WRITE;
  t->offset = offset;
  if (writes && region->read_only) read_only(t);
  for (int64_t c = 0; c < n; c++) {
    ShadowCell *cell = shadow_cells(region, first + c, 1);
    const unsigned char *value = a->kind == PTX_STORE ? a->value[lane] : NULL;
    t->offset = offset + c * granule;
    if (a->kind != PTX_STORE && a->kind != PTX_COPY_WRITE) {
      touch_read(t, cell);
    }
    if (writes) touch_write(t, cell, value ? value + c * granule : NULL, granule < a->bytes ? granule : a->bytes);
    if (a->kind == PTX_COPY_WRITE) cell->writer.flags |= CELL_IN_FLIGHT | CELL_COPIED | (a->async ? CELL_BULK : 0);
  }
  const bool reads = a->async && a->kind == PTX_LOAD;
  if (a->space == PTX_SPACE_SHARED && (a->kind == PTX_COPY_WRITE || reads))
    shadow_begin(t->s, t->b,
                 (ShadowCopy){.async = a->async,
                              .reads = reads,
                              .pc = a->pc,
                              .thread = t->thread,
                              .barrier = a->barrier,
                              .first = first,
                              .n = n});
}

uint32_t ptx_shadow_access(PtxShadow *s, const PtxAccess *a) {
  if (a->space == PTX_SPACE_LOCAL) return a->mask;
  Touch t = {.s = s, .a = a, .b = shadow_block(s, a->block)};
  uint32_t allowed = a->mask;
  if (!t.b || !a->mask) return a->mask;
  const bool is_global = a->space == PTX_SPACE_GLOBAL;
  t.sync = a->kind == PTX_ATOMIC ? SYNC_ATOMIC : s->sync[a->pc] & SYNC_VOLATILE;
  const bool signals = t.sync && !is_global, posts = t.sync && is_global;
  if (posts && s->sync[a->pc] & SYNC_OF_GRID) ptx_shadow_fence_of(s, a->block, a->warp, true);
  if (posts && a->kind != PTX_STORE)
    FOR_LANES (l, a->mask) {
      shadow_read_post(s, t.b, a->warp, a->address[l]);
    }
  if (is_global) t.b->touched = true;
  if (signals)
    FOR_LANES (l, a->mask) {
      shadow_acquire(s, t.b, a->warp, a->address[l]);
    }
  const ShadowRegion *region =
      is_global ? shadow_region_of(s, a->address[__builtin_ctz(a->mask)], a->bytes) : &t.b->shared;
  if (!is_global) t.b->now++;
  FOR_LANES (lane, a->mask) {
    const uint64_t address = a->address[lane];
    if (is_global && (!region || address - region->address + (uint64_t)a->bytes > (uint64_t)region->n_bytes ||
                      address < region->address))
      region = shadow_region_of(s, address, a->bytes);
    if (!region || (!is_global && address + (uint64_t)a->bytes > (uint64_t)s->shared_bytes)) {
      outside(s, a, lane);
      allowed &= ~((uint32_t)1 << lane);
      continue;
    }
    const int64_t offset = (int64_t)(address - region->address);
    touch_lane(&t, lane, region, offset);
  }
  if (posts && a->kind != PTX_LOAD)
    FOR_LANES (l, a->mask) {
      shadow_write_post(s, t.b, a->address[l]);
    }
  if (signals)
    FOR_LANES (l, a->mask) {
      shadow_release(s, t.b, a->warp, a->address[l], s->sync[a->pc] & SYNC_RELEASES);
    }
  return allowed;
}
