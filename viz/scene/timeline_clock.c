#include "viz/scene/timeline_clock.h"

#include "sim/algorithms/walk/live.h"

#include <math.h>
#include <string.h>

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
static double *copy_of(const Timeline *t, TimelineClock *c, const TimelineTurn *turn, int place) {
  const uint32_t n = (uint32_t)launch_copies(launch_of(t, &turn->e), place), copy = turn->copy[place];
  return &c->open[place][(copy ? copy - 1 : 0) % n];
}

/* When the last of these values is there for a consumer. */
static double all_ready(const Timeline *t, const TimelineClock *c, NameSet names, int consumer) {
  double time = 0;
  for (int name = 0; name < t->schedule->n_names; name++)
    if (has(names, name)) time = fmax(time, c->ready[consumer][name]);
  return time;
}

static void make_ready(const Timeline *t, TimelineClock *c, NameSet names, int consumer, double time) {
  for (int name = 0; name < t->schedule->n_names; name++)
    if (has(names, name)) c->ready[consumer][name] = time;
}

static NameSet tiles_among(const Timeline *t, NameSet names) {
  for (int name = 0; name < t->schedule->n_names; name++)
    if (!sides_are_tile(t->schedule->names[name].rows, t->schedule->names[name].cols)) names &= ~name_bit(name);
  return names;
}

/* What was loaded, and tiles, make room when an operation has used them. */
static void leave_places(const Timeline *t, TimelineClock *c, const TimelineTurn *turn, double time) {
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

static TimelineBar move_tile(const Timeline *t, TimelineClock *c, const TimelineTurn *turn) {
  const Event *e = &turn->e;
  const bool in = e->kind == EVENT_LOAD;
  const int name = t->schedule->ops[e->op].name, place = place_of(t, e, name), n = consumers_of(t, e);
  double from = in ? *copy_of(t, c, turn, place) : 0;
  for (int k = 0; k < n && !in; k++) from = fmax(from, fmax(turn->from[k], all_ready(t, c, turn->waits, k)));
  const TimelineBar bar = bar_of(e, LANE_LOAD, fmax(c->port, from), move_seconds(t, e));
  c->port = bar.end;
  for (int k = 0; k < n && in; k++) c->ready[k][name] = bar.end;
  if (!in) *copy_of(t, c, turn, place) = bar.end;
  return bar;
}

/* Without a product on the line it makes what the line sets; else the tiles that the product takes. */
static TimelineBar take_exponentials(const Timeline *t, TimelineClock *c, const TimelineTurn *turn, int consumer,
                                     double share) {
  const Event *e = &turn->e;
  const NameSet made = e->flops > 0 ? tiles_among(t, t->sets[e->op]) : t->sets[e->op],
                read = e->flops > 0 ? tiles_among(t, t->reads[e->op]) : t->reads[e->op];
  const double scores = (double)(e->row1 - e->row0) * (double)(e->col1 - e->col0) * t->schedule->ops[e->op].n_exps;
  const TimelineBar bar =
      bar_of(e, LANE_SOFTMAX, fmax(c->softmax, all_ready(t, c, read, consumer)), scores * share / t->exps_per_s);
  c->softmax = bar.end;
  make_ready(t, c, made, consumer, bar.end);
  if (!e->flops) leave_places(t, c, turn, bar.end);
  return bar;
}

static TimelineBar multiply(const Timeline *t, TimelineClock *c, const TimelineTurn *turn, int consumer, double share) {
  const Event *e = &turn->e;
  const bool has_exps = t->schedule->ops[e->op].n_exps > 0;
  const NameSet tiles = tiles_among(t, t->sets[e->op]);
  double from = fmax(c->products, fmax(turn->from[consumer], all_ready(t, c, turn->waits, consumer)));
  for (int name = 0; name < t->schedule->n_names && !has_exps; name++)
    if (has(tiles, name)) from = fmax(from, *copy_of(t, c, turn, place_of(t, e, name)));
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
static int run_turn(const Timeline *t, TimelineClock *c, TimelineTurn *turn, bool exps, bool others,
                    TimelineBar *bars) {
  const Event *e = &turn->e;
  const NameSet tiles = tiles_among(t, t->sets[e->op]);
  int n = 0;
  for (int k = 0; k < consumers_of(t, e) && exps && t->schedule->ops[e->op].n_exps > 0; k++) {
    const double share = share_of(t, e, k);
    if (share <= 0) continue;
    bars[n++] = take_exponentials(t, c, turn, k, share);
    if (e->flops > 0) turn->from[k] = fmax(turn->from[k], all_ready(t, c, tiles, k)); /* the product takes them */
  }
  for (int k = 0; k < consumers_of(t, e) && others && e->flops > 0; k++) {
    const double share = share_of(t, e, k);
    if (share > 0) bars[n++] = multiply(t, c, turn, k, share);
  }
  if (event_moves(e->kind) && others) bars[n++] = move_tile(t, c, turn);
  for (int k = 0; k < n; k++) c->last = fmax(c->last, bars[k].end);
  return n;
}

int timeline_clock_release(const Timeline *t, TimelineClock *c, TimelineBar *bars) {
  int n = 0;
  for (int k = 0; k < c->n_held; k++) n += run_turn(t, c, &c->held[k], c->held[k].has_exps, true, bars + n);
  c->n_held = 0;
  return n;
}

/* An event is issued: it has the copies that it loads, or makes ahead, and those of its step. */
static void issue(const Timeline *t, TimelineClock *c, const Event *e, TimelineTurn *turn) {
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
static bool takes_held_place(const Timeline *t, const TimelineClock *c, const TimelineTurn *turn) {
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
int timeline_clock_event(const Timeline *t, TimelineClock *c, const Event *e, TimelineBar bars[TIMELINE_EVENT_BARS]) {
  const ProgramLaunch *l = launch_of(t, e);
  TimelineTurn turn;
  int n = 0;
  if (e->kind == EVENT_SKIP) return 0;
  if (t->in_steps) {
    bars[n] = bar_of(e, lane_of(e), c->last, 1);
    c->last = bars[n].end;
    return 1;
  }
  const int loop = l->ahead ? t->schedule->ops[l->ahead_op].parent : -1;
  const bool inside = loop >= 0 && e->op > loop && e->op < t->schedule->ops[loop].end;
  if (c->n_held > 0 && (!inside || c->n_held == TIMELINE_HELD_MAX)) n += timeline_clock_release(t, c, bars);
  issue(t, c, e, &turn);
  const bool is_beside = inside && e->op >= l->beside_op && e->flops > 0,
             waits = turn.waits || (c->n_held > 0 && e->kind == EVENT_LOAD && takes_held_place(t, c, &turn));
  if (!waits) n += run_turn(t, c, &turn, true, !is_beside, bars + n);
  if (waits || is_beside) {
    turn.has_exps &= waits;
    c->held[c->n_held++] = turn;
  }
  if (inside && e->op == l->ahead_op) n += timeline_clock_release(t, c, bars + n);
  return n;
}

/* Columns are left out: they are there with the tiles that they belong to. */
void timeline_clock_values(Timeline *t) {
  const Schedule *s = t->schedule;
  NameSet columns = 0;
  for (int name = 0; name < s->n_names; name++)
    if (sides_are_column(s->names[name].rows, s->names[name].cols)) columns |= name_bit(name);
  for (int op = 0; op < s->n_ops; op++) {
    t->reads[op] = live_reads(s, op) & ~columns;
    t->sets[op] = live_sets(s, op) & ~columns;
  }
}
