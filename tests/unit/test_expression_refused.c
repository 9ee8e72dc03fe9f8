/* Expressions that are refused: in one line that says what and where, within bounded time and memory. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"

#include <time.h>

#include "tests/support/expression_eval.h"
#include "tests/support/sanitized.h"

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

typedef struct {
  const char *source;
  const char *says; /* part of the message, after "t.md:LINE: " */
  int line;         /* source begins on line 10 */
} Refused;

static Status load_any(void *context, const char *name, Gpu *gpu, Error *error) {
  (void)context, (void)name, (void)error;
  *gpu = open_gpu("h200");
  return STATUS_OK;
}

static void expect_refusal(const Refused *r) {
  ExpressionScope *scope;
  ExpressionValue value = {.n = -1};
  must(expression_scope_open(
      &scope, &(ExpressionLimits){.file = "t.md", .load_gpu = strstr(r->source, "gpu='any'") ? load_any : NULL},
      fresh_error()));
  const clock_t began = clock();
  const Status status = expression_scope_eval(scope, r->source, strlen(r->source), 10, &value, fresh_error());
  const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  expression_scope_close(scope);
  char begin[32];
  snprintf(begin, sizeof begin, "t.md:%d: ", r->line);
  if (status == STATUS_OK) fail_msg("not refused: %s", r->source);
  if (status == STATUS_NO_MEMORY || status != test_error.status) fail_msg("status %d: %s", status, test_error.message);
  if (strncmp(test_error.message, begin, strlen(begin)) != 0)
    fail_msg("'%s' does not begin with '%s'", test_error.message, begin);
  if (!strstr(test_error.message, r->says)) fail_msg("'%s' does not say '%s'", test_error.message, r->says);
  if (seconds > SLOWER) fail_msg("took %.2f s: %s", seconds, r->source);
  assert_int_equal(value.n, -1);
  for (const char *c = test_error.message; *c; c++) assert_in_range((unsigned char)*c, 32, 126);
}

/* Each would hang, fill memory, or reach outside. */
TEST(hostile_expressions_end_within_a_second) {
  static const Refused rows[] = {
      {"while true do end return 1", "too much work", 10},
      {"local n = 0\nrepeat n = n + 1 until false\nreturn n", "too much work", 11},
      {"::again:: goto again return 1", "too much work", 10},
      {"local function f() return f() end return f()", "too much work", 10},
      {"local function f() return 1 + f() end return f()", "memory", 10},
      {"local s = 'x' while true do s = s .. s end return s", "text of more than 64 KiB", 10},
      {"local t = {} for k = 1, 1e9 do t[k] = k end return 1", "memory", 10},
      {"local t = {} while true do t = {t} end return 1", "", 10},
      {"local s = 'aaaaaaaaaaaaaaaa' for k = 1, 11 do s = s .. s end\nlocal r = s .. '' local n = "
       "0\nfor k = 1, 1e9 do if s < r then n = n + 1 end end return n",
       "too much work", 12},
      {"local s = 'aaaaaaaaaaaaaaaa' for k = 1, 11 do s = s .. s end\nfor k = 1, 1e9 do local r = "
       "s .. k end return 1",
       "too much work", 11},
      /* numbers out of long texts; collecting at the brink of memory */
      {"local s = '9' for k = 1, 15 do s = s .. s end while true do abs(s) end return 1", "too much work", 10},
      {"local t = {} for k = 1, 6e4 do t[k] = {} end local n = 0 while true do n = {n} n = 0 end return n",
       "too much work", 10},
      /* one walk of L2 takes half a second and 100 MB at most */
      {"sim{N=2^20, d=128, block=64, heads=8, gpu='any'}", "at most 65536 CTAs and 2048 blocks", 10},
      {"sim{N=2^17, d=128, block_q=128, block_k=1, gpu='any'}", "at most 65536 CTAs and 2048 blocks", 10},
      {"sim{N=2^17, d=128, block=128, heads=64, algorithm='fa2-split', splits=8, gpu='any'}",
       "at most 65536 CTAs and 2048 blocks", 10},
      {"for k = 1, 1e9 do sim{N=k} end return 1", "too much work", 10},
      {"for k = 1, 1e9 do attention{N=64, d=64} end return 1", "too much work", 10},
      {"attention{N=1000000, d=64}", "too much work", 10},
      {"attention{N=4096, d=1, seq_len_k=1, block=1}", "", 10},
      {"events{N=2^39, d=1, block=2^19}", "", 10},
      {"events{N=1000000, block=1}", "more than 8192 events", 10},
      {"os.execute('ls')", "there is no name 'os'", 10},
      {"io.open('/etc/passwd')", "there is no name 'io'", 10},
      {"require 'os'", "there is no name 'require'", 10},
      {"load('return 1')()", "there is no name 'load'", 10},
      {"dofile('x')", "there is no name 'dofile'", 10},
      {"debug.getregistry()", "there is no name 'debug'", 10},
      {"package.loaded", "there is no name 'package'", 10},
      {"coroutine.create(print)", "there is no name 'coroutine'", 10},
      {"setmetatable({}, {})", "there is no name 'setmetatable'", 10},
      {"getmetatable('').__index", "there is no name 'getmetatable'", 10},
      {"rawset({}, 1, 2)", "there is no name 'rawset'", 10},
      {"pcall(error)", "there is no name 'pcall'", 10},
      {"collectgarbage()", "there is no name 'collectgarbage'", 10},
      {"print(1)", "there is no name 'print'", 10},
      {"_G", "there is no name '_G'", 10},
      {"string.rep('x', 1e9)", "there is no name 'string'", 10},
      {"('x'):rep(1e9)", "index a string", 10},
      {"tostring({})", "there is no name 'tostring'", 10},
      {"{} .. ''", "concatenate a table", 10},
      {"math.random()", "random", 10},
      {"table.unpack({}, 1, 1e8)", "there is no name 'table'", 10},
      {"\x1bLua", "", 10}, /* precompiled code */
  };
  EACH (k, rows) expect_refusal(&rows[k]);
}

