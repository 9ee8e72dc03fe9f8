/* The shipped programs against the papers' loops written out in C, event by event: what is moved, computed and skipped,
 * in which order, with bytes and FLOPs counted pair by pair. */
#include "tests/support/test.h"
#include "sim/algorithms/schedule.h"
#include "tests/support/implied.h"
#include "tests/support/random_plan.h"

typedef struct {
  const Schedule *schedule;
  const Plan *plan;
  Cursor cursor;
  int64_t i, j, split; /* of the loops here */
  Traffic traffic;
} Walk;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t rows(const Walk *w) {
  return least(w->plan->tiling.B_r, w->plan->shape.N_q - w->i * w->plan->tiling.B_r);
}
static int64_t keys(const Walk *w) {
  return least(w->plan->tiling.B_c, w->plan->shape.N_k - w->j * w->plan->tiling.B_c);
}

/* What the mask leaves of tile (i, j), pair by pair. */
static TileKind kind_at(const Walk *w, int64_t i, int64_t j) {
  const Shape *s = &w->plan->shape;
  const Tiling *t = &w->plan->tiling;
  int64_t seen = 0, all = 0;
  for (int64_t row = i * t->B_r; row < least((i + 1) * t->B_r, s->N_q); row++)
    for (int64_t key = j * t->B_c; key < least((j + 1) * t->B_c, s->N_k); key++, all++) {
      const int64_t at = row + s->N_k - s->N_q; /* the mask ends in the bottom right corner */
      const bool after = s->causal ? key > at : s->window && key >= at + s->window;
      seen += !after && !(s->window && key <= at - s->window);
    }
  return seen == all ? TILE_FULL : seen ? TILE_PARTIAL : TILE_SKIPPED;
}

static void expect(Walk *w, EventKind kind, int tensor, int64_t bytes, int64_t flops) {
  Event e;
  assert_true(schedule_next(w->schedule, w->plan, &w->cursor, &e));
  const char *was = test_text("%s %s, %d bytes, %d FLOPs", event_kind_name(kind), w->schedule->tensors[tensor].text,
                              (int)bytes, (int)flops);
  assert_string_equal(test_text("%s %s, %d bytes, %d FLOPs", event_kind_name((EventKind)e.kind),
                                w->schedule->tensors[e.tensor].text, (int)e.bytes, (int)e.flops),
                      was);
  if (w->i >= 0) {
    assert_int_equal(e.i, w->i);
    assert_int_equal(e.row0, w->i * w->plan->tiling.B_r);
    assert_int_equal(e.row1 - e.row0, rows(w));
  }
  if (w->j >= 0) {
    assert_int_equal(e.j, w->j);
    assert_int_equal(e.col0, w->j * w->plan->tiling.B_c);
    assert_int_equal(e.col1 - e.col0, keys(w));
    if (w->i >= 0) assert_int_equal(e.tile == TILE_FULL, kind_at(w, w->i, w->j) == TILE_FULL);
  }
  assert_int_equal(e.split, w->split);
  traffic_add(&w->traffic, w->schedule, &e);
}

static void load(Walk *w, int t, int64_t elements) { expect(w, EVENT_LOAD, t, elements * w->plan->element_bytes, 0); }
static void store(Walk *w, int t, int64_t elements) { expect(w, EVENT_STORE, t, elements * w->plan->element_bytes, 0); }
static void load_rows(Walk *w, int t) { load(w, t, rows(w) * w->plan->shape.d); }
static void load_keys(Walk *w, int t) { load(w, t, keys(w) * w->plan->shape.d); }
static void load_stats(Walk *w, int64_t n) { expect(w, EVENT_LOAD, IMPLIED_STATS, n * rows(w) * STATS_BYTES, 0); }
static void store_stats(Walk *w, int64_t n) { expect(w, EVENT_STORE, IMPLIED_STATS, n * rows(w) * STATS_BYTES, 0); }
static void does(Walk *w, EventKind kind, int t) { expect(w, kind, t, 0, 0); }
static void multiply(Walk *w, EventKind kind, int t) {
  expect(w, kind, t, 0, 2 * rows(w) * keys(w) * w->plan->shape.d);
}
static void product_and_mask(Walk *w) {
  multiply(w, EVENT_PRODUCT, IMPLIED_S);
  if (kind_at(w, w->i, w->j) != TILE_FULL) does(w, EVENT_MASK, IMPLIED_S);
}

