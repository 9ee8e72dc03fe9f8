/* Files of claims: how they are read and computed, and what is said of wrong and of large ones. */
#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "lessons/engine/claims.h"

#define HEAD "- article: A, here\n- says: text\n"
#define CODE "\n```lua\n1 + 1\n```\n"

static Status read_text(Claims *claims, const char *text, Error *error) {
  return claims_read(claims, ALL_OF(text), "f.md", error);
}

static const ClaimEntry *find(const Claims *claims, const char *id) {
  const size_t k = claims_find(claims, id, fresh_error());
  assert_true(k != claims->n_entries);
  return &claims->entries[k];
}

TEST(a_small_file_is_read_and_computed) {
  Claims claims = {0};
  const char *text =
      "\xEF\xBB\xBF# Title\r\n\r\nanything\r\n\r\n# Part one\r\n## X-1\r\n- article: B, "
      "somewhere\r\n"
      "- says: a text\r\n  that goes on\r\n- claimed: 2 loads\r\n- why: never shown\r\n- note: it "
      "is {1 +\r\n  1}\r\n\r\n```lua\r\nlocal a = 1\r\nreturn 2 * a\r\n```\r\n"
      "\n## X-2\n" HEAD "- claimed: 3 loads" CODE "\n## X-3\n" HEAD "- rounds: up\n- claimed: 2.0019 loads" CODE
      "\n## X-4\n" HEAD "- rounds: up\n- claimed: 2.0021 loads" CODE /* rounded: by a thousandth of 2 at most */
      "\n## X-5\n" HEAD "- claimed: 67 MB\n```lua\n67 * MiB\n```\n";
  must(read_text(&claims, text, fresh_error()));
  assert_int_equal(claims.n_entries, 5);
  for (size_t k = 0; k < 5; k++) must(claims_compute(&claims, k, NULL, fresh_error()));
  const ClaimEntry *e = find(&claims, "X-1");
  assert_int_equal(e->verdict, VERDICT_HOLDS);
  assert_int_equal(find(&claims, "X-3")->verdict, VERDICT_ROUNDS);
  assert_int_equal(find(&claims, "X-4")->verdict, VERDICT_WRONG);
  assert_string_equal(e->section, "Part one");
  assert_string_equal(e->filled[CLAIM_SAYS], "a text that goes on");
  char why[CLAIMS_TEXT_BYTES];
  claims_why(&claims, e, why, sizeof why);
  assert_string_equal(why, "it is 2");
  claims_why(&claims, find(&claims, "X-2"), why, sizeof why);
  assert_string_equal(why, "Computed: 2 loads."); /* wrong, and no reason written: the rule still says what is right */
  claims_why(&claims, find(&claims, "X-5"), why, sizeof why);
  assert_string_equal(why, "Right in MiB: 67 MiB = 70.3 MB.");
  /* a second file with the same id is refused, and the first stays */
  must_refuse(read_text(&claims, "## X-1\n" HEAD "- claimed: 1" CODE, fresh_error()), STATUS_BAD_FILE,
              "f.md:1: 'X-1' is here twice, first on line 6 of f.md");
  assert_int_equal(claims.n_entries, 5);
  claims_free(&claims);
}

TEST(wrong_files_get_line_and_reason) {
  static const char *const rows[] = {
      " => f.md: no entries",
      "only text\n => f.md:1: no entries",
      "## \n => f.md:1: an id has 1 to 39",
      "## a b\n => f.md:1: 'a b' is no id",
      "## aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n => f.md:1: an id has",
      "## X\n => f.md:1: the entry has no 'claimed' value",
      "## X\n- claimed: 1" CODE " => f.md:1: the entry has no 'article'",
      "## X\n- article: A\n- claimed: 1" CODE " => f.md:1: the entry has no 'says'",
      "## X\n- asks: why?\n- article: A\n- claimed: 1" CODE " => f.md:1: the entry has no 'article says'",
      "## X\n" HEAD "- claimed: 1\n => f.md:4: the claimed value above has no ```lua block",
      "## X\n" HEAD "- claimed: 1\n## Y\n => f.md:5: the claimed value above has no ```lua block",
      "## X\n" HEAD "- claimed: 1\n- claimed: 2\n => f.md:5: the claimed value before this one",
      "## X\n" HEAD "- claimed: 1" CODE "- claimed: 1" CODE " => f.md:1: a claim has one claimed value",
      "## X\n" HEAD "- claimed: 67 Mb\n => f.md:4: 'Mb' would be bits",
      "## X\n" HEAD "```lua\n1\n```\n => f.md:4: this block computes nothing",
      "## X\n" HEAD "- claimed: 1\n```c\n => f.md:5: only ```lua blocks",
      "## X\n" HEAD "- claimed: 1\n```lua\n```\n => f.md:6: the block is empty",
      "## X\n" HEAD "- claimed: 1\n```lua\n1 + 1\n\n## Y\n => f.md:5: the block that begins here has no closing",
      "## X\n" HEAD "- claim: 1\n => f.md:4: there is no key 'claim' (did you mean 'claimed'?) in an entry",
      "## X\n" HEAD "- zzzzzzzz: 1\n => f.md:4: there is no key 'zzzzzzzz' in an entry; ",
      "## X\n- article: here\n => f.md:2: 'article' begins with its letter",
      "## X\n- article: Ab\n => f.md:2: 'article' begins with its letter",
      "## X\nhello\n => f.md:2: 'hello' is not of the form",
      "## X\n- part: a\n- part: b\n => f.md:3: two 'part' lines",
      "## X\n" HEAD "- claimed: 1" CODE "- part: a\n => after 'part' must stand",
  };
  EACH_SAYS (row, rows) {
    Claims claims = {0};
    must_refuse(read_text(&claims, row.text, fresh_error()), STATUS_BAD_FILE, row.says);
    assert_int_equal(claims.n_entries, 0);
    claims_free(&claims);
  }
}

