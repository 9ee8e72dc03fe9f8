/* Rung 7: swizzled tiles that arrive while the tensor cores work.
 *
 * Teaches: ldmatrix reads 8 rows of 16 bytes at once; rows that are 128 or 256 bytes apart all start in the same
 * bank, so rung 6 waits eight times. XORing the 16-byte piece with the row spreads them over all banks:
 *
 *     row 0   0 1 2 3 4 5 6 7        piece `piece` of row `row` lies at place piece ^ (row % 8):
 *     row 1   1 0 3 2 5 4 7 6        any one piece of 8 rows, and any whole row, touches each bank once
 *     row 2   2 3 0 1 6 7 4 5
 *
 * And cp.async fills the next K, V tile, past the registers, while this one is in use: two stages, one barrier a
 * tile. A warp may take 32 rows; each fragment of K and V read from shared memory then serves twice.
 *
 * Moves, per head, elements: reads N_q d (Q) + 2 d (keys in the computed tiles of each row block), writes N_q d (O):
 * the fa2 schedule, as in rungs 5 and 6. Leaves to the next rung: wgmma (tensor cores that read shared memory
 * themselves, at about 1.6 times the rate of mma.sync), TMA, and softmax overlapped with the next product. */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/tensor_tile.cuh"

namespace TW_BUILD {

/* One choice of tile: B_r rows shared by WARPS warps, B_c keys a tile, CTAS blocks wanted on an SM. */
template <class T_, int d_, int B_r_, int B_c_, int WARPS_, int CTAS_, bool Q_STAYS_> struct AsyncTile {
  using T = T_;
  static constexpr int d = d_, B_r = B_r_, B_c = B_c_, WARPS = WARPS_, CTAS = CTAS_;
  static constexpr bool Q_STAYS = Q_STAYS_; /* Q in registers from the start, or read again for each tile */
  static constexpr int THREADS = 32 * WARPS, SLABS = B_r / WARPS / 16, ROW_BYTES = 2 * d;
  static constexpr int Q_BYTES = B_r * ROW_BYTES, KV_BYTES = B_c * ROW_BYTES;
  static constexpr int SHARED_BYTES = Q_BYTES + 4 * KV_BYTES; /* Q, then K and V of two stages */

  TW_DEVICE int at(int row, int piece) { return row * ROW_BYTES + ((piece ^ (row & 7)) << 4); }
  TW_DEVICE uint32_t step(uint32_t address, int k) { return address ^ (uint32_t)(k << 5); }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Starts the copy of a tile; rows from n_rows on become zeros. */
template <class Tile, int ROWS>
TW_DEVICE void start_tile(const Attention &a, int tensor, uint32_t to, const typename Tile::T *from, int n_rows) {
  constexpr int PIECES = Tile::d / 8, STEP = Tile::THREADS / PIECES; /* rows that the block copies at once */
  const int row = (int)threadIdx.x / PIECES, piece = (int)threadIdx.x % PIECES;
#pragma unroll
  for (int r = row; r < ROWS; r += STEP)
    hbm_copy_16(a, tensor, to + (uint32_t)Tile::at(r, piece), from + r * Tile::d + piece * 8, r < n_rows);
}
#endif

template <class Tile> __global__ void __launch_bounds__(Tile::THREADS, Tile::CTAS) fa2_async(const Attention a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const int i = a.causal ? (int)(gridDim.x - 1 - blockIdx.x) : (int)blockIdx.x; /* the longest row blocks first */
  const int i0 = i * Tile::B_r, rows = smaller(Tile::B_r, a.N_q - i0);
  const int first_row = i0 + (int)threadIdx.x / 32 * 16 * Tile::SLABS + (int)threadIdx.x % 32 / 4;
  const int T_end = (keys_seen(a, i0 + rows - 1) + Tile::B_c - 1) / Tile::B_c; /* tiles to compute */
  const int T_full = keys_seen(a, i0) / Tile::B_c;                             /* of these, without a mask */
  const Head<typename Tile::T> h = head_of<typename Tile::T>(a, (int)blockIdx.y);
  const uint32_t Q_tile = shared_address(shared_memory()), stages = Q_tile + Tile::Q_BYTES;
  const uint32_t q_row = Q_tile + lane_of_Q<Tile>(), k_lane = lane_of_K<Tile>(), v_lane = lane_of_V<Tile>();
  const float scale = a.scale * 1.4426950408889634f; /* log2 e: exponentials are powers of two */

  const auto stage_of = [&](int j) { return stages + (uint32_t)(j & 1) * 2 * Tile::KV_BYTES; };
  const auto start_KV = [&](int j) {
    const int j0 = j * Tile::B_c;
    start_tile<Tile, Tile::B_c>(a, KERNEL_K, stage_of(j), h.K + (long long)j0 * Tile::d, a.N_k - j0);
    start_tile<Tile, Tile::B_c>(a, KERNEL_V, stage_of(j) + Tile::KV_BYTES, h.V + (long long)j0 * Tile::d, a.N_k - j0);
    cp_async_commit();
  };

  WarpRows<Tile> w;
  start_rows(w);
  mark_start(a, T_end);
  const Stamper at = stamper(a, 1);
  stamp(at, 0, STAMP_BEGINS);
  if (T_end > 0) {
    start_tile<Tile, Tile::B_r>(a, KERNEL_Q, Q_tile, h.Q + (long long)i0 * Tile::d, rows);
    mark_ask(a, 0);
    start_KV(0);
  }
  for (int j = 0; j < T_end; j++) {
    stamp(at, j, STAMP_WAITS);
    cp_async_wait<0>();
    __syncthreads(); /* tile j has arrived for every thread, and every warp is done with tile j - 1 */
    stamp(at, j, STAMP_HAS);
    if (j + 1 < T_end) {
      mark_ask(a, j + 1);
      start_KV(j + 1);
    }
    if (Tile::Q_STAYS && j == 0) take_Q(w, q_row);
    stamp(at, j, STAMP_ISSUED);
    product_QK(w, q_row, stage_of(j) + k_lane);
    stamp(at, j, STAMP_S);
    if (j >= T_full) mask_scores(a, w, first_row, j * Tile::B_c);
    softmax_and_PV(at, w, scale, stage_of(j) + Tile::KV_BYTES + v_lane, j);
    stamp(at, j, STAMP_PV);
  }
  store_O(a, h.O, Q_tile, i0, w);
  stamp(at, larger(0, T_end - 1), STAMP_ENDS);
  mark_end(a);
#endif
}

template <class Tile> static bool run_tile(const Attention &a) {
  if constexpr (is_left_out<Tile>(128, Tile::d == 64 ? 128 : 64))
    return false;
  else {
    const dim3 grid((unsigned)((a.N_q + Tile::B_r - 1) / Tile::B_r), (unsigned)(a.batch * a.heads));
    return launch<fa2_async<Tile>>(grid, dim3(Tile::THREADS), Tile::SHARED_BYTES, a);
  }
}

template <class T> static bool run_64(const Attention &a) {
  if (a.B_r == 128 && a.B_c == 64) return run_tile<AsyncTile<T, 64, 128, 64, 4, 2, true>>(a);
  if (a.B_r == 64 && a.B_c == 64) return run_tile<AsyncTile<T, 64, 64, 64, 4, 4, false>>(a);
  if (a.B_r == 128 && a.B_c == 128) return run_tile<AsyncTile<T, 64, 128, 128, 4, 2, false>>(a);
  if (a.B_r == 128 && a.B_c == 32) return run_tile<AsyncTile<T, 64, 128, 32, 4, 3, false>>(a);
  return false;
}

template <class T> static bool run_128(const Attention &a) {
  if (a.B_r == 128 && a.B_c == 64) return run_tile<AsyncTile<T, 128, 128, 64, 4, 2, false>>(a);
  if (a.B_r == 64 && a.B_c == 64) return run_tile<AsyncTile<T, 128, 64, 64, 4, 2, true>>(a);
  if (a.B_r == 128 && a.B_c == 128) return run_tile<AsyncTile<T, 128, 128, 128, 8, 1, false>>(a);
  if (a.B_r == 128 && a.B_c == 32) return run_tile<AsyncTile<T, 128, 128, 32, 4, 2, false>>(a);
  return false;
}

static bool run(const Attention &a, Dtype dtype) {
  if (dtype == DTYPE_FP16) return a.d == 64 ? run_64<fp16>(a) : a.d == 128 && run_128<fp16>(a);
  if (dtype == DTYPE_BF16) return a.d == 64 ? run_64<bf16>(a) : a.d == 128 && run_128<bf16>(a);
  return false;
}

/* The fastest on an H200 of those below. */
static Block default_block(int d, int) { return d == 64 ? Block{128, 128} : Block{128, 64}; }

static size_t shared_bytes(int d, Block b, int) { return (size_t)(2 * d * (b.B_r + 4 * b.B_c)); }

extern const Rung FA2_ASYNC;
const Rung FA2_ASYNC = {
    .number = 7,
    .name = "fa2_async",
    .title = "swizzled tiles, cp.async double buffering",
    .oldest_sm = 80,
    .head_dims = {64, 128},
    .blocks = {{128, 64}, {64, 64}, {128, 128}, {128, 32}},
    .default_block = default_block,
    .shared_bytes = shared_bytes,
    .run = run,
};

} // namespace TW_BUILD
