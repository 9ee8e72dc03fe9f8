/* Shared by the files of the window. Private to viz/window; here, and in the files that take this, SDL is known. */
#ifndef TILEWALK_VIZ_WINDOW_WINDOW_PARTS_H
#define TILEWALK_VIZ_WINDOW_WINDOW_PARTS_H

#include <SDL.h>

#include "viz/window/window.h"

typedef struct {
  Viewer viewer; /* all that is not SDL */
  bool ends_with_cover;
  StoryPlayer *story; /* or NULL */
  StoryPlayer *(*open_story)(Error *error);
  FILE *out;
  SDL_Window *window;
  SDL_Renderer *renderer; /* NULL: drawn straight into the window's surface */
  SDL_Texture *texture;
  const void *shown_pixels; /* without a renderer: the memory that SDL shows, when the canvas was made */
  int shown_pitch;
  cairo_surface_t *surface;
  cairo_t *cr;
  double scale;      /* pixels of a unit of the mouse's position */
  SDL_Window *notes; /* the speaker's page; NULL: not opened yet */
  double notes_since_s;
  long long notes_drawn_s; /* what its clock shows */
} Window;

/* window_draw.c */
Status window_open(Window *w, const WindowOptions *options, Error *error);
void window_close(Window *w);
bool window_make_canvas(Window *w); /* a surface as large as the window is now; false: SDL or memory refuses */
void window_draw_frame(Window *w);
void window_copy(cairo_surface_t *surface, SDL_Surface *shown); /* what is drawn, flushed, to what SDL shows */
const char *window_renderer_name(const Window *w);

/* window_notes.c: the speaker's page. */
void window_toggle_notes(Window *w);
bool window_notes_are_open(const Window *w);
void window_draw_notes(Window *w);
bool window_notes_are_due(const Window *w); /* its clock goes on */
/* Whether an event was the page's alone. */
bool window_notes_take(Window *w, const SDL_Event *event);

/* window_input.c */
void window_on_event(Window *w, const SDL_Event *event);

/* window_save.c: what only a window can do; the viewer's host, whose data is the Window. */
void window_act(void *window, PlayerInput input);
char *window_clipboard(void *window);

#endif
