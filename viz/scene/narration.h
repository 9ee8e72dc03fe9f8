/* What happens and why, in two sentences for each step.
 *
 *     Narration said;
 *     narrate(&snapshot, &said);   "max(m[2] 1.60, best score 1.85) = 1.85."  "Row 20 has a new maximum: ..."
 *
 * The sentences are data, all in narration.c: of each shape of line, from the particular to what only states the line.
 * The first whose needs hold is said; a need is a fact (viz/scene/facts.h), so what is said of the past, the future or
 * a cause is so. tests/commands/sentences.txt has each of them. */
#ifndef TILEWALK_VIZ_SCENE_NARRATION_H
#define TILEWALK_VIZ_SCENE_NARRATION_H

#include "viz/scene/facts.h"

enum { NARRATION_BYTES = 192, NARRATION_NEEDS_MAX = 5, NARRATION_WORDS_MAX = 14 };

typedef struct {
  char what[NARRATION_BYTES], why[NARRATION_BYTES];
} Narration;

void narrate(const Snapshot *snapshot, Narration *said);

#endif
