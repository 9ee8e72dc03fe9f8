/* Every machine instruction that the kernels name, as a small function (PTX ISA, "Instruction Set"). A C++ compiler
 * reads them without their instructions (kernels/lib/read_on_host.h).
 *
 * 16-bit types are bit patterns (fp16, bf16). Needs: mma, ldmatrix of 16-bit tiles, cp.async and packed conversions
 * sm_80; the rest sm_75. Hopper's are in ptx_hopper.cuh. */
#ifndef TILEWALK_KERNELS_PTX_CUH
#define TILEWALK_KERNELS_PTX_CUH

#include <stdint.h>

struct fp16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

#ifdef __CUDACC__
#define TW_PTX(...)      asm volatile(__VA_ARGS__)
#define TW_PTX_PURE(...) asm(__VA_ARGS__) /* may be moved, or left out */
#else
#include "kernels/lib/read_on_host.h"
#endif
#define TW_DEVICE static __device__ __forceinline__

/* Numbers. */
TW_DEVICE float to_float(float x) { return x; }
TW_DEVICE float to_float(fp16 x) {
  float y;
  TW_PTX_PURE("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
TW_DEVICE float to_float(bf16 x) { return __uint_as_float((uint32_t)x.bits << 16); }

TW_DEVICE void from_float(float x, float *y) { *y = x; }
TW_DEVICE void from_float(float x, fp16 *y) { TW_PTX_PURE("cvt.rn.f16.f32 %0, %1;" : "=h"(y->bits) : "f"(x)); }
TW_DEVICE void from_float(float x, bf16 *y) { /* in integers: cvt.rn.bf16.f32 needs sm_80 */
  const uint32_t u = __float_as_uint(x);
  y->bits = (uint16_t)(x != x ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* Two floats as a pair of 16-bit numbers, `low` in the low half. */
template <class T> TW_DEVICE uint32_t pack2(float low, float high);
template <> __device__ __forceinline__ uint32_t pack2<fp16>(float low, float high) {
  uint32_t y;
  TW_PTX_PURE("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
template <> __device__ __forceinline__ uint32_t pack2<bf16>(float low, float high) {
  uint32_t y;
  TW_PTX_PURE("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}

TW_DEVICE float exp2_approx(float x) { /* 2^x to 2 ulps; 2^-inf = 0 */
  float y;
  TW_PTX_PURE("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* Memory. An address in shared memory is a 32-bit number. */
TW_DEVICE unsigned char *shared_memory() {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  return shared_bytes;
}
TW_DEVICE uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

/* On which SM this CTA runs, that SM's clock, and one that all SMs share. For programs that measure. */
TW_DEVICE unsigned this_sm() {
  unsigned smid;
  TW_PTX("mov.u32 %0, %%smid;" : "=r"(smid));
  return smid;
}
TW_DEVICE unsigned clock_now() {
  unsigned cycles;
  TW_PTX("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
  return cycles;
}
TW_DEVICE unsigned long long global_ns() {
  unsigned long long ns;
  TW_PTX("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
/* Catches that clock at an edge, and the SM's own clock with it. */
TW_DEVICE void note_edge(unsigned long long *ns, unsigned long long *cycles) {
  const unsigned long long before = global_ns();
  do {
    *ns = global_ns();
    *cycles = (unsigned long long)clock64();
  } while (*ns == before);
}

/* Between two kernels of one stream, the second started by launch_after: the first lets the second's CTAs take their
 * places, and these wait until the first is done and what it wrote can be read. Before sm_90 kernels follow one
 * another. */
TW_DEVICE void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  TW_PTX("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
TW_DEVICE void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  TW_PTX("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Reads that keep out of L1 (.cg: cache global, which means L2). */
TW_DEVICE float load_l2(const float *p) {
  float y;
  TW_PTX("ld.global.cg.f32 %0, [%1];" : "=f"(y) : "l"(p));
  return y;
}
template <class T> TW_DEVICE T load_l2(const T *p) {
  T y;
  TW_PTX("ld.global.cg.u16 %0, [%1];" : "=h"(y.bits) : "l"(p));
  return y;
}
TW_DEVICE uint4 load_l2_16(const void *p) {
  uint4 y;
  TW_PTX("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(y.x), "=r"(y.y), "=r"(y.z), "=r"(y.w) : "l"(p));
  return y;
}
TW_DEVICE void store_shared_16(uint32_t to, uint4 x) {
  TW_PTX("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
}
TW_DEVICE void store_shared_4(uint32_t to, uint32_t x) {
  TW_PTX("st.shared.u32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
}
TW_DEVICE uint32_t load_shared_4(uint32_t from) {
  uint32_t y;
  TW_PTX("ld.shared.u32 %0, [%1];" : "=r"(y) : "r"(from) : "memory");
  return y;
}
TW_DEVICE void load_shared_8(uint32_t from, float (&x)[2]) {
  TW_PTX("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x[0]), "=f"(x[1]) : "r"(from) : "memory");
}
TW_DEVICE uint4 load_shared_16(uint32_t from) {
  uint4 y;
  TW_PTX("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
         : "=r"(y.x), "=r"(y.y), "=r"(y.z), "=r"(y.w)
         : "r"(from)
         : "memory");
  return y;
}
/* A warp's 128 sums in memory, four for each lane: adds to them, and reads them. A warp's 32 additions lie together.
 * (One addition of four numbers a lane, which sm_90 has, is slower here by 2 to 3 % of the whole backward pass.) */
TW_DEVICE void add_in_memory(float *sums, const float (&x)[4]) {
#pragma unroll
  for (int e = 0; e < 4; e++)
    TW_PTX("red.global.add.f32 [%0], %1;" ::"l"(sums + e * 32 + threadIdx.x % 32), "f"(x[e]) : "memory");
}
TW_DEVICE void read_sums(const float *sums, float (&x)[4]) {
#pragma unroll
  for (int e = 0; e < 4; e++) x[e] = load_l2(sums + e * 32 + threadIdx.x % 32);
}
TW_DEVICE void store_global_16(void *to, uint4 x) { /* named, because the compiler makes four stores of an assignment */
  TW_PTX("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Copies 16 bytes from global to shared memory, past L1, in the background; reads only the first `bytes` (0 or
 * 16) and fills the rest with zeros. */
TW_DEVICE void cp_async_16(uint32_t to, const void *from, int bytes) {
  TW_PTX("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
TW_DEVICE void cp_async_commit() { TW_PTX("cp.async.commit_group;" ::: "memory"); }
/* Waits until at most N of this thread's groups are still under way. */
template <int N> TW_DEVICE void cp_async_wait() { TW_PTX("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
/* The same for each lane of a warp; then every lane sees what all of them copied, and none reads earlier tiles. */
template <int N> TW_DEVICE void cp_async_wait_warp() {
  cp_async_wait<N>();
  __syncwarp();
}

/* Four 8 x 8 tiles of 16-bit elements: lane 8 t + r gives the address of row r of tile t; afterwards lane
 * 4 g + c holds elements (g, 2c) and (g, 2c + 1) of each tile, or their transposes. */
TW_DEVICE void ldmatrix_x4(uint32_t (&r)[4], uint32_t row) {
  TW_PTX("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
         : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
         : "r"(row)
         : "memory");
}
TW_DEVICE void ldmatrix_x4_trans(uint32_t (&r)[4], uint32_t row) {
  TW_PTX("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
         : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
         : "r"(row)
         : "memory");
}

/* After it, what this warp's lanes read by ldmatrix may be overwritten by any of them. */
TW_DEVICE void ldmatrix_done() { __syncwarp(); }

/* C += A B on tensor cores: A 16 x 16, B 16 x 8 (by columns), C 16 x 8 in fp32. Lane 4 g + t holds of C the
 * elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). */
template <class T> TW_DEVICE void mma_m16n8k16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
template <>
__device__ __forceinline__ void mma_m16n8k16<fp16>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  TW_PTX("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
         "{%0, %1, %2, %3};"
         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
__device__ __forceinline__ void mma_m16n8k16<bf16>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  TW_PTX("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
         "{%0, %1, %2, %3};"
         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

#endif
