/* Rung 11 with Hopper's instructions: the backward pass by TMA and wgmma.
 *
 *     for each column block j: a CTA; K_j and V_j stay
 *       producer      dO_i and Q_i of each row block that sees it, into a ring
 *       2 consumers   64 keys each; a row is a key, a column a query:
 *         S^T = K_j Q_i^T      P^T = e^(S^T - L_i)
 *         dP^T = V_j dO_i^T    dS^T = P^T * (dP^T - D_i)
 *         dV_j += P^T dO_i     dK_j += dS^T Q_i             P^T and dS^T are operands as they lie in registers
 *         dQ_i += dS_i K_j                                  dS through shared memory: it takes all 128 keys
 *
 * Teaches: turned round, a warpgroup needs no other's P or dS but for dQ, and four of the five products wait for
 * nothing that was just stored. wgmma reads operands by columns as well as by rows, so dS^T serves as dS. TMA adds a
 * tile of dQ to the sums in memory: one instruction for 16 KiB.
 *
 * Moves what fa2_backward moves, with other blocks: 64 rows by 128 keys at d = 128, 128 by 128 at d = 64. */
// Compiled for sm_90a alone: wgmma and setmaxnreg.
#include "kernels/lib/backward_tile.cuh"
#include "kernels/lib/wgmma_tile.cuh"

