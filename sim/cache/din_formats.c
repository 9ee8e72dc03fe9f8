/* Address traces in formats other than Dinero's: valgrind's lackey, CSV, Pin's pinatrace, words, and the course format
 * in which every line begins with #. */
#include "sim/cache/din_private.h"

#include <string.h>

#include "sim/base/quote.h"

/* --- lackey --- */

static bool read_decimal(const char **p, const char *end, uint64_t *value) {
  const char *from = *p;
  for (*value = 0; *p < end && **p >= '0' && **p <= '9'; ++*p) {
    if (*value > (UINT64_MAX - 9) / 10) return false;
    *value = 10 * *value + (uint64_t)(**p - '0');
  }
  return *p > from;
}

static bool read_lackey_label(char c, DinLabel *label) {
  static const char letters[] = "LSIM";
  static const DinLabel labels[] = {DIN_READ, DIN_WRITE, DIN_FETCH, DIN_MODIFY};
  const char *at = c ? strchr(letters, c) : NULL;
  if (at) *label = labels[at - letters];
  return at != NULL;
}

Status din_read_lackey(DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                       Error *error) {
  bool prefixed;
  uint64_t size = 0;
  p = din_skip_blanks(p, end);
  if (!read_lackey_label(*p, &record->label) || p + 1 == end || (p[1] != ' ' && p[1] != '\t'))
    return din_bad_line(parser, "label", p, end, error);
  const char *from = p = din_skip_blanks(p + 1, end);
  if (!din_read_hex(&p, end, &record->address, &prefixed) || p == end || *p != ',')
    return din_bad_line(parser, "address with a comma behind it", from, end, error);
  from = ++p;
  if (!read_decimal(&p, end, &size) || din_skip_blanks(p, end) != end)
    return din_bad_line(parser, "size", from, end, error);
  const Status status = din_check_range(parser, record, size, error);
  record->size_bytes = (uint32_t)size;
  const bool left_out = record->label == DIN_FETCH && !parser->fetches;
  parser->n_fetches_left_out += status == STATUS_OK && left_out;
  *is_record = status == STATUS_OK && !left_out;
  return status;
}

/* --- csv --- */

enum { CSV_FIELDS_MAX = 16 };

typedef struct {
  const char *from, *end;
} Piece;

/* Fields with blanks and quotes taken off. Returns how many. */
static int cut_fields(const char *p, const char *end, Piece *fields) {
  int n = 0;
  while (n < CSV_FIELDS_MAX) {
    const char *comma = memchr(p, ',', (size_t)(end - p)), *to = comma ? comma : end;
    const char *from = din_skip_blanks(p, to);
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r')) to--;
    if (to - from >= 2 && *from == '"' && to[-1] == '"') from++, to--;
    fields[n++] = (Piece){from, to};
    if (!comma) break;
    p = comma + 1;
  }
  return n;
}

static bool is_word(Piece field, const char *words) { /* words: apart by blanks */
  const size_t length = (size_t)(field.end - field.from);
  for (const char *w = words; *w && length;) {
    size_t n = 0;
    while (w[n] && w[n] != ' ') n++;
    bool same = n == length;
    for (size_t i = 0; same && i < n; i++)
      same = (field.from[i] >= 'A' && field.from[i] <= 'Z' ? field.from[i] + 32 : field.from[i]) == w[i];
    if (same) return true;
    w += n + (w[n] == ' ');
  }
  return false;
}

static bool read_operation(Piece field, DinLabel *label) {
  static const struct {
    const char *words;
    DinLabel label;
  } operations[] = {{"r read load ld l 0", DIN_READ},
                    {"w write store st s 1", DIN_WRITE},
                    {"i fetch ifetch instruction 2", DIN_FETCH},
                    {"m misc 3", DIN_MISC},
                    {"modify rmw", DIN_MODIFY}};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (is_word(field, operations[i].words)) {
      *label = operations[i].label;
      return true;
    }
  return false;
}

/* A first line that names the columns. */
static bool read_columns(const Piece *fields, int n, DinParser *parser) {
  int op = -1, address = -1, size = -1;
  for (int i = 0; i < n; i++) {
    if (is_word(fields[i], "op operation kind type rw r/w access label cmd command")) op = i;
    if (is_word(fields[i], "address addr vaddr paddr")) address = i;
    if (is_word(fields[i], "size bytes length len size_bytes")) size = i;
  }
  if (address < 0) return false;
  parser->csv_op = (int8_t)op;
  parser->csv_address = (int8_t)address;
  parser->csv_size = (int8_t)size;
  return true;
}

static bool read_number(Piece field, uint64_t *value) {
  const char *p = field.from;
  bool prefixed = field.end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
  return (prefixed ? din_read_hex(&p, field.end, value, &prefixed) : read_decimal(&p, field.end, value)) &&
         p == field.end;
}

