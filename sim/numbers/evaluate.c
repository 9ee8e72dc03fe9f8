#include "sim/numbers/evaluate.h"

#include <math.h>
#include <string.h>

#include "sim/algorithms/walk/walk.h"

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t width(Span span) { return span.end > span.begin ? span.end - span.begin : 0; }

static const ProgramName *name_of(const Evaluator *v, int name) { return &v->schedule->names[name]; }
static Precision accumulator_of(const Evaluator *v) {
  return precision_accumulator(v->state->config.softmax.precision);
}

/* ---- Layout ----------------------------------------------------------------------------------------------- */

/* Whether a block of the name goes out to HBM under this plan. */
static bool is_stored(const Schedule *s, const Plan *plan, int name) {
  for (int op = 0; op < s->n_ops; op++) {
    const ProgramOp *o = &s->ops[op];
    if (o->kind != OP_EVENT || o->event != EVENT_STORE || (o->when & ~schedule_when(plan))) continue;
    for (int k = 0; k < o->n_moved; k++)
      if (o->moved[k] == name) return true;
  }
  return false;
}

/* What is transposed, or of which a part is taken. */
static int bare(const Schedule *s, int node) {
  while (s->nodes[node].kind == NODE_TRANSPOSE || s->nodes[node].kind == NODE_FIRST) node = s->nodes[node].a;
  return node;
}

static bool is_operand(const Schedule *s, int name) {
  for (int k = 0; k < s->n_nodes; k++) {
    const ProgramNode *n = &s->nodes[k];
    if (n->kind == NODE_MATMUL && (s->nodes[bare(s, n->a)].name == name || s->nodes[bare(s, n->b)].name == name))
      return true;
  }
  return false;
}

/* A name by its part in attention(Q, K, V). */
static bool is_operand_of(const Schedule *s, int name, int which) { return s->operands[which] == name + 1; }

bool evaluate_follows_rows(const Schedule *s) {
  for (int k = 0; k < s->n_names; k++)
    if (s->names[k].is_input && !is_operand_of(s, k, 0) && !is_operand_of(s, k, 1) && !is_operand_of(s, k, 2))
      return false;
  for (int k = 0; k < s->n_declarations; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    if (d->role == TENSOR_OUTPUT && s->names[d->name].rows != SIDE_ROWS) return false;
    if (d->formula && s->nodes[d->formula - 1].kind != NODE_ATTENTION) return false;
  }
  return s->operands[0] && s->operands[1] && s->operands[2] && !s->over_heads && !s->diagonal;
}

static Wide tile_numbers(const Evaluate *e, int rows, int cols, bool *overflow) {
  return checked_mul((Wide)e->n[rows], (Wide)e->n[cols], overflow);
}

/* Along a side of a name's whole matrix. */
static int64_t whole_side(const Evaluate *e, const Plan *plan, int side) {
  return side == SIDE_ROWS ? width(e->config.rows) : side == SIDE_COLS ? plan->shape.N_k : e->n[side];
}

/* Numbers of all of its matrices. */
static Wide matrix_numbers(const Evaluate *e, const Plan *plan, const ProgramName *n, bool *overflow) {
  const Wide one = checked_mul((Wide)whole_side(e, plan, n->rows), (Wide)whole_side(e, plan, n->cols), overflow);
  return checked_mul(one, (Wide)schedule_matrices(plan, n), overflow);
}

/* Room for what an expression needs on the way: its values, and those that a product takes once more, rounded. */
static Wide scratch_numbers(const Evaluate *e, const Schedule *s, int node, bool *overflow) {
  const ProgramNode *n = &s->nodes[node];
  const bool looks = n->kind == NODE_NAME || n->kind == NODE_TRANSPOSE || n->kind == NODE_FIRST;
  Wide sum = looks ? 0 : tile_numbers(e, n->rows, n->cols, overflow);
  const int operands[] = {n->a, n->b};
  for (int k = 0; k < 2; k++) {
    if (operands[k] < 0) continue;
    const ProgramNode *o = &s->nodes[operands[k]];
    sum = checked_add(sum, scratch_numbers(e, s, operands[k], overflow), overflow);
    if (n->kind == NODE_MATMUL && o->kind != NODE_NAME)
      sum = checked_add(sum, tile_numbers(e, o->rows, o->cols, overflow), overflow);
  }
  return sum;
}

