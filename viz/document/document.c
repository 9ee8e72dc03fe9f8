#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "viz/document/document.h"

#include <math.h>
#include <stdlib.h>

#include "sim/answer/figure.h"
#include "viz/chart/plot.h"
#include "viz/text/print.h"

typedef enum { PART_TABLE, PART_CHART, PART_BARS, PART_LINE } PartKind;

struct DocumentPart {
  PartKind kind;
  struct DocumentPart *next;
  Table table; /* its words are those of a line */
  Chart chart;
  Bars bars;
  TextRole role;
  bool is_hidden;
};

static void fail(Document *d) { d->status = STATUS_NO_MEMORY; }

Document document_new(DocumentForm form) {
  Document d = {.form = form, .spare = {.n_columns = 1, .is_muted = true}};
  if (form != DOCUMENT_JSON) return d;
  d.open[d.depth++] = json_object();
  put_values(&d, "tilewalk:n", 1);
  return d;
}

static void free_part(struct DocumentPart *part) {
  table_free(&part->table);
  if (part->kind == PART_CHART) chart_free(&part->chart);
  if (part->kind == PART_BARS) bars_free(&part->bars);
  free(part);
}

void document_free(Document *d) {
  json_decref(d->open[0]);
  for (struct DocumentPart *part = d->first, *next; part; part = next) {
    next = part->next;
    free_part(part);
  }
  *d = (Document){0};
}

/* ---- Values ---- */

void put_json(Document *d, const char *key, json_t *value) {
  json_t *const into = d->depth ? d->open[d->depth - 1] : NULL;
  if (d->form == DOCUMENT_JSON && (!value || !into))
    fail(d);
  else if (into && (key ? json_object_set(into, key, value) : json_array_append(into, value)))
    fail(d);
  json_decref(value);
}

static void open_container(Document *d, const char *key, json_t *container) {
  json_incref(container);
  put_json(d, key, container);
  if (d->status || d->depth == DOCUMENT_DEPTH)
    fail(d);
  else
    d->open[d->depth++] = container;
  json_decref(container);
}

void put_at(Document *d, const char *path, json_t *value) {
  const int depth = d->depth;
  for (const char *dot; d->depth && (dot = strchr(path, '.')); path = dot + 1) {
    char part[64];
    snprintf(part, sizeof part, "%.*s", (int)(dot - path), path);
    json_t *const there = json_object_get(d->open[d->depth - 1], part);
    open_container(d, part, there ? json_incref(there) : json_object());
    if (d->status) break;
  }
  put_json(d, path, value);
  d->depth = depth;
}

static bool is_json(const Document *d) { return d->form == DOCUMENT_JSON && !d->status; }

void put_row(Document *d, const Table *table) {
  if (!is_json(d)) return;
  if (!table->row || d->depth == DOCUMENT_DEPTH)
    fail(d);
  else
    d->open[d->depth++] = table->row;
}
void put_end(Document *d) {
  if (is_json(d)) d->depth--;
}

static void sink_open(void *d, const char *key, bool is_array) {
  if (is_json(d)) open_container(d, key, is_array ? json_array() : json_object());
}
static void sink_close(void *d) { put_end(d); }
static void sink_value(void *d, const char *key, const Figure *f) {
  if (!is_json(d)) return;
  put_json(d, key,
           f->is == IS_TEXT                        ? table_json_text(f->text)
           : f->is == IS_FLAG                      ? json_boolean(f->flag)
           : f->is == IS_WHOLE                     ? table_json_whole(f->whole)
           : f->is == IS_REAL && isfinite(f->real) ? json_real(f->real)
                                                   : json_null());
}

ReportSink document_sink(Document *d) { return (ReportSink){d, sink_open, sink_close, sink_value}; }

void put_values(Document *d, const char *pattern, ...) {
  const ReportSink sink = document_sink(d);
  va_list of;
  if (!is_json(d)) return;
  va_start(of, pattern);
  report_values_of(&sink, pattern, &of);
  va_end(of);
}

