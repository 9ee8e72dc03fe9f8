/* UTF-8, as far as reading other people's files needs it. */
#ifndef TILEWALK_SIM_BASE_UTF8_H
#define TILEWALK_SIM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the sequence at text[0..length), 0 when it is broken (Unicode 15, table 3-7). */
static inline size_t utf8_sequence(const unsigned char *text, size_t length) {
  const unsigned char lead = text[0];
  if (lead < 0x80) return 1;
  const size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || n > length) return 0;
  for (size_t i = 1; i < n; i++)
    if ((text[i] & 0xC0) != 0x80) return 0;
  const bool overlong = (lead == 0xE0 && text[1] < 0xA0) || (lead == 0xF0 && text[1] < 0x90);
  const bool outside = (lead == 0xED && text[1] > 0x9F) || (lead == 0xF4 && text[1] > 0x8F);
  return overlong || outside ? 0 : n;
}

/* Whether the whole sequence at `text` is a control character (a tab and a newline are). */
static inline bool utf8_is_control(const unsigned char *text) {
  return text[0] < 0x20 || text[0] == 0x7F || (text[0] == 0xC2 && text[1] < 0xA0);
}

/* Whether the whole sequence at `text` changes how what stands around it is read: a control character, a mark of
 * direction (a name that holds one reads backwards: Unicode 15, 23.2 and UAX 9), or a separator of lines. */
static inline bool utf8_is_unsafe(const unsigned char *text) {
  if (utf8_is_control(text)) return true;
  if (text[0] == 0xD8) return text[1] == 0x9C;                    /* U+061C */
  if (text[0] == 0xEF) return text[1] == 0xBF && text[2] >= 0xBE; /* U+FFFE and U+FFFF, which are no characters */
  if (text[0] != 0xE2) return false;
  if (text[1] == 0x80) return text[2] == 0x8E || text[2] == 0x8F || (text[2] >= 0xA8 && text[2] <= 0xAE);
  return text[1] == 0x81 && text[2] >= 0xA6 && text[2] <= 0xA9; /* U+2066 to U+2069 */
}

/* Whether all of it is text: whole sequences, nothing unsafe. */
static inline bool utf8_is_text(const char *text, size_t length) {
  const unsigned char *bytes = (const unsigned char *)text;
  for (size_t i = 0, n; i < length; i += n) {
    n = utf8_sequence(bytes + i, length - i);
    if (n == 0 || utf8_is_unsafe(bytes + i)) return false;
  }
  return true;
}

/* Makes a text safe to print in one line: what is unsafe or no UTF-8 becomes '?'. Never longer than before. */
static inline void utf8_clean(char *text) {
  size_t length = 0, used = 0;
  while (text[length]) length++;
  for (size_t i = 0; i < length;) {
    const unsigned char *at = (const unsigned char *)text + i;
    const size_t n = utf8_sequence(at, length - i);
    const bool keeps = n > 0 && !utf8_is_unsafe(at);
    for (size_t k = 0; keeps && k < n; k++) text[used++] = text[i + k];
    if (!keeps) text[used++] = '?';
    i += n ? n : 1;
  }
  text[used] = '\0';
}

#endif
