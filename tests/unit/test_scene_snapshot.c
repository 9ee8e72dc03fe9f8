/* What a scene shows is what is counted: snapshots against slow, obvious folds of the events, at every step. */

#include <jansson.h>

#include "tests/support/implied.h"
#include "tests/support/sanitized.h"
#include "tests/support/program.h"
#include "viz/scene/code_lines.h"
#include "tests/support/snapshot_stage.h"

enum { LAST_TILES = 4096 };

/* Bytes, tiles and FLOPs shown at each step are the fold of the events before it. */
static void check_traffic(const Stage *stage) {
  Snapshot now;
  Cursor cursor = {0};
  Event event;
  Traffic folded = {0};
  for (uint64_t step = 0; step <= stage->n_steps; step++) {
    bool overflow = false;
    stage_snapshot(stage, step, &now);
    assert_true(traffic_equal(&now.traffic, &folded));
    assert_true(now.total_bytes == traffic_read_bytes(&folded, &overflow) + traffic_write_bytes(&folded, &overflow));
    if (step > 0) assert_memory_equal(&now.event, &event, sizeof event);
    assert_int_equal(now.has_next, schedule_next(stage->run.schedule, &stage->run.plan, &cursor, &event));
    if (now.has_next) assert_memory_equal(&now.next, &event, sizeof event);
    if (now.has_next) traffic_add(&folded, stage->run.schedule, &event);
  }
  assert_true(traffic_equal(&now.traffic, &now.whole));
  assert_true(now.total_bytes == now.whole_bytes);
}

TEST(test_traffic_is_the_fold) { each_random_stage(1, 40 / ONE_OF, check_traffic); }

/* For each event, the tile it belongs to: its own, or that of the column block in SRAM (fa1's rows). */
static void find_tiles(const Stage *stage, int64_t *tile_of_event, uint64_t *last_event, uint8_t *pass_of_event) {
  const Plan *plan = &stage->run.plan;
  const bool fa1 = strcmp(stage->run.schedule->name, "fa1") == 0;
  Cursor cursor = {0};
  Event e;
  int64_t column = -1;
  for (uint64_t n = 0; schedule_next(stage->run.schedule, plan, &cursor, &e); n++) {
    if (fa1 && e.pass == 1 && e.kind == EVENT_LOAD && e.tensor == IMPLIED_K) column = e.j;
    const int64_t j = fa1 && e.pass == 1 && e.kind != EVENT_SKIP && e.i >= 0 && e.j < 0 ? column : e.j;
    const int64_t i = stage->run.schedule->skips || e.i >= 0 ? e.i : 0; /* standard loads K and V with the first row */
    tile_of_event[n] = i >= 0 && j >= 0 ? i * plan->T_c + j : -1;
    pass_of_event[n] = e.pass;
    if (tile_of_event[n] >= 0) last_event[tile_of_event[n] * 3 + e.pass] = n;
  }
}

static void check_tiles(const Stage *stage) {
  const Plan *plan = &stage->run.plan;
  int64_t *tile = malloc((size_t)stage->n_steps * sizeof *tile);
  uint8_t *pass = malloc((size_t)stage->n_steps);
  uint64_t *last = malloc(LAST_TILES * 3 * sizeof *last);
  for (int k = 0; k < LAST_TILES * 3; k++) last[k] = UINT64_MAX;
  assert_true(tile && pass && last && plan->T_r * plan->T_c <= LAST_TILES);
  find_tiles(stage, tile, last, pass);
  for (uint64_t step = 0; step <= stage->n_steps; step++) {
    Snapshot now;
    stage_snapshot(stage, step, &now);
    const int64_t present = step > 0 && step < stage->n_steps ? tile[step - 1] : -1;
    for (int64_t t = 0; t < plan->T_r * plan->T_c; t++) {
      int laps = 0;
      for (int p = 0; p < 3; p++) laps += last[t * 3 + p] != UINT64_MAX && step > last[t * 3 + p];
      const bool is_present = t == present;
      const bool has_just_ended = is_present && step - 1 == last[t * 3 + pass[step - 1]];
      const TileState shown = snapshot_tile(&now.grid, t / plan->T_c, t % plan->T_c);
      assert_int_equal(shown.progress == TILE_CURRENT, is_present);
      assert_int_equal(shown.laps, laps - has_just_ended);
      assert_int_equal(shown.progress == TILE_DONE, !is_present && (laps == now.grid.n_laps || (laps > now.grid.lap)));
    }
  }
  free(tile);
  free(pass);
  free(last);
}

