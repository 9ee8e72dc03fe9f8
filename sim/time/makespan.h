/* How long the CTAs of a launch take, by what each of them costs, without looking at a byte.
 *
 *     a CTA's row block     [w0][tile][tile][tile] ...      w0: what comes before and after the tiles
 *     an SM of two slots    [CTA 0      ][CTA 5   ]         full: a tile is done every `tile_ns`
 *                           [CTA 3           ]              alone: every `alone_ns`, with the other slot empty
 *
 * CTAs start in the order of the launch, one on each SM, then a second one, ...; then on the SM that has room first.
 * Those of an SM share it evenly. So it knows who is alone at the end, and on how many SMs nothing runs.
 * The costs are fitted to recorded times (TimeLaw, sim/machine/timing.h). Beside it, not in it: the walk through L2
 * (l2_run.h), whose clock decides which bytes are found there and was made for nothing else.
 * Not modelled: that CTAs of an SM wait for each other's data, clocks of GPCs. */
#ifndef TILEWALK_SIM_TIME_MAKESPAN_H
#define TILEWALK_SIM_TIME_MAKESPAN_H

#include "sim/l2/launch.h"

/* What an SM is, beside those that the law was made of. */
typedef struct {
  double slower;       /* factor of the clock's period */
  double least_tile_s; /* that its units need for a tile of the law; 0: no more than there */
} SmSpeed;

/* What the sequences of a launch are cut into: all of them alike, or each by one of several plans. */
typedef struct {
  const Plan *plans;
  int n_plans;
  const int32_t *plan_of; /* of each sequence of the batch; NULL: the first */
} Sequences;

/* Seconds from the first CTA's first tile to the last one's end. The law's tile is that of tile_area scores; another
 * one takes longer in proportion. CTAs beyond the end of their sequence have nothing to do. Launches of more than 2^18
 * CTAs: work over slots, and the longest CTA (Graham's bound, which no order exceeds). */
double makespan_s(const Launch *launch, const Sequences *of, const TimeLaw *law, SmSpeed speed);

/* Seconds of the whole kernel: start, the makespan with the clock that falls under load, and memory as a second server
 * (8-norm). hbm_s: what its bytes take. */
double makespan_kernel_s(const TimeLaw *law, double makespan, double hbm_s);

#endif
