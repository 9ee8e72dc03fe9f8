/* A story that covers the viewer: its keys. */
#include "viz/window/window_parts.h"

static bool is_open(const void *story) { return story_player_is_open(story); }

static void draw(void *story, cairo_t *cr, double width, double height, const Theme *theme) {
  story_player_draw(story, cr, width, height, theme);
}

static bool on_key(void *story, SideKey key) {
  switch (key) {
  case SIDE_KEY_RETURN: story_player_input(story, STORY_RETURN); break;
  case SIDE_KEY_RIGHT:
  case SIDE_KEY_PAGE_DOWN: story_player_input(story, STORY_GO_ON); break;
  case SIDE_KEY_LEFT:
  case SIDE_KEY_PAGE_UP: story_player_input(story, STORY_GO_BACK); break;
  case SIDE_KEY_BACKSPACE: story_player_input(story, STORY_ERASE); break;
  case SIDE_KEY_ESCAPE: story_player_input(story, STORY_LEAVE); break;
  case SIDE_KEY_F11: return false;
  default: break;
  }
  return true;
}

static void on_text(void *story, const char *text) { story_player_type(story, text); }

static void on_press(void *story, int button) { story_player_input(story, button == 3 ? STORY_GO_BACK : STORY_GO_ON); }

ViewerCover window_story(StoryPlayer *story) { return (ViewerCover){story, is_open, draw, on_key, on_text, on_press}; }
