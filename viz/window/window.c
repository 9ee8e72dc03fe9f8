#include "viz/window/window.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "viz/export/surface.h"
#include "viz/scene/memo.h"
#include "viz/window/controls.h"

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720, LEAST_WIDTH = 320, LEAST_HEIGHT = 180, FRAME_MS = 16, DESCRIPTION_BYTES = 4096, TOOLTIP_BYTES = 512 };
#define DRAG_UNITS 24.0 /* dragged so far, a parameter takes its next value */

typedef enum { DRAG_NONE = 0, DRAG_SCRUB, DRAG_CHIP, DRAG_BUTTON, DRAG_SIDE } Drag;

typedef struct {
  Player *player;
  const SidePanel *side; /* or NULL */
  FILE *out;
  SDL_Window *window;
  SDL_Renderer *renderer;
  SDL_Texture *texture;
  cairo_surface_t *surface;
  cairo_t *cr;
  int width, height;  /* in pixels */
  double scale;       /* pixels of a unit of the mouse's position */
  Controls controls;
  SceneMemo *memo; /* what scenes worked out for the frames before */
  SceneHit hover;
  double mouse_x, mouse_y; /* in pixels; -1: away */
  Drag drag;
  double drag_x;
  bool has_dragged;
  PlayerInput drag_more, drag_less;
  bool is_dirty, has_ended;
} Window;

double window_clock_s(void) { return (double)SDL_GetPerformanceCounter() / (double)SDL_GetPerformanceFrequency(); }

/* ---- Opening --------------------------------------------------------------------------------------------- */

static bool is_headless(void) {
  const char *driver = SDL_GetCurrentVideoDriver();
  return driver && (strcmp(driver, "dummy") == 0 || strcmp(driver, "offscreen") == 0);
}

/* The dummy driver has software rendering alone; elsewhere that is what is left when there is nothing better. */
static bool open_renderer(Window *w, bool waits) {
  const Uint32 flags = SDL_RENDERER_ACCELERATED | (waits ? SDL_RENDERER_PRESENTVSYNC : 0u);
  if (!is_headless()) w->renderer = SDL_CreateRenderer(w->window, -1, flags);
  if (!w->renderer) w->renderer = SDL_CreateRenderer(w->window, -1, SDL_RENDERER_SOFTWARE);
  return w->renderer != NULL;
}

static void drop_canvas(Window *w) {
  if (w->cr) cairo_destroy(w->cr);
  if (w->surface) cairo_surface_destroy(w->surface);
  if (w->texture) SDL_DestroyTexture(w->texture);
  w->cr = NULL;
  w->surface = NULL;
  w->texture = NULL;
}

/* A surface and a texture as large as the window is now. False: SDL or memory refuses. */
static bool make_canvas(Window *w) {
  int points_wide = 0, points_high = 0;
  drop_canvas(w);
  SDL_GetWindowSize(w->window, &points_wide, &points_high);
  if (SDL_GetRendererOutputSize(w->renderer, &w->width, &w->height) != 0 || w->width < 1 || w->height < 1) {
    w->width = points_wide > 0 ? points_wide : 1;
    w->height = points_high > 0 ? points_high : 1;
  }
  w->scale = points_wide > 0 ? (double)w->width / points_wide : 1;
  w->texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING, w->width, w->height);
  if (!w->texture) return false;
  SDL_SetTextureBlendMode(w->texture, SDL_BLENDMODE_NONE);
  w->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w->width, w->height);
  w->cr = cairo_create(w->surface);
  w->is_dirty = true;
  return cairo_status(w->cr) == CAIRO_STATUS_SUCCESS;
}

