#include "lessons/engine/answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lessons/engine/quantity.h"

#define KI 1024.0

/* Which questions a slip belongs to: a bit for each dimension. */
typedef enum {
  OF_ANY = -1,
  OF_BYTES = 1 << ANSWER_BYTES | 1 << ANSWER_BYTES_PER_S,
  OF_SECONDS = 1 << ANSWER_SECONDS,
  OF_SHARES = 1 << ANSWER_SHARE,
  OF_RATES = 1 << ANSWER_FLOP_PER_S | 1 << ANSWER_FLOP,
} Kind;

/* The typed value is `factor` times the right one, or the right one `factor` times the typed. "": no slip. */
typedef struct {
  Kind kind;
  double factor;
  const char *over, *under;
} Slip;

#define IN_THOUSANDS "You counted in thousands: KiB, MiB and GiB go in steps of 1,024."
#define IN_KI        "You counted in steps of 1,024: KB, MB and GB go in thousands."

/* In this order: the first that fits is told. */
static const Slip SLIPS[] = {
    {OF_SHARES, 100, "The digits are right, and the point is not: was that in percent?",
     "The digits are right, and the point is not: was that a share of 1, and not percent?"},
    {OF_BYTES, 8, "Those are bits. A byte has 8 of them.",
     "You divided by 8: bytes were asked for, and were there already."},
    {OF_BYTES, KI / 1e3, IN_THOUSANDS, IN_KI},
    {OF_BYTES, KI *KI / 1e6, IN_THOUSANDS, IN_KI},
    {OF_BYTES, KI *KI *KI / 1e9, IN_THOUSANDS, IN_KI},
    {OF_BYTES, 2, "That is twice as much. Did you count something twice, or take four bytes an element for two?",
     "That is half. Did you count elements, of two bytes each, or read without written?"},
    {OF_BYTES, 4, "That is four times as much. Is an element as large as you take it?",
     "That is a quarter. Did you count elements of four bytes?"},
    {OF_ANY, 2, "That is twice as much. Did you count something twice?",
     "That is half. Is there a factor of two that you left out?"},
    {OF_ANY, 10, "The digits are right: the point is one place too far right.",
     "The digits are right: the point is one place too far left."},
    {OF_ANY, 100, "The digits are right: the point is two places too far right.",
     "The digits are right: the point is two places too far left."},
    {OF_ANY, -1, "The sign is wrong.", ""},
};

static bool is_of(int kinds, const AnswerUnit *unit) { return kinds >> unit->dimension & 1; }

/* Whether the answer is right for what the right value becomes. */
static bool is_right_for(AnswerKey key, double value, const Answer *answer) {
  AnswerVerdict verdict;
  if (!isfinite(value) || value == key.value) return false;
  if (key.tolerance.kind == TOLERANCE_OFF && key.value != 0) key.tolerance.amount *= fabs(value / key.value);
  key.value = value;
  return answer_judge(&key, answer, &verdict, NULL) == STATUS_OK && verdict == ANSWER_RIGHT;
}

/* 31 for 32 is no slip between thousands and 1,024: two digits tell nothing of two percent. */
static bool is_precise(double factor, const Answer *answer) { return fabs(factor - 1) > 0.1 || answer->digits >= 3; }

static bool say(char *text, const char *what) {
  snprintf(text, ANSWER_NOTE_BYTES, "%s", what);
  return true;
}

static bool is_times(const AnswerKey *key, Kind kind, double factor, const Answer *answer) {
  return is_of(kind, &key->unit) && is_precise(factor, answer) && is_right_for(*key, factor * key->value, answer);
}

/* Up to `most` steps of a prefix too much or too little. */
static bool is_prefix(const AnswerKey *key, Kind kind, double step, int most, const Answer *answer, char *text) {
  static const char *const STEPS[] = {"", "one step", "two steps", "three steps", "four steps"};
  const char *such_as = kind == OF_BYTES ? ", such as GiB for MiB" : kind == OF_SECONDS ? ", such as ms for us" : "";
  for (int n = 1; n <= most; n++) {
    char times[64];
    const double factor = pow(step, n);
    const bool over = is_times(key, kind, factor, answer);
    if (!over && !is_times(key, kind, 1 / factor, answer)) continue;
    quantity_number(factor, times, sizeof times);
    snprintf(text, ANSWER_NOTE_BYTES, "That is %s times too %s: %s in the prefix%s.", times, over ? "much" : "little",
             STEPS[n], n == 1 ? such_as : "");
    return true;
  }
  return false;
}

/* A number without a unit, where a unit with a prefix is asked for: in base units it would be right. */
static bool is_in_base_units(const AnswerKey *key, const Answer *answer) {
  return !*answer->unit.name && key->unit.factor != 1 && is_of(OF_BYTES | OF_SECONDS | OF_RATES, &key->unit) &&
         is_right_for(*key, key->value * key->unit.factor, answer);
}

bool answer_slip(const AnswerKey *key, const Answer *answer, char text[ANSWER_NOTE_BYTES]) {
  const bool is_count = key->unit.dimension == ANSWER_PLAIN && quantity_is_whole(key->value);
  if (key->value == 0) return false;
  if (is_in_base_units(key, answer)) {
    static const char *const BASES[] = {"bytes", "seconds", "single FLOPs"};
    const char *base = BASES[is_of(OF_BYTES, &key->unit) ? 0 : is_of(OF_SECONDS, &key->unit) ? 1 : 2];
    snprintf(text, ANSWER_NOTE_BYTES, "Those are %s%s. The question asks for %s.", base,
             strchr(key->unit.name, '/') ? " a second" : "", key->unit.name);
    return true;
  }
  if (is_prefix(key, OF_BYTES, KI, 3, answer, text) || is_prefix(key, OF_SECONDS, 1e3, 3, answer, text)) return true;
  for (size_t k = 0; k < sizeof SLIPS / sizeof *SLIPS; k++) {
    const Slip *s = &SLIPS[k];
    if (is_times(key, s->kind, s->factor, answer)) return say(text, s->over);
    if (*s->under && is_times(key, s->kind, 1 / s->factor, answer)) return say(text, s->under);
  }
  if (is_prefix(key, OF_ANY, 1e3, 4, answer, text) || is_prefix(key, OF_ANY, KI, 1, answer, text)) return true;
  const double value = key->value;
  const bool is_share = is_of(OF_SHARES, &key->unit),
             is_ratio = key->unit.dimension != ANSWER_BYTES && key->unit.dimension != ANSWER_SECONDS;
  const struct {
    bool applies;
    double value;
    const char *says;
  } OTHERS[] = {
      {is_share && value > 0 && value < 1, 1 - value, "That is the share of the others: the two add up to 1."},
      {is_share && value > 1, value - 1, "That is how much more, and not how many times as much."},
      {is_ratio, key->unit.factor * key->unit.factor / value,
       "That is the other way up: which of the two do you divide by?"},
      {is_count, value + 1, "One too many. Do you count the first or the last one twice?"},
      {is_count, value - 1, "One too few. Do you leave out the first or the last one?"},
      {is_count, value * value, "You squared it: rows and columns, where one side was asked for."},
      {is_count && value > 3, sqrt(value), "That is one side. All have rows and columns: multiply the two sides."},
  };
  for (size_t k = 0; k < sizeof OTHERS / sizeof *OTHERS; k++)
    if (OTHERS[k].applies && is_right_for(*key, OTHERS[k].value, answer)) return say(text, OTHERS[k].says);
  return false;
}
