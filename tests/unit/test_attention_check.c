/* Parts, where numbers overflow, exact arithmetic, masks by name, and the published accuracy. */
#include "tests/support/test.h"
#include "sim/numbers/quantised.h"
#include "tests/support/attention_run.h"

/* ---- the parts of fa2-split ---- */

/* Each part is attention over its own keys alone, with its log-sum-exp; the mean of the parts, weighted by the
 * exponentials of those, is O. Parts that see nothing are 0 and -infinity. */
TEST(parts_are_attention_over_their_own_keys) {
  enum { N_Q = 6, N_K = 11, D = 3, KEYS = 4 };
  const Shape shape = {.N_q = N_Q, .N_k = N_K, .d = D, .causal = true};
  const Tiling tiling = {.B_r = 4, .B_c = 2, .n_splits = 3}; /* parts of 2, 2 and 2 tiles: 4, 4, 3 keys */
  Run run = open_run("fa2-split", &shape, &tiling, &(AttentionConfig){0});
  attention_fill(run.attention, INPUT_NORMAL, 2, 0, 0);
  finish_run(&run);
  const double *Q = attention_in_hbm(run.attention, "Q").values;
  const double *K = attention_in_hbm(run.attention, "K").values;
  const double *V = attention_in_hbm(run.attention, "V").values;
  for (int i = 0; i < N_Q; i++) {
    double top[D] = {0}, bottom = 0;
    for (int s = 0; s < 3; s++) {
      double scores[KEYS], part[D], sum = 0;
      int n = 0;
      for (int j = s * KEYS; j < N_K && j < (s + 1) * KEYS && j <= i + N_K - N_Q; j++, n++) {
        scores[n] = 0;
        for (int c = 0; c < D; c++) scores[n] += Q[i * D + c] * K[j * D + c] / sqrt(D);
        sum += exp(scores[n]);
      }
      softmax_reference(scores, n, V + s * KEYS * D, D, NULL, part);
      const AttentionView O = attention_stored(run.attention, "O_is", s);
      const double lse = attention_stored(run.attention, "L_is", s).values[i];
      assert_true(n == 0 ? lse == -INFINITY : fabs(lse - log(sum)) < 1e-13);
      for (int c = 0; c < D; c++) {
        assert_near(O.values[i * O.stride + c], part[c], 1e-13);
        top[c] += exp(lse) * part[c];
      }
      bottom += exp(lse);
    }
    for (int c = 0; c < D; c++) assert_near(O_of(&run)[i * D + c], top[c] / bottom, 1e-13);
  }
  assert_null(attention_in_sram(run.attention, "stats").values);
  close_run(&run);
}

/* ---- overflow ---- */

/* Queries and keys of equal entries: every score is `score`. V is 1, so O must be 1. */
static Run open_constant(const char *algorithm, Precision precision, bool without_max, double score) {
  const Shape shape = {.N_q = 4, .N_k = 8, .d = 1};
  const Tiling tiling = {.B_r = 2, .B_c = 4};
  const AttentionConfig config = {.softmax = {.precision = precision, .without_max = without_max}, .scale = score};
  const double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  Run run = open_run(algorithm, &shape, &tiling, &config);
  attention_set_input(run.attention, "Q", ones);
  attention_set_input(run.attention, "K", ones);
  attention_set_input(run.attention, "V", ones);
  finish_run(&run);
  return run;
}

