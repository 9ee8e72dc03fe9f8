/* Answers as people write them: a table of spellings with what they must be worth, worked out by
 * hand; which of them are right for a key; and what is refused, with the word that the reason must
 * contain. */
#include "tests/support/test.h"
#include "lessons/engine/answer.h"

/* The value as a plain number, or in the base unit of what was typed. */
typedef struct {
  const char *text;
  double value;
  const char *note; /* a word of the note; NULL: there is none */
} Spelling;

static const Spelling SPELLINGS[] = {
    {"64", 64, NULL},
    {" 64 ", 64, NULL},
    {"64.", 64, NULL},
    {"064", 64, NULL},
    {"+64", 64, NULL},
    {"-64", -64, NULL},
    {"- 64", -64, NULL},
    {"\xE2\x88\x92"
     "3",
     -3, NULL}, /* a minus sign as printed */
    {"= 64", 64, NULL},
    {"~64", 64, NULL},
    {"\xE2\x89\x88 64", 64, NULL},
    {".5", 0.5, NULL},
    {"0.5", 0.5, NULL},
    {"3.14", 3.14, NULL},
    {"3,14", 3.14, "decimal sign"},
    {"0,375", 0.375, "decimal sign"},
    {"1.024,5", 1024.5, "decimal sign"},
    {"1,024", 1024, "thousands"},
    {"1,048,576", 1048576, NULL},
    {"1,024.5", 1024.5, NULL},
    {"1 048 576", 1048576, NULL},
    {"1\xE2\x80\xAF"
     "048\xE2\x80\xAF"
     "576",
     1048576, NULL},
    {"1'048'576", 1048576, NULL},
    {"1_048_576", 1048576, NULL},
    {"1e6", 1e6, NULL},
    {"1E6", 1e6, NULL},
    {"1e+6", 1e6, NULL},
    {"5e-3", 0.005, NULL},
    {"6.7e7 bytes", 6.7e7, NULL},
    {"6.7 x 10^7", 6.7e7, NULL},
    {"6.7 \xC3\x97 10^7", 6.7e7, NULL},
    {"6.7*10^7 B", 6.7e7, NULL},
    {"2^20", 1048576, NULL},
    {"10^-3", 0.001, NULL},
    {"4 x 1024", 4096, NULL},
    {"4*32*2", 256, NULL},
    {"1/2", 0.5, NULL},
    {"7 / 16", 0.4375, NULL},
    {"\xC2\xBD", 0.5, NULL},
    {"1/2000", 0.0005, NULL},
    {"50%", 0.5, NULL},
    {"50 %", 0.5, NULL},
    {"50 percent", 0.5, NULL},
    {"12,5%", 0.125, "decimal sign"},
    {"2x", 2, NULL},
    {"2 x", 2, NULL},
    {"2X", 2, NULL},
    {"2\xC3\x97", 2, NULL},
    {"2 times", 2, NULL},
    {"1.5-fold", 1.5, NULL},
    {"64 MiB", 67108864, NULL},
    {"64MiB", 67108864, NULL},
    {"64 mib", 67108864, NULL},
    {"64\xC2\xA0MiB", 67108864, NULL},
    {"67.1 MB", 67.1e6, NULL},
    {"67,1 MB", 67.1e6, "decimal sign"},
    {"67 mb", 67e6, NULL},
    {"67 megabytes", 67e6, NULL},
    {"64 mebibytes", 67108864, NULL},
    {"192 KiB", 196608, NULL},
    {"192 KB", 192000, NULL},
    {"192 kB", 192000, NULL},
    {"192K", 196608, "1,024"},
    {"4k", 4096, "1,024"},
    {"1 GiB", 1073741824, NULL},
    {"1.5 million", 1.5e6, NULL},
    {"2 billion bytes", 2e9, NULL},
    {"32 loads", 32, NULL},
    {"32 blocks of queries", 32, NULL},
    {"64 lb", 64, NULL},      /* words: neither bits */
    {"64 Mibytes", 64, NULL}, /* nor 2^20 of anything */
    {"3.35 TB/s", 3.35e12, NULL},
    {"989 TFLOP/s", 989e12, NULL},
    {"989 TFLOPS", 989e12, NULL},
    {"34.36 GFLOP", 34.36e9, NULL},
    {"34.36 GFLOPs", 34.36e9, NULL},
    {"20 us", 20e-6, NULL},
    {"20 \xC2\xB5s", 20e-6, NULL},
    {"20 \xCE\xBCs", 20e-6, NULL},
    {"1.5 ms", 0.0015, NULL},
    {"2 seconds", 2, NULL},
    {"62.5 FLOP/B", 62.5, NULL},
    {"62.5 FLOPs/byte", 62.5, NULL},
    {"0", 0, NULL},
};
enum { N_SPELLINGS = COUNT_OF(SPELLINGS) };

