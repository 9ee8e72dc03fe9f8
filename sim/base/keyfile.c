#include "sim/base/keyfile.h"

#include "sim/base/nearest.h"
#include "sim/base/size.h"
#include "sim/base/word_list.h"

typedef struct {
  const char *display_name;
  const KeyfileField *fields;
  int n_fields;
  char *record;
  KeyfileNote *notes;
  int line;
  int unsourced; /* the field on an earlier line that still waits for its source; -1: none */
  Error *error;
  bool free; /* numbers need no source */
} Parser;

Status keyfile_refuse_word(const char *display_name, int line, Error *error, const char *key, const char *word,
                           const char *const *words) {
  char all[160];
  const Quote typed = quote_text(word);
  Nearest nearest = {.word = typed.text};
  for (int i = 0; words[i]; i++) nearest_offer(&nearest, words[i]);
  if (nearest.best)
    return keyfile_refuse(display_name, line, error, "there is no %s '%s'; did you mean '%s'?", key, typed.text,
                          nearest.best);
  return keyfile_refuse(display_name, line, error, "there is no %s '%s'; there are %s", key, typed.text,
                        word_list_text(words, ",", all, sizeof all));
}

#define REFUSE(p, ...) keyfile_refuse((p)->display_name, (p)->line, (p)->error, __VA_ARGS__)

/* --- Keys --- */

static int find_field(const Parser *p, Piece key) {
  for (int f = 0; f < p->n_fields; f++)
    if (piece_is(key, p->fields[f].name)) return f;
  return -1;
}

static Status refuse_key(Parser *p, Piece key) {
  const Quote typed = piece_quote(key);
  Nearest nearest = {.word = typed.text};
  for (int f = 0; f < p->n_fields; f++) nearest_offer(&nearest, p->fields[f].name);
  if (nearest.best) return REFUSE(p, "unknown key '%s'; did you mean '%s'?", typed.text, nearest.best);
  return REFUSE(p, "unknown key '%s'; remove the line, or put '#' before it to keep it as a comment", typed.text);
}

/* --- Values --- */

typedef struct {
  KeyfileKind kind;
  const char *name;
  int exponent10, exponent2; /* the factor to the base unit: 10^a x 2^b */
} RateUnit;

static const RateUnit RATE_UNITS[] = {
    {KEYFILE_BYTES_PER_S, "B/s", 0, 0},
    {KEYFILE_BYTES_PER_S, "kB/s", 3, 0},
    {KEYFILE_BYTES_PER_S, "MB/s", 6, 0},
    {KEYFILE_BYTES_PER_S, "GB/s", 9, 0},
    {KEYFILE_BYTES_PER_S, "TB/s", 12, 0},
    {KEYFILE_BYTES_PER_S, "KiB/s", 0, 10},
    {KEYFILE_BYTES_PER_S, "MiB/s", 0, 20},
    {KEYFILE_BYTES_PER_S, "GiB/s", 0, 30},
    {KEYFILE_BYTES_PER_S, "TiB/s", 0, 40},
    {KEYFILE_HERTZ, "Hz", 0, 0},
    {KEYFILE_HERTZ, "kHz", 3, 0},
    {KEYFILE_HERTZ, "MHz", 6, 0},
    {KEYFILE_HERTZ, "GHz", 9, 0},
    {KEYFILE_FLOPS_PER_S, "FLOP/s", 0, 0},
    {KEYFILE_FLOPS_PER_S, "MFLOP/s", 6, 0},
    {KEYFILE_FLOPS_PER_S, "GFLOP/s", 9, 0},
    {KEYFILE_FLOPS_PER_S, "TFLOP/s", 12, 0},
    {KEYFILE_FLOPS_PER_S, "PFLOP/s", 15, 0},
    {KEYFILE_SECONDS, "s", 0, 0},
    {KEYFILE_SECONDS, "ms", -3, 0},
    {KEYFILE_SECONDS, "us", -6, 0},
    {KEYFILE_SECONDS, "ns", -9, 0},
    {KEYFILE_BYTES_PER_CLOCK, "B/clk", 0, 0},
    {KEYFILE_OPS_PER_CLOCK, "op/clk", 0, 0},
};