static size_t place(Wide *total, Wide n, bool *overflow) {
  const size_t at = (size_t)*total;
  *total = checked_add(*total, n, overflow);
  return at;
}

Wide evaluate_layout(Evaluate *e, const Schedule *s, const Plan *plan, const EvaluateConfig *config, bool *overflow) {
  *e = (Evaluate){.config = *config, .block = -1};
  const Precision accumulator = precision_accumulator(config->softmax.precision);
  e->scale = precision_computed(accumulator, config->scale != 0 ? config->scale : 1 / sqrt((double)plan->shape.d));
  const int64_t n_rows = width(config->rows);
  int64_t longest = 1;
  e->n[SIDE_ONE] = 1;
  e->n[SIDE_ROWS] = min64(plan->tiling.B_r, n_rows);
  e->n[SIDE_COLS] = min64(plan->tiling.B_c, plan->shape.N_k);
  e->n[SIDE_D] = plan->shape.d;
  e->n[SIDE_DV] = config->n_v;
  for (int k = SIDE_OWN; k < SIDE_COUNT; k++) e->n[k] = schedule_side(s, plan, k);
  if (n_rows < plan->shape.N_q) e->block = config->rows.begin / plan->tiling.B_r;
  Wide total = 0, scratch = 0;
  for (int k = 0; k < s->n_names; k++) {
    e->sram[k] = e->rounded[k] = e->hbm[k] = EVALUATE_NOWHERE;
    if (s->names[k].is_input && !config->inputs_apart)
      e->hbm[k] = place(&total, matrix_numbers(e, plan, &s->names[k], overflow), overflow);
  }
  e->n_inputs = (size_t)total;
  for (int k = 0; k < s->n_names; k++) {
    const ProgramName *n = &s->names[k];
    if (n->is_input) continue;
    const Wide tile = tile_numbers(e, n->rows, n->cols, overflow);
    e->sram[k] = place(&total, tile, overflow);
    if (is_operand(s, k)) e->rounded[k] = place(&total, tile, overflow);
    if (is_stored(s, plan, k)) e->hbm[k] = place(&total, matrix_numbers(e, plan, n, overflow), overflow);
  }
  for (int k = 0; k < s->n_assigns; k++) {
    const Wide needed = scratch_numbers(e, s, s->assigns[k].value, overflow);
    if (needed > scratch) scratch = needed;
  }
  for (int k = 0; k < s->n_ops; k++) {
    const Wide needed = s->ops[k].value ? scratch_numbers(e, s, s->ops[k].value - 1, overflow) : 0;
    if (needed > scratch) scratch = needed;
  }
  for (int k = 0; k < SIDE_COUNT; k++)
    if (e->n[k] > longest) longest = e->n[k];
  e->chosen_at = place(&total, (Wide)longest, overflow);
  e->rows_at = place(&total, (Wide)e->n[SIDE_ROWS] * (sizeof(EvaluateRow) / sizeof(double)), overflow);
  e->scratch_at = place(&total, scratch, overflow);
  e->n_numbers = (size_t)total;
  return total;
}

/* ---- Where things are ------------------------------------------------------------------------------------- */

/* The rows of the present row block that are followed. */
static Span present_rows(const Evaluator *v, const Cursor *c) {
  const Span rows = v->state->config.rows;
  if (c->i < 0) return (Span){0, 0};
  const Span present = {max64(c->row0, rows.begin), min64(c->row1, rows.end)};
  return present.begin < present.end ? present : (Span){0, 0};
}

