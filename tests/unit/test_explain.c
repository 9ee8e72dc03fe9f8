/* Deliberate differences: kernels with a fault each, run on the processor and counted byte by byte; the first cause
 * that is named must be the fault.
 *
 * Two kinds of kernels. Plain loops that only count, slow and obvious, below: each fault is a line of them. And rungs
 * of the ladder that are judged as another rung, with another type or tile than they ran with. */
#include "tests/support/test.h"
#include "kernels/counters/explain.h"
#include "kernels/lib/cpu_check.h"

typedef enum {
  NO_FAULT,
  NO_SKIP,
  KV_TWICE,
  KV_THREE_TIMES,
  K_TWICE,
  Q_AGAIN,
  UNPACKED,
  PACKED,
  SPILL,
  SPILL_COUNTED,
  SCORES_IN_HBM,
  PASS_OVER_S,
  PASS_OVER_O,
  PASS_OVER_Q,
  KV_COPIED,
  PADDED_D,
  PADDED_N,
  SMALL_TILE,
  OTHER_TYPE,
  LSE,
  O_FP32,
  FA1,
  SPLIT,
  TORN_SECTORS,
  MASK_READ,
  SKIP,
  P_KEPT,
  EIGHT_HEADS,
  IN_L1,
} Fault;

typedef struct {
  int64_t batch, heads, kv_heads, N_q, N_k, d, bytes, B_r, B_c;
  bool causal;
  Fault fault;
} Kernel;

typedef struct {
  uint64_t read, write, local;
} Count;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* One block of rows against all of its keys. rows: of Q; last_row: the last one's number. */
static void row_block(const Kernel *k, int64_t row0, int64_t rows, Count *c) {
  const uint64_t row_bytes = (uint64_t)(k->d * k->bytes), threads = 128;
  const int64_t last_seen = row0 + rows - 1 + k->N_k - k->N_q;
  const uint64_t q = (uint64_t)rows * row_bytes;
  c->read += q;
  for (int64_t j = 0; j < k->N_k; j += k->B_c) {
    const int64_t keys = k->fault == PADDED_N ? k->B_c : smaller(k->B_c, k->N_k - j);
    const uint64_t tile = (uint64_t)keys * row_bytes;
    if (((k->causal && k->fault != NO_SKIP) || k->fault == SKIP) && j > last_seen) continue; /* masked */
    c->read += 2 * tile;                                                                     /* K, V */
    if (k->fault == KV_TWICE) c->read += 2 * tile;
    if (k->fault == KV_THREE_TIMES) c->read += 4 * tile;
    if (k->fault == K_TWICE) c->read += tile;
    if (k->fault == Q_AGAIN && j > 0) c->read += q;
    if (k->fault == MASK_READ) c->read += (uint64_t)(rows * keys * k->bytes);
    if (k->fault == P_KEPT) c->write += (uint64_t)(rows * keys * k->bytes);
    if (k->fault == SPILL || k->fault == SPILL_COUNTED) c->write += 24 * threads, c->local += 24 * threads;
  }
  c->write += q; /* O */
  if (k->fault == LSE) c->write += (uint64_t)rows * 4;
  if (k->fault == O_FP32) c->write += q; /* four bytes an element */
  if (k->fault == SPLIT) {               /* four parts of O and their log-sum-exp in fp32, written and read */
    c->write += 4 * (uint64_t)rows * (uint64_t)(k->d + 1) * 4;
    c->read += 4 * (uint64_t)rows * (uint64_t)(k->d + 1) * 4;
  }
}

/* FA-1: keys outside, so O, m and l go back and forth. */
static void head_of_fa1(const Kernel *k, Count *c) {
  const uint64_t row_bytes = (uint64_t)(k->d * k->bytes), state = row_bytes + 2 * 4;
  c->write += (uint64_t)k->N_q * state; /* O = 0, l = 0, m = -infinity */
  for (int64_t j = 0; j < k->N_k; j += k->B_c) {
    c->read += 2 * (uint64_t)smaller(k->B_c, k->N_k - j) * row_bytes;
    c->read += (uint64_t)k->N_q * (row_bytes + state); /* Q and O, m, l */
    c->write += (uint64_t)k->N_q * state;
  }
}

