/* Loads and stores that come after everything they must: nearly all of a sound kernel's.
 *
 *     a warp's lanes side by side, over whole lines of granules  ->  a line is one cell, checked and noted as one
 *     other addresses                                            ->  lane by lane, up to the first that needs a closer
 *                                                                    look, as ptx_shadow_access would */
#include <string.h>

#include "kernels/ptx/ptx_shadow_private.h"

/* The access at hand. */
typedef struct {
  const PtxPlain *a;
  const ShadowRegion *region;
  int64_t first; /* cell of the first lane */
  int32_t shift;
  bool synced;
  uint32_t when;
  const uint32_t *clocks;
  ShadowMark now;
} Plain;

/* Whether what the mark says came before what `thread` does now. */
static inline __attribute__((always_inline)) bool comes_after(const Plain *p, const ShadowMark *m, uint32_t thread,
                                                              bool global) {
  if (global && m->block != p->now.block) return p->synced || !m->pc1;
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
  for (uint32_t m = lanes; m; m &= m - 1) {
    const int lane = __builtin_ctz(m);
    ShadowCell *cell = cells_of(p, lane, n);
    if (cell == last) { /* of the lane before, which may come */
      for (int32_t c = 0; c < n; c++)
        if (cell[c].reader.thread != thread + lane) cell[c].reader.flags = READ_BY_MANY;
      continue;
    }
    last = cell;
    now.thread = (uint16_t)(thread + lane);
    for (int32_t c = 0; c < n; c++, cell++) {
      if (cell->writer.flags & CELL_UNSURE || !comes_after(p, &cell->writer, now.thread, global)) return false;
      shadow_note_read(cell, now, p->a->warp);
      if (one_place) cell->reader.flags = READ_BY_MANY;
    }
  }
  return true;
}

static uint64_t stored(const PtxPlain *a, int32_t element, int lane) {
  const char *from = a->registers + a->list[element];
  return a->wide ? ((const uint64_t *)from)[lane] : ((const uint32_t *)from)[lane];
}

static inline __attribute__((always_inline)) bool store(const Plain *p, uint32_t lanes, bool global, bool single) {
  const PtxPlain *a = p->a;
  const int32_t granule = single ? 4 : 1 << p->shift, n = single ? 1 : a->element_bytes >> p->shift,
                elements = single ? 1 : a->bytes / a->element_bytes;
  const uint64_t low = ((uint64_t)1 << 8 * granule) - 1;
  ShadowMark now = p->now;
  for (uint32_t m = lanes; m; m &= m - 1) {
    const int lane = __builtin_ctz(m);
    ShadowCell *cell = cells_of(p, lane, single ? 1 : a->bytes >> p->shift);
    const char *memory = a->memory + a->offset[lane];
    now.thread = (uint16_t)(32 * a->warp + lane);
    for (int32_t e = 0; e < elements; e++) {
      uint64_t value = stored(a, e, lane);
      for (int32_t c = 0; c < n; c++, cell++, memory += granule, value >>= 8 * granule) {
        uint64_t is = 0;
        memcpy(&is, memory, (size_t)granule);
        if (is == (value & low) && !(cell->writer.flags & CELL_UNSURE)) continue;
        if (!writes_after(p, cell, now.thread, global)) return false;
        note_write(p, cell, now);
      }
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

/* How many of the line's elements the store leaves as they are. */
static int32_t kept(const PtxPlain *a, int32_t first_lane, int32_t n_lanes) {
  const int32_t elements = a->bytes / a->element_bytes;
  int32_t n = 0;
  for (int32_t e = 0; e < elements; e++) {
    const char *memory = a->memory + (int64_t)first_lane * a->bytes + e * a->element_bytes;
    const uint32_t *words = (const uint32_t *)(a->registers + a->list[e]) + first_lane;
    for (int32_t l = 0; l < n_lanes; l++, memory += a->bytes) {
      uint32_t is = 0;
      memcpy(&is, memory, a->element_bytes == 4 ? 4 : 2);
      n += is == (a->element_bytes == 4 ? words[l] : words[l] & 0xffff);
    }
  }
  return n;
}

/* One line of lanes side by side; false: lane by lane. */
static bool line_as_one(const Plain *p, int64_t line, ShadowMark now, int32_t first_lane, int32_t n_lanes) {
  const PtxPlain *a = p->a;
  ShadowCell *cell = &p->region->lines[line];
  if (p->region->apart[line]) return false;
  if (!a->stores) {
    const ShadowMark *r = &cell->reader;
    if (cell->writer.flags & CELL_UNSURE || !comes_after(p, &cell->writer, now.thread, a->global)) return false;
    if (r->pc1 && r->clock == now.clock && r->block == now.block && r->thread % LINE_STEP >> 5 == a->warp)
      return r->thread == now.thread; /* the same lanes once more */
    const bool same_warp = r->thread % LINE_STEP >> 5 == a->warp && r->block == now.block;
    if (r->pc1 && !same_warp) cell->other = *r;
    cell->reader = now;
    return true;
  }
  if (a->wide || (a->element_bytes != 4 && a->element_bytes != 2)) return false;
  const int32_t n = kept(a, first_lane, n_lanes);
  if (n && cell->writer.flags & CELL_UNSURE) return false;
  if (n) return n == n_lanes * (a->bytes / a->element_bytes);
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
    if (line_as_one(p, (p->first >> LINE_SHIFT) + j, now, j * n_lanes, n_lanes)) continue;
    const uint32_t lanes = (n_lanes == 32 ? UINT32_MAX : ((uint32_t)1 << n_lanes) - 1) << (j * n_lanes);
    fine = lane_by_lane(p, lanes);
  }
  return fine;
}

/* ---- a request ---- */

static const ShadowRegion *region_of(PtxShadow *s, const PtxPlain *a) {
  for (int32_t k = -1; k < s->n_regions; k++) {
    const int32_t at = k < 0 ? s->last_region : k;
    if (at >= s->n_regions || a->first - s->regions[at].address >= (uint64_t)s->regions[at].n_bytes) continue;
    s->last_region = at;
    return &s->regions[at];
  }
  return NULL;
}

bool ptx_shadow_plain(PtxShadow *s, const PtxPlain *a) {
  ShadowBlock *b = shadow_block(s, a->block);
  const int32_t granules = a->bytes >> s->shift;
  if (!b || s->sync[a->pc] || !granules || (a->stores && a->element_bytes < s->granule)) return false;
  const ShadowRegion *region = a->global ? region_of(s, a) : &b->shared;
  if (!region || (a->stores && region->read_only)) return false;
  if (!a->global) b->now++;
  const uint32_t *clocks = b->clocks[a->warp];
  const Plain p = {.a = a,
                   .region = region,
                   .first = (int64_t)((a->first - region->address) >> s->shift),
                   .shift = s->shift,
                   .synced = b->synced,
                   .when = b->now,
                   .clocks = clocks,
                   .now = {.pc1 = a->pc + 1, .clock = clocks[a->warp] + 1, .block = (int32_t)a->block}};
  if (a->side_by_side && p.first % LINE_CELLS == 0) return lines(&p, __builtin_ctz((unsigned)granules));
  return lane_by_lane(&p, a->mask);
}
