/* ticks.h: round values, never too many, inside the scale. */
#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "viz/chart/ticks.h"

/* The labels of the ticks, with spaces between them. */
static const char *labels(const Scale *scale, int most) {
  static char text[TICKS_MAX * NUMBER_CHARS];
  Ticks ticks = ticks_on(scale, most);
  text[0] = '\0';
  for (int i = 0; i < ticks.n; i++) {
    if (i > 0) strcat(text, ", ");
    strcat(text, value_tick_text(scale->kind, ticks.values[i]).text);
  }
  return text;
}

TEST(test_logarithmic) {
  const double kib = 1024, mib = kib * 1024, gib = mib * 1024;
  Scale tokens = {VALUE_TOKENS, true, 1024, 65536};
  assert_string_equal(labels(&tokens, 8), "1K, 2K, 4K, 8K, 16K, 32K, 64K");
  assert_string_equal(labels(&tokens, 6), "1K, 4K, 16K, 64K");
  Scale bytes = {VALUE_BYTES, true, 0.7 * mib, 33 * gib};
  assert_string_equal(labels(&bytes, 5), "1 MiB, 32 MiB, 1 GiB, 32 GiB");
  assert_string_equal(labels(&bytes, 9), "1 MiB, 4 MiB, 16 MiB, 64 MiB, 256 MiB, 1 GiB, 4 GiB, 16 GiB");
  assert_string_equal(labels(&bytes, 3), "1 MiB, 1 GiB");
  Scale numbers = {VALUE_NUMBER, true, 1, 1000};
  assert_string_equal(labels(&numbers, 12), "1, 2, 5, 10, 20, 50, 100, 200, 500, 1,000");
  assert_string_equal(labels(&numbers, 6), "1, 10, 100, 1,000");
  Scale narrow = {VALUE_NUMBER, true, 11, 14}; /* no power inside: as on a linear axis */
  assert_string_equal(labels(&narrow, 5), "11, 12, 13, 14");
}

TEST(test_linear) {
  const double mib = 1024 * 1024;
  Scale bytes = {VALUE_BYTES, false, 0, 132 * mib};
  assert_string_equal(labels(&bytes, 6), "0 B, 32 MiB, 64 MiB, 96 MiB, 128 MiB");
  Scale numbers = {VALUE_NUMBER, false, 0, 1};
  assert_string_equal(labels(&numbers, 6), "0, 0.2, 0.4, 0.6, 0.8, 1");
  Scale negative = {VALUE_NUMBER, false, -3, 3};
  assert_string_equal(labels(&negative, 4), "-2, 0, 2");
  Scale seconds = {VALUE_SECONDS, false, 0, 0.005};
  assert_string_equal(labels(&seconds, 6), "0 s, 1 ms, 2 ms, 3 ms, 4 ms, 5 ms");
  Scale small_tokens = {VALUE_TOKENS, false, 0, 3}; /* no half tokens */
  assert_string_equal(labels(&small_tokens, 12), "0, 1, 2, 3");
}

TEST(test_scale) {
  Scale linear = scale_over(VALUE_BYTES, false, 30, 100, 0.1);
  assert_true(linear.low == 0 && fabs(linear.high - 110) < 1e-9); /* lengths start at zero */
  Scale signed_values = scale_over(VALUE_NUMBER, false, -1, 1, 0.5);
  assert_true(signed_values.low == -2 && signed_values.high == 2);
  Scale log_scale = scale_over(VALUE_BYTES, true, 1, 100, 0.5);
  assert_true(fabs(log_scale.low - 0.1) < 1e-9 && fabs(log_scale.high - 1000) < 1e-6);
  assert_true(fabs(scale_position(&log_scale, 10) - 0.5) < 1e-12);
  assert_true(fabs(scale_position(&linear, 55) - 0.5) < 1e-12);
}

/* One value, none, or nonsense still makes a scale. */
TEST(test_degenerate_scales) {
  const double values[][2] = {{5, 5}, {0, 0}, {-5, -5}, {INFINITY, -INFINITY}, {NAN, NAN}, {3, 1}, {-7, 0}};
  EACH (i, values)
    for (int log = 0; log < 2; log++) {
      Scale scale = scale_over(VALUE_NUMBER, log != 0, values[i][0], values[i][1], 0.05);
      assert_true(isfinite(scale.low) && isfinite(scale.high) && scale.low < scale.high);
      if (log) assert_true(scale.low > 0);
      assert_true(ticks_on(&scale, 8).n >= 1);
    }
}

/* At any scale: rising, inside, at most as many as asked, and evenly spaced on the axis (1-2-5
 * ticks nearly so). */
TEST(test_random_scales) {
  Rand rand = {23};
  for (int round = 0; round < 20000; round++) {
    double low = pow(10, (double)rand_in(&rand, -60, 150) / 10);
    double high = low * (1 + pow(10, (double)rand_in(&rand, -20, 80) / 10));
    ValueKind kind = (ValueKind)rand_in(&rand, 0, VALUE_NUMBER);
    bool log = rand_in(&rand, 0, 1) != 0;
    Scale scale = scale_over(kind, log, low, high, 0.03);
    int most = (int)rand_in(&rand, 2, TICKS_MAX);
    Ticks ticks = ticks_on(&scale, most);
    assert_true(ticks.n <= most);
    double least = INFINITY, largest = 0;
    for (int i = 0; i < ticks.n; i++) {
      double place = scale_position(&scale, ticks.values[i]);
      assert_true(place > -1e-6 && place < 1 + 1e-6);
      if (i == 0) continue;
      double step = place - scale_position(&scale, ticks.values[i - 1]);
      assert_true(step > 0);
      least = fmin(least, step);
      largest = fmax(largest, step);
    }
    if (ticks.n > 2 && !log) assert_true(largest < 1.001 * least);
  }
}

/* A count's label has no decimals, so its ticks are whole: what is read is where it stands. */
TEST(test_counts_are_whole) {
  for (int high = 1; high <= 400; high++)
    for (int most = 2; most <= 9; most++) {
      const Scale counts = {VALUE_COUNT, false, 0, high};
      const Ticks ticks = ticks_on(&counts, most);
      for (int k = 0; k < ticks.n; k++)
        assert_true(atof(value_tick_text(VALUE_COUNT, ticks.values[k]).text) == ticks.values[k]);
      assert_true(ticks.n >= 1 && ticks.n <= most);
    }
}
