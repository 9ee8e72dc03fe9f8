#include "sim/cache/din_private.h"

#include "sim/base/quote.h"

#include <string.h>

/* The value of a hexadecimal digit, plus one; 0 for any other character. */
static const unsigned char DIGIT[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};
static inline unsigned digit(char c) { return DIGIT[(unsigned char)c]; }

static bool is_power_of_two(uint64_t x) { return x && !(x & (x - 1)); }

/* --- any line, with its errors --- */

const char *din_skip_blanks(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
  return p;
}

bool din_ends_field(const char *p, const char *end) {
  return p == end || *p == ' ' || *p == '\t' || *p == '\r' || *p == '#';
}

/* Digits of a hexadecimal number, after an optional 0x. False where there is none, or more than 64
 * bits of it. */
bool din_read_hex(const char **p, const char *end, uint64_t *value, bool *prefixed) {
  *prefixed = end - *p > 2 && (*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X');
  const char *from = *p + (*prefixed ? 2 : 0), *c = from;
  for (*value = 0; c < end && digit(*c); c++) {
    if (*value >> 60) return false;
    *value = *value << 4 | (digit(*c) - 1);
  }
  *p = c;
  return c > from;
}

/* A power of two from 16 on that was written in decimal, or 0. */
static uint64_t read_decimal_power(const char *from, const char *end) {
  uint64_t value = 0;
  for (; from < end; from++) {
    if (*from < '0' || *from > '9' || value > DIN_SIZE_MAX) return 0;
    value = 10 * value + (uint64_t)(*from - '0');
  }
  return is_power_of_two(value) && value >= 16 ? value : 0;
}

static const char *const FORMS[DIN_N_FORMATS] = {
    [DIN_FORMAT_AUTO] = "label (0 to 4, or r w i m c v), hexadecimal address, and a size after a letter",
    [DIN_FORMAT_DIN] = "label (0 to 4), hexadecimal address, comment",
    [DIN_FORMAT_XDIN] = "label (r w i m c v, or 0 to 4), hexadecimal address, hexadecimal size, comment",
    [DIN_FORMAT_LACKEY] = "I, L, S or M, hexadecimal address, comma, decimal size",
    [DIN_FORMAT_CSV] = "read or write, address, size, with commas between",
    [DIN_FORMAT_PIN] = "instruction address, colon, R or W, hexadecimal address, decimal size",
    [DIN_FORMAT_WORDS] = "load or store, hexadecimal address with 0x, decimal size",
    [DIN_FORMAT_HASH] = "#, label (0 to 2), hexadecimal address, number",
};

static const char *const FORMAT_NAMES[DIN_N_FORMATS] = {"auto", "din", "xdin", "lackey", "csv", "pin", "words", "hash"};
const char *din_format_name(DinFormat format) { return FORMAT_NAMES[format]; }

Status din_bad_line(const DinParser *parser, const char *what, const char *from, const char *end, Error *error) {
  const char *to = from;
  while (to < end && *to != ' ' && *to != '\t' && *to != '\r' && *to != ',') to++;
  return error_set(error, STATUS_BAD_FILE, "trace line %llu: '%s' is no %s; a line reads: %s",
                   (unsigned long long)parser->line, quote(from, (size_t)(to - from)).text, what,
                   FORMS[parser->format ? parser->format : parser->detected]);
}

Status din_check_range(const DinParser *parser, const DinRecord *record, uint64_t size, Error *error) {
  if (size < 1 || size > DIN_SIZE_MAX)
    return error_set(error, STATUS_BAD_FILE, "trace line %llu: a size of %llu bytes; one access moves 1 to %d bytes",
                     (unsigned long long)parser->line, (unsigned long long)size, DIN_SIZE_MAX);
  if (record->address > UINT64_MAX - (size - 1))
    return error_set(error, STATUS_BAD_FILE,
                     "trace line %llu: %llu bytes at address %llx run past the end of the address space",
                     (unsigned long long)parser->line, (unsigned long long)size, (unsigned long long)record->address);
  return STATUS_OK;
}

/* A mark of UTF-8 before the text. */
static const char *skip_mark(const char *p, const char *end) {
  return end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3) ? p + 3 : p;
}

static bool is_noise(const char *p, const char *end) {
  if (end - p >= 2 && (p[0] == '=' || p[0] == '-') && p[1] == p[0]) return true; /* valgrind's, and rules */
  p = din_skip_blanks(p, end);
  return p == end || *p == '#';
}

uint32_t din_default_size(const DinParser *parser) {
  return parser->default_bytes ? parser->default_bytes : DIN_DEFAULT_BYTES;
}

/* --- din and xdin --- */

bool din_read_digit(char c, DinLabel *label) {
  static const DinLabel labels[] = {DIN_READ, DIN_WRITE, DIN_FETCH, DIN_MISC, DIN_FLUSH};
  if (c < '0' || c > '4') return false;
  *label = labels[c - '0'];
  return true;
}

