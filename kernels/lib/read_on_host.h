/* What a C++ compiler needs to read a rung without CUDA: its host code runs, its kernels are only read, for their
 * names. What a kernel calls is declared here and nowhere defined; its instructions (TW_PTX) are left out. The kernels
 * themselves run as PTX (kernels/lib/ladder_launch.h). */
#ifndef TILEWALK_KERNELS_LIB_READ_ON_HOST_H
#define TILEWALK_KERNELS_LIB_READ_ON_HOST_H

#include <math.h>
#include <string.h>

#include "kernels/lib/ladder_launch.h"

/* Of kernels, which nobody compiles here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wuninitialized"

#define __global__ static
#define __device__
#define __host__
#define __shared__
#define __align__(n)
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define TW_PTX(...)
#define TW_PTX_PURE(...)

struct uint4 {
  uint32_t x, y, z, w;
};

extern const dim3 threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();
void __syncwarp();
template <class T> T __shfl_sync(unsigned mask, T value, int lane);
template <class T> T __shfl_xor_sync(unsigned mask, T value, int lanes);
int __any_sync(unsigned mask, int predicate);
unsigned long long atomicAdd(unsigned long long *sum, unsigned long long value);
unsigned atomicInc(unsigned *count, unsigned last);
float __uint_as_float(uint32_t bits);
uint32_t __float_as_uint(float x);
size_t __cvta_generic_to_shared(const void *p);
long long clock64();

/* Starts a kernel in the PTX machine; false: it was refused, or failed (launches_complaint). */
template <auto KERNEL> struct Named {};
template <auto KERNEL, class Argument>
static bool launch(dim3 grid, dim3 block, size_t shared_bytes, const Argument &argument) {
  return launch_named(typeid(Named<KERNEL>).name(), grid, block, shared_bytes, &argument, sizeof argument);
}
template <auto KERNEL, class Argument>
static bool launch_after(dim3 grid, dim3 block, size_t shared_bytes, const Argument &argument) {
  return launch<KERNEL>(grid, block, shared_bytes, argument);
}

#endif
