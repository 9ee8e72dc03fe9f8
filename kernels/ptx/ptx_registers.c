#include "kernels/ptx/ptx_registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_access.h"
#include "kernels/ptx/ptx_lower.h"
#include "kernels/ptx/ptx_ops.h"
#include "kernels/ptx/ptx_shadow_private.h"

#define WITHOUT_VALUE "a register that nobody wrote, a variable without a value"
#define MAX_BITS      ((int64_t)1 << 28) /* of all blocks of a kernel, for liveness */

typedef struct {
  uint32_t lanes; /* that have a value */
  int32_t from;   /* pc where what they lack was read first, -1: not yet */
} Value;

struct PtxRegisters {
  Ins *code;
  int32_t *index; /* by register: among those watched, -1: not */
  int32_t n_watched;
  Value *values; /* by warp and watched register */
};

/* Registers of 32 words, then predicates. */
static int32_t id_of(const PtxKernel *k, int32_t place) {
  return place >= 0 ? place / WORD_BYTES : (int32_t)(k->file_bytes / WORD_BYTES) + ~place;
}

/* ---- which may lack a value ---- */

typedef struct {
  const PtxKernel *k;
  int32_t n_ids, words; /* 64-bit words of a set */
  Blocks blocks;
  uint64_t *reads, *kills, *in; /* sets by block */
} Liveness;

static bool is_in(const uint64_t *set, int32_t id) { return set[id >> 6] >> (id & 63) & 1; }
static void put(uint64_t *set, int32_t id) { set[id >> 6] |= (uint64_t)1 << (id & 63); }

/* x xor x is 0, whatever x is. */
static bool is_zero(const Ins *i) { return i->op == O_XOR_PRED && i->a == i->b; }

static void summarise(Liveness *l, int32_t b) {
  uint64_t *reads = l->reads + (int64_t)b * l->words, *kills = l->kills + (int64_t)b * l->words;
  Operands o;
  for (int32_t pc = l->blocks.first[b]; pc < l->blocks.first[b + 1]; pc++) {
    const Ins *i = &l->k->code[pc];
    ins_operands(l->k, i, &o);
    for (int32_t r = 0; r < o.n_reads && !is_zero(i); r++) {
      const int32_t id = id_of(l->k, o.reads[r]);
      if (!is_in(kills, id)) put(reads, id);
    }
    for (int32_t w = 0; w < o.n_writes && i->guard < 0; w++) put(kills, id_of(l->k, o.writes[w]));
  }
}

/* What is alive before block `to` is alive behind this one; true: something was new. */
static bool flow(Liveness *l, int32_t b, int32_t to_pc) {
  if (to_pc < 0 || to_pc >= l->k->n_code) return false;
  const uint64_t *from = l->in + (int64_t)l->blocks.block_of[to_pc] * l->words,
                 *kills = l->kills + (int64_t)b * l->words;
  uint64_t *in = l->in + (int64_t)b * l->words, fresh = 0;
  for (int32_t w = 0; w < l->words; w++) {
    const uint64_t more = from[w] & ~kills[w] & ~in[w];
    in[w] |= more, fresh |= more;
  }
  return fresh != 0;
}

static bool flow_on(Liveness *l, int32_t b) {
  const int32_t last = l->blocks.first[b + 1] - 1;
  const Ins *i = &l->k->code[last];
  bool fresh = false;
  if (i->op == O_BRA) fresh |= flow(l, b, i->target);
  for (int32_t t = 0; i->op == O_BRX && t < i->imm; t++) fresh |= flow(l, b, l->k->lists[i->ext + t]);
  const bool ends = (i->op == O_BRA || i->op == O_EXIT || i->op == O_TRAP || i->op == O_BRX) && i->guard < 0;
  if (!ends) fresh |= flow(l, b, last + 1);
  return fresh;
}

