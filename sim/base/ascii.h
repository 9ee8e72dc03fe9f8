/* Letters, digits and blanks of ASCII, whatever the locale says.
 *
 * <ctype.h> asks the locale: under tr_TR.ISO-8859-9 the lower case of 'I' is not 'i', so an answer that is right in one
 * country would be wrong in another. Bytes above 127 belong to no class here. */
#ifndef TILEWALK_SIM_BASE_ASCII_H
#define TILEWALK_SIM_BASE_ASCII_H

#include <stdbool.h>
#include <stdint.h>

static inline bool ascii_is_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool ascii_is_lower(int c) { return c >= 'a' && c <= 'z'; }
static inline bool ascii_is_upper(int c) { return c >= 'A' && c <= 'Z'; }
static inline bool ascii_is_alpha(int c) { return ascii_is_lower(c) || ascii_is_upper(c); }
static inline bool ascii_is_alnum(int c) { return ascii_is_alpha(c) || ascii_is_digit(c); }
static inline bool ascii_is_hex(int c) { return ascii_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* Blank, tab, newline, vertical tab, form feed, carriage return. */
static inline bool ascii_is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static inline int ascii_lower(int c) { return ascii_is_upper(c) ? c + ('a' - 'A') : c; }
static inline int ascii_upper(int c) { return ascii_is_lower(c) ? c - ('a' - 'A') : c; }

/* Whether the texts, or their first n bytes, are equal but for upper and lower case. */
static inline bool ascii_same_n(const char *a, const char *b, size_t n) {
  for (; n && ascii_lower(*a) == ascii_lower(*b); a++, b++, n--)
    if (!*a) return true;
  return n == 0;
}
static inline bool ascii_same(const char *a, const char *b) { return ascii_same_n(a, b, SIZE_MAX); }

#endif
