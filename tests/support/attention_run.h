/* Running attention with real numbers to the end, for tests. */
#ifndef TILEWALK_TESTS_SUPPORT_ATTENTION_RUN_H
#define TILEWALK_TESTS_SUPPORT_ATTENTION_RUN_H

#include <stdlib.h>

#include "tests/support/attention_check.h"
#include "tests/support/rand.h"

typedef struct {
  const Schedule *schedule;
  Attention *attention; /* owned */
  Cursor cursor;
} Run;

/* Fails the test on any error. close_run frees. */
static inline Run open_run(const char *algorithm, const Shape *shape, const Tiling *tiling,
                           const AttentionConfig *config) {
  Run run = {.schedule = schedule_find(algorithm)};
  Plan plan;
  size_t bytes;
  assert_non_null(run.schedule);
  assert_int_equal(plan_make(&plan, shape, tiling, NULL), STATUS_OK);
  assert_int_equal(attention_bytes(&plan, run.schedule, &bytes, NULL), STATUS_OK);
  void *memory = malloc(bytes);
  assert_non_null(memory);
  assert_int_equal(attention_start(memory, &plan, run.schedule, config, &run.attention, NULL), STATUS_OK);
  assert_ptr_equal(run.attention, memory);
  assert_int_equal(attention_state_bytes(run.attention), bytes);
  return run;
}

static inline void finish_run(Run *run) {
  Error error = {0};
  if (attention_walk(run->attention, run->schedule, &run->cursor, UINT64_MAX, &error) != STATUS_OK)
    fail_msg("%s", error.message);
}

static inline void close_run(Run *run) { free(run->attention); }

static inline const double *O_of(const Run *run) { return attention_in_hbm(run->attention, "O").values; }

static inline Accuracy run_accuracy(const Run *run, const Run *exact) {
  double *scratch = malloc((size_t)run->attention->plan.shape.d * sizeof *scratch);
  Accuracy accuracy = attention_accuracy(run->attention, exact ? exact->attention : NULL, scratch);
  free(scratch);
  return accuracy;
}

static inline Shape random_shape(Rand *r) {
  const int64_t kv_heads = rand_in(r, 1, 3);
  return (Shape){.heads = kv_heads * rand_in(r, 1, 3),
                 .kv_heads = kv_heads,
                 .N_q = rand_in(r, 1, 33),
                 .N_k = rand_in(r, 1, 33),
                 .d = rand_in(r, 1, 19),
                 .dtype = (Dtype)rand_in(r, 0, DTYPE_COUNT - 1),
                 .causal = rand_in(r, 0, 1),
                 .window = rand_in(r, 0, 2) ? 0 : rand_in(r, 1, 12)};
}

static inline Tiling random_tiling(Rand *r) {
  return (Tiling){
      .B_r = rand_in(r, 1, 36), .B_c = rand_in(r, 1, 36), .n_splits = rand_in(r, 1, 5), .lse = rand_in(r, 0, 1)};
}

#endif
