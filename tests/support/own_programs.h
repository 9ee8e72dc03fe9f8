/* Programs of one's own, as text: what tests read with program_read. */
#ifndef TILEWALK_TESTS_SUPPORT_OWN_PROGRAMS_H
#define TILEWALK_TESTS_SUPPORT_OWN_PROGRAMS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/language/read.h"

#define OWN_HEAD(name)                                                                                                 \
  "algorithm " name "\nkernel forward\n  for every row block i\n    load Q_i\n    O_i, l_i = 0; m_i = -inf\n"
#define OWN_TILE    "      load K_j\n      S = Q_i K_j^T / sqrt(d)\n      mask S\n      m' = max(m_i, row max of S)\n"
#define OWN_RESCALE "      l_i, O_i *= e^(m_i - m')\n"
#define OWN_ADD     "      load V_j\n      P = e^(S - m'); l_i += row sum of P; O_i += P V_j; m_i = m'\n"
#define OWN_END     "    O_i = O_i / l_i\n    store O_i\n"

/* FlashAttention-2 from the last key block to the first. */
static const char OWN_REVERSED[] =
    OWN_HEAD("fa2-reversed") "    for each column block j of i, last first\n" OWN_TILE OWN_RESCALE OWN_ADD OWN_END;

/* Two CTAs next to each other load K and V together; three, K alone. */
static const char OWN_PAIRS[] =
    OWN_HEAD("fa2-pairs") "    for each column block j of i\n" OWN_TILE OWN_RESCALE OWN_ADD OWN_END
                          "launch forward\n  share K_j, V_j by 2\n";
static const char OWN_THREES[] =
    OWN_HEAD("fa2-threes") "    for each column block j of i\n" OWN_TILE OWN_RESCALE OWN_ADD OWN_END
                           "launch forward\n  share K_j by 3\n";

/* FlashAttention-2 over the blocks that a pattern lets a row block see. */
static const char OWN_SPARSE[] =
    OWN_HEAD("fa2-sparse") "    for each column block j of i\n" OWN_TILE OWN_RESCALE OWN_ADD OWN_END;

/* One kernel less than standard attention: the softmax of a row, and its product with V, without P in HBM. */
static const char OWN_FUSED[] = "algorithm standard-fused-softmax\n"
                                "title standard attention, softmax fused with the second product\n"
                                "kernel scores\n"
                                "  for every row block i\n"
                                "    load Q_i once\n"
                                "    for every column block j\n"
                                "      load K_j once\n"
                                "      S_ij = Q_i K_j^T / sqrt(d)\n"
                                "      mask S_ij\n"
                                "      store S_ij\n"
                                "kernel values\n"
                                "  for every row block i\n"
                                "    O_i, l_i = 0; m_i = -inf\n"
                                "    for each column block j\n"
                                "      load S_ij\n"
                                "      m' = max(m_i, row max of S_ij)\n"
                                "      l_i = l_i e^(m_i - m') + row sum of e^(S_ij - m'); m_i = m'\n"
                                "    for each column block j\n"
                                "      load S_ij\n"
                                "      load V_j once\n"
                                "      P = e^(S_ij - m_i) / l_i; O_i += P V_j\n"
                                "    store O_i\n";

/* All query heads of a KV head in one CTA for each row block: K and V come for each of them. */
static const char OWN_GROUPED[] = "algorithm grouped\n"
                                  "input Q_hi: B_r x d\n"
                                  "input K_j: B_c x d\n"
                                  "input V_j: B_c x d_v\n"
                                  "output O_hi = attention(Q, K, V)\n"
                                  "kernel forward\n"
                                  "  for every row block i\n"
                                  "    for each head h\n"
                                  "      load Q_hi\n"
                                  "      O_hi, l = 0; m = -inf\n"
                                  "      for each column block j of i\n"
                                  "        load K_j\n"
                                  "        S = Q_hi K_j^T / sqrt(d)\n"
                                  "        mask S\n"
                                  "        m' = max(m, row max of S)\n"
                                  "        l, O_hi *= e^(m - m')\n"
                                  "        load V_j\n"
                                  "        P = e^(S - m'); l += row sum of P; O_hi += P V_j; m = m'\n"
                                  "      O_hi = O_hi / l\n"
                                  "      store O_hi\n";

/* K and V once for all query heads of a KV head, which share the sums of V: a CTA for each column block. */
static const char OWN_COLUMNS[] = "algorithm columns\n"
                                  "input Q_hi: B_r x d\n"
                                  "input K_j: B_c x d\n"
                                  "output G_j: B_c x d\n"
                                  "kernel columns\n"
                                  "  for every column block j\n"
                                  "    load K_j\n"
                                  "    G_j = 0\n"
                                  "    for each head h\n"
                                  "      for each row block i of j\n"
                                  "        load Q_hi\n"
                                  "        S = Q_hi K_j^T / sqrt(d)\n"
                                  "        mask S = 0\n"
                                  "        G_j += S^T Q_hi\n"
                                  "    store G_j\n";

/* Sums in HBM that CTAs of column blocks add to. */
static const char OWN_SUMS[] = "algorithm sums\n"
                               "input Q_i: B_r x d\n"
                               "input K_j: B_c x d\n"
                               "output O_i: B_r x d\n"
                               "tensor A_i fp32\n"
                               "kernel zero\n"
                               "  for every row block i\n"
                               "    store A_i = 0\n"
                               "kernel columns\n"
                               "  for every column block j\n"
                               "    load K_j\n"
                               "    for each row block i of j\n"
                               "      load Q_i\n"
                               "      S = Q_i K_j^T\n"
                               "      mask S = 0\n"
                               "      add A_i = S K_j\n"
                               "kernel convert\n"
                               "  for every row block i\n"
                               "    load A_i\n"
                               "    store O_i = A_i\n";

/* Without the rescale of what was added up under an older maximum: it runs, and O is wrong. */
static const char OWN_FORGETFUL[] = OWN_HEAD("forgetful") "    for each column block j of i\n" OWN_TILE OWN_ADD OWN_END;

/* V_j is used on line 11 and loaded on line 12. */
static const char OWN_TOO_EARLY[] =
    OWN_HEAD("early") "    for each column block j of i\n" OWN_TILE
                      "      P = e^(S - m'); l_i += row sum of P; O_i += P V_j; m_i = m'\n      load V_j\n" OWN_END;

/* The text with every `from` replaced; to be freed. */
static inline char *own_text(const char *text, const char *from, const char *to) {
  char *out = calloc(1, 2 * PROGRAM_TEXT_BYTES);
  assert_non_null(out);
  for (const char *at; (at = strstr(text, from)); text = at + strlen(from))
    strcat(strncat(out, text, (size_t)(at - text)), to);
  return strcat(out, text);
}

static inline Program *own_program(const char *text) {
  Program *p = malloc(sizeof *p);
  Error error = {0};
  assert_non_null(p);
  if (program_read(p, text, strlen(text), "mine.walk", &error)) fail_msg("%s", error.message);
  p->path = "own.walk";
  return p;
}

#endif
