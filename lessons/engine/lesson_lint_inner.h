/* Inside lessons/: what the parts of lesson_lint.h share. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_LINT_INNER_H
#define TILEWALK_LESSONS_ENGINE_LESSON_LINT_INNER_H

#include "lessons/engine/lesson_lint.h"
#include "lessons/engine/lesson_run.h"

typedef struct {
  const Lesson *lesson;
  const LessonHooks *hooks;
  int n_findings;
  bool has_glossary;
  bool no_memory;
} Lint;

void lint_report(Lint *l, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* An error that carries file and line already; one finding for all variants that meet it. */
void lint_error(Lint *l, const Error *error);

/* A text of the question, `where` it stands, that holds its answer. */
void lint_given_away(Lint *l, const LessonQuestion *q, const char *text, const char *where, int line);

/* Whether a number that stands in the text would be graded right, or nearly. */
bool lint_holds_answer(const LessonQuestion *q, const char *text);

/* What twelve learners are given. */
void lint_sheets(Lint *l, const ExpressionLimits *limits);

/* A question as it is written: links that would be printed raw, hints that say nothing, an answer that is typed in, a
 * prompt that needs what stands before it. */
void lint_ask_words(Lint *l, const LessonAsk *ask);

/* A text as it is read: an equation that is not so. */
void lint_equations(Lint *l, const char *text, int line);

/* A change of the state, from a list, that no author means; NULL behind the last. A task whose solution or `only` has
 * its key may be done by it. */
const char *lint_odd_move(const Lint *l, const LessonTask *task, int index, bool *is_meant);

#endif
