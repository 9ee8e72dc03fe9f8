/* Lessons beside the viewer, without a window: events go in, and what is read on the page, what the player shows and what is kept
 * come out. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, setenv, clock_gettime, open_memstream */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef TILEWALK_WINDOW
#include "tests/alloc_fail.h"
#include "viz/window/lesson_panel.h"

/* fontconfig keeps what it has read until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig"; }

static char folder[] = "/tmp/tilewalk-panel-XXXXXX";

static int open_folder(void **state) {
  (void)state;
  return !mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0 || setenv("TILEWALK_ASSETS", "assets", 0) != 0;
}

static int close_folder(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

/* ---- A panel without a window ---- */

typedef struct {
  LessonPanel panel;
  Player player;
  cairo_surface_t *surface;
  cairo_t *cr;
  double width, height;
  Box box;
  char *words;
  size_t n_words;
} Bench;

static void draw(Bench *b) {
  const SidePanel side = lesson_panel_side(&b->panel);
  const double unit = b->width / 1280 < b->height / 720 ? b->width / 1280 : b->height / 720;
  const double width = side.width(side.data, &b->player, b->width, b->height);
  b->box = box_at(b->width - width, 0, width, b->height - 78 * unit);
  if (width > 0) side.draw(side.data, &b->player, b->cr, b->box, unit, &theme_light);
}

static bool send(Bench *b, SideEvent event) {
  const SidePanel side = lesson_panel_side(&b->panel);
  const bool taken = side.event(side.data, &b->player, &event, b->box);
  draw(b);
  return taken;
}

static bool text(Bench *b, const char *typed) {
  bool taken = true;
  for (const char *p = typed; *p; p++) taken = send(b, (SideEvent){.kind = SIDE_TEXT, .text = (const char[]){*p, '\0'}}) && taken;
  return taken;
}

static bool key(Bench *b, SideKey name) { return send(b, (SideEvent){.kind = SIDE_KEY, .key = name}); }
static bool control(Bench *b, SideKey name) { return send(b, (SideEvent){.kind = SIDE_KEY, .key = name, .control = true}); }

static void click_at(Bench *b, double x, double y) {
  send(b, (SideEvent){.kind = SIDE_MOTION, .x = x, .y = y});
  send(b, (SideEvent){.kind = SIDE_PRESS, .x = x, .y = y, .button = 1});
  send(b, (SideEvent){.kind = SIDE_RELEASE, .x = x, .y = y, .button = 1});
}

/* Presses the middle of a widget, where it is drawn. */
static void click(Bench *b, int widget) {
  const LessonPanel *p = &b->panel;
  const FlowPiece *piece = flow_widget(&p->flow, widget);
  Box at = widget == WIDGET_NEXT ? p->next : p->back;
  if (piece) at = (Box){p->view.x + piece->box.x, p->view.y + 18 * p->flow.unit - p->scroll + piece->box.y, piece->box.width, piece->box.height};
  else if (widget != WIDGET_NEXT && widget != WIDGET_BACK) fail_msg("there is no widget %d on the page", widget);
  click_at(b, at.x + at.width / 2, at.y + at.height / 2);
}

static bool says(Bench *b, const char *words) {
  free(b->words);
  FILE *out = open_memstream(&b->words, &b->n_words);
  assert_non_null(out);
  lesson_panel_words(&b->panel, out);
  fclose(out);
  return strstr(b->words, words) != NULL;
}

#define READS(b, text) \
  do { if (!says(b, text)) fail_msg("'%s' is not on the page:\n%s", text, (b)->words); } while (0)

static Status open_bench(Bench **out, const char *name, const LessonSessionOptions *options, double width, double height, Error *error) {
  Bench *b = calloc(1, sizeof *b);
  assert_non_null(b);
  *out = b;
  b->width = width;
  b->height = height;
  b->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
  b->cr = cairo_create(b->surface);
  const Request request = {0};
  assert_int_equal(player_open(&b->player, &request, false, error), STATUS_OK);
  const Status status = lesson_panel_open(&b->panel, name, options, stderr, error);
  if (status) return status;
  lesson_panel_start(&b->panel, &b->player);
  draw(b);
  return STATUS_OK;
}

static Bench *bench(const char *name, const LessonSessionOptions *options) {
  Bench *b;
  Error error = {0};
  if (open_bench(&b, name, options, 1280, 720, &error)) fail_msg("%s", error.message);
  return b;
}

static void close_bench(Bench *b) {
  lesson_panel_close(&b->panel);
  player_free(&b->player);
  cairo_destroy(b->cr);
  cairo_surface_destroy(b->surface);
  free(b->words);
  free(b);
}

