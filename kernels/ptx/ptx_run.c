/* A launch: its memory, its blocks and their warps, barriers, the end of each.
 *
 * Blocks run one after another, or, with the first cache, those of one SM together: a warp until its next global
 * request, then the next warp. Where nobody but spinning warps is left, more blocks are begun: they may be what is
 * waited for. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_access.h"

enum { ARENA_ALIGN = 64, IDLE_PASSES = 20000, BUFFER_ALIGN_SHIFT = 21 };

WarpState run_fails(Run *run, int32_t pc, Status status, const char *format, ...) {
  char text[ERROR_MESSAGE_BYTES];
  const PtxInstruction i = ptx_instruction(run->kernel, pc);
  const char *file = i.file ? ptx_source_file(run->kernel->module, i.file) : NULL;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (file) {
    const char *slash = strrchr(file, '/');
    error_set(run->error, status, "%s:%d (%s:%d): %s", run->kernel->module->name, i.ptx_line, slash ? slash + 1 : file,
              i.line, text);
  } else {
    error_set(run->error, status, "%s:%d: %s", run->kernel->module->name, i.ptx_line, text);
  }
  run->status = status;
  return WARP_ERROR;
}

int64_t run_thread(const Warp *w, uint32_t mask) { return 32 * (int64_t)w->index + __builtin_ctz(mask); }

static bool refuses(Run *run, Status status, const char *format, ...) {
  char text[ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  run->status = error_set(run->error, status, "%s", text);
  return false;
}

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
      for (uint32_t m = w->wait[f].mask; m; m &= m - 1)
        ((uint32_t *)(R + i->d))[__builtin_ctz(m)] = (uint32_t)bar->count;
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
}

/* ---- what a warp's file holds before it begins ---- */

static uint32_t special(const Run *run, const Block *b, const Warp *w, uint64_t which, int l) {
  const int32_t thread = 32 * w->index + l, x = run->block[0], y = run->block[1];
  const int32_t *c = run->cluster;
  switch (which) {
  case SPECIAL_TID_X: return (uint32_t)(thread % x);
  case SPECIAL_TID_Y: return (uint32_t)(thread / x % y);
  case SPECIAL_TID_Z: return (uint32_t)(thread / x / y);
  case SPECIAL_NTID_X:
  case SPECIAL_NTID_Y:
  case SPECIAL_NTID_Z: return (uint32_t)run->block[which - SPECIAL_NTID_X];
  case SPECIAL_CTAID_X:
  case SPECIAL_CTAID_Y:
  case SPECIAL_CTAID_Z: return (uint32_t)b->ctaid[which - SPECIAL_CTAID_X];
  case SPECIAL_NCTAID_X:
  case SPECIAL_NCTAID_Y:
  case SPECIAL_NCTAID_Z: return (uint32_t)run->grid[which - SPECIAL_NCTAID_X];
  case SPECIAL_LANEID: return (uint32_t)l;
  case SPECIAL_WARPID: return (uint32_t)w->index;
  case SPECIAL_NWARPID: return (uint32_t)run->warps_per_block;
  case SPECIAL_SMID: return (uint32_t)b->sm;
  case SPECIAL_NSMID: return (uint32_t)run->n_sm;
  case SPECIAL_CLUSTERID_X:
  case SPECIAL_CLUSTERID_Y:
  case SPECIAL_CLUSTERID_Z: return (uint32_t)(b->ctaid[which - SPECIAL_CLUSTERID_X] / c[which - SPECIAL_CLUSTERID_X]);
  case SPECIAL_NCLUSTERID_X:
  case SPECIAL_NCLUSTERID_Y:
  case SPECIAL_NCLUSTERID_Z:
    return (uint32_t)(run->grid[which - SPECIAL_NCLUSTERID_X] / c[which - SPECIAL_NCLUSTERID_X]);
  case SPECIAL_CLUSTER_CTAID_X:
  case SPECIAL_CLUSTER_CTAID_Y:
  case SPECIAL_CLUSTER_CTAID_Z:
    return (uint32_t)(b->ctaid[which - SPECIAL_CLUSTER_CTAID_X] % c[which - SPECIAL_CLUSTER_CTAID_X]);
  case SPECIAL_CLUSTER_NCTAID_X:
  case SPECIAL_CLUSTER_NCTAID_Y:
  case SPECIAL_CLUSTER_NCTAID_Z: return (uint32_t)c[which - SPECIAL_CLUSTER_NCTAID_X];
  case SPECIAL_CLUSTER_CTARANK: return (uint32_t)b->rank;
  case SPECIAL_CLUSTER_NCTARANK: return (uint32_t)(c[0] * c[1] * c[2]);
  case SPECIAL_LANEMASK_EQ: return 1u << l;
  case SPECIAL_LANEMASK_LT: return (1u << l) - 1;
  case SPECIAL_LANEMASK_LE: return (1u << l) - 1 + (1u << l);
  case SPECIAL_LANEMASK_GT: return ~((1u << l) - 1 + (1u << l));
  case SPECIAL_LANEMASK_GE: return ~((1u << l) - 1);
  case SPECIAL_DYNAMIC_SMEM: return (uint32_t)run->launch->dynamic_shared_bytes;
  case SPECIAL_TOTAL_SMEM: return (uint32_t)run->shared_bytes;
  case SPECIAL_EXPLICIT_CLUSTER: return c[0] * c[1] * c[2] > 1;
  default: return 0;
  }
}