/* Three kernels: S = Q K^T; P = softmax(S); O = P V. Each matrix once a pass. */
static void head_of_standard(const Kernel *k, Count *c) {
  const uint64_t row_bytes = (uint64_t)(k->d * k->bytes);
  for (int64_t i = 0; i < k->N_q; i++) {
    const uint64_t scores = (uint64_t)(k->N_k * k->bytes);
    c->read += row_bytes;
    c->write += scores;
    c->read += scores;
    c->write += scores;
    c->read += scores;
    c->write += row_bytes;
    if (k->fault == PASS_OVER_S) c->read += scores, c->write += scores;
  }
  c->read += 2 * (uint64_t)k->N_k * row_bytes;
}

static Count run(Kernel k, bool standard) {
  Count c = {0};
  const Kernel asked = k;
  const int64_t group = k.heads / k.kv_heads;
  if (k.fault == PADDED_D) k.d = (k.d + 63) / 64 * 64;
  if (k.fault == PADDED_N) k.N_q = (k.N_q + k.B_r - 1) / k.B_r * k.B_r;
  if (k.fault == SMALL_TILE) k.B_r = 64;
  if (k.fault == OTHER_TYPE) k.bytes *= 2;
  if (k.fault == EIGHT_HEADS) k.heads *= 8;
  if (k.fault == PACKED) k.heads = k.kv_heads, k.N_q *= group;
  for (int64_t h = 0; h < k.batch * k.heads; h++) {
    if (standard || k.fault == SCORES_IN_HBM || k.fault == PASS_OVER_S)
      head_of_standard(&k, &c);
    else if (k.fault == FA1)
      head_of_fa1(&k, &c);
    else
      for (int64_t i = 0; i < k.N_q; i += k.B_r) row_block(&k, i, smaller(k.B_r, k.N_q - i), &c);
  }
  const uint64_t row = (uint64_t)(asked.d * asked.bytes), q = (uint64_t)(k.batch * asked.heads * asked.N_q) * row,
                 kv = (uint64_t)(k.batch * asked.kv_heads * asked.N_k) * row;
  if (k.fault == PASS_OVER_O || k.fault == PASS_OVER_Q) c.read += q, c.write += q;
  if (k.fault == KV_COPIED) c.read += 2 * kv, c.write += 2 * kv;
  if (k.fault == TORN_SECTORS) c.read = c.read / row * ((row + 31) / 32 * 32);
  if (k.fault == IN_L1) c.read -= c.read / 4;
  return c;
}

/* What is said first of counts of the boundary. */
static CauseKind first_cause(const CounterRow *row, const char *schedule, const Shape *shape, const Tiling *tiling,
                             const ExplainContext *context, char *text) {
  const KernelModel model = kernel_model_of_schedule(schedule, NULL);
  Cause causes[CAUSES_MAX];
  int n;
  Error error = {0};
  if (counter_explain(row, &model, shape, tiling, context, causes, &n, &error)) fail_msg("%s", error.message);
  *text = '\0';
  for (int i = 0; i < n; i++) sprintf(text + strlen(text), "    %s (%.4f)\n", causes[i].text, causes[i].score);
  return n ? causes[0].kind : CAUSE_COUNT;
}

#define FULL                                                                                                           \
  { .batch = 2, .heads = 4, .kv_heads = 4, .N_q = 1024, .N_k = 1024, .d = 64, .bytes = 2, .B_r = 128, .B_c = 128 }
#define CAUSAL                                                                                                         \
  {                                                                                                                    \
    .batch = 1, .heads = 4, .kv_heads = 4, .N_q = 2048, .N_k = 2048, .d = 128, .bytes = 2, .B_r = 128, .B_c = 64,      \
    .causal = true                                                                                                     \
  }
#define RAGGED                                                                                                         \
  { .batch = 1, .heads = 2, .kv_heads = 2, .N_q = 1000, .N_k = 900, .d = 80, .bytes = 2, .B_r = 64, .B_c = 64 }
#define DECODE                                                                                                         \
  { .batch = 4, .heads = 32, .kv_heads = 8, .N_q = 1, .N_k = 4096, .d = 128, .bytes = 2, .B_r = 64, .B_c = 128 }

