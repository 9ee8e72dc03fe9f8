#define _GNU_SOURCE /* readlink */
#include "viz/request/program_path.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

bool path_to_folder(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

bool program_folder(char *folder, size_t size) {
#ifdef __APPLE__
  uint32_t bytes = (uint32_t)size;
  errno = ENAMETOOLONG;
  if (_NSGetExecutablePath(folder, &bytes) != 0) return false;
#else
  const ssize_t length = readlink("/proc/self/exe", folder, size);
  if (length >= 0 && (size_t)length >= size) errno = ENAMETOOLONG;
  if (length < 0 || (size_t)length >= size) return false;
  folder[length] = '\0';
#endif
  return path_to_folder(folder);
}
