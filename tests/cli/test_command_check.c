/* tilewalk lesson claims from the command line: what is printed, for whom, and what is refused. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"
#include "viz/text/glyphs.h"

static ProgramRun run;

static void expect_line(const char *arguments, int status, const char *says) {
  program_run(&run, arguments);
  assert_int_equal(run.exit_status, status);
  if (!strstr(status ? run.err : run.out, says))
    fail_msg("%s: '%s' does not say '%s'", arguments, status ? run.err : run.out, says);
}

TEST(everything_is_printed_within_80_columns) {
  expect_line("check", 0, "82 claims: 44 hold, 5 round, 3 hold in a limit, 30 wrong.");
  assert_non_null(strstr(run.out, "13 questions: 7 hold, 1 hold in a limit, 5 wrong."));
  const TextStyle style = {.utf8 = true, .width = 80};
  for (char *line = strtok(run.out, "\n"); line; line = strtok(NULL, "\n"))
    if (text_columns(&style, line) > 80) fail_msg("%d columns: %s", text_columns(&style, line), line);
  assert_null(strchr(run.out, '\033')); /* no colour into a file */
}

TEST(the_choice_is_obeyed) {
  expect_line("check --only A-cyu1,D-factor --only E-kv-once", 0, "148 rows");
  assert_non_null(strstr(run.out, "sram.max_block")); /* the expression stands with it */
  assert_non_null(strstr(run.out, "D-factor"));
  assert_non_null(strstr(run.out, "E-kv-once"));
  assert_null(strstr(run.out, "A-cyu2"));
  expect_line("check --article d", 0, "11 claims: 8 hold, 2 round, 1 wrong.");
  assert_null(strstr(run.out, "A-cyu1 "));
  expect_line("check --article B --article C", 0, "8 claims: 7 hold, 1 wrong.");
}

/* A word is looked for in ids and texts, whatever its case. */
TEST(claims_are_found_by_a_word) {
  expect_line("check --search coalesc", 0, "E-coalesce");
  assert_non_null(strstr(run.out, "E-uncoalesced")); /* by its id */
  assert_null(strstr(run.out, "A-cyu1 "));
  expect_line("check --search TFLOP", 0, "E-fa2-tflops");
  expect_line("check --search 'KV cache' --article A", 0, "A-kv-llama70b");
  assert_null(strstr(run.out, "A-std-total-4096"));
  expect_line("check --search zebra", 2, "no claim or question has 'zebra' in it");
  expect_line("check --search ''", 2, "the word is empty");
}

static json_t *member(const json_t *list, const char *id) {
  size_t k;
  json_t *entry;
  json_array_foreach(list, k, entry) if (strcmp(json_string_value(json_object_get(entry, "id")), id) == 0) return entry;
  fail_msg("no %s", id);
  return NULL;
}

TEST(json_has_the_promised_keys) {
  expect_line("check --json", 0, "{");
  json_t *document = json_loads(run.out, 0, NULL);
  assert_non_null(document);
  const json_t *claims = json_object_get(document, "claims"), *questions = json_object_get(document, "questions");
  assert_int_equal(json_array_size(claims), 82);
  assert_int_equal(json_array_size(questions), 13);
  static const char *const claim_keys[] = {"id", "verdict", "claimed", "computed", "unit", "why"};
  static const char *const question_keys[] = {"id", "answer", "article_says", "verdict", "evidence"};
  for (size_t e = 0; e < 82; e++)
    for (size_t k = 0; k < 6; k++) assert_non_null(json_object_get(json_array_get(claims, e), claim_keys[k]));
  for (size_t e = 0; e < 13; e++)
    for (size_t k = 0; k < 5; k++)
      assert_true(json_string_length(json_object_get(json_array_get(questions, e), question_keys[k])) > 0);
  const json_t *cyu1 = member(claims, "A-cyu1");
  assert_int_equal(json_integer_value(json_object_get(cyu1, "claimed")), 185);
  assert_int_equal(json_integer_value(json_object_get(cyu1, "computed")), 148);
  assert_string_equal(json_string_value(json_object_get(cyu1, "verdict")), "wrong");
  assert_string_equal(json_string_value(json_object_get(cyu1, "unit")), "rows");
  assert_int_equal(json_array_size(json_object_get(member(claims, "D-walk-out"), "computed")), 4);
  assert_true(json_is_true(json_object_get(member(claims, "A-causal-rule"), "claimed")));
  assert_true(json_is_false(json_object_get(member(claims, "A-causal-rule"), "computed")));
  json_decref(document);
}

TEST(csv_has_a_line_for_each) {
  expect_line("check --csv", 0, "id,kind,article,claimed,computed,unit,verdict,says,why\n");
  size_t n = 0;
  for (const char *c = run.out; *c; c++) n += *c == '\n';
  assert_int_equal(n, 1 + 82 + 13);
}

TEST(bad_requests_are_refused) {
  static const struct {
    const char *arguments, *says;
  } rows[] = {{"check --only A-cyu", "there is no claim 'A-cyu'; did you mean 'A-cyu1'?"},
              {"check --only ''", "no id is given"},
              {"check --only A-cyu1,,D-factor", "there is no claim ''"},
              {"check --only zzzzzzzz", "'tilewalk lesson claims' lists them"},
              {"check --article F", "there is no article F; 'tilewalk lesson claims'"},
              {"check --article AB", "'AB' is no article"},
              {"check --article ''", "'' is no article"},
              {"check --article B --only A-cyu1", "both in --only and of that --article"},
              {"check --json --csv", "give one of them"},
              {"check --file /nonexistent", "cannot open /nonexistent"},
              {"check --file .", "is a folder"},
              {"check --file ''", "empty"},
              {"check A-cyu1", "'A-cyu1' is no option"},
              {"check --onyl A", "did you mean '--only'"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    expect_line(rows[k].arguments, 2, rows[k].says);
    assert_string_equal(run.out, "");
    assert_true(strchr(run.err, '\n') == run.err + strlen(run.err) - 1);
  }
}

/* A file of one's own; and a hostile one, which is an error with its line and prints nothing. */
TEST(files_of_ones_own_are_read) {
  char path[] = "/tmp/tilewalk-claims-XXXXXX", arguments[64];
  const int descriptor = mkstemp(path);
  FILE *file = fdopen(descriptor, "w");
  fputs("## X-1\n- article: X, mine\n- says: mine\n- claimed: 7 loads\n\n```lua\nsim{N=1024, "
        "block=128}.loads_per_block.K\n```\n",
        file);
  fflush(file);
  snprintf(arguments, sizeof arguments, "check --file %s", path);
  expect_line(arguments, 0, "1 claim: 1 wrong.");
  fputs("## X-2\n- article: X\n- says: a\n- claimed: 1\n```lua\nos.execute('touch "
        "/tmp/tilewalk-was-here')\n```\n",
        file);
  fclose(file);
  expect_line(arguments, 2, ":14: there is no name 'os'");
  assert_string_equal(run.out, "");
  unlink(path);
}
