#include "lessons/engine/verdict.h"

#include <math.h>
#include <stdio.h>

#include "lessons/engine/answer.h"
#include "lessons/engine/quantity.h"
#include "sim/base/ascii.h"
#include "sim/base/text_add.h"

const char *verdict_name(Verdict verdict) {
  static const char *const names[VERDICT_COUNT] = {"holds", "rounds", "limit", "wrong"};
  return names[verdict];
}

/* ---- What is printed --------------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p) {
  while (*p == ' ' || *p == '\t') p++;
  return p;
}

/* Reads one number at *p into slot `k`; false when there is none. */
static bool read_number(const char **p, Claimed *claimed, int k) {
  Answer number;
  size_t length = strspn(*p, "0123456789.");
  if (length && (*p)[length - 1] == '.') length--; /* the end of a sentence */
  if (length == 0 || answer_parse(*p, length, &number, NULL)) return false;
  const char *point = memchr(*p, '.', length);
  claimed->numbers[k] = number.number;
  claimed->digits[k] = number.digits;
  claimed->decimals[k] = point ? (int)(length - 1 - (size_t)(point - *p)) : 0;
  *p += length;
  return true;
}

/* "4-8": the second number; "1/2000": the denominator. */
static Status read_second(const char **p, Claimed *c, Error *error) {
  const char sign = **p;
  (*p)++;
  if (sign == '/') {
    if (c->numbers[0] != 1 || !read_number(p, c, 0) || c->numbers[0] == 0)
      return error_refuse(error, "a fraction is written 1/2000, with 1 above");
    c->reciprocal = true;
    return STATUS_OK;
  }
  if (!read_number(p, c, 1)) return error_refuse(error, "a range is written 4-8");
  if (c->numbers[0] > c->numbers[1]) return error_refuse(error, "the range goes down; write the smaller number first");
  c->kind = CLAIMED_RANGE;
  c->n = 2;
  return STATUS_OK;
}

static Status read_unit(const char *p, Claimed *c, Error *error) {
  const size_t length = strlen(p);
  if (length >= CLAIMED_UNIT_BYTES || strchr(p, ' '))
    return error_refuse(error, "'%s' is no unit; write one word after the numbers", quote(p, length).text);
  memcpy(c->unit, p, length + 1);
  AnswerUnit unit = {.factor = 1};
  const Status status = answer_unit(c->unit, &unit, error);
  c->factor = unit.factor;
  return status;
}

static Status read_numbers(const char *p, Claimed *c, Error *error) {
  const char *const begin = p;
  Status status = STATUS_OK;
  while (!status && read_number(&p, c, c->n)) {
    c->n++;
    if (c->n == 1 && (*p == '-' || *p == '/')) {
      status = read_second(&p, c, error);
      break;
    }
    const char *const next = skip_blanks(p);
    if (*next != ',' && *next != ';') break;
    if (c->n == CLAIMED_NUMBERS_MAX) return error_refuse(error, "more than %d numbers", CLAIMED_NUMBERS_MAX);
    p = skip_blanks(next + 1);
    if (!ascii_is_digit(*p) && *p != '.') return error_refuse(error, "after the comma stands no number");
  }
  if (status) return status;
  if (c->n == 0) return error_refuse(error, "'%s' is no number that can be read", quote_text(begin).text);
  snprintf(c->text, sizeof c->text, "%.*s", (int)(p - begin), begin);
  return read_unit(skip_blanks(p), c, error);
}

