/* Scenes as pages: sizes of type, words that do not run into each other at any size of page, and what files hold. */
#include "tests/support/test.h"
#include "tests/support/sanitized.h"
#include "tests/support/scene_cases.h"
#include "viz/request/request.h"

/* ---- Text -------------------------------------------------------------------------------------------------- */

/* No text is smaller than 1/50 of the height, and in presentation mode than 1/32. */
TEST(test_smallest_text) {
  static const int SIZES[][2] = {{1280, 720}, {1920, 1080}};
  for (int c = 0; c < N_CASES; c++) {
    Stage stage = open_case(&CASES[c]);
    Snapshot now;
    stage_snapshot(&stage, stage.n_steps / 3, &now);
    for (int k = 0; k < 2; k++)
      for (int scene = 0; scene < SCENE_COUNT; scene++)
        for (int presentation = 0; presentation < 2; presentation++) {
          const SceneView view = {.presentation = presentation};
          Pieces *all = draw_pieces((SceneKind)scene, &now, &view, SIZES[k][0], SIZES[k][1]);
          assert_true(all->n > 1);
          for (int n = 0; n < all->n; n++)
            if (all->pieces[n].size < SIZES[k][1] / (presentation ? 32.0 : 50.0) - 1e-9)
              fail_msg("%s at %d x %d: '%s' is %.1f units high", scene_name((SceneKind)scene), SIZES[k][0], SIZES[k][1],
                       all->pieces[n].text, all->pieces[n].size);
          free(all);
        }
    stage_free(&stage);
  }
}

static void check_layout(const Pieces *all, const char *scene, const Case *c, uint64_t step, int width, int height) {
  for (int a = 0; a < all->n; a++) {
    const Piece *p = &all->pieces[a];
    if (p->x0 < 0 || p->y0 < 0 || p->x1 > width || p->y1 > height)
      fail_msg("%s of %s N %d, step %d: '%s' leaves the page", scene, c->algorithm, (int)c->shape.N_q, (int)step,
               p->text);
    for (int b = 0; b < a; b++) {
      const Piece *q = &all->pieces[b];
      if (p->x0 < q->x1 && q->x0 < p->x1 && p->y0 < q->y1 && q->y0 < p->y1)
        fail_msg("%s of %s N %d, step %d at %d x %d: '%s' runs into '%s'", scene, c->algorithm, (int)c->shape.N_q,
                 (int)step, width, height, p->text, q->text);
    }
  }
}

static void check_uncut(const Pieces *all, SceneKind scene, const Case *c, uint64_t step) {
  for (int a = 0; a < all->n; a++) {
    const char *text = all->pieces[a].text;
    const size_t n = strlen(text);
    if (n > 3 && strcmp(text + n - 3, "…") == 0)
      fail_msg("%s of %s N %d, step %d: '%s' has no room", scene_name(scene), c->algorithm, (int)c->shape.N_q,
               (int)step, text);
  }
}

/* No word leaves the page, is cut short or runs into another, at many steps of many runs, with small type and large. */
TEST(test_words_keep_apart) {
  enum { N_STEPS = 11 };
  for (int c = 0; c < N_CASES; c++) {
    Stage stage = open_case(&CASES[c]);
    for (uint64_t k = 0; k <= N_STEPS; k += (uint64_t)ONE_OF) {
      Snapshot now;
      const uint64_t step = k * stage.n_steps / N_STEPS;
      stage_snapshot(&stage, step, &now);
      for (int scene = 0; scene < SCENE_COUNT; scene++) {
        const SceneView view = {.presentation = k % 2 == 1};
        Pieces *all = draw_pieces((SceneKind)scene, &now, &view, 1280, 720);
        check_layout(all, scene_name((SceneKind)scene), &CASES[c], step, 1280, 720);
        check_uncut(all, (SceneKind)scene, &CASES[c], step);
        free(all);
      }
    }
    stage_free(&stage);
  }
}

/* Piles: no word is smaller than 4 % of the height, of a tall page of the width, and a page has at most thirty for two
 * algorithms. */
