#include "viz/text/markdown.h"

#include <md4c.h>
#include <stdlib.h>
#include <string.h>

#include "viz/text/glyphs.h"
#include "viz/text/table.h"

enum { DEPTH_MAX = 8, CELLS_MAX = 24, MARK_BYTES = 16 };

typedef struct {
  FILE *out;
  const TextStyle *style;
  char *text; /* of the block that is being read */
  size_t used, capacity;
  bool any; /* something is printed already */
  bool no_memory;
  bool in_code, in_picture;
  int depth;                        /* of open list items and quotes */
  char mark[DEPTH_MAX][MARK_BYTES]; /* "- ", "2. ", "> "; after its first line an item's is blank */
  bool is_quote[DEPTH_MAX];
  int number[DEPTH_MAX]; /* of the open lists: the next number; -1: bullets */
  bool is_tight[DEPTH_MAX];
  int lists;
  bool fresh; /* an item has begun and printed nothing yet */
  Table table;
  bool has_table;
  TableColumn columns[CELLS_MAX];
  char headings[CELLS_MAX][64];
  int n_columns, column;
} Markdown;

static void put(Markdown *m, const char *text, size_t length) {
  if (m->used + length + 1 > m->capacity) {
    const size_t capacity = 2 * (m->used + length + 64);
    char *grown = realloc(m->text, capacity);
    if (!grown) {
      m->no_memory = true;
      return;
    }
    m->text = grown;
    m->capacity = capacity;
  }
  memcpy(m->text + m->used, text, length);
  m->used += length;
  m->text[m->used] = '\0';
}

static void put_words(Markdown *m, const char *text) { put(m, text, strlen(text)); }

static void gap(Markdown *m) {
  const bool tight = m->fresh && m->lists > 0 && m->is_tight[m->lists - 1];
  if (m->any && !tight) fputc('\n', m->out);
  m->any = true;
}

/* The marks of all open items and quotes; returns the columns they take. */
static int put_margin(Markdown *m) {
  int columns = 0;
  for (int k = 0; k < m->depth; k++) {
    text_write(m->out, m->style, m->mark[k]);
    const int own = text_columns(m->style, m->mark[k]);
    columns += own;
    if (!m->is_quote[k]) snprintf(m->mark[k], sizeof m->mark[k], "%*s", own, "");
  }
  return columns;
}

static int margin_columns(const Markdown *m) {
  int columns = 0;
  for (int k = 0; k < m->depth; k++) columns += text_columns(m->style, m->mark[k]);
  return columns;
}

/* Prints the collected text as a paragraph. */
static void flush_text(Markdown *m, TextRole role) {
  const char *p = m->used ? m->text : "";
  if (!*p) return;
  gap(m);
  int columns = m->style->width - margin_columns(m);
  if (columns < TEXT_WIDTH_MIN) columns = TEXT_WIDTH_MIN;
  while (*p) {
    const char *line = p;
    const size_t length = text_wrap(m->style, &p, columns);
    put_margin(m);
    fputs(text_role_begin(m->style, role), m->out);
    text_write_n(m->out, m->style, line, length);
    fputs(text_role_end(m->style, role), m->out);
    fputc('\n', m->out);
  }
  m->fresh = false;
  m->used = 0;
}

static void flush_code(Markdown *m) {
  gap(m);
  for (const char *p = m->used ? m->text : ""; *p;) {
    const size_t length = strcspn(p, "\n");
    put_margin(m);
    fputs("    ", m->out);
    text_write_n(m->out, m->style, p, length);
    fputc('\n', m->out);
    p += length + (p[length] != '\0');
  }
  m->fresh = false;
  m->used = 0;
}

static void open_item(Markdown *m, const char *mark, bool is_quote) {
  if (m->depth == DEPTH_MAX) return;
  snprintf(m->mark[m->depth], MARK_BYTES, "%s", mark);
  m->is_quote[m->depth++] = is_quote;
  m->fresh = true;
}

static void enter_list(Markdown *m, int first, bool tight) {
  flush_text(m, ROLE_PLAIN); /* of a tight item above */
  if (m->lists == DEPTH_MAX) return;
  if (m->lists == 0 && m->any) fputc('\n', m->out), m->any = false;
  m->number[m->lists] = first;
  m->is_tight[m->lists++] = tight;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context) {
  Markdown *m = context;
  char mark[MARK_BYTES];
  switch (type) {
  case MD_BLOCK_QUOTE: open_item(m, m->style->utf8 ? "\xe2\x94\x82 " : "| ", true); break;
  case MD_BLOCK_UL: enter_list(m, -1, ((MD_BLOCK_UL_DETAIL *)detail)->is_tight != 0); break;
  case MD_BLOCK_OL:
    enter_list(m, (int)((MD_BLOCK_OL_DETAIL *)detail)->start, ((MD_BLOCK_OL_DETAIL *)detail)->is_tight != 0);
    break;
  case MD_BLOCK_LI:
    if (m->lists == 0) break;
    if (m->number[m->lists - 1] < 0)
      snprintf(mark, sizeof mark, "- ");
    else
      snprintf(mark, sizeof mark, "%d. ", m->number[m->lists - 1]++ % 100000);
    open_item(m, mark, false);
    break;
  case MD_BLOCK_CODE: m->in_code = true; break;
  case MD_BLOCK_TABLE:
    m->n_columns = (int)((MD_BLOCK_TABLE_DETAIL *)detail)->col_count;
    if (m->n_columns > CELLS_MAX) m->n_columns = CELLS_MAX;
    break;
  case MD_BLOCK_TR: m->column = 0; break;
  default: break;
  }
  return m->no_memory ? -1 : 0;
}

