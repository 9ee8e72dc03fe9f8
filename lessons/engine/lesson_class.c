#include "lessons/engine/lesson_class.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"

/* What became of a row; texts that were made lie in the class's pool. */
typedef struct {
  ClassRow row;
  const char *named, *who,
      *letters;    /* named: the lesson as the row names it; who: the student's name as it is compared;
                                        letters: its, in order */
  bool is_known;   /* on the roster, or there is none */
  bool is_skipped; /* neither asked for nor needed */
  bool is_number;  /* a question of a number */
  bool is_foreign; /* in a file that is named for another student */
} Result;

typedef struct {
  const Submission *s;
  const ClassRules *rules;
  Pool pool;
  Result *results; /* one a row */
  /* The lesson at hand, and its run. */
  Lesson loaded;
  const Lesson *lesson; /* &loaded, or the teacher's */
  size_t lesson_row;    /* a row that names it */
  bool has_lesson, has_run;
  Error lesson_error;
  LessonRun run;
  LessonQuestion question;
  LessonGrade grade;
} Class;

/* ---- Groups: rows that have the same texts, however they are mixed */

typedef struct {
  size_t texts[3];  /* offsets in Result; 0: no more */
  bool right_first; /* within a group; else rows come as in the file */
  bool (*takes)(const Class *c, size_t row);
  Status (*use)(Class *c, const size_t *rows, size_t n, Error *error);
} Grouping;

typedef struct {
  const Class *class;
  const Grouping *by;
  size_t row;
} Place;

static const char *text_of(const Place *place, int k) {
  return *(const char *const *)((const char *)&place->class->results[place->row] + place->by->texts[k]);
}

static int by_texts(const Place *x, const Place *y) {
  int order = 0;
  for (int k = 0; k < 3 && x->by->texts[k] && !order; k++) order = strcmp(text_of(x, k), text_of(y, k));
  return order;
}

