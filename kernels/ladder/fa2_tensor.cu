/* Rung 6: tensor cores, and P in registers.
 *
 *     warp w of a block takes rows 16 w ... 16 w + 15 of Q_i and walks all keys with them:
 *         S = Q_i K_j^T    mma.m16n8k16 on pieces that ldmatrix brings from shared memory to registers
 *         m, l, P          in the registers that hold S: kernels/lib/tensor_tile.cuh shows which lane has what
 *         O += P V_j       P is rounded and packed where it is: it never sees shared memory
 *
 * Teaches: the same walk as rung 5 with 10 to 100 times the arithmetic rate. Q stays in registers, S and O are
 * accumulators; only K and V need shared memory, and no barrier is needed between the two products.
 *
 * Moves, per head, elements: reads N_q d (Q) + 2 d (keys in the computed tiles of each row block), writes N_q d (O):
 * the fa2 schedule, as in rung 5, in requests of 16 bytes. Leaves to the next rung: rows of a tile are 128 or 256 bytes
 * apart, so the 8 rows of one ldmatrix lie in the same banks and are read one after another; and the tensor cores wait
 * while a tile is loaded. */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/tensor_tile.cuh"

namespace TW_BUILD {

template <class T_, int d_, int B_r_, int B_c_> struct TensorTile {
  using T = T_;
  static constexpr int d = d_, B_r = B_r_, B_c = B_c_, SLABS = 1, WARPS = B_r / 16, THREADS = 32 * WARPS;
  static constexpr bool Q_STAYS = true;
  static constexpr int ROW_BYTES = 2 * d, KV_BYTES = B_c * ROW_BYTES, Q_BYTES = B_r * ROW_BYTES;
  static constexpr int SHARED_BYTES = Q_BYTES + 2 * KV_BYTES;

  TW_DEVICE int at(int row, int piece) { return row * ROW_BYTES + (piece << 4); }
  TW_DEVICE uint32_t step(uint32_t address, int k) { return address + (uint32_t)(k << 5); }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Copies a tile through registers, 16 bytes a thread; rows from n_rows on become zeros. */
template <class Tile, int ROWS>
TW_DEVICE void load_tile(const Attention &a, int tensor, uint32_t to, const typename Tile::T *from, int n_rows) {
  constexpr int PIECES = Tile::d / 8;
#pragma unroll 4
  for (int e = (int)threadIdx.x; e < ROWS * PIECES; e += Tile::THREADS) {
    const int row = e / PIECES, piece = e % PIECES;
    uint4 x = {0, 0, 0, 0};
    if (row < n_rows) x = hbm_read_16(a, tensor, from + row * Tile::d + piece * 8);
    store_shared_16(to + (uint32_t)Tile::at(row, piece), x);
  }
}
#endif

template <class Tile> __global__ void __launch_bounds__(Tile::THREADS) fa2_tensor(const Attention a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const int i = a.causal ? (int)(gridDim.x - 1 - blockIdx.x) : (int)blockIdx.x; /* the longest row blocks first */
  const int i0 = i * Tile::B_r, rows = smaller(Tile::B_r, a.N_q - i0);
  const int first_row = i0 + (int)threadIdx.x / 32 * 16 + (int)threadIdx.x % 32 / 4; /* of this lane */
  const int T_end = (keys_seen(a, i0 + rows - 1) + Tile::B_c - 1) / Tile::B_c;       /* tiles to compute */
  const int T_full = keys_seen(a, i0) / Tile::B_c;                                   /* of these, without a mask */
  const Head<typename Tile::T> h = head_of<typename Tile::T>(a, (int)blockIdx.y);
  const uint32_t Q_tile = shared_address(shared_memory()), K_tile = Q_tile + Tile::Q_BYTES,
                 V_tile = K_tile + Tile::KV_BYTES;
  const uint32_t q_row = Q_tile + lane_of_Q<Tile>(), k_row = K_tile + lane_of_K<Tile>(),
                 v_row = V_tile + lane_of_V<Tile>();
  const float scale = a.scale * 1.4426950408889634f; /* log2 e: exponentials are powers of two */

  WarpRows<Tile> w;
  start_rows(w);
  mark_start(a, T_end);
  if (T_end > 0) load_tile<Tile, Tile::B_r>(a, KERNEL_Q, Q_tile, h.Q + (long long)i0 * Tile::d, rows);
  for (int j = 0; j < T_end; j++) {
    const int j0 = j * Tile::B_c;
    __syncthreads(); /* every warp is done with the previous K, V */
    mark_ask(a, j);
    load_tile<Tile, Tile::B_c>(a, KERNEL_K, K_tile, h.K + (long long)j0 * Tile::d, a.N_k - j0);
    load_tile<Tile, Tile::B_c>(a, KERNEL_V, V_tile, h.V + (long long)j0 * Tile::d, a.N_k - j0);
    __syncthreads(); /* Q, K, V are complete */
    if (j == 0) take_Q(w, q_row);
    product_QK(w, q_row, k_row);
    if (j >= T_full) mask_scores(a, w, first_row, j0);
    softmax_and_PV({}, w, scale, v_row, j);
  }
  store_O(a, h.O, Q_tile, i0, w);
  mark_end(a);
#endif
}

template <class Tile> static bool run_tile(const Attention &a) {
  if constexpr (is_left_out<Tile>(64, 64))
    return false;
  else {
    const dim3 grid((unsigned)((a.N_q + Tile::B_r - 1) / Tile::B_r), (unsigned)(a.batch * a.heads));
    return launch<fa2_tensor<Tile>>(grid, dim3(Tile::THREADS), Tile::SHARED_BYTES, a);
  }
}

template <class T, int d> static bool run_block(const Attention &a) {
  if (a.B_r == 64 && a.B_c == 64) return run_tile<TensorTile<T, d, 64, 64>>(a);
  if (a.B_r == 128 && a.B_c == 64) return run_tile<TensorTile<T, d, 128, 64>>(a);
  if (a.B_r == 64 && a.B_c == 32) return run_tile<TensorTile<T, d, 64, 32>>(a);
  return false;
}

template <class T> static bool run_type(const Attention &a) {
  return a.d == 64 ? run_block<T, 64>(a) : a.d == 128 && run_block<T, 128>(a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP16 ? run_type<fp16>(a) : dtype == DTYPE_BF16 && run_type<bf16>(a);
}

static size_t shared_bytes(int d, Block b, int) { return (size_t)(2 * d * (b.B_r + 2 * b.B_c)); }

extern const Rung FA2_TENSOR;
const Rung FA2_TENSOR = {
    .number = 6,
    .name = "fa2_tensor",
    .title = "tensor cores, P in registers",
    .oldest_sm = 80,
    .head_dims = {64, 128},
    .blocks = {{64, 64}, {128, 64}, {64, 32}},
    .shared_bytes = shared_bytes,
    .run = run,
};

} // namespace TW_BUILD
