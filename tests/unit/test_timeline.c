/* The model of CTAs in time: what the lanes hold adds up to what `sim --json` counts, nothing runs before what it
 * needs, CTAs are dealt out as a slot-by-slot simulation deals them. */
#define _DEFAULT_SOURCE
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/implied.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"
#include "viz/request/request.h"
#include "viz/scene/timeline.h"

enum { BARS_MAX = 1 << 16 };

static ProgramRun run;
static Stage stage;
static Snapshot now;
static Timeline timeline;
static TimelineBar bars[BARS_MAX];

static void open_state(const char *line) {
  Request request = {0};
  Error error = {0};
  if (request_read(&request, line, false, &error) || request_stage(&request, false, 0, &stage, &error))
    fail_msg("%s", error.message);
  stage_snapshot(&stage, 0, &now);
  timeline_make(&timeline, &now);
  if (!timeline.is_known) fail_msg("%s: %s", line, timeline.why_not);
}

static void close_state(void) {
  timeline_free(&timeline);
  stage_free(&stage);
}

static const char *const STATES[] = {
    "algorithm=fa2 N=64 d=16 block=8 causal=1 gpu=tiny",
    "algorithm=fa2 N=200 d=24 block-q=16 block-k=24 window=50 gpu=h200 heads=3 batch=2",
    "algorithm=fa1 N=96 d=16 block=16 causal=1 gpu=rtx4090 heads=300",
    "algorithm=standard N=128 d=32 block=16 gpu=a100-80gb heads=8 kv-heads=2",
    "algorithm=fa2-split N=3 seq-len-k=1000 d=64 block-q=2 block-k=32 splits=4 gpu=t4 heads=5",
    "algorithm=fa2 N=64 d=16 block=8 causal=1",
    "algorithm=fa3 N=200 d=24 block-q=15 block-k=24 window=50 gpu=h200 heads=3 batch=2"};
enum { N_STATES = sizeof STATES / sizeof *STATES };

static int bars_of(int kernel, int64_t outer, double *end) {
  const int n = timeline_bars(&timeline, kernel, outer, 0, INFINITY, bars, BARS_MAX, end);
  assert_true(n < BARS_MAX);
  return n;
}

/* All CTAs of a head together: time in a lane times its rate is what sim counts for one head. */
TEST(test_lanes_hold_all_the_work) {
  for (int s = 0; s < N_STATES; s++) {
    char arguments[256] = "sim --json --state '";
    snprintf(arguments + strlen(arguments), sizeof arguments - strlen(arguments),
             "%s' --batch 1 --heads 1 --kv-heads 1", STATES[s]);
    open_state(STATES[s]);
    if (timeline.in_steps) { /* counted by the events below */
      close_state();
      continue;
    }
    program_run(&run, arguments);
    json_t *d = json_loads(run.out, 0, NULL), *result = json_array_get(json_object_get(d, "runs"), 0);
    assert_non_null(result);
    double lanes[TIMELINE_LANES] = {0}, end;
    for (int k = 0; k < timeline.n_kernels; k++)
      for (int64_t outer = 0; outer < timeline_ctas_of_head(&timeline, k); outer++)
        for (int n = bars_of(k, outer, &end), b = 0; b < n; b++) lanes[bars[b].lane] += bars[b].end - bars[b].start;
    const double bytes = json_number_value(json_object_get(json_object_get(result, "traffic"), "total_bytes")),
                 flops = json_number_value(json_object_get(result, "flops"));
    assert_true(fabs(lanes[LANE_LOAD] * timeline.bytes_per_s - bytes) < 1e-9 * bytes);
    assert_true(fabs(lanes[LANE_PRODUCT] * timeline.flops_per_s - flops) < 1e-9 * flops);
    assert_true(fabs(lanes[LANE_SOFTMAX] * timeline.exps_per_s -
                     (now.grid.skips ? 1 : 2) * flops / (4 * (double)now.grid.d)) < 1e-9 * flops);
    json_decref(d);
    close_state();
  }
}

static double end_of(int n, int64_t i, int64_t j, TimelineLane lane, int kind, int tensor) {
  double end = 0;
  for (int b = 0; b < n; b++)
    if (bars[b].lane == lane && bars[b].kind == kind && (lane != LANE_LOAD || bars[b].tensor == tensor) &&
        (i < 0 || bars[b].i == i) && (j < 0 || bars[b].j == j))
      end = fmax(end, bars[b].end);
  return end;
}

