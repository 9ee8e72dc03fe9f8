/* A table laid out for a terminal. */
#include <string.h>

#include "viz/text/glyphs.h"
#include "viz/text/print.h"
#include "viz/text/table_inner.h"

enum { GAP = 2, WRAP_MIN = 16, CUT_MIN = 8 };

typedef struct {
  int width[TABLE_COLUMNS_MAX];
  int total;
  bool as_list;
} Layout;

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
  const char *unit = table_item_text(table, table->columns[column].unit);
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
  for (size_t i = 0; i < table_end(table); i++) {
    if (table->items[i].kind != ITEM_CELL) continue;
    int columns = longest_piece(style, table_item_text(table, table->items[i].shown), "\n");
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
    const char *heading = table_item_text(table, table->columns[i].heading);
    layout.width[i] = larger(cells[i], longest_piece(style, heading, "\n"));
  }
  if (total_width(table, &layout) > style->width)
    for (int i = 0; i < table->n_columns; i++) {
      const char *heading = table_item_text(table, table->columns[i].heading);
      layout.width[i] = larger(cells[i], longest_piece(style, heading, " \n"));
    }
  shrink_wrapped(table, &layout, total_width(table, &layout) - style->width);
  shrink_cut(table, &layout, total_width(table, &layout) - style->width);
  layout.total = total_width(table, &layout);
  layout.as_list = layout.total > style->width;
  if (layout.total > style->width) layout.total = style->width;
  return layout;
}

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
    text_print(line->out, line->style, role, "%.*s", (int)bytes, text);
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
  const char *rest = table_item_text(table, table->columns[column].heading);
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
    rest[i] = table_item_text(table, table->columns[i].heading);
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
      snprintf(unit, sizeof unit, "(%s)", table_item_text(table, table->columns[i].unit));
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
  for (int i = 0; i < table->n_columns; i++) rest[i] = table_item_text(table, table_cell(table, first, i).shown);
  Line line = {out, style, 0};
  for (bool more = true; more; end_line(&line)) {
    more = false;
    for (int i = 0; i < table->n_columns; i++) {
      if (!table->columns[i].is_shown) continue;
      bool right = table->columns[i].right;
      TextRole role = table_cell(table, first, i).role;
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
    int columns = text_columns(style, table_item_text(table, table->columns[i].heading));
    columns += table->columns[i].unit ? unit_columns(table, style, i) + 1 : 0;
    widest = larger(widest, columns);
  }
  if (widest > style->width / 2) widest = style->width / 2;
  for (int i = 0; i < table->n_columns; i++) {
    struct TableItem cell = table_cell(table, first, i);
    const char *rest = table_item_text(table, cell.shown), *unit = table_item_text(table, table->columns[i].unit);
    if (!*rest || !table->columns[i].is_shown) continue;
    char heading[256];
    snprintf(heading, sizeof heading, "%s%s%s%s", table_item_text(table, table->columns[i].heading), *unit ? " (" : "",
             unit, *unit ? ")" : "");
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

size_t table_rows_shown(const Table *table) {
  size_t cells = 0;
  for (size_t i = 0; i < table_end(table); i++) cells += table->items[i].kind == ITEM_CELL;
  return (cells + (size_t)table->n_columns - 1) / (size_t)table->n_columns;
}

void table_show_rows(Table *table, size_t rows) {
  size_t cells = rows * (size_t)table->n_columns, end = 0;
  while (end < table->n_items && (cells || table->items[end].kind == ITEM_NOTE))
    cells -= table->items[end++].kind == ITEM_CELL;
  table->shown = end;
}

Status table_print(const Table *table, FILE *out, const TextStyle *style, Error *error) {
  Status status = table_check(table, error);
  if (status) return status;
  Layout layout = lay_out(table, style);
  if (table->title) text_paragraph(out, style, ROLE_HEADING, 0, table_item_text(table, table->title));
  if (!layout.as_list) put_headings(table, out, style, &layout);
  for (size_t i = 0; i < table_end(table);) {
    const struct TableItem *item = &table->items[i];
    if (item->kind == ITEM_CELL) {
      i = put_cells(table, out, style, &layout, i);
      continue;
    }
    if (item->kind == ITEM_RULE) put_rule(out, style, layout.total);
    if (item->kind == ITEM_GROUP) text_paragraph(out, style, ROLE_ACCENT, 0, table_item_text(table, item->shown));
    i++;
  }
  for (size_t i = 0; i < table->n_items; i++)
    if (table->items[i].kind == ITEM_NOTE)
      text_paragraph(out, style, ROLE_DIM, 0, table_item_text(table, table->items[i].shown));
  return STATUS_OK;
}
