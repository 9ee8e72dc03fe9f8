/* What a kernel moves between the SMs and L2 besides what its schedule says: facts of its code, not of the algorithm.
 *
 *     registers spilled      stores to local memory go through to L2: so many bytes a CTA for each tile of K and V, and
 * others for each row block; loads of them hit in L1 (seen: all but 0.05 % of the bytes read) Q read again           a
 * kernel that keeps no block of Q reads it once for every tile of K and V masked columns left    a kernel that leaves
 * out the columns of the last tile that its row block cannot see: fewer bytes work pulled            a persistent
 * kernel that pulls its work reads and writes a counter for each piece, and once more for each CTA, which finds that
 * nothing is left
 *
 * On an H200 these make the bytes across the boundary those of the counters for kernels of other people
 * (assets/counters/h200/others/first.csv). Where the bytes go: Q read again is found in L2, on the reader's own side;
 * half of what is written crosses to the other side of a divided L2. What is spilled for each tile, and a Q that is
 * read again, are used all the time: they take up room in L2, and here never reach HBM (on an H200 some of what is
 * spilled for tiles does, where rows are long: tests/unit/test_overheads.c). What is spilled takes as much room as what
 * is stored to global memory (h200/spills, tests/model/test_spills.c). Q moves on with its CTA, so the walk through L2
 * reads it again (sim/algorithms/stream.h). What is spilled for a row block is not stored again before the next one,
 * and falls out of L2 meanwhile, where rows are long: fa2-sm90 with d = 128 writes as much more to HBM than its O as
 * that comes to (74 MB for 67 at 64K with 16 heads, 2 for 4 with one; h200/others, tests/unit/test_overheads.c). So the
 * walk through L2 stores it (sim/algorithms/stream.h). */
#ifndef TILEWALK_SIM_OVERHEADS_H
#define TILEWALK_SIM_OVERHEADS_H

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
