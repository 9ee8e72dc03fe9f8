/* Streams of events that are not what they should be: noticed, or refused without a change. */
#include "tests/support/test.h"
#include "tests/support/attention_run.h"
#include "tests/support/implied.h"

/* ---- streams that are not what they should be ---- */

/* Leaving out an event that brings, computes or stores something must show: refused, or a wrong result. */
static bool matters(const Attention *a, const Event *e) {
  const double *l = attention_stored(a, "l_i", 0).values;
  const double *lse = attention_part_in_hbm(a, "stats", e->split).values;
  switch (e->kind) {
  case EVENT_LOAD:
    if (e->tensor == IMPLIED_Q && e->split > 0) return false; /* still there from the split before */
    if (e->tensor == IMPLIED_O || e->tensor == IMPLIED_STATS) /* what fa1 loads first are zeros */
      return !l || l[e->row0] != 0;
    return true;
  case EVENT_ACCUMULATE: /* an empty split, or a wholly masked tile in standard, adds nothing */
    if (e->col0 == e->col1) return lse[e->row0] != -INFINITY;
    return band_tile(&a->plan.band, e->row0, e->row1, e->col0, e->col1) != TILE_SKIPPED;
  case EVENT_NORMALISE: /* nothing to divide, or a division by 1 */
    if (e->tensor == IMPLIED_P) return true;
    return !attention_row(a, e->row0) || (attention_row(a, e->row0)->l != 0 && attention_row(a, e->row0)->l != 1);
  case EVENT_PRODUCT:
  case EVENT_MASK: return true;
  case EVENT_STORE: return e->tensor != IMPLIED_STATS || lse || isnan(l[e->row0]); /* fa1's last: not needed */
  default: return false; /* a maximum that does not move may be left out */
  }
}

/* Runs without event number `dropped`; true when that was noticed. */
static bool notices(const char *algorithm, uint64_t dropped, bool *mattered) {
  const Shape shape = {.N_q = 12, .N_k = 12, .d = 3, .window = 4};
  const Tiling tiling = {.B_r = 4, .B_c = 4, .n_splits = 2};
  Run run = open_run(algorithm, &shape, &tiling, &(AttentionConfig){0});
  attention_fill(run.attention, INPUT_NORMAL, 21, 0, 0);
  Event event;
  bool noticed = false;
  *mattered = false;
  while (schedule_next(run.schedule, &run.attention->plan, &run.cursor, &event)) {
    if (event.step == dropped)
      *mattered = matters(run.attention, &event);
    else if (attention_apply(run.attention, &event, NULL) != STATUS_OK)
      noticed = true;
    if (noticed) break;
  }
  if (!noticed) noticed = !(run_accuracy(&run, NULL).largest < 1e-9);
  close_run(&run);
  return noticed;
}

TEST(a_stream_that_lacks_a_step_is_noticed) {
  const char *const names[] = {"standard", "fa1", "fa2", "fa2-split"};
  for (int n = 0; n < 4; n++) {
    bool mattered;
    int n_mattered = 0;
    assert_false(notices(names[n], UINT64_MAX, &mattered));
    for (uint64_t step = 0; step < 200; step++) {
      const bool noticed = notices(names[n], step, &mattered);
      n_mattered += mattered;
      if (mattered && !noticed) fail_msg("%s without event %d passes", names[n], (int)step);
    }
    assert_true(n_mattered > 40);
  }
}

