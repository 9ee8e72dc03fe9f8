/* Rung 8: warps that copy, warps that compute.
 *
 * Teaches: Hopper's tensor cores are fed by a warpgroup, four warps, whose operands lie in shared memory (wgmma); and
 * one thread can ask for whole tiles, swizzled on the way (TMA). So the block splits:
 *
 *     warpgroup 0      one thread   | Q | K_2 | V_2 | K_1 | V_1 | K_0 | V_0 |        waits for empty slots
 *     warpgroups 1, 2  64 rows each       | S_2 softmax PV_2 | S_1 softmax PV_1 | ...    wait for full ones
 *
 * Nobody meets at a block-wide barrier any more: an mbarrier counts bytes that arrive and consumers that are done. The
 * copying warps give their registers to the others (setmaxnreg), which need about 200.
 *
 * Moves, per head, elements: reads N_q d (Q) + 2 d (keys in the computed tiles of each row block), writes N_q d (O):
 * the fa2 schedule, as in rungs 5 to 7, with keys from the last tile to the first. Leaves to the next rung: while a
 * warpgroup takes exponentials its tensor cores are idle, and so is the SM while a CTA begins and ends. */
// Compiled for sm_90a alone: wgmma and setmaxnreg.
#include "kernels/lib/wgmma_tile.cuh"

namespace TW_BUILD {

template <class Tile> static constexpr int wgmma_shared_bytes() {
  return Tile::Q_BYTES + Tile::SLOTS * Tile::KV_BYTES + Tile::BARRIER_BYTES;
}

/* One warpgroup's 64 rows. q: its rows of Q, whose place O takes in the end. */
template <class Tile>
TW_DEVICE void compute_rows(const TmaAttention &t, const Ring<Tile> &r, uint32_t Q_full, uint32_t q, const RowBlock &b,
                            int consumer) {
  const Attention &a = t.a;
  const int i0 = b.i0 + 64 * consumer, row = i0 + (int)threadIdx.x / 32 % 4 * 16 + (int)threadIdx.x % 32 / 4;
  const int T_full = keys_seen(a, i0) / Tile::B_c;   /* tiles without a mask */
  const float scale = a.scale * 1.4426950408889634f; /* log2 e: exponentials are powers of two */
  Rows<Tile> w;
  start_rows(w);
  const Stamper at = stamper(a, 1 + consumer);
  stamp(at, 0, STAMP_BEGINS);
  if (b.T_end > 0) mbarrier_wait(Q_full, 0);
  for (int j = b.T_end - 1, n = 0; j >= 0; j--, n += 2) { /* K in slot n, V in slot n + 1 */
    float factor[2];
    stamp(at, n / 2, STAMP_WAITS);
    wait_full(r, n);
    stamp(at, n / 2, STAMP_HAS);
    wgmma_fence();
    start_QK(w, q, slot(r, n));
    wgmma_commit();
    stamp(at, n / 2, STAMP_ISSUED);
    wgmma_wait<0>();
    wgmma_done(w.S);
    stamp(at, n / 2, STAMP_S);
    done_with(r, n);
    if (j >= T_full) mask_scores(a, w, row, j * Tile::B_c);
    const bool grew = softmax(w, factor, scale);
    stamp(at, n / 2, STAMP_SOFTMAX);
    if (grew) rescale_O(w, factor);
    round_P(w);
    stamp(at, n / 2, STAMP_ROUNDED);
    wait_full(r, n + 1);
    stamp(at, n / 2, STAMP_HAS_V);
    wgmma_fence();
    start_PV(w, slot(r, n + 1));
    wgmma_commit();
    stamp(at, n / 2, STAMP_ISSUED_PV);
    wgmma_wait<0>();
    wgmma_done(w.O);
    stamp(at, n / 2, STAMP_PV);
    done_with(r, n + 1);
  }
  put_O(w, q, Tile::B_r * BOX_ROW_BYTES);
  proxy_fence();
  barrier_sync(1 + consumer, 128); /* the warpgroup's four warps have written their rows */
  if (threadIdx.x % 128 == 0) {
    hbm_tma_store_O<Tile>(t, q, Tile::B_r * BOX_ROW_BYTES, i0, b.head);
    tma_store_wait();
    stamp(at, larger(0, b.T_end - 1), STAMP_ENDS);
  }
}

template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS, 1) fa2_wgmma(const __grid_constant__ TmaAttention t) {
  const uint32_t Q_tile = shared_address(shared_memory()), slots = Q_tile + Tile::Q_BYTES;
  const Ring<Tile> r = {slots, slots + Tile::SLOTS * Tile::KV_BYTES};
  const uint32_t Q_full = r.barriers + 16 * Tile::SLOTS;
  const int i = t.a.causal ? (int)(gridDim.x - 1 - blockIdx.x) : (int)blockIdx.x; /* the longest row blocks first */
  const RowBlock b = row_block<Tile>(t.a, i, (int)blockIdx.y);
  if (threadIdx.x == 0) {
    ring_init(r);
    mbarrier_init(Q_full, 1);
    mbarrier_init_fence();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    registers_give<Tile::COPY_REGISTERS>();
    if (threadIdx.x == 0 && b.T_end > 0) {
      mbarrier_arrive_expect(Q_full, Tile::Q_BYTES);
      hbm_tma_load<Tile::HALVES>(t.a, KERNEL_Q, Q_tile, &t.Q, Q_full, Tile::B_r, b.i0, t.a.N_q, b.head);
      put_KV(t, r, b, 0, stamper(t.a, 0));
    }
  } else {
    registers_take<Tile::MATH_REGISTERS>();
    const int consumer = __shfl_sync(0xffffffffu, (int)threadIdx.x / 128 - 1, 0); /* the same for the whole warp */
    compute_rows(t, r, Q_full, Q_tile + (uint32_t)(consumer * 64 * BOX_ROW_BYTES), b, consumer);
  }
}

template <class Tile> static bool run_wgmma(const Attention &a) {
  TmaAttention t;
  if (!tma_attention_make<Tile>(&t, a)) return false;
  const dim3 grid((unsigned)((a.N_q + Tile::B_r - 1) / Tile::B_r), (unsigned)(a.batch * a.heads));
  return launch<fa2_wgmma<Tile>>(grid, dim3(Tile::THREADS), (size_t)wgmma_shared_bytes<Tile>(), t);
}

template <class T> static bool run_type(const Attention &a) {
  if (a.B_r != 128 || a.B_c != 128) return false;
  return a.d == 64 ? run_wgmma<WgmmaTile<T, 64, 2>>(a) : a.d == 128 && run_wgmma<WgmmaTile<T, 128, 2>>(a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP16 ? run_type<fp16>(a) : dtype == DTYPE_BF16 && run_type<bf16>(a);
}

static size_t shared_bytes(int d, Block, int) {
  return (size_t)(d == 64 ? wgmma_shared_bytes<WgmmaTile<fp16, 64, 2>>()
                          : wgmma_shared_bytes<WgmmaTile<fp16, 128, 2>>());
}

extern const Rung FA2_WGMMA;
const Rung FA2_WGMMA = {
    .number = 8,
    .name = "fa2_wgmma",
    .title = "TMA, wgmma, warps that copy and warps that compute",
    .oldest_sm = 90,
    .head_dims = {64, 128},
    .blocks = {{128, 128}},
    .default_block = NULL,
    .shared_bytes = shared_bytes,
    .run = run,
};

} // namespace TW_BUILD
