/* What is drawn can be read: every word against the pixels that it is written on, in each scene, light, dark and on a
 * projector, for normal eyes and for three simulated deficiencies of colour vision. */
#include "viz/scene/scene.h"

#include "tests/support/test.h"
#include "tests/support/colour_vision.h"
#include "tests/support/fonts.h"
#include "tests/support/sanitized.h"
#include "viz/request/pipeline_file.h"
#include "viz/text/lettering.h"

typedef struct {
  const char *algorithm;
  Shape shape;
  Tiling tiling;
  int64_t l2_bytes;
} Case;

static const Case CASES[] = {
    {"fa2", {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, 0},
    {"standard", {.N_q = 4096, .d = 128, .causal = true}, {.B_r = 128, .B_c = 128}, 60 << 20},
    {"fa1", {.N_q = 200, .d = 24, .window = 40}, {.B_r = 16, .B_c = 16}, 0},
    {"fa2-split", {.N_q = 1, .N_k = 4096, .d = 128}, {.B_r = 1, .B_c = 64, .n_splits = 4}, 60 << 20},
    {"standard", {.N_q = 4096, .d = 128}, {.B_r = 512, .B_c = 512}, 0}, /* more than SRAM holds */
    {"fa2", {.N_q = 65536, .d = 128, .causal = true}, {.B_r = 64, .B_c = 64}, 0},
};
enum { N_CASES = sizeof CASES / sizeof *CASES, PAGE_WIDTH = 1280, PAGE_HEIGHT = 720 };

static Stage open_case(const Case *c) {
  Stage stage;
  Error error = {0};
  StageConfig config = {.problem = {.shape = c->shape, .tiling = c->tiling, .machine = machine_paper()},
                        .schedule = schedule_find(c->algorithm)};
  gpu_paper(&config.gpu);
  config.gpu.l2_bytes = c->l2_bytes;
  config.gpu.l2_partitions = c->l2_bytes ? 2 : 0;
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  stage.pipeline = pipeline_for("fa3_overlap", &c->shape, NULL);
  return stage;
}

/* ---- Words as they are written ---- */

enum { WORDS_MAX = 1024 };
#define LEAST_CONTRAST 4.5 /* for text: WCAG 2.1, 1.4.3 */

typedef struct {
  char text[128];
  double size, x, y, width, height; /* of the letters, in pixels */
  Colour ink;
  double least[N_EYES]; /* contrast with any pixel under the word */
  bool is_poor[N_EYES]; /* more than one in twenty of them have less than LEAST_CONTRAST */
  uint64_t ground;      /* a sum of the pixels */
} Word;

typedef struct {
  Word words[WORDS_MAX];
  int n;
  cairo_surface_t *page;
} Page;

static Colour pixel_of(const Page *page, int x, int y) {
  const unsigned char *p =
      cairo_image_surface_get_data(page->page) + y * cairo_image_surface_get_stride(page->page) + 4 * x;
  return (Colour){p[2], p[1], p[0]};
}

static double contrast_of(double a, double b) { return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05); }

static bool is_same(Colour a, Colour b) { return a.red == b.red && a.green == b.green && a.blue == b.blue; }

/* Which pixels of the page lie under a word: every second one of the box that its letters fill. */
static void look_under(const Page *page, Word *word) {
  const int width = cairo_image_surface_get_width(page->page), height = cairo_image_surface_get_height(page->page);
  double contrast[N_EYES] = {0};
  Colour last = {0};
  int n = 0, n_poor[N_EYES] = {0};
  word->ground = 0;
  for (int eye = 0; eye < N_EYES; eye++) word->least[eye] = 21;
  for (int y = (int)word->y; y < word->y + word->height; y += 2)
    for (int x = (int)word->x; x < word->x + word->width; x += 2) {
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const Colour ground = pixel_of(page, x, y);
      for (int eye = 0; eye < N_EYES && (n == 0 || !is_same(ground, last)); eye++)
        contrast[eye] = contrast_of(luminance_for(ground, eye), luminance_for(word->ink, eye));
      for (int eye = 0; eye < N_EYES; eye++) {
        word->least[eye] = fmin(word->least[eye], contrast[eye]);
        n_poor[eye] += contrast[eye] < LEAST_CONTRAST;
      }
      word->ground = word->ground * 31 + ground.red + 256u * ground.green + 65536u * ground.blue;
      last = ground;
      n++;
    }
  for (int eye = 0; eye < N_EYES; eye++) word->is_poor[eye] = 20 * n_poor[eye] > n;
}

static void take_word(void *data, cairo_t *cr, const LetterPiece *piece) {
  Page *page = data;
  double red, green, blue, alpha, x = piece->x, y = piece->y, scale = 1, none = 0;
  assert_true(page->n < WORDS_MAX);
  Word *word = &page->words[page->n++];
  assert_int_equal(cairo_pattern_get_rgba(cairo_get_source(cr), &red, &green, &blue, &alpha), CAIRO_STATUS_SUCCESS);
  assert_true(alpha > 0.999); /* words are not thinned out */
  cairo_user_to_device(cr, &x, &y);
  cairo_user_to_device_distance(cr, &scale, &none);
  snprintf(word->text, sizeof word->text, "%s", piece->text);
  word->ink = (Colour){(uint8_t)lround(255 * red), (uint8_t)lround(255 * green), (uint8_t)lround(255 * blue)};
  word->size = piece->lettering->size * scale;
  word->x = x;
  word->y = y - 0.72 * word->size;
  word->width = piece->width * scale;
  word->height = 0.72 * word->size;
  cairo_surface_flush(page->page);
  look_under(page, word);
}

