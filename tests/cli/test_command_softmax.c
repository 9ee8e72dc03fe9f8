/* tilewalk softmax: the weights are those of P as it is stored, and what is not finite is said. */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

static ProgramRun run;

static json_t *run_json(const char *arguments) {
  program_run(&run, arguments);
  assert_int_equal(run.exit_status, 0);
  json_t *json = json_loads(run.out, 0, NULL);
  assert_non_null(json);
  return json;
}

static json_t *at(json_t *json, const char *key, size_t k) { return json_array_get(json_object_get(json, key), k); }

/* e^20 = 4.85e8 is above fp16's 65504, so P is infinite; l, in fp32, is not. The weight is infinite and not 1. */
TEST(an_infinite_P_gives_an_infinite_weight) {
  json_t *json = run_json("softmax --scores 1,20,3 --precision fp16 --no-max --json");
  assert_string_equal(json_string_value(at(json, "weights", 1)), "inf");
  assert_true(fabs(json_real_value(at(json, "weights", 0)) - exp(1 - 20)) < 1e-3 * exp(1 - 20));
  assert_int_equal(json_integer_value(json_object_get(json, "n_infinite")), 1);
  assert_int_equal(json_integer_value(json_object_get(json, "n_nan")), 0);
  json_decref(json);
  program_run(&run, "softmax --scores 1,20,3 --precision fp16 --no-max");
  assert_non_null(strstr(run.out, "1 of 3 exponentials exceed fp16, stored as infinity"));
  assert_non_null(strstr(run.out, "1 of 3 weights are infinite, 0 are NaN"));
}

/* Above 88.72 fp32 overflows as well: infinity over infinity is NaN, and JSON tells the two apart. */
TEST(infinity_over_infinity_is_not_a_number) {
  json_t *json = run_json("softmax --scores 80,100 --no-max --json");
  assert_string_equal(json_string_value(at(json, "weights", 1)), "nan");
  assert_string_equal(json_string_value(json_object_get(at(json, "blocks", 0), "l")), "inf");
  assert_int_equal(json_integer_value(json_object_get(json, "n_nan")), 1);
  json_decref(json);
}

/* fp8 has no infinity: e^10 is stored as 448, over l = e^10 + e. */
TEST(fp8_saturates_and_says_so) {
  json_t *json = run_json("softmax --scores 1,10 --precision fp8 --no-max --json");
  const double l = exp(10) + exp(1);
  assert_true(fabs(json_real_value(at(json, "weights", 1)) - 448 / l) < 1e-6 * 448 / l);
  assert_int_equal(json_integer_value(json_object_get(json, "n_saturated")), 1);
  json_decref(json);
  program_run(&run, "softmax --scores 1,10 --precision fp8 --no-max");
  assert_non_null(strstr(run.out, "the weights do not add up to 1"));
}

/* The error is of the whole: e4m3 has 3 bits of fraction, so e^-0.3 = 0.7408 is stored as 0.75, and the weight is
 * 0.75 / (1 + e^-0.3), 1.2 % too large. Rounding alone, of the result, would leave it within half an ulp. */
TEST(the_error_is_of_the_whole_computation) {
  json_t *json = run_json("softmax --scores -0.3,0 --precision fp8 --json");
  const double l = 1 + exp(-0.3);
  assert_true(fabs(json_real_value(at(json, "weights", 0)) - 0.75 / l) < 1e-6);
  assert_true(fabs(json_real_value(at(json, "weights", 1)) - 1 / l) < 1e-6);
  const double right = (0.75 - exp(-0.3)) / l;
  assert_true(fabs(json_real_value(json_object_get(json, "rmse")) - right / sqrt(2)) < 1e-6);
  json_decref(json);
}

/* A later block with a larger maximum rescales the P that is stored; weights stay at or below 1. */
TEST(stored_weights_are_rescaled) {
  json_t *json = run_json("softmax --scores 0.1,2.7 --block 1 --precision fp16 --json");
  const double factor =
      exp((double)(float)0.1 - (double)(float)2.7); /* P of the first block is 1, whatever its score */
  assert_true(fabs(json_real_value(at(json, "weights", 0)) - factor / (1 + factor)) < 1e-6);
  assert_true(json_real_value(at(json, "weights", 1)) <= 1);
  json_decref(json);
}

static int64_t sum_of(json_t *counts) {
  int64_t sum = 0;
  for (size_t k = 0; k < json_array_size(counts); k++) sum += json_integer_value(json_array_get(counts, k));
  return sum;
}

/* 128 rows of 32 blocks: H_32 - 1 = 3.0585 rescales a row, 391.5 in all with a standard deviation of 17.6.
 * FlashAttention-4's eight powers of two are 5.5 standard deviations of such scores: no block is that far above the
 * first one's maximum. */
TEST(rows_that_rescale) {
  json_t *json = run_json("softmax --normal 4096 --block 128 --rescale-above 8 --json"),
         *rescales = json_object_get(json, "rescales");
  const int64_t rows = sum_of(json_object_get(rescales, "rows_at"));
  assert_true(rows > 391.5 - 3 * 17.6 && rows < 391.5 + 3 * 17.6);
  assert_int_equal(sum_of(json_object_get(rescales, "lagging_rows_at")), 0);
  program_run(&run, "softmax --normal 4096 --block 128 --rescale-above 8");
  assert_non_null(strstr(run.out, "m may lag         0 of 3968, and in 0 of 124 warps"));
  json_decref(json);
}

/* 2^(4 / ln 2) = e^4 = 54.6 stays below 2^8, so the second block adds e^4 under the first one's m. */
TEST(an_m_that_lags) {
  json_t *json = run_json("softmax --scores 1,5 --block 1 --rescale-above 8 --json"), *second = at(json, "blocks", 1);
  assert_true(json_number_value(json_object_get(second, "m")) == 1);
  assert_true(fabs(json_real_value(json_object_get(second, "l")) - (1 + exp(4))) < 1e-5);
  assert_true(fabs(json_real_value(at(json, "weights", 1)) - exp(4) / (1 + exp(4))) < 1e-6);
  json_decref(json);
  program_run(&run, "softmax --scores 1,5 --rescale-above 0");
  assert_int_equal(run.exit_status, 2);
  program_run(&run, "softmax --normal 8 --scores 1,5");
  assert_int_equal(run.exit_status, 2);
}

/* One draw, as the unit test's; and the table takes no other option. */
TEST(errors_of_fp8_stand_beside_the_printed_ones) {
  json_t *json = run_json("softmax --errors 512 --json");
  assert_int_equal(json_array_size(json_object_get(json, "errors")), 6);
  json_t *fa3 = at(json, "errors", 3);
  assert_string_equal(json_string_value(json_object_get(fa3, "name")), "fp8, FlashAttention-3");
  assert_true(json_real_value(json_object_get(fa3, "printed_rmse")) == 9.1e-3);
  const double rmse = json_real_value(json_object_get(fa3, "rmse"));
  assert_true(fabs(json_real_value(json_object_get(fa3, "off")) - (rmse - 9.1e-3) / 9.1e-3) < 1e-12);
  assert_true(rmse > 2e-3 && rmse < json_real_value(json_object_get(at(json, "errors", 5), "rmse")));
  json_decref(json);
  program_run(&run, "softmax --errors 512 --block 4");
  assert_int_equal(run.exit_status, 2);
  program_run(&run, "softmax --example --seeds 2");
  assert_int_equal(run.exit_status, 2);
}
