/* Text of unknown origin, made safe and short enough to stand inside a one-line message.
 *
 * What a person typed or a file holds may contain control characters that a terminal obeys, broken
 * UTF-8, or a megabyte. A message shows at most the beginning of it, in printable ASCII. */
#ifndef TILEWALK_SIM_QUOTE_H
#define TILEWALK_SIM_QUOTE_H

#include <stddef.h>

enum { QUOTE_CHARS = 48 };

typedef struct {
  char text[QUOTE_CHARS + 4]; /* ends with "..." when something was cut off */
} Quote;

/* The first QUOTE_CHARS bytes of text[0..length); bytes outside printable ASCII become '?'. */
static inline Quote quote(const char *text, size_t length) {
  Quote q;
  size_t n = 0;
  for (; n < length && n < QUOTE_CHARS; n++) q.text[n] = text[n] >= 32 && text[n] < 127 ? text[n] : '?';
  if (n < length)
    for (int dots = 0; dots < 3; dots++) q.text[n++] = '.';
  q.text[n] = '\0';
  return q;
}

#endif
