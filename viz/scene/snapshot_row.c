/* One row with real numbers, as far as the walk has taken it: the program evaluated for this row alone, and what it
 * has done to the scores, to m, l and O. */
#include <stdlib.h>

#include "sim/base/random.h"
#include "viz/scene/snapshot_parts.h"

static Precision precision_of(const Stage *stage) { return attention_precision(stage_plan(stage)->shape.dtype); }

static SoftmaxConfig config_of(const Stage *stage) {
  return (SoftmaxConfig){.precision = precision_of(stage), .without_max = stage->config.without_max};
}

/* Element of an input of the first head, as attention_fill makes it. */
static double input(const Stage *stage, Operand operand, int64_t row, int64_t column) {
  const Shape *shape = &stage_plan(stage)->shape;
  if (operand == OPERAND_V && shape->v_in_k) operand = OPERAND_K;
  const uint64_t index = (uint64_t)(row * (operand == OPERAND_V ? shape->d_v : shape->d) + column);
  const double scale = operand == OPERAND_Q ? (double)stage->config.q_scale : 1;
  return precision_round(precision_of(stage),
                         scale * random_normal(stage->config.seed, (uint64_t)(operand - OPERAND_Q), index));
}

/* Room for a row, and its numbers where it is followed alone. */
static struct StageRow *new_row(const Stage *stage) {
  const Plan *plan = stage_plan(stage);
  const size_t N_k = (size_t)plan->shape.N_k, d = (size_t)plan->shape.d, n_matrices = 3;
  const EvaluateConfig config = {.rows = {0, 1}, .inputs_apart = true, .softmax = config_of(stage), .n_v = n_O(stage)};
  Evaluate state;
  bool overflow = false;
  const Wide evaluated = stage->head ? 0 : evaluate_layout(&state, stage_schedule(stage), plan, &config, &overflow);
  const Wide n = checked_add(d + n_matrices * N_k, evaluated, &overflow);
  if (overflow || n > SIZE_MAX / 2 / sizeof(double)) return NULL;
  struct StageRow *r = malloc(sizeof *r + (size_t)n * sizeof(double));
  if (!r) return NULL;
  *r = (struct StageRow){.row = -1, .q = r->numbers, .scores = r->numbers + d};
  r->seen = r->scores + N_k;
  r->exact = r->seen + N_k;
  r->evaluated = r->scores + n_matrices * N_k;
  return r;
}

/* The output whose rows are held against their formula; NULL: there is none. */
static const ProgramDeclaration *judged_output(const Stage *stage) {
  const Schedule *s = stage_schedule(stage);
  for (int k = 0; k < s->n_declarations; k++)
    if (s->declarations[k].formula && (stage->roles.O & name_bit(s->declarations[k].name))) return &s->declarations[k];
  return NULL;
}

/* All rows of the head, where that is little work. */
static Status fill_head(Stage *stage, Error *error) {
  const Schedule *s = stage_schedule(stage);
  const Plan *plan = stage_plan(stage);
  const AttentionConfig config = {.softmax = config_of(stage)};
  size_t bytes;
  if (stage->run.traffic.flops > STAGE_MAX_HEAD_FLOPS || attention_bytes(plan, s, &bytes, NULL)) return STATUS_OK;
  void *memory = malloc(bytes);
  if (memory && attention_start(memory, plan, s, &config, &stage->head, NULL)) {
    free(memory);
    return STATUS_OK;
  }
  stage->row = memory ? new_row(stage) : NULL;
  if (!stage->row) return error_no_memory(error, "for the numbers of a head");
  attention_fill(stage->head, INPUT_NORMAL, stage->config.seed, 0, 0);
  const ProgramDeclaration *d = judged_output(stage);
  if (!d) return STATUS_OK;
  const int64_t n = plan->shape.N_q * schedule_side_whole(s, plan, s->names[d->name].cols);
  stage->must = malloc((size_t)n * sizeof *stage->must);
  if (stage->must && attention_reference(stage->head, d, 0, stage->must)) return STATUS_OK;
  return error_no_memory(error, "for what a head must be");
}

