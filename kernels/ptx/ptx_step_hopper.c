/* mbarriers, clusters, and what wgmma and bulk copies wait with.
 *
 * An mbarrier is its 64 bits of shared memory: arrivals that a phase takes, those that it still wants, bytes that it
 * still wants, and the phase's parity. A wait that fails parks the threads until some phase of their block ends;
 * where nobody can run, waits that may give up (try_wait) do so. Copies and wgmma act as they are issued: a correct
 * kernel cannot tell; one that is not, is told with launch.faults. Source: PTX ISA, "mbarrier". */
#include <string.h>

#include "kernels/ptx/ptx_async.h"

static uint64_t address_of(const Ins *i, const char *R, int l) {
  return lane_get(R + i->a, i->wide, l) + (uint64_t)i->imm;
}

char *shared_at(Run *run, const Block *b, uint64_t address, uint64_t bytes, Block **owner, uint64_t *offset) {
  if (address - SHARED_WINDOW < WINDOW_BYTES) address -= SHARED_WINDOW;
  const uint64_t rank = address >> RANK_SHIFT, at = address & ((1u << RANK_SHIFT) - 1);
  const uint64_t n_ranks = (uint64_t)run->cluster[0] * (uint64_t)run->cluster[1] * (uint64_t)run->cluster[2];
  if (at > (uint64_t)run->shared_bytes || bytes > (uint64_t)run->shared_bytes - at || rank > n_ranks) return NULL;
  Block *its = rank ? &run->blocks[b->cluster_first + (int32_t)rank - 1] : &run->blocks[b - run->blocks];
  if (owner) *owner = its, *offset = at;
  return run->arena + its->shared + at;
}

/* ---- mbarriers ---- */

enum { MBAR_MOST = (1 << 20) - 1, MBAR_MARK = 2 };

typedef struct {
  uint32_t expected, missing; /* arrivals */
  int32_t bytes;
  bool odd; /* parity of the phase that runs */
} Mbarrier;

static uint64_t pack(Mbarrier m) {
  return (uint64_t)MBAR_MARK << 62 | (uint64_t)m.odd << 61 | (uint64_t)m.expected << 41 | (uint64_t)m.missing << 21 |
         ((uint64_t)(uint32_t)m.bytes & 0x1fffff);
}

static bool unpack(uint64_t v, Mbarrier *m) {
  m->odd = v >> 61 & 1;
  m->expected = v >> 41 & MBAR_MOST, m->missing = v >> 21 & MBAR_MOST;
  m->bytes = (int32_t)((v & 0x1fffff) ^ 0x100000) - 0x100000;
  return v >> 62 == MBAR_MARK;
}

/* One mbarrier, where an instruction meets it. */
typedef struct {
  Run *run;
  const Warp *w;
  int32_t pc;
  Block *owner;
  uint64_t offset;
  char *host;
  Mbarrier state;
} Meeting;

static bool meets(Meeting *at, Run *run, Block *b, const Warp *w, int32_t pc, uint64_t address, bool begins) {
  *at = (Meeting){.run = run, .w = w, .pc = pc};
  at->host = address & 7 ? NULL : shared_at(run, b, address, 8, &at->owner, &at->offset);
  if (!at->host)
    return run_fails(run, pc, "an mbarrier at 0x%llx, which is no place in shared memory, or no multiple of 8",
                     (unsigned long long)address);
  uint64_t v;
  memcpy(&v, at->host, 8);
  if (begins || unpack(v, &at->state)) return true;
  return run_fails(run, pc, "block %lld has no mbarrier at byte %llu of shared memory: nobody initialised it",
                   (long long)at->owner->index, (unsigned long long)at->offset);
}

static void tell(const Meeting *at, PtxMbarrierEvent event, const Block *b, int lane) { /* of other blocks: nothing */
  if (at->run->shadow && at->owner == b)
    ptx_shadow_mbarrier(at->run->shadow, event, b->index, 32 * at->w->index + lane, at->pc, at->offset);
}

