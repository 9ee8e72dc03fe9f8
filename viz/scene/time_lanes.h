/* What Time draws: two tiles of one CTA, or one, as spans on lanes.
 *
 *     softmax 1     ▐      ▐██████▐
 *     softmax 2     ▐ ▐██████▐
 *     tensor cores  ▐2 ▐1 ▐////▐2 ▐      //// idle: between two products
 *
 * Of the kernel, head dimension and GPU that a recording is of, it is drawn: the two tiles of its longest row block
 * that are idle most nearly as long as all of them. Of anything else, tiles in the middle of the longest CTA, as
 * modelled (sim/time/spans.h); of a CTA of a few tiles all of it. idle = what lies between the products drawn. */
#ifndef TILEWALK_VIZ_SCENE_TIME_LANES_H
#define TILEWALK_VIZ_SCENE_TIME_LANES_H

#include "viz/scene/snapshot.h"

enum { TIME_BARS = 400, TIME_LANES = 1 + PROGRAM_CONSUMERS_MAX + 1 };

typedef struct {
  int lane, group; /* of the lanes below; whose work it is, from 1 */
  double begin, end;
  uint8_t op, parity; /* of the event, and of its tile; of a modelled one */
} TimeBar;

/* Why the tensor cores are idle, most of the time. */
typedef enum { IDLE_NEVER = 0, IDLE_ALWAYS, IDLE_ALL_SOFTMAX, IDLE_ONE_SOFTMAX, IDLE_LOADS, IDLE_ELSE } TimeIdle;

typedef struct {
  char name[48], note[64]; /* of the kernel; where the lanes are from */
  int n_lanes, n_groups;   /* the last lane is the tensor cores'; groups have a lane of softmax each */
  char lanes[TIME_LANES][24];
  int n_bars;
  TimeBar bars[TIME_BARS]; /* within [from, to], those of a lane one after the other */
  double from, to, at;     /* what is drawn; where the present event has come to */
  double idle;             /* part of it; below 0: without rates there is no time */
  TimeIdle why;
} TimeLanes;

void time_lanes(const Snapshot *now, int tiles, double happened, TimeLanes *lanes);

#endif
