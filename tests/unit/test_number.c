/* number.h: what people read. Expected texts are worked out by hand from the rules in the header.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "viz/text/number.h"
#include "viz/chart/value.h"

#include <locale.h>

static const Wide KIB = 1024, MIB = 1024 * 1024;
static const Wide GIB = 1024 * 1024 * 1024;
#define WIDE_MAX (~(Wide)0)

TEST(test_bytes) {
  const struct {
    Wide bytes;
    const char *text;
  } rows[] = {
      {0, "0 B"},
      {1, "1 B"},
      {1023, "1023 B"},
      {1024, "1 KiB"},
      {1536, "1.5 KiB"},
      {1025, "1.001 KiB"},  /* 1.00098: rounded up, not exact */
      {10239, "9.999 KiB"}, /* 9.99902 */
      {10240, "10 KiB"},
      {MIB - 1, "1.000 MiB"},   /* 1023.999 KiB rounds to the next unit, and is not exact */
      {MIB - 512, "1.000 MiB"}, /* 1023.5 KiB: halves go up, and 1024 KiB is never seen */
      {MIB - 513, "1023 KiB"},
      {132 * MIB, "132 MiB"},
      {132 * MIB + 1, "132.0 MiB"},
      {138412032, "132 MiB"},
      {1023 * MIB, "1023 MiB"},
      {10 * MIB - 1, "10.00 MiB"}, /* 9.99999 gains a digit in front and loses one behind */
      {100 * KIB - 1, "100.0 KiB"},
      {1669 * MIB, "1.630 GiB"}, /* 1.6298828 */
      {1000 * GIB - 1, "1000 GiB"},
      {(Wide)1 << 72, "4 ZiB"},              /* 2^72 = 4 * 2^70 */
      {WIDE_MAX, "281,474,976,710,656 YiB"}, /* 2^128 / 2^80 */
  };
  EACH (i, rows) assert_string_equal(number_bytes(rows[i].bytes).text, rows[i].text);
}

/* "1024 KiB" and its like must never be seen, at any size around a unit's edge. */
TEST(test_bytes_never_show_a_full_unit) {
  for (int power = 10; power <= 80; power += 10)
    for (int delta = -2000; delta <= 2000; delta++) {
      Wide edge = (Wide)1 << power, distance = (Wide)(uint64_t)llabs(delta);
      if (delta < 0 && edge < distance) continue;
      Wide bytes = delta < 0 ? edge - distance : edge + distance;
      assert_null(strstr(number_bytes(bytes).text, "1024"));
    }
}

/* The text, read back as a double, lies within half a unit of the fourth digit. */
TEST(test_bytes_are_close) {
  Rand rand = {1};
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  for (int i = 0; i < 20000; i++) {
    uint64_t bytes = rand_next(&rand) >> (rand_next(&rand) % 50 + 4);
    Number number = number_bytes(bytes);
    char *rest;
    double value = strtod(number.text, &rest);
    double unit = 0;
    for (int u = 0; u < 6; u++)
      if (strcmp(rest + 1, units[u]) == 0) unit = pow(1024, u);
    if (unit == 0) continue;
    assert_true(fabs(value * unit - (double)bytes) <= 0.00051 * (double)bytes);
  }
}

TEST(test_bytes_decimal) {
  assert_string_equal(number_bytes_decimal(999).text, "999 B");
  assert_string_equal(number_bytes_decimal(1000).text, "1 kB");
  assert_string_equal(number_bytes_decimal(138412032).text, "138.4 MB");
  assert_string_equal(number_bytes_decimal(999999).text, "1.000 MB");
  assert_string_equal(number_bytes_decimal(80000000000).text, "80 GB");
  assert_string_equal(number_bytes_decimal(1668939776).text, "1.669 GB");
}

TEST(test_bytes_exact) {
  assert_string_equal(number_bytes_exact(138412032).text, "138,412,032 B");
  assert_string_equal(number_bytes_exact(0).text, "0 B");
}

TEST(test_counts) {
  assert_string_equal(number_count(0).text, "0");
  assert_string_equal(number_count(999).text, "999");
  assert_string_equal(number_count(1000).text, "1,000");
  assert_string_equal(number_count(1048576).text, "1,048,576");
  assert_string_equal(number_digits(1048576).text, "1048576");
  /* 2^128 - 1, from any table of powers of two. */
  assert_string_equal(number_count(WIDE_MAX).text, "340,282,366,920,938,463,463,374,607,431,768,211,455");
}

