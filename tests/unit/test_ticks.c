/* ticks.h: round values, never too many, inside the scale. */
#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "viz/chart/ticks.h"

/* The kind of an axis, logarithmic or linear, its ends, most labels => the labels of its ticks. */
static const char *const LABELS[] = {
    "tokens log 1024 65536 8 => 1K, 2K, 4K, 8K, 16K, 32K, 64K",
    "tokens log 1024 65536 6 => 1K, 4K, 16K, 64K",
    "bytes log 734003.2 35433480192 5 => 1 MiB, 32 MiB, 1 GiB, 32 GiB",
    "bytes log 734003.2 35433480192 9 => 1 MiB, 4 MiB, 16 MiB, 64 MiB, 256 MiB, 1 GiB, 4 GiB, 16 GiB",
    "bytes log 734003.2 35433480192 3 => 1 MiB, 1 GiB",
    "number log 1 1000 12 => 1, 2, 5, 10, 20, 50, 100, 200, 500, 1,000",
    "number log 1 1000 6 => 1, 10, 100, 1,000",
    "number log 11 14 5 => 11, 12, 13, 14", /* no power inside: as on a linear axis */
    "bytes lin 0 138412032 6 => 0 B, 32 MiB, 64 MiB, 96 MiB, 128 MiB",
    "number lin 0 1 6 => 0, 0.2, 0.4, 0.6, 0.8, 1",
    "number lin -3 3 4 => -2, 0, 2",
    "seconds lin 0 0.005 6 => 0 s, 1 ms, 2 ms, 3 ms, 4 ms, 5 ms",
    "tokens lin 0 3 12 => 0, 1, 2, 3", /* no half tokens */
};

TEST(test_labels) {
  EACH_SAYS (row, LABELS) {
    char kind[16], law[16], text[TICKS_MAX * NUMBER_CHARS] = "";
    int most;
    Scale scale = {VALUE_NUMBER, false, 0, 0};
    assert_int_equal(sscanf(row.text, "%15s %15s %lf %lf %d", kind, law, &scale.low, &scale.high, &most), 5);
    scale.kind = *kind == 't' ? VALUE_TOKENS : *kind == 'b' ? VALUE_BYTES : *kind == 's' ? VALUE_SECONDS : VALUE_NUMBER;
    scale.log = strcmp(law, "log") == 0;
    const Ticks ticks = ticks_on(&scale, most);
    for (int i = 0; i < ticks.n; i++)
      strcat(strcat(text, i ? ", " : ""), value_tick_text(scale.kind, ticks.values[i]).text);
    assert_string_equal(text, row.says);
  }
}

TEST(test_scale) {
  Scale linear = scale_over(VALUE_BYTES, false, 30, 100, 0.1);
  assert_true(linear.low == 0 && fabs(linear.high - 110) < 1e-9); /* lengths start at zero */
  Scale signed_values = scale_over(VALUE_NUMBER, false, -1, 1, 0.5);
  assert_true(signed_values.low == -2 && signed_values.high == 2);
  Scale log_scale = scale_over(VALUE_BYTES, true, 1, 100, 0.5);
  assert_true(fabs(log_scale.low - 0.1) < 1e-9 && fabs(log_scale.high - 1000) < 1e-6);
  assert_near(scale_position(&log_scale, 10), 0.5, 1e-12);
  assert_near(scale_position(&linear, 55), 0.5, 1e-12);
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