Status din_read_csv(DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                    Error *error) {
  Piece fields[CSV_FIELDS_MAX];
  DinParser columns;
  const int n = cut_fields(p, end, fields);
  if (read_columns(fields, n, &columns)) return STATUS_OK; /* the header, or a second one */
  if (parser->csv_address < 0)
    return error_set(error, STATUS_BAD_FILE,
                     "trace line %llu: which of these %d columns is the address is not guessed; put a first line with "
                     "their names before it, such as op,address,size",
                     (unsigned long long)parser->line, n);
  const int op = parser->csv_op, address = parser->csv_address, size = parser->csv_size;
  uint64_t bytes = din_default_size(parser);
  record->label = DIN_READ;
  if (address >= n || op >= n || (size >= n && parser->csv_op != 0))
    return din_bad_line(parser, "line with all columns", p, end, error);
  if (op >= 0 && !read_operation(fields[op], &record->label))
    return din_bad_line(parser, "operation", fields[op].from, fields[op].end, error);
  if (!read_number(fields[address], &record->address))
    return din_bad_line(parser, "address (hexadecimal ones begin with 0x)", fields[address].from, fields[address].end,
                        error);
  if (size >= 0 && size < n && fields[size].from < fields[size].end && !read_number(fields[size], &bytes))
    return din_bad_line(parser, "size", fields[size].from, fields[size].end, error);
  const Status status = din_check_range(parser, record, bytes, error);
  record->size_bytes = (uint32_t)bytes;
  *is_record = status == STATUS_OK;
  return status;
}

/* --- what a line looks like --- */

static bool looks_like_lackey(const char *p, const char *end) {
  DinParser parser = {.format = DIN_FORMAT_LACKEY, .fetches = true};
  DinRecord record;
  bool is_record = false;
  return din_read_lackey(&parser, p, end, &record, &is_record, NULL) == STATUS_OK && is_record;
}

/* A label, a blank and an address: then commas, if any, are the comment's. */
static bool looks_like_dinero(const char *p, const char *end) {
  DinLabel label;
  uint64_t address;
  bool prefixed;
  p = din_skip_blanks(p, end);
  if (!(din_read_digit(*p, &label) || din_read_letter(*p, &label)) || p + 1 == end || (p[1] != ' ' && p[1] != '\t'))
    return false;
  p = din_skip_blanks(p + 1, end);
  return din_read_hex(&p, end, &address, &prefixed) && din_ends_field(p, end);
}

/* Without a line of names: operation, address, size; address, size; address, operation, size or address, size,
 * operation. An operation that is a number could be an address: it is one where the address begins with 0x. */
void din_find_columns(const char *p, const char *end, DinParser *parser) {
  Piece fields[CSV_FIELDS_MAX];
  DinLabel label;
  uint64_t number;
  bool op[3] = {false}, count[3] = {false};
  const int n = cut_fields(p, end, fields);
  parser->csv_op = parser->csv_address = parser->csv_size = -1;
  if (read_columns(fields, n, parser) || n < 2 || n > 3) return;
  for (int i = 0; i < n; i++) {
    count[i] = read_number(fields[i], &number);
    op[i] = read_operation(fields[i], &label) && !count[i];
  }
  const bool label_first = read_operation(fields[0], &label) && count[1] && fields[1].end - fields[1].from > 2 &&
                           (fields[1].from[1] == 'x' || fields[1].from[1] == 'X');
  const int8_t third = n > 2 ? 2 : -1;
  if (op[0] || label_first)
    parser->csv_op = 0, parser->csv_address = 1, parser->csv_size = 2;
  else if (count[0] && op[1])
    parser->csv_op = 1, parser->csv_address = 0, parser->csv_size = third;
  else if (count[0] && count[1] && (n == 2 || op[2]))
    parser->csv_op = third, parser->csv_address = 0, parser->csv_size = 1;
}

/* --- pin, words, hash --- */

/* A size that may follow an address, and a value behind it, which is passed over. */
static Status read_tail(const DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                        Error *error) {
  uint64_t size = din_default_size(parser);
  p = din_skip_blanks(p, end);
  const char *from = p;
  while (p < end && *p != ' ' && *p != '\t' && *p != '\r' && *p != '#') p++;
  if (p > from && !read_number((Piece){from, p}, &size)) return din_bad_line(parser, "size", from, end, error);
  const Status status = din_check_range(parser, record, size, error);
  record->size_bytes = (uint32_t)size;
  *is_record = status == STATUS_OK;
  return status;
}

static const char *end_of_word(const char *p, const char *end) {
  while (p < end && *p != ' ' && *p != '\t' && *p != '\r') p++;
  return p;
}

