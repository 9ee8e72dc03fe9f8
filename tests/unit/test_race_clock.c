/* The race's clock of time: worked by hand where one unit binds, and a clock everywhere. */
#include "viz/scene/race_clock.h"

#include "tests/support/test.h"
#include "viz/request/request.h"
#include "viz/scene/narration.h"
#include "viz/scene/scene.h"
#include "viz/scene/snapshot.h"

static Stage open_race(const char *first, const char *second, Shape shape, int64_t block, const Gpu *gpu,
                       bool by_time) {
  Stage stage;
  Error error = {0};
  const StageConfig config = {
      .problem = {.shape = shape, .tiling = {.B_r = block, .B_c = block}, .machine = machine_paper()},
      .gpu = *gpu,
      .schedule = schedule_find(first),
      .rivals = {schedule_find(first), schedule_find(second)},
      .n_rivals = 2,
      .by_time = by_time};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  return stage;
}

static Status open_state(const char *state, Stage *stage, Error *error) {
  Request request = {0};
  const Status status = request_read(&request, state, false, error);
  return status ? status : request_stage(&request, false, 0, stage, error);
}

static Gpu paper(void) {
  Gpu gpu;
  gpu_paper(&gpu);
  return gpu;
}

/* N = 64, d = 16, fp16, blocks of 8: standard moves each matrix once a pass, 2 (4 N d + 4 N^2) = 40,960 bytes, and
 * fa2 2 N d for Q and O and 8 times K and V, 2 (2 + 16) N d = 36,864. Intensity is far below the ridge, so HBM's 1,555
 * GB/s bind at each step: its 128-byte tile of S takes 82 ps. */
TEST(test_hbm_binds) {
  const Gpu gpu = paper();
  Stage stage = open_race("standard", "fa2", (Shape){.N_q = 64, .d = 16}, 8, &gpu, true);
  Snapshot now;
  stage_snapshot(&stage, stage.n_steps, &now);
  assert_true(now.by_time);
  assert_true(fabs(now.runs[0].whole_s - 40960 / 1555e9) < 1e-15);
  assert_true(fabs(now.runs[1].whole_s - 36864 / 1555e9) < 1e-15);
  for (uint64_t step = 0; step <= stage.n_steps; step += 13) {
    stage_snapshot(&stage, step, &now);
    if (fabs(now.runs[0].time_s - (double)now.total_bytes / 1555e9) > 1e-15)
      fail_msg("step %d: %.4g s for %d bytes", (int)step, now.runs[0].time_s, (int)now.total_bytes);
  }
  stage_free(&stage);
}

/* N = 65,536, d = 128, blocks of 256: 65,536^2 x 4 x 128 FLOPs at 312 TFLOP/s take 7.05 ms, and 8.6 GB at 1,555 GB/s
 * 5.5 ms: products bind. standard has each of its three kernels wait for the slowest unit: two of products, 3.52 ms
 * each, or 8.6 GB of S or P, which takes 5.54 ms with Q and K; so 5.5, 11 and 5.5 ms. */
TEST(test_products_bind) {
  const Gpu gpu = paper();
  const double N = 65536, d = 128, S_bytes = 2 * N * N, Q_bytes = 2 * N * d;
  Stage stage = open_race("standard", "fa2", (Shape){.N_q = 65536, .d = 128}, 256, &gpu, true);
  Snapshot now;
  stage_snapshot(&stage, 0, &now);
  const double fa2_s = 4 * N * N * d / 312e12, standard_s = (4 * S_bytes + 4 * Q_bytes) / 1555e9;
  assert_true(fabs(now.runs[1].whole_s / fa2_s - 1) < 1e-9);
  assert_true(fabs(now.runs[0].whole_s / standard_s - 1) < 1e-9);
  stage_free(&stage);
}

/* One kernel on any machine takes what `sim` calls the least time. */
TEST(test_least_time) {
  Gpu gpu = paper();
  for (int n = 0; n < 12; n++) {
    const Shape shape = {.N_q = 64 << (n % 6), .d = n % 2 ? 64 : 128, .causal = n % 3 == 0, .heads = 1 + n % 4};
    const Problem problem = {.shape = shape, .tiling = {.B_r = 64, .B_c = 64}, .machine = machine_paper()};
    gpu.l2_bytes = n % 4 == 3 ? 40 << 20 : 0;
    gpu.l2_bytes_per_s = n % 4 == 3 ? 5e12 : 0;
    Simulation run;
    assert_int_equal(simulate(&run, &problem, schedule_find(n % 2 ? "fa1" : "fa2"), NULL), STATUS_OK);
    simulation_time(&run, &gpu);
    const double seconds = race_clock(&run, &gpu).whole_s;
    if (fabs(seconds / run.timing.least_s - 1) > 1e-9)
      fail_msg("case %d: %.6g s, and at least %.6g", n, seconds, run.timing.least_s);
  }
}

