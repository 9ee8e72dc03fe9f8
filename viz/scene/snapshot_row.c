/* One row of scores with real numbers, as far as the walk has taken it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/numbers/attention.h"
#include "sim/base/random.h"
#include "viz/scene/snapshot_parts.h"

static int64_t n_O(const Stage *stage) {
  const int64_t d = stage_plan(stage)->shape.d;
  return d < SNAPSHOT_O ? d : SNAPSHOT_O;
}

static Precision precision_of(const Stage *stage) { return attention_precision(stage_plan(stage)->shape.dtype); }

static SoftmaxConfig config_of(const Stage *stage) {
  return (SoftmaxConfig){.precision = precision_of(stage), .without_max = stage->config.without_max};
}

/* Element of an input of the first head, as attention_fill makes it. */
static double input(const Stage *stage, Tensor tensor, int64_t row, int64_t column) {
  const uint64_t index = (uint64_t)(row * stage_plan(stage)->shape.d + column);
  const double scale = tensor == TENSOR_Q ? (double)stage->config.q_scale : 1;
  return precision_round(precision_of(stage), scale * random_normal(stage->config.seed, (uint64_t)tensor, index));
}

Status stage_fill_inputs(Stage *stage, Error *error) {
  const Shape *shape = &stage_plan(stage)->shape;
  if (stage_schedule(stage)->is_own || shape->pattern) return STATUS_OK; /* rows follow shipped programs and bands */
  if (shape->N_k > STAGE_MAX_KEY_ELEMENTS / shape->d) return STATUS_OK;
  const size_t N_k = (size_t)shape->N_k, d = (size_t)shape->d, shown = (size_t)n_O(stage);
  stage->K = malloc(N_k * d * sizeof(double));
  stage->V = malloc(N_k * shown * sizeof(double));
  stage->row = malloc(sizeof *stage->row + (d + 2 * N_k) * sizeof(double));
  if (!stage->K || !stage->V || !stage->row)
    return error_set(error, STATUS_NO_MEMORY, "no memory for the numbers of a row; a smaller N needs less");
  *stage->row = (struct StageRow){.row = -1};
  const size_t small = sizeof *stage->row + (d + N_k + 3 * (size_t)stage_plan(stage)->T_c) * sizeof(double);
  for (int k = 0; k < SNAPSHOT_ROWS && shape->N_k <= STAGE_MAX_ROW_KEYS; k++) {
    stage->rows[k] = malloc(small);
    if (!stage->rows[k])
      return error_set(error, STATUS_NO_MEMORY, "no memory for the numbers of a row; a smaller N needs less");
    *stage->rows[k] = (struct StageRow){.row = -1};
  }
  return STATUS_OK;
}

/* K and V up to a row. Each element is a function of its index, so it does not matter when it is made. */
static void fill_keys(const Stage *stage, int64_t end) {
  const int64_t d = stage_plan(stage)->shape.d, shown = n_O(stage);
  for (int64_t row = stage->row->n_keys; row < end; row++) {
    for (int64_t c = 0; c < d; c++) stage->K[row * d + c] = input(stage, TENSOR_K, row, c);
    for (int64_t c = 0; c < shown; c++) stage->V[row * shown + c] = input(stage, TENSOR_V, row, c);
    stage->row->n_keys = row + 1;
  }
}

/* ---- Scores --------------------------------------------------------------------------------------------- */

/* The scores of a row up to a column. As in the tensor cores: summed from left to right, one rounding a step, then
 * scaled. */
