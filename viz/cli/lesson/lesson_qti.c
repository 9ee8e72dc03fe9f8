/* A lesson's questions as a package of QTI. */
#include <stdio.h>
#include <sys/stat.h>

#include "lessons/engine/lesson_export.h"
#include "sim/base/quote.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/export/output.h"

typedef struct {
  const char *folder;
  int n_files;
} Folder;

static Status write_into(void *context, const char *name, const char *text, size_t length, Error *error) {
  Folder *folder = context;
  char path[1024 + 160];
  FileWrite file;
  snprintf(path, sizeof path, "%s/%s", folder->folder, name);
  const Status status = file_write_begin(&file, path, error);
  if (status) return status;
  fwrite(text, 1, length, file.stream);
  folder->n_files++;
  return file_write_commit(&file, error);
}

/* Into a folder that is not there yet; the manifest comes last, so that a package with one is whole. */
Status lesson_write_qti(const Lesson *lesson, const char *path, ExportDraws draws, Io *io, Error *error) {
  Folder folder = {.folder = path};
  if (mkdir(path, 0777) != 0)
    return error_set(error, STATUS_BAD_REQUEST, "'%s' cannot be made: it is there already, or its folder is not",
                     quote_text(path).text);
  const Status status = lesson_export_qti(lesson, &LESSON_LIMITS, draws, write_into, &folder, error);
  if (!status)
    fprintf(io->out, "%d items and imsmanifest.xml; 'cd FOLDER && zip -r ../package.zip .' makes the package.\n",
            folder.n_files - 1);
  return status;
}
