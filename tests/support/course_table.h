/* What tests/unit/test_course.c expects of the lessons: the right answers, derived by hand, and wrong
 * ones with a piece of what the learner is told. */
#ifndef TILEWALK_TESTS_COURSE_TABLE_H
#define TILEWALK_TESTS_COURSE_TABLE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define KiB             1024.0
#define MiB             1048576.0
#define GiB             1073741824.0

enum { VARIANTS_MAX = 3 };

/* ---- What is right, by hand ---------------------------------------------------------------------------------------
 *
 * Numbers in base units: bytes, seconds, FLOP/s, fractions. Three numbers where the lesson draws one of three, else
 * one. */

typedef struct {
  int lesson;
  const char *id;
  int n;
  double value[VARIANTS_MAX];
  const char *keys; /* choices: the right key; orders: all keys in order */
} Right;

/* FlashAttention-1 over FlashAttention-2, both with T blocks, in units of one matrix of N x 128 x 2
 * bytes. FA-1: K and V once; Q and O come T times, O goes T + 1 times; m and l are 8 bytes to a
 * row's 256, so 1/32, as often as O. FA-2: Q and O once, K and V T times. */
#define FA1_OVER_FA2(T) ((2.0 + 2.0 * (T) + ((T) + 1.0) + (2.0 * (T) + 1.0) / 32) / (2.0 + 2.0 * (T)))

/* Row 3, 1, 2, 4 and then t, 1, 3, 1. */
#define OWN_SUM(t) ((exp(-1) + exp(-3) + exp(-2) + 1) * exp(4.0 - (t)) + 1 + 2 * exp(1.0 - (t)) + exp(3.0 - (t)))

/* Twice the length: 2 matrices twice as long read by twice as many blocks, over what it was; T
 * blocks before. */
#define GROWTH(T) ((2 * (2.0 + 2 * 2 * (T))) / (2.0 + 2.0 * (T)))

/* The largest B with four tiles of B x d, one of B x B and 8 bytes a row within 192 KiB, by trying.
 */
static double largest_block(double d) {
  double B = 0;
  while (4 * (B + 1) * d * 2 + 2 * (B + 1) * (B + 1) + 8 * (B + 1) <= 196608) B++;
  return B;
}

/* Tiles of T x T with a causal mask, one by one: a tile right of the diagonal holds nothing. */
static double skipped_tiles(int T) {
  int n = 0;
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++) n += j > i;
  return n;
}

/* Different pieces of 32 bytes that 32 words of 4 bytes, so many bytes apart, lie in. */
static double sectors_of(int stride) {
  int n = 0;
  for (int lane = 0, last = -1; lane < 32; lane++)
    if (lane * stride / 32 != last) last = lane * stride / 32, n++;
  return n;
}

/* The most words of one bank in the first column of 32 rows; swizzled: the eight pieces of 16 bytes
 * in 128 change places by XOR with the number of their 128 bytes, modulo 8. */
static double column_cycles(int row_bytes, int is_swizzled) {
  int words[32] = {0}, most = 0;
  for (int row = 0; row < 32; row++) {
    const int offset = row * row_bytes, line = offset / 128, piece = (offset / 16 % 8) ^ (is_swizzled ? line % 8 : 0),
              bank = (line * 128 + piece * 16 + offset % 16) / 4 % 32;
    most = ++words[bank] > most ? words[bank] : most;
  }
  return most;
}

/* How many pieces of that size, the last perhaps not full. */
static double pieces(int n, int size) { return n / size + (n % size > 0); }

