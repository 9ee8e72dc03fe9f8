/* The lower bound on time: parts worked out by hand, what happens to unknown rates; and the law of a timed kernel.
 * Recorded times beside both: tests/model/test_time.c. */
#include "tests/support/test.h"
#include "sim/simulate.h"
#include "tests/support/open_gpu.h"

static void expect_near(double got, double expected) { assert_near(got, expected, 1e-12 * fabs(expected)); }

static Simulation timed(const char *algorithm, Shape shape, Tiling tiling, const Gpu *gpu) {
  const Problem problem = {.shape = shape, .tiling = tiling, .machine = machine_paper()};
  Simulation s;
  must(simulate(&s, &problem, schedule_find(algorithm), fresh_error()));
  assert_false(s.timed);
  simulation_time(&s, gpu);
  assert_true(s.timed);
  return s;
}

/* A machine of round numbers: each part is a division that can be done in the head. */
TEST(parts_by_hand) {
  const Gpu gpu = {.n_sm = 10,
                   .clock_hz = 1e9,
                   .sram_bytes_per_clock = 100,
                   .exp_per_clock = 4,
                   .l2_bytes = 1 << 20,
                   .l2_bytes_per_s = 2e11,
                   .hbm_bytes_per_s = 1e11,
                   .fp16_tensor_flops_per_s = 1e13,
                   .launch_overhead_s = 5e-6};
  const TimeWork work = {
      .hbm_bytes = 1e9, .l2_bytes = 4e9, .sram_bytes = 8e9, .flops = 1e11, .exps = 4e8, .n_launches = 3};
  const TimeBound t = timing_bound(&work, &gpu);
  expect_near(t.part_s[TIME_HBM], 0.01);
  expect_near(t.part_s[TIME_L2], 0.02);
  expect_near(t.part_s[TIME_SRAM], 0.008); /* 10 SMs x 100 B x 1 GHz: 1 TB/s */
  expect_near(t.part_s[TIME_MATH], 0.01);
  expect_near(t.part_s[TIME_EXP], 0.01); /* 10 SMs x 4 x 1 GHz */
  assert_int_equal(t.bound, TIME_L2);
  expect_near(t.busy_s, 0.02);
  expect_near(t.bound_s, 0.02);
  assert_int_equal(t.terms, 31); /* the five parts */
  TimeWork one_sm = work;
  one_sm.port_bytes = 64e9, one_sm.busiest_flops = 2e12; /* 64 B a clock; 1 TFLOP/s an SM */
  expect_near(timing_bound(&one_sm, &gpu).port_s, 1);
  expect_near(timing_bound(&one_sm, &gpu).busiest_s, 2);
  expect_near(timing_bound(&one_sm, &gpu).bound_s, 2);
  assert_int_equal(timing_bound(&one_sm, &gpu).terms, 127);
  expect_near(timing_ridge(&gpu, TIME_HBM, DTYPE_FP16), 100);
  expect_near(timing_ridge(&gpu, TIME_L2, DTYPE_FP16), 50);
  expect_near(timing_exp_ceiling_flops_per_s(&gpu, 128, 128), 512 * 4e10);
}

/* A part without a rate is left out, not zero and not infinite; with no part at all nothing binds. */
TEST(unknown_rates_are_left_out) {
  const Gpu v100 = open_gpu("v100"), paper = open_gpu("paper"), nothing = {0};
  Gpu bare = v100;
  bare.fp32_flops_per_s = 0;
  const TimeWork work = {
      .hbm_bytes = 1, .l2_bytes = 1e12, .sram_bytes = 1, .flops = 1e18, .exps = 1, .dtype = DTYPE_BF16};
  TimeBound t = timing_bound(&work, &bare); /* Volta has no bf16, and fp32 is taken away */
  assert_true(isnan(t.part_s[TIME_MATH]));
  assert_int_equal(t.bound, TIME_L2);
  assert_true(timing_ridge(&bare, TIME_HBM, DTYPE_BF16) == 0);
  t = timing_bound(&work, &paper);
  assert_true(isnan(t.part_s[TIME_L2])); /* it has none */
  assert_true(timing_ridge(&paper, TIME_L2, DTYPE_FP16) == 0);
  t = timing_bound(&work, &nothing);
  assert_int_equal(t.bound, TIME_NONE);
  assert_true(t.busy_s == 0);
  assert_string_equal(timing_term_key(t.bound), "none");
}

