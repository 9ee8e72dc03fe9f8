#include "lessons/engine/claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/utf8.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"

static const char *const KEYS[CLAIM_TEXT_COUNT] = {"article", "says",         "why",    "note",    "rounds",
                                                   "asks",    "article says", "answer", "evidence"};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct {
  Claims *claims;
  const char *file;
  size_t file_offset, section;
  int line;
  bool in_code;
  bool extends_text; /* an indented line goes on with the text that was added last */
  int code_begins;
  size_t code_bytes;
  size_t part_name;
  bool awaits_code; /* a claimed value stands without its code */
  Error *error;
} Reader;

typedef struct {
  const char *text;
  size_t length;
} Line;

static Status refuse_at(const char *file, int line, Error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static Status refuse_at(const char *file, int line, Error *error, const char *format, ...) {
  char message[ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  const Quote name = quote_text(file);
  return error_set(error, STATUS_BAD_FILE, "%s:%d: %s", name.text, line, message);
}
#define REFUSE(r, ...) refuse_at((r)->file, (r)->line, (r)->error, __VA_ARGS__)

static Status no_memory(const char *file, Error *error) {
  return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", quote_text(file).text);
}

static Status check_bytes(Reader *r, Line line) {
  const unsigned char *text = (const unsigned char *)line.text;
  if (line.length > CLAIMS_LINE_BYTES)
    return REFUSE(r, "the line is %zu bytes long; at most %d are read", line.length, CLAIMS_LINE_BYTES);
  for (size_t i = 0, n; i < line.length; i += n) {
    n = utf8_sequence(text + i, line.length - i);
    if (n == 0) return REFUSE(r, "byte %zu is 0x%02X, which is not UTF-8; save the file as UTF-8", i + 1, text[i]);
    if (utf8_is_unsafe(text + i) && text[i] != '\t')
      return REFUSE(r, "byte %zu is a control character (0x%02X); only text may stand here", i + 1, text[i]);
  }
  return STATUS_OK;
}

static Line trimmed(Line line) {
  while (line.length && (line.text[line.length - 1] == ' ' || line.text[line.length - 1] == '\t')) line.length--;
  while (line.length && (*line.text == ' ' || *line.text == '\t')) line.text++, line.length--;
  return line;
}

static bool starts(Line line, const char *prefix) {
  return line.length >= strlen(prefix) && memcmp(line.text, prefix, strlen(prefix)) == 0;
}

static bool is(Line line, const char *text) { return line.length == strlen(text) && starts(line, text); }

static Line after(Line line, size_t n) { return trimmed((Line){line.text + n, line.length - n}); }

static ClaimEntry *current(Reader *r) { return &r->claims->entries[r->claims->n_entries - 1]; }

static Status add_text(Reader *r, Line line, size_t *offset) {
  return pool_add(&r->claims->pool, line.text, line.length, offset) ? STATUS_OK : no_memory(r->file, r->error);
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

/* What an entry must have, once the next one begins. */
static Status finish_entry(Reader *r, size_t n_before) {
  Claims *c = r->claims;
  if (c->n_entries == n_before) return STATUS_OK;
  const ClaimEntry *e = current(r);
  if (r->awaits_code) return REFUSE(r, "the claimed value above has no ```lua block that computes it");
  if (r->part_name) return REFUSE(r, "after 'part' must stand a claimed value and its code");
  if (e->n_parts == 0) return refuse_at(r->file, e->line, r->error, "the entry has no 'claimed' value and no code");
  static const ClaimText for_claims[] = {CLAIM_ARTICLE, CLAIM_SAYS};
  static const ClaimText for_questions[] = {CLAIM_ARTICLE, CLAIM_ASKS, CLAIM_ARTICLE_SAYS, CLAIM_ANSWER,
                                            CLAIM_EVIDENCE};
  const ClaimText *wanted = e->is_question ? for_questions : for_claims;
  for (int k = 0; k < (e->is_question ? 5 : 2); k++)
    if (!e->text[wanted[k]])
      return refuse_at(r->file, e->line, r->error, "the entry has no '%s'; add a line '- %s: ...'", KEYS[wanted[k]],
                       KEYS[wanted[k]]);
  if (!e->is_question && e->n_parts > 1)
    return refuse_at(r->file, e->line, r->error, "a claim has one claimed value; only a question ('asks') has parts");
  return STATUS_OK;
}

static Status begin_entry(Reader *r, Line id, size_t n_before) {
  Claims *c = r->claims;
  Status status = finish_entry(r, n_before);
  if (status) return status;
  if (id.length == 0 || id.length >= CLAIMS_ID_BYTES)
    return REFUSE(r, "an id has 1 to %d letters, digits and '-'", CLAIMS_ID_BYTES - 1);
  for (size_t k = 0; k < id.length; k++)
    if (!ascii_is_alnum((unsigned char)id.text[k]) && id.text[k] != '-')
      return REFUSE(r, "'%s' is no id; it has only letters, digits and '-'", quote(id.text, id.length).text);
  for (size_t k = 0; k < c->n_entries; k++)
    if (is(id, pool_text(&c->pool, c->entries[k].id)))
      return REFUSE(r, "'%s' is here twice, first on line %d of %s", quote(id.text, id.length).text, c->entries[k].line,
                    pool_text(&c->pool, c->entries[k].file));
  if (c->n_entries == CLAIMS_ENTRIES_MAX) return REFUSE(r, "more than %d entries", CLAIMS_ENTRIES_MAX);
  void *entries = c->entries;
  if (!pool_grow_array(&entries, &c->entries_capacity, c->n_entries + 1, sizeof *c->entries))
    return no_memory(r->file, r->error);
  c->entries = entries;
  ClaimEntry entry = {.file = r->file_offset, .section = r->section, .line = r->line, .first_part = (int)c->n_parts};
  status = add_text(r, id, &entry.id);
  if (status) return status;
  c->entries[c->n_entries++] = entry;
  r->extends_text = false;
  return STATUS_OK;
}

static Status begin_part(Reader *r, Line claimed) {
  Claims *c = r->claims;
  ClaimEntry *e = current(r);
  if (r->awaits_code) return REFUSE(r, "the claimed value before this one has no ```lua block yet");
  if (e->n_parts == CLAIMS_PARTS_MAX) return REFUSE(r, "more than %d claimed values in one entry", CLAIMS_PARTS_MAX);
  void *parts = c->parts;
  if (!pool_grow_array(&parts, &c->parts_capacity, c->n_parts + 1, sizeof *c->parts))
    return no_memory(r->file, r->error);
  c->parts = parts;
  ClaimPart part = {.name = r->part_name, .claimed_line = r->line};
  char text[CLAIMS_LINE_BYTES + 1];
  memcpy(text, claimed.text, claimed.length);
  text[claimed.length] = '\0';
  Error inner = {0};
  if (claimed_parse(text, &part.claimed, &inner)) return REFUSE(r, "%s", inner.message);
  c->parts[c->n_parts++] = part;
  e->n_parts++;
  r->part_name = 0;
  r->awaits_code = true;
  return STATUS_OK;
}

static Status unknown_key(Reader *r, Line key) {
  char typed[64];
  snprintf(typed, sizeof typed, "%.*s", (int)(key.length < 63 ? key.length : 63), key.text);
  Nearest nearest = {.word = typed};
  for (int k = 0; k < CLAIM_TEXT_COUNT; k++) nearest_offer(&nearest, KEYS[k]);
  nearest_offer(&nearest, "claimed");
  nearest_offer(&nearest, "part");
  const Quote shown = quote(key.text, key.length);
  if (nearest.best) return REFUSE(r, "there is no key '%s'; did you mean '%s'?", shown.text, nearest.best);
  return REFUSE(r, "there is no key '%s'; a line is '- key: text', with article, says, claimed, why, ...", shown.text);
}

static Status read_key(Reader *r, Line line) {
  ClaimEntry *e = current(r);
  const char *colon = memchr(line.text, ':', line.length);
  if (!colon) return REFUSE(r, "'%s' has no colon; a line is '- key: text'", quote(line.text, line.length).text);
  const Line key = trimmed((Line){line.text, (size_t)(colon - line.text)}),
             text = after(line, (size_t)(colon + 1 - line.text));
  r->extends_text = false;
  if (text.length == 0) return REFUSE(r, "nothing stands after '%s:'", quote(key.text, key.length).text);
  if (is(key, "claimed")) return begin_part(r, text);
  if (is(key, "part")) {
    if (r->part_name) return REFUSE(r, "two 'part' lines with no claimed value between them");
    return add_text(r, text, &r->part_name);
  }
  for (int k = 0; k < CLAIM_TEXT_COUNT; k++) {
    if (!is(key, KEYS[k])) continue;
    if (e->text[k]) return REFUSE(r, "'%s' is given twice, first on line %d", KEYS[k], e->text_line[k]);
    if (k == CLAIM_ASKS) e->is_question = true;
    if (k == CLAIM_ARTICLE && (text.text[0] < 'A' || text.text[0] > 'Z' || (text.length > 1 && text.text[1] != ',')))
      return REFUSE(r, "'article' begins with its letter: '- article: A, where in it'");
    e->text_line[k] = r->line;
    r->extends_text = true;
    return add_text(r, text, &e->text[k]);
  }
  return unknown_key(r, key);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static Status begin_code(Reader *r, Line line) {
  if (!is(trimmed(line), "```lua")) return REFUSE(r, "only ```lua blocks may stand in an entry");
  if (!r->awaits_code) return REFUSE(r, "this block computes nothing: put a '- claimed: ...' line before it");
  r->in_code = true;
  r->code_begins = r->line;
  r->code_bytes = 0;
  r->extends_text = false;
  ClaimPart *part = &r->claims->parts[r->claims->n_parts - 1];
  part->code_line = r->line + 1;
  return add_text(r, (Line){"", 0}, &part->code);
}

static Status read_code(Reader *r, Line line) {
  if (starts(line, "```")) {
    if (r->code_bytes == 0) return REFUSE(r, "the block is empty; write the expression that computes the value");
    r->in_code = r->awaits_code = false;
    return STATUS_OK;
  }
  r->code_bytes += line.length + 1;
  if (r->code_bytes > EXPRESSION_SOURCE_BYTES)
    return REFUSE(r, "the block is longer than %d bytes", EXPRESSION_SOURCE_BYTES);
  Pool *pool = &r->claims->pool;
  return pool_extend(pool, line.text, line.length) && pool_extend(pool, "\n", 1) ? STATUS_OK
                                                                                 : no_memory(r->file, r->error);
}

static Status read_line(Reader *r, Line line, size_t n_before) {
  const bool blank = trimmed(line).length == 0;
  if (r->in_code) return read_code(r, line);
  if (starts(line, "## ")) return begin_entry(r, after(line, 3), n_before);
  if (starts(line, "# ")) {
    r->extends_text = false;
    return add_text(r, after(line, 2), &r->section);
  }
  if (r->claims->n_entries == n_before) return STATUS_OK; /* the introduction */
  if (starts(line, "```")) return begin_code(r, line);
  if (starts(line, "- ")) return read_key(r, after(line, 2));
  if (blank) {
    r->extends_text = false;
    return STATUS_OK;
  }
  const bool indented = line.text[0] == ' ' || line.text[0] == '\t';
  if (!r->extends_text || !indented)
    return REFUSE(r, "'%s' is no line of an entry; write '- key: text', and indent what goes on",
                  quote(line.text, line.length).text);
  Pool *pool = &r->claims->pool;
  const Line more = trimmed(line);
  return pool_extend(pool, "\n", 1) && pool_extend(pool, more.text, more.length) ? STATUS_OK
                                                                                 : no_memory(r->file, r->error);
}

static Status read_lines(Reader *r, const char *buffer, size_t length) {
  const size_t n_before = r->claims->n_entries;
  if (length >= 3 && memcmp(buffer, "\xEF\xBB\xBF", 3) == 0) buffer += 3, length -= 3;
  while (length) {
    const char *end = memchr(buffer, '\n', length);
    const size_t n = end ? (size_t)(end - buffer) : length, taken = n + (end != NULL);
    Line line = {buffer, n};
    if (line.length && line.text[line.length - 1] == '\r') line.length--;
    r->line++;
    Status status = check_bytes(r, line);
    if (!status) status = read_line(r, line, n_before);
    if (status) return status;
    buffer += taken, length -= taken;
  }
  if (r->in_code) return refuse_at(r->file, r->code_begins, r->error, "the block that begins here has no closing ```");
  if (r->claims->n_entries == n_before) return REFUSE(r, "no entries; one begins with a line '## ID'");
  return finish_entry(r, n_before);
}

Status claims_read(Claims *claims, const char *buffer, size_t length, const char *file, Error *error) {
  const size_t n_entries = claims->n_entries, n_parts = claims->n_parts;
  Reader r = {.claims = claims, .file = file, .error = error};
  if (length > CLAIMS_FILE_BYTES)
    return error_set(error, STATUS_BAD_FILE, "%s:1: the file is %zu bytes long; at most %d are read",
                     quote_text(file).text, length, CLAIMS_FILE_BYTES);
  Status status = pool_add(&claims->pool, file, strlen(file), &r.file_offset) ? STATUS_OK : no_memory(file, error);
  if (!status) status = read_lines(&r, buffer, length);
  if (status) claims->n_entries = n_entries, claims->n_parts = n_parts;
  return status;
}

void claims_free(Claims *claims) {
  pool_free(&claims->pool);
  free(claims->entries);
  free(claims->parts);
  *claims = (Claims){0};
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

size_t claims_find(const Claims *claims, const char *id, Error *error) {
  Nearest nearest = {.word = id};
  for (size_t k = 0; k < claims->n_entries; k++) {
    const char *known = pool_text(&claims->pool, claims->entries[k].id);
    if (strcmp(known, id) == 0) return k;
    nearest_offer(&nearest, known);
  }
  const Quote shown = quote_text(id);
  if (nearest.best)
    error_set(error, STATUS_BAD_REQUEST, "there is no claim '%s'; did you mean '%s'?", shown.text, nearest.best);
  else
    error_set(error, STATUS_BAD_REQUEST, "there is no claim '%s'; 'tilewalk lesson claims' lists them", shown.text);
  return claims->n_entries;
}

const char *claims_id(const Claims *claims, const ClaimEntry *entry) { return pool_text(&claims->pool, entry->id); }

const char *claims_section(const Claims *claims, const ClaimEntry *entry) {
  return pool_text(&claims->pool, entry->section);
}

char claims_article(const Claims *claims, const ClaimEntry *entry) {
  return pool_text(&claims->pool, entry->text[CLAIM_ARTICLE])[0];
}

const char *claims_filled(const Claims *claims, const ClaimEntry *entry, ClaimText text) {
  return pool_text(&claims->pool, entry->filled[text]);
}

const ClaimPart *claims_part(const Claims *claims, const ClaimEntry *entry, int part) {
  return &claims->parts[entry->first_part + part];
}
