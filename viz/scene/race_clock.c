#include "viz/scene/race_clock.h"

#include <math.h>

#include "sim/algorithms/walk/place.h"

static double bytes_of(const Traffic *t) {
  bool overflow = false;
  return (double)(traffic_read_bytes(t, &overflow) + traffic_write_bytes(t, &overflow));
}

static double part(double some, double all) { return all > 0 ? some / all : 0; }

/* Parts of the whole run's bytes and FLOPs take as long as the slowest unit takes for them. */
static double slowest_s(const TimeWork *work, const Gpu *gpu, double bytes, double flops) {
  const double amounts[TIME_PART_COUNT] = {[TIME_HBM] = work->hbm_bytes * bytes,
                                           [TIME_L2] = work->l2_bytes * bytes,
                                           [TIME_SRAM] = work->sram_bytes * bytes,
                                           [TIME_MATH] = work->flops * flops,
                                           [TIME_EXP] = work->exps * flops};
  double most = 0;
  for (int k = 0; k < TIME_PART_COUNT; k++) {
    const double rate = timing_rate(gpu, (TimePart)k, work->dtype);
    if (rate > 0) most = fmax(most, amounts[k] / rate);
  }
  return most;
}

static double kernels_s(const RaceClock *c, const Simulation *run, const Gpu *gpu, uint64_t step) {
  const Schedule *s = run->schedule;
  const Plan *plan = &run->plan;
  Traffic before = {0};
  double seconds = 0;
  for (uint64_t from = 0; from < step;) { /* kernel by kernel */
    const PlaceSteps pass = place_steps(s, plan, from, PLACE_PASS);
    const uint64_t to = pass.end > from && pass.end < step ? pass.end : step;
    Traffic after;
    place_traffic(s, plan, to, &after);
    seconds += slowest_s(&c->work, gpu, part(bytes_of(&after) - bytes_of(&before), c->whole_bytes),
                         part((double)(after.flops - before.flops), (double)c->whole.flops));
    before = after;
    from = to;
  }
  return seconds;
}

static uint64_t end_of(const Simulation *run) { return (uint64_t)schedule_n_steps(run->schedule, &run->plan); }

/* Where some SM has more to do than its share, all of the run takes so much longer. */
RaceClock race_clock(const Simulation *run, const Gpu *gpu) {
  RaceClock c = {.work = simulation_own_work(run, gpu)};
  bool overflow = false;
  schedule_traffic(run->schedule, &run->plan, &c.whole, &overflow);
  c.whole_bytes = bytes_of(&c.whole);
  const double whole = kernels_s(&c, run, gpu, end_of(run));
  c.stretch = whole > 0 ? (run->timed ? run->timing.run.bound_s : timing_bound(&c.work, gpu).bound_s) / whole : 1;
  c.whole_s = whole * c.stretch;
  return c;
}

double race_clock_s(const RaceClock *c, const Simulation *run, const Gpu *gpu, uint64_t step) {
  return kernels_s(c, run, gpu, step) * c->stretch;
}

uint64_t race_clock_step(const RaceClock *c, const Simulation *run, const Gpu *gpu, double seconds) {
  uint64_t low = 0, high = end_of(run); /* low is in time; at high it is too late */
  if (c->whole_s <= seconds) return high;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (kernels_s(c, run, gpu, middle) * c->stretch <= seconds)
      low = middle;
    else
      high = middle;
  }
  return low;
}
