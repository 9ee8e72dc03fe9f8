/* Going through a lesson: its numbers drawn, its texts filled in, its questions asked and graded.
 *
 *     LessonRun run;
 *     lesson_run_start(&run, &lesson, &limits, seed, &error);
 *     lesson_run_fill(&run, lesson.blocks[0].text, text, sizeof text, &error);
 *     lesson_run_question(&run, 0, &question, &error);
 *     lesson_run_grade(&run, &question, "64 MiB", &grade, &error);
 *     lesson_run_end(&run);
 *
 * Prints nothing: a terminal and a window are two callers of this. Errors are the lesson's, with
 * file and line; what the learner typed is never an error but a grade. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_RUN_H
#define TILEWALK_LESSONS_ENGINE_LESSON_RUN_H

#include "lessons/engine/expression.h"
#include "lessons/engine/lesson.h"
#include "lessons/engine/lesson_work.h"
#include "lessons/engine/show_line.h"

enum {
  LESSON_PROSE_BYTES = 24000,
  LESSON_OPTION_BYTES = 400,
  LESSON_PAGE_SEED = 1, /* draws the first value of everything: the numbers that the page is written with */
};

typedef struct {
  const Lesson *lesson;
  ExpressionScope *scope;
  const LessonWorkshop *workshop;
  uint64_t seed;
  int variant; /* -1: by seed; else every draw takes its value number variant, round and round */
} LessonRun;

/* Draws, and runs the setup blocks. `limits` as for expressions; its file name is not used. */
Status lesson_run_start(LessonRun *run, const Lesson *lesson, const ExpressionLimits *limits, uint64_t seed,
                        Error *error);
/* The same with draws by number, for checks that must see every value. */
Status lesson_run_start_variant(LessonRun *run, const Lesson *lesson, const ExpressionLimits *limits, int variant,
                                Error *error);
void lesson_run_end(LessonRun *run);

/* Gives the expressions the whole budget again. Each thing that a learner does has one of its own,
 * so that a long evening with a lesson does not use it up. */
void lesson_run_refill(LessonRun *run);

/* Fills {expressions} in; not within backticks or code blocks. */
Status lesson_run_fill(LessonRun *run, LessonText text, char *filled, size_t size, Error *error);

/* The one-line state of a block, in one line; numbers without thousands separators. */
Status lesson_run_state(LessonRun *run, const LessonBlock *block, char *state, size_t size, Error *error);

/* The show of a block. */
Status lesson_run_show(LessonRun *run, const LessonBlock *block, LessonShow *show, Error *error);

typedef struct {
  bool is_known; /* it could be computed, and is not right */
  double value;
  int order[ANSWER_CHOICES_MAX]; /* places: n_named of them */
} LessonWrong;

/* A question with its computed answer. Indices of choices are places as shown: an order is
 * shuffled. */
typedef struct {
  int ask;
  char prompt[LESSON_MESSAGE_BYTES];
  AnswerKey key;          /* numbers */
  int n_choices, n_named; /* n_named: that an answer names: one of a choice, all of an order */
  char choice[ANSWER_CHOICES_MAX][LESSON_OPTION_BYTES];
  int written[ANSWER_CHOICES_MAX]; /* place -> index as written */
  int right;                       /* choice: the place */
  double rank[ANSWER_CHOICES_MAX]; /* order: of each place */
  LessonWrong wrong[LESSON_WRONG_MAX];
  char answer[LESSON_OPTION_BYTES]; /* as shown to the learner in the end */
  LessonWork work;                  /* a file: what is asked, */
  char own[WORK_LINE_BYTES];        /* and the learner's own numbers */
} LessonQuestion;

/* The places of an order from the first on; of equal ones the one that is shown first. */
void lesson_order(const LessonQuestion *question, int order[ANSWER_CHOICES_MAX]);

Status lesson_run_question(LessonRun *run, int ask, LessonQuestion *question, Error *error);

const char *lesson_verdict_name(LessonVerdict verdict); /* "right", "nearly", ... */

/* What is said after success, filled in; "" when there is nothing. */
Status lesson_run_explain(LessonRun *run, const LessonQuestion *question, char *text, size_t size, Error *error);

Status lesson_run_grade(LessonRun *run, const LessonQuestion *question, const char *typed, LessonGrade *grade,
                        Error *error);

/* ---- For the other parts of lessons/ */

/* The random stream of a name in a scope (a question's id, or "") of a lesson. */
uint64_t lesson_run_stream(const char *lesson, const char *scope, const char *name);

/* A text filled in, with every run of blanks and line ends as one space. */
Status lesson_run_line(LessonRun *run, LessonText text, char *filled, size_t size, Error *error);

#endif
