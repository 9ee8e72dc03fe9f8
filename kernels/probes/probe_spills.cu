/* How much of L2 spilled registers take: launches in which all CTAs read one buffer in a circle, and store a part of
 * their own after each granule of it, always to the same addresses, for a profiler. What they store leaves so much less
 * room for the buffer.
 *
 *     none               nothing
 *     global BYTES       to global memory
 *     local BYTES        to local memory, as registers are spilled: a line has one word of each thread of a warp
 *     loaded BYTES       to local memory, and loaded again before the next granule, from L1
 *
 *     spills,name
 *     spills,local 7168 mib 28 place 2        28 MiB read PASSES times, at the second place; each CTA stores 7168 bytes
 *                                             after each granule */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/cuda_calls.h"
#include "kernels/probes/granule.cuh"

#include <random>

namespace {

enum {
  THREADS = GRANULE_THREADS,
  GRANULE_BYTES = 16384,
  SHARED_BYTES = 90 * 1024 /* so that two CTAs find room on an SM */
};
enum {
  PASSES = 3,
  CTAS_PER_SM = 2,
  WORK_CYCLES = 1000,
  PLACES = 6,
  LEAST_MIB = 18,
  MOST_MIB = 31,
  POOL_MIB = 2048,
  PLACE_MIB = 2
};

enum Kind { NONE, GLOBAL, LOCAL, LOADED };

struct Reading {
  const unsigned char *buffer;
  uint32_t *stored; /* where all CTAs store, of GLOBAL */
  uint32_t *sum;    /* of what is loaded: so that it is */
  uint32_t n_granules;
};

template <Kind KIND, int WORDS> __global__ void __launch_bounds__(THREADS) read_and_spill(const Reading r) {
  volatile uint32_t spilled[WORDS];
  volatile uint32_t *stored =
      r.stored + ((size_t)blockIdx.x * THREADS + threadIdx.x / 32 * 32) * WORDS + threadIdx.x % 32;
  uint32_t sum = 0;
  for (int pass = 0; pass < PASSES; pass++)
    for (uint32_t g = 0; g < r.n_granules; g++) {
      read_granule(r.buffer + (size_t)g * GRANULE_BYTES, GRANULE_BYTES);
      __syncthreads();
#pragma unroll 1
      for (int w = 0; w < WORDS && KIND != NONE; w++) {
        if (KIND == GLOBAL)
          stored[32 * w] = g;
        else
          spilled[w] = g;
      }
      spin(WORK_CYCLES);
#pragma unroll 1
      for (int w = 0; w < WORDS && KIND == LOADED; w++) sum += spilled[w];
      __syncthreads();
    }
  if (KIND == LOADED && sum == 1) *r.sum = sum; /* never */
}

template <Kind KIND, int WORDS>
void run(const char *name, unsigned n_ctas, const unsigned char *pool, uint32_t *stored, uint32_t *sum) {
  GPU(cudaFuncSetAttribute(read_and_spill<KIND, WORDS>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
  std::mt19937 random(1);
  for (int place = 1; place <= PLACES; place++)
    for (uint32_t mib = LEAST_MIB; mib <= MOST_MIB; mib++) {
      const size_t at = random() % ((POOL_MIB - MOST_MIB) / PLACE_MIB) * PLACE_MIB;
      const Reading r = {pool + (at << 20), stored, sum, (mib << 20) / GRANULE_BYTES};
      read_and_spill<KIND, WORDS><<<n_ctas, THREADS, SHARED_BYTES>>>(r);
      gpu_done();
      if (KIND == NONE)
        printf("spills,%s mib %u place %d\n", name, mib, place);
      else
        printf("spills,%s %d mib %u place %d\n", name, WORDS * 4 * THREADS, mib, place);
      fflush(stdout); /* a profiler writes between the lines */
    }
}

} // namespace

void spills_run() {
  const unsigned n_ctas = CTAS_PER_SM * (unsigned)ampere_or_later("--spills").multiProcessorCount;
  enum { FEW = 14, MANY = 64 }; /* words of a thread: as of FlashAttention-2 with d = 128, and what shows */
  const size_t words = (size_t)n_ctas * THREADS * MANY;
  const GpuArray<unsigned char> pool((size_t)POOL_MIB << 20, "the buffers that are read");
  const GpuArray<uint32_t> stored(words + 1, "what is stored");
  pool.fill(1);
  uint32_t *to = stored.data, *sum = to + words;
  const unsigned char *from = pool.data;
  printf("spills,name\n");
  run<NONE, 1>("none", n_ctas, from, to, sum);
  run<GLOBAL, FEW>("global", n_ctas, from, to, sum);
  run<LOCAL, FEW>("local", n_ctas, from, to, sum);
  run<GLOBAL, MANY>("global", n_ctas, from, to, sum);
  run<LOCAL, MANY>("local", n_ctas, from, to, sum);
  run<LOADED, MANY>("loaded", n_ctas, from, to, sum);
}
