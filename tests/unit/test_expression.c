/* Expressions over the simulator: that they compute what the simulator computes. Hostile and wrong ones:
 * test_expression_refused.c. */
#include "tests/support/implied.h"
#include "tests/support/expression_eval.h"

/* ---- Values ------------------------------------------------------------------------------------------------------ */

TEST(a_result_is_a_number_a_flag_a_text_or_a_list) {
  assert_false(flag("2 < 1"));
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

/* What is true. */
static const char *const TRUE[] = {
    /* a source is an expression, or statements that end in return, with or without a keyword in front; an expression
     * may hold a function with its own */
    "local a = 2\nreturn a * 3 == 6",
    "a = 2 return a + 1 == 3",
    "-- why\nfor k = 1, 3 do total = k end\nreturn total == 3",
    "function f(x) return 2 * x end\nreturn f(4) == 8",
    "max(1, 7, 3) == 7",
    "'N' .. '^2' == 'N^2'",
    "1 + 1/4 == 1.25",
    /* options have the names of the command line */
    "sim{seq_len=512, head_dim=64, br=32, bc=16}.traffic.total_bytes == sim{N=512, d=64, block_q=32, "
    "block_k=16}.traffic.total_bytes",
    "ask'algorithm=fa1 N=512 d=64 block-q=32 block-k=16 causal=1'.traffic.total_bytes == sim{algorithm='fa1', N=512, "
    "d=64, block_q=32, block_k=16, causal=true}.traffic.total_bytes",
    "sim{N='4K'}.traffic.total_bytes == sim{}.traffic.total_bytes",
    "sim{N=8192, d=128, sram='192K'}.sram.max_block == 148",
    "sim{N=8192, d=128, sram=96*KiB}.sram.max_block == 82",
    "sim{N=64, d=16, window=8, causal=true}.tiles.skipped < sim{N=64, d=16, block=8, window=8, "
    "causal=true}.tiles.skipped",
    "sim{N=64, lse=true}.traffic.write.stats == 64 * 4",
    "sim{N=64, gpu='paper'}.sram.capacity_bytes == 192 * KiB",
    "sim{N=64, d=64, pace='step'}.flops == 4 * 64 * 64 * 64",
    /* bytes that do not fit 64 bits do not wrap: 4 N^2 x 2 B x 128 heads, and 4 N d */
    "abs(sim{N=2^31, heads=128, algorithm='standard'}.traffic.total_bytes / (1024 * (2^62 + 2^38)) - 1) < 1e-9",
    /* events have the kinds of their tiles; 5 = 2 + 2 + 1: the last tile is 1 x 1; they add up to the traffic */
    "local n = {} for _, e in ipairs(events{N=8, d=4, block=2, causal=true}) do\n"
    "  if e.kind == 'product' or e.kind == 'skip' then n[e.tile] = (n[e.tile] or 0) + 1 end\n"
    "end return n.full == 6 and n.partial == 4 and n.skipped == 6",
    "local last for _, e in ipairs(events{N=5, d=4, block=2}) do\n  if e.kind == 'product' then last = e end\n"
    "end return last.row0 == 4 and last.row1 == 5 and last.col0 == 4 and last.col1 == 5",
    "local bytes, flops = 0, 0\nfor _, e in ipairs(events{N=50, d=8, block=16, causal=true}) do bytes, flops = "
    "bytes + e.bytes, flops + e.flops end\nlocal run = sim{N=50, d=8, block=16, causal=true}\n"
    "return bytes == run.traffic.total_bytes and flops == run.flops",
    /* scores 3, 1, 2, 4 then 5, 1, 3, 1: m 4 then 5, factor e^-1, l by hand */
    "s = softmax{scores={3, 1, 2, 4, 5, 1, 3, 1}, block=4} return s.m == 5 and abs(s.l - 1.7432839933) < 1e-9",
    "s.steps[2].m_old == 4 and s.steps[2].m_new == 5 and abs(s.steps[1].l_new - 1.5530017927759190) < 1e-9",
    "abs(s.steps[2].factor - 0.36787944117144233) < 1e-9 and abs(s.steps[2].block_sum - 1.1719665617141048) < 1e-9",
    "abs(s.steps[2].exponentials[3] - 0.1353352832366127) < 1e-9",
    "local s = softmax{scores={0, 0}, values={{1, 2}, {3, 6}}} return s.O[1] == 2 and s.O[2] == 4 and "
    "s.reference.weights[1] == 0.5",
    "softmax{scores={90, 1}, precision='fp32', no_max=true}.l == huge",
    "local a = attention{N=40, d=8, block=16, dtype='fp32', seed=3}\n"
    "return #a.O == 40 and #a.O[1] == 8 and a.rmse < 1e-6 and a.n == 320 and a.n_not_finite == 0",
    "attention{N=40, d=8, dtype='fp16'}.rmse > attention{N=40, d=8, dtype='fp32'}.rmse",
    "attention{N=20, d=4, precision='fp64', algorithm='standard'}.rmse < 1e-14",
    /* machines, caches, warps */
    "gpu'paper'.sram == 196608 and gpu'paper'.name == 'paper' and gpu'paper'.compute_capability == '8.0'",
    "kvcache{layers=80, kv_heads=8, d=128, tokens=100000}.bytes == 32768000000",
    "kvcache{tokens=17, page_tokens=16}.pages == 2 and kvcache{tokens=17, page_tokens=16}.last_page_tokens == 1",
    "warp{stride=128}.sectors == 32 and warp{column=3, row_bytes=128}.ways == 32",
    "warp{column=3, row_bytes=128, pad_bytes=4}.conflicts == 0",
    /* quantities as texts */
    "binary(69206016) == '66 MiB' and decimal(69206016) == '69.21 MB' and binary(512) == '512 B'",
    "binary(1048575) == '1.000 MiB' and binary(1.5 * GiB) == '1.500 GiB' and decimal(999.96e6) == '1.000 GB'",
    "fixed(1.32046, 3) == '1.320' and percent(0.4375) == '43.8 %' and percent(0.5) == '50 %'",
    "size'64 MiB' == 67108864 and MiB / MB == 1.048576",
    /* how a quantity grows */
    "order(function(N) return 3 * N end, {1024, 4096, 16384}) == 'N'",
    "order(function(N) return N * N + N end, {1024, 4096, 16384}) == 'N^2'",
    "order(function(N) return 7 end, {1024, 4096, 16384}) == 'constant'",
    "order(function(N) return N^1.5 end, {1024, 4096, 16384}) == 'N^1.50'",
    "order(function(N) return 1 / N end, {1024, 4096, 16384}) == 'N^-1'",
    /* random numbers are the same every time */
    "normal(1, 2) == normal(1, 2) and normal(1, 2) ~= normal(1, 3) and normal(1, 2) ~= normal(2, 2)",
    "local sum = 0 for k = 1, 1000 do sum = sum + uniform(5, k) end return sum > 450 and sum < 550",
};

TEST(expressions_are_true) {
  ExpressionScope *scope = open_scope();
  EACH (k, TRUE) {
    ExpressionValue v;
    must(expression_scope_eval(scope, ALL_OF(TRUE[k]), 1, &v, fresh_error()));
    assert_true(v.kind == EXPRESSION_FLAG && v.flag);
  }
  expression_scope_close(scope);
}

/* What is printed, and what is computed: a line between two. A tie may be rounded either way; KiB for GB is no mix-up;
 * one digit is too few to be off by one in; what is counted, a whole number in a unit without a factor, is exact; a
 * series may hold in its limit alone, and a range holds what lies in it. */
static const struct {
  const char *verdict, *rows;
} VERDICTS[] = {
    {"holds", "134 MB=134217728|67 MB=67e6|67 MB=67.4e6|67 MB=67.5e6|67 MB=66.5e6|67 mib=67 * MiB|2 GB=2 * GiB|"
              "1.320=1.3204|1.32=1.3206|0.5=0.48|45 rows=45.3|1/2000=1 / 2000.3|72 %=0.7204|335 TFLOP/s=335.2e12|"
              "4-8 x=8|4-8 x=8.4|0=0|0.5={series={{1, 0.5}, {2, 0.51}, {3, 0.49}}}|10 x={low=9.56, high=12.53}|"
              "13 x={low=9.56, high=12.53}|9.6 x={low=9.56, high=12.53}|true=2 > 1|N='N'|6, 4, 6={6, 4, 6}"},
    {"rounds", "132 MB=132 * MiB|67 MB=67.6e6|67 MB=68.4e6|67 MB=67 * MiB|67 MiB=67e6|161 KB=161 * KiB|1.320=1.3206|"
               "10 x=11.2|1/2000=1 / 2001.3"},
    {"limit", "0.5=series(function(T) return (T - 1) / 2 / T end, {1, 1024})|0.5={series={{1, 0}, {2, 0.49}}}"},
    {"wrong", "true=false|67 MB=68.6e6|4 GB=4 * GiB * KiB|1.320=1.3216|0.5=0.44|4 x=3.4|10 x=11|185 rows=186|"
              "1/2000=1 / 1884|4-8 x=8.6|4-8 x=3.4|67 MB=huge|67 MB=0 / 0|0.5={series={{1, 0.5}, {2, 0.3}, {3, 0.1}}}|"
              "14 x={low=9.56, high=12.53}|9 x={low=9.56, high=12.53}|9.4 x={low=9.56, high=12.53}|6, 4={6, 5}"},
};

TEST(printed_values_are_judged_by_their_digits) {
  char row[TEST_TEXT];
  EACH (k, VERDICTS)
    for (const char *rows = VERDICTS[k].rows; test_next(&rows, row);) {
      const int n = (int)strcspn(row, "=");
      const char *verdict = eval(test_text("verdict('%.*s', %s)", n, row, row + n + 1)).text;
      assert_string_equal(verdict, VERDICTS[k].verdict);
    }
}

/* ---- The simulator's functions ----------------------------------------------------------------------------------- */

/* sim{} and simulate() must agree on every key of the JSON that lessons ask for. */
TEST(sim_gives_the_numbers_of_simulate) {
  static const char *const algorithms[] = {"standard", "fa1", "fa2", "fa2-split"};
  EACH (a, algorithms) {
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
    must(simulate(&s, &problem, schedule_find(algorithms[a]), NULL));
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
    EACH (k, keys) {
      char source[512];
      snprintf(source, sizeof source,
               "sim{N=1000, seq_len_k=3000, d=80, heads=6, kv_heads=2, batch=3, causal=true, "
               "dtype='fp32', block_q=48, block_k=112, "
               "algorithm='%s'}.%s",
               algorithms[a], keys[k].key);
      assert_near(number(source), keys[k].value, 1e-9 * (1 + keys[k].value));
    }
  }
}

/* ---- Scopes and texts -------------------------------------------------------------------------------------------- */

static void expect_text(ExpressionScope *scope, const char *template, const char *expected) {
  char filled[200];
  must(expression_scope_fill(scope, ALL_OF(template), 1, filled, sizeof filled, fresh_error()));
  assert_string_equal(filled, expected);
}

TEST(a_scope_keeps_names) {
  ExpressionScope *scope = open_scope();
  ExpressionValue value;
  const char *first = "rows = 128 function twice(x) return 2 * x end return rows", *second = "twice(rows)";
  must(expression_scope_eval(scope, ALL_OF(first), 1, &value, NULL));
  must(expression_scope_eval(scope, ALL_OF(second), 2, &value, NULL));
  assert_true(value.numbers[0] == 256);
  value = (ExpressionValue){.kind = EXPRESSION_LIST, .n = 2, .numbers = {3, 4}};
  must(expression_scope_set(scope, "computed", &value, NULL));
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
    must(expression_scope_open(&scope, &(ExpressionLimits){.max_steps = 100000}, NULL));
    assert_int_equal(expression_scope_eval(scope, ALL_OF(text), 1, &value, NULL),
                     n == 40 ? STATUS_OK : STATUS_TOO_LARGE);
    expression_scope_close(scope);
  }
}

/* After an error the scope still answers. */
TEST(a_scope_survives_errors) {
  ExpressionScope *scope = open_scope();
  ExpressionValue value;
  const char *big = "local s = 'x' while true do s = s .. s end return s";
  assert_int_equal(expression_scope_eval(scope, ALL_OF(big), 1, &value, NULL), STATUS_TOO_LARGE);
  assert_int_equal(expression_scope_eval(scope, "nope", 4, 1, &value, NULL), STATUS_BAD_FILE);
  must(expression_scope_eval(scope, "1 + 1", 5, 1, &value, NULL));
  assert_true(value.numbers[0] == 2);
  expression_scope_close(scope);
}
