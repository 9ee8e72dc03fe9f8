/* How long one waits for an answer of the model of L2, over a grid of N and heads, full and causal, and on other GPUs:
 * a slider that redraws has 16 ms for one head and 100 ms for 128. Each answer is timed three times; the middle
 * counts. It uses all cores; OMP_NUM_THREADS=1 shows what one takes. BENCH_FULL=1: six times as many configurations,
 * and L2s of other sizes. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "sim/simulate.h"
#include "tests/bench/bench.h"
#include "tests/support/test.h"

#include "tests/support/open_gpu.h"

static Gpu gpu;

/* Below zero: no answer. */
static double time_of(const char *algorithm, Problem problem) {
  double ms[3];
  for (int i = 0; i < 3; i++) {
    Simulation s;
    Error error = {0};
    const double began = 1e3 * now_s();
    if (simulate(&s, &problem, schedule_find(algorithm), &error) || simulation_l2(&s, &problem, &gpu, &error)) {
      fprintf(stderr, "%s\n", error.message);
      exit(1);
    }
    if (!s.has_l2) return -1;
    ms[i] = 1e3 * now_s() - began;
  }
  return quantile(ms, 3, 0.5);
}

/* Two lengths just before tiles are merged once more, where most steps are taken; the full grid has more powers of two.
 */
static const int64_t SHORT_LENGTHS[] = {4096, 16384, 34944, 69888, 0},
                     ALL_LENGTHS[] = {4096, 8192, 16384, 32768, 34944, 65536, 69888, 131072, 0};
static bool full;

static double most[2]; /* for one head, for more */

static void row(const char *algorithm, int64_t d, int64_t block, bool causal, bool in_step) {
  printf("%-9s d %3d block %3d %-6s %-7s ms:", algorithm, (int)d, (int)block, causal ? "causal" : "full",
         in_step ? "in step" : "in time");
  for (int64_t heads = 1; heads <= 128; heads = heads == 1 ? 16 : heads * 8) {
    printf("  %d:", (int)heads);
    for (const int64_t *length = full ? ALL_LENGTHS : SHORT_LENGTHS; *length; length++) {
      const int64_t N = *length;
      const Problem problem = {
          .shape = {.heads = heads, .N_q = N, .d = d, .causal = causal},
          .tiling = {.B_r = block, .B_c = block},
          .machine = {.sram_bytes = gpu.shared_bytes_per_cta, .l2_bytes = gpu.l2_bytes, .n_SM = gpu.n_sm},
          .in_step = in_step};
      const double ms = time_of(algorithm, problem);
      printf(ms < 0 ? " -" : " %.1f", ms);
      if (ms > most[heads > 1]) most[heads > 1] = ms;
    }
  }
  printf("\n");
}

/* With its own L2, and in the full grid with a quarter of it. */
static void other_gpu(const char *name) {
  for (int parts = 1; parts <= (full ? 4 : 1); parts *= 4) {
    gpu = open_gpu(name);
    gpu.l2_bytes /= parts;
    printf("%s, L2 / %d\n", name, parts);
    if (full) row("fa2", 64, 64, false, false);
    row("fa2", 128, 64, true, false);
  }
}

static void our_gpu(void) {
  static const char *const OTHERS[] = {"standard", "fa1", "fa2-split"};
  for (int causal = 0; causal < 2; causal++) {
    for (int64_t d = 64; d <= 128; d *= 2)
      for (int64_t block = 32; block <= 128; block *= 2)
        if (full || block == d) row("fa2", d, block, causal, false);
    if (full || !causal) row("fa2", 64, 128, causal, true);
    for (int k = 0; k < 3 && (full || !causal); k++) row(OTHERS[k], 128, 128, causal, false);
  }
}

int main(void) {
  full = getenv("BENCH_FULL") != NULL;
  gpu = open_gpu("h200");
  printf("L2 of an H200, heads: N =");
  for (const int64_t *length = full ? ALL_LENGTHS : SHORT_LENGTHS; *length; length++) printf(" %d", (int)*length);
  printf("\n");
  our_gpu();
  if (full) other_gpu("h200");
  other_gpu("b200");
  other_gpu("a100-80gb");
  other_gpu("tiny");
  printf("one head at most %.1f ms (%.2f of 16), more at most %.1f ms (%.2f of 100)\n", most[0], most[0] / 16, most[1],
         most[1] / 100);
  return 0;
}
