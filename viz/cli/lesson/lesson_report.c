/* What became of a class's answers: printed, and as files for teachers: a page of HTML, and Gradescope's results.json.
 *
 * Of a question: who answered, how many were right at the first try, the wrong answer that was most frequent. Of a
 * class: the misconceptions that were diagnosed, by sentence; sentences that differ in their figures alone are one, for
 * students have numbers of their own. Names and answers are strangers': escaped, and nothing in the page runs. */
#define _GNU_SOURCE /* scandir */
#include <dirent.h>
#include <glib.h>
#include <stdlib.h>

#include "sim/base/text_add.h"
#include "sim/base/path.h"
#include "sim/base/ascii.h"
#include "viz/cli/lesson/class_names.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/export/output.h"

enum { CLASS_REMARK_BYTES = 128 };

/* ---- What they say together ---- */

/* Something that is counted. */
typedef struct {
  char *lesson, *id, *text; /* text: the first's; of a student id is the name as it is compared */
  int n, n_right, n_conflicts;
  int n_rows, n_errors; /* of a student */
  bool is_unknown;
  GPtrArray *wrong; /* of a question: its wrong answers */
} Counted;

typedef struct {
  Table *students, *answers;
  GPtrArray *questions, *misconceptions; /* in the order in which they came */
  GPtrArray *scores;                     /* one a student, in the order of the roster, then of the rows */
  int n_asked;                           /* of each: as n_asked_of says */
  GHashTable *counted;                   /* all of these, by whose they are and their keys */
  GString *unmarked;                     /* rows of HTML */
  GHashTable *tested;                    /* keys of the questions with a test */
  json_t *tests;                         /* NULL: no memory */
  ClassSum sum;
  FILE *err; /* what could not be graded is named there, too */
} Report;

static void counted_free(void *item) {
  Counted *c = item;
  g_ptr_array_free(c->wrong, TRUE);
  g_free(c->lesson);
  g_free(c->id);
  g_free(c->text);
  g_free(c);
}

static GPtrArray *counter_new(void) { return g_ptr_array_new_with_free_func(counted_free); }

static Counted *find(Report *report, GPtrArray *counter, const char *lesson, const char *id, const char *key,
                     const char *text) {
  char *whole = g_strdup_printf("%p\n%s\n%s\n%s", (void *)counter, lesson, id, key);
  Counted *c = g_hash_table_lookup(report->counted, whole);
  if (c) {
    g_free(whole);
    return c;
  }
  c = g_new0(Counted, 1);
  *c = (Counted){g_strdup(lesson), g_strdup(id), g_strdup(text), .wrong = counter_new()};
  g_ptr_array_add(counter, c);
  g_hash_table_insert(report->counted, whole, c);
  return c;
}

static GHashTable *keys_new(void) { return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL); }

static void report_free(Report *report) {
  g_ptr_array_free(report->scores, TRUE);
  g_ptr_array_free(report->questions, TRUE);
  g_ptr_array_free(report->misconceptions, TRUE);
  g_string_free(report->unmarked, TRUE);
  g_hash_table_destroy(report->counted);
  g_hash_table_destroy(report->tested);
  json_decref(report->tests);
}

/* What a teacher should know of a student, made in `text` or constant. */
static const char *score_remark(const Report *report, const Counted *s, char text[CLASS_REMARK_BYTES]) {
  if (s->is_unknown) return "not on the roster";
  if (s->n_rows == 0) return "has handed in nothing";
  if (!*s->id) return "answers without a name";
  *text = '\0';
  if (s->n_conflicts) snprintf(text, CLASS_REMARK_BYTES, "%d in conflict with another file", s->n_conflicts);
  if (s->n_errors) text_add(text, CLASS_REMARK_BYTES, "%s%d could not be graded", *text ? ", " : "", s->n_errors);
  if (s->n < report->n_asked)
    text_add(text, CLASS_REMARK_BYTES, "%s%d of %d questions counted", *text ? ", " : "", s->n, report->n_asked);
  return text;
}

/* ---- Rows */

