/* How fast a buffer of growing size is read by all SMs, again and again: where L2 ends and HBM begins.
 *
 *     together   the CTAs read the buffer once between them, each its own part      L2's bandwidth while it fits
 *     each       every CTA reads the whole buffer, all starting at its beginning    what K and V do in attention
 *     spread     every CTA reads the whole buffer, each starting at its own place   the same, out of step
 *
 * Loads are 16 bytes a thread and pass by L1 (ld.global.cg). Also here: inputs for timing, made on the GPU. */
#include "kernels/lib/operands.cuh"
#include "kernels/lib/cuda_calls.h"

#include <algorithm>
#include <vector>

namespace {

enum { THREADS = 512, UNROLL = 4 };

struct Reading {
  const uint4 *buffer;
  size_t n; /* of 16-byte pieces */
  int passes;
  int each;       /* each CTA reads all of it */
  size_t shift;   /* pieces per CTA by which the starts differ */
  uint32_t *sink; /* never written: keeps the loads alive */
};

__device__ size_t wrapped(size_t e, size_t n) { return e < n ? e : e - n; }

__global__ void __launch_bounds__(THREADS) read_buffer(const Reading r) {
  const size_t first = r.each ? threadIdx.x : (size_t)blockIdx.x * THREADS + threadIdx.x;
  const size_t step = r.each ? THREADS : (size_t)gridDim.x * THREADS;
  const size_t start = blockIdx.x * r.shift;
  uint32_t sum = 0;
  for (int pass = 0; pass < r.passes; pass++)
    for (size_t e = first; e < r.n; e += UNROLL * step) {
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (e + u * step < r.n) sum ^= load_l2_16(r.buffer + wrapped(e + u * step + start, r.n)).x;
    }
  if (sum == 0x12345678u && r.n == 0) *r.sink = sum;
}

__device__ float normal_of(unsigned long long z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull; /* splitmix64 (Steele, Lea and Flood 2014), then Box-Muller */
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  const float u = ((float)(unsigned)z + 1) * 0x1p-32f, v = (float)(unsigned)(z >> 32) * 0x1p-32f;
  return sqrtf(-2 * logf(fminf(u, 1))) * cospif(2 * v);
}

template <class T> __global__ void fill_kernel(T *to, size_t n, unsigned seed) {
  for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += (size_t)gridDim.x * blockDim.x)
    from_float(normal_of((e + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull), &to[e]);
}

} // namespace

void fill_normal(void *elements, size_t n, int element_bytes, bool bf16_bits, unsigned seed) {
  if (element_bytes == 4)
    fill_kernel<<<1024, 256>>>((float *)elements, n, seed);
  else if (bf16_bits)
    fill_kernel<<<1024, 256>>>((bf16 *)elements, n, seed);
  else
    fill_kernel<<<1024, 256>>>((fp16 *)elements, n, seed);
  GPU(cudaGetLastError());
}

void bandwidth_sweep(bool csv) {
  cudaDeviceProp gpu;
  GPU(cudaGetDeviceProperties(&gpu, 0));
  const size_t largest = 256u << 20;
  GpuBuffer buffer, sink;
  buffer.take(largest, "the bandwidth sweep");
  sink.take(4, "the bandwidth sweep");
  GPU(cudaMemset(buffer.data, 1, largest));
  if (csv)
    puts("mode,buffer_bytes,ctas,passes,median_us,gb_per_s");
  else
    puts("mode      buffer MiB   GB/s");
  GpuTimer timer;
  const int ctas = 2 * gpu.multiProcessorCount;
  const char *const modes[] = {"together", "each", "spread"};
  for (int mode = 0; mode < 3; mode++)
    for (size_t mib : {1, 2, 4, 8, 16, 24, 28, 30, 32, 36, 40, 48, 56, 60, 64, 80, 96, 128, 192, 256}) {
      const int each = mode > 0;
      const size_t bytes = mib << 20, read_once = each ? bytes * (size_t)ctas : bytes;
      const int passes = (int)std::max<size_t>(2, ((size_t)4 << 30) / read_once);
      const Reading r = {
          (const uint4 *)buffer.data, bytes / 16, passes, each, mode == 2 ? bytes / 16 / (size_t)ctas : 0,
          (uint32_t *)sink.data};
      std::vector<double> ms;
      for (int i = 0; i < 6; i++) {
        timer.begin();
        read_buffer<<<ctas, THREADS>>>(r);
        GPU(cudaGetLastError());
        const double t = timer.end_ms();
        if (i) ms.push_back(t); /* the first warms up */
      }
      std::sort(ms.begin(), ms.end());
      const double gb_per_s = (double)read_once * passes / ms[2] / 1e6;
      if (csv)
        printf("%s,%zu,%d,%d,%.1f,%.0f\n", modes[mode], bytes, ctas, passes, ms[2] * 1e3, gb_per_s);
      else
        printf("%-9s %10zu %6.0f\n", modes[mode], mib, gb_per_s);
    }
}
