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

/* Words that claim something of the past, the future or a whole are said only where a need of theirs holds. */
static const struct {
  const char *word;
  Need needs[6];
} CLAIM_WORDS[] = {{"again", {NEED_FOR_ROWS, NEED_FOR_COLUMNS, NEED_FOR_PART, NEED_FOR_KERNEL, NEED_FOR_LOOP}},
                   {"earlier", {NEED_FOR_LOOP}},
                   {"only", {NEED_ONLY_LOAD, NEED_ONLY_STORE}},
                   {"first", {NEED_FIRST_LOAD, NEED_FIRST_KEYS}},
                   {"First", {NEED_FIRST_LOAD, NEED_FIRST_KEYS}},
                   {"last", {NEED_LAST_STORE}},
                   {"final", {NEED_NOTHING}},
                   {"next", {NEED_NOTHING}},
                   {"vain", {NEED_VAIN}},
                   {"All", {NEED_VAIN, NEED_FINISHED, NEED_END}},
                   {"all", {NEED_ALL_KEYS, NEED_FINISHED, NEED_END}},
                   {"Every", {NEED_PAIRS}},
                   {"never", {NEED_ON_CHIP}},
                   {"stays", {NEED_KEPT, NEED_SUM_STAYS}},
                   {"back", {NEED_STORED_BEFORE, NEED_STORED_BY_KERNEL}},
                   {"follows", {NEED_NEVER_LOADED_LATER}},
                   {"later", {NEED_NOTHING}}};

static inline void check_words(int situation, const char *text) {
  for (size_t w = 0; w < sizeof CLAIM_WORDS / sizeof *CLAIM_WORDS; w++) {
    const char *word = CLAIM_WORDS[w].word, *at = strstr(text, word);
    const size_t n = strlen(word);
    if (!at || (at > text && at[-1] != ' ') || (at[n] && !strchr(" .,;:", at[n]))) continue;
    bool is_tied = false;
    for (int a = 0; a < 6 && CLAIM_WORDS[w].needs[a]; a++)
      for (int b = 0; b < NARRATION_NEEDS_MAX; b++)
        is_tied = is_tied || narration_needs(situation)[b] == CLAIM_WORDS[w].needs[a];
    if (!is_tied) fail_msg("'%s' claims what it does not need: \"%s\"", word, text);
  }
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

static inline void check_case(const Opened *o, const Case *c, bool *said_at) {
  for (uint64_t step = 0; step <= o->stage.n_steps; step++) {
    Snapshot now;
    Facts f;
    Narration said;
    stage_snapshot(&o->stage, step, &now);
    facts_at(&now, &f);
    const int which = narration_choose(&f, -1, NEED_NOTHING);
    narration_say(&now, &f, which, &said);
    check_step(o, c, step, said.what);
    check_step(o, c, step, said.why);
    check_words(which, said.what);
    check_words(which, said.why);
    if (!c->text && o->stage.K) {
      n_shipped++;
      n_bare += narration_needs(which)[0] == NEED_NOTHING && f.line.shape != LINE_SKIP;
    }
    if (said_at) said_at[which] = true;
  }
}

#endif
