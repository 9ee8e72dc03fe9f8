/* CTAs in time: each waits for its data, works, and asks for the next granule. What it finds in L2 depends on who asked
 * before; how long it waits depends on what it finds. sim/l2/MODEL.md explains the parts and what each buys.
 *
 *     tile   ------------------------------------------------>
 *     CTA 7          o        asks, waits for a hit or a miss, works, asks ...
 *     CTA 6       o           finds what CTA 7 fetched, and so gains on it
 *     CTA 5      o            until it catches up and waits for the same data: a convoy
 *
 * Modelled
 * - Waits: for a hit (longer with more CTAs on the SM) or a miss. Data on their way are waited for, not fetched again.
 *   L2 and HBM serve so many bytes a cycle, one request after another.
 * - Work beside waits (`overlapped`): the longer of both; or waits, then work, on an SM whose CTAs share it
 *   (`shared_work`).
 * - The coalescer of each GPC: up to four requests for a granule become one while the first can be joined.
 * - Differences between CTAs: first code, GPCs' clocks, waits and steps that vary, slots of an SM that share it
 *   unevenly, CTAs that take another's place.
 * - Or all in step (`in_step`): each step takes one turn of the clock.
 * Not modelled: the order in which HBM serves, L1, more than one granule on the way.
 *
 * Times are in SM cycles. Random numbers come from the seed: same config, same result. */
#ifndef TILEWALK_SIM_CLOCK_H
#define TILEWALK_SIM_CLOCK_H

#include "sim/l2/hierarchy.h"
#include "sim/l2/placement.h"

enum { CLOCK_CTAS_MAX = 1 << 17 };

/* How much the wait for a granule varies from one to the next, one standard deviation, and the size for which it was
 * measured: what is asked for in one step varies as its square root. */
#define CLOCK_PASSING_SPREAD 0.16
#define CLOCK_SPREAD_BYTES   16384.0

/* How long a granule takes from L2: this, and this for each CTA of the SM. */
#define CLOCK_HIT_CYCLES   525.0
#define CLOCK_SHARE_CYCLES 160.0

/* How much longer from HBM, and how long before its last line most of a granule is there, for 16 KiB; of 8 KiB the last
 * line comes so much sooner (105 cycles: what CTAs of fa2_tensor wait that are the first to ask,
 * h200/steps-shared), and of less in proportion. */
#define CLOCK_MISS_CYCLES  625.0
#define CLOCK_EARLY_CYCLES 450.0
#define CLOCK_LINES_CYCLES 210.0 /* 16 KiB's */

/* CTAs of fa2_tensor that share an SM, by when they ask for tiles (h200/steps-shared;
 * tests/model/test_steps_shared.c): what one that waits for its data takes of it, as part of what one takes that works;
 * and how much the work of a step varies for each other that is not in step with it. */
#define CLOCK_WAITING_SHARE 0.7
#define CLOCK_UNLIKE_SPREAD 0.03

/* How much a step of a CTA varies by itself, cycles: where it waits for its data, or only for its turn; where it asks
 * ahead, alone on its SM (19 to 27 by clocks), and not (45 to 63 in launches of 64 to 1024 tiles: it grows with their
 * root, so nothing else lasts). Those of an SM that ask ahead vary together: where neither is ahead for good they end
 * 633 to 677 cycles apart after 64 tiles as after 1024, give or take 150 to 270. */
#define CLOCK_OWN_CYCLES        15.0
#define CLOCK_OWN_CYCLES_AHEAD  20.0
#define CLOCK_OWN_CYCLES_SHARED 55.0

/* CTAs of an SM (h200/ends, h200/pace; tests/model/test_slot_spread.c): by how much of a step the older gets
 * ahead at once, and the younger falls behind: of fa2_async, and fa2_tensor's are as far apart on one SM, and as
 * differently far on others, as this makes them. Of those that ask ahead: by how many cycles each is behind the one
 * before it from the start; how often the second of two that begin together in the place of others misses a turn. And
 * of any kernel: how long after a CTA ends the next one starts in its place (1059 in the mean of fa2_async, 640 to 1550
 * of fa2_tensor). */
#define CLOCK_SLIP_STEPS      0.5
#define CLOCK_LAG_CYCLES      720.0
#define CLOCK_MISSED_TURNS    0.2
#define CLOCK_HANDOVER_CYCLES 1100.0

/* What a CTA does next: reads and stores whole granules, all at once, waits for what it reads, and
 * works for so many cycles. */
enum { CLOCK_ACCESSES_MAX = 6 };
typedef struct {
  uint32_t n_reads, n_writes;
  uint64_t reads[CLOCK_ACCESSES_MAX], writes[CLOCK_ACCESSES_MAX];
  /* One more than a granule that it has read and reads again with each step: counted elsewhere; 0: none. */
  uint64_t renewed;
  double work_cycles;
  double latency_cycles; /* between its data and its work: more of waiting, which nobody's work makes longer */
  double wait_cycles;    /* at least so long, besides; it varies as waits do */
  bool is_replaced;      /* by another CTA, when that is over: it is then the youngest of its SM */
} ClockStep;

/* A run in progress. */
typedef struct Clock Clock;

/* The next step of CTA `cta` of the caller's kernel; false: it has nothing left to do in this kernel. *next holds
 * no accesses and no work when called. */
