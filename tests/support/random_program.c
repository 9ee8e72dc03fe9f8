#include "tests/support/random_program.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  char text[PROGRAM_TEXT_BYTES];
  size_t n;
} Writer;

static void put(Writer *w, int indent, const char *line) {
  w->n += (size_t)snprintf(w->text + w->n, sizeof w->text - w->n, "%*s%s\n", 2 * indent, "", line);
}

static const char *either(Rand *r, const char *a, const char *b) { return rand_in(r, 0, 1) ? a : b; }

/* Scores of a tile, their maximum and the sums of a row, with lines parted or joined, and values of one's own. */
static void put_tile(Writer *w, Rand *r, int indent, bool v_first, bool with_O) {
  put(w, indent, rand_in(r, 0, 3) ? "load K_j" : "load K_j, V_j");
  if (v_first) put(w, indent, "load V_j");
  put(w, indent, "S = Q_i K_j^T / sqrt(d)");
  if (rand_in(r, 0, 5) == 0) put(w, indent, "R = Q_i K_j^T");
  put(w, indent, "mask S");
  if (rand_in(r, 0, 4) == 0) {
    put(w, indent, "t = row max of S");
    put(w, indent, "m' = max(m_i, t)");
  } else {
    put(w, indent, "m' = max(m_i, row max of S)");
  }
  if (!with_O && rand_in(r, 0, 1)) {
    put(w, indent, "l_i = l_i e^(m_i - m') + row sum of e^(S - m'); m_i = m'");
    return;
  }
  if (!with_O) {
    put(w, indent, "l_i *= e^(m_i - m')");
    put(w, indent, "l_i += row sum of e^(S - m'); m_i = m'");
    return;
  }
  put(w, indent, either(r, "l_i, O_i *= e^(m_i - m')", "l_i *= e^(m_i - m'); O_i *= e^(m_i - m')"));
  if (!v_first) put(w, indent, "load V_j");
  if (rand_in(r, 0, 1)) {
    put(w, indent, "P = e^(S - m'); l_i += row sum of P; O_i += P V_j; m_i = m'");
  } else {
    put(w, indent, "P = e^(S - m')");
    put(w, indent, "l_i += row sum of P");
    put(w, indent, "O_i += P V_j; m_i = m'");
  }
}

static const char *column_loop(Rand *r) {
  static const char *const LOOPS[] = {"for each column block j of i", "for each column block j of i, either way",
                                      "for each column block j of i, last first", "for each column block j",
                                      "for each column block j, last first"};
  return LOOPS[rand_in(r, 0, 4)];
}

/* Rows outside: one pass, or one for m and l and another for O, in one kernel or two. */
static void write_rows(Writer *w, Rand *r) {
  const int passes = (int)rand_in(r, 1, 3);
  put(w, 0, "kernel one");
  put(w, 1,
      passes == 3 ? "for each row block i" : either(r, "for every row block i", "for every row block i, last first"));
  put(w, 2, "load Q_i");
  put(w, 2, passes == 1 ? "O_i, l_i = 0; m_i = -inf" : "l_i = 0; m_i = -inf");
  put(w, 2, column_loop(r));
  if (rand_in(r, 0, 5) == 0) put(w, 3, "load Q_i");
  put_tile(w, r, 3, rand_in(r, 0, 1), passes == 1);
  if (passes == 1 && rand_in(r, 0, 5) == 0) put(w, 3, "store O_i");
  if (passes == 1) {
    if (rand_in(r, 0, 4)) put(w, 2, "O_i = O_i / l_i");
    put(w, 2, "store O_i");
    if (rand_in(r, 0, 2) == 0) put(w, 2, either(r, "store L_i = m_i + log l_i", "store m_i, l_i"));
    return;
  }
  const bool is_lse = rand_in(r, 0, 1);
  put(w, 2, is_lse ? "store L_i = m_i + log l_i" : "store m_i, l_i");
  if (passes == 2) put(w, 0, "kernel two");
  put(w, 1, passes == 3 ? "for each row block i" : "for every row block i");
  put(w, 2, "load Q_i");
  put(w, 2, is_lse ? "load L_i" : "load m_i, l_i");
  put(w, 2, "O_i = 0");
  put(w, 2, column_loop(r));
  put(w, 3, either(r, "load K_j, V_j", "load V_j, K_j"));
  put(w, 3, "S = Q_i K_j^T / sqrt(d)");
  put(w, 3, "mask S");
  put(w, 3,
      is_lse ? "O_i += e^(S - L_i) V_j" : either(r, "O_i += e^(S - m_i) V_j", "P = e^(S - m_i) / l_i; O_i += P V_j"));
  put(w, 2, "store O_i");
}

