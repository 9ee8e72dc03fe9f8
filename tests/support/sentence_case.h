/* A program whose every step is told, and what a sentence may not do, for tests of narration. */
#ifndef TILEWALK_TESTS_SUPPORT_SENTENCE_CASE_H
#define TILEWALK_TESTS_SUPPORT_SENTENCE_CASE_H

#include "tests/support/test.h"
#include "viz/scene/narration.h"
#include "tests/support/claims.h"
#include "tests/support/own_programs.h"

typedef struct {
  const char *name, *text; /* text NULL: shipped */
  Shape shape;
  Tiling tiling;
  const char *mask;
  int64_t row_in_block;
  bool without_max, is_online;
  int64_t q_scale;
} Case;

typedef struct {
  Stage stage;
  Program own;
  Pattern *mask;
  ClaimRun run;
} Opened;

static inline bool open_case(Opened *o, const Case *c, bool is_random) {
  Error error = {0};
  memset(o, 0, sizeof *o);
  if (c->text && program_read(&o->own, c->text, strlen(c->text), c->name, &error)) {
    if (!is_random) fail_msg("%s", error.message);
    return false;
  }
  Shape shape = c->shape;
  if (c->mask)
    shape.pattern = o->mask =
        pattern_named(c->mask, (PatternMatrix){shape.N_q, shape.N_k ? shape.N_k : shape.N_q, shape.top_left}, &error);
  const LaunchConfig launch = {.walk = c->tiling.reversed ? WALK_REVERSED : WALK_FORWARD};
  const StageConfig config = {
      .problem = {.shape = shape, .tiling = c->tiling, .machine = machine_paper(), .launch = launch},
      .schedule = c->text ? &o->own : schedule_find(c->name),
      .without_max = c->without_max,
      .q_scale = c->q_scale,
      .row_in_block = c->row_in_block,
      .l2_later = true};
  if (stage_make(&o->stage, &config, &error)) {
    if (!is_random) fail_msg("%s", error.message);
    stage_free(&o->stage);
    free(o->mask);
    return false;
  }
  claim_run_open(&o->run, &o->stage, c->is_online);
  return true;
}

static inline void close_case(Opened *o) {
  claim_run_close(&o->run);
  stage_free(&o->stage);
  free(o->mask);
}

static inline int words_in(const char *text) {
  int n = 1;
  for (; *text; text++) n += *text == ' ';
  return n;
}

static uint64_t n_pairs, n_false, n_shipped, n_bare;

static inline void check_step(const Opened *o, const Case *c, uint64_t step, const char *text) {
  char why[CLAIM_WHY_BYTES];
  n_pairs++;
  if (!claim_holds(&o->run, step, text, why))
    print_message("%s, N %d x %d, step %d: \"%s\" is %s\n", c->name, (int)o->run.plan.shape.N_q,
                  (int)o->run.plan.shape.N_k, (int)step, text, why),
        n_false++;
  if (words_in(text) > NARRATION_WORDS_MAX)
    fail_msg("%s, step %d: %d words: %s", c->name, (int)step, words_in(text), text);
}

/* A claim that only states its line, or what has moved. */
static inline bool is_bare(const char *text) { return strstr(text, " have moved so far.") || claim_of(text) < 0; }

static inline void check_case(const Opened *o, const Case *c, bool *said_at) {
  for (uint64_t step = 0; step <= o->stage.n_steps; step++) {
    Snapshot now;
    Narration said;
    stage_snapshot(&o->stage, step, &now);
    narrate(&now, &said);
    check_step(o, c, step, said.what);
    check_step(o, c, step, said.why);
    if (!c->text && o->stage.K) n_shipped++, n_bare += is_bare(said.why);
    if (said_at && claim_of(said.what) >= 0) said_at[claim_of(said.what)] = true;
    if (said_at && claim_of(said.why) >= 0) said_at[claim_of(said.why)] = true;
  }
}

#endif
