/* Programs of one's own, which no C knows, are right everywhere: their events against slow, obvious code; totals, every
 * step of every scene, the code panel, numbers against fp64, and the command line. Two broken ones are caught. */
#define _DEFAULT_SOURCE
#include "tests/support/test.h"

#include <unistd.h>

#include "sim/numbers/program_check.h"
#include "tests/support/attention_run.h"
#include "tests/support/drawing.h"
#include "tests/support/implied.h"
#include "tests/support/own_programs.h"
#include "tests/support/program.h"
#include "tests/support/rand.h"
#include "viz/scene/code_lines.h"
#include "viz/scene/scene.h"

/* ---- Slow, obvious code ---------------------------------------------------------------------------------- */

typedef struct {
  EventKind kind;
  int tensor;
  int64_t i, j;
  uint64_t bytes, flops;
} Plain;

typedef struct {
  int64_t N, d, B_r, B_c; /* fp16 */
  bool causal;
  int64_t stride, block; /* of the pattern; 0: none */
  Plain *events;
  int n;
} Slow;

enum { EVENTS_MAX = 60000 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t rows_of(const Slow *s, int64_t i) { return least(s->B_r, s->N - i * s->B_r); }
static int64_t cols_of(const Slow *s, int64_t j) { return least(s->B_c, s->N - j * s->B_c); }

static bool by_band(const Slow *s, int64_t row, int64_t col) { return !s->causal || col <= row; }
static bool by_pattern(const Slow *s, int64_t row, int64_t col) {
  return s->stride == 0 || (row / s->block - col / s->block) % s->stride == 0;
}

/* Looks at every pair. */
static TileKind kind_of(const Slow *s, int64_t i, int64_t j) {
  bool any[2] = {false, false}, all = true;
  for (int64_t row = i * s->B_r; row < i * s->B_r + rows_of(s, i); row++)
    for (int64_t col = j * s->B_c; col < j * s->B_c + cols_of(s, j); col++) {
      any[0] = any[0] || by_band(s, row, col);
      any[1] = any[1] || by_pattern(s, row, col);
      all = all && by_band(s, row, col) && by_pattern(s, row, col);
    }
  return !any[0] || !any[1] ? TILE_SKIPPED : all ? TILE_FULL : TILE_PARTIAL;
}

static void add(Slow *s, EventKind kind, int tensor, int64_t i, int64_t j, int64_t bytes, int64_t flops) {
  assert_true(s->n < EVENTS_MAX);
  s->events[s->n++] = (Plain){kind, tensor, i, j, (uint64_t)bytes, (uint64_t)flops};
}

static void fa2_like(Slow *s, bool backwards) {
  const int64_t T_r = (s->N + s->B_r - 1) / s->B_r, T_c = (s->N + s->B_c - 1) / s->B_c;
  for (int64_t i = 0; i < T_r; i++) {
    const int64_t q = rows_of(s, i) * s->d * 2;
    bool any = false;
    for (int64_t j = 0; j < T_c; j++) any = any || kind_of(s, i, j) != TILE_SKIPPED;
    if (any) add(s, EVENT_LOAD, IMPLIED_Q, i, -1, q, 0);
    for (int64_t at = 0; at < T_c; at++) {
      const int64_t j = backwards ? T_c - 1 - at : at, kv = cols_of(s, j) * s->d * 2,
                    product = 2 * rows_of(s, i) * cols_of(s, j) * s->d;
      const TileKind kind = kind_of(s, i, j);
      if (kind == TILE_SKIPPED) {
        add(s, EVENT_SKIP, IMPLIED_S, i, j, 0, 0);
        continue;
      }
      add(s, EVENT_LOAD, IMPLIED_K, i, j, kv, 0);
      add(s, EVENT_PRODUCT, IMPLIED_S, i, j, 0, product);
      if (kind == TILE_PARTIAL) add(s, EVENT_MASK, IMPLIED_S, i, j, 0, 0);
      add(s, EVENT_NEW_MAX, IMPLIED_STATS, i, j, 0, 0);
      add(s, EVENT_RESCALE, IMPLIED_O, i, j, 0, 0);
      add(s, EVENT_LOAD, IMPLIED_V, i, j, kv, 0);
      add(s, EVENT_ACCUMULATE, IMPLIED_O, i, j, 0, product);
    }
    add(s, EVENT_NORMALISE, IMPLIED_O, i, -1, 0, 0);
    add(s, EVENT_STORE, IMPLIED_O, i, -1, q, 0);
  }
}

static void reversed(Slow *s) { fa2_like(s, true); }
static void sparse(Slow *s) { fa2_like(s, false); }

static void fused(Slow *s) {
  const int64_t T_r = (s->N + s->B_r - 1) / s->B_r, T_c = (s->N + s->B_c - 1) / s->B_c;
  for (int64_t i = 0; i < T_r; i++) {
    add(s, EVENT_LOAD, IMPLIED_Q, i, -1, rows_of(s, i) * s->d * 2, 0);
    for (int64_t j = 0; j < T_c; j++) {
      const int64_t area = rows_of(s, i) * cols_of(s, j);
      if (i == 0) add(s, EVENT_LOAD, IMPLIED_K, i, j, cols_of(s, j) * s->d * 2, 0);
      add(s, EVENT_PRODUCT, IMPLIED_S, i, j, 0, 2 * area * s->d);
      if (kind_of(s, i, j) != TILE_FULL) add(s, EVENT_MASK, IMPLIED_S, i, j, 0, 0);
      add(s, EVENT_STORE, IMPLIED_S, i, j, area * 2, 0);
    }
  }
  for (int64_t i = 0; i < T_r; i++) {
    for (int64_t j = 0; j < T_c; j++) {
      add(s, EVENT_LOAD, IMPLIED_S, i, j, rows_of(s, i) * cols_of(s, j) * 2, 0);
      add(s, EVENT_NEW_MAX, IMPLIED_STATS, i, j, 0, 0);
      add(s, EVENT_ACCUMULATE, IMPLIED_STATS, i, j, 0, 0);
    }
    for (int64_t j = 0; j < T_c; j++) {
      const int64_t area = rows_of(s, i) * cols_of(s, j);
      add(s, EVENT_LOAD, IMPLIED_S, i, j, area * 2, 0);
      if (i == 0) add(s, EVENT_LOAD, IMPLIED_V, i, j, cols_of(s, j) * s->d * 2, 0);
      add(s, EVENT_ACCUMULATE, IMPLIED_O, i, j, 0, 2 * area * s->d);
    }
    add(s, EVENT_STORE, IMPLIED_O, i, -1, rows_of(s, i) * s->d * 2, 0);
  }
}

static const struct {
  const char *name, *text, *mask;
  void (*slow)(Slow *);
  int64_t stride, block;
} OWN[] = {
    {"fa2-reversed", OWN_REVERSED, NULL, reversed, 0, 0},
    {"standard-fused-softmax", OWN_FUSED, NULL, fused, 0, 0},
    {"fa2-sparse", OWN_SPARSE, "strided:3:4", sparse, 3, 4},
};
enum { N_OWN = sizeof OWN / sizeof *OWN };

/* A problem, its pattern, and what should happen. */
typedef struct {
  Program *program;
  Pattern *pattern;
  Slow slow;
  Shape shape;
  Tiling tiling;
} Case;

static Case open_case(int k, int64_t N, int64_t d, int64_t B_r, int64_t B_c, bool causal) {
  Case c = {.program = own_program(OWN[k].text),
            .slow = {N, d, B_r, B_c, causal, OWN[k].stride, OWN[k].block, NULL, 0},
            .tiling = {.B_r = B_r, .B_c = B_c}};
  if (OWN[k].mask) c.pattern = pattern_named(OWN[k].mask, (PatternMatrix){N, N, false}, NULL);
  c.shape = (Shape){.N_q = N, .d = d, .causal = causal, .pattern = c.pattern};
  c.slow.events = malloc(EVENTS_MAX * sizeof *c.slow.events);
  assert_non_null(c.slow.events);
  OWN[k].slow(&c.slow);
  return c;
}

static void close_case(Case *c) {
  free(c->slow.events);
  free(c->pattern);
  free(c->program);
}

/* ---- Events and totals ------------------------------------------------------------------------------------ */

static void assert_event(const Event *e, const Plain *expected) {
  assert_int_equal(e->kind, expected->kind);
  if (e->kind != EVENT_ACCUMULATE && e->kind != EVENT_RESCALE) assert_int_equal(e->tensor, expected->tensor);
  assert_int_equal(e->i, expected->i);
  assert_int_equal(e->j, expected->j);
  assert_int_equal(e->bytes, expected->bytes);
  assert_int_equal(e->flops, expected->flops);
}

TEST(events_are_those_of_obvious_code) {
  Rand r = {41};
  for (int trial = 0; trial < 80; trial++)
    for (int k = 0; k < N_OWN; k++) {
      Case c = open_case(k, rand_in(&r, 1, 40), rand_in(&r, 1, 8), rand_in(&r, 1, 11), rand_in(&r, 1, 11),
                         rand_in(&r, 0, 1));
      Plan plan;
      Cursor cursor = {0};
      Event event;
      Traffic folded = {0}, counted;
      bool overflow = false;
      assert_int_equal(plan_make(&plan, &c.shape, &c.tiling, NULL), STATUS_OK);
      for (int n = 0; n < c.slow.n; n++) {
        assert_true(schedule_next(c.program, &plan, &cursor, &event));
        assert_event(&event, &c.slow.events[n]);
        traffic_add(&folded, c.program, &event);
        Cursor sought;
        Event again;
        assert_true(schedule_seek(c.program, &plan, &sought, (uint64_t)n));
        assert_true(schedule_next(c.program, &plan, &sought, &again));
        assert_memory_equal(&again, &event, sizeof event);
      }
      assert_false(schedule_next(c.program, &plan, &cursor, &event));
      schedule_traffic(c.program, &plan, &counted, &overflow);
      assert_true(traffic_equal(&folded, &counted));
      close_case(&c);
    }
}

/* ---- Numbers ---------------------------------------------------------------------------------------------- */

static Attention *run_numbers(const Program *program, const Shape *shape, const Tiling *tiling, Precision precision) {
  Plan plan;
  size_t bytes;
  Attention *a;
  Cursor cursor = {0};
  const AttentionConfig config = {.softmax.precision = precision};
  assert_int_equal(plan_make(&plan, shape, tiling, NULL), STATUS_OK);
  assert_int_equal(attention_bytes(&plan, program, &bytes, NULL), STATUS_OK);
  assert_int_equal(attention_start(malloc(bytes), &plan, program, &config, &a, NULL), STATUS_OK);
  attention_fill(a, INPUT_NORMAL, 7, 0, 0);
  assert_int_equal(attention_walk(a, program, &cursor, UINT64_MAX, NULL), STATUS_OK);
  return a;
}

static double error_of(const Attention *a) {
  double scratch[64];
  return attention_accuracy(a, NULL, scratch).largest;
}

TEST(numbers_are_attention) {
  static const struct {
    Precision precision;
    double bound; /* a few ulps of values that are at most 4 */
  } PRECISIONS[] = {{PRECISION_FP64, 1e-13}, {PRECISION_FP32, 1e-5}, {PRECISION_FP16, 1e-2}, {PRECISION_BF16, 8e-2}};
  for (int k = 0; k < N_OWN; k++)
    for (int causal = 0; causal < 2; causal++)
      for (int p = 0; p < 4; p++) {
        Case c = open_case(k, 37, 8, 8, 5, causal);
        Attention *a = run_numbers(c.program, &c.shape, &c.tiling, PRECISIONS[p].precision);
        const double off = error_of(a);
        if (!(off < PRECISIONS[p].bound)) fail_msg("%s: off by %g", OWN[k].name, off);
        free(a);
        close_case(&c);
      }
}

/* ---- Scenes ------------------------------------------------------------------------------------------------ */

/* The word that a line of the text has for what an event does. */
static const char *word_of(const Event *e) {
  switch (e->kind) {
  case EVENT_LOAD: return "load ";
  case EVENT_STORE: return "store ";
  case EVENT_MASK: return "mask ";
  case EVENT_SKIP: return "for each";
  case EVENT_PRODUCT: return "K_j^T";
  case EVENT_NEW_MAX: return "max(";
  case EVENT_RESCALE: return "*=";
  case EVENT_NORMALISE: return "/ l_i";
  default: return "+";
  }
}

static void assert_line(const Program *p, const Event *e) {
  char line[128];
  const ProgramLine *l = &p->lines[e->line];
  snprintf(line, sizeof line, "%.*s", (int)l->length, p->text + l->begin);
  if (!strstr(line, word_of(e))) fail_msg("'%s' is no line for a %s", line, event_kind_name((EventKind)e->kind));
  assert_true(code_line_of(p, e) >= 0);
}

static Stage open_stage(const Case *c) {
  Stage stage;
  Error error = {0};
  const StageConfig config = {.problem = {.shape = c->shape, .tiling = c->tiling, .machine = machine_paper()},
                              .schedule = c->program,
                              .seed = 7};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  return stage;
}

/* How often obvious code has been through with tile (i, j) after so many events: computed, or skipped. */
static int times_done(const Slow *s, int64_t n, int64_t i, int64_t j) {
  int times = 0;
  for (int64_t k = 0; k < n; k++) {
    const Plain *e = &s->events[k], *next = k + 1 < s->n ? &s->events[k + 1] : NULL;
    const bool leaves = !next || next->i != e->i || next->j != e->j || next->kind == EVENT_SKIP;
    if (e->i == i && e->j == j && leaves) times += k + 1 < n;
  }
  return times;
}

TEST(every_step_shows_the_fold) {
  for (int k = 0; k < N_OWN; k++) {
    Case c = open_case(k, 22, 6, 8, 6, true);
    Stage stage = open_stage(&c);
    const Plan *plan = &stage.run.plan;
    size_t bytes;
    Attention *a;
    Cursor cursor = {0};
    const AttentionConfig config = {.softmax.precision = PRECISION_FP16};
    Traffic folded = {0};
    int n_rows = 0, n_finished = 0;
    assert_int_equal(attention_bytes(plan, c.program, &bytes, NULL), STATUS_OK);
    assert_int_equal(attention_start(malloc(bytes), plan, c.program, &config, &a, NULL), STATUS_OK);
    attention_fill(a, INPUT_NORMAL, 7, 0, 0);
    assert_int_equal(stage.n_steps, c.slow.n);
    for (int n = 1; n <= c.slow.n; n++) {
      Snapshot now;
      Event event;
      Cursor next = cursor;
      assert_true(schedule_next(c.program, plan, &next, &event));
      assert_int_equal(attention_walk(a, c.program, &cursor, 1, NULL), STATUS_OK);
      traffic_add(&folded, c.program, &event);
      stage_snapshot(&stage, (uint64_t)n, &now);
      assert_event(&now.event, &c.slow.events[n - 1]);
      assert_true(traffic_equal(&now.traffic, &folded));
      assert_line(c.program, &now.event);
      for (int64_t i = 0; i < plan->T_r; i++)
        for (int64_t j = 0; j < plan->T_c; j++) {
          const TileState tile = snapshot_tile(&now.grid, i, j);
          if (c.program->skips) assert_int_equal(tile.kind, kind_of(&c.slow, i, j));
          if (n < c.slow.n && !(now.event.i == i && now.event.j == j) && now.grid.n_laps == 1)
            assert_int_equal(tile.progress == TILE_DONE, times_done(&c.slow, n, i, j) > 0);
        }
      const SnapshotRow *row = &now.row;
      const AttentionRow *expected = row->row < 0 ? NULL : attention_row(a, row->row);
      assert_true(row->is_computed);
      if (!expected || row->phase == ROW_NONE || now.event.kind == EVENT_SKIP) continue;
      n_rows++;
      if (row->phase >= ROW_MAX && row->phase < ROW_FINISHED) assert_true(row->m == expected->m);
      if (row->phase >= ROW_MAX && row->phase < ROW_FINISHED) assert_true(row->l == expected->l);
      if (row->phase == ROW_FINISHED && now.event.kind == EVENT_STORE) {
        const AttentionView O = attention_in_hbm(a, "O");
        for (int64_t col = 0; col < 6; col++) assert_true(row->O[col] == O.values[row->row * O.stride + col]);
        assert_true(row->error_ulps < 8);
        n_finished++;
      }
    }
    assert_true(n_rows > 10);
    assert_int_equal(n_finished, plan->T_r);
    free(a);
    stage_free(&stage);
    close_case(&c);
  }
}

TEST(every_scene_draws_every_step) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 320, 200);
  for (int k = 0; k < N_OWN; k++) {
    Case c = open_case(k, 8, 4, 4, 4, true);
    Stage stage = open_stage(&c);
    for (int scene = 0; scene < SCENE_COUNT; scene++)
      for (uint64_t step = 0; step <= stage.n_steps; step++) {
        Snapshot now;
        const SceneView view = {.footer = ""};
        stage_snapshot(&stage, step, &now);
        cairo_t *cr = cairo_create(surface);
        scene_draw((SceneKind)scene, &now, &view, cr, 320, 200, &theme_light);
        assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
        cairo_destroy(cr);
      }
    stage_free(&stage);
    close_case(&c);
  }
  cairo_surface_destroy(surface);
}

