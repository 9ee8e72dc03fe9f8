/* Sentences about programs that nobody wrote with them in mind: every shipped one, one as large as it may be, random
 * ones; TILEWALK_DEPTH=10 checks ten times as many. */
#include "tests/support/test.h"

#include <glob.h>
#include <time.h>

#include "sim/algorithms/walk/place.h"
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"
#include "tests/support/random_program.h"
#include "tests/support/sentence_case.h"

/* ---- Random programs -----------------------------------------------------------------------------------------------
 */

TEST(test_random_programs) {
  const int n = 30 * test_depth() / ONE_OF;
  const uint64_t before = n_pairs;
  Rand r = {20261126};
  Opened *o = malloc(sizeof *o);
  int n_read = 0;
  for (int k = 0; k < n; k++) {
    char text[PROGRAM_TEXT_BYTES], mask[32];
    const int kind = (int)rand_in(&r, 0, 9);
    random_program(text, k, kind, &r);
    Case c = {"random", kind < RANDOM_KINDS ? text : NULL, {.d = 4}, {0}, NULL, 0, false, true, 0};
    if (kind == RANDOM_KINDS) c.name = "fa2-split";
    c.shape.N_q = rand_in(&r, 1, 40);
    c.shape.N_k = rand_in(&r, 0, 2) ? rand_in(&r, 1, 40) : 0;
    c.tiling = (Tiling){.B_r = rand_in(&r, 1, 16),
                        .B_c = rand_in(&r, 1, 16),
                        .n_splits = rand_in(&r, 1, 4),
                        .reversed = rand_in(&r, 0, 1),
                        .lse = rand_in(&r, 0, 1)};
    c.shape.causal = rand_in(&r, 0, 1);
    c.shape.top_left = rand_in(&r, 0, 3) == 0;
    if (rand_in(&r, 0, 2) == 0) c.shape.window = rand_in(&r, 1, 12);
    static const char *const MASKS[] = {"strided:%d:%d", "documents:%d", "sink:%d", "prefix:%d"};
    snprintf(mask, sizeof mask, MASKS[rand_in(&r, 0, 3)], (int)rand_in(&r, 1, 4), (int)rand_in(&r, 1, 9));
    if (rand_in(&r, 0, 3) == 0) c.mask = mask;
    c.row_in_block = rand_in(&r, 0, 4);
    if (!open_case(o, &c, true)) continue;
    n_read++;
    check_case(o, &c, NULL);
    close_case(o);
  }
  free(o);
  assert_true(n_read * 10 > n * 7);
  print_message("%d random programs: %llu sentences; %llu in all, %llu false\n", n_read,
                (unsigned long long)(n_pairs - before), (unsigned long long)n_pairs, (unsigned long long)n_false);
  assert_int_equal(n_false, 0);
}

/* ---- Every shipped program, and those of a folder
 * --------------------------------------------------------------------- */