static Status open_window(Window *w, const WindowOptions *options, Error *error) {
  SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
  SDL_SetHint(SDL_HINT_APP_NAME, "Tilewalk");
  SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
  if (!SDL_getenv("WAYLAND_DISPLAY") && !SDL_getenv("XDG_RUNTIME_DIR")) SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11"); /* Wayland cannot be there, and would complain */
  const bool has_video = SDL_Init(SDL_INIT_VIDEO) == 0;
  if (!has_video || (is_headless() && !SDL_getenv("SDL_VIDEODRIVER"))) /* SDL may fall back to a driver that shows nothing */
    return error_set(error, STATUS_BAD_REQUEST, "there is no display for a window (%s); on a desktop, DISPLAY or WAYLAND_DISPLAY names it, and "
                     "'tilewalk render' draws the same scenes to files without one", has_video ? "neither X11 nor Wayland answers" : SDL_GetError());
  const Uint32 flags = SDL_WINDOW_ALLOW_HIGHDPI | SDL_WINDOW_RESIZABLE | (options->fullscreen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0u);
  w->window = SDL_CreateWindow("Tilewalk", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, options->width ? options->width : DEFAULT_WIDTH,
                               options->height ? options->height : DEFAULT_HEIGHT, flags);
  if (w->window) SDL_SetWindowMinimumSize(w->window, LEAST_WIDTH, LEAST_HEIGHT);
  if (!w->window || !open_renderer(w, options->n_frames == 0) || !make_canvas(w))
    return error_set(error, STATUS_BAD_REQUEST, "the display gives no window of that size (%s); try --size 1280x720, or 'tilewalk render'", SDL_GetError());
  SDL_StartTextInput();
  return STATUS_OK;
}

