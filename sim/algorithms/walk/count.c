/* Counting without walking: every statement is executed for a region of blocks, and regions are counted by the mask. */
#include "sim/algorithms/walk/count.h"

#include <string.h>

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

static Span overlap(Span a, Span b) { return (Span){max64(a.begin, b.begin), min64(a.end, b.end)}; }
static Wide length(Span s) { return s.end > s.begin ? wide(s.end - s.begin) : 0; }

static Wide elements(Span blocks, int64_t B, int64_t N) {
  return blocks.end > blocks.begin ? wide(min64(blocks.end * B, N) - min64(blocks.begin * B, N)) : 0;
}

CountRanges count_all(const Plan *plan) {
  return (CountRanges){{{0, plan->T_r}, {0, plan->T_c}, {0, plan->tiling.n_splits}}};
}

/* ---- Regions ---------------------------------------------------------------------------------------------- */

/* The column blocks of the splits in the range, among those of the range of columns. */
static Span columns_of(const Plan *plan, const CountRanges *r) {
  const Span s = r->of[DIM_S];
  const int64_t per = plan->tiles_per_split;
  return overlap(r->of[DIM_J], (Span){min64(s.begin * per, plan->T_c), min64(s.end * per, plan->T_c)});
}

static MaskTiles tiles_of(const Plan *plan, Span rows, Span cols) {
  return (MaskTiles){plan->tiling.B_r, plan->tiling.B_c, rows, cols};
}

/* A statement's executions: how many, how many of them on full tiles, and the sums of their rows, columns and areas. */
typedef struct {
  Wide n, full, skipped, rows, cols, area;
} Region;

static Region region_of(const Plan *plan, const ProgramOp *op, const CountRanges *r) {
  const Span rows = r->of[DIM_I], cols = op->columns_split ? columns_of(plan, r) : r->of[DIM_J];
  const Wide N_rows = elements(rows, plan->tiling.B_r, plan->shape.N_q),
             N_cols = elements(cols, plan->tiling.B_c, plan->shape.N_k);
  const bool i = op->loops & IN_I, j = op->loops & IN_J;
  Region g = {.n = 1};
  if (i && j) {
    const MaskTiles tiles = tiles_of(plan, rows, cols);
    const MaskCount c = mask_count(&plan->mask, &tiles);
    if (op->masked)
      g = (Region){c.computed, c.full, c.tiles - c.computed, c.rows, c.cols, c.area};
    else
      g = (Region){c.tiles, c.full, 0, N_rows * length(cols), N_cols * length(rows), N_rows * N_cols};
  } else if (i) {
    g = (Region){.n = length(rows), .rows = N_rows};
  } else if (j) {
    g = (Region){.n = length(cols), .cols = N_cols};
  }
  if ((op->loops & IN_S) && !op->columns_split) {
    const Wide splits = length(r->of[DIM_S]);
    g.n *= splits, g.full *= splits, g.skipped *= splits, g.rows *= splits, g.cols *= splits, g.area *= splits;
  }
  return g;
}

/* Of a load that happens only if a loop has a tile. */
static Region region_seen(const Plan *plan, const ProgramOp *op, const ProgramOp *loop, const CountRanges *r) {
  MaskSeen seen;
  if (loop->dim == DIM_I) {
    const MaskTiles tiles =
        tiles_of(plan, (Span){0, plan->T_r}, op->columns_split ? columns_of(plan, r) : r->of[DIM_J]);
    seen = mask_cols_seen(&plan->mask, &tiles);
    return (Region){.n = seen.blocks, .cols = seen.elements};
  }
  if ((op->loops & IN_S) && plan->mask.pattern) { /* each split by itself */
    Region sum = {0};
    for (int64_t split = r->of[DIM_S].begin; split < r->of[DIM_S].end; split++) {
      const MaskTiles tiles = tiles_of(plan, r->of[DIM_I], walk_range(plan, loop, split));
      seen = mask_rows_seen(&plan->mask, &tiles);
      sum.n += seen.blocks;
      sum.rows += seen.elements;
    }
    return sum;
  }
  if (op->loops & IN_S) { /* of a band, a split is one wide tile */
    MaskTiles tiles = tiles_of(plan, r->of[DIM_I], r->of[DIM_S]);
    tiles.B_c = plan->tiles_per_split * plan->tiling.B_c;
    tiles.cols.end = min64(tiles.cols.end, ceil_div(plan->shape.N_k, tiles.B_c));
    const MaskCount c = mask_count(&plan->mask, &tiles);
    return (Region){.n = c.computed, .rows = c.rows};
  }
  const MaskTiles tiles = tiles_of(plan, r->of[DIM_I], (Span){0, plan->T_c});
  seen = mask_rows_seen(&plan->mask, &tiles);
  return (Region){.n = seen.blocks, .rows = seen.elements};
}

/* Only the first iteration of the loops that `once` names. */
static bool cut_to_first(const Schedule *s, const Plan *plan, const ProgramOp *op, CountRanges *r) {
  for (int loop = op->parent; loop >= 0; loop = s->ops[loop].parent) {
    const ProgramOp *l = &s->ops[loop];
    if (!(op->first >> l->dim & 1)) continue;
    Span *range = &r->of[l->dim];
    const Span all = walk_range(plan, l, max64(r->of[DIM_S].begin, 0));
    const int64_t first = l->either_way && plan->tiling.reversed ? all.end - 1 : all.begin;
    *range = overlap(*range, (Span){first, first + 1});
    if (range->end <= range->begin) return false;
  }
  return true;
}

/* ---- Adding up -------------------------------------------------------------------------------------------- */