/* In fa2: lanes do one thing at a time; S waits for K, the softmax for S, O for the softmax and V; K[j + 1] for S of j;
 * O is stored last. */
TEST(test_nothing_runs_too_early) {
  for (int s = 0; s < 2; s++) {
    open_state(STATES[s]);
    for (int64_t i = 0; i < now.grid.T_r; i++) {
      double end, lane_end[TIMELINE_LANES] = {0}, S_end = 0;
      const int n = bars_of(0, i, &end);
      assert_true(fabs(end - timeline_duration(&timeline, 0, i)) <= 1e-12 * end);
      for (int b = 0; b < n; b++) {
        const TimelineBar *bar = &bars[b];
        assert_true(bar->start >= lane_end[bar->lane] && bar->end > bar->start && bar->end <= end);
        lane_end[bar->lane] = bar->end;
        if (bar->kind == EVENT_PRODUCT) {
          assert_true(bar->start >= end_of(n, -1, bar->j, LANE_LOAD, EVENT_LOAD, IMPLIED_K) &&
                      bar->start >= end_of(n, i, -1, LANE_LOAD, EVENT_LOAD, IMPLIED_Q));
          S_end = bar->end;
        }
        if (bar->kind == EVENT_LOAD && bar->tensor == IMPLIED_K) assert_true(bar->start >= S_end);
        if (bar->lane == LANE_SOFTMAX)
          assert_true(bar->start >= end_of(n, i, bar->j, LANE_PRODUCT, EVENT_PRODUCT, IMPLIED_S));
        if (bar->kind == EVENT_ACCUMULATE && bar->lane == LANE_PRODUCT)
          assert_true(bar->start >= end_of(n, i, bar->j, LANE_SOFTMAX, EVENT_ACCUMULATE, IMPLIED_O) &&
                      bar->start >= end_of(n, -1, bar->j, LANE_LOAD, EVENT_LOAD, IMPLIED_V));
        if (bar->kind == EVENT_STORE)
          assert_true(bar->start >= end_of(n, i, -1, LANE_PRODUCT, EVENT_ACCUMULATE, IMPLIED_O));
      }
    }
    close_state();
  }
}

/* By hand: tiny, one tile of 8 x 16 in fp16 and everything in one SM's quarter. L2 gives 48 MB/s / 4, products 2048
 * MFLOP/s / 4, exponentials 1 MHz; 1 CTA on an SM, as 8 + 8 + 8 rows of 32 bytes, S of 128 bytes, O and m, l of 8 rows
 * fill 1216 of 2048 bytes. Q 256 B, K 256 B: 42.667 us; S 2 x 8 x 8 x 16 FLOPs: 4 us; 64 exponentials: 64 us; O 4 us;
 * store 256 B: 21.333 us. */
TEST(test_one_tile_by_hand) {
  double end;
  open_state("algorithm=fa2 N=8 d=16 block=8 gpu=tiny");
  assert_int_equal(timeline.kernels[0].launch.occupancy.ctas_per_sm, 1);
  assert_int_equal(bars_of(0, 0, &end), 7);
  assert_true(fabs(end - (512 / 12e6 + 2 * 2048 / 512e6 + 64 / 1e6 + 256 / 12e6)) < 1e-12);
  assert_true(fabs(timeline.end - end) < 1e-15);
  close_state();
}

static double start_of(int n, int64_t j, TimelineLane lane, int tensor, int nth) {
  for (int b = 0; b < n; b++)
    if (bars[b].lane == lane && bars[b].tensor == tensor && bars[b].j == j && nth-- == 0) return bars[b].start;
  fail_msg("there is no such bar");
  return 0;
}

/* The same rates, two tiles, two copies of K and V and two consumers of four rows: halves of S and O take 2 us, of the
 * exponentials 32. The second half multiplies under the first one's exponentials; V[1] does not wait for O += P
 * V[0]; and S beside P: S of tile 1 is made as soon as K[1] is there, under the exponentials of tile 0, which go on
 * without a gap into those of tile 1. */
