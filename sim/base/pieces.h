/* Pieces of a text file from anybody, which no zero ends, and its lines. */
#ifndef TILEWALK_SIM_BASE_PIECES_H
#define TILEWALK_SIM_BASE_PIECES_H

#include "sim/base/error.h"
#include "sim/base/quote.h"

typedef struct {
  const char *text;
  size_t length;
} Piece;

Piece piece_trim(Piece p);
bool piece_is(Piece p, const char *text);
Quote piece_quote(Piece p); /* for messages */
bool piece_starts(Piece p, const char *prefix);
Piece piece_after(Piece p, size_t n); /* without its first n bytes, trimmed */
Piece piece_word(Piece *rest);        /* its first word; `rest` moves on behind it */

/* What stands before the first `mark`, and behind it, both trimmed; false: there is none, and all stands before it. */
bool piece_split(Piece p, char mark, Piece *before, Piece *behind);

/* The line of a place in a text that begins on `line`. */
int piece_line(Piece text, const char *at, int line);

/* A whole file; a byte order mark at its beginning is left out. */
Piece piece_file(const char *buffer, size_t length);

/* Takes the next line, without its end. */
Piece piece_next_line(Piece *rest);

/* Whether it is text: of at most so many bytes, UTF-8, without control characters. */
Status piece_check(Piece line, size_t most, const char *file, int at, Error *error);

/* "FILE:LINE: message"; line 0 leaves the line out. */
Status keyfile_refuse(const char *display_name, int line, Error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
