/* The start of a run: defaults, places, how CTAs differ, and memory. */
#include <stdlib.h>

#include "sim/l2/clock_inner.h"

enum { SMS_OF_TPC = 2 };

/* Mean 1. */
static double exponential(uint64_t bits) { return -log(uniform(bits)); }

void clock_set_defaults(ClockConfig *c) {
  const double own = c->ctas_per_sm > 1 ? CLOCK_JITTER_CYCLES_SHARED : CLOCK_JITTER_CYCLES;
  const struct {
    double *value, usual;
  } values[] = {{&c->hit_cycles, CLOCK_HIT_CYCLES},
                {&c->crowding_cycles, CLOCK_CROWDING_CYCLES},
                {&c->miss_cycles, CLOCK_MISS_CYCLES},
                {&c->far_cycles, 200},
                {&c->stale_home_cycles, 85},
                {&c->join_cycles, 70},
                {&c->streaming_cycles, CLOCK_STREAMING_CYCLES},
                {&c->cta_wait_spread, 0.0045},
                {&c->cta_work_spread, 0.0002},
                {&c->request_spread, CLOCK_REQUEST_SPREAD},
                {&c->jitter_cycles, own},
                {&c->full_jitter_cycles, 0},
                {&c->side_start_cycles, 95},
                {&c->slip_steps, CLOCK_SLIP_STEPS},
                {&c->missed_turn_rate, CLOCK_MISSED_TURN_RATE},
                {&c->prefetch_lead, 1},
                {&c->steps_per_turn, 1},
                {&c->code_fetch_cycles, 0},
                {&c->gpc_clock_scale, 1}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    if (*values[i].value == 0) *values[i].value = values[i].usual;
    *values[i].value = later(*values[i].value, 0);
  }
  if (!c->ctas_per_sm) c->ctas_per_sm = 1;
  if (!c->slots_per_sm) c->slots_per_sm = c->ctas_per_sm;
  if (!c->n_kernels) c->n_kernels = 1;
  if (!c->join_max) c->join_max = 4;
  if (c->in_step) { /* all that is asked for in a turn is there before the next one */
    c->hit_cycles = c->far_cycles = c->miss_cycles = c->stale_home_cycles = 0.25;
    c->crowding_cycles = 0;
    c->shared_work = false;
  }
}

/* How many GPCs there are, and SMs: one more than the last of them. */
static uint32_t count_gpcs(const Place *places, uint32_t n) {
  uint32_t n_gpcs = 0;
  for (uint32_t i = 0; i < n; i++)
    if (places[i].gpc >= n_gpcs) n_gpcs = places[i].gpc + 1;
  return n_gpcs;
}

static uint32_t count_sms(const Place *places, uint32_t n) {
  uint32_t n_sms = 0;
  for (uint32_t i = 0; i < n; i++)
    if (places[i].sm >= n_sms) n_sms = places[i].sm + 1;
  return n_sms;
}

static void place(Clock *p, const Place *places) {
  const ClockConfig *c = &p->config;
  for (uint32_t i = 0; i < c->n_ctas; i++) {
    Cta *cta = &p->ctas[i];
    const double normal = about_normal(draw(c->seed, DRAW_CTA, jitter_group(c, i, places[i].sm)));
    const uint64_t layer = places[i].layer % c->ctas_per_sm;
    cta->wait_slowdown = c->cta_wait_spread * normal;
    cta->work_slowdown = c->cta_work_spread * normal;
    cta->start_delay = c->start_lag_cycles * (double)layer +
                       c->code_fetch_cycles * exponential(draw(c->seed, DRAW_START, places[i].sm / SMS_OF_TPC));
    cta->clock = c->gpc_clocks_differ && !c->in_step ? 1 - c->gpc_clock_scale * places[i].clock_ppm * 1e-6 : 1;
    cta->side = c->hierarchy.one_partition ? 0 : (uint8_t)places[i].side;
    cta->gpc = (uint16_t)places[i].gpc;
    cta->sm = places[i].sm;
  }
}

