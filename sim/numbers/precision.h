/* Number formats: what a value becomes when it is stored in fewer bits.
 *
 *     fp16   s eeeee ffffffffff     bias 15    largest 65504      overflow: infinity
 *     bf16   s eeeeeeee fffffff     bias 127   largest 3.39e38    overflow: infinity
 *     e4m3   s eeee fff             bias 7     largest 448        overflow: 448 (has no infinity)
 *     e5m2   s eeeee ff             bias 15    largest 57344      overflow: 57344
 *
 * Modelled: conversion from double in one rounding, to nearest, ties to even, with subnormals;
 * overflow as the GPU's conversion instructions do it. For fp16 and bf16 (cvt.rn) that is infinity.
 * For fp8 the PTX instruction exists only as cvt.rn.satfinite, which clamps every value, infinities
 * included, to the largest finite one; the OCP 8-bit specification (revision 1.0) calls this the
 * saturating mode. A NaN stays a NaN: its sign and upper payload bits are kept and it becomes quiet.
 * Not modelled: the one NaN, 0x7fff, that a GPU returns for every NaN, because keeping the payload
 * loses less; rounding to fp32 on the way, because a caller that wants it rounds to fp32 first. */
#ifndef TILEWALK_SIM_NUMBERS_PRECISION_H
#define TILEWALK_SIM_NUMBERS_PRECISION_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sim/base/error.h"

typedef enum {
  PRECISION_FP64 = 0,
  PRECISION_FP32,
  PRECISION_FP16,
  PRECISION_BF16,
  PRECISION_E4M3,
  PRECISION_E5M2,
  N_PRECISIONS
} Precision;

typedef struct {
  const char *name;
  int bits;           /* sign, exponent and fraction together */
  int fraction_bits;  /* stored ones; the leading 1 of a normal number is not among them */
  int bias;           /* of the exponent field */
  uint64_t largest;   /* pattern of the largest finite value */
  uint64_t overflow;  /* pattern that a positive value too large becomes */
  uint64_t quiet_nan; /* pattern of a NaN with an empty payload */
} PrecisionFormat;

/* The row of the table above for `precision`; never NULL for a member of the enum. */
const PrecisionFormat *precision_format(Precision precision);

/* "fp64", "fp32", "fp16", "bf16", "e4m3", "e5m2"; "fp8" means e4m3. */
Status precision_from_name(const char *name, Precision *precision, Error *error);

/* The bit pattern that stores `value`, in the low bits. */
uint64_t precision_to_bits(Precision precision, double value);

/* The value of a bit pattern, exactly; bits above the format's width are ignored. */
double precision_from_bits(Precision precision, uint64_t bits);

/* The value of `value` once stored: to bits and back. */
double precision_round(Precision precision, double value);

/* Whether storing `value` would need a larger number than the format has: it becomes infinity, or the
 * largest value where the format saturates. */
bool precision_overflows(Precision precision, double value);

/* The gap between neighbours of the format around `value`: one unit in the last place (ulp). In the
 * subnormal range and at 0 it is the smallest subnormal. NaN for an infinity or a NaN. */
double precision_ulp(Precision precision, double value);

/* What a GPU adds up in when its operands are stored in `stored`: fp64 for fp64, fp32 for the rest. */
static inline Precision precision_accumulator(Precision stored) {
  return stored == PRECISION_FP64 ? PRECISION_FP64 : PRECISION_FP32;
}

/* The result of one +, -, x or / in the accumulator's format, given the same operation in double on
 * operands of that format. Rounding twice does no harm there: 53 bits are more than 2 x 24 + 1
 * (Figueroa 1995, "When is double rounding innocuous?"). Beyond the largest fp32 it is infinity. */
static inline double precision_computed(Precision accumulator, double in_double) {
  return accumulator == PRECISION_FP64 ? in_double : (double)(float)in_double;
}

/* a x b + c, rounded once in the accumulator's format, as the GPU's fused instruction does. In fp32 the product is
 * exact in double, and the sum's rounding to double cannot move it past a value halfway between two fp32. Only a
 * rounded sum that is such a value, or is below the normal ones, takes fmaf, slow where there is no instruction for it.
 */
static inline double precision_multiply_add(Precision accumulator, double a, double b, double c) {
  if (accumulator == PRECISION_FP64) return fma(a, b, c);
  const double product = (double)(float)a * (double)(float)b, addend = (double)(float)c, sum = product + addend;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  const bool is_halfway = (bits & 0x1fffffff) == 0x10000000;
  if (!is_halfway && fabs(sum) >= 0x1p-126) return (double)(float)sum;
  if (sum - product == addend && sum - addend == product) return (double)(float)sum; /* it is exact */
  return (double)fmaf((float)a, (float)b, (float)c);
}

#endif
