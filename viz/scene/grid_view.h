/* Shared by the files that draw tiles with their edges (draw_grid). */
#ifndef TILEWALK_VIZ_SCENE_GRID_VIEW_H
#define TILEWALK_VIZ_SCENE_GRID_VIEW_H

#include <math.h>

#include "viz/scene/pen.h"

typedef struct {
  const Pen *pen;
  const SnapshotGrid *g;
  Box box;                                   /* of the tiles alone */
  Box strips[VALUES_MAX];                    /* along the edges: HBM; of scores where they are shown whole */
  int upright[VALUES_MAX], flat[VALUES_MAX]; /* those by rows and by keys, in order; */
  int n_upright, n_flat;
  int n_left, n_top;     /* inputs among them */
  double cell_x, cell_y; /* size of a tile; whole when one or more */
  double gap;            /* between tiles */
  bool keeps_scores;     /* a matrix by tiles is stored between passes */
} Grid;

static inline double min2(double a, double b) { return a < b ? a : b; }

/* The last of a row or a column may be a part of a tile. */
Box grid_tile(const Grid *grid, int64_t i, int64_t j);

static inline SnapshotLies lies(const Grid *v, int tensor) { return snapshot_lies(v->pen->now, tensor); }
static inline bool is_upright(const Grid *v, int tensor) { return lies(v, tensor) == LIES_BY_ROWS; }
static inline bool is_scores(const Grid *v, int tensor) { return lies(v, tensor) == LIES_BY_TILES; }
static inline const ProgramTensor *value_of(const Grid *v, int tensor) {
  return &v->pen->now->schedule->tensors[tensor];
}
static inline bool is_input(const Grid *v, int tensor) { return value_of(v, tensor)->role == TENSOR_INPUT; }

/* Position of a strip among those on its side of the tiles, from the tiles outwards. */
int grid_rank(const Grid *grid, int tensor);

/* Whether tiles of that size are outlined one by one while they are empty. */
static inline bool grid_is_lined(const Grid *v, double cell) { return v->gap >= 1 && cell >= 9 * v->pen->unit; }

/* All tiles as they stand: empty, done, skipped, masked. */
void grid_draw_tiles(const Grid *grid);

/* The part of a partial tile that a band covers: appended to the present path. */
void grid_path_of_masked(const Grid *grid, Box tile, int64_t i, int64_t j);

/* What the present event does: blocks that travel and dock, the tile at work, strikes. */
void grid_draw_moving(const Grid *grid);

#endif
