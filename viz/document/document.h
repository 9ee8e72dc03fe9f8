/* What a command answers, made once and written by any writer: text for people, CSV, JSON, a picture.
 *
 *     Document d = document_new(DOCUMENT_JSON);
 *     put_values(&d, "gpu:s", "h200");                              // JSON alone
 *     Table *t = document_table(&d, DOCUMENT_ALL, "runs", columns, n); // a table; an array of objects in JSON
 *     put_cells(t, "s", "fa2");                                     // or as viz/text/table.h says
 *     put_row(&d, t);                                               // more values of the last row, in JSON
 *     put_values(&d, "ctas:i", ctas);
 *     put_end(&d);
 *     Status status = document_print(&d, stdout, &style, &error);
 *     document_free(&d);
 *
 * People get a screen of SCREEN_LINES lines: what a command marks as details is left out, and where that is not enough,
 * the longest tables end early and the last line says so. With --details they get all.
 *
 * A document is asked for in one form, and keeps nothing that only the others would show. The first failure sticks (no
 * memory): later calls do nothing, and printing reports it. JSON begins with "tilewalk": 1, the version of its form;
 * assets/schema.json describes it. Whole numbers beyond 2^63 - 1 are written there with an exponent, rounded to the
 * nearest double. */
#ifndef TILEWALK_VIZ_DOCUMENT_DOCUMENT_H
#define TILEWALK_VIZ_DOCUMENT_DOCUMENT_H

#include "sim/answer/report.h"
#include "viz/chart/bars.h"
#include "viz/chart/chart.h"
#include "viz/text/table.h"

/* Who reads it. PICTURE: nobody reads, the chart alone is drawn. */
typedef enum {
  DOCUMENT_TEXT = 1,
  DOCUMENT_CSV = 2,
  DOCUMENT_JSON = 4,
  DOCUMENT_PICTURE = 8,
  DOCUMENT_TABLES = DOCUMENT_TEXT | DOCUMENT_CSV,
  DOCUMENT_ALL = DOCUMENT_TABLES | DOCUMENT_JSON
} DocumentForm;

enum { DOCUMENT_DEPTH = 16, DOCUMENT_PATTERN = 1024, SCREEN_LINES = 24, SCREEN_ROWS_LEAST = 3 };

typedef struct {
  DocumentForm form;
  Status status;                /* the first error */
  json_t *open[DOCUMENT_DEPTH]; /* the containers being filled, outermost first; open[0] is the document */
  int depth;
  bool details;                      /* people asked for all of it, not for a screen */
  bool is_detail;                    /* what is added now is for them alone */
  unsigned digits;                   /* of JSON's real numbers; 0: all */
  Table spare;                       /* what a table is that there is no memory for */
  struct DocumentPart *first, *last; /* tables, charts and lines, in order */
} Document;

Document document_new(DocumentForm form);
void document_free(Document *document);

/* Adds a table for the writers in `forms`, a set of DocumentForm; in JSON its rows are an array under `key` of the
 * innermost container. The document keeps it; it stays where it is. */
Table *document_table(Document *document, unsigned forms, const char *key, const TableColumn *columns, int n_columns);

/* The same with columns that are apart by '|': a heading, and behind it [UNIT], > where it is right-aligned,
 * ~ where it may be wrapped, ! where it may be cut, =KEY of JSON, ;NAME in CSV, &NAME in both. Without a heading
 * people do not see it; ' ' is an empty one. */
Table *put_table(Document *document, unsigned forms, const char *key, const char *columns);

/* The columns of such a pattern, whose words are cut out of text; behind them @PATH and ?WHEN, for who fills them.
 * Returns how many there are. */
typedef struct {
  const char *path, *when; /* NULL: none */
} ColumnSource;
int document_columns(const char *pattern, char text[DOCUMENT_PATTERN], TableColumn columns[TABLE_COLUMNS_MAX],
                     ColumnSource sources[TABLE_COLUMNS_MAX]);

/* A chart or bars: plotted for people, drawn into a picture. Taken over; to be made only where they are shown. */
static inline bool document_shows_charts(const Document *document) {
  return document->form == DOCUMENT_TEXT || document->form == DOCUMENT_PICTURE;
}
void document_chart(Document *document, Chart *chart);
void document_bars(Document *document, Bars *bars);

/* For people: an empty line, or a paragraph in a role. */
void document_gap(Document *document);
void document_line(Document *document, TextRole role, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* People see what is added from here on with --details alone. */
static inline void document_details(Document *document) { document->is_detail = true; }

/* Its CSV has rows alone: the heading stands before those of another part. */
void document_continues(Document *document);

/* Values of JSON, in the innermost container, by a pattern of KEY:TYPE with blanks between:
 *
 *     put_values(d, "name:s link{bytes_per_s:f assumed:b} sizes[:i :i]", name, rate, assumed, m, n);
 *
 * s text or NULL, b bool, n int, i int64_t, u uint64_t, w Wide, f double, which is null where it is not finite, F
 * which is "inf", "-inf" or "nan" there, 0 null; { } and [ ] open and close a container, perhaps in another call. The
 * key % is an argument; in an array there is none. */
void put_values(Document *document, const char *pattern, ...);
void put_row(Document *document, const Table *table);              /* opens the table's last row */
void put_end(Document *document);                                  /* closes what was opened last */
void put_json(Document *document, const char *key, json_t *value); /* taken over; NULL: no memory */
void put_at(Document *document, const char *path, json_t *value);  /* "paged.bytes": makes what it lies in */

/* The next cells of a table by a pattern, a letter each: as above, where a number is a count and its capital bytes; and
 * t seconds, % a share, x a ratio, f and g six and three digits, d digits (int64_t), - and . nothing with and without a
 * dash. Before it * means an accent, ~ dim, @ that the role is an argument, ? that 0 is a dash. */
void put_cells(Table *table, const char *pattern, ...);

/* Rows of a table from values of JSON: the label, the value as a letter of put_cells has it (f: a double), and how it
 * is had, or what its object calls its kind. A value that is not there, or a count of 0, has no row. */
typedef struct {
  const char *label, *path, *how; /* path: "hbm.read_bytes"; label NULL: the last row */
  char as;
} ValueRow;
void put_value_rows(Table *table, const json_t *values, const ValueRow *rows);

/* A sink of sim/answer/report.h that fills the innermost container; of another form, one that does nothing. */
ReportSink document_sink(Document *document);

/* Prints it in its form. STATUS_NO_MEMORY if building it failed, and nothing is printed; write errors stay with the
 * stream (ferror). */
Status document_print(const Document *document, FILE *out, const TextStyle *style, Error *error);

/* What is drawn of it: the chart, or NULL; the bars, or NULL. */
Chart *document_drawn_chart(const Document *document);
Bars *document_drawn_bars(const Document *document);

#endif
