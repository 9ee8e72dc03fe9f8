/* A lesson beside a player: what the window and the browser have in common. */
#ifndef TILEWALK_VIZ_LESSON_LESSON_PLAYER_H
#define TILEWALK_VIZ_LESSON_LESSON_PLAYER_H

#include "lessons/engine/lesson_session.h"
#include "viz/player/player.h"

typedef struct {
  Player *player;
  char checked[REQUEST_STATE_BYTES]; /* the view for which the open task was last checked */
} LessonPlayer;

/* Reads the lesson and all that it computes, so that a lesson that cannot be run is refused before a window opens.
 * Close the session even after an error. */
Status lesson_player_open(LessonSession *session, const char *name, const LessonSessionOptions *options, FILE *warnings,
                          Error *error);

/* It looks into `beside`. */
LessonViewer lesson_player_viewer(LessonPlayer *beside);

enum { WARP_LINES_BYTES = 8192 };

/* The lines of a show of one access of a warp, which is a picture in the text; "": it is another show. */
void lesson_warp_lines(const LessonShow *show, char *text, size_t size);

#endif
