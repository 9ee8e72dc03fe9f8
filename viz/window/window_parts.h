/* Shared by the files of the window. Private to viz/window; here, and in the files that take this, SDL is known. */
#ifndef TILEWALK_VIZ_WINDOW_WINDOW_PARTS_H
#define TILEWALK_VIZ_WINDOW_WINDOW_PARTS_H

#include <SDL.h>
#include <sys/types.h>

#include "viz/window/viewer.h"
#include "viz/window/window.h"

enum { WINDOW_NAME_BYTES = 160 };

/* A run that a child process saves, so that the window goes on. */
typedef struct {
  pid_t pid; /* 0: none */
  int from;  /* its news */
  int hold;  /* closed, it stops; -1 then */
  char name[WINDOW_NAME_BYTES];
} RunSave;

typedef struct {
  Viewer viewer;      /* all that is not SDL */
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
  RunSave saving;
} Window;

/* window_draw.c */
Status window_open(Window *w, const WindowOptions *options, Error *error);
void window_close(Window *w);
bool window_make_canvas(Window *w);  /* a surface as large as the window is now; false: SDL or memory refuses */
bool window_check_canvas(Window *w); /* makes it again where what it lies in is gone; false: as window_make_canvas */
void window_draw_frame(Window *w);
void window_present(Window *w);
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

typedef struct {
  const Player *player;
  const Snapshot *now;
  SceneMemo *memo; /* or NULL */
  double phase;    /* as SceneView's */
} WindowPicture;

/* A name that is free: tilewalk-main-40.png, else tilewalk-main-40-2.png and so on. Of a series the first file decides.
 */
void window_free_name(const Player *player, const char *what, const char *suffix, char *name, size_t size);
void window_say_saved(Window *w, const char *name, const char *more);
void window_draw_picture(cairo_t *cr, double width, double height, const void *window_picture);

/* window_run.c: the whole run as a file, made by a child process. */
void window_save_run(Window *w, const char *suffix);
void window_look_at_run(Window *w); /* its news, if there are any */
void window_stop_run(Window *w);    /* nothing is kept; window_look_at_run hears of the end */
void window_end_run(Window *w);     /* stops it and waits for the end */

#endif
