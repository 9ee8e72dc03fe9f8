/* What an instruction reads and writes. Inside kernels/ptx only. */
#ifndef TILEWALK_KERNELS_PTX_PTX_LOWER_H
#define TILEWALK_KERNELS_PTX_PTX_LOWER_H

#include "kernels/ptx/ptx_machine.h"

enum { MAX_OPERANDS = 288 };

/* Registers as their place in the file; predicates as ~index. */
typedef struct {
  int32_t reads[MAX_OPERANDS], writes[MAX_OPERANDS];
  int32_t n_reads, n_writes;
} Operands;

void operands_add(Operands *o, bool is_write, int32_t place);
void ins_operands(const PtxKernel *k, const Ins *i, Operands *o);

/* pc of each basic block, and of the end; block of each pc. To be freed, also where false: no memory. */
typedef struct {
  int32_t n, *first, *block_of;
} Blocks;
bool blocks_find(const PtxKernel *k, Blocks *blocks);

bool kernel_order(PtxKernel *k); /* ptx_order.c; false: no memory */

#endif