typedef struct {
  const Schedule *s;
  const Plan *plan;
  const CountRanges *ranges;
  bool known[16];
  Region regions[16]; /* by loops and masked, which most statements of a loop share */
} Adder;

static const Region *shared_region(Adder *a, const ProgramOp *op) {
  const int key = op->loops | (op->masked ? 8 : 0);
  if (!a->known[key]) a->regions[key] = region_of(a->plan, op, a->ranges);
  a->known[key] = true;
  return &a->regions[key];
}

/* False: it never happens in these ranges. */
static bool find_region(Adder *a, const ProgramOp *op, Region *g) {
  if ((op->when & ~schedule_when(a->plan)) || op->never) return false;
  if (op->first) {
    CountRanges r = *a->ranges;
    if (!cut_to_first(a->s, a->plan, op, &r)) return false;
    *g = region_of(a->plan, op, &r);
  } else if (op->needs >= 0) {
    *g = region_seen(a->plan, op, &a->s->ops[op->needs], a->ranges);
  } else {
    *g = *shared_region(a, op);
  }
  if (op->kind == OP_TEST) g->n = g->skipped;
  if (op->partial_only) g->n -= g->full;
  return true;
}

static bool counts(const ProgramOp *op) { return op->kind == OP_EVENT || (op->kind == OP_TEST && op->of); }

Wide count_steps(const Schedule *s, const Plan *plan, int first, int end, const CountRanges *ranges) {
  Adder a = {.s = s, .plan = plan, .ranges = ranges};
  Wide steps = 0;
  Region g;
  for (int k = first; k < end; k++)
    if (counts(&s->ops[k]) && find_region(&a, &s->ops[k], &g)) steps += g.n;
  return steps;
}

static void add_moved(const Plan *plan, const ProgramOp *op, const Region *g, Wide *bytes, bool *overflow) {
  Wide n = op->rows && op->cols ? g->area : op->rows ? g->rows : op->cols ? g->cols : g->n;
  n = checked_mul(n,
                  op->words     ? (Wide)op->words * STATS_BYTES
                  : op->is_fp32 ? STATS_BYTES
                                : wide(plan->element_bytes),
                  overflow);
  if (op->width) n = checked_mul(n, wide(op->width == SIDE_DV ? plan->shape.d_v : plan->shape.d), overflow);
  *bytes = checked_add(*bytes, n, overflow);
}

static void add_op(const Plan *plan, const ProgramOp *op, const Region *g, Traffic *t, bool *overflow) {
  t->steps += g->n;
  if (op->kind == OP_TEST) {
    t->tiles[TILE_SKIPPED] += g->n;
    return;
  }
  if (op->event == EVENT_LOAD) add_moved(plan, op, g, &t->read[op->tensor], overflow);
  if (op->event == EVENT_STORE) add_moved(plan, op, g, &t->write[op->tensor], overflow);
  if (op->event == EVENT_PRODUCT) {
    t->tiles[TILE_FULL] += g->full;
    t->tiles[TILE_PARTIAL] += g->n - g->full;
  }
  const Wide per_pair = op->products_d * wide(plan->shape.d) + op->products_dv * wide(plan->shape.d_v);
  t->flops = checked_add(t->flops, checked_mul(g->area, 2 * per_pair, overflow), overflow);
}

static void add_range(const Schedule *s, const Plan *plan, int first, int end, const CountRanges *ranges, Traffic *t,
                      bool *overflow) {
  Adder a = {.s = s, .plan = plan, .ranges = ranges};
  Region g;
  for (int k = first; k < end; k++)
    if (counts(&s->ops[k]) && find_region(&a, &s->ops[k], &g)) add_op(plan, &s->ops[k], &g, t, overflow);
}

/* ---- Prefixes --------------------------------------------------------------------------------------------- */

Span count_iterations(const Schedule *s, const Plan *plan, int loop, int64_t split, int64_t from, int64_t to) {
  const ProgramOp *op = &s->ops[loop];
  const Span all = walk_range(plan, op, split);
  if (op->either_way && plan->tiling.reversed) return (Span){all.end - to, all.end - from};
  return (Span){all.begin + from, all.begin + to};
}

void schedule_traffic_before(const Schedule *s, const Plan *plan, const Cursor *c, Traffic *t, bool *overflow) {
  memset(t, 0, sizeof *t);
  int chain[PROGRAM_DEPTH_MAX], n = 0, first = 0;
  const int at = c->op;
  const bool testing = s->ops[at].kind == OP_TEST;
  for (int loop = s->ops[at].parent; loop >= 0; loop = s->ops[loop].parent) chain[n++] = loop;
  CountRanges r = count_all(plan);
  for (int k = n - 1; k >= 0; k--) {
    const int loop = chain[k];
    const Dim dim = (Dim)s->ops[loop].dim;
    const int64_t split = max64(c->split, 0);
    add_range(s, plan, first, loop, &r, t, overflow);
    r.of[dim] = count_iterations(s, plan, loop, split, 0, c->at[dim]);
    add_range(s, plan, loop, s->ops[loop].end + 1, &r, t, overflow);
    if (k == 0 && testing) return;
    r.of[dim] = count_iterations(s, plan, loop, split, c->at[dim], c->at[dim] + 1);
    first = loop + 2;
  }
  add_range(s, plan, first, at, &r, t, overflow);
}

void schedule_traffic(const Schedule *s, const Plan *plan, Traffic *t, bool *overflow) {
  const CountRanges all = count_all(plan);
  memset(t, 0, sizeof *t);
  add_range(s, plan, 0, s->n_ops, &all, t, overflow);
}

Wide schedule_n_steps(const Schedule *s, const Plan *plan) {
  const CountRanges all = count_all(plan);
  return count_steps(s, plan, 0, s->n_ops, &all);
}
