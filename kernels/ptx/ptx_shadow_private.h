/* What ptx_shadow.c (orders, barriers, copies) and ptx_shadow_cells.c (who touched what) share. */
#ifndef TILEWALK_KERNELS_PTX_PTX_SHADOW_PRIVATE_H
#define TILEWALK_KERNELS_PTX_PTX_SHADOW_PRIVATE_H

#include "kernels/ptx/ptx_shadow.h"

enum { SHADOW_WARPS = 32, SHADOW_THREADS = 1024, SHADOW_BARRIERS = 16 };
enum { SHADOW_GROUPS = 16 };       /* of wgmma, the last ones */
enum { SHADOW_REGISTERS = 65536 }; /* an SM's: a block that uses setmaxnreg is taken to have it to itself */
#define SHADOW_MAX_BYTES ((int64_t)1536 << 20)

/* One access: pc + 1 (0: none), the thread in its block, the warp's clock then (1 ...; 0: none). */
typedef struct {
  int32_t pc1;
  uint32_t clock;
  int32_t agent; /* global memory */
  uint16_t thread;
  uint8_t sync, flags; /* SYNC_*, CELL_* */
} ShadowMark;

enum { SYNC_NONE, SYNC_VOLATILE, SYNC_ATOMIC, SYNC_RELEASES = 4 /* by pc: a fence is in it */, SYNC_OF_GRID = 8 };

/* Blocks are ordered by what they post. An agent is what a block does between two fences of the grid: agent b is block
 * b up to its first, then come those behind fences. A fence gives the agent away, with all that the block knows of;
 * an atomic or volatile write posts what is given at its address; one that reads there knows of it.
 *
 *     block 3   writes data | fence | atomicAdd(&count)        given {3}   post of count: {3}
 *     block 7                         atomicAdd(&count), reads data         known {3}: ordered
 */
enum { SHADOW_AGENTS = 1 << 20, SHADOW_POSTS = 4096 };
typedef struct {
  uint64_t *words; /* a bit an agent */
  int32_t n, capacity;
} ShadowSet;

typedef struct {
  uint64_t address; /* of global memory; 0: free */
  ShadowSet set;
} ShadowPost;
/* CELL_COPIED: not written by a thread's own store; CELL_BULK: but by a copy that an mbarrier waits for. READ_BY_MANY
 * is of a reader's mark: several lanes. */
enum {
  CELL_UNWRITTEN = 1,
  CELL_IN_FLIGHT = 2,
  READ_BY_MANY = 4,
  CELL_COPIED = 8,
  CELL_BULK = 16,
  CELL_UNSURE = CELL_UNWRITTEN | CELL_IN_FLIGHT
};

/* A granule of memory: its last writer and two readers of different warps since then. */
typedef struct {
  ShadowMark writer, reader, other;
  uint32_t when, readers; /* shared: ShadowBlock.now of the last write; copies and wgmma that read it now */
} ShadowCell;

/* 32 granules that warps have touched as one, lane beside lane: their cells are this one, but for the thread, which is
 * in marks that of the first with LINE_STEP x (k + 1) added where granule g is of thread + (g >> k). Lines that are
 * `apart` are so no more: their cells hold. */
enum { LINE_SHIFT = 5, LINE_CELLS = 1 << LINE_SHIFT, LINE_STEP = SHADOW_THREADS };

/* A stretch of global memory, or a block's shared memory. */
typedef struct {
  uint64_t address;
  int64_t n_bytes, n_cells;
  const unsigned char *memory;
  const char *name;
  int32_t argument; /* -1: a variable of the module, or shared memory */
  bool read_only, uninitialised;
  ShadowCell *lines;
  uint8_t *apart;    /* by line */
  ShadowCell *cells; /* of lines that are apart; shadow_cells */
} ShadowRegion;

/* What goes on behind a thread's back: a copy that writes shared memory, or a copy or wgmma that reads it. */
typedef struct {
  PtxAsync async;
  bool reads;
  int32_t pc, thread, group; /* group: of its kind and thread; PTX_ASYNC_BARRIER: the phase */
  uint64_t barrier;
  int64_t first, n; /* cells of shared memory */
} ShadowCopy;

/* What an address in shared memory passes on: the clocks of those who released it. */
typedef struct {
  uint64_t offset;
  uint32_t clocks[SHADOW_WARPS];
  int32_t phase; /* mbarriers: how many have ended */
  ShadowMark maker;
  uint32_t when; /* it was made */
} ShadowSignal;

typedef struct {
  int64_t block; /* -1: free */
  int32_t agent;
  bool touched;                 /* global memory, since the last fence */
  ShadowSet known, news, given; /* news: what warps of `told` know, until they pass a barrier */
  uint32_t told;
  /* Vector clocks: what warp v did up to clocks[w][v] comes before what warp w does now. What w does now has the clock
   * clocks[w][w] + 1: lanes of a warp are ordered by its barriers alone. */
  uint32_t clocks[SHADOW_WARPS][SHADOW_WARPS];
  uint32_t exited[SHADOW_WARPS], fenced[SHADOW_WARPS]; /* fenced: a warp's clock at its last fence */
  int32_t since;                                       /* the last barrier's pc; -1 */
  int32_t n_exited;
  struct {
    int32_t pc, thread;
    uint32_t waiting[SHADOW_WARPS], left, joined[SHADOW_WARPS]; /* left: warps that do not wait */
  } first[SHADOW_BARRIERS]; /* who came first to a barrier that has not opened; pc -1: nobody */
  ShadowRegion shared;
  ShadowCopy *copies;
  int64_t n_copies, copies_capacity;
  int32_t group[PTX_ASYNC_KINDS][SHADOW_THREADS]; /* that each thread has committed; of wgmma its warp's first thread */
  uint32_t begun[SHADOW_WARPS][SHADOW_GROUPS];    /* groups of wgmma: its warp's clock then */
  uint32_t now, fences[SHADOW_THREADS];           /* a count of accesses; of each thread's last fence */
  int32_t registers[SHADOW_WARPS], registers_pc;  /* setmaxnreg; -1: nobody took more */
  ShadowSignal *signals;
  int32_t n_signals;
  int64_t signals_capacity;
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
  int32_t *fenced, n_fenced; /* by agent less the grid's blocks: its block */
  int64_t fenced_capacity;
  int64_t grid_blocks;
  ShadowPost *posts; /* by a hash of the address; all that find no place share the first */
  PtxFault faults[PTX_MAX_FAULTS];
  int32_t n_faults;
};

