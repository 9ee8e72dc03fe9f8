/* Counting statements over ranges of blocks. Private to sim/algorithms. */
#ifndef TILEWALK_SIM_COUNT_H
#define TILEWALK_SIM_COUNT_H

#include "sim/algorithms/walk/walk.h"

/* Blocks [begin, end) of each side, and splits. */
typedef struct {
  Span of[DIM_COUNT];
} CountRanges;

CountRanges count_all(const Plan *plan);

/* The blocks of iterations [from, to) of a loop. */
Span count_iterations(const Schedule *schedule, const Plan *plan, int loop, int64_t split, int64_t from, int64_t to);

/* Events of the operations [first, end) over the ranges. */
Wide count_steps(const Schedule *schedule, const Plan *plan, int first, int end, const CountRanges *ranges);

#endif
