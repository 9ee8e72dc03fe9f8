/* Programs of one's own, which no C knows: right ones are told, sinks have a place, and two broken ones are caught.
 * Their bytes through L2: tests/model/test_own_l2.c. */
#include "tests/support/test.h"

#include "sim/numbers/program_check.h"
#include "tests/support/attention_run.h"
#include "tests/support/drawing.h"
#include "tests/support/own_programs.h"
#include "viz/scene/scene.h"

static Attention *run_numbers(const Program *program, const Shape *shape, const Tiling *tiling) {
  Plan plan;
  size_t bytes;
  Attention *a;
  Cursor cursor = {0};
  const AttentionConfig config = {0};
  must(plan_make(&plan, shape, tiling, NULL));
  must(attention_bytes(&plan, program, &bytes, NULL));
  must(attention_start(malloc(bytes), &plan, program, &config, &a, NULL));
  attention_fill(a, INPUT_NORMAL, 7, 0, 0);
  must(attention_walk(a, program, &cursor, UINT64_MAX, NULL));
  return a;
}

static double error_of(const Attention *a) {
  double scratch[64];
  return attention_accuracy(a, NULL, scratch).largest;
}

/* What is shipped, and what another wrote with care, is told to be right. */
TEST(right_ones_are_told) {
  char verdict[PROGRAM_CHECK_BYTES];
  for (int k = 0; k < N_SCHEDULES; k++)
    if (!program_check(SCHEDULES[k], NULL, verdict)) fail_msg("%s", verdict);
  /* One Q for all heads: O is attention once, not once a head. G without h, of a Q with it: the sum over the heads. */
  char *one = own_text(OWN_GROUPED, "_hi", "_i"),
       *by_formula = own_text(one, "attention(Q, K, V)", "softmax(mask(Q K^T / sqrt(d))) V");
  char *sum = own_text(OWN_COLUMNS, "G_j: B_c x d", "G_j = mask(Q K^T / sqrt(d), 0)^T Q");
  const char *const own[] = {OWN_REVERSED, OWN_FUSED, OWN_SPARSE, OWN_GROUPED, one, by_formula, sum};
  EACH (k, own) {
    Program *p = own_program(own[k]);
    if (!program_check(p, NULL, verdict)) fail_msg("%s", verdict);
    free(p);
  }
  free(one), free(by_formula), free(sum);
}

/* A page without a maximum has no m where a sink would begin: it is refused. What has a place is tried, and a cap has
 * one wherever scores are scaled. */
TEST(sinks_have_a_place_or_are_refused) {
  static const char NO_PLACE[] = "algorithm bold\ntitle Without the maximum\nsummary scores as they are\nsource none\n"
                                 "kernel forward\n  for every row block i\n    load Q_i\n    O_i, l_i = 0\n"
                                 "    for each column block j of i\n      load K_j\n      load V_j\n"
                                 "      S = Q_i K_j^T / sqrt(d)\n      mask S\n      P = e^S\n"
                                 "      l_i += row sum of P; O_i += P V_j\n    O_i = O_i / l_i\n    store O_i\n";
  char verdict[PROGRAM_CHECK_BYTES];
  const SoftmaxConfig both = {.has_sink = true, .sink = 1.5, .softcap = 2};
  for (int k = 0; k < N_SCHEDULES; k++)
    if (!program_check(SCHEDULES[k], &both, verdict)) fail_msg("%s", verdict);
  assert_non_null(strstr(verdict, "with a sink of 1.5 and scores capped at 2"));
  Program *p = own_program(NO_PLACE);
  must_refuse(evaluate_takes(p, &both, fresh_error()), STATUS_BAD_REQUEST, "a sink has no place");
  assert_false(program_check(p, &both, verdict));
  assert_int_equal(strncmp(verdict, "O was not tried: ", 17), 0);
  must(evaluate_takes(p, &(SoftmaxConfig){.softcap = 2}, NULL));
  free(p);
}

/* A forgotten rescale runs, and is seen: its O is not attention, and the scene of the softmax says so. */
TEST(a_forgotten_rescale_is_seen) {
  Program *p = own_program(OWN_FORGETFUL);
  const Shape shape = {.N_q = 64, .d = 16};
  const Tiling tiling = {.B_r = 16, .B_c = 8};
  Attention *a = run_numbers(p, &shape, &tiling);
  assert_true(error_of(a) > 0.05);
  free(a);
  char verdict[PROGRAM_CHECK_BYTES];
  assert_false(program_check(p, NULL, verdict));
  assert_int_equal(strncmp(verdict, "O is wrong: without a mask, row ", 32), 0);
  const StageConfig config = {
      .problem = {.shape = shape, .tiling = tiling, .machine = machine_paper()}, .schedule = p, .seed = 7};
  Stage stage;
  int n_wrong = 0, n_right = 0;
  must(stage_make(&stage, &config, NULL));
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1280, 720);
  for (uint64_t step = 1; step < stage.n_steps; step++) {
    Snapshot now;
    DrawnTexts *drawn = calloc(1, sizeof *drawn);
    const SceneView view = {0};
    stage_snapshot(&stage, step, &now);
    if (now.row.phase == ROW_FINISHED) {
      assert_true(letter_set_tap(surface, drawn_text_tap, drawn));
      cairo_t *cr = cairo_create(surface);
      scene_draw(SCENE_SOFTMAX, &now, &view, cr, 1280, 720, &theme_light);
      cairo_destroy(cr);
      for (int k = 0; k < drawn->n; k++) {
        n_wrong += strcmp(drawn->items[k].text, "O is wrong") == 0;
        n_right += strncmp(drawn->items[k].text, "O is right", 10) == 0;
      }
    }
    free(drawn);
  }
  assert_true(n_wrong >= 4 && n_right <= 2); /* a row whose maximum comes first is right */
  cairo_surface_destroy(surface);
  stage_free(&stage);
  free(p);
}

TEST(a_value_used_before_it_is_loaded_is_refused) {
  Program p;
  assert_int_equal(program_read(&p, ALL_OF(OWN_TOO_EARLY), "mine.walk", fresh_error()), STATUS_BAD_FILE);
  assert_string_equal(test_error.message,
                      "mine.walk:11: 'V_j' is used before it is loaded; put 'load V_j' above this line");
}
