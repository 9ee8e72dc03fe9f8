/* What the schedule files share: filling in events, and one tile's worth of FlashAttention-2 work.
 * Private to sim/schedule_*.c. */
#ifndef TILEWALK_TESTS_OLD_SCHEDULE_STEP_H
#define TILEWALK_TESTS_OLD_SCHEDULE_STEP_H

#include "tests/support/old_schedule.h"

static inline int64_t step_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t step_max(int64_t a, int64_t b) { return a > b ? a : b; }

static inline void step_rows(const Plan *plan, OldCursor *c) {
  c->row0 = c->i * plan->tiling.B_r;
  c->row1 = step_min(c->row0 + plan->tiling.B_r, plan->shape.N_q);
}

static inline void step_cols(const Plan *plan, OldCursor *c) {
  c->col0 = c->j * plan->tiling.B_c;
  c->col1 = step_min(c->col0 + plan->tiling.B_c, plan->shape.N_k);
}

/* The kind of inner tile `index` by the spans of the present outer block. */
static inline TileKind step_tile_kind(const BandRow *band, int64_t index) {
  if (index < band->computed.begin || index >= band->computed.end) return TILE_SKIPPED;
  return index >= band->full.begin && index < band->full.end ? TILE_FULL : TILE_PARTIAL;
}

/* Rows x d elements of Q or O, columns x d elements of K or V, rows x columns elements of S or P. */
static inline uint64_t step_row_bytes(const Plan *plan, const OldCursor *c) {
  return (uint64_t)(c->row1 - c->row0) * (uint64_t)plan->shape.d * (uint64_t)plan->element_bytes;
}
static inline uint64_t step_col_bytes(const Plan *plan, const OldCursor *c) {
  return (uint64_t)(c->col1 - c->col0) * (uint64_t)plan->shape.d * (uint64_t)plan->element_bytes;
}
static inline uint64_t step_score_bytes(const Plan *plan, const OldCursor *c) {
  return (uint64_t)(c->row1 - c->row0) * (uint64_t)(c->col1 - c->col0) * (uint64_t)plan->element_bytes;
}
static inline uint64_t step_stats_bytes(const OldCursor *c, uint64_t n_per_row) {
  return (uint64_t)(c->row1 - c->row0) * n_per_row * STATS_BYTES;
}
static inline uint64_t step_flops(const Plan *plan, const OldCursor *c) {
  return 2 * (uint64_t)(c->row1 - c->row0) * (uint64_t)(c->col1 - c->col0) * (uint64_t)plan->shape.d;
}

/* Writes an event about the tile (rows, columns) at the cursor and counts it. Always true, to be returned. */
static inline bool step_emit(OldCursor *c, Event *event, EventKind kind, Tensor tensor, uint64_t bytes,
                             uint64_t flops) {
  *event = (Event){.kind = (uint8_t)kind,
                   .tensor = (uint8_t)tensor,
                   .tile = c->tile,
                   .pass = c->pass,
                   .split = (uint16_t)c->split,
                   .step = c->step++,
                   .i = c->i,
                   .j = c->j,
                   .row0 = c->row0,
                   .row1 = c->row1,
                   .col0 = c->col0,
                   .col1 = c->col1,
                   .bytes = bytes,
                   .flops = flops};
  return true;
}

/* The same about rows alone (Q, O, stats), or columns alone (K, V). */
static inline bool step_emit_rows(OldCursor *c, Event *event, EventKind kind, Tensor tensor, uint64_t bytes) {
  step_emit(c, event, kind, tensor, bytes, 0);
  event->j = -1;
  event->col0 = event->col1 = 0;
  event->tile = TILE_FULL;
  return true;
}
static inline bool step_emit_cols(OldCursor *c, Event *event, EventKind kind, Tensor tensor, uint64_t bytes) {
  step_emit(c, event, kind, tensor, bytes, 0);
  event->i = -1;
  event->row0 = event->row1 = 0;
  event->tile = TILE_FULL;
  return true;
}

/* Phases of one key tile in FlashAttention-2's inner loop, shared by fa2 and fa2-split. */
enum { ROW_HEAD = 0, ROW_TILE, ROW_PRODUCT, ROW_MASK, ROW_NEW_MAX, ROW_RESCALE, ROW_LOAD_V, ROW_ACCUMULATE, ROW_TAIL };
enum { ROW_TILE_STEPS = 6 }; /* of a full tile; a partial one has MASK in addition, a skipped one is 1 event */

/* The next event of the inner loop over [c->j, c->stop); false, with phase ROW_TAIL, when it is over. */
static inline bool step_row_tile(const Plan *plan, OldCursor *c, Event *event) {
  switch (c->phase) {
  case ROW_TILE:
    if (c->j == c->stop) {
      c->phase = ROW_TAIL;
      return false;
    }
    step_cols(plan, c);
    c->tile = (uint8_t)step_tile_kind(&c->band, c->j);
    if (c->tile == TILE_SKIPPED) {
      step_emit(c, event, EVENT_SKIP, TENSOR_S, 0, 0);
      c->j++;
      return true;
    }
    c->phase = ROW_PRODUCT;
    return step_emit(c, event, EVENT_LOAD, TENSOR_K, step_col_bytes(plan, c), 0);
  case ROW_PRODUCT:
    c->phase = c->tile == TILE_PARTIAL ? ROW_MASK : ROW_NEW_MAX;
    return step_emit(c, event, EVENT_PRODUCT, TENSOR_S, 0, step_flops(plan, c));
  case ROW_MASK: c->phase = ROW_NEW_MAX; return step_emit(c, event, EVENT_MASK, TENSOR_S, 0, 0);
  case ROW_NEW_MAX: c->phase = ROW_RESCALE; return step_emit(c, event, EVENT_NEW_MAX, TENSOR_STATS, 0, 0);
  case ROW_RESCALE: c->phase = ROW_LOAD_V; return step_emit(c, event, EVENT_RESCALE, TENSOR_O, 0, 0);
  case ROW_LOAD_V:
    c->phase = ROW_ACCUMULATE;
    return step_emit(c, event, EVENT_LOAD, TENSOR_V, step_col_bytes(plan, c), 0);
  default: /* ROW_ACCUMULATE */
    step_emit(c, event, EVENT_ACCUMULATE, TENSOR_O, 0, step_flops(plan, c));
    c->phase = ROW_TILE;
    c->j++;
    return true;
  }
}

/* How many of the inner tiles [from, to) are in a span. */
static inline int64_t step_overlap(Span span, int64_t from, int64_t to) {
  return step_max(0, step_min(span.end, to) - step_max(span.begin, from));
}

/* Events of the inner tiles [from, to): `computed_steps` each plus one MASK if partial, 1 if skipped. */
static inline int64_t step_tile_steps(const BandRow *band, int64_t from, int64_t to, int64_t computed_steps) {
  const int64_t computed = step_overlap(band->computed, from, to), full = step_overlap(band->full, from, to);
  return (to - from - computed) + computed * computed_steps + (computed - full);
}

/* The same from totals of whole outer iterations. */
static inline Wide step_tile_steps_total(const BandCount *count, Wide n_tiles, Wide computed_steps) {
  return (n_tiles - count->computed) + count->computed * computed_steps + (count->computed - count->full);
}

#endif
