/* What became of a class's answers, printed. Part of viz/cli/lesson/lesson_print.h. */
#define _GNU_SOURCE /* scandir */
#include <dirent.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/class_key.h"
#include "sim/base/utf8.h"
#include "viz/cli/lesson/class_names.h"
#include "viz/cli/lesson/class_report.h"
#include "viz/cli/reply.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/text/print.h"

typedef struct {
  Table *students, *answers;
  ClassScore *score; /* one a student, in the order of the roster, then of the rows */
  size_t n_scores, capacity;
  GHashTable *by_name; /* who: 1 + the index of the score */
  ClassReport *files;
  FILE *err; /* what could not be graded is named there, too */
} Report;

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

static ClassScore *find_score(Report *report, const char *name) {
  char who[CLASS_NAME_BYTES];
  class_fold_name(name, who);
  const size_t known = (size_t)g_hash_table_lookup(report->by_name, who);
  if (known) return &report->score[known - 1];
  if (!pool_grow_array((void **)&report->score, &report->capacity, report->n_scores + 1, sizeof *report->score))
    return NULL;
  ClassScore *new = &report->score[report->n_scores++];
  *new = (ClassScore){0};
  snprintf(new->name, sizeof new->name, "%s", name);
  utf8_clean(new->name); /* it may have been cut within a letter */
  memcpy(new->who, who, sizeof who);
  g_hash_table_insert(report->by_name, g_strdup(who), (void *)report->n_scores);
  return new;
}

static Status count_row(Report *report, const ClassRow *row) {
  ClassScore *score = find_score(report, row->student);
  if (!score) return STATUS_NO_MEMORY;
  score->n_rows++;
  score->n_right += row->is_right;
  score->n_counted += row->counts;
  score->n_errors += row->is_error;
  score->n_conflicts += strcmp(row->verdict, "conflict") == 0;
  score->is_unknown = score->is_unknown || strcmp(row->verdict, "unknown") == 0;
  return STATUS_OK;
}

static void add_scores(const Report *report, const Lesson *lesson) {
  Table *t = report->students;
  const int n_asked = class_report_n_asked(report->files, lesson);
  for (size_t k = 0; k < report->n_scores; k++) {
    ClassScore *s = &report->score[k];
    s->n_asked = n_asked;
    char text[CLASS_REMARK_BYTES];
    add_stranger(t, s->name);
    put_cells(t, "*dds", (int64_t)s->n_right, (int64_t)s->n_counted, class_score_remark(s, text));
  }
}

/* ---- One row an answer */

static Status take_row(void *data, const ClassRow *row, Error *error) {
  Report *report = data;
  Table *t = report->answers;
  if (count_row(report, row)) return error_set(error, STATUS_NO_MEMORY, "no memory for the grades");
  class_report_take(report->files, row);
  if (row->is_error && strncmp(row->remark, row->file, strlen(row->file)) == 0) /* it names the place */
    text_say(report->err, "tilewalk lesson: %s\n", row->remark);
  else if (row->is_error)
    text_say(report->err, "tilewalk lesson: %s:%d: %s\n", row->file, row->line, row->remark);
  put_cells(t, "sn", row->file, row->line);
  add_stranger(t, row->student);
  add_stranger(t, row->lesson);
  table_digits(t, ROLE_PLAIN, row->seed);
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
  put_values(d, "right:i counted:i errors:i conflicts:i unknown:i unanswered:i", (int64_t)sum->n_right,
             (int64_t)sum->n_counted, (int64_t)sum->n_errors, (int64_t)sum->n_conflicts, (int64_t)sum->n_unknown,
             (int64_t)sum->n_unanswered);
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

static Status load_by_name(void *context, const char *name, Lesson *lesson, Error *error) {
  (void)context;
  return lesson_load_named(name, lesson, error);
}

/* ---- Files */

static Status read_file(Submission *submission, const char *path, Error *error) {
  char *buffer = NULL;
  size_t length = 0;
  const char *slash = strrchr(path, '/');
  Status status = file_read(path, SUBMISSION_FILE_BYTES, &buffer, &length, error);
  if (!status) status = submission_add(submission, buffer, length, slash ? slash + 1 : path, error);
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
      status = error_set(error, one, "%s", why.message);
    else if (!status && one)
      status = submission_add_problem(submission, name, why.message, error);
    free(buffer);
    free(files[k]);
  }
  free(files);
  return status;
}

