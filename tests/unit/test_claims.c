/* The claims of the articles and the questions: every verdict against a value derived by hand, and
 * that a verdict follows from the two values and nothing else. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "tests/support/claims_bench.h"

enum { FILE_BYTES = 1 << 18, VALUES_MAX = 8 };

static size_t read_file(const char *path, char *buffer) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot open %s", path);
  const size_t length = fread(buffer, 1, FILE_BYTES, file);
  fclose(file);
  return length;
}

static Status load_gpu(void *context, const char *name, Gpu *gpu, Error *error) {
  (void)context;
  char path[256];
  static char buffer[FILE_BYTES];
  snprintf(path, sizeof path, "assets/gpus/%s", name);
  return gpu_parse(buffer, read_file(path, buffer), name, gpu, error);
}

static const ExpressionLimits LIMITS = {.load_gpu = load_gpu};

/* Both files, computed. */
static int setup(void **state) {
  static Claims claims;
  static char buffer[FILE_BYTES];
  static const char *const files[] = {"lessons/course/claims.md", "lessons/course/questions.md"};
  for (size_t k = 0; k < COUNT_OF(files); k++) {
    Error error = {0};
    if (claims_read(&claims, buffer, read_file(files[k], buffer), files[k], &error)) {
      print_error("%s\n", error.message);
      return 1;
    }
  }
  for (size_t k = 0; k < claims.n_entries; k++) {
    Error error = {0};
    if (claims_compute(&claims, k, &LIMITS, &error)) {
      print_error("%s\n", error.message);
      return 1;
    }
  }
  *state = &claims;
  return 0;
}

static int teardown(void **state) {
  claims_free(*state);
  return 0;
}

/* ---- All claims ---- */

#define MIB 1048576.0
#define GIB 1073741824.0

typedef struct {
  const char *id;
  Verdict verdict;
  double values[VALUES_MAX]; /* right ones, in base units (bytes, FLOP/s): derived here, not by the
                                simulator */
  int n;
  const char *word; /* in place of numbers: "true", "false", "N" */
} Right;

/* The worked example of article D by its definition: scores 1 2 4 2 | 5 1 3 1. */
static const double EXAMPLE_SCORES[8] = {1, 2, 4, 2, 5, 1, 3, 1};
static const double EXAMPLE_V[8][4] = {{2, 1, 0, 3}, {1, 0, 1, 2}, {0, 2, 1, 1}, {3, 1, 0, 0},
                                       {1, 3, 2, 0}, {0, 1, 0, 2}, {2, 0, 1, 1}, {1, 0, 0, 3}};
static double example_sum(int first, int last, double m) {
  double sum = 0;
  for (int k = first; k < last; k++) sum += exp(EXAMPLE_SCORES[k] - m);
  return sum;
}
static double example_O(int last, double m, double l, int c) {
  double sum = 0;
  for (int k = 0; k < last; k++) sum += exp(EXAMPLE_SCORES[k] - m) * EXAMPLE_V[k][c];
  return sum / l;
}

/* Elements of standard attention: Q, K, V read, S and P written and read, O written. Of the tiled
 * one with d = B: Q, T_r times K and V, O. fp16: 2 bytes each. */
static double standard(double N, double d) { return 2 * (4 * N * d + 4 * N * N); }
static double tiled(double N, double d, double B) { return 2 * (2 * N * d + N / B * 2 * N * d); }

