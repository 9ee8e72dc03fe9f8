#include "viz/kernel/kernel_film.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/kernel/kernel_banks.h"
#include "viz/kernel/kernel_lines.h"

enum { SECTOR = 32, LANES = 32, STEPS_MAX = 1 << 20 };

/* One run of the launch. */
typedef struct {
  KernelFilm *film;
  int64_t step, wanted; /* the present one, -1 before the first; wanted -1: all */
  int64_t block, first_barrier, barriers;
  int64_t shown_block, shown_barrier; /* of the last step that is shown */
  int32_t chosen;                     /* a line's number */
  uint64_t row_bytes;                 /* of a swizzle that is tried; 0: none */
  FILE *trace;
  uint64_t requests, began, sectors, wavefronts, conflicts; /* of the step, for the trace */
} FilmRun;

/* ---- lines ---- */

static int count_lines(const char *text) {
  int n = 1;
  for (; *text; text++) n += *text == '\n';
  return n;
}

static Status read_lines(KernelFilm *f, Error *error) {
  const KernelLaunch *l = f->launch;
  f->of_ptx = !l->source;
  const char *p = l->source ? l->source : l->ptx;
  f->n_lines = count_lines(p);
  f->lines = calloc((size_t)f->n_lines, sizeof *f->lines);
  if (!f->lines) return error_set(error, STATUS_NO_MEMORY, "no memory for the source");
  for (int k = 0; k < f->n_lines; k++) {
    size_t n = 0;
    f->lines[k].number = k + 1;
    const size_t length = strcspn(p, "\n");
    for (size_t c = 0; c < length && p[c] != '\r' && n + 3 < KERNEL_SCENE_TEXT; c++) {
      if (p[c] == '\t')
        f->lines[k].text[n++] = ' ', f->lines[k].text[n++] = ' ';
      else
        f->lines[k].text[n++] = p[c];
    }
    p += length + (p[length] == '\n');
  }
  return STATUS_OK;
}

/* The line of an instruction, from 1; 0: of another file. */
static int32_t line_of(const KernelFilm *f, int32_t pc) {
  const PtxInstruction i = ptx_instruction(f->launch->kernel, pc);
  const int32_t line = f->of_ptx ? i.ptx_line : i.file == kernel_main_file(f->launch) ? i.line : 0;
  return line <= f->n_lines ? line : 0;
}

/* ---- tensors ---- */

/* How many elements a row has: a number among the arguments that divides them, the nearest to a square. */
static int64_t row_of(const KernelLaunch *l, int64_t n) {
  int64_t best = 0;
  if (l->request->like[0] && n > l->request->d && n % l->request->d == 0) return l->request->d;
  for (int a = 0; a < l->n; a++) {
    const Spec *s = &l->specs[a];
    if (s->is_buffer || spec_type_is_float(s->type) || s->whole < 2 || s->whole > n || n % s->whole) continue;
    const int64_t rows = n / s->whole, off = rows > s->whole ? rows / s->whole : s->whole / rows,
                  best_off = !best             ? INT64_MAX
                             : n / best > best ? n / best / best
                                               : best / (n / best);
    if (off < best_off || (off == best_off && s->whole < best)) best = s->whole;
  }
  return best;
}

