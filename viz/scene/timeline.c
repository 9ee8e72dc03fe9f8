#include "viz/scene/timeline.h"

#include "sim/algorithms/walk/live.h"
#include "sim/algorithms/walk/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One CTA's clock ------------------------------------------------------------------------------------- */

/* An event as it is issued: its copies of the places in SRAM, and when what it needs is there. */
typedef struct {
  Event e;
  uint32_t copy[PROGRAM_NAMES_MAX];   /* by the name whose place it is: counted from 1 */
  double from[PROGRAM_CONSUMERS_MAX]; /* what it needs is there, but for */
  NameSet waits;                      /* values that events before it make and that are held */
  bool has_exps;                      /* its exponentials are still to be taken */
} Turn;

/* When each unit is free again, when each value is there, and when its place in SRAM is free again. Columns, a value a
 * row, take part in neither. Held are the products of a step, and what needs them, until a product of the next step
 * that the launch has beside them has been issued. */
typedef struct {
  double port, products, softmax;
  double ready[PROGRAM_CONSUMERS_MAX][PROGRAM_NAMES_MAX]; /* to each consumer, of its share */
  double open[PROGRAM_NAMES_MAX][PROGRAM_STAGES_MAX];     /* by the name whose place it is, each of its copies */
  uint32_t n_copies[PROGRAM_NAMES_MAX];                   /* of that place, loaded or made ahead so far */
  Turn held[TIMELINE_HELD_MAX];
  int n_held;
  double last; /* end of everything so far */
} Clock;

static double later(double a, double b) { return a > b ? a : b; }

static const Schedule *schedule_of(const Timeline *t) { return t->schedule; }

static TimelineBar bar_of(const Event *e, TimelineLane lane, double start, double length) {
  return (TimelineBar){lane, start, start + length, e->step, e->kind, e->tensor, e->op, e->i, e->j};
}

static bool has(NameSet names, int name) { return names >> name & 1; }

static int place_of(const Timeline *t, const Event *e, int name) {
  const int place = sram_place(t->schedule, t->schedule->ops[e->op].kernel, name);
  return place < 0 ? name : place;
}

static const ProgramLaunch *launch_of(const Timeline *t, const Event *e) {
  return &t->launches[t->schedule->ops[e->op].kernel];
}

static int consumers_of(const Timeline *t, const Event *e) {
  const int n = launch_of(t, e)->consumers;
  return n > 1 ? n : 1;
}

/* A consumer's part of an event's work: its rows of the tile, or its columns; of a ragged one the last have less. */
static double share_of(const Timeline *t, const Event *e, int consumer) {
  const bool rows = launch_of(t, e)->shared_dim == DIM_I;
  const int64_t first = rows ? e->row0 : e->col0, end = rows ? e->row1 : e->col1,
                part = ceil_div(rows ? t->plan.tiling.B_r : t->plan.tiling.B_c, consumers_of(t, e));
  if (end <= first) return 1.0 / consumers_of(t, e);
  const int64_t from = first + consumer * part, to = from + part < end ? from + part : end;
  return to > from ? (double)(to - from) / (double)(end - first) : 0;
}

/* When the copy of a place that an event uses is free. */
static double *copy_of(const Timeline *t, Clock *c, const Turn *turn, int place) {
  const uint32_t n = (uint32_t)launch_copies(launch_of(t, &turn->e), place), copy = turn->copy[place];
  return &c->open[place][(copy ? copy - 1 : 0) % n];
}

/* When the last of these values is there for a consumer. */
static double all_ready(const Timeline *t, const Clock *c, NameSet names, int consumer) {
  double time = 0;
  for (int name = 0; name < t->schedule->n_names; name++)
    if (has(names, name)) time = later(time, c->ready[consumer][name]);
  return time;
}

static void make_ready(const Timeline *t, Clock *c, NameSet names, int consumer, double time) {
  for (int name = 0; name < t->schedule->n_names; name++)
    if (has(names, name)) c->ready[consumer][name] = time;
}

