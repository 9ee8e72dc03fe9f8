#include "viz/scene/facts.h"

#include <math.h>
#include <string.h>

#include "sim/algorithms/walk/place.h"

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* What the questions are asked of. */
typedef struct {
  const Snapshot *now;
  const Schedule *s;
  Plan plan;
  Cursor cursor; /* before the present event */
  PlaceBlocks all;
} Walk;

/* ---- The mask ---------------------------------------------------------------------------------------------- */

/* Keys among [begin, end) that a row sees: those of a pattern of blocks by its sums, else runs of keys, found by
 * halves.
 */
static int64_t keys_seen(const Mask *m, int64_t row, int64_t begin, int64_t end) {
  const Pattern *p = m->pattern;
  if (p && p->kind == PATTERN_BLOCKS) {
    const Span seen = band_columns(&m->band, row);
    begin = max64(begin, seen.begin);
    end = min64(end, seen.end);
    if (begin >= end) return 0;
    const int64_t whole = min64(ceil_div(begin, p->block) * p->block, end),
                  after = max64(end / p->block * p->block, whole);
    int64_t n = 0;
    if (begin < whole) n += (whole - begin) * pattern_cells(p, row, row + 1, begin, whole).allowed;
    if (whole < after) n += p->block * pattern_cells(p, row, row + 1, whole, after).allowed;
    if (after < end) n += (end - after) * pattern_cells(p, row, row + 1, after, end).allowed;
    return n;
  }
  if (begin >= end) return 0;
  const TileKind kind = mask_tile(m, row, row + 1, begin, end);
  if (kind != TILE_PARTIAL) return kind == TILE_FULL ? end - begin : 0;
  const int64_t middle = begin + (end - begin) / 2;
  return keys_seen(m, row, begin, middle) + keys_seen(m, row, middle, end);
}

/* The first row of [row, end) whose span of keys ends (begins) behind `col`; spans move right from row to row. */
static int64_t first_row(const Band *b, int64_t row, int64_t end, int64_t col, bool ends) {
  while (row < end) {
    const int64_t middle = row + (end - row) / 2;
    const Span seen = band_columns(b, middle);
    if ((ends ? seen.end : seen.begin) > col)
      end = middle;
    else
      row = middle + 1;
  }
  return row;
}

/* Rows that see a key of the tile, and scores that the mask hides: in closed form, under a pattern row by row. */
static void look_at_tile(const Mask *m, Facts *f) {
  enum { MOST_ROWS = 2048 };
  const Event *e = &f->event;
  f->rows = e->row1 - e->row0;
  f->cols = e->col1 - e->col0;
  if (f->line.loop_i < 0 || f->line.loop_j < 0) return;
  if (!m->pattern) {
    const Band part = band_part(&m->band, e->row0, e->col0, f->rows, f->cols);
    const int64_t begin = first_row(&m->band, e->row0, e->row1, e->col0, true),
                  end = first_row(&m->band, e->row0, e->row1, e->col1 - 1, false);
    f->rows_seeing = max64(end - begin, 0);
    f->hidden = f->rows * f->cols - (int64_t)band_pairs(&part);
  } else if (f->rows > 0 && mask_tile(m, e->row0, e->row1, e->col0, e->col1) == TILE_FULL) {
    f->rows_seeing = f->rows;
    f->hidden = 0;
  } else if (f->rows <= MOST_ROWS) {
    int64_t seen = 0;
    f->rows_seeing = 0;
    for (int64_t row = e->row0; row < e->row1; row++) {
      const int64_t n = keys_seen(m, row, e->col0, e->col1);
      f->rows_seeing += n > 0;
      seen += n;
    }
    f->hidden = f->rows * f->cols - seen;
  }
  f->has[NEED_COUNTED] = f->rows_seeing >= 0;
  f->has[NEED_VAIN] = f->rows_seeing == 0;
  f->has[NEED_HIDDEN] = f->hidden > 0;
}

/* The keys of the present part; of all where there is none. */
static Span part_of_keys(const Walk *w, const Facts *f) {
  const int64_t per = w->plan.tiles_per_split * w->plan.tiling.B_c, N_k = w->plan.shape.N_k;
  if (f->line.loop_s < 0) return (Span){0, N_k};
  return (Span){min64(f->event.split * per, N_k), min64((f->event.split + 1) * per, N_k)};
}

