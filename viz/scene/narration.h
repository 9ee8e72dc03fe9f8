/* What happens and why, in two sentences for each step.
 *
 *     Narration said;
 *     narrate(&snapshot, &said);   "A larger score arrived: 1.85 > 1.60."  "What was summed so far ..."
 *
 * The sentences are data, all in narration.c: one row for each situation, told apart by the kind of event, its tensor,
 * what the mask and the maximum do, and the order of the walk. No algorithm is known by name. Numbers come from the
 * snapshot, as everywhere. */
#ifndef TILEWALK_VIZ_SCENE_NARRATION_H
#define TILEWALK_VIZ_SCENE_NARRATION_H

#include "viz/scene/snapshot.h"

enum { NARRATION_BYTES = 192, NARRATION_VARIANTS = 2, NARRATION_SITUATIONS_MAX = 96 };

typedef struct {
  char what[NARRATION_BYTES], why[NARRATION_BYTES];
} Narration;

void narrate(const Snapshot *snapshot, Narration *said);

/* The rows of the table, for tests and tools: how many, the name of one, and which of them a snapshot is in. */
int narration_n_situations(void);
const char *narration_situation_name(int situation);
int narration_situation(const Snapshot *snapshot);

#endif
