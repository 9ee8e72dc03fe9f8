#define _POSIX_C_SOURCE 200809L /* readlink, execv */
#include "viz/cli/three_programs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool program_only_prints(int argc, char *const *argv) {
  for (int i = 0; i < argc; i++)
    if (strncmp(argv[i], "-o", 2) == 0 || strncmp(argv[i], "--output", 8) == 0) return false;
  return true;
}

Status program_become(const char *suffix, char *const *argv, Error *error) {
  static const char *const PLACES[] = {".", "../lib/tilewalk"};
  char folder[4096], path[4200];
  const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
  int reason = length < 0 ? errno : ENOENT;
  if (length > 0) {
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t k = 0; k < sizeof PLACES / sizeof *PLACES; k++) {
      snprintf(path, sizeof path, "%s/%s/tilewalk-%s", folder, PLACES[k], suffix);
      execv(path, argv);
      if (errno != ENOENT) reason = errno;
    }
  }
  return error_set(error, STATUS_BAD_REQUEST,
                   "this needs the program tilewalk-%s, which should stand beside tilewalk or in ../lib/tilewalk (%s); "
                   "build or install again",
                   suffix, strerror(reason));
}
