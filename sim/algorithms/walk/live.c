#include "sim/algorithms/walk/live.h"

#include <string.h>

/* What assignments [first, end) read of what none of them has set before. */
static NameSet reads_of(const Program *p, int first, int end, NameSet *set) {
  NameSet reads = 0;
  for (int k = first; k < end; k++) {
    const ProgramAssign *a = &p->assigns[k];
    reads |= (node_names(p, a->value) | (a->kind == ASSIGN_SET ? 0 : name_bit(a->name))) & ~*set;
    *set |= name_bit(a->name);
  }
  return reads;
}

NameSet live_reads(const Program *p, int op) {
  const ProgramOp *o = &p->ops[op];
  if (o->kind != OP_EVENT && o->kind != OP_SET) return 0;
  NameSet set = 0, reads = reads_of(p, o->first_assign, o->first_assign + o->n_assigns, &set);
  if (o->value) reads |= node_names(p, o->value - 1) & ~(o->event == EVENT_MASK ? set : 0);
  if (o->value && o->n_assigns) reads |= set; /* of the rows that the condition leaves alone */
  for (int k = 0; k < o->n_moved && o->event != EVENT_LOAD; k++) reads |= name_bit(o->moved[k]) & ~set;
  return reads;
}

NameSet live_sets(const Program *p, int op) {
  const ProgramOp *o = &p->ops[op];
  NameSet set = 0;
  if (o->kind != OP_EVENT && o->kind != OP_SET) return 0;
  for (int k = o->first_assign; k < o->first_assign + o->n_assigns; k++) set |= name_bit(p->assigns[k].name);
  for (int k = 0; k < o->n_moved && o->event == EVENT_LOAD; k++) set |= name_bit(o->moved[k]);
  return set;
}

/* After an operation: of a loop's test both ways on, of the end of a loop back to its test. */
static NameSet after(const Program *p, int op, const NameSet *before) {
  const ProgramOp *o = &p->ops[op];
  const int end = p->kernels[o->kernel].end_op;
  const NameSet next = op + 1 < end ? before[op + 1] : 0;
  if (o->kind == OP_END) return before[o->end];
  if (o->kind == OP_TEST) return next | (o->end + 1 < end ? before[o->end + 1] : 0);
  return next;
}

void live_find(const Program *p, uint8_t holds, NameSet before[PROGRAM_OPS_MAX]) {
  NameSet reads[PROGRAM_OPS_MAX], sets[PROGRAM_OPS_MAX];
  for (int op = 0; op < p->n_ops; op++) {
    const bool happens = !(p->ops[op].when & ~holds);
    reads[op] = happens ? live_reads(p, op) : 0;
    sets[op] = happens ? live_sets(p, op) : 0;
    before[op] = 0;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (int op = p->n_ops - 1; op >= 0; op--) {
      const NameSet is = p->ops[op].kind == OP_STOP ? 0 : reads[op] | (after(p, op, before) & ~sets[op]);
      changed |= is != before[op];
      before[op] = is;
    }
  }
}

/* Adds what one operation meets, of whose values `left` are read later. */
static void meet(const Program *p, int op, NameSet left, NameSet met[PROGRAM_NAMES_MAX]) {
  const ProgramOp *o = &p->ops[op];
  if (o->kind != OP_EVENT && o->kind != OP_SET) return;
  for (int k = 0; k < o->n_moved; k++) {
    met[o->moved[k]] |= left;
    if (o->event != EVENT_LOAD) left |= name_bit(o->moved[k]);
  }
  if (o->value) left |= node_names(p, o->value - 1);
  for (int k = o->first_assign + o->n_assigns - 1; k >= o->first_assign; k--) {
    const ProgramAssign *a = &p->assigns[k];
    const NameSet read = node_names(p, a->value);
    met[a->name] |= left | (node_holds(p, a->value, NODE_MATMUL) ? read : 0);
    if (a->kind == ASSIGN_SET && !o->value) left &= ~name_bit(a->name);
    left |= read | (a->kind == ASSIGN_SET ? 0 : name_bit(a->name));
  }
}

void live_meet(const Program *p, NameSet (*met)[PROGRAM_NAMES_MAX]) {
  static const uint8_t HOLDS[] = {WHEN_LSE | WHEN_WHOLE, WHEN_LSE | WHEN_SPLIT};
  NameSet before[PROGRAM_OPS_MAX];
  memset(met, 0, PROGRAM_KERNELS_MAX * sizeof *met);
  for (int h = 0; h < 2; h++) {
    live_find(p, HOLDS[h], before);
    for (int op = 0; op < p->n_ops; op++)
      if (!(p->ops[op].when & ~HOLDS[h])) meet(p, op, after(p, op, before), met[p->ops[op].kernel]);
  }
}
