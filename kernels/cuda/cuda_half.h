/* fp16 and bf16: __half, __half2, __nv_bfloat16, __nv_bfloat162, their conversions and arithmetic, on both sides. */
#pragma once

/* fp32 to fp16 and back: cvt on the device; the host, whose values no launch sees, gets something of the type. */
TW_CONVERT(tw_to_f16, unsigned short, float, "cvt.rn.f16.f32", "=h", "f")
TW_CONVERT(tw_from_f16, float, unsigned short, "cvt.f32.f16", "=f", "h")
TW_CONVERT(tw_to_bf16, unsigned short, float, "cvt.rn.bf16.f32", "=h", "f")
TW_BOTH float tw_from_bf16(unsigned short x) { return __uint_as_float((unsigned)x << 16); }
static __inline__ __attribute__((host)) unsigned short tw_to_f16(float x) { return (unsigned short)x; }
static __inline__ __attribute__((host)) unsigned short tw_to_bf16(float x) {
  return (unsigned short)(__float_as_uint(x) >> 16);
}
static __inline__ __attribute__((host)) float tw_from_f16(unsigned short x) { return x; }

#define TW_HALF(NAME, TO, FROM)                                                                                        \
  struct __attribute__((aligned(2))) NAME##_raw {                                                                      \
    unsigned short x;                                                                                                  \
  };                                                                                                                   \
  struct __attribute__((aligned(2))) NAME {                                                                            \
    unsigned short bits;                                                                                               \
    NAME() = default;                                                                                                  \
    TW_MEMBER NAME(float x) : bits(TO(x)) {}                                                                           \
    TW_MEMBER NAME(double x) : bits(TO((float)x)) {}                                                                   \
    TW_MEMBER NAME(int x) : bits(TO((float)x)) {}                                                                      \
    TW_MEMBER NAME(unsigned x) : bits(TO((float)x)) {}                                                                 \
    TW_MEMBER NAME(long x) : bits(TO((float)x)) {}                                                                     \
    TW_MEMBER NAME(unsigned long x) : bits(TO((float)x)) {}                                                            \
    TW_MEMBER NAME(NAME##_raw r) : bits(r.x) {}                                                                        \
    TW_MEMBER operator float() const { return FROM(bits); }                                                            \
    TW_MEMBER operator NAME##_raw() const { return NAME##_raw{bits}; }                                                 \
  };                                                                                                                   \
  TW_BOTH NAME tw_##NAME(unsigned short bits) { return __builtin_bit_cast(NAME, bits); }
TW_HALF(__half, tw_to_f16, tw_from_f16)
TW_HALF(__nv_bfloat16, tw_to_bf16, tw_from_bf16)
typedef __half half;
typedef __nv_bfloat16 nv_bfloat16;

/* A pair: two members that are copied as one word. */
#define TW_PAIR(NAME, ONE)                                                                                             \
  struct __attribute__((aligned(4))) NAME {                                                                            \
    ONE x, y;                                                                                                          \
    NAME() = default;                                                                                                  \
    TW_MEMBER NAME(ONE a, ONE b) : x(a), y(b) {}                                                                       \
    TW_MEMBER NAME(const NAME &o) { tw_copy(this, &o); }                                                               \
    TW_MEMBER NAME &operator=(const NAME &o) { return tw_copy(this, &o), *this; }                                      \
    typedef unsigned __attribute__((may_alias)) Word;                                                                  \
    TW_MEMBER static void tw_copy(void *to, const void *from) { *(Word *)to = *(const Word *)from; }                   \
  };                                                                                                                   \
  TW_BOTH unsigned tw_word(const NAME &p) { return *(const NAME::Word *)&p; }                                          \
  TW_BOTH NAME tw_##NAME(unsigned word) {                                                                              \
    NAME p;                                                                                                            \
    *(NAME::Word *)&p = word;                                                                                          \
    return p;                                                                                                          \
  }
