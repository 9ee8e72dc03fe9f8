/* Words of a line, and errors about it. */
#include <stdarg.h>
#include <stdio.h>

#include "sim/algorithms/language/reader.h"
#include "sim/algorithms/language/language_words.h"
#include "sim/base/quote.h"

Status reader_fail(Reader *r, const char *format, ...) {
  char what[ERROR_MESSAGE_BYTES];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  return error_set(r->error, STATUS_BAD_FILE, "%s:%d: %s", quote_text(r->file).text, r->number, what);
}

Status reader_fail_near(Reader *r, unsigned places, const char *what, const char *right) {
  const char *word = reader_word(r), *near = words_nearest(word, places);
  char said[160];
  snprintf(said, sizeof said, what, word);
  return near ? reader_fail(r, "%s; did you mean '%s'?", said, near) : reader_fail(r, "%s; %s", said, right);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The length of the word that begins at text[0]; 0: no word begins so. */
static size_t word_length(const char *text, size_t length, WordKind *kind) {
  static const char *const PAIRS[] = {"+=", "*=", "^T", "<=", ">="};
  size_t n = 0;
  *kind = WORD_SYMBOL;
  for (size_t k = 0; k < COUNT_OF(PAIRS); k++)
    if (length >= 2 && strncmp(text, PAIRS[k], 2) == 0) return 2;
  if (strchr("+-*/^()=,;<>:", text[0])) return 1;
  if (is_digit(text[0])) {
    *kind = WORD_NUMBER;
    while (n < length && (is_digit(text[n]) || text[n] == '.')) n++;
    return n;
  }
  if (!is_letter(text[0])) return 0;
  *kind = WORD_NAME;
  while (n < length && (is_letter(text[n]) || is_digit(text[n]))) n++;
  while (n < length && text[n] == '\'') n++;
  if (n + 1 < length && text[n] == '_' && is_letter(text[n + 1]))
    for (n++; n < length && is_letter(text[n]);) n++;
  return n;
}

Status reader_words(Reader *r, const char *line, size_t length) {
  r->n_words = r->at = 0;
  for (size_t k = 0; k < length;) {
    WordKind kind;
    if (line[k] == ' ') {
      k++;
      continue;
    }
    const size_t n = word_length(line + k, length - k, &kind);
    if (n == 0 && line[k] == '_')
      return reader_fail(r, "a subscript is i, j, s or h, the block of a loop around the line, such as K_j; a block by "
                            "its number or beside it (K_0, K_{j+1}) cannot be named: loop over all, or use 'when'");
    if (n == 0)
      return reader_fail(r, "'%s' cannot stand here; a line has letters, digits and + - * / ^ ( ) = , ; : only",
                         quote(line + k, 1).text);
    if (n >= WORD_BYTES) return reader_fail(r, "'%s' is too long for a word", quote(line + k, n).text);
    if (r->n_words == WORDS_MAX) return reader_fail(r, "the line has more than %d words; divide it", WORDS_MAX);
    Word *w = &r->words[r->n_words++];
    *w = (Word){.kind = (uint8_t)kind};
    memcpy(w->text, line + k, n);
    k += n;
  }
  return STATUS_OK;
}

const char *reader_word(const Reader *r) { return r->at < r->n_words ? r->words[r->at].text : ""; }
bool reader_at_end(const Reader *r) { return r->at == r->n_words; }
bool reader_is(const Reader *r, const char *text) { return strcmp(reader_word(r), text) == 0; }

bool reader_take(Reader *r, const char *text) {
  if (reader_at_end(r) || !reader_is(r, text)) return false;
  r->at++;
  return true;
}

Status reader_expect(Reader *r, const char *text, const char *why) {
  if (reader_take(r, text)) return STATUS_OK;
  if (reader_at_end(r)) return reader_fail(r, "the line ends where '%s' should follow: %s", text, why);
  return reader_fail(r, "'%s' stands where '%s' should: %s", reader_word(r), text, why);
}

Status reader_finish(Reader *r) {
  return reader_at_end(r) ? STATUS_OK : reader_fail(r, "'%s' is too much on this line", reader_word(r));
}
