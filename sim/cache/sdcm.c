#include "sim/cache/sdcm.h"

#include <math.h>

/* Each term from the one before, as logarithms: the powers alone would underflow from D of a few
 * thousand on, and the binomial coefficients overflow. Terms rise and then fall, and their sum is a
 * probability, so adding them up one by one loses nothing. */
double sdcm_hit_probability(uint64_t d, uint64_t ways, uint64_t blocks) {
  if (d < ways) return 1;
  if (ways >= blocks) return 0;
  const double own = (double)ways / (double)blocks, odds = log(own) - log1p(-own);
  double log_term = (double)d * log1p(-own), sum = exp(log_term);
  for (uint64_t a = 1; a < ways; a++) {
    log_term += log((double)(d - a + 1) / (double)a) + odds;
    sum += exp(log_term);
  }
  return sum < 1 ? sum : 1;
}

double sdcm_misses(const uint64_t *histogram, uint64_t n, uint64_t first_uses, uint64_t ways, uint64_t blocks) {
  double misses = (double)first_uses;
  for (uint64_t d = 0; d < n; d++)
    if (histogram[d]) misses += (double)histogram[d] * (1 - sdcm_hit_probability(d, ways, blocks));
  return misses;
}
