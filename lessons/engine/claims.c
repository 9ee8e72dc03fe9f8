#include "lessons/engine/claims.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/text_add.h"

#define ROUNDED_WITHIN 0.001 /* of an entry that says how its numbers were rounded */

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct {
  LessonReader r; /* first, for what reads a key has it alone */
  Claims *claims;
  size_t n_before; /* entries of other files */
  LessonText file, section, part_name;
  bool awaits_code; /* a claimed value stands without its code */
} Reader;

#define REFUSE(c, ...) LESSON_REFUSE(&(c)->r, (c)->r.line, __VA_ARGS__)

static ClaimEntry *current(Reader *c) { return &c->claims->entries[c->claims->n_entries - 1]; }

static Status begin_part(LessonReader *r, void *target, Piece claimed, int line) {
  Reader *c = (Reader *)r;
  Claims *all = c->claims;
  ClaimEntry *e = target;
  ClaimPart part = {.name = c->part_name.text, .claimed_line = line};
  char text[LESSON_LINE_BYTES + 1];
  Error inner = {0};
  if (c->awaits_code) return LESSON_REFUSE(r, line, "the claimed value before this one has no ```lua block yet");
  if (e->n_parts == CLAIMS_PARTS_MAX)
    return LESSON_REFUSE(r, line, "more than %d claimed values in one entry", CLAIMS_PARTS_MAX);
  if (!grow_array((void **)&all->parts, &all->parts_capacity, all->n_parts + 1, sizeof *all->parts))
    return error_no_memory(r->error, "to read %s", r->file);
  snprintf(text, sizeof text, "%.*s", (int)claimed.length, claimed.text);
  if (claimed_parse(text, &part.claimed, &inner)) return LESSON_REFUSE(r, line, "%s", inner.message);
  all->parts[all->n_parts++] = part;
  e->n_parts++;
  c->part_name = (LessonText){0};
  c->awaits_code = true;
  return STATUS_OK;
}

static Status name_part(LessonReader *r, void *target, Piece name, int line) {
  Reader *c = (Reader *)r;
  (void)target;
  if (c->part_name.text) return LESSON_REFUSE(r, line, "two 'part' lines with no claimed value between them");
  c->part_name = lesson_add_text(r, name, line);
  return STATUS_OK;
}

#define TEXT(which) LESSON_ONE(ClaimEntry, text[which])
static const LessonKey KEYS[] = {{"article", TEXT(CLAIM_ARTICLE)}, /* in the order of ClaimText */
                                 {"says", TEXT(CLAIM_SAYS)},
                                 {"why", TEXT(CLAIM_WHY)},
                                 {"note", TEXT(CLAIM_NOTE)},
                                 {"rounds", TEXT(CLAIM_ROUNDS)},
                                 {"asks", TEXT(CLAIM_ASKS)},
                                 {"article says", TEXT(CLAIM_ARTICLE_SAYS)},
                                 {"answer", TEXT(CLAIM_ANSWER)},
                                 {"evidence", TEXT(CLAIM_EVIDENCE)},
                                 {"claimed", .read = begin_part},
                                 {"part", .read = name_part},
                                 {0}};

/* What an entry must have, once the next one begins. */
static void finish_entry(Reader *c) {
  static const ClaimText WANTED[2][5] = {{CLAIM_ARTICLE, CLAIM_SAYS},
                                         {CLAIM_ARTICLE, CLAIM_ASKS, CLAIM_ARTICLE_SAYS, CLAIM_ANSWER, CLAIM_EVIDENCE}};
  if (c->r.error->status || c->claims->n_entries == c->n_before) return;
  ClaimEntry *e = current(c);
  e->is_question = e->text[CLAIM_ASKS].text != NULL;
  const LessonText article = e->text[CLAIM_ARTICLE];
  if (article.text && (article.text[0] < 'A' || article.text[0] > 'Z' || (article.text[1] && article.text[1] != ',')))
    LESSON_REFUSE(&c->r, article.line, "'article' begins with its letter: '- article: A, where in it'");
  if (c->awaits_code) REFUSE(c, "the claimed value above has no ```lua block that computes it");
  if (c->part_name.text) REFUSE(c, "after 'part' must stand a claimed value and its code");
  if (e->n_parts == 0) LESSON_REFUSE(&c->r, e->line, "the entry has no 'claimed' value and no code");
  for (int k = 0; k < (e->is_question ? 5 : 2); k++) {
    const ClaimText wanted = WANTED[e->is_question][k];
    if (!e->text[wanted].text)
      LESSON_REFUSE(&c->r, e->line, "the entry has no '%s'; add a line '- %s: ...'", KEYS[wanted].name,
                    KEYS[wanted].name);
  }
  if (!e->is_question && e->n_parts > 1)
    LESSON_REFUSE(&c->r, e->line, "a claim has one claimed value; only a question ('asks') has parts");
}

