/* Lessons in the terminal: walked, printed, linted and graded. */
#ifndef TILEWALK_VIZ_CLI_LESSON_LESSON_PRINT_H
#define TILEWALK_VIZ_CLI_LESSON_LESSON_PRINT_H

#include "lessons/engine/lesson_class.h"
#include "lessons/engine/lesson_export.h"
#include "lessons/engine/lesson_lint.h"
#include "viz/cli/shard.h"
#include "viz/document/document.h"
#include "viz/cli/io.h"
#include "viz/lesson/lesson_library.h"

/* ---- What is asked for */

enum { LESSON_NAMES_MAX = 256, LESSON_ARGUMENT_BYTES = 1024 };

typedef enum {
  TASK_WALK = 0,
  TASK_LIST,
  TASK_LINT,
  TASK_ANSWERS,
  TASK_MOODLE,
  TASK_TEACHER,
  TASK_NEW,
  TASK_SEEDS,
  TASK_SUBMIT,
  TASK_HANDOUT,
  TASK_SLIDES,
  TASK_COUNT
} LessonAction;

typedef struct {
  LessonAction task;                             /* the one that is asked for: */
  bool flags[TASK_COUNT];                        /* by a switch, such as --lint, */
  char named[TASK_COUNT][LESSON_ARGUMENT_BYTES]; /* or with its argument, such as --answers FILE */
  char names[LESSON_NAMES_MAX][LESSON_ARGUMENT_BYTES];
  int n_names;
  char key[LESSON_ARGUMENT_BYTES], student[LESSON_ARGUMENT_BYTES], roster[LESSON_ARGUMENT_BYTES];
  char page[LESSON_ARGUMENT_BYTES], gradescope[LESSON_ARGUMENT_BYTES]; /* files about a class */
  int variants;                                                        /* of each question of an export */
  bool trust_seeds, by_student, watches;
  LessonSessionOptions walk;
  OutputRequest output;
  Shard shard;
} LessonOptions;

/* ---- Hooks of --lint */

typedef struct {
  const char *path; /* of the lesson */
  Io *io;
} LessonLintContext;
LessonHooks lesson_hooks(LessonLintContext *context);

/* ---- Pictures */

/* Prints a show of the run that the one-line state describes. */
Status lesson_print_show(const char *state, const LessonShow *show, Io *io, Error *error);

/* ---- Walking a lesson */

/* How the one question of a lesson was left (lesson_leave). */
typedef struct {
  bool is_right, has_stopped;
  int tries, hints;
} LessonLeft;

/* Takes the lesson over, as lesson_session_open. `watches`: files that answer are judged at each save even where nobody
 * sits at a terminal. With a heading, which is NULL of a whole lesson, its one question is asked, nothing is kept, and
 * *left says how it went. */
Status lesson_walk(Lesson *lesson, const LessonSessionOptions *options, bool watches, const char *heading,
                   LessonLeft *left, Io *io, Error *error);

/* ---- Other ways out */

/* Grades what a class handed in. Without the name of a lesson every row names one that comes with Tilewalk.
 * io->differs: a row could not be graded. */
Status lesson_grade(const LessonOptions *options, Document *document, Io *io, Error *error);

/* Writes what a student hands in: the first answers of a lesson, or with NULL of all that were begun, with the name and
 * the number that drew them. `to`: a file, a folder, in which the file has the student's name, or - for the output. */
Status lesson_submit(const char *lesson, const char *student, const char *to, Io *io, Error *error);

/* Writes a handout a student into a folder, which is made if it is not there, with the name and the numbers that `key`
 * gives: "Ada Lovelace" of the `roster` gets Ada-Lovelace.pdf. Two names with one file are refused, before any is
 * written. */
Status lesson_handouts(const Lesson *lesson, const char *roster, const char *key, const char *folder, Io *io,
                       Error *error);

/* The seed of a student under the class's key, however the name is spelled: blanks, large letters, composed accents. */
uint64_t lesson_student_seed(const char *key, const char *student);

/* The seed of each student under the class's key; `path` holds a name a line. */
Status lesson_list_seeds(const char *path, const char *key, Document *document, Io *io, Error *error);

#endif