static void score_row(const Stage *stage, struct StageRow *r, int64_t row, int64_t end) {
  const Plan *plan = stage_plan(stage);
  const int64_t d = plan->shape.d;
  const Precision accumulator = precision_accumulator(precision_of(stage));
  const double scale = precision_computed(accumulator, 1 / sqrt((double)d));
  double *q = r->numbers, *scores = r->numbers + d;
  fill_keys(stage, end);
  if (r->row != row) {
    for (int64_t c = 0; c < d; c++) q[c] = input(stage, TENSOR_Q, row, c);
    r->n_scores = 0;
    r->row = row;
    r->n_tiles = 0;
    r->l = NAN;
  }
  for (int64_t col = r->n_scores; col < end; col++) {
    double sum = 0;
    for (int64_t c = 0; c < d; c++) sum = precision_multiply_add(accumulator, q[c], stage->K[col * d + c], sum);
    scores[col] =
        col < stage->config.n_scores ? stage->config.scores[col] : precision_computed(accumulator, sum * scale);
    r->n_scores = col + 1;
  }
}

/* The row from the definition, in fp64 throughout, from the inputs as they are stored. */
static void refer(const Stage *stage, int64_t row, double *O) {
  const Plan *plan = stage_plan(stage);
  const Span seen = band_columns(&plan->band, row);
  const int64_t d = plan->shape.d;
  if (seen.end <= seen.begin) return;
  score_row(stage, stage->row, row, seen.end); /* for Q and K */
  const double *q = stage->row->numbers, scale = 1 / sqrt((double)d);
  double *exact = stage->row->numbers + d + plan->shape.N_k;
  for (int64_t col = seen.begin; col < seen.end; col++) {
    double sum = 0;
    for (int64_t c = 0; c < d; c++) sum += q[c] * stage->K[col * d + c];
    exact[col] = col < stage->config.n_scores ? stage->config.scores[col] : sum * scale;
  }
  softmax_reference(exact + seen.begin, seen.end - seen.begin, stage->V + seen.begin * n_O(stage), n_O(stage), NULL, O);
}

static double masked_score(const Stage *stage, const struct StageRow *r, int64_t col) {
  const Span seen = band_columns(&stage_plan(stage)->band, r->row);
  return col < seen.begin || col >= seen.end ? -INFINITY : r->numbers[stage_plan(stage)->shape.d + col];
}

/* ---- The tiles of the row ------------------------------------------------------------------------------- */

typedef struct {
  const Stage *stage;
  SoftmaxConfig config;
  Precision accumulator;
  struct StageRow *cache; /* of scores */
  int64_t row, n_O;       /* n_O 0: only m and l */
  bool O_in_hbm;          /* fa1: O comes back from HBM rounded, and divided by l */
  double m, l, O[SNAPSHOT_O];
  double stored[SNAPSHOT_O]; /* O as it lies in HBM */
} Walk;

static void history_add(SnapshotRow *r, int64_t tile, double m, double factor, double l) {
  if (r->n_history == 0) r->first_history = tile;
  if (r->n_history == SNAPSHOT_HISTORY) {
    memmove(r->history_m, r->history_m + 1, sizeof r->history_m - sizeof *r->history_m);
    memmove(r->history_factor, r->history_factor + 1, sizeof r->history_factor - sizeof *r->history_factor);
    memmove(r->history_l, r->history_l + 1, sizeof r->history_l - sizeof *r->history_l);
    r->n_history--;
    r->first_history++;
  }
  r->history_m[r->n_history] = m;
  r->history_factor[r->n_history] = factor;
  r->history_l[r->n_history++] = l;
}

static void look_at_scores(const Walk *w, int64_t tile, SnapshotRow *r) {
  const Plan *plan = stage_plan(w->stage);
  const int64_t col0 = tile * plan->tiling.B_c;
  const int64_t col1 = col0 + plan->tiling.B_c < plan->shape.N_k ? col0 + plan->tiling.B_c : plan->shape.N_k;
  score_row(w->stage, w->cache, w->row, col1);
  r->tile = tile;
  r->col0 = col0;
  r->n_cols = col1 - col0;
  r->n_masked = r->n_overflowed = 0;
  r->block_sum = 0;
  r->block_max = -INFINITY;
  memset(r->weights, 0, sizeof r->weights);
  for (int64_t col = col0; col < col1; col++) {
    const double score = masked_score(w->stage, w->cache, col);
    r->n_masked += score == -INFINITY;
    r->block_max = fmax(r->block_max, score);
  }
}