static size_t make_table(Right *table) {
  const double s5 = example_sum(0, 8, 5);
  const Right rows[] = {
      /* 5 tiles x 128 x 128 x 2 B + 128 rows x 2 x 4 B = 163,840 + 1,024 */
      {"A-sram-128", VERDICT_HOLDS, {164864}, 1, NULL},
      {"A-sram-fits", VERDICT_HOLDS, {0}, 0, "true"}, /* 164,864 <= 196,608 */
      /* a matrix of N x d is 1 MiB, one of N x N 32 MiB */
      {"A-std-read-4096", VERDICT_HOLDS, {(3 + 2 * 32) * MIB}, 1, NULL},
      {"A-std-write-4096", VERDICT_HOLDS, {(1 + 2 * 32) * MIB}, 1, NULL},
      {"A-std-total-4096", VERDICT_HOLDS, {132 * MIB}, 1, NULL},
      {"A-fa-k-4096", VERDICT_HOLDS, {32 * 1 * MIB}, 1, NULL},
      {"A-fa-total-4096", VERDICT_HOLDS, {(1 + 32 + 32 + 1) * MIB}, 1, NULL},
      /* N = 8192: N x d is 2 MiB, N x N 128 MiB, T_r = 64; N = 16,384: 4 MiB, 512 MiB, 128 */
      {"A-std-total-8192", VERDICT_WRONG, {(4 * 2 + 4 * 128) * MIB}, 1, NULL},
      {"A-fa-total-8192", VERDICT_WRONG, {(2 * 2 + 64 * 2 * 2) * MIB}, 1, NULL},
      {"A-ratio-8192", VERDICT_WRONG, {standard(8192, 128) / tiled(8192, 128, 128)}, 1, NULL},
      {"A-std-total-16384", VERDICT_WRONG, {(4 * 4 + 4 * 512) * MIB}, 1, NULL},
      {"A-fa-total-16384", VERDICT_WRONG, {(2 * 4 + 128 * 2 * 4) * MIB}, 1, NULL},
      {"A-ratio-16384", VERDICT_WRONG, {520.0 / 260}, 1, NULL},
      /* (4 N d + 4 N^2) / (2 N d + 2 N^2 d / B) = 2 for every N when B = d */
      {"A-ratio-grows", VERDICT_WRONG, {0}, 0, "constant"},
      {"A-inter-4096", VERDICT_HOLDS, {4 * 32 * MIB}, 1, NULL},
      {"A-kv-reread-4096", VERDICT_WRONG, {2 * 32 * 1 * MIB}, 1, NULL},
      {"A-s-32k", VERDICT_HOLDS, {2 * GIB}, 1, NULL}, /* printed in GiB */
      {"A-s-128k", VERDICT_HOLDS, {32 * GIB}, 1, NULL},
      {"A-qkvo-32k", VERDICT_HOLDS, {4 * 32768 * 128 * 2.0}, 1, NULL},
      {"A-qkvo-128k", VERDICT_HOLDS, {4 * 131072 * 128 * 2.0}, 1, NULL},
      /* 4 x 4 tiles: 3 + 2 + 1 above the diagonal, 4 on it, 6 below */
      {"A-causal-n8b2", VERDICT_HOLDS, {6, 4, 6}, 3, NULL},
      {"A-causal-half", VERDICT_LIMIT, {1023.0 / 2048}, -1, NULL}, /* -1: the last of a series */
      {"A-causal-rule", VERDICT_WRONG, {0}, 0, "false"},
      {"A-kv-llama70b", VERDICT_ROUNDS, {2.0 * 80 * 8 * 128 * 2 * 100000}, 1, NULL}, /* 32.768 GB */
      {"A-gqa", VERDICT_HOLDS, {64 / 8}, 1, NULL},
      {"A-kvquant", VERDICT_HOLDS, {16 / 8, 16 / 4}, 2, NULL},
      {"A-decode-257", VERDICT_HOLDS, {3}, 1, NULL}, /* 128 + 128 + 1 */
      /* 2 B^2 + (4 x 256 + 8) B <= 196,608: 148 gives 196,544, 149 gives 198,170; without m and l
         also 148 */
      {"A-cyu1", VERDICT_WRONG, {148}, 1, NULL},
      {"A-cyu2-loads", VERDICT_HOLDS, {8192 / 128}, 1, NULL},
      {"A-cyu2-s", VERDICT_HOLDS, {8192.0 * 8192 * 2}, 1, NULL},
      {"A-cyu3-overhead", VERDICT_WRONG, {0}, 0, "false"},
      {"A-cyu4", VERDICT_LIMIT, {2 * 1024.0 / 1025}, -1, NULL}, /* T^2 / (T (T + 1) / 2) */
      {"A-cyu6-q", VERDICT_HOLDS, {1}, 1, NULL},
      {"A-cyu7-o", VERDICT_HOLDS, {1}, 1, NULL},
      {"B-s-8192", VERDICT_HOLDS, {128 * MIB}, 1, NULL},
      /* 108 SMs x 128 B x 1.41 GHz = 19.492 TB/s over 2.039 and 1.555 TB/s */
      {"C-sram-ratio", VERDICT_HOLDS, {19.49184 / 2.039, 19.49184 / 1.555}, 2, NULL},
      {"C-sram-capacity", VERDICT_HOLDS, {108 * 196608}, 1, NULL}, /* 20.25 MiB, 21.23 MB */
      {"C-sram-share", VERDICT_HOLDS, {21233664 / 80e9, 21233664 / 40e9}, 2, NULL},
      {"C-steps", VERDICT_HOLDS, {6}, 1, NULL},
      {"C-split", VERDICT_HOLDS, {3.2, exp(-1.1), 1, 1 + exp(-1.1)}, 4, NULL},
      {"C-fa-extra", VERDICT_HOLDS, {0}, 0, "N"}, /* 8 B a row */
      {"D-softmax0", VERDICT_HOLDS, {exp(-1) + exp(-3) + exp(-2) + 1}, 1, NULL},
      {"D-factor", VERDICT_HOLDS, {exp(-1)}, 1, NULL},
      {"D-walk-s0", VERDICT_HOLDS, {example_sum(0, 4, 4)}, 1, NULL},
      {"D-walk-o0",
       VERDICT_HOLDS,
       {example_O(4, 4, 1, 0), example_O(4, 4, 1, 1), example_O(4, 4, 1, 2), example_O(4, 4, 1, 3)},
       4,
       NULL},
      {"D-walk-s1", VERDICT_ROUNDS, {example_sum(4, 8, 5)}, 1, NULL}, /* 1 + 2 e^-4 + e^-2 = 1.17197 */
      {"D-walk-sfinal", VERDICT_ROUNDS, {s5}, 1, NULL},               /* 1.65774 */
      {"D-walk-out",
       VERDICT_HOLDS,
       {example_O(8, 5, s5, 0), example_O(8, 5, s5, 1), example_O(8, 5, s5, 2), example_O(8, 5, s5, 3)},
       4,
       NULL},
      {"D-bit-identical", VERDICT_WRONG, {0}, 0, "false"},
      {"D-exact", VERDICT_HOLDS, {0}, 0, "true"},
      {"E-sp-2048", VERDICT_WRONG, {2 * 2048.0 * 2048 * 2}, 1, NULL}, /* 8 MiB each */
      {"E-kv-once", VERDICT_WRONG, {2048 / 64}, 1, NULL},
      {"E-traffic-order", VERDICT_WRONG, {0}, 0, "N^2"},
      {"E-formula-fp16", VERDICT_WRONG, {128}, 1, NULL}, /* 98,304 / 6 = 16,384 = 128^2 */
      {"E-formula-fp32", VERDICT_WRONG, {sqrt(8192)}, 1, NULL},
      {"E-coalesce", VERDICT_HOLDS, {32 * 4}, 1, NULL},
      {"E-uncoalesced", VERDICT_HOLDS, {32}, 1, NULL}, /* lines; bytes grow 8 times */
      {"E-bank-pad", VERDICT_HOLDS, {1}, 1, NULL},     /* word r of column c is in bank (33 r + c) mod 32 = r + c */
      {"E-fa2-tflops", VERDICT_WRONG, {0.72 * 312e12}, 1, NULL},
      {"E-speedups", VERDICT_HOLDS, {103 / 42.0, 103 / 21.0, 103 / 17.0, 4, 82 / 9.0, 82 / 7.0}, 6, NULL},
      {"E-launches", VERDICT_WRONG, {0}, 0, "false"},
      {"E-large-blocks", VERDICT_HOLDS, {0}, 0, "false"}, /* 161 KiB > 96 KiB */
      {"E-bwd-tile-softmax", VERDICT_WRONG, {0}, 0, "false"},
      {"P-ring-table", VERDICT_WRONG, {24.96, 149.76}, 2, NULL}, /* 312 / 12.5 */
      {"P-ring-rows",
       VERDICT_HOLDS,
       {312 / 300.0, 6.24, 123 / 112.0, 6 * 123 / 112.0, 275 / 268.0, 6 * 275 / 268.0, 196 / 186.0, 6 * 196 / 186.0},
       8,
       NULL},
      {"P-ring-six", VERDICT_WRONG, {1}, 1, NULL}, /* 4 d c^2 / F >= 4 c d / B is c >= F / B */
      {"P-striped-limit", VERDICT_LIMIT, {2 - 1 / 1024.0 - (2 - 2 / 1024.0) / 4097}, -1, NULL},
      {"P-nsa-tokens", VERDICT_ROUNDS, {4094 + 1024 + 512}, 1, NULL},
      {"P-mla-ratio", VERDICT_WRONG, {126 * 8 * 128 * 4 / (61 * 576 * 2.0)}, 1, NULL},
      {"P-flexgen-cache", VERDICT_ROUNDS, {4.0 * 512 * 96 * 12288 * 544}, 1, NULL}, /* 1.195 x 2^40 */
      {"P-flexgen-ratio", VERDICT_HOLDS, {512 * 544 / (6.0 * 12288)}, 1, NULL},     /* 4 b l h N over 24 l h^2 */
      {"P-sarathi-chunks", VERDICT_HOLDS, {28, 496}, 2, NULL},
      /* Of t = 64 x 16 x 1024 x 64 x 2 B (Q) and q = 64 x 16 x 1024 x 4 B (m), in three column blocks: forward 12 t and
       * 14 q, backward 20 t and 6 q. Standard: 12 t and 11 matrices of N x N. */
      {"P-fa1-traffic", VERDICT_HOLDS, {32 * 134217728.0 + 20 * 4194304.0}, 1, NULL},
      {"P-fa1-standard-traffic", VERDICT_WRONG, {12 * 134217728.0 + 11 * 2147483648.0}, 1, NULL},

      {"A-random-reads", VERDICT_WRONG, {0}, 1, "false"}, /* 32 neighbours of 4 bytes fill whole sectors */
      {"A-block-typical", VERDICT_WRONG, {0}, 1, "false"},
      {"C-two-transfers", VERDICT_WRONG, {2 + 2 * 4096 / 128.0}, 1, NULL},
      {"D-streamed-once", VERDICT_HOLDS, {1}, 1, NULL},
      {"D-round-trips", VERDICT_HOLDS, {3, 1}, 2, NULL},
      {"E-registers", VERDICT_WRONG, {128 * 128 / 256.0 + 128 * 64 / 256.0}, 1, NULL},
      /* 32 + 2 x 32 x 32 tiles, 1.7 us each: 3.5 ms. 4 x 4096^2 x 128 FLOPs at 989 TFLOP/s: 9 us */
      {"E-tma-cpu", VERDICT_WRONG, {0}, 0, "false"},
      {"E-incoherent", VERDICT_WRONG, {0}, 0, "false"}, /* a sum has the same terms in any order */
  };
  memcpy(table, rows, sizeof rows);
  return COUNT_OF(rows);
}

