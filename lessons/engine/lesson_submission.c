#include "lessons/engine/lesson_submission.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/utf8.h"
#include "sim/base/ascii.h"
#include "sim/base/quote.h"

enum { COLUMNS_MAX = 32, FIELD_BYTES = 4096 };
#define NO_SEED UINT64_MAX

typedef struct {
  Submission *s;
  const char *file;
  const char *p, *end;
  int line;
  Error *error;
} Reader;

static Status no_memory(Reader *r) { return error_set(r->error, STATUS_NO_MEMORY, "no memory to read %s", r->file); }

static Status add_text(Reader *r, const char *text, size_t length, size_t *offset) {
  if (length == 0) return STATUS_OK;
  return pool_add(&r->s->pool, text, length, offset) ? STATUS_OK : no_memory(r);
}

static Status add_row(Reader *r, SubmissionRow row) {
  if (r->s->n_rows == SUBMISSION_ROWS_MAX)
    return error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d answers", r->file, r->line, SUBMISSION_ROWS_MAX);
  if (!pool_grow_array((void **)&r->s->rows, &r->s->capacity, r->s->n_rows + 1, sizeof row)) return no_memory(r);
  r->s->rows[r->s->n_rows++] = row;
  return STATUS_OK;
}

/* ---- CSV */

/* Reads one field into text[0..*length); *last: it ends its line. */
static Status read_field(Reader *r, char text[FIELD_BYTES], size_t *length, bool *last) {
  const bool quoted = r->p < r->end && *r->p == '"';
  const int began = r->line;
  *length = 0;
  r->p += quoted;
  for (;; r->p++) {
    const bool over = r->p == r->end;
    if (over && quoted)
      return error_set(r->error, STATUS_BAD_FILE, "%s:%d: the quotation mark that begins here is never closed", r->file,
                       began);
    if (over) break;
    if (quoted && *r->p == '"') {
      if (r->p + 1 == r->end || r->p[1] != '"') break;
      r->p++;
    } else if (!quoted && (*r->p == ',' || *r->p == '\n'))
      break;
    if (*r->p == '\n') r->line++;
    if (*length + 1 >= FIELD_BYTES)
      return error_set(r->error, STATUS_BAD_FILE, "%s:%d: a field is longer than %d bytes", r->file, began,
                       FIELD_BYTES - 1);
    text[(*length)++] = *r->p;
  }
  r->p += quoted;
  while (r->p < r->end && (*r->p == ' ' || *r->p == '\r')) r->p++;
  if (r->p < r->end && *r->p != ',' && *r->p != '\n')
    return error_set(r->error, STATUS_BAD_FILE, "%s:%d: behind a closing quotation mark must stand a comma", r->file,
                     r->line);
  while (*length && !quoted && ascii_is_space((unsigned char)text[*length - 1])) --*length;
  text[*length] = '\0';
  if (!utf8_is_text(text, *length) && !quoted)
    return error_set(r->error, STATUS_BAD_FILE, "%s:%d: a field holds control characters or is not UTF-8", r->file,
                     r->line);
  *last = r->p == r->end || *r->p == '\n';
  if (r->p < r->end) r->p++;
  return STATUS_OK;
}

typedef enum { COLUMN_OTHER = 0, COLUMN_STUDENT, COLUMN_LESSON, COLUMN_ID, COLUMN_ANSWER, COLUMN_SEED } Column;

static Status read_heading(Reader *r, Column columns[COLUMNS_MAX], int *n) {
  static const char *const NAMES[] = {"", "student", "lesson", "id", "answer", "seed"};
  char text[FIELD_BYTES];
  bool last = false, has_id = false, has_answer = false;
  for (*n = 0; !last; ++*n) {
    size_t length;
    if (*n == COLUMNS_MAX)
      return error_set(r->error, STATUS_BAD_FILE, "%s:1: more than %d columns", r->file, COLUMNS_MAX);
    if (read_field(r, text, &length, &last)) return r->error ? r->error->status : STATUS_BAD_FILE;
    columns[*n] = COLUMN_OTHER;
    for (int k = 1; k <= COLUMN_SEED; k++)
      if (strcmp(text, NAMES[k]) == 0) columns[*n] = (Column)k;
    has_id = has_id || columns[*n] == COLUMN_ID;
    has_answer = has_answer || columns[*n] == COLUMN_ANSWER;
  }
  r->line++;
  if (has_id && has_answer) return STATUS_OK;
  return error_set(r->error, STATUS_BAD_FILE,
                   "%s:1: the first line must name the columns, with 'id' and 'answer' among them "
                   "(and 'student', 'lesson', 'seed')",
                   r->file);
}

static Status read_seed(Reader *r, const char *text, uint64_t *seed) {
  const size_t digits = strspn(text, "0123456789");
  if (digits == 0 || text[digits] || digits > 18)
    return error_set(r->error, STATUS_BAD_FILE, "%s:%d: the seed '%s' is no whole number", r->file, r->line,
                     quote(text, strlen(text)).text);
  *seed = strtoull(text, NULL, 10);
  return STATUS_OK;
}

