/* Number formats against independent slow answers: the definition of each field, the C compiler's
 * own float and _Float16, and the midpoints between all neighbours of the small formats. */
#include "tests/support/test.h"
#include "sim/numbers/precision.h"
#include "sim/base/random.h"

static const Precision small_formats[] = {PRECISION_FP16, PRECISION_BF16, PRECISION_E4M3, PRECISION_E5M2};
enum { N_SMALL_FORMATS = COUNT_OF(small_formats) };

/* (-1)^s x 1.f x 2^(e - bias), straight from the standard. Only for finite patterns. */
static double value_by_definition(Precision precision, uint64_t bits) {
  const PrecisionFormat *format = precision_format(precision);
  uint64_t fraction = bits % (UINT64_C(1) << format->fraction_bits);
  uint64_t magnitude = bits % (UINT64_C(1) << (format->bits - 1));
  int exponent = (int)(magnitude >> format->fraction_bits);
  double scaled = (double)fraction / pow(2, format->fraction_bits);
  double value = exponent == 0 ? scaled * pow(2, 1 - format->bias) : (1 + scaled) * pow(2, exponent - format->bias);
  return bits >> (format->bits - 1) ? -value : value;
}

static double any_double(uint64_t index) {
  uint64_t bits = random_bits(1, 0, index);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* A double whose exponent lies near the range of the format, where the interesting cases are. */
static double nearby_double(uint64_t index, int low_exponent, int high_exponent) {
  int64_t exponent = random_between(2, 1, index, low_exponent, high_exponent);
  double sign = random_bits(2, 2, index) & 1 ? -1 : 1;
  return sign * ldexp(1 + random_uniform(2, 3, index), (int)exponent);
}

/* The patterns above the largest finite one, from the tables of the specifications. */
TEST(patterns_above_the_largest_are_infinities_and_nans) {
  assert_true(precision_from_bits(PRECISION_FP16, 0x7c00) == INFINITY);
  assert_true(precision_from_bits(PRECISION_FP16, 0xfc00) == -INFINITY);
  assert_true(precision_from_bits(PRECISION_BF16, 0x7f80) == INFINITY);
  assert_true(precision_from_bits(PRECISION_E5M2, 0x7c) == INFINITY);
  assert_true(precision_from_bits(PRECISION_E5M2, 0xfc) == -INFINITY);
  for (uint64_t bits = 0x7c01; bits <= 0x7fff; bits++) assert_true(isnan(precision_from_bits(PRECISION_FP16, bits)));
  for (uint64_t bits = 0x7f81; bits <= 0x7fff; bits++) assert_true(isnan(precision_from_bits(PRECISION_BF16, bits)));
  for (uint64_t bits = 0x7d; bits <= 0x7f; bits++) assert_true(isnan(precision_from_bits(PRECISION_E5M2, bits)));
  assert_true(isnan(precision_from_bits(PRECISION_E4M3, 0x7f)));
  assert_true(isnan(precision_from_bits(PRECISION_E4M3, 0xff)));
}

/* Between two neighbours everything below the middle goes down, everything above goes up, and the
 * middle goes to the even pattern. Rounding is monotone, so this settles every double there is. */
TEST(between_all_neighbours_rounding_is_to_nearest_even) {
  for (int f = 0; f < N_SMALL_FORMATS; f++) {
    Precision precision = small_formats[f];
    for (uint64_t bits = 0; bits < precision_format(precision)->largest; bits++) {
      double low = value_by_definition(precision, bits);
      double high = value_by_definition(precision, bits + 1);
      double middle = low + (high - low) / 2; /* exact: a double has bits to spare */
      uint64_t even = bits & 1 ? bits + 1 : bits;
      assert_true(precision_to_bits(precision, middle) == even);
      assert_true(precision_to_bits(precision, nextafter(middle, low)) == bits);
      assert_true(precision_to_bits(precision, nextafter(middle, high)) == bits + 1);
      assert_true(precision_round(precision, -middle) == -precision_round(precision, middle));
    }
  }
}

/* Just where rounding to nearest would go past the largest value. 464 is half-way between 448 and the 480
 * that e4m3 does not have, and 448 is the even one. */
TEST(overflow_is_told_apart_from_rounding_down) {
  assert_false(precision_overflows(PRECISION_FP16, nextafter(65520, 0)));
  assert_true(precision_overflows(PRECISION_FP16, 65520));
  assert_true(precision_overflows(PRECISION_FP16, -INFINITY));
  assert_false(precision_overflows(PRECISION_E4M3, 464));
  assert_true(precision_overflows(PRECISION_E4M3, -nextafter(464, 500)));
  assert_true(precision_overflows(PRECISION_E5M2, 61440));
  assert_false(precision_overflows(PRECISION_FP32, 3.4e38));
  assert_true(precision_overflows(PRECISION_FP32, 3.5e38));
  assert_false(precision_overflows(PRECISION_FP64, 1e308));
  assert_true(precision_overflows(PRECISION_FP64, INFINITY));
  for (int p = 0; p < N_PRECISIONS; p++) {
    assert_false(precision_overflows((Precision)p, NAN));
    assert_false(precision_overflows((Precision)p, 0));
  }
}

/* Sums that lie so near to the middle of two fp32 that rounding to double first would put them there. */
TEST(a_fused_multiply_add_rounds_once) {
  const double odd = 0x1p24 + 2, below_1 = 1 - 0x1p-15, above_1 = 1 + 0x1p-15;
  assert_true(precision_multiply_add(PRECISION_FP32, above_1, below_1, odd) == odd); /* odd + 1 - 2^-30 */
  assert_true(precision_multiply_add(PRECISION_FP32, above_1, -below_1, odd) == odd);
  assert_true(precision_multiply_add(PRECISION_FP32, 1, 1, odd) == odd + 2); /* a true tie goes to the even one */
  const double tiny = 0x1p-127 + 0x1p-149;                                   /* subnormal, and odd */
  assert_true(precision_multiply_add(PRECISION_FP32, 0x1p-75 * (1 + 0x1p-23), 0x1p-75 * (1 - 0x1p-23), tiny) == tiny);
  assert_true(precision_multiply_add(PRECISION_FP32, 0x1p-75, 0x1p-75, tiny) == tiny + 0x1p-149);
  assert_true(precision_multiply_add(PRECISION_FP32, 0x1p100, 0x1p100, 0) == (double)INFINITY);
  assert_true(isnan(precision_multiply_add(PRECISION_FP32, (double)INFINITY, 0, 1)));
}

/* precision_computed and precision_multiply_add are the compiler's float arithmetic. */
TEST(accumulators_compute_as_float_and_double_do) {
  for (uint64_t i = 0; i < 100000; i++) {
    float a = (float)nearby_double(3 * i, -60, 60), b = (float)nearby_double(3 * i + 1, -60, 60);
    float c = (float)nearby_double(3 * i + 2, -60, 60);
    volatile float sum = a + b, product = a * b, quotient = a / b;
    assert_true(precision_computed(PRECISION_FP32, (double)a + (double)b) == (double)sum);
    assert_true(precision_computed(PRECISION_FP32, (double)a * (double)b) == (double)product);
    assert_true(precision_computed(PRECISION_FP32, (double)a / (double)b) == (double)quotient);
    assert_true(precision_multiply_add(PRECISION_FP32, a, b, c) == (double)fmaf(a, b, c));
    assert_true(precision_multiply_add(PRECISION_FP64, a, b, c) == fma(a, b, c));
  }
  assert_true(precision_computed(PRECISION_FP32, 1e39) == INFINITY);
  assert_true(precision_computed(PRECISION_FP64, 1e39) == 1e39);
  assert_int_equal(precision_accumulator(PRECISION_FP64), PRECISION_FP64);
  for (int p = PRECISION_FP32; p < N_PRECISIONS; p++)
    assert_int_equal(precision_accumulator((Precision)p), PRECISION_FP32);
}

TEST(fp32_agrees_with_the_compiler) {
  for (uint64_t i = 0; i < 400000; i++) {
    double value = i & 1 ? any_double(i) : nearby_double(i, -155, 129);
    if (isnan(value)) continue;
    float expected = (float)value;
    uint32_t expected_bits;
    memcpy(&expected_bits, &expected, sizeof expected_bits);
    assert_true(precision_to_bits(PRECISION_FP32, value) == expected_bits);
    assert_true(precision_from_bits(PRECISION_FP32, expected_bits) == (double)expected);
  }
}

TEST(nan_stays_nan_with_its_sign) {
  for (int p = 0; p < N_PRECISIONS; p++) {
    Precision precision = (Precision)p;
    uint64_t sign = UINT64_C(1) << (precision_format(precision)->bits - 1);
    assert_true(isnan(precision_round(precision, NAN)));
    double negative = copysign(NAN, -1);
    assert_true(isnan(precision_round(precision, negative)));
    assert_true(precision_to_bits(precision, negative) & sign);
    assert_false(precision_to_bits(precision, copysign(NAN, 1)) & sign);
  }
  /* A payload that lies wholly in the bits cut off must not turn the NaN into an infinity. */
  uint64_t bits = 0x7ff0000000000001;
  double low_payload;
  memcpy(&low_payload, &bits, sizeof low_payload);
  assert_int_equal(precision_to_bits(PRECISION_FP16, low_payload), 0x7e00);
  assert_int_equal(precision_to_bits(PRECISION_E4M3, low_payload), 0x7f);
  /* What is kept is its highest bits, as IEEE 754 has it of narrower formats: 1.1 in binary is 0x300 of fp16's ten,
   * 0x60 of bf16's seven. */
  bits = 0x7ffc000000000000;
  memcpy(&low_payload, &bits, sizeof low_payload);
  assert_int_equal(precision_to_bits(PRECISION_FP16, low_payload), 0x7f00);
  assert_int_equal(precision_to_bits(PRECISION_BF16, low_payload), 0x7fe0);
}

TEST(ulp_is_the_gap_to_the_next_value) {
  for (uint64_t i = 0; i < 20000; i++) {
    float value = (float)fabs(nearby_double(i, -148, 126));
    double gap = (double)nextafterf(value, INFINITY) - (double)value;
    assert_true(precision_ulp(PRECISION_FP32, (double)value) == gap);
    assert_true(precision_ulp(PRECISION_FP32, -(double)value) == gap);
  }
  assert_true(precision_ulp(PRECISION_FP16, 0) == 0x1p-24);
  assert_true(precision_ulp(PRECISION_FP16, 1) == 0x1p-10);
  assert_true(precision_ulp(PRECISION_BF16, 1) == 0x1p-7);
  assert_true(precision_ulp(PRECISION_E4M3, 447) == 32);
  assert_true(isnan(precision_ulp(PRECISION_FP16, INFINITY)));
}