/* Columns outside: O, m and l come and go; divided each time or at the end. */
static void write_columns(Writer *w, Rand *r) {
  const bool late = rand_in(r, 0, 1);
  put(w, 0, "kernel forward");
  put(w, 1, "for each row block i");
  put(w, 2, "store O_i = 0");
  put(w, 2, "store m_i = -inf, l_i = 0");
  put(w, 1, either(r, "for each column block j", "for each column block j, last first"));
  put(w, 2, "load K_j, V_j");
  put(w, 2,
      either(r, either(r, "for each row block i of j", "for each row block i of j, last first"),
             "for each row block i"));
  put(w, 3, "load Q_i");
  put(w, 3, "load O_i");
  put(w, 3, "load m_i, l_i");
  put(w, 3, "S = Q_i K_j^T / sqrt(d)");
  put(w, 3, "mask S");
  put(w, 3, "m' = max(m_i, row max of S)");
  put(w, 3, late ? "l_i, O_i *= e^(m_i - m')" : "l_i *= e^(m_i - m'); O_i *= l_i");
  put(w, 3, "P = e^(S - m'); l_i += row sum of P; O_i += P V_j; m_i = m'");
  if (!late) put(w, 3, "O_i = O_i / l_i");
  put(w, 3, "store O_i");
  put(w, 3, "store m_i, l_i");
  if (!late) return;
  put(w, 1, "for each row block i");
  put(w, 2, "load O_i");
  put(w, 2, "load m_i, l_i");
  put(w, 2, "O_i = O_i / l_i");
  put(w, 2, "store O_i");
}

/* S, and perhaps P, in HBM. */
static void write_matrices(Writer *w, Rand *r) {
  const char *once = either(r, " once", "");
  char line[64];
  put(w, 0, "kernel scores");
  put(w, 1, "for every row block i");
  snprintf(line, sizeof line, "load Q_i%s", once);
  put(w, 2, line);
  put(w, 2, either(r, "for every column block j", "for each column block j"));
  snprintf(line, sizeof line, "load K_j%s", once);
  put(w, 3, line);
  put(w, 3, "S_ij = Q_i K_j^T / sqrt(d)");
  put(w, 3, "mask S_ij");
  put(w, 3, "store S_ij");
  put(w, 0, "kernel values");
  put(w, 1, "for every row block i");
  put(w, 2, "O_i, l_i = 0; m_i = -inf");
  put(w, 2, "for each column block j");
  put(w, 3, "load S_ij");
  put(w, 3, "m' = max(m_i, row max of S_ij); l_i = l_i e^(m_i - m') + row sum of e^(S_ij - m'); m_i = m'");
  put(w, 2, "for each column block j");
  put(w, 3, "load S_ij");
  put(w, 3, "P_ij = e^(S_ij - m_i) / l_i");
  if (rand_in(r, 0, 1)) put(w, 3, "store P_ij");
  put(w, 3, "load V_j");
  put(w, 3, "O_i += P_ij V_j");
  put(w, 2, "store O_i");
}

void random_program(char text[PROGRAM_TEXT_BYTES], int number, int kind, Rand *r) {
  Writer w = {.n = 0};
  char name[32];
  snprintf(name, sizeof name, "algorithm random-%d", number);
  put(&w, 0, name);
  if (kind < 5)
    write_rows(&w, r);
  else if (kind < 7)
    write_columns(&w, r);
  else if (kind < RANDOM_KINDS)
    write_matrices(&w, r);
  memcpy(text, w.text, PROGRAM_TEXT_BYTES);
}
