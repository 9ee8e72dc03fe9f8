/* The lens: where tiles are too many to tell apart, those around the present one are shown as a grid of their own, and
 * what is pointed at there is the tile of the whole. */
#include "tests/support/fonts.h"
#include "tests/support/scene_hits.h"

#include "tests/support/test.h"

enum { W = 1280, H = 720 };

static Stage open_run(const char *algorithm, int64_t N) {
  Stage stage;
  Error error = {0};
  const StageConfig config = {.problem = {.shape = {.N_q = N, .d = 64, .causal = true},
                                          .tiling = {.B_r = 64, .B_c = 64},
                                          .machine = machine_paper()},
                              .schedule = schedule_find(algorithm)};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  return stage;
}

/* The largest tile (i, j) that is found on the page, of those 12 and more wide and high; 0: none. */
static double found(const Snapshot *now, int64_t i, int64_t j, SceneHit *where) {
  const SceneView view = {0};
  double widest = 0;
  for (int y = 100; y < H; y += 11)
    for (int x = 4; x < W; x += 11) {
      const SceneHit hit = hit_at(SCENE_TILES, now, &view, W, H, x, y);
      if (hit.kind != HIT_TILE || hit.i != i || hit.j != j || hit.width <= widest) continue;
      widest = hit.width;
      *where = hit;
    }
  return widest;
}

TEST(test_the_present_tile_is_large) {
  static const char *const ALGORITHMS[] = {"fa2", "fa1"};
  for (int k = 0; k < 2; k++) {
    Stage stage = open_run(ALGORITHMS[k], 8192); /* 128 tiles a side: four units each in the whole grid */
    Snapshot now;
    uint64_t step = stage.n_steps / 3;
    do stage_snapshot(&stage, step++, &now);
    while (!now.grid.at_work || now.event.kind == EVENT_SKIP);
    SceneHit here = {0}, beside = {0};
    assert_true(found(&now, now.grid.i, now.grid.j, &here) >= 12);
    const bool by_column = now.grid.column_by_column; /* the tile before it in the walk lies left of it, or above */
    const int64_t i = now.grid.i - (by_column && now.grid.i > 0), j = now.grid.j - (!by_column && now.grid.j % 9 > 0);
    assert_true(found(&now, i, j, &beside) >= 12);
    if (i < now.grid.i) assert_true(beside.y < here.y && beside.x == here.x);
    if (j < now.grid.j) assert_true(beside.x < here.x && beside.y == here.y);
    stage_free(&stage);
  }
}

/* With a pattern of blocks too, tile by tile: what lies in the lens has the look that the tile has in the whole. */
TEST(test_a_pattern_has_a_lens) {
  Stage stage;
  Error error = {0};
  Pattern *pattern = pattern_named("strided:4", (PatternMatrix){4096, 4096, false}, &error);
  assert_non_null(pattern);
  const StageConfig config = {.problem = {.shape = {.N_q = 4096, .d = 64, .causal = true, .pattern = pattern},
                                          .tiling = {.B_r = 64, .B_c = 64},
                                          .machine = machine_paper()},
                              .schedule = schedule_find("fa2")};
  if (stage_make(&stage, &config, &error)) fail_msg("%s", error.message);
  Snapshot now;
  uint64_t step = stage.n_steps / 2;
  do stage_snapshot(&stage, step++, &now);
  while (!now.grid.at_work || now.event.kind == EVENT_SKIP);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, W, H);
  cairo_t *cr = cairo_create(surface);
  const SceneView view = {0};
  scene_draw(SCENE_TILES, &now, &view, cr, W, H, &theme_light);
  cairo_surface_flush(surface);
  int n[3] = {0}, n_present = 0; /* whole and done, waiting, skipped */
  for (int y = 100; y < H; y += 12)
    for (int x = 4; x < W; x += 12) {
      const SceneHit hit = hit_at(SCENE_TILES, &now, &view, W, H, x, y);
      const bool is_present = hit.i == now.grid.i && hit.j == now.grid.j;
      if (hit.kind != HIT_TILE || hit.width < 12) continue; /* of the lens: none is between two places */
      n_present += is_present;
      if (is_present) continue;
      const TileState tile = snapshot_tile(&now.grid, hit.i, hit.j);
      const unsigned char *p = cairo_image_surface_get_data(surface) +
                               (int)(hit.y + 4) * cairo_image_surface_get_stride(surface) + 4 * (int)(hit.x + 4);
      const Colour c = theme_light.tile[TILE_COLOUR_DONE];
      const bool is_done = p[0] == c.blue && p[1] == c.green && p[2] == c.red;
      if (tile.kind == TILE_PARTIAL) continue;
      assert_int_equal(is_done, tile.kind == TILE_FULL && tile.progress == TILE_DONE);
      n[tile.kind == TILE_SKIPPED ? 2 : tile.progress == TILE_DONE ? 0 : 1]++;
    }
  assert_true(n[0] > 0 && n[1] > 0 && n[2] > 0 && n_present > 0);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  stage_free(&stage);
  free(pattern);
}

TEST(test_few_tiles_have_no_lens) {
  Stage stage = open_run("fa2", 1024); /* 16 a side */
  Snapshot now;
  SceneHit first = {0};
  stage_snapshot(&stage, stage.n_steps / 2, &now);
  const SceneView view = {0};
  found(&now, 0, 0, &first);
  for (int y = 100; y < H; y += 12) /* all tiles found are of one size: there is one grid */
    for (int x = 4; x < W; x += 12) {
      const SceneHit hit = hit_at(SCENE_TILES, &now, &view, W, H, x, y);
      if (hit.kind == HIT_TILE) assert_true(hit.width == first.width);
    }
  stage_free(&stage);
}

static int let_go(void **state) {
  let_go_of_scratch();
  return let_go_of_fonts(state);
}

GROUP(NULL, let_go)
