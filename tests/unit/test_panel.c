/* The values that the softmax panel shows, of programs that nobody has seen (tests/support/made_program.h): at every
 * step each value of the shown row, before and after the line, against a slow fold in fp64 that does to one row what
 * the generator's lines say.
 *
 * `PANEL_PROGRAMS=10000` makes so many of them. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "sim/algorithms/language/read.h"
#include "sim/base/random.h"
#include "sim/numbers/reference.h"
#include "tests/support/made_program.h"
#include "tests/support/sanitized.h"
#include "viz/scene/snapshot.h"

enum { MOST = 32 };

/* One row: of each value what it holds. */
typedef struct {
  double x[VALUES][MOST];
  int n[VALUES]; /* numbers; 0: nothing yet */
  bool started[2];
} RowState;

typedef struct {
  const Maker *m;
  const Stage *stage;
  int64_t row, col0, n_cols;
  int n_O;
} Fold;

static double input(const Fold *f, int which, int64_t row, int64_t col) {
  const Shape *shape = &f->stage->run.plan.shape;
  const uint64_t index = (uint64_t)(row * (which == 2 ? shape->d_v : shape->d) + col);
  return (float)random_normal(f->stage->config.seed, (uint64_t)which, index);
}

/* A hidden score and what has no maximum are nothing. */
static double power(double a, double b) { return a == -INFINITY ? 0 : exp(a - b); }
static double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

/* How many numbers of a row a value has. */
static int width_of(const Fold *f, int value) {
  switch (f->m->values[value].shape) {
  case COLUMN: return 1;
  case TILE: return (int)f->n_cols;
  default: return f->n_O;
  }
}

static double score(const Fold *f, int64_t col) {
  const int64_t d = f->stage->run.plan.shape.d;
  double sum = 0;
  for (int64_t c = 0; c < d; c++) sum += input(f, 0, f->row, c) * input(f, 1, col, c);
  return sum / sqrt((double)d);
}

static void set(const Fold *f, RowState *s, int value, double x) {
  s->n[value] = width_of(f, value);
  for (int k = 0; k < s->n[value]; k++) s->x[value][k] = x;
}

static double weighed(const Fold *f, const RowState *s, const Record *r, int column) {
  double sum = 0;
  for (int k = 0; k < f->n_cols; k++) {
    const double p = r->does == DOES_ADD ? s->x[r->a][k] : power(s->x[r->a][k], s->x[r->b][0]);
    sum += p * input(f, 2, f->col0 + k, column);
  }
  return sum;
}

static void each(const Fold *f, RowState *s, const Record *r, int k) {
  double *to = &s->x[r->to[0]][k];
  const double *a = s->x[r->a], *b = s->x[r->b];
  switch (r->does) {
  case DOES_SCORES: *to = score(f, f->col0 + k); break;
  case DOES_MASK:
    if (!reference_sees(&f->stage->run.plan.shape, f->row, f->col0 + k)) *to = -INFINITY;
    break;
  case DOES_DOUBLE: *to = a[k] + a[k]; break;
  case DOES_POWER: *to = power(a[k], b[0]); break;
  case DOES_DIVIDE: *to = ratio(*to, a[0]); break;
  case DOES_COPY: *to = a[0]; break;
  case DOES_LOG: *to = a[0] + log(b[0]); break;
  case DOES_ADD:
  case DOES_ADD_POWER: *to += weighed(f, s, r, k); break;
  default: break;
  }
}

static void do_line(const Fold *f, RowState *s, const Record *r) {
  const int to = r->to[0];
  if (r->does == DOES_MOVE) return;
  s->n[to] = width_of(f, to);
  if (r->does == DOES_START || r->does == DOES_ZERO) set(f, s, to, 0), set(f, s, r->to[1], 0);
  if (r->does == DOES_START) set(f, s, r->a, -INFINITY);
  if (r->does == DOES_TOP) s->x[to][0] = s->x[r->a][0];
  for (int k = 0; k < f->n_cols && (r->does == DOES_TOP || r->does == DOES_SUM); k++)
    s->x[to][0] = r->does == DOES_TOP ? fmax(s->x[to][0], s->x[r->b][k]) : s->x[to][0] + s->x[r->a][k];
  for (int of = 0; of < 2 && r->does == DOES_RESCALE; of++)
    for (int k = 0; k < s->n[r->to[of]]; k++) s->x[r->to[of]][k] *= power(s->x[r->a][0], s->x[r->b][0]);
  for (int k = 0; k < s->n[to]; k++) each(f, s, r, k);
}

static double largest(const RowState *s, int value) {
  double most = s->n[value] ? s->x[value][0] : NAN;
  for (int k = 0; k < s->n[value]; k++) most = fmax(most, s->x[value][k]);
  return most;
}

