/* What is found out about a kernel before it runs: operands, spinning loops, atomics whose result nobody reads, and the
 * shared loads that ptxas merges.
 *
 * Merging: unguarded ld.shared.b32 from one base register, in one basic block, with no barrier, shared or generic
 * store, atomic or change of the base between them, whose offsets fill an aligned 16 (else 8) bytes, and whose base is
 * provably so aligned, become one vector load in the place of the first. Checked in the machine code of ptxas 13.0. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_lower.h"
#include "kernels/ptx/ptx_ops.h"

enum { USER_DISTANCE = 4096 }; /* instructions looked at for the user of what is loaded */

/* ---- operands ---- */

void operands_add(Operands *o, bool is_write, int32_t place) {
  if (is_write && o->n_writes < MAX_OPERANDS) o->writes[o->n_writes++] = place;
  if (!is_write && o->n_reads < MAX_OPERANDS) o->reads[o->n_reads++] = place;
}

static void arithmetic_operands(const Ins *i, Operands *o) {
  const OpRow *row = &ptx_op_rows[i->op - O_FIRST_ARITHMETIC];
  const int32_t places[] = {i->a, i->b, i->c, i->target};
  for (int32_t n = 0; row->operands[n]; n++)
    if (row->operands[n] != 'k') operands_add(o, false, row->operands[n] == 'p' ? ~places[n] : places[n]);
  const bool is_predicate = row->result == 'P' || row->result == 'p';
  operands_add(o, true, is_predicate ? ~i->d : i->d);
  if (row->result == 'P') {
    if (i->mode & (CMP_AND | CMP_OR | CMP_XOR)) operands_add(o, false, ~i->c);
    if (i->ext >= 0) operands_add(o, true, ~i->ext);
  }
}

void ins_operands(const PtxKernel *k, const Ins *i, Operands *o) {
  o->n_reads = o->n_writes = 0;
  if (i->guard >= 0) operands_add(o, false, ~i->guard);
  if (i->op >= O_FIRST_ARITHMETIC) {
    arithmetic_operands(i, o);
    return;
  }
  const int32_t *list = i->operands < 0 ? NULL : k->lists + i->operands;
  for (int32_t n = 0; list && n < list[0] + list[1]; n++) operands_add(o, n >= list[0], list[2 + n]);
}

/* ---- loops that wait for somebody ---- */

static bool waits(const Ins *i) {
  return (i->op == O_ATOM && !(i->mode & ATOM_NO_RESULT)) || (i->op == O_LD && (i->mode & MODE_VOLATILE)) ||
         i->op == O_MBAR_TEST;
}

static bool mark_spins(PtxKernel *k) {
  int32_t *before = malloc(((size_t)k->n_code + 1) * sizeof *before); /* how many waiting instructions lie before pc */
  if (!before) return false;
  before[0] = 0;
  for (int32_t pc = 0; pc < k->n_code; pc++) before[pc + 1] = before[pc] + waits(&k->code[pc]);
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    Ins *i = &k->code[pc];
    if (i->op == O_BRA && i->target >= 0 && i->target <= pc && before[pc] > before[i->target])
      i->mode = MODE_SPINS, k->has_spin = true;
  }
  free(before);
  return true;
}

/* ---- atomics without a reader are reductions ---- */

static bool drop_results(PtxKernel *k) {
  const size_t n = (size_t)(k->file_bytes / WORD_BYTES) + 1;
  uint8_t *read = calloc(n, 1);
  Operands o;
  if (!read) return false;
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    ins_operands(k, &k->code[pc], &o);
    for (int32_t r = 0; r < o.n_reads; r++)
      if (o.reads[r] >= 0) read[o.reads[r] / WORD_BYTES] = 1;
  }
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    Ins *i = &k->code[pc];
    const int32_t op = i->mode & 15;
    if (i->op == O_ATOM && !(i->mode & ATOM_NO_RESULT) && op != ATOM_CAS && op != ATOM_EXCH && !read[i->d / WORD_BYTES])
      i->mode |= ATOM_NO_RESULT;
  }
  free(read);
  return true;
}

