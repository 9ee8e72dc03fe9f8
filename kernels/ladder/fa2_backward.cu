/* Rung 11: the backward pass, what training spends most of its time on.
 *
 *     given dO, and from the forward pass O and L = log of a row's sum of exponentials:
 *     prepare      D_i = rowsum(dO_i * O_i); the sums of dQ start at 0
 *     for each column block j: a CTA         K_j, V_j stay; dK_j, dV_j in registers
 *       for each row block i that sees it, of each query head of the group:
 *         S = Q_i K_j^T            P = e^(S - L_i)        as in the forward pass, but with no running maximum
 *         dP = dO_i V_j^T          dS = P * (dP - D_i)
 *         dV_j += P^T dO_i         dK_j += dS^T Q_i       P and dS go through shared memory: other warps need them
 *         dQ_i += dS K_j                                  by atomic adds in fp32: many CTAs add to the same rows
 *     convert      dQ = its sums, rounded
 *
 * Teaches: P is not kept but computed again, five products instead of the forward pass's two; and whichever loop is
 * outside, one of dQ and dK, dV must leave the CTA for every tile. Atomic adds come in any order, so dQ differs in its
 * last bits from run to run. The variant fa2_backward_twice leaves them out and walks all tiles again, row block by row
 * block: seven products, the same bits every time.
 *
 * Moves, elements: per KV head, reads 2 N_k d (K, V), writes 2 N_k d (dK, dV). Per query head: Q and dO of the row
 * blocks that see each column block, with 2 B_r fp32 (L, D) a tile; B_r d fp32 of dQ a tile, added; before and after:
 * O, dO, L, 2 T_r B_r fp32 written, T_r B_r d fp32 of sums written and read, dQ. kernels/counters/kernel_model.c adds
 * it up. Leaves to the next rung: wgmma, whose operands need no ldmatrix, and TMA's own additions for dQ. */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/backward_tile.cuh"

