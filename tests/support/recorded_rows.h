/* Rows of a recording (assets/counters/INDEX.md), read by the names of their columns, for tests; fails the test where
 * it is not as it should be.
 *
 *     RecordedRows rows;
 *     for (recorded_open(&rows, "counters/h100/spills/first.csv"); recorded_next(&rows);)
 *       heads = recorded_whole(&rows, "heads");
 *
 * Lines that begin with # are not rows. A line that begins as the heading did is a heading of its own. In a column
 * "config" each word NAME=VALUE is a column too, and its first word is one called "kind". */
#ifndef TILEWALK_TESTS_SUPPORT_RECORDED_ROWS_H
#define TILEWALK_TESTS_SUPPORT_RECORDED_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RECORDED_COLUMNS_MAX = 64, RECORDED_LINE_BYTES = 1 << 14 };

typedef struct {
  FILE *file;
  char head[RECORDED_LINE_BYTES], line[RECORDED_LINE_BYTES];
  const char *names[RECORDED_COLUMNS_MAX], *cells[RECORDED_COLUMNS_MAX];
  int n_names, n_cells; /* of the heading; of this row, with the words of its config */
} RecordedRows;

/* name: of an asset, as "counters/h100/spills/first.csv". */
void recorded_open(RecordedRows *rows, const char *name);

/* Goes to the next row; false: there is none, and the file is closed. */
bool recorded_next(RecordedRows *rows);

/* The text of a cell; "": there is no such column, or nothing in it. */
const char *recorded_cell(const RecordedRows *rows, const char *column);

bool recorded_is(const RecordedRows *rows, const char *column, const char *text);

/* A cell as a number; fails the test where it is none. */
double recorded_number(const RecordedRows *rows, const char *column);
int64_t recorded_whole(const RecordedRows *rows, const char *column);

/* For qsort, of doubles: the smallest first. */
int by_size(const void *a, const void *b);

/* How far predictions are from what was recorded. */
enum { ERRORS_MAX = 4096 };
typedef struct {
  double of[ERRORS_MAX]; /* parts of what was recorded, without their sign */
  int n;
} Errors;

void errors_add(Errors *errors, double predicted, double recorded);

/* Within how much `share` of them are: 0.5 the median, 1 the worst; 0 of none. Sorts them. */
double errors_part(Errors *errors, double share);

#endif
