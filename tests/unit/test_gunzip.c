/* gunzip on members that gzip and zlib made, whose contents are known, and on damaged ones. */
#include "tests/support/test.h"
#include "sim/base/gunzip.h"

/* "hello, hello, hello\n" by gzip -n: a block of fixed codes. */
static const unsigned char FIXED[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
                                      0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xd7, 0x51, 0xc8, 0x40, 0xa2,
                                      0xb8, 0x00, 0xe7, 0x42, 0x6e, 0x52, 0x14, 0x00, 0x00, 0x00};
/* "abc" stored. */
static const unsigned char STORED[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0x01, 0x03, 0x00,
                                       0xfc, 0xff, 0x61, 0x62, 0x63, 0xc2, 0x41, 0x24, 0x35, 0x03, 0x00, 0x00, 0x00};
/* 100 letters, "abaccahageeaeaab...", by zlib: a block of codes of its own. */
static const unsigned char DYNAMIC[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x6d, 0x8c, 0x41, 0x12, 0x00, 0x30, 0x0c,
    0x01, 0xdf, 0xba, 0x51, 0x49, 0xff, 0xff, 0x82, 0xca, 0xbd, 0x38, 0x60, 0x0c, 0x0a, 0x89, 0xcb, 0xd8,
    0x18, 0x2a, 0x86, 0x43, 0xac, 0x52, 0x68, 0x53, 0xd1, 0x66, 0x42, 0x85, 0xae, 0x6c, 0x3d, 0x04, 0xd6,
    0x2a, 0x5b, 0xd1, 0x78, 0x21, 0xfe, 0x67, 0x0f, 0x23, 0x14, 0x63, 0x17, 0x64, 0x00, 0x00, 0x00};

static void gives(const unsigned char *bytes, size_t n, const char *wanted) {
  char *text;
  size_t n_text;
  Error error;
  if (gunzip(bytes, n, 1 << 20, "x", &text, &n_text, &error)) fail_msg("%s", error.message);
  assert_int_equal(n_text, strlen(wanted));
  assert_string_equal(text, wanted);
  free(text);
}

TEST(test_members) {
  gives(FIXED, sizeof FIXED, "hello, hello, hello\n");
  gives(STORED, sizeof STORED, "abc");
  char text[101] = "";
  for (int k = 0; k < 100; k++) text[k] = "abcdefgh"[k * k * k % 11 * (k * k % 7) % 8];
  gives(DYNAMIC, sizeof DYNAMIC, text);
}

/* Any byte changed, any end missing, too small a limit: refused, or the same text (bytes that gzip does not mean). */
TEST(test_damage) {
  char *text;
  size_t n_text;
  Error error;
  for (size_t n = 0; n < sizeof FIXED; n++)
    assert_int_equal(gunzip(FIXED, n, 1 << 20, "x", &text, &n_text, &error), STATUS_BAD_FILE);
  for (size_t at = 0; at < sizeof FIXED; at++)
    for (int bit = 0; bit < 8; bit++) {
      unsigned char bytes[sizeof FIXED];
      memcpy(bytes, FIXED, sizeof FIXED);
      bytes[at] ^= (unsigned char)(1 << bit);
      const Status status = gunzip(bytes, sizeof bytes, 1 << 20, "x", &text, &n_text, &error);
      if (!status) {
        if (strcmp(text, "hello, hello, hello\n")) fail_msg("byte %zu, bit %d: another text passes", at, bit);
        free(text);
      }
    }
  assert_int_equal(gunzip(FIXED, sizeof FIXED, 19, "x", &text, &n_text, &error), STATUS_BAD_FILE);
  assert_int_equal(gunzip(FIXED, sizeof FIXED, 20, "x", &text, &n_text, &error), STATUS_OK);
  free(text);
}
