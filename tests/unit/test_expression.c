/* Expressions over the simulator: that they compute what the simulator computes, and that a hostile
 * one ends within a second with file and line. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "tests/support/test.h"
#include "lessons/engine/expression.h"
#include "sim/simulate.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/implied.h"
#include "tests/support/open_gpu.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static ExpressionValue eval(const char *source) {
  ExpressionValue value = {0};
  Error error = {0};
  if (expression_eval(source, NULL, &value, &error)) fail_msg("%s\n  in: %s", error.message, source);
  return value;
}

static double number(const char *source) {
  const ExpressionValue v = eval(source);
  if (v.kind != EXPRESSION_NUMBER) fail_msg("no number: %s", source);
  return v.numbers[0];
}

static void expect_near(double computed, double expected, double tolerance) {
  if (!(fabs(computed - expected) <= tolerance)) fail_msg("%.17g, expected %.17g", computed, expected);
}

static bool flag(const char *source) {
  const ExpressionValue v = eval(source);
  if (v.kind != EXPRESSION_FLAG) fail_msg("neither true nor false: %s", source);
  return v.flag;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

TEST(a_result_is_a_number_a_flag_a_text_or_a_list) {
  assert_true(number("1 + 1/4") == 1.25);
  assert_true(flag("2 > 1"));
  assert_false(flag("2 < 1"));
  assert_string_equal(eval("'N' .. '^2'").text, "N^2");
  const ExpressionValue list = eval("{6, 4, 6}");
  assert_int_equal(list.kind, EXPRESSION_LIST);
  assert_int_equal(list.n, 3);
  assert_true(list.numbers[0] == 6 && list.numbers[1] == 4 && list.numbers[2] == 6);
  const ExpressionValue range = eval("{low=9.5, high=12.5}");
  assert_int_equal(range.kind, EXPRESSION_RANGE);
  assert_true(range.n == 2 && range.numbers[0] == 9.5 && range.numbers[1] == 12.5);
  const ExpressionValue series = eval("series(function(n) return n * n end, {1, 2, 4})");
  assert_int_equal(series.kind, EXPRESSION_SERIES);
  assert_int_equal(series.n, 3);
  assert_true(series.at[2] == 4 && series.numbers[2] == 16);
}

/* Statements that end in return, with or without a keyword in front; an expression may hold a
 * function with its own. */
TEST(a_source_is_an_expression_or_statements) {
  assert_true(number("local a = 2\nreturn a * 3") == 6);
  assert_true(number("a = 2 return a + 1") == 3);
  assert_true(number("-- why\nfor k = 1, 3 do total = k end\nreturn total") == 3);
  assert_true(number("function f(x) return 2 * x end\nreturn f(4)") == 8);
  assert_true(number("max(1, 7, 3)") == 7);
  assert_string_equal(eval("order(function(N) return 5 * N end, {8, 16})").text, "N");
}

/* ---- The simulator's functions ----------------------------------------------------------------------------------- */

/* sim{} and simulate() must agree on every key of the JSON that lessons ask for. */
TEST(sim_gives_the_numbers_of_simulate) {
  static const char *const algorithms[] = {"standard", "fa1", "fa2", "fa2-split"};
  for (size_t a = 0; a < COUNT_OF(algorithms); a++) {
    const Problem problem = {.shape = {.N_q = 1000,
                                       .N_k = 3000,
                                       .d = 80,
                                       .heads = 6,
                                       .kv_heads = 2,
                                       .batch = 3,
                                       .causal = true,
                                       .dtype = DTYPE_FP32},
                             .tiling = {.B_r = 48, .B_c = 112},
                             .machine = machine_paper()};
    Simulation s;
    assert_int_equal(simulate(&s, &problem, schedule_find(algorithms[a]), NULL), STATUS_OK);
    const struct {
      const char *key;
      double value;
    } keys[] = {{"traffic.total_bytes", (double)s.total_bytes},
                {"traffic.read.K", (double)s.traffic.read[IMPLIED_K]},
                {"traffic.write.O", (double)s.traffic.write[IMPLIED_O]},
                {"traffic.read.stats", (double)s.traffic.read[IMPLIED_STATS]},
                {"hbm.total_bytes", (double)s.total_bytes},
                {"flops", (double)s.traffic.flops},
                {"tiles.skipped", (double)s.traffic.tiles[TILE_SKIPPED]},
                {"loads_per_block.V", (double)s.loads.of[IMPLIED_V]},
                {"sram.bytes", (double)s.sram.bytes},
                {"sram.max_block", (double)s.max_block},
                {"storage.intermediates_bytes", (double)s.intermediates_bytes},
                {"intensity_flops_per_byte", s.intensity_flops_per_byte},
                {"block_q", 48},
                {"shape.seq_k", 3000},
                {"passes", s.schedule->n_passes}};
    for (size_t k = 0; k < COUNT_OF(keys); k++) {
      char source[512];
      snprintf(source, sizeof source,
               "sim{N=1000, seq_len_k=3000, d=80, heads=6, kv_heads=2, batch=3, causal=true, "
               "dtype='fp32', block_q=48, block_k=112, "
               "algorithm='%s'}.%s",
               algorithms[a], keys[k].key);
      expect_near(number(source), keys[k].value, 1e-9 * (1 + keys[k].value));
    }
  }
}

