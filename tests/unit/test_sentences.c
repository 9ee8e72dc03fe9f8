/* No sentence is false: every claim of every step is proved from the events alone (tests/support/claims.c), under every
 * mask and walk. Shipped programs and random ones: test_sentences_programs.c. */
#include "tests/support/test.h"
#include "tests/support/sentence_case.h"

/* FLASH-D (2025): O is always normalised, and L takes the place of m and l. */
static const char FLASHD[] =
    "algorithm flashd\nkernel forward\n  for every row block i\n    load Q_i\n    O_i = 0; L_i = -inf\n"
    "    for each column block j of i, either way\n      load K_j\n      S = Q_i K_j^T / sqrt(d)\n"
    "      mask S\n      m' = max(L_i, row max of S)\n      load V_j\n"
    "      P = e^(S - m'); t = e^(L_i - m') + row sum of P\n"
    "      O_i = O_i x e^(L_i - m') / t + P V_j / t\n      L_i = m' + log t\n    store O_i\n";

/* m and l in one kernel, O in another. */
static const char TWOPASS[] =
    "algorithm twopass\nkernel stats\n  for every row block i\n    load Q_i\n    l_i = 0; m_i = -inf\n"
    "    for each column block j of i\n      load K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      m' = max(m_i, row max of S)\n      l_i = l_i e^(m_i - m') + row sum of e^(S - m'); m_i = m'\n"
    "    store L_i = m_i + log l_i\nkernel values\n  for every row block i\n    load Q_i\n    load L_i\n    O_i = 0\n"
    "    for each column block j of i\n      load K_j\n      load V_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      O_i += e^(S - L_i) V_j\n    store O_i\n";

/* Two loops over the keys in one kernel, and Q loaded for each tile. */
static const char TWICE[] =
    "algorithm twice\nkernel forward\n  for every row block i\n    l_i = 0; m_i = -inf\n    for each column block j of "
    "i\n"
    "      load Q_i, K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n      m' = max(m_i, row max of S)\n"
    "      l_i *= e^(m_i - m')\n      l_i += row sum of e^(S - m'); m_i = m'\n    O_i = 0\n    for each column block j "
    "of i\n"
    "      load Q_i, K_j, V_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n      P = e^(S - m_i) / l_i\n      O_i += "
    "P V_j\n"
    "    store O_i\n";

/* No softmax, a value that is stored and never read, and tiles that are computed and masked. */
static const char LINEAR[] =
    "algorithm linear\nkernel forward\n  for every row block i\n    load Q_i\n    O_i = 0\n"
    "    for each column block j\n      load K_j\n      load V_j\n      S_ij = Q_i K_j^T\n      mask S_ij\n"
    "      store S_ij\n      O_i += S_ij V_j\n    store O_i\n";

/* Three values in one line, as many sentences as there are letters. */
static const char EXTRA[] =
    OWN_HEAD("extra") "    for each column block j of i, either way\n" OWN_TILE OWN_RESCALE
                      "      load V_j\n      P = e^(S - m'); l_i += row sum of P; R = P V_j; W = R + R; "
                      "O_i += R; m_i = m'\n" OWN_END;

/* m and l in HBM, stored and loaded together, and l once more by itself. */
static const char TOGETHER[] =
    "algorithm together\nkernel stats\n  for every row block i\n    load Q_i\n    l_i = 0; m_i = -inf\n"
    "    for each column block j of i\n      load K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      m' = max(m_i, row max of S)\n      l_i *= e^(m_i - m')\n      l_i += row sum of e^(S - m'); m_i = m'\n"
    "    store m_i, l_i\nkernel values\n  for every row block i\n    load Q_i\n    load m_i, l_i\n    O_i = 0\n"
    "    for each column block j of i\n      load K_j, V_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      O_i += e^(S - m_i) V_j\n    store O_i\n    store m_i, l_i\nkernel divide\n  for every row block i\n    load "
    "O_i\n"
    "    load l_i\n    O_i = O_i / l_i\n    store O_i\n    store l_i\n";

/* The same where all of it moves together, and goes out with O. */
static const char PAIRED[] =
    "algorithm paired\nkernel stats\n  for every row block i\n    load Q_i\n    l_i = 0; m_i = -inf\n"
    "    for each column block j of i\n      load K_j\n      S = (Q_i x Q_i) K_j^T / sqrt(d)\n      R = Q_i K_j^T\n    "
    "  mask S\n"
    "      m' = max(row max of S, m_i)\n      l_i *= e^(m_i - row max of S)\n      l_i += row sum of e^(S - m'); m_i = "
    "m'\n"
    "    store m_i, l_i\nkernel values\n  for every row block i\n    load Q_i\n    load m_i, l_i\n    O_i = 0\n"
    "    for each column block j of i\n      load K_j, V_j\n      S_ij = (Q_i x Q_i) K_j^T / sqrt(d)\n      P_ij = Q_i "
    "K_j^T\n"
    "      store S_ij\n      store P_ij\n      mask S_ij\n"
    "      O_i += e^(S_ij - m_i) V_j\n      store O_i\n    O_i = O_i / l_i\n    store O_i\n    t = log l_i\n    store "
    "L_i = m_i + t\n";

