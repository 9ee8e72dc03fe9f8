#include "viz/cli/program_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/program.h"
#include "viz/lesson/lesson_workshop.h"
#include "viz/lesson/program_judge.h"
#include "viz/request/assets.h"
#include "viz/text/print.h"

/* ---- What is printed -------------------------------------------------------------------------------------- */

static Status list_tasks(Document *d, Error *error) {
  LessonFiles *tasks = NULL;
  d->details = true;
  Table *t = put_table(d, DOCUMENT_ALL, "tasks", "task=task|=language|title~=title|teaches~=teaches");
  Status status = task_names(&tasks, error);
  for (int k = 0; !status && k < 2 * tasks->n; k++) { /* programs first, then kernels */
    const bool kernels = k >= tasks->n;
    ProgramTask *task = task_open(tasks->names[k % tasks->n], error);
    if (k % tasks->n == 0) table_group(t, kernels ? "CUDA kernels (.cu)" : "Programs (.walk)");
    if (!task)
      status = error->status;
    else if (kernels == (task->entry[0] != '\0'))
      put_cells(t, "*ssss", tasks->names[k % tasks->n], kernels ? "cuda" : "walk", task->title, task->teaches);
    free(task);
  }
  free(tasks);
  table_note(t, "`tilewalk list algorithms --judge TASK >mine.walk` begins one; then "
                "`tilewalk list algorithms "
                "./mine.walk --judge TASK`. A kernel goes into a file that ends in .cu.");
  return status;
}

/* What is asked, and the start: one text that is a program. */
static Status print_start(const char *name, const ProgramTask *t, Io *io, Error *error) {
  char text[WORK_TEXT_BYTES];
  const Status status = task_start(name, t, text, sizeof text, error);
  if (status) return status;
  for (int k = 0; k < t->n_hints; k++) text_say(io->err, "Hint: %s\n", t->hints[k]);
  text_put(io->out, text);
  return STATUS_OK;
}

static void put_judgement(Document *d, const ProgramTask *t, const TaskJudgement *j, const Io *io) {
  const bool passed = j->verdict == TASK_SOLVED;
  const TextRole role = passed ? ROLE_GOOD : ROLE_BAD;
  const size_t n = strlen(j->why);
  put_values(d, "task:s passed:b verdict:s why:s diagnosis:s", t->title, passed, task_verdict_name(t, j), j->why,
             *j->says ? j->says : NULL);
  put_values(d, j->line ? "line:n" : "line:0", j->line);
  put_values(d, "state:s bytes:f reference_bytes:f", j->state >= 0 ? program_task_state(t, j->state) : NULL, j->bytes,
             j->reference_bytes);
  document_line(d, role, "%s %s%s%s", text_role_mark(&io->style, role),
                passed ? "It passes." : "Not yet: ", passed ? "" : j->why,
                passed || (n && j->why[n - 1] == '.') ? "" : ".");
  if (*j->says) document_line(d, ROLE_PLAIN, "%s", j->says);
}

static Status judge(ProgramTask *task, const char *name, const char *program, Document *d, Io *io, Error *error) {
  char *text;
  size_t length;
  TaskJudgement j;
  Status status = file_read(program, PROGRAM_TEXT_BYTES - 1, &text, &length, error);
  if (status) return status;
  status = task_draw(task, 0, text, length, error);
  if (!status) status = task_judge(name, task, text, length, program, &j, error);
  free(text);
  if (status) return status;
  put_judgement(d, task, &j, io);
  io->differs = j.verdict != TASK_SOLVED;
  return STATUS_OK;
}

Status task_answer(bool lists, const char *name, const char *program, Document *d, Io *io, Error *error) {
  if (lists && (*name || *program)) return error_refuse(error, "--tasks lists the tasks; give it alone");
  if (lists) return list_tasks(d, error);
  ProgramTask *task = task_open(name, error);
  if (!task) return error->status;
  const Status status = *program                   ? judge(task, name, program, d, io, error)
                        : d->form == DOCUMENT_JSON ? error_refuse(error, "--json is a judgement; name a program")
                                                   : print_start(name, task, io, error);
  free(task);
  return status;
}