/* fp32 products run on the vector units, others on tensor cores where there are some. */
TEST(products_run_where_they_are_exact) {
  const Gpu h100 = open_gpu("h100-sxm"), paper = open_gpu("paper");
  expect_near(timing_rate(&h100, TIME_MATH, DTYPE_FP32), 66.9e12);
  expect_near(timing_rate(&h100, TIME_MATH, DTYPE_FP16), 989.4e12);
  expect_near(timing_rate(&paper, TIME_MATH, DTYPE_BF16), 312e12);
  /* an A100 has no fp8: stored so, computed in fp16; a V100 no bf16, whose range only fp32 has */
  const Gpu v100 = open_gpu("v100");
  assert_int_equal(gpu_computes_in(&paper, DTYPE_FP8), DTYPE_FP16);
  expect_near(timing_rate(&paper, TIME_MATH, DTYPE_FP8), 312e12);
  assert_int_equal(gpu_computes_in(&v100, DTYPE_BF16), DTYPE_FP32);
  expect_near(timing_rate(&v100, TIME_MATH, DTYPE_BF16), 15.7e12);
  assert_int_equal(gpu_computes_in(&h100, DTYPE_FP8), DTYPE_FP8);
}

/* Behind an L2 of 60 MiB: Q, K, V once (3 MiB a head); O may stay, and S and P, 32 MiB each. With four heads they are
 * 128 MiB each: 68 MiB of each go out and come back. L2 serves each byte once: 4 MiB a head. */
TEST(l2_keeps_what_fits) {
  const Gpu h200 = open_gpu("h200"), none = {0};
  const Tiling tiling = {.B_r = 128, .B_c = 128};
  const double MiB = 1048576;
  const Simulation one = timed("standard", (Shape){.N_q = 4096, .d = 128}, tiling, &h200);
  const Simulation four = timed("standard", (Shape){.N_q = 4096, .d = 128, .heads = 4}, tiling, &h200);
  const Simulation fa2 = timed("fa2", (Shape){.N_q = 4096, .d = 128, .heads = 4}, tiling, &h200);
  assert_true(simulation_work(&one, &h200).hbm_bytes == 3 * MiB);
  assert_true(simulation_work(&four, &h200).hbm_bytes == (12 + 4 * 68) * MiB);
  assert_true(simulation_work(&fa2, &h200).hbm_bytes == 12 * MiB);
  assert_true(simulation_work(&four, &h200).l2_bytes == 4 * 4 * MiB);
  assert_true(simulation_work(&four, &none).hbm_bytes == 4 * 132 * MiB);
}

/* N = 4096 in row blocks of 128: 32 CTAs on 132 SMs, so each works alone for 4 x 128 x 4096 x 128 FLOPs at 1/132 of the
 * peak. 133 of them: one SM has two. Under a mask the longest row block decides. Smaller tiles fill all SMs: the floor
 * is of any. */
TEST(the_busiest_sm_binds_small_grids) {
  const Gpu h200 = open_gpu("h200");
  const Tiling tiling = {.B_r = 128, .B_c = 128};
  const double piece = 4.0 * 128 * 4096 * 128 / (h200.fp16_tensor_flops_per_s / 132);
  const Simulation one = timed("fa2", (Shape){.N_q = 4096, .d = 128}, tiling, &h200);
  const Simulation causal = timed("fa2", (Shape){.N_q = 4096, .d = 128, .causal = true}, tiling, &h200);
  const Simulation more = timed("fa2", (Shape){.N_q = 133 * 128, .N_k = 4096, .d = 128}, tiling, &h200);
  const Simulation any = timed("fa2", (Shape){.N_q = 4096, .d = 128}, (Tiling){0}, &h200);
  expect_near(one.timing.run.busiest_s, piece);
  expect_near(causal.timing.run.busiest_s, piece);
  expect_near(more.timing.run.busiest_s, 2 * piece);
  expect_near(one.timing.least_s, 32 * piece / 132);
  expect_near(any.timing.least_s, 32 * piece / 132);
}

/* N = 300 in row blocks of 128 and tiles of 64 columns, the last of 44 rows, by hand. Causal: 128 x 128, 128 x 256 and
 * 44 x 300 pairs; in a window of 64: 128 x 128, 128 x (256 - 64) and 44 x (300 - 192); in documents of 100 and 200:
 * 128 x 128, 128 x (256 - 64) and 44 x (300 - 64). One SM has all; of more, one has the longest. */
TEST(the_last_row_block_is_as_long_as_it_is) {
  static const struct {
    int64_t window, n_sm;
    double pairs;
    const char *documents;
  } CASES[] = {{.n_sm = 1, .pairs = 128 * 128 + 128 * 256 + 44 * 300},
               {.n_sm = 2, .pairs = 128 * 256},
               {.n_sm = 1, .pairs = 128 * 128 + 128 * 192 + 44 * 108, .window = 64},
               {.n_sm = 2, .pairs = 128 * 192, .window = 64},
               {.n_sm = 1, .pairs = 128 * 128 + 128 * 192 + 44 * 236, .documents = "100,200"},
               {.n_sm = 3, .pairs = 128 * 192, .documents = "100,200"}};
  EACH (k, CASES) {
    const char *text = CASES[k].documents;
    Pattern *pattern = text ? pattern_documents(ALL_OF(text), "t", (PatternMatrix){300, 300, false}, NULL) : NULL;
    Gpu gpu = open_gpu("h200");
    gpu.n_sm = CASES[k].n_sm;
    const Shape shape = {.N_q = 300, .d = 64, .causal = true, .window = CASES[k].window, .pattern = pattern};
    const Simulation s = timed("fa2", shape, (Tiling){.B_r = 128, .B_c = 64}, &gpu);
    expect_near(simulation_own_work(&s, &gpu).busiest_flops, CASES[k].pairs * 4 * 64);
    free(pattern);
  }
}

