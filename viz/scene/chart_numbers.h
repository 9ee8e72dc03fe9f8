/* What the charts show: numbers computed from a request alone, whatever the step.
 *
 *     ChartNumbers numbers;
 *     chart_numbers_make(&numbers, &now);   once for a request; a few milliseconds, more for a long miss curve
 *     chart_roofline_now(&now);             at each step: where the moving point is; a microsecond
 *
 * Everything comes from simulate(), the schedules' closed forms and sim/reuse. One head is shown, as in all scenes.
 * Plain data without pointers. */
#ifndef TILEWALK_VIZ_SCENE_CHART_NUMBERS_H
#define TILEWALK_VIZ_SCENE_CHART_NUMBERS_H

#include "viz/scene/snapshot.h"

enum {
  CHART_SWEEP_POINTS = 40, /* of one parameter */
  CHART_MAP_SIDE = 9,      /* block sizes along each side of the map */
  CHART_FRONTIER = 65,     /* places at which the edge of SRAM is known */
  CHART_CURVE_POINTS = 320,
};

/* Total traffic with one parameter replaced. */
typedef struct {
  int64_t value;                   /* of N, or of B_r = B_c */
  double bytes[SNAPSHOT_RUNS_MAX]; /* by run; 0: not possible */
  bool fits[SNAPSHOT_RUNS_MAX];    /* the tiles fit SRAM */
} SweepNumbers;

/* Every B_r (down) by every B_c (across), powers of two, of the algorithm shown. */
typedef struct {
  int n_q, n_k;
  int64_t q[CHART_MAP_SIDE], k[CHART_MAP_SIDE];
  double bytes[CHART_MAP_SIDE][CHART_MAP_SIDE]; /* total traffic; 0: not possible */
  bool fits[CHART_MAP_SIDE][CHART_MAP_SIDE];
  double low_bytes, high_bytes; /* over all cells */
  bool has_best;
  int best_q, best_k; /* least traffic of those that fit; among equals the one nearest to a square */
  double edge_q[CHART_FRONTIER], edge_k[CHART_FRONTIER]; /* the largest B_c that fits beside a B_r; 0: none */
} BlockMap;

/* Misses of a fully associative LRU cache of every capacity, for all tiles that one CTA after another moves
 * (sim/cache/reuse.h). Long heads are walked in wider tiles along the inner loop, which leaves the order and the
 * traffic as they are; a tile is then kept or pushed out as a whole. */
typedef struct {
  bool is_known;
  char why_not[80];   /* else */
  double unit_bytes;  /* the grain: one tile of what is used again */
  int64_t widening;   /* inner tiles that were walked as one; 1: none */
  double first_bytes; /* touched for the first time: no cache helps */
  double total_bytes;
  int n;
  double capacity_bytes[CHART_CURVE_POINTS]; /* rising */
  double missed_bytes[CHART_CURVE_POINTS];   /* falling, from total_bytes to first_bytes */
  double l2_bytes;                           /* of this GPU; 0: none */
  double l2_missed_bytes;
} MissCurve;

/* FLOPs for each byte and the rate that the machine then allows. */
typedef Roof RooflinePoint; /* of the whole launch, all heads; zeros: nothing yet, or no rate is known */

typedef struct {
  TimePart level;           /* what serves the SRAM: L2 where there is one, else HBM */
  double level_bytes_per_s; /* 0: not known */
  double hbm_bytes_per_s;
  double peak_flops_per_s;               /* of the products; 0: not known */
  double exp_flops_per_s;                /* the ceiling that exponentials put on them; 0: not known */
  double ridge;                          /* FLOPs a byte where the level's roof meets the products; 0: not known */
  RooflinePoint ends[SNAPSHOT_RUNS_MAX]; /* by bytes across the SRAM boundary */
  RooflinePoint end_hbm;                 /* of the algorithm shown, by bytes of HBM; same as its end without L2 */
  TimeWork work;                         /* of its whole launch */
  TimePart bound;                        /* of the algorithm shown */
  int term;                              /* timing_term of it */
  double low_flops_per_byte,
      high_flops_per_byte; /* between which the moving point and all ends lie; 0: nothing is computed */
} RooflineNumbers;

typedef struct {
  int n_runs, shown; /* index of the algorithm shown among the runs; -1: not among them */
  const Schedule *schedules[SNAPSHOT_RUNS_MAX];
  bool of_keys; /* decode: N counts keys */
  int64_t N;    /* of the request */
  int n_N, n_B;
  SweepNumbers by_N[CHART_SWEEP_POINTS], by_B[CHART_SWEEP_POINTS];
  int64_t max_block; /* the largest square block of the algorithm shown that fits; 0: none */
  BlockMap map;
  MissCurve misses;
  RooflineNumbers roofline;
} ChartNumbers;

void chart_numbers_make(ChartNumbers *numbers, const Snapshot *snapshot);

/* The misses of the walk: part of the above, in a file of its own. */
void chart_misses_make(MissCurve *curve, const Simulation *run, const Gpu *gpu, bool column_by_column);

/* Missed bytes at a capacity, from the curve: that of the largest capacity in it that is not above. */
double chart_missed_at(const MissCurve *curve, double capacity_bytes);

/* Where the run is in the roofline after the snapshot's events: bytes of all levels so far are taken in proportion to
 * those of the head that is shown across the SRAM boundary, and so are its products. */
RooflinePoint chart_roofline_now(const RooflineNumbers *roofline, const Snapshot *snapshot);
RooflinePoint chart_roofline_before(const RooflineNumbers *roofline, const Snapshot *now); /* the present event */

#endif
