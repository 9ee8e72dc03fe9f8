#include "sim/numbers/reference.h"

#include <stdlib.h>

/* The mask, written from its description in sim/problem/shape.h and pattern.h, and not from the bands and ranges that
 * the schedules use. */
static bool pattern_hides(const Pattern *p, int64_t query, int64_t own, int64_t key) {
  if (p->kind == PATTERN_BLOCKS) return pattern_cells(p, query, query + 1, key, key + 1).allowed == 0;
  if (p->kind != PATTERN_DOCUMENTS) return false;
  int64_t k = 0;
  if (own < 0 || own >= p->matrix.N_k) return true;
  if (p->block) return own / p->block != key / p->block;
  while (p->table[k] <= key) k++;
  return own >= p->table[k] || own < (k > 0 ? p->table[k - 1] : 0);
}

bool reference_sees(const Shape *shape, int64_t query, int64_t key) {
  const int64_t own = query + (shape->top_left ? 0 : shape->N_k - shape->N_q); /* the query's position among the keys */
  const Pattern *p = shape->pattern;
  if (p && pattern_hides(p, query, own, key)) return false;
  if (p && p->kind == PATTERN_PREFIX && key < p->keys) return true;
  if (p && p->kind == PATTERN_SINK && key < p->keys)
    return !(shape->causal && key > own) && !(shape->sided && shape->right >= 0 && key > own + shape->right) &&
           !(!shape->causal && shape->window && key >= own + shape->window);
  if (shape->causal && key > own) return false;
  if (shape->sided)
    return (shape->left < 0 || key >= own - shape->left) && (shape->right < 0 || key <= own + shape->right);
  if (shape->window == 0) return true;
  if (shape->causal) return key > own - shape->window;
  return key > own - shape->window && key < own + shape->window;
}

/* ---- Matrices ---------------------------------------------------------------------------------------------- */

/* Values are kept until the formula is done; once memory has run out all are empty. */
typedef struct Matrix {
  int64_t rows, cols;
  double *p;
} Matrix;

typedef struct Made {
  struct Made *before;
  double numbers[];
} Made;

typedef struct {
  const Evaluator *v;
  int64_t head;
  Made *made;
  bool failed;
} Reference;

static Matrix make(Reference *r, int64_t rows, int64_t cols) {
  Made *made = r->failed ? NULL : calloc(1, sizeof *made + (size_t)(rows * cols) * sizeof(double));
  r->failed = !made;
  if (!made) return (Matrix){0};
  made->before = r->made;
  r->made = made;
  return (Matrix){rows, cols, made->numbers};
}

static void free_all(Reference *r) {
  while (r->made) {
    Made *const made = r->made;
    r->made = made->before;
    free(made);
  }
}

static double at(const Matrix *m, int64_t r, int64_t k) {
  return m->p[(m->rows == 1 ? 0 : r) * m->cols + (m->cols == 1 ? 0 : k)];
}

static const ProgramNode *node_of(Reference *r, int node) { return &r->v->schedule->nodes[node]; }

static int64_t side_of(Reference *r, int side) { return schedule_side_whole(r->v->schedule, r->v->plan, side); }

static Matrix value_of(Reference *r, int node);

static double combined(int kind, double a, double b) {
  switch (kind) {
  case NODE_ADD: return a + b;
  case NODE_SUBTRACT: return a - b;
  case NODE_TIMES: return a * b;
  case NODE_DIVIDE: return a / b;
  default: return fmax(a, b);
  }
}

static Matrix pair(Reference *r, const ProgramNode *n) {
  const Matrix a = value_of(r, n->a), b = value_of(r, n->b);
  Matrix m = make(r, a.rows > b.rows ? a.rows : b.rows, a.cols > b.cols ? a.cols : b.cols);
  for (int64_t i = 0; i < m.rows; i++)
    for (int64_t k = 0; k < m.cols; k++) m.p[i * m.cols + k] = combined(n->kind, at(&a, i, k), at(&b, i, k));
  return m;
}