Status din_read_pin(DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                    Error *error) {
  bool prefixed;
  uint64_t instruction;
  const char *from = p = din_skip_blanks(p, end);
  if (!din_read_hex(&p, end, &instruction, &prefixed) || p == end || *p != ':')
    return din_bad_line(parser, "instruction's address with a colon behind it", from, end, error);
  from = p = din_skip_blanks(p + 1, end);
  p = end_of_word(p, end);
  if (!read_operation((Piece){from, p}, &record->label)) return din_bad_line(parser, "R or W", from, end, error);
  from = p = din_skip_blanks(p, end);
  if (!din_read_hex(&p, end, &record->address, &prefixed) || !din_ends_field(p, end))
    return din_bad_line(parser, "address", from, end, error);
  return read_tail(parser, p, end, record, is_record, error);
}

Status din_read_words(DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                      Error *error) {
  bool prefixed;
  const char *from = p = din_skip_blanks(p, end);
  p = end_of_word(p, end);
  if (!read_operation((Piece){from, p}, &record->label)) return din_bad_line(parser, "operation", from, end, error);
  from = p = din_skip_blanks(p, end);
  if (!din_read_hex(&p, end, &record->address, &prefixed) || !din_ends_field(p, end) || (!prefixed && !parser->format))
    return din_bad_line(parser, "hexadecimal address with 0x", from, end, error);
  return read_tail(parser, p, end, record, is_record, error);
}

/* What follows the # of a line that holds an access. */
static bool read_hash(const char *p, const char *end, DinRecord *record) {
  bool prefixed;
  uint64_t instructions;
  p = din_skip_blanks(p, end);
  if (p == end || *p != '#') return false;
  p = din_skip_blanks(p + 1, end);
  if (p == end || *p > '2' || !din_read_digit(*p, &record->label) || p + 1 == end || !din_ends_field(p + 1, end))
    return false;
  p = din_skip_blanks(p + 1, end);
  if (!din_read_hex(&p, end, &record->address, &prefixed) || !din_ends_field(p, end)) return false;
  p = din_skip_blanks(p, end);
  if (p < end && !read_decimal(&p, end, &instructions)) return false;
  return din_skip_blanks(p, end) == end;
}

bool din_is_hash(const char *p, const char *end) {
  DinRecord record;
  return read_hash(p, end, &record);
}

Status din_read_hash(DinParser *parser, const char *p, const char *end, DinRecord *record, bool *is_record,
                     Error *error) {
  const char *from = din_skip_blanks(p, end);
  if (from == end) return STATUS_OK;
  if (!read_hash(p, end, record)) {
    const char *after = *from == '#' ? din_skip_blanks(from + 1, end) : from;
    if (*from == '#') { /* a remark; one that begins with a digit is counted, and said */
      parser->n_numbers += after < end && *after >= '0' && *after <= '9';
      return STATUS_OK;
    }
    return error_set(error, STATUS_BAD_FILE,
                     "trace line %llu: '%s' is no access as the lines before it are: #, label (0 to 2), hexadecimal "
                     "address; if those are comments, name the --format",
                     (unsigned long long)parser->line, quote(from, (size_t)(end - from)).text);
  }
  record->size_bytes = din_default_size(parser);
  const Status status = din_check_range(parser, record, record->size_bytes, error);
  *is_record = status == STATUS_OK;
  return status;
}

/* --- which format --- */

static bool looks_like(DinLineReader *reads, const char *p, const char *end) {
  DinParser parser = {0};
  DinRecord record;
  bool is_record = false;
  return reads(&parser, p, end, &record, &is_record, NULL) == STATUS_OK && is_record;
}

/* An operation of more than a letter, and no comma. */
static bool looks_like_words(const char *p, const char *end) {
  DinLabel label;
  const char *from = din_skip_blanks(p, end), *to = end_of_word(from, end);
  return to - from > 1 && read_operation((Piece){from, to}, &label);
}

DinFormat din_format_of(const char *p, const char *end) {
  if (din_is_hash(p, end)) return DIN_FORMAT_HASH;
  if (looks_like_lackey(p, end)) return DIN_FORMAT_LACKEY;
  if (looks_like_dinero(p, end)) {
    p = din_skip_blanks(p, end);
    return *p >= '0' && *p <= '4' ? DIN_FORMAT_DIN : DIN_FORMAT_XDIN;
  }
  if (looks_like(din_read_pin, p, end)) return DIN_FORMAT_PIN;
  if (looks_like_words(p, end)) return DIN_FORMAT_WORDS;
  return memchr(p, ',', (size_t)(end - p)) ? DIN_FORMAT_CSV : DIN_FORMAT_DIN;
}
