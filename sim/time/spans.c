#include "sim/time/spans.h"

#include <math.h>
#include <stdio.h>

#include "sim/algorithms/walk/live.h"
#include "sim/algorithms/walk/place.h"

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
  Turn held[SPANS_HELD_MAX];
  int n_held;
  double last; /* end of everything so far */
} Clock;

static CtaSpan span_of(const Event *e, SpanLane lane, int consumer, double start, double length) {
  return (CtaSpan){lane, consumer, start, start + length, e->step, e->kind, e->tensor, e->op, e->i, e->j};
}

static bool has(NameSet names, int name) { return names >> name & 1; }

static int place_of(const SpanModel *t, const Event *e, int name) {
  const int place = sram_place(t->schedule, t->schedule->ops[e->op].kernel, name);
  return place < 0 ? name : place;
}

static const ProgramLaunch *launch_of(const SpanModel *t, const Event *e) {
  return &t->launches[t->schedule->ops[e->op].kernel];
}

static int consumers_of(const SpanModel *t, const Event *e) {
  const int n = launch_of(t, e)->consumers;
  return n > 1 ? n : 1;
}

/* A consumer's part of an event's work: its rows of the tile, or its columns; of a ragged one the last have less. */
static double share_of(const SpanModel *t, const Event *e, int consumer) {
  const bool rows = launch_of(t, e)->shared_dim == DIM_I;
  const int64_t first = rows ? e->row0 : e->col0, end = rows ? e->row1 : e->col1,
                part = ceil_div(rows ? t->plan.tiling.B_r : t->plan.tiling.B_c, consumers_of(t, e));
  if (end <= first) return 1.0 / consumers_of(t, e);
  const int64_t from = first + consumer * part, to = from + part < end ? from + part : end;
  return to > from ? (double)(to - from) / (double)(end - first) : 0;
}

/* When the copy of a place that an event uses is free. */
static double *copy_of(const SpanModel *t, Clock *c, const Turn *turn, int place) {
  const uint32_t n = (uint32_t)launch_copies(launch_of(t, &turn->e), place), copy = turn->copy[place];
  return &c->open[place][(copy ? copy - 1 : 0) % n];
}

/* When the last of these values is there for a consumer. */
static double all_ready(const SpanModel *t, const Clock *c, NameSet names, int consumer) {
  double time = 0;
  for (int name = 0; name < t->schedule->n_names; name++)
    if (has(names, name)) time = fmax(time, c->ready[consumer][name]);
  return time;
}

static void make_ready(const SpanModel *t, Clock *c, NameSet names, int consumer, double time) {
  for (int name = 0; name < t->schedule->n_names; name++)
    if (has(names, name)) c->ready[consumer][name] = time;
}

static NameSet tiles_among(const SpanModel *t, NameSet names) {
  for (int name = 0; name < t->schedule->n_names; name++)
    if (!sides_are_tile(t->schedule->names[name].rows, t->schedule->names[name].cols)) names &= ~name_bit(name);
  return names;
}

/* What was loaded, and tiles, make room when an operation has used them. */
static void leave_places(const SpanModel *t, Clock *c, const Turn *turn, double time) {
  for (int name = 0; name < t->schedule->n_names; name++) {
    const ProgramName *n = &t->schedule->names[name];
    if (has(t->reads[turn->e.op], name) && (n->is_loaded || sides_are_tile(n->rows, n->cols)))
      *copy_of(t, c, turn, place_of(t, &turn->e, name)) = time;
  }
}

/* A load that CTAs of a cluster share takes each its part of L2's rate. */
static double move_seconds(const SpanModel *t, const Event *e) {
  const ProgramLaunch *l = launch_of(t, e);
  const bool shares = e->kind == EVENT_LOAD && l->cluster > 1 && has(l->shared, t->schedule->ops[e->op].name);
  return (double)e->bytes / (shares ? l->cluster : 1) / t->bytes_per_s;
}

static CtaSpan move_tile(const SpanModel *t, Clock *c, const Turn *turn) {
  const Event *e = &turn->e;
  const bool in = e->kind == EVENT_LOAD;
  const int name = t->schedule->ops[e->op].name, place = place_of(t, e, name), n = consumers_of(t, e);
  double from = in ? *copy_of(t, c, turn, place) : 0;
  for (int k = 0; k < n && !in; k++) from = fmax(from, fmax(turn->from[k], all_ready(t, c, turn->waits, k)));
  const CtaSpan span = span_of(e, LANE_LOAD, 0, fmax(c->port, from), move_seconds(t, e));
  c->port = span.end;
  for (int k = 0; k < n && in; k++) c->ready[k][name] = span.end;
  if (!in) *copy_of(t, c, turn, place) = span.end;
  return span;
}

