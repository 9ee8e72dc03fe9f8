/* Many CTAs over L2: cases by hand. test_own_l2.c has a slow, obvious LRU;
 * tests/recorded/test_counters.c the counters of an H200. */

#ifdef _OPENMP
#include <omp.h>
#endif

#include "tests/support/alloc_fail.h"
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"
#include "tests/support/l2_run_case.h"

/* As many SMs as an H200 has, and its L2. */
static const Gpu H200 = {.name = "132 SMs", .n_sm = 132, .warp_size = 32};
static const L2RunConfig L2 = {.l2_bytes = 60 << 20, .l2_partitions = 2, .flops_per_cycle = 4096, .exps_per_cycle = 16};

/* Those who join a request have their data with it. Where a kernel waits for its data that brings its CTAs together
 * again, tile for tile; where it asks ahead, what they gain is hidden behind the tile before. */
TEST(waiting_keeps_ctas_together) {
  double reach[2];
  for (int waits = 0; waits < 2; waits++) {
    const Case c =
        make((Shape){.N_q = 8192, .d = 64}, 64, (LaunchConfig){.waits = waits, .percent_of_peak = 10}, &H200);
    const L2Run t = run(&c, L2);
    reach[waits] = t.l2_read_bytes / t.read_bytes;
  }
  assert_true(reach[1] < 0.32 && reach[0] > 1.15 * reach[1]);
}

/* Each walk begins with another GPC, and the mean lies among what they give; but under a profiler a launch of one wave
 * that writes little begins with the first. Four or eight heads, longest rows first: one or two waves of 132 CTAs. */
TEST(a_launch_begins_anywhere) {
  const LaunchConfig config = {.ctas_per_sm = 1, .rows = ROWS_LONGEST_FIRST};
  for (int waves = 1; waves <= 2; waves++) {
    const Case c = make((Shape){.heads = 4 * waves, .N_q = 2112, .d = 64, .causal = true}, 64, config, &H200);
    assert_int_equal(c.launch.n_waves, waves);
    L2RunConfig l2 = L2;
    l2.l2_bytes = 64 << 20, l2.l2_bytes_per_cycle = 4096, l2.hbm_bytes_per_cycle = 2048;
    const double not_told = run(&c, l2).fabric_bytes,
                 cold = 0.05 * 4 * waves * 2112 * 64 * 2; /* of O, which it puts back */
    l2.profiled = true;
    const double profiled = run(&c, l2).fabric_bytes - cold;
    if (waves == 2) assert_false(differs(profiled, not_told));
    l2.once = true;
    assert_true(run(&c, l2).fabric_bytes == not_told);
    l2.once = false;
    l2.profiled = false;
    double least = INFINITY, most = 0, sum = 0;
    for (l2.first_gpc = 1; l2.first_gpc <= PLACEMENT_H200.n_gpcs; l2.first_gpc++) {
      const double told = run(&c, l2).fabric_bytes;
      if (waves == 1 && l2.first_gpc == 1) assert_false(differs(told, profiled));
      least = fmin(least, told), most = fmax(most, told), sum += told;
    }
    assert_true(most > 1.005 * least);
    assert_near(not_told / (sum / PLACEMENT_H200.n_gpcs), 1, 0.1 * (most / least - 1));
  }
}

/* A tile in rounds is the same bytes: what is asked for, and what a large L2 reads, to the byte, whatever the rounds.
 * Under a load of its own each round waits: a CTA alone on the machine takes as much longer. */
