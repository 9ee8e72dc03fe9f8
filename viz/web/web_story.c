/* Stories in a page: the player that the window has too, over the same canvas. Only where Lua is, in whole.wasm. */
#include <stdio.h>
#include <string.h>

#include "sim/base/text_add.h"
#include "viz/lesson/lesson_library.h"
#include "viz/request/assets.h"
#include "viz/story/story_file.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"
#include "viz/window/viewer_story.h"

static StoryPlayer *story;
static Error story_error;

/* By its name; "": the usual one. False: web_story_error says why, and what was open stays. */
EXPORT bool web_story_open(const char *name) {
  story_error = (Error){0};
  Lesson *read = story_open(*name ? name : STORY_USUAL, &story_error);
  StoryPlayer *player = read ? story_player_open(read, 0, &LESSON_LIMITS, &story_error) : NULL;
  if (!player) return false;
  story_player_close(story);
  story = player;
  story_player_reduce(story, web_player()->reduced_motion);
  web_cover(viewer_story(story));
  return true;
}

EXPORT const char *web_story_error(void) { return story_error.message; }
EXPORT bool web_story_is_open(void) { return story_player_is_open(story); }

typedef struct {
  char text[4096];
} List;

static void add(void *data, const char *name, const char *title) {
  List *list = data;
  text_add(list->text, sizeof list->text, "%s\t%s\n", name, title);
}

/* A name and a title, one a line. */
EXPORT const char *web_story_list(void) {
  static List list;
  *list.text = '\0';
  story_list(add, &list, NULL);
  return list.text;
}
