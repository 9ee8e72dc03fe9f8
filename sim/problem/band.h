/* Which (query, key) pairs a mask allows, and which tiles that makes full, partial or skipped.
 *
 * Every mask modelled here is a band around the diagonal that ends in the bottom right corner:
 *
 *      keys ->            row i sees columns [ i + offset - before,  i + offset + after ]
 *      ########....       cut to [0, cols).
 *    q .########...
 *    | ..########..       causal: after = 0;  window W: before = W - 1;  no limit: a distance
 *    v ...########.       larger than the matrix. offset = cols - rows.
 *
 * Both ends move right by at most one column from row to row, so whether a tile is full, partial or
 * skipped follows from its corners, and counting tiles is counting lattice points under a line: every
 * count below is exact and takes O(log N) time, at any size. Exchanging rows and columns gives a
 * band again, which is how FlashAttention-1's loop order (columns outside) is counted.
 *
 * With packed heads the band is a staircase of steps `row_group` rows high. floor((floor(y / g) + c) / m) =
 * floor((y + g c) / (g m)), so it is counted in closed form all the same. */
#ifndef TILEWALK_SIM_PROBLEM_BAND_H
#define TILEWALK_SIM_PROBLEM_BAND_H

#include "sim/base/checked.h"
#include "sim/problem/shape.h"

typedef struct {
  int64_t rows, cols;
  int64_t before, after; /* how far a row sees to the left and right of its diagonal column */
  int64_t offset;        /* the diagonal column of row 0 */
  /* Packed heads (sim/problem/shape.h): neighbouring rows that are heads of one query and see the same columns; of a
   * transposed band, columns. 1: none. At most one of the two is more. */
  int64_t row_group, col_group;
  int64_t row_phase,
      col_phase; /* of a part of a band: rows above it, columns to its left, within their groups' matrix */
} Band;

typedef enum { TILE_FULL = 0, TILE_PARTIAL, TILE_SKIPPED, TILE_KIND_COUNT } TileKind;

typedef struct {
  int64_t begin, end; /* half open; empty when begin >= end */
} Span;

/* The band of a completed shape's mask, queries as rows and keys as columns. */
Band band_of_shape(const Shape *shape);

/* The same mask with keys as rows. */
Band band_transpose(const Band *band);

/* The part of it from a row and a column on, as a band of its own. */
Band band_part(const Band *band, int64_t row0, int64_t col0, int64_t rows, int64_t cols);

/* The number of row blocks of B_r rows, at most n, whose first row begins to see left of the last column: those after
 * it see nothing. */
int64_t band_before_the_end(const Band *band, int64_t B_r, int64_t n);

/* The columns that row `row` may see. */
Span band_columns(const Band *band, int64_t row);

/* The kind of the tile of rows [row0, row1) and columns [col0, col1): skipped when no pair in it is
 * allowed, full when all are. */
TileKind band_tile(const Band *band, int64_t row0, int64_t row1, int64_t col0, int64_t col1);

/* For block `i` of B_r rows: the column tiles (of B_c columns) that are not skipped, and those that are full.
 * The full ones lie among the others. */
typedef struct {
  Span computed, full;
} BandRow;
BandRow band_row(const Band *band, int64_t B_r, int64_t B_c, int64_t i);

/* Totals over the first `n` blocks of B_r rows. */
typedef struct {
  Wide computed;   /* tiles with at least one allowed pair */
  Wide full;       /* of those, tiles without a masked pair */
  Wide rows, cols; /* sums over computed tiles of their rows, of their columns */
  Wide area;       /* sum over computed tiles of rows x columns */
  int64_t n_empty; /* blocks without a computed tile: the first ones; aligned to the top left, the last ones too */
} BandCount;
BandCount band_count(const Band *band, int64_t B_r, int64_t B_c, int64_t n);
int64_t band_n_empty(const Band *band, int64_t B_r, int64_t B_c, int64_t n); /* that one alone */

/* The largest number of computed tiles in one block of B_r rows. */
int64_t band_longest_row(const Band *band, int64_t B_r, int64_t B_c);

/* The number of allowed (row, column) pairs. */
Wide band_pairs(const Band *band);

#endif
