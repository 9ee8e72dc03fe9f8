/* Where the numbers of a program lie, and how many there are. */

#include "sim/numbers/evaluate_inner.h"

/* Whether a block of the name goes out to HBM under this plan. */
static bool is_stored(const Schedule *s, const Plan *plan, int name) {
  for (int op = 0; op < s->n_ops; op++) {
    const ProgramOp *o = &s->ops[op];
    if (o->kind != OP_EVENT || o->event != EVENT_STORE || (o->when & ~schedule_when(plan))) continue;
    for (int k = 0; k < o->n_moved; k++)
      if (o->moved[k] == name) return true;
  }
  return false;
}

/* What is transposed, or of which a part is taken. */
static int bare(const Schedule *s, int node) {
  while (s->nodes[node].kind == NODE_TRANSPOSE || s->nodes[node].kind == NODE_FIRST) node = s->nodes[node].a;
  return node;
}

static bool is_operand(const Schedule *s, int name) {
  for (int k = 0; k < s->n_nodes; k++) {
    const ProgramNode *n = &s->nodes[k];
    if (n->kind == NODE_MATMUL && (s->nodes[bare(s, n->a)].name == name || s->nodes[bare(s, n->b)].name == name))
      return true;
  }
  return false;
}

bool evaluate_follows_rows(const Schedule *s) {
  for (int k = 0; k < s->n_names; k++)
    if (s->names[k].is_input && !is_operand_of(s, k, 0) && !is_operand_of(s, k, 1) && !is_operand_of(s, k, 2))
      return false;
  for (int k = 0; k < s->n_declarations; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    if (d->role == TENSOR_OUTPUT && s->names[d->name].rows != SIDE_ROWS) return false;
    if (d->formula && s->nodes[d->formula - 1].kind != NODE_ATTENTION) return false;
  }
  return s->operands[0] && s->operands[1] && s->operands[2] && !s->over_heads && !s->diagonal;
}

static Wide tile_numbers(const Evaluate *e, int rows, int cols, bool *overflow) {
  return checked_mul((Wide)e->n[rows], (Wide)e->n[cols], overflow);
}

/* Numbers of all of its matrices. */
static Wide matrix_numbers(const Evaluate *e, const Plan *plan, const ProgramName *n, bool *overflow) {
  const Wide one = checked_mul((Wide)whole_side(e, plan, n->rows), (Wide)whole_side(e, plan, n->cols), overflow);
  return checked_mul(one, (Wide)schedule_matrices(plan, n), overflow);
}

/* Room for what an expression needs on the way: its values, and those that a product takes once more, rounded. */
static Wide scratch_numbers(const Evaluate *e, const Schedule *s, int node, bool *overflow) {
  const ProgramNode *n = &s->nodes[node];
  const bool looks = n->kind == NODE_NAME || n->kind == NODE_TRANSPOSE || n->kind == NODE_FIRST;
  Wide sum = looks ? 0 : tile_numbers(e, n->rows, n->cols, overflow);
  const int operands[] = {n->a, n->b};
  for (int k = 0; k < 2; k++) {
    if (operands[k] < 0) continue;
    const ProgramNode *o = &s->nodes[operands[k]];
    sum = checked_add(sum, scratch_numbers(e, s, operands[k], overflow), overflow);
    if (n->kind == NODE_MATMUL && o->kind != NODE_NAME)
      sum = checked_add(sum, tile_numbers(e, o->rows, o->cols, overflow), overflow);
  }
  return sum;
}

static size_t place(Wide *total, Wide n, bool *overflow) {
  const size_t at = (size_t)*total;
  *total = checked_add(*total, n, overflow);
  return at;
}

