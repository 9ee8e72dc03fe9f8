#include "lessons/engine/lesson_lint_inner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_run_inner.h"
#include "lessons/engine/quantity.h"
#include "sim/base/ascii.h"

enum { ASKS_MIN = 3, MINUTES_MIN = 5, MINUTES_MAX = 45, FINDINGS_MAX = 60, STATE_BYTES = 1024 };

void lint_report(Lint *l, int line, const char *format, ...) {
  char text[ERROR_MESSAGE_BYTES], message[ERROR_MESSAGE_BYTES + 128];
  if (++l->n_findings > FINDINGS_MAX) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(message, sizeof message, "%s:%d: %s", l->lesson->file, line, text);
  l->hooks->finding(l->hooks->context, message);
}

/* An error that carries file and line already; one finding for all variants that meet it. */
void lint_error(Lint *l, const Error *error) {
  if (error->status == STATUS_NO_MEMORY)
    l->no_memory = true;
  else if (++l->n_findings <= FINDINGS_MAX)
    l->hooks->finding(l->hooks->context, error->message);
}

/* A hook's refusal, which has no position yet. */
static void report_refusal(Lint *l, int line, const Error *why) {
  if (why->status == STATUS_NO_MEMORY)
    l->no_memory = true;
  else
    lint_report(l, line, "%s", why->message);
}

/* ---- What is there at all */

static void check_header(Lint *l) {
  const Lesson *lesson = l->lesson;
  if (lesson->minutes < MINUTES_MIN || lesson->minutes > MINUTES_MAX)
    lint_report(l, lesson->title.line, "the lesson takes %d minutes; %d to %d are right", lesson->minutes, MINUTES_MIN,
                MINUTES_MAX);
  for (int k = 0; k < lesson->n_needs; k++) {
    const char *need = lesson_text(lesson, lesson->needs[k]);
    if (l->hooks->is_known_need && !l->hooks->is_known_need(l->hooks->context, need))
      lint_report(l, lesson->needs[k].line, "'%s' is neither a command nor a function that Tilewalk has or plans",
                  need);
  }
}

/* The show that a prediction waits for comes before the next question. */
static bool show_follows(const Lesson *lesson, size_t block) {
  for (size_t k = block + 1; k < lesson->n_blocks && lesson->blocks[k].kind != LESSON_ASK; k++)
    if (lesson->blocks[k].kind == LESSON_SHOW) return true;
  return false;
}

/* 0.001, 0.003, 0.01: what is doubled or halved is none, so a tolerance does not slip. */
static bool is_step(double amount) {
  const double first = amount / pow(10, floor(log10(amount) + 1e-9));
  return fabs(first - 1) < 1e-6 || fabs(first - 3) < 1e-6;
}

static void check_parts(Lint *l) {
  const Lesson *lesson = l->lesson;
  int n_teacher = 0, n_shows = 0, n_predictions = 0;
  for (size_t k = 0; k < lesson->n_blocks; k++) {
    const LessonBlock *b = &lesson->blocks[k];
    n_teacher += b->kind == LESSON_TEACHER;
    n_shows += b->kind == LESSON_SHOW;
    if (b->kind != LESSON_ASK) continue;
    const LessonAsk *ask = &lesson->asks[b->ask];
    n_predictions += ask->is_prediction;
    if (ask->is_prediction && !show_follows(lesson, k))
      lint_report(l, ask->line, "nothing is shown after the prediction '%s'; put a show before the next question",
                  ask->id);
    if (!ask->n_hints && ask->kind != LESSON_WORK) lint_report(l, ask->line, "the question '%s' has no hint", ask->id);
    if (ask->tolerance.amount > 0 && !is_step(ask->tolerance.amount))
      lint_report(l, ask->line,
                  "the tolerance of '%s' begins with neither 1 nor 3, such as 0.3%%: half and twice as much "
                  "are no steps",
                  ask->id);
    if (!ask->explain.offset && !ask->is_prediction)
      lint_report(l, ask->line, "the question '%s' has no explain", ask->id);
  }
  const int line = lesson->title.line;
  if (lesson->n_asks < ASKS_MIN)
    lint_report(l, line, "the lesson has %zu questions; at least %d are asked for", lesson->n_asks, ASKS_MIN);
  if (!n_predictions)
    lint_report(l, line,
                "nothing is predicted before it is shown; add a question of kind predict, and a show "
                "after it");
  if (!n_shows) lint_report(l, line, "the lesson has no picture; add a show");
  if (n_teacher != 1) lint_report(l, line, "the lesson has %d teacher blocks; it needs one", n_teacher);
}

