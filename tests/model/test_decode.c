/* Decode, one query a sequence, as it was recorded on an H100 and an H200: bytes across the SRAM boundary to half a
 * percent, times from a cold L2 as near as the kernels' descriptions say, and never below the bound.
 *
 *     h100/decode-time   events around both kernels: FlashAttention-2, cuDNN and our rung 10, 32 heads on 8, 32K keys
 *     h100/decode        ncu, a row a launch (here the launches of a run are added up)
 *     h200/decode-times  the same of 300 to 32K keys, 1 to 96 KV heads, each after 256 MiB that were read
 *     h100/more          ncu: our rung 10 over a grid of shapes; its number of splits is given */
#include "tests/support/test.h"
#include "sim/simulate.h"
#include "tests/support/implied.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"
#include "tests/support/recorded_rows.h"

enum { RUNS_MAX = 192 };

typedef struct {
  char kernel[32];
  int64_t batch, heads, kv_heads, N_k, d, splits; /* splits 0: not recorded */
  bool splits_given;                              /* to the kernel; else its own choice */
  double us, boundary_bytes, first_kernel_bytes;  /* 0: not counted; of both kernels, of the first */
  const Gpu *gpu;
} Run;

static Run runs[RUNS_MAX];
static size_t n_runs;
static Gpu h100, h200;

static void add(const Run *run) {
  assert_true(n_runs < RUNS_MAX);
  runs[n_runs++] = *run;
}

static const char *described(const char *name) {
  static const char *const NAMES[][2] = {{"pytorch_fa2", "fa2-sm90"},
                                         {"flash", "fa2-sm90"},
                                         {"pytorch_cudnn", "cudnn-sm90"},
                                         {"cudnn", "cudnn-sm90"},
                                         {"fa2_decode", "fa2_decode"}};
  EACH (k, NAMES)
    if (strcmp(name, NAMES[k][0]) == 0) return NAMES[k][1];
  return NULL;
}

static Run run_of(const RecordedRows *row, const char *kernel, const char *us, const Gpu *gpu) {
  Run run = {.batch = recorded_whole(row, "batch"),
             .heads = recorded_whole(row, "heads"),
             .kv_heads = recorded_whole(row, "kv_heads"),
             .N_k = recorded_whole(row, "seq_k"),
             .d = recorded_whole(row, "head_dim"),
             .us = recorded_number(row, us),
             .gpu = gpu};
  snprintf(run.kernel, sizeof run.kernel, "%s", kernel);
  return run;
}

static void take_timed(const RecordedRows *row) {
  const char *kernel = described(recorded_cell(row, "kernel"));
  if (!kernel) return; /* the copy */
  Run run = run_of(row, kernel, "us", &h100);
  run.splits = atoll(recorded_cell(row, "splits")); /* left empty: its own choice */
  add(&run);
}

static void take_short(const RecordedRows *row) {
  const Run run = run_of(row, recorded_cell(row, "kernel"), "cold_us", &h200);
  add(&run);
}

/* The launches of a run stand below each other. */
static void take_launch(const RecordedRows *row) {
  static char last[16];
  const char *kernel = described(recorded_cell(row, "backend"));
  if (!kernel || recorded_whole(row, "NQ") != 1) return;
  const double us = recorded_number(row, "time_ns") / 1000, bytes = recorded_number(row, "boundary_read_bytes");
  if (strcmp(last, recorded_cell(row, "run")) == 0) {
    runs[n_runs - 1].us += us;
    return;
  }
  snprintf(last, sizeof last, "%s", recorded_cell(row, "run"));
  Run run = {.batch = recorded_whole(row, "B"),
             .heads = recorded_whole(row, "H"),
             .kv_heads = recorded_whole(row, "KV"),
             .N_k = recorded_whole(row, "NK"),
             .d = recorded_whole(row, "d"),
             .us = us,
             .first_kernel_bytes = bytes,
             .gpu = &h100};
  snprintf(run.kernel, sizeof run.kernel, "%s", kernel);
  add(&run);
}

