/* The ladder, in order. To add a rung: write its file, name it here. */
#include "kernels/lib/operands.cuh"

namespace TW_BUILD {
extern const Rung STANDARD_NAIVE, STANDARD_TILED, FA1, FA2_SCALAR, FA2_CAUSAL, FA2_TENSOR, FA2_ASYNC, FA2_WGMMA,
    FA3_OVERLAP, FA2_DECODE, FA2_DECODE_PAGED, FA2_BACKWARD, FA2_BACKWARD_TWICE, FA3_BACKWARD;
extern const Rung *const RUNGS[];
const Rung *const RUNGS[] = {
    &STANDARD_NAIVE,     &STANDARD_TILED, &FA1,         &FA2_SCALAR, &FA2_CAUSAL,       &FA2_TENSOR,
    &FA2_ASYNC,          &FA2_WGMMA,      &FA3_OVERLAP, &FA2_DECODE, &FA2_DECODE_PAGED, &FA2_BACKWARD,
    &FA2_BACKWARD_TWICE, &FA3_BACKWARD};
extern const int N_RUNGS;
const int N_RUNGS = (int)(sizeof RUNGS / sizeof *RUNGS);
} // namespace TW_BUILD