static void close_window(Window *w) {
  drop_canvas(w);
  if (w->renderer) SDL_DestroyRenderer(w->renderer);
  if (w->window) SDL_DestroyWindow(w->window);
  SDL_Quit();
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

static const Theme *theme_of(const Player *p) { return p->dark ? &theme_dark : &theme_light; }

static bool is_too_small(const Window *w) { return w->width < LEAST_WIDTH || w->height < LEAST_HEIGHT; }

static bool wants_bar(const Window *w) {
  return w->drag != DRAG_NONE || (w->mouse_y >= 0 && w->mouse_y > w->height - 80.0 * fmin(w->width / 1280.0, w->height / 720.0));
}

static void draw_scene(Window *w) {
  const Player *p = w->player;
  const Box at = w->controls.scene;
  const SceneView view = {.presentation = p->presentation, .chart = player_chart(p), .memo = w->memo, .phase = player_phase(p), .hover = w->hover};
  cairo_save(w->cr);
  cairo_rectangle(w->cr, 0, 0, at.width, at.height);
  cairo_clip(w->cr);
  scene_draw(p->scene, &p->now, &view, w->cr, at.width, at.height, theme_of(p));
  cairo_restore(w->cr);
}

/* ---- The panel beside the scene --------------------------------------------------------------------------- */

static double side_width(const Window *w) {
  if (!w->side) return 0;
  const double wanted = w->side->width(w->side->data, w->player, w->width, w->height);
  return floor(fmax(0, fmin(wanted, 0.6 * w->width)));
}

static bool is_over_side(const Window *w) {
  const Box b = w->controls.side;
  return b.width > 0 && w->mouse_x >= b.x && w->mouse_x < b.x + b.width && w->mouse_y >= b.y && w->mouse_y < b.y + b.height;
}

/* Offers an event; a panel that is not shown is only told to show itself. */
static bool side_takes(Window *w, SideEvent event) {
  if (!w->side || (event.kind != SIDE_TOGGLE && w->controls.side.width <= 0)) return false;
  event.x = w->mouse_x;
  event.y = w->mouse_y;
  const bool taken = w->side->event(w->side->data, w->player, &event, w->controls.side);
  if (taken) w->is_dirty = true;
  return taken;
}

static void draw_side(Window *w) {
  const Box at = w->controls.side;
  if (at.width <= 0 || at.height <= 0) return;
  cairo_save(w->cr);
  cairo_rectangle(w->cr, at.x, at.y, at.width, at.height);
  cairo_clip(w->cr);
  w->side->draw(w->side->data, w->player, w->cr, at, w->controls.unit, theme_of(w->player));
  cairo_restore(w->cr);
}

static void draw_all(Window *w) {
  const Player *p = w->player;
  char tooltip[TOOLTIP_BYTES] = "";
  if (is_too_small(w)) {
    theme_use(w->cr, theme_of(p)->background, 1);
    cairo_paint(w->cr);
    return;
  }
  controls_layout(&w->controls, p, w->cr, w->width, w->height, side_width(w), wants_bar(w));
  const Control *pointed = w->drag == DRAG_NONE && w->mouse_x >= 0 ? controls_at(&w->controls, w->mouse_x, w->mouse_y) : NULL;
  draw_scene(w);
  draw_side(w);
  controls_draw(&w->controls, p, w->cr, pointed);
  if (pointed) snprintf(tooltip, sizeof tooltip, "%s", pointed->hint);
  else if (w->hover.kind != HIT_NONE) scene_tooltip(&p->now, &w->hover, tooltip, sizeof tooltip);
  overlay_draw(&w->controls, p, w->cr, tooltip, w->mouse_x, w->mouse_y);
}

static void present(Window *w) {
  cairo_surface_flush(w->surface);
  SDL_UpdateTexture(w->texture, NULL, cairo_image_surface_get_data(w->surface), cairo_image_surface_get_stride(w->surface));
  SDL_RenderCopy(w->renderer, w->texture, NULL, NULL);
  SDL_RenderPresent(w->renderer);
}

static void draw_frame(Window *w) {
  draw_all(w);
  present(w);
  w->is_dirty = false;
}

/* ---- What only a window can do ----------------------------------------------------------------------------- */

typedef struct {
  const Player *player;
  const char *state;
} Picture;

static void draw_picture(cairo_t *cr, double width, double height, const void *data) {
  const Picture *picture = data;
  const Player *p = picture->player;
  const SceneView view = {.presentation = p->presentation, .chart = player_chart(p), .footer = picture->state};
  scene_draw(p->scene, &p->now, &view, cr, width, height, theme_of(p));
}

/* A name that is free: tilewalk-main-40.png, else tilewalk-main-40-2.png and so on. */
static void free_name(const Player *p, const char *suffix, char *name, size_t size) {
  for (int n = 1; n < 10000; n++) {
    char more[16] = "";
    if (n > 1) snprintf(more, sizeof more, "-%d", n);
    snprintf(name, size, "tilewalk-%s-%" PRIu64 "%s.%s", scene_name(p->scene), p->now.step, more, suffix);
    FILE *there = fopen(name, "rb");
    if (!there) return;
    fclose(there);
  }
}

static void save(Window *w, const char *suffix) {
  Player *p = w->player;
  char name[96], title[96], state[REQUEST_STATE_BYTES];
  Error error = {0};
  const Picture picture = {p, player_state(p, state)};
  free_name(p, suffix, name, sizeof name);
  snprintf(title, sizeof title, "Tilewalk: %s", scene_title(p->scene));
  if (surface_save(name, fmax(w->width, LEAST_WIDTH), fmax(w->height, LEAST_HEIGHT), draw_picture, &picture, &(SurfaceMetadata){title, state}, &error)) {
    player_say(p, true, "Not saved: %s", error.message);
    return;
  }
  player_say(p, false, "Saved as %s", name);
  fprintf(w->out, "saved %s\n", name);
  fflush(w->out);
}

static void copy_state(Window *w) {
  char state[REQUEST_STATE_BYTES];
  SDL_SetClipboardText(player_state(w->player, state));
  player_say(w->player, false, "Copied: %s", state);
  fprintf(w->out, "%s\n", state);
  fflush(w->out);
}

static void paste_state(Window *w) {
  char *text = SDL_GetClipboardText();
  if (text && *text) player_restore(w->player, text);
  else player_say(w->player, false, "The clipboard is empty");
  SDL_free(text);
}

static void act(Window *w, PlayerInput input) {
  char text[DESCRIPTION_BYTES];
  w->is_dirty = true;
  switch (player_input(w->player, input)) {
  case INPUT_COPY: copy_state(w); break;
  case INPUT_PASTE: paste_state(w); break;
  case INPUT_DESCRIBE:
    fputs(snapshot_describe(&w->player->now, text, sizeof text), w->out);
    fflush(w->out);
    player_say(w->player, false, "The step in words is printed where the viewer was started");
    break;
  case INPUT_EXPORT_PNG: save(w, "png"); break;
  case INPUT_EXPORT_SVG: save(w, "svg"); break;
  case INPUT_EXPORT_PDF: save(w, "pdf"); break;
  case INPUT_FULLSCREEN:
    SDL_SetWindowFullscreen(w->window, SDL_GetWindowFlags(w->window) & SDL_WINDOW_FULLSCREEN_DESKTOP ? 0 : SDL_WINDOW_FULLSCREEN_DESKTOP);
    break;
  case INPUT_SIDE:
    if (!side_takes(w, (SideEvent){.kind = SIDE_TOGGLE})) player_say(w->player, false, "There is no lesson here");
    break;
  case INPUT_QUIT: w->has_ended = true; break;
  default: break;
  }
}

/* ---- Keys ------------------------------------------------------------------------------------------------ */

static void on_entry_key(Window *w, const SDL_Keysym *key) {
  char *text;
  switch (key->sym) {
  case SDLK_RETURN:
  case SDLK_KP_ENTER: player_accept(w->player); break;
  case SDLK_BACKSPACE: player_erase(w->player); break;
  case SDLK_ESCAPE: player_cancel(w->player); break;
  case SDLK_v:
    if (!(key->mod & KMOD_CTRL)) return;
    text = SDL_GetClipboardText();
    if (text) player_type(w->player, text);
    SDL_free(text);
    break;
  default: return;
  }
  w->is_dirty = true;
}

/* Keys without a character of their own; the others come as text, which knows the keyboard's layout. */
static PlayerInput special_key(const SDL_Keysym *key) {
  const bool shift = (key->mod & KMOD_SHIFT) != 0, control = (key->mod & KMOD_CTRL) != 0;
  switch (key->sym) {
  case SDLK_RIGHT: return shift ? INPUT_TILE_NEXT : INPUT_EVENT_NEXT;
  case SDLK_LEFT: return shift ? INPUT_TILE_BACK : INPUT_EVENT_BACK;
  case SDLK_DOWN: return shift ? INPUT_PASS_NEXT : INPUT_ROW_NEXT;
  case SDLK_UP: return shift ? INPUT_PASS_BACK : INPUT_ROW_BACK;
  case SDLK_PAGEDOWN: return INPUT_TILE_NEXT;
  case SDLK_PAGEUP: return INPUT_TILE_BACK;
  case SDLK_HOME: return INPUT_START;
  case SDLK_END: return INPUT_END;
  case SDLK_RETURN: return INPUT_ENTRY;
  case SDLK_F1: return INPUT_HELP;
  case SDLK_F11: return INPUT_FULLSCREEN;
  case SDLK_TAB: return INPUT_NONE;
  case SDLK_c: return control ? INPUT_COPY : INPUT_NONE;
  case SDLK_v: return control ? INPUT_PASTE : INPUT_NONE;
  default: return INPUT_NONE;
  }
}

static SideKey side_key(SDL_Keycode code) {
  static const struct {
    SDL_Keycode code;
    SideKey key;
  } KEYS[] = {{SDLK_RETURN, SIDE_KEY_RETURN}, {SDLK_KP_ENTER, SIDE_KEY_RETURN}, {SDLK_BACKSPACE, SIDE_KEY_BACKSPACE}, {SDLK_DELETE, SIDE_KEY_DELETE},
              {SDLK_ESCAPE, SIDE_KEY_ESCAPE}, {SDLK_TAB, SIDE_KEY_TAB}, {SDLK_LEFT, SIDE_KEY_LEFT}, {SDLK_RIGHT, SIDE_KEY_RIGHT},
              {SDLK_UP, SIDE_KEY_UP}, {SDLK_DOWN, SIDE_KEY_DOWN}, {SDLK_PAGEUP, SIDE_KEY_PAGE_UP}, {SDLK_PAGEDOWN, SIDE_KEY_PAGE_DOWN},
              {SDLK_HOME, SIDE_KEY_HOME}, {SDLK_END, SIDE_KEY_END}};
  for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
    if (KEYS[k].code == code) return KEYS[k].key;
  return (SideKey)0;
}

static bool side_takes_key(Window *w, const SDL_Keysym *key) {
  const bool shift = (key->mod & KMOD_SHIFT) != 0, control = (key->mod & KMOD_CTRL) != 0;
  if (control && key->sym == SDLK_v) {
    char *text = SDL_GetClipboardText();
    const bool taken = text && side_takes(w, (SideEvent){.kind = SIDE_PASTE, .text = text});
    SDL_free(text);
    return taken;
  }
  const SideKey name = side_key(key->sym);
  return name && side_takes(w, (SideEvent){.kind = SIDE_KEY, .key = name, .shift = shift, .control = control});
}

static void on_key(Window *w, const SDL_Keysym *key) {
  Player *p = w->player;
  if (p->is_typing) {
    on_entry_key(w, key);
    return;
  }
  if (!p->shows_help && side_takes_key(w, key)) return;
  if (key->sym == SDLK_ESCAPE) {
    if (p->shows_help) player_cancel(p);
    else w->has_ended = true;
    w->is_dirty = true;
    return;
  }
  if (key->sym == SDLK_TAB) act(w, (PlayerInput)(INPUT_SCENE + ((int)p->scene + (key->mod & KMOD_SHIFT ? SCENE_COUNT - 1 : 1)) % SCENE_COUNT));
  const PlayerInput input = special_key(key);
  if (input != INPUT_NONE) act(w, input);
}

static void on_text(Window *w, const char *text) {
  if (w->player->is_typing) {
    player_type(w->player, text);
    w->is_dirty = true;
    return;
  }
  if (!w->player->shows_help && side_takes(w, (SideEvent){.kind = SIDE_TEXT, .text = text})) return;
  const PlayerInput input = text[0] && !text[1] ? player_key(text[0]) : INPUT_NONE;
  if (input != INPUT_NONE) act(w, input);
}

/* ---- Mouse ----------------------------------------------------------------------------------------------- */

static bool is_same_hit(const SceneHit *a, const SceneHit *b) {
  return a->kind == b->kind && a->tensor == b->tensor && a->i == b->i && a->j == b->j && a->index == b->index;
}

static void find_hover(Window *w) {
  const Player *p = w->player;
  const SceneView view = {.presentation = p->presentation};
  const Box scene = w->controls.scene;
  const bool over_bar = (w->controls.bar.height > 0 && w->mouse_y >= w->controls.bar.y) || w->mouse_x >= scene.width;
  SceneHit hit = {.kind = HIT_NONE, .i = -1, .j = -1};
  if (w->mouse_x >= 0 && scene.width > 0 && !over_bar && w->drag == DRAG_NONE && !is_too_small(w))
    hit = scene_hit(p->scene, &p->now, &view, scene.width, scene.height, w->mouse_x, w->mouse_y);
  if (!is_same_hit(&hit, &w->hover)) w->is_dirty = true;
  w->hover = hit;
}

static void on_motion(Window *w, double x, double y) {
  const bool had_bar = wants_bar(w), was_over_side = is_over_side(w);
  const Control *before = controls_at(&w->controls, w->mouse_x, w->mouse_y);
  w->mouse_x = x * w->scale;
  w->mouse_y = y * w->scale;
  if (w->drag == DRAG_SIDE || (w->drag == DRAG_NONE && is_over_side(w))) side_takes(w, (SideEvent){.kind = SIDE_MOTION});
  else if (was_over_side) side_takes(w, (SideEvent){.kind = SIDE_LEFT});
  if (w->drag == DRAG_SCRUB) {
    player_scrub(w->player, controls_scrub_part(&w->controls, w->mouse_x));
    w->is_dirty = true;
  }
  const double step = fmax(4, DRAG_UNITS * w->controls.unit);
  while (w->drag == DRAG_CHIP && fabs(w->mouse_x - w->drag_x) >= step) {
    const bool more = w->mouse_x > w->drag_x;
    w->drag_x += more ? step : -step;
    w->has_dragged = true;
    act(w, more ? w->drag_more : w->drag_less);
  }
  if (before != controls_at(&w->controls, w->mouse_x, w->mouse_y) || had_bar != wants_bar(w) || w->hover.kind != HIT_NONE) w->is_dirty = true;
}

static void on_press(Window *w, int button) {
  if (is_over_side(w) && !w->player->shows_help) {
    w->drag = DRAG_SIDE;
    side_takes(w, (SideEvent){.kind = SIDE_PRESS, .button = button == SDL_BUTTON_RIGHT ? 3 : 1});
    return;
  }
  side_takes(w, (SideEvent){.kind = SIDE_LEFT});
  const Control *at = controls_at(&w->controls, w->mouse_x, w->mouse_y);
  if (!at) {
    if (w->player->shows_help) player_cancel(w->player);
    else if (w->player->presentation) act(w, button == SDL_BUTTON_RIGHT ? INPUT_TILE_BACK : INPUT_TILE_NEXT);
    w->is_dirty = true;
    return;
  }
  if (at->is_scrub) {
    w->drag = DRAG_SCRUB;
    on_motion(w, w->mouse_x / w->scale, w->mouse_y / w->scale);
    return;
  }
  if (button == SDL_BUTTON_RIGHT) {
    if (at->other != INPUT_NONE) act(w, at->other);
    return;
  }
  w->drag = at->is_chip ? DRAG_CHIP : DRAG_BUTTON;
  w->drag_x = w->mouse_x;
  w->has_dragged = false;
  w->drag_more = at->click;
  w->drag_less = at->other;
  w->is_dirty = true;
}

static void on_release(Window *w) {
  const Drag drag = w->drag;
  const Control *at = controls_at(&w->controls, w->mouse_x, w->mouse_y);
  w->drag = DRAG_NONE;
  w->is_dirty = true;
  if (drag == DRAG_SIDE) side_takes(w, (SideEvent){.kind = SIDE_RELEASE, .button = 1});
  if ((drag == DRAG_CHIP && !w->has_dragged) || (drag == DRAG_BUTTON && at && at->click == w->drag_more)) act(w, w->drag_more);
}

static void on_wheel(Window *w, int turns) {
  if (is_over_side(w) && !w->player->shows_help) {
    side_takes(w, (SideEvent){.kind = SIDE_WHEEL, .turns = turns});
    return;
  }
  const Control *at = controls_at(&w->controls, w->mouse_x, w->mouse_y);
  for (int n = abs(turns) < 20 ? abs(turns) : 20; n > 0; n--) {
    if (at && at->is_chip) act(w, turns > 0 ? at->click : at->other);
    else act(w, turns > 0 ? INPUT_EVENT_BACK : INPUT_EVENT_NEXT);
  }
}

/* ---- Events ---------------------------------------------------------------------------------------------- */

static void on_window(Window *w, const SDL_WindowEvent *event) {
  switch (event->event) {
  case SDL_WINDOWEVENT_SIZE_CHANGED:
    if (!make_canvas(w)) w->has_ended = true;
    break;
  case SDL_WINDOWEVENT_LEAVE: w->mouse_x = w->mouse_y = -1; break;
  case SDL_WINDOWEVENT_CLOSE: w->has_ended = true; break;
  default: break;
  }
  w->is_dirty = true;
}

static void on_event(Window *w, const SDL_Event *event) {
  switch (event->type) {
  case SDL_QUIT: w->has_ended = true; break;
  case SDL_WINDOWEVENT: on_window(w, &event->window); break;
  case SDL_KEYDOWN: on_key(w, &event->key.keysym); break;
  case SDL_TEXTINPUT: on_text(w, event->text.text); break;
  case SDL_MOUSEMOTION: on_motion(w, event->motion.x, event->motion.y); break;
  case SDL_MOUSEBUTTONDOWN:
    on_motion(w, event->button.x, event->button.y);
    if (event->button.button == SDL_BUTTON_LEFT || event->button.button == SDL_BUTTON_RIGHT) on_press(w, event->button.button);
    if (event->button.button == SDL_BUTTON_MIDDLE) act(w, INPUT_PRESENTATION);
    break;
  case SDL_MOUSEBUTTONUP:
    if (event->button.button == SDL_BUTTON_LEFT || w->drag == DRAG_SCRUB || w->drag == DRAG_SIDE) on_release(w);
    break;
  case SDL_MOUSEWHEEL: on_wheel(w, event->wheel.direction == SDL_MOUSEWHEEL_FLIPPED ? -event->wheel.y : event->wheel.y); break;
  case SDL_RENDER_TARGETS_RESET:
  case SDL_RENDER_DEVICE_RESET:
    if (!make_canvas(w)) w->has_ended = true;
    break;
  default: break;
  }
}

/* Sleeps until there is an event, or until it is time for the next frame. */
static void run_loop(Window *w) {
  double last = window_clock_s();
  while (!w->has_ended) {
    SDL_Event event;
    const bool moves = player_is_moving(w->player);
    const int spent_ms = (int)((window_clock_s() - last) * 1000), rest_ms = spent_ms < FRAME_MS ? FRAME_MS - spent_ms : 0;
    bool has_event = w->is_dirty && !moves ? SDL_PollEvent(&event) : moves ? SDL_WaitEventTimeout(&event, rest_ms) : SDL_WaitEvent(&event);
    for (; has_event; has_event = !w->has_ended && SDL_PollEvent(&event)) on_event(w, &event);
    if (moves) {
      const double now = window_clock_s();
      if (player_tick(w->player, now - last)) w->is_dirty = true;
      last = now;
    } else {
      last = window_clock_s();
    }
    find_hover(w);
    side_takes(w, (SideEvent){.kind = SIDE_LOOK});
    if (w->is_dirty && !w->has_ended) draw_frame(w);
  }
}

/* ---- Measuring ------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Draws so many frames, one event each, as fast as they come, and prints how long they took. */
static Status measure(Window *w, const WindowOptions *options, Error *error) {
  const size_t n = (size_t)options->n_frames;
  double *times = calloc(n, sizeof *times);
  if (!times) return error_set(error, STATUS_NO_MEMORY, "no memory for %zu times", n);
  SDL_RendererInfo info = {0};
  SDL_GetRendererInfo(w->renderer, &info);
  draw_frame(w);
  const double first = window_clock_s() - options->started_s;
  double plain = window_clock_s();
  cairo_paint(w->cr);
  present(w);
  plain = window_clock_s() - plain;
  size_t k = 0;
  for (SDL_Event event; k < n && !w->has_ended; k++) {
    while (SDL_PollEvent(&event)) on_event(w, &event);
    const double start = window_clock_s();
    player_seek(w->player, w->player->now.step < w->player->now.n_steps ? w->player->now.step + 1 : 0);
    draw_frame(w);
    times[k] = window_clock_s() - start;
  }
  qsort(times, k, sizeof *times, by_size);
  if (k > 0)
    fprintf(w->out, "%zu frames of %d x %d, %s renderer: the first after %.0f ms, then median %.2f ms, 99th percentile %.2f ms; clearing and "
            "uploading alone %.2f ms\n", k, w->width, w->height, info.name ? info.name : "no", first * 1e3, times[k / 2] * 1e3, times[(k * 99) / 100] * 1e3,
            plain * 1e3);
  free(times);
  return STATUS_OK;
}

Status window_run(Player *player, const WindowOptions *options, FILE *out, Error *error) {
  Window w = {.player = player, .side = options->side, .out = out, .memo = memo_new(), .mouse_x = -1, .mouse_y = -1, .hover = {.kind = HIT_NONE, .i = -1, .j = -1}, .scale = 1};
  Status status = open_window(&w, options, error);
  if (!status && options->n_frames > 0) status = measure(&w, options, error);
  else if (!status) run_loop(&w);
  close_window(&w);
  memo_free(w.memo);
  return status;
}
