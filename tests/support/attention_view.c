#include "tests/support/attention_view.h"

static const double *numbers_of(const Attention *a) {
  return (const double *)(const void *)((const char *)a + a->numbers);
}

static int64_t rows_of(const Attention *a, int name) {
  return schedule_side_whole(a->schedule, &a->plan, a->schedule->names[name].rows);
}

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

static AttentionView nothing(void) { return (AttentionView){0}; }

static bool is_empty(Span span) { return span.end <= span.begin; }

/* Rows `rows` of an input, all of its columns. */
static AttentionView input_view(const Attention *a, int name, Span rows) {
  const int64_t cols = schedule_side_whole(a->schedule, &a->plan, a->schedule->names[name].cols);
  if (is_empty(rows)) return nothing();
  return (AttentionView){attention_matrix(a, name, 0) + rows.begin * cols, rows, {0, cols}, cols};
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
  return (AttentionView){numbers_of(a) + (rounded ? e->rounded[name] : e->sram[name]), tile->rows, tile->cols,
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
  const double *values = numbers_of(a) + e->hbm[name] + split * shape->N_q * cols;
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

/* The first name of the tensor, without a subscript s, that is stored. */
static AttentionView stored_of(const Attention *a, int tensor) {
  for (int k = 0; k < a->schedule->n_names; k++) {
    const ProgramName *n = &a->schedule->names[k];
    if (n->is_input || n->tensor != tensor || n->subscripts & IN_S) continue;
    const AttentionView view = stored(a, k, 0);
    if (view.values) return view;
  }
  return nothing();
}

AttentionView attention_in_hbm(const Attention *a, const char *text) {
  const int tensor = row_of(a, text), input = input_named(a, tensor);
  return input >= 0 ? input_view(a, input, (Span){0, rows_of(a, input)}) : stored_of(a, tensor);
}

void attention_set_input(Attention *a, const char *tensor, const double *values) {
  const int name = input_named(a, row_of(a, tensor));
  double *to = (double *)(uintptr_t)attention_matrix(a, name, 0);
  const int64_t n = rows_of(a, name) * schedule_side_whole(a->schedule, &a->plan, a->schedule->names[name].cols);
  for (int64_t k = 0; k < n; k++) to[k] = precision_round(a->config.softmax.precision, values[k]);
}

const AttentionRow *attention_row(const Attention *a, int64_t row) {
  Attention *mutable = (Attention *)(uintptr_t)a; /* an Evaluator can write; looking does not */
  const Evaluator v = {.schedule = a->schedule,
                       .plan = &a->plan,
                       .state = &mutable->evaluate,
                       .numbers = (double *)(uintptr_t)numbers_of(a)};
  return evaluate_row(&v, row);
}
