/* The player: what the viewer does with inputs and time, without a window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef TILEWALK_WINDOW
#include "viz/window/controls.h"
#include "viz/window/player.h"

/* fontconfig keeps what it has read until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig"; }

/* 8 x 8 tiles, causal, fa2. */
static Player *open_player(void) {
  Player *p = malloc(sizeof *p);
  Error error = {0};
  const Request request = {0};
  assert_non_null(p);
  if (player_open(p, &request, false, &error)) fail_msg("%s", error.message);
  return p;
}

static void close_player(Player *p) {
  player_free(p);
  free(p);
}

static void test_starts_paused_at_the_start(void **state) {
  (void)state;
  Player *p = open_player();
  assert_false(p->is_playing);
  assert_int_equal(p->now.step, 0);
  assert_int_equal(p->now.grid.T_r, 8);
  assert_false(player_tick(p, 10));
  assert_int_equal(p->now.step, 0);
  close_player(p);
}

/* At 5 events a second, 0.2 s are one event; pausing stops the clock; the end pauses. */
static void test_time_plays(void **state) {
  (void)state;
  Player *p = open_player();
  player_input(p, INPUT_PLAY);
  assert_true(player_events_per_s(p) == 5);
  for (int n = 0; n < 10; n++) player_tick(p, 0.1);
  assert_in_range(p->now.step, 4, 5);
  const uint64_t at = p->now.step;
  player_input(p, INPUT_PLAY);
  player_tick(p, 0.2);
  assert_int_equal(p->now.step, at);
  for (int n = 0; n < 40; n++) player_input(p, INPUT_FASTER); /* stops at the fastest */
  player_input(p, INPUT_PLAY);
  player_tick(p, 0.2);
  assert_int_equal(p->now.step, p->now.n_steps);
  assert_false(p->is_playing);
  player_input(p, INPUT_PLAY); /* from the start again */
  assert_int_equal(p->now.step, 0);
  close_player(p);
}

/* The charts asked for again are shown one by one, and the state says which. */
static void test_charts_in_turn(void **state) {
  (void)state;
  Player *p = open_player();
  char line[REQUEST_STATE_BYTES];
  player_input(p, (PlayerInput)(INPUT_SCENE + SCENE_CHARTS));
  assert_int_equal(player_chart(p), CHART_ALL);
  assert_null(strstr(player_state(p, line), "chart="));
  for (int k = 1; k < CHART_KIND_COUNT; k++) {
    player_input(p, (PlayerInput)(INPUT_SCENE + SCENE_CHARTS));
    assert_int_equal(player_chart(p), k);
  }
  assert_non_null(strstr(player_state(p, line), " chart=blocks"));
  player_input(p, (PlayerInput)(INPUT_SCENE + SCENE_CHARTS));
  assert_int_equal(player_chart(p), CHART_ALL);
  assert_true(player_restore(p, line));
  assert_int_equal(player_chart(p), CHART_BLOCKS);
  assert_false(player_restore(p, "N=64 chart=pie"));
  close_player(p);
}

/* Forward and back again is the same snapshot, byte for byte, whatever the stride lands on. */
static void test_back_is_the_way_one_came(void **state) {
  (void)state;
  Player *p = open_player();
  Snapshot *before = malloc(sizeof *before);
  for (int n = 0; n < 100; n++) {
    *before = p->now;
    player_input(p, INPUT_EVENT_NEXT);
    player_input(p, INPUT_EVENT_BACK);
    assert_memory_equal(before, &p->now, sizeof *before);
    player_input(p, INPUT_EVENT_NEXT);
  }
  player_input(p, INPUT_ROW_NEXT);
  const uint64_t row = p->now.step;
  player_input(p, INPUT_TILE_NEXT);
  player_input(p, INPUT_ROW_BACK);
  assert_int_equal(p->now.step, row);
  player_input(p, INPUT_PASS_NEXT); /* fa2 has one pass */
  assert_int_equal(p->now.step, p->now.n_steps);
  free(before);
  close_player(p);
}

/* Jumps land on an event of their kind; where there is none, nothing moves and the player says so. */
static void test_jumps(void **state) {
  (void)state;
  Player *p = open_player();
  static const struct { PlayerInput input; EventKind kind; } JUMPS[] = {
      {INPUT_MAX_NEXT, EVENT_NEW_MAX}, {INPUT_SKIP_NEXT, EVENT_SKIP}, {INPUT_STORE_NEXT, EVENT_STORE}, {INPUT_MAX_BACK, EVENT_NEW_MAX}};
  for (size_t k = 0; k < sizeof JUMPS / sizeof *JUMPS; k++) {
    player_input(p, JUMPS[k].input);
    assert_int_equal(p->now.event.kind, JUMPS[k].kind);
  }
  player_input(p, INPUT_CAUSAL);
  player_seek(p, 7);
  player_input(p, INPUT_SKIP_NEXT);
  assert_int_equal(p->now.step, 7);
  assert_string_equal(p->message, "There is no skipped tile after this");
  close_player(p);
}

