/* fa2-split: FlashAttention-2 with the keys split among several CTAs (flash decoding), for few queries and many keys.
 *
 *   pass 1: for i in row blocks, for s in splits:        independent of each other: one CTA each
 *             load Q_i; walk the split's own K, V tiles as fa2 does
 *             normalise; store partial O_i,s and its log-sum-exp, both in fp32
 *   pass 2: for i in row blocks:                         the combine kernel
 *             load the log-sum-exps of all splits, take their maximum
 *             load each partial O_i,s, add it with weight e^(lse_s - max); normalise; store O_i
 *
 * A split without a visible key still stores zeros and -infinity, as FlashAttention-2's kernel does. With one
 * split there is no combine pass and O is stored directly: fa2. Not modelled: the packing of GQA's query heads
 * into one row block that newer kernels do in decode.
 * Source: Dao, Haziza, Massa, Sizov, "Flash-Decoding for long-context inference" (2023) and
 * FlashAttention-2's split-KV kernels. */
#include "tests/support/old_schedule_step.h"

enum { PASS_SPLITS = 0, PASS_COMBINE = 1 };
enum { TAIL_STORE = ROW_TAIL + 1, TAIL_LSE, TAIL_NEXT };
enum {
  COMBINE_LOAD_LSE = 0,
  COMBINE_MAX,
  COMBINE_LOAD_O,
  COMBINE_ADD,
  COMBINE_NORMALISE,
  COMBINE_STORE,
  COMBINE_STORE_LSE
};
enum { PARTIAL_BYTES = 4 }; /* partial O is kept in fp32 */

static int64_t n_splits(const Plan *plan) { return plan->tiling.n_splits; }
static bool combines(const Plan *plan) { return n_splits(plan) > 1; }
static int64_t split_columns(const Plan *plan) { return plan->tiles_per_split * plan->tiling.B_c; }

static int64_t split_outer_count(const Plan *plan, int pass) {
  if (pass == PASS_SPLITS) return plan->T_r * n_splits(plan);
  return combines(plan) ? plan->T_r : 0;
}

static int64_t tail_steps(const Plan *plan) { return combines(plan) || plan->tiling.lse ? 3 : 2; }

static int64_t combine_steps(const Plan *plan) { return 4 * n_splits(plan) + 2 + plan->tiling.lse; }

/* The column tiles of split s: [begin, end). */
static Span split_tiles(const Plan *plan, int64_t s) {
  const int64_t begin = step_min(s * plan->tiles_per_split, plan->T_c);
  return (Span){begin, step_min(begin + plan->tiles_per_split, plan->T_c)};
}

/* Splits [0, s) of row block i that see a key. */
static int64_t splits_that_see(const Plan *plan, int64_t i, int64_t s) {
  return step_overlap(band_row(&plan->band, plan->tiling.B_r, split_columns(plan), i).computed, 0, s);
}

static Wide split_steps_before(const Plan *plan, int pass, int64_t outer) {
  if (pass == PASS_COMBINE) return wide(outer) * wide(combine_steps(plan));
  const int64_t i = outer / n_splits(plan), s = outer % n_splits(plan);
  const BandCount n = band_count(&plan->band, plan->tiling.B_r, plan->tiling.B_c, i);
  Wide steps = step_tile_steps_total(&n, wide(i) * wide(plan->T_c), ROW_TILE_STEPS);
  steps += band_count(&plan->band, plan->tiling.B_r, split_columns(plan), i).computed; /* loads of Q */
  steps += wide(outer) * wide(tail_steps(plan));
  if (s == 0) return steps;
  const BandRow row = band_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c, i);
  steps += wide(step_tile_steps(&row, 0, split_tiles(plan, s).begin, ROW_TILE_STEPS));
  return steps + wide(splits_that_see(plan, i, s));
}

static void split_enter(const Plan *plan, OldCursor *c, int pass, int64_t outer) {
  if (pass == PASS_SPLITS && outer == split_outer_count(plan, PASS_SPLITS)) {
    pass = PASS_COMBINE;
    outer = 0;
  }
  c->pass = (uint8_t)pass;
  if (pass == PASS_COMBINE) {
    c->i = outer;
    c->split = 0;
    c->j = -1;
    c->col0 = c->col1 = 0;
    c->phase = COMBINE_LOAD_LSE;
    c->done = outer == split_outer_count(plan, PASS_COMBINE);
    if (!c->done) step_rows(plan, c);
    return;
  }
  c->i = outer / n_splits(plan);
  c->split = outer % n_splits(plan);
  const Span tiles = split_tiles(plan, c->split);
  c->j = tiles.begin;
  c->stop = tiles.end;
  c->phase = ROW_HEAD;
  step_rows(plan, c);
  c->band = band_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c, c->i);
}

