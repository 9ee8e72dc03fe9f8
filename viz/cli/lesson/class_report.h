/* What a class's answers say together, as files for teachers: a page of HTML, and Gradescope's results.json.
 *
 * Of a question: who answered, how many were right at the first try, the wrong answer that was most frequent. Of a
 * class: the misconceptions that were diagnosed, by sentence; sentences that differ in their figures alone are one, for
 * students have numbers of their own. Names and answers are strangers': escaped, and nothing in the page runs. */
#ifndef TILEWALK_VIZ_CLI_LESSON_CLASS_REPORT_H
#define TILEWALK_VIZ_CLI_LESSON_CLASS_REPORT_H

#include "lessons/engine/lesson_class.h"

typedef struct {
  char name[CLASS_NAME_BYTES], who[CLASS_NAME_BYTES]; /* as first written, and as compared */
  int n_rows, n_right, n_counted, n_errors, n_conflicts;
  int n_asked; /* class_report_n_asked */
  bool is_unknown;
} ClassScore;

enum { CLASS_REMARK_BYTES = 128 };

/* What a teacher should know of a student, made in `text` or constant. */
const char *class_score_remark(const ClassScore *score, char text[CLASS_REMARK_BYTES]);

typedef struct ClassReport ClassReport;

ClassReport *class_report_new(void);
void class_report_free(ClassReport *report);

/* Takes a graded row. */
void class_report_take(ClassReport *report, const ClassRow *row);

/* Questions that a student is asked: all that are marked of `lesson` (NULL: none is named), or all that anybody of the
 * class answered, whichever is more. To leave one out makes no share larger. */
int class_report_n_asked(const ClassReport *report, const Lesson *lesson);

/* One page: students with the score of their first tries, questions, misconceptions, and rows without a mark. */
Status class_report_write_html(const ClassReport *report, const ClassScore *scores, size_t n_scores,
                               const ClassSum *sum, const char *path, Error *error);

/* Gradescope's results.json: a test a question, one point each; what `lesson` (may be NULL) asks and nobody answered is
 * 0 of 1. STATUS_BAD_REQUEST where the rows are of several students: Gradescope grades one hand-in at a time.
 * Source: gradescope-autograders.readthedocs.io, "Autograder Specifications". */
Status class_report_write_gradescope(ClassReport *report, const Lesson *lesson, const ClassScore *scores,
                                     size_t n_scores, const ClassSum *sum, const char *path, Error *error);

#endif
