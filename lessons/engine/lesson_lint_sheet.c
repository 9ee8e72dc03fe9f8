/* What --lint says of the sheet that a learner gets: no answer stands in its own question or in what is printed before
 * it, and learners have numbers of their own. Part of lessons/engine/lesson_lint.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_lint_inner.h"
#include "lessons/engine/lesson_run_inner.h"
#include "lessons/engine/quantity.h"
#include "sim/base/ascii.h"

enum { LEARNERS = 12, ANSWERS_MIN = 10, REPEATS_MAX = 2, TOKEN_BYTES = 64 };

/* ---- Answers given away */

static bool is_allowed(const Lint *l, const LessonAsk *ask, const char *token) {
  for (int k = 0; k < ask->n_allow; k++)
    if (strcmp(lesson_text(l->lesson, ask->allow[k]), token) == 0) return true;
  return false;
}

/* Whether the number at *p, with the word behind it or without, would be graded right. Moves on
 * past it. */
static bool is_answer(const Lint *l, const LessonQuestion *q, bool wants_unit, const char **p,
                      char token[TOKEN_BYTES]) {
  const LessonAsk *ask = &l->lesson->asks[q->ask];
  size_t n = strspn(*p, "0123456789.,");
  while (n && ((*p)[n - 1] == '.' || (*p)[n - 1] == ',')) n--;
  const char *word = *p + n;
  *p += n ? n : 1;
  if (n < 2 || n >= 24) return false; /* single digits stand everywhere */
  while (*word == ' ') word++;
  const size_t unit = strcspn(word, " .,;:!?()*|\n");
  const bool is_whole = quantity_is_whole(q->key.low / q->key.unit.factor);
  const char *own = ask->unit.name;
  if (wants_unit && q->key.unit.dimension == ANSWER_PLAIN && (!*own || strncmp(word, own, strlen(own)) != 0))
    return false;
  for (int with_unit = 1; with_unit >= wants_unit; with_unit--) {
    Answer typed;
    AnswerVerdict verdict;
    if (with_unit && unit == 0) continue;
    if (!with_unit && is_whole && unit > 0 && ascii_is_alpha((unsigned char)*word) &&
        q->key.unit.dimension == ANSWER_PLAIN)
      continue;
    snprintf(token, TOKEN_BYTES, "%.*s%s%.*s", (int)n, *p - n, with_unit ? " " : "", with_unit ? (int)unit : 0, word);
    if (answer_parse(token, strlen(token), &typed, NULL) || answer_judge(&q->key, &typed, &verdict, NULL)) continue;
    if (verdict == ANSWER_RIGHT) {
      snprintf(token, TOKEN_BYTES, "%.*s", (int)n, *p - n);
      return !is_allowed(l, ask, token);
    }
    if (with_unit && typed.unit.dimension != ANSWER_PLAIN) return false; /* a unit of its own was judged */
  }
  return false;
}

static bool holds_text(const char *text, const char *part) {
  const size_t n = strlen(part);
  for (const char *p = text; n >= 8 && *p; p++) {
    size_t k = 0;
    while (k < n && ascii_lower((unsigned char)p[k]) == ascii_lower((unsigned char)part[k])) k++;
    if (k == n) return true;
  }
  return false;
}

/* Whether a number in the text, perhaps only one with its unit, would be graded right; `token` is that number. */
static bool gives_away(const Lint *l, const LessonQuestion *q, bool wants_unit, const char *text,
                       char token[TOKEN_BYTES]) {
  for (const char *p = text; *p;) {
    const bool begins = ascii_is_digit((unsigned char)*p) &&
                        (p == text || (!ascii_is_alnum((unsigned char)p[-1]) && !strchr("._^-/", p[-1])));
    if (!begins)
      p++;
    else if (is_answer(l, q, wants_unit, &p, token))
      return true;
  }
  return false;
}

