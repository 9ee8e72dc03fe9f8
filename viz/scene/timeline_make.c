#include "viz/scene/timeline_clock.h"

#include "sim/algorithms/walk/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- CTAs of a head -------------------------------------------------------------------------------------- */

/* The events of one: from step `first` on. */
typedef struct {
  uint64_t first, n;
} StepRange;

static StepRange range_of(const Timeline *t, const TimelineKernel *k, int64_t outer) {
  const PlaceSteps steps = place_cta(t->schedule, &t->plan, k->pass, outer);
  return (StepRange){steps.begin, steps.end - steps.begin};
}

int64_t timeline_ctas_of_head(const Timeline *t, int kernel) {
  const TimelineKernel *k = &t->kernels[kernel];
  return place_n_ctas(t->schedule, &t->plan, k->pass);
}

/* A CTA's events, one after another, on its clock. */
typedef struct {
  StepRange range;
  TimelineClock clock;
  Cursor cursor;
  Event e;
  uint64_t n; /* taken so far */
} Walk;

static bool walk_begin(const Timeline *t, const TimelineKernel *k, int64_t outer, Walk *w) {
  memset(w, 0, sizeof *w);
  w->range = range_of(t, k, outer);
  return schedule_seek(t->schedule, &t->plan, &w->cursor, w->range.first);
}

/* Takes the next event; returns how many bars there are, of its own and of those that it released. -1: there is none,
 * and nothing is held. */
static int walk_next(const Timeline *t, Walk *w, TimelineBar bars[TIMELINE_EVENT_BARS]) {
  if (w->n < w->range.n && schedule_next(t->schedule, &t->plan, &w->cursor, &w->e)) {
    w->n++;
    return timeline_clock_event(t, &w->clock, &w->e, bars);
  }
  return w->clock.n_held ? timeline_clock_release(t, &w->clock, bars) : -1;
}

/* Events of a CTA that are skips, of which a long one has many at its end. */
static double skips_in(const Timeline *t, const TimelineKernel *k, int64_t outer) {
  const Schedule *s = t->schedule;
  const StepRange range = range_of(t, k, outer);
  Traffic before, after;
  if (!s->skips) return 0;
  place_traffic(s, &t->plan, range.first, &before);
  place_traffic(s, &t->plan, range.first + range.n, &after);
  return (double)(after.tiles[TILE_SKIPPED] - before.tiles[TILE_SKIPPED]);
}

double timeline_events(const Timeline *t, int kernel, int64_t outer) {
  return (double)range_of(t, &t->kernels[kernel], outer).n - skips_in(t, &t->kernels[kernel], outer);
}

/* How long a CTA takes. Beyond `most` events that are no skips, the rest goes on as the second half of those did. */
static double time_of(const Timeline *t, const TimelineKernel *k, int64_t outer, uint64_t most) {
  enum { MOST_LOOKED_AT = 1 << 20 };
  TimelineBar bars[TIMELINE_EVENT_BARS];
  Walk w;
  uint64_t n = 0;
  double at_half = 0;
  if (!walk_begin(t, k, outer, &w)) return 0;
  while (w.n < MOST_LOOKED_AT && n < most && walk_next(t, &w, bars) >= 0) {
    n += w.e.kind != EVENT_SKIP;
    if (n == most / 2) at_half = w.clock.last;
  }
  const double left = (double)w.range.n - skips_in(t, k, outer) - (double)n;
  if (n < most || left <= 0) return w.clock.last;
  return w.clock.last + left * (w.clock.last - at_half) / (double)(most - most / 2);
}

static void sample_kernel(Timeline *t, int kernel) {
  enum { EVENTS_IN_ALL = 1 << 19 };
  TimelineKernel *k = &t->kernels[kernel];
  const int64_t n = timeline_ctas_of_head(t, kernel);
  const uint64_t longest = range_of(t, k, n - 1).n + 1, most = k->whole_head ? EVENTS_IN_ALL : 1 << 13;
  const uint64_t affordable = EVENTS_IN_ALL / (longest < most ? longest : most);
  int64_t samples = affordable < 17 ? 17 : affordable < TIMELINE_SAMPLES ? (int64_t)affordable : TIMELINE_SAMPLES;
  if (samples > n) samples = n;
  k->n_samples = (int)samples;
  for (int64_t at = 0; at < samples; at++) {
    k->sample_at[at] = samples > 1 ? (int64_t)((Wide)(n - 1) * wide(at) / wide(samples - 1)) : 0;
    k->sample[at] = time_of(t, k, k->sample_at[at], most);
  }
}

