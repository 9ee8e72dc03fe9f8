/* The drawings: tiles in the colours of their state, and the same answer under the pointer as on the screen. Words and
 * pages: test_legible.c. */
#include "tests/support/implied.h"
#include "tests/support/sanitized.h"
#include "tests/support/scene_cases.h"
#include "tests/support/snapshot_stage.h"
#include "tests/support/canvas.h"
#include "viz/scene/code_lines.h"

/* ---- On chip ------------------------------------------------------------------------------------------------- */

/* Amber are scores that SRAM holds, by what the step says in words; where it holds none the picture says so, as long as
 * the row is not done. */
TEST(test_amber_scores_are_on_chip) {
  static Snapshot now;
  for (int c = 0; c < 3; c++) {
    Stage stage = open_case(&CASES[c]);
    for (uint64_t step = 1; step < stage.n_steps; step += (uint64_t)ONE_OF) {
      stage_snapshot(&stage, step, &now);
      if (now.row.row < 0 || now.row.phase == ROW_FINISHED) continue;
      char words[2048];
      snapshot_describe(&now, words, sizeof words);
      const char *held = strstr(words, "\nIn SRAM: ");
      assert_non_null(held);
      const size_t n = strcspn(held, ";");
      const char *S = strstr(held, " S["), *P = strstr(held, " P[");
      const bool is_held = (S && S < held + n) || (P && P < held + n);
      bool says_none = false;
      DrawnTexts *all = draw_pieces(SCENE_SOFTMAX, &now, &(SceneView){0}, 1280, 720);
      for (int k = 0; k < all->n; k++) {
        says_none |= strncmp(all->items[k].text, "no scores", 9) == 0;
        if (strcmp(all->items[k].text, "the first scores") == 0) assert_true(now.line.n_past == 0);
      }
      free(all);
      assert_true(says_none != is_held);
    }
    stage_free(&stage);
  }
}

/* What is counted stands in the picture. Standard, N = 1024 in tiles of 128: event 129 of the trace stores
 * S[5,2], the 43rd tile of 128 x 128 scores, and event 131 the next; fa2 stores none. */
TEST(test_scores_stored) {
  static const struct {
    const char *algorithm;
    uint64_t step;
    const char *stored, *caption;
  } ROWS[] = {{"standard", 130, "704,512", "every score goes out"},
              {"standard", 131, "704,512", "every score goes out and back"},
              {"standard", 132, "720,896", "every score goes out"},
              {"fa2", 156, "0", "a score lives for one moment"}};
  EACH (k, ROWS) {
    const Case of = {ROWS[k].algorithm, {.N_q = 1024, .d = 64, .causal = true}, {.B_r = 128, .B_c = 128}, false};
    Stage stage = open_case(&of);
    Snapshot now;
    stage_snapshot(&stage, ROWS[k].step, &now);
    DrawnTexts *all = draw_pieces(SCENE_WALK, &now, &(SceneView){0}, 1280, 720);
    assert_true(drawn_text_find(all, ROWS[k].stored) && drawn_text_find(all, ROWS[k].caption));
    free(all);
    stage_free(&stage);
  }
}

/* ---- What lies where ----------------------------------------------------------------------------------------- */

/* The geometry of a scene does not depend on the step, and doubles with the size. */
TEST(test_geometry) {
  Stage stage = open_case(&CASES[0]);
  Snapshot early, late;
  stage_snapshot(&stage, 40, &early);
  stage_snapshot(&stage, 41, &late);
  const SceneView view = {0};
  for (int scene = 0; scene < SCENE_COUNT; scene++)
    for (int y = 4; y < 720; y += 48)
      for (int x = 4; x < 1280; x += 51) {
        const SceneHit a = hit_at((SceneKind)scene, &early, &view, 1280, 720, x, y),
                       b = hit_at((SceneKind)scene, &late, &view, 1280, 720, x, y);
        assert_true(a.kind == b.kind && a.tensor == b.tensor && a.i == b.i && a.j == b.j && a.x == b.x && a.y == b.y &&
                    a.width == b.width && a.height == b.height);
      }
  for (int y = 10; y < 720; y += 50 * ONE_OF)
    for (int x = 10; x < 1280; x += 50) {
      bool is_on_edge = false; /* whole units may round to either side there */
      const SceneHit one = hit_at(SCENE_WALK, &early, &view, 1280, 720, x, y),
                     two = hit_at(SCENE_WALK, &early, &view, 2560, 1440, 2 * x, 2 * y);
      for (int k = 0; k < 4; k++)
        is_on_edge |=
            hit_at(SCENE_WALK, &early, &view, 1280, 720, x + (k % 2 ? 3 : -3), y + (k / 2 ? 3 : -3)).kind != one.kind;
      if (!is_on_edge) assert_int_equal(one.kind, two.kind);
    }
  stage_free(&stage);
}

