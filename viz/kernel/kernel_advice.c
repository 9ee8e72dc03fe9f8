#include "viz/kernel/kernel_advice.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/text_add.h"
#include "viz/text/number.h"

enum {
  LANES = 32,
  ARRAYS = 16,
  ROWS = 4,
  PADS = 5,
  UNITS = 3,
  LAYOUTS = ROWS * PADS + UNITS,
  BANKS_BYTES = 128,
  SECTOR_BYTES = 32
};

/* Pads of 4 to 64 bytes behind each 1,024 to 128, and units of 4 to 16 bytes XORed by the number of their 128 bytes. */
typedef struct {
  int64_t row, pad, unit; /* unit 0: a pad */
} Layout;

static Layout layout_of(int k) {
  if (k < ROWS * PADS) return (Layout){.row = 1024 >> k / PADS, .pad = 4 << k % PADS};
  return (Layout){.row = BANKS_BYTES, .unit = 4 << (k - ROWS * PADS)};
}

static int64_t moved(const Layout *l, int64_t at) {
  if (!l->unit) return at + at / l->row * l->pad;
  return at ^ at / l->row % (l->row / l->unit) * l->unit;
}

/* An array of shared memory: its requests' passes as it lies, at least, and under each layout. */
typedef struct {
  int64_t begin, bytes, widest;
  uint64_t requests, passes, least, by_layout[LAYOUTS], line_conflicts;
} Array;

typedef struct {
  const KernelLaunch *launch;
  const KernelLine *line;
  Array arrays[ARRAYS];
  int n;
  /* the line's first requests of global memory up to a barrier: those that waste, and the sectors that they share */
  uint64_t barriers, requests, sectors, shared[LANES * LANES];
  int n_shared;
} Advice;

static void take_global(Advice *a, const PtxSeen *seen) {
  if (!a->requests) a->barriers = seen->barriers;
  if (a->requests == LANES || a->barriers != seen->barriers ||
      (int)seen->sectors * SECTOR_BYTES <= 2 * __builtin_popcount(seen->mask) * seen->bytes)
    return;
  a->requests++, a->sectors += seen->sectors;
  for (int l = 0, k; l < LANES; l++) {
    const uint64_t sector = seen->address[l] / SECTOR_BYTES;
    for (k = 0; k < a->n_shared && a->shared[k] != sector;) k++;
    if (seen->mask >> l & 1 && k == a->n_shared) a->shared[a->n_shared++] = sector;
  }
}

static void take(void *context, const PtxSeen *seen) {
  Advice *a = context;
  const PtxInstruction i = ptx_instruction(a->launch->kernel, seen->pc);
  const bool of_line = a->line->line == (i.line ? i.line : i.ptx_line) && a->line->file == (i.line ? i.file : 0);
  if (!seen->shared && of_line) take_global(a, seen);
  if (!seen->shared || !seen->mask) return;
  const int64_t begin = ptx_shared_array(a->launch->kernel, (int64_t)seen->address[__builtin_ctz(seen->mask)]),
                widest = seen->matrices ? 16 : seen->bytes;
  Array *array = a->arrays;
  while (array < a->arrays + a->n && array->begin != begin) array++;
  if (array == a->arrays + ARRAYS) return;
  if (array == a->arrays + a->n) a->n++, array->begin = begin;
  array->requests++, array->passes += seen->wavefronts, array->least += seen->wavefronts - seen->conflicts;
  if (widest > array->widest) array->widest = widest;
  for (int l = 0; l < LANES; l++) {
    const int64_t end = (int64_t)seen->address[l] + widest - begin;
    if (seen->mask >> l & 1 && end > array->bytes) array->bytes = end;
  }
  if (of_line) array->line_conflicts += seen->conflicts;
  for (int k = 0; k < LAYOUTS; k++) {
    const Layout layout = layout_of(k);
    uint64_t address[LANES];
    uint32_t conflicts;
    for (int l = 0; l < LANES; l++) address[l] = (uint64_t)(begin + moved(&layout, (int64_t)seen->address[l] - begin));
    array->by_layout[k] += ptx_wavefronts(seen, address, &conflicts);
  }
}