/* A text may have 64 KiB. */
TEST(long_texts_are_texts) { assert_true(flag("local s = 'x' for k = 1, 16 do s = s .. s end return #s == 65536")); }

TEST(wrong_expressions_say_what_and_where) {
  static const Refused rows[] = {
      {"", "no value", 10},
      {"  \n  ", "no value", 10},
      {"nil", "no value", 10},
      {"1 +", "unexpected symbol", 10},
      {"{1,\n2,\n", "expected", 12},
      {"local a = 1\nreturn a +", "unexpected symbol", 11},
      {"error('no such thing')", "no such thing", 10},
      {"error({})", "without a message", 10},
      {"error('two\\nlines')", "two lines", 10},
      {"assert(1 == 2, 'not equal')", "not equal", 10},
      {"nil + 1", "arithmetic", 10},
      {"{}", "table without a list", 10},
      {"{1, 'x'}", "item 2 of the result is no number", 10},
      {"{low=2, high=1}", "low is above high", 10},
      {"{low=2}", "two numbers, low and high", 10},
      {"{series={{1, 2}}}", "2 to 32 pairs", 10},
      {"{series={{1, 2}, 3}}", "item 2 of the series", 10},
      {"max", "is a function", 10},
      {"'\\27['", "no text", 10},
      {"'\\255'", "no text", 10},
      {"sim{n=5}", "did you mean '-N'?", 10},
      {"sim{N=5, blok=2}", "did you mean '--block'?", 10},
      {"sim{5}", "only named arguments", 10},
      {"ask'N=64 blok=2'", "blok", 10},
      {"ask'model=llama-3-8b'", "no models, kernels, masks", 10},
      {"sim(5)", "named arguments in braces", 10},
      {"1 +\nsim{N=0}", "a count is at least 1", 11},
      {"sim{N=-1}", "negative", 10},
      {"sim{N=1.5}", "whole number", 10},
      {"sim{N=0/0}", "negative", 10},
      {"sim{N=1e300}", "too large", 10},
      {"sim{N=2^50}", "at most 1099511627776", 10},
      {"sim{N='12MB'}", "'MB' does not belong", 10},
      {"sim{N=true}", "needs a value", 10},
      {"sim{causal=2}", "no corner", 10},
      {"sim{lse=1}", "takes no value", 10},
      {"sim{state='N=64'}", "takes no 'state'", 10},
      {"sim{mask='strided:4'}", "no models, kernels, masks", 10},
      {"attention{heads=2}", "one head", 10},
      {"sim{d=64, head_dim=64}", "given twice", 10},
      {"sim{algorithm='fa9'}", "there is no algorithm 'fa9' (did you mean 'fa1'?)", 10},
      {"sim{dtype='fp12'}", "no data type", 10},
      {"sim{block=64, block_q=32}", "block sets both sides", 10},
      {"sim{splits=4}", "only fa2-split", 10},
      {"sim{algorithm='fa1', lse=true}", "--lse has no effect", 10},
      {"sim{heads=6, kv_heads=4}", "must divide", 10},
      {"sim{gpu='a10x'}", "there is no GPU 'a10x'", 10},
      {"sim{N=64}.trafic", "did you mean 'traffic'?", 10},
      {"sim{N=64}.traffic.read.k", "the result has no 'k'", 10},
      {"softmax{}", "scores must be a list", 10},
      {"softmax{scores={1, 'x'}}", "item 2 of scores", 10},
      {"softmax{scores={1, 2}, values={{1}}}", "1 rows of values for 2 scores", 10},
      {"softmax{scores={1, 2}, values={{1}, {1, 2}}}", "row 2 of values", 10},
      {"softmax{scores={1, 2}, values={1, 2}}", "values must be a list of rows", 10},
      {"softmax{scores={1, 2}, values={{}, {}}}", "a row of values needs 1 to 4096 numbers", 10},
      {"softmax{scores={1}, precision='fp12'}", "fp12", 10},
      {"softmax{scores={1}}.reference.O", "the reference has no 'O'", 10},
      {"attention{inputs='zeros'}", "normal and outliers", 10},
      {"local t = {} for k = 1, 33 do t[k] = k end return series(function(n) return n end, t)", "2 to 32 sizes", 10},
      {"attention{algorithm='fa9'}", "there is no algorithm 'fa9'", 10},
      {"kvcache{tokens=-1}", "negative", 10},
      {"kvcache{tokens=1, dtype='int3'}", "no data type of a cache", 10},
      {"warp{}", "stride (bytes from lane to lane) or column", 10},
      {"warp{stride=4, column=1}", "stride (bytes from lane to lane) or column", 10},
      {"warp{stride=2, bytes=4}", "warp:", 10},
      {"warp{stride=4, bytes=3}", "warp:", 10},
      {"warp{stride=2^40}", "between 0 and 1048576", 10},
      {"warp{column=0, swizzle='16B'}", "no swizzle", 10},
      {"gpu'h999'", "there is no GPU 'h999'", 10},
      {"gpu'paper'.l2", "has no 'l2'", 10},
      {"gpu'paper'.sram_bytse", "the description of this GPU has no 'sram_bytse'", 10},
      {"size'12 parsecs'", "size:", 10},
      {"fixed(1, 99)", "0 to 17", 10},
      {"order(max, {1})", "2 to 32 sizes", 10},
      {"order(function() return 'x' end, {1, 2})", "must be a number", 10},
      {"verdict(134, 134)", "in quotes", 10},
      {"verdict('134 MB')", "no value", 10},
      {"verdict('N', 134)", "verdict: ", 10},
      {"series(1, {1, 2})", "takes a function", 10},
      {"normal(-1, 0)", "whole numbers", 10},
      {"binary('x')", "must be a number", 10},
  };
  EACH (k, rows) expect_refusal(&rows[k]);
}