static bool is_zero(const RowState *s, int value) {
  for (int k = 0; k < s->n[value]; k++)
    if (s->x[value][k] != 0) return false;
  return true;
}

static bool differs(double is, double must) {
  if (isnan(is) || isnan(must)) return isnan(is) != isnan(must);
  return is != must && !(fabs(is - must) <= 1e-4 * (1 + fabs(must)));
}

static int name_of(const Program *p, const Value *v) {
  for (int k = 0; k < p->n_names; k++)
    if (strcmp(p->names[k].text, v->text) == 0) return k;
  return -1;
}

static void compare(const Fold *f, const RowState *before, const RowState *after, const Snapshot *now) {
  const Program *p = now->schedule;
  assert_int_equal(now->row.row, f->row);
  for (int v = 0; v < f->m->n_values; v++) {
    const int name = name_of(p, &f->m->values[v]);
    if (name < 0 || p->names[name].is_input) continue;
    const SnapshotValue *is = &now->row.values[name];
    const double was = largest(before, v), must = largest(after, v);
    if (differs(is->before, was) || differs(is->now, must) || (after->n[v] && is->is_zero != is_zero(after, v)))
      fail_msg("step %d, row %d, '%.*s': %s is %.9g, then %.9g; by the fold %.9g, then %.9g\n%s", (int)now->step,
               (int)f->row, p->lines[now->event.line].length, p->text + p->lines[now->event.line].begin,
               f->m->values[v].text, is->before, is->now, was, must, p->text);
  }
}

/* Lines that are no event come before the first one in the loop, or behind it. */
static void start(const Fold *f, RowState *s, int kernel, int at) {
  for (int k = 0; k < f->m->n_records && !s->started[kernel]; k++)
    if (f->m->records[k].kernel == kernel && !f->m->records[k].is_event && k < at) {
      do_line(f, s, &f->m->records[k]);
      s->started[kernel] = true;
    }
}

static void check_panel(const Maker *m, const Program *p, const StageConfig *config) {
  static RowState states[MOST];
  Stage stage;
  Error error = {0};
  memset(states, 0, sizeof states);
  if (stage_make(&stage, config, &error)) fail_msg("%s", error.message);
  assert_non_null(stage.row);
  for (uint64_t step = 1; step <= stage.n_steps; step++) {
    static Snapshot now;
    stage_snapshot(&stage, step, &now);
    const Event *e = &now.event;
    if (!now.has_event || e->kind == EVENT_SKIP || e->i < 0) continue;
    const int at = made_record(m, p, e), kernel = p->ops[e->op].kernel;
    assert_true(at >= 0);
    RowState *s = &states[e->i], before;
    Fold f = {.m = m, .stage = &stage, .row = e->row0 + (e->row1 - e->row0) / 2, .col0 = e->col0};
    f.n_cols = e->col1 - e->col0;
    f.n_O = (int)(stage.run.plan.shape.d_v < SNAPSHOT_O ? stage.run.plan.shape.d_v : SNAPSHOT_O);
    start(&f, s, kernel, at);
    before = *s;
    do_line(&f, s, &m->records[at]);
    compare(&f, &before, s, &now);
  }
  stage_free(&stage);
}

static void made_insert(char *at, const char *line) {
  memmove(at + strlen(line), at, strlen(at) + 1);
  memcpy(at, line, strlen(line));
}

TEST(values_are_those_of_a_slow_fold) {
  const char *wanted = getenv("PANEL_PROGRAMS");
  const int n = wanted ? atoi(wanted) : 150 / ONE_OF;
  Rand r = {472};
  int n_whole = 0;
  for (int k = 0; k < n; k++) {
    Maker m;
    static char text[TEXT];
    static Program p;
    Error error = {0};
    made_program(&m, &r, true, text);
    char *declared = strstr(text, "\ninput ");
    if (k % 2 && declared) /* one more input, and the row is followed with all others of its head */
      made_insert(declared + 1, "input WWW_i: B_r x 1\n");
    if (program_read(&p, text, strlen(text), "random.walk", &error)) fail_msg("%s\n%s", error.message, text);
    StageConfig config = {.schedule = &p, .rivals = {&p}, .n_rivals = 1};
    config.problem.machine = machine_paper();
    config.problem.shape = (Shape){.N_q = rand_in(&r, 1, 30),
                                   .N_k = rand_in(&r, 1, 30),
                                   .d = rand_in(&r, 1, 9),
                                   .d_v = rand_in(&r, 1, 9),
                                   .dtype = DTYPE_FP32,
                                   .causal = rand_in(&r, 0, 1)};
    config.problem.tiling = (Tiling){.B_r = rand_in(&r, 1, 9), .B_c = rand_in(&r, 1, 9)};
    check_panel(&m, &p, &config);
    n_whole += !evaluate_follows_rows(&p);
  }
  assert_true(n_whole > n / 8);
}
