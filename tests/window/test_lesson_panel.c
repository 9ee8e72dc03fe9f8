/* Lessons beside the viewer, without a window: events go in, and what is read on the page, what the player shows and
 * what is kept come out. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv, mkstemps */
#include "tests/support/test.h"

#ifdef TILEWALK_WINDOW
#include "tests/support/alloc_fail.h"
#include "tests/support/lesson_bench.h"

/* ---- The lesson of these tests ---- */

static const char LESSON[] =
    "# All of it\n\n- idea: Everything once.\n- minutes: 5\n- draw: N from 32, 64\n\n"
    "Hello **there**, see a [tile](glossary.md#tile).\n\n- one\n- two\n\n| a | b |\n| --- | ---: |\n| left | 12 "
    "|\n\n```text\ncode {here}\n```\n\n"
    "```state\nalgorithm=fa2 N={N} d=16 block=8 causal=1 scene=tiles\n```\n"
    "```ask sum\nprompt: What is {N} and {N}?\nanswer: 2 * N\nunit: rows\nhint: First {N}.\nhint: Second.\nwrong: N -> "
    "You forgot one.\nexplain: It is {answer}.\n```\n"
    "## Predict\n\n"
    "```ask guess\nkind: predict\nprompt: Larger or smaller?\noption: larger | It is larger.\noption: smaller | It is "
    "smaller.\nanswer: 'larger'\nhint: h\nexplain: So it is.\n```\n"
    "```show\nscene=causal steps=2-20\nLook **here**.\n```\n"
    "```ask which\nprompt: Which one?\noption: first | The first.\noption: second | The second.\noption: third | The "
    "third.\nanswer: 'second'\nhint: h\nwrong: third -> That is the last.\nexplain: Yes.\n```\n"
    "## Order and do\n\n"
    "```ask order\nprompt: In order?\nitem: load | Load.\nitem: multiply | Multiply.\nitem: store | Store.\nanswer: "
    "'load multiply store'\nhint: h\nwrong: store multiply load -> The other way round.\nexplain: Right so.\n```\n"
    "```task\nSkip a tile.\nuntil: view.event.kind == 'skip'\nsolution: step=9\nhint: The first row skips.\nexplain: "
    "It is masked.\n```\n"
    "```task\nJust look.\n```\n"
    "```teacher\nNothing.\n```\n";

static Bench *begin_all(void) { return bench(write_lesson("all.md", LESSON), &FRESH); }

static void type_order(Bench *b, const char *keys) {
  const LessonSession *s = &b->panel.session;
  const int ask = lesson_session_ask(s);
  for (const char *k = keys; *k; k += strspn(k, " ")) {
    const size_t n = strcspn(k, " ");
    for (int place = 0; place < s->questions[ask].n_choices; place++)
      if (strncmp(s->lesson.asks[ask].choice[s->questions[ask].written[place]].key.text, k, n) == 0) click(b, place);
    k += n;
  }
}

