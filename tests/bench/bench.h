/* Clocks and the middle of several runs, for benches. A ratio is against something that the same run measured. */
#ifndef TILEWALK_TESTS_BENCH_H
#define TILEWALK_TESTS_BENCH_H

#include <stdlib.h>
#include <time.h>

#include "tests/support/each.h"

static inline double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* On the clock; of this process alone, whatever else the machine does. */
static inline double now_s(void) { return seconds_of(CLOCK_MONOTONIC); }
static inline double cpu_s(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

static inline int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of n values, which it sorts, the one that a part of them is below. */
static inline double quantile(double *values, int n, double part) {
  qsort(values, (size_t)n, sizeof *values, by_value);
  return values[(int)(part * n)];
}

#endif