/* 8 query heads over one KV head: their rows can share a tile, so K and V count once. */
TEST(shared_keys_count_once) {
  const Gpu h100 = open_gpu("h100-sxm");
  const Simulation s = timed("fa2", (Shape){.N_q = 1, .N_k = 32768, .d = 128, .heads = 32, .kv_heads = 8},
                             (Tiling){.B_r = 64, .B_c = 64}, &h100);
  const double bytes = 8 * 2 * 32768.0 * 128 * 2 + 32 * 128 * 2;
  expect_near(s.timing.least_s, bytes / 3.35e12);
}

/* 160 CTAs of 32 tiles on 132 SMs: one has two. Parts of the keys are CTAs of their own, 320 of 16 tiles: one has
 * three. Two passes multiply once and twice a tile. */
TEST(the_busiest_sm_of_each_kernel) {
  static const struct {
    const char *algorithm;
    int64_t n_splits;
    double products; /* of 128 x 128 x 128 */
  } CASES[] = {
      {"fa2", 1, 2 * 32 * 2}, {"fa2-split", 1, 2 * 32 * 2}, {"fa2-split", 2, 3 * 16 * 2}, {"two-pass", 1, 2 * 32 * 3}};
  const Gpu gpu = open_gpu("h100-sxm");
  const double product_s = 2.0 * 128 * 128 * 128 / (timing_rate(&gpu, TIME_MATH, DTYPE_FP16) / 132);
  EACH (k, CASES) {
    const Simulation s = timed(CASES[k].algorithm, (Shape){.N_q = 4096, .d = 128, .heads = 5},
                               (Tiling){.B_r = 128, .B_c = 128, .n_splits = CASES[k].n_splits}, &gpu);
    expect_near(s.timing.run.busiest_s, CASES[k].products * product_s);
    assert_true(s.timing.run.bound_s >= s.timing.run.busiest_s);
  }
}

/* Times are compared within a kind, and bounds where they have the same terms. */
/* Three kernels, of which none begins before the last has ended: 64 CTAs of a tile, the softmax's bytes through L2, 32
 * CTAs of two tiles. FlashAttention-2 is one kernel. The order of the two is that of the bounds alone: three launches
 * have two gaps of 3 us more. */
TEST(kernels_follow_one_another) {
  const Gpu gpu = open_gpu("a100-80gb");
  const Shape shape = {.N_q = 256, .d = 128, .heads = 16};
  const Tiling tiling = {.B_r = 128, .B_c = 128};
  const double tile_s = 2.0 * 128 * 128 * 128 / (312e12 / 108),
               softmax_s = 2.0 * 16 * 256 * 256 * 2 / gpu.l2_bytes_per_s;
  const Simulation three = timed("standard", shape, tiling, &gpu), one = timed("fa2", shape, tiling, &gpu);
  expect_near(three.timing.run.kernels_s, 3 * tile_s + softmax_s);
  expect_near(three.timing.run.bound_s, 3 * tile_s + softmax_s);
  expect_near(one.timing.run.bound_s, 4 * tile_s);
  assert_true(one.timing.run.kernels_s == 0);
  Timing alike = three.timing;
  alike.run.terms = one.timing.run.terms;
  assert_false(timing_comparable(&alike, &one.timing));
  alike.launch_s = one.timing.launch_s;
  assert_true(timing_comparable(&alike, &one.timing));
}

TEST(unlike_times_have_no_ratio) {
  const Timing bound = {.kind = TIME_BOUND, .seconds = 1, .run = {.terms = 7}},
               more = {.seconds = 1, .run = {.terms = 15}};
  const Timing predicted = {.kind = TIME_PREDICTED, .seconds = 1}, other = {.kind = TIME_PREDICTED, .seconds = 2};
  const Timing beyond = {.kind = TIME_EXTRAPOLATED, .seconds = 1}, unknown = {.kind = TIME_PREDICTED};
  assert_true(timing_comparable(&bound, &bound) && timing_comparable(&predicted, &other));
  assert_false(timing_comparable(&bound, &more) || timing_comparable(&bound, &predicted));
  assert_false(timing_comparable(&predicted, &beyond) || timing_comparable(&predicted, &unknown));
}
