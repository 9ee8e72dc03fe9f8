/* What only a window can do: the clipboard, files, full screen. */
#define _POSIX_C_SOURCE 200809L /* lstat */
#include "viz/window/viewer_story.h"
#include "viz/window/window_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "viz/export/animation.h"
#include "viz/export/surface.h"

enum {
  DESCRIPTION_BYTES = 4096,
  NAME_BYTES = 160,
  RUN_STEPS = 400,  /* a longer run is seen in strides */
  RUN_FRAMES = 600, /* beyond it the tiles are not seen on their way */
  IN_BETWEENS = 4,
  RUN_WIDTH = 1280,
  RUN_HEIGHT = 720,
  STEP_MS = 360, /* of a step that is seen happening, and of one that passes */
  FRAME_MS = 125
};
#define PROGRESS_S 0.1 /* between two looks at the progress */

static const Theme *theme_of(const Player *p) { return p->dark ? &theme_dark : &theme_light; }

/* ---- Names ----------------------------------------------------------------------------------------------- */

static bool is_there(const char *name) {
  struct stat file;
  return lstat(name, &file) == 0;
}

/* A name that is free: tilewalk-main-40.png, else tilewalk-main-40-2.png and so on. Of a series the first file decides.
 */
static void free_name(const Player *p, const char *what, const char *suffix, char *name, size_t size) {
  char first[NAME_BYTES];
  for (int n = 1; n < 10000; n++) {
    char more[16] = "";
    if (n > 1) snprintf(more, sizeof more, "-%d", n);
    snprintf(name, size, "tilewalk-%s-%s%s%s", scene_name(p->scene), what, more, suffix);
    snprintf(first, sizeof first, "tilewalk-%s-%s%s%s", scene_name(p->scene), what, more,
             *suffix == '-' ? "-0000.png" : suffix);
    if (!is_there(first)) return;
  }
}

static void say_saved(Window *w, const char *name, const char *more) {
  player_say(w->viewer.player, false, "Saved as %s%s", name, more);
  fprintf(w->out, "saved %s\n", name);
  fflush(w->out);
}

/* ---- What is on the screen ------------------------------------------------------------------------------- */

typedef struct {
  const Player *player;
  const Snapshot *now;
  const char *state;
  SceneMemo *memo; /* or NULL */
  double phase;    /* as SceneView's */
} Picture;

static void draw_picture(cairo_t *cr, double width, double height, const void *data) {
  const Picture *picture = data;
  const Player *p = picture->player;
  const SceneView view = {.presentation = p->presentation,
                          .chart = player_chart(p),
                          .memo = picture->memo,
                          .phase = picture->phase,
                          .footer = picture->state};
  scene_draw(p->scene, picture->now, &view, cr, width, height, theme_of(p));
}

static void save_still(Window *w, const char *suffix) {
  Player *p = w->viewer.player;
  char name[NAME_BYTES], step[24], title[96], state[REQUEST_STATE_BYTES];
  Error error = {0};
  const Picture picture = {p, &p->now, player_state(p, state), NULL, 0};
  snprintf(step, sizeof step, "%" PRIu64, p->now.step);
  free_name(p, step, suffix, name, sizeof name);
  snprintf(title, sizeof title, "Tilewalk: %s", scene_title(p->scene));
  const Status status =
      surface_save(name, fmax(w->viewer.width, VIEWER_LEAST_WIDTH), fmax(w->viewer.height, VIEWER_LEAST_HEIGHT),
                   draw_picture, &picture, &(SurfaceMetadata){title, state}, &error);
  if (status)
    player_say(p, true, "Not saved: %s", error.message);
  else
    say_saved(w, name, "");
}

/* ---- The run --------------------------------------------------------------------------------------------- */

typedef struct {
  Window *window;
  Snapshot now;
  uint64_t stride, each; /* frames of a stride */
  double looked_s;
  bool is_stopped;
  char name[NAME_BYTES];
} Run;

/* The run's own snapshot, so that what is on the screen stays. */
static void draw_step(cairo_t *cr, double width, double height, uint64_t frame, void *data) {
  Run *run = data;
  Player *p = run->window->viewer.player;
  char state[REQUEST_STATE_BYTES];
  const uint64_t step = frame / run->each * run->stride, end = p->stage.n_steps;
  const double part = step < end ? (double)(frame % run->each) / (double)run->each : 0;
  const SceneMoment at = scene_moment(step < end ? step : end, part);
  stage_snapshot(&p->stage, at.step, &run->now);
  const Picture picture = {p, &run->now, player_state_at(p, at.step, state), run->window->viewer.memo, at.phase};
  draw_picture(cr, width, height, &picture);
}