/* Wrong and right answers of every kind, by keys and by mouse; a show; a task; and what is kept of it. */
TEST(a_lesson_is_walked_by_keys_and_mouse) {
  Bench *b = begin_all();
  const LessonSession *s = &b->panel.session;
  Player *player = &b->player;
  const int N = (int)player->now.grid.N_q;
  char typed[64];
  assert_true(N == 32 || N == 64);
  READS(b, "All of it\nEverything once.\nHello there, see a tile.");
  READS(b, "one\ntwo\na | b\nleft | 12\ncode {here}\n");
  READS(b, "Question 1 of 4");
  assert_int_equal(player->scene, SCENE_WALK);
  /* typed at once: the question has the focus */
  assert_int_equal(b->panel.focus, WIDGET_FIELD);
  snprintf(typed, sizeof typed, "%d", N);
  assert_true(text(b, typed));
  assert_true(key(b, SIDE_KEY_RETURN));
  READS(b, "✗ Not quite.  You forgot one.");
  assert_true(text(b, "1"));
  snprintf(typed, sizeof typed, "[answer] 1\n"); /* what was graded is replaced */
  READS(b, typed);
  click(b, WIDGET_CHECK);
  READS(b, "✗ Not yet.");
  READS(b, "Hint 1 of 2.  First ");
  click(b, WIDGET_HINT);
  READS(b, "Hint 2 of 2.  Second.");
  assert_null(flow_widget(&b->panel.flow, WIDGET_HINT)); /* there is no third */
  key(b, SIDE_KEY_BACKSPACE);
  text(b, "lots");
  key(b, SIDE_KEY_RETURN);
  assert_int_equal(s->answers[0].tries, 2); /* what cannot be read is no try */
  snprintf(typed, sizeof typed, "%d rows", 2 * N);
  text(b, typed);
  key(b, SIDE_KEY_RETURN);
  snprintf(typed, sizeof typed, "✓ Right.  It is %d.", 2 * N);
  READS(b, typed);
  assert_int_equal(b->panel.focus, WIDGET_NEXT);
  key(b, SIDE_KEY_RETURN); /* the page ends here */
  assert_int_equal(lesson_session_page_number(s), 1);
  key(b, SIDE_KEY_RETURN);
  assert_int_equal(lesson_session_page_number(s), 2);
  /* a prediction, its show, and only then the answer */
  READS(b, "[b] It is smaller.");
  assert_true(text(b, "b"));
  READS(b, "It is smaller.");
  assert_string_equal(s->answers[1].typed, "It is smaller.");
  for (size_t k = 0, n = 0; k < b->panel.flow.n; k++) /* what was predicted stays marked */
    if (b->panel.flow.pieces[k].kind == PIECE_OPTION)
      assert_int_equal(b->panel.flow.pieces[k].look == LOOK_TAKEN, n++ == 1);
  assert_false(says(b, "The answer: It is larger."));
  assert_true(player->is_playing);
  assert_int_equal(player->scene, SCENE_WALK);
  assert_int_equal(player->now.step, 2);
  play_to_the_end(b);
  assert_false(player->is_playing);
  assert_int_equal(player->now.step, 21);
  READS(b, "Look here.");
  READS(b, "The answer: It is larger.  So it is.");
  click(b, WIDGET_PLAY + (int)s->at); /* again */
  assert_true(player->is_playing);
  play_to_the_end(b);
  click(b, WIDGET_NEXT);
  /* choices, by mouse: a known wrong one, then the right one */
  click(b, 2);
  READS(b, "That is the last.");
  click(b, 2); /* a wrong one is not taken twice */
  assert_int_equal(s->answers[2].tries, 1);
  click(b, 1);
  READS(b, "✓ Right.  Yes.");
  click(b, WIDGET_NEXT);
  click(b, WIDGET_NEXT);
  /* an order */
  type_order(b, "store multiply load");
  key(b, SIDE_KEY_TAB);
  click(b, WIDGET_CHECK);
  READS(b, "The other way round.");
  /* by letters, and Return: after the last letter it checks, and before does not */
  int order[ANSWER_CHOICES_MAX];
  lesson_order(&s->questions[3], order);
  for (int k = 0; k < 3; k++) { /* what was graded is replaced */
    text(b, (const char[]){(char)('a' + order[k]), '\0'});
    assert_int_equal(s->answers[3].n_order, k + 1);
    assert_int_equal(s->answers[3].tries, 1);
  }
  key(b, SIDE_KEY_RETURN);
  assert_int_equal(s->answers[3].tries, 2);
  READS(b, "✓ Right.  Right so.");
  key(b, SIDE_KEY_RETURN);
  /* a task: begins at the start, is done in the viewer, whose key Return is */
  READS(b, "○ To do,");
  assert_false(key(b, SIDE_KEY_RETURN));
  assert_false(text(b, "n"));
  assert_false(s->deeds[0].is_done);
  assert_int_equal(player->now.step, 0);
  click(b, WIDGET_HINT);
  READS(b, "The first row skips.");
  for (int n = 0; n < 8; n++) {
    player_input(player, INPUT_EVENT_NEXT);
    look(b);
    assert_false(says(b, "✓ Done."));
  }
  player_input(player, INPUT_EVENT_NEXT);
  look(b);
  READS(b, "✓ Done.  It is masked.");
  click(b, WIDGET_NEXT);
  READS(b, "Just look.");
  click(b, WIDGET_NEXT);
  assert_true(lesson_session_is_finished(s));
  READS(b, "The lesson is done: 3 of 3 right.");
  close_bench(b);
  /* the record is the one that the terminal reads */
  const LessonStanding standing = kept("all");
  assert_true(standing.is_finished && standing.n_right == 3 && standing.n_asked == 4 && standing.seed == 1);
  /* and to open it again takes nothing back */
  b = bench(write_lesson("all.md", LESSON), &(LessonSessionOptions){0});
  READS(b, "Question 1 of 4");
  close_bench(b);
  assert_true(kept("all").is_finished);
}

