/* Stories: their text, captions that must hold, moments by event, and pages that are what is lit. */
#include "tests/support/test.h"
#include "tests/support/canvas.h"

#include "viz/story/story_file.h"
#include "viz/story/story_player.h"

#define HEAD                                                                                                           \
  "# A tale\n- idea: short\n- minutes: 1\n- draw: N from 64, 128\n"                                                    \
  "```setup\nB = N // 8\nassert(N == 8 * B, \"no\")\n```\n"
#define PICK                                                                                                           \
  "```ask one\nkind: predict\nprompt: How many?\noption: less | {N / 16} blocks\noption: right | {N / B} blocks\n"     \
  "option: more | 64 blocks\nanswer: N / B == 8 and \"right\" or \"no\"\nexplain: Eight.\n```\n"
#define SHOW                                                                                                           \
  "```state\nalgorithm=fa2 N={N} d=16 block={B}\n```\n"                                                                \
  "```show\nscene=walk from=load,Q,1,before to=store,O,last lit=Q[0],S[0]\nRows of {B}.\n```\n"
#define LAST "```show\nscene=walk seconds=2\nDone.\n```\n"

static Lesson *read(const char *text, Error *error) { return story_read(ALL_OF(text), "tale.md", error); }

TEST(a_story_is_told_at_its_sizes) {
  Lesson *s = read(HEAD PICK SHOW LAST, fresh_error());
  must(!s);
  StoryTold *told = story_tell(s, 128, NULL, fresh_error());
  must(!told);
  assert_int_equal(told->n, 2);
  for (int b = 0; b < 2; b++) assert_string_equal(told->beats[b].state, "algorithm=fa2 N=128 d=16 block=16");
  assert_string_equal(told->beats[0].caption, "Rows of 16.");
  assert_string_equal(told->beats[0].question.answer, "8 blocks");
  assert_string_equal(told->beats[1].moments.to, "end");
  assert_true(told->beats[0].asks && !told->beats[1].asks);
  free(told);
  assert_null(story_tell(s, 100, NULL, fresh_error()));
  assert_int_equal(story_size(s, 1), 128);
  assert_int_equal(story_size(s, 2), 0);
  story_free(s);
}

/* A caption that does not hold, and all that is no story, is refused with its line. */
TEST(what_is_no_story_is_refused) {
  static const struct {
    const char *find, *replace, *says;
  } BAD[] = {
      {"N == 8 * B, ", "N == 9 * B, ", "tale.md:7: no"},
      {"Rows of", "a b c d e f g h i j k l m Rows of", "tale.md:22: a caption has 1 to 14 words; this one has 16"},
      {"Rows of {B}.\n", "", "tale.md:22: a caption has 1 to 14 words; this one has 0"},
      {" lit=", " light=", "tale.md:22: there is no state key 'light'; did you mean 'lit'?"},
      {"to=store,O,last", "seconds=121", "tale.md:22:"},
      {"draw: N from", "draw: M from", "tale.md:1: the story is not told at N = 0"},
      {"```show\nscene=walk from=load,Q,1,before to=store,O,last lit=Q[0],S[0]\nRows of {B}.\n```\n", "",
       "tale.md:1: the story shows nothing"},
      {"answer: N", "answer: {", "tale.md:15:"},
      {"option: less | {N / 16} blocks\noption: right | {N / B} blocks\noption: more | 64 blocks\n"
       "answer: N / B == 8 and \"right\" or \"no\"\n",
       "answer: N / B\n", "tale.md:19: a story's question has options"},
  };
  EACH (k, BAD) {
    static const char GOOD[] = HEAD PICK SHOW;
    const char *at = strstr(GOOD, BAD[k].find);
    assert_non_null(at);
    Lesson *s =
        read(test_text("%.*s%s%s", (int)(at - GOOD), GOOD, BAD[k].replace, at + strlen(BAD[k].find)), fresh_error());
    StoryTold *told = s ? story_tell(s, 0, NULL, fresh_error()) : NULL;
    assert_null(told);
    assert_begins(BAD[k].says);
    story_free(s);
  }
}