/* Whether l has the same bits in pieces of 8 and in one, for rows of 64 scores between -4 and 4. */
static int rescaling_keeps_bits(void) {
  uint32_t random = 1;
  for (int row = 0; row < 64; row++) {
    float x[64], m = -1e30f, largest = -1e30f, l = 0, whole = 0;
    for (int k = 0; k < 64; k++) {
      random = random * 1664525u + 1013904223u; /* Numerical Recipes' generator */
      x[k] = (float)(random >> 8) / 2097152.0f - 4;
      largest = x[k] > largest ? x[k] : largest;
    }
    for (int first = 0; first < 64; first += 8) {
      float larger = m, sum = 0;
      for (int k = first; k < first + 8; k++) larger = x[k] > larger ? x[k] : larger;
      for (int k = first; k < first + 8; k++) sum += expf(x[k] - larger);
      l = l * expf(m - larger) + sum;
      m = larger;
    }
    for (int k = 0; k < 64; k++) whole += expf(x[k] - largest);
    if (l != whole) return 0;
  }
  return 1;
}

static const Right *rights(size_t *n) {
  /* scores 1, 2, 4, 2 with m = 4; 5, 1, 3, 1 with m = 5 */
  const double first = exp(1 - 4) + exp(2 - 4) + 1 + exp(2 - 4), second = 1 + exp(1 - 5) + exp(3 - 5) + exp(1 - 5);
  const Right rows[] = {
      {1, "ridge", 1, {312e12 / 1.555e12}, NULL},
      /* 2 N N d FLOPs; Q and K of 1 MiB, S of 32 MiB */
      {1, "intensity", 1, {2 * 4096.0 * 4096 * 128 / (34 * MiB)}, NULL},
      {1, "guess", 0, {0}, "memory"},
      {1, "time", 1, {32 * MiB / 1.555e12}, NULL},

      {2, "passes", 0, {0}, "scores softmax values"},
      {2, "size-s", 1, {32 * MiB}, NULL},
      {2, "share", 1, {128.0 / 132}, NULL},
      {2, "total", 1, {132 * MiB}, NULL},
      {2, "other", 3, {(1 + 8) * MiB, (2 + 32) * MiB, (8 + 512) * MiB}, NULL},

      {3, "count", 1, {(8 / 2) * (8 / 2)}, NULL},
      {3, "second", 0, {0}, "right"},
      {3, "budget", 1, {(5 * 32 + 1) * KiB}, NULL},
      {3, "largest", 1, {largest_block(128)}, NULL},
      {3, "other-d", 3, {largest_block(64), largest_block(96), largest_block(256)}, NULL},

      {4, "first-sum", 1, {first}, NULL},
      {4, "shrink", 0, {0}, "smaller"},
      {4, "factor", 1, {exp(3 - 5)}, NULL},
      {4, "final-sum", 1, {first * exp(4 - 5) + second + 4 * exp(2 - 5)}, NULL},
      {4, "steps", 0, {0}, "maximum factor rescale add"},
      {4, "own-sum", 3, {OWN_SUM(6), OWN_SUM(7), OWN_SUM(8)}, NULL},
      {4, "weight", 3, {1 / OWN_SUM(6), 1 / OWN_SUM(7), 1 / OWN_SUM(8)}, NULL},
      {4, "bits", 0, {0}, rescaling_keeps_bits() ? "yes" : "no"},

      {5, "once", 0, {0}, "K"},
      {5, "k-loads", 1, {8192 / 128}, NULL},
      {5, "q-loads", 1, {1}, NULL},
      {5, "o-reads", 1, {8192 / 128}, NULL},
      {5, "ratio", 3, {FA1_OVER_FA2(16), FA1_OVER_FA2(32), FA1_OVER_FA2(128)}, NULL},
      {5, "parallel", 0, {0}, "fa2"},

      {6, "halve", 1, {(2.0 + 2 * 128) / (2 + 2 * 64)}, NULL},
      {6, "loads", 3, {8192 / 16, 8192 / 32, 8192 / 64}, NULL},
      {6, "launches", 1, {1}, NULL},
      {6, "large", 1, {(4 * 64 + 128 + 2) * KiB}, NULL},
      {6, "shape", 0, {0}, "tall"},

      {7, "guess", 1, {skipped_tiles(8 / 2)}, NULL},
      {7, "partial", 1, {4096 / 128}, NULL}, /* the diagonal passes one in each row */
      {7, "rule", 0, {0}, "last"},
      {7, "share", 3, {skipped_tiles(4) / 16, skipped_tiles(8) / 64, skipped_tiles(16) / 256}, NULL},
      {7,
       "gain",
       3,
       {16 / (16 - skipped_tiles(4)), 64 / (64 - skipped_tiles(8)), 256 / (256 - skipped_tiles(16))},
       NULL},
      {7, "bytes", 0, {0}, "less"},

      {8, "asked", 1, {(1 + 32 + 32) * MiB}, NULL},
      {8, "hbm", 0, {0}, "once"},
      {8, "hits", 1, {62.0 / 65}, NULL},
      {8, "busy", 1, {4096 / 128}, NULL},
      {8, "fits", 1, {(60 / 2) / 2}, NULL}, /* half of 60 MiB, by 2 MiB */
      {8, "waves", 1, {pieces(32768 / 64, 40)}, NULL},
      {8, "small", 1, {(13 * 16 + 8) * MiB}, NULL}, /* K and V once a wave, Q once */

      {9, "s-32k", 1, {2 * GiB}, NULL},
      {9, "grow", 1, {(128.0 / 32) * (128.0 / 32)}, NULL},
      {9, "inputs", 1, {4 * 32 * MiB}, NULL},
      {9, "kept", 1, {32768 * 8.0}, NULL},
      {9, "heads", 3, {8 * 4 * GiB, 16 * 4 * GiB, 32 * 4 * GiB}, NULL},
      {9, "training", 1, {32768.0 * 32768 * 2 / (32768 * 4)}, NULL},
      {9, "longest", 1, {sqrt(40e9 / (2 * 2))}, NULL},

      {10, "token", 1, {2.0 * 80 * 8 * 128 * 2}, NULL},
      {10, "long", 1, {32.768e9}, NULL},
      {10, "shrink", 0, {0}, "none"},
      {10, "speed", 1, {3.35e12 / 32.768e9}, NULL},
      {10, "gqa", 1, {64.0 / 8}, NULL},
      {10, "int4", 1, {256.0 / 66}, NULL},
      {10, "pages", 3, {pieces(100, 16), pieces(257, 16), pieces(500, 16)}, NULL},
      {10, "chunks", 1, {16 * 17 / 2}, NULL},

      {11, "near", 1, {sectors_of(4)}, NULL},
      {11, "stride", 3, {sectors_of(8), sectors_of(12), sectors_of(64)}, NULL},
      {11, "overfetch", 1, {32 * 32 / 128.0}, NULL},
      {11, "column", 1, {column_cycles(128, 0)}, NULL},
      {11, "padded", 1, {column_cycles(128 + 4, 0)}, NULL},
      {11, "swizzle", 1, {column_cycles(128, 1)}, NULL},
      {11, "tensor", 1, {312 / 19.5}, NULL},

      {12, "rung-2", 1, {4096 * 2 * 64 * 256.0}, NULL},
      {12, "rung-4", 1, {(1 + 2 * 128) * MiB}, NULL},
      {12, "guess", 1, {(1 + 2 * 64) * MiB}, NULL},
      {12, "mma", 1, {4 * 4096.0 * 4096 * 128 / 4096}, NULL},
      {12, "rung-7", 1, {(1 + 2 * 32) * MiB}, NULL},
      {12, "counter", 0, {0}, "conflicts"},
      {12, "rung-9", 1, {(1 + 2 * 32) * MiB + 32 * 32}, NULL},
      {12, "peak", 1, {64 * 4 * 4096.0 * 4096 * 128 / 1449.0e-6 / 989.5e12}, NULL},

      {13, "sp", 1, {2 * 8 * MiB}, NULL},
      {13, "guess", 0, {0}, "same"},
      {13,
       "ratio",
       3,
       {8320 / 8256.0, 16512 / 16448.0, 32896 / 32832.0},
       NULL},                       /* (4 N N + 4 N d) / (2 N d + 2 N d N / 64), d = 128 */
      {13, "holds", 0, {0}, "yes"}, /* 2^15 x 2^15 x 2 = 2 x 2^30 */
      {13, "growth", 3, {GROWTH(128), GROWTH(256), GROWTH(512)}, NULL},
      {13, "formula", 1, {sqrt(96 * KiB / 6)}, NULL},
      {13, "tflops", 1, {0.72 * 312e12}, NULL},
      {13, "backward", 1, {64 / 16}, NULL}, /* a softmax in each tile, and each adds up to 1 */

      {14, "q1", 1, {largest_block(128)}, NULL},
      {14, "q2", 1, {8192 / 128}, NULL},
      {14, "q3", 1, {(8192.0 / 16) / (8192.0 / 128)}, NULL},
      {14, "q4", 1, {skipped_tiles(64) / (64 * 64)}, NULL},
      {14, "q5", 1, {floor(80e9 / (2 * 80 * 8 * 128 * 2))}, NULL},
      {14, "q6", 1, {8192 / 128}, NULL},
      {14, "q7", 1, {8 / 2}, NULL},
      {14, "guess", 0, {0}, "no"},
      {14, "q8", 1, {1}, NULL},
      {14, "q9", 1, {128 * 128 * 2}, NULL},
      {14, "q10", 1, {1}, NULL},
      {14, "q11", 0, {0}, "flash"},
      {14, "q12", 3, {pieces(257, 128), pieces(300, 128), pieces(700, 128)}, NULL},
      {14, "q13", 1, {2 * 131072 * 256.0}, NULL},
      {14, "score", 1, {5}, NULL}, /* 148 is not 185; S equals the loads of K; launches; the batch; 1.5 % in decode */

      {15, "eligible", 1, {4}, NULL}, /* d = 80, d = 256, fp32, a random mask */
      {15, "room", 1, {32 * 2 * 128 * MiB}, NULL},
      /* N = 32,768: 4 matrices of 8 MiB, 4 journeys of 2 GiB; N = 1024: 18 matrices of 256 KiB */
      {15, "tail", 1, {(32 * MiB + 8 * GiB) / (32 * MiB + 8 * GiB + 99 * 18 * 256 * KiB)}, NULL},
      {15, "sign", 0, {0}, "bytes"},
      {15, "whole", 3, {1 / 0.85, 1 / 0.825, 1 / 0.775}, NULL},
      {15, "padding", 1, {1 - (16 + 64 + 256 + 4096) / 16384.0}, NULL},
      {15, "ship", 0, {0}, "qualify profile compare ship"},
  };
  static Right table[COUNT_OF(rows)];
  memcpy(table, rows, sizeof rows);
  *n = COUNT_OF(table);
  return table;
}