TEST(test_words_of_piles) {
  static const int SIZES[][2] = {{1280, 720}, {1920, 1080}, {3840, 2160}, {390, 844}, {640, 432}};
  static const char *const STATES[] = {
      "algorithm=fa2 N=1024 d=64 block=128 causal=1", "algorithm=standard,fa2 N=1024 d=64 block=128",
      "algorithm=standard,fa2 N=128 d=128 block=32", "algorithm=standard,fa1,fa2 N=100 d=64 block=16",
      "algorithm=standard-backward,fa2-backward N=256 d=64 block=64"};
  for (size_t c = 0; c < sizeof STATES / sizeof *STATES; c++) {
    Request request = {0};
    Stage stage;
    Error error = {0};
    if (request_read(&request, STATES[c], false, &error) || request_stage(&request, false, 0, &stage, &error))
      fail_msg("%s: %s", STATES[c], error.message);
    for (uint64_t k = 0; k <= 4; k++) {
      Snapshot now;
      stage_snapshot(&stage, k * stage.n_steps / 4, &now);
      for (size_t z = 0; z < sizeof SIZES / sizeof *SIZES; z++) {
        const int width = SIZES[z][0], height = SIZES[z][1];
        Pieces *all = draw_pieces(SCENE_PILES, &now, &(SceneView){0}, width, height);
        const double least = fmin(width, height) * (width < height ? 0.04 : 0.039); /* less the scrub bar */
        int words = 0;
        check_layout(all, STATES[c], &CASES[0], now.step, width, height);
        check_uncut(all, SCENE_PILES, &CASES[0], now.step);
        for (int n = 0; n < all->n; n++) {
          if (all->pieces[n].size < least) fail_msg("%d x %d: '%s' is small", width, height, all->pieces[n].text);
          for (const char *at = all->pieces[n].text; *at; at += *at == ' ') { /* a tensor's name is none */
            const size_t length = strcspn(at, " ");
            words += length > 2;
            at += length;
          }
        }
        if (words > (now.n_runs > 2 ? 48 : 30)) fail_msg("%s, %d x %d: %d words", STATES[c], width, height, words);
        free(all);
      }
    }
    stage_free(&stage);
  }
}

/* The same on a page that is higher than wide, beside a lesson, and on a small one, where no text is below 12 pixels.
 */
TEST(test_words_keep_apart_on_other_pages) {
  static const int SIZES[][2] = {{600, 960}, {1080, 1920}, {826, 627}, {640, 360}, {400, 300}};
  static const int WHICH[] = {0, 1, 2, 3, 8};
  for (size_t c = 0; c < sizeof WHICH / sizeof *WHICH; c++) {
    Stage stage = open_case(&CASES[WHICH[c]]);
    for (uint64_t k = 0; k <= 3; k++) {
      Snapshot now;
      stage_snapshot(&stage, k * stage.n_steps / 3, &now);
      for (size_t z = 0; z < sizeof SIZES / sizeof *SIZES; z++)
        for (int scene = 0; scene < SCENE_COUNT; scene++) {
          const SceneView view = {0};
          Pieces *all = draw_pieces((SceneKind)scene, &now, &view, SIZES[z][0], SIZES[z][1]);
          check_layout(all, scene_name((SceneKind)scene), &CASES[WHICH[c]], now.step, SIZES[z][0], SIZES[z][1]);
          for (int n = 0; n < all->n; n++) assert_true(all->pieces[n].size >= 12 - 1e-9);
          free(all);
        }
    }
    stage_free(&stage);
  }
}

/* Smaller than that it says so, whatever the scene. */
TEST(test_too_small_is_said) {
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  const SceneView view = {0};
  stage_snapshot(&stage, 100, &now);
  for (int scene = 0; scene < SCENE_COUNT; scene++) {
    Pieces *all = draw_pieces((SceneKind)scene, &now, &view, 230, 110);
    assert_int_equal(all->n, 1);
    assert_string_equal(all->pieces[0].text, "Too small: at least 240 × 120");
    assert_true(all->pieces[0].x0 >= 0 && all->pieces[0].x1 <= 230);
    free(all);
  }
  stage_free(&stage);
}

/* What was kept from frames before changes nothing: the same pixels with a memo as without one, at steps to and fro,
 * when the request, the size or the theme changes. */