static NameSet tiles_among(const Timeline *t, NameSet names) {
  for (int name = 0; name < t->schedule->n_names; name++)
    if (!sides_are_tile(t->schedule->names[name].rows, t->schedule->names[name].cols)) names &= ~name_bit(name);
  return names;
}

/* What was loaded, and tiles, make room when an operation has used them. */
static void leave_places(const Timeline *t, Clock *c, const Turn *turn, double time) {
  for (int name = 0; name < t->schedule->n_names; name++) {
    const ProgramName *n = &t->schedule->names[name];
    if (has(t->reads[turn->e.op], name) && (n->is_loaded || sides_are_tile(n->rows, n->cols)))
      *copy_of(t, c, turn, place_of(t, &turn->e, name)) = time;
  }
}

/* A load that CTAs of a cluster share takes each its part of L2's rate. */
static double move_seconds(const Timeline *t, const Event *e) {
  const ProgramLaunch *l = launch_of(t, e);
  const bool shares = e->kind == EVENT_LOAD && l->cluster > 1 && has(l->shared, t->schedule->ops[e->op].name);
  return (double)e->bytes / (shares ? l->cluster : 1) / t->bytes_per_s;
}

static TimelineBar move_tile(const Timeline *t, Clock *c, const Turn *turn) {
  const Event *e = &turn->e;
  const bool in = e->kind == EVENT_LOAD;
  const int name = t->schedule->ops[e->op].name, place = place_of(t, e, name), n = consumers_of(t, e);
  double from = in ? *copy_of(t, c, turn, place) : 0;
  for (int k = 0; k < n && !in; k++) from = later(from, later(turn->from[k], all_ready(t, c, turn->waits, k)));
  const TimelineBar bar = bar_of(e, LANE_LOAD, later(c->port, from), move_seconds(t, e));
  c->port = bar.end;
  for (int k = 0; k < n && in; k++) c->ready[k][name] = bar.end;
  if (!in) *copy_of(t, c, turn, place) = bar.end;
  return bar;
}

/* Without a product on the line it makes what the line sets; else the tiles that the product takes. */
static TimelineBar take_exponentials(const Timeline *t, Clock *c, const Turn *turn, int consumer, double share) {
  const Event *e = &turn->e;
  const NameSet made = e->flops > 0 ? tiles_among(t, t->sets[e->op]) : t->sets[e->op],
                read = e->flops > 0 ? tiles_among(t, t->reads[e->op]) : t->reads[e->op];
  const double scores = (double)(e->row1 - e->row0) * (double)(e->col1 - e->col0) * t->schedule->ops[e->op].n_exps;
  const TimelineBar bar =
      bar_of(e, LANE_SOFTMAX, later(c->softmax, all_ready(t, c, read, consumer)), scores * share / t->exps_per_s);
  c->softmax = bar.end;
  make_ready(t, c, made, consumer, bar.end);
  if (!e->flops) leave_places(t, c, turn, bar.end);
  return bar;
}

static TimelineBar multiply(const Timeline *t, Clock *c, const Turn *turn, int consumer, double share) {
  const Event *e = &turn->e;
  const bool has_exps = t->schedule->ops[e->op].n_exps > 0;
  const NameSet tiles = tiles_among(t, t->sets[e->op]);
  double from = later(c->products, later(turn->from[consumer], all_ready(t, c, turn->waits, consumer)));
  for (int name = 0; name < t->schedule->n_names && !has_exps; name++)
    if (has(tiles, name)) from = later(from, *copy_of(t, c, turn, place_of(t, e, name)));
  const TimelineBar bar = bar_of(e, LANE_PRODUCT, from, (double)e->flops * share / t->flops_per_s);
  c->products = bar.end;
  leave_places(t, c, turn, bar.end);
  make_ready(t, c, has_exps ? t->sets[e->op] & ~tiles : t->sets[e->op], consumer, bar.end);
  return bar;
}

