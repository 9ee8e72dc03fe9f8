/* What became of a class's answers, printed. Part of viz/cli/lesson_print.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/class_key.h"
#include "sim/base/utf8.h"
#include "viz/cli/json_sink.h"
#include "viz/cli/lesson_print.h"
#include "viz/text/table.h"

typedef struct {
  Table table;
  json_t *rows;
} Report;

/* A cell that a stranger wrote. Spreadsheets run what begins with = + - or @ as a formula, also from CSV: an
 * apostrophe in front makes it text. A plain number stays one. */
static void add_stranger(Table *t, TextRole role, const char *text) {
  char *end = NULL;
  char safe[SUBMISSION_FIELD_BYTES * 3 + 2];
  const bool is_formula = *text && strchr("=+-@", *text);
  const bool is_number =
      is_formula && text[strcspn(text, "xXnN")] == '\0' && (strtod(text, &end), end != text && !*end);
  if (!is_formula || is_number) {
    table_text(t, role, text);
    return;
  }
  snprintf(safe, sizeof safe, "'%s", text);
  table_pair(t, role, text, safe);
}

static Status take_row(void *data, const ClassRow *row, Error *error) {
  Report *report = data;
  Table *t = &report->table;
  const TextRole role = row->is_right ? ROLE_GOOD : row->counts || row->is_error ? ROLE_BAD : ROLE_PLAIN;
  add_stranger(t, ROLE_PLAIN, row->student);
  add_stranger(t, ROLE_PLAIN, row->lesson);
  add_stranger(t, ROLE_PLAIN, row->id);
  add_stranger(t, ROLE_PLAIN, row->answer);
  table_text(t, role, row->verdict);
  add_stranger(t, ROLE_PLAIN, row->remark);
  json_t *json = json_pack("{s:i, s:s, s:s, s:I, s:s, s:s, s:s, s:b, s:s}", "line", row->line, "student", row->student,
                           "lesson", row->lesson, "seed", (json_int_t)row->seed, "id", row->id, "answer", row->answer,
                           "verdict", row->verdict, "counts", row->counts, "remark", row->remark);
  if (json && json_array_append_new(report->rows, json) == 0) return STATUS_OK;
  return error_set(error, STATUS_NO_MEMORY, "no memory for the grades");
}

static Status print_report(const Report *report, const ClassSum *sum, const OutputRequest *output, Io *io,
                           Error *error) {
  if (output->json) {
    json_incref(report->rows);
    return json_print(json_pack("{s:i, s:i, s:i, s:i, s:o}", "tilewalk-grades", 1, "right", sum->n_right, "counted",
                                sum->n_counted, "errors", sum->n_errors, "answers", report->rows),
                      io->out, error);
  }
  if (output->csv) return table_csv(&report->table, io->out, error);
  const Status status = table_print(&report->table, io->out, &io->style, error);
  if (status) return status;
  fprintf(io->out, "\n%d of %d right; predictions do not count.\n", sum->n_right, sum->n_counted);
  if (sum->n_errors) fprintf(io->out, "%d row%s could not be graded.\n", sum->n_errors, sum->n_errors == 1 ? "" : "s");
  return STATUS_OK;
}

static Status load_by_name(void *context, const char *name, Lesson *lesson, Error *error) {
  (void)context;
  return lesson_load_named(name, lesson, error);
}

static Status grade(const char *path, const ClassRules *rules, Report *report, ClassSum *sum, Error *error) {
  char *buffer = NULL;
  size_t length = 0;
  Submission submission = {0};
  const char *slash = strrchr(path, '/');
  Status status = file_read(path, SUBMISSION_FILE_BYTES, &buffer, &length, error);
  if (!status) status = submission_from_buffer(&submission, buffer, length, slash ? slash + 1 : path, error);
  free(buffer);
  if (!status) status = lesson_class_grade(&submission, rules, take_row, report, sum, error);
  submission_free(&submission);
  return status;
}

int lesson_grade_file(const char *path, const char *lesson, const ClassRules *rules, const OutputRequest *output,
                      Io *io, Error *error) {
  Lesson named = {0};
  char lesson_path[ASSETS_PATH_BYTES];
  ClassRules own = *rules;
  ClassSum sum = {0};
  Report report = {.rows = json_array()};
  report.table = table_new((TableColumn[]){{.heading = "student"},
                                           {.heading = "lesson"},
                                           {.heading = "id"},
                                           {.heading = "answer", .shrink = TABLE_WRAP},
                                           {.heading = "verdict"},
                                           {.heading = "remark", .shrink = TABLE_WRAP}},
                           6);
  Status status = report.rows ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for the grades");
  if (!status && lesson) status = lesson_load(lesson, &named, lesson_path, error);
  own.lesson = lesson ? &named : NULL;
  own.load = load_by_name;
  own.limits = &LESSON_LIMITS;
  if (!status) status = grade(path, &own, &report, &sum, error);
  if (!status) status = print_report(&report, &sum, output, io, error);
  table_free(&report.table);
  json_decref(report.rows);
  lesson_free(&named);
  return status ? EXIT_BAD_REQUEST : sum.n_errors ? EXIT_DIFFERS : EXIT_DONE;
}

/* ---- Seeds of a class */

Status lesson_print_seeds(const char *path, const char *key, const OutputRequest *output, Io *io, Error *error) {
  enum { FILE_BYTES = 1 << 20 };
  char *buffer = NULL;
  size_t length = 0;
  Status status = file_read(path, FILE_BYTES, &buffer, &length, error);
  if (status) return status;
  json_t *rows = json_array();
  Table t = table_new((TableColumn[]){{.heading = "student"}, {.heading = "seed", .right = true}}, 2);
  for (char *line = buffer, *next; line && *line && !status; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    line[strcspn(line, "\r")] = '\0';
    line += strspn(line, " \t");
    if (!*line) continue;
    utf8_clean(line);
    const uint64_t seed = class_seed(key, line);
    add_stranger(&t, ROLE_PLAIN, line);
    table_format(&t, ROLE_ACCENT, "%" PRIu64, seed);
    json_array_append_new(rows, json_pack("{s:s, s:I}", "student", line, "seed", (json_int_t)seed));
  }
  if (!status && output->json) {
    json_incref(rows);
    status = json_print(json_pack("{s:i, s:o}", "tilewalk-seeds", 1, "seeds", rows), io->out, error);
  } else if (!status) {
    status = output->csv ? table_csv(&t, io->out, error) : table_print(&t, io->out, &io->style, error);
  }
  json_decref(rows);
  table_free(&t);
  free(buffer);
  return status;
}