static Span present_cols(const Cursor *c) { return c->j < 0 ? (Span){0, 0} : (Span){c->col0, c->col1}; }

static int64_t present(const Evaluator *v, const Cursor *c, int side) {
  if (side == SIDE_ROWS) return width(present_rows(v, c));
  if (side == SIDE_COLS) return width(present_cols(c));
  return v->state->n[side];
}

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

static double *tile_of(const Evaluator *v, int name) { return v->numbers + v->state->sram[name]; }

static EvaluateRow *row_at(const Evaluator *v, int64_t k) {
  return (EvaluateRow *)(void *)(v->numbers + v->state->rows_at) + k;
}

/* Which of a name's matrices, in a loop's present split, head and block. */
static int64_t matrix_of(const Evaluator *v, const Cursor *c, const ProgramName *n) {
  const Plan *plan = v->plan;
  const bool rows = sides_have(n->rows, n->cols, SIDE_ROWS), cols = sides_have(n->rows, n->cols, SIDE_COLS);
  int64_t index = n->subscripts & IN_S ? max64(c->split, 0) : 0;
  if (n->subscripts & IN_H) index = index * schedule_group(plan) + max64(c->head, 0);
  if ((n->subscripts & IN_I) && !rows && !cols) index = index * plan->T_r + max64(c->i, 0);
  if ((n->subscripts & IN_J) && !rows && !cols) index = index * plan->T_c + max64(c->j, 0);
  return index;
}

static int64_t first_in_whole(const Evaluator *v, const Cursor *c, int side) {
  if (side == SIDE_ROWS) return max64(present_rows(v, c).begin - v->state->config.rows.begin, 0);
  return side == SIDE_COLS ? c->col0 : 0;
}

/* The element of the name's matrix in HBM that its present tile begins with, and how far its rows are apart. */
static double *block_in_hbm(const Evaluator *v, const Cursor *c, int name, int64_t *stride) {
  const Evaluate *e = v->state;
  const ProgramName *n = name_of(v, name);
  *stride = whole_side(e, v->plan, n->cols);
  const int64_t row = matrix_of(v, c, n) * whole_side(e, v->plan, n->rows) + first_in_whole(v, c, n->rows);
  return v->numbers + e->hbm[name] + row * *stride + first_in_whole(v, c, n->cols);
}

double *evaluate_matrix(const Evaluator *v, int name, int64_t head, int64_t split) {
  const Evaluate *e = v->state;
  const ProgramName *n = name_of(v, name);
  const Cursor at = {.head = head, .split = split};
  if (e->hbm[name] == EVALUATE_NOWHERE) return NULL;
  return v->numbers + e->hbm[name] +
         matrix_of(v, &at, n) * whole_side(e, v->plan, n->rows) * whole_side(e, v->plan, n->cols);
}

/* ---- Values ----------------------------------------------------------------------------------------------- */

/* Numbers somewhere; a step of 0 repeats what has one row or column. */
typedef struct {
  const double *p;
  int64_t down, across;
  int64_t rows, cols;
} Value;

typedef struct {
  const Evaluator *v;
  const Cursor *c;
  double *free; /* room for the next value */
} Work;

static double *take(Work *w, int64_t n) {
  double *p = w->free;
  w->free += n;
  return p;
}

static Value matrix(const double *p, int64_t rows, int64_t cols, int64_t stride, const ProgramNode *n) {
  return (Value){p, n->rows == SIDE_ONE ? 0 : stride, n->cols == SIDE_ONE ? 0 : 1, rows, cols};
}

static Value value_of(Work *w, int node);

