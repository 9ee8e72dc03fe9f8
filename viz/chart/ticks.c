#include "viz/chart/ticks.h"

#include <math.h>

Scale scale_over(ValueKind kind, bool log, double low, double high, double margin) {
  Scale scale = {kind, log, low, high};
  if (!isfinite(low) || !isfinite(high) || low > high) scale.low = scale.high = log ? 1 : 0;
  if (log) {
    if (!(scale.low > 0)) scale.low = scale.high > 0 ? scale.high : 1;
    if (!(scale.high >= scale.low)) scale.high = scale.low;
    if (scale.high == scale.low) scale.low /= 2, scale.high *= 2;
    double factor = pow(scale.high / scale.low, margin);
    scale.low /= factor;
    scale.high *= factor;
    return scale;
  }
  bool from_zero = scale.low >= 0;
  if (from_zero) scale.low = 0;
  if (!(scale.high > scale.low)) {
    double around = scale.high == 0 ? 1 : fabs(scale.high) / 2;
    scale.high += around;
    if (!from_zero) scale.low -= around;
  }
  double more = (scale.high - scale.low) * margin;
  scale.high += more;
  if (!from_zero) scale.low -= more;
  return scale;
}

double scale_position(const Scale *scale, double value) {
  if (!scale->log) return (value - scale->low) / (scale->high - scale->low);
  return log(value / scale->low) / log(scale->high / scale->low);
}

static bool is_binary(ValueKind kind) { return kind == VALUE_BYTES || kind == VALUE_TOKENS; }

/* Powers of `base` every `stride` steps. Exponents are multiples of the stride, so that strides of
 * 1, 2, 5 and 10 powers of two all meet 1 KiB, 1 MiB, ... */
static Ticks powers(const Scale *scale, double base, int stride) {
  Ticks ticks = {0};
  double step = stride * log2(base), slack = 1e-9;
  double first = ceil(log2(scale->low) / step - slack), last = floor(log2(scale->high) / step + slack);
  for (double i = first; i <= last && ticks.n < TICKS_MAX; i++) ticks.values[ticks.n++] = pow(base, i * stride);
  return ticks;
}

/* 1, 2, 5 in every decade, or only 1 and 3. */
static Ticks within_decades(const Scale *scale, const double *steps, int n_steps) {
  Ticks ticks = {0};
  for (double e = floor(log10(scale->low)); e <= ceil(log10(scale->high)); e++)
    for (int i = 0; i < n_steps; i++) {
      double value = steps[i] * pow(10, e);
      if (value < scale->low * (1 - 1e-9) || value > scale->high * (1 + 1e-9)) continue;
      if (ticks.n < TICKS_MAX) ticks.values[ticks.n++] = value;
    }
  return ticks;
}

static Ticks log_ticks(const Scale *scale, int most) {
  static const int binary[] = {1, 2, 5, 10, 20, 50, 100, 500}, decimal[] = {1, 2, 3, 6, 12, 50, 100, 300};
  bool two = is_binary(scale->kind);
  double base = two ? 2 : 10;
  if (!two && log10(scale->high / scale->low) < 4) {
    Ticks fine = within_decades(scale, (const double[]){1, 2, 5}, 3);
    if (fine.n >= 2 && fine.n <= most) return fine;
  }
  for (int i = 0; i < 8; i++) {
    int stride = two ? binary[i] : decimal[i];
    const Ticks ticks = powers(scale, base, stride);
    if (ticks.n <= most) return ticks;
  }
  return (Ticks){0};
}

/* The smallest round step that gives at most `most` ticks. */
static double linear_step(const Scale *scale, int most) {
  double least = (scale->high - scale->low) / (most - 1 > 0 ? most - 1 : 1);
  if (is_binary(scale->kind)) return exp2(ceil(log2(least > 1 ? least : 1) - 1e-9));
  const bool whole = scale->kind == VALUE_COUNT; /* its text has no decimals: 2.5 would stand there as 3 */
  if (whole && least < 1) return 1;
  double power = pow(10, floor(log10(least)));
  static const double steps[] = {1, 2, 2.5, 5, 10};
  for (int i = 0; i < 5; i++) {
    const double step = steps[i] * power;
    if (step >= least * (1 - 1e-9) && (!whole || step == floor(step))) return step;
  }
  return 10 * power;
}

Ticks ticks_on(const Scale *scale, int most) {
  if (most < 2) most = 2;
  if (most >= TICKS_MAX) most = TICKS_MAX - 1; /* powers that are as many may be cut */
  if (scale->log) {
    Ticks ticks = log_ticks(scale, most);
    if (ticks.n > 0) return ticks;
    /* No power lies inside: a short piece of a logarithmic axis is nearly linear. */
  }
  Ticks ticks = {0};
  double step = linear_step(scale, most), slack = 1e-9;
  double first = ceil(scale->low / step - slack);
  for (int i = 0; i < most; i++) {
    double value = (first + i) * step;
    if (value > scale->high + step * slack) break;
    ticks.values[ticks.n++] = value;
  }
  return ticks;
}
