/* Memory running out at every allocation that the commands make: a reason and status 2 each time, nothing leaked, no
 * crash. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "viz/cli/command.h"

enum { ARGUMENTS_MAX = 16 };

static Status run_command(void *context, Error *error) {
  char line[256], *arguments[ARGUMENTS_MAX];
  int n = 0;
  bool by_old;
  strcpy(line, context);
  for (char *p = strtok(line, " "); p; p = strtok(NULL, " ")) arguments[n++] = p;
  const Command *command = command_find(COMMANDS, &n, arguments, &by_old);
  assert_non_null(command);
  FILE *out = fopen("/dev/null", "w");
  assert_non_null(out);
  Io io = {.out = out, .err = out, .style = {.utf8 = true, .width = 80}, .program = "tilewalk"};
  const int status = command_run(command, n, arguments, &io, error);
  fclose(out);
  if (status == EXIT_DONE) return STATUS_OK;
  assert_int_equal(status, EXIT_BAD_REQUEST);
  return error->status;
}

TEST(every_allocation_may_fail) {
  static const char *const LINES[] = {
      "sim -N 64 --block 16",
      "sim -N 64 --block 16 --csv",
      "sim -N 64 --algorithm fa2 --gpu h200",
      "sweep --values 64,128,256",
      "sweep --values 64,128,256 --csv",
      "sweep --values 64,128 --json",
      "roofline --gpu tiny -N 64",
      "roofline --gpu tiny -N 64 --json",
      "trace -N 8 --block 4",
      "trace -N 8 --block 4 --format chrome",
      "softmax --scores 1,2,3,4,5",
      "softmax --example --csv",
      "softmax --example --json",
      "lesson lessons/course/template.md --export-moodle",
      "lesson lessons/course/template.md --teacher",
      "lesson --lint lessons/course/template.md",
      "gpus",
      "gpus h200",
      "gpus paper tiny --csv",
      "kvcache --gpu h200",
      "kvcache -N 5 --append 3",
      "kvcache --lengths 5,6 --csv",
      "kvcache --list",
      "kvcache --model gemma-3-27b -N 5 --append 2 --json",
      "check --only A-cyu1,C-sram-ratio",
      "check --only A-q1 --csv",
      "check --only A-q1 --json",
      "warp --pad 1",
      "warp --stride 3 --json",
      "replay tests/fuzz/corpus/din/plain",
      "replay tests/fuzz/corpus/din/plain --csv",
  };
  EACH (k, LINES) assert_true(alloc_fail_each(run_command, (void *)LINES[k]) >= 1);
}
