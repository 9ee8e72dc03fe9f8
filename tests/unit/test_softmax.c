/* Online softmax: worked by hand, against the definition in long double, against whole-number
 * arithmetic where everything is exact, and against the compiler's own float and _Float16. */
#include "tests/support/test.h"
#include "sim/numbers/accuracy.h"
#include "sim/base/random.h"
#include "sim/numbers/softmax.h"

enum { MAX_N = 200, MAX_D = 8 };

/* The whole row in blocks; O must be zero. Returns the state after the last block. */
static SoftmaxState run_row(const SoftmaxConfig *config, const double *scores, int64_t n, int64_t block,
                            const double *values, int64_t d, double *O) {
  SoftmaxState row = softmax_start(config);
  for (int64_t first = 0; first < n; first += block) {
    int64_t size = n - first < block ? n - first : block;
    softmax_step(config, &row, scores + first, size, values ? values + first * d : NULL, d, NULL, O);
  }
  return row;
}

static bool near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

/* ---- by hand ---- */

/* e^-1 + e^-3 + e^-2 + 1 = 0.36788 + 0.04979 + 0.13534 + 1, then the maximum moves from 4 to 5. */
TEST(two_blocks_by_hand) {
  const SoftmaxConfig config = {0};
  const double scores[] = {3, 1, 2, 4, 5, 1, 3, 1};
  SoftmaxState row = softmax_start(&config);
  double weights[4];
  SoftmaxStep step = softmax_step(&config, &row, scores, 4, NULL, 0, weights, NULL);
  assert_int_equal(step.block, 0);
  assert_true(step.m_old == -INFINITY && step.m_new == 4 && step.block_max == 4);
  assert_true(step.factor == 0 && step.l_old == 0 && step.l_scaled == 0);
  assert_true(near(step.block_sum, 1.55300, 5e-6) && step.l_new == step.block_sum);
  assert_true(near(weights[0], 0.36788, 5e-6) && weights[3] == 1);

  step = softmax_step(&config, &row, scores + 4, 4, NULL, 0, weights, NULL);
  assert_int_equal(step.block, 1);
  assert_int_equal(step.first, 4);
  assert_int_equal(step.n, 4);
  assert_true(step.m_old == 4 && step.m_new == 5);
  assert_true(near(step.factor, 0.36788, 5e-6));
  assert_true(near(step.l_scaled, 0.57132, 5e-6));
  assert_true(near(step.block_sum, 1 + 2 * 0.0183156 + 0.1353353, 1e-6));
  assert_true(step.l_new == step.l_scaled + step.block_sum && row.l == step.l_new && row.m == 5);
}

TEST(a_block_below_the_maximum_leaves_it_and_the_factor_is_one) {
  const SoftmaxConfig config = {0};
  const double scores[] = {2, 1};
  SoftmaxState row = softmax_start(&config);
  softmax_step(&config, &row, scores, 1, NULL, 0, NULL, NULL);
  SoftmaxStep step = softmax_step(&config, &row, scores + 1, 1, NULL, 0, NULL, NULL);
  assert_true(step.m_new == 2 && step.block_max == 1 && step.factor == 1 && step.l_scaled == 1);
}

/* A worked example printed to three digits that carries rounded intermediate results: q = (1,0,2,1), eight
 * keys, blocks of four. Every printed number is compared; three of them come from adding or scaling
 * numbers that had been rounded already and are off by one in the last digit. */
typedef struct {
  const char *name;
  double printed, computed;
  bool off_by_one;
} Printed;

static void check_printed(const Printed *numbers, int n) {
  for (int i = 0; i < n; i++) {
    double digits = round(numbers[i].computed * 1000) - round(numbers[i].printed * 1000);
    if (digits != (numbers[i].off_by_one ? copysign(1, digits) : 0))
      fail_msg("%s: printed %.3f, computed %.6f", numbers[i].name, numbers[i].printed, numbers[i].computed);
  }
}