static Status grade(const char *path, const Shard *shard, ClassRules *rules, Report *report, ClassSum *sum,
                    Error *error) {
  Submission submission = {0};
  struct dirent **files;
  if (strcmp(path, "-") == 0) path = "/dev/stdin";
  const int n = scandir(path, &files, is_seen, alphasort);
  Status status = n < 0 ? read_file(&submission, path, error) : read_folder(&submission, path, files, n, error);
  if (shard->parts) shard_slice(shard, submission.n_rows, &rules->first, &rules->end);
  if (!status && (!shard->parts || rules->first < rules->end))
    status = lesson_class_grade(&submission, rules, take_row, report, sum, error);
  submission_free(&submission);
  if (!status) add_scores(report, rules->lesson);
  return status;
}

/* ---- Grading a class */

static Status take_roster(Report *report, const ClassRoster *roster, Error *error) {
  for (size_t k = 0; k < roster->n; k++)
    if (!find_score(report, roster->names[k])) return error_set(error, STATUS_NO_MEMORY, "no memory for the grades");
  return STATUS_OK;
}

/* The files that were asked for. */
static Status write_files(const Report *report, const LessonClass *class, const Lesson *lesson, const ClassSum *sum,
                          Error *error) {
  Status status = STATUS_OK;
  if (*class->gradescope)
    status = class_report_write_gradescope(report->files, lesson, report->score, report->n_scores, sum,
                                           class->gradescope, error);
  if (!status && *class->page)
    status = class_report_write_html(report->files, report->score, report->n_scores, sum, class->page, error);
  return status;
}

int lesson_grade_file(const LessonClass *class, const char *lesson, const ClassRules *rules,
                      const OutputRequest *output, Io *io, Error *error) {
  Lesson named = {0};
  ClassNames names = {0};
  char lesson_path[ASSETS_PATH_BYTES];
  ClassRules own = *rules;
  ClassSum sum = {0};
  Document d = reply_new(output);
  put_values(&d, "tilewalk-grades:n", 1);
  put_sums(&d, &sum); /* their places; the values follow */
  Report report = {.students = put_table(&d, class->by_student ? DOCUMENT_ALL : DOCUMENT_JSON, "students",
                                         "student=student|right>=right|counted>=counted|remark~=remark"),
                   .answers = put_table(&d, class->by_student ? DOCUMENT_JSON : DOCUMENT_ALL, "answers",
                                        "=file|=line|student=student|lesson=lesson|=seed|id=id|answer~=answer|"
                                        "verdict=verdict|=counts|remark~=remark"),
                   .by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                   .files = class_report_new(),
                   .err = io->err};
  Status status = lesson ? lesson_load(lesson, &named, lesson_path, error) : STATUS_OK;
  if (!status && *class->roster) status = class_names_read(&names, class->roster, io, error);
  const ClassRoster roster = {names.names, names.n};
  if (!status) status = take_roster(&report, &roster, error);
  own.roster = *class->roster ? &roster : NULL;
  own.fold = class_fold_name;
  own.lesson = lesson ? &named : NULL;
  own.load = load_by_name;
  own.limits = &LESSON_LIMITS;
  if (!status) status = grade(class->answers, &class->shard, &own, &report, &sum, error);
  if (!status) status = write_files(&report, class, own.lesson, &sum, error);
  put_sums(&d, &sum);
  add_sums(&d, &sum);
  if (class->shard.part > 1) document_continues(&d);
  status = reply_print(&d, status, io, error);
  free(report.score);
  class_report_free(report.files);
  g_hash_table_destroy(report.by_name);
  class_names_free(&names);
  lesson_free(&named);
  return status ? EXIT_BAD_REQUEST : sum.n_errors ? EXIT_DIFFERS : EXIT_DONE;
}

/* ---- Seeds of a class */

Status lesson_print_seeds(const char *path, const char *key, const OutputRequest *output, Io *io, Error *error) {
  ClassNames names = {0};
  Status status = class_names_read(&names, path, io, error);
  Document d = reply_new(output);
  put_values(&d, "tilewalk-seeds:n", 1);
  Table *t = put_table(&d, DOCUMENT_ALL, "seeds", "student=student|seed>=seed");
  for (size_t k = 0; k < names.n && !status; k++) {
    add_stranger(t, names.names[k]);
    table_digits(t, ROLE_ACCENT, lesson_student_seed(key, names.names[k]));
  }
  class_names_free(&names);
  return reply_print(&d, status, io, error);
}
