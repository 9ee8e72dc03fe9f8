/* What decoding and running Hopper's instructions share. Inside kernels/ptx only. */
#ifndef TILEWALK_KERNELS_PTX_PTX_ASYNC_H
#define TILEWALK_KERNELS_PTX_PTX_ASYNC_H

#include "kernels/ptx/ptx_access.h"

/* mode of O_MBAR_ARRIVE; b: the count of arrivals, or of bytes; -1: one arrival. d: the state; -1: nobody wants it */
enum { ARRIVE_COUNT = 1, ARRIVE_DROP = 2, ARRIVE_EXPECT = 4, ARRIVE_COMPLETE = 8 };
/* mode of O_MBAR_TEST */
enum { TEST_WAITS = 1, TEST_PARITY = 2 };

/* mode of O_BULK; vec: the tensor's rank, 0 for bytes in a row; bytes: what a reduction does; ext: its operands, -1 for
 * those that it has not. An address is a place, an offset, and whether it has 64 bits. */
enum { BULK_LOADS, BULK_STORES, BULK_MOVES /* from a block's shared memory to another's */ };
enum { BULK_NO_REDUCTION = 255 };
enum {
  BULK_TO = 0,
  BULK_FROM = 3,
  BULK_BARRIER = 6,
  BULK_MASK = 9, /* of blocks */
  BULK_SIZE,
  BULK_AT, /* five coordinates */
  BULK_OPERANDS = BULK_AT + 5
};

/* mode of O_WGMMA; type, bytes, vec: the types of A, B and D; target: N; a, b: descriptors; c: scale-d. ext: D's
 * registers, then A's. */
enum { WGMMA_A_REGISTERS = 1, WGMMA_SCALE_NOT = 2, WGMMA_MINUS = 4, WGMMA_A_ACROSS = 8, WGMMA_B_ACROSS = 16 };
/* mode of O_WGMMA_SYNC */
enum { WGMMA_FENCE, WGMMA_COMMIT, WGMMA_WAIT };
int32_t wgmma_results(const Ins *i); /* registers of D */

/* Where a byte lies under a swizzle of so many bytes; 0: none. */
static inline uint64_t swizzled(uint64_t at, uint32_t span) {
  return span ? at ^ (at >> 7 & (span / 16 - 1)) << 4 : at;
}

/* Bytes in the shared memory of a block of the cluster; NULL: outside. The block, and where in it (or NULL). */
char *shared_at(Run *run, const Block *b, uint64_t address, uint64_t bytes, Block **owner, uint64_t *offset);

/* Bytes that arrive at a barrier (negative: that are announced). False: the run has failed. */
bool mbarrier_bytes(Run *run, Block *b, const Warp *w, int32_t pc, uint64_t address, int64_t bytes);

StepResult bulk_step(Run *run, Block *b, Warp *w, int32_t pc, uint32_t m);               /* O_BULK (ptx_bulk.c) */
uint64_t atomic_combine(int32_t type, int32_t op, uint64_t old, uint64_t b, uint64_t c); /* ptx_step.c */

#endif
