/* A line is cut into fields, and its fields are read as labels and numbers. */
#include "sim/cache/din.h"

#include <stdio.h>

#include "sim/base/quote.h"

/* The value of a hexadecimal digit, plus one; 0 for any other character. */
static const unsigned char DIGIT[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};
static inline unsigned digit(char c) { return DIGIT[(unsigned char)c]; }

static bool is_power_of_two(uint64_t x) { return x && !(x & (x - 1)); }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* --- fields --- */

typedef struct {
  const char *at, *end;
} Span;

static size_t length(Span s) { return (size_t)(s.end - s.at); }

static Span trim(Span s) {
  while (s.at < s.end && is_blank(*s.at)) s.at++;
  while (s.end > s.at && is_blank(s.end[-1])) s.end--;
  return s;
}

/* Takes the next field off the line: up to a blank or, with a comma asked for, up to that. */
static Span take_field(Span *line, char stop) {
  while (line->at < line->end && is_blank(*line->at)) line->at++;
  Span field = *line;
  while (line->at < line->end && *line->at != stop && (stop == ',' || !is_blank(*line->at))) line->at++;
  field.end = line->at;
  return field;
}

/* Hexadecimal digits after an optional 0x, and nothing else, of at most 64 bits. */
static bool read_hex(Span s, uint64_t *value) {
  if (length(s) > 2 && s.at[0] == '0' && (s.at[1] | 32) == 'x') s.at += 2;
  const char *c = s.at;
  for (*value = 0; c < s.end && digit(*c); c++) {
    if (*value >> 60) return false;
    *value = *value << 4 | (digit(*c) - 1);
  }
  return c == s.end && length(s);
}

static bool read_decimal(Span s, uint64_t *value) {
  const char *c = s.at;
  for (*value = 0; c < s.end && *c >= '0' && *c <= '9'; c++) {
    if (*value > (UINT64_MAX - 9) / 10) return false;
    *value = 10 * *value + (uint64_t)(*c - '0');
  }
  return c == s.end && length(s);
}

static bool read_number(Span s, uint64_t *value) { /* hexadecimal with 0x, else decimal */
  const bool prefixed = length(s) > 2 && s.at[0] == '0' && (s.at[1] | 32) == 'x';
  return prefixed ? read_hex(s, value) : read_decimal(s, value);
}

/* A power of two from 16 on that was written in decimal, or 0. */
static uint64_t read_decimal_power(Span s) {
  uint64_t value;
  return read_decimal(s, &value) && value >= 16 && is_power_of_two(value) ? value : 0;
}

static bool has_digit(Span s) {
  while (s.at < s.end && (*s.at < '0' || *s.at > '9')) s.at++;
  return s.at < s.end;
}

/* One of `letters`, alone in its field, is the label at its place. */
static bool read_label(Span field, const char *letters, const DinLabel *labels, DinLabel *label) {
  const char *at = length(field) == 1 && *field.at ? strchr(letters, *field.at) : NULL;
  if (at) *label = labels[at - letters];
  return at != NULL;
}

/* --- refusals --- */

const char *const DIN_FORMATS[DIN_N_FORMATS] = {"auto", "din", "xdin", "lackey", "csv"};

static const char *const FORMS[DIN_N_FORMATS] = {
    [DIN_FORMAT_AUTO] = "label (0 to 4, or r w i m c v), hexadecimal address, and a size after a letter",
    [DIN_FORMAT_DIN] = "label (0 to 4), hexadecimal address, comment",
    [DIN_FORMAT_XDIN] = "label (r w i m c v, or 0 to 4), hexadecimal address, hexadecimal size, comment",
    [DIN_FORMAT_LACKEY] = "I, L, S or M, hexadecimal address, comma, decimal size",
    [DIN_FORMAT_CSV] = "read or write, address, size, with commas between",
};

/* Formats that are known, and not read. */
static const struct {
  const char *name, *looks, *becomes;
} REFUSED[] = {{"pin", "0x4004d6: R 0x7f3a80", "awk 'NF>2{print $2\",\"$3\",\"$4}' FILE makes it CSV"},
               {"words", "load 0x7f3a80 4", "awk 'NF>1{print $1\",\"$2\",\"$3}' FILE makes it CSV"},
               {"hash", "# 0 7f3a80 5", "sed -n 's/^# *\\([0-2] \\)/\\1/p' FILE makes it din"}};

