#include "tests/support/recorded_rows.h"

#include "tests/support/test.h"
#include "tests/support/open_asset.h"

void recorded_open(RecordedRows *rows, const char *name) {
  rows->n_names = rows->n_cells = 0;
  rows->file = open_asset(name);
}

/* The cells of a line, which it cuts; a cell in quotes may have commas. */
static int cut(char *line, const char *cells[RECORDED_COLUMNS_MAX]) {
  int n = 0;
  for (char *at = line; at; n++) {
    assert_true(n < RECORDED_COLUMNS_MAX);
    const bool is_quoted = *at == '"';
    char *end = is_quoted ? strchr(++at, '"') : at;
    assert_non_null(end);
    cells[n] = at;
    at = strchr(end, ',');
    if (is_quoted) *end = '\0';
    if (at) *at++ = '\0';
  }
  return n;
}

static void add_words(RecordedRows *rows, char *config) {
  const char *name = "kind";
  for (char *rest = config, *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
    char *value = strchr(word, '=');
    if (value) *value++ = '\0', name = word;
    assert_true(rows->n_cells < RECORDED_COLUMNS_MAX);
    rows->names[rows->n_cells] = name;
    rows->cells[rows->n_cells++] = value ? value : word;
  }
}

bool recorded_next(RecordedRows *rows) {
  while (fgets(rows->line, sizeof rows->line, rows->file)) {
    const size_t length = strcspn(rows->line, "\r\n");
    assert_true(length + 1 < sizeof rows->line);
    rows->line[length] = '\0';
    if (*rows->line == '#') continue;
    rows->n_cells = cut(rows->line, rows->cells);
    if (rows->n_names == 0 || strcmp(rows->cells[0], rows->names[0]) == 0) {
      memcpy(rows->head, rows->line, sizeof rows->head);
      rows->n_names = rows->n_cells;
      for (int c = 0; c < rows->n_names; c++) rows->names[c] = rows->head + (rows->cells[c] - rows->line);
      continue;
    }
    if (rows->n_cells > rows->n_names) rows->n_cells = rows->n_names;
    if (strcmp(rows->names[0], "config") == 0) {
      rows->n_cells = rows->n_names;
      add_words(rows, rows->line + (rows->cells[0] - rows->line));
    }
    return true;
  }
  fclose(rows->file);
  rows->file = NULL;
  return false;
}

const char *recorded_cell(const RecordedRows *rows, const char *column) {
  for (int c = 0; c < rows->n_cells; c++)
    if (strcmp(rows->names[c], column) == 0) return rows->cells[c];
  return "";
}

bool recorded_is(const RecordedRows *rows, const char *column, const char *text) {
  return strcmp(recorded_cell(rows, column), text) == 0;
}

double recorded_number(const RecordedRows *rows, const char *column) {
  const char *text = recorded_cell(rows, column);
  char *end;
  const double number = strtod(text, &end);
  if (end == text || *end) fail_msg("column %s has '%s', no number", column, text);
  return number;
}

int64_t recorded_whole(const RecordedRows *rows, const char *column) { return (int64_t)recorded_number(rows, column); }

void errors_add(Errors *errors, double predicted, double recorded) {
  assert_true(errors->n < ERRORS_MAX && recorded != 0);
  errors->of[errors->n++] = fabs(predicted / recorded - 1);
}

int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double errors_part(Errors *errors, double share) {
  if (errors->n == 0) return 0;
  qsort(errors->of, (size_t)errors->n, sizeof *errors->of, by_size);
  const int at = (int)(share * errors->n);
  return errors->of[at < errors->n ? at : errors->n - 1];
}
