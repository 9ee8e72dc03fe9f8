/* Where what a program moves lies in HBM, of one head, so that a tile has an address.
 *
 * One after the other from address 0, each row by row, each starting on a line of 128 bytes:
 *
 *     inputs | outputs | matrices by tiles | others | columns | parts of each split
 *
 * Of the papers' programs Q | K | V | O | S | P | m | l | parts of O (fp32) | their log-sum-exps, with room for S, P, m
 * and l whether or not they are stored. The same layout everywhere: `tilewalk trace --format din` writes these
 * addresses and tooltips name them. */
#ifndef TILEWALK_SIM_ALGORITHMS_LAYOUT_H
#define TILEWALK_SIM_ALGORITHMS_LAYOUT_H

#include "sim/algorithms/program.h"
#include "sim/problem/plan.h"

enum { LAYOUT_LINE_BYTES = 128 };

typedef struct {
  uint64_t base[PROGRAM_NAMES_MAX], row_bytes[PROGRAM_NAMES_MAX], split_bytes[PROGRAM_NAMES_MAX];
  uint8_t element_bytes[PROGRAM_NAMES_MAX];
} Layout;

/* STATUS_TOO_LARGE when the tensors of one head do not fit 62 bits of address. */
Status layout_make(Layout *layout, const Program *program, const Plan *plan, Error *error);

/* The address of an element of a name: a row and column of the whole matrix, as it lies. */
uint64_t layout_address(const Layout *layout, int name, int64_t split, int64_t row, int64_t column);

#endif