TEST(test_memo_changes_nothing) {
  SceneMemo *with = memo_new();
  assert_non_null(with);
  for (int round = 0; round < 24; round++) {
    Stage stage = open_case(&CASES[round / 4 % 3]);
    Snapshot now;
    stage_snapshot(&stage, stage.n_steps * (uint64_t)(round * 7 % 11) / 11, &now);
    const int width = round / 8 % 2 ? 640 : 900, height = round / 8 % 2 ? 360 : 500;
    const SceneKind scene = round % 2 ? SCENE_TIME : SCENE_PILES;
    cairo_surface_t *surfaces[2];
    for (int k = 0; k < 2; k++) {
      const SceneView view = {.memo = k ? with : NULL};
      surfaces[k] = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
      cairo_t *cr = cairo_create(surfaces[k]);
      scene_draw(scene, &now, &view, cr, width, height, round % 3 ? &theme_light : &theme_dark);
      cairo_destroy(cr);
      cairo_surface_flush(surfaces[k]);
    }
    const size_t bytes = (size_t)cairo_image_surface_get_stride(surfaces[0]) * (size_t)height;
    if (memcmp(cairo_image_surface_get_data(surfaces[0]), cairo_image_surface_get_data(surfaces[1]), bytes) != 0)
      fail_msg("%s, round %d: the memo changed the picture", scene_name(scene), round);
    cairo_surface_destroy(surfaces[0]);
    cairo_surface_destroy(surfaces[1]);
    stage_free(&stage);
  }
  memo_free(with);
}

/* ---- Files and odd sizes -------------------------------------------------------------------------------------- */

typedef struct {
  SceneKind scene;
  const Snapshot *now;
} Drawing;

static void draw(cairo_t *cr, double width, double height, const void *data) {
  const Drawing *d = data;
  const SceneView view = {0};
  scene_draw(d->scene, d->now, &view, cr, width, height, &theme_light);
}

static bool contains(const unsigned char *bytes, size_t n, const char *what) {
  const size_t length = strlen(what);
  for (size_t k = 0; k + length <= n; k++)
    if (memcmp(bytes + k, what, length) == 0) return true;
  return false;
}

/* SVG holds its words as text, PDF holds fonts. */
TEST(test_text_stays_text) {
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  stage_snapshot(&stage, 122, &now);
  for (int scene = 0; scene < SCENE_COUNT; scene++) {
    const Drawing d = {(SceneKind)scene, &now};
    unsigned char *bytes;
    size_t n;
    assert_int_equal(surface_bytes(SURFACE_SVG, 1280, 720, draw, &d, NULL, &bytes, &n, NULL), STATUS_OK);
    assert_true(contains(bytes, n, "<text"));
    if (scene == SCENE_WALK || scene == SCENE_PILES) assert_true(contains(bytes, n, "FlashAttention-2"));
    assert_true(n < 400000);
    free(bytes);
    assert_int_equal(surface_bytes(SURFACE_PDF, 1280, 720, draw, &d, NULL, &bytes, &n, NULL), STATUS_OK);
    assert_true(contains(bytes, n, "/Type /Font"));
    free(bytes);
  }
  stage_free(&stage);
}

/* Any size draws: a thumbnail, a strip, a tower. */
TEST(test_odd_sizes) {
  static const int SIZES[][2] = {{16, 16}, {320, 180}, {2000, 60}, {60, 2000}, {1, 1}};
  for (int c = 0; c < N_CASES; c += 3) { /* a small run, parts, a tiny run, a large one through L2 */
    Stage stage = open_case(&CASES[c]);
    Snapshot now;
    stage_snapshot(&stage, stage.n_steps / 2, &now);
    for (int k = 0; k < 5; k++)
      for (int scene = 0; scene < SCENE_COUNT; scene++) {
        cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, SIZES[k][0], SIZES[k][1]);
        cairo_t *cr = cairo_create(surface);
        const SceneView view = {0};
        scene_draw((SceneKind)scene, &now, &view, cr, SIZES[k][0], SIZES[k][1], &theme_dark);
        assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
        hit_at((SceneKind)scene, &now, &view, SIZES[k][0], SIZES[k][1], 5, 5);
        cairo_destroy(cr);
        cairo_surface_destroy(surface);
      }
    stage_free(&stage);
  }
}

GROUP(NULL, let_go)