static const char *write_lesson(const char *name, const char *lesson) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(lesson, file);
  fclose(file);
  return path;
}

static void play_to_the_end(Bench *b) {
  for (int n = 0; n < 1000 && b->panel.session.plays != LESSON_NO_BLOCK; n++) {
    player_tick(&b->player, 0.1);
    send(b, (SideEvent){.kind = SIDE_LOOK});
  }
}

/* ---- The lesson of these tests ---- */

static const char LESSON[] =
    "# All of it\n\n- idea: Everything once.\n- minutes: 5\n- draw: N from 32, 64\n\n"
    "Hello **there**, see a [tile](glossary.md#tile).\n\n- one\n- two\n\n| a | b |\n| --- | ---: |\n| left | 12 |\n\n```text\ncode {here}\n```\n\n"
    "```state\nalgorithm=fa2 N={N} d=16 block=8 causal=1 scene=tiles\n```\n"
    "```ask sum\nprompt: What is {N} and {N}?\nanswer: 2 * N\nunit: rows\nhint: First {N}.\nhint: Second.\nwrong: N -> You forgot one.\nexplain: It is {answer}.\n```\n"
    "## Predict\n\n"
    "```ask guess\nkind: predict\nprompt: Larger or smaller?\noption: larger | It is larger.\noption: smaller | It is smaller.\nanswer: 'larger'\nhint: h\nexplain: So it is.\n```\n"
    "```show\nscene=causal steps=2-20\nLook **here**.\n```\n"
    "```ask which\nprompt: Which one?\noption: first | The first.\noption: second | The second.\noption: third | The third.\nanswer: 'second'\nhint: h\nwrong: third -> That is the last.\nexplain: Yes.\n```\n"
    "## Order and do\n\n"
    "```ask order\nprompt: In order?\nitem: load | Load.\nitem: multiply | Multiply.\nitem: store | Store.\nanswer: 'load multiply store'\nhint: h\nwrong: store multiply load -> The other way round.\nexplain: Right so.\n```\n"
    "```task\nSkip a tile.\nuntil: view.event.kind == 'skip'\nsolution: step=9\nhint: The first row skips.\nexplain: It is masked.\n```\n"
    "```task\nJust look.\n```\n"
    "```teacher\nNothing.\n```\n";

static const LessonSessionOptions FRESH = {.restart = true, .seed = 1, .has_seed = true};

static void type_order(Bench *b, const char *keys) {
  const LessonSession *s = &b->panel.session;
  const int ask = lesson_session_ask(s);
  for (const char *k = keys; *k; k += strspn(k, " ")) {
    const size_t n = strcspn(k, " ");
    for (int place = 0; place < s->questions[ask].n_choices; place++)
      if (strncmp(lesson_text(&s->lesson, s->lesson.asks[ask].choice[s->questions[ask].written[place]].key), k, n) == 0) click(b, place);
    k += n;
  }
}

/* The places of an order from the smallest rank to the largest. */
static void right_order(const LessonQuestion *q, int *order) {
  for (int n = 0; n < q->n_choices; n++) {
    int next = -1;
    for (int p = 0; p < q->n_choices; p++) {
      bool used = false;
      for (int k = 0; k < n; k++) used = used || order[k] == p;
      if (!used && (next < 0 || q->rank[p] < q->rank[next])) next = p;
    }
    order[n] = next;
  }
}

