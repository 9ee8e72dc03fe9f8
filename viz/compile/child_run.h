/* Runs another program without a shell, bounded in time, memory and what it prints. */
#ifndef TILEWALK_VIZ_COMPILE_CHILD_RUN_H
#define TILEWALK_VIZ_COMPILE_CHILD_RUN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/base/error.h"

typedef struct {
  int cpu_seconds, wall_seconds;
  uint64_t memory_bytes;
  size_t out_bytes, err_bytes; /* out: writing more fails; err: more of it is dropped */
  /* NULL: it opens what the user may. Else, where Linux has Landlock, it opens files below these folders alone (the
   * list ends in NULL), and writes below the first alone. */
  const char *const *folders;
} ChildLimits;

typedef struct {
  char *out, *err; /* end in '\0'; for the caller to free */
  size_t n_out, n_err;
  int exit_status; /* 128 + signal when one ended it */
  int timed_out, out_cut;
} ChildResult;

/* argv[0] is a path; argv ends in NULL. Input is /dev/null. STATUS_BAD_REQUEST: it could not be started. Whatever the
 * program started with it ends with it. */
Status child_run(const char *const *argv, const ChildLimits *limits, ChildResult *result, Error *error);
void child_result_free(ChildResult *result);

#endif