static void place_tensor(KernelFilm *f, int argument) {
  const KernelLaunch *l = f->launch;
  struct FilmTensor *p = &f->places[f->scene.n_tensors];
  KernelSceneTensor *t = &f->scene.tensors[f->scene.n_tensors++];
  const int64_t n = l->specs[argument].n, bytes = l->arguments[argument].n_bytes,
                width = spec_type_bytes(l->specs[argument].type), named = row_of(l, n);
  int64_t row = named ? named * width : 64 * SECTOR;
  if (row > bytes) row = bytes;
  const int64_t rows = (bytes + row - 1) / row, sectors = (row + SECTOR - 1) / SECTOR;
  t->columns = (int32_t)(sectors < KERNEL_SCENE_CELLS ? sectors : KERNEL_SCENE_CELLS);
  t->rows = (int32_t)(rows < KERNEL_SCENE_CELLS ? rows : KERNEL_SCENE_CELLS);
  p->argument = argument;
  p->begin = ptx_buffer_address(&l->launch, argument), p->end = p->begin + (uint64_t)bytes;
  p->row_bytes = (uint64_t)row;
  p->cell_bytes_x = (uint64_t)((row + t->columns - 1) / t->columns);
  p->rows_a_cell = (rows + t->rows - 1) / t->rows;
  t->rows = (int32_t)((rows + p->rows_a_cell - 1) / p->rows_a_cell);
  snprintf(t->name, sizeof t->name, "%.60s", l->argument_names[argument]);
  if (named)
    snprintf(t->rows_are, sizeof t->rows_are, "%" PRId64 " rows of %" PRId64, rows, named);
  else
    snprintf(t->rows_are, sizeof t->rows_are, "%" PRId64 " elements, in rows of %d B", n, (int)row);
}

Status kernel_film_new(KernelFilm *f, KernelLaunch *launch, Error *error) {
  memset(f, 0, sizeof *f);
  f->launch = launch;
  f->scene.tensors = calloc(KERNEL_SCENE_TENSORS, sizeof *f->scene.tensors);
  if (!f->scene.tensors) return error_set(error, STATUS_NO_MEMORY, "no memory for the tensors");
  for (int a = 0; a < launch->n && f->scene.n_tensors < KERNEL_SCENE_TENSORS; a++)
    if (launch->specs[a].is_buffer && launch->arguments[a].n_bytes > 0) place_tensor(f, a);
  const int32_t *g = launch->launch.grid, *b = launch->launch.block;
  char grid[48];
  snprintf(grid, sizeof grid, g[2] > 1 ? "%d x %d x %d" : g[1] > 1 ? "%d x %d" : "%d", g[0], g[1], g[2]);
  snprintf(f->scene.title, sizeof f->scene.title, "%.100s: %s %s of %d threads", launch->name, grid,
           g[0] * g[1] * g[2] == 1 ? "block" : "blocks", b[0] * b[1] * b[2]);
  return read_lines(f, error);
}

void kernel_film_free(KernelFilm *f) {
  free(f->lines);
  free(f->scene.tensors);
  memset(f, 0, sizeof *f);
}

/* ---- a run ---- */

static void touch(KernelFilm *f, uint64_t sector, bool store) {
  const uint64_t address = sector * SECTOR;
  for (int t = 0; t < f->scene.n_tensors; t++) {
    const struct FilmTensor *p = &f->places[t];
    if (address + SECTOR <= p->begin || address >= p->end) continue;
    KernelSceneTensor *tensor = &f->scene.tensors[t];
    const uint64_t at = address > p->begin ? address - p->begin : 0, x = at % p->row_bytes / p->cell_bytes_x,
                   y = at / p->row_bytes / (uint64_t)p->rows_a_cell;
    float *cells = store ? tensor->stores : tensor->reads;
    if (x < (uint64_t)tensor->columns && y < (uint64_t)tensor->rows) cells[y * (uint64_t)tensor->columns + x]++;
  }
}

static void touch_all(KernelFilm *f, const PtxSeen *seen) {
  uint64_t done[3 * LANES];
  int n = 0;
  for (int l = 0; l < LANES; l++) {
    if (!(seen->mask >> l & 1)) continue;
    for (uint64_t s = seen->address[l] / SECTOR; s <= (seen->address[l] + (uint64_t)seen->bytes - 1) / SECTOR; s++) {
      bool known = false;
      for (int k = 0; k < n; k++) known |= done[k] == s;
      if (known) continue;
      if (n < 3 * LANES) done[n++] = s;
      touch(f, s, seen->store);
    }
  }
}

