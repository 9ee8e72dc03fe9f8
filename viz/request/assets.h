/* Finding and reading the data files that come with Tilewalk: GPU descriptions, recorded counters, lessons.
 *
 * Data is named by its path in the source tree, "assets/gpus.json" or "lessons/course/01-bytes.md", and looked for in
 *
 *   1. $TILEWALK_ASSETS/..          when set: names an `assets` folder; lessons/ stands beside it
 *   2. BIN/../share/tilewalk        installed: BIN is the folder of the running program, or of libtilewalk.so
 *   3. BIN/.., BIN/../.., ...       built: the source tree above build/, at most four folders up
 *
 * so that a build runs in place and an installed tree can be moved as a whole. In a browser the same calls read what
 * the page was given (viz/web/web_assets.c). */
#ifndef TILEWALK_VIZ_REQUEST_ASSETS_H
#define TILEWALK_VIZ_REQUEST_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"

enum { ASSETS_PATH_BYTES = 4096 };

/* The running program's folder without a '/' at the end; false, with errno, where the system does not tell or it is too
 * long. */
bool program_folder(char *folder, size_t size);

/* Writes the path of the file or folder `relative` (no leading '/', no "../") into path[0..size).
 * STATUS_BAD_REQUEST, naming where it was looked for, when there is none. */
Status assets_find(char *path, size_t size, const char *relative, Error *error);

/* Calls `take` with the name of each entry of the folder `relative`, in no order, until it returns false. */
Status assets_list(const char *relative, bool (*take)(void *data, const char *name), void *data, Error *error);

/* Whether a file or folder of that path is there. */
bool file_exists(const char *path);

/* Reads a whole file (or pipe) of at most max_bytes. *buffer is for the caller to free; it holds *length bytes and
 * a '\0' after them. Errors name the path and the reason: STATUS_BAD_REQUEST when it cannot be opened or read
 * or is a folder, STATUS_TOO_LARGE, STATUS_NO_MEMORY. On error *buffer is NULL and *length 0. */
Status file_read(const char *path, size_t max_bytes, char **buffer, size_t *length, Error *error);

/* The same of a file that comes with Tilewalk. */
static inline Status assets_read(const char *relative, size_t max_bytes, char **buffer, size_t *length, Error *error) {
  char path[ASSETS_PATH_BYTES];
  *buffer = NULL, *length = 0;
  const Status status = assets_find(path, sizeof path, relative, error);
  return status ? status : file_read(path, max_bytes, buffer, length, error);
}

/* Reads a file that another file names: `name` is relative to the folder of the file `beside`, and leads neither out of
 * that folder nor through a symbolic link at its end; only regular files are read, and nothing is waited for.
 * Errors as file_read. */
Status file_read_beside(const char *beside, const char *name, size_t max_bytes, char **buffer, size_t *length,
                        Error *error);

#endif
