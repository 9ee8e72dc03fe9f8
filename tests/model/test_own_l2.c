/* What fa2 in every launch and programs of one's own leave for HBM, against obvious code: each CTA's tiles written out
 * by hand, CTAs that take turns, and a list of what L2 holds, last used first. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "sim/l2/clock.h"
#include "sim/l2/l2_run.h"
#include "tests/support/own_programs.h"
#include "tests/support/rand.h"

/* ---- A slow L2 of one or two sides --------------------------------------------------------------------------- */

typedef struct {
  int64_t name; /* tensor, head, block */
  int home;     /* the side where this half of the block is at home */
  double bytes;
  bool dirty;
} Half;

enum { HALVES_MAX = 4096 };

typedef struct {
  Half halves[2][HALVES_MAX]; /* last used first */
  int n[2], n_sides;
  double room, fabric, hbm_read, hbm_write;
  double asked, shared; /* by CTAs; that another one's request brings */
} Slow;

/* Takes it out of the list of a side; false: it is not there. */
static bool take(Slow *l2, int side, Half *half) {
  for (int k = 0; k < l2->n[side]; k++) {
    const Half found = l2->halves[side][k];
    if (found.name != half->name || found.home != half->home) continue;
    memmove(&l2->halves[side][k], &l2->halves[side][k + 1], (size_t)(--l2->n[side] - k) * sizeof found);
    *half = found;
    return true;
  }
  return false;
}

/* To the front of a side's list, and what has no room falls out at the end: what has room for its half stays. */
static void put(Slow *l2, int side, Half half) {
  Half *list = l2->halves[side];
  assert_true(l2->n[side] + 1 < HALVES_MAX);
  memmove(list + 1, list, (size_t)l2->n[side]++ * sizeof half);
  list[0] = half;
  double sum = 0;
  for (int k = 0; k < l2->n[side]; k++) sum += list[k].bytes;
  while (l2->n[side] > 1 && sum - list[l2->n[side] - 1].bytes / 2 > l2->room) {
    const Half last = list[--l2->n[side]];
    sum -= last.bytes;
    if (last.dirty) l2->hbm_write += last.bytes;
  }
}

static bool use(Slow *l2, int side, Half half) {
  const bool found = take(l2, side, &half);
  put(l2, side, half);
  return found;
}

static void slow_read(Slow *l2, int side, int64_t name, double bytes) {
  for (int k = 0; k < 2; k++) {
    const int home = k == 0 ? side : 1 - side;
    const Half half = {name, home, bytes / 2, false};
    if (use(l2, side, half)) continue;
    const bool far = l2->n_sides == 2 && home != side;
    if (far) l2->fabric += bytes / 2;
    if (!far || !use(l2, home, half)) l2->hbm_read += bytes / 2;
  }
}

static void slow_write(Slow *l2, int side, int64_t name, double bytes) {
  for (int home = 0; home < 2; home++) {
    const int at = l2->n_sides == 1 ? 0 : home;
    Half half = {name, home, bytes / 2, false}, copy = {name, 1 - home, bytes / 2, false};
    if (l2->n_sides == 2 && home != side) l2->fabric += bytes / 2;
    (void)take(l2, at, &half);
    half.dirty = true;
    put(l2, at, half);
    if (l2->n_sides == 2 && home != side) (void)take(l2, home, &copy); /* of what has changed */
  }
  if (l2->n_sides == 2) (void)use(l2, side, (Half){name, 1 - side, bytes / 2, false});
}

/* Written, and still in L2. */
static double left_dirty(const Slow *l2) {
  double sum = 0;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < l2->n[side]; k++) sum += l2->halves[side][k].dirty ? l2->halves[side][k].bytes : 0;
  return sum;
}

/* ---- CTAs, written out by hand ------------------------------------------------------------------------------- */

typedef struct {
  char tensor; /* 0: no more */
  bool store;
  int64_t head, i, j;
} Access;