static void end_trace_step(FilmRun *r) {
  if (!r->trace || r->step < 0) return;
  fprintf(r->trace,
          "%s{\"name\":\"barrier %" PRId64 "\",\"ph\":\"X\",\"pid\":1,\"tid\":%" PRId64 ",\"ts\":%" PRIu64
          ",\"dur\":%" PRIu64 ",\"args\":{\"sectors\":%" PRIu64 ",\"wavefronts\":%" PRIu64 ",\"conflicts\":%" PRIu64
          "}}",
          r->step ? ",\n" : "", r->barriers - r->first_barrier, r->block, r->began, r->requests - r->began, r->sectors,
          r->wavefronts, r->conflicts);
  r->sectors = r->wavefronts = r->conflicts = 0;
}

static void step_on(FilmRun *r, const PtxSeen *seen) {
  end_trace_step(r);
  if (seen->block != r->block) r->first_barrier = (int64_t)seen->barriers;
  r->block = seen->block, r->barriers = (int64_t)seen->barriers;
  r->step++;
  r->began = r->requests;
  if (r->wanted < 0 || r->step <= r->wanted)
    r->shown_block = r->block, r->shown_barrier = r->barriers - r->first_barrier;
}

static void take_request(KernelFilm *f, const PtxSeen *seen, const KernelSceneRequest *shown) {
  KernelSceneRequest *q = &f->scene.request;
  const uint32_t cost = seen->sectors + 4 * seen->wavefronts, known = q->sectors + 4 * q->plain_wavefronts;
  if (!q->is_there || cost > known) *q = *shown;
}

static void witness(void *context, const PtxSeen *seen) {
  FilmRun *r = context;
  KernelFilm *f = r->film;
  if (r->step < 0 || seen->block != r->block || (int64_t)seen->barriers != r->barriers) step_on(r, seen);
  r->requests++;
  r->sectors += seen->sectors, r->wavefronts += seen->wavefronts, r->conflicts += seen->conflicts;
  if (r->trace || (r->wanted >= 0 && r->step > r->wanted)) return;
  const int32_t number = line_of(f, seen->pc);
  const KernelSceneRequest shown = kernel_request_seen(seen, seen->shared ? r->row_bytes : 0);
  f->scene.plain_conflicts += seen->conflicts;
  if (number > 0) {
    KernelSceneLine *line = &f->lines[number - 1];
    line->sectors += shown.sectors, line->wavefronts += shown.wavefronts, line->conflicts += shown.conflicts;
  }
  if (!seen->shared) touch_all(f, seen);
  if (number > 0 && number == r->chosen) take_request(f, seen, &shown);
}

static Status run(FilmRun *r, PtxResult *result, Error *error) {
  KernelLaunch *l = r->film->launch;
  PtxLaunch launch = l->launch;
  launch.l1 = launch.faults = false;
  launch.sink = NULL, launch.print = NULL;
  launch.witness = witness, launch.witness_context = r;
  r->step = r->block = -1;
  Status status = kernel_launch_refill(l, error);
  if (status) return status;
  for (int a = 0; a < l->n; a++) l->arguments[a].name = l->argument_names[a];
  return ptx_run(l->kernel, &launch, result, error);
}

static double cost(const KernelSceneLine *l) { return (double)l->sectors / 4 + (double)l->wavefronts; }

/* The ends of the bars, and the dearest line where none is chosen. */
static Status measure(KernelFilm *f, int32_t *number, int64_t *n_steps, Error *error) {
  PtxResult result;
  FilmRun r = {.film = f, .wanted = -1};
  const Status status = run(&r, &result, error);
  int dearest = 0;
  for (int k = 0; k < f->n_lines; k++) {
    if (f->lines[k].sectors > f->scene.most_sectors) f->scene.most_sectors = f->lines[k].sectors;
    if (f->lines[k].conflicts > f->scene.most_conflicts) f->scene.most_conflicts = f->lines[k].conflicts;
    if (cost(&f->lines[k]) > cost(&f->lines[dearest])) dearest = k;
  }
  if (!*number) *number = dearest + 1;
  *n_steps = r.step + 1;
  ptx_result_free(&result);
  return status;
}