static Page *write_page(SceneKind scene, const Snapshot *now, const SceneView *view, const Theme *theme, int width,
                        int height) {
  Page *page = calloc(1, sizeof *page);
  assert_non_null(page);
  page->page = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  assert_true(letter_set_tap(page->page, take_word, page));
  cairo_t *cr = cairo_create(page->page);
  scene_draw(scene, now, view, cr, width, height, theme);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_flush(page->page);
  return page;
}

static void free_page(Page *page) {
  cairo_surface_destroy(page->page);
  free(page);
}

/* ---- What is asked ---- */

static int n_found;
static void complain(const char *where, const char *what, const Word *word, double figure) {
  print_message("%s: '%s' %s %.2f (ink %02x%02x%02x at %.0f, %.0f)\n", where, word->text, what, figure, word->ink.red,
                word->ink.green, word->ink.blue, word->x, word->y);
  n_found++;
}

/* Also as the colour-blind see it. */
static void check_contrast(const Page *page, const char *where) {
  for (int n = 0; n < page->n; n++)
    for (int eye = 0; eye < N_EYES; eye++)
      if (page->words[n].is_poor[eye]) complain(where, eye_names[eye], &page->words[n], page->words[n].least[eye]);
}

/* In presentation mode all text is at least 1/32 of the height. */
static void check_size(const Page *page, const char *where) {
  for (int n = 0; n < page->n; n++)
    if (page->words[n].size < PAGE_HEIGHT / 32.0) complain(where, "is small:", &page->words[n], page->words[n].size);
}

/* In a still picture nothing is drawn over a word: what lies under it when it is written lies there at the end. */
static void check_uncovered(const Page *page, const char *where) {
  for (int n = 0; n < page->n; n++) {
    Word later = page->words[n];
    look_under(page, &later);
    if (later.ground != page->words[n].ground) complain(where, "is drawn over", &later, later.least[0]);
  }
}

/* Every scene, light and dark, small type and large, at some steps of some runs. */
TEST(test_every_page) {
  for (int c = 0; c < N_CASES; c++) {
    Stage stage = open_case(&CASES[c]);
    for (uint64_t k = 0; k <= 3; k += (uint64_t)ONE_OF) {
      Snapshot now;
      stage_snapshot(&stage, k * stage.n_steps / 3 + (k == 1), &now);
      for (int scene = 0; scene < SCENE_COUNT; scene++)
        for (int mode = 0; mode < 4; mode++) {
          const Theme *theme = mode % 2 ? &theme_dark : &theme_light;
          const SceneView view = {.presentation = mode / 2 == 1};
          char where[160];
          snprintf(where, sizeof where, "%s of %s N %d, step %d, %s%s", scene_name((SceneKind)scene),
                   CASES[c].algorithm, (int)CASES[c].shape.N_q, (int)now.step, theme->name,
                   view.presentation ? ", presentation" : "");
          Page *page = write_page((SceneKind)scene, &now, &view, theme, PAGE_WIDTH, PAGE_HEIGHT);
          assert_true(page->n > 1);
          check_contrast(page, where);
          check_uncovered(page, where);
          if (view.presentation) check_size(page, where);
          free_page(page);
        }
    }
    stage_free(&stage);
  }
  assert_int_equal(n_found, 0);
}

/* The test itself: grey on grey is found, and a line through a word too. */
TEST(test_the_test) {
  Page *page = calloc(1, sizeof *page);
  assert_non_null(page);
  page->page = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 200, 100);
  assert_true(letter_set_tap(page->page, take_word, page));
  cairo_t *cr = cairo_create(page->page);
  const Lettering lettering = {.size = 20};
  theme_use(cr, (Colour){255, 255, 255}, 1);
  cairo_paint(cr);
  theme_use(cr, (Colour){0x76, 0x76, 0x76}, 1); /* the lightest grey that passes on white */
  letter_draw(cr, &lettering, 10, 40, "passes");
  theme_use(cr, (Colour){0x77, 0x77, 0x77}, 1);
  letter_draw(cr, &lettering, 10, 80, "fails");
  cairo_rectangle(cr, 0, 70, 200, 2);
  cairo_fill(cr);
  cairo_surface_flush(page->page);
  assert_true(page->words[0].least[0] >= 4.5 && page->words[1].least[0] < 4.5);
  Word later[2] = {page->words[0], page->words[1]};
  for (int k = 0; k < 2; k++) look_under(page, &later[k]);
  assert_true(later[0].ground == page->words[0].ground && later[1].ground != page->words[1].ground);
  cairo_destroy(cr);
  free_page(page);
}

GROUP(NULL, let_go_of_fonts)
