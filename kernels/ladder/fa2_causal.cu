/* Rung 5: the same, without the tiles that the causal mask removes.
 *
 *         keys ->              # computed, / computed and masked, . skipped: neither loaded nor computed
 *     q   / . . .
 *     |   # / . .              row block i walks the keys that its last row sees
 *     v   # # / .
 *         # # # /
 *
 * Teaches: half the work of causal attention is no work. Row blocks now differ in length; blocks are handed out in
 * the order of their number, so the longest go first and the short ones fill the gaps at the end.
 *
 * Moves, per head, elements: reads N_q d (Q) + 2 d (keys in the computed tiles of each row block), writes N_q d (O):
 * the fa2 schedule, causal or not. A row block that sees no key (N_q > N_k) loads nothing and stores zeros. Leaves to
 * the next rung: the arithmetic, which takes nearly all the time. */
#include "kernels/lib/scalar_tile.cuh"

namespace TW_BUILD {

template <class T> __global__ void __launch_bounds__(SCALAR_THREADS) fa2_causal(const Attention a) {
  const Head<T> h = head_of<T>(a, (int)blockIdx.y);
  ScalarTiles<T> t = scalar_tiles<T>(a);
  const int i = a.causal ? (int)(gridDim.x - 1 - blockIdx.x) : (int)blockIdx.x; /* the longest row blocks first */
  const int i0 = i * a.B_r, rows = smaller(a.B_r, a.N_q - i0);
  const int keys_wanted = keys_seen(a, i0 + rows - 1); /* the last row of the block sees the most */

  if (keys_wanted > 0) load_rows(a, KERNEL_Q, t.Q, t.row, h.Q + (long long)i0 * a.d, rows);
  for (int e = (int)threadIdx.x; e < rows * a.d; e += SCALAR_THREADS) t.O[e] = 0;
  for (int r = (int)threadIdx.x; r < rows; r += SCALAR_THREADS) {
    t.m[r] = minus_infinity();
    t.l[r] = 0;
  }
  for (int j0 = 0; j0 < keys_wanted; j0 += a.B_c) {
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
  __syncthreads(); /* l is set even if there was no tile */
  for (int e = (int)threadIdx.x; e < rows * a.d; e += SCALAR_THREADS) {
    const float l = t.l[e / a.d];
    hbm_write(a, KERNEL_O, &h.O[(long long)i0 * a.d + e], l == 0 ? 0 : t.O[e] / l);
  }
}

template <class T> static bool run_type(const Attention &a) {
  const size_t shared = scalar_shared_bytes(a.d, {a.B_r, a.B_c}, (int)sizeof(T));
  const dim3 grid((unsigned)((a.N_q + a.B_r - 1) / a.B_r), (unsigned)(a.batch * a.heads));
  return launch<fa2_causal<T>>(grid, dim3(SCALAR_THREADS), shared, a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP32 ? run_type<float>(a) : dtype == DTYPE_FP16 ? run_type<fp16>(a) : run_type<bf16>(a);
}

extern const Rung FA2_CAUSAL;
const Rung FA2_CAUSAL = {
    .number = 5,
    .name = "fa2_causal",
    .title = "FlashAttention-2, masked tiles skipped",
    .oldest_sm = 75,
    .takes_fp32 = true,
    .default_block = scalar_default_block,
    .shared_bytes = scalar_shared_bytes,
    .run = run,
};

} // namespace TW_BUILD
