/* The event stream against its closed forms, against the mask's definition, and against itself (seek). Guards the one
 * idea of the program: what is animated is what is counted. */
#include "tests/support/test.h"
#include "sim/algorithms/schedule.h"
#include "tests/support/implied.h"
#include "tests/support/rand.h"

enum { MAX_N = 48, N_RANDOM_SHAPES = 4000 }; /* for each of the schedules */

static Plan random_plan(Rand *r) {
  static const int64_t D[] = {1, 3, 16, 20, 64, 128};
  Shape shape = {.N_q = rand_in(r, 1, MAX_N),
                 .N_k = rand_in(r, 1, MAX_N),
                 .d = D[rand_in(r, 0, 5)],
                 .dtype = (Dtype)rand_in(r, 0, DTYPE_COUNT - 1),
                 .causal = rand_in(r, 0, 1)};
  if (rand_in(r, 0, 3) == 0) shape.N_k = shape.N_q;
  if (rand_in(r, 0, 2) == 0) shape.window = rand_in(r, 1, MAX_N + 8);
  const Tiling tiling = {
      .B_r = rand_in(r, 1, 20), .B_c = rand_in(r, 1, 20), .n_splits = rand_in(r, 1, 6), .lse = rand_in(r, 0, 1)};
  Plan plan;
  assert_int_equal(plan_make(&plan, &shape, &tiling, NULL), STATUS_OK);
  return plan;
}

/* `of_line`: bytes of each line, added up. */
static Traffic fold_events(const Schedule *s, const Plan *plan, Wide of_line[PROGRAM_LINES_MAX]) {
  Traffic t = {0};
  memset(of_line, 0, PROGRAM_LINES_MAX * sizeof *of_line);
  Cursor c = {0};
  Event e;
  while (schedule_next(s, plan, &c, &e)) {
    assert_int_equal(e.step, t.steps);
    traffic_add(&t, s, &e);
    of_line[e.line] += e.bytes;
  }
  assert_false(schedule_next(s, plan, &c, &e)); /* the end stays the end */
  return t;
}

/* Events equal closed forms, tensor by tensor, on random shapes. */
TEST(events_equal_closed_forms) {
  for (int k = 0; k < N_SCHEDULES; k++) {
    Rand r = {11 + (uint64_t)k};
    for (int n = 0; n < N_RANDOM_SHAPES; n++) {
      const Plan plan = random_plan(&r);
      Wide of_line[PROGRAM_LINES_MAX];
      const Traffic folded = fold_events(SCHEDULES[k], &plan, of_line);
      Traffic closed = {0};
      bool overflow = false;
      schedule_traffic(SCHEDULES[k], &plan, &closed, &overflow);
      assert_false(overflow);
      assert_true(traffic_equal(&folded, &closed));
      assert_true(folded.steps == schedule_n_steps(SCHEDULES[k], &plan));
      for (int line = 0; line < SCHEDULES[k]->n_lines; line++)
        assert_true(of_line[line] == schedule_line_bytes(SCHEDULES[k], &plan, line));
    }
  }
}

/* The definition of the mask, written out. */
static bool allowed(const Shape *s, int64_t i, int64_t j) {
  const int64_t p = i + s->N_k - s->N_q;
  if (s->causal && j > p) return false;
  if (s->window && j <= p - s->window) return false;
  return !(s->window && !s->causal && j >= p + s->window);
}

/* Every allowed pair is multiplied once in S = Q K^T and once in P V; no tile that holds none is touched by
 * a schedule that skips; MASK comes exactly for tiles that hold a masked pair. */
TEST(every_allowed_pair_is_computed_once) {
  Rand r = {5};
  for (int n = 0; n < 1500; n++) {
    const Plan plan = random_plan(&r);
    const Schedule *s = SCHEDULES[n % N_SCHEDULES];
    static uint8_t products[MAX_N][MAX_N], sums[MAX_N][MAX_N], masked[MAX_N][MAX_N];
    memset(products, 0, sizeof products);
    memset(sums, 0, sizeof sums);
    memset(masked, 0, sizeof masked);
    Cursor c = {0};
    Event e;
    while (schedule_next(s, &plan, &c, &e)) {
      for (int64_t i = e.row0; i < e.row1; i++) {
        for (int64_t j = e.col0; j < e.col1; j++) {
          products[i][j] = (uint8_t)(products[i][j] + (e.kind == EVENT_PRODUCT));
          sums[i][j] = (uint8_t)(sums[i][j] + (e.kind == EVENT_ACCUMULATE));
          masked[i][j] = (uint8_t)(masked[i][j] + (e.kind == EVENT_MASK));
          if (e.kind == EVENT_SKIP) assert_false(allowed(&plan.shape, i, j));
        }
      }
    }
    for (int64_t i = 0; i < plan.shape.N_q; i++) {
      for (int64_t j = 0; j < plan.shape.N_k; j++) {
        assert_int_equal(sums[i][j], products[i][j]);
        if (allowed(&plan.shape, i, j))
          assert_int_equal(products[i][j], 1);
        else
          assert_int_equal(products[i][j], masked[i][j]);
      }
    }
  }
}

