/* Paths. */
#ifndef TILEWALK_SIM_BASE_PATH_H
#define TILEWALK_SIM_BASE_PATH_H

#include <stdbool.h>
#include <string.h>

/* The last part of a path; what stands before it is its folder, "" or with its slash. */
static inline const char *path_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Whether a path ends in that, with a name before it. */
static inline bool path_ends(const char *path, const char *ending) {
  const size_t length = strlen(path), n = strlen(ending);
  return length > n && strcmp(path + length - n, ending) == 0;
}

#endif
