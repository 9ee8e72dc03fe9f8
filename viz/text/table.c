#include "viz/text/table.h"

#include "sim/base/ascii.h"
#include "viz/text/glyphs.h"
#include "viz/text/number.h"
#include "viz/text/print.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ITEM_CELL, ITEM_RULE, ITEM_GROUP, ITEM_NOTE } ItemKind;

struct TableItem {
  ItemKind kind;
  TextRole role;
  size_t shown, csv; /* offsets in the store */
};

enum { GAP = 2, WRAP_MIN = 16, CUT_MIN = 8 };

/* ---- building ---- */

/* "HBM read", "MiB" -> "hbm_read_mib": letters, digits and underscores. */
static void column_name(const TableColumn *column, char *name, size_t size) {
  snprintf(name, size, "%s%s%s", column->heading ? column->heading : "", column->unit ? " " : "",
           column->unit ? column->unit : "");
  char *out = name;
  for (const char *p = name; *p; p++) {
    bool word = ascii_is_alnum((unsigned char)*p) != 0 && (unsigned char)*p < 0x80;
    if (word)
      *out++ = (char)ascii_lower((unsigned char)*p);
    else if (out > name && out[-1] != '_')
      *out++ = '_';
  }
  while (out > name && out[-1] == '_') out--;
  *out = '\0';
}

Table table_new(const TableColumn *columns, int n_columns) {
  assert(n_columns >= 1 && n_columns <= TABLE_COLUMNS_MAX);
  Table table = {.n_columns = n_columns};
  for (int i = 0; i < n_columns; i++) {
    char name[128];
    column_name(&columns[i], name, sizeof name);
    table.columns[i].heading = text_store_add(&table.text, columns[i].heading);
    table.columns[i].unit = text_store_add(&table.text, columns[i].unit);
    table.columns[i].csv = text_store_add(&table.text, columns[i].csv       ? columns[i].csv
                                                       : *name              ? name
                                                       : columns[i].heading ? ""
                                                                            : "-");
    table.columns[i].key = text_store_add(&table.text, columns[i].key);
    table.columns[i].right = columns[i].right;
    table.columns[i].is_shown = columns[i].heading != NULL;
    table.columns[i].shrink = columns[i].shrink;
  }
  return table;
}

void table_free(Table *table) {
  text_store_free(&table->text);
  free(table->items);
  *table = (Table){0};
}

static void add_item(Table *table, struct TableItem item) {
  if (table->status == STATUS_OK) table->status = table->text.status;
  if (table->status != STATUS_OK) return;
  void *items = table->items;
  if (!grow_array(&items, &table->capacity, table->n_items + 1, sizeof(struct TableItem))) {
    table->status = STATUS_NO_MEMORY;
    return;
  }
  table->items = items;
  table->items[table->n_items++] = item;
}

/* Into the last row of the array, or a new one; steals the value. */
static void put_json(Table *table, json_t *value) {
  const char *key = text_store_get(&table->text, table->columns[table->next_column].key);
  if (table->next_column == 0 && (table->row = json_object()) && json_array_append_new(table->rows, table->row))
    table->row = NULL;
  table->next_column = (table->next_column + 1) % table->n_columns;
  if (*key && (!value || !table->row || json_object_set_new(table->row, key, value))) table->status = STATUS_NO_MEMORY;
  if (!*key || !table->row) json_decref(value);
}

static void add_cell(Table *table, TextRole role, size_t shown, size_t csv) {
  add_item(table, (struct TableItem){ITEM_CELL, role, shown, csv});
  table->next_column = (table->next_column + 1) % table->n_columns;
}

static void add_line(Table *table, ItemKind kind, size_t text) {
  while (table->next_column != 0) table_empty(table, false);
  add_item(table, (struct TableItem){kind, ROLE_PLAIN, text, 0});
}

/* Whether cells and lines are kept as text. */
static bool keeps_text(const Table *table) { return !table->rows && !table->is_muted; }

/* A cell of two texts, and in JSON a value, which is made only where it is asked for. */
#define CELL(table, role, shown, exact, value)                                                                         \
  do {                                                                                                                 \
    if ((table)->rows)                                                                                                 \
      put_json(table, value);                                                                                          \
    else if (!(table)->is_muted)                                                                                       \
      add_texts(table, role, shown, exact);                                                                            \
  } while (0)