TEST(options_have_the_names_of_the_command_line) {
  assert_true(flag("sim{seq_len=512, head_dim=64, br=32, bc=16}.traffic.total_bytes == sim{N=512, "
                   "d=64, block_q=32, block_k=16}.traffic.total_bytes"));
  assert_true(flag("sim{N='4K'}.traffic.total_bytes == sim{}.traffic.total_bytes"));
  assert_true(number("sim{N=8192, d=128, sram='192K'}.sram.max_block") == 148);
  assert_true(number("sim{N=8192, d=128, sram=96*KiB}.sram.max_block") == 82);
  assert_true(flag("sim{N=64, d=16, window=8, causal=true}.tiles.skipped < sim{N=64, d=16, "
                   "block=8, window=8, causal=true}.tiles.skipped"));
  assert_true(number("sim{N=64, lse=true}.traffic.write.stats") == 256); /* 64 rows x 4 B */
  assert_true(flag("sim{N=64, gpu='paper'}.sram.capacity_bytes == 192 * KiB"));
}

/* N = 2^31 and 128 heads: the bytes do not fit 64 bits, and must not wrap. 4 N^2 x 2 B x 128 and
 * more. */
TEST(huge_totals_do_not_wrap) {
  const double bytes = number("sim{N=2^31, heads=128, algorithm='standard'}.traffic.total_bytes");
  expect_near(bytes, 4.0 * 0x1p62 * 2 * 128 + 4.0 * 0x1p31 * 128 * 2 * 128, 1e-9 * bytes);
}

TEST(tiles_are_listed_with_their_kinds) {
  assert_true(number("#tiles{N=8, d=4, block=2, causal=true}") == 16);
  assert_true(flag("local t = tiles{N=8, d=4, block=2, causal=true}\n"
                   "return t.full == 6 and t.partial == 4 and t.skipped == 6 and t[2].kind == "
                   "'skipped' and t[2].allowed == 0\n"
                   "  and t[1].kind == 'partial' and t[1].allowed == 3 and t[5].kind == 'full' and "
                   "t[5].allowed == 4"));
  /* ragged: 5 = 2 + 2 + 1; the last tile is 1 x 1 */
  assert_true(flag("local t = tiles{N=5, d=4, block=2} return #t == 9 and t[9].pairs == 1 and "
                   "t[9].row0 == 4 and t[9].row1 == 5"));
}

/* The list of events must add up to what sim says without walking. */
TEST(events_add_up_to_the_traffic) {
  assert_true(flag("local bytes, flops = 0, 0\n"
                   "for _, e in ipairs(events{N=50, d=8, block=16, causal=true}) do bytes, flops = "
                   "bytes + e.bytes, flops + e.flops end\n"
                   "local run = sim{N=50, d=8, block=16, causal=true}\n"
                   "return bytes == run.traffic.total_bytes and flops == run.flops"));
}