static void expect_right(const Right *right, const ExpressionValue *value) {
  if (right->word) {
    const char *word = value->kind == EXPRESSION_FLAG ? (value->flag ? "true" : "false") : value->text;
    assert_string_equal(word, right->word);
    return;
  }
  const int last = right->n < 0 ? value->n - 1 : 0, n = right->n < 0 ? 1 : right->n;
  if (right->n > 0) assert_int_equal(value->n, right->n);
  for (int k = 0; k < n; k++)
    if (!(fabs(value->numbers[last + k] - right->values[k]) <= 1e-9 * fabs(right->values[k])))
      fail_msg("%s: computed %.12g, right is %.12g", right->id, value->numbers[last + k], right->values[k]);
}

/* The table above is the list of claims, all of it and in its order. */
TEST(every_claim_has_its_right_value_and_verdict) {
  const Claims *claims = *state;
  static Right table[100];
  const size_t n = make_table(table);
  assert_int_equal(n, 82);
  for (size_t k = 0; k < n; k++) {
    const ClaimEntry *e = find(claims, table[k].id);
    assert_true(e == &claims->entries[k]);
    assert_false(e->is_question);
    assert_int_equal(claims_article(claims, e), table[k].id[0]);
    if (e->verdict != table[k].verdict) fail_msg("%s: %s", table[k].id, verdict_name(e->verdict));
    expect_right(&table[k], &claims_part(claims, e, 0)->value);
  }
  for (size_t k = n; k < claims->n_entries; k++) assert_true(claims->entries[k].is_question);
}

