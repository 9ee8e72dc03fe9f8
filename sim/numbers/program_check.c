#include "sim/numbers/program_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/numbers/rank_numbers.h"

/* Small, and ragged on both sides. */
typedef struct {
  const char *mask; /* as messages say it */
  int N_q, N_k, B_r, B_c;
  bool causal, top_left;
  int window, n_splits;
  bool lse, peaks, far;
  int n_ranks; /* of programs that say what ranks do, alone; 0: one GPU */
} Trial;

static const Trial TRIALS[] = {
    {.mask = "without a mask", .N_q = 21, .N_k = 21, .B_r = 8, .B_c = 4, .n_splits = 2, .lse = true},
    {.mask = "with a causal mask", .N_q = 21, .N_k = 21, .B_r = 8, .B_c = 4, .causal = true, .n_splits = 2},
    {.mask = "without a mask, tiles 5 x 8", .N_q = 13, .N_k = 21, .B_r = 5, .B_c = 8, .n_splits = 1, .lse = true},
    {.mask = "with a causal mask and rows without keys",
     .N_q = 21,
     .N_k = 13,
     .B_r = 5,
     .B_c = 4,
     .causal = true,
     .n_splits = 3,
     .lse = true},
    {.mask = "with a causal mask in the top left corner",
     .N_q = 13,
     .N_k = 21,
     .B_r = 4,
     .B_c = 8,
     .causal = true,
     .top_left = true,
     .n_splits = 1},
    {.mask = "with a window", .N_q = 21, .N_k = 21, .B_r = 4, .B_c = 4, .causal = true, .window = 5, .n_splits = 2},
    {.mask = "with a causal mask and outliers",
     .N_q = 21,
     .N_k = 21,
     .B_r = 8,
     .B_c = 8,
     .causal = true,
     .n_splits = 2,
     .lse = true,
     .peaks = true},
    {.mask = "with rows whose scores are all far below or above 0",
     .N_q = 21,
     .N_k = 21,
     .B_r = 8,
     .B_c = 4,
     .n_splits = 2,
     .far = true},
    {.mask = "on 2 ranks", .N_q = 20, .N_k = 20, .B_r = 4, .B_c = 3, .lse = true, .n_ranks = 2},
    {.mask = "on 3 ranks with a causal mask", .N_q = 30, .N_k = 30, .B_r = 4, .B_c = 3, .causal = true, .n_ranks = 3},
};

enum { N_TRIALS = COUNT_OF(TRIALS), TRIED_D = 6, TRIED_D_V = 5, GROUP = 3 };

/* fp64 in another order errs by 1e-15, and outliers make it 1e-12; a rounding to a type errs by half a unit in its last
 * place, and results are sums of some tens of those. */
static double tolerance(Precision precision) {
  if (precision == PRECISION_FP64) return 1e-9;
  return fmin(0.5, 32 * precision_ulp(precision, 1));
}

/* ---- One problem ------------------------------------------------------------------------------------------- */

static Status plan_trial(const Schedule *s, const Trial *t, Plan *plan, Error *error) {
  Shape shape = {.N_q = t->N_q,
                 .N_k = t->N_k,
                 .d = TRIED_D,
                 .d_v = TRIED_D_V,
                 .causal = t->causal,
                 .top_left = t->top_left,
                 .window = t->window};
  Tiling tiling = {.B_r = t->B_r, .B_c = t->B_c, .n_splits = s->splits ? t->n_splits : 1, .lse = t->lse};
  if (s->diagonal) {
    shape.N_k = shape.N_q, tiling.B_c = tiling.B_r;
    shape.causal = true, shape.window = 0;
  }
  if (s->over_heads) shape.heads = GROUP, shape.kv_heads = 1;
  Status status = shape_complete(&shape, error);
  if (!status) status = plan_make(plan, &shape, &tiling, error);
  return status ? status : schedule_takes(s, plan, error);
}

static Status start(const Schedule *s, const Trial *t, const SoftmaxConfig *softmax, Attention **attention,
                    Error *error) {
  Plan plan;
  size_t bytes;
  *attention = NULL;
  Status status = plan_trial(s, t, &plan, error);
  if (!status) status = attention_bytes(&plan, s, &bytes, error);
  if (status) return status;
  void *memory = malloc(bytes);
  if (!memory) return error_no_memory(error, "to try the program");
  status = attention_start(memory, &plan, s, &(AttentionConfig){.softmax = *softmax}, attention, error);
  if (status) {
    free(memory);
    return status;
  }
  attention_fill(*attention, t->far ? INPUT_FAR : t->peaks ? INPUT_PEAKS : INPUT_NORMAL, 1, 0, 0);
  return STATUS_OK;
}

