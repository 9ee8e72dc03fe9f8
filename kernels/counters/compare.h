/* Model against measurement: what the counters of one kernel run say about the schedule that it follows.
 *
 *     quantity                     model                                       verdict
 *     bytes counted                the kernel's traffic, by a build that counts    must be equal, to the byte
 *     read across the boundary     the kernel's traffic (kernel_model.h)       must be equal, if the kernel bypasses L1
 *     written across it            the same                                    must be equal
 *     tensor instructions          computed tiles' FLOPs / 4096                must be equal (mma.m16n8k16)
 *     sectors read from L2         no more than were asked for                 a range: the coalescer merges requests
 *     sectors written to L2        written / 32                                shown
 *     read from HBM                from Q + K + V once to all that was asked   a range
 *     written to HBM               no more than was written                    a range: dirty lines stay in L2
 *
 * Equal means within COMPARE_TOLERANCE of the model. Where the keys are split
 * (someone else's kernels alone do that), reads are shown and not judged. Rung 1 goes through L1, so its model is an
 * upper end. Where a row of S and P is no whole number of sectors, pieces of it share sectors, which hardware counts
 * with each: a range, up to all of S and P twice. */
#ifndef TILEWALK_KERNELS_COUNTERS_COMPARE_H
#define TILEWALK_KERNELS_COUNTERS_COMPARE_H

#include "kernels/counters/kernel_model.h"
#include "kernels/counters/ncu.h"
#include "sim/l2/overheads.h"

#define COMPARE_TOLERANCE 0.001 /* relative: what "equal" allows a hardware counter */

typedef enum {
  COMPARE_EQUAL = 0, /* the model is a number */
  COMPARE_RANGE,     /* the model is a range */
} CompareKind;

typedef struct {
  Counter counter;
  CompareKind kind;
  bool must_hold;     /* a model that is wrong here is wrong */
  uint64_t low, high; /* the model; the same for COMPARE_EQUAL */
  uint64_t measured;
  double error; /* relative distance from the model, or from the near end of the range */
  bool holds;
} Comparison;

enum { COMPARISONS_MAX = 12 };

/* Compares what the row knows. shape and tiling: the row's own, or given for a kernel of someone else. */
Status counter_compare(const CounterRow *row, const KernelModel *model, const Shape *shape, const Tiling *tiling,
                       Comparison comparisons[COMPARISONS_MAX], int *n_comparisons, Error *error);

/* The model of a kernel of someone else that follows `schedule`, and moves what *overheads says besides (NULL:
 * nothing). With *overheads, what it writes is shown, not judged: spilled registers are known almost, not to the byte.
 */
KernelModel kernel_model_of_schedule(const char *schedule, const Overheads *overheads);

#endif