static inline int64_t shadow_block_of(const PtxShadow *s, int32_t agent) {
  return agent < s->grid_blocks ? agent : s->fenced[agent - s->grid_blocks];
}
static inline bool shadow_set_has(const ShadowSet *set, int32_t agent) { /* of so many none is told apart any more */
  if (agent >= SHADOW_AGENTS) return set->n > 0;
  return agent >> 6 < set->n && set->words[agent >> 6] >> (agent & 63) & 1;
}
static inline bool shadow_knows(const ShadowBlock *b, int32_t warp, int32_t agent) {
  return shadow_set_has(&b->known, agent) || (b->told >> warp & 1 && shadow_set_has(&b->news, agent));
}
/* A synchronising access to global memory, before it reads and when it has written. */
void shadow_read_post(PtxShadow *s, ShadowBlock *b, int32_t warp, uint64_t address);
void shadow_write_post(PtxShadow *s, ShadowBlock *b, uint64_t address);

/* Of global memory; NULL: none has all these bytes. */
static inline const ShadowRegion *shadow_region_of(PtxShadow *s, uint64_t address, int32_t bytes) {
  for (int32_t k = -1; k < s->n_regions; k++) {
    const int32_t at = k < 0 ? s->last_region : k;
    if (at >= s->n_regions) continue;
    const ShadowRegion *r = &s->regions[at];
    if (address >= r->address && address - r->address + (uint64_t)bytes <= (uint64_t)r->n_bytes) {
      s->last_region = at;
      return r;
    }
  }
  return NULL;
}

/* The last reader is kept, and before it one of another warp. */
static inline void shadow_note_read(ShadowCell *cell, ShadowMark now, int32_t warp) {
  ShadowMark *last = &cell->reader;
  const bool same_warp = last->thread >> 5 == warp && last->agent == now.agent && last->pc1;
  if (same_warp && last->clock == now.clock) {
    if (last->thread != now.thread) last->flags = READ_BY_MANY;
    return;
  }
  if (!same_warp && last->pc1) cell->other = *last;
  *last = now;
}

/* Names for sentences. */
typedef struct {
  char text[96];
} ShadowName;
int32_t shadow_line(const PtxShadow *s, int32_t pc);
/* Says which barriers are missing (ptx_shadow_place.c). */
void shadow_place_barriers(PtxShadow *s, const PtxResult *result);

/* Notes a fault once for each kind and pair of lines; returns it when it is new, so that its sentence can be written.
 */
PtxFault *shadow_fault(PtxShadow *s, const char *kind, int32_t pc, int32_t other_pc, int32_t about);
/* "line N: ...", where there is a fault. %T is a thread, %B a block (64 bits), %L the line of a pc; %s and %d. */
void shadow_says(const PtxShadow *s, PtxFault *fault, const char *format, ...);

/* Room for one more than n elements of *array, of which there are at most `limit`; false: no memory, which is noted. */
bool shadow_grow(PtxShadow *s, void *array, int64_t n, int64_t *capacity, size_t size, int64_t limit);
/* What a warp releases at an address of shared memory; what it did since its last fence only if `fenced`. */
void shadow_release(PtxShadow *s, ShadowBlock *b, int32_t warp, uint64_t offset, bool fenced);
void shadow_acquire(PtxShadow *s, ShadowBlock *b, int32_t warp, uint64_t offset);
ShadowSignal *shadow_signal(PtxShadow *s, ShadowBlock *b, uint64_t offset, bool make);
/* Notes a copy or a read that goes on; *copy says of which cells. */
void shadow_begin(PtxShadow *s, ShadowBlock *b, ShadowCopy copy);
void shadow_ends(PtxShadow *s, ShadowBlock *b, int32_t warp, uint32_t mask); /* threads leave: nothing may go on */
const ShadowCopy *shadow_reader(const ShadowBlock *b, int64_t cell);         /* one that reads it now */
const char *shadow_text(const PtxShadow *s, int32_t pc);                     /* "cp.async.bulk", "wgmma", ... */
ShadowBlock *shadow_block(PtxShadow *s, int64_t block);
void shadow_join(uint32_t to[SHADOW_WARPS], const uint32_t from[SHADOW_WARPS]);
/* Sets up the lines and cells of a region; false: no memory. */
bool shadow_region_cells(PtxShadow *s, ShadowRegion *region);
void shadow_line_apart(const ShadowRegion *region, int64_t line);
/* n cells, at most LINE_CELLS, of lines that are apart from now on. */
static inline ShadowCell *shadow_cells(const ShadowRegion *region, int64_t first, int64_t n) {
  const int64_t line = first >> LINE_SHIFT, last = (first + n - 1) >> LINE_SHIFT;
  if (!region->apart[line]) shadow_line_apart(region, line);
  if (last != line && !region->apart[last]) shadow_line_apart(region, last);
  return region->cells + first;
}

#endif
