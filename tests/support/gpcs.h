/* Which SMs of a GPU are of one GPC, from a recording of where CTAs run. For tests that include cmocka.h. */
#ifndef TILEWALK_TESTS_SUPPORT_GPCS_H
#define TILEWALK_TESTS_SUPPORT_GPCS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/l2/placement.h"
#include "tests/support/open_asset.h"

enum { SMS = 132 };

/* Of the first card of that GPU. */
static inline FILE *open_counters(const char *gpu, const char *experiment) {
  char name[64];
  snprintf(name, sizeof name, "counters/%s/%s/first.csv", gpu, experiment);
  return open_asset(name);
}

/* By %smid, as the first launch of one CTA to an SM tells, which began with the first GPC: the recorded sides say so.
 * The SMs that a launch begins with are of the first GPC. Sides may be NULL. */
static inline void read_gpcs(const char *gpu, int gpc[SMS], int side[SMS]) {
  static char line[8192];
  static Place places[SMS];
  int recorded_side[SMS] = {0}, n_sides = 0;
  bool dealt = false;
  placement_deal(&PLACEMENT_H200, SMS, 0, places, SMS);
  FILE *file = open_counters(gpu, "placement");
  while (!dealt && fgets(line, sizeof line, file)) {
    int start = 0, on_side, smid;
    double near, far;
    if (sscanf(line, "sm,%d,%lf,%lf,,,%d", &on_side, &near, &far, &smid) == 4) {
      assert_true(smid >= 0 && smid < SMS);
      recorded_side[smid] = on_side, n_sides++;
    }
    if (sscanf(line, "launch,,,,1,132,%n", &start) != 0 || !start) continue;
    char *smids = line + start;
    for (int i = 0; i < SMS; i++) {
      const long at = strtol(smids, &smids, 10);
      assert_true(at >= 0 && at < SMS && recorded_side[at] == (int)places[i].side);
      gpc[at] = (int)places[i].gpc;
      if (side) side[at] = (int)places[i].side;
    }
    dealt = true;
  }
  fclose(file);
  assert_true(dealt && n_sides == SMS);
}

#endif
