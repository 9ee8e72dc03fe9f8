/* The traffic of a prefix in closed form, against adding up events one by one. */
#include "tests/support/rand.h"
#include "viz/scene/prefix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_all_prefixes(const Schedule *s, const Shape *shape, const Tiling *tiling) {
  Plan plan;
  Error error = {0};
  assert_int_equal(plan_make(&plan, shape, tiling, &error), STATUS_OK);
  Cursor cursor = {0};
  Event event;
  Traffic folded = {0}, closed;
  for (uint64_t step = 0;; step++) {
    prefix_traffic(s, &plan, step, &closed);
    if (!traffic_equal(&folded, &closed))
      fail_msg("%s N %d x %d d %d B %d x %d causal %d window %d splits %d lse %d: differs at step %d", s->name,
               (int)shape->N_q, (int)shape->N_k, (int)shape->d, (int)tiling->B_r, (int)tiling->B_c, shape->causal,
               (int)shape->window, (int)tiling->n_splits, tiling->lse, (int)step);
    if (!schedule_next(s, &plan, &cursor, &event)) break;
    traffic_add(&folded, &event);
  }
}

/* Every step of random shapes: ragged, N below B, causal, windows, splits, more keys than queries. */
static void test_prefix_equals_fold(void **state) {
  (void)state;
  Rand r = {20};
  for (int n = 0; n < 400; n++) {
    Shape shape = {.N_q = rand_in(&r, 1, 40), .N_k = rand_in(&r, 1, 40), .d = rand_in(&r, 1, 9)};
    Tiling tiling = {.B_r = rand_in(&r, 1, 12), .B_c = rand_in(&r, 1, 12), .n_splits = rand_in(&r, 1, 5)};
    shape.causal = rand_in(&r, 0, 1);
    if (rand_in(&r, 0, 2) == 0) shape.window = rand_in(&r, 1, 20);
    tiling.lse = rand_in(&r, 0, 1);
    for (int k = 0; k < N_SCHEDULES; k++) assert_all_prefixes(SCHEDULES[k], &shape, &tiling);
  }
}

/* A schedule that has no closed forms is folded, with the same result. */
static void test_unknown_schedule(void **state) {
  (void)state;
  Schedule other = *schedule_find("fa2");
  other.name = "another";
  Traffic none;
  Plan plan;
  assert_int_equal(plan_make(&plan, &(Shape){.N_q = 20, .d = 4, .causal = true}, &(Tiling){.B_r = 4, .B_c = 3}, NULL),
                   STATUS_OK);
  assert_false(prefix_at(&other, &plan, 0, 0, 0, &none));
  assert_all_prefixes(&other, &plan.shape, &plan.tiling);
}

/* N = 2^20 in blocks of 64: the last step is the closed form of the whole run. */
static void test_large(void **state) {
  (void)state;
  for (int k = 0; k < N_SCHEDULES; k++) {
    Plan plan;
    Traffic whole = {0}, prefix;
    bool overflow = false;
    assert_int_equal(plan_make(&plan, &(Shape){.N_q = 1 << 20, .d = 128, .causal = true},
                               &(Tiling){.B_r = 64, .B_c = 64, .n_splits = 7}, NULL),
                     STATUS_OK);
    SCHEDULES[k]->traffic(&plan, &whole, &overflow);
    prefix_traffic(SCHEDULES[k], &plan, (uint64_t)whole.steps, &prefix);
    assert_true(traffic_equal(&whole, &prefix));
    prefix_traffic(SCHEDULES[k], &plan, UINT64_MAX / 2, &prefix); /* beyond the end is the end */
    assert_true(traffic_equal(&whole, &prefix));
  }
}

/* The last step at or below so many bytes, against a walk. */
static void test_step_of_bytes(void **state) {
  (void)state;
  for (int k = 0; k < N_SCHEDULES; k++) {
    Plan plan;
    assert_int_equal(plan_make(&plan, &(Shape){.N_q = 23, .d = 4, .causal = true},
                               &(Tiling){.B_r = 5, .B_c = 4, .n_splits = 2}, NULL),
                     STATUS_OK);
    const uint64_t n = (uint64_t)schedule_n_steps(SCHEDULES[k], &plan);
    for (Wide bytes = 0; bytes < 9000; bytes += 37) {
      Cursor cursor = {0};
      Event event;
      Wide sum = 0;
      uint64_t last = 0;
      while (schedule_next(SCHEDULES[k], &plan, &cursor, &event) && (sum += event.bytes) <= bytes) last = cursor.step;
      assert_int_equal(prefix_step_of_bytes(SCHEDULES[k], &plan, n, bytes), last);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_prefix_equals_fold),
      cmocka_unit_test(test_unknown_schedule),
      cmocka_unit_test(test_large),
      cmocka_unit_test(test_step_of_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
