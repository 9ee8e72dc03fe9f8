/* What happens and why, in two sentences for each step.
 *
 *     Narration said;
 *     narrate(&snapshot, &said);   "max(m[2] 1.60, best score 1.85) = 1.85."  "Row 20 has a new maximum: ..."
 *
 * The sentences are data, all in narration.c: of each shape of line, from the particular to what only states the line.
 * The first whose needs hold is said; a need is a fact (viz/scene/facts.h), so what is said of the past, the future or
 * a cause is so. tests/unit/claims.c proves each claim from the events alone. */
#ifndef TILEWALK_VIZ_SCENE_NARRATION_H
#define TILEWALK_VIZ_SCENE_NARRATION_H

#include "viz/scene/facts.h"

enum { NARRATION_BYTES = 192, NARRATION_SITUATIONS_MAX = 128, NARRATION_NEEDS_MAX = 5, NARRATION_WORDS_MAX = 14 };

typedef struct {
  char what[NARRATION_BYTES], why[NARRATION_BYTES];
} Narration;

void narrate(const Snapshot *snapshot, Narration *said);

/* The rows of the table, for tests and tools: how many, the name of one, what it needs (NARRATION_NEEDS_MAX, the rest
 * NEED_NOTHING), and which of them a snapshot is in. */
int narration_n_situations(void);
const char *narration_situation_name(int situation);
const Need *narration_needs(int situation);
LineShape narration_shape(int situation); /* LINE_SHAPES: any */
int narration_situation(const Snapshot *snapshot);

/* The same in two halves: the sentence for facts, a need of one sentence left out (situation -1: none); and its words.
 */
int narration_choose(const Facts *facts, int situation, Need left_out);
void narration_say(const Snapshot *snapshot, const Facts *facts, int situation, Narration *said);

#endif
