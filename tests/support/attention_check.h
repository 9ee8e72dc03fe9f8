/* Is the result right? What the fold left in HBM against attention from its definition. Written apart from
 * sim/numbers/reference.h. */
#ifndef TILEWALK_TESTS_SUPPORT_ATTENTION_CHECK_H
#define TILEWALK_TESTS_SUPPORT_ATTENTION_CHECK_H

#include "sim/numbers/accuracy.h"
#include "tests/support/attention_view.h"

/* Row `row` of O in fp64, straight from the definition, from the inputs as they are stored: d numbers. The
 * state needs no events for it. */
void attention_reference_row(const Attention *attention, int64_t row, double *O);

/* O in HBM against the reference of the inputs of `exact`: another state of the same shape, or NULL for
 * `attention` itself, which then measures the algorithm's arithmetic alone. An fp64 state filled from the same
 * seed counts the rounding of the inputs as well, as published tables do: FlashAttention-3's fp16 figures
 * (arXiv 2407.08608, table 3: standard 3.2e-4, FlashAttention-2 and -3 1.9e-4) come out that way at long N.
 * `scratch` has room for d numbers. */
Accuracy attention_accuracy(const Attention *attention, const Attention *exact, double *scratch);

#endif