namespace TW_BUILD {

enum { OWN_BARRIER = 1, BOTH_BARRIER = 3 }; /* named barriers: one for each consumer, and one for both */

template <class T_, int d_> struct BackwardWgmma {
  using T = T_;
  static constexpr int d = d_, CONSUMERS = 2, B_r = d == 64 ? 128 : 64, B_c = 64 * CONSUMERS, HALVES = d / BOX_COLUMNS;
  static constexpr int THREADS = 128 * (1 + CONSUMERS), ROW = 2 * d;
  static constexpr int SLOTS = 4, KV_BYTES = B_r * d * 2; /* of the ring, which holds dO and Q in turn */
  static constexpr int C_BYTES = B_c * d * 2, dS_BYTES = B_r * B_c * 2, dQ_BYTES = B_r * d * 4 / CONSUMERS;
  static constexpr int STATS_BYTES = 8 * B_r;
  static constexpr int SHARED_BYTES =
      2 * C_BYTES + SLOTS * KV_BYTES + 2 * dS_BYTES + CONSUMERS * dQ_BYTES + 2 * STATS_BYTES + 128;
};

/* For fa2_backward_prepare. */
template <class Tile> struct Prepared : Tile { static constexpr int THREADS = 256; };

struct BackwardCall {
  BackwardPass a;
  TensorMap Q, K, V, dO, dK, dV;
};

template <class Tile> struct BackwardPlaces {
  Ring<Tile> r;
  uint32_t K, V, dS, dQ, stats, columns_full, stats_full; /* dS, stats: two in turn */
};
template <class Tile> TW_DEVICE BackwardPlaces<Tile> backward_places() {
  BackwardPlaces<Tile> s;
  s.K = shared_address(shared_memory());
  s.V = s.K + Tile::C_BYTES;
  s.dS = s.V + Tile::C_BYTES + Tile::SLOTS * Tile::KV_BYTES;
  s.dQ = s.dS + 2 * Tile::dS_BYTES;
  s.stats = s.dQ + Tile::CONSUMERS * Tile::dQ_BYTES;
  s.columns_full = s.stats + 2 * Tile::STATS_BYTES + 16 * Tile::SLOTS;
  s.stats_full = s.columns_full + 8;
  s.r = {s.V + Tile::C_BYTES, s.stats + 2 * Tile::STATS_BYTES};
  return s;
}

/* The row blocks that a column block takes: those from `first` on, of each query head of its group. */
struct RowBlocks {
  int j0, kv, group, first, T_r, n;
};
template <class Tile> TW_DEVICE RowBlocks row_blocks(const Attention &a) {
  RowBlocks b;
  b.j0 = (int)blockIdx.x * Tile::B_c;
  b.kv = (int)blockIdx.y;
  b.group = a.heads / a.kv_heads;
  b.T_r = (a.N_q + Tile::B_r - 1) / Tile::B_r;
  b.first = first_row_block(a, b.j0, Tile::B_r);
  b.n = b.group * larger(0, b.T_r - b.first);
  return b;
}

/* One thread: K and V, then dO and Q of each row block. */
template <class Tile> TW_DEVICE void copy_tiles(const BackwardCall &c, const BackwardPlaces<Tile> &s) {
  const BackwardPass &a = c.a;
  const RowBlocks b = row_blocks<Tile>(a);
  mbarrier_arrive_expect(s.columns_full, 2 * Tile::C_BYTES);
  hbm_tma_load<Tile::HALVES>(a, KERNEL_K, s.K, &c.K, s.columns_full, Tile::B_c, b.j0, a.N_k, b.kv);
  hbm_tma_load<Tile::HALVES>(a, KERNEL_V, s.V, &c.V, s.columns_full, Tile::B_c, b.j0, a.N_k, b.kv);
  const Stamper at = stamper(a, 0);
  int head = b.kv * b.group, i = b.first;
  for (int n = 0; n < b.n; n++) {
    const int g = 2 * n, q = 2 * n + 1; /* slots; dO's is empty first */
    stamp(at, n, STAMP_ASKS_FIRST);
    mbarrier_wait(empty(s.r, g), parity(s.r, g) ^ 1);
    mbarrier_arrive_expect(full(s.r, g), Tile::KV_BYTES);
    hbm_tma_load<Tile::HALVES>(a, KERNEL_dO, slot(s.r, g), &c.dO, full(s.r, g), Tile::B_r, i * Tile::B_r, a.N_q, head);
    stamp(at, n, STAMP_ISSUED_FIRST);
    stamp(at, n, STAMP_ASKS_SECOND);
    mbarrier_wait(empty(s.r, q), parity(s.r, q) ^ 1);
    mbarrier_arrive_expect(full(s.r, q), Tile::KV_BYTES);
    hbm_tma_load<Tile::HALVES>(a, KERNEL_Q, slot(s.r, q), &c.Q, full(s.r, q), Tile::B_r, i * Tile::B_r, a.N_q, head);
    stamp(at, n, STAMP_ISSUED_SECOND);
    if (++i == b.T_r) i = b.first, head++;
  }
}

/* L and D of row block number n, by a consumer: all have read those of n - 2. One thread. */
template <class Tile>
TW_DEVICE void copy_stats(const BackwardPass &a, const BackwardPlaces<Tile> &s, const RowBlocks &b, int n) {
  if (n >= b.n) return;
  const int per_head = b.T_r - b.first, head = b.kv * b.group + n / per_head, i = b.first + n % per_head;
  const uint32_t full = s.stats_full + (uint32_t)(n % 2 * 8);
  mbarrier_arrive_expect(full, Tile::STATS_BYTES);
  count_read(a, KERNEL_STATS, Tile::STATS_BYTES);
  bulk_load(s.stats + (uint32_t)(n % 2 * Tile::STATS_BYTES), a.stats + ((long long)head * b.T_r + i) * (2 * Tile::B_r),
            Tile::STATS_BYTES, full);
}

/* Starts C = A B^T: 64 rows of a tile of B_c rows by a tile of B_r. */
template <class Tile> TW_DEVICE void start_scores(float (&C)[Tile::B_r / 2], uint32_t a, uint32_t b) {
  using T = typename Tile::T;
  const uint64_t A = wgmma_matrix(a, 0), B = wgmma_matrix(b, 0);
#pragma unroll
  for (int step = 0; step < Tile::d / 16; step++) {
    const uint64_t A_step = A + (uint64_t)(step / 4 * (Tile::B_c * BOX_ROW_BYTES / 16) + step % 4 * 2);
    const uint64_t B_step = B + (uint64_t)(step / 4 * (Tile::B_r * BOX_ROW_BYTES / 16) + step % 4 * 2);
    if constexpr (Tile::B_r == 64) {
      if (step == 0)
        wgmma_n64<T, false>(C, A_step, B_step);
      else
        wgmma_n64<T, true>(C, A_step, B_step);
    } else {
      if (step == 0)
        wgmma_n128<T, false>(C, A_step, B_step);
      else
        wgmma_n128<T, true>(C, A_step, B_step);
    }
  }
}

/* Starts C += A B, A in registers (64 keys by B_r rows), B a tile of B_r rows. */
template <class Tile>
TW_DEVICE void start_sum(float (&C)[Tile::d / 2], const uint32_t (&A)[Tile::B_r / 16][4], uint32_t b) {
  const uint64_t B = wgmma_matrix(b, Tile::B_r * BOX_ROW_BYTES);
#pragma unroll
  for (int step = 0; step < Tile::B_r / 16; step++)
    wgmma_rows<typename Tile::T>(C, A[step], B + (uint64_t)(step * BOX_ROW_BYTES));
}

/* Starts this consumer's part of dQ = dS K, 64 x 64: of 64 columns at d = 128, of 64 rows at d = 64. */
template <class Tile> TW_DEVICE void start_dQ(float (&dQ)[32], uint32_t dS, uint32_t K, int consumer) {
  using T = typename Tile::T;
  const uint32_t half = (uint32_t)(consumer * Tile::B_c * BOX_ROW_BYTES);
  const uint64_t A = wgmma_matrix(Tile::d == 64 ? dS + half : dS, 0), B = wgmma_matrix(Tile::d == 64 ? K : K + half, 0);
#pragma unroll
  for (int step = 0; step < Tile::B_c / 16; step++)
    if (step == 0)
      wgmma_turned<T, false>(dQ, A, B);
    else
      wgmma_turned<T, true>(dQ, A + (uint64_t)(step * BOX_ROW_BYTES), B + (uint64_t)(step * BOX_ROW_BYTES));
}

/* Scores become -infinity where a query (a column, the first i0) does not see a key (a row, this thread's first). */
template <class Tile> TW_DEVICE void mask_turned(const Attention &a, float (&S)[Tile::B_r / 2], int key, int i0) {
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int row = key + 8 * half;
    const int first = row >= a.N_k ? 1 << 30 : a.causal ? row - (a.N_k - a.N_q) : 0;
    const int unseen = first - i0 - (int)threadIdx.x % 4 * 2;
#pragma unroll
    for (int n = 0; n < Tile::B_r / 8; n++)
#pragma unroll
      for (int e = 0; e < 2; e++)
        if (8 * n + e < unseen) S[4 * n + 2 * half + e] = minus_infinity();
  }
}

