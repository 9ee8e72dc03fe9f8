/* What the charts draw is what the commands count: every point of the sweeps and every cell of the map against `sim
 * --json`, the roofline against `roofline --json`, the misses against an LRU cache written out. */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/implied.h"
#include "tests/support/program.h"
#include "tests/support/sanitized.h"
#include "viz/request/request.h"
#include "viz/scene/chart_panels.h"

static ProgramRun run;
static Stage stage;
static Snapshot now;
static ChartNumbers numbers;

/* Opens the stage of a state, as the viewer does, and makes its numbers. */
static void open_state(const char *line, double part) {
  Request request = {0};
  const OptionSet sets[] = {{"", REQUEST_SHAPE_OPTIONS, 0},
                            {"", REQUEST_TILING_OPTIONS, 0},
                            {"", REQUEST_MACHINE_OPTIONS, 0},
                            {"", REQUEST_EXPERT_OPTIONS, 0},
                            {0}};
  OptionParser parser = {.sets = sets, .target = &request};
  Error error = {0};
  if (options_parse_state(&parser, line, &error) || request_stage(&request, false, 0, &stage, &error))
    fail_msg("%s", error.message);
  stage_snapshot(&stage, (uint64_t)(part * (double)stage.n_steps), &now);
  chart_numbers_make(&numbers, &now);
}