static const struct {
  Kernel kernel;
  Fault fault;
  CauseKind first;
} CASES[] = {
    {CAUSAL, NO_SKIP, CAUSE_MASK_NOT_SKIPPED},
    {FULL, SKIP, CAUSE_MASK_SKIPPED},
    {FULL, KV_TWICE, CAUSE_READ_AGAIN},
    {CAUSAL, KV_TWICE, CAUSE_READ_AGAIN},
    {RAGGED, KV_TWICE, CAUSE_READ_AGAIN},
    {FULL, KV_THREE_TIMES, CAUSE_READ_AGAIN},
    {CAUSAL, K_TWICE, CAUSE_READ_AGAIN},
    {FULL, Q_AGAIN, CAUSE_Q_AGAIN},
    {DECODE, UNPACKED, CAUSE_NOT_PACKED},
    {DECODE, PACKED, CAUSE_PACKED},
    {FULL, SPILL, CAUSE_SPILLS},
    {CAUSAL, SPILL, CAUSE_SPILLS},
    {FULL, SPILL_COUNTED, CAUSE_SPILLS},
    {FULL, SCORES_IN_HBM, CAUSE_SCORES_IN_HBM},
    {RAGGED, SCORES_IN_HBM, CAUSE_SCORES_IN_HBM},
    {FULL, PASS_OVER_S, CAUSE_PASS},
    {RAGGED, PASS_OVER_O, CAUSE_PASS},
    {FULL, PASS_OVER_Q, CAUSE_PASS},
    {CAUSAL, KV_COPIED, CAUSE_PASS},
    {RAGGED, PADDED_D, CAUSE_PADDED_D},
    {RAGGED, PADDED_N, CAUSE_PADDED_N},
    {FULL, SMALL_TILE, CAUSE_OTHER_TILE},
    {CAUSAL, SMALL_TILE, CAUSE_OTHER_TILE},
    {FULL, OTHER_TYPE, CAUSE_OTHER_TYPE},
    {FULL, LSE, CAUSE_LSE},
    {CAUSAL, LSE, CAUSE_LSE},
    {FULL, O_FP32, CAUSE_OTHER_TYPE},
    {CAUSAL, O_FP32, CAUSE_OTHER_TYPE},
    {RAGGED, O_FP32, CAUSE_OTHER_TYPE},
    {FULL, FA1, CAUSE_FA1_ORDER},
    {CAUSAL, SPLIT, CAUSE_SPLIT},
    {RAGGED, MASK_READ, CAUSE_MASK_READ},
    {FULL, P_KEPT, CAUSE_SCORES_KEPT},
    {FULL, EIGHT_HEADS, CAUSE_OTHER_SHAPE},
    {FULL, IN_L1, CAUSE_L1},
    {{.batch = 1, .heads = 2, .kv_heads = 2, .N_q = 512, .N_k = 512, .d = 20, .bytes = 2, .B_r = 64, .B_c = 64},
     TORN_SECTORS,
     CAUSE_SECTORS},
    {FULL, NO_FAULT, CAUSE_COUNT}, /* nothing is explained where nothing differs */
    {CAUSAL, NO_FAULT, CAUSE_COUNT},
    {RAGGED, NO_FAULT, CAUSE_COUNT},
};

TEST(the_first_cause_is_the_fault) {
  int n_wrong = 0;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    Kernel k = CASES[i].kernel;
    k.fault = CASES[i].fault;
    const bool standard = k.fault == PASS_OVER_S;
    Shape shape = {.batch = k.batch,
                   .heads = k.heads,
                   .kv_heads = k.kv_heads,
                   .N_q = k.N_q,
                   .N_k = k.N_k,
                   .d = k.d,
                   .causal = k.causal};
    const Tiling tiling = {.B_r = k.B_r, .B_c = k.B_c};
    ExplainContext context = {.threads = 128, .n_sm = 132};
    if (k.fault == UNPACKED) { /* the model has the group as rows of one tile */
      context.packed_group = k.heads / k.kv_heads;
      shape.N_q *= context.packed_group;
      shape.heads = k.kv_heads;
    }
    const Count c = run(k, standard);
    CounterRow row = {.known = {[COUNTER_BOUNDARY_READ] = true, [COUNTER_BOUNDARY_WRITE] = true}};
    row.value[COUNTER_BOUNDARY_READ] = c.read;
    row.value[COUNTER_BOUNDARY_WRITE] = c.write;
    row.grid[0] = ceil_div(k.N_q, k.fault == SMALL_TILE ? 64 : k.B_r);
    row.grid[1] = k.batch * k.heads;
    row.grid[2] = 1;
    if (k.fault == SPILL_COUNTED) row.known[COUNTER_LOCAL_WRITE] = true, row.value[COUNTER_LOCAL_WRITE] = c.local;
    if (k.fault == IN_L1) row.known[COUNTER_L1_HIT_RATE] = true, row.value[COUNTER_L1_HIT_RATE] = 250000;
    char text[2048];
    const CauseKind first = first_cause(&row, standard ? "standard" : "fa2", &shape, &tiling, &context, text);
    if (first == CASES[i].first) continue;
    print_error("case %zu: not %s first, but\n%s", i,
                CASES[i].first < CAUSE_COUNT ? cause_name(CASES[i].first) : "none", text);
    n_wrong++;
  }
  assert_int_equal(n_wrong, 0);
}

