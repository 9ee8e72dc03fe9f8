/* The shipped programs against the schedules that were written by hand before them: events, closed forms, loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/algorithms/schedule.h"
#include "tests/support/old_schedule.h"
#include "tests/support/rand.h"

/* A hand-written event hides the block that a tile does not depend on; a program's carries all loops around it. */
static void assert_same_event(const Event *old, const Event *now) {
  Event seen = *now;
  seen.line = seen.op = 0;
  if (old->i < 0) seen.i = -1, seen.row0 = seen.row1 = 0;
  if (old->j < 0) seen.j = -1, seen.col0 = seen.col1 = 0;
  if (old->i < 0 || old->j < 0) seen.tile = old->tile;
  assert_memory_equal(old, &seen, sizeof seen);
}

static void assert_same_walk(const OldSchedule *old, const Schedule *s, const Plan *plan) {
  OldCursor old_cursor = {0};
  Cursor cursor = {0};
  Event was, is;
  while (old->next(plan, &old_cursor, &was)) {
    assert_true(schedule_next(s, plan, &cursor, &is));
    assert_same_event(&was, &is);
  }
  assert_false(schedule_next(s, plan, &cursor, &is));
}

static void assert_same_totals(const OldSchedule *old, const Schedule *s, const Plan *plan) {
  Traffic was = {0}, is;
  bool overflow = false;
  old->traffic(plan, &was, &overflow);
  schedule_traffic(s, plan, &is, &overflow);
  assert_true(traffic_equal(&was, &is));
  const OldLoads loaded = old->loads(plan);
  const LoadsPerBlock loads = schedule_loads(s, plan);
  assert_int_equal(loaded.Q, loads.of[TENSOR_Q]);
  assert_int_equal(loaded.K, loads.of[TENSOR_K]);
  assert_int_equal(loaded.V, loads.of[TENSOR_V]);
  assert_true(old->intermediate_bytes(plan, &overflow) == schedule_intermediate_bytes(s, plan, &overflow));
  const SramTiles tiles = schedule_sram(s);
  assert_memory_equal(&tiles, &old->sram, sizeof tiles);
}

static Plan random_plan(Rand *r) {
  Shape shape = {.N_q = rand_in(r, 1, 60), .N_k = rand_in(r, 1, 60), .d = rand_in(r, 1, 9)};
  shape.causal = rand_in(r, 0, 1);
  if (rand_in(r, 0, 1)) shape.N_k = shape.N_q;
  if (rand_in(r, 0, 2) == 0) shape.window = rand_in(r, 1, 40);
  const Tiling tiling = {
      .B_r = rand_in(r, 1, 17), .B_c = rand_in(r, 1, 17), .n_splits = rand_in(r, 1, 5), .lse = rand_in(r, 0, 1)};
  Plan plan;
  assert_int_equal(plan_make(&plan, &shape, &tiling, NULL), STATUS_OK);
  return plan;
}

static void programs_do_what_was_written_by_hand(void **state) {
  (void)state;
  Rand r = {7};
  for (int n = 0; n < 500; n++) {
    const Plan plan = random_plan(&r);
    for (int k = 0; k < N_OLD_SCHEDULES; k++) {
      const Schedule *s = schedule_find(OLD_SCHEDULES[k]->name);
      assert_non_null(s);
      assert_same_walk(OLD_SCHEDULES[k], s, &plan);
      assert_same_totals(OLD_SCHEDULES[k], s, &plan);
    }
  }
}

/* N = 2^31, and a causal mask: the closed forms agree where nothing can be walked. */
static void totals_agree_at_any_size(void **state) {
  (void)state;
  for (int causal = 0; causal < 2; causal++) {
    const Shape shape = {.N_q = (int64_t)1 << 31, .d = 128, .causal = causal};
    const Tiling tiling = {.B_r = 128, .B_c = 96, .n_splits = 3, .lse = true};
    Plan plan;
    assert_int_equal(plan_make(&plan, &shape, &tiling, NULL), STATUS_OK);
    for (int k = 0; k < N_OLD_SCHEDULES; k++)
      assert_same_totals(OLD_SCHEDULES[k], schedule_find(OLD_SCHEDULES[k]->name), &plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_do_what_was_written_by_hand),
      cmocka_unit_test(totals_agree_at_any_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
