/* What goes on behind a thread's back: cp.async, bulk copies, wgmma; the groups and mbarriers that it is waited for
 * with, and the fences that it needs.
 *
 * The machine acts at once; here a copy's cells are in flight until they are waited for, and what it reads may not be
 * written until then. A wait that came through at an mbarrier ends the copies of the phases before. */
#include "kernels/ptx/ptx_shadow_private.h"

#include <stdlib.h>

const char *shadow_text(const PtxShadow *s, int32_t pc) { return ptx_instruction(s->kernel, pc).text; }

void shadow_begin(PtxShadow *s, ShadowBlock *b, ShadowCopy copy) {
  if (!shadow_grow(s, &b->copies, b->n_copies, &b->copies_capacity, sizeof *b->copies, 1 << 22)) return;
  copy.group = b->group[copy.async][copy.thread];
  if (copy.async == PTX_ASYNC_BARRIER) {
    const ShadowSignal *signal = shadow_signal(s, b, copy.barrier, true);
    copy.group = signal ? signal->phase : 0;
    shadow_release(s, b, copy.thread / 32, copy.barrier, true);
  }
  for (int64_t c = copy.first; copy.reads && c < copy.first + copy.n; c++) shadow_cells(&b->shared, c, 1)->readers++;
  b->copies[b->n_copies++] = copy;
}

const ShadowCopy *shadow_reader(const ShadowBlock *b, int64_t cell) {
  for (int64_t k = 0; k < b->n_copies; k++) {
    const ShadowCopy *c = &b->copies[k];
    if (c->reads && cell >= c->first && cell < c->first + c->n) return c;
  }
  return NULL;
}

/* It is over, as this warp knows now: others need a barrier from here on. */
static void finish(ShadowBlock *b, const ShadowCopy *copy, int32_t warp) {
  const uint32_t now = b->clocks[warp][warp] + 1;
  for (int64_t c = copy->first; c < copy->first + copy->n && c < b->shared.n_cells; c++) {
    ShadowCell *cell = shadow_cells(&b->shared, c, 1);
    if (copy->reads) {
      cell->readers--;
      if (copy->async == PTX_ASYNC_WGMMA) continue;
      if (cell->reader.pc1 == copy->pc + 1 && cell->reader.thread == copy->thread) cell->reader.clock = now;
      if (cell->other.pc1 == copy->pc + 1 && cell->other.thread == copy->thread) cell->other.clock = now;
    } else if (cell->writer.thread == copy->thread) { /* else written over since */
      cell->writer.flags &= (uint8_t)~CELL_IN_FLIGHT;
      if (copy->async != PTX_ASYNC_BARRIER) cell->writer.clock = now;
    }
  }
}

void ptx_shadow_commit(PtxShadow *s, PtxAsync async, int64_t block, int32_t warp, uint32_t mask) {
  ShadowBlock *b = shadow_block(s, block);
  if (b && async == PTX_ASYNC_WGMMA)
    b->begun[warp][b->group[async][32 * warp] % SHADOW_GROUPS] = b->clocks[warp][warp] + 1;
  for (; b && mask; mask &= mask - 1) b->group[async][32 * warp + __builtin_ctz(mask)]++;
}

/* A group of wgmma is of four warps: whoever has waited for it knows what all four have read. */
static bool covers(const ShadowBlock *b, PtxAsync async, int32_t warp, uint32_t mask, int32_t groups_left,
                   const ShadowCopy *copy) {
  const int32_t its = copy->thread / 32;
  if (copy->async != async) return false;
  if (async != PTX_ASYNC_WGMMA)
    return its == warp && (mask >> copy->thread % 32 & 1) && copy->group < b->group[async][copy->thread] - groups_left;
  return its / 4 == warp / 4 && copy->group < b->group[async][32 * warp] - groups_left;
}

static void know_of_four(const PtxShadow *s, ShadowBlock *b, int32_t warp, int32_t groups_left) {
  const int32_t last = b->group[PTX_ASYNC_WGMMA][32 * warp] - groups_left - 1, first = warp / 4 * 4;
  for (int32_t v = first; v < first + 4 && v < s->n_warps && last >= 0; v++) {
    const uint32_t clock = b->begun[v][last % SHADOW_GROUPS];
    if (v != warp && b->clocks[warp][v] < clock) b->clocks[warp][v] = clock;
  }
  b->clocks[warp][warp]++; /* its lanes have met */
}

void ptx_shadow_wait(PtxShadow *s, PtxAsync async, int64_t block, int32_t warp, uint32_t mask, int32_t groups_left) {
  ShadowBlock *b = shadow_block(s, block);
  int64_t kept = 0;
  for (int64_t k = 0; b && k < b->n_copies; k++) {
    const ShadowCopy copy = b->copies[k];
    if (covers(b, async, warp, mask, groups_left, &copy))
      finish(b, &copy, warp);
    else
      b->copies[kept++] = copy;
  }
  if (!b) return;
  b->n_copies = kept;
  if (async == PTX_ASYNC_WGMMA) know_of_four(s, b, warp, groups_left);
}

