/* Reading hand-ins: rows of CSV as the format's rules say, one wrong row beside right ones. */
#include "tests/support/test.h"
#include "lessons/engine/lesson_submission.h"

static Submission s;
static Error error;

static void read_text(const char *text) {
  error = (Error){0};
  must(submission_add(&s, text, strlen(text), "f.csv", &error));
}

static void is_row(size_t k, const char *student, const char *id, const char *answer, int line) {
  assert_true(k < s.n_rows);
  assert_string_equal(s.rows[k].student, student);
  assert_string_equal(s.rows[k].id, id);
  assert_string_equal(s.rows[k].answer, answer);
  assert_int_equal(s.rows[k].line, line);
}

static void is_problem(size_t k, const char *part) {
  assert_true(k < s.n_rows);
  const char *problem = s.rows[k].problem;
  if (!problem || !strstr(problem, part)) fail_msg("'%s' lacks '%s'", problem, part);
}

/* A field beyond the last column belongs to no column, whatever lies behind the names in memory; one too few is empty.
 */
TEST(test_fields_and_columns) {
  read_text("id,answer,student\na,1\nb,2,,3\nc\n");
  assert_int_equal(s.n_rows, 3);
  is_row(0, "", "a", "1", 2);
  assert_null(s.rows[0].problem);
  is_row(1, "", "b", "2", 3);
  is_problem(1, "4 fields under 3 columns");
  is_row(2, "", "c", "", 4);
  submission_free(&s);
}

/* A wrong row is a row with its reason, and the next line is read as if it were not there. */
TEST(test_wrong_rows_hurt_no_other) {
  static char text[3 * SUBMISSION_FIELD_BYTES], longest[SUBMISSION_FIELD_BYTES];
  memset(longest, 'x', sizeof longest - 1);
  strcpy(text, "id,answer,student\nb,2\nc,\"3\"4,5\nd,4\ne,");
  strcat(text, longest);
  strcat(text, "\nf,");
  strcat(text, longest);
  strcat(text, "y,z,z\ng,7\nh,\"never closed\ni,9\n");
  read_text(text);
  assert_int_equal(s.n_rows, 8);
  is_row(0, "", "b", "2", 2);
  is_problem(1, "a field ends at its closing quotation mark");
  is_row(2, "", "d", "4", 4);
  assert_null(s.rows[3].problem); /* 4095 bytes fit */
  assert_int_equal(strlen(s.rows[3].answer), SUBMISSION_FIELD_BYTES - 1);
  is_problem(4, "a field is longer than 4095 bytes");
  is_row(5, "", "g", "7", 7);
  is_problem(6, "a quotation mark is never closed");
  is_row(7, "", "i", "9", 9);
  submission_free(&s);
}

/* A seed is a whole number of at most 18 digits; a line without anything is none. */
TEST(test_seeds_and_empty_lines) {
  read_text(
      "id,answer,seed,student\na,1,0\n\n , ,\nb,2,999999999999999999\nc,3,1000000000000000000\nd,4,-1\ne,5,\n,6,,\n");
  assert_int_equal(s.n_rows, 6);
  assert_true(s.rows[0].seed == 0);
  assert_true(s.rows[1].seed == UINT64_C(999999999999999999) && s.rows[1].line == 5);
  is_problem(2, "the seed '1000000000000000000' is no whole number");
  is_problem(3, "the seed '-1' is no whole number");
  assert_true(s.rows[4].seed == UINT64_MAX && s.rows[4].problem == 0);
  is_problem(5, "the id of the question is missing");
  submission_free(&s);
}

/* A hand-in cut off at any byte: the answers that had ended are kept, and the last row says what was lost. */
TEST(test_a_cut_file_keeps_its_whole_answers) {
  static const char TEXT[] = "[{\"student\": \"A\", \"answers\": {\"a\": \"1\", \"b\": \"2,}\", \"c\": \"\\\"]\"}},"
                             " {\"student\": \"B\", \"answers\": {\"d\": 4, \"e\": \"5\"}}]";
  static const char *const ENDS[] = {"\"1\"", "\"2,}\"", "\\\"]\"", "4,", "\"5\""};
  for (size_t length = sizeof TEXT - 2; length > 0; length--) {
    size_t n = 0, n_kept = 0;
    error = (Error){0};
    for (size_t k = 0; k < 5; k++) n += (size_t)(strstr(TEXT, ENDS[k]) - TEXT) + strlen(ENDS[k]) <= length;
    if (submission_add(&s, TEXT, length, "f.json", &error)) {
      assert_true(n == 0 && strncmp(error.message, "f.json:1: this is not JSON", 26) == 0);
    } else {
      for (size_t k = 0; k < s.n_rows; k++) n_kept += !s.rows[k].problem;
      if (n_kept != n || s.n_rows != n + 1) fail_msg("%zu of %zu kept of %.*s", n_kept, n, (int)length, TEXT);
      is_problem(n, "what follows is lost");
      assert_string_equal(s.rows[n].student, (size_t)(strstr(TEXT, "\"B\"") - TEXT) + 3 <= length ? "B" : "A");
    }
    submission_free(&s);
  }
  read_text("{\"student\": \"A\", \"answers\": {\"a\": 1,}}"); /* a comma too many */
  is_row(0, "A", "a", "1", 1);
  is_problem(1, "1 answer before it is kept");
  submission_free(&s);
}