/* ---- The command line --------------------------------------------------------------------------------------- */

static void write_program(char *path, const char *text) {
  const int fd = mkstemps(path, 5);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
  close(fd);
}

static ProgramRun *run(const char *format, ...) {
  char arguments[512];
  ProgramRun *r = malloc(sizeof *r);
  va_list list;
  assert_non_null(r);
  va_start(list, format);
  vsnprintf(arguments, sizeof arguments, format, list);
  va_end(list);
  program_run(r, arguments);
  return r;
}

static double after(const char *text, const char *key) {
  const char *at = strstr(text, key);
  if (!at) fail_msg("no %s", key);
  return strtod(at + strlen(key), NULL);
}

/* In an L2 that holds everything: HBM gives each byte of Q, K and V once, and takes what is stored. The CTAs ask for
 * what obvious code loads; those of a tiled product for Q and K with every tile, and for V with every row block. */
TEST(l2_of_a_gpu_takes_them) {
  const int64_t N = 512, d = 64, B = 64, heads = 4, T = N / B;
  for (int k = 0; k < N_OWN; k++)
    for (int causal = 0; causal < 2; causal++) {
      char path[] = "/tmp/tilewalk-own-XXXXXX.walk", mask[64] = "";
      Case c = open_case(k, N, d, B, B, causal);
      write_program(path, OWN[k].text);
      if (OWN[k].mask) {
        c.slow.block = 64; /* blocks of the pattern as large as tiles, so that it leaves some out */
        c.slow.n = 0;
        OWN[k].slow(&c.slow);
        snprintf(mask, sizeof mask, "--mask strided:3:64");
      }
      ProgramRun *r = run("sim --json --gpu h200 --algorithm %s -N %d -d %d --block %d --heads %d %s %s", path, (int)N,
                          (int)d, (int)B, (int)heads, mask, causal ? "--causal" : "");
      int64_t loads = 0, stores = 0;
      for (int n = 0; n < c.slow.n; n++) {
        const Plain *e = &c.slow.events[n];
        const bool again = !c.program->skips && e->tensor != IMPLIED_S; /* counted once, asked for by every CTA */
        if (e->kind == EVENT_LOAD) loads += (int64_t)e->bytes * (again ? T : 1);
        if (e->kind == EVENT_STORE) stores += (int64_t)e->bytes;
      }
      assert_int_equal(r->exit_status, 0);
      const char *hbm = strstr(r->out, "\"hbm\": "), *l2 = strstr(r->out, "\"l2\": ");
      assert_non_null(hbm);
      assert_non_null(l2);
      assert_int_equal((int64_t)after(hbm, "\"read_bytes\": "), 3 * heads * N * d * 2);
      assert_int_equal((int64_t)after(hbm, "\"write_bytes\": "), heads * stores);
      assert_int_equal((int64_t)after(l2, "\"read_bytes\": "), heads * loads);
      free(r);
      unlink(path);
      close_case(&c);
    }
}

