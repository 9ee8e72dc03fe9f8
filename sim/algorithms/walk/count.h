/* Counting statements over ranges of blocks. */
#ifndef TILEWALK_SIM_ALGORITHMS_WALK_COUNT_H
#define TILEWALK_SIM_ALGORITHMS_WALK_COUNT_H

#include "sim/algorithms/walk/walk.h"

/* Blocks [begin, end) of each side, splits and heads. */
typedef struct {
  Span of[DIM_COUNT];
} PlaceBlocks;
PlaceBlocks place_all_blocks(const Plan *plan);

static inline Span span_overlap(Span a, Span b) {
  const int64_t begin = max64(a.begin, b.begin);
  return (Span){begin, max64(begin, min64(a.end, b.end))};
}

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
Wide count_by_form(const Schedule *schedule, const Plan *plan, const CountForm *form, const PlaceBlocks *ranges);

/* What is over before a cursor: operations [first, end) over blocks, part by part, from the outermost loop inwards.
 * Returns how many. */
enum { COUNT_PARTS_MAX = 2 * PROGRAM_DEPTH_MAX + 1 };
typedef struct {
  int first, end;
  PlaceBlocks blocks;
} CountPart;
int count_parts(const Schedule *schedule, const Plan *plan, const Cursor *before, const PlaceBlocks *within,
                CountPart parts[COUNT_PARTS_MAX]);

#endif
