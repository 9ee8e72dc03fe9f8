/* One row with real numbers, as far as the walk has taken it: the program evaluated for this row alone, and what it
 * has done to the scores, to m, l and O. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/numbers/attention.h"
#include "sim/base/random.h"
#include "viz/scene/snapshot_parts.h"

static int64_t n_O(const Stage *stage) {
  const int64_t d_v = stage_plan(stage)->shape.d_v;
  return d_v < SNAPSHOT_O ? d_v : SNAPSHOT_O;
}

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
static struct StageRow *new_row(const Stage *stage, bool is_small) {
  const Plan *plan = stage_plan(stage);
  const size_t N_k = (size_t)plan->shape.N_k, d = (size_t)plan->shape.d, n_matrices = is_small ? 1 : 3;
  const EvaluateConfig config = {
      .rows = {0, 1}, .inputs_apart = true, .softmax = config_of(stage), .n_v = is_small ? 0 : n_O(stage)};
  Evaluate state;
  bool overflow = false;
  const Wide evaluated = stage->head ? 0 : evaluate_layout(&state, stage_schedule(stage), plan, &config, &overflow);
  const Wide n = checked_add(d + n_matrices * N_k, evaluated, &overflow);
  if (overflow || n > SIZE_MAX / 2 / sizeof(double)) return NULL;
  struct StageRow *r = malloc(sizeof *r + (size_t)n * sizeof(double));
  if (!r) return NULL;
  *r = (struct StageRow){.row = -1, .is_small = is_small, .q = r->numbers, .scores = r->numbers + d};
  r->seen = is_small ? NULL : r->scores + N_k;
  r->exact = is_small ? NULL : r->seen + N_k;
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
  stage->row = memory ? new_row(stage, false) : NULL;
  if (!stage->row) return error_set(error, STATUS_NO_MEMORY, "no memory for the numbers of a head");
  attention_fill(stage->head, INPUT_NORMAL, stage->config.seed, 0, 0);
  const ProgramDeclaration *d = judged_output(stage);
  if (!d) return STATUS_OK;
  const int64_t n = plan->shape.N_q * schedule_side_whole(s, plan, s->names[d->name].cols);
  stage->must = malloc((size_t)n * sizeof *stage->must);
  if (stage->must && attention_reference(stage->head, d, 0, stage->must)) return STATUS_OK;
  return error_set(error, STATUS_NO_MEMORY, "no memory for what a head must be");
}

Status stage_fill_inputs(Stage *stage, Error *error) {
  const Shape *shape = &stage_plan(stage)->shape;
  const int64_t n_splits = stage_plan(stage)->tiling.n_splits;
  if (n_splits > 1 && shape->N_k <= STAGE_MAX_WEIGHED_ELEMENTS / shape->d) {
    stage->weights = malloc((size_t)n_splits * sizeof *stage->weights);
    if (stage->weights) stage->weights[0] = NAN;
  }
  if (!evaluate_follows_rows(stage_schedule(stage))) return fill_head(stage, error);
  if (shape->N_k > STAGE_MAX_KEY_ELEMENTS / shape->d) return STATUS_OK;
  const size_t N_k = (size_t)shape->N_k, d = (size_t)shape->d, shown = (size_t)n_O(stage);
  stage->K = malloc(N_k * d * sizeof(double));
  stage->V = malloc(N_k * shown * sizeof(double));
  stage->row = new_row(stage, false);
  bool is_there = stage->K && stage->V && stage->row;
  for (int k = 0; k < SNAPSHOT_ROWS && shape->N_k <= STAGE_MAX_ROW_KEYS; k++) {
    stage->rows[k] = new_row(stage, true);
    is_there = is_there && stage->rows[k];
  }
  if (is_there) return STATUS_OK;
  return error_set(error, STATUS_NO_MEMORY, "no memory for the numbers of a row; a smaller N needs less");
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
  for (int k = 0; k < SNAPSHOT_ROWS; k++)
    if (stage->rows[k]) stage->rows[k]->row = -1;
}

/* ---- Split keys ------------------------------------------------------------------------------------------- */

