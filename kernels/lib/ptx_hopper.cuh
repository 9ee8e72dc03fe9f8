/* Hopper's instructions (compute capability 9.0, code for sm_90a) as small functions.
 *
 *     TMA         one thread copies a box of a tensor; what lies outside the tensor arrives as zeros, or is not written
 *     mbarrier    counts arrivals and bytes; a phase ends when both are in, and the next begins
 *     wgmma       four warps (a warpgroup) multiply; operands in shared memory are read while the warps go on
 *     setmaxnreg  warps that only copy give registers to warps that compute
 *
 * Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate", "Tensor Copies", "mbarrier". A
 * tile here is 64 columns of 16 bits wide: rows of 128 bytes, swizzled by TMA
 * (16-byte piece p of a row at place p ^ row % 8). */
#ifndef TILEWALK_KERNELS_PTX_HOPPER_CUH
#define TILEWALK_KERNELS_PTX_HOPPER_CUH

#include "kernels/lib/ptx_inline.cuh"

enum { BOX_COLUMNS = 64, BOX_ROW_BYTES = 128 };

/* wgmma's description of a matrix in shared memory, swizzled in rows of 128 bytes; 8 rows lie 1024 bytes from the
 * next 8. column_bytes: from 64 columns to the next 64 (where wgmma runs along the rows). Addresses count in units of
 * 16 bytes. */
