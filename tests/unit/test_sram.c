/* Places in SRAM: programs of a few lines worked out by hand, and the shipped ones step by step: what is still to be
 * read is never written over. */
#include "tests/support/test.h"
#include "sim/algorithms/language/read.h"
#include "sim/algorithms/schedule.h"
#include "sim/algorithms/walk/live.h"
#include "tests/support/rand.h"

static const SramSizes SIZES = {.B_r = 8, .B_c = 16, .d = 32, .d_v = 24, .element_bytes = 2};
enum { Q = 8 * 32 * 2, K = 16 * 32 * 2, V = 16 * 24 * 2, O = 8 * 24 * 2, S = 8 * 16 * 2, COLUMN = 8 * 4 };

/* Of a program whose loop has these lines. */
static int64_t bytes_with(const char *lines) {
  static Program p;
  static char text[2048];
  snprintf(text, sizeof text,
           "algorithm t\ninput Q_i: B_r x d\ninput K_j: B_c x d\ninput V_j: B_c x d_v\noutput O_i: B_r x d_v\n"
           "kernel k\n  for every row block i\n    load Q_i\n    O_i = 0\n    for each column block j\n"
           "      load K_j\n%s    store O_i\n",
           lines);
  must(program_read(&p, text, strlen(text), "t.walk", fresh_error()));
  return (int64_t)sram_budget(&p, &SIZES).bytes;
}

TEST(places_by_hand) {
  static const struct {
    const char *lines;
    int64_t bytes;
  } CASES[] = {
      /* P has the place of S; V does not have that of K: it may come early */
      {"      S = Q_i K_j^T\n      P = e^S\n      load V_j\n      O_i += P V_j\n", Q + K + V + O + S},
      /* S is set again while P is needed: P has a place of its own */
      {"      load V_j\n      S = Q_i K_j^T\n      P = e^S\n      S = Q_i K_j^T\n      O_i += (P + S) V_j\n",
       Q + K + V + O + 2 * S},
      /* a product needs a place beside the tile that is read for the last time */
      {"      load V_j\n      S = Q_i K_j^T\n      P = S x (Q_i K_j^T)\n      O_i += P V_j\n", Q + K + V + O + 2 * S},
      {"      load V_j\n      S = Q_i K_j^T\n      P = S x S\n      O_i += P V_j\n", Q + K + V + O + S},
      /* T has the place of P, which an earlier line read last */
      {"      load V_j\n      S = Q_i K_j^T\n      P = e^S\n      O_i += P V_j\n      T = Q_i K_j^T\n      O_i += T "
       "V_j\n",
       Q + K + V + O + S},
      /* R: B_r x d_v has that of U: B_r x d, which is larger; but not while U is needed */
      {"      load V_j\n      S = Q_i K_j^T\n      U = S K_j\n      O_i += (U K_j^T) V_j\n      R = S V_j\n      O_i "
       "+= R\n",
       Q + K + V + O + S + Q},
      {"      load V_j\n      S = Q_i K_j^T\n      U = S K_j\n      R = S V_j\n      O_i += (U K_j^T) V_j\n      O_i "
       "+= R\n",
       Q + K + V + O + S + Q + O},
      /* a column with a prime is in registers, another one is not */
      {"      load V_j\n      S = Q_i K_j^T\n      m' = row max of S\n      P = e^(S - m')\n      O_i += P V_j\n",
       Q + K + V + O + S},
      {"      load V_j\n      S = Q_i K_j^T\n      m = row max of S\n      P = e^(S - m)\n      O_i += P V_j\n",
       Q + K + V + O + S + COLUMN},
  };
  EACH (k, CASES)
    if (bytes_with(CASES[k].lines) != CASES[k].bytes)
      fail_msg("%d bytes, by hand %d:\n%s", (int)bytes_with(CASES[k].lines), (int)CASES[k].bytes, CASES[k].lines);
}

/* At 64 x 128 and d = 128, in fp16: Q and dO 16 KiB each; K, V, dK, dV 32 each; P in the place of S and dS 16 each:
 * 192, with L and D. The sums for dQ have the place of dO. As many are alive on the line of dS. */
