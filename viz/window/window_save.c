/* What only a window can do: the clipboard, files, full screen. */
#define _POSIX_C_SOURCE 200809L /* lstat */
#include "viz/window/viewer_story.h"
#include "viz/text/print.h"
#include "viz/window/window_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "viz/export/surface.h"

enum { DESCRIPTION_BYTES = 4096 };

static const Theme *theme_of(const Player *p) { return p->dark ? &theme_dark : &theme_light; }

/* ---- Names ----------------------------------------------------------------------------------------------- */

static bool is_there(const char *name) {
  struct stat file;
  return lstat(name, &file) == 0;
}

void window_free_name(const Player *p, const char *what, const char *suffix, char *name, size_t size) {
  char first[WINDOW_NAME_BYTES];
  for (int n = 1; n < 10000; n++) {
    char more[16] = "";
    if (n > 1) snprintf(more, sizeof more, "-%d", n);
    snprintf(name, size, "tilewalk-%s-%s%s%s", scene_name(p->scene), what, more, suffix);
    snprintf(first, sizeof first, "tilewalk-%s-%s%s%s", scene_name(p->scene), what, more,
             *suffix == '-' ? "-0000.png" : suffix);
    if (!is_there(first)) return;
  }
}

void window_say_saved(Window *w, const char *name, const char *more) {
  player_say(w->viewer.player, false, "Saved as %s%s", name, more);
  text_say(w->out, "saved %s\n", name);
  fflush(w->out);
}

/* ---- What is on the screen ------------------------------------------------------------------------------- */

void window_draw_picture(cairo_t *cr, double width, double height, const void *data) {
  const WindowPicture *picture = data;
  const Player *p = picture->player;
  const SceneView view = {.presentation = p->presentation, .memo = picture->memo, .phase = picture->phase};
  scene_draw(p->scene, picture->now, &view, cr, width, height, theme_of(p));
}

static void save_still(Window *w, const char *suffix) {
  Player *p = w->viewer.player;
  char name[WINDOW_NAME_BYTES], step[24], title[96], state[REQUEST_STATE_BYTES];
  Error error = {0};
  const WindowPicture picture = {p, &p->now, NULL, 0};
  snprintf(step, sizeof step, "%" PRIu64, p->now.step);
  window_free_name(p, step, suffix, name, sizeof name);
  snprintf(title, sizeof title, "Tilewalk: %s", scene_title(p->scene));
  const Status status =
      surface_save(name, fmax(w->viewer.width, VIEWER_LEAST_WIDTH), fmax(w->viewer.height, VIEWER_LEAST_HEIGHT),
                   window_draw_picture, &picture, &(SurfaceMetadata){title, player_state(p, state)}, &error);
  if (status)
    player_say(p, true, "Not saved: %s", error.message);
  else
    window_say_saved(w, name, "");
}

/* ---- The clipboard --------------------------------------------------------------------------------------- */

static void copy_state(Window *w) {
  char state[REQUEST_STATE_BYTES];
  SDL_SetClipboardText(player_state(w->viewer.player, state));
  player_say(w->viewer.player, false, "Copied: %s", state);
  text_say(w->out, "%s\n", state);
  fflush(w->out);
}

static void paste_state(Window *w) {
  char *text = SDL_GetClipboardText();
  if (text && *text)
    player_restore(w->viewer.player, text);
  else
    player_say(w->viewer.player, false, "The clipboard is empty");
  SDL_free(text);
}

static void describe(Window *w) {
  char text[DESCRIPTION_BYTES];
  text_put(w->out, scene_describe(w->viewer.player->scene, &w->viewer.player->now, w->viewer.memo, text, sizeof text));
  fflush(w->out);
  player_say(w->viewer.player, false, "The step in words is printed where the viewer was started");
}

char *window_clipboard(void *window) {
  (void)window;
  char *text = SDL_GetClipboardText();
  char *copy = text ? malloc(strlen(text) + 1) : NULL;
  if (copy) strcpy(copy, text);
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
  case INPUT_PASTE: paste_state(w); break;
  case INPUT_DESCRIBE: describe(w); break;
  case INPUT_EXPORT_PNG: save_still(w, ".png"); break;
  case INPUT_EXPORT_SVG: save_still(w, ".svg"); break;
  case INPUT_EXPORT_PDF: save_still(w, ".pdf"); break;
  case INPUT_EXPORT_WEBP: window_save_run(w, ".webp"); break;
  case INPUT_EXPORT_MP4: window_save_run(w, ".mp4"); break;
  case INPUT_EXPORT_GIF: window_save_run(w, ".gif"); break;
  case INPUT_EXPORT_SERIES: window_save_run(w, "-%04d.png"); break;
  case INPUT_NOTES: window_toggle_notes(w); break;
  case INPUT_STORY: open_story(w); break;
  case INPUT_FULLSCREEN:
    SDL_SetWindowFullscreen(
        w->window, SDL_GetWindowFlags(w->window) & SDL_WINDOW_FULLSCREEN_DESKTOP ? 0 : SDL_WINDOW_FULLSCREEN_DESKTOP);
    break;
  default: break;
  }
}