static Status refuse(size_t k, const char *what, Error *error) {
  return error_set(error, STATUS_BAD_FILE, "%s a %s trace (%s), which is not read; %s", what, REFUSED[k].name,
                   REFUSED[k].looks, REFUSED[k].becomes);
}

bool din_is_refused(const char *name, Error *error) {
  for (size_t k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++)
    if (!strcmp(name, REFUSED[k].name)) return refuse(k, "--format names", error);
  return false;
}

static Status bad_line(const DinParser *parser, const char *what, Span field, Error *error) {
  return error_set(error, STATUS_BAD_FILE, "trace line %llu: '%s' is no %s; a line reads: %s",
                   (unsigned long long)parser->line, quote(field.at, length(field)).text, what,
                   FORMS[parser->format ? parser->format : parser->detected]);
}

static Status check_range(const DinParser *parser, const DinRecord *record, uint64_t size, Error *error) {
  if (size < 1 || size > DIN_SIZE_MAX)
    return error_set(error, STATUS_BAD_FILE, "trace line %llu: a size of %llu bytes; one access moves 1 to %d bytes",
                     (unsigned long long)parser->line, (unsigned long long)size, DIN_SIZE_MAX);
  if (record->address > UINT64_MAX - (size - 1))
    return error_set(error, STATUS_BAD_FILE,
                     "trace line %llu: %llu bytes at address %llx run past the end of the address space",
                     (unsigned long long)parser->line, (unsigned long long)size, (unsigned long long)record->address);
  return STATUS_OK;
}

/* --- din and xdin --- */

static bool read_digit(Span field, DinLabel *label) {
  static const DinLabel labels[] = {DIN_READ, DIN_WRITE, DIN_FETCH, DIN_MISC, DIN_FLUSH};
  return read_label(field, "01234", labels, label);
}

static bool read_letter(Span field, DinLabel *label) {
  static const DinLabel labels[] = {DIN_READ, DIN_WRITE, DIN_FETCH, DIN_MISC, DIN_COPY_BACK, DIN_INVALIDATE};
  return read_label(field, "rwimcv", labels, label) || read_label(field, "RWIMCV", labels, label);
}

static Status read_size(const DinParser *parser, Span field, uint64_t *size, Error *error) {
  if (!read_hex(field, size)) return bad_line(parser, "size", field, error);
  if (!parser->format && !has_digit(field))
    return error_set(error, STATUS_BAD_FILE,
                     "trace line %llu: '%s' may be a size or the first word of a comment; say --format xdin if sizes "
                     "are meant, or begin comments with #",
                     (unsigned long long)parser->line, quote(field.at, length(field)).text);
  const uint64_t decimal = read_decimal_power(field);
  if (decimal) *size = decimal;
  return STATUS_OK;
}

static Status read_dinero(DinParser *parser, Span line, DinRecord *record, uint64_t *size, Error *error) {
  const Span label = take_field(&line, '#'), address = take_field(&line, '#');
  const bool is_digit = read_digit(label, &record->label);
  if (!is_digit && (parser->format == DIN_FORMAT_DIN || !read_letter(label, &record->label)))
    return bad_line(parser, "label", label, error);
  if (!read_hex(address, &record->address)) return bad_line(parser, "address", address, error);
  const Span third = take_field(&line, '#');
  const bool is_sized = parser->format == DIN_FORMAT_XDIN || !is_digit;
  if (is_sized && length(third) && read_size(parser, third, size, error)) return STATUS_BAD_FILE;
  if (!is_sized) {
    uint64_t number;
    record->address &= ~(uint64_t)(DIN_DEFAULT_BYTES - 1);
    parser->n_numbers +=
        length(third) && *third.at <= '9' && read_hex(third, &number) && !length(take_field(&line, '#'));
  }
  if (record->label >= DIN_COPY_BACK && (record->label == DIN_FLUSH || *size == 0)) {
    if (record->label != DIN_FLUSH)
      record->label = record->label == DIN_COPY_BACK ? DIN_COPY_BACK_ALL : DIN_INVALIDATE_ALL;
    record->address = 0, *size = 1;
  }
  return STATUS_OK;
}

/* --- lackey --- */

