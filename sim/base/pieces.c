#include "sim/base/pieces.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/base/ascii.h"

Status keyfile_refuse(const char *display_name, int line, Error *error, const char *format, ...) {
  char message[ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  const Quote name = quote_text(display_name);
  if (line == 0) return error_set(error, STATUS_BAD_FILE, "%s: %s", name.text, message);
  return error_set(error, STATUS_BAD_FILE, "%s:%d: %s", name.text, line, message);
}

Piece piece_trim(Piece p) {
  while (p.length && ascii_is_space(p.text[p.length - 1])) p.length--;
  while (p.length && ascii_is_space(*p.text)) p.text++, p.length--;
  return p;
}

bool piece_starts(Piece p, const char *prefix) {
  return p.length >= strlen(prefix) && memcmp(p.text, prefix, strlen(prefix)) == 0;
}

bool piece_is(Piece p, const char *text) { return p.length == strlen(text) && piece_starts(p, text); }

Quote piece_quote(Piece p) { return quote(p.text, p.length); }

Piece piece_after(Piece p, size_t n) { return piece_trim((Piece){p.text + n, p.length - n}); }

Piece piece_word(Piece *rest) {
  size_t n = 0;
  while (n < rest->length && !ascii_is_space(rest->text[n])) n++;
  const Piece word = {rest->text, n};
  *rest = piece_after(*rest, n);
  return word;
}

bool piece_split(Piece p, char mark, Piece *before, Piece *behind) {
  const char *at = memchr(p.text, mark, p.length);
  const size_t n = at ? (size_t)(at - p.text) : p.length;
  *before = piece_trim((Piece){p.text, n});
  *behind = piece_after(p, n + (at != NULL));
  return at;
}

int piece_line(Piece text, const char *at, int line) {
  for (const char *p = text.text; p < at; p++) line += *p == '\n';
  return line;
}

Piece piece_file(const char *buffer, size_t length) {
  const Piece all = {buffer, length};
  return piece_starts(all, "\xEF\xBB\xBF") ? (Piece){buffer + 3, length - 3} : all;
}

Piece piece_next_line(Piece *rest) {
  const char *end = memchr(rest->text, '\n', rest->length);
  Piece line = {rest->text, end ? (size_t)(end - rest->text) : rest->length};
  rest->text += line.length + (end != NULL);
  rest->length -= line.length + (end != NULL);
  if (line.length && line.text[line.length - 1] == '\r') line.length--;
  return line;
}

Status piece_check(Piece line, size_t most, const char *file, int at, Error *error) {
  const unsigned char *text = (const unsigned char *)line.text;
  if (line.length > most)
    return keyfile_refuse(file, at, error, "the line is %zu bytes long; at most %zu are read", line.length, most);
  for (size_t i = 0, n; i < line.length; i += n) {
    n = utf8_sequence(text + i, line.length - i);
    if (n == 0)
      return keyfile_refuse(file, at, error, "byte %zu is 0x%02X, which is not UTF-8; save the file as UTF-8", i + 1,
                            text[i]);
    if (utf8_is_unsafe(text + i) && text[i] != '\t')
      return keyfile_refuse(file, at, error,
                            "byte %zu is a control character (0x%02X); only printable text and tabs may stand here",
                            i + 1, text[i]);
  }
  return STATUS_OK;
}
