/* The viewer in a browser: what a page calls, and what it is asked for.
 *
 *     page/viewer.js  --web_key, web_motion, ...-->  viewer  --cairo's calls-->  drawing.c  --lists--> page/canvas.js
 *
 * Text goes both ways as UTF-8 that ends in zero. Text that a page sends is its own, and freed by it; text that comes
 * back is valid until the next call. */

#include "viz/web/drawing.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

enum { DESCRIPTION_BYTES = 4096 };

static Player player;
static Viewer viewer;
static cairo_surface_t *surface;
static bool is_open;
static bool l2_later;
static DrawingList shown_list;

Player *web_player(void) { return &player; }
SceneMemo *web_memo(void) { return viewer.memo; }
void web_changed(void) { viewer.is_dirty = true; }
void web_cover(SidePanel cover) {
  viewer.cover = cover;
  viewer.is_dirty = true;
}
void web_forget_drawn(void) {
  memo_free(viewer.memo);
  viewer.memo = is_open ? memo_new() : NULL;
}

/* ---- What the page does ---------------------------------------------------------------------------------- */

/* What is left to the window are buttons of the page. */
static void act(void *data, PlayerInput input) { (void)data, (void)input; }

/* A page is given the clipboard later, or never. */
static char *no_clipboard(void *data) {
  (void)data;
  return NULL;
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

Status web_parse(const char *line, Request *request, Error *error) {
  *request = (Request){0};
  return request_read(request, line, false, error);
}

/* Why a state line cannot be opened; "": it can. Then web_possible_steps has its steps. */
static uint64_t possible_steps;
EXPORT const char *web_refuses(const char *line) {
  static Error error;
  Request request;
  Player tried;
  error = (Error){0};
  if (web_parse(line, &request, &error)) return error.message;
  request.l2_later = true;
  player_open(&tried, &request, &error);
  possible_steps = tried.now.n_steps;
  player_free(&tried);
  return error.message;
}
EXPORT double web_possible_steps(void) { return (double)possible_steps; }

/* Opens the viewer at a state line, as a viewer that is started with it: without any size in the line, a problem small
 * enough to be looked at. False: web_message says why, and what was shown stays. */
EXPORT bool web_open(const char *line) {
  char whole[REQUEST_STATE_BYTES];
  Request request;
  Error error = {0};
  if (!is_open) {
    player_open(&player, &(Request){.l2_later = l2_later}, NULL);
    is_open = viewer_open(&viewer, &player, NULL, (ViewerHost){NULL, act, no_clipboard});
    surface = drawing_new(1, 1);
  }
  viewer.is_dirty = true;
  if (web_parse(line, &request, &error)) {
    player_say(&player, true, "%s", error.message);
    return false;
  }
  question_choose_small(&request);
  return is_open && player_restore(&player, question_state(&request, whole));
}

EXPORT void web_resize(int width, int height) {
  cairo_surface_destroy(surface);
  surface = drawing_new(width, height);
  viewer_resize(&viewer, width, height);
}

EXPORT void web_look(bool dark, bool reduced_motion) {
  player.dark = dark;
  player.reduced_motion = reduced_motion;
  viewer.is_dirty = true;
}

/* The scene alone, for a page that has words and controls of its own around it. */
EXPORT void web_frame_scene(bool is_framed) {
  viewer.is_framed = is_framed;
  viewer.is_dirty = true;
}

/* ---- L2, elsewhere -----------------------------------------------------------------------------------------
 *
 *     the page's viewer                                        a Worker with the same program
 *     web_l2_later(true); web_l2_is_awaited() -- state line --> web_open(line)
 *     web_l2_give(bytes)                     <--- its bytes ---- web_l2(), web_l2_bytes() */

/* From the next problem on; false: it is worked out at once, as a program does. */
EXPORT void web_l2_later(bool later) { player.request.l2_later = l2_later = later; }
EXPORT bool web_l2_is_awaited(void) { return player.stage.l2.is_awaited; }
EXPORT const SnapshotL2 *web_l2(void) { return &player.stage.l2; }
EXPORT size_t web_l2_bytes(void) { return sizeof(SnapshotL2); }
EXPORT void web_l2_give(const SnapshotL2 *l2) {
  player_give_l2(&player, l2);
  web_forget_drawn();
  viewer.is_dirty = true;
}

/* ---- Frames ---------------------------------------------------------------------------------------------- */

/* Time passes, and a frame is drawn if anything changed: then true, and web_list has it. */
EXPORT bool web_frame(double seconds) {
  if (viewer_is_moving(&viewer)) viewer_tick(&viewer, seconds);
  viewer_find_hover(&viewer);
  if (!viewer.is_dirty) return false;
  drawing_clear(surface);
  cairo_t *cr = cairo_create(surface);
  viewer_draw(&viewer, cr);
  cairo_destroy(cr);
  return true;
}

EXPORT bool web_is_moving(void) { return viewer_is_moving(&viewer); }

/* The scene as a file has it: without the bar. Not whole: as the page frames it. */
EXPORT void web_picture(int width, int height, bool is_whole) {
  const SceneView view = {.presentation = player.presentation, .framed = viewer.is_framed && !is_whole};
  cairo_surface_destroy(surface);
  surface = drawing_new(width, height);
  cairo_t *cr = cairo_create(surface);
  scene_draw(player.scene, &player.now, &view, cr, width, height, player_theme(&player));
  cairo_destroy(cr);
  viewer.is_dirty = true; /* what web_list has is not the viewer's frame any more */
}

/* Of a surface that the frame draws, or of the frame itself: NULL. */
EXPORT const DrawingList *web_list(const cairo_surface_t *of) {
  shown_list = drawing_list(of ? of : surface);
  return &shown_list;
}
EXPORT const cairo_surface_t *web_surface(const cairo_surface_t *of, size_t index) {
  return drawing_surface(of ? of : surface, index);
}
EXPORT char *web_svg(void) { /* the page frees it */
  char state[REQUEST_STATE_BYTES], title[96];
  snprintf(title, sizeof title, "Tilewalk: %s", scene_title(player.scene));
  return drawing_svg(surface, title, player_state(&player, state));
}

/* ---- Events ---------------------------------------------------------------------------------------------- */

/* The place of a name in a list; 0: it is not there. */
static int place_of(const char *name, const char *const names[], int n) {
  for (int k = 1; k < n; k++)
    if (strcmp(names[k], name) == 0) return k;
  return 0;
}

/* A key by the browser's name of it (KeyboardEvent.key), which is its letter if it has one. False: it is none of the
 * viewer's. What would end a window does nothing. */
EXPORT bool web_key(const char *name, bool shift, bool control) {
  static const char *const KEYS[SIDE_KEY_F1 + 1] = {"",          "Enter",      "Backspace", "Escape",    "",
                                                    "ArrowLeft", "ArrowRight", "ArrowUp",   "ArrowDown", "PageUp",
                                                    "PageDown",  "Home",       "End",       "F1"};
  const SideKey key = (SideKey)place_of(name, KEYS, SIDE_KEY_F1 + 1);
  const bool is_free = player.open == OPEN_NOTHING && !viewer_is_covered(&viewer);
  if (key == SIDE_KEY_ESCAPE && is_free) return true;
  if (key)
    viewer_key(&viewer, key, shift, control);
  else if ((unsigned char)*name > 0x7F || !name[1])
    viewer_text(&viewer, name);
  else
    return false;
  viewer.has_ended = false;
  return true;
}

EXPORT void web_motion(double x, double y) { viewer_motion(&viewer, x, y); }
EXPORT void web_leave(void) { viewer_leave(&viewer); }
EXPORT void web_press(int button) { viewer_press(&viewer, button); }
EXPORT void web_release(int button) { viewer_release(&viewer, button); }

EXPORT void web_say(const char *text, bool is_warning) {
  player_say(&player, is_warning, "%s", text);
  viewer.is_dirty = true;
}

/* ---- What is shown --------------------------------------------------------------------------------------- */

EXPORT const char *web_state(void) {
  static char state[REQUEST_STATE_BYTES];
  return player_state(&player, state);
}

EXPORT const char *web_message(void) { return player.message; }

EXPORT const char *web_describe(void) {
  static char text[DESCRIPTION_BYTES];
  if (viewer_is_covered(&viewer)) return viewer.cover.words(viewer.cover.data, text, sizeof text);
  return scene_describe(player.scene, &player.now, viewer.memo, text, sizeof text);
}

EXPORT double web_speed(void) { return player_events_per_s(&player); }
EXPORT bool web_set_speed(double events_per_s) { return player_set_speed(&player, events_per_s); }
EXPORT double web_steps(void) { return (double)player.now.n_steps; }
EXPORT bool web_is_playing(void) { return viewer_is_covered(&viewer) ? viewer_is_moving(&viewer) : player.is_playing; }
EXPORT bool web_is_dark(void) { return player.dark; }

/* ---- The same by names, for what is HTML ----------------------------------------------------------------- */

/* A whole problem, at the same part of its run. False: web_message says why, and what was shown stays. */
EXPORT bool web_take(const char *line) {
  viewer.is_dirty = true;
  return player_take_line(&player, &(Request){0}, line);
}
EXPORT void web_scrub(double part) {
  player_scrub(&player, part);
  viewer.is_dirty = true;
}

/* An input by its name, for the page's buttons; a scene by its own. */
EXPORT void web_act(const char *name) {
  static const char *const INPUTS[INPUT_END + 1] = {
      "",          "play",     "next",     "back",      "tile-next", "tile-back", "row-next",  "row-back", "pass-next",
      "pass-back", "max-next", "max-back", "skip-next", "skip-back", "mark-next", "mark-back", "start",    "end"};
  int input = place_of(name, INPUTS, INPUT_END + 1);
  for (int k = 0; k < SCENE_COUNT; k++)
    if (strcmp(scene_name((SceneKind)k), name) == 0) input = INPUT_SCENE + k;
  viewer_act(&viewer, (PlayerInput)input);
}
