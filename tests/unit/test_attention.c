/* Attention with real numbers: every schedule against the definition in every precision, row
 * statistics against softmax step by step, what lies in HBM. Streams: test_attention_streams.c. */
#include "tests/support/test.h"
#include "tests/support/attention_run.h"

/* ---- every schedule, every precision ---- */

typedef struct {
  double V, S; /* largest absolute value, score */
} Largest;

static Largest largest_of(const Run *run) {
  const Shape *shape = &run->attention->plan.shape;
  const AttentionView Q = attention_in_hbm(run->attention, "Q");
  const AttentionView K = attention_in_hbm(run->attention, "K");
  const AttentionView V = attention_in_hbm(run->attention, "V");
  Largest largest = {0, 0};
  for (int64_t k = 0; k < shape->N_k * shape->d; k++) largest.V = fmax(largest.V, fabs(V.values[k]));
  for (int64_t i = 0; i < shape->N_q; i++)
    for (int64_t j = 0; j < shape->N_k; j++) {
      double s = 0;
      for (int64_t c = 0; c < shape->d; c++) s += Q.values[i * shape->d + c] * K.values[j * shape->d + c];
      largest.S = fmax(largest.S, fabs(s) / sqrt((double)shape->d));
    }
  return largest;
}

/* The most that roundings can do to a weighted mean of V: each stored exponential is off by half an ulp of
 * itself and of the smallest subnormal; a stored score moves its exponential by half an ulp of the score; O is
 * rounded once, in fa1 once a column block; the fp32 sums add their own, a few for each key and column. */
static double error_bound(const Run *run, Precision precision) {
  const Shape *shape = &run->attention->plan.shape;
  const Largest largest = largest_of(run);
  const double unit = ldexp(1, -precision_format(precision)->fraction_bits - 1);
  const double n_k = (double)shape->N_k, d = (double)shape->d;
  const double unit32 = ldexp(1, -24);
  double relative = expm1(2 * unit * (2 + largest.S + (double)run->attention->plan.T_c));
  relative += 2 * unit32 * (n_k + 4 + (d + 4) * (1 + largest.S));
  return largest.V * (relative + n_k * precision_ulp(precision, 0));
}

static bool some_row_sees_nothing(const Run *run) {
  const Plan *plan = &run->attention->plan;
  for (int64_t i = 0; i < plan->shape.N_q; i++) {
    const Span seen = band_columns(&plan->band, i);
    if (seen.begin >= seen.end) return true;
  }
  return false;
}

TEST(every_schedule_gives_attention) {
  Rand r = {12};
  const Precision precisions[] = {PRECISION_FP64, attention_precision(DTYPE_FP32), attention_precision(DTYPE_FP16),
                                  attention_precision(DTYPE_BF16), attention_precision(DTYPE_FP8)};
  const Precision expected[] = {PRECISION_FP64, PRECISION_FP32, PRECISION_FP16, PRECISION_BF16, PRECISION_E4M3};
  assert_memory_equal(precisions, expected, sizeof precisions);
  for (int trial = 0; trial < 400; trial++) {
    const Shape shape = random_shape(&r);
    const Tiling tiling = random_tiling(&r);
    const InputKind kind = trial % 3 ? INPUT_NORMAL : INPUT_OUTLIERS;
    for (int s = 0; s < N_SCHEDULES; s++)
      for (int p = 0; p < 5; p++) {
        const AttentionConfig config = {.softmax.precision = precisions[p]};
        Run run = open_run(SCHEDULES[s]->name, &shape, &tiling, &config);
        attention_fill(run.attention, kind, (uint64_t)trial, 0, rand_in(&r, 0, shape.heads - 1));
        finish_run(&run);
        const Accuracy accuracy = run_accuracy(&run, NULL);
        const double bound = p == 0 ? 1e-12 : error_bound(&run, precisions[p]);
        assert_int_equal(accuracy.n, shape.N_q * shape.d);
        const bool fp8_loses_masks =
            p == 4 && attention_in_hbm(run.attention, "S").values && some_row_sees_nothing(&run);
        assert_true(accuracy.largest <= bound || fp8_loses_masks);
        close_run(&run);
      }
  }
}

