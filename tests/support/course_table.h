/* What tests/unit/test_course.c expects of the lessons: the right answers, derived by hand, and wrong
 * ones with a piece of what the learner is told. */
#ifndef TILEWALK_TESTS_SUPPORT_COURSE_TABLE_H
#define TILEWALK_TESTS_SUPPORT_COURSE_TABLE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define KiB             1024.0
#define MiB             1048576.0
#define GiB             1073741824.0

enum { RIGHTS_MAX = 24 };

/* ---- What is right, by hand ---------------------------------------------------------------------------------------
 *
 * Numbers in base units: bytes, seconds, FLOP/s, fractions; from what the learner drew. */

typedef struct {
  const char *id;
  double value;
  const char *keys;   /* choices: the right key; orders: all keys in order */
  const char *sketch; /* as it is typed */
} Right;

/* What a learner drew by that name. */
typedef double Drawn(void *run, const char *name);

/* Bytes of FlashAttention-1 and -2 with T blocks of 128 rows of 256 bytes. FA-1: K and V once; Q and O come T times, O
 * goes T + 1 times; m and l are 8 bytes to a row's 256, so 1/32, as often as O. FA-2: Q and O once, K and V T times. */
static double fa1_bytes(double T) { return T * 32768 * (2 + 2 * T + (T + 1) + (2 * T + 1) / 32); }
static double fa2_bytes(double T) { return T * 32768 * (2 + 2 * T); }

/* Four tiles of B x d, one of B x B and 8 bytes a row; and the largest B with that within so many bytes, by trying. */
static double tiles_bytes(double B, double d) { return 4 * B * d * 2 + 2 * B * B + 8 * B; }
static double largest_block(double d, double bytes) {
  double B = 0;
  while (tiles_bytes(B + 1, d) <= bytes) B++;
  return B;
}

/* Standard attention, d = 128: four matrices of N x d, four trips of N x N. */
static double standard_bytes(double N) { return 4 * N * 256 + 4 * N * N * 2; }

/* Tiled attention reads Q once and K and V once for each block of B queries; d numbers of 2 bytes a row. */
static double tiled_reads(double N, double B, double d) { return N * d * 2 * (1 + 2 * ceil(N / B)); }

