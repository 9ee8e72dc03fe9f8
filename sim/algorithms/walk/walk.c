/* Walking a program: one event a call. */

#include "sim/algorithms/walk/walk.h"

Span walk_range(const Plan *plan, const ProgramOp *loop, int64_t split) {
  switch (loop->dim) {
  case DIM_I: return (Span){0, loop->diagonal ? min64(plan->T_r, plan->T_c) : plan->T_r};
  case DIM_S: return (Span){0, plan->tiling.n_splits};
  case DIM_H: return (Span){0, schedule_group(plan)};
  default: break;
  }
  if (!loop->in_split) return (Span){0, plan->T_c};
  const int64_t begin = min64(split * plan->tiles_per_split, plan->T_c);
  return (Span){begin, min64(begin + plan->tiles_per_split, plan->T_c)};
}

/* ---- Loops ------------------------------------------------------------------------------------------------ */

static void walk_leave_blocks(Cursor *c, Dim dim) {
  if (dim == DIM_I) {
    c->i = -1;
    c->row0 = c->row1 = 0;
  } else if (dim == DIM_J) {
    c->j = -1;
    c->col0 = c->col1 = 0;
  } else {
    *(dim == DIM_S ? &c->split : &c->head) = dim == DIM_S ? -1 : 0;
    return;
  }
  c->tile = TILE_FULL;
}

void walk_leave_loop(const ProgramOp *loop, Cursor *c) {
  walk_leave_blocks(c, (Dim)loop->dim);
  if (loop->diagonal) walk_leave_blocks(c, DIM_J);
}

/* Which tiles of the loop are computed, and full, beside the outer block that the cursor is in. */
static void find_spans(const Plan *plan, Cursor *c, Dim dim) {
  const Tiling *t = &plan->tiling;
  BandRow row = {{0, 0}, {0, 0}};
  if (dim == DIM_J && c->i >= 0) row = band_row(&plan->band, t->B_r, t->B_c, c->i);
  if (dim == DIM_I && c->j >= 0) row = band_row(&plan->keys, t->B_c, t->B_r, c->j);
  c->computed = row.computed;
  c->full = row.full;
}

void walk_enter_loop(const Plan *plan, const ProgramOp *loop, Cursor *c) {
  const Span range = walk_range(plan, loop, c->split);
  c->at[loop->dim] = 0;
  c->n[loop->dim] = range.end - range.begin;
  if (loop->dim <= DIM_J && !loop->diagonal) find_spans(plan, c, (Dim)loop->dim);
}

static inline TileKind kind_of(const Plan *plan, const Cursor *c, int64_t index) {
  if (plan->mask.pattern) return mask_tile(&plan->mask, c->row0, c->row1, c->col0, c->col1);
  if (index < c->computed.begin || index >= c->computed.end) return TILE_SKIPPED;
  return index >= c->full.begin && index < c->full.end ? TILE_FULL : TILE_PARTIAL;
}

/* A split or a head; or along the diagonal row block and column block `index`, where what the mask hides of their tile
 * is computed, then masked. */
static __attribute__((noinline)) void set_other(const Plan *plan, const ProgramOp *loop, Cursor *c, int64_t index) {
  if (loop->dim > DIM_J) {
    *(loop->dim == DIM_S ? &c->split : &c->head) = index;
    return;
  }
  c->i = c->j = index;
  c->row0 = index * plan->tiling.B_r;
  c->row1 = min64(c->row0 + plan->tiling.B_r, plan->shape.N_q);
  c->col0 = index * plan->tiling.B_c;
  c->col1 = min64(c->col0 + plan->tiling.B_c, plan->shape.N_k);
  c->tile = (uint8_t)mask_tile(&plan->mask, c->row0, c->row1, c->col0, c->col1);
  if (c->tile == TILE_SKIPPED) c->tile = TILE_PARTIAL;
}

