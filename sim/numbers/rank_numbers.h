/* The numbers of a program on several ranks: each has its own tokens of every matrix in HBM, runs the program's kernels
 * on them, and sends and receives as its lines say (sim/algorithms/rank_program.h). */
#ifndef TILEWALK_SIM_NUMBERS_RANK_NUMBERS_H
#define TILEWALK_SIM_NUMBERS_RANK_NUMBERS_H

#include "sim/numbers/attention.h"

/* Takes the inputs of *whole, a state of all tokens that has not been walked, shares them out among n ranks, walks all
 * ranks, and puts what they stored into the matrices of *whole. Needs N_q = N_k, a multiple of n, of zigzag of 2 n, and
 * no mask or a causal one. */
Status rank_numbers(Attention *whole, int64_t n, Error *error);

#endif
