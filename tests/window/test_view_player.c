/* The player: what the viewer does with inputs, time and what is typed, without a window. */
#include "tests/support/test.h"

#ifdef TILEWALK_WINDOW
#include "sim/algorithms/shipped.h"
#include "tests/support/canvas.h"
#include "tests/support/player_open.h"
#include "viz/window/controls.h"

/* ---- What is done, and how things stand then ---- */

/* The keys of this list; "~S" S seconds by tenths, "#N" step N, "/P" a part of the way, ":T" typed into a line and
 * taken, "&T" into the one that is open, "@S" the state S; else a key by its letter. */
static const struct {
  const char *word;
  PlayerInput input;
} WORDS[] = {{"Right", INPUT_EVENT_NEXT}, {"Page Down", INPUT_TILE_NEXT},  {"Down", INPUT_ROW_NEXT},
             {"Up", INPUT_ROW_BACK},      {"Shift Down", INPUT_PASS_NEXT}, {"Home", INPUT_START},
             {"End", INPUT_END},          {"Escape", INPUT_ESCAPE}};

static bool act(void *player, const char *word) {
  Player *p = player;
  const char *rest = word + 1;
  EACH (k, WORDS)
    if (strcmp(WORDS[k].word, word) == 0) return player_input(p, WORDS[k].input) == INPUT_NONE;
  if (!*rest) return player_input(p, player_key(*word)) == INPUT_NONE;
  if (*word == '@') return player_restore(p, rest);
  if (*word == '#') player_seek(p, (uint64_t)atoi(rest));
  if (*word == '/') player_scrub(p, atof(rest));
  if (*word == ':') player_input(p, INPUT_ENTRY);
  player_type(p, rest);
  player_accept(p);
  for (int n = *word == '~' ? (int)(10 * atof(rest) + 0.5) : 0; n > 0; n--) player_tick(p, 0.1);
  return true;
}

static const char *standing(void *player) {
  static char line[2 * REQUEST_STATE_BYTES];
  const Player *p = player;
  char state[REQUEST_STATE_BYTES];
  snprintf(line, sizeof line, "%s, %s%s%s: %s", player_state(p, state), p->is_playing ? "plays" : "rests",
           p->presentation ? ", presents" : "", p->open ? ", open" : "", p->message);
  return line;
}

#define WALK(p, ...) test_walk(p, act, standing, (const char *const[]){__VA_ARGS__, NULL})

/* At 2 events a second, 0.5 s are one event; pausing stops the clock; the end pauses. */
TEST(time_plays) {
  Player *p = open_player();
  assert_true(player_events_per_s(p) == 2);
  WALK(p, " |~2.1 => step=4, plays", " |~0.2 => step=4, rests");
  for (int n = 0; n < 40; n++) player_input(p, INPUT_FASTER); /* stops at the fastest */
  WALK(p, " |~0.2 => rests: This is the end");
  assert_int_equal(p->now.step, p->now.n_steps);
  WALK(p, "  => scene=walk, plays"); /* from the start again */
  close_player(p);
}

/* Escape leaves what is open, then the presentation, then asks; only asked again it quits, and any other key goes on.
 */
