#include "viz/request/own.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/algorithms/language/read.h"
#include "viz/request/assets.h"
#include "viz/request/description.h"

enum { KERNELS = PROFILES_MAX, MASKS = 64, MASK_FILE_BYTES_MAX = 1 << 23, NAME_BYTES = 512 };

typedef struct {
  char name[NAME_BYTES];
  void *thing;
} Kept;

static _Thread_local Kept kernels[KERNELS], masks[MASKS];
static _Thread_local int n_kernels, n_masks;
typedef struct {
  char path[NAME_BYTES];
  Program program;
} OwnProgram;

static _Thread_local OwnProgram *own[OWN_PROGRAMS_MAX];
static _Thread_local int n_own;

/* In the place of the oldest. */
static void *keep(Kept *to, const char *name, void *thing) {
  free(to->thing);
  snprintf(to->name, NAME_BYTES, "%s", name);
  return to->thing = thing;
}

static bool is_file(const char *name) { return strpbrk(name, "/.") != NULL; }

static Status check_name(const char *name, Error *error) {
  return strlen(name) < NAME_BYTES ? STATUS_OK
                                   : error_refuse(error, "'%s' is too long for a path", quote_text(name).text);
}

Status own_kernel(const char *name, const Profile **kernel, Error *error) {
  int at = 0;
  while (at < KERNELS && !(kernels[at].thing && strcmp(kernels[at].name, name) == 0)) at++;
  *kernel = at < KERNELS ? kernels[at].thing : NULL;
  if (*kernel && !is_file(name)) return STATUS_OK;
  if (check_name(name, error)) return error->status;
  Profile *const profile = calloc(1, sizeof *profile);
  if (!profile) return error_no_memory(error, "for a kernel description");
  const Status status = description_kernel(name, profile, error);
  const bool is_same = !status && *kernel && memcmp(profile, *kernel, sizeof *profile) == 0;
  if (status || is_same)
    free(profile);
  else
    *kernel = keep(&kernels[n_kernels++ % KERNELS], name, profile);
  return status;
}

int own_kernels(const Profile *all[PROFILES_MAX]) {
  DescriptionNames *names = calloc(1, sizeof *names);
  int n = 0;
  if (names && !description_names("kernels", names, NULL))
    for (int k = 0; k < names->n && n < PROFILES_MAX; k++) n += !own_kernel(names->names[k], &all[n], NULL);
  free(names);
  return n;
}

static Pattern *read_pattern(const char *name, PatternMatrix matrix, Error *error) {
  static const char DOCUMENTS[] = "documents:";
  const size_t n = strncmp(name, DOCUMENTS, sizeof DOCUMENTS - 1) == 0 ? sizeof DOCUMENTS - 1 : 0;
  char *text;
  size_t length;
  if (file_read(name + n, MASK_FILE_BYTES_MAX, &text, &length, error)) return NULL;
  Pattern *p = (n ? pattern_documents : pattern_read)(text, length, name, matrix, error);
  free(text);
  return p;
}

Status own_mask(const char *name, const Shape *shape, const Pattern **pattern, Error *error) {
  const PatternMatrix m = {shape->N_q, shape->N_k, shape->top_left};
  for (int k = 0; k < MASKS && !is_file(name); k++) {
    const Pattern *p = masks[k].thing;
    if (!p || p->matrix.N_q != m.N_q || p->matrix.N_k != m.N_k || p->matrix.top_left != m.top_left) continue;
    if (strcmp(p->name, name) == 0) return *pattern = p, STATUS_OK;
  }
  Error why = {0};
  Pattern *p = is_file(name) ? read_pattern(name, m, &why) : pattern_named(name, m, &why);
  if (!p) return error_pass(error, &why);
  *pattern = keep(&masks[n_masks++ % MASKS], "", p);
  return STATUS_OK;
}

static Status keep_program(const char *path, const Program *program, const Schedule **schedule, Error *error) {
  for (int k = 0; k < n_own; k++) {
    if (strcmp(own[k]->path, path) != 0 || strcmp(own[k]->program.text, program->text) != 0) continue;
    *schedule = &own[k]->program;
    return STATUS_OK;
  }
  if (n_own == OWN_PROGRAMS_MAX)
    return error_refuse(error, "more than %d programs of one's own at once", OWN_PROGRAMS_MAX);
  OwnProgram *kept = own[n_own] = malloc(sizeof *kept);
  if (!kept) return error_no_memory(error, "for a program");
  strcpy(kept->path, path);
  kept->program = *program;
  kept->program.path = kept->path;
  *schedule = &kept->program;
  n_own++;
  return STATUS_OK;
}

Status own_program_read(const char *path, const Schedule **schedule, Error *error) {
  char *text;
  size_t length;
  Status status = check_name(path, error);
  if (!status) status = file_read(path, PROGRAM_TEXT_BYTES - 1, &text, &length, error);
  if (status) return status;
  Program program;
  status = program_read(&program, text, length, path, error);
  free(text);
  if (!status && schedule_find(program.name))
    status = error_set(error, STATUS_BAD_FILE, "%s: the name '%s' is that of a shipped algorithm; choose another",
                       quote_text(path).text, program.name);
  return status ? status : keep_program(path, &program, schedule, error);
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

void own_forget(void) {
  own_programs_forget_but(NULL, 0);
  for (int k = 0; k < KERNELS; k++) keep(&kernels[k], "", NULL);
  for (int k = 0; k < MASKS; k++) keep(&masks[k], "", NULL);
}
