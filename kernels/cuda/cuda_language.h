/* The words of CUDA C++ for clang without the CUDA toolkit: keywords, indices, dim3, vector types, barriers, launches.
 *
 * clang compiles a .cu for the device on its own (`-x cuda --cuda-device-only -nocudainc -nocudalib -nogpuinc`); what
 * it lacks are NVIDIA's headers. These take their place. tw_cuda.h includes all of them.
 *
 * Modelled: what a kernel can say. Vector types are copied as vectors, as nvcc does: a float4 is one load.
 * Not modelled: textures, surfaces, dynamic parallelism. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef unsigned int uint; /* as <sys/types.h> has them, which nvcc includes by itself */
typedef unsigned short ushort;
typedef unsigned long ulong;

#define __device__      __attribute__((device))
#define __host__        __attribute__((host))
#define __global__      __attribute__((global))
#define __shared__      __attribute__((shared))
#define __constant__    __attribute__((constant))
#define __managed__     __attribute__((device))
#define __forceinline__ __inline__ __attribute__((always_inline))
#if __clang_major__ <                                                                                                  \
    16 /* later ones have the keyword; the standard library says it inside an attribute, so: nothing */
#define __noinline__
#endif
#define __align__(n)           __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __builtin_align__(n)   __align__(n)
#define __grid_constant__
#define __maxnreg__(n)
#define __cluster_dims__(...)
#define CUDART_VERSION       12000
#define CUDA_VERSION         12000
#define __CUDACC__           1
#define __NVCC__             1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0

/* nodebug: what these become belongs to the line that calls them. */
#define TW_DEVICE        static __inline__ __attribute__((device, always_inline, unused, nodebug))
#define TW_BOTH          static __inline__ __attribute__((host, device, always_inline, unused, nodebug))
#define TW_MEMBER        __inline__ __attribute__((host, device, always_inline, nodebug))
#define TW_DEVICE_MEMBER __inline__ __attribute__((device, always_inline, nodebug))

/* Vector types: N members that are copied as one vector of the same layout. An N of 3 has no vector of its size. The
 * integers of 16 bytes are what kernels keep halves and bytes in: clang 14 to 16 keep a local array of those in
 * registers only when they are copied as two words of 8 bytes, which their back end joins into one access again. */
#define TW_COPY_VECTOR(FROM) *(Whole *)this = *(FROM Whole *)&o
#define TW_COPY_WORD(FROM)   *(tw_word8 *)this = *(FROM tw_word8 *)&o
#if __clang_major__ < 17
#define TW_COPY_WORDS(FROM)                                                                                            \
  const tw_word8 low = ((FROM tw_word8 *)&o)[0], high = ((FROM tw_word8 *)&o)[1];                                      \
  ((tw_word8 *)this)[0] = low, ((tw_word8 *)this)[1] = high
#else
#define TW_COPY_WORDS(FROM) TW_COPY_VECTOR(FROM)
#endif
typedef unsigned long long __attribute__((may_alias)) tw_word8;
#define TW_VECTOR(NAME, TYPE, N, ALIGN, MODE, MEMBERS, PARAMETERS, INITS)                                              \
  struct __attribute__((aligned(ALIGN))) NAME {                                                                        \
    TYPE MEMBERS;                                                                                                      \
    typedef TYPE Whole __attribute__((ext_vector_type(N), aligned(ALIGN), may_alias));                                 \
    NAME() = default;                                                                                                  \
    TW_MEMBER constexpr NAME PARAMETERS : INITS {}                                                                     \
    TW_MEMBER NAME(const NAME &o) { TW_COPY_##MODE(const); }                                                           \
    TW_MEMBER NAME(const volatile NAME &o) { TW_COPY_##MODE(const volatile); }                                         \
    TW_MEMBER NAME &operator=(const NAME &o) {                                                                         \
      TW_COPY_##MODE(const);                                                                                           \
      return *this;                                                                                                    \
    }                                                                                                                  \
  };
#define TW_COMMA ,
#define TW_VECTORS(NAME, T, ALIGN4, MODE2, MODE4)                                                                      \
  struct NAME##1 {                                                                                                     \
    T x;                                                                                                               \
  };                                                                                                                   \
  TW_BOTH constexpr NAME##1 make_##NAME##1(T x) { return NAME##1 {x}; }                                                \
  TW_VECTOR(NAME##2, T, 2, 2 * sizeof(T), MODE2, x TW_COMMA y, (T x_, T y_ = {}), x(x_) TW_COMMA y(y_))                \
  struct NAME##3 {                                                                                                     \
    T x, y, z;                                                                                                         \
  };                                                                                                                   \
  TW_BOTH constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3 {x, y, z}; }                                \
  TW_VECTOR(NAME##4, T, 4, ALIGN4, MODE4, x TW_COMMA y TW_COMMA z TW_COMMA w, (T x_, T y_ = {}, T z_ = {}, T w_ = {}), \
            x(x_) TW_COMMA y(y_) TW_COMMA z(z_) TW_COMMA w(w_))                                                        \
  TW_BOTH constexpr NAME##2 make_##NAME##2(T x, T y) { return NAME##2(x, y); }                                         \
  TW_BOTH constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4(x, y, z, w); }
