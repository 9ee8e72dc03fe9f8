/* For tests of sim/l2/clock.h: CTAs of an SM that work alone, and are replaced by others, wave after wave; or go on,
 * where nothing is handed over. */
#ifndef TILEWALK_TESTS_SUPPORT_TWO_IN_WAVES_H
#define TILEWALK_TESTS_SUPPORT_TWO_IN_WAVES_H

#include "sim/l2/clock.h"

enum { TWO_WAVES_MOST = 64 };

typedef struct {
  uint32_t waves, steps; /* steps: of each CTA */
  double work_cycles, handover_cycles;
  uint32_t at[3];
  bool ended[3];
  double ends[3][TWO_WAVES_MOST]; /* when the last work of each wave was done; or a step of the other's that is under
                                     way ends later */
} TwoInWaves;

static inline bool two_in_waves(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  TwoInWaves *w = context;
  const uint32_t step = w->at[cta], wave = step / w->steps;
  if (step > 0 && step % w->steps == 0 && !w->ended[cta]) {
    w->ends[cta][wave - 1] = clock_so_far(clock).cycles;
    w->ended[cta] = true;
    *next = (ClockStep){.wait_cycles = w->handover_cycles, .is_replaced = true};
    if (w->handover_cycles > 0 || wave == w->waves) return wave < w->waves;
  }
  w->ended[cta] = false;
  *next = (ClockStep){.work_cycles = w->work_cycles};
  return w->at[cta]++ < w->waves * w->steps;
}

#endif
