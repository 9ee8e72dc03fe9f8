#include "viz/scene/pile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What an operation moves ------------------------------------------------------------------------------- */

static bool moves(const ProgramOp *op) { return op->kind == OP_EVENT && op->moves && op->n_moved > 0; }

/* A block of an input or an output, and no part of one. */
static bool is_io(const Schedule *s, const ProgramOp *op) {
  return s->tensors[op->tensor].role != TENSOR_BETWEEN && !(s->names[op->moved[0]].subscripts & IN_S);
}

static bool is_score(const Schedule *s, const ProgramOp *op) {
  return !is_io(s, op) && sides_are_tile(s->tensors[op->tensor].rows, s->tensors[op->tensor].cols);
}

/* ---- Lists -------------------------------------------------------------------------------------------------- */

/* Room for one more. */
static bool grow(void *list, size_t n, size_t size) {
  void **at = list;
  if (n & (n - 1)) return true; /* doubled at 1, 2, 4, ... */
  void *more = realloc(*at, (n ? 2 * n : 1) * size);
  if (more) *at = more;
  return more != NULL;
}

/* ---- The first walk: blocks and visits ----------------------------------------------------------------------- */

/* Of each tensor's block 1 + its mark. */
typedef struct {
  uint8_t subscripts[TENSORS_MAX];
  uint32_t *marked[TENSORS_MAX];
} Blocks;

static size_t block_of(const Pile *p, const Blocks *b, const Event *e) {
  const ProgramOp *op = &p->schedule->ops[e->op];
  const uint8_t all = b->subscripts[op->tensor], own = p->schedule->names[op->moved[0]].subscripts;
  size_t at = own & IN_H ? (size_t)e->head : 0;
  if (all & IN_I) at = at * (size_t)p->plan.T_r + (own & IN_I ? (size_t)e->i : 0);
  if (all & IN_J) at = at * (size_t)p->plan.T_c + (own & IN_J ? (size_t)e->j : 0);
  return at;
}

static bool open_blocks(const Pile *p, Blocks *b) {
  const Schedule *s = p->schedule;
  memset(b, 0, sizeof *b);
  for (int op = 0; op < s->n_ops; op++)
    if (moves(&s->ops[op])) b->subscripts[s->ops[op].tensor] |= s->names[s->ops[op].moved[0]].subscripts;
  for (int t = 0; t < s->n_tensors; t++) {
    const uint8_t of = b->subscripts[t];
    const size_t n = (of & IN_H ? (size_t)schedule_group(&p->plan) : 1) * (of & IN_I ? (size_t)p->plan.T_r : 1) *
                     (of & IN_J ? (size_t)p->plan.T_c : 1);
    if (s->tensors[t].role != TENSOR_BETWEEN && !(b->marked[t] = calloc(n, sizeof **b->marked))) return false;
  }
  return true;
}

uint8_t pile_cell(int64_t block, int cells, int64_t blocks) { return (uint8_t)(block * cells / blocks); }

/* A block's first load, or its last way out so far. */
static bool note_mark(Pile *p, const Blocks *b, const Event *e) {
  const ProgramTensor *t = &p->schedule->tensors[e->tensor];
  const bool is_output = t->role == TENSOR_OUTPUT;
  const uint8_t own = p->schedule->names[p->schedule->ops[e->op].moved[0]].subscripts;
  uint32_t *at = &b->marked[e->tensor][block_of(p, b, e)];
  if (event_goes_out(e->kind) != is_output || (*at && !is_output)) return true;
  if (!*at && !grow(&p->marks, p->n_marks, sizeof *p->marks)) return false;
  if (!*at) *at = (uint32_t)++p->n_marks;
  PileMark *m = &p->marks[*at - 1];
  *m = (PileMark){.step = e->step, .cell = -1, .by_keys = !(own & IN_I)};
  m->bytes = (Wide)e->bytes * wide(own & IN_I || is_output ? p->n : 1);
  if (is_output && own & (IN_I | IN_J) && !sides_are_tile(t->rows, t->cols))
    m->cell = (int8_t)(m->by_keys ? pile_cell(e->j, p->columns, p->plan.T_c) : pile_cell(e->i, p->rows, p->plan.T_r));
  return true;
}