TEST(commands_take_them) {
  for (int k = 0; k < N_OWN; k++) {
    char path[] = "/tmp/tilewalk-own-XXXXXX.walk", mask[64] = "";
    Case c = open_case(k, 64, 16, 16, 16, false);
    write_program(path, OWN[k].text);
    if (OWN[k].mask) snprintf(mask, sizeof mask, "--mask %s", OWN[k].mask);
    ProgramRun *r = run("sim --json --algorithm %s -N 64 -d 16 --block 16 %s", path, mask);
    uint64_t bytes = 0;
    for (int n = 0; n < c.slow.n; n++) bytes += c.slow.events[n].bytes;
    assert_int_equal(r->exit_status, 0);
    assert_int_equal((uint64_t)after(r->out, "\"total_bytes\": "), bytes);
    free(r);
    r = run("trace --algorithm %s -N 64 -d 16 --block 16 %s", path, mask);
    assert_int_equal(r->exit_status, 0);
    int n_lines = 0;
    for (const char *at = r->out; (at = strchr(at, '\n')); at++) n_lines++;
    assert_int_equal(n_lines, c.slow.n + 1); /* a heading */
    free(r);
    r = run("sim --json --gpu h200 --algorithm %s -N 2048 -d 128 --block 128 --heads 16 --causal %s", path, mask);
    assert_int_equal(r->exit_status, 0);
    if (k == 0) { /* it moves what FlashAttention-2 does, through L2 as well, where that is launched backwards */
      ProgramRun *other =
          run("sim --json --gpu h200 --algorithm fa2 --walk reversed -N 2048 -d 128 --block 128 --heads 16 --causal");
      assert_int_equal((int64_t)(1e9 * after(r->out, "\"hit_rate\": ")),
                       (int64_t)(1e9 * after(other->out, "\"hit_rate\": ")));
      free(other);
    }
    free(r);
    unlink(path);
    close_case(&c);
  }
}

