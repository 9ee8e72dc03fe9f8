/* The row that a snapshot shows: its scores, maximum and sum are those of attention, step by step. */
#include "tests/support/implied.h"
#include "tests/support/sanitized.h"
#include "tests/support/snapshot_stage.h"

static double nan_to(double value, double instead) { return isnan(value) ? instead : value; }

static void check_row(const char *algorithm, const Shape *shape, const Tiling *tiling) {
  Stage stage = open_stage(algorithm, shape, tiling);
  Run run = open_run(algorithm, &stage.run.plan.shape, &stage.run.plan.tiling,
                     &(AttentionConfig){.softmax.precision = attention_precision(shape->dtype)});
  attention_fill(run.attention, INPUT_NORMAL, 7, 0, 0);
  int n_alike = 0;
  for (uint64_t step = 1; step <= stage.n_steps; step++) {
    Snapshot now;
    must(attention_walk(run.attention, run.schedule, &run.cursor, 1, fresh_error()));
    stage_snapshot(&stage, step, &now);
    const SnapshotRow *r = &now.row;
    if (r->row < 0 || (step == stage.n_steps && now.grid.column_by_column)) continue;
    const AttentionRow *expected = attention_row(run.attention, r->row);
    const bool walks = now.grid.lap < now.grid.n_laps || now.grid.n_laps == 0;
    if (!walks || !expected || r->phase == ROW_NONE || now.event.kind == EVENT_SKIP)
      continue; /* what a skip leaves alone */
    const bool standard = now.grid.n_laps > 1;
    if (!standard || now.event.pass == 1) assert_true(r->m == expected->m);
    if (!standard) assert_true(r->l == expected->l);
    if (!standard && r->phase == ROW_MAX && isfinite(r->m_old)) /* known before it is used */
      assert_near(r->factor, exp(r->m_old - r->m_new), 1e-12);
    if (!standard && r->phase >= ROW_RESCALED && now.event.kind != EVENT_SKIP)
      assert_true(nan_to(r->factor, -1) == nan_to(expected->factor, -1));
    n_alike++;
    const AttentionView S = attention_in_sram(run.attention, "S");
    if (S.values && r->tile >= 0 && S.cols.begin <= r->col0 && now.event.pass == 0 && now.event.kind != EVENT_SKIP &&
        !standard)
      for (int64_t c = 0; c < r->n_cols && r->col0 + c < S.cols.end; c++)
        assert_true(r->scores[c] == S.values[(r->row - S.rows.begin) * S.stride + (r->col0 + c - S.cols.begin)]);
    const AttentionView O = attention_in_sram(run.attention, "O");
    if (r->phase == ROW_FINISHED) {
      double reference[16] = {0}, largest = 0, off = 0;
      attention_reference_row(run.attention, r->row, reference);
      for (int64_t c = 0; c < r->n_O; c++) {
        assert_near(r->reference_O[c], reference[c], 1e-12);
        largest = fmax(largest, fabs(reference[c]));
        off = fmax(off, fabs(r->O[c] - reference[c]));
      }
      const double ulps = off / precision_ulp(attention_precision(shape->dtype), largest);
      assert_near(r->error_ulps, ulps, 1e-6 + 1e-6 * ulps);
      if (shape->dtype == DTYPE_FP32 && !now.grid.column_by_column)
        assert_true(r->error_fp32_ulps == r->error_ulps); /* stored as it is */
      const double *stored = attention_in_hbm(run.attention, "O").values + r->row * shape->d;
      if (now.event.kind == EVENT_STORE)
        for (int64_t c = 0; c < r->n_O; c++) assert_true(r->O[c] == stored[c]);
    } else if (O.values && (!standard || now.event.pass == 2) && r->phase >= ROW_RESCALED &&
               now.event.kind != EVENT_NORMALISE && now.event.kind != EVENT_STORE) {
      for (int64_t c = 0; c < r->n_O; c++)
        assert_true(r->O[c] == O.values[(r->row - O.rows.begin) * O.stride + (c - O.cols.begin)]);
    }
  }
  assert_true(n_alike > 0 || shape->N_q == 0 || band_pairs(&stage.run.plan.band) == 0);
  close_run(&run);
  stage_free(&stage);
}

/* The numbers of the row are those of attention on the whole matrices: m, l, the factor, the scores and O, at every
 * event. */
TEST(test_row_is_the_attention) {
  Rand r = {5};
  for (int n = 0; n < 40 / ONE_OF; n++) {
    Shape shape;
    Tiling tiling;
    random_problem(&r, &shape, &tiling);
    if (shape.dtype == DTYPE_FP8) shape.dtype = DTYPE_FP16;
    for (int k = 0; k < N_SCHEDULES; k++) check_row(SCHEDULES[k]->name, &shape, &tiling);
  }
}