/* e^(L - m) of each part, over their sum: from the inputs, by the definition. */
static void weigh_parts(const Stage *stage) {
  const Plan *plan = stage_plan(stage);
  const int64_t d = plan->shape.d, n = plan->tiling.n_splits, keys = plan->tiles_per_split * plan->tiling.B_c;
  double *w = stage->weights, most = -INFINITY, sum = 0, q[1024];
  const Span seen = mask_columns(&plan->mask, 0);
  for (int64_t c = 0; c < d && c < 1024; c++) q[c] = input(stage, OPERAND_Q, 0, c);
  for (int64_t s = 0; s < n; s++) { /* L, by running maxima */
    double m = -INFINITY, l = 0;
    for (int64_t col = s * keys; col < (s + 1) * keys && col < seen.end; col++) {
      if (col < seen.begin || (plan->mask.pattern && !mask_allows(&plan->mask, 0, col))) continue;
      double score = 0;
      for (int64_t c = 0; c < d && c < 1024; c++) score += q[c] * input(stage, OPERAND_K, col, c);
      score /= sqrt((double)d);
      l = score > m ? l * exp(m - score) + 1 : l + exp(score - m);
      m = fmax(m, score);
    }
    w[s] = l > 0 ? m + log(l) : -INFINITY;
    most = fmax(most, w[s]);
  }
  for (int64_t s = 0; s < n; s++) sum += w[s] = most > -INFINITY ? exp(w[s] - most) : 1;
  for (int64_t s = 0; s < n; s++) w[s] /= sum;
}

