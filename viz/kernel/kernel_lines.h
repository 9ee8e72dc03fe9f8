/* Counts of a launch by source line, the dearest first. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_LINES_H
#define TILEWALK_VIZ_KERNEL_KERNEL_LINES_H

#include "viz/kernel/kernel_launch.h"

typedef struct {
  int32_t file, line;            /* of the source; file 0: of the PTX itself, which has no .loc */
  PtxCounts load, store, reduce; /* global: reduce has atomics too */
  PtxCounts shared_load, shared_store, local;
  uint64_t executed, lanes; /* of instructions but branches */
  uint64_t asked_bytes;     /* of global memory, by lanes */
  double cost;              /* passes of L1: sectors / 4 + wavefronts */
  char text[120];           /* the source line, without indent; "" when it is not at hand */
} KernelLine;

/* For the caller to free; NULL: no memory. Lines without memory requests or divergence are among them. */
KernelLine *kernel_lines(const KernelLaunch *launch, const PtxResult *result, int *n);

/* The line's name: "72", or "common.h:12" of another file than the main one. */
void kernel_line_name(const KernelLaunch *launch, const KernelLine *line, char *to, size_t size);

/* The number of the .cu that was asked about, 0 where no line is its own; of a .ptx the first. */
int32_t kernel_main_file(const KernelLaunch *launch);

#endif
