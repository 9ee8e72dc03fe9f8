/* Verdicts: mutants of the shipped programs are refused or judged wrong, and rewritings that change nothing are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/language/read.h"
#include "sim/algorithms/schedule.h"
#include "sim/numbers/program_mend.h"
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"

enum { TEXT = PROGRAM_TEXT_BYTES };

/* ---- Edits -------------------------------------------------------------------------------------------------- */

static bool replace(char *text, const char *from, const char *to, int nth) {
  char *at = strstr(text, from);
  for (; at && nth > 0; nth--) at = strstr(at + 1, from);
  if (!at || strlen(text) + strlen(to) >= TEXT) return false;
  memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
  memcpy(at, to, strlen(to));
  return true;
}

static char *nth_line(char *text, int nth) {
  for (; text && nth > 0; nth--) text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
  return text && *text ? text : NULL;
}

static int lines_of(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

/* A line of a kernel without what follows. */
static bool drop_line(char *body, Rand *r) {
  char *line = nth_line(body, (int)rand_in(r, 1, lines_of(body) - 1));
  if (!line || strstr(line, "for ") == line + strspn(line, " ") || strncmp(line, "kernel", 6) == 0) return false;
  char *end = strchr(line, '\n');
  if (!end) return false;
  memmove(line, end + 1, strlen(end + 1) + 1);
  return true;
}

/* One of the parts of a line between semicolons. */
static bool drop_part(char *body, Rand *r) {
  char *at = strchr(body, ';');
  for (int n = (int)rand_in(r, 0, 3); at && n > 0; n--) at = strchr(at + 1, ';');
  if (!at) return false;
  const size_t length = 1 + strcspn(at + 1, ";\n");
  memmove(at, at + length, strlen(at + length) + 1);
  return true;
}

/* The name at `at`: its length; 0: none begins there. */
static size_t name_at(const char *body, const char *at) {
  if (!isalpha((unsigned char)*at) || (at > body && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))) return 0;
  size_t n = 0;
  while (isalnum((unsigned char)at[n]) || at[n] == '\'' || at[n] == '_') n++;
  return n;
}

static bool is_name_of(const Program *p, const char *at, size_t length) {
  for (int k = 0; k < p->n_names; k++)
    if (strlen(p->names[k].text) == length && strncmp(p->names[k].text, at, length) == 0) return true;
  return false;
}

/* One name becomes another of the program. */
static bool swap_name(const Program *p, char *body, Rand *r) {
  const int wanted = (int)rand_in(r, 0, 80);
  int n = 0;
  for (char *at = body; *at; at++) {
    const size_t length = name_at(body, at);
    if (!length || !is_name_of(p, at, length)) continue;
    const ProgramName *to = &p->names[rand_in(r, 0, p->n_names - 1)];
    if (n++ < wanted) continue;
    if (strlen(to->text) == length && strncmp(to->text, at, length) == 0) return false;
    memmove(at + strlen(to->text), at + length, strlen(at + length) + 1);
    memcpy(at, to->text, strlen(to->text));
    return true;
  }
  return false;
}

static bool change_operator(char *body, Rand *r) {
  static const char *const OPERATORS[][2] = {{" + ", " - "},
                                             {" - ", " + "},
                                             {" x ", " + "},
                                             {" / ", " x "},
                                             {"+=", "="},
                                             {"*=", "="},
                                             {"*=", "+="},
                                             {"+=", "*="},
                                             {"^T", ""},
                                             {"row sum of", "row max of"},
                                             {"e^(", "("},
                                             {"e^(", "2^("},
                                             {"log ", ""},
                                             {"row max of", "row sum of"},
                                             {" / sqrt(d)", ""},
                                             {"max(", "("},
                                             {" = 0", " = 1"},
                                             {" = 0;", " = 2;"},
                                             {"-inf", "0"},
                                             {"d_v", "d"},
                                             {"once", ""},
                                             {"50", "49"},
                                             {" 8", " 900"},
                                             {"tanh(", "sigmoid("},
                                             {"add ", "store "},
                                             {"(sigmoid S)", "S"},
                                             {" of i", ""},
                                             {"_is", "_i"},
                                             {"sum of", "sum of 2 x"}};
  const int k = (int)rand_in(r, 0, sizeof OPERATORS / sizeof *OPERATORS - 1);
  return replace(body, OPERATORS[k][0], OPERATORS[k][1], (int)rand_in(r, 0, 5));
}