static void keep_scores(const Walk *w, SnapshotRow *r, bool masked) {
  const double *scores = w->cache->numbers + stage_plan(w->stage)->shape.d;
  for (int64_t k = 0; k < SNAPSHOT_SCORES; k++) {
    r->scores[k] = 0;
    if (k < r->n_cols) r->scores[k] = masked ? masked_score(w->stage, w->cache, r->col0 + k) : scores[r->col0 + k];
  }
}

/* Steps 1 to 4 of sim/numbers/softmax.h for one tile: everything in *r, then in *w. */
static void take_tile(Walk *w, int64_t tile, SnapshotRow *r) {
  look_at_scores(w, tile, r);
  r->m_old = w->m;
  r->m_new = softmax_new_max(&w->config, w->m, r->block_max);
  r->factor = softmax_factor(&w->config, r->m_old, r->m_new);
  r->l_old = w->l;
  r->l_scaled = precision_computed(w->accumulator, w->l * r->factor);
  memcpy(r->O_old, w->O, sizeof w->O);
  for (int64_t c = 0; c < w->n_O; c++)
    w->O[c] = precision_computed(w->accumulator, w->O_in_hbm ? w->stored[c] * r->l_scaled : w->O[c] * r->factor);
  memcpy(r->O, w->O, sizeof w->O);
  for (int64_t col = r->col0; col < r->col0 + r->n_cols; col++) {
    const double exponential = softmax_exponential(&w->config, masked_score(w->stage, w->cache, col), r->m_new);
    const double weight = precision_round(w->config.precision, exponential);
    r->n_overflowed += precision_overflows(w->config.precision, exponential);
    r->block_sum = precision_computed(w->accumulator, r->block_sum + exponential);
    if (col - r->col0 < SNAPSHOT_SCORES) r->weights[col - r->col0] = weight;
    for (int64_t c = 0; c < w->n_O; c++)
      w->O[c] = precision_multiply_add(w->accumulator, weight, w->stage->V[col * w->n_O + c], w->O[c]);
  }
  r->l_new = precision_computed(w->accumulator, r->l_scaled + r->block_sum);
  w->m = r->m_new;
  w->l = r->l_new;
  for (int64_t c = 0; w->O_in_hbm && c < w->n_O; c++)
    w->stored[c] = precision_round(w->config.precision, softmax_divide(&w->config, w->O[c], w->l));
  history_add(r, tile, r->m_new, r->factor, r->l_new);
}

static Walk walk_new(const Stage *stage, int64_t row) {
  const SoftmaxConfig config = config_of(stage);
  Walk w = {.stage = stage, .config = config, .cache = stage->row, .row = row, .n_O = n_O(stage)};
  w.accumulator = precision_accumulator(config.precision);
  w.m = softmax_start(&config).m;
  return w;
}

/* The tiles [from, to) that are computed. */
static void take_tiles(Walk *w, int64_t from, int64_t to, SnapshotRow *r) {
  const Plan *plan = stage_plan(w->stage);
  const Span computed = band_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c, w->row / plan->tiling.B_r).computed;
  for (int64_t tile = from; tile < to; tile++)
    if (tile >= computed.begin && tile < computed.end) take_tile(w, tile, r);
}

