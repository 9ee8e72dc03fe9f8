/* What every rung is given, and the few helpers through which it reaches HBM.
 *
 * Tensors are dense, [batch][head][row][d], element type T (float, fp16, bf16); S and P are
 * [batch][head][query][key]; m and l are fp32, [batch][head][query]. Query head h of a batch reads K/V head
 * h / (heads / kv_heads).
 *
 * Counting: compiled with -DTW_COUNTING, each helper adds the bytes it moves to a sum per tensor and direction,
 * so that what a kernel asks of memory is counted where it asks. Compiled without, the helpers are plain
 * loads and stores. The two builds live side by side in namespaces `counted` and `plain`.
 *
 * Marking: compiled with -DTW_MARKED, in namespace `marked`, the first warp of each CTA notes where it runs and when it
 * starts and ends (kernels/probes/probe_pace.cu). Compiled with -DTW_TIMED, in namespace `timed`, it also notes when it
 * asks for each tile of K and V (kernels/probes/probe_steps.cu), which takes some time itself. With -DTW_ENDED, in
 * namespace `ended`, it notes its SM and that SM's clock at its end, and nothing before (kernels/probes/probe_ends.cu):
 * the kernel itself is then the one that runs unmarked. With -DTW_STAMPED, in namespace `stamped`, a thread of each
 * warpgroup notes the clock at moments of each tile (kernels/probes/probe_stamps.cu). In the other builds these helpers
 * are empty. */
#ifndef TILEWALK_KERNELS_ATTENTION_CUH
#define TILEWALK_KERNELS_ATTENTION_CUH

#include <type_traits>

#include "kernels/lib/rung.h"
#include "kernels/lib/ptx_inline.cuh"

#ifdef TW_COUNTING
#define TW_BUILD counted
#elif defined(TW_MARKED)
#define TW_BUILD marked
#elif defined(TW_TIMED)
#define TW_BUILD timed
#elif defined(TW_ENDED)
#define TW_BUILD ended
#elif defined(TW_STAMPED)
#define TW_BUILD stamped
#else
#define TW_BUILD plain
#endif