/* Tiles of T x T with a causal mask, one by one: a tile right of the diagonal holds nothing. */
static double skipped_tiles(double T) {
  double n = 0;
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

/* The rows of a lesson; returns how many. */
static size_t rights(int lesson, Drawn *drawn, void *run, Right *row) {
  Right *const begin = row;
#define D(name) drawn(run, name)
#define IS(id, value)                                                                                                  \
  *row++ = (Right) { id, value, NULL, NULL }
#define CHOOSE(id, keys)                                                                                               \
  *row++ = (Right) { id, 0, keys, NULL }
#define DRAW(id, text)                                                                                                 \
  *row++ = (Right) { id, 0, NULL, text }
  switch (lesson) {
  case 1: {
    const double N = D("N"), d = D("d");
    IS("wider", 2 * 4096.0 * 4096 * 256 / (2 * (2 * 4096 * 256 + 4096 * 4096)));
    CHOOSE("newer", "higher");
    IS("ridge", D("F") * 1e12 / (D("W") * 1e9));
    IS("intensity", 2 * N * N * d / (2 * N * d * 2 + 2 * N * N)); /* 2 N N d FLOPs; Q, K and S */
    CHOOSE("guess", "memory");
    IS("time", 2 * N * N / (D("W") * 1e9));
    break;
  }
  case 2:
    DRAW("double", "34, 132, 294, 520"); /* N / 1024 for the small four, 2 (N / 512)^2 for the large */
    CHOOSE("sides", "read");
    CHOOSE("passes", "scores softmax values");
    IS("size-s", 2 * D("N") * D("N"));
    IS("share", 8 * D("N") * D("N") / standard_bytes(D("N")));
    IS("total", standard_bytes(D("N")));
    IS("other", standard_bytes(D("M")));
    break;
  case 3:
    IS("twice", largest_block(128, 384 * KiB) / largest_block(128, 192 * KiB));
    IS("stored", 0);
    IS("count", D("t") * D("t"));
    CHOOSE("second", "right");
    IS("budget", tiles_bytes(D("B"), D("d")));
    IS("largest", largest_block(128, D("M") * KiB));
    IS("other-d", largest_block(D("D"), D("M") * KiB));
    break;
  case 4: {
    const double p = D("p"), q = D("q"), r = D("r"), top = D("top"),
                 x = D("x"); /* the first with m = 4; 5, 1, 3, 1 with 5 */
    const double first = exp(p - 4) + exp(q - 4) + 1 + exp(r - 4), second = 1 + exp(1 - 5) + exp(3 - 5) + exp(1 - 5);
    const double own = exp(3 - top) + exp(1 - top) + exp(2 - top) + exp(4 - top) + 1 + exp(D("u") - top) +
                       exp(D("v") - top) + exp(1 - top);
    CHOOSE("grown", first < first * exp(4 - 5) + second ? "larger" : "smaller");
    IS("first-sum", first);
    CHOOSE("shrink", "smaller");
    IS("factor", exp(D("low") - D("high")));
    IS("final-sum", first * exp(4 - 5) + second + 4 * exp(x - 5));
    CHOOSE("steps", "maximum factor rescale add");
    IS("own-sum", own);
    IS("weight", 1 / own);
    CHOOSE("few", rescaling_keeps_bits() ? "none" : "some");
    break;
  }
  case 5:
    IS("both", fa1_bytes(64) / fa2_bytes(64));
    CHOOSE("other", "Q");
    CHOOSE("once", "K");
    IS("k-loads", D("T"));
    IS("q-loads", D("T") * 128 * 256);
    IS("o-reads", D("U"));
    IS("ratio", fa1_bytes(D("M") / 128) - fa2_bytes(D("M") / 128));
    CHOOSE("parallel", "fa2");
    break;
  case 6:
    IS("columns", 1);
    CHOOSE("fewest", "tall");
    DRAW("halve", "1028, 516, 348, 260"); /* 2 (2 + 2 T), of 256, 128, 86 and 64 blocks */
    IS("loads", D("T"));
    IS("launches", D("L"));
    IS("large", tiles_bytes(D("big"), 128));
    IS("shape", D("M") * 256 + tiled_reads(D("M"), 256, 128)); /* the tall one, with the writing of O */
    break;
  case 7: {
    const double T = D("T"), U = D("U"), G = D("G");
    DRAW("window", "0:1-7 1:2-7 2:3-7 3:0,4-7 4:0-1,5-7 5:0-2,6-7 6:0-3,7 7:0-4"); /* row i needs i - 2 to i */
    IS("one", 0);
    DRAW("guess", "0:1-3 1:2-3 2:3");
    IS("partial", D("P")); /* the diagonal passes one in each row */
    CHOOSE("rule", "last");
    IS("share", skipped_tiles(T));
    IS("gain", (U * U - skipped_tiles(U)) * 4 * 128 * 128 * 128); /* two products of 2 x 128 x 128 x 128 */
    IS("bytes", 32768 * (2 * G + 2 * (G * G - skipped_tiles(G))));
    break;
  }
  case 8:
    IS("asked", tiled_reads(128 * D("T"), 128, 128));
    DRAW("hbm", "3.04052734375"); /* 3,188,224 bytes were counted */
    IS("tail", tiled_reads(4096, 128, 128));
    CHOOSE("again", "once");
    IS("hits", tiled_reads(128 * D("U"), 128, 128) - 3 * 128 * D("U") * 256);
    IS("busy", D("busy"));
    IS("fits", floor(30 * MiB / (2 * D("K") * 256))); /* half of 60 MiB */
    IS("waves", pieces((int)D("c"), 40));
    IS("small", (2 * pieces((int)D("s"), 40) + 1) * 64 * D("s") * 256); /* K and V once a wave, Q once */
    break;
  case 9:
    IS("none", 0);
    IS("layer", 32 * 4 * GiB);
    IS("s-32k", 2 * D("N") * D("N"));
    IS("grow", (128.0 / 32) * (128.0 / 32));
    IS("inputs", 4 * D("I") * 256);
    IS("kept", D("M") * 8);
    IS("heads", D("H") * 4 * GiB);
    IS("training", D("R") * D("R") * 2 / (D("R") * 4));
    IS("longest", floor(sqrt(D("G") * 1e9 / (2 * 2))));
    break;
  case 10: {
    const double token = 2 * D("L") * D("H") * 128 * 2, cache = token * D("tokens");
    DRAW("long-step", "1, 2, 4, 8"); /* 512 bytes a token */
    IS("windowed", 1024 / 8192.0);
    IS("token", token);
    IS("long", cache);
    CHOOSE("shrink", "none");
    IS("speed", 3.35e12 / cache);
    IS("gqa", cache * 64 / D("H"));
    IS("int4", 2 * D("L") * D("H") * 66);
    IS("pages", pieces((int)D("n"), 16));
    IS("unequal", 1 - (D("n") + D("m") + D("longest")) / (3 * D("longest")));
    IS("chunks", D("C") * (D("C") + 1) / 2);
    break;
  }
  case 11:
    IS("gaps", sectors_of(16));
    IS("four", column_cycles(128 + 16, 0));
    IS("near", D("a") * sectors_of(4));
    IS("stride", D("e") * sectors_of((int)D("s")));
    IS("overfetch", D("f") * 32 * 32);
    IS("column", column_cycles(128, 0));
    IS("padded", D("g") * column_cycles(128 + 4 * (int)D("pad"), 0));
    IS("swizzle", D("h") * column_cycles(128, 1));
    IS("tensor", D("fast") / D("slow"));
    break;
  case 12:
    IS("half-again", (1 + 2 * 32) * MiB);
    CHOOSE("time", "more");
    IS("rung-2", D("A") / 64 * (D("A") / 64) * 2 * 64 * 256);
    IS("rung-4", tiled_reads(D("B"), 32, 128));
    IS("guess", (1 + 2 * 64) * MiB);
    IS("mma", 4 * D("C") * D("C") * 128 / 4096);
    IS("rung-7", tiled_reads(D("D"), 128, 128));
    CHOOSE("counter", "conflicts");
    IS("rung-9", tiled_reads(D("E"), 128, 128) + D("E") / 128 * 32);
    IS("peak", 64 * 4 * 4096.0 * 4096 * 128 / (D("measured") * 1e-6) / 989.5e12);
    break;
  case 13: {
    const double g = D("g");             /* d = 64 and blocks of 64: Q and O, and K and V for each block */
    DRAW("grows", "66, 260, 582, 1032"); /* T (2 + 2 T) / 32 */
    CHOOSE("judge-sp", "wrong");         /* 2 x 2048^2 x 2 bytes are 16 MiB, and no gain is promised */
    CHOOSE("judge-gain", "exaggerated"); /* 520 over 260 MiB, where 4 is printed */
    CHOOSE("judge-s", "holds");          /* 2^31 bytes */
    CHOOSE("judge-linear", "wrong");     /* 66 over 17 MiB, where 2 is said */
    CHOOSE("judge-formula", "wrong");    /* 8 x 64 B + 2 B B + 8 B is 96 KiB at B = 127 */
    CHOOSE("judge-tflops", "wrong");     /* 0.72 x 312 is 225 */
    CHOOSE("judge-backward", "wrong");   /* 1 and 1 are 2 */
    IS("sp", 2 * D("n") * D("n") * 2);
    CHOOSE("guess", "same");
    IS("ratio", D("M") * 256 + tiled_reads(D("M"), 64, 128));
    IS("holds", 2 * D("h") * D("h"));
    IS("growth", 2 * g * 128 * (2 + 2 * 2 * g / 64) - g * 128 * (2 + 2 * g / 64));
    IS("formula", sqrt(D("KB") * KiB / 6));
    IS("tflops", D("part") / 100 * D("peak") * 1e12);
    IS("backward", D("t")); /* a softmax in each tile, and each adds up to 1 */
    break;
  }
  case 14:
    CHOOSE("judge-loads", "wrong");
    IS("loads", D("A") / 128 * D("A") * 256);
    CHOOSE("judge-launches", "wrong");
    CHOOSE("judge-half", "exaggerated");
    CHOOSE("judge-batch", "wrong");
    IS("batch", D("R") * D("keys") * 512);
    CHOOSE("judge-again", "holds");
    CHOOSE("judge-cache", "exaggerated");
    break;
  case 15: {
    const double f = D("share") / 100;
    const double tiles = 64 * 64 + pow(D("l1") / 128, 2) + pow(D("l2") / 128, 2) + pow(D("l3") / 128, 2);
    IS("times", standard_bytes(8192) / fa2_bytes(64));
    IS("waste", 0.75);
    IS("eligible", D("r1") + D("r2") + D("r3") + D("r4")); /* d = 80, d = 256, fp32, a random mask */
    IS("room", 32 * 2 * 2 * D("n") * D("n"));
    /* N = 32,768: 4 matrices of 8 MiB, 4 trips of 2 GiB; N = 1024: 18 matrices of 256 KiB */
    IS("tail", (32 * MiB + 8 * GiB) / (32 * MiB + 8 * GiB + 99 * 18 * 256 * KiB));
    CHOOSE("sign", "bytes");
    IS("whole", 1 / (1 - f + f / D("speed")));
    IS("padding", 1 - tiles / (4 * 64 * 64));
    CHOOSE("ship", "qualify profile compare ship");
    break;
  }
  case 16:
    CHOOSE("same-bits", "most");
    IS("steps", D("e") * 1024 / pow(2, floor(log2(D("v")))));
    IS("coarse", 8 * D("fine"));
    CHOOSE("nearer", "tiled");
    IS("between", D("ea") + D("eb"));
    IS("allclose", D("atol") + D("rtol") * D("ref"));
    CHOOSE("no-max", "passes");
    break;
  case 17: {
    const double T = D("T"), N = 128 * T, M = D("M"); /* d = 64: a matrix has 128 N bytes */
    IS("short", 8 / 4.0);
    IS("saved", 4 * N * 128 + 8 * N * N - N * 128 * (2 + 2 * T));
    IS("decode", (4 * 8192 * 2 + 2 * 256 + 2 * 8192 * 256) / (2 * 256 + 2 * 8192 * 256.0));
    IS("row", 4 * D("n") * 2);
    IS("l2", floor(sqrt(D("L") * MiB / 2)));
    IS("trips", 8 * M * M / (D("W") * 1e12));
    IS("launches", 64 * D("c") * 1e-6);
    CHOOSE("model", "tenth");
    break;
  }
  case 18:
    CHOOSE("where", "registers");
    IS("o-words", D("Br") * D("d") / D("threads"));
    IS("s-words", D("Br") * D("Bc") / D("threads"));
    IS("resident", fmod(65536, D("need") * 32 * D("warps")));
    IS("more", 1.5);
    IS("spill", (D("want") - 255) * 4 * 32 * D("warps"));
    CHOOSE("stages", "load");
    IS("buffers", 128 * 256 + D("stages") * 2 * D("hold") * 256);
    break;
  case 19: {
    const double m = fmax(D("m1"), D("m2"));
    IS("idle", 1);
    IS("ctas", D("R") * D("H") * D("s"));
    IS("keys", 128 * pieces((int)pieces((int)D("n"), 128), (int)D("parts")));
    CHOOSE("more-bytes", "same");
    IS("parts", D("q") * D("heads") * D("parts") * 516); /* 128 words of O, and L */
    IS("join", D("l1") * exp(D("m1") - m) + D("l2") * exp(D("m2") - m));
    CHOOSE("enough", "no");
    IS("waves", pieces((int)(D("R2") * 8 * D("s2")), 132));
    break;
  }
  case 20:
    IS("bytes",
       (32 + 33 + 3 + 2 * 32 / 64.0 + 2 + 3 + 2 * 33 + 1 / 64.0) * MiB / fa2_bytes(32)); /* Q, dO, K V O, L D, A; out */
    IS("weight", exp(D("s") - D("L")));
    IS("keeps", 4 * D("kept"));
    IS("products", 5 / 2.0);
    IS("flops", 10 * D("N") * D("N") * 128);
    IS("row-sum", D("o1") * D("g1") + D("o2") * D("g2"));
    IS("ds", D("p") * (D("dp") - D("D")));
    CHOOSE("outside", "dq");
    IS("adds", D("T") * D("T") * 128 * 128 * 4);
    break;
  default: break;
  }
  return (size_t)(row - begin);
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
    {2, "other", "33 MiB", "You scaled everything with N. S and P grow with N times N."},
    {2, "other", "8.25 MiB", "You scaled everything with N times N. Q, K, V and O grow"},

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
    {4, "first-sum", "72.1", "Subtract the"},
    {4, "factor", "7.39", "sign"},
    {4, "factor", "0.368", "from 4 to 5"},
    {4, "final-sum", "4.08", "let m fall"},
    {4, "final-sum", "5.66", "block's own largest"},
    {4, "own-sum", "2.616", "rescaled first"},
    {4, "weight", "28.6%", "Softmax shares"},

    {5, "k-loads", "4096", "how many tiles"},
    {5, "q-loads", "128 MiB", "That is K"},
    {5, "o-reads", "0", "unfinished, again and again"},
    {5, "o-reads", "319", "begins as zeros"},
    {5, "ratio", "26.02 MiB", "all that FlashAttention-1"},
    {5, "parallel", "fa1", "take turns"},
    {5, "k-loads", "8192", "once for every query"},
    {5, "ratio", "0", "V has no counterpart"},

    {6, "loads", "64", "128 rows"},
    {6, "launches", "16384", "CTAs of one kernel"},
    {6, "launches", "8,388,608 launches", "One kernel walks"},
    {6, "large", "322 KiB", "grows on both sides"},
    {6, "large", "644 KiB", "Only the tile of S"},
    {6, "shape", "4112 MiB", "Q is read once"},
    {6, "loads", "8,192", "once for every query"},
    {6, "launches", "96", "standard attention"},
    {6, "shape", "16400 MiB", "does not change"},

    {7, "partial", "496", "nothing in them is needed"}, /* 32 x 31 / 2 */
    {7, "rule", "first", "This is what an article prints. It holds below the"},
    {7, "share", "18", "leaves out the diagonal"},
    {7, "share", "21", "that are computed"},
    {7, "gain", "0.2684 GFLOP", "without the diagonal"},
    {7, "bytes", "260 MiB", "without a mask"},
    {7, "partial", "4096", "That is how many scores the diagonal passes through. 128 of"},
    {7, "rule", "diagonal", "also true"},
    {7, "share", "6", "partial tiles"},
    {7, "gain", "0.2349 GFLOP", "That is what is saved."},

    {8, "asked", "3 MiB", "each matrix once"},
    {8, "hits", "3 MiB", "does serve"},
    {8, "busy", "132", "not enough CTAs"},
    {8, "fits", "120 heads", "held twice"},
    {8, "waves", "12", "left over"},
    {8, "small", "24 MiB", "each matrix once"},
    {8, "small", "208 MiB", "Q is missing"},
    {8, "asked", "64 MiB", "Q is missing"},
    {8, "busy", "2048", "how many tiles"},
    {8, "waves", "12.8", "Round up"},

    {9, "s-32k", "1 GiB", "In fp16 it takes two."},
    {9, "s-32k", "8 MiB", "S has N rows of N"},
    {9, "kept", "0", "FlashAttention-2"},
    {9, "heads", "16 GiB", "S alone"},
    {9, "longest", "10^10", "Take its square root."},
    {9, "s-32k", "4 GiB", "S and P together"},
    {9, "inputs", "512 MiB", "N alone"},
    {9, "kept", "128 KiB", "m alone"},
    {9, "training", "32,768", "L's take 4"},
    {9, "training", "65,536", "The other way round: L's numbers are the wider ones."},
    {9, "longest", "141,421", "room for S alone"},

    {10, "token", "160 KiB", "Both are kept"},
    {10, "token", "2.5 MiB", "share one KV head"},
    {10, "long", "262 GB", "64 query heads"},
    {10, "gqa", "2097 GB", "single KV head"},
    {10, "int4", "80 KiB", "scales are stored"},
    {10, "pages", "6", "left over"},
    {10, "token", "4 KiB", "one layer"},
    {10, "speed", "204.5", "Both are needed"},
    {10, "int4", "85 KiB", "2 bytes, not 4"},
    {10, "pages", "1 page", "how many blocks"},
    {10, "chunks", "256", "cannot look at those that come after it"},
    {10, "chunks", "120", "loads its own"},
    {10, "chunks", "16", "the first chunk's K and V"},

    {11, "near", "128", "Eight numbers"},
    {11, "overfetch", "64 KiB", "whole lines"},
    {11, "padded", "1089", "in words"},
    {11, "swizzle", "72", "How many rows share each"},
    {11, "tensor", "32", "sparse"},
    {11, "near", "4", "several sectors"},
    {11, "stride", "6", "counted lines"},
    {11, "padded", "66", "Follow the rows"},
    {11, "swizzle", "9", "only 8 places"},

    {12, "rung-2", "64 MiB", "rows of both"},
    {12, "rung-4", "256 MiB", "Q is missing"},
    {12, "mma", "1048576", "two products"},
    {12, "counter", "mma", "products are the same"},
    {12, "rung-7", "2052 MiB", "blocks of 64"},
    {12, "rung-9", "65 MiB", "counter is missing"},
    {12, "peak", "5.35%", "rung 6"},

    {13, "sp", "200 MiB", "the printed slip"},
    {13, "ratio", "258 MiB", "printed table"},
    {13, "holds", "16 GiB", "S and P together"},
    {13, "growth", "258 MiB", "traffic does not"},
    {13, "formula", "64", "That is half of it, like the printed result. Compute the"},
    {13, "tflops", "335 TFLOP/s", "more than that card"},
    {13, "backward", "1", "by themselves"},
    {13, "sp", "50 MiB", "one of the two"},
    {13, "growth", "1806 MiB", "third factor"},
    {13, "formula", "90.5", "4 bytes"},
    {13, "tflops", "433.3", "divided"},

    {14, "loads", "8.389 MB", "That is one load of K."},
    {14, "loads", "4295 MB", "K and V"},
    {14, "batch", "4 MiB", "reads its own"},
    {14, "batch", "320 MiB", "Both are read"},

    {15, "eligible", "55", "head width"},
    {15, "room", "4 GiB", "S alone"},
    {15, "sign", "output", "passes"},
    {15, "whole", "2x", "attention alone"},
    {15, "whole", "1.15", "old time by the new"},
    {15, "padding", "64.1%", "square of the length"},
    {15, "ship", "profile qualify compare ship", "Profile what"},
    {15, "room", "0.25 GiB", "one head"},
    {15, "whole", "1.3", "added the share"},
    {15, "padding", "27.05%", "share that is needed"},

    {16, "steps", "1.024", "between 1 and 2"},
    {16, "between", "0.0001", "same direction"},
    {17, "row", "16 KiB", "S, or P"},
    {17, "launches", "192 us", "One launch is left"},
    {18, "o-words", "16", "summed in fp32"},
    {18, "spill", "20 B", "one thread"},
    {19, "keys", "2731", "Blocks are not cut"},
    {19, "join", "3", "its own m"},
    {20, "flops", "17.18 GFLOP", "four products"},
    {20, "ds", "0.02", "others lose"},
};

#endif