/* Code that is wrong, or judged wrongly, is found when it runs; the line is the file's. */
TEST(wrong_code_gets_line_and_reason) {
  static const char *const rows[] = {
      "## X\n" HEAD "- claimed: 1\n```lua\n1\n+ nope\n```\n => f.md:7: there is no name 'nope'",
      "## X\n" HEAD
      "- claimed: 1\n```lua\nwhile true do end return 1\n```\n => f.md:6: the expression does too much work",
      "## X\n" HEAD "- claimed: 1\n```lua\n{1, 2}\n```\n => f.md:4: 1 numbers are claimed and 2 computed",
      "## X\n" HEAD "- claimed: true\n```lua\n1\n```\n => f.md:4: the claim 'true' needs true or false",
      "## X\n" HEAD "- why: {1 +}\n- claimed: 1" CODE " => f.md:4: unexpected symbol",
      "## X\n" HEAD "- why: a\n  {\n- claimed: 1" CODE " => f.md:5: a '{' in the text has no '}'",
      "## X\n- article: A\n- says: {'\\27'}\n- claimed: 2" CODE
      " => f.md:3: the result is a text with bytes that are no text",
  };
  EACH_SAYS (row, rows) {
    Claims claims = {0};
    must(read_text(&claims, row.text, fresh_error()));
    assert_int_not_equal(claims_compute(&claims, 0, NULL, fresh_error()), STATUS_OK);
    assert_said(row.says);
    assert_false(claims.entries[0].is_computed);
    claims_free(&claims);
  }
}

TEST(large_files_are_refused) {
  Claims claims = {0};
  char *text = malloc(CLAIMS_FILE_BYTES + 1);
  memset(text, 'a', CLAIMS_FILE_BYTES + 1);
  must_refuse(claims_read(&claims, text, CLAIMS_FILE_BYTES + 1, "f.md", fresh_error()), STATUS_BAD_FILE,
              "f.md:1: the file is");
  must_refuse(claims_read(&claims, text, CLAIMS_FILE_BYTES, "f.md", fresh_error()), STATUS_BAD_FILE,
              "f.md:1: the line is 1048576 bytes long");
  size_t n = 0;
  for (int k = 0; n + 100 < CLAIMS_FILE_BYTES; k++)
    n += (size_t)snprintf(text + n, 100, "## X%d\n" HEAD "- claimed: 1\n```lua\n1\n```\n", k);
  must_refuse(claims_read(&claims, text, n, "f.md", fresh_error()), STATUS_BAD_FILE, "more than 1000 entries");
  claims_free(&claims);
  free(text);
}

static Status read_and_compute(void *context, Error *error) {
  const char *text = context;
  Claims claims = {0};
  Status status = read_text(&claims, text, error);
  for (size_t k = 0; k < claims.n_entries && !status; k++) status = claims_compute(&claims, k, NULL, error);
  claims_free(&claims);
  return status;
}

TEST(every_allocation_may_fail) {
  char text[] = "## X\n" HEAD "- why: {computed} and {binary(MiB)}\n- claimed: 1 loads" CODE
                "## Y\n- article: A\n- asks: a\n- article says: b\n- answer: {1}\n- evidence: "
                "{2}\n- part: one\n- claimed: 2" CODE "- claimed: 3" CODE;
  assert_true(alloc_fail_each(read_and_compute, text) > 50);
}
