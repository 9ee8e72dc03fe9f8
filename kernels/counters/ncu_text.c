#include "kernels/counters/ncu_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/packed.h"

static Status no_memory(Error *error) { return error_set(error, STATUS_NO_MEMORY, "no memory to read the counters"); }

Status ncu_text_open(NcuText *text, const NcuSource *source, Error *error) {
  *text = (NcuText){.source = source, .capacity = 1 << 12};
  text->chunk = malloc(NCU_CHUNK_BYTES);
  text->line = malloc(text->capacity);
  text->fields = malloc(NCU_MAX_COLUMNS * sizeof *text->fields);
  return text->chunk && text->line && text->fields ? STATUS_OK : no_memory(error);
}

void ncu_text_free(NcuText *text) {
  free(text->chunk);
  free(text->line);
  free(text->fields);
  *text = (NcuText){0};
}

Status ncu_text_rewind(NcuText *text, Error *error) {
  if (!text->source->rewind(text->source->context))
    return error_set(error, STATUS_BAD_FILE, "the file cannot be read a second time; save it to a disk first");
  text->at = text->filled = text->length = 0;
  text->started = text->at_end = false;
  text->line_number = text->lines_begun = 0;
  return STATUS_OK;
}

/* Files that people pass for a CSV, by how they begin. */
static const struct {
  const char *magic;
  size_t length;
  const char *why;
} OTHER_FILES[] = {
    {"NVR", 3,
     "this is a report of Nsight Compute; export it with `ncu --import FILE.ncu-rep --csv --page raw >FILE.csv`"},
    {"PK\003\004", 4, "this is a zip archive or a spreadsheet; save it as CSV, or unpack it"},
    {"<", 1, "this is a page of HTML or XML; record counters with ncu --csv"},
    {"{", 1,
     "this is JSON, as torch.profiler or Nsight Systems write it, which has no counters; record with ncu --csv"},
    {"SQLite format 3", 15,
     "this is a database, as Nsight Systems exports one, which has times but no counters; record with ncu --csv"},
    {"%PDF", 4, "this is a PDF file; record counters with ncu --csv"},
};

static Status know_by_magic(const NcuText *text, Error *error) {
  const Packed packed = packed_of(text->chunk, text->filled);
  if (packed.name && strcmp(packed.name, "zip"))
    return error_set(error, STATUS_BAD_FILE, "line 1: this is packed with %s; unpack it: %s FILE >FILE.csv",
                     packed.name, packed.unpack);
  for (size_t i = 0; i < sizeof OTHER_FILES / sizeof *OTHER_FILES; i++)
    if (text->filled >= OTHER_FILES[i].length && !memcmp(text->chunk, OTHER_FILES[i].magic, OTHER_FILES[i].length))
      return error_set(error, STATUS_BAD_FILE, "line 1: %s", OTHER_FILES[i].why);
  return STATUS_OK;
}

/* Every second byte of the first few is zero: letters in UTF-16 without a mark. which: 0, the first of each two. */
static bool alternates(const NcuText *text, size_t which) {
  const size_t n = text->filled < 64 ? text->filled & ~(size_t)1 : 64;
  for (size_t i = 0; i < n; i += 2)
    if (text->chunk[i + which] || !text->chunk[i + 1 - which]) return false;
  return n >= 8;
}

static void fill(NcuText *text) {
  text->at = 0;
  text->filled = text->source->read(text->source->context, text->chunk, NCU_CHUNK_BYTES);
  text->at_end = text->filled == 0;
}

static Status start(NcuText *text, Error *error) {
  text->started = true;
  text->encoding = NCU_UTF8;
  fill(text);
  while (text->filled && text->filled < PACKED_BYTES) { /* enough to know it by */
    const size_t more =
        text->source->read(text->source->context, text->chunk + text->filled, NCU_CHUNK_BYTES - text->filled);
    if (!more) break;
    text->filled += more;
  }
  const unsigned char *b = (const unsigned char *)text->chunk;
  if (text->filled >= 2 && b[0] == 0xff && b[1] == 0xfe) {
    text->encoding = NCU_UTF16_LE;
    text->at = 2;
  } else if (text->filled >= 2 && b[0] == 0xfe && b[1] == 0xff) {
    text->encoding = NCU_UTF16_BE;
    text->at = 2;
  } else if (alternates(text, 1)) {
    text->encoding = NCU_UTF16_LE;
  } else if (alternates(text, 0)) {
    text->encoding = NCU_UTF16_BE;
  }
  return know_by_magic(text, error);
}

