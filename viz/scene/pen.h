/* What the scenes draw with: sizes of type, boxes on whole units, text, and the table of what lies where.
 *
 * The same code draws and answers what is under a point: with `hit` set nothing is drawn, and each region that is
 * announced by pen_region is compared with the point. */
#ifndef TILEWALK_VIZ_SCENE_PEN_H
#define TILEWALK_VIZ_SCENE_PEN_H

#include "viz/scene/narration.h"
#include "viz/chart/box.h"
#include "viz/scene/view.h"
#include "viz/text/lettering.h"

/* Sizes of type. The smallest is 1/50 of the height. */
typedef enum { TYPE_SMALL = 0, TYPE_BODY, TYPE_HEAD, TYPE_TITLE, TYPE_NUMBER, N_TYPES } TypeSize;

typedef struct {
  cairo_t *cr;
  const Theme *theme;
  const Snapshot *now;
  const SceneView *view;
  Box page;
  double unit;   /* 1/720 of the height, or 1/1280 of the width */
  bool is_tall;  /* higher than wide: what stands beside the picture elsewhere stands below it */
  SceneHit *hit; /* NULL: draw */
  double hit_x, hit_y;
} Pen;

double pen_size(const Pen *pen, TypeSize type);

/* How much of the present event is seen to have happened, 0 to 1, slow at both ends. A still picture shows all of it.
 */
double pen_happened(const Pen *pen);

/* Notes what moves in view->bodies. */
void pen_body(const Pen *pen, SceneBodyKind kind, int tensor, Box box, double alpha);

void pen_fill(const Pen *pen, Box box, Colour colour, double alpha);
/* The same for many boxes of one colour, at a fraction of the time: each is added by box_path, then all are filled. */
void pen_fill_path(const Pen *pen, Colour colour);
double pen_thickness(const Pen *pen, double units);
void pen_frame(const Pen *pen, Box box, Colour colour, double thickness); /* inside the box, in units */
void pen_hatch(const Pen *pen, Box box, Colour ground, Colour colour);
void pen_hatch_path(const Pen *pen, Colour ground, Colour colour); /* many boxes at once */

/* A panel: its ground, a heading, and what is left within. */
Box pen_panel(const Pen *pen, Box box, const char *heading, const char *remark);

/* One line with its base line at y, cut to `width` (0: no limit). */
void pen_text(const Pen *pen, TypeSize type, Colour colour, bool bold, Anchor anchor, double x, double y, double width,
              const char *text);
void pen_mono(const Pen *pen, TypeSize type, Colour colour, bool bold, Anchor anchor, double x, double y, double width,
              const char *text);
double pen_text_width(const Pen *pen, TypeSize type, bool bold, const char *text);
double pen_mono_width(const Pen *pen, TypeSize type, const char *text);

/* Says what lies in a box. Lights it up when it is what the view's pointer is over. */
void pen_region(const Pen *pen, SceneHitKind kind, int tensor, int64_t i, int64_t j, int index, Box box);

bool pen_is_same_hit(const SceneHit *a, const SceneHit *b);

/* Says where a part is that has a name and cannot be pointed at: for view->regions. */
void pen_part(const Pen *pen, const char *name, Box box);

/* The way through the run at the foot of a page, where someone drags it: of a bare one there is none. And
 * where it lies in what scene_draw draws. */
Box pen_scrub(const Pen *pen);
Box scene_scrub(const SceneView *view, double width, double height);
/* Where in scene_draw's drawing a guess of how many times as much is a place; empty: nowhere. */
Box scene_guess_track(SceneKind scene, const Snapshot *now, const SceneView *view, cairo_t *cr, double width,
                      double height);
/* Ground and progress alone; returns what is left. */
Box pen_page_bare(const Pen *pen);

/* ---- The scenes ---- */

/* A scene, NAME_SCENE in viz/scene/scene_NAME.c (sim/question/scenes.h lists them). What is not given is not
 * there. */
typedef struct Scene {
  const char *title;
  void (*draw)(const Pen *pen);
  /* The two sentences that stand over it; NULL: those of the present event. */
  void (*narrate)(const Snapshot *now, SceneMemo *memo, Narration *said);
  /* Where a guess of how many times as much is a place, once to its right end. */
  Box (*guess_track)(const Pen *pen);
  /* Appended to the description of a step. */
  void (*describe)(const Snapshot *now, SceneMemo *memo, char *text, size_t size);
} Scene;

#define SCENE_OBJECT(id, name) extern const Scene id##_SCENE;
SCENES(SCENE_OBJECT)
#undef SCENE_OBJECT

#endif
