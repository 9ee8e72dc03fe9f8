#include "viz/window/viewer.h"

static double width(void *story, const Player *player, double window_width) {
  (void)player;
  return story_player_is_open(story) ? window_width : 0;
}

static void draw(void *story, const Player *player, cairo_t *cr, Box box, double unit) {
  (void)unit;
  story_player_draw(story, cr, box.width, box.height, player_theme(player));
}

static bool take(void *story, Player *player, const SideEvent *e) {
  static const struct {
    SideKey key;
    StoryInput input;
  } KEYS[] = {{SIDE_KEY_RETURN, STORY_RETURN},  {SIDE_KEY_RIGHT, STORY_GO_ON},     {SIDE_KEY_PAGE_DOWN, STORY_GO_ON},
              {SIDE_KEY_LEFT, STORY_GO_BACK},   {SIDE_KEY_PAGE_UP, STORY_GO_BACK}, {SIDE_KEY_DOWN, STORY_CHOICE_NEXT},
              {SIDE_KEY_UP, STORY_CHOICE_BACK}, {SIDE_KEY_BACKSPACE, STORY_ERASE}, {SIDE_KEY_ESCAPE, STORY_LEAVE}};
  (void)player;
  if (e->kind == SIDE_TEXT) story_player_type(story, e->text);
  if (e->kind == SIDE_PRESS) story_player_press(story, e->button, e->x, e->y);
  if (e->kind == SIDE_MOTION) story_player_drag(story, e->x);
  if (e->kind == SIDE_WHEEL) story_player_input(story, e->turns > 0 ? STORY_GO_BACK : STORY_GO_ON);
  if (e->kind == SIDE_LOOK) return story_player_tick(story, e->seconds);
  for (size_t k = 0; e->kind == SIDE_KEY && k < COUNT_OF(KEYS); k++)
    if (KEYS[k].key == e->key) story_player_input(story, KEYS[k].input);
  return e->kind != SIDE_KEY || (e->key != SIDE_KEY_COPY && e->key != SIDE_KEY_F11);
}

static bool is_moving(const void *story) { return story_player_is_moving(story); }
static const char *words(const void *story, char *text, size_t size) { return story_player_words(story, text, size); }

SidePanel viewer_story(StoryPlayer *story) { return (SidePanel){story, width, draw, take, is_moving, words}; }
