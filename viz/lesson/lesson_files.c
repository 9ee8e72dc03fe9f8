/* Names of lessons, tasks and stories. Part of viz/lesson/lesson_library.h. */
#include <stdlib.h>

#include "sim/base/ascii.h"
#include "sim/base/path.h"
#include "viz/lesson/lesson_library.h"

/* ---- Files */

typedef struct {
  LessonFiles *files;
  const char *suffix;
  bool numbered, is_full;
} Finding;

static bool take_name(void *data, const char *name) {
  Finding *f = data;
  const size_t length = strlen(name), end = strlen(f->suffix);
  const bool is_numbered = ascii_is_digit(name[0]) && ascii_is_digit(name[1]) && name[2] == '-';
  if (!path_ends(name, f->suffix) || length - end >= sizeof f->files->names[0] ||
      (f->numbered && !(is_numbered && length > end + 3)))
    return true;
  f->is_full = f->files->n == LESSON_FILES_MAX;
  if (!f->is_full)
    snprintf(f->files->names[f->files->n++], sizeof f->files->names[0], "%.*s", (int)(length - end), name);
  return !f->is_full;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

Status lesson_names(const char *folder, const char *suffix, bool numbered, LessonFiles **files, Error *error) {
  Finding f = {calloc(1, sizeof **files), suffix, numbered, false};
  *files = NULL;
  if (!f.files) return error_no_memory(error, "for the names in %s", folder);
  Status status = assets_list(folder, take_name, &f, error);
  if (f.is_full)
    status = error_set(error, STATUS_TOO_LARGE, "more than %d files of %s end in %s", LESSON_FILES_MAX, folder, suffix);
  if (status) {
    free(f.files);
    return status;
  }
  qsort(f.files->names, (size_t)f.files->n, sizeof f.files->names[0], by_name);
  *files = f.files;
  return STATUS_OK;
}

Status lesson_files(LessonFiles **files, Error *error) {
  return lesson_names("lessons/course", ".md", true, files, error);
}
