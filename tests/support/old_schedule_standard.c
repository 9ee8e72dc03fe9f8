/* standard: attention as the equations say, one matrix after the other; S and P live in HBM.
 *
 *   pass 1: S = Q K^T / sqrt(d), masked      reads Q and K, writes S
 *   pass 2: P = softmax(S), row by row       reads S, writes P
 *   pass 3: O = P V                          reads P and V, writes O
 *
 * Counted as the papers count it: each matrix crosses HBM once per pass, 4 N d + 4 N^2 elements per head. That
 * supposes that a pass keeps K (or V) on chip while it walks the rows, which no SRAM does at large N; a
 * real matrix product re-reads blocks, mostly from L2. So this is the least that standard attention can move.
 * Eager frameworks compute every score and mask afterwards, so no tile is skipped here: a tile with any
 * masked score is partial. (Dao et al. 2022, Algorithm 0.) */
#include "tests/support/old_schedule_step.h"

enum { PASS_SCORES = 0, PASS_SOFTMAX, PASS_OUTPUT };
enum { LOAD_Q = 0, LOAD_K, PRODUCT, MASK, STORE_S };
enum { LOAD_S = 0, NEW_MAX, NORMALISE, STORE_P };
enum { LOAD_P = 0, LOAD_V, ACCUMULATE, STORE_O };

static int64_t standard_outer_count(const Plan *plan, int pass) {
  (void)pass;
  return plan->T_r;
}

static Wide standard_steps_before(const Plan *plan, int pass, int64_t outer) {
  const Wide rows = wide(outer), T_c = wide(plan->T_c), first = outer > 0 ? T_c : 0;
  if (pass == PASS_SCORES) {
    const Wide n_full = band_count(&plan->band, plan->tiling.B_r, plan->tiling.B_c, outer).full;
    return rows * (1 + 2 * T_c) + first + (rows * T_c - n_full);
  }
  if (pass == PASS_SOFTMAX) return rows * 4 * T_c;
  return rows * (2 * T_c + 1) + first;
}

static void standard_enter(const Plan *plan, OldCursor *c, int pass, int64_t outer) {
  if (outer == plan->T_r) {
    outer = 0;
    if (++pass > PASS_OUTPUT) {
      c->done = true;
      return;
    }
  }
  c->pass = (uint8_t)pass;
  c->i = outer;
  c->j = 0;
  c->phase = 0;
  step_rows(plan, c);
  c->band = band_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c, outer);
}

/* Inner iterations: the tiles of a row; in the softmax pass the row is walked twice. */
static int64_t standard_inner_count(const Plan *plan, const OldCursor *c) {
  return c->pass == PASS_SOFTMAX ? 2 * plan->T_c : plan->T_c;
}

static int64_t standard_steps_within(const Plan *plan, const OldCursor *c, int64_t inner) {
  (void)plan;
  const int64_t first = c->i == 0 ? inner : 0;
  if (c->pass == PASS_SCORES) return 1 + 2 * inner + first + (inner - step_overlap(c->band.full, 0, inner));
  return 2 * inner + (c->pass == PASS_OUTPUT ? first : 0);
}

static void standard_enter_inner(const Plan *plan, OldCursor *c, int64_t inner) {
  const bool second_walk = c->pass == PASS_SOFTMAX && inner >= plan->T_c;
  c->j = second_walk ? inner - plan->T_c : inner;
  switch (c->pass) {
  case PASS_SCORES: c->phase = c->i == 0 ? LOAD_K : PRODUCT; break;
  case PASS_SOFTMAX: c->phase = second_walk ? NORMALISE : LOAD_S; break;
  default: c->phase = inner == plan->T_c ? STORE_O : LOAD_P; break;
  }
}

static void enter_tile(const Plan *plan, OldCursor *c) {
  step_cols(plan, c);
  c->tile = step_tile_kind(&c->band, c->j) == TILE_FULL ? TILE_FULL : TILE_PARTIAL;
}

static bool scores_next(const Plan *plan, OldCursor *c, Event *event) {
  if (c->phase == LOAD_Q) {
    c->phase = c->i == 0 ? LOAD_K : PRODUCT;
    return step_emit_rows(c, event, EVENT_LOAD, TENSOR_Q, step_row_bytes(plan, c));
  }
  enter_tile(plan, c);
  switch (c->phase) {
  case LOAD_K: c->phase = PRODUCT; return step_emit_cols(c, event, EVENT_LOAD, TENSOR_K, step_col_bytes(plan, c));
  case PRODUCT:
    c->phase = c->tile == TILE_FULL ? STORE_S : MASK;
    return step_emit(c, event, EVENT_PRODUCT, TENSOR_S, 0, step_flops(plan, c));
  case MASK: c->phase = STORE_S; return step_emit(c, event, EVENT_MASK, TENSOR_S, 0, 0);
  default: /* STORE_S */
    step_emit(c, event, EVENT_STORE, TENSOR_S, step_score_bytes(plan, c), 0);
    c->phase = c->i == 0 ? LOAD_K : PRODUCT;
    if (++c->j == plan->T_c) standard_enter(plan, c, PASS_SCORES, c->i + 1);
    return true;
  }
}

