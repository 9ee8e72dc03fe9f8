/* Lessons beside the viewer, without a window: events go in, and what is read on the page, what the player shows and
 * what is kept come out. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv, mkstemps */
#include "tests/support/test.h"

#ifdef TILEWALK_WINDOW
#include "tests/support/alloc_fail.h"
#include "tests/support/lesson_bench.h"
#include "sim/base/text_add.h"

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

/* ---- What is done, and what is read then ---- */

/* Words of this list, "@2" for a press on a widget of that number, or else what is typed. */
static const struct {
  const char *word;
  SideEventKind kind; /* a press: on a widget */
  int what;
} WORDS[] = {{"Return", SIDE_KEY, SIDE_KEY_RETURN},
             {"Back", SIDE_KEY, SIDE_KEY_BACKSPACE},
             {"Escape", SIDE_KEY, SIDE_KEY_ESCAPE},
             {"Tab", SIDE_KEY, SIDE_KEY_TAB},
             {"Up", SIDE_KEY, SIDE_KEY_UP},
             {"Down", SIDE_KEY, SIDE_KEY_DOWN},
             {"Right", SIDE_KEY, SIDE_KEY_RIGHT},
             {"^Right", SIDE_KEY, SIDE_KEY_RIGHT},
             {"Page Down", SIDE_KEY, SIDE_KEY_PAGE_DOWN},
             {"<Check>", SIDE_PRESS, WIDGET_CHECK},
             {"<Hint>", SIDE_PRESS, WIDGET_HINT},
             {"<Next>", SIDE_PRESS, WIDGET_NEXT},
             {"<Back>", SIDE_PRESS, WIDGET_BACK},
             {"<List>", SIDE_PRESS, WIDGET_LIST},
             {"toggle", SIDE_TOGGLE, 0},
             {"look", SIDE_LOOK, 0},
             {"away", SIDE_LEFT, 0},
             {"the scene", SIDE_LEFT, 1}};

static bool act(void *bench, const char *word) {
  Bench *b = bench;
  if (*word == '@') return click(b, atoi(word + 1)), true;
  if (strcmp(word, "step") == 0) return player_input(&b->player, INPUT_EVENT_NEXT), true;
  if (strcmp(word, "watch") == 0) return play_to_the_end(b), true;
  EACH (k, WORDS) {
    if (strcmp(WORDS[k].word, word) != 0) continue;
    if (WORDS[k].kind == SIDE_PRESS) return click(b, WORDS[k].what), true;
    return send(
        b, (SideEvent){
               .kind = WORDS[k].kind, .key = (SideKey)WORDS[k].what, .button = WORDS[k].what, .control = *word == '^'});
  }
  return text(b, word);
}

/* The page, and how things stand in a line. */
static const char *standing(void *bench) {
  static char line[1 << 13];
  Bench *b = bench;
  const LessonPanel *p = &b->panel;
  const LessonSession *s = &p->session;
  says(b, "");
  snprintf(line, sizeof line, "%s%s%s%.60s page %d ask %d, %s step %d %s, focus %d, tries", b->words,
           p->is_hidden ? "hidden " : "", p->is_picking ? "list " : "", s->lesson.name,
           p->has_lesson ? lesson_session_page_number(s) : 0, lesson_session_ask(s), scene_name(b->player.scene),
           (int)b->player.now.step, b->player.is_playing ? "plays" : "rests", p->focus);
  for (size_t k = 0; k < s->lesson.n_asks; k++) text_add(line, sizeof line, " %d", s->answers[k].tries);
  for (size_t k = 0; k < s->lesson.n_asks; k++)
    text_add(line, sizeof line, k ? " %d" : ", order %d", s->answers[k].n_order);
  return line;
}

#define WALK(b, ...) test_walk(b, act, standing, (const char *const[]){__VA_ARGS__, NULL})

static Bench *begin_all(void) { return bench(write_lesson("all.md", LESSON), &FRESH); }

