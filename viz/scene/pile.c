#include "viz/scene/pile.h"

#include <stdlib.h>

/* ---- What an operation moves ------------------------------------------------------------------------------- */

static bool moves(const ProgramOp *op) { return op->kind == OP_EVENT && op->moves && op->n_moved > 0; }

/* A block of an input or an output, and no part of one. */
static bool is_io(const Schedule *s, const ProgramOp *op) {
  return s->tensors[op->tensor].role != TENSOR_BETWEEN && !(s->names[op->moved[0]].subscripts & IN_S);
}

static bool is_score(const Schedule *s, const ProgramOp *op) {
  return !is_io(s, op) && sides_are_tile(s->tensors[op->tensor].rows, s->tensors[op->tensor].cols);
}

static uint8_t subscripts_of(const Schedule *s, const ProgramOp *op) { return s->names[op->moved[0]].subscripts; }

/* What a block's mark may be: of an input a load, of an output a way out. */
static bool is_needed(const Schedule *s, const ProgramOp *op) {
  return moves(op) && is_io(s, op) && event_goes_out(op->event) == (s->tensors[op->tensor].role == TENSOR_OUTPUT);
}

static bool is_of_tile(const ProgramOp *op) {
  return op->kind == OP_EVENT && (op->diagonal || (op->loops & (IN_I | IN_J)) == (IN_I | IN_J));
}

/* ---- Counting and finding ------------------------------------------------------------------------------------ */

static const Cursor *cursor_at(const Pile *p, uint64_t step, Cursor *cursor) {
  return step < p->n_steps && schedule_seek(p->schedule, &p->plan, cursor, step) ? cursor : NULL;
}

static Event event_at(const Pile *p, uint64_t step) {
  Event e = {0};
  if (step < p->n_steps) walk_event(p->schedule, &p->plan, step, &e);
  return e;
}

/* What is counted before a step; it never falls. */
typedef Wide Count(const Pile *p, uint64_t step, const void *of);

