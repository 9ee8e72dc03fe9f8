/* plot.h: charts in the terminal. Small expected charts are drawn by hand. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/capture.h"
#include "tests/support/rand.h"
#include "viz/chart/plot.h"

static const TextStyle ascii = {.width = 30};

static void expect(const Chart *chart, const TextStyle *style, int rows, const char *expected) {
  Capture capture;
  capture_open(&capture);
  must(plot_print(chart, capture.out, style, rows, NULL));
  capture_is(&capture, expected);
}

/* Both axes are given, so that places can be counted. At a width of 30 labels take 2 columns and
 * the axis 2: 26 columns are left, 52 dots that stand for 0 to 25.5, so x lies at column x. Six rows are 24 dots for
 * 0 to 11.5: y = 10 lies on the first row, 5 on the fourth, 0 on the last. */
static Chart small(SeriesLook look) {
  Chart chart = chart_new(&(ChartConfig){.title = "Title",
                                         .x = {.title = "x", .kind = VALUE_NUMBER, .low = 0, .high = 25.5},
                                         .y = {.title = "y", .kind = VALUE_NUMBER, .low = 0, .high = 11.5}});
  chart_series(&chart, "s", INK_BLUE, look);
  chart_point(&chart, 0, 0);
  chart_point(&chart, 10, 10);
  chart_point(&chart, 20, 10);
  return chart;
}

TEST(test_points) {
  Chart chart = small(SERIES_POINTS);
  chart_point(&chart, 15, 5);
  chart_horizontal(&chart, 5, "half");
  expect(&chart, &ascii, 6,
         "Title\n"
         "y\n"
         "10 +          *         *\n"
         "   |\n"
         "   |\n"
         "   |:::::::::::::::*::::::::::\n"
         "   |\n"
         " 0 +*\n"
         "   ++----+----+----+----+----+\n"
         "    0    5   10   15   20   25\n"
         "                x\n"
         "* s\n"
         "y = 5.000: half\n");
  chart_free(&chart);
}

/* One dot in each corner of a braille cell: U+2801, U+2808, U+2840, U+2880 (dots 1, 4, 7, 8). */
TEST(test_braille) {
  const struct {
    double x, y;
    const char *cell;
  } corners[] = {{0, 1, "\xe2\xa0\x81"}, {1, 1, "\xe2\xa0\x88"}, {0, 0, "\xe2\xa1\x80"}, {1, 0, "\xe2\xa2\x80"}};
  for (int i = 0; i < 4; i++) {
    /* 24 columns: 48 dots across 0..47, and 6 rows: 24 dots down 23..0. */
    Chart chart = chart_new(&(ChartConfig){.x = {.kind = VALUE_NUMBER, .low = 0, .high = 47},
                                           .y = {.kind = VALUE_NUMBER, .low = 0, .high = 23}});
    chart_series(&chart, "", INK_BLUE, SERIES_REFERENCE);
    double x = corners[i].x, y = 20 + 2 * corners[i].y + corners[i].y;
    chart_point(&chart, x, y);
    chart_point(&chart, x, y);
    Capture capture;
    capture_open(&capture);
    TextStyle style = {.utf8 = true, .width = 24 + 2 + 2};
    must(plot_print(&chart, capture.out, &style, 6, NULL));
    const char *axis = strpbrk(capture_text(&capture), "\xe2");
    assert_non_null(axis);
    assert_true(strncmp(axis + 3, corners[i].cell, 3) == 0);
    capture_close(&capture);
    chart_free(&chart);
  }
}

/* Names stand below, each with its marker. */
TEST(test_names_stand_below) {
  Chart chart = small(SERIES_LINE);
  chart_series(&chart, "a series with a name", INK_BLUE, SERIES_LINE);
  chart_point(&chart, 3, 3);
  Capture capture;
  capture_open(&capture);
  must(plot_print(&chart, capture.out, &ascii, 6, NULL));
  assert_non_null(strstr(capture_text(&capture), "\n* s   # a series with a name\n"));
  capture_close(&capture);
  chart_free(&chart);
}

/* Any data: no line is wider than the style, and nothing is written outside the plane (the
 * sanitizer watches). */
TEST(test_random_plots_fit) {
  Rand rand = {29};
  for (int round = 0; round < 400; round++) {
    ChartConfig config = {.title = "Random"};
    config.x = (ChartAxis){"x", (ValueKind)rand_in(&rand, 0, VALUE_NUMBER), rand_in(&rand, 0, 1) != 0, 0, 0};
    config.y = (ChartAxis){"y", (ValueKind)rand_in(&rand, 0, VALUE_NUMBER), rand_in(&rand, 0, 1) != 0, 0, 0};
    if (rand_in(&rand, 0, 3) == 0) config.x.low = 10, config.x.high = 1000;
    Chart chart = chart_new(&config);
    for (int64_t s = rand_in(&rand, 0, CHART_SERIES_MAX); s > 0; s--) {
      chart_series(&chart, s % 2 ? "series" : "another one", INK_BLUE, (SeriesLook)rand_in(&rand, 0, 2));
      for (int64_t p = rand_in(&rand, 0, 20); p > 0; p--) {
        double x = pow(10, (double)rand_in(&rand, -40, 120) / 10), y = pow(10, (double)rand_in(&rand, -300, 300) / 10);
        chart_point(&chart, rand_in(&rand, 0, 9) ? x : -x, rand_in(&rand, 0, 9) ? y : NAN);
      }
    }
    chart_horizontal(&chart, 100, "level");
    chart_shade(&chart, 10, 1e9, "shade");
    TextStyle style = {.utf8 = rand_in(&rand, 0, 1) != 0, .width = (int)rand_in(&rand, 40, 120)};
    Capture capture;
    capture_open(&capture);
    must(plot_print(&chart, capture.out, &style, (int)rand_in(&rand, 0, 40), NULL));
    capture_fits(&capture, &style);
    chart_free(&chart);
  }
}

static Status build_and_print(void *context, Error *error) {
  Chart chart = small(SERIES_LINE);
  for (int i = 0; i < 100; i++) chart_point(&chart, i, i);
  chart_horizontal(&chart, 1, "level");
  Status status = plot_print(&chart, context, &ascii, 6, error);
  chart_free(&chart);
  return status;
}

TEST(test_out_of_memory) { printing_may_fail(build_and_print, 4); }
