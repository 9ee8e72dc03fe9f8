/* Grading what a class handed in.
 *
 * A submission is hostile until shown otherwise. It names lessons that come with Tilewalk, or the one that the teacher
 * named, and never a file. Its rows are answered with the teacher's seed, not with one that a student may pick. A
 * second answer to a question does not count. What is wrong with a row is told in that row; the others are graded. */
#ifndef TILEWALK_LESSONS_LESSON_CLASS_H
#define TILEWALK_LESSONS_LESSON_CLASS_H

#include "lessons/engine/lesson_run.h"
#include "lessons/engine/lesson_submission.h"

typedef struct {
  const Lesson *lesson; /* the one that the teacher named, for rows that name none or name it; NULL: none */
  /* Reads a lesson that comes with Tilewalk, by its name or number. */
  Status (*load)(void *context, const char *name, Lesson *lesson, Error *error);
  void *context;
  const ExpressionLimits *limits;
  const char *key;  /* each student's own seed (lessons/engine/class_key.h); NULL: one seed for all */
  uint64_t seed;    /* of all students, without a key */
  bool trust_seeds; /* take the seeds of the rows, where they have one */
} ClassRules;

/* One row as graded. `verdict` is a name of LessonVerdict, or "predicted", "again" (answered before) or "error". */
typedef struct {
  const char *student, *lesson, *id, *answer, *verdict, *remark;
  uint64_t seed;
  int line;
  bool counts, is_right, is_error;
} ClassRow;

typedef struct {
  int n_right, n_counted, n_errors;
} ClassSum;

/* Grades all rows and gives each to `take`, in the order of the file. STATUS_NO_MEMORY, or what `take` returns. */
Status lesson_class_grade(const Submission *submission, const ClassRules *rules,
                          Status (*take)(void *data, const ClassRow *row, Error *error), void *data, ClassSum *sum,
                          Error *error);

#endif
