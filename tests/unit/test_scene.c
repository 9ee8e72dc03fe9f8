/* The drawings: tiles in the colours of their state, and the same answer under the pointer as on the screen. Words and
 * pages: test_scene_pages.c. */
#include "tests/support/test.h"
#include "tests/support/implied.h"
#include "tests/support/sanitized.h"
#include "tests/support/scene_cases.h"

/* ---- Tiles ------------------------------------------------------------------------------------------------- */

static bool has_colour_at(cairo_surface_t *surface, double x, double y, Colour colour) {
  const unsigned char *p =
      cairo_image_surface_get_data(surface) + (int)y * cairo_image_surface_get_stride(surface) + 4 * (int)x;
  return p[0] == colour.blue && p[1] == colour.green && p[2] == colour.red;
}

/* Whether the scores of tile (i, j) have been computed or loaded since the walk came to it, from the events alone. */
static bool has_scores(const Stage *stage, uint64_t step, int64_t i, int64_t j) {
  Cursor cursor = {0};
  Event e;
  bool there = false;
  while (cursor.step < step && schedule_next(stage->run.schedule, &stage->run.plan, &cursor, &e)) {
    const bool is_here = e.i == i && e.j == j, is_score = e.tensor == IMPLIED_S || e.tensor == IMPLIED_P;
    if (!is_here && e.j >= 0) there = false;
    if (is_here && (e.kind == EVENT_PRODUCT || (e.kind == EVENT_LOAD && is_score))) there = true;
  }
  return there;
}

/* Every tile has the colour of its state, the one at work a paler one until its scores are there: what is drawn is what
 * is counted. */
static void check_tile_colours(const Case *c, uint64_t step, SceneKind scene) {
  enum { W = 1280, H = 720 };
  Stage stage = open_case(c);
  Snapshot now;
  stage_snapshot(&stage, step, &now);
  const SceneView view = {0};
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, W, H);
  cairo_t *cr = cairo_create(surface);
  scene_draw(scene, &now, &view, cr, W, H, &theme_dark);
  cairo_surface_flush(surface);
  bool seen[64 * 64] = {false};
  int n_seen = 0, n_blocks = 0;
  for (int y = 0; y < H; y += 18)
    for (int x = 0; x < W; x += 18) {
      const SceneHit hit = hit_at(scene, &now, &view, W, H, x, y);
      const bool is_block = hit.kind == HIT_TENSOR && (hit.i >= 0 || hit.j >= 0) &&
                            now.schedule->tensors[hit.tensor].role == TENSOR_INPUT; /* of Q, K, V, at an edge */
      if (is_block && !has_colour_at(surface, hit.x + hit.width / 2, hit.y + 2, theme_dark.tile[TILE_COLOUR_HELD]) &&
          !has_colour_at(surface, hit.x + hit.width / 2, hit.y + 2, theme_dark.tile[TILE_COLOUR_CURRENT]))
        fail_msg("%s: a block of tensor %d is neither grey nor amber", c->algorithm, hit.tensor);
      n_blocks += is_block;
      if (hit.kind != HIT_TILE || seen[hit.i * now.grid.T_c + hit.j]) continue;
      seen[hit.i * now.grid.T_c + hit.j] = true;
      n_seen++;
      const TileState tile = snapshot_tile(&now.grid, hit.i, hit.j);
      const Colour *colours = theme_dark.tile;
      const Colour at_work = has_scores(&stage, step, hit.i, hit.j)
                                 ? colours[TILE_COLOUR_CURRENT]
                                 : theme_mix(theme_dark.background, colours[TILE_COLOUR_CURRENT], 0.35);
      const Colour want = tile.progress == TILE_CURRENT ? at_work
                          : tile.progress == TILE_DONE
                              ? colours[tile.kind == TILE_PARTIAL ? TILE_COLOUR_PARTIAL : TILE_COLOUR_DONE]
                              : colours[tile.laps > 0 ? TILE_COLOUR_HELD : TILE_COLOUR_EMPTY]; /* all store S */
      if (tile.kind == TILE_SKIPPED) continue;                                                 /* hatched */
      if (tile.progress == TILE_WAITING && tile.laps == 0 && /* outlined, or beside a line that two share */
          !has_colour_at(surface, hit.x, hit.y + hit.height - 4, colours[TILE_COLOUR_HELD]) &&
          !has_colour_at(surface, hit.x - 1, hit.y + hit.height - 4, colours[TILE_COLOUR_HELD]))
        fail_msg("%s: tile %d, %d is empty and has no outline", c->algorithm, (int)hit.i, (int)hit.j);
      if (!has_colour_at(surface, hit.x + 0.3 * hit.width, hit.y + hit.height - 4, want))
        fail_msg("%s: tile %d, %d is drawn in another colour than its state has", c->algorithm, (int)hit.i, (int)hit.j);
    }
  assert_int_equal(n_seen, now.grid.T_r * now.grid.T_c);
  assert_true(n_blocks > 0);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  stage_free(&stage);
}