TEST(rounds_are_parts_of_tiles) {
  Rand r = {9};
  for (int i = 0; i < 20 / ONE_OF; i++) {
    const Shape shape = {
        .heads = rand_in(&r, 1, 5), .N_q = 16 * rand_in(&r, 1, 24), .d = 32, .causal = rand_in(&r, 0, 1)};
    LaunchConfig config = {.waits = true, .walk = (LaunchWalk)rand_in(&r, 0, 1), .ctas_per_sm = rand_in(&r, 1, 3)};
    L2Run whole = {0};
    for (int64_t bytes = 0; bytes <= 4096; bytes += 512 * ONE_OF) { /* a tile of K and V: 2 KiB; 0: all of it */
      config.round_bytes = bytes;
      const Case c = make(shape, 16, config, &SMALL);
      const L2Run t = run(&c, (L2RunConfig){.l2_bytes = 4 << 20, .l2_partitions = 2, .flops_per_cycle = 100});
      if (bytes == 0) whole = t;
      assert_true(t.read_bytes == whole.read_bytes && t.write_bytes == whole.write_bytes && t.simulated == 1);
      assert_false(differs(t.hbm_read_bytes, whole.hbm_read_bytes));
      if (c.launch.n_pieces <= c.launch.n_slots)
        assert_false(differs(t.fabric_bytes, whole.fabric_bytes)); /* else a side has other pieces */
    }
  }
  double cycles[2];
  for (int rounds = 1; rounds <= 2; rounds++) {
    const Case c = make((Shape){.N_q = 16, .N_k = 16 * 200, .d = 32}, 16,
                        (LaunchConfig){.waits = true, .round_bytes = 2048 / rounds}, &SMALL);
    cycles[rounds - 1] = run(&c, (L2RunConfig){.l2_bytes = 4 << 20, .l2_partitions = 2, .flops_per_cycle = 1}).cycles;
  }
  /* clock.h: 625 - 210 * 15 / 16 cycles more for 1 KiB than from L2, 625 - 210 * 7 / 8 for 2, and 200 across; what is
   * taken off as hidden is a hit's wait, for each round */
  assert_near((cycles[1] - cycles[0]) / 200, 2 * (428.125 + 200) - (441.25 + 200), 30);
}

/* A block of Q that is read again with every tile stays in L2 and leaves less room for K and V; what is read of it is
 * counted elsewhere. */
TEST(reloaded_q_takes_room) {
  const L2RunConfig l2 = {.l2_bytes = 1 << 20 /* room for K and V of a head on either side, no more */,
                          .l2_partitions = 2};
  L2Run r[2];
  for (int reloads = 0; reloads < 2; reloads++) {
    const Case c = make((Shape){.heads = 3, .N_q = 2048, .d = 64, .causal = true}, 32,
                        (LaunchConfig){.ctas_per_sm = 2, .reloads_q = reloads}, &SMALL);
    r[reloads] = run(&c, l2);
  }
  assert_true(r[1].read_bytes == r[0].read_bytes && r[1].hbm_read_bytes > 1.05 * r[0].hbm_read_bytes &&
              r[1].fabric_bytes > 1.05 * r[0].fabric_bytes);
}

/* Tiles merged by eight: a CTA that computes a part of its first granule takes the time of that part, or those that
 * begin near each other would go in step and find what they would not. Short rows first, from the last tile to the
 * first: each finds what the one before it read, if L2 holds all that lies between them (a side in one set). */
TEST(merged_tiles_take_their_own_time) {
  const Case c =
      make_for("fa2", (Shape){.heads = 4, .N_q = 16384, .d = 128, .causal = true}, (Tiling){.B_r = 64, .B_c = 32},
               (LaunchConfig){.ctas_per_sm = 2, .walk = WALK_REVERSED, .rows = ROWS_ASCENDING}, &H200);
  L2RunConfig config = {.l2_bytes = 15 << 20,
                        .l2_partitions = 2,
                        .flops_per_cycle = 1024,
                        .exps_per_cycle = 16,
                        .side_ways = -1,
                        .first_gpc = 1};
  double fine_bytes = 0, coarse_bytes = 0; /* launches have their luck */
  for (config.seed = 0; config.seed < 4; config.seed++) {
    config.max_steps = 1 << 20;
    const L2Run fine = run(&c, config);
    config.max_steps = 1 << 14;
    const L2Run coarse = run(&c, config);
    assert_near(coarse.cycles / fine.cycles, 1, 0.02);
    fine_bytes += fine.hbm_read_bytes, coarse_bytes += coarse.hbm_read_bytes;
  }
  assert_near(coarse_bytes / fine_bytes, 1, 0.075);
}

