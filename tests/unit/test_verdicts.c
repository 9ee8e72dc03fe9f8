/* Verdicts: mutants of the shipped programs are refused or judged wrong, and rewritings that change nothing are not. */
#include "tests/support/test.h"

#include <ctype.h>

#include "sim/algorithms/language/read.h"
#include "sim/numbers/program_mend.h"
#include "tests/support/mutate_program.h"
#include "tests/support/sanitized.h"

enum { TEXT = PROGRAM_TEXT_BYTES };

/* ---- Mutants ------------------------------------------------------------------------------------------------ */

TEST(mutants_are_refused_or_wrong) {
  const int each = 15 * test_depth();
  Rand r = {2026};
  Program *p = malloc(sizeof *p);
  int all = 0, caught = 0;
  assert_non_null(p);
  for (int k = 0; k < N_PROGRAMS; k++) {
    int n = 0, refused = 0, wrong = 0;
    for (int tries = 0; n < each && tries < 100 * each; tries++) {
      char text[TEXT];
      strcpy(text, SCHEDULES[k]->text);
      if (!mutate_program(SCHEDULES[k], text, &r) || mutate_changes_no_number(SCHEDULES[k]->text, text)) continue;
      n++;
      if (program_read(p, ALL_OF(text), "mutant.walk", fresh_error())) {
        refused++;
        continue;
      }
      wrong += !program_verdict(p, NULL).is_right;
    }
    print_message("%-18s %3d mutants: %3d refused, %3d wrong, %d pass\n", SCHEDULES[k]->name, n, refused, wrong,
                  n - refused - wrong);
    all += n, caught += refused + wrong;
  }
  print_message("%d of %d caught\n", caught, all);
  assert_true(100 * caught >= 95 * all);
  free(p);
}

/* ---- Mends -------------------------------------------------------------------------------------------------- */

/* The text with what a mend says done to it. */
static void apply_mend(const char *text, const ProgramMend *m, char *out) {
  int number = 0;
  char held[256] = "";
  *out = '\0';
  for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
    const int length = (int)strcspn(at, "\n");
    number++;
    if (number == m->line && m->kind == MEND_DELETE) continue;
    if (number == m->line && m->kind == MEND_REPLACE) {
      sprintf(out + strlen(out), "%*s%s\n", m->indent, "", m->text);
    } else if (number == m->line && m->kind == MEND_EXCHANGE) {
      snprintf(held, sizeof held, "%.*s\n", length, at);
    } else {
      sprintf(out + strlen(out), "%.*s\n%s", length, at, held);
      *held = '\0';
    }
    if (number == m->line && m->kind == MEND_INSERT) sprintf(out + strlen(out), "%*s%s\n", m->indent, "", m->text);
  }
}

static int line_where_they_differ(const char *a, const char *b) {
  int line = 1;
  for (; *a && *a == *b; a++, b++) line += *a == '\n';
  return line;
}

/* What a mend says is done to the text, read and judged; and most often it names the line that was changed. */
TEST(mends_are_right) {
  const int each = test_depth();
  Rand r = {475};
  Program *p = malloc(sizeof *p);
  int wrong = 0, mended = 0, same_line = 0;
  assert_non_null(p);
  for (int k = 0; k < N_PROGRAMS; k += ONE_OF)
    for (int n = 0, tries = 0; n < each && tries < 100 * each; tries++) {
      char text[TEXT], again[TEXT + 256];
      strcpy(text, SCHEDULES[k]->text);
      if (!mutate_program(SCHEDULES[k], text, &r) || program_read(p, ALL_OF(text), "mutant.walk", fresh_error()))
        continue;
      if (program_verdict(p, NULL).is_right) continue;
      n++, wrong++;
      const ProgramMend m = program_mend(p, NULL);
      if (!m.kind) continue;
      mended++;
      const int line = line_where_they_differ(SCHEDULES[k]->text, text);
      same_line += m.line == line || (m.kind == MEND_INSERT && m.line + 1 == line);
      apply_mend(text, &m, again);
      ProgramVerdict v = {0};
      if (!program_read(p, ALL_OF(again), "mended.walk", fresh_error())) v = program_verdict(p, NULL);
      must(!v.is_right);
    }
  print_message("%d wrong, %d mended, %d where they were changed\n", wrong, mended, same_line);
  assert_true(2 * mended >= wrong && 10 * same_line >= 7 * mended);
  free(p);
}

/* ---- Rewritings --------------------------------------------------------------------------------------------- */

