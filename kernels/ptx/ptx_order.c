/* The order of a kernel's basic blocks. Threads that diverge meet again because the fragment with the smallest pc runs
 * (ptx_run.c): that needs every block behind those that lead to it, but for loops. nvcc writes them so; clang may put a
 * block where two branches meet before one of them. Then blocks are laid out anew: in reverse postorder, a loop's
 * blocks before those that it is left to. What ptxas joins is joined then, and requests are the hardware's. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_lower.h"

#define MAX_BITS ((int64_t)1 << 24) /* of all loops: beyond, the order stays */
enum { MAX_PASSES = 8 };            /* over the blocks of a loop: two, where loops have one entry */

typedef struct {
  PtxKernel *k;
  Blocks blocks;
  int32_t n_loops, words;    /* 64-bit words of a set of blocks */
  int32_t *order, n_ordered; /* postorder, from the end */
  uint8_t *state;            /* of the search: 0 new, 1 on the path, 2 done */
  int32_t *loop_of;          /* by block: its number as a loop's header, -1 */
  uint64_t *loops;           /* sets of blocks, by loop; NULL: too many */
  bool by_loops;             /* the search goes out of loops first */
} Order;

/* ---- blocks and their successors ---- */

bool blocks_find(const PtxKernel *k, Blocks *b) {
  const size_t n = (size_t)k->n_code + 2;
  uint8_t *leader = calloc(n, 1);
  *b = (Blocks){0, malloc(n * sizeof *b->first), malloc(n * sizeof *b->block_of)};
  if (!leader || !b->first || !b->block_of) {
    free(leader);
    return false;
  }
  leader[0] = 1;
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    const Ins *i = &k->code[pc];
    if (i->op == O_BRA && i->target >= 0 && i->target < k->n_code) leader[i->target] = 1;
    for (int32_t t = 0; i->op == O_BRX && t < i->imm; t++)
      if (k->lists[i->ext + t] < k->n_code) leader[k->lists[i->ext + t]] = 1;
    if (i->op == O_BRA || i->op == O_BRX || i->op == O_EXIT || i->op == O_TRAP) leader[pc + 1] = 1;
  }
  for (int32_t pc = 0; pc < k->n_code; pc++) {
    if (leader[pc]) b->first[b->n++] = pc;
    b->block_of[pc] = b->n - 1;
  }
  b->first[b->n] = k->n_code, b->block_of[k->n_code] = b->n;
  free(leader);
  return true;
}

static const Ins *last_of(const Order *o, int32_t b) { return &o->k->code[o->blocks.first[b + 1] - 1]; }

static bool falls_through(const Order *o, int32_t b) {
  const Ins *i = last_of(o, b);
  const bool leaves = i->op == O_BRA || i->op == O_BRX || i->op == O_EXIT || i->op == O_TRAP;
  return !leaves || i->guard >= 0;
}

static int32_t n_successors(const Order *o, int32_t b) {
  const Ins *i = last_of(o, b);
  return (i->op == O_BRA) + (i->op == O_BRX ? (int32_t)i->imm : 0) + falls_through(o, b);
}

/* The s-th: a block, or o->blocks.n for the end. */
static int32_t successor(const Order *o, int32_t b, int32_t s) {
  const Ins *i = last_of(o, b);
  if (i->op == O_BRA && s-- == 0) return o->blocks.block_of[i->target];
  if (i->op == O_BRX && s < i->imm) return o->blocks.block_of[o->k->lists[i->ext + s]];
  return b + 1;
}

/* ---- loops ---- */

static bool is_in(const uint64_t *set, int32_t b) { return set[b >> 6] >> (b & 63) & 1; }

/* How many loops hold both. */
static int32_t common_loops(const Order *o, int32_t a, int32_t b) {
  int32_t n = 0;
  for (int32_t l = 0; l < o->n_loops; l++) {
    const uint64_t *set = o->loops + (int64_t)l * o->words;
    n += is_in(set, a) && is_in(set, b);
  }
  return n;
}

/* The next successor to visit after `done` of them: what leaves most loops first, so that it comes last. */
static int32_t pick(const Order *o, int32_t b, int32_t done) {
  const int32_t n = n_successors(o, b);
  if (n > 2 || !o->by_loops) return done < n ? successor(o, b, done) : -1;
  if (done >= n) return -1;
  if (n < 2) return successor(o, b, 0);
  const int32_t x = successor(o, b, 0), y = successor(o, b, 1);
  const bool swap = x < o->blocks.n && y < o->blocks.n && common_loops(o, b, x) > common_loops(o, b, y);
  return (done == 0) == swap ? y : x;
}

typedef void OnBack(Order *o, int32_t from, int32_t header);

/* Depth first from the entry: fills `order` in postorder, and tells of each edge back to a block on the path. */
static bool search(Order *o, OnBack *on_back) {
  int32_t *stack = malloc(((size_t)o->blocks.n + 1) * sizeof *stack),
          *done = calloc((size_t)o->blocks.n + 1, sizeof *done), depth = 0;
  if (!stack || !done) {
    free(stack);
    free(done);
    return false;
  }
  memset(o->state, 0, (size_t)o->blocks.n);
  o->n_ordered = 0;
  stack[depth++] = 0;
  o->state[0] = 1;
  while (depth) {
    const int32_t b = stack[depth - 1], next = pick(o, b, done[b]++);
    if (next < 0) {
      o->state[b] = 2;
      o->order[o->n_ordered++] = b;
      depth--;
    } else if (next < o->blocks.n && o->state[next] == 0) {
      o->state[next] = 1;
      stack[depth++] = next;
    } else if (next < o->blocks.n && o->state[next] == 1 && on_back) {
      on_back(o, b, next);
    }
  }
  free(stack);
  free(done);
  return true;
}