double timeline_duration(const Timeline *t, int kernel, int64_t outer) {
  const TimelineKernel *k = &t->kernels[kernel];
  int low = 0, high = k->n_samples - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (k->sample_at[middle] <= outer)
      low = middle;
    else
      high = middle;
  }
  if (high <= low || outer <= k->sample_at[low]) return k->sample[low];
  if (outer >= k->sample_at[high]) return k->sample[high];
  const double part = (double)(outer - k->sample_at[low]) / (double)(k->sample_at[high] - k->sample_at[low]);
  return k->sample[low] + part * (k->sample[high] - k->sample[low]);
}

int timeline_bars(const Timeline *t, int kernel, int64_t outer, double from, double to, TimelineBar *bars, int most,
                  double *end) {
  TimelineBar of_event[TIMELINE_EVENT_BARS];
  Walk w;
  int n = 0, n_bars;
  *end = 0;
  if (!walk_begin(t, &t->kernels[kernel], outer, &w)) return 0;
  while (w.n < TIMELINE_WALK && w.clock.port <= to && w.clock.products <= to &&
         (n_bars = walk_next(t, &w, of_event)) >= 0) {
    for (int b = 0; b < n_bars; b++)
      if (of_event[b].end >= from && of_event[b].start <= to && n < most) bars[n++] = of_event[b];
    if (t->in_steps && w.clock.last > to) break;
  }
  *end = w.clock.last;
  return n;
}

/* ---- Onto the machine ------------------------------------------------------------------------------------ */

/* A heap of slots, the one that is free first on top; among equals the lowest. */
typedef struct {
  double at;
  int32_t slot;
} Free;

static bool is_before(const Free *a, const Free *b) { return a->at < b->at || (a->at == b->at && a->slot < b->slot); }

static void sink(Free *heap, int64_t n) {
  const Free top = heap[0];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && is_before(&heap[child + 1], &heap[child])) child++;
    if (!is_before(&heap[child], &top)) break;
    heap[at] = heap[child];
  }
  heap[at] = top;
}

static int64_t outer_of(const TimelineKernel *k, LaunchPiece piece) {
  return k->whole_head ? 0 : piece.row_block * k->launch.n_splits + piece.split;
}

/* Deals the kernel's CTAs out, beginning when the one before it ends. */
static void deal_out(Timeline *t, int kernel, Free *heap) {
  TimelineKernel *k = &t->kernels[kernel];
  const int64_t n_slots = k->launch.n_slots < k->n_pieces ? k->launch.n_slots : k->n_pieces;
  k->start = k->end = t->end;
  for (int64_t slot = 0; slot < n_slots; slot++) heap[slot] = (Free){t->end, (int32_t)slot};
  for (int64_t n = 0; n < k->n_pieces; n++) {
    TimelinePiece *piece = &t->pieces[t->n_pieces++];
    const double length = timeline_duration(t, kernel, outer_of(k, launch_piece(&k->launch, k->first_number + n)));
    *piece = (TimelinePiece){heap[0].at, heap[0].at + length, heap[0].slot, kernel, k->first_number + n};
    heap[0].at = piece->end;
    sink(heap, n_slots);
    t->busy += length;
    k->end = fmax(k->end, piece->end);
  }
  t->end = k->end;
}

double timeline_use(const Timeline *t) {
  double room = 0;
  for (int k = 0; k < t->n_kernels; k++)
    room += (double)t->kernels[k].launch.n_slots * (t->kernels[k].end - t->kernels[k].start);
  return room > 0 ? t->busy / room : 0;
}

/* ---- Setting up ------------------------------------------------------------------------------------------ */

/* Rates of one SM; steps where one is missing, and which. */
static void find_rates(Timeline *t, const Snapshot *now) {
  const Gpu *gpu = &now->gpu;
  const Dtype dtype = now->problem.shape.dtype;
  const double n_sm = gpu->n_sm > 0 ? (double)gpu->n_sm : 1;
  t->bytes_per_s = timing_rate(gpu, TIME_L2, dtype) / n_sm;
  t->flops_per_s = timing_rate(gpu, TIME_MATH, dtype) / n_sm;
  t->exps_per_s = timing_rate(gpu, TIME_EXP, dtype) / n_sm;
  t->in_steps = !(t->bytes_per_s > 0 && t->flops_per_s > 0 && t->exps_per_s > 0);
  if (!t->in_steps) return;
  char missing[64] = "no L2 between SMs and HBM";
  if (gpu->l2_bytes > 0 && t->bytes_per_s <= 0)
    snprintf(missing, sizeof missing, "no bandwidth of L2");
  else if (gpu->l2_bytes > 0 && t->flops_per_s <= 0)
    snprintf(missing, sizeof missing, "no rate of %s products", dtype_name(dtype));
  else if (gpu->l2_bytes > 0)
    snprintf(missing, sizeof missing, "no rate of exponentials");
  snprintf(t->why_steps, sizeof t->why_steps, "%.60s has %s, so time is counted in steps", gpu->name, missing);
}

