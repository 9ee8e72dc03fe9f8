/* A plan: a shape cut into tiles for one algorithm. The schedules in sim/schedule_*.c walk it.
 *
 *              B_c keys a tile, T_c = ceil(N_k / B_c) tiles across
 *            +-----+-----+-----+--
 *        B_r | 0,0 | 0,1 | 0,2 |        tile (i, j): rows [i B_r, (i+1) B_r), columns [j B_c, (j+1) B_c);
 *    queries +-----+-----+-----+--      the last row and column of tiles may be ragged
 *            | 1,0 | ...                T_r = ceil(N_q / B_r) tiles down
 */
#ifndef TILEWALK_SIM_PROBLEM_PLAN_H
#define TILEWALK_SIM_PROBLEM_PLAN_H

#include "sim/problem/mask.h"
#include "sim/problem/tensor.h"

#define PLAN_MAX_BLOCK  ((int64_t)1 << 20) /* keeps the bytes and FLOPs of one tile within 64 bits */
#define PLAN_MAX_SPLITS ((int64_t)1 << 16)
enum { STATS_BYTES = 4 }; /* m and l are fp32 in every algorithm and data type */

typedef struct {
  int64_t B_r, B_c; /* rows of Q and rows of K, V in a tile */
  int64_t n_splits; /* fa2-split: parts of the keys that are walked independently; 0: 1 */
  bool reversed;    /* loops that go "either way" walk their blocks from the last to the first */
  bool lse;         /* fa2, fa2-split: also write the N log-sum-exp values that training needs */
} Tiling;

typedef struct {
  Shape shape;
  Tiling tiling;
  int64_t T_r, T_c;
  int64_t tiles_per_split; /* ceil(T_c / n_splits) column tiles belong to one split */
  int element_bytes;       /* of the shape's dtype */
  int kv_bytes[2];         /* of an element of K and of V in memory: of kv_dtype; of a V inside K 0 */
  Band band;               /* queries as rows */
  Band keys;               /* the transposed band: keys as rows */
  Mask mask;               /* the band, and what else hides keys */
  MaskCount all;           /* of all tiles, where they were counted before (`tiles` is 0 elsewhere) */
} Plan;

/* Bytes of an element in memory of what attention takes a tensor as. */
static inline int plan_element(const Plan *plan, int operand) {
  if (operand == OPERAND_OUT) return dtype_out_bytes(plan->shape.dtype);
  return operand == OPERAND_K || operand == OPERAND_V ? plan->kv_bytes[operand - OPERAND_K] : plan->element_bytes;
}

/* Bytes of K and V of one key. */
static inline double plan_key_bytes(const Plan *plan) {
  return (double)plan->shape.d * plan->kv_bytes[0] + (double)plan->shape.d_v * plan->kv_bytes[1];
}

/* Whether K and V are as a program says: elements of the shape's type, each a matrix of its own. */
static inline bool plan_keys_are_plain(const Plan *plan) { return !plan->shape.v_in_k && !plan->shape.has_kv_dtype; }

/* Checks shape and tiling (both may hold zeros that mean defaults) and derives the rest. Writes *plan only
 * on success. */
Status plan_make(Plan *plan, const Shape *shape, const Tiling *tiling, Error *error);

/* Counts over blocks of rows and of columns. */
MaskCount plan_count(const Plan *plan, Span rows, Span cols);

/* The tiling of FlashAttention's Algorithm 1: B_c = ceil(M / 4d), B_r = min(B_c, d), M in elements of SRAM.
 * (Dao et al. 2022, Algorithm 1, line 1.) At least 1 each. */
Tiling tiling_algorithm1(int64_t sram_bytes, int element_bytes, int64_t d);

/* Tiles that are computed, and of them those that the mask crosses, of row block i, 0 <= i < T_r, and of column block
 * j, 0 <= j < T_c. */
typedef struct {
  int64_t computed, partial;
} PlanTiles;
PlanTiles plan_row_tiles(const Plan *plan, int64_t i);
PlanTiles plan_column_tiles(const Plan *plan, int64_t j);

#endif
