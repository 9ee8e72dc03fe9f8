/* fa1: FlashAttention, forward pass (Dao et al. 2022, Algorithm 1).
 *
 *   O = 0, l = 0, m = -infinity, in HBM      written once before anything is read
 *   for j in column blocks:                  outer loop over K, V: each loaded once
 *     load K_j, V_j
 *     for i in row blocks:                   Q, O, l, m come and go for every tile
 *       load Q_i, O_i, l_i, m_i; S = Q_i K_j^T; mask; new max; rescale; O_i += P V_j; normalise
 *       store O_i, l_i, m_i
 *
 * Elements per head without a mask: reads 2 N d + T_c (2 N d + 2 N), writes T_c (N d + 2 N) + (N d + 2 N).
 * O is kept normalised between tiles, as in the paper; FlashAttention-2 stopped doing that. */
#include "tests/support/old_schedule_step.h"

enum {
  INIT_O = 0,
  INIT_STATS,
  LOAD_K,
  LOAD_V,
  TILE,
  LOAD_O,
  LOAD_STATS,
  PRODUCT,
  MASK,
  NEW_MAX,
  RESCALE,
  ACCUMULATE,
  NORMALISE,
  STORE_O,
  STORE_STATS
};
enum { PASS_INIT = 0, PASS_WALK = 1 };
enum { TILE_STEPS = 10 }; /* of a full tile: 3 loads, product, new max, rescale, accumulate, normalise, 2 stores */

static int64_t fa1_outer_count(const Plan *plan, int pass) { return pass == PASS_INIT ? plan->T_r : plan->T_c; }

static Wide fa1_steps_before(const Plan *plan, int pass, int64_t outer) {
  if (pass == PASS_INIT) return 2 * wide(outer);
  const BandCount n = band_count(&plan->keys, plan->tiling.B_c, plan->tiling.B_r, outer);
  const Wide loads_of_KV = 2 * wide(outer - n.n_empty);
  return loads_of_KV + step_tile_steps_total(&n, wide(outer) * wide(plan->T_r), TILE_STEPS);
}

static bool is_seen(const OldCursor *c) { return c->band.computed.end > c->band.computed.begin; }

static void fa1_enter(const Plan *plan, OldCursor *c, int pass, int64_t outer) {
  c->pass = (uint8_t)pass;
  if (pass == PASS_INIT && outer < plan->T_r) {
    c->i = outer;
    c->phase = INIT_O;
    step_rows(plan, c);
    return;
  }
  if (pass == PASS_INIT) {
    c->pass = PASS_WALK;
    outer = 0;
  }
  c->j = outer;
  c->i = 0;
  if (c->j == plan->T_c) {
    c->done = true;
    return;
  }
  step_cols(plan, c);
  c->band = band_row(&plan->keys, plan->tiling.B_c, plan->tiling.B_r, c->j);
  c->phase = is_seen(c) ? LOAD_K : TILE;
}

static int64_t fa1_inner_count(const Plan *plan, const OldCursor *c) { return c->pass == PASS_INIT ? 0 : plan->T_r; }

static int64_t fa1_steps_within(const Plan *plan, const OldCursor *c, int64_t inner) {
  (void)plan;
  if (c->pass == PASS_INIT) return 0;
  return (is_seen(c) ? 2 : 0) + step_tile_steps(&c->band, 0, inner, TILE_STEPS);
}

static void fa1_enter_inner(const Plan *plan, OldCursor *c, int64_t inner) {
  (void)plan;
  if (c->pass == PASS_INIT) return;
  c->i = inner;
  c->phase = TILE;
}

/* Steps to the next row block; after the last, to the next column block. */
static void next_tile(const Plan *plan, OldCursor *c) {
  c->phase = TILE;
  if (++c->i == plan->T_r) fa1_enter(plan, c, PASS_WALK, c->j + 1);
}

static bool tile_next(const Plan *plan, OldCursor *c, Event *event) {
  const uint64_t row_bytes = step_row_bytes(plan, c);
  switch (c->phase) {
  case LOAD_O: c->phase = LOAD_STATS; return step_emit_rows(c, event, EVENT_LOAD, TENSOR_O, row_bytes);
  case LOAD_STATS:
    c->phase = PRODUCT;
    return step_emit_rows(c, event, EVENT_LOAD, TENSOR_STATS, step_stats_bytes(c, 2));
  case PRODUCT:
    c->phase = c->tile == TILE_PARTIAL ? MASK : NEW_MAX;
    return step_emit(c, event, EVENT_PRODUCT, TENSOR_S, 0, step_flops(plan, c));
  case MASK: c->phase = NEW_MAX; return step_emit(c, event, EVENT_MASK, TENSOR_S, 0, 0);
  case NEW_MAX: c->phase = RESCALE; return step_emit(c, event, EVENT_NEW_MAX, TENSOR_STATS, 0, 0);
  case RESCALE: c->phase = ACCUMULATE; return step_emit(c, event, EVENT_RESCALE, TENSOR_O, 0, 0);
  case ACCUMULATE: c->phase = NORMALISE; return step_emit(c, event, EVENT_ACCUMULATE, TENSOR_O, 0, step_flops(plan, c));
  case NORMALISE: c->phase = STORE_O; return step_emit_rows(c, event, EVENT_NORMALISE, TENSOR_O, 0);
  case STORE_O: c->phase = STORE_STATS; return step_emit_rows(c, event, EVENT_STORE, TENSOR_O, row_bytes);
  default: /* STORE_STATS */
    step_emit_rows(c, event, EVENT_STORE, TENSOR_STATS, step_stats_bytes(c, 2));
    next_tile(plan, c);
    return true;
  }
}