TW_PAIR(__half2, __half)
TW_PAIR(__nv_bfloat162, __nv_bfloat16)
typedef __half2 half2;
typedef __nv_bfloat162 nv_bfloat162;
TW_BOTH __half2 make_half2(__half a, __half b) { return __half2(a, b); }
TW_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }

/* --- conversions --- */
#define TW_CONVERSIONS(N, ONE, TWO, CVT)                                                                               \
  TW_BOTH ONE __float2##N(float x) { return ONE(x); }                                                                  \
  TW_BOTH ONE __float2##N##_rn(float x) { return ONE(x); }                                                             \
  TW_BOTH float __##N##2float(ONE x) { return (float)x; }                                                              \
  TW_BOTH ONE __ushort_as_##N(unsigned short x) { return tw_##ONE(x); }                                                \
  TW_BOTH unsigned short __##N##_as_ushort(ONE x) { return x.bits; }                                                   \
  TW_BOTH TWO __halves2##N##2(ONE a, ONE b) { return TWO(a, b); }                                                      \
  TW_BOTH TWO __##N##2##N##2(ONE a) { return TWO(a, a); }                                                              \
  TW_BOTH TWO __float2##N##2_rn(float x) { return TWO(ONE(x), ONE(x)); }                                               \
  TW_BOTH TWO __lows2##N##2(TWO a, TWO b) { return TWO(a.x, b.x); }                                                    \
  TW_BOTH TWO __highs2##N##2(TWO a, TWO b) { return TWO(a.y, b.y); }                                                   \
  TW_BOTH TWO __low2##N##2(TWO a) { return TWO(a.x, a.x); }                                                            \
  TW_BOTH TWO __high2##N##2(TWO a) { return TWO(a.y, a.y); }                                                           \
  TW_BOTH ONE __low2##N(TWO a) { return a.x; }                                                                         \
  TW_BOTH ONE __high2##N(TWO a) { return a.y; }                                                                        \
  TW_BOTH float __low2float(TWO a) { return (float)a.x; }                                                              \
  TW_BOTH float __high2float(TWO a) { return (float)a.y; }                                                             \
  TW_BOTH float2 __##N##22float2(TWO a) { return float2((float)a.x, (float)a.y); }                                     \
  TW_DEVICE TWO __floats2##N##2_rn(float a, float b) {                                                                 \
    unsigned d;                                                                                                        \
    asm("cvt.rn." CVT ".f32 %0, %1, %2;" : "=r"(d) : "f"(b), "f"(a));                                                  \
    return tw_##TWO(d);                                                                                                \
  }                                                                                                                    \
  TW_DEVICE TWO __float22##N##2_rn(float2 a) { return __floats2##N##2_rn(a.x, a.y); }
TW_CONVERSIONS(half, __half, __half2, "f16x2")
TW_CONVERSIONS(bfloat16, __nv_bfloat16, __nv_bfloat162, "bf16x2")
TW_BOTH __half __double2half(double x) { return __half(x); }
TW_BOTH __half __int2half_rn(int x) { return __half(x); }
TW_BOTH int __half2int_rn(__half x) { return (int)(float)x; }
TW_BOTH __half __short_as_half(short x) { return tw___half((unsigned short)x); }
TW_BOTH short __half_as_short(__half x) { return (short)x.bits; }
TW_BOTH __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }

/* --- fp16 arithmetic: one instruction each; bf16 in fp32 and rounded, but fma --- */
#define TW_HALF_OP(NAME, T, OP, C, BITS, MAKE)                                                                         \
  TW_DEVICE T NAME(T a, T b) {                                                                                         \
    auto d = BITS(a);                                                                                                  \
    asm(OP " %0, %1, %2;" : "=" C(d) : C(BITS(a)), C(BITS(b)));                                                        \
    return MAKE(d);                                                                                                    \
  }
