#include "sim/algorithms/walk/place.h"

/* ---- Totals up to a step ---------------------------------------------------------------------------------- */

static bool is_empty(const ProgramOp *op, const PlaceBlocks *r) {
  for (int dim = 0; dim < DIM_COUNT; dim++)
    if ((op->loops >> dim & 1) && r->of[dim].end <= r->of[dim].begin) return true;
  return false;
}

static Wide count_before(const Schedule *s, const Plan *plan, const Cursor *c, int op, CountWhat what,
                         const PlaceBlocks *within) {
  CountPart parts[COUNT_PARTS_MAX] = {{0, s->n_ops, *within}};
  const int n = !c || c->done ? 1 : count_parts(s, plan, c, within, parts);
  CountForm form;
  Wide sum = 0;
  count_form(s, plan, op, op + 1, what, &form);
  for (int k = 0; k < n; k++) {
    PlaceBlocks *r = &parts[k].blocks;
    if (op < parts[k].first || op >= parts[k].end || is_empty(&s->ops[op], r)) continue;
    if (s->ops[op].diagonal) r->of[DIM_I] = span_overlap(r->of[DIM_I], r->of[DIM_J]);
    sum += count_by_form(s, plan, &form, r);
  }
  return sum;
}

Wide place_count(const Schedule *s, const Plan *plan, const Cursor *before, int op, const PlaceBlocks *within) {
  return count_before(s, plan, before, op, COUNT_STEPS, within);
}

Wide place_count_bytes(const Schedule *s, const Plan *plan, const Cursor *before, int op, const PlaceBlocks *within) {
  return count_before(s, plan, before, op, COUNT_BYTES, within);
}

void place_traffic(const Schedule *s, const Plan *plan, uint64_t step, Traffic *traffic) {
  Cursor cursor;
  bool overflow = false;
  if (schedule_seek(s, plan, &cursor, step))
    schedule_traffic_before(s, plan, &cursor, traffic, &overflow);
  else
    schedule_traffic(s, plan, traffic, &overflow);
}

/* ---- Tiles, rows and passes ------------------------------------------------------------------------------- */

static bool is_tile_loop(const Schedule *s, int loop) {
  const ProgramOp *l = &s->ops[loop];
  const uint8_t loops = (uint8_t)(l->loops | 1 << l->dim);
  return l->diagonal || (l->dim <= DIM_J && (loops & (IN_I | IN_J)) == (IN_I | IN_J));
}

static int outermost(const Schedule *s, int op) {
  int loop = s->ops[op].parent;
  if (loop < 0) return op;
  while (s->ops[loop].parent >= 0) loop = s->ops[loop].parent;
  return loop;
}

static uint64_t step_at(const Schedule *s, const Plan *plan, Cursor c, int op) {
  c.op = (uint8_t)op;
  return (uint64_t)place_step(s, plan, &c);
}

/* The steps of the cursor's present iteration of a loop. */
static PlaceSteps iteration(const Schedule *s, const Plan *plan, Cursor c, int loop) {
  const Dim dim = (Dim)s->ops[loop].dim;
  PlaceSteps steps = {step_at(s, plan, c, loop + 1), 0};
  c.at[dim]++;
  steps.end = step_at(s, plan, c, loop + 1);
  return steps;
}

/* Within a row: what comes before its loops over tiles, between them, or after them. */
static PlaceSteps beside_tiles(const Schedule *s, const Plan *plan, const Cursor *c, int row) {
  PlaceSteps steps = iteration(s, plan, *c, row);
  for (int op = row + 2; op < s->ops[row].end; op++) {
    if (s->ops[op].kind != OP_LOOP || s->ops[op].parent != row || !is_tile_loop(s, op)) continue;
    if (op > c->op) {
      steps.end = step_at(s, plan, *c, op);
      break;
    }
    steps.begin = step_at(s, plan, *c, s->ops[op].end + 1);
  }
  return steps;
}

/* The loop whose iterations are rows: that of the CTAs, or in a head that is one CTA the loop around that over tiles.
 */
static int row_loop(const Schedule *s, int inner) {
  for (int loop = inner; loop >= 0; loop = s->ops[loop].parent)
    if (s->ops[loop].every && !is_tile_loop(s, loop)) return loop;
  return is_tile_loop(s, inner) && s->ops[inner].parent >= 0 ? s->ops[inner].parent : inner;
}