static const char *const BASE_UNIT[KEYFILE_KIND_COUNT] = {"",    "",   "",       "",  "",      "B",
                                                          "B/s", "Hz", "FLOP/s", "s", "B/clk", "op/clk"};
static const char *const EXAMPLE[KEYFILE_KIND_COUNT] = {
    "", "", "", "", "132", "60 MiB", "4.8 TB/s", "1980 MHz", "312 TFLOP/s", "3 us", "128 B/clk", "16 op/clk"};

const char *keyfile_base_unit(KeyfileKind kind) { return BASE_UNIT[kind]; }

const KeyfileNote *keyfile_note(const KeyfileField *fields, const KeyfileNote *notes, const char *key) {
  int f = 0;
  while (strcmp(fields[f].name, key) != 0) f++; /* keys are those of the table */
  return &notes[f];
}

static const char *const YES_NO[] = {"yes", "no", NULL};

const char *keyfile_text(const KeyfileField *field, const void *record) {
  const char *member = (const char *)record + field->offset;
  if (field->kind == KEYFILE_WORD) return field->words[*(const int *)(const void *)member];
  if (field->kind == KEYFILE_YES) return YES_NO[!*(const bool *)(const void *)member];
  return member;
}

static const RateUnit *find_rate_unit(KeyfileKind kind, Piece name) {
  for (size_t u = 0; u < sizeof RATE_UNITS / sizeof RATE_UNITS[0]; u++)
    if (RATE_UNITS[u].kind == kind && piece_is(name, RATE_UNITS[u].name)) return &RATE_UNITS[u];
  return NULL;
}

static Status read_rate(Parser *p, const KeyfileField *field, Piece value, double *number) {
  Decimal decimal;
  const size_t n = decimal_read(value.text, value.length, &decimal);
  if (n == 0)
    return REFUSE(p, "%s = '%s' is not a positive number; write one such as %s", field->name, piece_quote(value).text,
                  EXAMPLE[field->kind]);
  const Piece unit = piece_after(value, n);
  const RateUnit *known = find_rate_unit(field->kind, unit);
  if (!known && unit.length == 0)
    return REFUSE(p, "%s = %s has no unit; write one, such as %s", field->name, piece_quote(value).text,
                  EXAMPLE[field->kind]);
  if (!known)
    return REFUSE(p, "%s: unknown unit '%s'; write it as in %s", field->name, piece_quote(unit).text,
                  EXAMPLE[field->kind]);
  decimal.exponent10 += known->exponent10;
  *number = decimal_value(decimal) * (double)((int64_t)1 << known->exponent2);
  return STATUS_OK;
}

static Status read_whole(Parser *p, const KeyfileField *field, Piece value, int64_t *number) {
  char text[KEYFILE_LINE_BYTES + 1];
  memcpy(text, value.text, value.length);
  text[value.length] = '\0';
  const char last = text[value.length - 1];
  if (field->kind == KEYFILE_BYTES && last >= '0' && last <= '9')
    return REFUSE(p, "%s = %s has no unit; write one, such as 128 B or %s", field->name, piece_quote(value).text,
                  EXAMPLE[field->kind]);
  Error inner = {0};
  const Status status =
      field->kind == KEYFILE_COUNT ? size_parse_count(text, number, &inner) : size_parse(text, number, &inner);
  if (status) return REFUSE(p, "%s: %s", field->name, inner.message);
  return STATUS_OK;
}

static Status store_text(Parser *p, const KeyfileField *field, Piece value) {
  if (value.length >= KEYFILE_TEXT_BYTES)
    return REFUSE(p, "%s is %zu bytes long; at most %d fit", field->name, value.length, KEYFILE_TEXT_BYTES - 1);
  char *member = p->record + field->offset;
  memset(member, 0, KEYFILE_TEXT_BYTES);
  memcpy(member, value.text, value.length);
  if (field->kind == KEYFILE_NAME && member[strspn(member, KEYFILE_LETTERS)])
    return REFUSE(p,
                  "%s is taken on the command line, so it has only letters, digits, '-', '_' and '.'; put the full "
                  "name in 'product'",
                  field->name);
  return STATUS_OK;
}