static LaunchConfig config_of(const Simulation *run, int pass) {
  const Schedule *s = run->schedule;
  LaunchConfig c = simulation_launch(run);
  int first = 0;
  while (first + 1 < s->n_ops && s->ops[first].pass < pass) first++;
  c.rows = run->config.rows;
  simulation_order_ctas(run, s->ops[first].kernel, &c);
  c.whole_head = s->whole_head;
  c.n_splits = s->splits && pass == 0 ? run->plan.tiling.n_splits : 1;
  return c;
}

/* One kernel for each pass, or one CTA for each head that does them all (FlashAttention's order). */
static Status add_kernels(Timeline *t, const Snapshot *now, const Simulation *run, Error *error) {
  const Schedule *s = run->schedule;
  for (int pass = 0; pass < (s->whole_head ? 1 : s->n_passes) && t->n_kernels < TIMELINE_KERNELS; pass++) {
    TimelineKernel *k = &t->kernels[t->n_kernels];
    if (place_n_ctas(s, &run->plan, pass) == 0) continue;
    LaunchConfig config = config_of(run, pass);
    Status status = launch_make(&k->launch, &now->launched, &config, &now->gpu, NULL);
    if (status) { /* it asks for more than the machine has: shown all the same */
      t->is_assumed = true;
      config.threads = config.registers_per_thread = config.shared_bytes = 0;
      config.ctas_per_sm = 1;
      status = launch_make(&k->launch, &now->launched, &config, &now->gpu, error);
    }
    if (status) return status;
    k->pass = pass;
    k->whole_head = s->whole_head;
    k->n_pieces = k->launch.n_pieces < TIMELINE_PIECES_MAX ? k->launch.n_pieces : TIMELINE_PIECES_MAX;
    k->first_number = k->launch.n_pieces - k->n_pieces;
    t->n_kernels++;
  }
  return STATUS_OK;
}

/* How long CTAs of a kernel take on average, by the samples. */
static double mean_duration(const TimelineKernel *k) {
  double sum = 0;
  for (int n = 1; n < k->n_samples; n++)
    sum += (k->sample[n] + k->sample[n - 1]) / 2 * (double)(k->sample_at[n] - k->sample_at[n - 1]);
  const int last = k->n_samples - 1;
  return k->sample_at[last] > 0 ? sum / (double)k->sample_at[last] : k->sample[0];
}

/* When all is over by this clock, with the CTAs that are not dealt out. */
static double end_of_all(const Timeline *t) {
  double end = t->end;
  for (int n = 0; n < t->n_kernels; n++) {
    const TimelineKernel *k = &t->kernels[n];
    end += (double)k->first_number * mean_duration(k) / (double)k->launch.n_slots;
  }
  return end;
}

/* The launch takes what the model of time says of it, here as everywhere: the CTAs' clocks are stretched to that. */
static void stretch_clocks(Timeline *t, const SnapshotL2 *said) {
  const double end = end_of_all(t);
  t->stretch = 1;
  t->whole_s = end;
  if (t->in_steps || !(end > 0)) return;
  t->least_s = said->least_s;
  t->predicted_s = said->predicted_s;
  t->whole_s = t->predicted_s > 0 ? t->predicted_s : fmax(end, t->least_s);
  const double stretch = t->stretch = t->whole_s / end;
  t->bytes_per_s /= stretch, t->flops_per_s /= stretch, t->exps_per_s /= stretch;
  for (int n = 0; n < t->n_kernels; n++) {
    TimelineKernel *k = &t->kernels[n];
    k->start *= stretch, k->end *= stretch;
    for (int s = 0; s < k->n_samples; s++) k->sample[s] *= stretch;
  }
  for (int64_t n = 0; n < t->n_pieces; n++) t->pieces[n].start *= stretch, t->pieces[n].end *= stretch;
  t->end *= stretch, t->busy *= stretch;
}