TEST(without_the_maximum_tiles_overflow_and_with_it_they_do_not) {
  const struct {
    const char *algorithm;
    Precision precision;
    double score;
    bool finite; /* without the maximum */
  } cases[] = {
      {"fa2", PRECISION_FP16, 11.0, true},
      {"fa2", PRECISION_FP16, 11.1, false}, /* P = e^11.1 > 65504 */
      {"fa2", PRECISION_BF16, 11.1, true},
      {"fa2", PRECISION_BF16, 88.8, false},
      {"fa2", PRECISION_FP32, 86.0, true},  /* l = 8 e^86 < 3.4e38 */
      {"fa2", PRECISION_FP32, 88.0, false}, /* each exponential fits, their sum does not */
      {"fa1", PRECISION_FP32, 88.8, false},
      {"standard", PRECISION_FP16, 11.1, true}, /* P is divided by l before it is rounded */
      {"standard", PRECISION_FP16, 88.8, false},
      {"fa2", PRECISION_FP64, 88.8, true},
      {"fa2", PRECISION_FP64, 710, false},
  };
  EACH (i, cases)
    for (int without_max = 0; without_max < 2; without_max++) {
      Run run = open_constant(cases[i].algorithm, cases[i].precision, without_max, cases[i].score);
      const bool right = fabs(O_of(&run)[0] - 1) < 1e-3;
      assert_true(right == (!without_max || cases[i].finite));
      close_run(&run);
    }
}

/* Scores beyond 65504 do not fit the fp16 S that standard attention writes; a tile keeps its S in fp32. */
TEST(standard_overflows_in_hbm_where_tiles_do_not) {
  Run standard = open_constant("standard", PRECISION_FP16, false, 70000);
  Run fa2 = open_constant("fa2", PRECISION_FP16, false, 70000);
  assert_true(isinf(attention_in_hbm(standard.attention, "S").values[0]));
  assert_true(isnan(O_of(&standard)[0]));
  assert_true(O_of(&fa2)[0] == 1);
  close_run(&standard);
  close_run(&fa2);
}

/* e4m3 has no infinity: the -infinity of a masked score is stored as -448. That is as good as masked next to
 * any other score, but a row in which all are masked becomes the mean of V instead of 0. */
TEST(a_mask_stored_in_fp8_is_lost_in_a_wholly_masked_row) {
  const Shape shape = {.N_q = 3, .N_k = 2, .d = 1, .causal = true}; /* row 0 sees nothing */
  const Tiling tiling = {.B_r = 4, .B_c = 4};
  const double zeros[3] = {0, 0, 0}, values[2] = {1, 3};
  const struct {
    const char *algorithm;
    Precision precision;
    double expected[3];
  } cases[] = {{"standard", PRECISION_E4M3, {2, 1, 2}},
               {"standard", PRECISION_FP16, {0, 1, 2}},
               {"fa2", PRECISION_E4M3, {0, 1, 2}}};
  for (int i = 0; i < 3; i++) {
    const AttentionConfig config = {.softmax.precision = cases[i].precision};
    Run run = open_run(cases[i].algorithm, &shape, &tiling, &config);
    attention_set_input(run.attention, "Q", zeros);
    attention_set_input(run.attention, "K", zeros);
    attention_set_input(run.attention, "V", values);
    finish_run(&run);
    for (int row = 0; row < 3; row++) assert_true(O_of(&run)[row] == cases[i].expected[row]);
    close_run(&run);
  }
}

/* ---- is it exact? is it bit-identical? ---- */

/* Powers of two, whole inputs and scale 1 leave nothing to round but the last division, so fa2 must equal
 * the quotient of whole numbers, to the bit, for any tiles and masks. */
TEST(in_exact_arithmetic_tiles_are_the_quotient_to_the_bit) {
  Rand r = {14};
  for (int trial = 0; trial < 300; trial++) {
    Shape shape = random_shape(&r);
    shape.d = rand_in(&r, 1, 4);
    const Tiling tiling = random_tiling(&r);
    const AttentionConfig config = {.softmax.powers_of_two = true, .scale = 1};
    Run run = open_run("fa2", &shape, &tiling, &config);
    double inputs[3][33 * 4];
    for (int t = 0; t < 3; t++)
      for (int k = 0; k < 33 * 4; k++) inputs[t][k] = (double)rand_in(&r, -2, 2);
    attention_set_input(run.attention, "Q", inputs[0]);
    attention_set_input(run.attention, "K", inputs[1]);
    attention_set_input(run.attention, "V", inputs[2]);
    finish_run(&run);
    for (int64_t i = 0; i < shape.N_q; i++) {
      const Span seen = band_columns(&run.attention->plan.band, i);
      for (int64_t c = 0; c < shape.d; c++) {
        int64_t top = 0, bottom = 0; /* in units of 2^-16; scores lie in [-16, 16] */
        for (int64_t j = seen.begin; j < seen.end; j++) {
          int64_t s = 0;
          for (int64_t e = 0; e < shape.d; e++) s += (int64_t)(inputs[0][i * shape.d + e] * inputs[1][j * shape.d + e]);
          bottom += INT64_C(1) << (s + 16);
          top += (int64_t)inputs[2][j * shape.d + c] * (INT64_C(1) << (s + 16));
        }
        const double expected = bottom ? (double)top / (double)bottom : 0;
        assert_true(O_of(&run)[i * shape.d + c] == expected);
      }
    }
    close_run(&run);
  }
}

