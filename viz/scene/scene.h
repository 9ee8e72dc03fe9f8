/* Scenes: pure drawings of a snapshot, for files, window and tests alike.
 *
 *     scene_draw(SCENE_MAIN, &snapshot, &view, cr, 1920, 1080, &theme_light);
 *
 * A scene fills the rectangle from (0, 0) to (width, height), background included. All measures grow with one unit,
 * the smaller of width / 1110 and height / 720; a page that is higher than wide has a layout of its own. A page whose
 * text would be below 9.5 pixels shows what presentation mode shows, and below 360 x 240 it says so. Tiles lie on
 * whole user units, so draw with a matrix whose scale and shift are whole numbers of pixels.
 * In presentation mode no text is smaller than 1/50 of the height, and secondary text is left out. */
#ifndef TILEWALK_VIZ_SCENE_SCENE_H
#define TILEWALK_VIZ_SCENE_SCENE_H

#include <cairo.h>

#include "viz/scene/narration.h"
#include "viz/scene/snapshot.h"
#include "viz/scene/theme.h"

typedef enum {
  SCENE_MAIN = 0, /* tiles, hierarchy, softmax and code together */
  SCENE_TILES,
  SCENE_HIERARCHY,
  SCENE_SOFTMAX,
  SCENE_CAUSAL,
  SCENE_CHARTS,
  SCENE_TIMELINE,
  SCENE_CODE,   /* and the log */
  SCENE_RACE,   /* several algorithms, whole, beside each other */
  SCENE_WARP,   /* lanes, sectors and banks of one warp */
  SCENE_DECODE, /* heads x splits, and the combine */
  SCENE_COUNT
} SceneKind;

/* What a point of a scene belongs to. The same answer lights up the same thing everywhere. */
typedef enum {
  HIT_NONE = 0,
  HIT_TILE,   /* tile (i, j) of the scores */
  HIT_TENSOR, /* block `i` (Q, O, stats) or `j` (K, V) of a tensor along an edge */
  HIT_SLOT,   /* a tensor's place in SRAM */
  HIT_RUN,    /* a run of the race, by index in snapshot.runs */
  HIT_LINE,   /* a line of the code */
  HIT_L2,     /* L2, where the machine has one */
} SceneHitKind;

typedef struct {
  SceneHitKind kind;
  Tensor tensor;
  int64_t i, j;               /* -1 where there is none */
  int index;                  /* of the run or the line */
  double x, y, width, height; /* its rectangle */
} SceneHit;

/* Which of the charts fills the page. */
typedef enum {
  CHART_ALL = 0,
  CHART_TRAFFIC, /* against N, and against the block size */
  CHART_MISSES,  /* the miss-ratio curve */
  CHART_ROOFLINE,
  CHART_BLOCKS, /* every B_r by every B_c */
  CHART_KIND_COUNT
} ChartKind;

/* What moves in a picture, noted as it is drawn: for tests, which measure how far things go between pictures. */
typedef enum {
  BODY_HOME = 0, /* where a block lies in HBM: what moves may come from there and end there */
  BODY_TILE,     /* a tile on its way, or where it has docked */
  BODY_LINE      /* an edge that goes over something: a sweep, a level, a strike */
} SceneBodyKind;

typedef struct {
  SceneBodyKind kind;
  Tensor tensor;
  double x, y, width, height, alpha;
} SceneBody;

enum { SCENE_BODIES_MAX = 1024 };
typedef struct {
  SceneBody bodies[SCENE_BODIES_MAX];
  int n;
} SceneBodies;

typedef struct SceneMemo SceneMemo; /* viz/scene/scene_cache.h */

/* How a scene is to look, beside the snapshot. Zero is the default. */
typedef struct {
  bool presentation;
  ChartKind chart; /* of the charts scene */
  SceneMemo *memo; /* what was worked out for the frames before; NULL: anew each time. Never changes what is drawn */
  double phase;    /* how far the present event is: above 0, it has just begun, up to 1, it has happened. 0 (default): a
                      still picture, which shows what has happened, as 1 does. Only shapes move with it; numbers are
                      always those after the event. Reduced motion is phase 0. */
  SceneBodies *bodies; /* noted here what moves; NULL: nowhere */
  bool undimmed;       /* nothing is dimmed: for fast playing, where it would flicker */
  SceneHit hover;      /* kind HIT_NONE: nothing is pointed at */
  const char *title;   /* at the top, where the algorithm's stands; NULL: that one */
  const char *footer;  /* one line at the bottom, such as the state; NULL: none */
} SceneView;

typedef void SceneDraw(const Snapshot *snapshot, const SceneView *view, cairo_t *cr, double width, double height,
                       const Theme *theme);

void scene_draw(SceneKind scene, const Snapshot *snapshot, const SceneView *view, cairo_t *cr, double width,
                double height, const Theme *theme);

/* A moment between steps: a whole step is a still picture, 122.25 is a quarter of the way from step 122 to 123. */
typedef struct {
  uint64_t step; /* of the snapshot */
  double phase;  /* of the view */
} SceneMoment;
SceneMoment scene_moment(uint64_t step, double fraction);

/* What lies under a point of scene_draw's drawing. */
SceneHit scene_hit(SceneKind scene, const Snapshot *snapshot, const SceneView *view, double width, double height,
                   double x, double y);

/* The same with a surface to measure text on, which remembers what it measured: for a mouse that is followed. */
SceneHit scene_hit_measured(SceneKind scene, const Snapshot *snapshot, const SceneView *view, cairo_surface_t *measures,
                            double width, double height, double x, double y);

/* What a tooltip says about it: ranges, bytes, address. At most three lines. Returns text ("" for HIT_NONE). */
const char *scene_tooltip(const Snapshot *snapshot, const SceneHit *hit, char *text, size_t size);

/* The step in words: snapshot_describe, and in charts and timeline what they show beside. `memo` may be NULL. Returns
 * text. */
const char *scene_describe(SceneKind scene, const Snapshot *snapshot, SceneMemo *memo, char *text, size_t size);

/* The two sentences that stand over a scene. `memo` may be NULL. */
void scene_narrate(SceneKind scene, const Snapshot *snapshot, SceneMemo *memo, Narration *said);

const char *scene_name(SceneKind scene);  /* "main", ... as the state spells it */
const char *scene_title(SceneKind scene); /* "Every byte at once", ... */
bool scene_from_name(const char *name, SceneKind *scene);

const char *chart_kind_name(ChartKind chart); /* "all", "traffic", "misses", "roofline", "blocks" */
bool chart_kind_from_name(const char *name, ChartKind *chart);

#endif
