/* What the models of L2 and of time say about one run of a kernel, and how far the counters are from it.
 *
 *     quantity      prediction                           counter                               band
 *     HBM reads     bytes left behind L2                 dram__bytes_read                      10 %
 *     fabric        bytes between the two sides of L2    lts__t_sectors_srcunit_ltcfabric      5 %
 *     L2 sectors    what reaches L2 for the SMs' reads   lts__t_sectors_srcunit_tex_op_read    10 %
 *     L2 hit rate   looks of the SMs that hit            lts__t_sectors_srcunit_tex_lookup_*   1 point
 *     time at best  this launch at peak rates            gpu__time_duration                    none: a lower bound
 *
 * A prediction is not a law: a run outside its band is shown, and nothing fails. */
#ifndef TILEWALK_KERNELS_COUNTERS_PREDICT_H
#define TILEWALK_KERNELS_COUNTERS_PREDICT_H

#include "kernels/counters/ncu.h"
#include "sim/simulate.h"

typedef enum {
  PREDICT_HBM_READ = 0, /* bytes */
  PREDICT_FABRIC,       /* bytes */
  PREDICT_L2_SECTORS,
  PREDICT_HIT_RATE, /* 0 to 1 */
  PREDICT_TIME,     /* seconds */
  PREDICT_COUNT
} PredictedQuantity;

typedef struct {
  const char *name;
  double band;     /* the error that is within: relative, and absolute for the hit rate; 0: none */
  Counter counter; /* that measures it, in units of its own */
  double unit;
} PredictedName;
extern const PredictedName PREDICTED_NAMES[PREDICT_COUNT];

typedef struct {
  double value[PREDICT_COUNT]; /* NAN: not known */
} Prediction;

/* A run as launched on a GPU: a problem with its launch and tiling, and what it leaves out, its pace, how the card is
 * laid out and how often it is counted; the mean of `draws` random draws; 0: the usual one alone. Nothing but the time
 * is known where the model of L2 does not reach (another schedule, several splits, more than a few seconds of work):
 * that is no error. Errors: a launch that is not possible, no memory. */
Status predict(Prediction *prediction, const Problem *run, const Schedule *schedule, const Gpu *gpu, uint32_t draws,
               Error *error);

/* What the counters say; unknown where one is missing. */
Prediction predict_measured(const CounterRow *row);

/* How far the prediction is off: relative to what was measured; the difference for the hit rate; for the time, how much
 * longer it took than at best. */
double predict_error(PredictedQuantity quantity, double predicted, double measured);

#endif