/* Scores 3, 1, 2, 4 then 5, 1, 3, 1: m 4 then 5, factor e^-1, l by hand. */
TEST(softmax_gives_every_step) {
  const char *const s = "softmax{scores={3, 1, 2, 4, 5, 1, 3, 1}, block=4}";
  char source[256];
  const struct {
    const char *key;
    double value;
  } keys[] = {{"steps[1].l_new", 1.5530017927759190},
              {"steps[2].m_old", 4},
              {"steps[2].m_new", 5},
              {"steps[2].factor", 0.36787944117144233},
              {"steps[2].block_sum", 1.1719665617141048},
              {"l", 1.7432839933},
              {"steps[2].exponentials[3]", 0.1353352832366127},
              {"m", 5}};
  for (size_t k = 0; k < COUNT_OF(keys); k++) {
    snprintf(source, sizeof source, "%s.%s", s, keys[k].key);
    expect_near(number(source), keys[k].value, 1e-9);
  }
  assert_true(flag("local s = softmax{scores={0, 0}, values={{1, 2}, {3, 6}}} return s.O[1] == 2 "
                   "and s.O[2] == 4 and s.reference.weights[1] == 0.5"));
  assert_true(flag("softmax{scores={90, 1}, precision='fp32', no_max=true}.l == huge"));
}

TEST(attention_computes_one_head) {
  assert_true(flag("local a = attention{N=40, d=8, block=16, dtype='fp32', seed=3}\n"
                   "return #a.O == 40 and #a.O[1] == 8 and a.rmse < 1e-6 and a.n == 320 and "
                   "a.n_not_finite == 0"));
  assert_true(flag("attention{N=40, d=8, dtype='fp16'}.rmse > attention{N=40, d=8, dtype='fp32'}.rmse"));
  assert_true(flag("attention{N=20, d=4, precision='fp64', algorithm='standard'}.rmse < 1e-14"));
}

TEST(machines_caches_and_warps_answer) {
  assert_true(number("gpu'paper'.sram") == 196608);
  assert_true(number("kvcache{layers=80, kv_heads=8, d=128, tokens=100000}.bytes") == 32768000000.0);
  assert_true(number("kvcache{tokens=17, page_tokens=16}.pages") == 2);
  assert_true(flag("local g = grow{tokens=17, page_tokens=16} return #g == 17 and g[17].new_page "
                   "and g[17].slot == 0 and not g[16].new_page"));
  assert_true(flag("blocks{tokens=257, block=128}.n == 3 and blocks{tokens=257, block=128}.last_tokens == 1"));
  assert_true(number("warp{stride=128}.sectors") == 32);
  assert_true(number("warp{addresses={0, 4, 8, 1024}}.sectors") == 2);
  assert_true(number("warp{column=3, row_bytes=128}.ways") == 32);
  assert_true(number("warp{column=3, row_bytes=128, pad_bytes=4}.conflicts") == 0);
  assert_true(number("warp{row=2, row_bytes=128}.lines") == 1);
}

TEST(text_functions_write_quantities) {
  static const struct {
    const char *source, *text;
  } rows[] = {{"binary(69206016)", "66 MiB"},   {"decimal(69206016)", "69.21 MB"},  {"binary(512)", "512 B"},
              {"binary(1048575)", "1.000 MiB"}, {"binary(1.5 * GiB)", "1.500 GiB"}, {"fixed(1.32046, 3)", "1.320"},
              {"percent(0.4375)", "43.8 %"},    {"percent(0.5)", "50 %"},           {"decimal(999.96e6)", "1.000 GB"}};
  for (size_t k = 0; k < COUNT_OF(rows); k++) assert_string_equal(eval(rows[k].source).text, rows[k].text);
  assert_true(number("size'64 MiB'") == 67108864);
  assert_true(number("MiB / MB") == 1.048576);
}

TEST(order_tells_how_a_quantity_grows) {
  static const struct {
    const char *f, *order;
  } rows[] = {{"3 * N", "N"}, {"N * N + N", "N^2"}, {"7", "constant"}, {"N^1.5", "N^1.50"}, {"1 / N", "N^-1"}};
  for (size_t k = 0; k < COUNT_OF(rows); k++) {
    char source[128];
    snprintf(source, sizeof source, "order(function(N) return %s end, {1024, 4096, 16384})", rows[k].f);
    assert_string_equal(eval(source).text, rows[k].order);
  }
}

