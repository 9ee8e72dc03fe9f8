/* Which barrier is missing: accesses of a block in no order are told by the place of a barrier that would order most.
 *
 *     write s[T]
 *         <- a barrier here
 *     read s[63 - T]
 *
 * What a warp does between two barriers is a stretch of code: from the last one on, round the loop that has it. A
 * barrier behind the one access and not behind the other parts them, whoever came first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_lower.h"
#include "kernels/ptx/ptx_shadow_private.h"

/* A barrier before instruction `pc`: before or behind a line, or before the loop that begins there. */
typedef struct {
  int32_t pc, line;
  bool behind, before_loop;
  uint64_t lanes, executed; /* how often threads and warps come there */
} Place;

typedef struct {
  PtxShadow *s;
  const PtxResult *result;
  Blocks blocks;
  int32_t *loop; /* by pc: where the smallest loop around it branches back; -1 */
  Place *at;     /* by line: it has several where the compiler copied it */
  int32_t n;
} Places;

static bool is_lockstep(const PtxFault *f) { return strcmp(f->kind, "relies on lockstep") == 0; }

/* Between the fault's accesses, of which a warp's own come one after the other. */
static bool parts(const Places *p, const PtxFault *f, const Place *at) {
  const Ins *code = p->s->kernel->code;
  int32_t first = 0, last = p->loop[f->pc], before = f->other_pc;
  for (int32_t pc = before; code[before].op == O_CP_ASYNC && pc < p->s->kernel->n_code; pc++)
    if (code[pc].op == O_CP_WAIT) before = pc; /* where it has arrived */
  while (last >= 0 && (before < code[last].target || before > last)) {
    const int32_t outer = code[last].target;
    last = outer > 0 ? p->loop[outer - 1] : -1;
    if (last >= 0 && last < f->pc) last = -1;
  }
  if (last >= 0) first = code[last].target;
  if (last >= 0 && (at->pc < first || at->pc > last || (at->before_loop && at->pc == first))) return false;
  const int32_t line = shadow_line(p->s, f->pc), other = shadow_line(p->s, before), mark = at->line + at->behind;
  const bool is_turned = (line < other) != (f->pc < before); /* copies of a loop's lines */
  /* what the compiler moved across the line stands on its other side */
  if (line != other && ((f->pc < at->pc) != (before < at->pc)) != (((line < mark) != (other < mark)) != is_turned))
    return false;
  const bool is_inside = f->since >= first && f->since <= last;
  const int32_t from = is_lockstep(f) ? before : is_inside ? f->since : first - 1, n = last - first + 1;
  int32_t x[3] = {before, f->pc, at->pc};
  for (int k = is_lockstep(f); k < 3; k++) x[k] = x[k] > from ? x[k] - from : x[k] - from + n;
  if (is_lockstep(f)) x[0] = 0;
  return x[0] < x[1] ? x[0] < x[2] && x[2] <= x[1] : x[1] < x[2] && x[2] <= x[0];
}

/* `from`: of the block whose threads come there. */
static void add(Places *p, int32_t from, Place at) {
  const int32_t block = p->blocks.block_of[from];
  for (int32_t pc = p->blocks.first[block]; pc < p->blocks.first[block + 1]; pc++) {
    const PtxCounts *c = &p->result->counts[pc];
    if (c->lanes > at.lanes) at.lanes = c->lanes, at.executed = c->executed;
  }
  p->at[p->n++] = at;
}

static int by_line(const void *a, const void *b) {
  const Place *x = a, *y = b;
  return 2 * (x->line > y->line) - 2 * (x->line < y->line) + x->behind - y->behind;
}

/* Before and behind each line that touches memory or branches, and before loops. */
static void find_places(Places *p) {
  const PtxKernel *k = p->s->kernel;
  for (int32_t pc = 1, end; pc < k->n_code; pc = end) {
    const int32_t line = shadow_line(p->s, pc);
    bool acts = false;
    for (end = pc; end < k->n_code && shadow_line(p->s, end) == line; end++) {
      const Ins *i = &k->code[end];
      acts |= p->result->kinds[end] != PTX_NO_REQUEST || i->op == O_BRA;
      if (i->op == O_BRA && i->target > 0 && i->target <= end)
        add(p, i->target - 1, (Place){.pc = i->target, .line = line, .before_loop = true});
    }
    if (!acts || (p->loop[pc] >= 0 && shadow_line(p->s, p->loop[pc]) == line)) continue;
    add(p, pc, (Place){.pc = pc, .line = line});
    if (end < k->n_code && p->loop[pc] == p->loop[end]) add(p, pc, (Place){.pc = end, .line = line, .behind = true});
  }
  qsort(p->at, (size_t)p->n, sizeof *p->at, by_line);
}

