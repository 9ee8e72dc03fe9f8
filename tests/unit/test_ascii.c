/* Classes of letters that no locale changes, against lists written out by hand. */
#include "tests/support/test.h"
#include "sim/base/ascii.h"

static const char LOWER[] = "abcdefghijklmnopqrstuvwxyz", UPPER[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                  DIGITS[] = "0123456789";

static bool among(const char *list, int c) { return c > 0 && c < 128 && strchr(list, c); }

/* All bytes, as char and as unsigned char. */
TEST(every_byte_is_in_its_class) {
  for (int c = -128; c < 256; c++) {
    assert_int_equal(ascii_is_lower(c), among(LOWER, c));
    assert_int_equal(ascii_is_upper(c), among(UPPER, c));
    assert_int_equal(ascii_is_digit(c), among(DIGITS, c));
    assert_int_equal(ascii_is_alpha(c), among(LOWER, c) || among(UPPER, c));
    assert_int_equal(ascii_is_alnum(c), among(LOWER, c) || among(UPPER, c) || among(DIGITS, c));
    assert_int_equal(ascii_is_hex(c), among("0123456789abcdefABCDEF", c));
    assert_int_equal(ascii_is_space(c), among(" \t\n\v\f\r", c));
    const char *up = among(UPPER, c) ? strchr(UPPER, c) : NULL, *down = among(LOWER, c) ? strchr(LOWER, c) : NULL;
    assert_int_equal(ascii_lower(c), up ? LOWER[up - UPPER] : c);
    assert_int_equal(ascii_upper(c), down ? UPPER[down - LOWER] : c);
  }
}

TEST(texts_are_compared_without_case) {
  assert_true(ascii_same("MiB", "mib"));
  assert_true(ascii_same("", ""));
  assert_false(ascii_same("MiB", "mi"));
  assert_false(ascii_same("mi", "MiB"));
  assert_true(ascii_same_n("MIBs", "mib", 3));
  assert_false(ascii_same_n("MIBs", "mib", 4));
  assert_false(ascii_same_n("KIB", "mib", 3));
  assert_true(ascii_same_n("mi", "MI", 9));
  assert_true(ascii_same_n("x", "y", 0));
  assert_false(ascii_same("\xDD", "\xFD")); /* a capital and a small letter of Latin-5 */
}
