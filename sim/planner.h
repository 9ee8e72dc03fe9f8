/* The launch that a problem comes to under an algorithm: the one place that decides it.
 *
 *     Problem  ->  algorithm    the kernel's here (small grids may go to its split kernel), or the one that is named
 *              ->  kernel row   that of the algorithm, if a kernel of the problem runs it; else a usual launch
 *              ->  tile, splits, packing, order, walk, resources, overheads
 *
 * simulate() asks it first, so everything that simulates has the same answer: sim, sweep, roofline, the scenes,
 * scenes, advise, lessons and the page. A problem may be changed and asked again (another N, another GPU): nothing of
 * an earlier answer stays in it. */
#ifndef TILEWALK_SIM_PLANNER_H
#define TILEWALK_SIM_PLANNER_H

#include "sim/l2/kernel_profile.h"
#include "sim/l2/placement.h"
#include "sim/l2/refinements.h"

enum { MACHINE_NAME_BYTES = 64 };

/* What the two-level model needs to know of a machine. */
typedef struct {
  char name[MACHINE_NAME_BYTES];
  int64_t sram_bytes;          /* for one CTA's tiles */
  int64_t l2_bytes;            /* 0: none */
  int64_t register_bytes;      /* of an SM, where S, O, m and l may live; 0: everything is in SRAM, as in the papers */
  int64_t tensor_memory_bytes; /* where S and O may live instead (Blackwell) */
  int64_t n_SM;                /* decides how many ways fa2-split splits the keys by default */
  int64_t hbm_bytes;           /* that a program can have (gpu_usable_bytes); 0: not known */
  char compute_capability[KEYFILE_TEXT_BYTES]; /* builds of a kernel differ by it; "": not known */
} Machine;

/* Whether the query heads of a KV head are rows of one tile: as the kernel does, or as is asked for. */
typedef enum { PACK_AUTO = 0, PACK_ON, PACK_OFF, PACK_COUNT } Pack;

/* The papers' machine, SRAM and HBM alone: 192 KiB of SRAM on each of 108 SMs, an A100 (NVIDIA A100 whitepaper, table
 * 4; FlashAttention, section 2.1). */
Machine machine_paper(void);

/* That of a GPU. On one of a vendor S, O, m and l may live in registers; teaching machines keep all tiles in SRAM. */
Machine machine_of_gpu(const Gpu *gpu);

/* Of the launch, single things that are asked for, whatever the kernel. */
typedef struct {
  int64_t ctas_per_sm; /* 0: as many as fit, or as the kernel allows */
  bool has_order, has_walk;
  LaunchOrder order;
  LaunchWalk walk;
} LaunchAsked;

/* What is asked. sim/planner.h makes a launch of it for each algorithm. Kernels must outlive it. */
typedef struct {
  Shape shape;
  Tiling tiling; /* zeros: the kernel's; else: the largest power of two up to 128 that fits, for B_r, B_c; n_splits by
                    split_choose */
  bool largest_block; /* in place of a power of two */
  Machine machine;
  Pack pack;
  const Profile *kernel;      /* that runs the algorithm; NULL: none is named */
  const Profile *beside;      /* what runs another algorithm that it is compared with; NULL: not known */
  LaunchConfig launch;        /* where no kernel runs the algorithm: order, walk, resources. Blocks are the tiling's. */
  LaunchAsked asked;          /* besides */
  bool in_step;               /* the same: all CTAs move one tile a turn; else each at its own pace, in time */
  int64_t skew_turns;         /* in step: tiles by which the last CTA of the first wave begins after the first */
  bool profiled, once;        /* the same: as a profiler runs it (l2_run.h) */
  const Placement *placement; /* the same: where its SMs are; NULL: as on most H200 */
  uint32_t first_gpc;         /* the same: one more than the GPC that its launch begins with; 0: not known */
  uint32_t draw;              /* the same: which of many draws of what is random; 0: the usual one */
  Refinements without;        /* the same: parts of the model left out, to see what they explain */
  const Listener *listener;   /* the same: who hears how far its walk is; NULL: nobody */
} Problem;

/* The algorithm that problem->kernel follows here: its own, or the one that splits the keys where its grid is small and
 * no tile is given. Without a kernel the default one. */
const Schedule *planner_algorithm(const Problem *problem);

/* Which kernel of the problem runs the algorithm; NULL: none that is described. */
const Profile *planner_kernel(const Problem *problem, const Schedule *schedule);

/* Fills in problem->launch and problem->tiling as far as the kernel decides them, and drops what was asked for; the
 * shape is completed. Errors: the kernel has no tile for such heads, no such type or mask. */
Status planner_launch(Problem *problem, const Schedule *schedule, Error *error);

#endif
