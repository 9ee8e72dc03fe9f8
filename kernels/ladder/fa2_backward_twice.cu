/* Rung 11, the variant that gives the same bits every time.
 *
 *     for each column block j: as in fa2_backward.cu, without dQ         dK_j, dV_j
 *     for each row block i: a CTA                                        Q_i, dO_i stay; dQ_i in registers
 *       for each column block j that it sees:
 *         S, P, dP, dS once more; dQ_i += dS K_j
 *
 * Teaches: the price of sums in a known order. No CTA adds to another's dQ, so there are no atomic adds, no sums in
 * fp32 and nothing to convert; but S and dP are computed twice: seven products instead of five.
 *
 * Moves, per query head, elements, besides what fa2_backward.cu moves without its sums of dQ: Q, dO, L and D of each
 * row block that sees a key once more, and K and V of the column blocks that each row block sees; dQ is written once.
 */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/backward_tile.cuh"

namespace TW_BUILD {

template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS, Tile::CTAS) fa2_backward_rows(const BackwardPass a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  using T = typename Tile::T;
  constexpr int ACROSS = Tile::WARPS / Tile::Q_DOWN, M = Tile::B_r / 16 / Tile::Q_DOWN, N2 = Tile::d / 8 / ACROSS;
  const int i = a.causal ? (int)(gridDim.x - 1 - blockIdx.x) : (int)blockIdx.x; /* the longest row blocks first */
  const int warp = (int)threadIdx.x / 32, head = (int)blockIdx.y, kv = head / (a.heads / a.kv_heads);
  const int i0 = i * Tile::B_r, rows = smaller(Tile::B_r, a.N_q - i0);
  const int T_end = (keys_seen(a, i0 + rows - 1) + Tile::B_c - 1) / Tile::B_c;
  const uint32_t Q_tile = shared_address(shared_memory()), dS_tile = Q_tile + Tile::STAGE_BYTES;
  const uint32_t stages = dS_tile + Tile::S_BYTES;
  const uint32_t dS_left = dS_tile + lane_at<Tile::S_ROW, true>(warp / ACROSS * M * 16, 0);
  const uint32_t K_right = lane_at<Tile::ROW, true>(0, warp % ACROSS * N2 * 8);
  const auto stage_of = [&](int j) { return stages + (uint32_t)(j & 1) * 2 * Tile::C_BYTES; };
  float dQ[M][N2][4];
  clear(dQ);
  if (T_end > 0) {
    start_rows<Tile>(a, head, i, Q_tile);
    start_columns<Tile>(a, kv, 0, stage_of(0));
    cp_async_commit();
  }
  for (int j = 0; j < T_end; j++) {
    cp_async_wait<0>();
    __syncthreads(); /* tile j has arrived for every thread, and every warp is done with tile j - 1 */
    if (j + 1 < T_end) {
      start_columns<Tile>(a, kv, (j + 1) * Tile::B_c, stage_of(j + 1));
      cp_async_commit();
    }
    store_P_dS<Tile, false>(a, i0, j * Tile::B_c, Q_tile, stage_of(j), 0, dS_tile);
    __syncthreads(); /* dS is complete */
    product<T, Tile::B_c / 16, Tile::S_ROW, false, Tile::ROW, true>(dQ, dS_left, stage_of(j) + K_right);
  }
  store_tile<Tile>(a, KERNEL_dQ, dQ, ACROSS, a.scale, Q_tile, (T *)a.dQ + ((long long)head * a.N_q + i0) * Tile::d,
                   rows);
#endif
}

template <class Tile> static bool run_rows(const BackwardPass &pass) {
  const dim3 rows((unsigned)((pass.N_q + Tile::B_r - 1) / Tile::B_r), (unsigned)(pass.batch * pass.heads));
  return launch<fa2_backward_rows<Tile>>(rows, dim3(Tile::THREADS), Tile::ROWS_BYTES, pass);
}

static bool run(const Attention &a, Dtype dtype) {
  const auto call = [&](auto tile) { return run_rows<decltype(tile)>(backward_pass(a)); };
  if (!backward_columns(a, dtype)) return false;
  return dtype == DTYPE_FP16 ? with_backward_tile<fp16>(a, call)
                             : dtype == DTYPE_BF16 && with_backward_tile<bf16>(a, call);
}

/* Of the larger of the two kernels that walk tiles. */
static size_t shared_bytes(int d, Block b, int) {
  const size_t columns = backward_columns_bytes(d, b);
  const size_t rows = (size_t)(4 * d * (2 * b.B_c + b.B_r) + 2 * b.B_r * b.B_c + 8 * b.B_r);
  return columns > rows ? columns : rows;
}

extern const Rung FA2_BACKWARD_TWICE;
const Rung FA2_BACKWARD_TWICE = {
    .number = 11,
    .name = "fa2_backward_twice",
    .title = "backward pass, the same bits every time",
    .oldest_sm = 80,
    .head_dims = {64, 128},
    .blocks = {{64, 64}, {64, 128}},
    .default_block = backward_block,
    .shared_bytes = shared_bytes,
    .run = run,
    .trains = true,
};

} // namespace TW_BUILD
