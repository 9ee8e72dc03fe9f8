/* What a question gets from files: a room that reads files gives functions, and owns what they give. */
#ifndef TILEWALK_SIM_QUESTION_QUESTION_FILES_H
#define TILEWALK_SIM_QUESTION_QUESTION_FILES_H

#include "sim/l2/kernel_profile.h"
#include "sim/machine/kvmodel.h"

/* What the value of an option may name a file of. */
typedef enum { THING_NONE = 0, THING_GPU, THING_KERNEL, THING_MODEL, THING_MASK, THING_PROGRAM, THING_FOLDER } Thing;

/* Whether a word after --algorithm names a file. */
static inline bool question_is_path(const char *word) { return strchr(word, '/') || strstr(word, ".walk"); }

typedef struct QuestionFiles {
  const Gpu *machine; /* loaded already, whatever --gpu says; NULL: by its name */
  Status (*gpu)(const char *name, Gpu *gpu, Error *error);
  Status (*kernel)(const char *name, const Profile **kernel, Error *error);
  Status (*model)(const char *name, KvModel *model, Error *error);
  Status (*mask)(const char *name, const Shape *shape, const Pattern **pattern, Error *error);
  Status (*program)(const char *path, const Schedule **schedule, Error *error); /* NULL: there are no files */
  /* Refuses a file of the user's own: what a stranger wrote names what comes with Tilewalk alone. */
  Status (*shipped)(Thing thing, const char *value, Error *error);
  /* A word that begins a kernel's name, as "cudnn" does: says whose algorithm it runs. False: none does.
   * May be NULL. */
  bool (*kernel_called)(const char *word, const char *shown, Error *error);
} QuestionFiles;

#endif
