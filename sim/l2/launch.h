/* How a kernel covers a problem: which CTA does what, in which order they start, how many run at once.
 *
 *     pieces of work in start order      0 1 2 3 4 5 6 7 8 9 ...      (batch, head, row block, split) each
 *     slots: n_sm x CTAs per SM          [0 1 2 3 4 5][6 7 8 9 . .]   one wave, the next, the tail
 *                                                       a slot takes the next piece when it is free
 *
 * Modelled: the limits on CTAs per SM as NVIDIA's occupancy calculator counts them (cuda_occupancy.h of
 * the CUDA Toolkit), the orders in which known kernels number their CTAs, the walk over K and V.
 * A persistent kernel starts as many CTAs as there are slots, and each pulls pieces until none is left:
 * the start order of pieces is the same, so one iterator serves both.
 * Not modelled: that the hardware may start CTAs of a grid in another order than their number (NVIDIA
 * promises none; in practice they start in order), clusters, other kernels on the machine. */
#ifndef TILEWALK_SIM_L2_LAUNCH_H
#define TILEWALK_SIM_L2_LAUNCH_H

#include "sim/machine/timing.h"
#include "sim/problem/plan.h"

/* Hears how much of a long walk is done. */
typedef struct {
  void (*hear)(void *context, double part);
  void *context;
} Listener;

/* Which index runs fastest as CTAs are numbered; splits, where there are some, run within a query block. */
typedef enum {
  ORDER_QUERY_BATCH_HEAD = 0, /* FlashAttention-2: grid (row blocks, batch, heads) */
  ORDER_QUERY_HEAD_BATCH,     /* memory-efficient attention, our rungs */
  ORDER_HEAD_QUERY_BATCH,     /* the heads of a batch side by side, so that GQA shares K and V */
  ORDER_HEAD_BATCH_QUERY,     /* all first row blocks, then all second ones: with the longest first, balanced */
  ORDER_COUNT
} LaunchOrder;

typedef enum {
  ROWS_ASCENDING = 0,
  ROWS_DESCENDING,
  ROWS_LONGEST_FIRST, /* descending when causal, because the last rows see the most keys; else ascending */
  ROWS_COUNT
} LaunchRows;

typedef enum { WALK_FORWARD = 0, WALK_REVERSED, WALK_COUNT } LaunchWalk; /* over K and V: first to last, or back */

extern const char *const LAUNCH_ORDER_NAMES[],
    *const LAUNCH_ROWS_NAMES[], *const LAUNCH_WALK_NAMES[], *const PACKING_NAMES[],
                                                                *const SPLITTING_NAMES[]; /* by value; NULL ends them */

/* Whether a kernel packs the query heads of a KV head as rows of one tile where they share K and V. */
typedef enum {
  PACKING_USUAL = 0, /* no kernel is known: as PACKING_FILL for algorithms whose CTAs own row blocks */
  PACKING_NEVER,
  PACKING_ONE_QUERY, /* where there is one query and no window: FlashAttention-2, csrc/flash_attn/flash_api.cpp,
                        seqlenq_ngroups_swapped */
  PACKING_FILL,      /* where rows of a tile would lie idle, and wherever keys are split: FlashAttention-3,
                        hopper/heuristics.h, should_pack_gqa, and hopper/flash_api.cpp, get_pack_gqa */
  PACKING_ALWAYS,    /* kernels/ladder/fa2_decode.cu */
  PACKING_COUNT
} Packing;

/* What a kernel of that rule does. N_q: queries of a head; group: heads that share K and V; B_r: rows of its tile. */
bool packing_packs(Packing packing, int64_t N_q, int64_t group, int64_t B_r, bool has_window, bool splits);

