/* The scene of heads and splits: what it says is what the launch is, and a part is there once its store has happened.
 */
#include "tests/support/implied.h"
#include "viz/scene/scene.h"

#include "tests/support/test.h"
#include "viz/text/lettering.h"

enum { W = 1280, H = 720 };

static Stage open_run(const char *algorithm, Shape shape, Tiling tiling, int n_sm) {
  Stage stage;
  Error error = {0};
  StageConfig config = {.problem = {.shape = shape, .tiling = tiling, .machine = machine_paper()},
                        .schedule = schedule_find(algorithm)};
  gpu_paper(&config.gpu);
  config.gpu.n_sm = n_sm;
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  return stage;
}

/* ---- Words --------------------------------------------------------------------------------------------------- */

typedef struct {
  char all[8192];
} Words;

static void take(void *data, cairo_t *cr, const LetterPiece *piece) {
  Words *w = data;
  (void)cr;
  const size_t used = strlen(w->all);
  snprintf(w->all + used, sizeof w->all - used, "%s\n", piece->text);
}

static bool says(const Stage *stage, uint64_t step, const char *text) {
  Snapshot now;
  Words words = {""};
  const SceneView view = {0};
  stage_snapshot(stage, step, &now);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  letter_set_tap(surface, take, &words);
  cairo_t *cr = cairo_create(surface);
  scene_draw(SCENE_DECODE, &now, &view, cr, W, H, &theme_light);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  if (!strstr(words.all, text)) print_message("not '%s' in:\n%s", text, words.all);
  return strstr(words.all, text) != NULL;
}

/* 32 heads of 8 KV heads. fa2: a CTA for each, and each reads K and V for itself. fa2-split packs four heads as the
 * rows of a tile, and in 4 parts on 132 SMs 8 CTAs become 32. A part of a pack is 4 x 128 numbers and 4 statistics in
 * fp32, written and read back: 4 parts of 2 x (2,048 + 16) bytes, 16,512. */
TEST(test_says_what_the_launch_is) {
  const Shape shape = {.N_q = 1, .N_k = 4096, .d = 128, .heads = 32, .kv_heads = 8};
  Stage split = open_run("fa2-split", shape, (Tiling){.B_r = 4, .B_c = 64, .n_splits = 4}, 132);
  assert_int_equal(split.run.plan.shape.group, 4);
  assert_true(says(&split, 0, "\n32\n"));
  assert_true(says(&split, 0, "8 of 132 SMs"));
  assert_true(says(&split, 0, "32 of 132 SMs"));
  assert_true(says(&split, 0, "16.13 KiB"));
  assert_true(says(&split, 0, "heads 4–7"));
  assert_true(says(&split, 0, "packed as rows of a tile\n4 heads"));
  stage_free(&split);
  Stage whole = open_run("fa2", shape, (Tiling){.B_r = 1, .B_c = 64}, 132);
  assert_true(says(&whole, 0, "\n32\n"));
  assert_true(says(&whole, 0, "makes 32, for 132 SMs."));
  assert_true(says(&whole, 0, "… and 24 heads more"));
  assert_true(says(&whole, 0, "read the same K and V\n4 heads"));
  stage_free(&whole);
}

/* ---- Parts ----------------------------------------------------------------------------------------------------- */

static bool is_filled(cairo_surface_t *surface, const SceneBody *leaf) {
  const unsigned char *p = cairo_image_surface_get_data(surface) +
                           ((int)leaf->y + 3) * cairo_image_surface_get_stride(surface) + 4 * ((int)leaf->x + 4);
  const Colour waiting = theme_light.background;
  return p[0] != waiting.blue || p[1] != waiting.green || p[2] != waiting.red;
}

/* All CTAs store their parts at their end: the leaves are filled once an event has stored the last of them. */
TEST(test_parts_are_there_once_stored) {
  enum { SPLITS = 4 };
  Stage stage = open_run("fa2-split", (Shape){.N_q = 16, .N_k = 256, .d = 16, .heads = 2},
                         (Tiling){.B_r = 8, .B_c = 16, .n_splits = SPLITS}, 132);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, W, H);
  SceneBodies *bodies = calloc(1, sizeof *bodies);
  Cursor cursor = {0};
  Event e;
  bool stored[2][SPLITS] = {{false}};
  assert_non_null(bodies);
  while (schedule_next(stage.run.schedule, &stage.run.plan, &cursor, &e)) {
    if (e.kind == EVENT_STORE && e.tensor == IMPLIED_O && e.pass == 0) stored[e.i][e.split] = true;
    if (cursor.step % 5 && e.kind != EVENT_STORE) continue;
    if (e.kind == EVENT_STORE && e.pass == 0 && e.tensor != IMPLIED_O) continue; /* between its two stores */
    Snapshot now;
    stage_snapshot(&stage, cursor.step, &now);
    const SceneView view = {.bodies = bodies};
    bodies->n = 0;
    cairo_t *cr = cairo_create(surface);
    scene_draw(SCENE_DECODE, &now, &view, cr, W, H, &theme_light);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    int n_leaves = 0;
    for (int k = 0; k < bodies->n; k++) {
      if (bodies->bodies[k].kind != BODY_HOME) continue;
      if (is_filled(surface, &bodies->bodies[k]) != stored[1][SPLITS - 1])
        fail_msg("step %d: part %d of row block %d", (int)cursor.step, n_leaves, (int)e.i);
      n_leaves++;
    }
    assert_int_equal(n_leaves, SPLITS);
  }
  free(bodies);
  cairo_surface_destroy(surface);
  stage_free(&stage);
}

/* fontconfig 2.14 keeps one pattern of 288 bytes for good. Asked by the leak checker, where there is one. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig"; }