/* The columns of the loop's blocks that the walk took before the present one, and those it has yet to take. */
static void columns_beside(const Walk *w, const Facts *f, Span *before, Span *left) {
  const ProgramOp *loop = &w->s->ops[f->line.loop_j];
  const Span range = loop->in_split ? part_of_keys(w, f) : (Span){0, w->plan.shape.N_k};
  *before = (Span){range.begin, f->event.col0};
  *left = (Span){f->event.col1, range.end};
  if (!schedule_backwards(&w->plan, loop)) return;
  const Span swapped = *before;
  *before = *left;
  *left = swapped;
}

static void look_at_row(const Walk *w, Facts *f) {
  const Mask *m = &w->plan.mask;
  const Event *e = &f->event;
  if (w->now->row.row < 0 || !w->now->row.is_computed || f->line.loop_i < 0) return;
  f->row = w->now->row.row;
  f->has[NEED_ROW] = true;
  if (f->line.loop_j < 0) { /* beside the tiles: what it sees in all, of its part */
    const Span part = part_of_keys(w, f);
    f->keys_before = keys_seen(m, f->row, part.begin, part.end);
    f->keys_here = 0;
    return;
  }
  if (w->s->ops[f->line.loop_j].diagonal) return; /* the others of its keys are in no tile */
  Span before, left;
  columns_beside(w, f, &before, &left);
  f->keys_before = keys_seen(m, f->row, before.begin, before.end);
  f->keys_here = keys_seen(m, f->row, e->col0, e->col1);
  f->keys_left = keys_seen(m, f->row, left.begin, left.end);
  f->hidden_from_row = f->cols - f->keys_here;
  const Span band = band_columns(&m->band, f->row);
  const int64_t end = max64(min64(band.end, e->col1), e->col0), begin = min64(max64(band.begin, e->col0), e->col1);
  const int64_t after = e->col1 - end - keys_seen(m, f->row, end, e->col1),
                ahead = begin - e->col0 - keys_seen(m, f->row, e->col0, begin);
  f->has[NEED_UNSEEN] = f->keys_here == 0;
  f->has[NEED_SEEN] = f->keys_here > 0;
  f->has[NEED_NO_KEYS] = f->keys_before == 0;
  f->has[NEED_FIRST_KEYS] = f->keys_before == 0 && f->keys_here > 0;
  f->has[NEED_ALL_KEYS] = f->keys_left == 0 && f->keys_here > 0;
  f->has[NEED_HIDDEN_AFTER] = f->hidden_from_row > 0 && after == f->hidden_from_row;
  f->has[NEED_HIDDEN_BEFORE] = f->hidden_from_row > 0 && ahead == f->hidden_from_row;
  f->has[NEED_HIDDEN_PATTERN] = f->hidden_from_row > 0 && after == 0 && ahead == 0;
}

/* ---- Values of the row ------------------------------------------------------------------------------------- */

