#include "sim/algorithms/schedule.h"

#include <string.h>

/* What articles call it. */
static const char *const ALIASES[][2] = {{"naive", "standard"}};

const Schedule *schedule_find(const char *name) {
  for (size_t k = 0; k < sizeof ALIASES / sizeof *ALIASES; k++)
    if (strcmp(ALIASES[k][0], name) == 0) name = ALIASES[k][1];
  for (int k = 0; k < N_SCHEDULES; k++)
    if (strcmp(SCHEDULES[k]->name, name) == 0) return SCHEDULES[k];
  return NULL;
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