/* What is shipped, and what another wrote with care, is told to be right. */
TEST(right_ones_are_told) {
  char verdict[PROGRAM_CHECK_BYTES];
  for (int k = 0; k < N_SCHEDULES; k++)
    if (!program_check(SCHEDULES[k], NULL, verdict)) fail_msg("%s: %s", SCHEDULES[k]->name, verdict);
  /* One Q for all heads: O is attention once, not once a head. G without h, of a Q with it: the sum over the heads. */
  char *one = own_text(OWN_GROUPED, "_hi", "_i"),
       *by_formula = own_text(one, "attention(Q, K, V)", "softmax(mask(Q K^T / sqrt(d))) V");
  char *sum = own_text(OWN_COLUMNS, "G_j: B_c x d", "G_j = mask(Q K^T / sqrt(d), 0)^T Q");
  const char *const own[] = {OWN_REVERSED, OWN_GROUPED, one, by_formula, sum};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
    Program *p = own_program(own[k]);
    if (!program_check(p, NULL, verdict)) fail_msg("%s: %s", p->name, verdict);
    free(p);
  }
  free(one), free(by_formula), free(sum);
}

/* A page without a maximum has no m where a sink would begin: it is refused. What has a place is tried, and a cap has
 * one wherever scores are scaled. */
