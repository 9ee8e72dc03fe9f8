/* chart.h, chart_place.h, chart_draw.h: legible whatever the data are. What is drawn is judged by
 * its text: where each piece lies and how large it is, not by pixels. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/alloc_fail.h"
#include "tests/support/drawing.h"
#include "tests/support/rand.h"
#include "tests/support/canvas.h"
#include "viz/chart/bars_draw.h"
#include "viz/chart/chart_layout.h"

/* ---- places ---- */

static double displacement(const double *y, const double *wish, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (y[i] - wish[i]) * (y[i] - wish[i]);
  return sum;
}

/* Apart, inside, in order, and no worse than what random feasible moves reach. */
TEST(test_column_is_best) {
  Rand rand = {11};
  for (int round = 0; round < 300; round++) {
    int n = (int)rand_in(&rand, 1, 8);
    double wish[8], y[8];
    for (int i = 0; i < n; i++) wish[i] = y[i] = (double)rand_in(&rand, -20, 220);
    place_column(y, n, 20, 0, 200);
    for (int i = 0; i < n; i++) {
      assert_true(y[i] > 10 - 1e-6 && y[i] < 190 + 1e-6);
      for (int k = 0; k < n; k++) {
        if (k != i) assert_true(fabs(y[i] - y[k]) > 20 - 1e-6);
        if (wish[i] < wish[k]) assert_true(y[i] < y[k]);
      }
    }
    double best = displacement(y, wish, n);
    for (int trial = 0; trial < 200; trial++) {
      double moved[8];
      int feasible = 1;
      for (int i = 0; i < n; i++) moved[i] = y[i] + (double)rand_in(&rand, -30, 30) / 10;
      for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
          int apart = i == k || fabs(moved[i] - moved[k]) >= 20;
          feasible = feasible && apart && moved[i] >= 10 && moved[i] <= 190;
        }
      if (feasible) assert_true(displacement(moved, wish, n) >= best - 1e-6);
    }
  }
}

/* ---- scales over data ---- */

TEST(test_chart_scales) {
  Chart chart = chart_new(&(ChartConfig){.x = {.kind = VALUE_TOKENS, .log = true}, .y = {.kind = VALUE_BYTES}});
  chart_series(&chart, "a", INK_BLUE, SERIES_LINE);
  chart_point(&chart, 1024, 10);
  chart_point(&chart, 4096, 40);
  chart_point(&chart, -1, 1e9); /* no place on a logarithmic axis: it does not stretch the other one either */
  chart_point(&chart, 2048, NAN);
  Scale x = chart_x_scale(&chart, 0), y = chart_y_scale(&chart, 0);
  assert_true(fabs(x.low - 1024) < 1e-9 && fabs(x.high - 4096) < 1e-9);
  assert_true(y.low == 0 && y.high == 40);
  chart_horizontal(&chart, 60, "limit");
  assert_true(chart_y_scale(&chart, 0).high == 60);
  chart_free(&chart);
}

/* An axis that names its range gets exactly that. */
TEST(test_given_range) {
  Chart chart = chart_new(&(ChartConfig){.y = {.kind = VALUE_NUMBER, .low = 5, .high = 7}});
  Scale y = chart_y_scale(&chart, 0.1);
  assert_true(y.low == 5 && y.high == 7);
  chart_free(&chart);
}

TEST(test_too_many_series) {
  Chart chart = chart_new(&(ChartConfig){0});
  for (int i = 0; i <= CHART_SERIES_MAX; i++) chart_series(&chart, "s", INK_BLUE, SERIES_LINE);
  must_refuse(chart_check(&chart, fresh_error()), STATUS_TOO_LARGE, "12");
  chart_free(&chart);
}

/* An ink brings its cue along, wherever it comes in the order; two series never share one while any
 * is free. */