/* Wrong and right answers of every kind, by keys and by mouse; a show; a task; and what is kept of it. */
static void a_lesson_is_walked_by_keys_and_mouse(void **state) {
  (void)state;
  Bench *b = bench(write_lesson("all.md", LESSON), &FRESH);
  const LessonSession *s = &b->panel.session;
  Player *player = &b->player;
  const int N = (int)player->now.grid.N_q;
  char typed[64];
  assert_true(N == 32 || N == 64);
  READS(b, "All of it\nEverything once.\nHello there, see a tile.");
  READS(b, "one\ntwo\na | b\nleft | 12\ncode {here}\n");
  READS(b, "Question 1 of 4");
  assert_int_equal(player->scene, SCENE_TILES);
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
  key(b, SIDE_KEY_RETURN);            /* the page ends here */
  assert_int_equal(lesson_session_page_number(s), 1);
  key(b, SIDE_KEY_RETURN);
  assert_int_equal(lesson_session_page_number(s), 2);
  /* a prediction, its show, and only then the answer */
  READS(b, "[b] It is smaller.");
  assert_true(text(b, "b"));
  READS(b, "It is smaller.");
  assert_string_equal(s->answers[1].typed, "It is smaller.");
  for (size_t k = 0, n = 0; k < b->panel.flow.n; k++) /* what was predicted stays marked */
    if (b->panel.flow.pieces[k].kind == PIECE_OPTION) assert_int_equal(b->panel.flow.pieces[k].look == FLOW_MAIN, n++ == 1);
  assert_false(says(b, "It is: It is larger."));
  assert_true(player->is_playing);
  assert_int_equal(player->scene, SCENE_CAUSAL);
  assert_int_equal(player->now.step, 2);
  play_to_the_end(b);
  assert_false(player->is_playing);
  assert_int_equal(player->now.step, 21);
  READS(b, "Look here.");
  READS(b, "It is: It is larger.  So it is.");
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
  right_order(&s->questions[3], order);
  for (int k = 0; k < 3; k++) key(b, SIDE_KEY_BACKSPACE);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(s->answers[3].n_order, k);
    assert_int_equal(s->answers[3].tries, 1);
    text(b, (const char[]){(char)('a' + order[k]), '\0'});
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
    send(b, (SideEvent){.kind = SIDE_LOOK});
    assert_false(says(b, "✓ Done."));
  }
  player_input(player, INPUT_EVENT_NEXT);
  send(b, (SideEvent){.kind = SIDE_LOOK});
  READS(b, "✓ Done.  It is masked.");
  click(b, WIDGET_NEXT);
  READS(b, "Just look.");
  click(b, WIDGET_NEXT);
  assert_true(lesson_session_is_finished(s));
  READS(b, "The lesson is done: 3 of 3 right.");
  close_bench(b);
  /* the record is the one that the terminal reads */
  LessonProgress progress;
  assert_int_equal(lesson_progress_open(&progress, stderr, NULL), STATUS_OK);
  const LessonStanding standing = lesson_progress_of(&progress, "all");
  assert_true(standing.is_finished && standing.n_right == 3 && standing.n_asked == 4 && standing.seed == 1);
  lesson_progress_close(&progress);
  /* and to open it again takes nothing back */
  b = bench(write_lesson("all.md", LESSON), &(LessonSessionOptions){0});
  READS(b, "Question 1 of 4");
  close_bench(b);
  assert_int_equal(lesson_progress_open(&progress, stderr, NULL), STATUS_OK);
  assert_true(lesson_progress_of(&progress, "all").is_finished);
  lesson_progress_close(&progress);
}

/* Skipping shows the answer, as in the terminal. */
static void what_is_skipped_is_shown(void **state) {
  (void)state;
  Bench *b = bench(write_lesson("all.md", LESSON), &FRESH);
  const LessonSession *s = &b->panel.session;
  click(b, WIDGET_NEXT);
  READS(b, "The answer is ");
  READS(b, "It is ");
  while (lesson_session_ask(s) != 1) click(b, WIDGET_NEXT);
  click(b, WIDGET_NEXT); /* without predicting: the show plays */
  assert_true(b->player.is_playing);
  click(b, WIDGET_NEXT); /* to its end */
  assert_int_equal(b->player.now.step, 21);
  READS(b, "It is: It is larger.  So it is.");
  while (lesson_session_task(s) < 0) click(b, WIDGET_NEXT);
  click(b, WIDGET_NEXT);
  READS(b, "Such as: step=9.  It is masked.");
  assert_int_equal(b->player.now.event.kind, EVENT_SKIP);
  close_bench(b);
}

/* Closed and opened again, a lesson goes on where it was; what was answered is shown so. */
static void a_lesson_goes_on_where_it_was_left(void **state) {
  (void)state;
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
  assert_int_equal(b->player.scene, SCENE_TILES);
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
  assert_int_equal(b->player.scene, SCENE_TILES);
  click(b, WIDGET_NEXT);
  READS(b, "✓ As you predicted: It is larger.");
  click(b, WIDGET_NEXT);
  assert_int_equal(lesson_session_ask(&b->panel.session), 2);
  /* another program wrote of another lesson meanwhile: that stays */
  LessonProgress other;
  assert_int_equal(lesson_progress_open(&other, stderr, NULL), STATUS_OK);
  lesson_progress_begin(&other, "another", 3);
  assert_int_equal(lesson_progress_save_lesson(&other, "another", NULL), STATUS_OK);
  lesson_progress_close(&other);
  text(b, "b");
  click(b, WIDGET_NEXT);
  close_bench(b);
  assert_int_equal(lesson_progress_open(&other, stderr, NULL), STATUS_OK);
  assert_true(lesson_progress_of(&other, "another").has_begun);
  assert_int_equal(lesson_progress_of(&other, "all").n_right, 2);
  lesson_progress_close(&other);
}

