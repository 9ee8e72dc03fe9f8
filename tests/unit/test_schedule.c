/* Loads of a block against the events, and what is refused. Events against the papers' loops,
 * pair by pair: test_programs.c; every shipped program walked, counted and sought: test_shipped.c. */
#include "tests/support/test.h"
#include "sim/algorithms/schedule.h"
#include "tests/support/implied.h"
#include "tests/support/random_plan.h"

/* Loads of each block and stores of O, counted in arrays, against the closed forms of `loads`. */
TEST(loads_per_block_are_what_the_events_show) {
  Rand r = {77};
  for (int n = 0; n < 4000; n++) {
    const Plan plan = random_plan(&r, (Dtype)rand_in(&r, 0, DTYPE_COUNT - 1));
    const Schedule *s = SCHEDULES[n % N_SCHEDULES];
    int64_t loads[IMPLIED_COUNT][MAX_N] = {{0}}, stores_of_O[MAX_N] = {0};
    Cursor c = {0};
    Event e;
    while (schedule_next(s, &plan, &c, &e)) {
      const bool by_column = e.tensor == IMPLIED_K || e.tensor == IMPLIED_V;
      if (e.kind == EVENT_LOAD) loads[e.tensor][by_column ? e.j : e.i]++;
      if (e.kind == EVENT_STORE && e.tensor == IMPLIED_O) stores_of_O[e.i]++;
    }
    int64_t most[IMPLIED_COUNT] = {0};
    for (int t = 0; t < IMPLIED_COUNT; t++)
      for (int b = 0; b < MAX_N; b++)
        if (loads[t][b] > most[t]) most[t] = loads[t][b];
    const LoadsPerBlock want = schedule_loads(s, &plan);
    assert_int_equal(most[IMPLIED_Q], want.of[IMPLIED_Q]);
    assert_int_equal(most[IMPLIED_K], want.of[IMPLIED_K]);
    assert_int_equal(most[IMPLIED_V], want.of[IMPLIED_V]);
    if (strcmp(s->name, "fa2") == 0 || strcmp(s->name, "standard") == 0)
      for (int64_t i = 0; i < plan.T_r; i++) assert_int_equal(stores_of_O[i], 1);
  }
}

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