Status stage_fill_inputs(Stage *stage, Error *error) {
  const Shape *shape = &stage_plan(stage)->shape;
  if (!evaluate_follows_rows(stage_schedule(stage))) return fill_head(stage, error);
  if (shape->N_k > STAGE_MAX_KEY_ELEMENTS / shape->d) return STATUS_OK;
  const size_t N_k = (size_t)shape->N_k, d = (size_t)shape->d, shown = (size_t)n_O(stage);
  stage->K = malloc(N_k * d * sizeof(double));
  stage->V = malloc(N_k * shown * sizeof(double));
  stage->row = new_row(stage);
  if (stage->K && stage->V && stage->row) return STATUS_OK;
  return error_no_memory(error, "for the numbers of a row; a smaller N needs less");
}

void stage_keep_inputs(Stage *stage, Stage *before) {
  const Shape *shape = &stage_plan(stage)->shape, *old = &stage_plan(before)->shape;
  double **K = before->row ? &before->K : &before->kept_K, **V = before->row ? &before->V : &before->kept_V;
  const int64_t n_keys = before->row ? before->row->n_keys : before->n_kept;
  if (!*K || !*V || shape->d != old->d || shape->d_v != old->d_v || shape->v_in_k != old->v_in_k ||
      shape->dtype != old->dtype || n_O(stage) != n_O(before))
    return;
  if (stage->config.seed != before->config.seed) return;
  if (stage->head) return;
  if (stage->row) {
    stage->row->n_keys = n_keys < shape->N_k ? n_keys : shape->N_k;
    memcpy(stage->K, *K, (size_t)(stage->row->n_keys * shape->d) * sizeof **K);
    memcpy(stage->V, *V, (size_t)(stage->row->n_keys * n_O(stage)) * sizeof **V);
  } else {
    stage->kept_K = *K;
    stage->kept_V = *V;
    stage->n_kept = n_keys;
    *K = *V = NULL;
  }
}

void stage_forget_rows(Stage *stage) {
  if (stage->row) stage->row->row = -1;
}

/* ---- Inputs and scores ----------------------------------------------------------------------------------- */

typedef struct {
  const Stage *stage;
  struct StageRow *r;
} Row;

/* K and V up to a row. Each element is a function of its index, so it does not matter when it is made. */
static void fill_keys(const Stage *stage, int64_t end) {
  const int64_t d = stage_plan(stage)->shape.d, shown = n_O(stage);
  for (int64_t row = stage->row->n_keys; row < end; row++) {
    for (int64_t c = 0; c < d; c++) stage->K[row * d + c] = input(stage, OPERAND_K, row, c);
    for (int64_t c = 0; c < shown; c++) stage->V[row * shown + c] = input(stage, OPERAND_V, row, c);
    stage->row->n_keys = row + 1;
  }
}

static void need_keys(void *context, int64_t end) {
  const Row *row = context;
  fill_keys(row->stage, end);
}

/* The scores of the row up to a column. As in the tensor cores: summed from left to right, one rounding a step, then
 * scaled. */
static const double *need_scores(void *context, int64_t end) {
  const Row *row = context;
  const Stage *stage = row->stage;
  struct StageRow *r = row->r;
  const int64_t d = stage_plan(stage)->shape.d;
  const Precision accumulator = precision_accumulator(precision_of(stage));
  fill_keys(stage, end);
  while (r->n_scores < end) {
    enum { AT_ONCE = 4 }; /* columns: a sum waits for itself, not for others */
    const int64_t col = r->n_scores, n = end - col < AT_ONCE ? end - col : AT_ONCE;
    double sums[AT_ONCE] = {0};
    const double *K[AT_ONCE];
    for (int64_t k = 0; k < AT_ONCE; k++) K[k] = stage->K + (k < n ? col + k : col) * d;
    for (int64_t c = 0; c < d; c++)
      for (int k = 0; k < AT_ONCE; k++) sums[k] = precision_multiply_add(accumulator, r->q[c], K[k][c], sums[k]);
    for (int64_t k = 0; k < n; k++)
      r->scores[col + k] = col + k < stage->config.n_scores ? stage->config.scores[col + k]
                                                            : precision_computed(accumulator, sums[k] * r->state.scale);
    r->n_scores += n;
  }
  return r->scores;
}