static void check_program(Opened *o, const char *name, const char *text, size_t stride) {
  static const Case SHAPES[] = {
      {"", NULL, {.N_q = 40, .d = 8}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
      {"", NULL, {.N_q = 37, .d = 8, .causal = true}, {.B_r = 8, .B_c = 8, .lse = true}, NULL, 2, false, false, 0},
      {"",
       NULL,
       {.N_q = 40, .N_k = 24, .d = 8, .causal = true},
       {.B_r = 8, .B_c = 4, .n_splits = 2},
       NULL,
       1,
       false,
       false,
       0},
      {"", NULL, {.N_q = 40, .d = 8, .window = 9}, {.B_r = 4, .B_c = 8, .reversed = true}, NULL, 0, false, false, 0},
      {"", NULL, {.N_q = 32, .d = 8, .causal = true}, {.B_r = 8, .B_c = 8}, "strided:3:8", 5, false, false, 0},
      {"", NULL, {.N_q = 32, .d = 8, .causal = true}, {.B_r = 8, .B_c = 8}, "documents:10,22", 5, false, false, 0},
  };
  int n = 0;
  for (size_t k = stride / 2; k < sizeof SHAPES / sizeof *SHAPES; k += stride) {
    Case c = SHAPES[k];
    c.name = name;
    c.text = text;
    if (!open_case(o, &c, true)) continue; /* the diagonal needs square tiles, and as many keys as queries */
    n++;
    check_case(o, &c, NULL);
    close_case(o);
  }
  if (n == 0) fail_msg("%s is never walked", name);
}

static void check_file(Opened *o, const char *path) {
  char text[PROGRAM_TEXT_BYTES] = "";
  FILE *in = fopen(path, "rb");
  if (!in || fread(text, 1, PROGRAM_TEXT_BYTES - 1, in) == 0) fail_msg("%s cannot be read", path);
  fclose(in);
  if (program_read(&o->own, text, strlen(text), path, &(Error){0})) return; /* kept to be refused */
  check_program(o, path, text, getenv("SENTENCES_PROGRAMS") ? 1 : 3);
}

/* Programs that declare their tensors lie in tests/programs and in the corpus of fuzzing; SENTENCES_PROGRAMS="a.walk
 * b.walk" takes others by hand. */
TEST(test_every_program) {
  const uint64_t before = n_pairs;
  const char *asked = getenv("SENTENCES_PROGRAMS");
  Opened *o = malloc(sizeof *o);
  for (int k = 0; k < N_PROGRAMS; k++) check_program(o, SCHEDULES[k]->name, NULL, k < N_SCHEDULES ? 1 : 3);
  glob_t files = {0};
  glob("tests/programs/*.walk", 0, NULL, &files);
  glob("tests/fuzz/corpus/program/*.walk", GLOB_APPEND, NULL, &files);
  for (size_t k = 0; !asked && k < files.gl_pathc; k++) check_file(o, files.gl_pathv[k]);
  globfree(&files);
  while (asked && *asked) {
    char path[512];
    const size_t n = strcspn(asked, " ");
    snprintf(path, sizeof path, "%.*s", (int)n, asked);
    asked += n;
    asked += strspn(asked, " ");
    check_file(o, path);
  }
  free(o);
  print_message("%llu sentences of programs, %llu false\n", (unsigned long long)(n_pairs - before),
                (unsigned long long)n_false);
  assert_int_equal(n_false, 0);
}

/* ---- As large as it may be
 * ------------------------------------------------------------------------------------------- */

/* N = 64K: keys of a row and loads of a block equal a scan of all events; and a step costs as little as at N = 64. */
TEST(test_large) {
  enum { N = 65536, B = 128, T = N / B, EVERY = 10007 };
  Stage stage;
  Error error = {0};
  const StageConfig config = {.problem = {.shape = {.N_q = N, .d = 64, .causal = true},
                                          .tiling = {.B_r = B, .B_c = B},
                                          .launch = {.walk = WALK_REVERSED},
                                          .machine = machine_paper()},
                              .schedule = schedule_find("fa2"),
                              .l2_later = true};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  int64_t *loads = calloc(T, sizeof *loads), *all = calloc(T, sizeof *all);
  Cursor cursor = {0};
  Event e;
  while (schedule_next(stage.run.schedule, &stage.run.plan, &cursor, &e))
    if (e.kind == EVENT_LOAD && e.j >= 0 &&
        strcmp(stage.run.schedule->names[stage.run.schedule->ops[e.op].moved[0]].text, "K_j") == 0)
      all[e.j]++;
  cursor = (Cursor){0};
  Snapshot *now = calloc(1, sizeof *now);
  Problem problem = config.problem;
  problem.tiling = stage.run.plan.tiling;
  double seconds = 0;
  int n = 0;
  while (schedule_next(stage.run.schedule, &stage.run.plan, &cursor, &e)) {
    const bool is_K = e.kind == EVENT_LOAD && e.j >= 0 &&
                      strcmp(stage.run.schedule->names[stage.run.schedule->ops[e.op].moved[0]].text, "K_j") == 0;
    if (is_K) loads[e.j]++;
    if (e.step % EVERY >= 8) continue;
    Facts f;
    *now = (Snapshot){.problem = problem,
                      .schedule = stage.run.schedule,
                      .step = e.step + 1,
                      .n_steps = stage.n_steps,
                      .event = e,
                      .has_event = true};
    now->row.is_computed = true;
    now->row.row = e.row0 + B / 2;
    const clock_t began = clock();
    facts_at(now, &f);
    seconds += (double)(clock() - began) / CLOCKS_PER_SEC;
    n++;
    if (is_K) {
      assert_int_equal(f.loads_before, loads[e.j] - 1);
      assert_int_equal(f.loads_all, all[e.j]);
    }
    if (e.j < 0) continue;
    assert_int_equal(f.keys_before, now->row.row + 1 > e.col1 ? now->row.row + 1 - e.col1 : 0); /* from the last key */
    assert_int_equal(f.keys_left, e.col0 < now->row.row + 1 ? e.col0 : now->row.row + 1);
  }
  print_message("%d steps, %.1f us each\n", n, 1e6 * seconds / n);
  assert_true(n > 300 && seconds / n < 2e-4);
  free(now);
  free(loads);
  free(all);
  stage_free(&stage);
}
