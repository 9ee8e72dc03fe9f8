/* What the CTAs of a program ask of memory as it is launched on a GPU: kernels, one after another, of pieces of work,
 * each a stream of steps. A slot (a place for a CTA on an SM) takes a piece, goes through its steps, and takes the
 * next.
 *
 *     for every row block i             "every": a piece each, of every head
 *       load Q_i                         joins the next step
 *       for each column block j of i     an iteration of an innermost loop is a step
 *         load K_j, load V_j             granules of tiles that are asked for
 *         S = ..., O_i += P V_j          work: FLOPs and exponentials of the step
 *       store O_i                        joins the last step
 *
 * - A loop without work on tiles is cheap: a step holds as many of its iterations as the clock takes accesses.
 * - K and V are one granule where they are always loaded together. Row statistics are a part of the O block that they
 *   come and go with.
 * - `once` is for counting: every CTA asks L2 for its operands again, as kernels/ladder/standard_tiled.cu does.
 * - CTAs of row blocks that do both products are the kernel that a launch describes: they start in its order. So does a
 *   program without CTAs, a head each. Other kernels start in the order of their loops, head after head; so do those of
 *   a program over the query heads of a KV head.
 * - A kernel that does nothing but P V gives each CTA a part of d_v of B_c columns.
 * - Tiles next to each other may be merged into one granule (`merge` of them), to walk long sequences in few steps.
 *   What merges is the side that the innermost loop runs over.
 * - A kernel may load a tile of K and V in rounds (LaunchConfig.round_bytes): as many granules, and the work comes with
 *   the last. One that reads its Q again with every tile (LaunchConfig.reloads_q) renews it with every step; registers
 *   that it spills for a row block go out when its loop begins (sim/l2/overheads.h).
 *
 * - CTAs of a cluster (`share K_j, V_j by 2`) follow each other along rows or columns; of those that load a block the
 *   last asks L2, and the others have it from there.
 *
 * Not modelled: Q kept in registers by persistent kernels, CTAs of a cluster that wait for each other, log-sum-exps
 * under `when lse` (1 to 2 % of O; a tensor of their own), L1. */
#ifndef TILEWALK_SIM_L2_STREAM_H
#define TILEWALK_SIM_L2_STREAM_H

#include "sim/l2/launch.h"
#include "sim/l2/clock.h"
#include "sim/algorithms/schedule.h"

/* The kinds of granules: what lies in HBM, by what attention takes it as and by its shape. Of registers that a kernel
 * spills for each row block every slot has one granule. */
typedef enum {
  STREAM_KV, /* K, and V with it where both are always loaded together */
  STREAM_Q,
  STREAM_O,
  STREAM_S,
  STREAM_P,
  STREAM_PARTIAL, /* O of a split */
  STREAM_V,
  STREAM_SPILL,
  STREAM_OTHERS, /* one a block that is none of these */
  STREAM_KIND_COUNT = STREAM_OTHERS + 12
} StreamKind;

/* Where a slot is in its piece. */
typedef struct {
  int64_t head, kv_head, part; /* part: of d_v */
  int64_t at[DIM_COUNT];       /* granule of rows, of columns; split */
  int64_t left[DIM_COUNT];     /* iterations of the loop over each, with the present one */
  Span tiles;                  /* that the loop over the merged side has, masked ones left out */
  int64_t number;              /* of the slot */
  uint8_t op;                  /* that comes next */
  uint8_t query_op;            /* of its kernel */
  bool busy, fresh;            /* fresh: before its first step */
} StreamSlot;

/* One step: accesses, and the arithmetic on them. */
typedef struct {
  ClockStep *access; /* its work_cycles are the caller's to fill in */
  double flops, exps;
} StreamStep;

typedef enum { STREAM_LOOP, STREAM_NEXT, STREAM_READ, STREAM_WRITE, STREAM_WORK, STREAM_END } StreamOpKind;

