/* The file in which a learner writes a program or a kernel: begun once, never overwritten, and watched. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_FILE_H
#define TILEWALK_LESSONS_ENGINE_LESSON_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/error.h"

enum { LESSON_WORK_FILE_BYTES = 1 << 16 };

typedef struct {
  int64_t seconds, nanoseconds, bytes;
} FileStamp;

typedef struct {
  char path[128];       /* in the folder that the program was started in; "": none is begun */
  bool was_there;       /* it was begun another time */
  FileStamp seen, next; /* as it was read last; as it was looked at last */
} LessonFile;           /* zeros: none */

/* Writes `start` to the file of that name, unless there is one. */
Status lesson_file_begin(LessonFile *file, const char *name, const char *start, Error *error);

/* Whether it was saved since: it has changed, and then stayed as it is from one call to the next. */
bool lesson_file_changed(LessonFile *file);

/* What is in a file, ended by a zero, for the caller to free; NULL and *error. */
char *lesson_file_read(const char *path, Error *error);

#endif
