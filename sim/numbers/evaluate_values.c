/* Expressions of a program: values by rows and columns, and products. */

#include "sim/numbers/evaluate_inner.h"

static double *take(Work *w, int64_t n) {
  double *p = w->free;
  w->free += n;
  return p;
}

static Value matrix(const double *p, int64_t rows, int64_t cols, int64_t stride, const ProgramNode *n) {
  return (Value){p, n->rows == SIDE_ONE ? 0 : stride, n->cols == SIDE_ONE ? 0 : 1, rows, cols};
}

/* An input is read where it lies. */
static Value named_input(const Work *w, const ProgramNode *n, int64_t rows, int64_t cols) {
  const Evaluator *v = w->v;
  int64_t stride = v->state->n[n->cols];
  if (rows == 0) return matrix(w->free, rows, cols, stride, n);
  if (v->state->hbm[n->name] != EVALUATE_NOWHERE) {
    const double *block = evaluate_block_in_hbm(v, w->c, n->name, &stride);
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
  const Value a = evaluate_value(w, n->a);
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
  const Value a = evaluate_value(w, first), b = evaluate_value(w, second);
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
  const Value a = evaluate_value(w, n->a);
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
  const Value a = evaluate_value(w, n->a);
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
  const Value a = evaluate_value(w, n->a);
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

/* An operand as tensor cores take it: rounded to the element type. Inputs are. */
static Value operand(Work *w, int node) {
  const Evaluator *v = w->v;
  const ProgramNode *n = &v->schedule->nodes[node];
  if (n->kind == NODE_TRANSPOSE) return transposed(operand(w, n->a));
  if (n->kind == NODE_FIRST) return first_columns(w, operand(w, n->a), n);
  const Value a = evaluate_value(w, node);
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
void evaluate_multiply_into(Work *w, const ProgramNode *n, double *out, int64_t stride) {
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
  evaluate_multiply_into(w, n, p, cols);
  return matrix(p, rows, cols, cols, n);
}

static bool is_named(const Schedule *s, int node, int which) {
  return s->nodes[node].kind == NODE_NAME && is_operand_of(s, s->nodes[node].name, which);
}

bool evaluate_is_product_of_Q_K(const Schedule *s, const ProgramNode *n) {
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
  const bool are_scores = evaluate_is_product_of_Q_K(v->schedule, inner), capped = config->softcap > 0 && are_scores;
  if (v->scores && are_scores && !capped) {
    const Span cols = present_cols(w->c);
    const int64_t rows = width(present_rows(v, w->c));
    return matrix(rows ? v->scores(v->context, cols.end) + cols.begin : w->free, rows, width(cols), 0, n);
  }
  const Value a = evaluate_value(w, n->a);
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

Value evaluate_value(Work *w, int node) {
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
  case NODE_TRANSPOSE: return transposed(evaluate_value(w, n->a));
  case NODE_FIRST: return first_columns(w, evaluate_value(w, n->a), n);
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
