#include "sim/l2/l2_run_parts.h"

#include <math.h>

/* Matrices that an input has: of `head h` one a query head. */
static double copies(const Schedule *s, const Shape *shape, int tensor) {
  for (int k = 0; k < s->n_names; k++)
    if (s->names[k].tensor == tensor && s->names[k].subscripts & IN_H) return (double)(shape->batch * shape->heads);
  return (double)schedule_heads(s, shape);
}

/* Every byte of inputs that is asked for, once. */
static double inputs_once(const Schedule *schedule, const Plan *plan, const Traffic *traffic) {
  const Shape *s = &plan->shape;
  const double heads = (double)schedule_heads(schedule, s), kv_heads = (double)(s->batch * s->kv_heads);
  double sum = 0;
  for (int t = 0; t < schedule->n_tensors; t++) {
    const ProgramTensor *of = &schedule->tensors[t];
    if (of->role != TENSOR_INPUT) continue;
    const double element = of->cols == SIDE_ONE || of->is_fp32 ? STATS_BYTES : plan_element(plan, of->operand),
                 row = (double)schedule_side_whole(schedule, plan, of->cols) * element, read = (double)traffic->read[t];
    if (of->rows == SIDE_COLS)
      sum += fmin(read * heads, kv_heads * (double)s->N_k * row);
    else
      sum += fmin(read * heads, copies(schedule, s, t) * (double)schedule_side_whole(schedule, plan, of->rows) * row);
  }
  return sum;
}

/* Registers spilled for row blocks, one set for each that computes. */
static double spilled_bytes(const Stream *s) {
  const Plan *p = s->plan;
  const MaskTiles tiles = {p->tiling.B_r, p->tiling.B_c, {0, p->T_r}, {0, p->T_c}};
  const double rows = (double)mask_rows_seen(&p->mask, &tiles).blocks;
  return (double)(p->shape.batch * p->shape.heads) * rows * s->kinds[STREAM_SPILL].bytes;
}

static double lse_bytes(const Plan *p) {
  return p->tiling.lse ? (double)(p->shape.batch * p->shape.heads * p->shape.N_q) * STATS_BYTES : 0;
}

/* Of what the walk stored, so much as reaches HBM sooner or later: all of O, and of the spilled registers some; and
 * log-sum-exps, which it does not walk. */
static void make_writes_exact(L2Run *t, double spilled, double lse, double walked_write_bytes) {
  const double outputs = t->write_bytes, all = t->hbm_write_bytes + t->left_dirty_bytes;
  const double part = spilled > 0 && walked_write_bytes > 0 ? all / walked_write_bytes : 1;
  const double written = fmax(part * (outputs - lse + spilled) + lse, outputs);
  t->hbm_write_bytes = fmin(fmax(t->hbm_write_bytes, 0), written);
  t->left_dirty_bytes = written - t->hbm_write_bytes;
}

static void exact_bytes(L2Run *t, const Schedule *schedule, const Stream *stream) {
  const Plan *plan = stream->plan;
  Traffic traffic = {0};
  bool overflow = false;
  schedule_traffic(schedule, plan, &traffic, &overflow);
  const double heads = (double)stream->all_heads, walked = t->read_bytes, walked_writes = t->write_bytes;
  t->read_bytes = heads * stream_read_bytes(stream, schedule);
  t->shared_bytes = heads * stream_shared_bytes(stream, schedule);
  t->write_bytes = heads * (double)traffic_write_bytes(&traffic, &overflow);
  if (walked > 0) t->l2_read_bytes *= t->read_bytes / walked;
  if (walked > t->read_bytes) t->own_miss_bytes *= t->read_bytes / walked; /* no more misses than looks */
  if (t->simulated < 1 && plan->shape.window == 0 && !plan->mask.pattern)
    t->hbm_read_bytes = fmax(t->hbm_read_bytes, inputs_once(schedule, plan, &traffic));
  if (stream->stores_again) return;
  make_writes_exact(t, spilled_bytes(stream), lse_bytes(plan), walked_writes);
}

static void add_overheads(L2Run *t, const Overheads *o, const Stream *stream, int64_t partitions) {
  const double asked = t->l2_read_bytes;
  t->read_bytes += o->read_bytes;
  t->l2_read_bytes = fmax(asked + o->read_bytes, 0);
  if (asked > t->l2_read_bytes) t->own_miss_bytes *= t->l2_read_bytes / asked; /* columns not asked for */
  t->write_bytes += o->write_bytes;
  /* registers spilled for row blocks have crossed in the walk; kernels that split keys are walked without */
  const double walked = stream->plan->tiling.n_splits == 1 ? o->block_write_bytes : 0;
  if (partitions == 2) t->fabric_bytes += (o->write_bytes - walked) / 2;
}

void l2_exact(L2Run *mean, const Schedule *schedule, const Stream *stream, const L2RunConfig *config) {
  exact_bytes(mean, schedule, stream);
  add_overheads(mean, &config->overheads, stream, config->l2_partitions);
  mean->hbm_read_bytes = fmin(mean->hbm_read_bytes, mean->read_bytes);
}
