/* Cooperative groups: the block, tiles of a warp, the grid's ranks; reduce. Not modelled: a grid's sync, which needs
 * every block resident, and memcpy_async. */
#pragma once

namespace cooperative_groups {

struct thread_block {
  TW_DEVICE_MEMBER static void sync() { __syncthreads(); }
  TW_DEVICE_MEMBER static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  TW_DEVICE_MEMBER static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  TW_DEVICE_MEMBER static unsigned num_threads() { return size(); }
  TW_DEVICE_MEMBER static dim3 group_index() { return blockIdx; }
  TW_DEVICE_MEMBER static dim3 thread_index() { return threadIdx; }
  TW_DEVICE_MEMBER static dim3 group_dim() { return blockDim; }
  TW_DEVICE_MEMBER static dim3 dim_threads() { return group_dim(); }
};
struct grid_group {
  TW_DEVICE_MEMBER static unsigned long long size() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * thread_block::size();
  }
  TW_DEVICE_MEMBER static unsigned long long thread_rank() {
    return (blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z)) * thread_block::size() +
           thread_block::thread_rank();
  }
  __device__ void sync() const; /* refused where a kernel runs into it */
};
TW_DEVICE thread_block this_thread_block() { return thread_block(); }
TW_DEVICE grid_group this_grid() { return grid_group(); }

/* The block, or n of its threads that follow each other, within one warp. */
struct thread_group {
  unsigned n;
  TW_DEVICE_MEMBER constexpr thread_group(unsigned threads) : n(threads) {}
  TW_DEVICE_MEMBER thread_group(thread_block) : n(thread_block::size()) {}
  TW_DEVICE_MEMBER unsigned size() const { return n; }
  TW_DEVICE_MEMBER unsigned thread_rank() const { return thread_block::thread_rank() % n; }
  TW_DEVICE_MEMBER unsigned mask() const { return ~0u >> (32 - n) << (tw_lane() & ~(n - 1)); }
  TW_DEVICE_MEMBER void sync() const { n == thread_block::size() ? __syncthreads() : __syncwarp(mask()); }
};
TW_DEVICE thread_group tiled_partition(const thread_group &, unsigned n) { return n; }

template <unsigned N, typename Parent = void> struct thread_block_tile : thread_group {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  TW_DEVICE_MEMBER constexpr thread_block_tile() : thread_group(N) {}
  template <typename Other> TW_DEVICE_MEMBER thread_block_tile(const thread_block_tile<N, Other> &) : thread_group(N) {}
  TW_DEVICE_MEMBER static constexpr unsigned size() { return N; }
  TW_DEVICE_MEMBER static constexpr unsigned num_threads() { return N; }
  TW_DEVICE_MEMBER static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
  TW_DEVICE_MEMBER static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
  TW_DEVICE_MEMBER void sync() const { __syncwarp(mask()); }
#define TW_TILE(NAME)                                                                                                  \
  template <typename T> TW_DEVICE_MEMBER T NAME(T v, int by) const { return __##NAME##_sync(mask(), v, by, N); }
  TW_TILE(shfl)
  TW_TILE(shfl_up)
  TW_TILE(shfl_down)
  TW_TILE(shfl_xor)
  TW_DEVICE_MEMBER unsigned ballot(int p) const {
    return (__ballot_sync(mask(), p) & mask()) >> (tw_lane() & ~(N - 1));
  }
  TW_DEVICE_MEMBER int any(int p) const { return ballot(p) != 0; }
  TW_DEVICE_MEMBER int all(int p) const { return ballot(!p) == 0; }
};
template <unsigned N, typename Parent> TW_DEVICE thread_block_tile<N, Parent> tiled_partition(const Parent &) {
  return thread_block_tile<N, Parent>();
}
template <typename Group> TW_DEVICE void sync(const Group &g) { g.sync(); }

/* The lanes that are active here. */
struct coalesced_group {
  unsigned lanes;
  TW_DEVICE_MEMBER unsigned size() const { return (unsigned)__popc(lanes); }
  TW_DEVICE_MEMBER unsigned num_threads() const { return size(); }
  TW_DEVICE_MEMBER unsigned thread_rank() const { return (unsigned)__popc(lanes & __lanemask_lt()); }
  TW_DEVICE_MEMBER void sync() const { __syncwarp(lanes); }
  template <typename T> TW_DEVICE_MEMBER T shfl(T v, int rank) const {
    unsigned rest = lanes;
    for (; rank > 0; rank--) rest &= rest - 1;
    return __shfl_sync(lanes, v, __ffs((int)rest) - 1);
  }
};
TW_DEVICE coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }

#define TW_OPERATION(NAME, OF_A_B)                                                                                     \
  template <typename T> struct NAME {                                                                                  \
    TW_DEVICE_MEMBER T operator()(T a, T b) const { return OF_A_B; }                                                   \
  };
TW_OPERATION(plus, a + b)
TW_OPERATION(greater, a > b ? a : b)
TW_OPERATION(less, a < b ? a : b)
TW_OPERATION(bit_or, a | b)
TW_OPERATION(bit_and, a &b)
/* A butterfly: every lane has the same result. */
template <unsigned N, typename Parent, typename T, typename Op>
TW_DEVICE T reduce(const thread_block_tile<N, Parent> &g, T v, Op op) {
  for (unsigned by = N / 2; by > 0; by /= 2) v = op(v, g.shfl_xor(v, by));
  return v;
}

} // namespace cooperative_groups
