#include "viz/window/viewer_story.h"

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
  case SIDE_KEY_DOWN: story_player_input(story, STORY_CHOICE_NEXT); break;
  case SIDE_KEY_UP: story_player_input(story, STORY_CHOICE_BACK); break;
  case SIDE_KEY_BACKSPACE: story_player_input(story, STORY_ERASE); break;
  case SIDE_KEY_ESCAPE: story_player_input(story, STORY_LEAVE); break;
  case SIDE_KEY_COPY:
  case SIDE_KEY_F11: return false;
  default: break;
  }
  return true;
}

static void on_text(void *story, const char *text) { story_player_type(story, text); }

static void on_press(void *story, int button, double x, double y) { story_player_press(story, button, x, y); }
static void on_drag(void *story, double x) { story_player_drag(story, x); }
static bool is_moving(const void *story) { return story_player_is_moving(story); }
static bool tick(void *story, double seconds) { return story_player_tick(story, seconds); }

static const char *words(const void *story, char *text, size_t size) { return story_player_words(story, text, size); }

ViewerCover viewer_story(StoryPlayer *story) {
  return (ViewerCover){story, is_open, draw, on_key, on_text, on_press, on_drag, is_moving, tick, words};
}