/* A sentence without its figures. */
static char *without_figures(const char *text) {
  GString *words = g_string_new(NULL);
  for (const char *p = text; *p;) {
    if (!ascii_is_digit((unsigned char)*p)) {
      g_string_append_c(words, *p++);
      continue;
    }
    g_string_append_c(words, '#');
    while (ascii_is_digit((unsigned char)*p) || ((*p == '.' || *p == ',') && ascii_is_digit((unsigned char)p[1]))) p++;
  }
  return g_string_free(words, FALSE);
}

static void take_wrong(Report *report, Counted *question, const ClassRow *row) {
  char *answer = g_strstrip(g_strdup(row->answer)), *small = g_utf8_casefold(answer, -1),
       *words = without_figures(row->remark);
  find(report, question->wrong, "", "", small, answer)->n++;
  if (strcmp(row->verdict, lesson_verdict_name(LESSON_DIAGNOSED)) == 0)
    find(report, report->misconceptions, row->lesson, row->id, words, row->remark)->n++;
  g_free(answer);
  g_free(small);
  g_free(words);
}

/* A test of one point; one without a mark only where its question has none yet. */
static void add_test(Report *report, const char *lesson, const char *id, bool counts, bool is_right,
                     const char *output) {
  if (!g_hash_table_add(report->tested, g_strconcat(lesson, "\n", id, NULL)) && !counts) return;
  char *name = g_strconcat(lesson, *lesson && *id ? ": " : "", id, NULL);
  json_array_append_new(report->tests, json_pack("{s:s, s:i, s:i, s:s}", "name", name, "score", (int)is_right,
                                                 "max_score", 1, "output", output));
  g_free(name);
}

/* Takes a graded row. */
static void count_answer(Report *report, const ClassRow *row) {
  const bool is_conflict = strcmp(row->verdict, "conflict") == 0,
             is_lost = row->is_error || is_conflict || strcmp(row->verdict, "unknown") == 0;
  if (is_lost) {
    char line[16] = ""; /* none: the whole file could not be read */
    if (row->line > 0) snprintf(line, sizeof line, "%d", row->line);
    char *cells = g_markup_printf_escaped("<tr><td>%s</td><td class=\"n\">%s</td><td>%s</td><td>%s</td></tr>\n",
                                          row->file, line, row->student, row->remark);
    g_string_append(report->unmarked, cells);
    g_free(cells);
  }
  if (row->counts || is_lost)
    add_test(report, row->lesson, *row->id ? row->id : row->file, row->counts, row->is_right, row->remark);
  if (!row->counts && !is_conflict && strcmp(row->verdict, "unanswered") != 0) return;
  Counted *question = find(report, report->questions, row->lesson, row->id, "", "");
  question->n_conflicts += is_conflict;
  if (!row->counts) return;
  question->n++;
  question->n_right += row->is_right;
  if (!row->is_right) take_wrong(report, question, row);
}

/* Questions that a student is asked: all that are marked of `lesson` (NULL: none is named), or all that anybody of the
 * class answered, whichever is more. To leave one out makes no share larger. */
static int n_asked_of(const Report *report, const Lesson *lesson) {
  const int answered = (int)report->questions->len, marked = lesson ? lesson_n_counted(lesson) : 0;
  return answered > marked ? answered : marked;
}

/* ---- The page */

