/* The contact sheet of the README: every scene once, light and dark by turns. `make pictures` runs it. */
#include <stdio.h>
#include <stdlib.h>

#include "viz/request/request.h"
#include "viz/export/surface.h"
#include "viz/scene/scene.h"

enum { WIDE = 640, HIGH = 360, GAP = 12, COLUMNS = 2, ROWS = 4 };

typedef struct {
  SceneKind scene;
  const char *state;
  uint64_t step;
  bool dark;
} Picture;

static const Picture PICTURES[COLUMNS * ROWS] = {
    {SCENE_WALK, "algorithm=fa2 N=64 d=16 causal=1 block=8", 122, false},
    {SCENE_WALK, "algorithm=fa2 N=4096 d=128 causal=1 block=128", 2222, true},
    {SCENE_WALK, "algorithm=standard N=1024 d=64 block=128", 132, true},
    {SCENE_SOFTMAX, "algorithm=fa2 N=64 d=16 block=8", 388, false},
    {SCENE_WALK, "algorithm=fa1 N=64 d=16 causal=1 block=8", 240, false},
    {SCENE_PILES, "algorithm=standard,fa2 N=4096 d=128 block=128", 3000, true},
    {SCENE_TIME, "algorithm=fa2 N=4096 d=128 block=128 causal=1 heads=16 gpu=h200", 1700, true},
    {SCENE_WALK, "algorithm=fa2-backward N=1024 d=64 block=128", 100, false},
};

static Status open_stage(const char *state, Stage *stage, Error *error) {
  Request request = {0};
  const Status status = request_read(&request, state, false, error);
  return status ? status : request_stage(&request, stage, error);
}

static void draw_picture(cairo_t *cr, const Picture *p, int place) {
  Stage stage;
  Snapshot now;
  Error error = {0};
  const SceneView view = {.presentation = true};
  if (open_stage(p->state, &stage, &error)) {
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
  if (surface_save(argv[1], GAP + COLUMNS * (WIDE + GAP), GAP + ROWS * (HIGH + GAP), draw_sheet, NULL,
                   &(SurfaceMetadata){.title = "Tilewalk: the scenes"}, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 2;
  }
  return 0;
}