/* Waiting, current, done: against a list of which events belong to which tile. */
TEST(test_tiles) { each_random_stage(2, 30 / ONE_OF, check_tiles); }

/* A step seen after others, in another order, is the same to the last byte. */
TEST(test_back_equals_forward) {
  Rand r = {3};
  for (int n = 0; n < 12 / ONE_OF; n++) {
    Shape shape;
    Tiling tiling;
    random_problem(&r, &shape, &tiling);
    Stage stage = open_stage(SCHEDULES[n % N_SCHEDULES]->name, &shape, &tiling);
    Snapshot *forward = calloc((size_t)stage.n_steps + 1, sizeof *forward);
    Snapshot back;
    assert_non_null(forward);
    for (uint64_t step = 0; step <= stage.n_steps; step++) stage_snapshot(&stage, step, &forward[step]);
    for (uint64_t step = stage.n_steps + 1; step-- > 0;) {
      memset(&back, 0xa5, sizeof back);
      stage_snapshot(&stage, step, &back);
      assert_memory_equal(&back, &forward[step], sizeof back);
    }
    stage_snapshot(&stage, UINT64_MAX, &back);
    assert_memory_equal(&back, &forward[stage.n_steps], sizeof back);
    free(forward);
    stage_free(&stage);
  }
}

/* The place that a value lies in; NULL: it is not there. */
static const SnapshotSlot *slot_with(const Snapshot *now, int tensor) {
  for (int k = 0; k < now->schedule->n_values; k++)
    if (now->slots[k].is_filled && now->slots[k].tensor == tensor) return &now->slots[k];
  return NULL;
}

/* Whatever an event needs is in SRAM when it happens, and what is there has room. */
static void check_slots(const Stage *stage) {
  for (uint64_t step = 1; step < stage->n_steps; step++) {
    Snapshot now;
    stage_snapshot(stage, step, &now);
    const Event *e = &now.event;
    uint64_t held = 0;
    if (e->kind == EVENT_PRODUCT) {
      assert_int_equal(slot_with(&now, IMPLIED_Q)->i, e->i);
      assert_int_equal(slot_with(&now, IMPLIED_K)->j, e->j);
      assert_true(slot_with(&now, IMPLIED_S)->i == e->i && slot_with(&now, IMPLIED_S)->j == e->j);
    }
    if (e->kind == EVENT_ACCUMULATE && e->j >= 0) assert_int_equal(slot_with(&now, IMPLIED_P)->j, e->j);
    if (e->bytes > 0 && e->tensor != IMPLIED_O && e->tensor != IMPLIED_STATS) /* parts of O are fp32 in HBM */
      assert_int_equal(slot_with(&now, e->tensor)->held_bytes, e->bytes);
    for (int t = 0; t < now.schedule->n_values; t++) {
      assert_true(!now.slots[t].is_filled ||
                  (now.slots[t].is_used && now.slots[t].held_bytes <= now.slots[t].slot_bytes));
      held += now.slots[t].held_bytes;
    }
    assert_true(held <= now.sram_bytes && now.sram_bytes <= (uint64_t)stage->run.sram.bytes);
  }
}

TEST(test_slots) { each_random_stage(4, 40 / ONE_OF, check_slots); }

