/* Answers as people write them, and whether they are right.
 *
 *     64    64 MiB    67.1 MB    6.7e7 bytes    50%    1/2    2x    2 times    1,024    3,14
 *     4 x 1024    2^20    1.5 million    4K    ~0.37    -3
 *
 * A decimal comma is read as one, and said so. What cannot be read is refused with a reason that
 * helps: words for numbers, two numbers, megabits, a sum.
 *
 * Whether it is right: answer_judge.c has the rule. */
#ifndef TILEWALK_LESSONS_ENGINE_ANSWER_H
#define TILEWALK_LESSONS_ENGINE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"

enum { ANSWER_TEXT_BYTES = 200, ANSWER_UNIT_BYTES = 32, ANSWER_NOTE_BYTES = 200 };

typedef enum {
  ANSWER_PLAIN = 0, /* no unit, or a word: loads, tiles */
  ANSWER_SHARE,     /* %, x */
  ANSWER_BYTES,
  ANSWER_SECONDS,
  ANSWER_FLOP,
  ANSWER_BYTES_PER_S,
  ANSWER_FLOP_PER_S,
  ANSWER_FLOP_PER_BYTE,
} AnswerDimension;

typedef struct {
  AnswerDimension dimension;
  double factor;                /* to the base unit: bytes, s, FLOP, B/s, FLOP/s, FLOP/B, 1 */
  double sister;                /* MB: the factor of MiB, for which it is mistaken; 0: none */
  char name[ANSWER_UNIT_BYTES]; /* as written; "": none */
} AnswerUnit;

/* Reads a unit: "MiB", "%", "TB/s", "loads". STATUS_BAD_REQUEST for one that looks like a known
 * unit and is none ("Mb", "GiB/h"). A word of one's own is a plain unit. */
Status answer_unit(const char *text, AnswerUnit *unit, Error *error);

typedef struct {
  double number;                /* as typed, before its unit */
  int digits;                   /* significant ones typed; large for a fraction */
  double slack;                 /* half a unit of the last digit typed; 0 for a fraction */
  AnswerUnit unit;              /* name "" when none was typed */
  bool is_fraction;             /* 1/2 */
  char note[ANSWER_NOTE_BYTES]; /* how it was read, where that could be doubted; "" */
  bool note_if_wrong;           /* the note is worth showing only when the answer is wrong */
} Answer;

/* Reads text[0..length). The message of STATUS_BAD_REQUEST is for the learner. */
Status answer_parse(const char *text, size_t length, Answer *answer, Error *error);

typedef enum { TOLERANCE_DIGITS = 0, TOLERANCE_EXACT, TOLERANCE_PART, TOLERANCE_OFF } ToleranceKind;

typedef struct {
  ToleranceKind kind;
  double amount; /* part: of the value; off: in the question's unit */
} AnswerTolerance;

/* Reads "exact", "1%", "0.01". */
Status answer_tolerance(const char *text, AnswerTolerance *tolerance, Error *error);

/* What is right, in base units. */
typedef struct {
  double value;
  AnswerUnit unit;
  AnswerTolerance tolerance;
} AnswerKey;

typedef enum {
  ANSWER_RIGHT = 0,
  ANSWER_ROUGH,      /* right as far as it goes: more digits are needed */
  ANSWER_OTHER_UNIT, /* right in MiB, but MB was written, or the other way round */
  ANSWER_NEAR,       /* within five percent */
  ANSWER_WRONG,
} AnswerVerdict;

/* Compares. STATUS_BAD_REQUEST, with a message for the learner, when the units do not go together.
 */
Status answer_judge(const AnswerKey *key, const Answer *answer, AnswerVerdict *verdict, Error *error);

/* Known mistakes, in base units; NaN: none. */
enum { ANSWER_MISTAKES_MAX = 16 };
typedef struct {
  double value[ANSWER_MISTAKES_MAX];
  int n;
} AnswerMistakes;

typedef struct {
  Answer typed;
  AnswerVerdict verdict;
  int mistake; /* -1: none */
} AnswerGrade;

/* Reads and judges, against known mistakes and what the explanation prints. */
Status answer_grade(const AnswerKey *key, const AnswerMistakes *mistakes, const char *explains, const char *text,
                    AnswerGrade *grade, Error *error);

/* Slips that everybody makes, told from the number alone: a thousand for 1,024, bits for bytes, elements for bytes,
 * half or twice, the share of the others, the other way up, one too many. A lesson's own `wrong` lines go first: they
 * know the question. Whether a wrong answer is one of these; then `text` says which. A slip is told only where the
 * typed number would be right but for it, under the question's own tolerance. */
bool answer_slip(const AnswerKey *key, const Answer *answer, char text[ANSWER_NOTE_BYTES]);

/* The value of an answer in base units, as the key's unit completes it. */
double answer_value(const AnswerKey *key, const Answer *answer);

/* A computed value in the key's unit, with up to four digits: "64 MiB", "43.75 %", "32 loads". */
void answer_text(const AnswerKey *key, double value, char *text, size_t size);

/* ---- Choices and orders */

enum { ANSWER_CHOICES_MAX = 12 };

typedef struct {
  const char *key[ANSWER_CHOICES_MAX], *text[ANSWER_CHOICES_MAX]; /* as shown: a) is the first */
  int n;
} AnswerChoices;

/* Which choice is meant: by letter ("b", "b)", "(B)"), key or text, in any case. */
Status answer_choice(const AnswerChoices *choices, const char *text, int *chosen, Error *error);

/* All choices in an order: "b a c", "bac", "b,a,c", or keys. order[0..n) holds their indices. */
Status answer_order(const AnswerChoices *choices, const char *text, int *order, Error *error);

#endif