/* Without a product on the line it makes what the line sets; else the tiles that the product takes. */
static CtaSpan take_exponentials(const SpanModel *t, Clock *c, const Turn *turn, int consumer, double share) {
  const Event *e = &turn->e;
  const NameSet made = e->flops > 0 ? tiles_among(t, t->sets[e->op]) : t->sets[e->op],
                read = e->flops > 0 ? tiles_among(t, t->reads[e->op]) : t->reads[e->op];
  const double scores = (double)(e->row1 - e->row0) * (double)(e->col1 - e->col0) * t->schedule->ops[e->op].n_exps;
  const CtaSpan span = span_of(e, LANE_SOFTMAX, consumer, fmax(c->softmax, all_ready(t, c, read, consumer)),
                               scores * share / t->exps_per_s);
  c->softmax = span.end;
  make_ready(t, c, made, consumer, span.end);
  if (!e->flops) leave_places(t, c, turn, span.end);
  return span;
}

static CtaSpan multiply(const SpanModel *t, Clock *c, const Turn *turn, int consumer, double share) {
  const Event *e = &turn->e;
  const bool has_exps = t->schedule->ops[e->op].n_exps > 0;
  const NameSet tiles = tiles_among(t, t->sets[e->op]);
  double from = fmax(c->products, fmax(turn->from[consumer], all_ready(t, c, turn->waits, consumer)));
  for (int name = 0; name < t->schedule->n_names && !has_exps; name++)
    if (has(tiles, name)) from = fmax(from, *copy_of(t, c, turn, place_of(t, e, name)));
  const CtaSpan span = span_of(e, LANE_PRODUCT, consumer, from, (double)e->flops * share / t->flops_per_s);
  c->products = span.end;
  leave_places(t, c, turn, span.end);
  make_ready(t, c, has_exps ? t->sets[e->op] & ~tiles : t->sets[e->op], consumer, span.end);
  return span;
}

static SpanLane lane_of(const Event *e) {
  if (event_moves(e->kind)) return LANE_LOAD;
  return e->flops > 0 || e->kind == EVENT_ACCUMULATE ? LANE_PRODUCT : LANE_SOFTMAX;
}

/* Exponentials of each consumer, products of each, and what moves. */
static int run_turn(const SpanModel *t, Clock *c, Turn *turn, bool exps, bool others, CtaSpan *spans) {
  const Event *e = &turn->e;
  const NameSet tiles = tiles_among(t, t->sets[e->op]);
  int n = 0;
  for (int k = 0; k < consumers_of(t, e) && exps && t->schedule->ops[e->op].n_exps > 0; k++) {
    const double share = share_of(t, e, k);
    if (share <= 0) continue;
    spans[n++] = take_exponentials(t, c, turn, k, share);
    if (e->flops > 0) turn->from[k] = fmax(turn->from[k], all_ready(t, c, tiles, k)); /* the product takes them */
  }
  for (int k = 0; k < consumers_of(t, e) && others && e->flops > 0; k++) {
    const double share = share_of(t, e, k);
    if (share > 0) spans[n++] = multiply(t, c, turn, k, share);
  }
  if (event_moves(e->kind) && others) spans[n++] = move_tile(t, c, turn);
  for (int k = 0; k < n; k++) c->last = fmax(c->last, spans[k].end);
  return n;
}

static int release(const SpanModel *t, Clock *c, CtaSpan *spans) {
  int n = 0;
  for (int k = 0; k < c->n_held; k++) n += run_turn(t, c, &c->held[k], c->held[k].has_exps, true, spans + n);
  c->n_held = 0;
  return n;
}