/* Packed in pairs, as wgmma_rows takes them. */
template <class Tile> TW_DEVICE void round_turned(const float (&S)[Tile::B_r / 2], uint32_t (&P)[Tile::B_r / 16][4]) {
#pragma unroll
  for (int k = 0; k < Tile::B_r / 16; k++)
#pragma unroll
    for (int e = 0; e < 4; e++) P[k][e] = pack2<typename Tile::T>(S[8 * k + 2 * e], S[8 * k + 2 * e + 1]);
}

/* S = 2^(scale S - L), column by column. */
template <class Tile> TW_DEVICE void exponentials(float (&S)[Tile::B_r / 2], float scale, uint32_t L_place) {
#pragma unroll
  for (int n = 0; n < Tile::B_r / 8; n++) {
    float L[2];
    load_shared_8(L_place + (uint32_t)(32 * n) + threadIdx.x % 4 * 8, L);
#pragma unroll
    for (int e = 0; e < 4; e++) S[4 * n + e] = exp2_approx(S[4 * n + e] * scale - L[e % 2]);
  }
}

/* dP = P (dP - D), from P as it was rounded. */
template <class Tile>
TW_DEVICE void make_dS(float (&dP)[Tile::B_r / 2], const uint32_t (&P)[Tile::B_r / 16][4], uint32_t D_place) {
  using T = typename Tile::T;
#pragma unroll
  for (int n = 0; n < Tile::B_r / 8; n++) {
    float D[2];
    load_shared_8(D_place + (uint32_t)(32 * n) + threadIdx.x % 4 * 8, D);
#pragma unroll
    for (int e = 0; e < 4; e++)
      dP[4 * n + e] = to_float(T{(uint16_t)(P[n / 2][n % 2 * 2 + e / 2] >> 16 * (e % 2))}) * (dP[4 * n + e] - D[e % 2]);
  }
}

/* 64 keys of dS^T into shared memory, rows of 64 queries. */
template <class Tile> TW_DEVICE void put_dS(uint32_t to, const uint32_t (&dS)[Tile::B_r / 16][4], int consumer) {
  const int lane = (int)threadIdx.x % 32, row = 64 * consumer + (int)threadIdx.x / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int n = 0; n < Tile::B_r / 8; n++)
