/* Predictions beside counters: errors and bands by hand, parts left out, and what is not modelled is not known. */
#include "tests/support/test.h"
#include "kernels/counters/predict.h"

/* An H200 in what matters here: 60 MiB of L2 in two partitions, 132 SMs. */
static const Gpu GPU = {.name = "two sides",
                        .n_sm = 132,
                        .warp_size = 32,
                        .l2_bytes = 60 << 20,
                        .l2_partitions = 2,
                        .hbm_bytes_per_s = 4.8e12,
                        .l2_bytes_per_s = 5.5e12,
                        .clock_hz = 1.98e9,
                        .shared_bytes_per_cta = 227 << 10};

static Problem run_of(int64_t N, bool causal) {
  Problem run = {.shape = {.N_q = N, .d = 64, .causal = causal},
                 .tiling = {.B_r = 128, .B_c = 128},
                 .launch = {.block_q = 128, .block_k = 128, .ctas_per_sm = 2}};
  must(shape_complete(&run.shape, NULL));
  return run;
}

static Prediction predicted(const Problem *run) {
  Prediction p;
  must(predict(&p, run, schedule_find("fa2"), &GPU, 0, fresh_error()));
  return p;
}

TEST(errors_by_hand) {
  assert_true(predict_error(PREDICT_HBM_READ, 110, 100) > 0.0999 && predict_error(PREDICT_HBM_READ, 110, 100) < 0.1001);
  assert_true(predict_error(PREDICT_FABRIC, 95, 100) == -0.05);
  assert_true(fabs(predict_error(PREDICT_HIT_RATE, 0.97, 0.98) + 0.01) < 1e-12); /* points, not parts */
  assert_true(predict_error(PREDICT_TIME, 2e-3, 5e-3) == 1.5);                   /* took 2.5 times the bound */
  assert_true(predict_error(PREDICT_L2_SECTORS, 0, 0) == 0);
  assert_true(predict_error(PREDICT_L2_SECTORS, 5, 0) == 1); /* finite, for JSON */
}

TEST(counters_become_quantities) {
  CounterRow row = {0};
  row.known[COUNTER_FABRIC_SECTORS] = row.known[COUNTER_LOOKUP_HIT] = row.known[COUNTER_TIME] = true;
  row.value[COUNTER_FABRIC_SECTORS] = 10;
  row.value[COUNTER_LOOKUP_HIT] = 75;
  row.value[COUNTER_TIME] = 1500;
  Prediction m = predict_measured(&row);
  assert_true(m.value[PREDICT_FABRIC] == 320);
  assert_near(m.value[PREDICT_TIME], 1.5e-6, 1e-18);
  assert_true(isnan(m.value[PREDICT_HBM_READ]) && isnan(m.value[PREDICT_HIT_RATE])); /* half of a rate is none */
  row.known[COUNTER_LOOKUP_MISS] = true;
  row.value[COUNTER_LOOKUP_MISS] = 25;
  m = predict_measured(&row);
  assert_true(m.value[PREDICT_HIT_RATE] == 0.75);
}

/* N = 4096, d = 64: Q, K and V are 1.5 MiB and fit: each is read from HBM once. One partition has no fabric. */
TEST(what_fits_is_read_once) {
  for (int causal = 0; causal < 2; causal++) {
    Problem run = run_of(4096, causal);
    const Prediction whole = predicted(&run);
    for (int q = 0; q < PREDICT_COUNT; q++) assert_true(whole.value[q] >= 0);
    assert_near(whole.value[PREDICT_HBM_READ] / (1.5 * (1 << 20)), 1, 1e-6);
    assert_true(whole.value[PREDICT_FABRIC] > 0 && whole.value[PREDICT_HIT_RATE] > 0.5 &&
                whole.value[PREDICT_HIT_RATE] < 1);
    run.without = refinement_bit(REFINEMENT_PARTITIONS);
    const Prediction one = predicted(&run);
    assert_true(one.value[PREDICT_FABRIC] == 0 && one.value[PREDICT_HIT_RATE] > whole.value[PREDICT_HIT_RATE]);
    run.without = refinement_bit(REFINEMENT_COALESCER);
    const Prediction apart = predicted(&run);
    const double asked = causal ? 32 * 33 / 2 : 32 * 32; /* tiles of K, and of V, of 128 x 64 x 2 B; Q once */
    assert_near(apart.value[PREDICT_L2_SECTORS] / ((4096 * 128 + asked * 2 * 128 * 128) / 32), 1, 1e-9);
    assert_true(whole.value[PREDICT_L2_SECTORS] < apart.value[PREDICT_L2_SECTORS] &&
                whole.value[PREDICT_L2_SECTORS] >= apart.value[PREDICT_L2_SECTORS] / 4);
  }
}

/* One CTA has nobody to be in step with; 32 without a mask have, and then one of four requests reaches L2. */
TEST(in_step_is_a_pace) {
  Problem alone = run_of(128, false), many = run_of(4096, false);
  const Prediction whole = predicted(&alone);
  alone.without = refinement_bit(REFINEMENT_CLOCK);
  assert_true(whole.value[PREDICT_HBM_READ] == predicted(&alone).value[PREDICT_HBM_READ]);
  assert_true(whole.value[PREDICT_L2_SECTORS] == predicted(&alone).value[PREDICT_L2_SECTORS]);
  many.without = refinement_bit(REFINEMENT_CLOCK);
  /* 32 CTAs in step: eight on the SMs that come first ask for a tile in two requests, three on each of eight GPCs in
   * one. */
  const double own = 4096 * 128 / 32.0, shared = 32 * 32 * 2 * 128 * 128 / 32.0;
  const Prediction step = predicted(&many);
  assert_near(step.value[PREDICT_L2_SECTORS] / (own + 10.0 / 32 * shared), 1, 0.01);
  many.without = 0;
  many.in_step = true; /* the same, asked for as a pace */
  assert_true(predicted(&many).value[PREDICT_L2_SECTORS] == step.value[PREDICT_L2_SECTORS]);
}
