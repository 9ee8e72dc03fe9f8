#include "tests/support/mutate_program.h"

#include <ctype.h>
#include <string.h>

enum { TEXT = PROGRAM_TEXT_BYTES };

/* ---- Edits -------------------------------------------------------------------------------------------------- */

bool mutate_replace(char *text, const char *from, const char *to, int nth) {
  char *at = strstr(text, from);
  for (; at && nth > 0; nth--) at = strstr(at + 1, from);
  if (!at || strlen(text) + strlen(to) >= TEXT) return false;
  memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
  memcpy(at, to, strlen(to));
  return true;
}

char *mutate_nth_line(char *text, int nth) {
  for (; text && nth > 0; nth--) text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
  return text && *text ? text : NULL;
}

int mutate_lines_of(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

/* A line of a kernel without what follows. */
static bool drop_line(char *body, Rand *r) {
  char *line = mutate_nth_line(body, (int)rand_in(r, 1, mutate_lines_of(body) - 1));
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
  const int k = (int)rand_in(r, 0, COUNT_OF(OPERATORS) - 1);
  return mutate_replace(body, OPERATORS[k][0], OPERATORS[k][1], (int)rand_in(r, 0, 5));
}

bool mutate_program(const Program *p, char *text, Rand *r) {
  char *body = strstr(text, "\nkernel") + 1;
  switch (rand_in(r, 0, 5)) {
  case 0: return drop_line(body, r);
  case 1: return drop_part(body, r);
  case 2: return swap_name(p, body, r);
  default: return change_operator(body, r);
  }
}

/* Edits that leave the numbers as they were: what is counted once, computed though masked; a maximum that is not the
 * largest so far, which e^(m - m') makes good; what m and l begin with, which e^(-inf - m') takes away. */
bool mutate_changes_no_number(const char *was, const char *is) {
  size_t n = 0;
  while (was[n] && was[n] == is[n]) n++;
  const char *line = was + n;
  while (line > was && line[-1] != '\n') line--;
  return strncmp(was + n, "once", 4) == 0 || strncmp(was + n, " of i", 5) == 0 || strstr(line, "max(") == was + n ||
         strncmp(was + n, "0; m", 4) == 0 || strncmp(was + n, "0; c", 4) == 0 || strncmp(was + n, "-inf", 4) == 0;
}

const char *const MUTATE_REWRITINGS[][2] = {
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
    {NULL, NULL},
};