TEST(test_tiles_show_their_state) {
  check_tile_colours(&CASES[0], 130, SCENE_TILES);
  check_tile_colours(&CASES[0], 131, SCENE_MAIN);
  check_tile_colours(&CASES[1], 77, SCENE_TILES);
  check_tile_colours(&CASES[2], 150, SCENE_TILES);
  check_tile_colours(&CASES[2], 500, SCENE_MAIN);
}

static bool has_piece(const Snapshot *now, const char *text) {
  const SceneView view = {0};
  Pieces *all = draw_pieces(SCENE_TILES, now, &view, 1280, 720);
  int n = 0;
  for (int k = 0; k < all->n; k++) n += strcmp(all->pieces[k].text, text) == 0;
  free(all);
  return n > 1; /* once it names the matrix in HBM */
}

/* The present tile is called S once its scores are there, P once they are exponentials, and nothing while K is loaded.
 */
TEST(test_letter_of_the_tile) {
  static const struct {
    EventKind kind;
    bool S, P;
  } EXPECTED[] = {{EVENT_LOAD, false, false},
                  {EVENT_PRODUCT, true, false},
                  {EVENT_NEW_MAX, true, false},
                  {EVENT_ACCUMULATE, false, true}};
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  uint64_t step = 117; /* before K[3] is loaded for row block 4 */
  for (size_t k = 0; k < sizeof EXPECTED / sizeof *EXPECTED; k++) {
    do stage_snapshot(&stage, ++step, &now);
    while (now.event.kind != EXPECTED[k].kind);
    assert_true(now.grid.i == 4 && now.grid.j == 3);
    assert_int_equal(has_piece(&now, "S"), EXPECTED[k].S);
    assert_int_equal(has_piece(&now, "P"), EXPECTED[k].P);
  }
  stage_free(&stage);
}

/* Thousands of tiles a side: each unit shows the share of the tiles under it that is done. */
TEST(test_large_grid_is_a_fair_mix) {
  enum { W = 1280, H = 720 };
  const Case c = {"fa2", {.N_q = 1 << 20, .d = 64}, {.B_r = 64, .B_c = 64}, false}; /* 16,384 tiles a side */
  Stage stage = open_case(&c);
  Snapshot now;
  const SceneView view = {0};
  stage_snapshot(&stage, stage.n_steps / 2, &now);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, W, H);
  cairo_t *cr = cairo_create(surface);
  scene_draw(SCENE_TILES, &now, &view, cr, W, H, &theme_light);
  cairo_surface_flush(surface);
  int done = 0, empty = 0;
  for (int y = 0; y < H; y++) {
    const SceneHit hit = hit_at(SCENE_TILES, &now, &view, W, H, 300, y);
    if (hit.kind != HIT_TILE) continue;
    done += has_colour_at(surface, 300, y, theme_light.tile[TILE_COLOUR_DONE]);
    empty += has_colour_at(surface, 300, y, theme_light.tile[TILE_COLOUR_EMPTY]);
  }
  if (done < 200 || abs(done - empty) > 4) fail_msg("%d done, %d empty", done, empty);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  stage_free(&stage);
}

/* ---- What lies where ----------------------------------------------------------------------------------------- */

static uint64_t hash_add(uint64_t hash, int64_t value) {
  return (hash ^ (uint64_t)value) * 0x100000001b3u;
} /* FNV-1a, a word at a time */

