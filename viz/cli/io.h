/* What a command reads and prints to, and its exit status. */
#ifndef TILEWALK_VIZ_CLI_IO_H
#define TILEWALK_VIZ_CLI_IO_H

#include <stdio.h>

#include "viz/text/style.h"

/* EXIT_INTERRUPTED: stopped by SIGINT; main prints the reason and lets the signal end the program, as shells expect. */
enum { EXIT_DONE = 0, EXIT_DIFFERS = 1, EXIT_BAD_REQUEST = 2, EXIT_INTERRUPTED = 130 };

typedef struct Drawing Drawing; /* viz/cli/chart_file.h */

typedef struct {
  FILE *out, *err;
  TextStyle style;        /* of out */
  const char *program;    /* argv[0], for finding data files */
  char *const *argv;      /* all of the command line */
  const Drawing *drawing; /* how charts become files; NULL in the program that only prints, which is never asked */
} Io;

#endif