TEST(rewritings_are_right) {
  Program *p = malloc(sizeof *p);
  int n = 0;
  assert_non_null(p);
  for (int k = 0; k < N_PROGRAMS; k++)
    for (size_t which = 0; MUTATE_REWRITINGS[which][0]; which++) {
      char text[TEXT];
      const char *from = MUTATE_REWRITINGS[which][0], *to = MUTATE_REWRITINGS[which][1];
      strcpy(text, SCHEDULES[k]->text);
      const bool has_when = strstr(text, " when m'"); /* a line that chooses rows gives no new name a value */
      if ((has_when && strncmp(to, "f = ", 4) == 0) || !mutate_replace(text, from, to, 0)) continue;
      if (strcmp(to, "kernel one") == 0) mutate_replace(text, "launch forward", "launch one", 0);
      must(program_read(p, ALL_OF(text), "rewritten.walk", fresh_error()));
      const ProgramVerdict v = program_verdict(p, NULL);
      if (!v.is_right) fail_msg("%s", v.text);
      n++;
    }
  print_message("%d rewritings, all right\n", n);
  assert_true(n >= 50);
  free(p);
}

/* ---- What a verdict says ------------------------------------------------------------------------------------ */

static ProgramVerdict verdict_of(const char *name, const char *from, const char *to, int nth,
                                 const SoftmaxConfig *softmax) {
  char text[TEXT];
  Error error = {0};
  Program *p = malloc(sizeof *p);
  assert_non_null(p);
  strcpy(text, schedule_find(name)->text);
  assert_true(mutate_replace(text, from, to, nth));
  if (program_read(p, ALL_OF(text), "mine.walk", &error)) fail_msg("%s", error.message);
  const ProgramVerdict v = program_verdict(p, softmax);
  free(p);
  return v;
}

TEST(a_verdict_names_output_row_and_line) {
  ProgramVerdict v = verdict_of("fa2-backward-twice", "dS^T Q_i", "dS^T (Q_i + 1)", 0, NULL);
  assert_false(v.is_right);
  assert_string_equal(v.output, "dK_j");
  assert_true(v.row >= 0 && v.row < 21 && v.error > 0.01);
  assert_int_equal(v.line, 28); /* store dK_j, dV_j */
  assert_non_null(strstr(v.text, "dK is wrong: without a mask, row "));
  v = verdict_of("fa2", "l_i, O_i *= e^(m_i - m')", "l_i, O_i *= e^(m' - m_i)", 0, NULL);
  assert_true(isinf(v.error));
  assert_int_equal(v.line, 16); /* 0 x infinity */
  assert_non_null(strstr(v.text, "no number since line 16"));
}

/* Without a maximum: right for small numbers in fp64, wrong where e^x is more than there is. */
TEST(outliers_find_a_missing_maximum) {
  const SoftmaxConfig fp16 = {.precision = PRECISION_FP16};
  const ProgramVerdict v = verdict_of("fa2", "m' = max(m_i, row max of S)", "m' = max(0, 0 x row max of S)", 0, NULL),
                       half =
                           verdict_of("fa2", "m' = max(m_i, row max of S)", "m' = max(0, 0 x row max of S)", 0, &fp16);
  assert_false(v.is_right);
  assert_non_null(strstr(v.text, "outliers"));
  assert_false(half.is_right);
  for (int k = 0; k < N_PROGRAMS; k++) {
    const ProgramVerdict right = program_verdict(SCHEDULES[k], &fp16);
    assert_true(right.is_right && right.error > 1e-5);
  }
}

/* Right where its formula says something: e^x of outliers is too much, and 0 x log 0 no number. */
TEST(a_formula_that_overflows_is_no_verdict) {
  static const char TEXT_OF[] = "algorithm logits\ninput Q_i: B_r x d\ninput K_j: B_c x d\noutput L_i = %s\nkernel k\n"
                                "  for every row block i\n    load Q_i\n    l = 0; m = -inf\n"
                                "    for each column block j\n      load K_j\n      S = Q_i K_j^T\n"
                                "      m' = max(m, row max of S)\n"
                                "      l = l e^(m - m') + row sum of e^(S - m'); m = m'\n    store L_i = m + log l\n";
  static const struct {
    const char *formula, *said;
    bool is_right;
  } CASES[] = {
      {"log row sum of e^(Q K^T)", "; where the formula itself overflows nothing is judged.", true},
      {"log row sum of e^(Q K^T) + 1", "L is wrong: without a mask, row ", false},
      {"(row sum of Q) x log (-inf)", "L is not judged: what it must be is no number anywhere.", false},
  };
  Program *p = malloc(sizeof *p);
  assert_non_null(p);
  EACH (k, CASES) {
    const char *text = test_text(TEXT_OF, CASES[k].formula);
    must(program_read(p, ALL_OF(text), "logits.walk", fresh_error()));
    const ProgramVerdict v = program_verdict(p, NULL);
    assert_true(v.is_right == CASES[k].is_right && strstr(v.text, CASES[k].said));
  }
  free(p);
}
