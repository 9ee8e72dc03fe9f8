/* Counting statements over ranges of blocks. Private to sim/algorithms. */
#ifndef TILEWALK_SIM_ALGORITHMS_WALK_COUNT_H
#define TILEWALK_SIM_ALGORITHMS_WALK_COUNT_H

#include "sim/algorithms/walk/walk.h"

/* Blocks [begin, end) of each side, and splits. */
typedef struct {
  Span of[DIM_COUNT];
} CountRanges;

CountRanges count_all(const Plan *plan);

/* The blocks of iterations [from, to) of a loop. */
Span count_iterations(const Schedule *schedule, const Plan *plan, int loop, int64_t split, int64_t from, int64_t to);

/* A statement's executions: how many, how many of them on full tiles, skipped ones, and the sums of their rows, columns
 * and areas. */
typedef struct {
  Wide n, full, skipped, rows, cols, area;
} CountSums;

/* The events of the operations [first, end), or the bytes that these move, as a sum over what they share, so that it is
 * counted again for other ranges at little cost. */
typedef enum { COUNT_STEPS = 0, COUNT_BYTES } CountWhat;
typedef struct {
  uint8_t op; /* whose region it is */
  CountSums weights;
} CountTerm;
typedef struct {
  uint8_t n_terms;
  CountTerm terms[PROGRAM_OPS_MAX];
} CountForm;
void count_form(const Schedule *schedule, const Plan *plan, int first, int end, CountWhat what, CountForm *form);
Wide count_by_form(const Schedule *schedule, const Plan *plan, const CountForm *form, const CountRanges *ranges);

/* Both, for steps. */
Wide count_steps(const Schedule *schedule, const Plan *plan, int first, int end, const CountRanges *ranges);

#endif
