/* Rung 10: decode. One query a sequence, and keys by the ten thousand.
 *
 *     KV head h, its group of query heads:      split 0    split 1    split 2   a CTA for each split: it takes a tile
 *       query of head g       [ row 0 ]         | tiles ...|          |         of K, V at a time, 16 keys a warp; each
 *       query of head g + 1   [ row 1 ]  x  K_h |          |          |         warp has its own m, l, O and its own
 *       ...                   [  ...  ]         |          |          |         copies under way
 *     O = sum over splits of 2^(L_s - max L) O_s / sum of these weights            the combine kernel
 *
 * Teaches: with few queries the work is reading K and V, so two things matter. The query heads that share a KV head
 * are rows of one tile (row = query x group + head), so each key is read once, not once per query head. And the keys
 * are split among enough CTAs to fill the GPU; each leaves its O in fp32 and L, the log2 of its sum of exponentials.
 * Paged keys (fa2_decode_paged) lie in pages of page_keys keys of all KV heads, found by a table.
 *
 * Moves, per KV head and block of 16 packed rows, elements: reads 2 d (keys in tiles that its last row sees), and Q,
 * rows x d, in every split that sees a key. With one split it writes O. With n splits each writes rows x d fp32 of O
 * and rows fp32 of L; the combine kernel reads these and writes O. That is the fa2-split schedule over packed rows.
 * Paged: 4 bytes of the table for each 16 keys. Leaves to the next rung: nothing; K and V are read once, at the speed
 * of memory. */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/tensor_tile.cuh"