TEST(backward_has_what_is_alive) {
  static const char *const NAMES[] = {"fa2-backward", "fa2-backward-twice"};
  const SramSizes sizes = {.B_r = 64, .B_c = 128, .d = 128, .d_v = 128, .element_bytes = 2};
  for (int k = 0; k < 2; k++)
    assert_int_equal(sram_budget(schedule_find(NAMES[k]), &sizes).bytes, 192 * 1024 + 2 * 64 * 4);
}

enum { EVENTS_MAX = 4096 };

static bool is_in_registers(const ProgramName *n) {
  return strchr(n->text, '\'') && (n->rows == SIDE_ONE || n->cols == SIDE_ONE);
}

/* What a kernel loads `once` comes again without an event. */
static NameSet loaded_once(const Program *p, int kernel) {
  NameSet names = 0;
  for (int op = p->kernels[kernel].first_op; op < p->kernels[kernel].end_op; op++)
    if (p->ops[op].once) names |= live_sets(p, op);
  return names;
}

static int64_t block_of(const Event *e, int dim) {
  return dim == DIM_I ? e->i : dim == DIM_J ? e->j : dim == DIM_S ? e->split : 0;
}

/* Names that lines without an event set between two events. */
static NameSet set_between(const Program *p, const Event *a, const Event *b) {
  NameSet names = 0;
  for (int op = 0; op < b->op; op++) {
    const ProgramOp *o = &p->ops[op];
    bool again = false; /* in another iteration of a loop around it */
    for (int dim = 0; dim < DIM_COUNT; dim++) again |= (o->loops >> dim & 1) && block_of(a, dim) != block_of(b, dim);
    if (o->kind == OP_SET && (op > a->op || again)) names |= live_sets(p, op);
  }
  return names;
}

/* Backwards over all events of a problem: what a line sets lies in no place that something has which is read later. */
static void check_walk(const Program *p, const Plan *plan) {
  static Event events[EVENTS_MAX];
  int n = 0;
  Cursor cursor = {0};
  while (n < EVENTS_MAX && schedule_next(p, plan, &cursor, &events[n])) n++;
  assert_true(n < EVENTS_MAX);
  NameSet needed = 0;
  for (int k = n - 1; k >= 0; k--) {
    const Event *e = &events[k];
    const int kernel = p->ops[e->op].kernel;
    if (k + 1 < n && p->ops[events[k + 1].op].kernel != kernel) needed = 0;
    if (k + 1 < n) needed &= ~set_between(p, e, &events[k + 1]);
    if (e->kind == EVENT_SKIP) continue;
    const NameSet sets = live_sets(p, e->op), after = needed;
    for (int name = 0; name < p->n_names; name++) {
      if (!(sets >> name & 1)) continue;
      assert_true(sram_place(p, kernel, name) >= 0 || is_in_registers(&p->names[name]));
      for (int other = 0; other < p->n_names; other++)
        if (other != name && (after >> other & 1) && sram_place(p, kernel, other) >= 0 &&
            sram_place(p, kernel, other) == sram_place(p, kernel, name))
          fail_msg("%s: '%.*s' writes over %s", p->name, p->lines[e->line].length, p->text + p->lines[e->line].begin,
                   p->names[other].text);
    }
    needed = ((needed & ~sets) | live_reads(p, e->op)) & ~loaded_once(p, kernel);
  }
}

TEST(nothing_needed_is_written_over) {
  Rand r = {192};
  int tried = 0;
  for (int k = 0; k < 40 * N_PROGRAMS; k++) {
    const Schedule *s = SCHEDULES[k % N_PROGRAMS];
    Shape shape = {.N_q = rand_in(&r, 1, 20), .N_k = rand_in(&r, 1, 20), .d = 4, .d_v = 3, .causal = rand_in(&r, 0, 1)};
    Tiling tiling = {.B_r = rand_in(&r, 1, 6), .B_c = rand_in(&r, 1, 6), .n_splits = s->splits ? rand_in(&r, 1, 3) : 1};
    Plan plan;
    tiling.lse = rand_in(&r, 0, 1);
    if (s->diagonal) shape.N_k = shape.N_q, tiling.B_c = tiling.B_r, shape.causal = true;
    must(plan_make(&plan, &shape, &tiling, NULL));
    if (schedule_takes(s, &plan, NULL)) continue;
    check_walk(s, &plan);
    tried++;
  }
  assert_true(tried > 30 * N_PROGRAMS);
}