/* How far apart a kernel's description says that it sets clocks is what the caller could have said of the card: the
 * fastest GPC 2 % ahead of the slowest, the others in proportion. What was said of the card counts. */
TEST(clocks_are_as_told) {
  const Shape shape = {.heads = 4, .N_q = 8448, .d = 64};
  const Case plain = make(shape, 64, (LaunchConfig){.ctas_per_sm = 1}, &H200);
  const Case busy = make(shape, 64, (LaunchConfig){.ctas_per_sm = 1, .clocks_permille = 20}, &H200);
  L2RunConfig l2 = L2;
  l2.l2_bytes = 8 << 20, l2.l2_bytes_per_cycle = 4096, l2.hbm_bytes_per_cycle = 2048;
  const L2Run usual = run(&plain, l2), apart = run(&busy, l2);
  Placement told = PLACEMENT_H200;
  l2.placement = &told;
  for (int g = 0; g < PLACEMENT_GPCS_MAX; g++)
    told.clocks_ppm[g] = (int32_t)(PLACEMENT_BUSY_CLOCKS_PPM[g] * 20000.0 / (14643 + 8123));
  assert_true(told.clocks_ppm[6] - told.clocks_ppm[7] > 19990 && told.clocks_ppm[6] - told.clocks_ppm[7] <= 20000);
  const L2Run as_told = run(&plain, l2), both = run(&busy, l2);
  assert_memory_equal(&as_told, &apart, sizeof apart);
  assert_memory_equal(&both, &as_told, sizeof both);
  assert_memory_not_equal(&apart, &usual, sizeof apart);
}

/* Heads that both sides of L2 read: K and V cross once each way for the other half, half of Q, and half of O and a
 * little more (hierarchy.h). CTAs that pull their work come to it as they start, often all of one side first: then two
 * heads of four are read by one side alone, and the two others by the other. In the order of the launch, which begins
 * with any GPC, the 32 CTAs of a head are neighbours: by how many heads that is, follows from the sides of GPCs
 * (placement.h): two where it begins with any but the second and the third, then one and none. */
TEST(who_pulls_comes_as_it_starts) {
  const Shape shape = {.heads = 4, .N_q = 4096, .d = 64};
  const double tensor = 4 * 4096 * 64 * 2, all = 3 * tensor, of_head = tensor / 4;
  L2Run t[2];
  for (int pulls = 0; pulls < 2; pulls++) {
    const Case c =
        make(shape, 128, (LaunchConfig){.ctas_per_sm = 1, .persistent = true, .pull_bytes = 32 * pulls}, &H200);
    t[pulls] = run(&c, L2);
  }
  assert_true(t[0].read_bytes == t[1].read_bytes && t[0].hbm_read_bytes == t[1].hbm_read_bytes);
  assert_near(t[0].fabric_bytes / (all - (6 * 2 + 1 + 0) / 8.0 * of_head), 1, 0.005);
  assert_true(t[1].fabric_bytes < all - of_head && t[1].fabric_bytes > all - 2.2 * of_head);
}

/* Every source of difference between CTAs: without them all are equally fast. */
static Refinements refinements_of_speed(void) {
  static const Refinement SPEED[] = {REFINEMENT_WAIT_SPREAD, REFINEMENT_LASTING_SPREAD, REFINEMENT_WORK_SPREAD,
                                     REFINEMENT_STEP_SPREAD, REFINEMENT_BUSY_SPREAD,    REFINEMENT_FIRST_CODE,
                                     REFINEMENT_SIDES_APART, REFINEMENT_GPC_CLOCKS,     REFINEMENT_SLOTS,
                                     REFINEMENT_LAG,         REFINEMENT_MISSED_TURNS,   REFINEMENT_UNLIKE_SPREAD};
  Refinements set = 0;
  EACH (i, SPEED) set |= refinement_bit(SPEED[i]);
  return set;
}

