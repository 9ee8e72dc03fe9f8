/* What rungs 3, 4 and 5 share: tiles in shared memory and scalar arithmetic on them.
 *
 *     Q  B_r x d   K  B_c x d   V  B_c x d     in the data type, rows padded by one 32-bit word so that threads which
 *                                              read one column of consecutive rows hit different banks
 *     S  B_r x B_c   O  B_r x d   m, l, factor  B_r    in fp32
 *
 * Each product gives element e of its result to thread e modulo the block size, so an element of O belongs to the
 * same thread in every tile and needs no barrier. */
#ifndef TILEWALK_KERNELS_SCALAR_TILE_CUH
#define TILEWALK_KERNELS_SCALAR_TILE_CUH

#include "kernels/lib/operands.cuh"

namespace TW_BUILD {

enum { SCALAR_THREADS = 256 };

template <class T> struct ScalarTiles {
  T *Q, *K, *V;
  float *S, *O, *m, *l, *factor;
  int row; /* elements from one row of Q, K or V to the next */
};

static inline __host__ __device__ int scalar_row(int d, int element_bytes) {
  return element_bytes == 4 ? d + 1 : (d + 1) / 2 * 2 + 2;
}

static inline size_t scalar_shared_bytes(int d, Block b, int element_bytes) {
  const size_t r = (size_t)b.B_r, c = (size_t)b.B_c, row_bytes = (size_t)(scalar_row(d, element_bytes) * element_bytes);
  return (r + 2 * c) * row_bytes + (r * c + r * (size_t)d + 3 * r) * sizeof(float);
}

/* The largest of a few square blocks that fits 96 KiB, so that two share an SM of Ampere or Hopper. */
static inline Block scalar_default_block(int d, int element_bytes) {
  Block b = {64, 64};
  while (b.B_r > 8 && scalar_shared_bytes(d, b, element_bytes) > 96 * 1024) b.B_r = b.B_c = b.B_r / 2;
  return b;
}

template <class T> TW_DEVICE ScalarTiles<T> scalar_tiles(const Attention &a) {
  ScalarTiles<T> t;
  t.row = scalar_row(a.d, (int)sizeof(T));
  t.Q = (T *)shared_memory();
  t.K = t.Q + a.B_r * t.row;
  t.V = t.K + a.B_c * t.row;
  t.S = (float *)(t.V + a.B_c * t.row);
  t.O = t.S + a.B_r * a.B_c;
  t.m = t.O + a.B_r * a.d;
  t.l = t.m + a.B_r;
  t.factor = t.l + a.B_r;
  return t;
}

/* Rows [0, n_rows) of a tensor into shared memory. */
template <class T> TW_DEVICE void load_rows(const Attention &a, int tensor, T *to, int row, const T *from, int n_rows) {
  for (int e = (int)threadIdx.x; e < n_rows * a.d; e += SCALAR_THREADS)
    to[e / a.d * row + e % a.d] = hbm_read(a, tensor, &from[e]);
}

/* S = scale Q K^T, -infinity where masked. i0, j0: the tile's corner. */
template <class T>
TW_DEVICE void product_QK(const Attention &a, ScalarTiles<T> &t, int i0, int rows, int j0, int keys) {
  for (int e = (int)threadIdx.x; e < rows * keys; e += SCALAR_THREADS) {
    const int r = e / keys, c = e % keys;
    float s = 0;
    for (int k = 0; k < a.d; k++) s += to_float(t.Q[r * t.row + k]) * to_float(t.K[c * t.row + k]);
    t.S[r * a.B_c + c] = j0 + c < keys_seen(a, i0 + r) ? s * a.scale : minus_infinity();
  }
}

/* Per row, by one warp: the new m, P = e^(S - m) in place of S, l brought up to date, and the factor for O. Lane 0
 * alone reads and writes m, l and the factor. */
template <class T> TW_DEVICE void softmax_rows(const Attention &a, ScalarTiles<T> &t, int rows, int keys) {
  const int lane = (int)threadIdx.x % 32;
  for (int r = (int)threadIdx.x / 32; r < rows; r += SCALAR_THREADS / 32) {
    const float m_old = lane == 0 ? t.m[r] : minus_infinity();
    float top = m_old, sum = 0;
    for (int c = lane; c < keys; c += 32) top = fmaxf(top, t.S[r * a.B_c + c]);
    const float m_new = warp_max(top), zero = m_new == minus_infinity() ? 0 : m_new; /* no key seen yet */
    for (int c = lane; c < keys; c += 32) {
      t.S[r * a.B_c + c] = expf(t.S[r * a.B_c + c] - zero);
      sum += t.S[r * a.B_c + c];
    }
    sum = warp_sum(sum);
    if (lane != 0) continue;
    t.factor[r] = expf(m_old - zero);
    t.m[r] = m_new;
    t.l[r] = t.l[r] * t.factor[r] + sum;
  }
}

/* O = factor O + P V. */
template <class T> TW_DEVICE void product_PV(const Attention &a, ScalarTiles<T> &t, int rows, int keys) {
  for (int e = (int)threadIdx.x; e < rows * a.d; e += SCALAR_THREADS) {
    const int r = e / a.d, k = e % a.d;
    float o = t.O[e] * t.factor[r];
    for (int c = 0; c < keys; c++) o += t.S[r * a.B_c + c] * to_float(t.V[c * t.row + k]);
    t.O[e] = o;
  }
}

} // namespace TW_BUILD

#endif
