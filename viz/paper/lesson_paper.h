/* A lesson as PDF: a handout to write on, or slides.
 *
 *     handout   A4: text, pictures, questions with room for the answer, as they come
 *     slides    16:9, one idea a page: a question with what leads to it; after a prediction its picture
 *
 * No answer stands in either, nor hints: a picture comes after the question that it answers. The same lesson and seed
 * give the same bytes. */
#ifndef TILEWALK_VIZ_PAPER_LESSON_PAPER_H
#define TILEWALK_VIZ_PAPER_LESSON_PAPER_H

#include "lessons/engine/lesson_run.h"

/* `student`: whose handout it is, "" for nobody's in particular. STATUS_BAD_REQUEST: a path that is no .pdf or cannot
 * be written. STATUS_BAD_FILE: the lesson's expressions. */
Status lesson_paper_save(const Lesson *lesson, bool is_slides, uint64_t seed, const char *student, const char *path,
                         Error *error);

#endif
