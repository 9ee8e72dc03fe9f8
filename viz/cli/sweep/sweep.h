/* A sweep: the same problem at many values of one of its parameters. */
#ifndef TILEWALK_VIZ_CLI_SWEEP_SWEEP_H
#define TILEWALK_VIZ_CLI_SWEEP_SWEEP_H

#include "viz/cli/rank_options.h"
#include "viz/request/request.h"
#include "viz/chart/value.h"

enum { SWEEP_POINTS_MAX = 512, SWEEP_ROWS_MAX = 1 << 17, SWEEP_GPUS_MAX = 64 }; /* rows: of CSV */

/* A parameter that can be swept. */
typedef struct {
  const char *title;    /* of the axis: "sequence length N, tokens" */
  const char *subtitle; /* what to look for in the chart */
  ValueKind kind;       /* how its values are written, and read: byte sizes (192K), or counts */
  bool is_gpu;          /* values are names of GPUs: points are numbered, and set is NULL */
  int64_t low, high;    /* swept by doubling when neither values nor a range is given */
  void (*set)(Problem *problem, int64_t value);
  bool behind_l2;  /* shows what is left for HBM behind L2, of fa2, on a GPU that has L2 */
  const char *key; /* of the state line, which leaves it out; NULL: name */
} SweepAxis;

extern const char *const SWEEP_AXIS_NAMES[];   /* after --over; ends with NULL */
const SweepAxis *sweep_axis(const char *name); /* NULL: no such axis */
const char *sweep_axis_name(const SweepAxis *axis);

/* What a point is made at. */
typedef struct {
  int64_t value;
  char gpu[REQUEST_NAME_BYTES]; /* where GPUs are swept */
} SweepValue;

/* What is kept of a run. */
typedef struct {
  const Schedule *schedule;
  Wide total_bytes; /* across the SRAM boundary */
  double shown;     /* bytes, or seconds */
  TimeKind kind;
  double gaps_s;  /* between launches, which the time has not */
  uint32_t terms; /* of a bound: those of one set alone are compared */
  bool fits;
} SweepRun;

typedef struct {
  int64_t value;            /* where GPUs are swept the point's number, from 0 */
  double lower_bound_bytes; /* behind L2: every input and output once */
  SweepRun runs[REQUEST_ALGORITHMS_MAX];
} SweepPoint;

/* What is shown of a run. */
typedef enum {
  SWEEP_BOUNDARY = 0, /* bytes across the SRAM boundary: the papers' HBM accesses */
  SWEEP_L2,           /* bytes that reach L2 past the coalescers, and those written to it */
  SWEEP_HBM,          /* bytes read from HBM and written to it, behind L2 */
  SWEEP_LINKS,        /* sent over links by all ranks of programs with `ranks` */
  SWEEP_TIME,         /* of the kind that there is: predicted, extrapolated, or a bound of the run */
  SWEEP_METRICS
} SweepMetric;

extern const char
    *const SWEEP_METRIC_NAMES[SWEEP_METRICS + 1];   /* "boundary", "l2", "hbm", "links", "time"; ends with NULL */
const char *sweep_metric_title(SweepMetric metric); /* "Traffic across the SRAM boundary", ... */
const char *sweep_metric_label(SweepMetric metric); /* of an axis: "bytes between L2 and HBM, read and written", ... */

bool sweep_asks_gpu(SweepMetric metric); /* of L2, HBM or time; else what the program alone says */

typedef struct {
  const SweepAxis *axis;
  SweepMetric metric;
  int n_algorithms, n_points;
  SweepPoint *points;
  Simulation first;                           /* of the first point */
  int64_t misfit_from, misfit_to;             /* values at an end of the axis without room for some tile; 0: none */
  char (*machines)[KEYFILE_TEXT_BYTES];       /* one a point where GPUs are swept */
  const char *series[REQUEST_ALGORITHMS_MAX]; /* the algorithm; or the kernel, where it follows several */
} Sweep;

/* Told of each point, with its runs in full. */
typedef Status SweepTake(void *context, const Sweep *sweep, int point, const Simulation *runs, Error *error);

/* Behind L2 one short head on the paper's machine has nothing to show: what was not given of GPU, length and heads
 * becomes an H200 and 8 heads of 32K tokens, which share more than its L2 holds. */
void sweep_defaults(const SweepAxis *axis, Request *request);

/* The state line of the request without the key that is swept. */
const char *sweep_state(const SweepAxis *axis, const Request *request, char text[REQUEST_STATE_BYTES]);

/* What is swept: the points first up to end of these values. Of a part the series have the names of the whole. */
typedef struct {
  const SweepAxis *axis;
  SweepMetric metric;
  const SweepValue *values;
  size_t n, first, end;
  const RankOptions *ranks; /* of programs with `ranks` */
  SweepTake *take;          /* NULL: nobody is told */
  void *context;
} SweepConfig;

/* Runs `problem`, which *request makes, at every value for every algorithm. Where GPUs are swept each point makes its
 * own, with the GPU's SRAM, L2 and kernel launch. When SRAM is swept and no block is given, each point takes the
 * largest square block that fits. The caller calls sweep_free. */
Status sweep_run(Sweep *sweep, const Problem *problem, const Request *request, const SweepConfig *config, Error *error);
/* What the times of a point are: "predicted", "bound", ...; one for each algorithm where they differ. Returns text. */
const char *sweep_time_is(const SweepPoint *point, int n_algorithms, char *text, size_t size);
/* How many times less than the first run k is; false: times of unlike kinds. */
bool sweep_ratio(const Sweep *sweep, const SweepPoint *point, int k, double *ratio);
void sweep_free(Sweep *sweep);

#endif