static Status read_lackey(DinParser *parser, Span line, DinRecord *record, uint64_t *size, Error *error) {
  static const DinLabel labels[] = {DIN_READ, DIN_WRITE, DIN_FETCH, DIN_MODIFY};
  const Span label = take_field(&line, ' '), address = take_field(&line, ',');
  if (!read_label(label, "LSIM", labels, &record->label)) return bad_line(parser, "label", label, error);
  if (!read_hex(address, &record->address) || line.at == line.end)
    return bad_line(parser, "address with a comma behind it", address, error);
  line.at++;
  const Span bytes = {line.at, trim(line).end};
  return read_decimal(bytes, size) ? STATUS_OK : bad_line(parser, "size", bytes, error);
}

/* --- csv --- */

enum { CSV_FIELDS_MAX = 16 };

/* Fields with blanks and quotes taken off. Returns how many. */
static int cut_fields(Span line, Span *fields) {
  for (int n = 0;; line.at++) {
    Span f = trim(take_field(&line, ','));
    if (length(f) >= 2 && *f.at == '"' && f.end[-1] == '"') f.at++, f.end--;
    fields[n++] = f;
    if (n == CSV_FIELDS_MAX || line.at == line.end) return n;
  }
}

static bool is_word(Span field, const char *words) { /* words: apart by blanks */
  const size_t n = length(field);
  for (const char *w = words; n && *w; w += strcspn(w, " "), w += *w == ' ') {
    size_t i = 0;
    while (i < n && w[i] && w[i] != ' ' &&
           (field.at[i] >= 'A' && field.at[i] <= 'Z' ? field.at[i] + 32 : field.at[i]) == w[i])
      i++;
    if (i == n && (!w[i] || w[i] == ' ')) return true;
  }
  return false;
}

static bool read_operation(Span field, DinLabel *label) {
  static const char *const WORDS[] = {[DIN_READ] = "r read load ld l 0",
                                      [DIN_WRITE] = "w write store st s 1",
                                      [DIN_FETCH] = "i fetch ifetch instruction 2",
                                      [DIN_MISC] = "m misc 3",
                                      [DIN_MODIFY] = "modify rmw"};
  int k = 0;
  while (k <= DIN_MODIFY && !is_word(field, WORDS[k])) k++;
  if (k <= DIN_MODIFY) *label = (DinLabel)k;
  return k <= DIN_MODIFY;
}

/* A first line that names the columns. */
static bool read_columns(const Span *fields, int n, DinParser *parser) {
  int op = -1, address = -1, size = -1;
  for (int i = 0; i < n; i++) {
    if (is_word(fields[i], "op operation kind type rw r/w access label cmd command")) op = i;
    if (is_word(fields[i], "address addr vaddr paddr")) address = i;
    if (is_word(fields[i], "size bytes length len size_bytes")) size = i;
  }
  if (address < 0) return false;
  parser->csv_op = (int8_t)op, parser->csv_address = (int8_t)address, parser->csv_size = (int8_t)size;
  return true;
}

/* Without a line of names: operation, address, size; address, size; address, operation, size or address, size,
 * operation. An operation that is a number could be an address: it is one where the address begins with 0x. */
static void find_columns(Span line, DinParser *parser) {
  Span fields[CSV_FIELDS_MAX];
  DinLabel label;
  uint64_t number;
  bool is_op[3] = {false}, is_count[3] = {false};
  const int n = cut_fields(line, fields);
  parser->csv_op = parser->csv_address = parser->csv_size = -1;
  if (read_columns(fields, n, parser) || n < 2 || n > 3) return;
  for (int i = 0; i < n; i++) {
    is_count[i] = read_number(fields[i], &number);
    is_op[i] = read_operation(fields[i], &label) && !is_count[i];
  }
  const bool label_first =
      read_operation(fields[0], &label) && is_count[1] && length(fields[1]) > 2 && (fields[1].at[1] | 32) == 'x';
  const int8_t third = n > 2 ? 2 : -1;
  if (is_op[0] || label_first)
    parser->csv_op = 0, parser->csv_address = 1, parser->csv_size = 2;
  else if (is_count[0] && is_op[1])
    parser->csv_op = 1, parser->csv_address = 0, parser->csv_size = third;
  else if (is_count[0] && is_count[1] && (n == 2 || is_op[2]))
    parser->csv_op = third, parser->csv_address = 0, parser->csv_size = 1;
}

