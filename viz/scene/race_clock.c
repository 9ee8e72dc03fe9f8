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

static double kernels_s(const Simulation *run, const Gpu *gpu, const TimeWork *work, uint64_t step) {
  const Schedule *s = run->schedule;
  const Plan *plan = &run->plan;
  Traffic whole, before = {0};
  bool overflow = false;
  double seconds = 0;
  schedule_traffic(s, plan, &whole, &overflow);
  for (uint64_t from = 0; from < step;) { /* kernel by kernel */
    const PlaceSteps pass = place_steps(s, plan, from, PLACE_PASS);
    const uint64_t to = pass.end > from && pass.end < step ? pass.end : step;
    Traffic after;
    place_traffic(s, plan, to, &after);
    seconds += slowest_s(work, gpu, part(bytes_of(&after) - bytes_of(&before), bytes_of(&whole)),
                         part((double)(after.flops - before.flops), (double)whole.flops));
    before = after;
    from = to;
  }
  return seconds;
}

static uint64_t end_of(const Simulation *run) { return (uint64_t)schedule_n_steps(run->schedule, &run->plan); }

/* Where some SM has more to do than its share, all of the run takes so much longer. */
static double stretch_of(const Simulation *run, const Gpu *gpu, const TimeWork *work) {
  const double whole = kernels_s(run, gpu, work, end_of(run));
  return whole > 0 ? fmax(1, timing_bound(work, gpu).bound_s / whole) : 1;
}

double race_clock_s(const Simulation *run, const Gpu *gpu, uint64_t step) {
  const TimeWork work = simulation_own_work(run, gpu);
  return kernels_s(run, gpu, &work, step) * stretch_of(run, gpu, &work);
}

uint64_t race_clock_step(const Simulation *run, const Gpu *gpu, double seconds) {
  const TimeWork work = simulation_own_work(run, gpu);
  const double stretch = stretch_of(run, gpu, &work);
  uint64_t low = 0, high = end_of(run); /* low is in time; at high it is too late */
  if (kernels_s(run, gpu, &work, high) * stretch <= seconds) return high;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (kernels_s(run, gpu, &work, middle) * stretch <= seconds)
      low = middle;
    else
      high = middle;
  }
  return low;
}
