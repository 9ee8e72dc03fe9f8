/* A panel beside the scene, with its own rectangle, drawing, keys and text: what a lesson is read and answered in.
 *
 *     +-------------------------------+-------------+
 *     |            scene              |  the panel  |      width(data, ...) pixels; 0: not shown now
 *     +-------------------------------+-------------+
 *     |                bar of controls              |
 *     +---------------------------------------------+
 *
 * WindowOptions.side is such a panel, or NULL. The window calls it with the player, which it may drive: player_input,
 * player_seek, player_restore, player_say. SDL is not known here, so a panel is tested without a display: send it
 * events, draw it on a surface.
 *
 * Who gets what. Mouse: what lies within the rectangle; after a press there, everything until the release. A press
 * elsewhere is announced as SIDE_LEFT. Keys and text: offered to the panel first, shown or not (unless the line for
 * typing or the page of keys is open), and what it does not take goes to the player; so a panel that is not being typed
 * into returns false for text. The key l and the control "lesson" send SIDE_TOGGLE, shown or not. */
#ifndef TILEWALK_VIZ_WINDOW_SIDE_H
#define TILEWALK_VIZ_WINDOW_SIDE_H

#include "viz/scene/pen.h"
#include "viz/player/player.h"

typedef enum {
  SIDE_LOOK = 0, /* before a frame is drawn, shown or not: the player may have moved, and of one that moves time has
                    passed. Return true to have it drawn in any case */
  SIDE_TOGGLE,   /* show or hide */
  SIDE_PRESS,    /* x, y, button */
  SIDE_MOTION,   /* x, y; of a cover: while the button is held */
  SIDE_RELEASE,  /* x, y, button */
  SIDE_WHEEL,    /* x, y, turns: up is positive */
  SIDE_LEFT,  /* a press outside the panel (button), or the pointer left it (button 0): drop the focus or the highlight
               */
  SIDE_KEY,   /* key, shift, control: keys without a character of their own */
  SIDE_TEXT,  /* text: UTF-8, as the keyboard's layout gives it */
  SIDE_PASTE, /* text: of the clipboard */
} SideEventKind;

typedef enum {
  SIDE_KEY_NONE = 0,
  SIDE_KEY_RETURN,
  SIDE_KEY_BACKSPACE,
  SIDE_KEY_ESCAPE,
  SIDE_KEY_TAB,
  SIDE_KEY_LEFT,
  SIDE_KEY_RIGHT,
  SIDE_KEY_UP,
  SIDE_KEY_DOWN,
  SIDE_KEY_PAGE_UP,
  SIDE_KEY_PAGE_DOWN,
  SIDE_KEY_HOME,
  SIDE_KEY_END,
  SIDE_KEY_LAST_OF_PANEL = SIDE_KEY_END, /* the rest is the viewer's, and not offered to a panel */
  SIDE_KEY_F1,
  SIDE_KEY_F11,
  SIDE_KEY_COPY, /* Control and c */
  SIDE_KEY_PASTE,
} SideKey;

typedef struct {
  SideEventKind kind;
  double x, y; /* pixels of the window, as the rectangle */
  int button;  /* 1 left, 2 middle, 3 right */
  int turns;
  double seconds;
  SideKey key;
  bool shift, control;
  const char *text; /* valid during the call */
} SideEvent;

typedef struct {
  void *data;

  /* How wide it wants to be in a window of that width, in pixels; at most 0.6 of the window is given, and in a tall one
   * all of it, below the scene. 0: not shown. */
  double (*width)(void *data, const Player *player, double window_width);

  /* Draws into the rectangle, which is clipped to. `unit` is the bar's: 1/720 of the height or 1/1280 of the width. */
  void (*draw)(void *data, const Player *player, cairo_t *cr, Box box, double unit);

  /* Returns whether it took the event; then a frame is drawn. */
  bool (*event)(void *data, Player *player, const SideEvent *event);

  /* Whether it waits for something that is no event: a file's change, which it is asked now and then to look for; or
   * time, of one that covers the viewer, such as a story. The width of that is the window's, and no other panel,
   * control or scene is there. */
  bool (*waits)(const void *data);
  const char *(*words)(const void *data, char *text, size_t size); /* of a cover, for the ear; returns text */
} SidePanel;

#endif
