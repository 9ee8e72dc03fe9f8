/* What rungs 8 and 9 share: attention on the rows of a warpgroup, and the ring through which K and V come.
 *
 *     producer    one thread: waits until a slot is empty, starts the TMA copy of K or V into it
 *     consumers   64 rows each: S = Q K^T by wgmma from shared memory, softmax in registers, O += P V
 *
 *     slot   0    1    2    3    0    1 ...      a slot is full when its bytes are in,
 *            K_0  V_0  K_1  V_1  K_2  V_2        and empty when every consumer has arrived
 *
 * A row block takes its tiles of keys from the last to the first, so that the masked ones come first. A tile of d
 * columns lies as d / 64 halves, each of rows of 128 bytes. Registers are laid out as in tensor_tile.cuh. */
#ifndef TILEWALK_KERNELS_WGMMA_TILE_CUH
#define TILEWALK_KERNELS_WGMMA_TILE_CUH

#include "kernels/lib/operands.cuh"
#include "kernels/lib/ptx_hopper.cuh"

namespace TW_BUILD {

template <class T_, int d_, int CONSUMERS_> struct WgmmaTile {
  using T = T_;
  static constexpr int d = d_, CONSUMERS = CONSUMERS_, B_r = 64 * CONSUMERS, B_c = 128, HALVES = d / BOX_COLUMNS;
  static constexpr int THREADS = 128 * (1 + CONSUMERS), SLOTS = 4;
  static constexpr int Q_BYTES = B_r * d * 2, KV_BYTES = B_c * d * 2, BARRIER_BYTES = 1024;
  /* Together, what a CTA that has the SM to itself is given at launch: 168 or 128 registers a thread. */
  static constexpr int COPY_REGISTERS = CONSUMERS == 2 ? 24 : 32, MATH_REGISTERS = CONSUMERS == 2 ? 240 : 160;
};

/* What a kernel is given: the problem, and its tensors as TMA knows them. */
struct TmaAttention {
  Attention a;
  TensorMap Q, K, V, O;
};

template <class Tile> static bool tma_attention_make(TmaAttention *t, const Attention &a) {
  const int heads = a.batch * a.heads, kv_heads = a.batch * a.kv_heads;
  t->a = a;
  return tensor_map_make(&t->Q, a.Q, a.d, a.N_q, heads, Tile::B_r) &&
         tensor_map_make(&t->K, a.K, a.d, a.N_k, kv_heads, Tile::B_c) &&
         tensor_map_make(&t->V, a.V, a.d, a.N_k, kv_heads, Tile::B_c) &&
         tensor_map_make(&t->O, a.O, a.d, a.N_q, heads, 64);
}

/* A row block of a head, and how many tiles of keys it takes. */
struct RowBlock {
  int i0, head, kv_head, T_end;
};

template <class Tile> TW_DEVICE RowBlock row_block(const Attention &a, int i, int head) {
  RowBlock b;
  b.i0 = i * Tile::B_r;
  b.head = head;
  b.kv_head = head / a.heads * a.kv_heads + head % a.heads / (a.heads / a.kv_heads);
  b.T_end = (keys_seen(a, smaller(b.i0 + Tile::B_r, a.N_q) - 1) + Tile::B_c - 1) / Tile::B_c;
  return b;
}

/* Copies `rows` rows of a tensor that has N, from row0 on, and counts what lies inside it. */
template <int HALVES>
TW_DEVICE void hbm_tma_load(const Attention &a, int tensor, uint32_t to, const TensorMap *map, uint32_t barrier,
                            int rows, int row0, int N, int head) {
  count_read(a, tensor, HALVES * BOX_ROW_BYTES * smaller(rows, N - row0));
#pragma unroll
  for (int half = 0; half < HALVES; half++)
    tma_load(to + (uint32_t)(half * rows * BOX_ROW_BYTES), map, barrier, half * BOX_COLUMNS, row0, head);
}

/* K and V's slots and their barriers. n counts what has been put in or taken out since the kernel began. */
template <class Tile> struct Ring { uint32_t slots, barriers; };
template <class Tile> TW_DEVICE uint32_t slot(const Ring<Tile> &r, int n) {
  return r.slots + (uint32_t)(n % Tile::SLOTS * Tile::KV_BYTES);
}
template <class Tile> TW_DEVICE uint32_t full(const Ring<Tile> &r, int n) {
  return r.barriers + (uint32_t)(n % Tile::SLOTS * 8);
}
template <class Tile> TW_DEVICE uint32_t empty(const Ring<Tile> &r, int n) { return full(r, n) + Tile::SLOTS * 8; }
template <class Tile> TW_DEVICE int parity(const Ring<Tile> &, int n) { return n / Tile::SLOTS % 2; }

template <class Tile> TW_DEVICE void ring_init(const Ring<Tile> &r) {
  for (int n = 0; n < Tile::SLOTS; n++) {
    mbarrier_init(full(r, n), 1);
    mbarrier_init(empty(r, n), Tile::CONSUMERS);
  }
}

/* For consumers: until slot n is full, and one arrival a warpgroup once it is done with it. */
template <class Tile> TW_DEVICE void wait_full(const Ring<Tile> &r, int n) { mbarrier_wait(full(r, n), parity(r, n)); }
template <class Tile> TW_DEVICE void done_with(const Ring<Tile> &r, int n) {
  if (threadIdx.x % 128 == 0) mbarrier_arrive(empty(r, n));
}

/* Puts all tiles of a row block into the ring; returns the next n. One thread. */
template <class Tile>
TW_DEVICE int put_KV(const TmaAttention &t, const Ring<Tile> &r, const RowBlock &b, int n, const Stamper &at) {
  const auto put = [&](int tensor, const TensorMap *map, int j) {
    stamp(at, n / 2, 2 * (n % 2) + STAMP_ASKS_FIRST);
    mbarrier_wait(empty(r, n), parity(r, n) ^ 1);
    mbarrier_arrive_expect(full(r, n), Tile::KV_BYTES);
    hbm_tma_load<Tile::HALVES>(t.a, tensor, slot(r, n), map, full(r, n), Tile::B_c, j * Tile::B_c, t.a.N_k, b.kv_head);
    stamp(at, n / 2, 2 * (n % 2) + STAMP_ISSUED_FIRST);
    n++;
  };
  for (int j = b.T_end - 1; j >= 0; j--) {
    put(KERNEL_K, &t.K, j);
    put(KERNEL_V, &t.V, j);
  }
  return n;
}

/* This thread's registers: two rows, g and g + 8. l adds up its own columns only. */
template <class Tile> struct Rows {
  float S[Tile::B_c / 2], O[Tile::d / 2], m[2], l[2];
  uint32_t P[Tile::B_c / 16][4];
};

template <class Tile> TW_DEVICE void start_rows(Rows<Tile> &w) {
  w.m[0] = w.m[1] = -3e38f; /* not -infinity: no difference of two maxima is a NaN */
  w.l[0] = w.l[1] = 0;
#pragma unroll
  for (int e = 0; e < Tile::d / 2; e++) w.O[e] = 0;
}

/* Starts S = Q K^T of 64 rows. */
template <class Tile> TW_DEVICE void start_QK(Rows<Tile> &w, uint32_t q, uint32_t k) {
  const uint64_t Q = wgmma_matrix(q, 0), K = wgmma_matrix(k, 0);
#pragma unroll
  for (int step = 0; step < Tile::d / 16; step++) {
    const uint64_t Q_step = Q + (uint64_t)(step / 4 * (Tile::B_r * BOX_ROW_BYTES / 16) + step % 4 * 2);
    const uint64_t K_step = K + (uint64_t)(step / 4 * (Tile::B_c * BOX_ROW_BYTES / 16) + step % 4 * 2);
    if (step == 0)
      wgmma_n128<typename Tile::T, false>(w.S, Q_step, K_step);
    else
      wgmma_n128<typename Tile::T, true>(w.S, Q_step, K_step);
  }
}

/* Starts O += P V. */
template <class Tile> TW_DEVICE void start_PV(Rows<Tile> &w, uint32_t v) {
  const uint64_t V = wgmma_matrix(v, Tile::B_c * BOX_ROW_BYTES);
#pragma unroll
  for (int step = 0; step < Tile::B_c / 16; step++)
    wgmma_rows<typename Tile::T>(w.O, w.P[step], V + (uint64_t)(step * 16 * BOX_ROW_BYTES / 16));
}

/* Scores of keys that a row does not see become -infinity. row: this thread's first. */
template <class Tile> TW_DEVICE void mask_scores(const Attention &a, Rows<Tile> &w, int row, int first_key) {
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int seen = keys_seen(a, row + 8 * half) - first_key - (int)threadIdx.x % 4 * 2;
#pragma unroll
    for (int n = 0; n < Tile::B_c / 8; n++)
#pragma unroll
      for (int e = 0; e < 2; e++)
        if (8 * n + e >= seen) w.S[4 * n + 2 * half + e] = minus_infinity();
  }
}

