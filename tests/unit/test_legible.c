/* Scenes as pages. A page is drawn once and asked all: its words lie within it, whole and apart, are large enough, have
 * nothing drawn over them, and can be read against the pixels that they are written on, light, dark and on a projector,
 * by normal eyes and with three simulated deficiencies of colour vision. */
#include "tests/support/colour_vision.h"
#include "tests/support/sanitized.h"
#include "tests/support/scene_cases.h"
#include "tests/support/snapshot_stage.h"
#include "tests/support/canvas.h"
#include "viz/scene/kernel_scene_draw.h"
#include "viz/request/pipeline_file.h"

/* ---- Words as they are written ---- */

#define LEAST_CONTRAST 4.5 /* for text: WCAG 2.1, 1.4.3 */

/* A word on its ground. */
typedef struct {
  Colour ink;
  double least[N_EYES]; /* contrast with any pixel under the word */
  bool is_poor[N_EYES]; /* more than one in twenty of them have less than LEAST_CONTRAST */
  uint64_t ground;      /* a sum of the pixels */
} Look;

typedef struct {
  DrawnTexts drawn;
  Look looks[COUNT_OF(((DrawnTexts *)0)->items)];
  cairo_surface_t *page;
} Page;

static Colour pixel_of(const Page *page, int x, int y) {
  const unsigned char *p =
      cairo_image_surface_get_data(page->page) + y * cairo_image_surface_get_stride(page->page) + 4 * x;
  return (Colour)(p[2] << 16 | p[1] << 8 | p[0]);
}

static double contrast_of(double a, double b) { return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05); }

/* Which pixels of the page lie under a word: every second one of the box that its letters fill. */
static void look_under(const Page *page, const DrawnText *word, Look *look) {
  const int width = cairo_image_surface_get_width(page->page), height = cairo_image_surface_get_height(page->page);
  double contrast[N_EYES] = {0};
  Colour last = {0};
  int n = 0, n_poor[N_EYES] = {0};
  look->ground = 0;
  for (int eye = 0; eye < N_EYES; eye++) look->least[eye] = 21;
  for (int y = (int)word->top; y < word->bottom; y += 2)
    for (int x = (int)word->left; x < word->right; x += 2) {
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const Colour ground = pixel_of(page, x, y);
      for (int eye = 0; eye < N_EYES && (n == 0 || ground != last); eye++)
        contrast[eye] = contrast_of(luminance_for(ground, eye), luminance_for(look->ink, eye));
      for (int eye = 0; eye < N_EYES; eye++) {
        look->least[eye] = fmin(look->least[eye], contrast[eye]);
        n_poor[eye] += contrast[eye] < LEAST_CONTRAST;
      }
      look->ground = look->ground * 31 + ground;
      last = ground;
      n++;
    }
  for (int eye = 0; eye < N_EYES; eye++) look->is_poor[eye] = 20 * n_poor[eye] > n;
}

static void take_word(void *data, cairo_t *cr, const LetterPiece *piece) {
  Page *page = data;
  double red, green, blue, alpha;
  drawn_text_tap(&page->drawn, cr, piece);
  if (!*piece->text) return;
  Look *look = &page->looks[page->drawn.n - 1];
  assert_int_equal(cairo_pattern_get_rgba(cairo_get_source(cr), &red, &green, &blue, &alpha), CAIRO_STATUS_SUCCESS);
  assert_true(alpha > 0.999); /* words are not thinned out */
  look->ink = (Colour)(lround(255 * red) << 16 | lround(255 * green) << 8 | lround(255 * blue));
  cairo_surface_flush(page->page);
  look_under(page, &page->drawn.items[page->drawn.n - 1], look);
}

static bool is_cut(const char *text) {
  const size_t n = strlen(text);
  return n > 3 && strcmp(text + n - 3, "…") == 0;
}

static Page *open_page(int width, int height) {
  Page *page = calloc(1, sizeof *page);
  assert_non_null(page);
  page->page = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  assert_true(letter_set_tap(page->page, take_word, page));
  return page;
}

