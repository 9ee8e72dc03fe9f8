/* A walk in any order, rows or columns or splits from the last to the first, splits around rows or within them: tiles
 * are done when their last event has passed, whoever asks, and a stroke covers the skips of one gesture. */
#include "tests/support/test.h"

#include "tests/support/own_programs.h"
#include "tests/support/snapshot_stage.h"

enum { TILES_MAX = 512 };

typedef struct {
  const char *algorithm;
  const char *edits[6][2]; /* in the first kernel that has the words */
} Order;

static const char ROWS[] = "for every row block i\n", ROWS_BACK[] = "for every row block i, last first\n";
static const char SPLITS[] = "for every split s\n", SPLITS_BACK[] = "for every split s, last first\n";
static const char OWN[] = "of i in s, either way", OWN_BACK[] = "of i in s, last first";

static const Order ORDERS[] = {
    {"fa2", {{ROWS, ROWS_BACK}}},
    {"fa2", {{"of i, either way", "of i, last first"}}},
    {"fa2", {{ROWS, ROWS_BACK}, {"of i, either way", "of i, last first"}}},
    {"fa1", {{"for each column block j\n", "for each column block j, last first\n"}}},
    {"fa1", {{"for each row block i of j\n", "for each row block i of j, last first\n"}}},
    {"fa2-split", {{OWN, OWN_BACK}}},
    {"fa2-split", {{SPLITS, SPLITS_BACK}}},
    {"fa2-split", {{ROWS, ROWS_BACK}, {SPLITS, SPLITS_BACK}, {OWN, OWN_BACK}}},
    {"fa2-split", {{ROWS, "@"}, {SPLITS, ROWS}, {"@", SPLITS}}},
    {"fa2-split", {{ROWS, "@"}, {SPLITS, ROWS_BACK}, {"@", SPLITS}, {OWN, OWN_BACK}}},
    {"fa2-split", {{ROWS, "@"}, {SPLITS, ROWS}, {"@", SPLITS_BACK}}},
};

/* The text with the first of the words `from` exchanged. */
static void edit(char *text, size_t size, const char *from, const char *to) {
  char *at = strstr(text, from);
  assert_non_null(at);
  assert_true(strlen(text) + strlen(to) < size);
  memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
  memcpy(at, ALL_OF(to));
}

static Program *read_order(const Order *o) {
  char text[2048];
  const char *whole = schedule_find(o->algorithm)->text;
  assert_true(strlen(whole) < sizeof text);
  memcpy(text, ALL_OF(whole) + 1);
  for (int k = 0; k < 6 && o->edits[k][0]; k++) edit(text, sizeof text, o->edits[k][0], o->edits[k][1]);
  return own_program(text);
}

/* Which tile each event belongs to, and the last event of each tile. */
typedef struct {
  uint64_t last[TILES_MAX];
  int64_t tile[65536]; /* of each event; -1: none */
  bool skip[65536];
} Events;

static void find_events(const Stage *stage, Events *e) {
  const Plan *plan = &stage->run.plan;
  Cursor cursor = {0};
  Event event;
  memset(e, 0, sizeof *e);
  for (uint64_t n = 0; schedule_next(stage->run.schedule, plan, &cursor, &event); n++) {
    assert_true(n < 65536);
    e->tile[n] = event.i >= 0 && event.j >= 0 ? event.i * plan->T_c + event.j : -1;
    e->skip[n] = event.kind == EVENT_SKIP;
    if (e->tile[n] >= 0) e->last[e->tile[n]] = n;
  }
}

static void check_tiles(const Snapshot *now, const Events *e, const Plan *plan, uint64_t step) {
  const SnapshotGrid *g = &now->grid;
  for (int64_t i = 0; i < plan->T_r; i++) {
    for (int64_t j = 0; j < plan->T_c; j++) {
      const TileState tile = snapshot_tile(g, i, j);
      const bool is_present = g->at_work && g->i == i && g->j == j,
                 is_done = step > e->last[i * plan->T_c + j] && !is_present;
      assert_int_equal(tile.progress == TILE_DONE, is_done);
    }
  }
}

/* Skips that follow each other to the present one, in the same row, or column. */
static void check_skips(const Snapshot *now, const Events *e, const Plan *plan, uint64_t step) {
  if (step == 0 || !e->skip[step - 1]) return;
  const int64_t T_c = plan->T_c;
  const bool by_column = now->grid.column_by_column;
  int64_t n = 0;
  const int64_t present = e->tile[step - 1], line = by_column ? present % T_c : present / T_c;
  for (uint64_t k = step; k > 0 && e->skip[k - 1]; k--) {
    const int64_t t = e->tile[k - 1];
    if ((by_column ? t % T_c : t / T_c) != line) break;
    n++;
  }
  assert_int_equal(now->n_skips, n);
}

TEST(tiles_are_done_in_the_order_of_the_walk) {
  static Events events;
  EACH (k, ORDERS)
    for (int c = 0; c < 3; c++) {
      Program *program = read_order(&ORDERS[k]);
      const Shape shape = {.N_q = 22, .N_k = c == 1 ? 35 : 22, .d = 4, .causal = c > 0, .window = c == 2 ? 9 : 0};
      const StageConfig config = {
          .problem = {.shape = shape, .tiling = {.B_r = 4, .B_c = 3, .n_splits = c + 1}, .machine = machine_paper()},
          .schedule = program};
      Stage stage;
      must(stage_make(&stage, &config, fresh_error()));
      find_events(&stage, &events);
      const Plan *plan = &stage.run.plan;
      for (uint64_t step = 0; step <= stage.n_steps; step++) {
        Snapshot now;
        stage_snapshot(&stage, step, &now);
        check_tiles(&now, &events, plan, step);
        check_skips(&now, &events, plan, step);
      }
      for (int64_t t = 0; t < plan->T_r * plan->T_c; t += 5) { /* a press on a tile leads to it */
        const uint64_t step = stage_step_of_tile(&stage, 0, t / plan->T_c, t % plan->T_c);
        assert_int_equal(events.tile[step - 1], t);
      }
      for (int pass = 0; pass < stage.run.schedule->n_passes; pass++) /* an event lies within its CTA */
        for (int64_t n = 0; n < place_n_ctas(program, plan, pass); n++) {
          const PlaceSteps steps = place_cta(program, plan, pass, n);
          Cursor cursor;
          Event event;
          if (steps.begin == steps.end) continue;
          schedule_seek(program, plan, &cursor, steps.begin);
          assert_true(schedule_next(program, plan, &cursor, &event));
          if (event.pass == pass) assert_int_equal(place_cta_of(program, plan, &event), n);
          if (strcmp(ORDERS[k].algorithm, "fa2") == 0) assert_int_equal(event.i, n); /* by its block, in any order */
        }
      stage_free(&stage);
      free(program);
    }
}
