/* What kind of quantity a value on an axis or a bar is: how it is written and where ticks fall. */
#ifndef TILEWALK_VIZ_CHART_VALUE_H
#define TILEWALK_VIZ_CHART_VALUE_H

#include "viz/text/number.h"

typedef enum {
  VALUE_BYTES = 0, /* binary units: 64 MiB */
  VALUE_COUNT,     /* 1,234 */
  VALUE_TOKENS,    /* 1K, 2K, 4K */
  VALUE_SECONDS,   /* 12.5 us */
  VALUE_FLOP_RATE, /* 989 TFLOP/s */
  VALUE_NUMBER,    /* 0.125 */
} ValueKind;

/* The value in words. Negative bytes and counts do not occur; they read as plain numbers. */
Number value_text(ValueKind kind, double value);

/* The value as an axis label: short, and exact for the round values on which ticks fall ("1.5K",
 * "64 MiB"). */
Number value_tick_text(ValueKind kind, double value);

#endif