/* An input is read where it lies. */
static Value named_input(const Work *w, const ProgramNode *n, int64_t rows, int64_t cols) {
  const Evaluator *v = w->v;
  int64_t stride = v->state->n[n->cols];
  if (rows == 0) return matrix(w->free, rows, cols, stride, n);
  if (v->state->hbm[n->name] != EVALUATE_NOWHERE) {
    const double *block = block_in_hbm(v, w->c, n->name, &stride);
    return matrix(block, rows, cols, stride, n);
  }
  const double *p = is_operand_of(v->schedule, n->name, 0)
                        ? v->Q + (present_rows(v, w->c).begin - v->state->config.rows.begin) * stride
                    : is_operand_of(v->schedule, n->name, 1) ? v->K + w->c->col0 * stride
                                                             : v->V + w->c->col0 * stride;
  return matrix(p, rows, cols, stride, n);
}

static Value named(const Work *w, const ProgramNode *n) {
  const Evaluator *v = w->v;
  const int64_t rows = present(v, w->c, n->rows), cols = present(v, w->c, n->cols);
  if (name_of(v, n->name)->is_input) return named_input(w, n, rows, cols);
  return matrix(tile_of(v, n->name), rows, cols, v->state->n[n->cols], n);
}

static Value transposed(Value a) { return (Value){a.p, a.across, a.down, a.cols, a.rows}; }

static Value first_columns(const Work *w, Value a, const ProgramNode *n) {
  a.cols = present(w->v, w->c, n->cols);
  return a;
}

static Value number(Work *w, double x) {
  double *p = take(w, 1);
  *p = x;
  return (Value){p, 0, 0, 1, 1};
}

/* -inf, where m starts: without a maximum that is 0. */
static Value negated(Work *w, const ProgramNode *n) {
  const Value a = value_of(w, n->a);
  const bool start = w->v->state->config.softmax.without_max && w->v->schedule->nodes[n->a].kind == NODE_NUMBER &&
                     isinf(w->v->schedule->nodes[n->a].value);
  double *p = take(w, a.rows * a.cols), *out = p;
  for (int64_t r = 0; r < a.rows; r++)
    for (int64_t k = 0; k < a.cols; k++) *out++ = start ? 0 : -a.p[r * a.down + k * a.across];
  return matrix(p, a.rows, a.cols, a.cols, n);
}

static inline double combine(const SoftmaxConfig *config, Precision accumulator, int kind, double a, double b) {
  switch (kind) {
  case NODE_ADD: return precision_computed(accumulator, a + b);
  case NODE_SUBTRACT: return precision_computed(accumulator, a - b);
  case NODE_TIMES: return precision_computed(accumulator, a * b);
  case NODE_DIVIDE: return softmax_divide(config, a, b);
  case NODE_MAX: return softmax_new_max(config, a, b);
  case NODE_EXP2: return a == -INFINITY ? 0 : precision_computed(accumulator, exp2(a - b));
  default: return softmax_exponential(config, a, b); /* e^(a - b) */
  }
}

static Value pairwise(Work *w, const ProgramNode *n, int kind, int first, int second) {
  const SoftmaxConfig *config = &w->v->state->config.softmax;
  const Precision accumulator = accumulator_of(w->v);
  const Value a = value_of(w, first), b = value_of(w, second);
  const int64_t rows = max64(a.rows, b.rows), cols = max64(a.cols, b.cols);
  double *p = take(w, rows * cols), *out = p;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t k = 0; k < cols; k++)
      *out++ = combine(config, accumulator, kind, a.p[r * a.down + k * a.across], b.p[r * b.down + k * b.across]);
  return matrix(p, rows, cols, cols, n);
}

/* e^x; of a difference e^(a - b), so that a masked score gives 0 whatever it is compared with. */
static Value exponential(Work *w, const ProgramNode *n) {
  const SoftmaxConfig *config = &w->v->state->config.softmax;
  const ProgramNode *inner = &w->v->schedule->nodes[n->a];
  if (inner->kind == NODE_SUBTRACT) return pairwise(w, n, NODE_EXP, inner->a, inner->b);
  const Value a = value_of(w, n->a);
  double *p = take(w, a.rows * a.cols), *out = p;
  for (int64_t r = 0; r < a.rows; r++)
    for (int64_t k = 0; k < a.cols; k++) *out++ = softmax_exponential(config, a.p[r * a.down + k * a.across], 0);
  return matrix(p, a.rows, a.cols, a.cols, n);
}

