#include "sim/pace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double time;
  uint32_t cta;
} Turn;

typedef struct {
  double speed; /* times the wait */
  uint64_t step;
  uint32_t side, coalescer;
} Cta;

typedef struct {
  PaceConfig config;
  PaceProgram *program;
  const void *context;
  Hierarchy *hierarchy;
  Cta *ctas;
  Turn *turns; /* a heap, earliest first */
  uint32_t n_turns;
  double *ready[HIERARCHY_SIDES]; /* by granule: when the home half, then the copy half, is there */
  struct Pending {
    double since;
    uint32_t n;
  } * pending; /* by coalescer and granule */
  uint32_t n_coalescers;
  PaceResult result;
} Pace;

/* --- placement --- */

PacePlacement pace_placement_h200(uint32_t ctas_per_sm) {
  /* SMs of 8 GPCs in the order in which CTAs are dealt out, by the side whose atomics are near. */
  const PacePlacement one = {6, {8, 32, 50, 18, 8, 16}};
  const PacePlacement two = {10, {8, 32, 58, 18, 8, 48, 50, 18, 8, 16}};
  return ctas_per_sm >= 2 ? two : one;
}

uint32_t pace_side(const PacePlacement *placement, uint32_t cta) {
  if (!placement->n_runs) return cta % HIERARCHY_SIDES;
  uint32_t total = 0;
  for (uint32_t i = 0; i < placement->n_runs; i++)
    total += placement->lengths[i];
  cta %= total;
  for (uint32_t i = 0; i < placement->n_runs; i++) {
    if (cta < placement->lengths[i]) return i % HIERARCHY_SIDES;
    cta -= placement->lengths[i];
  }
  return 0;
}

/* --- the queue of turns --- */

static void push_turn(Pace *p, Turn turn) {
  uint32_t i = p->n_turns++;
  for (; i && p->turns[(i - 1) / 2].time > turn.time; i = (i - 1) / 2)
    p->turns[i] = p->turns[(i - 1) / 2];
  p->turns[i] = turn;
}

static Turn pop_turn(Pace *p) {
  const Turn first = p->turns[0], last = p->turns[--p->n_turns];
  uint32_t i = 0;
  for (uint32_t child; (child = 2 * i + 1) < p->n_turns; i = child) {
    if (child + 1 < p->n_turns && p->turns[child + 1].time < p->turns[child].time) child++;
    if (p->turns[child].time >= last.time) break;
    p->turns[i] = p->turns[child];
  }
  p->turns[i] = last;
  return first;
}

/* --- one turn --- */

/* 64 bits for the n-th draw of a stream: two steps of Vigna's splitmix64 (2015). A few nanoseconds,
 * and good enough for a jitter; sim/random.h is for numbers that people see. */
static uint64_t draw(uint64_t seed, uint64_t stream, uint64_t n) {
  uint64_t x = seed ^ stream << 40 ^ n;
  for (int i = 0; i < 2; i++) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return x;
}

/* About normal, mean 0, standard deviation 1: four uniform numbers of 16 bits (Irwin-Hall). */
static double about_normal(uint64_t bits) {
  const double sum = (double)(bits & 0xffff) + (double)(bits >> 16 & 0xffff) +
                     (double)(bits >> 32 & 0xffff) + (double)(bits >> 48);
  return (sum / 65536 - 2) * 1.7320508075688772;
}

static double later(double a, double b) {
  return a > b ? a : b;
}

/* Asks L2 for the granule at `now`; returns when all of it is there. */
static double fetch(Pace *p, uint32_t side, uint64_t granule, double now) {
  const PaceConfig *c = &p->config;
  double *own = p->ready[side] + 2 * granule, *far_home = p->ready[1 - side] + 2 * granule;
  const double hit = c->hit_cycles + c->share_cycles * c->ctas_per_sm,
               half = p->hierarchy->half_bytes;
  const HierarchyRead read = hierarchy_read(p->hierarchy, side, granule);
  double there = now + hit;
  p->result.l2_miss_bytes += (read.home_missing + read.copy_missing) * half;
  if (read.home_missing > 0) {
    own[0] = (there + c->miss_cycles);
  } else if (own[0] > now && own[1] <= 0) {
    p->result.l2_miss_bytes +=
        half; /* the other side has sent for it, and nobody of this side has looked yet */
  }
  if (read.copy_missing > 0) {
    double arrives = there + c->far_cycles;
    if (read.far_missing > 0)
      far_home[0] = (arrives += c->miss_cycles);
    else
      arrives = later(arrives, far_home[0] + c->far_cycles);
    own[1] = arrives;
  }
  return later(there, later(own[0], own[1]));
}

