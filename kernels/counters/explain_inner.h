/* What the files that explain counters share. */
#ifndef TILEWALK_KERNELS_COUNTERS_EXPLAIN_INNER_H
#define TILEWALK_KERNELS_COUNTERS_EXPLAIN_INNER_H

#include "kernels/counters/explain.h"

enum {
  HBM_WRITES_LITTLE = 16 << 20,
  SECTOR = 32,
  FP32 = 4,
  CANDIDATES_MAX = 256,
  DEFAULT_THREADS = 128,
  MOST_WAVES = 1 << 20
};

static const double NEAR = 0.01; /* what a cause costs that is near, not exact */

/* One count, if it is there: bytes, and what rounding leaves. */
typedef struct {
  bool known;
  double value, slack;
} Measured;

/* Bytes that the model moves. */
typedef struct {
  double q, k, v, other; /* read */
  double write;
  double read; /* in all */
} Moves;

typedef struct {
  const CounterRow *row;
  const KernelModel *model;
  Plan plan; /* shape and tiling, complete */
  ExplainContext context;
  Measured read, write;
  bool at_hbm; /* the counts are those of HBM: everything once, but for S and P */
  Moves base;
  double Q, K, V, O, S; /* one time each, all heads */
  double sharp;
  Cause found[CANDIDATES_MAX];
  int n;
} Explain;

/* A cause that would give these bytes. penalty: what it takes for granted, as a distance. */
void explain_offer(Explain *x, CauseKind kind, double penalty, double read, double write, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Bytes of a schedule for a shape and a tiling; false: the model has none for it. NULL: the row's own schedule. */
bool explain_moves(const Explain *x, const char *schedule, const Shape *shape, const Tiling *tiling, Moves *moves);

/* At HBM each tensor comes once, and S and P as often as the schedule has them. */
Moves explain_at_hbm(const Explain *x, const char *schedule);

/* Whether a value is further from what was counted than a third of `sharp`. */
bool explain_differs(const Explain *x, const Measured *counted, double value);
void explain_bytes_text(double bytes, char *to, size_t size); /* "1.5 MB" */

/* What may have happened to the launch, each in its own words: offered where it would give the bytes. */
void explain_launch(Explain *x);
void explain_states(Explain *x); /* of the machine */

/* Of HBM alone: whether what L2 does not keep is the cause. */
bool explain_l2_decides(Explain *x, double asked);

#endif
