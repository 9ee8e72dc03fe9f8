/* Whether an answer is right; choices and orders. Part of lessons/engine/answer.h. The rule for numbers:
 *
 *     1. The answer in three digits is right, but where `exact` is stated; in two where no tolerance is. Fewer than
 *        10,000 things are counted exactly, more of them in three digits.
 *     2. A comma is a decimal sign where only that is right.
 *     3. A number that the explanation prints, and that is the answer in its own digits, is right.
 *     4. A known mistake wins when it is nearer than the answer; of several, the nearest. */
#include <math.h>
#include <stdio.h>

#include "lessons/engine/answer.h"
#include "lessons/engine/quantity.h"
#include "sim/base/ascii.h"
#include "sim/base/pieces.h"

enum { DIGITS_SHORT = 2, DIGITS_ENOUGH = 3, DIGITS_MOST = 15, COUNTED_BELOW = 10000 };
#define NEAR_PART 0.05

/* ---- Tolerance */

Status answer_tolerance(const char *text, AnswerTolerance *tolerance, Error *error) {
  Answer amount;
  if (strcmp(text, "exact") == 0) {
    *tolerance = (AnswerTolerance){.kind = TOLERANCE_EXACT};
    return STATUS_OK;
  }
  const Status status = answer_parse(text, strlen(text), &amount, NULL);
  const bool percent = !status && strcmp(amount.unit.name, "%") == 0;
  if (status || (*amount.unit.name && !percent) || !(amount.number > 0) || (percent && amount.number >= 100))
    return error_refuse(error,
                        "'%s' is no tolerance; write exact, a part such as 1%%, or an amount such as "
                        "0.01",
                        quote_text(text).text);
  tolerance->kind = percent ? TOLERANCE_PART : TOLERANCE_OFF;
  tolerance->amount = percent ? amount.number / 100 : amount.number;
  return STATUS_OK;
}

/* ---- Units that go together */

/* How many letters of a word for several things name one of them: loads, 4; launches, 6. */
static size_t singular(const char *word, size_t length) {
  static const char *const ENDINGS[] = {"ches", "shes", "sses", "xes"};
  for (size_t k = 0; k < sizeof ENDINGS / sizeof *ENDINGS; k++) {
    const size_t n = strlen(ENDINGS[k]);
    if (length > n && memcmp(word + length - n, ENDINGS[k], n) == 0) return length - 2;
  }
  return length > 1 && word[length - 1] == 's' && word[length - 2] != 's' ? length - 1 : length;
}

/* "1 launch" and "12 Launches in all" are both of launches. */
static bool same_thing(const char *a, const char *b) {
  const size_t n = singular(a, strcspn(a, " "));
  return n >= 1 && n == singular(b, strcspn(b, " ")) && ascii_same_n(a, b, n);
}

static Status check_units(const AnswerKey *key, const Answer *answer, Error *error) {
  const AnswerUnit *wanted = &key->unit, *given = &answer->unit;
  if (!*given->name) return STATUS_OK;
  const bool rates = (wanted->dimension == ANSWER_FLOP || wanted->dimension == ANSWER_FLOP_PER_S) &&
                     (strstr(given->name, "lops") || strstr(given->name, "LOPS"));
  const bool word = wanted->dimension == ANSWER_PLAIN && given->dimension == ANSWER_PLAIN;
  const bool times =
      wanted->dimension == ANSWER_PLAIN && given->dimension == ANSWER_SHARE && (given->factor == 1 || !*wanted->name);
  if (rates || times || (word && (!*wanted->name || same_thing(wanted->name, given->name)))) return STATUS_OK;
  if (wanted->dimension == given->dimension && !word) return STATUS_OK;
  if (!*wanted->name)
    return error_refuse(error, "the answer is a plain number, without a unit; '%s' is too much",
                        quote_text(given->name).text);
  return error_refuse(error, "the question is about %s, and you wrote %s", wanted->name, quote_text(given->name).text);
}

/* ---- Judging */

