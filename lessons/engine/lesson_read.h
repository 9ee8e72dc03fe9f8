/* Inside lessons/: reading text files from anybody, line by line: lessons, claims, stories. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_READ_H
#define TILEWALK_LESSONS_ENGINE_LESSON_READ_H

#include "lessons/engine/lesson.h"

/* A piece of the file, not ended by a zero. */
typedef struct {
  const char *text;
  size_t length;
} Piece;

typedef struct {
  const char *file; /* what messages call it */
  Pool *pool;       /* for its texts */
  Lesson *lesson;   /* NULL: it is none */
  Piece rest;       /* of the file */
  int line;         /* of the line that was read last */
  Error *error;
} LessonReader;

Status lesson_refuse(const char *file, int line, Error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define LESSON_REFUSE(r, at, ...) lesson_refuse((r)->file, at, (r)->error, __VA_ARGS__)

Piece piece_trim(Piece p);
bool piece_is(Piece p, const char *text);
bool piece_starts(Piece p, const char *prefix);
Piece piece_after(Piece p, size_t n); /* without its first n bytes, trimmed */

/* A byte order mark at the beginning is left out. */
LessonReader lesson_reader(const char *file, Pool *pool, const char *buffer, size_t length, Error *error);

/* Takes the next line, without its end: of at most LESSON_LINE_BYTES, UTF-8, and without control characters. */
Status lesson_next_line(LessonReader *r, Piece *line);

/* Line ends and runs of blanks become one blank, and none stands at an end. */
void lesson_one_line(char *text);

/* Numbers lose the commas that group their digits: "4,096", not "32,8". */
void lesson_plain_numbers(char *text);

/* Adds a text to the pool. */
Status lesson_add_text(LessonReader *r, Piece piece, int line, LessonText *text);

/* A name of letters, digits, '-' and '_', beginning with a letter. */
Status lesson_read_name(LessonReader *r, Piece piece, const char *what, int line, char *name);

/* "N from 1024, 2048, 4096" */
Status lesson_read_draw(LessonReader *r, Piece piece, int line, LessonDraw *draws, int *n_draws);

/* Reads lines "key: value", a value going on over the indented and blank lines below it; `line` is
 * that of the line before the first. */
typedef Status LessonReadKey(LessonReader *r, void *target, Piece key, Piece value, int line);
Status lesson_read_keys(LessonReader *r, Piece body, int line, LessonReadKey *read, void *target);

/* Refuses a key that there is not, and offers the nearest. `what`: "a question". */
Status lesson_refuse_key(LessonReader *r, Piece key, const char *const *keys, size_t n_keys, const char *what,
                         int line);

/* Room for one more of something; `what` is its plural. STATUS_NO_MEMORY, or a refusal. */
Status lesson_one_more(LessonReader *r, void **items, size_t *capacity, size_t n, size_t item_bytes, size_t most,
                       const char *what, int line);

/* A question, and a task: what stands between the fences, of which the first is on `line`. */
Status lesson_read_ask(LessonReader *r, Piece id, Piece body, int line, LessonBlock *block);
Status lesson_read_task(LessonReader *r, Piece body, int line, LessonBlock *block);

/* Adds a text that may stand once. */
Status lesson_once(LessonReader *r, LessonText *text, const char *key, Piece value, int line);

#endif
