/* Grading what a class hands in. Part of viz/cli/lesson_library.h. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/cli/json_sink.h"
#include "viz/cli/lesson_library.h"
#include "lessons/engine/lesson_submission.h"
#include "viz/text/table.h"

/* ---- One answer after the other */

typedef struct {
  Lesson lesson;
  LessonRun run;
  char name[LESSON_NAME_BYTES * 2];
  uint64_t seed;
  bool is_open;
  LessonQuestion question;
  LessonGrade grade;
} Grader;

static void close_lesson(Grader *g) {
  if (!g->is_open) return;
  lesson_run_end(&g->run);
  lesson_free(&g->lesson);
  g->is_open = false;
}

/* Opens the lesson of a row, unless it is open already: a class hands in rows that belong together.
 */
static Status open_lesson(Grader *g, const char *name, uint64_t seed, Error *error) {
  char path[ASSETS_PATH_BYTES];
  if (g->is_open && g->seed == seed && strcmp(g->name, name) == 0) return STATUS_OK;
  close_lesson(g);
  Status status = lesson_load(name, &g->lesson, path, error);
  if (status) return status;
  status = lesson_run_start(&g->run, &g->lesson, &LESSON_LIMITS, seed, error);
  if (status) {
    lesson_free(&g->lesson);
    return status;
  }
  snprintf(g->name, sizeof g->name, "%s", name);
  g->seed = seed;
  g->is_open = true;
  return STATUS_OK;
}

static Status grade_row(Grader *g, const Submission *s, const SubmissionRow *row, const char *lesson, uint64_t seed,
                        Error *error) {
  const char *name = row->lesson ? pool_text(&s->pool, row->lesson) : lesson, *id = pool_text(&s->pool, row->id);
  if (!name)
    return error_set(error, STATUS_BAD_REQUEST,
                     "line %d names no lesson; add a column 'lesson', or name one on the command line", row->line);
  Status status = open_lesson(g, name, row->seed == UINT64_MAX ? seed : row->seed, error);
  if (status) return status;
  const int ask = lesson_find_ask(&g->lesson, id);
  if (ask < 0)
    return error_set(error, STATUS_BAD_REQUEST, "the lesson '%s' has no question '%s'; --export-gift lists them",
                     g->lesson.name, quote(id, strlen(id)).text);
  status = lesson_run_question(&g->run, ask, &g->question, error);
  if (!status) status = lesson_run_grade(&g->run, &g->question, pool_text(&s->pool, row->answer), &g->grade, error);
  return status;
}

/* ---- Results */

static bool is_counted(const Grader *g) { return !g->lesson.asks[g->question.ask].is_prediction; }

static const char *worth(const Grader *g) {
  return is_counted(g)                           ? lesson_verdict_name(g->grade.verdict)
         : g->grade.verdict == LESSON_UNREADABLE ? "unreadable"
                                                 : "predicted";
}

static const char *remark(const Grader *g) { return g->grade.verdict == LESSON_RIGHT ? "" : g->grade.message; }

static void add_to_table(Table *t, const Grader *g, const Submission *s, const SubmissionRow *row) {
  const TextRole role = g->grade.verdict == LESSON_RIGHT ? ROLE_GOOD : is_counted(g) ? ROLE_BAD : ROLE_PLAIN;
  table_text(t, ROLE_PLAIN, pool_text(&s->pool, row->student));
  table_text(t, ROLE_PLAIN, g->lesson.name);
  table_text(t, ROLE_PLAIN, pool_text(&s->pool, row->id));
  table_text(t, ROLE_PLAIN, pool_text(&s->pool, row->answer));
  table_text(t, role, worth(g));
  table_text(t, ROLE_PLAIN, remark(g));
}

static json_t *as_json_row(const Grader *g, const Submission *s, const SubmissionRow *row) {
  return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:b, s:s}", "student", pool_text(&s->pool, row->student), "lesson",
                   g->lesson.name, "seed", (json_int_t)g->seed, "id", pool_text(&s->pool, row->id), "answer",
                   pool_text(&s->pool, row->answer), "verdict", worth(g), "counts", is_counted(g), "remark", remark(g));
}

typedef struct {
  Table table;
  json_t *rows;
  int n_right, n_counted;
} Report;

static Status grade_all(Grader *g, const Submission *s, const char *lesson, uint64_t seed, Report *report,
                        Error *error) {
  for (size_t k = 0; k < s->n_rows; k++) {
    const SubmissionRow *row = &s->rows[k];
    const Status status = grade_row(g, s, row, lesson, seed, error);
    if (status) return status;
    report->n_counted += is_counted(g);
    report->n_right += is_counted(g) && g->grade.verdict == LESSON_RIGHT;
    add_to_table(&report->table, g, s, row);
    json_array_append_new(report->rows, as_json_row(g, s, row));
  }
  return STATUS_OK;
}

Status lesson_grade_file(const char *path, const char *lesson, uint64_t seed, bool as_json, bool as_csv, Io *io,
                         Error *error) {
  char *buffer = NULL;
  size_t length = 0;
  Submission submission = {0};
  const char *slash = strrchr(path, '/');
  Status status = file_read(path, SUBMISSION_FILE_BYTES, &buffer, &length, error);
  if (!status) status = submission_from_buffer(&submission, buffer, length, slash ? slash + 1 : path, error);
  free(buffer);
  Grader *g = calloc(1, sizeof *g);
  Report report = {.rows = json_array()};
  report.table = table_new((TableColumn[]){{.heading = "student"},
                                           {.heading = "lesson"},
                                           {.heading = "id"},
                                           {.heading = "answer", .shrink = TABLE_WRAP},
                                           {.heading = "verdict"},
                                           {.heading = "remark", .shrink = TABLE_WRAP}},
                           6);
  if (!status && (!g || !report.rows)) status = error_set(error, STATUS_NO_MEMORY, "no memory to grade %s", path);
  if (!status) status = grade_all(g, &submission, lesson, seed, &report, error);
  if (!status && as_json) {
    json_incref(report.rows);
    status = json_print(json_pack("{s:i, s:i, s:i, s:o}", "tilewalk-grades", 1, "right", report.n_right, "counted",
                                  report.n_counted, "answers", report.rows),
                        io->out, error);
  } else if (!status) {
    status = as_csv ? table_csv(&report.table, io->out, error) : table_print(&report.table, io->out, &io->style, error);
    if (!status && !as_csv)
      fprintf(io->out, "\n%d of %d right; predictions do not count.\n", report.n_right, report.n_counted);
  }
  table_free(&report.table);
  json_decref(report.rows);
  if (g) close_lesson(g);
  free(g);
  submission_free(&submission);
  return status;
}
