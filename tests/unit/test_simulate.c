/* The answers of `tilewalk sim`, worked out by hand: budgets, storage, defaults, the bound. */
#include "tests/support/test.h"
#include "sim/simulate.h"
#include "tests/support/implied.h"

static const int64_t KiB = 1024, MiB = 1024 * 1024;

static Simulation run(const char *algorithm, Shape shape, Tiling tiling) {
  const Problem problem = {.shape = shape, .tiling = tiling, .machine = machine_paper()};
  Simulation s;
  Error error = {0};
  assert_int_equal(simulate(&s, &problem, schedule_find(algorithm), &error), STATUS_OK);
  return s;
}

/* Five tiles of 128 x 128 fp16 are 32 KiB each; m and l are 128 x 2 x 4 B = 1 KiB. */
TEST(the_budget_of_128_by_128_is_161_KiB) {
  const Simulation s = run("fa2", (Shape){.N_q = 4096, .d = 128}, (Tiling){.B_r = 128, .B_c = 128});
  assert_int_equal((int)s.sram.of[IMPLIED_Q], 32 * KiB);
  assert_int_equal((int)s.sram.of[IMPLIED_STATS], 1 * KiB);
  assert_int_equal((int)s.sram.bytes, 161 * KiB);
  assert_true(s.fits);
}

/* A described kernel holds its own tiles, too large for the budget above, up to the last byte of SRAM and the last
 * register: 128 threads of 128 registers are 65,536 B. Other tiles are not its own. */
TEST(a_described_kernel_holds_its_tiles_to_the_last_byte) {
  static const struct {
    int64_t more_shared, more_registers, block;
    bool fits;
  } CASES[] = {{0, 0, 512, true}, {1, 0, 512, false}, {0, 1, 512, false}, {0, 0, 513, false}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    Problem problem = {.shape = {.N_q = 4096, .d = 128},
                       .tiling = {.B_r = CASES[i].block, .B_c = CASES[i].block},
                       .machine = machine_paper()};
    problem.machine.register_bytes = 65536;
    problem.launch = (LaunchConfig){.threads = 128,
                                    .block_q = 512,
                                    .block_k = 512,
                                    .shared_bytes = problem.machine.sram_bytes + CASES[i].more_shared,
                                    .registers_per_thread = 128 + CASES[i].more_registers};
    Simulation s;
    Error error = {0};
    assert_int_equal(simulate(&s, &problem, schedule_find("fa2"), &error), STATUS_OK);
    if (s.fits != CASES[i].fits) fail_msg("%zu", i);
  }
}

/* Q, K and V lie in SRAM, 96 KiB; S and O in fp32, 64 KiB each, and 8 B of every row in registers, to the last byte. */
TEST(registers_hold_accumulators_and_statistics) {
  Machine m = machine_paper();
  Shape shape = {.N_q = 4096, .d = 128};
  assert_int_equal(shape_complete(&shape, NULL), STATUS_OK);
  m.sram_bytes = 96 * KiB;
  m.register_bytes = 2 * 64 * KiB + 128 * 8;
  assert_int_equal(simulation_held(&m, schedule_find("fa2"), 128, 128, &shape), HELD_REGISTERS);
  m.register_bytes--;
  assert_int_equal(simulation_held(&m, schedule_find("fa2"), 128, 128, &shape), HELD_NOWHERE);
}

TEST(the_default_block_is_the_largest_power_of_two_that_fits) {
  assert_int_equal(run("fa2", (Shape){.N_q = 4096, .d = 128}, (Tiling){0}).plan.tiling.B_r, 128);
  /* d = 256: 2 B^2 + 2056 B <= 196,608 holds to B = 88 */
  assert_int_equal(run("fa2", (Shape){.N_q = 4096, .d = 256}, (Tiling){0}).plan.tiling.B_c, 64);
  /* d = 65,536: one row of Q, K, V, O alone is 512 KiB: no block fits, one row is the least */
  const Simulation s = run("fa2", (Shape){.N_q = 16, .d = 65536}, (Tiling){0});
  assert_int_equal(s.plan.tiling.B_r, 1);
  assert_int_equal(s.max_block, 0);
  assert_false(s.fits);
}

/* N = 32K, d = 128, fp16: Q, K, V, O are 8 MiB each; S and P are 2 GiB each. 8 query heads share 2 KV heads. */
TEST(storage_counts_each_tensor_once) {
  Simulation s = run("standard", (Shape){.N_q = 32768, .d = 128}, (Tiling){0});
  assert_true(s.inputs_bytes == (Wide)(24 * MiB) && s.outputs_bytes == (Wide)(8 * MiB));
  assert_true(s.intermediates_bytes == (Wide)(4096 * MiB));
  s = run("fa1", (Shape){.N_q = 32768, .d = 128}, (Tiling){0});
  assert_true(s.intermediates_bytes == 32768 * 8);
  s = run("fa2", (Shape){.N_q = 32768, .d = 128, .heads = 8, .kv_heads = 2, .batch = 3}, (Tiling){.lse = true});
  assert_true(s.intermediates_bytes == 0);
  assert_true(s.inputs_bytes == (Wide)(3 * (8 + 2 * 2) * 8 * MiB));
  assert_true(s.outputs_bytes == (Wide)(3 * 8 * (8 * MiB + 32768 * 4)));
}