static bool note_visit(Pile *p, const Event *e) {
  const PileVisit *last = p->n_visits ? &p->visits[p->n_visits - 1] : NULL;
  if (e->i < 0 || e->j < 0 || e->kind == EVENT_SKIP) return true;
  const PileVisit v = {.step = e->step,
                       .scores = p->scores,
                       .row = pile_cell(e->i, p->rows, p->plan.T_r),
                       .column = pile_cell(e->j, p->columns, p->plan.T_c)};
  if (last && last->row == v.row && last->column == v.column) return true;
  if (!grow(&p->visits, p->n_visits, sizeof *p->visits)) return false;
  p->visits[p->n_visits++] = v;
  p->is_visited[v.row][v.column] = true;
  return true;
}

static int by_step(const void *a, const void *b) {
  const PileMark *first = a, *second = b;
  return (first->step > second->step) - (first->step < second->step);
}

static void add_up_marks(Pile *p) {
  Wide so_far = 0;
  qsort(p->marks, p->n_marks, sizeof *p->marks, by_step);
  for (size_t k = 0; k < p->n_marks; k++) {
    PileMark *m = &p->marks[k];
    if (m->cell >= 0) p->outputs[m->by_keys][m->cell] += m->bytes;
    m->bytes = so_far += m->bytes;
  }
}

static bool walk_blocks(Pile *p) {
  const Schedule *s = p->schedule;
  Blocks blocks;
  Cursor cursor = {0};
  Event e;
  bool done = open_blocks(p, &blocks);
  while (done && schedule_next(s, &p->plan, &cursor, &e)) {
    const ProgramOp *op = &s->ops[e.op];
    done = note_visit(p, &e);
    if (!done || !e.bytes) continue;
    if (is_io(s, op))
      done = note_mark(p, &blocks, &e);
    else if (is_score(s, op)) {
      p->scores += (Wide)e.bytes * wide(p->n);
      if (p->n_visits) {
        const PileVisit *v = &p->visits[p->n_visits - 1];
        p->cell_scores[v->row][v->column] += (Wide)e.bytes * wide(p->n);
      }
    }
  }
  for (int t = 0; t < s->n_tensors; t++) free(blocks.marked[t]);
  if (done) add_up_marks(p);
  return done;
}

/* ---- The second: classes and squares -------------------------------------------------------------------------- */

static Wide mark_bytes(const Pile *p, size_t k) { return p->marks[k].bytes - (k ? p->marks[k - 1].bytes : 0); }

