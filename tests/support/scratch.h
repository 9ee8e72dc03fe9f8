/* A folder of a test's own, in memory where that can be had: records are synced, which takes a disk milliseconds.
 * Define _DEFAULT_SOURCE before the first #include. */
#ifndef TILEWALK_TESTS_SUPPORT_SCRATCH_H
#define TILEWALK_TESTS_SUPPORT_SCRATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRATCH_BYTES = 64 };

/* Makes a new folder; its name goes to `path`. False: it cannot be made. */
static inline bool scratch_folder(char path[SCRATCH_BYTES]) {
  snprintf(path, SCRATCH_BYTES, "%s/tilewalk-test-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  return mkdtemp(path) != NULL;
}

/* Makes a new, empty file whose name ends in `suffix` (".svg"); its name goes to `path`. False: it cannot be made. */
static inline bool scratch_file(char path[SCRATCH_BYTES], const char *suffix) {
  snprintf(path, SCRATCH_BYTES, "%s/tilewalk-test-XXXXXX%s", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
           suffix);
  const int file = mkstemps(path, (int)strlen(suffix));
  if (file >= 0) close(file);
  return file >= 0;
}

#endif
