/* style.h and glyphs.h: when there is colour and Unicode, and how text is measured, cut and
 * wrapped. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/capture.h"
#include "tests/support/rand.h"
#include "viz/text/print.h"
#include "viz/text/progress.h"

static const TextStyle ascii = {.width = 80};
static const TextStyle unicode = {.utf8 = true, .width = 80};

/* A terminal or a pipe, its columns, the environment => colour, UTF-8, columns. */
static const char *const DECISIONS[] = {
    "terminal 100 TERM=xterm LANG=C.UTF-8 => 1 1 100",
    "pipe 0 TERM=xterm LANG=en_GB.utf8 => 0 1 80",   /* no colour */
    "terminal 100 TERM=xterm NO_COLOR=1 => 0 0 100", /* no-color.org */
    "terminal 100 TERM=xterm NO_COLOR= => 1 0 100",  /* set but empty: ignored */
    "terminal 100 TERM=dumb LANG=C.UTF-8 => 0 0 100",
    "terminal 100 LANG=C.UTF-8 => 0 0 100",         /* no TERM at all */
    "terminal 100 TERM=xterm COLUMNS=60 => 1 0 60", /* COLUMNS goes first */
    "pipe 100 COLUMNS=60 => 0 0 60",
    "terminal 0 TERM=xterm COLUMNS=x60 => 1 0 80",      /* not a number */
    "terminal 5 TERM=xterm => 1 0 20",                  /* the least */
    "terminal 100 TERM=xterm COLUMNS=99999 => 1 0 400", /* the most */
    "terminal 100 TERM=xterm LC_ALL=C LANG=C.UTF-8 => 1 0 100",
    "terminal 100 TERM=xterm LC_ALL= LC_CTYPE=de_DE.UTF-8 LANG=C => 1 1 100",
    "terminal 100 TERM=xterm LANG=de_DE.ISO-8859-1 => 1 0 100",
};

TEST(test_decision) {
  static const char *const NAMES[] = {"TERM", "NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"};
  EACH_SAYS (row, DECISIONS) {
    TextEnvironment e = {0};
    const char **const values[] = {&e.term, &e.no_color, &e.columns, &e.lc_all, &e.lc_ctype, &e.lang};
    char given[TEST_TEXT];
    strcpy(given, row.text);
    const bool is_terminal = *strtok(given, " ") == 't';
    const int columns = atoi(strtok(NULL, " "));
    for (char *word; (word = strtok(NULL, " "));)
      for (size_t k = 0; k < COUNT_OF(NAMES); k++)
        if (strncmp(word, NAMES[k], strlen(NAMES[k])) == 0 && word[strlen(NAMES[k])] == '=')
          *values[k] = word + strlen(NAMES[k]) + 1;
    const TextStyle style = text_style_decide(is_terminal, columns, &e);
    assert_string_equal(test_text("%d %d %d", style.colour, style.utf8, style.width), row.says);
  }
}

/* Every role ends what it begins, and none leaks an escape into plain output. */
TEST(test_roles) {
  TextStyle coloured = {.colour = true};
  for (int role = 0; role < N_ROLES; role++) {
    assert_string_equal(text_role_begin(&ascii, (TextRole)role), "");
    assert_string_equal(text_role_end(&ascii, (TextRole)role), "");
    bool begins = *text_role_begin(&coloured, (TextRole)role) != '\0';
    assert_int_equal(begins, strcmp(text_role_end(&coloured, (TextRole)role), "\033[0m") == 0);
    assert_int_equal(begins, role != ROLE_PLAIN);
  }
}

static uint32_t first(const char *text) { return glyph_next(&text); }

