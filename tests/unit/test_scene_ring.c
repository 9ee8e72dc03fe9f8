/* The scene of a ring: blocks lie and travel where the walk of sim/ranks.h has them, and its words and figures are what
 * has been counted, at every step. Who has which keys, and how many pairs a block has, is said here token by token. */
#include "viz/scene/scene.h"

#include "tests/support/test.h"
#include "tests/support/canvas.h"

enum { W = 1280, H = 720, N = 24, D = 16, ELEMENT = 2 };

/* Of a scheme, or of the program that says what ranks do. */
static Stage open_ring(const char *algorithm, Scheme scheme, int64_t n, bool causal) {
  Stage stage;
  StageConfig config = {.problem = {.shape = {.N_q = N, .d = D, .heads = 2, .causal = causal},
                                    .tiling = {.B_r = 8, .B_c = 8},
                                    .machine = machine_paper()},
                        .schedule = schedule_find(algorithm),
                        .ring = {.n = n, .scheme = scheme}};
  gpu_paper(&config.gpu);
  must(stage_make(&stage, &config, fresh_error()));
  return stage;
}

static SceneBodies bodies;

static const SceneBody *body_of(SceneBodyKind kind, int index) {
  for (int b = 0; b < bodies.n; b++)
    if (bodies.bodies[b].kind == kind && bodies.bodies[b].tensor == index) return &bodies.bodies[b];
  fail_msg("nothing is drawn of %d", index);
  return NULL;
}

static void draw_at(const Stage *stage, uint64_t step, double phase) {
  Snapshot now;
  const SceneView view = {.phase = phase, .bodies = &bodies};
  bodies.n = 0;
  stage_snapshot(stage, step, &now);
  cairo_t *cr = canvas(CAIRO_FORMAT_A8, 1, 1);
  scene_draw(SCENE_MANY, &now, &view, cr, W, H, &theme_light);
  cairo_destroy(cr);
}

static double away(const SceneBody *a, const SceneBody *b) { return fabs(a->y + a->height / 2 - b->y - b->height / 2); }

/* Which rank the keys of rank k are nearest to. */
static int nearest_rank(int k, int64_t n) {
  int best = 0;
  for (int r = 1; r < n; r++)
    if (away(body_of(BODY_TILE, k), body_of(BODY_HOME, r)) < away(body_of(BODY_TILE, k), body_of(BODY_HOME, best)))
      best = r;
  return best;
}

static int64_t owner(Scheme scheme, int64_t token, int64_t n) {
  if (scheme == SCHEME_STRIPED) return token % n;
  if (scheme == SCHEME_RING) return token / (N / n);
  const int64_t chunk = token / (N / (2 * n));
  return chunk < n ? chunk : 2 * n - 1 - chunk;
}

static int64_t pairs_of(Scheme scheme, int64_t n, bool causal, int64_t r, int64_t k) {
  int64_t pairs = 0;
  for (int64_t q = 0; q < N; q++)
    for (int64_t j = 0; j < N; j++)
      pairs += owner(scheme, q, n) == r && owner(scheme, j, n) == k && (!causal || j <= q);
  return pairs;
}

/* Pairs of the longest block of beat t, which is how long it takes; all its pairs are added to *all. */
static int64_t longest_of(Scheme scheme, int64_t n, bool causal, int64_t t, int64_t *all, int64_t *idle) {
  int64_t longest = 0;
  for (int64_t r = 0; r < n; r++) {
    const int64_t pairs = pairs_of(scheme, n, causal, r, (r - t + n) % n);
    *all += pairs;
    *idle += pairs == 0;
    if (pairs > longest) longest = pairs;
  }
  return longest;
}

/* In beat t the keys of rank k lie in the row of rank k + t; after most of it they are nearest to the next one; bytes
 * are those of the beats that are over: P blocks of K and V each, of both heads, and none of the last beat. The idle
 * share is 1 - pairs over ranks x the longest of each beat. */
static void every_step(const char *algorithm, Scheme scheme, int64_t n, bool causal) {
  const Stage stage = open_ring(algorithm, scheme, n, causal);
  int64_t idle_ranks[8] = {0}, longest[8], whole = 0, pairs = 0;
  for (int64_t t = 0; t < n; whole += longest[t++])
    longest[t] = longest_of(scheme, n, causal, t, &pairs, &idle_ranks[t]);
  const int64_t block = 2 * 2 * (N / n) * D * ELEMENT, all = (n - 1) * n * block;
  for (uint64_t step = 0; step <= stage.n_steps; step++) {
    Snapshot now;
    Narration said;
    char begins[160];
    double left = (double)step / (double)stage.n_steps * (double)whole;
    int64_t t = 0;
    while (t < n && left >= (double)longest[t]) left -= (double)longest[t++];
    const double part = t < n ? left / (double)longest[t] : 0;
    draw_at(&stage, step, 0);
    for (int k = 0; k < n && t < n && n > 1; k++) {
      const bool moved = t + 1 < n && part > 0.5;
      if (fabs(part - 0.5) > 0.2) assert_int_equal(nearest_rank(k, n), (k + t + moved) % n);
    }
    stage_snapshot(&stage, step, &now);
    scene_narrate(SCENE_MANY, &now, NULL, &said);
    const int64_t sent = (t < n - 1 ? t : n - 1) * n * block;
    if (t < n)
      snprintf(begins, sizeof begins, "Step %jd of %jd: %g KiB of %g KiB have crossed the links.", t + 1, n,
               (double)sent / 1024, (double)all / 1024);
    else
      snprintf(begins, sizeof begins, "All %jd steps: %g KiB crossed the links, idle ", n, (double)all / 1024);
    double idle_share;
    assert_true(t != n || (sscanf(said.what, "%*[^,], idle %lf%%", &idle_share) == 1 &&
                           fabs(idle_share - 100 * (1 - (double)pairs / (double)(n * whole))) <= 0.051));
    assert_true(!sent || strstr(said.what, begins));
    const int64_t idle = t < n ? idle_ranks[t] : 0;
    snprintf(begins, sizeof begins, "%jd of %jd ranks idle", idle, n);
    assert_true(t >= n || idle == 0 || strstr(said.why, begins));
    assert_true(t >= n || idle != 0 || !strstr(said.why, "idle"));
  }
  stage_free((Stage *)&stage);
}

TEST(what_is_drawn_is_counted) {
  every_step("fa2", SCHEME_RING, 4, true);
  every_step("fa2", SCHEME_STRIPED, 3, true);
  every_step("fa2", SCHEME_ZIGZAG, 4, true);
  every_step("fa2", SCHEME_RING, 6, false);
  every_step("ring-attention", SCHEME_RING, 3, true);
}