/* Loads of each block and stores of O, counted in arrays, against the closed forms of `loads`. */
TEST(loads_per_block_are_what_the_events_show) {
  Rand r = {77};
  for (int n = 0; n < 4000; n++) {
    const Plan plan = random_plan(&r);
    const Schedule *s = SCHEDULES[n % N_SCHEDULES];
    int64_t loads[IMPLIED_COUNT][MAX_N] = {{0}}, stores_of_O[MAX_N] = {0};
    Cursor c = {0};
    Event e;
    while (schedule_next(s, &plan, &c, &e)) {
      const bool by_column = e.tensor == IMPLIED_K || e.tensor == IMPLIED_V;
      if (e.kind == EVENT_LOAD) loads[e.tensor][by_column ? e.j : e.i]++;
      if (e.kind == EVENT_STORE && e.tensor == IMPLIED_O) stores_of_O[e.i]++;
    }
    int64_t most[IMPLIED_COUNT] = {0};
    for (int t = 0; t < IMPLIED_COUNT; t++)
      for (int b = 0; b < MAX_N; b++)
        if (loads[t][b] > most[t]) most[t] = loads[t][b];
    const LoadsPerBlock want = schedule_loads(s, &plan);
    assert_int_equal(most[IMPLIED_Q], want.of[IMPLIED_Q]);
    assert_int_equal(most[IMPLIED_K], want.of[IMPLIED_K]);
    assert_int_equal(most[IMPLIED_V], want.of[IMPLIED_V]);
    if (strcmp(s->name, "fa2") == 0 || strcmp(s->name, "standard") == 0)
      for (int64_t i = 0; i < plan.T_r; i++) assert_int_equal(stores_of_O[i], 1);
  }
}

/* Seeking to a step and stepping to it give the same cursor from there on: the next events are equal. */
TEST(seeking_equals_stepping) {
  Rand r = {99};
  for (int n = 0; n < 1200; n++) {
    const Plan plan = random_plan(&r);
    const Schedule *s = SCHEDULES[n % N_SCHEDULES];
    Cursor stepped = {0};
    Event a, b;
    const uint64_t n_steps = (uint64_t)schedule_n_steps(s, &plan);
    for (uint64_t step = 0; step <= n_steps; step++) {
      Cursor sought;
      memset(&sought, 0xAA, sizeof sought); /* seek must not depend on what was there */
      assert_true(schedule_seek(s, &plan, &sought, step));
      assert_int_equal(sought.step, step);
      const bool more = schedule_next(s, &plan, &stepped, &a);
      assert_int_equal(schedule_next(s, &plan, &sought, &b), more);
      if (more) assert_memory_equal(&a, &b, sizeof a);
    }
    Cursor beyond = {0};
    assert_false(schedule_seek(s, &plan, &beyond, n_steps + 1));
  }
}

/* A copied cursor is a bookmark: walking on and coming back gives the same events again. */
TEST(a_copied_cursor_is_a_bookmark) {
  Rand r = {3};
  const Plan plan = random_plan(&r);
  for (int k = 0; k < N_SCHEDULES; k++) {
    Cursor c = {0};
    Event first, again, other;
    for (int n = 0; n < 5; n++) assert_true(schedule_next(SCHEDULES[k], &plan, &c, &first));
    const Cursor bookmark = c;
    assert_true(schedule_next(SCHEDULES[k], &plan, &c, &first));
    while (schedule_next(SCHEDULES[k], &plan, &c, &other)) {
    }
    c = bookmark;
    assert_true(schedule_next(SCHEDULES[k], &plan, &c, &again));
    assert_memory_equal(&first, &again, sizeof first);
  }
}

static Traffic closed_form(const char *name, Shape shape, Tiling tiling) {
  Plan plan;
  assert_int_equal(plan_make(&plan, &shape, &tiling, NULL), STATUS_OK);
  Traffic t = {0};
  bool overflow = false;
  schedule_traffic(schedule_find(name), &plan, &t, &overflow);
  assert_false(overflow);
  return t;
}

static uint64_t total(const Traffic *t) {
  bool overflow = false;
  return (uint64_t)(traffic_read_bytes(t, &overflow) + traffic_write_bytes(t, &overflow));
}