/* An impossible choice changes nothing but the message; one that does not fit SRAM is shown, with the block that would. */
static void test_impossible_choices(void **state) {
  (void)state;
  Player *p = open_player();
  char before[REQUEST_STATE_BYTES], after[REQUEST_STATE_BYTES];
  player_state(p, before);
  player_input(p, INPUT_ENTRY);
  player_type(p, "block=0");
  player_accept(p);
  assert_true(p->is_typing && p->is_warning);
  assert_non_null(strstr(p->message, "block"));
  assert_string_equal(player_state(p, after), before);
  player_erase(p);
  player_type(p, "16 d=32");
  player_accept(p);
  assert_false(p->is_typing);
  assert_int_equal(p->now.grid.B_r, 16);
  assert_int_equal(p->now.grid.d, 32);
  assert_true(player_restore(p, "N=4096 d=128 block=1024 scene=tiles step=3"));
  assert_false(p->now.fits);
  assert_int_equal(p->now.step, 3);
  player_input(p, INPUT_BLOCK_LESS);
  assert_non_null(strstr(p->message, "the largest block that fits is"));
  player_input(p, INPUT_EVENT_NEXT); /* still usable */
  assert_false(player_restore(p, "colour=red"));
  close_player(p);
}

static void test_a_state_comes_back(void **state) {
  (void)state;
  Player *p = open_player();
  char line[REQUEST_STATE_BYTES], again[REQUEST_STATE_BYTES];
  player_input(p, INPUT_ALGORITHM_BACK);
  player_input(p, INPUT_N_MORE);
  player_input(p, INPUT_D_LESS);
  player_input(p, INPUT_BLOCK_MORE);
  player_input(p, INPUT_DTYPE_NEXT);
  player_input(p, INPUT_WITHOUT_MAX);
  player_input(p, (PlayerInput)(INPUT_SCENE + SCENE_CAUSAL));
  player_scrub(p, 0.5);
  player_state(p, line);
  const uint64_t step = p->now.step;
  assert_string_equal(p->request.algorithms[0]->name, "fa1");
  assert_int_equal(p->now.grid.N_q, 128);
  player_input(p, INPUT_START);
  player_input(p, INPUT_CAUSAL);
  player_input(p, INPUT_WITHOUT_MAX);
  assert_false(p->now.row.without_max);
  assert_true(player_restore(p, line));
  assert_true(p->without_max && p->now.row.without_max);
  assert_string_equal(player_state(p, again), line);
  assert_int_equal(p->now.step, step);
  assert_int_equal(p->scene, SCENE_CAUSAL);
  close_player(p);
}

/* Every input is reached by mouse, and controls lie within the window and beside one another. */
static void test_controls(void **state) {
  (void)state;
  Player *p = open_player();
  static const int SIZES[][2] = {{320, 180}, {1280, 720}, {1920, 1080}, {700, 900}};
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 16, 16);
  cairo_t *cr = cairo_create(surface);
  Controls *c = malloc(sizeof *c);
  for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
    bool reached[INPUT_COUNT] = {false};
    controls_layout(c, p, cr, SIZES[s][0], SIZES[s][1], 0, false);
    for (int k = 0; k < c->n; k++) {
      const Box b = c->items[k].box;
      assert_true(b.x >= 0 && b.x + b.width <= SIZES[s][0] && b.y >= c->bar.y && b.y + b.height <= SIZES[s][1]);
      assert_ptr_equal(controls_at(c, b.x + b.width / 2, b.y + b.height / 2), &c->items[k]);
      reached[c->items[k].click] = reached[c->items[k].other] = true;
    }
    for (int input = INPUT_PLAY; input < INPUT_COUNT; input++)
      if (input != INPUT_EXPORT_PDF && input != INPUT_SIDE && !reached[input]) fail_msg("input %d is not reached by mouse", input);
  }
  controls_layout(c, p, cr, 1280, 720, 0, false);
  assert_true(controls_scrub_part(c, 0) == 0 && controls_scrub_part(c, 1280) == 1);
  p->presentation = true;
  controls_layout(c, p, cr, 1280, 720, 0, false);
  assert_int_equal(c->n, 0);
  free(c);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  close_player(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_starts_paused_at_the_start), cmocka_unit_test(test_time_plays), cmocka_unit_test(test_charts_in_turn), cmocka_unit_test(test_back_is_the_way_one_came),
      cmocka_unit_test(test_jumps), cmocka_unit_test(test_impossible_choices), cmocka_unit_test(test_a_state_comes_back),
      cmocka_unit_test(test_controls), cmocka_unit_test(test_charts_in_turn),
  };
  return cmocka_run_group_tests_name("view_player", tests, NULL, NULL);
}
#else
int main(void) { return 77; } /* a build without SDL2 has no player */
#endif
