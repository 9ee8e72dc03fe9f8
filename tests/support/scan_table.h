/* The scans of assets/counters/h200/l2-scan/first.csv. */
#ifndef TILEWALK_TESTS_SUPPORT_SCAN_TABLE_H
#define TILEWALK_TESTS_SUPPORT_SCAN_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/l2/clock.h"
#include "tests/support/open_asset.h"

enum { SCAN_ROWS_MAX = 256, SCAN_TILE_BYTES = 16384, SCAN_CTAS_MAX = 512 };

typedef enum { SCAN_FORWARD, SCAN_LAST_FIRST, SCAN_TRIANGULAR } ScanWalk;

typedef struct {
  ScanWalk walk;
  char load[32];
  uint32_t ctas, rounds, phase_step;
  uint64_t n_tiles;
  double work_cycles, jitter_cycles;
  double boundary, l2_read, l2_miss, fabric, hbm_read, time_ns; /* counted */
} Scan;

static inline int scan_read_table(Scan *rows) {
  char line[512], walk[16];
  FILE *file = open_asset("counters/h200/l2-scan/first.csv");
  int n = 0;
  while (n < SCAN_ROWS_MAX && fgets(line, sizeof line, file)) {
    Scan *s = &rows[n];
    double mib;
    const char *rest = strchr(line, ',');
    if (line[0] == '#' || !rest) continue;
    memcpy(walk, line, 15);
    s->walk = walk[0] == 'f' ? SCAN_FORWARD : walk[0] == 'l' ? SCAN_LAST_FIRST : SCAN_TRIANGULAR;
    if (line[0] == '"') rest = strchr(rest + 1, ',');
    if (sscanf(rest, ",%31[^,],%u,%lf,%u,%u,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", s->load, &s->ctas, &mib, &s->rounds,
               &s->phase_step, &s->work_cycles, &s->jitter_cycles, &s->boundary, &s->l2_read, &s->l2_miss, &s->fabric,
               &s->hbm_read, &s->time_ns) != 13)
      continue; /* the heading */
    s->n_tiles = (uint64_t)(mib * 1048576 / SCAN_TILE_BYTES);
    n++;
  }
  fclose(file);
  return n;
}

/* The kernel of the table, as a program of steps. */
typedef struct {
  const Scan *scan;
  uint64_t step[SCAN_CTAS_MAX]; /* of each CTA, the next */
} ScanRun;

static inline bool scan_step(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  ScanRun *run = (ScanRun *)context;
  const Scan *s = run->scan;
  const uint64_t n = s->walk == SCAN_TRIANGULAR ? s->n_tiles * (cta + 1) / s->ctas : s->n_tiles;
  const uint64_t step = run->step[cta]++;
  if (step >= n * s->rounds) return false;
  const uint64_t k = step % n;
  next->n_reads = 1;
  next->reads[0] = s->walk == SCAN_FORWARD ? ((uint64_t)cta * s->phase_step + k) % n : n - 1 - k;
  next->work_cycles =
      s->work_cycles + s->jitter_cycles * (cta * 2654435761u % 1000) / 1000; /* a fixed amount of its own */
  return true;
}

static inline ClockConfig scan_config(const Scan *s, uint64_t seed) {
  ClockConfig config = {.hierarchy = {.kinds = {{.n = s->n_tiles,
                                                 .bytes = SCAN_TILE_BYTES,
                                                 .n_tiles = 4 /* as tests/support/scan_predicted.c has it */}}},
                        .n_ctas = s->ctas,
                        .seed = seed};
  static Place places[SCAN_CTAS_MAX];
  placement_deal(&PLACEMENT_H200, 132, 0, places, s->ctas);
  config.ctas_per_sm = s->ctas > 132 ? 2 : 1;
  config.places = places;
  if (s->work_cycles > 0)
    config.jitter_cycles = CLOCK_JITTER_CYCLES; /* those that spin by the clock leave the SM to each other */
  return config;
}

/* Fabric bytes that every launch shows, whatever it reads (0.40 to 0.42 MB in the table). */
static const double SCAN_FABRIC_BASE_BYTES = 410000;

#endif