/* Of pads, or of swizzles, that leave the widest access aligned, the one of fewest passes, then of fewest bytes; -1:
 * none lowers them. */
static int best(const Array *a, bool swizzles) {
  int found = -1;
  uint64_t fewest = a->passes;
  for (int k = 0; k < LAYOUTS; k++) {
    const Layout l = layout_of(k);
    if ((l.unit > 0) != swizzles || (l.unit ? l.unit : l.pad) < a->widest || l.row > a->bytes) continue;
    if (a->by_layout[k] < fewest) fewest = a->by_layout[k], found = k;
  }
  return found;
}

static void say(const Array *array, const char *name, char text[KERNEL_ADVICE_BYTES]) {
  const int pad = best(array, false), swizzle = best(array, true);
  const Layout padded = layout_of(pad < 0 ? 0 : pad), swizzled = layout_of(swizzle < 0 ? 0 : swizzle);
  snprintf(text, KERNEL_ADVICE_BYTES,
           "Line %s: its array's %s requests of a block take %s passes over the banks where %s would do; ", name,
           number_count(array->requests).text, number_count(array->passes).text, number_count(array->least).text);
  if (pad >= 0)
    text_add(text, KERNEL_ADVICE_BYTES, "%d bytes more after each %d: %s passes, +%s B%s", (int)padded.pad,
             (int)padded.row, number_count(array->by_layout[pad]).text,
             number_count((uint64_t)(array->bytes / padded.row * padded.pad)).text, swizzle >= 0 ? "; " : ".");
  if (swizzle >= 0)
    text_add(text, KERNEL_ADVICE_BYTES, "units of %d bytes XORed by the number of their 128 bytes: %s passes.",
             (int)swizzled.unit, number_count(array->by_layout[swizzle]).text);
  else if (pad < 0)
    text_add(text, KERNEL_ADVICE_BYTES, "no pad or swizzle of its rows helps.");
}

/* The first block once more, in buffers of its own. */
static Status run(Advice *a, KernelLaunch *l, Error *error) {
  void *kept[KERNEL_ARGUMENTS_MAX];
  PtxResult result = {0};
  PtxLaunch launch = l->launch;
  for (int k = 0; k < l->n; k++) {
    kept[k] = l->arguments[k].bytes;
    if (l->specs[k].is_buffer) l->arguments[k].bytes = NULL;
  }
  launch.l1 = launch.faults = false;
  launch.sink = NULL, launch.print = NULL;
  launch.part = 1, launch.parts = (int64_t)launch.grid[0] * launch.grid[1] * launch.grid[2];
  launch.witness = take, launch.witness_context = a;
  Status status = kernel_launch_refill(l, error);
  if (!status) status = ptx_run(l->kernel, &launch, &result, error);
  ptx_result_free(&result);
  for (int k = 0; k < l->n; k++) {
    if (l->specs[k].is_buffer) free(l->arguments[k].bytes);
    l->arguments[k].bytes = kept[k];
  }
  return status;
}

Status kernel_advice(KernelLaunch *l, const KernelLine *line, bool shared, char text[KERNEL_ADVICE_BYTES],
                     Error *error) {
  Advice a = {.launch = l, .line = line};
  const Array *worst = NULL;
  char name[64];
  text[0] = '\0';
  kernel_line_name(l, line, name, sizeof name);
  const Status status = run(&a, l, error);
  for (int k = 0; k < a.n; k++)
    if (a.arrays[k].line_conflicts > (worst ? worst->line_conflicts : 0)) worst = &a.arrays[k];
  if (!status && shared && worst) say(worst, name, text);
  if (!status && !shared && a.requests > 1 && 2 * (uint64_t)a.n_shared <= a.sectors) {
    snprintf(text, KERNEL_ADVICE_BYTES,
             "Line %s: a transpose through %d x 33 elements of shared memory makes %s sectors a request %s.", name,
             (int)a.requests, number_double((double)a.sectors / (double)a.requests, 3).text,
             number_double((double)a.n_shared / (double)a.requests, 3).text);
  }
  return status;
}