static bool fa1_next(const Plan *plan, OldCursor *c, Event *event) {
  if (c->step == 0 && !c->done) fa1_enter(plan, c, PASS_INIT, 0);
  if (c->done) return false;
  switch (c->phase) {
  case INIT_O: c->phase = INIT_STATS; return step_emit_rows(c, event, EVENT_STORE, TENSOR_O, step_row_bytes(plan, c));
  case INIT_STATS:
    step_emit_rows(c, event, EVENT_STORE, TENSOR_STATS, step_stats_bytes(c, 2));
    fa1_enter(plan, c, PASS_INIT, c->i + 1);
    return true;
  case LOAD_K: c->phase = LOAD_V; return step_emit_cols(c, event, EVENT_LOAD, TENSOR_K, step_col_bytes(plan, c));
  case LOAD_V: c->phase = TILE; return step_emit_cols(c, event, EVENT_LOAD, TENSOR_V, step_col_bytes(plan, c));
  case TILE:
    step_rows(plan, c);
    c->tile = (uint8_t)step_tile_kind(&c->band, c->i);
    if (c->tile == TILE_SKIPPED) {
      step_emit(c, event, EVENT_SKIP, TENSOR_S, 0, 0);
      next_tile(plan, c);
      return true;
    }
    c->phase = LOAD_O;
    return step_emit_rows(c, event, EVENT_LOAD, TENSOR_Q, step_row_bytes(plan, c));
  default: return tile_next(plan, c, event);
  }
}

static void fa1_traffic(const Plan *plan, Traffic *t, bool *overflow) {
  const Wide N_q = wide(plan->shape.N_q), d = wide(plan->shape.d), row_bytes = d * wide(plan->element_bytes);
  const Wide all = wide(plan->T_r) * wide(plan->T_c);
  const BandCount n = band_count(&plan->keys, plan->tiling.B_c, plan->tiling.B_r, plan->T_c);
  const Wide keys = wide(plan->shape.N_k) - wide(n.n_empty) * wide(plan->tiling.B_c);
  const Wide rows = n.cols; /* rows of Q walked past all column blocks together */
  t->read[TENSOR_K] = t->read[TENSOR_V] = keys * row_bytes;
  t->read[TENSOR_Q] = t->read[TENSOR_O] = checked_mul(rows, row_bytes, overflow);
  t->read[TENSOR_STATS] = checked_mul(rows, 2 * STATS_BYTES, overflow);
  t->write[TENSOR_O] = checked_mul(rows + N_q, row_bytes, overflow);
  t->write[TENSOR_STATS] = checked_mul(rows + N_q, 2 * STATS_BYTES, overflow);
  t->tiles[TILE_FULL] = n.full;
  t->tiles[TILE_PARTIAL] = n.computed - n.full;
  t->tiles[TILE_SKIPPED] = all - n.computed;
  t->flops = checked_mul(n.area, 4 * d, overflow);
  t->steps = fa1_steps_before(plan, PASS_INIT, plan->T_r) + fa1_steps_before(plan, PASS_WALK, plan->T_c);
}

static OldLoads fa1_loads(const Plan *plan) {
  return (OldLoads){.Q = band_longest_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c), .K = 1, .V = 1};
}

static Wide fa1_intermediate_bytes(const Plan *plan, bool *overflow) {
  (void)overflow;
  return wide(plan->shape.N_q) * 2 * STATS_BYTES;
}

const OldSchedule OLD_SCHEDULE_FA1 = {
    .name = "fa1",
    .title = "FlashAttention-1",
    .summary = "outer loop over K and V blocks; Q, O and the statistics come and go for every tile",
    .source = "Dao et al., FlashAttention (2022), Algorithm 1",
    .n_passes = 2,
    .whole_head = true,
    .skips = true,
    .next = fa1_next,
    .outer_count = fa1_outer_count,
    .steps_before = fa1_steps_before,
    .enter = fa1_enter,
    .inner_count = fa1_inner_count,
    .steps_within = fa1_steps_within,
    .enter_inner = fa1_enter_inner,
    .traffic = fa1_traffic,
    .loads = fa1_loads,
    .sram = {.Q = true, .K = true, .V = true, .S = true, .O = true, .stats = true},
    .intermediate_bytes = fa1_intermediate_bytes,
};