/* Counts what the coalescer lets through: a request joins one that still waits and has room. */
static void coalesce(Pace *p, uint32_t cta, uint64_t granule, double now, double wait) {
  struct Pending *pending = &p->pending[granule * p->n_coalescers + p->ctas[cta].coalescer];
  if (pending->n && pending->n < p->config.coalesce_most && now - pending->since < wait) {
    pending->n++;
    return;
  }
  pending->since = now;
  pending->n = 1;
  p->result.l2_read_bytes += 2 * p->hierarchy->half_bytes;
}

static void take_turn(Pace *p, Turn turn) {
  const PaceConfig *c = &p->config;
  Cta *cta = &p->ctas[turn.cta];
  PaceStep step;
  if (!p->program(p->context, turn.cta, cta->step, &step)) return;
  const double wait = fetch(p, cta->side, step.granule, turn.time) - turn.time;
  coalesce(p, turn.cta, step.granule, turn.time, wait);
  const double passing =
      1 + c->passing_spread * about_normal(draw(c->seed, 1 + turn.cta, cta->step));
  const double next = turn.time + wait * cta->speed * later(passing, 0.1) + step.work_cycles;
  p->result.cycles = later(p->result.cycles, next);
  p->result.steps++;
  cta->step++;
  push_turn(p, (Turn){next, turn.cta});
}

/* --- a run --- */

static void fill_in(PaceConfig *c) {
  double *const values[] = {&c->hit_cycles, &c->share_cycles,   &c->miss_cycles,
                            &c->far_cycles, &c->lasting_spread, &c->passing_spread};
  const double defaults[] = {525, 160, 625, 200, 0.0045, 0.16};
  for (int i = 0; i < 6; i++)
    if (*values[i] == 0) *values[i] = defaults[i];
  c->lasting_spread = later(c->lasting_spread, 0);
  c->passing_spread = later(c->passing_spread, 0);
  if (!c->ctas_per_sm) c->ctas_per_sm = 1;
  if (!c->coalesce_sms) c->coalesce_sms = 8;
  if (!c->coalesce_most) c->coalesce_most = 4;
}

static Status prepare(Pace *p, Error *error) {
  const PaceConfig *c = &p->config;
  if (c->n_ctas < 1 || c->n_ctas > PACE_CTAS_MAX || c->ctas_per_sm > c->n_ctas)
    return error_set(error, STATUS_BAD_REQUEST,
                     "pace: %u CTAs, %u to an SM; 1 to %d at once are modelled", c->n_ctas,
                     c->ctas_per_sm, PACE_CTAS_MAX);
  const size_t bytes = hierarchy_state_bytes(&c->hierarchy), n = (size_t)c->hierarchy.n_granules;
  Hierarchy probe;
  if (!bytes) return hierarchy_init(&probe, &c->hierarchy, error);
  p->n_coalescers = c->n_ctas / c->ctas_per_sm / c->coalesce_sms + 1;
  p->hierarchy = malloc(bytes);
  p->ctas = calloc(c->n_ctas, sizeof *p->ctas);
  p->turns = malloc(c->n_ctas * sizeof *p->turns);
  p->pending = calloc(n * p->n_coalescers, sizeof *p->pending);
  for (int side = 0; side < HIERARCHY_SIDES; side++)
    p->ready[side] = calloc(2 * n, sizeof(double));
  if (!p->hierarchy || !p->ctas || !p->turns || !p->pending || !p->ready[0] || !p->ready[1])
    return error_set(error, STATUS_NO_MEMORY, "pace: no memory for %u CTAs over %zu granules",
                     c->n_ctas, n);
  for (uint32_t i = 0; i < c->n_ctas; i++) {
    p->ctas[i].speed = 1 + c->lasting_spread * about_normal(draw(c->seed, 0, i));
    p->ctas[i].side = pace_side(&c->placement, i);
    p->ctas[i].coalescer = i % (c->n_ctas / c->ctas_per_sm) / c->coalesce_sms;
    push_turn(p, (Turn){0.01 * i, i});
  }
  return hierarchy_init(p->hierarchy, &c->hierarchy, error);
}

Status pace_run(const PaceConfig *config, PaceProgram *program, const void *context,
                PaceResult *result, Error *error) {
  Pace p = {.config = *config, .program = program, .context = context};
  fill_in(&p.config);
  const Status status = prepare(&p, error);
  if (status == STATUS_OK) {
    while (p.n_turns)
      take_turn(&p, pop_turn(&p));
    p.result.bytes = p.hierarchy->counts;
    *result = p.result;
  }
  free(p.hierarchy);
  free(p.ctas);
  free(p.turns);
  free(p.pending);
  for (int side = 0; side < HIERARCHY_SIDES; side++)
    free(p.ready[side]);
  return status;
}
