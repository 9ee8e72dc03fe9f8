/* What values are in an online softmax, by what the program's lines do with them:
 *
 *     m' = max(m, row max of S)      S scores; m, and what it becomes
 *     l += row sum of ...            a column that is added to, or set from itself
 *     P = e^(S - m')                 weights
 *
 * A program of another shape has no such roles; its row is shown value by value. */

#include "viz/scene/snapshot_parts.h"

static bool is_column(const Schedule *s, int name) {
  return s->names[name].rows == SIDE_ROWS && s->names[name].cols == SIDE_ONE;
}

static bool is_tile(const Schedule *s, int name) {
  return s->names[name].rows == SIDE_ROWS && s->names[name].cols == SIDE_COLS;
}

/* The column that a maximum goes on from: max(m_i, ...). */
static NameSet goes_on_from(const Schedule *s, const ProgramNode *max, int set) {
  for (int k = 0; k < 2; k++) {
    const ProgramNode *n = &s->nodes[k ? max->b : max->a], *other = &s->nodes[k ? max->a : max->b];
    if (n->kind != NODE_NAME || !is_column(s, n->name)) continue;
    if (n->name == set || other->kind == NODE_ROW_MAX) return name_bit(n->name);
  }
  return 0;
}

/* Calls `see` for every line of arithmetic. */
static void each_assign(const Schedule *s, SnapshotRoles *roles,
                        void (*see)(const Schedule *, SnapshotRoles *, const ProgramOp *, const ProgramAssign *)) {
  for (int op = 0; op < s->n_ops; op++)
    for (int k = 0; k < s->ops[op].n_assigns; k++) see(s, roles, &s->ops[op], &s->assigns[s->ops[op].first_assign + k]);
}

static void see_maximum(const Schedule *s, SnapshotRoles *r, const ProgramOp *op, const ProgramAssign *a) {
  const ProgramNode *n = &s->nodes[a->value];
  (void)op;
  if (!is_column(s, a->name)) return;
  if (n->kind == NODE_NAME && (r->m & name_bit(n->name))) r->m |= name_bit(a->name);
  if (n->kind != NODE_MAX) return;
  const NameSet from = goes_on_from(s, n, a->name);
  if (from) r->m |= from | name_bit(a->name);
  for (int k = 0; k < 2 && from; k++) {
    const ProgramNode *side = &s->nodes[k ? n->b : n->a];
    if (side->kind == NODE_ROW_MAX && s->nodes[side->a].kind == NODE_NAME && is_tile(s, s->nodes[side->a].name))
      r->S |= name_bit(s->nodes[side->a].name);
  }
}

/* e^(S - m) anywhere in a value. */
static bool has_weight(const Schedule *s, const SnapshotRoles *r, int node) {
  const ProgramNode *n = &s->nodes[node];
  if (n->kind == NODE_EXP && s->nodes[n->a].kind == NODE_SUBTRACT) {
    const ProgramNode *of = &s->nodes[n->a], *a = &s->nodes[of->a], *b = &s->nodes[of->b];
    if (a->kind == NODE_NAME && b->kind == NODE_NAME && (r->S & name_bit(a->name)) && (r->m & name_bit(b->name)))
      return true;
  }
  return (n->a >= 0 && has_weight(s, r, n->a)) || (n->b >= 0 && has_weight(s, r, n->b));
}

static void see_others(const Schedule *s, SnapshotRoles *r, const ProgramOp *op, const ProgramAssign *a) {
  const bool sums = node_holds(s, a->value, NODE_ROW_SUM) || node_holds(s, a->value, NODE_EXP);
  const bool goes_on =
      a->kind == ASSIGN_ADD || (a->kind == ASSIGN_SET && (node_names(s, a->value) & name_bit(a->name)));
  const uint8_t kind = s->nodes[a->value].kind;
  if (is_column(s, a->name) && !(r->m & name_bit(a->name)) && goes_on && sums) r->l |= name_bit(a->name);
  if (is_tile(s, a->name) && !(r->S & name_bit(a->name)) && has_weight(s, r, a->value)) r->P |= name_bit(a->name);
  if (!(r->m & name_bit(a->name))) return;
  const bool is_plain = node_is_constant(s, a->value) || kind == NODE_MAX ||
                        (kind == NODE_NAME && (r->m & name_bit(s->nodes[a->value].name)));
  if (!is_plain || op->value) r->is_softmax = false; /* m is something else as well, or not always */
}

/* The product in a value, and below it the names of its two sides; -1: that is no name, or there is no product. */
static void find_product(const Schedule *s, int node, int names[2]) {
  if (node < 0) return;
  const ProgramNode *n = &s->nodes[node];
  if (n->kind != NODE_MATMUL) {
    find_product(s, n->a, names);
    if (names[1] < 0) find_product(s, n->b, names);
    return;
  }
  for (int k = 0; k < 2; k++) {
    const ProgramNode *side = &s->nodes[k ? n->b : n->a];
    if (side->kind == NODE_TRANSPOSE || side->kind == NODE_FIRST) side = &s->nodes[side->a];
    names[k] = side->kind == NODE_NAME ? side->name : -1;
  }
}

/* S = Q K^T, O += P V: what attention takes, where no formula says so. */
static void see_operands(const Schedule *s, SnapshotRoles *r, const ProgramOp *op, const ProgramAssign *a) {
  int names[2] = {-1, -1};
  (void)op;
  find_product(s, a->value, names);
  if (is_tile(s, a->name) && names[0] >= 0 && names[1] >= 0 && !r->operands[1])
    r->operands[0] = (uint8_t)(names[0] + 1), r->operands[1] = (uint8_t)(names[1] + 1);
  const bool weighs = names[0] >= 0 && (r->P & name_bit(names[0]));
  if ((weighs || (r->O & name_bit(a->name))) && names[1] >= 0 && !r->operands[2])
    r->operands[2] = (uint8_t)(names[1] + 1);
}

SnapshotRoles snapshot_roles(const Schedule *s) {
  SnapshotRoles r = {.is_softmax = true};
  each_assign(s, &r, see_maximum);
  each_assign(s, &r, see_maximum); /* m_i = m' may come after lines that look for it */
  each_assign(s, &r, see_others);
  for (int n = 0; n < s->n_names; n++) {
    const ProgramTensor *t = &s->tensors[s->names[n].tensor];
    if (t->role == TENSOR_OUTPUT && s->names[n].rows == SIDE_ROWS && !is_column(s, n)) r.O |= name_bit(n);
  }
  memcpy(r.operands, s->operands, sizeof r.operands);
  each_assign(s, &r, see_operands);
  r.is_softmax &= r.S && r.m && r.l && r.P && r.O;
  if (!r.is_softmax) r.m = r.l = r.P = 0;
  return r;
}

int snapshot_operand(const Snapshot *now, int which) {
  const int name = now->roles.operands[which] - 1;
  return name < 0 ? 0 : now->schedule->names[name].tensor;
}

bool snapshot_keeps_scores(const Snapshot *now) {
  const Schedule *s = now->schedule;
  for (int op = 0; op < s->n_ops; op++)
    for (int k = 0; s->ops[op].kind == OP_EVENT && event_goes_out(s->ops[op].event) && k < s->ops[op].n_moved; k++)
      if (s->ops[op].pass < now->event.pass &&
          snapshot_lies(now, s->names[s->ops[op].moved[k]].tensor) == LIES_BY_TILES)
        return true;
  return false;
}