/* The moment after the n-th event of a kind, found by counting events. */
TEST(moments_are_where_their_events_are) {
  Request r = {.shape = {.N_q = 64, .d = 16}, .block = 8};
  Stage stage;
  must(request_stage(&r, &stage, fresh_error()));
  static const struct {
    const char *moment;
    EventKind kind;
    const char *tensor;
    int count; /* 0: the last */
    int before;
  } MOMENT[] = {
      {"load,Q,3", EVENT_LOAD, "Q", 3, 0},           {"load,K,5,before", EVENT_LOAD, "K", 5, 1},
      {"store,O,last", EVENT_STORE, "O", 0, 0},      {"new-max,stats,2", EVENT_NEW_MAX, "stats", 2, 0},
      {"normalise,O,1", EVENT_NORMALISE, "O", 1, 0},
  };
  EACH (k, MOMENT) {
    uint64_t step, want = 0;
    int n = 0;
    Cursor c = {0};
    Event e;
    const Schedule *s = stage.run.schedule;
    while (schedule_next(s, &stage.run.plan, &c, &e))
      if (e.kind == MOMENT[k].kind && strcmp(s->tensors[e.tensor].text, MOMENT[k].tensor) == 0 &&
          (++n == MOMENT[k].count || MOMENT[k].count == 0))
        want = e.step + 1 - (uint64_t)MOMENT[k].before;
    must(moment_step(&stage, MOMENT[k].moment, &step, fresh_error()));
    assert_int_equal(step, want);
  }
  uint64_t first;
  static const char *const NONE[] = {"",         "load",           "load,Q",   "load,Q,0",
                                     "load,Q,x", "load,Q,1,after", "load,X,1", "load,Q,99"};
  EACH (k, NONE) assert_int_equal(moment_step(&stage, NONE[k], &first, fresh_error()), STATUS_BAD_REQUEST);
  stage_free(&stage);
}

/* What is not lit is dimmed: all but the first row of tiles. */
TEST(what_is_not_lit_is_dimmed) {
  Lesson *s = read(HEAD PICK SHOW, fresh_error());
  StoryTold *told = story_tell(s, 64, NULL, fresh_error());
  assert_non_null(told);
  StoryScene *scene = calloc(1, sizeof *scene);
  assert_non_null(scene);
  must(story_scene_open(scene, s, told, 0, fresh_error()));
  enum { WIDTH = 1280, HEIGHT = 720 };
  cairo_surface_t *pages[2];
  int n_paler = 0;
  for (int lit = 0; lit < 2; lit++) {
    snprintf(told->beats[0].moments.lit, sizeof told->beats[0].moments.lit, "%s",
             lit ? "S[0]" : ""); /* "": all is lit */
    pages[lit] = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    cairo_t *cr = cairo_create(pages[lit]);
    story_scene_show(scene, 0.9);
    story_page_draw(scene, &(StoryMoment){.part = 0.9}, cr, WIDTH, HEIGHT, &theme_light, NULL);
    cairo_destroy(cr);
    cairo_surface_flush(pages[lit]);
  }
  for (int k = 0; k < WIDTH * HEIGHT; k++) {
    const unsigned char *plain = cairo_image_surface_get_data(pages[0]) + 4 * k,
                        *other = cairo_image_surface_get_data(pages[1]) + 4 * k;
    for (int c = 0; c < 3; c++) assert_true(other[c] >= plain[c]);
    n_paler += other[0] > plain[0];
  }
  assert_in_range(n_paler, 10000, WIDTH * HEIGHT / 2); /* letters, and all that is not white */
  for (int lit = 0; lit < 2; lit++) cairo_surface_destroy(pages[lit]);
  story_scene_free(scene);
  free(scene);
  free(told);
  story_free(s);
}

/* Played through with a right, a wrong and no prediction, back and forth. */
TEST(a_story_is_played) {
  char words[1024];
  StoryPlayer *p = story_player_open(read(HEAD PICK SHOW LAST, fresh_error()), 0, NULL, fresh_error());
  must(!p);
  assert_string_equal(story_player_words(p, words, sizeof words), "1 of 2. Rows of 8. How many?");
  assert_false(story_player_tick(p, 1)); /* it waits for an answer */
  story_player_type(p, "a");
  story_player_input(p, STORY_ERASE);
  story_player_type(p, "b");
  story_player_input(p, STORY_RETURN);
  assert_true(story_player_is_moving(p));
  while (story_player_is_moving(p)) assert_true(story_player_tick(p, 1));
  assert_string_equal(story_player_words(p, words, sizeof words), "1 of 2. Rows of 8. Right: 8 blocks. Eight.");
  story_player_input(p, STORY_GO_ON);
  assert_non_null(strstr(story_player_words(p, words, sizeof words), "2 of 2. "));
  assert_true(story_player_is_moving(p)); /* it asks nothing */
  story_player_input(p, STORY_GO_BACK);
  story_player_type(p, "c");
  story_player_input(p, STORY_RETURN);
  story_player_input(p, STORY_GO_ON); /* to the end of the beat */
  assert_string_equal(story_player_words(p, words, sizeof words), "1 of 2. Rows of 8. No: 8 blocks. Eight.");
  story_player_type(p, " ");
  story_player_type(p, " ");
  assert_true(story_player_is_open(p));
  story_player_type(p, " ");
  assert_false(story_player_is_open(p)); /* after the last beat */
  story_player_close(p);
  assert_null(story_player_open(read(HEAD PICK SHOW, fresh_error()), 100, NULL, fresh_error()));
}

