/* Error measures, by hand. */
#include "tests/support/test.h"
#include "sim/numbers/accuracy.h"

TEST(rmse_and_ulps_of_three_numbers) {
  /* fp16 steps by 2^-10 from 1 and by 2^-9 from 2. Errors: 0, 2 steps, 1 step. */
  const double reference[] = {1, 1.5, 2};
  const double values[] = {1, 1.5 - 2 * 0x1p-10, 2 + 0x1p-9};
  Accuracy accuracy = {0};
  accuracy_add(&accuracy, PRECISION_FP16, values, reference, 1);
  accuracy_add(&accuracy, PRECISION_FP16, values + 1, reference + 1, 2);
  assert_int_equal(accuracy.n, 3);
  assert_int_equal(accuracy.n_rounded, 1);
  assert_int_equal(accuracy.n_within_ulp, 2);
  assert_int_equal(accuracy.n_not_finite, 0);
  assert_true(accuracy.largest == 0x1p-9);
  assert_true(accuracy.largest_ulps == 2);
  assert_true(fabs(accuracy_rmse(&accuracy) - 0x1p-9 * sqrt(2.0 / 3)) < 1e-18);
}

/* 1/3 cannot be stored, but the nearest fp16 is the best there is: less than half an ulp. */
TEST(the_nearest_stored_number_counts_as_rounded) {
  const double third = 1.0 / 3, stored = 0x1.554p-2, next = 0x1.558p-2;
  Accuracy accuracy = {0};
  accuracy_add(&accuracy, PRECISION_FP16, &stored, &third, 1);
  assert_int_equal(accuracy.n_rounded, 1);
  assert_true(accuracy.largest_ulps > 0.3 && accuracy.largest_ulps < 0.5);
  accuracy_add(&accuracy, PRECISION_FP16, &next, &third, 1);
  assert_int_equal(accuracy.n_rounded, 1);
  assert_true(accuracy.largest_ulps > 0.5 && accuracy.largest_ulps < 0.7);
}

TEST(a_nan_or_infinity_spoils_everything_for_good) {
  const double bad[] = {NAN, INFINITY, -INFINITY}, good = 1;
  for (int i = 0; i < 3; i++) {
    Accuracy accuracy = {0};
    accuracy_add(&accuracy, PRECISION_FP32, &bad[i], &good, 1);
    accuracy_add(&accuracy, PRECISION_FP32, &good, &good, 1);
    assert_int_equal(accuracy.n_not_finite, 1);
    assert_int_equal(accuracy.n_rounded, 1);
    assert_false(accuracy_rmse(&accuracy) < 1e300);
    assert_false(accuracy.largest < 1e300);
    assert_false(accuracy.largest_ulps < 1e300);
  }
}

TEST(nothing_compared_is_no_error) {
  Accuracy accuracy = {0};
  assert_true(accuracy_rmse(&accuracy) == 0);
}