bool din_read_letter(char c, DinLabel *label) {
  static const char letters[] = "rwimcv";
  static const DinLabel labels[] = {DIN_READ, DIN_WRITE, DIN_FETCH, DIN_MISC, DIN_COPY_BACK, DIN_INVALIDATE};
  if (c >= 'A' && c <= 'Z') c = (char)(c + 32);
  const char *at = c ? strchr(letters, c) : NULL;
  if (at) *label = labels[at - letters];
  return at != NULL;
}

/* The rest of a line of din is one number, and may have been meant as a size. */
static bool is_one_number(const char *p, const char *end) {
  uint64_t value;
  bool prefixed;
  if (p == end || *p < '0' || *p > '9' || !din_read_hex(&p, end, &value, &prefixed)) return false;
  p = din_skip_blanks(p, end);
  return p == end || *p == '#';
}

static bool has_digit(const char *from, const char *end) {
  for (; from < end; from++)
    if (*from >= '0' && *from <= '9') return true;
  return false;
}

/* xdin's third field. */
static Status read_size(const DinParser *parser, const char **at, const char *end, uint64_t *size, Error *error) {
  const char *from = *at, *p = from;
  bool prefixed;
  if (!din_read_hex(&p, end, size, &prefixed) || !din_ends_field(p, end))
    return din_bad_line(parser, "size", from, end, error);
  if (!parser->format && !has_digit(from, p))
    return error_set(error, STATUS_BAD_FILE,
                     "trace line %llu: '%s' may be a size or the first word of a comment; say --format xdin if sizes "
                     "are meant, or begin comments with #",
                     (unsigned long long)parser->line, quote(from, (size_t)(p - from)).text);
  const uint64_t decimal = prefixed ? 0 : read_decimal_power(from, p);
  if (decimal) *size = decimal;
  *at = p;
  return STATUS_OK;
}

static Status read_dinero(DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                          Error *error) {
  p = din_skip_blanks(p, end);
  const bool is_digit = din_read_digit(*p, &record->label),
             known = is_digit || (parser->format != DIN_FORMAT_DIN && din_read_letter(*p, &record->label));
  if (!known || !din_ends_field(p + 1, end)) return din_bad_line(parser, "label", p, end, error);
  const bool sized = parser->format == DIN_FORMAT_XDIN || !is_digit;
  const char *from = p = din_skip_blanks(p + 1, end);
  bool prefixed;
  if (!din_read_hex(&p, end, &record->address, &prefixed) || !din_ends_field(p, end))
    return din_bad_line(parser, "address", from, end, error);
  p = din_skip_blanks(p, end);
  uint64_t size = din_default_size(parser);
  Status status = STATUS_OK;
  if (sized && p < end && *p != '#') {
    status = read_size(parser, &p, end, &size, error);
  } else if (!sized) {
    record->address &= ~(uint64_t)(DIN_DEFAULT_BYTES - 1);
    parser->n_numbers += is_one_number(p, end);
  }
  if (status) return status;
  if (record->label == DIN_FLUSH || (size == 0 && record->label >= DIN_COPY_BACK)) {
    if (record->label != DIN_FLUSH)
      record->label = record->label == DIN_COPY_BACK ? DIN_COPY_BACK_ALL : DIN_INVALIDATE_ALL;
    record->address = 0;
    size = 1;
  }
  status = din_check_range(parser, record, size, error);
  record->size_bytes = (uint32_t)size;
  *is_record = status == STATUS_OK;
  return status;
}

static void detect_from(DinParser *parser, const char *p, const char *end) {
  parser->detected = parser->format ? parser->format : din_format_of(p, end);
  if (parser->detected == DIN_FORMAT_CSV) din_find_columns(p, end, parser);
}

static bool may_be_hash(const DinParser *parser) { return !parser->format || parser->format == DIN_FORMAT_HASH; }

void din_detect(DinParser *parser, const char *text, size_t bytes, bool is_last) {
  for (size_t at = 0; at < bytes && !parser->detected;) {
    const char *line = text + at, *newline = memchr(line, '\n', bytes - at);
    if (!newline && !is_last) return;
    const char *end = newline ? newline : text + bytes;
    line = skip_mark(line, end);
    if (end - line <= DIN_LINE_BYTES_MAX && (!is_noise(line, end) || (may_be_hash(parser) && din_is_hash(line, end))))
      detect_from(parser, line, end);
    at = (size_t)(end - text) + 1;
  }
}

