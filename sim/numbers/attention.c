#include "sim/numbers/attention.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/numbers/attention_parts.h"
#include "sim/base/random.h"

Precision attention_precision(Dtype dtype) {
  switch (dtype) {
  case DTYPE_FP16: return PRECISION_FP16;
  case DTYPE_BF16: return PRECISION_BF16;
  case DTYPE_FP8: return PRECISION_E4M3;
  default: return PRECISION_FP32;
  }
}

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
  length[AT_SRAM_ROWS] = B_r * (sizeof(AttentionRow) / sizeof(double));
}

static Status lay_out(const Plan *plan, const Schedule *schedule, Attention *a, Error *error) {
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

Status attention_bytes(const Plan *plan, const Schedule *schedule, size_t *bytes, Error *error) {
  Attention layout = {0};
  Status status = lay_out(plan, schedule, &layout, error);
  if (!status) *bytes = layout.bytes;
  return status;
}

Status attention_start(void *memory, const Plan *plan, const Schedule *schedule, const AttentionConfig *config,
                       Attention **attention, Error *error) {
  Attention header = {.config = *config, .plan = *plan, .i = -1};
  Status status = lay_out(plan, schedule, &header, error);
  if (status) return status;
  memset(memory, 0, header.bytes);
  Attention *a = memory;
  *a = header;
  const Precision accumulator = precision_accumulator(config->softmax.precision);
  const double scale = config->scale != 0 ? config->scale : 1 / sqrt((double)plan->shape.d);
  a->scale = precision_computed(accumulator, scale);
  a->B_r = smaller(plan->tiling.B_r, plan->shape.N_q);
  a->B_c = smaller(plan->tiling.B_c, plan->shape.N_k);
  a->n_parts = count_parts(plan, schedule);
  a->last_pass = schedule->n_passes - 1;
  const AttentionPart written[] = {AT_O, AT_STATS, AT_PART_O, AT_PART_LSE, AT_S, AT_P};
  for (size_t w = 0; w < sizeof written / sizeof *written; w++)
    for (size_t k = 0; k < a->length[written[w]]; k++) part(a, written[w])[k] = NAN;
  *attention = a;
  return STATUS_OK;
}

/* ---- inputs ---- */

static AttentionPart input_part(Tensor tensor) { return tensor == TENSOR_Q ? AT_Q : tensor == TENSOR_K ? AT_K : AT_V; }

void attention_set_input(Attention *a, Tensor tensor, const double *values) {
  const AttentionPart which = input_part(tensor);
  for (size_t k = 0; k < a->length[which]; k++)
    part(a, which)[k] = precision_round(a->config.softmax.precision, values[k]);
}

void attention_fill(Attention *a, InputKind kind, uint64_t seed, int64_t batch, int64_t head) {
  const Shape *shape = &a->plan.shape;
  const int64_t kv_head = head / (shape->heads / shape->kv_heads);
  const Tensor inputs[] = {TENSOR_Q, TENSOR_K, TENSOR_V};
  for (int t = 0; t < 3; t++) {
    const int64_t matrix = batch * shape->heads + (inputs[t] == TENSOR_Q ? head : kv_head);
    const uint64_t stream = (uint64_t)matrix * 4 + (uint64_t)inputs[t];
    const AttentionPart which = input_part(inputs[t]);
    for (size_t k = 0; k < a->length[which]; k++) {
      double value = kind == INPUT_OUTLIERS ? random_outlier(seed, stream, k) : random_normal(seed, stream, k);
      part(a, which)[k] = precision_round(a->config.softmax.precision, value);
    }
  }
}

/* ---- looking at it ---- */

static AttentionView nothing(void) { return (AttentionView){0}; }

static int64_t width(Span span) { return span.end - span.begin; }

/* Rows `rows` of an input, all of its columns. */
static AttentionView input_view(const Attention *a, Tensor tensor, Span rows) {
  const int64_t d = a->plan.shape.d;
  if (width(rows) <= 0) return nothing();
  return (AttentionView){const_part(a, input_part(tensor)) + rows.begin * d, rows, {0, d}, d};
}

static AttentionView score_view(const Attention *a, Tensor tensor) {
  const bool is_S = tensor == TENSOR_S;
  const Span cols = is_S ? a->S_cols : a->P_cols;
  if (width(cols) <= 0 || width(a->rows) <= 0) return nothing();
  if (!is_S) return (AttentionView){const_part(a, AT_SRAM_P), a->rows, cols, a->B_c};
  const int64_t skipped = cols.begin - S_first(a);
  return (AttentionView){const_part(a, AT_SRAM_S) + skipped, a->rows, cols, S_width(a)};
}

AttentionView attention_in_sram(const Attention *a, Tensor tensor) {
  const int64_t d = a->plan.shape.d;
  switch (tensor) {
  case TENSOR_Q: return input_view(a, tensor, a->Q_rows);
  case TENSOR_K: return input_view(a, tensor, a->K_cols);
  case TENSOR_V: return input_view(a, tensor, a->V_cols);
  case TENSOR_S:
  case TENSOR_P: return score_view(a, tensor);
  case TENSOR_O:
    if (width(a->rows) <= 0) return nothing();
    return (AttentionView){const_part(a, AT_SRAM_O), a->rows, {0, d}, d};
  default: return nothing();
  }
}

AttentionView attention_in_hbm(const Attention *a, Tensor tensor) {
  const Shape *shape = &a->plan.shape;
  const Span queries = {0, shape->N_q}, keys = {0, shape->N_k};
  switch (tensor) {
  case TENSOR_Q: return input_view(a, tensor, queries);
  case TENSOR_K:
  case TENSOR_V: return input_view(a, tensor, keys);
  case TENSOR_S:
  case TENSOR_P: {
    const AttentionPart which = tensor == TENSOR_S ? AT_S : AT_P;
    if (!a->length[which]) return nothing();
    return (AttentionView){const_part(a, which), queries, keys, shape->N_k};
  }
  case TENSOR_O: return (AttentionView){const_part(a, AT_O), queries, {0, shape->d}, shape->d};
  default: return (AttentionView){const_part(a, AT_STATS), queries, {0, STATS_PER_ROW}, STATS_PER_ROW};
  }
}

AttentionView attention_part_in_hbm(const Attention *a, Tensor tensor, int64_t split) {
  const Shape *shape = &a->plan.shape;
  const Span queries = {0, shape->N_q};
  if (split < 0 || split >= a->n_parts) return nothing();
  if (tensor == TENSOR_STATS)
    return (AttentionView){const_part(a, AT_PART_LSE) + split * shape->N_q, queries, {0, 1}, 1};
  if (tensor != TENSOR_O) return nothing();
  const double *values = const_part(a, AT_PART_O) + split * shape->N_q * shape->d;
  return (AttentionView){values, queries, {0, shape->d}, shape->d};
}

const AttentionRow *attention_row(const Attention *a, int64_t row) {
  if (row < a->rows.begin || row >= a->rows.end) return NULL;
  return (const AttentionRow *)(const void *)const_part(a, AT_SRAM_ROWS) + (row - a->rows.begin);
}
