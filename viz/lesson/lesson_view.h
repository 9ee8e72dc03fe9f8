/* What a learner looks at, for the conditions of tasks: from the snapshot that a window draws, or
 * from a one-line state without a window. Both fill the same LessonView, so a task that is done in
 * the one is done in the other. */
#ifndef TILEWALK_VIZ_LESSON_LESSON_VIEW_H
#define TILEWALK_VIZ_LESSON_LESSON_VIEW_H

#include "lessons/engine/lesson_lint.h"
#include "viz/request/request.h"
#include "viz/scene/scene.h"

LessonView lesson_view(const Stage *stage, const Snapshot *now, SceneKind scene);

/* Parses a change of a request: a block takes the place of block-q and block-k, and these of a
 * block. Of several algorithms the last is left: a scene shows one. */
Status lesson_change(Request *request, const char *change, Error *error);

/* What there is to see, in words, for somebody who has no window: the moment when it is not the
 * start, else the whole run. */
void lesson_view_words(const LessonView *view, char *text, size_t size);

/* What a task's condition sees, without a window: what a state shows after a change of it ("" none), as a viewer would
 * that is given the one and has the other typed in. */
Status lesson_look(void *context, const char *state, const char *change,
                   Status (*look)(void *data, const LessonView *view, Error *error), void *data, Error *error);

/* What a rehearsal looks at. */
extern const LessonHooks LESSON_REHEARSAL;

#endif
