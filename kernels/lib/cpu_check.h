/* A rung of the ladder on this computer's processor, for C programs: the GPU's own code, run by kernels/ptx. A run of
 * N = 200 and d = 64 takes 10 to 40 ms. */
#ifndef TILEWALK_KERNELS_LIB_CPU_CHECK_H
#define TILEWALK_KERNELS_LIB_CPU_CHECK_H

#include "kernels/counters/kernel_model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  Tiling tiling;          /* the block that was used */
  bool right;             /* the output, against attention in double precision */
  double worst_row, rmse; /* relative error of the worst row; root mean square error of all */
  uint64_t read[KERNEL_TENSORS], write[KERNEL_TENSORS]; /* bytes the kernel asked for */
} CpuCheck;

/* Runs a rung on inputs from `seed`. shape is complete. tiling: zeros mean the rung's default. folder: of the recorded
 * kernels, assets/ladder. Refuses, with the reason, what the rung does not take, and more than 2^31 multiplications,
 * which would take minutes; STATUS_BAD_FILE: the run itself failed. */
Status cpu_check_run(const char *rung, const Shape *shape, const Tiling *tiling, uint64_t seed, const char *folder,
                     CpuCheck *check, Error *error);

#ifdef __cplusplus
}
#endif

#endif