/* The keys of the viewer are the viewer's, but for what is typed into. */
static void keys_are_left_to_the_viewer(void **state) {
  (void)state;
  Bench *b = bench(write_lesson("all.md", LESSON), &FRESH);
  assert_true(text(b, "n 8"));                   /* typed into the field */
  READS(b, "[answer] n 8");
  assert_false(key(b, SIDE_KEY_RIGHT));          /* the arrows step even so */
  assert_false(key(b, SIDE_KEY_PAGE_DOWN));
  assert_true(key(b, SIDE_KEY_ESCAPE));          /* leaves the field */
  assert_false(text(b, "n"));
  assert_false(text(b, " "));
  assert_false(text(b, "1"));
  assert_false(key(b, SIDE_KEY_RETURN));
  assert_false(key(b, SIDE_KEY_ESCAPE));         /* the window's: it ends */
  READS(b, "[answer] n 8");
  assert_true(key(b, SIDE_KEY_TAB));             /* and into it again */
  assert_int_equal(b->panel.focus, WIDGET_FIELD);
  assert_true(text(b, "x"));
  send(b, (SideEvent){.kind = SIDE_LEFT});       /* the pointer leaves: typing goes on */
  assert_true(text(b, "y"));
  send(b, (SideEvent){.kind = SIDE_LEFT, .button = 1});
  assert_false(text(b, "z"));                    /* a press on the scene: it does not */
  int seen[] = {0, 0, 0};
  for (int n = 0; n < 8; n++) {                  /* Tab goes round */
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
  assert_true(send(b, (SideEvent){.kind = SIDE_TOGGLE}));
  assert_true(lesson_panel_side(&b->panel).width(&b->panel, &b->player, 1280, 720) == 0);
  send(b, (SideEvent){.kind = SIDE_TOGGLE});
  assert_true(lesson_panel_side(&b->panel).width(&b->panel, &b->player, 1280, 720) > 400);
  close_bench(b);
}

/* A row that is given is worked as by hand: 1, 2, 4, 2 and then 5, 1, 3, 1. m = 4, l = 1 + 2 e^-2 + e^-3 = 1.3205; then m = 5, the factor e^-1,
 * l = 1.3205 e^-1 + 1 + e^-2 + 2 e^-4. */
static void given_scores_are_worked_in_the_scene(void **state) {
  (void)state;
  const double first = 1 + 2 * exp(-2) + exp(-3), both = first * exp(-1) + 1 + exp(-2) + 2 * exp(-4);
  Bench *b = bench("online-softmax", &FRESH);
  const SnapshotRow *row = &b->player.now.row;
  while (b->panel.session.plays == LESSON_NO_BLOCK && !lesson_session_is_finished(&b->panel.session)) click(b, WIDGET_NEXT);
  assert_int_equal(b->player.scene, SCENE_SOFTMAX);
  assert_int_equal(b->player.now.grid.N_k, 8);
  bool saw_first = false;
  for (int n = 0; n < 1000 && b->panel.session.plays != LESSON_NO_BLOCK; n++) {
    player_tick(&b->player, 0.05);
    if (row->tile == 0 && row->phase == ROW_ACCUMULATED) {
      saw_first = true;
      assert_true(row->m == 4 && fabs(row->l - first) < 1e-6 && row->scores[2] == 4);
    }
    send(b, (SideEvent){.kind = SIDE_LOOK});
  }
  assert_true(saw_first);
  assert_true(row->phase == ROW_FINISHED && row->m == 5 && fabs(row->l - both) < 1e-6 && fabs(row->factor - exp(-1)) < 1e-6);
  assert_true(row->error_ulps < 4); /* the fp64 answer is of the same scores */
  close_bench(b);
}

/* Links of the glossary show their entry. */
static void a_term_is_explained_when_it_is_pressed(void **state) {
  (void)state;
  Bench *b = bench("tiles", &FRESH);
  const FlowLink *link = NULL;
  for (size_t k = 0; k < b->panel.flow.n_links && !link; k++)
    if (strstr(text_store_get(&b->panel.flow.store, b->panel.flow.links[k].target), "#sram")) link = &b->panel.flow.links[k];
  assert_non_null(link);
  const Box box = b->panel.flow.pieces[link->piece].box;
  for (double y = 4; y < box.height && !*b->panel.note; y += 6) /* wherever the words were wrapped to */
    for (double x = 4; x < box.width && strcmp(b->panel.note_of, "SRAM") != 0; x += 6)
      click_at(b, b->panel.view.x + box.x + x, b->panel.view.y + 18 - b->panel.scroll + box.y + y);
  assert_string_equal(b->panel.note_of, "SRAM");
  assert_non_null(strstr(b->panel.note, "memory"));
  key(b, SIDE_KEY_ESCAPE);
  assert_string_equal(b->panel.note, "");
  close_bench(b);
}

/* ---- Layout ---- */

static void check_layout(Bench *b) {
  const Flow *f = &b->panel.flow;
  draw(b);
  const double column = b->panel.view.width;
  for (size_t k = 0; k < f->n; k++) {
    const FlowPiece *p = &f->pieces[k];
    if (p->box.x < 0 || p->box.x + p->box.width > column + 1) fail_msg("piece %zu goes from %g to %g in %g", k, p->box.x, p->box.x + p->box.width, column);
    assert_true(p->box.height > 0);
    for (size_t other = 0; other < k; other++) {
      const Box o = f->pieces[other].box;
      const bool apart = p->box.y >= o.y + o.height || p->box.x >= o.x + o.width;
      if (!apart) fail_msg("pieces %zu and %zu overlap", other, k);
    }
  }
  assert_true(b->panel.next.x > b->panel.back.x + b->panel.back.width);
  assert_true(b->panel.next.y >= b->panel.view.y + b->panel.view.height && b->panel.next.y + b->panel.next.height <= b->box.y + b->box.height);
}

/* All 15 lessons, from start to end, every page laid out; nothing overlaps, and every text has its size. */
static void every_lesson_is_walked_and_laid_out(void **state) {
  (void)state;
  LessonFiles *files = malloc(sizeof *files);
  Error error = {0};
  assert_non_null(files);
  assert_int_equal(lesson_files(files, &error), STATUS_OK);
  assert_true(files->n >= 15);
  for (int k = 0; k < files->n; k++) {
    Bench *b = bench(files->names[k], &FRESH);
    int n = 0;
    for (; n < 200 && !lesson_session_is_finished(&b->panel.session); n++) {
      click(b, WIDGET_NEXT);
      check_layout(b);
      if (b->panel.session.error.status) fail_msg("%s", b->panel.session.error.message);
    }
    if (!lesson_session_is_finished(&b->panel.session)) fail_msg("%s does not end", files->names[k]);
    for (; lesson_session_can_go_back(&b->panel.session); n++) click(b, WIDGET_BACK), check_layout(b);
    assert_int_equal(lesson_session_page_number(&b->panel.session), 1);
    close_bench(b);
  }
  free(files);
}

/* What a learner types for a number; the letters of an order are pressed, a choice by its letter. */
static void answer(Bench *b, int ask, double value, int choice, const int *order) {
  const LessonSession *s = &b->panel.session;
  const LessonQuestion *q = &s->questions[ask];
  char typed[64];
  if (s->lesson.asks[ask].kind == LESSON_NUMBER) {
    snprintf(typed, sizeof typed, "%.15g", value / q->key.unit.factor);
    b->panel.focus = WIDGET_FIELD;
    text(b, typed);
    key(b, SIDE_KEY_RETURN);
  } else if (s->lesson.asks[ask].kind == LESSON_CHOICE) {
    text(b, (const char[]){(char)('a' + choice), '\0'});
  } else {
    while (s->answers[ask].n_order > 0) key(b, SIDE_KEY_BACKSPACE);
    for (int k = 0; k < q->n_choices; k++) text(b, (const char[]){(char)('a' + order[k]), '\0'});
    key(b, SIDE_KEY_RETURN);
  }
}

/* Every known wrong answer, then the right one; returns how many diagnoses there were. */
static int answer_all_ways(Bench *b, int ask) {
  const LessonSession *s = &b->panel.session;
  const LessonQuestion *q = &s->questions[ask];
  const LessonAnswer *a = &s->answers[ask];
  int order[ANSWER_CHOICES_MAX], n = 0;
  const bool is_prediction = s->lesson.asks[ask].is_prediction;
  for (int k = 0; !is_prediction && k < s->lesson.asks[ask].n_wrong; k++) {
    const LessonWrong *w = &q->wrong[k];
    if (!w->is_known) continue;
    answer(b, ask, w->value, w->choice, w->order);
    if (!a->has_verdict || a->verdict != LESSON_DIAGNOSED || a->is_resolved) fail_msg("%s, '%s': wrong answer %d is %s", s->lesson.file, s->lesson.asks[ask].id, k, lesson_verdict_name(a->verdict));
    READS(b, "✗ Not quite.");
    n++;
  }
  right_order(q, order);
  answer(b, ask, q->key.low, q->right, order);
  if (!a->is_resolved || !a->is_right) fail_msg("%s, '%s': the right answer is %s: %s", s->lesson.file, s->lesson.asks[ask].id, lesson_verdict_name(a->verdict), a->said);
  return n;
}

/* Types the solution into the viewer, as a learner would after Return. */
static void solve_task(Bench *b, int task) {
  LessonSession *s = &b->panel.session;
  char change[LESSON_STATE_BYTES];
  Error error = {0};
  assert_false(s->deeds[task].is_done);
  if (lesson_task_solution(&s->run, &s->lesson.tasks[task], change, sizeof change, &error)) fail_msg("%s", error.message);
  player_input(&b->player, INPUT_ENTRY);
  player_type(&b->player, change);
  player_accept(&b->player);
  send(b, (SideEvent){.kind = SIDE_LOOK});
  if (!s->deeds[task].is_done || s->deeds[task].is_skipped) fail_msg("%s: '%s' does not do the task; %s", s->lesson.file, change, b->player.message);
  READS(b, "✓ Done.");
}

/* The whole course as the most thorough of learners goes through it: every known wrong answer, every right one, every show to its
 * end, every task done in the viewer. */
static void every_question_and_task_of_the_course_is_answered(void **state) {
  (void)state;
  LessonFiles *files = malloc(sizeof *files);
  Error error = {0};
  int n_wrong = 0, n_right = 0, n_tasks = 0;
  assert_non_null(files);
  assert_int_equal(lesson_files(files, &error), STATUS_OK);
  for (int k = 0; k < files->n; k++) {
    Bench *b = bench(files->names[k], &FRESH);
    const LessonSession *s = &b->panel.session;
    for (int n = 0; n < 300 && !lesson_session_is_finished(s); n++) {
      const int ask = lesson_session_ask(s), task = lesson_session_task(s);
      if (ask >= 0) n_wrong += answer_all_ways(b, ask), n_right++;
      else if (task >= 0) solve_task(b, task), n_tasks++;
      else if (s->plays != LESSON_NO_BLOCK) play_to_the_end(b);
      else click(b, WIDGET_NEXT);
      if (s->error.status) fail_msg("%s", s->error.message);
    }
    if (!lesson_session_is_finished(s)) fail_msg("%s does not end", files->names[k]);
    char words[64];
    snprintf(words, sizeof words, "The lesson is done: %d of %d right.", lesson_n_counted(&s->lesson), lesson_n_counted(&s->lesson));
    READS(b, words);
    close_bench(b);
  }
  print_message("%d right answers, %d diagnosed wrong ones, %d tasks\n", n_right, n_wrong, n_tasks);
  assert_true(n_right >= 15 * 3 && n_wrong >= 40 && n_tasks >= 10);
  free(files);
}

/* On a projector a show has the whole screen: Return ends it, and the keys of the viewer stay the viewer's. */
static void a_show_on_a_projector_is_ended_by_return(void **state) {
  (void)state;
  Bench *b = bench(write_lesson("projector.md", LESSON), &FRESH);
  const LessonSession *s = &b->panel.session;
  const SidePanel side = lesson_panel_side(&b->panel);
  b->player.presentation = true;
  click(b, WIDGET_NEXT); /* the answer is shown */
  click(b, WIDGET_NEXT);
  click(b, WIDGET_NEXT);
  assert_true(text(b, "a")); /* the prediction: its show plays */
  assert_true(s->plays != LESSON_NO_BLOCK);
  assert_true(side.width(side.data, &b->player, b->width, b->height) <= 0);
  assert_false(text(b, " "));
  assert_false(text(b, "a"));
  assert_false(key(b, SIDE_KEY_TAB));
  assert_false(key(b, SIDE_KEY_RIGHT));
  assert_true(key(b, SIDE_KEY_RETURN));
  assert_true(s->plays == LESSON_NO_BLOCK);
  assert_true(side.width(side.data, &b->player, b->width, b->height) > 0);
  READS(b, "As you predicted: It is larger.");
  /* put away, it takes no key */
  send(b, (SideEvent){.kind = SIDE_TOGGLE});
  assert_false(key(b, SIDE_KEY_RETURN));
  assert_false(text(b, "."));
  close_bench(b);
}

/* In presentation mode nothing is smaller than 1/50 of the height. */
static void text_is_legible_at_every_size(void **state) {
  (void)state;
  static const double SIZES[][2] = {{320, 180}, {640, 360}, {1280, 720}, {1024, 768}, {1920, 1080}, {3840, 2160}, {800, 1200}};
  const char *path = write_lesson("all.md", LESSON);
  for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++)
    for (int presentation = 0; presentation < 2; presentation++) {
      Bench *b;
      Error error = {0};
      if (open_bench(&b, path, &FRESH, SIZES[k][0], SIZES[k][1], &error)) fail_msg("%s", error.message);
      b->player.presentation = presentation != 0;
      check_layout(b);
      const double unit = b->panel.flow.unit;
      for (size_t n = 0; n < b->panel.flow.n; n++) {
        const double em = b->panel.flow.pieces[n].size * b->panel.flow.em * unit;
        if (presentation && b->panel.flow.pieces[n].kind != PIECE_CODE && em < 720 * unit / 50) fail_msg("text of %g in a window of %g", em, SIZES[k][1]);
      }
      close_bench(b);
    }
}

