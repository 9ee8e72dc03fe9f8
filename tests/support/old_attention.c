#include "tests/support/old_attention.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/base/random.h"

enum { STATS_PER_ROW = 2 };

static double *part(OldAttention *a, OldPart which) { return (double *)(void *)((char *)a + a->offset[which]); }

static const double *const_part(const OldAttention *a, OldPart which) {
  return (const double *)(const void *)((const char *)a + a->offset[which]);
}

static OldRow *row_of(OldAttention *a, int64_t row) {
  return (OldRow *)(void *)part(a, AT_SRAM_ROWS) + (row - a->rows.begin);
}

/* Rows of the parts, by their number in the whole matrix. */

static double *O_row(OldAttention *a, int64_t row) {
  return part(a, AT_SRAM_O) + (row - a->rows.begin) * a->plan.shape.d;
}
static double *O_loaded_row(OldAttention *a, int64_t row) {
  return part(a, AT_SRAM_O_LOADED) + (row - a->rows.begin) * a->plan.shape.d;
}
/* Whether a load or store of O or statistics is about a part that the last pass combines. */
static bool is_of_part(const OldAttention *a, const Event *e) {
  return a->n_parts > 0 && (e->kind == EVENT_LOAD || e->pass < a->last_pass);
}

static double *O_in_hbm(OldAttention *a, const Event *e, int64_t row) {
  const int64_t d = a->plan.shape.d;
  if (!is_of_part(a, e)) return part(a, AT_O) + row * d;
  return part(a, AT_PART_O) + (e->split * a->plan.shape.N_q + row) * d;
}
static double *stats_in_hbm(OldAttention *a, const Event *e, int64_t row) {
  if (!is_of_part(a, e)) return part(a, AT_STATS) + row * STATS_PER_ROW;
  return part(a, AT_PART_LSE) + e->split * a->plan.shape.N_q + row;
}
static double *lse_in_sram(OldAttention *a, int64_t row, int64_t split) {
  return part(a, AT_SRAM_LSE) + split * a->B_r + (row - a->rows.begin);
}

/* SRAM holds the S of one tile; of a whole row of tiles where S is kept in HBM. */
static int64_t S_width(const OldAttention *a) { return a->length[AT_S] ? a->plan.shape.N_k : a->B_c; }
static int64_t S_first(const OldAttention *a) { return a->length[AT_S] ? 0 : a->S_cols.begin; }
static double *S_at(OldAttention *a, int64_t row, int64_t col) {
  return part(a, AT_SRAM_S) + (row - a->rows.begin) * S_width(a) + (col - S_first(a));
}
static double *P_at(OldAttention *a, int64_t row, int64_t col) {
  return part(a, AT_SRAM_P) + (row - a->rows.begin) * a->B_c + (col - a->P_cols.begin);
}
static double *score_in_hbm(OldAttention *a, OldPart which, int64_t row, int64_t col) {
  return part(a, which) + row * a->plan.shape.N_k + col;
}

static Precision accumulator_of(const OldAttention *a) { return precision_accumulator(a->config.softmax.precision); }

/* ---- the block of memory ---- */

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number of parts of O that the schedule keeps in HBM, to be combined at its end: the splits, if its
 * extra storage there holds an O and a log-sum-exp in fp32 for each of them and is not that of S and P. */
static int64_t count_parts(const Plan *plan, const Schedule *schedule) {
  const int64_t n_splits = plan->tiling.n_splits;
  Traffic traffic = {0};
  bool overflow = false;
  schedule_traffic(schedule, plan, &traffic, &overflow);
  const Wide extra_bytes = schedule_intermediate_bytes(schedule, plan, &overflow);
  const Wide part_bytes = (Wide)plan->shape.N_q * ((Wide)plan->shape.d + 1) * STATS_BYTES;
  const bool combines = n_splits > 1 && !traffic.write[TENSOR_S] && extra_bytes >= (Wide)n_splits * part_bytes;
  return combines ? n_splits : 0;
}

