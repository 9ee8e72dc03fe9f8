/* Looks at the numbers of an attention that follows its events, for tests: a tensor goes by its name without
 * subscripts. */
#ifndef TILEWALK_TESTS_SUPPORT_ATTENTION_VIEW_H
#define TILEWALK_TESTS_SUPPORT_ATTENTION_VIEW_H

#include "sim/numbers/attention.h"

/* Element (row, col) of the whole matrix, for row in rows and col in cols, is
 * values[(row - rows.begin) * stride + (col - cols.begin)]. values is NULL when there are none. It stays valid until
 * the next event. */
typedef struct {
  const double *values;
  Span rows, cols;
  int64_t stride;
} AttentionView;

/* In SRAM now: what was loaded or written last, as a product takes it where one did, and O before it is divided by l.
 * For K and V a row is a key. */
AttentionView attention_in_sram(const Attention *attention, const char *tensor);

/* In HBM: an input, or the first of its names that is stored. NaN: not written yet. */
AttentionView attention_in_hbm(const Attention *attention, const char *tensor);

/* What the program stores in HBM under a name of its own: "l_i", "O_is" (of one split). */
AttentionView attention_stored(const Attention *attention, const char *name, int64_t split);

/* Sets the whole matrix of an input, each number rounded to the configured precision. No other input follows from
 * it. */
void attention_set_input(Attention *attention, const char *tensor, const double *values);

/* The statistics of query `row`, NULL when it is not in SRAM. */
typedef EvaluateRow AttentionRow;
const AttentionRow *attention_row(const Attention *attention, int64_t row);

#endif
