/* Where the walk stands in the grid of tiles: from the present event alone, whatever the algorithm. */

#include "viz/scene/snapshot_parts.h"

void snapshot_fill_grid(const Schedule *s, const Plan *plan, const Event *event, bool is_over, SnapshotGrid *g) {
  const PlaceInGrid at = place_in_grid(s, plan, event, is_over);
  memset(g, 0, sizeof *g);
  g->mask = plan->mask;
  g->N_q = plan->shape.N_q;
  g->N_k = plan->shape.N_k;
  g->d = plan->shape.d;
  g->B_r = plan->tiling.B_r;
  g->B_c = plan->tiling.B_c;
  g->T_r = plan->T_r;
  g->T_c = plan->T_c;
  g->element_bytes = plan->element_bytes;
  g->diagonal = s->diagonal;
  g->skips = s->skips || s->diagonal; /* off it no tile is computed */
  g->column_by_column = at.order.column_by_column;
  g->reversed = at.order.columns_reversed;
  g->n_laps = at.n_laps;
  g->lap = at.lap;
  g->at_work = at.at_work;
  g->i = at.i;
  g->j = at.j;
  g->line = at.line;
  g->order = at.order;
  g->n_over = at.n_over;
}

TileState snapshot_tile(const SnapshotGrid *g, int64_t i, int64_t j) {
  const int64_t row1 = (i + 1) * g->B_r < g->N_q ? (i + 1) * g->B_r : g->N_q;
  const int64_t col1 = (j + 1) * g->B_c < g->N_k ? (j + 1) * g->B_c : g->N_k;
  TileState t = {.kind = mask_tile(&g->mask, i * g->B_r, row1, j * g->B_c, col1)};
  if (g->diagonal && i != j) return (TileState){.kind = TILE_SKIPPED, .progress = TILE_WAITING};
  if (!g->skips && t.kind == TILE_SKIPPED) t.kind = TILE_PARTIAL; /* computed, then masked */
  const bool done = g->lap < g->n_laps && place_tiles_before(&g->order, i, j) < g->n_over;
  t.laps = g->lap + done;
  t.progress = t.laps == g->n_laps || done ? TILE_DONE : TILE_WAITING;
  if (g->at_work && i == g->i && j == g->j) t.progress = TILE_CURRENT;
  return t;
}