/* The CTAs of an SM are to get apart by age_spread in the long run. */
static void set_slips(Clock *p) {
  const ClockConfig *c = &p->config;
  if (c->age_spread <= 0 || c->steady_aging || c->ctas_per_sm < 2) return;
  p->slip_interval = c->slip_steps / (c->age_spread * rank_among(c->ctas_per_sm - 1, c->ctas_per_sm));
  for (uint32_t i = 0; i < c->n_ctas; i++) p->ctas[i].next_slip = steps_to_slip(p, &p->ctas[i]);
}

/* The CTAs of an SM next to each other. */
static void set_residents(Clock *p, uint32_t n_sms) {
  for (uint32_t i = 0; i < p->config.n_ctas; i++) p->sms[p->ctas[i].sm].end++;
  for (uint32_t i = 0, first = 0; i < n_sms; i++) {
    const uint32_t n = p->sms[i].end;
    p->sms[i].first = p->sms[i].end = first;
    first += n;
  }
  for (uint32_t i = 0; i < p->config.n_ctas; i++) p->ctas[i].resident = p->sms[p->ctas[i].sm].end++;
}

/* One side or the other. */
static void set_side_delays(Clock *p) {
  const double apart = p->config.side_start_cycles * about_normal(draw(p->config.seed, DRAW_SIDES, 0));
  p->side_delay[0] = later(-apart, 0);
  p->side_delay[1] = later(apart, 0);
}

Status clock_prepare(Clock *p, Error *error) {
  const ClockConfig *c = &p->config;
  if (c->n_ctas < 1 || c->n_ctas > CLOCK_CTAS_MAX || c->ctas_per_sm > c->n_ctas)
    return error_refuse(error, "clock: %u CTAs, %u to an SM; 1 to %d at once are modelled", c->n_ctas, c->ctas_per_sm,
                        CLOCK_CTAS_MAX);
  const size_t bytes = hierarchy_state_bytes(&c->hierarchy);
  Hierarchy probe;
  if (!bytes) return hierarchy_init(&probe, &c->hierarchy, error);
  p->hierarchy = malloc(bytes);
  if (!p->hierarchy) return error_set(error, STATUS_NO_MEMORY, "clock: no memory for an L2");
  const Status status = hierarchy_init(p->hierarchy, &c->hierarchy, error);
  const size_t n = (size_t)p->hierarchy->n_granules;
  p->ctas = calloc(c->n_ctas, sizeof *p->ctas);
  if (!c->places) p->places = malloc(c->n_ctas * sizeof *p->places);
  if (p->places) placement_deal(NULL, (c->n_ctas + c->ctas_per_sm - 1) / c->ctas_per_sm, 0, p->places, c->n_ctas);
  const Place *places = c->places ? c->places : p->places;
  if (places) p->pending = calloc(count_gpcs(places, c->n_ctas), sizeof *p->pending);
  p->arrivals = calloc(n, sizeof *p->arrivals);
  const uint32_t n_sms = places ? count_sms(places, c->n_ctas) : 0;
  if (places) p->sms = calloc(n_sms, sizeof *p->sms);
  p->residents = calloc(c->n_ctas, sizeof *p->residents);
  if (!p->ctas || !p->pending || !p->sms || !p->residents || !p->arrivals)
    return error_set(error, STATUS_NO_MEMORY, "clock: no memory for %u CTAs over %zu parts of lines", c->n_ctas, n);
  p->bucket_cycles = c->in_step ? 1 : c->tick_cycles > 0 ? c->tick_cycles : 8;
  p->buckets_per_cycle = 1 / p->bucket_cycles;
  if (c->l2_bytes_per_cycle > 0) p->l2_cycles_per_byte = 1 / c->l2_bytes_per_cycle;
  if (c->hbm_bytes_per_cycle > 0) p->hbm_cycles_per_byte = 1 / c->hbm_bytes_per_cycle;
  p->jitter_seed = draw(c->seed, DRAW_JITTER, 0);
  p->jitter_cycles = c->jitter_cycles;
  place(p, places);
  set_residents(p, n_sms);
  set_slips(p);
  set_side_delays(p);
  return status;
}