/* One CTA on an SM takes what it is said to take alone; two share the rate that the kernel reaches. */
TEST(a_cta_alone_takes_its_own_time) {
  const Gpu gpu = {.name = "one", .n_sm = 1, .warp_size = 32};
  L2RunConfig l2 = L2;
  l2.without = refinements_of_speed();
  const double tiles = 64, products = 4.0 * 128 * 128 * 64 / 4096;
  for (int n_ctas = 1; n_ctas <= 2; n_ctas++)
    for (int permille = 0; permille <= 250; permille += 250) {
      const Case c = make((Shape){.N_q = 128 * n_ctas, .N_k = 128 * 64, .d = 64}, 128,
                          (LaunchConfig){.ctas_per_sm = 2, .percent_of_peak = 40, .alone_permille = permille}, &gpu);
      const double expected = n_ctas == 1 && permille
                                  ? 1000 * products / permille
                                  : n_ctas * products / 0.4; /* more than products and exponentials in turn */
      const double cycles = run(&c, l2).cycles;
      assert_near(cycles / (tiles * expected), 1, 0.03);
    }
}

/* What L2 hands out takes its time there: of 4 MiB a side at 32 bytes a cycle each. */
TEST(a_slow_l2_is_waited_for) {
  const Case c = make((Shape){.heads = 4, .N_q = 4096, .d = 64}, 64, (LaunchConfig){.ctas_per_sm = 1}, &H200);
  L2RunConfig l2 = L2;
  l2.l2_bytes_per_cycle = 64;
  const L2Run t = run(&c, l2);
  const double least = t.l2_read_bytes / 64;
  assert_true(t.cycles > least && t.cycles < 1.5 * least);
}

/* Split keys are walked as often as there is time for, too: other numbers drawn change little. */
TEST(launches_of_split_keys_are_means) {
  const Case c = make_for("fa2-split", (Shape){.N_q = 2048, .d = 64}, (Tiling){.B_r = 64, .B_c = 64, .n_splits = 4},
                          (LaunchConfig){.ctas_per_sm = 1}, &H200);
  L2RunConfig l2 = L2;
  const double first = run(&c, l2).l2_read_bytes;
  for (l2.seed = 1000; l2.seed <= 4000; l2.seed += 1000) {
    const double other = run(&c, l2).l2_read_bytes;
    assert_near(other / first, 1, 0.01);
  }
}

/* A ragged last granule makes all of them a little smaller: row blocks as large as a tile of K stay in one part. */
TEST(a_ragged_granule_parts_no_row_block) {
  for (int64_t n_tiles = 61; n_tiles <= 64; n_tiles++) {
    const Case c = make((Shape){.N_q = 64 * n_tiles, .d = 64}, 64, (LaunchConfig){.ctas_per_sm = 1}, &SMALL);
    Stream stream;
    assert_true(stream_make(&stream, c.schedule, &c.plan, &c.launch, 4, 1));
    assert_int_equal(stream.kinds[STREAM_Q].n_tiles, 1);
    assert_int_equal(stream.kinds[STREAM_O].n_tiles, 1);
  }
}

/* Where only some heads are walked the rest must come out as if they were: within 1 % in step; in time, where a few
 * hundred pieces have their luck, within 2 %. */
TEST(going_on_is_close) {
  for (int round = 0; round < 4; round++) {
    const Case c = make((Shape){.heads = 64, .N_q = 2048, .d = 64, .causal = round & 1}, 32,
                        (LaunchConfig){.ctas_per_sm = 2, .rows = ROWS_LONGEST_FIRST}, &SMALL);
    const L2RunConfig config = {.l2_bytes = 400 << 10, .l2_partitions = 2, .in_step = round < 2};
    const double within = config.in_step ? 0.01 : 0.02;
    L2RunConfig few = config;
    few.max_steps = 12840; /* about 15 heads of 64 */
    const L2Run all = run(&c, config), some = run(&c, few);
    assert_true(all.simulated == 1 && some.simulated < 0.5);
    assert_near(some.hbm_read_bytes / all.hbm_read_bytes, 1, within);
    assert_near(some.fabric_bytes / all.fabric_bytes, 1, within);
    assert_near(some.read_bytes / all.read_bytes, 1, within);
  }
}

