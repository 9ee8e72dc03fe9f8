/* What piles, many and bank say, proved at every step by sums over the events and
 * by the files: sentences are taken apart, and each number in them is worked out here anew. Words that match no pattern
 * are false. */
#include "sim/base/random.h"
#include "sim/numbers/precision.h"
#include "tests/support/drawing.h"
#include "tests/support/test.h"
#include "viz/request/request.h"
#include "sim/machine/warp.h"
#include "viz/scene/bank.h"
#include "viz/scene/scene.h"
#include "viz/text/number.h"

enum { WORDS = 8, WORD_BYTES = 96 };

/* ---- Words ------------------------------------------------------------------------------------------------- */

/* The text is the pattern, with something for each '*'. */
static bool match(const char *pattern, const char *text, char words[WORDS][WORD_BYTES]) {
  int n = 0;
  while (*pattern) {
    if (*pattern != '*') {
      if (*pattern++ != *text++) return false;
      continue;
    }
    const char *next = pattern + 1;
    size_t fixed = strcspn(next, "*");
    const char *end = text;
    const size_t left = strlen(text);
    if (!next[fixed]) /* the last: numbers have dots too */
      end = left > fixed ? text + left - fixed : text;
    while (*end && (fixed ? strncmp(end, next, fixed) != 0 : true)) end++;
    if (n == WORDS || end == text || (size_t)(end - text) >= WORD_BYTES || (fixed && !*end)) return false;
    snprintf(words[n++], WORD_BYTES, "%.*s", (int)(end - text), text);
    text = end;
    pattern = next;
  }
  return !*text;
}

/* A number with its unit, and half a unit of its last digit. */
static bool near(const char *text, double value) {
  static const struct {
    const char *unit;
    double times;
  } UNITS[] = {{" B", 1}, {" KiB", 1024}, {" MiB", 1 << 20}, {" GiB", 1 << 30}, {"%", 0.01}, {"x", 1}, {"", 1}};
  char plain[WORD_BYTES], *end;
  size_t n = 0;
  for (const char *c = text; *c; c++)
    if (*c != ',') plain[n++] = *c;
  plain[n] = '\0';
  const double number = strtod(plain, &end);
  const char *dot = strchr(plain, '.');
  const int digits = dot && dot < end ? (int)(end - dot) - 1 : 0;
  for (size_t k = 0; k < sizeof UNITS / sizeof *UNITS; k++)
    if (strcmp(end, UNITS[k].unit) == 0)
      return fabs(number * UNITS[k].times - value) <= (0.5000001 * pow(10, -digits)) * UNITS[k].times + 1e-12;
  return false;
}

/* ---- A run by its events ------------------------------------------------------------------------------------- */

typedef struct {
  const Schedule *schedule;
  uint64_t n;
  double *sums, *inputs; /* bytes before each step; of loads of K */
} Run;

static Run run_of(const Schedule *schedule, const Plan *plan) {
  Run r = {.schedule = schedule, .n = (uint64_t)schedule_n_steps(schedule, plan)};
  Cursor cursor = {0};
  Event e;
  r.sums = calloc((size_t)r.n + 1, sizeof *r.sums);
  r.inputs = calloc((size_t)r.n + 1, sizeof *r.inputs);
  assert_true(r.sums && r.inputs);
  for (uint64_t k = 0; schedule_next(schedule, plan, &cursor, &e); k++) {
    const bool is_input = e.kind == EVENT_LOAD && strcmp(schedule->tensors[e.tensor].text, "K") == 0;
    r.sums[k + 1] = r.sums[k] + (double)e.bytes;
    r.inputs[k + 1] = r.inputs[k] + (is_input ? (double)e.bytes : 0);
  }
  return r;
}

static void run_end(Run *r) {
  free(r->sums);
  free(r->inputs);
}

static double whole(const Run *r) { return r->sums[r->n]; }