static double function_of(int kind, bool twos, double x) {
  switch (kind) {
  case NODE_LOG: return twos ? log2(x) : log(x);
  case NODE_EXP2: return exp2(x);
  case NODE_TANH: return tanh(x);
  case NODE_SIGMOID: return 1 / (1 + exp(-x));
  default: return sqrt(x);
  }
}

/* log, tanh, ... element by element. */
static Value function(Work *w, const ProgramNode *n) {
  const bool twos = w->v->state->config.softmax.powers_of_two;
  const Precision accumulator = accumulator_of(w->v);
  const Value a = value_of(w, n->a);
  double *p = take(w, a.rows * a.cols), *out = p;
  for (int64_t r = 0; r < a.rows; r++)
    for (int64_t k = 0; k < a.cols; k++) {
      const double x = a.p[r * a.down + k * a.across];
      *out++ = precision_computed(accumulator, function_of(n->kind, twos, x));
    }
  return matrix(p, a.rows, a.cols, a.cols, n);
}

static Value along_row(Work *w, const ProgramNode *n) {
  const SoftmaxConfig *config = &w->v->state->config.softmax;
  const Precision accumulator = accumulator_of(w->v);
  const Value a = value_of(w, n->a);
  double *p = take(w, a.rows);
  for (int64_t r = 0; r < a.rows; r++) {
    double x = n->kind == NODE_ROW_MAX ? -INFINITY : 0;
    for (int64_t k = 0; k < a.cols; k++) {
      const double y = a.p[r * a.down + k * a.across];
      x = n->kind == NODE_ROW_MAX ? fmax(x, y) : precision_computed(accumulator, x + y);
    }
    p[r] = n->kind == NODE_ROW_MAX && config->without_max ? 0 : x;
  }
  return matrix(p, a.rows, 1, 1, n);
}

/* ---- Products --------------------------------------------------------------------------------------------- */

/* An operand as tensor cores take it: rounded to the element type. Inputs are. */
static Value operand(Work *w, int node) {
  const Evaluator *v = w->v;
  const ProgramNode *n = &v->schedule->nodes[node];
  if (n->kind == NODE_TRANSPOSE) return transposed(operand(w, n->a));
  if (n->kind == NODE_FIRST) return first_columns(w, operand(w, n->a), n);
  const Value a = value_of(w, node);
  if (n->kind == NODE_NAME && name_of(v, n->name)->is_input) return a;
  const Precision stored = v->state->config.softmax.precision;
  EvaluateTile *tile = n->kind == NODE_NAME ? &v->state->tiles[n->name] : NULL;
  double *p = tile ? v->numbers + v->state->rounded[n->name] : take(w, a.rows * a.cols);
  const int64_t stride = tile ? v->state->n[n->cols] : a.cols;
  if (tile && tile->is_rounded) return matrix(p, a.rows, a.cols, stride, n);
  for (int64_t r = 0; r < a.rows; r++)
    for (int64_t k = 0; k < a.cols; k++) p[r * stride + k] = precision_round(stored, a.p[r * a.down + k * a.across]);
  if (tile) tile->is_rounded = true;
  return matrix(p, a.rows, a.cols, stride, n);
}