/* An event is issued: it has the copies that it loads, or makes ahead, and those of its step. */
static void issue(const SpanModel *t, Clock *c, const Event *e, Turn *turn) {
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
static bool takes_held_place(const SpanModel *t, const Clock *c, const Turn *turn) {
  const int place = place_of(t, &turn->e, t->schedule->ops[turn->e.op].name);
  const uint32_t n = (uint32_t)launch_copies(launch_of(t, &turn->e), place);
  for (int k = 0; k < c->n_held; k++)
    for (int name = 0; name < t->schedule->n_names; name++)
      if (has(t->reads[c->held[k].e.op], name) && place_of(t, &turn->e, name) == place &&
          c->held[k].copy[place] % n == turn->copy[place] % n)
        return true;
  return false;
}

/* Takes one event; returns its spans, and those of what was held. What takes no time has none. */
static int take_event(const SpanModel *t, Clock *c, const Event *e, CtaSpan spans[SPANS_EVENT]) {
  const ProgramLaunch *l = launch_of(t, e);
  Turn turn;
  int n = 0;
  if (e->kind == EVENT_SKIP) return 0;
  if (*t->why_steps) {
    spans[n] = span_of(e, lane_of(e), 0, c->last, 1);
    c->last = spans[n].end;
    return 1;
  }
  const int loop = l->ahead ? t->schedule->ops[l->ahead_op].parent : -1;
  const bool inside = loop >= 0 && e->op > loop && e->op < t->schedule->ops[loop].end;
  if (c->n_held > 0 && (!inside || c->n_held == SPANS_HELD_MAX)) n += release(t, c, spans);
  issue(t, c, e, &turn);
  const bool is_beside = inside && e->op >= l->beside_op && e->flops > 0,
             waits = turn.waits || (c->n_held > 0 && e->kind == EVENT_LOAD && takes_held_place(t, c, &turn));
  if (!waits) n += run_turn(t, c, &turn, true, !is_beside, spans + n);
  if (waits || is_beside) {
    turn.has_exps &= waits;
    c->held[c->n_held++] = turn;
  }
  if (inside && e->op == l->ahead_op) n += release(t, c, spans + n);
  return n;
}

int cta_spans(const SpanModel *t, int pass, int64_t cta, CtaSpan *spans, int most) {
  const PlaceSteps steps = place_cta(t->schedule, &t->plan, pass, cta);
  CtaSpan of_event[SPANS_EVENT];
  Clock clock = {0};
  Cursor cursor;
  Event e;
  int n = 0;
  if (!schedule_seek(t->schedule, &t->plan, &cursor, steps.begin)) return 0;
  while (n < most) {
    int more = 0;
    if (cursor.step < steps.end && schedule_next(t->schedule, &t->plan, &cursor, &e))
      more = take_event(t, &clock, &e, of_event);
    else if (clock.n_held)
      more = release(t, &clock, of_event);
    else
      break;
    for (int k = 0; k < more && n < most; k++) spans[n++] = of_event[k];
  }
  return n;
}

/* ---- Setting up ------------------------------------------------------------------------------------------ */

/* Rates of one CTA; steps where one is missing, and which. */
static void find_rates(SpanModel *t, const Gpu *gpu, Dtype dtype) {
  const double n = (double)(gpu->n_sm > 0 ? gpu->n_sm : 1) * (double)t->ctas_per_sm;
  t->bytes_per_s = timing_rate(gpu, TIME_L2, dtype) / n;
  t->flops_per_s = timing_rate(gpu, TIME_MATH, dtype) / n;
  t->exps_per_s = timing_rate(gpu, TIME_EXP, dtype) / n;
  if (t->bytes_per_s > 0 && t->flops_per_s > 0 && t->exps_per_s > 0) return;
  char missing[64] = "rate of exponentials";
  if (gpu->l2_bytes == 0)
    snprintf(missing, sizeof missing, "L2 between SMs and HBM");
  else if (t->bytes_per_s <= 0)
    snprintf(missing, sizeof missing, "bandwidth of L2");
  else if (t->flops_per_s <= 0)
    snprintf(missing, sizeof missing, "rate of %s products", dtype_name(dtype));
  snprintf(t->why_steps, sizeof t->why_steps, "%.60s has no %s, so time is counted in steps", gpu->name, missing);
}

/* Columns are left out: they are there with the tiles that they belong to. */
static void find_values(SpanModel *t) {
  const Schedule *s = t->schedule;
  NameSet columns = 0;
  for (int name = 0; name < s->n_names; name++)
    if (sides_are_column(s->names[name].rows, s->names[name].cols)) columns |= name_bit(name);
  for (int op = 0; op < s->n_ops; op++) {
    t->reads[op] = live_reads(s, op) & ~columns;
    t->sets[op] = live_sets(s, op) & ~columns;
  }
}

/* An SM gets no CTA of a small launch while another has none. */
static int64_t ctas_of_an_sm(const Simulation *run, const Shape *launched, const Gpu *gpu) {
  const LaunchConfig config = simulation_launch(run);
  Launch all;
  if (launch_make(&all, launched, &config, gpu, NULL)) return 1;
  const int64_t shared_out = ceil_div(all.n_pieces, all.n_sm);
  return shared_out < all.occupancy.ctas_per_sm ? shared_out : all.occupancy.ctas_per_sm;
}

void span_model(SpanModel *t, const Simulation *run, const Shape *launched, const Gpu *gpu) {
  memset(t, 0, sizeof *t);
  t->schedule = run->schedule;
  t->plan = run->plan;
  memcpy(t->launches, t->schedule->launches, sizeof t->launches);
  if (run->kernel && run->kernel->schedule == t->schedule && run->kernel->launch.is_said)
    t->launches[0] = run->kernel->launch;
  t->ctas_per_sm = ctas_of_an_sm(run, launched, gpu);
  find_rates(t, gpu, run->plan.shape.dtype);
  find_values(t);
}