Status claimed_parse(const char *text, Claimed *claimed, Error *error) {
  Claimed c = {.factor = 1};
  Status status = STATUS_OK;
  const char *p = skip_blanks(text);
  if (strlen(p) >= CLAIMED_TEXT_BYTES)
    return error_refuse(error, "the claimed value is %zu bytes long; at most %d are read", strlen(p),
                        CLAIMED_TEXT_BYTES - 1);
  if (!*p) return error_refuse(error, "there is no claimed value; write one, such as 67 MB");
  if (ascii_is_digit(*p) || *p == '.') {
    status = read_numbers(p, &c, error);
  } else {
    const bool is_true = strcmp(p, "true") == 0, is_false = strcmp(p, "false") == 0;
    c.kind = is_true || is_false ? CLAIMED_FLAG : CLAIMED_WORD;
    c.flag = is_true;
    snprintf(c.text, sizeof c.text, "%s", p);
  }
  if (!status) *claimed = c;
  return status;
}

/* ---- Judging ----------------------------------------------------------------------------------------------------- */

static double in_unit(const Claimed *c, double number, double factor) {
  const double scaled = number / factor;
  return c->reciprocal ? 1 / scaled : scaled;
}

double verdict_in_unit(const Claimed *claimed, const ExpressionValue *value, int k) {
  return in_unit(claimed, value->numbers[k], claimed->factor);
}

/* How many units of the last printed digit lie between printed and computed, once the latter is
 * rounded. */
static double steps_off(const Claimed *c, int k, double computed) {
  const double scale = pow(10, c->decimals[k]), printed = round(c->numbers[k] * scale), scaled = computed * scale;
  if (fabs(scaled - printed) <= 0.5 * (1 + 1e-9)) return 0; /* a tie may be rounded either way */
  return fabs(round(scaled) - printed);
}

static bool is_counted(const Claimed *c, int k, double computed) {
  return c->decimals[k] == 0 && c->factor == 1 && quantity_is_whole(computed);
}

static Verdict judge_number(const Claimed *c, int k, double computed) {
  const double off = steps_off(c, k, computed);
  if (off == 0) return VERDICT_HOLDS;
  if (off <= 1 && c->digits[k] >= 2 && !is_counted(c, k, computed)) return VERDICT_ROUNDS;
  return VERDICT_WRONG;
}

/* All numbers, in a unit of that factor: the worst verdict. */
static Verdict judge_list(const Claimed *c, const ExpressionValue *v, double factor) {
  Verdict worst = VERDICT_HOLDS;
  for (int k = 0; k < c->n; k++) {
    const Verdict verdict = judge_number(c, k, in_unit(c, v->numbers[k], factor));
    if (verdict > worst) worst = verdict;
  }
  return worst;
}

/* How far a number may lie from printed number k and still be rounded to it. */
static double slack(const Claimed *c, int k) { return 0.5 * pow(10, -c->decimals[k]) * (1 + 1e-9); }

/* Every computed number lies in the printed range; or the printed number in the computed one. */
static bool is_in_range(const Claimed *c, const ExpressionValue *v, double factor) {
  if (c->kind == CLAIMED_NUMBERS) {
    const double a = in_unit(c, v->numbers[0], factor), b = in_unit(c, v->numbers[1], factor), off = slack(c, 0);
    return c->numbers[0] >= fmin(a, b) - off && c->numbers[0] <= fmax(a, b) + off;
  }
  for (int k = 0; k < v->n; k++) {
    const double computed = in_unit(c, v->numbers[k], factor);
    if (computed < c->numbers[0] - slack(c, 0) || computed > c->numbers[1] + slack(c, 1)) return false;
  }
  return true;
}

/* True at every size: holds. True at the largest: a limit. */
static Verdict judge_series(const Claimed *c, const ExpressionValue *v, double factor) {
  bool always = true;
  for (int k = 0; k < v->n; k++)
    always = always && judge_number(c, 0, in_unit(c, v->numbers[k], factor)) == VERDICT_HOLDS;
  if (always) return VERDICT_HOLDS;
  const double last = in_unit(c, v->numbers[v->n - 1], factor);
  return judge_number(c, 0, last) == VERDICT_HOLDS ? VERDICT_LIMIT : VERDICT_WRONG;
}

