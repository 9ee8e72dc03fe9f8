/* The player's request: what is typed, stepped and chosen, states that come back, files that are written and opened. */
#define _DEFAULT_SOURCE /* mkstemps */
#include "tests/support/test.h"

#ifdef TILEWALK_WINDOW
#include "tests/support/player_open.h"
#include "tests/support/scratch.h"
#include "sim/algorithms/shipped.h"

/* An impossible choice changes nothing but the message; one that does not fit SRAM is shown, with the block that would.
 */
TEST(test_impossible_choices) {
  Player *p = open_player();
  char before[REQUEST_STATE_BYTES], after[REQUEST_STATE_BYTES];
  player_state(p, before);
  player_input(p, INPUT_ENTRY);
  player_type(p, "block=0");
  player_accept(p);
  assert_true(p->open == OPEN_ENTRY && p->is_warning);
  assert_non_null(strstr(p->message, "block"));
  assert_string_equal(player_state(p, after), before);
  player_erase(p);
  player_type(p, "16 d=32");
  player_accept(p);
  assert_int_equal(p->open, OPEN_NOTHING);
  assert_int_equal(p->now.grid.B_r, 16);
  assert_int_equal(p->now.grid.d, 32);
  assert_true(player_restore(p, "N=4096 d=128 block=1024 scene=tiles step=3"));
  assert_false(p->now.fits);
  assert_int_equal(p->now.step, 3);
  player_input(p, INPUT_ENTRY);
  player_type(p, "block=512");
  player_accept(p);
  assert_non_null(strstr(p->message, "the largest block that fits is"));
  player_input(p, INPUT_EVENT_NEXT); /* still usable */
  assert_false(player_restore(p, "colour=red"));
  close_player(p);
}

TEST(test_a_state_comes_back) {
  Player *p = open_player();
  char line[REQUEST_STATE_BYTES], again[REQUEST_STATE_BYTES];
  player_input(p, INPUT_ALGORITHM_BACK);
  player_input(p, INPUT_N_TWICE);
  player_input(p, INPUT_ENTRY);
  player_type(p, "d=8 block=16 dtype=bf16 without-max=1");
  player_accept(p);
  player_input(p, (PlayerInput)(INPUT_SCENE + SCENE_WALK));
  player_scrub(p, 0.5);
  player_state(p, line);
  const uint64_t step = p->now.step;
  assert_string_equal(p->request.algorithms[0]->name, "fa1");
  assert_int_equal(p->now.grid.N_q, 128);
  player_input(p, INPUT_START);
  player_input(p, INPUT_CAUSAL);
  player_input(p, INPUT_ENTRY);
  player_type(p, "without-max=0");
  player_accept(p);
  assert_false(p->now.row.without_max);
  assert_true(player_restore(p, line));
  assert_true(p->now.row.without_max);
  assert_string_equal(player_state(p, again), line);
  assert_int_equal(p->now.step, step);
  assert_int_equal(p->scene, SCENE_WALK);
  close_player(p);
}

/* Every parameter is stepped, typed and chosen; what cannot be says why and leaves things as they were. */
TEST(test_parameters) {
  Player *p = open_player();
  char line[REQUEST_STATE_BYTES], value[PARAMETER_VALUE_BYTES];
  static const struct {
    Parameter which;
    const char *typed, *shown, *in_state;
  } TYPED[] = {{PARAMETER_N, "1K", "1K", " N=1024 "},
               {PARAMETER_D, "32", "32", " d=32 "},
               {PARAMETER_BLOCK_Q, "32", "32", " block-q=32 block-k=8 "},
               {PARAMETER_BLOCK_K, "64", "64", " block-q=32 block-k=64 "},
               {PARAMETER_SRAM, "96 KiB", "96 KiB", " sram=98304 "},
               {PARAMETER_HEADS, "32/8", "32/8", " heads=32 kv-heads=8 "},
               {PARAMETER_HEADS, "4", "4", " heads=4 "},
               {PARAMETER_DTYPE, "fp32", "fp32", " dtype=fp32 "},
               {PARAMETER_ALGORITHM, "fa1", "fa1", "algorithm=fa1 "},
               {PARAMETER_GPU, "h200", "h200", " gpu=h200 "}};
  EACH (k, TYPED) {
    if (!parameter_set(p, TYPED[k].which, TYPED[k].typed)) fail_msg("%s: %s", TYPED[k].typed, p->message);
    assert_string_equal(parameter_value(p, TYPED[k].which, value), TYPED[k].shown);
    if (!strstr(player_state(p, line), TYPED[k].in_state)) fail_msg("no '%s' in '%s'", TYPED[k].in_state, line);
  }
  assert_null(strstr(line, "sram=")); /* the GPU brought its own */
  assert_true(parameter_set(p, PARAMETER_SRAM, "100K") && parameter_set(p, PARAMETER_SRAM, ""));
  assert_null(strstr(player_state(p, line), "sram="));
  Choice choices[CHOICES_MAX];
  int at;
  assert_true(parameter_choices(p, PARAMETER_DTYPE, choices, &at) == DTYPE_COUNT && at == DTYPE_FP32);
  assert_string_equal(choices[at].remark, "4 bytes an element");
  static const struct {
    Parameter which;
    const char *typed, *why;
  } REFUSED[] = {{PARAMETER_N, "0", "N"},           {PARAMETER_N, "many", "many"},
                 {PARAMETER_BLOCK_Q, "-3", "-3"},   {PARAMETER_SRAM, "lots", "lots"},
                 {PARAMETER_HEADS, "7/3", "heads"}, {PARAMETER_GPU, "abacus", "abacus"},
                 {PARAMETER_DTYPE, "int4", "int4"}, {PARAMETER_PRESET, "none", "no such"}};
  EACH (k, REFUSED) {
    assert_false(parameter_set(p, REFUSED[k].which, REFUSED[k].typed));
    assert_true(p->is_warning);
    if (!strstr(p->message, REFUSED[k].why))
      fail_msg("'%s' does not say why '%s' is not possible", p->message, REFUSED[k].typed);
    char after[REQUEST_STATE_BYTES];
    assert_string_equal(player_state(p, after), line);
  }
  close_player(p);
}

/* N goes by twos down to 1, a mask on and off. Algorithms go round, but those that this problem has not: linear wants
 * --causal. */
TEST(test_steps) {
  Player *p = open_player();
  char before[REQUEST_STATE_BYTES], after[REQUEST_STATE_BYTES];
  assert_true(player_restore(p, "algorithm=fa2 N=64 seq-len-k=1 d=16 heads=2 block=8 gpu=h200"));
  player_state(p, before);
  player_input(p, INPUT_N_TWICE);
  assert_true(p->now.grid.N_q == 128 && p->now.grid.N_k == 2);
  player_input(p, INPUT_N_HALF);
  assert_string_equal(player_state(p, after), before);
  player_input(p, INPUT_CAUSAL);
  assert_non_null(strstr(player_state(p, after), " causal=1 "));
  player_input(p, INPUT_CAUSAL);
  assert_string_equal(player_state(p, after), before);
  for (int k = 0; k < 6; k++) player_input(p, INPUT_N_HALF);
  assert_int_equal(p->now.grid.N_q, 1);
  player_input(p, INPUT_N_HALF);
  assert_int_equal(p->now.grid.N_q, 1);
  assert_non_null(strstr(p->message, "nothing smaller"));
  assert_true(player_restore(p, before));
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
TEST(test_l2_that_comes_later) {
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