void shadow_ends(PtxShadow *s, ShadowBlock *b, int32_t warp, uint32_t mask) {
  for (int64_t k = 0; k < b->n_copies; k++) {
    const ShadowCopy *c = &b->copies[k];
    if (!c->reads || c->thread / 32 != warp || !(mask >> c->thread % 32 & 1)) continue;
    PtxFault *fault = shadow_fault(s, "in flight", c->pc, -1, 0);
    shadow_says(s, fault, "%T ends while this %s still reads shared memory (%s)", c->thread,
                c->async == PTX_ASYNC_WGMMA ? "wgmma" : "copy",
                c->async == PTX_ASYNC_WGMMA ? "wgmma.wait_group" : "cp.async.bulk.wait_group");
  }
  if (b->n_exited < s->n_threads || b->registers_pc < 0) return;
  int32_t sum = 0;
  for (int32_t w = 0; w < s->n_warps; w++) sum += 32 * b->registers[w];
  PtxFault *fault = sum > SHADOW_REGISTERS ? shadow_fault(s, "barrier", b->registers_pc, -1, 0) : NULL;
  shadow_says(s, fault, "setmaxnreg waits for registers that nobody gives: the block's warps ask for %d of %d", sum,
              SHADOW_REGISTERS);
}

/* --- mbarriers --- */

static void made_unseen(PtxShadow *s, const ShadowBlock *b, const ShadowSignal *signal, int32_t thread, int32_t pc,
                        bool by_copy) {
  const ShadowMark *m = &signal->maker;
  if (!m->pc1) return;
  const bool unordered = m->thread / 32 != thread / 32 && b->clocks[thread / 32][m->thread / 32] < m->clock;
  const bool unfenced = by_copy && b->fences[m->thread] <= signal->when && b->fences[thread] <= signal->when;
  if (!unordered && !unfenced) return;
  PtxFault *fault = shadow_fault(s, unordered ? "race" : "fence", pc, m->pc1 - 1, 0);
  if (!fault) return;
  shadow_says(s, fault, "%T %s the mbarrier at byte %d, which %T made at line %L with %s", thread,
              by_copy ? "starts a copy that counts at" : "uses", (int32_t)signal->offset, m->thread, m->pc1 - 1,
              unordered ? "no barrier between" : "no fence.mbarrier_init since");
}

static void waited(ShadowBlock *b, const ShadowSignal *signal, int32_t warp) {
  int64_t kept = 0;
  for (int64_t k = 0; k < b->n_copies; k++) {
    const ShadowCopy copy = b->copies[k];
    if (copy.async == PTX_ASYNC_BARRIER && copy.barrier == signal->offset && copy.group < signal->phase)
      finish(b, &copy, warp);
    else
      b->copies[kept++] = copy;
  }
  b->n_copies = kept;
}

void ptx_shadow_mbarrier(PtxShadow *s, PtxMbarrierEvent event, int64_t block, int32_t thread, int32_t pc,
                         uint64_t offset) {
  ShadowBlock *b = shadow_block(s, block);
  ShadowSignal *signal = b ? shadow_signal(s, b, offset, true) : NULL;
  const int32_t warp = thread / 32;
  if (!signal) return;
  switch (event) {
  case PTX_MBARRIER_INIT:
    *signal = (ShadowSignal){.offset = offset, .when = ++b->now};
    signal->maker = (ShadowMark){.pc1 = pc + 1, .clock = b->clocks[warp][warp] + 1, .thread = (uint16_t)thread};
    break;
  case PTX_MBARRIER_ARRIVAL:
    made_unseen(s, b, signal, thread, pc, false);
    shadow_release(s, b, warp, offset, true);
    b->clocks[warp][warp]++; /* what follows is not released */
    break;
  case PTX_MBARRIER_COPY: made_unseen(s, b, signal, thread, pc, true); break;
  case PTX_MBARRIER_PHASE: signal->phase++; break;
  default:
    made_unseen(s, b, signal, thread, pc, false);
    shadow_acquire(s, b, warp, offset);
    waited(b, signal, warp);
  }
}

void ptx_shadow_fence(PtxShadow *s, int64_t block, int32_t warp, uint32_t mask) {
  ShadowBlock *b = shadow_block(s, block);
  if (!b) return;
  b->now++;
  for (; mask; mask &= mask - 1) b->fences[32 * warp + __builtin_ctz(mask)] = b->now;
  b->now++;
}

void ptx_shadow_registers(PtxShadow *s, int64_t block, int32_t warp, int32_t pc, int32_t n) {
  ShadowBlock *b = shadow_block(s, block);
  if (!b) return;
  const int32_t launched = SHADOW_REGISTERS / s->n_threads / 8 * 8;
  for (int32_t w = 0; w < s->n_warps; w++)
    if (!b->registers[w]) b->registers[w] = launched < 256 ? launched : 255;
  if (n > b->registers[warp]) b->registers_pc = pc;
  b->registers[warp] = n;
}
