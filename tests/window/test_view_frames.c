/* What is kept from frame to frame never changes a frame: over a random walk of steps, scenes and themes, a surface
 * that was drawn on before, with a memo of what was worked out for it, shows the same bytes as a new one without. */
#include "tests/support/drawing.h"
#include "tests/support/snapshot_stage.h"
#include "tests/support/canvas.h"
#include "sim/base/random.h"
#include "viz/window/viewer.h"

#include <pango/pangocairo.h>

static void draw(cairo_surface_t *surface, SceneKind scene, const Snapshot *now, const SceneView *view,
                 const Theme *theme) {
  cairo_t *cr = cairo_create(surface);
  scene_draw(scene, now, view, cr, cairo_image_surface_get_width(surface), cairo_image_surface_get_height(surface),
             theme);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
}

static void assert_same(cairo_surface_t *a, cairo_surface_t *b, SceneKind scene, uint64_t step) {
  const size_t row = (size_t)cairo_image_surface_get_width(a) * 4, stride = (size_t)cairo_image_surface_get_stride(a);
  for (size_t y = 0; y < (size_t)cairo_image_surface_get_height(a); y++)
    if (memcmp(cairo_image_surface_get_data(a) + y * stride, cairo_image_surface_get_data(b) + y * stride, row) != 0)
      fail_msg("%s at step %d differs in line %d", scene_name(scene), (int)step, (int)y);
}

static uint64_t below(uint64_t seed, uint64_t *drawn, uint64_t n) { return random_bits(seed, 0, (*drawn)++) % n; }

static void walk(const char *algorithm, Shape shape, int64_t block, int width, int height, uint64_t seed, int n) {
  Stage stage = open_stage(algorithm, &shape, &(Tiling){.B_r = block, .B_c = block});
  Snapshot now;
  uint64_t drawn = 0;
  cairo_surface_t *kept = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  SceneMemo *memo = memo_new();
  uint64_t step = 0;
  for (int k = 0; k < n; k++) {
    const SceneKind scene = (SceneKind)below(seed, &drawn, SCENE_COUNT);
    SceneView view = {.presentation = below(seed, &drawn, 4) == 0, .phase = below(seed, &drawn, 3) == 0 ? 0.4 : 0};
    const Theme *theme = below(seed, &drawn, 3) ? &theme_light : &theme_dark;
    step = below(seed, &drawn, 3) ? (step + 1) % (stage.n_steps + 1) : below(seed, &drawn, stage.n_steps + 1);
    stage_snapshot(&stage, step, &now);
    cairo_surface_t *fresh = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    view.memo = memo;
    draw(kept, scene, &now, &view, theme);
    view.memo = NULL;
    draw(fresh, scene, &now, &view, theme);
    assert_same(kept, fresh, scene, step);
    cairo_surface_destroy(fresh);
  }
  memo_free(memo);
  cairo_surface_destroy(kept);
  stage_free(&stage);
}

TEST(test_small) { walk("fa2", (Shape){.N_q = 64, .d = 16, .causal = true}, 8, 640, 360, 1, 80); }

TEST(test_standard) { walk("standard", (Shape){.N_q = 48, .N_k = 80, .d = 24}, 12, 777, 433, 2, 60); }

TEST(test_large) { walk("fa1", (Shape){.N_q = 4096, .d = 64, .causal = true}, 64, 1280, 720, 3, 25); }

static void note_end(void *data, GObject *gone) {
  (void)gone;
  ++*(int *)data;
}

static void no_act(void *data, PlayerInput input) {
  (void)data;
  (void)input;
}

/* Letters grow with the window, so each size has fonts of its own: a window that is drawn at another size has given
 * back those of the one before. */
