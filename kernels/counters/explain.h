/* Why a kernel moves other bytes than the model says: likely causes, each computed, the likeliest first.
 *
 *     measured  reads  8.59 GB   writes 0.13 GB
 *     model           4.30             0.13
 *     cause 1   K and V read twice: would read 8.59 GB        0.00 % off
 *     cause 2   tiles of 64 rows instead of 128: 8.56 GB      0.35 % off
 *
 * A cause is an amount for the reads and the writes that it would give. It is scored by how far these are from what
 * was measured, both counts together, and by how much it takes for granted: a cause with a number of its own that could
 * be chosen to fit (spills) stands behind one that has none. Kept are causes that explain half of a difference or more.
 *
 * Modelled: one cause at a time. Not modelled: two faults together, for which each stands in the list with what it
 * explains. */
#ifndef TILEWALK_KERNELS_COUNTERS_EXPLAIN_H
#define TILEWALK_KERNELS_COUNTERS_EXPLAIN_H

#include "kernels/counters/compare.h"

typedef enum {
  CAUSE_MASK_NOT_SKIPPED = 0,
  CAUSE_MASK_SKIPPED,
  CAUSE_READ_AGAIN, /* K, V or both */
  CAUSE_Q_AGAIN,
  CAUSE_NOT_PACKED,
  CAUSE_PACKED,
  CAUSE_SPILLS,
  CAUSE_SECTORS, /* fetched beyond what is used */
  CAUSE_PADDED_D,
  CAUSE_PADDED_N,
  CAUSE_SCORES_IN_HBM,
  CAUSE_SCORES_KEPT, /* written besides */
  CAUSE_PASS,        /* not fused */
  CAUSE_MASK_READ,
  CAUSE_OTHER_TILE,
  CAUSE_OTHER_SHAPE,
  CAUSE_OTHER_TYPE,
  CAUSE_LSE,
  CAUSE_FA1_ORDER,
  CAUSE_SPLIT,
  CAUSE_L1,
  CAUSE_L2_SMALL, /* HBM alone: K and V of one head are more than L2 holds */
  CAUSE_L2_HEADS, /* those of one head fit, those of the heads that run at once do not */
  CAUSE_L2_UNSHARED,
  CAUSE_WARM,       /* less than compulsory: it lay in L2 already */
  CAUSE_SMALL,      /* a launch too small or too short for its counters */
  CAUSE_BACKGROUND, /* HBM reads that go with time: a screen */
  CAUSE_COUNT
} CauseKind;

const char *cause_name(CauseKind kind); /* "mask_not_skipped", ... */

typedef struct {
  CauseKind kind;
  char text[200];     /* what it is, and what it would give */
  double read, write; /* bytes that it would give; those of the model where it changes nothing */
  double off;         /* relative distance from what was measured, over the counts that it speaks of */
  double score;
} Cause;

enum { CAUSES_MAX = 3 };

/* What is known besides of the run. */
typedef struct {
  int64_t threads;      /* of a CTA; 0: 128 */
  int64_t n_sm;         /* 0: not known */
  int64_t l2_bytes;     /* 0: not known */
  Shape by_file;        /* the shape that the launch's grid and name say; N_q 0: they do not */
  int64_t packed_group; /* query heads of a group that are rows of one head in shape; 0, 1: none */
} ExplainContext;

/* Fills in causes[0..*n_causes); none where the counts are as the model says. shape, tiling, model: as counter_compare
 * had them. Errors: as counter_compare. */
Status counter_explain(const CounterRow *row, const KernelModel *model, const Shape *shape, const Tiling *tiling,
                       const ExplainContext *context, Cause causes[CAUSES_MAX], int *n_causes, Error *error);

/* HBM is read for more than the kernel needs (expected_read), at about the rate of a screen. */
bool counter_explain_background(const CounterRow *row, double expected_read, Cause *cause);

#endif