static Stage open_l2(const char *state, bool l2_later) {
  Request request = {.l2_later = l2_later};
  Error error = {0};
  Stage stage = {0};
  if (request_read(&request, state, false, &error) || request_stage(&request, false, 0, &stage, &error))
    fail_msg("%s: %s", state, error.message);
  return stage;
}

static Stage open_state(const char *state) { return open_l2(state, false); }

/* L2 that comes later is awaited, and is not known until then. */
TEST(l2_is_awaited) {
  for (int later = 0; later < 2; later++) {
    Stage stage = open_l2("algorithm=fa2 N=256 d=64 block=64 gpu=h200", later);
    assert_int_equal(stage.l2.is_awaited, later);
    assert_int_equal(stage.l2.is_known, !later);
    stage_free(&stage);
  }
}

/* ---- Piles, on their clock of bytes ------------------------------------------------------------------------------ */

/* "fa2 carried 22 KiB, standard carried 40 KiB." in the order of the runs. */
static bool all_carried(const Run *runs, int n, const char *text) {
  char expected[256] = "";
  for (int k = 0; k < n; k++)
    snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s carried %s%s", runs[k].schedule->name,
             number_bytes((Wide)whole(&runs[k])).text, k + 1 < n ? ", " : ".");
  return strcmp(expected, text) == 0;
}

static bool piles_what(const Run *runs, int n, double clock, const char *text) {
  char w[WORDS][WORD_BYTES];
  bool is_over = true;
  for (int k = 0; k < n; k++) is_over = is_over && clock >= whole(&runs[k]);
  if (is_over) return all_carried(runs, n, text);
  const char *rest = strstr(text, "each: ");
  return match("After * each: *", text, w) && near(w[0], clock) && rest && rest[6];
}

TEST(test_piles) {
  static const char *const STATES[] = {
      "algorithm=standard,fa2 N=64 d=16 block=8", "algorithm=fa1,fa2 N=96 d=8 block=16",
      "algorithm=standard,fa1,fa2 N=100 d=24 block=16 causal=1", "algorithm=fa2 N=64 d=16 block=8 causal=1"};
  for (size_t k = 0; k < sizeof STATES / sizeof *STATES; k++) {
    Stage stage = open_state(STATES[k]);
    Run runs[SNAPSHOT_RUNS_MAX];
    const int n = stage.config.n_rivals;
    const Run *shown = NULL;
    for (int r = 0; r < n; r++) {
      runs[r] = run_of(stage.rivals[r].schedule, &stage.rivals[r].plan);
      if (runs[r].schedule == stage.run.schedule) shown = &runs[r];
    }
    assert_non_null(shown);
    for (uint64_t step = 0; step <= stage.n_steps; step++) {
      Snapshot now;
      Narration said;
      stage_snapshot(&stage, step, &now);
      scene_narrate(SCENE_PILES, &now, NULL, &said);
      if (!piles_what(runs, n, shown->sums[step], said.what))
        fail_msg("%s, step %d: %s", STATES[k], (int)step, said.what);
      for (int r = 0; r < n; r++) { /* as far as its own bytes allow */
        char is_at[224];
        snprintf(is_at, sizeof is_at, "%s is at %s", runs[r].schedule->name,
                 number_percent((double)now.runs[r].moved_bytes / whole(&runs[r])).text);
        assert_true((double)now.runs[r].moved_bytes <= shown->sums[step]);
        if (strstr(said.what, "each: ") && !strstr(said.what, is_at)) fail_msg("%s: %s", is_at, said.what);
      }
    }
    for (int r = 0; r < n; r++) run_end(&runs[r]);
    stage_free(&stage);
  }
}

/* ---- Decode ------------------------------------------------------------------------------------------------ */

