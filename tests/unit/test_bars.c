/* bars.h: lengths, fills and labels of terminal bar charts. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/capture.h"
#include "tests/support/rand.h"
#include "viz/chart/bars.h"

static const TextStyle ascii = {.width = 40};
static const TextStyle unicode = {.utf8 = true, .width = 40};
static const double MIB = 1048576;

static void expect(const Bars *bars, const TextStyle *style, const char *expected) {
  Capture capture;
  capture_open(&capture);
  must(bars_print(bars, capture.out, style, fresh_error()));
  capture_is(&capture, expected);
}

static Bars stacked(void) {
  Bars bars = bars_new(&(BarsConfig){.title = "Traffic", .n_series = 2, .series = {"read", "write"}});
  bars_group(&bars, "standard");
  bars_row(&bars, "S", (double[]){32 * MIB, 32 * MIB}, NULL);
  bars_row(&bars, "K", (double[]){1 * MIB, 0}, NULL);
  bars_row(&bars, "O", (double[]){0, 16 * MIB}, "written once");
  return bars;
}

/* Width 40: 2 indent + 1 label + 12 for "written once" + 4 leave a bar of 21 columns for 64 MiB. */
TEST(test_stacked) {
  Bars bars = stacked();
  expect(&bars, &ascii,
         "Traffic\n"
         "standard\n"
         "  S ###########========== 64 MiB\n"
         "  K # 1 MiB\n"
         "  O ===== written once\n"
         "    ## read   == write\n");
  bars_free(&bars);
}

/* 40 - 2 - 1 - 4 - 4 = 29 columns = 232 eighths. A half is 14.5 columns: 14 blocks and a half
 * block. */
TEST(test_eighths) {
  Bars bars = bars_new(&(BarsConfig){.kind = VALUE_COUNT});
  bars_row(&bars, "a", (double[]){1000}, "full");
  bars_row(&bars, "b", (double[]){500}, NULL);
  bars_row(&bars, "c", (double[]){1}, NULL); /* never nothing */
  bars_row(&bars, "d", (double[]){0}, NULL);
  expect(&bars, &unicode,
         "  a █████████████████████████████ full\n"
         "  b ██████████████▌ 500\n"
         "  c ▏ 1\n"
         "  d 0\n");
  bars_free(&bars);
}

/* Whatever the values are: lines stay in the width, and stacked segments add up to the bar of the
 * sum within a column. */
TEST(test_random_bars_fit) {
  Rand rand = {5};
  for (int round = 0; round < 500; round++) {
    BarsConfig config = {.n_series = (int)rand_in(&rand, 1, BARS_SERIES_MAX),
                         .kind = (ValueKind)rand_in(&rand, 0, VALUE_NUMBER)};
    for (int i = 0; i < config.n_series; i++) config.series[i] = "s";
    Bars bars = bars_new(&config);
    for (int64_t r = rand_in(&rand, 0, 5); r > 0; r--) {
      double values[BARS_SERIES_MAX];
      for (int i = 0; i < BARS_SERIES_MAX; i++)
        values[i] = pow(10, (double)rand_in(&rand, -3, 20)) * (double)rand_in(&rand, -1, 9);
      if (rand_in(&rand, 0, 20) == 0) values[0] = NAN;
      if (rand_in(&rand, 0, 20) == 0) values[1] = INFINITY;
      bars_row(&bars, "label", values, NULL);
    }
    TextStyle style = {.utf8 = rand_in(&rand, 0, 1) != 0, .width = (int)rand_in(&rand, 60, 120)};
    Capture capture;
    capture_open(&capture);
    must(bars_print(&bars, capture.out, &style, NULL));
    capture_fits(&capture, &style);
    bars_free(&bars);
  }
}

static Status build_and_print(void *context, Error *error) {
  Bars bars = stacked();
  for (int i = 0; i < 40; i++) bars_row(&bars, "another", (double[]){i, i}, NULL);
  Status status = bars_print(&bars, context, &ascii, error);
  bars_free(&bars);
  return status;
}

TEST(test_out_of_memory) { printing_may_fail(build_and_print, 3); }