TEST(random_numbers_are_the_same_every_time) {
  assert_true(flag("normal(1, 2) == normal(1, 2) and normal(1, 2) ~= normal(1, 3) and normal(1, 2) "
                   "~= normal(2, 2)"));
  assert_true(flag("local sum = 0 for k = 1, 1000 do sum = sum + uniform(5, k) end return sum > "
                   "450 and sum < 550"));
}

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
  Error error = {0};
  assert_int_equal(
      expression_scope_open(
          &scope, &(ExpressionLimits){.file = "t.md", .load_gpu = strstr(r->source, "gpu='any'") ? load_any : NULL},
          &error),
      STATUS_OK);
  const clock_t began = clock();
  const Status status = expression_scope_eval(scope, r->source, strlen(r->source), 10, &value, &error);
  const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  expression_scope_close(scope);
  char begin[32];
  snprintf(begin, sizeof begin, "t.md:%d: ", r->line);
  if (status == STATUS_OK) fail_msg("not refused: %s", r->source);
  if (status == STATUS_NO_MEMORY || status != error.status) fail_msg("status %d: %s", status, error.message);
  if (strncmp(error.message, begin, strlen(begin)) != 0)
    fail_msg("'%s' does not begin with '%s'", error.message, begin);
  if (!strstr(error.message, r->says)) fail_msg("'%s' does not say '%s'", error.message, r->says);
  if (seconds > 1) fail_msg("took %.2f s: %s", seconds, r->source);
  assert_int_equal(value.n, -1);
  for (const char *c = error.message; *c; c++) assert_in_range((unsigned char)*c, 32, 126);
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
      {"local t = {} for k = 1, 100 do t[k] = 'aaaaaaaaaaaaaaaaaaaaaaaaa' end\nfor k = 1, 1e9 do "
       "table.concat(t) end return 1",
       "too much work", 11},
      /* numbers out of long texts, and back; long lists of arguments; collecting at the brink of memory */
      {"local s = '9' for k = 1, 15 do s = s .. s end while true do tonumber(s) end return 1", "too much work", 10},
      {"local s = '9' for k = 1, 15 do s = s .. s end local n = 0 while true do n = s + 1 end return n",
       "too much work", 10},
      {"local s = 'x' for k = 1, 15 do s = s .. s end while true do ('%s%s'):format(s, 1) end return 1",
       "too much work", 10},
      {"local s = 'x' for k = 1, 15 do s = s .. s end while true do s:upper() end return 1", "too much work", 10},
      {"local s = 'x' for k = 1, 15 do s = s .. s end while true do s:byte(1, -1) end return 1", "", 10},
      {"local t = {} for k = 1, 1e5 do t[k] = k end while true do max(table.unpack(t)) end return 1", "too much work",
       10},
      {"local t = {} for k = 1, 1e5 do t[k] = k end while true do select(2, table.unpack(t)) end return 1",
       "too much work", 10},
      {"local t = {} for k = 1, 6e4 do t[k] = {} end local n = 0 while true do n = {n} n = 0 end return n",
       "too much work", 10},
      {"('%99s'):rep(9)", "rep", 10},
      {"('%p'):format({})", "would show an address", 10},
      {"('%-20p'):format('x')", "would show an address", 10},
      /* one walk of L2 takes half a second and 100 MB at most */
      {"sim{N=2^20, d=128, block=64, heads=8, gpu='any'}", "at most 65536 CTAs and 2048 blocks", 10},
      {"sim{N=2^17, d=128, block_q=128, block_k=1, gpu='any'}", "at most 65536 CTAs and 2048 blocks", 10},
      {"sim{N=2^17, d=128, block=128, heads=64, algorithm='fa2-split', splits=8, gpu='any'}",
       "at most 65536 CTAs and 2048 blocks", 10},
      {"for k = 1, 1e9 do sim{N=k} end return 1", "too much work", 10},
      {"for k = 1, 1e9 do attention{N=64, d=64} end return 1", "too much work", 10},
      {"attention{N=1000000, d=64}", "too much work", 10},
      {"attention{N=4096, d=1, seq_len_k=1, block=1}", "", 10},
      {"tiles{N=1000000, block=1}", "more than 4096 tiles", 10},
      {"tiles{N=2^39, d=1, block=2^19}", "", 10},
      {"events{N=1000000, block=1}", "more than 8192 events", 10},
      {"grow{tokens=2^39}", "at most 4096 tokens", 10},
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
      {"string.rep('x', 1e9)", "rep", 10},
      {"('x'):rep(1e9)", "rep", 10},
      {"string.find('aaaaaaaaaaaaaaaaaaaaaaa', 'a?a?a?a?a?a?a?aaaaaa')", "find", 10},
      {"string.dump(max)", "dump", 10},
      {"math.random()", "random", 10},
      {"table.unpack({}, 1, 1e8)", "too many", 10},
      {"select(-1)", "", 10},
      {"\x1bLua", "", 10}, /* precompiled code */
  };
  for (size_t k = 0; k < COUNT_OF(rows); k++) expect_refusal(&rows[k]);
}

