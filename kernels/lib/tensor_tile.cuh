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

#include "kernels/lib/operands.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

namespace TW_BUILD {

/* This lane's registers. l adds up the lane's own columns only; m is the row's, times scale (in powers of two). It
 * starts not at -infinity but at the lowest number, so that no difference of two maxima is a NaN. */
template <class Tile> struct WarpRows {
  uint32_t Q[Tile::SLABS][Tile::d / 16][4];
  float S[Tile::SLABS][Tile::B_c / 8][4], O[Tile::SLABS][Tile::d / 8][4];
  float m[Tile::SLABS][2], l[Tile::SLABS][2];
};

template <class Tile> TW_DEVICE void start_rows(WarpRows<Tile> &w) {
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++) {
    w.m[s][0] = w.m[s][1] = -3e38f;
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
template <class Tile> TW_DEVICE void product_QK(WarpRows<Tile> &w, uint32_t q_row, uint32_t k_row) {
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

/* Scores of keys that a row does not see become -infinity. first_row: the row of the lane's elements 0 and 1. */
template <class Tile> TW_DEVICE void mask_scores(const Attention &a, WarpRows<Tile> &w, int first_row, int first_key) {
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

/* New maxima m, and l rescaled to them. factor: by which O must be; true if one of the warp's is not 1. `half` is row
 * g or g + 8 of a slab. */
template <class Tile> TW_DEVICE bool new_maxima(WarpRows<Tile> &w, float (&factor)[Tile::SLABS][2], float scale) {
  bool grew = false;
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float top = minus_infinity();
#pragma unroll
      for (int n = 0; n < Tile::B_c / 8; n++) top = fmaxf(top, fmaxf(w.S[s][n][2 * half], w.S[s][n][2 * half + 1]));
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
      const float m_new = fmaxf(w.m[s][half], top * scale);
      grew |= m_new > w.m[s][half];
      factor[s][half] = exp2_approx(w.m[s][half] - m_new);
      w.m[s][half] = m_new;
      w.l[s][half] *= factor[s][half];
    }
  return __any_sync(0xffffffffu, grew);
}

template <class Tile> TW_DEVICE void rescale_O(WarpRows<Tile> &w, const float (&factor)[Tile::SLABS][2]) {
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int n = 0; n < Tile::d / 8; n++)
#pragma unroll
      for (int e = 0; e < 4; e++) w.O[s][n][e] *= factor[s][e / 2];
}

/* P = 2^(scale S - m), rounded and packed in pairs: rows g and g + 8 by left and right 8 keys of each 16. l += its
 * row sums, before rounding. */
template <class Tile>
TW_DEVICE void exponentials(WarpRows<Tile> &w, uint32_t (&P)[Tile::SLABS][Tile::B_c / 16][4], float scale) {
#pragma unroll
  for (int k = 0; k < Tile::B_c / 16; k++)
#pragma unroll
    for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const float *x = &w.S[s][2 * k + e / 2][e % 2 * 2];
        const float p0 = exp2_approx(x[0] * scale - w.m[s][e % 2]), p1 = exp2_approx(x[1] * scale - w.m[s][e % 2]);
        w.l[s][e % 2] += p0 + p1;
        P[s][k][e] = pack2<typename Tile::T>(p0, p1);
      }
}

/* O += P V. */
template <class Tile>
TW_DEVICE void product_PV(WarpRows<Tile> &w, const uint32_t (&P)[Tile::SLABS][Tile::B_c / 16][4], uint32_t v_row) {
#pragma unroll
  for (int k = 0; k < Tile::B_c / 16; k++)
#pragma unroll
    for (int n = 0; n < Tile::d / 16; n++) {
      uint32_t B[4];
      ldmatrix_x4_trans(B, Tile::step(v_row, n) + k * 16 * Tile::ROW_BYTES);
#pragma unroll
      for (int s = 0; s < Tile::SLABS; s++) {
        mma_m16n8k16<typename Tile::T>(w.O[s][2 * n], P[s][k], B[0], B[1]);
        mma_m16n8k16<typename Tile::T>(w.O[s][2 * n + 1], P[s][k], B[2], B[3]);
      }
    }
}

/* What happens between S and the end of a tile. Where the exponentials stand decides what the compiler can do: before
 * the branch around rescale_O they are finished, and S's registers free, when P V begins; after it they mingle with
 * P V. Measured on an H200, the first is faster at d = 128, where registers are short, the second at d = 64. j: which
 * tile, for its stamp. */
template <class Tile>
TW_DEVICE void softmax_and_PV(const Stamper &at, WarpRows<Tile> &w, float scale, uint32_t v_row, int j) {
  uint32_t P[Tile::SLABS][Tile::B_c / 16][4];
  float factor[Tile::SLABS][2];
  const bool grew = new_maxima(w, factor, scale);
  if (Tile::d >= 128) exponentials(w, P, scale);
  if (grew) rescale_O(w, factor);
  stamp(at, j, STAMP_SOFTMAX);
  if (Tile::d < 128) exponentials(w, P, scale);
  product_PV(w, P, v_row);
}

/* O / l, written once: through shared memory (the warp's own rows of Q, which nobody needs any more), so that each
 * lane writes 16 bytes of a row. */
template <class Tile>
TW_DEVICE void store_O(const Attention &a, typename Tile::T *to, uint32_t Q_tile, int i0, const WarpRows<Tile> &w) {
  constexpr int PIECES = Tile::d / 8;
  const int lane = (int)threadIdx.x % 32, warp_row = (int)threadIdx.x / 32 * 16 * Tile::SLABS;
  ldmatrix_done();
#pragma unroll
  for (int s = 0; s < Tile::SLABS; s++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float sum = w.l[s][half];
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      const float inverse = sum == 0 ? 0 : 1 / sum; /* a row that saw no key is zero */
#pragma unroll
      for (int n = 0; n < Tile::d / 8; n++)
        store_shared_4(Q_tile + (uint32_t)(Tile::at(warp_row + 16 * s + 8 * half + lane / 4, n) + lane % 4 * 4),
                       pack2<typename Tile::T>(w.O[s][n][2 * half] * inverse, w.O[s][n][2 * half + 1] * inverse));
    }
  __syncwarp();
#pragma unroll 4
  for (int e = lane; e < 16 * Tile::SLABS * PIECES; e += 32) {
    const int row = warp_row + e / PIECES, piece = e % PIECES;
    if (i0 + row >= a.N_q) break;
    hbm_write_16(a, KERNEL_O, to + (long long)(i0 + row) * Tile::d + piece * 8,
                 load_shared_16(Q_tile + (uint32_t)Tile::at(row, piece)));
  }
}

} // namespace TW_BUILD

#endif
#endif
