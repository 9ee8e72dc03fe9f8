#include "lessons/engine/lesson_submission.h"

#include <errno.h>
#include <iconv.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/quote.h"
#include "sim/base/utf8.h"

enum { COLUMNS_MAX = 32, CLEAN_BYTES = 3 * SUBMISSION_FIELD_BYTES, DEPTH_MAX = 8 };
static const SubmissionRow NO_ROW = {.student = "", .lesson = "", .id = "", .answer = "", .seed = UINT64_MAX};

typedef struct {
  Submission *s;
  const char *file;
  const char *p, *end;
  char separator;
  int line;
  Error *error;                    /* ends the reading */
  Error problem;                   /* ends the row */
  Error damage;                    /* of JSON: what follows its rows is lost */
  const char *file_name, *student; /* student: the last of JSON, "": none */
  char raw[SUBMISSION_FIELD_BYTES], clean[CLEAN_BYTES];
} Reader;

static Status no_memory(Reader *r) { return error_no_memory(r->error, "to read %s", r->file); }

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
  while (length && ascii_is_space(text[length - 1])) length--;
  while (length && ascii_is_space(*text)) text++, length--;
  if (is_utf8(text, length))
    memcpy(r->clean, text, length);
  else
    length = convert("CP1252", text, length, r->clean, sizeof r->clean - 1);
  for (size_t k = 0; k < length; k++) {
    if (!r->clean[k]) r->clean[k] = '?';
    if (ascii_is_space(r->clean[k])) r->clean[k] = ' ';
  }
  r->clean[length] = '\0';
  utf8_clean(r->clean);
}

/* Adds r->clean. */
static Status add_clean(Reader *r, const char **text) {
  *text = *r->clean ? pool_add(&r->s->pool, r->clean, strlen(r->clean)) : "";
  return *text ? STATUS_OK : no_memory(r);
}

/* ---- Rows */

/* Adds the row, with the problem that was met in it. */
static Status add_row(Reader *r, SubmissionRow row) {
  const char *why = r->problem.message;
  if (r->s->n_rows == SUBMISSION_ROWS_MAX)
    return error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d answers", r->file, r->line, SUBMISSION_ROWS_MAX);
  row.problem = r->problem.status ? pool_add(&r->s->pool, why, strlen(why)) : NULL;
  if (r->problem.status && !row.problem) return no_memory(r);
  if (!grow_array((void **)&r->s->rows, &r->s->capacity, r->s->n_rows + 1, sizeof row)) return no_memory(r);
  row.file = r->file_name;
  r->s->rows[r->s->n_rows++] = row;
  r->problem = (Error){0};
  return STATUS_OK;
}

/* ---- CSV */

/* Moves on to the end of the line. */
static void skip_line(Reader *r) {
  while (r->p < r->end && *r->p != '\n') r->p++;
}

static bool ends_field(const Reader *r) { return r->p == r->end || *r->p == r->separator || *r->p == '\n'; }

/* Reads a quoted field, from behind its first quotation mark; false: it is never closed, or too long. */
static bool read_quoted(Reader *r, size_t *length) {
  for (; r->p < r->end; r->p++) {
    if (*r->p == '"') {
      if (r->p + 1 == r->end || r->p[1] != '"') {
        r->p++;
        return true;
      }
      r->p++;
    }
    if (*length + 1 >= SUBMISSION_FIELD_BYTES) return false;
    if (*r->p == '\n') r->line++;
    r->raw[(*length)++] = *r->p;
  }
  return false;
}

static bool read_plain(Reader *r, size_t *length) {
  for (; !ends_field(r); r->p++) {
    if (*length + 1 >= SUBMISSION_FIELD_BYTES) return false;
    r->raw[(*length)++] = *r->p;
  }
  return true;
}

/* Reads one field into r->clean; *last: it ends its line. After a problem the next line follows. */
static void read_field(Reader *r, bool *last) {
  const int line = r->line;
  const char *const began = r->p;
  size_t length = 0;
  if (r->p < r->end && *r->p == '"') {
    r->p++;
    if (!read_quoted(r, &length)) {
      error_set(&r->problem, STATUS_BAD_FILE, "a quotation mark is never closed, or its field is longer than %d bytes",
                SUBMISSION_FIELD_BYTES - 1);
      r->p = began;
      r->line = line;
      skip_line(r);
    }
    while (r->p < r->end && *r->p == ' ') r->p++;
    if (!ends_field(r)) {
      error_set(&r->problem, STATUS_BAD_FILE, "a field ends at its closing quotation mark: a comma belongs behind it");
      skip_line(r);
    }
  } else if (!read_plain(r, &length)) {
    error_set(&r->problem, STATUS_BAD_FILE, "a field is longer than %d bytes", SUBMISSION_FIELD_BYTES - 1);
    skip_line(r);
  }
  clean(r, r->raw, length);
  *last = r->problem.status || r->p == r->end || *r->p == '\n';
  if (r->p < r->end) r->p++;
}

typedef enum { COLUMN_STUDENT = 0, COLUMN_LESSON, COLUMN_ID, COLUMN_ANSWER, COLUMN_SEED, COLUMN_OTHER } Column;