/* The softmax below for rows FIRST to END - 1 of this thread's two. */
template <class Tile, int FIRST, int END> TW_DEVICE bool softmax_rows(Rows<Tile> &w, float (&factor)[2], float scale) {
  float top[2][2], sum[2][2]; /* even and odd columns apart: two chains a row */
  bool grew = false;
#pragma unroll
  for (int i = FIRST; i < END; i++) top[i][0] = top[i][1] = minus_infinity(), sum[i][0] = sum[i][1] = 0;
#pragma unroll
  for (int n = 0; n < Tile::B_c / 8; n++)
#pragma unroll
    for (int e = 2 * FIRST; e < 2 * END; e++) top[e / 2][e % 2] = fmaxf(top[e / 2][e % 2], w.S[4 * n + e]);
#pragma unroll
  for (int i = FIRST; i < END; i++) {
    float m_new = fmaxf(top[i][0], top[i][1]);
    m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffffu, m_new, 1));
    m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffffu, m_new, 2));
    m_new = fmaxf(w.m[i], m_new * scale);
    grew |= m_new > w.m[i];
    factor[i] = exp2_approx(w.m[i] - m_new);
    w.m[i] = m_new;
  }
#pragma unroll
  for (int n = 0; n < Tile::B_c / 8; n++)