static TimelineLane lane_of(const Event *e) {
  if (event_moves(e->kind)) return LANE_LOAD;
  return e->flops > 0 || e->kind == EVENT_ACCUMULATE ? LANE_PRODUCT : LANE_SOFTMAX;
}

/* Exponentials of each consumer, products of each, and what moves. */
static int run_turn(const Timeline *t, Clock *c, Turn *turn, bool exps, bool others, TimelineBar *bars) {
  const Event *e = &turn->e;
  const NameSet tiles = tiles_among(t, t->sets[e->op]);
  int n = 0;
  for (int k = 0; k < consumers_of(t, e) && exps && t->schedule->ops[e->op].n_exps > 0; k++) {
    const double share = share_of(t, e, k);
    if (share <= 0) continue;
    bars[n++] = take_exponentials(t, c, turn, k, share);
    if (e->flops > 0) turn->from[k] = later(turn->from[k], all_ready(t, c, tiles, k)); /* the product takes them */
  }
  for (int k = 0; k < consumers_of(t, e) && others && e->flops > 0; k++) {
    const double share = share_of(t, e, k);
    if (share > 0) bars[n++] = multiply(t, c, turn, k, share);
  }
  if (event_moves(e->kind) && others) bars[n++] = move_tile(t, c, turn);
  for (int k = 0; k < n; k++) c->last = later(c->last, bars[k].end);
  return n;
}

static int release(const Timeline *t, Clock *c, TimelineBar *bars) {
  int n = 0;
  for (int k = 0; k < c->n_held; k++) n += run_turn(t, c, &c->held[k], c->held[k].has_exps, true, bars + n);
  c->n_held = 0;
  return n;
}

/* An event is issued: it has the copies that it loads, or makes ahead, and those of its step. */
static void issue(const Timeline *t, Clock *c, const Event *e, Turn *turn) {
  const ProgramLaunch *l = launch_of(t, e);
  const NameSet needs = t->reads[e->op] | (event_goes_out(e->kind) ? name_bit(t->schedule->ops[e->op].name) : 0);
  turn->e = *e;
  turn->waits = 0;
  turn->has_exps = t->schedule->ops[e->op].n_exps > 0;
  if (e->kind == EVENT_LOAD) c->n_copies[place_of(t, e, t->schedule->ops[e->op].name)]++;
  if (l->ahead && e->op == l->ahead_op) c->n_copies[place_of(t, e, l->ahead - 1)]++;
  memcpy(turn->copy, c->n_copies, sizeof turn->copy);
  for (int k = 0; k < c->n_held; k++) turn->waits |= t->sets[c->held[k].e.op] & needs;
  for (int k = 0; k < consumers_of(t, e); k++) turn->from[k] = all_ready(t, c, needs & ~turn->waits, k);
}

/* Whether a load comes into a copy that a held event still uses. */
static bool takes_held_place(const Timeline *t, const Clock *c, const Turn *turn) {
  const int place = place_of(t, &turn->e, t->schedule->ops[turn->e.op].name);
  const uint32_t n = (uint32_t)launch_copies(launch_of(t, &turn->e), place);
  for (int k = 0; k < c->n_held; k++)
    for (int name = 0; name < t->schedule->n_names; name++)
      if (has(t->reads[c->held[k].e.op], name) && place_of(t, &turn->e, name) == place &&
          c->held[k].copy[place] % n == turn->copy[place] % n)
        return true;
  return false;
}