/* Small tiles, so that O is little beside K and V and a pass over it is within the noise: what fits to the byte is
 * first. */
TEST(exact_beats_near) {
  Kernel k = {
      .batch = 8, .heads = 16, .kv_heads = 16, .N_q = 4096, .N_k = 4096, .d = 64, .bytes = 2, .B_r = 8, .B_c = 32};
  const Shape shape = {.batch = 8, .heads = 16, .kv_heads = 16, .N_q = 4096, .N_k = 4096, .d = 64};
  const Tiling tiling = {.B_r = 8, .B_c = 32};
  k.fault = O_FP32;
  const Count c = run(k, false);
  CounterRow row = {.known = {[COUNTER_BOUNDARY_READ] = true, [COUNTER_BOUNDARY_WRITE] = true}};
  row.value[COUNTER_BOUNDARY_READ] = c.read;
  row.value[COUNTER_BOUNDARY_WRITE] = c.write;
  char text[2048];
  assert_int_equal(first_cause(&row, "fa2", &shape, &tiling, NULL, text), CAUSE_OTHER_TYPE);
  assert_non_null(strstr(text, "O written in fp32: would write 134 MB, 0.0 % off"));
}

/* Three kernels of an RTX 5090 that drove a screen, as their author counted them (explain.c): the rest over the time
 * is a screen's. Reads that time does not explain are none. */
TEST(reads_that_go_with_time) {
  static const struct {
    double needed, read, ns;
    const char *says; /* NULL: no cause */
  } runs[] = {
      {219324113, 368800000, 79.3e6, "1.9 GB/s over 79.3 ms: a screen of 3840 x 2160 at 60 Hz is read at 1.99 GB/s"},
      {201e6, 1181e6, 465e6, "2.1 GB/s over 465 ms"},
      {201e6, 381e6, 88e6, "2.0 GB/s over 88 ms"},
      {201e6, 245e6, 88e6, "0.5 GB/s over 88 ms: a screen of 1920 x 1080 at 60 Hz"},
      {201e6, 400e6, 3e6, NULL},    /* 66 GB/s: L2 misses */
      {201e6, 205e6, 88e6, NULL},   /* little */
      {201e6, 203e6, 0.5e6, NULL}}; /* short */
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    CounterRow row = {.known = {[COUNTER_HBM_READ] = true, [COUNTER_TIME] = true}};
    row.value[COUNTER_HBM_READ] = (uint64_t)runs[i].read;
    row.value[COUNTER_TIME] = (uint64_t)runs[i].ns;
    Cause cause;
    const bool found = counter_explain_background(&row, runs[i].needed, &cause);
    assert_int_equal(found, runs[i].says != NULL);
    if (found && !strstr(cause.text, runs[i].says)) fail_msg("%s", cause.text);
  }
}