/* One query over 64 key tiles on 108 SMs. s splits fill s / 108 of one wave, so the best is the most that divides the
 * tiles differently, s = 64; 85 % of that is 54.4; between 33 and 63 splits a CTA still has two tiles, so 64 it is. */
TEST(decode_splits_until_the_machine_is_full) {
  assert_int_equal(split_choose(1, 108, 64), 64);
  assert_int_equal(split_choose(100, 108, 64), 1); /* 100 CTAs fill 80 % of 108 SMs already */
  const Simulation s = run("fa2-split", (Shape){.N_q = 1, .N_k = 8192, .d = 128}, (Tiling){.B_r = 64, .B_c = 128});
  assert_int_equal(s.plan.tiling.n_splits, 64);
  /* partial O in fp32 and one log-sum-exp per split, written and read back */
  assert_true(s.traffic.write[IMPLIED_O] == 64 * 128 * 4 + 128 * 2);
  assert_true(s.traffic.read[IMPLIED_STATS] == 64 * 4);
  assert_true(s.intermediates_bytes == 64 * (128 * 4 + 4));
}

/* One query over 32K keys with a window of 127 before it: 128 keys of K and V, and a row of Q and O, 256 B each. The
 * bound on time asks HBM for no more. */
TEST(a_window_needs_the_keys_in_it_alone) {
  const Shape shape = {.N_q = 1, .N_k = 32768, .d = 128, .sided = true, .left = 127, .right = 0};
  const Simulation s = run("fa2", shape, (Tiling){.B_r = 64, .B_c = 128});
  assert_true(simulation_needed_bytes(&s.plan.shape) == (2 * 128 + 2) * 256);
  assert_true(lower_bound_bytes(&s.plan.shape, 192 * 1024) == (2 * 128 + 2) * 256);
  const Gpu gpu = {.l2_bytes = 1 << 20};
  assert_true(simulation_work(&s, &gpu).hbm_bytes == (2 * 128 + 1) * 256); /* O fits L2 */
  assert_true(simulation_work(&s, &gpu).l2_bytes == (2 * 128 + 2) * 256);
}

/* 3 heads of 256 causal queries in rows of 64, keys in tiles of 128, 5 SMs. In whole tiles rows have 256, 256, 128 and
 * 128 keys: of the six longest, some SM has two. Cut at the mask they have 256, 192, 128 and 64, and two of 192 are
 * less than a fifth of all. */
TEST(the_busiest_sm) {
  static const Shape SHAPES[] = {{.N_q = 256, .d = 64, .heads = 3, .causal = true},
                                 {.N_q = 256, .d = 64, .heads = 3, .sided = true, .left = -1, .right = 0}};
  const Gpu gpu = {.l2_bytes = 1 << 20, .n_sm = 5};
  for (int k = 0; k < 4; k++) {
    Simulation s = run("fa2", SHAPES[k / 2], (Tiling){.B_r = 64, .B_c = 128});
    s.config.clips_k = k % 2;
    const double keys = k % 2 ? 3 * (256 + 256 + 128 + 128) / 5.0 : 2 * 256;
    assert_true(simulation_own_work(&s, &gpu).busiest_flops == 64 * keys * 4 * 64); /* two products of d = 64 */
    const Simulation split = run("fa2-split", SHAPES[k / 2], (Tiling){.B_r = 64, .B_c = 128, .n_splits = 1});
    const Gpu many = {.l2_bytes = 1 << 20, .n_sm = 1024}; /* a mask may leave a CTA nothing: each has its share */
    assert_true(simulation_own_work(&split, &many).busiest_flops == (double)split.traffic.flops / 1024);
  }
}

TEST(the_side_of_a_window_that_is_wrong_is_named) {
  static const struct {
    int64_t left, right;
    const char *says;
  } CASES[] = {{-2, 7, " is -2 keys"}, {3, -5, " is -5 keys"}, {-1, -3, " is -3 keys"}};
  for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
    Shape shape = {.N_q = 64, .d = 64, .sided = true, .left = CASES[k].left, .right = CASES[k].right};
    Error error = {0};
    assert_int_equal(shape_complete(&shape, &error), STATUS_BAD_REQUEST);
    assert_non_null(strstr(error.message, CASES[k].says));
  }
}

TEST(totals_beyond_128_bits_are_refused) {
  const Problem problem = {
      .shape = {.N_q = SHAPE_MAX_N, .d = SHAPE_MAX_D, .heads = SHAPE_MAX_HEADS, .batch = SHAPE_MAX_BATCH},
      .machine = machine_paper()};
  Simulation s, before;
  memset(&s, 0x33, sizeof s);
  before = s;
  Error error = {0};
  assert_int_equal(simulate(&s, &problem, schedule_find("fa2"), &error), STATUS_TOO_LARGE);
  assert_non_null(strstr(error.message, "128 bits"));
  assert_memory_equal(&s, &before, sizeof s);
}
