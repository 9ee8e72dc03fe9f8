/* Traffic of the first s events of a walk, for any s, without walking there.
 *
 *     whole outer iterations + whole inner iterations of the present one + a few events
 *       closed form              closed form                              folded
 *
 * Adding up from the start would cost millions of events a frame at N = 65,536. A schedule without closed forms
 * here is folded from the start, so a new one is right at once and fast later. */
#ifndef TILEWALK_VIZ_SCENE_PREFIX_H
#define TILEWALK_VIZ_SCENE_PREFIX_H

#include "sim/algorithms/schedule.h"

/* The fold of events [0, boundary) of a place of that pass, outer and inner; the plan may be another one with as many
 * blocks, such as the same without a mask. False: this schedule has no closed forms. */
bool prefix_at(const Schedule *schedule, const Plan *plan, int pass, int64_t outer, int64_t inner, Traffic *traffic);

/* The fold of events [0, step), steps beyond the end being the end. Equal to traffic_add over all of them. */
void prefix_traffic(const Schedule *schedule, const Plan *plan, uint64_t step, Traffic *traffic);

/* The last step at which no more than `bytes` have crossed the SRAM boundary; n_steps is the length of the walk. */
uint64_t prefix_step_of_bytes(const Schedule *schedule, const Plan *plan, uint64_t n_steps, Wide bytes);

#endif
