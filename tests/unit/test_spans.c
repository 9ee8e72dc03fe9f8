/* The model of a CTA in time: what the lanes hold adds up to what `sim --json` counts, and each waits for what it
 * needs. What Time draws of it, and of a recording. */
#define _DEFAULT_SOURCE
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/implied.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"
#include "viz/request/request.h"
#include "sim/time/spans.h"
#include "viz/scene/time_lanes.h"

enum { BARS_MAX = 1 << 16 };

static ProgramRun run;
static Stage stage;
static Snapshot now;
static SpanModel timeline;
static CtaSpan bars[BARS_MAX];
static TimeLanes lanes;

static void open_state(const char *line) {
  Request request = {0};
  must(request_read(&request, line, false, fresh_error()) || request_stage(&request, &stage, fresh_error()));
  stage_snapshot(&stage, 0, &now);
  Simulation head;
  must(simulate(&head, &now.problem, now.schedule, fresh_error()));
  span_model(&timeline, &head, &now.launched, &now.gpu);
}

static void close_state(void) { stage_free(&stage); }

static const char *const STATES[] = {
    "algorithm=fa2 N=64 d=16 block=8 causal=1 gpu=tiny",
    "algorithm=fa2 N=200 d=24 block-q=16 block-k=24 window=50 gpu=h200 heads=3 batch=2",
    "algorithm=fa1 N=96 d=16 block=16 causal=1 gpu=rtx4090 heads=300",
    "algorithm=standard N=128 d=32 block=16 gpu=a100-80gb heads=8 kv-heads=2",
    "algorithm=fa2-split N=3 seq-len-k=1000 d=64 block-q=2 block-k=32 splits=4 gpu=t4 heads=5",
    "algorithm=fa2 N=64 d=16 block=8 causal=1",
    "algorithm=fa3 N=200 d=24 block-q=15 block-k=24 window=50 gpu=h200 heads=3 batch=2"};
enum { N_STATES = COUNT_OF(STATES) };

static int bars_of(int pass, int64_t cta, double *end) {
  const int n = cta_spans(&timeline, pass, cta, bars, BARS_MAX);
  assert_true(n < BARS_MAX);
  *end = 0;
  for (int k = 0; k < n; k++) *end = fmax(*end, bars[k].end);
  return n;
}

static int n_passes(void) { return timeline.schedule->whole_head ? 1 : timeline.schedule->n_passes; }

/* All CTAs of a head together: time in a lane times its rate is what sim counts for one head. */
TEST(test_lanes_hold_all_the_work) {
  for (int s = 0; s < N_STATES; s++) {
    char arguments[256] = "sim --json --state '";
    snprintf(arguments + strlen(arguments), sizeof arguments - strlen(arguments),
             "%s' --batch 1 --heads 1 --kv-heads 1", STATES[s]);
    open_state(STATES[s]);
    if (*timeline.why_steps) { /* counted by the events below */
      close_state();
      continue;
    }
    program_run(&run, arguments);
    json_t *d = json_loads(run.out, 0, NULL), *result = json_array_get(json_object_get(d, "runs"), 0);
    assert_non_null(result);
    double sums[SPAN_LANES] = {0}, end;
    for (int k = 0; k < n_passes(); k++)
      for (int64_t outer = 0; outer < place_n_ctas(timeline.schedule, &timeline.plan, k); outer++)
        for (int n = bars_of(k, outer, &end), b = 0; b < n; b++) sums[bars[b].lane] += bars[b].end - bars[b].start;
    const double bytes = json_number_value(json_object_get(json_object_get(result, "traffic"), "total_bytes")),
                 flops = json_number_value(json_object_get(result, "flops"));
    assert_near(sums[LANE_LOAD] * timeline.bytes_per_s, bytes, 1e-9 * bytes);
    assert_near(sums[LANE_PRODUCT] * timeline.flops_per_s, flops, 1e-9 * flops);
    assert_near(sums[LANE_SOFTMAX] * timeline.exps_per_s, (now.grid.skips ? 1 : 2) * flops / (4 * (double)now.grid.d),
                1e-9 * flops);
    json_decref(d);
    close_state();
  }
}

static double end_of(int n, int64_t i, int64_t j, SpanLane lane, int kind, int tensor) {
  double end = 0;
  for (int b = 0; b < n; b++)
    if (bars[b].lane == lane && bars[b].kind == kind && (lane != LANE_LOAD || bars[b].tensor == tensor) &&
        (i < 0 || bars[b].i == i) && (j < 0 || bars[b].j == j))
      end = fmax(end, bars[b].end);
  return end;
}

