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
 * - Where CTAs run: launch order goes through the GPCs, all SMs of one before the next, so
 *   neighbours in launch order mostly share a side of L2. On an H200 the sides were measured by the
 *   latency of atomics: 325 cycles to the near side, 522 to the far one, 66 SMs on each
 *   (assets/counters/h200_sm_sides.csv).
 * - Waiting: for a hit (longer with more CTAs on the SM) or for a miss, the whole granule at once;
 *   data on their way are waited for, not fetched again. Small differences of speed between CTAs:
 *   lasting ones, and passing ones from granule to granule.
 * - The coalescer in front of L2: up to four requests for a granule from a group of SMs, made while
 *   the first one waits, reach L2 as one.
 *
 * Not modelled: bandwidth limits, the order in which HBM serves, L1, more than one granule on the
 * way (a CTA that prefetches waits less, and differences of speed count less).
 *
 * Against the 169 scans of assets/counters/h200_l2_scan.csv, in which a buffer is read from HBM
 * between 1 and 326 times (bench_hierarchy prints every row); errors, median and worst:
 *
 *                         HBM read          fabric            sectors reaching L2
 *     in step            0.1 %,   4 %      0.0 %,   3 %          9 %,  85 %
 *     starting apart     4.9 %,  37 %      3.6 %,  38 %          8 %,  27 %
 *     triangular         2.4 %,  14 %      1.8 %,  14 %         12 %,  40 %
 *
 * Parts left out in turn, HBM read of the triangular scans: sides alternating from CTA to CTA 53 %,
 * 326 %; no differences of speed 31 %, 411 %; far requests renewing lines 4.5 %, 49 %; one
 * partition 41 %, 90 %. Fitted are capacity and knee (on two rows in step) and the SMs that share a
 * coalescer; the other numbers are measured.
 *
 * Times are in SM cycles. What is drawn at random comes from the seed: same config, same result. */
#ifndef TILEWALK_SIM_PACE_H
#define TILEWALK_SIM_PACE_H

#include "sim/hierarchy.h"

enum { PACE_RUNS_MAX = 16, PACE_CTAS_MAX = 4096 };

/* The sides on which the CTAs of a launch start, as lengths of runs: the first so many on side 0,
 * the next on side 1, ... and around again. */
typedef struct {
  uint32_t n_runs; /* 0: alternate */
  uint32_t lengths[PACE_RUNS_MAX];
} PacePlacement;

/* As measured on an H200 with 132 SMs, with one or two CTAs to an SM. */
PacePlacement pace_placement_h200(uint32_t ctas_per_sm);
uint32_t pace_side(const PacePlacement *placement, uint32_t cta);

/* What a CTA does next: read a granule, then work for so many cycles. */
typedef struct {
  uint64_t granule;
  double work_cycles;
} PaceStep;

/* The steps of CTA `cta` of the caller's kernel: step 0, 1, 2, ...; false: it is done. */
typedef bool PaceProgram(const void *context, uint32_t cta, uint64_t step, PaceStep *next);

/* Zero means the value for an H200 and a kernel of 128 threads a CTA that reads granules of 16 KiB
 * one at a time. */
typedef struct {
  HierarchyConfig hierarchy; /* n_granules is needed */
  PacePlacement placement;
  uint32_t n_ctas;      /* all resident at once; needed */
  uint32_t ctas_per_sm; /* 1 */
  double hit_cycles;    /* 525: one CTA alone, from L2 [measured] */
  double share_cycles;  /* 160: more for each CTA on the SM, 132 SMs busy [measured] */
  double miss_cycles;   /* 625: more when a line comes from HBM [measured] */
  double far_cycles; /* 200: more when a line comes across from the other side's L2 [measured with
                        atomics] */
  double lasting_spread;  /* 0.0045: of the wait, one standard deviation between CTAs [measured];
                             negative: none */
  double passing_spread;  /* 0.16: of the wait, from one granule to the next [measured]; negative:
                             none */
  uint32_t coalesce_sms;  /* 8: SMs that share a coalescer [fitted] */
  uint32_t coalesce_most; /* 4: requests it makes into one [measured: 0.256 at best] */
  uint64_t seed;
} PaceConfig;

typedef struct {
  HierarchyCounts bytes;
  double l2_read_bytes; /* of bytes.read_bytes, what is left after the coalescer */
  double l2_miss_bytes; /* of that, looks that found nothing yet: misses, and lines still on their
                           way from the other side */
  double cycles;        /* until the last CTA is done */
  uint64_t steps;
} PaceResult;

/* Runs the program to its end. STATUS_BAD_REQUEST for sizes out of range, STATUS_NO_MEMORY; *result
 * is unchanged on error. */
Status pace_run(const PaceConfig *config, PaceProgram *program, const void *context,
                PaceResult *result, Error *error);

#endif