/* The lengths of all parts, in numbers. What the schedule writes to HBM is what HBM must hold. */
static void part_lengths(const Plan *plan, const Schedule *schedule, Wide length[AT_COUNT], bool *overflow) {
  Traffic traffic = {0};
  schedule_traffic(schedule, plan, &traffic, overflow);
  const Wide N_q = (Wide)plan->shape.N_q, N_k = (Wide)plan->shape.N_k, d = (Wide)plan->shape.d;
  const Wide B_r = (Wide)smaller(plan->tiling.B_r, plan->shape.N_q);
  const Wide B_c = (Wide)smaller(plan->tiling.B_c, plan->shape.N_k);
  const Wide n_parts = (Wide)count_parts(plan, schedule);
  const Wide scores = checked_mul(N_q, N_k, overflow);
  length[AT_Q] = N_q * d;
  length[AT_K] = length[AT_V] = N_k * d;
  length[AT_O] = N_q * d;
  length[AT_STATS] = N_q * STATS_PER_ROW;
  length[AT_PART_O] = N_q * d * n_parts; /* at most 2^40 x 2^16 x 2^16 */
  length[AT_PART_LSE] = N_q * n_parts;
  length[AT_S] = traffic.write[TENSOR_S] ? scores : 0;
  length[AT_P] = traffic.write[TENSOR_P] ? scores : 0;
  length[AT_SRAM_S] = B_r * (length[AT_S] ? N_k : B_c);
  length[AT_SRAM_P] = B_r * B_c;
  length[AT_SRAM_O] = length[AT_SRAM_O_LOADED] = B_r * d;
  length[AT_SRAM_LSE] = B_r * n_parts;
  length[AT_SRAM_ROWS] = B_r * (sizeof(OldRow) / sizeof(double));
}

static Status lay_out(const Plan *plan, const Schedule *schedule, OldAttention *a, Error *error) {
  bool overflow = false;
  Wide length[AT_COUNT], total = sizeof *a;
  part_lengths(plan, schedule, length, &overflow);
  for (int which = 0; which < AT_COUNT; which++) {
    a->length[which] = (size_t)length[which];
    a->offset[which] = (size_t)total;
    total = checked_add(total, checked_mul(length[which], sizeof(double), &overflow), &overflow);
  }
  if (overflow || total > ATTENTION_MAX_BYTES)
    return error_set(error, STATUS_TOO_LARGE,
                     "following %s with real numbers at N_q = %" PRId64 ", N_k = %" PRId64 ", d = %" PRId64
                     " needs more than %d GiB; use a smaller N",
                     schedule->name, plan->shape.N_q, plan->shape.N_k, plan->shape.d, (int)(ATTENTION_MAX_BYTES >> 30));
  a->bytes = (size_t)total;
  return STATUS_OK;
}

Status old_attention_bytes(const Plan *plan, const Schedule *schedule, size_t *bytes, Error *error) {
  OldAttention layout = {0};
  Status status = lay_out(plan, schedule, &layout, error);
  if (!status) *bytes = layout.bytes;
  return status;
}

Status old_attention_start(void *memory, const Plan *plan, const Schedule *schedule, const AttentionConfig *config,
                           OldAttention **attention, Error *error) {
  OldAttention header = {.config = *config, .plan = *plan, .i = -1};
  Status status = lay_out(plan, schedule, &header, error);
  if (status) return status;
  memset(memory, 0, header.bytes);
  OldAttention *a = memory;
  *a = header;
  const Precision accumulator = precision_accumulator(config->softmax.precision);
  const double scale = config->scale != 0 ? config->scale : 1 / sqrt((double)plan->shape.d);
  a->scale = precision_computed(accumulator, scale);
  a->B_r = smaller(plan->tiling.B_r, plan->shape.N_q);
  a->B_c = smaller(plan->tiling.B_c, plan->shape.N_k);
  a->n_parts = count_parts(plan, schedule);
  a->last_pass = schedule->n_passes - 1;
  const OldPart written[] = {AT_O, AT_STATS, AT_PART_O, AT_PART_LSE, AT_S, AT_P};
  for (size_t w = 0; w < sizeof written / sizeof *written; w++)
    for (size_t k = 0; k < a->length[written[w]]; k++) part(a, written[w])[k] = NAN;
  *attention = a;
  return STATUS_OK;
}

/* ---- inputs ---- */

