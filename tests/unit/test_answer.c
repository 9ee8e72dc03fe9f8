/* Answers as people write them: a table of spellings with what they must be worth, worked out by
 * hand; which of them are right for a key; and what is refused, with the word that the reason must
 * contain. */
#include "tests/support/test.h"
#include "lessons/engine/answer.h"

/* Spellings of a value, as a plain number or in the base unit of what is typed; a line between two. */
static const struct {
  double value;
  const char *texts;
} SPELLINGS[] = {
    {64, "64| 64 |64.|064|+64|= 64|~64|\xE2\x89\x88 64|64 lb|64 Mibytes"},
    {-64, "-64|- 64"},
    {-3, "\xE2\x88\x92"
         "3"},
    {0.5, ".5|0.5|1/2|\xC2\xBD|50%|50 %|50 percent"},
    {3.14, "3.14"},
    {1048576, "1,048,576|1 048 576|1\xE2\x80\xAF"
              "048\xE2\x80\xAF"
              "576|1'048'576|1_048_576|2^20"},
    {1024.5, "1,024.5"},
    {1e6, "1e6|1E6|1e+6"},
    {0.005, "5e-3"},
    {6.7e7, "6.7e7 bytes|6.7 x 10^7|6.7 \xC3\x97 10^7|6.7*10^7 B"},
    {0.001, "10^-3"},
    {4096, "4 x 1024"},
    {256, "4*32*2"},
    {0.4375, "7 / 16"},
    {0.0005, "1/2000"},
    {2, "2x|2 x|2X|2\xC3\x97|2 times|2 seconds"},
    {1.5, "1.5-fold"},
    {67108864, "64 MiB|64MiB|64 mib|64\xC2\xA0MiB|64 mebibytes"},
    {67.1e6, "67.1 MB"},
    {67e6, "67 mb|67 megabytes"},
    {196608, "192 KiB"},
    {192000, "192 KB|192 kB"},
    {1073741824, "1 GiB"},
    {1.5e6, "1.5 million"},
    {2e9, "2 billion bytes"},
    {32, "32 loads|32 blocks of queries"},
    {3.35e12, "3.35 TB/s"},
    {989e12, "989 TFLOP/s|989 TFLOPS"},
    {34.36e9, "34.36 GFLOP|34.36 GFLOPs"},
    {20e-6, "20 us|20 \xC2\xB5s|20 \xCE\xBCs"},
    {0.0015, "1.5 ms"},
    {62.5, "62.5 FLOP/B|62.5 FLOPs/byte"},
    {0, "0"},
};

/* Those of which a note has a word. */
static const struct {
  const char *text;
  double value;
  const char *note;
} NOTED[] = {
    {"3,14", 3.14, "decimal sign"},      {"0,375", 0.375, "decimal sign"},
    {"1.024,5", 1024.5, "decimal sign"}, {"1,024", 1024, "thousands"},
    {"12,5%", 0.125, "decimal sign"},    {"67,1 MB", 67.1e6, "decimal sign"},
    {"192K", 196608, "1,024"},           {"4k", 4096, "1,024"},
};

static void is_read(const char *text, double value, const char *note) {
  Answer a;
  must(answer_parse(ALL_OF(text), &a, fresh_error()));
  const double typed = a.number * a.unit.factor;
  assert_near(typed, value, 1e-12 * fabs(value));
  assert_true(*note ? strstr(a.note, note) != NULL : !*a.note);
}

TEST(spellings_are_read) {
  char text[TEST_TEXT];
  EACH (k, SPELLINGS)
    for (const char *texts = SPELLINGS[k].texts; test_next(&texts, text);) is_read(text, SPELLINGS[k].value, "");
  EACH (k, NOTED) is_read(NOTED[k].text, NOTED[k].value, NOTED[k].note);
}

static const char *const REFUSED[] = {
    " => write a number",
    "    => write a number",
    "sixty-four => in digits",
    "half => in digits",
    "twice => in digits",
    "a lot => not a number",
    "? => not a number",
    "MiB => not a number",
    "infinity => finite",
    "nan => finite",
    "1e999 => exponent",
    "1e400 => too large",
    "0e400*0 => too large",
    "12345678901234567890123 => more digits",
    "1.2.3 => decimal point",
    "1.048.576 => points group",
    "1,04,8576 => not clear",
    "1,2,3 => not clear",
    "1,234,56 => not clear",
    "1 2 => two numbers",
    "1 1/2 => two numbers",
    "64; 65 => two numbers",
    "60-70 => a range",
    "32 + 32 => a sum",
    "1/0 => divided by 0",
    "2^x => exponent",
    "2^(3) => exponent",
    "5 = 5 => work it out",
    "64 Mb => bits",
    "64 Mbit => bits",
    "64 kb => bits",
    "64 MiB/h => no unit",
    "64 $ => no unit",
    "64 \xE2\x82\xAC => no unit",
    "6\x01"
    "4 => no keyboard",
    "\xFF\xFE => no keyboard",
    "64 of the things that were counted there => too long for a unit",
    "9^999 => too large",
    "0x40 => decimal",
};

