#include "viz/cli/lesson/class_names.h"

#include <glib.h>
#include <stdlib.h>

#include "viz/cli/lesson/lesson_print.h"

/* A letter may be written in two ways, as one sign or as two (Unicode 15, annex 15), and large or small. */
void class_fold_name(const char *name, char folded[CLASS_NAME_BYTES]) {
  char *small = g_utf8_casefold(name, -1), *composed = g_utf8_normalize(small, -1, G_NORMALIZE_NFC);
  class_fold(composed ? composed : name, folded);
  g_free(small);
  g_free(composed);
}

uint64_t lesson_student_seed(const char *key, const char *student) {
  char who[CLASS_NAME_BYTES];
  class_fold_name(student, who);
  return class_seed(key, who);
}

void class_names_free(ClassNames *names) {
  free(names->text);
  free(names->names);
}

/* ClassNames that are one student, and so have one number: said, the first ten. */
static void warn_of_twins(const ClassNames *names, const char *path, Io *io) {
  GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  int n = 0;
  for (size_t k = 0; k < names->n; k++) {
    char who[CLASS_NAME_BYTES];
    class_fold_name(names->names[k], who);
    const char *before = g_hash_table_lookup(seen, who);
    if (before && n++ < 10)
      text_say(io->err, "tilewalk: %s: '%s' and '%s' are one student: capitals and blanks tell nobody apart\n", path,
               before, names->names[k]);
    if (!before) g_hash_table_insert(seen, g_strdup(who), (void *)names->names[k]);
  }
  g_hash_table_destroy(seen);
}

Status class_names_read(ClassNames *names, const char *path, Io *io, Error *error) {
  enum { FILE_BYTES = 1 << 20 };
  size_t length = 0;
  Status status = file_read(path, FILE_BYTES, &names->text, &length, error);
  for (char *line = names->text, *next; !status && line && *line; line = next) {
    next = line + strcspn(line, "\n");
    if (*next) *next++ = '\0';
    line[strcspn(line, "\r")] = '\0';
    line += strspn(line, " \t");
    if (!*line) continue;
    utf8_clean(line);
    if (!grow_array((void **)&names->names, &names->capacity, names->n + 1, sizeof *names->names))
      return error_no_memory(error, "for %zu names", names->n + 1);
    names->names[names->n++] = line;
  }
  if (!status && names->n == 0)
    status = error_set(error, STATUS_BAD_FILE, "%.200s:1: no name is in the file; it has one a line", path);
  if (!status) warn_of_twins(names, path, io);
  return status;
}