#define TW_HALF_FMA(NAME, T, OP, C, BITS, MAKE)                                                                        \
  TW_DEVICE T NAME(T a, T b, T c) {                                                                                    \
    auto d = BITS(a);                                                                                                  \
    asm("fma.rn." OP " %0, %1, %2, %3;" : "=" C(d) : C(BITS(a)), C(BITS(b)), C(BITS(c)));                              \
    return MAKE(d);                                                                                                    \
  }
#define TW_HALF_OP2(NAME, OP)                                                                                          \
  TW_HALF_OP(NAME, __half, OP ".f16", "h", __half_as_ushort, tw___half)                                                \
  TW_HALF_OP(NAME##2, __half2, OP ".f16x2", "r", tw_word, tw___half2)
TW_HALF_OP2(__hadd, "add")
TW_HALF_OP2(__hsub, "sub")
TW_HALF_OP2(__hmul, "mul")
TW_HALF_OP2(__hmax, "max")
TW_HALF_OP2(__hmin, "min")
TW_HALF_FMA(__hfma, __half, "f16", "h", __half_as_ushort, tw___half)
TW_HALF_FMA(__hfma2, __half2, "f16x2", "r", tw_word, tw___half2)
TW_HALF_FMA(__hfma2, __nv_bfloat162, "bf16x2", "r", tw_word, tw___nv_bfloat162)
#define __hadd_rn  __hadd
#define __hsub_rn  __hsub
#define __hmul_rn  __hmul
#define __hadd2_rn __hadd2
#define __hsub2_rn __hsub2
#define __hmul2_rn __hmul2
TW_BOTH __half __hneg(__half a) { return tw___half(a.bits ^ 0x8000); }
TW_BOTH __half __habs(__half a) { return tw___half(a.bits & 0x7fff); }
TW_BOTH __half2 __hneg2(__half2 a) { return tw___half2(tw_word(a) ^ 0x80008000u); }
#define TW_HALF_F32(NAME, F)                                                                                           \
  TW_DEVICE __half NAME(__half a) { return __half(F((float)a)); }                                                      \
  TW_DEVICE __nv_bfloat16 NAME(__nv_bfloat16 a) { return __nv_bfloat16(F((float)a)); }
TW_HALF_F32(hexp, expf)
TW_HALF_F32(hexp2, exp2f)
TW_HALF_F32(hlog, logf)
TW_HALF_F32(hsqrt, sqrtf)
TW_HALF_F32(hrsqrt, rsqrtf)
TW_HALF_F32(hrcp, __frcp_rn)
TW_HALF_F32(htanh, tanhf)
TW_HALF_F32(hsin, sinf)
TW_HALF_F32(hcos, cosf)
TW_HALF_F32(hfloor, floorf)
TW_HALF_F32(hceil, ceilf)
TW_HALF_F32(htrunc, truncf)
TW_HALF_F32(hrint, rintf)
TW_HALF_F32(hlog2, log2f)
TW_HALF_F32(hlog10, log10f)
TW_DEVICE __half2 h2exp(__half2 a) { return __half2(hexp(a.x), hexp(a.y)); }
#define TW_BF16_OP(NAME, OP)                                                                                           \
  TW_DEVICE __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a OP(float) b); }       \
  TW_DEVICE __nv_bfloat162 NAME##2(__nv_bfloat162 a, __nv_bfloat162 b) {                                               \
    return __nv_bfloat162(NAME(a.x, b.x), NAME(a.y, b.y));                                                             \
  }
TW_BF16_OP(__hadd, +)
TW_BF16_OP(__hsub, -)
TW_BF16_OP(__hmul, *)
TW_DEVICE __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __nv_bfloat16(fmaf((float)a, (float)b, (float)c));
}
TW_DEVICE __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a > (float)b ? a : b; }
TW_DEVICE __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b ? a : b; }
TW_DEVICE __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
TW_DEVICE __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
#define TW_HALF_COMPARE_OF(T, NAME, OP)                                                                                \
  TW_BOTH bool NAME(T a, T b) { return (float)a OP(float) b; }                                                         \
  TW_BOTH bool operator OP(T a, T b) { return (float)a OP(float) b; }