enum { ACCESSES = 2 * CLOCK_ACCESSES_MAX + 1, STEPS_MAX = 64, CTAS_MAX = 1024 };

typedef struct {
  Access steps[STEPS_MAX][ACCESSES];
  int n_steps;
} Cta;

typedef struct {
  int64_t batch, N, N_k, d, B, B_c, heads, kv_heads;
  bool causal, backwards, has_states;
  int64_t stride, block; /* of the pattern; 0: none */
} Problem;

static int64_t tiles_of(const Problem *p) { return ceil_div(p->N, p->B); }
static int64_t columns_of(const Problem *p) { return ceil_div(p->N_k, p->B_c); }

static bool is_allowed(const Problem *p, int64_t row, int64_t col) {
  return (!p->causal || col <= row + p->N_k - p->N) &&
         (p->stride == 0 || (row / p->block - col / p->block) % p->stride == 0);
}

/* As kernels decide it: whether the band alone leaves something, and the pattern alone. */
static bool is_computed(const Problem *p, int64_t i, int64_t j) {
  bool band = false, pattern = false;
  for (int64_t row = i * p->B; row < (i + 1) * p->B && row < p->N; row++)
    for (int64_t col = j * p->B_c; col < (j + 1) * p->B_c && col < p->N_k; col++) {
      Problem one = *p;
      one.stride = 0;
      band |= is_allowed(&one, row, col);
      one = *p;
      one.causal = false;
      pattern |= is_allowed(&one, row, col);
    }
  return band && pattern;
}

static void ask(Cta *cta, int step, Access access) {
  int k = 0;
  assert_true(step < STEPS_MAX);
  while (cta->steps[step][k].tensor) k++;
  assert_true(k < ACCESSES - 1);
  cta->steps[step][k] = access;
  if (step + 1 > cta->n_steps) cta->n_steps = step + 1;
}

static int64_t kv(const Problem *p, int64_t head) { return head / (p->heads / p->kv_heads); }

/* The block `at` of each of these tensors: of Q, O and A a row block, of the others a column block or a chunk. */
static void ask_for(Cta *cta, int step, const Problem *p, int64_t head, int64_t at, const char *loads,
                    const char *stores) {
  for (int store = 0; store < 2; store++)
    for (const char *tensor = store ? stores : loads; *tensor; tensor++) {
      const bool is_row = strchr("QOA", *tensor), is_shared = strchr("KVG", *tensor);
      ask(cta, step, (Access){*tensor, store, is_shared ? kv(p, head) : head, is_row ? at : 0, is_row ? 0 : at});
    }
}

/* A CTA for each block of each head. */
static int each_block(const Problem *p, Cta *ctas, const char *loads, const char *stores) {
  int n = 0;
  for (int64_t head = 0; head < p->heads; head++)
    for (int64_t at = 0; at < tiles_of(p); at++) ask_for(&ctas[n++], 0, p, head, at, loads, stores);
  return n;
}

/* A CTA for each row block of `group` heads, which it takes in turn: Q with the first tile that is seen, K and V with
 * all, O with the last. */
static int by_rows(const Problem *p, Cta *ctas, int64_t group) {
  int n = 0;
  for (int64_t first = 0; first < p->batch * p->heads; first += group)
    for (int64_t i = 0; i < tiles_of(p); i++) {
      Cta *cta = &ctas[n++];
      int step = 0;
      for (int64_t head = first; head < first + group; head++) {
        const char *Q = "Q";
        for (int64_t k = 0; k < columns_of(p); k++) {
          const int64_t j = p->backwards ? columns_of(p) - 1 - k : k;
          if (!is_computed(p, i, j)) continue;
          ask_for(cta, step, p, head, i, Q, "");
          ask_for(cta, step++, p, head, j, "KV", "");
          Q = "";
        }
        ask_for(cta, step > 0 ? step - 1 : 0, p, head, i, "", "O");
      }
    }
  return n;
}