TEST(the_worked_example_to_three_digits) {
  const double q[4] = {1, 0, 2, 1};
  const double K[8][4] = {{1, 1, 0, 0}, {0, 1, 1, 0}, {1, 0, 1, 1}, {0, 0, 1, 0},
                          {2, 1, 1, 1}, {0, 1, 0, 1}, {1, 1, 1, 0}, {0, 0, 0, 1}};
  const double V[8][4] = {{2, 1, 0, 3}, {1, 0, 1, 2}, {0, 2, 1, 1}, {3, 1, 0, 0},
                          {1, 3, 2, 0}, {0, 1, 0, 2}, {2, 0, 1, 1}, {1, 0, 0, 3}};
  const double expected_scores[8] = {1, 2, 4, 2, 5, 1, 3, 1};
  double scores[8] = {0}, w0[4], w1[4], O[4] = {0}, O0[4], block1[4];
  for (int k = 0; k < 8; k++) {
    for (int c = 0; c < 4; c++) scores[k] += q[c] * K[k][c];
    assert_true(scores[k] == expected_scores[k]);
  }

  const SoftmaxConfig config = {0};
  SoftmaxState row = softmax_start(&config);
  SoftmaxStep s0 = softmax_step(&config, &row, scores, 4, V[0], 4, w0, O);
  memcpy(O0, O, sizeof O0);
  SoftmaxStep s1 = softmax_step(&config, &row, scores + 4, 4, V[4], 4, w1, O);
  for (int c = 0; c < 4; c++) block1[c] = O[c] - O0[c] * s1.factor;
  softmax_finish(&config, &row, O, 4);

  const Printed numbers[] = {
      {"e^-3", 0.050, w0[0], false},
      {"e^-2", 0.135, w0[1], false},
      {"e^0", 1.000, w0[2], false},
      {"e^-2", 0.135, w0[3], false},
      {"l after block 0", 1.320, s0.l_new, false},
      {"O[0] after block 0", 0.641, O0[0], false},
      {"O[1] after block 0", 2.185, O0[1], false},
      {"O[2] after block 0", 1.135, O0[2], false},
      {"O[3] after block 0", 1.420, O0[3], false},
      {"m after block 0", 4, s0.m_new, false},
      {"m after block 1", 5, s1.m_new, false},
      {"factor", 0.368, s1.factor, false},
      {"l rescaled", 0.486, s1.l_scaled, false},
      {"O[0] rescaled", 0.236, O0[0] * s1.factor, false},
      {"O[1] rescaled", 0.804, O0[1] * s1.factor, false},
      {"O[2] rescaled", 0.418, O0[2] * s1.factor, false},
      {"O[3] rescaled", 0.523, O0[3] * s1.factor, true}, /* 0.522: 1.420 x 0.368 = 0.52256 */
      {"e^0", 1.000, w1[0], false},
      {"e^-4", 0.018, w1[1], false},
      {"e^-2", 0.135, w1[2], false},
      {"e^-4", 0.018, w1[3], false},
      {"sum of block 1", 1.171, s1.block_sum, true}, /* 1.172: three rounded terms were added */
      {"final l", 1.657, s1.l_new, true},            /* 1.658: and carried on */
      {"block 1 O[0]", 1.289, block1[0], false},
      {"block 1 O[1]", 3.018, block1[1], false},
      {"block 1 O[2]", 2.135, block1[2], false},
      {"block 1 O[3]", 0.227, block1[3], false},
      {"O[0]", 0.920, O[0], false},
      {"O[1]", 2.306, O[1], false},
      {"O[2]", 1.540, O[2], false},
      {"O[3]", 0.452, O[3], false},
  };
  check_printed(numbers, sizeof numbers / sizeof *numbers);
}

/* ---- against the definition ---- */

static void definition_in_long_double(const double *scores, int64_t n, const double *values, int64_t d, double *O) {
  for (int64_t c = 0; c < d; c++) {
    long double top = 0, bottom = 0;
    for (int64_t k = 0; k < n; k++) {
      long double e = expl((long double)scores[k]);
      top += e * (long double)values[k * d + c];
      bottom += e;
    }
    O[c] = (double)(top / bottom);
  }
}

