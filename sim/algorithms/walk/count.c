/* Counting without walking: every statement is executed for a region of blocks, and regions are counted by the mask. */
#include "sim/algorithms/walk/count.h"

#include <string.h>

static Wide length(Span s) { return s.end > s.begin ? wide(s.end - s.begin) : 0; }

static Wide elements(Span blocks, int64_t B, int64_t N) {
  return blocks.end > blocks.begin ? wide(min64(blocks.end * B, N) - min64(blocks.begin * B, N)) : 0;
}

PlaceBlocks place_all_blocks(const Plan *plan) {
  return (PlaceBlocks){{{0, plan->T_r}, {0, plan->T_c}, {0, plan->tiling.n_splits}, {0, schedule_group(plan)}}};
}

/* ---- Regions ---------------------------------------------------------------------------------------------- */

/* The column blocks of the splits in the range, among those of the range of columns. */
static Span columns_of(const Plan *plan, const PlaceBlocks *r) {
  const Span s = r->of[DIM_S];
  const int64_t per = plan->tiles_per_split;
  return span_overlap(r->of[DIM_J], (Span){min64(s.begin * per, plan->T_c), min64(s.end * per, plan->T_c)});
}

static MaskTiles tiles_of(const Plan *plan, Span rows, Span cols) {
  return (MaskTiles){plan->tiling.B_r, plan->tiling.B_c, rows, cols};
}

static void repeat(CountSums *g, Wide times) {
  g->n *= times, g->full *= times, g->skipped *= times, g->rows *= times, g->cols *= times, g->area *= times;
}

/* Tiles (k, k) of a range. All whole ones see the same of the mask's band; of a pattern each is looked at. */
static CountSums region_on_diagonal(const Plan *plan, Span blocks) {
  const int64_t B = plan->tiling.B_r, B_c = plan->tiling.B_c, N_q = plan->shape.N_q, N_k = plan->shape.N_k;
  const int64_t whole = min64(N_q / B, N_k / B_c);
  CountSums g = {0};
  for (int64_t k = blocks.begin; k < blocks.end;) {
    const int64_t row0 = k * B, row1 = min64(row0 + B, N_q), col0 = k * B_c, col1 = min64(col0 + B_c, N_k);
    const bool alike = B == B_c && N_q == N_k && k < whole && !plan->mask.pattern;
    const int64_t end = alike ? min64(whole, blocks.end) : k + 1;
    const Wide n = wide(end - k), rows = wide(row1 - row0), cols = wide(col1 - col0);
    g.n += n;
    if (mask_tile(&plan->mask, row0, row1, col0, col1) == TILE_FULL) g.full += n;
    g.rows += n * rows, g.cols += n * cols, g.area += n * rows * cols;
    k = end;
  }
  return g;
}

static CountSums region_of(const Plan *plan, const ProgramOp *op, const PlaceBlocks *r) {
  const Span rows = r->of[DIM_I], cols = op->columns_split ? columns_of(plan, r) : r->of[DIM_J];
  const Wide N_rows = elements(rows, plan->tiling.B_r, plan->shape.N_q),
             N_cols = elements(cols, plan->tiling.B_c, plan->shape.N_k);
  const bool i = op->loops & IN_I, j = op->loops & IN_J;
  CountSums g = {.n = 1};
  if (op->diagonal) {
    g = region_on_diagonal(plan, span_overlap(rows, (Span){0, plan->T_c}));
  } else if (i && j) {
    const MaskCount c = plan_count(plan, rows, cols);
    if (op->masked)
      g = (CountSums){c.computed, c.full, c.tiles - c.computed, c.rows, c.cols, c.area};
    else
      g = (CountSums){c.tiles, c.full, 0, N_rows * length(cols), N_cols * length(rows), N_rows * N_cols};
  } else if (i) {
    g = (CountSums){.n = length(rows), .rows = N_rows};
  } else if (j) {
    g = (CountSums){.n = length(cols), .cols = N_cols};
  }
  if ((op->loops & IN_S) && !op->columns_split) repeat(&g, length(r->of[DIM_S]));
  if (op->loops & IN_H) repeat(&g, length(r->of[DIM_H]));
  return g;
}

