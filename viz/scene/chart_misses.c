/* The miss-ratio curve of one head: Mattson's, over the tiles that cross the SRAM boundary in the order of the events.
 *
 *     capacity    misses = first uses + uses whose distance is at least the capacity
 *
 * The unit is one tile of the tensor that is used again most (K and V in fa2, Q and O in fa1, S in standard); other
 * tiles count as the nearest whole number of units. What is much smaller than a unit (m and l; Q beside widened
 * tiles of K) takes no room, and its bytes miss with the others. First uses are counted in bytes, and the rest is
 * shared out over the distances, so that both ends of the curve are exact: at no capacity all traffic misses, at enough
 * only first uses do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cache/reuse.h"
#include "viz/scene/chart_numbers.h"

enum { ENOUGH_EVENTS = 1 << 18, MOST_EVENTS = 1 << 21, LEAST_INNER = 8, MOST_UNITS = 1 << 22 };

/* The widest name of a tensor: parts of it may be fp32. */
static const ProgramName *name_of(const Schedule *s, int tensor) {
  const ProgramName *found = NULL;
  for (int n = 0; n < s->n_names; n++)
    if (s->names[n].tensor == tensor && (s->names[n].is_loaded || s->names[n].is_stored) &&
        (!found || !(s->names[n].subscripts & IN_S)))
      found = &s->names[n];
  return found;
}

static double side_of(const Schedule *s, const Plan *p, uint8_t side, bool whole) {
  if (whole) return (double)schedule_side_whole(s, p, side);
  return fmin((double)schedule_side(s, p, side), (double)schedule_side_whole(s, p, side));
}

static double bytes_of(const Schedule *s, const Plan *p, int t, bool whole) {
  const ProgramName *n = name_of(s, t);
  if (!n) return 0;
  const double all = side_of(s, p, n->rows, whole) * side_of(s, p, n->cols, whole);
  if (s->tensors[t].is_stats) return all * 2 * STATS_BYTES * (whole ? (double)p->tiling.n_splits : 1);
  return all * (n->cols == SIDE_ONE ? STATS_BYTES : plan_element(p, s->tensors[t].operand));
}

/* Bytes of one whole tile of a tensor, and of the whole tensor. */
static double tile_bytes(const Schedule *s, const Plan *p, int t) { return bytes_of(s, p, t, false); }
static double tensor_bytes(const Schedule *s, const Plan *p, int t) { return bytes_of(s, p, t, true); }

static double moved(const Traffic *t, int tensor) { return (double)t->read[tensor] + (double)t->write[tensor]; }

/* The tensor with the most bytes beyond its first use. */
static int most_reused(const Schedule *s, const Plan *p, const Traffic *t) {
  int most = 0;
  double bytes = 0;
  for (int k = 0; k < s->n_tensors; k++) {
    const double again = moved(t, k) - tensor_bytes(s, p, k);
    if (!s->tensors[k].is_stats && again > bytes) bytes = again, most = k;
  }
  return most;
}

/* The same head in tiles so wide along the inner loop that its events can all be looked at; false: not even then. */
static bool widen(const Simulation *run, bool column_by_column, Plan *plan, int64_t *widening) {
  Tiling t = run->plan.tiling;
  *plan = run->plan;
  for (*widening = 1; schedule_n_steps(run->schedule, plan) > ENOUGH_EVENTS; *widening *= 2) {
    int64_t *inner = column_by_column ? &t.B_r : &t.B_c;
    if ((column_by_column ? plan->T_r : plan->T_c) < 2 * LEAST_INNER || *inner > PLAN_MAX_BLOCK / 2) break;
    *inner *= 2;
    if (plan_make(plan, &run->plan.shape, &t, NULL)) return false;
  }
  return schedule_n_steps(run->schedule, plan) <= MOST_EVENTS;
}

typedef struct {
  ReuseState *state;
  double unit_bytes, first_bytes;
  Wide too_small; /* bit of each tensor that takes no room */
} Walk;

static uint64_t place_of(const Schedule *s, const Plan *p, const Event *e) {
  const uint64_t i = (uint64_t)(e->i < 0 ? 0 : e->i), j = (uint64_t)(e->j < 0 ? 0 : e->j),
                 splits = (uint64_t)p->tiling.n_splits;
  const ProgramName *n = &s->names[s->ops[e->op].name];
  const bool rows = sides_have(n->rows, n->cols, SIDE_ROWS), cols = sides_have(n->rows, n->cols, SIDE_COLS);
  const uint64_t head = (uint64_t)e->head * (uint64_t)p->T_r * (uint64_t)p->T_c;
  if (rows && cols) return head + i * (uint64_t)p->T_c + j;
  if (cols) return head + j;
  return head + (n->is_input ? i : i * splits + (uint64_t)e->split); /* parts and their statistics are apart */
}

static Status use(Walk *walk, const Schedule *s, const Plan *p, const Event *e) {
  if (!event_moves(e->kind)) return STATUS_OK;
  const uint64_t before = walk->state->first_uses;
  const uint64_t units = (uint64_t)round(tile_bytes(s, p, e->tensor) / walk->unit_bytes);
  if (units == 0) {
    walk->too_small |= (Wide)1 << e->tensor;
    return STATUS_OK;
  }
  const Status status = reuse_use_range(walk->state, ((uint64_t)e->tensor << 58) + place_of(s, p, e) * units, units);
  walk->first_bytes += (double)e->bytes * (double)(walk->state->first_uses - before) / (double)units;
  return status;
}

