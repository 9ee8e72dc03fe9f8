/* The marked questions of a lesson as Moodle XML (docs.moodle.org, "Moodle XML format"). Predictions and programs stay
 * behind. Each question is a category, from which Moodle draws one of n_variants seeds, with the prose of its page in
 * front, so that it stands alone. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_EXPORT_H
#define TILEWALK_LESSONS_ENGINE_LESSON_EXPORT_H

#include <stdio.h>

#include "lessons/engine/lesson_run.h"

enum { EXPORT_VARIANTS_MAX = 1000 };

typedef struct {
  uint64_t seed;
  int n_variants; /* seed, seed + 1, ...; 0: one */
} ExportDraws;

/* A failed write is left for the caller to find. */
Status lesson_export_moodle(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, FILE *out,
                            Error *error);

#endif