TEST(any_blocks_give_the_definition_in_fp64) {
  double scores[MAX_N], values[MAX_N * MAX_D], expected[MAX_D], reference[MAX_D];
  for (uint64_t trial = 0; trial < 2000; trial++) {
    int64_t n = random_between(1, 0, trial, 1, MAX_N), d = random_between(1, 1, trial, 1, MAX_D);
    int64_t block = random_between(1, 2, trial, 1, n + 3);
    double spread = (double)random_between(1, 3, trial, 1, 20);
    for (int64_t k = 0; k < n; k++) scores[k] = spread * random_normal(trial, 4, (uint64_t)k);
    for (int64_t k = 0; k < n * d; k++) values[k] = random_normal(trial, 5, (uint64_t)k);
    definition_in_long_double(scores, n, values, d, expected);
    softmax_reference(scores, n, values, d, NULL, reference);

    const SoftmaxConfig config = {0};
    double O[MAX_D] = {0};
    SoftmaxState row = run_row(&config, scores, n, block, values, d, O);
    softmax_finish(&config, &row, O, d);
    for (int64_t c = 0; c < d; c++) {
      assert_true(near(O[c], expected[c], 1e-13));
      assert_true(near(reference[c], expected[c], 1e-13));
    }
    assert_int_equal(row.n_scores, n);
    assert_int_equal(row.n_blocks, (n + block - 1) / block);
  }
}

/* With 2^x, whole scores and whole values every operation is exact, so the state after any blocks must be
 * the whole-number sums, bit for bit: rescaling itself changes nothing. */
TEST(in_exact_arithmetic_blocks_do_not_matter) {
  const SoftmaxConfig config = {.powers_of_two = true};
  enum { N = 48, LOWEST = -12, HIGHEST = 12 };
  for (uint64_t trial = 0; trial < 500; trial++) {
    double scores[N], values[N];
    int64_t sum = 0, weighted = 0, largest = LOWEST; /* in units of 2^LOWEST */
    for (uint64_t k = 0; k < N; k++) {
      int64_t x = random_between(trial, 0, k, LOWEST, HIGHEST), v = random_between(trial, 1, k, -99, 99);
      scores[k] = (double)x;
      values[k] = (double)v;
      sum += INT64_C(1) << (x - LOWEST);
      weighted += v * (INT64_C(1) << (x - LOWEST));
      if (x > largest) largest = x;
    }
    double unit = ldexp(1, (int)(LOWEST - largest));
    for (int64_t block = 1; block <= N; block++) {
      double O = 0;
      SoftmaxState row = run_row(&config, scores, N, block, values, 1, &O);
      assert_true(row.m == (double)largest);
      assert_true(row.l == (double)sum * unit);
      assert_true(O == (double)weighted * unit);
    }
  }
}

/* In floating point they do matter, and the difference shrinks with the precision: from fp32 to fp64 by
 * about 2^29, the ratio of their roundings. */
TEST(in_floating_point_blocks_change_bits_and_less_so_the_more_there_are) {
  enum { N = 128, N_ROWS = 300 };
  double rms[2] = {0, 0};
  int n_rows_that_differ[2] = {0, 0};
  const Precision precisions[2] = {PRECISION_FP32, PRECISION_FP64};
  for (uint64_t trial = 0; trial < N_ROWS; trial++) {
    double scores[N], values[N];
    for (uint64_t k = 0; k < N; k++) {
      scores[k] = precision_round(PRECISION_FP32, 2 * random_normal(trial, 0, k));
      values[k] = precision_round(PRECISION_FP32, random_normal(trial, 1, k));
    }
    for (int p = 0; p < 2; p++) {
      const SoftmaxConfig config = {.precision = precisions[p]};
      double whole = 0, blocks = 0;
      SoftmaxState row = run_row(&config, scores, N, N, values, 1, &whole);
      softmax_finish(&config, &row, &whole, 1);
      row = run_row(&config, scores, N, 16, values, 1, &blocks);
      softmax_finish(&config, &row, &blocks, 1);
      n_rows_that_differ[p] += whole != blocks;
      rms[p] += (whole - blocks) * (whole - blocks) / N_ROWS;
    }
  }
  assert_true(n_rows_that_differ[0] > N_ROWS / 2 && n_rows_that_differ[1] > N_ROWS / 2);
  double ratio = sqrt(rms[0] / rms[1]);
  assert_true(ratio > 0x1p28 && ratio < 0x1p30);
}

