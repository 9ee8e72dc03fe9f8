/* Rung 4: FlashAttention-2's order (Dao 2023, Algorithm 1), scalar arithmetic.
 *
 *     for each block i of Q:          one CTA each, all independent
 *       load Q_i; O = 0, l = 0, m = -infinity stay in shared memory
 *       for each block j of K, V:     stream past
 *         S = Q_i K_j^T; new m; O = e^(m_old - m) O + P V_j
 *       store O / l                   once
 *
 * Teaches: with the loops turned round, O, l and m never leave the SM, the division comes once, and a head has T_r
 * CTAs instead of one. The same tile functions as rung 3, in another order.
 *
 * Moves, per head, elements: reads N_q d (Q) + T_r 2 N_k d (K, V), writes N_q d (O): the fa2 schedule without a mask.
 * With one, every tile is still loaded and computed, then masked.
 * Leaves to the next rung: not touching the tiles that the mask removes. */
#include "kernels/lib/scalar_tile.cuh"

namespace TW_BUILD {

template <class T> __global__ void __launch_bounds__(SCALAR_THREADS) fa2_scalar(const Attention a) {
  const Head<T> h = head_of<T>(a, (int)blockIdx.y);
  ScalarTiles<T> t = scalar_tiles<T>(a);
  const int i0 = (int)blockIdx.x * a.B_r, rows = smaller(a.B_r, a.N_q - i0);

  load_rows(a, KERNEL_Q, t.Q, t.row, h.Q + (long long)i0 * a.d, rows);
  for (int e = (int)threadIdx.x; e < rows * a.d; e += SCALAR_THREADS) t.O[e] = 0;
  for (int r = (int)threadIdx.x; r < rows; r += SCALAR_THREADS) {
    t.m[r] = minus_infinity();
    t.l[r] = 0;
  }
  for (int j0 = 0; j0 < a.N_k; j0 += a.B_c) {
    const int keys = smaller(a.B_c, a.N_k - j0);
    __syncthreads(); /* every thread is done with the previous K, V */
    load_rows(a, KERNEL_K, t.K, t.row, h.K + (long long)j0 * a.d, keys);
    load_rows(a, KERNEL_V, t.V, t.row, h.V + (long long)j0 * a.d, keys);
    __syncthreads(); /* Q, K, V are complete */
    product_QK(a, t, i0, rows, j0, keys);
    __syncthreads(); /* S is complete */
    softmax_rows(a, t, rows, keys);
    __syncthreads(); /* P, l and the factors are complete */
    product_PV(a, t, rows, keys);
  }
  for (int e = (int)threadIdx.x; e < rows * a.d; e += SCALAR_THREADS) {
    const float l = t.l[e / a.d];
    hbm_write(a, KERNEL_O, &h.O[(long long)i0 * a.d + e], l == 0 ? 0 : t.O[e] / l);
  }
}

template <class T> static bool run_type(const Attention &a) {
  const size_t shared = scalar_shared_bytes(a.d, {a.B_r, a.B_c}, (int)sizeof(T));
  const dim3 grid((unsigned)((a.N_q + a.B_r - 1) / a.B_r), (unsigned)(a.batch * a.heads));
  return launch<fa2_scalar<T>>(grid, dim3(SCALAR_THREADS), shared, a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP32 ? run_type<float>(a) : dtype == DTYPE_FP16 ? run_type<fp16>(a) : run_type<bf16>(a);
}

extern const Rung FA2_SCALAR;
const Rung FA2_SCALAR = {
    .number = 4,
    .name = "fa2_scalar",
    .title = "FlashAttention-2: outer loop over Q, scalar",
    .oldest_sm = 75,
    .takes_fp32 = true,
    .default_block = scalar_default_block,
    .shared_bytes = scalar_shared_bytes,
    .run = run,
};

} // namespace TW_BUILD
