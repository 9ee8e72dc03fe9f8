/* What rungs 6 and 7 share: attention on one warp's rows in the registers that mma.m16n8k16 leaves its results in.
 *
 *     columns        2t 2t+1           A warp takes SLABS slabs of 16 rows. Of each 16 x 8 piece of S or O lane 4 g + t
 *     row g        [ 0   1 ]           holds elements 0, 1 of row g and 2, 3 of row g + 8 (PTX ISA, mma.m16n8k16). Four
 *     row g + 8    [ 2   3 ]           lanes share a row, so a row's maximum and sum take two shuffles.
 *
 * The same registers, rounded and packed in pairs, are the left operand of the next product: P never leaves them.
 *
 * A Tile names the type T, d, B_r, B_c, WARPS, SLABS, ROW_BYTES, whether Q stays in registers, and where things
 * lie in shared memory: at(row, piece) is the offset of 16-byte piece `piece` of a row, step(address, k) the
 * address 2 k pieces to its right. */
#ifndef TILEWALK_KERNELS_TENSOR_TILE_CUH
#define TILEWALK_KERNELS_TENSOR_TILE_CUH

#include "kernels/attention.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

namespace TW_BUILD {

/* This lane's registers. l adds up the lane's own columns only; m is the row's. */
template <class Tile> struct WarpRows {
  uint32_t Q[Tile::SLABS][Tile::d / 16][4];
  float S[Tile::SLABS][Tile::B_c / 8][4], O[Tile::SLABS][Tile::d / 8][4];
  float m[Tile::SLABS][2], l[Tile::SLABS][2];
};

template <class Tile> TW_DEVICE void start_rows(WarpRows<Tile> &w) {
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++) {
    w.m[s][0] = w.m[s][1] = minus_infinity();
    w.l[s][0] = w.l[s][1] = 0;
#pragma unroll
    for (int n = 0; n < Tile::d / 8; n++) w.O[s][n][0] = w.O[s][n][1] = w.O[s][n][2] = w.O[s][n][3] = 0;
  }
}

/* Offsets from which this lane reads its row of 8 x 8 pieces: of Q, two of 8 rows by two along d; of K, two of 8 keys
 * by two along d; of V, two along the keys by two along d, to be transposed. */
template <class Tile> TW_DEVICE uint32_t lane_of_Q() {
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  return (uint32_t)Tile::at(warp * 16 * Tile::SLABS + lane % 16, lane / 16);
}
template <class Tile> TW_DEVICE uint32_t lane_of_K() {
  const int lane = (int)threadIdx.x % 32;
  return (uint32_t)Tile::at(lane / 16 * 8 + lane % 8, lane / 8 % 2);
}
template <class Tile> TW_DEVICE uint32_t lane_of_V() {
  const int lane = (int)threadIdx.x % 32;
  return (uint32_t)Tile::at(lane % 16, lane / 16);
}

template <class Tile> TW_DEVICE void take_Q(WarpRows<Tile> &w, uint32_t q_row) {
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int k = 0; k < Tile::d / 16; k++) ldmatrix_x4(w.Q[s][k], Tile::step(q_row, k) + s * 16 * Tile::ROW_BYTES);
}

/* S = Q K^T for this warp's rows. q_row and k_row: the address from which this lane reads. */
template <class Tile>
TW_DEVICE void product_QK(WarpRows<Tile> &w, uint32_t q_row, uint32_t k_row) {
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int n = 0; n < Tile::B_c / 8; n++)
#pragma unroll
      for (int e = 0; e < 4; e++) w.S[s][n][e] = 0;
#pragma unroll
  for (int k = 0; k < Tile::d / 16; k++) {
    uint32_t A[Tile::SLABS][4];
#pragma unroll
    for (int s = 0; s < Tile::SLABS; s++) {
      if (!Tile::Q_STAYS) ldmatrix_x4(A[s], Tile::step(q_row, k) + s * 16 * Tile::ROW_BYTES);
#pragma unroll
      for (int e = 0; e < 4 && Tile::Q_STAYS; e++) A[s][e] = w.Q[s][k][e];
    }
#pragma unroll
    for (int n = 0; n < Tile::B_c / 16; n++) {
      uint32_t B[4];
      ldmatrix_x4(B, Tile::step(k_row, k) + n * 16 * Tile::ROW_BYTES);
#pragma unroll
      for (int s = 0; s < Tile::SLABS; s++) {
        mma_m16n8k16<typename Tile::T>(w.S[s][2 * n], A[s], B[0], B[1]);
        mma_m16n8k16<typename Tile::T>(w.S[s][2 * n + 1], A[s], B[2], B[3]);
      }
    }
  }
}