/* ---- sinks and caps ---- */

/* Every algorithm gives a sink its weight once, whatever the tiles and splits, and bends scores before the mask. */
TEST(sinks_and_caps_are_the_definition) {
  Rand r = {77};
  for (int trial = 0; trial < 200; trial++) {
    const Shape shape = random_shape(&r);
    const Tiling tiling = random_tiling(&r);
    const double sink = (double)rand_in(&r, -30, 30) / 10, cap = (double)rand_in(&r, 1, 40) / 10;
    for (int s = 0; s < N_SCHEDULES; s++) {
      const AttentionConfig config = {
          .softmax = {.has_sink = true, .sink = sink, .softcap = cap, .without_max = trial % 4 == 0}};
      Run run = open_run(SCHEDULES[s]->name, &shape, &tiling, &config);
      attention_fill(run.attention, INPUT_NORMAL, (uint64_t)trial, 0, 0);
      finish_run(&run);
      const double off = run_accuracy(&run, NULL).largest;
      assert_true(off <= 1e-12);
      close_run(&run);
    }
  }
}

/* ---- the fold and softmax step by step are the same arithmetic ---- */

/* S_ij as kernels compute it: a fused step for each column of Q and K, one rounding for the scale. */
static double score_at(const Run *run, int64_t i, int64_t j) {
  const Precision accumulator = precision_accumulator(run->attention->config.softmax.precision);
  const int64_t d = run->attention->plan.shape.d;
  const double *Q = attention_in_hbm(run->attention, "Q").values + i * d;
  const double *K = attention_in_hbm(run->attention, "K").values + j * d;
  const double asked = run->attention->config.scale, scale = asked != 0 ? asked : 1 / sqrt((double)d);
  double sum = 0;
  for (int64_t c = 0; c < d; c++) sum = precision_multiply_add(accumulator, Q[c], K[c], sum);
  return precision_computed(accumulator, sum * precision_computed(accumulator, scale));
}

TEST(fa2_is_softmax_step_by_step_to_the_bit) {
  enum { N = 50, D = 6, B = 8 };
  const Shape shape = {.N_q = N, .d = D};
  const Tiling tiling = {.B_r = 16, .B_c = B};
  const Precision precisions[] = {PRECISION_FP64, PRECISION_FP32, PRECISION_FP16,
                                  PRECISION_BF16, PRECISION_E4M3, PRECISION_E5M2};
  for (int p = 0; p < 24; p++) {
    const AttentionConfig config = {
        .softmax = {.precision = precisions[p % 6], .without_max = p / 6 == 1, .powers_of_two = p / 6 == 2},
        .scale = p / 6 == 3 ? 0.3 : 0};
    Run run = open_run("fa2", &shape, &tiling, &config);
    attention_fill(run.attention, p % 2 ? INPUT_OUTLIERS : INPUT_NORMAL, 5, 0, 0);
    SoftmaxState rows[N];
    double O[N][D] = {{0}};
    for (int i = 0; i < N; i++) rows[i] = softmax_start(&config.softmax);
    Event event;
    while (schedule_next(run.schedule, &run.attention->plan, &run.cursor, &event)) {
      must(attention_apply(run.attention, &event, NULL));
      if (event.kind != EVENT_ACCUMULATE) continue;
      const AttentionView S = attention_in_sram(run.attention, "S");
      const AttentionView P = attention_in_sram(run.attention, "P");
      const double *V = attention_in_hbm(run.attention, "V").values;
      for (int64_t i = event.row0; i < event.row1; i++) {
        const AttentionRow *row = attention_row(run.attention, i);
        double weights[B];
        for (int64_t j = event.col0; j < event.col1; j++)
          assert_true(S.values[(i - event.row0) * S.stride + j - event.col0] == score_at(&run, i, j));
        const SoftmaxStep step = softmax_step(&config.softmax, &rows[i], S.values + (i - event.row0) * S.stride,
                                              event.col1 - event.col0, V + event.col0 * D, D, weights, O[i]);
        assert_true(row->m_old == step.m_old && row->m == step.m_new);
        assert_true(row->factor == step.factor && row->block_sum == step.block_sum);
        assert_true(row->l_old == step.l_old && row->l_scaled == step.l_scaled);
        assert_true(row->l == step.l_new);
        assert_memory_equal(weights, P.values + (i - event.row0) * P.stride,
                            (size_t)(event.col1 - event.col0) * sizeof *weights);
        assert_memory_equal(O[i], attention_in_sram(run.attention, "O").values + (i - event.row0) * D, sizeof O[i]);
      }
    }
    for (int i = 0; i < N; i++) {
      softmax_finish(&config.softmax, &rows[i], O[i], D);
      assert_memory_equal(O[i], O_of(&run) + i * D, sizeof O[i]);
    }
    close_run(&run);
  }
}

