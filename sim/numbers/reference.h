/* What a declared tensor must be: its formula over whole matrices, in fp64, by slow and obvious code. */
#ifndef TILEWALK_SIM_NUMBERS_REFERENCE_H
#define TILEWALK_SIM_NUMBERS_REFERENCE_H

#include "sim/numbers/evaluate.h"

/* Whether a query may see a key: the mask, written from its description in sim/problem/shape.h and pattern.h, and
 * not from the bands and ranges that the schedules use. */
bool reference_sees(const Shape *shape, int64_t query, int64_t key);

/* The matrix of a declaration's formula, for one query head of the group; of a tensor without subscript h, made of some
 * that have it, the sum over heads. out: rows x columns of the whole matrix, as the name's sides say. Inputs are read
 * from the evaluator's HBM. Takes O(N_q N_k) time, and the memory of the formula's values; false: no memory. */
bool reference_matrix(const Evaluator *evaluator, const ProgramDeclaration *declaration, int64_t head, double *out);

#endif