static OldPart input_part(Tensor tensor) { return tensor == TENSOR_Q ? AT_Q : tensor == TENSOR_K ? AT_K : AT_V; }

void old_attention_fill(OldAttention *a, InputKind kind, uint64_t seed, int64_t batch, int64_t head) {
  const Shape *shape = &a->plan.shape;
  const int64_t kv_head = head / (shape->heads / shape->kv_heads);
  const Tensor inputs[] = {TENSOR_Q, TENSOR_K, TENSOR_V};
  for (int t = 0; t < 3; t++) {
    const int64_t matrix = batch * shape->heads + (inputs[t] == TENSOR_Q ? head : kv_head);
    const uint64_t stream = (uint64_t)matrix * 4 + (uint64_t)inputs[t];
    const OldPart which = input_part(inputs[t]);
    for (size_t k = 0; k < a->length[which]; k++) {
      double value = kind == INPUT_OUTLIERS ? random_outlier(seed, stream, k) : random_normal(seed, stream, k);
      part(a, which)[k] = precision_round(a->config.softmax.precision, value);
    }
  }
}

/* ---- looking at it ---- */

static OldView nothing(void) { return (OldView){0}; }

static int64_t width(Span span) { return span.end - span.begin; }

/* Rows `rows` of an input, all of its columns. */
static OldView input_view(const OldAttention *a, Tensor tensor, Span rows) {
  const int64_t d = a->plan.shape.d;
  if (width(rows) <= 0) return nothing();
  return (OldView){const_part(a, input_part(tensor)) + rows.begin * d, rows, {0, d}, d};
}

OldView old_attention_in_hbm(const OldAttention *a, Tensor tensor) {
  const Shape *shape = &a->plan.shape;
  const Span queries = {0, shape->N_q}, keys = {0, shape->N_k};
  switch (tensor) {
  case TENSOR_Q: return input_view(a, tensor, queries);
  case TENSOR_K:
  case TENSOR_V: return input_view(a, tensor, keys);
  case TENSOR_S:
  case TENSOR_P: {
    const OldPart which = tensor == TENSOR_S ? AT_S : AT_P;
    if (!a->length[which]) return nothing();
    return (OldView){const_part(a, which), queries, keys, shape->N_k};
  }
  case TENSOR_O: return (OldView){const_part(a, AT_O), queries, {0, shape->d}, shape->d};
  default: return (OldView){const_part(a, AT_STATS), queries, {0, STATS_PER_ROW}, STATS_PER_ROW};
  }
}

OldView old_attention_part_in_hbm(const OldAttention *a, Tensor tensor, int64_t split) {
  const Shape *shape = &a->plan.shape;
  const Span queries = {0, shape->N_q};
  if (split < 0 || split >= a->n_parts) return nothing();
  if (tensor == TENSOR_STATS) return (OldView){const_part(a, AT_PART_LSE) + split * shape->N_q, queries, {0, 1}, 1};
  if (tensor != TENSOR_O) return nothing();
  const double *values = const_part(a, AT_PART_O) + split * shape->N_q * shape->d;
  return (OldView){values, queries, {0, shape->d}, shape->d};
}

/* ---- what an event may rely on ---- */

static bool covers(Span span, int64_t begin, int64_t end) { return span.begin <= begin && end <= span.end; }

/* Events without columns, in the middle of the stream, belong to fa2-split's combine pass. */
static bool combines(const Event *e) { return e->col0 == e->col1; }

/* Numbers a row that a load or store of statistics moves: m and l, or the log-sum-exp. */
static uint64_t stats_per_row(const Event *e) {
  return e->row1 > e->row0 ? e->bytes / ((uint64_t)(e->row1 - e->row0) * STATS_BYTES) : 0;
}

/* A load of K or V that serves several row blocks. */
static bool is_for_all_rows(const Event *e) {
  return e->i < 0 && e->kind == EVENT_LOAD && (e->tensor == TENSOR_K || e->tensor == TENSOR_V);
}

