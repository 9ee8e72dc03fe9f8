/* Whether a lesson is fit for learners: `tilewalk lesson --lint`. What is asked for stands in
 * lessons/README.md. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_LINT_H
#define TILEWALK_LESSONS_ENGINE_LESSON_LINT_H

#include "lessons/engine/lesson_session.h"

/* What a lesson refers to outside itself. Every function may be NULL: then it is not checked. A
 * message is without file and line. */
typedef struct {
  void *context;
  Status (*check_link)(void *context, const char *target, size_t length, Error *error);
  bool (*is_claimed)(void *context, const char *number,
                     const char *unit); /* a claim prints it, here or in the other unit */
  /* Opens the view of a state after a change of it, and has `look` look at it. */
  Status (*look_at)(void *context, const char *state, const char *change,
                    Status (*look)(void *data, const LessonView *view, Error *error), void *data, Error *error);
  /* What a terminal shows of it; the caller frees *text. */
  Status (*picture)(void *context, const char *state, const LessonShow *show, char **text);
  void (*finding)(void *context, const char *message); /* "file:line: what is wrong" */
} LessonHooks;

/* Reports every finding; *n_findings counts them. An error only when memory runs out. */
Status lesson_lint(const Lesson *lesson, const ExpressionLimits *limits, const LessonHooks *hooks, int *n_findings,
                   Error *error);

/* Goes through a lesson as a learner with this seed may, before one does: all is computed that its pages say. The first
 * error ends it. */
Status lesson_rehearse(const Lesson *lesson, const ExpressionLimits *limits, const LessonHooks *hooks, uint64_t seed,
                       Error *error);

#endif
