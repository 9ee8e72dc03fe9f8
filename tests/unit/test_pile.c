/* Piles against a slow look-up: each event's class by comparing it with all others, at every step of every program. */
#include "tests/support/sanitized.h"
#include "tests/support/snapshot_stage.h"
#include "viz/scene/pile.h"

enum { EVENTS_MAX = 4096 };

static Event events[EVENTS_MAX];
static PileClass classes[EVENTS_MAX];
static int n_events;

/* ---- The look-up ------------------------------------------------------------------------------------------- */

static bool is_part(const Schedule *s, const Event *e) { return s->names[s->ops[e->op].moved[0]].subscripts & IN_S; }

static bool is_score(const Schedule *s, const Event *e) {
  const ProgramTensor *t = &s->tensors[e->tensor];
  return e->bytes && t->role == TENSOR_BETWEEN && sides_are_tile(t->rows, t->cols);
}

/* Whether they move the same block of the same tensor, by the ranges of its own sides. */
static bool is_same_block(const Schedule *s, const Event *a, const Event *b) {
  const ProgramTensor *t = &s->tensors[a->tensor];
  const uint8_t sides = sides_blocks(t->rows, t->cols);
  return a->tensor == b->tensor && a->head == b->head && is_part(s, a) == is_part(s, b) &&
         (!(sides & IN_I) || (a->row0 == b->row0 && a->row1 == b->row1)) &&
         (!(sides & IN_J) || (a->col0 == b->col0 && a->col1 == b->col1));
}

static PileClass class_of(const Schedule *s, int k) {
  const Event *e = &events[k];
  const int role = s->tensors[e->tensor].role, way = role == TENSOR_INPUT ? -1 : 1;
  if (role == TENSOR_BETWEEN || is_part(s, e)) return PILE_BETWEEN;
  if (event_goes_out(e->kind) != (role == TENSOR_OUTPUT)) return PILE_AGAIN;
  for (int other = k + way; other >= 0 && other < n_events; other += way)
    if (events[other].bytes && event_goes_out(events[other].kind) == event_goes_out(e->kind) &&
        is_same_block(s, e, &events[other]))
      return PILE_AGAIN;
  return PILE_ONCE;
}

static bool list_events(const Pile *p) {
  Cursor cursor = {0};
  if (p->n_steps > EVENTS_MAX) return false;
  for (n_events = 0; schedule_next(p->schedule, &p->plan, &cursor, &events[n_events]);) n_events++;
  for (int k = 0; k < n_events; k++)
    if (events[k].bytes) classes[k] = class_of(p->schedule, k);
  return true;
}

static int row_of(const Pile *p, const Event *e) { return (int)(e->i * p->rows / p->plan.T_r); }
static int column_of(const Pile *p, const Event *e) { return (int)(e->j * p->columns / p->plan.T_c); }

/* ---- The law --------------------------------------------------------------------------------------------------- */

static void check_squares(const Pile *p, Wide unit) {
  Wide so_far[PILE_CLASSES] = {0};
  int begun[PILE_CLASSES] = {0}, n = 0;
  for (int k = 0; k < n_events; k++) {
    if (!events[k].bytes) continue;
    const PileClass c = classes[k];
    so_far[c] += events[k].bytes;
    for (; (Wide)begun[c] * unit < so_far[c]; begun[c]++, n++) assert_true(n < p->n_squares && p->squares[n] == c);
  }
  assert_int_equal(n, p->n_squares);
}

