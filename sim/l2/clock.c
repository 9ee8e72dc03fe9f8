#include "sim/l2/clock.h"

#include "sim/base/splitmix.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WHEEL = 4096, PENDING_BITS = 7, PENDING = 1 << PENDING_BITS };
enum { SMS_OF_TPC = 2 };
enum {
  DRAW_CTA,
  DRAW_JITTER,
  DRAW_START,
  DRAW_SIDES = 4,
  DRAW_SLIP,
  DRAW_HANDOVER
}; /* streams of random numbers, which stay what they are */
#define NOBODY           UINT32_MAX
#define OUT_OF_STEP_PART (1.0 / 3) /* of a CTA's work: one that starts so far off is out of step [assumed] */
#define START_CYCLES     1.0       /* from one CTA's start to the next: 264 start within 300 cycles [measured] */

/* What a CTA of a shared SM does until its time comes. */
typedef enum { ASKS_NEXT = 0, ARRIVES, WORKS } State;

typedef struct {
  double time;                         /* of the next step */
  double wait_slowdown, work_slowdown; /* of every wait, of all work; 0: none */
  double clock;                        /* of its GPC: cycles of it in one of the mean clock */
  double owed_steps;                   /* added to its next step with work; negative: gained */
  uint32_t next;                       /* in the same bucket */
  uint32_t steps, n_worked;            /* n_worked: with work */
  uint32_t sm, resident;
  uint16_t gpc;
  uint8_t side, state; /* a State */
  double next_slip;    /* in steps with work */
  double start_delay;  /* cycles */
  double work;         /* cycles of the present step, alone on the SM */
  uint32_t n_slips;
} Cta;

/* What the CTAs of an SM know of each other. */
typedef struct {
  double work_until;  /* its work ends when `worked` of its SM gets here; below it: it does not work */
  double work_begins; /* of its present work, or its last */
  double since;       /* its start; INFINITY: it has ended */
  bool is_new;        /* it replaced another and has not worked yet */
} Resident;

/* CTAs that work share their SM equally; those that wait take less. */
typedef struct {
  double until;        /* the time up to which this is counted */
  double worked;       /* cycles of work that each working CTA has done by then, since the beginning */
  uint32_t first, end; /* its CTAs, among the residents of all SMs */
  uint32_t n_resident, n_working;
} Sm;

/* A request at a coalescer. Others for its granule join until `until`, and have their data when it has. */
typedef struct {
  uint32_t granule; /* + 1 */
  uint32_t n;
  double until, ready;
} Pending;

/* When the halves of a granule arrive on a side, and until when its home has not heard of the other side's request. */
typedef struct {
  double home, copy, unknown_until;
} Arrival;

/* CTAs that wait, where the bucket's bit is set. */
typedef struct {
  uint32_t first, last;
} Bucket;

struct Clock {
  ClockConfig config;
  ClockProgram *program;
  void *context;
  Hierarchy *hierarchy;
  Cta *ctas;
  Place *places; /* where the caller named none */
  Sm *sms;
  Resident *residents;  /* SM by SM */
  double slip_interval; /* mean, in steps with work; 0: never */
  double bucket_cycles, buckets_per_cycle;
  double l2_cycles_per_byte, hbm_cycles_per_byte;
  uint64_t in_use[WHEEL / 64];          /* a bit for each bucket */
  uint64_t bucket;                      /* being served; before the first: one less, modulo 2^64 */
  Arrival (*arrivals)[HIERARCHY_SIDES]; /* by granule */
  Pending (*pending)[PENDING];          /* by GPC, and pending_index(granule) */
  uint32_t n_waiting, kernel;
  uint32_t n_resident;                       /* CTAs that have not ended */
  double jitter_cycles;                      /* of a step, by the number of CTAs resident */
  uint32_t n_started;                        /* CTAs that have asked for their first data */
  double started_at;                         /* when all of these have arrived */
  double side_delay[HIERARCHY_SIDES];        /* of them, on one side */
  double l2_free[HIERARCHY_SIDES], hbm_free; /* when they have served what was asked for so far */
  uint64_t jitter_seed;
  ClockResult result;  /* bytes.read_bytes: of requests that joined another */
  Bucket wheel[WHEEL]; /* CTAs by the time of their next step, first come first served within a bucket; last here, for
                          it begins with any content */
};

