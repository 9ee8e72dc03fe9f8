/* A block: what its warps' files hold before they begin, its memory, and its barriers. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_access.h"
#include "kernels/ptx/ptx_registers.h"

enum { ARENA_ALIGN = 64 };

/* ---- waiting ---- */

void warp_park(Warp *w, int32_t wait, int32_t pc, uint32_t mask) {
  for (int32_t k = 0; k < w->n_wait; k++)
    if (w->wait[k].wait == wait && w->wait[k].pc == pc) {
      w->wait[k].mask |= mask;
      return;
    }
  w->wait[w->n_wait++] = (Fragment){pc, mask, wait};
}

/* Fragments that wait for `wait` run again. */
void block_wake(Run *run, Block *b, int32_t wait) {
  for (int32_t k = 0; k < run->warps_per_block; k++) {
    Warp *w = &run->warps[b->first_warp + k];
    for (int32_t f = 0; f < w->n_wait;) {
      if (w->wait[f].wait == wait) {
        w->run[w->n_run++] = w->wait[f];
        w->wait[f] = w->wait[--w->n_wait];
      } else {
        f++;
      }
    }
  }
}

/* The result of bar.red, in the registers of those that waited. */
static void give_results(Run *run, Block *b, int32_t number) {
  const Barrier *bar = &b->barriers[number];
  for (int32_t k = 0; k < run->warps_per_block; k++) {
    Warp *w = &run->warps[b->first_warp + k];
    char *R = run->arena + w->file;
    for (int32_t f = 0; f < w->n_wait; f++) {
      const Ins *i = &run->code[w->wait[f].pc - 1];
      if (w->wait[f].wait != number || i->op != O_BAR_RED) continue;
      const bool truth = i->mode == 1 ? bar->count == bar->arrived : bar->count > 0;
      if (i->mode) {
        uint32_t *p = (uint32_t *)(R + run->kernel->file_bytes) + i->d;
        *p = (*p & ~w->wait[f].mask) | (truth ? w->wait[f].mask : 0);
        continue;
      }
      FOR_LANES (l, w->wait[f].mask) {
        lane_set(R + i->d, false, l, (uint32_t)bar->count);
      }
    }
  }
}

void block_release(Run *run, Block *b) {
  for (int32_t n = 0; n < N_BARRIERS; n++) {
    Barrier *bar = &b->barriers[n];
    if (!bar->arrived || bar->arrived < (bar->expected ? bar->expected : b->alive)) continue;
    if (run->shadow) ptx_shadow_barrier(run->shadow, b->index, n, bar->threads);
    give_results(run, b, n);
    *bar = (Barrier){0};
    run->barriers++;
    block_wake(run, b, n);
  }
}

void warp_exit(Run *run, Block *b, Warp *w, uint32_t mask) {
  w->alive &= ~mask;
  b->alive -= __builtin_popcount(mask);
  if (run->shadow) ptx_shadow_exit(run->shadow, b->index, w->index, mask);
  block_release(run, b);
  cluster_release(run, b);
}

/* ---- what a warp's file holds before it begins ---- */

/* Those that all lanes of a block share; 0: the others. */
static void find_specials(const Run *run, const Block *b, int32_t of[N_SPECIALS]) {
  const int32_t *c = run->cluster;
  for (int k = 0; k < 3; k++) {
    of[SPECIAL_NTID_X + k] = run->block[k];
    of[SPECIAL_CTAID_X + k] = b->ctaid[k];
    of[SPECIAL_NCTAID_X + k] = run->grid[k];
    of[SPECIAL_CLUSTERID_X + k] = b->ctaid[k] / c[k];
    of[SPECIAL_NCLUSTERID_X + k] = run->grid[k] / c[k];
    of[SPECIAL_CLUSTER_CTAID_X + k] = b->ctaid[k] % c[k];
    of[SPECIAL_CLUSTER_NCTAID_X + k] = c[k];
  }
  of[SPECIAL_NWARPID] = run->warps_per_block;
  of[SPECIAL_SMID] = b->sm;
  of[SPECIAL_NSMID] = run->n_sm;
  of[SPECIAL_GRIDID] = 0;
  of[SPECIAL_CLUSTER_CTARANK] = b->rank;
  of[SPECIAL_CLUSTER_NCTARANK] = c[0] * c[1] * c[2];
  of[SPECIAL_DYNAMIC_SMEM] = (int32_t)run->launch->dynamic_shared_bytes;
  of[SPECIAL_TOTAL_SMEM] = (int32_t)run->shared_bytes;
  of[SPECIAL_EXPLICIT_CLUSTER] = c[0] * c[1] * c[2] > 1;
}

static uint64_t special(const Run *run, const Warp *w, uint64_t which, int l, uint64_t of_block) {
  const int32_t thread = 32 * w->index + l, x = run->block[0], y = run->block[1];
  const uint32_t own = 1u << l;
  switch (which) {
  case SPECIAL_TID_X: return (uint32_t)(thread % x);
  case SPECIAL_TID_Y: return (uint32_t)(thread / x % y);
  case SPECIAL_TID_Z: return (uint32_t)(thread / x / y);
  case SPECIAL_LANEID: return (uint32_t)l;
  case SPECIAL_WARPID: return (uint32_t)w->index;
  case SPECIAL_LANEMASK_EQ: return own;
  case SPECIAL_LANEMASK_LT: return own - 1;
  case SPECIAL_LANEMASK_LE: return own - 1 + own;
  case SPECIAL_LANEMASK_GT: return ~(own - 1 + own);
  case SPECIAL_LANEMASK_GE: return ~(own - 1);
  default: return of_block;
  }
}

