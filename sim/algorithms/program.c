#include "sim/algorithms/program.h"

bool node_holds(const Program *p, int node, NodeKind kind) {
  if (node < 0) return false;
  const ProgramNode *n = &p->nodes[node];
  return n->kind == kind || node_holds(p, n->a, kind) || node_holds(p, n->b, kind);
}

bool node_is_constant(const Program *p, int node) {
  if (node < 0) return false;
  const ProgramNode *n = &p->nodes[node];
  return n->kind == NODE_NUMBER || (n->kind == NODE_NEGATE && node_is_constant(p, n->a));
}

NameSet node_names(const Program *p, int node) {
  if (node < 0) return 0;
  const ProgramNode *n = &p->nodes[node];
  return (n->kind == NODE_NAME ? name_bit(n->name) : 0) | node_names(p, n->a) | node_names(p, n->b);
}