static double typed_value(const Answer *a) { return a->number * a->unit.factor; }

TEST(spellings_are_read) {
  for (int k = 0; k < N_SPELLINGS; k++) {
    const Spelling *s = &SPELLINGS[k];
    Answer a;
    if (answer_parse(s->text, strlen(s->text), &a, fresh_error()))
      fail_msg("'%s' was refused: %s", s->text, test_error.message);
    if (fabs(typed_value(&a) - s->value) > 1e-12 * fabs(s->value))
      fail_msg("'%s' was read as %.17g", s->text, typed_value(&a));
    if (s->note ? strstr(a.note, s->note) == NULL : a.note[0] != '\0')
      fail_msg("'%s' has the note '%s'", s->text, a.note);
  }
}

static const TextSays REFUSED[] = {
    {"", "write a number"},
    {"   ", "write a number"},
    {"sixty-four", "in digits"},
    {"half", "in digits"},
    {"twice", "in digits"},
    {"a lot", "not a number"},
    {"?", "not a number"},
    {"MiB", "not a number"},
    {"infinity", "finite"},
    {"nan", "finite"},
    {"1e999", "exponent"},
    {"1e400", "too large"},
    {"0e400*0", "too large"},
    {"12345678901234567890123", "more digits"},
    {"1.2.3", "decimal point"},
    {"1.048.576", "points group"},
    {"1,04,8576", "not clear"},
    {"1,2,3", "not clear"},
    {"1,234,56", "not clear"},
    {"1 2", "two numbers"},
    {"1 1/2", "two numbers"},
    {"64; 65", "two numbers"},
    {"60-70", "a range"},
    {"32 + 32", "a sum"},
    {"1/0", "divided by 0"},
    {"2^x", "exponent"},
    {"2^(3)", "exponent"},
    {"5 = 5", "work it out"},
    {"64 Mb", "bits"},
    {"64 Mbit", "bits"},
    {"64 kb", "bits"},
    {"64 MiB/h", "no unit"},
    {"64 $", "no unit"},
    {"64 \xE2\x82\xAC", "no unit"},
    {"6\x01"
     "4",
     "no keyboard"},
    {"\xFF\xFE", "no keyboard"},
    {"64 of the things that were counted there", "too long for a unit"},
    {"9^999", "too large"},
    {"0x40", "decimal"},
};

TEST(what_cannot_be_read_is_refused_with_a_reason) {
  EACH (k, REFUSED) {
    Answer a;
    if (answer_parse(REFUSED[k].text, strlen(REFUSED[k].text), &a, fresh_error()) != STATUS_BAD_REQUEST)
      fail_msg("'%s' was read as %.17g %s", REFUSED[k].text, a.number, a.unit.name);
    if (!strstr(test_error.message, REFUSED[k].says)) fail_msg("'%s': %s", REFUSED[k].text, test_error.message);
  }
}

/* ---- Right and wrong */