static double factor_of(const AnswerKey *key, const Answer *answer) {
  const bool own = *answer->unit.name && answer->unit.dimension != ANSWER_PLAIN;
  if (!own && answer->is_fraction && key->unit.dimension == ANSWER_SHARE && !*answer->unit.name)
    return 1; /* 7/16 is a share already */
  return own ? answer->unit.factor : key->unit.factor;
}

double answer_value(const AnswerKey *key, const Answer *answer) { return answer->number * factor_of(key, answer); }

static bool is_equal(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

/* Few things are counted one by one: no rounding, unless the question allows it. */
static bool is_plain_count(const AnswerKey *key) {
  return key->unit.dimension == ANSWER_PLAIN && quantity_is_whole(key->value);
}
static bool is_counted(const AnswerKey *key) { return is_plain_count(key) && fabs(key->value) < COUNTED_BELOW; }

static bool within_tolerance(const AnswerKey *key, double value) {
  const AnswerTolerance *t = &key->tolerance;
  const double amount = t->kind == TOLERANCE_OFF    ? t->amount * key->unit.factor
                        : t->kind == TOLERANCE_PART ? t->amount * fabs(key->value)
                                                    : 0,
               low = key->value - amount, high = key->value + amount;
  return (value >= low && value <= high) || is_equal(value, low) || is_equal(value, high);
}

/* Whether a number is a value rounded to so many digits, either way where it lies half-way. */
static bool is_rounded(double number, double value, int digits) {
  if (value == 0 || !isfinite(value)) return false;
  const double place = pow(10, floor(log10(fabs(value)) + 1e-12) - digits + 1);
  return quantity_is_whole(number / place) && fabs(number - value) <= 0.5 * place * (1 + 1e-9);
}

/* In how many digits the number is the value; 0: in none. As many as were typed, or three, where 2.1 is 2.10. */
static int digits_right(const AnswerKey *key, const Answer *answer, double factor) {
  const double number = answer->number, value = key->value / factor;
  if (answer->slack == 0) return 0; /* worked out, not rounded */
  for (int n = answer->digits < DIGITS_MOST ? answer->digits : DIGITS_MOST; n >= DIGITS_ENOUGH; n--)
    if (is_rounded(number, value, n)) return n;
  for (int n = DIGITS_ENOUGH; n > 0; n--)
    if ((n <= answer->digits || n == DIGITS_ENOUGH) && is_rounded(number, value, n)) return n;
  return 0;
}

/* With the factor by which the typed number is taken to base units. */
static AnswerVerdict judge(const AnswerKey *key, const Answer *answer, double factor) {
  if (within_tolerance(key, answer->number * factor)) return ANSWER_RIGHT;
  if (key->tolerance.kind == TOLERANCE_EXACT || is_counted(key)) return ANSWER_WRONG;
  const int n = digits_right(key, answer, factor);
  const bool is_short = key->tolerance.kind == TOLERANCE_DIGITS && !is_plain_count(key);
  return n >= (is_short ? DIGITS_SHORT : DIGITS_ENOUGH) ? ANSWER_RIGHT : n ? ANSWER_ROUGH : ANSWER_WRONG;
}

/* 0.4375 for 43.75 % */
static bool is_bare_share(const AnswerKey *key, const Answer *answer) {
  return !*answer->unit.name && key->unit.dimension == ANSWER_SHARE && key->unit.factor != 1 &&
         fabs(answer->number) <= 1 && judge(key, answer, 1) == ANSWER_RIGHT;
}

Status answer_judge(const AnswerKey *key, const Answer *answer, AnswerVerdict *verdict, Error *error) {
  const Status status = check_units(key, answer, error);
  if (status) return status;
  const double factor = factor_of(key, answer), value = answer->number * factor;
  AnswerVerdict v = judge(key, answer, factor);
  if (v != ANSWER_RIGHT && is_bare_share(key, answer)) v = ANSWER_RIGHT;
  const AnswerUnit *unit = *answer->unit.name ? &answer->unit : &key->unit;
  if (v == ANSWER_WRONG && unit->sister != 0 && *answer->unit.name && judge(key, answer, unit->sister) == ANSWER_RIGHT)
    v = ANSWER_OTHER_UNIT;
  if (v == ANSWER_WRONG && !is_counted(key) && fabs(value - key->value) <= NEAR_PART * fabs(key->value))
    v = ANSWER_NEAR;
  *verdict = v;
  return STATUS_OK;
}

/* ---- Against known mistakes, and what the explanation prints */

static double distance(const AnswerKey *key, const Answer *answer) {
  return fabs(answer->number * (is_bare_share(key, answer) ? 1 : factor_of(key, answer)) - key->value);
}

/* The nearest known mistake that this is, within the tolerance or rounded; -1. */
static int find_mistake(const AnswerKey *key, const AnswerMistakes *mistakes, const Answer *answer, double *nearest) {
  int found = -1;
  for (int k = 0; k < mistakes->n; k++) {
    AnswerKey wrong = *key;
    AnswerVerdict verdict, rounded = ANSWER_WRONG;
    wrong.value = mistakes->value[k];
    if (!isfinite(wrong.value) || answer_judge(&wrong, answer, &verdict, NULL)) continue;
    if (wrong.tolerance.kind != TOLERANCE_EXACT) {
      wrong.tolerance.kind = TOLERANCE_DIGITS;
      answer_judge(&wrong, answer, &rounded, NULL);
    }
    const double off = distance(&wrong, answer);
    if ((verdict == ANSWER_RIGHT || rounded == ANSWER_RIGHT) && (found < 0 || off < *nearest))
      found = k, *nearest = off;
  }
  return found;
}

/* Whether a text prints this number, and it is the answer in the digits printed. */
static bool is_printed(const AnswerKey *key, const Answer *answer, const char *text) {
  const double factor = factor_of(key, answer);
  for (const char *p = text; *p;) {
    const bool begins = ascii_is_digit(*p) && (p == text || !strchr("^._,", p[-1]));
    size_t length = begins ? strspn(p, "0123456789.,") : 1;
    while (begins && !ascii_is_digit(p[length - 1])) length--;
    Answer printed;
    if (begins && !answer_parse(p, length, &printed, NULL) && is_equal(printed.number, answer->number) &&
        printed.digits >= DIGITS_SHORT && !is_counted(key) &&
        is_rounded(printed.number, key->value / factor, printed.digits))
      return true;
    p += length;
  }
  return false;
}

/* Judges one way to read a text. */
static Status grade(const AnswerKey *key, const AnswerMistakes *mistakes, const char *explains, const char *text,
                    AnswerGrade *g, Error *error) {
  double nearest = 0;
  *g = (AnswerGrade){.mistake = -1};
  Status status = answer_parse(text, strlen(text), &g->typed, error);
  if (!status) status = answer_judge(key, &g->typed, &g->verdict, error);
  if (status) return status;
  if (g->verdict != ANSWER_RIGHT && is_printed(key, &g->typed, explains)) g->verdict = ANSWER_RIGHT;
  g->mistake = find_mistake(key, mistakes, &g->typed, &nearest);
  if (g->verdict == ANSWER_RIGHT && nearest >= distance(key, &g->typed)) g->mistake = -1;
  if (g->mistake >= 0) g->verdict = ANSWER_WRONG;
  return STATUS_OK;
}

Status answer_grade(const AnswerKey *key, const AnswerMistakes *mistakes, const char *explains, const char *text,
                    AnswerGrade *g, Error *error) {
  char other[ANSWER_TEXT_BYTES];
  AnswerGrade decimal;
  const Status status = grade(key, mistakes, explains, text, g, error);
  const char *comma = strchr(text, ',');
  if (status || g->verdict == ANSWER_RIGHT || g->mistake >= 0) return status;
  if (!comma || strchr(comma + 1, ',') || strchr(text, '.') || strlen(text) >= sizeof other) return status;
  snprintf(other, sizeof other, "%s", text);
  other[comma - text] = '.';
  if (grade(key, mistakes, explains, other, &decimal, NULL) || decimal.verdict != ANSWER_RIGHT) return status;
  *g = decimal;
  snprintf(g->typed.note, sizeof g->typed.note,
           "The comma in %s was read as the decimal sign; Tilewalk writes a point.", quote_text(text).text);
  return STATUS_OK;
}

void answer_text(const AnswerKey *key, double value, char *text, size_t size) {
  char number[64];
  quantity_number(value / key->unit.factor, number, sizeof number);
  const bool close = strcmp(key->unit.name, "x") == 0;
  size_t length = strlen(key->unit.name);
  if (strcmp(number, "1") == 0 && key->unit.dimension == ANSWER_PLAIN) length = singular(key->unit.name, length);
  snprintf(text, size, "%s%s%.*s", number, *key->unit.name && !close ? " " : "", (int)length, key->unit.name);
}

/* ---- Choices */

static bool same_text(const char *a, size_t length, const char *b) {
  return strlen(b) == length && ascii_same_n(a, b, length);
}

static int find_choice(const AnswerChoices *c, const char *text, size_t length) {
  for (int k = 0; k < c->n; k++)
    if (same_text(text, length, c->key[k]) || same_text(text, length, c->text[k])) return k;
  const int letter = length == 1 ? ascii_lower(text[0]) - 'a' : -1;
  return letter >= 0 && letter < c->n ? letter : -1;
}

static const char *next_word(const char *p, size_t *length) {
  p += strspn(p, " \t\r\n\v\f,;()<>.");
  *length = strcspn(p, " \t\r\n,;()<>.");
  return p;
}

Status answer_choice(const AnswerChoices *choices, const char *text, int *chosen, Error *error) {
  const Piece p = piece_trim((Piece){text, strlen(text)});
  int k = find_choice(choices, p.text, p.length);
  size_t word = 0;
  const char *first = next_word(p.text, &word);
  const char *behind = first + word;
  if (k < 0 && behind + strspn(behind, " ).,") >= p.text + p.length) k = find_choice(choices, first, word);
  if (k < 0)
    return error_refuse(error, "'%s' is none of the choices; type a letter from a to %c", piece_quote(p).text,
                        'a' + choices->n - 1);
  *chosen = k;
  return STATUS_OK;
}

/* "bac": every letter an item. */
static bool all_letters(const AnswerChoices *c, const char *word, size_t length, int *order) {
  if ((int)length != c->n) return false;
  for (int k = 0; k < c->n; k++) {
    order[k] = ascii_lower(word[k]) - 'a';
    if (order[k] < 0 || order[k] >= c->n) return false;
  }
  return true;
}

Status answer_order(const AnswerChoices *choices, const char *text, int *order, Error *error) {
  size_t length = 0;
  const char *p = next_word(text, &length);
  int n = 0;
  size_t after = 0;
  if (!*next_word(p + length, &after) && all_letters(choices, p, length, order)) {
    n = choices->n;
  } else {
    for (; *p; p = next_word(p + length, &length)) {
      const int k = find_choice(choices, p, length);
      if (k < 0)
        return error_refuse(error, "'%s' is none of the items; type their letters, such as %s", quote(p, length).text,
                            choices->n > 2 ? "b a c" : "b a");
      if (n == choices->n) return error_refuse(error, "there are only %d items", choices->n);
      order[n++] = k;
    }
  }
  bool seen[ANSWER_CHOICES_MAX] = {false};
  for (int k = 0; k < n; k++) {
    if (seen[order[k]]) return error_refuse(error, "%c stands there twice; each item has one place", 'a' + order[k]);
    seen[order[k]] = true;
  }
  if (n < choices->n)
    return error_refuse(error, "%d of the %d items are there; put all of them in order", n, choices->n);
  return STATUS_OK;
}
