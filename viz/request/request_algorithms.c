/* --algorithm: names, all of them, or programs of one's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/shipped.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "viz/request/description.h"
#include "viz/request/own_programs.h"
#include "viz/request/request_parts.h"

static Status name_algorithm(Request *r, const Schedule *schedule, Error *error) {
  for (int k = 0; k < r->n_algorithms; k++)
    if (r->algorithms[k] == schedule)
      return error_set(error, STATUS_BAD_REQUEST, "'%s' is named twice", schedule->name);
  if (r->n_algorithms == REQUEST_ALGORITHMS_MAX)
    return error_set(error, STATUS_BAD_REQUEST, "more than %d algorithms at once", REQUEST_ALGORITHMS_MAX);
  r->algorithms[r->n_algorithms++] = schedule;
  return STATUS_OK;
}

/* A word that begins the name of a kernel, as "cudnn" does: whose algorithm it runs. False: there is none. */
static bool is_kernel(const char *word, const char *shown, Error *error) {
  DescriptionNames *known = malloc(sizeof *known);
  Profile *profile = malloc(sizeof *profile);
  bool found = false;
  if (known && profile && description_names("kernels", known, NULL) == STATUS_OK)
    for (int k = 0; !found && k < known->n; k++) {
      if (strncmp(known->names[k], word, strlen(word)) != 0) continue;
      if (description_kernel(known->names[k], profile, NULL)) continue;
      found = true;
      error_set(error, STATUS_BAD_REQUEST,
                "there is no algorithm '%s': %s is a kernel, which moves the tiles of %s; give --kernel %s "
                "--algorithm %s",
                shown, known->names[k], profile->schedule->name, known->names[k], profile->schedule->name);
    }
  free(profile);
  free(known);
  return found;
}

static Status unknown_algorithm(const char *word, const char *shown, Error *error) {
  Nearest nearest = {.word = word};
  char all[128] = "", meant[160];
  for (int k = 0; k < N_PROGRAMS; k++) nearest_offer(&nearest, SCHEDULES[k]->name);
  shipped_names(SHIPPED_ALL, ", ", all, sizeof all);
  if (*word && !nearest.n_parts && is_kernel(word, shown, error)) return error->status;
  nearest_list(&nearest, meant, sizeof meant);
  return error_set(error, STATUS_BAD_REQUEST,
                   "there is no algorithm '%s'%s%s%s; there are %s and more (tilewalk algorithms)", shown,
                   *meant ? " (did you mean " : "", meant, *meant ? "?)" : "", all);
}

static Status add_algorithm(Request *r, const char *name, size_t length, Error *error) {
  if (own_program_is_path(name, length)) {
    char path[512];
    if (length >= sizeof path)
      return error_set(error, STATUS_BAD_REQUEST, "'%s' is too long for a path", quote(name, length).text);
    snprintf(path, sizeof path, "%.*s", (int)length, name);
    const Schedule *own;
    const Status status = own_program_read(path, &own, error);
    return status ? status : name_algorithm(r, own, error);
  }
  char copy[32];
  snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), name);
  const Schedule *schedule = length < sizeof copy ? schedule_find(copy) : NULL;
  if (!schedule) return unknown_algorithm(copy, quote(name, length).text, error);
  return name_algorithm(r, schedule, error);
}

Status set_algorithm(void *target, const char *value, Error *error) {
  Request *r = target;
  r->n_algorithms = 0;
  if (strcmp(value, "all") == 0) {
    for (int k = 0; k < N_SCHEDULES; k++) r->algorithms[r->n_algorithms++] = SCHEDULES[k];
    return STATUS_OK;
  }
  for (const char *p = value;;) {
    const size_t length = strcspn(p, ",");
    const Status status = add_algorithm(r, p, length, error);
    if (status) return status;
    if (!p[length]) return STATUS_OK;
    p += length + 1;
  }
}