/* After `k` events, and half of the next. */
static void check_moment(const Pile *p, int k, const double bytes[PILE_CLASSES], double burnt[PILE_CELLS][PILE_CELLS],
                         bool half) {
  static PileMoment m;
  const PileMoment before = m;
  double clock = half ? (double)events[k].bytes / 2 : 0;
  for (int c = 0; c < PILE_CLASSES; c++) clock += bytes[c];
  pile_at(p, clock, &m);
  for (int c = 0; c < PILE_CLASSES; c++) {
    const double expected = bytes[c] + (half && (int)classes[k] == c ? (double)events[k].bytes / 2 : 0);
    assert_true(m.bytes[c] == expected);
    assert_true(k + half == 0 || before.bytes[c] <= m.bytes[c]);
  }
  for (int row = 0; row < p->rows; row++)
    for (int column = 0; column < p->columns; column++) {
      const bool is_here = half && is_score(p->schedule, &events[k]) && row_of(p, &events[k]) == row &&
                           column_of(p, &events[k]) == column;
      const double all = (double)p->cell_scores[row][column],
                   part = all > 0 ? (burnt[row][column] + (is_here ? (double)events[k].bytes / 2 : 0)) / all : 0;
      assert_near(m.burnt[row][column], part, 1e-9);
      assert_true(part <= 0 || p->is_visited[row][column]);
    }
  assert_int_equal(m.is_over, k == n_events);
  if (!m.n_trail) return;
  int last = half ? k : k - 1;
  while (events[last].i < 0 || events[last].j < 0 || events[last].kind == EVENT_SKIP) last--;
  assert_true(m.trail[0].row == row_of(p, &events[last]) && m.trail[0].column == column_of(p, &events[last]));
}

static void check_pile(const Pile *p, Wide unit) {
  static double burnt[PILE_CELLS][PILE_CELLS];
  static bool seen[PILE_CELLS][PILE_CELLS];
  double bytes[PILE_CLASSES] = {0}, stored[2][PILE_CELLS] = {0};
  PileMoment end;
  memset(burnt, 0, sizeof burnt);
  memset(seen, 0, sizeof seen);
  check_squares(p, unit);
  for (int k = 0; k < n_events; k++) {
    const Event *e = &events[k];
    if (e->i >= 0 && e->j >= 0 && e->kind != EVENT_SKIP) seen[row_of(p, e)][column_of(p, e)] = true;
    if (!e->bytes) continue;
    check_moment(p, k, bytes, burnt, false);
    check_moment(p, k, bytes, burnt, true);
    bytes[classes[k]] += (double)e->bytes;
    if (is_score(p->schedule, e)) burnt[row_of(p, e)][column_of(p, e)] += (double)e->bytes;
  }
  check_moment(p, n_events, bytes, burnt, false);
  assert_memory_equal(seen, p->is_visited, sizeof seen);
  pile_at(p, bytes[0] + bytes[1] + bytes[2], &end);
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < PILE_CELLS; k++) stored[side][k] = p->outputs[side][k] > 0;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < PILE_CELLS; k++) assert_near(end.stored[side][k], stored[side][k], 1e-9);
}

/* How many of its runs are short enough to be looked up. */
static int check_state(const char *line) {
  static Snapshot now;
  Request request = {0};
  Stage stage;
  Piles all;
  int n = 0;
  Wide most = 0, squares = 0;
  must(request_read(&request, line, false, fresh_error()));
  if (request_stage(&request, &stage, fresh_error()) == STATUS_OK) {
    stage_snapshot(&stage, 0, &now);
    piles_make(&all, &now, PILES_ALL);
    for (int k = 0; k < all.n; k++) {
      Pile *p = &all.piles[k];
      most = p->n_squares > (int)most ? (Wide)p->n_squares : most;
      Wide twice = 0; /* with squares of half the size */
      for (int c = 0; c < PILE_CLASSES; c++) twice += (2 * p->whole[c] + all.unit - 1) / all.unit;
      squares = twice > squares ? twice : squares;
      if (!p->is_known || !list_events(p) || p->n > 1) continue;
      check_pile(p, all.unit);
      n++;
    }
    assert_true(most <= PILE_SQUARES && (all.unit == 1 || squares > PILE_SQUARES));
    assert_int_equal(all.unit & (all.unit - 1), 0);
    piles_free(&all);
  }
  stage_free(&stage);
  return n;
}

