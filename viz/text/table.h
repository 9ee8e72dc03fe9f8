/* A table of results: built once; printed for people within a width, as CSV, or as an array of JSON objects.
 *
 *     Table table = table_new((TableColumn[]){
 *         {.heading = "algorithm"},
 *         {.heading = "read", .unit = "MiB", .right = true},
 *         {.heading = "why", .shrink = TABLE_WRAP}}, 3);
 *     table_text(&table, ROLE_PLAIN, "fa2");
 *     table_whole(&table, ROLE_ACCENT, number_bytes, total); // people read "66 MiB", CSV gets 69206016
 *     table_text(&table, ROLE_DIM, "K and V are read once per block of rows");
 *     Status status = table_print(&table, stdout, &style, &error);
 *     table_free(&table);
 *
 * Cells fill rows from left to right; a row starts by itself when the one before is full. The first
 * failure sticks (out of memory): later calls do nothing, and printing reports it.
 *
 * A table that is wider than the style is fitted in this order, until it fits:
 *   1. headings are broken at spaces;
 *   2. columns marked TABLE_WRAP are wrapped, the widest first;
 *   3. columns marked TABLE_CUT are cut with an ellipsis, the rightmost first;
 *   4. what still does not fit is printed as a list, one "heading: value" line per cell.
 * Numbers are never cut: a column is only shortened if it is marked. */
#ifndef TILEWALK_VIZ_TEXT_TABLE_H
#define TILEWALK_VIZ_TEXT_TABLE_H

#include <jansson.h>

#include "viz/text/number.h"
#include "viz/text/store.h"
#include "viz/text/style.h"

enum { TABLE_COLUMNS_MAX = 48 };

typedef enum { TABLE_KEEP = 0, TABLE_WRAP, TABLE_CUT } TableShrink;

typedef struct {
  const char *heading; /* copied; a newline breaks it; NULL: people do not see the column */
  const char *unit;    /* printed under the heading in brackets; NULL: none */
  const char *csv;     /* the column's name in CSV; NULL: heading and unit in lower case with
                          underscores. "-", or no heading either, leaves it out */
  const char *key;     /* in JSON; NULL leaves it out */
  bool right;          /* aligned right, as numbers are */
  TableShrink shrink;
} TableColumn;

typedef struct {
  TextStore text;
  Status status; /* the first error */
  int n_columns;
  struct {
    size_t heading, unit, csv, key; /* offsets in text */
    size_t above;                   /* for CSV alone: of the last real number, which long tables repeat; 0: none yet */
    double above_value;             /* which it is of */
    bool right, is_shown;
    TableShrink shrink;
  } columns[TABLE_COLUMNS_MAX];
  struct TableItem *items; /* cells, rules, group headings, notes, in order */
  size_t n_items, capacity;
  size_t shown;    /* rows and groups that people see end at this item; 0: all */
  int next_column; /* of the next cell; 0: the next cell starts a row */
  size_t title;
  json_t *rows,
      *row;       /* for JSON alone: the array that cells go to, and its last row; both belong to the array's owner */
  bool is_muted;  /* takes cells and keeps none */
  bool is_exact;  /* for CSV alone: keeps no text for people */
  bool continues; /* in CSV rows alone, without a heading: other rows of the same table stand before them */
} Table;

/* An empty table. Needs 1 <= n_columns <= TABLE_COLUMNS_MAX. */
Table table_new(const TableColumn *columns, int n_columns);
void table_free(Table *table);

/* A line above the table. Not in CSV. */
void table_title(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next cell, with the same text for people and CSV. */
void table_text(Table *table, TextRole role, const char *text);
void table_format(Table *table, TextRole role, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The next cell, with one text for people and JSON, and another for CSV. */
void table_pair(Table *table, TextRole role, const char *shown, const char *csv);

/* The next cell, one of two words for people; programs read true or false. */
void table_flag(Table *table, TextRole role, bool flag, const char *yes, const char *no);

/* The next cell from a number, as number_bytes or another of viz/text/number.h shows it; CSV and JSON get the exact
 * value in bytes, items, seconds or as a plain factor. */
void table_whole(Table *table, TextRole role, Number (*shown)(Wide), Wide value);
void table_number(Table *table, TextRole role, Number (*shown)(double), double value);
void table_real(Table *table, TextRole role, double value, const char *shown); /* as `shown` for people */

/* An empty cell; people see a dim "-" for "does not apply" if `dash`. CSV gets nothing, JSON null. */
void table_empty(Table *table, bool dash);

/* Between rows: a rule, a heading over the rows that follow, or a note, which is printed under the
 * table in full width. Not in CSV. A row that is not full is filled with empty cells. */
void table_rule(Table *table);
void table_group(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_note(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many rows people see, and how to let them see no more than so many. */
size_t table_rows_shown(const Table *table);
void table_show_rows(Table *table, size_t rows);

/* Prints the table for people. STATUS_NO_MEMORY if building it failed; write errors stay with the
 * stream (ferror). */
Status table_print(const Table *table, FILE *out, const TextStyle *style, Error *error);

/* Prints heading and rows with commas and quotes as RFC 4180 has them. Lines end in a plain
 * newline, because Unix tools take a carriage return for data. Control characters become "?". */
Status table_csv(const Table *table, FILE *out, Error *error);

/* An integer if it fits, else a real: JSON's integers end at 2^63 - 1. NULL: no memory. */
json_t *table_json_whole(Wide value);

/* A string, a '?' for each byte that is no UTF-8: text of a file may be anything. NULL: no memory. */
json_t *table_json_text(const char *text);

#endif