static const char *wrong_ranges(const OldAttention *a, const Event *e) {
  if (e->row0 < 0 || e->row1 < e->row0 || e->row1 > a->plan.shape.N_q || e->row1 - e->row0 > a->B_r)
    return "its rows are not those of a tile";
  if (e->col0 < 0 || e->col1 < e->col0 || e->col1 > a->plan.shape.N_k || e->col1 - e->col0 > a->B_c)
    return "its columns are not those of a tile";
  if (e->split > 0 && e->split >= a->n_parts) return "there is no such split";
  if (e->i < 0 && !is_for_all_rows(e)) return "it belongs to no row block";
  return NULL;
}

/* A part has its log-sum-exp; a whole O that too, for training, or m and l, and only these come back. */
static bool has_statistics(const OldAttention *a, const Event *e) {
  if (is_of_part(a, e)) return stats_per_row(e) == 1;
  return stats_per_row(e) == STATS_PER_ROW || (stats_per_row(e) == 1 && e->kind == EVENT_STORE);
}

static const char *wrong_move(const OldAttention *a, const Event *e) {
  if (e->kind != EVENT_LOAD && e->kind != EVENT_STORE) return NULL;
  if (e->kind == EVENT_STORE && e->tensor <= TENSOR_V) return "an input is never stored";
  if (e->tensor == TENSOR_S && !a->length[AT_S]) return "this schedule keeps no S in HBM";
  if (e->tensor == TENSOR_P && !a->length[AT_P]) return "this schedule keeps no P in HBM";
  if (e->tensor == TENSOR_STATS && !has_statistics(a, e))
    return "it moves another number of statistics a row than there are";
  return NULL;
}

static bool begins_anew(const OldAttention *a, const Event *e) {
  if (is_for_all_rows(e)) return false;
  if (e->pass != a->pass || e->i != a->i) return true;
  if (e->kind == EVENT_LOAD && e->tensor == TENSOR_Q) return true;
  return a->O_stored && e->kind != EVENT_STORE;
}

/* What a load should have brought before, so that no event computes with leftovers. */
static const char *missing(const OldAttention *a, const Event *e) {
  const bool continues = !begins_anew(a, e);
  const bool S_here = continues && covers(a->S_cols, e->col0, e->col1);
  const bool P_here = continues && covers(a->P_cols, e->col0, e->col1);
  const bool needs_S = e->kind == EVENT_MASK || (e->kind == EVENT_NEW_MAX && !combines(e)) ||
                       (e->kind == EVENT_NORMALISE && e->tensor == TENSOR_P) ||
                       (e->kind == EVENT_STORE && e->tensor == TENSOR_S);
  if (continues && !is_for_all_rows(e) && !covers(a->rows, e->row0, e->row1)) return "its rows are not those in SRAM";
  if (e->kind == EVENT_NEW_MAX && combines(e) && !a->n_parts) return "it has no columns";
  if (needs_S && !S_here) return "its scores are not in SRAM";
  if (e->kind == EVENT_STORE && e->tensor == TENSOR_P && !P_here) return "its P is not in SRAM";
  if (e->kind == EVENT_PRODUCT) {
    if (!covers(a->Q_rows, e->row0, e->row1)) return "its rows of Q are not in SRAM";
    if (!covers(a->K_cols, e->col0, e->col1)) return "its rows of K are not in SRAM";
  }
  if (e->kind != EVENT_ACCUMULATE) return NULL;
  if (combines(e)) return continues && a->n_parts && a->O_loaded ? NULL : "its part of O is not in SRAM";
  if (!S_here && !(P_here && a->P_loaded)) return "neither its scores nor its P are in SRAM";
  return covers(a->V_cols, e->col0, e->col1) ? NULL : "its rows of V are not in SRAM";
}

static Status check(const OldAttention *a, const Event *e, Error *error) {
  if (e->kind >= EVENT_KIND_COUNT || e->tensor >= TENSOR_COUNT)
    return error_set(error, STATUS_BAD_REQUEST,
                     "event %" PRIu64 " is of kind %d about tensor %d; they end at %d and %d", e->step, e->kind,
                     e->tensor, EVENT_KIND_COUNT - 1, TENSOR_COUNT - 1);
  const char *why = wrong_ranges(a, e);
  if (!why) why = wrong_move(a, e);
  if (!why) why = missing(a, e);
  if (!why) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "event %" PRIu64 " (%s %s, tile %" PRId64 ", %" PRId64 "): %s", e->step,
                   event_kind_name((EventKind)e->kind), tensor_name((Tensor)e->tensor), e->i, e->j, why);
}

