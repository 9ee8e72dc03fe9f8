/* The lower bound on time: parts worked out by hand, what happens to unknown rates, and how far measured kernels stay
 * above the bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/simulate.h"
#include "sim/machine/timing.h"

static Gpu load(const char *name) {
  static char text[KEYFILE_MAX_BYTES];
  char path[512];
  const char *assets = getenv("TILEWALK_ASSETS");
  snprintf(path, sizeof path, "%s/gpus/%s", assets ? assets : "assets", name);
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot open %s", path);
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  Gpu gpu;
  Error error = {0};
  if (gpu_parse(text, length, name, &gpu, &error)) fail_msg("%s", error.message);
  return gpu;
}

static void expect_near(double got, double expected) {
  if (!(fabs(got - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g, expected %.17g", got, expected);
}

static Simulation timed(const char *algorithm, Shape shape, Tiling tiling, const Gpu *gpu) {
  const Problem problem = {.shape = shape, .tiling = tiling, .machine = machine_paper()};
  Simulation s;
  Error error = {0};
  if (simulate(&s, &problem, schedule_find(algorithm), &error)) fail_msg("%s", error.message);
  assert_false(s.timed);
  simulation_time(&s, gpu);
  assert_true(s.timed);
  return s;
}

/* A machine of round numbers: each part is a division that can be done in the head. */
static void parts_by_hand(void **state) {
  (void)state;
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
  const Timing t = timing_at_best(&work, &gpu);
  expect_near(t.part_s[TIME_HBM], 0.01);
  expect_near(t.part_s[TIME_L2], 0.02);
  expect_near(t.part_s[TIME_SRAM], 0.008); /* 10 SMs x 100 B x 1 GHz: 1 TB/s */
  expect_near(t.part_s[TIME_MATH], 0.01);
  expect_near(t.part_s[TIME_EXP], 0.01); /* 10 SMs x 4 x 1 GHz */
  assert_int_equal(t.bound, TIME_L2);
  expect_near(t.busy_s, 0.02);
  expect_near(t.launch_s, 15e-6);
  expect_near(timing_total_s(&t), 0.020015);
  expect_near(timing_ridge(&gpu, TIME_HBM, DTYPE_FP16), 100);
  expect_near(timing_ridge(&gpu, TIME_L2, DTYPE_FP16), 50);
  expect_near(timing_exp_ceiling_flops_per_s(&gpu, 128), 512 * 4e10);
}

/* At the ridge, moving and computing take equally long: the definition. */
static void the_ridge_is_where_both_bind(void **state) {
  (void)state;
  const Gpu gpu = load("h100-sxm");
  const double ridge = timing_ridge(&gpu, TIME_HBM, DTYPE_BF16);
  assert_true(ridge > 295 && ridge < 296); /* 989.4 TFLOP/s / 3.35 TB/s = 295.3 */
  const TimeWork work = {.hbm_bytes = 1e12, .flops = 1e12 * ridge, .dtype = DTYPE_BF16};
  const Timing t = timing_at_best(&work, &gpu);
  expect_near(t.part_s[TIME_HBM], t.part_s[TIME_MATH]);
}

/* A part without a rate is left out, not zero and not infinite; with no part at all nothing binds. */
static void unknown_rates_are_left_out(void **state) {
  (void)state;
  const Gpu v100 = load("v100"), paper = load("paper"), nothing = {0};
  const TimeWork work = {
      .hbm_bytes = 1, .l2_bytes = 1e12, .sram_bytes = 1, .flops = 1e18, .exps = 1, .dtype = DTYPE_BF16};
  Timing t = timing_at_best(&work, &v100); /* Volta has no bf16 */
  assert_true(isnan(t.part_s[TIME_MATH]));
  assert_int_equal(t.bound, TIME_L2);
  assert_true(timing_ridge(&v100, TIME_HBM, DTYPE_BF16) == 0);
  t = timing_at_best(&work, &paper);
  assert_true(isnan(t.part_s[TIME_L2])); /* it has none */
  assert_true(timing_ridge(&paper, TIME_L2, DTYPE_FP16) == 0);
  t = timing_at_best(&work, &nothing);
  assert_int_equal(t.bound, TIME_NONE);
  assert_true(t.busy_s == 0);
  assert_string_equal(time_part_name(t.bound), "none");
}

