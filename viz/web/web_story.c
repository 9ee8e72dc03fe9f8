/* Stories in a page: the player that the window has too, over the same canvas. Only where Lua is, in whole.wasm. */
#include "viz/lesson/lesson_library.h"
#include "viz/story/story_file.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

static StoryPlayer *story;
/* By its name; "": the usual one. Returns "", or why not: what was open stays. */
EXPORT const char *web_story_open(const char *name) {
  static Error error;
  error = (Error){0};
  Lesson *read = story_open(*name ? name : STORY_USUAL, &error);
  StoryPlayer *player = read ? story_player_open(read, 0, &LESSON_LIMITS, &error) : NULL;
  if (!player) return error.message;
  story_player_close(story);
  story = player;
  story_player_reduce(story, web_player()->reduced_motion);
  web_cover(viewer_story(story));
  return "";
}

EXPORT bool web_story_is_open(void) { return story_player_is_open(story); }
