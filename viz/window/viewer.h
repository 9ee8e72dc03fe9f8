/* The viewer without a window: player, controls, scene and panel as one thing that is drawn, pressed and typed into.
 *
 *     SDL window (window.c)  \
 *                              >  viewer  ->  player, scene, controls, panel
 *     a browser (viz/web)    /
 *
 * A front end turns its events into the calls below, draws with viewer_draw when `is_dirty`, and does what only it can
 * do: ViewerHost. SDL is not known here. All positions are pixels of the canvas. */
#ifndef TILEWALK_VIZ_WINDOW_VIEWER_H
#define TILEWALK_VIZ_WINDOW_VIEWER_H

#include "viz/scene/scene_cache.h"
#include "viz/story/story_player.h"
#include "viz/window/controls.h"
#include "viz/window/side.h"

enum { VIEWER_LEAST_WIDTH = 320, VIEWER_LEAST_HEIGHT = 180, FRAME_LEAST_HEIGHT = 120 };

typedef enum { DRAG_NONE = 0, DRAG_SCRUB, DRAG_VALUE, DRAG_SIDE } Drag;

/* What the front end does. Each is called during a call of the viewer. */
typedef struct {
  void *data;
  void (*act)(void *data, PlayerInput input); /* an input from INPUT_COPY on, but INPUT_SIDE and INPUT_QUIT */
  char *(*clipboard)(void *data);             /* its text, which is freed with free(); NULL: none */
} ViewerHost;

typedef struct {
  Player *player;
  const SidePanel *side; /* or NULL */
  SidePanel cover;       /* zero: none */
  ViewerHost host;
  int width, height; /* in pixels */
  Controls controls;
  cairo_surface_t *measures; /* what finds what is under the mouse measures text on it */
  SceneMemo *memo;           /* what scenes worked out for the frames before */
  SceneHit hover;
  double mouse_x, mouse_y; /* -1: away */
  Drag drag;
  double drag_x;
  bool has_dragged;
  Control pressed;
  bool is_framed; /* the scene alone: words and controls are the front end's */
  bool is_dirty, has_ended;
} Viewer;

/* Sets up for a player, which the caller keeps. False: no memory. Close it in any case. */
bool viewer_open(Viewer *viewer, Player *player, const SidePanel *side, ViewerHost host);
void viewer_close(Viewer *viewer);

/* The canvas has another size, or what was kept for it is gone. */
void viewer_resize(Viewer *viewer, int width, int height);

void viewer_draw(Viewer *viewer, cairo_t *cr); /* all of it; is_dirty is false then */
void viewer_find_hover(Viewer *viewer);        /* after events, before drawing */
bool viewer_is_covered(const Viewer *viewer);
bool viewer_is_moving(const Viewer *viewer);      /* time changes what is drawn */
void viewer_tick(Viewer *viewer, double seconds); /* time passes; is_dirty when anything changed */
bool viewer_wants_bar(const Viewer *viewer);      /* in presentation mode it is away until then */
bool viewer_is_over_side(const Viewer *viewer);

/* viewer_input.c. A key without a character of its own, or with control; text comes by viewer_text. */
void viewer_key(Viewer *viewer, SideKey key, bool shift, bool control);
void viewer_text(Viewer *viewer, const char *text);
void viewer_motion(Viewer *viewer, double x, double y);
void viewer_leave(Viewer *viewer);
void viewer_press(Viewer *viewer, int button); /* 1 left, 3 right, where the pointer is; after viewer_motion */
void viewer_release(Viewer *viewer, int button);
void viewer_wheel(Viewer *viewer, int turns); /* up is positive */

/* A story as a cover; it stays the caller's. NULL: covers nothing. */
SidePanel viewer_story(StoryPlayer *story);

void viewer_act(Viewer *viewer, PlayerInput input);
bool viewer_side_takes(Viewer *viewer, SideEvent event); /* offers it to the panel, if there is one */

#endif
