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

static bool begins_with(const Program *p, int line, const char *word) {
  const size_t n = strlen(word);
  const ProgramLine *l = &p->lines[line];
  return l->length > n && memcmp(p->text + l->begin, word, n) == 0 && p->text[l->begin + n] == ' ';
}

static bool is_event(const Program *p, int op) { return p->ops[op].kind == OP_EVENT; }

bool line_moves(const Program *p, int op, LineMove move, int name) {
  const ProgramOp *o = &p->ops[op];
  if (!is_event(p, op)) return false;
  if (move == MOVE_LOAD && !begins_with(p, o->line, "load")) return false;
  if (move == MOVE_STORE && !begins_with(p, o->line, "store") && !begins_with(p, o->line, "add")) return false;
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
static bool adds(const Program *p, const ProgramAssign *a) {
  if (a->kind != ASSIGN_SET) return a->kind == ASSIGN_ADD;
  const ProgramNode *root = node_at(p, a->value);
  return root && root->kind == NODE_ADD && holds_name(p, a->value, a->name);
}

static bool divides(const Program *p, const ProgramAssign *a) {
  const ProgramNode *root = node_at(p, a->value);
  return a->kind == ASSIGN_SET && root && root->kind == NODE_DIVIDE && name_of(p, root->a) >= 0 &&
         is_column(p, name_of(p, root->b));
}

typedef bool IsAssign(const Program *p, const ProgramAssign *a);

static bool has_assign(const Program *p, int op, int name, IsAssign *is) {
  const ProgramOp *o = &p->ops[op];
  for (int k = 0; k < o->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[o->first_assign + k];
    if (a->name == name && is(p, a)) return true;
  }
  return false;
}

static bool begins(const Program *p, const ProgramAssign *a) {
  return a->kind == ASSIGN_SET && !holds_name(p, a->value, a->name);
}

bool line_adds(const Program *p, int op, int name) { return has_assign(p, op, name, adds); }
bool line_divides(const Program *p, int op, int name) { return has_assign(p, op, name, divides); }
bool line_begins(const Program *p, int op, int name) { return has_assign(p, op, name, begins); }

static LineShape shape_of_assigns(const Program *p, const ProgramOp *op) {
  int n_times = 0;
  bool max = false, add = false, divide = false, product = false;
  for (int k = 0; k < op->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[op->first_assign + k];
    const ProgramNode *root = node_at(p, a->value);
    n_times += a->kind == ASSIGN_TIMES;
    max |= a->kind == ASSIGN_SET && root && root->kind == NODE_MAX;
    add |= adds(p, a);
    divide |= divides(p, a);
    product |= a->kind == ASSIGN_SET && node_holds(p, a->value, NODE_MATMUL);
  }
  if (max) return LINE_MAXIMUM;
  if (n_times == op->n_assigns) return LINE_SCALE;
  return add ? LINE_ADD : divide ? LINE_DIVIDE : product ? LINE_PRODUCT : LINE_SET;
}

static LineShape shape_of(const Program *p, int op) {
  const ProgramOp *o = &p->ops[op];
  if (o->kind == OP_TEST) return LINE_SKIP;
  if (o->kind != OP_EVENT) return LINE_OTHER;
  if (begins_with(p, o->line, "load")) return LINE_LOAD;
  if (begins_with(p, o->line, "store") || begins_with(p, o->line, "add")) return LINE_STORE;
  if (begins_with(p, o->line, "mask")) return LINE_MASK;
  return o->n_assigns ? shape_of_assigns(p, o) : LINE_OTHER;
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

static void of_max(const Program *p, const ProgramOp *op, LineFacts *f) {
  for (int k = 0; k < op->n_assigns && f->result < 0; k++) {
    const ProgramAssign *a = &p->assigns[op->first_assign + k];
    const ProgramNode *root = node_at(p, a->value);
    if (a->kind != ASSIGN_SET || !root || root->kind != NODE_MAX) continue;
    const ProgramNode *best = node_at(p, root->b);
    f->result = (int8_t)a->name;
    f->old = (int8_t)name_of(p, root->a);
    f->best = (int8_t)(best && best->kind == NODE_ROW_MAX ? name_of(p, best->a) : name_of(p, root->b));
    if (!is_column(p, f->old)) f->old = -1;
    f->is_maximum = f->old >= 0 && is_tile(p, f->best) && follows(p, op->kernel, f->old, f->result);
    if (!is_column(p, f->best) && !is_tile(p, f->best)) f->best = -1;
  }
}

static bool is_divided_by(const Program *p, int name, int divisor) {
  for (int k = 0; k < p->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[k];
    if (a->name == name && divides(p, a) && name_of(p, p->nodes[a->value].b) == divisor) return true;
  }
  return false;
}

static void of_scale(const Program *p, const ProgramOp *op, LineFacts *f) {
  for (int k = 0; k < op->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[op->first_assign + k];
    const int by = name_of(p, a->value);
    if (f->factor < 0) f->factor = a->value;
    if (is_column(p, a->name) && f->sum < 0) f->sum = (int8_t)a->name;
    if (!is_column(p, a->name) && f->total < 0) f->total = (int8_t)a->name;
    if (by >= 0 && is_divided_by(p, a->name, by)) {
      f->undoes_division = true;
      f->divisor = (int8_t)by;
      f->total = (int8_t)a->name;
    }
  }
}

static void of_add(const Program *p, const ProgramOp *op, LineFacts *f) {
  for (int k = 0; k < op->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[op->first_assign + k];
    if (is_tile(p, a->name) && node_at(p, a->value)->kind == NODE_EXP) f->weights = (int8_t)a->name;
    if (!adds(p, a)) continue;
    if (is_column(p, a->name) && f->sum < 0) f->sum = (int8_t)a->name;
    if (!is_column(p, a->name) && f->total < 0) f->total = (int8_t)a->name;
    if (f->is_over_parts && f->factor < 0) f->factor = (int16_t)find_kind(p, a->value, NODE_EXP);
  }
  if (f->total < 0) f->total = f->sum;
}

/* SET: the value a row among what is set. */
static void of_set(const Program *p, const ProgramOp *op, LineFacts *f) {
  for (int k = 0; k < op->n_assigns && f->sum < 0; k++)
    if (is_column(p, p->assigns[op->first_assign + k].name)) f->sum = (int8_t)p->assigns[op->first_assign + k].name;
}

static void of_divide(const Program *p, const ProgramOp *op, LineFacts *f) {
  for (int k = 0; k < op->n_assigns && f->total < 0; k++) {
    const ProgramAssign *a = &p->assigns[op->first_assign + k];
    if (!divides(p, a)) continue;
    f->total = (int8_t)a->name;
    f->divisor = (int8_t)name_of(p, p->nodes[a->value].b);
  }
}

static bool is_moved(const Program *p, int name) {
  for (int op = 0; op < p->n_ops; op++)
    if (line_moves(p, op, MOVE_LOAD, name) || line_moves(p, op, MOVE_STORE, name)) return true;
  return false;
}

static bool are_scores(const Program *p, int name) {
  for (int op = 0; op < p->n_ops; op++)
    if (is_event(p, op) && begins_with(p, p->ops[op].line, "mask") && p->ops[op].moved[0] == name) return true;
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
  f->left = (int8_t)name_of(p, product->a);
  f->right = (int8_t)name_of(p, turned->a);
}

void line_facts(const Program *p, int at, LineFacts *f) {
  const ProgramOp *op = &p->ops[at];
  *f = (LineFacts){.shape = shape_of(p, at), .op = at};
  f->loop_i = f->loop_j = f->loop_s = f->first = f->sum = f->total = f->result = f->old = f->best = -1;
  f->weights = f->divisor = f->left = f->right = -1;
  f->factor = -1;
  for (int loop = op->parent; loop >= 0; loop = p->ops[loop].parent) {
    const uint8_t dim = p->ops[loop].dim;
    if (dim == DIM_I) f->loop_i = (int8_t)loop;
    if (dim == DIM_J || p->ops[loop].diagonal) f->loop_j = (int8_t)loop;
    if (dim == DIM_S) f->loop_s = (int8_t)loop;
  }
  f->is_over_parts = f->loop_s >= 0 && f->loop_j < 0;
  if (op->n_moved) f->first = (int8_t)op->moved[0];
  if (!op->n_moved && op->n_assigns) f->first = (int8_t)p->assigns[op->first_assign].name;
  f->is_add = f->shape == LINE_STORE && begins_with(p, op->line, "add");
  if (f->shape == LINE_MAXIMUM) of_max(p, op, f);
  if (f->shape == LINE_SCALE) of_scale(p, op, f);
  if (f->shape == LINE_ADD) of_add(p, op, f);
  if (f->shape == LINE_SET) of_set(p, op, f);
  if (f->shape == LINE_DIVIDE) of_divide(p, op, f);
  if (f->shape == LINE_PRODUCT) of_product(p, op, f);
}