/* A program: begun by its button, judged at a save, never overwritten. */
TEST(a_program_is_written_in_a_file) {
  char there[256];
  assert_non_null(getcwd(there, sizeof there));
  char *path =
           realpath(write_lesson("write.md", "# Write\n\n- idea: Writing.\n- minutes: 5\n\n```ask mend\nkind: program\n"
                                             "answer: row-maximum\nexplain: Both.\n```\n"),
                    NULL),
       *assets = realpath(getenv("TILEWALK_ASSETS"), NULL);
  setenv("TILEWALK_ASSETS", assets, 1);
  assert_int_equal(chdir(folder), 0);
  Bench *b = bench(path, &FRESH);
  const LessonQuestion *q = &b->panel.session.questions[0];
  READS(b, "[press] Begin the file");
  assert_int_not_equal(access("row-maximum.walk", F_OK), 0);
  key(b, SIDE_KEY_RETURN);
  READS(b, "./row-maximum.walk was written.");
  READS(b, "[press] Check");
  assert_int_equal(b->panel.session.answers[0].tries, 0);
  for (int n = 0; n < 3; n++) look(b);
  key(b, SIDE_KEY_RETURN); /* the start as it is */
  READS(b, "m is wrong");
  FILE *file = fopen("wanted.walk", "w");
  assert_non_null(file);
  fprintf(file, "%s# saved\n", q->work.reference);
  fclose(file);
  key(b, SIDE_KEY_ESCAPE); /* and e edits still: the page says so */
  setenv("TERMINAL", "nosuch", 1);
  for (int k = 0; k < 2; k++) { /* no such editor; one that wants a terminal, and there is none */
    setenv("VISUAL", k ? "nano -w" : "nosuch", 1);
    assert_true(text(b, "e"));
    assert_non_null(strstr(b->player.message, "cannot be started: set VISUAL to an editor, or open "));
  }
  unsetenv("TERMINAL");
  setenv("VISUAL", "cp wanted.walk", 1); /* an editor that saves */
  assert_true(text(b, "e"));
  assert_string_equal(b->player.message, "cp wanted.walk ./row-maximum.walk");
  while (!says(b, "✓ Right.  Both.")) {
    look(b);
    usleep(10000);
  }
  READS(b, "✓ Right.  Both.");
  unsetenv("VISUAL");
  close_bench(b);
  b = bench(path, &FRESH);
  click(b, WIDGET_CHECK);
  READS(b, "✓ Right.  Both."); /* it was there, and is judged as it is */
  close_bench(b);
  assert_int_equal(chdir(there), 0);
  free(path);
  free(assets);
}

/* Skipping shows the answer, as in the terminal. */
/* Without a lesson the list opens when it is asked for; digits, arrows and the mouse choose; what was done is seen in
 * it, and the lesson that is open is gone back to. */
