#include "viz/chart/algorithm_ink.h"

Ink algorithm_ink(const Schedule *schedule) {
  static const Ink OF[] = {INK_NEUTRAL, INK_ORANGE, INK_BLUE, INK_GREEN, INK_PURPLE};
  enum { LAST = sizeof OF / sizeof *OF - 1 };
  int k = 0;
  while (k < N_SCHEDULES && SCHEDULES[k] != schedule) k++;
  return OF[k < LAST ? k : LAST];
}