#pragma unroll
    for (int half = 0; half < 2; half++)
      store_shared_4(to + (uint32_t)(n / 8 * Tile::B_c * BOX_ROW_BYTES + (row + 8 * half) * BOX_ROW_BYTES +
                                     (((n % 8) ^ (lane / 4)) << 4) + lane % 4 * 4),
                     dS[n / 2][n % 2 * 2 + half]);
}

/* factor x C, 64 rows of this consumer, into shared memory. */
template <class Tile> TW_DEVICE void put_gradient(uint32_t to, const float (&C)[Tile::d / 2], float factor) {
  const int lane = (int)threadIdx.x % 32, row = (int)threadIdx.x / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int n = 0; n < Tile::d / 8; n++)
#pragma unroll
    for (int half = 0; half < 2; half++)
      store_shared_4(to + (uint32_t)(n / 8 * Tile::B_c * BOX_ROW_BYTES + (row + 8 * half) * BOX_ROW_BYTES +
                                     (((n % 8) ^ (lane / 4)) << 4) + lane % 4 * 4),
                     pack2<typename Tile::T>(C[4 * n + 2 * half] * factor, C[4 * n + 2 * half + 1] * factor));
}

/* A warpgroup: dK and dV of 64 keys, and its part of each dQ. */
template <class Tile>
TW_DEVICE void compute_columns(const BackwardCall &c, const BackwardPlaces<Tile> &s, int consumer) {
  const BackwardPass &a = c.a;
  const RowBlocks b = row_blocks<Tile>(a);
  const bool is_first = threadIdx.x % 128 == 0;
  const int key = b.j0 + 64 * consumer + (int)threadIdx.x / 32 % 4 * 16 + (int)threadIdx.x % 32 / 4;
  const uint32_t own = (uint32_t)(consumer * 64 * BOX_ROW_BYTES);
  const uint32_t dQ_place = s.dQ + (uint32_t)(consumer * Tile::dQ_BYTES), dQ_thread = dQ_place + threadIdx.x % 128 * 16;
  const float scale = a.scale * 1.4426950408889634f; /* log2 e: exponentials are powers of two */
  float dK[Tile::d / 2], dV[Tile::d / 2];
#pragma unroll
  for (int e = 0; e < Tile::d / 2; e++) dK[e] = dV[e] = 0;
  if (is_first && consumer == 0) {
    copy_stats(a, s, b, 0);
    copy_stats(a, s, b, 1);
  }
  const Stamper at = stamper(a, 1 + consumer);
  stamp(at, 0, STAMP_BEGINS);
  mbarrier_wait(s.columns_full, 0);
  int head = b.kv * b.group, i = b.first;
  for (int n = 0; n < b.n; n++) {
    const uint32_t Q = slot(s.r, 2 * n + 1), dO = slot(s.r, 2 * n);
    const uint32_t stats = s.stats + (uint32_t)(n % 2 * Tile::STATS_BYTES);
    const uint32_t dS_place = s.dS + (uint32_t)(n % 2 * Tile::dS_BYTES);
    float S[Tile::B_r / 2], dP[Tile::B_r / 2], dQ[32];
    uint32_t P[Tile::B_r / 16][4], dS[Tile::B_r / 16][4];
    stamp(at, n, STAMP_WAITS);
    wait_full(s.r, 2 * n + 1);
    stamp(at, n, STAMP_HAS);
    wgmma_fence();
    start_scores<Tile>(S, s.K + own, Q);
    wgmma_commit();
    wait_full(s.r, 2 * n);
    wgmma_fence();
    start_scores<Tile>(dP, s.V + own, dO);
    wgmma_commit();
    stamp(at, n, STAMP_ISSUED);
    mbarrier_wait(s.stats_full + (uint32_t)(n % 2 * 8), n / 2 % 2);
    wgmma_wait<1>();
    wgmma_done(S);
    stamp(at, n, STAMP_S);
    if (b.j0 + Tile::B_c > keys_seen(a, i * Tile::B_r)) mask_turned<Tile>(a, S, key, i * Tile::B_r);
    exponentials<Tile>(S, scale, stats);
    round_turned<Tile>(S, P);
    stamp(at, n, STAMP_SOFTMAX);
    wgmma_wait<0>();
    wgmma_done(dP);
    stamp(at, n, STAMP_SECOND_PRODUCT);
    make_dS<Tile>(dP, P, stats + 4 * Tile::B_r);
    round_turned<Tile>(dP, dS);
    put_dS<Tile>(dS_place, dS, consumer);
    stamp(at, n, STAMP_ROUNDED);
    wgmma_fence();
    start_sum<Tile>(dV, P, dO); /* in a group with dQ */
    proxy_fence();
    if (is_first) tma_store_wait(); /* the addition before is done with dQ's place */
    barrier_sync(BOTH_BARRIER,
                 256); /* both have written dS and read L and D, and are done with dQ of the block before */
    stamp(at, n, STAMP_HAS_V);
    if (is_first && consumer == 0) copy_stats(a, s, b, n + 2);
    wgmma_fence();
    start_dQ<Tile>(dQ, dS_place, s.K, consumer);
    wgmma_commit();
    start_sum<Tile>(dK, dS, Q);
    wgmma_commit();
    stamp(at, n, STAMP_ISSUED_PV);
    wgmma_wait<1>();
    wgmma_done(dV);
    wgmma_done(dQ);
    stamp(at, n, STAMP_PV);
    done_with(s.r, 2 * n);
#pragma unroll
    for (int k = 0; k < 8; k++) store_shared_16(dQ_thread + (uint32_t)(k * 2048), bits_of(&dQ[4 * k]));
    proxy_fence();
    barrier_sync(OWN_BARRIER + consumer, 128); /* this part of dQ is complete */
    if (is_first) {
      count_write(a, KERNEL_dQ, Tile::dQ_BYTES);
      bulk_add(a.dQ_sums + ((long long)head * b.T_r + i) * (Tile::B_r * Tile::d) + consumer * (Tile::dQ_BYTES / 4),
               dQ_place, Tile::dQ_BYTES);
      tma_store_commit();
    }
    stamp(at, n, STAMP_ADDED);
    wgmma_wait<0>();
    wgmma_done(dK);
    stamp(at, n, STAMP_DK);
    done_with(s.r, 2 * n + 1);
    if (++i == b.T_r) i = b.first, head++;
  }
  barrier_sync(BOTH_BARRIER, 256); /* neither needs K any more */
  put_gradient<Tile>(s.K + own, dK, a.scale);
  put_gradient<Tile>(s.V + own, dV, 1);
  proxy_fence();
  barrier_sync(OWN_BARRIER + consumer, 128); /* the warpgroup's four warps have written their rows */
  if (!is_first) return;
  hbm_tma_store<Tile::HALVES>(a, KERNEL_dK, &c.dK, s.K + own, Tile::B_c * BOX_ROW_BYTES, b.j0 + 64 * consumer, a.N_k,
                              b.kv);
  hbm_tma_store<Tile::HALVES>(a, KERNEL_dV, &c.dV, s.V + own, Tile::B_c * BOX_ROW_BYTES, b.j0 + 64 * consumer, a.N_k,
                              b.kv);
  tma_store_wait();
  stamp(at, larger(0, b.n - 1), STAMP_ENDS);
}

