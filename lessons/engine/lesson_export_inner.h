/* Inside lessons/: what the exports share. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_EXPORT_INNER_H
#define TILEWALK_LESSONS_ENGINE_LESSON_EXPORT_INNER_H

#include "lessons/engine/lesson_export.h"

/* A question with its numbers, ready to be written. Values are in the question's unit. */
typedef struct {
  const Lesson *lesson;
  const LessonAsk *ask;
  LessonQuestion q;
  int variant;                        /* from 0 */
  char name[LESSON_NAME_BYTES + 8];   /* "factor", "factor-2" */
  char text[LESSON_PROSE_BYTES];      /* the page's prose, the prompt and the unit, without marks */
  char explain[LESSON_MESSAGE_BYTES]; /* "": none */
  double value, tolerance;            /* numbers: the middle, and how far off still counts */
  int n_wrong;                        /* known wrong answers, */
  double wrong[LESSON_WRONG_MAX];     /* their values, */
  double wrong_tolerance[LESSON_WRONG_MAX];
  int wrong_choice[LESSON_WRONG_MAX];                     /* or their places, */
  char diagnosis[LESSON_WRONG_MAX][LESSON_MESSAGE_BYTES]; /* and what is said */
} ExportItem;

/* Makes each item, all variants of a question in a row, and hands it to `write`. */
typedef Status ExportWrite(void *context, const ExportItem *item, Error *error);
Status lesson_export_items(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, ExportWrite *write,
                           void *context, Error *error);

#endif
