/* What a student hands in, and what a class is handed out. Part of viz/cli/lesson/lesson_print.h. */
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/ascii.h"
#include "viz/cli/lesson/class_names.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/export/output.h"
#include "viz/paper/lesson_paper.h"

static bool is_folder_there(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

/* "Ada Lovelace" in a folder becomes Ada-Lovelace.json, or .pdf. */
static Status path_of(const char *to, const char *student, const char *ending, char *path, size_t size, Error *error) {
  const bool is_folder = is_folder_there(to);
  size_t used = (size_t)snprintf(path, size, is_folder ? "%s/" : "%s", to);
  if (used + 4 * strlen(student) + 8 > size) return error_refuse(error, "the name of the file is too long");
  for (const char *p = student; is_folder && *p; p++)
    path[used++] = ascii_is_alnum((unsigned char)*p) || (unsigned char)*p >= 0x80 || strchr("-_.", *p) ? *p : '-';
  if (is_folder) snprintf(path + used, size - used, "%s", ending);
  return STATUS_OK;
}

Status lesson_submit(const char *lesson, const char *student, const char *to, Io *io, Error *error) {
  LessonProgress progress;
  FileWrite file;
  char path[4096], *text = NULL;
  int n = 0;
  Status status = lesson_progress_open(&progress, io->err, error);
  if (!status && !(text = lesson_progress_hand_in(&progress, lesson, student, &n)))
    status = error_no_memory(error, "for what is handed in");
  lesson_progress_close(&progress);
  if (!status && !n)
    status = error_refuse(error, "nothing was answered%s%s yet: there is nothing to hand in", lesson ? " in " : "",
                          lesson ? lesson : "");
  if (!status && strcmp(to, "-") == 0)
    text_say(io->out, "%s\n", text);
  else if (!status && !(status = path_of(to, student, ".json", path, sizeof path, error)) &&
           !(status = file_write_begin(&file, path, error))) {
    text_say(file.stream, "%s\n", text);
    status = file_write_commit(&file, error);
    utf8_clean(path);
    if (!status) text_say(io->out, "%d answers of %s are in %s.\n", n, student, path);
  }
  free(text);
  return status;
}

/* Each student has a file of their own. */
static Status check_paths(const ClassNames *names, const char *folder, Error *error) {
  GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  char path[4096], who[CLASS_NAME_BYTES];
  Status status = STATUS_OK;
  for (size_t k = 0; k < names->n && !status; k++) {
    status = path_of(folder, names->names[k], "", path, sizeof path, error);
    if (status) break;
    class_fold_name(path + strlen(folder) + 1, who);
    const char *before = g_hash_table_lookup(seen, who);
    if (before)
      status =
          error_refuse(error, "'%s' and '%s' would have one file; write their names so that they differ in letters",
                       quote_text(before).text, quote_text(names->names[k]).text);
    else
      g_hash_table_insert(seen, g_strdup(who), (void *)names->names[k]);
  }
  g_hash_table_destroy(seen);
  return status;
}

Status lesson_handouts(const Lesson *lesson, const char *roster, const char *key, const char *folder, Io *io,
                       Error *error) {
  ClassNames names = {0};
  char path[4096];
  const bool is_made = !is_folder_there(folder);
  Status status = class_names_read(&names, roster, io, error);
  if (!status && is_made && mkdir(folder, 0777) != 0)
    status = error_refuse(error, "the folder '%s' cannot be made: %s", quote_text(folder).text, strerror(errno));
  if (!status) status = check_paths(&names, folder, error);
  if (status && is_made) rmdir(folder);
  size_t n = 0;
  for (; n < names.n && !status; n++) {
    status = path_of(folder, names.names[n], ".pdf", path, sizeof path, error);
    const uint64_t seed = lesson_student_seed(key, names.names[n]);
    if (!status) status = lesson_paper_save(lesson, false, seed, names.names[n], path, error);
  }
  if (!status)
    text_say(io->out, "%zu handout%s, a student each, in %s.\n", n, n == 1 ? "" : "s", quote_text(folder).text);
  class_names_free(&names);
  return status;
}
