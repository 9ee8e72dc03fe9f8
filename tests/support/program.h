/* Runs the built program as a user would and captures what it says: for tests of the command line. */
#ifndef TILEWALK_TESTS_SUPPORT_PROGRAM_H
#define TILEWALK_TESTS_SUPPORT_PROGRAM_H

#include <stddef.h>

enum { PROGRAM_OUTPUT_BYTES = 1 << 19 };

typedef struct {
  int exit_status;                /* -1: killed by a signal */
  char out[PROGRAM_OUTPUT_BYTES]; /* the beginning of stdout, ends with '\0' */
  char err[PROGRAM_OUTPUT_BYTES];
} ProgramRun;

/* Runs `tilewalk ARGUMENTS` through the shell, so that quotes and redirections work. The program is $TILEWALK, or
 * build/tilewalk when that is unset. */
void program_run(ProgramRun *run, const char *arguments);

#endif
