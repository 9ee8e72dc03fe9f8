#include "sim/base/wide.h"

#include <math.h>

#include "sim/base/checked.h"

WideHalves wide_of_double(double value) {
  int exponent;
  if (!(value >= 1)) return (WideHalves){0, 0};
  if (value >= 0x1p128) return (WideHalves){UINT64_MAX, UINT64_MAX};
  const uint64_t digits = (uint64_t)ldexp(frexp(value, &exponent), 64); /* value = digits * 2^(exponent - 64) */
  if (exponent <= 64) return (WideHalves){digits >> (64 - exponent), 0};
  const int left = exponent - 64;
  return left == 64 ? (WideHalves){0, digits} : (WideHalves){digits << left, digits >> (64 - left)};
}

double wide_to_double(WideHalves value) {
  int left = 0;
  if (!value.high) return (double)value.low;
  while (!(value.high >> (63 - left))) left++;
  uint64_t digits = value.high << left | (left ? value.low >> (64 - left) : 0);
  if (value.low << left) digits |= 1; /* far below the last bit that is kept: it only breaks a tie */
  return ldexp((double)digits, 64 - left);
}

#ifndef __SIZEOF_INT128__
/* The names by which clang calls them (compiler-rt and libgcc). */
Wide __fixunsdfti(double value);
Wide __fixunsdfti(double value) {
  const WideHalves halves = wide_of_double(value);
  return (Wide)halves.high << 64 | halves.low;
}

/* clang gives the integer itself on the stack, as C a struct, not its address. */
double __floatuntidf(WideHalves value);
double __floatuntidf(WideHalves value) { return wide_to_double(value); }
#endif