static Matrix product(Reference *r, const ProgramNode *n) {
  const Matrix a = value_of(r, n->a), b = value_of(r, n->b);
  Matrix m = make(r, a.rows, b.cols);
  for (int64_t i = 0; i < m.rows; i++)
    for (int64_t k = 0; k < m.cols; k++)
      for (int64_t e = 0; e < a.cols; e++) m.p[i * m.cols + k] += a.p[i * a.cols + e] * b.p[e * b.cols + k];
  return m;
}

static double function_of(int kind, double x) {
  switch (kind) {
  case NODE_NEGATE: return -x;
  case NODE_EXP: return exp(x);
  case NODE_EXP2: return exp2(x);
  case NODE_LOG: return log(x);
  case NODE_TANH: return tanh(x);
  case NODE_SIGMOID: return 1 / (1 + exp(-x));
  default: return sqrt(x);
  }
}

/* e^(a - b) of a masked score is 0 whatever it is compared with; as a value, -infinity. */
static Matrix exponent(Reference *r, const ProgramNode *n) {
  const Matrix m = value_of(r, n->a);
  if (node_of(r, n->a)->kind != NODE_SUBTRACT) return m;
  const Matrix a = value_of(r, node_of(r, n->a)->a);
  for (int64_t i = 0; i < m.rows && !r->failed; i++)
    for (int64_t k = 0; k < m.cols; k++)
      if (at(&a, i, k) == -INFINITY) m.p[i * m.cols + k] = -INFINITY;
  return m;
}

static Matrix function(Reference *r, const ProgramNode *n) {
  const Matrix a = n->kind == NODE_EXP || n->kind == NODE_EXP2 ? exponent(r, n) : value_of(r, n->a);
  Matrix m = make(r, a.rows, a.cols);
  for (int64_t k = 0; k < m.rows * m.cols; k++) m.p[k] = function_of(n->kind, a.p[k]);
  return m;
}

static Matrix transposed(Reference *r, const ProgramNode *n) {
  const Matrix a = value_of(r, n->a);
  Matrix m = make(r, a.cols, a.rows);
  for (int64_t i = 0; i < m.rows; i++)
    for (int64_t k = 0; k < m.cols; k++) m.p[i * m.cols + k] = a.p[k * a.cols + i];
  return m;
}

/* One number a row, or the first columns. */
static Matrix of_rows(Reference *r, const ProgramNode *n) {
  const Matrix a = value_of(r, n->a);
  Matrix m = make(r, a.rows, n->kind == NODE_FIRST ? side_of(r, n->cols) : 1);
  for (int64_t i = 0; i < m.rows; i++) {
    double sum = n->kind == NODE_ROW_MAX ? -INFINITY : 0;
    for (int64_t k = 0; k < a.cols; k++) {
      const double x = a.p[i * a.cols + k];
      sum = n->kind == NODE_ROW_MAX ? fmax(sum, x) : sum + x;
      if (n->kind == NODE_FIRST && k < m.cols) m.p[i * m.cols + k] = x;
    }
    if (n->kind != NODE_FIRST) m.p[i] = sum;
  }
  return m;
}

static Matrix masked(Reference *r, const ProgramNode *n) {
  Matrix a = value_of(r, n->a);
  Matrix hidden = n->b >= 0 ? value_of(r, n->b) : (Matrix){0};
  Matrix m = make(r, a.rows, a.cols);
  for (int64_t i = 0; i < m.rows; i++)
    for (int64_t k = 0; k < a.cols; k++)
      m.p[i * a.cols + k] = reference_sees(&r->v->plan->shape, i, k) ? a.p[i * a.cols + k]
                            : hidden.p                               ? hidden.p[0]
                                                                     : -INFINITY;
  return m;
}

/* Rows of -infinity alone become 0. */
static Matrix softmax(Reference *r, const ProgramNode *n) {
  const Matrix a = value_of(r, n->a);
  Matrix m = make(r, a.rows, a.cols);
  for (int64_t i = 0; i < m.rows; i++) {
    double most = -INFINITY, l = 0;
    for (int64_t k = 0; k < a.cols; k++) most = fmax(most, a.p[i * a.cols + k]);
    for (int64_t k = 0; k < a.cols && most > -INFINITY; k++) l += m.p[i * a.cols + k] = exp(a.p[i * a.cols + k] - most);
    for (int64_t k = 0; k < a.cols && l > 0; k++) m.p[i * a.cols + k] /= l;
  }
  return m;
}