/* All of a head in one CTA: what the first loop has stored the second loads. */
static const char ONE_KERNEL[] =
    "algorithm one-kernel\nkernel forward\n  for each row block i\n    load Q_i\n    l_i = 0; m_i = -inf\n"
    "    for each column block j of i\n      load K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n      t = row max "
    "of S\n"
    "      m' = max(m_i, t)\n      l_i *= e^(m_i - m')\n      l_i += row sum of e^(S - m'); m_i = m'\n      store m_i "
    "= m_i\n"
    "    store L_i = m_i + log l_i\n  for each row block i\n    load Q_i\n    load m_i\n    load L_i\n    O_i = 0\n"
    "    for each column block j of i\n      load K_j, V_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n"
    "      O_i += e^(S - L_i) V_j\n    store O_i\n";

/* Nothing is masked where the mask cuts. */
static const char MASKLESS[] =
    OWN_HEAD("maskless") "    for each column block j of i\n      load K_j\n"
                         "      S = Q_i K_j^T / sqrt(d)\n      m' = max(m_i, row max of S)\n"
                         "      l_i *= e^(m_i - m')\n      O_i *= e^(m_i - m')\n" OWN_ADD OWN_END;

/* Tiles that the mask hides are computed, too. */
static const char WHOLE[] = OWN_HEAD("whole") "    for each column block j\n" OWN_TILE OWN_RESCALE OWN_ADD OWN_END;

/* Parts with m and l on lines of their own, and the operands of max exchanged. */
static const char PARTS[] =
    "algorithm parts\ntensor    O_is fp32\nkernel splits\n  for every row block i\n    for every split s\n      load "
    "Q_i\n"
    "      O_is, l_i = 0; m_i = -inf\n      for each column block j of i in s\n        load K_j, V_j\n"
    "        S = Q_i K_j^T / sqrt(d)\n        mask S\n        m' = max(row max of S, m_i)\n        l_i, O_is *= e^(m_i "
    "- m')\n"
    "        l_i += row sum of e^(S - m')\n        O_is += e^(S - m') V_j; m_i = m'\n      O_is = O_is / l_i\n"
    "      store O_is\n      store L_is = m_i + log l_i\nkernel combine\n  for every row block i\n    O_i, l_i = 0; "
    "m_i = -inf\n"
    "    for each split s\n      load L_is\n      m_i = max(m_i, L_is)\n    for each split s\n      load L_is once\n   "
    "   load O_is\n"
    "      l_i += e^(L_is - m_i)\n      O_i += e^(L_is - m_i) O_is\n    O_i = O_i / l_i\n    store O_i\n";