/* A line of names, the first or a second one, is no record. */
static Status read_csv(DinParser *parser, Span line, DinRecord *record, uint64_t *size, bool *is_record, Error *error) {
  Span fields[CSV_FIELDS_MAX];
  DinParser columns;
  const int n = cut_fields(line, fields), op = parser->csv_op, address = parser->csv_address, bytes = parser->csv_size;
  *is_record = !read_columns(fields, n, &columns);
  if (!*is_record) return STATUS_OK;
  if (address < 0)
    return error_set(error, STATUS_BAD_FILE,
                     "trace line %llu: which of these %d columns is the address is not guessed; put a first line with "
                     "their names before it, such as op,address,size",
                     (unsigned long long)parser->line, n);
  record->label = DIN_READ;
  if (address >= n || op >= n || (bytes >= n && op != 0)) return bad_line(parser, "line with all columns", line, error);
  if (op >= 0 && !read_operation(fields[op], &record->label)) return bad_line(parser, "operation", fields[op], error);
  if (!read_number(fields[address], &record->address))
    return bad_line(parser, "address (hexadecimal ones begin with 0x)", fields[address], error);
  if (bytes >= 0 && bytes < n && length(fields[bytes]) && !read_number(fields[bytes], size))
    return bad_line(parser, "size", fields[bytes], error);
  return STATUS_OK;
}

/* --- any line --- */

static bool looks_like_lackey(Span line) {
  DinParser parser = {0};
  DinRecord record;
  uint64_t size;
  return !read_lackey(&parser, line, &record, &size, NULL) && !check_range(&parser, &record, size, NULL);
}

/* A label, a blank and an address: then commas, if any, are the comment's. */
static bool looks_like_dinero(Span line) {
  DinLabel label;
  uint64_t address;
  const Span first = take_field(&line, '#');
  return (read_digit(first, &label) || read_letter(first, &label)) && read_hex(take_field(&line, '#'), &address);
}

static Span skip_mark(Span line) { /* of UTF-8 */
  if (length(line) >= 3 && !memcmp(line.at, "\xef\xbb\xbf", 3)) line.at += 3;
  return line;
}

static bool is_noise(Span line) {
  if (length(line) >= 2 && (line.at[0] == '=' || line.at[0] == '-') && line.at[1] == line.at[0])
    return true; /* valgrind's, and rules */
  line = trim(line);
  return !length(line) || *line.at == '#';
}

/* "0 7f3a80 5" behind a #. */
static bool looks_like_hash(Span line) {
  DinLabel label;
  uint64_t number;
  const Span first = take_field(&line, '#'), address = take_field(&line, '#');
  return read_digit(first, &label) && label <= DIN_FETCH && read_hex(address, &number) &&
         (!length(trim(line)) || read_decimal(trim(line), &number));
}

/* Which format the first line that is no noise is in, where none is named. */
static Status detect(DinParser *parser, Span line, bool is_noise, Error *error) {
  char what[64];
  DinLabel label;
  uint64_t number;
  Span rest = trim(line);
  snprintf(what, sizeof what, "trace line %llu: this looks like", (unsigned long long)parser->line);
  if (is_noise)
    return length(rest) && *rest.at == '#' && looks_like_hash((Span){rest.at + 1, rest.end}) ? refuse(2, what, error)
                                                                                             : STATUS_OK;
  const Span first = take_field(&rest, ':');
  if (looks_like_lackey(line))
    parser->detected = DIN_FORMAT_LACKEY;
  else if (looks_like_dinero(line))
    parser->detected = *first.at <= '9' ? DIN_FORMAT_DIN : DIN_FORMAT_XDIN;
  else if (rest.at < rest.end && *rest.at == ':' && read_hex(first, &number))
    return refuse(0, what, error);
  else if (length(first) > 1 && read_operation(first, &label))
    return refuse(1, what, error);
  else
    parser->detected = memchr(line.at, ',', length(line)) ? DIN_FORMAT_CSV : DIN_FORMAT_DIN;
  return STATUS_OK;
}