/* The next byte of the file; -1: the end. */
static int next_byte(NcuText *text) {
  if (text->at == text->filled && !text->at_end) fill(text);
  return text->at_end ? -1 : (unsigned char)text->chunk[text->at++];
}

static Status reserve(NcuText *text, size_t more, Error *error) {
  if (text->capacity - text->length >= more) return STATUS_OK;
  if (text->length + more > NCU_MAX_LINE_BYTES)
    return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": longer than 4 MiB; this is not a table that ncu wrote",
                     text->line_number);
  size_t capacity = 2 * text->capacity;
  while (capacity < text->length + more) capacity *= 2;
  char *line = realloc(text->line, capacity);
  if (!line) return no_memory(error);
  text->line = line;
  text->capacity = capacity;
  return STATUS_OK;
}

static void put_utf8(NcuText *text, uint32_t c) {
  char *to = text->line + text->length;
  if (c < 0x80) {
    to[0] = (char)c;
    text->length += 1;
  } else if (c < 0x800) {
    to[0] = (char)(0xc0 | c >> 6);
    to[1] = (char)(0x80 | (c & 63));
    text->length += 2;
  } else if (c < 0x10000) {
    to[0] = (char)(0xe0 | c >> 12);
    to[1] = (char)(0x80 | (c >> 6 & 63));
    to[2] = (char)(0x80 | (c & 63));
    text->length += 3;
  } else {
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    to[3] = (char)(0x80 | (c & 63));
    text->length += 4;
  }
}

/* One unit of UTF-16; -1: the end, also where half of a unit is left. */
static int next_unit(NcuText *text) {
  const int first = next_byte(text), second = first < 0 ? -1 : next_byte(text);
  if (second < 0) return -1;
  return text->encoding == NCU_UTF16_LE ? first | second << 8 : first << 8 | second;
}

/* The next character: a byte, or what one or two units of UTF-16 stand for. -1: the end. */
static int32_t next_character(NcuText *text) {
  if (text->encoding == NCU_UTF8) return next_byte(text);
  const int unit = next_unit(text);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit > 0xdbff) return '?';
  const int low = next_unit(text);
  return low < 0xdc00 || low > 0xdfff ? '?' : 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static Status zero_byte(const NcuText *text, Error *error) {
  return error_set(error, STATUS_BAD_FILE,
                   "line %" PRId64 ": a zero byte, so this is no text; export the report with `ncu --import "
                   "FILE.ncu-rep --csv --page raw`",
                   text->line_number);
}

/* Bytes up to the end of the line, or of the chunk, at once: the usual file is UTF-8. */
static Status take_bytes(NcuText *text, bool *done, Error *error) {
  if (text->at == text->filled && !text->at_end) fill(text);
  *done = text->at_end;
  if (text->at_end) return STATUS_OK;
  const char *from = text->chunk + text->at, *end = memchr(from, '\n', text->filled - text->at);
  const size_t n = end ? (size_t)(end - from) : text->filled - text->at;
  const Status status = reserve(text, n + 4, error);
  if (status) return status;
  if (memchr(from, '\0', n)) return zero_byte(text, error);
  memcpy(text->line + text->length, from, n);
  text->length += n;
  text->at += n + (end != NULL);
  text->has_end = *done = end != NULL;
  return STATUS_OK;
}

static Status take_characters(NcuText *text, bool *done, Error *error) {
  const int32_t c = next_character(text);
  *done = c < 0 || c == '\n';
  text->has_end = c == '\n';
  if (*done) return STATUS_OK;
  if (c == 0) return zero_byte(text, error);
  const Status status = reserve(text, 8, error);
  if (status == STATUS_OK) put_utf8(text, (uint32_t)c);
  return status;
}

