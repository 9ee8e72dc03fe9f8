/* Inside lessons/: reading text files from anybody, line by line: lessons, claims, stories. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_READ_H
#define TILEWALK_LESSONS_ENGINE_LESSON_READ_H

#include "lessons/engine/lesson.h"
#include "sim/base/keyfile.h"

typedef struct {
  const char *file; /* what messages call it */
  Pool *pool;       /* for its texts */
  Lesson *lesson;   /* NULL: it is none */
  Piece rest;       /* of the file */
  int line;         /* of the line that was read last */
  Error *error;     /* the first ends the reading: what follows it means nothing, and is not looked at */
} LessonReader;

#define LESSON_REFUSE(r, at, ...) keyfile_refuse((r)->file, at, (r)->error, __VA_ARGS__)

static inline LessonReader lesson_reader(const char *file, Pool *pool, const char *buffer, size_t length,
                                         Error *error) {
  return (LessonReader){.file = file, .pool = pool, .rest = piece_file(buffer, length), .error = error};
}

/* Takes the next line, without its end: of at most LESSON_LINE_BYTES, UTF-8, and without control characters. False at
 * the end, and after an error. */
static inline bool lesson_next_line(LessonReader *r, Piece *line) {
  if (r->error->status || !r->rest.length) return false;
  *line = piece_next_line(&r->rest);
  return !piece_check(*line, LESSON_LINE_BYTES, r->file, ++r->line, r->error);
}

/* Line ends and runs of blanks become one blank, and none stands at an end. */
void lesson_one_line(char *text);

/* Numbers lose the commas that group their digits: "4,096", not "32,8". */
void lesson_plain_numbers(char *text);

/* Adds a text to the pool; the second one of Markdown, which is checked. */
LessonText lesson_add_text(LessonReader *r, Piece piece, int line);
LessonText lesson_add_markdown(LessonReader *r, Piece piece, int line);

/* A name of letters, digits, '-' and '_', beginning with a letter. */
void lesson_read_name(LessonReader *r, Piece piece, const char *what, int line, char *name);

/* "N from 1024, 2048, 4096" */
Status lesson_read_draw(LessonReader *r, Piece piece, int line, LessonDraw *draws, int *n_draws);

/* A key, and where its value goes: a text that may stand once, one of several texts, or what `read` makes of it. */
typedef struct {
  const char *name;
  size_t text;  /* offset of the LessonText, or of the first of several */
  size_t count; /* of several: offset of the int that counts them, */
  int most;     /* and how many there may be */
  Status (*read)(LessonReader *r, void *target, Piece value, int line);
} LessonKey;

#define LESSON_ONE(type, member) .text = offsetof(type, member)
#define LESSON_SEVERAL(type, member, n)                                                                                \
  .text = offsetof(type, member), .count = offsetof(type, n), .most = sizeof(((type *)0)->member) / sizeof(LessonText)

/* Takes one key of `target`; refuses one that is not among the rows, which end with zeros, and offers the nearest.
 * `what` has keys, and what may have been meant: "a question" LESSON_GOES_ON. */
#define LESSON_GOES_ON "; indent a line that goes on with the one above"
void lesson_take_key(LessonReader *r, const LessonKey *keys, const char *what, void *target, Piece key, Piece value,
                     int line);

/* Reads lines "key: value" or "- key: value", a value going on over the indented and blank lines below it; `line` is
 * that of the line before the first. */
void lesson_read_keys(LessonReader *r, const LessonKey *keys, const char *what, void *target, Piece body, int line);

/* The name that a word may have been meant for; NULL. */
const char *lesson_nearest(const LessonKey *keys, Piece word);

/* Whether there may be one more than `n` of something; `what` is its plural. False, with an error. */
bool lesson_one_more(LessonReader *r, size_t n, size_t most, const char *what, int line);

/* A question, and a task: what stands between the fences, of which the first is on `line`. */
void lesson_read_ask(LessonReader *r, Piece id, Piece body, int line, LessonBlock *block);
void lesson_read_task(LessonReader *r, Piece body, int line, LessonBlock *block);

#endif
