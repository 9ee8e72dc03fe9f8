/* No sentence is false: every claim of every step is proved from the events alone (tests/support/claims.c), for shipped
 * programs, own ones and random ones, under every mask and walk. And each need is needed: without it something false is
 * said. SENTENCES_RANDOM=N checks N random programs instead of a sample. */
#include "viz/scene/narration.h"

#include <glob.h>
#include <time.h>

#include "tests/support/test.h"
#include "sim/algorithms/walk/place.h"
#include "tests/support/claims.h"
#include "tests/support/own_programs.h"
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"
#include "tests/support/random_program.h"

/* FLASH-D (2025): O is always normalised, and L takes the place of m and l. */
static const char FLASHD[] =
    "algorithm flashd\nkernel forward\n  for every row block i\n    load Q_i\n    O_i = 0; L_i = -inf\n"
    "    for each column block j of i, either way\n      load K_j\n      S = Q_i K_j^T / sqrt(d)\n"
    "      mask S\n      m' = max(L_i, row max of S)\n      load V_j\n"
    "      P = e^(S - m'); t = e^(L_i - m') + row sum of P\n"
    "      O_i = O_i x e^(L_i - m') / t + P V_j / t\n      L_i = m' + log t\n    store O_i\n";

/* m and l in one kernel, O in another. */
static const char TWOPASS[] =
    "algorithm twopass\nkernel stats\n  for every row block i\n    load Q_i\n    l_i = 0; m_i = -inf\n"
    "    for each column block j of i\n      load K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      m' = max(m_i, row max of S)\n      l_i = l_i e^(m_i - m') + row sum of e^(S - m'); m_i = m'\n"
    "    store L_i = m_i + log l_i\nkernel values\n  for every row block i\n    load Q_i\n    load L_i\n    O_i = 0\n"
    "    for each column block j of i\n      load K_j\n      load V_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      O_i += e^(S - L_i) V_j\n    store O_i\n";

/* Two loops over the keys in one kernel, and Q loaded for each tile. */
static const char TWICE[] =
    "algorithm twice\nkernel forward\n  for every row block i\n    l_i = 0; m_i = -inf\n    for each column block j of "
    "i\n"
    "      load Q_i, K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n      m' = max(m_i, row max of S)\n"
    "      l_i *= e^(m_i - m')\n      l_i += row sum of e^(S - m'); m_i = m'\n    O_i = 0\n    for each column block j "
    "of i\n"
    "      load Q_i, K_j, V_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n      P = e^(S - m_i) / l_i\n      O_i += "
    "P V_j\n"
    "    store O_i\n";

/* No softmax, a value that is stored and never read, and tiles that are computed and masked. */
static const char LINEAR[] =
    "algorithm linear\nkernel forward\n  for every row block i\n    load Q_i\n    O_i = 0\n"
    "    for each column block j\n      load K_j\n      load V_j\n      S_ij = Q_i K_j^T\n      mask S_ij\n"
    "      store S_ij\n      O_i += S_ij V_j\n    store O_i\n";

/* Three values in one line, as many sentences as there are letters. */
static const char EXTRA[] =
    OWN_HEAD("extra") "    for each column block j of i, either way\n" OWN_TILE OWN_RESCALE
                      "      load V_j\n      P = e^(S - m'); l_i += row sum of P; R = P V_j; W = R + R; "
                      "O_i += R; m_i = m'\n" OWN_END;

/* m and l in HBM, stored and loaded together, and l once more by itself. */
static const char TOGETHER[] =
    "algorithm together\nkernel stats\n  for every row block i\n    load Q_i\n    l_i = 0; m_i = -inf\n"
    "    for each column block j of i\n      load K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      m' = max(m_i, row max of S)\n      l_i *= e^(m_i - m')\n      l_i += row sum of e^(S - m'); m_i = m'\n"
    "    store m_i, l_i\nkernel values\n  for every row block i\n    load Q_i\n    load m_i, l_i\n    O_i = 0\n"
    "    for each column block j of i\n      load K_j, V_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      O_i += e^(S - m_i) V_j\n    store O_i\n    store m_i, l_i\nkernel divide\n  for every row block i\n    load "
    "O_i\n"
    "    load l_i\n    O_i = O_i / l_i\n    store O_i\n    store l_i\n";

