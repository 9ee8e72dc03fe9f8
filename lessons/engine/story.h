/* A story: beats that a player shows one after the other, as text (lessons/stories, lessons/README.md).
 *
 *     story    Why is FlashAttention fast?      key, blanks, value; '#' begins a comment
 *     sizes    64 128 256                        the N that it can be told at
 *     let      B = N <= 512 and N // 8 or 128    for the expressions below (lessons/engine/expression.h)
 *     beat     stream                            from here to the next `beat`
 *     scene    tiles
 *     state    algorithm=fa2 N={N} block={B}     braces hold expressions
 *     from     load Q 1 before                   moments by event, not by number (viz/story/moment.h)
 *     to       accumulate O {N // B}
 *     caption  One block of queries stays.
 *     holds    fa2.loads_per_block.Q == 1        what the caption claims
 *     ask      How often is each block of keys loaded?
 *     answer   fa2.loads_per_block.K
 *     wrong    1; N                              what is to choose from beside it
 *
 * A story is read once (story_read) and worked out for one N (story_tell). One of whose captions `holds` is false is
 * not told: an error names the beat and the line. */
#ifndef TILEWALK_LESSONS_ENGINE_STORY_H
#define TILEWALK_LESSONS_ENGINE_STORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lessons/engine/expression.h"
#include "lessons/engine/lesson.h"

enum {
  STORY_BYTES_MAX = 65536,
  STORY_BEATS_MAX = 40,
  STORY_SIZES_MAX = 16,
  STORY_LETS_MAX = 16,
  STORY_WORDS_MAX = 14, /* of a caption */
  STORY_LINE_BYTES = 512,
  STORY_NAME_BYTES = 32,
  STORY_CHOICES_MAX = 4,
};

typedef enum {
  STORY_SCENE = 0,
  STORY_STATE,
  STORY_FROM,
  STORY_TO,
  STORY_LIT,
  STORY_DIM,
  STORY_CAMERA,
  STORY_CAPTION,
  STORY_HOLDS,
  STORY_ASK,
  STORY_ANSWER,
  STORY_UNIT,
  STORY_WRONG,
  STORY_BECAUSE,
  STORY_SECONDS,
  STORY_KEY_COUNT
} StoryKey;

typedef struct {
  LessonText name, values[STORY_KEY_COUNT];
} StoryBeatText;

/* As it is written. Heap memory, freed by story_free. */
typedef struct {
  Pool pool;
  char file[256]; /* what messages call it */
  char title[STORY_LINE_BYTES];
  int n_sizes, n_lets, n_beats;
  int64_t sizes[STORY_SIZES_MAX], usual_N;
  LessonText lets[STORY_LETS_MAX];
  StoryBeatText beats[STORY_BEATS_MAX];
} Story;

/* A beat with all expressions worked out. */
typedef struct {
  char name[STORY_NAME_BYTES], scene[STORY_NAME_BYTES];
  char state[STORY_LINE_BYTES], from[STORY_LINE_BYTES], to[STORY_LINE_BYTES], lit[STORY_LINE_BYTES];
  char caption[STORY_LINE_BYTES], ask[STORY_LINE_BYTES], because[STORY_LINE_BYTES];
  bool asks;
  AnswerKey key;                 /* of what is asked */
  char answer[STORY_NAME_BYTES]; /* the right one, as it is written */
  int n_choices;                 /* the right one and wrong ones, the smallest first; 0: it is typed */
  char choices[STORY_CHOICES_MAX][STORY_NAME_BYTES];
  double camera[4]; /* x, y, width, height in thousandths of the picture */
  double seconds;
  int line; /* of `beat` in the file */
} StoryBeat;

/* A story at one N. Heap memory, freed by free(). */
typedef struct {
  char title[STORY_LINE_BYTES];
  int64_t N;
  int n;
  StoryBeat beats[];
} StoryTold;

/* NULL with *error: a line that is none, a key twice, a beat without a caption or what it claims. `file` is what errors
 * call it. */
Story *story_read(const char *text, size_t length, const char *file, Error *error);
void story_free(Story *story);

/* Works it out; N 0: the usual one. NULL with *error: N is none of its sizes, an expression is wrong, a caption does
 * not hold or is too long. */
StoryTold *story_tell(const Story *story, int64_t N, const ExpressionLimits *limits, Error *error);

#endif