/* ---- masks ---- */

TEST(masked_scores_count_for_nothing_wherever_they_stand) {
  const double x = -INFINITY;
  const double scores[] = {x, x, 1, x, 2, x, x, x}, values[] = {9, 9, 4, 9, 8, 9, 9, 9};
  double e = exp(-1), expected = (4 * e + 8) / (e + 1);
  for (int p = 0; p < N_PRECISIONS; p++)
    for (int64_t block = 1; block <= 8; block++) {
      const SoftmaxConfig config = {.precision = (Precision)p};
      double O = 0;
      SoftmaxState row = run_row(&config, scores, 8, block, values, 1, &O);
      softmax_finish(&config, &row, &O, 1);
      double gap = precision_ulp(config.precision, expected);
      assert_true(row.m == 2 && near(O, expected, 2 * gap));
    }
}

TEST(a_first_block_without_a_score_leaves_nothing_behind) {
  const SoftmaxConfig config = {.precision = PRECISION_FP16};
  const double scores[] = {-INFINITY, -INFINITY, 3}, values[] = {1, 2, 3};
  SoftmaxState row = softmax_start(&config);
  double O = 0;
  SoftmaxStep step = softmax_step(&config, &row, scores, 2, values, 1, NULL, &O);
  assert_int_equal(step.n_masked, 2);
  assert_true(step.block_max == -INFINITY && step.m_new == -INFINITY);
  assert_true(step.factor == 0 && step.block_sum == 0 && step.l_new == 0 && O == 0);
  step = softmax_step(&config, &row, scores + 2, 1, values + 2, 1, NULL, &O);
  assert_true(step.m_new == 3 && step.factor == 0 && step.l_new == 1 && O == 3);
}

TEST(a_row_of_masked_scores_is_zero) {
  const double scores[] = {-INFINITY, -INFINITY, -INFINITY}, values[] = {1, 2, 3};
  double reference = 1, weights[3] = {1, 1, 1};
  softmax_reference(scores, 3, values, 1, weights, &reference);
  assert_true(reference == 0 && weights[0] == 0 && weights[2] == 0);
  for (int without_max = 0; without_max < 2; without_max++)
    for (int p = 0; p < N_PRECISIONS; p++) {
      const SoftmaxConfig config = {.precision = (Precision)p, .without_max = without_max};
      double O = 0;
      SoftmaxState row = run_row(&config, scores, 3, 2, values, 1, &O);
      softmax_finish(&config, &row, &O, 1);
      assert_true(row.l == 0 && O == 0);
    }
}

/* ---- overflow ---- */

/* ln(2^128 (1 - 2^-25)) = 88.72284 for fp32 and ln 65520 = 11.09014 for an fp16 P, by logarithm tables. */
TEST(without_the_maximum_it_overflows_where_the_gpu_does) {
  const struct {
    Precision precision;
    double below, above; /* scores on both sides of the limit */
    bool l_overflows;
  } cases[] = {
      {PRECISION_FP32, 88.722, 88.723, true},  {PRECISION_BF16, 88.7, 88.723, true},
      {PRECISION_FP16, 11.090, 11.091, false}, {PRECISION_FP16, 88.722, 88.723, true},
      {PRECISION_FP64, 709.78, 709.79, true},
  };
  for (int i = 0; i < 5; i++) {
    const SoftmaxConfig config = {.precision = cases[i].precision, .without_max = true};
    const SoftmaxConfig safe = {.precision = cases[i].precision};
    const double one = 1;
    double O = 0, weight;
    SoftmaxState row = softmax_start(&config);
    SoftmaxStep step = softmax_step(&config, &row, &cases[i].below, 1, &one, 1, &weight, &O);
    assert_true(step.m_old == 0 && step.m_new == 0 && step.factor == 1 && isfinite(row.l));
    if (i != 3) assert_true(step.n_overflowed == 0 && isfinite(O));

    O = 0;
    row = softmax_start(&config);
    step = softmax_step(&config, &row, &cases[i].above, 1, &one, 1, &weight, &O);
    assert_int_equal(step.n_overflowed, 1);
    assert_true(isinf(weight) && isinf(O) && isinf(row.l) == cases[i].l_overflows);
    softmax_finish(&config, &row, &O, 1);
    assert_true(!isfinite(O)); /* infinity over a finite l, or infinity over infinity */

    O = 0;
    row = run_row(&safe, &cases[i].above, 1, 1, &one, 1, &O);
    softmax_finish(&safe, &row, &O, 1);
    assert_true(O == 1);
  }
}

