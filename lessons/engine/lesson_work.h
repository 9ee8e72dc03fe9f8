/* A question that is answered with a file, a program of tiles or a kernel: what it asks, and who judges it.
 *
 *     ```ask rescale
 *     kind: program
 *     answer: gate             a task of lessons/tasks
 *     draw: N from 320, 448, 576
 *     state: N={N} d=32 block=64 causal=1   the learner's own numbers, beside the task's
 *     ```
 */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_WORK_H
#define TILEWALK_LESSONS_ENGINE_LESSON_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum { WORK_TEXT_BYTES = 8192, WORK_LINE_BYTES = 512, WORK_HINTS_MAX = 4 };

typedef struct {
  char title[WORK_LINE_BYTES], prompt[7 * WORK_LINE_BYTES];
  char file[64]; /* what the learner's file is called: "gate.walk" */
  char hint[WORK_HINTS_MAX][WORK_LINE_BYTES];
  int n_hints;
  char start[WORK_TEXT_BYTES], reference[WORK_TEXT_BYTES];
} LessonWork;

typedef enum { WORK_PASSES = 0, WORK_FAILS, WORK_UNREADABLE } WorkVerdict;

typedef struct {
  WorkVerdict verdict;
  char why[WORK_LINE_BYTES];  /* one line */
  char says[WORK_LINE_BYTES]; /* the sentence of the mutant that fails in the same way; "": of none */
} WorkJudgement;

typedef struct LessonWorkshop {
  /* The task of that name. */
  Status (*open)(const char *task, LessonWork *work, Error *error);
  /* Judges text[0..length), called `file` in messages. `own`: a state beside the task's, "" none; what is not
   * shown is drawn from `seed` and the text. Errors are the task's and the state's; what is wrong with the text is a
   * judgement. Bounded: some tenths of a second. */
  Status (*judge)(const char *task, uint64_t seed, const char *own, const char *text, size_t length, const char *file,
                  WorkJudgement *judgement, Error *error);
} LessonWorkshop;

#endif
