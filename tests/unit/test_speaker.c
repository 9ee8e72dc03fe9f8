/* The speaker's page: what it says is what the scene will say. */
#include "viz/scene/speaker.h"

#include "tests/support/snapshot_stage.h"
#include "tests/support/fonts.h"
#include "tests/support/canvas.h"
#include "viz/text/lettering.h"

enum { W = 1280, H = 720 };

typedef struct {
  char all[16384];
  double least_size; /* of the page's own words, left of what the class sees */
} Words;

static void take(void *data, cairo_t *cr, const LetterPiece *piece) {
  Words *w = data;
  double x = piece->x, y = piece->y;
  cairo_user_to_device(cr, &x, &y);
  const size_t used = strlen(w->all);
  snprintf(w->all + used, sizeof w->all - used, "%s\n", piece->text);
  if (x < 0.6 * W && piece->lettering->size < w->least_size) w->least_size = piece->lettering->size;
}

static Words *words_at(const Stage *stage, SceneKind scene, uint64_t step, double elapsed_s) {
  Snapshot now;
  Words *words = calloc(1, sizeof *words);
  assert_non_null(words);
  words->least_size = H;
  stage_snapshot(stage, step, &now);
  const SpeakerPage page = {.stage = stage, .scene = scene, .now = &now, .elapsed_s = elapsed_s, .state = "N=64"};
  cairo_t *cr = canvas(CAIRO_FORMAT_A8, 1, 1);
  letter_set_tap(cairo_get_target(cr), take, words);
  speaker_draw(&page, cr, W, H, &theme_light);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  return words;
}

static void expect(const Words *words, const char *text) { assert_has(words->all, text); }

static Stage open_small(void) {
  return open_stage("fa2", &(Shape){.N_q = 64, .d = 16, .causal = true}, &(Tiling){.B_r = 8, .B_c = 8});
}

/* fa2, N = 64 in tiles of 8, causal. Row block i has a load of Q, six events for each of its i full tiles, seven for
 * the masked one, two at the end and one for each of 7 - i skipped tiles: 17 + 5 i. So block 4 begins after 4 x 17 + 5
 * x 6 = 98 events, and its fourth tile with event 98 + 1 + 3 x 6 = 117, counted from 0: step 122 has loaded its V. Next
 * is the product. */
TEST(test_what_comes) {
  Stage stage = open_small();
  Snapshot next;
  Narration said;
  Words *words = words_at(&stage, SCENE_WALK, 122, 75);
  stage_snapshot(&stage, 123, &next);
  narrate(&next, &said);
  expect(words, said.what);
  expect(words, "1:15");
  expect(words, "step 122 of 276");
  assert_true(words->least_size >= H / 50.0);
  free(words);
  for (int scene = 0; scene < SCENE_COUNT; scene++) {
    words = words_at(&stage, (SceneKind)scene, 60, -1);
    stage_snapshot(&stage, 61, &next);
    scene_narrate((SceneKind)scene, &next, NULL, &said); /* it may be broken into lines */
    expect(words, test_text("%.16s", said.what));
    free(words);
  }
  stage_free(&stage);
}

/* At the end nothing is next. */
TEST(test_the_end) {
  Stage stage = open_small();
  Words *words = words_at(&stage, SCENE_SOFTMAX, stage.n_steps, 3725);
  expect(words, "1:02:05");
  assert_null(strstr(words->all, "Next\n"));
  free(words);
  stage_free(&stage);
}

GROUP(NULL, let_go_of_fonts)