Wide evaluate_layout(Evaluate *e, const Schedule *s, const Plan *plan, const EvaluateConfig *config, bool *overflow) {
  *e = (Evaluate){.config = *config, .block = -1};
  const Precision accumulator = precision_accumulator(config->softmax.precision);
  e->scale = precision_computed(accumulator, config->scale != 0 ? config->scale : 1 / sqrt((double)plan->shape.d));
  const int64_t n_rows = width(config->rows);
  int64_t longest = 1;
  e->n[SIDE_ONE] = 1;
  e->n[SIDE_ROWS] = min64(plan->tiling.B_r, n_rows);
  e->n[SIDE_COLS] = min64(plan->tiling.B_c, plan->shape.N_k);
  e->n[SIDE_D] = plan->shape.d;
  e->n[SIDE_DV] = config->n_v;
  for (int k = SIDE_OWN; k < SIDE_COUNT; k++) e->n[k] = schedule_side(s, plan, k);
  if (n_rows < plan->shape.N_q) e->block = config->rows.begin / plan->tiling.B_r;
  Wide total = 0, scratch = 0;
  for (int k = 0; k < s->n_names; k++) {
    e->sram[k] = e->rounded[k] = e->hbm[k] = EVALUATE_NOWHERE;
    if (s->names[k].is_input && !config->inputs_apart)
      e->hbm[k] = place(&total, matrix_numbers(e, plan, &s->names[k], overflow), overflow);
  }
  e->n_inputs = (size_t)total;
  for (int k = 0; k < s->n_names; k++) {
    const ProgramName *n = &s->names[k];
    if (n->is_input) continue;
    const Wide tile = tile_numbers(e, n->rows, n->cols, overflow);
    e->sram[k] = place(&total, tile, overflow);
    if (is_operand(s, k)) e->rounded[k] = place(&total, tile, overflow);
    if (is_stored(s, plan, k)) e->hbm[k] = place(&total, matrix_numbers(e, plan, n, overflow), overflow);
  }
  for (int k = 0; k < s->n_assigns; k++) {
    const Wide needed = scratch_numbers(e, s, s->assigns[k].value, overflow);
    if (needed > scratch) scratch = needed;
  }
  for (int k = 0; k < s->n_ops; k++) {
    const Wide needed = s->ops[k].value ? scratch_numbers(e, s, s->ops[k].value - 1, overflow) : 0;
    if (needed > scratch) scratch = needed;
  }
  for (int k = 0; k < SIDE_COUNT; k++)
    if (e->n[k] > longest) longest = e->n[k];
  e->chosen_at = place(&total, (Wide)longest, overflow);
  e->rows_at = place(&total, (Wide)e->n[SIDE_ROWS] * (sizeof(EvaluateRow) / sizeof(double)), overflow);
  e->scratch_at = place(&total, scratch, overflow);
  e->n_numbers = (size_t)total;
  return total;
}

/* Which of a name's matrices, in a loop's present split, head and block. */
static int64_t matrix_of(const Evaluator *v, const Cursor *c, const ProgramName *n) {
  const Plan *plan = v->plan;
  const bool rows = sides_have(n->rows, n->cols, SIDE_ROWS), cols = sides_have(n->rows, n->cols, SIDE_COLS);
  int64_t index = n->subscripts & IN_S ? max64(c->split, 0) : 0;
  if (n->subscripts & IN_H) index = index * schedule_group(plan) + max64(c->head, 0);
  if ((n->subscripts & IN_I) && !rows && !cols) index = index * plan->T_r + max64(c->i, 0);
  if ((n->subscripts & IN_J) && !rows && !cols) index = index * plan->T_c + max64(c->j, 0);
  return index;
}

static int64_t first_in_whole(const Evaluator *v, const Cursor *c, int side) {
  if (side == SIDE_ROWS) return max64(present_rows(v, c).begin - v->state->config.rows.begin, 0);
  return side == SIDE_COLS ? c->col0 : 0;
}

/* The element of the name's matrix in HBM that its present tile begins with, and how far its rows are apart. */
double *evaluate_block_in_hbm(const Evaluator *v, const Cursor *c, int name, int64_t *stride) {
  const Evaluate *e = v->state;
  const ProgramName *n = name_of(v, name);
  *stride = whole_side(e, v->plan, n->cols);
  const int64_t row = matrix_of(v, c, n) * whole_side(e, v->plan, n->rows) + first_in_whole(v, c, n->rows);
  return v->numbers + e->hbm[name] + row * *stride + first_in_whole(v, c, n->cols);
}

double *evaluate_matrix(const Evaluator *v, int name, int64_t head, int64_t split) {
  const Evaluate *e = v->state;
  const ProgramName *n = name_of(v, name);
  const Cursor at = {.head = head, .split = split};
  if (e->hbm[name] == EVALUATE_NOWHERE) return NULL;
  return v->numbers + e->hbm[name] +
         matrix_of(v, &at, n) * whole_side(e, v->plan, n->rows) * whole_side(e, v->plan, n->cols);
}
