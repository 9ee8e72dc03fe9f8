/* Sizes as people type them. The expected numbers are worked by hand; random ones are checked
 * against schoolbook long multiplication on text. */
#include "tests/support/test.h"
#include "sim/base/checked.h"
#include "sim/base/size.h"
#include "sim/base/wide.h"
#include "tests/support/rand.h"

/* The halves that machines of 32 bits convert by, beside the compiler's own 128 bits: all lengths, ties and their
 * neighbours. */
TEST(halves_convert_as_the_builtin_does) {
  Rand r = {7};
  assert_true(wide_to_double((WideHalves){0, 1}) == 0x1p64);
  assert_true(wide_to_double((WideHalves){UINT64_MAX, UINT64_MAX}) == 0x1p128);
  assert_true(wide_to_double((WideHalves){1u << 11, 1}) == 0x1p64);                     /* a tie goes to the even one */
  assert_true(wide_to_double((WideHalves){(1u << 11) + 1, 1}) == 0x1.0000000000001p64); /* and a little more does not */
  assert_true(wide_of_double(0x1.8p64).high == 1 && wide_of_double(0x1.8p64).low == (uint64_t)1 << 63);
  assert_true(wide_of_double(0x1p128).low == UINT64_MAX && wide_of_double(-1).low == 0);
  for (int k = 0; k < 20000; k++) {
    const int length = 1 + k % 128;
    Wide value = ((Wide)rand_next(&r) << 64 | rand_next(&r)) >> (128 - length);
    if (k % 3 == 0 && length > 60) value = value >> (length - 54) << (length - 54); /* a tie, or none */
    if (k % 9 == 0) value += (Wide)(uint64_t)(k % 2);
    const double real = (double)value;
    const WideHalves back = wide_of_double(real), halves = {(uint64_t)value, (uint64_t)(value >> 64)};
    assert_true(wide_to_double(halves) == real);
    if (real < 0x1p128) assert_true(((Wide)back.high << 64 | back.low) == (Wide)real);
    assert_true(wide_of_double(real / 0x1p40).low == (uint64_t)((Wide)(real / 0x1p40)));
  }
}

/* Each unit, each spelling, fractions that come out whole. */
TEST(sizes_are_read) {
  static const char *const GOOD[] = {
      "0|0e400 => 0",
      "1|1 byte|1.|0.00000095367431640625M => 1",
      "007 => 7",
      "512B|512 bytes|.5K => 512",
      "192K|192k => 196608",
      "64KiB|64 KiB => 65536",
      "60M|60 MiB => 62914560",
      "2G => 2147483648",
      "1T|1TiB => 1099511627776",
      "48kB|48 KB => 48000",
      "50 MB => 50000000",
      "141 GB|141GB => 141000000000",
      "2 TB => 2000000000000",
      "1.5K => 1536",
      "5.38GiB => 5776731013" /* 5.38 * 2^30 = 5,776,731,013.12, the nearest byte */,
      "1.0009KiB => 1025",
      "1.5M => 1572864",
      "0.5 MB => 500000",
      "3.0 => 3",
      "1e6|1E6 => 1000000",
      "2.5e3 => 2500",
      "25e-1K => 2560",
      "1e+3 => 1000",
      "  96K  |\t96\tK => 98304",
      "126.5 MiB => 132644864",
      "9223372036854775807 => 9223372036854775807",
      "1000000000000000000000e-3 => 1000000000000000000",
      "00000000000000000000000000000000000000005 => 5",
  };
  char text[TEST_TEXT];
  EACH_SAYS (row, GOOD) {
    for (const char *texts = row.text; test_next(&texts, text);) {
      int64_t size = -7;
      must(size_parse(text, &size, fresh_error()));
      assert_true(size == atoll(row.says));
      assert_string_equal(test_error.message, "");
    }
  }
}

/* "TEXT|TEXT => a part of what is said of each" */
static void check_refused(const char *const *bad, size_t n_bad, Status (*parse)(const char *, int64_t *, Error *)) {
  char text[TEST_TEXT];
  for (size_t i = 0; i < n_bad; i++) {
    const TextSays row = test_says(bad[i]);
    const Status status = strcmp(row.says, "too large") ? STATUS_BAD_REQUEST : STATUS_TOO_LARGE;
    for (const char *texts = row.text; test_next(&texts, text);) {
      int64_t value = -7;
      must_refuse(parse(text, &value, fresh_error()), status, row.says);
      assert_null(strchr(test_error.message, '\n'));
      assert_int_equal(value, -7);                         /* unchanged on error */
      assert_int_equal(parse(text, &value, NULL), status); /* no Error wanted: no crash */
    }
  }
}