TEST(test_decoding) {
  assert_int_equal(first("a"), 'a');
  assert_int_equal(first("\xc3\x97"), 0xd7);
  assert_int_equal(first("\xe2\x82\xac"), 0x20ac);
  assert_int_equal(first("\xf0\x9d\x84\x9e"), 0x1d11e);
  assert_int_equal(first(""), 0);
  /* Control characters, then broken forms: lone tail, overlong, surrogate, too large, cut short. */
  static const char *const bad[] = {"\033",     "\n",           "\x7f",         "\xc2\x9b",         "\x80",
                                    "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};
  EACH (i, bad) assert_int_equal(first(bad[i]), '?');
}

TEST(test_columns) {
  assert_int_equal(text_columns(&unicode, "N\xc3\x97N"), 3);
  assert_int_equal(text_columns(&unicode, "\xe6\xbc\xa2\xe5\xad\x97"), 4);
  assert_int_equal(text_columns(&unicode, "e\xcc\x81"), 1);      /* combining accent */
  assert_int_equal(text_columns(&ascii, "N \xe2\x89\xa5 4"), 6); /* ">=" */
}

static void expect_wrap(const char *text, int columns, const char *const *lines) {
  while (*text || *lines) {
    const char *start = text;
    size_t bytes = text_wrap(&unicode, &text, columns);
    assert_non_null(*lines);
    assert_int_equal(bytes, strlen(*lines));
    assert_memory_equal(start, *lines, bytes);
    lines++;
  }
}

TEST(test_wrap) {
  expect_wrap("one two three", 7, (const char *const[]){"one two", "three", NULL});
  expect_wrap("one two three", 8, (const char *const[]){"one two", "three", NULL});
  expect_wrap("one\n\ntwo", 9, (const char *const[]){"one", "", "two", NULL});
  expect_wrap("abcdefgh ij", 4, (const char *const[]){"abcd", "efgh", "ij", NULL});
  expect_wrap("\xe6\xbc\xa2\xe5\xad\x97", 3, (const char *const[]){"\xe6\xbc\xa2", "\xe5\xad\x97", NULL});
}

/* Any bytes at all: wrapping ends, never gives out more columns than asked, and prints nothing that
 * is not printable. */
TEST(test_random_bytes) {
  Rand rand = {3};
  for (int round = 0; round < 5000; round++) {
    char text[64];
    size_t length = (size_t)rand_in(&rand, 0, 60);
    for (size_t i = 0; i < length; i++) text[i] = (char)rand_in(&rand, 1, 255);
    text[length] = '\0';
    const TextStyle *style = rand_in(&rand, 0, 1) ? &unicode : &ascii;
    int columns = (int)rand_in(&rand, 6, 30); /* "lambda" is the longest replacement */
    Capture capture;
    capture_open(&capture);
    const char *rest = text;
    for (int lines = 0; *rest; lines++) {
      assert_true(lines <= 64);
      const char *line = rest;
      size_t bytes = text_wrap(style, &rest, columns);
      assert_true(text_columns_n(style, line, bytes) <= columns);
      text_write_n(capture.out, style, line, bytes);
    }
    for (const char *p = capture_text(&capture); *p; p++) {
      assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
      if (style == &ascii) assert_true((unsigned char)*p < 0x80);
    }
    capture_close(&capture);
  }
}

TEST(test_paragraph) {
  Capture capture;
  capture_open(&capture);
  TextStyle narrow = {.width = 24};
  text_paragraph(capture.out, &narrow, ROLE_PLAIN, 4, "tiles are loaded one by one");
  text_paragraph(capture.out, &narrow, ROLE_PLAIN, 0, "");
  capture_is(&capture, "    tiles are loaded one\n    by one\n\n");
}

/* Beside a column of 20, 25 columns are left: a sentence of 25 fills its line, one of 29 is broken at a space. */
TEST(test_hanging) {
  static const TextStyle narrow = {.width = 45};
  static const char TEXT[] = "loads one tile after next. It";
  Capture capture;
  capture_open(&capture);
  text_hanging(capture.out, &narrow, 20, TEXT, 25);
  text_hanging(capture.out, &narrow, 20, TEXT, 29);
  capture_is(&capture, "loads one tile after next\n"
                       "loads one tile after\n                    next. It\n");
}

/* Colour surrounds the text; ASCII replaces what it must, newlines stay. */
TEST(test_print) {
  Capture capture;
  capture_open(&capture);
  TextStyle coloured = {.colour = true, .utf8 = true, .width = 80};
  text_print(capture.out, &coloured, ROLE_HEADING, "N = %d", 8);
  text_print(capture.out, &ascii, ROLE_HEADING, "\n%s\n", "N \xe2\x89\xa5 8");
  capture_is(&capture, "\033[1mN = 8\033[0m\nN >= 8\n");
}

/* Verdicts have a mark besides their colour. */
/* Of any origin: letters, newlines and tabs stay, whatever the length; an escape, a turn of direction, a broken byte
 * and a NUL do not. */
TEST(test_say) {
  static char large[9000];
  memset(large, 'a', sizeof large - 1);
  Capture capture;
  capture_open(&capture);
  text_say(capture.out, "%s\t%s\n", "M\xc3\xbcller", "\033[31m\xe2\x80\xae\xff");
  text_put_n(capture.out, "a\0b\n", 4);
  text_say(capture.out, "%s", large);
  const char *text = capture_text(&capture);
  static const char FIRST[] = "M\xc3\xbcller\t?[31m??\na?b\n";
  assert_memory_equal(text, FIRST, sizeof FIRST - 1);
  assert_string_equal(text + sizeof FIRST - 1, large);
  capture_close(&capture);
}

TEST(test_marks) {
  assert_string_equal(text_role_mark(&ascii, ROLE_GOOD), "+");
  assert_string_equal(text_role_mark(&ascii, ROLE_WARN), "!");
  assert_string_equal(text_role_mark(&ascii, ROLE_BAD), "x");
  assert_string_equal(text_role_mark(&unicode, ROLE_GOOD), "\xe2\x9c\x93");
  assert_string_equal(text_role_mark(&unicode, ROLE_PLAIN), "");
}

/* Silent when piped, quiet at first, at most ten lines a second, and gone at the end. */
TEST(test_progress) {
  Capture capture;
  capture_open(&capture);
  Progress piped = progress_new(capture.out, &ascii, false, "sweep", 0);
  progress_update(&piped, 1, 2, 100);
  progress_end(&piped);
  assert_string_equal(capture_text(&capture), "");

  Progress progress = progress_new(capture.out, &ascii, true, "sweep", 10);
  progress_update(&progress, 1, 4096, 10.4);
  assert_string_equal(capture_text(&capture), "");
  progress_update(&progress, 1024, 4096, 10.6);
  progress_update(&progress, 1025, 4096, 10.65);                  /* too soon */
  const char line[] = "\rsweep  1,024 of 4,096  25.0%  2 s left"; /* a quarter in 0.6 s: 1.8 */
  assert_string_equal(capture_text(&capture), line);
  progress_end(&progress);
  assert_int_equal(strlen(capture_text(&capture)), strlen(line) + 1 + strlen(line) - 1 + 1);
  assert_int_equal(capture_text(&capture)[strlen(capture.text) - 1], '\r');
  capture_close(&capture);
}
