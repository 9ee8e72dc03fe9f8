/* Fuzz target for tasks: any bytes are a task, or refused with one line that begins with the file and a line number. */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/program_task.h"
#include "sim/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Error error = {0};
  ProgramTask *task = program_task_read((const char *)data, size, "f", &error);
  if (!task) {
    if (strncmp(error.message, "f:", 2) != 0 || !utf8_is_text(error.message, strlen(error.message))) abort();
    return 0;
  }
  char text[PROGRAM_TASK_PROGRAM_BYTES];
  for (int k = 0; k < task->n_mutants; k++)
    if (program_task_mutant(task, k, text, NULL) || strlen(text) >= sizeof text) abort();
  free(task);
  return 0;
}
