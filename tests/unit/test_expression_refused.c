/* Expressions that are refused: in one line that says what and where, within bounded time and memory. */
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "tests/support/expression_eval.h"
#include "tests/support/sanitized.h"

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static Status load_any(void *context, const char *name, Gpu *gpu, Error *error) {
  (void)context, (void)name, (void)error;
  *gpu = open_gpu("h200");
  return STATUS_OK;
}

/* Says what is wrong in line 10, where the source begins, or, where `says` begins so, 11 or 12. */
static void expect_refusal(TextSays r) {
  ExpressionScope *scope;
  ExpressionValue value = {.n = -1};
  must(expression_scope_open(
      &scope, &(ExpressionLimits){.file = "t.md", .load_gpu = strstr(r.text, "gpu='any'") ? load_any : NULL},
      fresh_error()));
  const clock_t began = clock();
  const Status status = expression_scope_eval(scope, ALL_OF(r.text), 10, &value, fresh_error());
  const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  expression_scope_close(scope);
  int line = 0, used = 0;
  sscanf(r.says, "%d: %n", &line, &used);
  const char *begin = test_text("t.md:%d: ", used ? line : 10);
  assert_true(status != STATUS_OK);
  assert_true(status != STATUS_NO_MEMORY && status == test_error.status);
  assert_begins(begin);
  assert_said(r.says + used);
  assert_true(seconds <= SLOWER);
  assert_int_equal(value.n, -1);
  for (const char *c = test_error.message; *c; c++) assert_in_range((unsigned char)*c, 32, 126);
}

/* Each would hang, fill memory, or reach outside. */
TEST(hostile_expressions_end_within_a_second) {
  static const char *const rows[] = {
      "while true do end return 1 => too much work",
      "local n = 0\nrepeat n = n + 1 until false\nreturn n => 11: too much work",
      "::again:: goto again return 1 => too much work", "local function f() return f() end return f() => too much work",
      "local function f() return 1 + f() end return f() => memory",
      "local s = 'x' while true do s = s .. s end return s => text of more than 64 KiB",
      "local t = {} for k = 1, 1e9 do t[k] = k end return 1 => memory",
      "local t = {} while true do t = {t} end return 1 => ",
      "local s = 'aaaaaaaaaaaaaaaa' for k = 1, 11 do s = s .. s end\nlocal r = s .. '' local n = "
      "0\nfor k = 1, 1e9 do if s < r then n = n + 1 end end return n => 12: too much work",
      "local s = 'aaaaaaaaaaaaaaaa' for k = 1, 11 do s = s .. s end\nfor k = 1, 1e9 do local r = "
      "s .. k end return 1 => 11: too much work",
      /* numbers out of long texts; collecting at the brink of memory */
      "local s = '9' for k = 1, 15 do s = s .. s end while true do abs(s) end return 1 => too much work",
      "local t = {} for k = 1, 6e4 do t[k] = {} end local n = 0 while true do n = {n} n = 0 end "
      "return n => too much work",
      /* one walk of L2 takes half a second and 100 MB at most */
      "sim{N=2^20, d=128, block=64, heads=8, gpu='any'} => at most 65536 CTAs and 2048 blocks",
      "sim{N=2^17, d=128, block_q=128, block_k=1, gpu='any'} => at most 65536 CTAs and 2048 blocks",
      "sim{N=2^17, d=128, block=128, heads=64, algorithm='fa2-split', splits=8, gpu='any'} => at "
      "most 65536 CTAs and 2048 blocks",
      "for k = 1, 1e9 do sim{N=k} end return 1 => too much work",
      "for k = 1, 1e9 do attention{N=64, d=64} end return 1 => too much work",
      "for k = 1, 1e9 do advise{N=k, gpu='paper'} end return 1 => too much work",
      "advise{N=8193, gpu='paper'} => more than 8192 x 8192 scores",
      "advise{N=64, algorithm='fa1,fa2', gpu='paper'} => advise answers for one algorithm",
      "attention{N=1000000, d=64} => too much work", "attention{N=4096, d=1, seq_len_k=1, block=1} => ",
      "events{N=2^39, d=1, block=2^19} => ", "events{N=1000000, block=1} => more than 8192 events",
      "('x'):rep(1e9) => index a string", "{} .. '' => concatenate a table", "math.random() => random",
      "\x1bLua => ", /* precompiled code */
  };
  EACH (k, rows) expect_refusal(test_says(rows[k]));
}

/* Nothing of Lua's that reaches outside is there. */
TEST(names_that_reach_outside_are_unknown) {
  static const char *const NAMES[] = {
      "os",           "io",     "require", "load",           "dofile", "debug", "package", "coroutine", "setmetatable",
      "getmetatable", "rawset", "pcall",   "collectgarbage", "print",  "_G",    "string",  "tostring",  "table"};
  EACH (k, NAMES) {
    const char *says = test_text("there is no name '%s'", NAMES[k]);
    expect_refusal((TextSays){NAMES[k], says});
  }
}