TEST(test_cues) {
  Chart first = chart_new(&(ChartConfig){0}), second = chart_new(&(ChartConfig){0});
  chart_series(&first, "standard", INK_NEUTRAL, SERIES_LINE);
  chart_series(&first, "fa2", INK_BLUE, SERIES_LINE);
  chart_series(&second, "fa2", INK_BLUE, SERIES_LINE);
  chart_series(&second, "bound", INK_NEUTRAL, SERIES_REFERENCE);
  chart_series(&second, "standard", INK_NEUTRAL, SERIES_LINE);
  chart_series(&second, "standard, counted", INK_NEUTRAL, SERIES_POINTS);
  assert_int_equal(first.series[1].cue, second.series[0].cue);
  assert_int_equal(first.series[0].cue, second.series[2].cue);
  assert_int_not_equal(second.series[2].cue, second.series[3].cue);
  for (int i = 4; i < CHART_SERIES_MAX; i++) chart_series(&second, "more", INK_NEUTRAL, SERIES_LINE);
  bool seen[N_CUES] = {false};
  for (int i = 0; i < second.n_series; i++) seen[second.series[i].cue] = true;
  for (int i = 0; i < N_CUES; i++) assert_true(seen[i]);
  chart_free(&first);
  chart_free(&second);
}

/* ---- drawings ---- */

static const double sizes[][2] = {{1280, 720}, {1920, 1080}, {3840, 2160}, {800, 600}, {1280, 500}};

static void draw_texts(DrawnTexts *drawn, const Chart *chart, const Bars *bars, const double *size) {
  cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, (int)size[0], (int)size[1]);
  drawn->n = 0;
  assert_true(letter_set_tap(cairo_get_target(cr), drawn_text_tap, drawn));
  if (chart) chart_draw(chart, cr, size[0], size[1], &theme_light);
  if (bars) bars_draw(bars, cr, size[0], size[1], &theme_dark);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
}

/* At least 1/50 of the height (of the smaller measure). */
static void expect_legible_at(const DrawnTexts *drawn, const double *size) {
  expect_legible(drawn, "a chart", fmin(size[0] / 1280, size[1] / 720) * 720 / 50, size[0], size[1]);
}

static double standard_bytes(double n, double d) { return 2 * (4 * n * n + 4 * n * d); }
static double fa2_bytes(double n, double d, double b) { return 2 * (2 * n * d + 2 * n * n * d / b); }

static Chart traffic_chart(bool log) {
  Chart chart = chart_new(&(ChartConfig){.title = "HBM traffic of one attention head",
                                         .subtitle = "What crosses between HBM and SRAM in one forward pass",
                                         .footer = "algorithm=standard,fa2 N=256..64K d=128 block=128",
                                         .x = {.title = "sequence length N (tokens)", .kind = VALUE_TOKENS, .log = log},
                                         .y = {.title = "traffic (bytes)", .kind = VALUE_BYTES, .log = log}});
  chart_series(&chart, "standard", INK_NEUTRAL, SERIES_LINE);
  for (double n = 256; n <= 65536; n *= 2) chart_point(&chart, n, standard_bytes(n, 128));
  chart_series(&chart, "FA-2", INK_BLUE, SERIES_LINE);
  for (double n = 256; n <= 65536; n *= 2) chart_point(&chart, n, fa2_bytes(n, 128, 128));
  chart_series(&chart, "lower bound", INK_NEUTRAL, SERIES_REFERENCE);
  for (double n = 256; n <= 65536; n *= 2) chart_point(&chart, n, standard_bytes(n, 128) / 40);
  chart_horizontal(&chart, standard_bytes(4096, 128), "132 MiB");
  return chart;
}

/* The words that a reader needs are all there, once. */
TEST(test_says_everything) {
  static DrawnTexts drawn;
  EACH (s, sizes)
    for (int log = 0; log < 2; log++) {
      Chart chart = traffic_chart(log != 0);
      draw_texts(&drawn, &chart, NULL, sizes[s]);
      static const char *const words[] = {"HBM traffic of one attention head",
                                          "sequence length N (tokens)",
                                          "traffic (bytes)",
                                          "standard",
                                          "FA-2",
                                          "lower bound",
                                          "132 MiB",
                                          "algorithm=standard,fa2 N=256..64K d=128 block=128",
                                          "64K"};
      EACH (i, words) assert_true(drawn_text_find(&drawn, words[i]));
      expect_legible_at(&drawn, sizes[s]);
      chart_free(&chart);
    }
}