void snapshot_fill_weights(const Stage *stage, Snapshot *now) {
  const bool combines = (now->has_event && now->event.pass > 0) || now->step == now->n_steps;
  if (!stage->weights || !stage->config.weighs || !combines || stage_plan(stage)->shape.d > 1024) return;
  if (isnan(stage->weights[0])) weigh_parts(stage);
  now->weights = stage->weights;
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
  if (!row->r->is_small) fill_keys(row->stage, end); /* a small row has its scores, and no O */
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

/* ---- What an operation has done -------------------------------------------------------------------------- */

static Evaluator evaluator_of(Row *row) {
  if (row->stage->head) return attention_evaluator(row->stage->head);
  const bool small = row->r->is_small;
  return (Evaluator){.schedule = stage_schedule(row->stage),
                     .plan = stage_plan(row->stage),
                     .state = &row->r->state,
                     .numbers = row->r->evaluated,
                     .Q = row->r->q,
                     .K = row->stage->K,
                     .V = small ? NULL : row->stage->V,
                     .context = row,
                     .need_keys = need_keys,
                     .scores = need_scores};
}

/* The row in a name's tile in SRAM, or of a loaded input's column or scores in its matrix; NULL: the tile is of other
 * rows. */
static const double *row_in(const Evaluator *v, const struct StageRow *r, int name) {
  const ProgramName *n = &v->schedule->names[name];
  if (v->state->sram[name] == EVALUATE_NOWHERE) {
    const double *whole = v->Q || n->rows != SIDE_ROWS ? NULL : evaluate_matrix(v, name, 0, 0);
    if (!whole || (n->subscripts & ~(IN_I | IN_J))) return NULL;
    if (n->cols == SIDE_ONE) return whole + r->row;
    return n->cols == SIDE_COLS && r->fold.tile >= 0 ? whole + r->row * v->plan->shape.N_k + r->fold.col0 : NULL;
  }
  const Span rows = v->state->tiles[name].rows;
  if (r->row < rows.begin || r->row >= rows.end) return NULL;
  return evaluate_tile(v, name, false) + (r->row - rows.begin) * v->state->n[n->cols];
}

/* The scores of the tile, as they stand, and the largest of them. */
static void keep_scores(SnapshotRow *f, const double *scores) {
  f->n_masked = 0;
  f->block_max = -INFINITY;
  for (int64_t k = 0; k < f->n_cols; k++) {
    f->n_masked += scores[k] == -INFINITY;
    f->block_max = fmax(f->block_max, scores[k]);
    if (k < SNAPSHOT_SCORES) f->scores[k] = scores[k];
  }
}

/* A tile begins: what was known before it. Its scores may be there from an earlier pass. */
static void begin_tile(struct StageRow *r, const Cursor *c) {
  SnapshotRow *f = &r->fold;
  f->phase = ROW_NONE;
  f->is_rescaled = false;
  f->tile = c->j;
  f->col0 = c->col0;
  f->n_cols = c->col1 - c->col0;
  f->n_overflowed = 0;
  f->block_sum = 0;
  f->m_old = f->m;
  f->l_old = f->l_scaled = f->l;
  memcpy(f->O_old, f->O, sizeof f->O);
  memcpy(f->O_scaled, f->O, sizeof f->O);
  memset(f->scores, 0, sizeof f->scores);
  memset(f->weights, 0, sizeof f->weights);
  f->n_masked = 0;
  f->block_max = -INFINITY;
  if (r->seen && !isnan(r->seen[f->col0])) keep_scores(f, r->seen + f->col0);
}

static void begin_row(SnapshotRow *f) {
  f->phase = ROW_NONE;
  f->tile = -1;
  f->n_cols = 0;
}

static void forget_history(SnapshotRow *f) {
  f->n_history = f->first_history = 0;
  memset(f->history_m, 0, sizeof f->history_m);
  memset(f->history_l, 0, sizeof f->history_l);
  memset(f->history_factor, 0, sizeof f->history_factor);
}

/* m, the factor and l after the present tile; of a tile that is among them already, what they are now. */
static void keep_history(struct StageRow *r) {
  SnapshotRow *f = &r->fold;
  if (f->n_history == 0) f->first_history = f->tile;
  const bool again = f->n_history > 0 && r->tile_in_history == f->tile;
  if (!again && f->n_history == SNAPSHOT_HISTORY) {
    memmove(f->history_m, f->history_m + 1, sizeof f->history_m - sizeof *f->history_m);
    memmove(f->history_factor, f->history_factor + 1, sizeof f->history_factor - sizeof *f->history_factor);
    memmove(f->history_l, f->history_l + 1, sizeof f->history_l - sizeof *f->history_l);
    f->n_history--;
    f->first_history++;
  }
  if (!again) f->n_history++;
  r->tile_in_history = f->tile;
  f->history_m[f->n_history - 1] = f->m;
  f->history_factor[f->n_history - 1] = f->factor;
  f->history_l[f->n_history - 1] = f->l;
}

static void see_scores(struct StageRow *r, const double *tile) {
  SnapshotRow *f = &r->fold;
  if (f->tile < 0) return;
  if (r->seen) memcpy(r->seen + f->col0, tile, (size_t)f->n_cols * sizeof *tile);
  if (!r->is_small) keep_scores(f, tile);
}

static void see_weights(const Evaluator *v, struct StageRow *r, const double *tile) {
  SnapshotRow *f = &r->fold;
  const Precision stored = v->state->config.softmax.precision;
  if (f->tile < 0 || r->is_small) return;
  f->n_overflowed = 0;
  for (int64_t k = 0; k < f->n_cols; k++) {
    f->n_overflowed += precision_overflows(stored, tile[k]);
    if (k < SNAPSHOT_SCORES) f->weights[k] = precision_round(stored, tile[k]);
  }
}

static bool has(NameSet names, int name) { return names >> name & 1; }

static void see_m(const Evaluator *v, struct StageRow *r, double m, const ProgramAssign *a) {
  SnapshotRow *f = &r->fold;
  const uint8_t root = a ? v->schedule->nodes[a->value].kind : (uint8_t)NODE_NAME;
  f->m = f->m_new = m;
  if (root == NODE_NUMBER || root == NODE_NEGATE) { /* it begins anew */
    forget_history(f);
    f->m_old = f->m;
    f->factor = 0;
  } else if (root == NODE_MAX) { /* what l and O have to shrink by, before they do */
    f->factor = f->m > -INFINITY ? exp(f->m_old - f->m) : 1;
  }
}

static void see_l(const Evaluator *v, struct StageRow *r, double l, bool is_load, const ProgramAssign *a) {
  SnapshotRow *f = &r->fold;
  const EvaluateRow *row = v->schedule->declares ? NULL : evaluate_row(v, r->row);
  const double before = f->l;
  r->has_l = true;
  f->l = f->l_new = l;
  if (is_load || !a) return;
  if (a->kind == ASSIGN_TIMES) {
    if (row) f->factor = row->factor;
    f->l_scaled = f->l;
    f->is_rescaled = true;
  }
  if (a->kind == ASSIGN_ADD) f->block_sum = row ? row->block_sum : f->l - before;
  if (f->tile >= 0 && a->kind != ASSIGN_TIMES && v->schedule->nodes[a->value].kind != NODE_NUMBER) keep_history(r);
}

static void see_name(const Row *row, const Evaluator *v, int name, bool is_load, const ProgramAssign *a) {
  struct StageRow *r = row->r;
  const SnapshotRoles *roles = &row->stage->roles;
  const int tensor = v->schedule->names[name].tensor;
  const double *tile = row_in(v, r, name);
  if (!tile) return;
  if (has(roles->S, name)) see_scores(r, tile);
  if (has(roles->P, name)) see_weights(v, r, tile);
  if (has(roles->m, name)) see_m(v, r, *tile, a);
  if (has(roles->l, name)) see_l(v, r, *tile, is_load, a);
  if (has(roles->O, name) && v->state->shown[tensor] == name && !r->is_small)
    memcpy(r->fold.O, tile, (size_t)n_O(row->stage) * sizeof *tile);
}

static NameSet set_by(const Schedule *s, const ProgramOp *op) {
  NameSet names = 0;
  for (int k = op->first_assign; k < op->first_assign + op->n_assigns; k++) names |= name_bit(s->assigns[k].name);
  return names;
}

static RowPhase phase_of(const Schedule *s, const SnapshotRoles *roles, const ProgramOp *op) {
  const NameSet set = set_by(s, op);
  switch (op->event) {
  case EVENT_PRODUCT: return ROW_SCORES;
  case EVENT_MASK: return ROW_MASKED;
  case EVENT_NEW_MAX: return ROW_MAX;
  case EVENT_RESCALE: return ROW_RESCALED;
  case EVENT_ACCUMULATE: /* a bias is added to scores, too */
  case EVENT_NORMALISE:
    return (set & roles->S) && !(set & (roles->P | roles->l | roles->O)) ? ROW_SCORES : ROW_ACCUMULATED;
  case EVENT_LOAD: return has(roles->S, op->name) ? ROW_MASKED : has(roles->P, op->name) ? ROW_ACCUMULATED : ROW_NONE;
  default: return ROW_NONE;
  }
}

/* Notes what the operation at `at`, just done, has changed of the row. */
static void see(const Row *row, const Evaluator *v, int at) {
  struct StageRow *r = row->r;
  const ProgramOp *op = &v->schedule->ops[at];
  const Cursor *c = &v->state->cursor;
  SnapshotRow *f = &r->fold;
  if (c->i >= 0 && c->i != r->row / v->plan->tiling.B_r) return; /* of another row block */
  if (op->kind == OP_TEST) {
    if (c->op == at) return; /* skipped */
    if (c->i >= 0 && c->j >= 0)
      begin_tile(r, c);
    else
      begin_row(f);
    return;
  }
  if (c->i < 0) return;
  const bool in_tile = c->j >= 0;
  for (int k = 0; k < op->n_assigns; k++) {
    const ProgramAssign *a = &v->schedule->assigns[op->first_assign + k];
    see_name(row, v, a->name, false, a);
  }
  const bool is_load = op->kind == OP_EVENT && op->event == EVENT_LOAD;
  for (int k = 0; k < op->n_moved && (is_load || op->event == EVENT_MASK); k++)
    see_name(row, v, op->moved[k], is_load, NULL);
  if (op->kind == OP_EVENT && op->event == EVENT_RESCALE) memcpy(f->O_scaled, f->O, sizeof f->O);
  const RowPhase phase = op->kind == OP_EVENT && in_tile ? phase_of(v->schedule, &row->stage->roles, op) : ROW_NONE;
  if (phase > f->phase) f->phase = (uint8_t)phase;
}

/* What the operation has set or loaded, by name. */
static void see_values(const Evaluator *v, struct StageRow *r, int at) {
  const Schedule *s = v->schedule;
  const ProgramOp *op = &s->ops[at];
  SnapshotRow *f = &r->fold;
  if (op->kind != OP_EVENT && op->kind != OP_SET) return;
  for (int k = 0; k < s->n_names; k++) f->values[k].before = f->values[k].now;
  for (int k = 0; k < op->n_assigns + op->n_moved; k++) {
    const int name = k < op->n_assigns ? s->assigns[op->first_assign + k].name : op->moved[k - op->n_assigns];
    const ProgramName *n = &s->names[name];
    const double *tile = n->rows == SIDE_ROWS ? row_in(v, r, name) : NULL;
    if (!tile) continue;
    const int64_t width = n->cols == SIDE_COLS ? f->n_cols : v->state->n[n->cols];
    SnapshotValue *value = &f->values[name];
    value->now = width > 0 ? tile[0] : NAN;
    value->is_zero = true;
    value->n_overflowed = 0;
    for (int64_t col = 0; col < width; col++) {
      const double x = tile[col];
      if (!(x <= value->now)) value->now = x; /* NAN stays, too */
      value->is_zero = value->is_zero && x == 0;
      value->n_overflowed += precision_overflows(v->state->config.softmax.precision, x);
    }
  }
}

/* ---- The walk --------------------------------------------------------------------------------------------- */

static void begin(Row *row, int64_t number) {
  const Stage *stage = row->stage;
  struct StageRow *r = row->r;
  const Plan *plan = stage_plan(stage);
  const EvaluateConfig config = {.rows = {number, number + 1},
                                 .inputs_apart = true,
                                 .softmax = config_of(stage),
                                 .n_v = r->is_small ? 0 : n_O(stage)};
  bool overflow = false;
  if (!stage->head) evaluate_layout(&r->state, stage_schedule(stage), plan, &config, &overflow);
  const double m = softmax_start(&config.softmax).m;
  if (r->row != number && !stage->head) {
    for (int64_t c = 0; c < plan->shape.d; c++) r->q[c] = input(stage, OPERAND_Q, number, c);
    r->n_scores = 0;
  }
  r->row = number;
  for (int64_t k = 0; r->seen && k < plan->shape.N_k; k++) r->seen[k] = NAN;
  r->fold = (SnapshotRow){.m = m, .m_old = m, .m_new = m, .tile = -1};
  for (int k = 0; k < PROGRAM_NAMES_MAX; k++) r->fold.values[k] = (SnapshotValue){.before = NAN, .now = NAN};
  r->n_steps = 0;
  r->has_l = false;
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
    if (at >= 0) see(row, &v, at);
    if (at >= 0 && !r->is_small) see_values(&v, r, at);
  } while (at >= 0 && !evaluate_is_at(v.state, at, event));
  r->n_steps = event->step + 1;
}

