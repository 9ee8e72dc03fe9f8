/* What a learner has done, kept between runs.
 *
 *     $XDG_STATE_HOME/tilewalk/lessons.json, or ~/.local/state/tilewalk/lessons.json
 *
 *     {"tilewalk-lessons": 1, "lessons": {"02-one-row": {
 *        "seed": 1, "block": 7, "finished": false,
 *        "answers": {"factor": {"right": true, "tries": 2, "hints": 1}},
 *        "first": {"factor": "0.37"}}}}
 *
 * "first" is what was answered first, for a hand-in: beginning again with the same numbers does not take it back.
 *
 * Several programs may keep it at once: each adds what it did to the record as it is then, under a lock
 * (lessons/engine/record.h). A record that is no such JSON is set aside under another name, and said so. One that
 * cannot be read now, or that a newer Tilewalk wrote, is left as it is and nothing is kept, which is said once. So is a
 * home that cannot be written: the lesson goes on. Without a home nothing is kept. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_PROGRESS_H
#define TILEWALK_LESSONS_ENGINE_LESSON_PROGRESS_H

#include <jansson.h>
#include <stdio.h>

#include "lessons/engine/practice.h"
#include "lessons/engine/record.h"

typedef struct {
  json_t *root;    /* the record as last seen, with what was done since */
  json_t *changes; /* the journal: what was done since it was last written: "begin", "at", "answers", "first" */
  FILE *warnings;
  bool has_waited;              /* for a lock that stayed held: no more */
  bool has_warned;              /* a second warning would say the same */
  bool has_failed;              /* a change found no memory; the next save says so */
  char path[RECORD_PATH_BYTES]; /* "": nothing is kept */
} LessonProgress;

/* Reads what is there; `warnings` gets a line when that cannot be used, and where it is NULL nothing is kept.
 * STATUS_NO_MEMORY at worst. */
Status lesson_progress_open(LessonProgress *progress, FILE *warnings, Error *error);
void lesson_progress_close(LessonProgress *progress);

/* Adds what was done to the record. When that fails a line is said, once, and the next call tries again.
 * STATUS_NO_MEMORY at worst. */
Status lesson_progress_save(LessonProgress *progress, Error *error);

typedef struct {
  bool has_begun, is_finished;
  uint64_t seed;
  int64_t block;        /* the first that is still to come */
  int n_right, n_asked; /* answers kept, */
  int n_first;          /* and those that were right at the first try, without a hint */
} LessonStanding;

LessonStanding lesson_progress_of(const LessonProgress *progress, const char *lesson);

/* Whether that question was answered right. */
bool lesson_progress_is_right(const LessonProgress *progress, const char *lesson, const char *id);

/* Changes in memory; save writes them. A lesson is begun before anything is done in it. */
void lesson_progress_begin(LessonProgress *progress, const char *lesson, uint64_t seed);
void lesson_progress_at(LessonProgress *progress, const char *lesson, int64_t block, bool is_finished);
void lesson_progress_answer(LessonProgress *progress, const char *lesson, const char *id, bool right, int tries,
                            int hints);

/* What was answered, when it is the first answer to that question. */
void lesson_progress_first(LessonProgress *progress, const char *lesson, const char *id, const char *answer);

/* What a student hands in, as JSON (lessons/engine/lesson_submission.h): the first answers of a lesson, or with NULL of
 * all; *n is how many. The caller frees it; NULL: no memory. */
char *lesson_progress_hand_in(const LessonProgress *progress, const char *lesson, const char *student, int *n);

/* A skill of `tilewalk lesson practice` (lessons/engine/practice.h), kept as an answer of the lesson "practice". */
PracticeSkill lesson_progress_skill(const LessonProgress *progress, const char *id);
void lesson_progress_practised(LessonProgress *progress, const char *id, PracticeSkill skill);

#endif
