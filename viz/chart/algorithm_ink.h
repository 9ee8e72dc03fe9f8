/* One algorithm, one ink, in every chart. */
#ifndef TILEWALK_VIZ_CHART_ALGORITHM_INK_H
#define TILEWALK_VIZ_CHART_ALGORITHM_INK_H

#include "sim/algorithms/schedule.h"
#include "viz/chart/chart.h"

/* Shipped algorithms in the order of their list, or of those that compute the same outputs; a program of one's own
 * takes the ink after them. */
Ink algorithm_ink(const Schedule *schedule);

#endif