/* A text may have 64 KiB. */
TEST(long_texts_are_texts) { assert_true(flag("local s = 'x' for k = 1, 16 do s = s .. s end return #s == 65536")); }

TEST(wrong_expressions_say_what_and_where) {
  static const char *const rows[] = {
      " => no value",
      "  \n   => no value",
      "nil => no value",
      "1 + => unexpected symbol",
      "{1,\n2,\n => 12: expected",
      "local a = 1\nreturn a + => 11: unexpected symbol",
      "error('no such thing') => no such thing",
      "error({}) => without a message",
      "error('two\\nlines') => two lines",
      "assert(1 == 2, 'not equal') => not equal",
      "nil + 1 => arithmetic",
      "{} => table without a list",
      "{1, 'x'} => item 2 of the result is no number",
      "{low=2, high=1} => low is above high",
      "{low=2} => two numbers, low and high",
      "{series={{1, 2}}} => 2 to 32 pairs",
      "{series={{1, 2}, 3}} => item 2 of the series",
      "max => is a function",
      "'\\27[' => no text",
      "'\\255' => no text",
      "sim{n=5} => did you mean '-N'?",
      "sim{N=5, blok=2} => did you mean '--block'?",
      "sim{5} => only named arguments",
      "ask'N=64 blok=2' => blok",
      "ask'model=llama-3-8b' => no models, kernels, masks",
      "sim(5) => named arguments in braces",
      "1 +\nsim{N=0} => 11: a count is at least 1",
      "sim{N=1.5} => whole number",
      "sim{N=0/0} => negative",
      "sim{N=true} => needs a value",
      "sim{causal=2} => no corner",
      "sim{lse=1} => takes no value",
      "sim{state='N=64'} => takes no 'state'",
      "sim{mask='strided:4'} => no models, kernels, masks",
      "attention{heads=2} => one head",
      "sim{algorithm='fa9'} => there is no algorithm 'fa9' (did you mean 'fa1'?)",
      "sim{gpu='a10x'} => there is no GPU 'a10x'",
      "sim{N=64}.trafic => did you mean 'traffic'?",
      "gain => 'GiB'?", /* as near as 'min' */
      "sim{N=64}.traffic.read.k => the result has no 'k'",
      "softmax{} => scores must be a list",
      "softmax{scores={1, 'x'}} => item 2 of scores",
      "softmax{scores={1, 2}, values={{1}}} => 1 rows of values for 2 scores",
      "softmax{scores={1, 2}, values={{1}, {1, 2}}} => row 2 of values",
      "softmax{scores={1, 2}, values={1, 2}} => values must be a list of rows",
      "softmax{scores={1, 2}, values={{}, {}}} => a row of values needs 1 to 4096 numbers",
      "softmax{scores={1}, precision='fp12'} => fp12",
      "softmax{scores={1}}.reference.O => the reference has no 'O'",
      "attention{inputs='zeros'} => normal and outliers",
      "local t = {} for k = 1, 33 do t[k] = k end return series(function(n) return n end, t) => 2 to 32 sizes",
      "warp{} => stride (bytes from lane to lane) or column",
      "warp{stride=4, bytes=3} => warp:",
      "warp{column=0, swizzle='16B'} => no swizzle",
      "gpu'h999' => there is no GPU 'h999'",
      "gpu'paper'.l2 => has no 'l2'",
      "gpu'paper'.sram_bytse => the description of this GPU has no 'sram_bytse'",
      "size'12 parsecs' => size:",
      "fixed(1, 99) => 0 to 17",
      "order(max, {1}) => 2 to 32 sizes",
      "order(function() return 'x' end, {1, 2}) => must be a number",
      "verdict('', 1) => no claimed value",
      "verdict('   ', 1) => no claimed value",
      "verdict('67 Mb', 1) => would be bits",
      "verdict('67 big loads', 1) => is no unit",
      "verdict('8-4', 1) => the range goes down",
      "verdict('4-', 1) => a range is written",
      "verdict('2/3', 1) => with 1 above",
      "verdict('1/0', 1) => with 1 above",
      "verdict('1/x', 1) => with 1 above",
      "verdict('1, ', 1) => no number",
      "verdict('1, x', 1) => no number",
      "verdict('.', 1) => can be read",
      "verdict('1.2.3', 1) => can be read",
      "verdict('67 averyveryverylongunit', 1) => is no unit",
      "verdict('99999999999999999999999999999999999999', 1) => can be read",
      "verdict('1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8', 1) => more than 16 numbers",
      "verdict('a word that is much too long, and more so than what an article could print in a "
      "table of it, anywhere', 1) => bytes long",
      "verdict('6, 4, 6', {6, 4}) => 3 numbers are claimed and 2 computed",
      "verdict('6', {6, 4}) => 1 numbers are claimed and 2 computed",
      "verdict('true', 1) => needs true or false",
      "verdict('6', true) => needs a number",
      "verdict('N', true) => needs a text",
      "verdict('6, 4', {series={{1, 2}, {3, 4}}}) => 2 numbers are claimed",
      "verdict('4-8', 'x') => gives a text",
      "verdict(134, 134) => in quotes",
      "verdict('134 MB') => no value",
      "series(1, {1, 2}) => takes a function",
      "normal(-1, 0) => whole numbers",
      "binary('x') => must be a number",
  };
  EACH (k, rows) expect_refusal(test_says(rows[k]));
}

