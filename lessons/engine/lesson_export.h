/* The marked questions of a lesson for other systems: XML for Moodle, QTI 2.1 items for others. Predictions
 * and programs stay behind. Each question comes with the prose of its page in front, so that it stands alone, and once
 * for each of n_variants seeds. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_EXPORT_H
#define TILEWALK_LESSONS_ENGINE_LESSON_EXPORT_H

#include <stdio.h>

#include "lessons/engine/lesson_run.h"

enum { EXPORT_VARIANTS_MAX = 1000 };

typedef struct {
  uint64_t seed;
  int n_variants; /* seed, seed + 1, ...; 0: one */
} ExportDraws;

/* docs.moodle.org, "Moodle XML format"; each question is a category, from which Moodle draws a variant. A failed write
 * is left for the caller to find. */
Status lesson_export_moodle(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, FILE *out,
                            Error *error);

/* IMS Question and Test Interoperability 2.1 (2012): `file` gets each item's name and text, and at last the
 * manifest. */
typedef Status ExportFile(void *context, const char *name, const char *text, size_t length, Error *error);
Status lesson_export_qti(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, ExportFile *file,
                         void *context, Error *error);

#endif