/* ---- Links */

static void check_link(void *context, const char *target, size_t length, int line) {
  Lint *l = context;
  Error why = {0};
  if (length >= 11 && memcmp(target, "glossary.md", 11) == 0) l->has_glossary = true;
  if (l->hooks->check_link && l->hooks->check_link(l->hooks->context, target, length, &why))
    report_refusal(l, line, &why);
}

static void check_links(Lint *l) {
  const LessonLinks links = {l, check_link};
  for (size_t k = 0; k < l->lesson->n_blocks; k++) {
    const LessonBlock *b = &l->lesson->blocks[k];
    if (b->kind != LESSON_PROSE && b->kind != LESSON_TASK && b->kind != LESSON_TEACHER) continue;
    const char *text = lesson_text(l->lesson, b->text);
    Error error = {0};
    if (lesson_check_markdown(text, strlen(text), l->lesson->file, b->text.line, &links, &error)) lint_error(l, &error);
  }
  if (!l->has_glossary)
    lint_report(l, l->lesson->title.line, "no term is linked to the glossary; write [tile](glossary.md#tile)");
}

/* ---- One variant of the draws, from top to bottom */

typedef struct {
  Lint *lint;
  bool is_strict; /* no number is drawn from a range, where some of many may coincide; or all are those of the page */
  bool is_first, awaits_picture; /* a prediction was made, and its picture is to come */
  LessonRun run;
  char state[STATE_BYTES];
  char *prose; /* since the question before, filled in */
  LessonQuestion *question;
  char text[LESSON_PROSE_BYTES];
} Pass;

static bool fill(Pass *p, LessonText text) {
  Error error = {0};
  if (lesson_run_fill(&p->run, text, p->text, sizeof p->text, &error) == STATUS_OK) return true;
  lint_error(p->lint, &error);
  return false;
}

static void check_wrong(Pass *p, const LessonQuestion *q) {
  Lint *l = p->lint;
  const LessonAsk *ask = &l->lesson->asks[q->ask];
  for (int k = 0; k < ask->n_wrong; k++) {
    const int line = ask->wrong[k].key.line;
    const char *written = lesson_text(l->lesson, ask->wrong[k].key);
    if (!q->wrong[k].is_known && p->is_strict)
      lint_report(l, line, "the wrong answer '%s' of '%s' is right", written, ask->id);
    for (int other = 0; other < k && p->is_strict; other++) {
      const LessonWrong *a = &q->wrong[k], *b = &q->wrong[other];
      const bool same = ask->kind == LESSON_NUMBER ? fabs(a->value - b->value) <= 1e-9 * fabs(a->value)
                        : ask->kind == LESSON_CHOICE
                            ? a->choice == b->choice
                            : memcmp(a->order, b->order, (size_t)q->n_choices * sizeof *a->order) == 0;
      if (same)
        lint_report(l, line, "the wrong answers on lines %d and %d of '%s' are the same", ask->wrong[other].key.line,
                    line, ask->id);
    }
  }
}

