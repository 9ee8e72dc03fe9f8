/* The conversions between double and 128-bit integers, in two halves: what a compiler for a machine of 32 bits calls
 * and its library lacks there. Sums and products it expands itself (checked.h). */
#ifndef TILEWALK_SIM_BASE_WIDE_H
#define TILEWALK_SIM_BASE_WIDE_H

#include <stdint.h>

typedef struct {
  uint64_t low, high; /* in this order as a 128-bit integer lies in memory */
} WideHalves;

/* Towards zero; 0 of what is negative or no number, 2^128 - 1 of what is larger. */
WideHalves wide_of_double(double value);

/* Rounded to the nearest, ties to even. */
double wide_to_double(WideHalves value);

#endif