/* fp8 has no infinity: P is silently cut at 448, and the answer is wrong rather than infinite. */
TEST(without_the_maximum_fp8_is_finite_and_wrong) {
  const SoftmaxConfig config = {.precision = PRECISION_E4M3, .without_max = true};
  const double scores[] = {8, 7}, values[] = {1, -1}; /* e^8 = 2981, e^7 = 1097 */
  double O = 0, weights[2];
  SoftmaxState row = softmax_start(&config);
  SoftmaxStep step = softmax_step(&config, &row, scores, 2, values, 1, weights, &O);
  assert_int_equal(step.n_overflowed, 2);
  assert_true(weights[0] == 448 && weights[1] == 448 && O == 0);
}

/* ---- low precision, with the compiler's types ---- */

#ifdef __FLT16_MAX__
__extension__ typedef _Float16 Half;

/* The kernel's arithmetic written with float and _Float16 alone. */
static float half_row(const float *scores, const Half *values, int n, int block) {
  float m = -INFINITY, l = 0, O = 0;
  for (int first = 0; first < n; first += block) {
    int end = first + block < n ? first + block : n;
    float m_new = m, sum = 0;
    for (int k = first; k < end; k++) m_new = fmaxf(m_new, scores[k]);
    float factor = (float)exp((double)(m - m_new));
    O *= factor;
    for (int k = first; k < end; k++) {
      float p = (float)exp((double)(scores[k] - m_new));
      sum += p;
      O += (float)(Half)p * (float)values[k]; /* a product of two halves is exact in float */
    }
    l = l * factor + sum;
    m = m_new;
  }
  return (float)(Half)(O / l);
}

TEST(fp16_is_what_the_compilers_types_give) {
  enum { N = 70 };
  for (uint64_t trial = 0; trial < 1000; trial++) {
    float scores[N];
    Half values[N];
    double score_doubles[N], value_doubles[N], O = 0;
    for (int k = 0; k < N; k++) {
      score_doubles[k] = 3 * random_normal(trial, 0, (uint64_t)k);
      value_doubles[k] = random_normal(trial, 1, (uint64_t)k);
      scores[k] = (float)score_doubles[k];
      values[k] = (Half)value_doubles[k];
    }
    int block = (int)random_between(trial, 2, 0, 1, N);
    const SoftmaxConfig config = {.precision = PRECISION_FP16};
    SoftmaxState row = run_row(&config, score_doubles, N, block, value_doubles, 1, &O);
    softmax_finish(&config, &row, &O, 1);
    assert_true((float)O == half_row(scores, values, N, block));
  }
}
#endif

/* Every result is a number of the stored format, within the error that its parts allow: P and V are each off by at
 * most half an ulp and O is rounded once more. */
