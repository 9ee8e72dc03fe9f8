/* Checked arithmetic for sizes.
 *
 * Totals are counted in 128 bits because fair questions need them: standard attention over 2^31 tokens and
 * 128 heads moves 2^72 bytes. Every product and sum goes through these functions; overflow sets a flag
 * that sticks, so a formula is written plainly and asked once at its end whether it held. */
#ifndef TILEWALK_SIM_BASE_CHECKED_H
#define TILEWALK_SIM_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

#ifndef __SIZEOF_INT128__
#error "Tilewalk counts in 128-bit integers, which this compiler has not for this machine: build it for a 64-bit one"
#endif
typedef __uint128_t Wide; /* bytes, elements or FLOPs, totals */

/* A size that is known not to be negative. */
static inline Wide wide(int64_t size) { return (Wide)(uint64_t)size; }

static inline Wide checked_add(Wide a, Wide b, bool *overflow) {
  Wide sum;
  if (__builtin_add_overflow(a, b, &sum)) *overflow = true;
  return sum;
}

static inline Wide checked_mul(Wide a, Wide b, bool *overflow) {
  Wide product;
  if (__builtin_mul_overflow(a, b, &product)) *overflow = true;
  return product;
}

static inline int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

#endif
