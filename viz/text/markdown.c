#include "viz/text/markdown.h"

#include <stdlib.h>
#include <string.h>

#include "viz/text/glyphs.h"
#include "viz/text/print.h"
#include "viz/text/prose.h"
#include "viz/text/table.h"

typedef struct {
  FILE *out;
  const TextStyle *style;
  bool any; /* something is printed already */
  Table table;
  bool has_table;
  TableColumn columns[PROSE_COLUMNS_MAX];
  char headings[PROSE_COLUMNS_MAX][64];
} Terminal;

/* The marks around a block: an item's in its first line, and blanks below; a quote's in each. Returns their columns. */
static int margin(const Terminal *t, const ProseBlock *b, bool prints, bool is_first) {
  int columns = 0;
  for (int k = 0; k < b->depth; k++) {
    char mark[PROSE_MARK_BYTES];
    const char *own = b->marks[k];
    if (own)
      snprintf(mark, sizeof mark, "%s ", strcmp(own, "•") == 0 ? "-" : own);
    else
      snprintf(mark, sizeof mark, "%s", t->style->utf8 ? "│ " : "| ");
    const int wide = text_columns(t->style, mark);
    columns += wide;
    if (prints && own && !(is_first && b->is_new[k])) snprintf(mark, sizeof mark, "%*s", wide, "");
    if (prints) text_write(t->out, t->style, mark);
  }
  return columns;
}

static void print_text(const Terminal *t, const ProseBlock *b, TextRole role) {
  int columns = t->style->width - margin(t, b, false, false);
  if (columns < TEXT_WIDTH_MIN) columns = TEXT_WIDTH_MIN;
  for (const char *p = b->text; *p;) {
    const char *line = p;
    const bool is_first = p == b->text;
    const size_t length = text_wrap(t->style, &p, columns);
    margin(t, b, true, is_first);
    text_print(t->out, t->style, role, "%.*s\n", (int)length, line);
  }
}

static void print_code(const Terminal *t, const ProseBlock *b) {
  for (const char *p = b->text, *next; *p || p == b->text; p = next) {
    const size_t length = strcspn(p, "\n");
    next = p + length + (p[length] != '\0');
    margin(t, b, true, p == b->text);
    fputs("    ", t->out);
    text_write_n(t->out, t->style, p, length);
    fputc('\n', t->out);
    if (next == p) break;
  }
}

/* The first row names the columns. */
static void take_cell(Terminal *t, const ProseBlock *b) {
  const int c = b->column;
  if (b->row == 0) {
    snprintf(t->headings[c], sizeof t->headings[c], "%s", b->text);
    t->columns[c] = (TableColumn){.heading = t->headings[c], .right = b->right, .shrink = TABLE_WRAP};
    if (c + 1 == b->n_columns) t->table = table_new(t->columns, b->n_columns), t->has_table = true;
  } else if (t->has_table) {
    table_text(&t->table, ROLE_PLAIN, b->text);
  }
}

static bool end_table(Terminal *t) {
  Error error = {0};
  const Status status = t->has_table ? table_print(&t->table, t->out, t->style, &error) : STATUS_OK;
  if (t->has_table) table_free(&t->table);
  t->has_table = false;
  return !status;
}

static bool take(void *data, const ProseBlock *b) {
  Terminal *t = data;
  if (b->kind == PROSE_CELL) return take_cell(t, b), true;
  if (b->kind == PROSE_TABLE && b->is_end) return end_table(t);
  if (t->any && !b->is_tight) fputc('\n', t->out);
  t->any = true;
  if (b->kind == PROSE_CODE) print_code(t, b);
  if (b->kind == PROSE_TEXT || b->kind == PROSE_HEADING)
    print_text(t, b, b->kind == PROSE_HEADING ? ROLE_HEADING : ROLE_PLAIN);
  if (b->kind != PROSE_RULE) return true;
  text_repeat(t->out, t->style->utf8 ? "─" : "-", t->style->width < 40 ? t->style->width : 40);
  fputc('\n', t->out);
  return true;
}

Status text_markdown(FILE *out, const TextStyle *style, const char *source, size_t length, Error *error) {
  Terminal *t = calloc(1, sizeof *t);
  if (t) t->out = out, t->style = style;
  const bool is_printed = t && prose_read(source, length, true, take, t);
  if (t && t->has_table) table_free(&t->table);
  free(t);
  return is_printed ? STATUS_OK : error_no_memory(error, "to print a text");
}
