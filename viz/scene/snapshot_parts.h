/* Shared by the files that fill a snapshot. Private to viz/scene. */
#ifndef TILEWALK_VIZ_SCENE_SNAPSHOT_PARTS_H
#define TILEWALK_VIZ_SCENE_SNAPSHOT_PARTS_H

#include "sim/algorithms/walk/place.h"
#include "viz/scene/snapshot.h"

/* What is worked out when it is first looked at: keys and values up to the furthest column that was needed, and the
 * scores of one row. Kept from frame to frame; what a snapshot holds does not depend on it. */
struct StageRow {
  int64_t n_keys;         /* rows of K and V that are filled (of the large row alone) */
  int64_t row;            /* -1: none */
  int64_t n_scores;       /* computed, from column 0 on */
  int64_t first, n_tiles; /* of a row shown small: tiles [first, n_tiles) are walked */
  double l;               /* standard: the sum over the row; NAN: not known yet */
  double numbers[]; /* q: d; scores: N_k, not masked; of the large row also the scores in fp64: N_k; of a row shown
                       small also m, l and the factor after each tile: 3 T_c */
};

/* K and V of the stage, and room for a row. */
Status stage_fill_inputs(Stage *stage, Error *error);

/* L2 and registers of the stage. */
Status stage_fill_levels(Stage *stage, Error *error);

/* Fills snapshot->row; the grid and the present event are known. */
void snapshot_fill_row(const Stage *stage, Snapshot *snapshot);

/* Fills snapshot->line; the row is known. */
void snapshot_fill_line(const Stage *stage, Snapshot *snapshot);

/* The same for the rows shown small. */
void snapshot_fill_rows(const Stage *stage, Snapshot *snapshot);

/* Fills snapshot->slots; the present event is known. */
void snapshot_fill_slots(const Stage *stage, Snapshot *snapshot);

/* Where an event lies in the grid of tiles; NULL: before the first. `is_over`: it was the last. */
void snapshot_fill_grid(const Schedule *schedule, const Plan *plan, const Event *event, bool is_over,
                        SnapshotGrid *grid);

static inline const Schedule *stage_schedule(const Stage *stage) { return stage->run.schedule; }
static inline const Plan *stage_plan(const Stage *stage) { return &stage->run.plan; }

#endif
