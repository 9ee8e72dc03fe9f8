/* The report of `tilewalk check` for programs: CSV and JSON. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "viz/cli/json_sink.h"
#include "viz/cli/articles.h"
#include "viz/text/table.h"

enum { CELL_BYTES = 512 };

static bool is_chosen(const bool *chosen, size_t k) { return !chosen || chosen[k]; }

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* Numbers with all their digits, in the claim's unit. */
static void exact_text(const ClaimPart *part, char text[CELL_BYTES]) {
  const ExpressionValue *v = &part->value;
  text[0] = '\0';
  if (v->n == 0) {
    verdict_computed_text(&part->claimed, v, text, CELL_BYTES);
    return;
  }
  for (int k = 0; k < v->n; k++) {
    const size_t used = strlen(text);
    const double number = verdict_in_unit(&part->claimed, v, k);
    snprintf(text + used, CELL_BYTES - used, "%s%.10g", k ? " " : "", part->claimed.reciprocal ? 1 / number : number);
  }
}

Status check_print_csv(const Claims *claims, const bool *chosen, FILE *out, Error *error) {
  Table table = table_new((TableColumn[]){{.heading = "id"},
                                          {.heading = "kind"},
                                          {.heading = "article"},
                                          {.heading = "claimed"},
                                          {.heading = "computed"},
                                          {.heading = "unit"},
                                          {.heading = "verdict"},
                                          {.heading = "says"},
                                          {.heading = "why"}},
                          9);
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!is_chosen(chosen, k)) continue;
    const ClaimPart *part = claims_part(claims, e, 0);
    char text[CELL_BYTES], why[CLAIMS_TEXT_BYTES];
    exact_text(part, text);
    claims_why(claims, e, why, sizeof why);
    table_text(&table, ROLE_PLAIN, claims_id(claims, e));
    table_text(&table, ROLE_PLAIN, e->is_question ? "question" : "claim");
    table_format(&table, ROLE_PLAIN, "%c", claims_article(claims, e));
    table_text(&table, ROLE_PLAIN, part->claimed.text);
    table_text(&table, ROLE_PLAIN, text);
    table_text(&table, ROLE_PLAIN, part->claimed.unit);
    table_text(&table, ROLE_PLAIN, verdict_name(e->verdict));
    table_text(&table, ROLE_PLAIN, claims_filled(claims, e, e->is_question ? CLAIM_ASKS : CLAIM_SAYS));
    table_text(&table, ROLE_PLAIN, e->is_question ? claims_filled(claims, e, CLAIM_EVIDENCE) : why);
  }
  const Status status = table_csv(&table, out, error);
  table_free(&table);
  return status;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *json_number(double value) {
  if (!isfinite(value)) return json_null();
  if (value == floor(value) && fabs(value) < 9e15) return json_integer((json_int_t)value);
  return json_real(value);
}

static json_t *append(json_t *array, json_t *value) {
  if (array && value && json_array_append_new(array, value) == 0) return array; /* takes `value`, also when it fails */
  if (!array) json_decref(value);
  json_decref(array);
  return NULL;
}

static json_t *json_pair(double at, double value) {
  return append(append(json_array(), json_number(at)), json_number(value));
}

/* As it is printed: 67, [6, 4, 6], "4-8", "1/2000", true, "N". */
static json_t *json_claimed(const Claimed *c) {
  if (c->kind == CLAIMED_FLAG) return json_boolean(c->flag);
  if (c->kind != CLAIMED_NUMBERS || c->reciprocal) return json_string(c->text);
  if (c->n == 1) return json_number(c->numbers[0]);
  json_t *list = json_array();
  for (int k = 0; k < c->n; k++) list = append(list, json_number(c->numbers[k]));
  return list;
}

/* In the claim's unit: a number, a list, {"low", "high"}, or [[size, value], ...] for a series. */
static json_t *json_computed(const ClaimPart *part) {
  const ExpressionValue *v = &part->value;
  double in_unit[EXPRESSION_NUMBERS_MAX];
  for (int k = 0; k < v->n; k++) {
    const double number = verdict_in_unit(&part->claimed, v, k);
    in_unit[k] = part->claimed.reciprocal ? 1 / number : number;
  }
  switch (v->kind) {
  case EXPRESSION_NONE: return json_null();
  case EXPRESSION_FLAG: return json_boolean(v->flag);
  case EXPRESSION_TEXT: return json_string(v->text);
  case EXPRESSION_NUMBER: return json_number(in_unit[0]);
  case EXPRESSION_RANGE:
    return json_pack("{s:o, s:o}", "low", json_number(in_unit[0]), "high", json_number(in_unit[1]));
  case EXPRESSION_LIST:
  case EXPRESSION_SERIES: break;
  }
  json_t *list = json_array();
  for (int k = 0; k < v->n; k++)
    list = append(list, v->kind == EXPRESSION_LIST ? json_number(in_unit[k]) : json_pair(v->at[k], in_unit[k]));
  return list;
}

static json_t *json_claim(const Claims *claims, const ClaimEntry *e) {
  char why[CLAIMS_TEXT_BYTES];
  claims_why(claims, e, why, sizeof why);
  const ClaimPart *part = claims_part(claims, e, 0);
  return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s}", "id", claims_id(claims, e), "verdict",
                   verdict_name(e->verdict), "claimed", json_claimed(&part->claimed), "computed", json_computed(part),
                   "unit", part->claimed.unit, "why", why, "article", claims_filled(claims, e, CLAIM_ARTICLE), "says",
                   claims_filled(claims, e, CLAIM_SAYS));
}

static json_t *json_part(const Claims *claims, const ClaimPart *part) {
  return json_pack("{s:s, s:s, s:o, s:o, s:s}", "part", pool_text(&claims->pool, part->name), "verdict",
                   verdict_name(part->judgement.verdict), "claimed", json_claimed(&part->claimed), "computed",
                   json_computed(part), "unit", part->claimed.unit);
}

static json_t *json_question(const Claims *claims, const ClaimEntry *e) {
  json_t *parts = json_array();
  for (int p = 0; p < e->n_parts; p++) parts = append(parts, json_part(claims, claims_part(claims, e, p)));
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "id", claims_id(claims, e), "asks",
                   claims_filled(claims, e, CLAIM_ASKS), "answer", claims_filled(claims, e, CLAIM_ANSWER),
                   "article_says", claims_filled(claims, e, CLAIM_ARTICLE_SAYS), "verdict", verdict_name(e->verdict),
                   "evidence", claims_filled(claims, e, CLAIM_EVIDENCE), "parts", parts);
}

Status check_print_json(const Claims *claims, const bool *chosen, FILE *out, Error *error) {
  json_t *list = json_array(), *questions = json_array();
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!is_chosen(chosen, k)) continue;
    if (e->is_question)
      questions = append(questions, json_question(claims, e));
    else
      list = append(list, json_claim(claims, e));
  }
  return json_print_digits(json_pack("{s:o, s:o}", "claims", list, "questions", questions), 15, out, error);
}