static bool find_alive(Liveness *l) {
  if (!blocks_find(l->k, &l->blocks)) return false;
  const int64_t n = (int64_t)l->blocks.n * l->words;
  if (n * 64 > MAX_BITS) {
    l->blocks.n = 0; /* too large to tell */
    return true;
  }
  l->reads = calloc((size_t)n + 1, sizeof *l->reads);
  l->kills = calloc((size_t)n + 1, sizeof *l->kills);
  l->in = malloc(((size_t)n + 1) * sizeof *l->in);
  if (!l->reads || !l->kills || !l->in) return false;
  for (int32_t b = 0; b < l->blocks.n; b++) summarise(l, b);
  memcpy(l->in, l->reads, (size_t)n * sizeof *l->in);
  for (bool fresh = true; fresh;) {
    fresh = false;
    for (int32_t b = l->blocks.n - 1; b >= 0; b--) fresh |= flow_on(l, b);
  }
  return true;
}

static void free_liveness(Liveness *l) {
  free(l->blocks.first);
  free(l->blocks.block_of);
  free(l->reads);
  free(l->kills);
  free(l->in);
}

/* ---- the watch ---- */

static bool hands_on(const Ins *i) { return i->op == O_CVT || (i->op >= O_FIRST_ARITHMETIC && !is_zero(i)); }
static bool must_have(const Ins *i) {
  return i->op == O_LD || i->op == O_ST || i->op == O_ATOM || i->op == O_CP_ASYNC || i->op == O_BRX;
}

/* What is made of a register that may lack a value may lack one too. */
static void watch_results(PtxRegisters *r, const PtxKernel *k) {
  Operands o;
  for (bool fresh = true; fresh;) {
    fresh = false;
    for (int32_t pc = 0; pc < k->n_code; pc++) {
      const Ins *i = &k->code[pc];
      bool lacks = false;
      if (!hands_on(i)) continue;
      ins_operands(k, i, &o);
      for (int32_t n = i->guard >= 0; n < o.n_reads; n++) lacks |= r->index[id_of(k, o.reads[n])] >= 0;
      for (int32_t n = 0; lacks && n < o.n_writes; n++) {
        int32_t *x = &r->index[id_of(k, o.writes[n])];
        fresh |= *x < 0;
        *x = 0;
      }
    }
  }
}

static bool watch_code(PtxRegisters *r, const PtxKernel *k) {
  Operands o;
  r->code = malloc((size_t)k->n_code * sizeof *r->code);
  if (!r->code) return false;
  memcpy(r->code, k->code, (size_t)k->n_code * sizeof *r->code);
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    bool is_watched = false;
    ins_operands(k, &k->code[pc], &o);
    for (int32_t n = 0; n < o.n_reads; n++) is_watched |= r->index[id_of(k, o.reads[n])] >= 0;
    for (int32_t n = 0; n < o.n_writes; n++) is_watched |= r->index[id_of(k, o.writes[n])] >= 0;
    if (is_watched) r->code[pc].op = O_WATCHED;
  }
  return true;
}

bool ptx_registers_new(const PtxKernel *k, PtxRegisters **registers) {
  Liveness l = {.k = k, .n_ids = (int32_t)(k->file_bytes / WORD_BYTES) + k->n_predicates + 1};
  l.words = (l.n_ids + 63) / 64;
  *registers = NULL;
  PtxRegisters *r = calloc(1, sizeof *r);
  bool ok = r && (r->index = malloc((size_t)l.n_ids * sizeof *r->index)) && find_alive(&l);
  for (int32_t id = 0; ok && id < l.n_ids; id++) r->index[id] = l.blocks.n && is_in(l.in, id) ? 0 : -1;
  for (int32_t s = 0; ok && s < k->n_slots; s++) r->index[id_of(k, k->slots[s].offset)] = -1; /* constants */
  for (int32_t pc = 0; ok && l.blocks.n && pc < k->n_code; pc++)
    if (k->code[pc].op == O_SHFL) r->index[id_of(k, k->code[pc].d)] = 0;
  if (ok) watch_results(r, k);
  for (int32_t id = 0; ok && id < l.n_ids; id++)
    if (r->index[id] >= 0) r->index[id] = r->n_watched++;
  if (ok && r->n_watched) ok = watch_code(r, k);
  free_liveness(&l);
  if (!ok || !r->n_watched) {
    ptx_registers_free(r);
    return ok;
  }
  *registers = r;
  return true;
}