/* Everything that can be pointed at has something to say, and lights up. */
TEST(test_tooltips) {
  for (int c = 0; c < N_CASES; c += ONE_OF) {
    Stage stage = open_case(&CASES[c]);
    Snapshot now;
    bool kinds[HIT_LINE + 1] = {false};
    stage_snapshot(&stage, stage.n_steps / 2, &now);
    for (int y = 4; y < 720; y += 18)
      for (int x = 4; x < 1280; x += 56) {
        char text[256];
        SceneView view = {0};
        kinds[hit_at(SCENE_PILES, &now, &view, 1280, 720, x, y).kind] = true;
        view.hover = hit_at(SCENE_WALK, &now, &view, 1280, 720, x, y);
        kinds[view.hover.kind] = true;
        assert_int_equal(scene_tooltip(&now, &view.hover, text, sizeof text)[0] == '\0', view.hover.kind == HIT_NONE);
      }
    for (int k = HIT_NONE; k <= HIT_LINE; k++) assert_true(kinds[k]);
    stage_free(&stage);
  }
}

TEST(test_tooltip_words) {
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  char text[256];
  stage_snapshot(&stage, 130, &now);
  assert_string_equal(scene_tooltip(&now, &(SceneHit){.kind = HIT_TILE, .i = 4, .j = 4}, text, sizeof text),
                      "S[4,4]: partial, at work\nrows 32 to 39, keys 32 to 39\n128 B, never in HBM");
  assert_string_equal(
      scene_tooltip(&now, &(SceneHit){.kind = HIT_TENSOR, .tensor = IMPLIED_K, .i = -1, .j = 5}, text, sizeof text),
      "K[5]: rows 40 to 47\n256 B: byte 1,280 of K");
  assert_string_equal(
      scene_tooltip(&now, &(SceneHit){.kind = HIT_TENSOR, .tensor = IMPLIED_V, .i = -1, .j = -1}, text, sizeof text),
      "V: 2 KiB\nso far 3.75 KiB read, 0 B written");
  assert_string_equal(
      scene_tooltip(&now, &(SceneHit){.kind = HIT_SLOT, .tensor = IMPLIED_Q, .i = -1, .j = -1}, text, sizeof text),
      "Q on chip: rows 32 to 39\n256 B of 256 B set aside");
  stage_free(&stage);
}

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

static unsigned char *pixels_of(SceneKind scene, const Snapshot *now, const SceneView *view) {
  cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, 640, 360);
  cairo_surface_t *page = cairo_get_target(cr);
  scene_draw(scene, now, view, cr, 640, 360, &theme_light);
  cairo_surface_flush(page);
  unsigned char *bytes = malloc(640 * 360 * 4);
  assert_non_null(bytes);
  memcpy(bytes, cairo_image_surface_get_data(page), 640 * 360 * 4);
  cairo_destroy(cr);
  return bytes;
}

static bool looks_alike(SceneKind scene, const Snapshot *now, const SceneView *a, const SceneView *b) {
  unsigned char *one = pixels_of(scene, now, a), *two = pixels_of(scene, now, b);
  const bool same = memcmp(one, two, 640 * 360 * 4) == 0;
  free(one);
  free(two);
  return same;
}

