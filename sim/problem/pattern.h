/* A pattern of blocks: which blocks of queries and keys may see each other, as block-sparse attention has it
 * (Dao et al., FlashAttention, section 3.3; Child et al., Sparse Transformers, 2019).
 *
 *     strided:4            blocks of 64: a block sees its own and every fourth before and after it
 *     strided:4:128        the same with blocks of 128
 *     a file               lines of # (allowed) and . (masked), one a block row; before them, `block 64`
 *
 * A pattern has cells for every block of the matrix, at most PATTERN_CELLS_MAX, and sums of them, so that the kind of
 * any tile costs four look-ups. */
#ifndef TILEWALK_SIM_PATTERN_H
#define TILEWALK_SIM_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum { PATTERN_BLOCK = 64, PATTERN_NAME_BYTES = 64 };
#define PATTERN_CELLS_MAX ((int64_t)1 << 22)

typedef struct Pattern {
  char name[PATTERN_NAME_BYTES]; /* as asked for */
  int64_t block;                 /* queries and keys of a cell's side */
  int64_t rows, cols;            /* cells */
  int64_t N_q, N_k;              /* of the matrix */
  uint32_t sums[];               /* (rows + 1) x (cols + 1): allowed cells above and to the left */
} Pattern;

/* strided:STRIDE[:BLOCK] for a matrix of N_q x N_k; freed by free(). NULL with *error on a bad name, too many cells, or
 * no memory. */
Pattern *pattern_named(const char *name, int64_t N_q, int64_t N_k, Error *error);

/* A pattern from the text of a file; `file` is what errors call it. */
Pattern *pattern_read(const char *text, size_t length, const char *file, int64_t N_q, int64_t N_k, Error *error);

/* Allowed cells that the tile of rows [row0, row1) and columns [col0, col1) touches, and all cells that it touches. */
typedef struct {
  int64_t allowed, all;
} PatternCells;
PatternCells pattern_cells(const Pattern *pattern, int64_t row0, int64_t row1, int64_t col0, int64_t col1);

#endif
