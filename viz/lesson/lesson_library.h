/* The lessons that come with Tilewalk, and those of one's own: finding and reading the files, the glossary, and what
 * they need. What is in a lesson is lessons/engine/lesson_run.h. */
#ifndef TILEWALK_VIZ_LESSON_LESSON_LIBRARY_H
#define TILEWALK_VIZ_LESSON_LESSON_LIBRARY_H

#include "lessons/engine/lesson_session.h"
#include "viz/request/assets.h"

enum { LESSON_FILES_MAX = 256 };

/* ---- Files */

typedef struct {
  int n;
  char names[LESSON_FILES_MAX][LESSON_NAME_BYTES * 2]; /* "02-one-row", in order */
} LessonFiles;

/* The names of a folder's files that end in `suffix`, without it; `numbered`: those alone that begin as NN- does. For
 * the caller to free; NULL on error. */
Status lesson_names(const char *folder, const char *suffix, bool numbered, LessonFiles **files, Error *error);

/* The lessons that come with Tilewalk: the files lessons/course/NN-*.md, for the caller to free. NULL on error. */
Status lesson_files(LessonFiles **files, Error *error);

/* Reads a lesson by number ("2"), by name ("one-row", "02-one-row"), or by the path of a file that ends in ".md"; and
 * where its file is. */
Status lesson_load(const char *name, Lesson *lesson, Error *error);
Status lesson_find(const char *name, char path[ASSETS_PATH_BYTES], Error *error);

/* The same by number or name alone, of a lesson that comes with Tilewalk: never a path. */
Status lesson_load_named(const char *name, Lesson *lesson, Error *error);

/* The lessons that come with Tilewalk, one after the other: zeros, then as long as it returns true. `why` says why one
 * cannot be read, and the others go on; no memory ends it, with an error. */
typedef struct {
  LessonFiles *files;
  int n;
  const char *name; /* of this one's file */
  Lesson lesson;
  Error why;
} LessonShelf;
bool lesson_next(LessonShelf *shelf, Error *error);

/* The entry of the glossary with that anchor ("tile"): its heading, and its text as Markdown, cut
 * to the sizes. */
Status lesson_glossary(const char *anchor, char *heading, size_t heading_size, char *text, size_t size, Error *error);

/* Where in a Markdown text the heading with that anchor begins, at its marks; NULL: there is none. */
const char *lesson_find_anchor(const char *text, const char *anchor);

/* Expressions of lessons know the GPUs that come with Tilewalk, and read no other files. */
extern const ExpressionLimits LESSON_LIMITS;

#endif