/* Dao et al. 2022, Algorithm 0, each matrix once a pass; frameworks compute every score, then mask. */
static void standard(Walk *w) {
  const Plan *p = w->plan;
  for (w->i = 0; w->i < p->T_r; w->i++) {
    w->j = -1;
    load_rows(w, IMPLIED_Q);
    for (w->j = 0; w->j < p->T_c; w->j++) {
      if (w->i == 0) load_keys(w, IMPLIED_K);
      product_and_mask(w);
      store(w, IMPLIED_S, rows(w) * keys(w));
    }
  }
  for (w->i = 0; w->i < p->T_r; w->i++) {
    for (w->j = 0; w->j < p->T_c; w->j++) {
      load(w, IMPLIED_S, rows(w) * keys(w));
      does(w, EVENT_NEW_MAX, IMPLIED_STATS);
    }
    for (w->j = 0; w->j < p->T_c; w->j++) {
      does(w, EVENT_NORMALISE, IMPLIED_P);
      store(w, IMPLIED_P, rows(w) * keys(w));
    }
  }
  for (w->i = 0; w->i < p->T_r; w->i++) {
    for (w->j = 0; w->j < p->T_c; w->j++) {
      load(w, IMPLIED_P, rows(w) * keys(w));
      if (w->i == 0) load_keys(w, IMPLIED_V);
      multiply(w, EVENT_ACCUMULATE, IMPLIED_O);
    }
    w->j = -1;
    store(w, IMPLIED_O, rows(w) * p->shape.d);
  }
}

/* Dao et al. 2022, Algorithm 1. */
static void fa1(Walk *w) {
  const Plan *p = w->plan;
  for (w->i = 0, w->j = -1; w->i < p->T_r; w->i++) {
    store(w, IMPLIED_O, rows(w) * p->shape.d);
    store_stats(w, 2);
  }
  for (w->j = 0; w->j < p->T_c; w->j++) {
    bool is_seen = false;
    for (int64_t i = 0; i < p->T_r; i++) is_seen |= kind_at(w, i, w->j) != TILE_SKIPPED;
    w->i = -1;
    if (is_seen) load_keys(w, IMPLIED_K), load_keys(w, IMPLIED_V);
    for (w->i = 0; w->i < p->T_r; w->i++) {
      if (kind_at(w, w->i, w->j) == TILE_SKIPPED) {
        does(w, EVENT_SKIP, IMPLIED_S);
        continue;
      }
      load_rows(w, IMPLIED_Q), load_rows(w, IMPLIED_O);
      load_stats(w, 2);
      product_and_mask(w);
      does(w, EVENT_NEW_MAX, IMPLIED_STATS), does(w, EVENT_RESCALE, IMPLIED_O);
      multiply(w, EVENT_ACCUMULATE, IMPLIED_O);
      does(w, EVENT_NORMALISE, IMPLIED_O);
      store(w, IMPLIED_O, rows(w) * p->shape.d);
      store_stats(w, 2);
    }
  }
}

/* Dao 2023, Algorithm 1, lines 5 to 15, over column blocks [begin, end). */
static void fa2_row(Walk *w, int64_t begin, int64_t end) {
  bool sees = false;
  for (int64_t j = begin; j < end; j++) sees |= kind_at(w, w->i, j) != TILE_SKIPPED;
  w->j = -1;
  if (sees) load_rows(w, IMPLIED_Q);
  for (w->j = begin; w->j < end; w->j++) {
    if (kind_at(w, w->i, w->j) == TILE_SKIPPED) {
      does(w, EVENT_SKIP, IMPLIED_S);
      continue;
    }
    load_keys(w, IMPLIED_K);
    product_and_mask(w);
    does(w, EVENT_NEW_MAX, IMPLIED_STATS), does(w, EVENT_RESCALE, IMPLIED_O);
    load_keys(w, IMPLIED_V);
    multiply(w, EVENT_ACCUMULATE, IMPLIED_O);
  }
  w->j = -1;
  does(w, EVENT_NORMALISE, IMPLIED_O);
}

static void fa2(Walk *w) {
  for (w->i = 0; w->i < w->plan->T_r; w->i++) {
    fa2_row(w, 0, w->plan->T_c);
    store(w, IMPLIED_O, rows(w) * w->plan->shape.d);
    if (w->plan->tiling.lse) store_stats(w, 1);
  }
}