typedef bool ClockProgram(void *context, const Clock *clock, uint32_t cta, ClockStep *next);

/* Zero means the value for an H200 and a kernel of 128 threads a CTA that reads granules of 16 KiB
 * one at a time; negative cycles and spreads: none. */
typedef struct ClockConfig {
  HierarchyConfig hierarchy; /* its granules are needed */
  uint32_t n_ctas;           /* all resident at once; needed */
  const Place *places;       /* where each runs; NULL: dealt to SMs in turns, every other SM on side 1 */
  uint32_t ctas_per_sm;      /* 1 */
  uint32_t full_ctas;        /* ctas_per_sm: so many an SM has room for */
  uint32_t n_kernels;        /* 1: launched one after the other, each when all CTAs of the one before are done */
  bool flushed;              /* L2 is emptied between kernels, as profilers do */
  bool in_step;              /* every step takes one turn of the clock, whatever it waits for */
  double skew_cycles;        /* the last CTA begins so much after the first */
  bool shared_work; /* work_cycles are those of a CTA that has its SM to itself: with others that work at the same time
                       it takes longer; */
  double waiting_share; /* 0: then, what one that waits for its data takes of the SM, as part of what one takes that
                           works */
  double unlike_spread; /* 0: then, how much its work takes more or less, one standard deviation, for each other of the
                           SM that is not in step with it */
  bool overlapped; /* a step works on what the one before asked for while its own data come: it takes the longer of both
                    */
  double ahead;    /* 1: then, so much of a step's work is left when it asks: what is waited for longer than that takes
                      longer */
  double tick_cycles;  /* 8: steps that begin closer together may change order; steps much longer than 4096 ticks take
                          longer to run */
  double hit_cycles;   /* 525: one CTA alone, from L2 [measured] */
  double share_cycles; /* 160: more for each CTA on the SM at the time, 132 SMs busy [measured] */
  double miss_cycles;  /* 625: more when a line comes from HBM [measured] */
  double far_cycles;   /* 200: more when a line comes across from the other side's L2 [measured with atomics] */
  /* 85: what the other side alone has asked for counts as missing at home for so long [measured]. */
  double unknown_cycles;
  double coalesce_cycles; /* 70: so long others may join a request for what L2 has [measured] */
  double early_cycles;    /* 450: what comes from HBM may be joined until L2 has it, most of it so long before the
                             granule's last line [fitted] */
  double lasting_spread;  /* 0.0045: of the wait, one standard deviation between CTAs [measured] */
  double work_spread;     /* 0.0002: of the work, likewise [measured: at most] */
  double slot_spread;    /* 0: of the work, likewise between the CTAs of an SM, in the long run: the older gets ahead */
  bool steady;           /* with every step, by its part; else, where full_ctas are there, */
  double slip_steps;     /* 0.5: by so much at once, after 0 to twice as many steps as on average [measured] */
  double lag_cycles;     /* 0: where they ask ahead, how far behind the one before it each of an SM is from the start */
  double missed_turns;   /* 0.2: likewise, how often the second of two CTAs that begin together, not in a launch's first
                            wave, misses a step [measured] */
  double turn_steps;     /* 1: what a turn is of a step */
  double passing_spread; /* 0.16: of the wait, from one request to the next [measured] */
  double own_cycles;     /* 15, or 55 with others on the SM: of a step, one standard deviation from one to the next
                            [measured] */
  double busy_cycles;    /* 0: besides while all CTAs are there, less in proportion when fewer are left */
  double start_cycles; /* 0: by which the first arithmetic of a launch takes longer, mean of an exponential distribution
                          over TPCs, whose code has yet to come; `overlapped` alone: those that wait for their data are
                          together again with the next */
  bool together;       /* what all CTAs ask for first is there for all of a side at the same time */
  double sides_cycles; /* 95: then one side has it so much after the other, one standard deviation [measured] */
  bool loaded;         /* GPCs have clocks of their own, as where their SMs are busy with arithmetic, */
  double clocks_apart; /* 1: so many times as far apart as places say */
  double l2_bytes_per_cycle;  /* what each side serves at most; 0: no limit */
  double hbm_bytes_per_cycle; /* the same for HBM behind both */
  /* 4: requests that the coalescer of a GPC makes into one [measured: 0.256 at best]; 1: none. */
  uint32_t coalesce_most;
  uint64_t seed;
} ClockConfig;

typedef struct {
  HierarchyCounts bytes; /* after the coalescer, but for read_bytes: all that SMs asked for */
  double l2_read_bytes;  /* of bytes.read_bytes, what is left after the coalescer */
  double l2_miss_bytes;  /* of that, looks that found nothing yet: misses, and lines still on their
                            way from the other side */
  double dirty_bytes;    /* stored, and still in L2 */
  double cycles;         /* until the last CTA is done */
  uint64_t steps;
} ClockResult;

/* Runs the program to its end. STATUS_BAD_REQUEST for sizes out of range, STATUS_NO_MEMORY; *result
 * is unchanged on error. */
Status clock_run(const ClockConfig *config, ClockProgram *program, void *context, ClockResult *result, Error *error);

/* For the program: which of the kernels runs, and what has been counted so far. */
uint32_t clock_kernel(const Clock *clock);
ClockResult clock_so_far(const Clock *clock);

#endif
