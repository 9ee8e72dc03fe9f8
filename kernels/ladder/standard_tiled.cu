/* Rung 2: standard attention with tiled products, as eager frameworks run it.
 *
 *          B_c = 64 columns            a block of 256 threads computes one 64 x 64 tile of S (or of O);
 *         +--------+                   it walks the inner dimension 16 at a time, both operands in shared
 *     64  |        |                   memory; each thread keeps 4 x 4 sums in registers: 4 rows by columns x,
 *         +--------+                   x + 16, x + 32, x + 48, so that 16 threads write whole 32-byte sectors
 *
 * Teaches: tiling. Each row of Q is read once per tile of 64 keys instead of once per key, so the products move 64
 * times less than in rung 1. S and P still go through HBM, and that is now most of what moves.
 *
 * Moves, per head, elements:
 *     reads   Q: ceil(N_k/64) N_q d   K: ceil(N_q/64) N_k d   V: ceil(N_q/64) N_k d   S: 2 N_q N_k
 *             P: ceil(d/64) N_q N_k
 *     writes  S: N_q N_k              P: N_q N_k              O: N_q d
 * The softmax finds maximum and sum in one walk (online softmax) and reads S once more to write P: one reading of S
 * more than the `standard` schedule, which counts each matrix once per pass.
 * Leaves to the next rung: not writing S and P at all. */
#include "kernels/lib/operands.cuh"

namespace TW_BUILD {

enum { TILE = 64, DEPTH = 16, PAD = 4 };

struct TileShared {
  float A[DEPTH][TILE + PAD], B[DEPTH][TILE + PAD]; /* A transposed, so that both are read along rows */
};

/* 64 rows of A times 64 columns of B, or rows of B when those are given (K: S = Q K^T). rows and columns are what is
 * left of the matrices from the tile's corner on; beyond, and beyond `depth`, there are zeros. */
template <bool ROWS_OF_B, class T>
TW_DEVICE void tile_product(const Attention &a, float (&sum)[4][4], int tensor_A, const T *A, int lda, int tensor_B,
                            const T *B, int ldb, int rows, int columns, int depth) {
  TileShared &tile = *(TileShared *)shared_memory();
  const int thread = (int)threadIdx.x, x = thread % 16, y = thread / 16;
  for (int k0 = 0; k0 < depth; k0 += DEPTH) {
    __syncthreads(); /* every thread is done with the previous slice */
    for (int e = thread; e < TILE * DEPTH; e += 256) {
      const int r = e / DEPTH, k = e % DEPTH;
      const bool inside = r < rows && k0 + k < depth;
      tile.A[k][r] = inside ? to_float(hbm_read(a, tensor_A, &A[(long long)r * lda + k0 + k])) : 0;
    }
    for (int e = thread; e < TILE * DEPTH; e += 256) {
      const int c = ROWS_OF_B ? e / DEPTH : e % TILE, k = ROWS_OF_B ? e % DEPTH : e / TILE;
      const bool inside = c < columns && k0 + k < depth;
      const long long at = ROWS_OF_B ? (long long)c * ldb + k0 + k : (long long)(k0 + k) * ldb + c;
      tile.B[k][c] = inside ? to_float(hbm_read(a, tensor_B, &B[at])) : 0;
    }
    __syncthreads(); /* the slice is complete */
    for (int k = 0; k < DEPTH; k++)
      for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) sum[r][c] += tile.A[k][4 * y + r] * tile.B[k][x + 16 * c];
  }
}

