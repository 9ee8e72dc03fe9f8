/* Playing a story in a window: asked, playing, told; forward and back; left by Escape.
 *
 *     asking --Return--> playing --its end--> told --Space--> the next beat
 *
 * Owned by who opens it; SDL is not known here. Times are in seconds of any clock that goes forward. */
#ifndef TILEWALK_VIZ_STORY_STORY_PLAYER_H
#define TILEWALK_VIZ_STORY_STORY_PLAYER_H

#include "viz/story/story_page.h"

typedef struct StoryPlayer StoryPlayer;

typedef enum {
  STORY_GO_ON = 0,
  STORY_GO_BACK,
  STORY_RETURN,
  STORY_ERASE,
  STORY_LEAVE,
  STORY_CHOICE_NEXT,
  STORY_CHOICE_BACK
} StoryInput;

/* Takes the story over. N 0: its usual size. NULL with *error: a caption does not hold, a moment does not come in one
 * of its beats. */
StoryPlayer *story_player_open(Lesson *story, int64_t N, const ExpressionLimits *limits, Error *error);
void story_player_close(StoryPlayer *player);

bool story_player_is_open(const StoryPlayer *player);   /* until it is left; NULL: it is not */
bool story_player_is_moving(const StoryPlayer *player); /* a beat plays */

void story_player_reduce(StoryPlayer *player,
                         bool still); /* reduced motion: a beat is at its end at once; NULL: none */

/* Time goes on; returns whether another frame is due. */
bool story_player_tick(StoryPlayer *player, double seconds);
void story_player_input(StoryPlayer *player, StoryInput input);
void story_player_type(StoryPlayer *player,
                       const char *text); /* UTF-8; a blank goes on where nothing is typed; a letter chooses */
/* On what was drawn last: a choice is taken and played, the flag is put there, elsewhere it goes on; the right button
 * goes back. And while the button is held. */
void story_player_press(StoryPlayer *player, int button, double x, double y);
void story_player_drag(StoryPlayer *player, double x);

void story_player_draw(StoryPlayer *player, cairo_t *cr, double width, double height, const Theme *theme);

/* What is on the page in words, for terminals and the ear. Returns text. */
const char *story_player_words(const StoryPlayer *player, char *text, size_t size);

#endif
