/* A stream that writes to memory, for tests of what is printed. Define _POSIX_C_SOURCE 200809L
 * before the first #include. */
#ifndef TILEWALK_TESTS_SUPPORT_CAPTURE_H
#define TILEWALK_TESTS_SUPPORT_CAPTURE_H

#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "viz/text/glyphs.h"

typedef struct {
  FILE *out;
  char *text; /* valid after capture_text */
  size_t bytes;
} Capture;

static inline void capture_open(Capture *capture) {
  *capture = (Capture){0};
  capture->out = open_memstream(&capture->text, &capture->bytes);
  if (!capture->out) abort();
}

/* What was printed so far. */
static inline const char *capture_text(Capture *capture) {
  fflush(capture->out);
  return capture->text;
}

static inline void capture_close(Capture *capture) {
  fclose(capture->out);
  free(capture->text);
}

/* The end of a stream that must hold this text, or no line that is wider than the style. */
static inline void capture_is(Capture *capture, const char *expected) {
  assert_string_equal(capture_text(capture), expected);
  capture_close(capture);
}

static inline void capture_fits(Capture *capture, const TextStyle *style) {
  const TextStyle unicode = {.utf8 = true};
  for (const char *line = capture_text(capture); *line;) {
    const size_t length = strcspn(line, "\n");
    if (text_columns_n(&unicode, line, length) > style->width)
      fail_msg("too wide for %d: %.*s", style->width, (int)length, line);
    line += length + 1;
  }
  capture_close(capture);
}

/* Printing onto the stream that is given, with every allocation failing in turn: so many, or more. */
static inline void printing_may_fail(AllocFailRun *print, size_t at_least) {
  FILE *nowhere = fopen("/dev/null", "w");
  assert_non_null(nowhere);
  assert_true(alloc_fail_each(print, nowhere) >= at_least);
  fclose(nowhere);
}

#endif