/* out += a b, added up from left to right with one rounding a step. Rows of out are `stride` apart. */
static void multiply_into(Work *w, const ProgramNode *n, double *out, int64_t stride) {
  const Precision accumulator = accumulator_of(w->v);
  const Value a = operand(w, n->a), b = operand(w, n->b);
  const bool along = w->v->schedule->nodes[n->b].kind == NODE_TRANSPOSE; /* columns of b are rows in memory */
  for (int64_t r = 0; r < a.rows; r++) {
    const double *x = a.p + r * a.down;
    double *to = out + r * stride;
    for (int64_t k = 0; k < b.cols && along; k++) {
      const double *y = b.p + k * b.across;
      double sum = to[k];
      for (int64_t e = 0; e < a.cols; e++)
        sum = precision_multiply_add(accumulator, x[e * a.across], y[e * b.down], sum);
      to[k] = sum;
    }
    for (int64_t e = 0; e < a.cols && !along; e++) {
      const double factor = x[e * a.across], *y = b.p + e * b.down;
      for (int64_t k = 0; k < b.cols; k++) to[k] = precision_multiply_add(accumulator, factor, y[k * b.across], to[k]);
    }
  }
}

static Value product(Work *w, const ProgramNode *n) {
  const int64_t rows = present(w->v, w->c, n->rows), cols = present(w->v, w->c, n->cols);
  double *p = take(w, rows * cols);
  memset(p, 0, (size_t)(rows * cols) * sizeof *p);
  multiply_into(w, n, p, cols);
  return matrix(p, rows, cols, cols, n);
}

static bool is_named(const Schedule *s, int node, int which) {
  return s->nodes[node].kind == NODE_NAME && is_operand_of(s, s->nodes[node].name, which);
}

static bool is_product_of_Q_K(const Schedule *s, const ProgramNode *n) {
  if (n->kind != NODE_MATMUL || !is_named(s, n->a, 0)) return false;
  const ProgramNode *b = &s->nodes[n->b];
  return b->kind == NODE_TRANSPOSE && is_named(s, b->a, 1);
}

/* x / sqrt(d). Of Q K^T the scores may be there already. */
static Value scaled(Work *w, const ProgramNode *n) {
  const Evaluator *v = w->v;
  const Precision accumulator = accumulator_of(v);
  const ProgramNode *inner = &v->schedule->nodes[n->a];
  const SoftmaxConfig *config = &v->state->config.softmax;
  const bool are_scores = is_product_of_Q_K(v->schedule, inner), capped = config->softcap > 0 && are_scores;
  if (v->scores && are_scores && !capped) {
    const Span cols = present_cols(w->c);
    const int64_t rows = width(present_rows(v, w->c));
    return matrix(rows ? v->scores(v->context, cols.end) + cols.begin : w->free, rows, width(cols), 0, n);
  }
  const Value a = value_of(w, n->a);
  double *p = take(w, a.rows * a.cols), *out = p;
  for (int64_t r = 0; r < a.rows; r++)
    for (int64_t k = 0; k < a.cols; k++) {
      const double x = precision_computed(accumulator, a.p[r * a.down + k * a.across] * v->state->scale);
      *out++ = capped ? softmax_capped(config->precision, x, config->softcap) : x;
    }
  return matrix(p, a.rows, a.cols, a.cols, n);
}

static double length_of(const Work *w, int which) {
  const Plan *plan = w->v->plan;
  if (which == LENGTH_N_Q) return (double)plan->shape.N_q;
  return (double)(which == LENGTH_N_K ? plan->shape.N_k : schedule_side(w->v->schedule, plan, which));
}

