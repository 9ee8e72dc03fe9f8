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
                              .schedule = schedule_find(c->algorithm)};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  return stage;
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