TEST(test_fonts_are_given_back) {
  enum { SIZES = 6 };
  Player *p = calloc(1, sizeof *p);
  const Request request = {0};
  Viewer v;
  int n_gone = 0;
  must(player_open(p, &request, NULL));
  assert_true(viewer_open(&v, p, NULL, (ViewerHost){.act = no_act}));
  for (int k = 0; k < SIZES; k++) {
    const int width = 480 + 37 * k, height = 300 + 11 * k;
    viewer_resize(&v, width, height);
    cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, width, height);
    viewer_motion(&v, 200, 100);
    viewer_draw(&v, cr);
    viewer_find_hover(&v);
    cairo_destroy(cr);
    /* Pango looks fonts up in threads, which hold them for a moment longer. */
    while (n_gone < k) g_usleep(1000);
    assert_int_equal(n_gone, k);
    g_object_weak_ref(G_OBJECT(pango_cairo_font_map_get_default()), note_end, &n_gone);
  }
  viewer_close(&v);
  player_free(p);
  free(p);
}

/* ---- Every size ---- */

enum { LEAST_TEXT = 12, LEAST_TENSOR = 8 };

/* What is drawn of a whole tensor, block by block. */
static void check_tensors(const Viewer *v, const char *where) {
  static SceneRegions all;
  const SceneView view = {.presentation = v->player->presentation, .memo = v->memo};
  const Player *p = v->player;
  all.n = 0;
  scene_regions(p->scene, &p->now, &view, v->measures, v->controls.scene.width, v->controls.scene.height, &all);
  for (int tensor = 0; tensor < p->now.schedule->n_tensors; tensor++) {
    double left = INFINITY, top = INFINITY, right = 0, bottom = 0;
    for (int k = 0; k < all.n; k++) {
      const SceneHit *h = &all.regions[k].hit;
      if (h->kind != HIT_TENSOR || h->tensor != tensor) continue;
      left = fmin(left, h->x), top = fmin(top, h->y);
      right = fmax(right, h->x + h->width), bottom = fmax(bottom, h->y + h->height);
    }
    if (right > 0 && fmin(right - left, bottom - top) < LEAST_TENSOR - 0.05)
      fail_msg("%s: %s is %.1f thin", where, p->now.schedule->names[tensor].text, fmin(right - left, bottom - top));
  }
}

static double panel_width(void *data, const Player *p, double width) {
  (void)data, (void)p;
  return 0.355 * width; /* as a lesson's */
}
static void panel_draw(void *data, const Player *p, cairo_t *cr, Box box, double unit) {
  (void)data, (void)p, (void)cr, (void)box, (void)unit;
}

/* No tensor under 8 pixels, no text under 12, none on other text, cut or outside: in the window, and in a small one
 * beside a panel. Light and dark are laid out alike. */
TEST(test_every_scene_in_the_window) {
  static const int SIZES[][2] = {{1366, 700}, {640, 400}};
  static DrawnTexts texts;
  const SidePanel side = {.width = panel_width, .draw = panel_draw};
  Player *p = calloc(1, sizeof *p);
  const Request request = {0};
  char line[160];
  must(player_open(p, &request, NULL));
  for (int beside = 0; beside < 2; beside++) {
    Viewer v;
    assert_true(viewer_open(&v, p, beside ? &side : NULL, (ViewerHost){.act = no_act}));
    viewer_resize(&v, SIZES[beside][0], SIZES[beside][1]);
    cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, v.width, v.height);
    assert_true(letter_set_tap(cairo_get_target(cr), drawn_text_tap, &texts));
    for (int scene = 0; scene < SCENE_COUNT; scene++) {
      snprintf(line, sizeof line, "algorithm=fa2 N=1024 d=64 block=128 step=153 scene=%s",
               scene_name((SceneKind)scene));
      assert_true(player_restore(p, line));
      *p->message = '\0';
      texts.n = 0;
      viewer_draw(&v, cr);
      expect_legible(&texts, line, LEAST_TEXT, v.width, v.height);
      for (const DrawnText *t = texts.items; t < texts.items + texts.n; t++)
        if (strstr(t->text, "…") || (t->bottom < v.controls.bar.y && t->right > v.controls.scene.width + 1))
          fail_msg("%s: '%s' is cut, or lies on the panel", line, t->text);
      check_tensors(&v, line);
    }
    cairo_destroy(cr);
    viewer_close(&v);
  }
  player_free(p);
  free(p);
}
