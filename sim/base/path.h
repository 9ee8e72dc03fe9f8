/* Paths. */
#ifndef TILEWALK_SIM_BASE_PATH_H
#define TILEWALK_SIM_BASE_PATH_H

#include <string.h>

/* The last part of a path; what stands before it is its folder, "" or with its slash. */
static inline const char *path_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

#endif
