#include "viz/scene/prefix.h"

#include <string.h>

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- Closed forms -------------------------------------------------------------------------------------- */

typedef struct {
  const Plan *plan;
  int64_t n;          /* whole outer iterations */
  int64_t k;          /* whole inner iterations of the next one; -1: none, and its head is not complete */
  Wide e, row, stats; /* bytes of an element, of d elements, of the statistics m and l of a row */
  Traffic *t;
} Sum;

static Wide rows_of(const Sum *s, int64_t blocks) {
  return wide(min64(blocks * s->plan->tiling.B_r, s->plan->shape.N_q));
}
static Wide cols_of(const Sum *s, int64_t blocks) {
  return wide(min64(blocks * s->plan->tiling.B_c, s->plan->shape.N_k));
}
static Wide rows_in(const Sum *s, int64_t block) { return rows_of(s, block + 1) - rows_of(s, block); }
static Wide cols_in(const Sum *s, int64_t block) { return cols_of(s, block + 1) - cols_of(s, block); }

static Span cut(Span span, int64_t begin, int64_t end) {
  const Span c = {max64(span.begin, begin), min64(span.end, end)};
  return c.end > c.begin ? c : (Span){0, 0};
}
static Wide length(Span span) { return wide(span.end - span.begin); }

static void add_tiles(Sum *s, Wide computed, Wide full, Wide all) {
  s->t->tiles[TILE_FULL] += full;
  s->t->tiles[TILE_PARTIAL] += computed - full;
  s->t->tiles[TILE_SKIPPED] += all - computed;
}

static void standard_scores(Sum *s) {
  const Plan *p = s->plan;
  const Wide N_k = wide(p->shape.N_k), rows = rows_of(s, s->n), T_c = wide(p->T_c);
  const Wide full = band_count(&p->band, p->tiling.B_r, p->tiling.B_c, s->n).full;
  s->t->read[TENSOR_Q] += rows * s->row;
  if (s->n > 0) s->t->read[TENSOR_K] += N_k * s->row;
  s->t->write[TENSOR_S] += rows * N_k * s->e;
  s->t->flops += 2 * rows * N_k * wide(p->shape.d);
  s->t->tiles[TILE_FULL] += full;
  s->t->tiles[TILE_PARTIAL] += wide(s->n) * T_c - full;
  if (s->k < 0) return;
  const Wide more = rows_in(s, s->n), cols = cols_of(s, s->k);
  const BandRow band = band_row(&p->band, p->tiling.B_r, p->tiling.B_c, s->n);
  const Wide more_full = length(cut(band.full, 0, s->k));
  s->t->read[TENSOR_Q] += more * s->row;
  if (s->n == 0) s->t->read[TENSOR_K] += cols * s->row;
  s->t->write[TENSOR_S] += more * cols * s->e;
  s->t->flops += 2 * more * cols * wide(p->shape.d);
  s->t->tiles[TILE_FULL] += more_full;
  s->t->tiles[TILE_PARTIAL] += wide(s->k) - more_full;
}

static void standard_softmax(Sum *s) {
  const Wide N_k = wide(s->plan->shape.N_k), rows = rows_of(s, s->n);
  s->t->read[TENSOR_S] += rows * N_k * s->e;
  s->t->write[TENSOR_P] += rows * N_k * s->e;
  if (s->k < 0) return;
  const Wide more = rows_in(s, s->n);
  s->t->read[TENSOR_S] += more * cols_of(s, min64(s->k, s->plan->T_c)) * s->e;
  s->t->write[TENSOR_P] += more * cols_of(s, max64(s->k - s->plan->T_c, 0)) * s->e;
}

static void standard_output(Sum *s) {
  const Wide N_k = wide(s->plan->shape.N_k), rows = rows_of(s, s->n), d = wide(s->plan->shape.d);
  s->t->read[TENSOR_P] += rows * N_k * s->e;
  s->t->write[TENSOR_O] += rows * s->row;
  s->t->flops += 2 * rows * N_k * d;
  if (s->n > 0) s->t->read[TENSOR_V] += N_k * s->row;
  if (s->k < 0) return;
  const Wide more = rows_in(s, s->n), cols = cols_of(s, s->k);
  s->t->read[TENSOR_P] += more * cols * s->e;
  if (s->n == 0) s->t->read[TENSOR_V] += cols * s->row;
  s->t->flops += 2 * more * cols * d;
}

static void fa1_start(Sum *s) {
  s->t->write[TENSOR_O] += rows_of(s, s->n) * s->row;
  s->t->write[TENSOR_STATS] += rows_of(s, s->n) * s->stats;
}

