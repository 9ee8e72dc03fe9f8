/* Inputs for timing, made on the GPU: numbers that look normal. */
#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/operands.cuh"

namespace {

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
