/* Registers that wgmma holds: on every way through the kernel, what was touched since the last wgmma.fence, and what
 * is under way, from the first wgmma that names a register to the wait that covers it.
 *
 * A dataflow over the places where branches meet, before anything is reported; an instruction that never ran is left
 * out. Chained wgmma on one accumulator need neither. Source: PTX ISA, "wgmma.fence", "wgmma.mma_async". */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_async.h"
#include "kernels/ptx/ptx_lower.h"
#include "kernels/ptx/ptx_shadow_private.h"

enum { MOST_BYTES = 64 << 20, MOST_PASSES = 64, UNCOMMITTED = 1, MOST_COMMITS = 9 };

/* Of one register. */
typedef struct {
  uint8_t touched;      /* read or written by others since the fence */
  uint8_t sum, operand; /* under way as D, as A: 0 not, else 1 + the commits since */
} Held;

typedef struct {
  PtxShadow *s;
  const PtxCounts *counts; /* NULL: nothing is reported yet */
  int32_t *index;          /* by place in the file / WORD_BYTES: a register that a wgmma names, or -1 */
  int32_t *last;           /* by register: the wgmma that took it last, for sentences */
  int32_t n, n_meets;
  int32_t *meet; /* by pc: a place where branches meet, or -1 */
  Held *at;      /* by meeting: registers */
  Held *now;
  bool *reached;
  bool changed;
} Flow;

static int32_t index_of(const Flow *f, int32_t place) { return place < 0 ? -1 : f->index[place / WORD_BYTES]; }

static uint8_t later(uint8_t a, uint8_t b) {
  return !a ? b : !b || a < b ? a : b;
} /* the one that is further from done */

static void flow_to(Flow *f, int32_t pc) {
  const int32_t m = f->meet[pc];
  if (m < 0) return;
  Held *to = f->at + (size_t)m * (size_t)f->n;
  for (int32_t r = 0; r < f->n; r++) {
    Held h = {.touched = to[r].touched | f->now[r].touched,
              .sum = later(to[r].sum, f->now[r].sum),
              .operand = later(to[r].operand, f->now[r].operand)};
    f->changed |= memcmp(&h, &to[r], sizeof h) != 0;
    to[r] = h;
  }
  f->changed |= !f->reached[m];
  f->reached[m] = true;
}

static bool ran(const Flow *f, int32_t pc) { /* what is part of the instruction before has no counts */
  while (pc > 0 && f->s->kernel->code[pc].micro) pc--;
  return f->counts && f->counts[pc].executed;
}

static void report(Flow *f, int32_t pc, int32_t r, const char *does, const char *why) {
  PtxShadow *s = f->s;
  PtxFault *fault = ran(f, pc) ? shadow_fault(s, "in flight", pc, f->last[r], 0) : NULL;
  shadow_says(s, fault, "%s a register of the wgmma of line %L %s (wgmma.wait_group)", does, f->last[r], why);
}

static void unfenced(Flow *f, int32_t pc) {
  PtxShadow *s = f->s;
  PtxFault *fault = ran(f, pc) ? shadow_fault(s, "fence", pc, -1, 0) : NULL;
  shadow_says(s, fault, "wgmma takes registers that were touched with no wgmma.fence since");
}

static void multiply(Flow *f, int32_t pc, const Ins *i) {
  const int32_t *list = f->s->kernel->lists + i->ext, n_d = wgmma_results(i);
  const int32_t n = n_d + (i->mode & WGMMA_A_REGISTERS ? 4 : 0);
  for (int32_t k = 0; k < n; k++) {
    const int32_t r = index_of(f, list[k]);
    Held *h = &f->now[r];
    if (h->touched) unfenced(f, pc);
    if (k >= n_d && h->sum) report(f, pc, r, "takes", "before its sum has arrived");
    f->last[r] = pc;
    *(k < n_d ? &h->sum : &h->operand) = UNCOMMITTED;
  }
}

static void synchronise(Flow *f, const Ins *i) {
  for (int32_t r = 0; r < f->n; r++) {
    Held *h = &f->now[r];
    uint8_t *const both[] = {&h->sum, &h->operand};
    if (i->mode == WGMMA_FENCE) h->touched = 0;
    for (int k = 0; k < 2; k++) {
      if (i->mode == WGMMA_COMMIT && *both[k] && *both[k] < MOST_COMMITS) ++*both[k];
      if (i->mode == WGMMA_WAIT && *both[k] > UNCOMMITTED && *both[k] - UNCOMMITTED > i->imm) *both[k] = 0;
    }
  }
}