/* Of a load that happens only if a loop has a tile. */
static CountSums region_seen(const Plan *plan, const ProgramOp *op, const ProgramOp *loop, const PlaceBlocks *r) {
  MaskSeen seen;
  if (loop->dim == DIM_I) {
    const MaskTiles tiles =
        tiles_of(plan, (Span){0, plan->T_r}, op->columns_split ? columns_of(plan, r) : r->of[DIM_J]);
    seen = mask_cols_seen(&plan->mask, &tiles);
    return (CountSums){.n = seen.blocks, .cols = seen.elements};
  }
  if ((op->loops & IN_S) && plan->mask.pattern) { /* each split by itself */
    CountSums sum = {0};
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
    return (CountSums){.n = c.computed, .rows = c.rows};
  }
  const MaskTiles tiles = tiles_of(plan, r->of[DIM_I], (Span){0, plan->T_c});
  seen = mask_rows_seen(&plan->mask, &tiles);
  return (CountSums){.n = seen.blocks, .rows = seen.elements};
}

/* Only the first iteration of the loops that `once` names. */
static bool cut_to_first(const Schedule *s, const Plan *plan, const ProgramOp *op, PlaceBlocks *r) {
  for (int loop = op->parent; loop >= 0; loop = s->ops[loop].parent) {
    const ProgramOp *l = &s->ops[loop];
    if (!(op->first >> l->dim & 1)) continue;
    Span *range = &r->of[l->dim];
    const Span all = walk_range(plan, l, max64(r->of[DIM_S].begin, 0));
    const int64_t first = schedule_backwards(plan, l) ? all.end - 1 : all.begin;
    *range = span_overlap(*range, (Span){first, first + 1});
    if (range->end <= range->begin) return false;
  }
  return true;
}

/* ---- Adding up -------------------------------------------------------------------------------------------- */

/* The region of a statement that shares none with others; false: it never happens in these ranges. */
static bool own_region(const Schedule *s, const Plan *plan, const ProgramOp *op, const PlaceBlocks *ranges,
                       CountSums *g) {
  if (op->first) {
    PlaceBlocks r = *ranges;
    if (!cut_to_first(s, plan, op, &r)) return false;
    *g = region_of(plan, op, &r);
    return true;
  }
  *g = region_seen(plan, op, &s->ops[op->needs], ranges);
  if (op->loops & IN_H) repeat(g, length(ranges->of[DIM_H]));
  return true;
}

static bool counts(const Plan *plan, const ProgramOp *op) {
  return (op->kind == OP_EVENT || (op->kind == OP_TEST && op->of)) && !op->never && !(op->when & ~schedule_when(plan));
}

static bool has_own_region(const ProgramOp *op) { return op->first || op->needs >= 0; }

/* Statements of the same loops share their region. */
enum { KEYS = 1 << (DIM_COUNT + 2) };
static int key_of(const ProgramOp *op) {
  return op->loops | (op->masked ? 1 << DIM_COUNT : 0) | (op->diagonal ? 2 << DIM_COUNT : 0);
}

/* Its events there. */
static Wide events_of(const ProgramOp *op, const CountSums *g) {
  if (op->kind == OP_TEST) return g->skipped;
  return op->partial_only ? g->n - g->full : g->n;
}

/* What a statement counts for: weights of the sums of its region. */
static CountSums steps_of(const ProgramOp *op) {
  if (op->kind == OP_TEST) return (CountSums){.skipped = 1};
  return (CountSums){.n = 1, .full = op->partial_only ? (Wide)-1 : 0}; /* modulo 2^128 */
}