static Matrix number(Reference *r, double x) {
  Matrix m = make(r, 1, 1);
  if (m.p) m.p[0] = x;
  return m;
}

static double length_of(Reference *r, int which) {
  const Plan *plan = r->v->plan;
  if (which == LENGTH_N_Q || which == LENGTH_N_K)
    return (double)(which == LENGTH_N_Q ? plan->shape.N_q : plan->shape.N_k);
  return (double)schedule_side(r->v->schedule, plan, which);
}

static Matrix input(Reference *r, int name) {
  const ProgramName *n = &r->v->schedule->names[name];
  double *numbers = evaluate_matrix(r->v, name, r->head, 0);
  r->failed |= !numbers;
  return numbers ? (Matrix){side_of(r, n->rows), side_of(r, n->cols), numbers} : (Matrix){0};
}

static Matrix value_of(Reference *r, int node) {
  const ProgramNode *n = node_of(r, node);
  switch (n->kind) {
  case NODE_NUMBER: return number(r, n->value);
  case NODE_LENGTH: return number(r, length_of(r, n->name));
  case NODE_SQRT_D: return number(r, 1 / r->v->state->scale);
  case NODE_NAME: return input(r, n->name);
  case NODE_MATMUL: return product(r, n);
  case NODE_TRANSPOSE: return transposed(r, n);
  case NODE_ROW_MAX:
  case NODE_ROW_SUM:
  case NODE_FIRST: return of_rows(r, n);
  case NODE_MASKED: return masked(r, n);
  case NODE_SOFTMAX: return softmax(r, n);
  case NODE_ADD:
  case NODE_SUBTRACT:
  case NODE_TIMES:
  case NODE_DIVIDE:
  case NODE_MAX: return pair(r, n);
  default: return function(r, n);
  }
}

/* ---- Attention and its gradients --------------------------------------------------------------------------- */

typedef struct {
  Matrix Q, K, V, dO; /* dO of gradients alone */
  double *p, *slope;  /* of one row: weights of all keys, and what a cap of scores leaves of their slope */
} Operands;

/* The weights of a row, which add up to 1 (less with a sink); returns its log-sum-exp. */
static double weigh(Reference *r, const Operands *o, int64_t row) {
  const SoftmaxConfig *config = &r->v->state->config.softmax;
  const double scale = r->v->state->scale, cap = config->softcap;
  double most = config->has_sink ? config->sink : -INFINITY, l = 0;
  for (int64_t key = 0; key < o->K.rows; key++) {
    double sum = 0;
    for (int64_t c = 0; c < o->Q.cols; c++) sum += o->Q.p[row * o->Q.cols + c] * o->K.p[key * o->K.cols + c];
    const double bent = cap > 0 ? tanh(sum * scale / cap) : 0;
    o->slope[key] = 1 - bent * bent;
    o->p[key] = !reference_sees(&r->v->plan->shape, row, key) ? -INFINITY : cap > 0 ? cap * bent : sum * scale;
    most = fmax(most, o->p[key]);
  }
  const bool twos = config->powers_of_two;
  if (config->has_sink) l = twos ? exp2(config->sink - most) : exp(config->sink - most);
  for (int64_t key = 0; key < o->K.rows; key++) {
    o->p[key] = o->p[key] == -INFINITY ? 0 : twos ? exp2(o->p[key] - most) : exp(o->p[key] - most);
    l += o->p[key];
  }
  for (int64_t key = 0; key < o->K.rows && l > 0; key++) o->p[key] /= l;
  return l > 0 ? most + (twos ? log2(l) : log(l)) : -INFINITY;
}

