/* Is an output right? Inputs from a seed, attention in double precision, and a verdict that a NaN cannot pass.
 *
 * The reference computes one output row at a time from the definition, from the inputs as stored, so that any
 * rows of a large problem can be checked. The harness and the CPU tests share it. */
#ifndef TILEWALK_KERNELS_LIB_VERIFY_H
#define TILEWALK_KERNELS_LIB_VERIFY_H

#include <vector>

#include "kernels/lib/rung.h"

struct Inputs {
  std::vector<unsigned char> Q, K, V; /* dense [batch][head][row][d], in the data type */
  std::vector<float> q, k, v;         /* the same numbers: fp32 holds every fp16 and bf16 exactly */
};

/* Normal inputs, or (outliers) those of FlashAttention-3's accuracy table (sim/base/random.h). shape is complete. */
void inputs_fill(const Shape &shape, uint64_t seed, bool outliers, Inputs *inputs);

/* Numbers of a stream, stored, and the same again as they are then. */
enum { STREAM_Q = 1, STREAM_K, STREAM_V, STREAM_dO };
void fill(std::vector<unsigned char> *to, std::vector<float> *values, size_t bytes, Dtype dtype, uint64_t seed,
          uint64_t stream, bool outliers);

size_t q_bytes(const Shape &shape); /* of Q, and of O */
size_t k_bytes(const Shape &shape); /* of K, and of V */

double element_value(Dtype dtype, const void *elements, size_t index);
/* Stores a number; returns what it then is. */
double element_store(Dtype dtype, void *elements, size_t index, double number);

int64_t kv_head_of(const Shape &shape, int64_t head); /* of a query head of batch x heads */
int64_t keys_seen(const Shape &shape, int64_t i);     /* by query i */
double dot(const float *x, const float *y, int64_t d);

/* Attention of one query to n keys: d numbers of O, and each key's score. Returns their log-sum-exp. */
double attend(const float *q, const float *K, const float *V, int64_t n, int64_t d, std::vector<double> *O,
              std::vector<double> *scores);

struct Verdict {
  bool right;
  double rmse;       /* over all elements checked, as in FlashAttention-3's table 3 */
  double worst_row;  /* largest relative error of a row, ||O - ref|| / ||ref||; infinity: a wrong or missing number */
  int64_t head, row; /* where */
  int64_t rows_checked;
};

/* Largest relative error of a row that is accepted from a rung. */
double tolerance(const Rung &rung, Dtype dtype);

/* Takes a row of a result into the verdict; besides: what is allowed in addition to `limit` of its size. Returns the
 * square of its error. */
double judge_row(Dtype dtype, const double *wanted, const void *got, size_t first, int64_t d, double limit,
                 double besides, int64_t head, int64_t row, Verdict *verdict);

/* Compares every row_step-th row of every head. */
Verdict output_check(const Shape &shape, const Inputs &inputs, const void *O, int64_t row_step, double tolerance);

#endif