/* Flash-Decoding: parts of O, and the log-sum-exps to combine them by, in fp32. */
static void fa2_split(Walk *w) {
  const Plan *p = w->plan;
  const int64_t n = p->tiling.n_splits, part = (p->T_c + n - 1) / n;
  if (n == 1) {
    fa2(w);
    return;
  }
  for (w->i = 0; w->i < p->T_r; w->i++)
    for (w->split = 0; w->split < n; w->split++) {
      fa2_row(w, least(w->split * part, p->T_c), least((w->split + 1) * part, p->T_c));
      expect(w, EVENT_STORE, IMPLIED_O, rows(w) * p->shape.d * 4, 0);
      store_stats(w, 1);
    }
  for (w->i = 0; w->i < p->T_r; w->i++) {
    for (w->split = 0; w->split < n; w->split++) load_stats(w, 1), does(w, EVENT_NEW_MAX, IMPLIED_STATS);
    for (w->split = 0; w->split < n; w->split++) {
      expect(w, EVENT_LOAD, IMPLIED_O, rows(w) * p->shape.d * 4, 0);
      does(w, EVENT_ACCUMULATE, IMPLIED_O);
    }
    w->split = 0;
    does(w, EVENT_NORMALISE, IMPLIED_O);
    store(w, IMPLIED_O, rows(w) * p->shape.d);
    if (p->tiling.lse) store_stats(w, 1);
  }
}

static const struct {
  const char *name;
  void (*walk)(Walk *);
} PROGRAMS[] = {{"standard", standard}, {"fa1", fa1}, {"fa2", fa2}, {"fa2-split", fa2_split}};
enum { N_WALKS = COUNT_OF(PROGRAMS) };

TEST(programs_do_what_the_papers_do) {
  Rand r = {7};
  for (int n = 0; n < 500; n++) {
    const Plan plan = random_plan(&r, DTYPE_FP16);
    for (int k = 0; k < N_WALKS; k++) {
      Walk w = {.schedule = schedule_find(PROGRAMS[k].name), .plan = &plan, .i = -1, .j = -1};
      assert_non_null(w.schedule);
      PROGRAMS[k].walk(&w);
      Event e;
      assert_false(schedule_next(w.schedule, &plan, &w.cursor, &e));
      Traffic closed = {0};
      bool overflow = false;
      schedule_traffic(w.schedule, &plan, &closed, &overflow);
      assert_memory_equal(&closed, &w.traffic, sizeof closed);
    }
  }
}

/* Storage besides inputs and outputs: S and P; m and l; for each split a part of O in fp32 and its log-sum-exp. */
TEST(what_lies_in_hbm_between) {
  const Shape shape = {.N_q = 100, .N_k = 70, .d = 16};
  const Wide bytes[N_WALKS] = {2 * 100 * 70 * 2, 100 * 2 * 4, 0, 3 * 100 * (16 * 4 + 4)};
  Plan plan;
  must(plan_make(&plan, &shape, &(Tiling){.B_r = 8, .B_c = 8, .n_splits = 3}, NULL));
  for (int k = 0; k < N_WALKS; k++) {
    bool overflow = false;
    assert_true(schedule_intermediate_bytes(schedule_find(PROGRAMS[k].name), &plan, &overflow) == bytes[k]);
  }
}

/* The papers' sums: whole tiles in fp16, of which P is where S was, and m and l in fp32. Of standard attention's three
 * kernels the one that needs most. */
TEST(sram_is_the_papers_sum) {
  static const int64_t SIZES[] = {16, 64, 128};
  for (int b = 0; b < 3; b++)
    for (int k = 0; k < 3; k++) {
      const int64_t B = SIZES[b], d = SIZES[k], tile = B * d * 2, scores = B * B * 2, columns = 2 * B * 4;
      const SramSizes sizes = {.B_r = B, .B_c = B, .d = d, .d_v = d, .element_bytes = 2};
      for (int n = 0; n < N_WALKS; n++) {
        const SramBudget is = sram_budget(schedule_find(PROGRAMS[n].name), &sizes);
        assert_true(is.bytes == (Wide)(n == 0 ? 2 * tile + scores : 4 * tile + scores + columns));
        assert_true(is.inputs == (Wide)(n == 0 ? 2 * tile : 3 * tile));
        assert_true(is.columns == (Wide)(n == 0 ? 0 : columns));
        assert_true(is.inputs + is.accumulators + is.columns == is.bytes);
      }
    }
}

/* Two products a pair, and the exponentials of the text: standard attention takes one for l and one for P. */
TEST(costs_of_a_pair) {
  const Shape shape = {.N_q = 40, .N_k = 40, .d = 16, .d_v = 8};
  Plan plan;
  must(plan_make(&plan, &shape, &(Tiling){.B_r = 8, .B_c = 8, .n_splits = 3}, NULL));
  for (int n = 0; n < N_WALKS; n++) {
    const PairCost cost = schedule_pair_cost(schedule_find(PROGRAMS[n].name), &plan);
    assert_true(cost.flops == 2 * 16 + 2 * 8 && cost.is_all);
    assert_true(cost.exps == (n == 0 ? 2 : 1));
  }
  assert_true(schedule_pair_cost(schedule_find("fa2-backward"), &plan).flops == 2 * (3 * 16 + 2 * 8));
}