/* The event with which a count comes to `wanted`; it is sought from `near` on, ever further away. */
static uint64_t find(const Pile *p, Count *count, const void *of, Wide wanted, uint64_t near) {
  uint64_t low = 0, high = p->n_steps - 1, far = 1, at = near < high ? near : high;
  while (low < high) {
    const bool is_reached = count(p, at + 1, of) >= wanted;
    *(is_reached ? &high : &low) = is_reached ? at : at + 1;
    const uint64_t step = (high - low) / 2 < far ? (high - low) / 2 : far;
    at = is_reached ? high - (step ? step : 1) : low + step;
    far *= 4;
  }
  return low;
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

typedef struct {
  int tensor;
  uint8_t subscripts; /* those that any of its operations has; one that has fewer moves the first of all others */
  int64_t at[DIM_COUNT];
} Block;

static Wide block_before(const Pile *p, uint64_t step, const void *block) {
  const Schedule *s = p->schedule;
  const Block *b = block;
  Cursor cursor;
  const Cursor *before = cursor_at(p, step, &cursor);
  Wide n = 0;
  for (int op = 0; op < s->n_ops; op++) {
    if (!is_needed(s, &s->ops[op]) || s->ops[op].tensor != b->tensor) continue;
    PlaceBlocks within = place_all_blocks(&p->plan);
    bool is_it = true;
    for (int dim = 0; dim < DIM_COUNT; dim++)
      if (subscripts_of(s, &s->ops[op]) >> dim & 1)
        within.of[dim] = (Span){b->at[dim], b->at[dim] + 1};
      else
        is_it &= b->at[dim] == 0;
    if (is_it) n += place_count(s, &p->plan, before, op, &within);
  }
  return n;
}

uint8_t pile_cell(int64_t block, int cells, int64_t blocks) { return (uint8_t)(block * cells / blocks); }

static PileCell cell_of(const Pile *p, const Event *e) {
  return (PileCell){pile_cell(e->i, p->rows, p->plan.T_r), pile_cell(e->j, p->columns, p->plan.T_c)};
}

/* A block's first load, or its last way out. */
static void mark_block(Pile *p, const Block *b) {
  const ProgramTensor *t = &p->schedule->tensors[b->tensor];
  const bool is_output = t->role == TENSOR_OUTPUT;
  const Wide all = block_before(p, p->n_steps, b);
  if (!all) return;
  const PileMark *last = p->marks + p->n_marks;
  const uint64_t near = p->n_marks < 2 ? 0 : 2 * last[-1].step - last[-2].step; /* they come evenly */
  const Event e = event_at(p, find(p, block_before, b, is_output ? all : 1, near));
  const uint8_t own = subscripts_of(p->schedule, &p->schedule->ops[e.op]);
  PileMark *m = &p->marks[p->n_marks++];
  *m = (PileMark){.step = e.step, .cell = -1, .by_keys = !(own & IN_I)};
  m->bytes = (Wide)e.bytes * wide(own & IN_I || is_output ? p->n : 1);
  p->again[b->tensor] -= m->bytes;
  if (!is_output || !(own & (IN_I | IN_J)) || sides_are_tile(t->rows, t->cols)) return;
  const PileCell at = cell_of(p, &e);
  m->cell = (int8_t)(m->by_keys ? at.column : at.row);
  p->outputs[m->by_keys][m->cell] += m->bytes;
}

static int by_step(const void *a, const void *b) {
  const PileMark *first = a, *second = b;
  return (first->step > second->step) - (first->step < second->step);
}

/* Of a tensor's subscripts, how many of each there are. */
static Wide blocks_of(const Pile *p, uint8_t subscripts, int64_t n[DIM_COUNT]) {
  const PlaceBlocks all = place_all_blocks(&p->plan);
  Wide blocks = 1;
  for (int dim = 0; dim < DIM_COUNT; dim++) {
    n[dim] = subscripts >> dim & 1 ? all.of[dim].end : 1;
    blocks *= wide(n[dim]);
  }
  return blocks;
}

static bool mark_blocks(Pile *p) {
  const Schedule *s = p->schedule;
  uint8_t subscripts[TENSORS_MAX] = {0};
  bool is_moved[TENSORS_MAX] = {false};
  int64_t n[DIM_COUNT];
  Wide all = 0;
  for (int op = 0; op < s->n_ops; op++)
    if (is_needed(s, &s->ops[op])) {
      subscripts[s->ops[op].tensor] |= subscripts_of(s, &s->ops[op]);
      is_moved[s->ops[op].tensor] = true;
    }
  for (int t = 0; t < s->n_tensors; t++) all += is_moved[t] ? blocks_of(p, subscripts[t], n) : 0;
  if (all > PILE_MOST_BLOCKS || !(p->marks = calloc((size_t)all + 1, sizeof *p->marks))) return false;
  for (int t = 0; t < s->n_tensors; t++) {
    const Wide blocks = is_moved[t] ? blocks_of(p, subscripts[t], n) : 0;
    for (Wide k = 0; k < blocks; k++) {
      Block b = {.tensor = t};
      int64_t rest = (int64_t)k;
      for (int dim = 0; dim < DIM_COUNT; rest /= n[dim++]) b.at[dim] = rest % n[dim];
      mark_block(p, &b);
    }
  }
  qsort(p->marks, p->n_marks, sizeof *p->marks, by_step);
  for (size_t k = 1; k < p->n_marks; k++) p->marks[k].bytes += p->marks[k - 1].bytes;
  return true;
}

static Wide mark_bytes(const Pile *p, size_t k) { return p->marks[k].bytes - (k ? p->marks[k - 1].bytes : 0); }

static size_t marks_before(const Pile *p, uint64_t step) {
  size_t low = 0, high = p->n_marks;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (p->marks[middle].step < step)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- Classes and squares --------------------------------------------------------------------------------------- */

/* By class before a step. */
static void sum_before(const Pile *p, uint64_t step, Wide bytes[PILE_CLASSES]) {
  const Schedule *s = p->schedule;
  const PlaceBlocks all = place_all_blocks(&p->plan);
  const size_t marks = marks_before(p, step);
  Cursor cursor;
  const Cursor *before = cursor_at(p, step, &cursor);
  memset(bytes, 0, PILE_CLASSES * sizeof *bytes);
  bytes[PILE_ONCE] = marks ? p->marks[marks - 1].bytes : 0;
  bytes[PILE_AGAIN] = -bytes[PILE_ONCE];
  for (int op = 0; op < s->n_ops; op++)
    if (moves(&s->ops[op]))
      bytes[is_io(s, &s->ops[op]) ? PILE_AGAIN : PILE_BETWEEN] +=
          place_count_bytes(s, &p->plan, before, op, &all) * wide(p->n);
}

/* Bytes of an event by class; `mark` is the first that is not before it. */
static void classes_of(const Pile *p, const Event *e, size_t mark, Wide bytes[PILE_CLASSES]) {
  memset(bytes, 0, PILE_CLASSES * sizeof *bytes);
  if (!e->bytes) return;
  const Wide all = (Wide)e->bytes * wide(p->n);
  if (!is_io(p->schedule, &p->schedule->ops[e->op]))
    bytes[PILE_BETWEEN] = all;
  else if (mark < p->n_marks && p->marks[mark].step == e->step)
    bytes[PILE_ONCE] = mark_bytes(p, mark);
  if (is_io(p->schedule, &p->schedule->ops[e->op])) bytes[PILE_AGAIN] = all - bytes[PILE_ONCE];
}

static Wide class_before(const Pile *p, uint64_t step, const void *of) {
  Wide bytes[PILE_CLASSES];
  sum_before(p, step, bytes);
  return bytes[*(const uint8_t *)of];
}

/* A square begins with its first byte. */
static void list_squares(Pile *p, Wide unit) {
  uint64_t begins[PILE_SQUARES + PILE_CLASSES], near = 0;
  for (uint8_t c = 0; c < PILE_CLASSES; c++, near = 0)
    for (Wide done = 0; done < p->whole[c]; done += unit) {
      near = find(p, class_before, &c, done + 1, near);
      int at = p->n_squares++;
      for (; at > 0 && begins[at - 1] > near; at--) {
        begins[at] = begins[at - 1];
        p->squares[at] = p->squares[at - 1];
      }
      begins[at] = near;
      p->squares[at] = c;
    }
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static PlaceBlocks blocks_in(const Pile *p, PileCell at) {
  PlaceBlocks b = place_all_blocks(&p->plan);
  b.of[DIM_I] = (Span){ceil_div(at.row * p->plan.T_r, p->rows), ceil_div((at.row + 1) * p->plan.T_r, p->rows)};
  b.of[DIM_J] =
      (Span){ceil_div(at.column * p->plan.T_c, p->columns), ceil_div((at.column + 1) * p->plan.T_c, p->columns)};
  return b;
}

/* Tiles among these blocks that have been begun. */
static Wide tiles_among(const Pile *p, uint64_t step, const PlaceBlocks *blocks) {
  Cursor cursor;
  const Cursor *before = cursor_at(p, step, &cursor);
  Wide n = 0;
  for (int k = 0; k < p->n_tile_ops; k++) n += place_count(p->schedule, &p->plan, before, p->tile_ops[k], blocks);
  return n;
}

/* And of those that are in another cell. */
static Wide tiles_elsewhere(const Pile *p, uint64_t step, const void *cell) {
  const PlaceBlocks all = place_all_blocks(&p->plan);
  return tiles_among(p, step, &all) - (cell ? tiles_among(p, step, cell) : 0);
}

/* Bytes of scores carried in a cell, or in all. */
static Wide scores_among(const Pile *p, const Cursor *before, const PlaceBlocks *blocks) {
  const Schedule *s = p->schedule;
  Wide bytes = 0;
  for (int op = 0; op < s->n_ops; op++)
    if (moves(&s->ops[op]) && is_score(s, &s->ops[op]))
      bytes += place_count_bytes(s, &p->plan, before, op, blocks) * wide(p->n);
  return bytes;
}

/* In each loop over tiles those up to the first that happens for each. */
static void list_tile_ops(Pile *p) {
  const Schedule *s = p->schedule;
  const PlaceBlocks all = place_all_blocks(&p->plan);
  Wide n[PROGRAM_OPS_MAX] = {0}, most[PROGRAM_OPS_MAX] = {0};
  for (int op = 0; op < s->n_ops; op++) {
    if (is_of_tile(&s->ops[op])) n[op] = place_count(s, &p->plan, NULL, op, &all);
    if (n[op] > most[s->ops[op].parent + 1]) most[s->ops[op].parent + 1] = n[op];
  }
  for (int op = 0; op < s->n_ops; op++) {
    Wide *left = &most[s->ops[op].parent + 1];
    if (n[op] && *left) p->tile_ops[p->n_tile_ops++] = (uint8_t)op;
    if (n[op] == *left) *left = 0;
  }
}

static void look_at_cells(Pile *p) {
  list_tile_ops(p);
  for (uint8_t row = 0; row < p->rows; row++)
    for (uint8_t column = 0; column < p->columns; column++) {
      const PlaceBlocks cell = blocks_in(p, (PileCell){row, column});
      p->is_visited[row][column] = tiles_among(p, p->n_steps, &cell) > 0;
      p->scores += p->cell_scores[row][column] = scores_among(p, NULL, &cell);
    }
}

static void follow(const Pile *p, uint64_t step, PileMoment *m) {
  PlaceBlocks cell;
  const void *here = NULL;
  for (; m->n_trail < (p->scores > 0 ? 1 : PILE_TRAIL); here = &cell) {
    const Wide n = tiles_elsewhere(p, step, here);
    if (!n) return;
    step = find(p, tiles_elsewhere, here, n, step);
    const Event e = event_at(p, step++);
    m->trail[m->n_trail] = cell_of(p, &e);
    cell = blocks_in(p, m->trail[m->n_trail++]);
  }
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

static void make_pile(Pile *p, const SnapshotRun *run) {
  *p = (Pile){.schedule = run->schedule, .plan = *run->plan, .n = run->n_beside, .n_steps = run->n_steps};
  p->rows = (int)(p->plan.T_r < PILE_CELLS ? p->plan.T_r : PILE_CELLS);
  p->columns = (int)(p->plan.T_c < PILE_CELLS ? p->plan.T_c : PILE_CELLS);
  for (int op = 0; op < p->schedule->n_ops; op++) {
    const ProgramOp *o = &p->schedule->ops[op];
    const PlaceBlocks all = place_all_blocks(&p->plan);
    if (moves(o))
      (is_io(p->schedule, o) ? p->again : p->between)[o->tensor] +=
          place_count_bytes(p->schedule, &p->plan, NULL, op, &all) * wide(p->n);
  }
  if (!mark_blocks(p)) return;
  sum_before(p, p->n_steps, p->whole);
  look_at_cells(p);
  p->is_known = true;
}

static Wide squares_of(const Pile *p, Wide unit) {
  Wide n = 0;
  for (int c = 0; c < PILE_CLASSES; c++) n += (p->whole[c] + unit - 1) / unit;
  return n;
}

void piles_make(Piles *all, const Snapshot *now, int only) {
  *all = (Piles){.n = now->n_runs, .unit = 1};
  for (int k = 0; k < all->n; k++)
    if (only == PILES_ALL || only == k) make_pile(&all->piles[k], &now->runs[k]);
  if (only != PILES_ALL) return;
  for (int k = 0; k < all->n; k++)
    while (squares_of(&all->piles[k], all->unit) > PILE_SQUARES) all->unit *= 2;
  for (int k = 0; k < all->n; k++)
    if (all->piles[k].is_known) list_squares(&all->piles[k], all->unit);
}

void piles_free(Piles *all) {
  for (int k = 0; k < all->n; k++) free(all->piles[k].marks);
  all->n = 0;
}

/* ---- A moment ---------------------------------------------------------------------------------------------------- */

static double part(double some, double all) { return all > 0 ? fmin(1, some / all) : 0; }

/* With a part of event *e, which is the first not before the cursor. */
static void burn(const Pile *p, const Cursor *before, const Event *e, double done, PileMoment *m) {
  const PileCell at = cell_of(p, e);
  const bool is_scores = e->bytes && is_score(p->schedule, &p->schedule->ops[e->op]);
  for (uint8_t row = 0; row < p->rows; row++)
    for (uint8_t column = 0; column < p->columns; column++) {
      if (!p->cell_scores[row][column]) continue;
      const PlaceBlocks cell = blocks_in(p, (PileCell){row, column});
      const double now = is_scores && at.row == row && at.column == column ? done * (double)e->bytes * (double)p->n : 0;
      m->burnt[row][column] = part((double)scores_among(p, before, &cell) + now, (double)p->cell_scores[row][column]);
    }
}

void pile_at_step(const Pile *p, uint64_t step, double done, PileMoment *m) {
  Wide before[PILE_CLASSES], during[PILE_CLASSES] = {0};
  Cursor cursor;
  memset(m, 0, sizeof *m);
  m->is_over = step + (done >= 1) >= p->n_steps;
  if (!p->is_known) return;
  const size_t mark = marks_before(p, step);
  const Event e = event_at(p, step);
  sum_before(p, step, before);
  classes_of(p, &e, mark, during);
  for (int c = 0; c < PILE_CLASSES; c++) m->bytes[c] = (double)before[c] + done * (double)during[c];
  follow(p, step + (done > 0), m);
  if (p->scores > 0) burn(p, cursor_at(p, step, &cursor), &e, done, m);
  for (size_t k = 0; k < p->n_marks && k <= mark; k++) {
    const PileMark *at = &p->marks[k];
    if (at->cell < 0 || (k == mark && at->step != step)) continue;
    m->stored[at->by_keys][at->cell] += part(k < mark ? (double)mark_bytes(p, k) : done * (double)mark_bytes(p, k),
                                             (double)p->outputs[at->by_keys][at->cell]);
  }
}

void pile_at(const Pile *p, double clock, PileMoment *m) {
  const uint64_t step = place_of_bytes(p->schedule, &p->plan, (Wide)(clock / (double)p->n));
  const Event e = event_at(p, step);
  Wide before[PILE_CLASSES] = {0};
  if (p->is_known && e.bytes) sum_before(p, step, before);
  const double carried = (double)(before[PILE_ONCE] + before[PILE_AGAIN] + before[PILE_BETWEEN]);
  pile_at_step(p, step, p->is_known ? part(clock - carried, (double)e.bytes * (double)p->n) : 0, m);
}
