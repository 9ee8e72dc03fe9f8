/* "Did you mean ...": the known words that a mistyped one most resembles. */
#ifndef TILEWALK_SIM_BASE_NEAREST_H
#define TILEWALK_SIM_BASE_NEAREST_H

#include <stddef.h>

enum { NEAREST_PARTS_MAX = 4 };

/* A search over candidates: start with {.word = typed}, offer each known word, then read `best`. Capital and small
 * letters are the same. A word that is a part of a candidate ("4090" of "rtx4090"), or whose words and numbers are in
 * it ("llama-3-70b" in "llama-3.1-70b"), is nearer than any mistyped one. */
typedef struct {
  const char *word;
  const char *best;                     /* NULL: nothing is near enough (more than a third of the letters differ) */
  size_t distance;                      /* edits between word and best; 0 when the word is a part of it */
  const char *parts[NEAREST_PARTS_MAX]; /* the candidates that the word is a part of, the first few */
  int n_parts;                          /* of all of them */
} Nearest;

/* Edits counted: insert, delete, replace or swap neighbours (Damerau-Levenshtein, restricted). Words longer than
 * 63 bytes are never near; of one letter, never a part. */
void nearest_offer(Nearest *nearest, const char *candidate);

/* Writes "a", "a or b", "a, b or c" of what it may have meant, each in quotation marks; "" when nothing is near.
 * Returns text. */
const char *nearest_list(const Nearest *nearest, char *text, size_t size);

/* " (did you mean 'a'?)", or "" when nothing is near. */
typedef struct {
  char text[96];
} NearestHint;
NearestHint nearest_hint(const Nearest *nearest);

#endif
