/* tilewalk _names KIND: the known names of a kind, a line each, for shell completion. */
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/schedule.h"
#include "viz/cli/check/articles.h"
#include "viz/cli/command.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/lesson/lesson_workshop.h"
#include "viz/request/description.h"

typedef struct {
  char kind[32];
} NamesOptions;

static Status set_kind(void *target, const char *value, Error *error) {
  NamesOptions *o = target;
  if (strlen(value) >= sizeof o->kind) return error_set(error, STATUS_BAD_REQUEST, "that is no kind of name");
  strcpy(o->kind, value);
  return STATUS_OK;
}

static void algorithms(FILE *out) {
  for (int k = 0; k < N_PROGRAMS; k++) fprintf(out, "%s\n", SCHEDULES[k]->name);
  fputs("all\n", out);
}

static void commands(FILE *out) {
  for (const Command *const *c = COMMANDS; *c; c++)
    if ((*c)->name[0] != '_') fprintf(out, "%s\n", (*c)->name);
}

static Status lessons(FILE *out, Error *error) {
  LessonFiles *files = NULL;
  if (lesson_files(&files, error)) return error->status;
  for (int k = 0; k < files->n; k++) fprintf(out, "%s\n", files->names[k] + 3); /* without its number */
  free(files);
  return STATUS_OK;
}

static Status claims(FILE *out, Error *error) {
  Claims all = {0};
  const Status status = check_read(&all, error);
  for (size_t k = 0; !status && k < all.n_entries; k++) fprintf(out, "%s\n", claims_id(&all, &all.entries[k]));
  claims_free(&all);
  return status;
}

static Status descriptions(const char *folder, FILE *out, Error *error) {
  DescriptionNames *names = malloc(sizeof *names);
  if (!names) return error_set(error, STATUS_NO_MEMORY, "no memory for names");
  const Status status = description_names(folder, names, error);
  for (int k = 0; status == STATUS_OK && k < names->n; k++) fprintf(out, "%s\n", names->names[k]);
  free(names);
  return status;
}

static Status tasks(FILE *out, Error *error) {
  TaskNames names;
  const Status status = task_names(&names, error);
  for (int k = 0; k < names.n && !status; k++) fprintf(out, "%s\n", names.names[k]);
  return status;
}

static int run_names(void *options, Io *io, Error *error) {
  const NamesOptions *o = options;
  Status status = STATUS_OK;
  if (strcmp(o->kind, "algorithms") == 0)
    algorithms(io->out);
  else if (strcmp(o->kind, "commands") == 0)
    commands(io->out);
  else if (strcmp(o->kind, "lessons") == 0)
    status = lessons(io->out, error);
  else if (strcmp(o->kind, "tasks") == 0)
    status = tasks(io->out, error);
  else if (strcmp(o->kind, "claims") == 0)
    status = claims(io->out, error);
  else if (strcmp(o->kind, "gpus") == 0 || strcmp(o->kind, "kernels") == 0 || strcmp(o->kind, "links") == 0 ||
           strcmp(o->kind, "models") == 0)
    status = descriptions(o->kind, io->out, error);
  else
    status = error_set(
        error, STATUS_BAD_REQUEST,
        "there are names of algorithms, claims, commands, gpus, kernels, lessons, links, models and tasks; give one");
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

const Command COMMAND_NAMES = {
    .name = "_names",
    .summary = "the known names of a kind",
    .usage = "KIND",
    .examples = "  tilewalk _names gpus\n",
    .options_bytes = sizeof(NamesOptions),
    .sets = (const OptionSet[]){{0}},
    .set_positional = set_kind,
    .run = run_names,
};