static const struct {
  double value;
  const char *unit, *tolerance, *text;
  AnswerVerdict verdict;
} JUDGED[] = {
    /* 64 MiB = 67,108,864 bytes */
    {67108864, "MiB", NULL, "64", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "64 MiB", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "67.1 MB", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "67 MB", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "67.11 MB", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "67.2 MB", ANSWER_NEAR},
    {67108864, "MiB", NULL, "6.7e7 bytes", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "0.0625 GiB", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "65536 KiB", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "67108864 B", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "2^26 bytes", ANSWER_RIGHT},
    {67108864, "MiB", NULL, "64 MB", ANSWER_OTHER_UNIT},
    {67108864, "MiB", NULL, "67108864", ANSWER_WRONG}, /* that would be MiB */
    {67108864, "MiB", NULL, "128 MiB", ANSWER_WRONG},
    {67108864, "MB", NULL, "64 MiB", ANSWER_RIGHT},
    {67108864, "MB", NULL, "67.1 MiB", ANSWER_OTHER_UNIT},
    {67108864, "MB", NULL, "7e7 bytes", ANSWER_ROUGH}, /* one digit */
    {67108864, "B", NULL, "6.7 x 10^7", ANSWER_RIGHT}, /* 6.65 to 6.75 */
    {67108864, "MB", "exact", "67.1", ANSWER_NEAR},
    {67108864, "MB", "exact", "67.108864", ANSWER_RIGHT},
    /* e^-1 = 0.36788 */
    {0.36787944, "", NULL, "0.368", ANSWER_RIGHT},
    {0.36787944, "", NULL, "0,37", ANSWER_RIGHT},
    {0.36787944, "", NULL, "0.4", ANSWER_ROUGH},
    {0.36787944, "", NULL, "0.367", ANSWER_NEAR},
    {0.36787944, "", "1%", "0.367", ANSWER_RIGHT},
    {0.36787944, "", "1%", "0.36", ANSWER_NEAR},
    {0.36787944, "", "0.01", "0.36", ANSWER_RIGHT},
    {0.36787944, "", NULL, "36.8%", ANSWER_RIGHT},
    /* a stated tolerance binds: 1.9 only rounds to it */
    {1.857, "x", "0.003", "1.859", ANSWER_RIGHT},
    {1.857, "x", "0.003", "1.86", ANSWER_RIGHT},
    {1.857, "x", "0.003", "1.9", ANSWER_ROUGH},
    {1.857, "x", "0.003", "1.872", ANSWER_NEAR},
    {1.857, "x", NULL, "1.9", ANSWER_RIGHT},
    {0.36787944, "", NULL, "1", ANSWER_WRONG},
    /* 7/16 */
    {0.4375, "%", NULL, "43.75%", ANSWER_RIGHT},
    {0.4375, "%", NULL, "43.75", ANSWER_RIGHT},
    {0.4375, "%", NULL, "44", ANSWER_RIGHT},
    {0.4375, "%", NULL, "0.4375", ANSWER_RIGHT},
    {0.4375, "%", NULL, "7/16", ANSWER_RIGHT},
    {0.4375, "%", NULL, "28/64", ANSWER_RIGHT},
    {1.5, "%", NULL, "3/2", ANSWER_RIGHT},
    {0.4375, "%", NULL, "0.4375%", ANSWER_WRONG},
    {0.4375, "%", NULL, "1/2", ANSWER_WRONG},
    /* ratios */
    {2, "x", NULL, "2x", ANSWER_RIGHT},
    {2, "x", NULL, "2", ANSWER_RIGHT},
    {2, "x", NULL, "2 times", ANSWER_RIGHT},
    {2, "x", NULL, "200%", ANSWER_RIGHT},
    {2, "x", NULL, "1/2", ANSWER_WRONG},
    {1.9692, "x", NULL, "2x", ANSWER_ROUGH},
    {1.9692, "x", NULL, "1.97", ANSWER_RIGHT},
    /* counts are exact */
    {32, "loads", NULL, "32", ANSWER_RIGHT},
    {32, "loads", NULL, "32 loads", ANSWER_RIGHT},
    {32, "loads", NULL, "32 load", ANSWER_RIGHT},
    {32, "loads", NULL, "32 times", ANSWER_RIGHT},
    {32, "loads", NULL, "32.0", ANSWER_RIGHT},
    {32, "loads", NULL, "31", ANSWER_WRONG},
    {32, "loads", NULL, "3e1", ANSWER_WRONG},
    {3010000000.5, "loads", NULL, "3.0e9", ANSWER_ROUGH},   /* a count, but for what a double leaves */
    {1048576, "loads", NULL, "1.05 million", ANSWER_RIGHT}, /* many: three digits */
    {9216, "loads", NULL, "9220", ANSWER_WRONG},            /* few: exactly */
    {9216, "", NULL, "9216 loads", ANSWER_RIGHT},
    {1024, "", NULL, "1.0e3", ANSWER_WRONG},
    {1024, "", NULL, "1K", ANSWER_RIGHT},
    {1024, "", NULL, "1,024", ANSWER_RIGHT},
    {1024, "", "5%", "1000", ANSWER_RIGHT},
    /* time and rates */
    {20e-6, "us", NULL, "20", ANSWER_RIGHT},
    {20e-6, "us", NULL, "0.02 ms", ANSWER_RIGHT},
    {20e-6, "us", NULL, "20 ms", ANSWER_WRONG},
    {989e12, "TFLOP/s", NULL, "989 TFLOPS", ANSWER_RIGHT},
    {34359738368.0, "GFLOP", NULL, "34.4 GFLOPs", ANSWER_RIGHT},
    {34359738368.0, "GFLOP", NULL, "34 gflops", ANSWER_RIGHT},
    {3.35e12, "TB/s", NULL, "3350 GB/s", ANSWER_RIGHT},
};

