/* What lies around the scene in the window: the bar, and what is laid over the scene (a message, a tooltip, the line
 * for typing, the keys). Drawn with cairo; SDL is not known here.
 *
 *     +-----------------------------------------------------------------+
 *     |                             scene                               |
 *     |=======================|-----------------------------------------|   the way through the run, the scene's own
 *     |  Play  fa2  N 64           Walk  Softmax  Time  Piles  Bank  Many |   of a narrow window: two rows
 *     +-----------------------------------------------------------------+
 *
 * At rest that is all: the rest is typed, or has a key. A value is clicked (the line for typing opens),
 * dragged left and right, or turned with the wheel.
 *
 * In presentation mode the bar is away until the pointer goes to where it would be. */
#ifndef TILEWALK_VIZ_WINDOW_CONTROLS_H
#define TILEWALK_VIZ_WINDOW_CONTROLS_H

#include "viz/scene/pen.h"
#include "viz/player/player.h"

typedef enum {
  CONTROL_WORD = 0, /* a value, a scene's name, or what plays */
  CONTROL_SCRUB,
} ControlKind;

typedef struct {
  ControlKind kind;
  Box box;
  PlayerInput click; /* left button */
  PlayerInput more,
      less; /* dragged right or left, wheel up or down, the right button takes less; INPUT_NONE: neither */
  bool is_on;
  char label[64];
} Control;

enum { CONTROLS_MAX = 10 };

typedef struct {
  Control items[CONTROLS_MAX];
  int n;
  Box scrub;      /* the way through the run, at the foot of the scene; empty: not shown */
  Box scene;      /* where the scene is drawn */
  Box side;       /* the panel beside the scene; empty: not shown */
  Box bar;        /* empty: not shown */
  double foot;    /* where what is laid over the scene ends: at the bar, else with the scene */
  bool is_framed; /* the scene alone: words and controls are elsewhere */
  double unit;    /* 1/720 of the height, or 1/1280 of the width */
  double size;    /* of the bar's letters */
} Controls;

/* Places everything in a window of that size, in pixels, of which `side` in width belong to the panel beside the scene;
 * `cr` is for measuring text. */
void controls_layout(Controls *controls, const Player *player, cairo_t *cr, double width, double height, double side,
                     bool wants_bar);

/* The control under a point, or NULL. */
const Control *controls_at(const Controls *controls, double x, double y);

/* Which part of the scrub bar a point is at, 0 to 1. */
double controls_scrub_part(const Controls *controls, double x);

void controls_draw(const Controls *controls, const Player *player, cairo_t *cr, const Control *pointed);

/* Over the scene: the tooltip (lines parted by newlines, "" none) at a point, the message, the typed line, the
 * keys. */
void overlay_draw(const Controls *controls, const Player *player, cairo_t *cr, const char *tooltip, double x, double y);

#endif