/* A kernel that goes from the last keys to the first is shown so: each row begins with its last computed tile and ends
 * with tile 0, and its numbers are right. */
TEST(test_reversed_walk) {
  Stage stage;
  Snapshot now;
  const StageConfig config = {.problem = {.shape = {.N_q = 64, .d = 16, .causal = true},
                                          .tiling = {.B_r = 8, .B_c = 8},
                                          .machine = machine_paper(),
                                          .launch = {.walk = WALK_REVERSED}},
                              .schedule = schedule_find("fa2"),
                              .seed = 5};
  must(stage_make(&stage, &config, NULL));
  int64_t last_j = -1, n_rows = 0;
  for (uint64_t step = 1; step <= stage.n_steps; step++) {
    stage_snapshot(&stage, step, &now);
    if (now.event.kind == EVENT_LOAD && now.event.tensor == IMPLIED_K) {
      assert_int_equal(now.event.j, last_j < 0 ? now.event.i : last_j - 1); /* tiles as high as wide: the diagonal */
      assert_true(now.grid.reversed);
      last_j = now.event.j;
    }
    if (now.event.kind == EVENT_STORE && now.event.tensor == IMPLIED_O) {
      assert_int_equal(last_j, 0);
      assert_true(now.row.error_ulps < 4);
      last_j = -1;
      n_rows++;
    }
  }
  assert_int_equal(n_rows, 8);
  stage_free(&stage);
}

/* Without the maximum m stays 0 and P is e^score: in fp8, whose largest is 448, a score of 6.2 overflows. */
TEST(test_without_max) {
  StageConfig config = {.problem = {.shape = {.N_q = 64, .d = 1, .dtype = DTYPE_FP8},
                                    .tiling = {.B_r = 8, .B_c = 8},
                                    .machine = machine_paper()},
                        .schedule = schedule_find("fa2"),
                        .seed = 5};
  for (int without = 0; without < 2; without++) {
    int64_t n_overflowed = 0, n_large = 0;
    Stage stage;
    Snapshot now;
    config.without_max = without;
    config.row_in_block = 0;
    must(stage_make(&stage, &config, NULL));
    for (int row = 1; row <= 8; row++) {
      stage.config.row_in_block = row;
      for (uint64_t step = 0; step <= stage.n_steps; step++) {
        stage_snapshot(&stage, step, &now);
        if (now.row.phase != ROW_ACCUMULATED || now.event.kind != EVENT_ACCUMULATE) continue;
        n_overflowed += now.row.n_overflowed;
        for (int64_t c = 0; c < now.row.n_cols; c++)
          n_large += now.row.scores[c] > 6.14; /* log 464: halfway to the next fp8 */
        assert_true(!without || now.row.m == 0);
      }
    }
    assert_true(n_large > 0);
    assert_int_equal(n_overflowed, without ? n_large : 0);
    stage_free(&stage);
  }
}

/* The problem that people see first: without the maximum some exponentials of fp16 overflow and O is lost; with it, on
 * the same large Q, O is right to two ulps of fp16, which are many of fp32's finer ones. */
TEST(test_overflow_is_seen) {
  for (int without = 0; without < 2; without++) {
    const StageConfig config = {.problem = {.shape = {.N_q = 64, .d = 16, .causal = true},
                                            .tiling = {.B_r = 8, .B_c = 8},
                                            .machine = machine_paper()},
                                .schedule = schedule_find("fa2"),
                                .without_max = without,
                                .q_scale = without ? 0 : STAGE_LARGE_Q};
    Stage stage;
    Snapshot now;
    int64_t n_overflowed = 0, n_lost = 0, n_finished = 0;
    must(stage_make(&stage, &config, NULL));
    for (uint64_t step = 0; step <= stage.n_steps; step++) {
      stage_snapshot(&stage, step, &now);
      if (now.row.row >= 0) assert_int_equal(now.row.q_scale, STAGE_LARGE_Q);
      n_overflowed += now.row.n_overflowed;
      if (now.row.phase != ROW_FINISHED) continue;
      n_finished++;
      n_lost += !isfinite(now.row.error_ulps);
      if (!without) assert_true(now.row.error_ulps < 2 && now.row.error_fp32_ulps > now.row.error_ulps);
    }
    assert_int_equal(n_finished, 16);
    if (without)
      assert_true(n_overflowed > 0 && n_lost >= 4);
    else
      assert_true(n_overflowed == 0 && n_lost == 0);
    stage_free(&stage);
  }
}
