/* Shared by the files that fill a snapshot. Private to viz/scene. */
#ifndef TILEWALK_VIZ_SCENE_SNAPSHOT_PARTS_H
#define TILEWALK_VIZ_SCENE_SNAPSHOT_PARTS_H

#include "sim/algorithms/walk/live.h"
#include "viz/scene/snapshot.h"

/* What is worked out when it is first looked at, and kept from frame to frame: keys and values up to the furthest
 * column that was needed, the scores of one row, and the program's numbers of that row as far as it was walked. A
 * later step goes on from there, an earlier one begins anew: what a snapshot holds does not depend on it. */
struct StageRow {
  int64_t n_keys;   /* rows of K and V that are filled */
  int64_t row;      /* -1: none */
  int64_t n_scores; /* computed, from column 0 on */
  uint64_t n_steps; /* events that the numbers hold */
  Evaluate state;
  SnapshotRow fold;
  double *q, *scores; /* d; N_k, not masked */
  double *seen;       /* N_k: what the program has made of them so far; NAN: nothing */
  double *exact;      /* N_k: in fp64 */
  double *evaluated;  /* of state */
  double numbers[];
};

/* Notes what the operation at `at`, just done, has changed of a row. */
void snapshot_row_see(const Stage *stage, struct StageRow *row, const Evaluator *evaluator, int at);

SnapshotRoles snapshot_roles(const Schedule *schedule);

/* K and V of the stage, and room for a row. */
Status stage_fill_inputs(Stage *stage, Error *error);

/* What is kept of rows is computed anew. */
void stage_forget_rows(Stage *stage);

/* L2 and registers of the stage. */
Status stage_fill_levels(Stage *stage, Error *error);

/* Fills snapshot->row; the grid and the present event are known. */
void snapshot_fill_row(const Stage *stage, Snapshot *snapshot);

/* Fills snapshot->line; the row is known. */
void snapshot_fill_line(const Stage *stage, Snapshot *snapshot);

/* Fills snapshot->slots; the present event is known. */
void snapshot_fill_slots(const Stage *stage, Snapshot *snapshot);

/* Where an event lies in the grid of tiles; NULL: before the first. `is_over`: it was the last. */
void snapshot_fill_grid(const Schedule *schedule, const Plan *plan, const Event *event, bool is_over,
                        SnapshotGrid *grid);

/* Tiles that the walk is done with. */
static inline Wide snapshot_tiles_done(const SnapshotGrid *g) {
  return wide(g->lap) * wide(g->T_r) * wide(g->T_c) + (g->lap < g->n_laps ? g->n_over : 0);
}

static inline const Schedule *stage_schedule(const Stage *stage) { return stage->run.schedule; }
static inline const Plan *stage_plan(const Stage *stage) { return &stage->run.plan; }

/* Columns of O that are followed. */
static inline int64_t n_O(const Stage *stage) {
  const int64_t d_v = stage_plan(stage)->shape.d_v;
  return d_v < SNAPSHOT_O ? d_v : SNAPSHOT_O;
}

#endif