template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS, 1) fa3_backward_columns(const __grid_constant__ BackwardCall c) {
  const BackwardPlaces<Tile> s = backward_places<Tile>();
  if (threadIdx.x == 0) {
    ring_init(s.r);
    mbarrier_init(s.columns_full, 1);
    mbarrier_init(s.stats_full, 1);
    mbarrier_init(s.stats_full + 8, 1);
    mbarrier_init_fence();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    registers_give<24>();
    if (threadIdx.x == 0) copy_tiles(c, s);
  } else {
    registers_take<240>();
    compute_columns(c, s, __shfl_sync(0xffffffffu, (int)threadIdx.x / 128 - 1, 0));
  }
}

/* dQ from its sums, which lie as the consumers' registers did: a warp takes 16 rows. */
template <class Tile> __global__ void __launch_bounds__(2 * Tile::B_r) fa3_backward_convert(const BackwardPass a) {
  using T = typename Tile::T;
  constexpr int PIECES = Tile::d / 8;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, i0 = (int)blockIdx.x * Tile::B_r + warp * 16;
  const uint32_t tile = shared_address(shared_memory()) + (uint32_t)(warp * 16 * Tile::ROW);
  const float *sums = a.dQ_sums + ((long long)blockIdx.y * gridDim.x + blockIdx.x) * (Tile::B_r * Tile::d);
  T *to = (T *)a.dQ + ((long long)blockIdx.y * a.N_q + i0) * Tile::d;
#pragma unroll 8
  for (int n = 0; n < PIECES; n++) {
    const int part = n / 8 + warp / 4, at_piece = (n % 8 * 128 + warp % 4 * 32 + lane) * 4;
    float x[4];
    floats_of(hbm_read_16(a, KERNEL_dQ, sums + part * (Tile::dQ_BYTES / 4) + at_piece), x);
    for (int half = 0; half < 2; half++)
      store_shared_4(tile + at<Tile::ROW>(lane / 4 + 8 * half, n) + lane % 4 * 4,
                     pack2<T>(x[2 * half] * a.scale, x[2 * half + 1] * a.scale));
  }
  __syncwarp();
  for (int e = lane; e < 16 * PIECES; e += 32)
    if (i0 + e / PIECES < a.N_q)
      hbm_write_16(a, KERNEL_dQ, to + e * 8, load_shared_16(tile + at<Tile::ROW>(e / PIECES, e % PIECES)));
}

