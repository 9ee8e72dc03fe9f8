/* The line of a `show` block: which picture of the run, and which part of it.
 *
 *     scene=walk steps=0-40
 *     scene=softmax scores=1,2,4,2,5,1,3,1 block=4
 *     scene=bank column=0 row_bytes=128 pad_bytes=4 */
#ifndef TILEWALK_LESSONS_ENGINE_SHOW_LINE_H
#define TILEWALK_LESSONS_ENGINE_SHOW_LINE_H

#include "sim/question/scenes.h"
#include "sim/machine/warp.h"

enum { LESSON_SCORES_MAX = 64 };

typedef struct {
  SceneKind scene;
  bool has_steps;
  int64_t first, last; /* of the events, both included */
  double scores[LESSON_SCORES_MAX];
  int n_scores;  /* 0: those of the run */
  int64_t block; /* scores at a time; 0: all of them in blocks of 4 */
  WarpAccess warp;
  bool warp_in_banks; /* a column of a tile in shared memory; else a stride in global memory */
} LessonShow;

/* Of a story's show: from and to which moment (viz/story/story_page.h), what is lit, and how long it plays. */
typedef struct {
  char from[64], to[64], lit[128];
  int seconds;
} ShowMoments;

/* Reads the line; a lesson's has no moments (NULL). The message is without file and line. */
Status lesson_show_parse(const char *text, LessonShow *show, ShowMoments *moments, Error *error);

#endif