static Verdict judge(const Claimed *c, const ExpressionValue *v, double factor) {
  const bool holds = c->kind == CLAIMED_FLAG   ? c->flag == v->flag
                     : c->kind == CLAIMED_WORD ? strcmp(c->text, v->text) == 0
                                               : is_in_range(c, v, factor);
  if (c->kind != CLAIMED_NUMBERS || v->kind == EXPRESSION_RANGE) return holds ? VERDICT_HOLDS : VERDICT_WRONG;
  return (v->kind == EXPRESSION_SERIES ? judge_series : judge_list)(c, v, factor);
}

static Status check_comparable(const Claimed *c, const ExpressionValue *v, Error *error) {
  static const char *const KINDS[] = {"nothing",           "true or false", "a number", "a text",
                                      "a list of numbers", "a range",       "a series"};
  const bool numbers = v->n > 0;
  const bool fits = c->kind == CLAIMED_FLAG                                       ? v->kind == EXPRESSION_FLAG
                    : c->kind == CLAIMED_WORD                                     ? v->kind == EXPRESSION_TEXT
                    : c->kind == CLAIMED_RANGE                                    ? numbers
                    : v->kind == EXPRESSION_RANGE || v->kind == EXPRESSION_SERIES ? c->n == 1
                                                                                  : numbers && c->n == v->n;
  if (fits) return STATUS_OK;
  if (c->kind == CLAIMED_NUMBERS && numbers)
    return error_refuse(error, "%d numbers are claimed and %d computed; they must be as many", c->n, v->n);
  const char *wanted = c->kind == CLAIMED_FLAG ? "true or false" : c->kind == CLAIMED_WORD ? "a text" : "a number";
  return error_refuse(error, "the claim '%s' needs %s, and the expression gives %s", c->text, wanted, KINDS[v->kind]);
}

Status verdict_judge(const Claimed *claimed, const ExpressionValue *value, Judgement *judgement, Error *error) {
  const Status status = check_comparable(claimed, value, error);
  if (status) return status;
  const char *sister = quantity_sister(claimed->unit);
  AnswerUnit unit;
  Judgement j = {judge(claimed, value, claimed->factor), NULL};
  const bool settled = j.verdict == VERDICT_HOLDS || j.verdict == VERDICT_LIMIT;
  if (!settled && sister && !answer_unit(sister, &unit, NULL) && judge(claimed, value, unit.factor) == VERDICT_HOLDS)
    j = (Judgement){VERDICT_ROUNDS, sister};
  *judgement = j;
  return STATUS_OK;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void put_number(const Claimed *c, double number, int decimals, bool plain_whole, char *text, size_t size) {
  char digits[64];
  if (quantity_is_whole(number) && plain_whole && fabs(number) < 1e15)
    snprintf(digits, sizeof digits, "%.0f", number);
  else
    quantity_fixed(number, c->reciprocal ? 0 : decimals, digits, sizeof digits);
  text_add(text, size, "%s%s", c->reciprocal ? "1/" : "", digits);
}

void verdict_computed_text(const Claimed *c, const ExpressionValue *v, char *text, size_t size) {
  text[0] = '\0';
  if (v->kind == EXPRESSION_FLAG)
    text_add(text, size, v->flag ? "true" : "false");
  else if (v->kind == EXPRESSION_TEXT)
    text_add(text, size, "%s", v->text);
  const bool ends = v->kind == EXPRESSION_RANGE || v->kind == EXPRESSION_SERIES;
  for (int k = 0; k < v->n; k++) {
    if (ends && k > 0 && k < v->n - 1) continue;
    if (k) text_add(text, size, ends ? " to " : ", ");
    const int own = k < c->n && c->kind == CLAIMED_NUMBERS ? k : 0;
    const int decimals = c->decimals[own] + (v->kind == EXPRESSION_SERIES ? 3 : 1);
    put_number(c, verdict_in_unit(c, v, k), decimals, ends || c->decimals[own] == 0, text, size);
  }
}
