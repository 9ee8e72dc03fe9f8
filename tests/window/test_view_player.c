/* The player: what the viewer does with inputs and time, without a window. */
#include "tests/support/test.h"

#ifdef TILEWALK_WINDOW
#include "tests/support/player_open.h"
#include "tests/support/canvas.h"
#include "viz/window/controls.h"

/* At 2 events a second, 0.5 s are one event; pausing stops the clock; the end pauses. */
TEST(time_plays) {
  Player *p = open_player();
  player_input(p, INPUT_PLAY);
  assert_true(player_events_per_s(p) == 2);
  for (int n = 0; n < 21; n++) player_tick(p, 0.1);
  assert_int_equal(p->now.step, 4);
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

/* Escape leaves what is open, then the presentation, then asks; only asked again it quits, and any other key goes on.
 */
TEST(escape_asks) {
  Player *p = open_player();
  player_input(p, INPUT_HELP);
  assert_int_equal(player_input(p, INPUT_ESCAPE), INPUT_NONE);
  assert_int_equal(p->open, OPEN_NOTHING);
  player_input(p, INPUT_PRESENTATION);
  assert_int_equal(player_input(p, INPUT_ESCAPE), INPUT_NONE);
  assert_false(p->presentation);
  assert_int_equal(player_input(p, INPUT_ESCAPE), INPUT_NONE);
  assert_non_null(strstr(p->message, "again quits"));
  player_input(p, INPUT_EVENT_NEXT);
  assert_null(strstr(p->message, "again quits"));
  assert_int_equal(player_input(p, INPUT_ESCAPE), INPUT_NONE);
  assert_int_equal(player_input(p, INPUT_ESCAPE), INPUT_QUIT);
  close_player(p);
}

/* Row block 0 of the causal run works on one tile and skips seven: they are one gesture, in the time of one event. */
TEST(skips_take_one_beat) {
  Player *p = open_player();
  player_input(p, INPUT_SKIP_NEXT);
  assert_int_equal(p->now.event.kind, EVENT_SKIP);
  assert_int_equal(p->now.n_skips, 1);
  assert_true(p->beats == 1.0 / 7);
  player_input(p, INPUT_PLAY);
  const uint64_t before = p->now.step;
  for (int n = 0; n < 13; n++) player_tick(p, 0.5 / 13 + 1e-6); /* one beat */
  assert_int_equal(p->now.step, before + 7);
  assert_int_not_equal(p->now.event.kind, EVENT_SKIP);
  close_player(p);
}

/* To any tile: there it is at work, whether it is computed or skipped, and nothing of it has happened before. */
TEST(goes_to_tiles) {
  Player *p = open_player();
  for (int64_t i = 0; i < 8; i++)
    for (int64_t j = 0; j < 8; j++) {
      player_go_to_tile(p, i, j);
      assert_true(p->now.grid.at_work && p->now.grid.i == i && p->now.grid.j == j);
      Snapshot then;
      stage_snapshot(&p->stage, p->now.step - 1, &then);
      if (then.grid.at_work) assert_true(then.grid.i != i || then.grid.j != j);
    }
  close_player(p);
}

/* A run of many steps begins at a speed that ends it within ten minutes. */
TEST(speed_by_length) {
  Player *p = calloc(1, sizeof *p);
  Request request = {0};
  request.shape.N_q = 65536;
  request.shape.d = 128;
  assert_non_null(p);
  must(player_open(p, &request, fresh_error()));
  assert_true((double)p->now.n_steps / player_events_per_s(p) <= 600);
  close_player(p);
}

/* Rows go forward and back, past tiles; a snapshot is the same from both sides: test_scene_snapshot. */
TEST(back_is_the_way_one_came) {
  Player *p = open_player();
  player_input(p, INPUT_ROW_NEXT);
  const uint64_t row = p->now.step;
  player_input(p, INPUT_TILE_NEXT);
  player_input(p, INPUT_ROW_BACK);
  assert_int_equal(p->now.step, row);
  player_input(p, INPUT_PASS_NEXT); /* fa2 has one pass */
  assert_int_equal(p->now.step, p->now.n_steps);
  close_player(p);
}

/* Jumps land on an event of their kind; where there is none, nothing moves and the player says so. */
TEST(jumps) {
  Player *p = open_player();
  static const struct {
    PlayerInput input;
    EventKind kind;
  } JUMPS[] = {{INPUT_MAX_NEXT, EVENT_NEW_MAX},
               {INPUT_SKIP_NEXT, EVENT_SKIP},
               {INPUT_STORE_NEXT, EVENT_STORE},
               {INPUT_MAX_BACK, EVENT_NEW_MAX}};
  EACH (k, JUMPS) {
    player_input(p, JUMPS[k].input);
    assert_int_equal(p->now.event.kind, JUMPS[k].kind);
  }
  player_input(p, INPUT_CAUSAL);
  player_seek(p, 7);
  player_input(p, INPUT_SKIP_NEXT);
  assert_int_equal(p->now.step, 7);
  assert_string_equal(p->message, "There is no skipped tile after this");
  assert_true(
      player_restore(p, "algorithm=standard N=4194304 d=16 block=16 step=9")); /* its maxima are 2^36 tiles away */
  player_input(p, INPUT_MAX_NEXT);
  assert_int_equal(p->now.step, 9);
  assert_string_equal(p->message, "There is no new maximum within 16,777,216 events after this");
  player_input(p, INPUT_END);
  player_input(p, INPUT_MAX_BACK);
  assert_true(p->now.step == p->now.n_steps && strstr(p->message, "within"));
  close_player(p);
}

/* At rest there are ten controls, the scrub bar among them: whole, within the window, beside one another, in letters
 * that are read: on a tall page of 4 % of its width, else of its height, but where twelve pixels are more. */
TEST(controls) {
  Player *p = open_player();
  static const int SIZES[][3] = {{320, 180, 0},   {640, 480, 0},   {1280, 720, 0}, {1280, 720, 400},
                                 {1920, 1080, 0}, {3840, 2160, 0}, {390, 844, 0},  {700, 900, 200}};
  cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, 16, 16);
  Controls *c = malloc(sizeof *c);
  const SceneView plain = {0};
  EACH (s, SIZES) {
    const double width = SIZES[s][0], height = SIZES[s][1], least = 0.04 * fmin(width, height);
    controls_layout(c, p, cr, width, height, SIZES[s][2], false);
    assert_int_equal(c->n, scene_scrub(&plain, c->scene.width, c->scene.height).height > 0 ? 10 : 9);
    assert_true(c->size >= fmax(12, least) - 0.01);
    assert_true(c->bar.height < 4 * c->size && c->bar.y + c->bar.height == height);
    for (int k = 0; k < c->n; k++) {
      const Control *item = &c->items[k];
      const Box b = item->box;
      const Lettering lettering = {.family = theme_light.sans, .size = c->size, .bold = true};
      assert_true(b.x >= 0 && b.x + b.width <= width && b.y + b.height <= height);
      assert_true(item->kind == CONTROL_SCRUB ? b.y + b.height <= c->bar.y : b.y >= c->bar.y);
      assert_ptr_equal(controls_at(c, b.x + b.width / 2, b.y + b.height / 2), item);
      if (item->kind == CONTROL_WORD) assert_true(letter_measure(cr, &lettering, item->label).width <= b.width);
    }
  }
  controls_layout(c, p, cr, 1280, 720, 0, false);
  for (int k = 0; k < c->n; k++) { /* where a script of the window presses */
    const Box b = c->items[k].box;
    printf("%.0f %.0f %s\n", b.x + b.width / 2, b.y + b.height / 2, c->items[k].label);
  }
  assert_true(controls_scrub_part(c, 0) == 0 && controls_scrub_part(c, 1280) == 1);
  player_input(p, INPUT_PRESENTATION);
  controls_layout(c, p, cr, 1280, 720, 0, false);
  assert_true(c->n == 1 && c->items[0].kind == CONTROL_SCRUB); /* the scene's own */
  controls_layout(c, p, cr, 1280, 720, 0, true);               /* pointed at */
  assert_true(c->n == 10 && c->scene.height == 720);
  free(c);
  cairo_destroy(cr);
  close_player(p);
}