/* A wrong answer within the tolerance of the right one would never be diagnosed. */
static void check_tolerance(Pass *p, const LessonQuestion *q) {
  const LessonAsk *ask = &p->lint->lesson->asks[q->ask];
  if (ask->kind != LESSON_NUMBER) return;
  for (int k = 0; k < ask->n_wrong; k++) {
    const Answer typed = {.number = q->wrong[k].value / q->key.unit.factor, .digits = 99};
    AnswerVerdict verdict;
    if (q->wrong[k].is_known && answer_judge(&q->key, &typed, &verdict, NULL) == STATUS_OK && verdict == ANSWER_RIGHT)
      lint_report(p->lint, ask->wrong[k].key.line, "the wrong answer '%s' of '%s' lies within the tolerance",
                  lesson_text(p->lint->lesson, ask->wrong[k].key), ask->id);
  }
}

static void check_ask(Pass *p, int index) {
  Lint *l = p->lint;
  const LessonAsk *ask = &l->lesson->asks[index];
  LessonQuestion *q = p->question;
  Error error = {0};
  if (lesson_run_question(&p->run, index, q, &error)) {
    lint_error(l, &error);
    return;
  }
  if (p->is_first) lint_ask_words(l, ask);
  check_wrong(p, q);
  check_tolerance(p, q);
  lint_equations(l, q->prompt, ask->prompt.line);
  p->awaits_picture = ask->is_prediction;
  lint_given_away(l, q, p->prose, "prose before the question", ask->line);
  lint_given_away(l, q, q->prompt, "prompt", ask->prompt.line);
  for (int k = 0; k < ask->n_hints; k++)
    if (fill(p, ask->hint[k])) {
      lint_given_away(l, q, p->text, "hint", ask->hint[k].line);
      lint_equations(l, p->text, ask->hint[k].line);
    }
  /* what is said after an answer must be computable too: grade the right one, and each wrong one */
  LessonGrade *grade = malloc(sizeof *grade);
  if (!grade) {
    l->no_memory = true;
    return;
  }
  for (int k = -1; k < ask->n_wrong && !error.status; k++) {
    char typed[WORK_TEXT_BYTES];
    if (k >= 0 && !q->wrong[k].is_known) continue;
    if (ask->kind == LESSON_NUMBER)
      snprintf(typed, sizeof typed, "%.17g %s", (k < 0 ? q->key.low : q->wrong[k].value) / q->key.unit.factor,
               q->key.unit.name);
    else if (ask->kind == LESSON_CHOICE)
      snprintf(typed, sizeof typed, "%c", 'a' + (k < 0 ? q->right : q->wrong[k].choice));
    else if (k < 0)
      snprintf(typed, sizeof typed, "%s", ask->kind == LESSON_WORK ? q->work.reference : q->answer);
    else
      for (int c = 0; c < q->n_choices; c++)
        snprintf(typed + 2 * c, sizeof typed - 2 * (size_t)c, "%c ", 'a' + q->wrong[k].order[c]);
    if (lesson_run_grade(&p->run, q, typed, grade, &error))
      lint_error(l, &error);
    else if (k < 0 && grade->verdict != LESSON_RIGHT)
      lint_report(l, ask->line, "the right answer of '%s', typed as '%s', is not graded right: %s", ask->id, typed,
                  grade->message);
    else if (k >= 0 && grade->verdict != LESSON_DIAGNOSED)
      lint_report(l, ask->wrong[k].key.line, "the wrong answer '%s' of '%s' gets no diagnosis", typed, ask->id);
    else
      lint_equations(l, grade->message, k < 0 ? ask->explain.line : ask->wrong[k].text.line);
  }
  if (ask->kind == LESSON_NUMBER && !error.status &&
      lesson_run_grade(&p->run, q, q->answer, grade, &error) == STATUS_OK && grade->verdict != LESSON_RIGHT)
    lint_report(l, ask->line, "the answer of '%s', printed as '%s', is not graded right", ask->id, q->answer);
  if (error.status == STATUS_NO_MEMORY) l->no_memory = true;
  free(grade);
}