/* A new row block, or the same one begun anew: nothing is accumulated yet. */
static void begin_rows(OldAttention *a, const Event *e) {
  const double m = softmax_start(&a->config.softmax).m;
  a->pass = e->pass;
  a->i = e->i;
  a->rows = (Span){e->row0, e->row1};
  a->S_cols = a->P_cols = (Span){0, 0};
  a->P_loaded = a->O_loaded = a->O_stored = a->sum_is_due = false;
  memset(part(a, AT_SRAM_O), 0, a->length[AT_SRAM_O] * sizeof(double));
  for (size_t k = 0; k < a->length[AT_SRAM_LSE]; k++) part(a, AT_SRAM_LSE)[k] = NAN; /* not loaded */
  for (int64_t row = e->row0; row < e->row1; row++) *row_of(a, row) = (OldRow){.m_old = m, .m = m};
}

/* ---- the events ---- */

/* Tiles of K and V replace each other, except where a pass over matrices in HBM is supposed to keep all
 * it has loaded (sim/algorithms/schedule_standard.c says so). */
static Span loaded_columns(const OldAttention *a, Span before, const Event *e) {
  const bool keeps = a->length[AT_S] && before.end == e->col0;
  return (Span){keeps ? before.begin : e->col0, e->col1};
}

static void load_scores(OldAttention *a, const Event *e) {
  const bool is_S = e->tensor == TENSOR_S;
  if (is_S)
    a->S_cols = loaded_columns(a, a->S_cols, e);
  else
    a->P_cols = (Span){e->col0, e->col1};
  a->P_loaded = !is_S;
  for (int64_t row = e->row0; row < e->row1; row++)
    memcpy(is_S ? S_at(a, row, e->col0) : P_at(a, row, e->col0), score_in_hbm(a, is_S ? AT_S : AT_P, row, e->col0),
           (size_t)(e->col1 - e->col0) * sizeof(double));
}

static void load_statistics(OldAttention *a, const Event *e) {
  for (int64_t row = e->row0; row < e->row1; row++) {
    const double *stats = stats_in_hbm(a, e, row);
    if (stats_per_row(e) == 1) {
      *lse_in_sram(a, row, e->split) = stats[0];
      continue;
    }
    row_of(a, row)->m = stats[0];
    row_of(a, row)->l = stats[1];
  }
}

static void apply_load(OldAttention *a, const Event *e) {
  switch (e->tensor) {
  case TENSOR_Q: a->Q_rows = (Span){e->row0, e->row1}; break;
  case TENSOR_K: a->K_cols = loaded_columns(a, a->K_cols, e); break;
  case TENSOR_V: a->V_cols = loaded_columns(a, a->V_cols, e); break;
  case TENSOR_STATS: load_statistics(a, e); break;
  case TENSOR_O:
    a->O_loaded = true;
    for (int64_t row = e->row0; row < e->row1; row++)
      memcpy(O_loaded_row(a, row), O_in_hbm(a, e, row), (size_t)a->plan.shape.d * sizeof(double));
    break;
  default: load_scores(a, e); break;
  }
}

static void apply_product(OldAttention *a, const Event *e) {
  const Precision accumulator = accumulator_of(a);
  const int64_t d = a->plan.shape.d;
  a->S_cols = (Span){e->col0, e->col1};
  a->P_cols = (Span){0, 0};
  a->P_loaded = false;
  for (int64_t row = e->row0; row < e->row1; row++)
    for (int64_t col = e->col0; col < e->col1; col++) {
      const double *q = part(a, AT_Q) + row * d, *k = part(a, AT_K) + col * d;
      double sum = 0;
      for (int64_t c = 0; c < d; c++) sum = precision_multiply_add(accumulator, q[c], k[c], sum);
      *S_at(a, row, col) = precision_computed(accumulator, sum * a->scale);
    }
}

static void apply_mask(OldAttention *a, const Event *e) {
  for (int64_t row = e->row0; row < e->row1; row++) {
    const Span seen = band_columns(&a->plan.band, row);
    for (int64_t col = e->col0; col < e->col1; col++)
      if (col < seen.begin || col >= seen.end) *S_at(a, row, col) = -INFINITY;
  }
}

