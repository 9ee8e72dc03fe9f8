/* The one list of the language's words: it has those that the reader takes and no other; what goes on from a place in a
 * text; what a mistyped word is near to. */
#include "tests/support/test.h"
#include "sim/algorithms/language/language_words.h"
#include "sim/base/word_list.h"
#include "sim/algorithms/language/read.h"

static bool is_listed(const char *word, size_t n) {
  for (int k = 0; k < N_LANGUAGE_WORDS; k++)
    if (strlen(LANGUAGE_WORDS[k].text) == n && strncmp(LANGUAGE_WORDS[k].text, word, n) == 0) return true;
  return false;
}

static char source[1 << 18];

static void read_sources(void) {
  static const char *const FILES[] = {"declare",    "launch_lines", "loops",      "names",
                                      "rank_lines", "read",         "statements", "values"};
  size_t length = 0;
  EACH (k, FILES) {
    FILE *file = fopen(test_text("sim/algorithms/language/%s.c", FILES[k]), "r");
    assert_non_null(file);
    length += fread(source + length, 1, sizeof source - 1 - length, file);
    fclose(file);
  }
  source[length] = '\0';
  assert_true(length < sizeof source - 1);
}

/* What the reader asks for by reader_take, reader_is and reader_expect, but for symbols and the loops' variables. */
TEST(the_reader_takes_no_other_words) {
  static const char *const ASKS[] = {"reader_take(r, \"", "reader_is(r, \"", "reader_expect(r, \"",
                                     "is_power_of(r, \""};
  int n = 0;
  read_sources();
  EACH (k, ASKS)
    for (const char *at = source; (at = strstr(at, ASKS[k]));) {
      at += strlen(ASKS[k]);
      const size_t length = strcspn(at, "\"");
      const bool is_word = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
      if (!is_word || (length == 1 && strchr("ijshtgG", *at))) continue;
      n++;
      if (!is_listed(at, length)) fail_msg("the reader takes '%.*s', which is not among the words", (int)length, at);
    }
  assert_true(n > 40);
  for (int k = 0; k < N_LANGUAGE_WORDS; k++) { /* and none is listed twice, or that no file of the reader names */
    const char *quoted = test_text("\"%s\"", LANGUAGE_WORDS[k].text);
    if (!strstr(source, quoted)) fail_msg("%s is listed, and the reader does not take it", quoted);
    for (int other = 0; other < k; other++) assert_string_not_equal(LANGUAGE_WORDS[other].text, LANGUAGE_WORDS[k].text);
  }
}

/* `|` is where one writes. */
TEST(what_goes_on_from_there) {
  static const char KERNEL[] = "algorithm a\nkernel forward\n  for every row block i\n    load Q_i\n    S' = 0\n";
  /* how many letters are begun, what stands before the place and after it => what is offered, or begins it */
  static const char *const CASES[] = {
      "0| => algorithm title summary source default size input output tensor kernel launch ranks",
      "1s| => summary source size",
      "1title s| => ",
      "5title| => ",
      "1size c = 1 # s| => ",
      "1    l| => load",
      "0    | => for load store add mask Q_i S' i row block forward every kernel",
      "1    for e| => every each either",
      "2    load Q_| => Q_i",
      "1    load Q_i o| => once",
      "1    S' = row s| => splits sum sqrt sigmoid",
      "1    T = Q| x 2\n => Q_i",
      "1input X_i: B| => B_r B_c",
      "2output O_i = at| => attention",
      "2output O_i: at| => ",
      "1launch f| => forward",
      "0launch forward\n  | => stages consumers registers threads share forward i Q_i S'",
      "1launch forward\n  stages 2 of Q| => Q_i",
      "1launch forward\n  share Q_i b| => by beside",
      "2ranks\n  for every rank g, st| => step striped",
      "1ranks\n  for every rank g\n    s| => send",
      "1ranks\n  for every rank g\n    run f| => from forward",
      "1default c| => compared"};
  EACH_SAYS (row, CASES) {
    const char *bar = strchr(row.text, '|');
    char text[512], offered[512];
    const size_t at = (size_t)snprintf(text, sizeof text, "%s%.*s", KERNEL, (int)(bar - row.text - 1), row.text + 1);
    snprintf(text + at, sizeof text - at, "%s", bar + 1);
    assert_int_equal(words_complete(text, at, offered, sizeof offered), *row.text - '0');
    for (char *c = offered; *c; c++)
      if (*c == '\n') *c = c[1] ? ' ' : '\0';
    const bool is_long = strstr(row.says, "block forward") != NULL; /* the names in any order */
    assert_int_equal(strncmp(offered, row.says, is_long ? 24 : sizeof offered), 0);
  }
  char small[8];
  words_complete("", 0, small, sizeof small); /* what fits */
  assert_string_equal(small, "title\n");
}

TEST(mistyped_words_have_a_guess) {
  static const char *const CASES[] = {
      "kernal k\n => mine.walk:2: 'kernal' begins no line of a header; did you mean 'kernel'?",
      "outptu O_i\n => mine.walk:2: 'outptu' begins no line of a header; did you mean 'output'?",
      "kernel k\n  for every row block i\n    laod Q_i\n => mine.walk:4: 'laod' begins no line of a kernel; did you "
      "mean 'load'?",
      "kernel k\n  for every row block i\n    load Q_i\n    strore Q_i\n => mine.walk:5: 'strore' begins no line of "
      "a kernel; did you mean 'store'?",
      "tensor stats_i: B_r x 1\n => mine.walk:2: 'stats' is what columns that nobody declares are called together; "
      "take another name",
  };
  static Program p;
  EACH_SAYS (row, CASES) {
    char text[256];
    snprintf(text, sizeof text, "algorithm a\n%s", row.text);
    assert_int_equal(program_read(&p, ALL_OF(text), "mine.walk", fresh_error()), STATUS_BAD_FILE);
    assert_string_equal(test_error.message, row.says);
  }
  assert_null(words_nearest("S", WORDS_LINE));
  assert_null(words_nearest("", WORDS_LINE));
}

/* Of any closed list. */
TEST(lists_of_words) {
  static const char *const WORDS[] = {"one", "two", "three", NULL};
  char text[32];
  assert_int_equal(word_list_find(WORDS, "three"), 2);
  assert_int_equal(word_list_find(WORDS, "four"), -1);
  assert_string_equal(word_list_text(WORDS, "and", text, sizeof text), "one, two and three");
  assert_string_equal(word_list_text(WORDS, NULL, text, sizeof text), "one two three");
}
