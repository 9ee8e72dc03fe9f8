/* The rule of verdicts: every kind of printed value against every kind of computed one, and what is
 * said of a printed value that cannot be read. */
#include "tests/support/test.h"
#include "tests/support/claims_bench.h"

typedef struct {
  const char *claimed;
  double value;
  Verdict verdict;
  const char *unit; /* where it is right in another */
} Rule;

TEST(numbers_are_judged_by_their_printed_digits) {
  static const Rule rules[] = {
      {"67 MB", 67e6, VERDICT_HOLDS, NULL},
      {"67 MB", 67.4e6, VERDICT_HOLDS, NULL},
      {"67 MB", 67.5e6, VERDICT_HOLDS, NULL}, /* a tie may be rounded either way */
      {"67 MB", 66.5e6, VERDICT_HOLDS, NULL},
      {"67 MB", 67.6e6, VERDICT_ROUNDS, NULL},
      {"67 MB", 68.4e6, VERDICT_ROUNDS, NULL},
      {"67 MB", 68.6e6, VERDICT_WRONG, NULL},
      {"67 MB", 67 * 1048576.0, VERDICT_ROUNDS, "MiB"},
      {"67 MiB", 67e6, VERDICT_ROUNDS, "MB"},
      {"67 mib", 67 * 1048576.0, VERDICT_HOLDS, NULL},
      {"161 KB", 161 * 1024, VERDICT_ROUNDS, "KiB"},
      {"2 GB", 2 * 1073741824.0, VERDICT_HOLDS, NULL},
      {"4 GB", 4 * 1099511627776.0, VERDICT_WRONG, NULL}, /* KiB for GB is no mix-up */
      {"1.320", 1.3204, VERDICT_HOLDS, NULL},
      {"1.320", 1.3206, VERDICT_ROUNDS, NULL},
      {"1.32", 1.3206, VERDICT_HOLDS, NULL},
      {"1.320", 1.3216, VERDICT_WRONG, NULL},
      {"0.5", 0.48, VERDICT_HOLDS, NULL},
      {"0.5", 0.44, VERDICT_WRONG, NULL}, /* one digit is too few to be off by one in */
      {"4 x", 3.4, VERDICT_WRONG, NULL},
      {"10 x", 11, VERDICT_WRONG, NULL}, /* counted: a whole number in a unit without a factor */
      {"10 x", 11.2, VERDICT_ROUNDS, NULL},
      {"185 rows", 186, VERDICT_WRONG, NULL},
      {"45 rows", 45.3, VERDICT_HOLDS, NULL},
      {"1/2000", 1 / 2000.3, VERDICT_HOLDS, NULL},
      {"1/2000", 1 / 2001.3, VERDICT_ROUNDS, NULL},
      {"1/2000", 1 / 1884.0, VERDICT_WRONG, NULL},
      {"72 %", 0.7204, VERDICT_HOLDS, NULL},
      {"335 TFLOP/s", 335.2e12, VERDICT_HOLDS, NULL},
      {"4-8 x", 8, VERDICT_HOLDS, NULL},
      {"4-8 x", 8.4, VERDICT_HOLDS, NULL},
      {"4-8 x", 8.6, VERDICT_WRONG, NULL},
      {"4-8 x", 3.4, VERDICT_WRONG, NULL},
      {"0", 0, VERDICT_HOLDS, NULL},
      {"67 MB", (double)INFINITY, VERDICT_WRONG, NULL},
      {"67 MB", (double)NAN, VERDICT_WRONG, NULL},
  };
  EACH (k, rules) {
    Claimed claimed;
    Judgement j;
    must(claimed_parse(rules[k].claimed, &claimed, NULL));
    const ExpressionValue value = {.kind = EXPRESSION_NUMBER, .n = 1, .numbers = {rules[k].value}};
    must(verdict_judge(&claimed, &value, &j, NULL));
    if (j.verdict != rules[k].verdict)
      fail_msg("%s against %.9g: %s", rules[k].claimed, rules[k].value, verdict_name(j.verdict));
    if (rules[k].unit)
      assert_string_equal(j.true_unit, rules[k].unit);
    else
      assert_null(j.true_unit);
  }
}

