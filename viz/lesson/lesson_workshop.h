/* The tasks of lessons/tasks by name, and the judging of answers that are files (lessons/engine/lesson_work.h). */
#ifndef TILEWALK_VIZ_LESSON_LESSON_WORKSHOP_H
#define TILEWALK_VIZ_LESSON_LESSON_WORKSHOP_H

#include "viz/lesson/lesson_library.h"
#include "viz/lesson/program_judge.h"

/* The names of the tasks that come with Tilewalk, sorted, for the caller to free. */
Status task_names(LessonFiles **tasks, Error *error);

/* Reads a task by its name, or a path: with / or a dot. NULL and *error. The caller frees it. */
ProgramTask *task_open(const char *name, Error *error);

/* Draws a task's hidden states for one answer under a class's seed: nobody can look up what an answer will meet. */
Status task_draw(ProgramTask *task, uint64_t seed, const char *text, size_t length, Error *error);

/* Judges an answer to a task of that name, called `file` in messages. Errors are the task's alone. */
Status task_judge(const char *name, const ProgramTask *task, const char *text, size_t length, const char *file,
                  TaskJudgement *judgement, Error *error);

/* What a task asks, what its start does, what is right and what the bar is, and the start: one text that
 * is a program. */
Status task_start(const char *name, const ProgramTask *task, char *text, size_t size, Error *error);

/* Names alone, never paths: a lesson may come from anybody. */
extern const LessonWorkshop LESSON_WORKSHOP;

#endif
