#include "lessons/engine/lesson_submission.h"

#include <errno.h>
#include <iconv.h>
#include <jansson.h>
#include <stdlib.h>

#include "sim/base/ascii.h"
#include "sim/base/keyfile.h"

enum { COLUMNS_MAX = 32, CLEAN_BYTES = 3 * SUBMISSION_FIELD_BYTES, DEPTH_MAX = 8 };
static const SubmissionRow NO_ROW = {.student = "", .lesson = "", .id = "", .answer = "", .seed = UINT64_MAX};

typedef struct {
  Submission *s;
  const char *file;
  const char *p, *end;
  char separator;
  int line;
  Error *error;                    /* the first ends the reading */
  Error problem;                   /* ends the row */
  Error damage;                    /* of JSON: what follows its rows is lost */
  const char *file_name, *student; /* student: the last of JSON, "": none */
  char raw[SUBMISSION_FIELD_BYTES], clean[CLEAN_BYTES];
} Reader;

#define PROBLEM(r, ...) error_set(&(r)->problem, STATUS_BAD_FILE, __VA_ARGS__)

static void no_memory(Reader *r) { error_no_memory(r->error, "to read %s", r->file); }

/* ---- Texts */

/* text[0..length) of another encoding as UTF-8, into out[size]; what is no character becomes '?'. Returns the length.
 * */
static size_t convert(const char *from, const char *text, size_t length, char *out, size_t size) {
  const iconv_t to_utf8 = iconv_open("UTF-8", from);
  char *in = (char *)text, *put = out;
  size_t left = length, room = size;
  while (to_utf8 != (iconv_t)-1 && left && iconv(to_utf8, &in, &left, &put, &room) == (size_t)-1 && errno == EILSEQ) {
    const size_t unit = from[0] == 'U' && left > 1 ? 2 : 1; /* UTF-16 goes on behind two bytes */
    in += unit;
    left -= unit;
    if (room) *put++ = '?', room--;
  }
  iconv_close(to_utf8);
  return size - room;
}

static bool is_utf8(const char *text, size_t length) {
  for (size_t i = 0, n; i < length; i += n) {
    n = utf8_sequence((const unsigned char *)text + i, length - i);
    if (n == 0) return false;
  }
  return true;
}

/* Makes r->clean of text[0..length), at most SUBMISSION_FIELD_BYTES: UTF-8, safe, in one line, without blanks around.
 */
static void clean(Reader *r, const char *text, size_t length) {
  const Piece p = piece_trim((Piece){text, length});
  if (is_utf8(p.text, p.length))
    memcpy(r->clean, p.text, length = p.length);
  else
    length = convert("CP1252", p.text, p.length, r->clean, sizeof r->clean - 1);
  for (size_t k = 0; k < length; k++) {
    if (!r->clean[k]) r->clean[k] = '?';
    if (ascii_is_space(r->clean[k])) r->clean[k] = ' ';
  }
  r->clean[length] = '\0';
  utf8_clean(r->clean);
}

/* A text of the pool; "" where there is no memory. */
static const char *keep(Reader *r, const char *text) {
  const char *kept = *text ? pool_add(&r->s->pool, text, strlen(text)) : "";
  if (!kept) no_memory(r);
  return kept ? kept : "";
}

/* ---- Rows */

/* Adds the row, with the problem that was met in it. */
static void add_row(Reader *r, SubmissionRow row) {
  Submission *s = r->s;
  row.problem = r->problem.status ? keep(r, r->problem.message) : NULL;
  row.file = r->file_name;
  if (s->n_rows == SUBMISSION_ROWS_MAX)
    error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d answers", r->file, r->line, SUBMISSION_ROWS_MAX);
  else if (grow_array((void **)&s->rows, &s->capacity, s->n_rows + 1, sizeof row))
    s->rows[s->n_rows++] = row;
  else
    no_memory(r);
  r->problem = (Error){0};
}

/* ---- CSV */

/* Moves on to the end of the line. */
static void skip_line(Reader *r) {
  while (r->p < r->end && *r->p != '\n') r->p++;
}

static bool ends_field(const Reader *r) { return r->p == r->end || *r->p == r->separator || *r->p == '\n'; }