static Page *write_page(SceneKind scene, const Snapshot *now, const SceneView *view, const Theme *theme, int width,
                        int height) {
  Page *page = open_page(width, height);
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

/* In a still picture what lies under a word when it is written lies there at the end. */
static void ask(const Page *page, const char *where, double least, int width, int height) {
  expect_legible(&page->drawn, where, least, width, height);
  for (int n = 0; n < page->drawn.n; n++) {
    const DrawnText *w = &page->drawn.items[n];
    const Look *look = &page->looks[n];
    Look later = *look;
    look_under(page, w, &later);
    if (later.ground != look->ground) fail_msg("%s: '%s' is drawn over", where, w->text);
    for (int eye = 0; eye < N_EYES; eye++)
      if (look->is_poor[eye])
        fail_msg("%s: '%s' has a contrast of %.2f in %s", where, w->text, look->least[eye], eye_names[eye]);
    assert_true(width < 1280 || !is_cut(w->text));
  }
}

static bool has_word(const Page *page, const char *word) {
  bool has = false;
  for (int n = 0; n < page->drawn.n; n++) has |= strstr(page->drawn.items[n].text, word) != NULL;
  return has;
}

static const int SIZES[][2] = {{1280, 720}, {1920, 1080}, {390, 844}, {600, 960}};

/* Every scene at steps of all cases, the pages in turn: text has at least 1/50 of the height, on a projector 1/32, and
 * 12 pixels anywhere. */
TEST(test_every_page) {
  enum { N_STEPS = 6 };
  static const struct {
    int width, height;
    bool presentation;
  } PAGES[] = {{1280, 720, false}, {1280, 720, true}, {1920, 1080, false}, {600, 960, false},
               {1280, 720, true},  {640, 360, false}, {1280, 720, false},  {1080, 1920, false},
               {1920, 1080, true}, {826, 627, false}, {400, 300, false}};
  enum { N_PAGES = COUNT_OF(PAGES) };
  int turn = 0;
  for (int c = 0; c < N_CASES; c++) {
    Stage stage = open_case(&CASES[c]);
    stage.pipeline = pipeline_for("fa3_overlap", &CASES[c].shape, NULL);
    for (uint64_t k = 0; k < N_STEPS; k += (uint64_t)ONE_OF) {
      Snapshot now;
      stage_snapshot(&stage, k * stage.n_steps / (N_STEPS - 1) + (k == 1), &now);
      for (int scene = 0; scene < SCENE_COUNT; scene++, turn++) {
        const int width = PAGES[turn % N_PAGES].width, height = PAGES[turn % N_PAGES].height;
        const SceneView view = {.presentation = PAGES[turn % N_PAGES].presentation};
        const Theme *theme = turn / N_PAGES % 2 ? &theme_dark : &theme_light;
        const char *where = test_text("%s of %s N %d, step %d, %d x %d, %s%s", scene_name((SceneKind)scene),
                                      CASES[c].algorithm, (int)CASES[c].shape.N_q, (int)now.step, width, height,
                                      theme->name, view.presentation ? ", presentation" : "");
        Page *page = write_page((SceneKind)scene, &now, &view, theme, width, height);
        assert_true(page->drawn.n > 1);
        ask(page, where, width < height ? 12 : fmax(12, height / (view.presentation ? 32.0 : 50.0)), width, height);
        free_page(page);
      }
    }
    stage_free(&stage);
  }
}

/* Piles: no word is smaller than 4 % of the height, of a tall page of the width, and a page has at most thirty for two
 * algorithms. */
TEST(test_words_of_piles) {
  static const int SMALL[][2] = {{1280, 720}, {390, 844}, {640, 432}},
                   BESIDE[][2] = {{600, 960}, {620, 640}, {500, 500}, {640, 432}}; /* a panel */
  static const char *const STATES[] = {"algorithm=fa2 N=1024 d=64 block=128 causal=1",
                                       "algorithm=standard,fa2 N=1024 d=64 block=128",
                                       "algorithm=standard,fa2 N=128 d=128 block=32",
                                       "algorithm=standard,fa1,fa2 N=100 d=64 block=16",
                                       "algorithm=standard,fa1,fa2,fa2-split N=1024 d=64 block=128",
                                       "algorithm=standard-backward,fa2-backward N=256 d=64 block=64"};
  EACH (c, STATES) {
    Stage stage = open_line(STATES[c]);
    for (uint64_t k = 0; k <= 4; k += 2) {
      Snapshot now;
      stage_snapshot(&stage, k * stage.n_steps / 4, &now);
      EACH (z, SMALL) {
        const int width = SMALL[z][0], height = SMALL[z][1];
        Page *page = write_page(SCENE_PILES, &now, &(SceneView){0}, &theme_light, width, height);
        const double least = fmin(width, height) * (width < height ? 0.04 : 0.039); /* less the scrub bar */
        int words = 0;
        ask(page, STATES[c], least, width, height);
        if (c == 0 && z == 0) assert_true(has_word(page, "FlashAttention-2"));
        for (int n = 0; n < page->drawn.n; n++)
          for (const char *at = page->drawn.items[n].text; *at; at += *at == ' ') { /* a tensor's name is none */
            const size_t length = strcspn(at, " ");
            words += length > 2;
            at += length;
          }
        assert_true(words <= (now.n_runs > 2 ? 48 : 30));
        free_page(page);
      }
    }
    Snapshot now;
    stage_snapshot(&stage, stage.n_steps / 5, &now);
    EACH (z, BESIDE)
      for (int scene = SCENE_WALK; scene <= SCENE_SOFTMAX; scene++) {
        Page *page = write_page((SceneKind)scene, &now, &(SceneView){0}, &theme_light, BESIDE[z][0], BESIDE[z][1]);
        ask(page, STATES[c], 12, BESIDE[z][0], BESIDE[z][1]);
        free_page(page);
      }
    stage_free(&stage);
  }
}

/* Of four too each says what becomes of its scores, and the first page what its colours are. */
TEST(test_piles_of_four_say_all) {
  static const char *const WORDS[] = {"Standard",   "and back", "carried",    "needed once",  "scores, ",
                                      "Q, O again", "m, l",     "K, V again", "Q, K, V again"};
  Stage stage = open_line("algorithm=standard,fa1,fa2,fa2-split N=1024 d=64 block=128");
  Snapshot now;
  for (int end = 0; end < 2; end++)
    EACH (z, SIZES) {
      stage_snapshot(&stage, end ? stage.n_steps : 300, &now);
      Page *page =
          write_page(SCENE_PILES, &now, &(SceneView){0}, end ? &theme_dark : &theme_light, SIZES[z][0], SIZES[z][1]);
      EACH (w, WORDS)
        if (!has_word(page, WORDS[w])) fail_msg("%d x %d does not say '%s'", SIZES[z][0], SIZES[z][1], WORDS[w]);
      if (end) assert_true(has_word(page, "2.4× less") && has_word(page, "3.8× less"));
      free_page(page);
    }
  stage_free(&stage);
}

/* "never loaded" stands in place of whole cells, none of which anybody comes to. */
TEST(test_no_cell_is_cut) {
  static SceneRegions regions;
  const Case sixteen = {"fa2", {.N_q = 1024, .d = 128, .causal = true}, {.B_r = 64, .B_c = 64}, false};
  Stage stage = open_case(&sixteen);
  Snapshot now;
  stage_snapshot(&stage, stage.n_steps / 3, &now);
  EACH (z, SIZES) {
    SceneHit never = {0};
    regions.n = 0;
    free_page(write_page(SCENE_WALK, &now, &(SceneView){.regions = &regions}, &theme_light, SIZES[z][0], SIZES[z][1]));
    for (int k = 0; k < regions.n; k++)
      if (regions.regions[k].name && strcmp(regions.regions[k].name, "never loaded") == 0)
        never = regions.regions[k].hit;
    assert_true(never.width > 0);
    int n_inside = 0;
    for (int k = 0; k < regions.n; k++) {
      const SceneHit *cell = &regions.regions[k].hit;
      const double across = fmin(cell->x + cell->width, never.x + never.width) - fmax(cell->x, never.x),
                   down = fmin(cell->y + cell->height, never.y + never.height) - fmax(cell->y, never.y);
      if (cell->kind != HIT_TILE || across <= 0 || down <= 0) continue;
      n_inside++;
      assert_true(across == cell->width && down == cell->height);
      assert_int_equal(snapshot_tile(&now.grid, cell->i, cell->j).kind, TILE_SKIPPED);
    }
    assert_true(n_inside > 4);
  }
  stage_free(&stage);
}

/* Lines of a kernel are drawn whole, in as many rows as they take, and each row is its line's under the pointer. */
TEST(test_lines_of_a_kernel_are_whole) {
  KernelSceneLine lines[] = {{.number = 1, .text = "__global__ void f(const float *x, float *y) {"},
                             {.number = 2,
                              .text = "  y[(blockIdx.x * 32 + k) * N + blockIdx.y * 32 + threadIdx.x] = "
                                      "tile[threadIdx.x][k] * x[threadIdx.x]; // größer",
                              .sectors = 8192,
                              .conflicts = 63488},
                             {.number = 3, .text = "}"},
                             {.number = 4,
                              .text = "// äöüäöüäöüäöüäöüäöüäöüäöüäöü"
                                      "äöüäöüäöüäöüäöüäöüäöüäöü"}};
  const KernelScene scene = {
      .title = "f", .lines = lines, .n_lines = 4, .chosen = 1, .most_sectors = 8192, .most_conflicts = 63488};
  EACH (z, SIZES) {
    Page *page = open_page(SIZES[z][0], SIZES[z][1]);
    char drawn[4][KERNEL_SCENE_TEXT] = {""};
    int line = 0;
    cairo_t *cr = cairo_create(page->page);
    kernel_scene_draw(&scene, cr, SIZES[z][0], SIZES[z][1], &theme_light);
    cairo_destroy(cr);
    ask(page, "kernel", 12, SIZES[z][0], SIZES[z][1]);
    for (int n = 0; n < page->drawn.n; n++) {
      const DrawnText *w = &page->drawn.items[n];
      const int at = kernel_scene_line_at(&scene, SIZES[z][0], SIZES[z][1], w->left, (w->top + w->bottom) / 2);
      if (strlen(w->text) == 1 && w->text[0] == '1' + line)
        line++; /* its number comes first */
      else if (line > 0 && at == line - 1 && !strchr("0123456789", *w->text))
        for (const char *c = w->text; *c; c++)
          if (*c != ' ') strncat(drawn[line - 1], c, 1);
    }
    for (int k = 0; k < 4; k++) {
      char whole[KERNEL_SCENE_TEXT] = "";
      for (const char *c = lines[k].text; *c; c++)
        if (*c != ' ') strncat(whole, c, 1);
      assert_string_equal(drawn[k], whole);
    }
    free_page(page);
  }
}

/* ---- Odd sizes -------------------------------------------------------------------------------------- */

/* Any size draws: a thumbnail, a strip, a tower. What is too small for words says so. */
TEST(test_odd_sizes) {
  static const int ODD[][2] = {{230, 110}, {16, 16}, {320, 180}, {2000, 60}, {60, 2000}, {1, 1}};
  for (int c = 0; c < N_CASES; c += 3) { /* a small run, parts, a tiny run, a large one through L2 */
    Stage stage = open_case(&CASES[c]);
    Snapshot now;
    stage_snapshot(&stage, stage.n_steps / 2, &now);
    EACH (k, ODD)
      for (int scene = 0; scene < SCENE_COUNT; scene++) {
        const SceneView view = {0};
        Page *page = write_page((SceneKind)scene, &now, &view, &theme_dark, ODD[k][0], ODD[k][1]);
        hit_at((SceneKind)scene, &now, &view, ODD[k][0], ODD[k][1], 5, 5);
        if (k == 0) {
          assert_int_equal(page->drawn.n, 1);
          ask(page, "too small", 1, 230, 110);
        }
        free_page(page);
      }
    stage_free(&stage);
  }
}

GROUP(NULL, let_go)
