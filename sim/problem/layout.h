/* Where the tensors of one head lie in HBM, so that a tile has an address.
 *
 * One after the other from address 0, each row by row, each starting on a line of 128 bytes:
 *
 *     Q | K | V | O | S | P | m | l | partial O of each split (fp32) | their log-sum-exps
 *
 * The same layout everywhere: `tilewalk trace --format din` writes these addresses and tooltips name them. Room is
 * set aside for S and P even where an algorithm never stores them, so that a tensor's address does not hang on the
 * algorithm. */
#ifndef TILEWALK_SIM_LAYOUT_H
#define TILEWALK_SIM_LAYOUT_H

#include "sim/problem/plan.h"
#include "sim/problem/tensor.h"

enum { LAYOUT_LINE_BYTES = 128, LAYOUT_PARTIAL_BYTES = 4 /* partial results of O are fp32 */ };

typedef struct {
  uint64_t base[TENSOR_COUNT]; /* of each tensor; stats: m, and l behind it */
  uint64_t l_base, partial_O_base, partial_lse_base;
  uint64_t row_bytes[TENSOR_COUNT], element_bytes; /* from row to row; of m and l: STATS_BYTES */
} Layout;

/* STATUS_TOO_LARGE when the tensors of one head do not fit 62 bits of address. */
Status layout_make(Layout *layout, const Plan *plan, Error *error);

/* The address of an element of Q, K, V, O (row, column of d), S, P (query, key) or m (row; the column is 0). */
uint64_t layout_address(const Layout *layout, Tensor tensor, int64_t row, int64_t column);

#endif
