/* What a tile of a kernel that does not exist yet costs an SM: its matrix instructions, registers and shared memory.
 *
 *     wgmma       compute capability 9: a warpgroup for each 64 rows, another that copies, two stages of K and V
 *     mma.sync    8.0 and later: a warp for each 16 rows, up to eight, or 32 rows each
 *     FMA         without tensor cores for the type: a thread for each row, at most 256
 *
 *     a tile of a full SM    products x a + softmax x b + scaling O + 250 clocks; or the loads of K and V from L2 or
 *                            SRAM, if they take longer
 *
 * a and b are those of cuDNN (wgmma: 0.803, 0.494) and FlashAttention-2 (mma.sync: 2,044 FLOP a clock, 0.392), which
 * have d = 64 and 128: two equations each (time_tile_ns in assets/kernels). The softmax is 8 scores a clock: 16
 * exponentials, and as long again for the vector units. One CTA alone does products and softmax in turn, unless it has
 * two warpgroups. Assumed: a tile's worth of fixed cost for each CTA, 0.4 under a mask, a start of 5 us. */
#ifndef TILEWALK_SIM_MACHINE_TILE_COST_H
#define TILEWALK_SIM_MACHINE_TILE_COST_H

#include "sim/machine/timing.h"

typedef struct {
  const char *instruction; /* "wgmma", "mma.sync", "FMA" */
  int64_t threads, registers_per_thread, shared_bytes;
  TimeLaw law;
  TimePart binds; /* what takes longest of such a tile: TIME_MATH, TIME_EXP; TIME_L2, TIME_SRAM where its loads do */
  const char *misfit; /* why such a tile is no kernel; NULL: it may be one */
} TileCost;

/* A backward pass whose CTAs own keys, as FlashAttention-2's (flash_bwd_launch_template.h): eight warps, Q, dO, K, V, P
 * and dS in shared memory, dK, dV, S and dP in registers; V in registers too where shared memory is too small. No
 * stages, so the least that such a tile takes. `law` is zeros: nobody timed it. */
TileCost tile_cost_backward(const Gpu *gpu, const Shape *shape, int64_t B_r, int64_t B_c);

/* *shape is completed. */
TileCost tile_cost(const Gpu *gpu, const Shape *shape, int64_t B_r, int64_t B_c);

#endif
