/* The questions of a lesson as GIFT, for Moodle (docs.moodle.org, "GIFT format"). */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_GIFT_H
#define TILEWALK_LESSONS_ENGINE_LESSON_GIFT_H

#include <stdio.h>

#include "lessons/engine/lesson_run.h"

/* Writes every question with the numbers of `seed`. A failed write is left for the caller to find. */
Status lesson_export_gift(const Lesson *lesson, const ExpressionLimits *limits, uint64_t seed, FILE *out, Error *error);

#endif
