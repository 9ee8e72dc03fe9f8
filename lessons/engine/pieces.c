/* Files from anybody, line by line, and their pieces. Part of lessons/engine/lesson_read.h. */
#include <string.h>

#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/utf8.h"

/* ---- Pieces */

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

/* ---- Lines */

static Status check_bytes(LessonReader *r, Piece line) {
  const unsigned char *text = (const unsigned char *)line.text;
  if (line.length > LESSON_LINE_BYTES)
    return LESSON_REFUSE(r, r->line, "the line is %zu bytes long; at most %d are read", line.length, LESSON_LINE_BYTES);
  for (size_t i = 0, n; i < line.length; i += n) {
    n = utf8_sequence(text + i, line.length - i);
    if (n == 0)
      return LESSON_REFUSE(r, r->line, "byte %zu is 0x%02X, which is not UTF-8; save the file as UTF-8", i + 1,
                           text[i]);
    if (utf8_is_unsafe(text + i) && text[i] != '\t')
      return LESSON_REFUSE(r, r->line, "byte %zu is a control character (0x%02X); only text may stand here", i + 1,
                           text[i]);
  }
  return STATUS_OK;
}

LessonReader lesson_reader(const char *file, Pool *pool, const char *buffer, size_t length, Error *error) {
  const size_t mark = length >= 3 && memcmp(buffer, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  return (LessonReader){.file = file, .pool = pool, .rest = {buffer + mark, length - mark}, .error = error};
}

Status lesson_next_line(LessonReader *r, Piece *line) {
  const char *end = memchr(r->rest.text, '\n', r->rest.length);
  const size_t length = end ? (size_t)(end - r->rest.text) : r->rest.length;
  *line = (Piece){r->rest.text, length};
  r->rest.text += length + (end != NULL);
  r->rest.length -= length + (end != NULL);
  r->line++;
  if (line->length && line->text[line->length - 1] == '\r') line->length--;
  return check_bytes(r, *line);
}