TEST(test_a_launch_by_hand) {
  const double load = 256 / 12e6, half = 1024 / 512e6, exps = 32 / 1e6, S0 = 2 * load, e0 = S0 + half, S1 = 4 * load,
               e1 = e0 + 2 * exps;
  double end;
  open_state("algorithm=fa3 N=8 seq-len-k=16 d=16 block=8 gpu=tiny");
  const int n = bars_of(0, 0, &end);
  assert_int_equal(n, 1 + 2 * 8 + 1);
  const struct {
    int64_t j;
    TimelineLane lane;
    int tensor, nth;
    double start;
  } BARS[] = {{1, LANE_LOAD, IMPLIED_K, 0, 3 * load},
              {1, LANE_LOAD, IMPLIED_V, 0, 4 * load},
              {0, LANE_PRODUCT, IMPLIED_S, 0, S0},
              {0, LANE_PRODUCT, IMPLIED_S, 1, S0 + half},
              {0, LANE_SOFTMAX, IMPLIED_O, 0, e0},
              {0, LANE_SOFTMAX, IMPLIED_O, 1, e0 + exps},
              {0, LANE_PRODUCT, IMPLIED_O, 0, S1 + 2 * half},
              {0, LANE_PRODUCT, IMPLIED_O, 1, e0 + 2 * exps},
              {1, LANE_PRODUCT, IMPLIED_S, 0, S1},
              {1, LANE_SOFTMAX, IMPLIED_O, 0, e1},
              {1, LANE_PRODUCT, IMPLIED_O, 1, e1 + 2 * exps}};
  for (size_t k = 0; k < sizeof BARS / sizeof *BARS; k++) {
    const double start = start_of(n, BARS[k].j, BARS[k].lane, BARS[k].tensor, BARS[k].nth);
    if (fabs(start - BARS[k].start) > 1e-12) fail_msg("bar %zu begins at %g, by hand at %g", k, start, BARS[k].start);
  }
  assert_true(fabs(end - (e1 + 2 * exps + half + load)) < 1e-12);
  close_state();
  open_state("algorithm=fa2 N=8 seq-len-k=16 d=16 block=8 gpu=tiny"); /* one copy: V[1] comes when V[0] is used */
  const int n_alone = bars_of(0, 0, &end);
  assert_true(start_of(n_alone, 1, LANE_LOAD, IMPLIED_V, 0) >=
              end_of(n_alone, 0, 0, LANE_PRODUCT, EVENT_ACCUMULATE, IMPLIED_O));
  close_state();
}

static void open_launched(const char *launch, const char *more) {
  char path[SCRATCH_BYTES], line[256];
  assert_true(scratch_file(path, ".walk"));
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "algorithm mine%slaunch forward\n%s", strchr(strstr(schedule_find("fa2")->text, "algorithm"), '\n'),
          launch);
  assert_int_equal(fclose(file), 0);
  snprintf(line, sizeof line, "algorithm=%s %s", path, more);
  open_state(line);
  remove(path);
}

/* Of T tiles on the same rates, without consumers: S 4 us, exponentials 64, O 4, K and V 42.7. In turn 72 us a tile;
 * with S a step ahead the longer of 64 and 8. Loads shared by two take half as long. */
TEST(test_products_beside_the_softmax) {
  const double load = 256 / 12e6, S = 2048 / 512e6, exps = 64 / 1e6;
  double end;
  enum { T = 6 };
  open_launched("  stages 2 of K_j, V_j\n  registers S\n", "N=8 seq-len-k=48 d=16 block=8 gpu=tiny");
  bars_of(0, 0, &end);
  assert_true(fabs(end - (2 * load + T * (2 * S + exps) + load)) < 1e-12);
  close_state();
  open_launched("  stages 2 of K_j, V_j\n  registers S\n  S beside P\n", "N=8 seq-len-k=48 d=16 block=8 gpu=tiny");
  const int n = bars_of(0, 0, &end);
  assert_true(fabs(end - (2 * load + S + T * exps + S + load)) < 1e-12);
  for (int j = 0; j + 1 < T; j++) /* S of the next tile under this one's exponentials, O += P V after both */
    assert_true(start_of(n, j + 1, LANE_PRODUCT, IMPLIED_S, 0) < end_of(n, -1, j, LANE_SOFTMAX, EVENT_ACCUMULATE, 0) &&
                start_of(n, j, LANE_PRODUCT, IMPLIED_O, 0) >=
                    end_of(n, -1, j + 1, LANE_PRODUCT, EVENT_PRODUCT, IMPLIED_S) - 1e-15);
  for (int b = 0; b < n; b++) { /* when the event of a bar is over: that of its last bar */
    stage_snapshot(&stage, bars[b].step + 1, &now);
    double last = 0;
    for (int other = 0; other < n; other++)
      if (bars[other].step == bars[b].step) last = fmax(last, bars[other].end);
    assert_true(timeline_now(&timeline, &now).time >= last);
  }
  close_state();
  open_launched("  share K_j, V_j by 2\n", "N=16 seq-len-k=8 d=16 block=8 gpu=tiny");
  bars_of(0, 0, &end); /* Q, half of K, and half of V under S */
  assert_true(fabs(end - (1.5 * load + fmax(load / 2, S + exps) + S + load)) < 1e-12);
  close_state();
}

