#include "viz/request/own_masks.h"

#include <stdlib.h>
#include <string.h>

#include "viz/request/assets.h"

enum { KEPT = 64, FILE_BYTES_MAX = 1 << 23 };

/* The last ones asked for: shapes point to them. */
static Pattern *kept[KEPT];
static int next;

static Pattern *read_pattern(const char *path, int64_t N_q, int64_t N_k, Error *error) {
  char *text;
  size_t length;
  if (file_read(path, FILE_BYTES_MAX, &text, &length, error)) return NULL;
  Pattern *p = pattern_read(text, length, path, N_q, N_k, error);
  free(text);
  return p;
}

Status own_mask(const char *name, int64_t N_q, int64_t N_k, const Pattern **pattern, Error *error) {
  const bool is_file = strchr(name, '/') || strchr(name, '.');
  for (int k = 0; k < KEPT && !is_file; k++) {
    if (!kept[k] || kept[k]->N_q != N_q || kept[k]->N_k != N_k || strcmp(kept[k]->name, name) != 0) continue;
    *pattern = kept[k];
    return STATUS_OK;
  }
  Error own = {0};
  Pattern *p = is_file ? read_pattern(name, N_q, N_k, &own) : pattern_named(name, N_q, N_k, &own);
  if (!p) return error_set(error, own.status, "%s", own.message);
  free(kept[next]);
  kept[next] = p;
  next = (next + 1) % KEPT;
  *pattern = p;
  return STATUS_OK;
}