static void finish(Walk *w, SnapshotRow *r) {
  const bool divided = w->O_in_hbm;
  double largest = 0;
  r->phase = ROW_FINISHED;
  refer(w->stage, w->row, r->reference_O);
  for (int64_t c = 0; c < w->n_O; c++) largest = fmax(largest, fabs(r->reference_O[c]));
  for (int64_t c = 0; c < w->n_O; c++) {
    const double fp32 = softmax_divide(&w->config, w->O[c], w->l),
                 fp32_off = fabs(fp32 - r->reference_O[c]) / precision_ulp(PRECISION_FP32, largest);
    const double O = divided ? w->stored[c] : precision_round(w->config.precision, fp32);
    const double off = fabs(O - r->reference_O[c]) / precision_ulp(w->config.precision, largest);
    r->O[c] = O;
    r->error_fp32_ulps = isnan(fp32_off) || fp32_off > r->error_fp32_ulps ? fp32_off : r->error_fp32_ulps;
    r->error_ulps = isnan(off) || off > r->error_ulps ? off : r->error_ulps;
  }
}

/* Takes back what has not happened yet in the present tile. */
static void rewind_to(RowPhase phase, SnapshotRow *r, Walk *w, const double *O_before) {
  r->phase = (uint8_t)phase;
  r->m = phase >= ROW_MAX ? r->m_new : r->m_old;
  r->l = phase >= ROW_ACCUMULATED ? r->l_new : phase == ROW_RESCALED ? r->l_scaled : r->l_old;
  if (phase >= ROW_ACCUMULATED)
    memcpy(r->O, w->O, sizeof r->O);
  else if (phase < ROW_RESCALED)
    memcpy(r->O, O_before, sizeof r->O);
  if (phase < ROW_ACCUMULATED) {
    memset(r->weights, 0, sizeof r->weights);
    r->block_sum = 0;
    r->n_overflowed = 0;
  }
  if (phase < ROW_ACCUMULATED) {
    r->n_history--;
    r->history_m[r->n_history] = r->history_factor[r->n_history] = r->history_l[r->n_history] = 0;
  }
}

/* ---- What the present event says ------------------------------------------------------------------------- */

static RowPhase phase_of(const Event *e) {
  switch (e->kind) {
  case EVENT_PRODUCT: return ROW_SCORES;
  case EVENT_MASK: return ROW_MASKED;
  case EVENT_NEW_MAX: return ROW_MAX;
  case EVENT_RESCALE: return ROW_RESCALED;
  case EVENT_ACCUMULATE: return ROW_ACCUMULATED;
  case EVENT_NORMALISE:
  case EVENT_STORE: return ROW_ACCUMULATED;
  case EVENT_LOAD: return e->tensor == TENSOR_V ? ROW_RESCALED : ROW_NONE;
  default: return ROW_NONE;
  }
}

/* FlashAttention's row: the tiles before the present one, then as much of that as has happened. */
static void fill_online(Walk *w, const Snapshot *now, SnapshotRow *r, int64_t first) {
  const Event *e = &now->event;
  const SnapshotGrid *g = &now->grid;
  const bool is_skip = e->kind == EVENT_SKIP;
  if (!g->at_work || is_skip) { /* before the first tile, after the last, or in a gap */
    const int64_t upto = !g->at_work ? (g->column_by_column ? 0 : g->n_done) : g->j;
    take_tiles(w, first, upto, r);
    if (r->n_history == 0) r->m_old = w->m;
    r->m = w->m;
    r->l = w->l;
    memcpy(r->O, w->O, sizeof r->O);
    r->phase = r->n_history ? ROW_ACCUMULATED : ROW_NONE;
    if (!g->at_work && (e->kind == EVENT_NORMALISE || e->kind == EVENT_STORE) &&
        now->event.pass + 1 >= stage_schedule(w->stage)->n_passes)
      finish(w, r);
    return;
  }
  take_tiles(w, first, g->j, r);
  double before[SNAPSHOT_O];
  memcpy(before, w->O, sizeof before);
  take_tile(w, g->j, r);
  rewind_to(phase_of(e), r, w, before);
  const Plan *plan = stage_plan(w->stage);
  const Span computed = band_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c, w->row / plan->tiling.B_r).computed;
  if (w->O_in_hbm && g->j == computed.end - 1 && (e->kind == EVENT_NORMALISE || e->kind == EVENT_STORE)) finish(w, r);
}