/* What parts the columns: the first of , ; and tab in the heading. */
static char find_separator(const Reader *r) {
  for (const char *p = r->p; p < r->end && *p != '\n'; p++)
    if (*p == ',' || *p == ';' || *p == '\t') return *p;
  return ',';
}

static Status read_heading(Reader *r, Column columns[COLUMNS_MAX], int *n) {
  static const char *const NAMES[] = {"student", "lesson", "id", "answer", "seed"};
  bool last = false, has[COLUMN_OTHER] = {false};
  r->separator = find_separator(r);
  for (*n = 0; !last; ++*n) {
    if (*n == COLUMNS_MAX)
      return error_set(r->error, STATUS_BAD_FILE, "%s:1: more than %d columns", r->file, COLUMNS_MAX);
    read_field(r, &last);
    if (r->problem.status) return error_set(r->error, STATUS_BAD_FILE, "%s:1: %s", r->file, r->problem.message);
    int k = 0;
    while (k < COLUMN_OTHER && !ascii_same(r->clean, NAMES[k])) k++;
    columns[*n] = (Column)k;
    if (k == COLUMN_OTHER) continue;
    if (has[k]) return error_set(r->error, STATUS_BAD_FILE, "%s:1: two columns are called '%s'", r->file, NAMES[k]);
    has[k] = true;
  }
  r->line++;
  if (has[COLUMN_STUDENT] && has[COLUMN_ID] && has[COLUMN_ANSWER]) return STATUS_OK;
  return error_set(r->error, STATUS_BAD_FILE,
                   "%s:1: the first line must name the columns, with 'student', 'id' and 'answer' among them "
                   "(and 'lesson', 'seed')",
                   r->file);
}

static void read_seed(Reader *r, uint64_t *seed) {
  const char *text = r->clean;
  const size_t digits = strspn(text, "0123456789");
  if (digits == 0 || text[digits] || digits > 18)
    error_set(&r->problem, STATUS_BAD_FILE, "the seed '%s' is no whole number", quote_text(text).text);
  else
    *seed = strtoull(text, NULL, 10);
}

static Status take_field(Reader *r, Column column, SubmissionRow *row) {
  const char **const texts[] = {&row->student, &row->lesson, &row->id, &row->answer};
  if (column < COLUMN_SEED) return add_clean(r, texts[column]);
  if (column == COLUMN_SEED && *r->clean) read_seed(r, &row->seed);
  return STATUS_OK;
}

static Status read_csv(Reader *r) {
  Column columns[COLUMNS_MAX];
  int n;
  Status status = read_heading(r, columns, &n);
  while (!status && r->p < r->end) {
    SubmissionRow row = NO_ROW;
    row.line = r->line;
    bool last = false, any = false;
    int c = 0;
    for (; !last && !status; c++) {
      read_field(r, &last);
      any = any || *r->clean || r->problem.status;
      status = take_field(r, c < n ? columns[c] : COLUMN_OTHER, &row);
    }
    r->line++;
    if (status || !any) continue;
    if (c > n)
      error_set(&r->problem, STATUS_BAD_FILE,
                "%d fields under %d columns; put an answer with a comma in quotation marks", c, n);
    if (!*row.id) error_set(&r->problem, STATUS_BAD_FILE, "the id of the question is missing");
    status = add_row(r, row);
  }
  return status;
}

/* ---- JSON */

static Status add_text(Reader *r, const char *text, size_t length, const char **offset) {
  if (length >= SUBMISSION_FIELD_BYTES) {
    error_set(&r->problem, STATUS_BAD_FILE, "a text is longer than %d bytes", SUBMISSION_FIELD_BYTES - 1);
    length = 0;
  }
  clean(r, text, length);
  return add_clean(r, offset);
}

static Status add_member(Reader *r, const json_t *object, const char *key, const char **offset) {
  const json_t *value = json_object_get(object, key);
  if (json_is_string(value)) return add_text(r, json_string_value(value), json_string_length(value), offset);
  if (value) error_set(&r->problem, STATUS_BAD_FILE, "'%s' must be a text", key);
  return STATUS_OK;
}

static Status add_answer(Reader *r, SubmissionRow row, const char *id, const json_t *value) {
  char number[32];
  const char *text = json_string_value(value);
  if (json_is_integer(value))
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value)), text = number;
  if (json_is_real(value)) snprintf(number, sizeof number, "%.15g", json_real_value(value)), text = number;
  if (!text) error_set(&r->problem, STATUS_BAD_FILE, "the answer must be a text or a number");
  Status status = add_text(r, id, strlen(id), &row.id);
  if (!status && !*row.id) error_set(&r->problem, STATUS_BAD_FILE, "the id of the question is missing");
  if (!status && text) status = add_text(r, text, strlen(text), &row.answer);
  if (!status && *row.answer && strchr(text, '\n')) {
    row.program = pool_add(&r->s->pool, text, strlen(text));
    if (!row.program) status = no_memory(r);
  }
  return status ? status : add_row(r, row);
}

