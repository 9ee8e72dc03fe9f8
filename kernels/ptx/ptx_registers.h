/* Registers that are read before anything wrote them, with launch.faults on. Inside kernels/ptx only.
 *
 *     liveness over the kernel  ->  registers alive at its entry: the only ones that may lack a value
 *                                   (none, in most kernels without shuffles: then nothing of this runs)
 *     and what is made of them  ->  O_WATCHED in a copy of the code, a mask of lanes with a value for each warp
 *
 * As valgrind does, arithmetic hands a missing value on; who stores it, loads or stores at it, or branches by it is a
 * fault. What goes from lane to lane (shuffles, votes, matrices) counts as a value, unless a shuffle takes it from a
 * lane that is not there. */
#ifndef TILEWALK_KERNELS_PTX_PTX_REGISTERS_H
#define TILEWALK_KERNELS_PTX_PTX_REGISTERS_H

#include "kernels/ptx/ptx_machine.h"

/* NULL in *registers where no register can lack a value, or the kernel is too large to tell. False: no memory. */
bool ptx_registers_new(const PtxKernel *kernel, PtxRegisters **registers);
void ptx_registers_free(PtxRegisters *registers);
const Ins *ptx_registers_code(const PtxRegisters *registers); /* the kernel's, with O_WATCHED */

bool ptx_registers_places(PtxRegisters *registers, int64_t n_warps); /* room for n_warps; false: no memory */
void ptx_registers_begin(PtxRegisters *registers, int64_t warp);     /* of the run: it has no values yet */

/* Lanes `m` of `mask` are about to run the instruction at pc. */
void ptx_registers_check(Run *run, const Block *block, const Warp *warp, int32_t pc, uint32_t mask, uint32_t m);

#endif