static void add_texts(Table *table, TextRole role, const char *shown, const char *exact) {
  const size_t offset = text_store_add(&table->text, shown);
  add_cell(table, role, offset, exact == shown ? offset : text_store_add(&table->text, exact));
}

void table_text(Table *table, TextRole role, const char *text) { CELL(table, role, text, text, json_string(text)); }

void table_pair(Table *table, TextRole role, const char *shown, const char *csv) {
  CELL(table, role, shown, csv, json_string(shown));
}

void table_flag(Table *table, TextRole role, bool flag, const char *yes, const char *no) {
  CELL(table, role, flag ? yes : no, flag ? "true" : "false", json_boolean(flag));
}

void table_format(Table *table, TextRole role, const char *format, ...) {
  if (table->is_muted) return;
  va_list arguments;
  va_start(arguments, format);
  size_t offset = text_store_format(&table->text, format, arguments);
  va_end(arguments);
  if (table->rows)
    put_json(table, json_string(text_store_get(&table->text, offset)));
  else
    add_cell(table, role, offset, offset);
}

void table_bytes(Table *table, TextRole role, Wide bytes) {
  CELL(table, role, number_bytes(bytes).text, number_digits(bytes).text, table_json_whole(bytes));
}

void table_count(Table *table, TextRole role, Wide count) {
  CELL(table, role, number_count(count).text, number_digits(count).text, table_json_whole(count));
}

void table_digits(Table *table, TextRole role, Wide number) {
  CELL(table, role, number_digits(number).text, number_digits(number).text, table_json_whole(number));
}

void table_tokens(Table *table, TextRole role, Wide tokens) {
  CELL(table, role, number_tokens(tokens).text, number_digits(tokens).text, table_json_whole(tokens));
}

void table_flops(Table *table, TextRole role, Wide flops) {
  CELL(table, role, number_flops(flops).text, number_digits(flops).text, table_json_whole(flops));
}

void table_ratio(Table *table, TextRole role, double ratio) {
  CELL(table, role, number_ratio(ratio).text, number_exact_double(ratio).text, json_real(ratio));
}

void table_percent(Table *table, TextRole role, double fraction) {
  CELL(table, role, number_percent(fraction).text, number_exact_double(fraction).text, json_real(fraction));
}

void table_seconds(Table *table, TextRole role, double seconds) {
  CELL(table, role, number_seconds(seconds).text, number_exact_double(seconds).text, json_real(seconds));
}

void table_double(Table *table, TextRole role, double value, int digits) {
  CELL(table, role, number_double(value, digits).text, number_exact_double(value).text, json_real(value));
}

void table_real(Table *table, TextRole role, double value, const char *shown) {
  CELL(table, role, shown, number_exact_double(value).text, json_real(value));
}

void table_empty(Table *table, bool dash) { CELL(table, ROLE_DIM, dash ? "-" : "", "", json_null()); }

void table_rule(Table *table) {
  if (keeps_text(table)) add_line(table, ITEM_RULE, 0);
}

void table_title(Table *table, const char *format, ...) {
  if (!keeps_text(table)) return;
  va_list arguments;
  va_start(arguments, format);
  table->title = text_store_format(&table->text, format, arguments);
  va_end(arguments);
}

void table_group(Table *table, const char *format, ...) {
  if (!keeps_text(table)) return;
  va_list arguments;
  va_start(arguments, format);
  add_line(table, ITEM_GROUP, text_store_format(&table->text, format, arguments));
  va_end(arguments);
}

void table_note(Table *table, const char *format, ...) {
  if (!keeps_text(table)) return;
  va_list arguments;
  va_start(arguments, format);
  add_line(table, ITEM_NOTE, text_store_format(&table->text, format, arguments));
  va_end(arguments);
}

static Status check_built(const Table *table, Error *error) {
  Status status = table->status != STATUS_OK ? table->status : table->text.status;
  if (status == STATUS_OK) return status;
  return error_set(error, status, "out of memory while a table was built; nothing was printed");
}

/* ---- layout ---- */

typedef struct {
  int width[TABLE_COLUMNS_MAX];
  int total;
  bool as_list;
} Layout;

static const char *at(const Table *table, size_t offset) { return text_store_get(&table->text, offset); }

