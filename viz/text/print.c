#include "viz/text/print.h"

#include <stdarg.h>
#include <string.h>

#include "viz/text/glyphs.h"

/* Writes text that may hold newlines. */
static void write_lines(FILE *out, const TextStyle *style, const char *text) {
  for (;;) {
    size_t length = strcspn(text, "\n");
    text_write_n(out, style, text, length);
    if (text[length] == '\0') return;
    fputc('\n', out);
    text += length + 1;
  }
}

void text_print(FILE *out, const TextStyle *style, TextRole role, const char *format, ...) {
  char shown[4096]; /* longer text is cut */
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(shown, sizeof shown, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  fputs(text_role_begin(style, role), out);
  write_lines(out, style, shown);
  fputs(text_role_end(style, role), out);
}

void text_paragraph(FILE *out, const TextStyle *style, TextRole role, int indent, const char *text) {
  int columns = style->width - indent;
  if (columns < TEXT_WIDTH_MIN) columns = TEXT_WIDTH_MIN;
  do {
    const char *line = text;
    size_t length = text_wrap(style, &text, columns);
    if (length > 0) {
      text_repeat(out, " ", indent);
      fputs(text_role_begin(style, role), out);
      text_write_n(out, style, line, length);
      fputs(text_role_end(style, role), out);
    }
    fputc('\n', out);
  } while (*text);
}