/* The largest error of an output, and its row; infinity: a number was never written, or is none. Where the formula
 * itself overflows nothing is judged. */
static void compare(const Attention *a, const ProgramDeclaration *d, int64_t head, const double *must, double *error,
                    int64_t *row, ProgramVerdict *v) {
  const Schedule *s = a->schedule;
  const ProgramName *n = &s->names[d->name];
  const int64_t rows = schedule_side_whole(s, &a->plan, n->rows), cols = schedule_side_whole(s, &a->plan, n->cols);
  const double *got = attention_matrix(a, d->name, head);
  double most = 1;
  for (int64_t k = 0; k < rows * cols; k++)
    if (isfinite(must[k])) most = fmax(most, fabs(must[k]));
  *error = 0;
  *row = 0;
  for (int64_t k = 0; k < rows * cols; k++) {
    const bool overflows = isnan(must[k]) || must[k] == INFINITY;
    *(overflows ? &v->n_unjudged : &v->n_judged) += 1;
    if (overflows) continue;
    const double off = got[k] == must[k]                       ? 0
                       : isfinite(got[k]) && isfinite(must[k]) ? fabs(got[k] - must[k]) / most
                                                               : INFINITY;
    if (off <= *error) continue;
    *error = off;
    *row = k / cols;
  }
}

/* All outputs; notes the largest error, of the first that is wrong. */
static Status judge(const Attention *a, double allowed, ProgramVerdict *v, int *wrong, Error *error) {
  const Schedule *s = a->schedule;
  *wrong = -1;
  for (int k = 0; k < s->n_declarations && *wrong < 0; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    const ProgramName *n = &s->names[d->name];
    if (d->role != TENSOR_OUTPUT || !d->formula || !attention_matrix(a, d->name, 0)) continue;
    const int64_t rows = schedule_side_whole(s, &a->plan, n->rows), cols = schedule_side_whole(s, &a->plan, n->cols);
    double *must = malloc((size_t)(rows * cols) * sizeof *must);
    for (int64_t head = 0; must && head < (n->subscripts & IN_H ? schedule_group(&a->plan) : 1); head++) {
      double off;
      int64_t row;
      if (!attention_reference(a, d, head, must)) {
        free(must);
        must = NULL;
        break;
      }
      compare(a, d, head, must, &off, &row, v);
      if (off > allowed && *wrong < 0) *wrong = k, v->error = 0;
      if (off < v->error || (*wrong >= 0 && *wrong != k)) continue;
      v->error = off;
      v->row = row;
      strcpy(v->output, n->text);
    }
    if (!must) return error_no_memory(error, "for what it must be");
    free(must);
  }
  return STATUS_OK;
}

/* ---- Where it goes wrong ------------------------------------------------------------------------------------ */

/* Whether a line has set a number of a row block to none. */
static bool makes_none(const Attention *a, const Event *e) {
  const ProgramOp *op = &a->schedule->ops[e->op];
  for (int k = op->first_assign; k < op->first_assign + op->n_assigns; k++) {
    const int name = a->schedule->assigns[k].name;
    const EvaluateTile *tile = &a->evaluate.tiles[name];
    const int64_t stride = a->evaluate.n[a->schedule->names[name].cols];
    const double *numbers = attention_tile(a, name);
    for (int64_t r = 0; r < tile->rows.end - tile->rows.begin; r++)
      for (int64_t c = 0; c < tile->cols.end - tile->cols.begin; c++)
        if (isnan(numbers[r * stride + c])) return true;
  }
  return false;
}

static bool moves_row(const Attention *a, const Event *e, int name, int64_t row) {
  const ProgramOp *op = &a->schedule->ops[e->op];
  const ProgramName *n = &a->schedule->names[name];
  const bool in_rows = n->rows == SIDE_ROWS, in_cols = n->rows == SIDE_COLS;
  if (e->kind != EVENT_STORE && e->kind != EVENT_ADD) return false;
  if ((in_rows && (row < e->row0 || row >= e->row1)) || (in_cols && (row < e->col0 || row >= e->col1))) return false;
  for (int k = 0; k < op->n_moved; k++)
    if (op->moved[k] == name) return true;
  return false;
}