/* ---- known alignment: trailing zeros of every register ---- */

enum { UNKNOWN = 0, ANY = 64, MAX_PASSES = 24 };

typedef struct {
  uint8_t *zeros;     /* by place / WORD_BYTES */
  const Slot **slots; /* constants by place / WORD_BYTES, or NULL */
} Alignment;

static int32_t zeros_of(const Alignment *a, int32_t place) { return a->zeros[place / WORD_BYTES]; }
static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

static int32_t shift_of(const Alignment *a, int32_t place) {
  const Slot *s = a->slots[place / WORD_BYTES];
  return s && s->kind == SLOT_CONSTANT && s->value < 64 ? (int32_t)s->value : -1;
}

static int32_t result_zeros(const Alignment *a, const Ins *i) {
  const int32_t x = i->op >= O_FIRST_ARITHMETIC ? zeros_of(a, i->a) : 0;
  switch (i->op) {
  case O_MOV32:
  case O_MOV64:
  case O_EXT_S32:
  case O_EXT_U32:
  case O_TRUNC64:
  case O_NEG_S32:
  case O_NEG_S64: return x;
  case O_ADD32:
  case O_SUB32:
  case O_ADD64:
  case O_SUB64:
  case O_OR32:
  case O_XOR32:
  case O_OR64:
  case O_XOR64:
  case O_SELP32:
  case O_SELP64:
  case O_MIN_S32:
  case O_MAX_S32:
  case O_MIN_U32:
  case O_MAX_U32: return least(x, zeros_of(a, i->b));
  case O_AND32:
  case O_AND64: return x > zeros_of(a, i->b) ? x : zeros_of(a, i->b);
  case O_MUL32:
  case O_MUL64:
  case O_MULWIDE_S32:
  case O_MULWIDE_U32: return least(ANY, x + zeros_of(a, i->b));
  case O_MAD32:
  case O_MAD64:
  case O_MADWIDE_S32:
  case O_MADWIDE_U32: return least(least(ANY, x + zeros_of(a, i->b)), zeros_of(a, i->c));
  case O_SHL32:
  case O_SHL64: return shift_of(a, i->b) < 0 ? UNKNOWN : least(ANY, x + shift_of(a, i->b));
  case O_SHR_U32:
  case O_SHR_S32:
  case O_SHR_U64:
  case O_SHR_S64:
    return shift_of(a, i->b) < 0 || x < shift_of(a, i->b) ? UNKNOWN : x == ANY ? ANY : x - shift_of(a, i->b);
  default: return UNKNOWN;
  }
}

static void first_zeros(const PtxKernel *k, Alignment *a, size_t n) {
  memset(a->zeros, ANY, n);
  for (int32_t s = 0; s < k->n_slots; s++) {
    const Slot *slot = &k->slots[s];
    int32_t zeros = UNKNOWN;
    if (slot->kind == SLOT_CONSTANT) zeros = slot->value ? __builtin_ctzll(slot->value) : ANY;
    if (slot->kind == SLOT_DYNAMIC) zeros = slot->value ? least(__builtin_ctzll(slot->value), 4) : 4;
    a->zeros[slot->offset / WORD_BYTES] = (uint8_t)zeros;
    a->slots[slot->offset / WORD_BYTES] = slot;
  }
}

/* Least fixed point from above; false when it was not reached: then nothing is known. */
static bool find_zeros(const PtxKernel *k, Alignment *a) {
  Operands o;
  for (int32_t pass = 0; pass < MAX_PASSES; pass++) {
    bool changed = false;
    for (int32_t pc = 0; pc < k->n_code; pc++) {
      const Ins *i = &k->code[pc];
      if (i->op >= O_FIRST_ARITHMETIC) {
        const char result = ptx_op_rows[i->op - O_FIRST_ARITHMETIC].result;
        if (result == 'P' || result == 'p') continue;
        const int32_t z = result_zeros(a, i);
        if (z < zeros_of(a, i->d)) a->zeros[i->d / WORD_BYTES] = (uint8_t)z, changed = true;
        continue;
      }
      if (pass) continue; /* the others give what nothing is known of */
      ins_operands(k, i, &o);
      for (int32_t w = 0; w < o.n_writes; w++)
        if (o.writes[w] >= 0) a->zeros[o.writes[w] / WORD_BYTES] = UNKNOWN;
    }
    if (!changed && pass) return true;
  }
  return false;
}

