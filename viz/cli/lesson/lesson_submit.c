/* What a student hands in. Part of viz/cli/lesson/lesson_print.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lessons/engine/lesson_progress.h"
#include "sim/base/ascii.h"
#include "sim/base/utf8.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/export/output.h"
#include "viz/text/print.h"

/* "Ada Lovelace" in a folder becomes Ada-Lovelace.json. */
static Status hand_in_path(const char *to, const char *student, char *path, size_t size, Error *error) {
  struct stat there;
  const bool is_folder = stat(to, &there) == 0 && S_ISDIR(there.st_mode);
  size_t used = (size_t)snprintf(path, size, is_folder ? "%s/" : "%s", to);
  if (used + 4 * strlen(student) + 8 > size)
    return error_set(error, STATUS_BAD_REQUEST, "the name of the file is too long");
  for (const char *p = student; is_folder && *p; p++)
    path[used++] = ascii_is_alnum((unsigned char)*p) || (unsigned char)*p >= 0x80 || strchr("-_.", *p) ? *p : '-';
  if (is_folder) snprintf(path + used, size - used, ".json");
  return STATUS_OK;
}

Status lesson_submit(const char *lesson, const char *student, const char *to, Io *io, Error *error) {
  LessonProgress progress;
  FileWrite file;
  char path[4096], *text = NULL;
  int n = 0;
  Status status = lesson_progress_open(&progress, io->err, error);
  if (!status && !(text = lesson_progress_hand_in(&progress, lesson, student, &n)))
    status = error_set(error, STATUS_NO_MEMORY, "no memory for what is handed in");
  lesson_progress_close(&progress);
  if (!status && !n)
    status = error_set(error, STATUS_BAD_REQUEST, "nothing was answered%s%s yet: there is nothing to hand in",
                       lesson ? " in " : "", lesson ? lesson : "");
  if (!status && strcmp(to, "-") == 0)
    text_say(io->out, "%s\n", text);
  else if (!status && !(status = hand_in_path(to, student, path, sizeof path, error)) &&
           !(status = file_write_begin(&file, path, error))) {
    text_say(file.stream, "%s\n", text);
    status = file_write_commit(&file, error);
    utf8_clean(path);
    if (!status) text_say(io->out, "%d answers of %s are in %s.\n", n, student, path);
  }
  free(text);
  return status;
}
