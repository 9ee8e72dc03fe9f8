/* Races between CTAs: what the reader says of mutants of programs, against what CTAs touch when the events are walked.
 */
#include "tests/support/test.h"
#include "sim/algorithms/schedule.h"
#include "tests/support/mutate_program.h"
#include "tests/support/own_programs.h"
#include "tests/support/sanitized.h"

/* ---- What CTAs touch -------------------------------------------------------------------------------------- */

enum { BLOCKS = 2, CTAS = BLOCKS * BLOCKS * BLOCKS };

/* The CTAs that do an event: those whose index is the event's, in each loop that is around it. An event beside an inner
 * `every` is done by all CTAs of that loop. One bit a CTA. */
static uint32_t ctas_of(const Program *p, const Event *e) {
  const ProgramOp *op = &p->ops[e->op];
  const int64_t index[DIM_COUNT] = {e->i, e->j, e->split};
  uint32_t ctas = 0;
  for (int cta = 0; cta < CTAS; cta++) {
    bool is = true;
    for (int k = p->kernels[op->kernel].first_op; k < p->kernels[op->kernel].end_op; k++) {
      const ProgramOp *loop = &p->ops[k];
      if (loop->kind != OP_LOOP || !loop->every || !(op->loops >> loop->dim & 1)) continue;
      is = is && (cta >> loop->dim & 1) == index[loop->dim];
    }
    for (int dim = 0; dim < DIM_COUNT; dim++) { /* a loop that the kernel has not tells no CTAs apart */
      bool has = false;
      for (int k = p->kernels[op->kernel].first_op; k < p->kernels[op->kernel].end_op; k++)
        has = has || (p->ops[k].kind == OP_LOOP && p->ops[k].every && p->ops[k].dim == dim);
      is = is && (has || !(cta >> dim & 1));
    }
    if (is) ctas |= (uint32_t)1 << cta;
  }
  return ctas;
}

static bool is_one(uint32_t set) { return set && !(set & (set - 1)); }

/* The CTAs of a kernel that load, store and add to a block. */
typedef struct {
  uint32_t loaded, stored, added;
} Touched;

/* One CTA stores and nobody else touches; or any add, atomically, and nobody else loads. */
static bool is_race(const Touched *t) {
  const uint32_t all = t->loaded | t->stored | t->added;
  return (t->stored && !is_one(all)) || (t->added && t->loaded && !is_one(t->added | t->loaded));
}

/* Walks all events of BLOCKS x BLOCKS tiles without a mask. */
static bool races_when_walked(const Program *p, int64_t n_splits) {
  static Touched touched[PROGRAM_KERNELS_MAX][PROGRAM_NAMES_MAX][CTAS];
  const Shape shape = {.N_q = 2 * BLOCKS, .d = 1};
  const Tiling tiling = {.B_r = 2, .B_c = 2, .n_splits = p->splits ? n_splits : 1, .lse = true};
  Plan plan;
  Cursor cursor = {0};
  Event e;
  memset(touched, 0, sizeof touched);
  must(plan_make(&plan, &shape, &tiling, NULL));
  while (schedule_next(p, &plan, &cursor, &e)) {
    const ProgramOp *op = &p->ops[e.op];
    if (!event_moves(e.kind)) continue;
    const uint32_t ctas = ctas_of(p, &e);
    for (int k = 0; k < op->n_moved; k++) {
      const ProgramName *n = &p->names[op->moved[k]];
      const int64_t i = n->subscripts & IN_I ? e.i : 0, j = n->subscripts & IN_J ? e.j : 0,
                    s = n->subscripts & IN_S ? e.split : 0;
      const int64_t block = i + BLOCKS * (j + BLOCKS * s);
      Touched *t = &touched[op->kernel][op->moved[k]][block];
      *(e.kind == EVENT_LOAD ? &t->loaded : e.kind == EVENT_STORE ? &t->stored : &t->added) |= ctas;
    }
  }
  for (int kernel = 0; kernel < p->n_kernels; kernel++)
    for (int n = 0; n < p->n_names; n++)
      for (int block = 0; block < CTAS; block++)
        if (is_race(&touched[kernel][n][block])) return true;
  return false;
}

/* ---- Mutants ---------------------------------------------------------------------------------------------- */

/* Drops a line, or doubles it. */
static void edit_line(char *text, int nth, bool drop) {
  char *at = mutate_nth_line(text, nth), *end = at ? strchr(at, '\n') : NULL;
  if (!end) return;
  const size_t length = (size_t)(end + 1 - at);
  if (drop)
    memmove(at, end + 1, strlen(end + 1) + 1);
  else if (strlen(text) + length < PROGRAM_TEXT_BYTES)
    memmove(end + 1, ALL_OF(at) + 1);
}

static void mutate(char *text, Rand *r) {
  static const char EDITS[] =
      "every=>each|each=>every|_i=>_j|_i=>_is|_is=>_i|_ij=>_i|_j=>_ij|_i=>_ij| of i=>| of j=>|row block i=>column "
      "block j|column block j=>row block i| when splits > 1=>| when splits = 1=>| in s=>|load=>store|store=>load|"
      "column block j=>split s|    store=>  store|row block i=>split s|    store=>    add|    add=>    store|    "
      "add=>    load|    load=>    add|load X_i=>load X_i, W_i|load Y_j=>load Y_j, Z_j|load Q_i=>load A_i, Q_i";
  enum { N_EDITS = 27 };
  const int kind = (int)rand_in(r, 0, N_EDITS + 6), nth = (int)rand_in(r, 0, 11);
  if (kind >= N_EDITS + 3) {
    edit_line(text, (int)rand_in(r, 1, 40), kind < N_EDITS + 5);
  } else {
    const char *edits = EDITS;
    char edit[TEST_TEXT];
    for (int k = 0; k <= (kind < N_EDITS ? kind : 1); k++) assert_true(test_next(&edits, edit));
    char *to = strstr(edit, "=>");
    *to = '\0';
    mutate_replace(text, edit, to + 2, nth);
  }
}