TEST(what_is_done_or_cannot_run_is_passed_over) {
  LessonPicker *picker = calloc(1, sizeof *picker);
  picker->n = 4;
  picker->rows[0].can_run = picker->rows[0].is_finished = picker->rows[2].can_run = true;
  picker->rows[3].can_run = picker->rows[3].is_finished = true;
  assert_int_equal(lesson_picker_next(picker, -1), 2);
  assert_int_equal(lesson_picker_next(picker, 2), 2);
  assert_int_equal(lesson_picker_next(picker, 3), -1);
  free(picker);
}

TEST(only_a_show_of_a_warp_has_lines) {
  char text[WARP_LINES_BYTES] = "?";
  lesson_warp_lines(&(LessonShow){.scene = SCENE_WALK}, text, sizeof text);
  assert_string_equal(text, "");
}

TEST(a_lesson_is_picked_from_the_list) {
  Bench *b = bench(NULL, &(LessonSessionOptions){0});
  const LessonPanel *p = &b->panel;
  assert_true(b->box.width == 0); /* nothing is shown, and keys are the viewer's */
  assert_false(text(b, "3"));
  assert_true(toggle(b));
  assert_true(b->box.width > 0);
  READS(b, "Lessons\n");
  READS(b, "[1] Bytes");
  assert_int_equal(p->picker.n, 9);
  assert_int_equal(p->focus, WIDGET_LESSON); /* the first that is not done */
  assert_true(text(b, "1"));
  assert_true(text(b, "4"));
  assert_int_equal(p->focus, WIDGET_LESSON + 3); /* there is no 14 */
  assert_true(text(b, "3"));
  assert_int_equal(p->focus, WIDGET_LESSON + 2);
  assert_true(key(b, SIDE_KEY_DOWN));
  assert_int_equal(p->focus, WIDGET_LESSON + 3);
  assert_false(text(b, "q")); /* the viewer's */
  assert_true(key(b, SIDE_KEY_UP));
  assert_true(key(b, SIDE_KEY_RETURN));
  assert_string_equal(p->session.lesson.name, "03-the-loop");
  assert_false(p->is_picking);
  click(b, WIDGET_NEXT);
  const size_t at = p->session.at;
  click(b, WIDGET_LIST);
  READS(b, "[3] The whole loop · begun");
  assert_int_equal(p->focus, WIDGET_LESSON + 2);
  assert_true(key(b, SIDE_KEY_ESCAPE)); /* back to the lesson, where it was */
  assert_int_equal(p->session.at, at);
  click(b, WIDGET_LIST);
  click(b, WIDGET_LESSON); /* another, by mouse */
  assert_string_equal(p->session.lesson.name, "01-bytes");
  toggle(b);
  assert_true(p->is_hidden);
  toggle(b); /* the lesson again, not the list */
  assert_false(p->is_picking || p->is_hidden);
  close_bench(b);
}

TEST(what_is_skipped_is_shown) {
  Bench *b = begin_all();
  const LessonSession *s = &b->panel.session;
  click(b, WIDGET_NEXT);
  READS(b, "The answer is ");
  READS(b, "It is ");
  while (lesson_session_ask(s) != 1) click(b, WIDGET_NEXT);
  click(b, WIDGET_NEXT); /* without predicting: the show plays */
  assert_true(b->player.is_playing);
  click(b, WIDGET_NEXT); /* to its end */
  assert_int_equal(b->player.now.step, 21);
  READS(b, "The answer: It is larger.  So it is.");
  while (lesson_session_task(s) < 0) click(b, WIDGET_NEXT);
  click(b, WIDGET_NEXT);
  READS(b, "Such as: step=9.  It is masked.");
  assert_int_equal(b->player.now.event.kind, EVENT_SKIP);
  close_bench(b);
}

/* Next, pressed before anybody looked at what was done in the viewer. */
TEST(a_task_that_is_done_is_not_skipped) {
  Bench *b = begin_all();
  const LessonSession *s = &b->panel.session;
  while (lesson_session_task(s) < 0) click(b, WIDGET_NEXT);
  for (int n = 0; n < 9; n++) player_input(&b->player, INPUT_EVENT_NEXT);
  click(b, WIDGET_NEXT);
  assert_true(s->deeds[0].is_done && !s->deeds[0].is_skipped);
  READS(b, "Just look.");
  close_bench(b);
}