static void long_pages_scroll(void **state) {
  (void)state;
  Bench *b = bench("online-softmax", &FRESH);
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

/* ---- Other people's lessons ---- */

#ifdef __SANITIZE_ADDRESS__
#define LIMIT_S 4.0 /* the sanitizers take their time */
#else
#define LIMIT_S 1.0
#endif

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define HEAD "# T\n\n- idea: x\n- minutes: 5\n\n"

static void hostile_lessons_are_refused_at_once(void **state) {
  (void)state;
  static const char *const ROWS[][2] = {
      {HEAD "{(function() while true do end end)()}\n", "h.md:6: the expression does too much work"},
      {HEAD "```ask a\nprompt: p\nanswer: os.execute('true')\nhint: h\n```\n", "h.md:8: there is no name 'os'"},
      {HEAD "```state\nN=0\n```\n", "h.md:7: "},
      {HEAD "```state\ngpu=/etc/passwd\n```\n", "h.md:7: "},
      {HEAD "```state\nN=64 d=16 block=8\n```\n```show\nscene=tiles steps=100000-100001\n```\n", "h.md:10: steps begin at 100000"},
      {HEAD "```state\nN=2G d=2G\n```\n```show\nscene=softmax\n```\n", ""},
      {HEAD "```task\nDo.\nuntil: (function() while true do end end)()\nsolution: step=1\nhint: h\n```\n", "h.md:8: the expression does too much work"},
      {HEAD "```ask a\nprompt: p\nanswer: 1\nhint: {nothing}\n```\n", "h.md:9: "},
      {HEAD "bad \xFF byte\n", "h.md:6: "},
      {"no title\n", "h.md:1: "},
      {HEAD "- needs: teleport\n", ""},
  };
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    Bench *b;
    Error error = {0};
    const double began = seconds();
    const Status status = open_bench(&b, write_lesson("h.md", ROWS[k][0]), &FRESH, 640, 360, &error);
    if (seconds() - began > LIMIT_S) fail_msg("row %zu took %.2f s", k, seconds() - began);
    if (*ROWS[k][1] && (!status || strncmp(error.message, ROWS[k][1], strlen(ROWS[k][1])) != 0)) fail_msg("row %zu: %s", k, error.message);
    close_bench(b);
  }
  Bench *b;
  Error error = {0};
  assert_int_not_equal(open_bench(&b, "none.md", &FRESH, 640, 360, &error), STATUS_OK);
  assert_non_null(strstr(error.message, "none.md"));
  close_bench(b);
}