/* Standard's row: all scores, then the maximum over them, then P, then O. S and P come back from HBM rounded. */

static void fill_standard_scores(Walk *w, const Snapshot *now, SnapshotRow *r) {
  if (!now->grid.at_work || now->event.kind == EVENT_LOAD) return;
  look_at_scores(w, now->grid.j, r);
  r->phase = now->event.kind == EVENT_PRODUCT ? ROW_SCORES : ROW_MASKED;
}

/* O as far as the third pass has come, and P of the present tile. */
static void fill_standard_output(Walk *w, const Snapshot *now, SnapshotRow *r) {
  const SnapshotGrid *g = &now->grid;
  const Plan *plan = stage_plan(w->stage);
  const int64_t N_k = plan->shape.N_k;
  const Precision stored = w->config.precision;
  const int64_t n_tiles = g->lap < 2 ? 0 : g->at_work ? g->j + (now->event.kind == EVENT_ACCUMULATE) : g->n_done;
  for (int64_t col = 0; col < N_k; col++) {
    const double score = precision_round(stored, masked_score(w->stage, w->cache, col));
    const double P =
        precision_round(stored, softmax_divide(&w->config, softmax_exponential(&w->config, score, r->m), r->l));
    const int64_t within = col - r->col0;
    if (g->at_work && within >= 0 && within < r->n_cols && within < SNAPSHOT_SCORES) r->weights[within] = P;
    for (int64_t c = 0; c < w->n_O && col < n_tiles * plan->tiling.B_c; c++)
      w->O[c] = precision_multiply_add(w->accumulator, P, w->stage->V[col * w->n_O + c], w->O[c]);
  }
  memcpy(r->O, w->O, sizeof r->O);
  r->phase = ROW_ACCUMULATED;
  if (g->lap >= 2 && !g->at_work && now->event.kind == EVENT_STORE) {
    w->l = 1; /* P is divided by l already */
    finish(w, r);
  }
}

static void fill_standard(Walk *w, const Snapshot *now, SnapshotRow *r) {
  const SnapshotGrid *g = &now->grid;
  const Plan *plan = stage_plan(w->stage);
  const int64_t N_k = plan->shape.N_k, j = g->at_work ? g->j : -1;
  const Precision stored = w->config.precision;
  r->phase = ROW_NONE;
  r->m = w->m;
  if (g->lap == 0) {
    fill_standard_scores(w, now, r);
    return;
  }
  const bool looks = g->lap == 1 && now->event.pass == 1 && g->n_done == 0 &&
                     (now->event.kind == EVENT_LOAD || now->event.kind == EVENT_NEW_MAX);
  score_row(w->stage, w->cache, w->row, N_k);
  const int64_t seen_tiles = looks ? j + (now->event.kind == EVENT_NEW_MAX) : plan->T_c;
  double m = w->m, l = 0;
  for (int64_t col = 0; col < N_k && col < seen_tiles * plan->tiling.B_c; col++) {
    if (col == j * plan->tiling.B_c) r->m_old = m;
    m = softmax_new_max(&w->config, m, precision_round(stored, masked_score(w->stage, w->cache, col)));
  }
  if (looks && now->event.kind == EVENT_LOAD) r->m_old = m;
  r->m = r->m_new = m;
  if (j >= 0) look_at_scores(w, j, r);
  if (looks) {
    r->phase = now->event.kind == EVENT_NEW_MAX ? ROW_MAX : ROW_MASKED;
    return;
  }
  for (int64_t col = 0; col < N_k; col++)
    l = precision_computed(
        w->accumulator,
        l + softmax_exponential(&w->config, precision_round(stored, masked_score(w->stage, w->cache, col)), m));
  r->l = r->l_new = r->l_old = r->l_scaled = l;
  r->factor = 1;
  r->m_old = m;
  fill_standard_output(w, now, r);
}