/* Walks again: the line that first makes no number, else the one that stores the row last. */
static int find_line(const Schedule *s, const Trial *t, const SoftmaxConfig *softmax, int name, int64_t row) {
  Attention *a;
  Cursor cursor = {0};
  Event e;
  int line = 0;
  if (start(s, t, softmax, &a, NULL)) return 0;
  while (schedule_next(s, &a->plan, &cursor, &e) && !attention_apply(a, &e, NULL)) {
    const bool none = makes_none(a, &e);
    if (none || moves_row(a, &e, name, row)) line = s->lines[e.line].number;
    if (none) break;
  }
  free(a);
  return line;
}

/* ---- All problems ------------------------------------------------------------------------------------------- */

/* ", with a sink of 2 and scores capped at 50" */
static void put_extras(const SoftmaxConfig *softmax, char *text, size_t size) {
  *text = '\0';
  if (softmax->has_sink) snprintf(text, size, ", with a sink of %g", softmax->sink);
  const size_t used = strlen(text);
  if (softmax->softcap > 0)
    snprintf(text + used, size - used, "%s scores capped at %g", used ? " and" : ", with", softmax->softcap);
}

/* Of a block's name, the letters. */
static int letters(const char *text) { return (int)strcspn(text, "_"); }

static void say_wrong(ProgramVerdict *v, const char *mask, const char *with) {
  char where[48] = "";
  if (v->line)
    snprintf(where, sizeof where, isinf(v->error) ? "; no number since line %d" : "; line %d stores it", v->line);
  if (isinf(v->error))
    snprintf(v->text, sizeof v->text, "%.*s is wrong: %s%s, row %d is no number or never stored%s.", letters(v->output),
             v->output, mask, with, (int)v->row, where);
  else
    snprintf(v->text, sizeof v->text, "%.*s is wrong: %s%s, row %d is off by %.2g%s.", letters(v->output), v->output,
             mask, with, (int)v->row, v->error, where);
}

/* "O", "dQ, dK and dV": those declared that have a formula (an L that is implied goes unsaid). Returns how many. */
static int put_outputs(const Schedule *s, char *text, size_t size) {
  int n = 0, left = 0;
  size_t at = 0;
  *text = '\0';
  for (int k = 0; k < s->n_declarations; k++)
    left += s->names[s->declarations[k].name].is_output && s->declarations[k].formula;
  for (int k = 0; k < s->n_declarations && at < size; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    if (!s->names[d->name].is_output || !d->formula) continue;
    const char *name = s->names[d->name].text;
    left--;
    at += (size_t)snprintf(text + at, size - at, "%s%.*s", n == 0 ? "" : left ? ", " : " and ", letters(name), name);
    n++;
  }
  return n;
}

static Status try_one(const Schedule *s, const Trial *t, const SoftmaxConfig *softmax, ProgramVerdict *v, int *wrong,
                      Error *error) {
  Attention *a;
  Cursor cursor = {0};
  if (t->n_ranks && !s->ranks.is_said) return STATUS_OK;
  if (t->far && softmax->precision != PRECISION_FP64) return STATUS_OK; /* a rounded score of 300 is off by 1/8 */
  Status status = start(s, t, softmax, &a, error);
  if (status) return status;
  status = t->n_ranks ? rank_numbers(a, t->n_ranks, error) : attention_walk(a, s, &cursor, UINT64_MAX, error);
  if (!status) status = judge(a, tolerance(softmax->precision), v, wrong, error);
  free(a);
  return status;
}

bool program_is_right(const Schedule *s, const SoftmaxConfig *softmax, int *problem) {
  static const SoftmaxConfig NONE;
  const int first = *problem;
  for (int k = 0; k < N_TRIALS; k++) {
    const int t = k == 0 ? first : k <= first ? k - 1 : k;
    ProgramVerdict v = {0};
    int wrong = -1;
    if (!try_one(s, &TRIALS[t], softmax ? softmax : &NONE, &v, &wrong, NULL) && wrong < 0) continue;
    *problem = t;
    return false;
  }
  return true;
}

