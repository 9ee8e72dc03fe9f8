/* Motion, measured over what is drawn: most steps of Walk move, and nothing jumps. */
#include "tests/support/implied.h"
#include "tests/support/sanitized.h"
#include "tests/support/scene_cases.h"

enum { W = 1280, H = 720, STEPS = 40, BETWEEN = 4, FINE = 32 };

enum { USED = 4 }; /* of CASES: forward, by keys, three laps, parts */

static const uint64_t NO_STEP = UINT64_MAX;

/* The picture of a moment, and what moves in it. *now is made anew where it is of another step. */
static void draw(const Stage *stage, uint64_t step, double fraction, int width, int height, cairo_surface_t *to,
                 Snapshot *now, SceneBodies *bodies) {
  const SceneMoment at = scene_moment(step, fraction);
  if (now->step != at.step) stage_snapshot(stage, at.step, now);
  bodies->n = 0;
  const SceneView view = {.phase = at.phase, .bodies = bodies};
  cairo_t *cr = cairo_create(to);
  scene_draw(SCENE_WALK, now, &view, cr, width, height, &theme_light);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_flush(to);
  assert_true(bodies->n < SCENE_BODIES_MAX);
}

/* Of four pictures between two steps, do any two neighbours differ? */
static bool step_moves(const Stage *stage, uint64_t step, cairo_surface_t *surfaces[2], SceneBodies *bodies) {
  Snapshot now = {.step = NO_STEP};
  const size_t bytes = (size_t)cairo_image_surface_get_stride(surfaces[0]) * H / 2;
  for (int k = 0; k < BETWEEN; k++) {
    draw(stage, step, (k + 1) / (BETWEEN + 1.0), W / 2, H / 2, surfaces[k % 2], &now, bodies);
    if (k > 0 && memcmp(cairo_image_surface_get_data(surfaces[0]), cairo_image_surface_get_data(surfaces[1]), bytes))
      return true;
  }
  return false;
}

TEST(test_most_steps_move) {
  SceneBodies *bodies = calloc(1, sizeof *bodies);
  cairo_surface_t *surfaces[2];
  for (int k = 0; k < 2; k++) surfaces[k] = cairo_image_surface_create(CAIRO_FORMAT_RGB24, W / 2, H / 2);
  int moving = 0, n = 0;
  for (int c = 0; c < USED; c++) {
    Stage stage = open_case(&CASES[c]);
    for (int k = 0; k < STEPS; k += ONE_OF, n++) /* 40 steps of each */
      moving += step_moves(&stage, (uint64_t)k * stage.n_steps / STEPS, surfaces, bodies);
    stage_free(&stage);
  }
  assert_true(10 * moving > 9 * n);
  for (int k = 0; k < 2; k++) cairo_surface_destroy(surfaces[k]);
  free(bodies);
}

/* How far a body is from where a body of its tensor was in the picture before. */
static double displacement(const SceneBody *a, const SceneBody *b) {
  const double dx = fabs(a->x + a->width / 2 - b->x - b->width / 2),
               dy = fabs(a->y + a->height / 2 - b->y - b->height / 2);
  return dx > dy ? dx : dy;
}

/* Of the same tensor, and P comes out of S. */
static bool is_kin(const SceneBody *a, const SceneBody *b) {
  return a->tensor == b->tensor || (a->tensor == IMPLIED_P && b->tensor == IMPLIED_S);
}

/* The distance to the nearest body from which this one may have come. */
static double nearest(const SceneBody *a, const SceneBodies *before, const SceneBodies *now) {
  double best = INFINITY;
  for (int k = 0; k < now->n; k++) /* homes stay where they are */
    if (now->bodies[k].kind == BODY_HOME && is_kin(a, &now->bodies[k]))
      best = fmin(best, displacement(a, &now->bodies[k]));
  for (int k = 0; k < before->n; k++) {
    const SceneBody *b = &before->bodies[k];
    if (is_kin(a, b) && displacement(a, b) < best) best = displacement(a, b);
  }
  return best;
}

/* Between neighbours of 32 pictures a step, over the step's ends too, nothing that is seen is further from where it was
 * than a tile of the grid is wide: bodies come out of their home in HBM, or fade in. */
TEST(test_nothing_jumps) {
  SceneBodies *bodies[2] = {calloc(1, sizeof *bodies[0]), calloc(1, sizeof *bodies[1])};
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1); /* what moves is noted, not painted */
  const double SIDE = 66; /* of a tile in the scene of tiles: 64 a side, in eight */
  double largest = 0;
  for (int c = 0; c < USED; c++) {
    Stage stage = open_case(&CASES[c]);
    for (int k = 0; k < 12; k += ONE_OF) {
      const uint64_t step = 1 + (uint64_t)k * (stage.n_steps - 3) / 12;
      int current = 0;
      Snapshot at = {.step = NO_STEP};
      draw(&stage, step, 0.02, W, H, surface, &at, bodies[0]);
      for (int f = 1; f < 2 * FINE; f++, current = !current) { /* two steps on */
        draw(&stage, step + (uint64_t)(f / FINE), f % FINE ? (double)(f % FINE) / FINE : 0.001, W, H, surface, &at,
             bodies[!current]);
        const SceneBodies *now = bodies[!current], *before = bodies[current];
        for (int n = 0; n < now->n; n++) {
          const SceneBody *a = &now->bodies[n];
          if (a->kind == BODY_HOME || a->alpha < 0.35) continue;
          const double far = nearest(a, before, now);
          if (far < INFINITY && far > largest) largest = far;
          assert_true(far <= SIDE);
        }
      }
    }
    stage_free(&stage);
  }
  print_message("the largest displacement between neighbours: %.1f units of %d x %d\n", largest, W, H);
  cairo_surface_destroy(surface);
  free(bodies[0]);
  free(bodies[1]);
}

TEST(test_moments) {
  assert_int_equal(scene_moment(122, 0).step, 122);
  assert_true(scene_moment(122, 0).phase == 0);
  assert_int_equal(scene_moment(122, 0.25).step, 123);
  assert_true(scene_moment(122, 0.25).phase == 0.25);
}

GROUP(NULL, let_go)
