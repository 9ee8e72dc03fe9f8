/* Lessons for the commands that run them: finding and reading the files, what they refer to, their
 * pictures as text, and what a learner has done. The lessons themselves are lessons/engine/lesson_run.h.
 */
#ifndef TILEWALK_VIZ_CLI_LESSON_H
#define TILEWALK_VIZ_CLI_LESSON_H

#include "lessons/engine/lesson_class.h"
#include "lessons/engine/lesson_lint.h"
#include "lessons/engine/lesson_run.h"
#include "viz/request/assets.h"
#include "viz/cli/io.h"
#include "viz/request/request.h"

enum { LESSON_FILES_MAX = 10000, LESSON_STATE_BYTES = 1024 };

/* ---- Files */

typedef struct {
  int n;
  char names[][LESSON_NAME_BYTES * 2]; /* "04-online-softmax", in order */
} LessonFiles;

/* The lessons that come with Tilewalk: the files lessons/course/NN-*.md, for the caller to free. NULL on error. */
Status lesson_files(LessonFiles **files, Error *error);

/* Reads a lesson by number ("4"), by name ("online-softmax", "04-online-softmax"), or by the path
 * of a file that ends in ".md". `path` receives where it is. */
Status lesson_load(const char *name, Lesson *lesson, char path[ASSETS_PATH_BYTES], Error *error);

/* The same by number or name alone, of a lesson that comes with Tilewalk: never a path. */
Status lesson_load_named(const char *name, Lesson *lesson, Error *error);

/* The entry of the glossary with that anchor ("tile"): its heading, and its text as Markdown, cut
 * to the sizes. */
Status lesson_glossary(const char *anchor, char *heading, size_t heading_size, char *text, size_t size, Error *error);

/* Where in a Markdown text the heading with that anchor begins, at its marks; NULL: there is none. */
const char *lesson_find_anchor(const char *text, const char *anchor);

/* Expressions of lessons know the GPUs that come with Tilewalk, and read no other files. */
extern const ExpressionLimits LESSON_LIMITS;

/* ---- What a lesson refers to */

/* STATUS_OK when everything that the lesson needs is built in; else *error says what is missing. */
Status lesson_needs(const Lesson *lesson, Error *error);

typedef struct {
  const char *path; /* of the lesson */
  Io *io;
  int n_printed;
} LessonLintContext;
LessonHooks lesson_hooks(LessonLintContext *context);

/* ---- Pictures */

/* Prints a show of the run that the one-line state describes. */
Status lesson_print_show(const char *state, const LessonShow *show, Io *io, Error *error);

/* ---- Walking a lesson */

typedef struct {
  uint64_t seed;
  bool has_seed, restart;
} LessonWalkOptions;
Status lesson_walk(const Lesson *lesson, const LessonWalkOptions *options, Io *io, Error *error);

/* ---- Other ways out */

/* Grades a submission: `path` is CSV or JSON. Without a `lesson` (a name or a file) every row names one that comes with
 * Tilewalk. Of `rules` only key and seeds are read. The exit status: 1 when a row could not be graded. */
int lesson_grade_file(const char *path, const char *lesson, const ClassRules *rules, const OutputRequest *output,
                      Io *io, Error *error);

/* The seed of each student under the class's key; `path` holds a name a line. */
Status lesson_print_seeds(const char *path, const char *key, const OutputRequest *output, Io *io, Error *error);

/* Writes a lesson to begin with to NAME.md. */
Status lesson_write_template(const char *name, Io *io, Error *error);

#endif
