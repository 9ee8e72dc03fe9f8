/* Inside lessons/: what the parts of lesson_run.h share. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_RUN_INNER_H
#define TILEWALK_LESSONS_ENGINE_LESSON_RUN_INNER_H

#include "lessons/engine/lesson_read.h"
#include "lessons/engine/lesson_run.h"

/* The random stream of a name in a scope (a question's id, or "") of a lesson. */
uint64_t lesson_run_stream(const char *lesson, const char *scope, const char *name);

/* Gives every drawn name its value. */
void lesson_run_draw(LessonRun *run, const LessonDraw *draws, int n_draws, const char *scope, Error *error);

/* A text filled in, with every run of blanks and line ends as one space. */
Status lesson_run_line(LessonRun *run, LessonText text, char *filled, size_t size, Error *error);

#endif