static uint64_t geometry(const Snapshot *now, SceneKind scene, int width, int height, int points) {
  const SceneView view = {0};
  uint64_t hash = 0xcbf29ce484222325u;
  for (int y = 4; y < height; y += height / (3 * points))
    for (int x = 4; x < width; x += width / (5 * points)) {
      const SceneHit h = hit_at(scene, now, &view, width, height, x, y);
      const int64_t parts[] = {h.kind,           h.tensor,         h.i, h.j, h.index, (int64_t)h.x, (int64_t)h.y,
                               (int64_t)h.width, (int64_t)h.height};
      for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) hash = hash_add(hash, parts[k]);
    }
  return hash;
}

/* The geometry of a scene does not depend on the step, and doubles with the size. */
TEST(test_geometry) {
  Stage stage = open_case(&CASES[0]);
  Snapshot early, late;
  stage_snapshot(&stage, 40, &early);
  stage_snapshot(&stage, 41, &late);
  const SceneView view = {0};
  for (int scene = 0; scene < SCENE_COUNT; scene++)
    if (geometry(&early, (SceneKind)scene, 1280, 720, 5) != geometry(&late, (SceneKind)scene, 1280, 720, 5))
      fail_msg("%s differs from step to step", scene_name((SceneKind)scene));
  for (int y = 10; y < 720; y += 50 * ONE_OF)
    for (int x = 10; x < 1280; x += 50) {
      bool is_on_edge = false; /* whole units may round to either side there */
      const SceneHit one = hit_at(SCENE_TILES, &early, &view, 1280, 720, x, y),
                     two = hit_at(SCENE_TILES, &early, &view, 2560, 1440, 2 * x, 2 * y);
      for (int k = 0; k < 4; k++)
        is_on_edge |=
            hit_at(SCENE_TILES, &early, &view, 1280, 720, x + (k % 2 ? 3 : -3), y + (k / 2 ? 3 : -3)).kind != one.kind;
      if (!is_on_edge) assert_int_equal(one.kind, two.kind);
    }
  stage_free(&stage);
}

/* What lies where in a few frames, as a hash of every region under a grid of points. Only scenes whose regions do not
 * depend on the width of letters, which fonts may change. A new hash is put here after a look at the picture. */
TEST(test_geometry_is_the_same_as_ever) {
  static const struct {
    int which;
    SceneKind scene;
    int width, height;
    uint64_t hash;
  } GOLDEN[] = {
      {0, SCENE_TILES, 1280, 720, 0xac7184c651e98334},  {0, SCENE_HIERARCHY, 1920, 1080, 0x113ee1810c8972d8},
      {4, SCENE_CAUSAL, 1280, 720, 0x24736ba5d7ef6989}, {8, SCENE_HIERARCHY, 3840, 2160, 0xc694396cb3bcd2af},
      {2, SCENE_TILES, 1920, 1080, 0x46bab3a659d3ee12},
  };
  bool all_same = true;
  for (size_t k = 0; k < sizeof GOLDEN / sizeof *GOLDEN; k++) {
    Stage stage = open_case(&CASES[GOLDEN[k].which]);
    Snapshot now;
    stage_snapshot(&stage, stage.n_steps / 3, &now);
    const uint64_t hash = geometry(&now, GOLDEN[k].scene, GOLDEN[k].width, GOLDEN[k].height, 10);
    if (hash != GOLDEN[k].hash)
      print_message("%s of case %d at %d x %d: 0x%" PRIx64 "\n", scene_name(GOLDEN[k].scene), GOLDEN[k].which,
                    GOLDEN[k].width, GOLDEN[k].height, hash);
    all_same = all_same && hash == GOLDEN[k].hash;
    stage_free(&stage);
  }
  assert_true(all_same);
}

