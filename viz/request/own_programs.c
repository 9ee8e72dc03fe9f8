#include "viz/request/own_programs.h"

#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/language/read.h"
#include "sim/base/quote.h"
#include "viz/request/assets.h"

enum { PATH_BYTES = 512 };

/* What has been read, for as long as the process runs: schedules are pointed to from everywhere. */
static struct {
  char path[PATH_BYTES];
  Program program;
} * own[OWN_PROGRAMS_MAX];
static int n_own;

static Status keep(const char *path, const Program *program, const Schedule **schedule, Error *error) {
  for (int k = 0; k < n_own; k++) {
    if (strcmp(own[k]->path, path) != 0 || strcmp(own[k]->program.text, program->text) != 0) continue;
    *schedule = &own[k]->program;
    return STATUS_OK;
  }
  if (n_own == OWN_PROGRAMS_MAX)
    return error_set(error, STATUS_BAD_REQUEST, "more than %d programs of one's own at once", OWN_PROGRAMS_MAX);
  own[n_own] = malloc(sizeof *own[n_own]);
  if (!own[n_own]) return error_set(error, STATUS_NO_MEMORY, "no memory for a program");
  strcpy(own[n_own]->path, path);
  own[n_own]->program = *program;
  own[n_own]->program.path = own[n_own]->path;
  *schedule = &own[n_own++]->program;
  return STATUS_OK;
}

Status own_program_read(const char *path, const Schedule **schedule, Error *error) {
  char *text;
  size_t length;
  if (strlen(path) >= PATH_BYTES)
    return error_set(error, STATUS_BAD_REQUEST, "'%s' is too long for a path", quote_text(path).text);
  Status status = file_read(path, PROGRAM_TEXT_BYTES - 1, &text, &length, error);
  if (status) return status;
  Program *program = malloc(sizeof *program);
  status = program ? program_read(program, text, length, path, error)
                   : error_set(error, STATUS_NO_MEMORY, "no memory for a program");
  free(text);
  if (!status && schedule_find(program->name))
    status = error_set(error, STATUS_BAD_FILE, "%s: the name '%s' is that of a shipped algorithm; choose another",
                       quote_text(path).text, program->name);
  if (!status) status = keep(path, program, schedule, error);
  free(program);
  return status;
}

void own_programs_forget_but(const Schedule *const *used, int n) {
  int left = 0;
  for (int k = 0; k < n_own; k++) {
    bool is_used = false;
    for (int i = 0; i < n; i++) is_used = is_used || used[i] == &own[k]->program;
    if (is_used)
      own[left++] = own[k];
    else
      free(own[k]);
  }
  n_own = left;
}