template <class Tile> static bool run_backward(const Attention &a) {
  BackwardCall c;
  c.a = backward_pass(a);
  const int heads = a.batch * a.heads, kv_heads = a.batch * a.kv_heads;
  if (!tensor_map_make(&c.Q, a.Q, a.d, a.N_q, heads, Tile::B_r) ||
      !tensor_map_make(&c.dO, c.a.dO, a.d, a.N_q, heads, Tile::B_r) ||
      !tensor_map_make(&c.K, a.K, a.d, a.N_k, kv_heads, Tile::B_c) ||
      !tensor_map_make(&c.V, a.V, a.d, a.N_k, kv_heads, Tile::B_c) ||
      !tensor_map_make(&c.dK, c.a.dK, a.d, a.N_k, kv_heads, 64) ||
      !tensor_map_make(&c.dV, c.a.dV, a.d, a.N_k, kv_heads, 64))
    return false;
  const dim3 rows((unsigned)((a.N_q + Tile::B_r - 1) / Tile::B_r), (unsigned)heads);
  const dim3 columns((unsigned)((a.N_k + Tile::B_c - 1) / Tile::B_c), (unsigned)kv_heads);
  return launch<fa2_backward_prepare<Prepared<Tile>, true>>(rows, dim3(256), 4 * Tile::B_r, c.a) &&
         launch<fa3_backward_columns<Tile>>(columns, dim3(Tile::THREADS), (size_t)Tile::SHARED_BYTES, c) &&
         launch<fa3_backward_convert<Tile>>(rows, dim3(2 * Tile::B_r), (size_t)(Tile::B_r * Tile::ROW), c.a);
}

template <class T> static bool run_type(const Attention &a) {
  if (a.d == 64) return a.B_r == 128 && a.B_c == 128 && run_backward<BackwardWgmma<T, 64>>(a);
  return a.d == 128 && a.B_r == 64 && a.B_c == 128 && run_backward<BackwardWgmma<T, 128>>(a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP16 ? run_type<fp16>(a) : dtype == DTYPE_BF16 && run_type<bf16>(a);
}

static Block default_block(int d, int) { return d == 64 ? Block{128, 128} : Block{64, 128}; }

static size_t shared_bytes(int d, Block, int) {
  return (size_t)(d == 64 ? BackwardWgmma<fp16, 64>::SHARED_BYTES : BackwardWgmma<fp16, 128>::SHARED_BYTES);
}

extern const Rung FA3_BACKWARD;
const Rung FA3_BACKWARD = {
    .number = 11,
    .name = "fa3_backward",
    .title = "backward pass by TMA and wgmma",
    .oldest_sm = 90,
    .head_dims = {64, 128},
    .blocks = {{64, 128}, {128, 128}},
    .default_block = default_block,
    .shared_bytes = shared_bytes,
    .run = run,
    .trains = true,
};

} // namespace TW_BUILD
