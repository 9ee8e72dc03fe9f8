#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "kernels/counters/ncu_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tables that other profilers write, by a text of their head. */
static const struct {
  const char *mark, *what;
} FOREIGN[] = {
    {"NVPROF is profiling", "nvprof's output: it knows no GPU after Volta, and its counters have other names"},
    {"\"Invocations\",\"Metric Name\"",
     "nvprof's output: it knows no GPU after Volta, and its counters have other names"},
    {"Total Time (ns),Instances", "a sum of nsys (cuda_gpu_kern_sum): it has the times of kernels, and no bytes"},
    {"Start (ns),Duration (ns)", "a trace of nsys (cuda_gpu_trace): it has the times of kernels, and no bytes"},
    {"Time (%),Total Time (ns)", "a sum of nsys: it has times, and no bytes"},
};

enum { N_FOREIGN = sizeof FOREIGN / sizeof *FOREIGN };

static void note(Parser *p, const char *format, int64_t line) {
  CounterTable *t = p->table;
  if (!p->surveys && t->n_notes < NCU_MAX_NOTES) snprintf(t->notes[t->n_notes++], sizeof t->notes[0], format, line);
}

static bool begins(const Parser *p, const char *with) {
  return p->text.length >= strlen(with) && !memcmp(p->text.line, with, strlen(with));
}

/* Lines of ncu's own: what went wrong, whatever language the program speaks. */
static void listen(Parser *p) {
  NcuText *t = &p->text;
  const bool is_error = begins(p, "==ERROR==") || ncu_text_has(t, "ERR_NVGPUCTRPERM");
  p->none_profiled |= ncu_text_has(t, "No kernels were profiled");
  p->no_permission |= ncu_text_has(t, "ERR_NVGPUCTRPERM");
  if (!is_error || p->said_line) return;
  p->said_line = t->line_number;
  size_t from = begins(p, "==ERROR==") ? strlen("==ERROR==") : 0, n = 0;
  while (from < t->length && t->line[from] == ' ') from++;
  for (; from < t->length && n + 1 < sizeof p->said; from++, n++)
    p->said[n] = t->line[from] >= 32 && t->line[from] < 127 ? t->line[from] : '?';
  p->said[n] = '\0';
}

/* The card in the head of a recording of ours: its rows have no name of one. */
static void read_card(Parser *p) {
  static const char HEAD[] = "# gpu: ";
  size_t n = 0;
  if (*p->card || !begins(p, HEAD)) return;
  for (size_t k = strlen(HEAD); k < p->text.length && n + 1 < sizeof p->card; k++)
    p->card[n++] = p->text.line[k] >= 32 && p->text.line[k] < 127 ? p->text.line[k] : '?';
  p->card[n] = '\0';
}

static bool is_skipped(const Parser *p) {
  size_t blanks = 0;
  while (blanks < p->text.length && (p->text.line[blanks] == ' ' || p->text.line[blanks] == '\t')) blanks++;
  return blanks == p->text.length || p->text.line[0] == '#' || begins(p, "==");
}

/* A row of a table whose header is quoted begins with a number in quotes. */
static bool begins_a_row(const Parser *p) {
  const Layout *l = p->layout;
  if (l->page == PAGE_RECORDED) return true;
  if (!l->is_quoted) return p->text.length && p->text.line[0] >= '0' && p->text.line[0] <= '9';
  if (!p->text.length || p->text.line[0] != '"') return false;
  return p->text.length == 1 || (p->text.line[1] >= '0' && p->text.line[1] <= '9') || l->id != 0;
}

enum { JOINS_MAX = 64 };