static void forget(KernelFilm *f) {
  for (int k = 0; k < f->n_lines; k++) f->lines[k].sectors = f->lines[k].wavefronts = f->lines[k].conflicts = 0;
  for (int t = 0; t < f->scene.n_tensors; t++) {
    memset(f->scene.tensors[t].reads, 0, sizeof f->scene.tensors[t].reads);
    memset(f->scene.tensors[t].stores, 0, sizeof f->scene.tensors[t].stores);
  }
  f->scene.request.is_there = false;
  f->scene.plain_conflicts = 0;
}

/* Counts of cells become times a sector. */
static void average(KernelFilm *f) {
  for (int t = 0; t < f->scene.n_tensors; t++) {
    KernelSceneTensor *tensor = &f->scene.tensors[t];
    const struct FilmTensor *p = &f->places[t];
    const uint64_t bytes = p->end - p->begin;
    for (int y = 0; y < tensor->rows; y++)
      for (int x = 0; x < tensor->columns; x++) {
        const uint64_t first_row = (uint64_t)y * (uint64_t)p->rows_a_cell,
                       all_rows = (bytes + p->row_bytes - 1) / p->row_bytes,
                       rows = first_row + (uint64_t)p->rows_a_cell > all_rows ? all_rows - first_row
                                                                              : (uint64_t)p->rows_a_cell,
                       left = (uint64_t)x * p->cell_bytes_x,
                       wide = left + p->cell_bytes_x > p->row_bytes ? p->row_bytes - left : p->cell_bytes_x;
        const double sectors = (double)rows * (double)wide / SECTOR;
        const int k = y * tensor->columns + x;
        if (sectors > 1) tensor->reads[k] /= (float)sectors, tensor->stores[k] /= (float)sectors;
      }
  }
}

Status kernel_film_show(KernelFilm *f, int64_t step, int32_t number, Error *error) {
  PtxResult result;
  int64_t n_steps = f->scene.n_steps;
  Status status = STATUS_OK;
  if (number < 0 || number > f->n_lines)
    return error_set(error, STATUS_BAD_REQUEST, "--line %d: the source has %d lines", number, f->n_lines);
  if (!n_steps || !number) {
    forget(f);
    status = measure(f, &number, &n_steps, error);
    if (status) return status;
  }
  if (step >= n_steps)
    return error_set(error, STATUS_BAD_REQUEST, "--step %" PRId64 ": the launch has %" PRId64 " steps, 0 to %" PRId64,
                     step, n_steps, n_steps - 1);
  if (step < 0) step = n_steps - 1;
  forget(f);
  FilmRun r = {.film = f, .wanted = step, .chosen = number, .row_bytes = f->scene.swizzle_row_bytes};
  status = run(&r, &result, error);
  ptx_result_free(&result);
  average(f);
  KernelScene *s = &f->scene;
  s->lines = f->lines, s->n_lines = f->n_lines, s->chosen = number - 1;
  s->step = step, s->n_steps = n_steps;
  const int64_t blocks = (int64_t)f->launch->launch.grid[0] * f->launch->launch.grid[1] * f->launch->launch.grid[2];
  snprintf(s->where, sizeof s->where,
           "Step %" PRId64 " of %" PRId64 ": up to block %" PRId64 " of %" PRId64 ", after %" PRId64 " of its barriers",
           step + 1, n_steps, r.shown_block + 1, blocks, r.shown_barrier);
  return status;
}

Status kernel_film_trace(KernelFilm *f, FILE *out, Error *error) {
  PtxResult result;
  FilmRun r = {.film = f, .wanted = -1, .trace = out};
  fprintf(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  const Status status = run(&r, &result, error);
  end_trace_step(&r);
  fprintf(out, "\n],\"otherData\":{\"kernel\":\"%.200s\",\"time\":\"requests, one block after another\"}}\n",
          f->launch->name);
  ptx_result_free(&result);
  return status;
}
