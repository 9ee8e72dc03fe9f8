#include "lessons/engine/answer_slip.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lessons/engine/quantity.h"

#define KI 1024.0

/* Which questions a slip belongs to. */
typedef enum { OF_ANY = 0, OF_BYTES, OF_SECONDS, OF_SHARES, OF_RATES } Kind;

/* The typed value is `factor` times the right one. */
typedef struct {
  Kind kind;
  double factor;
  const char *text;
} Slip;

/* In this order: the first that fits is told. */
static const Slip SLIPS[] = {
    {OF_SHARES, 100, "The digits are right, and the point is not: was that in percent?"},
    {OF_SHARES, 1 / 100.0, "The digits are right, and the point is not: was that a share of 1, and not percent?"},
    {OF_BYTES, 8, "Those are bits. A byte has 8 of them."},
    {OF_BYTES, 1 / 8.0, "You divided by 8: bytes were asked for, and were there already."},
    {OF_BYTES, KI, "That is 1,024 times too much: one step in the prefix, such as GiB for MiB."},
    {OF_BYTES, 1 / KI, "That is 1,024 times too little: one step in the prefix, such as KiB for MiB."},
    {OF_BYTES, KI *KI, "That is 1,024 x 1,024 times too much: two steps in the prefix."},
    {OF_BYTES, 1 / (KI * KI), "That is 1,024 x 1,024 times too little: two steps in the prefix."},
    {OF_BYTES, KI *KI *KI, "That is 1,024 x 1,024 x 1,024 times too much: are those bytes, and GiB were asked for?"},
    {OF_BYTES, 1 / (KI * KI * KI), "That is 1,024 x 1,024 x 1,024 times too little: three steps in the prefix."},
    {OF_BYTES, KI / 1000, "You counted in thousands: KiB, MiB and GiB go in steps of 1,024."},
    {OF_BYTES, 1000 / KI, "You counted in steps of 1,024: KB, MB and GB go in thousands."},
    {OF_BYTES, KI *KI / 1e6, "You counted in thousands: KiB, MiB and GiB go in steps of 1,024."},
    {OF_BYTES, 1e6 / (KI * KI), "You counted in steps of 1,024: KB, MB and GB go in thousands."},
    {OF_BYTES, KI *KI *KI / 1e9, "You counted in thousands: KiB, MiB and GiB go in steps of 1,024."},
    {OF_BYTES, 1e9 / (KI * KI * KI), "You counted in steps of 1,024: KB, MB and GB go in thousands."},
    {OF_BYTES, 1 / 2.0, "That is half. Did you count elements, of two bytes each, or read without written?"},
    {OF_BYTES, 2, "That is twice as much. Did you count something twice, or take four bytes an element for two?"},
    {OF_BYTES, 1 / 4.0, "That is a quarter. Did you count elements of four bytes?"},
    {OF_BYTES, 4, "That is four times as much. Is an element as large as you take it?"},
    {OF_SECONDS, 1e3, "That is a thousand times too long: one step in the prefix, such as ms for us."},
    {OF_SECONDS, 1e-3, "That is a thousand times too short: one step in the prefix, such as ns for us."},
    {OF_SECONDS, 1e6, "That is a million times too long: two steps in the prefix."},
    {OF_SECONDS, 1e-6, "That is a million times too short: two steps in the prefix."},
    {OF_SECONDS, 1e9, "That is 10^9 times too long: three steps in the prefix."},
    {OF_SECONDS, 1e-9, "That is 10^9 times too short: three steps in the prefix."},
    {OF_ANY, 2, "That is twice as much. Did you count something twice?"},
    {OF_ANY, 1 / 2.0, "That is half. Is there a factor of two that you left out?"},
    {OF_ANY, 10, "The digits are right: the point is one place too far right."},
    {OF_ANY, 1 / 10.0, "The digits are right: the point is one place too far left."},
    {OF_ANY, 100, "The digits are right: the point is two places too far right."},
    {OF_ANY, 1 / 100.0, "The digits are right: the point is two places too far left."},
    {OF_ANY, 1e3, "That is a thousand times too much: a prefix, such as G for M?"},
    {OF_ANY, 1e-3, "That is a thousand times too little: a prefix, such as M for G?"},
    {OF_ANY, 1e6, "That is a million times too much: two steps in the prefix."},
    {OF_ANY, 1e-6, "That is a million times too little: two steps in the prefix."},
    {OF_ANY, 1e9, "That is 10^9 times too much: three steps in the prefix."},
    {OF_ANY, 1e-9, "That is 10^9 times too little: three steps in the prefix."},
    {OF_ANY, 1e12, "That is 10^12 times too much: four steps in the prefix."},
    {OF_ANY, 1e-12, "That is 10^12 times too little: four steps in the prefix."},
    {OF_ANY, KI, "That is 1,024 times too much: one step in the prefix."},
    {OF_ANY, 1 / KI, "That is 1,024 times too little: one step in the prefix."},
    {OF_ANY, -1, "The sign is wrong."},
};

