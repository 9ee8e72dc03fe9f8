#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include <stdarg.h>
#include <stdlib.h>

#include "kernels/counters/ncu_inner.h"
#include "sim/base/ascii.h"

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

enum { N_FOREIGN = COUNT_OF(FOREIGN), JOINS_MAX = 64 };

__attribute__((format(printf, 2, 3))) static void note(CounterTable *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (t->n_notes < NCU_MAX_NOTES) vsnprintf(t->notes[t->n_notes++], sizeof t->notes[0], format, arguments);
  va_end(arguments);
}

static NcuField behind(const NcuText *t, size_t from) { return (NcuField){t->line + from, t->length - from}; }

/* Lines of ncu's own: what went wrong, whatever language the program speaks. */
static void listen(const NcuText *t, Surroundings *s) {
  const bool is_error = ncu_text_begins(t, "==ERROR=="), no_permission = ncu_text_has(t, "ERR_NVGPUCTRPERM");
  s->none_profiled |= ncu_text_has(t, "No kernels were profiled");
  s->no_permission |= no_permission;
  if ((!is_error && !no_permission) || s->said_line) return;
  s->said_line = t->line_number;
  ncu_field_copy(ncu_field_trim(behind(t, is_error ? strlen("==ERROR==") : 0)), s->said, sizeof s->said);
}

/* What comes before the first table. */
static void recognise(const NcuText *t, Surroundings *s) {
  static const char CARD[] = "# gpu: ";
  if (t->line_number == 1) s->is_remarked = ncu_text_begins(t, "#");
  if (!*s->card && ncu_text_begins(t, CARD)) ncu_field_copy(behind(t, strlen(CARD)), s->card, sizeof s->card);
  for (int k = 0; k < N_FOREIGN && !s->foreign_line; k++) {
    if (!ncu_text_has(t, FOREIGN[k].mark)) continue;
    s->foreign = k;
    s->foreign_line = t->line_number;
  }
}

/* A row of a table whose header is quoted begins with a number in quotes. */
static bool begins_a_row(const NcuText *t, const Layout *l) {
  if (l->page == PAGE_RECORDED) return true;
  if (!l->is_quoted) return t->length && ascii_is_digit(t->line[0]);
  return ncu_text_begins(t, "\"") && (t->length == 1 || ascii_is_digit(t->line[1]) || l->id != 0);
}

/* Splits the line, with as many lines behind it as a field in quotes goes on for. *is_row false: something else. */
static Status split_row(Parser *p, bool *is_row, Error *error) {
  const Layout *l = p->layout;
  NcuText *t = &p->text;
  bool got = true;
  int64_t id;
  NcuSplit split = ncu_text_split(t, l->delimiter);
  for (int i = 0; split == NCU_SPLIT_OPEN && got && i < JOINS_MAX; i++) {
    const Status status = ncu_text_join(t, &got, error);
    if (status) return status;
    split = ncu_text_split(t, l->delimiter);
  }
  if (split == NCU_SPLIT_OPEN) return ncu_fail(t->line_number, error, NCU_NOT_CLOSED);
  if (split == NCU_SPLIT_TOO_MANY)
    return ncu_fail(t->line_number, error, "more than %d fields; the file is damaged", NCU_MAX_COLUMNS);
  if (l->id >= 0)
    *is_row = l->id < t->n_fields && ncu_digits(t->fields[l->id], &id);
  else
    *is_row = l->page == PAGE_RECORDED || t->n_fields == l->n_columns;
  if (!*is_row) return STATUS_OK;
  /* ncu before 2023 leaves the columns of rules off a metric's row. */
  const bool reaches = t->n_fields > l->metric[METRIC_VALUE] && t->n_fields > l->metric[METRIC_UNIT] &&
                       t->n_fields > l->metric[METRIC_NAME];
  while (l->page == PAGE_DETAILS && reaches && t->has_end && t->n_fields < l->n_columns)
    t->fields[t->n_fields++] = (NcuField){"", 0};
  if (t->n_fields != l->n_columns)
    return ncu_fail(t->line_number, error, "%d fields under %d columns; the file is cut off or damaged", t->n_fields,
                    l->n_columns);
  if (t->has_end || t->last_is_quoted) return STATUS_OK;
  if (l->page == PAGE_RECORDED || l->is_quoted)
    return ncu_fail(t->line_number, error, "the last line has no end; the file is cut off");
  if (!p->surveys)
    note(p->table, "line %lld has no end; if the file was cut off there, its last number is short.",
         (long long)t->line_number);
  return STATUS_OK;
}

/* Which mark is the decimal one: as the clearest cells say. */
static Status choose_decimal(Parser *p, Error *error) {
  p->decimal = '.';
  for (int level = SURE; level < N_LEVELS; level++) {
    const Sight *point = &p->sights[level][0], *comma = &p->sights[level][1];
    if (point->line && comma->line)
      return ncu_fail(point->line, error,
                      "'%.20s' has a decimal point, and '%.20s' in line %lld a decimal comma; export all with one "
                      "locale (LC_ALL=C)",
                      point->cell.text, comma->cell.text, (long long)comma->line);
    if (!point->line && !comma->line) continue;
    if (level == OPEN && comma->line && !p->semicolons)
      return ncu_fail(comma->line, error,
                      "'%.20s' can be read with a decimal comma and with a comma between thousands, and nothing else "
                      "in the file says which; export with --print-units base or LC_ALL=C",
                      comma->cell.text);
    if (comma->line) p->decimal = ',';
    return STATUS_OK;
  }
  return STATUS_OK;
}