/* What has only an address shows its type: the same in every run. */
TEST(no_value_shows_an_address) {
  static const char *const ROWS[][2] = {
      {"tostring({})", "table"},
      {"tostring(max)", "function"},
      {"tostring(sim{N=64, d=8})", "table"},
      {"('%s'):format({})", "table"},
      {"('%d %-9s|%5.1f%%%s'):format(7, max, 1.25, {})", "7 function |  1.2%table"},
      {"string.format('%s %s %s %q', 1, true, 'a', 'b')", "1 true a \"b\""},
      {"tostring(1) .. tostring(0.5) .. tostring(nil) .. tostring('x') .. tostring(true)", "10.5nilxtrue"},
  };
  for (size_t k = 0; k < COUNT_OF(ROWS); k++) {
    ExpressionValue value;
    Error error = {0};
    if (expression_eval(ROWS[k][0], NULL, &value, &error)) fail_msg("%s", error.message);
    assert_int_equal(value.kind, EXPRESSION_TEXT);
    assert_string_equal(value.text, ROWS[k][1]);
  }
}

/* A text may have 64 KiB, and what is made of it is charged, not refused. */
TEST(long_texts_are_texts) {
  assert_true(flag("local s = 'x' for k = 1, 16 do s = s .. s end return #s == 65536 and #s:upper() == 65536"));
  assert_true(flag("local t = {} for k = 1, 1000 do t[k] = 'ab' end return #table.concat(t) == 2000"));
}

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
      {"string.char(27, 91)", "no text", 10},
      {"string.char(255)", "no text", 10},
      {"sim{n=5}", "sim takes no 'n'; did you mean 'N'?", 10},
      {"sim{N=5, blok=2}", "did you mean 'block'?", 10},
      {"sim{5}", "only named arguments", 10},
      {"sim(5)", "named arguments in braces", 10},
      {"1 +\nsim{N=0}", "N is 0", 11},
      {"sim{N=-1}", "at least 1", 10},
      {"sim{N=1.5}", "whole number", 10},
      {"sim{N=0/0}", "whole number", 10},
      {"sim{N=1e300}", "whole number", 10},
      {"sim{N=2^50}", "at most 1099511627776", 10},
      {"sim{N='12MB'}", "N:", 10},
      {"sim{N=true}", "is a boolean", 10},
      {"sim{causal=1}", "true or false", 10},
      {"sim{d=64, head_dim=64}", "two names of one thing", 10},
      {"sim{algorithm='fa9'}", "there is no algorithm 'fa9' (did you mean 'fa1'?)", 10},
      {"sim{dtype='fp12'}", "no data type", 10},
      {"sim{block=64, block_q=32}", "block sets both sides", 10},
      {"sim{splits=4}", "only fa2-split", 10},
      {"sim{algorithm='fa1', lse=true}", "lse has no effect", 10},
      {"sim{heads=6, kv_heads=4}", "must divide", 10},
      {"sim{gpu='a100'}", "there is no GPU 'a100'", 10},
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
      {"attention{inputs='zeros'}", "'normal' or 'outliers'", 10},
      {"attention{algorithm='fa9'}", "there is no algorithm 'fa9'", 10},
      {"kvcache{tokens=-1}", "at least 0", 10},
      {"kvcache{tokens=1, dtype='int3'}", "no data type of a cache", 10},
      {"warp{}", "one of stride", 10},
      {"warp{stride=4, column=1}", "one of stride", 10},
      {"warp{stride=2, bytes=4}", "warp:", 10},
      {"warp{stride=4, bytes=3}", "warp:", 10},
      {"warp{addresses={-1}}", "whole number", 10},
      {"warp{stride=2^40}", "modelled", 10},
      {"warp{column=0, swizzle='16B'}", "no swizzle", 10},
      {"gpu'h999'", "there is no GPU 'h999'", 10},
      {"gpu'paper'.l2", "has no 'l2'", 10},
      {"size'12 parsecs'", "size:", 10},
      {"fixed(1, 99)", "0 to 17", 10},
      {"order(max, {1})", "2 to 32 sizes", 10},
      {"order(function() return 'x' end, {1, 2})", "must be a number", 10},
      {"series(1, {1, 2})", "takes a function", 10},
      {"normal(-1, 0)", "whole numbers", 10},
      {"binary('x')", "must be a number", 10},
  };
  for (size_t k = 0; k < COUNT_OF(rows); k++) expect_refusal(&rows[k]);
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