static ExpressionValue series(int n, const double *values) {
  ExpressionValue v = {.kind = EXPRESSION_SERIES, .n = n};
  for (int k = 0; k < n; k++) v.at[k] = k + 1, v.numbers[k] = values[k];
  return v;
}

TEST(a_series_may_hold_only_in_the_limit) {
  Claimed half;
  must(claimed_parse("0.5", &half, NULL));
  const ExpressionValue rising = series(3, (double[]){0, 0.375, 0.49}), always = series(3, (double[]){0.5, 0.51, 0.49}),
                        falling = series(3, (double[]){0.5, 0.3, 0.1});
  assert_int_equal(judge(&half, &rising), VERDICT_LIMIT);
  assert_int_equal(judge(&half, &always), VERDICT_HOLDS);
  assert_int_equal(judge(&half, &falling), VERDICT_WRONG);
}

TEST(a_computed_range_holds_what_lies_in_it) {
  const ExpressionValue range = {.kind = EXPRESSION_RANGE, .n = 2, .numbers = {9.56, 12.53}};
  static const struct {
    const char *claimed;
    Verdict verdict;
  } rows[] = {{"10 x", VERDICT_HOLDS}, {"13 x", VERDICT_HOLDS},  {"14 x", VERDICT_WRONG},
              {"9 x", VERDICT_WRONG},  {"9.6 x", VERDICT_HOLDS}, {"9.4 x", VERDICT_WRONG}};
  EACH (k, rows) {
    Claimed claimed;
    must(claimed_parse(rows[k].claimed, &claimed, NULL));
    assert_int_equal(judge(&claimed, &range), rows[k].verdict);
  }
}

TEST(what_cannot_be_compared_is_an_error) {
  static const struct {
    const char *claimed;
    ExpressionValue value;
  } rows[] = {{"6, 4, 6", {.kind = EXPRESSION_LIST, .n = 2}},
              {"6", {.kind = EXPRESSION_LIST, .n = 2}},
              {"true", {.kind = EXPRESSION_NUMBER, .n = 1}},
              {"6", {.kind = EXPRESSION_FLAG}},
              {"N", {.kind = EXPRESSION_FLAG}},
              {"6, 4", {.kind = EXPRESSION_SERIES, .n = 2}},
              {"4-8", {.kind = EXPRESSION_TEXT}},
              {"6", {.kind = EXPRESSION_NONE}}};
  EACH (k, rows) {
    Claimed claimed;
    Judgement j;
    must(claimed_parse(rows[k].claimed, &claimed, NULL));
    assert_int_equal(verdict_judge(&claimed, &rows[k].value, &j, fresh_error()), STATUS_BAD_REQUEST);
    assert_true(strlen(test_error.message) > 20);
  }
}

TEST(claimed_values_that_cannot_be_read_say_why) {
  static const TextSays rows[] = {{"", "no claimed value"},
                                  {"   ", "no claimed value"},
                                  {"67 Mb", "would be bits"},
                                  {"67 big loads", "is no unit"},
                                  {"8-4", "the range goes down"},
                                  {"4-", "a range is written"},
                                  {"2/3", "with 1 above"},
                                  {"1/0", "with 1 above"},
                                  {"1/x", "with 1 above"},
                                  {"1, ", "no number"},
                                  {"1, x", "no number"},
                                  {".", "can be read"},
                                  {"1.2.3", "can be read"},
                                  {"67 averyveryverylongunit", "is no unit"},
                                  {"99999999999999999999999999999999999999", "can be read"},
                                  {"1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8", "more than 16 numbers"},
                                  {"true or false or something that is much too long to be a word that an article "
                                   "could print anywhere",
                                   "bytes long"}};
  EACH (k, rows) {
    Claimed claimed = {.n = 77};
    must_refuse(claimed_parse(rows[k].text, &claimed, fresh_error()), STATUS_BAD_REQUEST, rows[k].says);
    assert_int_equal(claimed.n, 77);
  }
}