TEST(test_tokens) {
  assert_string_equal(number_tokens(0).text, "0");
  assert_string_equal(number_tokens(512).text, "512");
  assert_string_equal(number_tokens(1000).text, "1,000");
  assert_string_equal(number_tokens(1024).text, "1K");
  assert_string_equal(number_tokens(1536).text, "1.5K");
  assert_string_equal(number_tokens(1280).text, "1,280"); /* 1.25K is not shorter than the number */
  assert_string_equal(number_tokens(65536).text, "64K");
  assert_string_equal(number_tokens(131072).text, "128K");
  assert_string_equal(number_tokens(1048576).text, "1M");
  assert_string_equal(number_tokens((Wide)1 << 31).text, "2G");
  assert_string_equal(number_tokens(65537).text, "65,537");
}

TEST(test_ratios) {
  const struct {
    double ratio;
    const char *text;
  } rows[] = {
      {2, "2.00x"},       {1, "1.00x"},      {0.125, "0.125x"}, {16.5, "16.5x"},     {148, "148x"},
      {1234.4, "1,234x"}, {999.6, "1,000x"}, {0, "0x"},         {1e-5, "1.00e-05x"}, {9.996, "10.0x"},
      {INFINITY, "inf"},  {NAN, "n/a"},      {-2, "-2.00x"},
  };
  EACH (i, rows) assert_string_equal(number_ratio(rows[i].ratio).text, rows[i].text);
  assert_string_equal(number_ratio_of(132, 66).text, "2.00x");
  assert_string_equal(number_ratio_of(0, 0).text, "n/a");
  assert_string_equal(number_ratio_of(1, 0).text, "inf");
}

/* A share that only rounds to nothing or to everything says so. */
TEST(test_percent) {
  const struct {
    double fraction;
    const char *text;
  } rows[] = {
      {0, "0%"},        {1, "100%"},     {0.5, "50.0%"},    {0.5625, "56.3%"},    {0.0004, "<0.1%"}, {0.9996, ">99.9%"},
      {0.0005, "0.1%"}, {1.5, "150.0%"}, {-0.25, "-25.0%"}, {12.345, "1,234.5%"}, {NAN, "n/a"},
  };
  EACH (i, rows) assert_string_equal(number_percent(rows[i].fraction).text, rows[i].text);
}

TEST(test_si) {
  assert_string_equal(number_si(9.89e14, "FLOP/s").text, "989 TFLOP/s");
  assert_string_equal(number_si(3.35e12, "B/s").text, "3.35 TB/s");
  assert_string_equal(number_si(999.96, "B").text, "1 kB");
  assert_string_equal(number_si(0, "B/s").text, "0 B/s");
  assert_string_equal(number_si(1.5e-3, "s").text, "1.5 ms");
  assert_string_equal(number_si(-2500, "V").text, "-2.5 kV");
  assert_string_equal(number_si(9.89e14, "").text, "989 T");
  assert_string_equal(number_si(12, "").text, "12");
  assert_string_equal(number_si(1e30, "B").text, "1,000,000 YB");
  assert_string_equal(number_flops(34359738368).text, "34.36 GFLOP");
}

TEST(test_times) {
  assert_string_equal(number_seconds(0).text, "0 s");
  assert_string_equal(number_seconds(12.5e-6).text, "12.5 us");
  assert_string_equal(number_seconds(1.25e-3).text, "1.25 ms");
  assert_string_equal(number_seconds(3.5).text, "3.5 s");
  assert_string_equal(number_seconds(6.713e20).text, "6.713e+20 s"); /* not e+2 */
  assert_string_equal(number_seconds(999.99e-3).text, "1 s");
  assert_string_equal(number_seconds(999.999e-6).text, "1 ms");
  assert_string_equal(number_seconds(999.97).text, "1,000 s");
  assert_string_equal(number_seconds(86400).text, "86,400 s");
  assert_string_equal(number_seconds(3e-9).text, "3 ns");
  assert_string_equal(number_seconds(INFINITY).text, "inf");
}

