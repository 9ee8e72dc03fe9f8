#include "viz/document/figure_lines.h"

#include "sim/base/text_add.h"

/* ---- Scale ----------------------------------------------------------------------------------------------------- */

FigureScale figure_scale(double bytes, double seconds) {
  static const char *const BYTES[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}, *const SECONDS[] = {"s", "ms", "us",
                                                                                                   "ns"};
  int b = 0, s = 0;
  double unit = 1, second = 1;
  for (; b < 5 && bytes >= unit * 1024; b++) unit *= 1024;
  for (; s < 3 && seconds < second; s++) second /= 1000;
  return (FigureScale){unit, second, BYTES[b], SECONDS[s], 0};
}

/* Four digits, and all before the point. */
static Number four_digits(double value) {
  return value >= 1000 ? number_count((Wide)(value + 0.5)) : number_trimmed(value, 4);
}

static const char *unit_of(const FigureScale *s, const FigureRow *row) {
  return row->unit == UNIT_BYTES ? s->bytes_name : row->unit == UNIT_SECONDS ? s->seconds_name : "";
}

/* ---- Conditions ------------------------------------------------------------------------------------------------ */

static bool is_there(const Figure *f) {
  return f->is == IS_TEXT || ((f->is == IS_WHOLE || f->is == IS_REAL || f->is == IS_FLAG) && figure_number(f) != 0);
}

static Figure at(const Simulation *run, const char *path, size_t length) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)length, path);
  const FigureRow *row = figure_row(name);
  return row ? figure_of(run, row, 0) : (Figure){0};
}

/* Whether a run meets all of "PATH !PATH PATH=WORD PATH~PATH": has a figure that is neither 0 nor false, has none, has
 * this word, has two that differ. */