PlaceSteps place_steps(const Schedule *s, const Plan *plan, uint64_t step, PlaceKind kind) {
  Cursor c;
  Event e;
  const uint64_t n_steps = (uint64_t)schedule_n_steps(s, plan);
  if (!schedule_seek(s, plan, &c, step) || !schedule_next(s, plan, &c, &e)) return (PlaceSteps){n_steps, n_steps};
  if (e.kind == EVENT_SKIP) c.at[s->ops[e.op].dim]--; /* the walk has gone on already */
  c.op = e.op;
  const int inner = s->ops[e.op].parent;
  if (kind == PLACE_PASS) {
    const int loop = outermost(s, e.op);
    return (PlaceSteps){step_at(s, plan, c, loop), step_at(s, plan, c, s->ops[loop].end + 1)};
  }
  const bool on_tile = is_tile_loop(s, inner);
  const int row = row_loop(s, inner);
  if (kind == PLACE_TILE && on_tile) return iteration(s, plan, c, inner);
  if (kind == PLACE_TILE) return beside_tiles(s, plan, &c, row);
  return iteration(s, plan, c, row);
}

/* ---- CTAs ------------------------------------------------------------------------------------------------- */

/* The loops of a pass whose iterations are CTAs of row blocks and splits, outer first; tiles belong to their rows. */
static int cta_loops(const Schedule *s, int pass, int *loops) {
  int n = 0;
  for (int op = 0; op < s->n_ops; op++) {
    const ProgramOp *o = &s->ops[op];
    if (o->kind == OP_LOOP && o->pass == pass && o->every && !is_tile_loop(s, op) && n < PROGRAM_DEPTH_MAX)
      loops[n++] = op;
  }
  return n;
}

static int first_op_of(const Schedule *s, int pass) {
  for (int op = 0; op < s->n_ops; op++)
    if (s->ops[op].kind == OP_LOOP && s->ops[op].pass == pass) return op;
  return -1;
}

static bool pass_happens(const Schedule *s, const Plan *plan, int pass) {
  const int op = first_op_of(s, pass);
  return op >= 0 && !(s->ops[op].when & ~schedule_when(plan));
}

int64_t place_n_ctas(const Schedule *s, const Plan *plan, int pass) {
  int loops[PROGRAM_DEPTH_MAX];
  int64_t n = 1;
  if (!pass_happens(s, plan, pass)) return 0;
  for (int k = cta_loops(s, pass, loops) - 1; k >= 0; k--) {
    const Span range = walk_range(plan, &s->ops[loops[k]], 0);
    n *= range.end - range.begin;
  }
  return n;
}

PlaceSteps place_cta(const Schedule *s, const Plan *plan, int pass, int64_t n) {
  int loops[PROGRAM_DEPTH_MAX];
  const int n_loops = cta_loops(s, pass, loops), first = first_op_of(s, pass);
  Cursor c = {.begun = true, .i = -1, .j = -1, .split = -1};
  if (n_loops == 0) {
    const int end = s->whole_head ? s->n_ops - 1 : s->ops[first].end + 1;
    return (PlaceSteps){step_at(s, plan, c, first), step_at(s, plan, c, end)};
  }
  for (int k = n_loops - 1; k >= 0; k--) {
    const ProgramOp *loop = &s->ops[loops[k]];
    const Span range = walk_range(plan, loop, 0);
    const int64_t size = range.end - range.begin;
    c.at[loop->dim] = schedule_backwards(plan, loop) ? size - 1 - n % size : n % size;
    if (loop->dim == DIM_S) c.split = n % size;
    if (loop->dim == DIM_H) c.head = n % size;
    n = n / size;
  }
  return iteration(s, plan, c, loops[n_loops - 1]);
}

int64_t place_cta_of(const Schedule *s, const Plan *plan, const Event *e) {
  int loops[PROGRAM_DEPTH_MAX];
  const int n_loops = cta_loops(s, e->pass, loops);
  const int64_t index[DIM_COUNT] = {max64(e->i, 0), max64(e->j, 0), e->split, e->head};
  int64_t n = 0;
  for (int k = 0; k < n_loops; k++) {
    const Span range = walk_range(plan, &s->ops[loops[k]], 0);
    n = n * (range.end - range.begin) + index[s->ops[loops[k]].dim];
  }
  return n;
}

/* ---- The grid --------------------------------------------------------------------------------------------- */

/* The last loop over tiles of a pass; -1: it visits none. */
static int tile_loop_of(const Schedule *s, int pass) {
  int last = -1;
  for (int op = 0; op < s->n_ops; op++)
    if (s->ops[op].kind == OP_LOOP && s->ops[op].pass == pass && is_tile_loop(s, op)) last = op;
  return last;
}

/* The loop of dimension `dim` around loop `op`, or that one itself; -1: none. */
static int loop_around(const Schedule *s, int op, Dim dim) {
  while (op >= 0 && s->ops[op].dim != dim) op = s->ops[op].parent;
  return op;
}