/* Whether a field ends here: one in quotation marks at its last, of which two stand for one. */
static bool is_over(const Reader *r, bool is_quoted) {
  return is_quoted ? r->p < r->end && *r->p == '"' && (r->p + 1 == r->end || r->p[1] != '"') : ends_field(r);
}

/* Reads one field into r->clean; *last: it ends its line. After a problem the next line follows. */
static void read_field(Reader *r, bool *last) {
  const int line = r->line;
  const char *const began = r->p;
  const bool is_quoted = r->p < r->end && *r->p == '"';
  size_t length = 0;
  r->p += is_quoted;
  for (; r->p < r->end && !is_over(r, is_quoted) && length + 1 < SUBMISSION_FIELD_BYTES; r->p++) {
    r->p += is_quoted && *r->p == '"';
    r->line += *r->p == '\n';
    r->raw[length++] = *r->p;
  }
  if (is_over(r, is_quoted)) {
    r->p += is_quoted;
  } else {
    PROBLEM(r,
            is_quoted ? "a quotation mark is never closed, or its field is longer than %d bytes"
                      : "a field is longer than %d bytes",
            SUBMISSION_FIELD_BYTES - 1);
    r->p = began;
    r->line = line;
    skip_line(r);
  }
  while (is_quoted && r->p < r->end && *r->p == ' ') r->p++;
  if (!ends_field(r)) {
    PROBLEM(r, "a field ends at its closing quotation mark: a comma belongs behind it");
    skip_line(r);
  }
  clean(r, r->raw, length);
  *last = r->problem.status || r->p == r->end || *r->p == '\n';
  if (r->p < r->end) r->p++;
}

static const struct {
  const char *name;
  size_t text; /* offset in a row */
} COLUMNS[] = {{"student", offsetof(SubmissionRow, student)},
               {"id", offsetof(SubmissionRow, id)},
               {"answer", offsetof(SubmissionRow, answer)},
               {"lesson", offsetof(SubmissionRow, lesson)},
               {"seed", 0}};
enum { NEEDED = 3, COLUMN_SEED = 4, COLUMN_OTHER = 5 };

/* What parts the columns: the first of , ; and tab in the heading. */
static char find_separator(const Reader *r) {
  for (const char *p = r->p; p < r->end && *p != '\n'; p++)
    if (*p == ',' || *p == ';' || *p == '\t') return *p;
  return ',';
}

static void read_heading(Reader *r, int columns[COLUMNS_MAX], int *n) {
  bool last = false, has[COLUMN_OTHER + 1] = {false};
  r->separator = find_separator(r);
  for (*n = 0; !last && !r->error->status; ++*n) {
    int k = 0;
    if (*n == COLUMNS_MAX) {
      keyfile_refuse(r->file, 1, r->error, "more than %d columns", COLUMNS_MAX);
      return;
    }
    read_field(r, &last);
    while (k < COLUMN_OTHER && !ascii_same(r->clean, COLUMNS[k].name)) k++;
    if (r->problem.status)
      keyfile_refuse(r->file, 1, r->error, "%s", r->problem.message);
    else if (has[k] && k < COLUMN_OTHER)
      keyfile_refuse(r->file, 1, r->error, "two columns are called '%s'", COLUMNS[k].name);
    has[k] = true;
    columns[*n] = k;
  }
  r->line++;
  for (int k = 0; k < NEEDED; k++)
    if (!has[k])
      keyfile_refuse(r->file, 1, r->error,
                     "the first line must name the columns, with 'student', 'id' and 'answer' among them "
                     "(and 'lesson', 'seed')");
}

static void take_field(Reader *r, int column, SubmissionRow *row) {
  if (column < COLUMN_SEED) *(const char **)((char *)row + COLUMNS[column].text) = keep(r, r->clean);
  if (column != COLUMN_SEED || !*r->clean) return;
  const size_t digits = strspn(r->clean, "0123456789");
  if (digits == 0 || r->clean[digits] || digits > 18)
    PROBLEM(r, "the seed '%s' is no whole number", quote_text(r->clean).text);
  else
    row->seed = strtoull(r->clean, NULL, 10);
}

