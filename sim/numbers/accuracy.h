/* How far computed numbers are from the right ones.
 *
 * Two measures, because they answer two questions: the root mean square error (RMSE) is what papers
 * print; the error in ulps of the format the result is stored in says how much of it could have been
 * avoided, since storing alone costs up to half an ulp. */
#ifndef TILEWALK_SIM_NUMBERS_ACCURACY_H
#define TILEWALK_SIM_NUMBERS_ACCURACY_H

#include "sim/numbers/precision.h"

/* Zero is "nothing compared yet". */
typedef struct {
  int64_t n;            /* numbers compared */
  int64_t n_rounded;    /* of those, equal to the reference once that is stored in the format */
  int64_t n_within_ulp; /* off by at most one ulp; near 0, where ulps are tiny, most are not */
  int64_t n_not_finite; /* infinities and NaNs where the reference is finite */
  double sum_squares;   /* of the errors; not finite as soon as one number is not */
  double largest;       /* absolute error */
  double largest_ulps;  /* |value - reference| over the format's gap at the reference */
} Accuracy;

/* Compares n numbers, results stored in `precision`, with the reference and adds to *accuracy. */
void accuracy_add(Accuracy *accuracy, Precision precision, const double *values, const double *reference, int64_t n);

/* Root mean square error; 0 of nothing; infinity or NaN when a number was not finite, so a check must
 * be written as "not within tolerance". */
double accuracy_rmse(const Accuracy *accuracy);

#endif
