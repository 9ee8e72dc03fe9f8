/* The course: every computed answer against a value derived by hand, and every known wrong answer
 * fed and its diagnosis read. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "tests/support/course_table.h"
#include "tests/support/sanitized.h"
#include "viz/lesson/lesson_library.h"

enum { LESSONS = 9 };

static const char *const FILES[LESSONS] = {"01-bytes",           "02-one-row",     "03-the-loop",
                                           "04-masks-and-cache", "05-the-machine", "06-judge-a-claim",
                                           "07-backends",        "08-backward",    "09-same-output"};

/* ---- The lessons */

static Lesson lessons[LESSONS];

static char *read_file(const char *path) {
  char *text;
  size_t length;
  must(file_read(path, 1 << 20, &text, &length, fresh_error()));
  return text;
}

static int setup(void **state) {
  (void)state;
  for (int k = 0; k < LESSONS; k++) must(lesson_load(FILES[k], &lessons[k], fresh_error()));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  for (int k = 0; k < LESSONS; k++) lesson_free(&lessons[k]);
  return 0;
}

static LessonRun start(int lesson, int variant) {
  LessonRun run;
  must(lesson_run_start_variant(&run, &lessons[lesson - 1], &LESSON_LIMITS, variant, fresh_error()));
  return run;
}

/* The question at hand, and its last grade. */
static LessonQuestion q;
static LessonGrade g;

static const LessonAsk *ask(LessonRun *run, const char *id) {
  const int ask = lesson_find_ask(run->lesson, id);
  if (ask < 0) fail_msg("%s has no question '%s'", run->lesson->file, id);
  must(lesson_run_question(run, ask, &q, fresh_error()));
  return &run->lesson->asks[ask];
}

static void type(LessonRun *run, const char *typed) { must(lesson_run_grade(run, &q, typed, &g, fresh_error())); }

/* The letters that a learner types for keys in that order. */
static void letters_of(const LessonAsk *ask, const char *keys, char letters[TEST_TEXT]) {
  for (const char *key = keys; *key; key += strspn(key, " ")) {
    const size_t length = strcspn(key, " ");
    for (int place = 0; place < q.n_choices; place++) {
      const char *own = ask->choice[q.written[place]].key.text;
      if (strlen(own) == length && !memcmp(own, key, length)) *letters++ = (char)('a' + place), *letters++ = ' ';
    }
    key += length;
  }
  *letters = '\0';
}

/* ---- Answers */

/* A name that the lesson draws; a test that asks for another fails. */
static double drawn(void *context, const char *name) {
  LessonRun *run = context;
  ExpressionValue v = {0};
  must(expression_scope_eval(run->scope, ALL_OF(name), 1, &v, fresh_error()));
  assert_int_equal(v.kind, EXPRESSION_NUMBER);
  return v.numbers[0];
}

/* Right is what is derived; and so is what is printed as the answer. */
static void check_answer(LessonRun *run, const Right *r) {
  const LessonAsk *a = ask(run, r->id);
  char typed[TEST_TEXT];
  if (r->keys)
    letters_of(a, r->keys, typed);
  else
    snprintf(typed, sizeof typed, "%.15g %s", r->value / q.key.unit.factor, q.key.unit.name);
  assert_true(r->keys || fabs(q.key.value - r->value) <= 1e-9 * fabs(r->value));
  for (int printed = 0; printed < (r->keys ? 1 : 2); printed++) {
    const char *text = printed ? q.answer : typed;
    type(run, text);
    assert_true(g.verdict == LESSON_RIGHT);
  }
}

TEST(test_every_answer_is_the_derived_one) {
  for (int lesson = 1; lesson <= LESSONS; lesson++)
    for (int v = 0; v < lessons[lesson - 1].n_variants; v += ONE_OF) {
      LessonRun run = start(lesson, v);
      Right rows[RIGHTS_MAX];
      const size_t n = rights(lesson, drawn, &run, rows);
      for (size_t k = 0; k < n; k++) check_answer(&run, &rows[k]);
      const Lesson *l = run.lesson;
      for (size_t a = 0; a < l->n_asks; a++) { /* none is left out */
        int found = 0;
        for (size_t k = 0; k < n; k++) found += !strcmp(rows[k].id, l->asks[a].id);
        if (found != (l->asks[a].kind != LESSON_WORK)) /* programs are judged by test_program_tasks */
          fail_msg("%s, '%s' stands in the table %d times", l->file, l->asks[a].id, found);
      }
      lesson_run_end(&run);
    }
}

/* What lesson 5 says that an H200 counted: bytes from L2 and from HBM, of the recording's row. */
TEST(test_counted_bytes_are_the_recorded_ones) {
  char *table = read_file("assets/counters/h200/kernels/first.csv");
  const char *row = strstr(table, "\nfa2_async,fp16,1,1,1,4096,4096,128,0,128,64,");
  double l2, hbm;
  assert_non_null(row);
  assert_int_equal(sscanf(row, "%*[^,],%*[^,],%*d,%*d,%*d,%*d,%*d,%*d,%*d,%*d,%*d,%lf,%*d,%*d,%*d,%*d,%lf", &l2, &hbm),
                   2);
  LessonRun run = start(5, 0);
  assert_true(drawn(&run, "recorded_asked") == l2);
  assert_true(drawn(&run, "recorded_hbm") == hbm);
  lesson_run_end(&run);
  free(table);
}

