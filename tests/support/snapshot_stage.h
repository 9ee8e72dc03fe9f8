/* A stage of a schedule, for tests of snapshots. */
#ifndef TILEWALK_TESTS_SUPPORT_SNAPSHOT_STAGE_H
#define TILEWALK_TESTS_SUPPORT_SNAPSHOT_STAGE_H

#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "viz/scene/snapshot.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/attention_run.h"
#include "viz/request/request.h"

static inline Stage open_stage(const char *algorithm, const Shape *shape, const Tiling *tiling) {
  Stage stage;
  const StageConfig config = {.problem = {.shape = *shape, .tiling = *tiling, .machine = machine_paper()},
                              .schedule = schedule_find(algorithm),
                              .seed = 7};
  must(stage_make(&stage, &config, fresh_error()));
  return stage;
}

/* Of a state line. */
static inline Stage open_line(const char *line) {
  Request request = {0};
  Stage stage = {0};
  if (request_read(&request, line, false, fresh_error()) || request_stage(&request, &stage, fresh_error()))
    fail_msg("%s: %s", line, test_error.message);
  return stage;
}

static inline void random_problem(Rand *r, Shape *shape, Tiling *tiling) {
  *shape =
      (Shape){.N_q = rand_in(r, 1, 24), .N_k = rand_in(r, 1, 24), .d = rand_in(r, 1, 9), .causal = rand_in(r, 0, 1)};
  if (rand_in(r, 0, 2) == 0) shape->window = rand_in(r, 1, 12);
  shape->dtype = (Dtype)rand_in(r, 0, DTYPE_COUNT - 1);
  *tiling =
      (Tiling){.B_r = rand_in(r, 1, 7), .B_c = rand_in(r, 1, 7), .n_splits = rand_in(r, 1, 3), .lse = rand_in(r, 0, 1)};
}

/* A stage of every schedule for each of so many random problems. */
static inline void each_random_stage(uint64_t seed, int n_problems, void check(const Stage *)) {
  Rand r = {seed};
  while (n_problems-- > 0) {
    Shape shape;
    Tiling tiling;
    random_problem(&r, &shape, &tiling);
    for (int k = 0; k < N_SCHEDULES; k++) {
      Stage stage = open_stage(SCHEDULES[k]->name, &shape, &tiling);
      check(&stage);
      stage_free(&stage);
    }
  }
}

#endif