static Status store_word(Parser *p, const KeyfileField *field, Piece value) {
  char text[KEYFILE_LINE_BYTES + 1] = "";
  memcpy(text, value.text, value.length);
  const char *const *words = field->kind == KEYFILE_YES ? YES_NO : field->words;
  const int word = word_list_find(words, text);
  const bool yes = word == 0;
  if (word < 0) return keyfile_refuse_word(p->display_name, p->line, p->error, field->name, text, words);
  if (field->kind == KEYFILE_YES)
    memcpy(p->record + field->offset, &yes, sizeof yes);
  else
    memcpy(p->record + field->offset, &word, sizeof word);
  return STATUS_OK;
}

static Status store_value(Parser *p, const KeyfileField *field, Piece value) {
  if (value.length == 0) return REFUSE(p, "%s has no value; write it after '='", field->name);
  if (field->kind == KEYFILE_TEXT || field->kind == KEYFILE_NAME) return store_text(p, field, value);
  if (!keyfile_is_number(field->kind)) return store_word(p, field, value);
  double number = 0;
  if (field->kind == KEYFILE_COUNT || field->kind == KEYFILE_BYTES) {
    int64_t whole;
    const Status status = read_whole(p, field, value, &whole);
    if (status) return status;
    memcpy(p->record + field->offset, &whole, sizeof whole);
    number = (double)whole;
  } else {
    const Status status = read_rate(p, field, value, &number);
    if (status) return status;
    memcpy(p->record + field->offset, &number, sizeof number);
  }
  if (number >= field->min && number <= field->max) return STATUS_OK;
  const char *unit = BASE_UNIT[field->kind];
  return REFUSE(p, "%s = %s is out of range: it must be from %g to %g%s%s", field->name, piece_quote(value).text,
                field->min, field->max, *unit ? " " : "", unit);
}

/* --- Sources --- */

/* Whether a comment names a source or says "assumed". */
static bool is_source(Piece comment) {
  if (piece_starts(comment, "source:")) return true;
  return piece_starts(comment, "assumed") && (comment.length == 7 || strchr(": \t", comment.text[7]));
}

static Status store_source(Parser *p, int field, Piece comment) {
  KeyfileNote *note = &p->notes[field];
  Piece source = piece_starts(comment, "source:") ? piece_after(comment, strlen("source:")) : comment;
  const char *name = p->fields[field].name;
  if (source.length == 0)
    return REFUSE(p, "'source:' of %s is empty; name a document and a page or table, or write 'assumed: why'", name);
  if (source.length >= KEYFILE_SOURCE_BYTES)
    return REFUSE(p, "the source of %s is %zu bytes long; at most %d fit", name, source.length,
                  KEYFILE_SOURCE_BYTES - 1);
  note->assumed = piece_starts(source, "assumed");
  memset(note->source, 0, sizeof note->source);
  memcpy(note->source, source.text, source.length);
  p->unsourced = -1;
  return STATUS_OK;
}

/* The house rule; called where no later line can bring the source any more. */
static Status check_sourced(Parser *p) {
  if (p->unsourced < 0 || p->free) return STATUS_OK;
  return keyfile_refuse(p->display_name, p->notes[p->unsourced].line, p->error,
                        "%s does not say where its number comes from; add '# source: document, "
                        "page' or '# assumed: why'",
                        p->fields[p->unsourced].name);
}

/* --- Lines --- */