/* Takes one event; returns its bars, and those of what was held. What takes no time has none. */
static int clock_event(const Timeline *t, Clock *c, const Event *e, TimelineBar bars[TIMELINE_EVENT_BARS]) {
  const ProgramLaunch *l = launch_of(t, e);
  Turn turn;
  int n = 0;
  if (e->kind == EVENT_SKIP) return 0;
  if (t->in_steps) {
    bars[n] = bar_of(e, lane_of(e), c->last, 1);
    c->last = bars[n].end;
    return 1;
  }
  const int loop = l->ahead ? t->schedule->ops[l->ahead_op].parent : -1;
  const bool inside = loop >= 0 && e->op > loop && e->op < t->schedule->ops[loop].end;
  if (c->n_held > 0 && (!inside || c->n_held == TIMELINE_HELD_MAX)) n += release(t, c, bars);
  issue(t, c, e, &turn);
  const bool is_beside = inside && e->op >= l->beside_op && e->flops > 0,
             waits = turn.waits || (c->n_held > 0 && e->kind == EVENT_LOAD && takes_held_place(t, c, &turn));
  if (!waits) n += run_turn(t, c, &turn, true, !is_beside, bars + n);
  if (waits || is_beside) {
    turn.has_exps &= waits;
    c->held[c->n_held++] = turn;
  }
  if (inside && e->op == l->ahead_op) n += release(t, c, bars + n);
  return n;
}

/* Columns are left out: they are there with the tiles that they belong to. */
static void find_values(Timeline *t) {
  const Schedule *s = t->schedule;
  NameSet columns = 0;
  for (int name = 0; name < s->n_names; name++)
    if (sides_are_column(s->names[name].rows, s->names[name].cols)) columns |= name_bit(name);
  for (int op = 0; op < s->n_ops; op++) {
    t->reads[op] = live_reads(s, op) & ~columns;
    t->sets[op] = live_sets(s, op) & ~columns;
  }
}

/* ---- CTAs of a head -------------------------------------------------------------------------------------- */

/* The events of one: from step `first` on. */
typedef struct {
  uint64_t first, n;
} StepRange;

static StepRange range_of(const Timeline *t, const TimelineKernel *k, int64_t outer) {
  const PlaceSteps steps = place_cta(schedule_of(t), &t->plan, k->pass, outer);
  return (StepRange){steps.begin, steps.end - steps.begin};
}

int64_t timeline_ctas_of_head(const Timeline *t, int kernel) {
  const TimelineKernel *k = &t->kernels[kernel];
  return place_n_ctas(schedule_of(t), &t->plan, k->pass);
}

/* A CTA's events, one after another, on its clock. */
typedef struct {
  StepRange range;
  Clock clock;
  Cursor cursor;
  Event e;
  uint64_t n; /* taken so far */
} Walk;

static bool walk_begin(const Timeline *t, const TimelineKernel *k, int64_t outer, Walk *w) {
  memset(w, 0, sizeof *w);
  w->range = range_of(t, k, outer);
  return schedule_seek(schedule_of(t), &t->plan, &w->cursor, w->range.first);
}

/* Takes the next event; returns how many bars there are, of its own and of those that it released. -1: there is none,
 * and nothing is held. */
static int walk_next(const Timeline *t, Walk *w, TimelineBar bars[TIMELINE_EVENT_BARS]) {
  if (w->n < w->range.n && schedule_next(schedule_of(t), &t->plan, &w->cursor, &w->e)) {
    w->n++;
    return clock_event(t, &w->clock, &w->e, bars);
  }
  return w->clock.n_held ? release(t, &w->clock, bars) : -1;
}

/* Events of a CTA that are skips, of which a long one has many at its end. */
static double skips_in(const Timeline *t, const TimelineKernel *k, int64_t outer) {
  const Schedule *s = schedule_of(t);
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
    k->end = later(k->end, piece->end);
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
  t->whole_s = t->predicted_s > 0 ? t->predicted_s : later(end, t->least_s);
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
  find_values(t);
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
  m.outer = k->whole_head ? 0 : place_cta_of(schedule_of(t), &t->plan, e);
  const int64_t number = timeline_number(t, m.kernel, m.outer);
  m.piece = launch_piece(&k->launch, number);
  if (now->step > 0) m.time = time_at(t, m.kernel, m.outer, now->step - 1);
  int64_t before = 0;
  for (int n = 0; n < m.kernel; n++) before += t->kernels[n].n_pieces;
  if (number >= k->first_number) m.at = before + number - k->first_number;
  return m;
}