static AnswerKey key_of(double value, const char *unit, const char *tolerance) {
  AnswerKey key = {.value = value};
  must(answer_unit(unit, &key.unit, NULL));
  if (tolerance) must(answer_tolerance(tolerance, &key.tolerance, NULL));
  return key;
}

TEST(answers_are_judged_fairly) {
  EACH (k, JUDGED) {
    const AnswerKey key = key_of(JUDGED[k].value, JUDGED[k].unit, JUDGED[k].tolerance);
    Answer a;
    AnswerVerdict verdict;
    if (answer_parse(JUDGED[k].text, strlen(JUDGED[k].text), &a, fresh_error()) ||
        answer_judge(&key, &a, &verdict, fresh_error()))
      fail_msg("'%s': %s", JUDGED[k].text, test_error.message);
    if (verdict != JUDGED[k].verdict)
      fail_msg("'%s' for %g %s: %d, not %d", JUDGED[k].text, JUDGED[k].value, JUDGED[k].unit, (int)verdict,
               (int)JUDGED[k].verdict);
  }
}

TEST(units_that_do_not_go_together_are_refused) {
  static const struct {
    const char *unit, *text;
  } PAIRS[] = {{"MiB", "64 ms"}, {"MiB", "64 loads"}, {"loads", "32 tiles"}, {"loads", "50%"},
               {"", "64 MiB"},   {"%", "43 MB"},      {"s", "3 B/s"}};
  EACH (k, PAIRS) {
    const AnswerKey key = key_of(64, PAIRS[k].unit, NULL);
    Answer a;
    AnswerVerdict verdict;
    must(answer_parse(PAIRS[k].text, strlen(PAIRS[k].text), &a, fresh_error()));
    assert_int_equal(answer_judge(&key, &a, &verdict, fresh_error()), STATUS_BAD_REQUEST);
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
    Answer typed;
    AnswerVerdict verdict;
    answer_text(&key, ROWS[k].value, text, sizeof text);
    assert_string_equal(text, ROWS[k].text);
    must(answer_parse(text, strlen(text), &typed, NULL)); /* what is printed is accepted */
    must(answer_judge(&key, &typed, &verdict, NULL));
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
    if ((status == STATUS_OK) != (ROWS[k].chosen >= 0) || chosen != ROWS[k].chosen)
      fail_msg("'%s': %d", ROWS[k].text, chosen);
    if (status) assert_non_null(strstr(test_error.message, "from a to c"));
  }
}

TEST(orders_go_by_letters_and_keys) {
  static const char *const RIGHT[] = {"b a c",   "bac", "B,A,C", "b, a, c", "b > a > c", "same smaller larger",
                                      "b) a) c)"};
  EACH (k, RIGHT) {
    int order[ANSWER_CHOICES_MAX];
    if (answer_order(&CHOICES, RIGHT[k], order, NULL)) fail_msg("'%s' was refused", RIGHT[k]);
    assert_true(order[0] == 1 && order[1] == 0 && order[2] == 2);
  }
  static const TextSays BAD[] = {{"", "0 of the 3"}, {"a b", "2 of the 3"}, {"a b b", "twice"},
                                 {"aab", "twice"},   {"a b c a", "only 3"}, {"a b x", "none of the items"}};
  EACH (k, BAD) {
    int order[ANSWER_CHOICES_MAX];
    must_refuse(answer_order(&CHOICES, BAD[k].text, order, fresh_error()), STATUS_BAD_REQUEST, BAD[k].says);
  }
}
