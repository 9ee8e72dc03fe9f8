/* What the CTAs of an algorithm ask of memory, tile by tile, as it is launched on a GPU: kernels, one after another,
 * of pieces of work, each a stream of steps. A slot (a place for a CTA on an SM) takes a piece, goes through its steps,
 * and takes the next one.
 *
 *     fa2         one kernel; a piece is a row block:    Q_i and K, V of its first tile (and spilled registers out); K,
 * V; ...; with the last, O_i fa2-split   1. a piece is (row block, split):      the same over the split's tiles, and
 * stores a partial O_i (fp32)
 *                 2. the combine kernel, a row block:    the partials of all splits, O_i
 *     fa1         one kernel; a piece is a head:         O, m, l are stored once; then for each K_j, V_j all row blocks
 * that see them: Q_i, O_i (with m_i, l_i) come, O_i goes standard    1. a piece is a row block by tiles:    Q_i, K_j
 * in, S_ij out, for each tile
 *                 2. a piece is a row block:             all S_ij of the row, and once more while P_ij goes out
 *                 3. a piece is (row block, part of d):  P_ij and V_j, ...; O_i
 *
 * `standard` is launched as tiled products, like kernels/ladder/standard_tiled.cu: blocks of the operands are read
 * again by every CTA that needs them, which schedule_standard.c (each matrix once a pass, as the papers count) leaves
 * out; L2 serves them. Tiles next to each other may be merged into one granule (`merge` of them), to walk long
 * sequences in few steps; of the first and the last of its walk a piece may compute a part, and takes the time of that
 * part. A tile that a kernel of the fa2 kind loads in rounds (LaunchConfig.round_bytes) is as many granules, and its
 * arithmetic comes with the last. A kernel that reads its Q again with every tile (LaunchConfig.reloads_q) renews it
 * with every step: what that moves is in sim/l2/overheads.h.
 *
 * Not modelled: Q kept in registers by persistent kernels, tiles shared through clusters, log-sum-exps (1 to 2 % of O;
 * a tensor of their own), L1. */
#ifndef TILEWALK_SIM_STREAM_H
#define TILEWALK_SIM_STREAM_H

#include "sim/l2/launch.h"
#include "sim/l2/clock.h"
#include "sim/algorithms/schedule.h"

/* The kinds of granules. K and V tiles with one number are one granule where an algorithm asks for both together. Of
 * registers that a kernel spills for each row block every slot has one granule. */
typedef enum {
  STREAM_KV,
  STREAM_Q,
  STREAM_O,
  STREAM_S,
  STREAM_P,
  STREAM_PARTIAL,
  STREAM_V,
  STREAM_SPILL,
  STREAM_KIND_COUNT
} StreamKind;

enum { STREAM_KERNELS_MAX = 3 };

typedef struct Stream Stream;

/* Where a slot is in its piece. */
typedef struct {
  int64_t head, kv_head, row_block, split;
  int64_t at, left, step; /* the next granule of the walk, how many are left, +1 or -1 */
  Span tiles;             /* fa2: of K and V, that the piece computes */
  int64_t outer;          /* fa1: the tile of K and V */
  int64_t number;         /* of the slot */
  bool busy, fresh;       /* fresh: Q_i (fa1: K_j and V_j) has not been asked for */
} StreamSlot;

/* One step: accesses, and the arithmetic on them. */
typedef struct {
  ClockStep *access; /* its work_cycles are the caller's to fill in */
  double flops, exps;
} StreamStep;

typedef struct {
  int64_t (*n_pieces)(const Stream *stream);
  void (*begin)(const Stream *stream, StreamSlot *slot, int64_t piece);
  void (*next)(const Stream *stream, StreamSlot *slot,
               StreamStep *step); /* one step; clears slot->busy with the last */
} StreamKernel;

struct Stream {
  const Plan *plan;
  const Launch *launch;
  const StreamKernel *kernels;
  int n_kernels;
  bool goes_back;         /* the program takes its blocks last first, whatever the launch */
  int64_t n_heads, merge; /* tiles merged into a granule: of K and V; for fa1, of Q and O */
  int64_t rounds; /* or granules of a tile of K and V, one after another: where a kernel waits for parts of it */
  int64_t n_cols, n_rows;                       /* granules of a head across and down */
  double tile_scores, score_flops, value_flops; /* of one tile of S; of Q K^T and of P V with it */
  HierarchyKind kinds[STREAM_KIND_COUNT];
  int64_t first[STREAM_KIND_COUNT];         /* granule of each kind */
  double steps_per_head, accesses_per_step; /* about */
};

/* The shipped program whose loops, loads and stores a program has, which is all that its CTAs' requests depend on;
 * NULL: none, and what its CTAs ask of L2 is not modelled. */
const char *stream_form(const Schedule *schedule);

/* Sets up the stream of a schedule; plan and launch must outlive it. False: the schedule has none. merge: so many tiles
 * are one granule, or, of tiles loaded in rounds, so many rounds. n_heads: only so many of the heads are launched; 0:
 * all. */
bool stream_make(Stream *stream, const Schedule *schedule, const Plan *plan, const Launch *launch, int64_t merge,
                 int64_t n_heads);

/* Bytes that `standard` asks for, all heads, as a closed form. What the other algorithms ask for is their schedule's
 * traffic. */
double stream_standard_read_bytes(const Plan *plan);

#endif
