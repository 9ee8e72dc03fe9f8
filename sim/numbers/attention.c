#include "sim/numbers/attention.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

static double *at(Attention *a, size_t bytes) { return (double *)(void *)((char *)a + bytes); }
static const double *const_at(const Attention *a, size_t bytes) {
  return (const double *)(const void *)((const char *)a + bytes);
}

static Evaluator evaluator(Attention *a) {
  return (Evaluator){.schedule = a->schedule,
                     .plan = &a->plan,
                     .state = &a->evaluate,
                     .numbers = at(a, a->numbers),
                     .Q = at(a, a->Q),
                     .K = at(a, a->K),
                     .V = at(a, a->V)};
}

static size_t place(Wide *total, Wide numbers, bool *overflow) {
  const size_t begin = (size_t)*total;
  *total = checked_add(*total, checked_mul(numbers, sizeof(double), overflow), overflow);
  return begin;
}

static Status lay_out(Attention *a, Error *error) {
  const Shape *shape = &a->plan.shape;
  const Wide N_q = (Wide)shape->N_q, N_k = (Wide)shape->N_k, d = (Wide)shape->d, d_v = (Wide)shape->d_v;
  const EvaluateConfig config = {
      .softmax = a->config.softmax, .scale = a->config.scale, .rows = {0, shape->N_q}, .n_v = shape->d_v};
  bool overflow = false;
  Wide total = sizeof *a; /* each product below is at most 2^56 */
  a->Q = place(&total, N_q * d, &overflow);
  a->K = place(&total, N_k * d, &overflow);
  a->V = place(&total, N_k * d_v, &overflow);
  a->numbers = place(&total, evaluate_layout(&a->evaluate, a->schedule, &a->plan, &config, &overflow), &overflow);
  if (overflow || total > ATTENTION_MAX_BYTES)
    return error_set(error, STATUS_TOO_LARGE,
                     "following %s with real numbers at N_q = %" PRId64 ", N_k = %" PRId64 ", d = %" PRId64
                     " needs more than %d GiB; use a smaller N",
                     a->schedule->name, shape->N_q, shape->N_k, shape->d, (int)(ATTENTION_MAX_BYTES >> 30));
  a->bytes = (size_t)total;
  return STATUS_OK;
}

Status attention_bytes(const Plan *plan, const Schedule *schedule, size_t *bytes, Error *error) {
  Attention layout = {.plan = *plan, .schedule = schedule};
  Status status = lay_out(&layout, error);
  if (!status) *bytes = layout.bytes;
  return status;
}

Status attention_start(void *memory, const Plan *plan, const Schedule *schedule, const AttentionConfig *config,
                       Attention **attention, Error *error) {
  Attention header = {.config = *config, .plan = *plan, .schedule = schedule};
  Status status = evaluate_takes(schedule, &config->softmax, error);
  if (!status) status = lay_out(&header, error);
  if (status) return status;
  memset(memory, 0, header.bytes);
  Attention *a = memory;
  *a = header;
  const Evaluator v = evaluator(a);
  evaluate_begin(&v);
  *attention = a;
  return STATUS_OK;
}

/* ---- events ---- */

static const char *kind_of(const Event *e) {
  return e->kind < EVENT_KIND_COUNT ? event_kind_name((EventKind)e->kind) : "no event";
}
static const char *tensor_of(const Attention *a, const Event *e) {
  return e->tensor < a->schedule->n_values ? a->schedule->tensors[e->tensor].text : "nothing";
}

/* Events come as the walk gives them: one that is left out, altered or too early would compute with leftovers. */
static Status check(const Attention *a, const Event *e, Cursor *walked, Error *error) {
  Event next;
  if (!schedule_next(a->schedule, &a->plan, walked, &next))
    return error_set(error, STATUS_BAD_REQUEST, "event %" PRIu64 " (%s %s, tile %" PRId64 ", %" PRId64 "): %s is over",
                     e->step, kind_of(e), tensor_of(a, e), e->i, e->j, a->schedule->name);
  if (memcmp(&next, e, sizeof next) == 0) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST,
                   "event %" PRIu64 " (%s %s, tile %" PRId64 ", %" PRId64 "): %s does '%s %s' of tile %" PRId64
                   ", %" PRId64 " here",
                   e->step, kind_of(e), tensor_of(a, e), e->i, e->j, a->schedule->name, kind_of(&next),
                   tensor_of(a, &next), next.i, next.j);
}

Status attention_apply(Attention *a, const Event *e, Error *error) {
  Cursor walked = a->walked;
  const Status status = check(a, e, &walked, error);
  if (status) return status;
  const Evaluator v = evaluator(a);
  for (int op = evaluate_next(&v); op >= 0 && !evaluate_is_at(&a->evaluate, op, e);) op = evaluate_next(&v);
  a->walked = walked;
  a->n_applied++;
  return STATUS_OK;
}

Status attention_walk(Attention *a, const Schedule *schedule, Cursor *cursor, uint64_t n, Error *error) {
  Event event;
  for (; n > 0; n--) {
    Cursor next = *cursor;
    if (!schedule_next(schedule, &a->plan, &next, &event)) break;
    Status status = attention_apply(a, &event, error);
    if (status) return status;
    *cursor = next;
  }
  return STATUS_OK;
}

/* ---- inputs ---- */

typedef struct {
  size_t at;
  int64_t rows, cols;
} Input;

static Input input_of(const Attention *a, Tensor tensor) {
  const Shape *shape = &a->plan.shape;
  if (tensor == TENSOR_Q) return (Input){a->Q, shape->N_q, shape->d};
  if (tensor == TENSOR_K) return (Input){a->K, shape->N_k, shape->d};
  return (Input){a->V, shape->N_k, shape->d_v};
}

