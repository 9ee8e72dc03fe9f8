#include "sim/numbers/attention.h"

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

Evaluator attention_evaluator(Attention *a) {
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
    return error_set(
        error, STATUS_TOO_LARGE,
        "following %s with real numbers at N_q = %jd, N_k = %jd, d = %jd needs more than %d GiB; use a smaller N",
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
  const Evaluator v = attention_evaluator(a);
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
    return error_refuse(error, "event %ju (%s %s, tile %jd, %jd): %s is over", e->step, kind_of(e), tensor_of(a, e),
                        e->i, e->j, a->schedule->name);
  if (memcmp(&next, e, sizeof next) == 0) return STATUS_OK;
  return error_refuse(error, "event %ju (%s %s, tile %jd, %jd): %s does '%s %s' of tile %jd, %jd here", e->step,
                      kind_of(e), tensor_of(a, e), e->i, e->j, a->schedule->name, kind_of(&next), tensor_of(a, &next),
                      next.i, next.j);
}

Status attention_apply(Attention *a, const Event *e, Error *error) {
  Cursor walked = a->walked;
  const Status status = check(a, e, &walked, error);
  if (status) return status;
  const Evaluator v = attention_evaluator(a);
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

/* Inputs that a formula makes of the others. */
static void fill_formulas(Attention *a) {
  const Evaluator v = attention_evaluator(a);
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
  const Shape *shape = &a->plan.shape;
  const int K = a->schedule->operands[OPERAND_K - OPERAND_Q] - 1, V = a->schedule->operands[OPERAND_V - OPERAND_Q] - 1;
  if (!shape->v_in_k || K < 0 || V < 0) return;
  const Evaluator v = attention_evaluator(a);
  const double *from = evaluate_matrix(&v, K, 0, 0);
  double *to = evaluate_matrix(&v, V, 0, 0);
  for (int64_t row = 0; row < shape->N_k; row++)
    memcpy(to + row * shape->d_v, from + row * shape->d, (size_t)shape->d_v * sizeof *to);
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
  const Evaluator v = attention_evaluator(a);
  const Schedule *s = a->schedule;
  const double peak = a->config.softmax.precision == PRECISION_FP64 ? ATTENTION_PEAK : ATTENTION_PEAK_ROUNDED;
  static const double far[] = {0, -ATTENTION_FAR, ATTENTION_FAR};
  for (int k = 0; k < s->n_declarations; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    const ProgramName *n = &s->names[d->name];
    if (d->role != TENSOR_INPUT || d->formula) continue;
    const uint64_t cols = (uint64_t)schedule_side_whole(s, &a->plan, n->cols);
    const uint64_t one = (uint64_t)schedule_side_whole(s, &a->plan, n->rows) * cols;
    const int64_t n_matrices = n->subscripts & IN_H ? schedule_group(&a->plan) : 1;
    for (int64_t h = 0; h < n_matrices; h++) {
      const uint64_t stream = stream_of(a, d->name, batch, head, h);
      double *to = evaluate_matrix(&v, d->name, h, 0);
      for (uint64_t i = 0; i < one; i++) {
        double value = kind == INPUT_OUTLIERS ? random_outlier(seed, stream, i) : random_normal(seed, stream, i);
        if (kind == INPUT_PEAKS && i % 11 == 5) value *= peak;
        if (kind == INPUT_FAR && i % cols == 0 && s->operands[0] == d->name + 1) value += far[i / cols % 3];
        if (kind == INPUT_FAR && i % cols == 0 && s->operands[1] == d->name + 1) value += far[2];
        to[i] = precision_round(a->config.softmax.precision, value);
      }
    }
  }
  take_v_from_k(a);
  fill_formulas(a);
}

/* ---- looking at it ---- */

const double *attention_matrix(const Attention *a, int name, int64_t head) {
  Attention *mutable = (Attention *)(uintptr_t)a; /* an Evaluator can write; looking does not */
  const Evaluator v = attention_evaluator(mutable);
  return evaluate_matrix(&v, name, head, 0);
}

const double *attention_tile(const Attention *a, int name) { return const_at(a, a->numbers) + a->evaluate.sram[name]; }

bool attention_reference(const Attention *a, const ProgramDeclaration *declaration, int64_t head, double *out) {
  Attention *mutable = (Attention *)(uintptr_t)a;
  const Evaluator v = attention_evaluator(mutable);
  return reference_matrix(&v, declaration, head, out);
}