/* Without L2 each event but a skip takes one step, and CTAs of a causal head are as long as they have such events. */
TEST(test_steps) {
  open_state(STATES[5]);
  assert_true(timeline.in_steps);
  assert_non_null(strstr(timeline.why_steps, "paper has no L2"));
  Cursor cursor = {0};
  Event e;
  double events[8] = {0};
  while (schedule_next(stage.run.schedule, &stage.run.plan, &cursor, &e)) {
    TimelineMoment m;
    stage_snapshot(&stage, cursor.step, &now);
    events[e.i] += e.kind != EVENT_SKIP;
    m = timeline_now(&timeline, &now);
    assert_int_equal(m.outer, e.i);
    assert_int_equal(m.piece.row_block, e.i);
    assert_true(m.time == events[e.i]);
    assert_int_equal(timeline.pieces[m.at].number, timeline_number(&timeline, 0, e.i));
  }
  for (int64_t i = 0; i < 8; i++) {
    assert_true(timeline_duration(&timeline, 0, i) == events[i]);
    if (i > 0) assert_true(events[i] > events[i - 1]);
  }
  close_state();
}

/* Slot by slot: the next CTA goes to the slot that is free first. And the numbers of the launch: waves, and every CTA
 * once. */
TEST(test_dealing_out) {
  static double free_at[1 << 14];
  for (int s = 0; s < N_STATES; s++) {
    open_state(STATES[s]);
    double start = 0, busy = 0;
    int64_t at = 0;
    for (int k = 0; k < timeline.n_kernels; k++) {
      const TimelineKernel *kernel = &timeline.kernels[k];
      const Launch *l = &kernel->launch;
      double end = start;
      assert_true(l->n_slots < 1 << 14);
      assert_int_equal(kernel->n_pieces,
                       (int64_t)now.launched.batch * now.launched.heads * timeline_ctas_of_head(&timeline, k));
      assert_int_equal(l->n_waves, (kernel->n_pieces + l->n_slots - 1) / l->n_slots);
      for (int64_t slot = 0; slot < l->n_slots; slot++) free_at[slot] = start;
      for (int64_t n = 0; n < kernel->n_pieces; n++, at++) {
        const TimelinePiece *piece = &timeline.pieces[at];
        int64_t first = 0;
        for (int64_t slot = 1; slot < l->n_slots; slot++)
          if (free_at[slot] < free_at[first]) first = slot;
        assert_true(piece->start == free_at[first] && piece->slot == first && piece->number == n);
        free_at[first] = piece->end;
        busy += piece->end - piece->start;
        end = fmax(end, piece->end);
      }
      assert_true(kernel->start == start && kernel->end == end);
      start = end;
    }
    assert_int_equal(at, timeline.n_pieces);
    assert_true(fabs(timeline.busy - busy) < 1e-9 * busy && timeline_use(&timeline) > 0 &&
                timeline_use(&timeline) <= 1 + 1e-12);
    /* No faster than the peak rates allow the whole launch. */
    Problem whole = now.problem;
    Simulation all;
    whole.shape = now.launched;
    assert_int_equal(simulate(&all, &whole, stage.run.schedule, NULL), STATUS_OK);
    simulation_time(&all, &now.gpu);
    if (!timeline.in_steps)
      for (int part = TIME_L2; part < TIME_PART_COUNT; part++)
        if (part != TIME_SRAM) assert_true(timeline.end >= all.timing.floor.part_s[part] * (1 - 1e-9));
    close_state();
  }
}

/* The first `key` of `sim --json`. */
static double of_sim(const char *options, const char *key) {
  char command[256], quoted[64];
  snprintf(command, sizeof command, "sim %s --json", options);
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  program_run(&run, command);
  if (run.exit_status != 0) fail_msg("%s: %s", command, run.err);
  return strtod(strstr(run.out, quoted) + strlen(quoted), NULL);
}

/* All CTAs take what sim predicts of the launch, to the last digit; where nothing is predicted, never less than its
 * bound. Of a launch whose first CTAs are not dealt out, those that are drawn take their part. */