static CountSums bytes_of(const Schedule *s, const Plan *plan, const ProgramOp *op) {
  if (op->kind != OP_EVENT || !op->moves) return (CountSums){0};
  Wide n = op->words     ? (Wide)op->words * STATS_BYTES
           : op->is_fp32 ? STATS_BYTES
                         : wide(plan_element(plan, op->operand));
  n *= wide(schedule_side(s, plan, op->width)) * wide(schedule_side(s, plan, op->height));
  if (op->rows && op->cols) return (CountSums){.area = n};
  return op->rows ? (CountSums){.rows = n} : op->cols ? (CountSums){.cols = n} : (CountSums){.n = n};
}

static void add_weights(CountSums *sum, const CountSums *w) {
  sum->n += w->n, sum->full += w->full, sum->skipped += w->skipped;
  sum->rows += w->rows, sum->cols += w->cols, sum->area += w->area;
}

static Wide weighed(const CountSums *w, const CountSums *g) {
  Wide sum = w->n * g->n + w->full * g->full + w->skipped * g->skipped;
  if (w->rows | w->cols | w->area) sum += w->rows * g->rows + w->cols * g->cols + w->area * g->area;
  return sum;
}

void count_form(const Schedule *s, const Plan *plan, int first, int end, CountWhat what, CountForm *f) {
  uint8_t at[KEYS]; /* of a key among the terms, where it has one */
  uint64_t known = 0;
  f->n_terms = 0;
  for (int k = first; k < end; k++) {
    const ProgramOp *op = &s->ops[k];
    if (!counts(plan, op)) continue;
    const CountSums w = what == COUNT_BYTES ? bytes_of(s, plan, op) : steps_of(op);
    if (what == COUNT_BYTES && !(w.n | w.rows | w.cols | w.area)) continue;
    const int key = key_of(op);
    if (!has_own_region(op) && known >> key & 1) {
      add_weights(&f->terms[at[key]].weights, &w);
      continue;
    }
    if (!has_own_region(op)) {
      known |= (uint64_t)1 << key;
      at[key] = f->n_terms;
    }
    f->terms[f->n_terms++] = (CountTerm){.op = (uint8_t)k, .weights = w};
  }
}

Wide count_by_form(const Schedule *s, const Plan *plan, const CountForm *f, const PlaceBlocks *ranges) {
  Wide sum = 0;
  for (int k = 0; k < f->n_terms; k++) {
    const ProgramOp *op = &s->ops[f->terms[k].op];
    CountSums g;
    if (!has_own_region(op))
      g = region_of(plan, op, ranges);
    else if (!own_region(s, plan, op, ranges, &g))
      continue;
    sum += weighed(&f->terms[k].weights, &g);
  }
  return sum;
}

static void add_moved(const Schedule *s, const Plan *plan, const ProgramOp *op, const CountSums *g, Wide *bytes,
                      bool *overflow) {
  const CountSums w = bytes_of(s, plan, op); /* one weight */
  const Wide n = op->rows && op->cols ? g->area : op->rows ? g->rows : op->cols ? g->cols : g->n;
  *bytes = checked_add(*bytes, checked_mul(n, w.n | w.rows | w.cols | w.area, overflow), overflow);
}

/* Of a product that is not rows x columns x d or d_v. */
static Wide product_flops(const Schedule *s, const Plan *plan, const ProgramProduct *product, const CountSums *g,
                          bool *overflow) {
  Wide each = 2;
  bool rows = false, cols = false;
  for (int n = 0; n < 3; n++) {
    rows |= product->sides[n] == SIDE_ROWS, cols |= product->sides[n] == SIDE_COLS;
    if (product->sides[n] != SIDE_ROWS && product->sides[n] != SIDE_COLS)
      each *= wide(schedule_side(s, plan, product->sides[n])); /* 2^48 at most */
  }
  return checked_mul(rows && cols ? g->area : rows ? g->rows : cols ? g->cols : g->n, each, overflow);
}

