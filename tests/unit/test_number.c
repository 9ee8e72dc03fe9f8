/* number.h: what people read. Expected texts are worked out by hand from the rules in the header.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "viz/chart/value.h"

#include <locale.h>

/* "WHAT=TEXT|...": what is said of a number, with its unit or its digits behind it where those are asked for. */
static const struct {
  Number (*whole)(Wide), (*real)(double), (*of_unit)(double, const char *), (*digits)(double, int);
  Number (*tick)(ValueKind, double);
  ValueKind kind;
  const char *rows;
} SAYS[] = {
    /* 1,025 is rounded and not exact; halves go up, and 1024 KiB is never seen; 10 MiB less a byte gains a digit in
     * front and loses one behind; 2^72 and 2^128 - 1 */
    {.whole = number_bytes,
     .rows = "0=0 B|1=1 B|1023=1023 B|1024=1 KiB|1536=1.5 KiB|1025=1.001 KiB|10239=9.999 KiB|10240=10 KiB|"
             "1048575=1.000 MiB|1048064=1.000 MiB|1048063=1023 KiB|138412032=132 MiB|138412033=132.0 MiB|"
             "1072693248=1023 MiB|10485759=10.00 MiB|102399=100.0 KiB|1750073344=1.630 GiB|1073741823999=1000 GiB|"
             "4722366482869645213696=4 ZiB|340282366920938463463374607431768211455=281,474,976,710,656 YiB"},
    {.whole = number_bytes_decimal,
     .rows = "999=999 B|1000=1 kB|138412032=138.4 MB|999999=1.000 MB|80000000000=80 GB|1668939776=1.669 GB"},
    {.whole = number_bytes_exact, .rows = "138412032=138,412,032 B|0=0 B"},
    {.whole = number_count,
     .rows = "0=0|999=999|1000=1,000|1048576=1,048,576|340282366920938463463374607431768211455="
             "340,282,366,920,938,463,463,374,607,431,768,211,455"},
    {.whole = number_digits, .rows = "1048576=1048576"},
    {.whole = number_flops, .rows = "34359738368=34.36 GFLOP"},
    /* 1.25K is not shorter than the number */
    {.whole = number_tokens,
     .rows = "0=0|512=512|1000=1,000|1024=1K|1536=1.5K|1280=1,280|65536=64K|131072=128K|1048576=1M|2147483648=2G|"
             "65537=65,537"},
    {.real = number_ratio,
     .rows = "2=2.00x|1=1.00x|0.125=0.125x|16.5=16.5x|148=148x|1234.4=1,234x|999.6=1,000x|0=0x|1e-5=1.00e-05x|"
             "9.996=10.0x|inf=inf|nan=n/a|-2=-2.00x"},
    /* A share that only rounds to nothing or to everything says so. */
    {.real = number_percent,
     .rows = "0=0%|1=100%|0.5=50.0%|0.5625=56.3%|0.0004=<0.1%|0.9996=>99.9%|0.0005=0.1%|1.5=150.0%|-0.25=-25.0%|"
             "12.345=1,234.5%|nan=n/a"},
    {.real = number_seconds,
     .rows = "0=0 s|12.5e-6=12.5 us|1.25e-3=1.25 ms|3.5=3.5 s|6.713e20=6.713e+20 s|999.99e-3=1 s|999.999e-6=1 ms|"
             "999.97=1,000 s|86400=86,400 s|3e-9=3 ns|inf=inf"},
    {.real = number_exact_double,
     .rows = "0.1=0.1|1e300=1e+300|-2.6586757509708e-310=-2.6586757509708e-310|100000=100000|2=2|-120=-120|"
             "9007199254740991=9007199254740991|9007199254740992=9007199254740992|1e22=1e+22"},
    {.of_unit = number_si,
     .rows = "9.89e14FLOP/s=989 TFLOP/s|3.35e12B/s=3.35 TB/s|999.96B=1 kB|0B/s=0 B/s|1.5e-3s=1.5 ms|-2500V=-2.5 kV|"
             "9.89e14=989 T|12=12|1e30B=1,000,000 YB"},
    {.digits = number_double,
     .rows = "0.125 4=0.1250|2.718281828 5=2.7183|-1234567 3=-1,230,000|1.5e-7 2=1.5e-07|6.02e23 3=6.02e+23|"
             "0.0001 2=0.00010|0 4=0|-inf 4=-inf"},
    /* Axis labels are the shortest form of a round value. */
    {.tick = value_tick_text, .kind = VALUE_BYTES, .rows = "67108864=64 MiB"},
    {.tick = value_tick_text, .kind = VALUE_NUMBER, .rows = "0.05=0.05|20000=20,000"},
    {.tick = value_tick_text, .kind = VALUE_TOKENS, .rows = "4096=4K"},
    {.tick = value_tick_text, .kind = VALUE_COUNT, .rows = "1e9=1,000,000,000|1e12=1.0e+12"},
    {.tick = value_tick_text, .kind = VALUE_FLOP_RATE, .rows = "9.89e14=989 TFLOP/s|1e30=1.0e+30 FLOP/s"},
    {.tick = value_tick_text, .kind = VALUE_SECONDS, .rows = "2.5=2.5 s"}};

TEST(numbers_are_said_as_people_read_them) {
  char text[TEST_TEXT];
  EACH (k, SAYS)
    for (const char *rows = SAYS[k].rows; test_next(&rows, text);) {
      char *says = strchr(text, '='), *more;
      Wide whole = 0;
      *says++ = '\0';
      for (const char *c = text; *c >= '0' && *c <= '9'; c++) whole = 10 * whole + wide(*c - '0');
      const double real = strtod(text, &more);
      Number n;
      if (SAYS[k].whole) n = SAYS[k].whole(whole);
      if (SAYS[k].real) n = SAYS[k].real(real);
      if (SAYS[k].of_unit) n = SAYS[k].of_unit(real, more);
      if (SAYS[k].digits) n = SAYS[k].digits(real, atoi(more));
      if (SAYS[k].tick) n = SAYS[k].tick(SAYS[k].kind, real);
      assert_string_equal(n.text, says);
    }
  assert_string_equal(number_ratio_of(132, 66).text, "2.00x");
  assert_string_equal(number_ratio_of(0, 0).text, "n/a");
  assert_string_equal(number_ratio_of(1, 0).text, "inf");
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
    assert_near(value * unit, (double)bytes, 0.00051 * (double)bytes);
  }
}

/* CSV and JSON must not lose a bit. */
TEST(test_exact_doubles_read_back) {
  Rand rand = {2};
  for (int i = 0; i < 20000; i++) {
    double value;
    uint64_t bits = rand_next(&rand);
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    assert_true(strtod(number_exact_double(value).text, NULL) == value);
  }
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
  const char *text = test_text("%.1f", 1.5);
  assert_string_equal(text, "1,5"); /* the locale is at work */
  assert_string_equal(number_double(1234.5, 5).text, "1,234.5");
  assert_string_equal(number_exact_double(0.1).text, "0.1");
  assert_string_equal(number_ratio(1.5).text, "1.50x");
  assert_string_equal(number_si(1.5e9, "B").text, "1.5 GB");
  assert_string_equal(number_seconds(0.0015).text, "1.5 ms");
  setlocale(LC_ALL, "C");
}
