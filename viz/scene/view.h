/* Which scene, how it is to look beside its snapshot, what lies under a point of it and what moves in it. */
#ifndef TILEWALK_VIZ_SCENE_VIEW_H
#define TILEWALK_VIZ_SCENE_VIEW_H

#include "viz/scene/snapshot.h"

/* What a point of a scene belongs to. The same answer lights up the same thing everywhere. */
typedef enum {
  HIT_NONE = 0,
  HIT_TILE,   /* tile (i, j) of the scores */
  HIT_TENSOR, /* block `i` (Q, O, stats) or `j` (K, V) of a tensor along an edge */
  HIT_SLOT,   /* a tensor's place in SRAM */
  HIT_RUN,    /* a run, by index in snapshot.runs */
  HIT_LINE,   /* a line of the code */
} SceneHitKind;

typedef struct {
  SceneHitKind kind;
  int tensor;
  int64_t i, j;               /* -1 where there is none */
  int index;                  /* of the run or the line */
  double x, y, width, height; /* its rectangle */
} SceneHit;

/* What moves in a picture, noted as it is drawn: for tests, which measure how far things go between pictures. */
typedef enum {
  BODY_HOME = 0, /* where a block lies in HBM: what moves may come from there and end there */
  BODY_TILE,     /* a tile on its way, or where it has docked */
  BODY_LINE      /* an edge that goes over something: a sweep, a level, a strike */
} SceneBodyKind;

typedef struct {
  SceneBodyKind kind;
  int tensor;
  double x, y, width, height, alpha;
} SceneBody;

enum { SCENE_BODIES_MAX = 1024 };
typedef struct {
  SceneBody bodies[SCENE_BODIES_MAX];
  int n;
} SceneBodies;

/* What lies where in a picture: everything that can be pointed at, and panels by their heading. */
typedef struct {
  SceneHit hit;     /* kind HIT_NONE: of a panel only the rectangle */
  const char *name; /* of a panel; NULL */
} SceneRegion;

enum { SCENE_REGIONS_MAX = 8192 };
typedef struct {
  SceneRegion regions[SCENE_REGIONS_MAX]; /* more are left out */
  int n;
} SceneRegions;

typedef struct SceneMemo SceneMemo; /* viz/scene/scene_cache.h */

/* How a scene is to look, beside the snapshot. Zero is the default. */
typedef struct {
  bool presentation;
  SceneMemo *memo; /* what was worked out for the frames before; NULL: anew each time. Never changes what is drawn */
  double phase;    /* how far the present event is: above 0, it has just begun, up to 1, it has happened. 0 (default): a
                      still picture, which shows what has happened, as 1 does. Only shapes move with it; numbers are
                      always those after the event. Reduced motion is phase 0. */
  SceneBodies *bodies;   /* noted here what moves; NULL: nowhere */
  SceneRegions *regions; /* noted here what lies where; NULL: nowhere */
  bool framed;           /* bare, in a page with words and controls of its own: no text is below 12 pixels */
  bool bare;             /* without heading, narration and the way through the run: someone else tells what happens */
  SceneHit hover;        /* kind HIT_NONE: nothing is pointed at */
  const char *title;     /* at the top, where the algorithm's stands; NULL: that one */
} SceneView;

#endif
