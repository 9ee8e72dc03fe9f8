/* The L2 of l2_run.h against laws; test_own_l2.c has a slow LRU that is searched for every access. */
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"
#include "tests/support/l2_run_case.h"

/* In time and in step: what is asked for is the schedule's traffic, HBM
 * delivers every input at least once, all that is stored is written to HBM or still there, and a larger L2 never reads
 * more (in step, LRU). */
TEST(laws) {
  static const char *const NAMES[] = {"fa1", "fa2-split", "standard", "fa2"};
  Rand r = {8};
  for (int round = 0; round < 120 / ONE_OF; round++) {
    const char *name = NAMES[round % 4];
    const int64_t heads = rand_in(&r, 1, 5), N = 16 * rand_in(&r, 1, 24),
                  splits = round % 4 == 1 ? rand_in(&r, 1, 7) : 1;
    const Case c = make_for(name, (Shape){.heads = heads, .N_q = N, .d = 32, .causal = rand_in(&r, 0, 1)},
                            (Tiling){.B_r = 16, .B_c = 16, .n_splits = splits},
                            (LaunchConfig){.ctas_per_sm = rand_in(&r, 1, 2)}, &SMALL);
    const double once = 2.0 * 32 * (double)(N * heads), all = (double)(N / 16);
    Traffic traffic = {0};
    bool overflow = false;
    schedule_traffic(c.schedule, &c.plan, &traffic, &overflow);
    double asked = (double)heads * (double)traffic_read_bytes(&traffic, &overflow);
    /* Q and K for each tile; S twice, P once for each block of d (two), V for each row block */
    if (strcmp(name, "standard") == 0)
      asked = (double)heads * (2 * all * all * 16 * 64 + 4 * (double)N * (double)N * 2 + all * (double)N * 64);
    double before = INFINITY;
    for (int64_t l2 = 64 << 10; l2 <= 4 << 20; l2 *= 4) {
      for (int in_step = 0; in_step < 2; in_step++) {
        const L2Run t =
            run(&c, (L2RunConfig){.l2_bytes = l2, .l2_partitions = 1 + (round / 4 & 1), .in_step = in_step});
        assert_near(t.read_bytes, asked, 1e-6 * asked);
        assert_true(l2_run_hit_rate(&t) >= 0 && l2_run_hit_rate(&t) <= 1 && (round / 4 & 1 || t.fabric_bytes == 0));
        assert_true(t.write_bytes == (double)heads * (double)traffic_write_bytes(&traffic, &overflow));
        assert_true(t.hbm_read_bytes >= (1 - 1e-9) * 3 * once);
        assert_true(t.l2_read_bytes <= (1 + 1e-9) * t.read_bytes && t.own_miss_bytes >= 0);
        assert_true(t.hbm_write_bytes + t.left_dirty_bytes >= (1 - 1e-9) * once &&
                    t.hbm_write_bytes + t.left_dirty_bytes <= (1 + 1e-9) * t.write_bytes);
        assert_true(t.simulated == 1 ||
                    strcmp(name, "standard") == 0); /* whose heads are alike: two and more are walked */
        if (!in_step || (round / 4 & 1)) continue;
        assert_true(t.hbm_read_bytes <= (1 + 1e-9) * before);
        before = t.hbm_read_bytes;
      }
    }
    const L2Run t = run(&c, (L2RunConfig){.l2_bytes = 256 << 20, .l2_partitions = 2});
    assert_near(t.hbm_read_bytes, 3 * once, 1e-6 * once); /* all of it fits */
    const L2Run flushed = run(&c, (L2RunConfig){.l2_bytes = 256 << 20, .l2_partitions = 2, .profiled = true});
    const double between = strcmp(name, "standard") == 0 ? (double)heads * 4 * (double)N * (double)N /* S and P */
                           : splits > 1                  ? (double)(heads * N * splits) * (32 * 4 + 4)
                                                         : 0; /* partial O and log-sum-exp */
    assert_near(flushed.hbm_read_bytes - 3 * once, between, 1e-6 * (once + between));
  }
}