TEST(test_time_is_that_of_sim) {
  static const struct {
    const char *state, *options;
    bool predicted, all_drawn;
  } ASKED[] = {
      {"algorithm=fa2 N=4096 d=128 heads=16 gpu=h200 kernel=fa2-sm90",
       "-N 4096 -d 128 --heads 16 --gpu h200 --kernel fa2-sm90", true, true},
      {"algorithm=fa2 N=2048 d=64 heads=8 causal=1 gpu=h100-sxm kernel=cudnn-sm90",
       "-N 2048 -d 64 --heads 8 --causal --gpu h100-sxm --kernel cudnn-sm90", true, true},
      {"algorithm=fa2 N=8192 d=128 heads=2048 gpu=h200 kernel=fa2-sm90",
       "-N 8192 -d 128 --heads 2048 --gpu h200 --kernel fa2-sm90", true, false},
      {"algorithm=fa2 N=4096 d=128 block=128 heads=16 gpu=a100-80gb",
       "-N 4096 -d 128 --block 128 --heads 16 --gpu a100-80gb --algorithm fa2", false, true},
      {"algorithm=standard N=1024 d=64 heads=64 gpu=rtx4090",
       "-N 1024 -d 64 --heads 64 --gpu rtx4090 --algorithm standard", false, true},
  };
  for (size_t k = 0; k < sizeof ASKED / sizeof *ASKED; k++) {
    const double least = of_sim(ASKED[k].options, "least_s"), predicted = of_sim(ASKED[k].options, "predicted_s");
    open_state(ASKED[k].state);
    assert_true(!timeline.in_steps && timeline.least_s == least);
    if (ASKED[k].predicted) {
      assert_true(predicted > 0 && timeline.predicted_s == predicted && timeline.whole_s == predicted);
    } else {
      assert_true(timeline.predicted_s == 0 && timeline.whole_s >= least);
    }
    const double drawn = (double)timeline.n_pieces / (double)timeline.kernels[0].launch.n_pieces;
    if (ASKED[k].all_drawn)
      assert_true(fabs(timeline.end - timeline.whole_s) <= 1e-12 * timeline.end);
    else
      assert_true(drawn < 1 && fabs(timeline.end / timeline.whole_s - drawn) < 0.01);
    close_state();
  }
}

/* Long heads: CTAs between the samples are as long as they are when walked; a launch too large is shown from the end.
 */
TEST(test_long) {
  double end;
  open_state("algorithm=fa2 N=65536 d=128 block=64 causal=1 gpu=h200 heads=128");
  assert_true(timeline.kernels[0].n_samples < 1024);
  assert_int_equal(timeline.kernels[0].launch.n_pieces, 131072);
  assert_int_equal(timeline.n_pieces, TIMELINE_PIECES_MAX);
  assert_int_equal(timeline.kernels[0].first_number, 131072 - TIMELINE_PIECES_MAX);
  for (int64_t i = 0; i < 1024; i += 31) {
    bars_of(0, i, &end);
    assert_true(fabs(timeline_duration(&timeline, 0, i) - end) < 1e-6 * end);
  }
  stage_snapshot(&stage, stage.n_steps / 2, &now);
  const TimelineMoment m = timeline_now(&timeline, &now);
  assert_int_equal(m.outer, now.event.i);
  assert_int_equal(m.at, -1); /* the first head is not among the last CTAs */
  close_state();
  open_state("algorithm=fa2 N=16M d=128 block=64 gpu=h200"); /* beyond what is walked: on a straight line */
  const double per_tile = timeline_duration(&timeline, 0, 5) / (double)now.grid.T_c;
  assert_true(per_tile > 64 * 256 * 2 / timeline.bytes_per_s * 0.99 && isfinite(per_tile));
  close_state();
}

/* What does not fit the machine is shown all the same, and says so. */
TEST(test_too_large_tiles) {
  open_state("algorithm=fa2 N=4096 d=128 block=512 gpu=h200 kernel=fa2_tensor");
  assert_true(timeline.is_known);
  close_state();
  open_state("algorithm=fa2 N=4096 d=128 block=64 gpu=t4 sram=1M");
  assert_true(timeline.is_assumed);
  assert_int_equal(timeline.kernels[0].launch.occupancy.ctas_per_sm, 1);
  close_state();
}

static Status make_timeline(void *context, Error *error) {
  Timeline *t = context;
  timeline_make(t, &now);
  const Status status = t->is_known ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "%s", t->why_not);
  timeline_free(t);
  return status;
}

TEST(test_out_of_memory) {
  open_state(STATES[0]);
  timeline_free(&timeline);
  assert_true(alloc_fail_each(make_timeline, &timeline) >= 2);
  close_state();
}