/* Everything that can be pointed at has something to say, and lights up. */
TEST(test_tooltips) {
  for (int c = 0; c < N_CASES; c += ONE_OF) {
    Stage stage = open_case(&CASES[c]);
    Snapshot now;
    bool kinds[HIT_L2 + 1] = {false};
    stage_snapshot(&stage, stage.n_steps / 2, &now);
    for (int y = 4; y < 720; y += 18)
      for (int x = 4; x < 1280; x += 56) {
        char text[256];
        SceneView view = {0};
        kinds[hit_at(SCENE_PILES, &now, &view, 1280, 720, x, y).kind] = true;
        view.hover = hit_at(SCENE_MAIN, &now, &view, 1280, 720, x, y);
        kinds[view.hover.kind] = true;
        assert_int_equal(scene_tooltip(&now, &view.hover, text, sizeof text)[0] == '\0', view.hover.kind == HIT_NONE);
      }
    assert_int_equal(kinds[HIT_L2], CASES[c].has_l2);
    for (int k = HIT_NONE; k <= HIT_LINE; k++)
      if (!kinds[k]) fail_msg("nothing of kind %d is found in %s N %d", k, CASES[c].algorithm, (int)CASES[c].shape.N_q);
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
      "K[5]: rows 40 to 47\n256 B at 0xd00: byte 1,280 of K"); /* Q takes 64 x 16 x 2 = 0x800 bytes */
  assert_string_equal(
      scene_tooltip(&now, &(SceneHit){.kind = HIT_TENSOR, .tensor = IMPLIED_V, .i = -1, .j = -1}, text, sizeof text),
      "V: 2 KiB at 0x1000\nso far 3.75 KiB read, 0 B written");
  assert_string_equal(
      scene_tooltip(&now, &(SceneHit){.kind = HIT_SLOT, .tensor = IMPLIED_Q, .i = -1, .j = -1}, text, sizeof text),
      "Q on chip: rows 32 to 39\n256 B of 256 B set aside\nin HBM at 0x400");
  stage_free(&stage);
}

/* Column by column a block of O is there for good when its last column has been worked on, and until then in part: with
 * a causal mask the rows above the present column are whole. */
TEST(test_O_fills_column_by_column) {
  const Case fa1 = {"fa1", {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, false};
  Stage stage = open_case(&fa1);
  for (int64_t j = 1; j < 8; j += 2) {
    Snapshot now;
    stage_snapshot(&stage, stage_step_of_tile(&stage, 100, 7, j), &now); /* the last tile of column j */
    assert_int_equal(now.grid.i, 7);
    const SceneView view = {0};
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1280, 720);
    cairo_t *cr = cairo_create(surface);
    scene_draw(SCENE_TILES, &now, &view, cr, 1280, 720, &theme_light);
    cairo_surface_flush(surface);
    int n = 0;
    for (int y = 100; y < 680; y++) /* along the right edge of the strip */
      n += has_colour_at(surface, 686, y, theme_light.tile[TILE_COLOUR_DONE]);
    const double rows = n / 58.0;                       /* a tile less its gap */
    if (fabs(rows - (double)(j < 7 ? j + 1 : 7)) > 0.3) /* the last one is on chip */
      fail_msg("column %d: %.2f rows of O are whole", (int)j, rows);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
  }
  stage_free(&stage);
}

/* A tile's address is the first one that the trace of its load writes: Q, K, V and O in turn, S and P behind them. */
TEST(test_tooltip_addresses) {
  Stage stage =
      open_case(&CASES[2]); /* standard: 64 x 16 of fp16, so each of Q, K, V, O has 0x800 bytes and S 0x2000 */
  Snapshot now;
  char text[256];
  stage_snapshot(&stage, 500, &now);
  assert_non_null(strstr(scene_tooltip(&now, &(SceneHit){.kind = HIT_TILE, .i = 1, .j = 2}, text, sizeof text),
                         "128 B at 0x2420, P at 0x4420"));
  assert_non_null(strstr(
      scene_tooltip(&now, &(SceneHit){.kind = HIT_TENSOR, .tensor = IMPLIED_O, .i = 7, .j = -1}, text, sizeof text),
      "256 B at 0x1f00: byte 1,792 of O"));
  stage_free(&stage);
}

/* The drawing with a pointer over a tile differs from the one without. */
TEST(test_hover_is_seen) {
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  unsigned char *bytes[2];
  stage_snapshot(&stage, 100, &now);
  for (int k = 0; k < 2; k++) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 640, 360);
    cairo_t *cr = cairo_create(surface);
    SceneView view = {0};
    if (k) view.hover = (SceneHit){.kind = HIT_TILE, .i = 2, .j = 1};
    scene_draw(SCENE_TILES, &now, &view, cr, 640, 360, &theme_light);
    cairo_surface_flush(surface);
    bytes[k] = malloc(640 * 360 * 4);
    memcpy(bytes[k], cairo_image_surface_get_data(surface), 640 * 360 * 4);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
  }
  assert_memory_not_equal(bytes[0], bytes[1], 640 * 360 * 4);
  free(bytes[0]);
  free(bytes[1]);
  stage_free(&stage);
}

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