/* Splits the line, with as many lines behind it as a field in quotes goes on for. *is_row false: something else. */
static Status split_row(Parser *p, int *n_fields, bool *is_row, Error *error) {
  const Layout *l = p->layout;
  bool quoted = false, got = true;
  *is_row = false;
  NcuSplit split = ncu_text_split(&p->text, l->delimiter, n_fields, &quoted);
  for (int i = 0; split == NCU_SPLIT_OPEN && begins_a_row(p) && i < JOINS_MAX; i++) {
    const Status status = ncu_text_join(&p->text, &got, error);
    if (status) return status;
    if (!got) return ncu_fail(p, error, "a quoted field is not closed; the file is cut off or damaged");
    split = ncu_text_split(&p->text, l->delimiter, n_fields, &quoted);
  }
  if (split != NCU_SPLIT_OK) {
    if (!begins_a_row(p)) return STATUS_OK;
    return ncu_fail(p, error,
                    split == NCU_SPLIT_OPEN ? "a quoted field is not closed; the file is cut off or damaged"
                                            : "more than 8192 fields; the file is damaged");
  }
  const bool has_id = l->id >= 0 && l->id < *n_fields && ncu_is_digits(p->text.fields[l->id]);
  *is_row = l->page == PAGE_RECORDED || has_id || (l->id < 0 && *n_fields == l->n_columns) ||
            (l->is_quoted && *n_fields != l->n_columns && begins_a_row(p) && l->id < 0);
  if (!*is_row) return STATUS_OK;
  /* ncu before 2023 leaves the columns of rules off a metric's row. */
  const bool is_short = l->page == PAGE_DETAILS && *n_fields<l->n_columns && * n_fields> l->value &&
                        *n_fields > l->unit && *n_fields > l->metric && p->text.has_end;
  for (int c = *n_fields; is_short && c < l->n_columns; c++) p->text.fields[c] = (NcuField){"", 0};
  if (*n_fields != l->n_columns && !is_short)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64 ": %d fields under %d columns; the file is cut off or damaged",
                     p->text.line_number, *n_fields, l->n_columns);
  if (!p->text.has_end && (l->page == PAGE_RECORDED || (l->is_quoted && !quoted)))
    return ncu_fail(p, error, "the last line has no end; the file is cut off");
  if (!p->text.has_end && !quoted)
    note(p, "line %" PRId64 " has no end; if the file was cut off there, its last number is short.",
         p->text.line_number);
  return STATUS_OK;
}

static Status read_units(Parser *p, Error *error) {
  Layout *l = p->layout;
  if (l->page == PAGE_DETAILS || (l->page == PAGE_RAW && l->has_units)) return STATUS_OK;
  bool got = true;
  int n_fields;
  bool quoted;
  do {
    const Status status = ncu_text_line(&p->text, &got, error);
    if (status) return status;
    if (!got) return ncu_fail(p, error, "the file ends after its header; a line of units must follow");
  } while (is_skipped(p) || (l->is_quoted && p->text.line[0] != '"' && p->text.line[0] != l->delimiter));
  const NcuSplit split = ncu_text_split(&p->text, l->delimiter, &n_fields, &quoted);
  if (split == NCU_SPLIT_OPEN)
    return ncu_fail(p, error, "a quoted field is not closed; the file is cut off or damaged");
  if (l->page == PAGE_RAW && l->id >= 0 && split == NCU_SPLIT_OK && n_fields > l->id &&
      ncu_is_digits(p->text.fields[l->id]))
    return ncu_fail(p, error,
                    "a row follows the header at once; ncu writes a line of units between, which says whether "
                    "1 is a byte or a Mbyte");
  if (split != NCU_SPLIT_OK || n_fields != l->n_columns)
    return ncu_fail(p, error, "not as many units as columns; the file is cut off or damaged");
  for (int c = 0; c < n_fields; c++) {
    if (l->role[c] >= ROLE_FIRST_COUNTER) {
      const Status status = ncu_unit_for(p, l->role[c] - ROLE_FIRST_COUNTER, p->text.fields[c], &l->units[c], error);
      if (status) return status;
      l->unit_known[c] = true;
    } else {
      l->unit_known[c] = p->text.fields[c].length && ncu_unit_parse(p->text.fields[c], &l->units[c]);
    }
  }
  return STATUS_OK;
}

static void see(Parser *p, int sight, NcuField cell) {
  if (!p->sights[sight].line) p->sights[sight] = (Sight){p->text.line_number, quote(cell.at, cell.length)};
}

/* is_whole: the cell holds a count in its base unit, which has no fraction. */
static void survey_cell(Parser *p, NcuField cell, bool is_whole) {
  if (!memchr(cell.at, '.', cell.length) && !memchr(cell.at, ',', cell.length)) return;
  switch (ncu_number_kind(cell)) {
  case NCU_DECIMAL_POINT: see(p, SURE_POINT, cell); break;
  case NCU_DECIMAL_COMMA: see(p, SURE_COMMA, cell); break;
  case NCU_EITHER_POINT: see(p, is_whole ? LIKELY_COMMA : OPEN_POINT, cell); break;
  case NCU_EITHER_COMMA: see(p, is_whole ? LIKELY_POINT : OPEN_COMMA, cell); break;
  default: break;
  }
}