void snapshot_fill_row(const Stage *stage, Snapshot *now) {
  SnapshotRow *r = &now->row;
  const Plan *plan = stage_plan(stage);
  const SnapshotGrid *g = &now->grid;
  r->is_computed = stage->K != NULL;
  r->without_max = stage->config.without_max;
  r->q_scale = stage->config.q_scale;
  r->row = r->tile = -1;
  r->n_O = n_O(stage);
  if (!r->is_computed || !now->has_event || now->event.i < 0) return;
  const int64_t height = now->event.row1 - now->event.row0;
  const int64_t asked = stage->config.row_in_block > 0 ? stage->config.row_in_block - 1 : height / 2;
  const int64_t within = asked < height ? asked : height - 1;
  r->row = now->event.i * plan->tiling.B_r + within;
  Walk w = walk_new(stage, r->row);
  w.O_in_hbm = g->column_by_column;
  const bool on_tiles = g->lap < g->n_laps && (g->at_work || !g->column_by_column);
  if (g->n_laps > 1)
    fill_standard(&w, now, r);
  else if (on_tiles) {
    const int64_t first = now->event.split * plan->tiles_per_split;
    fill_online(&w, now, r, first);
  }
  if (r->n_cols > 0 && r->phase >= ROW_SCORES) keep_scores(&w, r, r->phase >= ROW_MASKED || r->n_masked == 0);
}

/* ---- The rows shown small: m and l alone ------------------------------------------------------------------ */

typedef struct {
  double m, l, factor;
} Stats;

/* After tile `tile` of a row shown small. */
static Stats *stats_of(const Stage *stage, struct StageRow *cache, int64_t tile) {
  return (Stats *)(void *)(cache->numbers + stage_plan(stage)->shape.d + stage_plan(stage)->shape.N_k) + tile;
}

/* Walks the tiles up to `end` that are not walked yet. */
static void walk_small(Walk *w, int64_t first, int64_t end) {
  SnapshotRow scratch;
  struct StageRow *cache = w->cache;
  score_row(w->stage, cache, w->row, 0);
  if (cache->n_tiles <= first || cache->first != first) cache->n_tiles = cache->first = first;
  if (cache->n_tiles > first) {
    w->m = stats_of(w->stage, cache, cache->n_tiles - 1)->m;
    w->l = stats_of(w->stage, cache, cache->n_tiles - 1)->l;
  }
  for (; cache->n_tiles < end; cache->n_tiles++) {
    scratch.factor = 1;
    scratch.n_history = 0;
    take_tiles(w, cache->n_tiles, cache->n_tiles + 1, &scratch);
    *stats_of(w->stage, cache, cache->n_tiles) = (Stats){w->m, w->l, scratch.factor};
  }
}

/* The maximum over the first tiles of standard's row, and l when all are seen. */
static void walk_small_standard(Walk *w, int64_t end) {
  struct StageRow *cache = w->cache;
  const Plan *plan = stage_plan(w->stage);
  score_row(w->stage, cache, w->row, end > 0 ? plan->shape.N_k : 0);
  if (cache->n_tiles > 0) w->m = stats_of(w->stage, cache, cache->n_tiles - 1)->m;
  for (; cache->n_tiles < end; cache->n_tiles++) {
    const int64_t col0 = cache->n_tiles * plan->tiling.B_c;
    for (int64_t col = col0; col < col0 + plan->tiling.B_c && col < plan->shape.N_k; col++)
      w->m =
          softmax_new_max(&w->config, w->m, precision_round(w->config.precision, masked_score(w->stage, cache, col)));
    *stats_of(w->stage, cache, cache->n_tiles) = (Stats){w->m, NAN, 1};
  }
  if (end < plan->T_c || !isnan(cache->l)) return;
  w->l = 0;
  for (int64_t col = 0; col < plan->shape.N_k; col++)
    w->l = precision_computed(
        w->accumulator,
        w->l + softmax_exponential(&w->config, precision_round(w->config.precision, masked_score(w->stage, cache, col)),
                                   w->m));
  cache->l = w->l;
}

