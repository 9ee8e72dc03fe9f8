/* What an article prints, against what the simulator computes: one rule for every claim.
 *
 *     holds   the computed value, rounded to the digits that are printed, is the printed one
 *     rounds  it is off by one in the last digit, or right in the other unit (MB for MiB)
 *     limit   true of the largest sizes of a series, not of the small ones
 *     wrong   none of these
 *
 * A claim may print a number ("67 MB"), several ("0.641, 2.185"), a range ("4-8 x"), a fraction
 * ("1/2000"), true or false, or a word ("N"). The computed value may be a number, a list, a flag, a
 * word; a range, where the answer depends on something the claim leaves open: then a printed number
 * inside it holds; or a series over a size, where a claim holds only if it does at every size.
 *
 * What is counted must match exactly: a whole number, computed for a printed whole number in a unit
 * without a factor (loads, tiles, rows), is never "off by one". Nor is a printed value of a single
 * digit. */
#ifndef TILEWALK_LESSONS_ENGINE_VERDICT_H
#define TILEWALK_LESSONS_ENGINE_VERDICT_H

#include "lessons/engine/expression.h"

typedef enum { VERDICT_HOLDS = 0, VERDICT_ROUNDS, VERDICT_LIMIT, VERDICT_WRONG, VERDICT_COUNT } Verdict;

const char *verdict_name(Verdict verdict); /* "holds", ... */

enum { CLAIMED_NUMBERS_MAX = 16, CLAIMED_TEXT_BYTES = 96, CLAIMED_UNIT_BYTES = 16 };

typedef enum { CLAIMED_NUMBERS = 0, CLAIMED_RANGE, CLAIMED_FLAG, CLAIMED_WORD } ClaimedKind;

/* What is printed. */
typedef struct {
  ClaimedKind kind;
  bool flag;
  int n;                               /* numbers; 2 for a range */
  double numbers[CLAIMED_NUMBERS_MAX]; /* in the printed unit; 2000 for "1/2000" */
  int decimals[CLAIMED_NUMBERS_MAX];   /* digits printed after the point */
  int digits[CLAIMED_NUMBERS_MAX];     /* significant ones */
  bool reciprocal;                     /* "1/2000" */
  char text[CLAIMED_TEXT_BYTES];       /* as printed, without the unit */
  char unit[CLAIMED_UNIT_BYTES];       /* "" when there is none */
  double factor;                       /* of the unit: to bytes, s, FLOP, B/s, FLOP/s; 1: of things */
} Claimed;

/* Reads "67 MB", "6, 4, 6 tiles", "4-8 x", "1/2000", "true", "N". The message says what is wrong,
 * without a position. */
Status claimed_parse(const char *text, Claimed *claimed, Error *error);

typedef struct {
  Verdict verdict;
  const char *true_unit; /* rounds: the unit in which the printed value is right; NULL: off by one
                            in the last digit */
} Judgement;

/* STATUS_BAD_REQUEST when the two cannot be compared: a list of another length, a number for a
 * flag. */
Status verdict_judge(const Claimed *claimed, const ExpressionValue *value, Judgement *judgement, Error *error);

/* The computed value in the claim's unit, with one digit more than it prints: "70.3", "0.375 to
 * 0.4995". */
void verdict_computed_text(const Claimed *claimed, const ExpressionValue *value, char *text, size_t size);

/* Number k of the value in the claim's unit (and as a reciprocal where the claim is one). */
double verdict_in_unit(const Claimed *claimed, const ExpressionValue *value, int k);

#endif
