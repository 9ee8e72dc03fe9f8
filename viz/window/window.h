/* The viewer's window: SDL2 around the player. SDL is used in this folder only.
 *
 *     player + controls  --cairo-->  RGB24 surface  -->  window
 *
 * The window is drawn again only when something changed, sleeps otherwise, and works with or without a GPU. Scenes are
 * drawn in the window's pixels, so that a display with many of them gets sharper, not smaller, drawings. */
#ifndef TILEWALK_VIZ_WINDOW_WINDOW_H
#define TILEWALK_VIZ_WINDOW_WINDOW_H

#include <stdio.h>

#include "viz/window/viewer.h"

enum { WINDOW_DEFAULT_WIDTH = 1280, WINDOW_DEFAULT_HEIGHT = 720 };

typedef struct {
  int width, height; /* 0: 1280 x 720. When it ends: as it was closed, unless it filled the screen */
  bool fullscreen;
  int64_t n_frames;      /* measure: draw this many frames, one event each, print the times and end; 0: off */
  const SidePanel *side; /* beside the scene; NULL: none */
  bool knows_story;      /* the user has seen it: the caller's to keep */
  SidePanel cover;       /* instead of the viewer: the window ends with it; zero: none */
  StoryPlayer *story;    /* told first, and closed at the end; NULL: none */
  StoryPlayer *(*open_story)(Error *error); /* what the key opens; NULL: nothing */
  double started_s;                         /* of window_clock_s, when the program began to work for the first frame */
  /* The display is gone, and X11's library will end the program when this returns, so it should not: it says where
   * things were
   * (`state`, to go on from) and ends the program its own way. Nothing of the window or SDL may be used in it. NULL:
   * X11's way */
  void (*on_lost_display)(const char *state);
} WindowOptions;

/* Runs until the user quits. Prints to `out` what is asked for (states, descriptions, names of saved files).
 * STATUS_BAD_REQUEST: no display, or no window can be had on it. */
Status window_run(Player *player, WindowOptions *options, FILE *out, Error *error);

double window_clock_s(void); /* monotonic */

#endif