static bool changes_with_block(uint64_t which) {
  return (which >= SPECIAL_CTAID_X && which <= SPECIAL_CTAID_Z) || which == SPECIAL_SMID ||
         (which >= SPECIAL_CLUSTERID_X && which <= SPECIAL_CLUSTERID_Z) ||
         (which >= SPECIAL_CLUSTER_CTAID_X && which <= SPECIAL_CLUSTER_CTARANK);
}

static uint64_t slot_value(const Run *run, const Slot *s) {
  if (s->kind == SLOT_CONSTANT) return s->value;
  if (s->kind == SLOT_DYNAMIC) return s->value + (uint64_t)((run->kernel->static_shared + 15) / 16 * 16);
  uint64_t v = 0;
  memcpy(&v, run->parameters + s->value, s->bytes);
  if (s->is_signed && s->bytes < 8) v = (uint64_t)((int64_t)(v << (64 - 8 * s->bytes)) >> (64 - 8 * s->bytes));
  return v;
}

static void write_slots(Run *run, const Block *b, const Warp *w, bool first) {
  char *R = run->arena + w->file;
  for (int32_t k = 0; k < run->kernel->n_slots; k++) {
    const Slot *s = &run->kernel->slots[k];
    const bool is_special = s->kind == SLOT_SPECIAL;
    if (is_special ? !first && !changes_with_block(s->value) : !first) continue;
    const uint64_t value = is_special ? 0 : slot_value(run, s);
    for (int l = 0; l < LANES; l++) {
      const uint64_t v = is_special ? special(run, b, w, s->value, l) : value;
      if (s->width == 64)
        ((uint64_t *)(R + s->offset))[l] = v;
      else
        ((uint32_t *)(R + s->offset))[l] = (uint32_t)v;
    }
  }
}

/* ---- blocks ---- */

static void begin_block(Run *run, int32_t place, int64_t cluster, int32_t rank, int32_t sm) {
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
  for (int32_t k = 0; k < run->warps_per_block; k++) {
    Warp *w = &run->warps[b->first_warp + k];
    const int32_t lanes = run->block_threads - 32 * k;
    w->exist = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    w->alive = w->exist;
    w->n_run = 1, w->n_wait = 0, w->turns = 0, w->spinning = false, w->forced = -1;
    w->run[0] = (Fragment){0, w->exist, 0};
    write_slots(run, b, w, !b->has_constants);
  }
  b->has_constants = true;
  if (run->shadow) ptx_shadow_block_begin(run->shadow, b->index);
}

/* Room for `n` places: blocks, warps, and their part of the arena. False: over the budget (nothing has changed), or no
 * memory. */
