/* Runs a rung of the ladder on the CPU (kernels/lib/simt.h), checks its output and counts its bytes. */
#ifndef TILEWALK_KERNELS_RUN_ON_CPU_H
#define TILEWALK_KERNELS_RUN_ON_CPU_H

#include <string>

#include "kernels/lib/verify.h"

/* What goes wrong on purpose. */
struct Fault {
  const char *file; /* end of the path of the source in which a barrier or wait is left out; NULL: none */
  int line;
  bool descending; /* threads run from the last to the first */
};

struct CpuRun {
  Counts counts;
  Verdict verdict;
  std::string complaint; /* of the SIMT machine: deadlock, divergence; "" if none */
};

/* shape is complete and suits the rung; B_r, B_c too. O starts as NaN. */
CpuRun run_on_cpu(const Rung &rung, const Shape &shape, Block block, const Inputs &inputs, const Fault &fault);

struct FaultSite {
  std::string file;
  int line;
};
/* The barriers and waits that runs met since the last call. */
std::vector<FaultSite> cpu_fault_sites();

#endif
