#define _POSIX_C_SOURCE 200809L
#include "tests/support/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void slurp(const char *path, char *text) {
  FILE *file = fopen(path, "r");
  const size_t n = file ? fread(text, 1, PROGRAM_OUTPUT_BYTES - 1, file) : 0;
  text[n] = '\0';
  if (file) fclose(file);
}

void program_run(ProgramRun *run, const char *arguments) {
  char out[] = "/tmp/tilewalk-out-XXXXXX", err[] = "/tmp/tilewalk-err-XXXXXX", command[8192];
  const int out_fd = mkstemp(out), err_fd = mkstemp(err);
  const char *program = getenv("TILEWALK");
  snprintf(command, sizeof command, "{ '%s' %s ; } >%s 2>%s", program ? program : "build/tilewalk", arguments, out,
           err);
  const int status = system(command);
  run->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  slurp(out, run->out);
  slurp(err, run->err);
  close(out_fd);
  close(err_fd);
  unlink(out);
  unlink(err);
}
