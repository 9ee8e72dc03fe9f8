/* What of `tilewalk sim` no option shows to the last byte; tests/commands/sim.txt has the rest by hand. */
#include "tests/support/test.h"
#include "sim/simulate.h"

static const int64_t KiB = 1024;

static Simulation run(const char *algorithm, Shape shape, Tiling tiling) {
  const Problem problem = {.shape = shape, .tiling = tiling, .machine = machine_paper()};
  Simulation s;
  must(simulate(&s, &problem, schedule_find(algorithm), fresh_error()));
  return s;
}

/* A described kernel holds its own tiles, larger than the budget of any, up to the last byte of SRAM and the last
 * register: 128 threads of 128 registers are 65,536 B. Other tiles are not its own. */
TEST(a_described_kernel_holds_its_tiles_to_the_last_byte) {
  static const struct {
    int64_t more_shared, more_registers, block;
    bool fits;
  } CASES[] = {{0, 0, 512, true}, {1, 0, 512, false}, {0, 1, 512, false}, {0, 0, 513, false}};
  EACH (i, CASES) {
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
    must(simulate(&s, &problem, schedule_find("fa2"), fresh_error()));
    assert_true(s.fits == CASES[i].fits);
  }
}

/* Q, K and V lie in SRAM, 96 KiB; S and O in fp32, 64 KiB each, and 8 B of every row in registers, to the last byte. */
TEST(registers_hold_accumulators_and_statistics) {
  Machine m = machine_paper();
  Shape shape = {.N_q = 4096, .d = 128};
  must(shape_complete(&shape, NULL));
  m.sram_bytes = 96 * KiB;
  m.register_bytes = 2 * 64 * KiB + 128 * 8;
  assert_int_equal(simulation_held(&m, schedule_find("fa2"), 128, 128, &shape), HELD_REGISTERS);
  m.register_bytes--;
  assert_int_equal(simulation_held(&m, schedule_find("fa2"), 128, 128, &shape), HELD_NOWHERE);
}

/* 3 heads of 256 causal queries in rows of 64, keys in tiles of 128, 5 SMs. In whole tiles rows have 256, 256, 128 and
 * 128 keys: of the six longest, some SM has two. Cut at the mask they have 256, 192, 128 and 64, and two of 192 are
 * less than a fifth of all. */
TEST(the_busiest_sm) {
  static const Shape SHAPES[] = {{.N_q = 256, .d = 64, .heads = 3, .causal = true},
                                 {.N_q = 256, .d = 64, .heads = 3, .sided = true, .left = -1, .right = 0}};
  const Gpu gpu = {.l2_bytes = 1 << 20, .n_sm = 5}, many = {.l2_bytes = 1 << 20, .n_sm = 1024};
  for (int k = 0; k < 4; k++) {
    Simulation s = run("fa2", SHAPES[k / 2], (Tiling){.B_r = 64, .B_c = 128});
    s.config.clips_k = k % 2;
    const double keys = k % 2 ? 3 * (256 + 256 + 128 + 128) / 5.0 : 2 * 256;
    assert_true(simulation_own_work(&s, &gpu).busiest_flops == 64 * keys * 4 * 64); /* two products of d = 64 */
    /* a mask may leave a CTA nothing: each has its share */
    const Simulation split = run("fa2-split", SHAPES[k / 2], (Tiling){.B_r = 64, .B_c = 128, .n_splits = 1});
    assert_true(simulation_own_work(&split, &many).busiest_flops == (double)split.traffic.flops / 1024);
  }
  /* without a mask, of 24 CTAs on 1024 SMs: 64 rows of one tile of 128 keys */
  const Shape all = {.N_q = 256, .d = 64, .heads = 3};
  const Simulation halves = run("fa2-split", all, (Tiling){.B_r = 64, .B_c = 128, .n_splits = 2});
  assert_true(simulation_own_work(&halves, &many).busiest_flops == 64 * 128 * 4 * 64);
}

TEST(the_side_of_a_window_that_is_wrong_is_named) {
  static const struct {
    int64_t left, right;
    const char *says;
  } CASES[] = {{-2, 7, " is -2 keys"}, {3, -5, " is -5 keys"}, {-1, -3, " is -3 keys"}};
  EACH (k, CASES) {
    Shape shape = {.N_q = 64, .d = 64, .sided = true, .left = CASES[k].left, .right = CASES[k].right};
    must_refuse(shape_complete(&shape, fresh_error()), STATUS_BAD_REQUEST, CASES[k].says);
  }
}
