/* A launch on a GPU that is given, through l2_run.h, for tests. */
#ifndef TILEWALK_TESTS_SUPPORT_L2_RUN_CASE_H
#define TILEWALK_TESTS_SUPPORT_L2_RUN_CASE_H

#include "tests/support/test.h"
#include "sim/l2/l2_run.h"
#include "sim/l2/stream.h"

static const Gpu SMALL = {.name = "small", .n_sm = 6, .warp_size = 32};

typedef struct {
  const Schedule *schedule;
  Plan plan;
  Launch launch;
} Case;

static inline Case make_for(const char *schedule, Shape shape, Tiling tiling, LaunchConfig config, const Gpu *gpu) {
  Case c = {.schedule = schedule_find(schedule)};
  config.block_q = tiling.B_r;
  config.block_k = tiling.B_c;
  config.n_splits = tiling.n_splits;
  config.whole_head = strcmp(schedule, "fa1") == 0;
  must(plan_make(&c.plan, &shape, &tiling, fresh_error()) ||
       launch_make(&c.launch, &shape, &config, gpu, fresh_error()));
  return c;
}

/* Of fa2 in tiles of block x block. */
static inline Case make(Shape shape, int64_t block, LaunchConfig config, const Gpu *gpu) {
  return make_for("fa2", shape, (Tiling){.B_r = block, .B_c = block}, config, gpu);
}

static inline L2Run run(const Case *c, L2RunConfig config) {
  L2Run result;
  must(l2_run(&result, c->schedule, &c->launch, &c->plan, &config, fresh_error()));
  return result;
}

static inline bool differs(double a, double b) { return fabs(a - b) > 1e-9 * (1 + fabs(b)); }

#endif