/* Ends the phase that has all its arrivals and bytes, and writes the barrier back. */
static bool settle(Meeting *at) {
  Mbarrier *m = &at->state;
  if (m->bytes < -MBAR_MOST || m->bytes > MBAR_MOST)
    return run_fails(at->run, at->pc, "the mbarrier at byte %llu waits for %d bytes; 1048575 is the most",
                     (unsigned long long)at->offset, m->bytes);
  const bool ends = !m->missing && !m->bytes;
  if (ends) m->missing = m->expected, m->odd = !m->odd;
  const uint64_t v = pack(*m);
  memcpy(at->host, &v, 8);
  if (!ends) return true;
  at->run->patience = 0;
  if (at->run->shadow)
    ptx_shadow_mbarrier(at->run->shadow, PTX_MBARRIER_PHASE, at->owner->index, 32 * at->w->index, at->pc, at->offset);
  block_wake(at->run, at->owner, WAIT_MBARRIER);
  return true;
}

bool mbarrier_bytes(Run *run, Block *b, const Warp *w, int32_t pc, uint64_t address, int64_t bytes) {
  Meeting at;
  if (!meets(&at, run, b, w, pc, address, false)) return false;
  at.state.bytes -= (int32_t)bytes;
  return settle(&at);
}

static bool arrive(Meeting *at, const Ins *i, char *R, int l) {
  Mbarrier *m = &at->state;
  const uint32_t b = i->b < 0 ? 1 : lane_word(R, i->b, l), n = i->mode & ARRIVE_EXPECT ? 1 : b;
  if (i->d >= 0) {
    const uint64_t before = pack(*m);
    memcpy(R + i->d + 8 * l, &before, 8);
  }
  if (i->mode & (ARRIVE_EXPECT | ARRIVE_COMPLETE)) {
    if (b > MBAR_MOST) return run_fails(at->run, at->pc, "%u bytes at an mbarrier; 1048575 is the most", b);
    m->bytes += i->mode & ARRIVE_EXPECT ? (int32_t)b : -(int32_t)b;
  }
  if (i->mode & ARRIVE_COUNT) {
    if (n > m->missing)
      return run_fails(
          at->run, at->pc,
          "thread %lld of block %lld arrives at the mbarrier at byte %llu, whose phase wants no more arrivals",
          (long long)(32 * at->w->index + l), (long long)at->owner->index, (unsigned long long)at->offset);
    m->missing -= n;
    if (i->mode & ARRIVE_DROP) m->expected -= n <= m->expected ? n : m->expected;
  }
  return settle(at);
}

static StepResult mbarrier_arrive(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask) {
  const Ins *i = &run->code[pc];
  char *R = run->arena + w->file;
  FOR_LANES (l, mask) {
    Meeting at;
    if (!meets(&at, run, b, w, pc, address_of(i, R, l), false)) return STEP_ERROR;
    if (i->mode & ARRIVE_COUNT) tell(&at, PTX_MBARRIER_ARRIVAL, b, l);
    if (!arrive(&at, i, R, l)) return STEP_ERROR;
  }
  return STEP_NEXT;
}

static StepResult mbarrier_init(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask) {
  const Ins *i = &run->code[pc];
  const char *R = run->arena + w->file;
  FOR_LANES (l, mask) {
    const uint32_t n = i->b < 0 ? 1 : lane_word(R, i->b, l);
    Meeting at;
    if (!meets(&at, run, b, w, pc, address_of(i, R, l), true)) return STEP_ERROR;
    if (n < 1 || n > MBAR_MOST) return run_fails(run, pc, "an mbarrier of %u arrivals; 1 to 1048575 are right", n);
    const uint64_t v = i->b < 0 ? 0 : pack((Mbarrier){.expected = n, .missing = n});
    memcpy(at.host, &v, 8);
    tell(&at, PTX_MBARRIER_INIT, b, l);
  }
  return STEP_NEXT;
}

