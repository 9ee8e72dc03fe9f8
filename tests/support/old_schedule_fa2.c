/* fa2: FlashAttention-2, forward pass (Dao 2023, Algorithm 1).
 *
 *   for i in row blocks:                     outer loop over Q: one CTA each on a GPU
 *     load Q_i                               once
 *     for j in column blocks:                K and V stream past
 *       load K_j; S = Q_i K_j^T; mask; new max; rescale l, O; load V_j; P, l, O += P V_j
 *     normalise; store O_i                   written once
 *
 * A tile that the mask leaves out is one SKIP event. A row block that sees no key loads nothing and stores
 * zeros. Elements per head without a mask: reads N d + T_r 2 N d, writes N d (+ N statistics with lse). */
#include "tests/support/old_schedule_step.h"

static int64_t fa2_outer_count(const Plan *plan, int pass) {
  (void)pass;
  return plan->T_r;
}

static int64_t tail_steps(const Plan *plan) { return plan->tiling.lse ? 3 : 2; }

static Wide fa2_steps_before(const Plan *plan, int pass, int64_t outer) {
  (void)pass;
  const BandCount n = band_count(&plan->band, plan->tiling.B_r, plan->tiling.B_c, outer);
  const Wide loads_of_Q = wide(outer - n.n_empty), tails = wide(outer) * wide(tail_steps(plan));
  return loads_of_Q + tails + step_tile_steps_total(&n, wide(outer) * wide(plan->T_c), ROW_TILE_STEPS);
}

static void fa2_enter(const Plan *plan, OldCursor *c, int pass, int64_t outer) {
  (void)pass;
  c->i = outer;
  c->j = 0;
  c->phase = ROW_HEAD;
  if (c->i < plan->T_r) {
    step_rows(plan, c);
    c->band = band_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c, c->i);
    c->stop = plan->T_c;
  } else {
    c->done = true;
  }
}

static bool sees_keys(const OldCursor *c) { return c->band.computed.end > c->band.computed.begin; }

static int64_t fa2_inner_count(const Plan *plan, const OldCursor *c) {
  (void)c;
  return plan->T_c;
}

static int64_t fa2_steps_within(const Plan *plan, const OldCursor *c, int64_t inner) {
  (void)plan;
  return (sees_keys(c) ? 1 : 0) + step_tile_steps(&c->band, 0, inner, ROW_TILE_STEPS);
}

static void fa2_enter_inner(const Plan *plan, OldCursor *c, int64_t inner) {
  (void)plan;
  c->j = inner;
  c->phase = ROW_TILE;
}

enum { TAIL_STORE = ROW_TAIL + 1, TAIL_LSE, TAIL_NEXT };

static bool fa2_next(const Plan *plan, OldCursor *c, Event *event) {
  if (c->step == 0 && !c->done) fa2_enter(plan, c, 0, 0);
  if (c->phase == TAIL_NEXT) fa2_enter(plan, c, 0, c->i + 1);
  if (c->done) return false;
  if (c->phase == ROW_HEAD) {
    c->phase = ROW_TILE;
    if (sees_keys(c)) return step_emit_rows(c, event, EVENT_LOAD, TENSOR_Q, step_row_bytes(plan, c));
  }
  if (c->phase < ROW_TAIL && step_row_tile(plan, c, event)) return true;
  switch (c->phase) {
  case ROW_TAIL: c->phase = TAIL_STORE; return step_emit_rows(c, event, EVENT_NORMALISE, TENSOR_O, 0);
  case TAIL_STORE:
    c->phase = plan->tiling.lse ? TAIL_LSE : TAIL_NEXT;
    return step_emit_rows(c, event, EVENT_STORE, TENSOR_O, step_row_bytes(plan, c));
  default: /* TAIL_LSE */
    c->phase = TAIL_NEXT;
    return step_emit_rows(c, event, EVENT_STORE, TENSOR_STATS, step_stats_bytes(c, 1));
  }
}

static void fa2_traffic(const Plan *plan, Traffic *t, bool *overflow) {
  const Wide N_q = wide(plan->shape.N_q), d = wide(plan->shape.d), row_bytes = d * wide(plan->element_bytes);
  const Wide all = wide(plan->T_r) * wide(plan->T_c);
  const BandCount n = band_count(&plan->band, plan->tiling.B_r, plan->tiling.B_c, plan->T_r);
  t->read[TENSOR_Q] = (N_q - wide(n.n_empty) * wide(plan->tiling.B_r)) * row_bytes;
  t->read[TENSOR_K] = t->read[TENSOR_V] = checked_mul(n.cols, row_bytes, overflow);
  t->write[TENSOR_O] = N_q * row_bytes;
  if (plan->tiling.lse) t->write[TENSOR_STATS] = N_q * STATS_BYTES;
  t->tiles[TILE_FULL] = n.full;
  t->tiles[TILE_PARTIAL] = n.computed - n.full;
  t->tiles[TILE_SKIPPED] = all - n.computed;
  t->flops = checked_mul(n.area, 4 * d, overflow);
  t->steps = fa2_steps_before(plan, 0, plan->T_r);
}

static OldLoads fa2_loads(const Plan *plan) {
  const int64_t per_key_block = band_longest_row(&plan->keys, plan->tiling.B_c, plan->tiling.B_r);
  return (OldLoads){.Q = 1, .K = per_key_block, .V = per_key_block};
}

static Wide fa2_intermediate_bytes(const Plan *plan, bool *overflow) {
  (void)plan;
  (void)overflow;
  return 0;
}

const OldSchedule OLD_SCHEDULE_FA2 = {
    .name = "fa2",
    .title = "FlashAttention-2",
    .summary = "outer loop over Q blocks; K and V stream past; each O block is written once",
    .source = "Dao, FlashAttention-2 (2023), Algorithm 1",
    .n_passes = 1,
    .skips = true,
    .writes_lse = true,
    .next = fa2_next,
    .outer_count = fa2_outer_count,
    .steps_before = fa2_steps_before,
    .enter = fa2_enter,
    .inner_count = fa2_inner_count,
    .steps_within = fa2_steps_within,
    .enter_inner = fa2_enter_inner,
    .traffic = fa2_traffic,
    .loads = fa2_loads,
    .sram = {.Q = true, .K = true, .V = true, .S = true, .O = true, .stats = true},
    .intermediate_bytes = fa2_intermediate_bytes,
};