static bool sees_keys(const Plan *plan, const OldCursor *c) {
  const Span tiles = split_tiles(plan, c->split);
  return step_overlap(c->band.computed, tiles.begin, tiles.end) > 0;
}

static int64_t split_inner_count(const Plan *plan, const OldCursor *c) {
  if (c->pass == PASS_COMBINE) return 0;
  const Span tiles = split_tiles(plan, c->split);
  return tiles.end - tiles.begin;
}

static int64_t split_steps_within(const Plan *plan, const OldCursor *c, int64_t inner) {
  if (c->pass == PASS_COMBINE) return 0;
  const int64_t begin = split_tiles(plan, c->split).begin;
  return (sees_keys(plan, c) ? 1 : 0) + step_tile_steps(&c->band, begin, begin + inner, ROW_TILE_STEPS);
}

static void split_enter_inner(const Plan *plan, OldCursor *c, int64_t inner) {
  if (c->pass == PASS_COMBINE) return;
  c->j = split_tiles(plan, c->split).begin + inner;
  c->phase = ROW_TILE;
}

static uint64_t partial_bytes(const Plan *plan, const OldCursor *c) {
  if (!combines(plan)) return step_row_bytes(plan, c);
  return (uint64_t)(c->row1 - c->row0) * (uint64_t)plan->shape.d * PARTIAL_BYTES;
}

static bool combine_next(const Plan *plan, OldCursor *c, Event *event) {
  switch (c->phase) {
  case COMBINE_LOAD_LSE:
    c->phase = COMBINE_MAX;
    return step_emit_rows(c, event, EVENT_LOAD, TENSOR_STATS, step_stats_bytes(c, 1));
  case COMBINE_MAX:
    step_emit_rows(c, event, EVENT_NEW_MAX, TENSOR_STATS, 0);
    c->phase = COMBINE_LOAD_LSE;
    if (++c->split == n_splits(plan)) {
      c->split = 0;
      c->phase = COMBINE_LOAD_O;
    }
    return true;
  case COMBINE_LOAD_O:
    c->phase = COMBINE_ADD;
    return step_emit_rows(c, event, EVENT_LOAD, TENSOR_O, partial_bytes(plan, c));
  case COMBINE_ADD:
    step_emit_rows(c, event, EVENT_ACCUMULATE, TENSOR_O, 0);
    c->phase = COMBINE_LOAD_O;
    if (++c->split == n_splits(plan)) {
      c->split = 0;
      c->phase = COMBINE_NORMALISE;
    }
    return true;
  case COMBINE_NORMALISE: c->phase = COMBINE_STORE; return step_emit_rows(c, event, EVENT_NORMALISE, TENSOR_O, 0);
  case COMBINE_STORE:
    step_emit_rows(c, event, EVENT_STORE, TENSOR_O, step_row_bytes(plan, c));
    c->phase = COMBINE_STORE_LSE;
    if (!plan->tiling.lse) split_enter(plan, c, PASS_COMBINE, c->i + 1);
    return true;
  default: /* COMBINE_STORE_LSE */
    step_emit_rows(c, event, EVENT_STORE, TENSOR_STATS, step_stats_bytes(c, 1));
    split_enter(plan, c, PASS_COMBINE, c->i + 1);
    return true;
  }
}

static bool split_next(const Plan *plan, OldCursor *c, Event *event) {
  if (c->step == 0 && !c->done) split_enter(plan, c, PASS_SPLITS, 0);
  if (c->pass == PASS_SPLITS && c->phase == TAIL_NEXT)
    split_enter(plan, c, PASS_SPLITS, c->i * n_splits(plan) + c->split + 1);
  if (c->done) return false;
  if (c->pass == PASS_COMBINE) return combine_next(plan, c, event);
  if (c->phase == ROW_HEAD) {
    c->phase = ROW_TILE;
    if (sees_keys(plan, c)) return step_emit_rows(c, event, EVENT_LOAD, TENSOR_Q, step_row_bytes(plan, c));
  }
  if (c->phase < ROW_TAIL && step_row_tile(plan, c, event)) return true;
  switch (c->phase) {
  case ROW_TAIL: c->phase = TAIL_STORE; return step_emit_rows(c, event, EVENT_NORMALISE, TENSOR_O, 0);
  case TAIL_STORE:
    c->phase = combines(plan) || plan->tiling.lse ? TAIL_LSE : TAIL_NEXT;
    return step_emit_rows(c, event, EVENT_STORE, TENSOR_O, partial_bytes(plan, c));
  default: /* TAIL_LSE */
    c->phase = TAIL_NEXT;
    return step_emit_rows(c, event, EVENT_STORE, TENSOR_STATS, step_stats_bytes(c, 1));
  }
}

