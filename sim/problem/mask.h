/* Masks: which (query, key) pairs are allowed, and which tiles that makes full, partial or skipped.
 *
 *     band       causal, window or neither: sim/problem/band.h, counted in closed form at any size
 *     pattern    blocks or documents that may be seen beside the band, or keys that are seen although the band hides
 *                them (sim/problem/pattern.h)
 *
 * Only this file and those two know the kinds. A tile is skipped when no pair in it is allowed, full when all are, else
 * partial: exact at any size of tiles. */
#ifndef TILEWALK_SIM_PROBLEM_MASK_H
#define TILEWALK_SIM_PROBLEM_MASK_H

#include "sim/problem/band.h"
#include "sim/problem/pattern.h"

typedef struct {
  Band band;              /* queries as rows */
  const Pattern *pattern; /* NULL: none; belongs to the caller */
} Mask;

/* The mask of a completed shape. */
Mask mask_of_shape(const Shape *shape);

/* The side of tiles that a count goes over: blocks [begin, end) of B_r queries, or of B_c keys. */
typedef struct {
  int64_t B_r, B_c;
  Span rows, cols;
} MaskTiles;

/* Counts over a rectangle of tiles; all but `tiles` of those that are computed. */
typedef struct {
  Wide tiles;
  Wide computed, full;
  Wide rows, cols; /* sums over computed tiles of their rows, of their columns */
  Wide area;       /* sum over computed tiles of rows x columns */
} MaskCount;

/* Blocks of one side that have a computed tile in the rectangle. */
typedef struct {
  Wide blocks, elements; /* and the rows (columns) in them */
} MaskSeen;

TileKind mask_tile(const Mask *mask, int64_t row0, int64_t row1, int64_t col0, int64_t col1);
bool mask_allows(const Mask *mask, int64_t row, int64_t col);

/* The smallest range that has every column that a row may see. Of a pattern of blocks: that of the band alone. */
Span mask_columns(const Mask *mask, int64_t row);

MaskCount mask_count(const Mask *mask, const MaskTiles *tiles);
MaskSeen mask_rows_seen(const Mask *mask, const MaskTiles *tiles);
MaskSeen mask_cols_seen(const Mask *mask, const MaskTiles *tiles);

/* The largest number of computed tiles in one row block, and in one column block. */
int64_t mask_longest_row(const Mask *mask, int64_t B_r, int64_t B_c);
int64_t mask_longest_col(const Mask *mask, int64_t B_r, int64_t B_c);

/* The number of allowed pairs. */
Wide mask_pairs(const Mask *mask);

/* The queries that see a key, and the keys that a query sees. Of a pattern of blocks on more than 2^22 tokens, those of
 * blocks in which one does. */
Wide mask_queries_seeing(const Mask *mask);
Wide mask_keys_seen(const Mask *mask);

#endif
