/* Grading what a class hands in, and giving questions to Moodle. Part of viz/cli/lesson_library.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/cli/json_sink.h"
#include "viz/cli/lesson_library.h"
#include "viz/cli/lesson_submission.h"
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

/* ---- GIFT (docs.moodle.org, "GIFT format") */

/* Its special characters take a backslash; a run of blanks is one. "->" would make a pair of what
 * stands on its sides. */
static void put_gift(FILE *out, const char *text) {
  for (; *text; text++) {
    if ((*text == ' ' || *text == '\n') && (text[1] == ' ' || text[1] == '\n')) continue;
    if (text[0] == '-' && text[1] == '>') {
      fputs("\xe2\x86\x92", out);
      text++;
      continue;
    }
    if (strchr("~=#{}:\\", *text)) fputc('\\', out);
    fputc(*text == '\n' ? ' ' : *text, out);
  }
}

/* Up to ten digits, without an exponent, which the format does not know. */
static void put_number(FILE *out, double value, int digits) {
  char text[400];
  const int whole = value == 0 ? 1 : (int)floor(log10(fabs(value))) + 1;
  const int decimals = digits - whole;
  snprintf(text, sizeof text, "%.*f", decimals > 0 ? (decimals < 60 ? decimals : 60) : 0, value);
  if (strchr(text, '.')) {
    char *end = text + strlen(text);
    while (end[-1] == '0') *--end = '\0';
    if (end[-1] == '.') *--end = '\0';
  }
  fputs(strcmp(text, "-0") == 0 ? "0" : text, out);
}

static void put_range(FILE *out, double value, double tolerance) {
  put_number(out, value, 10);
  fputc(':', out);
  put_number(out, tolerance, 6);
}

/* How far off a value may be, in the question's unit. Moodle knows no digits: half a percent stands
 * for them. */
static double gift_tolerance(const AnswerKey *key, double value) {
  const double typed = fabs(value / key->unit.factor);
  switch (key->tolerance.kind) {
  case TOLERANCE_OFF: return key->tolerance.amount;
  case TOLERANCE_PART: return key->tolerance.amount * typed;
  case TOLERANCE_EXACT: return 0;
  default: return key->unit.dimension == ANSWER_PLAIN && value == floor(value) ? 0 : 0.005 * typed;
  }
}

/* The same for the right answer, but not as far as a known wrong one. */
static double right_tolerance(const LessonQuestion *q, const LessonAsk *ask, double middle) {
  const double factor = q->key.unit.factor, half = 0.5 * (q->key.high - q->key.low);
  double tolerance = half > 0 ? half / factor : gift_tolerance(&q->key, middle);
  for (int k = 0; k < ask->n_wrong; k++)
    if (q->wrong[k].is_known) tolerance = fmin(tolerance, 0.45 * fabs(q->wrong[k].value - middle) / factor);
  return tolerance;
}

static Status gift_diagnosis(LessonRun *run, const LessonAsk *ask, int k, char text[LESSON_MESSAGE_BYTES],
                             Error *error) {
  return lesson_run_fill(run, ask->wrong[k].text, text, LESSON_MESSAGE_BYTES, error);
}

static Status gift_number(LessonRun *run, const LessonQuestion *q, char text[LESSON_MESSAGE_BYTES], FILE *out,
                          Error *error) {
  const LessonAsk *ask = &run->lesson->asks[q->ask];
  const double factor = q->key.unit.factor, middle = 0.5 * (q->key.low + q->key.high);
  fputs("#\n  =", out);
  put_range(out, middle / factor, right_tolerance(q, ask, middle));
  fputc('\n', out);
  for (int k = 0; k < ask->n_wrong; k++) {
    if (!q->wrong[k].is_known) continue;
    const Status status = gift_diagnosis(run, ask, k, text, error);
    if (status) return status;
    fputs("  =%0%", out);
    put_range(out, q->wrong[k].value / factor,
              fmin(gift_tolerance(&q->key, q->wrong[k].value), 0.45 * fabs(q->wrong[k].value - middle) / factor));
    fputc('#', out);
    put_gift(out, text);
    fputc('\n', out);
  }
  return STATUS_OK;
}