static void touch(Flow *f, int32_t pc, const Ins *i) {
  Operands o;
  ins_operands(f->s->kernel, i, &o);
  for (int32_t k = 0; k < o.n_reads + o.n_writes; k++) {
    const bool writes = k >= o.n_reads;
    const int32_t r = index_of(f, writes ? o.writes[k - o.n_reads] : o.reads[k]);
    if (r < 0) continue;
    if (f->now[r].sum)
      report(f, pc, r, writes ? "writes" : "reads", "before its sum has arrived");
    else if (writes && f->now[r].operand)
      report(f, pc, r, "writes", "that it still reads");
    f->now[r].touched = 1;
  }
}

/* The instructions from one meeting to the next. */
static void walk(Flow *f, int32_t pc) {
  const PtxKernel *k = f->s->kernel;
  memcpy(f->now, f->at + (size_t)f->meet[pc] * (size_t)f->n, (size_t)f->n * sizeof *f->now);
  for (bool first = true; pc < k->n_code && (first || f->meet[pc] < 0); pc++, first = false) {
    const Ins *i = &k->code[pc];
    if (i->op == O_WGMMA)
      multiply(f, pc, i);
    else if (i->op == O_WGMMA_SYNC)
      synchronise(f, i);
    else
      touch(f, pc, i);
    if (i->op == O_BRA) flow_to(f, i->target);
    for (int32_t t = 0; i->op == O_BRX && t < i->imm; t++) flow_to(f, k->lists[i->ext + t]);
    if ((i->op == O_BRA || i->op == O_BRX || i->op == O_EXIT) && i->guard < 0) return;
  }
  if (pc < k->n_code) flow_to(f, pc);
}

static void note_meet(Flow *f, int32_t pc) {
  if (pc >= 0 && pc < f->s->kernel->n_code && f->meet[pc] < 0) f->meet[pc] = f->n_meets++;
}

/* What is tracked, and where ways meet. False: no wgmma, no memory, or more than this is meant for. */
static bool prepare(Flow *f) {
  const PtxKernel *k = f->s->kernel;
  const size_t n_places = (size_t)(k->file_bytes / WORD_BYTES) + 1;
  f->index = malloc(n_places * sizeof *f->index);
  f->meet = malloc((size_t)(k->n_code + 1) * sizeof *f->meet);
  if (!f->index || !f->meet) return false;
  memset(f->index, 0xff, n_places * sizeof *f->index);
  memset(f->meet, 0xff, (size_t)(k->n_code + 1) * sizeof *f->meet);
  note_meet(f, 0);
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    const Ins *i = &k->code[pc];
    if (i->op == O_BRA) note_meet(f, i->target);
    for (int32_t t = 0; i->op == O_BRX && t < i->imm; t++) note_meet(f, k->lists[i->ext + t]);
    if (i->op != O_WGMMA) continue;
    const int32_t n = wgmma_results(i) + (i->mode & WGMMA_A_REGISTERS ? 4 : 0);
    for (int32_t r = 0; r < n; r++) {
      int32_t *index = &f->index[k->lists[i->ext + r] / WORD_BYTES];
      if (*index < 0) *index = f->n++;
    }
  }
  if (!f->n || (int64_t)f->n_meets * f->n * (int64_t)sizeof(Held) > MOST_BYTES) return false;
  f->at = calloc((size_t)f->n_meets * (size_t)f->n, sizeof *f->at);
  f->now = calloc((size_t)f->n, sizeof *f->now);
  f->last = malloc((size_t)f->n * sizeof *f->last);
  f->reached = calloc((size_t)f->n_meets, sizeof *f->reached);
  if (!f->at || !f->now || !f->last || !f->reached) return false;
  memset(f->last, 0xff, (size_t)f->n * sizeof *f->last);
  for (int32_t r = 0; r < f->n; r++) f->at[f->meet[0] * f->n + r].touched = 1;
  f->reached[f->meet[0]] = true;
  return true;
}

void ptx_shadow_wgmma(PtxShadow *s, const PtxCounts *counts) {
  Flow f = {.s = s};
  if (prepare(&f)) {
    f.changed = true;
    for (int32_t pass = 0; pass <= MOST_PASSES && (f.changed || !f.counts); pass++) {
      if (!f.changed || pass == MOST_PASSES) f.counts = counts; /* nothing new: now what is wrong is said */
      f.changed = false;
      for (int32_t pc = 0; pc < s->kernel->n_code; pc++)
        if (f.meet[pc] >= 0 && f.reached[f.meet[pc]]) walk(&f, pc);
    }
  }
  free(f.index);
  free(f.meet);
  free(f.at);
  free(f.now);
  free(f.last);
  free(f.reached);
}
