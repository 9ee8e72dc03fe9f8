/* Requests of every kind for tests of scenes, and the words of a drawing. Include it in one file of a test
 * program. */
#ifndef TILEWALK_TESTS_SUPPORT_SCENE_CASES_H
#define TILEWALK_TESTS_SUPPORT_SCENE_CASES_H

#include "tests/support/drawing.h"
#include "viz/scene/scene_cache.h"
#include "viz/scene/scene.h"
#include "tests/support/fonts.h"
#include "tests/support/scene_hits.h"
#include "viz/export/surface.h"

typedef struct {
  const char *algorithm;
  Shape shape;
  Tiling tiling;
  bool has_l2; /* on a GPU with 60 MiB of it */
} Case;

static const Case CASES[] = {
    {"fa2", {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, false},
    {"fa1", {.N_q = 64, .d = 16}, {.B_r = 16, .B_c = 8}, false},
    {"standard", {.N_q = 64, .d = 16}, {.B_r = 8, .B_c = 8}, false},
    {"fa2-split", {.N_q = 1, .N_k = 4096, .d = 128}, {.B_r = 1, .B_c = 64, .n_splits = 4}, false},
    {"fa2", {.N_q = 65536, .d = 128, .causal = true}, {.B_r = 64, .B_c = 64}, false},
    {"fa1", {.N_q = 200, .d = 24, .window = 40}, {.B_r = 16, .B_c = 16}, false},
    {"fa2", {.N_q = 8, .d = 4, .causal = true}, {.B_r = 2, .B_c = 2}, false},
    {"standard", {.N_q = 4096, .d = 128, .causal = true}, {.B_r = 128, .B_c = 128}, true},
    {"fa2", {.N_q = 4096, .d = 128, .heads = 16}, {.B_r = 128, .B_c = 128}, true},
    {"fa1", {.N_q = 65536, .d = 128}, {.B_r = 64, .B_c = 64}, true},
    {"fa2-split", {.N_q = 65536, .d = 128, .causal = true}, {.B_r = 64, .B_c = 64, .n_splits = 8}, false},
    {"standard", {.N_q = 4096, .d = 128}, {.B_r = 512, .B_c = 512}, false}, /* more than SRAM holds */
};
enum { N_CASES = COUNT_OF(CASES) };

static inline Stage open_case(const Case *c) {
  Stage stage;
  StageConfig config = {.problem = {.shape = c->shape, .tiling = c->tiling, .machine = machine_paper()},
                        .schedule = schedule_find(c->algorithm)};
  gpu_paper(&config.gpu);
  if (c->has_l2) {
    config.gpu.l2_bytes = 60 << 20;
    config.gpu.l2_partitions = 2;
  }
  must(stage_make(&stage, &config, fresh_error()));
  return stage;
}

static SceneMemo *memo;

static inline DrawnTexts *draw_pieces(SceneKind scene, const Snapshot *now, const SceneView *view, int width,
                                      int height) {
  DrawnTexts *all = calloc(1, sizeof *all);
  SceneView kept = *view;
  if (!memo) memo = memo_new();
  assert_true(all && memo);
  kept.memo = memo;
  assert_true(letter_set_tap(scratch(), drawn_text_tap, all));
  cairo_t *cr = cairo_create(scratch());
  cairo_translate(cr, 0.5, 0); /* what is not at whole pixels is drawn, not copied */
  scene_draw(scene, now, &kept, cr, width, height, &theme_light);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  letter_set_tap(scratch(), NULL, NULL);
  return all;
}

static inline int let_go(void **state) {
  memo_free(memo);
  let_go_of_scratch();
  return let_go_of_fonts(state);
}

#endif
