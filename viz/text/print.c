#include "viz/text/print.h"

#include <stdlib.h>
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
  va_list arguments;
  va_start(arguments, format);
  text_vprint(out, style, role, format, arguments);
  va_end(arguments);
}

void text_vprint(FILE *out, const TextStyle *style, TextRole role, const char *format, va_list arguments) {
  char shown[4096]; /* longer text is cut */
  if (vsnprintf(shown, sizeof shown, format, arguments) < 0) return;
  fputs(text_role_begin(style, role), out);
  write_lines(out, style, shown);
  fputs(text_role_end(style, role), out);
}

void text_put_n(FILE *out, const char *text, size_t n) {
  static const TextStyle PLAIN = {.utf8 = true};
  for (const char *end = text + n, *p = text; p < end;) {
    const char *const from = p;
    while (p < end && *p && *p != '\n' && *p != '\t') p++;
    text_write_n(out, &PLAIN, from, (size_t)(p - from));
    if (p < end) fputc(*p ? *p : '?', out);
    p++;
  }
}

void text_put(FILE *out, const char *text) { text_put_n(out, text, strlen(text)); }

void text_say(FILE *out, const char *format, ...) {
  char shown[4096], *text = shown;
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = vsnprintf(shown, sizeof shown, format, arguments);
  if (length >= (int)sizeof shown && (text = malloc((size_t)length + 1)) != NULL)
    vsnprintf(text, (size_t)length + 1, format, again);
  text_put(out, text ? text : shown); /* without memory its beginning */
  if (text != shown) free(text);
  va_end(again);
  va_end(arguments);
}

void text_paragraph(FILE *out, const TextStyle *style, TextRole role, int indent, const char *text) {
  int columns = style->width - indent;
  if (columns < TEXT_WIDTH_MIN) columns = TEXT_WIDTH_MIN;
  do {
    const char *line = text;
    size_t length = text_wrap(style, &text, columns);
    if (length > 0) {
      text_repeat(out, " ", indent);
      text_print(out, style, role, "%.*s", (int)length, line);
    }
    fputc('\n', out);
  } while (*text);
}

void text_hanging(FILE *out, const TextStyle *style, int column, const char *text, size_t n) {
  const size_t width = style->width > column + 20 ? (size_t)(style->width - column) : 50;
  for (const char *p = text, *const end = text + n; p < end;) {
    size_t take = (size_t)(end - p);
    if (take > width) { /* broken at a space */
      take = width;
      while (take > 0 && p[take] != ' ') take--;
      if (take == 0) take = width;
    }
    fprintf(out, "%*s%.*s\n", p == text ? 0 : column, "", (int)take, p);
    p += take;
    while (p < end && *p == ' ') p++;
  }
}