static Status read_object(Reader *r, json_t *object) {
  SubmissionRow common = NO_ROW;
  common.line = ++r->line;
  json_t *answers = json_object_get(object, "answers"), *value, *seed = json_object_get(object, "seed");
  const char *id;
  Status status = add_member(r, object, "student", &common.student);
  if (!status) status = add_member(r, object, "lesson", &common.lesson);
  if (status) return status;
  r->student = common.student;
  if (!answers && r->damage.status) return STATUS_OK; /* they were cut off */
  if (seed && (!json_is_integer(seed) || json_integer_value(seed) < 0))
    error_set(&r->problem, STATUS_BAD_FILE, "'seed' must be a whole number, 0 or more");
  else if (seed)
    common.seed = (uint64_t)json_integer_value(seed);
  if (!json_is_object(answers))
    error_set(&r->problem, STATUS_BAD_FILE, "an entry must be an object with \"answers\": {\"id\": \"answer\"}");
  if (r->problem.status) return add_row(r, common);
  json_object_foreach(answers, id, value) {
    status = add_answer(r, common, id, value);
    if (status) return status;
  }
  return STATUS_OK;
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
static Status add_damage(Reader *r, size_t n_kept) {
  if (!n_kept && !*r->student) return error_set(r->error, STATUS_BAD_FILE, "%s", r->damage.message);
  error_set(&r->problem, STATUS_BAD_FILE, "%s; %zu answer%s before it %s kept, and what follows is lost",
            r->damage.message, n_kept, n_kept == 1 ? "" : "s", n_kept == 1 ? "is" : "are");
  SubmissionRow row = NO_ROW;
  row.line = r->line;
  row.student = r->student;
  return add_row(r, row);
}

static Status read_json(Reader *r, char *text) {
  json_error_t why;
  json_t *root = json_loadb(text, (size_t)(r->end - text), JSON_REJECT_DUPLICATES, &why), *entry;
  size_t k;
  const size_t n_rows = r->s->n_rows;
  Status status = STATUS_OK;
  if (!root) {
    error_set(&r->damage, STATUS_BAD_FILE, "%s:%d: this is not JSON: %s", r->file, why.line > 0 ? why.line : 1,
              quote_text(why.text).text);
    root = load_whole_part(text, (size_t)why.position);
  }
  r->line = 0;
  if (root && !json_is_array(root)) status = read_object(r, root);
  json_array_foreach(root, k, entry) {
    if (!status) status = read_object(r, entry);
  }
  if (!status && r->damage.status) status = add_damage(r, r->s->n_rows - n_rows);
  json_decref(root);
  return status;
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

static Status read_all(Reader *r, const char *buffer, size_t length, char *text) {
  if (length > SUBMISSION_FILE_BYTES)
    return error_set(r->error, STATUS_TOO_LARGE, "%s:1: the file is longer than %d MiB", r->file,
                     SUBMISSION_FILE_BYTES >> 20);
  const size_t mark = length >= 3 && memcmp(buffer, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  if (length >= 2 && (memcmp(buffer, "\xFF\xFE", 2) == 0 || memcmp(buffer, "\xFE\xFF", 2) == 0))
    length = convert("UTF-16", buffer, length, text, length + length / 2);
  else if (length > mark)
    memcpy(text, buffer + mark, length -= mark);
  r->p = text;
  r->end = text + unify_lines(text, length);
  const char *first = r->p;
  while (first < r->end && ascii_is_space(*first)) first++;
  if (first == r->end) return error_set(r->error, STATUS_BAD_FILE, "%s:1: the file is empty", r->file);
  return *first == '[' || *first == '{' ? read_json(r, text) : read_csv(r);
}

Status submission_add(Submission *submission, const char *buffer, size_t length, const char *file, Error *error) {
  const size_t n_rows = submission->n_rows;
  const Quote name = quote_text(file);
  Error own = {0};
  Reader r = {.s = submission, .file = name.text, .line = 1, .error = &own, .student = ""};
  char *text = calloc(1, length <= SUBMISSION_FILE_BYTES ? length + length / 2 + DEPTH_MAX : 1);
  r.file_name = pool_add(&submission->pool, name.text, strlen(name.text));
  if (!text || !r.file_name)
    no_memory(&r);
  else
    read_all(&r, buffer, length, text);
  free(text);
  if (own.status) submission->n_rows = n_rows;
  return error_pass(error, &own);
}

Status submission_add_problem(Submission *submission, const char *file, const char *why, Error *error) {
  SubmissionRow row = NO_ROW;
  const Quote name = quote_text(file);
  if (submission->n_rows == SUBMISSION_ROWS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "more than %d answers", SUBMISSION_ROWS_MAX);
  row.file = pool_add(&submission->pool, name.text, strlen(name.text));
  row.problem = pool_add(&submission->pool, why, strlen(why));
  if (!row.file || !row.problem ||
      !grow_array((void **)&submission->rows, &submission->capacity, submission->n_rows + 1, sizeof row))
    return error_no_memory(error, "to read %s", name.text);
  submission->rows[submission->n_rows++] = row;
  return STATUS_OK;
}

void submission_free(Submission *submission) {
  pool_free(&submission->pool);
  free(submission->rows);
  *submission = (Submission){0};
}