/* Columns of the longest line (or the longest word) of a text. */
static int longest_piece(const TextStyle *style, const char *text, const char *separators) {
  int longest = 0;
  while (*text) {
    size_t length = strcspn(text, separators);
    int columns = text_columns_n(style, text, length);
    if (columns > longest) longest = columns;
    text += length + (text[length] != '\0');
  }
  return longest;
}

static int unit_columns(const Table *table, const TextStyle *style, int column) {
  const char *unit = at(table, table->columns[column].unit);
  return *unit ? text_columns(style, unit) + 2 : 0; /* in brackets */
}

static int larger(int a, int b) { return a > b ? a : b; }

static int total_width(const Table *table, const Layout *layout) {
  int total = -GAP;
  for (int i = 0; i < table->n_columns; i++)
    if (table->columns[i].is_shown) total += layout->width[i] + GAP;
  return total;
}

/* The cells' own widths. Held to a bound, so that the sum cannot overflow. */
static void measure_cells(const Table *table, const TextStyle *style, int *width) {
  for (int i = 0; i < table->n_columns; i++) width[i] = unit_columns(table, style, i);
  int column = 0;
  for (size_t i = 0; i < table->n_items; i++) {
    if (table->items[i].kind != ITEM_CELL) continue;
    int columns = longest_piece(style, at(table, table->items[i].shown), "\n");
    if (columns > 2 * TEXT_WIDTH_MAX) columns = 2 * TEXT_WIDTH_MAX;
    width[column] = larger(width[column], columns);
    column = (column + 1) % table->n_columns;
  }
}

/* Rule 2 of the header: one column off the widest wrapped column at a time. */
static void shrink_wrapped(const Table *table, Layout *layout, int excess) {
  for (; excess > 0; excess--) {
    int widest = -1;
    for (int i = 0; i < table->n_columns; i++)
      if (table->columns[i].is_shown && table->columns[i].shrink == TABLE_WRAP && layout->width[i] > WRAP_MIN &&
          (widest < 0 || layout->width[i] > layout->width[widest]))
        widest = i;
    if (widest < 0) return;
    layout->width[widest]--;
  }
}

/* Rule 3: cut from the right. */
static void shrink_cut(const Table *table, Layout *layout, int excess) {
  for (int i = table->n_columns - 1; i >= 0 && excess > 0; i--) {
    int spare = layout->width[i] - CUT_MIN;
    if (!table->columns[i].is_shown || table->columns[i].shrink != TABLE_CUT || spare <= 0) continue;
    int taken = spare < excess ? spare : excess;
    layout->width[i] -= taken;
    excess -= taken;
  }
}

static Layout lay_out(const Table *table, const TextStyle *style) {
  Layout layout = {.as_list = false};
  int cells[TABLE_COLUMNS_MAX];
  measure_cells(table, style, cells);
  for (int i = 0; i < table->n_columns; i++) {
    const char *heading = at(table, table->columns[i].heading);
    layout.width[i] = larger(cells[i], longest_piece(style, heading, "\n"));
  }
  if (total_width(table, &layout) > style->width)
    for (int i = 0; i < table->n_columns; i++) {
      const char *heading = at(table, table->columns[i].heading);
      layout.width[i] = larger(cells[i], longest_piece(style, heading, " \n"));
    }
  shrink_wrapped(table, &layout, total_width(table, &layout) - style->width);
  shrink_cut(table, &layout, total_width(table, &layout) - style->width);
  layout.total = total_width(table, &layout);
  layout.as_list = layout.total > style->width;
  if (layout.total > style->width) layout.total = style->width;
  return layout;
}

/* ---- printing ---- */

/* The line being printed. Spaces are held back until text follows, so that no line ends in one. */
typedef struct {
  FILE *out;
  const TextStyle *style;
  int spaces;
} Line;

/* One line of one cell, padded to the column's width; `text` up to `bytes`. */
static void put_cell(Line *line, TextRole role, const char *text, size_t bytes, int width, bool right) {
  int padding = width - text_columns_n(line->style, text, bytes);
  if (right) line->spaces += padding;
  if (bytes > 0) {
    text_repeat(line->out, " ", line->spaces);
    line->spaces = 0;
    fputs(text_role_begin(line->style, role), line->out);
    text_write_n(line->out, line->style, text, bytes);
    fputs(text_role_end(line->style, role), line->out);
  }
  if (!right) line->spaces += padding;
  line->spaces += GAP;
}