#pragma unroll
    for (int e = 2 * FIRST; e < 2 * END; e++) {
      w.S[4 * n + e] = exp2_approx(w.S[4 * n + e] * scale - w.m[e / 2]);
      sum[e / 2][e % 2] += w.S[4 * n + e];
    }
#pragma unroll
  for (int i = FIRST; i < END; i++) w.l[i] = w.l[i] * factor[i] + (sum[i][0] + sum[i][1]);
  return grew;
}

/* S becomes 2^(scale S - m), with new maxima m; l is rescaled and gains the row sums. factor: by which O must be
 * rescaled; returns whether one of the warp's is not 1. Measured on an H100: at d = 128, row by row, so that maxima of
 * the second run beside exponentials of the first; at d = 64 both at once. */
template <class Tile> TW_DEVICE bool softmax(Rows<Tile> &w, float (&factor)[2], float scale) {
  bool grew;
  if (Tile::d < 128) {
    grew = softmax_rows<Tile, 0, 2>(w, factor, scale);
  } else {
    grew = softmax_rows<Tile, 0, 1>(w, factor, scale);
    grew |= softmax_rows<Tile, 1, 2>(w, factor, scale);
  }
  return __any_sync(0xffffffffu, grew);
}

template <class Tile> TW_DEVICE void rescale_O(Rows<Tile> &w, const float (&factor)[2]) {
#pragma unroll
  for (int e = 0; e < Tile::d / 2; e++) w.O[e] *= factor[e / 2 % 2];
}

/* P = S rounded and packed in pairs. */
template <class Tile> TW_DEVICE void round_P(Rows<Tile> &w) {
#pragma unroll
  for (int k = 0; k < Tile::B_c / 16; k++)
#pragma unroll
    for (int e = 0; e < 4; e++) w.P[k][e] = pack2<typename Tile::T>(w.S[8 * k + 2 * e], w.S[8 * k + 2 * e + 1]);
}

/* O / l of this warpgroup's 64 rows to shared memory at `to` (the next half half_bytes further), swizzled. */
template <class Tile> TW_DEVICE void put_O(const Rows<Tile> &w, uint32_t to, int half_bytes) {
  const int lane = (int)threadIdx.x % 32, row = (int)threadIdx.x / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float sum = w.l[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    const float inverse = sum == 0 ? 0 : 1 / sum; /* a row that saw no key is zero */
#pragma unroll
    for (int n = 0; n < Tile::d / 8; n++)
      store_shared_4(to + (uint32_t)(n / 8 * half_bytes + (row + 8 * half) * BOX_ROW_BYTES +
                                     (((n % 8) ^ (lane / 4)) << 4) + lane % 4 * 4),
                     pack2<typename Tile::T>(w.O[4 * n + 2 * half] * inverse, w.O[4 * n + 2 * half + 1] * inverse));
  }
}

/* 64 rows from shared memory to HBM, those inside a tensor that has N; one thread. */
template <int HALVES>
TW_DEVICE void hbm_tma_store(const Attention &a, int tensor, const TensorMap *map, uint32_t from, int half_bytes,
                             int row0, int N, int head) {
  if (row0 >= N) return;
  count_write(a, tensor, HALVES * BOX_ROW_BYTES * smaller(64, N - row0));
#pragma unroll
  for (int half = 0; half < HALVES; half++)
    tma_store(map, from + (uint32_t)(half * half_bytes), half * BOX_COLUMNS, row0, head);
  tma_store_commit();
}

/* i0: the first of the 64 rows. */
template <class Tile>
TW_DEVICE void hbm_tma_store_O(const TmaAttention &t, uint32_t from, int half_bytes, int i0, int head) {
  hbm_tma_store<Tile::HALVES>(t.a, KERNEL_O, &t.O, from, half_bytes, i0, t.a.N_q, head);
}

} // namespace TW_BUILD

#endif