/* A letter, the arrows or the mouse choose one. */
TEST(answers_are_chosen) {
  char words[1024];
  StoryPlayer *p = story_player_open(read(HEAD PICK SHOW, fresh_error()), 0, NULL, fresh_error());
  must(!p);
  static const struct {
    const char *letters;
    StoryInput moves[3]; /* STORY_GO_ON: no more */
    const char *says;
  } WAYS[] = {{"b", {STORY_GO_ON}, "Right: "},   {"C", {STORY_GO_ON}, "No: "},
              {"ab", {STORY_GO_ON}, "Right: "},  {"", {STORY_CHOICE_NEXT, STORY_CHOICE_NEXT}, "Right: "},
              {"", {STORY_CHOICE_BACK}, "No: "}, {"b", {STORY_ERASE}, "8 blocks"}, /* nothing is said of no answer */
              {"cb", {STORY_GO_ON}, "Right: "},  {"d8", {STORY_GO_ON}, "8 blocks"}};
  EACH (k, WAYS) {
    for (const char *c = WAYS[k].letters; *c; c++) story_player_type(p, (char[]){*c, '\0'});
    for (int m = 0; m < 3 && WAYS[k].moves[m] != STORY_GO_ON; m++) story_player_input(p, WAYS[k].moves[m]);
    story_player_input(p, STORY_RETURN);
    story_player_input(p, STORY_GO_ON);
    story_player_words(p, words, sizeof words);
    const char *wanted = test_text("1 of 1. Rows of 8. %s", WAYS[k].says);
    assert_true(strncmp(words, ALL_OF(wanted)) == 0);
    story_player_input(p, STORY_GO_BACK);
    assert_true(story_player_is_open(p));
    story_player_close(p);
    p = story_player_open(read(HEAD PICK SHOW, fresh_error()), 0, NULL, fresh_error());
  }
  story_player_reduce(p, true); /* with reduced motion the first moment is the last */
  story_player_input(p, STORY_RETURN);
  assert_true(story_player_tick(p, 0.001) && !story_player_is_moving(p));
  story_player_close(p);
  p = story_player_open(read(HEAD PICK SHOW, fresh_error()), 0, NULL, fresh_error());
  cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, 1280, 720);
  story_player_draw(p, cr, 1280, 720, &theme_light);
  story_player_press(p, 1, 1000, 318); /* the second line of the card */
  story_player_input(p, STORY_GO_ON);
  assert_non_null(strstr(story_player_words(p, words, sizeof words), "Right: 8 blocks"));
  cairo_destroy(cr);
  story_player_close(p);
}

/* The rightmost pixel of what lies between, in the left half of the lower page: where the first pile ends. */
static int pile_end(cairo_surface_t *page, const Theme *t) {
  const int width = cairo_image_surface_get_width(page), height = cairo_image_surface_get_height(page);
  const unsigned char *pixels = cairo_image_surface_get_data(page);
  const Colour wanted = t->waste; /* lowest byte first, as pixels are */
  int right = -1;
  for (int y = height / 2; y < height * 4 / 5; y++)
    for (int x = right + 1; x < width / 2; x++)
      if (memcmp(pixels + y * cairo_image_surface_get_stride(page) + 4 * x, &wanted, 3) == 0) right = x;
  return right;
}

/* Of piles a guess is a place: where the first pile then ends is right, half as far is wrong. Standard carries
 * 4 N d + 4 N N = 20,480 numbers, fa2 18 N d = 18,432. */
TEST(a_guess_of_times_is_a_flag) {
  static const char PILES[] = HEAD
      "```state\nalgorithm=standard,fa2 N={N} d=16 block={B}\n```\n"
      "```ask one\nkind: predict\nprompt: How far?\nunit: x\nanswer: sim{N=N, d=16, block=B, algorithm=\"standard\"}"
      ".traffic.total_bytes / sim{N=N, d=16, block=B, algorithm=\"fa2\"}.traffic.total_bytes\n```\n"
      "```show\nscene=piles from=load,Q,1\nBoth.\n```\n";
  cairo_t *cr = canvas(CAIRO_FORMAT_RGB24, 1280, 720);
  int end = 600;
  for (int k = 0; k < 3; k++) {
    char words[1024];
    StoryPlayer *p = story_player_open(read(PILES, fresh_error()), 0, NULL, fresh_error());
    must(!p);
    story_player_draw(p, cr, 1280, 720, &theme_dark);
    story_player_press(p, 1, 200, 500); /* it does not play yet */
    story_player_drag(p, k < 2 ? end : end / 2.0);
    assert_false(story_player_is_moving(p));
    story_player_input(p, STORY_RETURN);
    story_player_input(p, STORY_GO_ON);
    story_player_draw(p, cr, 1280, 720, &theme_dark);
    cairo_surface_flush(cairo_get_target(cr));
    story_player_words(p, words, sizeof words);
    assert_true(k != 1 || strstr(words, "ight: 1.111x"));
    assert_true(k != 2 || strstr(words, "No: 1.111x"));
    end = k == 0 ? pile_end(cairo_get_target(cr), &theme_dark) : end;
    assert_true(end > 100);
    story_player_close(p);
  }
  cairo_destroy(cr);
}
