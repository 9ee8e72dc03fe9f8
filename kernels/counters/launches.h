/* What was run, as far as a counter file says it: kernels known by their names, the shape that their grids have, and
 * launches that belong together.
 *
 *     flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, ..., bfloat16_t>, 0, 1, 0, 0, 1, 1, 0, 0>
 *         d = 128, tiles of 128 x 64, bf16, causal
 *     grid (32, 4, 32)
 *         N a whole number of tiles: 32 x 128; batch 4, 32 heads
 *
 *     split, combine                             one attention, added up
 *     D = rowsum(dO O), loop, convert dQ         one backward pass
 *     product, (scale, mask), softmax, product   one eager attention
 *
 * Names and grids are those of Dao-AILab/flash-attention (flash_fwd_launch_template.h, flash_bwd_launch_template.h),
 * PyTorch's memory-efficient kernels (mem_eff_attention/kernel_forward.h), cuDNN's as ncu shows them, and words that
 * kernels of products, softmax and elementwise work have in common. */
#ifndef TILEWALK_KERNELS_COUNTERS_LAUNCHES_H
#define TILEWALK_KERNELS_COUNTERS_LAUNCHES_H

#include "kernels/counters/ncu.h"

typedef enum {
  LAUNCH_ROLE_OTHER = 0,
  LAUNCH_ROLE_FUSED,   /* attention in one kernel */
  LAUNCH_ROLE_SPLIT,   /* of a part of the keys */
  LAUNCH_ROLE_COMBINE, /* of such parts */
  LAUNCH_ROLE_BACKWARD_BEFORE,
  LAUNCH_ROLE_BACKWARD,
  LAUNCH_ROLE_BACKWARD_AFTER,
  LAUNCH_ROLE_PRODUCT,
  LAUNCH_ROLE_SOFTMAX,
  LAUNCH_ROLE_POINTWISE
} LaunchRole;

typedef struct {
  LaunchRole role;
  const char *description;     /* in assets/kernels, on compute capability 9.0; NULL: none */
  int64_t d, block_q, block_k; /* 0: not said */
  bool says_causal, causal, says_dtype;
  Dtype dtype;
  Shape shape;      /* what the grid says: zeros are not said */
  int64_t n_splits; /* 0: not said */
  bool is_even;     /* N is a whole number of tiles; else shape.N_q is the most that it can be */
} LaunchFacts;

LaunchFacts launch_facts(const CounterRow *row);

/* One attention: its launches added up. */
typedef struct {
  CounterRow sum; /* the first launch, but for its counters; rates only of a single launch */
  LaunchFacts facts;
  int n_parts;     /* kinds of launches */
  int64_t n_runs;  /* times that it ran */
  char parts[256]; /* "flash_fwd_splitkv_kernel 342.7 us + flash_fwd_splitkv_combine_kernel 6.0 us" */
} LaunchRun;

/* A kernel's name without its return type, namespaces, template and parameters. */
void launch_short_name(const char *kernel, char *to, size_t size);

/* The rows of a table whose kernels have `name` in their names ("": all), as runs. *runs is for free(). */
Status launch_runs(const CounterTable *table, const char *name, LaunchRun **runs, size_t *n_runs, Error *error);

/* The description of a GPU in assets/gpus for what a row says of it; NULL: none. *candidates: others of the same
 * compute capability, for people; "" where the name of the card settled it. */
const char *launch_gpu(const CounterRow *row, const char **candidates);

#endif