static bool is_whole_unit(const NcuUnit *unit) {
  return unit->times == 1 && unit->tenths == 0 && unit->dimension != NCU_UNIT_RATIO;
}

static void survey_row(Parser *p) {
  const Layout *l = p->layout;
  if (l->page == PAGE_DETAILS) {
    NcuUnit unit;
    const NcuField unit_field = l->unit >= 0 ? p->text.fields[l->unit] : (NcuField){0};
    const int role = ncu_role_of(ncu_field_trim(p->text.fields[l->metric]));
    if (unit_field.length && ncu_unit_parse(unit_field, &unit))
      survey_cell(p, p->text.fields[l->value], role >= ROLE_FIRST_COUNTER && is_whole_unit(&unit));
    return;
  }
  for (int c = 0; c < l->n_columns; c++)
    if (l->unit_known[c])
      survey_cell(p, p->text.fields[c], l->role[c] >= ROLE_FIRST_COUNTER && is_whole_unit(&l->units[c]));
}

static Status two_marks(const Sight *point, const Sight *comma, Error *error) {
  return error_set(error, STATUS_BAD_FILE,
                   "line %" PRId64 ": '%.20s' has a decimal point, and '%.20s' in line %" PRId64
                   " a decimal comma; export all with one locale (LC_ALL=C)",
                   point->line, point->cell.text, comma->cell.text, comma->line);
}

static Status choose_decimal(Parser *p, Error *error) {
  const Sight *s = p->sights;
  p->decimal = '.';
  for (int level = SURE_POINT; level <= LIKELY_POINT; level += 2) {
    if (s[level].line && s[level + 1].line) return two_marks(&s[level], &s[level + 1], error);
    if (s[level].line || s[level + 1].line) {
      p->decimal = s[level].line ? '.' : ',';
      return STATUS_OK;
    }
  }
  if (s[OPEN_POINT].line && s[OPEN_COMMA].line) return two_marks(&s[OPEN_POINT], &s[OPEN_COMMA], error);
  if (p->semicolons && s[OPEN_COMMA].line) {
    p->decimal = ',';
    return STATUS_OK;
  }
  if (s[OPEN_COMMA].line)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64
                     ": '%.20s' can be read with a decimal comma and with a comma between thousands, and "
                     "nothing else in the file says which; export with --print-units base or LC_ALL=C",
                     s[OPEN_COMMA].line, s[OPEN_COMMA].cell.text);
  return STATUS_OK;
}

static bool is_text_page(const Parser *p) {
  return ncu_text_has(&p->text, "Section: ") ||
         (ncu_text_has(&p->text, ", Context ") && ncu_text_has(&p->text, ", CC "));
}

static void ignore_columns(Parser *p) {
  const Layout *l = p->layout;
  if (l->page == PAGE_RECORDED) return;
  for (int c = 0; c < l->n_columns; c++)
    if (l->role[c] == ROLE_IGNORED) ncu_ignore(p, ncu_field_trim(p->text.fields[c]));
}

static void recognise(Parser *p) {
  if (p->text.line_number == 1) p->is_remarked = begins(p, "#");
  for (int k = 0; k < N_FOREIGN && !p->foreign_line; k++) {
    if (!ncu_text_has(&p->text, FOREIGN[k].mark)) continue;
    p->foreign = k;
    p->foreign_line = p->text.line_number;
  }
}

/* The whole file, once. */
static Status walk(Parser *p, Error *error) {
  bool in_table = false;
  p->table->n_reports = 0;
  for (;;) {
    bool got, is_header = false, is_row = false;
    int n_fields = 0;
    Status status = ncu_text_line(&p->text, &got, error);
    if (status) return status;
    if (!got) return STATUS_OK;
    if (p->surveys) listen(p);
    if (p->surveys && !in_table) read_card(p);
    if (p->surveys && !in_table) recognise(p);
    if (is_skipped(p)) continue;
    if (!in_table || !begins_a_row(p) || begins(p, "rung")) {
      status = ncu_try_header(p, &is_header, error);
      if (status) return status;
    }
    if (is_header) {
      ncu_rows_end_report(&p->rows);
      p->table->n_reports++;
      ignore_columns(p);
      status = read_units(p, error);
      in_table = true;
    } else if (in_table && begins_a_row(p)) {
      status = split_row(p, &n_fields, &is_row, error);
      if (status == STATUS_OK && is_row && p->surveys) survey_row(p);
      if (status == STATUS_OK && is_row && !p->surveys) status = ncu_read_row(p, error);
    } else if (!p->text_page && is_text_page(p)) {
      p->text_page = p->text.line_number;
    }
    if (status) return status;
  }
}

