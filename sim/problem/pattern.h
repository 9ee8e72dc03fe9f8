/* A pattern: what a mask has beside its band.
 *
 *     strided:4            blocks of 64: a block sees its own and every fourth before and after it
 *     strided:4:128        the same with blocks of 128 (Child et al., Sparse Transformers, 2019)
 *     a file               lines of # (allowed) and . (masked), one a block row; before them, `block 64`; `block 1` is
 *                          pair by pair (block-sparse attention: Dao et al., FlashAttention, section 3.3)
 *     painted:64:c8f...    cells of blocks of 64 as hexadecimal digits, four a digit, each row from a new one; the left
 *                          cell is the digit's highest bit, 1 is seen
 *     documents:5,3,8      documents packed into one sequence: a query sees the keys of its own
 *     documents:1000       each of 1,000 tokens, the last with what is left
 *     documents:FILE       the lengths from a file, apart by commas or blanks
 *     sink:4               the first 4 keys are seen, too, wherever the window is (Xiao et al., StreamingLLM, 2023)
 *     prefix:256           the first 256 keys are seen by every query, whatever the band (prefix language model)
 *
 * Blocks and documents hide what the band would show; a sink and a prefix show what it would hide. A query stands with
 * the key of its own position: the diagonal that the band has, too.
 *
 * A pattern of blocks has a cell for each, at most PATTERN_CELLS_MAX, and sums of them, so that those of any tile cost
 * four look-ups. The others have no table of the matrix and no limit of that kind. */
#ifndef TILEWALK_SIM_PROBLEM_PATTERN_H
#define TILEWALK_SIM_PROBLEM_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum { PATTERN_BLOCK = 64, PATTERN_NAME_BYTES = 1100 };
#define PATTERN_CELLS_MAX ((int64_t)1 << 22)

#define PATTERN_NAMES "strided:STRIDE[:BLOCK], documents:LENGTH,..., sink:KEYS, prefix:KEYS, painted:BLOCK:DIGITS"

typedef enum { PATTERN_BLOCKS = 0, PATTERN_DOCUMENTS, PATTERN_SINK, PATTERN_PREFIX } PatternKind;

typedef struct {
  int64_t N_q, N_k;
  bool top_left; /* the diagonal begins in the top left corner; else it ends in the bottom right one */
} PatternMatrix;

typedef struct Pattern {
  char name[PATTERN_NAME_BYTES]; /* as asked for */
  PatternKind kind;
  PatternMatrix matrix;
  int64_t block;       /* of blocks: queries and keys of a cell's side; of documents: all are as long; 0: a table */
  int64_t rows, cols;  /* cells */
  int64_t keys;        /* of a sink, a prefix; at most N_k */
  int64_t n_documents; /* of documents */
  uint32_t table[];    /* of blocks, (rows + 1) x (cols + 1): allowed cells above and to the left; of documents, the
                          position after each */
} Pattern;

/* A pattern by name, without a file; freed by free(). NULL with *error on a bad name, lengths that do not add up to
 * N_k, too many cells, or no memory. */
Pattern *pattern_named(const char *name, PatternMatrix matrix, Error *error);

/* A pattern of blocks from the text of a file; `file` is what errors call it. */
Pattern *pattern_read(const char *text, size_t length, const char *file, PatternMatrix matrix, Error *error);

/* Documents whose lengths are in a text, apart by commas or blanks; `name` is what errors and the pattern call it. */
Pattern *pattern_documents(const char *text, size_t length, const char *name, PatternMatrix matrix, Error *error);

/* The document that has a position of [0, N_k): its first position, and the one after it. */
typedef struct {
  int64_t begin, end;
} PatternDocument;
PatternDocument pattern_document(const Pattern *pattern, int64_t position);

/* Of a pattern of blocks: allowed cells that the tile of rows [row0, row1) and columns [col0, col1) touches, and all
 * cells that it touches. */
typedef struct {
  int64_t allowed, all;
} PatternCells;
PatternCells pattern_cells(const Pattern *pattern, int64_t row0, int64_t row1, int64_t col0, int64_t col1);

#endif