#define TW_HALF_COMPARE(NAME, OP) TW_HALF_COMPARE_OF(__half, NAME, OP) TW_HALF_COMPARE_OF(__nv_bfloat16, NAME, OP)
TW_HALF_COMPARE(__hlt, <)
TW_HALF_COMPARE(__hle, <=)
TW_HALF_COMPARE(__hgt, >)
TW_HALF_COMPARE(__hge, >=)
TW_HALF_COMPARE(__heq, ==)
TW_HALF_COMPARE(__hne, !=)
TW_BOTH bool __hisnan(__half a) { return (a.bits & 0x7fff) > 0x7c00; }

#define TW_HALF_OPERATORS(T, NAME)                                                                                     \
  TW_DEVICE T operator+(T a, T b) { return __hadd##NAME(a, b); }                                                       \
  TW_DEVICE T operator-(T a, T b) { return __hsub##NAME(a, b); }                                                       \
  TW_DEVICE T operator*(T a, T b) { return __hmul##NAME(a, b); }                                                       \
  TW_DEVICE T &operator+=(T &a, T b) { return a = __hadd##NAME(a, b); }                                                \
  TW_DEVICE T &operator-=(T &a, T b) { return a = __hsub##NAME(a, b); }                                                \
  TW_DEVICE T &operator*=(T &a, T b) { return a = __hmul##NAME(a, b); }
TW_HALF_OPERATORS(__half, )
TW_HALF_OPERATORS(__nv_bfloat16, )
TW_HALF_OPERATORS(__half2, 2)
TW_HALF_OPERATORS(__nv_bfloat162, 2)
#define TW_HALF_MORE(T)                                                                                                \
  TW_DEVICE T operator/(T a, T b) { return __hdiv(a, b); }                                                             \
  TW_DEVICE T &operator/=(T &a, T b) { return a = __hdiv(a, b); }                                                      \
  TW_DEVICE T operator-(T a) { return T(-(float)a); }
TW_HALF_MORE(__half)
TW_HALF_MORE(__nv_bfloat16)

#define TW_HALF_ATOMIC(T, OP, C, BITS, MAKE)                                                                           \
  TW_DEVICE T atomicAdd(T *p, T v) {                                                                                   \
    auto d = BITS(v);                                                                                                  \
    asm volatile("atom.add.noftz." OP " %0, [%1], %0;" : "+" C(d) : "l"(p) : "memory");                                \
    return MAKE(d);                                                                                                    \
  }
TW_HALF_ATOMIC(__half, "f16", "h", __half_as_ushort, tw___half)
TW_HALF_ATOMIC(__half2, "f16x2", "r", tw_word, tw___half2)
TW_HALF_ATOMIC(__nv_bfloat16, "bf16", "h", __bfloat16_as_ushort, tw___nv_bfloat16)
TW_HALF_ATOMIC(__nv_bfloat162, "bf16x2", "r", tw_word, tw___nv_bfloat162)

/* fp8: as numbers and bytes. */
#define TW_FP8(NAME, TYPE)                                                                                             \
  struct NAME {                                                                                                        \
    unsigned char __x;                                                                                                 \
    NAME() = default;                                                                                                  \
    TW_MEMBER explicit NAME(float x) {                                                                                 \
      unsigned short d;                                                                                                \
      asm("cvt.rn.satfinite." TYPE "x2.f32 %0, %1, %2;" : "=h"(d) : "f"(0.f), "f"(x));                                 \
      __x = (unsigned char)d;                                                                                          \
    }                                                                                                                  \
    TW_MEMBER operator float() const {                                                                                 \
      unsigned d;                                                                                                      \
      asm("cvt.rn.f16x2." TYPE "x2 %0, %1;" : "=r"(d) : "h"((unsigned short)__x));                                     \
      return tw_from_f16((unsigned short)d);                                                                           \
    }                                                                                                                  \
  };
TW_FP8(__nv_fp8_e4m3, "e4m3")
TW_FP8(__nv_fp8_e5m2, "e5m2")