TEST(events_that_cannot_be_are_refused_and_change_nothing) {
  const Shape shape = {.N_q = 8, .N_k = 8, .d = 2};
  const Tiling tiling = {.B_r = 4, .B_c = 4};
  Run run = open_run("fa2", &shape, &tiling, &(AttentionConfig){0});
  attention_walk(run.attention, run.schedule, &run.cursor, 3, NULL); /* up to the first product */
  Event good;
  Cursor cursor = run.cursor;
  assert_true(schedule_next(run.schedule, &run.attention->plan, &cursor, &good));
  assert_true(good.kind == EVENT_NEW_MAX && good.step == 3);
  Event bad[15];
  int n = 0;
  for (int i = 0; i < 15; i++) bad[i] = good;
  bad[n++].kind = EVENT_KIND_COUNT;
  bad[n++].tensor = IMPLIED_COUNT;
  bad[n++].row0 = -1;
  bad[n++].row1 = 9;
  bad[n++].row1 = 5; /* a row more than a tile has */
  bad[n++].col0 = -4;
  bad[n++].col1 = 12;
  bad[n++].split = 1;
  bad[n++].i = -1;
  bad[n++].col1 = 8;
  bad[n++].i = 1; /* another row block, whose scores are not there */
  bad[n++] = (Event){.kind = EVENT_STORE, .tensor = IMPLIED_K, .row1 = 4, .col1 = 4};
  bad[n++] = (Event){.kind = EVENT_STORE, .tensor = IMPLIED_S, .row1 = 4, .col1 = 4};
  bad[n++] = (Event){.kind = EVENT_STORE, .tensor = IMPLIED_STATS, .row1 = 4, .bytes = 48};
  bad[n++] = (Event){.kind = EVENT_ACCUMULATE, .tensor = IMPLIED_O, .row1 = 4, .col1 = 4};
  assert_int_equal(n, 15);
  const size_t bytes = attention_state_bytes(run.attention);
  void *before = malloc(bytes);
  memcpy(before, run.attention, bytes);
  for (int i = 0; i < n; i++) {
    Error error = {0};
    assert_int_equal(attention_apply(run.attention, &bad[i], &error), STATUS_BAD_REQUEST);
    assert_true(strncmp(error.message, "event ", 6) == 0 && !strchr(error.message, '\n'));
    assert_memory_equal(run.attention, before, bytes);
  }
  assert_int_equal(attention_apply(run.attention, &good, NULL), STATUS_OK);
  free(before);
  close_run(&run);
}

TEST(impossible_sizes_are_refused_in_one_line) {
  const struct {
    const char *algorithm;
    Shape shape;
    bool fits;
  } cases[] = {
      {"fa2", {.N_q = 1 << 20, .d = 64}, sizeof(void *) == 8},
      {"standard", {.N_q = 1 << 20, .d = 64}, false},
      {"standard", {.N_q = 1 << 14, .d = 64}, sizeof(void *) == 8},
      {"fa2", {.N_q = (int64_t)1 << 40, .d = 1 << 16}, false},
      {"fa2-split", {.N_q = (int64_t)1 << 40, .d = 1 << 16}, false},
      {"standard", {.N_q = (int64_t)1 << 40, .d = 1 << 16}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const Tiling tiling = {.B_r = 64, .B_c = 64, .n_splits = 1 << 16};
    Plan plan;
    Error error = {0};
    size_t bytes = 0;
    assert_int_equal(plan_make(&plan, &cases[i].shape, &tiling, NULL), STATUS_OK);
    const Status status = attention_bytes(&plan, schedule_find(cases[i].algorithm), &bytes, &error);
    assert_int_equal(status, cases[i].fits ? STATUS_OK : STATUS_TOO_LARGE);
    if (cases[i].fits) {
      /* Four matrices; standard two more of N x N. The rest is SRAM. */
      const uint64_t N = (uint64_t)cases[i].shape.N_q;
      uint64_t least = 4 * N * 64 * 8;
      if (cases[i].algorithm[0] == 's') least += 2 * N * N * 8;
      assert_true(bytes > least && bytes < least + 300000);
    } else {
      Attention *attention = NULL;
      assert_non_null(strstr(error.message, "use a smaller N"));
      assert_int_equal(
          attention_start(NULL, &plan, schedule_find(cases[i].algorithm), &(AttentionConfig){0}, &attention, NULL),
          STATUS_TOO_LARGE);
      assert_null(attention);
      assert_true(bytes == 0);
    }
  }
}