static bool goes_back(const Schedule *s, const Plan *plan, int loop) {
  return loop >= 0 && schedule_backwards(plan, &s->ops[loop]);
}

static TileOrder order_of(const Schedule *s, const Plan *plan, int tiles) {
  const int rows = loop_around(s, tiles, DIM_I), columns = loop_around(s, tiles, DIM_J),
            splits = columns >= 0 && s->ops[columns].in_split ? loop_around(s, columns, DIM_S) : -1;
  return (TileOrder){
      .T_r = plan->T_r,
      .T_c = plan->T_c,
      .tiles_per_split = splits >= 0 ? max64(plan->tiles_per_split, 1) : plan->T_c,
      .column_by_column = s->ops[tiles].dim == DIM_I && !s->ops[tiles].diagonal,
      .splits_outer = splits >= 0 && loop_around(s, splits, DIM_I) < 0,
      .rows_reversed = goes_back(s, plan, rows),
      .columns_reversed = goes_back(s, plan, columns),
      .splits_reversed = goes_back(s, plan, splits),
  };
}

Wide place_tiles_before(const TileOrder *o, int64_t i, int64_t j) {
  const int64_t begin = j / o->tiles_per_split * o->tiles_per_split, end = min64(begin + o->tiles_per_split, o->T_c);
  const int64_t columns = o->splits_reversed ? o->T_c - end : begin; /* of the splits before this one */
  const int64_t row = o->rows_reversed ? o->T_r - 1 - i : i, column = o->columns_reversed ? end - 1 - j : j - begin;
  if (o->column_by_column) return wide(columns + column) * wide(o->T_r) + wide(row);
  if (o->splits_outer) return wide(columns) * wide(o->T_r) + wide(row) * wide(end - begin) + wide(column);
  return wide(row) * wide(o->T_c) + wide(columns + column);
}

/* Tiles before those that an event outside the loop over tiles stands at: before them, or (`is_behind`) with them. */
static Wide tiles_before_event(const TileOrder *o, const Event *e, bool has_split, bool is_behind) {
  const int64_t n_splits = ceil_div(o->T_c, o->tiles_per_split); /* that have tiles */
  const int64_t outer = is_behind != o->splits_reversed ? n_splits - 1 : 0;
  const bool is_empty = has_split && e->split >= n_splits; /* it comes after all others, or before them */
  const int64_t split = has_split ? min64(e->split, n_splits - 1) : outer;
  Span rows = {0, o->T_r}, columns = {split * o->tiles_per_split, min64((split + 1) * o->tiles_per_split, o->T_c)};
  if (e->i >= 0) rows = (Span){e->i, e->i + 1};
  if (o->column_by_column && e->j >= 0) columns = (Span){e->j, e->j + 1};
  if (is_empty) is_behind = !o->splits_reversed;
  const int64_t i = is_behind != o->rows_reversed ? rows.end - 1 : rows.begin,
                j = is_behind != o->columns_reversed ? columns.end - 1 : columns.begin;
  return place_tiles_before(o, i, j) + is_behind;
}

PlaceInGrid place_in_grid(const Schedule *s, const Plan *plan, const Event *e, bool is_over) {
  PlaceInGrid g = {.i = -1, .j = -1};
  const int pass = is_over ? s->n_passes : e ? e->pass : 0;
  for (int p = 0; p < s->n_passes; p++) {
    const int loop = tile_loop_of(s, p);
    if (loop < 0) continue;
    g.n_laps++;
    g.lap += p < pass;
    if (p <= pass || g.n_laps == 1) g.order = order_of(s, plan, loop);
  }
  if (g.n_laps == 0) g.order = (TileOrder){.T_r = plan->T_r, .T_c = plan->T_c, .tiles_per_split = plan->T_c};
  const int tiles = is_over || !e ? -1 : tile_loop_of(s, pass);
  if (tiles < 0) return g;
  const bool has_tile = (s->ops[e->op].loops & (IN_I | IN_J)) == (IN_I | IN_J);
  Event beside = *e;
  g.at_work = has_tile;
  g.line = max64(g.order.column_by_column ? e->j : e->i, 0);
  if (has_tile) {
    g.i = e->i;
    g.j = e->j;
    *(g.order.column_by_column ? &beside.i : &beside.j) = -1;
  }
  if (has_tile && e->op > tiles && !s->diagonal)
    g.n_over = place_tiles_before(&g.order, e->i, e->j);
  else /* behind them; else before them, or it only looks */
    g.n_over = tiles_before_event(&g.order, &beside, g.order.tiles_per_split < plan->T_c && s->ops[e->op].loops & IN_S,
                                  !has_tile && e->op > s->ops[tiles].end && !s->diagonal);
  return g;
}
