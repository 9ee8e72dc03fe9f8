/* Plans that are refused. */
#include "tests/support/test.h"
#include "sim/problem/plan.h"

TEST(bad_plans_are_refused_with_a_reason) {
  /* N, d, heads, KV heads, window, B_r, B_c, splits */
  static const char *const CASES[] = {"0 64 1 1 0 1 1 1 => sequence length N is 0",
                                      "-5 64 1 1 0 1 1 1 => at least 1",
                                      "8 0 1 1 0 1 1 1 => head dimension d is 0",
                                      "8 1048576 1 1 0 1 1 1 => at most 65536",
                                      "8 4 6 4 0 1 1 1 => must divide",
                                      "8 4 1 1 -1 1 1 1 => window is -1",
                                      "8 4 1 1 0 0 1 1 => B_r is 0",
                                      "8 4 1 1 0 1 2097152 1 => B_c is 2097152",
                                      "8 4 1 1 0 1 1 -2 => -2 splits"};
  EACH_SAYS (row, CASES) {
    Shape s = {.N_q = 0};
    Tiling t = {.B_r = 0};
    Plan plan, before;
    memset(&plan, 0x55, sizeof plan);
    before = plan;
    const char *at = row.text;
    int64_t *const fields[] = {&s.N_q, &s.d, &s.heads, &s.kv_heads, &s.window, &t.B_r, &t.B_c, &t.n_splits};
    EACH (f, fields) *fields[f] = strtoll(at, (char **)(uintptr_t)&at, 10);
    const bool large = s.d > 65536 || t.B_c > 1 << 20;
    must_refuse(plan_make(&plan, &s, &t, fresh_error()), large ? STATUS_TOO_LARGE : STATUS_BAD_REQUEST, row.says);
    assert_memory_equal(&plan, &before, sizeof plan); /* nothing half-written */
  }
}