/* One line without its newline. *is_record is false for a line that holds none. */
static Status read_line(DinParser *parser, Span line, DinRecord *record, bool *is_record, Error *error) {
  line = skip_mark(line);
  const bool noise = is_noise(line), is_first = !parser->detected && !noise;
  *is_record = !noise;
  if (!parser->detected && !parser->format && detect(parser, line, noise, error)) return STATUS_BAD_FILE;
  if (noise) return STATUS_OK;
  if (parser->format) parser->detected = parser->format;
  if (is_first && parser->detected == DIN_FORMAT_CSV) find_columns(line, parser);
  uint64_t size = parser->default_bytes ? parser->default_bytes : DIN_DEFAULT_BYTES;
  Status status = STATUS_OK;
  switch (parser->detected) {
  case DIN_FORMAT_LACKEY: status = read_lackey(parser, line, record, &size, error); break;
  case DIN_FORMAT_CSV: status = read_csv(parser, line, record, &size, is_record, error); break;
  default: status = read_dinero(parser, line, record, &size, error);
  }
  if (status || !*is_record) return status;
  record->size_bytes = (uint32_t)size;
  *is_record = parser->detected != DIN_FORMAT_LACKEY || record->label != DIN_FETCH || parser->fetches;
  parser->n_fetches_left_out += !*is_record;
  return check_range(parser, record, size, error);
}

/* --- the common line, fast --- */

/* The least text for which fast_line reads no character past the end: label, blank, 16 digits,
 * blank, 6 digits, newline, and some. */
enum { FAST_BYTES = 32 };

/* "0 address" or "r address size" (0 to 2, r or w; an address of at most 15 digits, a size of at most 6, one blank
 * between), then a newline. Returns its length with the newline, or 0 for any other line, which read_line then reads in
 * its own time. */
static inline size_t fast_line(const char *text, uint32_t default_bytes, DinRecord *record) {
  unsigned label = (unsigned)(unsigned char)text[0] - '0';
  const bool sized = label > 2;
  const char *p = text + 2;
  if (text[1] != ' ') return 0;
  if (sized) {
    if (text[0] != 'r' && text[0] != 'w') return 0;
    label = text[0] == 'w';
  }
  uint64_t address = 0;
  for (unsigned d; (d = digit(*p)) != 0; p++) {
    address = address << 4 | (d - 1);
    if (p == text + 17) return 0;
  }
  if (p == text + 2) return 0;
  uint64_t size = default_bytes;
  if (sized) {
    if (*p != ' ') return 0;
    const char *from = ++p;
    size = 0;
    if (*p > '9') return 0; /* may be a word */
    for (unsigned d; (d = digit(*p)) != 0; p++) {
      size = size << 4 | (d - 1);
      if (p == from + 5) return 0;
    }
    if (p == from || !size) return 0;
    if (p > from + 1 && !is_power_of_two(size)) { /* may be a power of two in decimal */
      const uint64_t decimal = read_decimal_power((Span){from, p});
      if (decimal) size = decimal;
    }
  }
  if (*p != '\n') return 0;
  record->label = (DinLabel)label;
  record->address = sized ? address : address & ~(uint64_t)(DIN_DEFAULT_BYTES - 1);
  record->size_bytes = (uint32_t)size;
  return (size_t)(p + 1 - text);
}

/* --- pieces of text --- */

Status din_parse(DinParser *parser, const char *text, size_t bytes, bool is_last, DinRecord *records,
                 size_t max_records, size_t *n_records, size_t *used, Error *error) {
  const uint32_t default_bytes = parser->default_bytes ? parser->default_bytes : DIN_DEFAULT_BYTES;
  size_t done = 0, n = 0;
  Status status = STATUS_OK;
  while (!status && done < bytes && n < max_records) {
    const bool may_be_fast = !parser->format && /* a named format is stricter */
                             (parser->detected == DIN_FORMAT_DIN || parser->detected == DIN_FORMAT_XDIN);
    const size_t fast =
        may_be_fast && bytes - done >= FAST_BYTES ? fast_line(text + done, default_bytes, &records[n]) : 0;
    if (fast) {
      parser->line++;
      n++;
      done += fast;
      continue;
    }
    const char *line = text + done, *newline = memchr(line, '\n', bytes - done);
    const char *end = newline ? newline : text + bytes;
    if (end - line > DIN_LINE_BYTES_MAX) {
      status = error_set(error, STATUS_BAD_FILE, "trace line %llu: more than %d characters; is this a trace?",
                         (unsigned long long)parser->line + 1, DIN_LINE_BYTES_MAX);
      break;
    }
    if (!newline && !is_last) break;
    bool is_record;
    parser->line++;
    status = read_line(parser, (Span){line, end}, &records[n], &is_record, error);
    if (status) break;
    n += is_record;
    done = (size_t)(end - text) + (newline != NULL);
  }
  *n_records = n;
  *used = done;
  return status;
}

