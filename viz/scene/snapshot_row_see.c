/* What an operation, just done, has changed of the row that is followed: its scores and weights, m, l and O, and its
 * values by name. */

#include "viz/scene/snapshot_parts.h"

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

/* The scores of the tile, as they stand. */
static void keep_scores(SnapshotRow *f, const double *scores) {
  const int64_t n = f->n_cols < SNAPSHOT_SCORES ? f->n_cols : SNAPSHOT_SCORES;
  memcpy(f->scores, scores, (size_t)n * sizeof *scores);
}

/* A tile begins: what was known before it. Its scores may be there from an earlier pass. */
static void begin_tile(struct StageRow *r, const Cursor *c) {
  SnapshotRow *f = &r->fold;
  f->phase = ROW_NONE;
  f->tile = c->j;
  f->col0 = c->col0;
  f->n_cols = c->col1 - c->col0;
  f->n_overflowed = 0;
  f->factor = 1; /* a later pass finds the maximum as it is */
  f->m_old = f->m;
  f->l_old = f->l_scaled = f->l;
  memcpy(f->O_old, f->O, sizeof f->O);
  memset(f->scores, 0, sizeof f->scores);
  memset(f->weights, 0, sizeof f->weights);
  if (r->seen && !isnan(r->seen[f->col0])) keep_scores(f, r->seen + f->col0);
}

static void begin_row(SnapshotRow *f) {
  f->phase = ROW_NONE;
  f->tile = -1;
  f->n_cols = 0;
}

static void see_scores(struct StageRow *r, const double *tile) {
  SnapshotRow *f = &r->fold;
  if (f->tile < 0) return;
  memcpy(r->seen + f->col0, tile, (size_t)f->n_cols * sizeof *tile);
  keep_scores(f, tile);
}

static void see_weights(const Evaluator *v, struct StageRow *r, const double *tile) {
  SnapshotRow *f = &r->fold;
  const Precision stored = v->state->config.softmax.precision;
  if (f->tile < 0) return;
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
    f->m_old = f->m;
    f->factor = 0;
  } else if (root == NODE_MAX) { /* what l and O have to shrink by, before they do */
    f->factor = f->m > -INFINITY ? exp(f->m_old - f->m) : 1;
  }
}

static void see_l(const Evaluator *v, struct StageRow *r, double l, bool is_load, const ProgramAssign *a) {
  SnapshotRow *f = &r->fold;
  const EvaluateRow *row = v->schedule->declares ? NULL : evaluate_row(v, r->row);
  f->l = l;
  if (is_load || !a || a->kind != ASSIGN_TIMES) return;
  if (row) f->factor = row->factor;
  f->l_scaled = f->l;
}

static void see_name(const Stage *stage, struct StageRow *r, const Evaluator *v, int name, bool is_load,
                     const ProgramAssign *a) {
  const SnapshotRoles *roles = &stage->roles;
  const int tensor = v->schedule->names[name].tensor;
  const double *tile = row_in(v, r, name);
  if (!tile) return;
  if (has(roles->S, name)) see_scores(r, tile);
  if (has(roles->P, name)) see_weights(v, r, tile);
  if (has(roles->m, name)) see_m(v, r, *tile, a);
  if (has(roles->l, name)) see_l(v, r, *tile, is_load, a);
  if (has(roles->O, name) && v->state->shown[tensor] == name)
    memcpy(r->fold.O, tile, (size_t)n_O(stage) * sizeof *tile);
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

static void see_roles(const Stage *stage, struct StageRow *r, const Evaluator *v, int at) {
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
    see_name(stage, r, v, a->name, false, a);
  }
  const bool is_load = op->kind == OP_EVENT && op->event == EVENT_LOAD;
  for (int k = 0; k < op->n_moved && (is_load || op->event == EVENT_MASK); k++)
    see_name(stage, r, v, op->moved[k], is_load, NULL);
  const RowPhase phase = op->kind == OP_EVENT && in_tile ? phase_of(v->schedule, &stage->roles, op) : ROW_NONE;
  if (phase > f->phase) f->phase = (uint8_t)phase;
}

void snapshot_row_see(const Stage *stage, struct StageRow *r, const Evaluator *v, int at) {
  see_roles(stage, r, v, at);
  see_values(v, r, at);
}
