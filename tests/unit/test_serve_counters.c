/* Serving on an H100: what PyTorch's FlashAttention-2 read for chunks of a prompt whose keys are split, and for batches
 * of decodes (assets/counters/h100/serve/first.csv), against the planner's tiles and what its builds spill. */
#include "tests/support/test.h"
#include "sim/time/batch.h"
#include "tests/support/recorded_rows.h"
#include "viz/request/description.h"

static Profile fa2;
static Gpu h100;

static int load(void **state) {
  (void)state;
  must(description_kernel("fa2-sm90", &fa2, fresh_error()) || description_gpu("h100-sxm", &h100, fresh_error()));
  return 0;
}

static Problem problem_of(int64_t N_q, int64_t N_k, int64_t heads, int64_t kv_heads, bool causal) {
  return (Problem){.shape = {.N_q = N_q, .N_k = N_k, .heads = heads, .kv_heads = kv_heads, .d = 128, .causal = causal},
                   .kernel = &fa2,
                   .machine = machine_of_gpu(&h100)};
}

/* The combine of split keys reads each log-sum-exp twice, which the model's does once: 4 B for each query, head and
 * split. Launches that do not split are rows of tests/model/test_recorded_launches.c. */
TEST(split_keys_and_their_combine) {
  static RecordedRows rows;
  double recorded = 0, counted = 0;
  int n = 0;
  for (recorded_open(&rows, "counters/h100/serve/first.csv"); recorded_next(&rows);) {
    const char *kernel = recorded_cell(&rows, "kernel");
    if (!strstr(kernel, "splitkv")) continue;
    recorded += recorded_number(&rows, "boundary_read_bytes");
    if (!strstr(kernel, "combine")) {
      const int64_t N_q = recorded_whole(&rows, "NQ"), heads = recorded_whole(&rows, "H");
      const Problem p = problem_of(N_q, recorded_whole(&rows, "NK"), heads, recorded_whole(&rows, "KV"), true);
      Simulation run;
      must(simulate(&run, &p, planner_algorithm(&p), fresh_error()));
      const int64_t splits = run.plan.tiling.n_splits;
      assert_int_equal(recorded_whole(&rows, "ctas"), splits * heads * ((N_q + 63) / 64)); /* as the heuristic made */
      counted = (double)run.read_bytes + 4.0 * (double)(splits * heads * N_q);
      continue;
    }
    assert_near(recorded, counted, 5000);
    recorded = 0, n++;
  }
  assert_int_equal(n, 4);
}

/* Each CTA reads its cache once for four query heads, and 26 or 27 B more, which no rule explains. */
TEST(batches_of_decodes) {
  static RecordedRows rows;
  int n = 0;
  for (recorded_open(&rows, "counters/h100/serve/first.csv"); recorded_next(&rows);) {
    if (!recorded_is(&rows, "kind", "decodebatch")) continue;
    const char *text = recorded_is(&rows, "lens", "onelong") ? "65536,256x63" : "2048x64";
    Lengths *lengths = lengths_read(ALL_OF(text), "t", fresh_error());
    assert_non_null(lengths);
    const Problem p = problem_of(1, 0, 32, 8, false);
    BatchRun run;
    must(batch_run(&run, &p, lengths, BATCH_PACKED, schedule_find("fa2"), &h100, fresh_error()));
    const double counted = (double)run.read_bytes, recorded = recorded_number(&rows, "boundary_read_bytes");
    assert_true(recorded >= counted && recorded < counted + 28 * (double)run.ctas);
    free(lengths);
    n++;
  }
  assert_int_equal(n, 2);
}

GROUP(load, NULL)
