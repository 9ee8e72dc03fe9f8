#include "viz/window/window.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "viz/text/print.h"
#include "viz/window/window_parts.h"

enum { FRAME_MS = 16, NOTES_MS = 200 };

double window_clock_s(void) { return (double)SDL_GetPerformanceCounter() / (double)SDL_GetPerformanceFrequency(); }

/* ---- When the display or the window goes away ------------------------------------------------------------ */

/* For the handlers below alone, which are given nothing of ours. */
static const Player *lost_player;
static void (*on_lost_display)(const char *state);
static bool window_is_gone;

static int on_x11_lost(void *display) {
  char state[REQUEST_STATE_BYTES];
  (void)display;
  on_lost_display(player_state(lost_player, state));
  return 0;
}

/* XErrorEvent of X11/Xlib.h, and two of its error codes. */
typedef struct {
  int type;
  void *display;
  unsigned long resource, serial;
  unsigned char error_code, request_code, minor_code;
} X11Error;
enum { X11_BAD_WINDOW = 3, X11_BAD_DRAWABLE = 9 };

/* X11's own handler ends the program. A request may meet a window that another program has destroyed, or that we have
 * at the end: SDL wakes itself over a second connection, which the first may overtake. That is a window closed; what
 * else X11 refuses can be done without. */
static int on_x11_error(void *display, X11Error *error) {
  (void)display;
  if (window_is_gone || (error->error_code != X11_BAD_WINDOW && error->error_code != X11_BAD_DRAWABLE)) return 0;
  window_is_gone = true;
  SDL_PushEvent(&(SDL_Event){.type = SDL_QUIT});
  return 0;
}

/* What a function of X11's library is given as its handler; nothing of X11 is needed to build. `loaded`: only where SDL
 * has loaded it. */
static void handle_x11(const char *function, bool loaded, void (*handler)(void)) {
  typedef void (*Handler)(void);
  Handler (*set)(Handler) = NULL;
  void *library = dlopen("libX11.so.6", RTLD_LAZY | (loaded ? RTLD_NOLOAD : RTLD_NODELETE));
  if (!library) return;
  void *found = dlsym(library, function);
  memcpy(&set, &found, sizeof set); /* POSIX lets dlsym find functions; C has no cast for it */
  if (set) set(handler);
  dlclose(library);
}

/* SDL has handlers of its own from its beginning to its end, and then puts back what it found: of errors, which may
 * still come when it closes its connections, ours are set before and after that. */
static void handle_x11_errors(bool loaded) { handle_x11("XSetErrorHandler", loaded, (void (*)(void))on_x11_error); }

/* ---- The loop -------------------------------------------------------------------------------------------- */

/* Sleeps until there is an event, or until it is time for the next frame. */
static void run_loop(Window *w) {
  double last = window_clock_s();
  while (!w->viewer.has_ended && !(w->ends_with_cover && !viewer_is_covered(&w->viewer))) {
    SDL_Event event;
    const SidePanel *side = w->viewer.side;
    const bool moves = viewer_is_moving(&w->viewer), waits = side && side->waits && side->waits(side->data);
    const int rest_ms = (int)fmax(0, FRAME_MS - (window_clock_s() - last) * 1000);
    const int wait_ms = moves ? rest_ms : w->viewer.is_dirty ? 0 : window_notes_are_open(w) || waits ? NOTES_MS : -1;
    bool has_event = SDL_WaitEventTimeout(&event, wait_ms);
    for (; has_event; has_event = !w->viewer.has_ended && SDL_PollEvent(&event)) window_on_event(w, &event);
    if (moves) {
      const double now = window_clock_s();
      viewer_tick(&w->viewer, now - last);
      last = now;
    } else {
      last = window_clock_s();
    }
    viewer_find_hover(&w->viewer);
    viewer_side_takes(&w->viewer, (SideEvent){.kind = SIDE_LOOK});
    if (w->viewer.is_dirty && !w->viewer.has_ended)
      window_draw_frame(w);
    else if (window_notes_are_due(w))
      window_draw_notes(w);
  }
}

/* ---- Measuring ------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Draws n frames, one event each, as fast as they come, and prints how long they took. */
static Status measure(Window *w, const WindowOptions *options, Error *error) {
  const size_t most = (size_t)options->n_frames;
  Player *p = w->viewer.player;
  size_t n = 0;
  double *times = calloc(most, sizeof *times);
  if (!times) return error_no_memory(error, "for %zu times", most);
  window_draw_frame(w);
  text_say(w->out, "%zu frames of %d x %d, %s renderer\n  start to the first frame: %.0f ms\n", most, w->viewer.width,
           w->viewer.height, window_renderer_name(w), (window_clock_s() - options->started_s) * 1e3);
  for (SDL_Event event; n < most && !w->viewer.has_ended; n++) {
    while (SDL_PollEvent(&event)) window_on_event(w, &event);
    const double start = window_clock_s();
    player_seek(p, p->now.step < p->now.n_steps ? p->now.step + 1 : 0);
    window_draw_frame(w);
    times[n] = window_clock_s() - start;
  }
  qsort(times, n, sizeof *times, by_size);
  if (n)
    text_say(w->out, "  frame while playing: median %.2f ms, 99th percentile %.2f ms\n", times[n / 2] * 1e3,
             times[n * 99 / 100] * 1e3);
  free(times);
  return STATUS_OK;
}

/* The size is in the display's points, as windows are asked for. */
static void note_size(const Window *w, WindowOptions *options) {
  const Uint32 filling =
      SDL_WINDOW_FULLSCREEN | SDL_WINDOW_FULLSCREEN_DESKTOP | SDL_WINDOW_MAXIMIZED | SDL_WINDOW_MINIMIZED;
  int width = 0, height = 0;
  SDL_GetWindowSize(w->window, &width, &height);
  if (SDL_GetWindowFlags(w->window) & filling || width < VIEWER_LEAST_WIDTH || height < VIEWER_LEAST_HEIGHT) return;
  options->width = width;
  options->height = height;
}

Status window_run(Player *player, WindowOptions *options, FILE *out, Error *error) {
  Window w = {.out = out, .scale = 1};
  window_is_gone = false;
  handle_x11_errors(false);
  Status status = STATUS_OK;
  if (!viewer_open(&w.viewer, player, options->side, (ViewerHost){&w, window_act, window_clipboard}))
    status = error_no_memory(error, "for the window");
  w.story = options->story;
  w.open_story = options->open_story;
  story_player_reduce(w.story, player->reduced_motion);
  w.ends_with_cover = options->cover.data != NULL;
  w.viewer.cover = w.ends_with_cover ? options->cover : viewer_story(w.story);
  if (!status) status = window_open(&w, options, error);
  handle_x11_errors(true);
  lost_player = player;
  on_lost_display = options->on_lost_display;
  if (!status && on_lost_display) handle_x11("XSetIOErrorHandler", true, (void (*)(void))on_x11_lost);
  if (!status && options->n_frames > 0)
    status = measure(&w, options, error);
  else if (!status)
    run_loop(&w);
  if (!status) note_size(&w, options);
  window_close(&w);
  story_player_close(w.story);
  options->story = NULL;
  return status;
}
