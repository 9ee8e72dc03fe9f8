/* When CTAs do what: a model of time over the event stream, and of CTAs over SMs.
 *
 *     one CTA    loads      [Q][K][V]      [K]   [V]            its own clock, from 0
 *                products         [S]          [O][S]
 *                softmax             [e]             [e]
 *     one GPU    SM 0  [CTA 0 ][CTA 4     ]
 *                SM 1  [CTA 1  ][CTA 5      ]                   a slot takes the next piece of work when it is free
 *                SM 2  [CTA 2   ][CTA 6       ]                 (sim/l2/launch.h): the ragged end is the tail
 *
 * Modelled: an event takes its bytes, FLOPs or exponentials over its CTA's part of the peak rate
 * (sim/machine/timing.h): an equal part for each SM, and of an SM for each CTA on it. Loads come from L2 and are issued
 * in the order of the stream, one after the other; a tile is loaded once a place in SRAM is free: one for each tensor,
 * as the SRAM budget counts them, or as many as the launch has stages. Consumers each do their share of a tile, one
 * after the other on each unit: one multiplies while another exponentiates. Where a launch says `S beside P`, products
 * of a step wait until the next step's S is made, which thus runs under this step's softmax. A load that CTAs of a
 * cluster share takes each its part of L2's rate. A product waits for its tiles, the softmax
 * for the product, the second product for the softmax. Kernels run one after another. How long all of it takes is not
 * said here: that is the predicted time of the launch, where there is one, or at least its lower bound
 * (simulation_time), and the clocks are stretched to it.
 * Where rates are missing (`paper` has no L2), each event but a skip takes
 * one step, one after the other. Not modelled: latency, vector work other than exponentials,
 * contention, gaps between kernels.
 *
 * CTAs of one launch that differ (a causal mask) are timed at up to TIMELINE_SAMPLES row blocks, every one where there
 * are no more, and between those on a straight line. */
#ifndef TILEWALK_VIZ_SCENE_TIMELINE_H
#define TILEWALK_VIZ_SCENE_TIMELINE_H

#include "sim/l2/launch.h"
#include "viz/scene/snapshot.h"

enum {
  TIMELINE_KERNELS = PROGRAM_KERNELS_MAX,
  TIMELINE_HELD_MAX = 8, /* events of a step that wait for a product of the next */
  TIMELINE_EVENT_BARS = (2 * PROGRAM_CONSUMERS_MAX + 1) * (TIMELINE_HELD_MAX + 2), /* of one event and those held */
  TIMELINE_SAMPLES = 257,
  TIMELINE_PIECES_MAX = 1 << 16, /* CTAs that are dealt out to slots; of more, the last ones */
  TIMELINE_WALK = 1 << 15,       /* events of one CTA that are walked for its bars */
};

typedef enum { LANE_LOAD = 0, LANE_PRODUCT, LANE_SOFTMAX, TIMELINE_LANES } TimelineLane;

/* One stretch of work in a lane, on its CTA's clock. */
typedef struct {
  TimelineLane lane;
  double start, end;
  uint64_t step;            /* of the event in the stream */
  uint8_t kind, tensor, op; /* as of the event */
  int64_t i, j;
} TimelineBar;

/* One CTA on its slot. */
typedef struct {
  double start, end;
  int32_t slot;
  int32_t kernel;
  int64_t number; /* in the start order of its kernel */
} TimelinePiece;

typedef struct {
  Launch launch;
  int pass;        /* the first pass of the schedule that it runs */
  bool whole_head; /* one CTA does all passes of a head */
  int n_samples;
  int64_t sample_at[TIMELINE_SAMPLES]; /* outer iteration, rising */
  double sample[TIMELINE_SAMPLES];     /* how long it takes */
  double start, end;
  int64_t first_number, n_pieces; /* those dealt out; first_number > 0: earlier ones are not shown */
} TimelineKernel;

typedef struct {
  bool is_known;
  char why_not[160];                           /* else */
  bool in_steps;                               /* time is counted in steps */
  char why_steps[200];                         /* then */
  bool is_assumed;                             /* the launch does not fit the machine: one CTA on each SM is taken */
  double bytes_per_s, flops_per_s, exps_per_s; /* of one CTA, stretched: the peak's part over `stretch` */
  const Schedule *schedule;
  Plan plan;                                              /* of one head */
  ProgramLaunch launches[PROGRAM_KERNELS_MAX];            /* as the kernel that runs says, or the program */
  uint64_t reads[PROGRAM_OPS_MAX], sets[PROGRAM_OPS_MAX]; /* names that are no columns: sim/algorithms/walk/live.h */
  int n_kernels;
  TimelineKernel kernels[TIMELINE_KERNELS];
  int64_t n_pieces;
  TimelinePiece *pieces;                /* of all kernels, in start order */
  double end;                           /* of everything that is shown */
  double stretch;                       /* of all clocks: over what the peak rates alone would give */
  double least_s, predicted_s, whole_s; /* of the whole launch: no run is faster; predicted, 0: not; what is drawn */
  double busy;                          /* sum over the pieces of their time */
} Timeline;

/* Makes the timeline of a request. Free it after use, also when it is not known. */
void timeline_make(Timeline *timeline, const Snapshot *now);
void timeline_free(Timeline *timeline);

/* The part of all slots' time that CTAs fill, of the kernels and pieces shown; 0 to 1. */
double timeline_use(const Timeline *timeline);

/* Where the present event is. */
typedef struct {
  int kernel;
  int64_t outer;     /* outer iteration of the pass: which CTA of the head; 0 for a whole head */
  LaunchPiece piece; /* of the first head */
  int64_t at;        /* in pieces; -1: it is not among those shown */
  double time;       /* on the CTA's clock: when the present event is over */
} TimelineMoment;

TimelineMoment timeline_now(const Timeline *timeline, const Snapshot *now);

/* The CTA's number in its kernel's start order, for the first head. */
int64_t timeline_number(const Timeline *timeline, int kernel, int64_t outer);
int64_t timeline_ctas_of_head(const Timeline *timeline, int kernel); /* outer iterations that are a CTA each */

/* Events of the CTA that are no skips. */
double timeline_events(const Timeline *timeline, int kernel, int64_t outer);

/* How long the CTA takes, by the samples. */
double timeline_duration(const Timeline *timeline, int kernel, int64_t outer);

/* The bars of a CTA that lie in [from, to], at most `most` of them. Returns how many. *end is when the walk ended: the
 * CTA's own end, or `to`. A CTA longer than TIMELINE_WALK events is known up to there. */
int timeline_bars(const Timeline *timeline, int kernel, int64_t outer, double from, double to, TimelineBar *bars,
                  int most, double *end);

#endif
