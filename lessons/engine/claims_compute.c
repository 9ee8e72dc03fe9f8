/* From claimed value and code to verdict and texts. Part of lessons/engine/claims.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lessons/engine/claims.h"

#define ROUNDED_WITHIN 0.001 /* of an entry that says how its numbers were rounded */

/* A claimed value as a name that texts can use: in base units, as the computed one is. */
static ExpressionValue claimed_value(const Claimed *c) {
  ExpressionValue v = {0};
  const Unit *unit = unit_find(c->unit);
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
  for (int k = 0; k < c->n; k++)
    v.numbers[k] = (c->reciprocal ? 1 / c->numbers[k] : c->numbers[k]) * (unit ? unit->factor : 1);
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

static Status compute_part(const Claims *claims, const ClaimEntry *entry, ClaimPart *part, ExpressionScope *scope,
                           Error *error) {
  const char *code = pool_text(&claims->pool, part->code);
  Status status = expression_scope_eval(scope, code, strlen(code), part->code_line, &part->value, error);
  if (status) return status;
  Error inner = {0};
  status = verdict_judge(&part->claimed, &part->value, &part->judgement, &inner);
  if (status)
    return error_set(error, STATUS_BAD_FILE, "%s:%d: %s", pool_text(&claims->pool, entry->file), part->claimed_line,
                     inner.message);
  if (entry->text[CLAIM_ROUNDS] && part->judgement.verdict == VERDICT_WRONG && is_within(part, ROUNDED_WITHIN))
    part->judgement.verdict = VERDICT_ROUNDS;
  return STATUS_OK;
}

static Status compute_parts(Claims *claims, ClaimEntry *entry, ExpressionScope *scope, Error *error) {
  entry->verdict = VERDICT_HOLDS;
  for (int k = 0; k < entry->n_parts; k++) {
    ClaimPart *part = &claims->parts[entry->first_part + k];
    Status status = compute_part(claims, entry, part, scope, error);
    if (status) return status;
    if (part->judgement.verdict > entry->verdict) entry->verdict = part->judgement.verdict;
    if (k > 0) continue;
    const ExpressionValue claimed = claimed_value(&part->claimed);
    status = expression_scope_set(scope, "claimed", &claimed, error);
    if (!status) status = expression_scope_set(scope, "computed", &part->value, error);
    if (status) return status;
  }
  return STATUS_OK;
}

/* Line breaks and runs of blanks become one blank. */
static void into_one_line(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    const bool blank = *from == ' ' || *from == '\n' || *from == '\t';
    if (!blank)
      *to++ = *from;
    else if (to > text && to[-1] != ' ')
      *to++ = ' ';
  }
  while (to > text && to[-1] == ' ') to--;
  *to = '\0';
}

static Status fill_texts(Claims *claims, ClaimEntry *entry, ExpressionScope *scope, Error *error) {
  char filled[CLAIMS_TEXT_BYTES];
  for (int k = 0; k < CLAIM_TEXT_COUNT; k++) {
    if (!entry->text[k]) continue;
    const char *text = pool_text(&claims->pool, entry->text[k]);
    const Status status =
        expression_scope_fill(scope, text, strlen(text), entry->text_line[k], filled, sizeof filled, error);
    if (status) return status;
    into_one_line(filled);
    if (!pool_add(&claims->pool, filled, strlen(filled), &entry->filled[k]))
      return error_set(error, STATUS_NO_MEMORY, "no memory for the texts of %s", claims_id(claims, entry));
  }
  return STATUS_OK;
}

Status claims_compute(Claims *claims, size_t index, const ExpressionLimits *limits, Error *error) {
  ClaimEntry *entry = &claims->entries[index];
  char file[64];
  snprintf(file, sizeof file, "%s", pool_text(&claims->pool, entry->file));
  ExpressionLimits own = limits ? *limits : (ExpressionLimits){0};
  own.file = file;
  ExpressionScope *scope;
  Status status = expression_scope_open(&scope, &own, error);
  if (!status) status = compute_parts(claims, entry, scope, error);
  if (!status) status = fill_texts(claims, entry, scope, error);
  expression_scope_close(scope);
  entry->is_computed = !status;
  return status;
}

/* ---- Why --------------------------------------------------------------------------------------------------------- */

static void put_sentence(char *text, size_t size, const char *sentence) {
  const size_t used = strlen(text);
  if (!*sentence) return;
  snprintf(text + used, size - used, "%s%s", used ? " " : "", sentence);
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
  const bool has_why = entry->text[CLAIM_WHY] != 0;
  if (entry->text[CLAIM_ROUNDS] && entry->verdict == VERDICT_ROUNDS)
    put_sentence(text, size, claims_filled(claims, entry, CLAIM_ROUNDS));
  else if (entry->verdict == VERDICT_ROUNDS || (entry->verdict != VERDICT_HOLDS && !has_why))
    put_rule(part, text, size);
  if (entry->verdict != VERDICT_HOLDS) put_sentence(text, size, claims_filled(claims, entry, CLAIM_WHY));
  put_sentence(text, size, claims_filled(claims, entry, CLAIM_NOTE));
}