static void keep_history(const Walk *w, int64_t begin, int64_t end, SnapshotSmallRow *r) {
  r->first_history = end - begin > SNAPSHOT_HISTORY ? end - SNAPSHOT_HISTORY : begin;
  for (int64_t tile = r->first_history; tile < end; tile++) {
    r->history_m[r->n_history] = stats_of(w->stage, w->cache, tile)->m;
    r->history_l[r->n_history++] = stats_of(w->stage, w->cache, tile)->l;
  }
}

static void fill_small_standard(Walk *w, const Snapshot *now, SnapshotSmallRow *r) {
  const SnapshotGrid *g = &now->grid;
  const bool looks = now->row.phase == ROW_MASKED || now->row.phase == ROW_MAX; /* pass 2 goes over the row to find m */
  const int64_t seen = g->lap == 0 ? 0 : looks && now->event.pass == 1 ? g->j + (now->row.phase == ROW_MAX) : g->T_c;
  const double start = w->m;
  walk_small_standard(w, seen);
  r->m = seen > 0 ? stats_of(w->stage, w->cache, seen - 1)->m : start;
  r->l = seen == g->T_c && !looks ? w->cache->l : NAN;
  keep_history(w, 0, seen, r);
}

static void fill_small(Walk *w, const Snapshot *now, int64_t first, SnapshotSmallRow *r) {
  const SnapshotGrid *g = &now->grid;
  const Plan *plan = stage_plan(w->stage);
  const Stats start = {w->m, w->l, NAN};
  const bool in_tile = g->at_work && now->event.kind != EVENT_SKIP;
  const int64_t whole = in_tile || g->at_work ? g->j : g->column_by_column ? 0 : g->n_done;
  const RowPhase phase = in_tile ? phase_of(&now->event) : ROW_NONE;
  walk_small(w, first, whole + in_tile);
  const Stats before = whole > first ? *stats_of(w->stage, w->cache, whole - 1) : start;
  const Stats after = in_tile ? *stats_of(w->stage, w->cache, whole) : before;
  r->m = phase >= ROW_MAX ? after.m : before.m;
  r->l = phase >= ROW_ACCUMULATED ? after.l
         : phase == ROW_RESCALED  ? precision_computed(w->accumulator, before.l * after.factor)
                                  : before.l;
  r->factor = phase >= ROW_RESCALED ? after.factor : before.factor;
  const Span computed = band_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c, w->row / plan->tiling.B_r).computed;
  const int64_t end = whole + (phase >= ROW_ACCUMULATED), begin = computed.begin > first ? computed.begin : first;
  keep_history(w, begin, end < computed.end ? end : computed.end, r);
}

void snapshot_fill_rows(const Stage *stage, Snapshot *now) {
  const SnapshotGrid *g = &now->grid;
  const Plan *plan = stage_plan(stage);
  const bool on_tiles = g->n_laps > 1 || (g->lap < g->n_laps && (g->at_work || !g->column_by_column));
  if (now->row.row < 0 || stage->config.lone_row || !stage->rows[0] || !on_tiles) return;
  const int64_t height = now->event.row1 - now->event.row0, large = now->row.row - now->event.i * plan->tiling.B_r;
  const int64_t n = height < SNAPSHOT_ROWS ? height : SNAPSHOT_ROWS;
  for (int64_t k = 0; k < n; k++) {
    SnapshotSmallRow *r = &now->rows[now->n_rows++];
    const int64_t from = k * height / n, to = (k + 1) * height / n;
    r->row = now->event.i * plan->tiling.B_r + (large >= from && large < to ? large : from);
    r->factor = NAN;
    Walk w = walk_new(stage, r->row);
    w.cache = stage->rows[k];
    w.n_O = 0;
    if (g->n_laps > 1)
      fill_small_standard(&w, now, r);
    else
      fill_small(&w, now, now->event.split * plan->tiles_per_split, r);
  }
}
