/* Streams of events that are not what they should be: noticed, or refused without a change. */
#include "tests/support/test.h"
#include "tests/support/attention_run.h"
#include "tests/support/implied.h"

/* ---- streams that are not what they should be ---- */

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
    assert_int_equal(attention_apply(run.attention, &bad[i], fresh_error()), STATUS_BAD_REQUEST);
    assert_true(strncmp(test_error.message, "event ", 6) == 0 && !strchr(test_error.message, '\n'));
    assert_memory_equal(run.attention, before, bytes);
  }
  must(attention_apply(run.attention, &good, NULL));
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
  EACH (i, cases) {
    const Tiling tiling = {.B_r = 64, .B_c = 64, .n_splits = 1 << 16};
    Plan plan;
    size_t bytes = 0;
    must(plan_make(&plan, &cases[i].shape, &tiling, NULL));
    const Status status = attention_bytes(&plan, schedule_find(cases[i].algorithm), &bytes, fresh_error());
    assert_int_equal(status, cases[i].fits ? STATUS_OK : STATUS_TOO_LARGE);
    if (cases[i].fits) {
      /* Four matrices; standard two more of N x N. The rest is SRAM. */
      const uint64_t N = (uint64_t)cases[i].shape.N_q;
      uint64_t least = 4 * N * 64 * 8;
      if (cases[i].algorithm[0] == 's') least += 2 * N * N * 8;
      assert_true(bytes > least && bytes < least + 300000);
    } else {
      Attention *attention = NULL;
      assert_said("use a smaller N");
      assert_int_equal(
          attention_start(NULL, &plan, schedule_find(cases[i].algorithm), &(AttentionConfig){0}, &attention, NULL),
          STATUS_TOO_LARGE);
      assert_null(attention);
      assert_true(bytes == 0);
    }
  }
}
