/* What tests/unit/test_course.c expects of the lessons: the right answers, derived by hand, and wrong
 * ones with a piece of what the learner is told. */
#ifndef TILEWALK_TESTS_SUPPORT_COURSE_TABLE_H
#define TILEWALK_TESTS_SUPPORT_COURSE_TABLE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KiB 1024.0
#define MiB 1048576.0
#define GiB 1073741824.0

enum { RIGHTS_MAX = 24 };

/* ---- What is right, by hand ---------------------------------------------------------------------------------------
 *
 * Numbers in base units: bytes, seconds, FLOP/s, fractions; from what the learner drew. */

typedef struct {
  const char *id;
  double value;
  const char *keys; /* choices: the right key; orders: all keys in order */
} Right;

/* What a learner drew by that name. */
typedef double Drawn(void *run, const char *name);

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

/* The most words of one bank in the first column of 32 rows. */
static double column_cycles(int row_bytes) {
  int words[32] = {0}, most = 0;
  for (int row = 0; row < 32; row++) {
    const int bank = row * row_bytes / 4 % 32;
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
  *row++ = (Right) { id, value, NULL }
#define CHOOSE(id, keys)                                                                                               \
  *row++ = (Right) { id, 0, keys }
  switch (lesson) {
  case 1: {
    const double N = D("N"), d = D("d");
    CHOOSE("passes", "scores softmax values");
    IS("stores", D("T") * D("U"));
    IS("size-s", 2 * N * N);
    IS("inputs", 4 * D("I") * 256);
    IS("heads", D("H") * 4 * GiB);
    IS("total", standard_bytes(N));
    IS("share", 8 * N * N / standard_bytes(N));
    IS("longer", D("E") * D("E"));
    IS("ridge", D("F") * 1e12 / (D("W") * 1e9));
    IS("intensity", 2 * N * N * d / (2 * N * d * 2 + 2 * N * N)); /* 2 N N d FLOPs; Q, K and S */
    CHOOSE("limits", "memory");
    IS("time", 2 * N * N / (D("W") * 1e9));
    break;
  }
  case 2: { /* the scores k + a / 2 and 2 under m = 2; r and 1 come with m = r; x twice, below r */
    const double p = D("k") + D("a") / 2, r = D("r"), first = exp(p - 2), old = exp(2 - r);
    const double l1 = first + 1, o1 = D("u") * first + D("v");
    const double l2 = l1 * old + 1 + exp(1 - r), o2 = o1 * old + D("w") + 5 * exp(1 - r), late = exp(D("x") - r);
    IS("score", p);
    IS("power", first);
    IS("average", o1 / l1);
    CHOOSE("shrinks", "shrink");
    IS("factor", exp(D("low") - D("high")));
    IS("sum-two", l2);
    IS("row-two", o2);
    IS("row-end", o2 / l2);
    CHOOSE("proof", "start assume times add same");
    IS("whole", exp(p - r) / l2);
    IS("third", (o2 + 2 * D("y") * late) / (l2 + 2 * late));
    IS("carried", D("D") + 2);
    break;
  }
  case 3: {
    const double N = 128 * D("T"), B = D("B"), d = D("d");
    CHOOSE("stays", "queries");
    CHOOSE("order", "q kv s max p div");
    IS("q-loads", D("T"));
    IS("k-loads", D("R") * D("C"));
    IS("block-bytes", D("rows") * d * 2);
    IS("stores", D("C"));
    IS("naive", 8 * N * N);
    IS("tiled", D("T") * 2 * N * 256);
    IS("eighth", 8);
    IS("room", largest_block(128, D("kib") * KiB));
    IS("law", 8 * (B * D("U")) * (B * D("U")) * d * d / (4 * d * B)); /* 8 N^2 d^2 / M */
    CHOOSE("derive", "room size blocks each all");
    IS("law-moves", D("C") * D("C") / D("R"));
    IS("other-order", 2 * D("R") * D("C"));
    break;
  }
  case 4: {
    const double T = D("T"), token = 2 * D("L") * D("H") * 128 * 2, keys = D("keys"), m = fmax(D("m1"), D("m2"));
    IS("kinds", 6);
    CHOOSE("rule", "last");
    IS("skipped-share", skipped_tiles(T) / (T * T));
    IS("causal-flops", (T * T - skipped_tiles(T)) * 4 * 128 * 128 * 128); /* two products of 2 x 128 x 128 x 128 */
    IS("appended", token);
    IS("page", pieces((int)D("n"), 16));
    IS("cache-bytes", token * D("tokens"));
    IS("gqa", token * D("tokens") * 64 / D("H"));
    IS("oom-tokens", floor((D("card") - D("weights")) * 1e9 / token));
    IS("again-s", 2 * keys * keys * 128);
    IS("again-kv", 2 * D("weights") * 1e9 * D("tokens"));
    IS("on-chip", 2 * D("b") * 256);
    IS("in-hbm", 2 * keys * 256);
    IS("decode-gain", (4 * 8192 * 2 + 2 * 256 + 2 * 8192 * 256) / (2 * 256 + 2 * 8192 * 256.0));
    IS("decode-intensity", 3.35 / D("F")); /* 4 x 128 FLOPs and 512 bytes a key */
    IS("batch-decode", D("R") * keys * 512);
    IS("ctas", D("H") * D("s"));
    IS("join", D("l1") * exp(D("m1") - m) + D("l2") * exp(D("m2") - m));
    break;
  }
  case 5:
    IS("asked", tiled_reads(128 * D("T"), 128, 128));
    IS("hbm", 3188224);                               /* as it was counted */
    IS("fits", floor(30 * MiB / (2 * D("K") * 256))); /* half of 60 MiB */
    IS("waves", pieces((int)D("c"), 40));
    IS("tile-flops", 4 * D("q") * D("k") * D("d"));
    IS("near", D("a") * sectors_of(4));
    IS("stride", D("e") * sectors_of((int)D("s")));
    IS("column", column_cycles(128));
    IS("padded", D("g") * column_cycles(128 + 4 * (int)D("pad")));
    IS("o-words", D("Br") * D("d") / D("threads"));
    IS("resident", fmod(65536, D("need") * 32 * D("warps")));
    IS("spill", (D("want") - 255) * 4 * 32 * D("warps"));
    break;
  case 6:
    CHOOSE("v-intermediates", "wrong"); /* 2 x 2048^2 x 2 bytes are 16 MiB */
    IS("intermediates", 2 * D("n") * D("n") * 2);
    CHOOSE("v-cache", "rounds"); /* 2 x 80 x 8 x 128 x 2 x 100,000 bytes are 32.768 GB */
    CHOOSE("v-dwarfs", "holds"); /* 2^27 bytes are 134.2 MB */
    CHOOSE("grows", "same");
    IS("loop-bytes", D("M") * 256 + tiled_reads(D("M"), 64, 128));
    CHOOSE("v-order", "wrong"); /* N^2 */
    CHOOSE("v-half", "limit");  /* (T - 1) / 2 T */
    IS("launches", D("L"));
    IS("peak", D("part") / 100 * D("peak") * 1e12);
    IS("whole", 1 / (1 - D("share") / 100 + D("share") / 100 / D("speed")));
    CHOOSE("v-bits", rescaling_keeps_bits() ? "holds" : "wrong");
    IS("tile-softmax", D("t")); /* a softmax in each tile, and each adds up to 1 */
    break;
  case 7: {
    const double tiles = 64 * 64 + pow(D("l1") / 128, 2) + pow(D("l2") / 128, 2) + pow(D("l3") / 128, 2);
    IS("eligible", D("r1") + D("r2") + D("r3") + D("r4")); /* d = 80, d = 256, fp32, a random mask */
    IS("room", 32 * 2 * 2 * D("n") * D("n"));
    /* N = 32,768: 4 matrices of 8 MiB, 4 trips of 2 GiB; N = 1024: 18 matrices of 256 KiB */
    IS("tail", (32 * MiB + 8 * GiB) / (32 * MiB + 8 * GiB + 99 * 18 * 256 * KiB));
    CHOOSE("sign", "bytes");
    IS("padding", 1 - tiles / (4 * 64 * 64));
    break;
  }
  case 8:
    IS("weight", exp(D("s") - D("L")));
    IS("keeps", 4 * D("kept"));
    IS("products", 5 / 2.0);
    IS("flops", 10 * D("N") * D("N") * 128);
    IS("row-sum", D("o1") * D("g1") + D("o2") * D("g2"));
    IS("ds", D("p") * (D("dp") - D("D")));
    CHOOSE("outside", "dq");
    IS("adds", D("T") * D("T") * 128 * 128 * 4);
    break;
  case 9:
    CHOOSE("same-bits", "most");
    IS("steps", D("e") * 1024 / pow(2, floor(log2(D("v")))));
    IS("coarse", 8 * D("fine"));
    CHOOSE("nearer", "tiled");
    IS("between", D("ea") + D("eb"));
    IS("allclose", D("atol") + D("rtol") * D("ref"));
    CHOOSE("no-max", "passes");
    break;
  default: break;
  }
  return (size_t)(row - begin);
}

/* ---- Wrong answers -------------------------------------------------------------------------------------------------
 *
 * As learners type them, with the first draws; and a piece of what they are told. */

/* Lesson, question, what is typed, what is told. */
static const char *const WRONG[] = {
    "1|passes|softmax scores values|not there yet",
    "1|stores|14|You added the blocks",
    "1|stores|9 tiles|how often the outer loop",
    "1|size-s|16 MiB|Each takes two",
    "1|size-s|1 MiB|S has N rows of N",
    "1|inputs|64 MiB|Each takes two bytes",
    "1|heads|16 GiB|S alone",
    "1|total|68 MiB|went one way only",
    "1|total|67 MiB|Stores count",
    "1|total|128 MiB|S and P alone",
    "1|longer|18|Q grows like that",
    "1|ridge|0.00498|the other way round",
    "1|ridge|100.3|one byte",
    "1|intensity|2048|left S out",
    "1|intensity|240.9|counted numbers",
    "1|intensity|60.2|two FLOPs",
    "1|time|43.2 us|there and back",
    "2|score|0.66|added each pair",
    "2|score|1.75|added all four",
    "2|power|1.16|itself",
    "2|average|3.5|plain average",
    "2|factor|7.39|wrong way round",
    "2|sum-two|2.358|made with m = 2",
    "2|carried|48|needed m and l",
    "3|q-loads|1|every key",
    "3|k-loads|5|each block of K comes",
    "3|stores|1|It still grows",
    "3|naive|18 MiB|one trip",
    "3|eighth|64|an eighth of the keys",
    "3|room|60|left out S",
    "3|other-order|15|loads it and stores",
    "4|rule|first|An article prints this",
    "4|rule|diagonal|also true",
    "4|skipped-share|50%|before you halve",
    "4|skipped-share|60%|that is computed",
    "4|appended|40 MiB|written token by token",
    "4|appended|160 KiB|Both are kept",
    "4|appended|4 KiB|one layer",
    "4|page|6|left over",
    "4|cache-bytes|262 GB|query heads",
    "4|gqa|2097 GB|not one",
    "4|on-chip|4.5 KiB|with its value",
    "4|batch-decode|4 MiB|keys of their own",
    "4|join|3|its own m",
    "5|asked|3 MiB|each matrix once",
    "5|asked|64 MiB|Q is missing",
    "5|fits|120 heads|both halves",
    "5|waves|12|left over",
    "5|tile-flops|0.262144|one product",
    "5|near|128|Eight numbers",
    "5|near|4|How many sectors",
    "5|padded|72|Follow a few",
    "5|o-words|16|summed in fp32",
    "5|spill|20 B|one thread",
    "6|v-cache|holds|to the digits",
    "6|intermediates|200 MiB|the slip that is printed",
    "6|loop-bytes|258 MiB|printed table",
    "6|v-order|holds|What it keeps",
    "6|launches|96|three kernels",
    "6|peak|335 TFLOP/s|for an A100",
    "6|peak|433.3|divided",
    "6|whole|2x|attention alone",
    "6|tile-softmax|1|each tile",
    "7|eligible|55|head width",
    "7|room|4 GiB|S alone",
    "7|sign|output|passes",
    "7|padding|64.1%|square of the length",
    "7|padding|27.05%|share that is needed",
    "8|flops|17.18 GFLOP|four products",
    "8|ds|0.02|others lose",
    "9|steps|1.024|between 1 and 2",
    "9|between|0.0001|same direction",
};

#endif
