/* What ptx_shadow.c (orders, barriers, copies) and ptx_shadow_cells.c (who touched what) share. */
#ifndef TILEWALK_PTX_SHADOW_PRIVATE_H
#define TILEWALK_PTX_SHADOW_PRIVATE_H

#include "kernels/ptx/ptx_shadow.h"

enum { SHADOW_WARPS = 32, SHADOW_THREADS = 1024, SHADOW_BARRIERS = 16 };
#define SHADOW_MAX_BYTES ((int64_t)1536 << 20)

/* One access: pc + 1 (0: none), the thread in its block, the warp's clock then (1 ...; 0: none). */
typedef struct {
  int32_t pc1;
  uint32_t clock;
  int32_t block; /* global memory */
  uint16_t thread;
  uint8_t sync, flags; /* SYNC_*, CELL_* */
} ShadowMark;

enum { SYNC_NONE, SYNC_VOLATILE, SYNC_ATOMIC };
enum { CELL_UNWRITTEN = 1, CELL_IN_FLIGHT = 2, READ_BY_MANY = 4 }; /* the last is of a reader's mark: several lanes */

/* A granule of memory: its last writer and two readers of different warps since then. */
typedef struct {
  ShadowMark writer, reader, other;
} ShadowCell;

/* A stretch of global memory, or a block's shared memory. */
typedef struct {
  uint64_t address;
  int64_t n_bytes, n_cells;
  const unsigned char *memory;
  const char *name;
  int32_t argument; /* -1: a variable of the module, or shared memory */
  bool read_only, uninitialised;
  ShadowCell *cells;
} ShadowRegion;

typedef struct {
  int32_t thread, group;
  int64_t first, n; /* cells of shared memory */
} ShadowCopy;

/* What an address in shared memory passes on: the clocks of those who released it. */
typedef struct {
  uint64_t offset;
  uint32_t clocks[SHADOW_WARPS];
} ShadowSignal;

typedef struct {
  int64_t block; /* -1: free */
  bool synced;   /* has read what another block's atomic wrote: taken to be ordered after it */
  /* Vector clocks: what warp v did up to clocks[w][v] comes before what warp w does now. What w does now has the clock
   * clocks[w][w] + 1: lanes of a warp are ordered by its barriers alone. */
  uint32_t clocks[SHADOW_WARPS][SHADOW_WARPS];
  uint32_t exited[SHADOW_WARPS];
  int32_t n_exited;
  struct {
    int32_t pc, thread;
    uint32_t waiting[SHADOW_WARPS];
  } first[SHADOW_BARRIERS]; /* who came first to a barrier that has not opened; pc -1: nobody */
  ShadowRegion shared;
  ShadowCopy *copies;
  int64_t n_copies, copies_capacity;
  int32_t group[SHADOW_THREADS]; /* cp.async groups that each thread has committed */
  ShadowSignal *signals;
  int32_t n_signals, signals_capacity;
} ShadowBlock;

struct PtxShadow {
  const PtxKernel *kernel;
  const PtxLaunch *launch;
  int32_t granule, shift, n_threads, n_warps, last_region; /* granule: 1, 2 or 4 bytes, 1 << shift */
  uint8_t *sync;                                           /* by pc: SYNC_* of its loads and stores */
  int64_t shared_bytes, bytes;
  bool trouble;
  ShadowRegion *regions; /* by address */
  int32_t n_regions;
  ShadowBlock **blocks;
  int32_t n_blocks, last_block;
  PtxFault faults[PTX_MAX_FAULTS];
  int32_t n_faults;
};

/* Names for sentences. */
typedef struct {
  char text[64];
} ShadowName;
ShadowName shadow_thread(const PtxShadow *s, int32_t thread);
ShadowName shadow_block_name(const PtxShadow *s, int64_t block);
int32_t shadow_line(const PtxShadow *s, int32_t pc);

/* Notes a fault once for each kind and pair of lines; returns it when it is new, so that its sentence can be written.
 */
PtxFault *shadow_fault(PtxShadow *s, const char *kind, int32_t pc, int32_t other_pc);

/* What a warp releases at an address of shared memory. */
void shadow_release(PtxShadow *s, ShadowBlock *b, int32_t warp, uint64_t offset);
ShadowBlock *shadow_block(PtxShadow *s, int64_t block);
void shadow_join(uint32_t to[SHADOW_WARPS], const uint32_t from[SHADOW_WARPS]);
/* Sets up the cells of a region; false: no memory. */
bool shadow_region_cells(PtxShadow *s, ShadowRegion *region);

#endif