/* ---- The end of a row ------------------------------------------------------------------------------------- */

static bool stores_O(const Row *row, const ProgramOp *op) {
  const Schedule *s = stage_schedule(row->stage);
  if (op->kind != OP_EVENT || !event_goes_out(op->event)) return false;
  for (int k = 0; k < op->n_moved; k++)
    if (has(row->stage->roles.O, op->moved[k]) && !(s->names[op->moved[k]].subscripts & IN_S)) return true;
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

void snapshot_fill_rows(const Stage *stage, Snapshot *now) {
  const Plan *plan = stage_plan(stage);
  if (now->row.row < 0 || stage->config.lone_row || !stage->rows[0]) return;
  const int64_t height = now->event.row1 - now->event.row0, large = now->row.row - now->event.i * plan->tiling.B_r;
  const int64_t n = height < SNAPSHOT_ROWS ? height : SNAPSHOT_ROWS;
  for (int64_t k = 0; k < n; k++) {
    SnapshotSmallRow *small = &now->rows[now->n_rows++];
    const int64_t from = k * height / n, to = (k + 1) * height / n;
    Row row = {stage, stage->rows[k]};
    fold_to(&row, now->event.i * plan->tiling.B_r + (large >= from && large < to ? large : from), &now->event);
    const SnapshotRow *f = &row.r->fold;
    *small = (SnapshotSmallRow){.row = row.r->row,
                                .m = f->m,
                                .l = row.r->has_l ? f->l : NAN,
                                .factor = f->factor,
                                .n_history = f->n_history,
                                .first_history = f->first_history};
    memcpy(small->history_m, f->history_m, sizeof f->history_m);
    memcpy(small->history_l, f->history_l, sizeof f->history_l);
  }
}
