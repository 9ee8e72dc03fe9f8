/* Runs a rung of the ladder on the CPU, its PTX in the machine of kernels/ptx; checks its output, counts its bytes. */
#ifndef TILEWALK_KERNELS_LIB_RUN_ON_CPU_H
#define TILEWALK_KERNELS_LIB_RUN_ON_CPU_H

#include "kernels/lib/ladder_launch.h"
#include "kernels/lib/verify.h"

/* How. */
struct CpuSetting {
  const char *folder; /* of the recorded kernels: assets/ladder */
  bool faults;        /* looked for, several times slower (kernels/ptx/ptx_shadow.h) */
  int omitted;        /* the instruction of CpuRun::sites that is left out; -1: none */
};

struct CpuRun {
  Counts counts;
  Verdict verdict;
  std::string complaint;         /* of the machine: refused, stuck, a fault; "" if none */
  std::vector<DeviceSite> sites; /* of all launches */
};

/* shape is complete and suits the rung; B_r, B_c too. O starts as NaN. */
CpuRun run_on_cpu(const Rung &rung, const Shape &shape, Block block, const Inputs &inputs, const CpuSetting &setting);

#endif