TEST(long_sources_are_refused) {
  char *source = malloc(EXPRESSION_SOURCE_BYTES + 2);
  memset(source, ' ', EXPRESSION_SOURCE_BYTES + 1);
  source[EXPRESSION_SOURCE_BYTES + 1] = '\0';
  expect_refusal((TextSays){source, "bytes long"});
  /* within the length: nesting as deep as the parser allows, then an error, no crash */
  source[EXPRESSION_SOURCE_BYTES] = '\0';
  for (const char *c = "({-"; *c; c++) {
    memset(source, *c, EXPRESSION_SOURCE_BYTES);
    expect_refusal((TextSays){source, ""});
  }
  free(source);
}

/* ---- Scopes and texts -------------------------------------------------------------------------------------------- */

TEST(wrong_texts_say_where) {
  static const struct {
    const char *template, *says;
  } rows[] = {{"line 5\n{1 +}", "t.md:6: "},
              {"a\nb\n{1", "t.md:7: a '{' in the text has no '}'"},
              {"{1\n+ nope}", "t.md:6: there is no name 'nope'"},
              {"{while true do end return 1}", "t.md:5: "},
              {"{'a', 'b'", "no '}'"}};
  EACH (k, rows) {
    ExpressionScope *scope = open_scope();
    char filled[64];
    assert_int_not_equal(
        expression_scope_fill(scope, ALL_OF(rows[k].template), 5, filled, sizeof filled, fresh_error()), STATUS_OK);
    assert_said(rows[k].says);
    assert_int_equal(strlen(filled), strcspn(rows[k].template, "{"));
    expression_scope_close(scope);
  }
  ExpressionScope *scope = open_scope();
  char small[8];
  assert_int_equal(expression_scope_fill(scope, "twelve bytes", 12, 1, small, sizeof small, fresh_error()),
                   STATUS_TOO_LARGE);
  assert_string_equal(small, "twelve "); /* cut, and ended */
  assert_int_equal(expression_scope_fill(scope, "a", 1, 1, small, sizeof small, &test_error), STATUS_TOO_LARGE);
  assert_string_equal(small, ""); /* the first error stays */
  expression_scope_close(scope);
}

/* The budget belongs to the scope: many small evaluations cannot do what one large one may not. */
TEST(a_scope_has_one_budget) {
  ExpressionScope *scope;
  must(expression_scope_open(&scope, &(ExpressionLimits){.max_steps = 100000}, NULL));
  const char *loop = "for k = 1, 5000 do end return 1";
  Status status = STATUS_OK;
  int n = 0;
  ExpressionValue value;
  while (n < 1000 && !(status = expression_scope_eval(scope, ALL_OF(loop), 1, &value, fresh_error()))) n++;
  assert_int_equal(status, STATUS_TOO_LARGE);
  assert_in_range(n, 5, 30);
  assert_said("expression:1: ");
  expression_scope_close(scope);
}

static Status run_everything(void *context, Error *error) {
  (void)context;
  ExpressionScope *scope;
  ExpressionValue value;
  char text[100];
  const char *source = "local s = softmax{scores={1, 2}, values={{1}, {2}}} local a = attention{N=8, d=4, block=4}\n"
                       "return sim{N=64}.traffic.total_bytes + s.l + a.rmse + #events{N=4, "
                       "d=2, block=2}";
  Status status = expression_scope_open(&scope, NULL, error);
  if (!status) status = expression_scope_eval(scope, ALL_OF(source), 1, &value, error);
  if (!status) status = expression_scope_fill(scope, "{gpu'paper'.sram}", 17, 1, text, sizeof text, error);
  expression_scope_close(scope);
  return status;
}

TEST(every_allocation_may_fail) { assert_true(alloc_fail_each(run_everything, NULL) > 100); }
