#include "viz/chart/algorithm_ink.h"

#include "sim/algorithms/shipped.h"

Ink algorithm_ink(const Schedule *schedule) {
  static const Ink OF[] = {INK_NEUTRAL, INK_ORANGE, INK_BLUE, INK_GREEN, INK_PURPLE};
  enum { LAST = COUNT_OF(OF) - 1 };
  const Schedule *alike[LAST];
  for (int k = 0; k < N_SCHEDULES && k < LAST; k++)
    if (SCHEDULES[k] == schedule) return OF[k];
  const int n = shipped_alike(schedule, alike, LAST);
  if (n < 2 || alike[0] == SCHEDULES[0]) return OF[LAST]; /* alone, or beside the first ones */
  for (int k = 0; k < n; k++)
    if (alike[k] == schedule) return OF[k];
  return OF[n];
}