/* ---- merging ---- */

enum { MAX_CANDIDATES = 256 };
typedef struct {
  int32_t pc, base;
  int64_t offset;
  bool taken;
} Candidate;

typedef struct {
  PtxKernel *k;
  const Alignment *a;
  Candidate c[MAX_CANDIDATES];
  int32_t n;
  int32_t *touched; /* last pc that read or wrote a place */
} Merger;

/* Loads at offset, offset + 4, ... from one base: fills `found`. */
static bool find_members(Merger *m, int32_t base, int64_t offset, int32_t n, Candidate *found[4]) {
  for (int32_t e = 0; e < n; e++) {
    found[e] = NULL;
    for (int32_t i = 0; i < m->n && !found[e]; i++)
      if (m->c[i].base == base && !m->c[i].taken && m->c[i].offset == offset + 4 * e) found[e] = &m->c[i];
    if (!found[e]) return false;
  }
  return true;
}

static bool merge(Merger *m, Candidate *found[4], int32_t n) {
  PtxKernel *k = m->k;
  int32_t first = found[0]->pc, places[4];
  for (int32_t e = 1; e < n; e++)
    if (found[e]->pc < first) first = found[e]->pc;
  if (k->n_lists + n > k->lists_capacity) {
    const int32_t capacity = 2 * k->lists_capacity + 64;
    int32_t *lists = realloc(k->lists, (size_t)capacity * sizeof *lists);
    if (!lists) return false;
    k->lists = lists, k->lists_capacity = capacity;
  }
  for (int32_t e = 0; e < n; e++) {
    places[e] = k->code[found[e]->pc].d;
    found[e]->taken = true;
    if (found[e]->pc != first) {
      k->merged[found[e]->pc].op = O_NOP;
      k->merged[found[e]->pc].micro = true;
    }
  }
  Ins *i = &k->merged[first];
  i->vec = (uint8_t)n, i->imm = found[0]->offset, i->ext = k->n_lists;
  memcpy(k->lists + k->n_lists, places, (size_t)n * sizeof *places);
  k->n_lists += n;
  return true;
}

/* Merges what candidates of this base (-1: any) can be, and forgets them. */
static bool settle(Merger *m, int32_t base) {
  for (int32_t i = 0; i < m->n; i++) {
    Candidate *c = &m->c[i], *found[4];
    if (c->taken || (base >= 0 && c->base != base)) continue;
    const int32_t zeros = zeros_of(m->a, c->base);
    for (int32_t n = 4; n >= 2; n /= 2) {
      const int64_t window = c->offset & ~(int64_t)(4 * n - 1);
      if (zeros < (n == 4 ? 4 : 3) || !find_members(m, c->base, window, n, found)) continue;
      if (!merge(m, found, n)) return false;
      break;
    }
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < m->n; i++)
    if (base >= 0 && m->c[i].base != base) m->c[kept++] = m->c[i];
  m->n = kept;
  return true;
}

static bool ends_merging(const Ins *i) {
  if (i->op >= O_FIRST_ARITHMETIC) return false;
  switch (i->op) {
  case O_NOP:
  case O_SHFL:
  case O_VOTE:
  case O_MMA:
  case O_LDMATRIX:
  case O_MOVMATRIX:
  case O_CLOCK:
  case O_CVT:
  case O_LD_PARAM:
  case O_ACTIVEMASK: return false;
  case O_LD: return (i->mode & MODE_VOLATILE) != 0;
  case O_ST: return i->space == SPACE_SHARED || i->space == SPACE_GENERIC;
  default: return true;
  }
}

