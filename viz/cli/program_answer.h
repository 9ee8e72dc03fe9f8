/* Programs that answer tasks: `algorithms --tasks`, `algorithms FILE --judge TASK`. */
#ifndef TILEWALK_VIZ_CLI_PROGRAM_ANSWER_H
#define TILEWALK_VIZ_CLI_PROGRAM_ANSWER_H

#include <stdbool.h>

#include "lessons/engine/program_task.h"
#include "viz/cli/io.h"

typedef struct {
  bool lists;
  const char *task;    /* a name of lessons/tasks, or a file: with / or a dot */
  const char *program; /* a file; "": none yet */
  bool json;
} TaskRequest;

/* Lists the tasks, prints what one asks, or judges an answer. The exit status: 1 when it does not pass. */
int task_run(const TaskRequest *request, Io *io, Error *error);

#endif
