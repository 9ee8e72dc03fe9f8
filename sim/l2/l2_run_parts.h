/* What a walk through L2 cannot count, corrected by what is known exactly: sim/l2/l2_run_exact.c, a part of l2_run. */
#ifndef TILEWALK_SIM_L2_L2_RUN_PARTS_H
#define TILEWALK_SIM_L2_L2_RUN_PARTS_H

#include "sim/l2/l2_run.h"
#include "sim/l2/stream.h"

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
