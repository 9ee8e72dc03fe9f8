/* Online softmax: against the definition in long double, against whole-number
 * arithmetic where everything is exact, and against the compiler's own float and _Float16. */
#include "tests/support/test.h"
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
