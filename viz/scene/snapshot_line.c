/* The row beside itself: its scores up to and with the present tile, so that a change of m is seen on all of them. */

#include "viz/scene/snapshot_parts.h"

void snapshot_fill_line(const Stage *stage, Snapshot *now) {
  const SnapshotRow *r = &now->row;
  SnapshotLine *line = &now->line;
  const Plan *plan = stage_plan(stage);
  if (!r->is_computed || r->row < 0 || r->tile < 0 || r->n_cols <= 0) return;
  const bool back = now->grid.reversed;
  const int64_t from = now->event.split * plan->tiles_per_split, to = from + plan->tiles_per_split;
  const int64_t start = back ? r->col0 : from * plan->tiling.B_c, end = !back ? r->col0 + r->n_cols
                                                                        : to < plan->T_c && plan->tiling.n_splits > 1
                                                                            ? to * plan->tiling.B_c
                                                                            : plan->shape.N_k;
  line->first = !back && start < end - SNAPSHOT_LINE ? end - SNAPSHOT_LINE : start;
  line->n = end - line->first < SNAPSHOT_LINE ? end - line->first : SNAPSHOT_LINE;
  line->n_past = back || r->col0 <= line->first ? 0 : r->col0 - line->first;
  for (int64_t k = 0; k < line->n; k++) {
    const double score = stage->row->seen[line->first + k];
    line->scores[k] = isnan(score) ? -INFINITY : score; /* of a tile that was skipped */
  }
}
