/* What the files of l2_run share: l2_run.c walks, l2_run_choose.c says how much of a launch, and l2_run_exact.c
 * corrects by what is known exactly what a walk cannot count. */
#ifndef TILEWALK_SIM_L2_L2_RUN_PARTS_H
#define TILEWALK_SIM_L2_L2_RUN_PARTS_H

#include "sim/l2/l2_run.h"
#include "sim/l2/stream.h"

/* What a step computes, in cycles: of a CTA that has its SM to itself, and so much for each of those that share it.
 * Without any: 0. */
typedef struct {
  double alone, share;
} Work;

/* A place for a CTA on an SM. */
typedef struct {
  StreamSlot stream;
  Work owed;       /* where CTAs ask ahead: on what it asked for last */
  int64_t *active; /* slots of its SM that owe work */
  bool ended;      /* its last step was the last of a piece */
} Slot;

typedef struct {
  Stream stream;
  const Launch *launch;
  const L2RunConfig *config;
  Slot *slots;
  Place *places;   /* of each slot */
  int64_t *active; /* slots that owe work, by SM */
  int64_t next_piece[PROGRAM_KERNELS_MAX];
  double cycles_per_flop, cycles_per_exp, slower,
      alone_slower; /* slower: than the peak rate of products; alone: a CTA that has an SM to itself, 0: not known */
  double *row_end_cycles; /* of the configuration, in the first walk */
  /* Of waiting that the kernel's rate has in it: where it asks for a tile only when it needs it. */
  double hidden_cycles;
  double latency_cycles;            /* that a tile takes a CTA that waits besides */
  bool replaces_at_once, forgets_q; /* left out: the handover, the renewal of Q */
  double steps, stop_steps;         /* taken; the number after which nothing new is begun */
  const Listener *listener;
  struct {
    int64_t piece;
    double steps; /* before which this was counted; 0: not reached */
    ClockResult counted;
  } half, end; /* of the way: half of the pieces have been begun, and all */
} Run;

/* Refuses what no walk is of, and what takes too long. */
Status l2_check(const Launch *launch, const Plan *plan, const L2RunConfig *config, Error *error);
Status l2_refuse_large(double steps, Error *error);

/* Merges rounds, then tiles, until a head takes few enough steps, and chooses the heads: fills run->stream. */
Status l2_choose_walk(Run *run, const Schedule *schedule, const Plan *plan, Error *error);

/* At most, or about: steps of one head. */
double l2_steps_of_head(const Run *run, const Plan *plan);

/* Corrects the mean of the walks, in this order:
 *
 *     asked for    merged and ragged tiles are whole ones in the walk: bytes asked for, and with them those past the
 *                  coalescers, are set to what the program asks
 *     HBM reads    where only a part was walked, no less than every input once
 *     HBM writes   what was stored reaches HBM sooner or later: all of O, some of the registers spilled
 *     overheads    what the kernel moves besides its algorithm (overheads.h): found in L2 on the own side; half of what
 *                  it stores crosses the fabric
 *     HBM reads    no more than is asked for */
void l2_exact(L2Run *mean, const Schedule *schedule, const Stream *stream, const L2RunConfig *config);

#endif
