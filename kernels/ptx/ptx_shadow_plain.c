/* Loads and stores that come after everything they must: nearly all of a sound kernel's.
 *
 *     a warp's lanes side by side, over whole lines of granules  ->  a line is one cell, checked and noted as one
 *     other addresses                                            ->  lane by lane, up to the first that needs a closer
 *                                                                    look, as ptx_shadow_access would */

#include "kernels/ptx/ptx_machine.h"
#include "kernels/ptx/ptx_shadow_private.h"

/* The access at hand. */
typedef struct {
  const PtxPlain *a;
  const ShadowRegion *region;
  int64_t first; /* cell of the first lane */
  int32_t shift;
  const PtxShadow *s;
  const ShadowBlock *b;
  uint32_t when;
  const uint32_t *clocks;
  ShadowMark now;
} Plain;

/* Whether what the mark says came before what `thread` does now. */
static inline __attribute__((always_inline)) bool comes_after(const Plain *p, const ShadowMark *m, uint32_t thread,
                                                              bool global) {
  if (global && m->agent != p->now.agent) {
    if (!m->pc1) return true;
    if (shadow_block_of(p->s, m->agent) != p->a->block) return shadow_knows(p->b, p->a->warp, m->agent);
  }
  return p->clocks[m->thread % LINE_STEP >> 5] >= m->clock || (m->thread == thread && !(m->flags & READ_BY_MANY));
}

static inline __attribute__((always_inline)) bool writes_after(const Plain *p, const ShadowCell *cell, uint32_t thread,
                                                               bool global) {
  return !(cell->writer.flags & CELL_IN_FLIGHT) && !cell->readers && comes_after(p, &cell->writer, thread, global) &&
         comes_after(p, &cell->reader, thread, global) && comes_after(p, &cell->other, thread, global);
}

static inline void note_write(const Plain *p, ShadowCell *cell, ShadowMark now) {
  cell->writer = now;
  cell->when = p->when;
  cell->reader = cell->other = (ShadowMark){0};
}

/* ---- lane by lane ---- */

static inline __attribute__((always_inline)) ShadowCell *cells_of(const Plain *p, int lane, int64_t n) {
  return shadow_cells(p->region, p->first + (p->a->offset[lane] >> p->shift), n);
}

static inline __attribute__((always_inline)) bool load(const Plain *p, uint32_t lanes, bool global, bool single) {
  const int32_t n = single ? 1 : p->a->bytes >> p->shift, thread = 32 * p->a->warp;
  const bool one_place = p->a->one_place;
  if (one_place) lanes &= 0u - lanes;
  ShadowMark now = p->now;
  const ShadowCell *last = NULL;
  FOR_LANES (lane, lanes) {
    ShadowCell *cell = cells_of(p, lane, n);
    if (cell == last) { /* of the lane before, which may come */
      for (int32_t c = 0; c < n; c++)
        if (cell[c].reader.thread != thread + lane) cell[c].reader.flags = READ_BY_MANY;
      continue;
    }
    last = cell;
    now.thread = (uint16_t)(thread + lane);
    const uint32_t reader = one_place ? UINT32_MAX : now.thread; /* its own write is not before all lanes */
    for (int32_t c = 0; c < n; c++, cell++) {
      if (cell->writer.flags & CELL_UNSURE || !comes_after(p, &cell->writer, reader, global)) return false;
      shadow_note_read(cell, now, p->a->warp);
      if (one_place) cell->reader.flags = READ_BY_MANY;
    }
  }
  return true;
}

static inline __attribute__((always_inline)) bool store(const Plain *p, uint32_t lanes, bool global, bool single) {
  const int32_t n = single ? 1 : p->a->bytes >> p->shift;
  ShadowMark now = p->now;
  FOR_LANES (lane, lanes) {
    ShadowCell *cell = cells_of(p, lane, n);
    now.thread = (uint16_t)(32 * p->a->warp + lane);
    for (int32_t c = 0; c < n; c++, cell++) {
      if (!writes_after(p, cell, now.thread, global)) return false;
      note_write(p, cell, now);
    }
  }
  return true;
}

