#include "viz/document/figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* Whether the path is one of the first. */
static bool is_first(const Figures *f, const char *path) {
  const size_t n = strlen(path);
  for (const char *at = f->first; (at = strstr(at, path)); at += n)
    if ((at == f->first || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
  return false;
}

void figure(const Figures *f, const char *path, FigureValue v, const char *kind, const char *label, const char *from,
            ...) {
  char why[200] = "", full[96];
  Document *d = f->document;
  if (f->is_muted) return;
  va_list arguments;
  va_start(arguments, from);
  if (from) vsnprintf(why, sizeof why, from, arguments);
  va_end(arguments);
  snprintf(full, sizeof full, "%s%s%s", f->section ? f->section : "", f->section ? "." : "", path ? path : "");
  if (d->form == DOCUMENT_JSON && path && f->tells_kinds)
    put_at(d, full,
           json_pack("{s:o,s:s,s:s,s:s}", "value", json_of(&v), "unit", unit_of(v.unit), "kind", kind, "from", why));
  else if (d->form == DOCUMENT_JSON && path)
    put_at(d, full, json_of(&v));
  if (d->form == DOCUMENT_CSV && path && f->tells_kinds) {
    table_text(f->table, ROLE_PLAIN, f->section);
    table_text(f->table, ROLE_PLAIN, path);
    table_text(f->table, ROLE_PLAIN, v.unit == UNIT_WORD ? v.word : number_exact_double(v.real).text);
    table_text(f->table, ROLE_PLAIN, unit_of(v.unit));
  } else if (d->form == DOCUMENT_TEXT && label && (!path || d->details || is_first(f, full))) {
    table_text(f->table, ROLE_PLAIN, label);
    figure_cell(f->table, &v);
  } else {
    return;
  }
  if (f->tells_kinds) table_text(f->table, ROLE_DIM, kind);
  table_text(f->table, ROLE_DIM, why);
}

void figure_hidden(const Figures *f, const char *path, Wide value) {
  if (f->document->form == DOCUMENT_JSON) put_at(f->document, path, table_json_whole(value));
}
