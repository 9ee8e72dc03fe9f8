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

#include <stdint.h>

#include "sim/base/error.h"

enum { WORK_TEXT_BYTES = 8192, WORK_LINE_BYTES = 512, WORK_HINTS_MAX = 4, LESSON_MESSAGE_BYTES = 4000 };

typedef enum {
  LESSON_RIGHT = 0,
  LESSON_NEARLY,    /* more digits, the other unit: the message says what */
  LESSON_DIAGNOSED, /* a known wrong answer, or a slip (answer_slip): the message is its diagnosis */
  LESSON_NOT_RIGHT,
  LESSON_UNREADABLE, /* the message says why; it does not count as a try */
  LESSON_VERDICT_COUNT
} LessonVerdict;

typedef struct {
  LessonVerdict verdict;
  int wrong; /* of a known wrong answer: which; else -1 */
  char message[LESSON_MESSAGE_BYTES];
} LessonGrade;

typedef struct {
  char title[WORK_LINE_BYTES], prompt[7 * WORK_LINE_BYTES];
  char file[64]; /* what the learner's file is called: "gate.walk" */
  char hint[WORK_HINTS_MAX][WORK_LINE_BYTES];
  int n_hints;
  char start[WORK_TEXT_BYTES], reference[WORK_TEXT_BYTES];
} LessonWork;

typedef struct LessonWorkshop {
  /* The task of that name. */
  Status (*open)(const char *task, LessonWork *work, Error *error);
  /* Grades a text, called `file` in messages. `own`: a state beside the task's, "" none; what is not
   * shown is drawn from `seed` and the text. Errors are the task's and the state's; what is wrong with the text is its
   * grade. Bounded: some tenths of a second. */
  Status (*judge)(const char *task, uint64_t seed, const char *own, const char *text, const char *file,
                  LessonGrade *grade, Error *error);
} LessonWorkshop;

#endif