/* Counters are not exact: the same holds half a permille off. */
TEST(rungs_judged_as_others) {
  static const struct {
    const char *ran, *judged; /* a schedule */
    Dtype ran_dtype;
    int64_t ran_block, judged_block;
    bool causal;
    CauseKind first;
  } RUNS[] = {
      {"fa2_scalar", "fa2", DTYPE_FP16, 64, 64, true, CAUSE_MASK_NOT_SKIPPED},
      {"fa2_causal", "fa2", DTYPE_FP16, 32, 64, true, CAUSE_OTHER_TILE},
      {"fa2_causal", "fa2", DTYPE_FP32, 32, 32, true, CAUSE_OTHER_TYPE},
      {"fa1", "fa2", DTYPE_FP16, 32, 32, false, CAUSE_FA1_ORDER},
      {"standard_tiled", "fa2", DTYPE_FP16, 64, 64, false, CAUSE_SCORES_IN_HBM},
      {"fa2_scalar", "fa1", DTYPE_FP16, 32, 32, false, CAUSE_FA1_ORDER},
      {"fa2_causal", "fa2", DTYPE_FP16, 64, 64, true, CAUSE_COUNT},
  };
  if (sizeof(void *) < 8) skip(); /* crosscheck --cpu refuses there */
  for (size_t i = 0; i < sizeof RUNS / sizeof *RUNS; i++)
    for (int noise = 0; noise < 2; noise++) {
      Shape shape = {.N_q = 256, .N_k = 256, .d = 64, .dtype = RUNS[i].ran_dtype, .causal = RUNS[i].causal};
      Tiling tiling = {.B_r = RUNS[i].ran_block, .B_c = RUNS[i].ran_block};
      CpuCheck check;
      Error error = {0};
      assert_int_equal(shape_complete(&shape, &error), STATUS_OK);
      if (cpu_check_run(RUNS[i].ran, &shape, &tiling, 1, "assets/ladder", &check, &error))
        fail_msg("%s", error.message);
      CounterRow row = {.known = {[COUNTER_COUNTED_READ] = true, [COUNTER_COUNTED_WRITE] = true}};
      for (int t = 0; t < KERNEL_TENSORS; t++) {
        row.value[COUNTER_COUNTED_READ] += check.read[t];
        row.value[COUNTER_COUNTED_WRITE] += check.write[t];
      }
      row.value[COUNTER_COUNTED_READ] += noise ? row.value[COUNTER_COUNTED_READ] / 2000 : 0;
      shape.dtype = DTYPE_FP16;
      tiling.B_r = tiling.B_c = RUNS[i].judged_block;
      char text[2048];
      const CauseKind first = first_cause(&row, RUNS[i].judged, &shape, &tiling, NULL, text);
      if (first != RUNS[i].first) fail_msg("%s judged as %s: first\n%s", RUNS[i].ran, RUNS[i].judged, text);
    }
}

/* HBM alone was counted: four kernels of an eager attention with a pass of its own for the mask, 128 heads of 4,096 in
 * fp32. S has 8.59 GB; the counts are such a run's. */
TEST(at_hbm_alone) {
  const Shape shape = {
      .batch = 4, .heads = 32, .kv_heads = 32, .N_q = 4096, .N_k = 4096, .d = 128, .dtype = DTYPE_FP32};
  const Tiling tiling = {.B_r = 64, .B_c = 64};
  CounterRow row = {.known = {[COUNTER_HBM_READ] = true, [COUNTER_HBM_WRITE] = true}};
  row.value[COUNTER_HBM_READ] = 27800000000;
  row.value[COUNTER_HBM_WRITE] = 25850000000;
  char text[2048];
  if (first_cause(&row, "standard", &shape, &tiling, NULL, text) != CAUSE_PASS) fail_msg("%s", text);
  row.value[COUNTER_HBM_READ] = 18000000000; /* S and P once each, judged as a fused kernel */
  row.value[COUNTER_HBM_WRITE] = 17400000000;
  if (first_cause(&row, "fa2", &shape, &tiling, NULL, text) != CAUSE_SCORES_IN_HBM) fail_msg("%s", text);
  row.value[COUNTER_HBM_READ] = 1000000; /* the inputs lay in L2 */
  row.value[COUNTER_HBM_WRITE] = 0;
  if (first_cause(&row, "fa2", &shape, &tiling, NULL, text) != CAUSE_WARM) fail_msg("%s", text);
}

/* A cache of whole tiles (of K and V together), the least recently used of which goes, under CTAs that run in waves,
 * step by step, each in its own time slot. Returns the bytes that it reads from HBM, Q among them. */