/* More characters behind the line as it is. */
static Status append_line(NcuText *text, bool *got, Error *error) {
  const size_t before = text->length;
  Status status = text->started ? STATUS_OK : start(text, error);
  bool done = false;
  text->has_end = false;
  while (!done && status == STATUS_OK)
    status = text->encoding == NCU_UTF8 ? take_bytes(text, &done, error) : take_characters(text, &done, error);
  *got = status == STATUS_OK && (text->length > before || text->has_end);
  if (*got) text->lines_begun++;
  if (text->length > before && text->line[text->length - 1] == '\r') text->length--;
  /* Files put together with a mark before each. */
  if (text->length - before >= 3 && !memcmp(text->line + before, "\xef\xbb\xbf", 3)) {
    memmove(text->line + before, text->line + before + 3, text->length - before - 3);
    text->length -= 3;
  }
  return status;
}

Status ncu_text_line(NcuText *text, bool *got, Error *error) {
  text->length = 0;
  text->line_number = text->lines_begun + 1;
  const Status status = append_line(text, got, error);
  if (status == STATUS_OK && !*got) text->line_number = text->lines_begun;
  return status;
}

Status ncu_text_join(NcuText *text, bool *got, Error *error) {
  const Status status = reserve(text, 8, error);
  if (status) return status;
  text->line[text->length++] = '\n';
  return append_line(text, got, error);
}

NcuSplit ncu_text_peek(const NcuText *text, char delimiter, int *n_fields) {
  const char *p = text->line, *end = p + text->length;
  for (*n_fields = 1;; p++, ++*n_fields) {
    if (*n_fields > NCU_MAX_COLUMNS) return NCU_SPLIT_TOO_MANY;
    if (p < end && *p == '"') {
      for (p++;; p++) {
        if (p == end) return NCU_SPLIT_OPEN;
        if (*p != '"') continue;
        if (p + 1 == end || p[1] != '"') break;
        p++;
      }
      p++;
      while (p < end && *p != delimiter) p++; /* blanks, or what a person added */
    } else {
      const char *next = p < end ? memchr(p, delimiter, (size_t)(end - p)) : NULL;
      p = next ? next : end;
    }
    if (p == end) return NCU_SPLIT_OK;
  }
}

/* Takes the quotes off a field in place. */
static NcuField unquote(char *from, const char *end, char delimiter, char **next) {
  char *out = from, *p = from + 1;
  for (;; p++) {
    if (*p == '"' && (p + 1 == end || p[1] != '"')) break;
    if (*p == '"') p++;
    *out++ = *p;
  }
  p++;
  while (p < end && *p != delimiter) *out++ = *p++;
  *next = p;
  return (NcuField){from, (size_t)(out - from)};
}

NcuSplit ncu_text_split(NcuText *text, char delimiter, int *n_fields, bool *last_is_quoted) {
  const NcuSplit split = ncu_text_peek(text, delimiter, n_fields);
  *last_is_quoted = false;
  if (split != NCU_SPLIT_OK) return split;
  char *p = text->line, *end = p + text->length;
  for (int n = 0; n < *n_fields; n++, p++) {
    *last_is_quoted = p < end && *p == '"';
    if (*last_is_quoted) {
      text->fields[n] = unquote(p, end, delimiter, &p);
    } else {
      char *next = p < end ? memchr(p, delimiter, (size_t)(end - p)) : NULL;
      if (!next) next = end;
      text->fields[n] = (NcuField){p, (size_t)(next - p)};
      p = next;
    }
  }
  return NCU_SPLIT_OK;
}

bool ncu_text_has(const NcuText *text, const char *word) {
  const size_t n = strlen(word);
  const char *p = text->line, *end = text->line + text->length;
  while ((size_t)(end - p) >= n && (p = memchr(p, word[0], (size_t)(end - p) - n + 1))) {
    if (!memcmp(p, word, n)) return true;
    p++;
  }
  return false;
}

bool ncu_field_is(NcuField field, const char *word) {
  return field.length == strlen(word) && memcmp(field.at, word, field.length) == 0;
}

NcuField ncu_field_trim(NcuField field) {
  while (field.length && (field.at[0] == ' ' || field.at[0] == '\t')) {
    field.at++;
    field.length--;
  }
  while (field.length && (field.at[field.length - 1] == ' ' || field.at[field.length - 1] == '\t')) field.length--;
  return field;
}
