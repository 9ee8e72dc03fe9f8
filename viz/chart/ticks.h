/* Where the ticks of an axis fall, and where a value lies along it; for the terminal and for drawn
 * charts alike.
 *
 * Bytes and tokens are counted in powers of two, everything else in tens. A logarithmic axis steps
 * by whole powers, so that equal steps stay equal: 1K, 2K, 4K, or 1 MiB, 32 MiB, 1 GiB, or 1, 10,
 * 100 (1, 2, 5, 10 where there is room). */
#ifndef TILEWALK_VIZ_CHART_TICKS_H
#define TILEWALK_VIZ_CHART_TICKS_H

#include "viz/chart/value.h"

typedef struct {
  ValueKind kind;
  bool log;
  double low, high; /* finite, low < high; above zero when log */
} Scale;

enum { TICKS_MAX = 24 };

typedef struct {
  int n;
  double values[TICKS_MAX]; /* rising, within the scale */
} Ticks;

/* A scale over the values from `low` to `high`, widened where they are equal or make no scale, and
 * by `margin` (a part of the axis, 0.05 is 5 %) at both ends. A linear scale of values that are all
 * >= 0 starts at exactly 0. On a logarithmic one, values <= 0 have no place: leave them out of
 * `low`. */
Scale scale_over(ValueKind kind, bool log, double low, double high, double margin);

/* The place of a value: 0 at low, 1 at high; beyond them outside that range. Not finite for values
 * <= 0 on a logarithmic scale. */
double scale_position(const Scale *scale, double value);

/* At most `most` ticks (2 to TICKS_MAX - 1) on round values. */
Ticks ticks_on(const Scale *scale, int most);

#endif
