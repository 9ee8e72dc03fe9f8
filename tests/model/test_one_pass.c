/* What crosses between the sides of L2 in launches of our own kernels that were counted in one pass
 * (assets/counters/h200/l2-one-pass/first.csv): one head, no mask, so that no chance is in it. Where a profiler runs a
 * launch again and again it puts back in between what the launch stored, and the first store of each line then moves a
 * little more (HIERARCHY_COLD_STORE); in one pass it does not. TILEWALK_DEPTH=2 prints every shape. */
#include "tests/support/test.h"
#include "tests/support/predict_counters.h"
#include "tests/support/open_counter_table.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"

enum { SHAPES = 12, SHORTEST = 4096, LONGEST = 16384 /* K and V fit */, SECTOR_BYTES = 32 };

typedef struct {
  char kernel[32];
  Shape shape;
  double fabric_bytes; /* mean */
  int n;
} Mean;

static int read_means(Mean means[SHAPES]) {
  CounterTable table = open_counter_table("counters/h200/l2-one-pass/first.csv");
  int n = 0;
  for (size_t i = 0; i < table.n_rows; i++) {
    const CounterRow *row = &table.rows[i];
    if (row->shape.causal || row->shape.heads > 1 || row->shape.N_q < SHORTEST || row->shape.N_q > LONGEST) continue;
    int at = 0;
    while (at < n && (strcmp(means[at].kernel, row->kernel) || means[at].shape.N_q != row->shape.N_q ||
                      means[at].shape.d != row->shape.d))
      at++;
    assert_true(at < SHAPES && row->known[COUNTER_FABRIC_SECTORS]);
    if (at == n) {
      means[n] = (Mean){.shape = row->shape};
      snprintf(means[n++].kernel, sizeof means->kernel, "%.31s", row->kernel);
    }
    Mean *m = &means[at];
    m->fabric_bytes += (SECTOR_BYTES * (double)row->value[COUNTER_FABRIC_SECTORS] - m->fabric_bytes) / ++m->n;
  }
  counter_table_free(&table);
  return n;
}

static double predict(const Mean *m, bool once) {
  const Gpu gpu = open_gpu("h200");
  const Profile profile = open_profile(m->kernel);
  Problem p = {.shape = m->shape, .machine = {.sram_bytes = gpu.shared_bytes_per_cta}, .once = once};
  Error error = {0};
  if (profile_config(&profile, &p.shape, &p.launch, &error)) fail_msg("%s", error.message);
  p.tiling = (Tiling){.B_r = p.launch.block_q, .B_c = p.launch.block_k};
  L2Counters counters;
  if (predict_counters(&counters, &p, profile.schedule, &gpu, &error)) fail_msg("%s", error.message);
  return counters.fabric_bytes;
}

TEST(stores_are_not_cold) {
  Mean means[SHAPES];
  const int n = read_means(means);
  assert_true(n >= 10);
  for (int i = 0; i < n; i++) {
    const Mean *m = &means[i];
    const double error = predict(m, true) / m->fabric_bytes - 1, again = predict(m, false) / m->fabric_bytes - 1;
    if (test_depth() > 1)
      print_message("%-10s d %3d N %5d: %.3f MB, predicted %+.2f %%, as if run again %+.2f %%\n", m->kernel,
                    (int)m->shape.d, (int)m->shape.N_q, m->fabric_bytes * 1e-6, 100 * error, 100 * again);
    assert_true(fabs(error) < 0.01 && again > error + 0.01);
  }
}