TEST(what_cannot_be_read_is_refused_with_a_reason) {
  EACH_SAYS (row, REFUSED) {
    Answer a;
    assert_true(answer_parse(ALL_OF(row.text), &a, fresh_error()) == STATUS_BAD_REQUEST);
    assert_said(row.says);
  }
}

/* ---- Right and wrong */

/* What these answers are to a key. Few are counted exactly, of many three digits are enough; a stated tolerance binds,
 * so that 1.9 only rounds to 1.857; what has one digit is rough. 64 MiB are 67,108,864 bytes; e^-1 is 0.36788. */
static const struct {
  double value;
  const char *unit, *tolerance, *texts[ANSWER_WRONG + 1];
} JUDGED[] = {
    {67108864,
     "MiB",
     NULL,
     {[ANSWER_RIGHT] = "64|64 MiB|67.1 MB|67 MB|67.11 MB|6.7e7 bytes|0.0625 GiB|65536 KiB|67108864 B|2^26 bytes",
      [ANSWER_OTHER_UNIT] = "64 MB",
      [ANSWER_NEAR] = "67.2 MB",
      [ANSWER_WRONG] = "67108864|128 MiB"}},
    {67108864, "MB", NULL, {[ANSWER_RIGHT] = "64 MiB", [ANSWER_ROUGH] = "7e7 bytes", [ANSWER_OTHER_UNIT] = "67.1 MiB"}},
    {67108864, "B", NULL, {[ANSWER_RIGHT] = "6.7 x 10^7"}},
    {67108864, "MB", "exact", {[ANSWER_RIGHT] = "67.108864", [ANSWER_NEAR] = "67.1"}},
    {0.36787944,
     "",
     NULL,
     {[ANSWER_RIGHT] = "0.368|0,37|36.8%", [ANSWER_ROUGH] = "0.4", [ANSWER_NEAR] = "0.367", [ANSWER_WRONG] = "1"}},
    {0.36787944, "", "1%", {[ANSWER_RIGHT] = "0.367", [ANSWER_NEAR] = "0.36"}},
    {0.36787944, "", "0.01", {[ANSWER_RIGHT] = "0.36"}},
    {1.857, "x", "0.003", {[ANSWER_RIGHT] = "1.859|1.86", [ANSWER_ROUGH] = "1.9", [ANSWER_NEAR] = "1.872"}},
    {1.857, "x", NULL, {[ANSWER_RIGHT] = "1.9"}},
    {0.4375, "%", NULL, {[ANSWER_RIGHT] = "43.75%|43.75|44|0.4375|7/16|28/64", [ANSWER_WRONG] = "0.4375%|1/2"}},
    {1.5, "%", NULL, {[ANSWER_RIGHT] = "3/2"}},
    {2, "x", NULL, {[ANSWER_RIGHT] = "2x|2|2 times|200%", [ANSWER_WRONG] = "1/2"}},
    {1.9692, "x", NULL, {[ANSWER_RIGHT] = "1.97", [ANSWER_ROUGH] = "2x"}},
    {32, "loads", NULL, {[ANSWER_RIGHT] = "32|32 loads|32 load|32 times|32.0", [ANSWER_WRONG] = "31|3e1"}},
    {3010000000.5, "loads", NULL, {[ANSWER_ROUGH] = "3.0e9"}},
    {1048576, "loads", NULL, {[ANSWER_RIGHT] = "1.05 million"}},
    {9216, "loads", NULL, {[ANSWER_WRONG] = "9220"}},
    {9216, "", NULL, {[ANSWER_RIGHT] = "9216 loads"}},
    {1024, "", NULL, {[ANSWER_RIGHT] = "1K|1,024", [ANSWER_WRONG] = "1.0e3"}},
    {1024, "", "5%", {[ANSWER_RIGHT] = "1000"}},
    {20e-6, "us", NULL, {[ANSWER_RIGHT] = "20|0.02 ms", [ANSWER_WRONG] = "20 ms"}},
    {989e12, "TFLOP/s", NULL, {[ANSWER_RIGHT] = "989 TFLOPS"}},
    {34359738368.0, "GFLOP", NULL, {[ANSWER_RIGHT] = "34.4 GFLOPs|34 gflops"}},
    {3.35e12, "TB/s", NULL, {[ANSWER_RIGHT] = "3350 GB/s"}},
};

static AnswerKey key_of(double value, const char *unit, const char *tolerance) {
  AnswerKey key = {.value = value};
  must(answer_unit(unit, &key.unit, NULL));
  if (tolerance) must(answer_tolerance(tolerance, &key.tolerance, NULL));
  return key;
}