TEST(results_are_stored_numbers_near_the_reference) {
  const struct {
    Precision precision;
    double bound; /* of the RMSE on normal inputs */
  } cases[] = {{PRECISION_FP32, 2e-7}, {PRECISION_FP16, 2e-4}, {PRECISION_BF16, 2e-3}, {PRECISION_E4M3, 4e-2}};
  double scores[MAX_N], values[MAX_N], previous = 0;
  for (int i = 0; i < 4; i++) {
    Accuracy accuracy = {0};
    for (uint64_t trial = 0; trial < 300; trial++) {
      for (uint64_t k = 0; k < MAX_N; k++) {
        scores[k] = precision_round(PRECISION_FP32, random_normal(trial, 0, k));
        values[k] = precision_round(cases[i].precision, random_normal(trial, 1, k));
      }
      const SoftmaxConfig config = {.precision = cases[i].precision};
      double O = 0, reference;
      SoftmaxState row = run_row(&config, scores, MAX_N, 64, values, 1, &O);
      softmax_finish(&config, &row, &O, 1);
      softmax_reference(scores, MAX_N, values, 1, NULL, &reference);
      assert_true(O == precision_round(cases[i].precision, O));
      accuracy_add(&accuracy, cases[i].precision, &O, &reference, 1);
    }
    assert_true(accuracy_rmse(&accuracy) < cases[i].bound && accuracy_rmse(&accuracy) > previous);
    previous = accuracy_rmse(&accuracy);
  }
}

TEST(a_copied_state_is_a_bookmark) {
  const SoftmaxConfig config = {.precision = PRECISION_BF16};
  const double scores[] = {1, 5, 2, 7, 3, 9};
  SoftmaxState row = softmax_start(&config);
  softmax_step(&config, &row, scores, 3, NULL, 0, NULL, NULL);
  SoftmaxState bookmark = row;
  SoftmaxStep once = softmax_step(&config, &row, scores + 3, 3, NULL, 0, NULL, NULL);
  SoftmaxStep again = softmax_step(&config, &bookmark, scores + 3, 3, NULL, 0, NULL, NULL);
  assert_memory_equal(&once, &again, sizeof once);
  assert_memory_equal(&row, &bookmark, sizeof row);
}

/* Scores ln 1, ln 2, ln 3 beside a sink of ln 6: the weights are 1, 2 and 3 twelfths, in blocks of any size. */
TEST(a_sink_takes_its_part) {
  const double scores[] = {log(1), log(2), log(3)};
  for (int64_t block = 1; block <= 3; block++) {
    const SoftmaxConfig config = {.has_sink = true, .sink = log(6)};
    SoftmaxState s = softmax_start(&config);
    double O = 0;
    const double values[] = {12, 12, 12};
    for (int64_t first = 0; first < 3; first += block) {
      const int64_t n = 3 - first < block ? 3 - first : block;
      softmax_step(&config, &s, scores + first, n, values + first, 1, NULL, &O);
    }
    assert_true(fabs(s.l - 2) < 1e-12); /* (1 + 2 + 3 + 6) / 6, as the sink is the maximum */
    softmax_finish(&config, &s, &O, 1);
    assert_true(fabs(O - 6) < 1e-12);
  }
}

/* 50 tanh(x / 50): tanh(1) = 0.76159..., far ones end at the cap, masked ones stay masked, small ones stay. */
TEST(a_cap_bends_scores) {
  assert_true(fabs(softmax_capped(PRECISION_FP64, 50, 50) - 50 * 0.76159415595576488812) < 1e-12);
  assert_true(softmax_capped(PRECISION_FP64, 1e6, 50) == 50);
  assert_true(softmax_capped(PRECISION_FP64, -1e6, 50) == -50);
  assert_true(softmax_capped(PRECISION_FP64, -INFINITY, 50) == -INFINITY);
  assert_true(fabs(softmax_capped(PRECISION_FP64, 0.01, 50) - 0.01) < 1e-9);
}

/* ---- an m that lags ---- */

/* Whole scores and powers of two: every step is exact, so O / l has the same bits whether m lags or not. */
TEST(an_m_that_lags_changes_no_bit_where_all_is_exact) {
  double scores[MAX_N], values[MAX_N * 2], largest = 0;
  for (int k = 0; k < MAX_N; k++) {
    scores[k] = (double)random_between(3, 0, (uint64_t)k, -8, 8);
    for (int c = 0; c < 2; c++) values[2 * k + c] = (double)random_between(3, 1, (uint64_t)(2 * k + c), -9, 9);
  }
  double O[2][2] = {{0}}, l[2];
  int n_lagged = 0;
  for (int lags = 0; lags < 2; lags++) {
    const SoftmaxConfig config = {.powers_of_two = true, .rescale_above = lags ? 4 : 0};
    SoftmaxState row = softmax_start(&config);
    for (int first = 0; first < MAX_N; first += 5) {
      double weights[5];
      const SoftmaxStep step =
          softmax_step(&config, &row, scores + first, 5, values + (ptrdiff_t)2 * first, 2, weights, O[lags]);
      n_lagged += step.m_new < fmax(step.m_old, step.block_max);
      for (int k = 0; k < 5; k++) largest = fmax(largest, weights[k]);
    }
    l[lags] = row.l;
  }
  assert_true(n_lagged > 0 && largest > 1 && largest <= 16);
  assert_true(l[0] < l[1]);
  for (int c = 0; c < 2; c++) assert_true(O[0][c] / l[0] == O[1][c] / l[1]);
}

