/* Places in SRAM: programs of a few lines worked out by hand. */
#include "tests/support/test.h"
#include "sim/algorithms/language/read.h"
#include "sim/algorithms/schedule.h"

static const SramSizes SIZES = {.B_r = 8, .B_c = 16, .d = 32, .d_v = 24, .element_bytes = 2};
enum { Q = 8 * 32 * 2, K = 16 * 32 * 2, V = 16 * 24 * 2, O = 8 * 24 * 2, S = 8 * 16 * 2, COLUMN = 8 * 4 };

/* Of a program whose loop has these lines. */
static int64_t bytes_with(const char *lines) {
  static Program p;
  static char text[2048];
  snprintf(text, sizeof text,
           "algorithm t\ninput Q_i: B_r x d\ninput K_j: B_c x d\ninput V_j: B_c x d_v\noutput O_i: B_r x d_v\n"
           "kernel k\n  for every row block i\n    load Q_i\n    O_i = 0\n    for each column block j\n"
           "      load K_j\n%s    store O_i\n",
           lines);
  must(program_read(&p, ALL_OF(text), "t.walk", fresh_error()));
  return (int64_t)sram_budget(&p, &SIZES).bytes;
}

TEST(places_by_hand) {
  static const struct {
    const char *lines;
    int64_t bytes;
  } CASES[] = {
      /* P has the place of S; V does not have that of K: it may come early */
      {"      S = Q_i K_j^T\n      P = e^S\n      load V_j\n      O_i += P V_j\n", Q + K + V + O + S},
      /* S is set again while P is needed: P has a place of its own */
      {"      load V_j\n      S = Q_i K_j^T\n      P = e^S\n      S = Q_i K_j^T\n      O_i += (P + S) V_j\n",
       Q + K + V + O + 2 * S},
      /* a product needs a place beside the tile that is read for the last time */
      {"      load V_j\n      S = Q_i K_j^T\n      P = S x (Q_i K_j^T)\n      O_i += P V_j\n", Q + K + V + O + 2 * S},
      {"      load V_j\n      S = Q_i K_j^T\n      P = S x S\n      O_i += P V_j\n", Q + K + V + O + S},
      /* T has the place of P, which an earlier line read last */
      {"      load V_j\n      S = Q_i K_j^T\n      P = e^S\n      O_i += P V_j\n      T = Q_i K_j^T\n      O_i += T "
       "V_j\n",
       Q + K + V + O + S},
      /* R: B_r x d_v has that of U: B_r x d, which is larger; but not while U is needed */
      {"      load V_j\n      S = Q_i K_j^T\n      U = S K_j\n      O_i += (U K_j^T) V_j\n      R = S V_j\n      O_i "
       "+= R\n",
       Q + K + V + O + S + Q},
      {"      load V_j\n      S = Q_i K_j^T\n      U = S K_j\n      R = S V_j\n      O_i += (U K_j^T) V_j\n      O_i "
       "+= R\n",
       Q + K + V + O + S + Q + O},
      /* X has the place of U, which its line reads, not that of R; W, B_c x d, has none of theirs */
      {"      load V_j\n      S = Q_i K_j^T\n      R = S V_j\n      U = Q_i + Q_i\n      O_i += R\n      X = U + U\n"
       "      O_i += (X K_j^T) V_j\n      W = K_j + K_j\n      O_i += (Q_i W^T + Q_i K_j^T) V_j\n",
       Q + K + V + O + S + O + Q + K},
      /* U has the place of R, which is smaller, not of S */
      {"      load V_j\n      S = Q_i K_j^T\n      R = S V_j\n      O_i += R\n      U = Q_i + Q_i\n"
       "      O_i += (U K_j^T) V_j\n",
       Q + K + V + O + S + Q},
      /* a column with a prime is in registers, another one is not */
      {"      load V_j\n      S = Q_i K_j^T\n      m' = row max of S\n      P = e^(S - m')\n      O_i += P V_j\n",
       Q + K + V + O + S},
      {"      load V_j\n      S = Q_i K_j^T\n      m = row max of S\n      P = e^(S - m)\n      O_i += P V_j\n",
       Q + K + V + O + S + COLUMN},
  };
  EACH (k, CASES) assert_true(bytes_with(CASES[k].lines) == CASES[k].bytes);
}

/* At 64 x 128 and d = 128, in fp16: Q and dO 16 KiB each; K, V, dK, dV 32 each; P in the place of S and dS 16 each:
 * 192, with L and D. The sums for dQ have the place of dO. As many are alive on the line of dS. */
TEST(backward_has_what_is_alive) {
  static const char *const NAMES[] = {"fa2-backward", "fa2-backward-twice"};
  const SramSizes sizes = {.B_r = 64, .B_c = 128, .d = 128, .d_v = 128, .element_bytes = 2};
  for (int k = 0; k < 2; k++)
    assert_int_equal(sram_budget(schedule_find(NAMES[k]), &sizes).bytes, 192 * 1024 + 2 * 64 * 4);
}
