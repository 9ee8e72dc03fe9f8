/* Arithmetic of one lane that C has no operator for. Without branches, so that loops over 32 lanes become vector code.
 *
 * Half, bfloat16 and fp8 are kept as bits: clang 14 has no _Float16 on x86. Rounding is to nearest even where nothing
 * else is said. Departs from the hardware: results of .approx are as exact as libm's (the hardware's differ by an ulp
 * or two), .ftz keeps denormals. */
#ifndef TILEWALK_KERNELS_PTX_PTX_NUMBERS_H
#define TILEWALK_KERNELS_PTX_PTX_NUMBERS_H

#include <math.h>
#include <string.h>

#include "sim/base/checked.h"

static inline float bits_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static inline uint32_t float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static inline float half_float(uint32_t h) {
  const uint32_t magnitude = h & 0x7fff;
  const uint32_t scaled = float_bits(bits_float(magnitude << 13) * 0x1p112f); /* denormals as well */
  return bits_float((magnitude >= 0x7c00 ? (magnitude << 13) | 0x7f800000u : scaled) | (h & 0x8000) << 16);
}

static inline uint32_t float_half(float f) {
  const uint32_t bits = float_bits(f), u = bits & 0x7fffffffu;
  const uint32_t normal = (u - (112u << 23) + 0xfff + (u >> 13 & 1)) >> 13;
  const uint32_t small = float_bits(bits_float(u) + 0.5f) - 0x3f000000u; /* the addition rounds */
  uint32_t h = u < 0x38800000u ? small : normal;
  h = u >= 0x477ff000u ? 0x7c00 : h;
  h = u > 0x7f800000u ? 0x7fff : h;
  return h | (bits >> 16 & 0x8000);
}

static inline float bf16_float(uint32_t b) { return bits_float(b << 16); }

static inline uint32_t float_bf16(float f) {
  const uint32_t bits = float_bits(f);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fff : rounded;
}

static inline uint32_t float_tf32(float f) { /* to nearest, ties away: cvt.rna */
  const uint32_t bits = float_bits(f);
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000) & 0xffffe000u;
}

/* OCP fp8: e4m3 (no infinity, S.1111.111 is NaN, largest 448), e5m2 (as half, largest 57344). */
static inline float e4m3_float(uint32_t x) {
  const uint32_t m = x & 0x7f;
  const float f = m == 0x7f ? NAN : bits_float(m << 20) * 0x1p120f;
  return x & 0x80 ? -f : f;
}
static inline float e5m2_float(uint32_t x) { return half_float(x << 8); }

/* 2^x: Cephes exp2f's polynomial on [-1/2, 1/2], without branches. */
static inline float ex2(float x) {
  const float magic = 12582912.0f; /* 1.5 x 2^23: adding it rounds to an integer */
  float y = x > 200.0f ? 200.0f : x;
  y = y < -200.0f ? -200.0f : y;
  const float t = y + magic;
  const int32_t n = (int32_t)(float_bits(t) - float_bits(magic));
  const float f = y - (t - magic);
  float p = 1.535336188319500e-4f;
  p = p * f + 1.339887440266574e-3f;
  p = p * f + 9.618437357674640e-3f;
  p = p * f + 5.550332471162809e-2f;
  p = p * f + 2.402264791363012e-1f;
  p = p * f + 6.931472028550421e-1f;
  p = p * f + 1.0f;
  const int32_t half = n >> 1; /* in two steps: 2^n itself may be no float */
  return p * bits_float((uint32_t)(half + 127) << 23) * bits_float((uint32_t)(n - half + 127) << 23);
}

