/* Which SMs of a GPU are of one GPC, from a recording of where CTAs run, and what the coalescer that they share makes of requests for
 * the same lines. For tests that include cmocka.h. */
#ifndef TILEWALK_TESTS_GPCS_H
#define TILEWALK_TESTS_GPCS_H

#include <stdio.h>
#include <stdlib.h>

#include "sim/placement.h"
#include "tests/open_asset.h"

enum { SMS = 132, GPC_SMS_MOST = 18, REQUESTS_MOST = 4, WINDOW_CYCLES = 70 };

static inline FILE *open_counters(const char *gpu, const char *what) {
  char name[64];
  snprintf(name, sizeof name, "counters/%s_%s.csv", gpu, what);
  return open_asset(name);
}

/* By %smid. The SMs that a launch begins with are of the first GPC. Sides may be NULL. */
static inline void read_gpcs(const char *gpu, int gpc[SMS], int side[SMS]) {
  static char line[8192];
  static Place places[SMS];
  placement_deal(&PLACEMENT_H200, SMS, places, SMS);
  FILE *file = open_counters(gpu, "placement");
  int n_launches = 0;
  while (fgets(line, sizeof line, file)) {
    int start = 0;
    if (sscanf(line, "launch,,,,1,132,%n", &start) != 0 || !start) continue;
    char *smids = line + start;
    for (int i = 0; i < SMS; i++) {
      const long smid = strtol(smids, &smids, 10);
      assert_true(smid >= 0 && smid < SMS && (n_launches == 0 || gpc[smid] == (int)places[i].gpc));
      gpc[smid] = (int)places[i].gpc;
      if (side) side[smid] = (int)places[i].side;
    }
    n_launches++;
  }
  fclose(file);
  assert_true(n_launches > 1);
}

static inline int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Of a GPC's requests in order, each joins the first of a group that is not full, and either not too long ago or still waiting for HBM,
 * which it is until `there`. */
static inline int groups_of(int *at, int n, int there) {
  int groups = 0;
  qsort(at, (size_t)n, sizeof *at, by_value);
  for (int i = 0, first = 0; i < n; i++)
    if (i == 0 || i - first == REQUESTS_MOST || (at[i] - at[first] > WINDOW_CYCLES && at[i] > there)) first = i, groups++;
  return groups;
}

#endif