/* What the articles print, as it is printed there, in the unit that is meant: their MB is mostly 2^20 bytes. */
TEST(the_printed_values_are_the_articles) {
  const Claims *claims = *state;
  static const char *const printed[] = {"161 KiB",
                                        "true ",
                                        "67 MiB",
                                        "65 MiB",
                                        "132 MiB",
                                        "32 MiB",
                                        "66 MiB",
                                        "528 MiB",
                                        "130 MiB",
                                        "4 x",
                                        "2112 MiB",
                                        "258 MiB",
                                        "8 x",
                                        "grows ",
                                        "134 MB",
                                        "134 MB",
                                        "2 GiB",
                                        "32 GiB",
                                        "32 MiB",
                                        "128 MiB",
                                        "6, 4, 6 tiles",
                                        "0.5 ",
                                        "true ",
                                        "32 GB",
                                        "4-8 x",
                                        "2-4 x",
                                        "3 blocks",
                                        "185 rows",
                                        "64 loads",
                                        "134 MB",
                                        "true ",
                                        "2 x",
                                        "1 loads",
                                        "1 writes",
                                        "128 MiB",
                                        "10 x",
                                        "20 MiB",
                                        "1/2000 ",
                                        "6 passes",
                                        "3.2; 0.3329, 1.0000; 1.3329 ",
                                        "N ",
                                        "1.553 ",
                                        "0.368 ",
                                        "1.320 ",
                                        "0.641, 2.185, 1.135, 1.420 ",
                                        "1.171 ",
                                        "1.657 ",
                                        "0.920, 2.306, 1.540, 0.452 ",
                                        "true ",
                                        "true ",
                                        "32 MiB",
                                        "1 loads",
                                        "N ",
                                        "64 rows",
                                        "45 rows",
                                        "128 bytes",
                                        "32 transactions",
                                        "1 way",
                                        "335 TFLOP/s",
                                        "2.5, 4.9, 6.1, 4, 9.1, 11.7 x",
                                        "true ",
                                        "false ",
                                        "true ",
                                        "24.5, 149.5 ",
                                        "1.0, 6.2, 1.1, 6.6, 1.0, 6.2, 1.1, 6.3 ",
                                        "6 blocks",
                                        "2 x",
                                        "5632 tokens",
                                        "7.28 x",
                                        "1.2 TB",
                                        "3.8 x",
                                        "28, 496 loads"};
  assert_int_equal(COUNT_OF(printed), 72);
  for (size_t k = 0; k < COUNT_OF(printed); k++) {
    const Claimed *c = &claims_part(claims, &claims->entries[k], 0)->claimed;
    char text[200];
    snprintf(text, sizeof text, "%s %s", c->text, c->unit);
    assert_string_equal(text, printed[k]);
  }
}

