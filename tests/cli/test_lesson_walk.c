/* Lessons walked from start to end, without a window: every one of the course, laid out and with all its questions and
 * tasks answered; and other people's, which may be hostile or endless. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv, mkstemps */
#include "tests/support/test.h"

#ifdef TILEWALK_WINDOW
#include "tests/support/lesson_bench.h"
#include "tests/support/sanitized.h"

/* ---- The course ---- */

/* What a learner types for a number; the letters of an order are pressed, a choice by its letter. */
static void answer(Bench *b, int ask, double value, const int *order) {
  const LessonSession *s = &b->panel.session;
  const LessonQuestion *q = &s->questions[ask];
  char typed[64];
  if (s->lesson.asks[ask].kind == LESSON_WORK) { /* as the window gives it what is in the file */
    lesson_session_write(&b->panel.session, q->work.reference);
    lesson_session_press(&b->panel.session, ACT_CHECK, 0);
    look(b);
  } else if (s->lesson.asks[ask].kind == LESSON_NUMBER) {
    snprintf(typed, sizeof typed, "%.15g", value / q->key.unit.factor);
    b->panel.focus = WIDGET_FIELD;
    text(b, typed);
    key(b, SIDE_KEY_RETURN);
  } else {
    while (s->answers[ask].n_order > 0) key(b, SIDE_KEY_BACKSPACE);
    for (int k = 0; k < q->n_named; k++) text(b, (const char[]){(char)('a' + order[k]), '\0'});
    if (q->n_named > 1) key(b, SIDE_KEY_RETURN);
  }
}

/* Every known wrong answer, then the right one; returns how many diagnoses there were. */
static int answer_all_ways(Bench *b, int ask) {
  const LessonSession *s = &b->panel.session;
  const LessonQuestion *q = &s->questions[ask];
  const LessonAnswer *a = &s->answers[ask];
  int order[ANSWER_CHOICES_MAX], n = 0;
  const bool is_prediction = s->lesson.asks[ask].is_prediction;
  for (int k = 0; !is_prediction && k < s->lesson.asks[ask].n_wrong; k++) {
    const LessonWrong *w = &q->wrong[k];
    if (!w->is_known) continue;
    answer(b, ask, w->value, w->order);
    if (!a->has_verdict || a->verdict != LESSON_DIAGNOSED || a->is_resolved)
      fail_msg("%s, '%s': wrong answer %d is %s", s->lesson.file, s->lesson.asks[ask].id, k,
               lesson_verdict_name(a->verdict));
    READS(b, "✗ Not quite.");
    n++;
  }
  lesson_order(q, order);
  if (q->n_named == 1) *order = q->right;
  answer(b, ask, q->key.value, order);
  if (!a->is_resolved || !a->is_right)
    fail_msg("%s, '%s': the right answer is %s: %s", s->lesson.file, s->lesson.asks[ask].id,
             lesson_verdict_name(a->verdict), a->said);
  return n;
}

/* Types the solution into the viewer, as a learner would after Return. */
static void solve_task(Bench *b, int task) {
  LessonSession *s = &b->panel.session;
  char change[LESSON_STATE_BYTES];
  assert_false(s->deeds[task].is_done);
  must(lesson_task_solution(&s->run, &s->lesson.tasks[task], change, sizeof change, fresh_error()));
  player_input(&b->player, INPUT_ENTRY);
  player_type(&b->player, change);
  player_accept(&b->player);
  look(b);
  if (!s->deeds[task].is_done || s->deeds[task].is_skipped)
    fail_msg("%s: '%s' does not do the task; %s", s->lesson.file, change, b->player.message);
  READS(b, "✓ Done.");
}

/* The whole course as the most thorough of learners goes through it: every known wrong answer, every right one, every
 * show to its end, every task done in the viewer. */
