/* The contact sheet of the README: every scene once, light and dark by turns. `make pictures` runs it. */
#include <stdio.h>
#include <stdlib.h>

#include "viz/export/surface.h"
#include "viz/scene/scene.h"

enum { WIDE = 640, HIGH = 360, GAP = 12, COLUMNS = 2, ROWS = 4 };

typedef struct {
  SceneKind scene;
  const char *algorithm;
  Shape shape;
  int64_t block;
  uint64_t step;
  bool dark;
} Picture;

static const Picture PICTURES[COLUMNS * ROWS] = {
    {SCENE_MAIN, "fa2", {.N_q = 64, .d = 16, .causal = true}, 8, 122, false},
    {SCENE_TILES, "fa2", {.N_q = 4096, .d = 128, .causal = true}, 128, 2222, true},
    {SCENE_HIERARCHY, "standard", {.N_q = 64, .d = 16}, 8, 232, true},
    {SCENE_SOFTMAX, "fa2", {.N_q = 64, .d = 16}, 8, 268, false},
    {SCENE_CAUSAL, "fa1", {.N_q = 64, .d = 16, .causal = true}, 8, 240, false},
    {SCENE_CHARTS, "fa2", {.N_q = 4096, .d = 128}, 128, 3000, true},
    {SCENE_TIMELINE, "fa2", {.N_q = 64, .d = 16, .causal = true}, 8, 131, true},
    {SCENE_CODE, "fa1", {.N_q = 64, .d = 16}, 8, 100, false},
};

static void draw_picture(cairo_t *cr, const Picture *p, int place) {
  Stage stage;
  Snapshot now;
  Error error = {0};
  const SceneView view = {.presentation = true};
  const StageConfig config = {.problem = {.shape = p->shape, .tiling = {.B_r = p->block, .B_c = p->block}, .machine = machine_paper()}, .schedule = schedule_find(p->algorithm)};
  if (stage_make(&stage, &config, &error)) {
    fprintf(stderr, "%s\n", error.message);
    exit(2);
  }
  stage_snapshot(&stage, p->step, &now);
  cairo_save(cr);
  cairo_translate(cr, GAP + place % COLUMNS * (WIDE + GAP), GAP + place / COLUMNS * (HIGH + GAP));
  cairo_rectangle(cr, 0, 0, WIDE, HIGH);
  cairo_clip(cr);
  scene_draw(p->scene, &now, &view, cr, WIDE, HIGH, p->dark ? &theme_dark : &theme_light);
  cairo_restore(cr);
  stage_free(&stage);
}

static void draw_sheet(cairo_t *cr, double width, double height, const void *data) {
  (void)width;
  (void)height;
  (void)data;
  theme_use(cr, theme_light.axis, 1);
  cairo_paint(cr);
  for (int k = 0; k < COLUMNS * ROWS; k++) draw_picture(cr, &PICTURES[k], k);
}

int main(int argc, char **argv) {
  Error error = {0};
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE.png\n", argv[0]);
    return 2;
  }
  if (surface_save(argv[1], GAP + COLUMNS * (WIDE + GAP), GAP + ROWS * (HIGH + GAP), draw_sheet, NULL, &(SurfaceMetadata){.title = "Tilewalk: the scenes"}, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 2;
  }
  return 0;
}
