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

/* Removes it with all that is in it, whatever the modes. */
static inline bool scratch_remove(const char *path) {
  char command[2 * SCRATCH_BYTES + 32];
  snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", path, path);
  return system(command) == 0;
}

/* For EACH_TEST: each in a new folder, whose name is its state. */
static inline int enter_scratch(void **state) {
  char *path = *state = malloc(SCRATCH_BYTES);
  return path && scratch_folder(path) && chdir(path) == 0 ? 0 : -1;
}

static inline int leave_scratch(void **state) {
  const bool is_gone = chdir("/") == 0 && scratch_remove(*state);
  free(*state);
  return is_gone ? 0 : -1;
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