/* s + e, of which s has the larger part, toward -infinity (-1), +infinity (1), zero (0). */
static inline float double_directed(double s, double e, int way) {
  const float t = (float)s;
  const double excess = (double)t - s; /* t's, over s */
  const int negative = s < 0 || (s == 0 && e < 0);
  const int down = way < 0 || (way == 0 && !negative);
  const int above = excess > 0 || (excess == 0 && e < 0), below = excess < 0 || (excess == 0 && e > 0);
  const uint32_t bits = float_bits(t);
  const uint32_t lower = (bits & 0x7fffffffu) == 0 ? 0x80000001u : bits >> 31 ? bits + 1 : bits - 1;
  const uint32_t upper = (bits & 0x7fffffffu) == 0 ? 1u : bits >> 31 ? bits - 1 : bits + 1;
  const uint32_t finite = down ? (above ? lower : bits) : (below ? upper : bits);
  const uint32_t overflowed = down && !(bits >> 31) ? 0x7f7fffffu : !down && bits >> 31 ? 0xff7fffffu : bits;
  const int is_infinite = (bits & 0x7fffffffu) == 0x7f800000u;
  return bits_float(is_infinite ? (s - s == 0 ? overflowed : bits) : t != t ? bits : finite);
}
/* a x b + c: the sum is exact as s + e. */
static inline float fma_directed(float a, float b, float c, int way) {
  const double p = (double)a * b, s = p + c, v = s - p;
  return double_directed(s, (p - (s - v)) + (c - v), way);
}

static inline uint32_t mul_high(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline uint32_t mul_high_signed(int32_t a, int32_t b) { return (uint32_t)((uint64_t)((int64_t)a * b) >> 32); }
/* Each factor below zero counts 2^64 too many of the other (Warren, Hacker's Delight, 8-3). */
static inline uint64_t mul_high_long_signed(int64_t a, int64_t b) {
  const uint64_t x = (uint64_t)a, y = (uint64_t)b;
  return mul_high_long(x, y) - (a < 0 ? y : 0) - (b < 0 ? x : 0);
}

/* Division as the hardware's: by 0 gives all ones. */
static inline uint32_t div_u32(uint32_t a, uint32_t b) { return b ? a / b : ~0u; }
static inline uint32_t rem_u32(uint32_t a, uint32_t b) { return b ? a % b : a; }
static inline uint32_t div_s32(int32_t a, int32_t b) {
  return b == 0 ? ~0u : b == -1 ? 0u - (uint32_t)a : (uint32_t)(a / b);
}
static inline uint32_t rem_s32(int32_t a, int32_t b) { return b == 0 ? (uint32_t)a : b == -1 ? 0 : (uint32_t)(a % b); }
static inline uint64_t div_u64(uint64_t a, uint64_t b) { return b ? a / b : ~(uint64_t)0; }
static inline uint64_t rem_u64(uint64_t a, uint64_t b) { return b ? a % b : a; }
static inline uint64_t div_s64(int64_t a, int64_t b) {
  return b == 0 ? ~(uint64_t)0 : b == -1 ? 0u - (uint64_t)a : (uint64_t)(a / b);
}
static inline uint64_t rem_s64(int64_t a, int64_t b) { return b == 0 ? (uint64_t)a : b == -1 ? 0 : (uint64_t)(a % b); }

static inline uint32_t shl32(uint32_t a, uint32_t n) { return n > 31 ? 0 : a << (n & 31); }
static inline uint32_t shr32(uint32_t a, uint32_t n) { return n > 31 ? 0 : a >> (n & 31); }
static inline uint32_t sar32(int32_t a, uint32_t n) { return (uint32_t)(a >> (n > 31 ? 31 : n)); }
static inline uint64_t shl64(uint64_t a, uint32_t n) { return n > 63 ? 0 : a << (n & 63); }
static inline uint64_t shr64(uint64_t a, uint32_t n) { return n > 63 ? 0 : a >> (n & 63); }
static inline uint64_t sar64(int64_t a, uint32_t n) { return (uint64_t)(a >> (n > 63 ? 63 : n)); }

static inline uint32_t popc32(uint32_t x) { return (uint32_t)__builtin_popcount(x); }
static inline uint32_t clz32(uint32_t x) { return x ? (uint32_t)__builtin_clz(x) : 32; }
static inline uint32_t clz64(uint64_t x) { return x ? (uint32_t)__builtin_clzll(x) : 64; }
static inline uint32_t brev32(uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
static inline uint64_t brev64(uint64_t x) { return (uint64_t)brev32((uint32_t)x) << 32 | brev32((uint32_t)(x >> 32)); }

static inline uint32_t bfe_u32(uint32_t a, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  return shr32(a, at) & (n > 31 ? ~0u : (1u << n) - 1);
}
static inline uint32_t bfe_s32(uint32_t a, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  if (n == 0) return 0;
  const uint32_t top = at + n - 1 > 31 ? 31 : at + n - 1; /* the bit that is the sign */
  return at > 31 ? sar32((int32_t)a, 31) : sar32((int32_t)(a << (31 - top)), 31 - top + at);
}
static inline uint64_t bfe_u64(uint64_t a, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  return shr64(a, at) & (n > 63 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1);
}
static inline uint64_t bfe_s64(uint64_t a, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  if (n == 0) return 0;
  const uint32_t top = at + n - 1 > 63 ? 63 : at + n - 1;
  return at > 63 ? sar64((int64_t)a, 63) : sar64((int64_t)(a << (63 - top)), 63 - top + at);
}
static inline uint32_t bfi32(uint32_t a, uint32_t b, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  const uint32_t mask = shl32(n > 31 ? ~0u : (1u << n) - 1, at);
  return (b & ~mask) | (shl32(a, at) & mask);
}
static inline uint64_t bfi64(uint64_t a, uint64_t b, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  const uint64_t mask = shl64(n > 63 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1, at);
  return (b & ~mask) | (shl64(a, at) & mask);
}

static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  r |= ~a & ~b & ~c & (0u - (table & 1));
  r |= ~a & ~b & c & (0u - (table >> 1 & 1));
  r |= ~a & b & ~c & (0u - (table >> 2 & 1));
  r |= ~a & b & c & (0u - (table >> 3 & 1));
  r |= a & ~b & ~c & (0u - (table >> 4 & 1));
  r |= a & ~b & c & (0u - (table >> 5 & 1));
  r |= a & b & ~c & (0u - (table >> 6 & 1));
  r |= a & b & c & (0u - (table >> 7 & 1));
  return r;
}

static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (uint32_t k = 0; k < 4; k++) {
    const uint32_t s = selector >> 4 * k & 15;
    uint32_t byte = (uint32_t)(both >> 8 * (s & 7)) & 255;
    if (s & 8) byte = byte & 128 ? 255 : 0;
    r |= byte << 8 * k;
  }
  return r;
}

