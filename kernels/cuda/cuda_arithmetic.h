/* Arithmetic of device code: fast math, integer intrinsics, the math library. Those that kernels of attention
 * use (expf, division) are nvcc's sequences; the others are short, and right to a few units in the last place. */
#pragma once

#define TW_ASM1(NAME, T, OP, TO, FROM)                                                                                 \
  TW_DEVICE T NAME(T a) {                                                                                              \
    T d;                                                                                                               \
    asm(OP " %0, %1;" : TO(d) : FROM(a));                                                                              \
    return d;                                                                                                          \
  }
#define TW_ASM2(NAME, T, OP, TO, FROM)                                                                                 \
  TW_DEVICE T NAME(T a, T b) {                                                                                         \
    T d;                                                                                                               \
    asm(OP " %0, %1, %2;" : TO(d) : FROM(a), FROM(b));                                                                 \
    return d;                                                                                                          \
  }
#define TW_ASM3(NAME, T, OP, TO, FROM)                                                                                 \
  TW_DEVICE T NAME(T a, T b, T c) {                                                                                    \
    T d;                                                                                                               \
    asm(OP " %0, %1, %2, %3;" : TO(d) : FROM(a), FROM(b), FROM(c));                                                    \
    return d;                                                                                                          \
  }
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
#define TW_ROUNDINGS(X) X(rn, rni) X(rz, rzi) X(rd, rmi) X(ru, rpi)
#define TW_TO_WHOLE(R, P)                                                                                              \
  TW_CONVERT(__float2int_##R, int, float, "cvt." #P ".s32.f32", "=r", "f")                                             \
  TW_CONVERT(__float2uint_##R, unsigned, float, "cvt." #P ".u32.f32", "=r", "f")                                       \
  TW_CONVERT(__float2ll_##R, long long, float, "cvt." #P ".s64.f32", "=l", "f")                                        \
  TW_CONVERT(__double2int_##R, int, double, "cvt." #P ".s32.f64", "=r", "d")                                           \
  TW_CONVERT(__double2ll_##R, long long, double, "cvt." #P ".s64.f64", "=l", "d")
TW_ROUNDINGS(TW_TO_WHOLE)
TW_CONVERT(__int2float_rn, float, int, "cvt.rn.f32.s32", "=f", "r")
TW_CONVERT(__uint2float_rn, float, unsigned, "cvt.rn.f32.u32", "=f", "r")
TW_CONVERT(__double2float_rn, float, double, "cvt.rn.f32.f64", "=f", "d")
TW_CONVERT(__int2double_rn, double, int, "cvt.rn.f64.s32", "=d", "r")

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
TW_BOTH int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
TW_BOTH unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
TW_BOTH unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
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

/* --- single precision as the hardware has it --- */
TW_DEVICE float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
TW_DEVICE float __fsub_rn(float a, float b) { return __nvvm_add_rn_f(a, -b); }
TW_DEVICE float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
TW_DEVICE float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
TW_DEVICE double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
TW_DEVICE double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
TW_DEVICE double __fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
TW_DEVICE float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
TW_DEVICE float __frcp_rn(float a) { return __nvvm_rcp_rn_f(a); }
TW_DEVICE float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
TW_DEVICE float __saturatef(float a) { return __nvvm_saturate_f(a); }
TW_ASM2(__fdividef, float, "div.approx.f32", "=f", "f")
TW_ASM1(tw_exp2, float, "ex2.approx.f32", "=f", "f")
TW_ASM1(tw_exp2_ftz, float, "ex2.approx.ftz.f32", "=f", "f")
TW_ASM1(tw_log2, float, "lg2.approx.f32", "=f", "f")
TW_ASM1(tw_rsqrt, float, "rsqrt.approx.f32", "=f", "f")
TW_ASM1(__frsqrt_rn, float, "rsqrt.approx.f32", "=f", "f")
TW_ASM1(__sinf, float, "sin.approx.f32", "=f", "f")
TW_ASM1(__cosf, float, "cos.approx.f32", "=f", "f")
TW_ASM1(__tanhf, float, "tanh.approx.f32", "=f", "f")
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
TW_C float exp10f(float x) { return expf(x * 2.302585092994046f); }
TW_C float expm1f(float x) {
  const float u = expf(x);
  return __builtin_fabsf(x) < 0.25f ? x * (1 + x * (0.5f + x * (1 / 6.f + x * (1 / 24.f + x * (1 / 120.f + x / 720)))))
                                    : u - 1;
}
TW_C float logf(float x) { return tw_log2(x) * 0.6931471805599453f; }
TW_C float log2f(float x) { return tw_log2(x); }
TW_C float log10f(float x) { return tw_log2(x) * 0.3010299956639812f; }
TW_C float log1pf(float x) {
  const float u = 1 + x;
  return u == 1 ? x : logf(u) * (x / (u - 1));
}
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
TW_C long lroundf(float x) { return (long)roundf(x); }
TW_C float sinf(float x) { return __sinf(x); }
TW_C float cosf(float x) { return __cosf(x); }
TW_C void sincosf(float x, float *s, float *c) { *s = __sinf(x), *c = __cosf(x); }
TW_C float tanf(float x) { return __sinf(x) / __cosf(x); }
TW_C float sinhf(float x) { return 0.5f * (expf(x) - expf(-x)); }
TW_C float coshf(float x) { return 0.5f * (expf(x) + expf(-x)); }
TW_C float tanhf(float x) {
  const float a = __builtin_fabsf(x), x2 = x * x;
  if (a < 0.3f) return x * (1 + x2 * (-1 / 3.f + x2 * (2 / 15.f + x2 * (-17 / 315.f + x2 * (62 / 2835.f)))));
  return copysignf(1 - 2 / (expf(2 * a) + 1), x);
}
TW_C float powf(float x, float y) {
  const float r = tw_exp2(y * tw_log2(__builtin_fabsf(x)));
  if (y == 0 || x == 1) return 1;
  if (x >= 0) return r;
  return y != truncf(y) ? __int_as_float(0x7fffffff) : y / 2 == truncf(y / 2) ? r : -r;
}
TW_C float cbrtf(float x) { return copysignf(tw_exp2(tw_log2(__builtin_fabsf(x)) / 3), x); }
TW_C float hypotf(float a, float b) { return sqrtf(a * a + b * b); }
/* Abramowitz and Stegun 7.1.26, whose error is 1.5e-7. */
TW_C float erff(float x) {
  const float a = __builtin_fabsf(x), t = 1 / (1 + 0.3275911f * a);
  const float p =
      t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  return copysignf(1 - p * expf(-a * a), x);
}
TW_C float erfcf(float x) { return 1 - erff(x); }
TW_C float normcdff(float x) { return 0.5f * (1 + erff(x * 0.7071067811865476f)); }

/* --- double precision --- */
TW_C double fabs(double x) { return __builtin_fabs(x); }
TW_C double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
TW_C double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
TW_C double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
TW_C double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
TW_C double floor(double x) { return __nvvm_floor_d(x); }
TW_C double ceil(double x) { return __nvvm_ceil_d(x); }
TW_C double trunc(double x) { return __nvvm_trunc_d(x); }
TW_C double round(double x) { return trunc(x + (x < 0 ? -0.49999999999999994 : 0.49999999999999994)); }
TW_C double exp(double x) {
  if (!(x < 709.79)) return x == x ? __builtin_huge_val() : x;
  if (x < -745.2) return 0;
  const int n = __double2int_rn(x * 1.4426950408889634);
  const double f = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double s = 1, term = 1;
  for (int k = 1; k < 14; k++) s += term *= f / k;
  const int half = n / 2;
  return s * __longlong_as_double((long long)(half + 1023) << 52) *
         __longlong_as_double((long long)(n - half + 1023) << 52);
}
TW_C double log(double x) {
  if (!(x > 0)) return x == 0 ? -__builtin_huge_val() : __builtin_nan("");
  int n = 0;
  if (x < 2.2250738585072014e-308) x *= 0x1p54, n = -54;
  long long bits = __double_as_longlong(x);
  n += (int)(bits >> 52) - 1023;
  if (n > 1023) return x;
  double m = __longlong_as_double((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
  if (m > 1.4142135623730951) m *= 0.5, n++;
  const double u = (m - 1) / (m + 1), u2 = u * u;
  double s = 0;
  for (int k = 21; k > 0; k -= 2) s = s * u2 + 1.0 / k;
  return n * 0.6931471805599453 + 2 * u * s;
}
TW_C double exp2(double x) { return exp(x * 0.6931471805599453); }
TW_C double log2(double x) { return log(x) * 1.4426950408889634; }
TW_C double log10(double x) { return log(x) * 0.4342944819032518; }
TW_C double rsqrt(double x) { return 1 / sqrt(x); }
TW_C double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  const double r = exp(y * log(fabs(x)));
  if (x >= 0) return r;
  return y != trunc(y) ? __builtin_nan("") : trunc(y / 2) * 2 == y ? r : -r;
}
TW_C double tanh(double x) {
  const double t = 1 - 2 / (exp(2 * fabs(x)) + 1);
  return x < 0 ? -t : t;
}
TW_C double sin(double x) { /* a quarter turn from the nearest multiple of pi / 2: the series of sin or of cos */
  const int n = __double2int_rn(x * 0.6366197723675814);
  const double f = (x - n * 1.57079632679489655800e+00) - n * 6.12323399573676603587e-17;
  double s = 1, term = 1;
  for (int k = n & 1 ? 1 : 2; k < 22; k += 2) s += term *= -f * f / (k * (k + 1.0));
  if (!(n & 1)) s *= f;
  return n & 2 ? -s : s;
}
TW_C double cos(double x) { return sin(x + 1.5707963267948966); }
TW_C void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }

/* --- a row a function: its name and what it is of x; single precision and the overload follow --- */
TW_C double log1p(double x) {
  const double u = 1 + x;
  return u == 1 ? x : u < 0x1p60 ? log(u) * (x / (u - 1)) : log(u);
}
TW_C double copysign(double x, double s) { return __builtin_copysign(x, s); }
/* Two halvings bring x below 0.2, where the series ends soon. */
TW_C double atan(double x) {
  const double a = fabs(x);
  double t = a > 1 ? 1 / a : a, s = 0;
  for (int k = 0; k < 2; k++) t = t / (1 + sqrt(1 + t * t));
  for (int k = 23; k > 0; k -= 2) s = 1.0 / k - t * t * s;
  return copysign(a > 1 ? 1.5707963267948966 - 4 * t * s : 4 * t * s, x);
}
TW_C double atan2(double y, double x) {
  const double half = 1.5707963267948966;
  if (x == 0) return y == 0 ? (__builtin_signbit(x) ? copysign(2 * half, y) : y) : copysign(half, y);
  return x > 0 ? atan(y / x) : atan(y / x) + copysign(2 * half, y);
}
/* Lanczos, g = 7. */
TW_C double lgamma(double x) {
  const double of[] = {676.5203681218851,  -1259.1392167224028,  771.32342877765313,    -176.61502916214059,
                       12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  const double z = x < 0.5 ? 1 - x : x, t = z + 6.5;
  double s = 0.99999999999980993;
  for (int k = 0; k < 8; k++) s += of[k] / (z + k);
  s = 0.9189385332046727 + (z - 0.5) * log(t) - t + log(s);
  return x < 0.5 ? log(3.141592653589793 / fabs(sin(3.141592653589793 * x))) - s : s;
}
/* The mean of cos(n t - x sin t) over half a turn: as exact as the sum is long. */
TW_C double jn(int n, double x) {
  const int parts = 64 + 2 * (int)(fabs(x) + fabs((double)n));
  double s = 0;
  for (int k = 0; k < parts; k++) {
    const double t = 3.141592653589793 * (k + 0.5) / parts;
    s += cos(n * t - x * sin(t));
  }
  return s / parts;
}
TW_C float jnf(int n, float x) { return (float)jn(n, x); }
/* Long division, by halves of the largest 2^k y: each difference is exact. */
TW_C double fmod(double x, double y) {
  const double b = fabs(y);
  double a = fabs(x), part = b;
  if (x - x != 0 || !(b > 0)) return x * y / (x * y);
  if (a < b) return x;
  while (part <= a / 2) part *= 2;
  for (; part >= b; part /= 2)
    if (a >= part) a -= part;
  return copysign(a, x);
}
TW_C double remainder(double x, double y) {
  const double b = fabs(y);
  double a = fmod(fabs(x), 2 * b);
  if (a > b / 2) {
    a -= b;
    if (a >= b / 2) a -= b;
  }
  return x < 0 ? -a : a;
}
TW_C double ldexp(double x, int n) {
  for (n = n > 2200 ? 2200 : n < -2200 ? -2200 : n; n > 1023; n -= 1023) x *= 0x1p1023;
  for (; n < -1022; n += 1022) x *= 0x1p-1022;
  return x * __longlong_as_double((long long)(n + 1023) << 52);
}
#define TW_MATH(NAME, OF_X)                                                                                            \
  TW_C double NAME(double x) { return OF_X; }                                                                          \
  TW_C float NAME##f(float x) { return (float)NAME((double)x); }                                                       \
  TW_DEVICE float NAME(float x) { return NAME##f(x); }
#define TW_MATH2(NAME, OF_X_Y)                                                                                         \
  TW_C double NAME(double x, double y) { return OF_X_Y; }                                                              \
  TW_C float NAME##f(float x, float y) { return (float)NAME((double)x, (double)y); }
TW_MATH(asin, atan(x / sqrt((1 - x) * (1 + x))))
TW_MATH(acos, 2 * atan(sqrt((1 - x) / (1 + x))))
TW_MATH(asinh, copysign(log1p(fabs(x) + x * x / (1 + sqrt(1 + x * x))), x))
TW_MATH(acosh, log(x + sqrt(x * x - 1)))
TW_MATH(atanh, 0.5 * log1p(2 * x / (1 - x)))
TW_MATH(rcbrt, copysign(exp(-log(fabs(x)) / 3), x))
TW_MATH(tgamma, x < 0.5 ? 3.141592653589793 / (sin(3.141592653589793 * x) * exp(lgamma(1 - x))) : exp(lgamma(x)))
TW_MATH(sinpi, sin(3.141592653589793 * x))
TW_MATH(cospi, cos(3.141592653589793 * x))
TW_MATH(j0, jn(0, x))
TW_MATH(j1, jn(1, x))
TW_MATH(rint, fabs(x) < 0x1p52 ? copysign(fabs(x) + 0x1p52 - 0x1p52, x) : x)
TW_MATH(logb, x == 0 || x - x != 0 ? log(fabs(x)) : (double)((int)(__double_as_longlong(x) >> 52 & 2047) - 1023))
TW_MATH2(fdim, x > y ? x - y : 0)
TW_MATH2(rhypot, 1 / sqrt(x * x + y * y))
TW_C float fmodf(float x, float y) { return (float)fmod((double)x, (double)y); }
TW_C float remainderf(float x, float y) { return (float)remainder((double)x, (double)y); }
TW_C float nearbyintf(float x) { return rintf(x); }
TW_C float atanf(float x) { return (float)atan(x); }
TW_C float atan2f(float y, float x) { return (float)atan2(y, x); }
TW_C float lgammaf(float x) { return (float)lgamma(x); }
TW_C float ldexpf(float x, int n) { return (float)ldexp(x, n); }
TW_C float scalbnf(float x, int n) { return ldexpf(x, n); }
TW_C int ilogbf(float x) { return (int)logbf(x); }
TW_C float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
TW_C float rnorm3df(float a, float b, float c) { return rsqrtf(a * a + b * b + c * c); }
TW_C long lrintf(float x) { return (long)rintf(x); }
TW_C long long llrintf(float x) { return (long long)rintf(x); }
TW_C long long llroundf(float x) { return (long long)roundf(x); }
TW_C void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
TW_C float modff(float x, float *whole) {
  *whole = truncf(x);
  return x - *whole;
}
#define HUGE_VALF __builtin_huge_valf()

/* --- overloads, as math.h has them in C++ --- */
#define TW_OVERLOAD(NAME)                                                                                              \
  TW_DEVICE float NAME(float x) { return NAME##f(x); }
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
TW_OVERLOAD(tanh)
TW_OVERLOAD(erf)
TW_DEVICE float pow(float x, float y) { return powf(x, y); }
TW_DEVICE float pow(float x, int y) { return powf(x, (float)y); }
TW_DEVICE float fma(float a, float b, float c) { return fmaf(a, b, c); }
TW_DEVICE float fmax(float a, float b) { return fmaxf(a, b); }
TW_DEVICE float fmin(float a, float b) { return fminf(a, b); }
TW_DEVICE float abs(float x) { return fabsf(x); }
TW_DEVICE double abs(double x) { return fabs(x); }
TW_DEVICE int abs(int x) { return x < 0 ? -x : x; }
TW_DEVICE long abs(long x) { return x < 0 ? -x : x; }
TW_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
TW_DEVICE bool isnan(float x) { return x != x; }
TW_DEVICE bool isinf(float x) { return __builtin_fabsf(x) == __builtin_huge_valf(); }
TW_DEVICE bool isfinite(float x) { return __builtin_fabsf(x) < __builtin_huge_valf(); }
TW_DEVICE bool isnan(double x) { return x != x; }
TW_DEVICE bool isinf(double x) { return __builtin_fabs(x) == __builtin_huge_val(); }

/* max and min of mixed integers have the type that C's arithmetic gives them, as nvcc's have. */
#define TW_MAX_MIN(A, B)                                                                                               \
  TW_BOTH auto max(A a, B b)->decltype(a + b) {                                                                        \
    typedef decltype(a + b) C;                                                                                         \
    return (C)a > (C)b ? (C)a : (C)b;                                                                                  \
  }                                                                                                                    \
  TW_BOTH auto min(A a, B b)->decltype(a + b) {                                                                        \
    typedef decltype(a + b) C;                                                                                         \
    return (C)a < (C)b ? (C)a : (C)b;                                                                                  \
  }
#define TW_MAX_MIN_OF(A)                                                                                               \
  TW_MAX_MIN(A, int)                                                                                                   \
  TW_MAX_MIN(A, unsigned)                                                                                              \
  TW_MAX_MIN(A, long) TW_MAX_MIN(A, unsigned long) TW_MAX_MIN(A, long long) TW_MAX_MIN(A, unsigned long long)
TW_MAX_MIN_OF(int)
TW_MAX_MIN_OF(unsigned)
TW_MAX_MIN_OF(long)
TW_MAX_MIN_OF(unsigned long)
TW_MAX_MIN_OF(long long)
TW_MAX_MIN_OF(unsigned long long)
TW_DEVICE float max(float a, float b) { return fmaxf(a, b); }
TW_DEVICE float min(float a, float b) { return fminf(a, b); }
TW_DEVICE double max(double a, double b) { return __nvvm_fmax_d(a, b); }
TW_DEVICE double min(double a, double b) { return __nvvm_fmin_d(a, b); }
TW_DEVICE double max(double a, float b) { return __nvvm_fmax_d(a, b); }
TW_DEVICE double max(float a, double b) { return __nvvm_fmax_d(a, b); }
TW_DEVICE double min(double a, float b) { return __nvvm_fmin_d(a, b); }
TW_DEVICE double min(float a, double b) { return __nvvm_fmin_d(a, b); }

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
