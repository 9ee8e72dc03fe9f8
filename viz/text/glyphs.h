/* UTF-8 text in terminal columns: decode, measure, cut, wrap, and fall back to ASCII.
 *
 * The C library's wcwidth depends on the process locale and on tables that change between systems,
 * so the few ranges that matter here are kept in this file: East Asian wide characters and emoji
 * take two columns, combining marks none, everything else one. Not modelled: joined emoji,
 * right-to-left text; they are only laid out wrongly, never unsafely. Text from outside may hold
 * anything: control characters and broken UTF-8 are shown as "?", so that a file name cannot drive
 * the terminal. */
#ifndef TILEWALK_VIZ_TEXT_GLYPHS_H
#define TILEWALK_VIZ_TEXT_GLYPHS_H

#include "viz/text/style.h"

#include <stddef.h>
#include <stdint.h>

/* The character at *text, which moves on past it; 0 at the end of the text. A control character
 * (newline too) or a broken byte gives '?' and moves one byte. */
uint32_t glyph_next(const char **text);

/* Columns that the first `bytes` bytes of a line take in this style. */
int text_columns_n(const TextStyle *style, const char *text, size_t bytes);
int text_columns(const TextStyle *style, const char *text);

/* Prints the first `bytes` bytes of a line in this style. */
void text_write_n(FILE *out, const TextStyle *style, const char *text, size_t bytes);
void text_write(FILE *out, const TextStyle *style, const char *text);

/* The longest start of `text` that fits in `columns`, in bytes. */
size_t text_fit(const TextStyle *style, const char *text, int columns);

/* The next line of a wrapped text: returns its length in bytes and moves *text to what follows.
 * Breaks at newlines and spaces; a word that is too long is cut. *text is at the end of the string
 * when all is given out. Needs columns >= 2. */
size_t text_wrap(const TextStyle *style, const char **text, int columns);

/* Repeats a string, or writes spaces. */
void text_repeat(FILE *out, const char *text, int times);

#endif