TEST(escape_asks) {
  Player *p = open_player();
  WALK(p, "? => , open", "Escape => rests: ", "p => presents", "Escape => rests: Presentation is over",
       "Escape => rests: Escape again quits", "Right => step=1, rests: ", "Escape => rests: Escape again quits",
       "!Escape => rests");
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
  WALK(p, "Page Down|Up => rests: ");
  assert_int_equal(p->now.step, row);
  WALK(p, "Shift Down => rests: "); /* fa2 has one pass */
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
  WALK(p, "c|#7|s => step=7, rests: There is no skipped tile after this",
       /* its maxima are 2^36 tiles away */
       "@algorithm=standard N=4194304 d=16 block=16 step=9|m => "
       "step=9, rests: There is no new maximum within 16,777,216 events after this",
       "End|M => rests: There is no new maximum within");
  assert_int_equal(p->now.step, p->now.n_steps);
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
  static const PlayerInput SPECIAL[] = {INPUT_EVENT_NEXT, INPUT_EVENT_BACK, INPUT_TILE_NEXT, INPUT_TILE_BACK,
                                        INPUT_ROW_NEXT,   INPUT_ROW_BACK,   INPUT_PASS_NEXT, INPUT_PASS_BACK,
                                        INPUT_START,      INPUT_END,        INPUT_ESCAPE}; /* arrows, Home */
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

/* An impossible choice changes nothing but the message; one that does not fit SRAM is shown, with the block that would.
 */
TEST(impossible_choices) {
  Player *p = open_player();
  WALK(p, ":block=x => N=64 d=16 causal=1 block=8 scene=walk, rests, open: Not possible: ");
  assert_true(p->is_warning && strstr(p->message, "block"));
  player_erase(p);
  WALK(p, "&16 d=32 => N=64 d=32 causal=1 block=16 scene=walk, rests: ",
       "@N=4096 d=128 block=1024 scene=tiles step=3 => step=3, rests", ":block=512 => the largest block that fits is",
       "Right => rests: ", /* still usable */
       "!@colour=red => Not possible");
  assert_false(p->now.fits);
  close_player(p);
}

TEST(a_state_comes_back) {
  Player *p = open_player();
  char line[REQUEST_STATE_BYTES], again[REQUEST_STATE_BYTES];
  WALK(p, "A|n|:d=8 block=16 dtype=bf16 without-max=1|1|/0.5 => algorithm=fa1 N=128 d=8 ");
  player_state(p, line);
  assert_true(p->now.row.without_max && p->now.step == (p->now.n_steps + 1) / 2);
  WALK(p, "Home|c|:without-max=0 => rests");
  assert_false(p->now.row.without_max);
  assert_true(player_restore(p, line));
  assert_string_equal(player_state(p, again), line);
  close_player(p);
}

/* What cannot be says why and leaves things as they were. Tiles that do not fit are shown with what would, whatever
 * step is asked for. */
TEST(refusals) {
  Player *p = open_player();
  char line[REQUEST_STATE_BYTES], after[REQUEST_STATE_BYTES];
  static const TextSays REFUSED[] = {{"N=0", "N"},
                                     {"N=many", "many"},
                                     {"block-q=-3", "-3"},
                                     {"sram=lots", "lots"},
                                     {"heads=7 kv-heads=3", "heads"},
                                     {"gpu=abacus", "abacus"},
                                     {"dtype=int4", "int4"}};
  player_state(p, line);
  EACH (k, REFUSED) {
    assert_false(player_take_line(p, &p->request, REFUSED[k].text));
    if (!p->is_warning || !strstr(p->message, REFUSED[k].says))
      fail_msg("'%s' does not say why '%s' is not possible", p->message, REFUSED[k].text);
    assert_string_equal(player_state(p, after), line);
  }
  WALK(p, "@algorithm=fa2 N=4096 d=128 block=512 step=40 => the largest block that fits is 148",
       "@algorithm=fa2 N=64 d=16 block=8 step=40000 => Step 40000 is beyond the end");
  close_player(p);
}

/* N goes by twos down to 1, a mask on and off. Algorithms go round, but those that this problem has not: linear wants
 * --causal. */
TEST(steps) {
  Player *p = open_player();
  WALK(p, "@algorithm=fa2 N=64 seq-len-k=1 d=16 heads=2 block=8 gpu=h200|n => N=128 seq-len-k=2 d=16 heads=2 block=8",
       "N => N=64 seq-len-k=1 d=16 heads=2 block=8", "c => causal=1 ", "c => heads=2 block=8",
       "N|N|N => N=8 seq-len-k=1 ", "N|N|N => N=1 ", "N => nothing smaller", " => N=1 ",
       "@algorithm=fa2 N=64 seq-len-k=1 d=16 heads=2 block=8 gpu=h200 => N=64 ");
  for (int direction = 0; direction < 2; direction++) {
    int n = 0;
    do {
      player_input(p, direction ? INPUT_ALGORITHM_BACK : INPUT_ALGORITHM_NEXT);
      assert_true(++n < N_PROGRAMS && strncmp(p->request.algorithms[0]->name, "linear", 6) != 0);
    } while (strcmp(p->request.algorithms[0]->name, "fa2") != 0);
    assert_true(n > N_PROGRAMS / 2);
  }
  close_player(p);
}

/* A page opens before its L2 is known, and a Worker works that out from the page's line. Q, K, V of 5 heads fit L2. */
TEST(l2_that_comes_later) {
  Player *page = open_player(), *worker = open_player();
  char line[REQUEST_STATE_BYTES];
  page->request.l2_later = true;
  assert_true(player_restore(page, "kernel=fa2-sm90 N=1024 heads=5 d=128 gpu=h200"));
  assert_true(page->stage.l2.is_awaited && !page->stage.l2.is_known);
  assert_true(player_restore(worker, player_state(page, line)));
  player_give_l2(page, &worker->stage.l2);
  assert_true(page->stage.l2.is_known && page->stage.l2.hbm_read_bytes == 3 * 5 * 1024 * 128 * 2);
  assert_true(page->stage.l2.least_s > 0 && page->stage.l2.least_s == worker->stage.l2.least_s);
  close_player(page);
  close_player(worker);
}

#else
int main(void) { return 77; } /* a build without SDL2 has no player */
#endif
