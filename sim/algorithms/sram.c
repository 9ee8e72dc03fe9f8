#include "sim/algorithms/sram.h"

#include <string.h>

#include "sim/algorithms/walk/live.h"

/* ---- Sizes ------------------------------------------------------------------------------------------------- */

static Wide side_of(const Program *p, const SramSizes *s, uint8_t side) {
  switch (side) {
  case SIDE_ROWS: return wide(s->B_r);
  case SIDE_COLS: return wide(s->B_c);
  case SIDE_D: return wide(s->d);
  case SIDE_DV: return wide(s->d_v);
  default: return side >= SIDE_OWN && side < SIDE_COUNT ? wide(p->sizes[side - SIDE_OWN].value) : 1;
  }
}

static bool is_column(const ProgramName *n) { return n->rows == SIDE_ONE || n->cols == SIDE_ONE; }

Wide sram_value_bytes(const Program *p, const ProgramName *n, const SramSizes *s) {
  if (s->v_in_k && p->tensors[n->tensor].operand == OPERAND_V) return 0;
  return side_of(p, s, n->rows) * side_of(p, s, n->cols) * (is_column(n) ? STATS_BYTES : wide(s->element_bytes));
}

SramBudget sram_budget_of_kernel(const Program *p, int kernel, const SramSizes *sizes) {
  SramBudget b = {.kernel = kernel};
  for (int k = 0; k < p->n_names; k++) {
    const ProgramName *n = &p->names[k];
    if (sram_place(p, kernel, k) != k) continue;
    const Wide bytes = sram_value_bytes(p, n, sizes);
    b.of[n->tensor] += bytes;
    b.bytes += bytes;
    if (n->is_input)
      b.inputs += bytes;
    else if (is_column(n))
      b.columns += bytes;
    else
      b.accumulators += bytes;
  }
  return b;
}

SramBudget sram_budget(const Program *p, const SramSizes *sizes) {
  SramBudget most = sram_budget_of_kernel(p, 0, sizes);
  for (int k = 1; k < p->n_kernels; k++) {
    const SramBudget b = sram_budget_of_kernel(p, k, sizes);
    if (b.bytes > most.bytes) most = b;
  }
  return most;
}

int64_t sram_max_block(const Program *p, const SramSizes *of, Wide capacity_bytes) {
  int64_t fits = 0, too_large = PLAN_MAX_BLOCK + 1;
  while (too_large - fits > 1) {
    const int64_t B = fits + (too_large - fits) / 2;
    SramSizes sizes = *of;
    sizes.B_r = sizes.B_c = B;
    if (sram_budget(p, &sizes).bytes <= capacity_bytes)
      fits = B;
    else
      too_large = B;
  }
  return fits;
}

/* ---- Places ------------------------------------------------------------------------------------------------ */

static bool has_product(const Program *p, int node) {
  const ProgramNode *n = &p->nodes[node];
  return n->kind == NODE_MATMUL || (n->a >= 0 && has_product(p, n->a)) || (n->b >= 0 && has_product(p, n->b));
}

/* A name of that shape in the value, which has a place and is read there for the last time; -1: none. */
static int place_in(const Program *p, int op, int assign, int node) {
  const ProgramNode *n = &p->nodes[node];
  const ProgramName *set = &p->names[p->assigns[assign].name];
  if (n->kind == NODE_NAME) {
    const int place = sram_place(p, p->ops[op].kernel, n->name);
    if (place < 0 || n->name == p->assigns[assign].name) return -1;
    const ProgramName *read = &p->names[n->name];
    return read->rows == set->rows && read->cols == set->cols && live_ends(p, op, assign, n->name) ? place : -1;
  }
  int place = n->a >= 0 ? place_in(p, op, assign, n->a) : -1;
  if (place < 0 && n->b >= 0) place = place_in(p, op, assign, n->b);
  return place;
}

static void give_place(Program *p, int kernel, int name, int place) {
  const bool in_registers = strchr(p->names[name].text, '\'') && is_column(&p->names[name]);
  if (!in_registers && !p->places[kernel][name]) p->places[kernel][name] = (uint8_t)(place + 1);
}

void sram_find_places(Program *p) {
  memset(p->places, 0, sizeof p->places);
  for (int op = 0; op < p->n_ops; op++) {
    const ProgramOp *o = &p->ops[op];
    for (int k = o->first_assign; k < o->first_assign + o->n_assigns; k++) {
      const ProgramAssign *a = &p->assigns[k];
      int place = a->kind == ASSIGN_SET && !has_product(p, a->value) ? place_in(p, op, k, a->value) : -1;
      if (place < 0) place = a->name;
      give_place(p, o->kernel, a->name, place);
    }
    for (int k = 0; k < o->n_moved; k++) give_place(p, o->kernel, o->moved[k], o->moved[k]);
  }
}