static int fa2_like(const Problem *p, Cta *ctas) { return by_rows(p, ctas, 1); }
static int grouped(const Problem *p, Cta *ctas) { return by_rows(p, ctas, p->heads / p->kv_heads); }

/* A CTA for each column block of `group` heads: K, all that sees it, and what is stored with each and at the end. */
static int by_columns(const Problem *p, Cta *ctas, int64_t group, const char *each, const char *last) {
  int n = 0;
  for (int64_t first = 0; first < p->heads; first += group)
    for (int64_t j = 0; j < tiles_of(p); j++) {
      Cta *cta = &ctas[n++];
      int step = 0;
      ask_for(cta, 0, p, first, j, "K", "");
      for (int64_t head = first; head < first + group; head++)
        for (int64_t i = 0; i < tiles_of(p); i++)
          if (is_computed(p, i, j)) ask_for(cta, step++, p, head, i, "Q", each);
      ask_for(cta, step - 1, p, first, j, "", last);
    }
  return n;
}

static int columns(const Problem *p, Cta *ctas) { return by_columns(p, ctas, p->heads / p->kv_heads, "", "G"); }
static int sums(const Problem *p, Cta *ctas) { return by_columns(p, ctas, 1, "A", ""); }

static int fused_scores(const Problem *p, Cta *ctas) {
  int n = 0;
  for (int64_t head = 0; head < p->heads; head++)
    for (int64_t i = 0; i < tiles_of(p); i++)
      for (int64_t j = 0; j < tiles_of(p); j++) {
        Cta *cta = &ctas[n++];
        ask_for(cta, 0, p, head, i, "Q", "");
        ask_for(cta, 0, p, head, j, "K", "");
        ask(cta, 0, (Access){'S', true, head, i, j});
      }
  return n;
}

static int fused_values(const Problem *p, Cta *ctas) {
  const int T = (int)tiles_of(p);
  int n = 0;
  for (int64_t head = 0; head < p->heads; head++)
    for (int64_t i = 0; i < T; i++) {
      Cta *cta = &ctas[n++];
      for (int j = 0; j < T; j++) ask(cta, j, (Access){'S', false, head, i, j});
      for (int j = 0; j < T; j++) {
        ask(cta, T + j, (Access){'S', false, head, i, j});
        ask_for(cta, T + j, p, head, j, "V", "");
      }
      ask_for(cta, 2 * T - 1, p, head, i, "", "O");
    }
  return n;
}

/* Along the diagonal, a CTA a head. */
static int linear(const Problem *p, Cta *ctas) {
  for (int head = 0; head < (int)p->heads; head++)
    for (int i = 0; i < (int)tiles_of(p); i++) ask_for(&ctas[head], i, p, head, i, "QKV", "O");
  return (int)p->heads;
}

/* The state that each chunk adds. */
static int chunk_states(const Problem *p, Cta *ctas) { return each_block(p, ctas, "KV", "H"); }

/* Their sums: without products, so that a step holds as many as it has room for. */
static int chunk_sums(const Problem *p, Cta *ctas) {
  for (int head = 0; head < (int)p->heads; head++)
    for (int first = 0; first < (int)tiles_of(p); first += CLOCK_ACCESSES_MAX) {
      const int end = first + CLOCK_ACCESSES_MAX < (int)tiles_of(p) ? first + CLOCK_ACCESSES_MAX : (int)tiles_of(p);
      for (int j = first; j < end; j++) ask_for(&ctas[head], first / CLOCK_ACCESSES_MAX, p, head, j, "H", "");
      for (int j = first; j < end; j++) ask_for(&ctas[head], first / CLOCK_ACCESSES_MAX, p, head, j, "", "S");
    }
  return (int)p->heads;
}

/* All row blocks at once, each with the sum before it. */
static int chunk_outputs(const Problem *p, Cta *ctas) { return each_block(p, ctas, "QKVS", "O"); }

