#include "sim/cache/din.h"

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

static const char *skip_blanks(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
  return p;
}

static bool ends_field(const char *p, const char *end) {
  return p == end || *p == ' ' || *p == '\t' || *p == '\r' || *p == '#';
}

/* Digits of a hexadecimal number, after an optional 0x. False where there is none, or more than 64
 * bits of it. */
static bool read_hex(const char **p, const char *end, uint64_t *value, bool *prefixed) {
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

static Status bad_line(const DinParser *parser, const char *what, const char *from, const char *end, Error *error) {
  const char *to = from;
  while (to < end && *to != ' ' && *to != '\t' && *to != '\r') to++;
  return error_set(error, STATUS_BAD_FILE,
                   "trace line %llu: '%s' is no %s; a line reads: label (0, 1, 2 or r, w, i), "
                   "hexadecimal address, optional size",
                   (unsigned long long)parser->line, quote(from, (size_t)(to - from)).text, what);
}

static bool read_label(char c, DinLabel *label) {
  switch (c) {
  case '0':
  case 'r':
  case 'R': *label = DIN_READ; return true;
  case '1':
  case 'w':
  case 'W': *label = DIN_WRITE; return true;
  case '2':
  case 'i':
  case 'I': *label = DIN_FETCH; return true;
  default: return false;
  }
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

/* One line without its newline. *is_record is false for a line that holds none. */
static Status read_line(const DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                        Error *error) {
  *is_record = false;
  p = skip_blanks(p, end);
  if (p == end || *p == '#') return STATUS_OK;
  if (!read_label(*p, &record->label) || !ends_field(p + 1, end)) return bad_line(parser, "label", p, end, error);
  const char *from = p = skip_blanks(p + 1, end);
  bool prefixed;
  if (!read_hex(&p, end, &record->address, &prefixed) || !ends_field(p, end))
    return bad_line(parser, "address", from, end, error);
  from = p = skip_blanks(p, end);
  uint64_t size = parser->default_bytes ? parser->default_bytes : DIN_DEFAULT_BYTES;
  if (p < end && *p != '#') {
    if (!read_hex(&p, end, &size, &prefixed) || !ends_field(p, end)) return bad_line(parser, "size", from, end, error);
    const uint64_t decimal = prefixed ? 0 : read_decimal_power(from, p);
    if (decimal) size = decimal;
    from = p = skip_blanks(p, end);
    if (p < end && *p != '#') return bad_line(parser, "comment (those begin with #)", from, end, error);
  }
  const Status status = check_range(parser, record, size, error);
  record->size_bytes = (uint32_t)size;
  *is_record = status == STATUS_OK;
  return status;
}

/* --- the common line, fast --- */

/* The least text for which fast_line reads no character past the end: label, blank, 16 digits,
 * blank, 6 digits, newline, and some. */
enum { FAST_BYTES = 32 };

/* A line of one digit, one blank and an address of at most 15 digits, then a newline, or one blank
 * and a size of at most 6 digits. Returns its length with the newline, or 0 for any other line,
 * which read_line then reads in its own time. */
static inline size_t fast_line(const char *text, uint32_t default_bytes, DinRecord *record) {
  const unsigned label = (unsigned)(unsigned char)text[0] - '0';
  const char *p = text + 2;
  if (label > 2 || text[1] != ' ') return 0;
  uint64_t address = 0;
  for (unsigned d; (d = digit(*p)) != 0; p++) {
    address = address << 4 | (d - 1);
    if (p == text + 17) return 0;
  }
  if (p == text + 2) return 0;
  uint64_t size = default_bytes;
  if (*p == ' ') {
    const char *from = ++p;
    size = 0;
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
  record->address = address;
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
  while (done < bytes && n < max_records) {
    const size_t fast = bytes - done >= FAST_BYTES ? fast_line(text + done, default_bytes, &records[n]) : 0;
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
  *p++ = (char)('0' + (int)record->label);
  *p++ = ' ';
  p = put_hex(p, record->address);
  *p++ = ' ';
  char *const size = p, *const end = put_hex(p, record->size_bytes);
  if (read_decimal_power(size, end)) { /* would be read as decimal */
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
    const bool whole = is_whole_lines(line_bytes, &record);
    if (whole && end && record.address == end && record.label == records[n - 1].label &&
        records[n - 1].size_bytes <= UINT32_MAX - record.size_bytes)
      records[n - 1].size_bytes += record.size_bytes;
    else
      records[n++] = record;
    end = whole ? record.address + record.size_bytes : 0;
  }
  return n;
}

Status din_replay(CacheState *cache, const DinRecord *records, size_t n_records, Error *error) {
  for (const DinRecord *r = records; r < records + n_records; r++) {
    const CacheKind kind = r->label == DIN_WRITE ? CACHE_WRITE : CACHE_READ;
    const uint64_t accesses = cache->counts.accesses;
    const Status status = is_whole_lines(cache->config.line_bytes, r)
                              ? cache_access_range(cache, r->address, r->size_bytes, kind)
                              : cache_access(cache, r->address, r->size_bytes, kind);
    if (status != STATUS_OK)
      return error_set(error, status, "trace: %llu bytes at address %llx lie beyond the %u address bits of this cache",
                       (unsigned long long)r->size_bytes, (unsigned long long)r->address, cache->config.address_bits);
    cache->counts.accesses = accesses + !cache->config.part; /* records, not lines */
  }
  return STATUS_OK;
}