TW_DEVICE uint64_t wgmma_matrix(uint32_t address, int column_bytes) {
  return (uint64_t)(address >> 4) | (uint64_t)(column_bytes >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

#ifdef __CUDACC__

#include <cuda.h>

typedef CUtensorMap TensorMap;

/* Describes [heads][rows][d] to TMA, to be copied in boxes of box_rows x 64. False: the driver refuses. */
static inline bool tensor_map_make(TensorMap *map, const void *tensor, int d, int rows, int heads, int box_rows) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess)
    return false;
  const cuuint64_t sizes[3] = {(cuuint64_t)d, (cuuint64_t)rows, (cuuint64_t)heads};
  const cuuint64_t strides[2] = {2 * (cuuint64_t)d, 2 * (cuuint64_t)d * (cuuint64_t)rows};
  const cuuint32_t box[3] = {BOX_COLUMNS, (cuuint32_t)box_rows, 1}, steps[3] = {1, 1, 1};
  return ((decltype(&cuTensorMapEncodeTiled))entry)(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, const_cast<void *>(tensor),
                                                    sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                    CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}
static inline int count_sms() {
  int device = 0, sms = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  return sms;
}

#else

struct alignas(128) TensorMap {
  unsigned char bytes[128];
};
static inline bool tensor_map_make(TensorMap *map, const void *tensor, int d, int rows, int heads, int box_rows) {
  return tensor_map_bytes(map->bytes, tensor, d, rows, heads, box_rows);
}
static inline int count_sms() { return 3; } /* so few that a CTA has more than one row block */

#endif

/* A barrier in shared memory, 8 bytes, of phases that end after `arrivals` arrivals and all bytes expected. */
TW_DEVICE void mbarrier_init(uint32_t barrier, int arrivals) {
  TW_PTX("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/* After the inits, by the same thread: TMA sees them. A __syncthreads must follow for the other threads. */
TW_DEVICE void mbarrier_init_fence() { TW_PTX("fence.mbarrier_init.release.cluster;" ::: "memory"); }
TW_DEVICE void mbarrier_arrive(uint32_t barrier) {
  TW_PTX("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
TW_DEVICE void mbarrier_arrive_expect(uint32_t barrier, int bytes) {
  TW_PTX("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/* Until the phase of this parity (0 for the first) has ended. The phase before the first counts as ended. */
TW_DEVICE void mbarrier_wait(uint32_t barrier, int parity) {
  TW_PTX("{\n.reg .pred ended;\n"
         "again: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
         "@ended bra over;\nbra again;\nover:\n}" ::"r"(barrier),
         "r"(parity)
         : "memory");
}

/* Starts a copy of a box from the tensor; its bytes count at the barrier as they arrive. */
TW_DEVICE void tma_load(uint32_t to, const TensorMap *map, uint32_t barrier, int column, int row, int head) {
  TW_PTX("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
         "[%2];" ::"r"(to),
         "l"(map), "r"(barrier), "r"(column), "r"(row), "r"(head)
         : "memory");
}
/* And of one to the tensor. */
TW_DEVICE void tma_store(const TensorMap *map, uint32_t from, int column, int row, int head) {
  TW_PTX("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from),
         "r"(column), "r"(row), "r"(head)
         : "memory");
}
/* The same for `bytes` in a row, a multiple of 16: a copy to shared memory, and an addition to fp32 in memory, which
 * comes under the next commit as tma_store does. */
TW_DEVICE void bulk_load(uint32_t to, const void *from, int bytes, uint32_t barrier) {
  TW_PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
         "r"(bytes), "r"(barrier)
         : "memory");
}
TW_DEVICE void bulk_add(float *to, uint32_t from, int bytes) {
  TW_PTX("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
         : "memory");
}
TW_DEVICE void tma_store_commit() { TW_PTX("cp.async.bulk.commit_group;" ::: "memory"); }
/* Until shared memory has been read by this thread's committed stores and may be written again. */
TW_DEVICE void tma_store_wait() { TW_PTX("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
/* This thread's stores to shared memory come before what TMA and wgmma do after the next barrier. */
TW_DEVICE void proxy_fence() { TW_PTX("fence.proxy.async.shared::cta;" ::: "memory"); }

/* Barriers 1 to 15, of `threads` threads of which some need not wait. */
TW_DEVICE void barrier_sync(int id, int threads) { TW_PTX("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
TW_DEVICE void barrier_arrive(int id, int threads) { TW_PTX("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

/* How many registers each thread of this warp has from here on. Giving comes before taking. */
template <int N> TW_DEVICE void registers_give() { TW_PTX("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> TW_DEVICE void registers_take() { TW_PTX("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }

/* Before the first wgmma after registers that it names were read or written. */
TW_DEVICE void wgmma_fence() { TW_PTX("wgmma.fence.sync.aligned;" ::: "memory"); }
TW_DEVICE void wgmma_commit() { TW_PTX("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/* Waits until at most N of this warpgroup's groups are still under way. Name the accumulators that are then complete
 * (wgmma_done), lest the compiler reads them before the wait. */
template <int N> TW_DEVICE void wgmma_wait() { TW_PTX("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
template <int N> TW_DEVICE void wgmma_done(float (&c)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) TW_PTX("" : "+f"(c[i])::"memory");
}

/* C (+)= A B, C 64 x N in fp32: warp w of the warpgroup has rows 16 w to 16 w + 15, in each 8 columns as mma_m16n8k16.
 * A is 64 x 16. */
#define TW_REG4(c, i)  "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define TW_REG16(c, i) TW_REG4(c, i), TW_REG4(c, i + 4), TW_REG4(c, i + 8), TW_REG4(c, i + 12)
#define TW_REG32(c)    TW_REG16(c, 0), TW_REG16(c, 16)
#define TW_REG64(c)    TW_REG32(c), TW_REG16(c, 32), TW_REG16(c, 48)
#define TW_NAMES32                                                                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "     \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define TW_NAMES64                                                                                                     \
  TW_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, "  \
             "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/* A and B^T (N x 16) in shared memory, both with the 16 along their rows. ADD: to what C holds. */
template <class T, bool ADD> TW_DEVICE void wgmma_n128(float (&c)[64], uint64_t a, uint64_t b);
#define TW_WGMMA_SS(type, name)                                                                                        \
  template <> __device__ __forceinline__ void wgmma_n128<type, true>(float(&c)[64], uint64_t a, uint64_t b) {          \
    TW_PTX("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32." name             \
           " {" TW_NAMES64 "}, %64, %65, add, 1, 1, 0, 0;\n}"                                                          \
           : TW_REG64(c)                                                                                               \
           : "l"(a), "l"(b));                                                                                          \
  }                                                                                                                    \
  template <> __device__ __forceinline__ void wgmma_n128<type, false>(float(&c)[64], uint64_t a, uint64_t b) {         \
    TW_PTX("{\n.reg .pred add;\nsetp.ne.b32 add, 0, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32." name             \
           " {" TW_NAMES64 "}, %64, %65, add, 1, 1, 0, 0;\n}"                                                          \
           : TW_REG64(c)                                                                                               \
           : "l"(a), "l"(b));                                                                                          \
  }
TW_WGMMA_SS(fp16, "f16.f16")
TW_WGMMA_SS(bf16, "bf16.bf16")

/* The same with N = 64; and with A^T (16 x 64) and B (16 x N), both with the 16 along their columns. */
template <class T, bool ADD> TW_DEVICE void wgmma_n64(float (&c)[32], uint64_t a, uint64_t b);
template <class T, bool ADD> TW_DEVICE void wgmma_turned(float (&c)[32], uint64_t a, uint64_t b);
#define TW_WGMMA_SS64(function, type, name, add, turned)                                                               \
  template <> __device__ __forceinline__ void function<type, add>(float(&c)[32], uint64_t a, uint64_t b) {             \
    TW_PTX("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32." name            \
           " {" TW_NAMES32 "}, %32, %33, add, 1, 1, %35, %35;\n}"                                                      \
           : TW_REG32(c)                                                                                               \
           : "l"(a), "l"(b), "n"(add), "n"(turned));                                                                   \
  }
#define TW_WGMMA_SS64_ALL(type, name)                                                                                  \
  TW_WGMMA_SS64(wgmma_n64, type, name, false, 0)                                                                       \
  TW_WGMMA_SS64(wgmma_n64, type, name, true, 0)                                                                        \
  TW_WGMMA_SS64(wgmma_turned, type, name, false, 1)                                                                    \
  TW_WGMMA_SS64(wgmma_turned, type, name, true, 1)
TW_WGMMA_SS64_ALL(fp16, "f16.f16")
TW_WGMMA_SS64_ALL(bf16, "bf16.bf16")

/* A in registers, laid out as for mma_m16n8k16; B (16 x N) in shared memory with N along its rows. Adds to C. */
template <class T> TW_DEVICE void wgmma_rows(float (&c)[64], const uint32_t (&a)[4], uint64_t b);
template <class T> TW_DEVICE void wgmma_rows(float (&c)[32], const uint32_t (&a)[4], uint64_t b);
#define TW_WGMMA_RS(type, name)                                                                                        \
  template <> __device__ __forceinline__ void wgmma_rows<type>(float(&c)[64], const uint32_t(&a)[4], uint64_t b) {     \
    TW_PTX("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32." name             \
           " {" TW_NAMES64 "}, {%64, %65, %66, %67}, %68, add, 1, 1, 1;\n}"                                            \
           : TW_REG64(c)                                                                                               \
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                                      \
  }                                                                                                                    \
  template <> __device__ __forceinline__ void wgmma_rows<type>(float(&c)[32], const uint32_t(&a)[4], uint64_t b) {     \
    TW_PTX("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32." name              \
           " {" TW_NAMES32 "}, {%32, %33, %34, %35}, %36, add, 1, 1, 1;\n}"                                            \
           : TW_REG32(c)                                                                                               \
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                                      \
  }
TW_WGMMA_RS(fp16, "f16.f16")
TW_WGMMA_RS(bf16, "bf16.bf16")

#endif