static bool is_text_page(const NcuText *t) {
  return ncu_text_has(t, "Section: ") || (ncu_text_has(t, ", Context ") && ncu_text_has(t, ", CC "));
}

/* The whole file, once. */
static Status walk(Parser *p, Error *error) {
  NcuText *t = &p->text;
  bool in_table = false, got;
  p->table->n_reports = 0;
  for (;;) {
    bool is_header = false, is_row = false;
    Status status = ncu_text_line(t, &got, error);
    if (status || !got) return status;
    if (p->surveys) listen(t, &p->around);
    if (p->surveys && !in_table) recognise(t, &p->around);
    if (ncu_is_skipped(t)) continue;
    const bool may_be_row = in_table && begins_a_row(t, p->layout);
    if (!may_be_row || ncu_text_begins(t, "rung")) status = ncu_try_header(p, &is_header, error);
    if (!status && is_header) {
      ncu_rows_end_report(&p->rows);
      p->table->n_reports++;
      status = ncu_read_units(p, error);
      in_table = true;
    } else if (!status && may_be_row) {
      status = split_row(p, &is_row, error);
      if (!status && is_row) status = ncu_read_row(p, error);
    } else if (!p->around.text_page && is_text_page(t)) {
      p->around.text_page = t->line_number;
    }
    if (status) return status;
  }
}

/* Why there is no table, in the order of what helps most. */
static Status no_table(const Surroundings *s, int64_t last_line, Error *error) {
  if (s->no_permission)
    return ncu_fail(s->said_line, error,
                    "no permission for the GPU's counters, ncu says (ERR_NVGPUCTRPERM), so none are in the file; an "
                    "administrator sets NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia, or ncu runs as "
                    "root (a container: with --cap-add SYS_ADMIN)");
  if (s->said_line) return ncu_fail(s->said_line, error, "ncu counted nothing: %s", s->said);
  if (s->none_profiled)
    return ncu_fail(last_line, error,
                    "ncu profiled no kernel: the program launched none, or --kernel-name and --launch-skip left all "
                    "out");
  if (s->foreign_line)
    return ncu_fail(s->foreign_line, error,
                    "this is %s; count them with `ncu --csv --page raw` (`tilewalk crosscheck --help` has the command)",
                    FOREIGN[s->foreign].what);
  if (s->useless_header)
    return ncu_fail(s->useless_header, error,
                    "none of the columns is a counter that is used here; `tilewalk crosscheck --help` names them and "
                    "the one ncu command that records them");
  if (s->text_page)
    return ncu_fail(s->text_page, error,
                    "this is what ncu prints for people; run it again with --csv --page raw, or `ncu --import "
                    "FILE.ncu-rep --csv --page raw`");
  if (s->is_remarked)
    return ncu_fail(1, error,
                    "a recording of Tilewalk's own, as # says, but without counters of ncu; "
                    "assets/counters/INDEX.md says which ones crosscheck takes and what reads the others");
  return ncu_fail(last_line, error,
                  "no header with a counter that is known here before the end of the file; make it with `ncu --csv "
                  "--page raw --print-units base --metrics l1tex__m_xbar2l1tex_read_bytes.sum,...`");
}

static Status walk_twice(Parser *p, Error *error) {
  const Surroundings *s = &p->around;
  CounterTable *t = p->table;
  p->surveys = true;
  Status status = walk(p, error);
  if (!status && t->n_reports == 0) return no_table(s, p->text.line_number, error);
  if (!status) status = choose_decimal(p, error);
  ncu_text_rewind(&p->text);
  p->surveys = false;
  if (!status) status = walk(p, error);
  /* Some kernels were counted all the same. */
  if (!status && s->said_line) note(t, "line %lld: ncu says: %.160s", (long long)s->said_line, s->said);
  if (!status) status = ncu_rows_finish(&p->rows, t, error);
  for (size_t k = 0; !status && k < t->n_rows; k++)
    if (!*t->rows[k].device) memcpy(t->rows[k].device, s->card, sizeof s->card);
  if (!status && t->n_rows == 0)
    status = ncu_fail(p->text.line_number, error,
                      "no row of counters follows the header; the program launched no kernel, or the file is cut off");
  return status;
}

Status counter_table_read(CounterTable *table, FILE *file, Error *error) {
  *table = (CounterTable){0};
  Layout *const layouts = calloc(2, sizeof *layouts);
  Parser p = {.table = table, .layout = layouts, .tried = layouts + 1};
  Status status = layouts ? ncu_text_open(&p.text, file, error) : error_no_memory(error, "to read the counters");
  if (!status) status = walk_twice(&p, error);
  ncu_text_free(&p.text);
  ncu_rows_free(&p.rows);
  free(layouts);
  if (status) counter_table_free(table);
  return status;
}

Status counter_table_from_buffer(CounterTable *table, const char *text, size_t length, Error *error) {
  *table = (CounterTable){0};
  FILE *file = fmemopen((void *)(uintptr_t)(length ? text : "\n"), length ? length : 1, "rb");
  if (!file) return error_no_memory(error, "to read the counters");
  const Status status = counter_table_read(table, file, error);
  fclose(file);
  return status;
}

void counter_table_free(CounterTable *table) {
  free(table->rows);
  *table = (CounterTable){0};
}