static Status gift_choice(LessonRun *run, const LessonQuestion *q, char text[LESSON_MESSAGE_BYTES], FILE *out,
                          Error *error) {
  const LessonAsk *ask = &run->lesson->asks[q->ask];
  fputc('\n', out);
  for (int p = 0; p < q->n_choices; p++) {
    fprintf(out, "  %c", p == q->right ? '=' : '~');
    put_gift(out, q->choice[p]);
    for (int k = 0; k < ask->n_wrong; k++) {
      if (!q->wrong[k].is_known || q->wrong[k].choice != p) continue;
      const Status status = gift_diagnosis(run, ask, k, text, error);
      if (status) return status;
      fputc('#', out);
      put_gift(out, text);
    }
    fputc('\n', out);
  }
  return STATUS_OK;
}

/* Of two items the first is chosen: Moodle wants three pairs. */
static void gift_first(const LessonQuestion *q, FILE *out) {
  for (int p = 0; p < q->n_choices; p++) {
    fprintf(out, "  %c", q->rank[p] <= q->rank[1 - p] ? '=' : '~');
    put_gift(out, q->choice[p]);
    fputs(" (comes first)\n", out);
  }
}

/* Items are matched with their places. */
static void gift_order(const LessonQuestion *q, FILE *out) {
  fputc('\n', out);
  if (q->n_choices == 2) {
    gift_first(q, out);
    return;
  }
  for (int p = 0; p < q->n_choices; p++) {
    int place = 1;
    for (int other = 0; other < q->n_choices; other++)
      place += q->rank[other] < q->rank[p] || (q->rank[other] == q->rank[p] && other < p);
    fputs("  =", out);
    put_gift(out, q->choice[p]);
    fprintf(out, " -> %d\n", place);
  }
}

static Status gift_question(LessonRun *run, int index, LessonQuestion *q, FILE *out, Error *error) {
  const LessonAsk *ask = &run->lesson->asks[index];
  char *text = malloc(LESSON_MESSAGE_BYTES);
  if (!text) return error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  Status status = lesson_run_question(run, index, q, error);
  if (!status) {
    fprintf(out, "::%s::[plain]", ask->id); /* neither HTML nor Markdown */
    put_gift(out, q->prompt);
    if (*ask->unit.name) {
      fputs(" (in ", out);
      put_gift(out, ask->unit.name);
      fputc(')', out);
    }
    fputs(" {", out);
    if (ask->kind == LESSON_NUMBER)
      status = gift_number(run, q, text, out, error);
    else if (ask->kind == LESSON_CHOICE)
      status = gift_choice(run, q, text, out, error);
    else
      gift_order(q, out);
  }
  if (!status) status = lesson_run_explain(run, q, text, LESSON_MESSAGE_BYTES, error);
  if (!status && *text) {
    fputs("  ####", out);
    put_gift(out, text);
    fputc('\n', out);
  }
  if (!status) fputs("}\n\n", out);
  free(text);
  return status;
}

Status lesson_export_gift(const Lesson *lesson, uint64_t seed, FILE *out, Error *error) {
  LessonRun run;
  LessonQuestion *q = malloc(sizeof *q);
  if (!q) return error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  Status status = lesson_run_start(&run, lesson, &LESSON_LIMITS, seed, error);
  if (!status) {
    fprintf(out, "// %s, seed %" PRIu64 "\n$CATEGORY: Tilewalk/%s\n\n", lesson_text(lesson, lesson->title), seed,
            lesson->name);
    for (size_t k = 0; k < lesson->n_asks && !status; k++) status = gift_question(&run, (int)k, q, out, error);
    lesson_run_end(&run);
  }
  free(q);
  return status;
}