/* Wrong and right answers of every kind, by keys and by mouse; a show; a task; and what is kept of it. */
TEST(a_lesson_is_walked_by_keys_and_mouse) {
  Bench *b = begin_all();
  WALK(b, " => All of it\nEverything once.\nHello there, see a tile.", " => one\ntwo\na | b\nleft | 12\ncode {here}\n",
       " => Question 1 of 4", " => walk step 0 rests, focus 101", "32|Return => ✗ Not quite.  You forgot one.",
       "1 => [answer] 1\n", /* what was graded is replaced */
       "<Check> => ✗ Not yet.", " => Hint 1 of 2.  First ", "<Hint> => Hint 2 of 2.  Second.",
       " => -[press] Hint",                                                          /* there is no third */
       "Back|lots|Return => tries 2",                                                /* what cannot be read is no try */
       "64 rows|Return => ✓ Right.  It is 64.", " => focus 105", "Return => page 1", /* the page ends here */
       "Return => page 2",
       /* a prediction, its show, and only then the answer */
       " => [b] It is smaller.", "b => walk step 2 plays", " => It is smaller.", " => -The answer: It is larger.");
  for (size_t k = 0, n = 0; k < b->panel.flow.n; k++) /* what was predicted stays marked */
    if (b->panel.flow.pieces[k].kind == PIECE_OPTION)
      assert_int_equal(b->panel.flow.pieces[k].look == LOOK_TAKEN, n++ == 1);
  WALK(b, "watch => walk step 21 rests", " => Look here.", " => The answer: It is larger.  So it is.",
       "@1005 => step 2 plays", /* again */
       /* choices, by mouse: a known wrong one, then the right one */
       "watch|<Next>|@2 => That is the last.", "@2 => tries 3 1 1 0", /* a wrong one is not taken twice */
       "@1 => ✓ Right.  Yes.",
       /* an order */
       "<Next>|<Next>|@1|@0|@2|Tab|<Check> => The other way round.",
       /* by letters, and Return: after the last letter it checks, and before does not */
       "c => order 0 0 0 1", "a => order 0 0 0 2", "b => order 0 0 0 3", " => tries 3 1 2 1",
       "Return => ✓ Right.  Right so.", " => tries 3 1 2 2",
       /* a task: begins at the start, is done in the viewer, whose key Return is */
       "Return => ○ To do,", "!Return|!n => walk step 0", " => -✓ Done.", "<Hint> => The first row skips.",
       "step|!look|step|!look|step|!look|step|!look|step|!look|step|!look|step|!look|step|!look => -✓ Done.",
       "step|look => ✓ Done.  It is masked.", "<Next> => Just look.", "<Next> => The lesson is done: 3 of 3 right.");
  assert_true(lesson_session_is_finished(&b->panel.session));
  close_bench(b);
  /* the record is the one that the terminal reads */
  const LessonStanding all = kept("all");
  assert_true(all.is_finished && all.n_right == 3 && all.n_asked == 4 && all.seed == 1);
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
  WALK(b, "Return => ./row-maximum.walk was written.", " => [press] Check", "!look|!look|!look => tries 0",
       "Return => m is wrong"); /* the start as it is */
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
  assert_string_equal(b->player.message, "Opened: ./row-maximum.walk");
  for (; !says(b, "✓ Right.  Both."); usleep(10000)) look(b);
  unsetenv("VISUAL");
  close_bench(b);
  b = bench(path, &FRESH);
  WALK(b, "<Check> => ✓ Right.  Both."); /* it was there, and is judged as it is */
  close_bench(b);
  assert_int_equal(chdir(there), 0);
  free(path);
  free(assets);
}

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

/* Without a lesson the list opens when it is asked for; digits, arrows and the mouse choose; what was done is seen in
 * it, and the lesson that is open is gone back to. */
