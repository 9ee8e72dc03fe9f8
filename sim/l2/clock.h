/* Many CTAs in time: each waits for its data, works, and asks for the next granule; what one finds
 * in L2 depends on who was there before, and how long it waits depends on what it finds.
 *
 *     tile   ------------------------------------------------>
 *     CTA 7          o        asks, waits for a hit or a miss, works, asks ...
 *     CTA 6       o           finds what CTA 7 fetched, if that is not pushed out yet: gains on it
 *     CTA 5      o            until it catches up, and then waits for the same data: a convoy
 *
 * That is what breaks the sharing when CTAs start apart, and what mends it: those that miss are
 * slow and those behind them hit and are fast, so CTAs run up into convoys, each with one leader
 * that pays. How many convoys there are says how often the buffer is read from HBM.
 *
 * Modelled
 * - Where CTAs run: sim/l2/placement.h.
 * - Waiting: for a hit (longer with more CTAs on the SM) or for a miss, all that a step reads at once;
 *   data on their way are waited for, not fetched again; L2 and HBM hand out so many bytes a cycle,
 *   one request after another.
 * - A CTA that works while its next data come (overlapped) takes the longer of both; nothing hides the first wait. One
 * that asks when a part of its step is over (ahead) takes that, and the longer of the rest and the wait: who is the
 * first to ask for what comes from HBM then falls back to those behind.
 * - The CTAs of an SM that work at the same time have equal parts of it (shared_work), so one works faster while the
 * others wait; but loads and stores into shared memory take a part as well (waiting_share). Those that are not in step
 * vary more from tile to tile (unlike_spread). How far its CTAs are apart makes one SM faster than the next, and pulls
 * those apart that walk together.
 * - Those that ask ahead go in step on their SM, one some hundred cycles after the other; what varies does so for all
 * of them.
 * - Now and then the oldest of a full SM is a whole step further ahead of the youngest: how often hangs on the kernel
 * (slot_spread). In some kernels it gets ahead with every step instead (steady). Who is replaced is the youngest then,
 * so that two of an SM end up half a row block apart.
 * - From a CTA's end to the next one's start in its place (is_replaced) the others have the SM to themselves; of those
 * that wait, it counts as one more.
 * - The coalescer of each GPC, in front of L2: up to four requests for a granule, made before the first one's
 *   answer passes by, reach L2 as one, and their data come together. That holds CTAs together.
 * - What pulls them apart: the first time through its code a CTA waits for instructions, its TPC's longer or shorter
 * than the others'; every wait and every step takes a little more or less, steps the more, the more CTAs are there
 * (busy_cycles); some CTAs are slower for good, by little; those of an SM share it unevenly; GPCs that are busy have
 * clocks of their own.
 * - What all ask for as a launch begins is there for all SMs of a side at the same time (`together`): HBM serves them
 * by turns; for one side a little later than for the other.
 * - In step, instead of all that: each step takes one turn of the clock.
 *
 * Not modelled: the order in which HBM serves, L1, more than one granule on the way.
 *
 * Against the 169 scans of assets/counters/h200/l2-scan/first.csv, in which a buffer is read from HBM
 * between 1 and 326 times (bench_hierarchy prints every row); errors, median and worst:
 *
 *                         HBM read          fabric            sectors reaching L2    look-ups that miss
 *     in step            0.1 %,   3 %      0.0 %,   3 %         14 %,  30 %              8 %, 16 %
 *     starting apart     3.3 %,  28 %      3.8 %,  28 %          9 %,  31 %              4 %, 18 %
 *     triangular         1.1 %,  10 %      1.0 %,   9 %          6 %,  35 %              2 %, 10 %
 *
 * (CTAs that spin by the clock leave the SM to each other: own_cycles is 15 there, as if they were alone. A mean of
 * four places of the buffer.)
 *
 * The coalescer was measured by itself: SMs ask for the same granule at chosen moments
 * (assets/counters/h200/coalescer/first.csv, h100/coalescer). Requests of all SMs spread over 100 to 6400 cycles, one
 * or two to an SM, of what L2 has and of what it has not: what reaches L2 is between 0.25 and 0.87 of what is asked
 * for, and comes out within 0.05 in each of the 56 launches (tests/model/test_coalescer.c). Two SMs of different sides:
 * what the first asks for comes to both, but for 85 cycles the home side does not know, and counts what its own SM asks
 * for as missing too. When CTAs of fa2_async and fa2_tensor ask for their tiles, by their clocks, says the same of
 * attention: joined by this rule, 70 cycles for what L2 has and 350 for what comes from HBM, as many requests are left
 * as were counted, within 0.02 on average in 20 launches of 32 to 128 CTAs (h200/steps, tests/model/test_steps.c).
 * It also says how a launch begins under a profiler, which empties the caches of code too: the CTAs of a side have
 * their first tile within 40 cycles of each other, one side 95 cycles after the other (one standard deviation); the
 * code of its arithmetic pulls those of a GPC 92 to 150 cycles apart (one standard deviation), a few TPCs of each much
 * later than the others, the SMs of a TPC together; then each step adds little.
 *
 * Fitted is early_cycles; the other numbers are measured.
 *
 * Times are in SM cycles. What is drawn at random comes from the seed: same config, same result. */
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
  uint64_t
      renewed; /* one more than a granule that it has read and reads again with each step: counted elsewhere; 0: none */
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
  double
      unknown_cycles; /* 85: what the other side alone has asked for counts as missing at home for so long [measured] */
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
  uint32_t
      coalesce_most; /* 4: requests that the coalescer of a GPC makes into one [measured: 0.256 at best]; 1: none */
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