void timeline_make(Timeline *t, const Snapshot *now) {
  Simulation run;
  Error error = {0};
  memset(t, 0, sizeof *t);
  t->schedule = now->schedule;
  timeline_clock_values(t);
  find_rates(t, now);
  Status status = simulate(&run, &now->problem, now->schedule, &error);
  if (!status) t->plan = run.plan;
  memcpy(t->launches, t->schedule->launches, sizeof t->launches);
  if (!status && run.kernel && run.kernel->schedule == t->schedule && run.kernel->launch.is_said)
    t->launches[0] = run.kernel->launch;
  if (!status) status = add_kernels(t, now, &run, &error);
  int64_t n_pieces = 0, n_slots = 1;
  for (int k = 0; k < t->n_kernels; k++) {
    n_pieces += t->kernels[k].n_pieces;
    if (t->kernels[k].n_pieces > n_slots) n_slots = t->kernels[k].n_pieces;
  }
  t->pieces = malloc(((size_t)n_pieces + 1) * sizeof *t->pieces);
  Free *heap = malloc((size_t)n_slots * sizeof *heap);
  if (!status && (!t->pieces || !heap))
    status = error_set(&error, STATUS_NO_MEMORY, "no memory for %lld CTAs", (long long)n_pieces);
  for (int k = 0; k < t->n_kernels && !status; k++) {
    if (!t->in_steps && k == 0) {
      const double share = (double)t->kernels[0].launch.occupancy.ctas_per_sm;
      t->bytes_per_s /= share, t->flops_per_s /= share, t->exps_per_s /= share;
    }
    sample_kernel(t, k);
    deal_out(t, k, heap);
  }
  free(heap);
  if (!status) stretch_clocks(t, &now->l2);
  t->is_known = !status;
  if (status) snprintf(t->why_not, sizeof t->why_not, "%.150s", error.message);
}

void timeline_free(Timeline *t) {
  free(t->pieces);
  t->pieces = NULL;
}

/* ---- The present ----------------------------------------------------------------------------------------- */

int64_t timeline_number(const Timeline *t, int kernel, int64_t outer) {
  const TimelineKernel *k = &t->kernels[kernel];
  const int64_t n_splits = k->launch.n_splits;
  return launch_number(&k->launch, (LaunchPiece){.row_block = k->whole_head ? 0 : outer / n_splits,
                                                 .split = k->whole_head ? 0 : outer % n_splits});
}

/* When the event at `step` is over, on its CTA's clock. A step beyond what is walked is placed by its part of the CTA's
 * events. */
static double time_at(const Timeline *t, int kernel, int64_t outer, uint64_t step) {
  const TimelineKernel *k = &t->kernels[kernel];
  TimelineBar bars[TIMELINE_EVENT_BARS];
  Walk w;
  double time = 0;
  int n_bars;
  if (!walk_begin(t, k, outer, &w) || step < w.range.first) return 0;
  if (step - w.range.first >= TIMELINE_WALK)
    return timeline_duration(t, kernel, outer) * (double)(step - w.range.first) / (double)w.range.n;
  while ((w.n <= step - w.range.first || w.clock.n_held > 0) && (n_bars = walk_next(t, &w, bars)) >= 0)
    for (int b = 0; b < n_bars; b++) /* what takes no time is over with what it waited for */
      if (bars[b].step <= step) time = bars[b].end;
  return time;
}

TimelineMoment timeline_now(const Timeline *t, const Snapshot *now) {
  TimelineMoment m = {.at = -1};
  const Event *e = now->has_event ? &now->event : &now->next;
  if (!t->is_known) return m;
  while (m.kernel + 1 < t->n_kernels && t->kernels[m.kernel + 1].pass <= e->pass) m.kernel++;
  const TimelineKernel *k = &t->kernels[m.kernel];
  m.outer = k->whole_head ? 0 : place_cta_of(t->schedule, &t->plan, e);
  const int64_t number = timeline_number(t, m.kernel, m.outer);
  m.piece = launch_piece(&k->launch, number);
  if (now->step > 0) m.time = time_at(t, m.kernel, m.outer, now->step - 1);
  int64_t before = 0;
  for (int n = 0; n < m.kernel; n++) before += t->kernels[n].n_pieces;
  if (number >= k->first_number) m.at = before + number - k->first_number;
  return m;
}
