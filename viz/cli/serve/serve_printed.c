#include "viz/cli/serve/serve_printed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/request/assets.h"
#include "viz/text/number.h"

enum { CELLS = 5, ROWS_MAX = 64, FILE_BYTES_MAX = 1 << 16 };
static const char PATH[] = "assets/serving/printed.tsv";

typedef struct {
  char *cells[CELLS]; /* kind, question, figure, printed, source */
  double printed, ours;
  Figure figure;
} Row;

/* Cuts a line at its tabs, in place. False: not five cells. */
static bool cut(char *line, char *cells[CELLS]) {
  for (int c = 0; c < CELLS; c++) {
    cells[c] = line;
    line = strchr(line, '\t');
    if (c + 1 < CELLS && !line) return false;
    if (line) *line++ = '\0';
  }
  return line == NULL;
}

static Status fill(Row *row, int line, Error *error) {
  Figures *figures = malloc(sizeof *figures);
  Error why = {0};
  if (!figures) return error_set(error, STATUS_NO_MEMORY, "no memory for figures");
  char *end;
  row->printed = strtod(row->cells[3], &end);
  Status status = serve_of_line(row->cells[1], figures, &why);
  const Figure *f = status ? NULL : serve_figure(figures, row->cells[2]);
  if (status)
    error_set(error, status, "%s:%d: %s", PATH, line, why.message);
  else if (!f || end == row->cells[3])
    status = error_set(error, STATUS_BAD_REQUEST, "%s:%d: %s '%s'", PATH, line, f ? "no number" : "serve has no figure",
                       quote_text(row->cells[f ? 3 : 2]).text);
  else
    row->figure = *f, row->ours = f->value;
  free(figures);
  return status;
}

static Status read_rows(char *text, Row rows[ROWS_MAX], int *n, Error *error) {
  int line = 0;
  *n = 0;
  for (char *p = text, *next; p; p = next) {
    next = strchr(p, '\n');
    if (next) *next++ = '\0';
    line++;
    if (!*p || *p == '#') continue;
    if (*n == ROWS_MAX) return error_set(error, STATUS_TOO_LARGE, "%s: more than %d rows", PATH, ROWS_MAX);
    if (!cut(p, rows[*n].cells))
      return error_set(error, STATUS_BAD_REQUEST, "%s:%d: a row has %d cells, apart by tabs", PATH, line, CELLS);
    const Status status = fill(&rows[(*n)++], line, error);
    if (status) return status;
  }
  return STATUS_OK;
}

static void put(Table *t, const Figure *f, double value) {
  if (f->form == FIGURE_BYTES)
    table_real(t, ROLE_PLAIN, value, number_bytes_decimal((Wide)value).text);
  else if (f->form == FIGURE_SECONDS)
    table_seconds(t, ROLE_PLAIN, value);
  else if (f->form == FIGURE_FLOPS)
    table_real(t, ROLE_PLAIN, value, number_flops((Wide)value).text);
  else
    table_double(t, ROLE_PLAIN, value, 4);
}

/* By how much the printed value is larger. */
static double error_of(const Row *row) { return row->printed / row->ours - 1; }

static void fill_rows(Document *d, const Row *rows, int n) {
  static const TableColumn COLUMNS[] = {
      {.heading = "printed as", .key = "printed_as"},
      {.heading = "question", .key = "question", .shrink = TABLE_WRAP},
      {.heading = "figure", .key = "figure", .shrink = TABLE_WRAP},
      {.heading = "printed", .key = "printed", .right = true},
      {.heading = "ours", .key = "ours", .right = true},
      {.heading = "kind", .key = "kind"},
      {.heading = "printed is larger by", .csv = "larger_by", .key = "larger_by", .right = true},
      {.heading = "source", .key = "source", .shrink = TABLE_WRAP}};
  Table *t = document_table(d, DOCUMENT_ALL, "printed", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  table_title(t, "Serving in print, and what serve computes");
  for (int k = 0; k < n; k++) {
    const Row *r = &rows[k];
    table_text(t, ROLE_PLAIN, r->cells[0]);
    table_text(t, ROLE_DIM, r->cells[1]);
    table_text(t, ROLE_PLAIN, r->cells[2]);
    put(t, &r->figure, r->printed);
    put(t, &r->figure, r->ours);
    table_text(t, ROLE_DIM, r->figure.kind);
    table_real(t, ROLE_ACCENT, error_of(r), number_double(100 * error_of(r), 3).text);
    table_text(t, ROLE_DIM, r->cells[4]);
  }
  table_note(t, "In percent. What is measured is no better than its bound: a time is larger, tokens a second are fewer "
                "(negative). What is calculated by the same arithmetic differs by the printed rounding.");
}

Status serve_printed(Document *d, Error *error) {
  char *text;
  size_t n_bytes;
  int n = 0;
  Row *rows = calloc(ROWS_MAX, sizeof *rows);
  if (!rows) return error_set(error, STATUS_NO_MEMORY, "no memory for the table");
  char path[ASSETS_PATH_BYTES];
  Status status = assets_find(path, sizeof path, PATH, error);
  if (!status) status = file_read(path, FILE_BYTES_MAX, &text, &n_bytes, error);
  if (status) {
    free(rows);
    return status;
  }
  status = read_rows(text, rows, &n, error);
  if (!status) fill_rows(d, rows, n);
  free(text);
  free(rows);
  return status;
}