/* By a letter of put_cells. */
static void add_value(Table *t, TextRole role, char as, const Figure *f) {
  if (f->is == IS_TEXT)
    table_text(t, role, f->text);
  else if (f->is == IS_FLAG)
    table_flag(t, role, f->flag, "", "");
  else if (strchr("fg", as))
    table_real(t, role, f->real, number_double(f->real, as == 'f' ? 6 : 3).text);
  else if (strchr("t%x", as))
    table_number(t, role, as == 't' ? number_seconds : as == '%' ? number_percent : number_ratio, f->real);
  else
    table_whole(t, role, as == 'd' ? number_digits : as < 'a' ? number_bytes : number_count, f->whole);
}

void put_cells(Table *t, const char *p, ...) {
  va_list of;
  va_start(of, p);
  bool is_optional = false;
  for (TextRole role = ROLE_PLAIN; *p; p++) {
    Figure value;
    switch (*p) {
    case '*': role = ROLE_ACCENT; continue;
    case '~': role = ROLE_DIM; continue;
    case '@': role = va_arg(of, TextRole); continue;
    case '?': is_optional = true; continue;
    case '-':
    case '.': table_empty(t, *p == '-'); break;
    default:
      value = report_value((char)(*p | 0x20), &of);
      if (value.is == IS_NULL || (value.is == IS_WHOLE && is_optional && !value.whole))
        table_empty(t, is_optional);
      else
        add_value(t, role, *p, &value);
    }
    role = ROLE_PLAIN, is_optional = false;
  }
  va_end(of);
}

/* NULL: there is none. */
static const json_t *value_at(const json_t *at, const char *path) {
  char key[64];
  for (size_t n; at && *path; path += n + (path[n] == '.')) {
    n = strcspn(path, ".");
    snprintf(key, sizeof key, "%.*s", (int)n, path);
    at = json_object_get(at, key);
  }
  return at;
}

void put_value_rows(Table *t, const json_t *values, const ValueRow *rows) {
  for (; rows->label; rows++) {
    char object[64];
    const json_t *value = value_at(values, rows->path);
    const double number = json_number_value(value);
    const Figure f = {.is = json_is_string(value) ? IS_TEXT : IS_REAL,
                      .whole = (Wide)number,
                      .real = number,
                      .text = json_string_value(value)};
    if (!value || json_is_null(value) || (json_is_number(value) && number == 0 && !strchr("%f", rows->as))) continue;
    table_text(t, ROLE_PLAIN, rows->label);
    add_value(t, ROLE_PLAIN, rows->as, &f);
    snprintf(object, sizeof object, "%.*s.kind", (int)strcspn(rows->path, "."), rows->path);
    const char *kind = json_string_value(value_at(values, object));
    table_text(t, ROLE_DIM, rows->how ? rows->how : kind ? kind : "");
  }
}

/* ---- Parts ---- */

static struct DocumentPart *add_part(Document *d, PartKind kind) {
  struct DocumentPart *part = calloc(1, sizeof *part);
  if (!part) {
    fail(d);
    return NULL;
  }
  part->kind = kind;
  part->is_hidden = d->is_detail && !d->details;
  if (d->last)
    d->last->next = part;
  else
    d->first = part;
  return d->last = part;
}

Table *document_table(Document *d, unsigned forms, const char *key, const TableColumn *columns, int n_columns) {
  struct DocumentPart *part = add_part(d, PART_TABLE);
  if (!part) return &d->spare;
  part->table = table_new(columns, n_columns);
  part->table.is_muted = !(forms & d->form) || (d->form == DOCUMENT_JSON && !key);
  part->table.is_exact = d->form == DOCUMENT_CSV;
  if (part->table.is_muted || d->form != DOCUMENT_JSON) return &part->table;
  json_t *const rows = json_array();
  put_json(d, key, rows);
  part->table.rows = d->status ? NULL : rows;
  part->table.is_muted = d->status != STATUS_OK;
  return &part->table;
}