/* The same where all of it moves together, and goes out with O. */
static const char PAIRED[] =
    "algorithm paired\nkernel stats\n  for every row block i\n    load Q_i\n    l_i = 0; m_i = -inf\n"
    "    for each column block j of i\n      load K_j\n      S = (Q_i x Q_i) K_j^T / sqrt(d)\n      R = Q_i K_j^T\n    "
    "  mask S\n"
    "      m' = max(row max of S, m_i)\n      l_i *= e^(m_i - row max of S)\n      l_i += row sum of e^(S - m'); m_i = "
    "m'\n"
    "    store m_i, l_i\nkernel values\n  for every row block i\n    load Q_i\n    load m_i, l_i\n    O_i = 0\n"
    "    for each column block j of i\n      load K_j, V_j\n      S_ij = (Q_i x Q_i) K_j^T / sqrt(d)\n      P_ij = Q_i "
    "K_j^T\n"
    "      store S_ij\n      store P_ij\n      mask S_ij\n"
    "      O_i += e^(S_ij - m_i) V_j\n      store O_i\n    O_i = O_i / l_i\n    store O_i\n    t = log l_i\n    store "
    "L_i = m_i + t\n";

/* All of a head in one CTA: what the first loop has stored the second loads. */
static const char ONE_KERNEL[] =
    "algorithm one-kernel\nkernel forward\n  for each row block i\n    load Q_i\n    l_i = 0; m_i = -inf\n"
    "    for each column block j of i\n      load K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n      t = row max "
    "of S\n"
    "      m' = max(m_i, t)\n      l_i *= e^(m_i - m')\n      l_i += row sum of e^(S - m'); m_i = m'\n      store m_i "
    "= m_i\n"
    "    store L_i = m_i + log l_i\n  for each row block i\n    load Q_i\n    load m_i\n    load L_i\n    O_i = 0\n"
    "    for each column block j of i\n      load K_j, V_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      O_i += e^(S - L_i) V_j\n    store O_i\n";

/* Nothing is masked where the mask cuts. */
static const char MASKLESS[] =
    OWN_HEAD("maskless") "    for each column block j of i\n      load K_j\n"
                         "      S = Q_i K_j^T / sqrt(d)\n      m' = max(m_i, row max of S)\n"
                         "      l_i *= e^(m_i - m')\n      O_i *= e^(m_i - m')\n" OWN_ADD OWN_END;

/* Tiles that the mask hides are computed, too. */
static const char WHOLE[] = OWN_HEAD("whole") "    for each column block j\n" OWN_TILE OWN_RESCALE OWN_ADD OWN_END;

/* Parts with m and l on lines of their own, and the operands of max exchanged. */
static const char PARTS[] =
    "algorithm parts\ntensor    O_is fp32\nkernel splits\n  for every row block i\n    for every split s\n      load "
    "Q_i\n"
    "      O_is, l_i = 0; m_i = -inf\n      for each column block j of i in s\n        load K_j, V_j\n"
    "        S = Q_i K_j^T / sqrt(d)\n        mask S\n        m' = max(row max of S, m_i)\n        l_i, O_is *= e^(m_i "
    "- m')\n"
    "        l_i += row sum of e^(S - m')\n        O_is += e^(S - m') V_j; m_i = m'\n      O_is = O_is / l_i\n"
    "      store O_is\n      store L_is = m_i + log l_i\nkernel combine\n  for every row block i\n    O_i, l_i = 0; "
    "m_i = -inf\n"
    "    for each split s\n      load L_is\n      m_i = max(m_i, L_is)\n    for each split s\n      load L_is once\n   "
    "   load O_is\n"
    "      l_i += e^(L_is - m_i)\n      O_i += e^(L_is - m_i) O_is\n    O_i = O_i / l_i\n    store O_i\n";

