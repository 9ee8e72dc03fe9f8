/* Scenes with an idea of their own tell that; whether sentences are true is tested in test_sentences.c. */
#include "viz/scene/narration.h"
#include "viz/scene/scene.h"

#include "tests/support/test.h"

typedef struct {
  const char *algorithm;
  Shape shape;
  Tiling tiling;
} Case;

static const Case CAUSAL = {"fa2", {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}};

static Stage open_case(const Case *c) {
  Stage stage;
  Error error = {0};
  const StageConfig config = {.problem = {.shape = c->shape, .tiling = c->tiling, .machine = machine_paper()},
                              .schedule = schedule_find(c->algorithm),
                              .lone_row = true};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  return stage;
}

/* Rows of K of 256 bytes begin in the same bank: eight lanes wait for each other, and a swizzle of 128 bytes parts
 * them. Rows of 32 bytes: every fourth comes back to the first bank, two lanes share each. */
TEST(test_warps_share_banks) {
  static const struct {
    int64_t d;
    const char *words;
  } EXPECTED[] = {{128, "takes 8 passes; swizzled, 1."},
                  {16, "takes 2 passes; swizzled, 1."},
                  {64, "takes 8 passes; swizzled, 1."}};
  for (int k = 0; k < 3; k++) {
    const Case c = {"fa2", {.N_q = 64, .d = EXPECTED[k].d}, {.B_r = 16, .B_c = 16}};
    Stage stage = open_case(&c);
    Snapshot now;
    char text[8192];
    stage_snapshot(&stage, 30, &now);
    assert_non_null(strstr(scene_describe(SCENE_WARP, &now, NULL, text, sizeof text), EXPECTED[k].words));
    stage_free(&stage);
  }
}

/* Walk is the scene of the events themselves: it tells what every one does. */
TEST(test_walk_tells_its_event) {
  Stage stage = open_case(&CAUSAL);
  Snapshot now;
  Narration said;
  stage_snapshot(&stage, 123, &now);
  Narration plain;
  narrate(&now, &plain);
  scene_narrate(SCENE_WALK, &now, NULL, &said);
  assert_string_equal(said.what, plain.what);
  stage_free(&stage);
}