/* The thirteen questions of lessons/README.md: every id is a question of a lesson of its row. */
TEST(test_the_readme_names_questions_that_are_asked) {
  char *readme = read_file("lessons/README.md"), lines[64] = "";
  int n = 0;
  for (const char *row = strstr(readme, "\n| 1 the largest B"); row && row[1] == '|';
       row = strchr(row + 1, '\n'), n++) {
    char id[64];
    assert_int_equal(sscanf(row, "\n| %*d %*[^|]| %63[^|]|", lines), 1);
    for (const char *tick = strchr(row, '`'); tick && tick < strchr(row + 1, '\n'); tick = strchr(tick + 1, '`')) {
      bool is_asked = false;
      if (sscanf(tick, "`%63[a-z0-9-]`", id) != 1) continue;
      for (const char *digit = lines + strcspn(lines, "123456789"); *digit;
           digit++, digit += strcspn(digit, "123456789"))
        is_asked |= lesson_find_ask(&lessons[*digit - '1'], id) >= 0;
      if (!is_asked) fail_msg("lessons/README.md: no question '%s' in lesson %s", id, lines);
    }
  }
  assert_int_equal(n, 13);
  free(readme);
}

/* ---- Wrong answers */

TEST(test_wrong_answers_are_diagnosed) {
  assert_true(COUNT_OF(WRONG) >= 40);
  EACH (k, WRONG) {
    const char *row = WRONG[k];
    char lesson[TEST_TEXT], id[TEST_TEXT], typed[TEST_TEXT], told[TEST_TEXT], letters[TEST_TEXT];
    assert_true(test_next(&row, lesson) && test_next(&row, id) && test_next(&row, typed) && test_next(&row, told));
    LessonRun run = start(atoi(lesson), 0);
    const LessonAsk *a = ask(&run, id);
    if (a->kind == LESSON_ORDER) letters_of(a, typed, letters);
    type(&run, a->kind == LESSON_ORDER ? letters : typed);
    assert_true(g.verdict == LESSON_DIAGNOSED && strstr(g.message, told));
    lesson_run_end(&run);
  }
}

/* ---- Tasks: --lint has tried each at its start and with its solution */

TEST(test_every_lesson_gives_something_to_do) {
  int n = 0;
  for (int k = 0; k < LESSONS; k++) {
    size_t given = lessons[k].n_tasks;
    for (size_t a = 0; a < lessons[k].n_asks; a++) given += lessons[k].asks[a].kind == LESSON_WORK;
    if (given == 0) fail_msg("%s gives nothing to do", FILES[k]);
    for (size_t t = 0; t < lessons[k].n_tasks; t++) n += lessons[k].tasks[t].until.text != NULL;
  }
  assert_true(n >= 3);
}

/* ---- The glossary */

/* GitHub's rule for the address of a heading: small letters, digits and '-', spaces become '-'. */
static void address_of(const char *heading, size_t length, char *address) {
  for (size_t k = 0; k < length; k++) {
    const char c = heading[k];
    if (c >= 'A' && c <= 'Z')
      *address++ = (char)(c + 'a' - 'A');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')
      *address++ = c;
    else if (c == ' ')
      *address++ = '-';
  }
  *address = '\0';
}

/* Every lesson links to it, and every entry is there because some lesson needs it. */
TEST(test_the_glossary_is_linked) {
  char *texts[LESSONS], *glossary = read_file("lessons/course/glossary.md"), last[64] = "";
  for (int k = 0; k < LESSONS; k++) {
    texts[k] = read_file(test_text("lessons/course/%s.md", FILES[k]));
    if (!strstr(texts[k], "](glossary.md#")) fail_msg("%s has no link to the glossary", FILES[k]);
  }
  int n = 0;
  for (const char *p = strstr(glossary, "\n## "); p; p = strstr(p + 1, "\n## "), n++) {
    char address[64], link[96];
    bool found = false;
    assert_in_range(strcspn(p + 4, "\n"), 1, sizeof address - 1);
    address_of(p + 4, strcspn(p + 4, "\n"), address);
    assert_true(n <= 0 || strcmp(last, address) < 0);
    snprintf(last, sizeof last, "%s", address);
    snprintf(link, sizeof link, "](glossary.md#%s)", address);
    for (int k = 0; k < LESSONS && !found; k++) found = strstr(texts[k], link) != NULL;
    assert_true(found);
  }
  assert_true(n >= 40);
  for (int k = 0; k < LESSONS; k++) free(texts[k]);
  free(glossary);
}

GROUP(setup, teardown)
