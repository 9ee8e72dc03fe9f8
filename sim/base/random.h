/* Numbers that look random and are the same everywhere: a function of (seed, stream, index).
 *
 *     seed    which experiment
 *     stream  which tensor (or test case) of it
 *     index   which element
 *
 * Nothing is remembered between calls, so element 10^9 costs what element 0 costs, a tile can be
 * made without its neighbours, and a GPU thread can make its own element. The generator is
 * Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): ten rounds
 * of two 32-bit products over a 128-bit counter, keyed by the seed.
 *
 * Modelled: inputs for attention, normal and with outliers. Not modelled: cryptographic strength.
 */
#ifndef TILEWALK_SIM_BASE_RANDOM_H
#define TILEWALK_SIM_BASE_RANDOM_H

#include <stdint.h>

typedef struct {
  uint32_t word[4];
} RandomBlock;

/* Philox4x32-10 of counter and key, word 0 least significant, as its authors number them. */
RandomBlock random_philox(RandomBlock counter, uint32_t key0, uint32_t key1);

/* 64 uniform bits. */
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);

/* Uniform on the open interval (0, 1), a multiple of 2^-52 plus 2^-53: never 0, never 1. */
double random_uniform(uint64_t seed, uint64_t stream, uint64_t index);

/* A whole number from low to high, both included; low <= high. The bias is below (high - low) /
 * 2^64. */
int64_t random_between(uint64_t seed, uint64_t stream, uint64_t index, int64_t low, int64_t high);

/* Normal with mean 0 and standard deviation 1 (Box-Muller). */
double random_normal(uint64_t seed, uint64_t stream, uint64_t index);

/* The inputs of the accuracy table in the FlashAttention-3 paper (arXiv 2407.08608, section 4.3): a
 * normal, to which with probability 0.001 a second one ten times as wide is added. */
double random_outlier(uint64_t seed, uint64_t stream, uint64_t index);

#endif