void lint_given_away(Lint *l, const LessonQuestion *q, const char *text, const char *where, int line) {
  const LessonAsk *ask = &l->lesson->asks[q->ask];
  char token[TOKEN_BYTES];
  if (ask->kind == LESSON_CHOICE && strcmp(where, "hint") == 0 && holds_text(text, q->answer))
    lint_report(l, line, "a hint of '%s' holds the right choice, word for word", ask->id);
  if (ask->kind == LESSON_NUMBER && gives_away(l, q, false, text, token))
    lint_report(l, line,
                "the %s of '%s' gives the answer away: %s; if it stands there for another reason, add 'allow: %s'",
                where, ask->id, token, token);
}

bool lint_holds_answer(const LessonQuestion *q, const char *text) {
  for (const char *p = text; *p;) {
    const size_t n = strspn(p, "0123456789.,");
    if (!n || !ascii_is_digit((unsigned char)*p)) {
      p += n ? n : 1;
      continue;
    }
    const char *word = p + n + strspn(p + n, " ");
    const size_t unit = strcspn(word, " .,;:!?()|\n");
    for (int with_unit = 1; with_unit >= 0; with_unit--) {
      char token[TOKEN_BYTES];
      Answer typed;
      AnswerVerdict verdict;
      if (n > 24 || unit > 12) break;
      snprintf(token, sizeof token, "%.*s%s%.*s", (int)n, p, with_unit ? " " : "", with_unit ? (int)unit : 0, word);
      if (answer_parse(token, strlen(token), &typed, NULL) == STATUS_OK &&
          answer_judge(&q->key, &typed, &verdict, NULL) == STATUS_OK && verdict <= ANSWER_ROUGH)
        return true;
    }
    p += n;
  }
  return false;
}

/* ---- Sheets */

typedef struct {
  Lint *lint;
  LessonRun run;
  LessonQuestion *question, *other;
  char *printed;                             /* answers, explanations and captions so far, */
  char text[LESSON_MESSAGE_BYTES];           /* and one of them */
  double answers[LESSON_ASKS_MAX][LEARNERS]; /* to the marked questions */
  int n_repeats[LESSON_ASKS_MAX];            /* sheets on which the answer is printed before the question */
  char repeat[LESSON_ASKS_MAX][TOKEN_BYTES]; /* on the last of them */
} Sheets;

static void add_printed(Sheets *s, const char *text) {
  const size_t used = strlen(s->printed);
  snprintf(s->printed + used, LESSON_PROSE_BYTES - used, "%s\n", text);
}

/* The next line behind *rest, without its indentation; NULL at the end. */
static const char *next_line(const char **rest, size_t *length) {
  const char *line = *rest + strspn(*rest, " \n");
  *length = strcspn(line, "\n");
  *rest = line + *length;
  return *length ? line : NULL;
}

/* Whether `text` has a line that none of the two others has. */
static bool has_line_beside(const char *text, const char *a, const char *b) {
  size_t length, other;
  for (const char *line; (line = next_line(&text, &length)) != NULL;) {
    bool is_there = false;
    for (int k = 0; k < 2; k++)
      for (const char *rest = k ? b : a, *at; !is_there && (at = next_line(&rest, &other)) != NULL;)
        is_there = other == length && memcmp(at, line, length) == 0;
    if (!is_there) return true;
  }
  return false;
}

/* Two programs on one sheet: what one lacks must not stand in the other as it begins. */
static Status check_programs(Sheets *s, int a, Error *error) {
  const Lesson *lesson = s->lint->lesson;
  const LessonWork *work = &s->question->work;
  Status status = STATUS_OK;
  for (int b = 0; b < (int)lesson->n_asks && !status; b++) {
    if (b == a || lesson->asks[b].kind != LESSON_WORK) continue;
    status = lesson_run_question(&s->run, b, s->other, error);
    if (!status && !has_line_beside(work->reference, work->start, s->other->work.start))
      lint_report(s->lint, lesson->asks[a].line, "what '%s' asks for stands in the program that '%s' begins with",
                  lesson->asks[a].id, lesson->asks[b].id);
  }
  return status;
}

