#include "sim/numbers/evaluate_inner.h"

/* What a tile of the name has as rows and columns: only those of blocks say where it lies. */
static Span span_of(const Evaluator *v, const Cursor *c, int side) {
  if (side == SIDE_ROWS) return present_rows(v, c);
  if (side == SIDE_COLS) return present_cols(c);
  return (Span){0, v->state->n[side]};
}

/* Of an output's name, whatever its subscripts. */
static bool is_part_of_output(const Evaluator *v, const ProgramName *n) {
  return v->schedule->tensors[n->tensor].role == TENSOR_OUTPUT;
}

/* m or l of a program that declares nothing: what the panel of a row shows. */
static bool is_statistic(const Evaluator *v, const ProgramName *n) {
  return !v->schedule->declares && v->schedule->tensors[n->tensor].is_stats && (n->text[0] == 'm' || n->text[0] == 'l');
}

static void note_tile(const Evaluator *v, const Cursor *c, int name, bool is_set) {
  EvaluateTile *tile = &v->state->tiles[name];
  const ProgramName *n = name_of(v, name);
  const Span rows = span_of(v, c, n->rows), cols = span_of(v, c, n->cols);
  const bool same_rows = tile->rows.begin == rows.begin && tile->rows.end == rows.end;
  const bool stays = !is_set && v->state->shown[n->tensor] >= 0 && v->state->tiles[v->state->shown[n->tensor]].is_set &&
                     is_part_of_output(v, n);
  tile->is_set = is_set || (tile->is_set && same_rows);
  tile->is_rounded = false;
  tile->rows = rows;
  tile->cols = cols;
  if (!stays) v->state->shown[n->tensor] = (int8_t)name;
}

static EvaluateRow *row_at(const Evaluator *v, int64_t k) {
  return (EvaluateRow *)(void *)(v->numbers + v->state->rows_at) + k;
}

/* What is known of a row when the value called m or l has become `is`; by: what it was added or multiplied with. */
static void note_row(EvaluateRow *row, char letter, const Schedule *s, const ProgramAssign *a, double by, double is) {
  const ProgramNode *n = &s->nodes[a->value];
  if (letter == 'm') {
    if (node_is_constant(s, a->value)) {
      *row = (EvaluateRow){.m_old = is, .m = is, .l = row->l};
    } else if (n->kind == NODE_MAX || n->kind == NODE_ROW_MAX) {
      row->m_old = row->m;
    }
    row->m = is;
    return;
  }
  if (a->kind == ASSIGN_TIMES) {
    row->factor = by;
    row->l_old = row->l;
    row->l_scaled = is;
  }
  if (a->kind == ASSIGN_ADD) row->block_sum = by;
  row->l = is;
}

static void note_rows(const Evaluator *v, const Cursor *c, const ProgramAssign *a, const Value *by) {
  const ProgramName *n = name_of(v, a->name);
  if (!is_statistic(v, n)) return;
  const int64_t rows = width(present_rows(v, c));
  for (int64_t r = 0; r < rows; r++)
    note_row(row_at(v, r), n->text[0], v->schedule, a, by->p[r * by->down], tile_of(v, a->name)[r]);
}

/* Element by element, from a value that may have one row or column for all. `chosen`: rows, unless it is NULL. */
static void set_all(const Evaluator *v, const Value *x, AssignKind kind, double *tile, int64_t rows, int64_t cols,
                    int64_t stride, const double *chosen) {
  const Precision accumulator = accumulator_of(v);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t k = 0; k < cols && (!chosen || chosen[r] != 0); k++) {
      const double y = x->p[r * x->down + k * x->across];
      double *to = &tile[r * stride + k];
      *to = kind == ASSIGN_SET   ? y
            : kind == ASSIGN_ADD ? precision_computed(accumulator, *to + y)
                                 : precision_computed(accumulator, *to * y);
    }
}

/* T += a x b, fused. */
static void add_product(Work *w, const ProgramNode *n, double *tile, int64_t rows, int64_t cols, int64_t stride) {
  const Precision accumulator = accumulator_of(w->v);
  const Value a = evaluate_value(w, n->a), b = evaluate_value(w, n->b);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t k = 0; k < cols; k++)
      tile[r * stride + k] = precision_multiply_add(accumulator, a.p[r * a.down + k * a.across],
                                                    b.p[r * b.down + k * b.across], tile[r * stride + k]);
}