/* Of what is stored, where the part that is walked leaves all of it in L2: the rest pushes it out, O once, and
 * registers spilled for row blocks more than once. */
TEST(what_is_stored_goes_on) {
  const Shape shape = {.heads = 64, .N_q = 2048, .d = 64};
  for (int spills = 0; spills < 2; spills++) {
    const Case c = make(shape, 32, (LaunchConfig){.ctas_per_sm = 2, .spills.block_bytes = spills * 1024}, &SMALL);
    const double once = 2.0 * 64 * 2048 * 64;
    for (int64_t l2 = 1 << 20; l2 <= 64 << 20; l2 *= ONE_OF > 1 ? 16 : 4) {
      const L2RunConfig config = {.l2_bytes = l2, .l2_partitions = 2};
      L2RunConfig few = config;
      few.max_steps = 12840; /* about 6 heads of 64 */
      const L2Run all = run(&c, config), some = run(&c, few);
      const double stored = all.hbm_write_bytes + all.left_dirty_bytes,
                   some_stored = some.hbm_write_bytes + some.left_dirty_bytes;
      assert_true(all.simulated == 1 && some.simulated < 0.5);
      assert_true(spills ? stored > once && stored < 1.25 * once : stored == once);
      assert_near(some_stored / stored, 1, 0.02);
    }
  }
}

/* A launch is walked many times, by as many cores as there are; to the last bit the result is that of one. */
TEST(cores_change_nothing) {
#ifdef _OPENMP
  const Case c = make((Shape){.N_q = 4096, .d = 64}, 128, (LaunchConfig){0}, &H200);
  L2Run results[3];
  for (int threads = 1; threads <= 3; threads++) {
    omp_set_num_threads(threads);
    results[threads - 1] = run(&c, L2);
    assert_memory_equal(&results[threads - 1], &results[0], sizeof(L2Run));
  }
  omp_set_num_threads(omp_get_num_procs());
#else
  skip();
#endif
}

/* ---- Refusals ------------------------------------------------------------------------------------- */

TEST(impossible_requests) {
  const Case c = make((Shape){.N_q = 64, .d = 32}, 16, (LaunchConfig){0}, &SMALL);
  const Case vast = make((Shape){.N_q = 1 << 28, .d = 32}, 16, (LaunchConfig){0}, &SMALL);
  const L2RunConfig three = {.l2_bytes = 1 << 20, .l2_partitions = 3}, two = {.l2_bytes = 1 << 20, .l2_partitions = 2};
  L2Run t = {.read_bytes = 77};
  must_refuse(l2_run(&t, c.schedule, &c.launch, &c.plan, &three, fresh_error()), STATUS_BAD_REQUEST, "1 or 2");
  assert_int_equal(l2_run(&t, vast.schedule, &vast.launch, &c.plan, &two, NULL), STATUS_BAD_REQUEST);
  assert_int_equal(l2_run(&t, vast.schedule, &vast.launch, &vast.plan, &two, NULL), STATUS_TOO_LARGE);
  assert_true(t.read_bytes == 77);
}

static Status small_run(void *context, Error *error) {
  const Case *c = context;
  const L2RunConfig two = {.l2_bytes = 1 << 20, .l2_partitions = 2};
  L2Run t;
  return l2_run(&t, c->schedule, &c->launch, &c->plan, &two, error);
}

/* Of a launch so long that it is walked twice: both walks may find no memory anywhere. */
TEST(no_memory) {
  Case c = make((Shape){.N_q = 4096, .d = 32}, 16, (LaunchConfig){0}, &SMALL);
  assert_int_equal(alloc_fail_each(small_run, &c),
                   2 * 10); /* slots, their places, who is at work on an SM; the clock, L2, CTAs, coalescers, a table
                               of times, SMs, who is on them */
}