static StepResult mbarrier_test(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask) {
  const Ins *i = &run->code[pc];
  const char *R = run->arena + w->file;
  uint32_t *p = (uint32_t *)(run->arena + w->file + run->kernel->file_bytes) + i->d;
  uint32_t ended = 0;
  FOR_LANES (l, mask) {
    Meeting at;
    Mbarrier before = {0};
    if (!meets(&at, run, b, w, pc, address_of(i, R, l), false)) return STEP_ERROR;
    if (i->mode & TEST_PARITY)
      before.odd = lane_word(R, i->b, l) & 1;
    else
      unpack(((const uint64_t *)(R + i->b))[l], &before);
    if (at.state.odd == before.odd) continue;
    ended |= 1u << l;
    tell(&at, PTX_MBARRIER_WAITED, b, l);
  }
  const uint32_t gives_up = w->gives_up & mask;
  w->gives_up &= ~mask;
  if (i->mode & TEST_WAITS && ended != mask && gives_up != mask) {
    warp_park(w, WAIT_MBARRIER, pc, mask);
    return STEP_PARKED;
  }
  *p = (*p & ~mask) | ended;
  return STEP_NEXT;
}

/* cp.async acts as it is issued: its arrival is due at once; without .noinc it is one that was added for it. */
static StepResult copies_arrive(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask) {
  const Ins *i = &run->code[pc];
  FOR_LANES (l, i->mode ? mask : 0) {
    Meeting at;
    if (!meets(&at, run, b, w, pc, address_of(i, run->arena + w->file, l), false)) return STEP_ERROR;
    if (run->shadow) ptx_shadow_wait(run->shadow, PTX_ASYNC_NONE, b->index, w->index, 1u << l, -1);
    tell(&at, PTX_MBARRIER_ARRIVAL, b, l);
    const Ins one = {.mode = ARRIVE_COUNT, .b = -1, .d = -1};
    if (!arrive(&at, &one, NULL, l)) return STEP_ERROR;
  }
  return STEP_NEXT;
}

bool run_give_up(Run *run) {
  bool any = false;
  if (++run->patience > PATIENCE) return false;
  for (int32_t p = 0; p < run->n_places; p++) {
    Block *b = &run->blocks[p];
    for (int32_t k = 0; b->index >= 0 && k < run->warps_per_block; k++) {
      Warp *w = &run->warps[b->first_warp + k];
      for (int32_t f = 0; f < w->n_wait; f++) {
        if (w->wait[f].wait == WAIT_MBARRIER) w->gives_up |= w->wait[f].mask, any = true;
        if (w->wait[f].wait == WAIT_WARP) w->gives_in = any = true;
      }
    }
    if (b->index >= 0) block_wake(run, b, WAIT_MBARRIER);
  }
  return any;
}

/* ---- clusters ---- */

void cluster_release(Run *run, Block *b) {
  const int32_t n = run->cluster[0] * run->cluster[1] * run->cluster[2];
  Block *first = &run->blocks[b->cluster_first];
  int32_t alive = 0;
  for (int32_t r = 0; r < n; r++) alive += first[r].alive;
  if (!first->cluster_arrived || first->cluster_arrived < alive) return;
  first->cluster_arrived = 0;
  first->cluster_phase ^= 1;
  for (int32_t r = 0; r < n; r++) {
    block_wake(run, &first[r], WAIT_CLUSTER);
  }
}

static StepResult cluster_arrive(Run *run, Block *b, Warp *w, uint32_t mask) {
  Block *first = &run->blocks[b->cluster_first];
  w->cluster_odd = (w->cluster_odd & ~mask) | (first->cluster_phase ? mask : 0);
  first->cluster_arrived += __builtin_popcount(mask);
  cluster_release(run, b);
  return STEP_NEXT;
}