/* Whether a kernel takes the max of rows of scores, and so makes the statistics. */
static bool has_row_max(const Schedule *s, int node) {
  if (node < 0) return false;
  const ProgramNode *n = &s->nodes[node];
  return n->kind == NODE_ROW_MAX || has_row_max(s, n->a) || has_row_max(s, n->b);
}

static bool makes_statistics(const Schedule *s, int kernel) {
  for (int op = 0; op < s->n_ops; op++)
    for (int k = 0; k < s->ops[op].n_assigns && s->ops[op].kernel == kernel; k++)
      if (has_row_max(s, s->assigns[s->ops[op].first_assign + k].value)) return true;
  return false;
}

/* Where a row's m or l begins: set to a constant in such a kernel. */
static bool begins_statistic(const Schedule *s, int kernel, const ProgramAssign *a, char letter) {
  const ProgramName *n = &s->names[a->name];
  return s->tensors[n->tensor].is_stats && n->text[0] == letter && a->kind == ASSIGN_SET &&
         node_is_constant(s, a->value) && makes_statistics(s, kernel);
}

static bool has_beginning(const Schedule *s, char letter) {
  for (int op = 0; op < s->n_ops; op++)
    for (int k = 0; k < s->ops[op].n_assigns; k++)
      if (begins_statistic(s, s->ops[op].kernel, &s->assigns[s->ops[op].first_assign + k], letter)) return true;
  return false;
}

static bool has_scores(const Schedule *s) {
  for (int k = 0; k < s->n_nodes; k++) {
    const ProgramNode *n = &s->nodes[k];
    if (n->kind == NODE_DIVIDE && s->nodes[n->b].kind == NODE_SQRT_D && evaluate_is_product_of_Q_K(s, &s->nodes[n->a]))
      return true;
  }
  return false;
}

Status evaluate_takes(const Schedule *s, const SoftmaxConfig *config, Error *error) {
  if (config->softcap > 0 && !has_scores(s))
    return error_refuse(
        error, "%s has no line S = Q_i K_j^T / sqrt(d), whose scores a cap would bend; leave --softcap out", s->name);
  if (config->has_sink && (!has_beginning(s, 'm') || !has_beginning(s, 'l')))
    return error_refuse(
        error, "%s sets no m and l before it takes the max of scores, so a sink has no place; leave --sink out",
        s->name);
  return STATUS_OK;
}

/* Whether a product or sum can be added up in the tile itself. */
static bool fits(const ProgramNode *value, const ProgramName *n) {
  return value->rows == n->rows && value->cols == n->cols;
}

static void assign(const Evaluator *v, const Cursor *c, const ProgramAssign *a, const double *chosen) {
  const ProgramName *n = name_of(v, a->name);
  const ProgramNode *value = &v->schedule->nodes[a->value];
  const int64_t rows = present(v, c, n->rows), cols = present(v, c, n->cols), stride = v->state->n[n->cols];
  double *tile = tile_of(v, a->name);
  Work w = {v, c, v->numbers + v->state->scratch_at};
  if (rows == 0 || cols == 0) return;
  if (a->kind == ASSIGN_ADD && n->cols != SIDE_ONE && value->kind == NODE_MATMUL && fits(value, n) && !chosen) {
    evaluate_multiply_into(&w, value, tile, stride);
  } else if (a->kind == ASSIGN_ADD && n->cols != SIDE_ONE && value->kind == NODE_TIMES && !chosen) {
    add_product(&w, value, tile, rows, cols, stride);
  } else {
    Value x = evaluate_value(&w, a->value);
    double start;
    if (v->state->config.softmax.has_sink && c->split <= 0 &&
        (begins_statistic(v->schedule, v->state->kernel, a, 'm') ||
         begins_statistic(v->schedule, v->state->kernel, a, 'l'))) {
      const SoftmaxState sink = softmax_start(&v->state->config.softmax);
      start = n->text[0] == 'm' ? sink.m : sink.l;
      x = (Value){&start, 0, 0, 1, 1};
    }
    set_all(v, &x, (AssignKind)a->kind, tile, rows, cols, stride, chosen);
    note_rows(v, c, a, &x);
  }
  note_tile(v, c, a->name, true);
}

