/* What a kernel moves between the SMs and L2 besides what its schedule says: facts of its code, not of the algorithm.
 *
 *     registers spilled      stores to local memory go through to L2: so many bytes a CTA for each tile of K and V, and for
 *                            each row block; loads of them hit in L1 (seen: all but 0.05 % of the bytes read)
 *     Q read again           a kernel that keeps no block of Q reads it once for every tile of K and V
 *     masked columns left    a kernel that leaves out the columns of the last tile that its row block cannot see: fewer bytes
 *     work pulled            a persistent kernel that pulls its work reads and writes a counter for each piece, and once
 *                            more for each CTA, which finds that nothing is left
 *
 * On an H200 these make the bytes across the boundary those of the counters for kernels of other people (assets/counters/h200_others.csv).
 * Where the bytes go: Q read again is found in L2, on the reader's own side; half of what is written crosses to the other
 * side of a divided L2; spilled registers and a Q that is read again take up room in L2, as they are used all the time, and make its edge
 * softer (sim/many_ctas.h). Nothing of it reaches HBM. */
#ifndef TILEWALK_SIM_EXTRA_H
#define TILEWALK_SIM_EXTRA_H

#include "sim/launch.h"

typedef struct {
  double read_bytes, write_bytes; /* over all heads and batches; read: below zero where columns are left out */
  double atomic_bytes;            /* of the bytes written, those of pulling work: atomics, no stores */
  double resident_bytes;          /* room in L2 that these take for the CTAs at work: what is stored is held on one side and, half of it, at home on the other */
} Extra;

/* For a launch of *plan (blocks as launched), a walk of row blocks over K and V; nothing where the launch has nothing of the kind. */
Extra extra_of(const Launch *launch, const Plan *plan);

#endif
