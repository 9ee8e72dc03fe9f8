/* When one CTA loads, multiplies and exponentiates: a model of time over its events.
 *
 *     loads      [Q][K][V]      [K]   [V]            its own clock, from 0
 *     products         [S]          [O][S]
 *     softmax             [e]             [e]
 *
 * An event takes its bytes, FLOPs or exponentials over its CTA's part of the peak rate (sim/machine/timing.h): an
 * equal part for each SM, and of an SM for each CTA on it. Loads come from L2 and are issued in the order of the
 * stream, one after the other; a tile is loaded once a place in SRAM is free: one for each tensor, as the SRAM budget
 * counts them, or as many as the launch has stages. Consumers each do their share of a tile, one after the other on
 * each unit: one multiplies while another exponentiates. Where a launch says `S beside P`, products of a step wait
 * until the next step's S is made, which thus runs under this step's softmax. A load that CTAs of a cluster share takes
 * each its part of L2's rate. A product waits for its tiles, the softmax for the product, the second product for the
 * softmax. Where rates are missing (`paper` has no L2), each event but a skip takes one step, one after the other. Not
 * modelled: latency, vector work other than exponentials, contention. */
#ifndef TILEWALK_SIM_TIME_SPANS_H
#define TILEWALK_SIM_TIME_SPANS_H

#include "sim/simulate.h"

enum {
  SPANS_HELD_MAX = 8, /* events of a step that wait for a product of the next */
  SPANS_EVENT = (2 * PROGRAM_CONSUMERS_MAX + 1) * (SPANS_HELD_MAX + 2), /* of one event and those held */
};

typedef enum { LANE_LOAD = 0, LANE_PRODUCT, LANE_SOFTMAX, SPAN_LANES } SpanLane;

/* One stretch of work in a lane, on its CTA's clock. */
typedef struct {
  SpanLane lane;
  int consumer;
  double start, end;
  uint64_t step;            /* of the event in the stream */
  uint8_t kind, tensor, op; /* as of the event */
  int64_t i, j;
} CtaSpan;

typedef struct {
  char why_steps[200]; /* time is counted in steps; "": it is not */
  int64_t ctas_per_sm; /* that work at once: no more than the launch has; 1 where it does not fit the machine */
  double bytes_per_s, flops_per_s, exps_per_s; /* of one CTA */
  const Schedule *schedule;
  Plan plan;                                              /* of one head */
  ProgramLaunch launches[PROGRAM_KERNELS_MAX];            /* as the kernel that runs says, or the program */
  uint64_t reads[PROGRAM_OPS_MAX], sets[PROGRAM_OPS_MAX]; /* names that are no columns: sim/algorithms/walk/live.h */
} SpanModel;

/* Of a run of one head on a machine, of all heads as they are launched. */
void span_model(SpanModel *model, const Simulation *run, const Shape *launched, const Gpu *gpu);

/* The spans of a CTA of a pass (sim/algorithms/walk/place.h) in the order of its events, at most `most`. Returns how
 * many. */
int cta_spans(const SpanModel *model, int pass, int64_t cta, CtaSpan *spans, int most);

#endif