static void end_heading_cell(Markdown *m, const MD_BLOCK_TD_DETAIL *detail) {
  if (m->column < m->n_columns) {
    snprintf(m->headings[m->column], sizeof m->headings[0], "%s", m->used ? m->text : "");
    m->columns[m->column] = (TableColumn){
        .heading = m->headings[m->column], .right = detail->align == MD_ALIGN_RIGHT, .shrink = TABLE_WRAP};
  }
  m->column++;
  m->used = 0;
}

static void end_cell(Markdown *m) {
  if (m->has_table && m->column < m->n_columns) table_text(&m->table, ROLE_PLAIN, m->used ? m->text : "");
  m->column++;
  m->used = 0;
}

static void end_table(Markdown *m) {
  Error error = {0};
  if (!m->has_table) return;
  gap(m);
  if (table_print(&m->table, m->out, m->style, &error)) m->no_memory = true;
  table_free(&m->table);
  m->has_table = false;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context) {
  Markdown *m = context;
  switch (type) {
  case MD_BLOCK_H: flush_text(m, ROLE_HEADING); break;
  case MD_BLOCK_P:
  case MD_BLOCK_HTML: flush_text(m, ROLE_PLAIN); break;
  case MD_BLOCK_LI:
  case MD_BLOCK_QUOTE:
    flush_text(m, ROLE_PLAIN);
    if (m->depth > 0) m->depth--;
    break;
  case MD_BLOCK_UL:
  case MD_BLOCK_OL:
    if (m->lists > 0) m->lists--;
    break;
  case MD_BLOCK_CODE:
    flush_code(m);
    m->in_code = false;
    break;
  case MD_BLOCK_HR:
    gap(m);
    text_repeat(m->out, m->style->utf8 ? "\xe2\x94\x80" : "-", m->style->width < 40 ? m->style->width : 40);
    fputc('\n', m->out);
    break;
  case MD_BLOCK_TH: end_heading_cell(m, detail); break;
  case MD_BLOCK_TD: end_cell(m); break;
  case MD_BLOCK_THEAD:
    if (m->n_columns > 0 && !m->has_table) {
      m->table = table_new(m->columns, m->n_columns);
      m->has_table = true;
    }
    break;
  case MD_BLOCK_TABLE: end_table(m); break;
  default: break;
  }
  return m->no_memory ? -1 : 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context) {
  Markdown *m = context;
  (void)detail;
  if (type == MD_SPAN_CODE) put_words(m, "`");
  if (type == MD_SPAN_IMG) put_words(m, "[picture: ");
  return m->no_memory ? -1 : 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context) {
  Markdown *m = context;
  if (type == MD_SPAN_CODE) put_words(m, "`");
  if (type == MD_SPAN_IMG) put_words(m, "]");
  if (type == MD_SPAN_A) {
    const MD_ATTRIBUTE *to = &((MD_SPAN_A_DETAIL *)detail)->href;
    if (to->size > 4 && memcmp(to->text, "http", 4) == 0) {
      put_words(m, " (");
      put(m, to->text, to->size);
      put_words(m, ")");
    }
  }
  return m->no_memory ? -1 : 0;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *at, MD_SIZE size, void *context) {
  static const char *const ENTITIES[][2] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&nbsp;", " "}};
  Markdown *m = context;
  switch (type) {
  case MD_TEXT_BR: put_words(m, "\n"); break;
  case MD_TEXT_SOFTBR: put_words(m, " "); break;
  case MD_TEXT_NULLCHAR: break;
  case MD_TEXT_ENTITY:
    for (size_t k = 0; k < sizeof ENTITIES / sizeof *ENTITIES; k++)
      if (strlen(ENTITIES[k][0]) == size && memcmp(ENTITIES[k][0], at, size) == 0) {
        put_words(m, ENTITIES[k][1]);
        return m->no_memory ? -1 : 0;
      }
    put(m, at, size);
    break;
  default: put(m, at, size); break;
  }
  return m->no_memory ? -1 : 0;
}

Status text_markdown(FILE *out, const TextStyle *style, const char *source, size_t length, Error *error) {
  Markdown *m = calloc(1, sizeof *m);
  if (!m) return error_set(error, STATUS_NO_MEMORY, "no memory to print a text");
  m->out = out;
  m->style = style;
  const MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_NOHTML,
                            .enter_block = enter_block,
                            .leave_block = leave_block,
                            .enter_span = enter_span,
                            .leave_span = leave_span,
                            .text = text};
  const bool failed = md_parse(source, (MD_SIZE)length, &parser, m) != 0 || m->no_memory;
  if (m->has_table) table_free(&m->table);
  free(m->text);
  free(m);
  return failed ? error_set(error, STATUS_NO_MEMORY, "no memory to print a text") : STATUS_OK;
}