static void read_csv(Reader *r) {
  int columns[COLUMNS_MAX], n;
  read_heading(r, columns, &n);
  while (!r->error->status && r->p < r->end) {
    SubmissionRow row = NO_ROW;
    row.line = r->line;
    bool last = false, any = false;
    int c = 0;
    for (; !last; c++) {
      read_field(r, &last);
      any = any || *r->clean || r->problem.status;
      take_field(r, c < n ? columns[c] : COLUMN_OTHER, &row);
    }
    r->line++;
    if (!any) continue;
    if (c > n) PROBLEM(r, "%d fields under %d columns; put an answer with a comma in quotation marks", c, n);
    if (!*row.id) PROBLEM(r, "the id of the question is missing");
    add_row(r, row);
  }
}

/* ---- JSON */

static const char *add_text(Reader *r, const char *text, size_t length) {
  if (length >= SUBMISSION_FIELD_BYTES) {
    PROBLEM(r, "a text is longer than %d bytes", SUBMISSION_FIELD_BYTES - 1);
    length = 0;
  }
  clean(r, text, length);
  return keep(r, r->clean);
}

static const char *add_member(Reader *r, const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (json_is_string(value)) return add_text(r, json_string_value(value), json_string_length(value));
  if (value) PROBLEM(r, "'%s' must be a text", key);
  return "";
}

static void add_answer(Reader *r, SubmissionRow row, const char *id, const json_t *value) {
  char number[32];
  const char *text = json_string_value(value);
  if (json_is_integer(value))
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value)), text = number;
  if (json_is_real(value)) snprintf(number, sizeof number, "%.15g", json_real_value(value)), text = number;
  if (!text) PROBLEM(r, "the answer must be a text or a number");
  row.id = add_text(r, id, strlen(id));
  if (!*row.id) PROBLEM(r, "the id of the question is missing");
  if (text) row.answer = add_text(r, text, strlen(text));
  if (*row.answer && strchr(text, '\n')) row.program = keep(r, text);
  add_row(r, row);
}

static void read_object(Reader *r, json_t *object) {
  SubmissionRow row = NO_ROW;
  json_t *answers = json_object_get(object, "answers"), *value, *seed = json_object_get(object, "seed");
  const char *id;
  row.line = ++r->line;
  r->student = row.student = add_member(r, object, "student");
  row.lesson = add_member(r, object, "lesson");
  if (!answers && r->damage.status) return; /* they were cut off */
  if (seed && (!json_is_integer(seed) || json_integer_value(seed) < 0))
    PROBLEM(r, "'seed' must be a whole number, 0 or more");
  else if (seed)
    row.seed = (uint64_t)json_integer_value(seed);
  if (!json_is_object(answers)) PROBLEM(r, "an entry must be an object with \"answers\": {\"id\": \"answer\"}");
  if (r->problem.status) {
    add_row(r, row);
    return;
  }
  json_object_foreach(answers, id, value) {
    if (!r->error->status) add_answer(r, row, id, value);
  }
}

/* What is whole of text[0..length), which no JSON begins with: all up to the last value that a comma or bracket follows
 * or its quotation mark ends, and the brackets that are open there, put behind it. NULL: nothing is whole. */
static json_t *load_whole_part(char *text, size_t length) {
  char open[DEPTH_MAX], left[DEPTH_MAX], before = '\0';
  size_t depth = 0, n_left = 0, whole = 0;
  for (size_t k = 0; k < length; k++) {
    const char c = text[k];
    bool ends = false;
    if (c == '"') {
      while (++k < length && text[k] != '"') k += text[k] == '\\';
      ends = k < length && before == ':';
    } else if (c == '{' || c == '[') {
      if (depth == DEPTH_MAX) break;
      open[depth++] = c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (depth == 0 || open[--depth] != c || before == ',') break;
      ends = true;
    }
    if (ends || c == ',') {
      whole = ends ? k + 1 : k;
      n_left = depth;
      memcpy(left, open, depth);
    }
    if (!ascii_is_space(c)) before = c;
  }
  while (n_left) text[whole++] = left[--n_left];
  return json_loadb(text, whole, JSON_REJECT_DUPLICATES, NULL);
}