static Status read_csv(Reader *r) {
  Column columns[COLUMNS_MAX];
  int n;
  Status status = read_heading(r, columns, &n);
  while (!status && r->p < r->end) {
    SubmissionRow row = {.seed = NO_SEED, .line = r->line};
    char text[FIELD_BYTES];
    bool last = false, any = false;
    int c = 0;
    for (; !last && !status; c++) {
      size_t length;
      status = read_field(r, text, &length, &last);
      if (status) break;
      any = any || length > 0;
      const Column column = c < n ? columns[c] : COLUMN_OTHER;
      if (column == COLUMN_STUDENT) status = add_text(r, text, length, &row.student);
      if (column == COLUMN_LESSON) status = add_text(r, text, length, &row.lesson);
      if (column == COLUMN_ID) status = add_text(r, text, length, &row.id);
      if (column == COLUMN_ANSWER) status = add_text(r, text, length, &row.answer);
      if (column == COLUMN_SEED && length) status = read_seed(r, text, &row.seed);
    }
    if (!status && any && c > n)
      status = error_set(r->error, STATUS_BAD_FILE,
                         "%s:%d: %d fields under %d columns; put an answer with a comma in quotation marks", r->file,
                         row.line, c, n);
    if (!status && any && !row.id)
      status = error_set(r->error, STATUS_BAD_FILE, "%s:%d: the id of the question is missing", r->file, row.line);
    if (!status && any) status = add_row(r, row);
    r->line++;
  }
  return status;
}

/* ---- JSON */

static Status add_json_text(Reader *r, const json_t *object, const char *key, size_t *offset) {
  const json_t *value = json_object_get(object, key);
  if (!value) return STATUS_OK;
  if (!json_is_string(value)) return error_set(r->error, STATUS_BAD_FILE, "%s: '%s' must be a text", r->file, key);
  return add_text(r, json_string_value(value), json_string_length(value), offset);
}

static Status read_object(Reader *r, json_t *object) {
  SubmissionRow common = {.seed = NO_SEED};
  json_t *answers = json_object_get(object, "answers"), *value, *seed = json_object_get(object, "seed");
  const char *id;
  if (!json_is_object(object) || !json_is_object(answers))
    return error_set(r->error, STATUS_BAD_FILE,
                     "%s: each entry must be an object with \"answers\": {\"id\": \"answer\"}", r->file);
  Status status = add_json_text(r, object, "student", &common.student);
  if (!status) status = add_json_text(r, object, "lesson", &common.lesson);
  if (seed && (!json_is_integer(seed) || json_integer_value(seed) < 0))
    return error_set(r->error, STATUS_BAD_FILE, "%s: 'seed' must be a whole number, 0 or more", r->file);
  if (seed) common.seed = (uint64_t)json_integer_value(seed);
  json_object_foreach(answers, id, value) {
    SubmissionRow row = common;
    char number[32];
    const char *text = json_string_value(value);
    if (json_is_integer(value))
      snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value)), text = number;
    if (json_is_real(value)) snprintf(number, sizeof number, "%.15g", json_real_value(value)), text = number;
    if (!status && !text)
      status = error_set(r->error, STATUS_BAD_FILE, "%s: the answer to '%s' must be a text or a number", r->file,
                         quote(id, strlen(id)).text);
    if (!status) status = add_text(r, id, strlen(id), &row.id);
    if (!status) status = add_text(r, text, strlen(text), &row.answer);
    if (!status) status = add_row(r, row);
    if (status) return status;
  }
  return status;
}

static Status read_json(Reader *r) {
  json_error_t why;
  json_t *root = json_loadb(r->p, (size_t)(r->end - r->p), JSON_REJECT_DUPLICATES, &why), *entry;
  size_t k;
  if (!root)
    return error_set(r->error, STATUS_BAD_FILE, "%s:%d: this is not JSON: %s", r->file, why.line > 0 ? why.line : 1,
                     quote(why.text, strlen(why.text)).text);
  Status status = STATUS_OK;
  if (!json_is_array(root)) status = read_object(r, root);
  json_array_foreach(root, k, entry) {
    if (!status) status = read_object(r, entry);
  }
  json_decref(root);
  return status;
}

/* ---- Both */

Status submission_from_buffer(Submission *submission, const char *buffer, size_t length, const char *file,
                              Error *error) {
  Submission read = {0};
  Error own = {0};
  const Quote name = quote(file, strlen(file));
  Reader r = {.s = &read, .file = name.text, .p = buffer, .end = buffer + length, .line = 1, .error = &own};
  Status status = STATUS_OK;
  if (length >= 3 && memcmp(buffer, "\xEF\xBB\xBF", 3) == 0) r.p += 3;
  const char *first = r.p;
  while (first < r.end && ascii_is_space((unsigned char)*first)) first++;
  if (length > SUBMISSION_FILE_BYTES)
    status = error_set(&own, STATUS_TOO_LARGE, "%s:1: the file is longer than %d MiB", name.text,
                       SUBMISSION_FILE_BYTES >> 20);
  else if (first == r.end)
    status = error_set(&own, STATUS_BAD_FILE, "%s:1: the file is empty", name.text);
  else
    status = *first == '[' || *first == '{' ? read_json(&r) : read_csv(&r);
  if (status) {
    submission_free(&read);
    error_set(error, status, "%s", own.message);
  }
  *submission = read;
  return status;
}

void submission_free(Submission *submission) {
  pool_free(&submission->pool);
  free(submission->rows);
  *submission = (Submission){0};
}