TW_VECTORS(char, signed char, 4, VECTOR, VECTOR)
TW_VECTORS(uchar, unsigned char, 4, VECTOR, VECTOR)
TW_VECTORS(short, short, 8, VECTOR, VECTOR)
TW_VECTORS(ushort, unsigned short, 8, VECTOR, VECTOR)
TW_VECTORS(int, int, 16, WORD, WORDS)
TW_VECTORS(uint, unsigned, 16, WORD, WORDS)
TW_VECTORS(long, long, 16, VECTOR, VECTOR)
TW_VECTORS(ulong, unsigned long, 16, VECTOR, VECTOR)
TW_VECTORS(longlong, long long, 16, VECTOR, VECTOR)
TW_VECTORS(ulonglong, unsigned long long, 16, VECTOR, VECTOR)
TW_VECTORS(float, float, 16, VECTOR, VECTOR)
TW_VECTORS(double, double, 16, VECTOR, VECTOR)

struct dim3 {
  unsigned x, y, z;
  TW_MEMBER constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  TW_MEMBER constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  template <typename Index, int = Index::is_index> TW_MEMBER dim3(Index i) : dim3(uint3(i)) {}
  TW_MEMBER constexpr operator uint3() const { return uint3{x, y, z}; }
};

#define TW_INDEX(NAME, REGISTER)                                                                                       \
  struct tw_##NAME {                                                                                                   \
    __declspec(property(get = get_x)) unsigned x;                                                                      \
    __declspec(property(get = get_y)) unsigned y;                                                                      \
    __declspec(property(get = get_z)) unsigned z;                                                                      \
    TW_DEVICE_MEMBER static unsigned get_x() { return __nvvm_read_ptx_sreg_##REGISTER##_x(); }                         \
    TW_DEVICE_MEMBER static unsigned get_y() { return __nvvm_read_ptx_sreg_##REGISTER##_y(); }                         \
    TW_DEVICE_MEMBER static unsigned get_z() { return __nvvm_read_ptx_sreg_##REGISTER##_z(); }                         \
    enum { is_index };                                                                                                 \
    TW_DEVICE_MEMBER operator uint3() const { return uint3{get_x(), get_y(), get_z()}; }                               \
  };                                                                                                                   \
  extern const __attribute__((device, weak)) tw_##NAME NAME;
TW_INDEX(threadIdx, tid)
TW_INDEX(blockIdx, ctaid)
TW_INDEX(blockDim, ntid)
TW_INDEX(gridDim, nctaid)
constexpr __device__ int warpSize = 32;

/* clang's own barrier lets loads of static shared variables move across it (seen with clang 14 at -O3: it takes an
 * intrinsic for one that touches no internal variable). Inline assembler that may touch all memory does not. */
TW_DEVICE void tw_barrier() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() tw_barrier()
#define TW_BARRIER_OF(NAME, BUILTIN)                                                                                   \
  TW_DEVICE int NAME(int p) {                                                                                          \
    asm volatile("" ::: "memory");                                                                                     \
    const int d = BUILTIN(p);                                                                                          \
    asm volatile("" ::: "memory");                                                                                     \
    return d;                                                                                                          \
  }
TW_BARRIER_OF(__syncthreads_and, __nvvm_bar0_and)
TW_BARRIER_OF(__syncthreads_or, __nvvm_bar0_or)
TW_BARRIER_OF(__syncthreads_count, __nvvm_bar0_popc)
TW_DEVICE void __syncwarp(unsigned mask = ~0u) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }
TW_DEVICE void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
TW_DEVICE void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
TW_DEVICE void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }
TW_DEVICE void __trap() { asm volatile("trap;"); }
TW_DEVICE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
#define TW_REGISTER(NAME, T, VOLATILE, OP, TO)                                                                         \
  TW_DEVICE T NAME() {                                                                                                 \
    T d;                                                                                                               \
    asm VOLATILE(OP : TO(d));                                                                                          \
    return d;                                                                                                          \
  }
TW_REGISTER(clock64, long long, volatile, "mov.u64 %0, %%clock64;", "=l")
TW_REGISTER(__smid, unsigned, volatile, "mov.u32 %0, %%smid;", "=r")
TW_DEVICE int clock() { return (int)clock64(); }
TW_DEVICE size_t __cvta_generic_to_shared(const void *p) {
  return (size_t)(const __attribute__((address_space(3))) void *)p;
}
TW_DEVICE size_t __cvta_generic_to_global(const void *p) {
  return (size_t)(const __attribute__((address_space(1))) void *)p;
}
TW_DEVICE void *__cvta_shared_to_generic(size_t p) { return (void *)(__attribute__((address_space(3))) void *)p; }
TW_DEVICE bool __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
TW_DEVICE bool __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }

/* printf is a call of vprintf, which clang makes; a failed assertion is a call that ends the launch. */
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ int vprintf(const char *format, const char *values);
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function,
                                        size_t char_size);
/* Kept when <assert.h> is included: the folder of this file has an empty one. */
#define assert(condition)                                                                                              \
  ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__, sizeof(char)))
extern "C" __host__ void __assertfail(const char *message, const char *file, unsigned line, const char *function,
                                      size_t char_size);
extern "C" __device__ void *malloc(size_t n); /* clang's own <new> names them */
extern "C" __device__ void free(void *p);
/* Device memory functions, byte by byte or word by word as clang decides. */
TW_DEVICE void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
TW_DEVICE void *memset(void *to, int c, size_t n) { return __builtin_memset(to, c, n); }