namespace TW_BUILD {

/* dK, dV of one column block and KV head; dQ, unless it is left to backward_rows. */
template <class Tile, bool WITH_DQ>
__global__ void __launch_bounds__(Tile::THREADS, Tile::CTAS) fa2_backward_columns(const BackwardPass a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  using T = typename Tile::T;
  constexpr int KV_ACROSS = Tile::WARPS / Tile::KV_DOWN, KV_M = Tile::B_c / 16 / Tile::KV_DOWN;
  constexpr int Q_ACROSS = Tile::WARPS / Tile::Q_DOWN, Q_M = Tile::B_r / 16 / Tile::Q_DOWN;
  constexpr int KV_N2 = Tile::d / 8 / KV_ACROSS, Q_N2 = Tile::d / 8 / Q_ACROSS;
  const int warp = (int)threadIdx.x / 32, kv = (int)blockIdx.y, j0 = (int)blockIdx.x * Tile::B_c;
  const int group = a.heads / a.kv_heads, T_r = (a.N_q + Tile::B_r - 1) / Tile::B_r;
  const int first = first_row_block(a, j0, Tile::B_r), n_tiles = group * (T_r - first);
  const uint32_t K_tile = shared_address(shared_memory()), scores = K_tile + 2 * Tile::C_BYTES;
  const uint32_t stages = scores + Tile::SCORES * 2 * Tile::S_BYTES;
  const uint32_t P_left = scores + lane_at<Tile::S_ROW, false>(0, warp / KV_ACROSS * KV_M * 16);
  const uint32_t dS_left = scores + lane_at<Tile::S_ROW, true>(warp / Q_ACROSS * Q_M * 16, 0) + Tile::S_BYTES;
  const uint32_t KV_right = lane_at<Tile::ROW, true>(0, warp % KV_ACROSS * KV_N2 * 8);
  const uint32_t K_right = K_tile + lane_at<Tile::ROW, true>(0, warp % Q_ACROSS * Q_N2 * 8);

  /* Row block i of query head `head`; after the last row block of a head, the first of the next. */
  int head = kv * group, i = first, next_head = head, next_i = first;
  const auto start = [&](int n) {
    if (n < n_tiles) {
      start_rows<Tile>(a, next_head, next_i, stages + (uint32_t)(n % Tile::STAGES * Tile::STAGE_BYTES));
      if (++next_i == T_r) next_i = first, next_head++;
    }
    cp_async_commit();
  };

  float dK[KV_M][KV_N2][4], dV[KV_M][KV_N2][4];
  clear(dK), clear(dV);
  start_columns<Tile>(a, kv, j0, K_tile);
  for (int n = 0; n < Tile::STAGES - 1; n++) start(n);
  cp_async_wait<Tile::STAGES - 2>();
  __syncthreads(); /* K, V and tile 0 have arrived for every thread */
  for (int n = 0; n < n_tiles; n++) {
    const uint32_t Q_tile = stages + (uint32_t)(n % Tile::STAGES * Tile::STAGE_BYTES), dO_tile = Q_tile + Tile::R_BYTES;
    const uint32_t turn = (uint32_t)(n % Tile::SCORES * 2 * Tile::S_BYTES);
    store_P_dS<Tile, true>(a, i * Tile::B_r, j0, Q_tile, K_tile, scores + turn, scores + turn + Tile::S_BYTES);
    if (Tile::ROOMY) cp_async_wait<0>();
    __syncthreads(); /* P and dS are complete, and every warp is done with tile n - 1; ROOMY: tile n + 1 has arrived */
    start(n + Tile::STAGES - 1);
    product<T, Tile::B_r / 16, Tile::S_ROW, true, Tile::ROW, true>(dV, P_left + turn, dO_tile + KV_right);
    product<T, Tile::B_r / 16, Tile::S_ROW, true, Tile::ROW, true>(dK, P_left + turn + Tile::S_BYTES,
                                                                   Q_tile + KV_right);
    if (WITH_DQ) {
      float dQ[Q_M][Q_N2][4];
      clear(dQ);
      product<T, Tile::B_c / 16, Tile::S_ROW, false, Tile::ROW, true>(dQ, dS_left + turn, K_right);
      float *sums = a.dQ_sums + ((long long)head * T_r + i) * (Tile::B_r * Tile::d);
      sums += (warp / Q_ACROSS * Q_M * (Tile::d / 8) + warp % Q_ACROSS * Q_N2) * 128;
#pragma unroll
      for (int m = 0; m < Q_M; m++)
#pragma unroll
        for (int k = 0; k < Q_N2; k++) hbm_add_4(a, KERNEL_dQ, sums + (m * (Tile::d / 8) + k) * 128, dQ[m][k]);
    }
    if (++i == T_r) i = first, head++;
    if (Tile::ROOMY) continue;
    cp_async_wait<0>();
    __syncthreads(); /* tile n + 1 has arrived, and every warp is done with P and dS */
  }
  if (WITH_DQ && Tile::ROOMY) __syncthreads(); /* no warp needs K any more */
  const long long to = ((long long)kv * a.N_k + j0) * Tile::d;
  store_tile<Tile>(a, KERNEL_dK, dK, KV_ACROSS, a.scale, K_tile, (T *)a.dK + to, smaller(Tile::B_c, a.N_k - j0));
  store_tile<Tile>(a, KERNEL_dV, dV, KV_ACROSS, 1, K_tile + Tile::C_BYTES, (T *)a.dV + to,
                   smaller(Tile::B_c, a.N_k - j0));
#endif
}

/* dQ from its sums: a warp takes 16 rows. */
template <class Tile> __global__ void __launch_bounds__(2 * Tile::B_r) fa2_backward_convert(const BackwardPass a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  using T = typename Tile::T;
  constexpr int PIECES = Tile::d / 8;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, i0 = (int)blockIdx.x * Tile::B_r + warp * 16;
  const uint32_t tile = shared_address(shared_memory()) + (uint32_t)(warp * 16 * Tile::ROW);
  const float *sums = a.dQ_sums + (((long long)blockIdx.y * gridDim.x + blockIdx.x) * Tile::B_r + warp * 16) * Tile::d;
  T *to = (T *)a.dQ + ((long long)blockIdx.y * a.N_q + i0) * Tile::d;
#pragma unroll 8
  for (int n = 0; n < PIECES; n++) {
    float x[4];
    hbm_read_sums(a, KERNEL_dQ, sums + n * 128, x);
    for (int half = 0; half < 2; half++)
      store_shared_4(tile + at<Tile::ROW>(lane / 4 + 8 * half, n) + lane % 4 * 4,
                     pack2<T>(x[2 * half] * a.scale, x[2 * half + 1] * a.scale));
  }
  __syncwarp();
  for (int e = lane; e < 16 * PIECES; e += 32)
    if (i0 + e / PIECES < a.N_q)
      hbm_write_16(a, KERNEL_dQ, to + e * 8, load_shared_16(tile + at<Tile::ROW>(e / PIECES, e % PIECES)));
#endif
}

template <class Tile, bool WITH_DQ> static bool run_columns(const BackwardPass &pass) {
  const dim3 rows((unsigned)((pass.N_q + Tile::B_r - 1) / Tile::B_r), (unsigned)(pass.batch * pass.heads));
  const dim3 columns((unsigned)((pass.N_k + Tile::B_c - 1) / Tile::B_c), (unsigned)(pass.batch * pass.kv_heads));
  const dim3 block(Tile::THREADS);
  return launch<fa2_backward_prepare<Tile, WITH_DQ>>(rows, block, 4 * Tile::B_r, pass) &&
         launch<fa2_backward_columns<Tile, WITH_DQ>>(columns, block, Tile::COLUMNS_BYTES, pass) &&
         (!WITH_DQ || launch<fa2_backward_convert<Tile>>(rows, dim3(2 * Tile::B_r), Tile::R_BYTES, pass));
}

template <bool WITH_DQ> static bool run(const Attention &a, Dtype dtype) {
  const auto call = [&](auto tile) { return run_columns<decltype(tile), WITH_DQ>(backward_pass(a)); };
  return dtype == DTYPE_FP16 ? with_backward_tile<fp16>(a, call)
                             : dtype == DTYPE_BF16 && with_backward_tile<bf16>(a, call);
}

bool backward_columns(const Attention &a, Dtype dtype) { return run<false>(a, dtype); }

static size_t shared_bytes(int d, Block b, int) { return backward_columns_bytes(d, b); }

extern const Rung FA2_BACKWARD;
const Rung FA2_BACKWARD = {
    .number = 11,
    .name = "fa2_backward",
    .title = "backward pass, dQ by atomic adds",
    .oldest_sm = 80,
    .head_dims = {64, 128},
    .blocks = {{64, 64}, {64, 128}},
    .default_block = backward_block,
    .shared_bytes = shared_bytes,
    .run = run<true>,
    .trains = true,
};

} // namespace TW_BUILD