TEST(test_doubles) {
  assert_string_equal(number_double(0.125, 4).text, "0.1250");
  assert_string_equal(number_double(2.718281828, 5).text, "2.7183");
  assert_string_equal(number_double(-1234567, 3).text, "-1,230,000");
  assert_string_equal(number_double(1.5e-7, 2).text, "1.5e-07");
  assert_string_equal(number_double(6.02e23, 3).text, "6.02e+23");
  assert_string_equal(number_double(0.0001, 2).text, "0.00010");
  assert_string_equal(number_double(0, 4).text, "0");
  assert_string_equal(number_double(-INFINITY, 4).text, "-inf");
}

/* CSV and JSON must not lose a bit. */
TEST(test_exact_doubles_read_back) {
  assert_string_equal(number_exact_double(0.1).text, "0.1");
  assert_string_equal(number_exact_double(1e300).text, "1e+300");
  assert_string_equal(number_exact_double(-2.6586757509708e-310).text,
                      "-2.6586757509708e-310"); /* 14 digits are enough */
  assert_string_equal(number_exact_double(100000).text, "1e+05");
  assert_string_equal(number_exact_double(2).text, "2");
  Rand rand = {2};
  for (int i = 0; i < 20000; i++) {
    double value;
    uint64_t bits = rand_next(&rand);
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    assert_true(strtod(number_exact_double(value).text, NULL) == value);
  }
}

/* Axis labels are the shortest form of a round value. */
TEST(test_tick_texts) {
  assert_string_equal(value_tick_text(VALUE_BYTES, 64.0 * 1024 * 1024).text, "64 MiB");
  assert_string_equal(value_tick_text(VALUE_NUMBER, 0.05).text, "0.05");
  assert_string_equal(value_tick_text(VALUE_NUMBER, 20000).text, "20,000");
  assert_string_equal(value_tick_text(VALUE_TOKENS, 4096).text, "4K");
  assert_string_equal(value_tick_text(VALUE_COUNT, 1e9).text, "1,000,000,000");
  assert_string_equal(value_tick_text(VALUE_COUNT, 1e12).text, "1.0e+12"); /* short above all */
  assert_string_equal(value_tick_text(VALUE_FLOP_RATE, 9.89e14).text, "989 TFLOP/s");
  assert_string_equal(value_tick_text(VALUE_SECONDS, 2.5).text, "2.5 s");
  assert_string_equal(value_tick_text(VALUE_FLOP_RATE, 1e30).text, "1.0e+30 FLOP/s");
}

/* A locale of numbers alone, made for this test. */
static bool set_own_locale(void) {
  char folder[] = "/tmp/tilewalk-locale-XXXXXX", command[512];
  assert_non_null(mkdtemp(folder));
  snprintf(
      command, sizeof command,
      "cd %s && printf 'LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n' >own && "
      "localedef -c --no-archive -i own -f ANSI_X3.4-1968 ./comma >log 2>&1",
      folder);
  const int warned = system(command); /* localedef: of the categories that are not there */
  setenv("LOCPATH", folder, 1);
  const bool is_set = warned >= 0 && setlocale(LC_NUMERIC, "comma") != NULL;
  unsetenv("LOCPATH");
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  return is_set;
}

/* Comma for the decimal sign, point for thousands: nothing of that may show. */
TEST(test_locale_does_not_matter) {
  static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"};
  bool found = false;
  for (size_t i = 0; i < 5 && !found; i++) found = setlocale(LC_ALL, locales[i]) != NULL;
  if (!found && !set_own_locale()) {
    print_message("skipped: no German or French locale is installed here, and no localedef\n");
    skip();
  }
  char text[32];
  snprintf(text, sizeof text, "%.1f", 1.5);
  assert_string_equal(text, "1,5"); /* the locale is at work */
  assert_string_equal(number_double(1234.5, 5).text, "1,234.5");
  assert_string_equal(number_exact_double(0.1).text, "0.1");
  assert_string_equal(number_ratio(1.5).text, "1.50x");
  assert_string_equal(number_si(1.5e9, "B").text, "1.5 GB");
  assert_string_equal(number_seconds(0.0015).text, "1.5 ms");
  setlocale(LC_ALL, "C");
}