/* By hand, after each event: the last two rows see two keys, the first two none. */
TEST(test_what_lies_on_chip) {
  static const struct {
    const char *algorithm, *held;
    TileKind hidden;
  } CASES[] = {{"fa2",
                "Ostats Ostats Ostats O "
                "Q QKOstats QKSOstats QSOstats QSOstats QVSOstats QVPOstats "
                "QKOstats QKSOstats QSOstats QSOstats QSOstats QVSOstats QVPOstats Ostats ",
                TILE_SKIPPED},
               {"standard",
                "Q QK QKS QS QS QK QKS QS QS Q QKS QS QKS QS QS "
                "Sstats Sstats Sstats Sstats Pstats Pstats Pstats Pstats "
                "Sstats Sstats Sstats Sstats Pstats Pstats Pstats Pstats "
                "PO VPO VPO PO VPO VPO O PO VPO PO VPO ",
                TILE_PARTIAL}};
  EACH (k, CASES) {
    char held[1024] = "";
    Stage stage = open_stage(CASES[k].algorithm, &(Shape){.N_q = 4, .N_k = 2, .d = 3, .causal = true},
                             &(Tiling){.B_r = 2, .B_c = 1});
    Snapshot now;
    for (uint64_t step = 1; step < stage.n_steps; step++) {
      stage_snapshot(&stage, step, &now);
      for (int t = 0; t < now.schedule->n_values; t++)
        if (now.slots[t].is_filled) strcat(held, now.schedule->tensors[now.slots[t].tensor].text);
      strcat(held, " ");
    }
    assert_string_equal(held, CASES[k].held);
    assert_int_equal(snapshot_tile(&now.grid, 0, 0).kind, CASES[k].hidden);
    assert_int_equal(snapshot_tile(&now.grid, 1, 0).kind, TILE_FULL);
    stage_free(&stage);
  }
}

/* A rival is as far as the bytes of the shown one take it: one event more would be too much. */
TEST(test_rivals) {
  Stage stage = open_stage("fa2", &(Shape){.N_q = 32, .d = 8}, &(Tiling){.B_r = 8, .B_c = 8});
  for (uint64_t step = 0; step <= stage.n_steps; step += 3) {
    Snapshot now;
    stage_snapshot(&stage, step, &now);
    assert_int_equal(now.n_runs, 3);
    for (int k = 0; k < now.n_runs; k++) {
      const SnapshotRun *run = &now.runs[k];
      Cursor cursor;
      Event event;
      assert_true(run->moved_bytes <= now.total_bytes);
      assert_true(schedule_seek(run->schedule, &stage.rivals[k].plan, &cursor, run->step));
      if (run->schedule != stage.run.schedule && schedule_next(run->schedule, &stage.rivals[k].plan, &cursor, &event))
        assert_true(run->moved_bytes + event.bytes > now.total_bytes);
    }
  }
  stage_free(&stage);
}

static Wide json_bytes(const json_t *parent, const char *object, const char *key) {
  return (Wide)json_integer_value(json_object_get(json_object_get(parent, object), key));
}

/* What is shown of the whole run, of the launch, L2 and SRAM is what `tilewalk sim --gpu --json` prints, at every step.
 */