void ptx_registers_free(PtxRegisters *r) {
  if (!r) return;
  free(r->code);
  free(r->index);
  free(r->values);
  free(r);
}

const Ins *ptx_registers_code(const PtxRegisters *r) { return r->code; }

bool ptx_registers_places(PtxRegisters *r, int64_t n_warps) {
  Value *values = realloc(r->values, (size_t)n_warps * (size_t)r->n_watched * sizeof *values);
  if (values) r->values = values;
  return values != NULL;
}

void ptx_registers_begin(PtxRegisters *r, int64_t warp) {
  for (int32_t x = 0; x < r->n_watched; x++) r->values[warp * r->n_watched + x] = (Value){0, -1};
}

/* ---- as it runs ---- */

/* Lanes whose shuffle takes from a lane that is not there. */
static uint32_t lost(Run *run, const Warp *w, const Ins *i, uint32_t m) {
  uint32_t lanes = 0;
  FOR_LANES (l, i->op == O_SHFL ? m : 0) {
    const int32_t source = shuffle_source(i, run->arena + w->file, l);
    if (source >= 0 && !(m >> source & 1)) lanes |= 1u << l;
  }
  return lanes;
}

static void say(Run *run, const Block *b, const Warp *w, int32_t pc, uint32_t lanes, int32_t from) {
  PtxShadow *s = run->shadow;
  PtxFault *fault = shadow_fault(s, "uninitialised", pc, from == pc ? -1 : from, -1);
  char what[120];
  if (!fault) return;
  if (run->kernel->code[from].op == O_SHFL)
    snprintf(what, sizeof what, "what the shuffle of line %d takes from a lane that is not there",
             shadow_line(s, from));
  else if (from != pc)
    snprintf(what, sizeof what, "%s; it was read first at line %d", WITHOUT_VALUE, shadow_line(s, from));
  else
    snprintf(what, sizeof what, WITHOUT_VALUE);
  shadow_says(s, fault, "%T of %B uses %s", 32 * w->index + __builtin_ctz(lanes), b->index, what);
}

void ptx_registers_check(Run *run, const Block *b, const Warp *w, int32_t pc, uint32_t mask, uint32_t m) {
  const PtxRegisters *r = run->registers;
  const PtxKernel *k = run->kernel;
  const Ins *i = &k->code[pc];
  Value *values = r->values + (w - run->warps) * r->n_watched;
  uint32_t missing = 0, used = 0;
  int32_t from = pc;
  Operands o;
  ins_operands(k, i, &o);
  for (int32_t n = 0; n < o.n_reads && !is_zero(i); n++) {
    const int32_t x = r->index[id_of(k, o.reads[n])];
    const bool is_guard = n == 0 && i->guard >= 0;
    const uint32_t lacks = x < 0 ? 0 : (is_guard ? mask : m) & ~values[x].lanes;
    if (lacks && values[x].from >= 0) from = values[x].from;
    if (is_guard || must_have(i)) used |= lacks;
    if (!is_guard && hands_on(i)) missing |= lacks;
  }
  if (used) say(run, b, w, pc, used, from);
  missing |= lost(run, w, i, m);
  for (int32_t n = 0; n < o.n_writes; n++) {
    const int32_t x = r->index[id_of(k, o.writes[n])];
    if (x < 0) continue;
    values[x].lanes = (values[x].lanes | m) & ~missing; /* of a guarded one the other lanes keep what they have */
    if (missing) values[x].from = from;
  }
}
