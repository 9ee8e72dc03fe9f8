/* The window as a user has it, drawn by software: the time from start to the first frame, of a frame while playing, and
 * from a changed parameter to its frame, each beside clearing and uploading alone in the same run. Then what saving a
 * run of 144 frames as WebP costs. The aims on two cores: 4 ms at the median and 8 ms at the 99th percentile at 1920 x
 * 1080, 16.7 ms at 3840 x 2160, 150 ms to the first frame, 16 ms after a change, 2 s for the WebP. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "viz/export/animation.h"
#include "viz/scene/scene.h"
#include "tests/bench/bench.h"

static void measure_window(const char *what, const char *options) {
  const char *build = getenv("BUILD");
  char command[512], line[256];
  snprintf(command, sizeof command, "SDL_VIDEODRIVER=dummy '%s/tilewalk' view --frames 300 %s", build ? build : "build",
           options);
  fflush(stdout);
  FILE *out = popen(command, "r");
  if (!out) return;
  printf("  %s: ", what);
  while (fgets(line, sizeof line, out)) printf("%s%s", *line == ' ' ? "  " : "", line);
  pclose(out);
}

typedef struct {
  Stage stage;
  Snapshot now;
} Run;

static void draw(cairo_t *cr, double width, double height, uint64_t frame, void *data) {
  Run *run = data;
  const SceneView view = {0};
  stage_snapshot(&run->stage, frame, &run->now);
  scene_draw(SCENE_WALK, &run->now, &view, cr, width, height, &theme_light);
}

static void draw_nothing(cairo_t *cr, double width, double height, uint64_t frame, void *data) {
  (void)width, (void)height, (void)data;
  cairo_set_source_rgb(cr, frame % 2 ? 1 : 0.9, 1, 1);
  cairo_paint(cr);
}

static void save(const char *what, AnimationDraw *draws, Run *run, const char *path) {
  const Animation a = {.width = 1280, .height = 720, .n_frames = 144, .title = "Tilewalk", .draw = draws, .data = run};
  Error error = {0};
  const double wall = 1e3 * now_s(), cpu = 1e3 * cpu_s();
  if (animation_save(path, &a, &error))
    printf("  %s: %s\n", what, error.message);
  else
    printf("  %s: %.0f ms, CPU %.0f ms\n", what, 1e3 * now_s() - wall, 1e3 * cpu_s() - cpu);
}

int main(void) {
  static Run run;
  char folder[] = "/tmp/tilewalk-bench-XXXXXX", path[64];
  printf("the window, software rendering\n");
  measure_window("N 64, d 16, B 8", "--size 1920x1080");
  measure_window("N 64, d 16, B 8", "--size 3840x2160");
  measure_window("N 65536, d 128, B 64", "--size 1920x1080 -N 65536 -d 128 --block 64 --causal");
  const StageConfig config = {.problem = {.shape = {.N_q = 64, .d = 16, .causal = true},
                                          .tiling = {.B_r = 8, .B_c = 8},
                                          .machine = machine_paper()},
                              .schedule = schedule_find("fa2")};
  if (stage_make(&run.stage, &config, NULL) || !mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/run.webp", folder);
  save("144 frames of 1280 x 720 as WebP", draw, &run, path);
  save("the same of an empty page", draw_nothing, &run, path);
  unlink(path);
  rmdir(folder);
  stage_free(&run.stage);
  return 0;
}