static int zeros(const Problem *p, Cta *ctas) { return each_block(p, ctas, "", "A"); }

static int converted(const Problem *p, Cta *ctas) { return each_block(p, ctas, "A", "O"); }

/* A block's mean size, where the last is ragged; a state is d x d in fp32. */
static double bytes_of(const Problem *p, char tensor) {
  const double rows = (double)p->N / (double)tiles_of(p);
  if (tensor == 'H' || (tensor == 'S' && p->has_states)) return 4 * (double)(p->d * p->d);
  if (tensor == 'A') return 4 * rows * (double)p->d;
  if (tensor == 'K' || tensor == 'V') return 2 * (double)p->N_k / (double)columns_of(p) * (double)p->d;
  return 2 * rows * (tensor == 'S' ? rows : (double)p->d);
}

/* All slots that have begun take a step in turn, who began last first; one that is done takes the next CTA in the next
 * turn. A row block is in parts no larger than a tile of K, sixteen at most. */
static void take_turns(Slow *l2, const Problem *p, const Cta *const *ctas, int n_ctas, int n_slots, int64_t skew) {
  const Cta *at[64] = {NULL};
  int step[64], line[64], in_line = 0, next = 0;
  const int n = n_slots < n_ctas ? n_slots : n_ctas;
  bool busy = true;
  for (int64_t turn = 0; busy || turn <= skew; turn++) {
    for (int s = n - 1; s >= 0; s--)
      if (skew * s / n == turn) memmove(line + 1, line, (size_t)in_line++ * sizeof *line), line[0] = s;
    busy = false;
    for (int k = 0; k < in_line; k++) {
      const int s = line[k], side = l2->n_sides == 1 ? 0 : s % 2;
      if (!at[s] && next < n_ctas) at[s] = ctas[next++], step[s] = 0;
      if (!at[s]) continue;
      busy = true;
      for (const Access *a = at[s]->steps[step[s]]; a->tensor; a++) {
        const double bytes = bytes_of(p, a->tensor);
        const int parts = strchr("QO", a->tensor) ? (int)fmin(ceil(0.95 * bytes / bytes_of(p, 'K')), 16) : 1;
        if (!a->store) l2->asked += bytes;
        for (int part = 0; part < parts; part++)
          (a->store ? slow_write : slow_read)(l2, side, ((a->tensor * 64 + a->head) * 64 + a->i) * 64 + a->j + part,
                                              bytes / parts);
      }
      if (++step[s] == at[s]->n_steps) at[s] = NULL;
    }
  }
}

/* ---- The comparison -------------------------------------------------------------------------------------------- */

typedef int Kernel(const Problem *problem, Cta *ctas);

static const struct {
  const char *name, *text;
  Kernel *kernels[3];
  bool backwards, sparse, diagonal, has_states;
  int cluster; /* CTAs next to each other of a head that share `shared` */
  const char *shared;
} OWN[] = {
    {.name = "fa2", .kernels = {fa2_like}},
    {.name = "fa2-reversed", .text = OWN_REVERSED, .kernels = {fa2_like}, .backwards = true},
    {.name = "standard-fused-softmax", .text = OWN_FUSED, .kernels = {fused_scores, fused_values}},
    {.name = "fa2-sparse", .text = OWN_SPARSE, .kernels = {fa2_like}, .sparse = true},
    {.name = "fa2-pairs", .text = OWN_PAIRS, .kernels = {fa2_like}, .cluster = 2, .shared = "KV"},
    {.name = "fa2-threes", .text = OWN_THREES, .kernels = {fa2_like}, .sparse = true, .cluster = 3, .shared = "K"},
    {.name = "grouped", .text = OWN_GROUPED, .kernels = {grouped}},
    {.name = "columns", .text = OWN_COLUMNS, .kernels = {columns}},
    {.name = "sums", .text = OWN_SUMS, .kernels = {zeros, sums, converted}},
    {.name = "linear", .kernels = {linear}, .diagonal = true},
    {.name = "linear-chunks",
     .kernels = {chunk_states, chunk_sums, chunk_outputs},
     .diagonal = true,
     .has_states = true},
};
enum { N_OWN = COUNT_OF(OWN) };

