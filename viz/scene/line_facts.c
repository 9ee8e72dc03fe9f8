#include "viz/scene/line_facts.h"

#include <math.h>
#include <string.h>

static const ProgramNode *node_at(const Program *p, int k) { return k >= 0 ? &p->nodes[k] : NULL; }

static bool is_column(const Program *p, int name) {
  return name >= 0 && p->names[name].rows == SIDE_ROWS && p->names[name].cols == SIDE_ONE;
}

static bool is_tile(const Program *p, int name) {
  return name >= 0 && p->names[name].rows == SIDE_ROWS && p->names[name].cols == SIDE_COLS;
}

static size_t base_length(const char *text) { return strcspn(text, "_"); } /* a prime belongs to the name */

bool line_same_base(const Program *p, int a, int b) {
  if (a < 0 || b < 0) return false;
  const char *x = p->names[a].text, *y = p->names[b].text;
  const size_t n = base_length(x);
  return n == base_length(y) && memcmp(x, y, n) == 0;
}

bool line_moves(const Program *p, int op, LineMove move, int name) {
  const ProgramOp *o = &p->ops[op];
  if (o->kind != OP_EVENT || !o->moves || event_goes_out(o->event) != (move == MOVE_STORE)) return false;
  for (int k = 0; k < o->n_moved; k++)
    if (o->moved[k] == name) return true;
  return false;
}

/* ---- Expressions ------------------------------------------------------------------------------------------ */

static bool holds_name(const Program *p, int node, int name) {
  const ProgramNode *n = node_at(p, node);
  if (!n) return false;
  return (n->kind == NODE_NAME && n->name == name) || holds_name(p, n->a, name) || holds_name(p, n->b, name);
}

/* The first node of a kind, a before b. */
static int find_kind(const Program *p, int node, NodeKind kind) {
  const ProgramNode *n = node_at(p, node);
  if (!n || n->kind == kind) return n ? node : -1;
  const int a = find_kind(p, n->a, kind);
  return a >= 0 ? a : find_kind(p, n->b, kind);
}

static int name_of(const Program *p, int node) {
  const ProgramNode *n = node_at(p, node);
  return n && n->kind == NODE_NAME ? n->name : -1;
}

double line_value(const Program *p, int node, const double *values) {
  const ProgramNode *n = node_at(p, node);
  if (!n) return NAN;
  const double a = n->kind == NODE_NUMBER || n->kind == NODE_NAME ? 0 : line_value(p, n->a, values),
               b = n->b >= 0 ? line_value(p, n->b, values) : NAN;
  switch (n->kind) {
  case NODE_NUMBER: return n->value;
  case NODE_NAME: return is_column(p, n->name) ? values[n->name] : NAN;
  case NODE_NEGATE: return -a;
  case NODE_ADD: return a + b;
  case NODE_SUBTRACT: return a == -INFINITY ? -INFINITY : a - b;
  case NODE_TIMES: return a * b;
  case NODE_DIVIDE: return a / b;
  case NODE_EXP: return exp(a);
  case NODE_EXP2: return exp2(a);
  case NODE_LOG: return log(a);
  case NODE_MAX: return fmax(a, b);
  default: return NAN;
  }
}

/* ---- Shapes ----------------------------------------------------------------------------------------------- */

/* T += U, or T = ... T ... + ... */
bool line_adds(const Program *p, const ProgramAssign *a) {
  if (a->kind != ASSIGN_SET) return a->kind == ASSIGN_ADD;
  return p->nodes[a->value].kind == NODE_ADD && holds_name(p, a->value, a->name);
}

bool line_divides(const Program *p, const ProgramAssign *a) {
  const ProgramNode *root = &p->nodes[a->value];
  return a->kind == ASSIGN_SET && root->kind == NODE_DIVIDE && name_of(p, root->a) >= 0 &&
         is_column(p, name_of(p, root->b));
}

bool line_begins(const Program *p, const ProgramAssign *a) {
  return a->kind == ASSIGN_SET && !holds_name(p, a->value, a->name);
}

bool line_has(const Program *p, int op, int name, LineAssign *is) {
  const ProgramOp *o = &p->ops[op];
  for (int k = 0; k < o->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[o->first_assign + k];
    if (a->name == name && is(p, a)) return true;
  }
  return false;
}

static LineShape shape_of(const Program *p, const ProgramOp *op) {
  int n_times = 0;
  bool max = false, add = false, divide = false, product = false;
  if (op->kind == OP_TEST) return LINE_SKIP;
  if (op->kind != OP_EVENT) return LINE_OTHER;
  if (op->moves) return op->event == EVENT_LOAD ? LINE_LOAD : LINE_STORE;
  if (op->event == EVENT_MASK) return LINE_MASK;
  if (!op->n_assigns) return LINE_OTHER;
  for (int k = 0; k < op->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[op->first_assign + k];
    n_times += a->kind == ASSIGN_TIMES;
    max |= a->kind == ASSIGN_SET && p->nodes[a->value].kind == NODE_MAX;
    add |= line_adds(p, a);
    divide |= line_divides(p, a);
    product |= a->kind == ASSIGN_SET && node_holds(p, a->value, NODE_MATMUL);
  }
  if (max) return LINE_MAXIMUM;
  if (n_times == op->n_assigns) return LINE_SCALE;
  return add ? LINE_ADD : divide ? LINE_DIVIDE : product ? LINE_PRODUCT : LINE_SET;
}

/* ---- One shape after the other ---------------------------------------------------------------------------- */

