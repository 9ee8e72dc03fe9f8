#define _POSIX_C_SOURCE 200809L /* strdup */
#include "viz/text/table_inner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/utf8.h"

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
  if (!table->status) table->status = table->text.status;
  if (table->status) return;
  void *items = table->items;
  if (!grow_array(&items, &table->capacity, table->n_items + 1, sizeof(struct TableItem))) {
    table->status = STATUS_NO_MEMORY;
    return;
  }
  table->items = items;
  table->items[table->n_items++] = item;
}

json_t *table_json_text(const char *text) {
  json_t *value = json_string(text);
  char *copy = value ? NULL : strdup(text);
  for (size_t at = 0, n, length = copy ? strlen(copy) : 0; at < length; at += n ? n : 1) {
    n = utf8_sequence((const unsigned char *)copy + at, length - at);
    if (!n) copy[at] = '?';
  }
  if (copy) value = json_string(copy);
  free(copy);
  return value;
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

/* A cell of two texts, and in JSON a value: each is made only where it is asked for. */
#define CELL(table, role, shown, exact, value)                                                                         \
  do {                                                                                                                 \
    if ((table)->rows)                                                                                                 \
      put_json(table, value);                                                                                          \
    else if (!(table)->is_muted)                                                                                       \
      add_texts(table, role, (table)->is_exact ? "" : (shown), exact);                                                 \
  } while (0)

/* The exact text of a number, which may be that of the cell above. */
static void add_exact(Table *table, TextRole role, double value) {
  const int column = table->next_column;
  size_t *above = &table->columns[column].above;
  double *above_value = &table->columns[column].above_value;
  if (!*above || memcmp(above_value, &value, sizeof value) != 0) {
    *above = text_store_add(&table->text, number_exact_double(value).text);
    *above_value = value;
  }
  add_cell(table, role, 0, *above);
}

/* The same of a real number. */
#define REAL_CELL(table, role, shown, value)                                                                           \
  do {                                                                                                                 \
    if (keeps_text(table) && (table)->is_exact)                                                                        \
      add_exact(table, role, value);                                                                                   \
    else                                                                                                               \
      CELL(table, role, shown, number_exact_double(value).text, json_real(value));                                     \
  } while (0)

static void add_texts(Table *table, TextRole role, const char *shown, const char *exact) {
  const size_t offset = text_store_add(&table->text, shown);
  add_cell(table, role, offset, exact == shown ? offset : text_store_add(&table->text, exact));
}

void table_text(Table *table, TextRole role, const char *text) { CELL(table, role, text, text, table_json_text(text)); }

void table_pair(Table *table, TextRole role, const char *shown, const char *csv) {
  CELL(table, role, shown, csv, table_json_text(shown));
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
    put_json(table, table_json_text(text_store_get(&table->text, offset)));
  else
    add_cell(table, role, offset, offset);
}

void table_whole(Table *table, TextRole role, Number (*shown)(Wide), Wide value) {
  CELL(table, role, shown(value).text, number_digits(value).text, table_json_whole(value));
}

void table_number(Table *table, TextRole role, Number (*shown)(double), double value) {
  REAL_CELL(table, role, shown(value).text, value);
}

void table_real(Table *table, TextRole role, double value, const char *shown) { REAL_CELL(table, role, shown, value); }

void table_empty(Table *table, bool dash) { CELL(table, ROLE_DIM, dash ? "-" : "", "", json_null()); }

void table_rule(Table *table) {
  if (keeps_text(table)) add_line(table, ITEM_RULE, 0);
}

/* Text for people between the rows, or the title: its place in the store. */
#define BETWEEN_ROWS(table, format, take)                                                                              \
  do {                                                                                                                 \
    if (!keeps_text(table)) break;                                                                                     \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    const size_t text = text_store_format(&(table)->text, format, arguments);                                          \
    va_end(arguments);                                                                                                 \
    take;                                                                                                              \
  } while (0)

void table_title(Table *table, const char *format, ...) { BETWEEN_ROWS(table, format, table->title = text); }
void table_group(Table *table, const char *format, ...) {
  BETWEEN_ROWS(table, format, add_line(table, ITEM_GROUP, text));
}
void table_note(Table *table, const char *format, ...) {
  BETWEEN_ROWS(table, format, add_line(table, ITEM_NOTE, text));
}

Status table_check(const Table *table, Error *error) {
  Status status = table->status != STATUS_OK ? table->status : table->text.status;
  if (!status) return status;
  return error_set(error, status, "out of memory while a table was built; nothing was printed");
}

const char *table_item_text(const Table *table, size_t offset) { return text_store_get(&table->text, offset); }

/* The cell at a column of the row that starts at item `first`, or an empty one if the last row ends
 * early. */
struct TableItem table_cell(const Table *table, size_t first, int column) {
  size_t index = first + (size_t)column;
  if (index < table->n_items && table->items[index].kind == ITEM_CELL) return table->items[index];
  return (struct TableItem){ITEM_CELL, ROLE_PLAIN, 0, 0};
}

json_t *table_json_whole(Wide value) {
  return (Wide)(json_int_t)value == value ? json_integer((json_int_t)value) : json_real((double)value);
}

static void put_field(FILE *out, const char *text) {
  bool quoted = false, plain = true;
  for (const char *p = text; *p; p++) {
    const unsigned char c = (unsigned char)*p;
    quoted |= c == ',' || c == '"' || c == '\r' || c == '\n';
    plain &= c >= 0x20 && c != 0x7f;
  }
  if (!quoted && plain) {
    fputs(text, out);
    return;
  }
  if (quoted) fputc('"', out);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"') fputc('"', out);
    fputc((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? '?' : c, out);
  }
  if (quoted) fputc('"', out);
}

/* The row that begins at an item; the heading where there is none. */
static void put_csv_row(const Table *table, FILE *out, const size_t *first) {
  const char *separator = "";
  for (int i = 0; i < table->n_columns; i++) {
    const char *name = table_item_text(table, table->columns[i].csv);
    if (strcmp(name, "-") == 0) continue;
    fputs(separator, out);
    put_field(out, first ? table_item_text(table, table_cell(table, *first, i).csv) : name);
    separator = ",";
  }
  fputc('\n', out);
}

Status table_csv(const Table *table, FILE *out, Error *error) {
  Status status = table_check(table, error);
  if (status) return status;
  if (!table->continues) put_csv_row(table, out, NULL);
  for (size_t i = 0; i < table->n_items;) {
    const bool is_row = table->items[i].kind == ITEM_CELL;
    if (is_row) put_csv_row(table, out, &i);
    i += is_row ? (size_t)table->n_columns : 1;
  }
  return STATUS_OK;
}
