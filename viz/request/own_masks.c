#include "viz/request/own_masks.h"

#include <stdlib.h>
#include <string.h>

#include "viz/request/assets.h"

enum { KEPT = 64, FILE_BYTES_MAX = 1 << 23 };

/* The last ones asked for: shapes point to them. */
static Pattern *kept[KEPT];
static int next;

static Pattern *read_pattern(const char *name, PatternMatrix matrix, Error *error) {
  static const char DOCUMENTS[] = "documents:";
  const bool documents = strncmp(name, DOCUMENTS, sizeof DOCUMENTS - 1) == 0;
  const char *path = documents ? name + sizeof DOCUMENTS - 1 : name;
  char *text;
  size_t length;
  if (file_read(path, FILE_BYTES_MAX, &text, &length, error)) return NULL;
  Pattern *p = documents ? pattern_documents(text, length, name, matrix, error)
                         : pattern_read(text, length, path, matrix, error);
  free(text);
  return p;
}

static bool is_same(const Pattern *p, const char *name, PatternMatrix m) {
  return p && p->matrix.N_q == m.N_q && p->matrix.N_k == m.N_k && p->matrix.top_left == m.top_left &&
         strcmp(p->name, name) == 0;
}

Status own_mask(const char *name, const Shape *shape, const Pattern **pattern, Error *error) {
  const PatternMatrix matrix = {shape->N_q, shape->N_k, shape->top_left};
  const bool is_file = strpbrk(name, "/.") != NULL;
  for (int k = 0; k < KEPT && !is_file; k++) {
    if (!is_same(kept[k], name, matrix)) continue;
    *pattern = kept[k];
    return STATUS_OK;
  }
  Error own = {0};
  Pattern *p = is_file ? read_pattern(name, matrix, &own) : pattern_named(name, matrix, &own);
  if (!p) return error_set(error, own.status, "%s", own.message);
  free(kept[next]);
  kept[next] = p;
  next = (next + 1) % KEPT;
  *pattern = p;
  return STATUS_OK;
}