static bool is_of(Kind kind, const AnswerUnit *unit) {
  switch (kind) {
  case OF_BYTES: return unit->dimension == ANSWER_BYTES || unit->dimension == ANSWER_BYTES_PER_S;
  case OF_SECONDS: return unit->dimension == ANSWER_SECONDS;
  case OF_SHARES: return unit->dimension == ANSWER_SHARE;
  case OF_RATES: return unit->dimension == ANSWER_FLOP_PER_S || unit->dimension == ANSWER_FLOP;
  default: return true;
  }
}

/* Whether the answer is right for what the right value becomes. The bounds of a range keep their order. */
static bool is_right_for(AnswerKey key, double low, double high, const Answer *answer) {
  AnswerVerdict verdict;
  if (!isfinite(low) || !isfinite(high) || (low == key.low && high == key.high)) return false;
  if (key.tolerance.kind == TOLERANCE_OFF && key.low != 0) key.tolerance.amount *= fabs(low / key.low);
  key.low = fmin(low, high);
  key.high = fmax(low, high);
  return answer_judge(&key, answer, &verdict, NULL) == STATUS_OK && verdict == ANSWER_RIGHT;
}

/* 31 for 32 is no slip between thousands and 1,024: two digits tell nothing of two percent. */
static bool is_precise(double factor, const Answer *answer) { return fabs(factor - 1) > 0.1 || answer->digits >= 3; }

static bool say(char *text, const char *what) {
  snprintf(text, ANSWER_NOTE_BYTES, "%s", what);
  return true;
}

/* A number without a unit, where a unit with a prefix is asked for: in base units it would be right. */
static bool is_in_base_units(const AnswerKey *key, const Answer *answer) {
  return !*answer->unit.name && key->unit.factor != 1 &&
         (is_of(OF_BYTES, &key->unit) || is_of(OF_SECONDS, &key->unit) || is_of(OF_RATES, &key->unit)) &&
         is_right_for(*key, key->low * key->unit.factor, key->high * key->unit.factor, answer);
}

bool answer_slip(const AnswerKey *key, const Answer *answer, char text[ANSWER_NOTE_BYTES]) {
  const bool is_count = key->unit.dimension == ANSWER_PLAIN && quantity_is_whole(key->low) && key->low == key->high;
  if (key->low == 0 && key->high == 0) return false;
  if (is_in_base_units(key, answer)) {
    static const char *const BASES[] = {"bytes", "seconds", "single FLOPs"};
    const char *base = BASES[is_of(OF_BYTES, &key->unit) ? 0 : is_of(OF_SECONDS, &key->unit) ? 1 : 2];
    snprintf(text, ANSWER_NOTE_BYTES, "Those are %s%s. The question asks for %s.", base,
             strchr(key->unit.name, '/') ? " a second" : "", key->unit.name);
    return true;
  }
  for (size_t k = 0; k < sizeof SLIPS / sizeof *SLIPS; k++)
    if (is_of(SLIPS[k].kind, &key->unit) && is_precise(SLIPS[k].factor, answer) &&
        is_right_for(*key, SLIPS[k].factor * key->low, SLIPS[k].factor * key->high, answer))
      return say(text, SLIPS[k].text);
  if (is_of(OF_SHARES, &key->unit) && key->low > 0 && key->high < 1 &&
      is_right_for(*key, 1 - key->low, 1 - key->high, answer))
    return say(text, "That is the share of the others: the two add up to 1.");
  if (is_of(OF_SHARES, &key->unit) && key->low > 1 && is_right_for(*key, key->low - 1, key->high - 1, answer))
    return say(text, "That is how much more, and not how many times as much.");
  if (key->unit.dimension != ANSWER_BYTES && key->unit.dimension != ANSWER_SECONDS &&
      is_right_for(*key, key->unit.factor * key->unit.factor / key->low,
                   key->unit.factor * key->unit.factor / key->high, answer))
    return say(text, "That is the other way up: which of the two do you divide by?");
  if (is_count && is_right_for(*key, key->low + 1, key->high + 1, answer))
    return say(text, "One too many. Do you count the first or the last one twice?");
  if (is_count && is_right_for(*key, key->low - 1, key->high - 1, answer))
    return say(text, "One too few. Do you leave out the first or the last one?");
  if (is_count && is_right_for(*key, key->low * key->low, key->high * key->high, answer))
    return say(text, "You squared it: rows and columns, where one side was asked for.");
  if (is_count && key->low > 3 && is_right_for(*key, sqrt(key->low), sqrt(key->high), answer))
    return say(text, "That is one side. All have rows and columns: multiply the two sides.");
  return false;
}
