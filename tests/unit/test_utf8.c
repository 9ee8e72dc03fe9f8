/* UTF-8 as the Unicode standard has it (version 15, table 3-7): the edges of every row of the table, worked by hand. */
#include "tests/support/test.h"
#include "sim/base/quote.h"

static size_t sequence(const char *text) { return utf8_sequence((const unsigned char *)ALL_OF(text)); }

TEST(sequences_are_those_of_the_table) {
  /* Of none: overlong, cut, surrogates, above U+10FFFF. */
  static const char *const OF[] = {
      "\x80|\xBF|\xC0\x80|\xC1\xBF|\xC2\x7F|\xC2\xC0|\xC2|\xE0\x9F\xBF|\xED\xA0\x80|\xE1\x80|"
      "\xE1\x80\x7F|\xE1\x7F\x80|\xF0\x8F\xBF\xBF|\xF4\x90\x80\x80|\xF5\x80\x80\x80|\xF1\x80\x80|\xF1\x80\x80\x7F|\xFF",
      "\x01|\x7F",
      "\xC2\x80|\xDF\xBF",
      "\xE0\xA0\x80|\xEF\xBF\xBF|\xED\x9F\xBF|\xEE\x80\x80",
      "\xF0\x90\x80\x80|\xF4\x8F\xBF\xBF",
  };
  char text[TEST_TEXT];
  EACH (n, OF)
    for (const char *texts = OF[n]; test_next(&texts, text);) assert_true(sequence(text) == n);
}

TEST(a_sequence_that_is_cut_is_broken) {
  assert_int_equal(utf8_sequence((const unsigned char *)"\xC3\xA9", 1), 0);
  assert_int_equal(utf8_sequence((const unsigned char *)"\xC3\xA9", 2), 2);
  assert_int_equal(utf8_sequence((const unsigned char *)"\xF0\x9F\x98\x80", 3), 0);
}

TEST(controls_are_no_text) {
  assert_true(utf8_is_text("caf\xC3\xA9 \xE2\x80\x94 \xF0\x9F\x98\x80", 14));
  assert_true(utf8_is_text("", 0));
  static const char *const UNSAFE[] = {"\x1F",     "\x7F",         "\n",           "\xC2\x80",
                                       "\xC2\x9F", "\xE2\x80\xAE", "\xEF\xBF\xBE", "\xC3"};
  EACH (k, UNSAFE) assert_false(utf8_is_text(ALL_OF(UNSAFE[k])));
  assert_false(utf8_is_text("\0", 1));
  assert_true(utf8_is_text("\xC2\xA0 ", 3));
}

TEST(cleaning_never_makes_longer) {
  char text[] = "a\x1B[0m\xE2\x80\xAE"
                "b\xC3\xA9\xFF\xC3";
  utf8_clean(text);
  assert_string_equal(text, "a?[0m?b\xC3\xA9??");
}

/* A message shows letters of any script; what a terminal obeys, and what is no UTF-8, is a '?'. */
TEST(a_quote_keeps_letters_and_nothing_else) {
  assert_string_equal(quote("M\xC3\xBCller", 7).text, "M\xC3\xBCller");
  assert_string_equal(quote("\xE6\xB3\xA8\xE6\x84\x8F", 6).text, "\xE6\xB3\xA8\xE6\x84\x8F");
  assert_string_equal(quote("a\x1B[31mb\n", 8).text, "a?[31mb?");
  assert_string_equal(quote("\xE2\x80\xAE!", 4).text, "?!"); /* turns what follows round */
  assert_string_equal(quote("\xC3(", 2).text, "?(");
  assert_string_equal(quote("\xC3\xBC", 1).text, "?"); /* its second byte is not the text's */
  char many[2 * QUOTE_CHARS + 1] = "x";
  for (int k = 0; k < QUOTE_CHARS; k++) memcpy(many + 1 + 2 * k, "\xC3\xBC", 2 - (k + 1 == QUOTE_CHARS));
  const Quote q = quote(many, sizeof many - 1); /* 48 bytes would cut a letter: 47 and three dots */
  assert_int_equal(strlen(q.text), 47 + 3);
  assert_true(utf8_is_text(ALL_OF(q.text)));
}
