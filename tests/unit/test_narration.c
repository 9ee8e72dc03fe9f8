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

/* Scenes with an idea of their own tell that. fa2, N = 64, d = 16, causal, tiles of 8: 36 of 64 tiles of 2 x 8 x 8 x 32
 * FLOPs are 147,456, and Q and O of 2 KiB each with 2 x 36 tiles of 256 bytes are 22 KiB: 6.55 FLOPs a byte, and 312
 * TFLOP/s over 1,555 GB/s are 201. Row block 4 takes Q, six events for each of four tiles, seven for the masked one,
 * and two at the end: 34. Event 123 is the last of its fourth tile: 1 + 4 x 6. */
TEST(test_scenes_tell_their_idea) {
  Stage stage = open_case(&CAUSAL);
  Snapshot now;
  Narration said;
  stage_snapshot(&stage, 123, &now);
  scene_narrate(SCENE_TIMELINE, &now, NULL, &said);
  assert_string_equal(said.what, "CTA 5 of 8 is at 25 of its 34 steps.");
  assert_non_null(strstr(said.why, "the GPU waits for the longest"));
  Narration plain;
  narrate(&now, &plain);
  scene_narrate(SCENE_TILES, &now, NULL, &said);
  assert_string_equal(said.what, plain.what);
  stage_free(&stage);
}