static const char HEAD[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Tilewalk: a class</title>\n"
    "<style>\n:root { color-scheme: light dark }\n"
    "body { font: 16px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }\n"
    "table { border-collapse: collapse; width: 100%; margin-bottom: 2rem }\n"
    "th, td { padding: .3rem .6rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top;"
    " overflow-wrap: anywhere }\n"
    "th { overflow-wrap: normal }\ntd:first-child:not(.n) { min-width: 8rem }\n"
    ".n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }\n</style>\n</head>\n<body>\n"
    "<h1>A class</h1>\n";

/* Each format is of strings that are escaped, and of numbers. */
G_GNUC_PRINTF(2, 3) static void put(GString *page, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = g_markup_vprintf_escaped(format, arguments);
  va_end(arguments);
  g_string_append(page, text);
  g_free(text);
}

static void put_share(GString *page, int n, int of) {
  if (of)
    put(page, "<td class=\"n\">%.0f %%</td>", 100.0 * n / of);
  else
    g_string_append(page, "<td class=\"n\">-</td>");
}

static void put_students(GString *page, const Report *report) {
  g_string_append(page, "<h2>Students</h2>\n<table>\n<tr><th>Student</th><th class=\"n\">Right at the first try</th>"
                        "<th class=\"n\">Answered</th><th class=\"n\">Share of those asked</th><th>Remark</th></tr>\n");
  for (guint k = 0; k < report->scores->len; k++) {
    const Counted *s = g_ptr_array_index(report->scores, k);
    char remark[CLASS_REMARK_BYTES];
    put(page, "<tr><td>%s</td><td class=\"n\">%d</td><td class=\"n\">%d</td>", s->text, s->n_right, s->n);
    put_share(page, s->n_right, s->n_rows ? report->n_asked : 0);
    put(page, "<td>%s</td></tr>\n", score_remark(report, s, remark));
  }
  g_string_append(page, "</table>\n");
}

static int by_count(const void *a, const void *b) {
  const Counted *x = *(Counted *const *)a, *y = *(Counted *const *)b;
  return (y->n > x->n) - (y->n < x->n);
}

/* Those that are as often as another stay as they came. */
static void most_first(GPtrArray *counter) { g_ptr_array_sort(counter, by_count); /* stable: glib says so */ }

static void put_most_frequent(GString *page, GPtrArray *wrong, int n_wrong) {
  enum { LETTERS = 80 };
  if (!wrong->len) {
    g_string_append(page, "<td></td></tr>\n");
    return;
  }
  most_first(wrong);
  const Counted *most = g_ptr_array_index(wrong, 0);
  const glong length = g_utf8_strlen(most->text, -1);
  char *text = g_utf8_substring(most->text, 0, MIN(length, LETTERS));
  put(page, "<td>%s%s (%d of %d wrong)</td></tr>\n", text, length > LETTERS ? "..." : "", most->n, n_wrong);
  g_free(text);
}

static void put_questions(GString *page, const GPtrArray *questions) {
  g_string_append(page, "<h2>Questions</h2>\n<table>\n<tr><th>Lesson</th><th>Question</th><th class=\"n\">Answered</th>"
                        "<th class=\"n\">Right at the first try</th><th class=\"n\">Share</th>"
                        "<th class=\"n\">In conflict</th><th>Most frequent wrong answer</th></tr>\n");
  for (guint k = 0; k < questions->len; k++) {
    const Counted *q = g_ptr_array_index(questions, k);
    put(page, "<tr><td>%s</td><td>%s</td><td class=\"n\">%d</td><td class=\"n\">%d</td>", q->lesson, q->id, q->n,
        q->n_right);
    put_share(page, q->n_right, q->n);
    put(page, "<td class=\"n\">%d</td>", q->n_conflicts);
    put_most_frequent(page, q->wrong, q->n - q->n_right);
  }
  g_string_append(page, "</table>\n");
}

static void put_misconceptions(GString *page, GPtrArray *misconceptions) {
  if (misconceptions->len == 0) return;
  most_first(misconceptions);
  g_string_append(page,
                  "<h2>Misconceptions</h2>\n<p>What was said to a wrong answer, with the figures of the first.</p>\n"
                  "<table>\n<tr><th class=\"n\">Times</th><th>Lesson</th><th>Question</th><th>Said</th></tr>\n");
  for (guint k = 0; k < misconceptions->len; k++) {
    const Counted *m = g_ptr_array_index(misconceptions, k);
    put(page, "<tr><td class=\"n\">%d</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", m->n, m->lesson, m->id, m->text);
  }
  g_string_append(page, "</table>\n");
}

/* One page: students with the score of their first tries, questions, misconceptions, and rows without a mark. */
static Status write_html(const Report *report, const char *path, Error *error) {
  const ClassSum *sum = &report->sum;
  GString *page = g_string_new(HEAD);
  put(page,
      "<p>%d of %d answers right at the first try. Predictions do not count, nor do %d in conflict, %d not on the "
      "roster and %d that could not be graded. Left empty: %d.</p>\n",
      sum->n_right, sum->n_counted, sum->n_conflicts, sum->n_unknown, sum->n_errors, sum->n_unanswered);
  put_questions(page, report->questions); /* what to talk about comes first */
  put_misconceptions(page, report->misconceptions);
  g_string_append(page, "<details>\n<summary>Students, by name</summary>\n"); /* folded: the page is shown to a class */
  put_students(page, report);
  if (report->unmarked->len)
    g_string_append_printf(
        page,
        "<h2>Without a mark</h2>\n<table>\n<tr><th>File</th><th class=\"n\">Line</th><th>Student</th>"
        "<th>Why</th></tr>\n%s</table>\n",
        report->unmarked->str);
  g_string_append(page, "</details>\n</body>\n</html>\n");
  const Status status = file_write_whole(path, page->str, page->len, error);
  g_string_free(page, TRUE);
  return status;
}

/* ---- Gradescope */

/* What is asked and nobody answered. */
static void add_unanswered(Report *report, const Lesson *lesson) {
  for (guint k = 0; k < report->questions->len; k++) {
    const Counted *q = g_ptr_array_index(report->questions, k);
    add_test(report, q->lesson, q->id, false, false, "Not answered.");
  }
  for (size_t k = 0; lesson && k < lesson->n_asks; k++)
    if (!lesson->asks[k].is_prediction)
      add_test(report, lesson->name, lesson->asks[k].id, false, false, "Not answered.");
}

/* Gradescope's results.json: a test a question, one point each; what `lesson` (may be NULL) asks and nobody answered is
 * 0 of 1. STATUS_BAD_REQUEST where the rows are of several students: Gradescope grades one hand-in at a time.
 * Source: gradescope-autograders.readthedocs.io, "Autograder Specifications". */
static Status write_gradescope(Report *report, const Lesson *lesson, const char *path, Error *error) {
  int n_students = 0;
  for (guint k = 0; k < report->scores->len; k++)
    n_students += ((const Counted *)g_ptr_array_index(report->scores, k))->n_rows > 0;
  if (n_students > 1)
    return error_refuse(
        error,
        "%d students are in what was handed in, and Gradescope grades one at a time; give --answers the "
        "hand-in of one",
        n_students);
  add_unanswered(report, lesson);
  json_t *results =
      json_pack("{s:i, s:s, s:O}", "score", report->sum.n_right, "test_output_format", "text", "tests", report->tests);
  char *text = results ? json_dumps(results, JSON_INDENT(2)) : NULL, *line = g_strconcat(text ? text : "", "\n", NULL);
  const Status status =
      text ? file_write_whole(path, line, strlen(line), error) : error_no_memory(error, "for the results");
  g_free(line);
  free(text);
  json_decref(results);
  return status;
}

/* ---- What is printed ---- */

/* A cell that a stranger wrote. Spreadsheets run what begins with = + - or @ as a formula, also from CSV: an
 * apostrophe in front makes it text. A plain number stays one. */
static void add_stranger(Table *t, const char *text) {
  char *end = NULL;
  char safe[SUBMISSION_FIELD_BYTES * 3 + 2];
  const bool is_formula = *text && strchr("=+-@", *text);
  const bool is_number =
      is_formula && text[strcspn(text, "xXnN")] == '\0' && (strtod(text, &end), end != text && !*end);
  snprintf(safe, sizeof safe, "%s%s", is_formula && !is_number ? "'" : "", text);
  table_pair(t, ROLE_PLAIN, text, safe);
}

/* ---- One row a student */

static Counted *find_score(Report *report, const char *name) {
  char who[CLASS_NAME_BYTES];
  class_fold_name(name, who);
  return find(report, report->scores, "", who, "", name);
}

static void count_row(Report *report, const ClassRow *row) {
  Counted *score = find_score(report, row->student);
  score->n_rows++;
  score->n_right += row->is_right;
  score->n += row->counts;
  score->n_errors += row->is_error;
  score->n_conflicts += strcmp(row->verdict, "conflict") == 0;
  score->is_unknown = score->is_unknown || strcmp(row->verdict, "unknown") == 0;
}

static void add_scores(Report *report, const Lesson *lesson) {
  report->n_asked = n_asked_of(report, lesson);
  for (guint k = 0; k < report->scores->len; k++) {
    const Counted *s = g_ptr_array_index(report->scores, k);
    char text[CLASS_REMARK_BYTES];
    add_stranger(report->students, s->text);
    put_cells(report->students, "*dds", (int64_t)s->n_right, (int64_t)s->n, score_remark(report, s, text));
  }
}

/* ---- One row an answer */

static Status take_row(void *data, const ClassRow *row, Error *error) {
  Report *report = data;
  Table *t = report->answers;
  count_row(report, row);
  count_answer(report, row);
  if (row->is_error && strncmp(row->remark, row->file, strlen(row->file)) == 0) /* it names the place */
    text_say(report->err, "tilewalk lesson: %s\n", row->remark);
  else if (row->is_error)
    text_say(report->err, "tilewalk lesson: %s:%d: %s\n", row->file, row->line, row->remark);
  put_cells(t, "sn", row->file, row->line);
  add_stranger(t, row->student);
  add_stranger(t, row->lesson);
  table_whole(t, ROLE_PLAIN, number_digits, row->seed);
  add_stranger(t, row->id);
  add_stranger(t, row->answer);
  put_cells(t, "@sb",
            row->is_right                  ? ROLE_GOOD
            : row->counts || row->is_error ? ROLE_BAD
                                           : ROLE_PLAIN,
            row->verdict, row->counts);
  add_stranger(t, row->remark);
  return t->status ? error_set(error, t->status, "no memory for the grades") : STATUS_OK;
}

static void put_sums(Document *d, const ClassSum *sum) {
  put_values(d, "right:n counted:n errors:n conflicts:n unknown:n unanswered:n", sum->n_right, sum->n_counted,
             sum->n_errors, sum->n_conflicts, sum->n_unknown, sum->n_unanswered);
}

static void add_sums(Document *d, const ClassSum *sum) {
  document_gap(d);
  document_line(d, ROLE_PLAIN, "%d of %d right; predictions do not count.", sum->n_right, sum->n_counted);
  if (sum->n_errors)
    document_line(d, ROLE_PLAIN, "%d row%s could not be graded.", sum->n_errors, sum->n_errors == 1 ? "" : "s");
  if (sum->n_conflicts) document_line(d, ROLE_PLAIN, "%d answers are in conflict: two files differ.", sum->n_conflicts);
  if (sum->n_unanswered) document_line(d, ROLE_PLAIN, "Left empty: %d.", sum->n_unanswered);
  if (sum->n_unknown)
    document_line(d, ROLE_PLAIN, "%d row%s of names that are not on the roster.", sum->n_unknown,
                  sum->n_unknown == 1 ? " is" : "s are");
}

/* ---- Files */

static Status read_file(Submission *submission, const char *path, Error *error) {
  char *buffer = NULL;
  size_t length = 0;
  Status status = file_read(path, SUBMISSION_FILE_BYTES, &buffer, &length, error);
  if (!status) status = submission_add(submission, buffer, length, path_base(path), error);
  free(buffer);
  return status;
}

static int is_seen(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* All files of the folder, by name. One that cannot be read is a row that says why: nobody is lost. */
static Status read_folder(Submission *submission, const char *path, struct dirent **files, int n, Error *error) {
  enum { FILES_MAX = 4096 };
  char beside[ASSETS_PATH_BYTES];
  Status status = STATUS_OK;
  if (n > FILES_MAX)
    status = error_set(error, STATUS_TOO_LARGE, "more than %d files are handed in", FILES_MAX);
  else if (snprintf(beside, sizeof beside, "%s/", path) >= (int)sizeof beside)
    status = error_refuse(error, "the path of the folder is too long");
  for (int k = 0; k < n; k++) {
    const char *name = files[k]->d_name;
    char *buffer = NULL;
    size_t length = 0;
    Error why = {0};
    Status one = status ? status : file_read_beside(beside, name, SUBMISSION_FILE_BYTES, &buffer, &length, &why);
    if (!one) one = submission_add(submission, buffer, length, name, &why);
    if (!status && one == STATUS_NO_MEMORY)
      status = error_pass(error, &why);
    else if (!status && one)
      status = submission_add_problem(submission, name, why.message, error);
    free(buffer);
    free(files[k]);
  }
  free(files);
  return status;
}

static Status grade(const char *path, const Shard *shard, ClassRules *rules, Report *report, Error *error) {
  Submission submission = {0};
  struct dirent **files;
  if (strcmp(path, "-") == 0) path = "/dev/stdin";
  const int n = scandir(path, &files, is_seen, alphasort);
  Status status = n < 0 ? read_file(&submission, path, error) : read_folder(&submission, path, files, n, error);
  if (shard->parts) shard_slice(shard, submission.n_rows, &rules->first, &rules->end);
  if (!status && (!shard->parts || rules->first < rules->end))
    status = lesson_class_grade(&submission, rules, take_row, report, &report->sum, error);
  submission_free(&submission);
  if (!status) add_scores(report, rules->lesson);
  return status;
}

/* ---- Grading a class */

Status lesson_grade(const LessonOptions *o, Document *d, Io *io, Error *error) {
  Lesson named = {0};
  ClassNames names = {0};
  put_values(d, "tilewalk-grades:n", 1);
  put_sums(d, &(ClassSum){0}); /* their places; the values follow */
  Report report = {.students = put_table(d, o->by_student ? DOCUMENT_ALL : DOCUMENT_JSON, "students",
                                         "student=student|right>=right|counted>=counted|remark~=remark"),
                   .answers = put_table(d, o->by_student ? DOCUMENT_JSON : DOCUMENT_ALL, "answers",
                                        "=file|=line|student=student|lesson=lesson|=seed|id=id|answer~=answer|"
                                        "verdict=verdict|=counts|remark~=remark"),
                   .scores = counter_new(),
                   .questions = counter_new(),
                   .misconceptions = counter_new(),
                   .counted = keys_new(),
                   .unmarked = g_string_new(NULL),
                   .tested = keys_new(),
                   .tests = json_array(),
                   .err = io->err};
  Status status = o->n_names ? lesson_load(o->names[0], &named, error) : STATUS_OK;
  if (!status && *o->roster) status = class_names_read(&names, o->roster, io, error);
  const ClassRoster roster = {names.names, names.n};
  for (size_t k = 0; k < roster.n && !status; k++) find_score(&report, roster.names[k]);
  ClassRules rules = {.lesson = o->n_names ? &named : NULL,
                      .load = lesson_load_named,
                      .limits = &LESSON_LIMITS,
                      .key = *o->key ? o->key : NULL,
                      .seed = o->walk.has_seed ? o->walk.seed : 1,
                      .trust_seeds = o->trust_seeds,
                      .fold = class_fold_name,
                      .roster = *o->roster ? &roster : NULL};
  if (!status) status = grade(o->named[TASK_ANSWERS], &o->shard, &rules, &report, error);
  if (!status && *o->gradescope) status = write_gradescope(&report, rules.lesson, o->gradescope, error);
  if (!status && *o->page) status = write_html(&report, o->page, error);
  put_sums(d, &report.sum);
  add_sums(d, &report.sum);
  if (o->shard.part > 1) document_continues(d);
  io->differs = report.sum.n_errors > 0;
  report_free(&report);
  class_names_free(&names);
  lesson_free(&named);
  return status;
}

/* ---- Seeds of a class */

Status lesson_list_seeds(const char *path, const char *key, Document *d, Io *io, Error *error) {
  ClassNames names = {0};
  const Status status = class_names_read(&names, path, io, error);
  put_values(d, "tilewalk-seeds:n", 1);
  Table *t = put_table(d, DOCUMENT_ALL, "seeds", "student=student|seed>=seed");
  for (size_t k = 0; k < names.n && !status; k++) {
    add_stranger(t, names.names[k]);
    table_whole(t, ROLE_ACCENT, number_digits, lesson_student_seed(key, names.names[k]));
  }
  class_names_free(&names);
  return status;
}