static double start_of(int n, int64_t j, SpanLane lane, int tensor, int nth) {
  for (int b = 0; b < n; b++)
    if (bars[b].lane == lane && bars[b].tensor == tensor && bars[b].j == j && nth-- == 0) return bars[b].start;
  fail_msg("there is no such bar");
  return 0;
}

/* By hand: tiny, in fp16, everything in one SM's quarter. L2 gives 48 MB/s / 4, products 2048 MFLOP/s / 4,
 * exponentials 1 MHz; a CTA on an SM. Two tiles of 8 x 16, two copies of K and V and two consumers of four rows:
 * halves of S and O take 2 us, of the exponentials 32. The second half multiplies under the first one's exponentials;
 * V[1] does not wait for O += P V[0]; and S beside P: S of tile 1 is made as soon as K[1] is there, under the
 * exponentials of tile 0, which go on without a gap into those of tile 1. */
TEST(test_a_launch_by_hand) {
  const double load = 256 / 12e6, half = 1024 / 512e6, exps = 32 / 1e6, S0 = 2 * load, e0 = S0 + half, S1 = 4 * load,
               e1 = e0 + 2 * exps;
  double end;
  open_state("algorithm=fa3 N=8 seq-len-k=16 d=16 block=8 gpu=tiny");
  assert_int_equal(timeline.ctas_per_sm, 1);
  const int n = bars_of(0, 0, &end);
  assert_int_equal(n, 1 + 2 * 8 + 1);
  const struct {
    int64_t j;
    SpanLane lane;
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
  EACH (k, BARS) {
    const double start = start_of(n, BARS[k].j, BARS[k].lane, BARS[k].tensor, BARS[k].nth);
    assert_near(start, BARS[k].start, 1e-12);
  }
  assert_near(end, e1 + 2 * exps + half + load, 1e-12);
  close_state();
  open_state("algorithm=fa2 N=8 seq-len-k=16 d=16 block=8 gpu=tiny"); /* one copy: V[1] comes when V[0] is used */
  const int n_alone = bars_of(0, 0, &end);
  assert_true(start_of(n_alone, 1, LANE_LOAD, IMPLIED_V, 0) >=
              end_of(n_alone, 0, 0, LANE_PRODUCT, EVENT_ACCUMULATE, IMPLIED_O));
  close_state();
}

static void open_launched(const char *launch, const char *more) {
  char path[SCRATCH_BYTES];
  assert_true(scratch_file(path, ".walk"));
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "algorithm mine%slaunch forward\n%s", strchr(strstr(schedule_find("fa2")->text, "algorithm"), '\n'),
          launch);
  assert_int_equal(fclose(file), 0);
  open_state(test_text("algorithm=%s %s", path, more));
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
  assert_near(end, 2 * load + T * (2 * S + exps) + load, 1e-12);
  close_state();
  open_launched("  stages 2 of K_j, V_j\n  registers S\n  S beside P\n", "N=8 seq-len-k=48 d=16 block=8 gpu=tiny");
  const int n = bars_of(0, 0, &end);
  assert_near(end, 2 * load + S + T * exps + S + load, 1e-12);
  for (int j = 0; j + 1 < T; j++) /* S of the next tile under this one's exponentials, O += P V after both */
    assert_true(start_of(n, j + 1, LANE_PRODUCT, IMPLIED_S, 0) < end_of(n, -1, j, LANE_SOFTMAX, EVENT_ACCUMULATE, 0) &&
                start_of(n, j, LANE_PRODUCT, IMPLIED_O, 0) >=
                    end_of(n, -1, j + 1, LANE_PRODUCT, EVENT_PRODUCT, IMPLIED_S) - 1e-15);
  close_state();
  open_launched("  share K_j, V_j by 2\n", "N=16 seq-len-k=8 d=16 block=8 gpu=tiny");
  bars_of(0, 0, &end); /* Q, half of K, and half of V under S */
  assert_near(end, 1.5 * load + fmax(load / 2, S + exps) + S + load, 1e-12);
  close_state();
}

/* Without L2 each event but a skip takes one step, one after the other. */
TEST(test_steps) {
  open_state(STATES[5]);
  assert_non_null(strstr(timeline.why_steps, "paper has no L2"));
  Cursor cursor = {0};
  Event e;
  double events[8] = {0}, end;
  while (schedule_next(stage.run.schedule, &stage.run.plan, &cursor, &e)) events[e.i] += e.kind != EVENT_SKIP;
  for (int64_t i = 0; i < 8; i++) {
    assert_true(bars_of(0, i, &end) == events[i] && end == events[i]);
    if (i > 0) assert_true(events[i] > events[i - 1]);
  }
  close_state();
}