/* O += P V, P taken from the registers where S was. */
template <class Tile>
TW_DEVICE void product_PV(WarpRows<Tile> &w, uint32_t v_row) {
  using T = typename Tile::T;
#pragma unroll
  for (int k = 0; k < Tile::B_c / 16; k++) {
    uint32_t A[Tile::SLABS][4];
#pragma unroll
    for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
      for (int e = 0; e < 4; e++) A[s][e] = pack2<T>(w.S[s][2 * k + e / 2][e % 2 * 2], w.S[s][2 * k + e / 2][e % 2 * 2 + 1]);
#pragma unroll
    for (int n = 0; n < Tile::d / 16; n++) {
      uint32_t B[4];
      ldmatrix_x4_trans(B, Tile::step(v_row, n) + k * 16 * Tile::ROW_BYTES);
#pragma unroll
      for (int s = 0; s < Tile::SLABS; s++) {
        mma_m16n8k16<T>(w.O[s][2 * n], A[s], B[0], B[1]);
        mma_m16n8k16<T>(w.O[s][2 * n + 1], A[s], B[2], B[3]);
      }
    }
  }
}

/* Scores of keys that a row does not see become -infinity. first_row: the row of the lane's elements 0 and 1. */
template <class Tile>
TW_DEVICE void mask_scores(const Attention &a, WarpRows<Tile> &w, int first_row, int first_key) {
  const int key = (int)threadIdx.x % 4 * 2;
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int seen = keys_seen(a, first_row + 16 * s + 8 * half) - first_key - key;
#pragma unroll
      for (int n = 0; n < Tile::B_c / 8; n++)
#pragma unroll
        for (int e = 0; e < 2; e++)
          if (8 * n + e >= seen) w.S[s][n][2 * half + e] = minus_infinity();
    }
}

/* New maxima m, P = 2^(scale (S - m)) in place of S, row sums l, and O rescaled if a maximum of the warp's rows grew
 * (if none did, all factors are 1). `half` is row g or g + 8 of a slab. */
template <class Tile, bool MASKED>
TW_DEVICE void online_softmax(WarpRows<Tile> &w, float scale) {
  float factor[Tile::SLABS][2], top[Tile::SLABS][2];
  bool grew = false;
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float m_new = w.m[s][half];
#pragma unroll
      for (int n = 0; n < Tile::B_c / 8; n++) m_new = fmaxf(m_new, fmaxf(w.S[s][n][2 * half], w.S[s][n][2 * half + 1]));
      m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffffu, m_new, 1));
      m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffffu, m_new, 2));
      grew |= m_new > w.m[s][half];
      top[s][half] = MASKED && m_new == minus_infinity() ? 0 : m_new * scale; /* a row that saw no key yet */
      factor[s][half] = exp2_approx(w.m[s][half] * scale - top[s][half]);
      w.m[s][half] = m_new;
    }
  if (__any_sync(0xffffffffu, grew)) {
#pragma unroll
    for (int s = 0; s < Tile::SLABS; s++) {
#pragma unroll
      for (int half = 0; half < 2; half++) w.l[s][half] *= factor[s][half];
#pragma unroll
      for (int n = 0; n < Tile::d / 8; n++)
#pragma unroll
        for (int e = 0; e < 4; e++) w.O[s][n][e] *= factor[s][e / 2];
    }
  }
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int n = 0; n < Tile::B_c / 8; n++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        w.S[s][n][e] = exp2_approx(w.S[s][n][e] * scale - top[s][e / 2]);
        w.l[s][e / 2] += w.S[s][n][e];
      }
}

/* O / l, written once. Row g of a slab is in elements 0 and 1, row g + 8 in 2 and 3. */
template <class Tile>
TW_DEVICE void store_O(const Attention &a, typename Tile::T *to, int first_row, const WarpRows<Tile> &w) {
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float sum = w.l[s][half];
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      const float inverse = sum == 0 ? 0 : 1 / sum;
      const int row = first_row + 16 * s + 8 * half;
      if (row >= a.N_q) continue;
      typename Tile::T *out = to + (long long)row * Tile::d + (int)threadIdx.x % 4 * 2;
#pragma unroll
      for (int n = 0; n < Tile::d / 8; n++)
        hbm_write_pair(a, TENSOR_O, out + 8 * n,
                       pack2<typename Tile::T>(w.O[s][n][2 * half] * inverse, w.O[s][n][2 * half + 1] * inverse));
    }
}

} // namespace TW_BUILD

#endif
#endif
