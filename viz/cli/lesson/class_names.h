/* Who is in a class: a file with a name a line. */
#ifndef TILEWALK_VIZ_CLI_LESSON_CLASS_NAMES_H
#define TILEWALK_VIZ_CLI_LESSON_CLASS_NAMES_H

#include "lessons/engine/lesson_class.h"
#include "viz/cli/io.h"

typedef struct {
  char *text;
  const char **names;
  size_t n, capacity;
} ClassNames;

/* A name as it is compared: blanks, capitals and composed accents tell nobody apart. */
void class_fold_name(const char *name, char who[CLASS_NAME_BYTES]);

/* Names that are one student are said, the first ten. STATUS_BAD_FILE: no name is there. Free it in any case. */
Status class_names_read(ClassNames *names, const char *path, Io *io, Error *error);
void class_names_free(ClassNames *names);

#endif
