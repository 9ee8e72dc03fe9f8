/* What the two orders of the backward pass share (kernels/ladder/fa2_backward.cu, fa2_backward_twice.cu): products of
 * tiles in shared memory, and P and dS of one tile.
 *
 *     warps cut a product's result among them, D rows of warps down and 8 / D across; each takes 16 x 16 pieces:
 *         left   16 x 16 K    from [row][k], or turned from [k][row]
 *         right  16 K x 16    from [column][k], or from [k][column]
 *
 * ldmatrix turns what it reads if asked, so that Q, K, V, dO, P and dS serve as either operand as they lie. */
#ifndef TILEWALK_KERNELS_BACKWARD_TILE_CUH
#define TILEWALK_KERNELS_BACKWARD_TILE_CUH

#include "kernels/lib/operands.cuh"

namespace TW_BUILD {

struct BackwardPass : Attention {
  const void *dO;
  const float *L;
  void *dQ, *dK, *dV;
  float *stats, *dQ_sums; /* [head][row block][L, D][B_r], L in powers of two; [head][row block][16 x 8 piece][lane] */
};

/* WARPS warps; S is cut among S_DOWN rows of them, dQ among Q_DOWN, dK and dV among KV_DOWN. CTAS: wanted on an SM.
 * ROOMY: there is room for two of P and dS and three stages of rows, so that one barrier a tile will do. */
template <class T_, int d_, int B_r_, int B_c_, int WARPS_, int S_DOWN_, int KV_DOWN_, int Q_DOWN_, int CTAS_,
          bool ROOMY_>
struct BackwardTile {
  using T = T_;
  static constexpr int d = d_, B_r = B_r_, B_c = B_c_, WARPS = WARPS_, CTAS = CTAS_, THREADS = 32 * WARPS;
  static constexpr int S_DOWN = S_DOWN_, KV_DOWN = KV_DOWN_, Q_DOWN = Q_DOWN_;
  static constexpr bool ROOMY = ROOMY_;
  static constexpr int ROW = 2 * d, S_ROW = 2 * B_c; /* bytes */
  static constexpr int R_BYTES = B_r * ROW, C_BYTES = B_c * ROW, S_BYTES = B_r * S_ROW;
  static constexpr int STAGE_BYTES = 2 * R_BYTES + 8 * B_r, STAGES = ROOMY ? 3 : 2; /* Q, dO, then L and D */
  static constexpr int SCORES = ROOMY ? 2 : 1;                                      /* of P and dS */
  /* By columns: K, V, scores and stages. By rows: one stage, dS, and K and V twice. */
  static constexpr int COLUMNS_BYTES = 2 * C_BYTES + SCORES * 2 * S_BYTES + STAGES * STAGE_BYTES;
  static constexpr int ROWS_BYTES = 4 * C_BYTES + S_BYTES + STAGE_BYTES;
};

/* Swizzled as in rung 7: the 16-byte piece of a row of ROW bytes. */
template <int ROW> TW_DEVICE uint32_t at(int row, int piece) {
  return (uint32_t)(row * ROW + ((piece ^ (row & 7)) << 4));
}

TW_DEVICE int first_row_block(const Attention &a, int j0, int B_r) { /* that sees keys from j0 on */
  return a.causal ? larger(0, j0 + a.N_q - a.N_k) / B_r : 0;
}

/* k pieces of 16 columns to the right of an address whose column is a multiple of 64, or so far on within 64. */
TW_DEVICE uint32_t right_of(uint32_t address, int k) {
  return (address ^ (uint32_t)(k % 4 << 5)) + (uint32_t)(k / 4 * 128);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Where this lane begins to read 16 x 16 pieces of a matrix from (row, column) on: ALONG, for ldmatrix to give the left
 * operand as stored or the right one turned; else the left one turned or the right one as stored. */
template <int ROW, bool ALONG> TW_DEVICE uint32_t lane_at(int row, int column) {
  const int lane = (int)threadIdx.x % 32;
  if (ALONG) return at<ROW>(row + lane % 16, column / 8 + lane / 16);
  return at<ROW>(row + lane / 16 * 8 + lane % 8, column / 8 + lane / 8 % 2);
}

/* C += A B in a warp, of M x N x K pieces of 16. Matrices lie in shared memory, in rows of A_ROW and B_ROW bytes;
 * *_TURNED: what lies there is the operand's transpose (of B that is [k][n], as ldmatrix expects [n][k]). */
template <class T, int K, int A_ROW, bool A_TURNED, int B_ROW, bool B_TURNED, int M, int N2>
TW_DEVICE void product(float (&C)[M][N2][4], uint32_t A, uint32_t B) {
#pragma unroll
  for (int k = 0; k < K; k++) {
    uint32_t left[M][4];
#pragma unroll
    for (int m = 0; m < M; m++)
      if (A_TURNED)
        ldmatrix_x4_trans(left[m], right_of(A, m) + (uint32_t)(k * 16 * A_ROW));
      else
        ldmatrix_x4(left[m], right_of(A, k) + (uint32_t)(m * 16 * A_ROW));
#pragma unroll
    for (int n = 0; n < N2 / 2; n++) {
      uint32_t right[4];
      if (B_TURNED)
        ldmatrix_x4_trans(right, right_of(B, n) + (uint32_t)(k * 16 * B_ROW));
      else
        ldmatrix_x4(right, right_of(B, k) + (uint32_t)(n * 16 * B_ROW));
#pragma unroll
      for (int m = 0; m < M; m++) {
        mma_m16n8k16<T>(C[m][2 * n], left[m], right[0], right[1]);
        mma_m16n8k16<T>(C[m][2 * n + 1], left[m], right[2], right[3]);
      }
    }
  }
}

template <int M, int N2> TW_DEVICE void clear(float (&C)[M][N2][4]) {
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int n = 0; n < N2; n++) C[m][n][0] = C[m][n][1] = C[m][n][2] = C[m][n][3] = 0;
}

/* Starts the copy of a tile; rows from n_rows on become zeros. */
template <class Tile, int ROWS>
TW_DEVICE void start_tile(const Attention &a, int tensor, uint32_t to, const typename Tile::T *from, int n_rows) {
  constexpr int PIECES = Tile::d / 8, STEP = Tile::THREADS / PIECES;
  const int row = (int)threadIdx.x / PIECES, piece = (int)threadIdx.x % PIECES;
#pragma unroll
  for (int r = row; r < ROWS; r += STEP)
    hbm_copy_16(a, tensor, to + at<Tile::ROW>(r, piece), from + r * Tile::d + piece * 8, r < n_rows);
}

/* Row block i of a query head: Q, dO, L and D. */
template <class Tile> TW_DEVICE void start_rows(const BackwardPass &a, int head, int i, uint32_t to) {
  using T = typename Tile::T;
  const int i0 = i * Tile::B_r, T_r = (a.N_q + Tile::B_r - 1) / Tile::B_r;
  const long long row = (long long)head * a.N_q + i0;
  start_tile<Tile, Tile::B_r>(a, KERNEL_Q, to, (const T *)a.Q + row * Tile::d, a.N_q - i0);
  start_tile<Tile, Tile::B_r>(a, KERNEL_dO, to + Tile::R_BYTES, (const T *)a.dO + row * Tile::d, a.N_q - i0);
  const float *stats = a.stats + ((long long)head * T_r + i) * (2 * Tile::B_r);
  if ((int)threadIdx.x < Tile::B_r / 2)
    hbm_copy_16(a, KERNEL_STATS, to + 2 * Tile::R_BYTES + threadIdx.x * 16, stats + threadIdx.x * 4, true);
}

template <class Tile> TW_DEVICE void start_columns(const BackwardPass &a, int kv, int j0, uint32_t to) {
  using T = typename Tile::T;
  const long long from = ((long long)kv * a.N_k + j0) * Tile::d;
  start_tile<Tile, Tile::B_c>(a, KERNEL_K, to, (const T *)a.K + from, a.N_k - j0);
  start_tile<Tile, Tile::B_c>(a, KERNEL_V, to + Tile::C_BYTES, (const T *)a.V + from, a.N_k - j0);
}

/* P and dS of one tile into shared memory, rounded; without P_tile only dS. rows and columns: where Q, dO, L, D and K,
 * V lie. Where the mask cuts the tile, what a row does not see is 0. */
template <class Tile, bool WITH_P>
TW_DEVICE void store_P_dS(const BackwardPass &a, int i0, int j0, uint32_t rows, uint32_t columns, uint32_t P_tile,
                          uint32_t dS_tile) {
  using T = typename Tile::T;
  constexpr int ACROSS = Tile::WARPS / Tile::S_DOWN, M = Tile::B_r / 16 / Tile::S_DOWN, N2 = Tile::B_c / 8 / ACROSS;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int row0 = warp / ACROSS * M * 16, column0 = warp % ACROSS * N2 * 8;
  const uint32_t left = rows + lane_at<Tile::ROW, true>(row0, 0),
                 right = columns + lane_at<Tile::ROW, false>(column0, 0);
  const float *stats = (const float *)(shared_memory() + (rows + 2 * Tile::R_BYTES - shared_address(shared_memory())));
  const bool cut = j0 + Tile::B_c > keys_seen(a, i0);
  const float scale = a.scale * 1.4426950408889634f; /* log2 e: exponentials are powers of two */
  float S[M][N2][4], dP[M][N2][4];
  uint32_t P[M][N2][2];
  clear(S);
  product<T, Tile::d / 16, Tile::ROW, false, Tile::ROW, false>(S, left, right);
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = row0 + 16 * m + 8 * half + lane / 4;
      const int seen = cut ? keys_seen(a, i0 + row) - j0 - column0 - lane % 4 * 2 : Tile::B_c;
      const float L = stats[row];
#pragma unroll
      for (int n = 0; n < N2; n++) {
        float *x = &S[m][n][2 * half];
        for (int e = 0; e < 2; e++) x[e] = 8 * n + e >= seen ? 0 : exp2_approx(x[e] * scale - L);
        P[m][n][half] = pack2<T>(x[0], x[1]); /* kept as it is stored, in half the registers */
        if (WITH_P) store_shared_4(P_tile + at<Tile::S_ROW>(row, column0 / 8 + n) + lane % 4 * 4, P[m][n][half]);
      }
    }
  clear(dP);
  product<T, Tile::d / 16, Tile::ROW, false, Tile::ROW, false>(dP, left + Tile::R_BYTES, right + Tile::C_BYTES);
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = row0 + 16 * m + 8 * half + lane / 4;
      const float D = stats[Tile::B_r + row];
#pragma unroll
      for (int n = 0; n < N2; n++) {
        const float *y = &dP[m][n][2 * half], p0 = to_float(T{(uint16_t)P[m][n][half]});
        const float p1 = to_float(T{(uint16_t)(P[m][n][half] >> 16)});
        store_shared_4(dS_tile + at<Tile::S_ROW>(row, column0 / 8 + n) + lane % 4 * 4,
                       pack2<T>(p0 * (y[0] - D), p1 * (y[1] - D)));
      }
    }
}