/* ---- what lies in HBM ---- */

/* standard: S holds the masked scores and P rows that add up to 1; others keep neither. */
TEST(standard_leaves_S_and_P_in_hbm) {
  const Shape shape = {.N_q = 9, .N_k = 13, .d = 5, .causal = true};
  const Tiling tiling = {.B_r = 4, .B_c = 3};
  Run run = open_run("standard", &shape, &tiling, &(AttentionConfig){0});
  attention_fill(run.attention, INPUT_NORMAL, 3, 0, 0);
  finish_run(&run);
  const double *S = attention_in_hbm(run.attention, "S").values;
  const double *P = attention_in_hbm(run.attention, "P").values;
  for (int64_t i = 0; i < 9; i++) {
    double sum = 0, weights[13];
    softmax_reference(S + i * 13, 13, NULL, 0, weights, NULL);
    for (int64_t j = 0; j < 13; j++) {
      assert_true((S[i * 13 + j] == -INFINITY) == (j > i + 4));
      assert_near(P[i * 13 + j], weights[j], 1e-15);
      sum += P[i * 13 + j];
    }
    assert_near(sum, 1, 1e-14);
  }
  close_run(&run);
  run = open_run("fa2", &shape, &tiling, &(AttentionConfig){0});
  assert_null(attention_in_hbm(run.attention, "S").values);
  assert_null(attention_in_hbm(run.attention, "P").values);
  close_run(&run);
}

TEST(heads_of_a_group_share_keys_and_values) {
  const Shape shape = {.heads = 6, .kv_heads = 2, .N_q = 4, .N_k = 5, .d = 3};
  const Tiling tiling = {.B_r = 2, .B_c = 2};
  double Q[6][12], K[6][15], V[6][15];
  for (int64_t h = 0; h < 6; h++) {
    Run run = open_run("fa2", &shape, &tiling, &(AttentionConfig){0});
    attention_fill(run.attention, INPUT_NORMAL, 1, 0, h);
    memcpy(Q[h], attention_in_hbm(run.attention, "Q").values, sizeof Q[h]);
    memcpy(K[h], attention_in_hbm(run.attention, "K").values, sizeof K[h]);
    memcpy(V[h], attention_in_hbm(run.attention, "V").values, sizeof V[h]);
    assert_memory_not_equal(K[h], V[h], sizeof K[h]);
    close_run(&run);
  }
  for (int g = 0; g < 6; g++)
    for (int h = 0; h < g; h++) {
      assert_true((memcmp(K[g], K[h], sizeof K[g]) == 0) == (g / 3 == h / 3));
      assert_true((memcmp(V[g], V[h], sizeof V[g]) == 0) == (g / 3 == h / 3));
      assert_memory_not_equal(Q[g], Q[h], sizeof Q[g]);
    }
}