/* Writes the digits of a number and returns where they end. */
static char *put_hex(char *to, uint64_t value) {
  int digits = 1;
  for (uint64_t rest = value >> 4; rest; rest >>= 4) digits++;
  for (int i = digits - 1; i >= 0; i--, value >>= 4) to[i] = "0123456789abcdef"[value & 15];
  return to + digits;
}

size_t din_print(const DinRecord *record, char text[DIN_TEXT_BYTES]) {
  char *p = text;
  *p++ = "rwimrcvcv4"[record->label];
  *p++ = ' ';
  p = put_hex(p, record->address);
  *p++ = ' ';
  if (record->label == DIN_FLUSH) { /* has no size, and no letter */
    p[-1] = '\n';
    return (size_t)(p - text);
  }
  const bool is_all = record->label == DIN_COPY_BACK_ALL || record->label == DIN_INVALIDATE_ALL;
  char *const size = p, *const end = put_hex(p, is_all ? 0 : record->size_bytes);
  if (read_decimal_power((Span){size, end}) ||
      !has_digit((Span){size, end})) { /* would be read as decimal, or as a word */
    *p++ = '0', *p++ = 'x';
    p = put_hex(p, record->size_bytes);
  } else {
    p = end;
  }
  *p++ = '\n';
  return (size_t)(p - text);
}

/* --- through a cache --- */

/* What is no access: nothing is refused, as an address that the cache cannot hold is not in it. */
static void purge(CacheState *cache, const DinRecord *r) {
  switch (r->label) {
  case DIN_COPY_BACK: cache_purge(cache, r->address, r->size_bytes, false); break;
  case DIN_INVALIDATE: cache_purge(cache, r->address, r->size_bytes, true); break;
  case DIN_COPY_BACK_ALL: cache_flush(cache); break;
  case DIN_FLUSH: cache_flush(cache); /* fall through */
  default: cache_empty(cache); break;
  }
}

static bool is_whole_lines(uint64_t line_bytes, uint64_t address, uint64_t bytes) {
  const uint64_t mask = line_bytes - 1;
  if (!(line_bytes & mask)) return !((address | bytes) & mask);
  return address % line_bytes == 0 && bytes % line_bytes == 0;
}

static Status run_access(CacheState *cache, uint64_t address, uint64_t bytes, CacheKind kind, Error *error) {
  const Status status = is_whole_lines(cache->config.line_bytes, address, bytes)
                            ? cache_access_range(cache, address, bytes, kind)
                            : cache_access(cache, address, bytes, kind);
  if (status)
    return error_set(error, status, "trace: %llu bytes at address %llx lie beyond the %u address bits of this cache",
                     (unsigned long long)bytes, (unsigned long long)address, cache->config.address_bits);
  return STATUS_OK;
}

/* Whole lines of one kind, one after the other, are one run: the cache takes many at a time. */
static size_t run_from(const DinRecord *r, size_t n, uint64_t line_bytes, uint64_t *bytes) {
  *bytes = r->size_bytes;
  if (r->label > DIN_MISC || !is_whole_lines(line_bytes, r->address, *bytes)) return 1;
  size_t k = 1;
  for (; k < n && r[k].label == r->label && r[k].address == r->address + *bytes && r[k].address &&
         r[k].size_bytes % line_bytes == 0;
       k++)
    *bytes += r[k].size_bytes;
  return k;
}

Status din_replay(CacheState *cache, const DinRecord *records, size_t n_records, Error *error) {
  for (size_t i = 0, n; i < n_records; i += n) {
    const DinRecord *r = &records[i];
    const uint64_t accesses = cache->counts.accesses;
    uint64_t bytes;
    n = run_from(r, n_records - i, cache->config.line_bytes, &bytes);
    if (r->label >= DIN_COPY_BACK) {
      purge(cache, r);
      continue;
    }
    Status status = run_access(cache, r->address, bytes, r->label == DIN_WRITE ? CACHE_WRITE : CACHE_READ, error);
    if (!status && r->label == DIN_MODIFY) status = run_access(cache, r->address, bytes, CACHE_WRITE, error);
    if (status) return status;
    cache->counts.accesses = accesses + n + (r->label == DIN_MODIFY); /* records, not lines */
  }
  return STATUS_OK;
}