static void add_op(const Schedule *s, const Plan *plan, const ProgramOp *op, const CountSums *g, Traffic *t,
                   bool *overflow) {
  const Wide n = events_of(op, g);
  t->steps += n;
  if (op->kind == OP_TEST) {
    t->tiles[TILE_SKIPPED] += n;
    return;
  }
  if (op->event == EVENT_LOAD) add_moved(s, plan, op, g, &t->read[op->tensor], overflow);
  if (event_goes_out(op->event)) add_moved(s, plan, op, g, &t->write[op->tensor], overflow);
  if (op->event == EVENT_ADD) add_moved(s, plan, op, g, &t->added, overflow);
  if (op->counts_tile) {
    t->tiles[TILE_FULL] += g->full;
    t->tiles[TILE_PARTIAL] += n - g->full;
  }
  const Wide per_pair = op->products_d * wide(plan->shape.d) + op->products_dv * wide(plan->shape.d_v);
  t->flops = checked_add(t->flops, checked_mul(g->area, 2 * per_pair, overflow), overflow);
  for (int k = op->first_product; k < op->first_product + op->n_products; k++)
    t->flops = checked_add(t->flops, product_flops(s, plan, &s->products[k], g, overflow), overflow);
}

static void add_range(const Schedule *s, const Plan *plan, int first, int end, const PlaceBlocks *ranges, Traffic *t,
                      bool *overflow) {
  uint64_t known = 0;
  CountSums shared[KEYS], own; /* by key; not set before they are known */
  for (int k = first; k < end; k++) {
    const ProgramOp *op = &s->ops[k];
    if (!counts(plan, op)) continue;
    const int key = key_of(op);
    const CountSums *g = has_own_region(op) ? &own : &shared[key];
    if (has_own_region(op)) {
      if (!own_region(s, plan, op, ranges, &own)) continue;
    } else if (!(known >> key & 1)) {
      known |= (uint64_t)1 << key;
      shared[key] = region_of(plan, op, ranges);
    }
    add_op(s, plan, op, g, t, overflow);
  }
}

/* ---- Prefixes --------------------------------------------------------------------------------------------- */

Span count_iterations(const Schedule *s, const Plan *plan, int loop, int64_t split, int64_t from, int64_t to) {
  const ProgramOp *op = &s->ops[loop];
  const Span all = walk_range(plan, op, split);
  if (schedule_backwards(plan, op)) return (Span){all.end - to, all.end - from};
  return (Span){all.begin + from, all.begin + to};
}

int count_parts(const Schedule *s, const Plan *plan, const Cursor *c, const PlaceBlocks *within,
                CountPart parts[COUNT_PARTS_MAX]) {
  int chain[PROGRAM_DEPTH_MAX], n = 0, n_parts = 0, first = 0;
  const int64_t split = max64(c->split, 0);
  PlaceBlocks r = *within;
  for (int loop = s->ops[c->op].parent; loop >= 0; loop = s->ops[loop].parent) chain[n++] = loop;
  while (n > 0) {
    const int loop = chain[--n];
    const Dim dim = (Dim)s->ops[loop].dim;
    parts[n_parts++] = (CountPart){first, loop, r};
    r.of[dim] = span_overlap(within->of[dim], count_iterations(s, plan, loop, split, 0, c->at[dim]));
    parts[n_parts++] = (CountPart){loop, s->ops[loop].end + 1, r};
    if (n == 0 && s->ops[c->op].kind == OP_TEST) return n_parts;
    r.of[dim] = span_overlap(within->of[dim], count_iterations(s, plan, loop, split, c->at[dim], c->at[dim] + 1));
    first = loop + 2;
  }
  parts[n_parts++] = (CountPart){first, c->op, r};
  return n_parts;
}