TEST(test_decode) {
  static const struct {
    const char *state;
    double ctas, unsplit, splits;
  } CASES[] = {{"algorithm=fa2-split N=1 seq-len-k=512 d=16 heads=8 splits=4 block-q=1 block-k=32", 32, 8, 4},
               {"algorithm=fa2-split N=16 seq-len-k=256 d=16 heads=2 splits=8 block-q=8 block-k=16", 32, 4, 8}};
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
    Stage stage = open_state(CASES[k].state);
    Run run = run_of(stage.run.schedule, &stage.run.plan);
    int n = 0;
    for (uint64_t step = 0; step <= stage.n_steps; step++) {
      Snapshot now;
      Narration said;
      char w[WORDS][WORD_BYTES];
      stage_snapshot(&stage, step, &now);
      scene_narrate(SCENE_MANY, &now, NULL, &said);
      if (!match("* CTAs read all * parts at once, not *: * is read.", said.what, w)) continue;
      n++;
      if (!near(w[0], CASES[k].ctas) || !near(w[1], CASES[k].splits) || !near(w[2], CASES[k].unsplit) ||
          !near(w[3], run.inputs[step] / run.inputs[run.n]) || now.event.pass > 0)
        fail_msg("%s, step %d: %s", CASES[k].state, (int)step, said.what);
    }
    assert_true(n > 100);
    run_end(&run);
    stage_free(&stage);
  }
}

/* ---- Serving ----------------------------------------------------------------------------------------------- */

/* Each key of each row is marked as the walk loads its tile: of a sequence, or of the chunk that the row block is
 * in. */
static double read_by_marks(const Stage *stage, uint64_t step, const int64_t *keys, int n, int64_t chunk,
                            int64_t shared) {
  enum { ROWS = 8, KEYS = 512 };
  static bool marks[ROWS][KEYS];
  const Schedule *s = stage->run.schedule;
  const Plan *plan = &stage->run.plan;
  Cursor cursor = {0};
  Event e;
  double tokens = 0;
  memset(marks, 0, sizeof marks);
  for (uint64_t k = 0; k < step && schedule_next(s, plan, &cursor, &e); k++) {
    if (e.kind != EVENT_LOAD || strcmp(s->tensors[e.tensor].text, "K") != 0) continue;
    for (int row = 0; row < n; row++)
      for (int64_t c = e.j * plan->tiling.B_c; c < (e.j + 1) * plan->tiling.B_c && c < keys[row]; c++)
        marks[row][c] = marks[row][c] || !chunk || row == e.i * plan->tiling.B_r / chunk;
  }
  for (int row = 0; row < n; row++)
    for (int64_t c = row && !chunk ? shared : 0; c < keys[row]; c++) tokens += marks[row][c];
  return tokens;
}

/* 4,096 bytes a token: K and V of 8 heads of 128 in two bytes. Pages: 7 + 17 + 32 of 16 tokens; with 40 tokens shared 2
 * of them are kept once. */
TEST(test_serving) {
  static const struct {
    const char *state;
    int n;
    int64_t keys[8], chunk, shared;
    const char *what, *why;
  } CASES[] = {{"algorithm=fa2 N=1 seq-len-k=300 batch=3 d=128 heads=8 block=32",
                3,
                {300, 300, 300},
                0,
                0,
                "1 new token of 3 sequences: * of * read.",
                "57 pages of 16 tokens; *"},
               {"algorithm=fa2 d=128 heads=32 kv-heads=8 block=32 lengths=100,257,500",
                3,
                {100, 257, 500},
                0,
                0,
                "1 new token of 3 sequences: * of * read.",
                "56 pages of 16 tokens; *"},
               {"algorithm=fa2 d=128 heads=8 block=64 lengths=100,257,500 prefix=40",
                3,
                {100, 257, 500},
                0,
                32,
                "1 new token of 3 sequences: * of * read.",
                "52 pages of 16 tokens; *"},
               {"algorithm=fa2 N=200 d=128 heads=8 block=16 causal=1 chunk=48",
                5,
                {48, 96, 144, 192, 200},
                48,
                0,
                "Chunk * of 5: * of * read.",
                "*: 3.40x of one pass."}};
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
    Stage stage = open_state(CASES[k].state);
    double all = 0;
    for (int row = 0; row < CASES[k].n; row++) all += (double)CASES[k].keys[row];
    all -= (double)CASES[k].shared * (CASES[k].n - 1);
    for (uint64_t step = 0; step <= stage.n_steps; step++) {
      Snapshot now;
      Narration said;
      char w[WORDS][WORD_BYTES];
      stage_snapshot(&stage, step, &now);
      scene_narrate(SCENE_MANY, &now, NULL, &said);
      const int first = CASES[k].chunk ? 1 : 0;
      const double read = read_by_marks(&stage, step, CASES[k].keys, CASES[k].n, CASES[k].chunk, CASES[k].shared);
      if (!match(CASES[k].what, said.what, w) || !near(w[first], 4096 * read) || !near(w[first + 1], 4096 * all))
        fail_msg("%s, step %d: %s, not %g", CASES[k].state, (int)step, said.what, 4096 * read);
      if (!match(CASES[k].why, said.why, w)) fail_msg("%s: %s", CASES[k].state, said.why);
    }
    stage_free(&stage);
  }
}