/* --- the clock --- */

static void wait_until(Clock *p, uint32_t cta, double time) {
  const uint64_t due = (uint64_t)(time * p->buckets_per_cycle), soonest = p->bucket + 1,
                 bucket = (due > soonest ? due : soonest) % WHEEL;
  const uint64_t bit = UINT64_C(1) << bucket % 64;
  p->ctas[cta].time = time;
  p->ctas[cta].next = NOBODY;
  if (p->in_use[bucket / 64] & bit) {
    p->ctas[p->wheel[bucket].last].next = cta;
  } else {
    p->wheel[bucket].first = cta;
    p->in_use[bucket / 64] |= bit;
  }
  p->wheel[bucket].last = cta;
  p->n_waiting++;
}

/* 64 bits for the n-th draw of a stream. The seed is spread over all bits first: the draws of
 * neighbouring seeds would else be the same numbers in another order, and no sample of many seeds larger than that of
 * one. */
static uint64_t draw(uint64_t seed, uint64_t stream, uint64_t n) {
  return mix(mix((seed + 1) * 0xd1342543de82ef95u ^ stream << 40 ^ n));
}

/* Between 0 and 1. */
static double uniform(uint64_t bits) { return ((double)(bits >> 11) + 0.5) * 0x1p-53; }

/* Mean 1. */
static double exponential(uint64_t bits) { return -log(uniform(bits)); }