TEST(every_question_and_task_of_the_course_is_answered) {
  LessonFiles *files = NULL;
  int n_wrong = 0, n_right = 0, n_tasks = 0;
  must(lesson_files(&files, fresh_error()));
  for (int k = 0; k < files->n; k += ONE_OF) {
    Bench *b = bench(files->names[k], &FRESH);
    const LessonSession *s = &b->panel.session;
    for (int n = 0; n < 300 && !lesson_session_is_finished(s); n++) {
      const int ask = lesson_session_ask(s), task = lesson_session_task(s);
      if (ask >= 0)
        n_wrong += answer_all_ways(b, ask), n_right++;
      else if (task >= 0)
        solve_task(b, task), n_tasks++;
      else if (s->plays != LESSON_NO_BLOCK)
        play_to_the_end(b);
      else
        click(b, WIDGET_NEXT);
      if (s->error.status) fail_msg("%s", s->error.message);
      check_layout(b);
    }
    if (!lesson_session_is_finished(s)) fail_msg("%s does not end", files->names[k]);
    char words[64];
    snprintf(words, sizeof words, "The lesson is done: %d of %d right.", lesson_n_counted(&s->lesson),
             lesson_n_counted(&s->lesson));
    READS(b, words);
    for (; lesson_session_can_go_back(s); check_layout(b)) click(b, WIDGET_BACK);
    assert_int_equal(lesson_session_page_number(s), 1);
    close_bench(b);
  }
  print_message("%d right answers, %d diagnosed wrong ones, %d tasks\n", n_right, n_wrong, n_tasks);
  assert_true(n_right >= 80 / ONE_OF && n_wrong >= 150 / ONE_OF && n_tasks >= 4 / ONE_OF);
  free(files);
}

/* ---- Other people's lessons ---- */

#ifdef __SANITIZE_ADDRESS__
#define LIMIT_S 4.0 /* the sanitizers take their time */
#else
#define LIMIT_S 1.0
#endif

#define HEAD "# T\n\n- idea: x\n- minutes: 5\n\n"

/* As much text as a file may hold, of the kinds that are slow to lay out. */
TEST(endless_pages_are_cut) {
  static const char *const UNITS[] = {"word ",    "longwordwithoutanyblank",       "**b** `c` ",        "| a ",
                                      "\n\n- x ", "\xE4\xB8\x80\xD7\x90\xCC\x81 ", "\n\n```\nx\n```\n", "a\n\n",
                                      "[l](m) "};
  EACH (u, UNITS) {
    char *lesson = malloc((1 << 18) + 64), *p = lesson + sprintf(lesson, HEAD);
    assert_non_null(lesson);
    if (UNITS[u][0] == '|') p += sprintf(p, "| a | b |\n| --- | --- |\n");
    for (size_t line = 0, block = 0; p - lesson < (1 << 18) - 400;) {
      const size_t n = strlen(UNITS[u]);
      memcpy(p, UNITS[u], n + 1);
      p += n;
      line += n;
      block += n;
      if (line > 1500) *p++ = '\n', line = 0;
      if (block > 15000) p += sprintf(p, "\n\n```state\nN=64\n```\n"), block = 0;
    }
    Bench *b;
    const double began = test_seconds();
    const Status status = open_bench(&b, write_lesson("long.md", lesson), &FRESH, 1280, 720, fresh_error());
    const double took = test_seconds() - began;
    if (took > LIMIT_S) fail_msg("'%s' took %.2f s", UNITS[u], took);
    if (status) assert_true(strncmp(test_error.message, "long.md:", 8) == 0);
    close_bench(b);
    free(lesson);
  }
}

/* As many states and conditions as a lesson may hold, all of them slow: opening it and playing its first frames still
 * takes less than a second. */
TEST(many_slow_states_and_tasks_take_no_time) {
  static const char STATE[] =
      "```state\nalgorithm=fa2 N=262144 d=128 heads=64 block=64 gpu=h200 scene=hierarchy\n```\n";
  static const char TASK[] = "```task\nDo.\nuntil: view.fits and #events{N=512, d=64, block=32} < 0\nsolution: "
                             "step=100000\nhint: h\n```\n";
  char *lesson = malloc(1 << 17);
  assert_non_null(lesson);
  for (int tasks = 0; tasks < 2; tasks++) {
    char *p = lesson + sprintf(lesson, HEAD "Text.\n\n");
    for (int k = 0; k < (tasks ? 39 : 190); k++) p += sprintf(p, "%s", k > 0 && tasks ? TASK : STATE);
    const char *path = write_lesson("slow.md", lesson);
    Bench *b;
    const double began = test_seconds();
    must(open_bench(&b, path, &FRESH, 640, 360, fresh_error()));
    player_input(&b->player, INPUT_PLAY);
    for (int n = 0; n < 10; n++) {
      player_tick(&b->player, 0.1);
      look(b);
    }
    if (test_seconds() - began > LIMIT_S) fail_msg("%s: %.2f s", tasks ? "tasks" : "states", test_seconds() - began);
    close_bench(b);
  }
  free(lesson);
}

GROUP(open_folder, close_folder)

#else
int main(void) { return 0; }
#endif