/* The formulas of the papers, worked out by hand for N = 4096, d = 128, fp16, B = 128. */
TEST(the_formulas_of_the_papers) {
  const Shape shape = {.N_q = 4096, .d = 128};
  const Tiling tiling = {.B_r = 128, .B_c = 128};
  const uint64_t N = 4096, d = 128, T = 32, MiB = 1 << 20;
  Traffic t = closed_form("standard", shape, tiling);
  assert_int_equal(total(&t), (4 * N * N + 4 * N * d) * 2);
  assert_int_equal(total(&t), 132 * MiB);
  t = closed_form("fa2", shape, tiling);
  assert_int_equal(total(&t), (N * d + T * 2 * N * d + N * d) * 2);
  assert_int_equal(total(&t), 66 * MiB);
  t = closed_form("fa1", shape, tiling);
  const uint64_t reads = (2 * N * d + T * 2 * N * d) * 2 + T * 2 * N * 4;
  const uint64_t writes = T * (N * d * 2 + 2 * N * 4) + N * d * 2 + 2 * N * 4;
  assert_int_equal(total(&t), reads + writes);
  assert_int_equal(t.flops, 4 * N * N * d);
}

/* FlashAttention's Fig. 2 setting, GPT-2 medium: 16 heads of 64, N = 1024, batch 64, on an SM with 192 KB: Algorithm 1
 * gives B_c = 384. Forward part of its 4.4 GB: 12 N d fp16 + 14 N fp32 per head (T_c = 3), 1024 heads. */
TEST(gpt2_medium_forward_moves_1_669_GB) {
  const Tiling tiling = tiling_algorithm1(192 * 1024, 2, 64);
  assert_int_equal(tiling.B_c, 384);
  assert_int_equal(tiling.B_r, 64);
  Traffic t = closed_form("fa1", (Shape){.N_q = 1024, .d = 64}, tiling);
  bool overflow = false;
  traffic_scale(&t, 64 * 16, &overflow);
  assert_int_equal(total(&t), 1024ull * (12 * 1024 * 64 * 2 + 14 * 1024 * 4));
  assert_true(total(&t) / 1000000 == 1669);
}

/* 2^31 tokens and 128 heads: totals beyond 64 bits, exact. Standard: 4 N^2 x 2 B x 128 = 2^72 plus 4 N d. */
TEST(a_question_too_big_to_step_through) {
  const Shape shape = {.N_q = (int64_t)1 << 31, .d = 128};
  Traffic t = closed_form("standard", shape, (Tiling){.B_r = 128, .B_c = 128});
  bool overflow = false;
  traffic_scale(&t, 128, &overflow);
  const Wide bytes = traffic_read_bytes(&t, &overflow) + traffic_write_bytes(&t, &overflow);
  assert_false(overflow);
  assert_true(bytes == ((Wide)1 << 72) + ((Wide)1 << 48));
}

TEST(bad_plans_are_refused_with_a_reason) {
  static const struct {
    Shape shape;
    Tiling tiling;
    Status status;
    const char *says;
  } CASES[] = {
      {{.N_q = 0, .d = 64}, {.B_r = 1, .B_c = 1}, STATUS_BAD_REQUEST, "sequence length N is 0"},
      {{.N_q = -5, .d = 64}, {.B_r = 1, .B_c = 1}, STATUS_BAD_REQUEST, "at least 1"},
      {{.N_q = 8, .d = 0}, {.B_r = 1, .B_c = 1}, STATUS_BAD_REQUEST, "head dimension d is 0"},
      {{.N_q = 8, .d = 1 << 20}, {.B_r = 1, .B_c = 1}, STATUS_TOO_LARGE, "at most 65536"},
      {{.N_q = 8, .d = 4, .heads = 6, .kv_heads = 4}, {.B_r = 1, .B_c = 1}, STATUS_BAD_REQUEST, "must divide"},
      {{.N_q = 8, .d = 4, .window = -1}, {.B_r = 1, .B_c = 1}, STATUS_BAD_REQUEST, "window is -1"},
      {{.N_q = 8, .d = 4}, {.B_r = 0, .B_c = 1}, STATUS_BAD_REQUEST, "B_r is 0"},
      {{.N_q = 8, .d = 4}, {.B_r = 1, .B_c = 1 << 21}, STATUS_TOO_LARGE, "B_c is 2097152"},
      {{.N_q = 8, .d = 4}, {.B_r = 1, .B_c = 1, .n_splits = -2}, STATUS_BAD_REQUEST, "-2 splits"},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
    Plan plan, before;
    memset(&plan, 0x55, sizeof plan);
    before = plan;
    Error error = {0};
    assert_int_equal(plan_make(&plan, &CASES[k].shape, &CASES[k].tiling, &error), CASES[k].status);
    assert_non_null(strstr(error.message, CASES[k].says));
    assert_memory_equal(&plan, &before, sizeof plan); /* nothing half-written */
  }
}