static void begin_entry(Reader *c, Piece id) {
  Claims *all = c->claims;
  finish_entry(c);
  if (id.length == 0 || id.length >= CLAIMS_ID_BYTES)
    REFUSE(c, "an id has 1 to %d letters, digits and '-'", CLAIMS_ID_BYTES - 1);
  for (size_t k = 0; k < id.length; k++)
    if (!ascii_is_alnum(id.text[k]) && id.text[k] != '-')
      REFUSE(c, "'%s' is no id; it has only letters, digits and '-'", piece_quote(id).text);
  for (size_t k = 0; k < all->n_entries; k++)
    if (piece_is(id, all->entries[k].id))
      REFUSE(c, "'%s' is here twice, first on line %d of %s", piece_quote(id).text, all->entries[k].line,
             all->entries[k].file);
  if (all->n_entries == CLAIMS_ENTRIES_MAX) REFUSE(c, "more than %d entries", CLAIMS_ENTRIES_MAX);
  if (!grow_array((void **)&all->entries, &all->entries_capacity, all->n_entries + 1, sizeof *all->entries))
    error_no_memory(c->r.error, "to read %s", c->r.file);
  if (c->r.error->status) return;
  all->entries[all->n_entries++] = (ClaimEntry){.id = lesson_text(lesson_add_text(&c->r, id, c->r.line)),
                                                .file = c->file.text,
                                                .section = lesson_text(c->section),
                                                .line = c->r.line,
                                                .first_part = (int)all->n_parts};
  for (int k = 0; k < CLAIM_TEXT_COUNT; k++) current(c)->filled[k] = "";
}

/* From this line up to the code, the next entry or section. */
static void read_keys(Reader *c, Piece line) {
  const int first = c->r.line;
  Piece body = line;
  while (c->r.rest.length && *c->r.rest.text != '#' && !piece_starts(c->r.rest, "```") &&
         lesson_next_line(&c->r, &line))
    body.length = (size_t)(line.text + line.length - body.text);
  lesson_read_keys(&c->r, KEYS, "an entry" LESSON_GOES_ON, current(c), body, first - 1);
}

static void read_code(Reader *c, Piece line) {
  const int begins = c->r.line;
  Piece code = {c->r.rest.text, 0};
  if (!piece_is(piece_trim(line), "```lua")) REFUSE(c, "only ```lua blocks may stand in an entry");
  if (!c->awaits_code) REFUSE(c, "this block computes nothing: put a '- claimed: ...' line before it");
  c->awaits_code = false;
  while (lesson_next_line(&c->r, &line)) {
    code.length = (size_t)(line.text - code.text);
    if (code.length > EXPRESSION_SOURCE_BYTES) REFUSE(c, "the block is longer than %d bytes", EXPRESSION_SOURCE_BYTES);
    if (!piece_starts(line, "```")) continue;
    if (code.length == 0) REFUSE(c, "the block is empty; write the expression that computes the value");
    c->claims->parts[c->claims->n_parts - 1].code = lesson_add_text(&c->r, code, begins + 1);
    return;
  }
  LESSON_REFUSE(&c->r, begins, "the block that begins here has no closing ```");
}