static bool softmax_next(const Plan *plan, OldCursor *c, Event *event) {
  enter_tile(plan, c);
  switch (c->phase) {
  case LOAD_S: c->phase = NEW_MAX; return step_emit(c, event, EVENT_LOAD, TENSOR_S, step_score_bytes(plan, c), 0);
  case NEW_MAX:
    step_emit(c, event, EVENT_NEW_MAX, TENSOR_STATS, 0, 0);
    c->phase = LOAD_S;
    if (++c->j == plan->T_c) {
      c->j = 0;
      c->phase = NORMALISE;
    }
    return true;
  case NORMALISE: c->phase = STORE_P; return step_emit(c, event, EVENT_NORMALISE, TENSOR_P, 0, 0);
  default: /* STORE_P */
    step_emit(c, event, EVENT_STORE, TENSOR_P, step_score_bytes(plan, c), 0);
    c->phase = NORMALISE;
    if (++c->j == plan->T_c) standard_enter(plan, c, PASS_SOFTMAX, c->i + 1);
    return true;
  }
}

static bool output_next(const Plan *plan, OldCursor *c, Event *event) {
  if (c->phase == STORE_O) {
    step_emit_rows(c, event, EVENT_STORE, TENSOR_O, step_row_bytes(plan, c));
    standard_enter(plan, c, PASS_OUTPUT, c->i + 1);
    return true;
  }
  enter_tile(plan, c);
  switch (c->phase) {
  case LOAD_P:
    c->phase = c->i == 0 ? LOAD_V : ACCUMULATE;
    return step_emit(c, event, EVENT_LOAD, TENSOR_P, step_score_bytes(plan, c), 0);
  case LOAD_V: c->phase = ACCUMULATE; return step_emit_cols(c, event, EVENT_LOAD, TENSOR_V, step_col_bytes(plan, c));
  default: /* ACCUMULATE */
    step_emit(c, event, EVENT_ACCUMULATE, TENSOR_O, 0, step_flops(plan, c));
    c->phase = ++c->j == plan->T_c ? STORE_O : LOAD_P;
    return true;
  }
}

static bool standard_next(const Plan *plan, OldCursor *c, Event *event) {
  if (c->step == 0 && !c->done) standard_enter(plan, c, PASS_SCORES, 0);
  if (c->done) return false;
  switch (c->pass) {
  case PASS_SCORES: return scores_next(plan, c, event);
  case PASS_SOFTMAX: return softmax_next(plan, c, event);
  default: return output_next(plan, c, event);
  }
}

static void standard_traffic(const Plan *plan, Traffic *t, bool *overflow) {
  const Wide N_q = wide(plan->shape.N_q), N_k = wide(plan->shape.N_k), d = wide(plan->shape.d);
  const Wide e = wide(plan->element_bytes), all = wide(plan->T_r) * wide(plan->T_c);
  const Wide scores = checked_mul(checked_mul(N_q, N_k, overflow), e, overflow);
  t->read[TENSOR_Q] = t->write[TENSOR_O] = N_q * d * e;
  t->read[TENSOR_K] = t->read[TENSOR_V] = N_k * d * e;
  t->read[TENSOR_S] = t->write[TENSOR_S] = t->read[TENSOR_P] = t->write[TENSOR_P] = scores;
  t->tiles[TILE_FULL] = band_count(&plan->band, plan->tiling.B_r, plan->tiling.B_c, plan->T_r).full;
  t->tiles[TILE_PARTIAL] = all - t->tiles[TILE_FULL];
  t->flops = checked_mul(N_q * N_k, 4 * d, overflow);
  for (int pass = 0; pass <= PASS_OUTPUT; pass++) t->steps += standard_steps_before(plan, pass, plan->T_r);
}

static OldLoads standard_loads(const Plan *plan) {
  (void)plan;
  return (OldLoads){.Q = 1, .K = 1, .V = 1};
}

static Wide standard_intermediate_bytes(const Plan *plan, bool *overflow) {
  const Wide pairs = wide(plan->shape.N_q) * wide(plan->shape.N_k);
  return checked_mul(pairs, 2 * wide(plan->element_bytes), overflow); /* S and P */
}

const OldSchedule OLD_SCHEDULE_STANDARD = {
    .name = "standard",
    .title = "standard attention",
    .summary = "three passes; the N x N matrices S and P are written to HBM and read back",
    .source = "Dao et al., FlashAttention (2022), Algorithm 0",
    .n_passes = 3,
    .skips = false,
    .next = standard_next,
    .outer_count = standard_outer_count,
    .steps_before = standard_steps_before,
    .enter = standard_enter,
    .inner_count = standard_inner_count,
    .steps_within = standard_steps_within,
    .enter_inner = standard_enter_inner,
    .traffic = standard_traffic,
    .loads = standard_loads,
    .sram = {.Q = true, .K = true, .S = true}, /* the product of pass 1; pass 3 needs P, V and O: as much */
    .intermediate_bytes = standard_intermediate_bytes,
};
