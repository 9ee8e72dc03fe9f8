/* An error keeps the first thing that went wrong, as one printable line. */
#include "tests/support/test.h"

TEST(the_first_error_sticks) {
  Error error = {0};
  assert_int_equal(error_set(&error, STATUS_TOO_LARGE, "%s is %d", "first", 1), STATUS_TOO_LARGE);
  assert_int_equal(error_set(&error, STATUS_BAD_FILE, "second"), STATUS_BAD_FILE);
  assert_int_equal(error.status, STATUS_TOO_LARGE);
  assert_string_equal(error.message, "first is 1");
}

TEST(no_error_struct_is_needed) { assert_int_equal(error_set(NULL, STATUS_NO_MEMORY, "unseen"), STATUS_NO_MEMORY); }

TEST(a_long_message_is_cut) {
  Error error = {0};
  error_set(&error, STATUS_BAD_REQUEST, "%1000d", 7);
  assert_int_equal(strlen(error.message), ERROR_MESSAGE_BYTES - 1);
}

/* A path or a value quoted in a message cannot break the line or drive the terminal; UTF-8 passes. */
TEST(control_characters_do_not_get_through) {
  Error error = {0};
  error_set(&error, STATUS_BAD_REQUEST, "cannot open %s", "a\nb\x1b[31m\x7f\xc3\xa9");
  assert_string_equal(error.message, "cannot open a?b?[31m?\xc3\xa9");
  /* C1 controls, marks of direction (U+202E, U+2066, U+200F, U+061C), separators of lines, and broken UTF-8 */
  static const char *const UNSAFE[] = {"\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f",
                                       "\xd8\x9c", "\xe2\x80\xa8", "\xff",         "\x80"};
  EACH (k, UNSAFE) {
    Error one = {0};
    error_set(&one, STATUS_BAD_REQUEST, "a%sb", UNSAFE[k]);
    assert_string_equal(one.message, "a?b");
  }
  Error kept = {0}; /* neighbours of those, an em dash, an emoji */
  error_set(&kept, STATUS_BAD_REQUEST, "%s", "\xc2\xa0\xd8\x9b\xe2\x80\x90\xe2\x80\x94\xe2\x81\xa5\xf0\x9f\x98\x80");
  assert_string_equal(kept.message, "\xc2\xa0\xd8\x9b\xe2\x80\x90\xe2\x80\x94\xe2\x81\xa5\xf0\x9f\x98\x80");
}
