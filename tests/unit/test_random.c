/* The generator against its authors' known answers, and the distributions against their moments. */
#include "tests/support/test.h"
#include "sim/base/random.h"

/* Known answers published with the Random123 library for philox4x32 with ten rounds. */
TEST(philox_gives_the_known_answers) {
  const uint32_t all = 0xffffffff;
  const struct {
    RandomBlock counter;
    uint32_t key0, key1;
    RandomBlock answer;
  } cases[] = {
      {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{all, all, all, all}}, all, all, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       0xa4093822,
       0x299f31d0,
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (int i = 0; i < 3; i++) {
    RandomBlock block = random_philox(cases[i].counter, cases[i].key0, cases[i].key1);
    assert_memory_equal(&block, &cases[i].answer, sizeof block);
  }
}

/* Seed, stream and index all matter, in their upper halves too. */
TEST(each_coordinate_changes_the_number) {
  const uint64_t far = UINT64_C(1) << 40;
  const uint64_t numbers[] = {random_bits(1, 2, 3),      random_bits(2, 2, 3),       random_bits(1, 3, 3),
                              random_bits(1, 2, 4),      random_bits(1 + far, 2, 3), random_bits(1, 2 + far, 3),
                              random_bits(1, 2, 3 + far)};
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < i; j++) assert_true(numbers[i] != numbers[j]);
  assert_true(numbers[0] == random_bits(1, 2, 3));
}

TEST(uniform_is_even_and_never_touches_the_ends) {
  enum { N = 200000, N_BINS = 20 };
  int n_in_bin[N_BINS] = {0};
  for (uint64_t i = 0; i < N; i++) {
    double value = random_uniform(7, 0, i);
    assert_true(value > 0 && value < 1);
    n_in_bin[(int)(value * N_BINS)]++;
  }
  double chi_squared = 0, expected = (double)N / N_BINS;
  for (int bin = 0; bin < N_BINS; bin++)
    chi_squared += (n_in_bin[bin] - expected) * (n_in_bin[bin] - expected) / expected;
  assert_true(chi_squared < 43.8); /* 0.1 % of fair generators exceed this at 19 degrees of freedom */
}

TEST(between_stays_in_range_and_reaches_both_ends) {
  int n_seen[7] = {0};
  for (uint64_t i = 0; i < 1000; i++) {
    int64_t value = random_between(3, 1, i, -3, 3);
    assert_in_range((uintmax_t)(value + 3), 0, 6);
    n_seen[value + 3]++;
  }
  for (int i = 0; i < 7; i++) assert_true(n_seen[i] > 80);
  assert_true(random_between(3, 1, 0, 5, 5) == 5);
  assert_true(random_between(3, 1, 0, INT64_MAX, INT64_MAX) == INT64_MAX);
  int n_negative = 0;
  for (uint64_t i = 0; i < 100; i++) n_negative += random_between(3, 1, i, INT64_MIN, INT64_MAX) < 0;
  assert_in_range(n_negative, 30, 70);
}

/* Mean 0, variance 1, kurtosis 3, and the share beyond two standard deviations. */
TEST(normal_has_its_moments) {
  enum { N = 400000 };
  double sum = 0, sum2 = 0, sum4 = 0;
  int n_beyond_two = 0;
  for (uint64_t i = 0; i < N; i++) {
    double value = random_normal(11, 0, i);
    sum += value;
    sum2 += value * value;
    sum4 += value * value * value * value;
    n_beyond_two += fabs(value) > 2;
  }
  assert_true(fabs(sum / N) < 0.006); /* five standard errors are 0.008 */
  assert_near(sum2 / N, 1, 0.01);
  assert_near(sum4 / N, 3, 0.08);
  assert_near((double)n_beyond_two / N, 0.0455, 0.002);
}

/* What is added to the normal: to one number in a thousand, with a standard deviation of 10. */
TEST(outliers_are_one_in_a_thousand_and_ten_times_as_wide) {
  enum { N = 2000000 };
  double sum = 0, sum2 = 0;
  int n_outliers = 0;
  for (uint64_t i = 0; i < N; i++) {
    double added = random_outlier(11, 0, i) - random_normal(11, 0, i);
    n_outliers += added != 0;
    sum += added;
    sum2 += added * added;
  }
  assert_in_range(n_outliers, 1800, 2200); /* standard deviation 45 */
  assert_true(fabs(sum / n_outliers) < 1);
  assert_near(sqrt(sum2 / n_outliers), 10, 0.6); /* standard deviation 0.16 */
}
