/* Arithmetic of device code: fast math, integer intrinsics, the math library. Those that kernels of attention
 * use (expf, division) are nvcc's sequences; the others are short, and right to a few units in the last place. */
#pragma once

#define TW_ASM1(NAME, T, OP, C) TW_CONVERT(NAME, T, T, OP, "=" C, C)
#define TW_ASM2(NAME, T, OP, C)                                                                                        \
  TW_DEVICE T NAME(T a, T b) {                                                                                         \
    T d;                                                                                                               \
    asm(OP " %0, %1, %2;" : "=" C(d) : C(a), C(b));                                                                    \
    return d;                                                                                                          \
  }
#define TW_ASM3(NAME, T, OP, C)                                                                                        \
  TW_DEVICE T NAME(T a, T b, T c) {                                                                                    \
    T d;                                                                                                               \
    asm(OP " %0, %1, %2, %3;" : "=" C(d) : C(a), C(b), C(c));                                                          \
    return d;                                                                                                          \
  }
#define TW_F32(N, NAME, OP) TW_ASM##N(NAME, float, OP ".f32", "f")
#define TW_F64(N, NAME, OP) TW_ASM##N(NAME, double, OP ".f64", "d")
#define TW_CONVERT(NAME, TO_T, FROM_T, OP, TO, FROM)                                                                   \
  TW_DEVICE TO_T NAME(FROM_T a) {                                                                                      \
    TO_T d;                                                                                                            \
    asm(OP " %0, %1;" : TO(d) : FROM(a));                                                                              \
    return d;                                                                                                          \
  }

