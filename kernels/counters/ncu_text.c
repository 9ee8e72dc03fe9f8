#define _GNU_SOURCE /* getc_unlocked, memmem */
#include "kernels/counters/ncu_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/packed.h"

Status ncu_fail(int64_t line, Error *error, const char *why, ...) {
  char text[sizeof error->message];
  va_list arguments;
  va_start(arguments, why);
  vsnprintf(text, sizeof text, why, arguments);
  va_end(arguments);
  return error_set(error, STATUS_BAD_FILE, "line %lld: %s", (long long)line, text);
}

/* Files that people pass for a CSV, by how they begin. */
static const struct {
  const char *magic, *why;
} OTHER_FILES[] = {
    {"NVR",
     "this is a report of Nsight Compute; export it with `ncu --import FILE.ncu-rep --csv --page raw >FILE.csv`"},
    {"PK\003\004", "this is a zip archive or a spreadsheet; save it as CSV, or unpack it"},
    {"<", "this is a page of HTML or XML; record counters with ncu --csv"},
    {"{", "this is JSON, as torch.profiler or Nsight Systems write it, which has no counters; record with ncu --csv"},
    {"SQLite format 3",
     "this is a database, as Nsight Systems exports one, which has times but no counters; record with ncu --csv"},
    {"%PDF", "this is a PDF file; record counters with ncu --csv"},
};

static Status know_by_magic(const char *head, size_t n, Error *error) {
  const Packed packed = packed_of(head, n);
  if (packed.name && strcmp(packed.name, "zip"))
    return ncu_fail(1, error, "this is packed with %s; unpack it: %s FILE >FILE.csv", packed.name, packed.unpack);
  for (size_t i = 0; i < sizeof OTHER_FILES / sizeof *OTHER_FILES; i++)
    if (n >= strlen(OTHER_FILES[i].magic) && !memcmp(head, OTHER_FILES[i].magic, strlen(OTHER_FILES[i].magic)))
      return ncu_fail(1, error, "%s", OTHER_FILES[i].why);
  return STATUS_OK;
}

/* Every second byte of the first few is zero: letters in UTF-16 without a mark. which: 0, the first of each two. */
static bool alternates(const char *head, size_t n, size_t which) {
  n = n < 64 ? n & ~(size_t)1 : 64;
  for (size_t i = 0; i < n; i += 2)
    if (head[i + which] || !head[i + 1 - which]) return false;
  return n >= 8;
}

/* One unit of UTF-16; -1: the end, also where half of a unit is left. */
static int next_unit(FILE *file, bool is_big_endian) {
  const int first = getc_unlocked(file), second = getc_unlocked(file);
  if (second < 0) return -1;
  return is_big_endian ? first << 8 | second : second << 8 | first;
}

/* What one or two units of UTF-16 stand for. -1: the end. */
static int32_t next_wide(FILE *file, bool is_big_endian) {
  const int unit = next_unit(file, is_big_endian);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit > 0xdbff) return '?';
  const int low = next_unit(file, is_big_endian);
  return low < 0xdc00 || low > 0xdfff ? '?' : 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static void put_utf8(int32_t c, FILE *to) {
  const int more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
  putc_unlocked(more ? 0xff00 >> (more + 1) | c >> 6 * more : c, to);
  for (int k = more - 1; k >= 0; k--) putc_unlocked(0x80 | (c >> 6 * k & 63), to);
}

/* UTF-16 is known by its mark or its zeros, and goes into a file of UTF-8. */
Status ncu_text_open(NcuText *text, FILE *file, Error *error) {
  char head[PACKED_BYTES];
  *text = (NcuText){.file = file,
                    .line = malloc(NCU_MAX_LINE_BYTES),
                    .cells = malloc(NCU_MAX_LINE_BYTES),
                    .fields = malloc(NCU_MAX_COLUMNS * sizeof *text->fields)};
  if (!text->line || !text->cells || !text->fields) return error_no_memory(error, "to read the counters");
  const size_t n = fread(head, 1, sizeof head, file);
  const bool has_mark = n >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2));
  const bool is_big_endian = has_mark ? head[0] == '\xfe' : alternates(head, n, 0);
  rewind(file);
  if (has_mark || is_big_endian || alternates(head, n, 1)) {
    text->decoded = tmpfile();
    for (int32_t c; text->decoded && (c = next_wide(file, is_big_endian)) >= 0;) put_utf8(c, text->decoded);
    if (!text->decoded || fflush(text->decoded) || ferror(text->decoded))
      return error_no_memory(error, "to read the counters");
    text->file = text->decoded;
    rewind(text->file);
  }
  Status status = know_by_magic(head, n, error);
  int64_t line = 1;
  for (int c; !status && (c = getc_unlocked(text->file)) >= 0; line += c == '\n')
    if (c == 0)
      status = ncu_fail(
          line, error,
          "a zero byte, so this is no text; export the report with `ncu --import FILE.ncu-rep --csv --page raw`");
  ncu_text_rewind(text);
  return status;
}