/* Why there is no table, in the order of what helps most. */
static Status no_table(const Parser *p, Error *error) {
  if (p->no_permission)
    return error_set(
        error, STATUS_BAD_FILE,
        "line %" PRId64 ": no permission for the GPU's counters, ncu says (ERR_NVGPUCTRPERM), so none are in "
        "the file; an administrator sets NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia, or ncu "
        "runs as root (a container: with --cap-add SYS_ADMIN)",
        p->said_line);
  if (p->said_line)
    return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": ncu counted nothing: %.160s", p->said_line, p->said);
  if (p->none_profiled)
    return ncu_fail(
        p, error, "ncu profiled no kernel: the program launched none, or --kernel-name and --launch-skip left all out");
  if (p->foreign_line)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64 ": this is %s; count them with `ncu --csv --page raw` (`tilewalk crosscheck "
                     "--help` has the command)",
                     p->foreign_line, FOREIGN[p->foreign].what);
  if (p->useless_header)
    return error_set(
        error, STATUS_BAD_FILE,
        "line %" PRId64
        ": none of the columns is a counter that is used here; `tilewalk crosscheck --help` names them and "
        "the one ncu command that records them",
        p->useless_header);
  if (p->text_page)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64 ": this is what ncu prints for people; run it again with --csv --page raw, or "
                     "`ncu --import FILE.ncu-rep --csv --page raw`",
                     p->text_page);
  if (p->is_remarked)
    return error_set(error, STATUS_BAD_FILE,
                     "line 1: a recording of Tilewalk's own, as # says, but without counters of ncu; "
                     "assets/counters/INDEX.md says which ones crosscheck takes and what reads the others");
  return ncu_fail(p, error,
                  "no header with a counter that is known here before the end of the file; make it with `ncu --csv "
                  "--page raw --print-units base --metrics l1tex__m_xbar2l1tex_read_bytes.sum,...`");
}

/* Some kernels were counted all the same. */
static void note_said(Parser *p) {
  CounterTable *t = p->table;
  if (t->n_notes < NCU_MAX_NOTES)
    snprintf(t->notes[t->n_notes++], sizeof t->notes[0], "line %" PRId64 ": ncu says: %.160s", p->said_line, p->said);
}

static Status walk_twice(Parser *p, Error *error) {
  p->surveys = true;
  Status status = walk(p, error);
  if (status == STATUS_OK && p->table->n_reports == 0) return no_table(p, error);
  if (status == STATUS_OK) status = choose_decimal(p, error);
  ncu_text_rewind(&p->text);
  p->surveys = false;
  if (status == STATUS_OK) status = walk(p, error);
  if (status == STATUS_OK && p->said_line) note_said(p);
  if (status == STATUS_OK) status = ncu_rows_finish(&p->rows, p->table, error);
  for (size_t k = 0; status == STATUS_OK && k < p->table->n_rows; k++)
    if (!*p->table->rows[k].device) memcpy(p->table->rows[k].device, p->card, sizeof p->card);
  if (status == STATUS_OK && p->table->n_rows == 0)
    status = ncu_fail(p, error,
                      "no row of counters follows the header; the program launched no kernel, or the file is cut "
                      "off");
  return status;
}

Status counter_table_read(CounterTable *table, FILE *file, Error *error) {
  *table = (CounterTable){0};
  Parser p = {.table = table, .layout = calloc(1, sizeof *p.layout)};
  Status status = p.layout ? ncu_text_open(&p.text, file, error)
                           : error_set(error, STATUS_NO_MEMORY, "no memory to read the counters");
  if (status == STATUS_OK) status = walk_twice(&p, error);
  ncu_text_free(&p.text);
  ncu_rows_free(&p.rows);
  free(p.layout);
  if (status) counter_table_free(table);
  return status;
}

Status counter_table_from_buffer(CounterTable *table, const char *text, size_t length, Error *error) {
  *table = (CounterTable){0};
  FILE *file = fmemopen((void *)(uintptr_t)(length ? text : "\n"), length ? length : 1, "rb");
  if (!file) return error_set(error, STATUS_NO_MEMORY, "no memory to read the counters");
  const Status status = counter_table_read(table, file, error);
  fclose(file);
  return status;
}

void counter_table_free(CounterTable *table) {
  free(table->rows);
  *table = (CounterTable){0};
}
