/* What each kernel of the ladder asks of memory, as the model predicts it: bytes per tensor, over all heads.
 *
 * Rungs 3 to 9 follow a schedule of sim/, and their prediction is that schedule's closed form. Rungs 1 and 2 do more
 * than the `standard` schedule, which moves each matrix once per pass: they have formulas of their own,
 * stated in the heads of their files; `ideal` is the schedule, the lower line.
 *
 *     rung             schedule       with a causal mask
 *     standard_naive   standard       all scores computed, then masked
 *     standard_tiled   standard       the same
 *     fa1              fa1            the same: the schedule without the mask
 *     fa2_scalar       fa2            the same: the schedule without the mask
 *     fa2_causal       fa2            masked tiles skipped, as in the schedule
 *     fa2_tensor       fa2            the same
 *     fa2_async        fa2            the same
 *     fa2_wgmma        fa2            the same
 *     fa3_overlap      fa2            the same
 *     fa2_decode       fa2-split      masked tiles skipped; rows are packed: formulas in kernel_model.c
 *     fa2_decode_paged fa2-split      the same, and the page table
 *     fa2_backward     fa2            its own: stated in kernel_model.c
 *     fa2_backward_twice, fa3_backward: the same */
#ifndef TILEWALK_KERNELS_COUNTERS_KERNEL_MODEL_H
#define TILEWALK_KERNELS_COUNTERS_KERNEL_MODEL_H

#include "sim/problem/plan.h"

/* What the rungs' code moves, as it counts it. */
enum {
  KERNEL_Q = 0,
  KERNEL_K,
  KERNEL_V,
  KERNEL_S,
  KERNEL_P,
  KERNEL_O,
  KERNEL_STATS, /* of rows, always fp32 */
  KERNEL_PAGES, /* the table of pages of K and V, 4 bytes an entry */
  KERNEL_dO,
  KERNEL_dQ, /* and the fp32 sums that become it; what is added to a sum is written */
  KERNEL_dK,
  KERNEL_dV,
  KERNEL_TENSORS
};

const char *kernel_tensor_name(int tensor); /* as a program names it: "Q", "stats", "pages" */

typedef struct {
  uint64_t read[KERNEL_TENSORS], write[KERNEL_TENSORS]; /* bytes, all heads and batches */
} KernelTraffic;

typedef struct KernelModel KernelModel;

/* Bytes in 128 bits, over all heads and batches. */
typedef struct {
  Wide read[KERNEL_TENSORS], write[KERNEL_TENSORS];
} WideTraffic;

struct KernelModel {
  const char *name;
  const char *schedule; /* in sim/algorithms/schedule.h */
  bool walks_masked;    /* goes through what a mask hides too, as the schedule does without one */
  bool hits_l1;         /* some of its reads may not reach L2; else the boundary counter must agree */
  int only_block;       /* block size that cannot be chosen; 0: it can */
  bool walks_once;      /* of backward: dQ is added to on the way; else a second walk makes it */
  bool reads_pages;     /* K and V through a table of pages */
  bool uses_mma;        /* mma.sync, of which hardware counts the instructions */
  bool spills;          /* it may: what it writes need not be equal */
  bool reads_boxes;     /* TMA fetches whole boxes of B_r rows of Q: rows outside the tensor come as zeros, and count */
  bool takes_blocks;    /* from a counter in memory: a sector each way for each row block */
  int64_t extra_read_bytes, extra_write_bytes,
      extra_atomic_bytes; /* besides its schedule, over all heads: sim/l2/overheads.h */
  /* Of unfused kernels, that do more than their schedule: per head; no mask leaves anything out. NULL: none. */
  void (*unfused)(const Plan *plan, WideTraffic *per_head, bool *overflow);
  /* For kernels that no schedule describes yet: their own formula. *traffic starts as zeros. NULL: the schedule's. */
  Status (*counted)(const KernelModel *model, const Plan *plan, WideTraffic *traffic, bool *overflow, Error *error);
};

extern const KernelModel KERNEL_MODELS[];
extern const int N_KERNEL_MODELS;

const KernelModel *kernel_model_find(const char *name); /* NULL: no such rung */

/* What the kernel moves. tiling: B_r and B_c as given to the kernel. */
Status kernel_model_traffic(const KernelModel *model, const Shape *shape, const Tiling *tiling, KernelTraffic *traffic,
                            Error *error);

/* What its schedule moves with the same tiles: the same for rungs 5 to 9. */
Status kernel_model_ideal(const KernelModel *model, const Shape *shape, const Tiling *tiling, KernelTraffic *traffic,
                          Error *error);

uint64_t kernel_traffic_read(const KernelTraffic *traffic);
uint64_t kernel_traffic_write(const KernelTraffic *traffic);

#endif