void schedule_traffic_before(const Schedule *s, const Plan *plan, const Cursor *c, Traffic *t, bool *overflow) {
  const PlaceBlocks all = place_all_blocks(plan);
  CountPart parts[COUNT_PARTS_MAX];
  const int n = count_parts(s, plan, c, &all, parts);
  memset(t, 0, sizeof *t);
  for (int k = 0; k < n; k++) add_range(s, plan, parts[k].first, parts[k].end, &parts[k].blocks, t, overflow);
}

void schedule_traffic(const Schedule *s, const Plan *plan, Traffic *t, bool *overflow) {
  const PlaceBlocks all = place_all_blocks(plan);
  memset(t, 0, sizeof *t);
  add_range(s, plan, 0, s->n_ops, &all, t, overflow);
}

Wide schedule_line_bytes(const Schedule *s, const Plan *plan, int line) {
  const PlaceBlocks all = place_all_blocks(plan);
  Wide sum = 0;
  for (int k = 0; k < s->n_ops; k++) {
    CountForm form;
    if (s->ops[k].line != line) continue;
    count_form(s, plan, k, k + 1, COUNT_BYTES, &form);
    sum += count_by_form(s, plan, &form, &all);
  }
  return sum;
}

Wide schedule_n_steps(const Schedule *s, const Plan *plan) {
  const PlaceBlocks all = place_all_blocks(plan);
  CountForm form;
  count_form(s, plan, 0, s->n_ops, COUNT_STEPS, &form);
  return count_by_form(s, plan, &form, &all);
}

/* ---- Loads per block -------------------------------------------------------------------------------------- */

/* The most splits in which one row block sees a key, row by row. */
static int64_t longest_in_splits(const Schedule *s, const Plan *plan, const ProgramOp *op) {
  int64_t longest = 0;
  for (int64_t i = 0; i < plan->T_r; i++) {
    int64_t n = 0;
    for (int64_t split = 0; split < plan->tiling.n_splits; split++)
      n += plan_count(plan, (Span){i, i + 1}, walk_range(plan, &s->ops[op->needs], split)).computed > 0;
    if (n > longest) longest = n;
  }
  return longest;
}

/* How often a load's most often loaded block comes. */
static int64_t loads_of(const Schedule *s, const Plan *plan, const ProgramOp *op) {
  const Tiling *t = &plan->tiling;
  const MaskTiles all = tiles_of(plan, (Span){0, plan->T_r}, (Span){0, plan->T_c});
  uint8_t others = (uint8_t)(op->loops & ~s->names[op->moved[0]].subscripts);
  if (op->diagonal) others &= (uint8_t) ~(IN_I | IN_J);
  if ((others & IN_H) && !op->once) {
    ProgramOp in_one = *op;
    in_one.loops &= (uint8_t)~IN_H;
    return loads_of(s, plan, &in_one) * schedule_group(plan);
  }
  if (op->once || (others & ~IN_S) == 0) {
    if (op->once || !others) return !op->never && (op->needs < 0 || mask_rows_seen(&plan->mask, &all).blocks > 0);
    if (op->needs < 0) return t->n_splits;
    if (plan->mask.pattern) return longest_in_splits(s, plan, op);
    return mask_longest_row(&plan->mask, t->B_r, plan->tiles_per_split * t->B_c);
  }
  if (others & IN_I) return op->masked ? mask_longest_col(&plan->mask, t->B_r, t->B_c) : plan->T_r;
  return op->masked ? mask_longest_row(&plan->mask, t->B_r, t->B_c) : plan->T_c;
}

LoadsPerBlock schedule_loads(const Schedule *s, const Plan *plan) {
  LoadsPerBlock loads = {0};
  for (int k = 0; k < s->n_ops; k++) {
    const ProgramOp *op = &s->ops[k];
    if (op->kind != OP_EVENT || op->event != EVENT_LOAD || (op->when & ~schedule_when(plan))) continue;
    if (s->tensors[op->tensor].role == TENSOR_INPUT) loads.of[op->tensor] += loads_of(s, plan, op);
  }
  return loads;
}
