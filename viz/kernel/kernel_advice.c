#include "viz/kernel/kernel_advice.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/text_add.h"
#include "viz/text/number.h"

enum { LANES = 32, ARRAYS = 16, ROWS = 4, PADS = 5, UNITS = 3, LAYOUTS = ROWS * PADS + UNITS, BANKS_BYTES = 128 };

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
} Advice;

static void take(void *context, const PtxSeen *seen) {
  Advice *a = context;
  if (!seen->shared || !seen->mask) return;
  const PtxInstruction i = ptx_instruction(a->launch->kernel, seen->pc);
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
  if (i.line == a->line->line && i.file == a->line->file) array->line_conflicts += seen->conflicts;
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

static void say(const Advice *a, const Array *array, char text[KERNEL_ADVICE_BYTES]) {
  const int pad = best(array, false), swizzle = best(array, true);
  const Layout padded = layout_of(pad < 0 ? 0 : pad), swizzled = layout_of(swizzle < 0 ? 0 : swizzle);
  char name[64];
  kernel_line_name(a->launch, a->line, name, sizeof name);
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

Status kernel_advice(KernelLaunch *l, const KernelLine *line, char text[KERNEL_ADVICE_BYTES], Error *error) {
  Advice a = {.launch = l, .line = line};
  const Array *worst = NULL;
  text[0] = '\0';
  const Status status = run(&a, l, error);
  for (int k = 0; k < a.n; k++)
    if (a.arrays[k].line_conflicts > (worst ? worst->line_conflicts : 0)) worst = &a.arrays[k];
  if (!status && worst) say(&a, worst, text);
  return status;
}