static inline __attribute__((always_inline)) void set_block(const Plan *plan, const ProgramOp *loop, Cursor *c) {
  const Tiling *t = &plan->tiling;
  int64_t index = c->at[loop->dim];
  if (schedule_backwards(plan, loop)) index = c->n[loop->dim] - 1 - index;
  if (loop->dim > DIM_J || loop->diagonal) {
    set_other(plan, loop, c, index);
    return;
  }
  if (loop->dim == DIM_I) {
    c->i = index;
    c->row0 = index * t->B_r;
    c->row1 = min64(c->row0 + t->B_r, plan->shape.N_q);
    if (c->j < 0) return;
  } else {
    if (loop->in_split) index += min64(c->split * plan->tiles_per_split, plan->T_c);
    c->j = index;
    c->col0 = index * t->B_c;
    c->col1 = min64(c->col0 + t->B_c, plan->shape.N_k);
    if (c->i < 0) return;
  }
  c->tile = (uint8_t)kind_of(plan, c, index);
  if (!loop->of && c->tile == TILE_SKIPPED) c->tile = TILE_PARTIAL; /* computed, then masked */
}

void walk_set_block(const Plan *plan, const ProgramOp *loop, Cursor *c) { set_block(plan, loop, c); }

/* ---- Conditions ------------------------------------------------------------------------------------------- */

bool walk_has_tile(const Plan *plan, const ProgramOp *loop, const Cursor *c) {
  const Tiling *t = &plan->tiling;
  const Span range = walk_range(plan, loop, c->split);
  if (plan->mask.pattern) {
    MaskTiles tiles = {t->B_r, t->B_c, {c->i, c->i + 1}, range};
    if (loop->dim == DIM_I) tiles = (MaskTiles){t->B_r, t->B_c, range, {c->j, c->j + 1}};
    return mask_count(&plan->mask, &tiles).computed > 0;
  }
  const BandRow row =
      loop->dim == DIM_J ? band_row(&plan->band, t->B_r, t->B_c, c->i) : band_row(&plan->keys, t->B_c, t->B_r, c->j);
  return max64(row.computed.begin, range.begin) < min64(row.computed.end, range.end);
}

static inline bool holds(const Plan *plan, uint8_t when) { return !when || !(when & ~schedule_when(plan)); }

static inline bool happens(const Schedule *s, const Plan *plan, const ProgramOp *op, const Cursor *c) {
  if (op->partial_only) return c->tile == TILE_PARTIAL && holds(plan, op->when);
  if (op->never || !holds(plan, op->when)) return false;
  if (op->first && (((op->first & IN_I) && c->at[DIM_I]) || ((op->first & IN_J) && c->at[DIM_J]) ||
                    ((op->first & IN_S) && c->at[DIM_S]) || ((op->first & IN_H) && c->at[DIM_H])))
    return false;
  return op->needs < 0 || walk_has_tile(plan, &s->ops[op->needs], c);
}

/* ---- Events ----------------------------------------------------------------------------------------------- */

/* Of a tile with sides of the program's own, or with neither rows nor columns. */
static __attribute__((noinline)) uint64_t other_width(const Schedule *s, const Plan *plan, const ProgramOp *op) {
  return (uint64_t)(schedule_side(s, plan, op->width) * schedule_side(s, plan, op->height));
}

static uint64_t bytes_of(const Schedule *s, const Plan *plan, const ProgramOp *op, const Event *e) {
  uint64_t bytes = op->fixed_bytes ? op->fixed_bytes : (uint64_t)plan_element(plan, op->operand);
  if (op->rows) bytes *= (uint64_t)(e->row1 - e->row0);
  if (op->cols) bytes *= (uint64_t)(e->col1 - e->col0);
  if (op->height || op->width >= SIDE_OWN) return bytes * other_width(s, plan, op);
  return !op->width ? bytes : bytes * (uint64_t)(op->width == SIDE_DV ? plan->shape.d_v : plan->shape.d);
}

/* Of products that are not rows x columns x d or d_v. */
static __attribute__((noinline)) uint64_t other_flops(const Schedule *s, const Plan *plan, const ProgramOp *op,
                                                      const Event *e) {
  uint64_t flops = 0;
  for (int k = op->first_product; k < op->first_product + op->n_products; k++) {
    uint64_t product = 2;
    for (int n = 0; n < 3; n++) {
      const int side = s->products[k].sides[n];
      product *= (uint64_t)(side == SIDE_ROWS   ? e->row1 - e->row0
                            : side == SIDE_COLS ? e->col1 - e->col0
                                                : schedule_side(s, plan, side));
    }
    flops += product;
  }
  return flops;
}