static void end_line(Line *line) {
  fputc('\n', line->out);
  line->spaces = 0;
}

static void put_rule(FILE *out, const TextStyle *style, int width) {
  fputs(text_role_begin(style, ROLE_DIM), out);
  text_repeat(out, style->utf8 ? "\xe2\x94\x80" : "-", width);
  fputs(text_role_end(style, ROLE_DIM), out);
  fputc('\n', out);
}

/* The number of lines that a heading takes, its unit included. */
static int heading_lines(const Table *table, const TextStyle *style, const Layout *layout, int column) {
  const char *rest = at(table, table->columns[column].heading);
  int lines = table->columns[column].unit ? 1 : 0;
  while (*rest) {
    text_wrap(style, &rest, layout->width[column]);
    lines++;
  }
  return lines;
}

/* Headings stand on the rule: shorter ones start lower. */
static void put_headings(const Table *table, FILE *out, const TextStyle *style, const Layout *layout) {
  int n_lines = 0;
  for (int i = 0; i < table->n_columns; i++) n_lines = larger(n_lines, heading_lines(table, style, layout, i));
  if (n_lines == 0) return;
  const char *rest[TABLE_COLUMNS_MAX];
  int start[TABLE_COLUMNS_MAX];
  for (int i = 0; i < table->n_columns; i++) {
    rest[i] = at(table, table->columns[i].heading);
    start[i] = n_lines - heading_lines(table, style, layout, i);
  }
  Line line = {out, style, 0};
  for (int n = 0; n < n_lines; n++, end_line(&line)) {
    for (int i = 0; i < table->n_columns; i++) {
      if (!table->columns[i].is_shown) continue;
      int width = layout->width[i];
      bool right = table->columns[i].right;
      const char *text = rest[i];
      char unit[64];
      snprintf(unit, sizeof unit, "(%s)", at(table, table->columns[i].unit));
      if (n < start[i])
        put_cell(&line, ROLE_PLAIN, "", 0, width, right);
      else if (*text)
        put_cell(&line, ROLE_HEADING, text, text_wrap(style, &rest[i], width), width, right);
      else
        put_cell(&line, ROLE_DIM, unit, strlen(unit), width, right);
    }
  }
  put_rule(out, style, layout->total);
}

/* The cell at a column of the row that starts at item `first`, or an empty one if the last row ends
 * early. */
static struct TableItem cell_at(const Table *table, size_t first, int column) {
  size_t index = first + (size_t)column;
  if (index < table->n_items && table->items[index].kind == ITEM_CELL) return table->items[index];
  return (struct TableItem){ITEM_CELL, ROLE_PLAIN, 0, 0};
}

/* A cell cut with an ellipsis. */
static void put_cut(Line *line, TextRole role, const char *text, int width, bool right) {
  const char *dots = line->style->utf8 ? "\xe2\x80\xa6" : "...";
  char shown[4 * 2 * TEXT_WIDTH_MAX + 8];
  size_t bytes = text_fit(line->style, text, width - text_columns(line->style, dots));
  if (bytes > sizeof shown - 8) bytes = sizeof shown - 8;
  memcpy(shown, text, bytes);
  strcpy(shown + bytes, dots);
  put_cell(line, role, shown, strlen(shown), width, right);
}

static void put_row(const Table *table, FILE *out, const TextStyle *style, const Layout *layout, size_t first) {
  const char *rest[TABLE_COLUMNS_MAX];
  for (int i = 0; i < table->n_columns; i++) rest[i] = at(table, cell_at(table, first, i).shown);
  Line line = {out, style, 0};
  for (bool more = true; more; end_line(&line)) {
    more = false;
    for (int i = 0; i < table->n_columns; i++) {
      if (!table->columns[i].is_shown) continue;
      bool right = table->columns[i].right;
      TextRole role = cell_at(table, first, i).role;
      int width = layout->width[i];
      const char *text = rest[i];
      if (table->columns[i].shrink == TABLE_CUT && text_columns(style, text) > width) {
        put_cut(&line, role, text, width, right);
        rest[i] = "";
      } else {
        put_cell(&line, role, text, text_wrap(style, &rest[i], width), width, right);
      }
      more = more || *rest[i];
    }
  }
}

