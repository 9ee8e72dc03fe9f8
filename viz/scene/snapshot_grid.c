/* Where the walk stands in the grid of tiles: from the present event alone, whatever the algorithm. */
#include <string.h>

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
  const bool done = g->lap < g->n_laps && place_tiles_before(&g->order, g->i0 + i, g->j0 + j) < g->n_over;
  t.laps = g->lap + done;
  t.progress = t.laps == g->n_laps || done ? TILE_DONE : TILE_WAITING;
  if (g->at_work && i == g->i && j == g->j) t.progress = TILE_CURRENT;
  return t;
}

static Span columns_of(const TileOrder *o, int64_t split) {
  return (Span){split * o->tiles_per_split, min64((split + 1) * o->tiles_per_split, o->T_c)};
}

/* How many tiles of row i in the columns of a split are done. */
static int64_t done_in_split(const SnapshotGrid *g, int64_t i, Span columns) {
  int64_t low = 0, high = columns.end - columns.begin;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const int64_t j = g->order.columns_reversed ? columns.end - 1 - middle : columns.begin + middle;
    if (place_tiles_before(&g->order, g->i0 + i, j) < g->n_over)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static Span inside(const SnapshotGrid *g, Span columns) {
  const int64_t begin = max64(columns.begin - g->j0, 0), end = min64(columns.end - g->j0, g->T_c);
  return (Span){begin, max64(begin, end)};
}

void snapshot_done_in_row(const SnapshotGrid *g, int64_t i, Span done[2]) {
  const TileOrder *o = &g->order;
  const int64_t n_splits = ceil_div(o->T_c, o->tiles_per_split);
  int64_t low = 0, high = n_splits; /* of the splits in the walk's order, those that are over in this row */
  done[0] = done[1] = (Span){0, g->lap < g->n_laps ? 0 : g->T_c};
  if (g->lap >= g->n_laps) return;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const Span columns = columns_of(o, o->splits_reversed ? n_splits - 1 - middle : middle);
    if (done_in_split(g, i, columns) == columns.end - columns.begin)
      low = middle + 1;
    else
      high = middle;
  }
  const int64_t edge = (o->splits_reversed ? n_splits - low : low) * o->tiles_per_split;
  done[0] = inside(g, o->splits_reversed ? (Span){edge, o->T_c} : (Span){0, min64(edge, o->T_c)});
  if (low == n_splits) return;
  const Span present = columns_of(o, o->splits_reversed ? n_splits - 1 - low : low);
  const int64_t n = done_in_split(g, i, present);
  done[1] =
      inside(g, o->columns_reversed ? (Span){present.end - n, present.end} : (Span){present.begin, present.begin + n});
}