/* The last row of a damaged file; one of which nothing is whole is refused. */
static void add_damage(Reader *r, size_t n_kept) {
  SubmissionRow row = NO_ROW;
  row.line = r->line;
  row.student = r->student;
  if (!n_kept && !*r->student) error_pass(r->error, &r->damage);
  PROBLEM(r, "%s; %zu answer%s before it %s kept, and what follows is lost", r->damage.message, n_kept,
          n_kept == 1 ? "" : "s", n_kept == 1 ? "is" : "are");
  add_row(r, row);
}

static void read_json(Reader *r, char *text) {
  json_error_t why;
  json_t *root = json_loadb(text, (size_t)(r->end - text), JSON_REJECT_DUPLICATES, &why), *entry;
  size_t k;
  const size_t n_rows = r->s->n_rows;
  if (!root) {
    keyfile_refuse(r->file, why.line > 0 ? why.line : 1, &r->damage, "this is not JSON: %s", quote_text(why.text).text);
    root = load_whole_part(text, (size_t)why.position);
  }
  r->line = 0;
  if (root && !json_is_array(root)) read_object(r, root);
  json_array_foreach(root, k, entry) {
    if (!r->error->status) read_object(r, entry);
  }
  if (r->damage.status) add_damage(r, r->s->n_rows - n_rows);
  json_decref(root);
}

/* ---- Both */

/* The ends of lines become '\n': "\r\n", and "\r" alone. Returns the new length. */
static size_t unify_lines(char *text, size_t length) {
  size_t used = 0;
  for (size_t k = 0; k < length; k++) {
    if (text[k] == '\r' && k + 1 < length && text[k + 1] == '\n') continue;
    text[used++] = text[k] == '\r' ? '\n' : text[k];
  }
  return used;
}

static void read_all(Reader *r, const char *buffer, size_t length, char *text) {
  const Piece file = piece_file(buffer, length);
  if (length >= 2 && (memcmp(buffer, "\xFF\xFE", 2) == 0 || memcmp(buffer, "\xFE\xFF", 2) == 0))
    length = convert("UTF-16", buffer, length, text, length + length / 2);
  else
    memcpy(text, file.text, length = file.length);
  r->p = text;
  r->end = text + unify_lines(text, length);
  const char *first = r->p;
  while (first < r->end && ascii_is_space(*first)) first++;
  if (first == r->end)
    keyfile_refuse(r->file, 1, r->error, "the file is empty");
  else if (*first == '[' || *first == '{')
    read_json(r, text);
  else
    read_csv(r);
}

/* Reads the text; NULL: only a problem is told, that of the file. */
static Status add(Submission *submission, const char *buffer, size_t length, const char *file, const char *why,
                  Error *error) {
  const size_t n_rows = submission->n_rows;
  const Quote name = quote_text(file);
  Error own = {0};
  Reader r = {.s = submission, .file = name.text, .line = 1, .error = &own, .student = ""};
  char *text = calloc(1, length <= SUBMISSION_FILE_BYTES ? length + length / 2 + DEPTH_MAX : 1);
  r.file_name = keep(&r, name.text);
  if (!text) no_memory(&r);
  if (why) PROBLEM(&r, "%s", why), add_row(&r, NO_ROW);
  if (length > SUBMISSION_FILE_BYTES)
    error_set(&own, STATUS_TOO_LARGE, "%s:1: the file is longer than %d MiB", r.file, SUBMISSION_FILE_BYTES >> 20);
  if (buffer && !own.status) read_all(&r, buffer, length, text);
  free(text);
  if (own.status) submission->n_rows = n_rows;
  return error_pass(error, &own);
}

Status submission_add(Submission *submission, const char *buffer, size_t length, const char *file, Error *error) {
  return add(submission, buffer, length, file, NULL, error);
}

Status submission_add_problem(Submission *submission, const char *file, const char *why, Error *error) {
  return add(submission, NULL, 0, file, why, error);
}

void submission_free(Submission *submission) {
  pool_free(&submission->pool);
  free(submission->rows);
  *submission = (Submission){0};
}
