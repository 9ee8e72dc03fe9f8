/* What a learner has done, kept between runs.
 *
 *     $XDG_STATE_HOME/tilewalk/lessons.json, or ~/.local/state/tilewalk/lessons.json
 *
 *     {"tilewalk-lessons": 1, "lessons": {"04-online-softmax": {
 *        "seed": 1, "block": 7, "finished": false,
 *        "answers": {"factor": {"right": true, "tries": 2, "hints": 1}}}}}
 *
 * Written whole or not at all. A file that cannot be read as this is set aside under another name,
 * and said so: nothing that a learner did is deleted. Without a home folder nothing is kept. */
#ifndef TILEWALK_VIZ_CLI_LESSON_PROGRESS_H
#define TILEWALK_VIZ_CLI_LESSON_PROGRESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/error.h"

enum { LESSON_PROGRESS_PATH_BYTES = 4096 };

typedef struct {
  json_t *root;                          /* NULL: nothing is kept */
  char path[LESSON_PROGRESS_PATH_BYTES]; /* "": nothing is kept */
} LessonProgress;

/* Reads what is there; `warnings` gets a line when that is damaged. STATUS_NO_MEMORY at worst. */
Status lesson_progress_open(LessonProgress *progress, FILE *warnings, Error *error);
Status lesson_progress_save(const LessonProgress *progress, Error *error);

/* Writes what is known of one lesson into the file as it is now: another program may have written
 * of others since it was opened. */
Status lesson_progress_save_lesson(LessonProgress *progress, const char *lesson, Error *error);
void lesson_progress_close(LessonProgress *progress);

typedef struct {
  bool has_begun, is_finished;
  uint64_t seed;
  int64_t block;        /* the first that is still to come */
  int n_right, n_asked; /* answers kept */
} LessonStanding;

LessonStanding lesson_progress_of(const LessonProgress *progress, const char *lesson);

/* Whether that question was answered right. */
bool lesson_progress_is_right(const LessonProgress *progress, const char *lesson, const char *id);

/* Changes in memory; save writes them. */
void lesson_progress_begin(LessonProgress *progress, const char *lesson, uint64_t seed);
void lesson_progress_at(LessonProgress *progress, const char *lesson, int64_t block, bool is_finished);
void lesson_progress_answer(LessonProgress *progress, const char *lesson, const char *id, bool right, int tries,
                            int hints);

#endif
