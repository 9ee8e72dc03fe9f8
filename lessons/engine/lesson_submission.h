/* What a class hands in: answers to questions of lessons, as CSV or JSON.
 *
 *     student,lesson,id,answer,seed            CSV: a heading line names the columns; id and answer
 *     Ada,04-online-softmax,factor,0.368,1     are needed, the others have defaults
 *
 *     [{"student": "Ada", "lesson": "04-online-softmax", "seed": 1,      JSON: one such object, or
 *       "answers": {"factor": "0.368"}}]                                a list of them
 *
 * Files come from anybody: bounded, and every error has a line. */
#ifndef TILEWALK_LESSONS_LESSON_SUBMISSION_H
#define TILEWALK_LESSONS_LESSON_SUBMISSION_H

#include <stddef.h>
#include <stdint.h>

#include "lessons/engine/pool.h"
#include "sim/base/error.h"

enum { SUBMISSION_FILE_BYTES = 8 << 20, SUBMISSION_ROWS_MAX = 100000 };

typedef struct {
  size_t student, lesson, id, answer; /* in the pool; 0: not given */
  uint64_t seed;                      /* UINT64_MAX: not given */
  int line;                           /* 0 in JSON */
} SubmissionRow;

/* Zeros: empty. */
typedef struct {
  Pool pool;
  SubmissionRow *rows;
  size_t n_rows, capacity;
} Submission;

/* Reads buffer[0..length). On error *submission is empty. */
Status submission_from_buffer(Submission *submission, const char *buffer, size_t length, const char *file,
                              Error *error);
void submission_free(Submission *submission);

#endif
