/* When the CTAs of recorded launches asked for tiles of K and V (kernels/probes/probe_steps.cu;
 * assets/counters/GPU_steps.csv, GPU_steps_shared.csv), for tests; fails the test where a recording is not as it should
 * be. Include it after cmocka.h. */
#ifndef TILEWALK_TESTS_SUPPORT_RECORDED_STEPS_H
#define TILEWALK_TESTS_SUPPORT_RECORDED_STEPS_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/support/gpcs.h"

enum { N_ASKS = 13, RECORDED_CTAS_MOST = 512, SECTOR_BYTES = 32 };
static const int TILES[N_ASKS] = {0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192}; /* whose asks are recorded */

typedef struct {
  int smid, tiles, asks[N_ASKS];
} Cta;

typedef struct {
  char rung[16];
  int d, N, heads, causal, n_ctas;
  double boundary_bytes, l2_sectors;
  Cta ctas[RECORDED_CTAS_MOST];
} Recorded;

static inline void read_recorded_cta(Recorded *launch, const char *row) {
  int cta, at = 0, n_asks = 0;
  assert_true(launch->n_ctas < RECORDED_CTAS_MOST);
  Cta *c = &launch->ctas[launch->n_ctas];
  assert_int_equal(sscanf(row, "%d,%d,%d%n", &cta, &c->smid, &c->tiles, &at), 3);
  assert_true(cta == launch->n_ctas++ && c->smid >= 0 && c->smid < SMS && c->tiles > 0);
  for (int more; n_asks < N_ASKS && sscanf(row + at, ",%d%n", &c->asks[n_asks], &more) == 1; n_asks++) at += more;
  for (int i = 0; i < N_ASKS; i++) assert_true((TILES[i] < c->tiles) == (i < n_asks));
}

/* Of counters/GPU/WHAT/first.csv, as many launches as it has to have. */
static inline void read_recorded_steps(const char *gpu, const char *what, Recorded *launches, int n_launches) {
  FILE *file = open_counters(gpu, what);
  char line[512];
  int n = 0;
  while (fgets(line, sizeof line, file)) {
    Recorded of = {.d = 0};
    int at = 0;
    if (sscanf(line, "%15[^,],%d,%d,%d,%d,%n", of.rung, &of.d, &of.N, &of.heads, &of.causal, &at) != 5 || !at) continue;
    const bool is_launch = sscanf(line + at, "launch,%lf,%lf", &of.boundary_bytes, &of.l2_sectors) == 2;
    assert_true(n + is_launch > 0 && n + is_launch <= n_launches && of.heads >= 1);
    if (is_launch)
      launches[n++] = of;
    else
      read_recorded_cta(&launches[n - 1], line + at);
  }
  fclose(file);
  assert_int_equal(n, n_launches);
}

#endif
