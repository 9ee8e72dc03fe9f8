/* A story: what a lesson shows (lessons/engine/lesson.h, lessons/stories), told one show after the other, each with its
 * caption and with the prediction before it. A show of a story says its moments, too:
 *
 *     ```show
 *     scene=walk from=load,Q,1,before to=store,O,1 lit=Q[0],K,V seconds=16
 *     Its queries stay, keys and values stream past them.
 *     ```
 *
 * What a caption claims is asserted in a `setup` above it. The story is worked out for one N, of those that it draws
 * from: one of whose captions is false is not told. */
#ifndef TILEWALK_LESSONS_ENGINE_STORY_H
#define TILEWALK_LESSONS_ENGINE_STORY_H

#include "lessons/engine/lesson_run.h"

enum { STORY_BEATS_MAX = 40, STORY_WORDS_MAX = 14 /* of a caption */, STORY_LINE_BYTES = 512 };

/* A show with all expressions worked out. */
typedef struct {
  char state[STORY_LINE_BYTES], caption[STORY_LINE_BYTES], because[STORY_LINE_BYTES];
  LessonShow show;
  ShowMoments moments;
  bool asks;
  LessonQuestion question;
  int line; /* of the show, in the file */
} StoryBeat;

/* A story at one N. Heap memory, freed by free(). */
typedef struct {
  char title[STORY_LINE_BYTES];
  int64_t N;
  int n;
  StoryBeat beats[];
} StoryTold;

/* The N number k, from 0, that it can be told at, the usual one first; 0: it has no more. */
int64_t story_size(const Lesson *story, int k);

/* Works it out; N 0: at the usual one. NULL with *error: N is none of its sizes, an expression is wrong, a caption is
 * false or too long. */
StoryTold *story_tell(const Lesson *story, int64_t N, const ExpressionLimits *limits, Error *error);

/* What is said of a prediction: "Right", "Near", "No", ... */
const char *story_judge(const StoryBeat *beat, const char *typed);

#endif
