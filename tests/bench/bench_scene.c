/* How long a frame takes: a snapshot and its drawing, against the plain cost of clearing a frame and copying it, in
 * the same run. Frames in motion are four to a step, as in playing; leaps are steps far apart, as in scrubbing, where
 * every word is another. The aims: in motion a median of 8 ms at 1920 x 1080 and 16.7 ms at 3840 x 2160. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "viz/scene/scene_cache.h"
#include "viz/scene/scene.h"
#include "tests/bench/bench.h"

enum { FRAMES = 150 };

/* What no frame can be cheaper than: paint the ground, copy the pixels once. */
static double plain_ms(int width, int height) {
  double ms[FRAMES];
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  const size_t n = (size_t)cairo_image_surface_get_stride(surface) * (size_t)height;
  unsigned char *copy = malloc(n);
  volatile unsigned sum = 0;
  for (int k = 0; copy && k < FRAMES; k++) {
    const double start = 1e3 * now_s();
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    memcpy(copy, cairo_image_surface_get_data(surface), n);
    ms[k] = 1e3 * now_s() - start;
    sum += copy[(size_t)k * 997 % n]; /* so that the copy is not left out */
  }
  free(copy);
  cairo_surface_destroy(surface);
  return quantile(ms, FRAMES, 0.5);
}

typedef enum { LEAPS = 0, MOTION } Pace;

static void play(const char *what, const Stage *stage, SceneKind scene, Pace pace, int width, int height) {
  double draw[FRAMES], fold[FRAMES], cpu[FRAMES];
  Snapshot now;
  SceneView view = {.memo = memo_new()};
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  for (int k = 0; k < FRAMES; k++) {
    const double start = 1e3 * now_s(), cpu_start = 1e3 * cpu_s();
    const SceneMoment at = pace == MOTION ? scene_moment(stage->n_steps / 3 + (uint64_t)k / 4, (k % 4 + 0.5) / 4)
                                          : scene_moment(stage->n_steps * (uint64_t)k / FRAMES, 0);
    stage_snapshot(stage, at.step, &now);
    view.phase = at.phase;
    fold[k] = 1e3 * now_s() - start;
    cairo_t *cr = cairo_create(surface);
    scene_draw(scene, &now, &view, cr, width, height, &theme_light);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    draw[k] = 1e3 * now_s() - start;
    cpu[k] = 1e3 * cpu_s() - cpu_start;
  }
  cairo_surface_destroy(surface);
  memo_free(view.memo);
  const double plain = plain_ms(width, height), frame = quantile(draw, FRAMES, 0.5);
  printf("  %-28s %-6s %-10s %4d x %4d  median %6.2f ms, 99th percentile %6.2f ms (CPU %5.2f and %5.2f); snapshot "
         "%6.3f ms; %5.1f x clear and copy (%.2f ms)\n",
         what, pace == MOTION ? "motion" : "leaps", scene_name(scene), width, height, frame,
         quantile(draw, FRAMES, 0.99), quantile(cpu, FRAMES, 0.5), quantile(cpu, FRAMES, 0.99),
         quantile(fold, FRAMES, 0.5), frame / plain, plain);
}

static Stage open_stage(const char *what, const char *algorithm, Shape shape, int64_t block) {
  Stage stage;
  const double start = 1e3 * now_s();
  const StageConfig config = {
      .problem = {.shape = shape, .tiling = {.B_r = block, .B_c = block}, .machine = machine_paper()},
      .schedule = schedule_find(algorithm)};
  if (stage_make(&stage, &config, NULL)) exit(1);
  printf("  %-28s set up in %.2f ms\n", what, 1e3 * now_s() - start);
  return stage;
}

int main(void) {
  printf("scenes, software rendering\n");
  const struct {
    const char *what, *algorithm;
    Shape shape;
    int64_t block;
  } RUNS[] = {{"N 64, d 16, B 8", "fa2", {.N_q = 64, .d = 16, .causal = true}, 8},
              {"N 4096, d 128, B 128", "fa2", {.N_q = 4096, .d = 128, .causal = true}, 128},
              {"N 65536, d 128, B 64", "fa2", {.N_q = 65536, .d = 128, .causal = true}, 64},
              {"N 65536, d 128, B 64, fa1", "fa1", {.N_q = 65536, .d = 128, .causal = true}, 64}};
  for (size_t k = 0; k < COUNT_OF(RUNS); k++) {
    Stage stage = open_stage(RUNS[k].what, RUNS[k].algorithm, RUNS[k].shape, RUNS[k].block);
    for (int pace = LEAPS; pace <= MOTION; pace++) {
      play(RUNS[k].what, &stage, SCENE_WALK, (Pace)pace, 1920, 1080);
      play(RUNS[k].what, &stage, SCENE_WALK, (Pace)pace, 1920, 1080);
    }
    if (k == 2) {
      play(RUNS[k].what, &stage, SCENE_TIME, MOTION, 3840, 2160);
    }
    if (k == 0) {
      for (int scene = SCENE_WALK; scene < SCENE_COUNT; scene++)
        play(RUNS[k].what, &stage, (SceneKind)scene, MOTION, 1920, 1080);
      for (int pace = LEAPS; pace <= MOTION; pace++) play(RUNS[k].what, &stage, SCENE_WALK, (Pace)pace, 3840, 2160);
    }
    stage_free(&stage);
  }
  return 0;
}