static StepResult cluster_wait(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask) {
  const uint32_t now = run->blocks[b->cluster_first].cluster_phase ? ~0u : 0;
  if (!(~(w->cluster_odd ^ now) & mask)) return STEP_NEXT;
  warp_park(w, WAIT_CLUSTER, pc, mask);
  return STEP_PARKED;
}

static StepResult map_address(Run *run, Warp *w, int32_t pc, uint32_t mask) {
  const Ins *i = &run->code[pc];
  char *R = run->arena + w->file;
  const uint32_t n = (uint32_t)(run->cluster[0] * run->cluster[1] * run->cluster[2]);
  FOR_LANES (l, mask) {
    const uint32_t rank = lane_word(R, i->b, l);
    const uint64_t a = lane_get(R + i->a, i->wide, l);
    const uint64_t mapped = (a & ~((uint64_t)0xff << RANK_SHIFT)) | (uint64_t)(rank + 1) << RANK_SHIFT;
    if (rank >= n) return run_fails(run, pc, "block %u of a cluster of %u", rank, n);
    lane_set(R + i->d, i->wide, l, mapped);
  }
  return STEP_NEXT;
}

/* ---- the rest ---- */

/* A group is of four warps: it has begun when all have committed it. */
static StepResult wgmma_sync(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask) {
  const Ins *i = &run->code[pc];
  const int32_t left = (int32_t)(i->imm < 1000 ? i->imm : 1000), first = b->first_warp + w->index / 4 * 4;
  if (i->mode == WGMMA_FENCE) return STEP_NEXT;
  if (i->mode == WGMMA_COMMIT) {
    w->wgmma_groups++;
    if (run->shadow) ptx_shadow_commit(run->shadow, PTX_ASYNC_WGMMA, b->index, w->index, 1);
    block_wake(run, b, WAIT_WGMMA);
    return STEP_NEXT;
  }
  for (int32_t v = first; v < first + 4 && v < b->first_warp + run->warps_per_block; v++)
    if (run->warps[v].alive && run->warps[v].wgmma_groups < w->wgmma_groups - left) {
      warp_park(w, WAIT_WGMMA, pc, mask);
      return STEP_PARKED;
    }
  if (run->shadow) ptx_shadow_wait(run->shadow, PTX_ASYNC_WGMMA, b->index, w->index, 1, left);
  return STEP_NEXT;
}

StepResult hopper_step(Run *run, Block *b, Warp *w, int32_t pc, uint32_t m) {
  const Ins *i = &run->code[pc];
  switch (i->op) {
  case O_MBAR_INIT: return mbarrier_init(run, b, w, pc, m);
  case O_MBAR_ARRIVE: return mbarrier_arrive(run, b, w, pc, m);
  case O_MBAR_TEST: return mbarrier_test(run, b, w, pc, m);
  case O_CP_MBAR: return copies_arrive(run, b, w, pc, m);
  case O_BULK: return bulk_step(run, b, w, pc, m);
  case O_WGMMA_SYNC:
    if (!warp_together(w, pc, m, ~0u)) return STEP_PARKED;
    return wgmma_sync(run, b, w, pc, m);
  case O_FENCE_PROXY:
    if (run->shadow) ptx_shadow_fence(run->shadow, b->index, w->index, m);
    return STEP_NEXT;
  case O_FENCE:
    if (run->shadow) ptx_shadow_fence_of(run->shadow, b->index, w->index, i->mode);
    return STEP_NEXT;
  case O_SETMAXNREG:
    if (run->shadow) ptx_shadow_registers(run->shadow, b->index, w->index, pc, (int32_t)i->imm);
    return STEP_NEXT;
  case O_CLUSTER_ARRIVE: return cluster_arrive(run, b, w, m);
  case O_CLUSTER_WAIT: return cluster_wait(run, b, w, pc, m);
  case O_MAPA: return map_address(run, w, pc, m);
  default: run_fails(run, pc, "is not modelled"); return STEP_ERROR;
  }
}
