/* Rung 9: the softmax of one tile beside the product of another, and CTAs that stay.
 *
 * Teaches: exponentials run on other units than products, so a warpgroup starts S of the next tile, and O of the last,
 * before it takes exponentials; the tensor cores then always have work queued:
 *
 *     tensor cores   | S_j          | P_{j+1} V_{j+1}      | S_{j-1}      | P_j V_j ...
 *     other units    .............. | softmax of S_j ..... | rescale O    | softmax of S_{j-1} ...
 *
 * A CTA an SM takes row blocks from a counter until none is left, the longest first under a causal mask; with two
 * buffers for Q, and O stored behind its back, the copies of the next row block run under the end of this one. TURNS:
 * FlashAttention-3's ping-pong, in which warpgroups issue products in turns.
 *
 * Moves, per head, elements: reads N_q d (Q) + 2 d (keys in the computed tiles of each row block), writes N_q d (O):
 * the fa2 schedule, as in rungs 5 to 8. A hardware counter sees more: a sector each way for each row block taken, and
 * the rows of Q's box that lie outside Q, which arrive as zeros. */
// Compiled for sm_90a alone: wgmma and setmaxnreg.
#include <atomic>

#include "kernels/lib/wgmma_tile.cuh"

namespace TW_BUILD {

enum { OWN_BARRIER = 1, TURN_BARRIER = 8 }; /* named barriers: one of each for every consumer */

/* Row blocks not yet taken, a counter for each of the last COUNTERS launches. It wraps to 0 as the last CTA ends. */
enum { COUNTERS = 1024 };
static __device__ unsigned counters[COUNTERS];
static std::atomic<unsigned> n_launches;

struct Call {
  TmaAttention t;
  int n_blocks, heads_at_once; /* row blocks of all heads; heads whose row blocks are taken in turn */
  int counter;
};

/* Shared memory, from its start: two Q buffers, the ring's slots, O, barriers, and which row block is in a buffer. */
template <class Tile> struct Places {
  Ring<Tile> r;
  uint32_t Q, O, barriers;
};
template <class Tile> TW_DEVICE Places<Tile> places() {
  const uint32_t Q = shared_address(shared_memory()), slots = Q + 2 * Tile::Q_BYTES;
  const uint32_t O = slots + Tile::SLOTS * Tile::KV_BYTES, barriers = O + Tile::Q_BYTES;
  return {{slots, barriers}, Q, O, barriers + 16 * Tile::SLOTS};
}
template <class Tile> TW_DEVICE uint32_t Q_buffer(const Places<Tile> &s, int n) {
  return s.Q + (uint32_t)(n % 2 * Tile::Q_BYTES);
}
template <class Tile> TW_DEVICE uint32_t Q_full(const Places<Tile> &s, int n) { return s.barriers + n % 2 * 8; }
template <class Tile> TW_DEVICE uint32_t Q_empty(const Places<Tile> &s, int n) { return s.barriers + 16 + n % 2 * 8; }
template <class Tile> TW_DEVICE uint32_t Q_index(const Places<Tile> &s, int n) { return s.barriers + 32 + n % 2 * 4; }

template <class Tile> static constexpr int overlap_shared_bytes() {
  return 3 * Tile::Q_BYTES + Tile::SLOTS * Tile::KV_BYTES + Tile::BARRIER_BYTES;
}

/* The row block that is taken as number `index`: heads in groups, in a group the longest row blocks of all heads first.
 */
template <class Tile> TW_DEVICE RowBlock taken_block(const Call &c, int index) {
  const int T_r = (c.t.a.N_q + Tile::B_r - 1) / Tile::B_r, in_group = T_r * c.heads_at_once;
  const int first = index / in_group * c.heads_at_once, rest = index % in_group;
  const int heads = smaller(c.heads_at_once, c.t.a.batch * c.t.a.heads - first), i = rest / heads;
  return row_block<Tile>(c.t.a, c.t.a.causal ? T_r - 1 - i : i, first + rest % heads);
}

/* One thread: takes row blocks, and copies for them. */
template <class Tile> TW_DEVICE void copy_blocks(const Call &c, const Places<Tile> &s) {
  const Stamper at = stamper(c.t.a, 0);
  for (int n = 0, n_KV = 0, index = (int)blockIdx.x;; n++) {
    mbarrier_wait(Q_empty(s, n), n / 2 % 2 ^ 1);
    store_shared_4(Q_index(s, n), (uint32_t)(index < c.n_blocks ? index : -1));
    if (index >= c.n_blocks) {
      mbarrier_arrive(Q_full(s, n));
      return;
    }
    const RowBlock b = taken_block<Tile>(c, index);
    mbarrier_arrive_expect(Q_full(s, n), b.T_end > 0 ? Tile::Q_BYTES : 0);
    if (b.T_end > 0)
      hbm_tma_load<Tile::HALVES>(c.t.a, KERNEL_Q, Q_buffer(s, n), &c.t.Q, Q_full(s, n), Tile::B_r, b.i0, c.t.a.N_q,
                                 b.head);
    n_KV = put_KV(c.t, s.r, b, n_KV, at);
    index = (int)(gridDim.x + atomicInc(&counters[c.counter], (unsigned)c.n_blocks - 1));
  }
}

/* A warpgroup's turn to start products, and the end of it. */
template <class Tile, bool TURNS> TW_DEVICE void turn_begin(int consumer) {
  if (TURNS) barrier_sync(TURN_BARRIER + consumer, 256);
}
template <class Tile, bool TURNS> TW_DEVICE void turn_end(int consumer) {
  if (TURNS) barrier_arrive(TURN_BARRIER + (consumer + 1) % Tile::CONSUMERS, 256);
}

/* All tiles of a warpgroup's 64 rows. n: the slot of the first K; returns that of the next. */
template <class Tile, bool TURNS>
TW_DEVICE int compute_tiles(const Attention &a, const Places<Tile> &s, Rows<Tile> &w, const RowBlock &b, int consumer,
                            int n_Q, int n, const Stamper &at) {
  const int i0 = b.i0 + 64 * consumer, row = i0 + (int)threadIdx.x / 32 % 4 * 16 + (int)threadIdx.x % 32 / 4;
  const int T_full = keys_seen(a, i0) / Tile::B_c;   /* tiles without a mask */
  const float scale = a.scale * 1.4426950408889634f; /* log2 e: exponentials are powers of two */
  const uint32_t q = Q_buffer(s, n_Q) + (uint32_t)(consumer * 64 * BOX_ROW_BYTES);
  float factor[2];
  int j = b.T_end - 1;
  if constexpr (Tile::B_r > Tile::B_c) { /* tiles that others of the block need, and these 64 rows do not see */
    const int own_end = i0 < a.N_q ? (keys_seen(a, smaller(i0 + 64, a.N_q) - 1) + Tile::B_c - 1) / Tile::B_c : 0;
    for (; j >= own_end; j--, n += 2) {
      wait_full(s.r, n);
      wait_full(s.r, n + 1);
      barrier_sync(OWN_BARRIER + consumer, 128); /* its four warps have seen them full, and which row block it is */
      done_with(s.r, n);
      done_with(s.r, n + 1);
      if (j > 0) turn_begin<Tile, TURNS>(consumer), turn_end<Tile, TURNS>(consumer);
    }
    if (own_end == 0) {
      if (threadIdx.x % 128 == 0) mbarrier_arrive(Q_empty(s, n_Q));
      return n;
    }
  }
  stamp(at, n / 2, STAMP_WAITS);
  wait_full(s.r, n);
  stamp(at, n / 2, STAMP_HAS);
  wgmma_fence();
  start_QK(w, q, slot(s.r, n));
  wgmma_commit();
  stamp(at, n / 2, STAMP_BEGINS);
  wgmma_wait<0>();
  wgmma_done(w.S);
  stamp(at, n / 2, STAMP_S);
  done_with(s.r, n);
  if (j >= T_full) mask_scores(a, w, row, j * Tile::B_c);
  softmax_rows<Tile, 0, 2>(w, factor, scale); /* nothing runs beside it; O is still 0 */
  stamp(at, n / 2, STAMP_SOFTMAX);
  wait_full(s.r, n + 1);
  round_P(w);
  stamp(at, n / 2, STAMP_ROUNDED);
  for (j--; j >= 0; j--, n += 2) { /* S of tile j, in slot n + 2, beside P V of the tile before, in slot n + 1 */
    stamp(at, n / 2 + 1, STAMP_WAITS);
    wait_full(s.r, n + 2);
    stamp(at, n / 2 + 1, STAMP_HAS);
    turn_begin<Tile, TURNS>(consumer);
    wgmma_fence();
    start_QK(w, q, slot(s.r, n + 2));
    wgmma_commit();
    start_PV(w, slot(s.r, n + 1));
    wgmma_commit();
    turn_end<Tile, TURNS>(consumer);
    stamp(at, n / 2 + 1, STAMP_ISSUED);
    wgmma_wait<1>();
    wgmma_done(w.S);
    stamp(at, n / 2 + 1, STAMP_S);
    done_with(s.r, n + 2);
    if (j >= T_full) mask_scores(a, w, row, j * Tile::B_c);
    const bool grew = softmax(w, factor, scale);
    stamp(at, n / 2 + 1, STAMP_SOFTMAX);
    wait_full(s.r, n + 3); /* here, for the assembler does not lift the next wait above it and the exponentials */
    wgmma_wait<0>();
    wgmma_done(w.O);
    stamp(at, n / 2 + 1, STAMP_SECOND_PRODUCT);
    done_with(s.r, n + 1);
    if (grew) rescale_O(w, factor);
    round_P(w);
    stamp(at, n / 2 + 1, STAMP_ROUNDED);
  }
  if (threadIdx.x % 128 == 0) mbarrier_arrive(Q_empty(s, n_Q));
  wgmma_fence();
  start_PV(w, slot(s.r, n + 1));
  wgmma_commit();
  wgmma_wait<0>();
  wgmma_done(w.O);
  stamp(at, n / 2, STAMP_PV);
  done_with(s.r, n + 1);
  return n + 2;
}

/* A warpgroup: 64 rows of each row block that the CTA takes. */
template <class Tile, bool TURNS> TW_DEVICE void compute_blocks(const Call &c, const Places<Tile> &s, int consumer) {
  const uint32_t o = s.O + (uint32_t)(consumer * 64 * BOX_ROW_BYTES);
  const bool is_first = threadIdx.x % 128 == 0;
  const Stamper at = stamper(c.t.a, 1 + consumer);
  if (consumer == Tile::CONSUMERS - 1) turn_end<Tile, TURNS>(consumer);
  for (int n_Q = 0, n = 0;; n_Q++) {
    mbarrier_wait(Q_full(s, n_Q), n_Q / 2 % 2);
    /* From lane 0, so that the compiler knows it to be the same for the warp. */
    const int index = __shfl_sync(0xffffffffu, (int)load_shared_4(Q_index(s, n_Q)), 0);
    if (index < 0) break;
    const RowBlock b = taken_block<Tile>(c, index);
    Rows<Tile> w;
    start_rows(w);
    if (b.T_end > 0) {
      n = compute_tiles<Tile, TURNS>(c.t.a, s, w, b, consumer, n_Q, n, at);
    } else {
      barrier_sync(OWN_BARRIER + consumer, 128); /* its four warps have read which row block it is */
      if (is_first) mbarrier_arrive(Q_empty(s, n_Q));
    }
    if (is_first) tma_store_wait();
    barrier_sync(OWN_BARRIER + consumer, 128); /* the store of the row block before is done with this place */
    put_O(w, o, Tile::B_r * BOX_ROW_BYTES);
    proxy_fence();
    barrier_sync(OWN_BARRIER + consumer, 128); /* the warpgroup's four warps have written their rows */
    if (is_first) hbm_tma_store_O<Tile>(c.t, o, Tile::B_r * BOX_ROW_BYTES, b.i0 + 64 * consumer, b.head);
    stamp(at, larger(0, n / 2 - 1), STAMP_ENDS);
  }
  if (consumer == 0) turn_begin<Tile, TURNS>(consumer);
  if (is_first) tma_store_wait();
}

template <class Tile, bool TURNS>
__global__ void __launch_bounds__(Tile::THREADS, 1) fa3_overlap(const __grid_constant__ Call c) {
  const Places<Tile> s = places<Tile>();
  if (threadIdx.x == 0) {
    ring_init(s.r);
    for (int n = 0; n < 2; n++) {
      mbarrier_init(Q_full(s, n), 1);
      mbarrier_init(Q_empty(s, n), Tile::CONSUMERS);
    }
    mbarrier_init_fence();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    registers_give<Tile::COPY_REGISTERS>();
    if (threadIdx.x == 0) copy_blocks(c, s);
  } else {
    registers_take<Tile::MATH_REGISTERS>();
    compute_blocks<Tile, TURNS>(c, s, __shfl_sync(0xffffffffu, (int)threadIdx.x / 128 - 1, 0));
  }
}

/* Measured on an H100: turns gain nothing at d = 128. At d = 64 the loop that skips tiles needs them: without, the
 * assembler recomputes its addresses for every product, 4 to 10 % slower. */
template <class Tile, bool TURNS = Tile::d == 64> static bool run_overlap(const Attention &a) {
  Call c;
  if (!tma_attention_make<Tile>(&c.t, a)) return false;
  const long long n_blocks = (a.N_q + Tile::B_r - 1) / Tile::B_r * (long long)(a.batch * a.heads);
  if (n_blocks > 1 << 30) return false;
  c.n_blocks = (int)n_blocks;
  c.heads_at_once = a.causal ? (a.d == 64 ? 32 : 16) : 1;
  c.counter = (int)(n_launches++ % COUNTERS);
  const unsigned ctas = (unsigned)smaller(c.n_blocks, count_sms());
  return launch<fa3_overlap<Tile, TURNS>>(dim3(ctas), dim3(Tile::THREADS), (size_t)overlap_shared_bytes<Tile>(), c);
}

template <class T> static bool run_type(const Attention &a) {
  if (a.B_c != 128) return false;
  if (a.d == 64 && a.B_r == 192) return run_overlap<WgmmaTile<T, 64, 3>>(a);
  if (a.d == 64 && a.B_r == 128) return run_overlap<WgmmaTile<T, 64, 2>>(a);
  return a.d == 128 && a.B_r == 128 && run_overlap<WgmmaTile<T, 128, 2>>(a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP16 ? run_type<fp16>(a) : dtype == DTYPE_BF16 && run_type<bf16>(a);
}

static Block default_block(int d, int) { return d == 64 ? Block{192, 128} : Block{128, 128}; }

static size_t shared_bytes(int d, Block b, int) {
  if (d == 64 && b.B_r == 192) return (size_t)overlap_shared_bytes<WgmmaTile<fp16, 64, 3>>();
  return (size_t)(d == 64 ? overlap_shared_bytes<WgmmaTile<fp16, 64, 2>>()
                          : overlap_shared_bytes<WgmmaTile<fp16, 128, 2>>());
}

extern const Rung FA3_OVERLAP;
const Rung FA3_OVERLAP = {
    .number = 9,
    .name = "fa3_overlap",
    .title = "softmax beside the next product, CTAs that stay",
    .oldest_sm = 90,
    .head_dims = {64, 128},
    .blocks = {{128, 128}, {192, 128}},
    .default_block = default_block,
    .shared_bytes = shared_bytes,
    .run = run,
};

} // namespace TW_BUILD