static ExpressionScope *open_scope(void) {
  ExpressionScope *scope;
  assert_int_equal(expression_scope_open(&scope, &(ExpressionLimits){.file = "t.md"}, NULL), STATUS_OK);
  return scope;
}

static void expect_text(ExpressionScope *scope, const char *template, const char *expected) {
  char filled[200];
  Error error = {0};
  if (expression_scope_fill(scope, template, strlen(template), 1, filled, sizeof filled, &error))
    fail_msg("%s", error.message);
  assert_string_equal(filled, expected);
}

TEST(a_scope_keeps_names) {
  ExpressionScope *scope = open_scope();
  ExpressionValue value;
  const char *first = "rows = 128 function twice(x) return 2 * x end return rows", *second = "twice(rows)";
  assert_int_equal(expression_scope_eval(scope, first, strlen(first), 1, &value, NULL), STATUS_OK);
  assert_int_equal(expression_scope_eval(scope, second, strlen(second), 2, &value, NULL), STATUS_OK);
  assert_true(value.numbers[0] == 256);
  value = (ExpressionValue){.kind = EXPRESSION_LIST, .n = 2, .numbers = {3, 4}};
  assert_int_equal(expression_scope_set(scope, "computed", &value, NULL), STATUS_OK);
  expect_text(scope, "{computed[2]}", "4");
  expression_scope_close(scope);
  expression_scope_close(NULL);
}

TEST(texts_are_filled_in) {
  ExpressionScope *scope = open_scope();
  expect_text(scope, "", "");
  expect_text(scope, "no holes", "no holes");
  expect_text(scope, "{64} loads of {2^20} B", "64 loads of 1,048,576 B");
  expect_text(scope, "{1/3} {true} {'text'} {-1234567} {1e-7} {0.5}", "0.3333 true text -1,234,567 1e-07 0.5");
  expect_text(scope, "{sim{N=8, d=4, block=2}.loads_per_block.K} times", "4 times"); /* braces nest */
  expect_text(scope, "{binary(MiB)}: {'}'} {\"{\"}", "1 MiB: } {");                  /* quoted braces */
  expect_text(scope, "{{1} is no hole", "{1} is no hole");
  expect_text(scope, "{ {1, 2.5} } {series(max, {1, 2})}", "1, 2.5 1, 2");
  expect_text(scope, "{12345.678} {huge} {0/0 ~= 0/0}", "12,346 infinity true");
  expression_scope_close(scope);
}

