/* The row beside itself: its scores up to and with the present tile, so that a change of m is seen on all of them. */
#include <math.h>

#include "viz/scene/snapshot_parts.h"

void snapshot_fill_line(const Stage *stage, Snapshot *now) {
  const SnapshotRow *r = &now->row;
  SnapshotLine *line = &now->line;
  const Plan *plan = stage_plan(stage);
  if (!r->is_computed || r->row < 0 || r->tile < 0 || r->n_cols <= 0 || !stage->row) return;
  const int64_t start = now->event.split * plan->tiles_per_split * plan->tiling.B_c, end = r->col0 + r->n_cols;
  const Span seen = band_columns(&plan->band, r->row);
  line->first = start < end - SNAPSHOT_LINE ? end - SNAPSHOT_LINE : start;
  line->n = end - line->first;
  line->n_past = r->col0 > line->first ? r->col0 - line->first : 0;
  const double *scores = stage->row->numbers + plan->shape.d;
  for (int64_t k = 0; k < line->n; k++) {
    const int64_t col = line->first + k;
    const bool is_there = col >= seen.begin && col < seen.end && col < stage->row->n_scores;
    line->scores[k] = is_there ? scores[col] : -INFINITY;
  }
}