static json_t *ask(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
static json_t *ask(const char *command, const char *format, ...) {
  char line[512];
  va_list arguments;
  const int used = snprintf(line, sizeof line, "%s --json ", command);
  va_start(arguments, format);
  vsnprintf(line + used, sizeof line - (size_t)used, format, arguments);
  va_end(arguments);
  program_run(&run, line);
  if (run.exit_status != 0) fail_msg("%s: %s", line, run.err);
  json_t *document = json_loads(run.out, 0, NULL);
  assert_non_null(document);
  return document;
}

static json_t *run_of(json_t *document, int k) { return json_array_get(json_object_get(document, "runs"), (size_t)k); }
static double total_of(json_t *document, int k) {
  return json_number_value(json_object_get(json_object_get(run_of(document, k), "traffic"), "total_bytes"));
}
static bool fits_of(json_t *document, int k) {
  return json_is_true(json_object_get(json_object_get(run_of(document, k), "sram"), "fits"));
}

/* `rest` is the problem without N and blocks, as options. */
typedef struct {
  const char *state, *rest, *N, *block;
  bool of_keys;
} Asked;

static const Asked PROBLEMS[] = {
    {"algorithm=fa2 N=64 d=16 causal=1 block=8", "-d 16 --causal", "-N 64", "--block 8", false},
    {"algorithm=fa1 N=1000 d=96 block-q=48 block-k=80 window=100 dtype=bf16", "-d 96 --window 100 --dtype bf16",
     "-N 1000", "--block-q 48 --block-k 80", false},
    {"algorithm=standard N=4096 d=128 block=128 dtype=fp32 gpu=a100-80gb", "-d 128 --dtype fp32 --gpu a100-80gb",
     "-N 4096", "--block 128", false},
    {"algorithm=fa2 N=1 seq-len-k=8192 d=64 block=64 sram=40K", "-d 64 --sram 40K", "-N 1 --seq-len-k 8192",
     "--block 64", true},
};
enum { N_PROBLEMS = sizeof PROBLEMS / sizeof *PROBLEMS };

static void check_point(const SweepNumbers *point, json_t *d) {
  for (int k = 0; k < numbers.n_runs; k++) {
    assert_true(point->bytes[k] == total_of(d, k));
    assert_int_equal(point->fits[k], fits_of(d, k));
  }
  json_decref(d);
}

TEST(test_sweeps) {
  for (int p = 0; p < N_PROBLEMS; p++) {
    const Asked *q = &PROBLEMS[p];
    bool has_present = false;
    open_state(q->state, 0.5);
    assert_int_equal(numbers.of_keys, q->of_keys);
    assert_in_range(numbers.n_N, 6, CHART_SWEEP_POINTS);
    for (int n = 0; n < numbers.n_N; n++) {
      const SweepNumbers *point = &numbers.by_N[n];
      check_point(point, ask("sim", "--algorithm standard,fa1,fa2 %s %s %s%" PRId64, q->rest, q->block,
                             q->of_keys ? "-N 1 --seq-len-k " : "-N ", point->value));
      if (point->value == numbers.N) has_present = point->bytes[numbers.shown] == (double)now.whole_bytes;
    }
    assert_true(has_present);
    for (int n = 0; n < numbers.n_B; n++)
      check_point(&numbers.by_B[n], ask("sim", "--algorithm standard,fa1,fa2 %s %s --block %" PRId64, q->rest, q->N,
                                        numbers.by_B[n].value));
    stage_free(&stage);
  }
}

/* Each cell; and that no cell that fits moves less than the one that is called best. */
TEST(test_map) {
  for (int p = 0; p < N_PROBLEMS; p += ONE_OF) {
    const Asked *problem = &PROBLEMS[p];
    open_state(problem->state, 0);
    const BlockMap *map = &numbers.map;
    const char *name = now.schedule->name;
    double least = INFINITY;
    for (int q = 0; q < map->n_q; q++)
      for (int k = 0; k < map->n_k; k++) {
        json_t *d = ask("sim", "--algorithm %s %s %s --block-q %" PRId64 " --block-k %" PRId64, name, problem->rest,
                        problem->N, map->q[q], map->k[k]);
        assert_true(map->bytes[q][k] == total_of(d, 0));
        assert_int_equal(map->fits[q][k], fits_of(d, 0));
        if (map->fits[q][k]) least = fmin(least, map->bytes[q][k]);
        json_decref(d);
      }
    assert_true(map->has_best && map->fits[map->best_q][map->best_k]);
    assert_true(map->bytes[map->best_q][map->best_k] == least);
    stage_free(&stage);
  }
}

/* The edge of SRAM: the tiles at it fit, one row more of K and V does not. */
TEST(test_edge) {
  open_state(PROBLEMS[2].state, 0);
  for (int e = 0; e < CHART_FRONTIER; e += 8) {
    const int64_t q = (int64_t)round(numbers.map.edge_q[e]) > 1 ? (int64_t)round(numbers.map.edge_q[e]) : 1,
                  k = (int64_t)numbers.map.edge_k[e];
    for (int64_t more = 0; more < 2; more++) {
      if (k + more < 1) continue;
      json_t *d = ask("sim", "--algorithm standard %s %s --block-q %" PRId64 " --block-k %" PRId64, PROBLEMS[2].rest,
                      PROBLEMS[2].N, q, k + more);
      assert_int_equal(fits_of(d, 0), more == 0);
      json_decref(d);
    }
  }
  stage_free(&stage);
}

static double real(json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static void expect_near(double got, double expected) {
  if (!(fabs(got - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g, expected %.17g", got, expected);
}

/* The ends of all runs, roofs and ceilings, with L2 and without; the moving point ends there and is the fold's ratio
 * before. */
TEST(test_roofline) {
  static const char *const MACHINES[] = {"paper", "h200", "rtx4090", "tiny"};
  for (int m = 0; m < 4; m++) {
    char line[128];
    snprintf(line, sizeof line, "algorithm=fa1 N=512 d=64 block=64 causal=1 gpu=%s", MACHINES[m]);
    open_state(line, 0.3);
    const RooflineNumbers *r = &numbers.roofline;
    json_t *d = ask("roofline", "--algorithm standard,fa1,fa2 -N 512 -d 64 --block 64 --causal --gpu %s", MACHINES[m]);
    json_t *levels = json_object_get(d, "levels");
    expect_near(r->hbm_bytes_per_s, real(json_array_get(levels, 0), "bytes_per_s"));
    if (m > 0) expect_near(r->level_bytes_per_s, real(json_array_get(levels, 1), "bytes_per_s"));
    expect_near(r->peak_flops_per_s, real(d, "peak_flops_per_s"));
    expect_near(r->exp_flops_per_s, real(d, "exp_ceiling_flops_per_s"));
    for (int k = 0; k < 3; k++) {
      expect_near(r->ends[k].flops_per_byte, real(run_of(d, k), m > 0 ? "l2_flops_per_byte" : "hbm_flops_per_byte"));
      expect_near(r->ends[k].flops_per_s, real(run_of(d, k), "attainable_flops_per_s"));
    }
    expect_near(r->end_hbm.flops_per_byte, real(run_of(d, 1), "hbm_flops_per_byte"));
    assert_string_equal(time_part_name(r->bound), json_string_value(json_object_get(run_of(d, 1), "bound")));
    for (int n = 0; n <= 20; n++) {
      stage_snapshot(&stage, stage.n_steps * (uint64_t)n / 20, &now);
      const RooflinePoint here = chart_roofline_now(r, &now);
      if (now.total_bytes == 0) continue;
      if (m == 0) expect_near(here.flops_per_byte, (double)now.traffic.flops / (double)now.total_bytes);
      if (now.step == now.n_steps) expect_near(here.flops_per_s, r->ends[1].flops_per_s);
      if (here.flops_per_byte > 0)
        assert_true(here.flops_per_byte >= r->low_flops_per_byte / 3 &&
                    here.flops_per_byte <= r->high_flops_per_byte * 3);
    }
    json_decref(d);
    stage_free(&stage);
  }
}

/* A description without the rates of L2 and of products: what is known is drawn, what is not is named. */
TEST(test_missing_rates) {
  open_state("algorithm=fa2 N=64 d=16 block=8", 0.5);
  now.gpu.l2_bytes = 4 << 20;
  now.gpu.l2_partitions = 1;
  now.gpu.l2_bytes_per_s = now.gpu.fp16_flops_per_s = now.gpu.fp16_tensor_flops_per_s = 0;
  assert_string_equal(roofline_missing(&numbers.roofline), "");
  chart_numbers_make(&numbers, &now);
  assert_string_equal(roofline_missing(&numbers.roofline), "L2, products");
  assert_true(numbers.roofline.level_bytes_per_s == 0 && numbers.roofline.hbm_bytes_per_s > 0 &&
              numbers.roofline.peak_flops_per_s == 0);
  assert_true(numbers.roofline.ends[numbers.shown].flops_per_s > 0); /* HBM, SRAM and exponentials bound it */
  stage_free(&stage);
}

/* ---- Misses ---------------------------------------------------------------------------------------------- */

enum { UNITS_MAX = 4096 };

/* An LRU cache as a list with the last used first. Returns whether the unit was among the first `capacity`. */
static bool touch(uint64_t *list, int *n, uint64_t unit, int capacity) {
  int at = 0;
  while (at < *n && list[at] != unit) at++;
  const bool hit = at < *n && at < capacity;
  if (at == *n) (*n)++;
  assert_true(*n < UNITS_MAX);
  memmove(list + 1, list, (size_t)at * sizeof *list);
  list[0] = unit;
  return hit;
}

/* Bytes that miss a cache of so many units; a tile's units have neighbouring addresses in its own matrix. */
static double brute_force(int capacity, double unit_bytes) {
  static uint64_t list[UNITS_MAX];
  int n = 0;
  double missed = 0;
  Cursor cursor = {0};
  Event e;
  const Plan *p = &stage.run.plan;
  while (schedule_next(stage.run.schedule, p, &cursor, &e)) {
    if (e.bytes == 0) continue;
    const int64_t units = (int64_t)((double)e.bytes / unit_bytes);
    int64_t first = (e.tensor == IMPLIED_K || e.tensor == IMPLIED_V ? e.j : e.i) * units;
    if (e.tensor == IMPLIED_S || e.tensor == IMPLIED_P) first = (e.i * p->T_c + e.j) * units;
    assert_true((double)units * unit_bytes == (double)e.bytes);
    for (int64_t k = 0; k < units; k++)
      if (!touch(list, &n, ((uint64_t)e.tensor << 32) + (uint64_t)(first + k), capacity)) missed += unit_bytes;
  }
  return missed;
}

TEST(test_misses) {
  static const char *const STATES[] = {
      "algorithm=fa2 N=64 d=16 block=8 causal=1", "algorithm=fa2 N=64 d=16 block-q=16 block-k=8 gpu=tiny",
      "algorithm=standard N=64 d=16 block=8", "algorithm=fa2 N=32 d=8 block=4 window=9"};
  for (int k = 0; k < 4; k++) {
    open_state(STATES[k], 0);
    const MissCurve *c = &numbers.misses;
    assert_true(c->is_known);
    assert_int_equal(c->widening, 1);
    assert_true(c->total_bytes == (double)now.whole_bytes);
    for (int n = 0; n < c->n; n++) {
      if (n > 0)
        assert_true(c->capacity_bytes[n] > c->capacity_bytes[n - 1] && c->missed_bytes[n] <= c->missed_bytes[n - 1]);
      expect_near(c->missed_bytes[n], brute_force((int)(c->capacity_bytes[n] / c->unit_bytes + 0.5), c->unit_bytes));
    }
    expect_near(c->missed_bytes[c->n - 1], c->first_bytes);
    if (c->l2_bytes > 0)
      expect_near(c->l2_missed_bytes, brute_force((int)(c->l2_bytes / c->unit_bytes), c->unit_bytes));
    stage_free(&stage);
  }
}

/* A long head is walked in wider tiles: where the whole head was walked too, the curves agree to a unit of capacity and
 * the part of the traffic that tiles at the mask's edge add. First uses are every byte once. */
TEST(test_long_heads) {
  open_state("algorithm=fa2 N=65536 d=128 block=64 causal=1 gpu=h200", 0);
  const MissCurve *c = &numbers.misses;
  assert_true(c->is_known && c->widening > 1);
  expect_near(c->first_bytes, 4.0 * 65536 * 128 * 2);
  /* Row i re-reads K and V of rows 0..i: before a use of a tile lie the 2 x 128 B x 64 (i + 1) of one row of tiles.
   * Rows whose keys exceed the capacity C miss all of them: the part 1 - (C / 32 MiB)^2 of what is read again. */
  const double again = c->total_bytes - c->first_bytes, whole = 2.0 * 65536 * 256;
  for (double part = 0.1; part < 0.95; part += 0.1) {
    const double expected = c->first_bytes + again * (1 - part * part), got = chart_missed_at(c, part * whole);
    if (fabs(got - expected) > 0.02 * c->total_bytes)
      fail_msg("at %.0f %% of K and V: %.4g, expected %.4g", part * 100, got, expected);
  }
  assert_true(chart_missed_at(c, 1.1 * whole) == c->first_bytes);
  stage_free(&stage);
  open_state("algorithm=fa2 N=128M d=128 block=64 gpu=h200", 0);
  assert_false(numbers.misses.is_known);
  assert_non_null(strstr(numbers.misses.why_not, "too long"));
  assert_true(numbers.misses.l2_bytes == 60 << 20);
  stage_free(&stage);
}

/* fa1's m and l take hardly room, and the ends are exact all the same. */
TEST(test_ends_of_the_curve) {
  static const char *const STATES[] = {
      "algorithm=fa1 N=256 d=64 block=32", "algorithm=fa2-split N=1 seq-len-k=4096 d=128 block-q=1 block-k=64 splits=4",
      "algorithm=fa1 N=100 d=24 block=16 causal=1", "algorithm=standard N=1000 d=40 block-q=64 block-k=32"};
  for (int k = 0; k < 4; k++) {
    open_state(STATES[k], 0);
    const MissCurve *c = &numbers.misses;
    assert_true(c->is_known && c->n > 0 && c->n <= CHART_CURVE_POINTS);
    assert_true(c->first_bytes > 0 && c->first_bytes <= c->total_bytes && c->total_bytes == (double)now.whole_bytes);
    assert_true(c->missed_bytes[0] <= c->total_bytes * (1 + 1e-12) &&
                fabs(c->missed_bytes[c->n - 1] - c->first_bytes) < 1e-9 * c->total_bytes);
    stage_free(&stage);
  }
}

static Status make_numbers(void *context, Error *error) {
  chart_numbers_make(context, &now);
  return numbers.misses.is_known ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "%s", numbers.misses.why_not);
}

/* Without memory there is no curve, and it says so. */
TEST(test_out_of_memory) {
  open_state("algorithm=fa2 N=64 d=16 block=8", 0);
  assert_true(alloc_fail_each(make_numbers, &numbers) >= 1);
  stage_free(&stage);
}
