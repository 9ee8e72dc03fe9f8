/* The traffic of a prefix in closed form, against adding up events one by one. */
#include "tests/support/rand.h"
#include "sim/algorithms/walk/place.h"
#include "tests/support/implied.h"

#include "tests/support/test.h"

static void assert_all_prefixes(const Schedule *s, const Shape *shape, const Tiling *tiling) {
  Plan plan;
  must(plan_make(&plan, shape, tiling, fresh_error()));
  Cursor cursor = {0};
  Event event;
  Traffic folded = {0}, closed;
  for (uint64_t step = 0;; step++) {
    place_traffic(s, &plan, step, &closed);
    if (!traffic_equal(&folded, &closed))
      fail_msg("%s N %d x %d d %d B %d x %d causal %d window %d splits %d lse %d: differs at step %d", s->name,
               (int)shape->N_q, (int)shape->N_k, (int)shape->d, (int)tiling->B_r, (int)tiling->B_c, shape->causal,
               (int)shape->window, (int)tiling->n_splits, tiling->lse, (int)step);
    Cursor sought;
    assert_true(schedule_seek(s, &plan, &sought, step));
    const bool more = schedule_next(s, &plan, &cursor, &event);
    Event again = {0};
    assert_int_equal(schedule_next(s, &plan, &sought, &again), more);
    if (!more) break;
    assert_memory_equal(&again, &event, sizeof event);
    const int64_t n = place_cta_of(s, &plan, &event); /* by the loops' indices; a CTA's steps by dividing n */
    const PlaceSteps cta = place_cta(s, &plan, event.pass, n);
    assert_true(n < place_n_ctas(s, &plan, event.pass) && step >= cta.begin && step < cta.end);
    traffic_add(&folded, s, &event);
  }
}

/* Every step of random shapes: ragged, N below B, causal, windows, splits, more keys than queries. */
TEST(test_prefix_equals_fold) {
  Rand r = {20};
  for (int n = 0; n < 150; n++) {
    Shape shape = {.N_q = rand_in(&r, 1, 40), .N_k = rand_in(&r, 1, 40), .d = rand_in(&r, 1, 9)};
    Tiling tiling = {.B_r = rand_in(&r, 1, 12), .B_c = rand_in(&r, 1, 12), .n_splits = rand_in(&r, 1, 5)};
    shape.causal = rand_in(&r, 0, 1);
    if (rand_in(&r, 0, 2) == 0) shape.window = rand_in(&r, 1, 20);
    tiling.lse = rand_in(&r, 0, 1);
    tiling.reversed = rand_in(&r, 0, 1);
    shape.top_left = rand_in(&r, 0, 3) == 0;
    if (rand_in(&r, 0, 3) == 0) {
      shape.sided = true;
      shape.left = rand_in(&r, -1, 12);
      shape.right = rand_in(&r, -1, 12);
    }
    Pattern *pattern = NULL;
    const char *name = test_text("strided:%d:%d", (int)rand_in(&r, 1, 4), (int)rand_in(&r, 1, 9));
    if (rand_in(&r, 0, 2) == 0)
      shape.pattern = pattern = pattern_named(name, (PatternMatrix){shape.N_q, shape.N_k, false}, NULL);
    for (int k = 0; k < N_SCHEDULES; k++) assert_all_prefixes(SCHEDULES[k], &shape, &tiling);
    free(pattern);
  }
}

/* N = 2^20 in blocks of 64: the last step is the closed form of the whole run. */
TEST(test_large) {
  for (int k = 0; k < N_SCHEDULES; k++) {
    Plan plan;
    Traffic whole = {0}, prefix;
    bool overflow = false;
    must(plan_make(&plan, &(Shape){.N_q = 1 << 20, .d = 128, .causal = true},
                   &(Tiling){.B_r = 64, .B_c = 64, .n_splits = 7}, NULL));
    schedule_traffic(SCHEDULES[k], &plan, &whole, &overflow);
    place_traffic(SCHEDULES[k], &plan, (uint64_t)whole.steps, &prefix);
    assert_true(traffic_equal(&whole, &prefix));
    place_traffic(SCHEDULES[k], &plan, UINT64_MAX / 2, &prefix); /* beyond the end is the end */
    assert_true(traffic_equal(&whole, &prefix));
  }
}

/* Any count that differs makes them differ. */
TEST(test_traffic_that_differs) {
  Traffic a, b;
  EACH (k, a.tiles) {
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    assert_true(traffic_equal(&a, &b));
    b.tiles[k] = 1;
    assert_false(traffic_equal(&a, &b));
  }
  memset(&b, 0, sizeof b);
  b.read[IMPLIED_O] = 1;
  assert_false(traffic_equal(&a, &b));
}

/* The last step at or below so many bytes, against a walk. */
TEST(test_step_of_bytes) {
  for (int k = 0; k < N_SCHEDULES; k++) {
    Plan plan;
    must(plan_make(&plan, &(Shape){.N_q = 23, .d = 4, .causal = true}, &(Tiling){.B_r = 5, .B_c = 4, .n_splits = 2},
                   NULL));
    for (Wide bytes = 0; bytes < 9000; bytes += 37) {
      Cursor cursor = {0};
      Event event;
      Wide sum = 0;
      uint64_t last = 0;
      while (schedule_next(SCHEDULES[k], &plan, &cursor, &event) && (sum += event.bytes) <= bytes) last = cursor.step;
      assert_int_equal(place_of_bytes(SCHEDULES[k], &plan, bytes), last);
    }
  }
}
