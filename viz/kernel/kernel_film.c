#include "viz/kernel/kernel_film.h"

#include <stdio.h>
#include <stdlib.h>

#include "viz/kernel/kernel_lines.h"

/* One run of the launch. */
typedef struct {
  KernelFilm *film;
  int64_t step, wanted; /* the present one, -1 before the first; wanted -1: all */
  int64_t block, first_barrier, barriers;
  int64_t shown_block, shown_barrier; /* of the last step that is shown */
  int32_t chosen;                     /* a line's number */
  uint64_t row_bytes;                 /* of a swizzle that is tried; 0: none */
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
  if (!f->lines) return error_no_memory(error, "for the source");
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

Status kernel_film_new(KernelFilm *f, KernelLaunch *launch, Error *error) {
  memset(f, 0, sizeof *f);
  f->launch = launch;
  const int32_t *g = launch->launch.grid, *b = launch->launch.block;
  char grid[48];
  snprintf(grid, sizeof grid, g[2] > 1 ? "%d x %d x %d" : g[1] > 1 ? "%d x %d" : "%d", g[0], g[1], g[2]);
  snprintf(f->scene.title, sizeof f->scene.title, "%.100s: %s %s of %d threads", launch->name, grid,
           g[0] * g[1] * g[2] == 1 ? "block" : "blocks", b[0] * b[1] * b[2]);
  return read_lines(f, error);
}

void kernel_film_free(KernelFilm *f) {
  free(f->lines);
  memset(f, 0, sizeof *f);
}

/* ---- a run ---- */

enum { LANES = 32 };

/* The request as scenes have it. With row_bytes its addresses, passes and conflicts are those of a swizzle of rows of
 * so many bytes: units of 16 bytes XORed by the number of their row, 3 bits of it, as TMA does with rows of 128 bytes
 * (sim/machine/warp.h); plain_wavefronts are of what was seen. It takes its own swizzle off, too. */
static KernelSceneRequest request_seen(const PtxSeen *seen, uint64_t row_bytes) {
  KernelSceneRequest r = {.is_there = true,
                          .shared = seen->shared,
                          .store = seen->store,
                          .bytes = seen->bytes,
                          .lanes_at_once = seen->matrices    ? 8
                                           : seen->bytes > 4 ? 128 / seen->bytes
                                                             : LANES,
                          .warp = seen->warp,
                          .block = seen->block,
                          .mask = seen->mask,
                          .sectors = seen->sectors,
                          .wavefronts = seen->wavefronts,
                          .conflicts = seen->conflicts,
                          .plain_wavefronts = seen->wavefronts};
  memcpy(r.address, seen->address, sizeof r.address);
  if (!row_bytes) return r;
  for (int l = 0; l < LANES; l++) r.address[l] ^= r.address[l] / row_bytes % 8 * 16;
  r.wavefronts = ptx_wavefronts(seen, r.address, &r.conflicts);
  return r;
}

static void step_on(FilmRun *r, const PtxSeen *seen) {
  if (seen->block != r->block) r->first_barrier = (int64_t)seen->barriers;
  r->block = seen->block, r->barriers = (int64_t)seen->barriers;
  r->step++;
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
  if (r->wanted >= 0 && r->step > r->wanted) return;
  const int32_t number = line_of(f, seen->pc);
  const KernelSceneRequest shown = request_seen(seen, seen->shared ? r->row_bytes : 0);
  f->scene.plain_conflicts += seen->conflicts;
  if (number > 0) {
    KernelSceneLine *line = &f->lines[number - 1];
    line->sectors += shown.sectors, line->wavefronts += shown.wavefronts, line->conflicts += shown.conflicts;
  }
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

/* Bank conflicts first, as in the picture's title. */
static bool is_dearer(const KernelSceneLine *a, const KernelSceneLine *b) {
  return a->conflicts == b->conflicts ? a->sectors > b->sectors : a->conflicts > b->conflicts;
}

/* The ends of the bars, and the dearest line where none is chosen. */
static Status measure(KernelFilm *f, int32_t *number, int64_t *n_steps, Error *error) {
  PtxResult result;
  FilmRun r = {.film = f, .wanted = -1};
  const Status status = run(&r, &result, error);
  int dearest = 0;
  for (int k = 0; k < f->n_lines; k++) {
    if (f->lines[k].sectors > f->scene.most_sectors) f->scene.most_sectors = f->lines[k].sectors;
    if (f->lines[k].conflicts > f->scene.most_conflicts) f->scene.most_conflicts = f->lines[k].conflicts;
    if (is_dearer(&f->lines[k], &f->lines[dearest])) dearest = k;
  }
  if (!*number) *number = dearest + 1;
  *n_steps = r.step + 1;
  ptx_result_free(&result);
  return status;
}

static void forget(KernelFilm *f) {
  for (int k = 0; k < f->n_lines; k++) f->lines[k].sectors = f->lines[k].wavefronts = f->lines[k].conflicts = 0;
  f->scene.request.is_there = false;
  f->scene.plain_conflicts = 0;
}

Status kernel_film_show(KernelFilm *f, int64_t step, int32_t number, Error *error) {
  PtxResult result;
  int64_t n_steps = f->scene.n_steps;
  Status status = STATUS_OK;
  if (number < 0 || number > f->n_lines)
    return error_refuse(error, "--line %d: the source has %d lines", number, f->n_lines);
  if (!n_steps || !number) {
    forget(f);
    status = measure(f, &number, &n_steps, error);
    if (status) return status;
  }
  if (step >= n_steps)
    return error_refuse(error, "--step %jd: the launch has %jd steps, 0 to %jd", step, n_steps, n_steps - 1);
  if (step < 0) step = n_steps - 1;
  forget(f);
  FilmRun r = {.film = f, .wanted = step, .chosen = number, .row_bytes = f->scene.swizzle_row_bytes};
  status = run(&r, &result, error);
  ptx_result_free(&result);
  KernelScene *s = &f->scene;
  s->lines = f->lines, s->n_lines = f->n_lines, s->chosen = number - 1;
  s->step = step, s->n_steps = n_steps;
  const int64_t blocks = (int64_t)f->launch->launch.grid[0] * f->launch->launch.grid[1] * f->launch->launch.grid[2];
  snprintf(s->where, sizeof s->where, "Step %jd of %jd: up to block %jd of %jd, after %jd of its barriers", step + 1,
           n_steps, r.shown_block + 1, blocks, r.shown_barrier);
  return status;
}
