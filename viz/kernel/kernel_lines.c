#include "viz/kernel/kernel_lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/path.h"
#include "sim/base/ascii.h"
#include "viz/request/assets.h"

/* Bytes that a lane moves by an instruction: "ld.global.v4.f32" is 16. */
static int32_t instruction_lane_bytes(const char *text) {
  int32_t vector = 1, bytes = 0;
  for (const char *p = strchr(text, '.'); p; p = strchr(p + 1, '.')) {
    if (p[1] == 'v' && (p[2] == '2' || p[2] == '4' || p[2] == '8') && (!p[3] || p[3] == '.')) vector = p[2] - '0';
    if (strchr("bsuf", p[1]) && ascii_is_digit(p[2])) { /* the last type counts: .f16x2 is 4 bytes */
      const int32_t bits = (int32_t)strtol(p + 2, NULL, 10);
      const char *x = strpbrk(p + 2, "x.");
      bytes = bits / 8 * (x && *x == 'x' ? x[1] - '0' : 1);
    }
  }
  return bytes * vector;
}

/* A branch that is not taken has no lane: such would say little of the line. */
static bool is_jump(const char *text) {
  return strncmp(text, "bra", 3) == 0 || strncmp(text, "ret", 3) == 0 || strncmp(text, "exit", 4) == 0;
}

static void add_instruction(KernelLine *line, PtxRequestKind kind, const PtxCounts *c, const char *text) {
  if (!is_jump(text)) line->executed += c->executed, line->lanes += c->lanes;
  switch (kind) {
  case PTX_GLOBAL_LOAD:
  case PTX_ASYNC_COPY: ptx_counts_add(&line->load, c); break;
  case PTX_GLOBAL_STORE: ptx_counts_add(&line->store, c); break;
  case PTX_GLOBAL_ATOMIC:
  case PTX_GLOBAL_REDUCE: ptx_counts_add(&line->reduce, c); break;
  case PTX_SHARED_LOAD: ptx_counts_add(&line->shared_load, c); break;
  case PTX_SHARED_STORE:
  case PTX_SHARED_ATOMIC: ptx_counts_add(&line->shared_store, c); break;
  case PTX_LOCAL_LOAD:
  case PTX_LOCAL_STORE: ptx_counts_add(&line->local, c); break;
  default: break;
  }
  if (kind == PTX_GLOBAL_LOAD || kind == PTX_GLOBAL_STORE || kind == PTX_GLOBAL_ATOMIC || kind == PTX_GLOBAL_REDUCE)
    line->asked_bytes += c->lanes * (uint64_t)instruction_lane_bytes(text);
}

static int by_place(const void *a, const void *b) {
  const KernelLine *x = a, *y = b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  return (x->line > y->line) - (x->line < y->line);
}

static int by_cost(const void *a, const void *b) {
  const KernelLine *x = a, *y = b;
  if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
  if (x->executed != y->executed) return x->executed < y->executed ? 1 : -1;
  return by_place(a, b);
}

/* The number of the .cu that was asked about, 0 where no line is its own; of a .ptx the first. */
int32_t kernel_main_file(const KernelLaunch *l) {
  for (int32_t f = 1; ptx_source_file(l->module, f); f++)
    if (strcmp(path_base(ptx_source_file(l->module, f)), path_base(l->request->file)) == 0) return f;
  return !l->by_clang;
}

/* What a header beside the source has, or below: by the longest end of its path that is there; NULL: none. */
static char *header_text(const KernelLaunch *l, const char *path) {
  char *text;
  size_t length;
  for (; path; path = strchr(path, '/')) {
    path += *path == '/';
    if (*path && !file_read_beside(l->request->file, path, CUDA_SOURCE_MAX, &text, &length, NULL)) return text;
  }
  return NULL;
}

static void take_text(const KernelLaunch *l, KernelLine *line) {
  const bool of_main = l->source && line->file == kernel_main_file(l);
  char *header = line->file && !of_main ? header_text(l, ptx_source_file(l->module, line->file)) : NULL;
  const char *p = line->file == 0 ? l->ptx : of_main ? l->source : header;
  for (int32_t k = 1; k < line->line && p; k++) {
    p = strchr(p, '\n');
    if (p) p++;
  }
  if (p) p += strspn(p, " \t");
  if (p) snprintf(line->text, sizeof line->text, "%.*s", (int)strcspn(p, "\r\n"), p);
  free(header);
  for (char *c = line->text; *c; c++)
    if (*c == '\t') *c = ' ';
}

KernelLine *kernel_lines(const KernelLaunch *l, const PtxResult *result, int *n) {
  const int n_instructions = ptx_n_instructions(l->kernel);
  KernelLine *lines = calloc((size_t)n_instructions + 1, sizeof *lines);
  *n = 0;
  if (!lines) return NULL;
  for (int pc = 0; pc < n_instructions && pc < result->n_instructions; pc++) {
    const PtxInstruction i = ptx_instruction(l->kernel, pc);
    lines[pc].file = i.line ? i.file : 0, lines[pc].line = i.line ? i.line : i.ptx_line;
    add_instruction(&lines[pc], result->kinds[pc], &result->counts[pc], i.text);
  }
  qsort(lines, (size_t)n_instructions, sizeof *lines, by_place);
  for (int pc = 0; pc < n_instructions; pc++) {
    KernelLine *last = *n ? &lines[*n - 1] : NULL, *line = &lines[pc];
    if (!last || by_place(last, line) != 0) {
      lines[(*n)++] = *line;
      continue;
    }
    PtxCounts *to[] = {&last->load, &last->store, &last->reduce, &last->shared_load, &last->shared_store, &last->local};
    const PtxCounts *from[] = {&line->load,        &line->store,        &line->reduce,
                               &line->shared_load, &line->shared_store, &line->local};
    for (int k = 0; k < 6; k++) ptx_counts_add(to[k], from[k]);
    last->executed += line->executed, last->lanes += line->lanes, last->asked_bytes += line->asked_bytes;
  }
  for (int k = 0; k < *n; k++) {
    KernelLine *line = &lines[k];
    line->cost = (double)(line->load.sectors + line->store.sectors + line->reduce.sectors + line->local.sectors) / 4 +
                 (double)(line->shared_load.wavefronts + line->shared_store.wavefronts);
    take_text(l, line);
  }
  qsort(lines, (size_t)*n, sizeof *lines, by_cost);
  return lines;
}

void kernel_line_name(const KernelLaunch *l, const KernelLine *line, char *to, size_t size) {
  const char *file = line->file ? ptx_source_file(l->module, line->file) : NULL;
  if (line->file == 0)
    snprintf(to, size, "PTX %d", line->line);
  else if (line->file == kernel_main_file(l) || !file)
    snprintf(to, size, "%d", line->line);
  else
    snprintf(to, size, "%.40s:%d", path_base(file), line->line);
}