/* Whether lines of a kernel set a name to nothing but another one and constants; or itself, to a maximum. */
static bool follows(const Program *p, int kernel, int name, int other) {
  for (int op = p->kernels[kernel].first_op; op < p->kernels[kernel].end_op; op++)
    for (int k = 0; k < p->ops[op].n_assigns; k++) {
      const ProgramAssign *a = &p->assigns[p->ops[op].first_assign + k];
      if (a->name != name || node_is_constant(p, a->value)) continue;
      if (p->ops[op].value) return false; /* of some rows */
      if (name == other ? p->nodes[a->value].kind != NODE_MAX : name_of(p, a->value) != other) return false;
    }
  return true;
}

static void of_max(const Program *p, const ProgramOp *op, const ProgramAssign *a, LineFacts *f) {
  const ProgramNode *root = &p->nodes[a->value];
  if (f->result >= 0 || a->kind != ASSIGN_SET || root->kind != NODE_MAX) return;
  const ProgramNode *best = &p->nodes[root->b];
  f->result = a->name;
  f->old = name_of(p, root->a);
  f->best = best->kind == NODE_ROW_MAX ? name_of(p, best->a) : name_of(p, root->b);
  if (!is_column(p, f->old)) f->old = -1;
  f->is_maximum = f->old >= 0 && is_tile(p, f->best) && follows(p, op->kernel, f->old, f->result);
  if (!is_column(p, f->best) && !is_tile(p, f->best)) f->best = -1;
}

static bool is_divided_by(const Program *p, int name, int divisor) {
  for (int k = 0; k < p->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[k];
    if (a->name == name && line_divides(p, a) && name_of(p, p->nodes[a->value].b) == divisor) return true;
  }
  return false;
}

/* What one statement of the line says, the first that does so. */
static void of_assign(const Program *p, const ProgramAssign *a, LineFacts *f) {
  const bool is_part = f->shape == LINE_ADD && line_adds(p, a), is_scaled = f->shape == LINE_SCALE,
             is_value = is_column(p, a->name), is_quotient = f->shape == LINE_DIVIDE && line_divides(p, a);
  const int by = is_quotient ? name_of(p, p->nodes[a->value].b) : name_of(p, a->value);
  if ((is_part || is_scaled || f->shape == LINE_SET) && is_value && f->sum < 0) f->sum = a->name;
  if (((is_part || is_scaled) && !is_value && f->total < 0) || (is_quotient && f->total < 0)) f->total = a->name;
  if (is_scaled && f->factor < 0) f->factor = a->value;
  if (is_part && f->is_over_parts && f->factor < 0) f->factor = find_kind(p, a->value, NODE_EXP);
  if (f->shape == LINE_ADD && is_tile(p, a->name) && p->nodes[a->value].kind == NODE_EXP) f->weights = a->name;
  if (is_quotient && f->divisor < 0) f->divisor = by;
  if (!is_scaled || by < 0 || !is_divided_by(p, a->name, by)) return;
  f->undoes_division = true;
  f->divisor = by;
  f->total = a->name;
}

static bool is_moved(const Program *p, int name) {
  for (int op = 0; op < p->n_ops; op++)
    if (line_moves(p, op, MOVE_LOAD, name) || line_moves(p, op, MOVE_STORE, name)) return true;
  return false;
}

static bool are_scores(const Program *p, int name) {
  for (int op = 0; op < p->n_ops; op++)
    if (p->ops[op].kind == OP_EVENT && p->ops[op].event == EVENT_MASK && p->ops[op].moved[0] == name) return true;
  for (int k = 0; k < p->n_nodes; k++)
    if (p->nodes[k].kind == NODE_ROW_MAX && name_of(p, p->nodes[k].a) == name) return true;
  return false;
}

static void of_product(const Program *p, const ProgramOp *op, LineFacts *f) {
  const ProgramAssign *a = &p->assigns[op->first_assign];
  const ProgramNode *product = node_at(p, find_kind(p, a->value, NODE_MATMUL));
  const ProgramNode *turned = product ? node_at(p, product->b) : NULL;
  f->is_scores = are_scores(p, a->name);
  f->stays_on_chip = !is_moved(p, a->name);
  if (!turned || turned->kind != NODE_TRANSPOSE || op->n_assigns > 1 || !is_tile(p, a->name)) return;
  f->left = name_of(p, product->a);
  f->right = name_of(p, turned->a);
}

void line_facts(const Program *p, int at, LineFacts *f) {
  const ProgramOp *op = &p->ops[at];
  *f = (LineFacts){.shape = shape_of(p, op), .op = at};
  f->loop_i = f->loop_j = f->loop_s = f->first = f->sum = f->total = f->result = f->old = f->best = -1;
  f->weights = f->divisor = f->left = f->right = f->factor = -1;
  for (int loop = op->parent; loop >= 0; loop = p->ops[loop].parent) {
    const uint8_t dim = p->ops[loop].dim;
    if (dim == DIM_I) f->loop_i = loop;
    if (dim == DIM_J || p->ops[loop].diagonal) f->loop_j = loop;
    if (dim == DIM_S) f->loop_s = loop;
  }
  f->is_over_parts = f->loop_s >= 0 && f->loop_j < 0;
  if (op->n_moved) f->first = op->moved[0];
  if (!op->n_moved && op->n_assigns) f->first = p->assigns[op->first_assign].name;
  f->is_add = f->shape == LINE_STORE && op->event == EVENT_ADD;
  for (int k = 0; k < op->n_assigns; k++) {
    of_assign(p, &p->assigns[op->first_assign + k], f);
    if (f->shape == LINE_MAXIMUM) of_max(p, op, &p->assigns[op->first_assign + k], f);
  }
  if (f->shape == LINE_ADD && f->total < 0) f->total = f->sum;
  if (f->shape == LINE_PRODUCT) of_product(p, op, f);
}
