/* A lesson: prose, pictures and questions in one Markdown file. lessons/README.md says how one is
 * written; this file reads it.
 *
 *     # Title                         header: idea, minutes, draw
 *     - idea: ...
 *
 *     Prose with {expressions}.       a block of its own up to the next "## " or fence
 *
 *     ```ask factor                   state, show, task, ask, setup, teacher
 *     prompt: ...
 *     answer: sim{N=8192}.tiles.total
 *     ```
 *
 * Nothing is computed here; lessons/engine/lesson_run.h does that. Files come from anybody: bounded in
 * every length and number, UTF-8 without control characters, Markdown of bounded depth, and every
 * error is one line with file and line number. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_H
#define TILEWALK_LESSONS_ENGINE_LESSON_H

#include "lessons/engine/answer.h"
#include "lessons/engine/pool.h"

enum {
  LESSON_FILE_BYTES = 1 << 18,
  LESSON_LINE_BYTES = 2000,
  LESSON_BLOCKS_MAX = 200,
  LESSON_ASKS_MAX = 40,
  LESSON_TASKS_MAX = 40,
  LESSON_HINTS_MAX = 8,
  LESSON_WRONG_MAX = 16,
  LESSON_DRAWS_MAX = 16,
  LESSON_VALUES_MAX = 16,     /* of a draw's list */
  LESSON_RANGE_MAX = 1000000, /* values of a draw's range */
  LESSON_VARIANTS = 4,        /* of a range that checks see: its ends, and two more */
  LESSON_ALLOW_MAX = 8,
  LESSON_NAME_BYTES = 40, /* ids and names, with the final zero */
  LESSON_DEPTH_MAX = 8,   /* lists within lists */
};

/* A text as written, and the line of the file where it begins. NULL: it is not there. */
typedef struct {
  const char *text;
  int line;
} LessonText;

typedef struct {
  LessonText key, text; /* an option's key and words; a wrong answer and its diagnosis */
} LessonPair;

/* One of a list, or of first, first + step, ... The first value is the one that the page is written with: seed 1
 * draws it, and every other seed one of all. */
typedef struct {
  char name[LESSON_NAME_BYTES];
  int n;
  bool is_range;
  double first, step;
  LessonText value[LESSON_VALUES_MAX]; /* of a list: a number, or a word */
} LessonDraw;

typedef enum {
  LESSON_NUMBER = 0,
  LESSON_CHOICE,
  LESSON_ORDER,
  LESSON_WORK, /* a file: a program, or a kernel (lessons/engine/lesson_work.h) */
} LessonKind;

typedef struct {
  char id[LESSON_NAME_BYTES];
  int line;
  LessonKind kind;
  bool is_prediction; /* made before the run is shown, never marked */
  LessonText prompt, answer, explain, unit_text, tolerance_text;
  LessonText state; /* of a file: the learner's own numbers */
  AnswerUnit unit;
  AnswerTolerance tolerance;
  LessonPair choice[ANSWER_CHOICES_MAX]; /* options, or items, as written */
  int n_choices;
  LessonText hint[LESSON_HINTS_MAX];
  int n_hints;
  LessonPair wrong[LESSON_WRONG_MAX];
  int n_wrong;
  LessonText allow[LESSON_ALLOW_MAX];
  int n_allow;
  LessonText fixed; /* why all learners have the same answer */
  LessonDraw draw[LESSON_DRAWS_MAX];
  int n_draws;
} LessonAsk;

/* Something to do. With `until`, an expression over `view` (lessons/engine/lesson_task.h), it is done when
 * that is true; `solution` is a change of the one-line state that makes it so. */
typedef struct {
  int line;
  LessonText until, solution, explain;
  LessonText hint[LESSON_HINTS_MAX];
  int n_hints;
} LessonTask;

typedef enum {
  LESSON_PROSE = 0,
  LESSON_SETUP,
  LESSON_STATE,
  LESSON_SHOW,
  LESSON_TASK,
  LESSON_ASK,
  LESSON_TEACHER,
} LessonBlockKind;

typedef struct {
  LessonBlockKind kind;
  LessonText text; /* of a show: its line of key=value */
  LessonText caption;
  int ask;  /* index, for LESSON_ASK */
  int task; /* index, for LESSON_TASK */
} LessonBlock;

/* Zeros: empty. Members are for reading. */
typedef struct {
  Pool pool;
  char file[LESSON_NAME_BYTES * 2]; /* what messages call it */
  char name[LESSON_NAME_BYTES * 2]; /* the file name without ".md" */
  LessonText title, idea;
  int minutes;
  LessonDraw draw[LESSON_DRAWS_MAX];
  int n_draws;
  int n_variants; /* that show every value of every list, its questions' too, and LESSON_VARIANTS of every range */
  bool has_range;
  LessonBlock *blocks; /* with room for LESSON_BLOCKS_MAX, and so on; one piece of memory */
  LessonAsk *asks;
  LessonTask *tasks;
  size_t n_blocks, n_asks, n_tasks;
} Lesson;

/* Reads buffer[0..length). On error *lesson is empty. `file` is copied: its last part is what
 * messages call it. */
Status lesson_from_buffer(Lesson *lesson, const char *buffer, size_t length, const char *file, Error *error);
void lesson_free(Lesson *lesson);

/* "" of one that is not there. */
static inline const char *lesson_text(LessonText text) { return text.text ? text.text : ""; }

/* The block with that ask; LESSON_BLOCKS_MAX when there is none. */
size_t lesson_block_of(const Lesson *lesson, int ask);
/* The ask with that id; -1: there is none. */
int lesson_find_ask(const Lesson *lesson, const char *id);

/* Questions that are marked: all but predictions. */
int lesson_n_counted(const Lesson *lesson);

/* Markdown, as prose and tasks have it: calls back for each link and picture with its target, and
 * refuses what no terminal can show (raw HTML) and what is nested deeper than LESSON_DEPTH_MAX.
 * `line` is where the text begins. */
typedef struct {
  void *context;
  void (*link)(void *context, const char *target, size_t length, int line);
} LessonLinks;
Status lesson_check_markdown(const char *text, size_t length, const char *file, int line, const LessonLinks *links,
                             Error *error);

#endif