static void check_levels(const char *algorithm, int64_t heads) {
  static ProgramRun run;
  char arguments[256];
  Request request = {.shape = {.N_q = 2048, .d = 128, .heads = heads, .causal = true}, .block = 128, .gpu = "h200"};
  Stage stage;
  request.algorithms[0] = schedule_find(algorithm), request.n_algorithms = 1;
  must(request_stage(&request, &stage, fresh_error()));
  snprintf(arguments, sizeof arguments,
           "sim -N 2048 -d 128 --heads %d --causal --block 128 --gpu h200 --algorithm %s --json", (int)heads,
           algorithm);
  program_run(&run, arguments);
  json_t *document = json_loads(run.out, 0, NULL);
  const json_t *sim = json_array_get(json_object_get(document, "runs"), 0);
  assert_non_null(sim);
  const bool has_l2 = json_is_object(json_object_get(sim, "l2"));
  assert_true(has_l2);
  for (uint64_t step = 0; step <= stage.n_steps; step += 7) {
    Snapshot now;
    stage_snapshot(&stage, step, &now);
    assert_true(now.whole_bytes * wide(heads) == json_bytes(sim, "traffic", "total_bytes"));
    const bool needs_most = !now.has_event || now.schedule->ops[now.event.op].kernel == stage.run.sram.kernel;
    const Wide sram = json_bytes(sim, "sram", "bytes");
    assert_true(needs_most ? now.sram_bytes == sram : now.sram_bytes <= sram);
    assert_true(now.sram_capacity_bytes == json_bytes(sim, "sram", "capacity_bytes"));
    assert_true(now.l2.capacity_bytes == json_bytes(document, "machine", "l2_bytes"));
    assert_true(now.l2.is_known);
    assert_true(now.l2.asked_read_bytes == json_bytes(sim, "l2", "read_bytes") &&
                now.l2.fabric_bytes == json_bytes(sim, "l2", "fabric_bytes"));
    assert_true(now.l2.asked_write_bytes == json_bytes(sim, "traffic", "write_bytes"));
    assert_true(now.l2.hbm_read_bytes == json_bytes(sim, "hbm", "read_bytes") &&
                now.l2.hbm_write_bytes == json_bytes(sim, "hbm", "write_bytes"));
    assert_near(now.l2.hit_rate, json_real_value(json_object_get(json_object_get(sim, "l2"), "hit_rate")), 1e-12);
    if (strcmp(algorithm, "fa2") == 0)
      assert_int_equal(now.register_bytes, 128 * 128 * 4 + 128 * 128 * 4 + 128 * 8); /* S, O in fp32, m and l */
    assert_int_equal(now.register_capacity_bytes, 256 * 1024);
  }
  json_decref(document);
  stage_free(&stage);
}

TEST(test_levels_are_those_of_sim) {
  check_levels("fa2", 1);
  check_levels("fa2", 12);
  check_levels("fa1", 2);
  check_levels("standard", 1);
}

/* Every event of every algorithm belongs to a line of its code. */
TEST(test_code_lines) {
  for (int k = 0; k < N_SCHEDULES; k++) {
    Plan plan;
    Cursor cursor = {0};
    Event event;
    must(plan_make(&plan, &(Shape){.N_q = 20, .d = 4, .causal = true},
                   &(Tiling){.B_r = 4, .B_c = 4, .n_splits = 2, .lse = true}, NULL));
    assert_true(code_n_lines(SCHEDULES[k]) > 10);
    while (schedule_next(SCHEDULES[k], &plan, &cursor, &event)) assert_true(code_line_of(SCHEDULES[k], &event) >= 0);
  }
}

/* Strides lead to where something begins, both ways, and always end. */
TEST(test_strides) {
  for (int k = 0; k < N_SCHEDULES; k++) {
    Stage stage = open_stage(SCHEDULES[k]->name, &(Shape){.N_q = 30, .d = 4, .causal = true},
                             &(Tiling){.B_r = 8, .B_c = 4, .n_splits = 2});
    for (Stride stride = STRIDE_EVENT; stride <= STRIDE_STORE; stride++) {
      uint64_t step = 0, n = 0;
      for (; step < stage.n_steps; n++) {
        const uint64_t to = stage_stride(&stage, step, stride, 1);
        assert_true(to > step);
        step = to;
      }
      for (; step > 0; n--) {
        const uint64_t to = stage_stride(&stage, step, stride, -1);
        assert_true(to < step);
        step = to;
      }
      assert_true(n < 10 || n > UINT64_MAX - 10 || stride == STRIDE_EVENT || stride == STRIDE_TILE);
    }
    stage_free(&stage);
  }
}

