/* What a kernel moves between the SMs and L2 besides what its algorithm says: facts of its code.
 *
 *     registers spilled      stored to local memory, through to L2: bytes for each tile of K and V, and for each row
 *                            block, others where it has few tiles; their loads hit in L1, but for what CTAs after the
 *                            first wave reload
 *     Q read again           a kernel that keeps no block of Q reads it for every tile of K and V
 *     masked columns         a kernel may leave out the columns of the last tile that no row of its block sees
 *     work pulled            a persistent kernel reads and writes a counter for each piece, and once more for each CTA
 *
 * With them the bytes across the boundary are the counters' (assets/counters/h200/others, tests/unit/test_overheads.c).
 * Q read again is found in L2 on the own side. Half of what is written crosses the fabric. What is spilled for each
 * tile takes room in L2 and never reaches HBM; what is spilled for a row block falls out of L2 before it is stored
 * again, so the walk through L2 stores it (sim/l2/stream.h). */
#ifndef TILEWALK_SIM_L2_OVERHEADS_H
#define TILEWALK_SIM_L2_OVERHEADS_H

#include "sim/l2/launch.h"

typedef struct {
  double read_bytes, write_bytes; /* over all heads and batches; read: below zero where columns are left out */
  double atomic_bytes;            /* of the bytes written, those of pulling work: atomics, no stores */
  double block_write_bytes;       /* of the bytes written, those spilled for row blocks */
  double resident_bytes; /* room in L2 that what is spilled for each tile takes, for the CTAs at work: it is held on one
                            side and, half of it, at home on the other */
} Overheads;

/* For a launch of *plan (blocks as launched), a walk of row blocks over K and V; nothing where the launch has nothing
 * of the kind. */
Overheads overheads_of(const Launch *launch, const Plan *plan);

#endif
