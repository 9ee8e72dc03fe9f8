/* Whether a task is done: its condition over what the learner looks at.
 *
 *     until: view.event.kind == "new max" and view.event.j > 0
 *
 * The caller says what is looked at (LessonView); the condition sees it as the table `view`
 * (lessons/README.md lists its fields). The window asks after every move, a terminal when a state
 * was typed, --lint for the start and for the stated solution: the same condition every time. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_TASK_H
#define TILEWALK_LESSONS_ENGINE_LESSON_TASK_H

#include "lessons/engine/lesson_run.h"
#include "sim/simulate.h"

/* One check may do so much work, some milliseconds: it is done while a run is played. It does not
 * take from the lesson's budget. */
#define LESSON_TASK_STEPS ((int64_t)1000000)

/* What is on the screen. `run` is of the one head that is shown, and outlives the check. */
typedef struct {
  const Simulation *run;
  int64_t heads, batch;   /* of the problem, of which one is shown */
  const char *scene;      /* "main", ... */
  uint64_t step, n_steps; /* events done, and in all */
  Event event;            /* the present one, number step - 1 */
  bool has_event;         /* false at the start */
  Traffic traffic;        /* of events [0, step) */
  Wide read_bytes, write_bytes;
} LessonView;

/* Sets *done. Errors are the lesson's, with file and line. */
Status lesson_task_check(LessonRun *run, const LessonTask *task, const LessonView *view, bool *done, Error *error);

/* The change of the state that makes it done, in one line. */
Status lesson_task_solution(LessonRun *run, const LessonTask *task, char *change, size_t size, Error *error);

#endif
