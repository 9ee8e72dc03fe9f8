/* Grading what a class handed in.
 *
 * A submission is hostile until shown otherwise. It names lessons that come with Tilewalk, or the one that the teacher
 * named, and never a file. Its rows are answered with the teacher's seed, not with one that a student may pick. A
 * second answer to a question does not count, however the student spells the name; where two files hold different
 * answers of one student to one question, neither counts, for either may be another's. What is wrong with a row is told
 * in that row; the others are graded. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_CLASS_H
#define TILEWALK_LESSONS_ENGINE_LESSON_CLASS_H

#include "lessons/engine/class_key.h"
#include "lessons/engine/lesson_run.h"
#include "lessons/engine/lesson_submission.h"

/* The names of a class, as the teacher writes them. */
typedef struct {
  const char *const *names;
  size_t n;
} ClassRoster;

typedef struct {
  const Lesson *lesson; /* the one that the teacher named, for rows that name none or name it; NULL: none */
  /* Reads a lesson that comes with Tilewalk, by its name or number. */
  Status (*load)(const char *name, Lesson *lesson, Error *error);
  const ExpressionLimits *limits;
  const char *key;  /* each student's own seed (lessons/engine/class_key.h); NULL: one seed for all */
  uint64_t seed;    /* of all students, without a key */
  bool trust_seeds; /* take the seeds of the rows, where they have one */
  /* The name as it is compared; NULL: class_fold, which knows the letters of ASCII. */
  void (*fold)(const char *name, char folded[CLASS_NAME_BYTES]);
  const ClassRoster *roster; /* who is in the class; NULL: anybody */
  size_t first, end;         /* the rows that are asked for; end = 0: all. The others decide what counts of them */
} ClassRules;

/* One row as graded. `verdict` is a name of LessonVerdict, or "predicted", "unanswered" (left empty: as if the row were
 * not there), "again" (answered before), "conflict" (another file answers otherwise), "unknown" (not on the roster),
 * "ignored" (in a file that is named for another student) or
 * "error". */
typedef struct {
  const char *file, *student, *lesson, *id, *answer, *verdict, *remark;
  uint64_t seed;
  int line;
  bool counts, is_right, is_error;
} ClassRow;

typedef struct {
  int n_right, n_counted, n_errors, n_conflicts, n_unknown, n_unanswered;
} ClassSum;

/* Grades the rows and gives each to `take`, in the order of the file. STATUS_NO_MEMORY, or what `take` returns. */
Status lesson_class_grade(const Submission *submission, const ClassRules *rules,
                          Status (*take)(void *data, const ClassRow *row, Error *error), void *data, ClassSum *sum,
                          Error *error);

#endif
