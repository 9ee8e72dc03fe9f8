/* Text of unknown origin, made safe and short enough to stand inside a one-line message.
 *
 * What a person typed or a file holds may contain control characters that a terminal obeys, broken
 * UTF-8, or a megabyte. A message shows at most the beginning of it, letters of any script among it. */
#ifndef TILEWALK_SIM_BASE_QUOTE_H
#define TILEWALK_SIM_BASE_QUOTE_H

#include <string.h>

#include "sim/base/utf8.h"

enum { QUOTE_CHARS = 48 };

typedef struct {
  char text[QUOTE_CHARS + 4]; /* ends with "..." when something was cut off */
} Quote;

/* The first QUOTE_CHARS bytes of text[0..length) or, where a letter would be cut through, a few less. What is no UTF-8
 * and what is not safe to print (utf8.h) becomes '?'. */
static inline Quote quote(const char *text, size_t length) {
  Quote q;
  size_t used = 0, read = 0;
  while (read < length) {
    const unsigned char *at = (const unsigned char *)text + read;
    const size_t n = utf8_sequence(at, length - read);
    const bool keeps = n > 0 && !utf8_is_unsafe(at);
    const size_t taken = keeps ? n : 1;
    if (used + taken > QUOTE_CHARS) break;
    if (keeps) memcpy(q.text + used, at, n);
    if (!keeps) q.text[used] = '?';
    used += taken;
    read += n ? n : 1;
  }
  if (read < length) {
    memcpy(q.text + used, "...", 3);
    used += 3;
  }
  q.text[used] = '\0';
  return q;
}

/* The same of a whole string. */
static inline Quote quote_text(const char *text) { return quote(text, strlen(text)); }

#endif