/* Closed and opened again, a lesson goes on where it was; what was answered is shown so. */
TEST(a_lesson_goes_on_where_it_was_left) {
  const LessonSessionOptions same = {0};
  const char *path = write_lesson("all.md", LESSON);
  Bench *b = bench(path, &FRESH);
  char typed[16];
  snprintf(typed, sizeof typed, "%d", 2 * (int)b->player.now.grid.N_q);
  text(b, typed);
  for (int n = 0; n < 3; n++) key(b, SIDE_KEY_RETURN);
  text(b, "a");
  const size_t asked = lesson_block_of(&b->panel.session.lesson, 1);
  close_bench(b); /* predicted, but the show was not seen */
  b = bench(path, &same);
  assert_int_equal(b->panel.session.at, asked);
  assert_int_equal(lesson_session_ask(&b->panel.session), 1);
  assert_int_equal(b->player.scene, SCENE_WALK);
  click(b, WIDGET_BACK);
  READS(b, "✓ You found it: ");
  assert_true(lesson_session_is_review(&b->panel.session));
  click(b, WIDGET_NEXT);
  assert_false(lesson_session_is_review(&b->panel.session));
  text(b, "a");
  play_to_the_end(b);
  READS(b, "✓ As you predicted: It is larger.");
  /* going back and forth does not play or lose anything */
  click(b, WIDGET_BACK);
  assert_false(b->player.is_playing);
  assert_int_equal(b->player.scene, SCENE_WALK);
  click(b, WIDGET_NEXT);
  READS(b, "✓ As you predicted: It is larger.");
  click(b, WIDGET_NEXT);
  assert_int_equal(lesson_session_ask(&b->panel.session), 2);
  /* another program wrote of another lesson meanwhile: that stays */
  LessonProgress other;
  must(lesson_progress_open(&other, stderr, NULL));
  lesson_progress_begin(&other, "another", 3);
  must(lesson_progress_save(&other, NULL));
  lesson_progress_close(&other);
  text(b, "b");
  click(b, WIDGET_NEXT);
  close_bench(b);
  assert_true(kept("another").has_begun);
  assert_int_equal(kept("all").n_right, 2);
}

/* The keys of the viewer are the viewer's, but for what is typed into. */
TEST(keys_are_left_to_the_viewer) {
  Bench *b = begin_all();
  assert_true(text(b, "n 8")); /* typed into the field */
  READS(b, "[answer] n 8");
  assert_false(key(b, SIDE_KEY_RIGHT)); /* the arrows step even so */
  assert_false(key(b, SIDE_KEY_PAGE_DOWN));
  assert_true(key(b, SIDE_KEY_ESCAPE)); /* leaves the field */
  assert_false(text(b, "n"));
  assert_false(text(b, " "));
  assert_false(text(b, "1"));
  assert_false(key(b, SIDE_KEY_RETURN));
  assert_false(key(b, SIDE_KEY_ESCAPE)); /* the window's: it ends */
  READS(b, "[answer] n 8");
  assert_true(key(b, SIDE_KEY_TAB)); /* and into it again */
  assert_int_equal(b->panel.focus, WIDGET_FIELD);
  assert_true(text(b, "x"));
  send(b, (SideEvent){.kind = SIDE_LEFT}); /* the pointer leaves: typing goes on */
  assert_true(text(b, "y"));
  send(b, (SideEvent){.kind = SIDE_LEFT, .button = 1});
  assert_false(text(b, "z")); /* a press on the scene: it does not */
  int seen[] = {0, 0, 0};
  for (int n = 0; n < 10; n++) { /* Tab goes round: field, check, hint, next, the list */
    key(b, SIDE_KEY_TAB);
    seen[0] += b->panel.focus == WIDGET_FIELD;
    seen[1] += b->panel.focus == WIDGET_HINT;
    seen[2] += b->panel.focus == WIDGET_NEXT;
  }
  assert_true(seen[0] == 2 && seen[1] == 2 && seen[2] == 2);
  b->panel.focus = WIDGET_NONE;
  assert_true(control(b, SIDE_KEY_RIGHT));
  READS(b, "The answer is");
  assert_true(text(b, "."));
  assert_true(text(b, "."));
  assert_int_equal(lesson_session_page_number(&b->panel.session), 2);
  assert_true(text(b, ","));
  assert_int_equal(lesson_session_page_number(&b->panel.session), 1);
  assert_true(toggle(b));
  assert_true(lesson_panel_side(&b->panel).width(&b->panel, &b->player, 1280) == 0);
  toggle(b);
  assert_true(lesson_panel_side(&b->panel).width(&b->panel, &b->player, 1280) > 400);
  close_bench(b);
}