static void fa1_rows(Sum *s, Wide rows) {
  s->t->read[TENSOR_Q] += rows * s->row;
  s->t->read[TENSOR_O] += rows * s->row;
  s->t->write[TENSOR_O] += rows * s->row;
  s->t->read[TENSOR_STATS] += rows * s->stats;
  s->t->write[TENSOR_STATS] += rows * s->stats;
}

static void fa1_walk(Sum *s) {
  const Plan *p = s->plan;
  const Wide d = wide(p->shape.d);
  const BandCount c = band_count(&p->keys, p->tiling.B_c, p->tiling.B_r, s->n);
  const Wide keys = cols_of(s, s->n) - cols_of(s, c.n_empty);
  s->t->read[TENSOR_K] += keys * s->row;
  s->t->read[TENSOR_V] += keys * s->row;
  fa1_rows(s, c.cols);
  s->t->flops += 4 * c.area * d;
  add_tiles(s, c.computed, c.full, wide(s->n) * wide(p->T_r));
  if (s->k < 0) return;
  const BandRow band = band_row(&p->keys, p->tiling.B_c, p->tiling.B_r, s->n);
  const Span done = cut(band.computed, 0, s->k);
  const Wide cols = cols_in(s, s->n), rows = rows_of(s, done.end) - rows_of(s, done.begin);
  if (band.computed.end > band.computed.begin) {
    s->t->read[TENSOR_K] += cols * s->row;
    s->t->read[TENSOR_V] += cols * s->row;
  }
  fa1_rows(s, rows);
  s->t->flops += 4 * rows * cols * d;
  add_tiles(s, length(done), length(cut(band.full, 0, s->k)), wide(s->k));
}

/* The tiles [from, to) of row block `i`: K, V, FLOPs and tiles. */
static void fa2_tiles(Sum *s, int64_t i, int64_t from, int64_t to) {
  const Plan *p = s->plan;
  const BandRow band = band_row(&p->band, p->tiling.B_r, p->tiling.B_c, i);
  const Span done = cut(band.computed, from, to);
  const Wide cols = cols_of(s, done.end) - cols_of(s, done.begin);
  s->t->read[TENSOR_K] += cols * s->row;
  s->t->read[TENSOR_V] += cols * s->row;
  s->t->flops += 4 * rows_in(s, i) * cols * wide(p->shape.d);
  add_tiles(s, length(done), length(cut(band.full, from, to)), wide(to - from));
}

/* The first n row blocks: K, V, FLOPs and tiles. Returns the count of the band. */
static BandCount fa2_blocks(Sum *s, int64_t n) {
  const Plan *p = s->plan;
  const BandCount c = band_count(&p->band, p->tiling.B_r, p->tiling.B_c, n);
  s->t->read[TENSOR_K] += c.cols * s->row;
  s->t->read[TENSOR_V] += c.cols * s->row;
  s->t->flops += 4 * c.area * wide(p->shape.d);
  add_tiles(s, c.computed, c.full, wide(n) * wide(p->T_c));
  return c;
}

static void fa2_walk(Sum *s) {
  const Plan *p = s->plan;
  const BandCount c = fa2_blocks(s, s->n);
  s->t->read[TENSOR_Q] += (rows_of(s, s->n) - rows_of(s, c.n_empty)) * s->row;
  s->t->write[TENSOR_O] += rows_of(s, s->n) * s->row;
  if (p->tiling.lse) s->t->write[TENSOR_STATS] += rows_of(s, s->n) * STATS_BYTES;
  if (s->k < 0) return;
  const BandRow band = band_row(&p->band, p->tiling.B_r, p->tiling.B_c, s->n);
  if (band.computed.end > band.computed.begin) s->t->read[TENSOR_Q] += rows_in(s, s->n) * s->row;
  fa2_tiles(s, s->n, 0, s->k);
}

enum { PARTIAL_BYTES = 4 }; /* fa2-split keeps partial results of O in fp32 */

