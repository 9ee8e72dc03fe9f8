/* The first cause that is named is the fault: of rungs of the ladder that are judged as others, and of what a table of
 * ncu alone does not say. Loops with a fault each: tests/commands/crosscheck.txt. */
#include "tests/support/test.h"
#include "kernels/counters/explain.h"
#include "kernels/lib/cpu_check.h"

static void count(CounterRow *row, Counter counter, uint64_t value) {
  row->known[counter] = true;
  row->value[counter] = value;
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

/* 8 heads of 1,024 in tiles of 128: 17 MiB read, 1 MiB written. A quarter of the reads is L1's; each of 512 tiles
 * spills 24 bytes of 128 threads; three kernels with one more pass over S. */
TEST(the_first_cause_is_the_fault) {
  enum { ROW = 128, S = 2048, ROWS = 8 * 1024 };
  static const struct {
    const char *schedule;
    uint64_t read, write, local, hit_rate;
    CauseKind first;
  } CASES[] = {
      {"fa2", (17 << 20) / 4 * 3, 1 << 20, 0, 250000, CAUSE_L1},
      {"fa2", 17 << 20, (1 << 20) + 512 * 24 * 128, 512 * 24 * 128, 0, CAUSE_SPILLS},
      {"fa2", 17 << 20, 2 << 20, 0, 0, CAUSE_OTHER_TYPE},
      {"standard", ROWS * (ROW + 3 * S + 2 * ROW), ROWS * (ROW + 3 * S), 0, 0, CAUSE_PASS},
      {"fa2", 17 << 20, 1 << 20, 0, 0, CAUSE_COUNT}, /* nothing is explained where nothing differs */
  };
  const Shape shape = {.batch = 2, .heads = 4, .kv_heads = 4, .N_q = 1024, .N_k = 1024, .d = 64};
  const ExplainContext context = {.threads = 128, .n_sm = 132};
  char text[2048];
  EACH (i, CASES) {
    CounterRow row = {.grid = {8, 8, 1}};
    count(&row, COUNTER_BOUNDARY_READ, CASES[i].read);
    count(&row, COUNTER_BOUNDARY_WRITE, CASES[i].write);
    if (CASES[i].local) count(&row, COUNTER_LOCAL_WRITE, CASES[i].local);
    if (CASES[i].hit_rate) count(&row, COUNTER_L1_HIT_RATE, CASES[i].hit_rate);
    assert_true(first_cause(&row, CASES[i].schedule, &shape, &(Tiling){.B_r = 128, .B_c = 128}, &context, text) ==
                CASES[i].first);
  }
}

/* The model has four heads as rows of one tile; the kernel read K and V for each of 128. */
TEST(heads_that_are_not_packed) {
  const Shape shape = {.batch = 4, .heads = 8, .kv_heads = 8, .N_q = 4, .N_k = 4096, .d = 128};
  const ExplainContext context = {.threads = 128, .n_sm = 132, .packed_group = 4};
  CounterRow row = {.grid = {1, 128, 1}};
  char text[2048];
  count(&row, COUNTER_BOUNDARY_READ, 128 * (256 + 2 * 4096 * 256));
  count(&row, COUNTER_BOUNDARY_WRITE, 128 * 256);
  assert_true(first_cause(&row, "fa2", &shape, &(Tiling){.B_r = 64, .B_c = 128}, &context, text) == CAUSE_NOT_PACKED);
}

/* Small tiles, so that O is little beside K and V and a pass over it is within the noise: what fits to the byte is
 * first. */
TEST(exact_beats_near) {
  const Shape shape = {.batch = 8, .heads = 16, .kv_heads = 16, .N_q = 4096, .N_k = 4096, .d = 64};
  const Tiling tiling = {.B_r = 8, .B_c = 32};
  CounterRow row = {0};
  count(&row, COUNTER_BOUNDARY_READ, 67108864ull * (1 + 2 * 512));
  count(&row, COUNTER_BOUNDARY_WRITE, 2 * 67108864ull);
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
  EACH (i, runs) {
    CounterRow row = {0};
    count(&row, COUNTER_HBM_READ, (uint64_t)runs[i].read);
    count(&row, COUNTER_TIME, (uint64_t)runs[i].ns);
    Cause cause;
    const bool found = counter_explain_background(&row, runs[i].needed, &cause);
    assert_int_equal(found, runs[i].says != NULL);
    assert_true(!found || strstr(cause.text, runs[i].says));
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
  EACH (i, RUNS)
    for (int noise = 0; noise < 2; noise++) {
      Shape shape = {.N_q = 256, .N_k = 256, .d = 64, .dtype = RUNS[i].ran_dtype, .causal = RUNS[i].causal};
      Tiling tiling = {.B_r = RUNS[i].ran_block, .B_c = RUNS[i].ran_block};
      CpuCheck check;
      must(shape_complete(&shape, fresh_error()));
      must(cpu_check_run(RUNS[i].ran, &shape, &tiling, 1, "assets/ladder", &check, fresh_error()));
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
      assert_true(first == RUNS[i].first);
    }
}

/* HBM alone was counted: four kernels of an eager attention with a pass of its own for the mask, 128 heads of 4,096 in
 * fp32. S has 8.59 GB; the counts are such a run's. */
TEST(at_hbm_alone) {
  const Shape shape = {
      .batch = 4, .heads = 32, .kv_heads = 32, .N_q = 4096, .N_k = 4096, .d = 128, .dtype = DTYPE_FP32};
  const Tiling tiling = {.B_r = 64, .B_c = 64};
  CounterRow row = {0};
  count(&row, COUNTER_HBM_READ, 27800000000);
  count(&row, COUNTER_HBM_WRITE, 25850000000);
  char text[2048];
  assert_true(first_cause(&row, "standard", &shape, &tiling, NULL, text) == CAUSE_PASS);
  count(&row, COUNTER_HBM_READ, 18000000000); /* S and P once each, judged as a fused kernel */
  count(&row, COUNTER_HBM_WRITE, 17400000000);
  assert_true(first_cause(&row, "fa2", &shape, &tiling, NULL, text) == CAUSE_SCORES_IN_HBM);
  count(&row, COUNTER_HBM_READ, 1000000); /* the inputs lay in L2 */
  count(&row, COUNTER_HBM_WRITE, 0);
  assert_true(first_cause(&row, "fa2", &shape, &tiling, NULL, text) == CAUSE_WARM);
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
  EACH (i, RUNS) {
    const Shape shape = {.batch = 1,
                         .heads = HEADS,
                         .kv_heads = HEADS,
                         .N_q = 16384,
                         .N_k = 16384,
                         .d = 128,
                         .causal = RUNS[i].causal,
                         .dtype = DTYPE_FP16};
    const ExplainContext context = {.n_sm = RUNS[i].n_sm, .l2_bytes = RUNS[i].l2_tiles * 32768};
    CounterRow row = {0};
    char text[2048];
    count(&row, COUNTER_HBM_READ,
          (uint64_t)q + read_through_l2(128, RUNS[i].running, RUNS[i].l2_tiles, 32768, RUNS[i].causal));
    assert_true(first_cause(&row, "fa2", &shape, &tiling, &context, text) == RUNS[i].first);
  }
}

/* Where all inputs fit into L2, it is not L2; K and V read once more are that. And nothing is said of what is read
 * once. */
TEST(what_l2_keeps) {
  const Shape shape = {.batch = 1, .heads = 8, .kv_heads = 8, .N_q = 4096, .N_k = 4096, .d = 128, .dtype = DTYPE_FP16};
  const Tiling tiling = {.B_r = 128, .B_c = 64};
  const ExplainContext context = {.n_sm = 132, .l2_bytes = 50 << 20};
  CounterRow row = {0};
  char text[2048];
  count(&row, COUNTER_HBM_READ, 5 * UINT64_C(8388608)); /* Q, K, K, V, V */
  assert_true(first_cause(&row, "fa2", &shape, &tiling, &context, text) == CAUSE_READ_AGAIN);
  count(&row, COUNTER_HBM_READ, 3 * UINT64_C(8388608));
  assert_true(first_cause(&row, "fa2", &shape, &tiling, &context, text) == CAUSE_COUNT);
}