/* --- bits and conversions --- */
TW_BOTH int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
TW_BOTH unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
TW_BOTH float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
TW_BOTH float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
TW_BOTH long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
TW_BOTH double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
TW_BOTH double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)hi << 32 | (unsigned)lo); }
TW_BOTH int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
TW_BOTH int __double2loint(double x) { return (int)__double_as_longlong(x); }
#define TW_TO_INTEGER(N, T, P, C, R, WAY)                                                                              \
  TW_CONVERT(__float2##N##_##R, T, float, "cvt." WAY "." P ".f32", "=" C, "f")                                         \
  TW_CONVERT(__double2##N##_##R, T, double, "cvt." WAY "." P ".f64", "=" C, "d")
#define TW_INTEGER(N, T, P, C)                                                                                         \
  TW_CONVERT(__##N##2float_rn, float, T, "cvt.rn.f32." P, "=f", C)                                                     \
  TW_CONVERT(__##N##2double_rn, double, T, "cvt.rn.f64." P, "=d", C)                                                   \
  TW_TO_INTEGER(N, T, P, C, rn, "rni")                                                                                 \
  TW_TO_INTEGER(N, T, P, C, rz, "rzi")                                                                                 \
  TW_TO_INTEGER(N, T, P, C, rd, "rmi")                                                                                 \
  TW_TO_INTEGER(N, T, P, C, ru, "rpi")
TW_INTEGER(int, int, "s32", "r")
TW_INTEGER(uint, unsigned, "u32", "r")
TW_INTEGER(ll, long long, "s64", "l")
TW_INTEGER(ull, unsigned long long, "u64", "l")
TW_CONVERT(__double2float_rn, float, double, "cvt.rn.f32.f64", "=f", "d")

/* --- integers --- */
TW_BOTH int __popc(unsigned x) { return __builtin_popcount(x); }
TW_BOTH int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
TW_BOTH int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
TW_BOTH int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
TW_BOTH int __ffs(int x) { return __builtin_ffs(x); }
TW_BOTH int __ffsll(long long x) { return __builtin_ffsll(x); }
TW_BOTH unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
TW_BOTH unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
TW_BOTH int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
TW_BOTH unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
TW_BOTH long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
TW_BOTH unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
TW_BOTH int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
TW_BOTH int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
TW_BOTH unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
TW_BOTH unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
TW_BOTH int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
TW_BOTH unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
TW_BOTH unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
TW_BOTH unsigned __sad(int a, int b, unsigned c) { return c + (a > b ? (unsigned)a - b : (unsigned)b - a); }
TW_BOTH unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
TW_BOTH unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
TW_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  unsigned d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(s));
  return d;
}
TW_BOTH int __dp4a(int a, int b, int c) {
  for (int k = 0; k < 32; k += 8) c += (int)(signed char)(a >> k) * (signed char)(b >> k);
  return c;
}

/* max and min of mixed numbers have the type that C's arithmetic gives them, as nvcc's have. */
template <bool> struct tw_if {};
template <> struct tw_if<true> { typedef int is; };
#define TW_MAX_MIN(NAME, OP)                                                                                           \
  template <typename A, typename B, typename C = decltype(A() + B()), typename tw_if<__is_arithmetic(C)>::is = 0>      \
  TW_BOTH C NAME(A a, B b) {                                                                                           \
    return (C)a OP(C) b ? (C)a : (C)b;                                                                                 \
  }
TW_MAX_MIN(max, >)
TW_MAX_MIN(min, <)
/* Two or four numbers in a word: x and y are those of a and b, of `low` to `low + span`. */
#define TW_LANES(NAME, N, BITS, T, OF)                                                                                 \
  TW_BOTH unsigned __v##NAME##N(unsigned a, unsigned b = 0) {                                                          \
    const int low = (T)-1 > 0 ? 0 : -(1 << (BITS - 1)), span = (1 << BITS) - 1;                                        \
    unsigned d = 0;                                                                                                    \
    for (int k = 0; k < 32; k += BITS) {                                                                               \
      const int up = 32 - BITS - k, x = (int)((T)(a << up) >> (32 - BITS)), y = (int)((T)(b << up) >> (32 - BITS));    \
      d |= ((unsigned)(OF)&span) << k;                                                                                 \
    }                                                                                                                  \
    return d;                                                                                                          \
  }
#define TW_WORD(NAME, T, OF)  TW_LANES(NAME, 2, 16, T, OF) TW_LANES(NAME, 4, 8, T, OF)
#define TW_WORDS(NAME, OF)    TW_WORD(NAME##s, int, OF) TW_WORD(NAME##u, unsigned, OF)
#define TW_SAT(VALUE)         max(low, min(low + span, VALUE))
#define TW_COMPARED(NAME, OP) TW_WORDS(cmp##NAME, -(x OP y)) TW_WORDS(set##NAME, x OP y)
TW_WORD(add, unsigned, x + y)
TW_WORD(addss, int, TW_SAT(x + y))
TW_WORD(addus, unsigned, TW_SAT(x + y))
TW_WORD(sub, unsigned, x - y)
TW_WORD(subss, int, TW_SAT(x - y))
TW_WORD(subus, unsigned, TW_SAT(x - y))
TW_WORD(neg, int, -x)
TW_WORD(negss, int, TW_SAT(-x))
TW_WORD(abs, int, x < 0 ? -x : x)
TW_WORD(absss, int, TW_SAT(x < 0 ? -x : x))
TW_WORD(haddu, unsigned, (x + y) >> 1)
TW_WORDS(avg, (x + y + (x + y >= 0)) >> 1)
TW_WORDS(absdiff, x > y ? x - y : y - x)
TW_WORDS(max, x > y ? x : y)
TW_WORDS(min, x < y ? x : y)
TW_WORD(cmpeq, int, -(x == y))
TW_WORD(cmpne, int, -(x != y))
TW_WORD(seteq, int, x == y)
TW_WORD(setne, int, x != y)
TW_COMPARED(ge, >=)
TW_COMPARED(gt, >)
TW_COMPARED(le, <=)
TW_COMPARED(lt, <)

/* --- single precision as the hardware has it --- */
#define TW_ROUNDED(R, P)                                                                                               \
  TW_F32(2, __fadd_##R, "add." #P)                                                                                     \
  TW_F32(2, __fsub_##R, "sub." #P)                                                                                     \
  TW_F32(2, __fmul_##R, "mul." #P)                                                                                     \
  TW_F32(3, __fmaf_##R, "fma." #P)
TW_ROUNDED(rn, rn)
TW_ROUNDED(rz, rz)
TW_ROUNDED(rd, rm)
TW_ROUNDED(ru, rp)
TW_F64(2, __dadd_rn, "add.rn")
TW_F64(2, __dsub_rn, "sub.rn")
TW_F64(2, __dmul_rn, "mul.rn")
TW_F64(2, __ddiv_rn, "div.rn")
TW_F64(1, __dsqrt_rn, "sqrt.rn")
TW_F64(3, __fma_rn, "fma.rn")
TW_F32(2, __fdiv_rn, "div.rn")
TW_F32(1, __frcp_rn, "rcp.rn")
TW_F32(1, __fsqrt_rn, "sqrt.rn")
TW_DEVICE float __saturatef(float a) { return __nvvm_saturate_f(a); }
TW_F32(2, __fdividef, "div.approx")
TW_F32(1, tw_exp2, "ex2.approx")
TW_F32(1, tw_exp2_ftz, "ex2.approx.ftz")
TW_F32(1, tw_log2, "lg2.approx")
TW_F32(1, tw_rsqrt, "rsqrt.approx")
TW_F32(1, __frsqrt_rn, "rsqrt.approx")
TW_F32(1, __sinf, "sin.approx")
TW_F32(1, __cosf, "cos.approx")
TW_F32(1, __tanhf, "tanh.approx")
TW_DEVICE float __expf(float x) { return tw_exp2(x * 1.4426950408889634f); }
TW_DEVICE float __exp10f(float x) { return tw_exp2(x * 3.3219280948873623f); }
TW_DEVICE float __logf(float x) { return tw_log2(x) * 0.6931471805599453f; }
TW_DEVICE float __log2f(float x) { return tw_log2(x); }
TW_DEVICE float __log10f(float x) { return tw_log2(x) * 0.3010299956639812f; }
TW_DEVICE float __powf(float x, float y) { return tw_exp2(y * tw_log2(x)); }
TW_DEVICE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
TW_DEVICE void __sincosf(float x, float *s, float *c) { *s = __sinf(x), *c = __cosf(x); }
TW_DEVICE float fdividef(float a, float b) { return __fdividef(a, b); }

/* --- the math library, single precision. They have C names: what std:: calls ends here too. --- */
#define TW_C extern "C" __inline__ __attribute__((device, always_inline, nodebug))
/* nvcc's expf: 2^n from the bits of a rounded sum, 2^f by ex2. */
TW_C float expf(float x) {
  const float t = __nvvm_saturate_f(__nvvm_fma_rn_f(x, 0x1.77313Ap-8f, 0.5f));
  const float j = __nvvm_fma_rm_f(t, 252.0f, 0x1.800002p+23f), n = j - 0x1.8000FEp+23f;
  const float f = __nvvm_fma_rn_f(x, 0x1.4AE0C0p-26f, __nvvm_fma_rn_f(x, 0x1.715476p+0f, -n));
  return tw_exp2_ftz(f) * __int_as_float(__float_as_int(j) << 23);
}
TW_C float exp2f(float x) { return tw_exp2(x); }
TW_C float logf(float x) { return __logf(x); }
TW_C float log2f(float x) { return tw_log2(x); }
TW_C float log10f(float x) { return __log10f(x); }
TW_C float fabsf(float x) { return __builtin_fabsf(x); }
TW_C float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
TW_C float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
TW_C float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
TW_C float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
TW_C float rsqrtf(float x) { return tw_rsqrt(x); }
TW_C float floorf(float x) { return __nvvm_floor_f(x); }
TW_C float ceilf(float x) { return __nvvm_ceil_f(x); }
TW_C float truncf(float x) { return __nvvm_trunc_f(x); }
TW_C float copysignf(float x, float s) {
  return __int_as_float((__float_as_int(x) & 0x7fffffff) | (__float_as_int(s) & (int)0x80000000));
}
TW_C float roundf(float x) { return truncf(x + copysignf(0.49999997f, x)); }
TW_C float sinf(float x) { return __sinf(x); }
TW_C float cosf(float x) { return __cosf(x); }
TW_C void sincosf(float x, float *s, float *c) { *s = __sinf(x), *c = __cosf(x); }

/* nvcc includes <math.h> by itself; these are what kernels take from it. */
#define M_E        2.7182818284590452354
#define M_LOG2E    1.4426950408889634074
#define M_LOG10E   0.43429448190325182765
#define M_LN2      0.69314718055994530942
#define M_LN10     2.30258509299404568402
#define M_PI       3.14159265358979323846
#define M_PI_2     1.57079632679489661923
#define M_PI_4     0.78539816339744830962
#define M_1_PI     0.31830988618379067154
#define M_2_PI     0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2    1.41421356237309504880
#define M_SQRT1_2  0.70710678118654752440

/* --- double precision --- */
TW_C double fabs(double x) { return __builtin_fabs(x); }
TW_C double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
TW_C double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
TW_C double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
TW_C double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
TW_C double floor(double x) { return __nvvm_floor_d(x); }
TW_C double ceil(double x) { return __nvvm_ceil_d(x); }
TW_C double trunc(double x) { return __nvvm_trunc_d(x); }
TW_C double round(double x) { return trunc(x + __builtin_copysign(0.49999999999999994, x)); }
TW_C double rsqrt(double x) { return 1 / sqrt(x); }
TW_F64(1, tw_rint, "cvt.rni.f64")

/* --- a row a function: its name and what it is of x; single precision and the overload follow --- */
TW_C double copysign(double x, double s) { return __builtin_copysign(x, s); }
TW_DEVICE double tw_norm(double a, double b, double c = 0, double d = 0) {
  const double m = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
  if (!(m > 0) || m - m != 0) return m + (m > 0 ? 0 : a + b + c + d);
  a /= m, b /= m, c /= m, d /= m;
  return m * sqrt(a * a + b * b + c * c + d * d);
}
/* e^(x^2) erfc(x) by its continued fraction, from 2 on. */
TW_DEVICE double tw_erfcx(double x) {
  double f = 0;
  for (int k = 60; k > 0; k--) f = k / 2.0 / (x + f);
  return 0.5641895835477563 / (x + f);
}
/* The power series of I. */
TW_DEVICE double tw_bessel(int n, double x) {
  double s = n ? x / 2 : 1, term = s;
  for (int k = 1; k < 2000 && (k < 2 || s + term != s); k++) s += term *= x * x / 4 / (k * (k + (double)n));
  return s;
}

#define TW_OVERLOAD(NAME)                                                                                              \
  TW_DEVICE float NAME(float x) { return NAME##f(x); }
#define TW_SINGLE(NAME)                                                                                                \
  TW_C float NAME##f(float x) { return (float)NAME((double)x); }                                                       \
  TW_OVERLOAD(NAME)
#define TW_MATH(NAME, OF_X)                                                                                            \
  TW_C double NAME(double x) { return OF_X; }                                                                          \
  TW_SINGLE(NAME)
#define TW_SINGLE2(NAME)                                                                                               \
  TW_C float NAME##f(float x, float y) { return (float)NAME((double)x, (double)y); }                                   \
  TW_DEVICE float NAME(float x, float y) { return NAME##f(x, y); }
#define TW_MATH2(NAME, OF_X_Y)                                                                                         \
  TW_C double NAME(double x, double y) { return OF_X_Y; }                                                              \
  TW_SINGLE2(NAME)
#define TW_WHOLE(NAME, T, OF_X)                                                                                        \
  TW_C T NAME(double x) { return (T)(OF_X); }                                                                          \
  TW_C T NAME##f(float x) { return NAME((double)x); }
#define TW_NEXT(NAME, T, BITS, VALUE)                                                                                  \
  TW_C T NAME(T x, T y) {                                                                                              \
    if (!(x < y || x > y)) return x == y ? y : x + y;                                                                  \
    if (x == 0) return y > 0 ? VALUE(1) : -VALUE(1);                                                                   \
    return VALUE(BITS(x) + ((x < y) == (x > 0) ? 1 : -1));                                                             \
  }
/* The C library's: the machine calls it (ptx_library.c). */
#define TW_DOUBLE(NAME)                                                                                                \
  extern "C" __attribute__((device, const)) double tw_library_##NAME(double x);                                        \
  TW_C double NAME(double x) { return tw_library_##NAME(x); }
#define TW_DOUBLE2(NAME, A, B)                                                                                         \
  extern "C" __attribute__((device, const)) double tw_library_##NAME(double x, double y);                              \
  TW_C double NAME(A x, B y) { return tw_library_##NAME(x, y); }
#define TW_LIBRARY(NAME)  TW_DOUBLE(NAME) TW_SINGLE(NAME)
#define TW_LIBRARY2(NAME) TW_DOUBLE2(NAME, double, double) TW_SINGLE2(NAME)
TW_DOUBLE(exp)
TW_DOUBLE(exp2)
TW_DOUBLE(log)
TW_DOUBLE(log2)
TW_DOUBLE(log10)
TW_DOUBLE(sin)
TW_DOUBLE(cos)
TW_LIBRARY(tan)
TW_LIBRARY(asin)
TW_LIBRARY(acos)
TW_LIBRARY(atan)
TW_LIBRARY(sinh)
TW_LIBRARY(cosh)
TW_LIBRARY(tanh)
TW_LIBRARY(asinh)
TW_LIBRARY(acosh)
TW_LIBRARY(atanh)
TW_LIBRARY(expm1)
TW_LIBRARY(log1p)
TW_LIBRARY(logb)
TW_LIBRARY(cbrt)
TW_LIBRARY(erf)
TW_LIBRARY(erfc)
TW_LIBRARY(lgamma)
TW_LIBRARY(tgamma)
TW_LIBRARY(j0)
TW_LIBRARY(j1)
TW_LIBRARY(y0)
TW_LIBRARY(y1)
TW_LIBRARY2(pow)
TW_LIBRARY2(atan2)
TW_LIBRARY2(fmod)
TW_LIBRARY2(remainder)
TW_DOUBLE2(jn, int, double)
TW_DOUBLE2(yn, int, double)
TW_DOUBLE2(ldexp, double, int)
TW_C void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
TW_C float jnf(int n, float x) { return (float)jn(n, x); }
TW_C float ynf(int n, float x) { return (float)yn(n, x); }
TW_MATH(rint, tw_rint(x))
TW_MATH(nearbyint, rint(x))
TW_MATH(sinpi, (1 - 4 * fabs(rint(x) / 2 - rint(rint(x) / 2))) * sin(M_PI * (x - rint(x))))
TW_MATH(cospi, sinpi(0.5 - fabs(x - 2 * rint(x / 2))))
TW_MATH(exp10, exp(x *M_LN10))
TW_MATH(rcbrt, 1 / cbrt(x))
TW_MATH(erfcx, x < 2 ? exp(x * x) * erfc(x) : tw_erfcx(x))
/* Newton's steps from Abramowitz and Stegun 26.2.23. */
TW_DEVICE double tw_erfcinv(double x) {
  const double a = x < 1 ? x : 2 - x, t = sqrt(-2 * log(a / 2));
  double y = t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481));
  y *= M_SQRT1_2;
  for (int k = 0; k < 3; k++) {
    const double off = erfc(y) - a;
    y += off / (M_2_SQRTPI * exp(-y * y) - y * off);
  }
  return copysign(a == 0 ? t : y, 1 - x);
}
TW_MATH(erfcinv, tw_erfcinv(x))
TW_MATH(erfinv, fabs(x) < 0.5
                    ? erfcinv(1 - x) - (erf(erfcinv(1 - x)) - x) / M_2_SQRTPI * exp(erfcinv(1 - x) * erfcinv(1 - x))
                    : erfcinv(1 - x))
TW_MATH(normcdf, erfc(-x *M_SQRT1_2) / 2)
TW_MATH(normcdfinv, -M_SQRT2 *erfcinv(2 * x))
TW_MATH(cyl_bessel_i0, tw_bessel(0, x))
TW_MATH(cyl_bessel_i1, tw_bessel(1, x))
TW_MATH2(fdim, x <= y ? 0 : x - y)
TW_MATH2(hypot, tw_norm(x, y))
TW_MATH2(rhypot, 1 / tw_norm(x, y))
TW_WHOLE(ilogb, int, x == x ? __double2int_rz(logb(x)) : (int)0x80000000)
TW_WHOLE(lrint, long, rint(x))
TW_WHOLE(llrint, long long, rint(x))
TW_WHOLE(lround, long, round(x))
TW_WHOLE(llround, long long, round(x))
TW_NEXT(nextafter, double, __double_as_longlong, __longlong_as_double)
TW_NEXT(nextafterf, float, __float_as_int, __int_as_float)
#define TW_NORM(NAME, OF_X)                                                                                            \
  template <typename... A> TW_DEVICE double NAME(A... x) { return OF_X; }                                              \
  template <typename... A> TW_DEVICE float NAME##f(A... x) { return (float)NAME(x...); }
TW_NORM(norm3d, tw_norm(x...))
TW_NORM(norm4d, tw_norm(x...))
TW_NORM(rnorm3d, 1 / tw_norm(x...))
TW_NORM(rnorm4d, 1 / tw_norm(x...))
TW_C float ldexpf(float x, int n) { return (float)ldexp(x, n); }
TW_C float scalbnf(float x, int n) { return ldexpf(x, n); }
TW_C double scalbn(double x, int n) { return ldexp(x, n); }
TW_C double frexp(double x, int *n) {
  *n = x == 0 || x - x != 0 ? 0 : (int)logb(x) + 1;
  return ldexp(x, -*n);
}
TW_C float frexpf(float x, int *n) { return (float)frexp(x, n); }
TW_C double modf(double x, double *whole) {
  *whole = trunc(x);
  return copysign(x == *whole ? 0 : x - *whole, x);
}
TW_C float modff(float x, float *whole) {
  *whole = truncf(x);
  return copysignf(x == *whole ? 0 : x - *whole, x);
}
TW_C double remquo(double x, double y, int *n) {
  const double r = remainder(fabs(x), y), a = fmod(fabs(x), 8 * fabs(y));
  *n = (x < 0) == (y < 0) ? (int)rint((a - r) / fabs(y)) & 7 : -((int)rint((a - r) / fabs(y)) & 7);
  return __builtin_signbit(x) ? -r : r;
}
TW_C float remquof(float x, float y, int *n) { return (float)remquo(x, y, n); }
TW_C void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
TW_C void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
#define HUGE_VALF __builtin_huge_valf()

/* --- overloads, as math.h has them in C++ --- */
TW_OVERLOAD(exp)
TW_OVERLOAD(exp2)
TW_OVERLOAD(log)
TW_OVERLOAD(log2)
TW_OVERLOAD(log10)
TW_OVERLOAD(sqrt)
TW_OVERLOAD(rsqrt)
TW_OVERLOAD(fabs)
TW_OVERLOAD(floor)
TW_OVERLOAD(ceil)
TW_OVERLOAD(trunc)
TW_OVERLOAD(round)
TW_OVERLOAD(sin)
TW_OVERLOAD(cos)
TW_DEVICE float pow(float x, int y) { return powf(x, (float)y); }
TW_DEVICE float fma(float a, float b, float c) { return fmaf(a, b, c); }
TW_DEVICE float fmax(float a, float b) { return fmaxf(a, b); }
TW_DEVICE float fmin(float a, float b) { return fminf(a, b); }
TW_DEVICE float abs(float x) { return fabsf(x); }
TW_DEVICE double abs(double x) { return fabs(x); }
#define TW_ABS(T)                                                                                                      \
  TW_DEVICE T abs(T x) { return x < 0 ? -x : x; }
TW_ABS(int)
TW_ABS(long)
TW_ABS(long long)
#define TW_KINDS(T)                                                                                                    \
  TW_DEVICE bool isnan(T x) { return x != x; }                                                                         \
  TW_DEVICE bool isfinite(T x) { return x - x == 0; }                                                                  \
  TW_DEVICE bool isinf(T x) { return x == x && x - x != 0; }                                                           \
  TW_DEVICE bool signbit(T x) { return __builtin_copysign(1, x) < 0; }
TW_KINDS(float)
TW_KINDS(double)

TW_DEVICE float max(float a, float b) { return fmaxf(a, b); }
TW_DEVICE float min(float a, float b) { return fminf(a, b); }
TW_DEVICE double max(double a, double b) { return __nvvm_fmax_d(a, b); }
TW_DEVICE double min(double a, double b) { return __nvvm_fmin_d(a, b); }
#ifndef INFINITY
#define INFINITY __builtin_huge_valf()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif
#define CUDART_INF_F __builtin_huge_valf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF   __builtin_huge_val()
#define CUDART_PI_F  3.141592654f