TEST(test_piles_are_sums_of_events) {
  Rand rand = {20261128};
  int n = 0;
  for (int p = 0; p < N_PROGRAMS; p++)
    for (int round = 0; round < 6 / ONE_OF; round++) {
      char line[256];
      const int N = (int)rand_in(&rand, 1, 60), B = (int)rand_in(&rand, 4, 16);
      int used = snprintf(line, sizeof line, "algorithm=%s N=%d d=%d block-q=%d block-k=%d", SCHEDULES[p]->name, N,
                          8 << rand_in(&rand, 0, 1), B, round % 3 ? B : (int)rand_in(&rand, 4, 16));
      if (round % 2) used += snprintf(line + used, sizeof line - (size_t)used, " causal=1");
      if (round % 4 == 2)
        snprintf(line + used, sizeof line - (size_t)used, " seq-len-k=%d%s", 2 * N + 7,
                 SCHEDULES[p]->splits ? " splits=3" : "");
      n += check_state(line);
    }
  n += check_state("algorithm=standard,fa2 N=1024 d=64 block=16");
  assert_in_range(n, 300 / ONE_OF, 1000);
}

/* Standard, N = 128, d = 64, tiles of 32: 16 tiles of S of 2 KiB go out, in, P out, in: 128 KiB. Q, K, V and O of
 * 16 KiB are needed once; K again for each of three more row blocks, and V. */
TEST(test_standard_by_hand) {
  /* 4 heads of a KV head, 2 KiB a tensor and head: Q and O of each, K and V once, whether or not they are packed. */
  static const char *const LINES[] = {"algorithm=standard,fa2 N=128 d=64 block=32",
                                      "algorithm=fa2-split,fa2 N=64 d=16 block=16 heads=4 kv-heads=1"};
  static Snapshot now;
  Stage stage;
  Piles all;
  for (int k = 1; k >= 0; k--) {
    stage = open_line(LINES[k]);
    stage_snapshot(&stage, 0, &now);
    piles_make(&all, &now, PILES_ALL);
    for (int p = 0; p < 2 && k; p++) assert_true(all.piles[p].whole[PILE_ONCE] == (4 * 2 + 2) << 11);
    if (k) piles_free(&all), stage_free(&stage);
  }
  assert_true(all.piles[0].whole[PILE_ONCE] == 4 << 14 && all.piles[1].whole[PILE_ONCE] == 4 << 14);
  assert_true(all.piles[0].whole[PILE_BETWEEN] == 1 << 17 && all.piles[1].whole[PILE_BETWEEN] == 0);
  assert_true(all.piles[1].whole[PILE_AGAIN] == 2 * 3 << 14);
  assert_int_equal(all.unit, 2048); /* fa2: 160 KiB are 80 squares; standard: 192 KiB or more are 96 of them */
  piles_free(&all);
  stage_free(&stage);
}

/* N = 1M in tiles of 128, 8,192 x 8,192 of them: a walk of 470 million events. A matrix is 128 MiB. */
TEST(test_a_long_walk_is_known) {
  static Snapshot now;
  Stage stage = open_line("algorithm=fa2 N=1048576 d=64 block=128 causal=1");
  Piles all;
  PileMoment m;
  stage_snapshot(&stage, 0, &now);
  const int own = (int)(snapshot_own_run(&now) - now.runs);
  piles_make(&all, &now, own);
  const Pile *p = &all.piles[own];
  assert_true(p->is_known && p->n_steps > 100000000 && p->whole[PILE_ONCE] == (Wide)4 << 27);
  assert_true(p->whole[PILE_AGAIN] == ((Wide)8192 * 8193 / 2 - 8192) << 15); /* K and V of each tile, but the first */
  pile_at(p, (double)(p->whole[PILE_ONCE] + p->whole[PILE_AGAIN]) / 2, &m);
  assert_true(m.trail[0].row == 11 && m.n_trail == PILE_TRAIL); /* 0.71 of 16: half of a triangle lies above it */
  piles_free(&all);
  stage_free(&stage);
}