/* fp32 products run on the vector units, others on tensor cores where there are some. */
static void products_run_where_they_are_exact(void **state) {
  (void)state;
  const Gpu h100 = load("h100-sxm"), paper = load("paper");
  expect_near(timing_rate(&h100, TIME_MATH, DTYPE_FP32), 66.9e12);
  expect_near(timing_rate(&h100, TIME_MATH, DTYPE_FP16), 989.4e12);
  expect_near(timing_rate(&paper, TIME_MATH, DTYPE_BF16), 312e12);
  assert_true(timing_rate(&paper, TIME_MATH, DTYPE_FP8) == 0);
}

/* The classic case on the papers' machine, from the formulas: 132 MiB and 66 MiB over 1555 GB/s. */
static void the_papers_machine_is_bound_by_hbm(void **state) {
  (void)state;
  const Gpu paper = load("paper");
  const Shape shape = {.N_q = 4096, .d = 128};
  const Tiling tiling = {.B_r = 128, .B_c = 128};
  const Simulation standard = timed("standard", shape, tiling, &paper), fa2 = timed("fa2", shape, tiling, &paper);
  expect_near(standard.timing.part_s[TIME_HBM], 132.0 * 1048576 / 1555e9);
  expect_near(fa2.timing.part_s[TIME_HBM], 66.0 * 1048576 / 1555e9);
  expect_near(fa2.timing.part_s[TIME_SRAM], (2 * 65.0 + 1) * 1048576 / (108 * 128 * 1.41e9)); /* in, out again; O out */
  expect_near(fa2.timing.part_s[TIME_MATH], 4.0 * 4096 * 4096 * 128 / 312e12);
  expect_near(fa2.timing.part_s[TIME_EXP], 4096.0 * 4096 / (108 * 16 * 1.41e9));
  expect_near(standard.timing.launch_s, 3 * paper.launch_overhead_s); /* scores, softmax, values */
  assert_int_equal(standard.timing.bound, TIME_HBM);
  assert_int_equal(fa2.timing.bound, TIME_HBM);
}

/* Behind an L2 of 60 MiB: Q, K, V, O once (4 MiB a head); S and P, 32 MiB each, may stay. With four heads they are
 * 128 MiB each: 68 MiB of each go out and come back. */
static void l2_keeps_what_fits(void **state) {
  (void)state;
  const Gpu h200 = load("h200");
  const Tiling tiling = {.B_r = 128, .B_c = 128};
  const double MiB = 1048576;
  const Simulation one = timed("standard", (Shape){.N_q = 4096, .d = 128}, tiling, &h200);
  const Simulation four = timed("standard", (Shape){.N_q = 4096, .d = 128, .heads = 4}, tiling, &h200);
  const Simulation fa2 = timed("fa2", (Shape){.N_q = 4096, .d = 128, .heads = 4}, tiling, &h200);
  assert_true(simulation_work(&one, h200.l2_bytes).hbm_bytes == 4 * MiB);
  assert_true(simulation_work(&four, h200.l2_bytes).hbm_bytes == (16 + 4 * 68) * MiB);
  assert_true(simulation_work(&fa2, h200.l2_bytes).hbm_bytes == 16 * MiB);
  assert_true(simulation_work(&four, h200.l2_bytes).l2_bytes == 4 * 132 * MiB);
  assert_true(simulation_work(&four, 0).hbm_bytes == 4 * 132 * MiB);
}

/* More work, or a slower machine, never takes less time; and a larger L2 never more. */
static void the_bound_is_monotone(void **state) {
  (void)state;
  Gpu gpu = load("a100-80gb");
  double before = 0;
  for (int64_t N = 256; N <= 65536; N *= 2) {
    const Simulation s = timed("standard", (Shape){.N_q = N, .d = 64}, (Tiling){.B_r = 64, .B_c = 64}, &gpu);
    assert_true(s.timing.busy_s > before);
    before = s.timing.busy_s;
    Gpu larger = gpu;
    larger.l2_bytes *= 2;
    const Simulation cached = timed("standard", (Shape){.N_q = N, .d = 64}, (Tiling){.B_r = 64, .B_c = 64}, &larger);
    assert_true(cached.timing.busy_s <= s.timing.busy_s);
  }
}