int document_columns(const char *pattern, char text[DOCUMENT_PATTERN], TableColumn are[TABLE_COLUMNS_MAX],
                     ColumnSource from[TABLE_COLUMNS_MAX]) {
  static const char MARKS[] = ">~!=;&[@?";
  char *column = text;
  int n = 0;
  snprintf(text, DOCUMENT_PATTERN, "%s", pattern);
  for (char *next; column && n < TABLE_COLUMNS_MAX; column = next) {
    TableColumn *is = &are[n++];
    if ((next = strchr(column, '|'))) *next++ = '\0';
    char mark, *p = column + strcspn(column, MARKS);
    if (p > column) is->heading = *column == ' ' ? "" : column;
    for (; (mark = *p); p += strcspn(p, MARKS)) {
      *p++ = '\0';
      if (mark == '[') {
        is->unit = p;
        p += strcspn(p, "]");
        *p++ = '\0';
      } else if (mark == '=')
        is->key = p;
      else if (mark == ';')
        is->csv = p;
      else if (mark == '&')
        is->key = is->csv = p;
      else if (mark == '@')
        from[n - 1].path = p;
      else if (mark == '?')
        from[n - 1].when = p;
      else if (mark == '>')
        is->right = true;
      else
        is->shrink = mark == '~' ? TABLE_WRAP : TABLE_CUT;
    }
  }
  return n;
}

Table *put_table(Document *d, unsigned forms, const char *key, const char *columns) {
  char text[DOCUMENT_PATTERN];
  TableColumn are[TABLE_COLUMNS_MAX] = {{0}};
  ColumnSource from[TABLE_COLUMNS_MAX];
  return document_table(d, forms, key, are, document_columns(columns, text, are, from));
}

void document_chart(Document *d, Chart *chart) {
  struct DocumentPart *part = add_part(d, PART_CHART);
  if (part)
    part->chart = *chart;
  else
    chart_free(chart);
}

void document_bars(Document *d, Bars *bars) {
  struct DocumentPart *part = add_part(d, PART_BARS);
  if (part)
    part->bars = *bars;
  else
    bars_free(bars);
}

void document_line(Document *d, TextRole role, const char *format, ...) {
  struct DocumentPart *part = d->form == DOCUMENT_TEXT ? add_part(d, PART_LINE) : NULL;
  if (!part) return;
  va_list arguments;
  va_start(arguments, format);
  part->table.title = text_store_format(&part->table.text, format, arguments);
  va_end(arguments);
  part->role = role;
}

void document_gap(Document *d) { document_line(d, ROLE_PLAIN, "%s", ""); }

Chart *document_drawn_chart(const Document *d) {
  for (struct DocumentPart *part = d->first; part; part = part->next)
    if (part->kind == PART_CHART) return &part->chart;
  return NULL;
}

Bars *document_drawn_bars(const Document *d) {
  for (struct DocumentPart *part = d->first; part; part = part->next)
    if (part->kind == PART_BARS) return &part->bars;
  return NULL;
}

void document_continues(Document *d) {
  for (struct DocumentPart *part = d->first; part; part = part->next) part->table.continues = true;
}

/* ---- Writers ---- */

static Status print_part(const struct DocumentPart *part, DocumentForm form, FILE *out, const TextStyle *style,
                         Error *error) {
  if (part->is_hidden && form == DOCUMENT_TEXT) return STATUS_OK;
  if (part->kind == PART_CHART) return plot_print(&part->chart, out, style, 0, error);
  if (part->kind == PART_BARS) return bars_print(&part->bars, out, style, error);
  if (part->kind == PART_TABLE)
    return part->table.is_muted   ? STATUS_OK
           : form == DOCUMENT_CSV ? table_csv(&part->table, out, error)
                                  : table_print(&part->table, out, style, error);
  text_paragraph(out, style, part->role, 0, text_store_get(&part->table.text, part->table.title));
  return STATUS_OK;
}