/* ---- Verdicts follow from the two values ---- */

/* Whatever an article prints: had it printed something else, or had the simulator computed
 * something else, the verdict would be another. */
TEST(another_claim_or_another_value_gives_another_verdict) {
  const Claims *claims = *state;
  for (size_t k = 0; k < claims->n_parts; k++) {
    const ClaimPart *part = &claims->parts[k];
    Claimed claimed = part->claimed;
    ExpressionValue value = part->value;
    const Verdict verdict = judge(&claimed, &value);
    const bool says_rounds = verdict == VERDICT_WRONG && part->judgement.verdict == VERDICT_ROUNDS; /* key `rounds` */
    assert_true(verdict == part->judgement.verdict || says_rounds);
    if (claimed.kind == CLAIMED_FLAG) {
      value.flag = !value.flag;
      assert_int_equal(judge(&claimed, &value), verdict == VERDICT_HOLDS ? VERDICT_WRONG : VERDICT_HOLDS);
    } else if (claimed.kind == CLAIMED_WORD && verdict == VERDICT_HOLDS) {
      strcpy(value.text, "N^3");
      assert_int_equal(judge(&claimed, &value), VERDICT_WRONG);
    } else if (claimed.kind == CLAIMED_WORD) {
      strcpy(claimed.text, value.text);
      assert_int_equal(judge(&claimed, &value), VERDICT_HOLDS);
    } else if (verdict == VERDICT_WRONG) { /* print the right number */
      for (int i = 0; i < claimed.n; i++) claimed.numbers[i] = verdict_in_unit(&claimed, &value, i);
      assert_int_equal(judge(&claimed, &value), VERDICT_HOLDS);
    } else { /* compute three times as much */
      for (int i = 0; i < value.n; i++) value.numbers[i] *= 3;
      assert_int_equal(judge(&claimed, &value), VERDICT_WRONG);
    }
  }
}