/* A clock never runs back, and a rival is as far as it gets in the time of the shown one. */
TEST(test_same_time) {
  const Gpu gpu = paper();
  static const char *const PAIRS[][2] = {{"standard", "fa2"}, {"fa1", "standard"}, {"fa2", "fa2-split"}};
  for (size_t k = 0; k < sizeof PAIRS / sizeof *PAIRS; k++) {
    Stage stage = open_race(PAIRS[k][0], PAIRS[k][1], (Shape){.N_q = 256, .d = 32, .causal = true}, 32, &gpu, true);
    double before = 0;
    for (uint64_t step = 0; step <= stage.n_steps; step += 7) {
      Snapshot now;
      stage_snapshot(&stage, step, &now);
      const double time_s = now.runs[0].time_s;
      const Simulation *rival = &stage.launches[1];
      assert_true(time_s >= before);
      before = time_s;
      const uint64_t at = now.runs[1].step;
      const RaceClock clock = race_clock(rival, &gpu);
      assert_true(race_clock_s(&clock, rival, &gpu, at) <= time_s);
      if (!now.runs[1].is_finished) assert_true(race_clock_s(&clock, rival, &gpu, at + 1) > time_s);
    }
    stage_free(&stage);
  }
}

/* The summary says which clock it was. */
TEST(test_words) {
  const Gpu gpu = paper();
  Narration said;
  Snapshot now;
  for (int by_time = 0; by_time < 2; by_time++) {
    Stage stage = open_race("standard", "fa2", (Shape){.N_q = 64, .d = 16}, 8, &gpu, by_time);
    stage_snapshot(&stage, stage.n_steps, &now);
    scene_narrate(SCENE_RACE, &now, NULL, &said);
    assert_string_equal(said.what, by_time ? "All are done: standard took 1.11x as long as fa2."
                                           : "All are done: standard moved 1.11x as much as fa2.");
    assert_string_equal(said.why, by_time ? "40 KiB through HBM against 36 KiB, for the same O."
                                          : "40 KiB against 36 KiB for the same O.");
    stage_free(&stage);
  }
}

/* Bytes of as many heads, by hand: N = 64, d = 16, fp16, tiles of 16 (512 B), causal. fa2 reads Q, and K and V for
 * 1 + 2 + 3 + 4 tiles, and writes O: 4 + 20 + 4 blocks are 14 KiB a head. fa2-split packs both heads: 8 row blocks in 4
 * parts of a tile; the 20 parts that are seen load Q, K and V, and all 32 write O and L in fp32, 1,088 B, and read
 * them: 30 + 34 + 34 + 4 = 102 KiB. A sink makes another O. */
TEST(test_unequal_heads) {
  static const struct {
    const char *state, *why, *describes; /* once it is done */
    int64_t heads;
  } ROWS[] = {{"algorithm=fa2-split,fa2 N=64 d=16 block=16 splits=4 heads=4 kv-heads=2 causal=1",
               "102 KiB against 28 KiB for the same O of 2 heads.",
               "It needs 28 KiB in all for 2 heads, 0.275x of what", 2},
              {"algorithm=fa2-split,fa2 N=64 d=16 block=16 heads=4 kv-heads=2 causal=1 pack-gqa=off", NULL,
               "It needs 14 KiB in all, ", 1},
              {"algorithm=sink,fa2 N=64 d=16 block=16 causal=1", "Their outputs differ, so their bytes have no ratio.",
               "It needs 14 KiB in all; its outputs are others than those of sink.", 1}};
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    Error error = {0};
    Stage stage;
    Snapshot now;
    Narration said;
    char text[8192];
    if (open_state(ROWS[k].state, &stage, &error)) fail_msg("%s: %s", ROWS[k].state, error.message);
    stage_snapshot(&stage, stage.n_steps, &now);
    scene_narrate(SCENE_RACE, &now, NULL, &said);
    assert_int_equal(now.race_heads, ROWS[k].heads);
    if (k == 2) /* Q, K, V and z in fp32: M is a part of the formula, which no line loads */
      assert_true(stage.run.inputs_bytes == 3 * 2048 + 64 * 4);
    if (ROWS[k].why) assert_string_equal(said.why, ROWS[k].why);
    snapshot_describe(&now, text, sizeof text);
    if (!strstr(text, ROWS[k].describes)) fail_msg("%s: %s", ROWS[k].state, text);
    stage_free(&stage);
  }
}

