#include "sim/numbers/accuracy.h"

void accuracy_add(Accuracy *accuracy, Precision precision, const double *values, const double *reference, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double error = fabs(values[i] - reference[i]);
    double ulps = error / precision_ulp(precision, reference[i]);
    accuracy->n++;
    accuracy->n_rounded += values[i] == precision_round(precision, reference[i]);
    accuracy->n_within_ulp += ulps <= 1;
    accuracy->n_not_finite += !isfinite(values[i]) && isfinite(reference[i]);
    accuracy->sum_squares += error * error;
    /* Written so that a NaN sticks: once the largest is a NaN, no comparison replaces it. */
    if (!(error <= accuracy->largest) && !isnan(accuracy->largest)) accuracy->largest = error;
    if (!(ulps <= accuracy->largest_ulps) && !isnan(accuracy->largest_ulps)) accuracy->largest_ulps = ulps;
  }
}

double accuracy_rmse(const Accuracy *accuracy) {
  return accuracy->n ? sqrt(accuracy->sum_squares / (double)accuracy->n) : 0;
}