static const char IN_TURN[] =
    "algorithm in-turn\nkernel init\n  for every row block i\n    store O_i = 0\n    store l_i = 0\n"
    "kernel forward\n  for each column block j\n    load K_j, V_j\n    for each row block i of j\n"
    "      load Q_i, O_i, l_i\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n      P = e^(S)\n"
    "      l_i += row sum of P; O_i += P V_j\n      store O_i\n      store l_i\n"
    "kernel divide\n  for every row block i\n    load O_i, l_i\n    O_i = O_i / l_i\n    store O_i\n";

/* Sums of columns that CTAs of rows add to, which others of the same kernel may not load. */
static const char ADDING[] =
    "algorithm adding\ninput  X_i: B_r x d\ninput  Y_j: B_c x d\noutput Z_j: B_c x d\noutput W_i: B_r x d\n"
    "kernel clear\n  for every column block j\n    store Z_j = 0\nkernel rows\n  for every row block i\n"
    "    store W_i = 0\nkernel pairs\n  for every row block i\n    for every column block j\n      load X_i\n"
    "      load Y_j\n      S = X_i Y_j^T\n      add W_i = S Y_j\nkernel sums\n  for every row block i\n"
    "    load W_i\n    load X_i\n    for each column block j\n      load Y_j\n      S = X_i Y_j^T\n"
    "      add Z_j = S^T W_i\nkernel last\n  for every column block j\n    load Z_j\n    Z_j = Z_j / 2\n"
    "    store Z_j\n";

static bool adds(const Program *p) {
  for (int op = 0; op < p->n_ops; op++)
    if (p->ops[op].kind == OP_EVENT && p->ops[op].event == EVENT_ADD) return true;
  return false;
}

TEST(no_race_is_missed) {
  Rand r = {47};
  int n_read = 0, n_races = 0, n_needless = 0, n_add = 0, n_add_races = 0;
  Program *p = malloc(sizeof *p);
  assert_non_null(p);
  for (int n = 0; n < 24000 / ONE_OF; n++) {
    char text[PROGRAM_TEXT_BYTES];
    const int which = n % (N_SCHEDULES + 4);
    strcpy(text, which < N_SCHEDULES        ? SCHEDULES[which]->text
                 : which == N_SCHEDULES     ? IN_TURN
                 : which == N_SCHEDULES + 1 ? OWN_FUSED
                 : which == N_SCHEDULES + 2 ? schedule_find("fa2-backward")->text
                                            : ADDING);
    for (int k = (int)rand_in(&r, 1, 3); k > 0; k--) mutate(text, &r);
    if (program_read_racing(p, ALL_OF(text), "mine.walk", fresh_error())) continue;
    const bool races = races_when_walked(p, 1) || races_when_walked(p, BLOCKS),
               refused = program_read(p, ALL_OF(text), "mine.walk", fresh_error()) != STATUS_OK;
    n_read++;
    n_races += races;
    n_add += adds(p);
    n_add_races += adds(p) && races;
    n_needless += refused && !races;
    if (races && !refused) fail_msg("missed:\n%s", text);
    assert_true(!refused || strstr(test_error.message, "a race"));
  }
  print_message("%d mutants, %d races, %d refused without need; of them %d add, %d races\n", n_read, n_races,
                n_needless, n_add, n_add_races);
  assert_true(ONE_OF * n_read > 3000 && ONE_OF * n_races > 300 && ONE_OF * n_add > 2000 && ONE_OF * n_add_races > 60);
  assert_int_equal(n_needless, 0);
  free(p);
}

/* ---- Messages --------------------------------------------------------------------------------------------- */

static void assert_refused(const char *text, const char *message) {
  Program *p = malloc(sizeof *p);
  assert_non_null(p);
  assert_int_equal(program_read(p, ALL_OF(text), "mine.walk", fresh_error()), STATUS_BAD_FILE);
  assert_string_equal(test_error.message, message);
  free(p);
}

TEST(a_race_is_said_with_both_lines) {
  char text[PROGRAM_TEXT_BYTES];
  strcpy(text, IN_TURN);
  mutate_replace(text, "each column", "every column", 0);
  assert_refused(text,
                 "mine.walk:15: a race: CTAs that differ only in j store 'O_i' here and load it in line 10; line 7 "
                 "makes them, with 'for each' there they are one CTA");
  mutate_replace(text, "load Q_i, O_i, l_i", "load Q_i; O_i, l_i = 0", 0);
  mutate_replace(text, "load Q_i; ", "load Q_i\n      ", 0);
  assert_refused(text,
                 "mine.walk:16: a race: CTAs that differ only in j store the same block 'O_i'; line 7 makes them, "
                 "with 'for each' there they are one CTA");
}

/* CTAs that an outer line and an inner loop make: all of the inner loop's do the outer line. */
TEST(a_store_beside_an_inner_loop_is_a_race) {
  assert_refused("algorithm a\nkernel k\n  for every row block i\n    store O_i = 0\n    for every column block j\n"
                 "      load K_j\n",
                 "mine.walk:4: a race: CTAs that differ only in j store the same block 'O_i'; line 5 makes them, with "
                 "'for each' there they are one CTA");
  assert_refused("algorithm a\nkernel k\n  for every row block i\n    for every column block j\n      load K_j\n"
                 "    for every column block j\n      load V_j\n    store O_i = 0\n",
                 "mine.walk:6: CTAs of a kernel are one nest of 'every', and line 4 has one beside this; that is "
                 "another kernel");
}