/* A row that is given is worked as by hand: 1, 2, 4, 2 and then 5, 1, 3, 1. m = 4, l = 1 + 2 e^-2 + e^-3 = 1.3205; then
 * m = 5, the factor e^-1, l = 1.3205 e^-1 + 1 + e^-2 + 2 e^-4. */
TEST(given_scores_are_worked_in_the_scene) {
  const double first = 1 + 2 * exp(-2) + exp(-3), both = first * exp(-1) + 1 + exp(-2) + 2 * exp(-4);
  Bench *b = bench(write_lesson("scores.md",
                                "# Scores\n\n- idea: x\n- minutes: 5\n\nA row.\n\n```state\nalgorithm=fa2 N=64 d=16 "
                                "block=8 scene=softmax\n```\n\n```show\nscene=softmax "
                                "scores=1,2,4,2,5,1,3,1 block=4\n```\n"),
                   &FRESH);
  const SnapshotRow *row = &b->player.now.row;
  while (b->panel.session.plays == LESSON_NO_BLOCK && !lesson_session_is_finished(&b->panel.session))
    click(b, WIDGET_NEXT);
  assert_int_equal(b->player.scene, SCENE_SOFTMAX);
  assert_int_equal(b->player.now.grid.N_k, 8);
  bool saw_first = false;
  for (int n = 0; n < 1000 && b->panel.session.plays != LESSON_NO_BLOCK; n++) {
    player_tick(&b->player, 0.05);
    if (row->tile == 0 && row->phase == ROW_ACCUMULATED) {
      saw_first = true;
      assert_true(row->m == 4 && fabs(row->l - first) < 1e-6 && row->scores[2] == 4);
    }
    look(b);
  }
  assert_true(saw_first);
  assert_true(row->phase == ROW_FINISHED && row->m == 5 && fabs(row->l - both) < 1e-6 &&
              fabs(row->factor - exp(-1)) < 1e-6);
  assert_true(row->error_ulps < 4); /* the fp64 answer is of the same scores */
  close_bench(b);
}

/* Links of the glossary show their entry. */
TEST(a_term_is_explained_when_it_is_pressed) {
  Bench *b = bench("bytes", &FRESH);
  const FlowLink *link = NULL;
  for (size_t k = 0; k < b->panel.flow.n_links && !link; k++)
    if (strstr(text_store_get(&b->panel.flow.store, b->panel.flow.links[k].target), "#attention"))
      link = &b->panel.flow.links[k];
  assert_non_null(link);
  const Box box = b->panel.flow.pieces[link->piece].box;
  for (double y = 4; y < box.height && !*b->panel.note; y += 6) /* wherever the words were wrapped to */
    for (double x = 4; x < box.width && strcmp(b->panel.note_of, "attention") != 0; x += 6)
      click_at(b, b->panel.view.x + box.x + x, b->panel.view.y + 18 - b->panel.scroll + box.y + y);
  assert_string_equal(b->panel.note_of, "attention");
  assert_non_null(strstr(b->panel.note, "query"));
  key(b, SIDE_KEY_ESCAPE);
  assert_string_equal(b->panel.note, "");
  close_bench(b);
}