ProgramVerdict program_verdict(const Schedule *s, const SoftmaxConfig *extras) {
  const SoftmaxConfig none = {0}, *softmax = extras ? extras : &none;
  ProgramVerdict v = {.is_right = true, .row = -1};
  char with[96], outputs[64];
  int wrong = -1;
  const int n_outputs = put_outputs(s, outputs, sizeof outputs);
  put_extras(softmax, with, sizeof with);
  for (int k = 0; k < N_TRIALS; k++) {
    Error error = {0};
    if (try_one(s, &TRIALS[k], softmax, &v, &wrong, &error)) {
      v.is_right = false;
      snprintf(v.text, sizeof v.text, "%s was not tried: %.240s", n_outputs == 1 ? outputs : "the program",
               error.message);
      return v;
    }
    v.is_tried = true;
    if (wrong < 0) continue;
    v.is_right = false;
    if (!TRIALS[k].n_ranks) v.line = find_line(s, &TRIALS[k], softmax, s->declarations[wrong].name, v.row);
    say_wrong(&v, TRIALS[k].mask, with);
    return v;
  }
  if (n_outputs == 0)
    snprintf(v.text, sizeof v.text, "no output has a formula to be held against: 'output O_i = attention(Q, K, V)'.");
  else if (v.n_judged == 0 && v.n_unjudged > 0)
    snprintf(v.text, sizeof v.text, "%s %s not judged: what it must be is no number anywhere.", outputs,
             n_outputs == 1 ? "is" : "are");
  else
    snprintf(v.text, sizeof v.text, "%s %s right: in %s, with and without a causal mask%s%s, %s off by %.0e at most.",
             outputs, n_outputs == 1 ? "is" : "are", precision_format(softmax->precision)->name, with,
             s->ranks.is_said ? ", on 1, 2 and 3 ranks" : "", n_outputs == 1 ? "it is" : "they are", v.error);
  v.is_right = v.n_judged > 0 || v.n_unjudged == 0;
  const size_t used = strlen(v.text);
  if (v.n_judged && v.n_unjudged)
    snprintf(v.text + used - 1, sizeof v.text - used + 1, "; where the formula itself overflows nothing is judged.");
  return v;
}

/* The number of a declared output of that name; -1: none. */
static int find_output(const Schedule *s, const char *text) {
  for (int k = 0; k < s->n_declarations; k++) {
    const int name = s->declarations[k].name;
    if (s->declarations[k].role == TENSOR_OUTPUT && strcmp(s->names[name].text, text) == 0) return name;
  }
  return -1;
}

static bool same_number(double x, double y) {
  return (isnan(x) && isnan(y)) || x == y || fabs(x - y) <= 1e-9 * fmax(1, fmax(fabs(x), fabs(y)));
}

static bool same_after(const Attention *a, const Attention *b) {
  for (int k = 0; k < a->schedule->n_declarations; k++) {
    const ProgramDeclaration *d = &a->schedule->declarations[k];
    const ProgramName *n = &a->schedule->names[d->name];
    const double *x = d->role == TENSOR_OUTPUT ? attention_matrix(a, d->name, 0) : NULL;
    if (!x || !d->formula) continue;
    const int other = find_output(b->schedule, n->text);
    const double *y = other >= 0 ? attention_matrix(b, other, 0) : NULL;
    if (!y) return false;
    const int64_t rows = schedule_side_whole(a->schedule, &a->plan, n->rows);
    const int64_t cols = schedule_side_whole(a->schedule, &a->plan, n->cols);
    for (int64_t i = 0; i < rows * cols; i++)
      if (!same_number(x[i], y[i])) return false;
  }
  return true;
}

bool program_same_outputs(const Schedule *first, const Schedule *second) {
  static const SoftmaxConfig NONE;
  bool same = true;
  for (int k = 0; k < N_TRIALS && same && !TRIALS[k].n_ranks; k++) {
    Attention *a = NULL, *b = NULL;
    Cursor at = {0}, bt = {0};
    same = !start(first, &TRIALS[k], &NONE, &a, NULL) && !start(second, &TRIALS[k], &NONE, &b, NULL) &&
           !attention_walk(a, first, &at, UINT64_MAX, NULL) && !attention_walk(b, second, &bt, UINT64_MAX, NULL) &&
           same_after(a, b);
    free(a);
    free(b);
  }
  return same;
}

bool program_check(const Schedule *s, const SoftmaxConfig *softmax, char text[PROGRAM_CHECK_BYTES]) {
  const ProgramVerdict v = program_verdict(s, softmax);
  memcpy(text, v.text, PROGRAM_CHECK_BYTES);
  return v.is_right;
}
