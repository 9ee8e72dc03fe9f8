#include "lessons/engine/lesson_class.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/path.h"
#include "sim/base/nearest.h"

/* What became of a row; texts that were made lie in the class's pool. */
typedef struct {
  bool is_known;       /* on the roster, or there is none */
  bool is_skipped;     /* neither asked for nor needed */
  bool is_number;      /* a question of a number */
  bool is_foreign;     /* in a file that is named for another student */
  const char *named;   /* the lesson as the row names it */
  const char *who;     /* the student's name as it is compared */
  const char *letters; /* its letters, in order */
  ClassRow row;
} Result;

typedef struct {
  const Submission *s;
  const ClassRules *rules;
  Pool pool;
  Result *results; /* one a row */
  Error error;     /* the first; it ends the grading */
  Status (*take)(void *data, const ClassRow *row, Error *error);
  void *data;
  ClassSum *sum;
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
  void (*use)(Class *c, const size_t *rows, size_t n);
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

static void no_memory(Class *c) { error_no_memory(&c->error, "to grade a class"); }

/* Gives each group of the rows that it takes to by->use. */
static void use_groups(Class *c, const Grouping *by) {
  Place *places = malloc((c->s->n_rows + 1) * sizeof *places);
  size_t *rows = malloc((c->s->n_rows + 1) * sizeof *rows), n = 0;
  if (!places || !rows) no_memory(c);
  for (size_t k = 0; k < c->s->n_rows && !c->error.status; k++)
    if (by->takes(c, k)) places[n++] = (Place){c, by, k};
  if (n) qsort(places, n, sizeof *places, by_place);
  for (size_t k = 0, next; k < n && !c->error.status; k = next) {
    for (next = k; next < n && by_texts(&places[k], &places[next]) == 0; next++) rows[next] = places[next].row;
    by->use(c, rows + k, next - k);
  }
  free(places);
  free(rows);
}

/* ---- One row */

static void note(Class *c, const char **noted, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void note(Class *c, const char **noted, const char *format, ...) {
  char text[LESSON_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *kept = pool_add(&c->pool, text, strlen(text));
  if (kept)
    *noted = kept;
  else
    no_memory(c);
}

static void refuse(Class *c, Result *result, const char *why) {
  result->row.verdict = "error";
  result->row.is_error = true;
  note(c, &result->row.remark, "%s", why);
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
  if (c->has_run && c->run.seed != seed) close_run(c);
  if (!c->has_run) c->has_run = lesson_run_start(&c->run, c->lesson, c->rules->limits, seed, error) == STATUS_OK;
  if (!c->has_run) return error->status;
  lesson_run_refill(&c->run); /* each row has the whole budget */
  const Status status = lesson_run_question(&c->run, ask, &c->question, error);
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
  return error_refuse(error, "answered with seed %ju, but %s is %ju%s", row->seed,
                      c->rules->key ? "the student's own" : "the teacher's", seed,
                      c->rules->key ? "" : "; --seed sets it, --trust-seeds takes what the rows say");
}

static void grade_row(Class *c, size_t k) {
  const SubmissionRow *row = &c->s->rows[k];
  Result *result = &c->results[k];
  Error why = {0};
  if (!row->problem) open_lesson(c, k);
  if (!row->problem && c->lesson_error.status == STATUS_NO_MEMORY) error_pass(&c->error, &c->lesson_error);
  if (row->problem || !c->lesson) {
    refuse(c, result, row->problem ? row->problem : c->lesson_error.message);
    return;
  }
  note(c, &result->row.lesson, "%s", c->lesson->name);
  Status status = check_seed(c, row, result->row.seed, &why);
  if (!status) status = judge(c, row, result->row.seed, &why);
  if (status == STATUS_NO_MEMORY) error_pass(&c->error, &why);
  if (status) {
    refuse(c, result, why.message);
    return;
  }
  const LessonAsk *ask = &c->lesson->asks[c->question.ask];
  const bool predicts = ask->is_prediction, right = c->grade.verdict == LESSON_RIGHT, empty = is_empty(row);
  result->is_number = ask->kind == LESSON_NUMBER;
  result->row.counts = !predicts && !empty;
  result->row.is_right = right && result->row.counts;
  result->row.verdict = predicts && (empty || c->grade.verdict != LESSON_UNREADABLE) ? "predicted"
                        : empty                                                      ? "unanswered"
                                : lesson_verdict_name(c->grade.verdict);
  if (empty || !right) note(c, &result->row.remark, "%s", empty ? "left empty" : c->grade.message);
}

/* A lesson is opened once, and a run once for each of its students. */
static bool is_graded(const Class *c, size_t row) { return !c->results[row].is_skipped; }

static void grade_rows(Class *c, const size_t *rows, size_t n) {
  for (size_t k = 0; k < n && !c->error.status; k++) grade_row(c, rows[k]);
}

/* ---- Answers given twice */

/* Takes a row's mark away; where to note why. */
static const char **no_mark(Class *c, size_t row, const char *verdict) {
  ClassRow *r = &c->results[row].row;
  r->verdict = verdict;
  r->counts = r->is_right = false;
  return &r->remark;
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
static void mark_question(Class *c, const size_t *rows, size_t n) {
  const size_t other = find_conflict(c, rows, n);
  for (size_t k = other < n ? 0 : 1; k < n; k++) {
    const SubmissionRow *against = &c->s->rows[rows[other == n || k == other ? 0 : other]];
    const bool is_far = c->s->rows[rows[k]].file != against->file;
    if (other < n)
      note(c, no_mark(c, rows[k], "conflict"), "line %d of %s has another answer of this student; neither counts",
           against->line, against->file);
    else
      note(c, no_mark(c, rows[k], "again"), "answered before, in line %d%s%s; the first answer counts", against->line,
           is_far ? " of " : "", is_far ? against->file : "");
  }
}

static bool is_an_answer(const Class *c, size_t row) {
  const Result *r = &c->results[row];
  return !r->row.is_error && !r->is_skipped && !r->is_foreign && r->is_known && *r->row.student &&
         !is_empty(&c->s->rows[row]);
}

/* ---- Copied numbers */

static bool is_a_number(const Class *c, size_t row) { return c->results[row].is_number && c->results[row].row.counts; }

/* A number that is wrong, and right for another seed that is handed in: it was not computed, or not from one's own. */
static void mark_copies(Class *c, const size_t *rows, size_t n) {
  const SubmissionRow *right = &c->s->rows[rows[0]];
  for (size_t k = 1; k < n && c->results[rows[0]].row.is_right; k++)
    if (!c->results[rows[k]].row.is_right)
      note(c, &c->results[rows[k]].row.remark, "these are another student's numbers: right for %s, in line %d of %s",
           quote_text(right->student).text, right->line, right->file);
}

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
    for (size_t k = 0; k < COUNT_OF(ALIKE) && !put; k++)
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

static void fold_name(const Class *c, const char *name, Folded folded) {
  (c->rules->fold ? c->rules->fold : class_fold)(name, folded);
}

/* Begins every result: the row, whose it is, and the seed that it is graded with. */
static void take_names(Class *c) {
  const ClassRoster *roster = c->rules->roster;
  const size_t n = roster ? roster->n : 0;
  Folded who, letters, *known = calloc(n + 1, sizeof *known);
  if (!known) no_memory(c);
  for (size_t k = 0; k < n && known; k++) fold_name(c, roster->names[k], known[k]);
  if (n && known) qsort(known, n, sizeof *known, by_name);
  for (size_t k = 0; k < c->s->n_rows && !c->error.status; k++) {
    const SubmissionRow *row = &c->s->rows[k];
    Result *r = &c->results[k];
    r->row = (ClassRow){row->file, row->student, row->lesson, row->id, row->answer, NULL, "", .line = row->line};
    r->named = row->lesson;
    fold_name(c, row->student, who);
    r->is_known = !roster || bsearch(who, known, n, sizeof *known, by_name);
    r->row.seed = seed_of(c, row, who);
    sort_letters(who, letters);
    note(c, &r->who, "%s", who);
    note(c, &r->letters, "%s", letters);
  }
  free(known);
}

static bool is_row(const Class *c, size_t row) {
  (void)c, (void)row;
  return true;
}

/* A file whose name is a student's, of whom it has a row, speaks for that student alone. */
static void mark_foreign(Class *c, const size_t *rows, size_t n) {
  const char *base = path_base(c->s->rows[rows[0]].file), *dot = strrchr(base, '.');
  char stem[CLASS_NAME_BYTES];
  Folded owner;
  bool is_owned = false;
  snprintf(stem, sizeof stem, "%.*s", (int)(dot ? (size_t)(dot - base) : strlen(base)), base);
  fold_name(c, stem, owner);
  for (size_t k = 0; k < n; k++) is_owned |= *owner && strcmp(c->results[rows[k]].who, owner) == 0;
  for (size_t k = 0; k < n && is_owned; k++) {
    Result *r = &c->results[rows[k]];
    if (r->row.is_error || strcmp(r->who, owner) == 0) continue;
    r->is_foreign = true;
    note(c, no_mark(c, rows[k], "ignored"), "'%s' is named for one student, and speaks for no other",
         quote_text(base).text);
  }
}

static bool begins_a_name(const Class *c, size_t row) {
  return *c->s->rows[row].student && (row == 0 || strcmp(c->results[row].who, c->results[row - 1].who) != 0);
}

/* Names that may be one student's are said once each, in the first row of the later one. */
static void mark_alike(Class *c, const size_t *rows, size_t n) {
  for (size_t k = 1; k < n; k++) {
    const SubmissionRow *before = &c->s->rows[rows[k - 1]];
    Result *r = &c->results[rows[k]];
    if (strcmp(r->who, c->results[rows[k - 1]].who) != 0)
      note(c, &r->row.remark, "%.400s%s'%.120s' (line %d of %.120s) may be the same student", r->row.remark,
           *r->row.remark ? "; " : "", quote_text(before->student).text, before->line, before->file);
  }
}

static bool is_unknown(const Class *c, size_t row) {
  const Result *r = &c->results[row];
  return !r->is_known && !r->row.is_error && !r->is_skipped;
}

static void mark_unknown(Class *c, const size_t *rows, size_t n) {
  for (size_t k = 0; k < n; k++) {
    Nearest nearest = {.word = c->s->rows[rows[k]].student};
    for (size_t i = 0; i < c->rules->roster->n; i++) nearest_offer(&nearest, c->rules->roster->names[i]);
    note(c, no_mark(c, rows[k], "unknown"), "'%s' is not on the roster%s%.200s%s", quote_text(nearest.word).text,
         nearest.best ? "; is it '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
  }
}

/* ---- A part of the rows */

static bool is_asked(const Class *c, size_t row) {
  return !c->rules->end || (row >= c->rules->first && row < c->rules->end);
}

/* Passes over a student who has none of the rows that are asked for. */
static void skip_other(Class *c, const size_t *rows, size_t n) {
  bool any = false;
  for (size_t k = 0; k < n; k++) any = any || is_asked(c, rows[k]);
  for (size_t k = 0; k < n; k++) c->results[rows[k]].is_skipped = !any;
}

/* ---- All of it */

static void hand_over(Class *c, const size_t *rows, size_t n) {
  for (size_t k = 0; k < n && !c->error.status; k++) {
    const ClassRow *row = &c->results[rows[k]].row;
    c->sum->n_counted += row->counts;
    c->sum->n_right += row->is_right;
    c->sum->n_errors += row->is_error;
    c->sum->n_conflicts += strcmp(row->verdict, "conflict") == 0;
    c->sum->n_unknown += strcmp(row->verdict, "unknown") == 0;
    c->sum->n_unanswered += strcmp(row->verdict, "unanswered") == 0;
    c->take(c->data, row, &c->error);
  }
}

#define OF(member)     offsetof(Result, member)
#define OF_ROW(member) offsetof(Result, row.member)
static const Grouping STEPS[] = {
    {{OF(who)}, false, is_row, skip_other},
    {{OF(named), OF(who)}, false, is_graded, grade_rows},
    {{OF_ROW(answer), OF_ROW(id), OF_ROW(lesson)}, true, is_a_number, mark_copies},
    {{OF_ROW(file)}, false, is_row, mark_foreign},
    {{OF(who), OF_ROW(id), OF_ROW(lesson)}, false, is_an_answer, mark_question},
    {{0}, false, is_unknown, mark_unknown},
    {{OF(letters)}, false, begins_a_name, mark_alike},
    {{0}, false, is_asked, hand_over},
};

Status lesson_class_grade(const Submission *submission, const ClassRules *rules,
                          Status (*take)(void *data, const ClassRow *row, Error *error), void *data, ClassSum *sum,
                          Error *error) {
  Class *c = calloc(1, sizeof *c);
  *sum = (ClassSum){0};
  if (!c) return error_no_memory(error, "to grade a class");
  *c = (Class){.s = submission, .rules = rules, .take = take, .data = data, .sum = sum};
  c->results = calloc(submission->n_rows + 1, sizeof *c->results);
  if (c->results)
    take_names(c);
  else
    no_memory(c);
  for (size_t k = 0; k < COUNT_OF(STEPS) && !c->error.status; k++) use_groups(c, &STEPS[k]);
  const Status status = error_pass(error, &c->error);
  close_lesson(c);
  pool_free(&c->pool);
  free(c->results);
  free(c);
  return status;
}
