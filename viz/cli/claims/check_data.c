/* The report of `tilewalk lesson claims` for programs: CSV and JSON. */
#include <math.h>
#include <string.h>

#include "viz/cli/claims/articles.h"

enum { CELL_BYTES = 512 };

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* The k-th number in the claim's unit. */
static double number_of_part(const ClaimPart *part, int k) {
  const double number = verdict_in_unit(&part->claimed, &part->value, k);
  return part->claimed.reciprocal ? 1 / number : number;
}

/* Numbers with all their digits. */
static void exact_text(const ClaimPart *part, char text[CELL_BYTES]) {
  const ExpressionValue *v = &part->value;
  size_t used = 0;
  if (v->n == 0) verdict_computed_text(&part->claimed, v, text, CELL_BYTES);
  for (int k = 0; k < v->n && used < CELL_BYTES; k++)
    used += (size_t)snprintf(text + used, CELL_BYTES - used, "%s%.10g", k ? " " : "", number_of_part(part, k));
}

static void add_lines(Document *d, const Claims *claims, const bool *chosen) {
  Table *t = put_table(d, DOCUMENT_CSV, NULL, ";id|;kind|;article|;claimed|;computed|;unit|;verdict|;says|;why");
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!chosen[k]) continue;
    const ClaimPart *part = claims_part(claims, e, 0);
    char text[CELL_BYTES], why[CLAIMS_TEXT_BYTES];
    exact_text(part, text);
    claims_why(claims, e, why, sizeof why);
    put_cells(t, "sssssssss", e->id, e->is_question ? "question" : "claim",
              (char[]){*e->text[CLAIM_ARTICLE].text, '\0'}, part->claimed.text, text, part->claimed.unit,
              verdict_name(e->verdict), e->filled[e->is_question ? CLAIM_ASKS : CLAIM_SAYS],
              e->is_question ? e->filled[CLAIM_EVIDENCE] : why);
  }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_number(Document *d, const char *key, double value) {
  if (isfinite(value) && value == floor(value) && fabs(value) < 9e15)
    put_values(d, "%:i", key, (int64_t)value);
  else
    put_values(d, "%:f", key, value);
}

/* As it is printed: 67, [6, 4, 6], "4-8", "1/2000", true, "N". */
static void put_claimed(Document *d, const Claimed *c) {
  if (c->kind == CLAIMED_FLAG) {
    put_values(d, "claimed:b", c->flag);
  } else if (c->kind != CLAIMED_NUMBERS || c->reciprocal) {
    put_values(d, "claimed:s", c->text);
  } else if (c->n == 1) {
    put_number(d, "claimed", c->numbers[0]);
  } else {
    put_values(d, "claimed[");
    for (int k = 0; k < c->n; k++) put_number(d, NULL, c->numbers[k]);
    put_end(d);
  }
}

/* Many numbers in the claim's unit: a list, {"low", "high"}, or [[size, value], ...] for a series. */
static void put_many(Document *d, const ClaimPart *part) {
  const ExpressionValue *v = &part->value;
  const bool is_range = v->kind == EXPRESSION_RANGE, is_series = v->kind == EXPRESSION_SERIES;
  put_values(d, is_range ? "computed{" : "computed[");
  for (int k = 0; k < v->n; k++) {
    if (is_series) put_values(d, "[");
    if (is_series) put_number(d, NULL, v->at[k]);
    put_number(d, !is_range ? NULL : k ? "high" : "low", number_of_part(part, k));
    if (is_series) put_end(d);
  }
  put_end(d);
}

static void put_computed(Document *d, const ClaimPart *part) {
  const ExpressionValue *v = &part->value;
  switch (v->kind) {
  case EXPRESSION_NONE: put_values(d, "computed:0"); return;
  case EXPRESSION_FLAG: put_values(d, "computed:b", v->flag); return;
  case EXPRESSION_TEXT: put_values(d, "computed:s", v->text); return;
  case EXPRESSION_NUMBER: put_number(d, "computed", number_of_part(part, 0)); return;
  default: put_many(d, part);
  }
}

static void put_part(Document *d, const ClaimPart *part) {
  put_claimed(d, &part->claimed);
  put_computed(d, part);
  put_values(d, "unit:s", part->claimed.unit);
}

static void put_claim(Document *d, const Claims *claims, const ClaimEntry *e) {
  char why[CLAIMS_TEXT_BYTES];
  claims_why(claims, e, why, sizeof why);
  put_values(d, "{id:s verdict:s", e->id, verdict_name(e->verdict));
  put_part(d, claims_part(claims, e, 0));
  put_values(d, "why:s article:s says:s}", why, e->filled[CLAIM_ARTICLE], e->filled[CLAIM_SAYS]);
}

static void put_question(Document *d, const Claims *claims, const ClaimEntry *e) {
  put_values(d, "{id:s asks:s answer:s article_says:s verdict:s evidence:s parts[", e->id, e->filled[CLAIM_ASKS],
             e->filled[CLAIM_ANSWER], e->filled[CLAIM_ARTICLE_SAYS], verdict_name(e->verdict),
             e->filled[CLAIM_EVIDENCE]);
  for (int p = 0; p < e->n_parts; p++) {
    const ClaimPart *part = claims_part(claims, e, p);
    put_values(d, "{part:s verdict:s", part->name, verdict_name(part->judgement.verdict));
    put_part(d, part);
    put_end(d);
  }
  put_values(d, "]}");
}

void check_fill(Document *d, const Claims *claims, const bool *chosen) {
  d->digits = 15;
  for (int questions = 0; questions < 2; questions++) {
    put_values(d, questions ? "questions[" : "claims[");
    for (size_t k = 0; k < claims->n_entries; k++) {
      if (!chosen[k] || claims->entries[k].is_question != questions) continue;
      if (questions)
        put_question(d, claims, &claims->entries[k]);
      else
        put_claim(d, claims, &claims->entries[k]);
    }
    put_end(d);
  }
  add_lines(d, claims, chosen);
}
