#include "viz/cli/program_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/program.h"
#include "viz/cli/reply.h"
#include "viz/lesson/lesson_workshop.h"
#include "viz/lesson/program_judge.h"
#include "viz/request/assets.h"
#include "viz/text/print.h"

/* ---- What is printed -------------------------------------------------------------------------------------- */

static Status list_tasks(bool json, Io *io, Error *error) {
  LessonFiles *tasks = NULL;
  Document d = document_new(json ? DOCUMENT_JSON : DOCUMENT_TEXT);
  d.details = true;
  Table *t = put_table(&d, DOCUMENT_ALL, "tasks", "task=task|=language|title~=title|teaches~=teaches");
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
  table_note(t, "`tilewalk list algorithms --judge TASK >mine.walk` begins one; then `tilewalk list algorithms "
                "./mine.walk --judge TASK`. A kernel goes into a file that ends in .cu.");
  return reply_print(&d, status, io, error);
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

static Status print_judgement(const ProgramTask *t, const TaskJudgement *j, bool json, Io *io, Error *error) {
  Document d = document_new(json ? DOCUMENT_JSON : DOCUMENT_TEXT);
  const bool passed = j->verdict == TASK_SOLVED;
  const TextRole role = passed ? ROLE_GOOD : ROLE_BAD;
  const size_t n = strlen(j->why);
  put_values(&d, "task:s passed:b verdict:s why:s diagnosis:s", t->title, passed, task_verdict_name(t, j), j->why,
             *j->says ? j->says : NULL);
  put_values(&d, j->line ? "line:n" : "line:0", j->line);
  put_values(&d, "state:s bytes:f reference_bytes:f", j->state >= 0 ? program_task_state(t, j->state) : NULL, j->bytes,
             j->reference_bytes);
  document_line(&d, role, "%s %s%s%s", text_role_mark(&io->style, role),
                passed ? "It passes." : "Not yet: ", passed ? "" : j->why,
                passed || (n && j->why[n - 1] == '.') ? "" : ".");
  if (*j->says) document_line(&d, ROLE_PLAIN, "%s", j->says);
  return reply_print(&d, STATUS_OK, io, error);
}

static int judge(ProgramTask *task, const TaskRequest *r, Io *io, Error *error) {
  char *text;
  size_t length;
  TaskJudgement j;
  Status status = file_read(r->program, PROGRAM_TEXT_BYTES - 1, &text, &length, error);
  if (status) return EXIT_BAD_REQUEST;
  status = task_draw(task, 0, text, length, error);
  if (!status) status = task_judge(r->task, task, text, length, r->program, &j, error);
  free(text);
  if (!status) status = print_judgement(task, &j, r->json, io, error);
  return status ? EXIT_BAD_REQUEST : j.verdict == TASK_SOLVED ? EXIT_DONE : EXIT_DIFFERS;
}

int task_run(const TaskRequest *r, Io *io, Error *error) {
  if (r->lists && (*r->task || *r->program)) {
    error_refuse(error, "--tasks lists the tasks; give it alone");
    return EXIT_BAD_REQUEST;
  }
  if (r->lists) return list_tasks(r->json, io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
  ProgramTask *task = task_open(r->task, error);
  if (!task) return EXIT_BAD_REQUEST;
  int status = EXIT_DONE;
  if (*r->program)
    status = judge(task, r, io, error);
  else if (r->json)
    status = (error_refuse(error, "--json is a judgement; name a program"), EXIT_BAD_REQUEST);
  else if (print_start(r->task, task, io, error))
    status = EXIT_BAD_REQUEST;
  free(task);
  return status;
}