/* Of blocks of 128 an SM of an H200 has room for two, and there are 132: 32 CTAs of a head have one each, 128 too, and
 * of 160 some have two. */
TEST(test_no_more_ctas_than_launched) {
  static const struct {
    const char *more;
    int ctas;
  } ROWS[] = {{"", 1}, {"heads=4", 1}, {"heads=5", 2}, {"heads=16 batch=4", 2}, {"heads=16 ctas-per-sm=1", 1}};
  EACH (r, ROWS) {
    open_state(test_text("algorithm=fa2 N=4096 d=64 block=128 gpu=h200 %s", ROWS[r].more));
    assert_int_equal(timeline.ctas_per_sm, ROWS[r].ctas);
    time_lanes(&now, 2, 1, &lanes);
    assert_string_equal(lanes.note, ROWS[r].ctas > 1 ? "modelled: one of 2 CTAs" : "modelled");
    close_state();
  }
}

/* What does not fit the machine is shown all the same, and says so. */
TEST(test_too_large_tiles) {
  open_state("algorithm=fa2 N=4096 d=128 block=512 gpu=h200 kernel=fa2_tensor");
  close_state();
  open_state("algorithm=fa2 N=4096 d=128 block=64 gpu=t4 sram=1M");
  assert_int_equal(timeline.ctas_per_sm, 1);
  close_state();
}

/* ---- What Time draws, beside its law in test_scene_laws.c ---- */

/* Of a recording: the two tiles drawn are idle as long as the design counted in the file, and the others near it. A
 * recording opens for its kernel, d and GPU alone. */
TEST(test_recorded_lanes) {
  static const struct {
    const char *state;
    double idle; /* percent; 0: it is modelled */
    TimeIdle why;
  } ROWS[] = {{"algorithm=fa2 kernel=fa3_overlap N=4096 d=128 gpu=h100-sxm heads=16", 35.7, IDLE_ALL_SOFTMAX},
              {"algorithm=fa3 N=4096 d=128 block=128 gpu=h100-sxm heads=16", 35.7, IDLE_ALL_SOFTMAX},
              {"algorithm=fa2 kernel=fa3_overlap N=4096 d=64 gpu=h100-sxm heads=16", 54, IDLE_ALL_SOFTMAX},
              {"algorithm=fa2 kernel=fa2_async N=4096 d=128 gpu=h100-sxm heads=16", 37.0, IDLE_ALL_SOFTMAX},
              {"algorithm=fa2 kernel=fa3_overlap N=4096 d=128 gpu=h200 heads=16", 0, 0},
              {"algorithm=fa2 kernel=fa2_tensor N=4096 d=128 gpu=h100-sxm heads=16", 0, 0},
              {"algorithm=fa2 N=4096 d=128 block=64 gpu=h100-sxm heads=16", 0, 0},
              {"algorithm=fa3 N=4096 d=96 block=64 gpu=h100-sxm heads=16", 0, 0}};
  EACH (r, ROWS) {
    open_state(ROWS[r].state);
    double before = 0;
    for (uint64_t k = 0; k <= 8; k++) {
      stage_snapshot(&stage, k * stage.n_steps / 8, &now);
      time_lanes(&now, 2, 1, &lanes);
      assert_int_equal(strncmp(lanes.note, "recorded on an H100, d = ", 25) == 0, ROWS[r].idle > 0);
      if (ROWS[r].idle == 0) continue;
      assert_true(fabs(100 * lanes.idle - ROWS[r].idle) <= (r < 2 ? 0.05 : 0.6) && lanes.why == ROWS[r].why);
      assert_true(lanes.at > before);
      before = lanes.at;
    }
    close_state();
  }
}

/* The line stands on the present event's work, in a still picture at its end, and goes on between. */
TEST(test_line_is_on_its_work) {
  int n_seen = 0;
  open_state("algorithm=fa2 N=2048 d=64 block=64 gpu=h100-sxm");
  for (uint64_t step = 101; step < 200; step++) {
    stage_snapshot(&stage, step, &now);
    if (now.event.kind != EVENT_PRODUCT && now.event.kind != EVENT_ACCUMULATE) continue;
    double before = 0;
    for (int f = 1; f <= 4; f++, n_seen++) {
      bool on_work = false;
      time_lanes(&now, 2, f / 4.0, &lanes);
      for (int b = 0; b < lanes.n_bars; b++)
        on_work |= lanes.bars[b].op == now.event.op && lanes.at >= lanes.bars[b].begin && lanes.at <= lanes.bars[b].end;
      assert_true(on_work && lanes.at > before);
      before = lanes.at;
    }
  }
  assert_true(n_seen > 100);
  close_state();
}