static void apply_new_max(OldAttention *a, const Event *e) {
  a->sum_is_due = true;
  for (int64_t row = e->row0; row < e->row1; row++) {
    OldRow *r = row_of(a, row);
    double largest = combines(e) ? *lse_in_sram(a, row, e->split) : -INFINITY;
    for (int64_t col = e->col0; col < e->col1; col++) largest = fmax(largest, *S_at(a, row, col));
    r->m_old = r->m;
    r->m = softmax_new_max(&a->config.softmax, r->m, largest);
  }
}

static void apply_rescale(OldAttention *a, const Event *e) {
  const Precision accumulator = accumulator_of(a);
  for (int64_t row = e->row0; row < e->row1; row++) {
    OldRow *r = row_of(a, row);
    double *O = O_row(a, row);
    const double *loaded = O_loaded_row(a, row);
    r->factor = softmax_factor(&a->config.softmax, r->m_old, r->m);
    r->l_old = r->l;
    r->l = r->l_scaled = precision_computed(accumulator, r->l * r->factor);
    for (int64_t c = 0; c < a->plan.shape.d; c++) /* O from HBM was divided by l_old */
      O[c] = precision_computed(accumulator, a->O_loaded ? loaded[c] * r->l : O[c] * r->factor);
  }
  a->O_loaded = false;
}

/* P = e^(S - m), rounded as the product with V takes it; l adds it before the rounding. */
static void exponentials(OldAttention *a, const Event *e, int64_t row) {
  const SoftmaxConfig *config = &a->config.softmax;
  const Precision accumulator = accumulator_of(a);
  OldRow *r = row_of(a, row);
  r->block_sum = 0;
  for (int64_t col = e->col0; col < e->col1; col++) {
    const double exponential = softmax_exponential(config, *S_at(a, row, col), r->m);
    r->block_sum = precision_computed(accumulator, r->block_sum + exponential);
    *P_at(a, row, col) = precision_round(config->precision, exponential);
  }
  r->l = precision_computed(accumulator, r->l + r->block_sum);
}

/* fa2-split: O += e^(lse - m) x the part that was loaded. */
static void add_part(OldAttention *a, const Event *e, int64_t row) {
  const Precision accumulator = accumulator_of(a);
  OldRow *r = row_of(a, row);
  const double *loaded = O_loaded_row(a, row);
  double *O = O_row(a, row);
  r->block_sum = softmax_exponential(&a->config.softmax, *lse_in_sram(a, row, e->split), r->m);
  r->l = precision_computed(accumulator, r->l + r->block_sum);
  for (int64_t c = 0; c < a->plan.shape.d; c++)
    O[c] = precision_multiply_add(accumulator, r->block_sum, loaded[c], O[c]);
}

static void apply_accumulate(OldAttention *a, const Event *e) {
  const Precision accumulator = accumulator_of(a);
  const int64_t d = a->plan.shape.d;
  if (!combines(e) && !a->P_loaded) a->P_cols = (Span){e->col0, e->col1};
  for (int64_t row = e->row0; row < e->row1; row++) {
    if (combines(e)) {
      add_part(a, e, row);
      continue;
    }
    if (!a->P_loaded) exponentials(a, e, row);
    double *O = O_row(a, row);
    for (int64_t col = e->col0; col < e->col1; col++) {
      const double p = *P_at(a, row, col), *v = part(a, AT_V) + col * d;
      for (int64_t c = 0; c < d; c++) O[c] = precision_multiply_add(accumulator, p, v[c], O[c]);
    }
  }
  a->O_loaded = false;
}

/* standard: the sum of a row whose scores are all in SRAM. */
static void sum_row(OldAttention *a, int64_t row) {
  const Precision accumulator = accumulator_of(a);
  OldRow *r = row_of(a, row);
  r->l = 0;
  for (int64_t col = a->S_cols.begin; col < a->S_cols.end; col++)
    r->l = precision_computed(accumulator, r->l + softmax_exponential(&a->config.softmax, *S_at(a, row, col), r->m));
}