/* The row from the definition, in fp64 throughout, from the inputs as they are stored. */
static void refer(const Row *row, double *O) {
  const Stage *stage = row->stage;
  const Plan *plan = stage_plan(stage);
  struct StageRow *r = row->r;
  const Span seen = mask_columns(&plan->mask, r->row);
  const int64_t d = plan->shape.d;
  if (seen.end <= seen.begin) return;
  fill_keys(stage, seen.end);
  const double scale = 1 / sqrt((double)d);
  for (int64_t col = seen.begin; col < seen.end; col++) {
    double sum = 0;
    for (int64_t c = 0; c < d; c++) sum += r->q[c] * stage->K[col * d + c];
    r->exact[col] = col < stage->config.n_scores ? stage->config.scores[col] : sum * scale;
    if (plan->mask.pattern && !mask_allows(&plan->mask, r->row, col)) r->exact[col] = -INFINITY;
  }
  const int64_t n = seen.end - seen.begin;
  softmax_reference(r->exact + seen.begin, n, stage->V + seen.begin * n_O(stage), n_O(stage), NULL, O);
  for (int64_t c = 0; c < n_O(stage); c++)
    if (isnan(O[c])) O[c] = 0; /* a pattern hides all keys of the row */
}

static Evaluator evaluator_of(Row *row) {
  if (row->stage->head) return attention_evaluator(row->stage->head);
  return (Evaluator){.schedule = stage_schedule(row->stage),
                     .plan = stage_plan(row->stage),
                     .state = &row->r->state,
                     .numbers = row->r->evaluated,
                     .Q = row->r->q,
                     .K = row->stage->K,
                     .V = row->stage->V,
                     .context = row,
                     .need_keys = need_keys,
                     .scores = need_scores};
}

/* ---- The walk --------------------------------------------------------------------------------------------- */

static void begin(Row *row, int64_t number) {
  const Stage *stage = row->stage;
  struct StageRow *r = row->r;
  const Plan *plan = stage_plan(stage);
  const EvaluateConfig config = {
      .rows = {number, number + 1}, .inputs_apart = true, .softmax = config_of(stage), .n_v = n_O(stage)};
  bool overflow = false;
  if (!stage->head) evaluate_layout(&r->state, stage_schedule(stage), plan, &config, &overflow);
  const double m = softmax_start(&config.softmax).m;
  if (r->row != number && !stage->head) {
    for (int64_t c = 0; c < plan->shape.d; c++) r->q[c] = input(stage, OPERAND_Q, number, c);
    r->n_scores = 0;
  }
  r->row = number;
  for (int64_t k = 0; k < plan->shape.N_k; k++) r->seen[k] = NAN;
  r->fold = (SnapshotRow){.m = m, .m_old = m, .m_new = m, .tile = -1};
  for (int k = 0; k < PROGRAM_NAMES_MAX; k++) r->fold.values[k] = (SnapshotValue){.before = NAN, .now = NAN};
  r->n_steps = 0;
  const Evaluator v = evaluator_of(row);
  evaluate_begin(&v);
}

/* Takes the row up to and with an event of its row block. */
static void fold_to(Row *row, int64_t number, const Event *event) {
  struct StageRow *r = row->r;
  if (r->row != number || event->step + 1 < r->n_steps) begin(row, number);
  if (event->step + 1 == r->n_steps) return;
  const Evaluator v = evaluator_of(row);
  int at;
  do {
    at = evaluate_next(&v);
    if (at >= 0) snapshot_row_see(row->stage, r, &v, at);
  } while (at >= 0 && !evaluate_is_at(v.state, at, event));
  r->n_steps = event->step + 1;
}

