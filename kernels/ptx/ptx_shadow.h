/* Where faults are looked for: the machine calls these, with launch.faults on, from its memory path. Nothing of it runs
 * otherwise.
 *
 * An access is reported once a request and before it takes place, so that what is in memory is still the old value. */
#ifndef TILEWALK_KERNELS_PTX_PTX_SHADOW_H
#define TILEWALK_KERNELS_PTX_PTX_SHADOW_H

#include "kernels/ptx/ptx.h"

typedef struct PtxShadow PtxShadow; /* ptx_shadow.c's own */

typedef enum { PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_LOCAL } PtxSpace;
typedef enum { PTX_LOAD, PTX_STORE, PTX_ATOMIC, PTX_COPY_READ, PTX_COPY_WRITE } PtxAccessKind;
/* What an access that goes on behind its thread's back is waited for with. */
typedef enum {
  PTX_ASYNC_NONE /* cp.async: its groups */,
  PTX_ASYNC_BARRIER,
  PTX_ASYNC_GROUP,
  PTX_ASYNC_WGMMA,
  PTX_ASYNC_KINDS
} PtxAsync;

typedef struct {
  int32_t pc;
  PtxSpace space;
  PtxAccessKind kind; /* PTX_COPY_*: cp.async and bulk copies: in flight until they are waited for */
  int64_t block;      /* linear index */
  int32_t warp;       /* in the block: thread = 32 * warp + lane */
  uint32_t mask;      /* lanes that take part */
  int32_t bytes;      /* a lane's */
  int32_t lane1;      /* not 0: all addresses are of this lane, less 1 */
  PtxAsync async;
  uint64_t barrier;      /* PTX_ASYNC_BARRIER: where it lies in shared memory */
  uint64_t address[32];  /* global: as ptx_buffer_address has it; shared: the offset in the block's shared memory */
  const void *value[32]; /* stores: the bytes to be written; NULL otherwise */
  const unsigned char *memory; /* shared, local: what lies at offset 0; NULL for global */
} PtxAccess;

/* A load or store of lanes that lie in one region, none of them behind a thread's back. */
typedef struct {
  int32_t pc, warp, bytes; /* bytes: a lane's */
  int64_t block;
  uint32_t mask;
  bool global, stores;
  bool one_place;        /* all 32 lanes at one address */
  bool side_by_side;     /* all 32 lanes, each where the one before it ends */
  uint64_t first;        /* the first lane's address: global as ptx_buffer_address has it, else in shared memory */
  const int32_t *offset; /* of each lane from there */
} PtxPlain;

/* NULL when there is no memory. `granule_bytes`: the narrowest access of the kernel, 1 to 4. */
PtxShadow *ptx_shadow_new(const PtxKernel *kernel, const PtxLaunch *launch, int64_t shared_bytes,
                          int32_t granule_bytes);
void ptx_shadow_free(PtxShadow *shadow);
/* Global memory that is no argument: a variable of the module. Before the run, once for each. */
void ptx_shadow_range(PtxShadow *shadow, uint64_t address, int64_t n_bytes, const void *memory, const char *name);
/* Whether memory ran out on the way: what was found is not all. */
bool ptx_shadow_trouble(const PtxShadow *shadow);
/* Returns the lanes whose access may take place: those outside every buffer are reported and left out (a load gives 0).
 */
uint32_t ptx_shadow_access(PtxShadow *shadow, const PtxAccess *access);
/* Whether it comes after everything that it must, and is noted; false: ptx_shadow_access looks closer. Nearly all of
 * what there is goes this way. */
bool ptx_shadow_plain(PtxShadow *shadow, const PtxPlain *access);
void ptx_shadow_block_begin(PtxShadow *shadow, int64_t block);
/* Threads of `block` have passed a barrier: `threads` has a bit a thread, 32 words. `id` is the barrier's number; -1:
 * of a warp (bar.warp.sync and the like), then only threads[warp] is set. */
void ptx_shadow_barrier(PtxShadow *shadow, int64_t block, int32_t id, const uint32_t threads[32]);
/* Threads wait at barrier `id` at this pc: threads that meet at different barriers, or left without it, can be told. */
void ptx_shadow_arrive(PtxShadow *shadow, int64_t block, int32_t id, int32_t pc, int32_t warp, uint32_t mask,
                       bool waits);
void ptx_shadow_exit(PtxShadow *shadow, int64_t block, int32_t warp, uint32_t mask);
/* commit_group, and wait_group N (all: N = 0), of these threads: of cp.async (PTX_ASYNC_NONE), bulk copies
 * (PTX_ASYNC_GROUP) and wgmma. */
void ptx_shadow_commit(PtxShadow *shadow, PtxAsync async, int64_t block, int32_t warp, uint32_t mask);
void ptx_shadow_wait(PtxShadow *shadow, PtxAsync async, int64_t block, int32_t warp, uint32_t mask,
                     int32_t groups_left);
/* A thread at the mbarrier at this offset of shared memory: it is made, met by an arrival or a copy, has ended a phase,
 * or a wait there came through. */
typedef enum {
  PTX_MBARRIER_INIT,
  PTX_MBARRIER_ARRIVAL,
  PTX_MBARRIER_COPY,
  PTX_MBARRIER_PHASE,
  PTX_MBARRIER_WAITED
} PtxMbarrierEvent;
void ptx_shadow_mbarrier(PtxShadow *shadow, PtxMbarrierEvent event, int64_t block, int32_t thread, int32_t pc,
                         uint64_t offset);
/* fence.proxy.async, fence.mbarrier_init: copies and wgmma see what these threads wrote before. */
void ptx_shadow_fence(PtxShadow *shadow, int64_t block, int32_t warp, uint32_t mask);
/* __threadfence and its kin; not of the grid: __threadfence_block. */
void ptx_shadow_fence_of(PtxShadow *shadow, int64_t block, int32_t warp, bool grid);
/* A shuffle, vote or warp barrier of a lane that its mask does not name. */
void ptx_shadow_outside_mask(PtxShadow *shadow, int64_t block, int32_t warp, int lane, int32_t pc);
void ptx_shadow_registers(PtxShadow *shadow, int64_t block, int32_t warp, int32_t pc, int32_t n); /* setmaxnreg */
/* Registers that wgmma holds, in every way through the kernel: read or written too early, or without wgmma.fence.
 * Instructions that never ran (counts) are left out. */
void ptx_shadow_wgmma(PtxShadow *shadow, const PtxCounts *counts);
/* Copies what was found, most telling first. */
void ptx_shadow_report(PtxShadow *shadow, PtxResult *result);

#endif
