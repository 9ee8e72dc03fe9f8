/* The rule for numbers (lessons/engine/answer_judge.c) over all lessons and twelve seeds: no right answer is
 * refused, and every known mistake is named. */
#include "tests/support/test.h"
#include "lessons/engine/quantity.h"
#include "sim/base/ascii.h"
#include "viz/lesson/lesson_library.h"

enum { SEEDS = 12, TEXT_BYTES = 128 };

typedef struct {
  LessonRun run;
  LessonQuestion q;
  LessonGrade g;
  uint64_t seed;
  int right, refused, mistakes, unnamed;
} Walk;

static void type(Walk *w, const char *typed) { must(lesson_run_grade(&w->run, &w->q, typed, &w->g, fresh_error())); }

/* Whether the mistake that was named is nearer to what was typed than the answer: then it wins. */
static bool is_nearer_mistake(const Walk *w, const char *typed) {
  char text[TEXT_BYTES], *comma;
  strcpy(text, typed);
  if ((comma = strchr(text, ','))) *comma = '.';
  const double value = strtod(text, NULL) * w->q.key.unit.factor;
  return w->g.verdict == LESSON_DIAGNOSED && w->g.wrong >= 0 &&
         fabs(value - w->q.wrong[w->g.wrong].value) < fabs(value - w->q.key.value);
}

static void expect_right(Walk *w, const char *typed) {
  type(w, typed);
  if (is_nearer_mistake(w, typed)) return;
  w->right++;
  if (w->g.verdict == LESSON_RIGHT) return;
  w->refused++;
  print_error("%s, %s, seed %d: '%s' for %s is %s: %s\n", w->run.lesson->name, w->run.lesson->asks[w->q.ask].id,
              (int)w->seed, typed, w->q.answer, lesson_verdict_name(w->g.verdict), w->g.message);
}

/* The same digits rounded, with their unit, without it, and with a decimal comma. */
static void expect_rounded(Walk *w, double value, int digits) {
  const AnswerUnit *unit = &w->q.key.unit;
  char typed[TEXT_BYTES], *point;
  snprintf(typed, sizeof typed, digits == 2 ? "%#.*g %s" : "%.*g %s", digits, value / unit->factor, unit->name);
  expect_right(w, typed);
  snprintf(typed, sizeof typed, digits == 2 ? "%#.*g" : "%.*g", digits, value / unit->factor);
  expect_right(w, typed);
  if (!(point = strchr(typed, '.')) || !point[1] || strchr(typed, 'e')) return;
  *point = ',';
  expect_right(w, typed);
}

/* Whether `number` is `value` in its own digits, two or more: by printing, not by the rule's arithmetic. */
static bool is_in_own_digits(const char *number, double value) {
  const char *point = strchr(number, '.');
  int digits = 0;
  for (const char *p = number; *p; p++) digits += ascii_is_digit((unsigned char)*p) && (digits || *p != '0');
  return digits >= 2 && strcmp(number, test_text("%.*f", point ? (int)strlen(point + 1) : 0, value)) == 0;
}

static void expect_printed(Walk *w, const char *text, double value) {
  for (const char *p = text; *p;) {
    const bool begins = ascii_is_digit((unsigned char)*p) && (p == text || !strchr("^._,", p[-1]));
    size_t n = begins ? strspn(p, "0123456789.") : 1;
    while (begins && p[n - 1] == '.') n--;
    const char *number = test_text("%.*s", (int)n, p);
    if (begins && p[n] != ',' && is_in_own_digits(number, value)) expect_right(w, number);
    p += n;
  }
}

static void walk_question(Walk *w) {
  const LessonAsk *ask = &w->run.lesson->asks[w->q.ask];
  const AnswerKey *key = &w->q.key;
  const bool is_whole = key->unit.dimension == ANSWER_PLAIN && quantity_is_whole(key->value);
  const bool is_counted = is_whole && fabs(key->value) < 10000;
  char text[LESSON_MESSAGE_BYTES];
  expect_right(w, w->q.answer);
  expect_rounded(w, key->value, 15);
  if (!is_counted && key->tolerance.kind != TOLERANCE_EXACT) {
    expect_rounded(w, key->value, 3);
    if (key->tolerance.kind == TOLERANCE_DIGITS && !is_whole) expect_rounded(w, key->value, 2);
  }
  must(lesson_run_explain(&w->run, &w->q, text, sizeof text, fresh_error()));
  if (!is_counted) expect_printed(w, text, key->value / key->unit.factor);
  for (int k = 0; k < ask->n_wrong; k++) {
    if (!w->q.wrong[k].is_known) continue;
    const char *typed = test_text("%.15g %s", w->q.wrong[k].value / key->unit.factor, key->unit.name);
    type(w, typed);
    w->mistakes++;
    const bool named = w->g.verdict == LESSON_DIAGNOSED && w->g.wrong >= 0 &&
                       fabs(w->q.wrong[w->g.wrong].value - w->q.wrong[k].value) <= 1e-9 * fabs(w->q.wrong[k].value);
    if (named) continue;
    w->unnamed++;
    print_error("%s, %s, seed %d: the mistake '%s' is %s\n", w->run.lesson->name, ask->id, (int)w->seed, typed,
                lesson_verdict_name(w->g.verdict));
  }
}

TEST(right_answers_are_right_and_mistakes_are_named) {
  LessonShelf shelf = {0};
  Walk *w = calloc(1, sizeof *w);
  assert_non_null(w);
  while (lesson_next(&shelf, fresh_error())) {
    const Lesson *lesson = &shelf.lesson;
    must(shelf.why.status);
    for (w->seed = 1; w->seed <= SEEDS; w->seed++) {
      must(lesson_run_start(&w->run, lesson, &LESSON_LIMITS, w->seed, fresh_error()));
      for (size_t a = 0; a < lesson->n_asks; a++) {
        if (lesson->asks[a].kind != LESSON_NUMBER) continue;
        must(lesson_run_question(&w->run, (int)a, &w->q, fresh_error()));
        walk_question(w);
      }
      lesson_run_end(&w->run);
    }
  }
  print_message("%d right answers, %d refused; %d known mistakes, %d not named\n", w->right, w->refused, w->mistakes,
                w->unnamed);
  assert_true(w->right > 4000 && w->mistakes > 2000);
  assert_int_equal(w->refused, 0);
  assert_int_equal(w->unnamed, 0);
  free(w);
}