/* Whether n places part the accesses of a fault that is not told yet: those where all threads come, or all lanes of a
 * warp. */
static bool clear(const Places *p, const PtxFault *f, const Place *at, int32_t n, bool of_warps) {
  const uint64_t all = (uint64_t)p->s->n_threads * (uint64_t)p->s->grid_blocks;
  for (int32_t k = 0; k < n && f->since >= -1 && !f->explained && !f->placed; k++)
    if (at[k].lanes && at[k].lanes % (of_warps ? 32 * at[k].executed : all) == 0 && parts(p, f, &at[k])) return true;
  return false;
}

/* The line before or behind which a barrier clears most, of equal ones the one that fewer threads pass, then the later;
 * false: none clears any. */
static bool place_one(const Places *p, bool of_warps) {
  PtxShadow *s = p->s;
  uint64_t fewest = 0;
  int32_t best = 0, n_best = 0, most = 0;
  for (int32_t a = 0, n; a < p->n; a += n) {
    uint64_t lanes = 0;
    int32_t cleared = 0, races = 0;
    for (n = 0; a + n < p->n && by_line(&p->at[a], &p->at[a + n]) == 0; n++) lanes += p->at[a + n].lanes;
    for (int32_t f = 0; f < s->n_faults; f++) {
      if (!clear(p, &s->faults[f], &p->at[a], n, of_warps)) continue;
      cleared++;
      races += is_lockstep(&s->faults[f]) == of_warps;
    }
    if (!races || cleared < most || (cleared == most && lanes + p->at[a].behind > fewest)) continue;
    most = cleared, best = a, n_best = n, fewest = lanes;
  }
  PtxFault *told = NULL;
  for (int32_t f = 0; most && f < s->n_faults; f++) {
    PtxFault *fault = &s->faults[f];
    if (!clear(p, fault, &p->at[best], n_best, of_warps)) continue;
    fault->explained = told && (is_lockstep(fault) || !is_lockstep(told));
    if (fault->explained) continue;
    if (told) told->explained = true;
    told = fault;
  }
  if (!told) return false;
  const size_t used = strlen(told->message);
  char others[48] = "it";
  told->placed = true;
  if (most > 1) snprintf(others, sizeof others, "it and %d more pair%s of lines", most - 1, most > 2 ? "s" : "");
  snprintf(told->message + used, sizeof told->message - used, "; %s %s line %d clears %s",
           of_warps ? "__syncwarp()" : "__syncthreads()", p->at[best].behind ? "behind" : "before", p->at[best].line,
           others);
  return true;
}

void shadow_place_barriers(PtxShadow *s, const PtxResult *result) {
  const PtxKernel *k = s->kernel;
  const size_t n = (size_t)k->n_code + 1;
  if (!s->n_faults) return;
  Places p = {.s = s, .result = result, .loop = malloc(n * sizeof *p.loop), .at = calloc(3 * n, sizeof *p.at)};
  if (blocks_find(k, &p.blocks) && p.loop && p.at) {
    for (int32_t pc = 0; pc < k->n_code; pc++) p.loop[pc] = -1;
    for (int32_t e = 0; e < k->n_code; e++)
      for (int32_t pc = k->code[e].op == O_BRA ? k->code[e].target : e + 1; pc >= 0 && pc <= e; pc++)
        if (p.loop[pc] < 0 || k->code[p.loop[pc]].target == k->code[e].target) p.loop[pc] = e;
    find_places(&p);
    while (place_one(&p, false) || place_one(&p, true)) {
    }
  }
  free(p.blocks.first);
  free(p.blocks.block_of);
  free(p.loop);
  free(p.at);
}
