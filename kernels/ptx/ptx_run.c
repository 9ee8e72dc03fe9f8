/* A launch: its blocks and their warps, one after another, the end of each.
 *
 * Blocks run one after another, or, with the first cache, those of one SM together: a warp until its next global
 * request, then the next warp. Where nobody but spinning warps is left, more blocks are begun: they may be what is
 * waited for. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/ptx/ptx_access.h"
#include "kernels/ptx/ptx_registers.h"
#include "sim/base/path.h"

enum { IDLE_PASSES = 20000 };

bool run_is_spent(Run *run, int32_t pc) {
  run_fails(run, pc, "%lld instructions of lanes ran: the budget is spent (--limit)", (long long)run->lanes);
  run->status = STATUS_TOO_LARGE;
  if (run->error) run->error->status = run->status;
  return false;
}

bool run_fails(Run *run, int32_t pc, const char *format, ...) {
  char text[ERROR_MESSAGE_BYTES], place[PTX_NAME_BYTES + 40] = "";
  const PtxInstruction i = ptx_instruction(run->kernel, pc);
  const char *file = i.file ? ptx_source_file(run->kernel->module, i.file) : NULL;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (file) snprintf(place, sizeof place, " (%s:%d)", path_base(file), i.line);
  return run_refuses(run, STATUS_BAD_REQUEST, "%s:%d%s: %s", run->kernel->module->name, i.ptx_line, place, text);
}

int64_t run_thread(const Warp *w, uint32_t mask) { return 32 * (int64_t)w->index + __builtin_ctz(mask); }

bool run_refuses(Run *run, Status status, const char *format, ...) {
  char text[ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  run->status = error_set(run->error, status, "%s", text);
  return false;
}

/* ---- the loop ---- */

typedef struct {
  int64_t next;  /* cluster, or turn of the SM */
  int32_t group; /* SMs that one cluster lies on */
  int64_t n_clusters, end, n_begun;
  int32_t n_groups, n_ranks;
  bool spills; /* blocks of the next SMs begin, too */
} Dealer;

/* The next cluster and its first SM; -1: none is left (of this SM, with the first cache). */
static int64_t deal(const Run *run, Dealer *d, int32_t *sm) {
  if (!run->cache) {
    *sm = (int32_t)(d->next % d->n_groups) * d->n_ranks;
    return d->next < d->end ? d->next++ : -1;
  }
  int64_t cluster = deal_cluster(d->n_clusters, d->n_groups, d->group, d->next++);
  if (cluster < 0 && d->spills && d->group + 1 < d->n_groups)
    d->group++, d->next = 1, cluster = deal_cluster(d->n_clusters, d->n_groups, d->group, 0);
  *sm = d->group * d->n_ranks;
  if (cluster < 0) d->next--;
  return cluster;
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
      d->n_begun += d->n_ranks;
      if (run->launch->progress)
        run->launch->progress(run->launch->progress_context, d->n_begun, run->result->totals.blocks);
      for (int32_t r = 0; r < d->n_ranks; r++) block_begin(run, p + r, cluster, r, (sm + r) % run->n_sm);
    }
    for (int32_t r = 0; r < d->n_ranks; r++) alive += run->blocks[p + r].index >= 0;
  }
  return alive;
}

static bool can_run(const Warp *w) { return w->n_run || warp_can_resume(w); }

static bool stuck(Run *run) {
  for (int32_t p = 0; p < run->n_places; p++) {
    const Block *b = &run->blocks[p];
    for (int32_t k = 0; b->index >= 0 && k < run->warps_per_block; k++) {
      const Warp *w = &run->warps[b->first_warp + k];
      const Fragment *f = w->n_wait ? &w->wait[0] : w->n_run ? &w->run[0] : NULL;
      if (!f) continue;
      const bool at_barrier = w->n_wait && f->wait >= 0;
      const int32_t pc = at_barrier ? f->pc - 1 : f->pc;
      return run_fails(run, pc < run->kernel->n_code ? pc : run->kernel->n_code - 1,
                       "block %lld is stuck: thread %lld waits %s", (long long)b->index,
                       (long long)run_thread(w, f->mask),
                       at_barrier                             ? "at a barrier for a thread that never comes"
                       : w->n_wait && f->wait == WAIT_CLUSTER ? "for threads of its cluster that never come"
                       : w->n_wait                            ? "for a phase of an mbarrier that never ends"
                                                              : "for a value that never comes");
    }
  }
  return true;
}

