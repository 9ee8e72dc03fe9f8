/* Error measures, by hand. */
#include "tests/support/test.h"
#include "sim/numbers/quantised.h"

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
  assert_near(accuracy_rmse(&accuracy), 0x1p-9 * sqrt(2.0 / 3), 1e-18);
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

/* ---- few bits ---- */

/* e4m3 steps by 2 from 16 and by 2^-9 up to 2^-6. The largest number is 448, so the scale is 1. */
TEST(e4m3_rounds_to_even) {
  const double given[] = {448, 17, 19, -19, 0x1p-9, 0x1p-10, 3 * 0x1p-10, 433};
  const double right[] = {448, 16, 20, -20, 0x1p-9, 0, 2 * 0x1p-9, 448};
  double x[8];
  memcpy(x, given, sizeof x);
  quantised_round(PRECISION_E4M3, 0, x, 2, 4);
  for (int k = 0; k < 8; k++) assert_true(x[k] == right[k]);
}

/* 2^-10 beside 448 is half a step and becomes 0; as the largest of its own block it is kept. FP16 has no scale. */
TEST(a_block_has_its_own_scale) {
  const double given[] = {448, 1, 0x1p-10, -0x1p-11};
  double whole[4], rows[4], twice[] = {896, 34}, half[] = {2048 + 1, 1 + 3 * 0x1p-11};
  memcpy(whole, given, sizeof whole);
  memcpy(rows, given, sizeof rows);
  quantised_round(PRECISION_E4M3, 0, whole, 2, 2);
  quantised_round(PRECISION_E4M3, 1, rows, 2, 2);
  quantised_round(PRECISION_E4M3, 0, twice, 1, 2);
  quantised_round(PRECISION_FP16, 0, half, 1, 2);
  assert_true(whole[0] == 448 && whole[1] == 1 && whole[2] == 0 && whole[3] == 0);
  assert_true(memcmp(rows, given, sizeof rows) == 0);
  assert_true(twice[0] == 896 && twice[1] == 32); /* 34 / 2 = 17 */
  assert_true(half[0] == 2048 && half[1] == 1 + 2 * 0x1p-10);
}

/* Q R (K R)^T = Q K^T, and one number of 8 becomes eight of 8 / sqrt(8). */
TEST(a_rotation_spreads_an_outlier_and_keeps_products) {
  double x[3 * 8] = {0, 0, 8}, before = 0, after = 0;
  for (int k = 8; k < 24; k++) x[k] = k * k % 7 - 3;
  for (int c = 0; c < 8; c++) before += x[8 + c] * x[16 + c];
  quantised_rotate(5, x, 3, 8);
  for (int c = 0; c < 8; c++) {
    assert_near(fabs(x[c]), 8 / sqrt(8), 1e-14);
    after += x[8 + c] * x[16 + c];
  }
  assert_true(fabs(before) > 0.5 && fabs(after - before) < 1e-13);
}

/* FlashAttention-3's table 3 (arXiv 2407.08608), each row within a factor of 1.5, and what it says: a rotation brings
 * the error of FP8 down, scales of blocks hardly do. */
TEST(the_printed_errors_of_fp8_come_out) {
  static const double PRINTED[QUANTISED_ROWS] = {3.2e-4, 1.9e-4, 2.4e-2, 9.1e-3, 9.3e-3, 2.4e-2};
  Accuracy errors[QUANTISED_ROWS] = {0};
  double rmse[QUANTISED_ROWS];
  for (uint64_t seed = 1; seed <= 2; seed++)
    must(quantised_errors(&(QuantisedShape){2048, 128, 64}, seed, errors, NULL));
  for (int k = 0; k < QUANTISED_ROWS; k++) {
    rmse[k] = accuracy_rmse(&errors[k]);
    assert_int_equal(errors[k].n, 2 * 64 * 128);
    assert_true(QUANTISED_TABLE[k].printed_rmse == PRINTED[k]);
    assert_true(rmse[k] > PRINTED[k] / 1.5 && rmse[k] < PRINTED[k] * 1.5);
  }
  assert_true(rmse[1] < rmse[0]);
  assert_true(rmse[3] < 0.8 * rmse[2] && rmse[3] < 0.8 * rmse[5]);
  assert_near(rmse[4] / rmse[3], 1, 0.25);
}