/* Rule 4: one line per cell. */
static void put_list_row(const Table *table, FILE *out, const TextStyle *style, size_t first) {
  int widest = 0;
  for (int i = 0; i < table->n_columns; i++) {
    int columns = text_columns(style, at(table, table->columns[i].heading));
    columns += table->columns[i].unit ? unit_columns(table, style, i) + 1 : 0;
    widest = larger(widest, columns);
  }
  if (widest > style->width / 2) widest = style->width / 2;
  for (int i = 0; i < table->n_columns; i++) {
    struct TableItem cell = cell_at(table, first, i);
    const char *rest = at(table, cell.shown), *unit = at(table, table->columns[i].unit);
    if (!*rest || !table->columns[i].is_shown) continue;
    char heading[256];
    snprintf(heading, sizeof heading, "%s%s%s%s", at(table, table->columns[i].heading), *unit ? " (" : "", unit,
             *unit ? ")" : "");
    for (char *p = heading; *p; p++)
      if (*p == '\n') *p = ' ';
    Line line = {out, style, 0};
    put_cell(&line, ROLE_DIM, heading, text_fit(style, heading, widest), widest, false);
    while (*rest) {
      const char *text = rest;
      size_t bytes = text_wrap(style, &rest, style->width - widest - GAP);
      put_cell(&line, cell.role, text, bytes, 0, false);
      end_line(&line);
      line.spaces = widest + GAP;
    }
  }
}

/* Prints the row that starts at an item and returns the index of what follows. */
static size_t put_cells(const Table *table, FILE *out, const TextStyle *style, const Layout *layout, size_t first) {
  if (layout->as_list)
    put_list_row(table, out, style, first);
  else
    put_row(table, out, style, layout, first);
  size_t next = first + (size_t)table->n_columns;
  if (next > table->n_items) next = table->n_items;
  if (layout->as_list && next < table->n_items && table->items[next].kind == ITEM_CELL) fputc('\n', out);
  return next;
}

Status table_print(const Table *table, FILE *out, const TextStyle *style, Error *error) {
  Status status = check_built(table, error);
  if (status != STATUS_OK) return status;
  Layout layout = lay_out(table, style);
  if (table->title) text_paragraph(out, style, ROLE_HEADING, 0, at(table, table->title));
  if (!layout.as_list) put_headings(table, out, style, &layout);
  for (size_t i = 0; i < table->n_items;) {
    const struct TableItem *item = &table->items[i];
    if (item->kind == ITEM_CELL) {
      i = put_cells(table, out, style, &layout, i);
      continue;
    }
    if (item->kind == ITEM_RULE) put_rule(out, style, layout.total);
    if (item->kind == ITEM_GROUP) text_paragraph(out, style, ROLE_ACCENT, 0, at(table, item->shown));
    i++;
  }
  for (size_t i = 0; i < table->n_items; i++)
    if (table->items[i].kind == ITEM_NOTE) text_paragraph(out, style, ROLE_DIM, 0, at(table, table->items[i].shown));
  return STATUS_OK;
}

/* ---- for programs ---- */

json_t *table_json_whole(Wide value) {
  return value <= (Wide)INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

static void put_field(FILE *out, const char *text) {
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) fputc('"', out);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"') fputc('"', out);
    fputc((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? '?' : c, out);
  }
  if (quoted) fputc('"', out);
}

Status table_csv(const Table *table, FILE *out, Error *error) {
  Status status = check_built(table, error);
  if (status != STATUS_OK) return status;
  const char *separator = "";
  for (int i = 0; i < table->n_columns && !table->continues; i++) {
    if (strcmp(at(table, table->columns[i].csv), "-") == 0) continue;
    fputs(separator, out);
    put_field(out, at(table, table->columns[i].csv));
    separator = ",";
  }
  if (!table->continues) fputc('\n', out);
  for (size_t i = 0; i < table->n_items;) {
    if (table->items[i].kind != ITEM_CELL) {
      i++;
      continue;
    }
    separator = "";
    for (int column = 0; column < table->n_columns; column++) {
      if (strcmp(at(table, table->columns[column].csv), "-") == 0) continue;
      fputs(separator, out);
      put_field(out, at(table, cell_at(table, i, column).csv));
      separator = ",";
    }
    fputc('\n', out);
    i += (size_t)table->n_columns;
  }
  return STATUS_OK;
}