/* ---- The end of a row ------------------------------------------------------------------------------------- */

static bool stores_O(const Row *row, const ProgramOp *op) {
  const Schedule *s = stage_schedule(row->stage);
  if (op->kind != OP_EVENT || !event_goes_out(op->event)) return false;
  for (int k = 0; k < op->n_moved; k++)
    if ((row->stage->roles.O & name_bit(op->moved[k])) && !(s->names[op->moved[k]].subscripts & IN_S)) return true;
  return false;
}

/* Whether the present event makes or stores what the row's O will be: nothing is computed after it. */
static bool is_final(Row *row, const Event *event) {
  const Evaluator v = evaluator_of(row);
  const ProgramOp *ops = v.schedule->ops;
  Cursor ahead = v.state->cursor;
  bool stored = stores_O(row, &ops[event->op]);
  if (row->stage->head && !row->stage->must) return false;
  if (v.schedule->tensors[event->tensor].role != TENSOR_OUTPUT || (event->kind != EVENT_NORMALISE && !stored))
    return false;
  for (int at = evaluate_peek(&v, &ahead); at >= 0; at = evaluate_peek(&v, &ahead)) {
    if (ahead.i < 0 || ops[at].kind != OP_EVENT) continue;
    if (stores_O(row, &ops[at])) {
      if (stored) return false;
      stored = true;
    } else if (!stored && !event_moves(ops[at].event)) {
      return false;
    }
  }
  return stored;
}

static void finish(const Row *row, SnapshotRow *r) {
  const Precision stored = precision_of(row->stage);
  double largest = 0;
  r->phase = ROW_FINISHED;
  if (row->stage->head)
    memcpy(r->reference_O, row->stage->must + row->r->row * stage_plan(row->stage)->shape.d_v,
           (size_t)r->n_O * sizeof *r->O);
  else
    refer(row, r->reference_O);
  for (int64_t c = 0; c < r->n_O; c++) largest = fmax(largest, fabs(r->reference_O[c]));
  for (int64_t c = 0; c < r->n_O; c++) {
    const double fp32_off = fabs(r->O[c] - r->reference_O[c]) / precision_ulp(PRECISION_FP32, largest);
    r->O[c] = precision_round(stored, r->O[c]);
    const double off = fabs(r->O[c] - r->reference_O[c]) / precision_ulp(stored, largest);
    r->error_fp32_ulps = isnan(fp32_off) || fp32_off > r->error_fp32_ulps ? fp32_off : r->error_fp32_ulps;
    r->error_ulps = isnan(off) || off > r->error_ulps ? off : r->error_ulps;
  }
}

/* ---- Snapshots -------------------------------------------------------------------------------------------- */

void snapshot_fill_row(const Stage *stage, Snapshot *now) {
  SnapshotRow *r = &now->row;
  const Plan *plan = stage_plan(stage);
  const bool is_there = stage->row && now->has_event && now->event.i >= 0;
  if (is_there) {
    const int64_t height = now->event.row1 - now->event.row0;
    const int64_t asked = stage->config.row_in_block > 0 ? stage->config.row_in_block - 1 : height / 2;
    Row row = {stage, stage->row};
    fold_to(&row, now->event.i * plan->tiling.B_r + (asked < height ? asked : height - 1), &now->event);
    *r = stage->row->fold;
    r->row = stage->row->row;
    r->n_O = n_O(stage);
    if (is_final(&row, &now->event)) finish(&row, r);
  } else {
    r->row = r->tile = -1;
    r->n_O = n_O(stage);
  }
  r->is_computed = stage->row != NULL;
  r->is_judged = !stage->head || stage->must;
  r->without_max = stage->config.without_max;
  r->q_scale = stage->head ? 1 : stage->config.q_scale;
}
