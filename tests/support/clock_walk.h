/* CTAs that read granule after granule, for tests of sim/l2/clock.h. */
#ifndef TILEWALK_TESTS_SUPPORT_CLOCK_WALK_H
#define TILEWALK_TESTS_SUPPORT_CLOCK_WALK_H

#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/scan_table.h"
#include "tests/support/two_in_waves.h"

/* All CTAs read the same granules, one after the other. */
typedef struct {
  uint64_t n;
  double work_cycles;
  uint64_t at[32]; /* of each CTA */
} Walk;

static inline bool walk(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  Walk *w = context;
  *next = (ClockStep){.n_reads = 1, .reads = {w->at[cta]}, .work_cycles = w->work_cycles};
  return w->at[cta]++ < w->n;
}

static inline ClockResult run(const ClockConfig *config, ClockProgram *program, void *context) {
  ClockResult result;
  must(clock_run(config, program, context, &result, fresh_error()));
  return result;
}

static inline ClockConfig steady(uint64_t n_granules, uint32_t n_ctas) {
  return (ClockConfig){.hierarchy = {.kinds = {{n_granules, 16384}}},
                       .n_ctas = n_ctas,
                       .cta_wait_spread = -1,
                       .cta_work_spread = -1,
                       .request_spread = -1,
                       .jitter_cycles = -1,
                       .code_fetch_cycles = -1,
                       .side_start_cycles = -1};
}

/* Every time of memory's, to be told from each other in a sum: 1400 cycles for what comes from HBM's far half. */
static inline ClockConfig timed(uint64_t n_granules, uint32_t n_ctas) {
  ClockConfig config = steady(n_granules, n_ctas);
  config.hit_cycles = 500, config.crowding_cycles = 100, config.miss_cycles = 600, config.far_cycles = 200;
  return config;
}

/* Work alone. */
typedef struct {
  uint32_t n, at[2];
  double work_cycles;
} Steps;

static inline bool work_alone(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  Steps *s = context;
  next->work_cycles = s->work_cycles;
  return s->at[cta]++ < s->n;
}

#endif