static bool meets(const Simulation *run, const char *when) {
  for (size_t n; *when; when += n + (when[n] == ' ')) {
    n = strcspn(when, " ");
    const size_t negated = *when == '!', path = strcspn(when + negated, "=~ ");
    const Figure f = at(run, when + negated, path);
    const char sign = when[negated + path], *other = when + negated + path + (sign == '=' || sign == '~');
    const size_t length = strcspn(other, " ");
    bool holds = is_there(&f) != negated;
    if (sign == '=')
      holds = f.is == IS_TEXT && strlen(f.text) == length && (strncmp(f.text, other, length) == 0) != negated;
    if (sign == '~') {
      const Figure g = at(run, other, length);
      holds = f.is == IS_TEXT && g.is == IS_TEXT && strcmp(f.text, g.text) != 0;
    }
    if (!holds) return false;
  }
  return true;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

typedef struct {
  Table *table; /* NULL: rows are counted alone */
  const Simulation *runs;
  int n, n_rows;
  const FigureScale *scale;
  const char *heading; /* of lines that are still to come */
} Lines;

bool figure_one_machine(const Simulation *runs, int n) {
  for (int k = 1; k < n; k++)
    if (strcmp(runs[k].machine.name, runs[0].machine.name) != 0) return false;
  return true;
}

static bool is_shown(const FigureLine *line, const FigureRow *row, const Figure *f) {
  if (f->is == IS_TEXT || f->is == IS_FLAG) return true;
  const double value = figure_number(f);
  return row->unit == UNIT_BYTES || row->unit == UNIT_SECONDS ? value > 0 : value >= line->least;
}

FigureValue figure_as_value(const FigureRow *row, const Figure *f) {
  return (FigureValue){.unit = f->is < IS_WHOLE ? UNIT_NONE : row->unit,
                       .whole = f->is == IS_WHOLE  ? f->whole
                                : f->is == IS_FLAG ? f->flag
                                : f->is == IS_REAL ? (Wide)(f->real + 0.5)
                                                   : 0,
                       .real = figure_number(f),
                       .word = f->text};
}

/* scale: NULL where the cell has a unit of its own. */
static void add_value(Table *table, const FigureScale *scale, TextRole role, const FigureRow *row, const Figure *f) {
  const FigureValue value = figure_in(role, figure_as_value(row, f));
  if (scale && (value.unit == UNIT_BYTES || value.unit == UNIT_SECONDS))
    table_text(table, role, four_digits(value.real / (value.unit == UNIT_BYTES ? scale->bytes : scale->seconds)).text);
  else
    figure_cell(table, &value);
}

/* Begins a row; false: it is only counted. */
static bool add_label(Lines *l, const FigureLine *line, const FigureRow *row, const char *label, const char *name) {
  char text[96];
  l->n_rows++;
  if (!l->table) return false;
  const char *place = strstr(label, "%s");
  if (l->heading) table_group(l->table, "%s", l->heading), l->heading = NULL;
  snprintf(text, sizeof text, "%.*s%s%s", place ? (int)(place - label) : (int)strlen(label), label, place ? name : "",
           place ? place + 2 : "");
  table_text(l->table, line->role, text);
  if (l->scale) table_text(l->table, ROLE_DIM, line->in_kib ? "KiB" : unit_of(l->scale, row));
  return true;
}

/* Whether run k has something to show in a line; of a ratio, beside the first. */
static bool has_cell(const Lines *l, const FigureLine *line, const FigureRow *row, int k, const Figure *f) {
  return line->is_ratio ? figure_comparable(l->runs, &l->runs[k], row) : is_shown(line, row, f);
}

static void add_line(Lines *l, const FigureLine *line, const FigureRow *row, const char *label, const char *member) {
  static const FigureScale KIB = {.bytes = 1024, .seconds = 1};
  Figure f;
  bool any = false;
  for (int k = line->is_ratio; k < l->n; k++)
    f = figure_named(&l->runs[k], row, member), any |= has_cell(l, line, row, k, &f);
  if (line->is_ratio) member = figure_one_machine(l->runs, l->n) ? l->runs[0].schedule->name : "the first";
  if (!any || !add_label(l, line, row, label, member)) return;
  for (int k = 0; k < l->n; k++) {
    const Simulation *run = &l->runs[k];
    f = figure_named(run, row, line->is_ratio ? NULL : member);
    if (!has_cell(l, line, row, k, &f))
      table_empty(l->table, true);
    else if (line->is_ratio)
      table_number(l->table, line->role, number_ratio, figure_value(l->runs, row) / figure_number(&f));
    else if (line->beside)
      table_format(l->table, line->role, "%s%s%s", number_digits(f.whole).text, line->between ? line->between : " x ",
                   number_digits(figure_of(run, figure_row(line->beside), 0).whole).text);
    else
      add_value(l->table, l->scale && line->in_kib ? &KIB : l->scale, line->role, row, &f);
  }
}

/* The tensors of all runs that have a figure here, in the order of the first that has them; returns how many. */
enum { NAMES_MAX = VALUES_MAX * TABLE_COLUMNS_MAX };
static int tensors_of(const Lines *l, const FigureRow *row, const char *names[NAMES_MAX]) {
  int n = 0;
  for (int k = 0; k < l->n; k++)
    for (int m = 0; m < figure_members(&l->runs[k], row); m++) {
      const Figure f = figure_of(&l->runs[k], row, m);
      bool is_new = f.is != IS_ABSENT;
      for (int before = 0; before < n; before++) is_new = is_new && strcmp(names[before], f.member) != 0;
      if (is_new) names[n++] = f.member;
    }
  return n;
}

static void add_tensors(Lines *l, const FigureLine *line, const FigureRow *row, const char *label) {
  const char *names[NAMES_MAX];
  const int n = tensors_of(l, line->when ? figure_row(line->when) : row, names);
  if (l->scale && (n > 3 || l->scale->shortens == 3))
    add_line(l, line, figure_row(line->sum), line->together, NULL);
  else
    for (int k = 0; k < n; k++) add_line(l, line, row, label, names[k]);
}

int figure_lines(Table *table, const FigureLine *lines, const Simulation *runs, int n, const FigureScale *scale) {
  char heading[128];
  Lines l = {table, runs, n, 0, scale, NULL};
  for (const FigureLine *line = lines; line->label || line->first; line++) {
    const char *label = scale ? line->first : line->label;
    if (!line->path && !scale) {
      snprintf(heading, sizeof heading, label, figure_one_machine(runs, n) ? runs[0].machine.name : "each GPU");
      l.heading = heading;
    }
    if (!label || !line->path || (scale && line->spare && scale->shortens >= line->spare)) continue;
    const FigureRow *row = figure_row(line->path);
    const bool of_tensors = strchr(line->path, '*');
    const char *when = scale && line->first_when ? line->first_when : line->when;
    bool stands = !when || of_tensors;
    for (int k = 0; k < n && !stands; k++) stands = meets(&runs[k], when);
    for (int k = 0; k < n && scale && line->first_unless; k++) stands = stands && !meets(&runs[k], line->first_unless);
    if (stands && of_tensors) add_tensors(&l, line, row, label);
    if (stands && !of_tensors) add_line(&l, line, row, label, NULL);
  }
  return l.n_rows;
}

/* ---- Columns --------------------------------------------------------------------------------------------------- */

void figure_table(FigureTable *t, Document *d, unsigned forms, const char *key, const char *columns,
                  const FigureScale *scale) {
  TableColumn are[TABLE_COLUMNS_MAX] = {{0}};
  ColumnSource from[TABLE_COLUMNS_MAX] = {{0}};
  *t = (FigureTable){.scale = scale};
  t->n = document_columns(columns, t->text, are, from);
  for (int c = 0; c < t->n; c++) {
    const char *path = from[c].path;
    if (!path) continue;
    if (*path == '*') t->columns[c].role = ROLE_ACCENT, path++;
    const FigureRow *row = t->columns[c].row = figure_row(path);
    const char *dot = strrchr(path, '.');
    t->columns[c].when = from[c].when ? from[c].when : "";
    if (scale && *unit_of(scale, row)) are[c].unit = unit_of(scale, row);
    if (!are[c].csv) are[c].csv = are[c].key ? are[c].key : dot ? dot + 1 : path;
  }
  t->table = document_table(d, forms, key, are, t->n);
}

void figure_cells(const FigureTable *t, const Simulation *run) {
  for (int c = 0; c < t->n; c++) {
    const FigureRow *row = t->columns[c].row;
    if (!row) continue;
    const Figure f = meets(run, t->columns[c].when) ? figure_of(run, row, 0) : (Figure){0};
    add_value(t->table, t->scale, t->columns[c].role, row, &f);
  }
}

/* ---- Notes ----------------------------------------------------------------------------------------------------- */

enum { FIRST_NOTES = 3 }; /* on the first screen so many runs have one each */

/* The text with figures for {PATH}. */
static void fill_in(const Simulation *run, const char *from, char text[640]) {
  *text = '\0';
  for (const char *open; *from;) {
    open = strchr(from, '{');
    text_add(text, 640, "%.*s", open ? (int)(open - from) : (int)strlen(from), from);
    if (!open) return;
    const char *close = strchr(open, '}');
    char path[64];
    snprintf(path, sizeof path, "%.*s", (int)(close - open - 1), open + 1);
    const FigureRow *row = figure_row(path);
    const Figure f = figure_of(run, row, 0);
    const FigureValue value = figure_as_value(row, &f);
    text_add(text, 640, "%s", f.is == IS_TEXT ? f.text : figure_shown(&value).text);
    from = close + 1;
  }
}

void figure_notes(Table *table, const FigureNote *notes, const Simulation *runs, int n, bool is_first_screen) {
  for (const FigureNote *note = notes; note->text; note++) {
    char text[640], before[640] = "";
    int n_more = 0;
    if (!(note->where & (is_first_screen ? NOTE_FIRST : NOTE_DETAILS))) continue;
    for (int k = 0; k < n; k++) {
      if (!meets(&runs[k], note->when)) continue;
      fill_in(&runs[k], note->text, text);
      if (strcmp(text, before) == 0) continue;
      if (is_first_screen && *before && n > FIRST_NOTES)
        n_more++;
      else
        table_note(table, "%s", text);
      strcpy(before, text);
    }
    if (n_more) table_note(table, "The same of %d more: --details.", n_more);
  }
}