/* Learner 0 has the numbers of the page. */
static Status check_sheet_ask(Sheets *s, int a, int learner, Error *error) {
  const LessonAsk *ask = &s->lint->lesson->asks[a];
  LessonQuestion *q = s->question;
  char token[TOKEN_BYTES];
  Status status = lesson_run_question(&s->run, a, q, error);
  if (status) return status;
  if (learner > 0)
    s->answers[a][learner - 1] =
        ask->kind == LESSON_WORK ? (double)(lesson_run_stream(q->own, "", "") >> 11) : q->key.low;
  else if (ask->kind == LESSON_WORK)
    status = check_programs(s, a, error);
  if (ask->kind == LESSON_WORK) return status;
  if (ask->kind == LESSON_NUMBER && !ask->is_prediction && gives_away(s->lint, q, true, s->printed, token)) {
    s->n_repeats[a] += learner ? 1 : 1 + REPEATS_MAX;
    memcpy(s->repeat[a], token, sizeof token);
  }
  add_printed(s, q->answer);
  if (ask->explain.offset) {
    status = lesson_run_explain(&s->run, q, s->text, sizeof s->text, error);
    add_printed(s, s->text);
  }
  return status;
}

/* A sheet from its top. */
static Status check_sheet(Sheets *s, int learner, Error *error) {
  const Lesson *lesson = s->lint->lesson;
  Status status = STATUS_OK;
  s->printed[0] = '\0';
  for (size_t k = 0; k < lesson->n_blocks && !status; k++) {
    const LessonBlock *b = &lesson->blocks[k];
    if (b->kind == LESSON_ASK) status = check_sheet_ask(s, b->ask, learner, error);
    if (b->kind != LESSON_SHOW || !b->caption.offset) continue;
    status = lesson_run_fill(&s->run, b->caption, s->text, sizeof s->text, error);
    add_printed(s, s->text);
  }
  return status;
}

/* How many of these are different. */
static int n_different(const double *values, int n) {
  int different = 0;
  for (int k = 0; k < n; k++) {
    bool is_new = true;
    for (int other = 0; other < k && is_new; other++) is_new = values[other] != values[k];
    different += is_new;
  }
  return different;
}

static void report_sheets(const Sheets *s) {
  const Lesson *lesson = s->lint->lesson;
  for (size_t a = 0; a < lesson->n_asks; a++) {
    const LessonAsk *ask = &lesson->asks[a];
    const int n = n_different(s->answers[a], LEARNERS);
    if (!ask->is_prediction && !ask->fixed.offset && n < ANSWERS_MIN)
      lint_report(
          s->lint, ask->line,
          "%d learners have %d answer%s to '%s'; draw from 50 values or more ('draw: N from 1024 to 8192 by 64'), or "
          "say why not with 'fixed: ...'",
          LEARNERS, n, n == 1 ? "" : "s", ask->id);
    if (s->n_repeats[a] > REPEATS_MAX)
      lint_report(s->lint, ask->line,
                  "the answer to '%s' is printed before it: %s; draw other numbers, or add 'allow: %s'", ask->id,
                  s->repeat[a], s->repeat[a]);
  }
}

/* Learners have answers of their own to every marked question, or the lesson says why they have not: with 50 values to
 * draw from, at least ten of twelve learners' answers differ. And what is printed on the way is no later answer: not
 * on the page's sheet, and on REPEATS_MAX of the learners' at most, where numbers may coincide. */
void lint_sheets(Lint *l, const ExpressionLimits *limits) {
  Error error = {0};
  Sheets *s = calloc(1, sizeof *s);
  char *printed = malloc(LESSON_PROSE_BYTES);
  LessonQuestion *questions = malloc(2 * sizeof *questions);
  l->no_memory = !s || !printed || !questions;
  if (!l->no_memory) {
    *s = (Sheets){.lint = l, .question = &questions[0], .other = &questions[1], .printed = printed};
    for (int k = 0; k <= LEARNERS && !error.status; k++) {
      if (lesson_run_start(&s->run, l->lesson, limits, LESSON_PAGE_SEED + (uint64_t)k, &error)) break;
      check_sheet(s, k, &error);
      lesson_run_end(&s->run);
    }
    if (error.status) lint_error(l, &error);
    if (!error.status) report_sheets(s);
  }
  free(questions);
  free(printed);
  free(s);
}