/* Those of a list, each of which begins with its step, that are before a step. */
static size_t count_before(const void *list, size_t n, size_t size, uint64_t step) {
  size_t low = 0;
  while (low < n) {
    const size_t middle = low + (n - low) / 2;
    if (*(const uint64_t *)((const char *)list + middle * size) < step)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

static size_t marks_before(const Pile *p, uint64_t step) {
  return count_before(p->marks, p->n_marks, sizeof *p->marks, step);
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

static void walk_classes(Pile *p, Wide unit) {
  Cursor cursor = {0};
  Event e;
  size_t mark = 0;
  Wide so_far[PILE_CLASSES] = {0}, bytes[PILE_CLASSES];
  while (schedule_next(p->schedule, &p->plan, &cursor, &e)) {
    classes_of(p, &e, mark, bytes);
    mark += mark < p->n_marks && p->marks[mark].step == e.step;
    for (int c = 0; c < PILE_CLASSES; c++) {
      for (Wide k = (so_far[c] + unit - 1) / unit; k * unit < so_far[c] + bytes[c]; k++)
        p->squares[p->n_squares++] = (uint8_t)c;
      so_far[c] += bytes[c];
    }
    p->again[e.tensor] += bytes[PILE_AGAIN];
    p->between[e.tensor] += bytes[PILE_BETWEEN];
  }
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

/* By class before a step, and of scores. */
static void sum_before(const Pile *p, uint64_t step, Wide bytes[PILE_CLASSES], Wide *scores) {
  const Schedule *s = p->schedule;
  Cursor cursor;
  const Cursor *before = step < p->n_steps && schedule_seek(s, &p->plan, &cursor, step) ? &cursor : NULL;
  Wide io = 0;
  memset(bytes, 0, PILE_CLASSES * sizeof *bytes);
  *scores = 0;
  for (int op = 0; op < s->n_ops; op++) {
    if (!moves(&s->ops[op])) continue;
    const Wide moved = place_count_bytes(s, &p->plan, before, op) * wide(p->n);
    *(is_io(s, &s->ops[op]) ? &io : &bytes[PILE_BETWEEN]) += moved;
    if (is_score(s, &s->ops[op])) *scores += moved;
  }
  const size_t marks = marks_before(p, step);
  bytes[PILE_ONCE] = marks ? p->marks[marks - 1].bytes : 0;
  bytes[PILE_AGAIN] = io - bytes[PILE_ONCE];
}

static void make_pile(Pile *p, const SnapshotRun *run) {
  *p = (Pile){.schedule = run->schedule, .plan = *run->plan, .n = run->n_beside, .n_steps = run->n_steps};
  p->rows = (int)(p->plan.T_r < PILE_CELLS ? p->plan.T_r : PILE_CELLS);
  p->columns = (int)(p->plan.T_c < PILE_CELLS ? p->plan.T_c : PILE_CELLS);
  if (p->n_steps > PILE_MOST_STEPS || !walk_blocks(p)) return;
  Wide scores;
  sum_before(p, p->n_steps, p->whole, &scores);
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
    if (all->piles[k].is_known) walk_classes(&all->piles[k], all->unit);
}

void piles_free(Piles *all) {
  for (int k = 0; k < all->n; k++) {
    free(all->piles[k].marks);
    free(all->piles[k].visits);
  }
  all->n = 0;
}

/* ---- A moment ---------------------------------------------------------------------------------------------------- */

static double part(double some, double all) { return all > 0 ? fmin(1, some / all) : 0; }

static void burn(const Pile *p, double scores, PileMoment *m) {
  for (size_t v = 0; v < m->visit; v++) {
    const double end = v + 1 < m->visit ? (double)p->visits[v + 1].scores : scores;
    m->burnt[p->visits[v].row][p->visits[v].column] += end - (double)p->visits[v].scores;
  }
  for (int row = 0; row < p->rows; row++)
    for (int column = 0; column < p->columns; column++)
      m->burnt[row][column] = part(m->burnt[row][column], (double)p->cell_scores[row][column]);
}

void pile_at_step(const Pile *p, uint64_t step, double done, PileMoment *m) {
  Wide before[PILE_CLASSES], during[PILE_CLASSES] = {0}, scores;
  Cursor cursor;
  Event e = {0};
  memset(m, 0, sizeof *m);
  m->is_over = step + (done >= 1) >= p->n_steps;
  if (!p->is_known) return;
  sum_before(p, step, before, &scores);
  const size_t mark = marks_before(p, step);
  if (step < p->n_steps && schedule_seek(p->schedule, &p->plan, &cursor, step) &&
      schedule_next(p->schedule, &p->plan, &cursor, &e) && e.bytes)
    classes_of(p, &e, mark, during);
  for (int c = 0; c < PILE_CLASSES; c++) m->bytes[c] = (double)before[c] + done * (double)during[c];
  m->visit = count_before(p->visits, p->n_visits, sizeof *p->visits, step + (done > 0));
  const bool is_scores = e.bytes && is_score(p->schedule, &p->schedule->ops[e.op]);
  burn(p, (double)scores + (is_scores ? done * (double)during[PILE_BETWEEN] : 0), m);
  for (size_t k = 0; k < p->n_marks && k <= mark; k++) {
    const PileMark *at = &p->marks[k];
    if (at->cell < 0 || (k == mark && at->step != step)) continue;
    m->stored[at->by_keys][at->cell] += part(k < mark ? (double)mark_bytes(p, k) : done * (double)mark_bytes(p, k),
                                             (double)p->outputs[at->by_keys][at->cell]);
  }
}

void pile_at(const Pile *p, double clock, PileMoment *m) {
  const uint64_t step = place_of_bytes(p->schedule, &p->plan, (Wide)(clock / (double)p->n));
  Wide before[PILE_CLASSES] = {0}, scores;
  Cursor cursor;
  Event e = {0};
  double done = 0;
  if (p->is_known && step < p->n_steps && schedule_seek(p->schedule, &p->plan, &cursor, step) &&
      schedule_next(p->schedule, &p->plan, &cursor, &e) && e.bytes) {
    sum_before(p, step, before, &scores);
    done = part(clock - (double)(before[PILE_ONCE] + before[PILE_AGAIN] + before[PILE_BETWEEN]),
                (double)e.bytes * (double)p->n);
  }
  pile_at_step(p, step, done, m);
}