/* A number that is predicted stands in its picture, or below it. */
static void check_picture(Pass *p, const LessonBlock *b, const LessonShow *show) {
  Lint *l = p->lint;
  char *picture = NULL;
  if (!p->awaits_picture || !l->hooks->picture) return;
  p->awaits_picture = false;
  const LessonAsk *ask = &l->lesson->asks[p->question->ask];
  if (ask->kind != LESSON_NUMBER) return;
  const Status status = l->hooks->picture(l->hooks->context, p->state, show, &picture);
  if (status == STATUS_NO_MEMORY) l->no_memory = true;
  if (!status && !lint_holds_answer(p->question, picture) &&
      !(b->caption.offset && fill(p, b->caption) && lint_holds_answer(p->question, p->text)))
    lint_report(l, b->text.line, "the picture does not hold what '%s' predicts, %s, and neither does its caption",
                ask->id, p->question->answer);
  free(picture);
}

static void check_state(Pass *p, const LessonBlock *b, const LessonShow *show) {
  Lint *l = p->lint;
  Error why = {0};
  if (l->hooks->check_state && l->hooks->check_state(l->hooks->context, p->state, show, &why))
    report_refusal(l, b->text.line, &why);
}

/* ---- Tasks */

typedef struct {
  Pass *pass;
  const LessonTask *task;
  bool done, is_broken; /* is_broken: the condition itself; reported with its place */
} Look;

static Status look(void *data, const LessonView *view, Error *error) {
  Look *l = data;
  const Status status = lesson_task_check(&l->pass->run, l->task, view, &l->done, error);
  l->is_broken = status != STATUS_OK;
  return status;
}

/* Whether the task is done after a change of the state; false when that could not be found out. */
static bool is_done_at(Pass *p, const LessonTask *task, const char *change, int line, bool *done) {
  const LessonHooks *hooks = p->lint->hooks;
  Look l = {.pass = p, .task = task};
  Error why = {0};
  if (hooks->look_at(hooks->context, p->state, change, look, &l, &why) == STATUS_OK) {
    *done = l.done;
    return true;
  }
  if (l.is_broken)
    lint_error(p->lint, &why);
  else
    report_refusal(p->lint, line, &why);
  return false;
}

/* The same, where a change that cannot be made does nothing. */
static bool is_done_by(Pass *p, const LessonTask *task, const char *change) {
  const LessonHooks *hooks = p->lint->hooks;
  Look l = {.pass = p, .task = task};
  Error why = {0};
  const Status status = hooks->look_at(hooks->context, p->state, change, look, &l, &why);
  if (why.status == STATUS_NO_MEMORY) p->lint->no_memory = true;
  return status == STATUS_OK && l.done;
}

static void check_task(Pass *p, const LessonTask *task) {
  Lint *l = p->lint;
  char change[STATE_BYTES];
  Error error = {0};
  bool at_start = false, at_end = false;
  for (int k = 0; k < task->n_hints; k++) fill(p, task->hint[k]);
  if (task->explain.offset) fill(p, task->explain);
  if (!task->until.offset) return;
  if (!task->n_hints) lint_report(l, task->line, "the task has no hint");
  if (lesson_task_solution(&p->run, task, change, sizeof change, &error)) {
    lint_error(l, &error);
    return;
  }
  if (!l->hooks->look_at || !is_done_at(p, task, "", task->line, &at_start) ||
      !is_done_at(p, task, change, task->solution.line, &at_end))
    return;
  if (at_start) lint_report(l, task->until.line, "the task is done before it begins: 'until' is true at its start");
  if (!at_end) lint_report(l, task->solution.line, "the solution does not solve the task: 'until' is false there");
  for (int k = 0; p->is_first && !at_start && at_end; k++) { /* what nobody means may not do it */
    bool is_meant = false;
    const char *move = lint_odd_move(l, task, k, &is_meant);
    if (!move) break;
    if (!is_meant && is_done_by(p, task, move))
      lint_report(l, task->until.line, "the task is done by '%s', too; pin it in 'until', or allow it with 'only: ...'",
                  move);
  }
}

