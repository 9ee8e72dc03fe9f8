/* How the probes read: the threads of a CTA copy bytes into shared memory past L1, 16 each at a time, and wait;
 * the caller has a barrier. */
#ifndef TILEWALK_KERNELS_PROBES_GRANULE_CUH
#define TILEWALK_KERNELS_PROBES_GRANULE_CUH

#include "kernels/lib/ptx_inline.cuh"

enum { GRANULE_THREADS = 128, GRANULE_ROUND_BYTES = 16 * GRANULE_THREADS };

TW_DEVICE void read_granule(const unsigned char *from, int bytes) {
#if __CUDA_ARCH__ >= 800
  const uint32_t to = shared_address(shared_memory()) + 16 * threadIdx.x;
  from += 16 * threadIdx.x;
  for (int at = 0; at < bytes; at += GRANULE_ROUND_BYTES) cp_async_16(to + (uint32_t)at, from + at, 16);
  cp_async_commit();
  cp_async_wait<0>();
#else
  (void)from, (void)bytes;
#endif
}

TW_DEVICE void spin(uint32_t cycles) {
  const long long until = clock64() + cycles;
  while (clock64() < until) {
  }
}

#endif