/* ---- Texts ---- */

/* What is not right as printed must say what is right: the computed value stands in its reason or
 * comes from the rule. */
TEST(every_reason_is_complete) {
  const Claims *claims = *state;
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    char why[CLAIMS_TEXT_BYTES];
    claims_why(claims, e, why, sizeof why);
    if (!e->is_question && e->verdict != VERDICT_HOLDS && strlen(why) < 20)
      fail_msg("%s: '%s'", claims_id(claims, e), why);
    if (!e->is_question && (e->verdict == VERDICT_WRONG || e->verdict == VERDICT_LIMIT))
      if (!strchr(pool_text(&claims->pool, e->text[CLAIM_WHY].offset), '{'))
        fail_msg("%s: the reason computes nothing", claims_id(claims, e));
    if (e->is_question && !strpbrk(claims_filled(claims, e, CLAIM_EVIDENCE), "0123456789"))
      fail_msg("%s: no number", claims_id(claims, e));
    for (int t = 0; t < CLAIM_TEXT_COUNT; t++)
      if (strpbrk(claims_filled(claims, e, (ClaimText)t), "{}\n\t"))
        fail_msg("%s: a hole is left", claims_id(claims, e));
  }
}

static void expect_why(const Claims *claims, const char *id, const char *says) {
  char why[CLAIMS_TEXT_BYTES];
  claims_why(claims, find(claims, id), why, sizeof why);
  if (!strstr(why, says)) fail_msg("%s: '%s' does not say '%s'", id, why, says);
}

TEST(reasons_state_the_right_values) {
  const Claims *claims = *state;
  expect_why(claims, "A-kv-llama70b", "Off by one in the last digit: 32.8 GB.");
  expect_why(claims, "A-cyu1", "148 rows");
  expect_why(claims, "A-cyu1", "196,544 B");
  expect_why(claims, "A-cyu1", "259,370 B");     /* 2 x 185^2 + 1032 x 185 */
  expect_why(claims, "A-causal-half", "37.5 %"); /* 6 of 16 */
  expect_why(claims, "A-causal-rule", "misses all 6");
  expect_why(claims, "A-ratio-grows", "with B = 256 it is 4 times"); /* 2 B / d */
  expect_why(claims, "E-sp-2048", "8 MiB");
  expect_why(claims, "E-fa2-tflops", "107.4 %"); /* 335 / 312 */
  char why[CLAIMS_TEXT_BYTES];
  claims_why(claims, find(claims, "A-cyu2-loads"), why, sizeof why);
  assert_string_equal(why, "");
}