/* Into how many parts a kernel splits the keys of small grids. */
typedef enum {
  SPLITTING_NEVER = 0,
  SPLITTING_FILL,         /* as split_choose: FlashAttention-2, csrc/flash_attn/flash_api.cpp, num_splits_heuristic */
  SPLITTING_POWER_OF_TWO, /* the largest power of two whose CTAs fit at once, where CTAs would leave a fifth of the SMs
                             without work, of one query alone: cuDNN, from two recorded launches (h100/decode); with
                             several queries none was seen to split (h200/others, others-rows) */
  SPLITTING_FEWEST,       /* the fewest whose last wave is within 5 % as full as any's, none of them empty:
                             kernels/ladder/fa2_decode.cu, default_splits */
  SPLITTING_HOPPER,       /* as FILL, but none of up to four tiles, and some may be empty: FlashAttention-3,
                             hopper/heuristics.h of 13d0fd9 */
  SPLITTING_COUNT
} Splitting;

/* How many ways to split the keys of `n_ctas` row blocks (over batch and heads) with T_c column tiles on a machine of
 * n_SM multiprocessors: one when the row blocks already fill it; else the fewest splits whose last wave is almost as
 * full as the best choice's. FlashAttention-2's num_splits_heuristic (csrc/flash_attn/flash_api.cpp, 2023). */
int64_t split_choose(Wide n_ctas, int64_t n_SM, int64_t T_c);

/* The same of a kernel whose rule that is and of which ctas_per_sm CTAs are meant to run on an SM. */
int64_t splitting_choose(Splitting splitting, Wide n_ctas, int64_t n_SM, int64_t ctas_per_sm, int64_t T_c);

/* Which code of a kernel runs: compilers spill in each otherwise. */
typedef enum {
  BUILD_EVEN = 0, /* rows and keys are whole tiles */
  BUILD_UNEVEN,   /* bounds are checked in every tile: ragged lengths, or several behind one another */
  BUILD_WINDOW,
  BUILD_COUNT
} LaunchBuild;

/* *shape need not be completed. */
LaunchBuild launch_build(const Shape *shape, int64_t B_r, int64_t B_c);

/* Registers that a CTA of t tiles spills, in bytes: tile x t + block, but few[t] where that is not 0, and few[0] where
 * it has nothing to do. They are stored once each; a CTA that is not of the first wave reads `reload` of them from L2.
 * `held` of those of a row block have a place of their own, if not all of them. */
enum { SPILLS_FEW = 4 };
typedef struct {
  int64_t tile_bytes, block_bytes, few_bytes[SPILLS_FEW], reload_bytes, held_bytes;
} Spills;

static inline int64_t spills_held(const Spills *s) {
  return s->held_bytes ? s->held_bytes : s->block_bytes > 0 ? s->block_bytes : 0;
}

/* A kernel as launched. Zero: not known, and not a limit (blocks must be given). */
typedef struct {
  LaunchOrder order;
  LaunchRows rows;
  LaunchWalk walk;
  bool splits_descending; /* of a row block the last split first; of programs that say so */
  bool persistent;
  bool whole_head;          /* one CTA does all row blocks of a head, as in FlashAttention-1's order */
  int64_t group_heads;      /* heads of batch and heads in groups of this size, in a group the first row blocks of all
                               heads, then the second ones, ...; 0: by `order` */
  bool of_columns;          /* a CTA owns a block of keys, as in the backward pass: such blocks count as row blocks */
  int64_t block_q, block_k; /* B_r, B_c */
  int64_t n_splits;         /* 0: 1 */
  int64_t threads;          /* of a CTA */
  int64_t registers_per_thread;
  int64_t shared_bytes;         /* that a CTA asks for */
  int64_t ctas_per_sm;          /* what the kernel itself limits them to */
  int64_t percent_of_peak;      /* of the peak rate of products that the kernel reaches where it has all it needs */
  int64_t alone_permille;       /* of the peak rate too, that a CTA reaches which has an SM to itself; 0: not known */
  int64_t slot_spread_permille; /* of the time of a step, one standard deviation between the CTAs of an SM: the older is
                                   ahead, */
  bool steady;                  /* more so with every step; else now and then, */
  int64_t slip_percent;         /* part of a tile that slips at once; 0: not known, 50 */
  int64_t ahead_percent; /* of a step: so long before it needs what it asks for a kernel that does not wait asks; 0:
                            100, a whole step */
  int64_t start_cycles; /* that the first arithmetic of a launch takes longer, a TPC more and another less: mean; 0: not
                           known */
  int64_t step_spread_cycles; /* by which a step varies by itself where SMs are full, one standard deviation; 0: not
                                 known */
  int64_t busy_spread_cycles; /* besides where all SMs are at work, less in proportion where fewer are: of several that
                                 vary by themselves the squares add up */
  int64_t clocks_permille; /* by which the fastest GPC's clock is ahead of the slowest's under a kernel that takes all
                              the power there is; 0: it does not */
  bool waits;              /* asks for a tile of K and V when it needs it, and not while it works on the one before */
  int64_t round_bytes;     /* then: of K and V, so much at once, and waits before it asks for more; 0: a tile at once */
  int64_t latency_cycles;  /* that a tile takes such a CTA besides, in which others work: between its loads and its
                              arithmetic, and in it; 0: not known */
  TimeLaw time;            /* how long it takes (sim/machine/timing.h) */
  Packing packing;
  bool may_split;          /* small grids go to a kernel that splits the keys */
  bool reads_tables;       /* of blocks, to find those that its mask leaves */
  bool reloads_q, clips_k; /* what it moves besides its schedule: sim/l2/overheads.h */
  Spills spills;
  int64_t pull_bytes;
  int64_t cluster;       /* CTAs that share loads, of the first kernel, as its description says; 1: none; 0: it says
                            nothing, and the program does */
  uint8_t cluster_dim;   /* Dim: then, along which they follow each other */
  uint64_t shared_names; /* and what they share, a bit for each of the program's names */
} LaunchConfig;