/* Of words, or of anything. */
static bool lane_by_lane(const Plain *p, uint32_t lanes) {
  const bool global = p->a->global, single = p->a->bytes == 4 && p->shift == 2;
  if (p->a->stores)
    return global   ? single ? store(p, lanes, true, true) : store(p, lanes, true, false)
             : single ? store(p, lanes, false, true)
                    : store(p, lanes, false, false);
  return global   ? single ? load(p, lanes, true, true) : load(p, lanes, true, false)
           : single ? load(p, lanes, false, true)
                  : load(p, lanes, false, false);
}

/* ---- lines ---- */

/* One line of lanes side by side; false: lane by lane. */
static bool line_as_one(const Plain *p, int64_t line, ShadowMark now) {
  const PtxPlain *a = p->a;
  ShadowCell *cell = &p->region->lines[line];
  if (p->region->apart[line]) return false;
  if (!a->stores) {
    const ShadowMark *r = &cell->reader;
    if (cell->writer.flags & CELL_UNSURE || !comes_after(p, &cell->writer, now.thread, a->global)) return false;
    const bool same_warp = r->thread % LINE_STEP >> 5 == a->warp && r->agent == now.agent;
    if (r->pc1 && r->clock == now.clock && same_warp) return r->thread == now.thread; /* the same lanes once more */
    if (r->pc1 && !same_warp) cell->other = *r;
    cell->reader = now;
    return true;
  }
  if (!writes_after(p, cell, now.thread, a->global)) return false;
  note_write(p, cell, now);
  return true;
}

/* Whole lines: granule g of each is of lane (g >> k). */
static bool lines(const Plain *p, int32_t k) {
  const int32_t n_lanes = LINE_CELLS >> k, n_lines = 1 << k;
  bool fine = true;
  for (int32_t j = 0; j < n_lines && fine; j++) {
    ShadowMark now = p->now;
    now.thread = (uint16_t)(32 * p->a->warp + j * n_lanes + LINE_STEP * (k + 1));
    if (line_as_one(p, (p->first >> LINE_SHIFT) + j, now)) continue;
    const uint32_t lanes = (n_lanes == 32 ? UINT32_MAX : ((uint32_t)1 << n_lanes) - 1) << (j * n_lanes);
    fine = lane_by_lane(p, lanes);
  }
  return fine;
}

/* ---- a request ---- */

bool ptx_shadow_plain(PtxShadow *s, const PtxPlain *a) {
  ShadowBlock *b = shadow_block(s, a->block);
  const int32_t granules = a->bytes >> s->shift;
  if (!b || s->sync[a->pc] || !granules) return false;
  const ShadowRegion *region = a->global ? shadow_region_of(s, a->first, 1) : &b->shared;
  const uint32_t others = a->mask & (a->mask - 1);
  const bool may_meet = a->stores && others && a->offset[__builtin_ctz(others)] == a->offset[__builtin_ctz(a->mask)];
  if (!region || (a->stores && region->read_only) || may_meet) return false;
  if (!a->global)
    b->now++;
  else
    b->touched = true;
  const uint32_t *clocks = b->clocks[a->warp];
  const Plain p = {.a = a,
                   .region = region,
                   .first = (int64_t)((a->first - region->address) >> s->shift),
                   .shift = s->shift,
                   .s = s,
                   .b = b,
                   .when = b->now,
                   .clocks = clocks,
                   .now = {.pc1 = a->pc + 1, .clock = clocks[a->warp] + 1, .agent = b->agent}};
  if (a->side_by_side && p.first % LINE_CELLS == 0) return lines(&p, __builtin_ctz((unsigned)granules));
  return lane_by_lane(&p, a->mask);
}