/* A point lies where the scale says: a marker's place is found again from the plane. */
TEST(test_plane) {
  Chart chart = traffic_chart(true);
  cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, 1280, 720);
  cairo_surface_t *page = cairo_get_target(cr);
  ChartPlane plane = chart_lay_out(&chart, cr, 1280, 720, NULL).plane;
  assert_true(plane.x > 40 && plane.y > 40 && plane.x + plane.width < 1280 && plane.y + plane.height < 720);
  assert_true(plane.width > 700 && plane.height > 350); /* most of the page is chart */
  chart_draw(&chart, cr, 1280, 720, &theme_light);
  double x = plane.x + plane.width * scale_position(&plane.x_scale, 4096);
  double y = plane.y + plane.height * (1 - scale_position(&plane.y_scale, fa2_bytes(4096, 128, 128)));
  cairo_surface_flush(page);
  const uint32_t *pixels = (const uint32_t *)(const void *)cairo_image_surface_get_data(page);
  Colour mark = theme_light.series[INK_BLUE];
  assert_int_equal(pixels[(int)y * 1280 + (int)x] & 0xffffff, mark);
  cairo_destroy(cr);
  chart_free(&chart);
}

/* Words of a stretch lie on no line: neither on the bound at its foot nor on the series above. */
TEST(test_words_of_a_stretch_lie_on_no_line) {
  static DrawnTexts drawn;
  EACH (s, sizes)
    for (double slope = -1; slope <= 0; slope += 0.25) {
      Chart chart = chart_new(
          &(ChartConfig){.title = "Traffic", .x = {.title = "B", .log = true}, .y = {.title = "bytes", .log = true}});
      chart_series(&chart, "fa2", INK_BLUE, SERIES_LINE);
      for (double b = 16; b <= 256; b *= 2) chart_point(&chart, b, 1e8 * pow(b, slope));
      chart_series(&chart, "lower bound", INK_NEUTRAL, SERIES_REFERENCE);
      for (double b = 16; b <= 256; b *= 2) chart_point(&chart, b, 3e5);
      chart_shade(&chart, 148, 256, "does not fit in SRAM");
      draw_texts(&drawn, &chart, NULL, sizes[s]);
      const DrawnText *words = drawn_text_find(&drawn, "does not fit in SRAM");
      assert_non_null(words);
      cairo_t *cr = canvas(CAIRO_FORMAT_A8, 1, 1);
      const ChartPlane plane = chart_lay_out(&chart, cr, sizes[s][0], sizes[s][1], NULL).plane;
      for (double b = 16; b <= 256; b *= 1.01) {
        const double x = plane.x + plane.width * scale_position(&plane.x_scale, b);
        const double bytes[] = {3e5, 1e8 * pow(b, slope)};
        for (int k = 0; k < 2 && x >= words->left && x <= words->right; k++) {
          const double y = plane.y + plane.height * (1 - scale_position(&plane.y_scale, bytes[k]));
          if (y > words->top && y < words->bottom) fail_msg("slope %g: a line goes through the words", slope);
        }
      }
      cairo_destroy(cr);
      chart_free(&chart);
    }
}

static double random_value(Rand *rand, bool log) {
  double value = (double)rand_in(rand, 1, 1000000) * pow(10, (double)rand_in(rand, log ? -3 : 0, log ? 9 : 2));
  if (rand_in(rand, 0, 30) == 0) return NAN;
  if (rand_in(rand, 0, 30) == 0) return 0;
  return rand_in(rand, 0, 30) == 0 ? -value : value;
}

/* Any data in any kind of axis: texts stay apart and on the page. Marks may crowd, so there are
 * few. */
