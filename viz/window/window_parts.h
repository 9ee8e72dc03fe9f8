/* Shared by the files of the window. Private to viz/window; here, and in the files that take this, SDL is known. */
#ifndef TILEWALK_VIZ_WINDOW_WINDOW_PARTS_H
#define TILEWALK_VIZ_WINDOW_WINDOW_PARTS_H

#include <SDL.h>

#include "viz/scene/scene_cache.h"
#include "viz/window/controls.h"
#include "viz/window/window.h"

enum { LEAST_WIDTH = 320, LEAST_HEIGHT = 180 };

typedef enum { DRAG_NONE = 0, DRAG_SCRUB, DRAG_VALUE, DRAG_BUTTON, DRAG_SIDE } Drag;

typedef struct {
  Player *player;
  const SidePanel *side; /* or NULL */
  FILE *out;
  SDL_Window *window;
  SDL_Renderer *renderer; /* NULL: drawn straight into the window's surface */
  SDL_Texture *texture;
  const void *shown_pixels; /* without a renderer: the memory that SDL shows, when the canvas was made */
  int shown_pitch;
  cairo_surface_t *surface;
  cairo_t *cr;
  int width, height; /* in pixels */
  double scale;      /* pixels of a unit of the mouse's position */
  Controls controls;
  KeptBar *bar;
  cairo_surface_t *measures; /* what finds what is under the mouse measures text on it */
  SceneMemo *memo;           /* what scenes worked out for the frames before */
  SceneHit hover;
  double mouse_x, mouse_y; /* in pixels; -1: away */
  Drag drag;
  double drag_x;
  bool has_dragged;
  PlayerInput drag_click, drag_more, drag_less;
  bool is_dirty, has_ended, is_saving;
} Window;

/* window_draw.c */
Status window_open(Window *w, const WindowOptions *options, Error *error);
void window_close(Window *w);
bool window_make_canvas(Window *w);  /* a surface as large as the window is now; false: SDL or memory refuses */
bool window_check_canvas(Window *w); /* makes it again where what it lies in is gone; false: as window_make_canvas */
void window_draw_frame(Window *w);
void window_present(Window *w);
void window_find_hover(Window *w);
bool window_wants_bar(const Window *w);
bool window_is_over_side(const Window *w);
const char *window_renderer_name(const Window *w);

/* window_input.c */
void window_on_event(Window *w, const SDL_Event *event);
bool window_side_takes(Window *w,
                       SideEvent event); /* offers it; a panel that is not shown is only told to show itself */

/* window_save.c: what only a window can do, with what player_input passes on. */
void window_act(Window *w, PlayerInput input);

#endif