static Status print_json(const Document *d, FILE *out) {
  const size_t precision = d->digits ? (size_t)JSON_REAL_PRECISION(d->digits) : 0;
  char *text = json_dumps(d->open[0], JSON_INDENT(2) | precision); /* json_dumpf writes each quote by itself */
  if (!text) return STATUS_NO_MEMORY;
  fwrite(text, 1, strlen(text), out); /* clean: JSON has no control characters */
  free(text);
  fputc('\n', out);
  return STATUS_OK;
}

/* The first thing that went wrong, in the document or a part of it. */
static Status status_of(const Document *d) {
  Status status = d->status;
  for (const struct DocumentPart *part = d->first; part && !status; part = part->next)
    status = part->table.status ? part->table.status : part->table.text.status;
  return status;
}

static Status print_parts(const Document *d, FILE *out, const TextStyle *style, Error *error) {
  Status status = STATUS_OK;
  for (const struct DocumentPart *part = d->first; part && !status; part = part->next)
    status = print_part(part, d->form, out, style, error);
  return status;
}

/* The part that can best be shorter: a chart beside a table, then the table with the most rows; with few rows in all of
 * them, the last part. */
static struct DocumentPart *longest_part(const Document *d) {
  struct DocumentPart *longest = NULL, *last = NULL, *first = NULL, *chart = NULL;
  size_t most = SCREEN_ROWS_LEAST;
  for (struct DocumentPart *part = d->first; part; part = part->next) {
    if (part->is_hidden || part->table.is_muted) continue;
    if (part->kind == PART_CHART || part->kind == PART_BARS) chart = part;
    if (first) last = part;
    first = part;
    if (part->kind != PART_TABLE || table_rows_shown(&part->table) <= most) continue;
    most = table_rows_shown(&part->table);
    longest = part;
  }
  return chart && last ? chart : longest ? longest : last;
}

/* Prints it again and again to memory, each time less of it, until it is a screen. */
static Status print_screen(const Document *d, FILE *out, const TextStyle *style, Error *error) {
  const size_t most = SCREEN_LINES;
  size_t rows_cut = 0, parts_cut = 0;
  for (;;) {
    char *text = NULL;
    size_t n = 0, lines = 0;
    FILE *memory = open_memstream(&text, &n);
    if (!memory) return error_no_memory(error, "for the output");
    Status status = print_parts(d, memory, style, error);
    if (!status && (rows_cut || parts_cut)) {
      text_print(memory, style, ROLE_DIM, rows_cut ? "--details: %s%s." : "--details: the rest.",
                 number_of(rows_cut, "more row").text, parts_cut ? ", and what follows" : "");
      fputc('\n', memory);
    }
    const bool failed = ferror(memory);
    if ((fclose(memory) || failed) && !status) status = error_no_memory(error, "for the output");
    for (size_t k = 0; k < n && !status; k++) lines += text[k] == '\n';
    struct DocumentPart *part = longest_part(d);
    const bool is_done = status || lines <= most || !part;
    const size_t from = status ? n : strspn(text, "\n"); /* a gap below a chart that is hidden */
    if (is_done) fwrite(text + from, 1, n - from, out);  /* clean: the parts' printers wrote it */
    free(text);
    if (is_done) return status;
    const size_t rows = part->kind == PART_TABLE ? table_rows_shown(&part->table) : 0;
    const size_t keep = rows > 2 * most ? 2 * most : rows > SCREEN_ROWS_LEAST ? rows - 1 : 0;
    if (keep) table_show_rows(&part->table, keep);
    part->is_hidden = !keep;
    rows_cut += keep ? rows - keep : 0;
    parts_cut += !keep;
  }
}

Status document_print(const Document *d, FILE *out, const TextStyle *style, Error *error) {
  Status status = status_of(d);
  if (!status && d->form == DOCUMENT_JSON) status = print_json(d, out);
  if (status) return error_set(error, status, "no memory for the output; nothing was printed");
  if (d->form == DOCUMENT_JSON) return STATUS_OK;
  return (d->form == DOCUMENT_TEXT && !d->details ? print_screen : print_parts)(d, out, style, error);
}