namespace TW_BUILD {

/* What the kernels are given: an attention, and where the splits leave their results. */
struct DecodePass : Attention {
  float *O_parts, *L_parts; /* [split][row of O][d]; [row of O][split] */
  const int *pages;         /* [batch][page of the sequence]: its number in K and V */
  int n_splits, page_keys;
};

/* For tensor_tile.cuh a tile is what a warp takes at once: 16 packed rows and 16 keys. */
template <class T_, int d_, bool PAGED_> struct DecodeTile {
  using T = T_;
  static constexpr int d = d_, B_r = 16, B_c = 16, SLABS = 1, WARPS = 4, THREADS = 32 * WARPS;
  static constexpr bool Q_STAYS = true, PAGED = PAGED_;
  static constexpr int KEYS = B_c * WARPS, ROW_BYTES = 2 * d, Q_BYTES = B_r * ROW_BYTES, KV_BYTES = B_c * ROW_BYTES;
  static constexpr int STAGES = 384 / d, WARP_BYTES = STAGES * 2 * KV_BYTES; /* 24 KiB a warp, two CTAs an SM */
  static constexpr int STATS_AT = Q_BYTES + WARPS * WARP_BYTES, SHARED_BYTES = STATS_AT + WARPS * B_r * 8;

  TW_DEVICE int at(int row, int piece) { return row * ROW_BYTES + ((piece ^ (row & 7)) << 4); }
  TW_DEVICE uint32_t step(uint32_t address, int k) { return address ^ (uint32_t)(k << 5); }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Packed row r is query r / group of head r % group: its row in O, counted over all heads of its KV head. */
TW_DEVICE long long row_of(const DecodePass &a, int r) {
  const int group = a.heads / a.kv_heads;
  return (long long)(r % group) * a.N_q + r / group;
}

/* The first of 16 keys: an offset in elements into K and V. */
template <class Tile> TW_DEVICE long long keys_at(const DecodePass &a, int kv, int key) {
  if (!Tile::PAGED) return ((long long)kv * a.N_k + key) * Tile::d;
  const int *entry = a.pages + (long long)(kv / a.kv_heads) * ((a.N_k + a.page_keys - 1) / a.page_keys);
  entry += key / a.page_keys;
  if (threadIdx.x % 32 == 0) count_read(a, KERNEL_PAGES, 4); /* all lanes read one number */
  return (((long long)*entry * a.kv_heads + kv % a.kv_heads) * a.page_keys + key % a.page_keys) * Tile::d;
}

/* Starts the copies of this warp's 16 keys of K and V; keys from N_k on become zeros. */
template <class Tile> TW_DEVICE void start_keys(const DecodePass &a, int kv, uint32_t to, int key) {
  constexpr int PIECES = Tile::d / 8, STEP = 32 / PIECES;
  const int row = (int)threadIdx.x % 32 / PIECES, piece = (int)threadIdx.x % PIECES;
  const long long from = key < a.N_k ? keys_at<Tile>(a, kv, key) + piece * 8 : 0;
  const typename Tile::T *K = (const typename Tile::T *)a.K + from, *V = (const typename Tile::T *)a.V + from;
#pragma unroll
  for (int r = row; r < Tile::B_c; r += STEP) {
    hbm_copy_16(a, KERNEL_K, to + (uint32_t)Tile::at(r, piece), K + r * Tile::d, key + r < a.N_k);
    hbm_copy_16(a, KERNEL_V, to + (uint32_t)(Tile::KV_BYTES + Tile::at(r, piece)), V + r * Tile::d, key + r < a.N_k);
  }
}

/* As mask_scores in tensor_tile.cuh, for packed rows. */
template <class Tile> TW_DEVICE void mask_packed(const DecodePass &a, WarpRows<Tile> &w, int first_row, int first_key) {
  for (int half = 0; half < 2; half++) {
    const int query = (first_row + (int)threadIdx.x % 32 / 4 + 8 * half) / (a.heads / a.kv_heads);
    const int seen = keys_seen(a, query) - first_key - (int)threadIdx.x % 4 * 2;
    for (int n = 0; n < Tile::B_c / 8; n++)
      for (int e = 0; e < 2; e++)
        if (8 * n + e >= seen) w.S[0][n][2 * half + e] = minus_infinity();
  }
}

/* Each warp leaves its O, m and l in shared memory, O in its own stages, which nobody needs any more. */
template <class Tile> TW_DEVICE void leave_warp(const WarpRows<Tile> &w) {
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  float *O = (float *)(shared_memory() + Tile::Q_BYTES + warp * Tile::WARP_BYTES);
  float *stats = (float *)(shared_memory() + Tile::STATS_AT) + warp * Tile::B_r * 2;
  ldmatrix_done();
  for (int half = 0; half < 2; half++) {
    float l = w.l[0][half];
    l += __shfl_xor_sync(0xffffffffu, l, 1);
    l += __shfl_xor_sync(0xffffffffu, l, 2);
    const int row = lane / 4 + 8 * half;
    if (lane % 4 == 0) stats[2 * row] = w.m[0][half], stats[2 * row + 1] = l;
#pragma unroll
    for (int n = 0; n < Tile::d / 8; n++)
      for (int e = 0; e < 2; e++) O[row * Tile::d + 8 * n + lane % 4 * 2 + e] = w.O[0][n][2 * half + e];
  }
}

/* The warps' results as one, W elements a thread; written as O with one split, else as this split's part. */
template <class Tile, int W>
TW_DEVICE void store_split(const DecodePass &a, long long first_row, int r0, int rows, int split) {
  constexpr int PIECES = Tile::d / W;
  const float *O = (const float *)(shared_memory() + Tile::Q_BYTES);
  const float *stats = (const float *)(shared_memory() + Tile::STATS_AT);
  const long long all_rows = (long long)a.batch * a.heads * a.N_q;
  for (int e = (int)threadIdx.x; e < rows * PIECES; e += Tile::THREADS) {
    const int r = e / PIECES, piece = e % PIECES;
    const long long row = first_row + row_of(a, r0 + r);
    float m = -3e38f, l = 0, x[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int w = 0; w < Tile::WARPS; w++) m = fmaxf(m, stats[2 * (w * Tile::B_r + r)]);
    for (int w = 0; w < Tile::WARPS; w++) {
      const float factor = exp2_approx(stats[2 * (w * Tile::B_r + r)] - m);
      l += factor * stats[2 * (w * Tile::B_r + r) + 1];
      for (int k = 0; k < W; k++) x[k] += factor * O[w * (Tile::WARP_BYTES / 4) + r * Tile::d + piece * W + k];
    }
    const float inverse = l == 0 ? 0 : 1 / l; /* a row that saw no key is zero */
    for (int k = 0; k < W; k++) x[k] *= inverse;
    if (W == 8) {
      hbm_write_16(a, KERNEL_O, (typename Tile::T *)a.O + row * Tile::d + piece * W, pack8<typename Tile::T>(x));
      continue;
    }
    hbm_write_16(a, KERNEL_O, a.O_parts + (split * all_rows + row) * Tile::d + piece * W, bits_of(x));
    if (piece == 0)
      hbm_write(a, KERNEL_STATS, &a.L_parts[row * a.n_splits + split], l == 0 ? minus_infinity() : m + log2f(l));
  }
}
#endif

template <class Tile> __global__ void __launch_bounds__(Tile::THREADS, 2) fa2_decode(const DecodePass a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const int split = (int)blockIdx.x, r0 = (int)blockIdx.y * Tile::B_r, kv = (int)blockIdx.z;
  const int group = a.heads / a.kv_heads, rows = smaller(Tile::B_r, a.N_q * group - r0);
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int T_c = (a.N_k + Tile::KEYS - 1) / Tile::KEYS, per_split = (T_c + a.n_splits - 1) / a.n_splits;
  const int T_seen = (keys_seen(a, (r0 + rows - 1) / group) + Tile::KEYS - 1) / Tile::KEYS;
  const int j_begin = split * per_split, j_end = smaller(j_begin + per_split, T_seen);
  const int full = keys_seen(a, r0 / group); /* keys below need no mask */
  const uint32_t Q_tile = shared_address(shared_memory()),
                 stages = Q_tile + (uint32_t)(Tile::Q_BYTES + warp * Tile::WARP_BYTES);
  const uint32_t q_row = Q_tile + (uint32_t)Tile::at(lane % 16, lane / 16);
  const uint32_t k_lane = lane_of_K<Tile>(), v_lane = lane_of_V<Tile>() + Tile::KV_BYTES;
  const float scale = a.scale * 1.4426950408889634f; /* log2 e: exponentials are powers of two */

  const auto stage_of = [&](int n) { return stages + (uint32_t)(n % Tile::STAGES * 2 * Tile::KV_BYTES); };
  const auto key_of = [&](int n) { return (j_begin + n) * Tile::KEYS + warp * Tile::B_c; };
  const auto start = [&](int n) {
    if (j_begin + n < j_end) start_keys<Tile>(a, kv, stage_of(n), key_of(n));
    cp_async_commit();
  };

  let_next_kernel_start();
  WarpRows<Tile> w;
  start_rows(w);
  if (j_begin < j_end) {
    const typename Tile::T *Q = (const typename Tile::T *)a.Q + (long long)kv * group * a.N_q * Tile::d;
    for (int e = (int)threadIdx.x; e < Tile::Q_BYTES / 16; e += Tile::THREADS) {
      const int r = e / (Tile::d / 8), piece = e % (Tile::d / 8);
      hbm_copy_16(a, KERNEL_Q, Q_tile + (uint32_t)Tile::at(r, piece), Q + row_of(a, r0 + r) * Tile::d + piece * 8,
                  r < rows);
    }
    cp_async_commit();
    for (int n = 0; n < Tile::STAGES - 1; n++) start(n);
    cp_async_wait<Tile::STAGES - 1>();
    __syncthreads(); /* Q has arrived for every thread */
    take_Q(w, q_row);
  }
  for (int n = 0; j_begin + n < j_end; n++) {
    cp_async_wait_warp<Tile::STAGES - 2>(); /* tile n is here, and no lane reads tile n - 1 any more */
    start(n + Tile::STAGES - 1);
    product_QK(w, q_row, stage_of(n) + k_lane);
    if (key_of(n) + Tile::B_c > full) mask_packed(a, w, r0, key_of(n));
    softmax_and_PV({}, w, scale, stage_of(n) + v_lane, n);
  }
  leave_warp(w);
  __syncthreads(); /* O, m and l of every warp are there */
  const long long first_row = (long long)kv * group * a.N_q;
  if (a.n_splits == 1)
    store_split<Tile, 8>(a, first_row, r0, rows, split);
  else
    store_split<Tile, 4>(a, first_row, r0, rows, split);
#endif
}

enum { COMBINE_THREADS = 128 };

/* One row of O a CTA: several splits at once, four elements a thread. */
template <class T, int d> __global__ void __launch_bounds__(COMBINE_THREADS) fa2_decode_combine(const DecodePass a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int PIECES = d / 4, AT_ONCE = COMBINE_THREADS / PIECES;
  const long long row = blockIdx.x, all_rows = (long long)a.batch * a.heads * a.N_q;
  const int piece = (int)threadIdx.x % PIECES, part = (int)threadIdx.x / PIECES;
  float *sums = (float *)shared_memory(), *totals = sums + AT_ONCE * d, *L = totals + AT_ONCE;
  wait_for_kernel_before();
  for (int s = (int)threadIdx.x; s < a.n_splits; s += COMBINE_THREADS)
    L[s] = hbm_read(a, KERNEL_STATS, &a.L_parts[row * a.n_splits + s]);
  __syncthreads(); /* L is complete */
  float top = -3e38f, total = 0, x[4] = {0, 0, 0, 0};
  for (int s = 0; s < a.n_splits; s++) top = fmaxf(top, L[s]);
#pragma unroll 4
  for (int s = part; s < a.n_splits; s += AT_ONCE) {
    const float weight = exp2_approx(L[s] - top);
    float y[4];
    floats_of(hbm_read_16(a, KERNEL_O, a.O_parts + (s * all_rows + row) * d + piece * 4), y);
    for (int k = 0; k < 4; k++) x[k] += weight * y[k];
    total += weight;
  }
  for (int k = 0; k < 4; k++) sums[part * d + piece * 4 + k] = x[k];
  if (piece == 0) totals[part] = total;
  __syncthreads(); /* sums and totals are complete */
  if ((int)threadIdx.x >= d / 8) return;
  float y[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  total = 0;
  for (int p = 0; p < AT_ONCE; p++) {
    total += totals[p];
    for (int k = 0; k < 8; k++) y[k] += sums[p * d + (int)threadIdx.x * 8 + k];
  }
  for (int k = 0; k < 8; k++) y[k] *= total == 0 ? 0 : 1 / total;
  hbm_write_16(a, KERNEL_O, (T *)a.O + row * d + (int)threadIdx.x * 8, pack8<T>(y));
#endif
}

template <class Tile> static bool run_tile(const Attention &a) {
  const int group = a.heads / a.kv_heads;
  DecodePass pass;
  static_cast<Attention &>(pass) = a;
  pass.O_parts = a.more->O_parts, pass.L_parts = a.more->L_parts;
  pass.pages = a.more->pages, pass.page_keys = a.more->page_keys, pass.n_splits = a.more->n_splits;
  const dim3 grid((unsigned)pass.n_splits, (unsigned)((a.N_q * group + Tile::B_r - 1) / Tile::B_r),
                  (unsigned)(a.batch * a.kv_heads));
  if (!launch<fa2_decode<Tile>>(grid, dim3(Tile::THREADS), Tile::SHARED_BYTES, pass)) return false;
  if (pass.n_splits == 1) return true;
  const size_t shared = (size_t)(16 * COMBINE_THREADS + 4 * (4 * COMBINE_THREADS / Tile::d + pass.n_splits));
  return launch_after<fa2_decode_combine<typename Tile::T, Tile::d>>(dim3((unsigned)(a.batch * a.heads * a.N_q)),
                                                                     dim3(COMBINE_THREADS), shared, pass);
}

template <bool PAGED> static bool run(const Attention &a, Dtype dtype) {
  if (a.B_r != 16 || a.B_c != 64 || (PAGED && (a.more->page_keys <= 0 || a.more->page_keys % 16))) return false;
  if (dtype == DTYPE_FP16 && a.d == 64) return run_tile<DecodeTile<fp16, 64, PAGED>>(a);
  if (dtype == DTYPE_FP16 && a.d == 128) return run_tile<DecodeTile<fp16, 128, PAGED>>(a);
  if (dtype == DTYPE_BF16 && a.d == 64) return run_tile<DecodeTile<bf16, 64, PAGED>>(a);
  return dtype == DTYPE_BF16 && a.d == 128 && run_tile<DecodeTile<bf16, 128, PAGED>>(a);
}

/* One CTA an SM reads fast enough, and fewer splits are combined sooner. Of the numbers of splits that fill the last
 * wave nearly as well as any, the fewest; none is empty. */
static int default_splits(const Attention &a, int n_sms) {
  const long long slots = n_sms, T_c = (a.N_k + 63) / 64;
  const long long units = (long long)a.batch * a.kv_heads * ((a.N_q * (a.heads / a.kv_heads) + 15) / 16);
  const auto filled = [&](long long n) {
    return (double)(units * n) / (double)((units * n + slots - 1) / slots * slots);
  };
  double best = 0;
  int n = 1;
  for (long long i = 1; i <= 128 && i <= T_c; i++)
    if (filled(i) > best * 1.05) best = filled(i), n = (int)i;
  const long long per_split = (T_c + n - 1) / n;
  return (int)((T_c + per_split - 1) / per_split);
}

/* The two fixed tiles; shared memory does not depend on B_r, B_c. */
static size_t shared_bytes(int d, Block, int) { return (size_t)(32 * d + 4 * (384 / d) * 64 * d + 512); }

extern const Rung FA2_DECODE, FA2_DECODE_PAGED;
const Rung FA2_DECODE = {
    .number = 10,
    .name = "fa2_decode",
    .title = "decode: split keys, packed heads",
    .oldest_sm = 80,
    .head_dims = {64, 128},
    .blocks = {{16, 64}},
    .shared_bytes = shared_bytes,
    .run = run<false>,
    .default_splits = default_splits,
};
const Rung FA2_DECODE_PAGED = {
    .number = 10,
    .name = "fa2_decode_paged",
    .title = "decode from paged keys",
    .oldest_sm = 80,
    .head_dims = {64, 128},
    .blocks = {{16, 64}},
    .shared_bytes = shared_bytes,
    .run = run<true>,
    .default_splits = default_splits,
    .pages_keys = true,
};

} // namespace TW_BUILD
