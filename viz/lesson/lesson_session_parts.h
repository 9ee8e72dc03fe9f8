/* Shared by the files of a session. Private to viz/lesson/lesson_session*.c. */
#ifndef TILEWALK_VIZ_LESSON_LESSON_SESSION_PARTS_H
#define TILEWALK_VIZ_LESSON_LESSON_SESSION_PARTS_H

#include "viz/lesson/lesson_session.h"

void session_changed(LessonSession *session);

/* Keeps the first error; returns whether there was one. */
bool session_failed(LessonSession *session, Status status, const Error *error);

const LessonBlock *session_block(const LessonSession *session, size_t k); /* NULL behind the last */

/* The state in force before a block, and of the shows behind it the last one's scene (SCENE_COUNT: none). */
bool session_state_before(LessonSession *session, size_t block, char state[LESSON_STATE_BYTES], SceneKind *scene);

/* Has the player show a state; of several algorithms the last. */
void session_restore(Player *player, const char *state);

/* Has it show what is in force before a block. */
void session_set_player(LessonSession *session, Player *player, size_t block);

#endif