/* TFLOP/s measured on an H200 in one run (torch 2.11, cuDNN 9.19, driver 580): fp16, batch 1, N = 16384, heads x d =
 * 2048. Useful FLOPs are counted: 4 N^2 d a head, half of that when causal. */
static const struct {
  const char *kernel;
  int64_t d;
  bool causal;
  int64_t B_r, B_c;
  double measured;
} MEASURED[] = {
    {"memory-efficient", 64, false, 64, 64, 135},
    {"memory-efficient", 64, true, 64, 64, 129},
    {"FlashAttention-2", 64, false, 128, 128, 303},
    {"FlashAttention-2", 64, true, 128, 128, 289},
    {"cuDNN", 64, false, 128, 128, 445},
    {"cuDNN", 64, true, 128, 128, 427},
    {"memory-efficient", 128, false, 64, 128, 175},
    {"memory-efficient", 128, true, 64, 128, 167},
    {"FlashAttention-2", 128, false, 128, 64, 340},
    {"FlashAttention-2", 128, true, 128, 64, 305},
    {"cuDNN", 128, false, 128, 128, 587},
    {"cuDNN", 128, true, 128, 128, 529},
};
enum { N_MEASURED = sizeof MEASURED / sizeof *MEASURED };

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* No kernel is faster than the bound, and the bound is as far away as sim/machine/timing.h says. */
static void measured_kernels_stay_behind_the_bound(void **state) {
  (void)state;
  const Gpu h200 = load("h200");
  double ratio[N_MEASURED];
  for (int i = 0; i < N_MEASURED; i++) {
    const int64_t N = 16384, d = MEASURED[i].d;
    const Simulation s = timed("fa2", (Shape){.N_q = N, .d = d, .heads = 2048 / d, .causal = MEASURED[i].causal},
                               (Tiling){.B_r = MEASURED[i].B_r, .B_c = MEASURED[i].B_c}, &h200);
    const double useful = 4.0 * (double)N * (double)N * 2048 / (MEASURED[i].causal ? 2 : 1);
    const double bound = useful / s.timing.busy_s * 1e-12;
    ratio[i] = bound / MEASURED[i].measured;
    if (getenv("TILEWALK_TABLE"))
      print_message("%-16s d=%-3d %-6s bound %4.0f (%s), measured %3.0f: %.2f\n", MEASURED[i].kernel, (int)d,
                    MEASURED[i].causal ? "causal" : "full", bound, time_part_name(s.timing.bound), MEASURED[i].measured,
                    ratio[i]);
    assert_true(ratio[i] >= 1);
  }
  qsort(ratio, N_MEASURED, sizeof *ratio, by_size);
  const double median = (ratio[N_MEASURED / 2 - 1] + ratio[N_MEASURED / 2]) / 2;
  if (getenv("TILEWALK_TABLE")) print_message("median %.2f, %.2f to %.2f\n", median, ratio[0], ratio[N_MEASURED - 1]);
  assert_true(fabs(median - 3.2) < 0.05);
  assert_true(fabs(ratio[0] - 1.7) < 0.05 && fabs(ratio[N_MEASURED - 1] - 4.3) < 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_by_hand),
      cmocka_unit_test(the_ridge_is_where_both_bind),
      cmocka_unit_test(unknown_rates_are_left_out),
      cmocka_unit_test(products_run_where_they_are_exact),
      cmocka_unit_test(the_papers_machine_is_bound_by_hbm),
      cmocka_unit_test(l2_keeps_what_fits),
      cmocka_unit_test(the_bound_is_monotone),
      cmocka_unit_test(measured_kernels_stay_behind_the_bound),
  };
  return cmocka_run_group_tests_name("timing", tests, NULL, NULL);
}
