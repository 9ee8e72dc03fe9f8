/* Narration: each statement of each program has its sentence in each situation that occurs, every sentence of the table
 * occurs, and its numbers are those of the run. */
#include "viz/scene/narration.h"
#include "viz/scene/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sanitized.h"
#include "viz/text/number.h"

typedef struct {
  const char *algorithm;
  Shape shape;
  Tiling tiling;
  bool without_max;
} Case;

static const Case CASES[] = {
    {"fa2", {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, false},
    {"fa2", {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8, .lse = true}, true},
    {"fa2", {.N_q = 96, .d = 16, .window = 10}, {.B_r = 16, .B_c = 8}, false},
    {"fa2", {.N_q = 40, .d = 8, .causal = true}, {.B_r = 16, .B_c = 4}, false},
    {"fa1", {.N_q = 64, .d = 16, .causal = true}, {.B_r = 16, .B_c = 8}, false},
    {"fa1", {.N_q = 60, .d = 16}, {.B_r = 16, .B_c = 16}, true},
    {"standard", {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, false},
    {"standard", {.N_q = 64, .d = 16}, {.B_r = 8, .B_c = 8}, true},
    {"fa2-split", {.N_q = 16, .N_k = 256, .d = 16}, {.B_r = 8, .B_c = 16, .n_splits = 4}, false},
    {"fa2", {.N_q = 65536, .d = 128, .causal = true}, {.B_r = 1024, .B_c = 1024}, false}, /* no row is computed */
    {"fa2-split", {.N_q = 65536, .d = 128}, {.B_r = 4096, .B_c = 4096, .n_splits = 2}, false},
};
enum { N_CASES = sizeof CASES / sizeof *CASES };

static Stage open_case(const Case *c) {
  Stage stage;
  Error error = {0};
  const StageConfig config = {.problem = {.shape = c->shape, .tiling = c->tiling, .machine = machine_paper()},
                              .schedule = schedule_find(c->algorithm),
                              .without_max = c->without_max,
                              .lone_row = true};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  return stage;
}

static void check_sentence(const Case *c, uint64_t step, const char *text) {
  const size_t n = strlen(text);
  if (n < 12 || n + 1 >= NARRATION_BYTES || strpbrk(text, "{}") || strstr(text, "  ") || strstr(text, "[-1"))
    fail_msg("%s, step %d: '%s'", c->algorithm, (int)step, text);
  if (text[n - 1] != '.' && text[n - 1] != '?') fail_msg("%s, step %d: '%s' has no end", c->algorithm, (int)step, text);
  /* A sentence is read while a tile travels: a dozen words or so. */
  int words = 1;
  for (size_t k = 0; k < n; k++) words += text[k] == ' ';
  if (words > 25) fail_msg("%s, step %d: %d words: '%s'", c->algorithm, (int)step, words, text);
}

static void test_every_situation_has_its_sentence(void **state) {
  (void)state;
  bool *seen = calloc((size_t)narration_n_situations(), sizeof *seen);
  for (int c = 0; c < N_CASES; c++) {
    Stage stage = open_case(&CASES[c]);
    for (uint64_t step = 0; step <= stage.n_steps; step++) {
      Snapshot now;
      Narration said;
      stage_snapshot(&stage, step, &now);
      narrate(&now, &said);
      check_sentence(&CASES[c], step, said.what);
      check_sentence(&CASES[c], step, said.why);
      const int which = narration_situation(&now);
      if (strcmp(narration_situation_name(which), "other") == 0)
        fail_msg("%s, step %d: nothing is said of this event", CASES[c].algorithm, (int)step);
      seen[which] = true;
    }
    stage_free(&stage);
  }
  for (int k = 0; k < narration_n_situations(); k++)
    if (!seen[k] && strcmp(narration_situation_name(k), "other") != 0)
      fail_msg("no run comes to '%s'", narration_situation_name(k));
  free(seen);
}

static const char *what_at(const Stage *stage, uint64_t step, Narration *said, Snapshot *now) {
  stage_snapshot(stage, step, now);
  narrate(now, said);
  return said->what;
}

/* The largest score of a tile, and whether it is above all before, from the definition. */
static void test_larger_scores_are_told_from_others(void **state) {
  (void)state;
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  Narration said;
  int n = 0;
  for (uint64_t step = 1; step <= stage.n_steps; step++) {
    const char *what = what_at(&stage, step, &said, &now);
    if (now.event.kind != EVENT_NEW_MAX) continue;
    double before = -INFINITY, here = -INFINITY;
    for (int64_t k = 0; k < now.line.n; k++) {
      double *best = k < now.line.n_past ? &before : &here;
      if (now.line.scores[k] > *best) *best = now.line.scores[k];
    }
    const bool is_new = strstr(what, "larger score arrived") || strstr(what, "new maximum");
    if (isfinite(before) && isfinite(here)) assert_int_equal(is_new, here > before);
    if (is_new) n++;
  }
  assert_true(n > 5);
  stage_free(&stage);
}

/* At the end the bytes that are told are those of simulate(), and all that skips spared is what the mask saves. */
static void test_numbers_are_those_of_the_run(void **state) {
  (void)state;
  for (int c = 0; c < N_CASES; c++) {
    Stage stage = open_case(&CASES[c]);
    Snapshot now;
    Narration said;
    what_at(&stage, stage.n_steps, &said, &now);
    assert_non_null(strstr(said.why, number_bytes(stage.run.total_bytes).text));
    Wide spared = 0;
    for (uint64_t step = 1; step <= stage.n_steps; step++) {
      stage_snapshot(&stage, step, &now);
      const bool ends = now.skips.n > 0 && (!now.has_next || now.next.kind != EVENT_SKIP || now.next.i != now.event.i);
      if (ends && !now.grid.column_by_column) spared += now.skips.bytes;
    }
    if (!now.grid.column_by_column && now.grid.skips && CASES[c].tiling.n_splits == 0)
      assert_true(spared == now.dense_bytes - now.whole_bytes);
    stage_free(&stage);
  }
}

/* Rows of K of 256 bytes begin in the same bank: eight lanes wait for each other, and a swizzle of 128 bytes parts
 * them. Rows of 32 bytes: every fourth comes back to the first bank, two lanes share each. */
static void test_warps_share_banks(void **state) {
  (void)state;
  static const struct {
    int64_t d;
    const char *words;
  } EXPECTED[] = {{128, "takes 8 passes; swizzled, 1."},
                  {16, "takes 2 passes; swizzled, 1."},
                  {64, "takes 8 passes; swizzled, 1."}};
  for (int k = 0; k < 3; k++) {
    const Case c = {"fa2", {.N_q = 64, .d = EXPECTED[k].d}, {.B_r = 16, .B_c = 16}, false};
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
static void test_scenes_tell_their_idea(void **state) {
  (void)state;
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  Narration said;
  stage_snapshot(&stage, 123, &now);
  scene_narrate(SCENE_CHARTS, &now, NULL, &said);
  assert_string_equal(said.what, "fa2 moves 22 KiB; standard moves 1.82x as much.");
  assert_string_equal(said.why, "6.55 FLOPs a byte: below 201 HBM is the bottleneck.");
  scene_narrate(SCENE_TIMELINE, &now, NULL, &said);
  assert_string_equal(said.what, "CTA 4 of 8 is at 25 of its 34 steps.");
  assert_non_null(strstr(said.why, "the GPU waits for the longest"));
  Narration plain;
  narrate(&now, &plain);
  scene_narrate(SCENE_TILES, &now, NULL, &said);
  assert_string_equal(said.what, plain.what);
  stage_free(&stage);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenes_tell_their_idea),
      cmocka_unit_test(test_every_situation_has_its_sentence),
      cmocka_unit_test(test_larger_scores_are_told_from_others),
      cmocka_unit_test(test_numbers_are_those_of_the_run),
      cmocka_unit_test(test_warps_share_banks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
