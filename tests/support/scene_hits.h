/* For tests of scenes: a surface without room, on which a scene is laid out and nothing is painted. It keeps the lines
 * of text that it measured, which is most of what a scene costs. Include it in one file of a test program. */
#ifndef TILEWALK_TESTS_SUPPORT_SCENE_HITS_H
#define TILEWALK_TESTS_SUPPORT_SCENE_HITS_H

#include "viz/scene/scene.h"

static cairo_surface_t *scratch_surface;

/* The surface, made when it is first asked for. */
static inline cairo_surface_t *scratch(void) {
  if (!scratch_surface) scratch_surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  return scratch_surface;
}

static inline void let_go_of_scratch(void) {
  if (scratch_surface) cairo_surface_destroy(scratch_surface);
  scratch_surface = NULL;
}

static inline SceneHit hit_at(SceneKind scene, const Snapshot *now, const SceneView *view, double width, double height,
                              double x, double y) {
  return scene_hit_measured(scene, now, view, scratch(), width, height, x, y);
}

#endif
