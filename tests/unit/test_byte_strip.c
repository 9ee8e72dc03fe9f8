/* Bytes over time against a plain sum over the events. */
#include "tests/support/test.h"
#include "viz/request/request.h"
#include "viz/scene/byte_strip.h"
#include "viz/scene/byte_strip_view.h"

static Stage open_state(const char *state) {
  Request request = {0};
  Error error = {0};
  Stage stage = {0};
  if (request_read(&request, state, false, &error) || request_stage(&request, false, 0, &stage, &error))
    fail_msg("%s: %s", state, error.message);
  return stage;
}

/* Bytes of a band's tensors before each step are those of the events before it. */
static void check_run(const StripRun *run, const char *where) {
  double *sums = calloc((size_t)run->n_steps + 1, sizeof *sums);
  assert_non_null(sums);
  for (int b = 0; b < run->n; b++) {
    Cursor cursor = {0};
    Event e;
    double own = 0;
    uint64_t step = 0;
    for (; schedule_next(run->schedule, &run->plan, &cursor, &e); step++) { /* sums: of this band and those below */
      sums[step] += own;
      if (e.tensor == run->tensors[b]) own += (double)e.bytes;
    }
    assert_int_equal(step, run->n_steps);
    sums[step] += own;
    for (int k = 0; k <= STRIP_POINTS; k++) {
      const uint64_t at = (uint64_t)((double)k / STRIP_POINTS * (double)run->n_steps);
      if (run->tops[b][k] != sums[at]) fail_msg("%s: band %d, point %d", where, b, k);
    }
  }
  for (int k = 0; k <= 50; k++) /* all tensors are in some band */
    assert_true((double)strip_bytes(run, k / 50.0) == sums[(uint64_t)(k / 50.0 * (double)run->n_steps)]);
  free(sums);
}

TEST(test_points_are_sums_of_events) {
  static const char *const STATES[] = {"algorithm=fa2 N=64 d=16 block=8 causal=1",
                                       "algorithm=standard N=200 d=24 block=16",
                                       "algorithm=fa1 N=96 d=16 block=16 causal=1",
                                       "algorithm=fa2-split N=1 seq-len-k=1024 d=32 splits=4 block=64",
                                       "algorithm=fa2-backward N=128 d=16 block=16",
                                       "algorithm=linear N=128 d=16 block=16 causal=1",
                                       "algorithm=fa2 N=3 d=2 block=1"};
  static const bool HAS_BEHIND[] = {true, false, true, true, true, false, true};
  for (size_t k = 0; k < sizeof STATES / sizeof *STATES; k++) {
    Stage stage = open_state(STATES[k]);
    ByteStrip *strip = malloc(sizeof *strip);
    Snapshot *now = malloc(sizeof *now);
    assert_true(strip && now);
    stage_snapshot(&stage, 0, now);
    byte_strip_make(strip, now);
    check_run(&strip->shown, STATES[k]);
    if (strip->has_behind != HAS_BEHIND[k]) fail_msg("%s: behind %d", STATES[k], strip->has_behind);
    if (strip->has_behind) check_run(&strip->behind, STATES[k]);
    stage_snapshot(&stage, stage.n_steps / 3, now);
    assert_true(strip_bytes(&strip->shown, (double)now->step / (double)now->n_steps) == now->total_bytes);
    free(now);
    free(strip);
    stage_free(&stage);
  }
}

/* By hand, N = 1,024, d = 64, tiles of 128 in fp16: K and V 8 times 128 KiB, Q and O once; standard moves S and P out
 * and in, 2 MiB each time. */
TEST(test_known_sums) {
  Stage stage = open_state("algorithm=fa2 N=1024 d=64 block=128");
  ByteStrip *strip = malloc(sizeof *strip);
  Snapshot *now = malloc(sizeof *now);
  assert_true(strip && now);
  stage_snapshot(&stage, 0, now);
  byte_strip_make(strip, now);
  assert_int_equal(strip->shown.n, 4); /* K, V, Q, O */
  const double mib = 1 << 20, expected[] = {1, 2, 2.125, 2.25};
  for (int b = 0; b < 4; b++) assert_true(strip->shown.tops[b][STRIP_POINTS] == expected[b] * mib);
  assert_true(strip->most == 8.5 * mib);
  free(now);
  free(strip);
  stage_free(&stage);
}

/* The strip lies at the foot of the page, 96 pixels high at 1080p, and the cursor stands where the step is. */
TEST(test_where_it_lies) {
  const SceneView view = {0};
  const Box strip = scene_strip(&view, 1920, 1080);
  assert_true(strip.x == 36 && strip.x + strip.width == 1884);
  assert_true(strip.height >= 94 && strip.height <= 98 && strip.y + strip.height <= 1080);
  assert_true(scene_strip(&view, 300, 200).height == 0);
  const SceneView bare = {.bare = true};
  assert_true(scene_strip(&bare, 1920, 1080).height == 0);
}
