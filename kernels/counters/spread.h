/* When each CTA of a launch `spread CTAS BYTES warm|cold W` of kernels/coalescer.cu asks for its data: so many cycles after the
 * beginning of each step, the same in every step.
 *
 *     offset = W x r / 2^32, rounded down; r the upper half of splitmix64's number for seed 2 SM + SLOT
 *
 * SLOT is 0 or 1, in the order in which the CTAs came to the SM. On a GPU and on the CPU alike. */
#ifndef TILEWALK_KERNELS_COUNTERS_SPREAD_H
#define TILEWALK_KERNELS_COUNTERS_SPREAD_H

#include <stdint.h>

/* Vigna's splitmix64, 2015: the first number of a seed. */
static inline uint32_t spread_offset(uint32_t sm, uint32_t slot, uint32_t window_cycles) {
  uint64_t x = 2 * (uint64_t)sm + slot + 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)(((x ^ x >> 31) >> 32) * window_cycles >> 32);
}

#endif