Status claims_read(Claims *claims, const char *buffer, size_t length, const char *file, Error *error) {
  const size_t n_entries = claims->n_entries, n_parts = claims->n_parts;
  const Quote name = quote_text(file);
  Error own = {0};
  Reader c = {
      .r = lesson_reader(name.text, &claims->pool, buffer, length, &own), .claims = claims, .n_before = n_entries};
  if (length > CLAIMS_FILE_BYTES)
    LESSON_REFUSE(&c.r, 1, "the file is %zu bytes long; at most %d are read", length, CLAIMS_FILE_BYTES);
  c.file = lesson_add_text(&c.r, (Piece){file, strlen(file)}, 0);
  for (Piece line; lesson_next_line(&c.r, &line);) {
    if (piece_starts(line, "## "))
      begin_entry(&c, piece_after(line, 3));
    else if (piece_starts(line, "# "))
      c.section = lesson_add_text(&c.r, piece_after(line, 2), c.r.line);
    else if (claims->n_entries > n_entries) /* not in the introduction */
      (piece_starts(line, "```") ? read_code : read_keys)(&c, line);
  }
  if (claims->n_entries == n_entries) REFUSE(&c, "no entries; one begins with a line '## ID'");
  finish_entry(&c);
  if (own.status) claims->n_entries = n_entries, claims->n_parts = n_parts;
  return error_pass(error, &own);
}

void claims_free(Claims *claims) {
  pool_free(&claims->pool);
  free(claims->entries);
  free(claims->parts);
  *claims = (Claims){0};
}

/* ---- Computing: from claimed value and code to verdict and texts ------------------------------------------------- */

/* A claimed value as a name that texts can use: in base units, as the computed one is. */
static ExpressionValue claimed_value(const Claimed *c) {
  ExpressionValue v = {0};
  switch (c->kind) {
  case CLAIMED_FLAG:
    v.kind = EXPRESSION_FLAG;
    v.flag = c->flag;
    return v;
  case CLAIMED_WORD:
    v.kind = EXPRESSION_TEXT;
    snprintf(v.text, sizeof v.text, "%s", c->text);
    return v;
  default: break;
  }
  v.kind = c->n == 1 ? EXPRESSION_NUMBER : EXPRESSION_LIST;
  v.n = c->n;
  for (int k = 0; k < c->n; k++) v.numbers[k] = (c->reciprocal ? 1 / c->numbers[k] : c->numbers[k]) * c->factor;
  return v;
}

/* Whether every printed number is that near the computed one. */
static bool is_within(const ClaimPart *part, double share) {
  bool within = part->claimed.kind == CLAIMED_NUMBERS && part->claimed.n == part->value.n;
  for (int k = 0; k < part->claimed.n && within; k++) {
    const double computed = verdict_in_unit(&part->claimed, &part->value, k);
    within = fabs(part->claimed.numbers[k] - computed) <= share * fabs(computed);
  }
  return within;
}

static void compute_part(const ClaimEntry *entry, ClaimPart *part, ExpressionScope *scope, Error *error) {
  const char *code = part->code.text;
  Error inner = {0};
  if (expression_scope_eval(scope, code, strlen(code), part->code.line, &part->value, error)) return;
  if (verdict_judge(&part->claimed, &part->value, &part->judgement, &inner))
    error_set(error, STATUS_BAD_FILE, "%s:%d: %s", entry->file, part->claimed_line, inner.message);
  if (entry->text[CLAIM_ROUNDS].text && part->judgement.verdict == VERDICT_WRONG && is_within(part, ROUNDED_WITHIN))
    part->judgement.verdict = VERDICT_ROUNDS;
}

static void compute_parts(Claims *claims, ClaimEntry *entry, ExpressionScope *scope, Error *error) {
  entry->verdict = VERDICT_HOLDS;
  for (int k = 0; k < entry->n_parts && !error->status; k++) {
    ClaimPart *part = &claims->parts[entry->first_part + k];
    compute_part(entry, part, scope, error);
    if (part->judgement.verdict > entry->verdict) entry->verdict = part->judgement.verdict;
    if (k > 0) continue;
    const ExpressionValue claimed = claimed_value(&part->claimed);
    expression_scope_set(scope, "claimed", &claimed, error);
    expression_scope_set(scope, "computed", &part->value, error);
  }
}