static const Case CASES[] = {
    {"fa2", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"fa2",
     NULL,
     {.N_q = 64, .d = 16, .causal = true},
     {.B_r = 8, .B_c = 8, .reversed = true},
     NULL,
     0,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 64, .d = 16, .causal = true, .top_left = true, .N_k = 40},
     {.B_r = 8, .B_c = 8},
     NULL,
     1,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 60, .N_k = 36, .d = 16, .causal = true},
     {.B_r = 16, .B_c = 8, .lse = true},
     NULL,
     3,
     false,
     true,
     0},
    {"fa2", NULL, {.N_q = 96, .d = 16, .window = 10}, {.B_r = 16, .B_c = 8}, NULL, 1, false, true, 0},
    {"fa2",
     NULL,
     {.N_q = 80, .d = 16, .window = 20, .causal = true},
     {.B_r = 16, .B_c = 4, .reversed = true},
     NULL,
     16,
     false,
     true,
     0},
    {"fa2", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, "strided:3:8", 0, false, true, 0},
    {"fa2", NULL, {.N_q = 64, .d = 16}, {.B_r = 16, .B_c = 16}, "strided:4:4", 2, false, true, 0},
    {"fa2", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8, .lse = true}, NULL, 0, true, true, 0},
    {"fa1", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 16, .B_c = 8}, NULL, 0, false, true, 0},
    {"fa1", NULL, {.N_q = 60, .d = 16}, {.B_r = 16, .B_c = 16}, NULL, 0, true, true, 0},
    {"fa1", NULL, {.N_q = 56, .N_k = 32, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 2, false, true, 0},
    {"fa1", NULL, {.N_q = 64, .d = 16}, {.B_r = 8, .B_c = 8}, "strided:3:8", 0, false, true, 0},
    {"standard", NULL, {.N_q = 64, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"standard", NULL, {.N_q = 48, .d = 16, .window = 9}, {.B_r = 8, .B_c = 8}, NULL, 7, false, true, 0},
    {"standard", NULL, {.N_q = 48, .d = 16}, {.B_r = 16, .B_c = 16}, "strided:2:8", 0, true, true, 0},
    {"fa2-split",
     NULL,
     {.N_q = 16, .N_k = 256, .d = 16},
     {.B_r = 8, .B_c = 16, .n_splits = 4},
     NULL,
     0,
     false,
     true,
     0},
    {"fa2-split",
     NULL,
     {.N_q = 64, .N_k = 64, .d = 16, .causal = true},
     {.B_r = 8, .B_c = 8, .n_splits = 3, .lse = true},
     NULL,
     2,
     false,
     true,
     0},
    {"fa2-split",
     NULL,
     {.N_q = 64, .d = 16, .causal = true},
     {.B_r = 8, .B_c = 8, .n_splits = 1},
     NULL,
     0,
     false,
     true,
     0},
    {"flashd", FLASHD, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"flashd", FLASHD, {.N_q = 48, .d = 16, .window = 9}, {.B_r = 8, .B_c = 4}, NULL, 1, false, false, 6},
    {"twopass", TWOPASS, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"twice", TWICE, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 3, false, true, 0},
    {"twice", TWICE, {.N_q = 48, .N_k = 24, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 3, false, true, 0},
    {"linear", LINEAR, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"extra", EXTRA, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"reversed", OWN_REVERSED, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"together", TOGETHER, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"paired", PAIRED, {.N_q = 40, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"paired", PAIRED, {.N_q = 40, .d = 16384, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"one-kernel", ONE_KERNEL, {.N_q = 40, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"maskless", MASKLESS, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 2, false, true, 0},
    {"maskless", MASKLESS, {.N_q = 48, .d = 16, .window = 5}, {.B_r = 16, .B_c = 8}, NULL, 16, false, true, 0},
    {"parts",
     PARTS,
     {.N_q = 32, .d = 16, .causal = true},
     {.B_r = 8, .B_c = 8, .n_splits = 2},
     NULL,
     0,
     false,
     true,
     0},
    {"fa2-split",
     NULL,
     {.N_q = 32, .d = 32768, .causal = true},
     {.B_r = 8, .B_c = 8, .n_splits = 2},
     NULL,
     0,
     false,
     true,
     0},
    {"fa1", NULL, {.N_q = 32, .d = 32768, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"standard", NULL, {.N_q = 32, .d = 32768, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"fa2",
     NULL,
     {.N_q = 2100, .N_k = 64, .d = 8, .causal = true, .window = 9},
     {.B_r = 2100, .B_c = 8},
     "strided:3:8",
     2090,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 2100, .N_k = 64, .d = 8, .causal = true, .window = 9},
     {.B_r = 2100, .B_c = 8},
     "strided:3:8",
     2080,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 2100, .N_k = 64, .d = 8, .causal = true, .window = 17},
     {.B_r = 2100, .B_c = 8},
     "strided:3:8",
     2091,
     false,
     true,
     0},
    {"fa2",
     NULL,
     {.N_q = 2100, .N_k = 64, .d = 16384, .causal = true},
     {.B_r = 2100, .B_c = 8},
     "strided:3:8",
     0,
     false,
     true,
     0},
    {"whole", WHOLE, {.N_q = 32, .d = 32768, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
    {"standard", NULL, {.N_q = 32, .d = 16, .causal = true}, {.B_r = 8, .B_c = 4}, NULL, 1, false, true, 0},
    {"fa2-backward", NULL, {.N_q = 24, .d = 8}, {.B_r = 8, .B_c = 8}, NULL, 0, false, false, 0},
    {"fused", OWN_FUSED, {.N_q = 48, .d = 16, .causal = true}, {.B_r = 8, .B_c = 8}, NULL, 0, false, true, 0},
};
enum { N_CASES = sizeof CASES / sizeof *CASES };

TEST(test_no_sentence_is_false) {
  static bool said[128];
  int n_unsaid = 0;
  Opened *o = malloc(sizeof *o);
  for (int k = 0; k < N_CASES; k++) {
    open_case(o, &CASES[k], false);
    check_case(o, &CASES[k], said);
    close_case(o);
  }
  free(o);
  print_message("%d bare of %d\n", (int)n_bare, (int)n_shipped);
  assert_true(n_bare * 20 < n_shipped);    /* what only states its line is rare */
  for (int k = 0; k < claims_count(); k++) /* no case has an L2, and no product lies outside tiles yet */
    if (!said[k] && !strstr(claim_pattern(k), "SRAM boundary") && !strstr(claim_pattern(k), "It takes"))
      print_error("never said: %s\n", claim_pattern(k)), n_unsaid++;
  assert_int_equal(n_unsaid, 0);
}