namespace TW_BUILD {

TW_DEVICE void count_read(const Attention &a, int tensor, int bytes) {
#ifdef TW_COUNTING
  atomicAdd(&a.counts->read[tensor], (unsigned long long)bytes);
#else
  (void)a, (void)tensor, (void)bytes;
#endif
}
TW_DEVICE void count_write(const Attention &a, int tensor, int bytes) {
#ifdef TW_COUNTING
  atomicAdd(&a.counts->write[tensor], (unsigned long long)bytes);
#else
  (void)a, (void)tensor, (void)bytes;
#endif
}

#ifdef TW_TIMED
TW_DEVICE Timing *this_timing(const Attention &a) {
  return &static_cast<Timing *>(a.marks)[blockIdx.x + gridDim.x * blockIdx.y];
}
#endif

TW_DEVICE void mark_start(const Attention &a, int tiles) {
#ifdef TW_MARKED
  if (threadIdx.x) return;
  Mark *mark = &a.marks[blockIdx.x + gridDim.x * blockIdx.y];
  mark->sm = this_sm();
  mark->tiles = (unsigned)tiles;
  mark->start_ns = global_ns();
  mark->start_cycles = (unsigned long long)clock64();
#elif defined(TW_TIMED)
  if (threadIdx.x) return;
  Instant start;
#pragma unroll 1
  for (int again = 0; again < 2; again++)
    start = {global_ns(), (unsigned long long)clock64()}; /* no wait for instructions in between */
  Timing *timing = this_timing(a);
  timing->start_ns = start.ns;
  timing->start_cycles = start.cycles;
  timing->sm = this_sm();
  timing->tiles = (unsigned)tiles;
#else
  (void)a, (void)tiles;
#endif
}
/* Goes right before the first read of tile j of K and V. */
TW_DEVICE void mark_ask(const Attention &a, int j) {
#ifdef TW_TIMED
  if (threadIdx.x) return;
  this_timing(a)->asks[j] = (unsigned long long)clock64();
#else
  (void)a, (void)j;
#endif
}
TW_DEVICE void mark_end(const Attention &a) {
#ifdef TW_MARKED
  if (threadIdx.x) return;
  Mark *mark = &a.marks[blockIdx.x + gridDim.x * blockIdx.y];
  mark->end_ns = global_ns();
  mark->end_cycles = (unsigned long long)clock64();
#elif defined(TW_TIMED)
  if (threadIdx.x) return;
  Timing *timing = this_timing(a);
  timing->end_ns = global_ns();
  timing->end_cycles = (unsigned long long)clock64();
  for (int e = 0; e < TIMING_EDGES; e++) note_edge(&timing->edges[e].ns, &timing->edges[e].cycles);
#elif defined(TW_ENDED)
  if (threadIdx.x) return;
  Mark *mark = &a.marks[blockIdx.x + gridDim.x * blockIdx.y];
  mark->end_cycles = (unsigned long long)clock64();
  mark->sm = this_sm();
#else
  (void)a;
#endif
}

/* Where this thread notes the clock, if it does: its role's part of its CTA's stamps. Empty in the other builds. */
struct Stamper {
#ifdef TW_STAMPED
  unsigned *clocks;
#endif
};
TW_DEVICE Stamper stamper(const Attention &a, int role) {
#ifdef TW_STAMPED
  if (threadIdx.x % 128) return {nullptr};
  Stamps *stamps = (Stamps *)a.marks + (blockIdx.x + gridDim.x * blockIdx.y) * (unsigned)STAMP_TILES;
  stamps->at[role][STAMP_SM] = 1 + this_sm();
  return {stamps->at[role]};
#else
  return (void)a, (void)role, Stamper{};
#endif
}
/* The clock at a moment (rung.h's StampId) of a tile, counted since the CTA began. */
TW_DEVICE void stamp(const Stamper &s, int tile, int id) {
#ifdef TW_STAMPED
  if (s.clocks) s.clocks[tile * (int)(sizeof(Stamps) / sizeof(unsigned)) + id] = clock_now();
#else
  (void)s, (void)tile, (void)id;
#endif
}

/* One element: through L1 as any C load, or past it to L2. */
template <class E> TW_DEVICE E hbm_read_cached(const Attention &a, int tensor, const E *from) {
  count_read(a, tensor, (int)sizeof(E));
  return *from;
}
template <class E> TW_DEVICE E hbm_read(const Attention &a, int tensor, const E *from) {
  count_read(a, tensor, (int)sizeof(E));
  return load_l2(from);
}
template <class E> TW_DEVICE void hbm_write(const Attention &a, int tensor, E *to, float x) {
  count_write(a, tensor, (int)sizeof(E));
  from_float(x, to);
}
/* Sixteen bytes, past L1. */
TW_DEVICE uint4 hbm_read_16(const Attention &a, int tensor, const void *from) {
  count_read(a, tensor, 16);
  return load_l2_16(from);
}
TW_DEVICE void hbm_write_16(const Attention &a, int tensor, void *to, uint4 x) {
  count_write(a, tensor, 16);
  store_global_16(to, x);
}
/* A lane's four of 128 sums of its warp (kernels/lib/ptx_inline.cuh). */
TW_DEVICE void hbm_add_4(const Attention &a, int tensor, float *sums, const float (&x)[4]) {
  count_write(a, tensor, 16);
  add_in_memory(sums, x);
}
TW_DEVICE void hbm_read_sums(const Attention &a, int tensor, const float *sums, float (&x)[4]) {
  count_read(a, tensor, 16);
  read_sums(sums, x);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Sixteen bytes to shared memory in the background; zeros, and no traffic, when not `wanted`. */
TW_DEVICE void hbm_copy_16(const Attention &a, int tensor, uint32_t to, const void *from, bool wanted) {
  if (wanted) count_read(a, tensor, 16);
  cp_async_16(to, from, wanted ? 16 : 0);
}
#endif

/* Numbers as 16 bytes. */
TW_DEVICE uint4 bits_of(const float *x) {
  uint4 y;
  memcpy(&y, x, sizeof y);
  return y;
}
TW_DEVICE void floats_of(uint4 x, float (&y)[4]) { memcpy(y, &x, sizeof y); }
template <class T> TW_DEVICE void floats_of_8(uint4 x, float (&y)[8]) {
  const uint32_t pairs[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
  for (int k = 0; k < 8; k++) y[k] = to_float(T{(uint16_t)(pairs[k / 2] >> (k % 2 * 16))});
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class T> TW_DEVICE uint4 pack8(const float (&x)[8]) {
  return {pack2<T>(x[0], x[1]), pack2<T>(x[2], x[3]), pack2<T>(x[4], x[5]), pack2<T>(x[6], x[7])};
}
#endif

/* The tensors of one query head. */
template <class T> struct Head {
  const T *Q, *K, *V;
  T *O, *S, *P;
  float *m, *l;
};

template <class T> TW_DEVICE Head<T> head_of(const Attention &a, int head) {
  const int kv_head = head / a.heads * a.kv_heads + head % a.heads / (a.heads / a.kv_heads);
  const long long rows = (long long)head * a.N_q, keys = (long long)kv_head * a.N_k;
  Head<T> h;
  h.Q = (const T *)a.Q + rows * a.d;
  h.K = (const T *)a.K + keys * a.d;
  h.V = (const T *)a.V + keys * a.d;
  h.O = (T *)a.O + rows * a.d;
  h.S = (T *)a.S + rows * a.N_k;
  h.P = (T *)a.P + rows * a.N_k;
  h.m = a.m + rows;
  h.l = a.l + rows;
  return h;
}

static __host__ __device__ __forceinline__ int smaller(int x, int y) { return x < y ? x : y; }
static __host__ __device__ __forceinline__ int larger(int x, int y) { return x > y ? x : y; }

/* How many keys query i sees: the causal diagonal ends in the bottom right corner. */
TW_DEVICE int keys_seen(const Attention &a, int i) {
  return a.causal ? larger(0, smaller(a.N_k, i + 1 + a.N_k - a.N_q)) : a.N_k;
}

/* Builds for probes run fp16 with the default block alone (kernels/lib/pass.h); other tiles would only take time to
 * compile. */
template <class Tile> constexpr bool is_left_out(int B_r, int B_c) {
#if defined(TW_MARKED) || defined(TW_TIMED) || defined(TW_ENDED) || defined(TW_STAMPED)
  return !std::is_same_v<typename Tile::T, fp16> || Tile::B_r != B_r || Tile::B_c != B_c;
#else
  return (void)B_r, (void)B_c, false;
#endif
}

TW_DEVICE float minus_infinity() { return -__builtin_huge_valf(); }

/* Over the 32 lanes of a warp. */
TW_DEVICE float warp_max(float x) {
  for (int lanes = 16; lanes; lanes /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, lanes));
  return x;
}
TW_DEVICE float warp_sum(float x) {
  for (int lanes = 16; lanes; lanes /= 2) x += __shfl_xor_sync(0xffffffffu, x, lanes);
  return x;
}

#ifdef __CUDACC__
/* Starts a kernel; the error, if any, is in cudaGetLastError. */
template <auto KERNEL, class Argument>
static bool launch(dim3 grid, dim3 block, size_t shared_bytes, const Argument &argument) {
  if (shared_bytes > 48 * 1024 &&
      cudaFuncSetAttribute((const void *)KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes) !=
          cudaSuccess)
    return false;
  KERNEL<<<grid, block, shared_bytes>>>(argument);
  return cudaPeekAtLastError() == cudaSuccess;
}

/* The same for a kernel that may start while the one before it ends; it calls wait_for_kernel_before. */
template <auto KERNEL, class Argument>
static bool launch_after(dim3 grid, dim3 block, size_t shared_bytes, const Argument &argument) {
  int device = 0, major = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
    return false;
  if (major < 9) return launch<KERNEL>(grid, block, shared_bytes, argument);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = grid, how.blockDim = block, how.dynamicSmemBytes = shared_bytes;
  how.attrs = &early, how.numAttrs = 1;
  return cudaLaunchKernelEx(&how, KERNEL, argument) == cudaSuccess;
}
#endif

} // namespace TW_BUILD

#endif
