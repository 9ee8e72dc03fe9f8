/* The record of progress: what is written is what is read, and a record that cannot be kept is said once. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include "tests/support/test.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lessons/engine/lesson_progress.h"
#include "tests/support/scratch.h"

static char home[SCRATCH_BYTES], path[SCRATCH_BYTES + 40];
static FILE *warnings;

static int set_up(void **state) {
  (void)state;
  if (!scratch_folder(home)) return -1;
  snprintf(path, sizeof path, "%s/tilewalk", home);
  setenv("XDG_STATE_HOME", home, 1);
  warnings = tmpfile();
  return warnings ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  char command[SCRATCH_BYTES + 20];
  snprintf(command, sizeof command, "rm -rf '%s'", home);
  fclose(warnings);
  return system(command);
}

static int n_lines(void) {
  int n = 0;
  rewind(warnings);
  for (int c; (c = fgetc(warnings)) != EOF;) n += c == '\n';
  return n;
}

static LessonProgress opened(void) {
  LessonProgress p;
  Error error = {0};
  assert_int_equal(lesson_progress_open(&p, warnings, &error), STATUS_OK);
  return p;
}

/* Every field comes back as it was put in; a lesson that was never begun has not begun. */
TEST(test_what_is_kept) {
  Error error = {0};
  LessonProgress p = opened();
  lesson_progress_begin(&p, "01-a", 7);
  lesson_progress_at(&p, "01-a", 3, false);
  lesson_progress_answer(&p, "01-a", "one", true, 2, 1);
  lesson_progress_answer(&p, "01-a", "two", false, 1, 0);
  lesson_progress_begin(&p, "02-b", 8);
  lesson_progress_at(&p, "02-b", 9, true);
  assert_int_equal(lesson_progress_save(&p, &error), STATUS_OK);
  lesson_progress_close(&p);
  p = opened();
  const LessonStanding a = lesson_progress_of(&p, "01-a"), b = lesson_progress_of(&p, "02-b"),
                       c = lesson_progress_of(&p, "03-c");
  assert_true(a.has_begun && !a.is_finished && a.seed == 7 && a.block == 3 && a.n_right == 1 && a.n_asked == 2);
  assert_true(b.has_begun && b.is_finished && b.seed == 8 && b.block == 9 && b.n_right == 0 && b.n_asked == 0);
  assert_true(!c.has_begun && !c.is_finished);
  assert_true(lesson_progress_is_right(&p, "01-a", "one") && !lesson_progress_is_right(&p, "01-a", "two"));
  lesson_progress_close(&p);
  assert_int_equal(n_lines(), 0);
}

/* A folder in the record's place is no record: one line, however often it is saved, and the lesson goes on. */
TEST(test_said_once) {
  Error error = {0};
  char folder[SCRATCH_BYTES + 60];
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(folder, sizeof folder, "%s/lessons.json", path);
  assert_int_equal(mkdir(folder, 0700), 0);
  LessonProgress p = opened();
  for (int k = 0; k < 3; k++) {
    lesson_progress_begin(&p, "01-a", 7);
    assert_int_equal(lesson_progress_save(&p, &error), STATUS_OK);
  }
  assert_true(lesson_progress_of(&p, "01-a").has_begun);
  lesson_progress_close(&p);
  assert_int_equal(n_lines(), 1);
}

/* A file in the folder's place: the record can be neither read nor made, which is said once too. */
TEST(test_no_folder) {
  Error error = {0};
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
  LessonProgress p = opened();
  lesson_progress_begin(&p, "01-a", 7);
  assert_int_equal(lesson_progress_save(&p, &error), STATUS_OK);
  assert_int_equal(lesson_progress_save(&p, &error), STATUS_OK);
  lesson_progress_close(&p);
  assert_int_equal(n_lines(), 1);
}

/* Another program has the lock: who has waited once does not wait again, is told once, and loses nothing. */
TEST(test_a_held_lock) {
  Error error = {0};
  char name[SCRATCH_BYTES + 60];
  struct timespec began, ended;
  LessonProgress p = opened();
  lesson_progress_begin(&p, "01-a", 7);
  assert_int_equal(lesson_progress_save(&p, &error), STATUS_OK);
  snprintf(name, sizeof name, "%s/lessons.json.lock", path);
  const int other = open(name, O_RDWR | O_CREAT, 0600);
  assert_true(other >= 0 && flock(other, LOCK_EX) == 0);
  p.has_waited = true; /* the first wait takes ten seconds */
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (int k = 0; k < 20; k++) {
    lesson_progress_answer(&p, "01-a", k % 2 ? "one" : "two", true, 1, 0);
    assert_int_equal(lesson_progress_save(&p, &error), STATUS_OK);
  }
  clock_gettime(CLOCK_MONOTONIC, &ended);
  assert_true(ended.tv_sec - began.tv_sec < 100); /* twenty waits take 200 s */
  assert_int_equal(n_lines(), 1);
  close(other);
  assert_int_equal(lesson_progress_save(&p, &error), STATUS_OK);
  lesson_progress_close(&p);
  p = opened();
  assert_int_equal(lesson_progress_of(&p, "01-a").n_right, 2);
  lesson_progress_close(&p);
}

/* Damage is set aside, whole, and said; what is done then is kept. */
TEST(test_damage) {
  Error error = {0};
  char name[SCRATCH_BYTES + 60], read[16] = "";
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(name, sizeof name, "%s/lessons.json", path);
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs("{not json", file);
  fclose(file);
  LessonProgress p = opened();
  lesson_progress_begin(&p, "01-a", 5);
  assert_int_equal(lesson_progress_save(&p, &error), STATUS_OK);
  lesson_progress_close(&p);
  assert_int_equal(n_lines(), 1);
  strcat(name, ".damaged-1");
  file = fopen(name, "r");
  assert_non_null(file);
  assert_non_null(fgets(read, sizeof read, file));
  fclose(file);
  assert_string_equal(read, "{not json");
  p = opened();
  assert_true(lesson_progress_of(&p, "01-a").seed == 5);
  lesson_progress_close(&p);
}

EACH_TEST(set_up, tear_down)