/* As much text as a file may hold, of the kinds that are slow to lay out. */
static void endless_pages_are_cut(void **state) {
  (void)state;
  static const char *const UNITS[] = {"word ", "longwordwithoutanyblank", "**b** `c` ", "| a ", "\n\n- x ", "\xE4\xB8\x80\xD7\x90\xCC\x81 ", "\n\n```\nx\n```\n", "a\n\n", "[l](m) "};
  for (size_t u = 0; u < sizeof UNITS / sizeof *UNITS; u++) {
    char *lesson = malloc((1 << 18) + 64), *p = lesson + sprintf(lesson, HEAD);
    assert_non_null(lesson);
    if (UNITS[u][0] == '|') p += sprintf(p, "| a | b |\n| --- | --- |\n");
    for (size_t line = 0, block = 0; p - lesson < (1 << 18) - 400;) {
      const size_t n = strlen(UNITS[u]);
      memcpy(p, UNITS[u], n + 1);
      p += n;
      line += n;
      block += n;
      if (line > 1500) *p++ = '\n', line = 0;
      if (block > 15000) p += sprintf(p, "\n\n```state\nN=64\n```\n"), block = 0;
    }
    Bench *b;
    Error error = {0};
    const double began = seconds();
    const Status status = open_bench(&b, write_lesson("long.md", lesson), &FRESH, 1280, 720, &error);
    const double took = seconds() - began;
    if (took > LIMIT_S) fail_msg("'%s' took %.2f s", UNITS[u], took);
    if (status) assert_true(strncmp(error.message, "long.md:", 8) == 0);
    close_bench(b);
    free(lesson);
  }
}