void ncu_text_free(NcuText *text) {
  free(text->line);
  free(text->cells);
  free(text->fields);
  if (text->decoded) fclose(text->decoded);
  *text = (NcuText){0};
}

void ncu_text_rewind(NcuText *text) {
  rewind(text->file);
  text->line_number = text->lines_begun = 0;
}

/* More characters behind the line as it is. */
static Status append_line(NcuText *text, bool *got, Error *error) {
  static const char MARK[] = "\xef\xbb\xbf"; /* before each of several files that were put together */
  char *line = text->line + text->length;
  *got = fgets(line, (int)(NCU_MAX_LINE_BYTES - text->length), text->file) != NULL;
  text->has_end = false;
  if (!*got) return STATUS_OK;
  size_t n = strlen(line);
  text->has_end = n && line[n - 1] == '\n';
  if (text->length + n + 1 == NCU_MAX_LINE_BYTES)
    return ncu_fail(text->line_number, error, "longer than 4 MiB; this is not a table that ncu wrote");
  text->lines_begun++;
  n -= text->has_end;
  n -= n && line[n - 1] == '\r';
  if (!strncmp(line, MARK, 3)) memmove(line, line + 3, n -= 3);
  text->length += n;
  return STATUS_OK;
}

Status ncu_text_line(NcuText *text, bool *got, Error *error) {
  text->length = 0;
  text->line_number = text->lines_begun + 1;
  const Status status = append_line(text, got, error);
  if (!status && !*got) text->line_number = text->lines_begun;
  return status;
}

Status ncu_text_join(NcuText *text, bool *got, Error *error) {
  text->line[text->length++] = '\n';
  return append_line(text, got, error);
}

NcuSplit ncu_text_split(NcuText *text, char delimiter) {
  const char *p = text->line, *end = p + text->length;
  char *out = text->cells;
  for (text->n_fields = 0; text->n_fields < NCU_MAX_COLUMNS; p++) {
    char *const begin = out;
    text->last_is_quoted = p < end && *p == '"';
    if (text->last_is_quoted) {
      for (p++; p < end && (*p != '"' || (p + 1 < end && p[1] == '"')); *out++ = *p++) p += *p == '"';
      if (p++ == end) return NCU_SPLIT_OPEN;
    }
    while (p < end && *p != delimiter) *out++ = *p++; /* behind quotes: blanks, or what a person added */
    text->fields[text->n_fields++] = (NcuField){begin, (size_t)(out - begin)};
    if (p == end) return NCU_SPLIT_OK;
  }
  return NCU_SPLIT_TOO_MANY;
}

bool ncu_text_has(const NcuText *text, const char *word) {
  return memmem(text->line, text->length, word, strlen(word)) != NULL;
}

bool ncu_text_begins(const NcuText *text, const char *word) {
  return text->length >= strlen(word) && !memcmp(text->line, word, strlen(word));
}

bool ncu_field_is(NcuField field, const char *word) {
  return field.length == strlen(word) && memcmp(field.at, word, field.length) == 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

NcuField ncu_field_trim(NcuField field) {
  for (; field.length && is_blank(*field.at); field.length--) field.at++;
  while (field.length && is_blank(field.at[field.length - 1])) field.length--;
  return field;
}

void ncu_field_copy(NcuField from, char *to, size_t size) {
  size_t n = 0;
  for (; n < from.length && n + 1 < size; n++) to[n] = from.at[n] >= 32 && from.at[n] < 127 ? from.at[n] : '?';
  to[n] = '\0';
}

bool ncu_digits(NcuField f, int64_t *value) {
  int64_t read = 0;
  f = ncu_field_trim(f);
  if (f.length == 0 || f.length > 18) return false;
  for (size_t i = 0; i < f.length; i++) {
    if (!ascii_is_digit(f.at[i])) return false;
    read = 10 * read + (f.at[i] - '0');
  }
  *value = read;
  return true;
}

bool ncu_is_skipped(const NcuText *t) {
  return !ncu_field_trim((NcuField){t->line, t->length}).length || ncu_text_begins(t, "#") || ncu_text_begins(t, "==");
}