static bool loads(const Cta *cta, const Access *access) {
  for (int step = 0; step < cta->n_steps; step++)
    for (const Access *a = cta->steps[step]; a->tensor; a++)
      if (a->tensor == access->tensor && !a->store && a->j == access->j) return true;
  return false;
}

/* Takes out what a later CTA of the cluster, of the same head, loads too. */
static void share_loads(const Problem *p, Cta *ctas, int n, int cluster, const char *shared, double *bytes) {
  const int T = (int)tiles_of(p);
  for (int at = 0; at < n; at++) {
    const int in_head = at % T, last = in_head / cluster * cluster + cluster - 1,
              end = at - in_head + (last < T ? last : T - 1);
    for (int step = 0; step < ctas[at].n_steps; step++)
      for (Access *a = ctas[at].steps[step]; a->tensor;) {
        bool other = false;
        for (int k = at + 1; k <= end; k++) other |= strchr(shared, a->tensor) && loads(&ctas[k], a);
        if (!other) {
          a++;
          continue;
        }
        *bytes += bytes_of(p, a->tensor);
        for (Access *from = a; from->tensor; from++) from[0] = from[1];
      }
  }
}

static void walk_slowly(Slow *l2, const Problem *p, int own, const Launch *launch, int64_t skew) {
  static const Cta *in_order[CTAS_MAX];
  Cta *ctas = malloc(CTAS_MAX * sizeof *ctas);
  assert_non_null(ctas);
  for (int k = 0; k < 3 && OWN[own].kernels[k]; k++) {
    memset(ctas, 0, CTAS_MAX * sizeof *ctas);
    const int n = OWN[own].kernels[k](p, ctas);
    assert_true(n <= CTAS_MAX);
    if (OWN[own].cluster) share_loads(p, ctas, n, OWN[own].cluster, OWN[own].shared, &l2->shared);
    for (int c = 0; c < n; c++) {
      const LaunchPiece piece = own ? (LaunchPiece){.row_block = c} : launch_piece(launch, c);
      in_order[c] = &ctas[(piece.batch * p->heads + piece.head) * tiles_of(p) + piece.row_block];
    }
    take_turns(l2, p, in_order, n, 6 * (int)launch->config.ctas_per_sm, skew);
  }
  free(ctas);
}

static bool differs(double a, double b) { return fabs(a - b) > 1e-9 * (1 + fabs(b)); }