TEST(sinks_have_a_place_or_are_refused) {
  static const char NO_PLACE[] = "algorithm bold\ntitle Without the maximum\nsummary scores as they are\nsource none\n"
                                 "kernel forward\n  for every row block i\n    load Q_i\n    O_i, l_i = 0\n"
                                 "    for each column block j of i\n      load K_j\n      load V_j\n"
                                 "      S = Q_i K_j^T / sqrt(d)\n      mask S\n      P = e^S\n"
                                 "      l_i += row sum of P; O_i += P V_j\n    O_i = O_i / l_i\n    store O_i\n";
  char verdict[PROGRAM_CHECK_BYTES];
  const SoftmaxConfig both = {.has_sink = true, .sink = 1.5, .softcap = 2};
  Error error = {0};
  for (int k = 0; k < N_SCHEDULES; k++)
    if (!program_check(SCHEDULES[k], &both, verdict)) fail_msg("%s: %s", SCHEDULES[k]->name, verdict);
  assert_non_null(strstr(verdict, "with a sink of 1.5 and scores capped at 2"));
  Program *p = own_program(NO_PLACE);
  assert_int_equal(evaluate_takes(p, &both, &error), STATUS_BAD_REQUEST);
  assert_non_null(strstr(error.message, "a sink has no place"));
  assert_false(program_check(p, &both, verdict));
  assert_int_equal(strncmp(verdict, "O was not tried: ", 17), 0);
  assert_int_equal(evaluate_takes(p, &(SoftmaxConfig){.softcap = 2}, NULL), STATUS_OK);
  free(p);
}