static void attend(Reference *r, const Operands *o, int result, double *out) {
  for (int64_t row = 0; row < o->Q.rows; row++) {
    const double L = weigh(r, o, row);
    if (result == 1) out[row] = L;
    for (int64_t key = 0; key < o->K.rows && result == 0; key++)
      for (int64_t c = 0; c < o->V.cols; c++) out[row * o->V.cols + c] += o->p[key] * o->V.p[key * o->V.cols + c];
  }
}

/* dV = P^T dO; dS = P x (dO V^T - rows of sums of P x dO V^T), scaled; dQ = dS K, dK = dS^T Q. Adds to out. */
static void differentiate(Reference *r, const Operands *o, int result, double *out) {
  const int64_t d = o->Q.cols, d_v = o->V.cols;
  for (int64_t row = 0; row < o->Q.rows; row++) {
    double D = 0;
    weigh(r, o, row);
    for (int64_t key = 0; key < o->K.rows; key++) {
      double dP = 0;
      for (int64_t c = 0; c < d_v; c++) dP += o->dO.p[row * d_v + c] * o->V.p[key * d_v + c];
      for (int64_t c = 0; c < d_v && result == 2; c++) out[key * d_v + c] += o->p[key] * o->dO.p[row * d_v + c];
      D += o->p[key] * dP;
    }
    for (int64_t key = 0; key < o->K.rows && result != 2; key++) {
      double dP = 0;
      for (int64_t c = 0; c < d_v; c++) dP += o->dO.p[row * d_v + c] * o->V.p[key * d_v + c];
      const double dS = o->p[key] * (dP - D) * o->slope[key] * r->v->state->scale;
      for (int64_t c = 0; c < d; c++) {
        if (result == 0) out[row * d + c] += dS * o->K.p[key * d + c];
        if (result == 1) out[key * d + c] += dS * o->Q.p[row * d + c];
      }
    }
  }
}

static void apply(Reference *r, const ProgramNode *n, int result, double *out) {
  const bool is_gradient = n->kind == NODE_GRADIENT;
  const ProgramNode *first = is_gradient ? node_of(r, n->a) : NULL, *second = node_of(r, n->b);
  Operands o = {.Q = value_of(r, is_gradient ? first->a : n->a), .K = value_of(r, is_gradient ? first->b : second->a)};
  o.V = value_of(r, is_gradient ? second->a : second->b);
  if (is_gradient) o.dO = value_of(r, second->b);
  o.p = make(r, 1, o.K.rows).p;
  o.slope = make(r, 1, o.K.rows).p;
  if (r->failed) return;
  if (is_gradient)
    differentiate(r, &o, result, out);
  else
    attend(r, &o, result, out);
}

static bool has_heads(const Schedule *s, int node) {
  if (node < 0) return false;
  const ProgramNode *n = &s->nodes[node];
  if (n->kind == NODE_NAME) return s->names[n->name].subscripts & IN_H;
  return has_heads(s, n->a) || has_heads(s, n->b);
}

bool reference_matrix(const Evaluator *v, const ProgramDeclaration *d, int64_t head, double *out) {
  const ProgramName *name = &v->schedule->names[d->name];
  const ProgramNode *n = &v->schedule->nodes[d->formula - 1];
  Reference r = {.v = v, .head = head};
  const int64_t rows = side_of(&r, name->rows), cols = side_of(&r, name->cols);
  const bool adds = !(name->subscripts & IN_H) && has_heads(v->schedule, d->formula - 1);
  const int64_t end = adds ? schedule_group(v->plan) : head + 1;
  memset(out, 0, (size_t)(rows * cols) * sizeof *out);
  for (r.head = adds ? 0 : head; r.head < end; r.head++) {
    if (n->kind == NODE_ATTENTION || n->kind == NODE_GRADIENT) {
      apply(&r, n, d->result, out);
    } else {
      const Matrix m = value_of(&r, d->formula - 1);
      for (int64_t i = 0; !r.failed && i < rows; i++)
        for (int64_t k = 0; k < cols; k++) out[i * cols + k] += at(&m, i, k);
    }
    free_all(&r);
  }
  return !r.failed;
}