/* HBM, the fabric and what is stored, in L2s of every size, with one side and with two. */
TEST(hbm_is_that_of_obvious_code) {
  static const Gpu SMALL = {.name = "small", .n_sm = 6, .warp_size = 32};
  Rand r = {17};
  Slow *slow = malloc(sizeof *slow);
  assert_non_null(slow);
  for (int trial = 0; trial < 40 * (N_OWN + 1); trial++) {
    const int own = trial % (N_OWN + 1) % N_OWN; /* fa2 twice */
    const int64_t kv_heads = rand_in(&r, 1, 2);
    Problem p = {.batch = 1, .N = rand_in(&r, 1, 120), .d = 16, .B = 8 * rand_in(&r, 1, 4), .kv_heads = kv_heads};
    LaunchConfig config = {.n_splits = 1, .ctas_per_sm = 2};
    p.heads = kv_heads * rand_in(&r, 1, 2);
    p.causal = rand_in(&r, 0, 1);
    p.N_k = p.N, p.B_c = p.B;
    if (own == 0) {
      p.batch = rand_in(&r, 1, 2), p.N_k = rand_in(&r, 1, 200), p.B_c = 8 * rand_in(&r, 1, 4);
      config.order = (LaunchOrder)rand_in(&r, 0, ORDER_COUNT - 1);
      config.rows = (LaunchRows)rand_in(&r, 0, ROWS_COUNT - 1);
      config.walk = (LaunchWalk)rand_in(&r, 0, 1);
      config.ctas_per_sm = rand_in(&r, 1, 3);
    }
    p.backwards = OWN[own].backwards || config.walk == WALK_REVERSED;
    p.has_states = OWN[own].has_states;
    p.causal |= OWN[own].diagonal;
    Pattern *pattern = NULL;
    if (OWN[own].sparse) {
      p.stride = rand_in(&r, 2, 4);
      p.block = rand_in(&r, 4, 40);
      pattern = pattern_named(test_text("strided:%d:%d", (int)p.stride, (int)p.block), (PatternMatrix){p.N, p.N, false},
                              NULL);
    }
    Program *text = OWN[own].text ? own_program(OWN[own].text) : NULL;
    const Schedule *program = text ? text : schedule_find(OWN[own].name);
    /* Many heads' worth of L2, so that all are walked; no sum of tiles comes so close to a side's room that rounding
     * decides. */
    const L2RunConfig l2 = {.l2_bytes = 1 << 30,
                            .l2_partitions = rand_in(&r, 1, 2),
                            .skew_turns = own ? 0 : rand_in(&r, 0, 5),
                            .in_step = true,
                            .side_capacity_bytes = 1024 * (double)rand_in(&r, 2, 60) + 0.3331,
                            .side_ways = -1,
                            .without = refinement_bit(REFINEMENT_COALESCER)};
    const Shape asked = {.batch = p.batch,
                         .heads = p.heads,
                         .kv_heads = p.kv_heads,
                         .N_q = p.N,
                         .N_k = p.N_k,
                         .d = p.d,
                         .causal = p.causal,
                         .pattern = pattern};
    const Tiling tiling = {.B_r = p.B, .B_c = p.B_c};
    config.block_q = p.B, config.block_k = p.B_c, config.whole_head = program->whole_head;
    Plan plan;
    Launch launch;
    L2Run fast = {0};
    must(plan_make(&plan, &asked, &tiling, fresh_error()) ||
         launch_make(&launch, &asked, &config, &SMALL, fresh_error()) ||
         l2_run(&fast, program, &launch, &plan, &l2, fresh_error()));
    memset(slow, 0, sizeof *slow);
    slow->n_sides = (int)l2.l2_partitions;
    slow->room = l2.side_capacity_bytes * (l2.l2_partitions == 1 ? 2 : 1);
    walk_slowly(slow, &p, own, &launch, l2.skew_turns);
    /* granules are of mean size: a ragged last block that is asked for often counts as a larger one */
    if (differs(fast.hbm_read_bytes, fmin(slow->hbm_read, fast.read_bytes)) ||
        differs(fast.fabric_bytes, slow->fabric) || differs(fast.hbm_write_bytes, slow->hbm_write) ||
        differs(fast.left_dirty_bytes, left_dirty(slow)))
      fail_msg("%s, trial %d: HBM %.3f, %.3f; fabric %.3f, %.3f; written %.3f, %.3f; left %.3f, %.3f", OWN[own].name,
               trial, fast.hbm_read_bytes, slow->hbm_read, fast.fabric_bytes, slow->fabric, fast.hbm_write_bytes,
               slow->hbm_write, fast.left_dirty_bytes, left_dirty(slow));
    if (OWN[own].cluster && p.N % p.B == 0 && /* of ragged blocks `asked` has the mean */
        (differs(fast.read_bytes, slow->asked) || differs(fast.shared_bytes, slow->shared)))
      fail_msg("%s, trial %d: asked %.3f, %.3f; shared %.3f, %.3f", OWN[own].name, trial, fast.read_bytes, slow->asked,
               fast.shared_bytes, slow->shared);
    assert_true(fast.simulated == 1);
    free(text);
    free(pattern);
  }
  free(slow);
}
