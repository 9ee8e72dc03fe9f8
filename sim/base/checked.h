/* Checked arithmetic for sizes.
 *
 * Totals are counted in 128 bits because fair questions need them: standard attention over 2^31 tokens and
 * 128 heads moves 2^72 bytes. Every product and sum goes through these functions; overflow sets a flag
 * that sticks, so a formula is written plainly and asked once at its end whether it held. */
#ifndef TILEWALK_SIM_BASE_CHECKED_H
#define TILEWALK_SIM_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* How many rows an array has. */
#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

/* Bytes, elements or FLOPs, totals. Machines of 32 bits have C23's _BitInt instead of __int128, of clang 16 or later,
 * with what its library lacks in wide.h: gcc 14.2 crashes on it, and divides wrongly. No C++ compiler has it there. */
#ifdef __SIZEOF_INT128__
typedef __uint128_t Wide;
#elif defined __cplusplus
typedef struct {
  uint32_t words[4];
} Wide;
#elif defined __clang__ && defined __BITINT_MAXWIDTH__ && __BITINT_MAXWIDTH__ >= 128
__extension__ typedef unsigned _BitInt(128) Wide;
#else
#error "Tilewalk counts in 128-bit integers, which this compiler lacks for this machine: clang 16 has them"
#endif

#if defined __SIZEOF_INT128__ || !defined __cplusplus
/* A size that is known not to be negative. */
static inline Wide wide(int64_t size) { return (Wide)(uint64_t)size; }

static inline Wide checked_add(Wide a, Wide b, bool *overflow) {
#ifdef __SIZEOF_INT128__ /* the builtins cost least: a tenth of all events */
  Wide sum;
  if (__builtin_add_overflow(a, b, &sum)) *overflow = true;
#else
  const Wide sum = a + b;
  if (sum < a) *overflow = true;
#endif
  return sum;
}

static inline Wide checked_mul(Wide a, Wide b, bool *overflow) {
#ifdef __SIZEOF_INT128__
  Wide product;
  if (__builtin_mul_overflow(a, b, &product)) *overflow = true;
#else
  const Wide product = a * b;
  if (a && product / a != b) *overflow = true;
#endif
  return product;
}

/* The upper half of a product: a * b / 2^64. */
static inline uint64_t mul_high_long(uint64_t a, uint64_t b) { return (uint64_t)((Wide)a * b >> 64); }
#endif

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* Of whole numbers, for qsort. */
static inline int ascending_int64(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

#endif