static inline uint32_t shf_left(uint32_t low, uint32_t high, uint32_t n) {
  return n == 0 ? high : n > 31 ? low : high << n | low >> (32 - n);
}
static inline uint32_t shf_right(uint32_t low, uint32_t high, uint32_t n) {
  return n == 0 ? low : n > 31 ? high : low >> n | high << (32 - n);
}

static inline uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, int a_signed, int b_signed) {
  for (int k = 0; k < 4; k++) {
    const int32_t x = a_signed ? (int8_t)(a >> 8 * k) : (int32_t)(a >> 8 * k & 255);
    const int32_t y = b_signed ? (int8_t)(b >> 8 * k) : (int32_t)(b >> 8 * k & 255);
    c += (uint32_t)(x * y);
  }
  return c;
}

static inline int32_t float_s32(float f) {
  return f >= 2147483648.0f ? INT32_MAX : f > -2147483904.0f ? (int32_t)f : f != f ? 0 : INT32_MIN;
}
static inline uint32_t float_u32(float f) { return f >= 4294967296.0f ? UINT32_MAX : f > 0 ? (uint32_t)f : 0; }
static inline float saturate(float f) { return f > 0 ? (f < 1 ? f : 1.0f) : 0.0f; } /* NaN gives 0 */

static inline float max_f32(float a, float b) { return a > b ? a : b == b ? b : a; } /* the one that is a number */
static inline float min_f32(float a, float b) { return a < b ? a : b == b ? b : a; }
static inline float max_nan_f32(float a, float b) { return a != a ? a : b != b ? b : a > b ? a : b; }
static inline float min_nan_f32(float a, float b) { return a != a ? a : b != b ? b : a < b ? a : b; }
static inline double max_f64(double a, double b) { return a > b ? a : b == b ? b : a; }
static inline double min_f64(double a, double b) { return a < b ? a : b == b ? b : a; }

#endif