/* By the definition, a row after another, with all of its scores at once: e^(max - m) against 2^8. */
TEST(rescales_are_counted_as_a_slow_loop_counts_them) {
  enum { ROWS = 70, N = 45, BLOCK = 4, BLOCKS = 12 };
  const double spread = 6;
  int64_t rows_at[BLOCKS], warps_at[BLOCKS];
  softmax_count_rescales(&(SoftmaxConfig){.rescale_above = 8}, ROWS, N, BLOCK, spread, 5, rows_at, warps_at);
  bool grows[ROWS][BLOCKS] = {{false}};
  int all = 0;
  for (int r = 0; r < ROWS; r++) {
    double m = 0;
    for (int k = 0; k < N; k += BLOCK) {
      double most = spread * random_normal(5, 0, (uint64_t)(r * N + k));
      for (int c = k + 1; c < k + BLOCK && c < N; c++)
        most = fmax(most, spread * random_normal(5, 0, (uint64_t)(r * N + c)));
      if (k > 0 && exp(most - m) > 256) grows[r][k / BLOCK] = true;
      if (k == 0 || grows[r][k / BLOCK]) m = most;
    }
  }
  for (int at = 0; at < BLOCKS; at++) {
    bool warps[3] = {false};
    int rows = 0;
    for (int r = 0; r < ROWS; r++) rows += grows[r][at], warps[r / 32] |= grows[r][at];
    assert_int_equal(rows_at[at], rows);
    assert_int_equal(warps_at[at], warps[0] + warps[1] + warps[2]);
    all += rows;
  }
  assert_true(all > 30);
}

/* Of scores that are drawn alike, block j holds the largest so far with probability 1/j, independently (Renyi 1962): a
 * row rescales H_T - 1 times, and some row of 32 with probability 1 - (1 - 1/j)^32. Means within four standard
 * deviations. */
TEST(without_a_lag_rescales_are_records) {
  enum { ROWS = 2048, WARPS = ROWS / 32, T = 64 };
  int64_t rows_at[T], warps_at[T], rows = 0, warps = 0;
  for (int block = 1; block <= 3; block += 2) {
    double of_rows = 0, of_warps = 0, rows_variance = 0, warps_variance = 0;
    softmax_count_rescales(&(SoftmaxConfig){0}, ROWS, (int64_t)T * block, block, 1, 9, rows_at, warps_at);
    rows = warps = 0;
    for (int j = 2; j <= T; j++) {
      const double p = 1.0 / j, any = 1 - pow(1 - p, 32);
      rows += rows_at[j - 1], warps += warps_at[j - 1];
      of_rows += ROWS * p, of_warps += WARPS * any;
      rows_variance += ROWS * p * (1 - p), warps_variance += WARPS * any * (1 - any);
    }
    assert_int_equal(rows_at[0] + warps_at[0], 0);
    assert_true(near((double)rows, of_rows, 4 * sqrt(rows_variance)));
    assert_true(near((double)warps, of_warps, 4 * sqrt(warps_variance)));
  }
  assert_true(rows > 3 * ROWS); /* H_64 - 1 = 3.74 */
  softmax_count_rescales(&(SoftmaxConfig){.rescale_above = 8}, ROWS, T, 1, 1, 9, rows_at, warps_at);
  for (int j = 1; j < T; j++) rows -= rows_at[j];
  assert_true(rows > 3 * ROWS);
}