/* Rows of Q loaded: every row block once for each split in which it sees a key. */
static Wide rows_loaded(const Plan *plan) {
  const int64_t B_r = plan->tiling.B_r, whole = plan->shape.N_q / B_r;
  const Wide in_whole = band_count(&plan->band, B_r, split_columns(plan), whole).computed;
  const Wide in_all = band_count(&plan->band, B_r, split_columns(plan), plan->T_r).computed;
  return in_whole * wide(B_r) + (in_all - in_whole) * wide(plan->shape.N_q - whole * B_r);
}

static void split_traffic(const Plan *plan, Traffic *t, bool *overflow) {
  const Wide N_q = wide(plan->shape.N_q), d = wide(plan->shape.d), row_bytes = d * wide(plan->element_bytes);
  const Wide all = wide(plan->T_r) * wide(plan->T_c);
  const BandCount n = band_count(&plan->band, plan->tiling.B_r, plan->tiling.B_c, plan->T_r);
  t->read[TENSOR_Q] = checked_mul(rows_loaded(plan), row_bytes, overflow);
  t->read[TENSOR_K] = t->read[TENSOR_V] = checked_mul(n.cols, row_bytes, overflow);
  if (combines(plan)) {
    const Wide partial_rows = N_q * wide(n_splits(plan));
    t->read[TENSOR_O] = t->write[TENSOR_O] = checked_mul(partial_rows, d * PARTIAL_BYTES, overflow);
    t->read[TENSOR_STATS] = t->write[TENSOR_STATS] = partial_rows * STATS_BYTES;
  }
  t->write[TENSOR_O] += N_q * row_bytes;
  if (plan->tiling.lse) t->write[TENSOR_STATS] += N_q * STATS_BYTES;
  t->tiles[TILE_FULL] = n.full;
  t->tiles[TILE_PARTIAL] = n.computed - n.full;
  t->tiles[TILE_SKIPPED] = all - n.computed;
  t->flops = checked_mul(n.area, 4 * d, overflow);
  t->steps = split_steps_before(plan, PASS_SPLITS, split_outer_count(plan, PASS_SPLITS)) +
             split_steps_before(plan, PASS_COMBINE, split_outer_count(plan, PASS_COMBINE));
}

static OldLoads split_loads(const Plan *plan) {
  const int64_t per_key_block = band_longest_row(&plan->keys, plan->tiling.B_c, plan->tiling.B_r);
  return (OldLoads){.Q = band_longest_row(&plan->band, plan->tiling.B_r, split_columns(plan)),
                    .K = per_key_block,
                    .V = per_key_block};
}

static Wide split_intermediate_bytes(const Plan *plan, bool *overflow) {
  if (!combines(plan)) return 0;
  const Wide row_bytes = wide(plan->shape.d) * PARTIAL_BYTES + STATS_BYTES;
  return checked_mul(wide(plan->shape.N_q) * wide(n_splits(plan)), row_bytes, overflow);
}

const OldSchedule OLD_SCHEDULE_FA2_SPLIT = {
    .name = "fa2-split",
    .title = "FlashAttention-2, split K/V",
    .summary = "the keys split among CTAs, partial outputs combined in a second pass (flash decoding)",
    .source = "Dao et al., Flash-Decoding (2023)",
    .n_passes = 2,
    .skips = true,
    .splits = true,
    .writes_lse = true,
    .next = split_next,
    .outer_count = split_outer_count,
    .steps_before = split_steps_before,
    .enter = split_enter,
    .inner_count = split_inner_count,
    .steps_within = split_steps_within,
    .enter_inner = split_enter_inner,
    .traffic = split_traffic,
    .loads = split_loads,
    .sram = {.Q = true, .K = true, .V = true, .S = true, .O = true, .stats = true},
    .intermediate_bytes = split_intermediate_bytes,
};