TEST(long_sources_are_refused) {
  char *source = malloc(EXPRESSION_SOURCE_BYTES + 2);
  memset(source, ' ', EXPRESSION_SOURCE_BYTES + 1);
  source[EXPRESSION_SOURCE_BYTES + 1] = '\0';
  expect_refusal(&(Refused){source, "bytes long", 10});
  /* within the length: nesting as deep as the parser allows, then an error, no crash */
  memset(source, '(', EXPRESSION_SOURCE_BYTES);
  source[EXPRESSION_SOURCE_BYTES] = '\0';
  expect_refusal(&(Refused){source, "", 10});
  memset(source, '{', EXPRESSION_SOURCE_BYTES);
  expect_refusal(&(Refused){source, "", 10});
  memset(source, '-', EXPRESSION_SOURCE_BYTES);
  expect_refusal(&(Refused){source, "", 10});
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
    assert_int_not_equal(expression_scope_fill(scope, rows[k].template, strlen(rows[k].template), 5, filled,
                                               sizeof filled, fresh_error()),
                         STATUS_OK);
    if (!strstr(test_error.message, rows[k].says)) fail_msg("'%s' does not say '%s'", test_error.message, rows[k].says);
    expression_scope_close(scope);
  }
  ExpressionScope *scope = open_scope();
  char small[8];
  assert_int_equal(expression_scope_fill(scope, "twelve bytes", 12, 1, small, sizeof small, fresh_error()),
                   STATUS_TOO_LARGE);
  assert_string_equal(small, "twelve "); /* cut, and ended */
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
  while (n < 1000 && !(status = expression_scope_eval(scope, loop, strlen(loop), 1, &value, fresh_error()))) n++;
  assert_int_equal(status, STATUS_TOO_LARGE);
  assert_in_range(n, 5, 30);
  assert_non_null(strstr(test_error.message, "expression:1: "));
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
  if (!status) status = expression_scope_eval(scope, source, strlen(source), 1, &value, error);
  if (!status) status = expression_scope_fill(scope, "{gpu'paper'.sram}", 17, 1, text, sizeof text, error);
  expression_scope_close(scope);
  return status;
}

TEST(every_allocation_may_fail) { assert_true(alloc_fail_each(run_everything, NULL) > 100); }
