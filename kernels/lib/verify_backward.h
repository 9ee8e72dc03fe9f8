/* Are gradients right? What a backward pass is given besides Q, K, V, its result in double precision, and a verdict.
 *
 * The reference follows the definition from what the kernel is given, O and L as stored, in two sweeps of plain loops:
 *
 *     P_ij = e^(s Q_i K_j - L_i)    dS_ij = P_ij (dO_i V_j - dO_i O_i)    s = 1 / sqrt(d)
 *     dQ_i = s sum_j dS_ij K_j      dK_j = s sum_i dS_ij Q_i              dV_j = sum_i P_ij dO_i
 *
 * sums over the pairs that the mask allows; dK_j and dV_j also over the query heads of the KV head. */
#ifndef TILEWALK_KERNELS_LIB_VERIFY_BACKWARD_H
#define TILEWALK_KERNELS_LIB_VERIFY_BACKWARD_H

#include "kernels/lib/verify.h"

/* One gradient: rows of d numbers; how large the terms of each row's sum are; and the squared length of what P or dS,
 * which are 16-bit numbers, is multiplied with. */
struct Gradient {
  std::vector<double> values, terms, squares;
};

struct Training {
  std::vector<unsigned char> dO, O; /* as Q, in the data type */
  std::vector<float> L;             /* natural log of a row's sum of exponentials; +infinity: it sees no key */
  Gradient dQ, dK, dV;
};

/* dO from the seed, normal or with outliers; O and L from attention in double precision. shape is complete. Runs on all
 * processors. */
void training_fill(const Shape &shape, uint64_t seed, bool outliers, const Inputs &inputs, Training *training);

/* Compares all rows of the three. A row's error is relative to its size plus 1/1024 of its terms' (dS sums to zero over
 * a row, so dQ can be the small difference of large terms). In fp16, which has no digits below 2^-24, as much is
 * allowed for each element of P or dS and of the result: few queries with many keys have probabilities that small. */
Verdict gradients_check(const Shape &shape, const Training &training, const void *dQ, const void *dK, const void *dV,
                        double tolerance);

#endif