static Value value_of(Work *w, int node) {
  const ProgramNode *n = &w->v->schedule->nodes[node];
  switch (n->kind) {
  case NODE_NUMBER: return number(w, precision_computed(accumulator_of(w->v), n->value));
  case NODE_NAME: return named(w, n);
  case NODE_NEGATE: return negated(w, n);
  case NODE_MATMUL: return product(w, n);
  case NODE_EXP: return exponential(w, n);
  case NODE_EXP2:
    if (w->v->schedule->nodes[n->a].kind == NODE_SUBTRACT) {
      const ProgramNode *inner = &w->v->schedule->nodes[n->a];
      return pairwise(w, n, NODE_EXP2, inner->a, inner->b);
    }
    __attribute__((fallthrough));
  case NODE_LOG:
  case NODE_TANH:
  case NODE_SIGMOID:
  case NODE_SQRT: return function(w, n);
  case NODE_TRANSPOSE: return transposed(value_of(w, n->a));
  case NODE_FIRST: return first_columns(w, value_of(w, n->a), n);
  case NODE_LENGTH: return number(w, precision_computed(accumulator_of(w->v), length_of(w, n->name)));
  case NODE_ROW_MAX:
  case NODE_ROW_SUM: return along_row(w, n);
  case NODE_SQRT_D: return number(w, precision_computed(accumulator_of(w->v), 1 / w->v->state->scale));
  case NODE_DIVIDE:
    if (w->v->schedule->nodes[n->b].kind == NODE_SQRT_D) return scaled(w, n);
    break;
  default: break;
  }
  return pairwise(w, n, n->kind, n->a, n->b);
}

/* ---- Setting values ---------------------------------------------------------------------------------------- */

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
  const Value a = value_of(w, n->a), b = value_of(w, n->b);
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
    if (n->kind == NODE_DIVIDE && s->nodes[n->b].kind == NODE_SQRT_D && is_product_of_Q_K(s, &s->nodes[n->a]))
      return true;
  }
  return false;
}

Status evaluate_takes(const Schedule *s, const SoftmaxConfig *config, Error *error) {
  if (config->softcap > 0 && !has_scores(s))
    return error_set(error, STATUS_BAD_REQUEST,
                     "%s has no line S = Q_i K_j^T / sqrt(d), whose scores a cap would bend; leave --softcap out",
                     s->name);
  if (config->has_sink && (!has_beginning(s, 'm') || !has_beginning(s, 'l')))
    return error_set(error, STATUS_BAD_REQUEST,
                     "%s sets no m and l before it takes the max of scores, so a sink has no place; leave --sink out",
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
    multiply_into(&w, value, tile, stride);
  } else if (a->kind == ASSIGN_ADD && n->cols != SIDE_ONE && value->kind == NODE_TIMES && !chosen) {
    add_product(&w, value, tile, rows, cols, stride);
  } else {
    Value x = value_of(&w, a->value);
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

/* ---- Moving and masking ------------------------------------------------------------------------------------ */

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
    const double *block = block_in_hbm(v, c, name, &from);
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
  double *block = block_in_hbm(v, c, name, &to);
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
    hidden = *value_of(&w, op->value - 1).p;
  }
  for (int64_t row = rows.begin; row < rows.end; row++, tile += v->state->n[SIDE_COLS]) {
    const Span seen = band_columns(&m->band, row);
    for (int64_t col = cols.begin; col < cols.end; col++)
      if (m->pattern ? !mask_allows(m, row, col) : col < seen.begin || col >= seen.end) tile[col - cols.begin] = hidden;
  }
  v->state->tiles[op->moved[0]].is_rounded = false;
}

/* ---- Operations -------------------------------------------------------------------------------------------- */

/* The rows for which a line's comparison holds. */
static const double *choose(const Evaluator *v, const Cursor *c, int node) {
  const ProgramNode *n = &v->schedule->nodes[node];
  double *chosen = v->numbers + v->state->chosen_at;
  Work w = {v, c, v->numbers + v->state->scratch_at};
  const Value a = value_of(&w, n->a), b = value_of(&w, n->b);
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

/* ---- Looking ----------------------------------------------------------------------------------------------- */

const EvaluateRow *evaluate_row(const Evaluator *v, int64_t row) {
  const Span rows = present_rows(v, &v->state->cursor);
  return row < rows.begin || row >= rows.end ? NULL : row_at(v, row - rows.begin);
}

const double *evaluate_tile(const Evaluator *v, int name, bool rounded) {
  const bool is = rounded && v->state->tiles[name].is_rounded && v->state->rounded[name] != EVALUATE_NOWHERE;
  return v->numbers + (is ? v->state->rounded[name] : v->state->sram[name]);
}