static bool mutate(const Program *p, char *text, Rand *r) {
  char *body = strstr(text, "\nkernel") + 1;
  switch (rand_in(r, 0, 5)) {
  case 0: return drop_line(body, r);
  case 1: return drop_part(body, r);
  case 2: return swap_name(p, body, r);
  default: return change_operator(body, r);
  }
}

/* ---- Mutants ------------------------------------------------------------------------------------------------ */

/* Edits that leave the numbers as they were: what is counted once, computed though masked; a maximum that is not the
 * largest so far, which e^(m - m') makes good; what m and l begin with, which e^(-inf - m') takes away. */
static bool changes_no_number(const char *was, const char *is) {
  size_t n = 0;
  while (was[n] && was[n] == is[n]) n++;
  const char *line = was + n;
  while (line > was && line[-1] != '\n') line--;
  return strncmp(was + n, "once", 4) == 0 || strncmp(was + n, " of i", 5) == 0 || strstr(line, "max(") == was + n ||
         strncmp(was + n, "0; m", 4) == 0 || strncmp(was + n, "0; c", 4) == 0 || strncmp(was + n, "-inf", 4) == 0;
}

static void mutants_are_refused_or_wrong(void **state) {
  (void)state;
  const int each = getenv("TILEWALK_MUTANTS") ? atoi(getenv("TILEWALK_MUTANTS")) : 40;
  Rand r = {2026};
  Program *p = malloc(sizeof *p);
  int all = 0, caught = 0;
  assert_non_null(p);
  for (int k = 0; k < N_PROGRAMS; k++) {
    int n = 0, refused = 0, wrong = 0;
    for (int tries = 0; n < each && tries < 100 * each; tries++) {
      char text[TEXT];
      Error error = {0};
      strcpy(text, SCHEDULES[k]->text);
      if (!mutate(SCHEDULES[k], text, &r) || changes_no_number(SCHEDULES[k]->text, text)) continue;
      n++;
      if (program_read(p, text, strlen(text), "mutant.walk", &error)) {
        refused++;
        continue;
      }
      const ProgramVerdict v = program_verdict(p, NULL);
      wrong += !v.is_right;
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
static void mends_are_right(void **state) {
  (void)state;
  const int each = getenv("TILEWALK_MENDS") ? atoi(getenv("TILEWALK_MENDS")) : 1;
  Rand r = {475};
  Program *p = malloc(sizeof *p);
  int wrong = 0, mended = 0, same_line = 0;
  assert_non_null(p);
  for (int k = 0; k < N_PROGRAMS; k += ONE_OF)
    for (int n = 0, tries = 0; n < each && tries < 100 * each; tries++) {
      char text[TEXT], again[TEXT + 256];
      Error error = {0};
      strcpy(text, SCHEDULES[k]->text);
      if (!mutate(SCHEDULES[k], text, &r) || program_read(p, text, strlen(text), "mutant.walk", &error)) continue;
      if (program_verdict(p, NULL).is_right) continue;
      n++, wrong++;
      const ProgramMend m = program_mend(p, NULL);
      if (!m.kind) continue;
      mended++;
      const int line = line_where_they_differ(SCHEDULES[k]->text, text);
      same_line += m.line == line || (m.kind == MEND_INSERT && m.line + 1 == line);
      apply_mend(text, &m, again);
      ProgramVerdict v = {0};
      if (!program_read(p, again, strlen(again), "mended.walk", &error)) v = program_verdict(p, NULL);
      if (!v.is_right)
        fail_msg("%s\n%d, line %d: '%s'\n%s%s", text, (int)m.kind, m.line, m.text, error.message, v.text);
    }
  print_message("%d wrong, %d mended, %d where they were changed\n", wrong, mended, same_line);
  assert_true(2 * mended >= wrong && 10 * same_line >= 7 * mended);
  free(p);
}

/* ---- Rewritings --------------------------------------------------------------------------------------------- */

static const char *const REWRITINGS[][2] = {
    {"max(m_i, row max of S)", "max(row max of S, m_i)"},
    {"S = Q_i K_j^T / sqrt(d)", "S = (Q_i / sqrt(d)) K_j^T"},
    {"S = Q_i K_j^T / sqrt(d)", "R = Q_i K_j^T; S = R / sqrt(d)"},
    {"S = Q_i K_j^T / sqrt(d)", "S = (K_j Q_i^T)^T / sqrt(d)"},
    {"S = Q_i K_j^T / sqrt(d)", "S = Q_i K_j^T / sqrt(d) + 0"},
    {"l_i += row sum of P", "l_i = l_i + row sum of P"},
    {"l_i += row sum of P", "l_i = row sum of P + l_i"},
    {"O_i += P V_j", "O_i = O_i + P V_j"},
    {"O_i += P V_j", "R = P V_j; O_i += R"},
    {"O_i = O_i / l_i", "r = 1 / l_i; O_i = O_i x r"},
    {"O_i = O_i / l_i", "O_i = O_i / (l_i + 0)"},
    {"l_i, O_i *= e^(m_i - m')", "f = e^(m_i - m'); l_i, O_i *= f"},
    {"l_i, O_i *= e^(m_i - m')", "l_i *= e^(m_i - m'); O_i *= e^(m_i - m')"},
    {"l_i, O_i *= e^(m_i - m')", "l_i = e^(m_i - m') x l_i; O_i = O_i e^(m_i - m')"},
    {", either way", ""},
    {", either way", ", last first"},
    {"P = e^(S - m')", "P = 2^(S / log 2 - m' / log 2)"},
    {"dV_j += P^T dO_i", "dV_j = dV_j + P^T dO_i"},
    {"dV_j += P^T dO_i", "dV_j += (dO_i^T P)^T"},
    {"dK_j += dS^T Q_i", "dK_j += (Q_i^T dS)^T"},
    {"P x (dO_i V_j^T - D_i)", "(dO_i V_j^T - D_i) x P"},
    {"dO_i V_j^T", "(V_j dO_i^T)^T"},
    {"row sum of (dO_i x O_i)", "row sum of (O_i x dO_i)"},
    {"add A_i = dS K_j", "add A_i = -(-dS) K_j"},
    {"sigmoid S", "1 / (1 + e^(-S))"},
    {"A V_j + Q_i H", "Q_i H + A V_j"},
    {"H += K_j^T V_j", "H = K_j^T V_j + H"},
    {"m + log l", "log l + m"},
    {"50 tanh(", "(100 / 2) tanh("},
    {"kernel forward", "kernel one"},
    {"# ", "# # "},
};

static void rewritings_are_right(void **state) {
  (void)state;
  Program *p = malloc(sizeof *p);
  int n = 0;
  assert_non_null(p);
  for (int k = 0; k < N_PROGRAMS; k++)
    for (size_t which = 0; which < sizeof REWRITINGS / sizeof *REWRITINGS; which++) {
      char text[TEXT];
      Error error = {0};
      const char *from = REWRITINGS[which][0], *to = REWRITINGS[which][1];
      strcpy(text, SCHEDULES[k]->text);
      const bool has_when = strstr(text, " when m'"); /* a line that chooses rows gives no new name a value */
      if ((has_when && strncmp(to, "f = ", 4) == 0) || !replace(text, from, to, 0)) continue;
      if (strcmp(to, "kernel one") == 0) replace(text, "launch forward", "launch one", 0);
      if (program_read(p, text, strlen(text), "rewritten.walk", &error))
        fail_msg("%s: %s", SCHEDULES[k]->name, error.message);
      const ProgramVerdict v = program_verdict(p, NULL);
      if (!v.is_right) fail_msg("%s, %s: %s", SCHEDULES[k]->name, REWRITINGS[which][1], v.text);
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
  assert_true(replace(text, from, to, nth));
  if (program_read(p, text, strlen(text), "mine.walk", &error)) fail_msg("%s", error.message);
  const ProgramVerdict v = program_verdict(p, softmax);
  free(p);
  return v;
}

static void a_verdict_names_output_row_and_line(void **state) {
  (void)state;
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
static void outliers_find_a_missing_maximum(void **state) {
  (void)state;
  const SoftmaxConfig fp16 = {.precision = PRECISION_FP16};
  const ProgramVerdict v = verdict_of("fa2", "m' = max(m_i, row max of S)", "m' = max(0, 0 x row max of S)", 0, NULL),
                       half =
                           verdict_of("fa2", "m' = max(m_i, row max of S)", "m' = max(0, 0 x row max of S)", 0, &fp16);
  assert_false(v.is_right);
  assert_non_null(strstr(v.text, "outliers"));
  assert_false(half.is_right);
  for (int k = 0; k < N_PROGRAMS; k++) {
    const ProgramVerdict right = program_verdict(SCHEDULES[k], &fp16);
    if (!right.is_right || !(right.error > 1e-5)) fail_msg("%s: %s", SCHEDULES[k]->name, right.text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mutants_are_refused_or_wrong),
      cmocka_unit_test(mends_are_right),
      cmocka_unit_test(rewritings_are_right),
      cmocka_unit_test(a_verdict_names_output_row_and_line),
      cmocka_unit_test(outliers_find_a_missing_maximum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
