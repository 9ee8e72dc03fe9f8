/* Is an output right? Inputs from a seed, attention in double precision, and a verdict that a NaN cannot pass.
 *
 * The reference computes one output row at a time from the definition, from the inputs as stored, so that any
 * rows of a large problem can be checked. The harness and the CPU tests share it. */
#ifndef TILEWALK_KERNELS_LIB_VERIFY_H
#define TILEWALK_KERNELS_LIB_VERIFY_H

#include <stdint.h>
#include <vector>

#include "kernels/lib/rung.h"

struct Inputs {
  std::vector<unsigned char> Q, K, V; /* dense [batch][head][row][d], in the data type */
  std::vector<float> q, k, v;         /* the same numbers: fp32 holds every fp16 and bf16 exactly */
};

/* Normal inputs, or (outliers) those of FlashAttention-3's accuracy table (sim/base/random.h). shape is complete. */
void inputs_fill(const Shape &shape, uint64_t seed, bool outliers, Inputs *inputs);

/* Sets q, k, v from Q, K, V; inputs_fill does. */
void inputs_decode(Dtype dtype, Inputs *inputs);

size_t q_bytes(const Shape &shape); /* of Q, and of O */
size_t k_bytes(const Shape &shape); /* of K, and of V */

double element_value(Dtype dtype, const void *elements, size_t index);

/* Output row i of query head `head` (of batch x heads), d numbers. */
void reference_row(const Shape &shape, const Inputs &inputs, int64_t head, int64_t i, std::vector<double> *row);

struct Verdict {
  bool right;
  double rmse;       /* over all elements checked, as in FlashAttention-3's table 3 */
  double worst_row;  /* largest relative error of a row, ||O - ref|| / ||ref||; infinity: a wrong or missing number */
  int64_t head, row; /* where */
  int64_t rows_checked;
};

/* Largest relative error of a row that is accepted from a rung. */
double tolerance(const Rung &rung, Dtype dtype);

/* Compares every row_step-th row of every head. */
Verdict output_check(const Shape &shape, const Inputs &inputs, const void *O, int64_t row_step, double tolerance);

#endif