static bool is_candidate(const Ins *i) {
  return i->op == O_LD && i->space == SPACE_SHARED && i->vec == 1 && i->bytes == 4 && i->guard < 0 &&
         !(i->mode & (MODE_LONG | MODE_VOLATILE)) && i->imm % 4 == 0 && i->imm == (int32_t)i->imm;
}

static bool merge_loads(Merger *m, const Blocks *blocks) {
  PtxKernel *k = m->k;
  Operands o;
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    const Ins *i = &k->code[pc];
    if ((blocks->first[blocks->block_of[pc]] == pc || ends_merging(i)) && !settle(m, -1)) return false;
    ins_operands(k, i, &o);
    for (int32_t w = 0; w < o.n_writes; w++) {
      if (o.writes[w] < 0) continue;
      bool is_base = false;
      for (int32_t c = 0; c < m->n; c++) is_base |= m->c[c].base == o.writes[w];
      if (is_base && !settle(m, o.writes[w])) return false;
    }
    if (is_candidate(i)) {
      if (m->n == MAX_CANDIDATES && !settle(m, -1)) return false;
      /* It may move up to the first candidate: nothing there may touch its result. */
      const bool clear = m->n == 0 || m->touched[i->d / WORD_BYTES] < m->c[0].pc;
      if (clear && i->d != i->a) m->c[m->n++] = (Candidate){pc, i->a, i->imm, false};
    }
    for (int32_t r = 0; r < o.n_reads; r++)
      if (o.reads[r] >= 0) m->touched[o.reads[r] / WORD_BYTES] = pc;
    for (int32_t w = 0; w < o.n_writes; w++)
      if (o.writes[w] >= 0) m->touched[o.writes[w] / WORD_BYTES] = pc;
  }
  return settle(m, -1);
}

static bool make_merged(PtxKernel *k) {
  const size_t n = (size_t)(k->file_bytes / WORD_BYTES) + 2;
  Alignment a = {calloc(n, 1), calloc(n, sizeof *a.slots)};
  Merger *m = calloc(1, sizeof *m);
  Blocks blocks;
  int32_t *touched = malloc(n * sizeof *touched);
  k->merged = malloc((size_t)k->n_code * sizeof *k->merged);
  bool ok = blocks_find(k, &blocks) && a.zeros && a.slots && m && touched && k->merged;
  if (ok) {
    memcpy(k->merged, k->code, (size_t)k->n_code * sizeof *k->merged);
    memset(touched, 0xff, n * sizeof *touched);
    first_zeros(k, &a, n);
    *m = (Merger){.k = k, .a = &a, .touched = touched};
    if (find_zeros(k, &a)) ok = merge_loads(m, &blocks);
  }
  free(a.zeros);
  free((void *)a.slots);
  free(m);
  free(blocks.first);
  free(blocks.block_of);
  free(touched);
  return ok;
}

/* clang writes what it moves up to a barrier without a place of its own, so that it has the barrier's: such a load gets
 * the place of whoever uses what it loads. */
static void place_loads(PtxKernel *k) {
  Operands o;
  int32_t barrier = -1; /* its place */
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    Ins *i = &k->code[pc];
    if (i->op == O_BAR_SYNC) barrier = i->loc;
    if (i->op != O_LD || i->loc != barrier) continue;
    const int32_t loaded = k->lists[i->ext];
    for (int32_t user = pc + 1; user < k->n_code && user < pc + USER_DISTANCE && i->loc == barrier; user++) {
      ins_operands(k, &k->code[user], &o);
      for (int32_t r = 0; r < o.n_reads; r++)
        if (o.reads[r] == loaded && k->locations[k->code[user].loc].line) i->loc = k->code[user].loc;
      for (int32_t w = 0; w < o.n_writes; w++)
        if (o.writes[w] == loaded) user = k->n_code;
    }
  }
}

Status kernel_lower(PtxKernel *k, Error *error) {
  if (kernel_order(k) && mark_spins(k) && drop_results(k)) {
    place_loads(k);
    if (make_merged(k)) return STATUS_OK;
  }
  return error_set(error, STATUS_NO_MEMORY, "%s: no memory for a kernel", k->module->name);
}