/* A word of a bank is a square, beside each other and one below the other. */
TEST(test_words_of_banks_are_squares) {
  static const int SIZES[][2] = {{1280, 720}, {1920, 1080}, {390, 844}};
  const Colour amber = theme_light.tile[TILE_COLOUR_CURRENT];
  Stage stage = open_line("algorithm=fa2 N=64 d=64");
  Snapshot now;
  stage_snapshot(&stage, 3, &now); /* Q, K, their product: in its first pass */
  EACH (k, SIZES) {
    const int width = SIZES[k][0], height = SIZES[k][1];
    cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, width, height);
    scene_draw(SCENE_BANK, &now, &(SceneView){.phase = 0.001}, cr, width, height, &theme_light);
    cairo_surface_flush(cairo_get_target(cr));
    const uint32_t *pixels = (const uint32_t *)(void *)cairo_image_surface_get_data(cairo_get_target(cr));
    int at = 0, wide = 0, high = 0;
    while ((pixels[at] & 0xffffff) != amber) at++;
    while ((pixels[at + wide] & 0xffffff) == amber) wide++;
    while ((pixels[at + high * width] & 0xffffff) == amber) high++;
    assert_true(wide >= 4 && abs(wide - high) <= 1);
    cairo_destroy(cr);
  }
  stage_free(&stage);
}

/* A tile of scores on chip is amber while the line at work names it, and grey while others are worked on. */
TEST(test_amber_tiles_are_at_work) {
  static SceneRegions regions;
  const Colour amber = theme_light.tile[TILE_COLOUR_CURRENT];
  int n[2] = {0};
  Stage stage = open_case(&CASES[0]);
  for (uint64_t step = 1; step < stage.n_steps; step++) {
    Snapshot now;
    stage_snapshot(&stage, step, &now);
    const bool is_named = strpbrk(code_line(now.schedule, now.code_line).text, "SP") != NULL;
    regions.n = 0;
    unsigned char *page = pixels_of(SCENE_WALK, &now, &(SceneView){.regions = &regions});
    for (int k = 0; k < regions.n; k++) {
      const SceneHit *h = &regions.regions[k].hit;
      if (h->kind != HIT_SLOT || h->tensor != IMPLIED_S || !now.slots[IMPLIED_S].is_filled) continue;
      const unsigned char *pixel = page + 4 * (640 * (int)(h->y + 5) + (int)(h->x + 5));
      assert_int_equal(memcmp(pixel, &amber, 3) == 0, is_named);
      n[is_named]++;
    }
    free(page);
  }
  assert_true(n[0] > 30 && n[1] > 30);
  stage_free(&stage);
}

/* The drawing with a pointer over a tile differs from the one without. */
TEST(test_hover_is_seen) {
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  stage_snapshot(&stage, 100, &now);
  assert_false(
      looks_alike(SCENE_WALK, &now, &(SceneView){0}, &(SceneView){.hover = {.kind = HIT_TILE, .i = 2, .j = 1}}));
  stage_free(&stage);
}

/* No name of a tile, which travels with it: they have small indices. */
static bool is_word(const char *text) { return strlen(text) > 3 && !strstr(text, "\xe2\x82"); }

/* A still picture is what the motion ends with, and within a step no word changes. */
TEST(test_motion) {
  static const SceneKind SCENES[] = {SCENE_WALK, SCENE_SOFTMAX};
  for (int c = 0; c < 4; c++) {
    Stage stage = open_case(&CASES[c]);
    for (uint64_t step = 1; step <= stage.n_steps; step += c == 3 ? 97 : 7) {
      Snapshot now;
      stage_snapshot(&stage, step, &now);
      const SceneKind scene = SCENES[step % 2];
      const SceneView still = {0}, early = {.phase = 0.3}, over = {.phase = 1};
      assert_true(looks_alike(scene, &now, &still, &over));
      DrawnTexts *a = draw_pieces(scene, &now, &still, 1280, 720), *b = draw_pieces(scene, &now, &early, 1280, 720);
      for (int n = 0, m = 0; n < a->n || m < b->n;) {
        if (n < a->n && !is_word(a->items[n].text))
          n++;
        else if (m < b->n && !is_word(b->items[m].text))
          m++;
        else
          assert_string_equal(n < a->n ? a->items[n++].text : "", m < b->n ? b->items[m++].text : "");
      }
      free(a);
      free(b);
    }
    stage_free(&stage);
  }
}

/* ---- Files and odd sizes -------------------------------------------------------------------------------------- */

TEST(test_names) {
  for (int k = 0; k < SCENE_COUNT; k++) {
    SceneKind scene;
    assert_true(scene_from_name(scene_name((SceneKind)k), &scene));
    assert_int_equal(scene, k);
    assert_true(scene_title((SceneKind)k)[0]);
  }
  SceneKind scene;
  assert_false(scene_from_name("tile", &scene));
}

GROUP(NULL, let_go)