static void apply_normalise(OldAttention *a, const Event *e) {
  const SoftmaxConfig *config = &a->config.softmax;
  if (e->tensor == TENSOR_P) a->P_cols = (Span){e->col0, e->col1};
  for (int64_t row = e->row0; row < e->row1; row++) {
    OldRow *r = row_of(a, row);
    if (e->tensor == TENSOR_P) {
      if (a->sum_is_due) sum_row(a, row);
      for (int64_t col = e->col0; col < e->col1; col++)
        *P_at(a, row, col) = softmax_divide(config, softmax_exponential(config, *S_at(a, row, col), r->m), r->l);
      continue;
    }
    double *O = O_row(a, row);
    for (int64_t c = 0; c < a->plan.shape.d; c++) O[c] = softmax_divide(config, O[c], r->l);
  }
  a->sum_is_due = false;
}

static void store_scores(OldAttention *a, const Event *e) {
  const bool is_S = e->tensor == TENSOR_S;
  for (int64_t row = e->row0; row < e->row1; row++)
    for (int64_t col = e->col0; col < e->col1; col++)
      *score_in_hbm(a, is_S ? AT_S : AT_P, row, col) =
          precision_round(a->config.softmax.precision, is_S ? *S_at(a, row, col) : *P_at(a, row, col));
}

/* The natural logarithm of the sum of exponentials of a row; base 2 when those are powers of two. */
static double log_sum_exp(const OldAttention *a, const OldRow *r) {
  if (r->l == 0) return -INFINITY;
  const Precision accumulator = accumulator_of(a);
  const double log_l = a->config.softmax.powers_of_two ? log2(r->l) : log(r->l);
  return precision_computed(accumulator, r->m + precision_computed(accumulator, log_l));
}

static void store_statistics(OldAttention *a, const Event *e) {
  for (int64_t row = e->row0; row < e->row1; row++) {
    double *stats = stats_in_hbm(a, e, row);
    const OldRow *r = row_of(a, row);
    stats[0] = stats_per_row(e) == 1 ? log_sum_exp(a, r) : r->m;
    if (stats_per_row(e) == 2) stats[1] = r->l;
  }
}

/* Results are stored in the element type, parts to be combined as they were accumulated. */
static void store_O(OldAttention *a, const Event *e) {
  const Precision stored = is_of_part(a, e) ? accumulator_of(a) : a->config.softmax.precision;
  a->O_stored = true;
  for (int64_t row = e->row0; row < e->row1; row++)
    for (int64_t c = 0; c < a->plan.shape.d; c++) O_in_hbm(a, e, row)[c] = precision_round(stored, O_row(a, row)[c]);
}

static void apply_store(OldAttention *a, const Event *e) {
  switch (e->tensor) {
  case TENSOR_O: store_O(a, e); break;
  case TENSOR_STATS: store_statistics(a, e); break;
  default: store_scores(a, e); break;
  }
}

static void apply_skip(OldAttention *a, const Event *e) {
  (void)a;
  (void)e;
}

/* ---- */

Status old_attention_apply(OldAttention *a, const Event *e, Error *error) {
  static void (*const APPLY[EVENT_KIND_COUNT])(OldAttention *, const Event *) = {
      [EVENT_LOAD] = apply_load,       [EVENT_PRODUCT] = apply_product,     [EVENT_MASK] = apply_mask,
      [EVENT_NEW_MAX] = apply_new_max, [EVENT_RESCALE] = apply_rescale,     [EVENT_ACCUMULATE] = apply_accumulate,
      [EVENT_SKIP] = apply_skip,       [EVENT_NORMALISE] = apply_normalise, [EVENT_STORE] = apply_store,
  };
  Status status = check(a, e, error);
  if (status) return status;
  if (begins_anew(a, e)) begin_rows(a, e);
  APPLY[e->kind](a, e);
  a->n_applied++;
  return STATUS_OK;
}

Status old_attention_walk(OldAttention *a, const Schedule *schedule, Cursor *cursor, uint64_t n, Error *error) {
  Event event;
  for (; n > 0; n--) {
    Cursor next = *cursor;
    if (!schedule_next(schedule, &a->plan, &next, &event)) break;
    Status status = old_attention_apply(a, &event, error);
    if (status) return status;
    *cursor = next;
  }
  return STATUS_OK;
}