static void take_counted(const RecordedRows *row) {
  if (!recorded_is(row, "rung", "fa2_decode") || recorded_whole(row, "seq_q") != 1) return;
  Run run = run_of(row, "fa2_decode", "gpu__time_duration.sum", &h100);
  run.us /= 1000;
  run.splits = recorded_whole(row, "splits");
  run.splits_given = true;
  run.boundary_bytes = recorded_number(row, "l1tex__m_xbar2l1tex_read_bytes.sum");
  add(&run);
}

static int setup(void **state) {
  (void)state;
  h100 = open_gpu("h100-sxm");
  h200 = open_gpu("h200");
  static RecordedRows rows;
  for (recorded_open(&rows, "counters/h100/decode-time/first.csv"); recorded_next(&rows);) take_timed(&rows);
  for (recorded_open(&rows, "counters/h100/decode/first.csv"); recorded_next(&rows);) take_launch(&rows);
  for (recorded_open(&rows, "counters/h200/decode-times/first.csv"); recorded_next(&rows);) take_short(&rows);
  for (recorded_open(&rows, "counters/h100/more/first.csv"); recorded_next(&rows);) take_counted(&rows);
  return 0;
}

/* As the library launches it: packed, and split as its description says. */
static Simulation decode(const Run *run, const Profile *profile) {
  Problem p = {
      .shape =
          {.batch = run->batch, .heads = run->heads, .kv_heads = run->kv_heads, .N_q = 1, .N_k = run->N_k, .d = run->d},
      .tiling = {.n_splits = run->splits_given ? run->splits : 0},
      .machine = machine_of_gpu(run->gpu),
      .kernel = profile};
  Simulation s;
  must(simulation_answer(&s, &p, NULL, run->gpu, fresh_error()));
  if (run->splits) assert_int_equal(s.plan.tiling.n_splits, run->splits);
  return s;
}

TEST(bytes_are_within_half_a_percent) {
  size_t n = 0;
  for (size_t k = 0; k < n_runs; k++) {
    const Run *run = &runs[k];
    if (!run->boundary_bytes && !run->first_kernel_bytes) continue;
    const Profile profile = open_profile(run->kernel);
    const Simulation s = decode(run, &profile);
    const Wide *read = s.traffic.read;
    const double first = (double)(read[IMPLIED_Q] + read[IMPLIED_K] + read[IMPLIED_V]);
    const double counted = run->boundary_bytes ? run->boundary_bytes : run->first_kernel_bytes;
    const double model = run->boundary_bytes ? (double)s.read_bytes : first;
    if (run->boundary_bytes) assert_true(model == counted); /* our own rung: to the byte */
    assert_near(model / counted, 1, 0.005);
    n++;
  }
  assert_int_equal(n, 4 + 10);
}

TEST(times_are_as_near_as_is_said) {
  static const struct {
    const char *kernel;
    double worst;
  } KERNELS[] = {{"fa2-sm90", 0.14}, {"cudnn-sm90", 0.18}, {"fa2_decode", 0.145}}; /* measured: 0.130, 0.173, 0.135 */
  EACH (i, KERNELS) {
    const Profile profile = open_profile(KERNELS[i].kernel);
    static Errors off;
    off.n = 0;
    for (size_t k = 0; k < n_runs; k++) {
      const Run *run = &runs[k];
      if (strcmp(run->kernel, profile.name) != 0) continue;
      const Simulation s = decode(run, &profile);
      const double us = s.timing.predicted_s * 1e6;
      print_message("| %s | %d x %d heads on %d, %d keys, d = %d | %.1f | %.1f | %+.1f %% |\n", run->kernel,
                    (int)run->batch, (int)run->heads, (int)run->kv_heads, (int)run->N_k, (int)run->d, run->us, us,
                    100 * (us / run->us - 1));
      assert_true(s.timing.least_s * 1e6 < run->us && s.timing.least_s <= s.timing.predicted_s);
      assert_int_equal(s.timing.regime, REGIME_DECODE);
      errors_add(&off, us, run->us);
    }
    const TimeError *said = &profile.time_errors[REGIME_DECODE];
    assert_true(errors_part(&off, 1) < KERNELS[i].worst);
    assert_int_equal(said->n_runs, off.n);
    assert_int_equal(said->median_permille, (int64_t)ceil(1000 * errors_part(&off, 0.5)));
    assert_int_equal(said->nine_permille, (int64_t)ceil(1000 * errors_part(&off, 0.9)));
  }
}

GROUP(setup, NULL)