TEST(sizes_are_refused) {
  static const char *const BAD[] = {
      "|    => empty",
      "K|.|.K|nan|inf|+5 => begin with a digit",
      "-5K|-0 => negative",
      "0x10 => 'x10'",
      "1,024|1,5K => comma",
      "12X => unknown unit 'X'",
      "12KK => unknown unit 'KK'",
      "12 K B => unknown unit",
      "12K! => unknown unit 'K!'",
      "1.2.3K => unknown unit '.3K'",
      "1e => unknown unit 'e'",
      "1e+ => unknown unit 'e+'",
      "1P => unknown unit 'P'",
      "12kb|12Mb|12Kib|12b => bits",
      "1.5|1e-3|1e-400 => whole number of bytes",
      "9223372036854775808|9.3e18|8388608T|1e30|1e400T => too large",
      "1e401|1e99999999999999999999|12345678901234567891 => too long",
      "5\033[31mK => ?[31mK",
      "5\xff => '5?'",
      "5 Kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa => ...",
  };
  check_refused(BAD, COUNT_OF(BAD), size_parse);
}

/* A count is bare or binary, whole and positive. */
TEST(counts_are_read_and_refused) {
  static const char *const GOOD[] = {
      "1 => 1",        "8 => 8",           "4K => 4096",          "128k => 131072", "1.5K => 1536",
      "1M => 1048576", "2G => 2147483648", "1T => 1099511627776", "1e6 => 1000000", " 257  => 257",
  };
  EACH_SAYS (row, GOOD) {
    int64_t count = -7;
    must(size_parse_count(row.text, &count, NULL));
    assert_int_equal(count, atoll(row.says));
  }
  static const char *const BAD[] = {
      "0|0K => at least 1",
      "-4 => negative",
      "2.5 => whole number;",
      "4KB|4 KiB|64B => does not belong to a count",
      " => empty",
      "many => begin with a digit",
      "1e19 => too large",
  };
  check_refused(BAD, COUNT_OF(BAD), size_parse_count);
}

/* Whole and fractional K against integers: a + f/1024 with f in 1024ths has at most
 * ten decimals. */
TEST(random_sizes_are_exact) {
  Rand random = {20240601};
  static const char UNIT[] = "KMGT";
  for (int round = 0; round < 20000; round++) {
    const int64_t whole = rand_in(&random, 0, 1 << 20), parts = rand_in(&random, 0, 1023);
    const int unit = (int)rand_in(&random, 0, 3);
    /* parts / 1024 as a decimal fraction: parts x 9765625 / 10^10 */
    const char *text = test_text("%lld.%010lld%c", (long long)whole, (long long)(parts * 9765625), UNIT[unit]);
    int64_t size = 0;
    must(size_parse(text, &size, NULL));
    assert_int_equal(size, ((whole << 10) + parts) << (10 * unit));
  }
}

/* decimal_value against the compiler's own reading of the same digits. */
TEST(decimals_become_the_nearest_double) {
  static const struct {
    const char *text;
    double want;
  } CASES[] = {{"4.8", 4.8},
               {"0.1", 0.1},
               {"1555", 1555.0},
               {"989.4", 989.4},
               {"1e22", 1e22},
               {"1e-22", 1e-22},
               {"5e-6", 5e-6},
               {"0", 0.0},
               {"0.000", 0.0},
               {"3.35e12", 3.35e12},
               {"123456789012345", 123456789012345.0},
               {"1e300", 1e300},
               {"16.", 16.0}};
  EACH (i, CASES) {
    Decimal decimal;
    assert_int_equal(decimal_read(ALL_OF(CASES[i].text), &decimal), strlen(CASES[i].text));
    const double value = decimal_value(decimal), error = value - CASES[i].want;
    /* beyond 1e22 a few units in the last place may be lost, as the header says */
    assert_true(CASES[i].want < 1e23 ? error == 0 : error < 1e-14 * value && error > -1e-14 * value);
  }
  Decimal decimal;
  assert_int_equal(decimal_read("12K", 3, &decimal), 2);
  assert_int_equal(decimal_read("1234", 2, &decimal), 2); /* the length is respected */
  assert_int_equal(decimal.digits, 12);
  assert_int_equal(decimal_read("", 0, &decimal), 0);
}
