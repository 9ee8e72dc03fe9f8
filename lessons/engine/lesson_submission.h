/* What a class hands in: answers to questions of lessons, as CSV or JSON.
 *
 *     student,lesson,id,answer,seed            CSV: a heading line names the columns; id and answer
 *     Ada,02-one-row,factor,0.368,1     are needed, the others have defaults
 *
 *     [{"student": "Ada", "lesson": "02-one-row", "seed": 1,      JSON: one such object, or
 *       "answers": {"factor": "0.368"}}]                                a list of them
 *
 * Columns of CSV are parted by commas, semicolons or tabs, whichever the heading has; bytes that are no UTF-8 are read
 * as Windows-1252, which Latin-1 is a part of. Files come from anybody: bounded in size and time. What is wrong with
 * one row is noted in that row and hurts no other; of JSON that was cut off the whole answers are kept, and a row says
 * so; only a file of which nothing can be read is refused. A heading must
 * name a column 'student': an answer of nobody cannot be marked. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_SUBMISSION_H
#define TILEWALK_LESSONS_ENGINE_LESSON_SUBMISSION_H

#include <stdint.h>

#include "lessons/engine/pool.h"
#include "sim/base/error.h"

enum { SUBMISSION_FILE_BYTES = 8 << 20, SUBMISSION_ROWS_MAX = 100000, SUBMISSION_FIELD_BYTES = 4096 };

/* Texts are clean UTF-8 in one line: control characters and marks of direction became '?'. */
typedef struct {
  const char *student, *lesson, *id, *answer; /* "": not given */
  const char *program;                        /* the answer with its lines, where it has several; NULL: it has one */
  const char *problem;                        /* why the row cannot be graded; NULL: it can */
  const char *file;                           /* the name of its file; of its rows the same pointer */
  uint64_t seed;                              /* UINT64_MAX: not given */
  int line;                                   /* of the file; in JSON the number of the entry */
} SubmissionRow;

/* Zeros: empty. */
typedef struct {
  Pool pool;
  SubmissionRow *rows;
  size_t n_rows, capacity;
} Submission;

/* Adds the rows of buffer[0..length), the text of `file`. On error those of other files are left as they were. */
Status submission_add(Submission *submission, const char *buffer, size_t length, const char *file, Error *error);

/* Adds one row that says why `file` could not be read. */
Status submission_add_problem(Submission *submission, const char *file, const char *why, Error *error);
void submission_free(Submission *submission);

#endif