void attention_set_input(Attention *a, Tensor tensor, const double *values) {
  const Input in = input_of(a, tensor);
  for (int64_t k = 0; k < in.rows * in.cols; k++)
    at(a, in.at)[k] = precision_round(a->config.softmax.precision, values[k]);
}

void attention_fill(Attention *a, InputKind kind, uint64_t seed, int64_t batch, int64_t head) {
  const Shape *shape = &a->plan.shape;
  const int64_t kv_head = head / (shape->heads / shape->kv_heads);
  const Tensor inputs[] = {TENSOR_Q, TENSOR_K, TENSOR_V};
  for (int t = 0; t < 3; t++) {
    const int64_t matrix = batch * shape->heads + (inputs[t] == TENSOR_Q ? head : kv_head);
    const uint64_t stream = (uint64_t)matrix * 4 + (uint64_t)inputs[t];
    const Input in = input_of(a, inputs[t]);
    for (uint64_t k = 0; k < (uint64_t)(in.rows * in.cols); k++) {
      double value = kind == INPUT_OUTLIERS ? random_outlier(seed, stream, k) : random_normal(seed, stream, k);
      at(a, in.at)[k] = precision_round(a->config.softmax.precision, value);
    }
  }
}

/* ---- looking at it ---- */

static AttentionView nothing(void) { return (AttentionView){0}; }

static bool is_empty(Span span) { return span.end <= span.begin; }

/* Rows `rows` of an input, all of its columns. */
static AttentionView input_view(const Attention *a, Tensor tensor, Span rows) {
  const Input in = input_of(a, tensor);
  if (is_empty(rows)) return nothing();
  return (AttentionView){const_at(a, in.at) + rows.begin * in.cols, rows, {0, in.cols}, in.cols};
}

/* What was loaded last of an input. */
static Span loaded(const Attention *a, Tensor tensor) {
  const int name = a->evaluate.shown[tensor];
  return name < 0 ? (Span){0, 0} : a->evaluate.tiles[name].rows;
}

/* The tile of S, P or O that was written last, if it is of the present blocks: others are what a loop left behind. */
AttentionView attention_in_sram(const Attention *a, Tensor tensor) {
  const Evaluate *e = &a->evaluate;
  const Cursor *c = &e->cursor;
  const int name = e->shown[tensor];
  if (tensor <= TENSOR_V) return input_view(a, tensor, loaded(a, tensor));
  if (tensor == TENSOR_STATS || name < 0) return nothing();
  const EvaluateTile *tile = &e->tiles[name];
  const uint8_t side = a->schedule->names[name].cols;
  if (is_empty(tile->rows) || is_empty(tile->cols) || c->i < 0 || tile->rows.begin != c->row0) return nothing();
  if (side == SIDE_COLS && c->j >= 0 && tile->cols.begin != c->col0) return nothing();
  const bool rounded = tensor == TENSOR_P && tile->is_rounded;
  return (AttentionView){const_at(a, a->numbers) + (rounded ? e->rounded[name] : e->sram[name]), tile->rows, tile->cols,
                         e->n[side]};
}

/* The whole matrix of a name that the program stores. */
static AttentionView stored(const Attention *a, int name, int64_t split) {
  const Evaluate *e = &a->evaluate;
  const Shape *shape = &a->plan.shape;
  const ProgramName *n = &a->schedule->names[name];
  if (e->hbm[name] == EVALUATE_NOWHERE) return nothing();
  if (split < 0 || split >= (n->subscripts & IN_S ? a->plan.tiling.n_splits : 1)) return nothing();
  const int64_t cols = n->cols == SIDE_COLS ? shape->N_k : e->n[n->cols];
  const double *values = const_at(a, a->numbers) + e->hbm[name] + split * shape->N_q * cols;
  return (AttentionView){values, {0, shape->N_q}, {0, cols}, cols};
}

static int find_name(const Attention *a, const char *text) {
  for (int k = 0; k < a->schedule->n_names; k++)
    if (strcmp(a->schedule->names[k].text, text) == 0) return k;
  return -1;
}

AttentionView attention_stored(const Attention *a, const char *text, int64_t split) {
  const int name = find_name(a, text);
  return name < 0 ? nothing() : stored(a, name, split);
}

/* The first name of the tensor that is stored, with or without a subscript s. */
static AttentionView stored_of(const Attention *a, Tensor tensor, uint8_t in_s, int64_t split) {
  for (int k = 0; k < a->schedule->n_names; k++) {
    const ProgramName *n = &a->schedule->names[k];
    if (n->tensor != tensor || (n->subscripts & IN_S) != in_s) continue;
    const AttentionView view = stored(a, k, split);
    if (view.values) return view;
  }
  return nothing();
}

AttentionView attention_in_hbm(const Attention *a, Tensor tensor) {
  if (tensor <= TENSOR_V) return input_view(a, tensor, (Span){0, input_of(a, tensor).rows});
  if (tensor != TENSOR_STATS) return stored_of(a, tensor, 0, 0);
  const AttentionView lse = attention_stored(a, "L_i", 0);
  return lse.values ? lse : attention_stored(a, "m_i", 0);
}

AttentionView attention_part_in_hbm(const Attention *a, Tensor tensor, int64_t split) {
  return tensor <= TENSOR_V ? nothing() : stored_of(a, tensor, IN_S, split);
}

const AttentionRow *attention_row(const Attention *a, int64_t row) {
  Attention *mutable = (Attention *)(uintptr_t)a; /* an Evaluator can write; looking does not */
  const Evaluator v = evaluator(mutable);
  return evaluate_row(&v, row);
}