static Status judge(const AnswerKey *key, const char *text, AnswerVerdict *verdict) {
  Answer a;
  must(answer_parse(ALL_OF(text), &a, fresh_error()));
  return answer_judge(key, &a, verdict, fresh_error());
}

TEST(answers_are_judged_fairly) {
  char text[TEST_TEXT];
  EACH (k, JUDGED)
    for (int wanted = 0; wanted <= ANSWER_WRONG; wanted++)
      for (const char *texts = JUDGED[k].texts[wanted]; test_next(&texts, text);) {
        const AnswerKey key = key_of(JUDGED[k].value, JUDGED[k].unit, JUDGED[k].tolerance);
        AnswerVerdict verdict;
        must(judge(&key, text, &verdict));
        assert_true((int)verdict == wanted);
      }
}

TEST(units_that_do_not_go_together_are_refused) {
  static const struct {
    const char *unit, *text;
  } PAIRS[] = {{"MiB", "64 ms"}, {"MiB", "64 loads"}, {"loads", "32 tiles"}, {"loads", "50%"},
               {"", "64 MiB"},   {"%", "43 MB"},      {"s", "3 B/s"}};
  EACH (k, PAIRS) {
    const AnswerKey key = key_of(64, PAIRS[k].unit, NULL);
    AnswerVerdict verdict;
    assert_int_equal(judge(&key, PAIRS[k].text, &verdict), STATUS_BAD_REQUEST);
    assert_true(strstr(test_error.message, "you wrote") || strstr(test_error.message, "plain number"));
  }
}

TEST(computed_answers_are_written_in_their_unit) {
  static const struct {
    double value;
    const char *unit, *text;
  } ROWS[] = {{67108864, "MiB", "64 MiB"}, {0.4375, "%", "43.75 %"}, {2, "x", "2x"},
              {32, "loads", "32 loads"},   {1, "loads", "1 load"},   {0.36787944, "", "0.3679"},
              {1, "launches", "1 launch"}, {1, "boxes", "1 box"},    {1, "passes", "1 pass"},
              {1, "tiles", "1 tile"}};
  EACH (k, ROWS) {
    const AnswerKey key = key_of(ROWS[k].value, ROWS[k].unit, NULL);
    char text[64];
    AnswerVerdict verdict;
    answer_text(&key, ROWS[k].value, text, sizeof text);
    assert_string_equal(text, ROWS[k].text);
    must(judge(&key, text, &verdict)); /* what is printed is accepted */
    assert_int_equal(verdict, ANSWER_RIGHT);
  }
}

TEST(tolerances_that_mean_nothing_are_refused) {
  static const char *const BAD[] = {"", "none", "0", "-1", "0%", "100%", "1 MiB", "about 1%"};
  EACH (k, BAD) {
    AnswerTolerance t;
    must_refuse(answer_tolerance(BAD[k], &t, fresh_error()), STATUS_BAD_REQUEST, "tolerance");
  }
}

/* ---- Choices and orders */

static const AnswerChoices CHOICES = {
    .key = {"smaller", "same", "larger"}, .text = {"It falls.", "It stays.", "It grows."}, .n = 3};

TEST(choices_go_by_letter_key_and_text) {
  static const struct {
    const char *text;
    int chosen; /* -1: refused */
  } ROWS[] = {{"a", 0},  {"B", 1},    {" c ", 2},     {"b)", 1},        {"(c)", 2},
              {"a.", 0}, {"same", 1}, {"LARGER", 2},  {"It grows.", 2}, {"d", -1},
              {"", -1},  {"ab", -1},  {"bigger", -1}, {"a b", -1},      {"1", -1}};
  EACH (k, ROWS) {
    int chosen = -1;
    const Status status = answer_choice(&CHOICES, ROWS[k].text, &chosen, fresh_error());
    assert_true((status == STATUS_OK) == (ROWS[k].chosen >= 0) && chosen == ROWS[k].chosen);
    if (status) assert_non_null(strstr(test_error.message, "from a to c"));
  }
}

TEST(orders_go_by_letters_and_keys) {
  static const char *const RIGHT[] = {"b a c",   "bac", "B,A,C", "b, a, c", "b > a > c", "same smaller larger",
                                      "b) a) c)"};
  EACH (k, RIGHT) {
    int order[ANSWER_CHOICES_MAX];
    must(answer_order(&CHOICES, RIGHT[k], order, fresh_error()));
    assert_true(order[0] == 1 && order[1] == 0 && order[2] == 2);
  }
  static const TextSays BAD[] = {{"", "0 of the 3"}, {"a b", "2 of the 3"}, {"a b b", "twice"},
                                 {"aab", "twice"},   {"a b c a", "only 3"}, {"a b x", "none of the items"}};
  EACH (k, BAD) {
    int order[ANSWER_CHOICES_MAX];
    must_refuse(answer_order(&CHOICES, BAD[k].text, order, fresh_error()), STATUS_BAD_REQUEST, BAD[k].says);
  }
}