/* As many states and conditions as a lesson may hold, all of them slow: opening it and playing its first frames still takes less than a
 * second. */
static void many_slow_states_and_tasks_take_no_time(void **state) {
  (void)state;
  static const char STATE[] = "```state\nalgorithm=fa2 N=262144 d=128 heads=64 block=64 gpu=h200 scene=hierarchy\n```\n";
  static const char TASK[] = "```task\nDo.\nuntil: view.row.m_grew and #events{N=512, d=64, block=32} < 0\nsolution: step=100000\nhint: h\n```\n";
  char *lesson = malloc(1 << 17);
  assert_non_null(lesson);
  for (int tasks = 0; tasks < 2; tasks++) {
    char *p = lesson + sprintf(lesson, HEAD "Text.\n\n");
    for (int k = 0; k < (tasks ? 39 : 190); k++) p += sprintf(p, "%s", k > 0 && tasks ? TASK : STATE);
    const char *path = write_lesson("slow.md", lesson);
    Bench *b;
    Error error = {0};
    const double began = seconds();
    if (open_bench(&b, path, &FRESH, 640, 360, &error)) fail_msg("%s", error.message);
    player_input(&b->player, INPUT_PLAY);
    for (int n = 0; n < 10; n++) {
      player_tick(&b->player, 0.1);
      send(b, (SideEvent){.kind = SIDE_LOOK});
    }
    if (seconds() - began > LIMIT_S) fail_msg("%s: %.2f s", tasks ? "tasks" : "states", seconds() - began);
    close_bench(b);
  }
  free(lesson);
}