/* ---- Wrong answers -------------------------------------------------------------------------------------------------
 *
 * As learners type them, with the first draws; and a piece of what they are told. */

typedef struct {
  int lesson;
  const char *id, *typed, *told;
} Wrong;

static const Wrong WRONG[] = {
    {1, "ridge", "16", "bandwidth of SRAM"},
    {1, "ridge", "0.00498", "the other way round"},
    {1, "ridge", "100.3", "one byte"},
    {1, "intensity", "2048", "S has to be written"},
    {1, "intensity", "240.9", "numbers instead of bytes"},
    {1, "intensity", "60.2", "They are two"},
    {1, "time", "43.2 us", "writing alone"},
    {1, "time", "1.72 us", "S goes to HBM"},

    {2, "passes", "softmax scores values", "not there yet"},
    {2, "size-s", "16 MiB", "Each takes two"},
    {2, "size-s", "1 MiB", "S has N rows of N"},
    {2, "size-s", "64", "S and P together"},
    {2, "total", "68 MiB", "written and then read again"},
    {2, "total", "67 MiB", "Writing counts too"},
    {2, "total", "128 MiB", "S and P alone"},
    {2, "other", "33 MiB", "S and P go with N times N"},
    {2, "other", "8.25 MiB", "Q, K, V and O go with N alone"},

    {3, "count", "64", "A tile holds 2 x 2"},
    {3, "count", "8 tiles", "they multiply"},
    {3, "budget", "160 KiB", "8 bytes for each row"},
    {3, "budget", "129 KiB", "tile of S is missing"},
    {3, "budget", "193 KiB", "P takes the place of S"},
    {3, "largest", "185", "257,890"}, /* 4 x 185 x 256 + 2 x 185 x 185 = 189,440 + 68,450 */
    {3, "largest", "128", "largest power of two"},
    {3, "largest", "149", "198,170"},
    {3, "other-d", "148", "d = 128"},
    {3, "other-d", "296", "does not depend on it"},
    {3, "count", "4", "Each meets all"},
    {3, "largest", "192", "left out the tile of S"},

    {4, "first-sum", "9", "added the scores"},
    {4, "first-sum", "0.320", "One term is missing"},
    {4, "factor", "0.6", "divided the maxima"},
    {4, "bits", "yes", "rounded"},
    {4, "first-sum", "72.1", "Subtract the"},
    {4, "factor", "7.39", "sign"},
    {4, "factor", "0.368", "from 4 to 5"},
    {4, "final-sum", "4.08", "let m fall"},
    {4, "final-sum", "5.66", "block's own largest"},
    {4, "own-sum", "2.616", "rescaled first"},
    {4, "weight", "28.6%", "Softmax shares"},

    {5, "k-loads", "4096", "how many tiles"},
    {5, "q-loads", "64", "That is K"},
    {5, "o-reads", "0", "unfinished, again and again"},
    {5, "o-reads", "63", "begins as zeros"},
    {5, "ratio", "2x", "rereads two matrices"},
    {5, "parallel", "fa1", "take turns"},
    {5, "k-loads", "8192", "once for every query"},
    {5, "ratio", "1", "V has no counterpart"},

    {6, "loads", "64", "128 rows"},
    {6, "launches", "512", "CTAs of one kernel"},
    {6, "launches", "262,144 launches", "One kernel walks"},
    {6, "large", "322 KiB", "doubles on both sides"},
    {6, "large", "644 KiB", "Only the tile of S"},
    {6, "shape", "square", "Q is read once"},
    {6, "loads", "8,192", "once for every query"},
    {6, "launches", "3", "standard attention"},
    {6, "shape", "wide", "does not change"},

    {7, "partial", "496", "nothing in them is needed"}, /* 32 x 31 / 2 */
    {7, "rule", "first", "what they print"},
    {7, "share", "50%", "leaves out the diagonal"},
    {7, "share", "62.5 %", "that is computed"},
    {7, "gain", "2", "without the diagonal"},
    {7, "bytes", "same", "Q is still read"},
    {7, "partial", "4096", "so many scores"},
    {7, "rule", "diagonal", "also true"},
    {7, "share", "25%", "partial tiles"},
    {7, "gain", "1.375", "added the share"},

    {8, "asked", "3 MiB", "each matrix once"},
    {8, "hits", "4.6%", "not found"},
    {8, "busy", "132", "not enough CTAs"},
    {8, "fits", "30 heads", "held twice"},
    {8, "waves", "12", "left over"},
    {8, "small", "24 MiB", "each matrix once"},
    {8, "small", "208 MiB", "Q is missing"},
    {8, "asked", "64 MiB", "Q is missing"},
    {8, "busy", "1024", "how many tiles"},
    {8, "waves", "12.8", "Round up"},

    {9, "s-32k", "1 GiB", "In fp16 it has two"},
    {9, "s-32k", "8 MiB", "S has 32K rows of 32K"},
    {9, "kept", "0", "FlashAttention-2"},
    {9, "heads", "16 GiB", "S alone"},
    {9, "longest", "10^10", "Take the root"},
    {9, "s-32k", "4 GiB", "S and P together"},
    {9, "inputs", "512 MiB", "N alone"},
    {9, "kept", "128 KiB", "m alone"},
    {9, "training", "32,768", "L's have 4"},
    {9, "training", "65,536", "other way about"},
    {9, "longest", "141,421", "room for S alone"},

    {10, "token", "160 KiB", "Both are kept"},
    {10, "token", "2.5 MiB", "share one KV head"},
    {10, "long", "262 GB", "64 query heads"},
    {10, "gqa", "64", "single KV head"},
    {10, "int4", "4x", "scales are stored"},
    {10, "pages", "6", "left over"},
    {10, "token", "4 KiB", "one layer"},
    {10, "speed", "204.5", "Both are needed"},
    {10, "int4", "3.765", "2 bytes, not 4"},
    {10, "pages", "1 page", "how many blocks"},
    {10, "chunks", "256", "cannot look at those that come after it"},
    {10, "chunks", "120", "loads its own"},
    {10, "chunks", "16", "the first chunk's are loaded"},

    {11, "near", "32", "Eight numbers"},
    {11, "overfetch", "32x", "whole lines"},
    {11, "padded", "33", "in words"},
    {11, "swizzle", "8", "How many rows share each"},
    {11, "tensor", "32", "sparse"},
    {11, "near", "1", "several sectors"},
    {11, "stride", "2", "counted lines"},
    {11, "padded", "2", "32 different banks"},
    {11, "swizzle", "1", "only 8 places"},

    {12, "rung-2", "64 MiB", "rows of both"},
    {12, "rung-4", "256 MiB", "Q is missing"},
    {12, "mma", "1048576", "two products"},
    {12, "counter", "mma", "products are the same"},
    {12, "rung-7", "129 MiB", "blocks of 64"},
    {12, "rung-9", "65 MiB", "counter is missing"},
    {12, "peak", "5.35%", "rung 6"},

    {13, "sp", "32 MiB", "what is printed"},
    {13, "ratio", "4", "printed table"},
    {13, "holds", "no", "2^31 bytes"},
    {13, "growth", "2", "traffic does not"},
    {13, "formula", "64", "Compute it"},
    {13, "tflops", "335 TFLOP/s", "more than the card"},
    {13, "backward", "1", "by themselves"},
    {13, "sp", "8 MiB", "one of the two"},
    {13, "growth", "8", "third factor"},
    {13, "formula", "90.5", "4 bytes"},
    {13, "tflops", "433.3", "divided"},

    {14, "q1", "185", "the article's answer"},
    {14, "q3", "1", "Loads do not"},
    {14, "q4", "50%", "half"},
    {14, "q6", "1", "K and V now"},
    {14, "q7", "16", "once for each tile"},
    {14, "q8", "32", "reads its own"},
    {14, "q10", "2", "computed once"},
    {14, "q11", "window", "changes the result"},
    {14, "q12", "257", "appended"},
    {14, "q13", "64 KiB", "at a time"},
    {14, "score", "6", "in a limit"},
    {14, "score", "1", "There are more"},
    {14, "q2", "128", "number of rows"},
    {14, "q5", "488,280", "already"},
    {14, "q9", "128 MiB", "all loads"},

    {15, "eligible", "2", "head width"},
    {15, "room", "4 GiB", "S alone"},
    {15, "sign", "output", "passes"},
    {15, "whole", "2x", "attention alone"},
    {15, "whole", "1.15", "old time by the new"},
    {15, "padding", "64.1%", "square of the length"},
    {15, "ship", "profile qualify compare ship", "Profile what"},
    {15, "room", "0.25 GiB", "one head"},
    {15, "whole", "1.3", "added the share"},
    {15, "padding", "27.05%", "share that is needed"},
};

#endif