/* ---- Banks ------------------------------------------------------------------------------------------------------- */

/* Lane n reads the first word of row n: the most of them that come to one of 32 banks. */
static int passes(int row_words) {
  int words[32] = {0}, most = 0;
  for (int lane = 0; lane < 32; lane++)
    most = words[lane * row_words % 32]++ < most ? most : words[lane * row_words % 32];
  return most;
}

TEST(test_bank) {
  static const int DIMS[] = {8, 16, 24, 32, 64, 80, 128, 256};
  for (size_t k = 0; k < sizeof DIMS / sizeof *DIMS; k++) {
    char line[96], what[128], why[128];
    snprintf(line, sizeof line, "algorithm=fa2 N=64 d=%d block=8", DIMS[k]);
    Stage stage = open_state(line);
    Snapshot now;
    Narration said;
    stage_snapshot(&stage, stage.n_steps / 2, &now);
    scene_narrate(SCENE_BANK, &now, NULL, &said);
    const int plain = passes(DIMS[k] / 2), padded = passes(DIMS[k] / 2 + 1);
    snprintf(what, sizeof what, "32 lanes read a column of K, a row of %d bytes each: %d pass", 2 * DIMS[k], plain);
    snprintf(why, sizeof why,
             padded < plain ? "With a word of padding behind each row %d pass"
                            : "A word of padding behind each row leaves %d pass",
             padded);
    if (strncmp(said.what, what, strlen(what)) != 0 || strncmp(said.why, why, strlen(why)) != 0)
      fail_msg("%s: %s %s", line, said.what, said.why);
    stage_free(&stage);
  }
}

/* Any words that lanes ask for: as many passes as sim/machine/warp.h counts, which is the longest column; each pass has
 * a word of a bank at most. */
TEST(test_passes_are_the_longest_column) {
  for (uint64_t n = 0; n < 2000; n++) {
    const uint32_t bytes = 1u << n % 3;
    WarpAccess access = {.active = (uint32_t)random_bits(7, n, 0) | 1, .element_bytes = bytes};
    for (uint64_t l = 0; l < 32; l++) access.address[l] = random_bits(7, n, l + 1) % (64u << n % 6) * bytes;
    BankWords words;
    bank_words(access.address, access.active, (int)bytes, 32, &words);
    int longest = 0;
    bool taken[32][32] = {{false}};
    for (int bank = 0; bank < 32; bank++) longest = words.longest[bank] > longest ? words.longest[bank] : longest;
    for (int k = 0; k < words.n; k++) {
      bool *is_taken = &taken[words.words[k].pass][words.words[k].word % 32];
      assert_false(*is_taken);
      *is_taken = true;
    }
    assert_int_equal(words.n_passes, longest);
    assert_int_equal(words.n_passes, warp_shared(&access).wavefronts);
  }
}
