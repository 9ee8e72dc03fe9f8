/* What lies around the scene in the window: the bar of controls with the scrub bar, and what is laid over the scene (a message,
 * a tooltip, the line for typing, the page of keys). Drawn with cairo; SDL is not known here.
 *
 *     +-----------------------------------------------------------------+
 *     |                             scene                               |
 *     +-----------------------------------------------------------------+
 *     | |< <row <tile <op  Play  op> tile> row> >|  ===scrub===  max .. |
 *     | 1 main  2 tiles ...     fa2  N 64  d 16  block 8 ...   ? keys   |
 *     +-----------------------------------------------------------------+
 *
 * In presentation mode the bar is away until the pointer goes to where it would be. */
#ifndef TILEWALK_VIZ_WINDOW_CONTROLS_H
#define TILEWALK_VIZ_WINDOW_CONTROLS_H

#include "viz/scene/pen.h"
#include "viz/window/player.h"

typedef struct {
  Box box;
  PlayerInput click, other; /* left button or wheel up; right button or wheel down (INPUT_NONE: none) */
  bool is_chip;             /* a parameter: it can also be dragged left and right */
  bool is_scrub;
  bool is_on;
  const char *hint;
  char label[128];
} Control;

enum { CONTROLS_MAX = 48 };

typedef struct {
  Control items[CONTROLS_MAX];
  int n;
  Box scene; /* where the scene is drawn; its last units may lie under the bar */
  Box side;  /* the panel beside the scene; empty: not shown */
  Box bar;   /* empty: not shown */
  double unit;
} Controls;

/* Places everything in a window of that size, in pixels, of which `side` in width belong to the panel beside the scene; `cr` is
 * for measuring text. */
void controls_layout(Controls *controls, const Player *player, cairo_t *cr, double width, double height, double side, bool wants_bar);

/* The control under a point, or NULL. */
const Control *controls_at(const Controls *controls, double x, double y);

/* Which part of the scrub bar a point is at, 0 to 1. */
double controls_scrub_part(const Controls *controls, double x);

void controls_draw(const Controls *controls, const Player *player, cairo_t *cr, const Control *pointed);

/* Over the scene: the tooltip (lines parted by newlines, "" none) at a point, the message, the typed line, the keys. */
void overlay_draw(const Controls *controls, const Player *player, cairo_t *cr, const char *tooltip, double x, double y);

#endif
