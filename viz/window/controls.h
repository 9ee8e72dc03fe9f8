/* What lies around the scene in the window: the bar of controls, the scrub bar that the scene draws, and what is laid
 * over the scene (a message, a tooltip, the line for typing, a list, the page of keys). Drawn with cairo; SDL is not
 * known here.
 *
 *     +-----------------------------------------------------------------+
 *     |                             scene                               |
 *     +-----------------------------------------------------------------+
 *     | |< <row <tile <op  Play  op> tile> row> >|               max .. |
 *     | <first look>  <fa2>  <N 64>  <d 16>  <block>  <B_r 8>  <B_c 8>  |
 *     | 1 main  2 tiles ...                         copy  save  ? keys  |
 *     +-----------------------------------------------------------------+
 *
 * A parameter is three controls in one frame: a step back, the value, which is typed into or opens a list, a step on.
 * The value can also be dragged left and right, or turned with the wheel.
 *
 * Folded, the bar is its first row. In presentation mode it is folded, and away until the pointer goes to where it
 * would be. */
#ifndef TILEWALK_VIZ_WINDOW_CONTROLS_H
#define TILEWALK_VIZ_WINDOW_CONTROLS_H

#include "viz/scene/pen.h"
#include "viz/player/player.h"

typedef enum {
  CONTROL_BUTTON = 0,
  CONTROL_SCRUB,
  CONTROL_VALUE,  /* of a parameter */
  CONTROL_ARROW,  /* beside a value */
  CONTROL_CHOICE, /* a line of the open list, over the scene */
} ControlKind;

typedef struct {
  ControlKind kind;
  Box box;
  PlayerInput click, other; /* left button; right button (INPUT_NONE: none) */
  PlayerInput more, less;   /* dragged right or left, wheel up or down (INPUT_NONE: neither) */
  bool is_on, has_focus;
  const char *widest; /* what it has room for at least; NULL: its label */
  const char *hint;
  char label[128];
} Control;

enum { CONTROLS_MAX = 160 };

typedef struct {
  Control items[CONTROLS_MAX];
  int n;
  Box scene;             /* where the scene is drawn */
  Box side;              /* the panel beside the scene; empty: not shown */
  Box bar;               /* empty: not shown */
  double unit, bar_unit; /* the bar has letters of its own size in a small window */
  bool is_small;
} Controls;

/* Places everything in a window of that size, in pixels, of which `side` in width belong to the panel beside the scene;
 * `cr` is for measuring text. */
void controls_layout(Controls *controls, const Player *player, cairo_t *cr, double width, double height, double side,
                     bool wants_bar);

/* The control under a point, or NULL; a list that is open lies over all else. */
const Control *controls_at(const Controls *controls, double x, double y);

/* Which part of the scrub bar a point is at, 0 to 1. */
double controls_scrub_part(const Controls *controls, double x);

/* The bar as it was drawn last, and of what: drawn anew only when that changes. Zeros: nothing
 * yet. */
typedef struct {
  cairo_surface_t *surface;
  Controls controls;
  int pointed;
  bool is_dark;
} KeptBar;

/* Draws the bar. What is kept, or NULL, never changes what is drawn; cr has no scale, and no shift but whole pixels. */
void controls_draw(const Controls *controls, const Player *player, cairo_t *cr, const Control *pointed, KeptBar *kept);
void controls_forget(KeptBar *kept); /* frees it */

/* Over the scene: the tooltip (lines parted by newlines, "" none) at a point, the message, the typed line, a list, the
 * keys. */
void overlay_draw(const Controls *controls, const Player *player, cairo_t *cr, const Control *pointed,
                  const char *tooltip, double x, double y);

void overlay_tooltip(const Controls *controls, const Player *player, cairo_t *cr, const char *text, double x, double y);

#endif