TEST(wrong_texts_say_where) {
  static const struct {
    const char *template, *says;
  } rows[] = {{"line 5\n{1 +}", "t.md:6: "},
              {"a\nb\n{1", "t.md:7: a '{' in the text has no '}'"},
              {"{1\n+ nope}", "t.md:6: there is no name 'nope'"},
              {"{while true do end return 1}", "t.md:5: "},
              {"{'a', 'b'", "no '}'"}};
  for (size_t k = 0; k < COUNT_OF(rows); k++) {
    ExpressionScope *scope = open_scope();
    char filled[64];
    Error error = {0};
    assert_int_not_equal(
        expression_scope_fill(scope, rows[k].template, strlen(rows[k].template), 5, filled, sizeof filled, &error),
        STATUS_OK);
    if (!strstr(error.message, rows[k].says)) fail_msg("'%s' does not say '%s'", error.message, rows[k].says);
    expression_scope_close(scope);
  }
  ExpressionScope *scope = open_scope();
  char small[8];
  Error error = {0};
  assert_int_equal(expression_scope_fill(scope, "twelve bytes", 12, 1, small, sizeof small, &error), STATUS_TOO_LARGE);
  assert_string_equal(small, "twelve "); /* cut, and ended */
  expression_scope_close(scope);
}

/* The budget belongs to the scope: many small evaluations cannot do what one large one may not. */
TEST(a_scope_has_one_budget) {
  ExpressionScope *scope;
  assert_int_equal(expression_scope_open(&scope, &(ExpressionLimits){.max_steps = 100000}, NULL), STATUS_OK);
  const char *loop = "for k = 1, 5000 do end return 1";
  Status status = STATUS_OK;
  int n = 0;
  ExpressionValue value;
  Error error = {0};
  while (n < 1000 && !(status = expression_scope_eval(scope, loop, strlen(loop), 1, &value, &error))) n++;
  assert_int_equal(status, STATUS_TOO_LARGE);
  assert_in_range(n, 5, 30);
  assert_non_null(strstr(error.message, "expression:1: "));
  expression_scope_close(scope);
}

/* softmax takes 20 steps for each number of its values: 40 rows of 120 fit in 100,000, 42 do not. */
TEST(values_are_paid_for) {
  for (int n = 40; n <= 42; n += 2) {
    ExpressionScope *scope;
    ExpressionValue value;
    char text[200];
    snprintf(text, sizeof text,
             "local row, x, v = {}, {}, {} for i = 1, 120 do row[i] = 1 end for i = 1, %d do x[i] = 1 v[i] = row end "
             "return softmax{scores=x, values=v}.l",
             n);
    assert_int_equal(expression_scope_open(&scope, &(ExpressionLimits){.max_steps = 100000}, NULL), STATUS_OK);
    assert_int_equal(expression_scope_eval(scope, text, strlen(text), 1, &value, NULL),
                     n == 40 ? STATUS_OK : STATUS_TOO_LARGE);
    expression_scope_close(scope);
  }
}

/* After an error the scope still answers. */
TEST(a_scope_survives_errors) {
  ExpressionScope *scope = open_scope();
  ExpressionValue value;
  const char *big = "local s = 'x' while true do s = s .. s end return s";
  assert_int_equal(expression_scope_eval(scope, big, strlen(big), 1, &value, NULL), STATUS_TOO_LARGE);
  assert_int_equal(expression_scope_eval(scope, "nope", 4, 1, &value, NULL), STATUS_BAD_FILE);
  assert_int_equal(expression_scope_eval(scope, "1 + 1", 5, 1, &value, NULL), STATUS_OK);
  assert_true(value.numbers[0] == 2);
  expression_scope_close(scope);
}

static Status run_everything(void *context, Error *error) {
  (void)context;
  ExpressionScope *scope;
  ExpressionValue value;
  char text[100];
  const char *source = "local s = softmax{scores={1, 2}, values={{1}, {2}}} local a = attention{N=8, d=4, block=4}\n"
                       "return sim{N=64}.traffic.total_bytes + s.l + a.rmse + #tiles{N=4, block=2} + #events{N=4, "
                       "d=2, block=2}";
  Status status = expression_scope_open(&scope, NULL, error);
  if (!status) status = expression_scope_eval(scope, source, strlen(source), 1, &value, error);
  if (!status) status = expression_scope_fill(scope, "{gpu'paper'.sram}", 17, 1, text, sizeof text, error);
  expression_scope_close(scope);
  return status;
}

TEST(every_allocation_may_fail) { assert_true(alloc_fail_each(run_everything, NULL) > 100); }
