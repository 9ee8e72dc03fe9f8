/* A launch's CTAs over an L2 of one or two sides: what is left for HBM. sim/l2/MODEL.md explains the whole.
 *
 *     slot 0, 1, 2, ...       a place for a CTA on an SM: takes a piece of work (sim/l2/stream.h), goes
 *       |  |  |               through its steps, and takes the next piece
 *     coalescers, clock       when each asks, and which requests become one (sim/l2/clock.h)
 *       |        |
 *     side 0 -- side 1        what L2 has (sim/l2/hierarchy.h)
 *       |        |
 *      HBM      HBM
 *
 * Modelled: the order of CTAs and where they run, the walk over K and V, waits and work, two sides with copies,
 * write-back, kernels one after another on the same L2.
 * Not modelled: L1, clusters, slices of L2, a kernel's code (45 KB of reads from HBM a launch). Spills of each tile are
 * added by sim/l2/overheads.h.
 *
 * A launch is walked up to 256 times, on all cores, each time from another GPC and with other random numbers: the mean
 * is given. Long sequences merge tiles, and of many heads some are walked: the rest goes on like the second half.
 * Other GPUs take an H200's numbers in proportion to their L2 (assumed). */
#ifndef TILEWALK_SIM_L2_L2_RUN_H
#define TILEWALK_SIM_L2_L2_RUN_H

#include "sim/l2/overheads.h"
#include "sim/l2/placement.h"
#include "sim/l2/refinements.h"
#include "sim/algorithms/schedule.h"

/* Zero means what l2_run_config does not know, or the usual. */
typedef struct {
  int64_t l2_bytes;      /* all partitions */
  int64_t l2_partitions; /* 1 or 2 */
  Overheads overheads;   /* what the kernel moves besides its algorithm; what is resident leaves no room for else */

  bool in_step;                           /* every slot moves one tile a turn; else each at its own pace, in time */
  int64_t skew_turns;                     /* in step: turns by which the last slot begins after the first */
  double flops_per_cycle, exps_per_cycle; /* of one SM */
  double l2_bytes_per_cycle, hbm_bytes_per_cycle; /* of the whole machine */

  double side_capacity_bytes; /* 0: half of l2_bytes */
  double side_ways;           /* as sim/l2/hierarchy.h has it */
  bool profiled; /* as ncu --cache-control all runs it, again and again for a few counters each time: L2 is emptied
                    between kernels, and a launch of one wave that writes no more than about 4 MiB begins with the first
                    GPC */
  bool once;     /* then, in one pass, for as many counters as that gives: it begins with any GPC, and nothing that it
                    stores has been put back */
  const Placement *placement; /* of 132 SMs; NULL: PLACEMENT_H200 */
  /* One more than the GPC that has its turn first (placement.h); 0: not known, in each walk another. */
  uint32_t first_gpc;
  double *row_end_cycles; /* of fa2: room for about when each row block asks for its last tile, head by head, in the
                             first walk; NULL: not told */
  Refinements without;    /* left out */
  /* After about this many steps, at the next head, the rest is taken to go on as the last half did; 0: 75,000 for each
   * head, two fifths of that where its K and V are more than 1.5 times L2; of up to 16 heads half as many for each,
   * of more, or with more than 64K keys, four times as many together. */
  int64_t max_steps;
  uint64_t seed;            /* of what is drawn at random; 0: the usual draw, which comes near the mean of many */
  const Listener *listener; /* of the first walk; NULL: nobody */
} L2RunConfig;

typedef struct {
  double read_bytes, write_bytes;         /* asked for by the SMs: what crosses the SRAM boundary */
  double shared_bytes;                    /* besides, what CTAs of a cluster have by another's request */
  double l2_read_bytes;                   /* of the reads, what reaches L2 past the coalescers */
  double own_miss_bytes;                  /* of that, not found on the own side */
  double fabric_bytes;                    /* between the partitions, both ways */
  double hbm_read_bytes, hbm_write_bytes; /* written: pushed out by the end of the last kernel */
  double left_dirty_bytes;                /* stored and still in L2 then: written sooner or later */
  double cycles;                          /* of the SMs' clock; turns, in step */
  double kernels;                         /* launched one after another */
  double simulated;                       /* the part of the steps that was walked; 1: all of them */
} L2Run;
/* All of its fields, for sums over walks. */
#define L2_RUN_FIELDS(X)                                                                                               \
  X(read_bytes)                                                                                                        \
  X(shared_bytes)                                                                                                      \
  X(write_bytes)                                                                                                       \
  X(l2_read_bytes)                                                                                                     \
  X(own_miss_bytes)                                                                                                    \
  X(fabric_bytes)                                                                                                      \
  X(hbm_read_bytes)                                                                                                    \
  X(hbm_write_bytes)                                                                                                   \
  X(left_dirty_bytes)                                                                                                  \
  X(cycles)                                                                                                            \
  X(kernels)                                                                                                           \
  X(simulated)
_Static_assert(sizeof(L2Run) == 12 * sizeof(double), "L2_RUN_FIELDS names every field of L2Run");

/* What a GPU's description says, for operands of the type. */
L2RunConfig l2_run_config(const Gpu *gpu, Dtype dtype);

/* Looks of the SMs that found their bytes on their own side, with stores as hits, as ncu counts them; 0 to 1. */
double l2_run_hit_rate(const L2Run *result);

/* Runs *schedule on *plan as launched. Errors: another number of partitions, a plan with other blocks than the launch,
 * no memory, a problem that would take seconds (STATUS_TOO_LARGE). *result is unchanged on error. */
Status l2_run(L2Run *result, const Schedule *schedule, const Launch *launch, const Plan *plan,
              const L2RunConfig *config, Error *error);

#endif