static bool is_stop(const SDL_Event *event) {
  if (event->type == SDL_KEYDOWN) return event->key.keysym.sym == SDLK_ESCAPE || event->key.keysym.sym == SDLK_q;
  return event->type == SDL_QUIT || event->type == SDL_MOUSEBUTTONDOWN ||
         (event->type == SDL_WINDOWEVENT && event->window.event == SDL_WINDOWEVENT_CLOSE);
}

/* Between two frames: the window stays alive, says how far it is, and can be told to stop. */
static bool go_on(uint64_t frame, uint64_t n_frames, void *data) {
  Run *run = data;
  Window *w = run->window;
  for (SDL_Event event; SDL_PollEvent(&event);) {
    if (is_stop(&event)) run->is_stopped = true;
    if (event.type == SDL_QUIT || (event.type == SDL_WINDOWEVENT && event.window.event == SDL_WINDOWEVENT_CLOSE))
      w->viewer.has_ended = true;
    if (event.type == SDL_WINDOWEVENT && event.window.event == SDL_WINDOWEVENT_SIZE_CHANGED && !window_make_canvas(w))
      w->viewer.has_ended = run->is_stopped = true;
  }
  if (run->is_stopped) return false;
  if (window_clock_s() - run->looked_s < PROGRESS_S) return true;
  player_say(w->viewer.player, false, "Saving %s: %" PRIu64 " of %" PRIu64 " frames. Escape or a click stops it",
             run->name, frame, n_frames);
  window_draw_frame(w);
  run->looked_s = window_clock_s();
  return true;
}

static void save_run(Window *w, const char *suffix) {
  Player *p = w->viewer.player;
  Error error = {0};
  char state[REQUEST_STATE_BYTES];
  Run *run = calloc(1, sizeof *run);
  if (!run) {
    player_say(p, true, "Not saved: no memory");
    return;
  }
  run->window = w;
  run->stride = p->stage.n_steps / RUN_STEPS + 1;
  const uint64_t n_beats = (p->stage.n_steps + run->stride - 1) / run->stride;
  run->each = 1;
  while (run->stride == 1 && !p->reduced_motion && run->each < IN_BETWEENS && n_beats * (run->each + 1) <= RUN_FRAMES)
    run->each++;
  free_name(p, "run", suffix, run->name, sizeof run->name);
  p->is_playing = false;
  const Animation animation = {.width = RUN_WIDTH,
                               .height = RUN_HEIGHT,
                               .n_frames = n_beats * run->each + 1,
                               .frame_ms = run->each > 1 ? STEP_MS / (int)run->each : FRAME_MS,
                               .title = "Tilewalk",
                               .state = player_state_at(p, 0, state),
                               .draw = draw_step,
                               .go_on = go_on,
                               .data = run};
  const Status status = animation_save(run->name, &animation, &error);
  char frames[64];
  snprintf(frames, sizeof frames, ", %" PRIu64 " frames", animation.n_frames);
  if (run->is_stopped)
    player_say(p, false, "Stopped: nothing was saved");
  else if (status)
    player_say(p, true, "Not saved: %s", error.message);
  else
    say_saved(w, run->name, frames);
  if (status) {
    fprintf(w->out, "not saved %s\n", run->name);
    fflush(w->out);
  }
  free(run);
}

/* ---- The clipboard --------------------------------------------------------------------------------------- */

static void copy_state(Window *w) {
  char state[REQUEST_STATE_BYTES];
  SDL_SetClipboardText(player_state(w->viewer.player, state));
  player_say(w->viewer.player, false, "Copied: %s", state);
  fprintf(w->out, "%s\n", state);
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
  fputs(scene_describe(w->viewer.player->scene, &w->viewer.player->now, w->viewer.memo, text, sizeof text), w->out);
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
  case INPUT_EXPORT_WEBP: save_run(w, ".webp"); break;
  case INPUT_EXPORT_GIF: save_run(w, ".gif"); break;
  case INPUT_EXPORT_SERIES: save_run(w, "-%04d.png"); break;
  case INPUT_NOTES: window_toggle_notes(w); break;
  case INPUT_STORY: open_story(w); break;
  case INPUT_FULLSCREEN:
    SDL_SetWindowFullscreen(
        w->window, SDL_GetWindowFlags(w->window) & SDL_WINDOW_FULLSCREEN_DESKTOP ? 0 : SDL_WINDOW_FULLSCREEN_DESKTOP);
    break;
  default: break;
  }
}
