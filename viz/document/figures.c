#include "viz/document/figures.h"

#include <math.h>

#include "sim/base/text_add.h"

Figures figures_new(Document *d, bool tells_kinds, const char *columns, const char *first) {
  if (d->form == DOCUMENT_CSV && tells_kinds) columns = ";section|;figure|;value|;unit|;kind|;from";
  return (Figures){.document = d,
                   .table = put_table(d, tells_kinds ? DOCUMENT_TABLES : DOCUMENT_TEXT, NULL, columns),
                   .tells_kinds = tells_kinds,
                   .first = first};
}

void figures_section(Figures *f, const char *section, const char *title) {
  f->section = section;
  if (!f->is_muted) table_group(f->table, "%s", title);
}

static const char *unit_of(FigureUnit unit) {
  static const char *const UNITS[UNIT_FLAG + 1] = {
      [UNIT_BYTES] = "B", [UNIT_SECONDS] = "s", [UNIT_FLOPS] = "FLOP", [UNIT_RATE] = "tokens/s"};
  return UNITS[unit] ? UNITS[unit] : "";
}

static json_t *json_of(const FigureValue *v) {
  if (v->unit == UNIT_NONE) return json_null();
  if (v->unit == UNIT_WORD) return json_string(v->word);
  const bool counts = v->unit == UNIT_COUNT || v->unit == UNIT_BYTES;
  return counts && v->real == floor(v->real) ? table_json_whole(v->whole) : json_real(v->real);
}

Number figure_shown(const FigureValue *v) {
  Number word = {""};
  switch (v->unit) {
  case UNIT_BYTES: return number_bytes(v->whole);
  case UNIT_SECONDS: return number_seconds(v->real);
  case UNIT_FLOPS: return number_flops(v->whole);
  case UNIT_COUNT: return number_count(v->whole);
  case UNIT_RATE: return number_double(v->real, 4);
  case UNIT_RATIO: return number_ratio(v->real);
  case UNIT_SHARE: return number_percent(v->real);
  case UNIT_FLOP_RATE: return number_si(v->real, "FLOP/s");
  case UNIT_FLAG: snprintf(word.text, sizeof word.text, v->whole ? "yes" : "no"); return word;
  default: return word;
  }
}

void figure_cell(Table *t, const FigureValue *v) {
  switch (v->unit) {
  case UNIT_NONE: table_empty(t, true); break;
  case UNIT_WORD: table_text(t, v->role, v->word); break;
  case UNIT_FLAG: table_flag(t, v->role, v->whole, "yes", "no"); break;
  case UNIT_BYTES: table_whole(t, v->role, number_bytes, v->whole); break;
  case UNIT_COUNT: table_whole(t, v->role, number_count, v->whole); break;
  case UNIT_FLOPS: table_whole(t, v->role, number_flops, v->whole); break;
  default: table_real(t, v->role, v->real, figure_shown(v).text);
  }
}

/* The next argument by its letter. */
static FigureValue next_value(char type, va_list *of) {
  static const char UNITS[] = {[UNIT_NONE] = '0',  [UNIT_SECONDS] = 't', [UNIT_FLOPS] = 'o', [UNIT_RATE] = 'r',
                               [UNIT_RATIO] = 'x', [UNIT_SHARE] = '%',   [UNIT_WORD] = 's'};
  const Figure v = report_value((char)(type | 0x20), of);
  const char *unit = memchr(UNITS, type, sizeof UNITS);
  const bool is_whole = v.is == IS_WHOLE;
  return (FigureValue){.unit = unit         ? (FigureUnit)(unit - UNITS)
                               : type < 'a' ? UNIT_BYTES
                                            : UNIT_COUNT,
                       .whole = is_whole ? v.whole : (Wide)v.real,
                       .real = is_whole ? (double)v.whole : v.real,
                       .word = v.text};
}

enum { FIGURE_TEXT = 256 };

/* Copies p up to | or the end of its line, with the next arguments in place of {TYPE}; returns what is behind. */
static const char *fill(char text[FIGURE_TEXT], const char *p, va_list *of) {
  for (*text = '\0'; !strchr("|\n", *p); p += strcspn(p, "}") + (*p == '{')) {
    const size_t n = strcspn(p, "{|\n");
    text_add(text, FIGURE_TEXT, "%.*s", (int)n, p);
    if (*(p += n) != '{') break;
    const FigureValue v = next_value(p[1], of);
    const Number shown = p[1] == 'd' ? number_digits(v.whole) : figure_shown(&v);
    text_add(text, FIGURE_TEXT, "%s", v.word ? v.word : shown.text);
  }
  return p + (*p == '|');
}

void figures_add(const Figures *f, const char *p, ...) {
  Document *d = f->document;
  const char *section = f->section ? f->section : "";
  char kind[FIGURE_TEXT], label[FIGURE_TEXT], why[FIGURE_TEXT];
  va_list of;
  va_start(of, p);
  for (; *p && !f->is_muted; p += *p == '\n') {
    const int n = (int)strcspn(p, ":");
    const Number path = number_text("%s%s%.*s", section, *section ? "." : "", n, p), key = number_text("%.*s", n, p);
    TextRole role = ROLE_PLAIN;
    for (p += n + 1; strchr("*@", *p); p++) role = *p == '*' ? ROLE_ACCENT : va_arg(of, TextRole);
    FigureValue v = next_value(*p++, &of);
    v.role = role;
    p = fill(why, fill(label, fill(kind, p + (*p == ' '), &of), &of), &of);
    const char *unit = unit_of(v.unit);
    if (d->form == DOCUMENT_JSON && n)
      put_at(d, path.text,
             f->tells_kinds
                 ? json_pack("{s:o,s:s,s:s,s:s}", "value", json_of(&v), "unit", unit, "kind", kind, "from", why)
                 : json_of(&v));
    const bool is_line = d->form == DOCUMENT_CSV && n && f->tells_kinds,
               is_row = d->form == DOCUMENT_TEXT && *label &&
                        (!n || d->details || strstr(f->first, number_text(" %s ", path.text).text));
    if (is_line)
      put_cells(f->table, "ssss", section, key.text, v.word ? v.word : number_exact_double(v.real).text, unit);
    if (is_row) table_text(f->table, ROLE_PLAIN, label), figure_cell(f->table, &v);
    if ((is_line || is_row) && f->tells_kinds) table_text(f->table, ROLE_DIM, kind);
    if (is_line || is_row) table_text(f->table, ROLE_DIM, why);
  }
  va_end(of);
}