static Status read_entry(Parser *p, Piece entry, Piece comment) {
  const Status sourced = check_sourced(p);
  if (sourced) return sourced;
  const char *equals = memchr(entry.text, '=', entry.length);
  if (!equals)
    return REFUSE(p, "'%s' is not 'key = value'; write an entry, or a comment that begins with '#'",
                  piece_quote(entry).text);
  const Piece key = piece_trim((Piece){entry.text, (size_t)(equals - entry.text)});
  const int field = find_field(p, key);
  if (key.length == 0) return REFUSE(p, "no key before '='; write 'key = value'");
  if (field < 0) return refuse_key(p, key);
  if (p->notes[field].line)
    return REFUSE(p, "%s is given twice, first on line %d; keep one", p->fields[field].name, p->notes[field].line);
  const Status status = store_value(p, &p->fields[field], piece_after(entry, (size_t)(equals + 1 - entry.text)));
  if (status) return status;
  p->notes[field].line = p->line;
  if (is_source(comment)) return store_source(p, field, comment);
  p->unsourced = keyfile_is_number(p->fields[field].kind) ? field : -1;
  return STATUS_OK;
}

static Status read_line(Parser *p, Piece line) {
  const Status status = piece_check(line, KEYFILE_LINE_BYTES, p->display_name, p->line, p->error);
  if (status) return status;
  const char *hash = memchr(line.text, '#', line.length);
  const size_t n_entry = hash ? (size_t)(hash - line.text) : line.length;
  const Piece entry = piece_trim((Piece){line.text, n_entry});
  const Piece comment = hash ? piece_after(line, n_entry + 1) : (Piece){line.text, 0};
  if (entry.length) return read_entry(p, entry, comment);
  if (p->unsourced >= 0 && is_source(comment)) return store_source(p, p->unsourced, comment);
  return STATUS_OK;
}

static Status check_required(Parser *p) {
  for (int f = 0; f < p->n_fields; f++)
    if (p->fields[f].required && p->notes[f].line == 0)
      return keyfile_refuse(p->display_name, 0, p->error, "no '%s' (%s) in the file; add a line '%s = %s%s'",
                            p->fields[f].name, p->fields[f].help, p->fields[f].name,
                            keyfile_is_number(p->fields[f].kind) ? EXAMPLE[p->fields[f].kind] : "...",
                            keyfile_is_number(p->fields[f].kind) ? "  # source: ..." : "");
  return STATUS_OK;
}

static Status parse(Parser *p, const char *buffer, size_t length) {
  const char *display_name = p->display_name;
  Error *error = p->error;
  if (length > KEYFILE_MAX_BYTES)
    return keyfile_refuse(display_name, 0, error, "%zu bytes long, too long for a description; at most %d are read",
                          length, KEYFILE_MAX_BYTES);
  for (Piece rest = piece_file(buffer, length); rest.length;) {
    if (++p->line > KEYFILE_MAX_LINES)
      return REFUSE(p, "more than %d lines; a description is shorter", KEYFILE_MAX_LINES);
    const Status status = read_line(p, piece_next_line(&rest));
    if (status) return status;
  }
  const Status status = check_sourced(p);
  return status ? status : check_required(p);
}

Status keyfile_parse(const char *buffer, size_t length, const char *display_name, const KeyfileField *fields,
                     int n_fields, void *record, KeyfileNote *notes, Error *error) {
  Parser parser = {.display_name = display_name,
                   .fields = fields,
                   .n_fields = n_fields,
                   .record = record,
                   .notes = notes,
                   .unsourced = -1,
                   .error = error};
  return parse(&parser, buffer, length);
}

Status keyfile_parse_unsourced(const char *buffer, size_t length, const char *display_name, const KeyfileField *fields,
                               int n_fields, void *record, KeyfileNote *notes, Error *error) {
  Parser parser = {.display_name = display_name,
                   .fields = fields,
                   .n_fields = n_fields,
                   .record = record,
                   .notes = notes,
                   .unsourced = -1,
                   .error = error,
                   .free = true};
  return parse(&parser, buffer, length);
}

Status keyfile_check_sources(const char *display_name, const KeyfileField *fields, int n_fields,
                             const KeyfileNote *notes, Error *error) {
  for (int f = 0; f < n_fields; f++)
    if (notes[f].line && keyfile_is_number(fields[f].kind) && !notes[f].source[0])
      return keyfile_refuse(display_name, notes[f].line, error,
                            "%s does not say where its number comes from; add '# source: document, "
                            "page' or '# assumed: why'",
                            fields[f].name);
  return STATUS_OK;
}