/* ---- From distances to the curve ------------------------------------------------------------------------- */

typedef struct {
  const ReuseState *state;
  MissCurve *curve;
  double again_bytes; /* beyond first uses */
  uint64_t n_again;   /* uses beyond first uses, in units */
  uint64_t n_blocks;
} Distances;

static double missed(const Distances *s, uint64_t units) {
  const uint64_t again = reuse_misses(s->state, units) - s->state->first_uses;
  return s->curve->first_bytes + (s->n_again ? s->again_bytes * ((double)again / (double)s->n_again) : 0);
}

static void add(Distances *s, uint64_t units, double bytes) {
  if (s->curve->n == CHART_CURVE_POINTS) return;
  s->curve->capacity_bytes[s->curve->n] = (double)units * s->curve->unit_bytes;
  s->curve->missed_bytes[s->curve->n++] = bytes;
}

/* Adds the points in (low, high]: finer where the curve falls, until a step is one unit wide or a hundredth high. */
static void refine(Distances *s, uint64_t low, double at_low, uint64_t high, double at_high) {
  const double enough = (s->curve->total_bytes - s->curve->first_bytes) / 100;
  if (high - low > 1 && at_low - at_high > enough && s->curve->n < CHART_CURVE_POINTS - 40) {
    const uint64_t middle = low + (high - low) / 2;
    const double at_middle = missed(s, middle);
    refine(s, low, at_low, middle, at_middle);
    refine(s, middle, at_middle, high, at_high);
  } else {
    add(s, high, at_high);
  }
}

static void draw_curve(Distances *s) {
  uint64_t low = 1;
  double at_low = missed(s, 1);
  add(s, 1, at_low);
  while (low < s->n_blocks) {
    const uint64_t wanted = low + (low + 3) / 4, high = wanted < s->n_blocks ? wanted : s->n_blocks;
    const double at_high = missed(s, high);
    refine(s, low, at_low, high, at_high);
    low = high;
    at_low = at_high;
  }
}

double chart_missed_at(const MissCurve *c, double capacity_bytes) {
  double missed_bytes = c->total_bytes;
  for (int n = 0; n < c->n && c->capacity_bytes[n] <= capacity_bytes; n++) missed_bytes = c->missed_bytes[n];
  return missed_bytes;
}

/* ---- The whole ------------------------------------------------------------------------------------------- */

static void finish(MissCurve *c, const Walk *walk, const Simulation *run, const Gpu *gpu) {
  c->first_bytes = walk->first_bytes;
  for (int t = 0; t < run->schedule->n_tensors; t++) /* what took no room: at least its own size once */
    if (walk->too_small >> t & 1)
      c->first_bytes += fmin(moved(&run->traffic, t), tensor_bytes(run->schedule, &run->plan, t));
  c->total_bytes = (double)run->total_bytes;
  c->first_bytes = fmin(c->first_bytes, c->total_bytes);
  Distances s = {.state = walk->state,
                 .curve = c,
                 .again_bytes = c->total_bytes - c->first_bytes,
                 .n_again = walk->state->uses - walk->state->first_uses,
                 .n_blocks = walk->state->first_uses};
  if (s.n_again == 0) c->first_bytes = c->total_bytes;
  draw_curve(&s);
  if (gpu->l2_bytes > 0) c->l2_missed_bytes = missed(&s, (uint64_t)(c->l2_bytes / c->unit_bytes));
  c->is_known = true;
}

void chart_misses_make(MissCurve *c, const Simulation *run, const Gpu *gpu, bool column_by_column) {
  Plan plan;
  memset(c, 0, sizeof *c);
  c->l2_bytes = (double)gpu->l2_bytes;
  if (!widen(run, column_by_column, &plan, &c->widening)) {
    snprintf(c->why_not, sizeof c->why_not, "this head is too long to walk; larger blocks make it shorter");
    return;
  }
  Walk walk = {.unit_bytes = tile_bytes(run->schedule, &plan, most_reused(run->schedule, &plan, &run->traffic))};
  const double units =
      ((double)run->inputs_bytes + (double)run->outputs_bytes + (double)run->intermediates_bytes) / walk.unit_bytes;
  const double wanted = 2 * units + 6 * (double)(plan.T_r + plan.T_c) * (double)plan.tiling.n_splits + 64;
  const uint64_t room = (uint64_t)fmin(wanted, MOST_UNITS);
  walk.state = malloc(reuse_state_bytes(room));
  Status status = walk.state ? reuse_init(walk.state, room, NULL) : STATUS_NO_MEMORY;
  Cursor cursor = {0};
  Event event;
  while (!status && schedule_next(run->schedule, &plan, &cursor, &event))
    status = use(&walk, run->schedule, &plan, &event);
  c->unit_bytes = walk.unit_bytes;
  if (status)
    snprintf(c->why_not, sizeof c->why_not, "%s",
             status == STATUS_NO_MEMORY ? "there is no memory to walk this head"
                                        : "this head has too many tiles to walk");
  else
    finish(c, &walk, run, gpu);
  free(walk.state);
}