/* ---- masks by name ---- */

/* Documents, sinks, prefixes and strides, with a band of either corner: O of every algorithm is attention as the mask's
 * words say, rows without keys among them. */
TEST(masks_by_name_give_attention) {
  static const char *const ALGORITHM[] = {"standard", "fa1", "fa2", "fa2-split"};
  static const char *const MASK[] = {"documents:7,1,12,9", "documents:6", "sink:3", "prefix:10", "strided:3:5"};
  Rand r = {5};
  for (int k = 0; k < 200; k++) {
    Shape shape = {.N_q = rand_in(&r, 1, 40), .N_k = 29, .d = 3, .causal = rand_in(&r, 0, 1)};
    shape.top_left = shape.causal && rand_in(&r, 0, 1);
    if (rand_in(&r, 0, 1)) shape.window = rand_in(&r, 1, 9);
    Pattern *pattern = pattern_named(MASK[k % 5], (PatternMatrix){shape.N_q, shape.N_k, shape.top_left}, NULL);
    assert_non_null(pattern);
    shape.pattern = pattern;
    const Tiling tiling = {.B_r = rand_in(&r, 1, 9), .B_c = rand_in(&r, 1, 9), .n_splits = rand_in(&r, 1, 3)};
    Run run = open_run(ALGORITHM[k % 4], &shape, &tiling, &(AttentionConfig){0});
    attention_fill(run.attention, INPUT_NORMAL, (uint64_t)k, 0, 0);
    finish_run(&run);
    const Accuracy accuracy = run_accuracy(&run, NULL);
    assert_true(accuracy.n_not_finite == 0 && accuracy.largest < 1e-13);
    close_run(&run);
    free(pattern);
  }
}

/* ---- accuracy as published ---- */

/* The table of `softmax --errors` is plain loops over whole rows; on the same inputs the programs agree with it.
 * tests/unit/test_accuracy.c holds it against FlashAttention-3's. */
TEST(the_table_of_errors_is_what_programs_compute) {
  const Shape shape = {.N_q = 16, .N_k = 512, .d = 64};
  const Tiling tiling = {.B_r = 16, .B_c = 128};
  const AttentionConfig fp16 = {.softmax.precision = PRECISION_FP16}, fp64 = {0};
  Accuracy errors[QUANTISED_ROWS] = {0};
  must(quantised_errors(&(QuantisedShape){512, 64, 16}, 7, errors, NULL));
  for (int k = 0; k < 2; k++) {
    Run run = open_run(k ? "fa2" : "standard", &shape, &tiling, &fp16), exact = open_run("fa2", &shape, &tiling, &fp64);
    attention_fill(run.attention, INPUT_OUTLIERS, 7, 0, 0);
    attention_fill(exact.attention, INPUT_OUTLIERS, 7, 0, 0);
    finish_run(&run);
    const Accuracy accuracy = run_accuracy(&run, &exact);
    const double ratio = accuracy_rmse(&errors[k]) / accuracy_rmse(&accuracy);
    assert_near(ratio, 1, 0.02);
    close_run(&run);
    close_run(&exact);
  }
}