static bool make_places(Run *run, int32_t n) {
  const int64_t file =
      (run->kernel->file_bytes + 4 * (int64_t)run->kernel->n_predicates + ARENA_ALIGN) / ARENA_ALIGN * ARENA_ALIGN;
  const int64_t local = (32 * run->kernel->local_bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
  const int64_t shared = (run->shared_bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
  const int64_t each = run->warps_per_block * (file + local) + shared;
  const int64_t most = run->launch->max_memory_bytes ? run->launch->max_memory_bytes : PTX_MAX_MEMORY_BYTES;
  if (each > most / n) return false;
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

/* ---- the loop ---- */

typedef struct {
  int64_t next;  /* cluster, or turn of the SM */
  int32_t group; /* SMs that one cluster lies on */
  int64_t n_clusters;
  int32_t n_groups, n_ranks;
} Dealer;

/* The next cluster and its first SM; -1: none is left (of this SM, with the first cache). */
static int64_t deal(const Run *run, Dealer *d, int32_t *sm) {
  if (!run->cache) {
    *sm = (int32_t)(d->next % d->n_groups) * d->n_ranks;
    return d->next < d->n_clusters ? d->next++ : -1;
  }
  *sm = d->group * d->n_ranks;
  return deal_cluster(d->n_clusters, d->n_groups, d->group, d->next) < 0
             ? -1
             : deal_cluster(d->n_clusters, d->n_groups, d->group, d->next++);
}

/* Fills empty places; gives how many blocks are alive. */
static int32_t fill_places(Run *run, Dealer *d) {
  int32_t alive = 0;
  for (int32_t p = 0; p + d->n_ranks <= run->n_places; p += d->n_ranks) {
    bool empty = true;
    for (int32_t r = 0; r < d->n_ranks; r++) empty &= run->blocks[p + r].index < 0;
    if (empty) {
      int32_t sm;
      const int64_t cluster = deal(run, d, &sm);
      if (cluster < 0) continue;
      for (int32_t r = 0; r < d->n_ranks; r++) begin_block(run, p + r, cluster, r, (sm + r) % run->n_sm);
    }
    for (int32_t r = 0; r < d->n_ranks; r++) alive += run->blocks[p + r].index >= 0;
  }
  return alive;
}

static bool can_run(const Warp *w) {
  if (w->n_run) return true;
  for (int32_t k = 0; k < w->n_wait; k++)
    if (w->wait[k].wait == WAIT_WARP) return true;
  return false;
}

static bool stuck(Run *run) {
  for (int32_t p = 0; p < run->n_places; p++) {
    const Block *b = &run->blocks[p];
    for (int32_t k = 0; b->index >= 0 && k < run->warps_per_block; k++) {
      const Warp *w = &run->warps[b->first_warp + k];
      const Fragment *f = w->n_wait ? &w->wait[0] : w->n_run ? &w->run[0] : NULL;
      if (!f) continue;
      const bool at_barrier = w->n_wait && f->wait >= 0;
      const int32_t pc = at_barrier ? f->pc - 1 : f->pc;
      run_fails(run, pc < run->kernel->n_code ? pc : run->kernel->n_code - 1, STATUS_BAD_REQUEST,
                "block %lld is stuck: thread %lld waits %s that never comes", (long long)b->index,
                (long long)run_thread(w, f->mask), at_barrier ? "at a barrier for a thread" : "for a value");
      return false;
    }
  }
  return true;
}

/* One turn of a block's warps. *moved: something happened that was no waiting. */
static bool turn(Run *run, Block *b, bool *moved, bool *yields) {
  for (int32_t k = 0; k < run->warps_per_block; k++) {
    Warp *w = &run->warps[b->first_warp + k];
    if (!w->alive || !can_run(w)) continue;
    const WarpState s = run->step(run, b, w);
    if (s == WARP_ERROR) return false;
    if (s == WARP_YIELDS)
      *yields = true;
    else
      *moved = true;
  }
  return true;
}

static bool run_blocks(Run *run, Dealer *d) {
  int32_t idle = 0;
  while (fill_places(run, d)) {
    bool moved = false, yields = false, left = false;
    for (int32_t p = 0; p < run->n_places; p++) {
      Block *b = &run->blocks[p];
      if (b->index < 0) continue;
      if (!turn(run, b, &moved, &yields)) return false;
      if (b->alive) continue;
      left = true;
      if (d->n_ranks == 1) b->index = -1;
    }
    for (int32_t p = 0; left && d->n_ranks > 1 && p + d->n_ranks <= run->n_places;
         p += d->n_ranks) { /* a cluster leaves as one */
      int32_t alive = 0;
      for (int32_t r = 0; r < d->n_ranks; r++) alive += run->blocks[p + r].alive;
      for (int32_t r = 0; !alive && r < d->n_ranks; r++) run->blocks[p + r].index = -1;
    }
    idle = moved || left ? 0 : idle + 1;
    if (!idle) continue;
    if (!yields && idle > 1) return stuck(run);
    if (idle == 8 || idle == 64) { /* blocks that are not begun may be what is waited for */
      const bool more = d->next < d->n_clusters && make_places(run, 2 * run->n_places);
      if (more) idle = 0;
    }
    if (idle > IDLE_PASSES) return stuck(run);
  }
  return true;
}

/* ---- a launch against its kernel ---- */

static int32_t at_least_one(int32_t n) { return n ? n : 1; }

static bool check_shape(Run *run) {
  const PtxLaunch *l = run->launch;
  const PtxModule *m = run->kernel->module;
  const Function *f = &m->functions[run->kernel->function];
  int64_t threads = 1, blocks = 1;
  for (int k = 0; k < 3; k++) {
    if (l->grid[k] < 0 || l->block[k] < 0 || l->cluster[k] < 0)
      return refuses(run, STATUS_BAD_REQUEST, "grid, block and cluster have no negative sizes");
    run->grid[k] = at_least_one(l->grid[k]);
    run->block[k] = at_least_one(l->block[k]);
    run->cluster[k] = at_least_one(l->cluster[k] ? l->cluster[k] : f->entry.cluster[k]);
    threads *= run->block[k];
    if (threads > 1024) return refuses(run, STATUS_BAD_REQUEST, "a block of more than 1024 threads");
    if (k && run->grid[k] > 65535)
      return refuses(run, STATUS_BAD_REQUEST, "a grid of %d blocks in y or z; 65535 is the most", run->grid[k]);
    blocks *= run->grid[k];
    if (run->grid[k] % run->cluster[k])
      return refuses(run, STATUS_BAD_REQUEST, "a grid of %d is no multiple of its clusters of %d", run->grid[k],
                     run->cluster[k]);
    if (f->entry.required_block[k] && f->entry.required_block[k] != run->block[k])
      return refuses(run, STATUS_BAD_REQUEST, "the entry requires blocks of %d x %d x %d threads",
                     f->entry.required_block[0], f->entry.required_block[1], f->entry.required_block[2]);
  }
  if (f->entry.max_block_threads && threads > f->entry.max_block_threads)
    return refuses(run, STATUS_BAD_REQUEST, "a block of %lld threads; the entry allows %d", (long long)threads,
                   f->entry.max_block_threads);
  if (run->cluster[0] * run->cluster[1] * run->cluster[2] > 16)
    return refuses(run, STATUS_BAD_REQUEST, "a cluster of more than 16 blocks");
  run->block_threads = (int32_t)threads;
  run->warps_per_block = (int32_t)(threads + 31) / 32;
  run->result->totals.blocks = blocks;
  run->result->totals.threads = blocks * threads;
  if (l->dynamic_shared_bytes < 0 || l->dynamic_shared_bytes > PTX_MAX_SHARED_BYTES)
    return refuses(run, STATUS_BAD_REQUEST, "%lld bytes of dynamic shared memory; 227 KB is the most",
                   (long long)l->dynamic_shared_bytes);
  run->shared_bytes = run->kernel->static_shared;
  if (l->dynamic_shared_bytes) run->shared_bytes = (run->shared_bytes + 15) / 16 * 16 + l->dynamic_shared_bytes;
  if (run->shared_bytes > PTX_MAX_SHARED_BYTES)
    return refuses(run, STATUS_BAD_REQUEST, "%lld bytes of shared memory; 227 KB is the most",
                   (long long)run->shared_bytes);
  return true;
}

uint64_t ptx_buffer_address(const PtxLaunch *launch, int argument) {
  uint64_t at = GLOBAL_BASE;
  for (int k = 0; k < argument; k++) /* a gap behind each, so that no end is another's beginning */
    if (launch->arguments[k].kind == PTX_BUFFER)
      at += (((uint64_t)launch->arguments[k].n_bytes >> BUFFER_ALIGN_SHIFT) + 2) << BUFFER_ALIGN_SHIFT;
  return at;
}

static bool bind_arguments(Run *run) {
  const PtxLaunch *l = run->launch;
  const PtxModule *m = run->kernel->module;
  const Function *f = &m->functions[run->kernel->function];
  int32_t p = 0;
  uint64_t at = GLOBAL_BASE;
  run->buffers = calloc((size_t)l->n_arguments + 2, sizeof *run->buffers);
  run->module_memory = malloc((size_t)m->n_memory + 16);
  if (!run->buffers || !run->module_memory) return refuses(run, STATUS_NO_MEMORY, "no memory for the launch");
  if (m->n_memory) {
    memcpy(run->module_memory, m->memory, (size_t)m->n_memory);
    run->buffers[run->n_buffers++] =
        (Buffer){MODULE_BASE, (uint64_t)m->n_memory, (char *)run->module_memory, -1, false};
  }
  for (int32_t k = 0; k < l->n_arguments; k++) {
    const PtxArgument *a = &l->arguments[k];
    const char *name = a->name ? a->name : "an argument";
    if (a->n_bytes < 0 || (a->kind == PTX_BUFFER && a->n_bytes > (int64_t)1 << 40))
      return refuses(run, STATUS_BAD_REQUEST, "%s has no size of a buffer", name);
    if (a->kind == PTX_BUFFER) {
      run->buffers[run->n_buffers++] = (Buffer){at, (uint64_t)a->n_bytes, a->bytes, k, a->read_only && !run->shadow};
      if (!a->hidden) {
        if (p >= f->entry.n_parameters)
          return refuses(run, STATUS_BAD_REQUEST, "%s is one argument too many: the entry has %d parameters", name,
                         f->entry.n_parameters);
        const PtxParameter *to = &m->parameters[f->first_parameter + p++].p;
        if (to->size_bytes != 8)
          return refuses(run, STATUS_BAD_REQUEST, "%s is a buffer; its parameter has %d bytes, a pointer 8", name,
                         to->size_bytes);
        memcpy(run->parameters + to->offset_bytes, &at, 8);
      }
      at += (((uint64_t)a->n_bytes >> BUFFER_ALIGN_SHIFT) + 2) << BUFFER_ALIGN_SHIFT;
      continue;
    }
    if (p >= f->entry.n_parameters)
      return refuses(run, STATUS_BAD_REQUEST, "%s is one argument too many: the entry has %d parameters", name,
                     f->entry.n_parameters);
    const PtxParameter *to = &m->parameters[f->first_parameter + p++].p;
    if (to->size_bytes != a->n_bytes)
      return refuses(run, STATUS_BAD_REQUEST, "%s has %lld bytes; its parameter has %d", name, (long long)a->n_bytes,
                     to->size_bytes);
    memcpy(run->parameters + to->offset_bytes, a->bytes, (size_t)a->n_bytes);
  }
  if (p < f->entry.n_parameters)
    return refuses(run, STATUS_BAD_REQUEST, "%d arguments; the entry has %d parameters", p, f->entry.n_parameters);
  for (int32_t k = 0; k < f->entry.n_parameters; k++) {
    const PtxParameter *q = &m->parameters[f->first_parameter + k].p;
    run->parameter_bytes = q->offset_bytes + q->size_bytes;
  }
  return true;
}

/* Blocks of this kernel that one SM holds, and what shared memory leaves of its L1. */
static int32_t resident_blocks(const Run *run, int64_t *l1_bytes) {
  static const int32_t carve_outs[] = {0,   8,   16,  32, 64, 100,
                                       132, 164, 196, 228}; /* KiB: CUDA C Programming Guide, compute capability 9.0 */
  const PtxSm *s = &run->launch->sm;
  const int32_t unified = s->unified_bytes ? s->unified_bytes : 256 * 1024, warps = s->warps ? s->warps : 64;
  int64_t n = s->blocks ? s->blocks : 32;
  const int64_t shared =
      run->shared_bytes ? run->shared_bytes + 1024 : 1024; /* 1 KiB is the system's, of every block */
  if (n > warps / run->warps_per_block) n = warps / run->warps_per_block;
  if (n > 228 * 1024 / shared) n = 228 * 1024 / shared;
  if (s->registers_per_thread > 0) {
    const int64_t each = (s->registers_per_thread + 7) / 8 * 8 * 32 * (int64_t)run->warps_per_block;
    const int64_t fit = (s->registers ? s->registers : 65536) / each;
    if (n > fit) n = fit;
  }
  if (n < 1) n = 1;
  int64_t carve = unified;
  for (size_t k = sizeof carve_outs / sizeof *carve_outs; k-- > 0;)
    if ((int64_t)carve_outs[k] * 1024 >= n * shared) carve = (int64_t)carve_outs[k] * 1024;
  *l1_bytes = unified - (run->shared_bytes ? carve : (int64_t)carve_outs[1] * 1024);
  return (int32_t)n;
}

static bool can_use_avx2(void) {
#ifdef PTX_HAS_AVX2
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

static void first_kinds(Run *run) {
  for (int32_t pc = 0; pc < run->kernel->n_code; pc++) {
    const Ins *i = &run->code[pc];
    PtxRequestKind *kind = &run->result->kinds[pc];
    const bool shared = i->space == SPACE_SHARED, local = i->space == SPACE_LOCAL,
               silent = i->space == SPACE_CONST || i->space == SPACE_PARAM || !i->counted;
    switch (i->op) {
    case O_LD:
      *kind = silent ? PTX_NO_REQUEST : shared ? PTX_SHARED_LOAD : local ? PTX_LOCAL_LOAD : PTX_GLOBAL_LOAD;
      break;
    case O_ST:
      *kind = silent ? PTX_NO_REQUEST : shared ? PTX_SHARED_STORE : local ? PTX_LOCAL_STORE : PTX_GLOBAL_STORE;
      break;
    case O_ATOM:
      *kind = shared ? PTX_SHARED_ATOMIC : i->mode & ATOM_NO_RESULT ? PTX_GLOBAL_REDUCE : PTX_GLOBAL_ATOMIC;
      break;
    case O_CP_ASYNC: *kind = PTX_ASYNC_COPY; break;
    case O_LDMATRIX: *kind = PTX_SHARED_LOAD; break;
    case O_STMATRIX: *kind = PTX_SHARED_STORE; break;
    case O_BULK:
    case O_TENSOR: *kind = PTX_BULK_COPY; break;
    default: break;
    }
  }
}

static void sum_up(Run *run) {
  PtxTotals *t = &run->result->totals;
  for (int32_t pc = 0; pc < run->kernel->n_code; pc++) {
    PtxCounts *c = &run->result->counts[pc], *k = &t->by_kind[run->result->kinds[pc]];
    if (run->code[pc].micro) c->executed = c->lanes = 0;
    t->executed += c->executed, t->lanes += c->lanes;
    k->executed += c->executed, k->lanes += c->lanes, k->requests += c->requests;
    k->sectors += c->sectors, k->wavefronts += c->wavefronts, k->conflicts += c->conflicts;
  }
  t->branches = (uint64_t)(run->branches - run->branches_left);
  t->divergent_branches = (uint64_t)run->divergent;
  t->barriers = run->barriers;
  t->memory_bytes = run->arena_bytes + (int64_t)run->kernel->n_sites * (int64_t)sizeof(Site);
  if (run->cache) ptx_l1_totals(run->cache, run, t);
}

static bool prepare(Run *run, Dealer *d) {
  const PtxKernel *k = run->kernel;
  const PtxLaunch *l = run->launch;
  if (!check_shape(run) || !bind_arguments(run)) return false;
  run->code = l->faults ? k->code : k->merged;
  run->sites = calloc((size_t)k->n_sites + 1, sizeof *run->sites);
  run->result->counts = calloc((size_t)k->n_code, sizeof *run->result->counts);
  run->result->kinds = calloc((size_t)k->n_code, sizeof *run->result->kinds);
  if (!run->sites || !run->result->counts || !run->result->kinds)
    return refuses(run, STATUS_NO_MEMORY, "no memory for the launch");
  run->result->n_instructions = k->n_code;
  first_kinds(run);
  run->branches = run->branches_left = l->max_branches > 0 ? l->max_branches : PTX_MAX_BRANCHES;
  run->watch = l->watch;
  run->n_sm = l->sm.n_sm > 0 ? l->sm.n_sm : 132;
  d->n_ranks = run->cluster[0] * run->cluster[1] * run->cluster[2];
  d->n_clusters = run->result->totals.blocks / d->n_ranks;
  d->n_groups = run->n_sm / d->n_ranks > 0 ? run->n_sm / d->n_ranks : 1;
  int64_t l1_bytes;
  const int32_t resident = resident_blocks(run, &l1_bytes);
  run->result->totals.resident_blocks = resident;
  if (l->l1 && !(run->cache = ptx_l1_new(run, l1_bytes)))
    return refuses(run, STATUS_NO_MEMORY, "no memory for the first cache");
  if (l->faults) {
    run->shadow = ptx_shadow_new(k, l, run->shared_bytes, k->granule_bytes);
    if (!run->shadow) return refuses(run, STATUS_NO_MEMORY, "no memory to look for faults");
    if (k->module->n_memory)
      ptx_shadow_range(run->shadow, MODULE_BASE, k->module->n_memory, run->module_memory, "the module's variables");
  }
  int32_t places = (l->l1 ? resident : 1) * d->n_ranks;
  while (!make_places(run, places)) {
    if (places == d->n_ranks)
      return refuses(run, STATUS_TOO_LARGE,
                     "one block's registers, shared and local memory are larger than the budget of %lld MB",
                     (long long)((l->max_memory_bytes ? l->max_memory_bytes : PTX_MAX_MEMORY_BYTES) >> 20));
    places = places / 2 / d->n_ranks * d->n_ranks;
    if (places < d->n_ranks) places = d->n_ranks;
  }
#ifdef PTX_HAS_AVX2
  run->step = can_use_avx2() ? ptx_warp_run_avx2 : ptx_warp_run;
#else
  run->step = can_use_avx2() ? NULL : ptx_warp_run;
#endif
  return true;
}

Status ptx_run(const PtxKernel *kernel, const PtxLaunch *launch, PtxResult *result, Error *error) {
  Dealer d = {0};
  Run *run = calloc(1, sizeof *run);
  *result = (PtxResult){.watch_pc = -1, .watch_thread = -1, .watch_block = -1};
  if (!run) return error_set(error, STATUS_NO_MEMORY, "no memory for the launch");
  *run = (Run){.kernel = kernel, .launch = launch, .result = result, .error = error};
  if (prepare(run, &d)) {
    const int32_t groups = run->cache ? d.n_groups : 1;
    for (d.group = 0; d.group < groups && !run->status; d.group++) {
      d.next = 0;
      run_blocks(run, &d);
    }
    sum_up(run);
    if (run->shadow) ptx_shadow_report(run->shadow, result);
    if (run->shadow && ptx_shadow_trouble(run->shadow) && !run->status)
      refuses(run, STATUS_NO_MEMORY, "no memory to look for all faults");
  }
  const Status status = run->status;
  if (run->shadow) ptx_shadow_free(run->shadow);
  ptx_l1_free_of(run->cache, run->n_buffers);
  free(run->arena);
  free(run->warps);
  free(run->blocks);
  free(run->sites);
  free(run->buffers);
  free(run->module_memory);
  free(run);
  return status;
}

void ptx_result_free(PtxResult *result) {
  free(result->counts);
  free(result->kinds);
  *result = (PtxResult){0};
}
