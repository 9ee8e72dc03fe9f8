/* Writing a file so that it is either whole or not there.
 *
 *     FileWrite out;
 *     if (file_write_begin(&out, path, error)) return error->status;
 *     fprintf(out.stream, ...);                          // or a library that writes through a callback
 *     return file_write_commit(&out, error);             // or file_write_abort(&out)
 *
 * Until the commit the bytes lie in an unnamed file beside the target (Linux's O_TMPFILE), so even a killed
 * run leaves nothing; on file systems without that, in a hidden file with a name. The commit has the bytes reach the
 * disk and then renames, so a reader sees the old file or the new one, also after a crash of the machine. What is not a
 * plain file (/dev/stdout, a pipe) is written directly. */
#ifndef TILEWALK_VIZ_EXPORT_OUTPUT_H
#define TILEWALK_VIZ_EXPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/error.h"

enum { FILE_WRITE_PATH_BYTES = 4096 };

typedef struct {
  FILE *stream; /* write here; write errors may be left for the commit to find. NULL when not writing */
  char target[FILE_WRITE_PATH_BYTES];    /* symbolic links of the last name followed */
  char temporary[FILE_WRITE_PATH_BYTES]; /* "" when written directly, or as long as the file has no name */
  bool is_direct;
} FileWrite;

/* Opens `path` for writing. STATUS_BAD_REQUEST with the path and the reason when that cannot work: no such
 * folder, no permission, a folder of that name. An existing file keeps its permissions. */
Status file_write_begin(FileWrite *write, const char *path, Error *error);

/* The same, always with a named temporary file: what file systems without unnamed ones get. */
Status file_write_begin_named(FileWrite *write, const char *path, Error *error);

/* Puts the file in its place. On any error since the beginning (a full disk) nothing is changed at `path`,
 * nothing is left beside it, and the message names the path and the reason. */
Status file_write_commit(FileWrite *write, Error *error);

/* A file of these bytes. */
Status file_write_whole(const char *path, const void *bytes, size_t n, Error *error);

/* Drops what was written. Does nothing after a commit, a failed begin, or another abort. */
void file_write_abort(FileWrite *write);

#endif