/* What a CTA does, one after another. */
typedef struct {
  uint8_t kind; /* StreamOpKind */
  uint8_t dim;  /* LOOP and NEXT: Dim */
  uint8_t jump; /* LOOP: behind it; NEXT: the first of its body */
  int8_t step;  /* of a loop: 1, or -1 from the last block to the first */
  bool of, in_split, innermost, gathers;
  bool diagonal;                           /* of a loop: column block i comes with row block i */
  bool has_pattern;                        /* of a loop: leaves out what a pattern hides, one by one */
  bool is_spill;                           /* WRITE: the slot's own granule */
  uint8_t reads, writes;                   /* LOOP and NEXT: of an iteration */
  int8_t needs;                            /* READ: only if this loop has a tile; -1: always */
  int64_t first, per_head, per[DIM_COUNT]; /* READ and WRITE: granule = first + head x per_head + ... + part */
  bool of_kv_head, in_parts;
  uint8_t cluster, cluster_dim; /* READ: CTAs along a Dim that share it, of which one asks; 0: each asks */
  bool cluster_of;              /* then: a CTA whose granule the mask hides loads none */
  double n_tiles;               /* WORK: tiles of S, parts of d_v counted as such; 0: those that the mask leaves */
  double flops, exps;           /* of one */
} StreamOp;

enum { STREAM_OPS_MAX = 2 * PROGRAM_OPS_MAX + PROGRAM_KERNELS_MAX + 1 }; /* below 256 */

typedef struct {
  uint8_t of_program; /* the kernel of the program that it is */
  uint8_t first_op, end_op;
  bool by_launch;                  /* its CTAs start in the order of the launch */
  uint8_t query_op;                /* one more than the load of Q that it repeats with every step; 0: none */
  uint8_t n_dims, dims[DIM_COUNT]; /* loops whose iterations are CTAs, outer first */
  bool of;                         /* the last of them leaves masked tiles out */
  bool diagonal;                   /* one of them goes along the diagonal */
  int64_t parts;                   /* of d_v, a CTA each */
  int64_t n_pieces;                /* of the heads that are launched */
  int64_t cluster;                 /* CTAs that share loads; 0: each asks for itself */
  bool back[DIM_COUNT];            /* along these dimensions CTAs begin with the last block */
  Dim cluster_dim;                 /* along which they follow each other */
  NameSet shared;                  /* what they share */
} StreamKernel;

typedef struct {
  const Plan *plan;
  const Launch *launch;
  StreamKernel kernels[PROGRAM_KERNELS_MAX];
  int n_kernels;
  StreamOp ops[STREAM_OPS_MAX];
  bool by_rows;               /* a kernel's CTAs are the launch's: row blocks that do both products */
  bool spills;                /* registers, for each row block */
  bool combines;              /* and other kernels go with it */
  bool stores_again;          /* what it has stored before */
  bool over_heads;            /* CTAs are those of a KV head, and loop over its query heads */
  int64_t all_heads, n_heads; /* heads that do the same (schedule_heads), and those of them that are launched */
  int64_t merge;              /* tiles merged into a granule */
  Dim merged;                 /* on which side */
  int64_t rounds;       /* or granules of a tile of K and V, one after another: where a kernel waits for parts of it */
  int64_t n[DIM_COUNT]; /* granules of a head down and across; splits */
  double tile_scores;   /* of one tile of S */
  double between_bytes; /* of a head, the largest of what one kernel stores and another loads */
  HierarchyKind kinds[STREAM_KIND_COUNT];   /* their granules follow each other */
  double steps_per_head, accesses_per_step; /* about */
} Stream;

/* Whether the CTAs' requests of a program are modelled: all are, but for one that moves more kinds of blocks than there
 * are kinds of granules. */
bool stream_exists(const Schedule *schedule);

/* Sets up the stream of a schedule; plan and launch must outlive it. False: the schedule has none. merge: how many
 * tiles, or rounds of tiles loaded in rounds, are one granule; along the diagonal none are merged. n_heads: how many of
 * the heads (Stream.all_heads) are launched; 0: all. */
bool stream_make(Stream *stream, const Schedule *schedule, const Plan *plan, const Launch *launch, int64_t merge,
                 int64_t n_heads);

/* A slot takes a piece of a kernel. */
void stream_begin(const Stream *stream, int kernel, StreamSlot *slot, int64_t piece);

/* Its next step; clears slot->busy with the last. */
void stream_next(const Stream *stream, StreamSlot *slot, StreamStep *step);

/* Bytes that the CTAs of one head ask L2 for. */
double stream_read_bytes(const Stream *stream, const Schedule *schedule);

/* Besides, what CTAs of a cluster have from the request of another. */
double stream_shared_bytes(const Stream *stream, const Schedule *schedule);

#endif