static uint64_t slot_value(const Run *run, const Slot *s) {
  if (s->kind == SLOT_CONSTANT) return s->value;
  if (s->kind == SLOT_DYNAMIC) return s->value + (uint64_t)launch_static_shared(run);
  uint64_t v = 0;
  memcpy(&v, run->parameters + s->value, s->bytes);
  if (s->is_signed && s->bytes < 8) v = (uint64_t)((int64_t)(v << (64 - 8 * s->bytes)) >> (64 - 8 * s->bytes));
  return v;
}

/* Those that were others in the block before; NULL: all. */
static void write_slots(Run *run, const Block *b, const Warp *w, const int32_t *before) {
  for (int32_t k = 0; k < run->kernel->n_slots; k++) {
    const Slot *s = &run->kernel->slots[k];
    const bool is_special = s->kind == SLOT_SPECIAL, by_lane = is_special && !before, wide = s->width == 64;
    if (before && (!is_special || b->specials[s->value] == before[s->value])) continue;
    const uint64_t value = is_special ? (uint32_t)b->specials[s->value] : slot_value(run, s);
    char *to = run->arena + w->file + s->offset;
    for (int l = 0; l < LANES; l++) lane_set(to, wide, l, by_lane ? special(run, w, s->value, l, value) : value);
  }
}

/* ---- blocks ---- */

void block_begin(Run *run, int32_t place, int64_t cluster, int32_t rank, int32_t sm) {
  Block *b = &run->blocks[place];
  const int32_t *c = run->cluster;
  const int64_t across = run->grid[0] / c[0], down = run->grid[1] / c[1];
  const int32_t origin[3] = {(int32_t)(cluster % across), (int32_t)(cluster / across % down),
                             (int32_t)(cluster / across / down)};
  const int32_t inside[3] = {rank % c[0], rank / c[0] % c[1], rank / c[0] / c[1]};
  for (int k = 0; k < 3; k++) b->ctaid[k] = origin[k] * c[k] + inside[k];
  b->index = b->ctaid[0] + (int64_t)run->grid[0] * (b->ctaid[1] + (int64_t)run->grid[1] * b->ctaid[2]);
  b->sm = sm, b->rank = rank, b->cluster_first = place - rank, b->alive = run->block_threads,
  b->cluster_arrived = b->cluster_phase = 0;
  memset(b->barriers, 0, sizeof b->barriers);
  int32_t before[N_SPECIALS];
  memcpy(before, b->specials, sizeof before);
  find_specials(run, b, b->specials);
  for (int32_t k = 0; k < run->warps_per_block; k++) {
    Warp *w = &run->warps[b->first_warp + k];
    const int32_t lanes = run->block_threads - 32 * k;
    w->exist = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    w->alive = w->exist;
    w->n_run = 1, w->n_wait = 0, w->turns = 0, w->spinning = false, w->forced = -1;
    w->gives_up = w->cluster_odd = 0, w->wgmma_groups = 0, w->gives_in = false;
    w->run[0] = (Fragment){0, w->exist, 0};
    if (run->registers) ptx_registers_begin(run->registers, b->first_warp + k);
    write_slots(run, b, w, b->has_constants ? before : NULL);
  }
  b->has_constants = true;
  if (run->shadow) ptx_shadow_block_begin(run->shadow, b->index);
}

bool run_make_places(Run *run, int32_t n) {
  const int64_t file =
      (run->kernel->file_bytes + 4 * (int64_t)run->kernel->n_predicates + ARENA_ALIGN) / ARENA_ALIGN * ARENA_ALIGN;
  const int64_t local = (32 * run->kernel->local_bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
  const int64_t shared = (run->shared_bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
  const int64_t each = run->warps_per_block * (file + local) + shared;
  const int64_t most = run->launch->max_memory_bytes ? run->launch->max_memory_bytes : PTX_MAX_MEMORY_BYTES;
  if (each > most / n) return false;
  if (run->registers && !ptx_registers_places(run->registers, (int64_t)n * run->warps_per_block)) return false;
  char *arena = aligned_alloc(ARENA_ALIGN, (size_t)(n * each + ARENA_ALIGN));
  Warp *warps = calloc((size_t)n * (size_t)run->warps_per_block, sizeof *warps);
  Block *blocks = calloc((size_t)n, sizeof *blocks);
  if (!arena || !warps || !blocks) {
    free(arena);
    free(warps);
    free(blocks);
    return false;
  }
  if (run->n_places) memcpy(arena, run->arena, (size_t)(run->n_places * each));
  memset(arena + run->n_places * each, 0, (size_t)((n - run->n_places) * each));
  if (run->n_places) memcpy(warps, run->warps, (size_t)run->n_places * (size_t)run->warps_per_block * sizeof *warps);
  if (run->n_places) memcpy(blocks, run->blocks, (size_t)run->n_places * sizeof *blocks);
  for (int32_t p = run->n_places; p < n; p++) {
    int64_t at = p * each;
    blocks[p].index = -1, blocks[p].first_warp = p * run->warps_per_block, blocks[p].shared = at;
    at += shared;
    for (int32_t k = 0; k < run->warps_per_block; k++) {
      Warp *w = &warps[blocks[p].first_warp + k];
      w->index = k, w->file = at, w->local = at + file;
      at += file + local;
    }
  }
  free(run->arena);
  free(run->warps);
  free(run->blocks);
  run->arena = arena, run->warps = warps, run->blocks = blocks;
  run->n_places = n;
  run->arena_bytes = n * each;
  return true;
}
