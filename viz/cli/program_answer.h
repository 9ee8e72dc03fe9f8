/* Programs that answer tasks: `algorithms --tasks`, `algorithms FILE --judge TASK`. */
#ifndef TILEWALK_VIZ_CLI_PROGRAM_ANSWER_H
#define TILEWALK_VIZ_CLI_PROGRAM_ANSWER_H

#include <stdbool.h>

#include "lessons/engine/program_task.h"
#include "viz/cli/io.h"
#include "viz/document/document.h"

/* Lists the tasks, prints what one asks, or judges an answer; io->differs: it does not pass. name: of lessons/tasks, or
 * a file: with / or a dot. program: a file; "": none yet. */
Status task_answer(bool lists, const char *name, const char *program, Document *document, Io *io, Error *error);

#endif