static unsigned char *pixels_of(SceneKind scene, const Snapshot *now, const SceneView *view, const Theme *theme) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 640, 360);
  cairo_t *cr = cairo_create(surface);
  scene_draw(scene, now, view, cr, 640, 360, theme);
  cairo_surface_flush(surface);
  unsigned char *bytes = malloc(640 * 360 * 4);
  assert_non_null(bytes);
  memcpy(bytes, cairo_image_surface_get_data(surface), 640 * 360 * 4);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  return bytes;
}

static bool looks_alike(SceneKind scene, const Snapshot *now, const SceneView *a, const SceneView *b) {
  unsigned char *one = pixels_of(scene, now, a, &theme_light), *two = pixels_of(scene, now, b, &theme_light);
  const bool same = memcmp(one, two, 640 * 360 * 4) == 0;
  free(one);
  free(two);
  return same;
}

/* The blocks of a tile under the pointer are marked where they lie in HBM and on chip, in the panels beside it too. */
TEST(test_hover_is_linked) {
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  stage_snapshot(&stage, 123, &now); /* works on tile (4, 3) */
  const SceneView none = {0}, tile = {.hover = {.kind = HIT_TILE, .i = 4, .j = 3}},
                  other = {.hover = {.kind = HIT_TILE, .i = 4, .j = 6}},
                  block = {.hover = {.kind = HIT_TENSOR, .tensor = IMPLIED_K, .i = -1, .j = 3}};
  assert_false(looks_alike(SCENE_HIERARCHY, &now, &none, &tile));
  assert_false(looks_alike(SCENE_HIERARCHY, &now, &tile, &other));
  assert_false(looks_alike(SCENE_HIERARCHY, &now, &none, &block));
  assert_false(looks_alike(SCENE_HIERARCHY, &now, &tile, &block));
  stage_free(&stage);
}

/* Playing fast nothing is dimmed; at the start nothing is either. */
TEST(test_dimming) {
  Stage stage = open_case(&CASES[0]);
  Snapshot now;
  const SceneView plain = {0}, undimmed = {.undimmed = true};
  stage_snapshot(&stage, 122, &now);
  assert_false(looks_alike(SCENE_HIERARCHY, &now, &plain, &undimmed));
  assert_false(looks_alike(SCENE_CODE, &now, &plain, &undimmed));
  assert_false(looks_alike(SCENE_TILES, &now, &plain, &undimmed));
  stage_snapshot(&stage, 0, &now);
  for (int scene = 0; scene < SCENE_COUNT; scene++) assert_true(looks_alike((SceneKind)scene, &now, &plain, &undimmed));
  stage_free(&stage);
}

static bool is_word(const char *text) { return strlen(text) > 3; } /* no letter of a tile, which travels with it */

/* A still picture is what the motion ends with, and within a step no word changes. */
TEST(test_motion) {
  static const SceneKind SCENES[] = {SCENE_MAIN, SCENE_TILES, SCENE_HIERARCHY, SCENE_SOFTMAX, SCENE_CAUSAL};
  for (int c = 0; c < 4; c++) {
    Stage stage = open_case(&CASES[c]);
    for (uint64_t step = 1; step <= stage.n_steps; step += c == 3 ? 97 : 7) {
      Snapshot now;
      stage_snapshot(&stage, step, &now);
      const SceneKind scene = SCENES[step % 5];
      const SceneView still = {0}, early = {.phase = 0.3}, over = {.phase = 1};
      if (!looks_alike(scene, &now, &still, &over))
        fail_msg("%s of %s, step %d: the still picture is not the end", scene_name(scene), CASES[c].algorithm,
                 (int)step);
      Pieces *a = draw_pieces(scene, &now, &still, 1280, 720), *b = draw_pieces(scene, &now, &early, 1280, 720);
      for (int n = 0, m = 0; n < a->n || m < b->n;) {
        if (n < a->n && !is_word(a->pieces[n].text))
          n++;
        else if (m < b->n && !is_word(b->pieces[m].text))
          m++;
        else
          assert_string_equal(n < a->n ? a->pieces[n++].text : "", m < b->n ? b->pieces[m++].text : "");
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