static void check_block(Pass *p, const LessonBlock *b) {
  Lint *l = p->lint;
  LessonShow show;
  Error error = {0};
  switch (b->kind) {
  case LESSON_PROSE:
  case LESSON_TASK:
    if (!fill(p, b->text)) return;
    lint_equations(l, p->text, b->text.line);
    if (strlen(p->prose) + strlen(p->text) + 2 < LESSON_PROSE_BYTES) strcat(strcat(p->prose, "\n"), p->text);
    if (b->kind == LESSON_TASK) check_task(p, &l->lesson->tasks[b->task]);
    return;
  case LESSON_TEACHER: fill(p, b->text); return;
  case LESSON_STATE:
    if (lesson_run_state(&p->run, b, p->state, sizeof p->state, &error))
      lint_error(l, &error);
    else
      check_state(p, b, NULL);
    return;
  case LESSON_SHOW:
    if (lesson_run_show(&p->run, b, &show, &error))
      lint_error(l, &error);
    else
      check_state(p, b, &show);
    if (!error.status) check_picture(p, b, &show);
    if (b->caption.offset && fill(p, b->caption)) lint_equations(l, p->text, b->caption.line);
    return;
  case LESSON_ASK:
    check_ask(p, b->ask);
    p->prose[0] = '\0'; /* what is said with it may give the next away */
    for (int k = 0; k < p->question->n_choices; k++) strcat(strcat(p->prose, p->question->choice[k]), "\n");
    return;
  default: return;
  }
}

static bool has_range(const Lesson *lesson) {
  bool found = false;
  for (int k = 0; k < lesson->n_draws; k++) found = found || lesson->draw[k].is_range;
  for (size_t a = 0; a < lesson->n_asks; a++)
    for (int k = 0; k < lesson->asks[a].n_draws; k++) found = found || lesson->asks[a].draw[k].is_range;
  return found;
}

static void check_variant(Lint *l, const ExpressionLimits *limits, int variant) {
  Error error = {0};
  Pass *p = calloc(1, sizeof *p);
  char *prose = calloc(1, LESSON_PROSE_BYTES);
  LessonQuestion *question = malloc(sizeof *question);
  if (!p || !prose || !question) {
    l->no_memory = true;
  } else {
    *p = (Pass){.lint = l,
                .is_first = variant == 0,
                .is_strict = variant == 0 || !has_range(l->lesson),
                .prose = prose,
                .question = question};
    if (lesson_run_start_variant(&p->run, l->lesson, limits, variant, &error)) {
      lint_error(l, &error);
    } else {
      for (size_t k = 0; k < l->lesson->n_blocks && !l->no_memory; k++) check_block(p, &l->lesson->blocks[k]);
      lesson_run_end(&p->run);
    }
  }
  free(question);
  free(prose);
  free(p);
}

/* Findings that do not depend on the draws come once; the variants stop at the first that has
 * findings. */
Status lesson_lint(const Lesson *lesson, const ExpressionLimits *limits, const LessonHooks *hooks, int *n_findings,
                   Error *error) {
  Lint l = {.lesson = lesson, .hooks = hooks};
  check_header(&l);
  check_parts(&l);
  check_links(&l);
  const int before = l.n_findings, n = lesson_variants(lesson);
  for (int k = 0; k < n && l.n_findings == before && !l.no_memory; k++) check_variant(&l, limits, k);
  if (l.n_findings == before && !l.no_memory) lint_sheets(&l, limits);
  *n_findings = l.n_findings;
  if (l.no_memory) return error_set(error, STATUS_NO_MEMORY, "no memory to check %s", lesson->file);
  return STATUS_OK;
}