/* ---- Broken ones ---------------------------------------------------------------------------------------------- */

/* A forgotten rescale runs, and is seen: its O is not attention, and the scene of the softmax says so. */
TEST(a_forgotten_rescale_is_seen) {
  Program *p = own_program(OWN_FORGETFUL);
  const Shape shape = {.N_q = 64, .d = 16};
  const Tiling tiling = {.B_r = 16, .B_c = 8};
  Attention *a = run_numbers(p, &shape, &tiling, PRECISION_FP64);
  assert_true(error_of(a) > 0.05);
  free(a);
  char verdict[PROGRAM_CHECK_BYTES];
  assert_false(program_check(p, NULL, verdict));
  assert_int_equal(strncmp(verdict, "O is wrong: without a mask, row ", 32), 0);
  const StageConfig config = {
      .problem = {.shape = shape, .tiling = tiling, .machine = machine_paper()}, .schedule = p, .seed = 7};
  Stage stage;
  int n_wrong = 0, n_right = 0;
  assert_int_equal(stage_make(&stage, &config, NULL), STATUS_OK);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1280, 720);
  for (uint64_t step = 1; step < stage.n_steps; step++) {
    Snapshot now;
    DrawnTexts *drawn = calloc(1, sizeof *drawn);
    const SceneView view = {.footer = ""};
    stage_snapshot(&stage, step, &now);
    if (now.row.phase == ROW_FINISHED) {
      assert_true(letter_set_tap(surface, drawn_text_tap, drawn));
      cairo_t *cr = cairo_create(surface);
      scene_draw(SCENE_SOFTMAX, &now, &view, cr, 1280, 720, &theme_light);
      cairo_destroy(cr);
      for (int k = 0; k < drawn->n; k++) {
        n_wrong += strncmp(drawn->items[k].text, "O is wrong: ", 12) == 0;
        n_right += strncmp(drawn->items[k].text, "O is right: within ", 19) == 0;
      }
    }
    free(drawn);
  }
  if (n_wrong < 4 || n_right > 2)
    fail_msg("%d seen wrong, %d right", n_wrong, n_right); /* a row whose maximum comes first is right */
  cairo_surface_destroy(surface);
  stage_free(&stage);
  free(p);
}

TEST(a_value_used_before_it_is_loaded_is_refused) {
  Program p;
  Error error = {0};
  assert_int_equal(program_read(&p, OWN_TOO_EARLY, strlen(OWN_TOO_EARLY), "mine.walk", &error), STATUS_BAD_FILE);
  assert_string_equal(error.message, "mine.walk:11: 'V_j' is used before it is loaded; put 'load V_j' above this line");
}
