#include "sim/numbers/attention.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/base/random.h"
#include "sim/numbers/reference.h"

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
  return (Evaluator){.schedule = a->schedule, .plan = &a->plan, .state = &a->evaluate, .numbers = at(a, a->numbers)};
}

static size_t place(Wide *total, Wide numbers, bool *overflow) {
  const size_t begin = (size_t)*total;
  *total = checked_add(*total, checked_mul(numbers, sizeof(double), overflow), overflow);
  return begin;
}

static Status lay_out(Attention *a, Error *error) {
  const Shape *shape = &a->plan.shape;
  const EvaluateConfig config = {
      .softmax = a->config.softmax, .scale = a->config.scale, .rows = {0, shape->N_q}, .n_v = shape->d_v};
  bool overflow = false;
  Wide total = sizeof *a;
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

/* An input by its name; none: no rows. */
static Input input_of(const Attention *a, int name) {
  if (name < 0) return (Input){0};
  const ProgramName *n = &a->schedule->names[name];
  return (Input){a->numbers + a->evaluate.hbm[name] * sizeof(double),
                 schedule_side_whole(a->schedule, &a->plan, n->rows),
                 schedule_side_whole(a->schedule, &a->plan, n->cols)};
}

/* The name of what attention takes as Q, K or V; -1: none. */
static int operand_of(const Attention *a, Operand operand) { return a->schedule->operands[operand - OPERAND_Q] - 1; }

/* The row of a tensor among those of the program; -1: it has none of that name. */
static int row_of(const Attention *a, const char *tensor) {
  for (int t = 0; t < a->schedule->n_values; t++)
    if (strcmp(a->schedule->tensors[t].text, tensor) == 0) return t;
  return -1;
}

/* The name by which an input's blocks are loaded; -1: the tensor is no input. */
static int input_named(const Attention *a, int tensor) {
  for (int k = 0; k < a->schedule->n_names; k++)
    if (a->schedule->names[k].is_input && a->schedule->names[k].tensor == tensor) return k;
  return -1;
}

/* Inputs that a formula makes of the others. */
static void fill_formulas(Attention *a) {
  const Evaluator v = evaluator(a);
  const Schedule *s = a->schedule;
  for (int k = 0; k < s->n_declarations; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    const ProgramName *n = &s->names[d->name];
    if (d->role != TENSOR_INPUT || !d->formula) continue;
    const int64_t one = schedule_side_whole(s, &a->plan, n->rows) * schedule_side_whole(s, &a->plan, n->cols);
    for (int64_t head = 0; head < (n->subscripts & IN_H ? schedule_group(&a->plan) : 1); head++) {
      double *to = evaluate_matrix(&v, d->name, head, 0);
      if (!reference_matrix(&v, d, head, to))
        for (int64_t i = 0; i < one; i++) to[i] = NAN; /* no memory: nothing that is computed from it is a number */
      for (int64_t i = 0; i < one && !n->is_fp32; i++) to[i] = precision_round(a->config.softmax.precision, to[i]);
    }
  }
}

/* V inside K is its first d_v columns. */
static void take_v_from_k(Attention *a) {
  if (!a->plan.shape.v_in_k) return;
  const Input k = input_of(a, operand_of(a, OPERAND_K)), v = input_of(a, operand_of(a, OPERAND_V));
  for (int64_t row = 0; row < v.rows; row++)
    memcpy(at(a, v.at) + row * v.cols, at(a, k.at) + row * k.cols, (size_t)v.cols * sizeof(double));
}

void attention_set_input(Attention *a, const char *tensor, const double *values) {
  const Input in = input_of(a, input_named(a, row_of(a, tensor)));
  for (int64_t k = 0; k < in.rows * in.cols; k++)
    at(a, in.at)[k] = precision_round(a->config.softmax.precision, values[k]);
  take_v_from_k(a);
  fill_formulas(a);
}

/* A stream of random numbers for each matrix of each input: of Q, K and V by their number among all heads. */
static uint64_t stream_of(const Attention *a, int name, int64_t batch, int64_t head, int64_t in_group) {
  const Shape *shape = &a->plan.shape;
  const int64_t group = schedule_group(&a->plan), kv_head = head / group;
  const bool over_heads = a->schedule->over_heads;
  int which = 0;
  while (which < 3 && a->schedule->operands[which] != name + 1) which++;
  const bool by_query = a->schedule->names[name].rows == SIDE_ROWS;
  const int64_t query_head = over_heads ? kv_head * group + in_group : head;
  const int64_t matrix = batch * shape->heads + (by_query ? query_head : kv_head);
  return (uint64_t)matrix * 4 + (uint64_t)which + (which == 3 ? (uint64_t)(name + 1) << 44 : 0);
}

void attention_fill(Attention *a, InputKind kind, uint64_t seed, int64_t batch, int64_t head) {
  const Evaluator v = evaluator(a);
  const Schedule *s = a->schedule;
  const double peak = a->config.softmax.precision == PRECISION_FP64 ? ATTENTION_PEAK : ATTENTION_PEAK_ROUNDED;
  for (int k = 0; k < s->n_declarations; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    const ProgramName *n = &s->names[d->name];
    if (d->role != TENSOR_INPUT || d->formula) continue;
    const int64_t one = schedule_side_whole(s, &a->plan, n->rows) * schedule_side_whole(s, &a->plan, n->cols);
    const int64_t n_matrices = n->subscripts & IN_H ? schedule_group(&a->plan) : 1;
    for (int64_t h = 0; h < n_matrices; h++) {
      const uint64_t stream = stream_of(a, d->name, batch, head, h);
      double *to = evaluate_matrix(&v, d->name, h, 0);
      for (uint64_t i = 0; i < (uint64_t)one; i++) {
        double value = kind == INPUT_OUTLIERS ? random_outlier(seed, stream, i) : random_normal(seed, stream, i);
        if (kind == INPUT_PEAKS && i % 11 == 5) value *= peak;
        to[i] = precision_round(a->config.softmax.precision, value);
      }
    }
  }
  take_v_from_k(a);
  fill_formulas(a);
}

/* ---- looking at it ---- */

static AttentionView nothing(void) { return (AttentionView){0}; }

static bool is_empty(Span span) { return span.end <= span.begin; }

/* Rows `rows` of an input, all of its columns. */
static AttentionView input_view(const Attention *a, int name, Span rows) {
  const Input in = input_of(a, name);
  if (is_empty(rows)) return nothing();
  return (AttentionView){const_at(a, in.at) + rows.begin * in.cols, rows, {0, in.cols}, in.cols};
}

/* The tile that was written last, if it is of the present blocks: others are what a loop left behind. */
AttentionView attention_in_sram(const Attention *a, const char *text) {
  const Evaluate *e = &a->evaluate;
  const Cursor *c = &e->cursor;
  const int tensor = row_of(a, text), input = input_named(a, tensor);
  if (input >= 0) return input_view(a, input, e->tiles[input].rows); /* what was loaded last of it */
  const int name = tensor < 0 ? -1 : e->shown[tensor];
  if (name < 0 || a->schedule->tensors[tensor].is_stats) return nothing();
  const EvaluateTile *tile = &e->tiles[name];
  const uint8_t side = a->schedule->names[name].cols;
  if (is_empty(tile->rows) || is_empty(tile->cols) || c->i < 0 || tile->rows.begin != c->row0) return nothing();
  if (side == SIDE_COLS && c->j >= 0 && tile->cols.begin != c->col0) return nothing();
  const bool rounded = tile->is_rounded && e->rounded[name] != EVALUATE_NOWHERE;
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
static AttentionView stored_of(const Attention *a, int tensor, uint8_t in_s, int64_t split) {
  for (int k = 0; k < a->schedule->n_names; k++) {
    const ProgramName *n = &a->schedule->names[k];
    if (n->is_input || n->tensor != tensor || (n->subscripts & IN_S) != in_s) continue;
    const AttentionView view = stored(a, k, split);
    if (view.values) return view;
  }
  return nothing();
}

AttentionView attention_in_hbm(const Attention *a, const char *text) {
  const int tensor = row_of(a, text), input = input_named(a, tensor);
  return input >= 0 ? input_view(a, input, (Span){0, input_of(a, input).rows}) : stored_of(a, tensor, 0, 0);
}

AttentionView attention_part_in_hbm(const Attention *a, const char *text, int64_t split) {
  return stored_of(a, row_of(a, text), IN_S, split);
}

const double *attention_matrix(const Attention *a, int name, int64_t head) {
  Attention *mutable = (Attention *)(uintptr_t)a; /* an Evaluator can write; looking does not */
  const Evaluator v = evaluator(mutable);
  return evaluate_matrix(&v, name, head, 0);
}

const double *attention_tile(const Attention *a, int name) { return const_at(a, a->numbers) + a->evaluate.sram[name]; }

bool attention_reference(const Attention *a, const ProgramDeclaration *declaration, int64_t head, double *out) {
  Attention *mutable = (Attention *)(uintptr_t)a;
  const Evaluator v = evaluator(mutable);
  return reference_matrix(&v, declaration, head, out);
}

const AttentionRow *attention_row(const Attention *a, int64_t row) {
  Attention *mutable = (Attention *)(uintptr_t)a; /* an Evaluator can write; looking does not */
  const Evaluator v = evaluator(mutable);
  return evaluate_row(&v, row);
}
