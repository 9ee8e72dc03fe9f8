#include "viz/scene/byte_strip.h"

#include <math.h>
#include <string.h>

#include "sim/algorithms/shipped.h"
#include "sim/algorithms/walk/place.h"

static SnapshotLies lies_of(const ProgramTensor *t) {
  return sides_are_tile(t->rows, t->cols) ? LIES_BY_TILES : t->rows == SIDE_COLS ? LIES_BY_KEYS : LIES_BY_ROWS;
}

SnapshotLies strip_lies(const StripRun *run, int band) { return lies_of(&run->schedule->tensors[run->tensors[band]]); }

static void add_bands(StripRun *run, const Traffic *whole, SnapshotLies lies) {
  for (int t = 0; t < run->schedule->n_tensors; t++)
    if (lies_of(&run->schedule->tensors[t]) == lies && whole->read[t] + whole->write[t] > 0)
      run->tensors[run->n++] = (uint8_t)t;
}

static uint64_t step_at(const StripRun *run, double part) {
  return part >= 1 ? run->n_steps : (uint64_t)(part * (double)run->n_steps);
}

static void make_run(StripRun *run, const Schedule *schedule, const Plan *plan) {
  Traffic traffic;
  *run = (StripRun){.schedule = schedule, .plan = *plan, .n_steps = (uint64_t)schedule_n_steps(schedule, plan)};
  place_traffic(schedule, plan, run->n_steps, &traffic);
  add_bands(run, &traffic, LIES_BY_KEYS);
  add_bands(run, &traffic, LIES_BY_ROWS);
  add_bands(run, &traffic, LIES_BY_TILES);
  for (int k = 0; k <= STRIP_POINTS; k++) {
    double top = 0;
    place_traffic(schedule, plan, step_at(run, (double)k / STRIP_POINTS), &traffic);
    for (int b = 0; b < run->n; b++) {
      top += (double)(traffic.read[run->tensors[b]] + traffic.write[run->tensors[b]]);
      run->tops[b][k] = top;
    }
  }
}

static double whole_of(const StripRun *run) { return run->n > 0 ? run->tops[run->n - 1][STRIP_POINTS] : 0; }

/* The first program of the same task that moves a matrix by tiles. */
static const Schedule *unfused_like(const Schedule *shown) {
  const Schedule *alike[SNAPSHOT_RUNS_MAX];
  const int n = shipped_alike(shown, alike, SNAPSHOT_RUNS_MAX);
  for (int k = 0; k < n; k++)
    for (int t = 0; t < alike[k]->n_tensors; t++)
      if (sides_are_tile(alike[k]->tensors[t].rows, alike[k]->tensors[t].cols) && alike[k]->tensors[t].is_moved)
        return alike[k];
  return NULL;
}

static bool plan_of(const Snapshot *now, const Schedule *schedule, Plan *plan) {
  Simulation run;
  Problem p = now->problem;
  for (int k = 0; k < now->n_runs; k++)
    if (now->runs[k].schedule == schedule) p.tiling = now->runs[k].tiling;
  if (simulate(&run, &p, schedule, NULL)) return false;
  *plan = run.plan;
  return schedule_n_steps(schedule, plan) < (Wide)1 << 62;
}

void byte_strip_make(ByteStrip *strip, const Snapshot *now) {
  const Schedule *unfused = unfused_like(now->schedule);
  Plan plan;
  memset(strip, 0, sizeof *strip);
  if (!plan_of(now, now->schedule, &plan)) return;
  make_run(&strip->shown, now->schedule, &plan);
  strip->has_behind = unfused && unfused != now->schedule && plan_of(now, unfused, &plan);
  if (strip->has_behind) make_run(&strip->behind, unfused, &plan);
  strip->most = fmax(whole_of(&strip->shown), whole_of(&strip->behind));
}

Wide strip_bytes(const StripRun *run, double part) {
  Traffic traffic;
  bool overflow = false;
  place_traffic(run->schedule, &run->plan, step_at(run, part), &traffic);
  return traffic_read_bytes(&traffic, &overflow) + traffic_write_bytes(&traffic, &overflow);
}
