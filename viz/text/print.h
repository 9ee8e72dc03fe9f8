/* Printing text in a role: a line, or a paragraph broken at spaces. */
#ifndef TILEWALK_VIZ_TEXT_PRINT_H
#define TILEWALK_VIZ_TEXT_PRINT_H

#include <stdarg.h>

#include "viz/text/style.h"

/* Prints `format` in a role. In ASCII style other characters are replaced as text_ascii says
 * (glyphs.h). */
void text_print(FILE *out, const TextStyle *style, TextRole role, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void text_vprint(FILE *out, const TextStyle *style, TextRole role, const char *format, va_list arguments)
    __attribute__((format(printf, 4, 0)));

/* Writes text of any origin: a newline and a tab stay, what else a terminal obeys and broken UTF-8 become "?". Nothing
 * but this file and the writers of documents write a string to a stream (`make layers`). */
void text_put_n(FILE *out, const char *text, size_t n);
void text_put(FILE *out, const char *text);
void text_say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a paragraph broken at spaces to the style's width, every line indented by `indent` columns
 * and ended by a newline. Newlines in `text` start a new line. */
void text_paragraph(FILE *out, const TextStyle *style, TextRole role, int indent, const char *text);

/* n bytes of plain ASCII beside what stands on the line up to `column`, the lines that follow below its beginning. */
void text_hanging(FILE *out, const TextStyle *style, int column, const char *text, size_t n);

#endif
