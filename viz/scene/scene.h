/* Scenes: pure drawings of a snapshot, for files, window and tests alike.
 *
 *     scene_draw(SCENE_WALK, &snapshot, &view, cr, 1920, 1080, &theme_light);
 *
 * A scene fills the rectangle from (0, 0) to (width, height), background included. All measures grow with one unit,
 * the smaller of width / 1110 and height / 720; a page that is higher than wide has a layout of its own. A page whose
 * text would be below 12 pixels shows what presentation mode shows, and below 320 x 240 it says so. Tiles lie on
 * whole user units, so draw with a matrix whose scale and shift are whole numbers of pixels.
 * In presentation mode no text is smaller than 1/50 of the height, and secondary text is left out. */
#ifndef TILEWALK_VIZ_SCENE_SCENE_H
#define TILEWALK_VIZ_SCENE_SCENE_H

#include "viz/scene/narration.h"
#include "viz/chart/theme.h"
#include "viz/scene/view.h"

void scene_draw(SceneKind scene, const Snapshot *snapshot, const SceneView *view, cairo_t *cr, double width,
                double height, const Theme *theme);

/* A moment between steps: a whole step is a still picture, 122.25 is a quarter of the way from step 122 to 123. */
typedef struct {
  uint64_t step; /* of the snapshot */
  double phase;  /* of the view */
} SceneMoment;
SceneMoment scene_moment(uint64_t step, double fraction);

/* What lies under a point of scene_draw's drawing. `measures` is a surface to measure text on, which remembers what it
 * measured: for a mouse that is followed. */
SceneHit scene_hit_measured(SceneKind scene, const Snapshot *snapshot, const SceneView *view, cairo_surface_t *measures,
                            double width, double height, double x, double y);

/* Notes in *regions what lies where in scene_draw's drawing, which is not made. */
void scene_regions(SceneKind scene, const Snapshot *snapshot, const SceneView *view, cairo_surface_t *measures,
                   double width, double height, SceneRegions *regions);

/* What a tooltip says about it: ranges, bytes, address. At most three lines. Returns text ("" for HIT_NONE). */
const char *scene_tooltip(const Snapshot *snapshot, const SceneHit *hit, char *text, size_t size);

/* The step in words: snapshot_describe, and what the scene tells beside. `memo` may be NULL. Returns
 * text. */
const char *scene_describe(SceneKind scene, const Snapshot *snapshot, SceneMemo *memo, char *text, size_t size);

/* The two sentences that stand over a scene. `memo` may be NULL. */
void scene_narrate(SceneKind scene, const Snapshot *snapshot, SceneMemo *memo, Narration *said);

const char *scene_name(SceneKind scene);  /* "walk", ... as the state spells it */
const char *scene_title(SceneKind scene); /* "One table, tile by tile", ... */
bool scene_from_name(const char *name, SceneKind *scene);

#endif