TEST(a_lesson_is_picked_from_the_list) {
  Bench *b = bench(NULL, &(LessonSessionOptions){0});
  assert_true(b->box.width == 0);
  WALK(b, "!3|toggle => Lessons\n", " => [1] Bytes", " => focus 10000", /* the first that is not done */
       "1|4 => focus 10003",                                            /* there is no 14 */
       "3 => focus 10002", "Down|!q => focus 10003", "Up|Return => 03-the-loop page 1", "<Next> => ask 0",
       "<List> => [3] The whole loop · begun", " => list 03-the-loop", " => focus 10002", "Escape => -list",
       " => ask 0",                 /* back to the lesson, where it was */
       "<List>|@10000 => 01-bytes", /* another, by mouse */
       "toggle => hidden 01-bytes", "toggle => -hidden", " => -list");
  assert_true(b->box.width > 0 && b->panel.picker.n == 9);
  close_bench(b);
}

/* As in the terminal. */
TEST(what_is_skipped_is_shown) {
  Bench *b = begin_all();
  WALK(b, "<Next> => The answer is ", " => It is ", "<Next>|<Next> => ask 1",
       "<Next> => plays",    /* without predicting: the show plays */
       "<Next> => step 21 ", /* to its end */
       " => The answer: It is larger.  So it is.", "<Next>|<Next>|<Next>|<Next>|<Next>|<Next> => Skip a tile.",
       "<Next> => Such as: step=9.  It is masked.", " => step 9");
  close_bench(b);
}

/* Next, pressed before anybody looked at what was done in the viewer. */
TEST(a_task_that_is_done_is_not_skipped) {
  Bench *b = begin_all();
  while (lesson_session_task(&b->panel.session) < 0) click(b, WIDGET_NEXT);
  WALK(b, "step|step|step|step|step|step|step|step|step|<Next> => Just look.", " => ✓ Done.", " => -Such as");
  close_bench(b);
}

/* Closed and opened again, a lesson goes on where it was; what was answered is shown so. */
TEST(a_lesson_goes_on_where_it_was_left) {
  const LessonSessionOptions same = {0};
  const char *path = write_lesson("all.md", LESSON);
  Bench *b = bench(path, &FRESH);
  WALK(b, "64|Return|Return|Return|a => plays");
  const size_t asked = lesson_block_of(&b->panel.session.lesson, 1);
  close_bench(b); /* predicted, but the show was not seen */
  b = bench(path, &same);
  assert_int_equal(b->panel.session.at, asked);
  WALK(b, " => page 2 ask 1, walk", "<Back> => ✓ You found it: ", " => page 1", "<Next> => page 2",
       "a|watch => ✓ As you predicted: It is larger.", /* going back and forth does not play or lose anything */
       "<Back> => walk step 0 rests", "<Next> => ✓ As you predicted: It is larger.", "<Next> => ask 2");
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
  WALK(b, "n 8 => [answer] n 8",                          /* typed into the field */
       "!Right|!Page Down => focus 101",                  /* the arrows step even so */
       "Escape|!n|! |!1|!Return|!Escape => [answer] n 8", /* it leaves the field, and then is the window's: it ends */
       "Tab|x => [answer] n 8x",                          /* into it again */
       "away|y => 8xy",                                   /* the pointer leaves: typing goes on */
       "the scene|!z => 8xy",                             /* a press there: it does not */
       /* round: field, check, hint, list, next */
       "Tab => focus 101", "Tab => focus 103", "Tab => focus 104", "Tab => focus 105", "Tab => focus 200",
       "Tab => focus 101", "the scene|^Right => The answer is", ".|. => page 2", ", => page 1", "toggle => hidden",
       "toggle => -hidden");
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
  b->player.presentation = true;
  WALK(b, "<Next>|<Next>|<Next>|a => plays"); /* the prediction: its show */
  assert_true(b->box.width <= 0);
  WALK(b, "! |!a|!Tab|!Right => plays", "Return => rests", " => As you predicted: It is larger.");
  assert_true(b->box.width > 0);
  WALK(b, "toggle|!Return|!. => hidden"); /* put away, it takes no key */
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
  send(b, (SideEvent){.kind = SIDE_KEY, .key = SIDE_KEY_PAGE_UP, .control = true});
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