/* All that can be done has a key: a character, or one of the window's own; 1 to 6 are the scenes, as the help says. */
TEST(keys) {
  static const PlayerInput SPECIAL[] = {INPUT_EVENT_NEXT, INPUT_EVENT_BACK, INPUT_TILE_NEXT,
                                        INPUT_TILE_BACK,  INPUT_ROW_NEXT,   INPUT_ROW_BACK,
                                        INPUT_PASS_NEXT,  INPUT_PASS_BACK,  INPUT_START,
                                        INPUT_END,        INPUT_PASTE,      INPUT_ESCAPE}; /* arrows, Home, Ctrl+V */
  bool by_key[INPUT_COUNT] = {false};
  for (int character = 1; character < 128; character++) by_key[player_key((char)character)] = true;
  EACH (k, SPECIAL) by_key[SPECIAL[k]] = true;
  for (int input = INPUT_PLAY; input < INPUT_COUNT; input++) {
    const bool is_pressed = input == INPUT_ALGORITHM_EDIT || input == INPUT_N_EDIT;
    if (!by_key[input] && !is_pressed) fail_msg("input %d has no key", input);
  }
  for (int k = 0; k < SCENE_COUNT; k++) assert_int_equal(player_key((char)('1' + k)), INPUT_SCENE + k);
  assert_int_equal(player_key(' '), INPUT_PLAY);
  assert_int_equal(player_key('J'), INPUT_STORY);
  assert_int_equal(player_key('e'), INPUT_EXPORT_PNG);
  assert_int_equal(player_key('A'), INPUT_ALGORITHM_BACK);
  assert_int_equal(player_key('n'), INPUT_N_TWICE);
  assert_int_equal(player_key('c'), INPUT_CAUSAL);
}
#else
int main(void) { return 77; } /* a build without SDL2 has no player */
#endif