/* One turn of a block's warps. *moved: something happened that was no waiting. *waits: each asks memory in a loop. */
static bool turn(Run *run, Block *b, bool *moved, bool *yields, bool *waits) {
  for (int32_t k = 0; k < run->warps_per_block; k++) {
    Warp *w = &run->warps[b->first_warp + k];
    if (!w->alive || !can_run(w)) continue;
    const uint32_t turns = w->turns;
    const WarpState s = run->step(run, b, w);
    if (s == WARP_ERROR) return false;
    if (s == WARP_YIELDS)
      *yields = true;
    else
      *moved = true;
    *waits &= s == WARP_YIELDS || (s == WARP_REQUEST && w->turns > turns);
  }
  return true;
}

static bool run_blocks(Run *run, Dealer *d) {
  int32_t idle = 0, asks = 0;
  while (fill_places(run, d)) {
    bool moved = false, yields = false, left = false, waits = true;
    for (int32_t p = 0; p < run->n_places; p++) {
      Block *b = &run->blocks[p];
      if (b->index < 0) continue;
      if (!turn(run, b, &moved, &yields, &waits)) return false;
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
    asks = waits && !left ? asks + 1 : 0;
    if (run->cache && asks == 1000) {
      d->spills = run_make_places(run, 2 * run->n_places);
      asks = 0;
    }
    if (!idle) continue;
    if (!yields && idle > 1) {
      if (!run_give_up(run)) return stuck(run);
      idle = 0;
    }
    if (idle == 8 || idle == 64) { /* blocks that are not begun may be what is waited for */
      const bool more = d->next < (run->cache ? d->n_clusters : d->end) && run_make_places(run, 2 * run->n_places);
      if (more) idle = 0;
    }
    if (idle > IDLE_PASSES) return stuck(run);
  }
  return true;
}

/* ---- a run ---- */

static bool can_use_avx2(void) {
#ifdef PTX_HAS_AVX2
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

PtxRequestKind run_kind(const Ins *i, int32_t space) {
  const bool shared = space == SPACE_SHARED, local = space == SPACE_LOCAL,
             silent = space == SPACE_CONST || space == SPACE_PARAM || !i->counted;
  switch (i->op) {
  case O_LD: return silent ? PTX_NO_REQUEST : shared ? PTX_SHARED_LOAD : local ? PTX_LOCAL_LOAD : PTX_GLOBAL_LOAD;
  case O_ST: return silent ? PTX_NO_REQUEST : shared ? PTX_SHARED_STORE : local ? PTX_LOCAL_STORE : PTX_GLOBAL_STORE;
  case O_ATOM:
    return shared                     ? PTX_SHARED_ATOMIC
           : local                    ? PTX_LOCAL_STORE
           : i->mode & ATOM_NO_RESULT ? PTX_GLOBAL_REDUCE
                                      : PTX_GLOBAL_ATOMIC;
  case O_CP_ASYNC: return PTX_ASYNC_COPY;
  case O_LDMATRIX: return PTX_SHARED_LOAD;
  case O_STMATRIX: return PTX_SHARED_STORE;
  case O_BULK: return PTX_BULK_COPY;
  default: return PTX_NO_REQUEST;
  }
}

static void sum_up(Run *run) {
  PtxTotals *t = &run->result->totals;
  for (int32_t pc = 0; pc < run->kernel->n_code; pc++) {
    PtxCounts *c = &run->result->counts[pc], *k = &t->by_kind[run->result->kinds[pc]];
    const Ins *i = &run->kernel->code[pc];
    if (i->op == O_BRA && i->guard >= 0) t->branches += c->executed;
    if (run->code[pc].micro) c->executed = c->lanes = 0;
    t->executed += c->executed, t->lanes += c->lanes;
    k->executed += c->executed, k->lanes += c->lanes, k->requests += c->requests;
    k->sectors += c->sectors, k->wavefronts += c->wavefronts, k->conflicts += c->conflicts;
  }
  t->taken_branches = (uint64_t)run->taken;
  t->divergent_branches = (uint64_t)run->divergent;
  t->barriers = run->barriers;
  t->memory_bytes = run->arena_bytes + (int64_t)run->kernel->n_sites * (int64_t)sizeof(Site);
  if (run->cache) ptx_l1_totals(run->cache, run, t);
}

static bool prepare(Run *run, Dealer *d) {
  const PtxKernel *k = run->kernel;
  const PtxLaunch *l = run->launch;
  if (!launch_shape(run) || !launch_bind(run)) return false;
  run->code = l->faults ? k->code : k->merged;
  run->sites = calloc((size_t)k->n_sites + 1, sizeof *run->sites);
  run->result->counts = calloc((size_t)k->n_code, sizeof *run->result->counts);
  run->result->kinds = calloc((size_t)k->n_code, sizeof *run->result->kinds);
  if (!run->sites || !run->result->counts || !run->result->kinds)
    return run_refuses(run, STATUS_NO_MEMORY, "no memory for the launch");
  run->result->n_instructions = k->n_code;
  for (int32_t pc = 0; pc < k->n_code; pc++) run->result->kinds[pc] = run_kind(&run->code[pc], run->code[pc].space);
  run->lanes = run->lanes_left = l->max_lanes > 0 ? l->max_lanes : PTX_MAX_LANES;
  run->watch = l->watch;
  run->n_sm = l->sm.n_sm > 0 ? l->sm.n_sm : 132;
  d->n_ranks = run->cluster[0] * run->cluster[1] * run->cluster[2];
  d->n_clusters = run->result->totals.blocks / d->n_ranks;
  d->n_groups = run->n_sm / d->n_ranks > 0 ? run->n_sm / d->n_ranks : 1;
  int64_t l1_bytes;
  const int32_t resident = launch_resident(run, &l1_bytes);
  run->result->totals.resident_blocks = resident;
  if (l->l1 && !(run->cache = ptx_l1_new(run, l1_bytes)))
    return run_refuses(run, STATUS_NO_MEMORY, "no memory for the first cache");
  run->is_followed = run->watch || l->witness || run->cache;
  if (l->faults) {
    run->shadow = ptx_shadow_new(k, l, run->shared_bytes, k->granule_bytes);
    if (!run->shadow || !ptx_registers_new(k, &run->registers))
      return run_refuses(run, STATUS_NO_MEMORY, "no memory to look for faults");
    if (k->module->n_memory)
      ptx_shadow_range(run->shadow, MODULE_BASE, k->module->n_memory, run->module_memory, "the module's variables");
  }
  int32_t places = (l->l1 ? resident : 1) * d->n_ranks;
  while (!run_make_places(run, places)) {
    if (places == d->n_ranks)
      return run_refuses(run, STATUS_TOO_LARGE,
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
  if (!run) return error_no_memory(error, "for the launch");
  *run = (Run){.kernel = kernel, .launch = launch, .result = result, .error = error};
  if (prepare(run, &d)) {
    const int32_t groups = run->cache ? d.n_groups : 1;
    const bool is_part = launch->parts > 0 && !run->cache;
    const int64_t first = is_part ? d.n_clusters * (launch->part - 1) / launch->parts : 0;
    d.end = is_part ? d.n_clusters * launch->part / launch->parts : d.n_clusters;
    for (d.group = 0; d.group < groups && !run->status; d.group++) {
      d.next = first, d.spills = false;
      run_blocks(run, &d);
    }
    sum_up(run);
    if (run->shadow) ptx_shadow_wgmma(run->shadow, result->counts);
    if (run->shadow) ptx_shadow_report(run->shadow, result);
    if (run->shadow && ptx_shadow_trouble(run->shadow) && !run->status)
      run_refuses(run, STATUS_NO_MEMORY, "no memory to look for all faults");
  }
  const Status status = run->status;
  if (run->shadow) ptx_shadow_free(run->shadow);
  ptx_registers_free(run->registers);
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