enum { HEADS = 8, TILES = 256 };
static uint64_t read_through_l2(int64_t T_r, int64_t n_running, int64_t l2_tiles, int64_t tile_bytes, bool causal) {
  static uint64_t used[HEADS][TILES];
  uint64_t clock = 0, misses = 0;
  int64_t held = 0;
  memset(used, 0, sizeof used);
  for (int64_t wave = 0; wave * n_running < HEADS * T_r; wave++)
    for (int64_t j = 0; j < TILES; j++)
      for (int64_t cta = wave * n_running; cta < (wave + 1) * n_running && cta < HEADS * T_r; cta++) {
        const int64_t h = cta / T_r, row_block = cta % T_r;
        if (causal && j * T_r >= (row_block + 1) * TILES) continue; /* row blocks and keys reach equally far */
        if (!used[h][j]) {
          misses++;
          if (held == l2_tiles) {
            uint64_t *oldest = NULL;
            for (int64_t k = 0; k < HEADS * TILES; k++) {
              uint64_t *one = &used[k / TILES][k % TILES];
              if (*one && (!oldest || *one < *oldest)) oldest = one;
            }
            *oldest = 0;
          } else {
            held++;
          }
        }
        used[h][j] = ++clock;
      }
  return misses * (uint64_t)tile_bytes;
}

/* 8 heads of 16,384, d = 128, in fp16, tiles of 128 x 64: K and V of a head have 8.4 MB, 32 KiB a tile; a wave of 132
 * CTAs holds two heads. */
TEST(what_l2_does_not_keep) {
  static const struct {
    int64_t n_sm, running, l2_tiles;
    bool causal;
    CauseKind first;
  } RUNS[] = {
      {132, 132, 192, false, CAUSE_L2_SMALL}, /* 6.3 MB: not one head */
      {132, 264, 192, false, CAUSE_L2_SMALL}, /* two CTAs an SM */
      {132, 132, 192, true, CAUSE_L2_SMALL},
      {132, 132, 384, false, CAUSE_L2_HEADS}, /* 12.6 MB: one head, not two */
      {96, 96, 384, false, CAUSE_L2_HEADS},
      {132, 1, 2, false, CAUSE_L2_UNSHARED}, /* each CTA alone, with room for two tiles */
  };
  const Tiling tiling = {.B_r = 128, .B_c = 64};
  const int64_t q = (int64_t)HEADS * 16384 * 128 * 2;
  for (size_t i = 0; i < sizeof RUNS / sizeof *RUNS; i++) {
    const Shape shape = {.batch = 1,
                         .heads = HEADS,
                         .kv_heads = HEADS,
                         .N_q = 16384,
                         .N_k = 16384,
                         .d = 128,
                         .causal = RUNS[i].causal,
                         .dtype = DTYPE_FP16};
    const ExplainContext context = {.n_sm = RUNS[i].n_sm, .l2_bytes = RUNS[i].l2_tiles * 32768};
    CounterRow row = {.known = {[COUNTER_HBM_READ] = true}};
    char text[2048];
    row.value[COUNTER_HBM_READ] =
        (uint64_t)q + read_through_l2(128, RUNS[i].running, RUNS[i].l2_tiles, 32768, RUNS[i].causal);
    if (first_cause(&row, "fa2", &shape, &tiling, &context, text) != RUNS[i].first)
      fail_msg("%zu: read %llu; first\n%s", i, (unsigned long long)row.value[COUNTER_HBM_READ], text);
  }
}

/* Where all inputs fit into L2, it is not L2; K and V read once more are that. And nothing is said of what is read
 * once. */
TEST(what_l2_keeps) {
  const Shape shape = {.batch = 1, .heads = 8, .kv_heads = 8, .N_q = 4096, .N_k = 4096, .d = 128, .dtype = DTYPE_FP16};
  const Tiling tiling = {.B_r = 128, .B_c = 64};
  const ExplainContext context = {.n_sm = 132, .l2_bytes = 50 << 20};
  CounterRow row = {.known = {[COUNTER_HBM_READ] = true}};
  char text[2048];
  row.value[COUNTER_HBM_READ] = 5 * UINT64_C(8388608); /* Q, K, K, V, V */
  if (first_cause(&row, "fa2", &shape, &tiling, &context, text) != CAUSE_READ_AGAIN) fail_msg("%s", text);
  row.value[COUNTER_HBM_READ] = 3 * UINT64_C(8388608);
  if (first_cause(&row, "fa2", &shape, &tiling, &context, text) != CAUSE_COUNT) fail_msg("%s", text);
}
