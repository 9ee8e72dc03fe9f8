/* A stream that writes to memory, for tests of what is printed. Define _POSIX_C_SOURCE 200809L
 * before the first #include. */
#ifndef TILEWALK_TESTS_SUPPORT_CAPTURE_H
#define TILEWALK_TESTS_SUPPORT_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>

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

#endif