/* What limits the CTAs that an SM holds at once. */
typedef enum {
  LIMIT_SHARED = 0, /* shared memory */
  LIMIT_REGISTERS,
  LIMIT_THREADS, /* warps, in fact: the last one of a CTA may be partly empty */
  LIMIT_CTAS,    /* the machine's own limit */
  LIMIT_KERNEL,  /* the kernel asks for no more */
  LIMIT_COUNT    /* nothing is known that limits: one CTA is taken */
} OccupancyLimit;

const char *occupancy_limit_name(OccupancyLimit limit); /* "shared memory", ... */

#define OCCUPANCY_NO_LIMIT INT64_MAX

typedef struct {
  int64_t limits[LIMIT_COUNT]; /* CTAs that each would allow; OCCUPANCY_NO_LIMIT: not known, or none used */
  OccupancyLimit binds;        /* the smallest; the first of equals */
  int64_t ctas_per_sm;         /* at least 1 */
  double warps_fraction;       /* of the warps that the SM could hold; 0: not known */
} Occupancy;

/* STATUS_BAD_REQUEST when not even one CTA fits, and why. */
Status launch_occupancy(Occupancy *occupancy, const LaunchConfig *config, const Gpu *gpu, Error *error);

/* A problem under a config on a machine. Plain data; copying is fine. */
typedef struct {
  LaunchConfig config;
  Occupancy occupancy;
  int64_t batch, heads, n_row_blocks, n_splits;
  bool descending;  /* row blocks, as decided for this mask */
  int64_t n_pieces; /* batch x heads x row blocks x splits */
  int64_t n_sm;
  int64_t n_slots;  /* n_sm x CTAs per SM: how many pieces are worked on at once at most */
  int64_t n_ctas;   /* started: all pieces, or min(slots, pieces) when persistent */
  int64_t n_waves;  /* ceil(pieces / slots) */
  double tail_fill; /* the part of the slots that the last wave fills, above 0, at most 1 */
} Launch;

/* *shape needs no completing. Errors: a shape or config that is not possible, a CTA that does not fit, more than
 * 2^62 pieces. *launch is unchanged on error. */
Status launch_make(Launch *launch, const Shape *shape, const LaunchConfig *config, const Gpu *gpu, Error *error);

typedef struct {
  int64_t batch, head, row_block, split;
} LaunchPiece;

/* The n-th piece of work to start, 0 <= n < n_pieces; O(1). */
LaunchPiece launch_piece(const Launch *launch, int64_t n);

#endif
