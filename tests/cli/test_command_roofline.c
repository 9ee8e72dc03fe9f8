/* `tilewalk roofline`: places and ridges worked out by hand, the chart as a file, requests that are refused. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"

static ProgramRun run;

static void roofline(const char *arguments) {
  char command[512];
  snprintf(command, sizeof command, "roofline %s", arguments);
  program_run(&run, command);
}

static double real(json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_number(value)) fail_msg("no number '%s'", key);
  return json_number_value(value);
}

static void expect_near(double got, double expected) {
  if (!(fabs(got - expected) <= 1e-9 * expected)) fail_msg("%.12g, expected %.12g", got, expected);
}

/* fa2 at N = 4096, B = 128 moves 66 MiB for 4 N^2 d FLOPs: 2^33 / (66 x 2^20) = 124.12 FLOPs a byte, times 1555 GB/s.
 */
TEST(the_papers_machine) {
  roofline("-N 4096 -d 128 --block 128 --json");
  assert_int_equal(run.exit_status, 0);
  json_t *d = json_loads(run.out, 0, NULL);
  assert_non_null(d);
  json_t *hbm = json_array_get(json_object_get(d, "levels"), 0), *fa2 = json_array_get(json_object_get(d, "runs"), 2);
  assert_int_equal(json_array_size(json_object_get(d, "levels")), 1);
  expect_near(real(hbm, "ridge_flops_per_byte"), 312e12 / 1555e9);
  expect_near(real(d, "peak_flops_per_s"), 312e12);
  expect_near(real(d, "exp_ceiling_flops_per_s"), 512.0 * 108 * 16 * 1.41e9);
  expect_near(real(fa2, "hbm_flops_per_byte"), 8192.0 / 66);
  expect_near(real(fa2, "attainable_flops_per_s"), 8192.0 / 66 * 1555e9);
  assert_string_equal(json_string_value(json_object_get(fa2, "bound")), "hbm");
  assert_true(json_is_null(json_object_get(fa2, "l2_flops_per_byte")));
  json_decref(d);
}

/* Behind L2 each byte of Q, K, V, O comes from HBM once: 4 N^2 d / (4 N d x 2 bytes) = N / 2 FLOPs a byte. */
TEST(two_levels) {
  roofline("--gpu h200 -N 16K --heads 16 --algorithm fa2 --block 128 --json");
  json_t *d = json_loads(run.out, 0, NULL);
  assert_non_null(d);
  json_t *fa2 = json_array_get(json_object_get(d, "runs"), 0);
  assert_int_equal(json_array_size(json_object_get(d, "levels")), 2);
  const double at_hbm = real(fa2, "hbm_flops_per_byte"); /* 8192 with each byte once; a few come again */
  assert_true(at_hbm > 8100 && at_hbm <= 8192);
  /* reads Nd + 128 x 2Nd, writes Nd: 258 Nd of 2 bytes */
  expect_near(real(fa2, "l2_flops_per_byte"), 4.0 * 16384 / (2 * 258));
  expect_near(real(fa2, "attainable_flops_per_s"), 989.5e12 * 2048 / (132 * 16)); /* 2048 CTAs: one SM has 16 */
  assert_string_equal(json_string_value(json_object_get(fa2, "bound")), "math");
  json_decref(d);
}

TEST(plot_table_and_csv) {
  roofline("--gpu h200 -N 8K");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "Roofline: NVIDIA H200"));
  assert_non_null(strstr(run.out, "FLOPs for each byte moved"));
  assert_non_null(strstr(run.out, "206.1 FLOPs for each byte from HBM")); /* 989.5 / 4.8 */
  roofline("--gpu h200 -N 8K --algorithm fa2 --csv");
  const char *header = "algorithm,hbm_flops_per_byte,l2_flops_per_byte,attainable_flops_per_s,of_peak,bound,bound_s,"
                       "least_s,predicted_s,time_is\nfa2,40";
  assert_memory_equal(run.out, header, strlen(header));
}

/* A type without a unit is storage only, and that is said. */
TEST(a_missing_unit_is_said) {
  roofline("--gpu v100 --dtype bf16");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "v100 has no bf16 products: bf16 is storage only, computed in fp32"));
  roofline("--gpu v100 --dtype bf16 --json");
  json_t *d = json_loads(run.out, 0, NULL);
  assert_non_null(d);
  expect_near(real(d, "peak_flops_per_s"), 15.7e12);
  json_decref(d);
}

TEST(a_chart_is_a_file) {
  char path[SCRATCH_BYTES];
  char arguments[256], text[4096];
  assert_true(scratch_file(path, ".svg"));
  snprintf(arguments, sizeof arguments, "--gpu h200 -N 4K -o %s", path);
  roofline(arguments);
  assert_int_equal(run.exit_status, 0);
  assert_string_equal(run.out, "");
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  remove(path);
  assert_non_null(strstr(text, "<svg"));
}

TEST(wrong_requests) {
  static const char *const WRONG[] = {"--gpu h2000", "--theme dark", "--json --csv",
                                      "-o roof.txt", "-N 0",         "--size 10x10"};
  for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
    roofline(WRONG[i]);
    assert_int_equal(run.exit_status, 2);
    assert_string_equal(run.out, "");
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1); /* one line */
  }
}
