/* What is kept from frame to frame never changes a frame: over a random walk of steps, scenes and themes, a surface
 * that was drawn on before, with a memo of what was worked out for it, shows the same bytes as a new one without. */
#include "tests/support/test.h"
#include "tests/support/snapshot_stage.h"
#include "tests/support/canvas.h"
#include "sim/base/random.h"
#include "viz/scene/scene_cache.h"
#include "viz/scene/scene.h"
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

enum { TEXTS_MAX = 2048, LEAST_TEXT = 12, LEAST_TENSOR = 8 };

typedef struct {
  struct Text {
    double x0, y0, x1, y1, size;
    char text[96];
  } texts[TEXTS_MAX];
  int n;
} Texts;

static void take_text(void *data, cairo_t *cr, const LetterPiece *piece) {
  Texts *all = data;
  double x = piece->x, y = piece->y, scale = 1, none = 0;
  if (!*piece->text) return;
  assert_true(all->n < TEXTS_MAX);
  cairo_user_to_device(cr, &x, &y);
  cairo_user_to_device_distance(cr, &scale, &none);
  const double size = piece->lettering->size * scale;
  struct Text *t = &all->texts[all->n++];
  *t = (struct Text){x, y - 0.72 * size, x + piece->width * scale, y + 0.1 * size, size, ""};
  snprintf(t->text, sizeof t->text, "%s", piece->text);
}

static int n_faults;
static void say(const Viewer *v, const char *what, const char *text, double figure) {
  print_message("%s %dx%d%s: %s '%s' %.1f\n", scene_name(v->player->scene), v->width, v->height,
                v->controls.side.width > 0 ? " beside a panel" : "", what, text, figure);
  n_faults++;
}

static bool is_cut(const char *text) {
  const size_t n = strlen(text);
  return n > 3 && strcmp(text + n - 3, "…") == 0;
}

static void check_texts(const Viewer *v, const Texts *all) {
  const Box scene = v->controls.scene, bar = v->controls.bar;
  for (int a = 0; a < all->n; a++) {
    const struct Text *t = &all->texts[a];
    const bool in_bar = bar.height > 0 && t->y1 > bar.y;
    if (t->size < LEAST_TEXT - 0.05) say(v, "is small:", t->text, t->size);
    if (t->x0 < -0.5 || t->y0 < -0.5 || t->x1 > (in_bar ? v->width : scene.width) + 1 ||
        t->y1 > (in_bar ? v->height : scene.height) + 1)
      say(v, "leaves its place:", t->text, t->x1);
    if (is_cut(t->text)) say(v, "is cut:", t->text, t->x1 - t->x0);
    for (int b = 0; b < a; b++) {
      const struct Text *o = &all->texts[b];
      if (t->x0 + 1 < o->x1 && o->x0 + 1 < t->x1 && t->y0 + 1 < o->y1 && o->y0 + 1 < t->y1)
        say(v, "lies on other text:", t->text, o->x0);
    }
  }
}

/* What is drawn of a whole tensor, block by block. */
static void check_tensors(const Viewer *v, SceneRegions *all) {
  const SceneView view = {.presentation = v->player->presentation, .memo = v->memo};
  const Player *p = v->player;
  memset(all, 0, sizeof *all);
  scene_regions(p->scene, &p->now, &view, v->measures, v->controls.scene.width, v->controls.scene.height, all);
  for (int tensor = 0; tensor < p->now.schedule->n_tensors; tensor++) {
    double left = INFINITY, top = INFINITY, right = 0, bottom = 0;
    for (int k = 0; k < all->n; k++) {
      const SceneHit *h = &all->regions[k].hit;
      if (h->kind != HIT_TENSOR || h->tensor != tensor) continue;
      left = fmin(left, h->x), top = fmin(top, h->y);
      right = fmax(right, h->x + h->width), bottom = fmax(bottom, h->y + h->height);
    }
    if (right > 0 && fmin(right - left, bottom - top) < LEAST_TENSOR - 0.05)
      say(v, "is a thin tensor:", p->now.schedule->names[tensor].text, fmin(right - left, bottom - top));
  }
}

static double panel_width(void *data, const Player *p, double width, double height) {
  (void)data, (void)p, (void)height;
  return 0.355 * width; /* as a lesson's */
}
static void panel_draw(void *data, const Player *p, cairo_t *cr, Box box, double unit, const Theme *theme) {
  (void)data, (void)p, (void)cr, (void)box, (void)unit, (void)theme;
}

/* No tensor under 8 pixels, no text under 12, none on other text, none cut: in the window, at every size. Light and
 * dark are laid out alike. ALL_SIZES=30: so many
 * sizes and a second request; else one alone, and a small one beside a panel. */
TEST(test_every_size) {
  static const int SIZES[][2] = {{1366, 700},  {640, 400},   {1080, 1920}, {640, 480},   {800, 600},   {900, 560},
                                 {1024, 600},  {1024, 768},  {1100, 700},  {1200, 640},  {1280, 720},  {1280, 800},
                                 {1280, 1024}, {1366, 768},  {1440, 900},  {1536, 864},  {1600, 900},  {1680, 1050},
                                 {1920, 1080}, {1920, 1200}, {2048, 1152}, {2560, 1080}, {2560, 1440}, {3440, 1440},
                                 {3840, 2160}, {720, 1280},  {768, 1024},  {834, 1194},  {1200, 1600}, {1440, 2560}};
  static const char *const REQUESTS[] = {"algorithm=fa2 N=1024 d=64 block=128 step=153",
                                         "algorithm=standard N=4096 d=128 block=128 causal=1 gpu=h200 step=900"};
  const char *all = getenv("ALL_SIZES");
  const int n_sizes = all ? atoi(all) : 2, n_requests = all ? 2 : 1;
  const SidePanel side = {.width = panel_width, .draw = panel_draw};
  Player *p = calloc(1, sizeof *p);
  Texts *texts = malloc(sizeof *texts);
  SceneRegions *regions = malloc(sizeof *regions);
  const Request request = {0};
  int n_states = 0;
  char line[160];
  must(player_open(p, &request, NULL));
  for (int beside = 0; beside < 2; beside++) {
    Viewer v;
    assert_true(viewer_open(&v, p, beside ? &side : NULL, (ViewerHost){.act = no_act}));
    for (int k = 0; k < n_sizes; k++) {
      if (!all && k != beside) continue;
      viewer_resize(&v, SIZES[k][0], SIZES[k][1]);
      cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, v.width, v.height);
      assert_true(letter_set_tap(cairo_get_target(cr), take_text, texts));
      for (int scene = 0; scene < SCENE_COUNT; scene++)
        for (int r = 0; r < n_requests; r++) {
          snprintf(line, sizeof line, "%s scene=%s", REQUESTS[r], scene_name((SceneKind)scene));
          assert_true(player_restore(p, line));
          *p->message = '\0';
          texts->n = 0;
          viewer_draw(&v, cr);
          check_texts(&v, texts);
          check_tensors(&v, regions);
          n_states++;
        }
      cairo_destroy(cr);
    }
    viewer_close(&v);
  }
  print_message("%d states\n", n_states);
  assert_int_equal(n_faults, 0);
  player_free(p);
  free(p);
  free(texts);
  free(regions);
}
