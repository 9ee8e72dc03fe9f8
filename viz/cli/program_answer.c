#include "viz/cli/program_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "sim/algorithms/program.h"
#include "viz/cli/reply.h"
#include "viz/lesson/program_judge.h"
#include "viz/request/assets.h"
#include "viz/text/print.h"

/* ---- Tasks by name ---------------------------------------------------------------------------------------- */

enum { TASKS_MAX = 64, NAME_BYTES = 64 };
static const char FOLDER[] = "lessons/tasks", SUFFIX[] = ".task";

typedef struct {
  char names[TASKS_MAX][NAME_BYTES];
  int n;
} Tasks;

static bool take_name(void *data, const char *name) {
  Tasks *t = data;
  const size_t length = strlen(name), end = sizeof SUFFIX - 1;
  if (length > end && length - end < NAME_BYTES && strcmp(name + length - end, SUFFIX) == 0)
    snprintf(t->names[t->n++], NAME_BYTES, "%.*s", (int)(length - end), name);
  return t->n < TASKS_MAX;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static Status tasks_find(Tasks *tasks, Error *error) {
  tasks->n = 0;
  const Status status = assets_list(FOLDER, take_name, tasks, error);
  if (!status) qsort(tasks->names, (size_t)tasks->n, sizeof *tasks->names, by_name);
  return status;
}

Status task_names(FILE *out, Error *error) {
  Tasks tasks;
  const Status status = tasks_find(&tasks, error);
  for (int k = 0; k < tasks.n && !status; k++) fprintf(out, "%s\n", tasks.names[k]);
  return status;
}

ProgramTask *task_open(const char *name, Error *error) {
  char relative[NAME_BYTES + 32], path[ASSETS_PATH_BYTES], *text;
  size_t length;
  if (strchr(name, '/') || strchr(name, '.')) {
    snprintf(path, sizeof path, "%s", name);
  } else {
    snprintf(relative, sizeof relative, "%s/%.60s%s", FOLDER, name, SUFFIX);
    if (assets_find(path, sizeof path, relative, NULL)) {
      Tasks tasks;
      Nearest nearest = {.word = name};
      if (tasks_find(&tasks, error)) return NULL;
      for (int k = 0; k < tasks.n; k++) nearest_offer(&nearest, tasks.names[k]);
      error_set(error, STATUS_BAD_REQUEST, "there is no task '%s'%s%s%s; 'tilewalk algorithms --tasks' lists them",
                quote(name, strlen(name)).text, nearest.best ? " (did you mean '" : "",
                nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
      return NULL;
    }
  }
  if (file_read(path, PROGRAM_TASK_BYTES_MAX + 1, &text, &length, error)) return NULL;
  const char *slash = strrchr(path, '/');
  ProgramTask *task = program_task_read(text, length, slash ? slash + 1 : path, error);
  free(text);
  return task;
}

/* ---- What is printed -------------------------------------------------------------------------------------- */

static Status list_tasks(bool json, Io *io, Error *error) {
  Tasks tasks;
  Document d = document_new(json ? DOCUMENT_JSON : DOCUMENT_TEXT);
  Status status = tasks_find(&tasks, error);
  put_array(&d, "tasks");
  for (int k = 0; k < tasks.n && !status; k++) {
    ProgramTask *task = task_open(tasks.names[k], error);
    if (!task) {
      status = error->status;
    } else if (json) {
      put_object(&d, NULL);
      put_text(&d, "task", tasks.names[k]);
      put_text(&d, "title", task->title);
      put_text(&d, "teaches", task->teaches);
      put_end(&d);
    } else {
      fprintf(io->out, "%-20s %s\n%-20s %s\n", tasks.names[k], task->title, "", task->teaches);
    }
    free(task);
  }
  put_end(&d);
  if (json) return reply_print(&d, status, io, error);
  document_free(&d);
  if (!status)
    fputs("\n`tilewalk algorithms --judge TASK >mine.walk` begins one; then `tilewalk algorithms ./mine.walk "
          "--judge TASK`.\n",
          io->out);
  return status;
}

/* A paragraph as comments of a program. */
static void print_comment(const char *text, FILE *out) {
  enum { WIDTH = 100 };
  while (*text) {
    size_t take = strlen(text);
    if (take > WIDTH)
      for (take = WIDTH; take > 1 && text[take] != ' ';) take--;
    fprintf(out, "# %.*s\n", (int)take, text);
    text += take;
    while (*text == ' ') text++;
  }
}

/* What is asked, and the start: one text that is a program. */
static void print_start(const ProgramTask *t, Io *io) {
  print_comment(t->title, io->out);
  print_comment(t->ask, io->out);
  for (int k = 0; k < t->n_hints; k++) fprintf(io->err, "Hint: %s\n", t->hints[k]);
  fputs(t->start, io->out);
}

static Status print_judgement(const ProgramTask *t, const TaskJudgement *j, bool json, Io *io, Error *error) {
  if (json) {
    Document d = document_new(DOCUMENT_JSON);
    put_text(&d, "task", t->title);
    put_flag(&d, "passed", j->verdict == TASK_SOLVED);
    put_text(&d, "verdict", task_verdict_name(j->verdict));
    put_text(&d, "why", j->why);
    put_text(&d, "diagnosis", *j->says ? j->says : NULL);
    if (j->line)
      put_count(&d, "line", j->line);
    else
      put_null(&d, "line");
    put_text(&d, "state", j->state >= 0 ? t->states[j->state] : NULL);
    put_real(&d, "bytes", j->bytes);
    put_real(&d, "reference_bytes", j->reference_bytes);
    return reply_print(&d, STATUS_OK, io, error);
  }
  const bool passed = j->verdict == TASK_SOLVED;
  text_print(io->out, &io->style, passed ? ROLE_GOOD : ROLE_BAD, "%s %s",
             text_role_mark(&io->style, passed ? ROLE_GOOD : ROLE_BAD), passed ? "It passes." : "Not yet:");
  if (!passed) fprintf(io->out, " %s%s", j->why, j->why[0] && j->why[strlen(j->why) - 1] == '.' ? "" : ".");
  fputc('\n', io->out);
  if (*j->says) text_paragraph(io->out, &io->style, ROLE_PLAIN, 0, j->says);
  return STATUS_OK;
}

static int judge(const ProgramTask *task, const TaskRequest *r, Io *io, Error *error) {
  char *text;
  size_t length;
  TaskJudgement j;
  Status status = file_read(r->program, PROGRAM_TEXT_BYTES - 1, &text, &length, error);
  if (status) return EXIT_BAD_REQUEST;
  status = program_judge(task, text, length, r->program, &j, error);
  free(text);
  if (!status) status = print_judgement(task, &j, r->json, io, error);
  return status ? EXIT_BAD_REQUEST : j.verdict == TASK_SOLVED ? EXIT_DONE : EXIT_DIFFERS;
}

int task_run(const TaskRequest *r, Io *io, Error *error) {
  if (r->lists && (*r->task || *r->program)) {
    error_set(error, STATUS_BAD_REQUEST, "--tasks lists the tasks; give it alone");
    return EXIT_BAD_REQUEST;
  }
  if (r->lists) return list_tasks(r->json, io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
  ProgramTask *task = task_open(r->task, error);
  if (!task) return EXIT_BAD_REQUEST;
  int status = EXIT_DONE;
  if (*r->program)
    status = judge(task, r, io, error);
  else if (r->json)
    status = (error_set(error, STATUS_BAD_REQUEST, "--json is a judgement; name a program"), EXIT_BAD_REQUEST);
  else
    print_start(task, io);
  free(task);
  return status;
}
