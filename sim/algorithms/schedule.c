#include "sim/algorithms/schedule.h"

#include <string.h>

#include "sim/algorithms/walk/walk.h"

/* What articles call it. */
static const char *const ALIASES[][2] = {{"naive", "standard"}};

const Schedule *schedule_find(const char *name) {
  for (size_t k = 0; k < sizeof ALIASES / sizeof *ALIASES; k++)
    if (strcmp(ALIASES[k][0], name) == 0) name = ALIASES[k][1];
  for (int k = 0; k < N_SCHEDULES; k++)
    if (strcmp(SCHEDULES[k]->name, name) == 0) return SCHEDULES[k];
  return NULL;
}

/* ---- Loads per block -------------------------------------------------------------------------------------- */

/* The most splits in which one row block sees a key, row by row. */
static int64_t longest_in_splits(const Schedule *s, const Plan *plan, const ProgramOp *op) {
  int64_t longest = 0;
  for (int64_t i = 0; i < plan->T_r; i++) {
    int64_t n = 0;
    for (int64_t split = 0; split < plan->tiling.n_splits; split++) {
      const MaskTiles tiles = {
          plan->tiling.B_r, plan->tiling.B_c, {i, i + 1}, walk_range(plan, &s->ops[op->needs], split)};
      n += mask_count(&plan->mask, &tiles).computed > 0;
    }
    if (n > longest) longest = n;
  }
  return longest;
}

/* How often a load's most often loaded block comes. */
static int64_t loads_of(const Schedule *s, const Plan *plan, const ProgramOp *op) {
  const Tiling *t = &plan->tiling;
  const uint8_t others = (uint8_t)(op->loops & ~s->names[op->moved[0]].subscripts);
  if (op->once || (others & ~IN_S) == 0) {
    if (op->once || !others) return !op->never;
    if (op->needs < 0) return t->n_splits;
    if (plan->mask.pattern) return longest_in_splits(s, plan, op);
    return mask_longest_row(&plan->mask, t->B_r, plan->tiles_per_split * t->B_c);
  }
  if (others & IN_I) return op->masked ? mask_longest_col(&plan->mask, t->B_r, t->B_c) : plan->T_r;
  return op->masked ? mask_longest_row(&plan->mask, t->B_r, t->B_c) : plan->T_c;
}

LoadsPerBlock schedule_loads(const Schedule *s, const Plan *plan) {
  LoadsPerBlock loads = {0};
  for (int k = 0; k < s->n_ops; k++) {
    const ProgramOp *op = &s->ops[k];
    if (op->kind != OP_EVENT || op->event != EVENT_LOAD || (op->when & ~schedule_when(plan))) continue;
    if (op->tensor == TENSOR_Q) loads.Q += loads_of(s, plan, op);
    if (op->tensor == TENSOR_K) loads.K += loads_of(s, plan, op);
    if (op->tensor == TENSOR_V) loads.V += loads_of(s, plan, op);
  }
  return loads;
}

/* ---- Room ------------------------------------------------------------------------------------------------- */

static SramTiles tiles_of_kernel(const Schedule *s, int kernel) {
  SramTiles tiles = {0};
  for (int k = 0; k < s->n_names; k++) {
    const ProgramName *n = &s->names[k];
    if (!(n->kernels >> kernel & 1)) continue;
    tiles.Q |= n->tensor == TENSOR_Q;
    tiles.K |= n->tensor == TENSOR_K;
    tiles.V |= n->tensor == TENSOR_V;
    tiles.S |= n->rows == SIDE_ROWS && n->cols == SIDE_COLS;
    tiles.O |= n->rows == SIDE_ROWS && (n->cols == SIDE_DV || (n->cols == SIDE_D && !n->is_input));
    tiles.stats |= n->rows == SIDE_ROWS && n->cols == SIDE_ONE;
  }
  return tiles;
}

SramTiles schedule_sram(const Schedule *s) {
  enum { B = 64, ELEMENT = 2 }; /* any: which kernel needs most does not depend on them */
  SramTiles most = {0};
  Wide most_bytes = 0;
  for (int k = 0; k < s->n_kernels; k++) {
    const SramTiles tiles = tiles_of_kernel(s, k);
    const Wide bytes = sram_budget(tiles, B, B, B, B, ELEMENT).bytes;
    if (bytes <= most_bytes) continue;
    most = tiles;
    most_bytes = bytes;
  }
  return most;
}

/* Values of a block's row that lie in HBM between a store and a load. */
Wide schedule_intermediate_bytes(const Schedule *s, const Plan *plan, bool *overflow) {
  Wide sum = 0;
  for (int k = 0; k < s->n_names; k++) {
    const ProgramName *n = &s->names[k];
    if (!n->is_stored || !n->is_loaded || strcmp(n->text, "O_i") == 0) continue;
    const bool splits = n->subscripts & IN_S;
    if (splits && plan->tiling.n_splits == 1) continue;
    Wide bytes = n->is_fp32 ? STATS_BYTES : wide(plan->element_bytes);
    if (n->rows == SIDE_ROWS) bytes = checked_mul(bytes, wide(plan->shape.N_q), overflow);
    if (n->cols == SIDE_COLS) bytes = checked_mul(bytes, wide(plan->shape.N_k), overflow);
    if (n->cols == SIDE_D) bytes = checked_mul(bytes, wide(plan->shape.d), overflow);
    if (n->cols == SIDE_DV) bytes = checked_mul(bytes, wide(plan->shape.d_v), overflow);
    if (splits) bytes = checked_mul(bytes, wide(plan->tiling.n_splits), overflow);
    sum = checked_add(sum, bytes, overflow);
  }
  return sum;
}
