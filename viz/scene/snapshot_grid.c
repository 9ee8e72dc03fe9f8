/* Where the walk stands in the grid of tiles: from the place alone, whatever the schedule. */
#include <string.h>

#include "viz/scene/snapshot_parts.h"

/* A pass without inner iterations visits no tiles: fa1's start, fa2-split's combination. */
static bool visits_tiles(const Schedule *s, const Plan *plan, int pass) {
  Cursor c = {0};
  if (s->outer_count(plan, pass) == 0) return false;
  s->enter(plan, &c, pass, 0);
  return c.pass == pass && s->inner_count(plan, &c) > 0;
}

/* Whether an inner iteration moves down a column: then it is i that it sets. */
static bool goes_by_column(const Schedule *s, const Plan *plan, int pass) {
  Cursor c = {0};
  s->enter(plan, &c, pass, 0);
  s->enter_inner(plan, &c, 1);
  return c.i == 1 && c.j == 0;
}

static void describe_laps(const Schedule *s, const Plan *plan, const SchedulePlace *place, SnapshotGrid *g) {
  for (int pass = 0; pass < s->n_passes; pass++) {
    if (!visits_tiles(s, plan, pass)) continue;
    g->n_laps++;
    if (pass < place->pass) g->lap++;
    g->column_by_column = goes_by_column(s, plan, pass);
  }
}

void snapshot_fill_grid(const Schedule *s, const Plan *plan, const SchedulePlace *place, SnapshotGrid *g) {
  memset(g, 0, sizeof *g);
  g->band = plan->band;
  g->N_q = plan->shape.N_q;
  g->N_k = plan->shape.N_k;
  g->d = plan->shape.d;
  g->B_r = plan->tiling.B_r;
  g->B_c = plan->tiling.B_c;
  g->T_r = plan->T_r;
  g->T_c = plan->T_c;
  g->element_bytes = plan->element_bytes;
  g->skips = s->skips;
  g->i = g->j = -1;
  describe_laps(s, plan, place, g);
  if (place->pass >= s->n_passes || !visits_tiles(s, plan, place->pass)) return;
  /* The cursor at the boundary, which is zeroed at step 0. */
  Cursor c = {0};
  s->enter(plan, &c, place->pass, place->outer);
  const int64_t inner_count = s->inner_count(plan, &c);
  if (place->inner >= 0) s->enter_inner(plan, &c, place->inner);
  const int64_t length = g->column_by_column ? plan->T_r : plan->T_c;
  const bool only_looks =
      inner_count > length && place->inner < length; /* standard's softmax reads a row, then writes it */
  g->line = g->column_by_column ? c.j : c.i;
  g->n_done = only_looks ? 0 : g->column_by_column ? c.i : c.j;
  g->at_work = place->inner >= 0 && place->inner < inner_count;
  if (!g->at_work) return;
  g->i = c.i;
  g->j = c.j;
}

TileState snapshot_tile(const SnapshotGrid *g, int64_t i, int64_t j) {
  const int64_t row1 = (i + 1) * g->B_r < g->N_q ? (i + 1) * g->B_r : g->N_q;
  const int64_t col1 = (j + 1) * g->B_c < g->N_k ? (j + 1) * g->B_c : g->N_k;
  const int64_t line = g->column_by_column ? j : i, along = g->column_by_column ? i : j;
  TileState t = {.kind = band_tile(&g->band, i * g->B_r, row1, j * g->B_c, col1)};
  if (!g->skips && t.kind == TILE_SKIPPED) t.kind = TILE_PARTIAL; /* computed, then masked */
  const bool done = g->lap < g->n_laps && (line < g->line || (line == g->line && along < g->n_done));
  t.laps = g->lap + done;
  t.progress = t.laps == g->n_laps || done ? TILE_DONE : TILE_WAITING;
  if (g->at_work && i == g->i && j == g->j) t.progress = TILE_CURRENT;
  return t;
}