/* On a projector a show has the whole screen: Return ends it, and the keys of the viewer stay the viewer's. */
TEST(a_show_on_a_projector_is_ended_by_return) {
  Bench *b = bench(write_lesson("projector.md", LESSON), &FRESH);
  const LessonSession *s = &b->panel.session;
  const SidePanel side = lesson_panel_side(&b->panel);
  b->player.presentation = true;
  click(b, WIDGET_NEXT); /* the answer is shown */
  click(b, WIDGET_NEXT);
  click(b, WIDGET_NEXT);
  assert_true(text(b, "a")); /* the prediction: its show plays */
  assert_true(s->plays != LESSON_NO_BLOCK);
  assert_true(side.width(side.data, &b->player, b->width) <= 0);
  assert_false(text(b, " "));
  assert_false(text(b, "a"));
  assert_false(key(b, SIDE_KEY_TAB));
  assert_false(key(b, SIDE_KEY_RIGHT));
  assert_true(key(b, SIDE_KEY_RETURN));
  assert_true(s->plays == LESSON_NO_BLOCK);
  assert_true(side.width(side.data, &b->player, b->width) > 0);
  READS(b, "As you predicted: It is larger.");
  /* put away, it takes no key */
  toggle(b);
  assert_false(key(b, SIDE_KEY_RETURN));
  assert_false(text(b, "."));
  close_bench(b);
}

/* In presentation mode nothing is smaller than 1/50 of the height. */
TEST(text_is_legible_at_every_size) {
  static const double SIZES[][2] = {{320, 180},   {640, 360},   {1280, 720}, {1024, 768},
                                    {1920, 1080}, {3840, 2160}, {800, 1200}};
  const char *path = write_lesson("all.md", LESSON);
  EACH (k, SIZES)
    for (int presentation = 0; presentation < 2; presentation++) {
      Bench *b;
      must(open_bench(&b, path, &FRESH, SIZES[k][0], SIZES[k][1], fresh_error()));
      b->player.presentation = presentation != 0;
      check_layout(b);
      const double unit = b->panel.flow.unit;
      for (size_t n = 0; n < b->panel.flow.n; n++) {
        const double em = b->panel.flow.pieces[n].size * b->panel.flow.em * unit;
        if (presentation && b->panel.flow.pieces[n].kind != PIECE_CODE && em < 720 * unit / 50)
          fail_msg("text of %g in a window of %g", em, SIZES[k][1]);
      }
      close_bench(b);
    }
}

TEST(long_pages_scroll) {
  Bench *b = bench("one-row", &FRESH);
  while (b->panel.most_scroll <= 0 && !lesson_session_is_finished(&b->panel.session)) click(b, WIDGET_NEXT);
  assert_true(b->panel.most_scroll > 0);
  send(b, (SideEvent){.kind = SIDE_WHEEL, .turns = 100});
  assert_true(b->panel.scroll == 0);
  send(b, (SideEvent){.kind = SIDE_WHEEL, .turns = -100});
  assert_true(b->panel.scroll == b->panel.most_scroll);
  control(b, SIDE_KEY_PAGE_UP);
  assert_true(b->panel.scroll < b->panel.most_scroll);
  close_bench(b);
}

static Status open_once(void *context, Error *error) {
  LessonSession *s = malloc(sizeof *s);
  if (!s) return error_set(error, STATUS_NO_MEMORY, "no memory");
  const Status status = lesson_player_open(s, context, &FRESH, stderr, error);
  lesson_session_close(s);
  free(s);
  return status;
}

TEST(every_allocation_may_fail) {
  char *path = strdup(write_lesson("all.md", LESSON));
  assert_true(alloc_fail_each(open_once, path) >= 10);
  free(path);
}

GROUP(open_folder, close_folder)

#else
int main(void) { return 0; }
#endif