/* The lesson of the author's guide, as it stands there, works here as in the terminal. */
static void the_lesson_of_the_guide_runs(void **state) {
  (void)state;
  static char guide[1 << 16];
  FILE *file = fopen("lessons/README.md", "r");
  assert_non_null(file);
  guide[fread(guide, 1, sizeof guide - 1, file)] = '\0';
  fclose(file);
  char *begin = strstr(guide, "````markdown\n"), *end = begin ? strstr(begin + 13, "````\n") : NULL;
  assert_non_null(end);
  *end = '\0';
  int n_lines = 0;
  for (const char *p = begin + 13; p < end; p++) n_lines += *p == '\n';
  assert_true(n_lines < 30);
  Bench *b = bench(write_lesson("guide.md", begin + 13), &FRESH);
  text(b, "a"); /* Q: a wrong prediction */
  play_to_the_end(b);
  READS(b, "It is: K");
  key(b, SIDE_KEY_RETURN);
  text(b, "1");
  key(b, SIDE_KEY_RETURN);
  READS(b, "That would be so if all of Q fitted");
  char typed[16];
  snprintf(typed, sizeof typed, "%d", (int)b->player.now.grid.N_q / 128);
  text(b, typed);
  key(b, SIDE_KEY_RETURN);
  READS(b, "✓ Right.");
  key(b, SIDE_KEY_RETURN);
  READS(b, "The lesson is done: 1 of 1 right.");
  close_bench(b);
}

static Status open_once(void *context, Error *error) {
  LessonSession *s = malloc(sizeof *s);
  if (!s) return error_set(error, STATUS_NO_MEMORY, "no memory");
  const Status status = lesson_session_open(s, context, &FRESH, stderr, error);
  lesson_session_close(s);
  free(s);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  char *path = strdup(write_lesson("all.md", LESSON));
  assert_true(alloc_fail_each(open_once, path) >= 10);
  free(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lesson_is_walked_by_keys_and_mouse),
      cmocka_unit_test(what_is_skipped_is_shown),
      cmocka_unit_test(a_lesson_goes_on_where_it_was_left),
      cmocka_unit_test(keys_are_left_to_the_viewer),
      cmocka_unit_test(given_scores_are_worked_in_the_scene),
      cmocka_unit_test(a_term_is_explained_when_it_is_pressed),
      cmocka_unit_test(every_lesson_is_walked_and_laid_out),
      cmocka_unit_test(every_question_and_task_of_the_course_is_answered),
      cmocka_unit_test(a_show_on_a_projector_is_ended_by_return),
      cmocka_unit_test(text_is_legible_at_every_size),
      cmocka_unit_test(long_pages_scroll),
      cmocka_unit_test(hostile_lessons_are_refused_at_once),
      cmocka_unit_test(endless_pages_are_cut),
      cmocka_unit_test(many_slow_states_and_tasks_take_no_time),
      cmocka_unit_test(the_lesson_of_the_guide_runs),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, open_folder, close_folder);
}
#else
int main(void) { return 0; }
#endif