/* One line without its newline. *is_record is false for a line that holds none. */
static Status read_line(DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                        Error *error) {
  *is_record = false;
  p = skip_mark(p, end);
  if (!parser->detected && may_be_hash(parser) && din_is_hash(p, end)) parser->detected = DIN_FORMAT_HASH;
  const char *first = din_skip_blanks(p, end);
  const bool is_access = parser->detected == DIN_FORMAT_HASH && first < end && *first == '#';
  if (!is_access && is_noise(p, end)) return STATUS_OK;
  if (!parser->detected) detect_from(parser, p, end);
  switch (parser->detected) {
  case DIN_FORMAT_LACKEY: return din_read_lackey(parser, p, end, record, is_record, error);
  case DIN_FORMAT_CSV: return din_read_csv(parser, p, end, record, is_record, error);
  case DIN_FORMAT_PIN: return din_read_pin(parser, p, end, record, is_record, error);
  case DIN_FORMAT_WORDS: return din_read_words(parser, p, end, record, is_record, error);
  case DIN_FORMAT_HASH: return din_read_hash(parser, p, end, record, is_record, error);
  default: return read_dinero(parser, p, end, record, is_record, error);
  }
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
      const uint64_t decimal = read_decimal_power(from, p);
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

static Status too_long(const DinParser *parser, Error *error) {
  return error_set(error, STATUS_BAD_FILE, "trace line %llu: more than %d characters; is this a trace?",
                   (unsigned long long)parser->line + 1, DIN_LINE_BYTES_MAX);
}

Status din_parse(DinParser *parser, const char *text, size_t bytes, bool is_last, DinRecord *records,
                 size_t max_records, size_t *n_records, size_t *used, Error *error) {
  const uint32_t default_bytes = parser->default_bytes ? parser->default_bytes : DIN_DEFAULT_BYTES;
  size_t done = 0, n = 0;
  Status status = STATUS_OK;
  din_detect(parser, text, bytes, is_last);
  const bool is_dinero = parser->detected == DIN_FORMAT_DIN || parser->detected == DIN_FORMAT_XDIN;
  const bool may_be_fast = is_dinero && !parser->format; /* a named format is stricter */
  while (done < bytes && n < max_records) {
    const size_t fast =
        may_be_fast && bytes - done >= FAST_BYTES ? fast_line(text + done, default_bytes, &records[n]) : 0;
    if (fast) {
      parser->line++;
      n++;
      done += fast;
      continue;
    }
    const char *line = text + done, *newline = memchr(line, '\n', bytes - done);
    if (!newline && !is_last) {
      if (bytes - done > DIN_LINE_BYTES_MAX) status = too_long(parser, error);
      break;
    }
    const char *end = newline ? newline : text + bytes;
    if (end - line > DIN_LINE_BYTES_MAX) {
      status = too_long(parser, error);
      break;
    }
    bool is_record;
    parser->line++;
    status = read_line(parser, line, end, &records[n], &is_record, error);
    if (status != STATUS_OK) break;
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
  if (read_decimal_power(size, end) || !has_digit(size, end)) { /* would be read as decimal, or as a word */
    *p++ = '0', *p++ = 'x';
    p = put_hex(p, record->size_bytes);
  } else {
    p = end;
  }
  *p++ = '\n';
  return (size_t)(p - text);
}

/* --- through a cache --- */

static inline bool is_whole_lines(uint64_t line_bytes, const DinRecord *record) {
  const uint64_t mask = line_bytes - 1;
  if (!(line_bytes & mask)) return !((record->address | record->size_bytes) & mask);
  return record->address % line_bytes == 0 && record->size_bytes % line_bytes == 0;
}

size_t din_join(DinRecord *records, size_t n_records, uint64_t line_bytes) {
  size_t n = 0;
  uint64_t end = 0; /* of the last record kept, where the next one may go on; 0: nowhere */
  for (size_t i = 0; i < n_records; i++) {
    const DinRecord record = records[i];
    const bool whole = is_whole_lines(line_bytes, &record) && record.label <= DIN_MISC;
    if (whole && end && record.address == end && record.label == records[n - 1].label &&
        records[n - 1].size_bytes <= UINT32_MAX - record.size_bytes)
      records[n - 1].size_bytes += record.size_bytes;
    else
      records[n++] = record;
    end = whole ? record.address + record.size_bytes : 0;
  }
  return n;
}

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

static Status run_access(CacheState *cache, const DinRecord *r, CacheKind kind, Error *error) {
  const Status status = is_whole_lines(cache->config.line_bytes, r)
                            ? cache_access_range(cache, r->address, r->size_bytes, kind)
                            : cache_access(cache, r->address, r->size_bytes, kind);
  if (status != STATUS_OK)
    return error_set(error, status, "trace: %llu bytes at address %llx lie beyond the %u address bits of this cache",
                     (unsigned long long)r->size_bytes, (unsigned long long)r->address, cache->config.address_bits);
  return STATUS_OK;
}

Status din_replay(CacheState *cache, const DinRecord *records, size_t n_records, Error *error) {
  for (const DinRecord *r = records; r < records + n_records; r++) {
    const uint64_t accesses = cache->counts.accesses, n_accesses = r->label == DIN_MODIFY ? 2 : 1;
    if (r->label >= DIN_COPY_BACK) {
      purge(cache, r);
      continue;
    }
    Status status = run_access(cache, r, r->label == DIN_WRITE ? CACHE_WRITE : CACHE_READ, error);
    if (status == STATUS_OK && r->label == DIN_MODIFY) status = run_access(cache, r, CACHE_WRITE, error);
    if (status != STATUS_OK) return status;
    cache->counts.accesses = accesses + (cache->config.part ? 0 : n_accesses); /* records, not lines */
  }
  return STATUS_OK;
}
