/* When each CTA of a launch `spread CTAS BYTES warm|cold W` of kernels/probes/probe_coalescer.cu asks for its data: so
 * many cycles after the beginning of each step, the same in every step.
 *
 *     offset = W x r / 2^32, rounded down; r the upper half of splitmix64's number for seed 2 SM + SLOT
 *
 * SLOT is 0 or 1, in the order in which the CTAs came to the SM. On a GPU and on the CPU alike. */
#ifndef TILEWALK_KERNELS_PROBES_SPREAD_H
#define TILEWALK_KERNELS_PROBES_SPREAD_H

#include "sim/base/splitmix.h"

static inline uint32_t spread_offset(uint32_t sm, uint32_t slot, uint32_t window_cycles) {
  return (uint32_t)((mix(2 * (uint64_t)sm + slot) >> 32) * window_cycles >> 32);
}

#endif