static void load_rows(const Evaluator *v, const Cursor *c, const ProgramName *n, int name) {
  if (!is_statistic(v, n)) return;
  const int64_t rows = width(present_rows(v, c));
  for (int64_t r = 0; r < rows; r++) *(n->text[0] == 'm' ? &row_at(v, r)->m : &row_at(v, r)->l) = tile_of(v, name)[r];
}

static void load(const Evaluator *v, const Cursor *c, int name) {
  const ProgramName *n = name_of(v, name);
  if (n->is_input && !is_operand_of(v->schedule, name, 0) && v->need_keys)
    v->need_keys(v->context, present_cols(c).end);
  if (!n->is_input && v->state->hbm[name] != EVALUATE_NOWHERE) {
    const int64_t rows = present(v, c, n->rows), cols = present(v, c, n->cols), to = v->state->n[n->cols];
    int64_t from;
    const double *block = evaluate_block_in_hbm(v, c, name, &from);
    for (int64_t r = 0; r < rows; r++)
      memcpy(tile_of(v, name) + r * to, block + r * from, (size_t)cols * sizeof *block);
    load_rows(v, c, n, name);
  }
  note_tile(v, c, name, false);
}

/* Rounded to what the name is stored in; or added to what lies there. */
static void store(const Evaluator *v, const Cursor *c, int name, bool adds) {
  const ProgramName *n = name_of(v, name);
  const Precision stored = n->is_fp32 ? accumulator_of(v) : v->state->config.softmax.precision;
  const int64_t rows = present(v, c, n->rows), cols = present(v, c, n->cols), from = v->state->n[n->cols];
  int64_t to;
  if (v->state->hbm[name] == EVALUATE_NOWHERE) return;
  double *block = evaluate_block_in_hbm(v, c, name, &to);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t k = 0; k < cols; k++) {
      const double x = tile_of(v, name)[r * from + k];
      block[r * to + k] = precision_round(stored, adds ? block[r * to + k] + x : x);
    }
}

static void mask(const Evaluator *v, const Cursor *c, const ProgramOp *op) {
  const Mask *m = &v->plan->mask;
  const Span rows = present_rows(v, c), cols = present_cols(c);
  double *tile = tile_of(v, op->moved[0]), hidden = -INFINITY;
  if (c->tile == TILE_FULL) return;
  if (op->value) {
    Work w = {v, c, v->numbers + v->state->scratch_at};
    hidden = *evaluate_value(&w, op->value - 1).p;
  }
  for (int64_t row = rows.begin; row < rows.end; row++, tile += v->state->n[SIDE_COLS]) {
    const Span seen = band_columns(&m->band, row);
    for (int64_t col = cols.begin; col < cols.end; col++)
      if (m->pattern ? !mask_allows(m, row, col) : col < seen.begin || col >= seen.end) tile[col - cols.begin] = hidden;
  }
  v->state->tiles[op->moved[0]].is_rounded = false;
}

/* The rows for which a line's comparison holds. */
static const double *choose(const Evaluator *v, const Cursor *c, int node) {
  const ProgramNode *n = &v->schedule->nodes[node];
  double *chosen = v->numbers + v->state->chosen_at;
  Work w = {v, c, v->numbers + v->state->scratch_at};
  const Value a = evaluate_value(&w, n->a), b = evaluate_value(&w, n->b);
  const int64_t rows = present(v, c, n->rows);
  for (int64_t r = 0; r < rows; r++) chosen[r] = a.p[r * a.down] > b.p[r * b.down];
  return chosen;
}

static void do_op(const Evaluator *v, const ProgramOp *op, const Cursor *c) {
  const bool masks = op->kind == OP_EVENT && op->event == EVENT_MASK;
  if (masks) mask(v, c, op);
  const double *chosen = op->value && !masks ? choose(v, c, op->value - 1) : NULL;
  for (int k = 0; k < op->n_assigns; k++) assign(v, c, &v->schedule->assigns[op->first_assign + k], chosen);
  for (int k = 0; k < op->n_moved && op->kind == OP_EVENT; k++) {
    if (op->event == EVENT_LOAD) load(v, c, op->moved[k]);
    if (op->event == EVENT_STORE || op->event == EVENT_ADD) store(v, c, op->moved[k], op->event == EVENT_ADD);
  }
}

