#define _DEFAULT_SOURCE /* strsep */
#include "viz/cli/serve/service.h"

#include "viz/request/assets.h"

enum { CELLS = 5, FILE_BYTES_MAX = 1 << 16 };
enum { HOW, QUESTION, FIGURE, PRINTED, SOURCE };
static const char PATH[] = "assets/serving/printed.tsv";

/* A number with its unit. */
static void put(Table *t, const char *unit, double value) {
  if (!strcmp(unit, "B"))
    table_real(t, ROLE_PLAIN, value, number_bytes_decimal((Wide)value).text);
  else if (!strcmp(unit, "s"))
    table_number(t, ROLE_PLAIN, number_seconds, value);
  else if (!strcmp(unit, "FLOP"))
    table_real(t, ROLE_PLAIN, value, number_flops((Wide)value).text);
  else
    table_real(t, ROLE_PLAIN, value, number_double(value, 4).text);
}

static Status add_row(Table *t, char *line, Error *error) {
  char *cells[CELLS], *end;
  int n = 0;
  while (n < CELLS && (cells[n] = strsep(&line, "\t"))) n++;
  if (n < CELLS || line) return error_refuse(error, "a row has %d cells, apart by tabs", CELLS);
  const double printed = strtod(cells[PRINTED], &end);
  if (end == cells[PRINTED]) return error_refuse(error, "no number '%s'", quote_text(cells[PRINTED]).text);
  Document answer = document_new(DOCUMENT_JSON);
  Status status = serve_of_line(cells[QUESTION], &answer, error);
  double ours = 0;
  const char *unit = NULL, *kind;
  const Number section = number_text("%.*s", (int)strcspn(cells[FIGURE], "."), cells[FIGURE]);
  const char *key = cells[FIGURE] + strlen(section.text);
  if (!status && *key)
    json_unpack(answer.open[0], "{s:{s:{s:F,s:s,s:s}}}", section.text, key + 1, "value", &ours, "unit", &unit, "kind",
                &kind);
  if (!status && !unit) status = error_refuse(error, "serve has no figure '%s'", quote_text(cells[FIGURE]).text);
  if (!status) {
    put_cells(t, "s~ss", cells[HOW], cells[QUESTION], cells[FIGURE]);
    put(t, unit, printed);
    put(t, unit, ours);
    put_cells(t, "~s", kind);
    table_real(t, ROLE_ACCENT, printed / ours - 1, number_double(100 * (printed / ours - 1), 3).text);
    put_cells(t, "~s", cells[SOURCE]);
  }
  document_free(&answer);
  return status;
}

Status serve_printed(Document *d, Error *error) {
  char *text;
  size_t n_bytes;
  Error why = {0};
  Table *t = put_table(d, DOCUMENT_ALL, "printed",
                       d->form == DOCUMENT_TEXT && !d->details
                           ? "|question~|figure|printed>|ours>||larger by>|"
                           : "printed as=printed_as|question~=question|figure~=figure|printed>=printed|ours>=ours|"
                             "kind=kind|printed is larger by>&larger_by|source~=source");
  table_title(t, "Serving in print, and what serve computes");
  Status status = assets_read(PATH, FILE_BYTES_MAX, &text, &n_bytes, error);
  int line = 1;
  for (char *rest = text, *p; !status && (p = strsep(&rest, "\n")); line++) {
    if (!*p || *p == '#') continue;
    status = add_row(t, p, &why);
    if (status) error_set(error, status, "%s:%d: %s", PATH, line, why.message);
  }
  table_note(t, "In percent. What is measured is no better than its bound: a time is larger, tokens a second are fewer "
                "(negative). What is calculated by the same arithmetic differs by the printed rounding.");
  free(text);
  return status;
}
