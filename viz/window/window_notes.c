/* The speaker's page in a window of its own, for the screen that the class does not see. It is drawn with the scene,
 * and each second for its clock; keys typed into it are the viewer's. */
#include "viz/scene/speaker.h"
#include "viz/window/window_parts.h"

enum { NOTES_WIDTH = 1120, NOTES_HEIGHT = 630 };

static long long clock_of(const Window *w) { return (long long)(window_clock_s() - w->notes_since_s); }

bool window_notes_are_open(const Window *w) { return w->notes && SDL_GetWindowFlags(w->notes) & SDL_WINDOW_SHOWN; }

/* Closed, it is hidden: SDL may still wake itself by an event to a window that had the keys, and X11 refuses one to a
 * window that is destroyed. */
void window_toggle_notes(Window *w) {
  if (window_notes_are_open(w)) {
    SDL_HideWindow(w->notes);
    return;
  }
  if (!w->notes)
    w->notes = SDL_CreateWindow("Tilewalk: speaker's page", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED,
                                NOTES_WIDTH, NOTES_HEIGHT, SDL_WINDOW_RESIZABLE | SDL_WINDOW_HIDDEN);
  if (!w->notes) {
    player_say(w->viewer.player, true, "No second window: %s", SDL_GetError());
    return;
  }
  w->notes_since_s = window_clock_s();
  SDL_SetWindowMinimumSize(w->notes, VIEWER_LEAST_WIDTH, VIEWER_LEAST_HEIGHT);
  SDL_ShowWindow(w->notes);
  SDL_RaiseWindow(w->window); /* keys stay where they were */
}

static void draw_page(Window *w, cairo_surface_t *surface) {
  const Player *p = w->viewer.player;
  char state[REQUEST_STATE_BYTES];
  const SpeakerPage page = {.stage = &p->stage,
                            .scene = p->scene,
                            .now = &p->now,
                            .view = {.presentation = p->presentation},
                            .elapsed_s = (double)w->notes_drawn_s,
                            .state = player_state(p, state)};
  cairo_t *cr = cairo_create(surface);
  speaker_draw(&page, cr, cairo_image_surface_get_width(surface), cairo_image_surface_get_height(surface),
               player_theme(p));
  cairo_destroy(cr);
  cairo_surface_flush(surface);
}

void window_draw_notes(Window *w) {
  SDL_Surface *shown = window_notes_are_open(w) ? SDL_GetWindowSurface(w->notes) : NULL;
  if (!shown || shown->w < 1 || shown->h < 1) return;
  w->notes_drawn_s = clock_of(w);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, shown->w, shown->h);
  if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
    draw_page(w, surface);
    window_copy(surface, shown);
    SDL_UpdateWindowSurface(w->notes);
  }
  cairo_surface_destroy(surface);
}

bool window_notes_are_due(const Window *w) { return window_notes_are_open(w) && clock_of(w) != w->notes_drawn_s; }

/* Events of windows and of the mouse, which all begin alike; keys are the viewer's, whichever window has the focus. */
bool window_notes_take(Window *w, const SDL_Event *event) {
  const bool is_of_mouse = event->type >= SDL_MOUSEMOTION && event->type <= SDL_MOUSEWHEEL;
  const Uint32 of = event->type == SDL_WINDOWEVENT || is_of_mouse ? event->window.windowID : 0;
  if (of == 0 || !w->window || of == SDL_GetWindowID(w->window)) return false;
  if (event->type != SDL_WINDOWEVENT || !window_notes_are_open(w)) return true;
  if (event->window.event == SDL_WINDOWEVENT_CLOSE)
    window_toggle_notes(w);
  else
    w->viewer.is_dirty = true;
  return true;
}
