/* Places of a walk: totals up to any step, where its tiles, rows and passes begin and end, how far it is in the grid.
 */
#ifndef TILEWALK_SIM_ALGORITHMS_WALK_PLACE_H
#define TILEWALK_SIM_ALGORITHMS_WALK_PLACE_H

#include "sim/algorithms/walk/count.h"

/* The number of events before the cursor. */
Wide place_step(const Schedule *schedule, const Plan *plan, const Cursor *cursor);

/* The fold of events [0, step), steps beyond the end being the end. Equal to traffic_add over all of them. */
void place_traffic(const Schedule *schedule, const Plan *plan, uint64_t step, Traffic *traffic);

/* How often operation `op` happens before the cursor (NULL: in the whole run) for blocks within these ranges of row
 * blocks, column blocks and splits; of an OP_TEST, the tiles that it skips. place_count_bytes: the bytes moved. */
Wide place_count(const Schedule *schedule, const Plan *plan, const Cursor *before, int op, const PlaceBlocks *within);
Wide place_count_bytes(const Schedule *schedule, const Plan *plan, const Cursor *before, int op,
                       const PlaceBlocks *within);

/* The last step before which no more than `bytes` have crossed the SRAM boundary. */
uint64_t place_of_bytes(const Schedule *schedule, const Plan *plan, Wide bytes);

typedef enum {
  PLACE_TILE = 0, /* one iteration of a loop over tiles, or what comes before or after that loop */
  PLACE_ROW,      /* one iteration of the loop around it: what one CTA does of a pass */
  PLACE_PASS,     /* an outermost loop */
} PlaceKind;

/* The steps [begin, end) of the tile, row or pass that event `step` belongs to. Beyond the end: n_steps, n_steps. */
typedef struct {
  uint64_t begin, end;
} PlaceSteps;
PlaceSteps place_steps(const Schedule *schedule, const Plan *plan, uint64_t step, PlaceKind kind);

/* The steps of what CTA n does in a pass. CTAs are numbered by their blocks, outer loops first, whichever way
 * the loops go; in which order they begin is the launch's (sim/l2/launch.h). Of a pass without CTAs, or a program that
 * does a head in one, all of the pass. */
int64_t place_n_ctas(const Schedule *schedule, const Plan *plan, int pass);
PlaceSteps place_cta(const Schedule *schedule, const Plan *plan, int pass, int64_t n);
/* Which of these an event belongs to. */
int64_t place_cta_of(const Schedule *schedule, const Plan *plan, const Event *event);

/* The order in which a pass takes the tiles of the T_r x T_c grid. */
typedef struct {
  int64_t T_r, T_c;
  int64_t tiles_per_split;                               /* columns of tiles of a split; T_c: there is one */
  bool column_by_column;                                 /* the loop over columns is the outer one */
  bool splits_outer;                                     /* the loop over splits is around that over rows */
  bool rows_reversed, columns_reversed, splits_reversed; /* those loops go from the last to the first */
} TileOrder;

/* How many tiles come before tile (i, j). */
Wide place_tiles_before(const TileOrder *order, int64_t i, int64_t j);

/* Passes over the grid of tiles, and how far they are. */
typedef struct {
  int n_laps;   /* passes that go over the tiles */
  int lap;      /* those that are over */
  bool at_work; /* the event belongs to tile (i, j) */
  int64_t i, j;
  int64_t line;    /* row (column) of tiles that the walk is in */
  TileOrder order; /* of this lap */
  Wide n_over;     /* tiles of this lap that the walk is through with: the first of the order */
} PlaceInGrid;

/* Where event *event stands; NULL: before the first. `is_over`: it is the last, and done. */
PlaceInGrid place_in_grid(const Schedule *schedule, const Plan *plan, const Event *event, bool is_over);

#endif