/* Of a step, mean 0, standard deviation 1; cheaper than draw. */
static inline double jitter(const Clock *p, uint32_t cta, uint32_t step) {
  uint64_t x = (p->jitter_seed ^ ((uint64_t)cta << 32 | step)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return about_normal(x ^ (x >> 31));
}

static double later(double a, double b) { return a > b ? a : b; }

static double sooner(double a, double b) { return a < b ? a : b; }

/* --- one step --- */

/* A server of limited bandwidth, one request after another: when a request of `now` has left it. */
static double queue(double *free_at, double now, double bytes, double cycles_per_byte) {
  if (cycles_per_byte <= 0) return now;
  return *free_at = later(*free_at, now) + bytes * cycles_per_byte;
}

/* From L2 to a CTA, the longer the more CTAs share its SM. */
static double hit_cycles(const Clock *p, const Cta *cta) {
  return p->config.hit_cycles + p->config.crowding_cycles * p->sms[cta->sm].n_resident;
}

/* Asks L2 for the granule at `now`. A hit takes `hit` cycles. Returns when all of it has arrived. */
static double fetch(Clock *p, uint32_t side, uint64_t granule, double now, double hit) {
  const ClockConfig *c = &p->config;
  Arrival *own = &p->arrivals[granule][side], *far = &p->arrivals[granule][1 - side];
  const double half = hierarchy_granule_bytes(p->hierarchy, granule) / 2;
  const HierarchyRead read = hierarchy_read(p->hierarchy, side, granule);
  double ready = queue(&p->l2_free[side], now, 2 * half, p->l2_cycles_per_byte) + hit;
  if (read.home_missing + read.copy_missing > 0)
    ready = later(ready, queue(&p->hbm_free, now, (read.home_missing + read.copy_missing * read.far_missing) * half,
                               p->hbm_cycles_per_byte));
  if (read.home_missing > 0)
    own->home = ready + c->miss_cycles;
  else if (now < own->unknown_until && own->copy <= 0) /* asked for by the other side, and by nobody of this one */
    p->result.l2_miss_bytes += half;
  if (read.copy_missing > 0) {
    double arrives = ready + c->far_cycles;
    if (read.far_missing > 0) {
      far->home = (arrives += c->miss_cycles);
      far->unknown_until = now + c->stale_home_cycles;
    } else {
      arrives = later(arrives, far->home + c->far_cycles);
    }
    own->copy = arrives;
  }
  return later(ready, later(own->home, own->copy));
}

/* A wait, with its spread. */
static double with_spread(const Clock *p, uint32_t at, double cycles) {
  return cycles * (1 + later(p->config.request_spread * jitter(p, at, p->ctas[at].steps), -0.9));
}

/* Where a coalescer notes a granule (Fibonacci hashing, Knuth 6.4). Its last bits alone would not do: heads are as long
 * as powers of two, and those that are walked at the same time are at the same tile. */
static uint32_t pending_index(uint64_t granule) {
  return (uint32_t)(granule * 0x9e3779b97f4a7c15u >> (64 - PENDING_BITS));
}

/* Asks for a granule; returns when it is there. A request joins one that can still be joined at its GPC's coalescer,
 * and never reaches L2. */
static double ask(Clock *p, uint32_t at, uint64_t granule, double now) {
  const ClockConfig *c = &p->config;
  const Cta *cta = &p->ctas[at];
  Pending *pending = &p->pending[cta->gpc][pending_index(granule)];
  if (pending->granule == granule + 1 && pending->n < c->join_max && now < pending->until) {
    pending->n++;
    p->result.bytes.read_bytes += hierarchy_granule_bytes(p->hierarchy, granule);
    return pending->ready;
  }
  pending->granule = (uint32_t)granule + 1;
  pending->n = 1;
  const double hit = hit_cycles(p, cta), ready = fetch(p, cta->side, granule, now, hit), wait = ready - now;
  if (c->in_step) return pending->ready = pending->until = ready;
  pending->until = later(now + c->join_cycles, ready - hit - c->streaming_cycles);
  if (c->starts_together && cta->steps == 0) return pending->ready = ready;
  return pending->ready = now + with_spread(p, at, wait);
}

/* Which CTAs share their jitter: those of an SM, if they prefetch; else each has its own. */
static uint32_t jitter_group(const ClockConfig *c, uint32_t at, uint32_t sm) { return c->prefetches ? sm : at; }

/* Steps with work until the next slip of an SM's CTAs, which draw the same. */
static double steps_to_slip(const Clock *p, const Cta *cta) {
  return 2 * p->slip_interval * uniform(draw(p->config.seed, DRAW_SLIP, (uint64_t)cta->sm << 32 | cta->n_slips));
}

/* Of n: evenly spaced, mean 0, standard deviation 1. */
static double rank_among(uint64_t rank, double n) {
  return n > 1 ? ((double)rank - (n - 1) / 2) / sqrt((n * n - 1) / 12) : 0;
}

/* Among its SM's CTAs, from the oldest to the youngest: mean 0, standard deviation 1. The last of them is *most. */
static double age_rank(const Clock *p, const Cta *cta, double *most) {
  uint64_t older = 0, n = 0;
  const Sm *sm = &p->sms[cta->sm];
  for (uint32_t i = sm->first; i < sm->end; i++) {
    older += p->residents[i].since < p->residents[cta->resident].since;
    n += p->residents[i].since < INFINITY;
  }
  *most = n > 1 ? rank_among(n - 1, (double)n) : 1;
  return n > 1 ? rank_among(older, (double)n) : 0;
}

/* Another CTA takes its place then, and may miss a turn where one more of the SM is new. */
static void replace(Clock *p, uint32_t at, double then) {
  const ClockConfig *c = &p->config;
  Cta *cta = &p->ctas[at];
  const bool misses = uniform(draw(c->seed, DRAW_HANDOVER, (uint64_t)at << 32 | cta->steps)) < c->missed_turn_rate;
  const Sm *sm = &p->sms[cta->sm];
  Resident *resident = &p->residents[cta->resident];
  resident->is_new = false;
  cta->owed_steps = 0;
  for (uint32_t i = sm->first; i < sm->end; i++)
    if (p->residents[i].is_new && misses && c->prefetches) cta->owed_steps = c->steps_per_turn;
  resident->is_new = true;
  resident->since = then;
}

/* How many times as long the next step with work takes, by the CTA's age on its SM. */
static double aging_factor(const Clock *p, Cta *cta) {
  double times = 1 + cta->owed_steps, most;
  p->residents[cta->resident].is_new = false;
  if (p->config.steady_aging && p->config.age_spread > 0) times += p->config.age_spread * age_rank(p, cta, &most);
  for (; p->slip_interval > 0 && cta->n_worked >= cta->next_slip;
       cta->n_slips++, cta->next_slip += steps_to_slip(p, cta)) {
    const double ahead = age_rank(p, cta, &most);
    if (p->sms[cta->sm].n_resident == p->config.slots_per_sm) times += p->config.slip_steps * ahead / most;
  }
  cta->n_worked++;
  const double takes = later(times, 0.1);
  cta->owed_steps = times - takes;
  return takes;
}

/* CTAs start or end; jitter follows their number. */
static void count_residents(Clock *p, int more) {
  p->n_resident += (uint32_t)more;
  if (p->config.full_jitter_cycles > 0)
    p->jitter_cycles = hypot(p->config.jitter_cycles, p->config.full_jitter_cycles * p->n_resident / p->config.n_ctas);
}

/* What a step takes of its GPC's cycles. */
static double step_cycles(const Clock *p, uint32_t at, double wait, double work) {
  const ClockConfig *c = &p->config;
  Cta *cta = &p->ctas[at];
  if (c->in_step) return 1;
  const double waits = wait * (1 + cta->wait_slowdown), works = work * (1 + cta->work_slowdown);
  double takes =
      c->prefetches ? (1 - c->prefetch_lead) * works + later(waits, c->prefetch_lead * works) : waits + works;
  if (c->prefetches && work > 0) {
    if (cta->n_worked == 0) takes += cta->start_delay;
    takes *= aging_factor(p, cta);
  }
  return later(takes + p->jitter_cycles * jitter(p, c->n_ctas + jitter_group(c, at, cta->sm), cta->steps), 0.1 * takes);
}

/* A CTA's first step would end then, or it has none; they go on when the last of them can. */
static void begin_together(Clock *p, double ends) {
  p->started_at = later(p->started_at, ends);
  if (++p->n_started < p->config.n_ctas) return;
  for (uint32_t i = 0; i < p->config.n_ctas; i++)
    if (p->ctas[i].steps == 1) wait_until(p, i, p->started_at + p->side_delay[p->ctas[i].side]);
}

/* --- an SM that its CTAs share --- */

/* How many times as long work takes as alone on the SM. */
static double slowdown_of(const Clock *p, const Sm *sm) {
  const double n_working = sm->n_working, n_waiting = (double)sm->n_resident - n_working;
  return n_working + p->config.waiting_weight * n_waiting;
}

static void share(Clock *p, Sm *sm, double now) {
  if (now <= sm->until) return; /* within a tick */
  if (sm->n_working) sm->worked += (now - sm->until) / slowdown_of(p, sm);
  sm->until = now;
}

/* When its work ends if no other begins some before: those with less left are done by then, and wait, the others as far
 * as it is. */
static double work_ends(const Clock *p, const Cta *cta) {
  const Sm *sm = &p->sms[cta->sm];
  const double own = p->residents[cta->resident].work_until - sm->worked;
  double cycles = 0;
  for (uint32_t i = sm->first; i < sm->end; i++)
    cycles += sooner(later(p->residents[i].work_until - sm->worked, 0), own);
  const double waiting = p->config.waiting_weight;
  return cta->time + (1 - waiting) * cycles + waiting * sm->n_resident * own;
}

/* How many others of its SM are not in step with it: their work begins earlier or later, by a third of it or more; or
 * parts of one. The next one's, or the last of both if the other's next is not known yet. */
static double n_out_of_step(const Clock *p, const Cta *cta, double work_begins, double work_cycles) {
  const Sm *sm = &p->sms[cta->sm];
  const Resident *own = &p->residents[cta->resident];
  double n = 0;
  for (uint32_t i = sm->first; i < sm->end; i++) {
    const Resident *other = &p->residents[i];
    if (other == own || other->since == INFINITY) continue;
    const double apart = sooner(fabs(work_begins - other->work_begins), fabs(own->work_begins - other->work_begins));
    n += sooner(apart / (OUT_OF_STEP_PART * work_cycles), 1);
  }
  return n;
}

/* Work starts when its data have arrived. */
static void start_work(Clock *p, uint32_t at, double ready, double work_cycles) {
  Cta *cta = &p->ctas[at];
  double more = 0;
  if (p->config.out_of_step_spread > 0)
    more = p->config.out_of_step_spread * n_out_of_step(p, cta, ready, work_cycles) *
           jitter(p, 2 * p->config.n_ctas + at, cta->steps);
  p->residents[cta->resident].work_begins = ready;
  cta->work = work_cycles * (1 + more) * (1 + cta->work_slowdown) * cta->clock * aging_factor(p, cta);
  cta->state = ARRIVES;
}

/* Its data have arrived, or its work should be done. True: it is. */
static bool work_is_done(Clock *p, uint32_t at) {
  Cta *cta = &p->ctas[at];
  Sm *sm = &p->sms[cta->sm];
  Resident *resident = &p->residents[cta->resident];
  share(p, sm, cta->time);
  if (cta->state == ARRIVES) {
    cta->state = WORKS;
    resident->work_until = sm->worked + cta->work;
    sm->n_working++;
  } else if (resident->work_until - sm->worked < p->bucket_cycles / 2) {
    cta->state = ASKS_NEXT;
    resident->work_until = 0;
    sm->n_working--;
    p->result.cycles = later(p->result.cycles, cta->time);
    return true;
  }
  wait_until(p, at, work_ends(p, cta));
  return false;
}

static void take_step(Clock *p, uint32_t at) {
  Cta *cta = &p->ctas[at];
  const double now = cta->time;
  ClockStep step; /* its tables stay as they are: only what is counted in them is read */
  step.n_reads = step.n_writes = 0;
  step.renewed = 0;
  step.work_cycles = step.wait_cycles = step.latency_cycles = 0;
  step.is_replaced = false;
  const bool is_start =
      p->config.starts_together && p->n_started < p->config.n_ctas; /* nobody goes on before all have begun */
  if (!p->program(p->context, p, at, &step)) {
    share(p, &p->sms[cta->sm], now);
    p->residents[cta->resident].since = INFINITY;
    p->sms[cta->sm].n_resident--;
    count_residents(p, -1);
    if (is_start) begin_together(p, now);
    return;
  }
  double ready = step.wait_cycles > 0 ? now + with_spread(p, at, step.wait_cycles) : now;
  if (step.is_replaced) replace(p, at, ready);
  for (uint32_t i = 0; i < step.n_reads; i++) ready = later(ready, ask(p, at, step.reads[i], now));
  for (uint32_t i = 0; i < step.n_writes; i++) hierarchy_write(p->hierarchy, cta->side, step.writes[i]);
  if (step.renewed) hierarchy_renew(p->hierarchy, cta->side, step.renewed - 1);
  ready += step.latency_cycles;
  if (p->config.shared_work && !is_start && step.work_cycles > 0) {
    start_work(p, at, ready, step.work_cycles);
    step.work_cycles = 0;
  }
  const double ends = now + step_cycles(p, at, ready - now, step.work_cycles) * cta->clock;
  cta->steps++;
  p->result.steps++;
  p->result.cycles = later(p->result.cycles, ends);
  if (is_start)
    begin_together(p, ends);
  else
    wait_until(p, at, ends);
}

/* To the next bucket in use; somebody waits. */
static void turn_wheel(Clock *p) {
  p->bucket++;
  uint64_t rest = p->in_use[p->bucket % WHEEL / 64] >> p->bucket % 64;
  while (!rest) {
    p->bucket = (p->bucket / 64 + 1) * 64;
    rest = p->in_use[p->bucket % WHEEL / 64];
  }
  p->bucket += (uint64_t)__builtin_ctzll(rest);
}

static void run_clock(Clock *p) {
  while (p->n_waiting) {
    turn_wheel(p);
    const uint64_t at = p->bucket % WHEEL;
    uint32_t cta = p->wheel[at].first;
    p->in_use[at / 64] &= ~(UINT64_C(1) << at % 64);
    for (uint32_t next; cta != NOBODY; cta = next) {
      next = p->ctas[cta].next;
      p->n_waiting--;
      if (p->ctas[cta].time >= (double)(p->bucket + 1) * p->bucket_cycles)
        wait_until(p, cta, p->ctas[cta].time); /* in a later round of the wheel */
      else if (p->ctas[cta].state == ASKS_NEXT || work_is_done(p, cta))
        take_step(p, cta);
    }
  }
}

/* --- a run --- */

static void set_defaults(ClockConfig *c) {
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

static void start_all(Clock *p, double now) {
  const ClockConfig *c = &p->config;
  p->bucket = (uint64_t)(now * p->buckets_per_cycle) - 1;
  for (uint32_t i = 0; i < c->n_ctas; i++) {
    const double start = c->skew_cycles * i / c->n_ctas;
    p->residents[p->ctas[i].resident].since = now + START_CYCLES * i;
    p->sms[p->ctas[i].sm].n_resident++;
    count_residents(p, 1);
    wait_until(p, i, now + (c->in_step ? floor(start) : start + START_CYCLES * i));
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

static Status prepare(Clock *p, Error *error) {
  const ClockConfig *c = &p->config;
  if (c->n_ctas < 1 || c->n_ctas > CLOCK_CTAS_MAX || c->ctas_per_sm > c->n_ctas)
    return error_set(error, STATUS_BAD_REQUEST, "clock: %u CTAs, %u to an SM; 1 to %d at once are modelled", c->n_ctas,
                     c->ctas_per_sm, CLOCK_CTAS_MAX);
  const size_t bytes = hierarchy_state_bytes(&c->hierarchy);
  Hierarchy probe;
  if (!bytes) return hierarchy_init(&probe, &c->hierarchy, error);
  p->hierarchy = malloc(bytes);
  if (!p->hierarchy) return error_set(error, STATUS_NO_MEMORY, "clock: no memory for an L2");
  const Status status = hierarchy_init(p->hierarchy, &c->hierarchy, error);
  const size_t n = p->hierarchy->n_granules;
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
    return error_set(error, STATUS_NO_MEMORY, "clock: no memory for %u CTAs over %zu granules", c->n_ctas, n);
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

uint32_t clock_kernel(const Clock *p) { return p->kernel; }

ClockResult clock_so_far(const Clock *p) {
  ClockResult r = p->result;
  r.bytes = p->hierarchy->counts;
  r.l2_read_bytes = r.bytes.read_bytes;
  r.l2_miss_bytes += r.bytes.miss_bytes;
  r.bytes.read_bytes += p->result.bytes.read_bytes;
  r.dirty_bytes = hierarchy_dirty_bytes(p->hierarchy);
  return r;
}

Status clock_run(const ClockConfig *config, ClockProgram *program, void *context, ClockResult *result, Error *error) {
  Clock *const p = malloc(sizeof *p);
  if (!p) return error_set(error, STATUS_NO_MEMORY, "clock: no memory for a clock");
  memset(p, 0, offsetof(Clock, wheel));
  p->config = *config;
  p->program = program;
  p->context = context;
  set_defaults(&p->config);
  const Status status = prepare(p, error);
  if (status == STATUS_OK) {
    for (; p->kernel < p->config.n_kernels; p->kernel++) {
      const double now = p->result.cycles;
      if (p->kernel > 0 && p->config.flushed) hierarchy_flush(p->hierarchy);
      start_all(p, now);
      run_clock(p);
    }
    *result = clock_so_far(p);
  }
  free(p->hierarchy);
  free(p->ctas);
  free(p->places);
  free(p->sms);
  free(p->residents);
  free(p->pending);
  free(p->arrivals);
  free(p);
  return status;
}
