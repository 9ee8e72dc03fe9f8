/* Inside lessons/: the state of reading one lesson. */
#ifndef TILEWALK_LESSONS_LESSON_READ_H
#define TILEWALK_LESSONS_LESSON_READ_H

#include "lessons/lesson.h"

/* A piece of the file, not ended by a zero. */
typedef struct {
  const char *text;
  size_t length;
} Piece;

typedef struct {
  Lesson *lesson;
  Piece rest; /* of the file */
  int line;   /* of the line that was read last */
  Error *error;
} LessonReader;

Status lesson_refuse(const char *file, int line, Error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define LESSON_REFUSE(r, at, ...) lesson_refuse((r)->lesson->file, at, (r)->error, __VA_ARGS__)

Piece piece_trim(Piece p);
bool piece_is(Piece p, const char *text);
bool piece_starts(Piece p, const char *prefix);
Piece piece_after(Piece p, size_t n); /* without its first n bytes, trimmed */

/* Adds a text to the pool. */
Status lesson_add_text(LessonReader *r, Piece piece, int line, LessonText *text);

/* A name of letters, digits, '-' and '_', beginning with a letter. */
Status lesson_read_name(LessonReader *r, Piece piece, const char *what, int line, char *name);

/* "N from 1024, 2048, 4096" */
Status lesson_read_draw(LessonReader *r, Piece piece, int line, LessonDraw *draws, int *n_draws);

/* One line "key: value" of an ask, with what its indented lines add; `key` at `line`. */
Status lesson_read_ask_key(LessonReader *r, LessonAsk *ask, Piece key, Piece value, int line);
/* After the last: fills in what follows from the rest, and refuses what is missing. */
Status lesson_complete_ask(LessonReader *r, LessonAsk *ask);

#endif
