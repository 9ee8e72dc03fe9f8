/* What only a window can do: the clipboard, files, full screen. */
#define _POSIX_C_SOURCE 200809L /* lstat, strdup */
#include "viz/text/print.h"
#include "viz/window/window_parts.h"

#include <sys/stat.h>

#include "viz/export/surface.h"

enum { DESCRIPTION_BYTES = 4096 };

/* ---- What is on the screen ------------------------------------------------------------------------------- */

/* A name that is free: tilewalk-walk-40.png, else tilewalk-walk-40-2.png and so on. */
static void find_name(const Player *p, const char *suffix, char *name, size_t size) {
  struct stat file;
  char more[16] = "";
  for (int n = 2; n < 10000; n++) {
    snprintf(name, size, "tilewalk-%s-%ju%s%s", scene_name(p->scene), p->now.step, more, suffix);
    if (lstat(name, &file) != 0) return;
    snprintf(more, sizeof more, "-%d", n);
  }
}

static void draw_scene(cairo_t *cr, double width, double height, const void *player) {
  const Player *p = player;
  const SceneView view = {.presentation = p->presentation};
  scene_draw(p->scene, &p->now, &view, cr, width, height, player_theme(p));
}

static void save_still(Window *w, const char *suffix) {
  Player *p = w->viewer.player;
  char name[160], title[96], state[REQUEST_STATE_BYTES];
  Error error = {0};
  find_name(p, suffix, name, sizeof name);
  snprintf(title, sizeof title, "Tilewalk: %s", scene_title(p->scene));
  if (surface_save(name, fmax(w->viewer.width, VIEWER_LEAST_WIDTH), fmax(w->viewer.height, VIEWER_LEAST_HEIGHT),
                   draw_scene, p, &(SurfaceMetadata){title, player_state(p, state)}, &error)) {
    player_say(p, true, "Not saved: %s", error.message);
    return;
  }
  player_say(p, false, "Saved as %s", name);
  text_say(w->out, "saved %s\n", name);
}

/* ---- The clipboard --------------------------------------------------------------------------------------- */

static void copy_state(Window *w) {
  char state[REQUEST_STATE_BYTES];
  SDL_SetClipboardText(player_state(w->viewer.player, state));
  player_say(w->viewer.player, false, "Copied: %s", state);
  text_say(w->out, "%s\n", state);
}

static void describe(Window *w) {
  char text[DESCRIPTION_BYTES];
  text_put(w->out, scene_describe(w->viewer.player->scene, &w->viewer.player->now, w->viewer.memo, text, sizeof text));
  player_say(w->viewer.player, false, "The step in words is printed where the viewer was started");
}

char *window_clipboard(void *window) {
  (void)window;
  char *text = SDL_GetClipboardText();
  char *copy = text ? strdup(text) : NULL;
  SDL_free(text);
  return copy;
}

static void open_story(Window *w) {
  Error error = {0};
  StoryPlayer *story = w->open_story ? w->open_story(&error) : NULL;
  if (!story) {
    player_say(w->viewer.player, true, "%s", *error.message ? error.message : "There is no story here");
    return;
  }
  story_player_close(w->story);
  w->story = story;
  story_player_reduce(story, w->viewer.player->reduced_motion);
  w->viewer.player->is_playing = false;
  w->viewer.cover = viewer_story(story);
}

void window_act(void *window, PlayerInput input) {
  Window *w = window;
  switch (input) {
  case INPUT_COPY: copy_state(w); break;
  case INPUT_DESCRIBE: describe(w); break;
  case INPUT_EXPORT_PNG: save_still(w, ".png"); break;
  case INPUT_EXPORT_SVG: save_still(w, ".svg"); break;
  case INPUT_EXPORT_PDF: save_still(w, ".pdf"); break;
  case INPUT_NOTES: window_toggle_notes(w); break;
  case INPUT_STORY: open_story(w); break;
  case INPUT_FULLSCREEN:
    SDL_SetWindowFullscreen(
        w->window, SDL_GetWindowFlags(w->window) & SDL_WINDOW_FULLSCREEN_DESKTOP ? 0 : SDL_WINDOW_FULLSCREEN_DESKTOP);
    break;
  default: break;
  }
  fflush(w->out);
}