static void look_at_values(const Snapshot *now, Facts *f) {
  const SnapshotRow *r = &now->row;
  const LineFacts *l = &f->line;
  double before[PROGRAM_NAMES_MAX];
  if (!f->has[NEED_ROW]) return;
  for (int k = 0; k < PROGRAM_NAMES_MAX; k++) before[k] = r->values[k].before;
  if (l->old >= 0) f->old = before[l->old];
  if (l->best >= 0) f->best = r->values[l->best].now;
  if (l->result >= 0) f->result = r->values[l->result].now;
  if (l->factor >= 0) f->factor = line_value(f->schedule, l->factor, before);
  if (l->sum >= 0) {
    f->sum_before = before[l->sum];
    f->sum = r->values[l->sum].now;
  }
  if (l->divisor >= 0) f->divisor = r->values[l->divisor].now;
  f->has[NEED_DIVISOR] = !isnan(f->divisor);
  const bool is_max = !isnan(f->old) && !isnan(f->best) && !isnan(f->result);
  const bool is_tile = l->best >= 0 && f->schedule->names[l->best].cols == SIDE_COLS;
  f->has[NEED_MAX_OF_TILE] = is_max && is_tile && !r->without_max;
  f->has[NEED_MAX_OF_VALUE] = is_max && !is_tile && !r->without_max;
  f->has[NEED_WITHOUT_MAX] = is_max && r->without_max;
  f->has[NEED_MAXIMUM] = is_max && l->is_maximum;
  f->has[NEED_KEPT] = is_max && f->result == f->old;
  f->has[NEED_ROSE] = is_max && isfinite(f->old) && f->result > f->old;
  f->has[NEED_FACTOR] = !isnan(f->factor);
  f->has[NEED_FACTOR_ONE] = f->factor == 1;
  f->has[NEED_SUM] = isfinite(f->sum_before) && isfinite(f->sum);
  f->has[NEED_SUM_IS_NOW] = isfinite(f->sum);
  f->has[NEED_SUM_STAYS] = isfinite(f->sum_before) && f->sum == f->sum_before;
  if (l->weights >= 0) f->overflowed = r->values[l->weights].n_overflowed;
  f->has[NEED_OVERFLOW] = l->shape == LINE_ADD && f->overflowed > 0;
  const SnapshotValue *total = l->total >= 0 ? &r->values[l->total] : NULL;
  const bool is_zero = total && total->is_zero && total->now == 0;
  f->has[NEED_BROKEN] = l->shape == LINE_DIVIDE && l->total >= 0 && f->schedule->names[l->total].rows == SIDE_ROWS &&
                        !isfinite(total->now);
  f->has[NEED_EMPTY_ROW] =
      l->shape == LINE_DIVIDE && is_zero && f->keys_before == 0 && f->keys_here == 0 && f->keys_left < 1;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------ */

static PlaceBlocks blocks_of(const Walk *w, const Event *e, uint8_t dims) {
  PlaceBlocks b = w->all;
  const int64_t at[DIM_COUNT] = {e->i, e->j, e->split, e->head};
  for (int dim = 0; dim < DIM_COUNT; dim++)
    if (dims >> dim & 1) b.of[dim] = (Span){at[dim], at[dim] + 1};
  return b;
}

/* How often the block is loaded (stored) before the cursor, or in all, by operations [first, end). */
static int64_t moves_among(const Walk *w, const Cursor *before, LineMove move, int name, const PlaceBlocks *block,
                           int first, int end) {
  Wide n = 0;
  for (int op = first; op < end; op++)
    if (line_moves(w->s, op, move, name)) n += place_count(w->s, &w->plan, before, op, block);
  return n > INT64_MAX ? FACT_UNKNOWN : (int64_t)n;
}

static int64_t moves(const Walk *w, const Cursor *before, LineMove move, int name, const PlaceBlocks *block) {
  return moves_among(w, before, move, name, block, 0, w->s->n_ops);
}

/* Bytes that lines have moved of a name so far; UNKNOWN (all ones) where they move others with it. */
static Wide bytes_so_far(const Walk *w, const Facts *f, LineMove move) {
  Wide sum = f->event.bytes;
  for (int op = 0; op < w->s->n_ops; op++) {
    if (!line_moves(w->s, op, move, f->line.first)) continue;
    if (w->s->ops[op].n_moved > 1) return ~(Wide)0;
    sum += place_count_bytes(w->s, &w->plan, &w->cursor, op);
  }
  return sum;
}

/* All blocks of a name in HBM. */
static Wide size_of(const Walk *w, const ProgramName *n, const ProgramOp *op) {
  const Wide element = n->is_fp32 || op->is_fp32 ? STATS_BYTES : wide(w->plan.element_bytes);
  return wide(schedule_side_whole(w->s, &w->plan, n->rows)) * wide(schedule_side_whole(w->s, &w->plan, n->cols)) *
         element * wide(schedule_matrices(&w->plan, n));
}

/* Which loop around the line, that the block lacks, has come to another iteration since the block was loaded. */
static Need why_again(const Walk *w, const Facts *f, int name) {
  static const Need FOR[] = {
      [DIM_I] = NEED_FOR_ROWS, [DIM_J] = NEED_FOR_COLUMNS, [DIM_S] = NEED_FOR_PART, [DIM_H] = NEED_FOR_LOOP};
  const ProgramOp *op = &w->s->ops[f->line.op];
  const ProgramKernel *kernel = &w->s->kernels[op->kernel];
  uint8_t fixed = w->s->names[name].subscripts;
  int chain[PROGRAM_DEPTH_MAX], n = 0;
  PlaceBlocks block = blocks_of(w, &f->event, fixed);
  if (moves_among(w, &w->cursor, MOVE_LOAD, name, &block, kernel->first_op, kernel->end_op) == 0)
    return NEED_FOR_KERNEL;
  for (int loop = op->parent; loop >= 0; loop = w->s->ops[loop].parent) chain[n++] = loop;
  while (n-- > 0) {
    const int dim = w->s->ops[chain[n]].dim;
    if (fixed >> dim & 1) continue;
    fixed |= (uint8_t)(1 << dim);
    block = blocks_of(w, &f->event, fixed);
    if (moves_among(w, &w->cursor, MOVE_LOAD, name, &block, kernel->first_op, kernel->end_op) == 0) return FOR[dim];
  }
  return NEED_FOR_LOOP;
}

/* The last kernel that has stored the block, the first that loads it from here on. */
static void find_kernels(const Walk *w, Facts *f, int name, const PlaceBlocks *block) {
  for (int k = 0; k < w->s->n_kernels; k++) {
    const int first = w->s->kernels[k].first_op, end = w->s->kernels[k].end_op;
    if (moves_among(w, &w->cursor, MOVE_STORE, name, block, first, end) > 0) f->writer = k;
    const int64_t left = moves_among(w, NULL, MOVE_LOAD, name, block, first, end) -
                         moves_among(w, &w->cursor, MOVE_LOAD, name, block, first, end);
    if (left > 0 && f->reader < 0) f->reader = k;
  }
}

static void look_at_moves(const Walk *w, Facts *f) {
  const ProgramOp *op = &w->s->ops[f->line.op];
  if (f->line.shape != LINE_LOAD && f->line.shape != LINE_STORE) return;
  const int name = op->moved[0];
  const PlaceBlocks block = blocks_of(w, &f->event, w->s->names[name].subscripts);
  f->loads_before = moves(w, &w->cursor, MOVE_LOAD, name, &block);
  f->loads_all = moves(w, NULL, MOVE_LOAD, name, &block);
  f->stores_before = moves(w, &w->cursor, MOVE_STORE, name, &block);
  f->stores_all = moves(w, NULL, MOVE_STORE, name, &block);
  bool loads_agree = true, stores_agree = true; /* several names in one event are said to be one only where they are */
  for (int k = 1; k < op->n_moved; k++) {
    const int other = op->moved[k];
    loads_agree = loads_agree && moves(w, &w->cursor, MOVE_LOAD, other, &block) == f->loads_before &&
                  moves(w, NULL, MOVE_LOAD, other, &block) == f->loads_all;
    stores_agree = stores_agree && moves(w, &w->cursor, MOVE_STORE, other, &block) == f->stores_before &&
                   moves(w, NULL, MOVE_STORE, other, &block) == f->stores_all;
  }
  f->has[NEED_STORES_KNOWN] = f->line.shape == LINE_STORE && stores_agree;
  if (!loads_agree || !stores_agree) return;
  find_kernels(w, f, name, &block);
  f->size = size_of(w, &w->s->names[name], op);
  if (f->line.shape == LINE_LOAD) {
    f->read = bytes_so_far(w, f, MOVE_LOAD);
    f->has[NEED_FIRST_LOAD] = f->loads_before == 0;
    f->has[NEED_ONLY_LOAD] = f->loads_all == 1;
    f->has[NEED_STORED_BEFORE] = f->stores_before > 0;
    f->has[NEED_STORED_BY_KERNEL] = f->writer >= 0 && f->writer != op->kernel;
    if (f->loads_before > 0) f->has[why_again(w, f, name)] = true;
    return;
  }
  f->written = bytes_so_far(w, f, MOVE_STORE);
  const int64_t left = f->loads_all - f->loads_before;
  f->has[NEED_IS_ADD] = f->line.is_add;
  f->has[NEED_ONLY_STORE] = f->stores_all == 1;
  f->has[NEED_LAST_STORE] = f->stores_before + 1 == f->stores_all && f->stores_all > 1;
  f->has[NEED_LOADED_LATER] = left > 0;
  f->has[NEED_NEVER_LOADED_LATER] = left == 0;
  f->has[NEED_READ_BY_KERNEL] = f->reader >= 0 && f->reader != op->kernel;
  f->has[NEED_WRITTEN] = f->written != ~(Wide)0;
}

/* ---- Additions --------------------------------------------------------------------------------------------- */

/* The loops around the line that has begun the sum anew; else those of its subscripts. */
static uint8_t scope_of(const Schedule *s, const LineFacts *l, int name) {
  const int kernel = s->ops[l->op].kernel;
  uint8_t scope = (uint8_t)(s->names[name].subscripts & s->ops[l->op].loops);
  for (int op = s->kernels[kernel].first_op; op < l->op; op++)
    if (line_begins(s, op, name)) scope = s->ops[op].loops;
  return scope;
}

static void look_at_additions(const Walk *w, Facts *f) {
  const LineFacts *l = &f->line;
  const ProgramKernel *kernel = &w->s->kernels[w->s->ops[l->op].kernel];
  if (l->total < 0) return;
  const PlaceBlocks block = blocks_of(w, &f->event, scope_of(w->s, l, l->total));
  Wide before = 0, all = 0, divided = 0;
  for (int op = kernel->first_op; op < kernel->end_op; op++) {
    if (w->s->ops[op].kind != OP_EVENT) continue;
    if (line_adds(w->s, op, l->total)) {
      before += place_count(w->s, &w->plan, &w->cursor, op, &block);
      all += place_count(w->s, &w->plan, NULL, op, &block);
    }
    if (line_divides(w->s, op, l->total)) divided += place_count(w->s, &w->plan, &w->cursor, op, &block);
  }
  if (all > INT64_MAX) return;
  f->adds_before = (int64_t)before;
  f->adds_all = (int64_t)all;
  f->has[NEED_UNFINISHED] = before < all && l->shape == LINE_DIVIDE;
  f->has[NEED_FINISHED] = before == all && all > 0 && l->shape == LINE_DIVIDE;
  f->has[NEED_DIVIDED] = l->undoes_division && divided > 0;
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

static void look_at_skips(const Walk *w, Facts *f) {
  const ProgramOp *op = &w->s->ops[f->line.op];
  if (f->line.shape != LINE_SKIP) return;
  const PlaceBlocks block = blocks_of(w, &f->event, (uint8_t)(op->loops & ~(1 << op->dim)));
  f->skip_nth = (int64_t)place_count(w->s, &w->plan, &w->cursor, f->line.op, &block) + 1;
  f->skip_of = (int64_t)place_count(w->s, &w->plan, NULL, f->line.op, &block);
  f->has[NEED_STORES_SPARED] = w->now->spared_write_bytes > 0;
}

void facts_at(const Snapshot *now, Facts *f) {
  *f = (Facts){.schedule = now->schedule, .event = now->event, .rows_seeing = FACT_UNKNOWN, .hidden = FACT_UNKNOWN};
  f->row = f->keys_before = f->keys_here = f->keys_left = f->hidden_from_row = FACT_UNKNOWN;
  f->adds_before = f->adds_all = f->loads_before = f->loads_all = f->stores_before = f->stores_all = FACT_UNKNOWN;
  f->skip_nth = f->skip_of = FACT_UNKNOWN;
  f->read = f->written = f->size = ~(Wide)0;
  f->old = f->best = f->result = f->factor = f->sum_before = f->sum = f->divisor = NAN;
  f->writer = f->reader = -1;
  f->has[NEED_NOTHING] = true;
  Walk w = {.now = now, .s = now->schedule};
  f->has[NEED_START] = !now->has_event;
  f->has[NEED_END] = now->has_event && now->step == now->n_steps;
  if (!now->has_event || plan_make(&w.plan, &now->problem.shape, &now->problem.tiling, NULL)) return;
  if (!schedule_seek(w.s, &w.plan, &w.cursor, now->step - 1)) return;
  w.all = place_all_blocks(&w.plan);
  line_facts(w.s, now->event.op, &f->line);
  f->n_splits = w.plan.tiling.n_splits;
  look_at_tile(&w.plan.mask, f);
  look_at_row(&w, f);
  look_at_values(now, f);
  look_at_moves(&w, f);
  look_at_additions(&w, f);
  look_at_skips(&w, f);
  const LineFacts *l = &f->line;
  const bool in_part = l->loop_s >= 0 && f->n_splits > 1;
  f->has[NEED_PART] = in_part && !l->is_over_parts;
  f->has[NEED_OVER_PARTS] = in_part && l->is_over_parts;
  f->has[NEED_PAIRS] = l->left >= 0 && l->right >= 0;
  f->has[NEED_AREA] = l->loop_i >= 0 && l->loop_j >= 0;
  f->has[NEED_SCORES] = l->is_scores;
  f->has[NEED_ON_CHIP] = l->stays_on_chip;
}
