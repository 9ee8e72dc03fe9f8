#include "sim/numbers/program_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/numbers/attention_check.h"

enum { TRIED_N = 21, TRIED_D = 6, TRIED_ROWS = 8, TRIED_COLS = 4 }; /* small, and ragged on both sides */
#define RIGHT_WITHIN 1e-9                                           /* fp64 in another order errs by 1e-15 */

/* The largest error of O in HBM, and its row; infinity: a number was never written, or is none. */
static Status try_numbers(const Schedule *program, const SoftmaxConfig *softmax, bool causal, double *largest,
                          int *worst_row, Error *error) {
  Shape shape = {.N_q = TRIED_N, .N_k = TRIED_N, .d = TRIED_D, .causal = causal};
  const Tiling tiling = {.B_r = TRIED_ROWS, .B_c = TRIED_COLS, .n_splits = program->splits ? 2 : 1};
  Plan plan;
  size_t bytes;
  Attention *attention = NULL;
  Cursor cursor = {0};
  Status status = shape_complete(&shape, error);
  if (!status) status = plan_make(&plan, &shape, &tiling, error);
  if (!status) status = attention_bytes(&plan, program, &bytes, error);
  void *memory = status ? NULL : malloc(bytes);
  if (!status && !memory) status = error_set(error, STATUS_NO_MEMORY, "no memory to try the program");
  if (!status)
    status = attention_start(memory, &plan, program, &(AttentionConfig){.softmax = *softmax}, &attention, error);
  if (!status) attention_fill(attention, INPUT_NORMAL, 1, 0, 0);
  if (!status) status = attention_walk(attention, program, &cursor, UINT64_MAX, error);
  *largest = 0;
  for (int row = 0; !status && row < TRIED_N; row++) {
    double O[TRIED_D];
    const AttentionView got = attention_in_hbm(attention, TENSOR_O);
    attention_reference_row(attention, row, O);
    for (int c = 0; c < TRIED_D; c++) {
      const double value = got.values ? got.values[row * got.stride + c] : NAN;
      const double off = isfinite(value) ? fabs(value - O[c]) : INFINITY;
      if (off <= *largest) continue;
      *largest = off;
      *worst_row = row;
    }
  }
  free(memory);
  return status;
}

/* ", with a sink of 2 and scores capped at 50" */
static void put_extras(const SoftmaxConfig *softmax, char *text, size_t size) {
  *text = '\0';
  if (softmax->has_sink) snprintf(text, size, ", with a sink of %g", softmax->sink);
  const size_t used = strlen(text);
  if (softmax->softcap > 0)
    snprintf(text + used, size - used, "%s scores capped at %g", used ? " and" : ", with", softmax->softcap);
}

bool program_check(const Schedule *program, const SoftmaxConfig *extras, char text[PROGRAM_CHECK_BYTES]) {
  const SoftmaxConfig softmax = {.has_sink = extras && extras->has_sink,
                                 .sink = extras ? extras->sink : 0,
                                 .softcap = extras ? extras->softcap : 0};
  double most = 0;
  char with[96];
  put_extras(&softmax, with, sizeof with);
  for (int causal = 0; causal < 2; causal++) {
    Error error = {0};
    double largest;
    int row = 0;
    if (try_numbers(program, &softmax, causal, &largest, &row, &error)) {
      snprintf(text, PROGRAM_CHECK_BYTES, "O was not tried: %s", error.message);
      return false;
    }
    const char *mask = causal ? "with a causal mask" : "without a mask";
    if (isinf(largest))
      snprintf(text, PROGRAM_CHECK_BYTES, "O is wrong: %s%s, row %d is no number or never stored.", mask, with, row);
    else if (largest > RIGHT_WITHIN)
      snprintf(text, PROGRAM_CHECK_BYTES, "O is wrong: %s%s, row %d is off by %.2g.", mask, with, row, largest);
    if (largest > RIGHT_WITHIN) return false;
    most = fmax(most, largest);
  }
  snprintf(text, PROGRAM_CHECK_BYTES,
           "O is right: in fp64, with and without a causal mask%s, it is off by %.0e at most.", with, most);
  return true;
}
