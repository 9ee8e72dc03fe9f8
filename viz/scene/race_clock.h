/* How long a run takes up to a step, for the race's clock of time.
 *
 *     kernel by kernel    max(bytes / HBM, / L2, / SRAM, FLOPs / rate, exponentials / rate)    one after the other
 *
 * Modelled: the bound of sim/machine/timing.h at each step: what is furthest behind binds, at peak rates. The amounts
 * of a whole run are those of simulation_own_work, and a part of them has happened with the same part of the bytes, or
 * of the FLOPs. At the end it is `bound_s` of `tilewalk sim`: where one SM has more to do than its share, every step
 * takes so much longer. Not modelled: latency, gaps between kernels; exponentials go with the products. */
#ifndef TILEWALK_VIZ_SCENE_RACE_CLOCK_H
#define TILEWALK_VIZ_SCENE_RACE_CLOCK_H

#include "sim/simulate.h"

/* What is the same at every step of a run. */
typedef struct {
  TimeWork work;
  Traffic whole;
  double whole_bytes, stretch;
  double whole_s; /* 0: no rate of the machine is known */
} RaceClock;
RaceClock race_clock(const Simulation *run, const Gpu *gpu);

/* Seconds for the first `step` events. Never falls with the step. */
double race_clock_s(const RaceClock *clock, const Simulation *run, const Gpu *gpu, uint64_t step);

/* The last step that no more than `seconds` are over at. */
uint64_t race_clock_step(const RaceClock *clock, const Simulation *run, const Gpu *gpu, double seconds);

#endif