/* The row's statistics by the program's own names, and none where it has none. */
TEST(test_row_statistics) {
  static const struct {
    const char *state;
    int step;
    const char *has, *lacks;
  } ROWS[] = {{"algorithm=fa2 N=64 d=16 block=8", 20, "\nRow 4, tile 3: m ", "inf"},
              {"algorithm=two-pass N=64 d=16 block=8", 20, "\nRow 4, tile 4: l 11.328, m 1.2883", "inf"},
              {"algorithm=two-pass N=64 d=16 block=8", 300, "tile 6: L ", ", m "},
              {"algorithm=sigmoid N=64 d=16 block=8", 20, "Score tiles", "\nRow "}};
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    Error error = {0};
    Stage stage;
    Snapshot now;
    char text[8192];
    if (open_state(ROWS[k].state, &stage, &error)) fail_msg("%s: %s", ROWS[k].state, error.message);
    stage_snapshot(&stage, (uint64_t)ROWS[k].step, &now);
    snapshot_describe(&now, text, sizeof text);
    if (!strstr(text, ROWS[k].has) || strstr(text, ROWS[k].lacks)) fail_msg("%s: %s", ROWS[k].state, text);
    stage_free(&stage);
  }
}

/* The film on a full H100, by hand: 128 heads, N = 4,096, d = 128. fa2's products are 4 N^2 d FLOPs a head and take
 * 1.11 ms at 989 TFLOP/s, a little more on the busiest of 132 SMs; standard's three kernels move S and P, each 2 N^2
 * bytes a head, four times, and Q, K, V, O at least once: 17.7 GB or more, at 3.35 TB/s. */
TEST(test_a_full_gpu) {
  Error error = {0};
  Stage stage;
  Snapshot now;
  Narration said;
  if (open_state("algorithm=standard,fa1,fa2 N=4096 d=128 batch=4 heads=32 block=128 gpu=h100-sxm clock=time", &stage,
                 &error))
    fail_msg("%s", error.message);
  stage_snapshot(&stage, stage.n_steps, &now);
  const double N = 4096, d = 128, heads = 128, Q_bytes = heads * 2 * N * d, S_bytes = heads * 2 * N * N;
  assert_int_equal(now.n_runs, 3);
  const double least = 4 * S_bytes + 4 * Q_bytes; /* and what its products read again, past L2 */
  assert_true(now.runs[0].link.bytes >= least && now.runs[0].link.bytes < 1.3 * least);
  assert_true(fabs(now.runs[0].whole_s / (now.runs[0].link.bytes / 3.35e12) - 1) < 0.01);
  assert_true(fabs(now.runs[2].link.bytes / (4 * Q_bytes) - 1) < 0.01); /* the statistics besides */
  assert_true(now.runs[2].whole_s >= heads * 4 * N * N * d / 989.4e12 && now.runs[2].whole_s < 1.2e-3);
  assert_true(now.runs[1].whole_s > now.runs[2].whole_s && now.runs[1].whole_s < now.runs[0].whole_s);
  for (int k = 0; k < 3; k++) assert_true(now.runs[k].link.needed_bytes == 4 * Q_bytes);
  assert_true(now.runs[0].link.n_ctas == heads * 32 && now.runs[1].link.n_ctas == heads);
  assert_int_equal(now.runs[0].link.bound, TIME_HBM);
  assert_true(now.clock == now.runs[0].whole_s && now.clock_before < now.clock);
  scene_narrate(SCENE_RACE, &now, NULL, &said);
  assert_string_equal(said.what, "All are done: standard took 5.72x as long as fa2.");
  assert_string_equal(said.why, "20.46 GiB through HBM against 512.1 MiB, for the same O.");
  stage_free(&stage);
}