static int by_place(const void *a, const void *b) {
  const Place *x = a, *y = b;
  const Result *results = x->class->results;
  const int order = by_texts(x, y);
  if (order) return order;
  if (x->by->right_first && results[x->row].row.is_right != results[y->row].row.is_right)
    return results[x->row].row.is_right ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

static Status no_memory(Error *error) { return error_no_memory(error, "to grade a class"); }

/* Gives each group of the rows that it takes to by->use. */
static Status use_groups(Class *c, const Grouping *by, Error *error) {
  Place *places = malloc((c->s->n_rows + 1) * sizeof *places);
  size_t *rows = malloc((c->s->n_rows + 1) * sizeof *rows), n = 0;
  if (!places || !rows) {
    free(places);
    free(rows);
    return no_memory(error);
  }
  for (size_t k = 0; k < c->s->n_rows; k++)
    if (by->takes(c, k)) places[n++] = (Place){c, by, k};
  qsort(places, n, sizeof *places, by_place);
  Status status = STATUS_OK;
  for (size_t k = 0, next; k < n && !status; k = next) {
    for (next = k; next < n && by_texts(&places[k], &places[next]) == 0; next++) rows[next] = places[next].row;
    status = by->use(c, rows + k, next - k, error);
  }
  free(places);
  free(rows);
  return status;
}

/* ---- One row */

static Status note(Class *c, const char *text, const char **noted, Error *error) {
  const char *kept = pool_add(&c->pool, text, strlen(text));
  if (!kept) return no_memory(error);
  *noted = kept;
  return STATUS_OK;
}

static Status refuse(Class *c, Result *result, const char *why, Error *error) {
  result->row.verdict = "error";
  result->row.is_error = true;
  return note(c, why, &result->row.remark, error);
}

static void close_run(Class *c) {
  if (c->has_run) lesson_run_end(&c->run);
  c->has_run = false;
}

static void close_lesson(Class *c) {
  close_run(c);
  lesson_free(&c->loaded);
  c->has_lesson = false;
  c->lesson = NULL;
  c->lesson_error = (Error){0};
}

/* Makes c->lesson the lesson of the row; else c->lesson_error says why not. */
static void open_lesson(Class *c, size_t row) {
  const char *name = c->results[row].named;
  const Lesson *named = c->rules->lesson;
  if (c->has_lesson && strcmp(name, c->results[c->lesson_row].named) == 0) return;
  close_lesson(c);
  c->has_lesson = true;
  c->lesson_row = row;
  if (named && (!*name || strcmp(name, named->name) == 0))
    c->lesson = named;
  else if (!*name)
    error_refuse(&c->lesson_error, "the row names no lesson; add a column 'lesson', or name one on the command line");
  else if (c->rules->load(name, &c->loaded, &c->lesson_error) == STATUS_OK)
    c->lesson = &c->loaded;
}

static Status open_run(Class *c, uint64_t seed, Error *error) {
  if (c->has_run && c->run.seed == seed) return STATUS_OK;
  close_run(c);
  const Status status = lesson_run_start(&c->run, c->lesson, c->rules->limits, seed, error);
  c->has_run = status == STATUS_OK;
  return status;
}

static Status no_question(const Class *c, const char *id, Error *error) {
  Nearest nearest = {.word = id};
  for (size_t k = 0; k < c->lesson->n_asks; k++) nearest_offer(&nearest, c->lesson->asks[k].id);
  return error_refuse(error, "the lesson '%s' has no question '%s'%s", c->lesson->name, quote_text(id).text,
                      nearest_hint(&nearest).text);
}

/* c->question and c->grade, from the lesson at hand. */
static Status judge(Class *c, const SubmissionRow *row, uint64_t seed, Error *error) {
  const char *id = row->id, *answer = row->program ? row->program : row->answer;
  const int ask = lesson_find_ask(c->lesson, id);
  if (ask < 0) return no_question(c, id, error);
  Status status = open_run(c, seed, error);
  if (status) return status;
  lesson_run_refill(&c->run); /* each row has the whole budget */
  status = lesson_run_question(&c->run, ask, &c->question, error);
  return status ? status : lesson_run_grade(&c->run, &c->question, answer, &c->grade, error);
}

static bool is_empty(const SubmissionRow *row) { return !*row->answer && !row->program; }

/* The seed that a row is graded with. */
static uint64_t seed_of(const Class *c, const SubmissionRow *row, const char *who) {
  const ClassRules *rules = c->rules;
  if (rules->key) return class_seed(rules->key, who);
  return rules->trust_seeds && row->seed != UINT64_MAX ? row->seed : rules->seed;
}

static Status check_seed(const Class *c, const SubmissionRow *row, uint64_t seed, Error *error) {
  if (c->rules->key && !*row->student) return error_refuse(error, "a row without a student has no seed under a key");
  if (row->seed == UINT64_MAX || row->seed == seed) return STATUS_OK;
  return error_refuse(error, "answered with seed %" PRIu64 ", but %s is %" PRIu64 "%s", row->seed,
                      c->rules->key ? "the student's own" : "the teacher's", seed,
                      c->rules->key ? "" : "; --seed sets it, --trust-seeds takes what the rows say");
}

static Status grade_row(Class *c, size_t k, Error *error) {
  const SubmissionRow *row = &c->s->rows[k];
  Result *result = &c->results[k];
  Error why = {0};
  if (row->problem) return refuse(c, result, row->problem, error);
  open_lesson(c, k);
  if (c->lesson_error.status == STATUS_NO_MEMORY) return error_pass(error, &c->lesson_error);
  if (!c->lesson) return refuse(c, result, c->lesson_error.message, error);
  Status status = note(c, c->lesson->name, &result->row.lesson, error);
  if (status) return status;
  status = check_seed(c, row, result->row.seed, &why);
  if (!status) status = judge(c, row, result->row.seed, &why);
  if (status == STATUS_NO_MEMORY) return error_pass(error, &why);
  if (status) return refuse(c, result, why.message, error);
  result->is_number = c->lesson->asks[c->question.ask].kind == LESSON_NUMBER;
  const bool predicts = c->lesson->asks[c->question.ask].is_prediction, right = c->grade.verdict == LESSON_RIGHT;
  if (is_empty(row)) {
    result->row.verdict = predicts ? "predicted" : "unanswered";
    return note(c, "left empty", &result->row.remark, error);
  }
  result->row.counts = !predicts;
  result->row.is_right = right && !predicts;
  result->row.verdict =
      predicts && c->grade.verdict != LESSON_UNREADABLE ? "predicted" : lesson_verdict_name(c->grade.verdict);
  return right ? STATUS_OK : note(c, c->grade.message, &result->row.remark, error);
}

/* A lesson is opened once, and a run once for each of its students. */
static bool is_graded(const Class *c, size_t row) { return !c->results[row].is_skipped; }

static Status grade_rows(Class *c, const size_t *rows, size_t n, Error *error) {
  Status status = STATUS_OK;
  for (size_t k = 0; k < n && !status; k++) status = grade_row(c, rows[k], error);
  return status;
}

static const Grouping OF_A_STUDENT = {{offsetof(Result, named), offsetof(Result, who)}, false, is_graded, grade_rows};

/* ---- Answers given twice */

static Status no_mark(Class *c, size_t row, const char *verdict, const char *why, Error *error) {
  Result *result = &c->results[row];
  result->row.verdict = verdict;
  result->row.counts = result->row.is_right = false;
  return note(c, why, &result->row.remark, error);
}

/* The first of these rows of one question that another file answers otherwise; n: none does, or it is a prediction. */
static size_t find_conflict(const Class *c, const size_t *rows, size_t n) {
  if (!c->results[rows[0]].row.counts) return n;
  for (size_t k = 1; k < n; k++)
    if (c->s->rows[rows[k]].file != c->s->rows[rows[0]].file &&
        strcmp(c->s->rows[rows[k]].answer, c->s->rows[rows[0]].answer) != 0)
      return k;
  return n;
}

/* Of several answers of one student to one question the first of a file counts; of files that differ none. */
static Status mark_question(Class *c, const size_t *rows, size_t n, Error *error) {
  const size_t other = find_conflict(c, rows, n);
  char why[160];
  Status status = STATUS_OK;
  for (size_t k = 0; k < n && !status; k++) {
    const SubmissionRow *against = &c->s->rows[rows[other == n || k == other ? 0 : other]];
    const char *file = against->file;
    if (other < n)
      snprintf(why, sizeof why, "line %d of %s has another answer of this student; neither counts", against->line,
               file);
    else if (c->s->rows[rows[k]].file != against->file)
      snprintf(why, sizeof why, "answered before, in line %d of %s; the first answer counts", against->line, file);
    else
      snprintf(why, sizeof why, "answered before, in line %d; the first answer counts", against->line);
    if (other < n || k > 0) status = no_mark(c, rows[k], other < n ? "conflict" : "again", why, error);
  }
  return status;
}

static bool is_an_answer(const Class *c, size_t row) {
  const Result *r = &c->results[row];
  return !r->row.is_error && !r->is_skipped && !r->is_foreign && r->is_known && *r->row.student &&
         !is_empty(&c->s->rows[row]);
}

#define OF_ROW(member) offsetof(Result, row.member)
static const Grouping OF_A_QUESTION = {
    {offsetof(Result, who), OF_ROW(id), OF_ROW(lesson)}, false, is_an_answer, mark_question};

/* ---- Copied numbers */

static bool is_a_number(const Class *c, size_t row) { return c->results[row].is_number && c->results[row].row.counts; }

/* A number that is wrong, and right for another seed that is handed in: it was not computed, or not from one's own. */
static Status mark_copies(Class *c, const size_t *rows, size_t n, Error *error) {
  const SubmissionRow *right = &c->s->rows[rows[0]];
  char why[2 * CLASS_NAME_BYTES];
  Status status = STATUS_OK;
  for (size_t k = 1; k < n && c->results[rows[0]].row.is_right && !status; k++) {
    if (c->results[rows[k]].row.is_right) continue;
    snprintf(why, sizeof why, "these are another student's numbers: right for %s, in line %d of %s",
             quote_text(right->student).text, right->line, right->file);
    status = note(c, why, &c->results[rows[k]].row.remark, error);
  }
  return status;
}

static const Grouping OF_AN_ANSWER = {{OF_ROW(answer), OF_ROW(id), OF_ROW(lesson)}, true, is_a_number, mark_copies};

/* ---- Names */

typedef char Folded[CLASS_NAME_BYTES];

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static int by_byte(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }

/* The letters of a name in the order of the alphabet: the same however its words are ordered and parted, and in
 * whatever script they are drawn. */
static void sort_letters(const char *who, Folded letters) {
  static const char *const ALIKE[][2] = {{"\u0430", "a"}, {"\u0435", "e"}, {"\u043e", "o"}, {"\u0440", "p"},
                                         {"\u0441", "c"}, {"\u0445", "x"}, {"\u0443", "y"}, {"\u0456", "i"},
                                         {"\u03bf", "o"}, {"\u03b1", "a"}, {"\u00a0", ""},  {"\u2010", ""},
                                         {"0", "o"},      {"1", "l"},      {"i", "l"}};
  size_t used = 0;
  for (const char *p = who; *p;) {
    const char *put = NULL;
    for (size_t k = 0; k < sizeof ALIKE / sizeof *ALIKE && !put; k++)
      if (strncmp(p, ALIKE[k][0], strlen(ALIKE[k][0])) == 0) put = ALIKE[k][1], p += strlen(ALIKE[k][0]);
    if (put)
      used += (size_t)snprintf(letters + used, CLASS_NAME_BYTES - used, "%s", put);
    else if (strchr(" ,.-'_", *p))
      p++;
    else
      letters[used++] = *p++;
  }
  letters[used] = '\0';
  qsort(letters, used, 1, by_byte);
}

/* Begins every result: the row, whose it is, and the seed that it is graded with. */
static Status take_names(Class *c, Error *error) {
  const ClassRoster *roster = c->rules->roster;
  void (*const fold)(const char *, char *) = c->rules->fold ? c->rules->fold : class_fold;
  const size_t n = roster ? roster->n : 0;
  Folded who, letters, *known = calloc(n + 1, sizeof *known);
  if (!known) return no_memory(error);
  Status status = STATUS_OK;
  for (size_t k = 0; k < n; k++) fold(roster->names[k], known[k]);
  qsort(known, n, sizeof *known, by_name);
  for (size_t k = 0; k < c->s->n_rows && !status; k++) {
    const SubmissionRow *row = &c->s->rows[k];
    Result *r = &c->results[k];
    r->row = (ClassRow){row->file, row->student, row->lesson, row->id, row->answer, NULL, "", .line = row->line};
    r->named = row->lesson;
    fold(row->student, who);
    r->is_known = !roster || bsearch(who, known, n, sizeof *known, by_name);
    r->row.seed = seed_of(c, row, who);
    sort_letters(who, letters);
    status = note(c, who, &r->who, error);
    if (!status) status = note(c, letters, &r->letters, error);
  }
  free(known);
  return status;
}

/* A file whose name is a student's, of whom it has a row, speaks for that student alone. Rows of a
 * file lie together. */
static Status mark_foreign(Class *c, Error *error) {
  void (*const fold)(const char *, char *) = c->rules->fold ? c->rules->fold : class_fold;
  Status status = STATUS_OK;
  for (size_t k = 0, next; k < c->s->n_rows && !status; k = next) {
    const char *base = path_base(c->s->rows[k].file), *dot = strrchr(base, '.');
    char stem[CLASS_NAME_BYTES], why[CLASS_NAME_BYTES + 80];
    Folded owner;
    bool is_owned = false;
    snprintf(stem, sizeof stem, "%.*s", (int)(dot ? (size_t)(dot - base) : strlen(base)), base);
    fold(stem, owner);
    for (next = k; next < c->s->n_rows && c->s->rows[next].file == c->s->rows[k].file; next++)
      is_owned = is_owned || strcmp(c->results[next].who, owner) == 0;
    snprintf(why, sizeof why, "'%s' is named for one student, and speaks for no other", quote_text(base).text);
    for (size_t i = k; i < next && is_owned && *owner && !status; i++) {
      if (c->results[i].row.is_error || strcmp(c->results[i].who, owner) == 0) continue;
      c->results[i].is_foreign = true;
      status = no_mark(c, i, "ignored", why, error);
    }
  }
  return status;
}

static bool begins_a_name(const Class *c, size_t row) {
  return *c->s->rows[row].student && (row == 0 || strcmp(c->results[row].who, c->results[row - 1].who) != 0);
}

/* Names that may be one student's are said once each, in the first row of the later one. */
static Status mark_alike(Class *c, const size_t *rows, size_t n, Error *error) {
  char why[4 * CLASS_NAME_BYTES];
  Status status = STATUS_OK;
  for (size_t k = 1; k < n && !status; k++) {
    const SubmissionRow *before = &c->s->rows[rows[k - 1]];
    const char *said = c->results[rows[k]].row.remark;
    if (strcmp(c->results[rows[k]].who, c->results[rows[k - 1]].who) == 0) continue;
    snprintf(why, sizeof why, "%.400s%s'%.120s' (line %d of %.120s) may be the same student", said, *said ? "; " : "",
             quote_text(before->student).text, before->line, before->file);
    status = note(c, why, &c->results[rows[k]].row.remark, error);
  }
  return status;
}

static const Grouping OF_LETTERS = {{offsetof(Result, letters)}, false, begins_a_name, mark_alike};

static Status mark_unknown(Class *c, Error *error) {
  Status status = STATUS_OK;
  for (size_t k = 0; k < c->s->n_rows && !status; k++) {
    if (c->results[k].is_known || c->results[k].row.is_error || c->results[k].is_skipped) continue;
    const char *name = c->s->rows[k].student;
    Nearest nearest = {.word = name};
    char why[4 * CLASS_NAME_BYTES];
    for (size_t n = 0; n < c->rules->roster->n; n++) nearest_offer(&nearest, c->rules->roster->names[n]);
    snprintf(why, sizeof why, "'%s' is not on the roster%s%.200s%s", quote_text(name).text,
             nearest.best ? "; is it '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
    status = no_mark(c, k, "unknown", why, error);
  }
  return status;
}

/* ---- A part of the rows */

static bool is_asked(const Class *c, size_t row) {
  return !c->rules->end || (row >= c->rules->first && row < c->rules->end);
}

static bool is_of_a_part(const Class *c, size_t row) {
  (void)row;
  return c->rules->end > 0;
}

/* Passes over a student who has none of the rows that are asked for. */
static Status skip_other(Class *c, const size_t *rows, size_t n, Error *error) {
  bool any = false;
  (void)error;
  for (size_t k = 0; k < n; k++) any = any || is_asked(c, rows[k]);
  for (size_t k = 0; k < n; k++) c->results[rows[k]].is_skipped = !any;
  return STATUS_OK;
}

static const Grouping OF_ANYBODY = {{offsetof(Result, who)}, false, is_of_a_part, skip_other};

/* ---- All of it */

static Status hand_over(const Class *c, Status (*take)(void *, const ClassRow *, Error *), void *data, ClassSum *sum,
                        Error *error) {
  Status status = STATUS_OK;
  for (size_t k = 0; k < c->s->n_rows && !status; k++) {
    if (!is_asked(c, k)) continue;
    const ClassRow *row = &c->results[k].row;
    sum->n_counted += row->counts;
    sum->n_right += row->is_right;
    sum->n_errors += row->is_error;
    sum->n_conflicts += strcmp(row->verdict, "conflict") == 0;
    sum->n_unknown += strcmp(row->verdict, "unknown") == 0;
    sum->n_unanswered += strcmp(row->verdict, "unanswered") == 0;
    status = take(data, row, error);
  }
  return status;
}

Status lesson_class_grade(const Submission *submission, const ClassRules *rules,
                          Status (*take)(void *data, const ClassRow *row, Error *error), void *data, ClassSum *sum,
                          Error *error) {
  Class *c = calloc(1, sizeof *c);
  *sum = (ClassSum){0};
  if (!c) return no_memory(error);
  c->s = submission;
  c->rules = rules;
  c->results = calloc(submission->n_rows + 1, sizeof *c->results);
  Status status = c->results ? STATUS_OK : no_memory(error);
  if (!status) status = take_names(c, error);
  if (!status) status = use_groups(c, &OF_ANYBODY, error);
  if (!status) status = use_groups(c, &OF_A_STUDENT, error);
  if (!status) status = use_groups(c, &OF_AN_ANSWER, error);
  if (!status) status = mark_foreign(c, error);
  if (!status) status = use_groups(c, &OF_A_QUESTION, error);
  if (!status) status = mark_unknown(c, error);
  if (!status) status = use_groups(c, &OF_LETTERS, error);
  if (!status) status = hand_over(c, take, data, sum, error);
  close_lesson(c);
  pool_free(&c->pool);
  free(c->results);
  free(c);
  return status;
}
