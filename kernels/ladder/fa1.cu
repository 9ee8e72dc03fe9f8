/* Rung 3: FlashAttention's order (Dao et al. 2022, Algorithm 1).
 *
 *     O = 0, l = 0, m = -infinity in HBM
 *     for each block j of K, V:                 loaded once
 *       for each block i of Q:                  Q_i, O_i, l_i, m_i come and go for every tile
 *         S = Q_i K_j^T; new m, l; O_i = (l_old e^(m_old - m) O_i + P V_j) / l
 *
 * Teaches: with a running maximum m and sum l, softmax can be taken tile by tile, and S and P need never exist in HBM.
 * A head is one CTA, because its tiles update the same O one after another.
 *
 * Moves, per head: reads, in elements, 2 N_k d (K, V) + T_c 2 N_q d (Q, O), writes T_c N_q d + N_q d (O, the last term
 * is the initialisation), and of fp32 statistics reads T_c 2 N_q, writes T_c 2 N_q + 2 N_q: the fa1 schedule without a
 * mask. With one, this rung still walks every tile, as rung 4 does; rung 5 stops that. O is rounded to the data type
 * after each tile, so its error grows with T_c: a reason to turn the loops round. Leaves to the next rung: keeping O
 * where it is until it is finished. */
#include "kernels/lib/scalar_tile.cuh"

namespace TW_BUILD {

template <class T> TW_DEVICE void initialise(const Attention &a, const Head<T> &h) {
  for (int e = (int)threadIdx.x; e < a.N_q * a.d; e += SCALAR_THREADS) hbm_write(a, KERNEL_O, &h.O[e], 0);
  for (int i = (int)threadIdx.x; i < a.N_q; i += SCALAR_THREADS) {
    hbm_write(a, KERNEL_STATS, &h.m[i], minus_infinity());
    hbm_write(a, KERNEL_STATS, &h.l[i], 0);
  }
}

/* O comes back normalised: times l it is the sum that product_PV goes on with. Each thread will meet only the elements
 * of O that it loads here. */
template <class T> TW_DEVICE void load_O(const Attention &a, const Head<T> &h, ScalarTiles<T> &t, int i0, int rows) {
  for (int r = (int)threadIdx.x; r < rows; r += SCALAR_THREADS) {
    t.m[r] = hbm_read(a, KERNEL_STATS, &h.m[i0 + r]);
    t.l[r] = hbm_read(a, KERNEL_STATS, &h.l[i0 + r]);
  }
  __syncthreads(); /* l and m are complete, and Q, K, V */
  for (int e = (int)threadIdx.x; e < rows * a.d; e += SCALAR_THREADS)
    t.O[e] = to_float(hbm_read(a, KERNEL_O, (const T *)&h.O[(long long)i0 * a.d + e])) * t.l[e / a.d];
}

template <class T> TW_DEVICE void store_O(const Attention &a, const Head<T> &h, ScalarTiles<T> &t, int i0, int rows) {
  for (int e = (int)threadIdx.x; e < rows * a.d; e += SCALAR_THREADS) {
    const float l = t.l[e / a.d];
    hbm_write(a, KERNEL_O, &h.O[(long long)i0 * a.d + e], l == 0 ? 0 : t.O[e] / l);
  }
  for (int r = (int)threadIdx.x; r < rows; r += SCALAR_THREADS) {
    hbm_write(a, KERNEL_STATS, &h.m[i0 + r], t.m[r]);
    hbm_write(a, KERNEL_STATS, &h.l[i0 + r], t.l[r]);
  }
}

template <class T> __global__ void __launch_bounds__(SCALAR_THREADS) fa1(const Attention a) {
  const Head<T> h = head_of<T>(a, (int)blockIdx.x);
  ScalarTiles<T> t = scalar_tiles<T>(a);
  initialise(a, h);
  for (int j0 = 0; j0 < a.N_k; j0 += a.B_c) {
    const int keys = smaller(a.B_c, a.N_k - j0);
    __syncthreads(); /* every thread is done with the previous K, V; O in HBM is initialised */
    load_rows(a, KERNEL_K, t.K, t.row, h.K + (long long)j0 * a.d, keys);
    load_rows(a, KERNEL_V, t.V, t.row, h.V + (long long)j0 * a.d, keys);
    for (int i0 = 0; i0 < a.N_q; i0 += a.B_r) {
      const int rows = smaller(a.B_r, a.N_q - i0);
      __syncthreads(); /* every thread has stored the previous O */
      load_rows(a, KERNEL_Q, t.Q, t.row, h.Q + (long long)i0 * a.d, rows);
      load_O(a, h, t, i0, rows);
      product_QK(a, t, i0, rows, j0, keys);
      __syncthreads(); /* S is complete */
      softmax_rows(a, t, rows, keys);
      __syncthreads(); /* P, l and the factors are complete */
      product_PV(a, t, rows, keys);
      store_O(a, h, t, i0, rows);
    }
  }
}

template <class T> static bool run_type(const Attention &a) {
  const size_t shared = scalar_shared_bytes(a.d, {a.B_r, a.B_c}, (int)sizeof(T));
  return launch<fa1<T>>(dim3((unsigned)(a.batch * a.heads)), dim3(SCALAR_THREADS), shared, a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP32 ? run_type<float>(a) : dtype == DTYPE_FP16 ? run_type<fp16>(a) : run_type<bf16>(a);
}

extern const Rung FA1;
const Rung FA1 = {
    .number = 3,
    .name = "fa1",
    .title = "FlashAttention: outer loop over K, V",
    .oldest_sm = 75,
    .keeps_stats = true,
    .takes_fp32 = true,
    .default_block = scalar_default_block,
    .shared_bytes = scalar_shared_bytes,
    .run = run,
};

} // namespace TW_BUILD
