#include "sim/numbers/precision.h"

enum {
  DOUBLE_FRACTION_BITS = 52,
  DOUBLE_BIAS = 1023,
  DOUBLE_EXPONENT_MASK = 0x7ff,
};

/* Layouts: IEEE 754-2019 table 3.5 (fp64, fp32, fp16); bfloat16 is the upper half of fp32; OCP
 * 8-bit Floating Point Specification 1.0, table 1 (e4m3, e5m2). What overflow becomes: PTX ISA,
 * cvt. */
static const PrecisionFormat formats[N_PRECISIONS] = {
    [PRECISION_FP64] = {"fp64", 64, 52, 1023, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000},
    [PRECISION_FP32] = {"fp32", 32, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fc00000},
    [PRECISION_FP16] = {"fp16", 16, 10, 15, 0x7bff, 0x7c00, 0x7e00},
    [PRECISION_BF16] = {"bf16", 16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0},
    [PRECISION_E4M3] = {"e4m3", 8, 3, 7, 0x7e, 0x7e, 0x7f},
    [PRECISION_E5M2] = {"e5m2", 8, 2, 15, 0x7b, 0x7b, 0x7e},
};

const PrecisionFormat *precision_format(Precision precision) { return &formats[precision]; }

Status precision_from_name(const char *name, Precision *precision, Error *error) {
  if (strcmp(name, "fp8") == 0) {
    *precision = PRECISION_E4M3;
    return STATUS_OK;
  }
  for (int i = 0; i < N_PRECISIONS; i++) {
    if (strcmp(name, formats[i].name) != 0) continue;
    *precision = (Precision)i;
    return STATUS_OK;
  }
  return error_refuse(error, "no precision is called '%.20s'; use fp64, fp32, fp16, bf16, e4m3 (or fp8), e5m2", name);
}

static uint64_t double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* significand / 2^shift to the nearest whole number, ties to even; significand < 2^53. */
static uint64_t shift_right_to_nearest_even(uint64_t significand, int shift) {
  if (shift > DOUBLE_FRACTION_BITS + 1) return 0; /* below half of the last place */
  if (shift == 0) return significand;
  uint64_t quotient = significand >> shift;
  uint64_t rest = significand & ((UINT64_C(1) << shift) - 1);
  uint64_t half = UINT64_C(1) << (shift - 1);
  return quotient + (rest > half || (rest == half && (quotient & 1)));
}

static uint64_t nan_pattern(const PrecisionFormat *format, uint64_t bits) {
  uint64_t fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION_BITS) - 1);
  uint64_t payload = fraction >> (DOUBLE_FRACTION_BITS - format->fraction_bits);
  return format->quiet_nan | payload;
}

/* The pattern of a finite magnitude as if exponents went on for ever: above format->largest it does not
 * fit. `bits` are those of the double. */
static uint64_t unbounded_pattern(const PrecisionFormat *format, uint64_t bits) {
  uint64_t fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION_BITS) - 1);
  int field = (int)(bits >> DOUBLE_FRACTION_BITS) & DOUBLE_EXPONENT_MASK;
  /* magnitude = significand x 2^(exponent - 52), with 2^52 <= significand < 2^53. For a subnormal double that
   * is too large, but far below half of any other format's last place all the same: it becomes 0. */
  uint64_t significand = fraction | (UINT64_C(1) << DOUBLE_FRACTION_BITS);
  int exponent = field - DOUBLE_BIAS;
  int smallest_exponent = 1 - format->bias;
  int below_normal = exponent < smallest_exponent ? smallest_exponent - exponent : 0;
  int shift = DOUBLE_FRACTION_BITS - format->fraction_bits + below_normal;
  uint64_t pattern = shift_right_to_nearest_even(significand, shift);
  /* A normal number still carries its leading 1 in the place of exponent field 1, so the rest of the
   * field is added; a carry out of the rounding moves into the field by itself, as it should. */
  if (below_normal) return pattern;
  return pattern + ((uint64_t)(exponent - smallest_exponent) << format->fraction_bits);
}

uint64_t precision_to_bits(Precision precision, double value) {
  const PrecisionFormat *format = &formats[precision];
  uint64_t bits = double_bits(value);
  if (precision == PRECISION_FP64) return bits;
  uint64_t sign = (bits >> 63) << (format->bits - 1);
  if (isnan(value)) return sign | nan_pattern(format, bits);
  if (isinf(value)) return sign | format->overflow;
  if (precision == PRECISION_FP32) return float_bits((float)value); /* the processor's own, some times as fast */
  uint64_t pattern = unbounded_pattern(format, bits);
  return sign | (pattern > format->largest ? format->overflow : pattern);
}

bool precision_overflows(Precision precision, double value) {
  if (precision == PRECISION_FP64 || isinf(value)) return isinf(value);
  const PrecisionFormat *format = &formats[precision];
  return !isnan(value) && unbounded_pattern(format, double_bits(value)) > format->largest;
}

double precision_from_bits(Precision precision, uint64_t bits) {
  const PrecisionFormat *format = &formats[precision];
  if (precision == PRECISION_FP64) return double_from_bits(bits);
  uint64_t magnitude = bits & ((UINT64_C(1) << (format->bits - 1)) - 1);
  uint64_t sign = ((bits >> (format->bits - 1)) & 1) << 63;
  int widen = DOUBLE_FRACTION_BITS - format->fraction_bits;
  uint64_t fraction = magnitude & ((UINT64_C(1) << format->fraction_bits) - 1);
  if (magnitude > format->largest) {
    bool infinite = fraction == 0; /* e4m3 has one pattern up here, a NaN with fraction 7 */
    uint64_t special = (uint64_t)DOUBLE_EXPONENT_MASK << DOUBLE_FRACTION_BITS;
    if (!infinite) special |= (fraction << widen) | (UINT64_C(1) << (DOUBLE_FRACTION_BITS - 1));
    return double_from_bits(sign | special);
  }
  int field = (int)(magnitude >> format->fraction_bits);
  if (field == 0) {
    double subnormal = ldexp((double)fraction, 1 - format->bias - format->fraction_bits);
    return sign ? -subnormal : subnormal;
  }
  uint64_t exponent = (uint64_t)(field - format->bias + DOUBLE_BIAS);
  return double_from_bits(sign | (exponent << DOUBLE_FRACTION_BITS) | (fraction << widen));
}

double precision_round(Precision precision, double value) {
  if (precision == PRECISION_FP64) return value;
  return precision_from_bits(precision, precision_to_bits(precision, value));
}

double precision_ulp(Precision precision, double value) {
  if (!isfinite(value)) return NAN;
  const PrecisionFormat *format = &formats[precision];
  int smallest_exponent = 1 - format->bias;
  int exponent = smallest_exponent;
  if (value != 0 && ilogb(value) > smallest_exponent) exponent = ilogb(value);
  return ldexp(1.0, exponent - format->fraction_bits);
}