static void count_loop(Order *o, int32_t from, int32_t header) {
  (void)from;
  if (o->loop_of[header] < 0) o->loop_of[header] = o->n_loops++;
}

static void mark_back(Order *o, int32_t from, int32_t header) {
  uint64_t *set = o->loops + (int64_t)o->loop_of[header] * o->words;
  set[from >> 6] |= (uint64_t)1 << (from & 63);
  set[header >> 6] |= (uint64_t)1 << (header & 63);
}

/* A block with a successor in the loop, other than through its header, that the header leads to, is in it. */
static void fill_loops(Order *o) {
  for (int32_t h = 0; h < o->blocks.n; h++) {
    if (o->loop_of[h] < 0) continue;
    uint64_t *set = o->loops + (int64_t)o->loop_of[h] * o->words;
    bool fresh = true;
    for (int32_t pass = 0; fresh && pass < MAX_PASSES; pass++) {
      fresh = false;
      for (int32_t k = 0; k < o->n_ordered; k++) { /* postorder: successors come first */
        const int32_t b = o->order[k];
        if (is_in(set, b) || b == h) continue;
        for (int32_t s = 0; s < n_successors(o, b); s++) {
          const int32_t to = successor(o, b, s);
          if (to >= o->blocks.n || to == h || !is_in(set, to)) continue;
          set[b >> 6] |= (uint64_t)1 << (b & 63);
          fresh = true;
          break;
        }
      }
    }
  }
}

/* ---- a new order ---- */

/* An edge to an earlier block that is no loop's. */
static bool is_out_of_order(const Order *o) {
  for (int32_t b = 0; b < o->blocks.n; b++)
    for (int32_t s = 0; s < n_successors(o, b); s++) {
      const int32_t to = successor(o, b, s);
      if (o->state[b] != 2 || to > b || to >= o->blocks.n) continue;
      if (o->loop_of[to] < 0 || !is_in(o->loops + (int64_t)o->loop_of[to] * o->words, b)) return true;
    }
  return false;
}

static int32_t moved(const Order *o, const int32_t *starts, int32_t pc) { return starts[o->blocks.block_of[pc]]; }

static bool lay_out(Order *o) {
  PtxKernel *k = o->k;
  const int32_t most = k->n_code + o->blocks.n + 1;
  Ins *code = malloc((size_t)most * sizeof *code);
  int32_t *starts = malloc(((size_t)o->blocks.n + 1) * sizeof *starts),
          *sequence = malloc(((size_t)o->blocks.n + 1) * sizeof *sequence);
  int32_t n = 0, at = 0;
  if (!code || !starts || !sequence) {
    free(code);
    free(starts);
    free(sequence);
    return false;
  }
  for (int32_t x = o->n_ordered - 1; x >= 0; x--) sequence[n++] = o->order[x];
  for (int32_t b = 0; b < o->blocks.n; b++)
    if (o->state[b] != 2) sequence[n++] = b; /* never reached */
  for (int32_t x = 0; x < n; x++) {
    const int32_t b = sequence[x], count = o->blocks.first[b + 1] - o->blocks.first[b];
    starts[b] = at;
    memcpy(code + at, k->code + o->blocks.first[b], (size_t)count * sizeof *code);
    at += count;
    if (!falls_through(o, b) || (x + 1 < n && sequence[x + 1] == b + 1) || (x + 1 == n && b + 1 == o->blocks.n))
      continue;
    code[at] = code[at - 1]; /* of its line */
    code[at].op = O_BRA, code[at].guard = -1, code[at].guard_not = false, code[at].mode = 0, code[at].micro = true;
    code[at].target = o->blocks.first[b + 1], code[at].ext = code[at].site = code[at].operands = -1;
    at++;
  }
  starts[o->blocks.n] = at;
  for (int32_t pc = 0; pc < at; pc++) {
    Ins *i = &code[pc];
    if (i->op == O_BRA && i->target >= 0) i->target = moved(o, starts, i->target);
    for (int32_t t = 0; i->op == O_BRX && t < i->imm; t++)
      k->lists[i->ext + t] = moved(o, starts, k->lists[i->ext + t]);
  }
  free(k->code);
  k->code = code, k->n_code = at, k->code_capacity = most;
  free(starts);
  free(sequence);
  return true;
}

static bool find_loops(Order *o) {
  o->order = malloc(((size_t)o->blocks.n + 1) * sizeof *o->order);
  o->state = malloc((size_t)o->blocks.n + 1);
  o->loop_of = malloc(((size_t)o->blocks.n + 1) * sizeof *o->loop_of);
  o->words = (o->blocks.n + 63) / 64;
  if (!o->order || !o->state || !o->loop_of) return false;
  for (int32_t b = 0; b < o->blocks.n; b++) o->loop_of[b] = -1;
  if (!search(o, count_loop)) return false;
  if ((int64_t)o->n_loops * o->words * 64 > MAX_BITS) return true; /* too large: loops stays NULL */
  o->loops = calloc((size_t)o->n_loops * (size_t)o->words + 1, sizeof *o->loops);
  if (!o->loops || !search(o, mark_back)) return false;
  fill_loops(o);
  return true;
}

bool kernel_order(PtxKernel *k) {
  Order o = {.k = k};
  bool ok = k->n_code == 0 || (blocks_find(k, &o.blocks) && find_loops(&o));
  if (ok && o.loops && is_out_of_order(&o)) {
    o.by_loops = true;
    ok = search(&o, NULL) && lay_out(&o);
  }
  free(o.blocks.first);
  free(o.blocks.block_of);
  free(o.order);
  free(o.state);
  free(o.loop_of);
  free(o.loops);
  return ok;
}