TEST(test_random_charts_are_legible) {
  static DrawnTexts drawn;
  Rand rand = {17};
  for (int round = 0; round < 150; round++) {
    ChartConfig config = {.title = "Random", .footer = "seed=17"};
    config.x = (ChartAxis){"x", (ValueKind)rand_in(&rand, 0, VALUE_NUMBER), rand_in(&rand, 0, 1) != 0, 0, 0};
    config.y = (ChartAxis){"y", (ValueKind)rand_in(&rand, 0, VALUE_NUMBER), rand_in(&rand, 0, 1) != 0, 0, 0};
    Chart chart = chart_new(&config);
    int n_series = (int)rand_in(&rand, 0, CHART_SERIES_MAX);
    static const char *const names[] = {"a",
                                        "standard attention",
                                        "FA-2",
                                        "lower bound",
                                        "fa2-split, 8 parts",
                                        "fa1 backward",
                                        "window of 4096",
                                        "causal",
                                        "counted",
                                        "model",
                                        "an unusually long name of a series",
                                        "last"};
    for (int s = 0; s < n_series; s++) {
      chart_series(&chart, names[s], INK_BLUE, (SeriesLook)rand_in(&rand, 0, 3));
      for (int64_t p = rand_in(&rand, 0, 12); p > 0; p--)
        chart_point(&chart, random_value(&rand, config.x.log), random_value(&rand, config.y.log));
    }
    if (rand_in(&rand, 0, 1)) chart_horizontal(&chart, 1000, "limit");
    if (rand_in(&rand, 0, 3) == 0) chart_horizontal(&chart, 2000, "level");
    if (rand_in(&rand, 0, 3) == 0) chart_shade(&chart, 10000, 1e7, "does not fit");
    const double *size = sizes[rand_in(&rand, 0, 4)];
    draw_texts(&drawn, &chart, NULL, size);
    expect_legible_at(&drawn, size);
    chart_free(&chart);
  }
}

TEST(test_random_bars_are_legible) {
  static DrawnTexts drawn;
  Rand rand = {19};
  for (int round = 0; round < 100; round++) {
    BarsConfig config = {.title = "Random", .footer = "seed=19", .n_series = 1};
    config.kind = (ValueKind)rand_in(&rand, 0, VALUE_NUMBER);
    Bars bars = bars_new(&config);
    int n = (int)rand_in(&rand, 0, 60);
    for (int r = 0; r < n; r++) {
      double values[BARS_SERIES_MAX];
      for (int s = 0; s < BARS_SERIES_MAX; s++) values[s] = random_value(&rand, false);
      const char *label = test_text("row %d", r);
      if (rand_in(&rand, 0, 7) == 0) bars_group(&bars, "group");
      bars_row(&bars, label, values, NULL);
    }
    const double *size = sizes[rand_in(&rand, 0, 4)];
    draw_texts(&drawn, NULL, &bars, size);
    expect_legible_at(&drawn, size);
    bars_free(&bars);
  }
}

/* What does not fit is said, not silently dropped. */
TEST(test_left_out_rows_are_counted) {
  static DrawnTexts drawn;
  Bars bars = bars_new(&(BarsConfig){.title = "Many"});
  for (int i = 0; i < 500; i++) bars_row(&bars, "row", (double[]){i}, NULL);
  draw_texts(&drawn, NULL, &bars, sizes[0]);
  int shown = 0;
  for (int i = 0; i < drawn.n; i++) shown += strcmp(drawn.items[i].text, "row") == 0;
  const char *expected = test_text("and %d more rows", 500 - shown);
  assert_true(shown > 20);
  assert_non_null(drawn_text_find(&drawn, expected));
  bars_free(&bars);
}

/* Sizes that leave no room at all must not crash or leave cairo in an error. */
TEST(test_tiny_drawings) {
  static DrawnTexts drawn;
  static const double tiny[][2] = {{1, 1}, {16, 16}, {100, 20}, {20, 100}};
  for (int i = 0; i < 4; i++) {
    Chart chart = traffic_chart(true);
    draw_texts(&drawn, &chart, NULL, tiny[i]);
    chart_free(&chart);
    Bars bars = bars_new(&(BarsConfig){.title = "t", .n_series = 2, .series = {"a", "b"}});
    bars_row(&bars, "row", (double[]){1, 2}, NULL);
    draw_texts(&drawn, NULL, &bars, tiny[i]);
    bars_free(&bars);
  }
}

static Status build(void *context, Error *error) {
  (void)context;
  Chart chart = traffic_chart(true);
  Status status = chart_check(&chart, error);
  chart_free(&chart);
  return status;
}

TEST(test_out_of_memory) { assert_true(alloc_fail_each(build, NULL) >= 3); }