/* Apart from emit, which then keeps all it needs in few registers: so do these two. */
static __attribute__((noinline)) bool count_flops(const Schedule *s, const Plan *plan, const ProgramOp *op, Event *e) {
  e->flops = 2 * (uint64_t)(e->row1 - e->row0) * (uint64_t)(e->col1 - e->col0) *
             (op->products_d * (uint64_t)plan->shape.d + op->products_dv * (uint64_t)plan->shape.d_v);
  if (op->n_products) e->flops += other_flops(s, plan, op, e);
  return true;
}

static __attribute__((noinline)) bool count_bytes(const Schedule *s, const Plan *plan, const ProgramOp *op, Event *e) {
  e->bytes = bytes_of(s, plan, op, e);
  return op->products_d | op->products_dv | op->n_products ? count_flops(s, plan, op, e) : true;
}

/* Writes the event of the operation that the cursor is before, and goes past it. Returns true. */
static inline __attribute__((always_inline)) bool emit(const Schedule *restrict s, const Plan *restrict plan,
                                                       Cursor *restrict c, const ProgramOp *restrict op,
                                                       Event *restrict event) {
  event->kind = op->event;
  event->tensor = op->tensor;
  event->tile = c->tile;
  event->pass = op->pass;
  event->line = op->line;
  event->op = c->op;
  event->split = (uint16_t)max64(c->split, 0);
  event->step = c->step++;
  event->i = c->i;
  event->j = c->j;
  event->row0 = c->row0;
  event->row1 = c->row1;
  event->col0 = c->col0;
  event->col1 = c->col1;
  event->head = c->head;
  event->bytes = event->flops = 0;
  c->op++;
  if (op->moves) return count_bytes(s, plan, op, event);
  return op->products_d | op->products_dv | op->n_products ? count_flops(s, plan, op, event) : true;
}

void walk_begin(Cursor *c) {
  c->begun = true;
  for (int dim = 0; dim < DIM_COUNT; dim++) walk_leave_blocks(c, (Dim)dim);
}

/* Until the next event: loops are entered, tested and left, and statements that do not happen passed over. */
static const ProgramOp *next_event(const Schedule *s, const Plan *plan, Cursor *c) {
  for (;;) {
    const ProgramOp *op = &s->ops[c->op];
    switch (op->kind) {
    case OP_EVENT:
      if (!op->is_checked || happens(s, plan, op, c)) return op;
      c->op++;
      break;
    case OP_LOOP:
      if (!holds(plan, op->when)) {
        c->op = (uint8_t)(op->end + 1);
        break;
      }
      walk_enter_loop(plan, op, c);
      c->op++;
      break;
    case OP_END:
      c->op = (uint8_t)op->end;
      op = &s->ops[c->op];
      c->at[op->dim]++;
      __attribute__((fallthrough));
    case OP_TEST:
      if (c->at[op->dim] == c->n[op->dim]) {
        walk_leave_loop(op, c);
        c->op = (uint8_t)(op->end + 1);
        break;
      }
      set_block(plan, op, c);
      if (op->of && c->tile == TILE_SKIPPED) return op;
      c->op++;
      break;
    case OP_STOP: c->done = true; return NULL;
    default: c->op++; break; /* OP_SET */
    }
  }
}

/* The same for what takes more than a look at the next statement. */
__attribute__((noinline)) static bool find_next(const Schedule *s, const Plan *plan, Cursor *c, Event *event) {
  if (!c->begun) walk_begin(c);
  const ProgramOp *op = next_event(s, plan, c);
  if (!op) return false;
  emit(s, plan, c, op, event);
  if (op->kind == OP_TEST) {
    event->kind = EVENT_SKIP;
    c->at[op->dim]++;
    c->op--;
  }
  return true;
}

bool schedule_next(const Schedule *s, const Plan *plan, Cursor *c, Event *event) {
  const ProgramOp *op = &s->ops[c->op];
  if (op->kind != OP_EVENT || op->is_checked || !c->begun) return find_next(s, plan, c, event);
  return emit(s, plan, c, op, event);
}
