/* Counts by source line, and the names of what is counted. */
#include <stdlib.h>

#include "kernels/ptx/ptx_machine.h"

static void add_counts(PtxCounts *to, const PtxCounts *from) {
  to->executed += from->executed, to->lanes += from->lanes, to->requests += from->requests;
  to->sectors += from->sectors, to->wavefronts += from->wavefronts, to->conflicts += from->conflicts;
}

static uint64_t line_sectors(const PtxLine *l) {
  return l->global_load.sectors + l->global_store.sectors + l->other.sectors;
}
static uint64_t line_conflicts(const PtxLine *l) { return l->shared_load.conflicts + l->shared_store.conflicts; }

static int worse(const void *a, const void *b) {
  const PtxLine *x = a, *y = b;
  if (line_sectors(x) != line_sectors(y)) return line_sectors(x) > line_sectors(y) ? -1 : 1;
  if (line_conflicts(x) != line_conflicts(y)) return line_conflicts(x) > line_conflicts(y) ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}

typedef struct {
  int32_t line, pc;
} Place;

static int by_line(const void *a, const void *b) {
  const Place *x = a, *y = b;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static PtxCounts *counts_of(PtxLine *l, PtxRequestKind kind) {
  switch (kind) {
  case PTX_GLOBAL_LOAD:
  case PTX_ASYNC_COPY: return &l->global_load;
  case PTX_GLOBAL_STORE: return &l->global_store;
  case PTX_SHARED_LOAD: return &l->shared_load;
  case PTX_SHARED_STORE: return &l->shared_store;
  case PTX_NO_REQUEST: return NULL;
  default: return &l->other;
  }
}

int ptx_lines(const PtxKernel *k, const PtxResult *result, int file, PtxLine *lines, int max) {
  Place *places = malloc(((size_t)k->n_code + 1) * sizeof *places);
  PtxLine *all = calloc((size_t)k->n_code + 1, sizeof *all);
  int32_t n = 0, n_lines = 0;
  for (int32_t pc = 0; places && all && result->counts && pc < k->n_code; pc++) {
    const Location l = k->locations[k->code[pc].loc];
    if (l.file == file) places[n++] = (Place){l.line, pc};
  }
  if (n) qsort(places, (size_t)n, sizeof *places, by_line);
  for (int32_t i = 0; i < n; i++) {
    if (i == 0 || places[i].line != places[i - 1].line) all[n_lines++].line = places[i].line;
    PtxLine *l = &all[n_lines - 1];
    const PtxCounts *c = &result->counts[places[i].pc];
    PtxCounts *to = counts_of(l, result->kinds[places[i].pc]);
    if (to) add_counts(to, c);
    l->executed += c->executed, l->lanes += c->lanes;
  }
  if (n_lines) qsort(all, (size_t)n_lines, sizeof *all, worse);
  for (int32_t i = 0; i < n_lines && i < max; i++) lines[i] = all[i];
  free(places);
  free(all);
  return n_lines;
}
