/* The text of a counter file, whatever wrote it: bytes become lines of UTF-8, and lines become fields.
 *
 *     bytes    a byte order mark is left out; UTF-16 of either order is decoded, with a mark or without one
 *     lines    end with \n or \r\n; the last one need not end; one field in quotes may hold line ends
 *     fields   apart by ',', ';' or a tab; "" within quotes is one quote
 *
 * Only one line is held at a time, so a file of any length is read in the memory of its longest line. */
#ifndef TILEWALK_KERNELS_COUNTERS_NCU_TEXT_H
#define TILEWALK_KERNELS_COUNTERS_NCU_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/error.h"

enum { NCU_MAX_COLUMNS = 8192, NCU_MAX_LINE_BYTES = 4 << 20 };

typedef struct {
  const char *at; /* no zero follows */
  size_t length;
} NcuField;

typedef struct {
  FILE *file;
  FILE *decoded; /* that file, of UTF-16; else NULL */
  char *line;    /* UTF-8 */
  size_t length;
  int64_t line_number; /* of the line read last, from 1; its first one where a field holds line ends */
  int64_t lines_begun; /* of the file */
  bool has_end;        /* the line read last ended with \n */
  char *cells;         /* room for the characters of the fields, as large as that of the line */
  NcuField *fields;    /* NCU_MAX_COLUMNS; of the line that was split last */
  int n_fields;
  bool last_is_quoted;
} NcuText;

/* A file that can be read twice. Errors: one of another kind, known by its first bytes. After an error, too,
 * ncu_text_free. */
Status ncu_text_open(NcuText *text, FILE *file, Error *error);
void ncu_text_free(NcuText *text);

/* Back to the first line. */
void ncu_text_rewind(NcuText *text);

/* The next line, without its end. *got false: there is none. Errors: a line longer than NCU_MAX_LINE_BYTES, a zero
 * byte (a binary file). */
Status ncu_text_line(NcuText *text, bool *got, Error *error);

/* Puts the next line behind this one, with a \n between: a field in quotes goes on there. */
Status ncu_text_join(NcuText *text, bool *got, Error *error);

/* How a line falls into fields. */
typedef enum { NCU_SPLIT_OK = 0, NCU_SPLIT_OPEN /* a quote is not closed */, NCU_SPLIT_TOO_MANY } NcuSplit;

/* Splits the line into text->fields, without their quotes; the line stays as it is. */
NcuSplit ncu_text_split(NcuText *text, char delimiter);

/* Whether a word stands anywhere in the line; whether it begins so. */
bool ncu_text_has(const NcuText *text, const char *word);
bool ncu_text_begins(const NcuText *text, const char *word);

bool ncu_field_is(NcuField field, const char *word);
/* The field without blanks around it. */
NcuField ncu_field_trim(NcuField field);
/* As much of it as there is room for, and a zero; what is not printable becomes '?'. */
void ncu_field_copy(NcuField from, char *to, size_t size);
/* Whether a field is a number of up to 18 digits; *value, where it is. */
bool ncu_digits(NcuField field, int64_t *value);
/* Whether a line is no part of a table: blank, a remark, or of ncu's own. */
bool ncu_is_skipped(const NcuText *text);
/* "line N: WHY". */
__attribute__((format(printf, 3, 4))) Status ncu_fail(int64_t line, Error *error, const char *why, ...);

#endif
