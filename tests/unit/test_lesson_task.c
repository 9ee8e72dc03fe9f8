/* Conditions of tasks: every field of `view` against what follows from the papers' rules by hand, and
 * that a hostile condition is an error with its line, soon, and does not take from the lesson's budget. */
#define _DEFAULT_SOURCE /* clock_gettime, mkdtemp */
#include "tests/support/test.h"

#include <fcntl.h>

#include "lessons/engine/lesson_file.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/scratch.h"
#include "viz/lesson/lesson_view.h"

#define STATE "algorithm=fa2 N=64 d=16 block=8 causal=1 scene=tiles"

static Lesson lesson_with(const char *until, Error *error) {
  char text[2048];
  Lesson l;
  snprintf(text, sizeof text,
           "# T\n- idea: one\n- minutes: 5\n- draw: D from 16, 16\n\n```task\nDo it.\nuntil: "
           "%s\nsolution: step=1\n```\n",
           until);
  lesson_from_buffer(&l, ALL_OF(text), "x.md", error);
  return l;
}

typedef struct {
  LessonRun run;
  const Lesson *lesson;
  bool done;
} Look;

static Status look(void *data, const LessonView *view, Error *error) {
  Look *l = data;
  return lesson_task_check(&l->run, &l->lesson->tasks[0], view, &l->done, error);
}

/* Whether `until` holds in a state. */
static bool holds(const char *until, const char *state, Error *error) {
  Lesson lesson = lesson_with(until, error);
  if (error->status) return false;
  Look l = {.lesson = &lesson};
  if (lesson_run_start(&l.run, &lesson, NULL, 1, error) == STATUS_OK) {
    lesson_look(NULL, STATE, state, look, &l, error);
    lesson_run_end(&l.run);
  }
  lesson_free(&lesson);
  return l.done;
}

/* 64 rows in blocks of 8: 8 x 8 tiles, 36 of them computed; one block of 8 rows of 16 numbers in fp16
 * is 256 bytes. The first row of tiles: load Q, K, product, mask, new max, rescale, load V,
 * accumulate, 7 skips, normalise, store. A change of the state, and what is true there. */
static const char *const TRUE[] = {
    " => view.algorithm == 'fa2' and view.gpu == 'paper' and view.dtype == 'fp16'",
    " => view.N == 64 and view.seq_len_k == 64 and view.d == D and view.heads == 1 and view.batch == 1",
    " => view.block == 8 and view.block_q == 8 and view.block_k == 8 and view.causal and view.window == 0",
    "block-q=16 block-k=4 => view.block == 0 and view.block_q == 16 and view.block_k == 4",
    "block=32 => view.block == 32",
    "heads=4 batch=2 => view.heads == 4 and view.batch == 2",
    " => view.scene == 'walk'",
    "scene=charts step=3 => view.scene == 'piles' and view.step == 3",
    " => view.step == 0 and view.event.kind == 'none' and view.event.i == -1",
    " => view.moved_bytes == 0 and view.tiles_done == 0",
    "step=1 => view.event.kind == 'load' and view.event.tensor == 'Q' and view.event.bytes == 256",
    "step=2 => view.event.kind == 'load' and view.event.tensor == 'K' and view.moved_bytes == 512",
    "step=3 => view.event.kind == 'product' and view.event.flops == 2 * 8 * 8 * 16",
    "step=4 => view.event.kind == 'mask' and view.event.tile == 'partial'",
    "step=5 => view.event.kind == 'new max' and view.event.i == 0 and view.event.j == 0",
    "step=8 => view.event.kind == 'accumulate' and view.tiles_done == 1",
    "step=9 => view.event.kind == 'skip' and view.tiles_skipped == 1",
    "step=15 => view.read_bytes == 3 * 256 and view.write_bytes == 0",
    "step=17 => view.event.kind == 'store' and view.write_bytes == 256 and view.tiles_skipped == 7",
    "step=276 => view.steps == 276 and view.step == view.steps and view.tiles_done == 36",
    /* Q and O once, K and V for each of the 36 tiles */
    "step=276 => view.moved_bytes == (8 + 8 + 2 * 36) * 256",
    " => view.run.traffic.total_bytes == (8 + 8 + 2 * 36) * 256 and view.run.tiles.skipped == 28",
    " => view.fits and view.run.sram.fits",
    "N=4096 d=128 block=512 => not view.fits",
    "algorithm=standard causal=0 => view.algorithm == 'standard' and not view.causal",
};

TEST(every_field_of_the_view_is_right) {
  EACH_SAYS (row, TRUE) {
    const bool held = holds(row.says, row.text, fresh_error());
    assert_true(!test_error.status && held);
  }
}

/* Checked for every frame that is drawn, and the lesson's own expressions still have their budget. */
static Status check_often(void *data, const LessonView *view, Error *error) {
  const Lesson *lesson = data;
  LessonRun run;
  (void)error;
  must(lesson_run_start(&run, lesson, NULL, 1, fresh_error()));
  for (int n = 0; n < 2000; n++) {
    bool done = true;
    must(lesson_task_check(&run, &lesson->tasks[0], view, &done, fresh_error()));
    assert_false(done);
  }
  char filled[64];
  const char *text = "{view}";
  ExpressionValue value;
  must(expression_scope_fill(run.scope, "{2 + 2}", 7, 1, filled, sizeof filled, fresh_error()));
  assert_string_equal(filled, "4");
  /* the view is not left behind for other expressions */
  assert_int_not_equal(expression_scope_eval(run.scope, text + 1, 4, 1, &value, NULL), STATUS_OK);
  lesson_run_end(&run);
  return STATUS_OK;
}

TEST(checks_do_not_use_the_lesson_up) {
  Lesson lesson = lesson_with("#events{N=64, d=16, block=8} > 1e9", fresh_error());
  must(lesson_look(NULL, STATE, "step=9", check_often, &lesson, fresh_error()));
  lesson_free(&lesson);
}

/* A file of the learner's: begun once, and saved when it has changed and then stands still for a look. */
TEST(a_file_is_begun_once_and_watched) {
  char folder[SCRATCH_BYTES];
  const int here = open(".", O_RDONLY);
  LessonFile file, none;
  assert_true(scratch_folder(folder) && chdir(folder) == 0);
  must(lesson_file_begin(&file, "a", "one", fresh_error()));
  assert_false(file.was_there || lesson_file_changed(&file));
  FILE *out = fopen("a", "a");
  fputs(" two", out);
  fclose(out);
  for (int look = 0; look < 3; look++) assert_int_equal(lesson_file_changed(&file), look == 1);
  must(lesson_file_begin(&file, "a", "one", fresh_error()));
  char *text = lesson_file_read("a", fresh_error());
  assert_true(file.was_there && strcmp(text, "one two") == 0);
  free(text);
  assert_int_equal(lesson_file_begin(&none, "nowhere/b", "one", fresh_error()), STATUS_BAD_REQUEST);
  assert_false(none.was_there || *none.path || lesson_file_changed(&none));
  assert_true(unlink("a") == 0 && fchdir(here) == 0 && rmdir(folder) == 0 && close(here) == 0);
}

static Status check_once(void *context, Error *error) {
  (void)context;
  holds("view.N > 64 and view.run.sram.fits", "N=128", error);
  return error->status;
}

TEST(every_allocation_may_fail) {
  holds("view.N > 64", "N=128", &(Error){0});
  assert_true(alloc_fail_each(check_once, NULL) >= 4);
}
