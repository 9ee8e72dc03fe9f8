/* "Did you mean ...": the known word that a mistyped one most resembles. */
#ifndef TILEWALK_SIM_NEAREST_H
#define TILEWALK_SIM_NEAREST_H

#include <stddef.h>

/* A search over candidates: start with {.word = typed}, offer each known word, then read `best`. */
typedef struct {
  const char *word;
  const char *best; /* NULL: nothing is near enough (more than a third of the letters differ) */
  size_t distance;  /* edits between word and best */
} Nearest;

/* Edits counted: insert, delete, replace or swap neighbours (Damerau-Levenshtein, restricted). Words longer than
 * 63 bytes are never near. */
void nearest_offer(Nearest *nearest, const char *candidate);

#endif