/* This warp's share of factor x C to shared memory, then, once all are there, whole rows to memory. */
template <class Tile, int M, int N2>
TW_DEVICE void store_tile(const Attention &a, int tensor, const float (&C)[M][N2][4], int across, float factor,
                          uint32_t tile, void *to, int rows) {
  using T = typename Tile::T;
  constexpr int PIECES = Tile::d / 8;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int row0 = warp / across * M * 16, piece0 = warp % across * N2;
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int n = 0; n < N2; n++)
      for (int half = 0; half < 2; half++)
        store_shared_4(tile + at<Tile::ROW>(row0 + 16 * m + 8 * half + lane / 4, piece0 + n) + lane % 4 * 4,
                       pack2<T>(C[m][n][2 * half] * factor, C[m][n][2 * half + 1] * factor));
  __syncthreads(); /* the tile is complete */
  for (int e = (int)threadIdx.x; e < rows * PIECES; e += Tile::THREADS)
    hbm_write_16(a, tensor, (T *)to + e * 8, load_shared_16(tile + at<Tile::ROW>(e / PIECES, e % PIECES)));
}
#endif

/* L in powers of two and D of a row block, padded with rows that add nothing; and zeros, to which dQ will be added. */
template <class Tile, bool WITH_DQ>
__global__ void __launch_bounds__(Tile::THREADS) fa2_backward_prepare(const BackwardPass a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  using T = typename Tile::T;
  constexpr int LANES = Tile::d / 8; /* of a warp, for one row */
  const int i0 = (int)blockIdx.x * Tile::B_r, lane = (int)threadIdx.x % LANES;
  const long long row0 = (long long)blockIdx.y * a.N_q + i0, tile = (long long)blockIdx.y * gridDim.x + blockIdx.x;
  float *D = (float *)shared_memory();
  for (int r = (int)threadIdx.x / LANES; r < Tile::B_r; r += Tile::THREADS / LANES) {
    float sum = 0;
    if (i0 + r < a.N_q) {
      float o[8], g[8];
      floats_of_8<T>(hbm_read_16(a, KERNEL_O, (const T *)a.O + (row0 + r) * Tile::d + lane * 8), o);
      floats_of_8<T>(hbm_read_16(a, KERNEL_dO, (const T *)a.dO + (row0 + r) * Tile::d + lane * 8), g);
      for (int k = 0; k < 8; k++) sum += o[k] * g[k];
    }
    for (int lanes = LANES / 2; lanes; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (lane == 0) D[r] = sum;
  }
  __syncthreads(); /* D is complete */
  for (int r = (int)threadIdx.x; r < 2 * Tile::B_r; r += Tile::THREADS) {
    float x = r < Tile::B_r ? -minus_infinity() : D[r - Tile::B_r];
    if (i0 + r < a.N_q && r < Tile::B_r) x = hbm_read(a, KERNEL_STATS, a.L + row0 + r) * 1.4426950408889634f;
    hbm_write(a, KERNEL_STATS, a.stats + tile * (2 * Tile::B_r) + r, x);
  }
  for (int e = (int)threadIdx.x * 4; WITH_DQ && e < Tile::B_r * Tile::d; e += Tile::THREADS * 4)
    hbm_write_16(a, KERNEL_dQ, a.dQ_sums + tile * (Tile::B_r * Tile::d) + e, uint4{0, 0, 0, 0});
#endif
}

static inline BackwardPass backward_pass(const Attention &a) {
  BackwardPass pass;
  static_cast<Attention &>(pass) = a;
  pass.dO = a.more->dO, pass.L = a.more->L, pass.stats = a.more->stats, pass.dQ_sums = a.more->dQ_sums;
  pass.dQ = a.more->dQ, pass.dK = a.more->dK, pass.dV = a.more->dV;
  return pass;
}

/* Of kernels/ladder/fa2_backward.cu: D, then dK and dV, without dQ. */
bool backward_columns(const Attention &a, Dtype dtype);

/* Calls `call` with the tile for d, the fastest on an H100 of those tried; false if a.B_r, a.B_c are others. */
template <class T, class Call> static bool with_backward_tile(const Attention &a, const Call &call) {
  if (a.d == 128) return a.B_r == 64 && a.B_c == 128 && call(BackwardTile<T, 128, 64, 128, 8, 2, 4, 2, 1, true>());
  return a.d == 64 && a.B_r == 64 && a.B_c == 64 && call(BackwardTile<T, 64, 64, 64, 4, 2, 2, 2, 3, false>());
}

static inline Block backward_block(int d, int) { return d == 64 ? Block{64, 64} : Block{64, 128}; }

/* What the kernel that walks column blocks needs. */
static inline size_t backward_columns_bytes(int d, Block b) {
  const int roomy = d == 128; /* as above */
  return (size_t)(4 * d * b.B_c + (1 + roomy) * 4 * b.B_r * b.B_c + (2 + roomy) * (4 * d * b.B_r + 8 * b.B_r));
}

} // namespace TW_BUILD

#endif