/* Pass 1. Grid: key tiles, query tiles, heads. */
template <class T> __global__ void __launch_bounds__(256) tiled_scores(const Attention a) {
  const int i0 = (int)blockIdx.y * TILE, j0 = (int)blockIdx.x * TILE;
  const Head<T> h = head_of<T>(a, (int)blockIdx.z);
  float sum[4][4] = {};
  tile_product<true>(a, sum, KERNEL_Q, h.Q + (long long)i0 * a.d, a.d, KERNEL_K, h.K + (long long)j0 * a.d, a.d,
                     a.N_q - i0, a.N_k - j0, a.d);
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++) {
      const int i = i0 + (int)threadIdx.x / 16 * 4 + r, j = j0 + (int)threadIdx.x % 16 + 16 * c;
      if (i >= a.N_q || j >= a.N_k) continue;
      hbm_write(a, KERNEL_S, &h.S[(long long)i * a.N_k + j],
                j < keys_seen(a, i) ? sum[r][c] * a.scale : minus_infinity());
    }
}

/* Pass 2. One warp per row: maximum and sum together, then the quotients. */
template <class T> __global__ void tiled_softmax(const Attention a) {
  const int i = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), lane = (int)threadIdx.x % 32;
  if (i >= a.N_q) return;
  const Head<T> h = head_of<T>(a, (int)blockIdx.z);
  const T *S = h.S + (long long)i * a.N_k;
  float m = minus_infinity(), l = 0;
  for (int j = lane; j < a.N_k; j += 32) {
    const float s = to_float(hbm_read(a, KERNEL_S, &S[j])), m_new = fmaxf(m, s);
    if (m_new == minus_infinity()) continue;
    l = l * expf(m - m_new) + expf(s - m_new);
    m = m_new;
  }
  const float m_row = warp_max(m), top = m_row == minus_infinity() ? 0 : m_row;
  l = warp_sum(l * expf(m - top));
  for (int j = lane; j < a.N_k; j += 32) {
    const float s = to_float(hbm_read(a, KERNEL_S, &S[j]));
    hbm_write(a, KERNEL_P, &h.P[(long long)i * a.N_k + j], l == 0 ? 0 : expf(s - top) / l);
  }
}

/* Pass 3. Grid: tiles of d, query tiles, heads. */
template <class T> __global__ void __launch_bounds__(256) tiled_values(const Attention a) {
  const int i0 = (int)blockIdx.y * TILE, k0 = (int)blockIdx.x * TILE;
  const Head<T> h = head_of<T>(a, (int)blockIdx.z);
  float sum[4][4] = {};
  tile_product<false>(a, sum, KERNEL_P, h.P + (long long)i0 * a.N_k, a.N_k, KERNEL_V, h.V + k0, a.d, a.N_q - i0,
                      a.d - k0, a.N_k);
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++) {
      const int i = i0 + (int)threadIdx.x / 16 * 4 + r, k = k0 + (int)threadIdx.x % 16 + 16 * c;
      if (i < a.N_q && k < a.d) hbm_write(a, KERNEL_O, &h.O[(long long)i * a.d + k], sum[r][c]);
    }
}

template <class T> static bool run_type(const Attention &a) {
  const unsigned heads = (unsigned)(a.batch * a.heads), rows = (unsigned)(a.N_q + TILE - 1) / TILE;
  const size_t shared = sizeof(TileShared);
  return launch<tiled_scores<T>>(dim3((unsigned)(a.N_k + TILE - 1) / TILE, rows, heads), dim3(256), shared, a) &&
         launch<tiled_softmax<T>>(dim3((unsigned)(a.N_q + 7) / 8, 1, heads), dim3(256), 0, a) &&
         launch<tiled_values<T>>(dim3((unsigned)(a.d + TILE - 1) / TILE, rows, heads), dim3(256), shared, a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP32 ? run_type<float>(a) : dtype == DTYPE_FP16 ? run_type<fp16>(a) : run_type<bf16>(a);
}

static size_t shared_bytes(int, Block, int) { return sizeof(TileShared); }

extern const Rung STANDARD_TILED;
const Rung STANDARD_TILED = {
    .number = 2,
    .name = "standard_tiled",
    .title = "standard attention, tiled products",
    .oldest_sm = 75,
    .keeps_scores = true,
    .takes_fp32 = true,
    .blocks = {{TILE, TILE}},
    .shared_bytes = shared_bytes,
    .run = run,
};

} // namespace TW_BUILD
