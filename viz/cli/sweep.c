#include "viz/cli/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Queries and keys grow together, unless the number of keys was given. */
static void set_N(Problem *p, int64_t value) {
  if (p->shape.N_k == p->shape.N_q) p->shape.N_k = value;
  p->shape.N_q = value;
}
static void set_keys(Problem *p, int64_t value) { p->shape.N_k = value; }
static void set_block(Problem *p, int64_t value) { p->tiling.B_r = p->tiling.B_c = value; }
static void set_block_q(Problem *p, int64_t value) { p->tiling.B_r = value; }
static void set_block_k(Problem *p, int64_t value) { p->tiling.B_c = value; }
static void set_sram(Problem *p, int64_t value) { p->machine.sram_bytes = value; }
static void set_heads(Problem *p, int64_t value) {
  if (p->shape.kv_heads == p->shape.heads) p->shape.kv_heads = value;
  p->shape.heads = value;
}
static void set_d(Problem *p, int64_t value) { p->shape.d = value; }

const SweepAxis SWEEP_AXES[] = {
    {"N", "sequence length N, tokens", "parallel lines: at a fixed block size the ratio between algorithms settles", VALUE_TOKENS, false, 256, 65536, set_N},
    {"keys", "number of keys, tokens", "traffic grows in proportion to the keys", VALUE_TOKENS, false, 256, 65536, set_keys},
    {"block", "block size B = B_r = B_c, rows", "twice the block, half the traffic, until the tiles no longer fit", VALUE_TOKENS, false, 16, 512, set_block},
    {"block-q", "query block B_r, rows", "in FlashAttention-2 the query block alone decides the traffic", VALUE_TOKENS, false, 16, 512, set_block_q},
    {"block-k", "key block B_c, rows", "in FlashAttention the key block decides the traffic", VALUE_TOKENS, false, 16, 512, set_block_k},
    {"sram", "SRAM for one CTA's tiles", "the largest block that fits, against what no algorithm beats", VALUE_BYTES, true, 16 * 1024, 1024 * 1024, set_sram},
    {"heads", "query heads", "every head does the same work", VALUE_TOKENS, false, 1, 128, set_heads},
    {"head-dim", "head dimension d", "larger heads need larger tiles and move more", VALUE_TOKENS, false, 16, 512, set_d},
    {0},
};

const SweepAxis *sweep_axis(const char *name) {
  for (const SweepAxis *a = SWEEP_AXES; a->name; a++)
    if (strcmp(a->name, name) == 0) return a;
  return NULL;
}

/* The problem at one value, for one algorithm: with SRAM swept and no block given, the largest block that fits. */
static Problem problem_at(const Sweep *sweep, const Problem *problem, const Schedule *schedule, int64_t value) {
  Problem p = *problem;
  sweep->axis->set(&p, value);
  if (sweep->axis->set != set_sram || p.tiling.B_r || p.tiling.B_c) return p;
  const int64_t largest = sram_max_block(schedule->sram, p.shape.d, dtype_bytes(p.shape.dtype), wide(value));
  p.tiling.B_r = p.tiling.B_c = largest > 0 ? largest : 1;
  return p;
}

Status sweep_run(Sweep *sweep, const Problem *problem, const Request *request, const SweepAxis *axis, const int64_t *values,
                 int n_values, Error *error) {
  *sweep = (Sweep){.axis = axis, .n_algorithms = request->n_algorithms, .n_points = n_values};
  sweep->points = calloc((size_t)n_values, sizeof *sweep->points);
  if (!sweep->points) return error_set(error, STATUS_NO_MEMORY, "no memory for %d points", n_values);
  for (int i = 0; i < n_values; i++) {
    SweepPoint *point = &sweep->points[i];
    point->value = values[i];
    for (int k = 0; k < request->n_algorithms; k++) {
      const Problem p = problem_at(sweep, problem, request->algorithms[k], values[i]);
      Error inner = {0};
      if (simulate(&point->runs[k], &p, request->algorithms[k], &inner)) {
        sweep_free(sweep);
        return error_set(error, inner.status, "at %s = %" PRId64 ": %s", axis->name, values[i], inner.message);
      }
    }
    point->lower_bound_bytes = lower_bound_bytes(&point->runs[0].plan.shape, point->runs[0].machine.sram_bytes);
  }
  return STATUS_OK;
}

void sweep_free(Sweep *sweep) {
  free(sweep->points);
  sweep->points = NULL;
}