/* ---- Questions ---- */

TEST(the_13_questions_are_settled) {
  const Claims *claims = *state;
  static const struct {
    const char *id;
    Verdict verdict;
    const char *in_answer, *in_evidence;
  } rows[] = {
      {"A-q1", VERDICT_WRONG, "148 rows", "161 KiB"},
      {"A-q2", VERDICT_WRONG, "134.2 MB: as much as S", "256 MiB"}, /* 2 x 64 x 2 MiB */
      {"A-q3", VERDICT_WRONG, "512 times", "2.004 GiB"},            /* 4 + 512 x 4 MiB */
      {"A-q4", VERDICT_LIMIT, "(T - 1) / 2T", "43.8 %"},            /* 28 of 64 */
      {"A-q5", VERDICT_HOLDS, "244,140 tokens", "32.77 GB"},        /* 80e9 / 327,680 */
      {"A-q6", VERDICT_HOLDS, "64 times", "260 MiB"},
      {"A-q7", VERDICT_HOLDS, "after the last", "4 stores"},
      {"A-q8", VERDICT_WRONG, "2.00 times", "1.00 FLOPs"},   /* decode: 4 N d FLOPs over 4 N d bytes */
      {"A-q9", VERDICT_HOLDS, "4,096 such loads", "32 KiB"}, /* 64 blocks x 64 row blocks */
      {"A-q10", VERDICT_HOLDS, "0 B", "256 MiB"},
      {"A-q11", VERDICT_HOLDS, "4 MiB", "262.1 GB"}, /* 8 x 32.768 GB */
      {"A-q12", VERDICT_HOLDS, "257 appends of 512 B", "17 of them"},
      {"A-q13", VERDICT_WRONG, "64 MiB", "1.5 %"}, /* 4 N / (2 N d + 4 N) of elements */
  };
  size_t n = 0;
  for (size_t k = 0; k < claims->n_entries; k++) n += claims->entries[k].is_question;
  assert_int_equal(n, COUNT_OF(rows));
  for (size_t k = 0; k < COUNT_OF(rows); k++) {
    const ClaimEntry *e = find(claims, rows[k].id);
    const char *answer = claims_filled(claims, e, CLAIM_ANSWER), *evidence = claims_filled(claims, e, CLAIM_EVIDENCE);
    if (e->verdict != rows[k].verdict) fail_msg("%s: %s", rows[k].id, verdict_name(e->verdict));
    if (!strstr(answer, rows[k].in_answer)) fail_msg("%s: '%s'", rows[k].id, answer);
    if (!strstr(evidence, rows[k].in_evidence)) fail_msg("%s: '%s'", rows[k].id, evidence);
  }
}

TEST(verdicts_of_all_claims_and_questions) {
  const Claims *claims = *state;
  int n[2][VERDICT_COUNT] = {{0}}; /* claims, questions */
  for (size_t k = 0; k < claims->n_entries; k++)
    n[claims->entries[k].is_question][claims->entries[k].verdict] += claims->entries[k].is_computed;
  assert_int_equal(n[0][VERDICT_WRONG], 30);
  assert_int_equal(n[0][VERDICT_LIMIT], 3);
  assert_int_equal(n[0][VERDICT_ROUNDS], 5);
  assert_int_equal(n[0][VERDICT_HOLDS], 44);
  assert_int_equal(n[1][VERDICT_WRONG], 5);
}

TEST(an_unknown_id_names_the_nearest) {
  const Claims *claims = *state;
  Error error = {0};
  assert_int_equal(claims_find(claims, "A-cyu", &error), claims->n_entries);
  assert_non_null(strstr(error.message, "did you mean 'A-cyu1'?"));
  error = (Error){0};
  claims_find(claims, "\x1b[31mzzzzzzzzzzzzzzz", &error);
  assert_non_null(strstr(error.message, "there is no claim '?[31mzzz"));
}

GROUP(setup, teardown)
