/* Plans of small problems, for tests that walk them event by event. For tests that include cmocka.h. */
#ifndef TILEWALK_TESTS_SUPPORT_RANDOM_PLAN_H
#define TILEWALK_TESTS_SUPPORT_RANDOM_PLAN_H

#include "sim/problem/plan.h"
#include "tests/support/rand.h"

enum { MAX_N = 48 };

static inline Plan random_plan(Rand *r, Dtype dtype) {
  static const int64_t D[] = {1, 3, 16, 20, 64, 128};
  Shape shape = {.N_q = rand_in(r, 1, MAX_N),
                 .N_k = rand_in(r, 1, MAX_N),
                 .d = D[rand_in(r, 0, 5)],
                 .dtype = dtype,
                 .causal = rand_in(r, 0, 1)};
  if (rand_in(r, 0, 3) == 0) shape.N_k = shape.N_q;
  if (rand_in(r, 0, 2) == 0) shape.window = rand_in(r, 1, MAX_N + 8);
  const Tiling tiling = {
      .B_r = rand_in(r, 1, 20), .B_c = rand_in(r, 1, 20), .n_splits = rand_in(r, 1, 6), .lse = rand_in(r, 0, 1)};
  Plan plan;
  must(plan_make(&plan, &shape, &tiling, NULL));
  return plan;
}

#endif