static void fill_texts(Claims *claims, ClaimEntry *entry, ExpressionScope *scope, Error *error) {
  char filled[CLAIMS_TEXT_BYTES];
  for (int k = 0; k < CLAIM_TEXT_COUNT; k++) {
    const LessonText text = entry->text[k];
    if (!text.text ||
        expression_scope_fill(scope, text.text, strlen(text.text), text.line, filled, sizeof filled, error))
      continue;
    lesson_one_line(filled);
    const char *kept = pool_add(&claims->pool, filled, strlen(filled));
    if (kept)
      entry->filled[k] = kept;
    else
      error_no_memory(error, "for the texts of %s", entry->id);
  }
}

Status claims_compute(Claims *claims, size_t index, const ExpressionLimits *limits, Error *error) {
  ClaimEntry *entry = &claims->entries[index];
  ExpressionLimits own = limits ? *limits : (ExpressionLimits){0};
  own.file = entry->file;
  ExpressionScope *scope;
  Error why = {0};
  if (!expression_scope_open(&scope, &own, &why)) {
    compute_parts(claims, entry, scope, &why);
    fill_texts(claims, entry, scope, &why);
  }
  expression_scope_close(scope);
  entry->is_computed = !why.status;
  return error_pass(error, &why);
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

size_t claims_find(const Claims *claims, const char *id, Error *error) {
  Nearest nearest = {.word = id};
  for (size_t k = 0; k < claims->n_entries; k++) {
    const char *known = claims->entries[k].id;
    if (strcmp(known, id) == 0) return k;
    nearest_offer(&nearest, known);
  }
  const Quote shown = quote_text(id);
  if (nearest.best)
    error_refuse(error, "there is no claim '%s'; did you mean '%s'?", shown.text, nearest.best);
  else
    error_refuse(error, "there is no claim '%s'; 'tilewalk lesson claims' lists them", shown.text);
  return claims->n_entries;
}

const ClaimPart *claims_part(const Claims *claims, const ClaimEntry *entry, int part) {
  return &claims->parts[entry->first_part + part];
}

/* ---- Why --------------------------------------------------------------------------------------------------------- */

static void put_sentence(char *text, size_t size, const char *sentence) {
  if (*sentence) text_add(text, size, "%s%s", *text ? " " : "", sentence);
}

/* What the rule alone says of a part that does not hold as printed. */
static void put_rule(const ClaimPart *part, char *text, size_t size) {
  char sentence[400], computed[256];
  verdict_computed_text(&part->claimed, &part->value, computed, sizeof computed);
  const char *unit = part->claimed.unit, *space = *unit ? " " : "";
  if (part->judgement.true_unit)
    snprintf(sentence, sizeof sentence, "Right in %s: %s %s = %s %s.", part->judgement.true_unit, part->claimed.text,
             part->judgement.true_unit, computed, unit);
  else if (part->judgement.verdict == VERDICT_ROUNDS)
    snprintf(sentence, sizeof sentence, "Off by one in the last digit: %s%s%s.", computed, space, unit);
  else
    snprintf(sentence, sizeof sentence, "Computed: %s%s%s.", computed, space, unit);
  put_sentence(text, size, sentence);
}

void claims_why(const Claims *claims, const ClaimEntry *entry, char *text, size_t size) {
  text[0] = '\0';
  const ClaimPart *part = claims_part(claims, entry, 0);
  const bool has_why = entry->text[CLAIM_WHY].text != NULL;
  if (entry->text[CLAIM_ROUNDS].text && entry->verdict == VERDICT_ROUNDS)
    put_sentence(text, size, entry->filled[CLAIM_ROUNDS]);
  else if (entry->verdict == VERDICT_ROUNDS || (entry->verdict != VERDICT_HOLDS && !has_why))
    put_rule(part, text, size);
  if (entry->verdict != VERDICT_HOLDS) put_sentence(text, size, entry->filled[CLAIM_WHY]);
  put_sentence(text, size, entry->filled[CLAIM_NOTE]);
}