typedef struct {
  const char *name, *text; /* text NULL: shipped */
  Shape shape;
  Tiling tiling;
  const char *mask;
  int64_t row_in_block;
  bool without_max, is_online;
  int64_t q_scale;
} Case;

static const Case CASES[] = {
    {"fa2", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"fa2",
     NULL,
     {.N_q = 64, .d = 16, .causal = true},
     {.B_r = 8, .B_c = 8, .reversed = true},
     NULL,
     0,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 64, .d = 16, .causal = true, .top_left = true, .N_k = 40},
     {.B_r = 8, .B_c = 8},
     NULL,
     1,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 60, .N_k = 36, .d = 16, .causal = true},
     {.B_r = 16, .B_c = 8, .lse = true},
     NULL,
     3,
     false,
     true,
     0},
    {"fa2", NULL, {.N_q = 96, .d = 16, .window = 10}, {.B_r = 16, .B_c = 8}, NULL, 1, false, true, 0},
    {"fa2",
     NULL,
     {.N_q = 80, .d = 16, .window = 20, .causal = true},
     {.B_r = 16, .B_c = 4, .reversed = true},
     NULL,
     16,
     false,
     true,
     0},
    {"fa2", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, "strided:3:8", 0, false, true, 0},
    {"fa2", NULL, {.N_q = 64, .d = 16}, {.B_r = 16, .B_c = 16}, "strided:4:4", 2, false, true, 0},
    {"fa2", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8, .lse = true}, NULL, 0, true, true, 0},
    {"fa1", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 16, .B_c = 8}, NULL, 0, false, true, 0},
    {"fa1", NULL, {.N_q = 60, .d = 16}, {.B_r = 16, .B_c = 16}, NULL, 0, true, true, 0},
    {"fa1", NULL, {.N_q = 56, .N_k = 32, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 2, false, true, 0},
    {"fa1", NULL, {.N_q = 64, .d = 16}, {.B_r = 8, .B_c = 8}, "strided:3:8", 0, false, true, 0},
    {"standard", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"standard", NULL, {.N_q = 48, .d = 16, .window = 9}, {.B_r = 8, .B_c = 8}, NULL, 7, false, true, 0},
    {"standard", NULL, {.N_q = 48, .d = 16}, {.B_r = 16, .B_c = 16}, "strided:2:8", 0, true, true, 0},
    {"fa2-split",
     NULL,
     {.N_q = 16, .N_k = 256, .d = 16},
     {.B_r = 8, .B_c = 16, .n_splits = 4},
     NULL,
     0,
     false,
     true,
     0},
    {"fa2-split",
     NULL,
     {.N_q = 64, .N_k = 64, .d = 16, .causal = true},
     {.B_r = 8, .B_c = 8, .n_splits = 3, .lse = true},
     NULL,
     2,
     false,
     true,
     0},
    {"fa2-split",
     NULL,
     {.N_q = 64, .d = 16, .causal = true},
     {.B_r = 8, .B_c = 8, .n_splits = 1},
     NULL,
     0,
     false,
     true,
     0},
    {"flashd", FLASHD, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"flashd", FLASHD, {.N_q = 48, .d = 16, .window = 9}, {.B_r = 8, .B_c = 4}, NULL, 1, false, false, 6},
    {"twopass", TWOPASS, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"twice", TWICE, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 3, false, true, 0},
    {"twice", TWICE, {.N_q = 48, .N_k = 24, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 3, false, true, 0},
    {"linear", LINEAR, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"extra", EXTRA, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"reversed", OWN_REVERSED, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"together", TOGETHER, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"paired", PAIRED, {.N_q = 40, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"paired", PAIRED, {.N_q = 40, .d = 16384, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"one-kernel", ONE_KERNEL, {.N_q = 40, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"maskless", MASKLESS, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 2, false, true, 0},
    {"maskless", MASKLESS, {.N_q = 48, .d = 16, .window = 5}, {.B_r = 16, .B_c = 8}, NULL, 16, false, true, 0},
    {"parts",
     PARTS,
     {.N_q = 32, .d = 16, .causal = true},
     {.B_r = 8, .B_c = 8, .n_splits = 2},
     NULL,
     0,
     false,
     true,
     0},
    {"fa2-split",
     NULL,
     {.N_q = 32, .d = 32768, .causal = true},
     {.B_r = 8, .B_c = 8, .n_splits = 2},
     NULL,
     0,
     false,
     true,
     0},
    {"fa1", NULL, {.N_q = 32, .d = 32768, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"standard", NULL, {.N_q = 32, .d = 32768, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"fa2",
     NULL,
     {.N_q = 2100, .N_k = 64, .d = 8, .causal = true, .window = 9},
     {.B_r = 2100, .B_c = 8},
     "strided:3:8",
     2090,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 2100, .N_k = 64, .d = 8, .causal = true, .window = 9},
     {.B_r = 2100, .B_c = 8},
     "strided:3:8",
     2080,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 2100, .N_k = 64, .d = 8, .causal = true, .window = 17},
     {.B_r = 2100, .B_c = 8},
     "strided:3:8",
     2091,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 2100, .N_k = 64, .d = 16384, .causal = true},
     {.B_r = 2100, .B_c = 8},
     "strided:3:8",
     0,
     false,
     true,
     0},
    {"whole", WHOLE, {.N_q = 32, .d = 32768, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"standard", NULL, {.N_q = 32, .d = 16, .causal = true}, {.B_r = 8, .B_c = 4}, NULL, 1, false, true, 0},
    {"fused", OWN_FUSED, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
};
enum { N_CASES = sizeof CASES / sizeof *CASES };

typedef struct {
  Stage stage;
  Program own;
  Pattern *mask;
  ClaimRun run;
} Opened;

static bool open_case(Opened *o, const Case *c, bool is_random) {
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
      .lone_row = true,
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

static void close_case(Opened *o) {
  claim_run_close(&o->run);
  stage_free(&o->stage);
  free(o->mask);
}

static int words_in(const char *text) {
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

static void check_words(int situation, const char *text) {
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

static void check_step(const Opened *o, const Case *c, uint64_t step, const char *text) {
  char why[CLAIM_WHY_BYTES];
  n_pairs++;
  if (!claim_holds(&o->run, step, text, why))
    print_message("%s, N %d x %d, step %d: \"%s\" is %s\n", c->name, (int)o->run.plan.shape.N_q,
                  (int)o->run.plan.shape.N_k, (int)step, text, why),
        n_false++;
  if (words_in(text) > NARRATION_WORDS_MAX)
    fail_msg("%s, step %d: %d words: %s", c->name, (int)step, words_in(text), text);
}

static void check_case(const Opened *o, const Case *c, bool *said_at) {
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

TEST(test_no_sentence_is_false) {
  static bool said[NARRATION_SITUATIONS_MAX];
  Opened *o = malloc(sizeof *o);
  for (int k = 0; k < N_CASES; k++) {
    open_case(o, &CASES[k], false);
    check_case(o, &CASES[k], said);
    close_case(o);
  }
  free(o);
  assert_true(n_bare * 20 < n_shipped); /* what only states its line is rare */
  for (int k = 0; k < narration_n_situations(); k++)
    if (!said[k] && narration_needs(k)[0] != NEED_NOTHING && narration_needs(k)[0] != NEED_IS_ADD)
      fail_msg("never said: %s", narration_situation_name(k));
}

/* ---- Each need is needed ---------------------------------------------------------------------------------------- */

TEST(test_each_need_is_needed) {
  static bool noticed[NARRATION_SITUATIONS_MAX][NARRATION_NEEDS_MAX];
  Opened *o = malloc(sizeof *o);
  for (int k = 0; k < N_CASES; k++) {
    open_case(o, &CASES[k], false);
    for (uint64_t step = 0; step <= o->stage.n_steps; step++) {
      Snapshot now;
      Facts f;
      bool is_there = false;
      for (int s = 0; s < narration_n_situations(); s++)
        for (int n = 0; n < NARRATION_NEEDS_MAX && narration_needs(s)[n]; n++) {
          if (noticed[s][n]) continue;
          if (!is_there) {
            stage_snapshot(&o->stage, step, &now);
            facts_at(&now, &f);
            is_there = true;
          }
          char why[CLAIM_WHY_BYTES];
          Narration said;
          if (f.has[narration_needs(s)[n]] || narration_choose(&f, s, narration_needs(s)[n]) != s) continue;
          narration_say(&now, &f, s, &said);
          noticed[s][n] = !claim_holds(&o->run, step, said.what, why) || !claim_holds(&o->run, step, said.why, why);
        }
    }
    close_case(o);
  }
  free(o);
  int n_unnoticed = 0;
  for (int s = 0; s < narration_n_situations(); s++)
    for (int n = 0; n < NARRATION_NEEDS_MAX && narration_needs(s)[n]; n++)
      if (!noticed[s][n] && narration_needs(s)[n] != NEED_AREA) { /* no product lies outside tiles yet */
        print_message("not needed: %s, need %d (%d of it)\n", narration_situation_name(s), n,
                      (int)narration_needs(s)[n]);
        n_unnoticed++;
      }
  assert_int_equal(n_unnoticed, 0);
}

/* ---- Sentences exchanged ----------------------------------------------------------------------------------------- */

/* Another sentence of the same shape, whose needs do not hold: that something is false is seen nearly always. */
TEST(test_exchanges_are_noticed) {
  uint64_t n_said = 0, n_noticed = 0;
  Opened *o = malloc(sizeof *o);
  for (int k = 0; k < N_CASES; k += 3) {
    open_case(o, &CASES[k], false);
    for (uint64_t step = 1; step < o->stage.n_steps; step += 5) {
      Snapshot now;
      Facts f;
      stage_snapshot(&o->stage, step, &now);
      facts_at(&now, &f);
      for (int s = 0; s < narration_n_situations(); s++) {
        Narration said;
        char why[CLAIM_WHY_BYTES];
        bool holds = true;
        for (int n = 0; n < NARRATION_NEEDS_MAX; n++) holds = holds && f.has[narration_needs(s)[n]];
        if (holds || narration_shape(s) != f.line.shape) continue;
        narration_say(&now, &f, s, &said);
        n_said++;
        n_noticed += !claim_holds(&o->run, step, said.what, why) || !claim_holds(&o->run, step, said.why, why);
      }
    }
    close_case(o);
  }
  free(o);
  print_message("%llu exchanged, %llu noticed\n", (unsigned long long)n_said, (unsigned long long)n_noticed);
  assert_true(n_said > 3000 && n_noticed * 100 > n_said * 90);
}

/* ---- Random programs -----------------------------------------------------------------------------------------------
 */

TEST(test_random_programs) {
  const char *asked = getenv("SENTENCES_RANDOM");
  const int n = asked ? atoi(asked) : 30 / ONE_OF;
  const uint64_t before = n_pairs;
  Rand r = {20261126};
  Opened *o = malloc(sizeof *o);
  int n_read = 0;
  for (int k = 0; k < n; k++) {
    char text[PROGRAM_TEXT_BYTES], mask[32];
    const int kind = (int)rand_in(&r, 0, 9);
    random_program(text, k, kind, &r);
    Case c = {"random", kind < RANDOM_KINDS ? text : NULL, {.d = 4}, {0}, NULL, 0, false, true, 0};
    if (kind == RANDOM_KINDS) c.name = "fa2-split";
    c.shape.N_q = rand_in(&r, 1, 40);
    c.shape.N_k = rand_in(&r, 0, 2) ? rand_in(&r, 1, 40) : 0;
    c.tiling = (Tiling){.B_r = rand_in(&r, 1, 16),
                        .B_c = rand_in(&r, 1, 16),
                        .n_splits = rand_in(&r, 1, 4),
                        .reversed = rand_in(&r, 0, 1),
                        .lse = rand_in(&r, 0, 1)};
    c.shape.causal = rand_in(&r, 0, 1);
    c.shape.top_left = rand_in(&r, 0, 3) == 0;
    if (rand_in(&r, 0, 2) == 0) c.shape.window = rand_in(&r, 1, 12);
    static const char *const MASKS[] = {"strided:%d:%d", "documents:%d", "sink:%d", "prefix:%d"};
    snprintf(mask, sizeof mask, MASKS[rand_in(&r, 0, 3)], (int)rand_in(&r, 1, 4), (int)rand_in(&r, 1, 9));
    if (rand_in(&r, 0, 3) == 0) c.mask = mask;
    c.row_in_block = rand_in(&r, 0, 4);
    if (!open_case(o, &c, true)) continue;
    n_read++;
    check_case(o, &c, NULL);
    close_case(o);
  }
  free(o);
  assert_true(n_read * 10 > n * 7);
  print_message("%d random programs: %llu sentences; %llu in all, %llu false\n", n_read,
                (unsigned long long)(n_pairs - before), (unsigned long long)n_pairs, (unsigned long long)n_false);
  assert_int_equal(n_false, 0);
}

/* ---- Every shipped program, and those of a folder
 * --------------------------------------------------------------------- */

static void check_program(Opened *o, const char *name, const char *text, size_t stride) {
  static const Case SHAPES[] = {
      {"", NULL, {.N_q = 40, .d = 8}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
      {"", NULL, {.N_q = 37, .d = 8, .causal = true}, {.B_r = 8, .B_c = 8, .lse = true}, NULL, 2, false, false, 0},
      {"",
       NULL,
       {.N_q = 40, .N_k = 24, .d = 8, .causal = true},
       {.B_r = 8, .B_c = 4, .n_splits = 2},
       NULL,
       1,
       false,
       false,
       0},
      {"", NULL, {.N_q = 40, .d = 8, .window = 9}, {.B_r = 4, .B_c = 8, .reversed = true}, NULL, 0, false, false, 0},
      {"", NULL, {.N_q = 32, .d = 8, .causal = true}, {.B_r = 8, .B_c = 8}, "strided:3:8", 5, false, false, 0},
      {"", NULL, {.N_q = 32, .d = 8, .causal = true}, {.B_r = 8, .B_c = 8}, "documents:10,22", 5, false, false, 0},
  };
  int n = 0;
  for (size_t k = stride / 2; k < sizeof SHAPES / sizeof *SHAPES; k += stride) {
    Case c = SHAPES[k];
    c.name = name;
    c.text = text;
    if (!open_case(o, &c, true)) continue; /* the diagonal needs square tiles, and as many keys as queries */
    n++;
    check_case(o, &c, NULL);
    close_case(o);
  }
  if (n == 0) fail_msg("%s is never walked", name);
}

static void check_file(Opened *o, const char *path) {
  char text[PROGRAM_TEXT_BYTES] = "";
  FILE *in = fopen(path, "rb");
  if (!in || fread(text, 1, PROGRAM_TEXT_BYTES - 1, in) == 0) fail_msg("%s cannot be read", path);
  fclose(in);
  if (program_read(&o->own, text, strlen(text), path, &(Error){0})) return; /* kept to be refused */
  check_program(o, path, text, getenv("SENTENCES_PROGRAMS") ? 1 : 3);
}

/* Programs that declare their tensors lie in tests/programs and in the corpus of fuzzing; SENTENCES_PROGRAMS="a.walk
 * b.walk" takes others by hand. */
TEST(test_every_program) {
  const uint64_t before = n_pairs;
  const char *asked = getenv("SENTENCES_PROGRAMS");
  Opened *o = malloc(sizeof *o);
  for (int k = 0; k < N_PROGRAMS; k++) check_program(o, SCHEDULES[k]->name, NULL, k < N_SCHEDULES ? 1 : 3);
  glob_t files = {0};
  glob("tests/programs/*.walk", 0, NULL, &files);
  glob("tests/fuzz/corpus/program/*.walk", GLOB_APPEND, NULL, &files);
  for (size_t k = 0; !asked && k < files.gl_pathc; k++) check_file(o, files.gl_pathv[k]);
  globfree(&files);
  while (asked && *asked) {
    char path[512];
    const size_t n = strcspn(asked, " ");
    snprintf(path, sizeof path, "%.*s", (int)n, asked);
    asked += n;
    asked += strspn(asked, " ");
    check_file(o, path);
  }
  free(o);
  print_message("%llu sentences of programs, %llu false\n", (unsigned long long)(n_pairs - before),
                (unsigned long long)n_false);
  assert_int_equal(n_false, 0);
}

/* ---- As large as it may be
 * ------------------------------------------------------------------------------------------- */

/* N = 64K: keys of a row and loads of a block equal a scan of all events; and a step costs as little as at N = 64. */
TEST(test_large) {
  enum { N = 65536, B = 128, T = N / B, EVERY = 10007 };
  Stage stage;
  Error error = {0};
  const StageConfig config = {.problem = {.shape = {.N_q = N, .d = 64, .causal = true},
                                          .tiling = {.B_r = B, .B_c = B},
                                          .launch = {.walk = WALK_REVERSED},
                                          .machine = machine_paper()},
                              .schedule = schedule_find("fa2"),
                              .lone_row = true,
                              .l2_later = true};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  int64_t *loads = calloc(T, sizeof *loads), *all = calloc(T, sizeof *all);
  Cursor cursor = {0};
  Event e;
  while (schedule_next(stage.run.schedule, &stage.run.plan, &cursor, &e))
    if (e.kind == EVENT_LOAD && e.j >= 0 &&
        strcmp(stage.run.schedule->names[stage.run.schedule->ops[e.op].moved[0]].text, "K_j") == 0)
      all[e.j]++;
  cursor = (Cursor){0};
  Snapshot *now = calloc(1, sizeof *now);
  Problem problem = config.problem;
  problem.tiling = stage.run.plan.tiling;
  double seconds = 0;
  int n = 0;
  while (schedule_next(stage.run.schedule, &stage.run.plan, &cursor, &e)) {
    const bool is_K = e.kind == EVENT_LOAD && e.j >= 0 &&
                      strcmp(stage.run.schedule->names[stage.run.schedule->ops[e.op].moved[0]].text, "K_j") == 0;
    if (is_K) loads[e.j]++;
    if (e.step % EVERY >= 8) continue;
    Facts f;
    *now = (Snapshot){.problem = problem,
                      .schedule = stage.run.schedule,
                      .step = e.step + 1,
                      .n_steps = stage.n_steps,
                      .event = e,
                      .has_event = true};
    now->row.is_computed = true;
    now->row.row = e.row0 + B / 2;
    const clock_t began = clock();
    facts_at(now, &f);
    seconds += (double)(clock() - began) / CLOCKS_PER_SEC;
    n++;
    if (is_K) {
      assert_int_equal(f.loads_before, loads[e.j] - 1);
      assert_int_equal(f.loads_all, all[e.j]);
    }
    if (e.j < 0) continue;
    assert_int_equal(f.keys_before, now->row.row + 1 > e.col1 ? now->row.row + 1 - e.col1 : 0); /* from the last key */
    assert_int_equal(f.keys_left, e.col0 < now->row.row + 1 ? e.col0 : now->row.row + 1);
  }
  print_message("%d steps, %.1f us each\n", n, 1e6 * seconds / n);
  assert_true(n > 300 && seconds / n < 2e-4);
  free(now);
  free(loads);
  free(all);
  stage_free(&stage);
}
