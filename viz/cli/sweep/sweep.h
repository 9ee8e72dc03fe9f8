/* A sweep: the same question at many values of one of its keys; a point is the question with that key changed. */
#ifndef TILEWALK_VIZ_CLI_SWEEP_SWEEP_H
#define TILEWALK_VIZ_CLI_SWEEP_SWEEP_H

#include "viz/cli/rank_options.h"
#include "viz/cli/chart_file.h"
#include "viz/document/figure_lines.h"
#include "viz/text/progress.h"

enum { SWEEP_POINTS_MAX = 512, SWEEP_ROWS_MAX = 1 << 17, SWEEP_GPUS_MAX = 64 }; /* rows: of CSV */

/* A key that can be swept. */
typedef struct {
  const char *line;     /* of the state, with the value in it: "pace=skew:%lld" */
  const char *title;    /* of the axis: "sequence length N, tokens" */
  const char *subtitle; /* what to look for in the chart */
  ValueKind kind;       /* how its values are written, and read: byte sizes (192K), or counts */
  int64_t low, high;    /* swept by doubling when neither values nor a range is given; 0: values are names of GPUs */
  bool behind_l2;       /* shows what is left for HBM behind L2, of fa2, on a GPU that has L2 */
} SweepAxis;

extern const char *const SWEEP_AXIS_NAMES[]; /* after --over; ends with NULL */
extern const SweepAxis SWEEP_AXES[];         /* in the same order */
const char *sweep_axis_name(const SweepAxis *axis);
static inline bool sweep_is_gpu(const SweepAxis *axis) { return !axis->low; }

/* What a point is made at. */
typedef struct {
  int64_t value;                /* where GPUs are swept the point's number, from 0 */
  char gpu[REQUEST_NAME_BYTES]; /* there */
} SweepValue;

/* What is kept of a run. */
typedef struct {
  const Schedule *schedule;
  FigureValue shown;
  bool is_whole;       /* counted, not measured */
  double ratio;        /* the first run's over this one's; NAN where they are not comparable */
  const char *time_is; /* the kind of its time */
  bool fits;
} SweepRun;

typedef struct {
  int64_t value;
  char machine[KEYFILE_TEXT_BYTES]; /* where GPUs are swept */
  double lower_bound_bytes;         /* behind L2: every input and output once */
  SweepRun runs[REQUEST_ALGORITHMS_MAX];
} SweepPoint;

/* Short names of the figures that are shown most; any other has its path. */
extern const char *const SWEEP_METRIC_NAMES[];
const FigureRow *sweep_metric(const char *name); /* NULL: there is no such figure, or it is no number */
const char *sweep_metric_title(const FigureRow *metric);
bool sweep_asks_gpu(const FigureRow *metric);   /* of L2, HBM or time; else what the program alone says */
bool sweep_has_bound(const FigureRow *metric);  /* bytes that no run is below */
bool sweep_is_counted(const FigureRow *metric); /* such bytes, across the SRAM boundary */

typedef struct {
  /* What is asked: the points first up to end of these values. Of a part the series have the names of the whole. */
  const SweepAxis *axis;
  const FigureRow *metric;
  const SweepValue *values;
  size_t n, first, end;
  const RankOptions *ranks; /* of programs with `ranks` */
  const Request *request;   /* with its algorithms, where they are one for all points */
  Document *document;       /* JSON has the points as they come, with their runs in full, which are not kept */
  Progress progress;
  /* What follows from it. */
  Table *json;
  int n_algorithms, n_points, n_done; /* done: runs */
  SweepPoint *points;
  Simulation start;                           /* of the first point */
  int64_t misfit_from, misfit_to;             /* values at an end of the axis without room for some tile; 0: none */
  const char *series[REQUEST_ALGORITHMS_MAX]; /* the algorithm; or the kernel, where it follows several */
} Sweep;

/* Behind L2 one short head on the paper's machine has nothing to show: what was not given of GPU, length and heads
 * becomes an H200 and 8 heads of 32K tokens, which share more than its L2 holds. */
void sweep_defaults(const SweepAxis *axis, Request *request);

/* The state line of the request without the key that is swept. */
const char *sweep_state(const Sweep *sweep, char text[REQUEST_STATE_BYTES]);

/* Asks *request at every value for every algorithm. The caller calls sweep_free. */
Status sweep_run(Sweep *sweep, const Request *request, Error *error);
void sweep_free(Sweep *sweep);

/* The table, without rows. In JSON columns have keys alone, so that it is opened before the series are known. On the
 * first screen there are ratios of two series alone. */
Table *sweep_table(const Sweep *sweep, bool details);
void sweep_row(Table *table, const Sweep *sweep, int point);

/* Total traffic of each algorithm against the swept parameter, with the lower bound; what does not fit is shaded. The
 * caller calls chart_free. */
Chart sweep_chart(const Sweep *sweep);

/* The same where GPUs are swept: a bar for each of them and each algorithm. `title`: "" what is shown, NULL that in one
 * line. The caller calls bars_free. */
Bars sweep_bars(const Sweep *sweep, const char *title);

#endif
