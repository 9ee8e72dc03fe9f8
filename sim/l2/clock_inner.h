/* What the files of the clock share: its state, and draws. */
#ifndef TILEWALK_SIM_L2_CLOCK_INNER_H
#define TILEWALK_SIM_L2_CLOCK_INNER_H

#include <math.h>

#include "sim/base/splitmix.h"
#include "sim/l2/clock.h"

enum { WHEEL = 4096, PENDING_BITS = 7, PENDING = 1 << PENDING_BITS };

enum {
  DRAW_CTA,
  DRAW_JITTER,
  DRAW_START,
  DRAW_SIDES = 4,
  DRAW_SLIP,
  DRAW_HANDOVER
}; /* streams of random numbers, which stay what they are */

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

/* 64 bits for the n-th draw of a stream. The seed is spread over all bits first: the draws of
 * neighbouring seeds would else be the same numbers in another order, and no sample of many seeds larger than that of
 * one. */
static inline uint64_t draw(uint64_t seed, uint64_t stream, uint64_t n) {
  return mix(mix((seed + 1) * 0xd1342543de82ef95u ^ stream << 40 ^ n));
}

/* Between 0 and 1. */
static inline double uniform(uint64_t bits) { return ((double)(bits >> 11) + 0.5) * 0x1p-53; }

static inline double later(double a, double b) { return a > b ? a : b; }

/* Which CTAs share their jitter: those of an SM, if they prefetch; else each has its own. */
static inline uint32_t jitter_group(const ClockConfig *c, uint32_t at, uint32_t sm) { return c->prefetches ? sm : at; }

/* Steps with work until the next slip of an SM's CTAs, which draw the same. */
static inline double steps_to_slip(const Clock *p, const Cta *cta) {
  return 2 * p->slip_interval * uniform(draw(p->config.seed, DRAW_SLIP, (uint64_t)cta->sm << 32 | cta->n_slips));
}

/* Of n: evenly spaced, mean 0, standard deviation 1. */
static inline double rank_among(uint64_t rank, double n) {
  return n > 1 ? ((double)rank - (n - 1) / 2) / sqrt((n * n - 1) / 12) : 0;
}

/* Fills in what a config leaves at 0, and makes all that a run needs. */
void clock_set_defaults(ClockConfig *config);
Status clock_prepare(Clock *clock, Error *error);

#endif
