/* Hopper: mbarriers, bulk copies, tensor maps, clusters, wgmma. */
#include "kernels/ptx/ptx_access.h"
#include "kernels/ptx/ptx_lower.h"

void hopper_operands(const PtxKernel *k, const Ins *i, Operands *o) {
  (void)k;
  (void)i;
  (void)o;
}

StepResult hopper_step(Run *run, Block *b, Warp *w, int32_t pc, uint32_t m, uint32_t mask) {
  (void)b;
  (void)w;
  (void)m;
  (void)mask;
  run_fails(run, pc, STATUS_BAD_REQUEST, "is not modelled");
  return (StepResult){STEP_ERROR};
}
