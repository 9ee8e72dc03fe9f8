/* Where the CTAs of launches of several waves ran on an H200, each launch beside the bytes that it moved between the sides of L2
 * (assets/counters/h200_waves.csv): a launch begins with the GPC after that of the last CTA before it, and the model, told which that is, moves as many
 * bytes. TILEWALK_TABLE=1 prints every launch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/l2_counters.h"
#include "tests/gpcs.h"
#include "tests/open_profile.h"

enum { LAUNCHES = 20, FIRST_SMS = 2 * PLACEMENT_FIRST_TPCS, SECTOR_BYTES = 32 };

typedef struct {
  char rung[16];
  int d, N, heads, causal, n_ctas;
  double fabric_bytes;
  int first_gpc; /* with which it began, */
  int turn;      /* and whose turn it was when it ended */
} Recorded;

static Recorded launches[LAUNCHES];
static int gpc_of[SMS];
static bool comes_first[SMS]; /* in each layer: it has no turn */

static void read_cta(Recorded *launch, const char *row) {
  int cta, smid, start_ns;
  assert_int_equal(sscanf(row, "%d,%d,%d", &cta, &smid, &start_ns), 3);
  assert_true(cta == launch->n_ctas && smid >= 0 && smid < SMS && start_ns >= 0);
  if (launch->n_ctas++ < FIRST_SMS) {
    comes_first[smid] = true;
    return;
  }
  if (comes_first[smid]) return;
  if (cta == FIRST_SMS) launch->first_gpc = gpc_of[smid];
  launch->turn = (gpc_of[smid] + 1) % (int)PLACEMENT_H200.n_gpcs;
}

static int read_recordings(void **state) {
  (void)state;
  read_gpcs("h200", gpc_of, NULL);
  FILE *file = open_counters("h200", "waves");
  char line[256];
  int n = 0;
  while (fgets(line, sizeof line, file)) {
    Recorded r = {.n_ctas = 0};
    double sectors, hbm_bytes;
    if (line[0] == ',' && n > 0) {
      read_cta(&launches[n - 1], line + strspn(line, ","));
    } else if (sscanf(line, "%15[^,],%d,%d,%d,%d,launch,%lf,%lf", r.rung, &r.d, &r.N, &r.heads, &r.causal, &sectors, &hbm_bytes) == 7) {
      assert_true(n < LAUNCHES);
      r.fabric_bytes = sectors * SECTOR_BYTES;
      launches[n++] = r;
    }
  }
  fclose(file);
  assert_int_equal(n, LAUNCHES);
  return 0;
}

/* Other kernels ran between some of them, which fill tensors in one wave. */
static void a_launch_begins_where_the_one_before_left_off(void **state) {
  (void)state;
  uint32_t seen = 0;
  for (int i = 1; i < LAUNCHES; i++) {
    assert_int_equal(launches[i].first_gpc, launches[i - 1].turn);
    seen |= 1u << launches[i].first_gpc;
  }
  assert_true(__builtin_popcount(seen) >= 4);
}

static double predicted(const Recorded *r, const Gpu *gpu, uint32_t first_gpc) {
  const Profile profile = open_profile(r->rung);
  Error error = {0};
  Problem problem = {.shape = {.batch = 1, .heads = r->heads, .kv_heads = r->heads, .N_q = r->N, .N_k = r->N, .d = r->d, .causal = r->causal},
                     .machine = {.sram_bytes = gpu->shared_bytes_per_cta}, .first_gpc = first_gpc};
  if (profile_config(&profile, &problem.shape, &problem.launch, &error)) fail_msg("%s", error.message);
  problem.tiling.B_r = problem.launch.block_q, problem.tiling.B_c = problem.launch.block_k;
  L2Counters counters;
  if (l2_counters_predict(&counters, &problem, profile.schedule, gpu, &error)) fail_msg("%s", error.message);
  return counters.fabric_bytes;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Under a mask the rows of a head that read its last tiles are few, and in launch order next to each other: whether those SMs are on one side or on both
 * hangs on where the launch begins. */
static void told_where_it_begins_the_model_moves_as_much(void **state) {
  (void)state;
  static char text[1 << 16];
  Gpu gpu;
  Error error = {0};
  FILE *file = open_asset("gpus/h200");
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  if (gpu_parse(text, length, "h200", &gpu, &error)) fail_msg("%s", error.message);
  double told[LAUNCHES], by_first[LAUNCHES];
  int n = 0;
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *r = &launches[i];
    const double as_it_began = predicted(r, &gpu, (uint32_t)r->first_gpc + 1) / r->fabric_bytes - 1;
    const double as_the_first = predicted(r, &gpu, 1) / r->fabric_bytes - 1;
    if (getenv("TILEWALK_TABLE"))
      print_message("%-10s d %3d N %5d heads %d %-6s begins with GPC %d: fabric %.2f MB, told %+.1f %%, as if with the first %+.1f %%\n",
                    r->rung, r->d, r->N, r->heads, r->causal ? "causal" : "full", r->first_gpc, r->fabric_bytes * 1e-6, 100 * as_it_began, 100 * as_the_first);
    if (!r->causal) continue;
    told[n] = fabs(as_it_began), by_first[n++] = fabs(as_the_first);
  }
  qsort(told, (size_t)n, sizeof *told, by_size);
  qsort(by_first, (size_t)n, sizeof *by_first, by_size);
  if (getenv("TILEWALK_TABLE"))
    print_message("causal, median and worst: told %.1f, %.1f %%; as if with the first %.1f, %.1f %%\n", 100 * told[n / 2], 100 * told[n - 1], 100 * by_first[n / 2],
                  100 * by_first[n - 1]);
  assert_int_equal(n, 12);
  assert_true(told[n / 2] < 0.015 && told[n - 1] < 0.025 && by_first[n - 1] > 0.06);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_launch_begins_where_the_one_before_left_off),
                                     cmocka_unit_test(told_where_it_begins_the_model_moves_as_much)};
  return cmocka_run_group_tests_name("waves", tests, read_recordings, NULL);
}