/* N = 65,536 in blocks of 64: any step, no memory of N squared. */
TEST(test_large) {
  for (int k = 0; k < N_SCHEDULES; k++) {
    Stage stage = open_stage(SCHEDULES[k]->name, &(Shape){.N_q = 65536, .d = 128, .causal = true},
                             &(Tiling){.B_r = 64, .B_c = 64});
    Snapshot now;
    Rand r = {9};
    assert_false(stage.K);
    for (int n = 0; n < 200; n++) {
      const uint64_t step = (uint64_t)rand_in(&r, 0, (int64_t)stage.n_steps);
      Cursor cursor;
      stage_snapshot(&stage, step, &now);
      assert_true(schedule_seek(stage.run.schedule, &stage.run.plan, &cursor, step));
      assert_int_equal(now.traffic.steps, step);
    }
    stage_free(&stage);
  }
}

/* Of a long row the scores beside the present tile are shown, up to its end. */
TEST(test_the_line_ends_with_the_tile) {
  Stage stage = open_stage("fa2", &(Shape){.N_q = 1024, .d = 4}, &(Tiling){.B_r = 64, .B_c = 64});
  for (uint64_t step = 1; step < 120; step++) {
    Snapshot now;
    stage_snapshot(&stage, step, &now);
    if (now.row.tile >= 0) assert_int_equal(now.line.first + now.line.n, now.row.col0 + now.row.n_cols);
  }
  stage_free(&stage);
}

static Status make_and_look(void *context, Error *error) {
  Stage stage;
  Snapshot now;
  const Status status = stage_make(&stage, context, error);
  if (!status) stage_snapshot(&stage, 100, &now);
  stage_free(&stage);
  return status;
}

/* K, V and the row may all fail to find memory. */
TEST(test_out_of_memory) {
  StageConfig config = {
      .problem = {.shape = {.N_q = 64, .d = 16}, .tiling = {.B_r = 8, .B_c = 8}, .machine = machine_paper()},
      .schedule = schedule_find("fa2")};
  assert_true(alloc_fail_each(make_and_look, &config) >= 3);
}

/* Damaged requests are refused with a reason. */
TEST(test_refused) {
  Stage stage;
  assert_int_equal(stage_make(&stage, &(StageConfig){.problem = {.shape = {.N_q = 8, .d = 4}}}, fresh_error()),
                   STATUS_BAD_REQUEST);
  stage_free(&stage);
  const StageConfig config = {.problem = {.shape = {.N_q = 8, .d = -4}, .machine = machine_paper()},
                              .schedule = schedule_find("fa2")};
  assert_int_equal(stage_make(&stage, &config, fresh_error()), STATUS_BAD_REQUEST);
  assert_true(test_error.message[0]);
  stage_free(&stage);
}

/* A walk along the diagonal computes its tiles alone: each row's is done when the walk has passed it. */
TEST(test_diagonal) {
  const Shape shape = {.N_q = 32, .d = 4, .causal = true};
  Stage stage = open_stage("linear", &shape, &(Tiling){.B_r = 8, .B_c = 8});
  Snapshot *now = malloc(sizeof *now);
  assert_non_null(now);
  for (uint64_t step = 0; step <= stage.n_steps; step++) {
    stage_snapshot(&stage, step, now);
    for (int64_t i = 0; i < 4; i++)
      for (int64_t j = 0; j < 4; j++) {
        const TileState t = snapshot_tile(&now->grid, i, j);
        if (i != j) assert_true(t.kind == TILE_SKIPPED && t.progress == TILE_WAITING);
        if (i == j && now->has_event && i < now->event.i) assert_int_equal(t.progress, TILE_DONE);
        if (i == j && now->has_event && i > now->event.i && now->event.i >= 0)
          assert_int_equal(t.progress, TILE_WAITING);
      }
  }
  free(now);
  stage_free(&stage);
}