/* A new row block: nothing is known of its rows. */
static void begin_rows(const Evaluator *v, const Cursor *c) {
  const double m = softmax_start(&v->state->config.softmax).m;
  const int64_t rows = width(present_rows(v, c));
  for (int64_t r = 0; r < rows; r++) *row_at(v, r) = (EvaluateRow){.m_old = m, .m = m};
}

static void begin_kernel(Evaluate *e, int kernel) {
  if (e->kernel == kernel) return;
  e->kernel = (uint8_t)kernel;
  for (int k = 0; k < PROGRAM_NAMES_MAX; k++) e->tiles[k].is_set = false;
}

void evaluate_begin(const Evaluator *v) {
  Evaluate *e = v->state;
  memset(e->tiles, 0, sizeof e->tiles);
  memset(e->shown, -1, sizeof e->shown);
  e->cursor = (Cursor){0};
  e->kernel = 0;
  for (size_t k = e->n_inputs; k < e->n_numbers; k++) v->numbers[k] = NAN;
  walk_begin(&e->cursor);
}

/* The iteration of a loop over row blocks in which the block that is followed comes. */
static int64_t iteration_of_block(const Evaluator *v, const ProgramOp *op) {
  return schedule_backwards(v->plan, op) ? v->plan->T_r - 1 - v->state->block : v->state->block;
}

static bool is_over(const Evaluator *v, const ProgramOp *op, const Cursor *c) {
  if (c->at[op->dim] >= c->n[op->dim]) return true;
  return op->dim == DIM_I && v->state->block >= 0 && c->at[DIM_I] > iteration_of_block(v, op);
}

/* The next operation that happens; the cursor goes behind it. */
static int go_on(const Evaluator *v, Cursor *c) {
  const uint8_t when = schedule_when(v->plan);
  for (;;) {
    const int at = c->op;
    const ProgramOp *op = &v->schedule->ops[at];
    switch (op->kind) {
    case OP_LOOP:
      if (op->when & ~when) {
        c->op = (uint8_t)(op->end + 1);
        break;
      }
      walk_enter_loop(v->plan, op, c);
      if (op->dim == DIM_I && v->state->block >= 0) c->at[DIM_I] = iteration_of_block(v, op);
      c->op++;
      break;
    case OP_TEST:
      if (is_over(v, op, c)) {
        walk_leave_loop(op, c);
        c->op = (uint8_t)(op->end + 1);
        break;
      }
      walk_set_block(v->plan, op, c);
      if (op->of && c->tile == TILE_SKIPPED)
        c->at[op->dim]++;
      else
        c->op++;
      return at;
    case OP_END:
      c->op = (uint8_t)op->end;
      c->at[v->schedule->ops[op->end].dim]++;
      break;
    case OP_STOP: c->done = true; return -1;
    default:
      c->op++;
      if (!(op->when & ~when)) return at;
    }
  }
}

int evaluate_peek(const Evaluator *v, Cursor *cursor) { return go_on(v, cursor); }

int evaluate_next(const Evaluator *v) {
  Cursor *c = &v->state->cursor;
  const int at = go_on(v, c);
  if (at < 0) return at;
  const ProgramOp *op = &v->schedule->ops[at];
  begin_kernel(v->state, op->kernel);
  if (op->kind != OP_TEST)
    do_op(v, op, c);
  else if (op->dim == DIM_I && c->op != at)
    begin_rows(v, c);
  return at;
}

bool evaluate_is_at(const Evaluate *e, int op, const Event *event) {
  return op == event->op && e->cursor.i == event->i && e->cursor.j == event->j &&
         max64(e->cursor.split, 0) == event->split && max64(e->cursor.head, 0) == event->head;
}

const EvaluateRow *evaluate_row(const Evaluator *v, int64_t row) {
  const Span rows = present_rows(v, &v->state->cursor);
  return row < rows.begin || row >= rows.end ? NULL : row_at(v, row - rows.begin);
}

const double *evaluate_tile(const Evaluator *v, int name, bool rounded) {
  const bool is = rounded && v->state->tiles[name].is_rounded && v->state->rounded[name] != EVALUATE_NOWHERE;
  return v->numbers + (is ? v->state->rounded[name] : v->state->sram[name]);
}