static void split_walk(Sum *s) {
  const Plan *p = s->plan;
  const int64_t n_splits = p->tiling.n_splits, i = s->n / n_splits, split = s->n % n_splits;
  const int64_t split_cols = p->tiles_per_split * p->tiling.B_c;
  const bool combines = n_splits > 1, in_row = i < p->T_r;
  const Wide O_row = combines ? wide(p->shape.d) * PARTIAL_BYTES : s->row;
  const int64_t whole = min64(i, p->shape.N_q / p->tiling.B_r); /* blocks of B_r rows */
  const Wide seen_whole = band_count(&p->band, p->tiling.B_r, split_cols, whole).computed;
  const Wide seen = band_count(&p->band, p->tiling.B_r, split_cols, i).computed;
  const int64_t begin = min64(split * p->tiles_per_split, p->T_c);
  fa2_blocks(s, i);
  Wide Q_rows = seen_whole * wide(p->tiling.B_r), O_rows = rows_of(s, i) * wide(n_splits);
  if (i > whole) Q_rows += (seen - seen_whole) * rows_in(s, whole);
  if (in_row) {
    const Span sees = band_row(&p->band, p->tiling.B_r, split_cols, i).computed;
    const bool head = s->k >= 0 && split >= sees.begin && split < sees.end;
    fa2_tiles(s, i, 0, begin + max64(s->k, 0));
    Q_rows += (length(cut(sees, 0, split)) + head) * rows_in(s, i);
    O_rows += rows_in(s, i) * wide(split);
  }
  s->t->read[TENSOR_Q] += Q_rows * s->row;
  s->t->write[TENSOR_O] += O_rows * O_row;
  if (combines || p->tiling.lse) s->t->write[TENSOR_STATS] += O_rows * STATS_BYTES;
}

static void split_combine(Sum *s) {
  const Plan *p = s->plan;
  const Wide rows = rows_of(s, s->n), parts = rows * wide(p->tiling.n_splits);
  s->t->read[TENSOR_STATS] += parts * STATS_BYTES;
  s->t->read[TENSOR_O] += parts * wide(p->shape.d) * PARTIAL_BYTES;
  s->t->write[TENSOR_O] += rows * s->row;
  if (p->tiling.lse) s->t->write[TENSOR_STATS] += rows * STATS_BYTES;
}

static const struct {
  const char *schedule;
  void (*pass[3])(Sum *sum);
} FORMS[] = {
    {"standard", {standard_scores, standard_softmax, standard_output}},
    {"fa1", {fa1_start, fa1_walk}},
    {"fa2", {fa2_walk}},
    {"fa2-split", {split_walk, split_combine}},
};

bool prefix_at(const Schedule *schedule, const Plan *plan, int pass, int64_t outer, int64_t inner, Traffic *traffic) {
  memset(traffic, 0, sizeof *traffic);
  for (size_t k = 0; k < sizeof FORMS / sizeof *FORMS; k++) {
    if (strcmp(FORMS[k].schedule, schedule->name) != 0) continue;
    Sum sum = {.plan = plan, .e = wide(plan->element_bytes), .stats = 2 * STATS_BYTES, .t = traffic};
    sum.row = wide(plan->shape.d) * sum.e;
    for (int p = 0; p <= pass && p < schedule->n_passes; p++) {
      sum.n = p < pass ? schedule->outer_count(plan, p) : outer;
      sum.k = p < pass ? -1 : inner;
      if (sum.n > 0 || sum.k >= 0) FORMS[k].pass[p](&sum);
    }
    return true;
  }
  return false;
}

static void fold(const Schedule *s, const Plan *plan, Cursor cursor, uint64_t step, Traffic *traffic) {
  Event event;
  while (cursor.step < step && schedule_next(s, plan, &cursor, &event)) traffic_add(traffic, &event);
}

void prefix_traffic(const Schedule *s, const Plan *plan, uint64_t step, Traffic *traffic) {
  SchedulePlace place;
  schedule_place(s, plan, step, &place);
  if (prefix_at(s, plan, place.pass, place.outer, place.inner, traffic)) {
    traffic->steps = place.boundary;
    fold(s, plan, place.cursor, place.step, traffic);
  } else {
    memset(traffic, 0, sizeof *traffic);
    fold(s, plan, (Cursor){0}, place.step, traffic);
  }
}

static Wide moved(const Schedule *s, const Plan *plan, uint64_t step) {
  Traffic traffic;
  bool overflow = false;
  prefix_traffic(s, plan, step, &traffic);
  return traffic_read_bytes(&traffic, &overflow) + traffic_write_bytes(&traffic, &overflow);
}

uint64_t prefix_step_of_bytes(const Schedule *s, const Plan *plan, uint64_t n_steps, Wide bytes) {
  if (moved(s, plan, n_steps) <= bytes) return n_steps;
  uint64_t low = 0, high = n_steps; /* low moves no more than `bytes`, high does */
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (moved(s, plan, middle) <= bytes)
      low = middle;
    else
      high = middle;
  }
  return low;
}
